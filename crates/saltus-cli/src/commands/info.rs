//! `saltus info FILE`: what is in a model file or a run.

use crate::text::{self, plural};
use crate::{Error, Outcome};
use saltus::io::ModelFile;
use saltus::io::run_file::{RunInfo, read_info};
use saltus::model::System;
use saltus::sim;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Tell what is in a model file or a run.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The model file (.toml) or run file (.h5)
    file: PathBuf,
    /// Print one JSON document, and nothing else
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    let extension = args.file.extension().map(|e| e.to_string_lossy().to_lowercase());
    let (text, json) = match extension.as_deref() {
        Some("toml") => {
            let file = ModelFile::read(&args.file, &[]).map_err(|error| error.report())?;
            (model_text(&file), model_json(&file))
        }
        Some("h5" | "hdf5") => {
            let info = read_info(&args.file)?;
            (run_text(&info), run_json(&info))
        }
        _ => return Err(unknown(&args.file)),
    };
    if args.json {
        println!("{json}");
    } else {
        print!("{text}");
    }
    Ok(Outcome::Done)
}

fn unknown(file: &Path) -> Error {
    let file = file.display();
    format!("{file}: expected a model file (.toml) or a run file (.h5, .hdf5)").into()
}

fn kind(system: &System) -> &'static str {
    system.order().name()
}

fn model_text(file: &ModelFile) -> String {
    let settings = &file.simulation;
    let model = &file.model;
    let names: Vec<&str> = settings.integrators.iter().map(|i| i.name()).collect();
    let mut rows = vec![(
        "simulation".to_string(),
        format!(
            "{}, {}, h = {} s, t = {} to {} s, solver {}",
            settings.strategy.name(),
            names.join(" + "),
            settings.h,
            model.t0(),
            settings.until,
            settings.solver.name()
        ),
    )];
    const SHOWN: usize = 20;
    for (name, system) in model.systems().take(SHOWN) {
        rows.push((name.to_string(), format!("{}, size {}", kind(system), system.dim())));
    }
    if model.systems().len() > SHOWN {
        rows.push(("…".into(), plural(model.systems().len() - SHOWN, "more system")));
    }
    let systems: Vec<&str> = model.systems().map(|(name, _)| name).collect();
    for (name, interaction) in model.interactions().take(SHOWN) {
        let linked: Vec<&str> = interaction.systems.iter().map(|id| systems[id.index()]).collect();
        let law = interaction.law.name();
        let size = interaction.relation.size();
        rows.push((name.to_string(), format!("{law}, size {size}, on {}", linked.join(" and "))));
    }
    if model.interactions().len() > SHOWN {
        rows.push(("…".into(), plural(model.interactions().len() - SHOWN, "more interaction")));
    }
    format!("{} (model file)\n{}", model.title(), text::columns(&rows))
}

fn model_json(file: &ModelFile) -> Value {
    let settings = &file.simulation;
    let model = &file.model;
    let systems: Vec<&str> = model.systems().map(|(name, _)| name).collect();
    json!({
        "kind": "model",
        "title": model.title(),
        "t0": model.t0(),
        "until": settings.until,
        "h": settings.h,
        "strategy": settings.strategy.name(),
        "integrators": settings.integrators,
        "solver": settings.solver,
        "systems": model.systems().map(|(name, system)| json!({
            "name": name, "order": kind(system), "size": system.dim(),
        })).collect::<Vec<_>>(),
        "interactions": model.interactions().map(|(name, interaction)| json!({
            "name": name,
            "law": interaction.law.name(),
            "size": interaction.relation.size(),
            "systems": interaction.systems.iter().map(|id| systems[id.index()]).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
    })
}

fn run_text(info: &RunInfo) -> String {
    let stats = &info.stats;
    let outcome = match &stats.outcome {
        sim::Outcome::Complete => "complete".to_string(),
        sim::Outcome::Interrupted => "interrupted (incomplete)".to_string(),
        sim::Outcome::Failed(why) => format!("failed (incomplete): {why}"),
    };
    let span = info.span.map_or(String::new(), |(from, to)| format!(", t = {from} to {to} s"));
    let mut rows = vec![
        ("outcome".to_string(), outcome),
        ("rows".to_string(), format!("{}{span}", info.rows)),
        (
            "steps".to_string(),
            format!(
                "{} in {}, {}, worst residual {:.1e}",
                stats.steps,
                text::seconds(stats.seconds),
                plural(stats.iterations, "iteration"),
                stats.worst_residual
            ),
        ),
        ("version".to_string(), info.version.clone()),
    ];
    const SHOWN: usize = 40;
    for signal in info.layout.signals.iter().take(SHOWN) {
        rows.push((signal.path(), plural(signal.columns.len(), "column")));
    }
    if info.layout.signals.len() > SHOWN {
        rows.push(("…".into(), plural(info.layout.signals.len() - SHOWN, "more signal")));
    }
    format!("{} (run)\n{}", info.layout.title, text::columns(&rows))
}

fn run_json(info: &RunInfo) -> Value {
    let stats = &info.stats;
    json!({
        "kind": "run",
        "title": info.layout.title,
        "rows": info.rows,
        "span": info.span,
        "version": info.version,
        "outcome": stats.outcome.name(),
        "error": stats.outcome.error(),
        "steps": stats.steps,
        "iterations": stats.iterations,
        "worst_residual": stats.worst_residual,
        "worst_penetration": stats.worst_penetration,
        "failures": stats.failures,
        "seconds": stats.seconds,
        "signals": info.layout.signals.iter().map(|signal| json!({
            "path": signal.path(), "size": signal.columns.len(),
        })).collect::<Vec<_>>(),
    })
}
