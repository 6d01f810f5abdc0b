//! Real modal form of a square matrix.
//!
//! ```text
//! A V = V J,    J: blocks (λ), and (α ω; −ω α) of pairs α ± iω                             (1)
//! ```
//!
//! The columns of a pair are real and imaginary part of its eigenvector. Rows and columns are balanced
//! by powers of two first, so that units do not count.

use crate::{DenseLu, Matrix};
use faer::Mat;

/// Equation (1), with `W = V⁻¹`.
#[derive(Debug, Clone)]
pub struct Eigen {
    /// The blocks of `J`, in the order of the columns.
    pub blocks: Vec<EigenBlock>,
    /// `V`, by columns of size 1 in the balanced coordinates.
    pub V: Matrix,
    /// `V⁻¹`.
    pub W: Matrix,
    /// About the condition of `V` in the balanced coordinates.
    pub condition: f64,
}

/// A block of `J`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EigenBlock {
    /// Its first column.
    pub first: usize,
    /// Real part.
    pub alpha: f64,
    /// Imaginary part; zero of a real eigenvalue, else positive, and the block has two columns.
    pub omega: f64,
}

/// Rounds of balancing, at most.
const ROUNDS: usize = 32;

/// The real modal form of a square matrix; nothing where it has none, or the iteration fails.
pub fn eigen(A: &Matrix) -> Option<Eigen> {
    let n = A.rows();
    if !A.is_finite() || n != A.cols() {
        return None;
    }
    let scale = balance(A);
    let balanced = Mat::from_fn(n, n, |i, j| A[(i, j)] * scale[j] / scale[i]);
    if !balanced.is_all_finite() {
        return None;
    }
    let found = balanced.eigen().ok()?;
    let (values, vectors) = (found.S().column_vector(), found.U());
    let mut blocks = Vec::new();
    let mut V = Matrix::zeros(n, n);
    let mut column = 0;
    for k in 0..n {
        let (alpha, omega) = (values[k].re, values[k].im);
        if omega < 0.0 {
            continue; // its partner has both columns
        }
        if column + usize::from(omega > 0.0) >= n {
            return None;
        }
        let size =
            (0..n).map(|i| vectors[(i, k)].re.hypot(vectors[(i, k)].im).powi(2)).sum::<f64>();
        // of a real one the vector may have a phase
        let largest = (0..n).map(|i| vectors[(i, k)]);
        let largest = largest.max_by(|a, b| a.re.hypot(a.im).total_cmp(&b.re.hypot(b.im)))?;
        let imaginary = omega == 0.0 && largest.im.abs() > largest.re.abs();
        for i in 0..n {
            let (re, im) = (vectors[(i, k)].re, vectors[(i, k)].im);
            V[(i, column)] = if imaginary { im } else { re } / size.sqrt();
            if omega > 0.0 {
                V[(i, column + 1)] = im / size.sqrt();
            }
        }
        blocks.push(EigenBlock { first: column, alpha, omega });
        column += if omega > 0.0 { 2 } else { 1 };
    }
    if column != n {
        return None;
    }
    let mut W = DenseLu::new(&V).ok()?.solve_matrix(&Matrix::identity(n));
    let condition = norm(&V) * norm(&W);
    for i in 0..n {
        for k in 0..n {
            V[(i, k)] *= scale[i];
            W[(k, i)] /= scale[i];
        }
    }
    (V.is_finite() && W.is_finite()).then_some(Eigen { blocks, V, W, condition })
}

/// Powers of two that make rows and columns of about the same size.
fn balance(A: &Matrix) -> Vec<f64> {
    let n = A.rows();
    let mut scale = vec![1.0_f64; n];
    for _ in 0..ROUNDS {
        let mut done = true;
        for i in 0..n {
            let (mut row, mut column) = (0.0, 0.0);
            for j in (0..n).filter(|&j| j != i) {
                row += (A[(i, j)] * scale[j] / scale[i]).abs();
                column += (A[(j, i)] * scale[i] / scale[j]).abs();
            }
            if row > 0.0 && column > 0.0 {
                let factor = (0.5 * (row / column).log2()).round().exp2();
                if factor != 1.0 {
                    scale[i] *= factor;
                    done = false;
                }
            }
        }
        if done {
            break;
        }
    }
    scale
}

/// The root of the sum of squares.
fn norm(A: &Matrix) -> f64 {
    A.data().iter().map(|a| a * a).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `A V = V J` and `V W = 1`.
    fn check(A: &Matrix) -> Eigen {
        let n = A.rows();
        let form = eigen(A).unwrap();
        let mut J = Matrix::zeros(n, n);
        for &EigenBlock { first, alpha, omega } in &form.blocks {
            J[(first, first)] = alpha;
            if omega > 0.0 {
                J[(first + 1, first + 1)] = alpha;
                J[(first, first + 1)] = omega;
                J[(first + 1, first)] = -omega;
            }
        }
        let (left, right) = (A.mul(&form.V), form.V.mul(&J));
        let unit = form.V.mul(&form.W);
        for i in 0..n {
            for j in 0..n {
                let size: f64 = (0..n).map(|k| (A[(i, k)] * form.V[(k, j)]).abs()).sum();
                assert!((left[(i, j)] - right[(i, j)]).abs() <= 1e-12 * (1.0 + size));
                assert!((unit[(i, j)] - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
        form
    }

    #[test]
    fn a_pair_and_a_real_one() {
        let form = check(&Matrix::from([[-1.0, 3.0, 0.0], [-3.0, -1.0, 1.0], [0.0, 0.0, -4.0]]));
        let pair = form.blocks.iter().find(|block| block.omega > 0.0).unwrap();
        assert!((pair.alpha + 1.0).abs() < 1e-14 && (pair.omega - 3.0).abs() < 1e-14);
        assert_eq!(form.blocks.len(), 2);
    }

    #[test]
    fn units_do_not_count() {
        let mut A = Matrix::from([[-2.0, 1.0, 0.5], [0.3, -1.0, 0.2], [0.1, 0.7, -3.0]]);
        let before = check(&A).condition;
        let units = [1e-9, 1e3, 1e7];
        for i in 0..3 {
            for j in 0..3 {
                A[(i, j)] *= units[i] / units[j];
            }
        }
        let after = eigen(&A).unwrap();
        assert!(after.condition < 4.0 * before);
        let mut rates: Vec<f64> = after.blocks.iter().map(|block| block.alpha).collect();
        rates.sort_by(f64::total_cmp);
        assert!((rates.iter().sum::<f64>() + 6.0).abs() < 1e-12);
    }

    #[test]
    fn a_chain_of_integrators_is_ill_conditioned() {
        let form = eigen(&Matrix::from([[0.0, 1.0], [0.0, 0.0]]));
        assert!(form.is_none_or(|form| form.condition > 1e8));
    }
}
