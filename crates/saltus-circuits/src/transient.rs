//! Transient analysis: a circuit in time.

use crate::error::Culprit;
use crate::formulation::Autonomous;
use crate::{CircuitError, CircuitModel, Probes};
use saltus_model::{Event, Model, Trigger};
use saltus_numerics::{Interrupt, Solver};
use saltus_sim::{
    Adaptive, AdaptiveSettings, EulerMoreau, EventDriven, EventSettings, Frames, Integrator,
    NewtonSettings, Outcome, Progress, Run, RunFailure, RunOptions, SimError, Sink, Strategy,
    TimeStepping,
};
use thiserror::Error;

/// How a circuit is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Steps of one length; what switches within a step has switched for all of it.
    #[default]
    Fixed,
    /// From one switching instant to the next, each located to the tolerance.
    Exact,
    /// Exact while switchings are rare, by steps through clusters of them; where devices are smooth, by
    /// steps alone, whose lengths follow their error.
    Adaptive,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 3] = [Method::Fixed, Method::Exact, Method::Adaptive];

    /// The name users write.
    pub fn name(self) -> &'static str {
        match self {
            Method::Fixed => "fixed",
            Method::Exact => "exact",
            Method::Adaptive => "adaptive",
        }
    }

    /// The method of that name.
    pub fn from_name(name: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// What is asked of a transient analysis.
#[derive(Debug, Clone, PartialEq)]
pub struct Transient {
    /// The end.
    pub until: f64,
    /// The step; of the methods that choose their own, the distance of recorded instants.
    pub h: f64,
    /// Nothing is recorded before.
    pub start: f64,
    /// How it is followed.
    pub method: Method,
    /// Steps of one length: weight of their end in the linear part, 1/2 for the trapezoidal rule, 1
    /// for Euler's implicit rule.
    pub theta: f64,
    /// Of the methods that choose their own steps: error allowed in a step, relative to the state.
    pub tol: f64,
    /// Error allowed besides, in volt and ampere.
    pub atol: f64,
    /// What is recorded, `v(out)`, `i(L1)`; all nodes and components if none are chosen.
    pub signals: Option<Vec<String>>,
    /// Record every so many steps.
    pub every: usize,
}

impl Transient {
    /// Steps of `h` until `until`, by Euler's implicit rule, which rings with no switch.
    pub fn new(until: f64, h: f64) -> Transient {
        Transient {
            until,
            h,
            start: 0.0,
            method: Method::Fixed,
            theta: 1.0,
            tol: 1e-6,
            atol: 1e-9,
            signals: None,
            every: 1,
        }
    }

    fn check(&self) -> Result<(), SimError> {
        let owner = "the transient analysis";
        let positive =
            [("until", self.until), ("h", self.h), ("tol", self.tol), ("atol", self.atol)];
        for (field, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                return Err(SimError::Setting { owner, field, value, allowed: "(0, ∞)" });
            }
        }
        if !(self.start >= 0.0 && self.start < self.until) {
            let allowed = "[0, until)";
            return Err(SimError::Setting { owner, field: "start", value: self.start, allowed });
        }
        Ok(())
    }
}

/// Who looks on while a circuit is followed.
#[derive(Default)]
pub struct Watch<'a> {
    /// Stop after the current step once this is set.
    pub interrupt: Option<&'a Interrupt>,
    /// Called every few hundredths of a second, or after every step if steps take longer.
    pub progress: Option<&'a mut dyn FnMut(Progress)>,
    /// Give recorded rows away in chunks instead of keeping them.
    pub sink: Option<&'a mut dyn Sink>,
}

