//! The commands, one a file.

pub mod compare;
pub mod examples;
pub mod export;
pub mod info;
pub mod netlist;
pub mod plot;
pub mod problem;
mod record;
pub mod run;
pub mod schema;
pub mod solve;
pub mod verify;

use crate::text::{self, plural};
use saltus::io::{Simulation, Strategy};
use saltus::sim::{self, EventKind, EventRecord, Layout, Outcome, RunStats, Signal};
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
    if !events.is_empty() {
        rows.push(("events".to_string(), event_counts(events)));
    }
    for event in events.iter().take(SHOWN) {
        let changes: Vec<String> = (event.changes.iter().take(4))
            .map(|change| {
                format!("{} {} → {}", change.what, short(&change.before), short(&change.after))
            })
            .collect();
        let more = if event.changes.len() > 4 { ", …" } else { "" };
        let colon = if changes.is_empty() { "" } else { ": " };
        let kind = event.kind.name();
        let name = if event.name.is_empty() { &event.interaction } else { &event.name };
        let what = format!("{name} ({kind}){colon}{}{more}", changes.join(", "));
        rows.push((format!("t = {}", event.time), what));
    }
    if events.len() > SHOWN {
        rows.push(("…".into(), plural(events.len() - SHOWN, "more event")));
    }
    rows
}

/// The settings of a simulation, in one line.
fn scheme(settings: &Simulation) -> String {
    let solver = settings.solver.name();
    match settings.strategy {
        Strategy::TimeStepping => {
            let names: Vec<&str> = settings.integrators.iter().map(|i| i.name()).collect();
            format!("{}, h = {} s, {solver}", names.join(" + "), settings.h)
        }
        Strategy::EventDriven => {
            let sim::EventSettings { rtol, atol } = settings.tolerances;
            format!("event-driven, rtol = {rtol:e}, atol = {atol:e}, {solver}")
        }
        Strategy::Adaptive => format!("adaptive, tol = {:e}, {solver}", settings.adaptive.tol),
    }
}

/// The same as keys of a JSON document; null where the strategy has no such setting.
fn with_scheme(mut document: Value, settings: &Simulation) -> Value {
    let stepping = settings.strategy == Strategy::TimeStepping;
    let driven = settings.strategy == Strategy::EventDriven;
    let adaptive = settings.strategy == Strategy::Adaptive;
    let keys = json!({
        "strategy": settings.strategy.name(),
        "h": stepping.then_some(settings.h),
        "rtol": driven.then_some(settings.tolerances.rtol),
        "atol": driven.then_some(settings.tolerances.atol),
        "tol": adaptive.then_some(settings.adaptive.tol),
    });
    if let (Value::Object(document), Value::Object(keys)) = (&mut document, keys) {
        document.extend(keys);
    }
    document
}

/// How many of each kind: `63 impact, 1 accumulation`.
fn event_counts(events: &[EventRecord]) -> String {
    let count = |kind: &EventKind| events.iter().filter(|event| event.kind == *kind).count();
    let counts = EventKind::ALL.iter().map(|kind| (count(kind), kind.name()));
    let counts: Vec<String> = counts
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    counts.join(", ")
}

/// A value with at most six digits.
fn short(value: &sim::Value) -> String {
    match value {
        sim::Value::Number(value) => text::number(*value, 6),
        sim::Value::Name(name) => name.clone(),
    }
}
