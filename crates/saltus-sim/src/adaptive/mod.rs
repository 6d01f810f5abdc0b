//! The adaptive strategy: from event to event while they are rare, by error-controlled steps of
//! time-stepping through clusters of them.
//!
//! ```text
//! events in a row, at intervals δ on average:  one step of 4 δ is tried                 (1)
//!   its error is allowed:   time-stepping, as long as steps are longer than δ
//!   and laws change:        once they rest for a while, from event to event again
//! ```
//!
//! Switches with memory turn at the ends of steps: a step at whose end a control is past its level is done
//! again, until it ends there.
//!
//! Where the event-driven strategy cannot go on, time-stepping is tried too. Models whose laws are
//! smooth but steep have no events to go to: they may be followed by such steps alone
//! ([`Adaptive::by_steps`]). Nothing here depends on how fast the machine is.

mod density;
mod stepper;
#[cfg(test)]
mod tests;

use crate::SimError;
use crate::checkpoint::Checkpoint;
use crate::driver::{self, RunFailure, RunOptions, StepStats, Strategy};
use crate::event_driven::{EventDriven, EventSettings};
use crate::integrators::NewtonSettings;
use crate::law_log::LawLog;
use crate::run::{EventRecord, Run};
use density::Density;
use saltus_model::{Model, Order, SystemId};
use saltus_numerics::{LARGEST_TOL, Solver};
use stepper::Stepper;

/// The tolerance of an [`Adaptive`] simulation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdaptiveSettings {
    /// Error allowed in a step, relative to `1 + |X|`. Default 1e-6.
    pub tol: f64,
}

impl Default for AdaptiveSettings {
    fn default() -> Self {
        AdaptiveSettings { tol: 1e-6 }
    }
}

impl AdaptiveSettings {
    /// Whether the tolerance is in its range.
    pub fn check(&self) -> Result<(), SimError> {
        if !(self.tol > 0.0 && self.tol <= LARGEST_TOL) {
            let (owner, allowed) = (Adaptive::NAME, "(0, 0.1]");
            return Err(SimError::Setting { owner, field: "tol", value: self.tol, allowed });
        }
        Ok(())
    }

    /// The tolerances between events, of which there may be many.
    fn between_events(self) -> EventSettings {
        EventSettings { rtol: 0.1 * self.tol, atol: 0.01 * self.tol }
    }
}

/// A model on its way through time, by whichever strategy suits.
#[derive(Debug)]
pub struct Adaptive {
    exact: EventDriven,
    settings: AdaptiveSettings,
    solver: Solver,
    density: Density,
    cluster: Option<Cluster>,
    spare: Option<(usize, Stepper)>, // of the last cluster, and of which state of the model
    by_steps: Option<(NewtonSettings, f64)>, // by steps alone, each with these settings; the longest
}

/// The way through a cluster of events.
#[derive(Debug)]
struct Cluster {
    stepper: Stepper,
    laws: LawLog,
    start: (f64, Vec<f64>), // of the last step
    h: f64,
    shortest: f64, // steps that are worth it
    quiet: usize,  // steps since a law has changed
    fastest: f64,  // normal velocity of a contact so far
}

/// The search for the step at whose end a switch turns.
#[derive(Debug)]
struct Search {
    before: (f64, f64), // a length, and how far past its level a control is there
    after: Option<(f64, f64)>,
    tries: usize,
}

/// Intervals in the first step of a cluster.
const TRIED: f64 = 4.0;
/// Steps without a change of laws after which a cluster is over.
const QUIET: usize = 8;
/// Share of the largest normal velocity below which contacts are at rest.
const CALM: f64 = 1e-2;
/// Share of the allowed error that steps aim at.
const AIM: f64 = 0.8;
/// Shortest and longest factor from one step of a cluster to the next.
const GROWTH: [f64; 2] = [0.3, 2.0];
/// Share of the first step at which a search for the instant of a switch ends, at the latest.
const RESOLVED: f64 = 1e-9;
/// Share of a step that is tried after an event of the model, by steps alone.
const AFTER_EVENT: f64 = 0.1;
/// The first and the shortest step where the event-driven strategy cannot go on, as shares of the
/// way.
const FIRST: f64 = 1e-4;
const LEAST: f64 = 1e-9;

