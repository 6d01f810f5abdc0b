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
//! A symmetric `W` takes LDLᵀ without pivoting (right for definite blocks; a zero pivot is
//! an error, and callers verify their answers anyway), any other one LU. Other values on the
//! same pattern (a shifted diagonal, scaled rows) are factored by [`MaskedFactor::factor_with`].

use crate::{Singular, Sparse};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::cholesky::{LdltRef, SymbolicCholesky, factorize_symbolic_cholesky};
use faer::sparse::linalg::lu::{LuRef, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Conj, MatMut, Par, Side};

/// Factors of `W_BB`, for one pattern of `W` and any set `B`.
pub struct MaskedFactor {
    pattern: SymbolicSparseColMat<usize>, // of W with a full diagonal, by columns
    row: Vec<usize>,                      // of each entry of the pattern
    col: Vec<usize>,
    source: Vec<usize>, // where its value stands in W; NONE for an added diagonal entry
    value: Vec<f64>,
    factors: Factors,
    memory: MemBuffer,
}

const NONE: usize = usize::MAX;

enum Factors {
    Ldl { symbolic: SymbolicCholesky<usize>, values: Vec<f64> },
    Lu { symbolic: SymbolicLu<usize>, numeric: NumericLu<usize, f64> },
}

impl std::fmt::Debug for MaskedFactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.factors {
            Factors::Ldl { .. } => "LDLᵀ",
            Factors::Lu { .. } => "LU",
        };
        f.debug_struct("MaskedFactor").field("kind", &kind).finish_non_exhaustive()
    }
}

impl MaskedFactor {
    /// The symbolic analysis for matrices with the pattern of `matrix`.
    pub fn new(matrix: &Sparse) -> Self {
        MaskedFactor::analyse(matrix, matrix.is_symmetric(4.0 * f64::EPSILON))
    }

    /// The same for [`factor_with`](Self::factor_with), whose values need not be symmetric
    /// where those of `matrix` are.
    pub fn unsymmetric(matrix: &Sparse) -> Self {
        MaskedFactor::analyse(matrix, false)
    }

    fn analyse(matrix: &Sparse, symmetric: bool) -> Self {
        assert_eq!(matrix.rows(), matrix.cols(), "only a square matrix can be factored");
        let n = matrix.rows();

        // entries by columns, the diagonal always among them
        let mut entries: Vec<(usize, usize, usize)> = Vec::with_capacity(matrix.len() + n);
        for (k, (i, j, _)) in matrix.iter().enumerate() {
            entries.push((j, i, k));
        }
        for i in 0..n {
            if !matrix.row(i).iter().any(|entry| entry.col == i) {
                entries.push((i, i, NONE));
            }
        }
        entries.sort_unstable();
        let mut start = vec![0; n + 1];
        for &(j, _, _) in &entries {
            start[j + 1] += 1;
        }
        for j in 0..n {
            start[j + 1] += start[j];
        }
        let row: Vec<usize> = entries.iter().map(|e| e.1).collect();
        let col: Vec<usize> = entries.iter().map(|e| e.0).collect();
        let source: Vec<usize> = entries.iter().map(|e| e.2).collect();
        let pattern = SymbolicSparseColMat::new_checked(n, n, start, None, row.clone());

        // out of memory is the only failure of a symbolic analysis
        let (factors, scratch) = if symmetric {
            let symbolic = factorize_symbolic_cholesky(
                pattern.as_ref(),
                Side::Lower,
                Default::default(),
                Default::default(),
            )
            .expect("memory for the symbolic factorization");
            let scratch = symbolic
                .factorize_numeric_ldlt_scratch::<f64>(Par::Seq, Default::default())
                .or(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq));
            let values = vec![0.0; symbolic.len_val()];
            (Factors::Ldl { symbolic, values }, scratch)
        } else {
            let symbolic = factorize_symbolic_lu(pattern.as_ref(), Default::default())
                .expect("memory for the symbolic factorization");
            let scratch = symbolic
                .factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default())
                .or(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq));
            (Factors::Lu { symbolic, numeric: NumericLu::new() }, scratch)
        };
        let value = vec![0.0; row.len()];
        MaskedFactor { pattern, row, col, source, value, factors, memory: MemBuffer::new(scratch) }
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
        for k in 0..self.value.len() {
            let w = match self.source[k] {
                NONE => 0.0,
                source => matrix.entries()[source].value,
            };
            self.value[k] = value(self.row[k], self.col[k], w);
        }
        let matrix = SparseColMatRef::new(self.pattern.as_ref(), &self.value);
        let stack = MemStack::new(&mut self.memory);
        let whole = Singular { column: 0 };
        match &mut self.factors {
            Factors::Ldl { symbolic, values } => {
                let (lower, regularization) = (Side::Lower, Default::default());
                let (par, params) = (Par::Seq, Default::default());
                symbolic
                    .factorize_numeric_ldlt(
                        values,
                        matrix,
                        lower,
                        regularization,
                        par,
                        stack,
                        params,
                    )
                    .map_err(|_| whole)?;
                if !crate::vector::all_finite(values) {
                    return Err(whole);
                }
            }
            Factors::Lu { symbolic, numeric } => {
                symbolic
                    .factorize_numeric_lu(numeric, matrix, Par::Seq, stack, Default::default())
                    .map_err(|_| whole)?;
            }
        }
        Ok(())
    }

    /// `x ← K⁻¹ x`, with the factors of the last successful [`factor`](Self::factor).
    pub fn solve(&mut self, x: &mut [f64]) {
        let n = x.len();
        let x = MatMut::from_column_major_slice_mut(x, n, 1);
        let stack = MemStack::new(&mut self.memory);
        match &self.factors {
            Factors::Ldl { symbolic, values } => {
                LdltRef::new(symbolic, values).solve_in_place_with_conj(
                    Conj::No,
                    x,
                    Par::Seq,
                    stack,
                );
            }
            Factors::Lu { symbolic, numeric } => {
                LuRef::new_unchecked(symbolic, numeric).solve_in_place_with_conj(
                    Conj::No,
                    x,
                    Par::Seq,
                    stack,
                );
            }
        }
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
