//! Operators of systems: arrays, Python functions of time, formulas.

use crate::{arrays, errors};
use numpy::{
    PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;
use saltus::io::ModelFile;
use saltus::linalg::Matrix;
use saltus::model::{Dependence, FirstOrderSystem, MatrixOperator, System, VectorOperator};
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

/// A vector of `len` entries: an array, a function of time, or a list of formulas as TOML text.
pub fn vector(what: &str, value: &Bound<'_, PyAny>, len: usize) -> PyResult<VectorOperator> {
    if let Ok(text) = value.cast::<PyString>() {
        return formula_vector(what, text.to_str()?);
    }
    if let Ok(array) = value.extract::<PyReadonlyArray1<'_, f64>>() {
        return Ok(VectorOperator::Constant(arrays::vector(&array)));
    }
    let function = callable(what, value)?;
    let function = Arc::new(move |t, out: &mut [f64]| call(&function, t, &[len], out));
    Ok(VectorOperator::Function { len, function })
}

/// A square matrix of `size` rows, likewise.
pub fn matrix(what: &str, value: &Bound<'_, PyAny>, size: usize) -> PyResult<MatrixOperator> {
    if let Ok(text) = value.cast::<PyString>() {
        return formula_matrix(what, text.to_str()?);
    }
    if let Ok(array) = value.extract::<PyReadonlyArray2<'_, f64>>() {
        return Ok(MatrixOperator::Constant(arrays::matrix(&array)));
    }
    let function = callable(what, value)?;
    let function = Arc::new(move |t, out: &mut [f64]| call(&function, t, &[size, size], out));
    Ok(MatrixOperator::Function { rows: size, cols: size, function })
}

fn callable(what: &str, value: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    if value.is_callable() {
        return Ok(value.clone().unbind());
    }
    let message = format!("`{what}` must be an array, a function of t, or formulas");
    Err(PyTypeError::new_err(message))
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

/// The values of constant formulas: `text` is an array of numbers and strings, in TOML.
#[pyfunction]
pub fn evaluate<'py>(
    py: Python<'py>,
    what: &str,
    text: &str,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    match formula_vector(what, text)? {
        VectorOperator::Constant(values) => Ok(PyArray1::from_vec(py, values)),
        VectorOperator::Function { .. } => {
            Err(errors::model_input(format!("`{what}` cannot depend on t")))
        }
    }
}

fn formula_vector(what: &str, text: &str) -> PyResult<VectorOperator> {
    let system = system(what, &format!("b = {text}"), text)?;
    let len = system.dim();
    if system.dependence().forcing == Dependence::Constant {
        let mut values = vec![0.0; len];
        system.forcing(0.0, &mut values).map_err(|error| unusable(what, &error.why))?;
        return Ok(VectorOperator::Constant(values));
    }
    let function =
        Arc::new(move |t, out: &mut [f64]| system.forcing(t, out).map_err(|error| error.why));
    Ok(VectorOperator::Function { len, function })
}

fn formula_matrix(what: &str, text: &str) -> PyResult<MatrixOperator> {
    let system = system(what, &format!("A = {text}"), text)?;
    let (rows, cols) = (system.dim(), system.dim());
    let is_constant = system.dependence().jacobian == Dependence::Constant;
    let at = move |t| {
        let mut A = Matrix::zeros(rows, cols);
        system.rhs_dx(t, &vec![0.0; rows], &mut A).map_err(|error| error.why)?;
        Ok::<_, String>(A)
    };
    if is_constant {
        return Ok(MatrixOperator::Constant(at(0.0).map_err(|why| unusable(what, &why))?));
    }
    let function = move |t, out: &mut [f64]| {
        out.copy_from_slice(at(t)?.data());
        Ok(())
    };
    Ok(MatrixOperator::Function { rows, cols, function: Arc::new(function) })
}

/// A system that holds the formulas. The model file is the way to formulas that is open to this
/// crate: it may use `saltus` only, and `saltus` does not offer them apart from model files.
fn system(what: &str, operator: &str, text: &str) -> PyResult<Arc<dyn FirstOrderSystem>> {
    let size = entries(text);
    let other = match operator.starts_with('A') {
        true => String::new(),
        false => format!("A = {{ identity = {size} }}"),
    };
    let file = format!(
        "[simulation]\nh = 1\nuntil = 1\n[[system]]\nname = \"formulas\"\n\
         kind = \"first-order-linear\"\nx0 = {{ size = {size}, entry = 0 }}\n{other}\n{operator}\n"
    );
    let file = ModelFile::parse(&file, what, &[])
        .map_err(|error| unusable(what, &error.message.replace("system `formulas`: ", "")))?;
    match file.model.systems().next() {
        Some((_, System::FirstOrder(system))) => Ok(system.clone()),
        _ => Err(unusable(what, "no formulas")),
    }
}

fn unusable(what: &str, why: &str) -> PyErr {
    errors::model_input(format!("`{what}`: {why}"))
}

/// Entries of the outermost array of a JSON text.
fn entries(text: &str) -> usize {
    let parsed: Result<Vec<serde_json::Value>, _> = serde_json::from_str(text);
    parsed.map_or(0, |entries| entries.len())
}
