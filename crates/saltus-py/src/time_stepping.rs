//! Time-stepping with the interpreter let go while it computes.

use crate::events::{PyEvent, records};
use crate::model::PyModel;
use crate::run::PyRun;
use crate::{arrays, errors, operator, settings};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyBaseException, PyException};
use pyo3::prelude::*;
use saltus::io::checkpoint_file;
use saltus::model::Model;
use saltus::sim::{
    Outcome, Progress, RunFailure, RunOptions, SimError, StepStats, Steps, TimeStepping,
};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How often a run looks for signals such as Ctrl-C.
const SIGNALS: Duration = Duration::from_millis(50);
/// How often a run reports its progress.
const REPORTS: Duration = Duration::from_millis(100);
/// Components of states and outputs up to which a step is shorter than letting the interpreter
/// go and taking it again.
const SMALL: usize = 64;

/// A model on its way through time.
///
/// The lock is only ever tried: a thread that waited for it with the interpreter in hand would
/// wait forever for a step that calls a Python function.
#[pyclass(frozen, name = "TimeStepping", module = "saltus._saltus")]
pub struct PyTimeStepping {
    sim: Mutex<TimeStepping>,
    model_text: Option<String>,
    /// The interpreter is kept: a small model calls Python functions all the time, and other
    /// threads have their turn in these.
    keeps: bool,
}

/// The simulation is computing.
struct Busy;

impl From<Busy> for PyErr {
    fn from(_: Busy) -> PyErr {
        errors::busy()
    }
}

#[pymethods]
impl PyTimeStepping {
    /// `h` is a number, or an array of instants.
    #[new]
    #[pyo3(signature = (model, h, integrators, solver, model_text=None, newton=None))]
    fn new(
        py: Python<'_>,
        model: &PyModel,
        h: &Bound<'_, PyAny>,
        integrators: Vec<String>,
        solver: &str,
        model_text: Option<String>,
        newton: Option<&str>,
    ) -> PyResult<PyTimeStepping> {
        let steps = match h.extract::<f64>() {
            Ok(h) => Steps::Every(h),
            Err(_) => Steps::Instants(arrays::vector(&h.extract::<PyReadonlyArray1<'_, f64>>()?)),
        };
        let integrators: Vec<_> =
            integrators.iter().map(|text| settings::integrator(text)).collect::<PyResult<_>>()?;
        let keeps = model.is_python && size(&model.model) <= SMALL;
        let (solver, model) = (settings::solver(solver)?, model.model.clone());
        let newton = newton.map(settings::newton).transpose()?.unwrap_or_default();
        operator::take_failure();
        let sim = py
            .detach(|| TimeStepping::with_methods(model, steps, integrators, &solver, newton))
            .map_err(|error| errors::sim(py, error))?;
        Ok(PyTimeStepping { sim: Mutex::new(sim), model_text, keeps })
    }

    #[getter]
    fn t(&self) -> PyResult<f64> {
        Ok(self.lock()?.t())
    }

    fn done(&self, until: f64) -> PyResult<bool> {
        Ok(self.lock()?.done(until))
    }

    /// One step: its end, its length, iterations, residual.
    fn step(&self, py: Python<'_>) -> PyResult<(f64, f64, usize, f64)> {
        let StepStats { t, h, iterations, residual, .. } = self.change(py, TimeStepping::step)?;
        Ok((t, h, iterations, residual))
    }

    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, TimeStepping::reset)
    }

    /// Writes the simulation as it is now.
    fn checkpoint(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let checkpoint = self.change(py, |sim| Ok(sim.checkpoint()))?;
        let saved = py.detach(|| checkpoint_file::save(&checkpoint, path));
        saved.map_err(|error| errors::checkpoint(&error))
    }

    /// Takes up what `checkpoint` wrote.
    fn restore(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let loaded = py.detach(|| checkpoint_file::load(path));
        let checkpoint = loaded.map_err(|error| errors::checkpoint(&error))?;
        self.change(py, |sim| sim.restore(&checkpoint))
    }

