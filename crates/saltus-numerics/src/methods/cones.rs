//! The portfolio for problems with sets that are no boxes: friction, cones, graphs.
//!
//! 1. Above `ISLANDS` unknowns a few sweeps, and then each island on its own, where there are
//!    several (see `islands`).
//! 2. [`GaussSeidel`] while its residual falls fast enough to be done at less cost than Newton's
//!    method.
//! 3. [`Admm`] while its residual falls fast, [`Newton`] from there, [`InteriorPoint`], Newton from
//!    zero and with care, a long run of [`Admm`]; none of them for problems so large that factors
//!    would fill the memory.
//! 4. Gauss–Seidel again, longer, and 3 from there, until the budget is spent.
//!
//! A problem whose map is a function goes to Josephy's method (see `josephy`).
//! Each attempt starts from the best point so far, but for one of Newton's. A proof that there is
//! no solution ends the search.

use super::islands::{self, Islands};
use super::{Admm, GaussSeidel, InteriorPoint, Newton, josephy};
use crate::blocks::Blocks;
use crate::residual::residual;
use crate::{
    AdmmSettings, Attempt, AutoSettings, GaussSeidelSettings, InteriorPointSettings,
    NewtonSettings, NumericsError, Operator, Problem, Report, Status,
};

/// Sweeps that cost as much as Newton's method, for small problems; larger ones are worth more,
/// since factors fill in.
fn sweeps_worth(unknowns: usize) -> usize {
    (unknowns / 4).max(150)
}

/// Sweeps after which the rate of convergence is judged.
const TRIAL: usize = 20;
/// What comes after the sweeps, in this order.
const TRIES: [Try; 6] = [
    Try::Admm { limit: 400 },
    NEWTON,
    Try::InteriorPoint,
    Try::Newton { from_zero: true, proximal: 1.0, careful: false },
    Try::Newton { from_zero: false, proximal: 0.01, careful: true },
    Try::Admm { limit: 5000 },
];

/// The same for problems of at most `SMALL` unknowns, whose factors cost little.
const SMALL_TRIES: [Try; 6] = [NEWTON, TRIES[0], TRIES[2], TRIES[3], TRIES[4], TRIES[5]];
const SMALL: usize = 120;
const NEWTON: Try = Try::Newton { from_zero: false, proximal: 0.1, careful: false };

/// Unknowns above which a problem is cut into its islands.
const ISLANDS: usize = 300;

/// Largest problem whose matrix is factored: beyond it factors fill the memory.
const FACTORED: usize = 60_000;

/// One attempt.
#[derive(Debug, Clone, Copy)]
enum Try {
    /// From the best point so far, or from zero, which leads away from where it is stuck.
    Newton {
        from_zero: bool,
        proximal: f64,
        careful: bool,
    },
    InteriorPoint,
    /// While the residual falls, up to so many iterations.
    Admm {
        limit: usize,
    },
}

/// The portfolio and what its methods keep between calls.
#[derive(Debug)]
pub(crate) struct Cones {
    settings: AutoSettings,
    gauss_seidel: GaussSeidel,
    newton: Newton,
    interior_point: InteriorPoint,
    admm: Admm,
    best: Vec<f64>,
}

