//! Simulations with the interpreter let go while they compute: what all strategies share.

use crate::events::{PyEvent, records};
use crate::run::PyRun;
use crate::signals::{SIGNALS, Signals};
use crate::{arrays, errors, operator};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyBaseException, PyException};
use pyo3::prelude::*;
use saltus::model::{Model, SystemId};
use saltus::sim::{Outcome, Progress, RunFailure, RunOptions, SimError, StepStats, Strategy};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How often a run reports its progress.
const REPORTS: Duration = Duration::from_millis(100);
/// Components of states and outputs up to which a step is shorter than letting the interpreter
/// go and taking it again.
const SMALL: usize = 64;

/// A simulation whose state can be read and set by name.
pub trait Simulated: Strategy + Send {
    /// One step, and what happens at its end.
    fn step(&mut self) -> Result<StepStats, SimError>;
    /// Replaces the state of a first-order system.
    fn set_x(&mut self, id: SystemId, x: &[f64]) -> Result<(), SimError>;
    /// Replaces configuration or velocity, or both, of a mechanical system.
    fn set_qv(
        &mut self,
        id: SystemId,
        q: Option<&[f64]>,
        v: Option<&[f64]>,
    ) -> Result<(), SimError>;
    /// `q`, `v` or `x` of a system, `y`, `u` or `lam` of an interaction, `z` of both, now.
    fn read(&mut self, name: &str, quantity: &str) -> Result<&[f64], SimError>;
}

/// A model on its way through time.
///
/// The lock is only ever tried: a thread that waited for it with the interpreter in hand would
/// wait forever for a step that calls a Python function.
pub struct Running<S> {
    sim: Mutex<S>,
    model_text: Option<String>,
    /// The interpreter is kept: a small model calls Python functions all the time, and other
    /// threads have their turn in these.
    keeps: bool,
}

/// What a run records.
pub struct Wanted {
    pub until: f64,
    pub every: usize,
    pub samples: Option<Vec<f64>>,
    pub signals: Option<Vec<String>>,
}

/// The simulation is computing.
pub struct Busy;

impl From<Busy> for PyErr {
    fn from(_: Busy) -> PyErr {
        errors::busy()
    }
}

impl<S: Simulated> Running<S> {
    /// Makes the simulation of a model, without the interpreter.
    pub fn start(
        py: Python<'_>,
        is_python: bool,
        model_text: Option<String>,
        make: impl FnOnce() -> Result<S, SimError> + Send,
    ) -> PyResult<Running<S>> {
        operator::take_failure();
        let sim = py.detach(make).map_err(|error| errors::sim(py, error))?;
        let keeps = is_python && size(sim.model()) <= SMALL;
        Ok(Running { sim: Mutex::new(sim), model_text, keeps })
    }

