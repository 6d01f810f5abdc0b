//! The portfolio: cheapest first, the next one where an answer does not pass the check.
//!
//! 1. [`Pivoting`] from the last mode: one solve where little has changed. Where there is none, a
//!    few sweeps guess it (see `first_sweeps`). Above `SINGLE` unknowns only while whole blocks
//!    change sides.
//! 2. *Proximal pivoting* (`proximal.rs`): stacks and circuits whose modes are singular. It
//!    comes first while the answers need it, as those of the next step will.
//! 3. [`Lemke`] up to `SMALL` unknowns: exotic matrices, and the proof that there is no answer.
//!    It comes before 2 where the matrix has no diagonal (games, linear programs).
//! 4. [`FischerBurmeister`]: singular equations, games, large problems.
//! 5. [`Enumeration`] up to `MODES` modes: whatever is left, if it is small.
//! 6. [`Lemke`] up to `LEMKE` unknowns, [`GaussSeidel`] where the diagonal allows it, and
//!    [`Pivoting`] by single changes, which ends for every P-matrix, if late.
//!
//! The mode of an answer found by 2 to 6 becomes the first guess of the next call.
//!
//! Problems with other sets than boxes have a portfolio of their own (see `cones`); those of graphs are
//! solved by modes where that works (see `segments`), small ones are swept first, as they are stored
//! (see `small`).

use super::cones::Cones;
use super::driven::Kept;
use super::first_sweeps;
use super::planar::Planar;
use super::proximal::{Proximal, is_free, may_be_monotone};
use super::segments::Segments;
use super::small;
use super::{Enumeration, FischerBurmeister, GaussSeidel, Lemke, Newton, Pivoting};
use crate::residual::residual;
use crate::{
    Attempt, AutoSettings, EnumerationSettings, FischerBurmeisterSettings, GaussSeidelSettings,
    LemkeSettings, Memory, NewtonSettings, NumericsError, PivotingSettings, Problem, Report, Set,
    Status,
};
use saltus_linalg::vector;

/// Unknowns up to which the first try may change them one at a time without a mode to start from.
const SINGLE: usize = 64;
/// Largest problem given to Lemke's method before other methods have failed.
const SMALL: usize = 150;
/// Largest problem given to Lemke's method at all: the inverse of its basis is dense.
const LEMKE: usize = 1500;
/// Most modes given to enumeration.
const MODES: usize = 1 << 16;
/// Most unknowns of a problem with friction that goes from the first sweeps to Newton's method; with rolling
/// resistance in space, whose blocks cost many times as much to visit, all small ones do.
const TINY: usize = 24;
/// Steps of Newton's method there.
const STEPS: usize = 40;
/// Share of `q` that equations contradict each other by, where that is round-off of the model.
const LITTLE: f64 = 1e-4;
/// Most changes of mode of the proximal method.
const PROXIMAL: usize = 300;

/// The portfolio and what its methods keep between calls.
#[derive(Debug)]
pub struct Auto {
    pivoting: Pivoting,
    proximal: Proximal,
    lemke: Lemke,
    fischer_burmeister: FischerBurmeister,
    gauss_seidel: GaussSeidel,
    enumeration: Enumeration,
    cones: Cones,
    planar: Planar,
    segments: Segments,
    newton: Newton, // for tiny problems with friction
    tol: f64,
    is_singular: bool,  // the mode of the last answer
    modes_failed: bool, // on the problem of the next call
    guess: Vec<f64>,    // z as it came
    best: Vec<f64>,     // the z with the least residual so far
    attempts: Vec<Attempt>,
}

/// What comes after the first try.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fallback {
    Proximal,
    Lemke,
    FischerBurmeister,
    Enumeration,
    GaussSeidel,
    Pivoting,
}

use Fallback as F;
const USUAL: [F; 6] =
    [F::Proximal, F::Lemke, F::FischerBurmeister, F::Enumeration, F::GaussSeidel, F::Pivoting];
const GAMES: [F; 6] =
    [F::Lemke, F::FischerBurmeister, F::Proximal, F::Enumeration, F::GaussSeidel, F::Pivoting];
const LARGE: [F; 6] =
    [F::Proximal, F::FischerBurmeister, F::Enumeration, F::Lemke, F::GaussSeidel, F::Pivoting];

