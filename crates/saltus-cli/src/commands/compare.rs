//! `saltus compare A.h5 B.h5`: whether two runs are the same up to a tolerance.

use crate::{Error, Outcome, text};
use saltus::io::compare::compare;
use saltus::io::run_file::read_run;
use std::path::PathBuf;

/// Compare two runs.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The first run
    a: PathBuf,
    /// The second run
    b: PathBuf,
    /// Largest difference, relative to the largest value of a signal or 1
    #[arg(long, default_value_t = 1e-9)]
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
    let (a, b) = (read_run(&args.a)?, read_run(&args.b)?);
    let comparison = compare(&a, &b, args.tol);
    let agrees = comparison.agrees();
    if args.json {
        let mut document = serde_json::to_value(&comparison)?;
        document["agrees"] = agrees.into();
        text::out(&format!("{document}\n"))?;
    } else {
        let mut rows = Vec::new();
        if comparison.rows.0 != comparison.rows.1 {
            let (a, b) = comparison.rows;
            rows.push(("rows".to_string(), format!("{a} against {b}")));
        }
        for signal in &comparison.signals {
            let mark = if comparison.accepts(signal) { "" } else { "  <-- differs" };
            let relative = signal.difference.relative;
            rows.push((signal.path.clone(), format!("{relative:.3e}{mark}")));
        }
        for (file, only) in [(&args.a, &comparison.only_in_a), (&args.b, &comparison.only_in_b)] {
            for path in only {
                rows.push((path.clone(), format!("only in {}", file.display())));
            }
        }
        let verdict = if agrees { "the runs agree" } else { "the runs differ" };
        let rows = text::columns(&rows);
        text::out(&format!("{verdict} (tolerance {:e})\n{rows}", args.tol))?;
    }
    Ok(if agrees { Outcome::Done } else { Outcome::Failed })
}
