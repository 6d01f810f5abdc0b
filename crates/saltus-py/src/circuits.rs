//! Circuits from netlists.

use crate::errors;
use crate::run::PyRun;
use crate::signals::Signals;
use crate::simulation::Watch;
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use saltus::circuits::{self, Deck, Method, OperatingPoint, Plan, TransientError};
use saltus::sim::{Progress, Run, RunFailure};
use std::path::PathBuf;

/// A netlist, with the values now set.
#[pyclass(name = "Circuit", module = "saltus._saltus")]
pub struct PyCircuit(Deck);

/// Name and value, or why there is none.
type Measured = (String, Option<f64>, Option<String>);
/// Signal, mean, distortion, and frequency, magnitude and phase of each harmonic.
type Spectrum = (String, f64, f64, Vec<(f64, f64, f64)>);
/// Voltages of nodes and currents of components.
type Point = (Vec<(String, f64)>, Vec<(String, f64)>);
/// The run, what was measured of it, and what to raise.
type Done = (PyRun, Vec<Measured>, Vec<Spectrum>, Option<Py<PyBaseException>>);

#[pymethods]
impl PyCircuit {
    /// Reads a netlist from a file.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<PyCircuit> {
        let deck = py.detach(|| Deck::read(&path));
        deck.map(PyCircuit).map_err(|error| errors::netlist(py, Some(&path), &error))
    }

    /// Reads a netlist from a text.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, name: &str) -> PyResult<PyCircuit> {
        let deck = py.detach(|| Deck::parse(text, name));
        deck.map(PyCircuit).map_err(|error| errors::netlist(py, None, &error))
    }

    #[getter]
    fn title(&self) -> &str {
        self.0.title()
    }

    fn warnings(&self) -> Vec<String> {
        self.0.warnings().iter().map(ToString::to_string).collect()
    }

    fn set(&mut self, name: &str, value: f64) -> PyResult<()> {
        self.0.set(name, value).map_err(|error| errors::input(error.to_string()))
    }

    fn nodes(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.circuit(py)?.nodes)
    }

    fn components(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.circuit(py)?.components.into_iter().map(|component| component.name).collect())
    }

    fn signals(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let model = self.circuit(py)?.model().map_err(|error| errors::circuit(&error))?;
        Ok(model.signals())
    }

    /// One operating point, or all that are found within so many modes.
    #[pyo3(signature = (modes=None))]
    fn operating_points(&self, py: Python<'_>, modes: Option<usize>) -> PyResult<Vec<Point>> {
        let circuit = self.circuit(py)?;
        let points = py.detach(|| match modes {
            None => circuit.operating_point().map(|point| vec![point]),
            Some(modes) => circuit.operating_points(modes),
        });
        let tables = |point: OperatingPoint| (point.voltages().to_vec(), point.currents().to_vec());
        Ok(points.map_err(|error| errors::circuit(&error))?.into_iter().map(tables).collect())
    }

    /// Runs. The last value is what to raise, if the run did not end well.
    #[pyo3(signature = (*, until, h, start, method, theta, tol, signals, every, progress))]
    #[allow(clippy::too_many_arguments)]
    fn run(
        &self,
        py: Python<'_>,
        until: Option<f64>,
        h: Option<f64>,
        start: Option<f64>,
        method: Option<&str>,
        theta: Option<f64>,
        tol: Option<f64>,
        signals: Option<Vec<String>>,
        every: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Done> {
        let unknown = |name: &str| {
            let expected = "\"fixed\", \"exact\" or \"adaptive\"";
            errors::input(format!("`method` is {name:?}, expected {expected}"))
        };
        let method = method.map(|name| Method::from_name(name).ok_or_else(|| unknown(name)));
        let method = method.transpose()?;
        let plan = py.detach(|| self.0.plan(h, until));
        let mut plan = plan.map_err(|error| errors::plan(py, &error))?;
        let asked = &mut plan.transient;
        asked.method = method.unwrap_or(asked.method);
        asked.start = start.unwrap_or(asked.start);
        asked.theta = theta.unwrap_or(asked.theta);
        asked.tol = tol.unwrap_or(asked.tol);
        asked.every = every.unwrap_or(asked.every);
        if let Some(signals) = signals {
            plan.record(signals);
        }

        let asked = Signals::new();
        let mut watch = Watch::new(progress);
        let result = py.detach(|| {
            let mut look = |now: Progress| {
                if let Err(error) = watch.look(now) {
                    asked.raise(error);
                }
            };
            let watch = circuits::Watch {
                interrupt: Some(&asked.interrupt),
                progress: Some(&mut look),
                sink: None,
            };
            plan.model.run(&plan.transient, watch)
        });
        let raised = asked.take(py);
        let (run, error) = match result {
            Ok(run) => (run, raised),
            Err(TransientError::Failed(RunFailure { source, run })) => {
                (*run, Some(raised.unwrap_or_else(|| errors::sim(py, source))))
            }
            Err(TransientError::Circuit(error)) => return Err(errors::circuit(&error)),
            Err(TransientError::Setting(error)) => return Err(errors::sim(py, error)),
        };
        let (measures, spectra) = py.detach(|| (measures(&plan, &run), spectra(&plan, &run)));
        let error = error.map(|error| error.into_value(py));
        Ok((PyRun::new(run, None), measures, spectra, error))
    }
}

impl PyCircuit {
    fn circuit(&self, py: Python<'_>) -> PyResult<circuits::Circuit> {
        self.0.circuit().map_err(|error| errors::netlist(py, None, &error))
    }
}

fn measures(plan: &Plan, run: &Run) -> Vec<Measured> {
    let measures = plan.measure(run).into_iter();
    let one = |(name, value): (String, Result<f64, _>)| match value {
        Ok(value) => (name, Some(value), None),
        Err(error) => (name, None, Some(ToString::to_string(&error))),
    };
    measures.map(one).collect()
}

fn spectra(plan: &Plan, run: &Run) -> Vec<Spectrum> {
    let spectra = plan.spectra(run).into_iter().flatten();
    let one = |spectrum: circuits::measure::Spectrum| {
        let harmonics = spectrum.harmonics.iter();
        let harmonics = harmonics.map(|one| (one.frequency, one.magnitude, one.phase)).collect();
        (spectrum.signal, spectrum.mean, spectrum.distortion, harmonics)
    };
    spectra.map(one).collect()
}
