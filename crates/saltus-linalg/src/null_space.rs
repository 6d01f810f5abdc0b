//! What a singular matrix does not reach.

use crate::Matrix;
use crate::vector::{axpy, dot, norm_inf, norm2};

/// Columns that keep less than this share of their length are combinations of the others.
const RANK: f64 = 1e-12;

/// A projector `Π` with `Π M = 0` and the largest possible rank: what it leaves of an equation
/// `M ẋ = f` is algebraic. Nothing where `M` is regular.
///
/// Masses of very different sizes are no reason to call `M` singular, so its rows and columns
/// are first brought to size 1: `R = D M E`. The range of `R` gets an orthonormal basis `Q` by
/// Gram–Schmidt, longest column first, each one twice; then `Π = D⁻¹ (I − Q Qᵀ) D`.
pub fn left_null_projector(M: &Matrix) -> Option<Matrix> {
    let n = M.rows();
    // powers of two: scaling is exact
    let scale = |size: f64| if size > 0.0 { (-size.log2()).round().exp2() } else { 1.0 };
    let D: Vec<f64> = (0..n).map(|i| scale(norm_inf(M.row(i)))).collect();
    let mut left: Vec<Vec<f64>> = (0..n)
        .map(|j| {
            let mut column: Vec<f64> = (0..n).map(|i| D[i] * M[(i, j)]).collect();
            let E = scale(norm_inf(&column));
            column.iter_mut().for_each(|x| *x *= E);
            column
        })
        .collect();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let longest = |left: &[Vec<f64>]| {
        (0..left.len()).max_by(|&i, &j| norm2(&left[i]).total_cmp(&norm2(&left[j])))
    };
    while let Some(next) = longest(&left) {
        let mut column = left.swap_remove(next);
        for _ in 0..2 {
            for q in &basis {
                axpy(-dot(q, &column), q, &mut column);
            }
        }
        let length = norm2(&column);
        if !(length > RANK) {
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
    for i in 0..n {
        for j in 0..n {
            for q in &basis {
                projector[(i, j)] -= q[i] * q[j];
            }
            projector[(i, j)] *= D[j] / D[i];
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
        // a picofarad beside a kilogram, in either form
        assert_eq!(left_null_projector(&Matrix::diagonal(&[1e-13, 1.0, 1e9])), None);
        assert_eq!(left_null_projector(&Matrix::from([[1.0, 1.0], [1e-13, 2e-13]])), None);
        assert_eq!(left_null_projector(&Matrix::from([[1.0, 1e-13], [1.0, 2e-13]])), None);
    }

    #[test]
    fn zero_rows_are_found_exactly() {
        let M = Matrix::diagonal(&[2.0, 0.0, 1e-14, 0.0]);
        assert_eq!(left_null_projector(&M), Some(Matrix::diagonal(&[0.0, 1.0, 0.0, 1.0])));
        assert_eq!(left_null_projector(&Matrix::zeros(2, 2)), Some(Matrix::identity(2)));
    }

    #[test]
    fn rows_that_depend_on_each_other_are_found() {
        for M in [[[1.0, 2.0], [2.0, 4.0]], [[3.0, 1.0], [6.0, 2.0]]].map(Matrix::from) {
            let projector = left_null_projector(&M).unwrap();
            assert!(norm_inf(projector.mul(&M).data()) < 1e-14);
            let twice = projector.mul(&projector);
            for (a, b) in twice.data().iter().zip(projector.data()) {
                assert!((a - b).abs() < 1e-14);
            }
        }
    }
}
