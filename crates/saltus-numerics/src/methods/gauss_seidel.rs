//! Projected Gauss–Seidel.
//!
//! One sweep visits the unknowns in order and solves each row for its own unknown:
//!
//! ```text
//! zᵢ ← P_[lᵢ, uᵢ](zᵢ − ω (qᵢ + Wᵢ z) / Wᵢᵢ)                                            (1)
//! ```
//!
//! Converges for symmetric positive definite `W` and 0 < ω < 2, and for diagonally dominant
//! `W`. Needs `Wᵢᵢ > 0`. Cost of a sweep: one product with `W`, and one more to measure.
//! Reference: Cottle, Pang, Stone, *The Linear Complementarity Problem*, 1992, ch. 5.

use crate::residual::residual;
use crate::sets::clamp;
use crate::{GaussSeidelSettings, NumericsError, Problem, Report, Status};

/// Projected Gauss–Seidel and the buffers it keeps between calls.
#[derive(Debug)]
pub struct GaussSeidel {
    settings: GaussSeidelSettings,
    scale: Vec<f64>, // ω / Wᵢᵢ
}

impl GaussSeidel {
    /// The method with these settings.
    pub fn new(settings: GaussSeidelSettings) -> Self {
        GaussSeidel { settings, scale: Vec::new() }
    }

    /// Solves from the guess in `z`; leaves the answer in `z` and `w = W z + q`.
    pub fn solve(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        self.prepare(problem, z)?;

        let mut iterations = 0;
        let (status, residual) = loop {
            let residual = residual(problem, z, w);

            // stop: solved, lost, or out of sweeps
            if residual.value <= self.settings.tol {
                break (Status::Solved, residual);
            }
            if !residual.value.is_finite() {
                break (Status::Diverged, residual);
            }
            if iterations == self.settings.max_iter {
                break (Status::MaxIter, residual);
            }

            self.sweep(problem, z);
            iterations += 1;
        };
        let (residual, worst) = (residual.value, residual.worst);
        Ok(Report { status, iterations, residual, worst, method: "gauss-seidel" })
    }

    /// The scales of the rows, and a start within the bounds.
    fn prepare(&mut self, problem: &Problem, z: &mut [f64]) -> Result<(), NumericsError> {
        self.scale.clear();
        for row in 0..problem.len() {
            let (lower, upper) = (problem.lower()[row], problem.upper()[row]);
            z[row] = clamp(z[row], lower, upper);
            let diagonal = problem.matrix().get(row, row);
            if lower < upper && !(diagonal > 0.0) {
                return Err(NumericsError::Diagonal { row, value: diagonal });
            }
            // a fixed unknown stays where it is, whatever its row
            let scale = if lower < upper { self.settings.relaxation / diagonal } else { 0.0 };
            self.scale.push(scale);
        }
        Ok(())
    }

    /// Equation (1), for every row in order.
    fn sweep(&self, problem: &Problem, z: &mut [f64]) {
        for i in 0..problem.len() {
            let w_i = problem.q()[i] + problem.matrix().row_dot(i, z);
            z[i] = clamp(z[i] - self.scale[i] * w_i, problem.lower()[i], problem.upper()[i]);
        }
    }
}
