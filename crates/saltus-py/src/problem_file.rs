//! Stored problems.

use crate::errors;
use crate::numerics::PyProblem;
use pyo3::import_exception;
use pyo3::prelude::*;
use saltus::io::problem_file::{
    ErrorKind, Kind, ProblemFileError, ProblemWriteError, StoredProblem, UnknownKind, read, write,
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

/// Stores a problem as one of this kind, or as one of the kind that can hold it.
#[pyfunction]
#[pyo3(signature = (path, problem, kind=None))]
pub fn write_problem(
    py: Python<'_>,
    path: PathBuf,
    problem: &PyProblem,
    kind: Option<&str>,
) -> PyResult<()> {
    let kind: Option<Kind> = (kind.map(str::parse).transpose())
        .map_err(|error: UnknownKind| errors::input(error.to_string()))?;
    let result = py.detach(|| {
        let mut stored = StoredProblem::new(problem.problem.clone())?;
        stored.kind = kind.unwrap_or(stored.kind);
        write(&path, &stored)
    });
    result.map_err(|error| unwritten(&path, &error))
}

fn unwritten(path: &Path, error: &ProblemWriteError) -> PyErr {
    let message = error.to_string();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match error {
        ProblemWriteError::Write(_) if folder.is_some_and(|folder| !folder.exists()) => {
            MissingFileError::new_err(message)
        }
        ProblemWriteError::Write(_) | ProblemWriteError::Hdf5 { .. } => FileError::new_err(message),
        _ => errors::input(message),
    }
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