impl Adaptive {
    /// A simulation with the default tolerance and solver.
    pub fn new(model: Model) -> Result<Adaptive, SimError> {
        Adaptive::with(model, AdaptiveSettings::default(), &Solver::default())
    }

    /// A simulation with this tolerance and this solver of the problems at events and in steps.
    pub fn with(
        model: Model,
        settings: AdaptiveSettings,
        solver: &Solver,
    ) -> Result<Adaptive, SimError> {
        settings.check()?;
        let exact = EventDriven::with(model, settings.between_events(), solver)?;
        let (density, solver) = (Density::default(), solver.clone());
        let (cluster, spare, by_steps) = (None, None, None);
        Ok(Adaptive { exact, settings, solver, density, cluster, spare, by_steps })
    }

    /// A simulation by error-controlled steps of time-stepping alone, each the combination of one whole
    /// and two half steps that is of the second order: for first-order models whose laws are smooth, if
    /// steep. Events of the model end steps. The equations of a step are solved with these settings. No step
    /// is longer than `longest`, so that nothing that lasts as long is stepped over.
    pub fn by_steps(
        model: Model,
        settings: AdaptiveSettings,
        newton: NewtonSettings,
        longest: f64,
        solver: &Solver,
    ) -> Result<Adaptive, SimError> {
        newton.check()?;
        if !(longest > 0.0) {
            let (owner, allowed) = (Self::NAME, "(0, ∞]");
            return Err(SimError::Setting { owner, field: "longest", value: longest, allowed });
        }
        if let Some((name, _)) = model.systems().find(|(_, one)| one.order() == Order::Second) {
            let (owner, what) = (format!("the system `{name}`"), "velocities");
            let needs = "of the first order; use the event-driven strategy";
            return Err(SimError::Unsuited { integrator: Self::NAME, owner, what, needs });
        }
        let mut sim = Adaptive::with(model, settings, solver)?;
        sim.by_steps = Some((newton, longest));
        Ok(sim)
    }

    /// The event-driven simulation that keeps the state, to be read.
    pub fn event_driven(&mut self) -> &mut EventDriven {
        &mut self.exact
    }

    /// The model, as events have changed it.
    pub fn model(&self) -> &Model {
        self.exact.model()
    }

    /// Current time.
    pub fn t(&self) -> f64 {
        self.exact.t()
    }

    /// What has happened so far.
    pub fn events(&self) -> &[EventRecord] {
        self.exact.events()
    }

    /// Whether the last step was one of time-stepping, through a cluster of events.
    pub fn is_stepping(&self) -> bool {
        self.cluster.is_some()
    }

    /// Whether `until` has been reached, or an event has stopped the run.
    pub fn done(&self, until: f64) -> bool {
        self.exact.done(until)
    }

    /// One step, and what happens at its end.
    pub fn step(&mut self) -> Result<StepStats, SimError> {
        self.exact.begin_towards(f64::INFINITY)?;
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
        driver::run(self, until, options)
    }

    /// Back to the initial state and time, with the initial parameters, laws and connections. If
    /// it fails, nothing has changed.
    pub fn reset(&mut self) -> Result<(), SimError> {
        self.exact.reset()?;
        self.forget();
        Ok(())
    }

    /// Replaces the state of a first-order system. What follows is found anew.
    pub fn set_x(&mut self, id: SystemId, x: &[f64]) -> Result<(), SimError> {
        self.exact.set_x(id, x)?;
        self.forget();
        Ok(())
    }

    /// Replaces configuration or velocity, or both, of a mechanical system. What follows is found
    /// anew.
    pub fn set_qv(
        &mut self,
        id: SystemId,
        q: Option<&[f64]>,
        v: Option<&[f64]>,
    ) -> Result<(), SimError> {
        self.exact.set_qv(id, q, v)?;
        self.forget();
        Ok(())
    }

