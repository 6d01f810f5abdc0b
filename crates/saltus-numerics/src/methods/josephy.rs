//! Newton's method of Josephy for problems whose map is a function.
//!
//! The map is replaced by its tangent and the sets are kept, so that each step is a problem with a
//! matrix, solved by the portfolio:
//!
//! ```text
//! w = F′(zₖ) (z − zₖ) + F(zₖ) + q   with the laws   →  z,      zₖ₊₁ = zₖ + t (z − zₖ)        (1)
//! ```
//!
//! `t` is halved until the residual falls. Where the tangent problem has no solution, its matrix
//! gets a multiple of the identity, as in the proximal point method. Near a regular solution the
//! convergence is quadratic. Works for every set.
//! Reference: Josephy, *Newton's method for generalized equations*, MRC report 1965, 1979.

use super::{Method, Workspace};
use crate::residual::residual;
use crate::{
    Attempt, AutoSettings, Block, NumericsError, Operator, Problem, Report, Set, Solver, Status,
};
use saltus_linalg::Matrix;

/// Steps from one start.
const STEPS: usize = 60;
/// Multiples of the identity, relative to the largest entry of the matrix.
const SHIFTS: [f64; 4] = [0.0, 1e-6, 1e-2, 1.0];
/// Shortest step, as a power of one half.
const HALVINGS: usize = 12;

/// Solves from the guess in `z`, then from other starts; leaves the best point in `z` and `w`.
pub(super) fn solve(
    settings: &AutoSettings,
    problem: &Problem,
    z: &mut [f64],
    w: &mut [f64],
    attempts: &mut Vec<Attempt>,
) -> Result<Report, NumericsError> {
    attempts.clear();
    let mut best = z.to_vec();
    let mut least = residual(problem, z, w);
    let mut iterations = 0;
    // the guess, then ones, where the Jacobian of a polynomial map is rarely singular
    for start in [None, Some(1.0), Some(0.1), Some(10.0)] {
        if let Some(value) = start {
            z.fill(value);
        }
        let report = descend(settings, problem, z, w, &mut iterations)?;
        attempts.push(Attempt {
            method: report.method,
            status: report.status,
            residual: report.residual,
        });
        if report.residual < least.value || least.value.is_nan() {
            least.value = report.residual;
            best.copy_from_slice(z);
        }
        if report.status == Status::Solved || iterations >= settings.max_iter {
            break;
        }
    }
    z.copy_from_slice(&best);
    let last = residual(problem, z, w);
    let status = match last.value <= settings.tol {
        true => Status::Solved,
        false if last.value.is_finite() => Status::MaxIter,
        false => Status::Diverged,
    };
    Ok(Report { status, iterations, residual: last.value, worst: last.worst, method: "josephy" })
}

/// Equation (1) from one start.
fn descend(
    settings: &AutoSettings,
    problem: &Problem,
    z: &mut [f64],
    w: &mut [f64],
    iterations: &mut usize,
) -> Result<Report, NumericsError> {
    let Operator::Function(function) = problem.matrix() else {
        let what = "a linear map";
        return Err(NumericsError::Unsupported { method: "josephy", what });
    };
    let n = problem.len();
    let mut tangent = Tangent::new(problem);
    let mut jacobian = Matrix::zeros(n, n);
    let mut trial = vec![0.0; n];
    let mut now = residual(problem, z, w);
    let mut status = Status::MaxIter;
    for _ in 0..STEPS {
        if now.value <= settings.tol {
            status = Status::Solved;
            break;
        }
        if !now.value.is_finite() {
            status = Status::Diverged;
            break;
        }
        if *iterations >= settings.max_iter {
            break;
        }
        *iterations += 1;
        function.0.jacobian(z, &mut jacobian);
        let mut moved = false;
        for shift in SHIFTS {
            let Some(answer) = tangent.solve(&jacobian, shift, z, w)? else { continue };
            let mut length = 1.0;
            for _ in 0..HALVINGS {
                for i in 0..n {
                    trial[i] = z[i] + length * (answer[i] - z[i]);
                }
                let next = residual(problem, &trial, w);
                if next.value <= (1.0 - 1e-4 * length) * now.value {
                    z.copy_from_slice(&trial);
                    now = next;
                    moved = true;
                    break;
                }
                length *= 0.5;
            }
            if moved {
                break;
            }
            problem.eval(z, w);
        }
        if !moved {
            break;
        }
    }
    let last = residual(problem, z, w);
    let (residual, worst) = (last.value, last.worst);
    Ok(Report { status, iterations: *iterations, residual, worst, method: "josephy" })
}

/// The problem with the tangent of its map.
struct Tangent {
    blocks: Vec<Block>,
    workspace: Option<Workspace>,
}

impl Tangent {
    fn new(problem: &Problem) -> Tangent {
        let mut blocks: Vec<Block> = Vec::new();
        problem.for_each_block(|_, set: &Set, size| {
            blocks.push(Block { size, set: set.clone() });
        });
        let solver =
            Solver::Auto(AutoSettings { tol: 1e-12, max_iter: 2000, ..AutoSettings::default() });
        Tangent { blocks, workspace: Workspace::new(solver).ok() }
    }

    /// The answer of the tangent problem; `None` where it has none.
    fn solve(
        &mut self,
        jacobian: &Matrix,
        shift: f64,
        z: &[f64],
        w: &[f64],
    ) -> Result<Option<Vec<f64>>, NumericsError> {
        let Some(workspace) = &mut self.workspace else { return Ok(None) };
        let n = z.len();
        let mut matrix = jacobian.clone();
        let largest = saltus_linalg::vector::norm_inf(matrix.data());
        if !largest.is_finite() {
            return Ok(None);
        }
        for i in 0..n {
            matrix[(i, i)] += shift * largest.max(1.0);
        }
        let mut q = vec![0.0; n];
        matrix.apply(z, &mut q);
        q.iter_mut().zip(w).for_each(|(q, w)| *q = w - *q);
        let Ok(tangent) = Problem::new(matrix, q, &self.blocks) else { return Ok(None) };
        let (mut answer, mut v) = (z.to_vec(), vec![0.0; n]);
        let report = match &mut workspace.method {
            Method::Auto(auto) => auto.solve(&tangent, &mut answer, &mut v)?,
            _ => return Ok(None),
        };
        let close = report.status == Status::Solved || report.residual <= 1e-6;
        Ok((close && answer.iter().all(|x| x.is_finite())).then_some(answer))
    }
}
