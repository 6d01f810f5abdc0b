//! Arrays in and out. The Python side has made them `float64` of the right number of axes.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use saltus::linalg::Matrix;

/// A copy of a vector.
pub fn vector(array: &PyReadonlyArray1<'_, f64>) -> Vec<f64> {
    array.as_array().to_vec()
}

/// A copy of a matrix.
pub fn matrix(array: &PyReadonlyArray2<'_, f64>) -> Matrix {
    let view = array.as_array();
    Matrix::from_vec(view.nrows(), view.ncols(), view.iter().copied().collect())
}

/// An array of rows out of their values one after the other; nothing is copied.
pub fn table(
    py: Python<'_>,
    values: Vec<f64>,
    rows: usize,
    cols: usize,
) -> PyResult<Bound<'_, PyArray2<f64>>> {
    PyArray1::from_vec(py, values).reshape([rows, cols])
}
