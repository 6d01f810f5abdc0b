//! The commands, one a file.

pub mod compare;
pub mod examples;
pub mod export;
pub mod info;
pub mod plot;
pub mod problem;
pub mod run;
pub mod schema;
pub mod solve;

use saltus::sim::{Layout, Outcome, RunStats, Signal};
use serde_json::{Value, json};

/// The signals of these paths; a bare name stands for all signals of its owner.
fn find_signals(layout: &Layout, paths: &[String]) -> Result<Vec<Signal>, crate::Error> {
    let mut found = Vec::new();
    for path in paths {
        let of_owner = layout.signals.iter().filter(|signal| signal.owner == *path);
        let before = found.len();
        found.extend(of_owner.cloned());
        if found.len() == before {
            found.push(layout.find(path)?);
        }
    }
    Ok(found)
}

/// A JSON document with the totals of a run, and how it ended.
fn with_stats(mut document: Value, stats: &RunStats) -> Value {
    let stats = json!({
        "steps": stats.steps,
        "iterations": stats.iterations,
        "worst_residual": stats.worst_residual,
        "worst_penetration": stats.worst_penetration,
        "failures": stats.failures,
        "seconds": stats.seconds,
        "outcome": stats.outcome.name(),
        "error": stats.outcome.error(),
        "complete": stats.outcome == Outcome::Complete,
    });
    if let (Value::Object(document), Value::Object(stats)) = (&mut document, stats) {
        document.extend(stats);
    }
    document
}