    pub fn lock(&self) -> Result<MutexGuard<'_, S>, Busy> {
        self.sim.try_lock().map_err(|_| Busy)
    }

    /// Computes, without the interpreter unless it is kept.
    fn compute<T: Send>(&self, py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
        if self.keeps { work() } else { py.detach(work) }
    }

    /// Does something to the simulation without the interpreter.
    pub fn change<T: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut S) -> Result<T, SimError> + Send,
    ) -> PyResult<T> {
        operator::take_failure();
        let result = self.compute(py, || self.lock().map(|mut sim| change(&mut sim)));
        result?.map_err(|error| errors::sim(py, error))
    }

    /// One step: its end, its length, iterations, residual, penetration.
    pub fn step(&self, py: Python<'_>) -> PyResult<(f64, f64, usize, f64, f64)> {
        let StepStats { t, h, iterations, residual, penetration } = self.change(py, S::step)?;
        Ok((t, h, iterations, residual, penetration))
    }

    pub fn set_state(
        &self,
        py: Python<'_>,
        name: &str,
        [q, v, x]: [Option<PyReadonlyArray1<'_, f64>>; 3],
    ) -> PyResult<()> {
        let [q, v, x] = [q, v, x].map(|value| value.as_ref().map(arrays::vector));
        self.change(py, |sim| {
            let id = sim.model().system_id(name)?;
            if let Some(x) = x {
                sim.set_x(id, &x)?;
            }
            match (&q, &v) {
                (None, None) => Ok(()),
                _ => sim.set_qv(id, q.as_deref(), v.as_deref()),
            }
        })
    }

    /// A state, output, multiplier or input, now.
    pub fn state<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        quantity: &str,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut sim = self.lock()?;
        let value = sim.read(name, quantity).map_err(|error| errors::sim(py, error))?;
        Ok(PyArray1::from_slice(py, value))
    }

    /// What happened since the beginning: time, kind, name, interaction, changes.
    pub fn events(&self) -> PyResult<Vec<PyEvent>> {
        Ok(records(self.lock()?.events()))
    }

    /// The parameters with their values now.
    pub fn parameters(&self) -> PyResult<Vec<(String, f64)>> {
        let sim = self.lock()?;
        Ok(sim.model().parameters().map(|(name, value)| (name.to_string(), value)).collect())
    }

    /// The energies now, in the order of their names; nothing without mechanical systems.
    pub fn ledger(&self) -> PyResult<Option<[f64; 7]>> {
        Ok(self.lock()?.energies().map(|ledger| ledger.to_array()))
    }

    /// Runs. The second value is what to raise, if the run did not end well.
    pub fn run(
        &self,
        py: Python<'_>,
        wanted: Wanted,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(PyRun, Option<Py<PyBaseException>>)> {
        operator::take_failure();
        let Wanted { until, every, samples, signals } = wanted;
        let asked = Signals::new();
        let mut watch = Watch::new(progress);
        let result = self.compute(py, || {
            let mut sim = self.lock()?;
            let mut look = |now: Progress| {
                if let Err(error) = watch.look(now) {
                    asked.raise(error);
                }
            };
            Ok(sim.run_until(
                until,
                RunOptions {
                    every,
                    samples: samples.as_deref(),
                    signals: signals.as_deref(),
                    interrupt: Some(&asked.interrupt),
                    progress: Some(&mut look),
                    ..RunOptions::default()
                },
            ))
        });
        let result = result.map_err(|busy: Busy| PyErr::from(busy))?;

        // a signal since the last look too, else it would be raised after the run is lost
        let raised = asked.take(py);
        let (run, error) = match result {
            Ok(run) => (run, raised),
            Err(RunFailure { source, run }) => {
                let (mut run, error) = (*run, errors::sim(py, source));
                if !error.is_instance_of::<PyException>(py) {
                    // Ctrl-C while a Python function was at work
                    run.stats.outcome = Outcome::Interrupted;
                    run.stats.failures = 0;
                }
                (run, Some(raised.unwrap_or(error)))
            }
        };
        let run = PyRun::new(run, self.model_text.clone());
        Ok((run, error.map(|error| error.into_value(py))))
    }
}

/// Components of states and outputs of a model.
fn size(model: &Model) -> usize {
    let states = model.systems().map(|(_, system)| system.dim()).sum::<usize>();
    states + model.interactions().map(|(_, one)| one.relation.size()).sum::<usize>()
}

/// What a run does besides computing: looks for signals, reports its progress.
pub struct Watch {
    looked: Instant,
    reported: Instant,
    report: Option<Py<PyAny>>,
}

impl Watch {
    pub fn new(report: Option<Py<PyAny>>) -> Watch {
        let now = Instant::now();
        Watch { looked: now, reported: now, report }
    }

    pub fn look(&mut self, Progress { t, start, until, steps }: Progress) -> PyResult<()> {
        let now = Instant::now();
        if now - self.looked < SIGNALS {
            return Ok(());
        }
        self.looked = now;
        Python::attach(|py| {
            py.check_signals()?;
            if let Some(asked) = operator::take_interrupt(py) {
                return Err(asked);
            }
            py.detach(|| ()); // a turn for others, where the interpreter is kept
            if let Some(report) = &self.report
                && now - self.reported >= REPORTS
            {
                self.reported = now;
                report.call1(py, (t, start, until, steps))?;
            }
            Ok(())
        })
    }
}