impl Cones {
    pub fn new(settings: AutoSettings) -> Self {
        let AutoSettings { tol, max_iter } = settings;
        let sweeps = GaussSeidelSettings { tol, max_iter, ..Default::default() };
        let steps = NewtonSettings { tol, max_iter, patience: 25, ..Default::default() };
        let steps_inside = InteriorPointSettings::default().max_iter.min(max_iter);
        let interior = InteriorPointSettings { tol, max_iter: steps_inside };
        let directions = AdmmSettings { tol, max_iter, ..Default::default() };
        Cones {
            settings,
            gauss_seidel: GaussSeidel::new(sweeps),
            newton: Newton::new(steps),
            interior_point: InteriorPoint::new(interior),
            admm: Admm::new(directions),
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
        if problem.len() > ISLANDS {
            let report = self.gauss_seidel.run(problem, z, w, 2 * TRIAL, |_, _| true);
            if search.take(report, z)
                || by_islands(&self.settings, problem, z, w)
                    .is_some_and(|report| search.take(Ok(report), z))
            {
                return search.finish(problem, z, w);
            }
        }
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
            if search.take(report, z) {
                break;
            }
            for attempt in if problem.len() <= SMALL { SMALL_TRIES } else { TRIES } {
                if problem.len() > FACTORED {
                    break;
                }
                let report = match attempt {
                    Try::Newton { from_zero, proximal, careful } => {
                        self.newton.set_proximal(proximal, careful);
                        if from_zero {
                            z.fill(0.0);
                        }
                        self.newton.solve(problem, z, w)
                    }
                    Try::InteriorPoint => self.interior_point.solve(problem, z, w),
                    Try::Admm { limit } => {
                        let mut before = f64::INFINITY;
                        let mut next = 100;
                        // it goes on while a hundred iterations make the residual ten times less
                        let falls = |iteration: usize, residual: f64| {
                            if iteration < next || limit > 400 {
                                return true;
                            }
                            let falls = residual <= 0.1 * before;
                            (before, next) = (residual, iteration + 100);
                            falls
                        };
                        self.admm.run(problem, z, w, limit, falls)
                    }
                };
                let infeasible =
                    report.as_ref().is_ok_and(|report| report.status == Status::Infeasible);
                if search.take(report, z) || infeasible {
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

/// Each island on its own, from the point in `z`; `None` where there is but one.
fn by_islands(
    settings: &AutoSettings,
    problem: &Problem,
    z: &mut [f64],
    w: &mut [f64],
) -> Option<Report> {
    let mut blocks = Blocks::default();
    blocks.update("auto", problem).ok()?;
    let Islands { islands } = Islands::of(&blocks);
    if islands.len() < 2 {
        return None;
    }
    let &AutoSettings { tol, max_iter } = settings;
    let mut inner = Cones::new(AutoSettings { tol: 0.5 * tol, max_iter });
    let (mut iterations, mut attempts) = (0, Vec::new());
    let (mut part_z, mut part_w) = (Vec::new(), Vec::new());
    for island in &islands {
        let (part, unknowns) = islands::part(problem, &blocks, island)?;
        part_z.clear();
        part_z.extend(unknowns.iter().map(|&i| z[i]));
        part_w.resize(unknowns.len(), 0.0);
        let found = inner.solve(&part, &mut part_z, &mut part_w[..], &mut attempts).ok()?;
        part_w.clear();
        iterations = iterations.max(found.iterations);
        unknowns.iter().zip(&part_z).for_each(|(&i, value)| z[i] = *value);
    }
    let last = residual(problem, z, w);
    let status = if last.value <= tol { Status::Solved } else { Status::MaxIter };
    let (residual, worst) = (last.value, last.worst);
    Some(Report { status, iterations, residual, worst, method: "islands" })
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
    fn take(&mut self, report: Result<Report, NumericsError>, z: &mut [f64]) -> bool {
        let report = match report {
            Ok(report) => report,
            // that a method cannot work on a problem is no failure of the portfolio
            Err(error) => {
                self.refusal = Some(error);
                z.copy_from_slice(self.best);
                return false;
            }
        };
        let Report { method, status, residual, iterations, .. } = report;
        self.attempts.push(Attempt { method, status, residual });
        self.iterations += iterations.max(1);
        let solved = status == Status::Solved;
        let decided = solved || status == Status::Infeasible;
        if decided || residual < self.residual || self.report.is_none() {
            self.report = Some(report);
        }
        if solved || residual < self.residual {
            self.residual = residual;
            self.best.copy_from_slice(z);
        } else {
            z.copy_from_slice(self.best);
        }
        solved
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
