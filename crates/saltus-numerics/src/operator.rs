//! The map of a problem: a matrix, the pair `(M, H)` of a mechanical system, or a function.

use crate::{Global, NumericsError};
use saltus_linalg::{Matrix, Sparse, vector};
use std::fmt;
use std::sync::Arc;

/// The map `F` of a problem, `w = F(z) + q`.
#[derive(Debug, Clone, PartialEq)]
pub enum Operator {
    /// `W z`, every entry stored.
    Dense(Matrix),
    /// `W z`, only nonzero entries stored.
    Sparse(Sparse),
    /// `Hᵀ M⁻¹ (H z + f)`, never multiplied out.
    Global(Box<Global>),
    /// A function with its Jacobian.
    Function(Function),
}

/// A nonlinear map with its Jacobian.
pub trait Map: Send + Sync {
    /// Number of unknowns.
    fn size(&self) -> usize;
    /// `w ← F(z)`.
    fn eval(&self, z: &[f64], w: &mut [f64]);
    /// `J ← F′(z)`, a square matrix that is already of the right size.
    fn jacobian(&self, z: &[f64], jacobian: &mut Matrix);
}

/// A shared [`Map`].
#[derive(Clone)]
pub struct Function(pub Arc<dyn Map>);

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function of {} unknowns", self.0.size())
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Operator {
    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Operator::Dense(a) => (a.rows(), a.cols()),
            Operator::Sparse(a) => (a.rows(), a.cols()),
            Operator::Global(a) => (a.size(), a.size()),
            Operator::Function(a) => (a.0.size(), a.0.size()),
        }
    }

    /// Whether it is a matrix with its entries at hand.
    pub fn is_matrix(&self) -> bool {
        matches!(self, Operator::Dense(_) | Operator::Sparse(_))
    }

    /// `Wᵢ z` of a matrix.
    #[inline]
    pub fn row_dot(&self, i: usize, z: &[f64]) -> f64 {
        match self {
            Operator::Dense(a) => vector::dot(a.row(i), z),
            Operator::Sparse(a) => a.row_dot(i, z),
            _ => f64::NAN,
        }
    }

    /// `Σⱼ |Wᵢⱼ zⱼ|`, the size of the terms of [`row_dot`](Self::row_dot).
    pub(crate) fn row_size(&self, i: usize, z: &[f64]) -> f64 {
        match self {
            Operator::Dense(a) => a.row(i).iter().zip(z).map(|(a, z)| (a * z).abs()).sum(),
            Operator::Sparse(a) => a.row(i).iter().map(|e| (e.value * z[e.col]).abs()).sum(),
            _ => f64::NAN,
        }
    }

    /// Entry `(i, j)` of a matrix; NaN for what is none.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        match self {
            Operator::Dense(a) => a[(i, j)],
            Operator::Sparse(a) => a.get(i, j),
            _ => f64::NAN,
        }
    }

    /// Largest absolute entry; NaN if any entry is NaN. Zero for a function.
    pub fn largest(&self) -> f64 {
        match self {
            Operator::Dense(a) => vector::norm_inf(a.data()),
            Operator::Sparse(a) => largest(a),
            Operator::Global(a) => a.largest(),
            Operator::Function(_) => 0.0,
        }
    }

    /// The matrix with every zero written out; full of NaN for a function, which has none.
    pub fn to_dense(&self) -> Matrix {
        match self {
            Operator::Dense(a) => a.clone(),
            Operator::Sparse(a) => a.to_dense(),
            Operator::Global(a) => a.condense().to_dense(),
            Operator::Function(a) => {
                let n = a.0.size();
                Matrix::from_vec(n, n, vec![f64::NAN; n * n])
            }
        }
    }

    /// `w ← F(z)`.
    #[inline]
    pub fn apply(&self, z: &[f64], w: &mut [f64]) {
        match self {
            Operator::Dense(a) => {
                for (i, w) in w.iter_mut().enumerate() {
                    *w = vector::dot(a.row(i), z);
                }
            }
            Operator::Sparse(a) => a.apply(z, w),
            Operator::Global(a) => a.apply(z, w),
            Operator::Function(a) => a.0.eval(z, w),
        }
    }
}

/// Largest absolute entry; NaN if any entry is NaN.
pub(crate) fn largest(matrix: &Sparse) -> f64 {
    matrix.entries().iter().fold(0.0, |largest, entry| {
        let value = entry.value.abs();
        // neither comparison with a NaN is true
        if value <= largest || f64::is_nan(largest) { largest } else { value }
    })
}

/// Where a matrix holds something that is not a finite number.
pub(crate) fn not_finite_in(what: &'static str, matrix: &Operator) -> NumericsError {
    let (rows, cols) = matrix.shape();
    if matrix.is_matrix() {
        for i in 0..rows {
            for j in 0..cols {
                let value = matrix.get(i, j);
                if !value.is_finite() {
                    return NumericsError::NotFinite { what, at: vec![i, j], value };
                }
            }
        }
    }
    NumericsError::NotFinite { what, at: vec![], value: f64::NAN }
}

impl From<Matrix> for Operator {
    fn from(matrix: Matrix) -> Self {
        Operator::Dense(matrix)
    }
}

impl From<Sparse> for Operator {
    fn from(matrix: Sparse) -> Self {
        Operator::Sparse(matrix)
    }
}

impl From<Function> for Operator {
    fn from(function: Function) -> Self {
        Operator::Function(function)
    }
}

impl From<Global> for Operator {
    fn from(global: Global) -> Self {
        Operator::Global(Box::new(global))
    }
}
