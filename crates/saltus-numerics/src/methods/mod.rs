//! The methods, one a file. Each proposes; [`residual`](crate::residual) disposes.
//!
//! | method | for | cost |
//! | --- | --- | --- |
//! | [`Pivoting`] | P-matrices; repeated problems (it keeps the mode and its factors) | one solve a mode |
//! | [`Lemke`] | positive semidefinite, copositive-plus matrices; says when there is no solution | n² a pivot; sparse: a solve |
//! | [`GaussSeidel`] | symmetric definite or diagonally dominant | one product a sweep |
//! | [`FischerBurmeister`] | P₀-matrices, singular equations, games; many others | one factorization a step |
//! | [`Enumeration`] | anything small; lists all solutions | 2ⁿ to 3ⁿ solves |
//! | [`InteriorPoint`] | cones, friction, boxes, however badly conditioned | one factorization a step |
//! | [`Newton`] | friction and cones at high accuracy, also where `W` is singular | one factorization a step |
//! | [`Admm`] | monotone maps, friction; also where `W` is singular; never condenses `(M, H)` | one factorization in all, one solve an iteration |
//! | [`Extragradient`] | monotone maps of every kind, also functions | two evaluations an iteration |
//! | [`Auto`] | everything above, cheapest first, until verified | |

mod admm;
mod anderson;
mod auto;
mod bodies;
mod coloured;
mod cones;
mod downstream;
mod driven;
mod enumeration;
mod extragradient;
mod first_sweeps;
mod fischer_burmeister;
mod gauss_seidel;
mod gradients;
mod interior_point;
mod interior_start;
mod islands;
mod josephy;
mod layout;
mod lemke;
mod newton;
mod parts;
mod pivoting;
mod planar;
mod proximal;
mod regions;
mod segments;
mod small;

pub use admm::Admm;
pub use auto::Auto;
pub use driven::Driven;
pub use enumeration::{AllSolutions, Enumeration};
pub use extragradient::Extragradient;
pub use fischer_burmeister::FischerBurmeister;
pub use gauss_seidel::GaussSeidel;
pub use interior_point::InteriorPoint;
pub use lemke::Lemke;
pub use newton::Newton;
pub(crate) use newton::Rows;
pub use pivoting::Pivoting;

use crate::polyhedral::Expanded;
use crate::residual::{Residual, is_round_off, residual};
use crate::watch::{self, Watch};
use crate::{
    Attempt, History, Interrupt, Memory, NumericsError, Operator, Problem, Report, Set, Solver,
    Status,
};

/// A method with the buffers it keeps between calls.
#[derive(Debug)]
pub struct Workspace {
    method: Method,
    tol: f64,
    single: [Attempt; 1],
    watch: Option<Box<Watch>>, // `None` only while a solve has it
    watches_all: bool,
}

/// Unknowns up to which problems of boxes are solved by the portfolio without a watch, and others mode
/// by mode, unless one was asked for: they take less time than a look at the clock.
const UNWATCHED: usize = 64;

#[derive(Debug)]
enum Method {
    Auto(Box<Auto>),
    Pivoting(Box<Pivoting>),
    Lemke(Box<Lemke>),
    GaussSeidel(Box<GaussSeidel>),
    FischerBurmeister(Box<FischerBurmeister>),
    Enumeration(Enumeration),
    Newton(Box<Newton>),
    InteriorPoint(Box<InteriorPoint>),
    Admm(Box<Admm>),
    Extragradient(Extragradient),
}

impl Workspace {
    /// The method that `solver` names.
    pub fn new(solver: Solver) -> Result<Workspace, NumericsError> {
        solver.check()?;
        let tol = solver.tol();
        let method = match solver {
            Solver::Auto(settings) => Method::Auto(Box::new(Auto::new(settings))),
            Solver::Pivoting(settings) => Method::Pivoting(Box::new(Pivoting::new(settings))),
            Solver::Lemke(settings) => Method::Lemke(Box::new(Lemke::new(settings))),
            Solver::GaussSeidel(settings) => {
                Method::GaussSeidel(Box::new(GaussSeidel::new(settings)))
            }
            Solver::FischerBurmeister(settings) => {
                Method::FischerBurmeister(Box::new(FischerBurmeister::new(settings)))
            }
            Solver::Enumeration(settings) => Method::Enumeration(Enumeration::new(settings)),
            Solver::Newton(settings) => Method::Newton(Box::new(Newton::new(settings))),
            Solver::InteriorPoint(settings) => {
                Method::InteriorPoint(Box::new(InteriorPoint::new(settings)))
            }
            Solver::Admm(settings) => Method::Admm(Box::new(Admm::new(settings))),
            Solver::Extragradient(settings) => Method::Extragradient(Extragradient::new(settings)),
        };
        let none = Attempt { method: "", status: Status::MaxIter, residual: f64::NAN };
        let watch = Some(Box::default());
        Ok(Workspace { method, tol, single: [none], watch, watches_all: false })
    }

