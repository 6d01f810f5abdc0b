//! A few sweeps of Gauss–Seidel over boxes, on the matrix as it is stored: a guess of the mode.
//!
//! ```text
//! zᵢ ← P(zᵢ − (qᵢ + Wᵢ z) / Wᵢᵢ)                                                          (1)
//! ```
//!
//! A sweep costs one product with `W`, far less than the answer of a mode. They stop as soon as no
//! unknown changes sides.

use crate::sets::clamp;
use crate::{Operator, Problem};
use saltus_linalg::{Matrix, Sparse, vector};

/// Most sweeps.
const MOST: usize = 10;
/// Growth of what a sweep changes, beside the sweep before, that is taken for divergence.
const GROWTH: f64 = 1e3;

/// What one sweep did.
#[derive(Default)]
struct Sweep {
    change: f64,  // ‖D Δz‖², D the diagonal of W
    moved: usize, // unknowns that changed sides
}

/// Sweeps from the guess in `z`; false where a row has no diagonal, or the sweeps diverge.
pub(super) fn sweep(problem: &Problem, z: &mut [f64]) -> bool {
    for (z, (&lower, &upper)) in z.iter_mut().zip(problem.lower().iter().zip(problem.upper())) {
        *z = clamp(*z, lower, upper);
    }
    let mut last = f64::INFINITY;
    for number in 0..MOST {
        let done = match problem.matrix() {
            Operator::Dense(W) => dense(W, problem, z),
            Operator::Sparse(W) => sparse(W, problem, z),
            _ => None,
        };
        let Some(Sweep { change, moved }) = done else { return false };
        if !(change <= GROWTH * last) {
            return false;
        }
        if moved == 0 && number > 0 {
            return true;
        }
        last = change;
    }
    true
}

/// Equation (1) for every row; `None` where a diagonal is not positive.
fn dense(W: &Matrix, problem: &Problem, z: &mut [f64]) -> Option<Sweep> {
    let mut sweep = Sweep::default();
    for i in 0..z.len() {
        let row = W.row(i);
        let w = problem.q()[i] + vector::dot(row, z);
        sweep.step(problem, i, row[i], w, &mut z[i])?;
    }
    Some(sweep)
}

/// The same for a sparse matrix.
fn sparse(W: &Sparse, problem: &Problem, z: &mut [f64]) -> Option<Sweep> {
    let mut sweep = Sweep::default();
    for i in 0..z.len() {
        let (mut w, mut diagonal) = (problem.q()[i], 0.0);
        for entry in W.row(i) {
            w += entry.value * z[entry.col];
            if entry.col == i {
                diagonal = entry.value;
            }
        }
        sweep.step(problem, i, diagonal, w, &mut z[i])?;
    }
    Some(sweep)
}

impl Sweep {
    /// Equation (1) for one row.
    #[inline]
    fn step(
        &mut self,
        problem: &Problem,
        i: usize,
        diagonal: f64,
        w: f64,
        z: &mut f64,
    ) -> Option<()> {
        let (lower, upper) = (problem.lower()[i], problem.upper()[i]);
        if lower == upper {
            return Some(());
        }
        if !(diagonal > 0.0) {
            return None;
        }
        let next = clamp(*z - w / diagonal, lower, upper);
        let side = |z: f64| (z <= lower, z >= upper);
        self.moved += usize::from(side(next) != side(*z));
        self.change += (diagonal * (next - *z)).powi(2);
        *z = next;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangular_matrix_is_solved_by_one_sweep() {
        let matrix = Matrix::from([[1.0, 0.0, 0.0], [2.0, 1.0, 0.0], [2.0, 2.0, 1.0]]);
        for matrix in [Operator::from(matrix.clone()), Sparse::from_dense(&matrix).into()] {
            let problem = Problem::lcp(matrix, vec![-1.0, -1.0, -1.0]).unwrap();
            let mut z = [0.0; 3];
            assert!(sweep(&problem, &mut z));
            assert_eq!(z, [1.0, 0.0, 0.0]);
        }
    }

    #[test]
    fn what_cannot_be_swept_is_told() {
        let diverges = Matrix::from([[1.0, 1e3], [1e3, 1.0]]);
        let bounds = (&[f64::NEG_INFINITY; 2], &[f64::INFINITY; 2]);
        let problem = Problem::boxed(diverges, vec![-1.0, 1.0], bounds.0, bounds.1).unwrap();
        assert!(!sweep(&problem, &mut [0.0; 2]));
        let game = Matrix::from([[0.0, 1.0], [1.0, 0.0]]);
        assert!(!sweep(&Problem::lcp(game, vec![-1.0, -1.0]).unwrap(), &mut [0.0; 2]));
    }
}