    fn forget(&mut self) {
        (self.density, self.cluster, self.spare) = (Density::default(), None, None);
    }

    /// A step from event to event; through a cluster where it cannot be done, or a row of events
    /// has come to an end that a longer step passes.
    fn step_to_event(&mut self, until: f64) -> Result<StepStats, SimError> {
        if let Some(interval) = self.density.interval(self.t()) {
            let mut cluster = self.enter(TRIED * interval, interval)?;
            match cluster.step(&mut self.exact, self.settings.tol, until) {
                Ok(done) => return Ok(self.stay(cluster, done)),
                Err(failure) if is_of_step(&failure) => self.leave(cluster),
                Err(failure) => return Err(failure),
            }
        }
        match self.exact.advance(until) {
            Ok(done) => {
                self.density.note(done.t, self.exact.is_at_event());
                Ok(done)
            }
            Err(failure) if !is_of_step(&failure) => Err(failure),
            Err(failure) => {
                let mut cluster = self.enter_anyway(until)?;
                match cluster.step(&mut self.exact, self.settings.tol, until) {
                    Ok(done) => Ok(self.stay(cluster, done)),
                    Err(_) => Err(failure),
                }
            }
        }
    }

    /// A step where there are no others.
    fn step_alone(&mut self, until: f64) -> Result<StepStats, SimError> {
        let mut cluster = match self.cluster.take() {
            Some(cluster) => cluster,
            None => self.enter(FIRST * (until - self.t()).min(1.0), 0.0)?,
        };
        cluster.h = cluster.h.min(self.by_steps.map_or(f64::INFINITY, |one| one.1));
        let done = cluster.step(&mut self.exact, self.settings.tol, until);
        self.cluster = Some(cluster);
        done
    }

    /// The way into what the event-driven strategy cannot pass.
    fn enter_anyway(&mut self, until: f64) -> Result<Cluster, SimError> {
        let way = (until - self.t()).min(1.0);
        self.enter(FIRST * way, LEAST * way)
    }

    /// The way into a cluster.
    fn enter(&mut self, h: f64, shortest: f64) -> Result<Cluster, SimError> {
        let model = self.exact.model();
        let stepper = match self.spare.take() {
            Some((generation, stepper)) if generation == self.exact.generation() => stepper,
            _ => {
                let newton = self.by_steps.map(|one| one.0);
                Stepper::new(model, self.settings.tol, newton, &self.solver)?
            }
        };
        let mut laws = LawLog::new(model);
        laws.assume(self.exact.row_pair());
        let start = (self.t(), self.exact.state().to_vec());
        Ok(Cluster { stepper, laws, start, h, shortest, quiet: 0, fastest: 0.0 })
    }

    /// Keeps the matrices of a cluster for the next one.
    fn leave(&mut self, cluster: Cluster) {
        self.spare = Some((self.exact.generation(), cluster.stepper));
    }

    fn stay(&mut self, cluster: Cluster, done: StepStats) -> StepStats {
        self.cluster = Some(cluster);
        done
    }
}