    /// Lets solves end early where the flag is set, with [`Status::Interrupted`], and keeps a history
    /// of small problems too.
    pub fn watch(&mut self, interrupt: Option<Interrupt>) {
        self.watches_all = true;
        self.watch.get_or_insert_default().interrupt = interrupt;
    }

    /// Whether solves of so many unknowns are over before anybody could ask them to stop.
    pub fn is_quick(&self, unknowns: usize) -> bool {
        let has_few_steps = matches!(
            self.method,
            Method::Auto(_) | Method::Pivoting(_) | Method::Lemke(_) | Method::FischerBurmeister(_)
        );
        has_few_steps && unknowns <= UNWATCHED
    }

    /// The residuals that the last call measured. Those of problems of at most 64 unknowns that the
    /// portfolio solves in boxes or mode by mode are kept only after [`watch`](Self::watch).
    pub fn history(&self) -> &History {
        static NONE: History = History::NONE;
        self.watch.as_ref().map_or(&NONE, |watch| &watch.history)
    }

    /// Solves from the guess in `z`; leaves the answer in `z` and `w = W z + q`.
    #[inline]
    pub fn solve(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        let n = problem.len();
        for (what, found) in [("z", z.len()), ("w", w.len())] {
            if found != n {
                return Err(NumericsError::Length { what, expected: n, found });
            }
        }
        if let Method::Auto(method) = &mut self.method
            && !self.watches_all
            && n <= UNWATCHED
        {
            // most often: nothing but `q` has changed
            if let Some(report) = method.again(problem, z, w) {
                return Ok(report);
            }
            if problem.is_boxed() && problem.matrix().is_matrix() {
                let report = method.solve_anew(problem, z, w)?;
                return Ok(self.classify(problem, z, w, report));
            }
            if let Some(report) = method.solve_by_modes(problem, z, w) {
                return Ok(report);
            }
        }
        let watch = self.watch.take().unwrap_or_default();
        let (watch, report) = watch::over(watch, || self.run(problem, z, w));
        self.watch = Some(watch);
        let report = self.classify(problem, z, w, report?);
        let Report { method, status, residual, .. } = report;
        self.single = [Attempt { method, status, residual }];
        Ok(report)
    }

    fn run(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        if problem.is_boxed() && problem.matrix().is_matrix() {
            match &mut self.method {
                Method::Auto(method) => method.solve(problem, z, w),
                Method::Pivoting(method) => method.solve(problem, z, w),
                Method::Lemke(method) => method.solve(problem, z, w),
                Method::GaussSeidel(method) => method.solve(problem, z, w),
                Method::FischerBurmeister(method) => method.solve(problem, z, w),
                Method::Enumeration(method) => method.solve(problem, z, w),
                Method::Newton(method) => method.solve(problem, z, w),
                Method::InteriorPoint(method) => method.solve(problem, z, w),
                Method::Admm(method) => method.solve(problem, z, w),
                Method::Extragradient(method) => method.solve(problem, z, w),
            }
        } else {
            match &mut self.method {
                Method::Auto(method) => method.solve(problem, z, w),
                Method::GaussSeidel(method) => method.solve(problem, z, w),
                Method::Newton(method) => method.solve(problem, z, w),
                Method::InteriorPoint(method) => method.solve(problem, z, w),
                Method::Admm(method) => method.solve(problem, z, w),
                Method::Extragradient(method) => method.solve(problem, z, w),
                pivots => pivots.solve_expanded(problem, self.tol, z, w),
            }
        }
    }

    /// What a failure was, as far as it can be told.
    #[inline]
    fn classify(&self, problem: &Problem, z: &[f64], w: &mut [f64], report: Report) -> Report {
        match report.status {
            Status::Solved | Status::Infeasible => report,
            _ => self.failure(problem, z, w, report),
        }
    }

