//! Gauss–Seidel on the matrix as it is stored, for small problems with friction, cones or graphs.
//!
//! ```text
//! b = q_c + Σ_{j≠c} W_cj z_j,     w_c = W_cc z_c + b with the law of the block               (1)
//! ```
//!
//! The same sweep as that of [`GaussSeidel`](super::GaussSeidel), which first cuts the matrix into
//! blocks and measures after each of the first sweeps: on a few contacts that takes longer than the
//! sweeps. Here what a sweep changes tells when it is worth to measure, and whether to go on: where
//! the rate of the first sweeps does not promise an answer soon, others take over.

use crate::residual::{Residual, residual};
use crate::sets::clamp;
use crate::{LARGEST_BLOCK, Operator, Problem, Report, Set, Status};
use saltus_linalg::vector;

/// Most unknowns.
const SMALL: usize = 100;
/// Sweeps after which the rate is judged, and most sweeps.
const TRIAL: usize = 6;
const MOST: usize = 40;

/// Whether a problem is small enough, of the right kind, and its blocks short.
pub(super) fn is_small(problem: &Problem) -> bool {
    problem.matrix().is_matrix()
        && problem.len() <= SMALL
        && problem.placed().iter().all(|block| block.size <= LARGEST_BLOCK)
}

/// Sweeps from the guess while they promise an answer; leaves the last point in `z`. `None` where a
/// diagonal is not positive.
pub(super) fn solve(
    problem: &Problem,
    guess: &[f64],
    z: &mut [f64],
    w: &mut [f64],
    tol: f64,
) -> Option<Report> {
    z.copy_from_slice(guess);
    let q = vector::norm2(problem.q());
    let (mut small, mut last) = (tol, f64::INFINITY);
    let mut sweeps = 0;
    loop {
        let change = sweep(problem, z)?.relative(z, q);
        sweeps += 1;
        // one sweep may be all: contacts that do not see each other, or all of them open
        if sweeps == 1 || change <= small {
            let check = residual(problem, z, w);
            if check.value <= tol {
                return Some(report(Status::Solved, sweeps, check));
            }
            small = small.min(0.2 * change);
        }
        // or none: the guess may be an answer that a sweep leads away from
        if sweeps == 1 {
            let check = residual(problem, guess, w);
            if check.value <= tol {
                z.copy_from_slice(guess);
                return Some(report(Status::Solved, 0, check));
            }
        }
        let rate = (change / last).ln();
        let left = if rate < 0.0 { (small / change).ln() / rate } else { f64::INFINITY };
        let is_hopeless = sweeps >= TRIAL && sweeps as f64 + left > MOST as f64;
        if is_hopeless || sweeps == MOST || !change.is_finite() {
            let check = residual(problem, z, w);
            let status = if check.value <= tol { Status::Solved } else { Status::MaxIter };
            return Some(report(status, sweeps, check));
        }
        last = change;
    }
}

fn report(status: Status, iterations: usize, check: Residual) -> Report {
    let (residual, worst) = (check.value, check.worst);
    Report { status, iterations, residual, worst, method: "gauss-seidel" }
}

/// What a sweep changed: `‖Δz‖²` and `‖D Δz‖²`, `D` the diagonal of `W`.
#[derive(Default)]
struct Change {
    z: f64,
    w: f64,
}

impl Change {
    #[inline]
    fn add(&mut self, diagonal: f64, step: f64) {
        self.z += step * step;
        self.w += (diagonal * step).powi(2);
    }

    /// Beside `z` or beside `q`, whichever is less.
    fn relative(&self, z: &[f64], q: f64) -> f64 {
        if self.z == 0.0 {
            return 0.0;
        }
        (self.z.sqrt() / vector::norm2(z)).min(self.w.sqrt() / q)
    }
}

/// Equation (1) for every block in order.
fn sweep(problem: &Problem, z: &mut [f64]) -> Option<Change> {
    let mut change = Change::default();
    let mut next = 0;
    for placed in problem.placed() {
        for i in next..placed.start {
            visit_box(problem, i, z, &mut change)?;
        }
        visit(problem, placed.start, placed.size, &placed.set, z, &mut change)?;
        next = placed.start + placed.size;
    }
    for i in next..z.len() {
        visit_box(problem, i, z, &mut change)?;
    }
    Some(change)
}

/// Equation (1) for an unknown between bounds: `zᵢ ← P(−b / Wᵢᵢ)`.
fn visit_box(problem: &Problem, i: usize, z: &mut [f64], change: &mut Change) -> Option<()> {
    let (lower, upper) = (problem.lower()[i], problem.upper()[i]);
    if lower == upper {
        z[i] = lower;
        return Some(());
    }
    let before = std::mem::take(&mut z[i]);
    let (mut W, mut b) = ([0.0], [0.0]);
    read(problem, i, z, &mut W, &mut b);
    if !(W[0] > 0.0) {
        return None;
    }
    z[i] = clamp(-b[0] / W[0], lower, upper);
    change.add(W[0], z[i] - before);
    Some(())
}

