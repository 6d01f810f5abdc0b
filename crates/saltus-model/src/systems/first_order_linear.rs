//! Linear first-order systems: circuits, linear plants, networks.

use crate::check;
use crate::system::FirstOrderDependence;
use crate::{At, Dependence, FirstOrderSystem, Line, ModelError, Operator, OperatorError};
use saltus_linalg::Matrix;

/// A linear first-order system.
///
/// ```text
/// M ẋ = A(t) x + b(t) + r
/// ```
///
/// `M` is the identity unless given, and may be singular (a differential-algebraic system).
#[derive(Debug, Clone)]
pub struct FirstOrderLinear {
    /// The initial state.
    pub x0: Vec<f64>,
    /// `A`, constant or a function of time.
    pub A: Operator,
    /// `b`, constant or a function of time; zero unless given.
    pub b: Option<Operator>,
    /// `M`; the identity unless given.
    pub M: Option<Matrix>,
}

impl FirstOrderLinear {
    /// `ẋ = A x + r` from `x0`.
    pub fn new(x0: impl Into<Vec<f64>>, A: impl Into<Operator>) -> Self {
        FirstOrderLinear { x0: x0.into(), A: A.into(), b: None, M: None }
    }

    /// The same with the forcing `b`.
    pub fn b(mut self, b: impl Into<Operator>) -> Self {
        self.b = Some(b.into());
        self
    }

    /// The same with the mass matrix `M`.
    pub fn M(mut self, M: impl Into<Matrix>) -> Self {
        self.M = Some(M.into());
        self
    }
}

impl FirstOrderSystem for FirstOrderLinear {
    fn dim(&self) -> usize {
        self.x0.len()
    }

    fn x0(&self) -> &[f64] {
        &self.x0
    }

    fn dependence(&self) -> FirstOrderDependence {
        FirstOrderDependence {
            mass: Dependence::Constant,
            jacobian: Dependence::of(&self.A),
            forcing: self.b.as_ref().map_or(Dependence::Constant, Dependence::of),
        }
    }

    fn mass(&self, _: At<'_>, M: &mut Matrix) -> Result<(), OperatorError> {
        match &self.M {
            Some(value) => M.copy_from(value),
            None => M.set_identity(self.dim()),
        }
        Ok(())
    }

    fn rhs(&self, at: At<'_>, f: &mut [f64]) -> Result<(), OperatorError> {
        self.forcing(at.t, f)?;
        self.A.apply_add(at, "A", at.first, f)
    }

    fn forcing(&self, t: f64, b: &mut [f64]) -> Result<(), OperatorError> {
        match &self.b {
            Some(value) => value.eval(At::time(t), "b", b),
            None => {
                b.fill(0.0);
                Ok(())
            }
        }
    }

    fn forcing_varies(&self, component: usize) -> bool {
        self.b.as_ref().is_some_and(|b| b.varies(component))
    }

    fn forcing_line(&self, t: f64, at: &mut [f64], rate: &mut [f64]) -> Option<Line> {
        self.b.as_ref()?.line(t, at, rate)
    }

    fn rhs_dx(&self, at: At<'_>, A: &mut Matrix) -> Result<(), OperatorError> {
        self.A.eval_matrix(at, "A", A)
    }

    fn operators(&self) -> Vec<&Operator> {
        std::iter::once(&self.A).chain(&self.b).collect()
    }

    fn check(&self, owner: &str) -> Result<(), ModelError> {
        let n = self.dim();
        let why = "the length of `x0`";
        check::not_empty(owner, "x0", n)?;
        check::vector(owner, "x0", &self.x0, n, why)?;
        check::matrix_operator(owner, "A", &self.A, (n, n), why)?;
        if let Some(b) = &self.b {
            check::vector_operator(owner, "b", b, n, why)?;
        }
        if let Some(M) = &self.M {
            check::matrix(owner, "M", M, (n, n), why)?;
        }
        Ok(())
    }
}
