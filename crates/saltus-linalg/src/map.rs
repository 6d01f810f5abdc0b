//! A linear map in the form that is cheapest to apply.

use crate::{Banded, Packed, Sparse, vector};

/// A linear map, kept in the form that is cheapest to apply in every step.
#[derive(Debug, Clone, PartialEq)]
pub enum LinearMap {
    /// `y = 0`.
    Zero,
    /// `y = x`.
    Identity,
    /// `yᵢ = dᵢ xᵢ`.
    Diagonal(Vec<f64>),
    /// A dense matrix.
    Dense(Packed),
    /// A matrix of which most rows are zero: its entries `(row, column, value)`.
    Scattered(Vec<(usize, usize, f64)>),
    /// A matrix with few diagonals.
    Banded(Banded),
    /// A sparse matrix.
    Sparse(Sparse),
}

/// A matrix with at most this share of nonzeros is applied in sparse form,
const SPARSE_SHARE: f64 = 0.34;
/// unless it has no more entries than this: a dense product is then faster all the same.
const SMALL: usize = 256;

impl LinearMap {
    /// The cheapest form of a sparse matrix.
    pub fn from_sparse(sparse: Sparse) -> Self {
        let (rows, cols) = (sparse.rows(), sparse.cols());
        let nonzeros = sparse.entries().iter().filter(|entry| entry.value != 0.0).count();
        if nonzeros == 0 {
            return LinearMap::Zero;
        }
        if rows == cols && sparse.iter().all(|(i, j, x)| i == j || x == 0.0) {
            let diagonal: Vec<f64> = (0..rows).map(|i| sparse.get(i, i)).collect();
            if diagonal.iter().all(|&x| x == 1.0) {
                return LinearMap::Identity;
            }
            return LinearMap::Diagonal(diagonal);
        }
        if 2 * nonzeros <= rows {
            LinearMap::Scattered(sparse.iter().filter(|(_, _, x)| *x != 0.0).collect())
        } else if rows * cols <= SMALL || nonzeros as f64 > SPARSE_SHARE * (rows * cols) as f64 {
            LinearMap::Dense(Packed::from(&sparse.to_dense()))
        } else if let Some(banded) = Banded::from_sparse(&sparse) {
            LinearMap::Banded(banded)
        } else {
            LinearMap::Sparse(sparse)
        }
    }

    /// `y ← A x`.
    #[inline]
    pub fn apply(&self, x: &[f64], y: &mut [f64]) {
        match self {
            LinearMap::Zero => y.fill(0.0),
            LinearMap::Identity => y.copy_from_slice(x),
            LinearMap::Diagonal(d) => {
                for ((y, x), d) in y.iter_mut().zip(x).zip(d) {
                    *y = d * x;
                }
            }
            LinearMap::Dense(a) => a.apply(x, y),
            LinearMap::Scattered(entries) => {
                y.fill(0.0);
                scatter(entries, x, y);
            }
            LinearMap::Banded(a) => {
                y.fill(0.0);
                a.apply_add(x, y);
            }
            LinearMap::Sparse(a) => a.apply(x, y),
        }
    }

    /// `y ← y + A x`.
    #[inline]
    pub fn apply_add(&self, x: &[f64], y: &mut [f64]) {
        match self {
            LinearMap::Zero => {}
            LinearMap::Identity => {
                for (y, x) in y.iter_mut().zip(x) {
                    *y += x;
                }
            }
            LinearMap::Diagonal(d) => {
                for ((y, x), d) in y.iter_mut().zip(x).zip(d) {
                    *y += d * x;
                }
            }
            LinearMap::Dense(a) => a.apply_add(x, y),
            LinearMap::Scattered(entries) => scatter(entries, x, y),
            LinearMap::Banded(a) => a.apply_add(x, y),
            LinearMap::Sparse(a) => a.apply_add(x, y),
        }
    }

