//! Enumeration: every mode in turn.
//!
//! Each unknown is at its lower bound, at its upper bound, or between them with `w = 0`; each
//! choice leaves one linear system, and its solution solves the problem when its signs are
//! right. All solutions that are isolated within their mode are found; modes whose system is
//! singular are counted, because they may hold further solutions, or whole families.
//!
//! Where no regular mode has the answer, each singular one is decided as the linear program it
//! is: with `r = q + W_N z_N`, find `z_B` within its bounds so that
//!
//! ```text
//! W_BB z_B + r_B = 0,    W_NB z_B + r_N ≥ 0 (at lower bounds), ≤ 0 (at upper bounds)        (1)
//! ```
//!
//! which, with multipliers `y` of its rows, is a monotone problem again: its matrix is
//! `[0 −Aᵀ; A 0]`, and Lemke's method solves it or proves that it has no solution. If all modes
//! are refuted, the problem has none.

use super::{Lemke, unsupported};
use crate::mode::{Side, Slack, sides, wrong};
use crate::polyhedral::Expanded;
use crate::residual::residual;
use crate::sets::clamp;
use crate::{
    EnumerationSettings, LemkeSettings, NumericsError, Problem, Report, Solution, Status, watch,
};
use saltus_linalg::{DenseLu, Matrix, vector};

/// Most singular modes that are decided as linear programs.
const PROGRAMS: usize = 4096;
/// Pivots that each of them may take.
const PIVOTS: usize = 1000;
/// How far a sign must be wrong to refute a regular mode: so many times its round-off, and this
/// share of the largest unknown.
const REFUTED: f64 = 1e4;
const REFUTED_SHARE: f64 = 1e-9;

/// Enumeration and the buffers it keeps between calls.
#[derive(Debug)]
pub struct Enumeration {
    settings: EnumerationSettings,
    mode: Vec<Side>,
    basic: Vec<usize>,
    right: Vec<f64>,
    factors: DenseLu,
}

/// What enumeration found.
#[derive(Debug, Clone, PartialEq)]
pub struct AllSolutions {
    /// The distinct solutions, in the order of their modes.
    pub solutions: Vec<Solution>,
    /// Modes whose linear system is singular: they may hold further solutions.
    pub singular_modes: usize,
    /// Modes in all.
    pub modes: usize,
}

/// What became of one mode.
enum Trial {
    Solved(Report),
    /// A sign is wrong beyond doubt.
    Refuted,
    /// A sign is wrong, or the answer does not pass the check, but for all we know that may be
    /// round-off.
    Doubtful,
    Singular,
}

impl Enumeration {
    /// The method with these settings.
    pub fn new(settings: EnumerationSettings) -> Self {
        let (mode, basic, right) = (Vec::new(), Vec::new(), Vec::new());
        Enumeration { settings, mode, basic, right, factors: DenseLu::default() }
    }

    /// Finds one solution; leaves it in `z` and `w = W z + q`.
    pub fn solve(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        if !problem.is_boxed() || !problem.matrix().is_matrix() {
            return Err(unsupported("enumeration", problem));
        }
        self.start(problem)?;
        let (mut iterations, mut singular, mut doubtful) = (0, 0, 0);
        loop {
            iterations += 1;
            match self.try_mode(problem, z, w, iterations) {
                Trial::Solved(report) => return Ok(report),
                // no need to be the only answer of its mode
                Trial::Singular => {
                    if let Some(report) = self.certify(problem, z, w, iterations) {
                        return Ok(report);
                    }
                    singular += 1;
                }
                Trial::Doubtful => doubtful += 1,
                Trial::Refuted => {}
            }
            if watch::is_interrupted() {
                doubtful += 1;
                break;
            }
            if !self.next_mode(problem) {
                break;
            }
        }
        if singular > PROGRAMS {
            doubtful += singular;
        } else if singular > 0 {
            self.start(problem)?;
            loop {
                if let Trial::Singular = self.try_mode(problem, z, w, iterations) {
                    match self.try_program(problem, z, w, iterations)? {
                        Trial::Solved(report) => return Ok(report),
                        Trial::Refuted => {}
                        _ => doubtful += 1,
                    }
                }
                if !self.next_mode(problem) {
                    break;
                }
            }
        }
        let residual = residual(problem, z, w);
        let (residual, worst) = (residual.value, residual.worst);
        let status = if doubtful == 0 { Status::Infeasible } else { Status::Diverged };
        Ok(Report { status, iterations, residual, worst, method: "enumeration" })
    }