impl Cluster {
    /// One step of time-stepping. Nothing has changed where all that are worth it
    /// fail.
    fn step(
        &mut self,
        exact: &mut EventDriven,
        tol: f64,
        until: f64,
    ) -> Result<StepStats, SimError> {
        let (t, stop) = (exact.t(), exact.next_stop(until));
        self.stepper.follow_switches(exact);
        let (planned, resolved) = (self.h, (RESOLVED * self.h).max(8.0 * f64::EPSILON * t.abs()));
        let mut search = Search::new(exact.past_switches(t, exact.state()));
        let mut h = self.h;
        let (error, length, end) = loop {
            let left = stop - t;
            let ends = h >= left * (1.0 - 1e-9);
            let length = if ends { left } else { h };
            let tried = self.stepper.attempt(exact.model(), t, exact.state(), length, tol);
            let (factor, failure) = match tried {
                Ok(error) if error <= 1.0 => {
                    let past = [(0.5, self.stepper.middle()), (1.0, self.stepper.end().0)];
                    let past = past.map(|(share, X)| exact.past_switches(t + share * length, X));
                    if let Some(next) = search.next(length, past, resolved) {
                        h = next;
                        continue;
                    }
                    let factor = (AIM / error.max(1e-12).sqrt()).clamp(GROWTH[0], GROWTH[1]);
                    self.h = if ends { self.h.max(factor * length) } else { factor * length };
                    break (error, length, if ends { stop } else { t + length });
                }
                Ok(error) => ((AIM / error).clamp(0.1, 0.5), SimError::TooShort { time: t, h }),
                Err(failure) if is_of_step(&failure) => (0.25, failure),
                Err(failure) => return Err(failure),
            };
            h = factor * length;
            if !(h >= self.shortest && t + h > t) {
                return Err(failure);
            }
        };
        self.stepper.keep();
        self.start.0 = t;
        self.start.1.copy_from_slice(exact.state());
        self.laws.open();
        for (parts, share) in self.stepper.halves().into_iter().zip([0.5, 1.0]) {
            let instant = if share < 1.0 { t + share * length } else { end };
            self.laws.look(instant, 0.5 * length, parts);
        }
        let events = self.laws.close(&[]);
        let restless = self.laws.restlessness(self.stepper.halves()[1]);
        self.fastest = self.fastest.max(restless);
        let calm = events.is_empty() && restless <= CALM * self.fastest;
        self.quiet = if calm { self.quiet + 1 } else { 0 };
        exact.arrive(end, self.stepper.end(), events, &self.stepper.ledgers(), error * tol)?;
        if exact.turn_switches((t + 0.5 * length, self.stepper.middle()))? {
            // slopes jump
            self.stepper.restart();
            self.h = AFTER_EVENT * planned;
        }
        let Stepper { iterations, residual, penetration, .. } = self.stepper;
        Ok(StepStats { t: end, h: length, iterations, residual, penetration })
    }

    /// State and forces at an instant of the last step, which ended at `end`.
    fn at(&self, t: f64, end: f64) -> (Vec<f64>, Vec<f64>) {
        let (start, X) = (self.start.0, &self.start.1);
        let middle = 0.5 * (start + end);
        let (last, lam) = self.stepper.end();
        let (a, b, from, to) = match t < middle {
            true => (start, middle, &X[..], self.stepper.middle()),
            false => (middle, end, self.stepper.middle(), last),
        };
        let share = (t - a) / (b - a);
        let X = from.iter().zip(to).map(|(from, to)| from + share * (to - from)).collect();
        (X, lam.to_vec())
    }
}

impl Search {
    /// From the beginning of a step, where controls are so far past the levels of their switches.
    fn new(past: f64) -> Search {
        Search { before: (0.0, past), after: None, tries: 0 }
    }

    /// The length to try in place of this one, in whose middle and at whose end controls are so far past;
    /// nothing where no switch turns, or one has just come to it. No search is finer than `resolved`.
    fn next(&mut self, length: f64, [middle, end]: [f64; 2], resolved: f64) -> Option<f64> {
        if end > 1.0 {
            if length - self.before.0 <= resolved {
                return None;
            }
            self.after = Some((length, end));
        } else if end > 0.0 {
            return None;
        } else if middle > 1.0 {
            return Some(0.5 * length); // there and back
        } else {
            self.before = (length, end);
        }
        let ((a, left), (b, right)) = (self.before, self.after?);
        // a secant that aims between the two; by halves where that does not end
        self.tries += 1;
        let secant = (0.5 - left) / (right - left);
        let share = if !self.tries.is_multiple_of(4) && secant > 0.0 && secant < 1.0 {
            secant
        } else {
            0.5
        };
        Some(a + share * (b - a))
    }
}

/// Whether another way, or a shorter step, may do better; a function of the user that fails does not.
fn is_of_step(failure: &SimError) -> bool {
    matches!(
        failure,
        SimError::Unsolved { .. }
            | SimError::Newton { .. }
            | SimError::NotFinite { .. }
            | SimError::TooShort { .. }
            | SimError::Iteration { .. }
            | SimError::Impact { .. }
            | SimError::Unsettled { .. }
    )
}

