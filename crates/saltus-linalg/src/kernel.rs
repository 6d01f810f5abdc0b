//! The kernel of a square matrix.

use crate::Matrix;

/// What elimination with complete pivoting says about a matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// Independent vectors that the matrix takes to zero, to the given share of its largest entry.
    pub basis: Vec<Vec<f64>>,
    /// The least pivot that is none of these zeros, relative to the largest; 1 where there is none.
    pub least: f64,
}

/// The vectors that `A` takes to zero: with `P A Q = L U` by complete pivoting, in which pivots below the
/// share `zero` of the first one are zero,
///
/// ```text
/// U = [U₁₁ U₁₂; 0 0],     kernel of A = Q [−U₁₁⁻¹ U₁₂; I]
/// ```
///
/// Rows and columns should be of one size.
pub fn kernel(A: &Matrix, zero: f64) -> Kernel {
    let n = A.cols();
    assert_eq!(A.rows(), n, "the kernel of a square matrix");
    let mut U = A.clone();
    let mut col: Vec<usize> = (0..n).collect();
    let (mut rank, mut first, mut least) = (n, 0.0, 1.0);
    for k in 0..n {
        let (mut row, mut column, mut pivot) = (k, k, 0.0f64);
        for i in k..n {
            for j in k..n {
                let entry = U[(i, j)].abs();
                if entry > pivot {
                    (row, column, pivot) = (i, j, entry);
                }
            }
        }
        if k == 0 {
            first = pivot;
        }
        if !(pivot > zero * first) {
            rank = k;
            break;
        }
        least = pivot / first;
        for j in 0..n {
            let (a, b) = (U[(k, j)], U[(row, j)]);
            (U[(k, j)], U[(row, j)]) = (b, a);
        }
        for i in 0..n {
            let (a, b) = (U[(i, k)], U[(i, column)]);
            (U[(i, k)], U[(i, column)]) = (b, a);
        }
        col.swap(k, column);
        let pivot = U[(k, k)];
        let (above, below) = U.data_mut().split_at_mut((k + 1) * n);
        let pivots = &above[k * n + k + 1..];
        for row in below.chunks_exact_mut(n) {
            let factor = row[k] / pivot;
            if factor != 0.0 {
                row[k + 1..].iter_mut().zip(pivots).for_each(|(x, u)| *x -= factor * u);
            }
        }
    }
    let basis = (rank..n)
        .map(|free| {
            let mut x = vec![0.0; n];
            x[free] = 1.0;
            for i in (0..rank).rev() {
                let sum: f64 = (i + 1..rank).map(|j| U[(i, j)] * x[j]).sum::<f64>() + U[(i, free)];
                x[i] = -sum / U[(i, i)];
            }
            let mut vector = vec![0.0; n];
            x.iter().zip(&col).for_each(|(x, &j)| vector[j] = *x);
            vector
        })
        .collect();
    Kernel { basis, least }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::norm_inf;

    #[test]
    fn regular_matrices_have_none() {
        assert_eq!(kernel(&Matrix::identity(3), 1e-12), Kernel { basis: vec![], least: 1.0 });
        let found = kernel(&Matrix::from([[0.0, 2.0], [1.0, 0.0]]), 1e-12);
        assert!(found.basis.is_empty() && found.least == 0.5);
    }

    #[test]
    fn products_have_the_kernel_of_their_rank() {
        let mut state = 7u64;
        let mut number = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        for n in [1, 4, 9, 20] {
            for rank in [0, 1, n / 2, n] {
                let (mut a, mut b) = (Matrix::zeros(n, rank), Matrix::zeros(rank, n));
                a.data_mut().iter_mut().for_each(|x| *x = number());
                b.data_mut().iter_mut().for_each(|x| *x = number());
                let A = if rank == 0 { Matrix::zeros(n, n) } else { a.mul(&b) };
                let Kernel { basis, least } = kernel(&A, 1e-11);
                assert_eq!(basis.len(), n - rank.min(n), "{n} {rank}");
                assert!(least > 1e-8);
                let mut image = vec![0.0; n];
                for vector in &basis {
                    A.apply(vector, &mut image);
                    assert!(norm_inf(&image) <= 1e-10 * norm_inf(vector));
                }
            }
        }
    }
}
