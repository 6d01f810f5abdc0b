//! Operators of a system: a constant, or a function of time.

use crate::OperatorError;
use saltus_linalg::{Matrix, vector};
use std::fmt;
use std::sync::Arc;

/// A function of time that fills an array and may fail (a callback into another language can).
pub type TimeFunction = dyn Fn(f64, &mut [f64]) -> Result<(), String> + Send + Sync;

/// A vector that is constant or a function of time.
#[derive(Clone)]
pub enum VectorOperator {
    /// The same at all times.
    Constant(Vec<f64>),
    /// `f(t, out)` fills the vector.
    Function {
        /// Length of the vector.
        len: usize,
        /// The function.
        function: Arc<TimeFunction>,
    },
}

/// A matrix that is constant or a function of time.
#[derive(Clone)]
pub enum MatrixOperator {
    /// The same at all times.
    Constant(Matrix),
    /// `f(t, out)` fills the matrix row by row.
    Function {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        cols: usize,
        /// The function.
        function: Arc<TimeFunction>,
    },
}

impl VectorOperator {
    /// A vector that a function of time fills; the function cannot fail.
    pub fn function(len: usize, f: impl Fn(f64, &mut [f64]) + Send + Sync + 'static) -> Self {
        let function = Arc::new(move |t, out: &mut [f64]| {
            f(t, out);
            Ok(())
        });
        VectorOperator::Function { len, function }
    }

    /// Length of the vector.
    pub fn len(&self) -> usize {
        match self {
            VectorOperator::Constant(value) => value.len(),
            VectorOperator::Function { len, .. } => *len,
        }
    }

    /// Whether the vector has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is the same at all times.
    pub fn is_constant(&self) -> bool {
        matches!(self, VectorOperator::Constant(_))
    }

    /// The vector at time `t`. `what` names it in errors.
    pub fn eval(&self, t: f64, what: &str, out: &mut [f64]) -> Result<(), OperatorError> {
        match self {
            VectorOperator::Constant(value) => out.copy_from_slice(value),
            VectorOperator::Function { function, .. } => call(function.as_ref(), t, what, out)?,
        }
        Ok(())
    }
}

impl MatrixOperator {
    /// A matrix that a function of time fills, row by row; the function cannot fail.
    pub fn function(
        rows: usize,
        cols: usize,
        f: impl Fn(f64, &mut [f64]) + Send + Sync + 'static,
    ) -> Self {
        let function = Arc::new(move |t, out: &mut [f64]| {
            f(t, out);
            Ok(())
        });
        MatrixOperator::Function { rows, cols, function }
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            MatrixOperator::Constant(value) => (value.rows(), value.cols()),
            MatrixOperator::Function { rows, cols, .. } => (*rows, *cols),
        }
    }

    /// Whether it is the same at all times.
    pub fn is_constant(&self) -> bool {
        matches!(self, MatrixOperator::Constant(_))
    }

    /// The matrix at time `t`. `what` names it in errors.
    pub fn eval(&self, t: f64, what: &str, out: &mut Matrix) -> Result<(), OperatorError> {
        match self {
            MatrixOperator::Constant(value) => out.copy_from(value),
            MatrixOperator::Function { rows, cols, function } => {
                out.reset(*rows, *cols);
                call(function.as_ref(), t, what, out.data_mut())?;
            }
        }
        Ok(())
    }
}

fn call(function: &TimeFunction, t: f64, what: &str, out: &mut [f64]) -> Result<(), OperatorError> {
    let fail = |why: String| OperatorError { what: what.to_string(), time: t, why };
    function(t, out).map_err(fail)?;
    if !vector::all_finite(out) {
        return Err(fail(format!("returned a value that is not finite: {out:?}")));
    }
    Ok(())
}

impl fmt::Debug for VectorOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VectorOperator::Constant(value) => value.fmt(f),
            VectorOperator::Function { len, .. } => write!(f, "function of t, length {len}"),
        }
    }
}

impl fmt::Debug for MatrixOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MatrixOperator::Constant(value) => value.fmt(f),
            MatrixOperator::Function { rows, cols, .. } => {
                write!(f, "function of t, {rows} × {cols}")
            }
        }
    }
}

impl From<Vec<f64>> for VectorOperator {
    fn from(value: Vec<f64>) -> Self {
        VectorOperator::Constant(value)
    }
}

impl<const N: usize> From<[f64; N]> for VectorOperator {
    fn from(value: [f64; N]) -> Self {
        VectorOperator::Constant(value.to_vec())
    }
}

impl From<Matrix> for MatrixOperator {
    fn from(value: Matrix) -> Self {
        MatrixOperator::Constant(value)
    }
}

impl<const R: usize, const C: usize> From<[[f64; C]; R]> for MatrixOperator {
    fn from(value: [[f64; C]; R]) -> Self {
        MatrixOperator::Constant(value.into())
    }
}
