//! Rust errors as Python exceptions. The tree itself is in `python/saltus/_errors.py`, because
//! some of its classes have two bases, which `create_exception!` cannot say.

use crate::{numerics, operator};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use saltus::circuits::{CircuitError, NetlistError, PlanError};
use saltus::io::checkpoint_file::CheckpointFileError;
use saltus::io::export::{ExportError, VtkError};
use saltus::io::model_file::ErrorKind;
use saltus::io::run_file::RunFileError;
use saltus::io::scene_file::SceneFileError;
use saltus::io::{ModelFileError, WriteError};
use saltus::mechanics::mesh::MeshError;
use saltus::model::{ModelError, OperatorError};
use saltus::sim::{SignalError, SimError};
use std::path::Path;

mod tree {
    use pyo3::import_exception;

    import_exception!(saltus._errors, BusyError);
    import_exception!(saltus._errors, FileError);
    import_exception!(saltus._errors, InputError);
    import_exception!(saltus._errors, MissingFileError);
    import_exception!(saltus._errors, ModelError);
    import_exception!(saltus._errors, ModelFileError);
    import_exception!(saltus._errors, OperatorError);
    import_exception!(saltus._errors, SignalError);
    import_exception!(saltus._errors, SolverError);
}

/// An argument that makes no sense.
pub fn input(message: impl Into<String>) -> PyErr {
    tree::InputError::new_err(message.into())
}

/// A model that makes no sense, found before it reaches the model.
pub fn model_input(message: impl Into<String>) -> PyErr {
    tree::ModelError::new_err(message.into())
}

/// A simulation that is in use.
pub fn busy() -> PyErr {
    tree::BusyError::new_err(
        "the simulation is computing, in another thread or in the step that called this function; \
         its state can be read and changed between steps only",
    )
}

pub fn model(py: Python<'_>, error: ModelError) -> PyErr {
    match error {
        ModelError::Operator(error) => operator_error(py, &error),
        ModelError::Formula { ref text, ref source, .. } => {
            let caret = source.caret(text);
            tree::ModelError::new_err(format!("{error}\n{caret}"))
        }
        error => tree::ModelError::new_err(error.to_string()),
    }
}

/// A function of the user that failed. What it raised becomes the cause, or, if it was no
/// `Exception` (Ctrl-C), takes the place of the error.
pub fn operator_error(py: Python<'_>, error: &OperatorError) -> PyErr {
    let raised = operator::take_failure();
    let out = tree::OperatorError::new_err(error.to_string());
    match raised {
        Some(raised) if !raised.is_instance_of::<PyException>(py) => raised,
        Some(raised) => {
            out.set_cause(py, Some(raised));
            out
        }
        None => out,
    }
}

pub fn signal(error: &SignalError) -> PyErr {
    tree::SignalError::new_err(error.to_string())
}

pub fn sim(py: Python<'_>, error: SimError) -> PyErr {
    let message = error.to_string();
    match error {
        SimError::Model(error) => model(py, error),
        SimError::Operator(error) => operator_error(py, &error),
        SimError::Numerics(error) => input(error.to_string()),
        SimError::Signal(error) => signal(&error),
        SimError::Record(_) => tree::FileError::new_err(message),
        SimError::Unsolved { time, why, residual, worst } => {
            let status = numerics::status(&why).to_string();
            unsolved(py, message, (Some(time), status, residual, name_in(&worst)))
        }
        SimError::NotFinite { time, what } => {
            unsolved(py, message, (Some(time), "diverged".to_string(), f64::NAN, name_in(&what)))
        }
        SimError::Iteration { system, .. } => {
            unsolved(py, message, (None, "singular".to_string(), f64::NAN, system))
        }
        SimError::Newton { time, residual, .. } => {
            unsolved(py, message, (Some(time), "max_iter".to_string(), residual, String::new()))
        }
        SimError::TooShort { time, .. } => {
            unsolved(py, message, (Some(time), "too_short".to_string(), f64::NAN, String::new()))
        }
        SimError::Unsettled { time, interaction } => {
            unsolved(py, message, (Some(time), "unsettled".to_string(), f64::NAN, interaction))
        }
        SimError::Event { source, .. } => match *source {
            SimError::Operator(error) | SimError::Model(ModelError::Operator(error)) => {
                operator_error(py, &error)
            }
            SimError::Model(_) => tree::ModelError::new_err(message),
            _ => input(message),
        },
        SimError::EmptyModel { .. } => tree::ModelError::new_err(message),
        _ => input(message),
    }
}

/// The name that stands in backquotes in a text.
fn name_in(text: &str) -> String {
    text.split('`').nth(1).unwrap_or(text).to_string()
}

