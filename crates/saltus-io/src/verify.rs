//! How much a run depends on its tolerance, by doing it again with a finer one.
//!
//! A model is run as its file says, and again with a tenth of its tolerances (event-driven, adaptive) or
//! half its step (time-stepping). For each signal, over all its columns and the instants that both
//! runs have:
//!
//! ```text
//! absolute = max |a − b|,    relative = absolute / max(|a|, |b|)                          (1)
//! ```
//!
//! where the largest value is at least a millionth of that of all signals of the same kind, of which all velocities are one: a velocity
//! that is zero but for round-off differs by nothing.
//!
//! Instants that events of the two runs keep apart are left out: a velocity has jumped in one of
//! them, and not yet in the other. So are the impulses of time-stepping, which are those of a step.
//! The `k`-th event of a kind and an interaction is compared with the `k`-th of the other run.

use crate::model_file::{ModelFile, Samples, Simulation, Strategy};
use saltus_model::{Model, Order};
use saltus_numerics::Interrupt;
use saltus_sim::{
    Adaptive, AdaptiveSettings, EventDriven, EventKind, EventRecord, EventSettings, Quantity, Run,
    RunFailure, RunOptions, TimeStepping,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// Instants at which event-driven runs are compared, where the file gives none.
const SAMPLES: usize = 1001;
/// Share of a run around an event in which nothing is compared.
const APART: f64 = 1e-9;
/// Share of the largest value of its kind below which a signal counts as that share.
const LITTLE: f64 = 1e-6;

/// How two runs of a model differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verification {
    /// The strategy.
    pub strategy: &'static str,
    /// What was made finer, and its values in the two runs.
    pub setting: &'static str,
    /// Its value as the file says, and the finer one.
    pub values: [f64; 2],
    /// Instants that were compared.
    pub instants: usize,
    /// The signals, in the order of the model.
    pub signals: Vec<SignalChange>,
    /// The events, by kind and interaction or name.
    pub events: Vec<EventChange>,
    /// The largest relative difference of a signal; NaN where one is not known.
    pub worst: f64,
    /// Seconds of wall time of the two runs.
    pub seconds: [f64; 2],
}

/// How one signal differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SignalChange {
    /// Its path.
    pub path: String,
    /// The largest difference.
    pub absolute: f64,
    /// The same, relative to the largest value of the signal (1).
    pub relative: f64,
    /// Where it is.
    pub time: f64,
}

/// How events of one kind differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventChange {
    /// Their kind.
    pub kind: EventKind,
    /// Their interaction, or the name of the model's event.
    pub owner: String,
    /// How many there were in the two runs.
    pub counts: [usize; 2],
    /// The largest difference of their times, as far as both runs have them.
    pub time: f64,
}

impl Simulation {
    /// Runs a model.
    pub fn run(&self, model: Model, options: RunOptions<'_>) -> Result<Run, RunFailure> {
        let solver = &self.solver;
        match self.strategy {
            Strategy::TimeStepping => {
                let integrators = self.integrators.clone();
                TimeStepping::with_methods(model, self.h, integrators, solver, self.newton)
                    .map_err(RunFailure::at_once)?
                    .run_with(self.until, options)
            }
            Strategy::EventDriven => EventDriven::with(model, self.tolerances, solver)
                .map_err(RunFailure::at_once)?
                .run_with(self.until, options),
            Strategy::Adaptive => Adaptive::with(model, self.adaptive, solver)
                .map_err(RunFailure::at_once)?
                .run_with(self.until, options),
        }
    }

    /// The same with a finer step or tolerance: what it is, and its values before and after.
    fn finer(&self) -> (Simulation, &'static str, [f64; 2]) {
        let mut finer = self.clone();
        match self.strategy {
            Strategy::TimeStepping => {
                finer.h = self.h / 2.0;
                (finer, "h", [self.h, self.h / 2.0])
            }
            Strategy::EventDriven => {
                let EventSettings { rtol, atol } = self.tolerances;
                finer.tolerances = EventSettings { rtol: rtol / 10.0, atol: atol / 10.0 };
                (finer, "rtol", [rtol, rtol / 10.0])
            }
            Strategy::Adaptive => {
                let tol = self.adaptive.tol;
                finer.adaptive = AdaptiveSettings { tol: tol / 10.0 };
                (finer, "tol", [tol, tol / 10.0])
            }
        }
    }
}

