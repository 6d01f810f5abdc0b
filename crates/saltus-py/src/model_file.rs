//! Model files.

use crate::errors;
use crate::model::PyModel;
use crate::settings::{newton_text, text_of};
use pyo3::prelude::*;
use saltus::io::verify::verify;
use saltus::io::{ModelFile, Simulation, Strategy};
use saltus::numerics::Interrupt;
use std::path::PathBuf;
use std::time::Duration;

/// How often a computation looks for signals such as Ctrl-C.
const SIGNALS: Duration = Duration::from_millis(20);

/// A model file, read and evaluated.
#[pyclass(frozen, name = "ModelFile", module = "saltus._saltus")]
pub struct PyModelFile(ModelFile);

#[pymethods]
impl PyModelFile {
    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    /// The text after these overrides, as comments.
    fn text_with(&self, overrides: Vec<(String, String)>) -> String {
        self.0.text_with(&overrides)
    }

    fn model(&self) -> PyModel {
        PyModel { model: self.0.model.clone(), is_python: false }
    }

    #[getter]
    fn strategy(&self) -> &'static str {
        self.0.simulation.strategy.name()
    }

    #[getter]
    fn integrators(&self) -> PyResult<Vec<String>> {
        let all = self.0.simulation.integrators.iter();
        all.map(|integrator| text_of(serde_json::to_string(integrator))).collect()
    }

    #[getter]
    fn solver(&self) -> PyResult<String> {
        text_of(serde_json::to_string(&self.0.simulation.solver))
    }

    #[getter]
    fn newton(&self) -> PyResult<String> {
        newton_text(self.0.simulation.newton)
    }

    /// The step of time-stepping.
    #[getter]
    fn h(&self) -> Option<f64> {
        Some(self.0.simulation.h).filter(|h| !h.is_nan())
    }

    /// Relative and absolute tolerance of event-driven simulation.
    #[getter]
    fn tolerances(&self) -> Option<(f64, f64)> {
        let Simulation { strategy, tolerances, .. } = &self.0.simulation;
        (*strategy == Strategy::EventDriven).then_some((tolerances.rtol, tolerances.atol))
    }

    #[getter]
    fn until(&self) -> f64 {
        self.0.simulation.until
    }

    #[getter]
    fn every(&self) -> usize {
        self.0.simulation.output.every
    }

    /// Tolerance of adaptive simulation.
    #[getter]
    fn tol(&self) -> Option<f64> {
        let Simulation { strategy, adaptive, .. } = &self.0.simulation;
        (*strategy == Strategy::Adaptive).then_some(adaptive.tol)
    }

    /// The instants at which it is recorded, where the file says so.
    fn samples(&self, t: f64, until: f64) -> Option<Vec<f64>> {
        let samples = self.0.simulation.output.samples.as_ref();
        samples.map(|samples| samples.instants(t, until))
    }

    /// How much the run depends on its tolerance, as a JSON document.
    fn verify(&self, py: Python<'_>) -> PyResult<String> {
        let interrupt = Interrupt::default();
        let (found, signal) = py.detach(|| {
            std::thread::scope(|scope| {
                let both = scope.spawn(|| verify(&self.0, Some(&interrupt)));
                let mut signal = Ok(());
                while !both.is_finished() {
                    std::thread::sleep(SIGNALS);
                    if signal.is_ok() {
                        signal = Python::attach(|py| py.check_signals());
                        if signal.is_err() {
                            interrupt.stop();
                        }
                    }
                }
                (both.join(), signal)
            })
        });
        signal?;
        let found = found.map_err(|_| errors::input("verifying this model broke down"))?;
        let found = found.map_err(|failure| errors::sim(py, failure.source))?;
        text_of(serde_json::to_string(&found))
    }

    #[getter]
    fn signals(&self) -> Option<Vec<String>> {
        self.0.simulation.output.signals.clone()
    }
}

/// Reads a model file; each override is a path and a TOML value or a formula.
#[pyfunction]
pub fn load_model(
    py: Python<'_>,
    path: PathBuf,
    overrides: Vec<(String, String)>,
) -> PyResult<PyModelFile> {
    let file = py.detach(|| ModelFile::read(&path, &overrides));
    file.map(PyModelFile).map_err(|error| errors::model_file(py, &path, &error))
}
