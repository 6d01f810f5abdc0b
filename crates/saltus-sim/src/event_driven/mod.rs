//! The event-driven strategy: smooth phases of high order, events at their exact instants.
//!
//! Between events the model is in one mode: a differential-algebraic equation that collocation
//! integrates with error control. Every indicator of the mode is watched on the polynomial of the
//! step. Where one passes through zero, the length of the step becomes an unknown: the step is done
//! again until the event lies at its end, so that the order of the formula is kept across events.
//! Then a step of vanishing length tells what follows.

mod accumulation;
mod collocation;
mod control;
mod degree;
mod exact;
mod factor;
mod flight;
mod flow;
mod flying;
mod gliding;
mod handover;
mod happen;
mod instant;
mod ledger;
mod mode;
mod plant;
mod project;
#[cfg(test)]
mod run_tests;
mod state;
#[cfg(test)]
mod tests;
mod transition;
mod watch;

pub use degree::{RelativeDegree, relative_degrees};

use crate::SimError;
use crate::driver::{self, RunFailure, RunOptions, StepStats, Strategy};
use crate::events::Events;
use crate::integrators::assembly::{Places, check_flat};
use crate::integrators::row::Row;
use crate::recorder::signals_of;
use crate::run::{EventRecord, Layout, Run};
use accumulation::{Series, Standstill};
use collocation::{Outcome, Tolerance};
use flight::{Flight, Hit};
use flow::Flow;
pub(crate) use instant::Instant;
use ledger::Book;
use mode::{Branch, Mode};
use plant::Plant;
use saltus_model::{Model, Order};
use saltus_numerics::Solver;
use transition::VANISHING;
use watch::{Cause, Located, Watched};

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

impl EventSettings {
    /// Whether the tolerances are in their ranges.
    pub fn check(&self) -> Result<(), SimError> {
        for (field, value) in [("rtol", self.rtol), ("atol", self.atol)] {
            if !(value > 0.0 && value < 1.0) {
                let (owner, allowed) = ("event-driven", "(0, 1)");
                return Err(SimError::Setting { owner, field, value, allowed });
            }
        }
        Ok(())
    }
}

/// A model on its way through time, from event to event.
#[derive(Debug)]
pub struct EventDriven {
    model: Model,             // as events have changed it
    base: Option<Box<Model>>, // as it was given, where events have changed it
    events: Events,
    crossing: Vec<bool>, // events whose conditions become true at this instant
    unsettled: bool,     // an event has changed something: what follows from it is not known
    generation: usize,   // how often the model has been changed
    solver: Solver,
    book: Book,
    energies: (f64, f64), // kinetic and potential, at the state
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
    limit: f64,             // where the step must end
    errors: f64,            // of all steps, about, relative to 1 + |X|
    idle: usize,            // events since time has passed
    pending: Option<Cause>, // what the last step has come to
    series: Vec<Series>,
    returns: Vec<usize>, // of switches: turnings in a row whose controls had not left their levels
    standstill: Standstill,
    flight: Option<Flight>,
    may_fly: bool,   // nobody looks at the state between events
    may_glide: bool, // rows are asked for at instants, not at the ends of steps
    glides: gliding::Glides,
    work: Work,
    places: [Places; 2],
    rows: [Row; 2],
}

#[derive(Debug, Default)]
struct Work {
    X: Vec<f64>,
    lam: Vec<f64>,
    branches: Vec<Branch>,
    watched: Vec<Watched>,
    samples: Vec<[f64; watch::KNOTS.len()]>, // of each, at the knots
    lightness: Vec<f64>,                     // of each row, `C M⁻¹ Cᵀ`
    margins: Vec<f64>,
    before: state::Before,
    before_event: state::BeforeEvent,
    hits: Vec<Hit>,
    last_bounce: Option<f64>, // its length
}

