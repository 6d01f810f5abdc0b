//! Whether a sparse symmetric matrix is positive definite.

use crate::Sparse;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::cholesky::factorize_symbolic_cholesky;
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Par, Side};

/// Whether `A = L Lᵀ` with positive pivots, to working precision. Only the lower half of `A` is read.
pub fn is_positive_definite(matrix: &Sparse) -> bool {
    let n = matrix.rows();
    if n != matrix.cols() || (0..n).any(|i| !(matrix.get(i, i) > 0.0)) {
        return false;
    }
    // the rows of the lower half are the columns of the upper one
    let (mut start, mut index, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..n {
        for entry in matrix.row(i).iter().take_while(|entry| entry.col <= i) {
            index.push(entry.col);
            values.push(entry.value);
        }
        start.push(index.len());
    }
    if !crate::vector::all_finite(&values) {
        return false;
    }
    let pattern = SymbolicSparseColMat::new_checked(n, n, start, None, index);
    // out of memory is the only failure of a symbolic analysis
    let Ok(symbolic) = factorize_symbolic_cholesky(
        pattern.as_ref(),
        Side::Upper,
        Default::default(),
        Default::default(),
    ) else {
        return false;
    };
    let scratch = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
    let (mut memory, mut factors) = (MemBuffer::new(scratch), vec![0.0; symbolic.len_val()]);
    let matrix = SparseColMatRef::new(pattern.as_ref(), &values);
    symbolic
        .factorize_numeric_llt(
            &mut factors,
            matrix,
            Side::Upper,
            Default::default(),
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        )
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;

    #[test]
    fn signs_of_the_eigenvalues_decide() {
        let definite =
            |rows: [[f64; 3]; 3]| is_positive_definite(&Sparse::from_dense(&Matrix::from(rows)));
        assert!(definite([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]]));
        assert!(!definite([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]));
        assert!(!definite([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]));
        assert!(!definite([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]]));
        assert!(is_positive_definite(&Sparse::default()));
        // −u″ on a line: all eigenvalues are positive, the least of them by little
        let n = 2000;
        let mut line: Vec<(usize, usize, f64)> = (0..n).map(|i| (i, i, 2.0)).collect();
        line.extend((1..n).flat_map(|i| [(i, i - 1, -1.0), (i - 1, i, -1.0)]));
        assert!(is_positive_definite(&Sparse::from_triplets(n, n, &line)));
        let pi = std::f64::consts::PI;
        let least = 2.0 - 2.0 * (pi / (n + 1) as f64).cos();
        for (shift, expected) in [(0.99 * least, true), (1.01 * least, false)] {
            let mut shifted = line.clone();
            shifted.extend((0..n).map(|i| (i, i, -shift)));
            assert_eq!(is_positive_definite(&Sparse::from_triplets(n, n, &shifted)), expected);
        }
    }
}
