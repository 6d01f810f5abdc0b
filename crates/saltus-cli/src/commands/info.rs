//! `saltus info FILE`: what is in a model file, a scene, a netlist, a run or a stored problem.

use super::{event_rows, netlist, problem, with_scheme, with_stats};
use crate::text::{self, plural};
use crate::{Error, Outcome};
use saltus::io::problem_file::{self, ErrorKind, Kind};
use saltus::io::run_file::{RunFileError, RunInfo, read_info};
use saltus::io::scene_file::is_foreign;
use saltus::io::{ModelFile, Strategy};
use saltus::model::{System, Trigger};
use saltus::sim;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Tell what is in a model file, a scene, a netlist, a run or a stored problem.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The model file (.toml), scene of another program (.hdf5, .urdf, .xml, .mjcf), netlist (.cir),
    /// run file (.h5) or stored problem (.dat, .hdf5)
    file: PathBuf,
    /// The file is a stored problem of this kind [default: that of a .dat file is its folder's name]
    #[arg(long)]
    kind: Option<Kind>,
    /// Print one JSON document, and nothing else
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    let extension = args.file.extension().map(|e| e.to_string_lossy().to_lowercase());
    let (text, json) = match extension.as_deref() {
        _ if args.kind.is_some() => stored_problem(args)?,
        Some("toml") => {
            let file = ModelFile::read(&args.file, &[]).map_err(|error| error.report())?;
            (model_text(&file, "model file"), model_json(&file))
        }
        _ if netlist::is_netlist(&args.file) => netlist::info(&args.file)?,
        Some("h5" | "hdf5") => run_or_problem(args)?,
        _ if is_foreign(&args.file) => scene(args)?,
        Some("dat") => stored_problem(args)?,
        _ if Kind::of_folder(&args.file).is_some() => stored_problem(args)?,
        _ => return Err(unknown(&args.file)),
    };
    match args.json {
        true => text::out(&format!("{json}\n"))?,
        false => text::out(&text)?,
    }
    Ok(Outcome::Done)
}

fn stored_problem(args: &Args) -> Result<(String, Value), Error> {
    let stored = problem_file::read(&args.file, args.kind)?;
    Ok((problem::text(&stored), problem::json(&stored)))
}

/// A scene of another program, as the model that it comes to.
fn scene(args: &Args) -> Result<(String, Value), Error> {
    let file = super::run::foreign(&args.file, &[])?;
    Ok((model_text(&file, "scene"), model_json(&file)))
}

/// An HDF5 file is a run, a stored problem, or a scene of Siconos.
fn run_or_problem(args: &Args) -> Result<(String, Value), Error> {
    match read_info(&args.file) {
        Ok(info) => Ok((run_text(&info), run_json(&info))),
        Err(RunFileError::NotARun { .. }) => match problem_file::read(&args.file, None) {
            Ok(stored) => Ok((problem::text(&stored), problem::json(&stored))),
            Err(error) if *error.kind == ErrorKind::NotFclib => {
                match super::run::foreign(&args.file, &[]) {
                    Ok(file) => Ok((model_text(&file, "scene"), model_json(&file))),
                    Err(_) => {
                        let file = args.file.display();
                        let what = "neither a run of Saltus nor a stored problem (FCLIB), nor a scene of Siconos";
                        Err(format!("`{file}` is an HDF5 file, but {what}").into())
                    }
                }
            }
            Err(error) => Err(error.into()),
        },
        Err(error) => Err(error.into()),
    }
}

fn unknown(file: &Path) -> Error {
    let file = file.display();
    format!(
        "{file}: expected a model file (.toml), a scene (.hdf5, .urdf, .xml, .mjcf), a netlist (.cir), \
         a run file (.h5) or a stored problem (.dat, .hdf5)"
    )
    .into()
}

fn kind(system: &System) -> &'static str {
    system.order().name()
}