/// The first step to try, as a share of the way.
const FIRST: f64 = 1e-3;
/// Shorter and shorter steps that fail before one goes straight over a singular position, and the
/// error that it may have then, in units of the tolerance.
const STUBBORN: usize = 4;
const LENIENT: f64 = 10.0;
/// Share of a step within which an event that turns out to be none asks for a shorter one.
const EARLY: f64 = 1e-3;
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
        if model.has_found_contacts() {
            let (owner, what) =
                (format!("the model `{}`", model.title()), "contacts that are found");
            let needs = "absent; use time-stepping with moreau-jean for them";
            return Err(SimError::Unsuited { integrator: Self::NAME, owner, what, needs });
        }
        let (owner, t0) = ("the model", model.t0());
        if !t0.is_finite() {
            let allowed = "the finite numbers";
            return Err(SimError::Setting { owner, field: "t0", value: t0, allowed });
        }
        solver.check()?;
        settings.check()?;
        check_flat(&model, "event-driven")?;
        let EventSettings { rtol, atol } = settings;
        let plant = Plant::new(&model);
        let mode = Mode::new(&model, |k| plant.states_of(k).to_vec())?;
        let instant = Instant::new(&model, 10.0 * atol, solver)?;
        let places = [Places::new(&model, Order::First), Places::new(&model, Order::Second)];
        let rows = [Order::First, Order::Second].map(|order| {
            let places = &places[usize::from(order == Order::Second)];
            Row::new(order, places.sizes())
        });
        let X = plant.initial();
        let (n, m) = (plant.states, plant.rows);
        let mut sim = EventDriven {
            t: model.t0(),
            lam: vec![0.0; m],
            h: f64::NAN,
            fresh: true,
            epsilon: 0.0,
            last_event: f64::NEG_INFINITY,
            limit: f64::INFINITY,
            errors: 0.0,
            idle: 0,
            pending: None,
            series: vec![Series::default(); mode.blocks.len()],
            returns: vec![0; mode.blocks.len()],
            standstill: Standstill::default(),
            flight: Flight::new(&model, &mode),
            may_fly: false,
            may_glide: false,
            events: Events::new(&model)?,
            crossing: Vec::new(),
            unsettled: false,
            base: None,
            generation: 0,
            solver: solver.clone(),
            book: Book::new(&model),
            energies: (0.0, 0.0),
            glides: Default::default(),
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
        };
        let _ = sim.begin_ledger(); // the first step does it again, and tells what fails
        Ok(sim)
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
        &self.events.log
    }

    /// All signals that a run can record.
    pub fn layout(&self) -> Layout {
        signals_of(&self.model)
    }

    /// Whether `until` has been reached, or an event has stopped the run.
    pub fn done(&self, until: f64) -> bool {
        self.t >= until || self.events.state.stopped
    }

    /// One step, and what happens at its end.
    pub fn step(&mut self) -> Result<StepStats, SimError> {
        self.begin_towards(f64::INFINITY)?;
        let done = self.advance(f64::INFINITY)?;
        self.react(f64::INFINITY)?;
        Ok(done)
    }

    /// Runs until `until`; records at every step and on both sides of every event.
    pub fn run(&mut self, until: f64) -> Result<Run, RunFailure> {
        self.run_with(until, RunOptions::default())
    }

    /// Runs until `until`. An interrupted run is no error; its outcome says so.
    pub fn run_with(&mut self, until: f64, options: RunOptions<'_>) -> Result<Run, RunFailure> {
        // rows at the ends of steps alone would not show the motion between events
        self.may_glide = options.samples.is_some();
        let run = driver::run(self, until, options);
        (self.may_fly, self.may_glide) = (false, false);
        match (self.land(), run) {
            (Err(source), Ok(run)) => Err(RunFailure { source, run: Box::new(run) }),
            (_, run) => run,
        }
    }

    /// The first mode, and a first step.
    pub(crate) fn begin_towards(&mut self, until: f64) -> Result<(), SimError> {
        self.settle_pending()?;
        if self.fresh {
            let ahead = until - self.t;
            let known = ahead.is_finite() && ahead > 0.0;
            self.h = FIRST * if known { ahead } else { 1.0 };
            self.epsilon = VANISHING * self.h;
            self.last_event = self.t;
            self.begin_ledger()?;
            self.settle(None)?;
            self.fresh = false;
        }
        self.begin_events()
    }

    /// What the last step has come to.
    pub(crate) fn settle_pending(&mut self) -> Result<(), SimError> {
        if let Some(cause) = self.pending {
            self.settle(Some(cause))?;
            self.pending = None;
        }
        Ok(())
    }

    /// One smooth step, ended by an event where there is one. Newton's iterations.
    fn advance_smoothly(&mut self, until: f64) -> Result<usize, SimError> {
        let mut iterations = 0;
        let mut h = self.h;
        let stop = self.stop(until);
        self.limit = stop;
        let (mut failures, mut best) = (0, (f64::INFINITY, h)); // an error, and its step
        let (mut strained, mut straight) = (false, false);
        loop {
            let left = stop - self.t;
            let ends = h >= left * (1.0 - 1e-12);
            let length = if ends { left } else { h };
            if self.t + length == self.t {
                return Err(SimError::TooShort { time: self.t, h: length });
            }
            let outcome = self.smooth(length)?;
            iterations += self.flow.iterations;
            let error = match outcome {
                Outcome::Done(error) if error <= 1.0 => error,
                // one that goes straight over a singular position
                Outcome::Done(error) if straight && error < LENIENT => error,
                failed => {
                    failures += 1;
                    let mut factor = if failures > 1 { 0.25 } else { 0.6 };
                    if let Outcome::Done(error) = failed {
                        strained |= self.flow.is_strained();
                        if error < best.0 {
                            best = (error, length);
                        }
                        factor = 0.9 * error.powf(-1.0 / 6.0);
                        factor = if factor.is_finite() { factor.clamp(0.1, 0.9) } else { 0.1 };
                    }
                    // beside a position in which held rows become dependent shorter is worse
                    straight = strained && failures == STUBBORN && best.0 < LENIENT;
                    h = if straight { best.1 } else { factor * length };
                    continue;
                }
            };
            let next = length * (0.9 * error.max(1e-12).powf(-1.0 / 6.0)).clamp(0.3, GROWTH);
            let error_of_step = error * self.tolerance.rtol.max(self.tolerance.atol);
            let Some((watched, theta)) = self.first_event()? else {
                self.accept(if ends { stop } else { self.t + length })?;
                self.errors += error_of_step;
                // a step that is nearly the same keeps its factors
                self.h = if ends { self.h.max(next.min(GROWTH * self.h)) } else { next };
                self.note_crossings(None)?;
                return Ok(iterations);
            };
            let located = self.locate(watched, theta * length)?;
            // over a long step a gap next to nothing is not known well enough
            let early = located == Located::Nothing && self.flow.h < EARLY * length;
            if located == Located::TooLong || early {
                h = 0.25 * length;
                continue;
            }
            self.accept((self.flow.t + self.flow.h).min(stop))?;
            self.errors += error_of_step;
            self.h = next;
            let (law, event) = match watched {
                _ if located == Located::Nothing => (None, None),
                Watched::Law(cause) => (Some(cause), None),
                Watched::Margin { event, .. } | Watched::Condition(event) => (None, Some(event)),
            };
            self.note_crossings(event)?;
            self.pending = law;
            return Ok(iterations);
        }
    }

    fn smooth(&mut self, h: f64) -> Result<Outcome, SimError> {
        let (plant, mode) = (&mut self.plant, &self.mode);
        self.flow.step(plant, mode, self.t, &self.X, h, self.tolerance)
    }

    /// The step was good: books it, and moves the state back onto what the mode holds.
    fn accept(&mut self, t: f64) -> Result<(), SimError> {
        self.flow.end(&mut self.X, &mut self.lam);
        self.flow.keep();
        self.t = t;
        self.standstill.see(&self.X, self.tolerance);
        self.book_step()?;
        self.project()?;
        self.measure()
    }

    /// Moves the state back onto what the mode holds.
    fn project(&mut self) -> Result<(), SimError> {
        self.plant.project(self.t, &mut self.X, &self.lam, &self.mode, self.tolerance)
    }
}