    /// Finds all solutions.
    pub fn all(&mut self, problem: &Problem) -> Result<AllSolutions, NumericsError> {
        if !problem.is_boxed() || !problem.matrix().is_matrix() {
            return self.all_expanded(problem);
        }
        self.start(problem)?;
        let n = problem.len();
        let mut found = AllSolutions { solutions: Vec::new(), singular_modes: 0, modes: 0 };
        loop {
            found.modes += 1;
            let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
            match self.try_mode(problem, &mut z, &mut w, found.modes) {
                Trial::Solved(report) if !found.solutions.iter().any(|s| same(&s.z, &z)) => {
                    found.solutions.push(Solution {
                        z,
                        w,
                        report,
                        attempts: Vec::new(),
                        history: Vec::new(),
                    });
                }
                Trial::Singular => found.singular_modes += 1,
                Trial::Solved(_) | Trial::Refuted | Trial::Doubtful => {}
            }
            if !self.next_mode(problem) {
                return Ok(found);
            }
        }
    }

    /// The same for graphs and friction in the plane.
    fn all_expanded(&mut self, problem: &Problem) -> Result<AllSolutions, NumericsError> {
        let expanded = Expanded::new(problem).ok_or_else(|| unsupported("enumeration", problem))?;
        let mut found = self.all(&expanded.problem).map_err(|error| match error {
            NumericsError::TooLarge { modes, limit, .. } => {
                NumericsError::TooLarge { unknowns: problem.len(), modes, limit }
            }
            other => other,
        })?;
        let mut solutions: Vec<Solution> = Vec::new();
        for solution in &found.solutions {
            let solution = expanded.solution(problem, self.settings.tol, solution);
            let solved = solution.report.status == Status::Solved;
            if solved && !solutions.iter().any(|s| same(&s.z, &solution.z)) {
                solutions.push(solution);
            }
        }
        found.solutions = solutions;
        Ok(found)
    }

    /// The first mode; refuses a problem with too many.
    fn start(&mut self, problem: &Problem) -> Result<(), NumericsError> {
        let mut modes = 1.0;
        self.mode.clear();
        for (&lower, &upper) in problem.lower().iter().zip(problem.upper()) {
            let sides = sides(lower, upper);
            modes *= sides.len() as f64;
            self.mode.push(sides[0]);
        }
        if modes > self.settings.max_iter as f64 {
            let (unknowns, limit) = (problem.len(), self.settings.max_iter);
            return Err(NumericsError::TooLarge { unknowns, modes, limit });
        }
        Ok(())
    }

    /// Counts on, the first unknown fastest; false after the last mode.
    fn next_mode(&mut self, problem: &Problem) -> bool {
        for i in 0..self.mode.len() {
            let sides = sides(problem.lower()[i], problem.upper()[i]);
            let next = sides.iter().position(|&side| side == self.mode[i]).map_or(0, |k| k + 1);
            if next < sides.len() {
                self.mode[i] = sides[next];
                return true;
            }
            self.mode[i] = sides[0];
        }
        false
    }

