//! The portfolio: cheapest first, the next one where an answer does not pass the check.
//!
//! 1. [`Pivoting`] from the last mode: one solve where little has changed.
//! 2. [`Lemke`], up to `LEMKE` unknowns: positive semidefinite and degenerate problems.
//! 3. [`Enumeration`] up to `MODES` modes: whatever is left, if it is small.
//! 4. [`GaussSeidel`] where the diagonal allows it.
//!
//! The mode of an answer found by 2 to 4 becomes the first guess of the next call.

use super::cones::Cones;
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
    cones: Cones,
    best: Vec<f64>, // the z with the least residual so far
    attempts: Vec<Attempt>,
}

/// What comes after pivoting, in this order.
enum Fallback {
    Lemke,
    Enumeration,
    GaussSeidel,
}

impl Auto {
    /// The portfolio with these settings.
    pub fn new(settings: AutoSettings) -> Self {
        let cones = Cones::new(settings.clone());
        let AutoSettings { tol, max_iter } = settings;
        let cache = PivotingSettings::default().cache;
        Auto {
            pivoting: Pivoting::new(PivotingSettings { tol, max_iter, cache }),
            lemke: Lemke::new(LemkeSettings { tol, max_iter }),
            gauss_seidel: GaussSeidel::new(GaussSeidelSettings {
                tol,
                max_iter,
                ..Default::default()
            }),
            enumeration: Enumeration::new(EnumerationSettings { tol, max_iter: MODES }),
            cones,
            best: Vec::new(),
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
        if !problem.is_boxed() || !problem.matrix().is_matrix() {
            return self.cones.solve(problem, z, w, &mut self.attempts);
        }
        self.attempts.clear();
        // where pivoting has not found the mode by then, it goes round in circles
        let report = self.pivoting.run(problem, z, w, 100 + 2 * problem.len());
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
        let (mut best, mut iterations) = (first, first.iterations);
        self.keep(z);
        for method in [Fallback::Lemke, Fallback::Enumeration, Fallback::GaussSeidel] {
            let report = match method {
                Fallback::Lemke if problem.len() > LEMKE => continue,
                Fallback::Lemke => self.lemke.solve(problem, z, w),
                Fallback::Enumeration => self.enumeration.solve(problem, z, w),
                Fallback::GaussSeidel => {
                    z.fill(0.0);
                    self.gauss_seidel.solve(problem, z, w)
                }
            };
            // that a method cannot work on a problem is no failure of the portfolio
            let Ok(report) = report else { continue };
            self.note(report);
            iterations += report.iterations;
            // a proof that there is no solution ends the search as well
            let decided = matches!(report.status, Status::Solved | Status::Infeasible);
            if decided || !(best.residual <= report.residual) {
                best = report;
                self.keep(z);
            }
            if decided {
                break;
            }
        }
        if best.status == Status::Solved {
            match self.lemke.mode() {
                mode if best.method == "lemke" && mode.len() == problem.len() => {
                    self.pivoting.start_from(mode.iter().copied());
                }
                _ => self.pivoting.adopt(problem, z, w),
            }
        } else {
            z.copy_from_slice(&self.best);
            let left = residual(problem, z, w);
            (best.residual, best.worst) = (left.value, left.worst);
            self.pivoting.forget();
        }
        Ok(Report { iterations, ..best })
    }

    fn keep(&mut self, z: &[f64]) {
        self.best.clear();
        self.best.extend_from_slice(z);
    }

    fn note(&mut self, report: Report) {
        let Report { method, status, residual, .. } = report;
        self.attempts.push(Attempt { method, status, residual });
    }
}