/// Why a transient analysis did not reach its end.
#[derive(Debug, Error)]
pub enum TransientError {
    /// The circuit, or a signal of it, makes no sense.
    #[error(transparent)]
    Circuit(#[from] CircuitError),
    /// The settings make no sense.
    #[error(transparent)]
    Setting(#[from] SimError),
    /// A step failed; what was computed before it is kept.
    #[error("{}", .0.source)]
    Failed(RunFailure),
}

impl CircuitModel {
    /// Follows the circuit. An interrupted run is no error; its outcome says so.
    pub fn run(&self, asked: &Transient, watch: Watch<'_>) -> Result<Run, TransientError> {
        asked.check()?;
        if asked.method == Method::Exact
            && let Some(name) = self.first_smooth()
        {
            let component = Culprit { name: name.to_string(), place: None };
            let what = "a smooth or behavioural device is not linear between events";
            let instead = "use the method `adaptive`, whose steps follow their error, or `fixed`";
            return Err(CircuitError::Unsupported { component, what, instead }.into());
        }
        // linear modes are followed exactly where sources are states, and no corner is stepped over
        let corner = self.first_corner(asked.until);
        let by_steps = asked.method == Method::Adaptive && self.first_smooth().is_some();
        let autonomous = match asked.method {
            Method::Exact => self.autonomous()?,
            Method::Adaptive if corner.is_some() && !by_steps => self.autonomous()?,
            Method::Fixed | Method::Adaptive => None,
        };
        let is_stepped = asked.method == Method::Fixed || by_steps;
        if !is_stepped && autonomous.is_none() && corner.is_some() {
            return Err(CircuitError::Corners.into());
        }
        let circuit = autonomous.as_ref().unwrap_or(self);
        let probes = Probes::new(circuit, asked.signals.as_deref())?;
        let (model, solver) = (circuit.model.clone(), Solver::default());
        match asked.method {
            Method::Fixed => {
                let scheme = EulerMoreau { theta: asked.theta, ..EulerMoreau::default() };
                let scheme = Integrator::EulerMoreau(scheme);
                let mut sim =
                    TimeStepping::with_methods(model, asked.h, [scheme], &solver, newton())?;
                sim.compose_modes();
                follow(sim, asked, &probes, watch)
            }
            Method::Exact => {
                let settings = EventSettings { rtol: asked.tol, atol: asked.atol };
                follow(EventDriven::with(model, settings, &solver)?, asked, &probes, watch)
            }
            Method::Adaptive => {
                let settings = AdaptiveSettings { tol: asked.tol };
                let sim = match by_steps {
                    false => Adaptive::with(model, settings, &solver)?,
                    true => {
                        let model = self.ending_steps_at_corners(model)?;
                        let longest = self.longest_step(asked);
                        Adaptive::by_steps(model, settings, newton(), longest, &solver)?
                    }
                };
                follow(sim, asked, &probes, watch)
            }
        }
    }
}

/// How the equations of smooth devices are solved: the currents of diodes that block are the difference
/// of far larger ones, which leaves no more digits than this.
pub(crate) fn newton() -> NewtonSettings {
    NewtonSettings { tol: 1e-9, max_iter: 100, ..NewtonSettings::default() }
}

impl CircuitModel {
    /// The first instant at which a source breaks or jumps.
    fn first_corner(&self, until: f64) -> Option<f64> {
        let corners = self.sources().filter_map(|source| source.next_breakpoint(0.0));
        corners.filter(|&t| t <= until).min_by(f64::total_cmp)
    }

    /// The longest step where steps follow their error, which sees nothing of what a diode does between two
    /// instants at which it blocks.
    fn longest_step(&self, asked: &Transient) -> f64 {
        const OF_A_PERIOD: f64 = 0.01;
        const OF_THE_WHOLE: f64 = 0.02;
        let periods = self.sources().filter_map(|source| source.period());
        let shortest = periods.fold(f64::INFINITY, f64::min);
        (OF_A_PERIOD * shortest).min(OF_THE_WHOLE * asked.until).max(asked.h)
    }

    /// The model with events that do nothing but end steps where sources break or jump.
    fn ending_steps_at_corners(&self, mut model: Model) -> Result<Model, CircuitError> {
        for source in self.sources() {
            let mut single = Vec::new();
            for trigger in Autonomous::new(source).settings.into_iter().map(|one| one.0) {
                match trigger {
                    Trigger::At(times) => single.extend(times),
                    trigger => corner(&mut model, trigger)?,
                }
            }
            single.sort_by(f64::total_cmp);
            single.dedup();
            if !single.is_empty() {
                corner(&mut model, Trigger::At(single))?;
            }
        }
        Ok(model)
    }
}

/// An event that does nothing.
fn corner(model: &mut Model, trigger: Trigger) -> Result<(), CircuitError> {
    let name = format!("corner of a source {}", model.events().len());
    let event = Event { name, trigger, once: false, actions: Vec::new() };
    Ok(model.add_event(event).map(|_| ())?)
}

/// Runs a strategy and reads its rows through the probes.
pub(crate) fn follow<S: Strategy>(
    mut sim: S,
    asked: &Transient,
    probes: &Probes,
    watch: Watch<'_>,
) -> Result<Run, TransientError> {
    let Watch { interrupt, mut progress, sink } = watch;
    let mut tell = |now: Progress| {
        if let Some(progress) = &mut progress {
            progress(now);
        }
    };
    let signals = Some(probes.needed());
    let layout = sim.recorded_layout(signals)?;
    if asked.start > sim.t() {
        let mut passed = probes.sink(&layout, None)?;
        let quiet = RunOptions {
            every: usize::MAX,
            signals,
            interrupt,
            progress: Some(&mut tell),
            sink: Some(&mut passed),
            ..Default::default()
        };
        let before = sim.run_until(asked.start, quiet);
        let frames = passed.into_frames();
        let before = before.map_err(|failure| failed(failure, probes, frames.clone()))?;
        if before.stats.outcome != Outcome::Complete {
            return Ok(probes.read(before, frames));
        }
    }
    let samples = S::SAMPLES.then(|| samples(sim.t(), asked));
    let sink = sink.map(|sink| sink as &mut dyn Sink);
    let mut sink = probes.sink(&layout, sink)?;
    let steps = ((asked.until - sim.t()) / asked.h) as usize;
    sink.expect_rows(samples.as_ref().map_or(2 + steps / asked.every.max(1), Vec::len));
    let options = RunOptions {
        every: asked.every,
        samples: samples.as_deref(),
        signals,
        interrupt,
        progress: Some(&mut tell),
        sink: Some(&mut sink),
        checkpoints: None,
    };
    let done = sim.run_until(asked.until, options);
    let frames = sink.into_frames();
    match done {
        Ok(run) => Ok(probes.read(run, frames)),
        Err(failure) => Err(failed(failure, probes, frames)),
    }
}

/// A failed run, read through the probes as far as it went.
fn failed(failure: RunFailure, probes: &Probes, frames: Frames) -> TransientError {
    let run = Box::new(probes.read(*failure.run, frames));
    TransientError::Failed(RunFailure { source: failure.source, run })
}

/// The recorded instants of a method that chooses its own steps: every `h`, and the end.
fn samples(from: f64, asked: &Transient) -> Vec<f64> {
    let distance = asked.h * asked.every.max(1) as f64;
    let count = ((asked.until - from) / distance * (1.0 - 1e-12)).ceil() as usize;
    (0..count).map(|k| from + k as f64 * distance).chain([asked.until]).collect()
}
