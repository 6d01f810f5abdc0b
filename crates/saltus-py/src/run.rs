//! A run: its rows stay in Rust, and leave it signal by signal.

use crate::events::{PyEvent, records};
use crate::scene::PyScene;
use crate::{arrays, errors};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use saltus::io::export::{Format, export, scene_of_run, write_scene};
use saltus::io::run_file::{RunWriter, read_info, read_run};
use saltus::sim::{Acting, Ledger, Outcome, Quantity, Run, Signal, Source};
use std::path::{Path, PathBuf};

/// What a simulation left behind.
#[pyclass(frozen, name = "Run", module = "saltus._saltus")]
pub struct PyRun {
    run: Run,
    model_text: Option<String>,
    /// The folder of the file that it was read from.
    beside: Option<PathBuf>,
}

impl PyRun {
    pub fn new(run: Run, model_text: Option<String>) -> PyRun {
        PyRun { run, model_text, beside: None }
    }
}

/// Whether a source is contacts, its name, and its forces and moments.
type PyActing<'py> = (bool, String, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

/// Steps, iterations, worst residual, worst penetration, failures, seconds, outcome, message.
type Stats = (usize, usize, f64, f64, usize, f64, &'static str, Option<String>, Option<f64>);

/// Name and values of an entry of the ledger.
type Entry<'py> = (&'static str, Bound<'py, PyArray1<f64>>);

#[pymethods]
impl PyRun {
    #[getter]
    fn title(&self) -> &str {
        &self.run.layout.title
    }

    #[getter]
    fn rows(&self) -> usize {
        self.run.frames.len()
    }

    #[getter]
    fn model_text(&self) -> Option<&str> {
        self.model_text.as_deref()
    }

    fn t<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.run.frames.time)
    }

    fn iterations<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_iter(py, self.run.frames.iterations.iter().map(|&n| i64::from(n)))
    }

    fn residual<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.run.frames.residual)
    }

    /// Deepest penetration at each instant; none where it was not recorded.
    fn penetration<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.run.frames.penetration)
    }

    /// What acts on a body, by its sources.
    fn forces_on<'py>(&self, py: Python<'py>, body: &str) -> PyResult<Vec<PyActing<'py>>> {
        let found = py.detach(|| self.run.forces_on(body));
        let found = found.map_err(|error| errors::signal(&error))?;
        let table = |rows: &[[f64; 3]]| arrays::table(py, rows.concat(), rows.len(), 3);
        let acting = |one: Acting| {
            let is_contact = matches!(one.source, Source::Contacts(_));
            let name = one.source.name().to_string();
            Ok((is_contact, name, table(&one.force)?, table(&one.moment)?))
        };
        found.into_iter().map(acting).collect()
    }

    /// Bodies that interactions act on.
    fn pushed(&self) -> Vec<String> {
        self.run.layout.pushes.iter().map(|push| push.body.clone()).collect()
    }

    /// Who touches whom at a time, and the force on the first.
    fn contact_graph(&self, t: f64) -> Vec<(String, String, [f64; 3])> {
        let pairs = self.run.contact_graph(t).into_iter();
        pairs.map(|([a, b], force)| (a.to_string(), b.to_string(), force)).collect()
    }

    /// Writes a table of some signals, all if none are named: `csv` or `raw`.
    fn export_table(
        &self,
        py: Python<'_>,
        path: PathBuf,
        to: &str,
        signals: Vec<String>,
        every: usize,
    ) -> PyResult<()> {
        let format = match to {
            "csv" => Format::Csv,
            "raw" => Format::Raw,
            _ => return Err(errors::input(format!("no format {to:?}"))),
        };
        let found = signals.iter().map(|path| self.run.layout.find(path));
        let found = found.collect::<Result<Vec<Signal>, _>>();
        let found = found.map_err(|error| errors::signal(&error))?;
        let written = py.detach(|| export(&self.run, &found, every, format, path));
        written.map_err(|error| errors::export(&error))
    }

    /// Writes bodies, contacts and force chains to a folder; the scene is that of the model text unless
    /// given.
    fn export_vtk(
        &self,
        py: Python<'_>,
        path: PathBuf,
        scene: Option<PyRef<'_, PyScene>>,
        folder: Option<PathBuf>,
        every: usize,
    ) -> PyResult<()> {
        let text = self.model_text.as_deref();
        let written = match &scene {
            Some(scene) => write_scene(&self.run, scene.scene(), every, &path),
            None => py.detach(|| {
                let scene = scene_of_run(text, folder.as_deref(), self.beside.as_deref())?;
                write_scene(&self.run, &scene, every, &path)
            }),
        };
        written.map_err(|error| errors::vtk(&error))
    }

    /// Owner, quantity and number of columns of each signal.
    fn signals(&self) -> Vec<(String, &'static str, usize)> {
        let signals = self.run.layout.signals.iter();
        signals.map(|s| (s.owner.clone(), s.quantity.name(), s.columns.len())).collect()
    }

    /// The paths of the signals.
    fn paths(&self) -> Vec<String> {
        self.run.layout.signals.iter().map(Signal::path).collect()
    }

    /// The paths of all columns.
    fn columns(&self) -> Vec<String> {
        let signals = self.run.layout.signals.iter();
        signals.flat_map(|s| (0..s.columns.len()).map(|index| s.column(index))).collect()
    }

    /// The rows of `name.quantity`, or of one column `name.quantity[index]`.
    fn signal<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyAny>> {
        let (layout, frames) = (&self.run.layout, &self.run.frames);
        let signal = layout.find(path).map_err(|error| errors::signal(&error))?;
        let values = frames.signal(layout, &signal);
        match path.contains('[') || signal.quantity == Quantity::Value {
            true => Ok(PyArray1::from_vec(py, values).into_any()),
            false => Ok(arrays::table(py, values, frames.len(), signal.columns.len())?.into_any()),
        }
    }

    /// The energies by name; nothing without mechanical systems.
    fn ledger<'py>(&self, py: Python<'py>) -> Option<Vec<Entry<'py>>> {
        let Run { layout, frames, .. } = &self.run;
        if !layout.ledger {
            return None;
        }
        let values = |column| PyArray1::from_vec(py, frames.columns(layout, column..column + 1));
        let columns = Ledger::NAMES.into_iter().zip(layout.ledger_columns());
        Some(columns.map(|(name, column)| (name, values(column))).collect())
    }

    /// What happened: time, kind, name, interaction, changes.
    fn events(&self) -> Vec<PyEvent> {
        records(&self.run.events)
    }

    /// Names of all that can be touched.
    fn sides(&self) -> Vec<String> {
        self.run.layout.sides.clone()
    }

    /// Where the contacts of each recorded instant end.
    fn contact_ends<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let ends = self.run.frames.contacts.ends.iter().map(|&end| end as i64);
        PyArray1::from_iter(py, ends)
    }

    /// A column of the contacts: numbers one after the other, and how many a row.
    fn contact_column<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, usize)> {
        let contacts = &self.run.frames.contacts;
        let vectors = |rows: &[[f64; 3]]| (PyArray1::from_vec(py, rows.concat()), 3);
        let numbers = |values: &[f64]| (PyArray1::from_slice(py, values), 1);
        Ok(match name {
            "point" => vectors(&contacts.point),
            "normal" => vectors(&contacts.normal),
            "u" => vectors(&contacts.u),
            "impulse" => vectors(&contacts.impulse),
            "moment" => vectors(&contacts.moment),
            "gap" => numbers(&contacts.gap),
            "mu" => numbers(&contacts.mu),
            "sides" => {
                let sides = contacts.sides.iter().flatten().map(|&side| f64::from(side));
                (PyArray1::from_iter(py, sides), 2)
            }
            _ => return Err(errors::input(format!("contacts have no column {name:?}"))),
        })
    }

    /// Which contact of its pair each one is.
    fn contact_features<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_slice(py, &self.run.frames.contacts.feature)
    }

    fn stats(&self) -> Stats {
        let stats = &self.run.stats;
        let (outcome, message) = match &stats.outcome {
            Outcome::Complete => ("complete", None),
            Outcome::Interrupted => ("interrupted", None),
            Outcome::Failed(message) => ("failed", Some(message.clone())),
        };
        let (steps, iterations, failures) = (stats.steps, stats.iterations, stats.failures);
        let (residual, penetration) = (stats.worst_residual, stats.worst_penetration);
        let (seconds, error) = (stats.seconds, stats.error_estimate);
        (steps, iterations, residual, penetration, failures, seconds, outcome, message, error)
    }

    /// Writes the run file `path`.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let write = || {
            let Run { layout, frames, stats, events } = &self.run;
            let mut writer = RunWriter::create(path, layout, self.model_text.as_deref())?;
            writer.append(frames)?;
            writer.events(events);
            writer.finish(stats)
        };
        py.detach(write).map(|_| ()).map_err(|error| errors::run_file(&error))
    }
}

/// Reads a run file.
#[pyfunction]
pub fn load_run(py: Python<'_>, path: PathBuf) -> PyResult<PyRun> {
    let read = || {
        let model_text = read_info(&path)?.model_text;
        let beside = path.parent().map(Path::to_path_buf);
        Ok(PyRun { run: read_run(&path)?, model_text, beside })
    };
    py.detach(read).map_err(|error| errors::run_file(&error))
}
