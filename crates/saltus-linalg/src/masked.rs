//! Factors of a sparse matrix restricted to a changing set of rows and columns.
//!
//! Active-set methods need `W_BB` for one set `B` after the other. Instead of cutting the
//! block out, the kept rows stay and the others become rows of the identity:
//!
//! ```text
//! K = [ W_BB  0 ]
//!     [ 0     I ]
//! ```
//!
//! The pattern of `K` is then that of `W` for every `B`: one symbolic analysis serves for
//! ever, and a new set costs one numeric factorization in memory that is already there.
//! Other values on the same pattern (a shifted diagonal, scaled rows) are factored by
//! [`MaskedFactor::factor_with`].

use crate::{Singular, Sparse, SparseFactor};

/// Factors of `W_BB`, for one pattern of `W` and any set `B`.
#[derive(Debug)]
pub struct MaskedFactor {
    row: Vec<usize>, // of each entry of W
    factor: SparseFactor,
}

impl MaskedFactor {
    /// The symbolic analysis for matrices with the pattern of `matrix`.
    pub fn new(matrix: &Sparse) -> Self {
        MaskedFactor::analyse(matrix, SparseFactor::new(matrix))
    }

    /// The same for [`factor_with`](Self::factor_with), whose values need not be symmetric
    /// where those of `matrix` are.
    pub fn unsymmetric(matrix: &Sparse) -> Self {
        MaskedFactor::analyse(matrix, SparseFactor::with_symmetry(matrix, false))
    }

    fn analyse(matrix: &Sparse, factor: SparseFactor) -> Self {
        let row = matrix.iter().map(|(i, _, _)| i).collect();
        MaskedFactor { row, factor }
    }

    /// Factors `K` for the set of all `i` with `kept(i)`. `matrix` has the pattern given to `new`.
    pub fn factor(
        &mut self,
        matrix: &Sparse,
        kept: impl Fn(usize) -> bool,
    ) -> Result<(), Singular> {
        self.factor_with(matrix, |i, j, w| if kept(i) && kept(j) { w } else { f64::from(i == j) })
    }

    /// Factors the matrix whose entries are `value(i, j, Wᵢⱼ)` on the pattern of `W` and its
    /// diagonal, and zero elsewhere. `matrix` has the pattern given to `new`.
    pub fn factor_with(
        &mut self,
        matrix: &Sparse,
        value: impl Fn(usize, usize, f64) -> f64,
    ) -> Result<(), Singular> {
        let MaskedFactor { row, factor } = self;
        let entry = |k: usize| {
            let entry = matrix.entries()[k];
            value(row[k], entry.col, entry.value)
        };
        factor.factor_with(entry, |i| value(i, i, 0.0))
    }

    /// `x ← K⁻¹ x`, with the factors of the last successful [`factor`](Self::factor).
    pub fn solve(&mut self, x: &mut [f64]) {
        self.factor.solve(x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(n: usize, unsymmetric: f64) -> Sparse {
        let mut triplets = Vec::new();
        for i in 0..n {
            triplets.push((i, i, 2.0));
            if i > 0 {
                triplets.push((i, i - 1, -1.0));
                triplets.push((i - 1, i, -1.0 + unsymmetric));
            }
        }
        Sparse::from_triplets(n, n, &triplets)
    }

    #[track_caller]
    fn check(matrix: &Sparse, kept: impl Fn(usize) -> bool) {
        let n = matrix.rows();
        let mut factor = MaskedFactor::new(matrix);
        factor.factor(matrix, &kept).unwrap();
        let x: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        // b = K x
        let mut b = x.clone();
        for i in (0..n).filter(|&i| kept(i)) {
            b[i] = (0..n).filter(|&j| kept(j)).map(|j| matrix.get(i, j) * x[j]).sum();
        }
        factor.solve(&mut b);
        for i in 0..n {
            assert!((b[i] - x[i]).abs() < 1e-12, "{} against {}", b[i], x[i]);
        }
    }

    #[test]
    fn symmetric_and_unsymmetric_for_any_set() {
        for unsymmetric in [0.0, 0.3] {
            for n in [1, 2, 10, 300] {
                let matrix = chain(n, unsymmetric);
                check(&matrix, |_| true);
                check(&matrix, |_| false);
                check(&matrix, |i| i % 3 != 0);
            }
        }
    }

    #[test]
    fn other_values_on_the_same_pattern() {
        let matrix = chain(40, 0.0);
        let value = |i: usize, j: usize, w: f64| (1.0 + i as f64) * w + f64::from(i == j);
        let mut factor = MaskedFactor::unsymmetric(&matrix);
        factor.factor_with(&matrix, value).unwrap();
        let x: Vec<f64> = (0..40).map(|i| (i as f64).cos()).collect();
        let mut b: Vec<f64> =
            (0..40).map(|i| (0..40).map(|j| value(i, j, matrix.get(i, j)) * x[j]).sum()).collect();
        factor.solve(&mut b);
        for i in 0..40 {
            assert!((b[i] - x[i]).abs() < 1e-12);
        }
    }

    #[test]
    fn a_missing_diagonal_is_zero() {
        let matrix = Sparse::from_triplets(2, 2, &[(0, 1, 1.0), (1, 0, 2.0)]);
        check(&matrix, |_| true);
        let nothing = Sparse::from_triplets(2, 2, &[(0, 0, 1.0)]);
        assert!(MaskedFactor::new(&nothing).factor(&nothing, |_| true).is_err());
    }
}