/// What is in a model, which is a `kind` of file.
fn model_text(file: &ModelFile, kind_of_file: &str) -> String {
    let settings = &file.simulation;
    let model = &file.model;
    let how = match settings.strategy {
        Strategy::TimeStepping => {
            let names: Vec<&str> = settings.integrators.iter().map(|i| i.name()).collect();
            format!("{}, h = {} s", names.join(" + "), settings.h)
        }
        Strategy::EventDriven => {
            let sim::EventSettings { rtol, atol } = settings.tolerances;
            format!("rtol = {rtol:e}, atol = {atol:e}")
        }
        Strategy::Adaptive => format!("tol = {:e}", settings.adaptive.tol),
    };
    let (strategy, solver) = (settings.strategy.name(), settings.solver.name());
    let (t0, until) = (model.t0(), settings.until);
    let mut rows = vec![(
        "simulation".to_string(),
        format!("{strategy}, {how}, t = {t0} to {until} s, solver {solver}"),
    )];
    const SHOWN: usize = 20;
    for (name, system) in model.systems().take(SHOWN) {
        rows.push((name.to_string(), format!("{}, size {}", kind(system), system.dim())));
    }
    if model.systems().len() > SHOWN {
        rows.push(("…".into(), plural(model.systems().len() - SHOWN, "more system")));
    }
    if let Some(finder) = model.contact_finder().filter(|_| model.has_found_contacts()) {
        let fixed = finder.sides().iter().filter(|side| side.system.is_none()).count();
        let bodies = plural(finder.sides().len() - fixed, "body").replace("bodys", "bodies");
        let laws = plural(finder.laws().len(), "law");
        rows.push(("contacts".into(), format!("{bodies} and {}, {laws}", plural(fixed, "static"))));
    }
    let systems: Vec<&str> = model.systems().map(|(name, _)| name).collect();
    let degrees = sim::relative_degrees(model).unwrap_or_default(); // unless a function fails
    for (k, (name, interaction)) in model.interactions().take(SHOWN).enumerate() {
        let linked: Vec<&str> = interaction.systems.iter().map(|id| systems[id.index()]).collect();
        let law = interaction.law.name();
        let size = interaction.relation.size();
        let off = if interaction.active { "" } else { ", not connected at first" };
        let linked = linked.join(" and ");
        let degree = degrees.get(k).map_or(String::new(), degree_text);
        rows.push((name.to_string(), format!("{law}, size {size}, on {linked}{degree}{off}")));
    }
    if model.interactions().len() > SHOWN {
        rows.push(("…".into(), plural(model.interactions().len() - SHOWN, "more interaction")));
    }
    for event in model.events().iter().take(SHOWN) {
        let when = match &event.trigger {
            Trigger::When(condition) => format!("when {condition}"),
            Trigger::At(times) => format!("at {times:?} s"),
            Trigger::Every { period, .. } => format!("every {period} s"),
        };
        let once = if event.once { ", once" } else { "" };
        let actions = plural(event.actions.len(), "action");
        rows.push((event.name.clone(), format!("event {when}{once}: {actions}")));
    }
    if model.events().len() > SHOWN {
        rows.push(("…".into(), plural(model.events().len() - SHOWN, "more event")));
    }
    format!("{} ({kind_of_file})\n{}", model.title(), text::columns(&rows))
}

/// `, relative degree 2`; that of each component where they differ.
fn degree_text(of: &sim::RelativeDegree) -> String {
    let name = |degree: &Option<usize>| degree.map_or("above 2".to_string(), |d| d.to_string());
    let mut names: Vec<String> = of.degrees.iter().map(name).collect();
    names.dedup();
    format!(", relative degree {}", names.join(", "))
}

fn model_json(file: &ModelFile) -> Value {
    let settings = &file.simulation;
    let model = &file.model;
    let degrees = sim::relative_degrees(model).unwrap_or_default();
    let systems: Vec<&str> = model.systems().map(|(name, _)| name).collect();
    let document = json!({
        "kind": "model",
        "title": model.title(),
        "t0": model.t0(),
        "until": settings.until,
        "integrators": settings.integrators,
        "solver": settings.solver,
        "newton": settings.newton,
        "systems": model.systems().map(|(name, system)| json!({
            "name": name, "order": kind(system), "size": system.dim(),
        })).collect::<Vec<_>>(),
        "interactions": model.interactions().enumerate().map(|(k, (name, interaction))| json!({
            "name": name,
            "law": interaction.law.name(),
            "size": interaction.relation.size(),
            "active": interaction.active,
            "relative_degrees": degrees.get(k).map(|of| &of.degrees),
            "systems": interaction.systems.iter().map(|id| systems[id.index()]).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "events": model.events().iter().map(|event| event.name.as_str()).collect::<Vec<_>>(),
    });
    with_scheme(document, settings)
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
    rows.extend(event_rows(&info.events));
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
    let document = json!({
        "kind": "run",
        "title": info.layout.title,
        "rows": info.rows,
        "span": info.span,
        "version": info.version,
        "events": info.events,
        "signals": info.layout.signals.iter().map(|signal| json!({
            "path": signal.path(), "size": signal.columns.len(),
        })).collect::<Vec<_>>(),
    });
    with_stats(document, &info.stats)
}