    #[pyo3(signature = (name, q=None, v=None, x=None))]
    fn set_state(
        &self,
        py: Python<'_>,
        name: &str,
        q: Option<PyReadonlyArray1<'_, f64>>,
        v: Option<PyReadonlyArray1<'_, f64>>,
        x: Option<PyReadonlyArray1<'_, f64>>,
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

    fn set_input(&self, py: Python<'_>, name: &str, z: PyReadonlyArray1<'_, f64>) -> PyResult<()> {
        let z = arrays::vector(&z);
        self.change(py, |sim| sim.set_inputs(name, &z))
    }

    /// `q`, `v` or `x` of a system, `y`, `u` or `lam` of an interaction, `z` of both, now.
    fn state<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        quantity: &str,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let sim = self.lock()?;
        let find = || -> Result<&[f64], SimError> {
            let model = sim.model();
            match quantity {
                "x" => sim.x(model.system_id(name)?),
                "q" => sim.q(model.system_id(name)?),
                "v" => sim.v(model.system_id(name)?),
                "z" => sim.inputs(name),
                "y" => Ok(sim.y(model.interaction_id(name)?)),
                "u" => Ok(sim.u(model.interaction_id(name)?)),
                "beta" => Ok(sim.beta_of(model.interaction_id(name)?)),
                _ => Ok(sim.lam(model.interaction_id(name)?)),
            }
        };
        let value = find().map_err(|error| errors::sim(py, error))?;
        Ok(PyArray1::from_slice(py, value))
    }

    /// What happened since the beginning: time, kind, name, interaction, changes.
    fn events(&self) -> PyResult<Vec<PyEvent>> {
        Ok(records(self.lock()?.events()))
    }

    /// The parameters with their values now.
    fn parameters(&self) -> PyResult<Vec<(String, f64)>> {
        let sim = self.lock()?;
        Ok(sim.model().parameters().map(|(name, value)| (name.to_string(), value)).collect())
    }

    /// The energies now, in the order of their names; nothing without mechanical systems.
    fn ledger(&self) -> PyResult<Option<[f64; 7]>> {
        Ok(self.lock()?.ledger().map(|ledger| ledger.to_array()))
    }

    /// Runs until `until`. The second value is what to raise, if the run did not end well.
    #[pyo3(signature = (until, every=1, signals=None, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        until: f64,
        every: usize,
        signals: Option<Vec<String>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(PyRun, Option<Py<PyBaseException>>)> {
        operator::take_failure();
        let interrupt = AtomicBool::new(false);
        let mut watch = Watch::new(progress);
        let mut raised = None;
        let result = self.compute(py, || {
            let mut sim = self.lock()?;
            let mut look = |now: Progress| {
                if let Err(error) = watch.look(now) {
                    raised = Some(error);
                    interrupt.store(true, Ordering::Relaxed);
                }
            };
            Ok(sim.run_with(
                until,
                RunOptions {
                    every,
                    signals: signals.as_deref(),
                    interrupt: Some(&interrupt),
                    progress: Some(&mut look),
                    ..RunOptions::default()
                },
            ))
        });
        let result = result.map_err(|busy: Busy| PyErr::from(busy))?;

        // a signal since the last look, else it would be raised after the run is lost
        let raised = raised.or_else(|| py.check_signals().err());
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

impl PyTimeStepping {
    fn lock(&self) -> Result<MutexGuard<'_, TimeStepping>, Busy> {
        self.sim.try_lock().map_err(|_| Busy)
    }

    /// Computes, without the interpreter unless it is kept.
    fn compute<T: Send>(&self, py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
        if self.keeps { work() } else { py.detach(work) }
    }

    /// Does something to the simulation without the interpreter.
    fn change<T: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut TimeStepping) -> Result<T, SimError> + Send,
    ) -> PyResult<T> {
        operator::take_failure();
        let result = self.compute(py, || self.lock().map(|mut sim| change(&mut sim)));
        result?.map_err(|error| errors::sim(py, error))
    }
}

/// Components of states and outputs of a model.
fn size(model: &Model) -> usize {
    let states = model.systems().map(|(_, system)| system.dim()).sum::<usize>();
    states + model.interactions().map(|(_, one)| one.relation.size()).sum::<usize>()
}

/// What a run does besides computing: looks for signals, reports its progress.
struct Watch {
    looked: Instant,
    reported: Instant,
    report: Option<Py<PyAny>>,
}

impl Watch {
    fn new(report: Option<Py<PyAny>>) -> Watch {
        let now = Instant::now();
        Watch { looked: now, reported: now, report }
    }

    fn look(&mut self, Progress { t, start, until, steps }: Progress) -> PyResult<()> {
        let now = Instant::now();
        if now - self.looked < SIGNALS {
            return Ok(());
        }
        self.looked = now;
        Python::attach(|py| {
            py.check_signals()?;
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