/// A `SolverError` with its report: time, status, residual, and where the residual is worst.
fn unsolved(py: Python<'_>, message: String, report: (Option<f64>, String, f64, String)) -> PyErr {
    let out = tree::SolverError::new_err(message);
    let class = py.import("saltus._errors").and_then(|module| module.getattr("StepReport"));
    let set = class
        .and_then(|class| class.call1(report))
        .and_then(|report| out.value(py).setattr("report", report));
    match set {
        Ok(()) => out,
        Err(error) => error,
    }
}

pub fn run_file(error: &RunFileError) -> PyErr {
    let message = error.to_string();
    match error {
        RunFileError::Missing { .. } | RunFileError::NoFolder { .. } => {
            tree::MissingFileError::new_err(message)
        }
        _ => tree::FileError::new_err(message),
    }
}

/// A run that cannot be written in another format.
pub fn export(error: &ExportError) -> PyErr {
    let message = error.to_string();
    match error {
        ExportError::Unknown { .. } => tree::SignalError::new_err(message),
        ExportError::File(WriteError::NoFolder { .. }) => tree::MissingFileError::new_err(message),
        _ => tree::FileError::new_err(message),
    }
}

/// A run that cannot be written as a scene.
pub fn vtk(error: &VtkError) -> PyErr {
    let message = error.to_string();
    match error {
        VtkError::NotRecorded { .. } => tree::SignalError::new_err(message),
        VtkError::NoMesh { .. } => tree::MissingFileError::new_err(message),
        VtkError::Folder { .. } | VtkError::Remove { .. } | VtkError::Write(_) => {
            tree::FileError::new_err(message)
        }
        _ => input(message),
    }
}

pub fn checkpoint(error: &CheckpointFileError) -> PyErr {
    let message = error.to_string();
    match error {
        CheckpointFileError::Read { source, .. }
            if source.kind() == std::io::ErrorKind::NotFound =>
        {
            tree::MissingFileError::new_err(message)
        }
        CheckpointFileError::Write(WriteError::NoFolder { .. }) => {
            tree::MissingFileError::new_err(message)
        }
        _ => tree::FileError::new_err(message),
    }
}

/// A netlist that cannot be read, as a `ModelFileError` with its place.
pub fn netlist(py: Python<'_>, path: Option<&Path>, error: &NetlistError) -> PyErr {
    if path.is_some_and(|path| !path.exists()) {
        return tree::MissingFileError::new_err(error.to_string());
    }
    let out = tree::ModelFileError::new_err(error.to_string());
    placed(py, out, &error.place.file, error.place.line, error.place.column)
}

/// A circuit that makes no sense.
pub fn circuit(error: &CircuitError) -> PyErr {
    tree::ModelError::new_err(error.to_string())
}

pub fn plan(py: Python<'_>, error: &PlanError) -> PyErr {
    match error {
        PlanError::Netlist(error) => netlist(py, None, error),
        PlanError::Circuit(error) => circuit(error),
        PlanError::NoTransient => input(error.to_string()),
    }
}

/// An error with the place in a file.
fn placed(py: Python<'_>, out: PyErr, file: &str, line: usize, column: usize) -> PyErr {
    let value = out.value(py);
    let set = value
        .setattr("file", file)
        .and_then(|()| value.setattr("line", line))
        .and_then(|()| value.setattr("column", column));
    match set {
        Ok(()) => out,
        Err(error) => error,
    }
}

pub fn model_file(py: Python<'_>, path: &Path, error: &ModelFileError) -> PyErr {
    if let ErrorKind::Read { .. } = *error.kind {
        return match path.exists() {
            true => tree::FileError::new_err(error.to_string()),
            false => tree::MissingFileError::new_err(error.to_string()),
        };
    }
    let out = tree::ModelFileError::new_err(error.report());
    placed(py, out, &error.file, error.line, error.column)
}

/// A scene that cannot be read.
pub fn scene_file(py: Python<'_>, path: &Path, error: &SceneFileError) -> PyErr {
    let message = error.to_string();
    match error {
        SceneFileError::Missing { .. } => tree::MissingFileError::new_err(message),
        SceneFileError::Model(error) => model_file(py, path, error),
        SceneFileError::NoScene { .. } | SceneFileError::MoreThanAScene { .. } => input(message),
        _ => tree::FileError::new_err(message),
    }
}

/// A mesh that cannot be read.
pub fn mesh_file(path: &Path, error: &MeshError) -> PyErr {
    let message = error.to_string();
    match path.exists() {
        true => tree::FileError::new_err(message),
        false => tree::MissingFileError::new_err(message),
    }
}
