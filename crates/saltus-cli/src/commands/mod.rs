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

use crate::text::plural;
use saltus::sim::{self, EventRecord, Layout, Outcome, RunStats, Signal};
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
        "error_estimate": stats.error_estimate,
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

/// What happened in a run, a line each: when, what, and what it changed.
fn event_rows(events: &[EventRecord]) -> Vec<(String, String)> {
    const SHOWN: usize = 10;
    let mut rows = Vec::new();
    for event in events.iter().take(SHOWN) {
        let changes: Vec<String> = (event.changes.iter().take(4))
            .map(|change| {
                format!("{} {} → {}", change.what, short(&change.before), short(&change.after))
            })
            .collect();
        let more = if event.changes.len() > 4 { ", …" } else { "" };
        let colon = if changes.is_empty() { "" } else { ": " };
        let (name, kind) = (&event.name, event.kind.name());
        let what = format!("{name} ({kind}){colon}{}{more}", changes.join(", "));
        rows.push((format!("t = {}", event.time), what));
    }
    if events.len() > SHOWN {
        rows.push(("…".into(), plural(events.len() - SHOWN, "more event")));
    }
    rows
}

/// A value with at most six digits.
fn short(value: &sim::Value) -> String {
    match value {
        sim::Value::Number(value) => {
            let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(*value);
            let plain = (1e-4..1e7).contains(&rounded.abs()) || rounded == 0.0;
            if plain { format!("{rounded}") } else { format!("{rounded:e}") }
        }
        sim::Value::Name(name) => name.clone(),
    }
}
