//! The event-driven strategy: smooth phases of high order, events at their exact instants.
//!
//! Between events the model is in one mode: a differential-algebraic equation that collocation
//! integrates with error control. Every indicator of the mode is watched on the polynomial of the
//! step. Where one passes through zero, the length of the step becomes an unknown: the step is done
//! again until the event lies at its end, so that the order of the formula is kept across events.
//! Then a step of vanishing length tells what follows.

mod collocation;
mod factor;
mod instant;
mod mode;
mod plant;
mod project;
#[cfg(test)]
mod tests;

use crate::SimError;
use crate::integrators::assembly::Places;
use crate::integrators::row::Row;
use crate::recorder::{Recorder, signals_of};
use crate::run::{Frames, Layout, Outcome as RunOutcome, Quantity, Run, RunStats};
use crate::time_stepping::RunFailure;
use collocation::{Collocation, Outcome, Tolerance};
use instant::{Instant, SHARES};
use mode::{Branch, INDICATORS, Mode};
use plant::Plant;
use saltus_model::{Model, Order};
use saltus_numerics::Solver;

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

/// What happened at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// Velocities have jumped.
    Impact,
    /// A contact has opened.
    LiftOff,
    /// A contact has begun to stick.
    Stick,
    /// A contact has begun to slip, or slips the other way.
    Slip,
    /// A law has gone over to another branch.
    Switch,
    /// The state has begun to slide along a surface.
    Sliding,
    /// Infinitely many impacts have come to their end.
    Accumulation,
}

impl EventKind {
    /// The name in files and in Python.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Impact => "impact",
            EventKind::LiftOff => "lift-off",
            EventKind::Stick => "stick",
            EventKind::Slip => "slip",
            EventKind::Switch => "switch",
            EventKind::Sliding => "sliding",
            EventKind::Accumulation => "accumulation",
        }
    }
}

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// When.
    pub time: f64,
    /// What.
    pub kind: EventKind,
    /// The interaction.
    pub interaction: String,
    /// `u` (mechanics) or `y` before.
    pub before: Vec<f64>,
    /// The same after.
    pub after: Vec<f64>,
}

/// The last impacts of a block, to tell accumulations.
#[derive(Debug, Clone, Copy, Default)]
struct Bounces {
    last: f64,
    intervals: [f64; 4],
    count: usize,
    longest: f64,
}

/// A model on its way through time, from event to event.
#[derive(Debug)]
pub struct EventDriven {
    model: Model,
    plant: Plant,
    mode: Mode,
    instant: Instant,
    collocation: Collocation,
    tolerance: Tolerance,
    t: f64,
    X: Vec<f64>,
    lam: Vec<f64>,
    h: f64,       // the step to try next
    fresh: bool,  // nothing is known yet
    epsilon: f64, // length of a vanishing step
    last_event: f64,
    quiet: usize, // events since time has passed
    bounces: Vec<Bounces>,
    events: Vec<Event>,
    work: Work,
    places: [Places; 2],
    rows: [Row; 2],
}

#[derive(Debug, Default)]
struct Work {
    X: Vec<f64>,
    lam: Vec<f64>,
    branches: Vec<Branch>,
    started: Vec<[f64; INDICATORS]>,
}

