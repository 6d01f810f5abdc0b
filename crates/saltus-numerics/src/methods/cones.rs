//! The portfolio for problems with sets that are no boxes: friction, cones, graphs.
//!
//! 1. [`GaussSeidel`] while its residual falls fast enough to be done at less cost than Newton's method.
//! 2. [`Newton`] from where that ended, with proximal terms of several sizes in turn.
//! 3. Gauss–Seidel again, longer, and Newton from there, until the budget is spent.
//!
//! A problem whose map is a function goes to Josephy's method (see `josephy`).
//! Each attempt starts from the best point so far, but for one of Newton's, from zero.

use super::{GaussSeidel, Newton, josephy};
use crate::residual::residual;
use crate::{
    Attempt, AutoSettings, GaussSeidelSettings, NewtonSettings, NumericsError, Operator, Problem,
    Report, Status,
};

/// Sweeps that cost as much as Newton's method, for small problems; larger ones are worth more,
/// since factors fill in.
fn sweeps_worth(unknowns: usize) -> usize {
    (unknowns / 4).max(150)
}

/// Sweeps after which the rate of convergence is judged.
const TRIAL: usize = 20;
/// Starts of Newton's method, sizes of its proximal term, and whether to go on where the quick
/// steps stall, in the order in which they are tried.
const TRIES: [(Start, f64, bool); 4] = [
    (Start::Best, 0.1, false),
    (Start::Zero, 1.0, false),
    (Start::Best, 1.0, false),
    (Start::Best, 0.01, true),
];

/// Where an attempt starts.
#[derive(Debug, Clone, Copy)]
enum Start {
    /// From the best point so far.
    Best,
    /// From zero: what leads away from a point where the method is stuck.
    Zero,
}

/// The portfolio and what its methods keep between calls.
#[derive(Debug)]
pub(crate) struct Cones {
    settings: AutoSettings,
    gauss_seidel: GaussSeidel,
    newton: Newton,
    best: Vec<f64>,
}

impl Cones {
    pub fn new(settings: AutoSettings) -> Self {
        let AutoSettings { tol, max_iter } = settings;
        let sweeps = GaussSeidelSettings { tol, max_iter: usize::MAX, ..Default::default() };
        let steps = NewtonSettings { tol, max_iter, patience: 25, ..Default::default() };
        Cones {
            settings,
            gauss_seidel: GaussSeidel::new(sweeps),
            newton: Newton::new(steps),
            best: Vec::new(),
        }
    }

    /// Solves from the guess in `z`; leaves the answer in `z` and `w`.
    pub fn solve(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        attempts: &mut Vec<Attempt>,
    ) -> Result<Report, NumericsError> {
        if let Operator::Function(_) = problem.matrix() {
            return josephy::solve(&self.settings, problem, z, w, attempts);
        }
        let tol = self.settings.tol;
        let mut search = Search::new(problem, z, w, attempts, &mut self.best);
        let worth = sweeps_worth(problem.len());
        let mut sweeps = worth;
        while search.iterations < self.settings.max_iter {
            let before = search.residual;
            // the sweeps that are left at the rate so far
            let mut first = None;
            let promising = |sweep: usize, residual: f64| {
                if sweep < TRIAL {
                    return true;
                }
                let &mut (start, from) = first.get_or_insert((sweep, residual));
                if sweep < start + TRIAL {
                    return true;
                }
                let rate = (residual / from).ln() / (sweep - start) as f64;
                let left = (tol / residual).ln() / rate;
                rate < 0.0 && sweep as f64 + left <= 1.2 * sweeps as f64
            };
            let report = self.gauss_seidel.run(problem, z, w, sweeps, promising);
            if search.take(report, z, w)? {
                break;
            }
            for (start, proximal, careful) in TRIES {
                self.newton.set_proximal(proximal, careful);
                if let Start::Zero = start {
                    z.fill(0.0);
                }
                let report = self.newton.solve(problem, z, w);
                if search.take(report, z, w)? {
                    return search.finish(problem, z, w);
                }
            }
            if !(search.residual < 0.5 * before) && sweeps > 10 * worth {
                break;
            }
            sweeps *= 4;
        }
        search.finish(problem, z, w)
    }
}

/// The best point so far, and what was tried.
struct Search<'a> {
    attempts: &'a mut Vec<Attempt>,
    best: &'a mut Vec<f64>,
    residual: f64,
    report: Option<Report>,
    iterations: usize,
    refusal: Option<NumericsError>,
}

impl<'a> Search<'a> {
    fn new(
        problem: &Problem,
        z: &[f64],
        w: &mut [f64],
        attempts: &'a mut Vec<Attempt>,
        best: &'a mut Vec<f64>,
    ) -> Self {
        attempts.clear();
        best.clear();
        best.extend_from_slice(z);
        let residual = residual(problem, z, w).value;
        Search { attempts, best, residual, report: None, iterations: 0, refusal: None }
    }

    /// Notes an attempt; leaves the best point in `z`. Whether the search is over.
    fn take(
        &mut self,
        report: Result<Report, NumericsError>,
        z: &mut [f64],
        _w: &mut [f64],
    ) -> Result<bool, NumericsError> {
        let report = match report {
            Ok(report) => report,
            // that a method cannot work on a problem is no failure of the portfolio
            Err(error) => {
                self.refusal = Some(error);
                z.copy_from_slice(self.best);
                return Ok(false);
            }
        };
        let Report { method, status, residual, iterations, .. } = report;
        self.attempts.push(Attempt { method, status, residual });
        self.iterations += iterations.max(1);
        let solved = status == Status::Solved;
        if solved || residual < self.residual || self.report.is_none() {
            self.report = Some(report);
        }
        if solved || residual < self.residual {
            self.residual = residual;
            self.best.copy_from_slice(z);
        } else {
            z.copy_from_slice(self.best);
        }
        Ok(solved)
    }

    /// The report on the best point, which is verified once more.
    fn finish(
        self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        z.copy_from_slice(self.best);
        let last = residual(problem, z, w);
        match (self.report, self.refusal) {
            (Some(report), _) => Ok(Report {
                iterations: self.iterations,
                residual: last.value,
                worst: last.worst,
                ..report
            }),
            (None, Some(refusal)) => Err(refusal),
            (None, None) => Ok(Report {
                status: Status::MaxIter,
                iterations: 0,
                residual: last.value,
                worst: last.worst,
                method: "auto",
            }),
        }
    }
}