    #[cold]
    fn failure(&self, problem: &Problem, z: &[f64], w: &mut [f64], report: Report) -> Report {
        // measured anew: a solve that was asked to stop has no figures
        let Residual { value, worst } = residual(problem, z, w);
        let report = Report { residual: value, worst, ..report };
        let interrupt = self.watch.as_ref().and_then(|watch| watch.interrupt.as_ref());
        if interrupt.is_some_and(Interrupt::is_set) || watch::is_interrupted() {
            return Report { status: Status::Interrupted, ..report };
        }
        if report.status != Status::Diverged || !value.is_finite() {
            return report;
        }
        let grew = self.history().first().is_some_and(|first| value > first);
        let status = match () {
            () if grew => Status::Diverged,
            () if is_ill_scaled(problem) && is_round_off(problem, z, w) => Status::IllScaled,
            () => Status::Stalled,
        };
        Report { status, ..report }
    }

    /// What the last call tried, in order.
    pub fn attempts(&self) -> &[Attempt] {
        match &self.method {
            Method::Auto(method) => method.attempts(),
            _ => &self.single,
        }
    }

    /// Forgets guesses carried from one call to the next, so that the next call depends on
    /// its arguments only.
    pub fn forget(&mut self) {
        match &mut self.method {
            Method::Auto(method) => method.forget(),
            Method::Pivoting(method) => method.forget(),
            _ => {}
        }
    }

    /// What the next call depends on besides its arguments, to the last bit. `problem` is the one
    /// that the next call will be about, if its matrix is still that of the last one.
    ///
    /// The methods that are not named here start every call from its arguments.
    pub fn memory(&mut self, memory: &mut Memory, problem: Option<&Problem>) {
        match &mut self.method {
            Method::Auto(method) => method.memory(memory, problem),
            Method::Pivoting(method) => method.memory(memory, problem),
            _ => {}
        }
    }
}

impl Method {
    /// Pivoting methods work on the entries of a matrix and on bounds: graphs and friction in the
    /// plane are written as such, other sets refused.
    #[cold]
    fn solve_expanded(
        &mut self,
        problem: &Problem,
        tol: f64,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        let name = match self {
            Method::Pivoting(_) => "pivoting",
            Method::Lemke(_) => "lemke",
            Method::FischerBurmeister(_) => "fischer-burmeister",
            _ => "enumeration",
        };
        let expanded = Expanded::new(problem).ok_or_else(|| unsupported(name, problem))?;
        expanded.solve(problem, tol, z, w, |boxes, y, v| match self {
            Method::Pivoting(method) => Ok(method.run(boxes, y, v, usize::MAX, usize::MAX)),
            Method::Lemke(method) => method.solve(boxes, y, v),
            Method::FischerBurmeister(method) => method.solve(boxes, y, v),
            // its message counts the unknowns of the problem
            Method::Enumeration(method) => match method.solve(boxes, y, v) {
                Err(NumericsError::TooLarge { modes, limit, .. }) => {
                    Err(NumericsError::TooLarge { unknowns: problem.len(), modes, limit })
                }
                result => result,
            },
            _ => Err(unsupported(name, problem)),
        })
    }
}

/// Ratio of the diagonal of `W` beyond which its numbers differ too much in size.
const ILL_SCALED: f64 = 1e12;

/// Whether the diagonal says that units do not fit each other.
fn is_ill_scaled(problem: &Problem) -> bool {
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    if problem.matrix().is_matrix() {
        for i in 0..problem.len() {
            let entry = problem.matrix().get(i, i).abs();
            if entry > 0.0 {
                (least, most) = (least.min(entry), most.max(entry));
            }
        }
    }
    most > ILL_SCALED * least
}

/// What keeps a method from working on a problem.
fn unsupported(method: &'static str, problem: &Problem) -> NumericsError {
    let what = match problem.matrix() {
        Operator::Function(_) => "a map that is not linear",
        Operator::Global(_) => "a pair (M, H)",
        _ => problem
            .placed()
            .iter()
            .find(|block| !matches!(block.set, Set::Graph(_) | Set::Coulomb2 { .. }))
            .map_or("this map", |block| block.set.name()),
    };
    NumericsError::Unsupported { method, what }
}
