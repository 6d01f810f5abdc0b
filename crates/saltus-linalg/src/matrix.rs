//! A dense matrix, row by row.

use crate::vector::{axpy, dot};
use std::ops::{Index, IndexMut};

/// A dense matrix of `f64`, stored row by row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

/// Rows of different lengths where a matrix was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ragged {
    /// The first row whose length differs from that of row 0.
    pub row: usize,
    /// Length of row 0.
    pub expected: usize,
    /// Length of `row`.
    pub found: usize,
}

impl std::fmt::Display for Ragged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Ragged { row, expected, found } = self;
        write!(f, "row {row} has {found} entries, but row 0 has {expected}")
    }
}

impl std::error::Error for Ragged {}

impl Matrix {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Matrix { rows, cols, data: vec![0.0; rows * cols] }
    }

    /// The identity of size `n`.
    pub fn identity(n: usize) -> Self {
        Matrix::diagonal(&vec![1.0; n])
    }

    /// A square matrix with this diagonal.
    pub fn diagonal(diagonal: &[f64]) -> Self {
        let n = diagonal.len();
        let mut matrix = Matrix::zeros(n, n);
        for i in 0..n {
            matrix[(i, i)] = diagonal[i];
        }
        matrix
    }

    /// A matrix from its entries, row by row. Panics unless there are `rows × cols` of them.
    pub fn from_vec(rows: usize, cols: usize, data: Vec<f64>) -> Self {
        assert_eq!(data.len(), rows * cols, "a {rows} × {cols} matrix has {} entries", rows * cols);
        Matrix { rows, cols, data }
    }

    /// A matrix from its rows.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Self, Ragged> {
        let cols = rows.first().map_or(0, |r| r.as_ref().len());
        let mut data = Vec::with_capacity(rows.len() * cols);
        for (i, row) in rows.iter().enumerate() {
            let row = row.as_ref();
            if row.len() != cols {
                return Err(Ragged { row: i, expected: cols, found: row.len() });
            }
            data.extend_from_slice(row);
        }
        Ok(Matrix { rows: rows.len(), cols, data })
    }

    /// Number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[inline]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The entries, row by row.
    #[inline]
    pub fn data(&self) -> &[f64] {
        &self.data
    }

    /// The entries, row by row, to be changed.
    #[inline]
    pub fn data_mut(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// Row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Gives the matrix this shape, with all entries zero; keeps its memory where it is enough.
    #[inline]
    pub fn reset(&mut self, rows: usize, cols: usize) {
        self.rows = rows;
        self.cols = cols;
        self.data.clear();
        self.data.resize(rows * cols, 0.0);
    }

    /// Gives the matrix this shape, for entries that are to be written; keeps its memory where it
    /// is enough.
    #[inline]
    pub fn resize(&mut self, rows: usize, cols: usize) {
        self.rows = rows;
        self.cols = cols;
        if self.data.len() != rows * cols {
            self.data.resize(rows * cols, 0.0);
        }
    }

    /// Becomes the identity of `n` rows, keeping its memory where it is enough.
    pub fn set_identity(&mut self, n: usize) {
        self.reset(n, n);
        for i in 0..n {
            self[(i, i)] = 1.0;
        }
    }

    /// Becomes a copy of `other`, keeping its memory where it is enough.
    #[inline]
    pub fn copy_from(&mut self, other: &Matrix) {
        self.rows = other.rows;
        self.cols = other.cols;
        if self.data.len() == other.data.len() {
            self.data.copy_from_slice(&other.data);
        } else {
            self.data.clear();
            self.data.extend_from_slice(&other.data);
        }
    }

    /// `y ← A x`.
    #[inline]
    pub fn apply(&self, x: &[f64], y: &mut [f64]) {
        debug_assert_eq!((x.len(), y.len()), (self.cols, self.rows));
        if self.cols == 0 {
            y.fill(0.0);
            return;
        }
        for (y, row) in y.iter_mut().zip(self.data.chunks_exact(self.cols)) {
            *y = dot(row, x);
        }
    }

    /// `y ← c + A x`.
    #[inline]
    pub fn apply_plus(&self, c: &[f64], x: &[f64], y: &mut [f64]) {
        debug_assert_eq!((x.len(), y.len()), (self.cols, self.rows));
        if self.cols == 0 {
            y.copy_from_slice(c);
            return;
        }
        for ((y, c), row) in y.iter_mut().zip(c).zip(self.data.chunks_exact(self.cols)) {
            *y = c + dot(row, x);
        }
    }

    /// `y ← y + A x`.
    #[inline]
    pub fn apply_add(&self, x: &[f64], y: &mut [f64]) {
        debug_assert_eq!((x.len(), y.len()), (self.cols, self.rows));
        if self.cols == 0 {
            return;
        }
        for (y, row) in y.iter_mut().zip(self.data.chunks_exact(self.cols)) {
            *y += dot(row, x);
        }
    }

    /// `Aᵀ`.
    pub fn transpose(&self) -> Matrix {
        let mut out = Matrix::zeros(self.cols, self.rows);
        for i in 0..self.rows {
            for j in 0..self.cols {
                out[(j, i)] = self[(i, j)];
            }
        }
        out
    }

    /// `A B`.
    pub fn mul(&self, other: &Matrix) -> Matrix {
        let mut out = Matrix::default();
        self.mul_into(other, &mut out);
        out
    }

    /// `C ← A B`.
    pub fn mul_into(&self, other: &Matrix, out: &mut Matrix) {
        assert_eq!(self.cols, other.rows, "inner sizes of a product");
        out.reset(self.rows, other.cols);
        for i in 0..self.rows {
            let start = i * out.cols;
            let row = &mut out.data[start..start + other.cols];
            for k in 0..self.cols {
                let a = self.data[i * self.cols + k];
                if a != 0.0 {
                    axpy(a, other.row(k), row);
                }
            }
        }
    }

    /// `A ← A + a B`.
    #[inline]
    pub fn add_scaled(&mut self, a: f64, other: &Matrix) {
        assert_eq!((self.rows, self.cols), (other.rows, other.cols), "shapes of a sum");
        axpy(a, &other.data, &mut self.data);
    }

    /// `A ← a A`.
    pub fn scale(&mut self, a: f64) {
        for x in &mut self.data {
            *x *= a;
        }
    }

    /// Whether every entry is finite.
    pub fn is_finite(&self) -> bool {
        crate::vector::all_finite(&self.data)
    }

    /// Whether every entry is zero.
    pub fn is_zero(&self) -> bool {
        self.data.iter().all(|&x| x == 0.0)
    }

    /// Whether all entries beside the diagonal are zero.
    pub fn is_diagonal(&self) -> bool {
        (0..self.rows).all(|i| self.row(i).iter().enumerate().all(|(j, &x)| i == j || x == 0.0))
    }

    /// Whether `A = Aᵀ`, entry by entry, up to `tol` times the largest entry.
    pub fn is_symmetric(&self, tol: f64) -> bool {
        let tol = tol * crate::vector::norm_inf(&self.data);
        self.rows == self.cols
            && (0..self.rows).all(|i| (0..i).all(|j| (self[(i, j)] - self[(j, i)]).abs() <= tol))
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;
    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[i * self.cols + j]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.data[i * self.cols + j]
    }
}

