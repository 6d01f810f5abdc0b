//! Model files.

use crate::errors;
use crate::model::PyModel;
use crate::settings::{newton_text, text_of};
use pyo3::prelude::*;
use saltus::io::ModelFile;
use std::path::PathBuf;

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

    #[getter]
    fn h(&self) -> f64 {
        self.0.simulation.h
    }

    #[getter]
    fn until(&self) -> f64 {
        self.0.simulation.until
    }

    #[getter]
    fn every(&self) -> usize {
        self.0.simulation.output.every
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
