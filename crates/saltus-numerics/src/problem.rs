//! The problem: matrix, vector, blocks.

use crate::{NumericsError, Set};
use saltus_linalg::{Matrix, Sparse, vector};
use std::sync::atomic::{AtomicU64, Ordering};

/// The linear map `W` of a problem.
#[derive(Debug, Clone, PartialEq)]
pub enum Operator {
    /// Every entry stored.
    Dense(Matrix),
    /// Only nonzero entries stored.
    Sparse(Sparse),
}

impl Operator {
    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Operator::Dense(a) => (a.rows(), a.cols()),
            Operator::Sparse(a) => (a.rows(), a.cols()),
        }
    }

    /// `Wᵢ z`.
    #[inline]
    pub fn row_dot(&self, i: usize, z: &[f64]) -> f64 {
        match self {
            Operator::Dense(a) => vector::dot(a.row(i), z),
            Operator::Sparse(a) => a.row_dot(i, z),
        }
    }

    /// `Σⱼ |Wᵢⱼ zⱼ|`, the size of the terms of [`row_dot`](Self::row_dot).
    pub(crate) fn row_size(&self, i: usize, z: &[f64]) -> f64 {
        match self {
            Operator::Dense(a) => a.row(i).iter().zip(z).map(|(a, z)| (a * z).abs()).sum(),
            Operator::Sparse(a) => a.row(i).iter().map(|e| (e.value * z[e.col]).abs()).sum(),
        }
    }

    /// Entry `(i, j)`.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        match self {
            Operator::Dense(a) => a[(i, j)],
            Operator::Sparse(a) => a.get(i, j),
        }
    }

    /// Largest absolute entry; NaN if any entry is NaN.
    pub fn largest(&self) -> f64 {
        match self {
            Operator::Dense(a) => vector::norm_inf(a.data()),
            Operator::Sparse(a) => a.entries().iter().fold(0.0, |largest, entry| {
                let value = entry.value.abs();
                // neither comparison with a NaN is true
                if value <= largest || f64::is_nan(largest) { largest } else { value }
            }),
        }
    }

    /// The matrix with every zero written out.
    pub fn to_dense(&self) -> Matrix {
        match self {
            Operator::Dense(a) => a.clone(),
            Operator::Sparse(a) => a.to_dense(),
        }
    }
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

/// Consecutive unknowns under one set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Block {
    /// Number of unknowns.
    pub size: usize,
    /// What each of them satisfies.
    pub set: Set,
}

/// `w = W z + q`, with `(z, w)` in the graph of its law, block by block.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    matrix: Operator,
    matrix_id: u64,
    largest: f64, // absolute entry of the matrix
    q: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

/// Every matrix that enters a problem gets a number of its own, so that methods know what
/// they may keep.
static NEXT_MATRIX: AtomicU64 = AtomicU64::new(1);

impl Problem {
    /// A problem from its matrix, vector and blocks (in order, covering all unknowns).
    pub fn new(
        matrix: impl Into<Operator>,
        q: Vec<f64>,
        blocks: &[Block],
    ) -> Result<Problem, NumericsError> {
        let (matrix, n) = (matrix.into(), q.len());
        if let (rows, cols) = matrix.shape()
            && rows == cols
            && rows != n
        {
            return Err(NumericsError::Length { what: "q", expected: rows, found: n });
        }
        let covered = blocks.iter().map(|block| block.size).sum();
        if covered != n {
            return Err(NumericsError::Length { what: "blocks", expected: n, found: covered });
        }
        let mut problem = Problem {
            matrix: Operator::Dense(Matrix::default()),
            matrix_id: 0,
            largest: 0.0,
            q: vec![0.0; n],
            lower: vec![0.0; n],
            upper: vec![0.0; n],
        };
        problem.set_matrix(matrix)?;
        problem.set_q(&q)?;
        let mut index = 0;
        for block in blocks {
            for _ in 0..block.size {
                problem.set_set(index, block.set)?;
                index += 1;
            }
        }
        Ok(problem)
    }

    /// The linear complementarity problem `0 ≤ w = M z + q ⟂ z ≥ 0`.
    pub fn lcp(matrix: impl Into<Operator>, q: Vec<f64>) -> Result<Problem, NumericsError> {
        let blocks = [Block { size: q.len(), set: Set::Nonnegative }];
        Problem::new(matrix, q, &blocks)
    }

    /// The mixed problem: the first `equalities` unknowns are free, the others complementary.
    pub fn mlcp(
        matrix: impl Into<Operator>,
        q: Vec<f64>,
        equalities: usize,
    ) -> Result<Problem, NumericsError> {
        let Some(others) = q.len().checked_sub(equalities) else {
            let (expected, found) = (q.len(), equalities);
            return Err(NumericsError::Length { what: "equalities", expected, found });
        };
        let free = Block { size: equalities, set: Set::Free };
        Problem::new(matrix, q, &[free, Block { size: others, set: Set::Nonnegative }])
    }

