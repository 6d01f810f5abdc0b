//! The portfolio: cheapest first, the next one where an answer does not pass the check.
//!
//! 1. [`Pivoting`] from the last mode: one solve where little has changed.
//! 2. [`Lemke`], up to `LEMKE` unknowns: positive semidefinite and degenerate problems.
//! 3. [`GaussSeidel`] where the diagonal allows it.
//! 4. [`Enumeration`] up to `MODES` modes: whatever is left, if it is small.
//!
//! The mode of an answer found by 2 to 4 becomes the first guess of the next call.

use super::{Enumeration, GaussSeidel, Lemke, Pivoting};
use crate::residual::residual;
use crate::{
    Attempt, AutoSettings, EnumerationSettings, GaussSeidelSettings, LemkeSettings, NumericsError,
    PivotingSettings, Problem, Report, Status,
};

/// Largest problem given to Lemke's method, whose tableau is dense.
const LEMKE: usize = 600;
/// Most modes given to enumeration.
const MODES: usize = 1 << 16;

/// The portfolio and what its methods keep between calls.
#[derive(Debug)]
pub struct Auto {
    pivoting: Pivoting,
    lemke: Lemke,
    gauss_seidel: GaussSeidel,
    enumeration: Enumeration,
    attempts: Vec<Attempt>,
}

impl Auto {
    /// The portfolio with these settings.
    pub fn new(settings: AutoSettings) -> Self {
        let AutoSettings { tol, max_iter } = settings;
        // where pivoting has not found the mode by then, it goes round in circles
        let pivots = max_iter.min(200);
        let cache = PivotingSettings::default().cache;
        let relaxation = GaussSeidelSettings::default().relaxation;
        Auto {
            pivoting: Pivoting::new(PivotingSettings { tol, max_iter: pivots, cache }),
            lemke: Lemke::new(LemkeSettings { tol, max_iter }),
            gauss_seidel: GaussSeidel::new(GaussSeidelSettings { tol, max_iter, relaxation }),
            enumeration: Enumeration::new(EnumerationSettings { tol, max_iter: MODES }),
            attempts: Vec::with_capacity(4),
        }
    }

    /// Solves from the mode of the last call, or from the guess in `z` in the first one;
    /// leaves the answer in `z` and `w = W z + q`.
    #[inline]
    pub fn solve(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        self.attempts.clear();
        let report = self.pivoting.solve(problem, z, w)?;
        self.note(report);
        if report.status == Status::Solved {
            return Ok(report);
        }
        self.fall_back(problem, z, w, report)
    }

    /// What the last call tried.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// Forgets the mode of the last call.
    pub fn forget(&mut self) {
        self.pivoting.forget();
    }

    #[cold]
    fn fall_back(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        first: Report,
    ) -> Result<Report, NumericsError> {
        let mut best = first;
        let mut iterations = first.iterations;
        if problem.len() <= LEMKE {
            let report = self.lemke.solve(problem, z, w)?;
            self.note(report);
            iterations += report.iterations;
            best = self.better(best, report);
        }
        // a proof that there is no solution ends the search
        if !matches!(best.status, Status::Solved | Status::Infeasible) {
            z.fill(0.0);
            if let Ok(report) = self.gauss_seidel.solve(problem, z, w) {
                self.note(report);
                iterations += report.iterations;
                best = self.better(best, report);
            }
        }
        if !matches!(best.status, Status::Solved | Status::Infeasible)
            && let Ok(report) = self.enumeration.solve(problem, z, w)
        {
            self.note(report);
            iterations += report.iterations;
            best = self.better(best, report);
        }
        if best.status == Status::Solved {
            self.pivoting.adopt(problem, z, w);
            return Ok(Report { iterations, ..best });
        }
        // z holds what the last method left: measure that, so that the report is about it
        self.pivoting.forget();
        let left = residual(problem, z, w);
        Ok(Report { iterations, residual: left.value, worst: left.worst, ..best })
    }

    fn better(&self, best: Report, report: Report) -> Report {
        let decided = matches!(report.status, Status::Solved | Status::Infeasible);
        if decided || !(best.residual <= report.residual) { report } else { best }
    }

    fn note(&mut self, report: Report) {
        let Report { method, status, residual, .. } = report;
        self.attempts.push(Attempt { method, status, residual });
    }
}
