//! `saltus verify FILE`: runs a model as its file says and once more with a finer tolerance, and
//! tells how much differs.

use super::record::interrupt_flag;
use super::run::pairs;
use super::short;
use crate::text::{self, plural};
use crate::{Error, Outcome};
use saltus::io::ModelFile;
use saltus::io::verify::{Verification, verify};
use saltus::sim;
use std::path::PathBuf;

/// Tell how much the run of a model file depends on its tolerance, or its step.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The model file (.toml)
    file: PathBuf,
    /// End the runs at this time
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    until: Option<f64>,
    /// Replace a value of the file, for example `g=1.62` or `floor.law.e=0.5`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Largest relative difference of a signal that is accepted
    #[arg(long, default_value_t = 1e-3)]
    tol: f64,
    /// Print one JSON document, and nothing else
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    if !(args.tol >= 0.0) {
        return Err(format!("--tol {}: expected a number of at least 0", args.tol).into());
    }
    let overrides = pairs(&args.set, &[("until", args.until)])?;
    let file = ModelFile::read(&args.file, &overrides).map_err(|error| error.report())?;
    let interrupt = interrupt_flag()?;
    let found = match verify(&file, Some(&interrupt)) {
        Ok(found) => found,
        // a model that cannot begin is wrong input
        Err(failure) if failure.run.frames.is_empty() => return Err(failure.source.into()),
        Err(failure) => {
            text::message(&format!("a run failed: {}", failure.source));
            return Ok(Outcome::Failed);
        }
    };
    if interrupt.is_set() {
        text::message("interrupted");
        return Ok(Outcome::Failed);
    }
    let holds = found.worst <= args.tol;
    if args.json {
        let mut document = serde_json::to_value(&found)?;
        document["title"] = file.model.title().into();
        document["tol"] = args.tol.into();
        document["holds"] = holds.into();
        text::out(&format!("{document}\n"))?;
    } else {
        text::out(&format!("{}\n{}", file.model.title(), report(&found, args.tol, holds)))?;
    }
    Ok(if holds { Outcome::Done } else { Outcome::Failed })
}

fn report(found: &Verification, tol: f64, holds: bool) -> String {
    let [given, finer] = found.values.map(|value| short(&sim::Value::Number(value)));
    let [first, second] = found.seconds.map(text::seconds);
    let mut rows = vec![(
        "runs".to_string(),
        format!("{}, {} = {given} in {first}, {finer} in {second}", found.strategy, found.setting),
    )];
    rows.push(("compared".to_string(), plural(found.instants, "instant")));
    for signal in &found.signals {
        let mark = if signal.relative <= tol { "" } else { "  <-- differs" };
        rows.push((
            signal.path.clone(),
            format!(
                "relative {:.1e}, absolute {:.1e} at t = {}{mark}",
                signal.relative,
                signal.absolute,
                short(&sim::Value::Number(signal.time))
            ),
        ));
    }
    for event in &found.events {
        let (kind, [a, b]) = (event.kind.name(), event.counts);
        let count = if a == b { format!("{a}") } else { format!("{a} against {b}") };
        let owner = &event.owner;
        rows.push((format!("{owner} ({kind})"), format!("{count}, times {:.1e}", event.time)));
    }
    let verdict = match holds {
        true => format!("holds: no signal changes by more than {:.1e}", found.worst),
        false if found.instants == 0 || found.signals.is_empty() => {
            "nothing to compare: no instant of both runs without an event, or no signal".to_string()
        }
        false => format!("differs: a signal changes by {:.1e}, accepted {tol:e}", found.worst),
    };
    format!("{}{verdict}\n", text::columns(&rows))
}