    /// The box problem `−(M z + q) ∈ N_[lower, upper](z)`; relays are the case ±1.
    pub fn boxed(
        matrix: impl Into<Operator>,
        q: Vec<f64>,
        lower: &[f64],
        upper: &[f64],
    ) -> Result<Problem, NumericsError> {
        for (what, bound) in [("lower", lower), ("upper", upper)] {
            if bound.len() != q.len() {
                let (expected, found) = (q.len(), bound.len());
                return Err(NumericsError::Length { what, expected, found });
            }
        }
        let blocks: Vec<Block> = (lower.iter().zip(upper))
            .map(|(&lower, &upper)| Block { size: 1, set: Set::Interval { lower, upper } })
            .collect();
        Problem::new(matrix, q, &blocks)
    }

    /// Number of unknowns.
    pub fn len(&self) -> usize {
        self.q.len()
    }

    /// Whether there are no unknowns.
    pub fn is_empty(&self) -> bool {
        self.q.is_empty()
    }

    /// `W`.
    pub fn matrix(&self) -> &Operator {
        &self.matrix
    }

    /// A number that changes whenever the matrix does.
    pub fn matrix_id(&self) -> u64 {
        self.matrix_id
    }

    /// Largest absolute entry of `W`.
    pub fn matrix_scale(&self) -> f64 {
        self.largest
    }

    /// `q`.
    pub fn q(&self) -> &[f64] {
        &self.q
    }

    /// Lower bounds of `z`, −∞ where there is none.
    pub fn lower(&self) -> &[f64] {
        &self.lower
    }

    /// Upper bounds of `z`, +∞ where there is none.
    pub fn upper(&self) -> &[f64] {
        &self.upper
    }

    /// Replaces `W`.
    pub fn set_matrix(&mut self, matrix: impl Into<Operator>) -> Result<(), NumericsError> {
        let (matrix, n) = (matrix.into(), self.q.len());
        let (expected, found) = ((n, n), matrix.shape());
        if found != expected {
            return Err(NumericsError::Shape { what: "W", expected, found });
        }
        let largest = matrix.largest();
        if !largest.is_finite() {
            return Err(not_finite_in(&matrix));
        }
        self.largest = largest;
        self.matrix = matrix;
        self.matrix_id = NEXT_MATRIX.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Replaces `q`.
    pub fn set_q(&mut self, q: &[f64]) -> Result<(), NumericsError> {
        if q.len() != self.q.len() {
            let (expected, found) = (self.q.len(), q.len());
            return Err(NumericsError::Length { what: "q", expected, found });
        }
        if let Some(i) = q.iter().position(|x| !x.is_finite()) {
            return Err(NumericsError::NotFinite { what: "q", at: vec![i], value: q[i] });
        }
        self.q.copy_from_slice(q);
        Ok(())
    }

    /// Replaces the set of one unknown.
    #[inline]
    pub fn set_set(&mut self, index: usize, set: Set) -> Result<(), NumericsError> {
        let (lower, upper) = set.bounds();
        if index >= self.q.len() {
            let (expected, found) = (self.q.len(), index + 1);
            return Err(NumericsError::Length { what: "sets", expected, found });
        }
        if !(lower <= upper) || lower == f64::INFINITY || upper == f64::NEG_INFINITY {
            return Err(NumericsError::Bounds { index, lower, upper });
        }
        self.lower[index] = lower;
        self.upper[index] = upper;
        Ok(())
    }

    /// Replaces the bounds of one unknown that are known to be an interval.
    #[inline]
    pub fn set_bounds(&mut self, index: usize, lower: f64, upper: f64) {
        debug_assert!(lower <= upper);
        self.lower[index] = lower;
        self.upper[index] = upper;
    }

    /// `w ← W z + q`.
    #[inline]
    pub fn eval(&self, z: &[f64], w: &mut [f64]) {
        assert_eq!((z.len(), w.len()), (self.q.len(), self.q.len()), "lengths of z and w");
        match &self.matrix {
            Operator::Dense(a) => {
                for (i, (w, q)) in w.iter_mut().zip(&self.q).enumerate() {
                    *w = q + vector::dot(a.row(i), z);
                }
            }
            Operator::Sparse(a) => {
                for ((w, q), product) in w.iter_mut().zip(&self.q).zip(a.products(z)) {
                    *w = q + product;
                }
            }
        }
    }
}

/// Where a matrix holds something that is not a finite number.
fn not_finite_in(matrix: &Operator) -> NumericsError {
    let (rows, cols) = matrix.shape();
    for i in 0..rows {
        for j in 0..cols {
            let value = matrix.get(i, j);
            if !value.is_finite() {
                return NumericsError::NotFinite { what: "W", at: vec![i, j], value };
            }
        }
    }
    NumericsError::NotFinite { what: "W", at: vec![], value: f64::NAN }
}