/// Instants of a step at which indicators are looked at.
const SAMPLES: usize = 8;
/// A vanishing step, as a share of the steps around it.
const VANISHING: f64 = 1e-5;
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
            Row::new(order, places.states, places.outputs)
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
            quiet: 0,
            bounces: vec![Bounces::default(); mode.blocks.len()],
            events: Vec::new(),
            work: Work { X: vec![0.0; n], lam: vec![0.0; m], ..Work::default() },
            collocation: Collocation::new(n, m),
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
    pub fn events(&self) -> &[Event] {
        &self.events
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
        let run = Run { layout: recorder.layout, frames, stats };
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
            iterations += self.collocation.iterations;
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
                Some(found) => {
                    let Some(cause) = self.locate(found, length)? else {
                        h = 0.25 * length;
                        continue;
                    };
                    let end = self.collocation.t + self.collocation.h;
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
        self.collocation.step(plant, mode, self.t, &self.X, h, self.tolerance)
    }

    fn accept(&mut self, t: f64) {
        self.collocation.end(&mut self.X);
        self.lam.copy_from_slice(self.collocation.end_lam());
        self.collocation.keep();
        self.t = t;
    }

    /// Moves the state back onto what the mode holds.
    fn project(&mut self) -> Result<(), SimError> {
        self.plant.project(self.t, &mut self.X, &self.lam, &self.mode, self.tolerance)
    }

    fn indicator(&mut self, k: usize, i: usize, theta: f64) -> Result<f64, SimError> {
        let Collocation { t, h, .. } = self.collocation;
        let t = t + theta * h;
        self.collocation.at(theta, &mut self.work.X, &mut self.work.lam);
        self.plant.outputs(t, &self.work.X, &self.work.lam)?;
        let Plant { y, u, .. } = &self.plant;
        Ok(self.mode.indicators(k, t, &self.work.X, y, u, &self.work.lam)?[i])
    }

    /// The first indicator that passes through zero in the step, and about where (θ).
    fn first_event(&mut self) -> Result<Option<(usize, usize, f64)>, SimError> {
        let mut found: Option<(usize, usize, f64)> = None;
        let blocks = self.mode.blocks.len();
        self.work.started.clear();
        for j in 1..=SAMPLES {
            let theta = j as f64 / SAMPLES as f64;
            if found.is_some_and(|(.., at)| at < (j - 1) as f64 / SAMPLES as f64) {
                break;
            }
            let Collocation { t, h, .. } = self.collocation;
            self.collocation.at(theta, &mut self.work.X, &mut self.work.lam);
            self.plant.outputs(t + theta * h, &self.work.X, &self.work.lam)?;
            let mut crossed = Vec::new();
            for k in 0..blocks {
                let Plant { y, u, .. } = &self.plant;
                let values =
                    self.mode.indicators(k, t + theta * h, &self.work.X, y, u, &self.work.lam)?;
                for (i, value) in values.iter().enumerate() {
                    if *value < 0.0 {
                        crossed.push((k, i));
                    }
                }
            }
            for (k, i) in crossed {
                let before = (j - 1) as f64 / SAMPLES as f64;
                let at = self.root(k, i, before, theta)?;
                if found.is_none_or(|(.., first)| at < first) {
                    found = Some((k, i, at));
                }
            }
            if found.is_some() {
                break;
            }
        }
        Ok(found)
    }

    /// Where an indicator that is negative at `right` becomes so, by bisection and secants. At the
    /// beginning of the step, where it may be zero to round-off, it counts as positive.
    fn root(&mut self, k: usize, i: usize, left: f64, right: f64) -> Result<f64, SimError> {
        let (mut a, mut b) = (left, right);
        let mut fb = self.indicator(k, i, b)?;
        let mut fa = if a == 0.0 { f64::NAN } else { self.indicator(k, i, a)? };
        for _ in 0..80 {
            let secant = a + (b - a) * fa / (fa - fb);
            let inner = 0.01 * (b - a);
            let c = if secant > a + inner && secant < b - inner { secant } else { 0.5 * (a + b) };
            if c <= a || c >= b || b - a < 1e-15 {
                break;
            }
            let fc = self.indicator(k, i, c)?;
            if fc < 0.0 {
                (b, fb) = (c, fc);
            } else {
                (a, fa) = (c, fc);
            }
        }
        Ok(b)
    }

    /// Shortens the step until its end is the event; nothing where the step was too long for it.
    fn locate(
        &mut self,
        (k, i, theta): (usize, usize, f64),
        length: f64,
    ) -> Result<Option<(usize, usize)>, SimError> {
        let mut h = theta * length;
        let mut known: Option<(f64, f64)> = None; // a length and the indicator at its end
        for _ in 0..8 {
            if self.t + h == self.t {
                // the event is now: nothing moves
                self.collocation.hold(self.t, &self.X, &self.lam);
                break;
            }
            if let Outcome::TooLong = self.smooth(h)? {
                return Ok(None);
            }
            let value = self.indicator(k, i, 1.0)?;
            let slope = match known {
                Some((at, was)) if at != h => (value - was) / (h - at),
                _ => (value - self.indicator(k, i, 1.0 - 1e-3)?) / (1e-3 * h),
            };
            known = Some((h, value));
            let change = value / slope;
            let round_off = 2.0 * f64::EPSILON * self.t.abs().max(h);
            let next = h - change;
            if !(change.abs() > round_off) || !(next > 0.0 && next < 2.0 * h) {
                break;
            }
            h = next;
        }
        Ok(Some((k, i)))
    }

    /// What follows from the current state: impacts, then the mode.
    fn settle(&mut self, cause: Option<(usize, usize)>) -> Result<(), SimError> {
        let before = self.mode.branches.clone();
        if let Some((k, _)) = cause {
            self.quiet = if self.t > self.last_event { 0 } else { self.quiet + 1 };
            if self.quiet > 100 {
                let interaction = self.mode.blocks[k].owner.clone();
                return Err(SimError::Unsettled { time: self.t, interaction });
            }
            if self.accumulates(k)? {
                return Ok(());
            }
        }
        // shorter than what came before by far, so that nothing else happens meanwhile
        let since = self.t - self.last_event;
        if since > 0.0 {
            // a power of sixteen, so that the matrices of the steps stay
            let epsilon = VANISHING * self.h.min(since);
            self.epsilon = 16f64.powi((epsilon.log2() / 4.0).floor() as i32);
        }
        self.last_event = self.t;
        if let Some(cause) = cause
            && self.sticks(cause)?
        {
            return Ok(());
        }
        let mut jumped = false;
        for _ in 0..20 {
            let mut tries: [Vec<f64>; 3] = Default::default();
            for (k, X) in tries.iter_mut().enumerate() {
                let step = SHARES[k] * self.epsilon;
                self.instant.step(&self.model, self.t, &self.X, k, step)?;
                X.clone_from(&self.instant.X);
            }
            let mut branches = std::mem::take(&mut self.work.branches);
            let Instant { y, u, lam, .. } = &self.instant;
            let speed = self.jumping().fold(0.0_f64, |a, i| a.max(self.instant.X[i].abs()));
            self.mode.read(y, u, lam, speed, &mut branches);
            self.work.branches = branches;
            if !self.jumps(&tries) {
                break;
            }
            self.jump(&tries)?;
            jumped = true;
        }
        let mut branches = std::mem::take(&mut self.work.branches);
        if let Some((k, i)) = cause
            && branches == before
            && !jumped
        {
            branches[k] = self.mode.successor(k, i, &self.lam);
        }
        self.mode.set(&branches);
        self.log_switches(&before, &branches);
        self.work.branches = branches;
        self.collocation.restart();
        self.collocation.guess(&self.instant.lam);
        self.project()
    }

    /// Whether what has come to rest sticks: friction may be larger there than a moment before.
    fn sticks(&mut self, (k, i): (usize, usize)) -> Result<bool, SimError> {
        let Branch::Slip(_) = self.mode.branches[k] else { return Ok(false) };
        if i == 0 {
            return Ok(false);
        }
        let (before, X) = (self.mode.branches.clone(), self.X.clone());
        let mut branches = before.clone();
        branches[k] = Branch::Closed;
        self.mode.set(&branches);
        self.project()?;
        self.collocation.restart();
        self.collocation.guess(&self.lam);
        let sticks = matches!(self.smooth(self.epsilon)?, Outcome::Done(_)) && self.consistent()?;
        if sticks {
            self.log_switches(&before, &branches);
        } else {
            self.mode.set(&before);
            self.X = X;
            self.collocation.restart();
        }
        Ok(sticks)
    }

    /// Whether no indicator is negative at the end of the step.
    fn consistent(&mut self) -> Result<bool, SimError> {
        for k in 0..self.mode.blocks.len() {
            for i in 0..INDICATORS {
                if self.indicator(k, i, 1.0)? < 0.0 {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The components that can jump: configurations cannot.
    fn jumping(&self) -> impl Iterator<Item = usize> + use<> {
        let (nx, nq) = (self.places[0].states, self.places[1].states);
        (0..nx).chain(nx + nq..nx + 2 * nq)
    }

    /// Whether the state moved by more than a vanishing step can.
    fn jumps(&self, [far, _, near]: &[Vec<f64>; 3]) -> bool {
        let (mut by_far, mut by_near) = (0.0_f64, 0.0_f64);
        for i in self.jumping() {
            let allowed = self.tolerance.atol + self.tolerance.rtol * self.X[i].abs();
            by_far = by_far.max((far[i] - self.X[i]).abs() / allowed);
            by_near = by_near.max((near[i] - self.X[i]).abs() / allowed);
        }
        by_near > 1.0 && by_near > 0.6 * by_far
    }

    /// Takes over the jump: the limit of vanishing steps.
    fn jump(&mut self, [far, middle, near]: &[Vec<f64>; 3]) -> Result<(), SimError> {
        self.plant.outputs(self.t, &self.X, &self.lam)?;
        let (y, u) = (self.plant.y.clone(), self.plant.u.clone());
        for i in self.jumping() {
            self.X[i] = (far[i] - 6.0 * middle[i] + 8.0 * near[i]) / 3.0;
        }
        self.plant.outputs(self.t, &self.X, &self.lam)?;
        let largest = self.instant.lam.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        for k in 0..self.mode.blocks.len() {
            let block = &self.mode.blocks[k];
            let rows = block.rows.clone();
            if !(self.instant.lam[rows.start].abs() > 1e-9 * largest) {
                continue;
            }
            let contact = self.mode.is_contact(k);
            let (kind, before, after) = match contact {
                true => (EventKind::Impact, &u, &self.plant.u),
                false => (EventKind::Switch, &y, &self.plant.y),
            };
            let (before, after) = (before[rows.clone()].to_vec(), after[rows].to_vec());
            let interaction = block.owner.clone();
            self.events.push(Event { time: self.t, kind, interaction, before, after });
            if contact {
                self.bounces[k].add(self.t);
            }
        }
        Ok(())
    }

    /// Whether the events of this block have come to their limit; then it is passed.
    ///
    /// A contact is closed: nothing is left of its bounces. Anything else takes one implicit step
    /// over the limit.
    fn accumulates(&mut self, k: usize) -> Result<bool, SimError> {
        let contact = self.mode.is_contact(k);
        if !contact {
            self.bounces[k].add(self.t);
        } else if self.mode.branches[k] != Branch::Open {
            return Ok(false);
        }
        let shortest = if contact { 1e-6 } else { 1e-9 };
        let Some(left) = self.bounces[k].left(self.t, contact, shortest) else {
            return Ok(false);
        };
        let interaction = self.mode.blocks[k].owner.clone();
        let (time, kind) = (self.t + left, EventKind::Accumulation);
        let (before, after) = (Vec::new(), Vec::new());
        self.events.push(Event { time, kind, interaction, before, after });
        self.bounces.fill(Bounces::default());
        if contact {
            let mut branches = self.mode.branches.clone();
            branches[k] = Branch::Closed;
            self.mode.set(&branches);
            self.project()?;
        } else {
            let length = 4.0 * left;
            self.instant.step(&self.model, self.t, &self.X, 0, length)?;
            self.X.copy_from_slice(&self.instant.X);
            self.t += length;
        }
        self.settle(None)?;
        Ok(true)
    }

    fn log_switches(&mut self, before: &[Branch], after: &[Branch]) {
        for (k, (old, new)) in before.iter().zip(after).enumerate() {
            if old == new || self.fresh {
                continue;
            }
            let kind = match (old, new) {
                (Branch::Open, _) => continue, // its impact is there
                (_, Branch::Open) => EventKind::LiftOff,
                (_, Branch::Closed) => EventKind::Stick,
                (_, Branch::Slip(_)) => EventKind::Slip,
                (_, Branch::Piece(_)) if self.mode.holds(k, *new) => EventKind::Sliding,
                (_, Branch::Piece(_)) => EventKind::Switch,
            };
            let block = &self.mode.blocks[k];
            let interaction = block.owner.clone();
            let (before, after) = (Vec::new(), Vec::new());
            self.events.push(Event { time: self.t, kind, interaction, before, after });
        }
    }
}

impl Bounces {
    fn add(&mut self, t: f64) {
        if self.count > 0 {
            let interval = t - self.last;
            self.intervals.rotate_left(1);
            self.intervals[3] = interval;
            self.longest = self.longest.max(interval);
        }
        self.last = t;
        self.count += 1;
    }

    /// How long infinitely many events take from now on, whose intervals `Δ` shrink in a constant
    /// ratio `ρ`, once they are short: `Δ ρ/(1 − ρ)`. `open` says that the last event is not yet
    /// counted.
    fn left(&self, t: f64, open: bool, shortest: f64) -> Option<f64> {
        if self.count < 6 {
            return None;
        }
        let [a, b, c, d] = self.intervals;
        let last = if open { t - self.last } else { d };
        let [first, second, third] =
            if open { [c / b, d / c, last / d] } else { [b / a, c / b, d / c] };
        let ratio = (first * second * third).cbrt();
        let steady = [first, second, third].iter().all(|r| (r - ratio).abs() < 0.1 * (1.0 - ratio));
        let short = last <= shortest * self.longest;
        (ratio < 1.0 && steady && short).then(|| last * ratio / (1.0 - ratio))
    }
}
