//! What a singular matrix does not reach.

use crate::Matrix;
use crate::vector::{axpy, dot, norm_inf, norm2};

/// Columns that keep less than this share of their length are combinations of the others.
const RANK: f64 = 1e-12;

/// The orthogonal projector `Π` on the complement of the range of a square matrix: `Π M = 0`.
/// Nothing where `M` is regular.
///
/// The range gets an orthonormal basis `Q` by Gram–Schmidt, largest column first, each one
/// twice; then `Π = I − Q Qᵀ`.
pub fn left_null_projector(M: &Matrix) -> Option<Matrix> {
    let n = M.rows();
    let scale = norm_inf(M.data());
    let columns = M.transpose();
    let mut left: Vec<Vec<f64>> = (0..n).map(|j| columns.row(j).to_vec()).collect();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    while let Some(largest) =
        (0..left.len()).max_by(|&i, &j| norm2(&left[i]).total_cmp(&norm2(&left[j])))
    {
        let mut column = left.swap_remove(largest);
        for _ in 0..2 {
            for q in &basis {
                axpy(-dot(q, &column), q, &mut column);
            }
        }
        let length = norm2(&column);
        if !(length > RANK * scale) {
            break;
        }
        column.iter_mut().for_each(|x| *x /= length);
        for other in &mut left {
            axpy(-dot(&column, other), &column, other);
        }
        basis.push(column);
    }
    if basis.len() == n {
        return None;
    }
    let mut projector = Matrix::identity(n);
    for q in &basis {
        for i in 0..n {
            for j in 0..n {
                projector[(i, j)] -= q[i] * q[j];
            }
        }
    }
    Some(projector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_matrices_have_none() {
        assert_eq!(left_null_projector(&Matrix::identity(3)), None);
        assert_eq!(left_null_projector(&Matrix::from([[1e-9, 0.0], [0.0, 1e-3]])), None);
    }

    #[test]
    fn zero_rows_are_found_exactly() {
        let M = Matrix::diagonal(&[2.0, 0.0, 1e-6, 0.0]);
        assert_eq!(left_null_projector(&M), Some(Matrix::diagonal(&[0.0, 1.0, 0.0, 1.0])));
        assert_eq!(left_null_projector(&Matrix::zeros(2, 2)), Some(Matrix::identity(2)));
    }

    #[test]
    fn rows_that_depend_on_each_other_are_found() {
        let M = Matrix::from([[1.0, 2.0], [2.0, 4.0]]);
        let projector = left_null_projector(&M).unwrap();
        assert!(norm_inf(projector.mul(&M).data()) < 1e-14);
        let twice = projector.mul(&projector);
        for (a, b) in twice.data().iter().zip(projector.data()) {
            assert!((a - b).abs() < 1e-14);
        }
    }
}
