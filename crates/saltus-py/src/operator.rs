//! Operators of systems: arrays, Python functions of time, formulas.

use crate::{arrays, errors};
use numpy::{
    PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use saltus::expr::Formula;
use saltus::linalg::Matrix;
use saltus::model::{Argument, At, Function, Operator};
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    /// What a Python function raised while this thread was computing: errors of the model are
    /// texts, and the exception is wanted as their cause.
    static FAILURE: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Takes what a Python function raised in this thread, if one did.
pub fn take_failure() -> Option<PyErr> {
    FAILURE.with(|failure| failure.borrow_mut().take())
}

/// A vector of `len` entries: an array, a list of numbers and formulas, or a function of time.
pub fn vector(what: &str, value: &Bound<'_, PyAny>, len: usize) -> PyResult<Operator> {
    if let Ok(array) = value.extract::<PyReadonlyArray1<'_, f64>>() {
        return Ok(arrays::vector(&array).into());
    }
    if let Ok(entries) = value.extract::<Vec<Entry>>() {
        let (len, formulas) = (entries.len(), Formulas::parse(what, entries)?);
        return Ok(match formulas.constant() {
            Some(values) => values.into(),
            None => Operator::vector_of_time(len, move |t, out| formulas.fill(t, out)),
        });
    }
    let function = callable(what, value)?;
    let function = PyFunction { function, shape: vec![len] };
    Ok(Operator::function(len, 1, Arc::new(function)))
}

/// A square matrix of `size` rows, likewise.
pub fn matrix(what: &str, value: &Bound<'_, PyAny>, size: usize) -> PyResult<Operator> {
    if let Ok(array) = value.extract::<PyReadonlyArray2<'_, f64>>() {
        return Ok(arrays::matrix(&array).into());
    }
    if let Ok(entries) = value.extract::<Vec<Vec<Entry>>>() {
        let (rows, cols) = (entries.len(), entries.first().map_or(0, Vec::len));
        if entries.iter().any(|row| row.len() != cols) {
            return Err(errors::model_input(format!("`{what}` has rows of different lengths")));
        }
        let formulas = Formulas::parse(what, entries.into_iter().flatten())?;
        return Ok(match formulas.constant() {
            Some(values) => Matrix::from_vec(rows, cols, values).into(),
            None => Operator::matrix_of_time(rows, cols, move |t, out| formulas.fill(t, out)),
        });
    }
    let function = callable(what, value)?;
    let function = PyFunction { function, shape: vec![size, size] };
    Ok(Operator::function(size, size, Arc::new(function)))
}

fn callable(what: &str, value: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    if value.is_callable() {
        return Ok(value.clone().unbind());
    }
    let message = format!("`{what}` must be an array, a function of t, or formulas");
    Err(PyTypeError::new_err(message))
}

/// A Python function of time.
#[derive(Debug)]
struct PyFunction {
    function: Py<PyAny>,
    shape: Vec<usize>,
}

impl Function for PyFunction {
    fn eval(&self, at: At<'_>, out: &mut [f64]) -> Result<(), String> {
        call(&self.function, at.t, &self.shape, out)
    }

    fn uses(&self, argument: Argument) -> bool {
        argument == Argument::Time
    }
}

/// Fills `out` with what a Python function gives at time `t`.
fn call(function: &Py<PyAny>, t: f64, shape: &[usize], out: &mut [f64]) -> Result<(), String> {
    Python::attach(|py| {
        fill(function.bind(py), t, shape, out).map_err(|error| {
            let text = error.to_string();
            FAILURE.with(|failure| *failure.borrow_mut() = Some(error));
            text
        })
    })
}

fn fill(function: &Bound<'_, PyAny>, t: f64, shape: &[usize], out: &mut [f64]) -> PyResult<()> {
    let value = function.call1((t,))?;
    if let Ok(array) = value.cast::<PyArrayDyn<f64>>() {
        return copy(array, shape, out);
    }
    if value.is_none() {
        let message = format!("returned None, expected an array of shape {}", tuple(shape));
        return Err(PyTypeError::new_err(message));
    }
    let array = as_array(&value)?;
    copy(array.cast::<PyArrayDyn<f64>>()?, shape, out)
}

fn copy(array: &Bound<'_, PyArrayDyn<f64>>, shape: &[usize], out: &mut [f64]) -> PyResult<()> {
    let single = out.len() == 1 && array.len() == 1;
    if array.shape() != shape && !single {
        return Err(PyValueError::new_err(format!(
            "returned an array of shape {}, expected {}",
            tuple(array.shape()),
            tuple(shape)
        )));
    }
    let array = array.try_readonly()?;
    for (out, value) in out.iter_mut().zip(array.as_array()) {
        *out = *value;
    }
    Ok(())
}

/// `numpy.asarray(value, "float64")`
fn as_array<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    FUNCTION.import(value.py(), "numpy", "asarray")?.call1((value, "float64"))
}

/// A shape as Python writes it.
fn tuple(shape: &[usize]) -> String {
    match shape {
        [n] => format!("({n},)"),
        _ => format!("({})", shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// The values of constant formulas.
#[pyfunction]
pub fn evaluate<'py>(
    py: Python<'py>,
    what: &str,
    entries: Vec<Entry>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    match Formulas::parse(what, entries)?.constant() {
        Some(values) => Ok(PyArray1::from_vec(py, values)),
        None => Err(errors::model_input(format!("`{what}` cannot depend on t"))),
    }
}

/// An entry of an array with formulas.
#[derive(FromPyObject)]
pub enum Entry {
    Number(f64),
    Formula(String),
}

/// Numbers and formulas of `t`, one after the other.
struct Formulas {
    values: Vec<f64>,
    of_time: Vec<(usize, Formula)>, // in the place of these entries
}

impl Formulas {
    fn parse(what: &str, entries: impl IntoIterator<Item = Entry>) -> PyResult<Formulas> {
        let (mut values, mut of_time) = (Vec::new(), Vec::new());
        for (i, entry) in entries.into_iter().enumerate() {
            let text = match entry {
                Entry::Number(value) => {
                    values.push(value);
                    continue;
                }
                Entry::Formula(text) => text,
            };
            let formula = Formula::parse(&text, &["t"]).map_err(|error| {
                let (error, caret) = (error.to_string(), error.caret(&text));
                errors::model_input(format!("`{what}`: {error}\n{caret}"))
            })?;
            values.push(formula.eval(&[f64::NAN]));
            if !formula.is_constant() {
                of_time.push((i, formula));
            }
        }
        Ok(Formulas { values, of_time })
    }

    /// The values, if none of them depends on time.
    fn constant(&self) -> Option<Vec<f64>> {
        self.of_time.is_empty().then(|| self.values.clone())
    }

    fn fill(&self, t: f64, out: &mut [f64]) {
        out.copy_from_slice(&self.values);
        for (i, formula) in &self.of_time {
            out[*i] = formula.eval(&[t]);
        }
    }
}
