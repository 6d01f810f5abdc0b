//! The methods, one a file. Each proposes; [`residual`](crate::residual) disposes.
//!
//! | method | for | cost |
//! | --- | --- | --- |
//! | [`Pivoting`] | P-matrices; repeated problems (it keeps the mode and its factors) | one solve a mode |
//! | [`Lemke`] | positive semidefinite, copositive-plus matrices; says when there is no solution | n² a pivot |
//! | [`GaussSeidel`] | symmetric definite or diagonally dominant | one product a sweep |
//! | [`FischerBurmeister`] | P₀-matrices, singular equations, games; many others | one factorization a step |
//! | [`Enumeration`] | anything small; lists all solutions | 2ⁿ to 3ⁿ solves |
//! | [`InteriorPoint`] | cones, friction, boxes, however badly conditioned | one factorization a step |
//! | [`Newton`] | friction and cones at high accuracy, also where `W` is singular | one factorization a step |
//! | [`Admm`] | monotone maps, friction; also where `W` is singular; never condenses `(M, H)` | one factorization in all, one solve an iteration |
//! | [`Extragradient`] | monotone maps of every kind, also functions | two evaluations an iteration |
//! | [`Auto`] | everything above, cheapest first, until verified | |

mod admm;
mod auto;
mod coloured;
mod cones;
mod enumeration;
mod extragradient;
mod fischer_burmeister;
mod gauss_seidel;
mod interior_point;
mod interior_start;
mod islands;
mod josephy;
mod layout;
mod lemke;
mod newton;
mod pivoting;
mod proximal;
mod regions;

pub use admm::Admm;
pub use auto::Auto;
pub use enumeration::{AllSolutions, Enumeration};
pub use extragradient::Extragradient;
pub use fischer_burmeister::FischerBurmeister;
pub use gauss_seidel::GaussSeidel;
pub use interior_point::InteriorPoint;
pub use lemke::Lemke;
pub use newton::Newton;
pub use pivoting::Pivoting;

use crate::polyhedral::Expanded;
use crate::{Attempt, NumericsError, Operator, Problem, Report, Set, Solver};

/// A method with the buffers it keeps between calls.
#[derive(Debug)]
pub struct Workspace {
    method: Method,
    tol: f64,
    single: [Attempt; 1],
}

#[derive(Debug)]
enum Method {
    Auto(Box<Auto>),
    Pivoting(Pivoting),
    Lemke(Box<Lemke>),
    GaussSeidel(GaussSeidel),
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
            Solver::Pivoting(settings) => Method::Pivoting(Pivoting::new(settings)),
            Solver::Lemke(settings) => Method::Lemke(Box::new(Lemke::new(settings))),
            Solver::GaussSeidel(settings) => Method::GaussSeidel(GaussSeidel::new(settings)),
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
        let none = Attempt { method: "", status: crate::Status::MaxIter, residual: f64::NAN };
        Ok(Workspace { method, tol, single: [none] })
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
        let report = if problem.is_boxed() && problem.matrix().is_matrix() {
            match &mut self.method {
                Method::Auto(method) => return method.solve(problem, z, w),
                Method::Pivoting(method) => method.run(problem, z, w, usize::MAX, usize::MAX),
                Method::Lemke(method) => method.solve(problem, z, w)?,
                Method::GaussSeidel(method) => method.solve(problem, z, w)?,
                Method::FischerBurmeister(method) => method.solve(problem, z, w)?,
                Method::Enumeration(method) => method.solve(problem, z, w)?,
                Method::Newton(method) => method.solve(problem, z, w)?,
                Method::InteriorPoint(method) => method.solve(problem, z, w)?,
                Method::Admm(method) => method.solve(problem, z, w)?,
                Method::Extragradient(method) => method.solve(problem, z, w)?,
            }
        } else {
            match &mut self.method {
                Method::Auto(method) => return method.solve(problem, z, w),
                Method::GaussSeidel(method) => method.solve(problem, z, w)?,
                Method::Newton(method) => method.solve(problem, z, w)?,
                Method::InteriorPoint(method) => method.solve(problem, z, w)?,
                Method::Admm(method) => method.solve(problem, z, w)?,
                Method::Extragradient(method) => method.solve(problem, z, w)?,
                pivots => pivots.solve_expanded(problem, self.tol, z, w)?,
            }
        };
        let Report { method, status, residual, .. } = report;
        self.single = [Attempt { method, status, residual }];
        Ok(report)
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
            Method::Enumeration(method) => method.solve(boxes, y, v),
            _ => Err(unsupported(name, problem)),
        })
    }
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