impl<const R: usize, const C: usize> From<[[f64; C]; R]> for Matrix {
    fn from(rows: [[f64; C]; R]) -> Self {
        Matrix { rows: R, cols: C, data: rows.concat() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_transposes() {
        let a = Matrix::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
        let b = Matrix::from([[1.0, -1.0, 0.0], [0.0, 2.0, 1.0]]);
        assert_eq!(a.mul(&b), Matrix::from([[1.0, 3.0, 2.0], [3.0, 5.0, 4.0], [5.0, 7.0, 6.0]]));
        assert_eq!(a.transpose(), Matrix::from([[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]));
        let mut y = [1.0; 3];
        a.apply_add(&[1.0, 1.0], &mut y);
        assert_eq!(y, [4.0, 8.0, 12.0]);
    }

    #[test]
    fn ragged_rows_are_named() {
        let error = Matrix::from_rows(&[vec![1.0, 2.0], vec![3.0]]).unwrap_err();
        assert_eq!(error.to_string(), "row 1 has 1 entries, but row 0 has 2");
    }

    #[test]
    fn symmetry() {
        assert!(Matrix::from([[1.0, 2.0], [2.0, 1.0]]).is_symmetric(0.0));
        assert!(!Matrix::from([[1.0, 2.0], [2.1, 1.0]]).is_symmetric(1e-3));
    }
}
