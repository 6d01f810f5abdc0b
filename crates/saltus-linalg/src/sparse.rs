//! A sparse matrix in compressed rows.

use crate::Matrix;

/// A sparse matrix in compressed-row form, columns ascending in each row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sparse {
    rows: usize,
    cols: usize,
    start: Vec<usize>, // row i holds the entries start[i] .. start[i + 1]
    col: Vec<usize>,
    val: Vec<f64>,
}

impl Sparse {
    /// From `(row, column, value)` entries in any order; entries at one place add up.
    /// Panics on an index outside the shape.
    pub fn from_triplets(rows: usize, cols: usize, triplets: &[(usize, usize, f64)]) -> Self {
        let mut sorted = triplets.to_vec();
        sorted.sort_by_key(|&(i, j, _)| (i, j));
        let (mut start, mut col, mut val) = (vec![0; rows + 1], Vec::new(), Vec::<f64>::new());
        let mut last = None;
        for (i, j, x) in sorted {
            assert!(i < rows && j < cols, "entry ({i}, {j}) of a {rows} × {cols} matrix");
            if last == Some((i, j)) {
                if let Some(value) = val.last_mut() {
                    *value += x;
                }
            } else {
                col.push(j);
                val.push(x);
                start[i + 1] += 1;
                last = Some((i, j));
            }
        }
        for i in 0..rows {
            start[i + 1] += start[i];
        }
        Sparse { rows, cols, start, col, val }
    }

    /// The nonzero entries of a dense matrix.
    pub fn from_dense(dense: &Matrix) -> Self {
        let mut triplets = Vec::new();
        for i in 0..dense.rows() {
            for (j, &x) in dense.row(i).iter().enumerate() {
                if x != 0.0 {
                    triplets.push((i, j, x));
                }
            }
        }
        Sparse::from_triplets(dense.rows(), dense.cols(), &triplets)
    }

    /// The same matrix with every zero written out.
    pub fn to_dense(&self) -> Matrix {
        let mut dense = Matrix::zeros(self.rows, self.cols);
        for (i, j, x) in self.iter() {
            dense[(i, j)] = x;
        }
        dense
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of stored entries.
    pub fn len(&self) -> usize {
        self.val.len()
    }

    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.val.is_empty()
    }

    /// The stored values, row by row.
    pub fn values(&self) -> &[f64] {
        &self.val
    }

    /// Columns and values of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> (&[usize], &[f64]) {
        let range = self.start[i]..self.start[i + 1];
        (&self.col[range.clone()], &self.val[range])
    }

    /// All stored entries as `(row, column, value)`.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        (0..self.rows).flat_map(move |i| {
            let (col, val) = self.row(i);
            col.iter().zip(val).map(move |(&j, &x)| (i, j, x))
        })
    }

    /// Entry `(i, j)`, zero where nothing is stored.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let (col, val) = self.row(i);
        col.binary_search(&j).map_or(0.0, |k| val[k])
    }

    /// `Aᵢ x`, the product of row `i`.
    #[inline]
    pub fn row_dot(&self, i: usize, x: &[f64]) -> f64 {
        let (col, val) = self.row(i);
        let mut sum = 0.0;
        for (&j, &a) in col.iter().zip(val) {
            sum += a * x[j];
        }
        sum
    }

    /// `y ← A x`.
    pub fn apply(&self, x: &[f64], y: &mut [f64]) {
        for (i, y) in y.iter_mut().enumerate() {
            *y = self.row_dot(i, x);
        }
    }

    /// `y ← y + A x`.
    pub fn apply_add(&self, x: &[f64], y: &mut [f64]) {
        for (i, y) in y.iter_mut().enumerate() {
            *y += self.row_dot(i, x);
        }
    }

    /// `Aᵀ`.
    pub fn transpose(&self) -> Sparse {
        let triplets: Vec<_> = self.iter().map(|(i, j, x)| (j, i, x)).collect();
        Sparse::from_triplets(self.cols, self.rows, &triplets)
    }

    /// `A B`.
    pub fn mul(&self, other: &Sparse) -> Sparse {
        assert_eq!(self.cols, other.rows, "inner sizes of a product");
        let mut triplets = Vec::new();
        for (i, k, a) in self.iter() {
            let (col, val) = other.row(k);
            triplets.extend(col.iter().zip(val).map(|(&j, &b)| (i, j, a * b)));
        }
        Sparse::from_triplets(self.rows, other.cols, &triplets)
    }

    /// Whether `A = Aᵀ` up to `tol` times the largest entry.
    pub fn is_symmetric(&self, tol: f64) -> bool {
        let tol = tol * crate::vector::norm_inf(&self.val);
        self.rows == self.cols && self.iter().all(|(i, j, x)| (x - self.get(j, i)).abs() <= tol)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triplets_add_up_and_products_agree_with_dense() {
        let a = Sparse::from_triplets(2, 3, &[(1, 2, 1.0), (0, 0, 2.0), (1, 2, 3.0), (1, 0, -1.0)]);
        assert_eq!(a.to_dense(), Matrix::from([[2.0, 0.0, 0.0], [-1.0, 0.0, 4.0]]));
        assert_eq!(a.len(), 3);
        assert_eq!(a.get(1, 1), 0.0);
        assert_eq!(a.transpose().to_dense(), a.to_dense().transpose());
        assert_eq!(a.mul(&a.transpose()).to_dense(), a.to_dense().mul(&a.to_dense().transpose()));
        let mut y = [1.0, 1.0];
        a.apply_add(&[1.0, 2.0, 3.0], &mut y);
        assert_eq!(y, [3.0, 12.0]);
    }
}