impl Strategy for Adaptive {
    const NAME: &'static str = "adaptive";
    const CHECKPOINTS: bool = false;
    const SAMPLES: bool = true;

    fn model(&self) -> &Model {
        self.exact.model()
    }

    fn t(&self) -> f64 {
        self.exact.t()
    }

    fn events(&self) -> &[EventRecord] {
        self.exact.events()
    }

    fn error_estimate(&self) -> Option<f64> {
        self.exact.error_estimate()
    }

    fn begin(&mut self, until: f64) -> Result<(), SimError> {
        driver::check_until(Self::NAME, until, self.t(), 0.0)?;
        self.exact.begin_towards(until)
    }

    fn finished(&self, until: f64) -> bool {
        self.exact.finished(until)
    }

    fn advance(&mut self, until: f64) -> Result<StepStats, SimError> {
        if self.by_steps.is_some() {
            return self.step_alone(until);
        }
        let Some(mut cluster) = self.cluster.take() else { return self.step_to_event(until) };
        if cluster.quiet < QUIET {
            match cluster.step(&mut self.exact, self.settings.tol, until) {
                Ok(done) => return Ok(self.stay(cluster, done)),
                Err(failure) if is_of_step(&failure) => {}
                Err(failure) => {
                    self.cluster = Some(cluster);
                    return Err(failure);
                }
            }
        }
        // over, or too dense for steps that are worth it
        let resumed = self.exact.resume(cluster.h, Some(cluster.stepper.outputs()));
        self.leave(cluster);
        match resumed {
            Ok(()) => self.step_to_event(until),
            Err(failure) if !is_of_step(&failure) => Err(failure),
            Err(failure) => {
                let mut cluster = self.enter_anyway(until)?;
                let done = cluster.step(&mut self.exact, self.settings.tol, until);
                done.map(|done| self.stay(cluster, done)).map_err(|_| failure)
            }
        }
    }

    fn jumps(&self) -> bool {
        self.cluster.is_none() && self.exact.jumps()
    }

    fn react(&mut self, until: f64) -> Result<(), SimError> {
        match self.exact.settle_pending() {
            Ok(()) => {}
            Err(failure) if !is_of_step(&failure) => return Err(failure),
            Err(_) => {
                // it goes on from there by time-stepping
                self.exact.forget_event();
                self.cluster = Some(self.enter_anyway(until)?);
            }
        }
        let (happened, generation) = (self.exact.events().len(), self.exact.generation());
        self.exact.happen()?;
        match &mut self.cluster {
            // its steps begin at the state, whatever that is now
            Some(cluster) if self.by_steps.is_some() && self.exact.generation() == generation => {
                if self.exact.events().len() > happened {
                    cluster.h *= AFTER_EVENT;
                    cluster.stepper.restart();
                }
                Ok(())
            }
            // an event of the model may have changed what the steps are made of
            Some(cluster) if self.exact.events().len() > happened => {
                let h = cluster.h;
                (self.cluster, self.density) = (None, Density::default());
                self.exact.resume(h, None)
            }
            _ => Ok(()),
        }
    }

    fn rows(&mut self) -> [&[f64]; 2] {
        self.exact.rows()
    }

    fn rows_at(&mut self, t: f64) -> [&[f64]; 2] {
        match &self.cluster {
            None => self.exact.rows_at(t),
            Some(cluster) => {
                let (X, lam) = cluster.at(t, self.exact.t());
                self.exact.rows_of(t, &X, &lam)
            }
        }
    }

    fn steps_left(&self, _until: f64) -> Option<usize> {
        None
    }

    fn take_resumed(&mut self) -> usize {
        0
    }

    fn checkpoint_after(&mut self, _steps: usize) -> Result<Checkpoint, SimError> {
        Err(SimError::NoCheckpoint { strategy: Self::NAME })
    }
}
