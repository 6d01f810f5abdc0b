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
        let row = matrix.iter().map(|(i, _, _)| i).collect();
        MaskedFactor { row, factor: SparseFactor::new(matrix) }
    }

    /// Factors `K` for the set of all `i` with `kept(i)`. `matrix` has the pattern given to `new`.
    pub fn factor(
        &mut self,
        matrix: &Sparse,
        kept: impl Fn(usize) -> bool,
    ) -> Result<(), Singular> {
        let MaskedFactor { row, factor } = self;
        factor.factor_with(
            |k| {
                let (i, entry) = (row[k], matrix.entries()[k]);
                if kept(i) && kept(entry.col) { entry.value } else { f64::from(i == entry.col) }
            },
            |i| f64::from(!kept(i)),
        )
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
    fn a_missing_diagonal_is_zero() {
        let matrix = Sparse::from_triplets(2, 2, &[(0, 1, 1.0), (1, 0, 2.0)]);
        check(&matrix, |_| true);
        let nothing = Sparse::from_triplets(2, 2, &[(0, 0, 1.0)]);
        assert!(MaskedFactor::new(&nothing).factor(&nothing, |_| true).is_err());
    }
}
