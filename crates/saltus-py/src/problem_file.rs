//! Stored problems.

use crate::errors;
use crate::numerics::PyProblem;
use pyo3::import_exception;
use pyo3::prelude::*;
use saltus::io::problem_file::{
    ErrorKind, Info, Kind, ProblemFileError, ProblemWriteError, StoredProblem, UnknownKind, read,
    write,
};
use std::path::{Path, PathBuf};

import_exception!(saltus._errors, FileError);
import_exception!(saltus._errors, MissingFileError);
import_exception!(saltus._errors, NotAvailableError);

/// Reads a stored problem; gives it with its kind.
#[pyfunction]
#[pyo3(signature = (path, kind=None))]
pub fn read_problem(
    py: Python<'_>,
    path: PathBuf,
    kind: Option<&str>,
) -> PyResult<(PyProblem, &'static str)> {
    let kind: Option<Kind> = (kind.map(str::parse).transpose())
        .map_err(|error: UnknownKind| errors::input(error.to_string()))?;
    let stored = py.detach(|| read(&path, kind)).map_err(|error| wrong(py, &path, &error))?;
    Ok((stored.problem.into(), stored.kind.name()))
}

/// Stores a problem of this kind.
#[pyfunction]
pub fn write_problem(
    py: Python<'_>,
    path: PathBuf,
    problem: &PyProblem,
    kind: &str,
) -> PyResult<()> {
    let kind: Kind = kind.parse().map_err(|error: UnknownKind| errors::input(error.to_string()))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let stored = StoredProblem {
        kind,
        problem: problem.problem.clone(),
        name,
        reference: None,
        guesses: Vec::new(),
        info: Info::default(),
    };
    py.detach(|| write(&path, &stored)).map_err(|error| match error {
        ProblemWriteError::Write(_) => FileError::new_err(error.to_string()),
        _ => errors::input(error.to_string()),
    })
}

fn wrong(py: Python<'_>, path: &Path, error: &ProblemFileError) -> PyErr {
    let message = error.to_string();
    match *error.kind {
        ErrorKind::Read { .. } if path.exists() => FileError::new_err(message),
        ErrorKind::Read { .. } => MissingFileError::new_err(message),
        ErrorKind::Unreadable { .. } => NotAvailableError::new_err(message),
        ErrorKind::NoKind => errors::input(message),
        _ => {
            let out = errors::input(message);
            let value = out.value(py);
            let set = value
                .setattr("file", &error.file)
                .and_then(|()| value.setattr("line", error.line))
                .and_then(|()| value.setattr("column", error.column));
            match set {
                Ok(()) => out,
                Err(error) => error,
            }
        }
    }
}
