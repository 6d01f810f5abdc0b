//! The event-driven strategy: smooth phases of high order, events at their exact instants.
//!
//! Between events the model is in one mode: a differential-algebraic equation that collocation
//! integrates with error control. Every indicator of the mode is watched on the polynomial of the
//! step. Where one passes through zero, the length of the step becomes an unknown: the step is done
//! again until the event lies at its end, so that the order of the formula is kept across events.
//! Then a step of vanishing length tells what follows.

mod accumulation;
mod collocation;
mod exact;
mod factor;
mod flow;
mod instant;
mod mode;
mod plant;
mod project;
#[cfg(test)]
mod tests;
mod transition;
mod watch;

use crate::SimError;
use crate::integrators::assembly::Places;
use crate::integrators::row::Row;
use crate::recorder::{Recorder, signals_of};
use crate::run::{
    EventRecord, Frames, Layout, Ledger, Outcome as RunOutcome, Quantity, Run, RunStats,
};
use crate::time_stepping::RunFailure;
use accumulation::Series;
use collocation::{Outcome, Tolerance};
use flow::Flow;
use instant::Instant;
use mode::{Branch, Mode};
use plant::Plant;
use saltus_model::{Model, Order};
use saltus_numerics::Solver;
use transition::VANISHING;
use watch::Cause;

/// Tolerances of an [`EventDriven`] simulation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EventSettings {
    /// Error allowed in a step, relative to the state.
    pub rtol: f64,
    /// Error allowed in a step besides; also the gap at which a contact counts as closed.
    pub atol: f64,
}

impl Default for EventSettings {
    fn default() -> Self {
        EventSettings { rtol: 1e-9, atol: 1e-11 }
    }
}

/// A model on its way through time, from event to event.
#[derive(Debug)]
pub struct EventDriven {
    model: Model,
    plant: Plant,
    mode: Mode,
    instant: Instant,
    flow: Flow,
    tolerance: Tolerance,
    t: f64,
    X: Vec<f64>,
    lam: Vec<f64>,
    h: f64,       // the step to try next
    fresh: bool,  // nothing is known yet
    epsilon: f64, // length of a vanishing step
    last_event: f64,
    idle: usize, // events since time has passed
    series: Vec<Series>,
    log: Vec<EventRecord>,
    work: Work,
    places: [Places; 2],
    rows: [Row; 2],
}

#[derive(Debug, Default)]
struct Work {
    X: Vec<f64>,
    lam: Vec<f64>,
    branches: Vec<Branch>,
    crossed: Vec<Cause>,
}

/// Longest factor from one step to the next.
const GROWTH: f64 = 6.0;

impl EventDriven {
    /// A simulation with the default tolerances and solver.
    pub fn new(model: Model) -> Result<EventDriven, SimError> {
        EventDriven::with(model, EventSettings::default(), &Solver::default())
    }