    /// Solves the current mode, and looks at the signs.
    fn try_mode(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        iterations: usize,
    ) -> Trial {
        let n = problem.len();
        let matrix = problem.matrix();
        self.basic.clear();
        for i in 0..n {
            z[i] = match self.mode[i] {
                Side::Lower | Side::Fixed => problem.lower()[i],
                Side::Upper => problem.upper()[i],
                Side::Basic => {
                    self.basic.push(i);
                    0.0
                }
            };
        }
        let basic = &self.basic;
        let entry = |i: usize, j: usize| matrix.get(basic[i], basic[j]);
        if self.factors.factor_with(basic.len(), entry).is_err() {
            return Trial::Singular;
        }
        self.right.clear();
        self.right.extend(basic.iter().map(|&i| -problem.q()[i] - matrix.row_dot(i, z)));
        self.factors.solve(&mut self.right);
        for (&i, &z_i) in basic.iter().zip(&self.right) {
            z[i] = z_i;
        }

        problem.eval(z, w);
        let right_signs = (0..n).all(|i| {
            let slack = Slack::of(problem, z, i);
            wrong(problem, slack, i, self.mode[i], z[i], w[i]).is_none()
        });
        if right_signs {
            return match self.certify(problem, z, w, iterations) {
                Some(report) => Trial::Solved(report),
                None => Trial::Doubtful,
            };
        }
        // an answer that one step of iterative refinement moves is not known well enough
        let largest = vector::norm_inf(z);
        self.right.clear();
        self.right.extend(self.basic.iter().map(|&i| -w[i]));
        self.factors.solve(&mut self.right);
        if !(vector::norm_inf(&self.right) <= REFUTED_SHARE * largest) {
            return Trial::Doubtful;
        }
        let refuted = (0..n).any(|i| {
            let Slack { z: slack_z, w: slack_w } = Slack::of(problem, z, i);
            let slack_z = (REFUTED * slack_z).max(REFUTED_SHARE * largest);
            let slack = Slack { z: slack_z, w: REFUTED * slack_w };
            wrong(problem, slack, i, self.mode[i], z[i], w[i]).is_some()
        });
        if refuted { Trial::Refuted } else { Trial::Doubtful }
    }

    /// The current mode, whose system is singular, as the linear program (1).
    fn try_program(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        iterations: usize,
    ) -> Result<Trial, NumericsError> {
        let (basic, matrix) = (&self.basic, problem.matrix());
        let rows: Vec<usize> =
            (0..problem.len()).filter(|&i| self.mode[i] != Side::Fixed).collect();
        let (k, m) = (basic.len(), rows.len());
        for &i in basic {
            z[i] = 0.0;
        }
        let mut skew = Matrix::zeros(k + m, k + m);
        let (mut q, mut lower, mut upper) = (vec![0.0; k], Vec::new(), Vec::new());
        for &i in basic {
            lower.push(problem.lower()[i]);
            upper.push(problem.upper()[i]);
        }
        for (r, &i) in rows.iter().enumerate() {
            for (c, &j) in basic.iter().enumerate() {
                let a = matrix.get(i, j);
                (skew[(k + r, c)], skew[(c, k + r)]) = (a, -a);
            }
            q.push(problem.q()[i] + matrix.row_dot(i, z));
            let side = self.mode[i];
            lower.push(if side == Side::Lower { 0.0 } else { f64::NEG_INFINITY });
            upper.push(if side == Side::Upper { 0.0 } else { f64::INFINITY });
        }
        let program = Problem::boxed(skew, q, &lower, &upper)?;
        let settings = LemkeSettings { tol: self.settings.tol, max_iter: PIVOTS };
        let (mut x, mut v) = (vec![0.0; k + m], vec![0.0; k + m]);
        let report = Lemke::new(settings).solve(&program, &mut x, &mut v)?;
        if report.status == Status::Infeasible {
            return Ok(Trial::Refuted);
        }
        for (&i, &x) in basic.iter().zip(&x) {
            z[i] = x;
        }
        Ok(match self.certify(problem, z, w, iterations) {
            Some(report) => Trial::Solved(report),
            None => Trial::Doubtful,
        })
    }

    /// Brings `z` within its bounds, and verifies.
    fn certify(
        &self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        iterations: usize,
    ) -> Option<Report> {
        for i in 0..z.len() {
            z[i] = clamp(z[i], problem.lower()[i], problem.upper()[i]);
        }
        let residual = residual(problem, z, w);
        let (status, value, worst) = (Status::Solved, residual.value, residual.worst);
        let report = Report { status, iterations, residual: value, worst, method: "enumeration" };
        (value <= self.settings.tol).then_some(report)
    }
}

/// Whether two answers agree but for round-off.
fn same(a: &[f64], b: &[f64]) -> bool {
    let scale = a.iter().fold(1.0, |s: f64, x| s.max(x.abs()));
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-10 * scale)
}
