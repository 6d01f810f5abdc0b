//! Adaptive simulation.

use crate::events::PyEvent;
use crate::model::PyModel;
use crate::run::PyRun;
use crate::simulation::{Running, Simulated, Wanted};
use crate::{arrays, settings};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use saltus::model::SystemId;
use saltus::sim::{Adaptive, AdaptiveSettings, SimError, StepStats};

impl Simulated for Adaptive {
    fn step(&mut self) -> Result<StepStats, SimError> {
        Adaptive::step(self)
    }

    fn set_x(&mut self, id: SystemId, x: &[f64]) -> Result<(), SimError> {
        Adaptive::set_x(self, id, x)
    }

    fn set_qv(
        &mut self,
        id: SystemId,
        q: Option<&[f64]>,
        v: Option<&[f64]>,
    ) -> Result<(), SimError> {
        Adaptive::set_qv(self, id, q, v)
    }

    fn read(&mut self, name: &str, quantity: &str) -> Result<&[f64], SimError> {
        Simulated::read(self.event_driven(), name, quantity)
    }
}

/// A model on its way through time, by whichever strategy suits.
#[pyclass(frozen, name = "Adaptive", module = "saltus._saltus")]
pub struct PyAdaptive(Running<Adaptive>);

#[pymethods]
impl PyAdaptive {
    #[new]
    #[pyo3(signature = (model, tol, solver, model_text=None))]
    fn new(
        py: Python<'_>,
        model: &PyModel,
        tol: f64,
        solver: &str,
        model_text: Option<String>,
    ) -> PyResult<PyAdaptive> {
        let (solver, is_python, model) =
            (settings::solver(solver)?, model.is_python, model.model.clone());
        let make = || Adaptive::with(model, AdaptiveSettings { tol }, &solver);
        Running::start(py, is_python, model_text, make).map(PyAdaptive)
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
        self.0.change(py, Adaptive::reset)
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

    #[pyo3(signature = (until, every=1, samples=None, signals=None, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        until: f64,
        every: usize,
        samples: Option<PyReadonlyArray1<'_, f64>>,
        signals: Option<Vec<String>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(PyRun, Option<Py<PyBaseException>>)> {
        let samples = samples.as_ref().map(arrays::vector);
        self.0.run(py, Wanted { until, every, samples, signals }, progress)
    }
}