    /// A simulation with these tolerances and this solver of the problems at events.
    pub fn with(
        model: Model,
        settings: EventSettings,
        solver: &Solver,
    ) -> Result<EventDriven, SimError> {
        if model.systems().len() == 0 {
            return Err(SimError::EmptyModel { title: model.title().to_string() });
        }
        if let Some(event) = model.events().first() {
            let owner = format!("event `{}`", event.name);
            let (integrator, what, needs) =
                ("event-driven", "the model", "without events of its own");
            return Err(SimError::Unsuited { integrator, owner, what, needs });
        }
        let (owner, t0) = ("the model", model.t0());
        if !t0.is_finite() {
            let allowed = "the finite numbers";
            return Err(SimError::Setting { owner, field: "t0", value: t0, allowed });
        }
        solver.check()?;
        let EventSettings { rtol, atol } = settings;
        for (field, value) in [("rtol", rtol), ("atol", atol)] {
            if !(value > 0.0 && value < 1.0) {
                let (owner, allowed) = ("event-driven", "(0, 1)");
                return Err(SimError::Setting { owner, field, value, allowed });
            }
        }
        let plant = Plant::new(&model);
        let mode = Mode::new(&model, |k| plant.states_of(k).to_vec())?;
        let instant = Instant::new(&model, 10.0 * atol, solver)?;
        let places = [Places::new(&model, Order::First), Places::new(&model, Order::Second)];
        let rows = [Order::First, Order::Second].map(|order| {
            let places = &places[usize::from(order == Order::Second)];
            let mut row = Row::new(order, places.sizes());
            row.set_ledger(&[f64::NAN; Ledger::NAMES.len()]); // it is not kept
            row
        });
        let X = plant.initial();
        let (n, m) = (plant.states, plant.rows);
        Ok(EventDriven {
            t: model.t0(),
            lam: vec![0.0; m],
            h: f64::NAN,
            fresh: true,
            epsilon: 0.0,
            last_event: f64::NEG_INFINITY,
            idle: 0,
            series: vec![Series::default(); mode.blocks.len()],
            log: Vec::new(),
            work: Work { X: vec![0.0; n], lam: vec![0.0; m], ..Work::default() },
            flow: Flow::new(&model, &plant, &mode),
            tolerance: Tolerance { rtol, atol },
            model,
            plant,
            mode,
            instant,
            X,
            places,
            rows,
        })
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Current time.
    pub fn t(&self) -> f64 {
        self.t
    }

    /// What has happened so far.
    pub fn events(&self) -> &[EventRecord] {
        &self.log
    }

    /// All signals that a run can record.
    pub fn layout(&self) -> Layout {
        signals_of(&self.model)
    }

    /// Runs until `until`; records at every step and on both sides of every event.
    pub fn run(&mut self, until: f64) -> Result<Run, RunFailure> {
        let clock = std::time::Instant::now();
        let recorder = Recorder::everything(self.layout());
        let mut frames = Frames::default();
        let mut stats = RunStats {
            steps: 0,
            iterations: 0,
            worst_residual: 0.0,
            worst_penetration: 0.0,
            failures: 0,
            seconds: 0.0,
            outcome: RunOutcome::Complete,
        };
        let happened = self.log.len();
        let mut failure = self.begin(until).err();
        self.record(&recorder, &mut frames, 0);
        while failure.is_none() && self.t < until {
            match self.advance(until) {
                Ok(iterations) => {
                    stats.steps += 1;
                    stats.iterations += iterations;
                    self.record(&recorder, &mut frames, iterations);
                }
                Err(error) => {
                    stats.failures = 1;
                    failure = Some(error);
                }
            }
        }
        stats.seconds = clock.elapsed().as_secs_f64();
        if let Some(error) = &failure {
            stats.outcome = RunOutcome::Failed(error.to_string());
        }
        let events = self.log[happened..].to_vec();
        let run = Run { layout: recorder.layout, frames, stats, events };
        match failure {
            None => Ok(run),
            Some(source) => Err(RunFailure { source, run: Box::new(run) }),
        }
    }

    fn record(&mut self, recorder: &Recorder, frames: &mut Frames, iterations: usize) {
        let _ = self.plant.outputs(self.t, &self.X, &self.lam);
        let (nx, nq) = (self.places[0].states, self.places[1].states);
        self.rows[0].get_mut(Quantity::X).copy_from_slice(&self.X[..nx]);
        self.rows[1].get_mut(Quantity::Q).copy_from_slice(&self.X[nx..nx + nq]);
        self.rows[1].get_mut(Quantity::V).copy_from_slice(&self.X[nx + nq..]);
        let mut next = 0;
        for (k, (_, interaction)) in self.model.interactions().enumerate() {
            let rows = next..next + interaction.relation.size();
            next = rows.end;
            let order = usize::from(interaction.relation.order() == Order::Second);
            let Some(place) = self.places[order].interactions[k].clone() else { continue };
            let row = &mut self.rows[order];
            row.get_mut(Quantity::Y)[place.clone()].copy_from_slice(&self.plant.y[rows.clone()]);
            if order == 1 {
                let u = &self.plant.u[rows.clone()];
                row.get_mut(Quantity::U)[place.clone()].copy_from_slice(u);
            }
            row.get_mut(Quantity::Lam)[place].copy_from_slice(&self.lam[rows]);
        }
        let rows = [&self.rows[0].values[..], &self.rows[1].values[..]];
        let rows = [rows[0], if nq > 0 { rows[1] } else { &[] }];
        recorder.record_rows(frames, self.t, rows, iterations, 0.0);
    }

    /// The first mode, and a first step.
    fn begin(&mut self, until: f64) -> Result<(), SimError> {
        if !until.is_finite() {
            let (owner, allowed) = ("event-driven", "the finite numbers");
            return Err(SimError::Setting { owner, field: "until", value: until, allowed });
        }
        if until < self.t {
            return Err(SimError::Until { until, time: self.t });
        }
        if self.fresh {
            self.h = 1e-3 * (until - self.t).max(f64::MIN_POSITIVE);
            self.epsilon = VANISHING * self.h;
            self.last_event = self.t;
            self.settle(None)?;
            self.fresh = false;
        }
        Ok(())
    }

    /// One smooth step, ended by an event where there is one. Newton's iterations.
    fn advance(&mut self, until: f64) -> Result<usize, SimError> {
        let mut iterations = 0;
        let mut h = self.h;
        loop {
            let left = until - self.t;
            let ends = h >= left * (1.0 - 1e-12);
            let length = if ends { left } else { h };
            if self.t + length == self.t {
                return Err(SimError::TooShort { time: self.t, h: length });
            }
            let outcome = self.smooth(length)?;
            iterations += self.flow.iterations;
            let error = match outcome {
                Outcome::TooLong => {
                    h = 0.25 * length;
                    continue;
                }
                Outcome::Done(error) if error > 1.0 || error.is_nan() => {
                    let factor = 0.9 * error.powf(-1.0 / 6.0);
                    h = length * if factor.is_finite() { factor.clamp(0.1, 0.9) } else { 0.1 };
                    continue;
                }
                Outcome::Done(error) => error,
            };
            let next = length * (0.9 * error.max(1e-12).powf(-1.0 / 6.0)).clamp(0.3, GROWTH);
            let event = self.first_event()?;
            match event {
                None => {
                    self.accept(if ends { until } else { self.t + length });
                    self.project()?;
                    self.h = if ends { self.h.max(next.min(GROWTH * self.h)) } else { next };
                    // a step that is nearly the same keeps its factors
                    return Ok(iterations);
                }
                Some((cause, theta)) => {
                    if !self.locate(cause, theta * length)? {
                        h = 0.25 * length;
                        continue;
                    }
                    let end = self.flow.t + self.flow.h;
                    let end = if end > until { until } else { end };
                    self.accept(end);
                    self.project()?;
                    self.h = next;
                    self.settle(Some(cause))?;
                    return Ok(iterations);
                }
            }
        }
    }

    fn smooth(&mut self, h: f64) -> Result<Outcome, SimError> {
        let (plant, mode) = (&mut self.plant, &self.mode);
        self.flow.step(plant, mode, self.t, &self.X, h, self.tolerance)
    }

    fn accept(&mut self, t: f64) {
        self.flow.end(&mut self.X, &mut self.lam);
        self.flow.keep();
        self.t = t;
    }

    /// Moves the state back onto what the mode holds.
    fn project(&mut self) -> Result<(), SimError> {
        self.plant.project(self.t, &mut self.X, &self.lam, &self.mode, self.tolerance)
    }
}