    /// `y ← c + A x`.
    #[inline]
    pub fn apply_plus(&self, c: &[f64], x: &[f64], y: &mut [f64]) {
        match self {
            LinearMap::Zero => y.copy_from_slice(c),
            LinearMap::Identity => {
                for ((y, c), x) in y.iter_mut().zip(c).zip(x) {
                    *y = c + x;
                }
            }
            LinearMap::Diagonal(d) => {
                for (((y, c), x), d) in y.iter_mut().zip(c).zip(x).zip(d) {
                    *y = c + d * x;
                }
            }
            LinearMap::Dense(a) => a.apply_plus(c, x, y),
            LinearMap::Scattered(entries) => {
                y.copy_from_slice(c);
                scatter(entries, x, y);
            }
            LinearMap::Banded(a) => {
                y.copy_from_slice(c);
                a.apply_add(x, y);
            }
            LinearMap::Sparse(a) => {
                for ((y, c), product) in y.iter_mut().zip(c).zip(a.products(x)) {
                    *y = c + product;
                }
            }
        }
    }

    /// `xᵀ A x`.
    #[inline]
    pub fn quadratic_form(&self, x: &[f64]) -> f64 {
        let mut sum = 0.0;
        match self {
            LinearMap::Zero => {}
            LinearMap::Identity => sum = vector::dot(x, x),
            LinearMap::Diagonal(d) => {
                for (x, d) in x.iter().zip(d) {
                    sum += d * x * x;
                }
            }
            LinearMap::Dense(a) => sum = a.quadratic_form(x),
            LinearMap::Scattered(entries) => {
                for &(i, j, value) in entries {
                    sum += x[i] * value * x[j];
                }
            }
            LinearMap::Banded(a) => sum = a.quadratic_form(x),
            LinearMap::Sparse(a) => {
                for (x_i, product) in x.iter().zip(a.products(x)) {
                    sum += x_i * product;
                }
            }
        }
        sum
    }

    /// Whether the map sends everything to zero.
    pub fn is_zero(&self) -> bool {
        matches!(self, LinearMap::Zero)
    }
}

/// `y ← y + A x` from the entries of `A`.
#[inline]
fn scatter(entries: &[(usize, usize, f64)], x: &[f64], y: &mut [f64]) {
    for &(i, j, value) in entries {
        y[i] += value * x[j];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_agrees_with_the_matrix() {
        let mut chain = Vec::new();
        for i in 0..40 {
            chain.push((i, i, 2.0));
            if i > 0 {
                chain.push((i, i - 1, -1.0));
            }
        }
        let full: Vec<_> = (0..9).map(|k| (k / 3, k % 3, k as f64 - 4.0)).collect();
        let cases = [
            Sparse::from_triplets(3, 3, &[]),
            Sparse::from_triplets(2, 2, &[(0, 0, 1.0), (1, 1, 1.0)]),
            Sparse::from_triplets(2, 2, &[(0, 0, 3.0)]),
            Sparse::from_triplets(3, 3, &full),
            Sparse::from_triplets(40, 40, &chain),
            Sparse::from_triplets(12, 12, &[(3, 4, 2.0), (3, 11, -1.0), (11, 1, 0.5)]),
        ];
        for (case, sparse) in cases.into_iter().enumerate() {
            let x: Vec<f64> = (0..sparse.cols()).map(|i| 1.0 + i as f64).collect();
            let mut expected = vec![0.0; sparse.rows()];
            sparse.to_dense().apply(&x, &mut expected);
            let map = LinearMap::from_sparse(sparse);
            let mut y = vec![7.0; expected.len()];
            map.apply(&x, &mut y);
            assert_eq!(y, expected, "case {case}");
            map.apply_add(&x, &mut y);
            let twice: Vec<f64> = expected.iter().map(|x| 2.0 * x).collect();
            assert_eq!(y, twice, "case {case}");
            map.apply_plus(&expected, &x, &mut y);
            assert_eq!(y, twice, "case {case}");
            if x.len() == y.len() {
                let form = crate::vector::dot(&x, &expected);
                assert!((map.quadratic_form(&x) - form).abs() <= 1e-12 * form.abs());
            }
        }
    }
}
