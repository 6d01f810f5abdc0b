//! Time-stepping.

use crate::events::PyEvent;
use crate::model::PyModel;
use crate::run::PyRun;
use crate::simulation::{Running, Simulated, Wanted};
use crate::{arrays, errors, settings};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use saltus::io::checkpoint_file;
use saltus::model::SystemId;
use saltus::sim::{SimError, StepStats, Steps, TimeStepping};
use std::path::PathBuf;

impl Simulated for TimeStepping {
    fn step(&mut self) -> Result<StepStats, SimError> {
        TimeStepping::step(self)
    }

    fn set_x(&mut self, id: SystemId, x: &[f64]) -> Result<(), SimError> {
        TimeStepping::set_x(self, id, x)
    }

    fn set_qv(
        &mut self,
        id: SystemId,
        q: Option<&[f64]>,
        v: Option<&[f64]>,
    ) -> Result<(), SimError> {
        TimeStepping::set_qv(self, id, q, v)
    }

    fn read(&mut self, name: &str, quantity: &str) -> Result<&[f64], SimError> {
        let model = self.model();
        match quantity {
            "x" => self.x(model.system_id(name)?),
            "q" => self.q(model.system_id(name)?),
            "v" => self.v(model.system_id(name)?),
            "z" => self.inputs(name),
            "y" => Ok(self.y(model.interaction_id(name)?)),
            "u" => Ok(self.u(model.interaction_id(name)?)),
            "beta" => Ok(self.beta_of(model.interaction_id(name)?)),
            _ => Ok(self.lam(model.interaction_id(name)?)),
        }
    }
}

/// A model on its way through time, step by step.
#[pyclass(frozen, name = "TimeStepping", module = "saltus._saltus")]
pub struct PyTimeStepping(Running<TimeStepping>);

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
        let (solver, is_python, model) =
            (settings::solver(solver)?, model.is_python, model.model.clone());
        let newton = newton.map(settings::newton).transpose()?.unwrap_or_default();
        let make = || TimeStepping::with_methods(model, steps, integrators, &solver, newton);
        Running::start(py, is_python, model_text, make).map(PyTimeStepping)
    }

    #[getter]
    fn t(&self) -> PyResult<f64> {
        Ok(self.0.lock()?.t())
    }

    fn done(&self, until: f64) -> PyResult<bool> {
        Ok(self.0.lock()?.done(until))
    }

    fn step(&self, py: Python<'_>) -> PyResult<(f64, f64, usize, f64, f64)> {
        self.0.step(py)
    }

    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        self.0.change(py, TimeStepping::reset)
    }

    /// Writes the simulation as it is now.
    fn checkpoint(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let checkpoint = self.0.change(py, |sim| Ok(sim.checkpoint()))?;
        let saved = py.detach(|| checkpoint_file::save(&checkpoint, path));
        saved.map_err(|error| errors::checkpoint(&error))
    }

    /// Takes up what `checkpoint` wrote.
    fn restore(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let loaded = py.detach(|| checkpoint_file::load(path));
        let checkpoint = loaded.map_err(|error| errors::checkpoint(&error))?;
        self.0.change(py, |sim| sim.restore(&checkpoint))
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
        self.0.set_state(py, name, [q, v, x])
    }

    fn set_input(&self, py: Python<'_>, name: &str, z: PyReadonlyArray1<'_, f64>) -> PyResult<()> {
        let z = arrays::vector(&z);
        self.0.change(py, |sim| sim.set_inputs(name, &z))
    }

    fn state<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        quantity: &str,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.0.state(py, name, quantity)
    }

    fn events(&self) -> PyResult<Vec<PyEvent>> {
        self.0.events()
    }

    fn parameters(&self) -> PyResult<Vec<(String, f64)>> {
        self.0.parameters()
    }

    fn ledger(&self) -> PyResult<Option<[f64; 7]>> {
        self.0.ledger()
    }

    #[pyo3(signature = (until, every=1, signals=None, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        until: f64,
        every: usize,
        signals: Option<Vec<String>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(PyRun, Option<Py<PyBaseException>>)> {
        self.0.run(py, Wanted { until, every, samples: None, signals }, progress)
    }
}