impl Auto {
    /// The portfolio with these settings.
    pub fn new(settings: AutoSettings) -> Self {
        let cones = Cones::new(settings.clone());
        let AutoSettings { tol, max_iter, .. } = settings;
        let cache = PivotingSettings::default().cache;
        let steps = FischerBurmeisterSettings::default().max_iter.min(max_iter);
        let mut newton = Newton::new(NewtonSettings {
            tol,
            max_iter: STEPS.min(max_iter),
            patience: STEPS,
            ..Default::default()
        });
        newton.set_proximal(0.1, false);
        Auto {
            pivoting: Pivoting::new(PivotingSettings { tol, max_iter, cache }),
            proximal: Proximal::new(tol),
            lemke: Lemke::new(LemkeSettings { tol, max_iter }),
            fischer_burmeister: FischerBurmeister::new(FischerBurmeisterSettings {
                tol,
                max_iter: steps,
            }),
            gauss_seidel: GaussSeidel::new(GaussSeidelSettings {
                tol,
                max_iter,
                ..Default::default()
            }),
            enumeration: Enumeration::new(EnumerationSettings { tol, max_iter: MODES }),
            tol,
            is_singular: false,
            modes_failed: false,
            guess: Vec::new(),
            newton,
            cones,
            planar: Planar::new(),
            segments: Segments::new(),
            best: Vec::new(),
            attempts: Vec::with_capacity(16),
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
        if let Some(report) = self.again(problem, z, w) {
            return Ok(report);
        }
        self.solve_anew(problem, z, w)
    }

    /// [`solve`](Self::solve) where the last mode has not given the answer.
    pub(super) fn solve_anew(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        if !problem.is_boxed() || !problem.matrix().is_matrix() {
            return self.solve_cones(problem, z, w);
        }
        let n = problem.len();
        self.attempts.clear();
        self.guess.clear();
        self.guess.extend_from_slice(z);
        if self.is_singular {
            let report = self.proximal.solve(problem, z, w, PROXIMAL);
            self.note(report);
            if report.status == Status::Solved {
                return Ok(report);
            }
            self.is_singular = false;
            z.copy_from_slice(&self.guess);
        }
        // where pivoting has not found the mode by then, it goes round in circles
        let is_warm = !self.pivoting.mode().is_empty();
        let most_single = if n <= SINGLE || is_warm { usize::MAX } else { 0 };
        if !is_warm && n > 1 && !first_sweeps::sweep(problem, z) {
            z.copy_from_slice(&self.guess);
        }
        let report = self.pivoting.run(problem, z, w, 100 + 2 * n, most_single);
        self.note(report);
        if report.status == Status::Solved {
            return Ok(report);
        }
        self.fall_back(problem, z, w, report)
    }

    /// The answer of the last mode, where nothing but `q` has changed and it is one.
    #[inline]
    pub(super) fn again(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Option<Report> {
        if self.is_singular {
            return None;
        }
        let report = self.pivoting.again(problem, z, w)?;
        self.attempts.clear();
        self.note(report);
        Some(report)
    }

    /// Problems of graphs, and small ones of friction in the plane, mode by mode; where there is no answer `z` is
    /// the guess for what follows, and the next call of [`solve`](Self::solve) does not try it again.
    #[inline]
    pub(super) fn solve_by_modes(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Option<Report> {
        let mut found = self.segments.solve(problem, z, w, self.tol);
        if found.is_none() && small::is_small(problem) {
            found = self.planar.solve(problem, z, w, self.tol);
        }
        self.modes_failed = found.is_none();
        let report = found?;
        self.attempts.clear();
        self.note(report);
        Some(report)
    }

    /// Problems with sets that are no boxes: modes (see `segments` and `planar`), a few sweeps while
    /// they are small, Newton's method while they are tiny, then the portfolio of `cones`.
    fn solve_cones(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        if !std::mem::take(&mut self.modes_failed)
            && let Some(report) = self.solve_by_modes(problem, z, w)
        {
            return Ok(report);
        }
        self.modes_failed = false;
        if !small::is_small(problem) {
            return self.cones.solve(problem, z, w, &mut self.attempts);
        }
        self.attempts.clear();
        self.keep(z);
        let Some(first) = small::solve(problem, &self.best, z, w, self.tol) else {
            z.copy_from_slice(&self.best);
            return self.cones.solve(problem, z, w, &mut self.attempts);
        };
        self.note(first);
        if first.status == Status::Solved {
            return Ok(first);
        }
        if z.iter().all(|z| z.is_finite()) {
            self.keep(z);
        }
        let mut iterations = first.iterations;
        let mut tried = [Some(self.attempts[0]), None];
        if problem.len() <= TINY || rolls(problem) {
            z.copy_from_slice(&self.best);
            if let Ok(report) = self.newton.solve(problem, z, w) {
                self.note(report);
                iterations += report.iterations;
                if report.status == Status::Solved {
                    return Ok(Report { iterations, ..report });
                }
                tried[1] = self.attempts.last().copied();
            }
        }
        z.copy_from_slice(&self.best);
        let report = self.cones.solve(problem, z, w, &mut self.attempts)?;
        // what came before
        tried.into_iter().flatten().rev().for_each(|attempt| self.attempts.insert(0, attempt));
        Ok(Report { iterations: iterations + report.iterations, ..report })
    }

    /// What the last call tried.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// The mode of the last answer, where it has an inverse and is one of this problem.
    pub(super) fn kept(&self, problem: &Problem) -> Option<Kept<'_>> {
        if self.is_singular { None } else { self.pivoting.kept(problem) }
    }

    pub(super) fn pivoting_mut(&mut self) -> &mut Pivoting {
        &mut self.pivoting
    }

    /// Forgets what the calls so far told of the answer.
    pub fn forget(&mut self) {
        self.pivoting.forget();
        self.forget_mode();
    }

    /// What the next call depends on besides its arguments.
    pub(crate) fn memory(&mut self, memory: &mut Memory, problem: Option<&Problem>) {
        self.pivoting.memory(memory, problem);
        self.proximal.memory(memory);
        self.segments.memory(memory);
        memory.flag(&mut self.is_singular);
    }

    /// Forgets the mode of the last call.
    fn forget_mode(&mut self) {
        self.pivoting.forget_mode();
        self.proximal.forget();
        self.segments.forget();
        self.is_singular = false;
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
        for method in self.order(problem) {
            z.copy_from_slice(&self.guess);
            let report = match method {
                F::Proximal => Ok(self.proximal.solve(problem, z, w, PROXIMAL)),
                F::Lemke if problem.len() > LEMKE => continue,
                F::Lemke => self.lemke.solve(problem, z, w),
                F::FischerBurmeister => self.fischer_burmeister.solve(problem, z, w),
                F::Enumeration => self.enumeration.solve(problem, z, w),
                F::GaussSeidel => self.gauss_seidel.solve(problem, z, w),
                F::Pivoting if problem.len() <= SINGLE => continue,
                F::Pivoting => self.pivoting.solve(problem, z, w),
            };
            // that a method cannot work on a problem is no failure of the portfolio
            let Ok(report) = report else { continue };
            self.note(report);
            iterations += report.iterations;
            let better = report.residual < best.residual || best.residual.is_nan();
            if report.status == Status::Solved || better {
                best = report;
                self.keep(z);
            }
            // a proof that there is no solution ends the search as well
            if report.status == Status::Infeasible {
                (best.status, best.method) = (report.status, report.method);
            }
            if matches!(report.status, Status::Solved | Status::Infeasible) {
                break;
            }
            // equations alone, which contradict each other a little: no method leaves less
            let little = report.residual <= LITTLE * vector::norm_inf(problem.q());
            let equations = is_free(problem) && may_be_monotone(problem.matrix());
            if method == F::Proximal && little && equations {
                break;
            }
        }
        if best.status == Status::Solved {
            self.remember(problem, z, w, &mut best);
        } else {
            z.copy_from_slice(&self.best);
            let left = residual(problem, z, w);
            (best.residual, best.worst) = (left.value, left.worst);
            self.forget_mode();
        }
        Ok(Report { iterations, ..best })
    }

    /// The order of what comes after the first try.
    fn order(&self, problem: &Problem) -> [Fallback; 6] {
        let n = problem.len();
        if n > SMALL {
            LARGE
        } else if (0..n).all(|i| problem.matrix().get(i, i) == 0.0) {
            GAMES
        } else {
            USUAL
        }
    }

    /// The mode of an answer, for the next call.
    fn remember(&mut self, problem: &Problem, z: &mut [f64], w: &mut [f64], best: &mut Report) {
        let n = problem.len();
        match best.method {
            "proximal" => {
                // the mode may be regular, and then it is solved exactly
                self.pivoting.start_from(self.proximal.mode().iter().copied());
                let exact = self.pivoting.run(problem, z, w, 1, 0);
                self.is_singular = exact.status != Status::Solved;
                if exact.residual <= best.residual {
                    (best.residual, best.worst) = (exact.residual, exact.worst);
                } else {
                    z.copy_from_slice(&self.best);
                    problem.eval(z, w);
                }
            }
            "lemke" if self.lemke.mode().len() == n => {
                self.pivoting.start_from(self.lemke.mode().iter().copied());
            }
            "fischer-burmeister" if self.fischer_burmeister.mode().len() == n => {
                self.pivoting.start_from(self.fischer_burmeister.mode().iter().copied());
            }
            _ => self.pivoting.adopt(problem, z, w),
        }
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

/// Whether contacts resist rolling in space.
fn rolls(problem: &Problem) -> bool {
    problem.placed().iter().any(|block| matches!(block.set, Set::Rolling3 { .. }))
}
