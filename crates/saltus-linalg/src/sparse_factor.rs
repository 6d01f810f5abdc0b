//! Factors of a sparse matrix whose pattern stays and whose values change.
//!
//! One symbolic analysis serves for ever; new values cost one numeric factorization in memory
//! that is already there. A symmetric matrix takes LDLᵀ without pivoting (right for definite and
//! quasi-definite ones; a zero pivot is an error, and callers verify their answers), any other LU.

use crate::{Singular, Sparse};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::cholesky::{LdltRef, SymbolicCholesky, factorize_symbolic_cholesky};
use faer::sparse::linalg::lu::{LuRef, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Conj, MatMut, Par, Side};

/// Factors for one pattern.
pub struct SparseFactor {
    pattern: SymbolicSparseColMat<usize>, // with a full diagonal, by columns
    source: Vec<usize>, // where the value of each entry stands in the rows; NONE for an added one
    value: Vec<f64>,
    factors: Factors,
    memory: MemBuffer,
}

const NONE: usize = usize::MAX;

enum Factors {
    Ldl { symbolic: SymbolicCholesky<usize>, values: Vec<f64> },
    Lu { symbolic: SymbolicLu<usize>, numeric: NumericLu<usize, f64> },
}

impl std::fmt::Debug for SparseFactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.factors {
            Factors::Ldl { .. } => "LDLᵀ",
            Factors::Lu { .. } => "LU",
        };
        f.debug_struct("SparseFactor").field("kind", &kind).finish_non_exhaustive()
    }
}

impl SparseFactor {
    /// The analysis for matrices with the pattern of `matrix`, symmetric ones if it is.
    pub fn new(matrix: &Sparse) -> Self {
        SparseFactor::with_symmetry(matrix, matrix.is_symmetric(4.0 * f64::EPSILON))
    }

    /// The analysis for matrices with the pattern of `matrix`.
    pub fn with_symmetry(matrix: &Sparse, symmetric: bool) -> Self {
        assert_eq!(matrix.rows(), matrix.cols(), "only a square matrix can be factored");
        let n = matrix.rows();

        // entries by columns, the diagonal always among them
        let mut count = vec![0; n + 1];
        let mut has_diagonal = vec![false; n];
        for (i, j, _) in matrix.iter() {
            count[j + 1] += 1;
            has_diagonal[j] |= i == j;
        }
        for j in 0..n {
            count[j + 1] += usize::from(!has_diagonal[j]);
        }
        for j in 0..n {
            count[j + 1] += count[j];
        }
        let mut next = count.clone();
        let (mut row, mut source) = (vec![0; count[n]], vec![NONE; count[n]]);
        let mut k = 0;
        for i in 0..n {
            // rows come in order, so the rows of each column do too
            if !has_diagonal[i] {
                row[next[i]] = i;
                next[i] += 1;
            }
            for entry in matrix.row(i) {
                row[next[entry.col]] = i;
                source[next[entry.col]] = k;
                next[entry.col] += 1;
                k += 1;
            }
        }
        let pattern = SymbolicSparseColMat::new_checked(n, n, count, None, row);

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
        let value = vec![0.0; source.len()];
        SparseFactor { pattern, source, value, factors, memory: MemBuffer::new(scratch) }
    }

    /// Factors the matrix whose entry number `k`, row by row, is `value(k)`; `added(i)` stands on
    /// the diagonal of row `i` where the pattern had nothing.
    pub fn factor_with(
        &mut self,
        value: impl Fn(usize) -> f64,
        added: impl Fn(usize) -> f64,
    ) -> Result<(), Singular> {
        let rows = self.pattern.row_idx();
        for (k, &source) in self.source.iter().enumerate() {
            self.value[k] = if source == NONE { added(rows[k]) } else { value(source) };
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

    /// Factors `matrix`, which has the pattern given to `new`.
    pub fn factor(&mut self, matrix: &Sparse) -> Result<(), Singular> {
        self.factor_with(|k| matrix.entries()[k].value, |_| 0.0)
    }

    /// `x ← A⁻¹ x`, with the factors of the last successful call.
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
