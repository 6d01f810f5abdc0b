//! One answer type for every method.

use crate::methods::Workspace;
use crate::{Interrupt, NumericsError, Problem, Solver};
use serde::Serialize;

/// How a method ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u64)] // a whole word: reports are copied in the innermost loop, and padding is slow there
pub enum Status {
    /// The verified residual is at most the tolerance.
    Solved,
    /// Out of iterations.
    MaxIter,
    /// The problem has no solution, and there is a proof: a ray of Lemke's method that contradicts
    /// the inequalities (every ray does where `W` is positive semidefinite), a linear program that
    /// shows them contradictory, every mode refuted by enumeration, or a direction of the interior
    /// point method's iterates. Up to round-off.
    Infeasible,
    /// Lemke's method ended on a ray that proves nothing, which happens for matrices that its
    /// theory does not cover: there may or may not be a solution.
    Ray,
    /// No progress any more: the best residual is above the tolerance, and did not grow.
    Stalled,
    /// The same because the numbers of the problem differ so much in size (its diagonal by more
    /// than 10¹²) that round-off is all that is left of the residual.
    IllScaled,
    /// The caller asked to stop.
    Interrupted,
    /// The residual grew, or is no longer a number.
    Diverged,
}

impl Status {
    /// The word used in messages.
    pub fn name(self) -> &'static str {
        match self {
            Status::Solved => "solved",
            Status::MaxIter => "max_iter",
            Status::Infeasible => "infeasible",
            Status::Ray => "ray",
            Status::Stalled => "stalled",
            Status::IllScaled => "ill_scaled",
            Status::Interrupted => "interrupted",
            Status::Diverged => "diverged",
        }
    }

    /// The same in four words: a method that stalled or was stopped was not given what it takes,
    /// and a ray that proves nothing is no answer. [`name`](Self::name) is the reason.
    pub fn word(self) -> &'static str {
        match self {
            Status::Solved => "solved",
            Status::Infeasible => "infeasible",
            Status::MaxIter | Status::Stalled | Status::IllScaled | Status::Interrupted => {
                "max_iter"
            }
            Status::Ray | Status::Diverged => "diverged",
        }
    }
}

/// The quality of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct Report {
    /// How the method ended.
    pub status: Status,
    /// Its iterations: modes tried, pivots, sweeps.
    pub iterations: usize,
    /// The verified residual.
    pub residual: f64,
    /// The unknown with the largest share of the residual.
    pub worst: usize,
    /// The method that gave the answer.
    pub method: &'static str,
}

/// One try of a portfolio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attempt {
    /// The method.
    pub method: &'static str,
    /// How it ended.
    pub status: Status,
    /// The residual it reached.
    pub residual: f64,
}

/// An answer with its quality.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The unknowns.
    pub z: Vec<f64>,
    /// `W z + q`.
    pub w: Vec<f64>,
    /// The quality.
    pub report: Report,
    /// What was tried, in order.
    pub attempts: Vec<Attempt>,
    /// The residuals that were measured on the way, in order; of many, one of every so many (see
    /// [`History`](crate::History)).
    pub history: Vec<f64>,
}

/// Solves a problem once, from the guess `z0` if there is one.
///
/// ```
/// use saltus_numerics::{Problem, Solver, Status, solve};
/// use saltus_linalg::Matrix;
///
/// let problem = Problem::lcp(Matrix::from([[2.0, 1.0], [1.0, 2.0]]), vec![-4.0, 1.0])?;
/// let solution = solve(&problem, &Solver::default(), None)?;
/// assert_eq!(solution.report.status, Status::Solved);
/// assert_eq!(solution.z, [2.0, 0.0]);
/// # Ok::<(), saltus_numerics::NumericsError>(())
/// ```
pub fn solve(
    problem: &Problem,
    solver: &Solver,
    z0: Option<&[f64]>,
) -> Result<Solution, NumericsError> {
    solve_until(problem, solver, z0, None)
}

/// The same until it is asked to stop.
///
/// ```
/// use saltus_linalg::Matrix;
/// use saltus_numerics::{Interrupt, Problem, Solver, Status, solve_until};
///
/// let problem = Problem::friction3d(Matrix::identity(3), vec![-1.0, 2.0, 0.0], &[0.5])?;
/// let interrupt = Interrupt::default();
/// interrupt.stop(); // from another thread, or a handler of signals
/// let solution = solve_until(&problem, &Solver::default(), None, Some(&interrupt))?;
/// assert_eq!(solution.report.status, Status::Interrupted);
/// # Ok::<(), saltus_numerics::NumericsError>(())
/// ```
pub fn solve_until(
    problem: &Problem,
    solver: &Solver,
    z0: Option<&[f64]>,
    interrupt: Option<&Interrupt>,
) -> Result<Solution, NumericsError> {
    let n = problem.len();
    let mut z = vec![0.0; n];
    if let Some(z0) = z0 {
        if z0.len() != n {
            return Err(NumericsError::Length { what: "z0", expected: n, found: z0.len() });
        }
        if let Some(i) = z0.iter().position(|x| !x.is_finite()) {
            return Err(NumericsError::NotFinite { what: "z0", at: vec![i], value: z0[i] });
        }
        z.copy_from_slice(z0);
    }
    let mut w = vec![0.0; n];
    let mut workspace = Workspace::new(solver.clone())?;
    workspace.watch(interrupt.cloned());
    let report = workspace.solve(problem, &mut z, &mut w)?;
    let attempts = workspace.attempts().to_vec();
    let history = workspace.history().values().to_vec();
    Ok(Solution { z, w, report, attempts, history })
}