/// Equation (1) for any other block.
fn visit(
    problem: &Problem,
    start: usize,
    size: usize,
    set: &Set,
    z: &mut [f64],
    change: &mut Change,
) -> Option<()> {
    let (mut before, mut b) = ([0.0; LARGEST_BLOCK], [0.0; LARGEST_BLOCK]);
    let mut W = [0.0; LARGEST_BLOCK * LARGEST_BLOCK];
    let (before, b, W) = (&mut before[..size], &mut b[..size], &mut W[..size * size]);
    before.copy_from_slice(&z[start..start + size]);
    z[start..start + size].fill(0.0);
    read(problem, start, z, W, b);
    if !(W[0] > 0.0) {
        return None;
    }
    let z = &mut z[start..start + size];
    z.copy_from_slice(before);
    let _ = set.solve_block(W, b, z);
    for i in 0..size {
        change.add(W[i * size + i], z[i] - before[i]);
    }
    Some(())
}

/// `W_cc` and `b` of the block that starts there, whose own `z` is zero.
#[inline]
fn read(problem: &Problem, start: usize, z: &[f64], W: &mut [f64], b: &mut [f64]) {
    let size = b.len();
    match problem.matrix() {
        Operator::Dense(matrix) => {
            for i in 0..size {
                let row = matrix.row(start + i);
                b[i] = problem.q()[start + i] + vector::dot(row, z);
                W[i * size..(i + 1) * size].copy_from_slice(&row[start..start + size]);
            }
        }
        Operator::Sparse(matrix) => {
            for i in 0..size {
                b[i] = problem.q()[start + i];
                for entry in matrix.row(start + i) {
                    b[i] += entry.value * z[entry.col];
                    if (start..start + size).contains(&entry.col) {
                        W[i * size + entry.col - start] = entry.value;
                    }
                }
            }
        }
        Operator::Global(_) | Operator::Function(_) => b.fill(f64::NAN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Block;
    use saltus_linalg::{Matrix, Sparse};

    /// Two contacts and a free unknown between them.
    fn blocks() -> Vec<Block> {
        let contact = |mu| Block { size: 3, set: Set::Coulomb3 { mu } };
        vec![contact(0.3), Block { size: 1, set: Set::Free }, contact(0.6)]
    }

    fn matrix() -> Matrix {
        let mut matrix = Matrix::zeros(7, 7);
        for i in 0..7 {
            for j in 0..7 {
                matrix[(i, j)] = if i == j { 2.0 } else { 0.3 / (1.0 + i.abs_diff(j) as f64) };
            }
        }
        matrix
    }

    #[test]
    fn dense_and_sparse_alike() {
        let q = vec![-1.0, 0.8, 0.1, 0.5, -2.0, 0.1, -0.2];
        let dense = Problem::new(matrix(), q.clone(), &blocks()).unwrap();
        let sparse = Problem::new(Sparse::from_dense(&matrix()), q, &blocks()).unwrap();
        let (mut z, mut y, mut w) = ([0.0; 7], [0.0; 7], [0.0; 7]);
        let first = solve(&dense, &[0.0; 7], &mut z, &mut w, 1e-10).unwrap();
        let second = solve(&sparse, &[0.0; 7], &mut y, &mut w, 1e-10).unwrap();
        assert_eq!((first.status, second.status), (Status::Solved, Status::Solved));
        assert_eq!(first.iterations, second.iterations);
        for i in 0..7 {
            assert!((z[i] - y[i]).abs() < 1e-12);
        }
        // and from an answer there is nothing to do
        assert!(solve(&dense, &y, &mut z, &mut w, 1e-10).unwrap().iterations <= 1);
    }

    #[test]
    fn a_row_without_a_diagonal_is_left_to_others() {
        let mut matrix = matrix();
        matrix[(3, 3)] = 0.0;
        let problem = Problem::new(matrix, vec![-1.0; 7], &blocks()).unwrap();
        assert_eq!(solve(&problem, &[0.0; 7], &mut [0.0; 7], &mut [0.0; 7], 1e-8), None);
    }

    #[test]
    fn slow_sweeps_end_early() {
        // contacts that feel each other as much as themselves
        let mut matrix = Matrix::zeros(8, 8);
        for i in 0..8 {
            for j in 0..8 {
                matrix[(i, j)] = if i % 2 == j % 2 { 1.0 } else { 0.0 };
            }
            matrix[(i, i)] += 1e-6;
        }
        let q = vec![-1.0, 0.2, -1.1, 0.1, -0.9, 0.3, -1.0, 0.0];
        let problem = Problem::friction2d(matrix, q, &[0.3; 4]).unwrap();
        let report = solve(&problem, &[0.0; 8], &mut [0.0; 8], &mut [0.0; 8], 1e-12).unwrap();
        assert!(report.status == Status::MaxIter && report.iterations <= MOST);
        assert!(report.residual > 1e-12);
    }
}