/// Runs a model twice, and compares.
pub fn verify(file: &ModelFile, interrupt: Option<&Interrupt>) -> Result<Verification, RunFailure> {
    let settings = &file.simulation;
    let (finer, setting, values) = settings.finer();
    let (t0, until) = (file.model.t0(), settings.until);
    let samples = match settings.strategy {
        Strategy::TimeStepping => None,
        Strategy::EventDriven | Strategy::Adaptive => {
            let wanted = settings.output.samples.clone().unwrap_or(Samples::Count(SAMPLES));
            Some(wanted.instants(t0, until)).filter(|_| until > t0)
        }
    };
    let run = |settings: &Simulation| {
        let signals = settings.output.signals.as_deref();
        let samples = samples.as_deref();
        let options = RunOptions { samples, signals, interrupt, ..RunOptions::default() };
        settings.run(file.model.clone(), options)
    };
    let (a, b) = (run(settings)?, run(&finer)?);
    let events = compare_events(&a.events, &b.events);
    let rows = common_rows(&a, &b, APART * (until - t0));
    let is_impulse = |owner: &str, quantity| {
        let mut interactions = file.model.interactions();
        let of_owner = interactions.find(|(name, _)| *name == owner);
        settings.strategy == Strategy::TimeStepping
            && quantity == Quantity::Lam
            && of_owner.is_some_and(|(_, one)| one.relation.order() == Order::Second)
    };
    let signals = a.layout.signals.iter().filter(|one| !is_impulse(&one.owner, one.quantity));
    let width = a.layout.width();
    let kind = |quantity| match quantity {
        Quantity::Omega | Quantity::U => Quantity::V,
        other => other,
    };
    let mut largest: BTreeMap<Quantity, f64> = BTreeMap::new();
    for signal in &a.layout.signals {
        let most = largest.entry(kind(signal.quantity)).or_default();
        for &(i, _) in &rows {
            let own = &a.frames.rows[i * width..][signal.columns.clone()];
            *most = own.iter().fold(*most, |most, x| most.max(x.abs()));
        }
    }
    let mut changes = Vec::new();
    for signal in signals {
        let mut change =
            SignalChange { path: signal.path(), absolute: 0.0, relative: 0.0, time: t0 };
        let mut scale = LITTLE * largest.get(&kind(signal.quantity)).copied().unwrap_or(0.0);
        for &(i, j) in &rows {
            for column in signal.columns.clone() {
                let x = a.frames.rows[i * width + column];
                let y = b.frames.rows[j * width + column];
                let difference = if x == y { 0.0 } else { (x - y).abs() };
                scale = scale.max(x.abs()).max(y.abs());
                // what is not a number is the largest of all
                if !(difference <= change.absolute) && !change.absolute.is_nan() {
                    (change.absolute, change.time) = (difference, a.frames.time[i]);
                }
            }
        }
        if change.absolute != 0.0 {
            change.relative = change.absolute / scale; // (1)
        }
        changes.push(change);
    }
    let worse = |worst: f64, one: &SignalChange| match one.relative <= worst || worst.is_nan() {
        true => worst,
        false => one.relative,
    };
    Ok(Verification {
        strategy: settings.strategy.name(),
        setting,
        values,
        instants: rows.len(),
        // nothing to compare is no agreement
        worst: match rows.is_empty() || changes.is_empty() {
            true => f64::NAN,
            false => changes.iter().fold(0.0, worse),
        },
        signals: changes,
        events,
        seconds: [a.stats.seconds, b.stats.seconds],
    })
}

/// The rows of the two runs at the same instants, those at an event of either excepted.
fn common_rows(a: &Run, b: &Run, apart: f64) -> Vec<(usize, usize)> {
    let (x, y) = (&a.frames.time, &b.frames.time);
    let mut rows = Vec::new();
    let mut j = 0;
    for (i, &t) in x.iter().enumerate() {
        let near = 1e-12 * t.abs() + f64::MIN_POSITIVE;
        while j < y.len() && y[j] < t - near {
            j += 1;
        }
        if j < y.len() && y[j] <= t + near {
            rows.push((i, j));
        }
    }
    // an instant that is an event's own
    let times = a.events.iter().chain(&b.events).map(|event| event.time);
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    let is_free = |t: f64| {
        let next = times.partition_point(|time| *time < t - apart);
        times.get(next).is_none_or(|time| *time > t + apart)
    };
    rows.retain(|&(i, _)| is_free(x[i]));
    rows
}

/// The events of both runs by kind and owner, and by how much the times differ.
fn compare_events(a: &[EventRecord], b: &[EventRecord]) -> Vec<EventChange> {
    let mut found: BTreeMap<(&str, &str), Times> = BTreeMap::new();
    for (k, events) in [a, b].into_iter().enumerate() {
        for event in events {
            let owner = if event.name.is_empty() { &event.interaction } else { &event.name };
            let new = || Times { kind: event.kind, of: Default::default() };
            let times = found.entry((event.kind.name(), owner)).or_insert_with(new);
            times.of[k].push(event.time);
        }
    }
    let change = |((_, owner), Times { kind, of: [a, b] }): ((&str, &str), Times)| {
        let differences = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
        let time = differences.fold(0.0, |worst, one| if one <= worst { worst } else { one });
        EventChange { kind, owner: owner.to_string(), counts: [a.len(), b.len()], time }
    };
    found.into_iter().map(change).collect()
}

/// Times of events of one kind in the two runs.
struct Times {
    kind: EventKind,
    of: [Vec<f64>; 2],
}
