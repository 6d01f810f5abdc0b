//! Nonlinear first-order systems.

use crate::check;
use crate::system::FirstOrderDependence;
use crate::{
    Argument, At, Dependence, FirstOrderSystem, Jacobian, ModelError, Operator, OperatorError,
    System,
};
use saltus_linalg::Matrix;
use std::sync::Arc;

/// A nonlinear first-order system.
///
/// ```text
/// M(t) ẋ = f(t, x, z) + r
/// ```
///
/// `M` is the identity unless given, and may be singular. `z` are inputs that stay as they are
/// until they are set. A missing Jacobian is exact for a formula, and by differences for a
/// function.
#[derive(Debug, Clone)]
pub struct FirstOrder {
    /// The initial state.
    pub x0: Vec<f64>,
    /// `f`.
    pub f: Operator,
    /// `∂f/∂x`, if it is not to be found out.
    pub df_dx: Option<Operator>,
    /// `M`; the identity unless given.
    pub M: Option<Operator>,
    /// The inputs until they are set; none unless given.
    pub z0: Vec<f64>,
}

impl FirstOrder {
    /// `ẋ = f + r` from `x0`.
    pub fn new(x0: impl Into<Vec<f64>>, f: impl Into<Operator>) -> Self {
        FirstOrder { x0: x0.into(), f: f.into(), df_dx: None, M: None, z0: Vec::new() }
    }

    /// The same with the Jacobian `∂f/∂x`.
    pub fn df_dx(mut self, df_dx: impl Into<Operator>) -> Self {
        self.df_dx = Some(df_dx.into());
        self
    }

    /// The same with the mass matrix `M`.
    pub fn M(mut self, M: impl Into<Operator>) -> Self {
        self.M = Some(M.into());
        self
    }

    /// The same with inputs.
    pub fn z0(mut self, z0: impl Into<Vec<f64>>) -> Self {
        self.z0 = z0.into();
        self
    }
}

/// The system with its Jacobian.
#[derive(Debug)]
struct Complete {
    given: FirstOrder,
    df_dx: Operator,
}

impl From<FirstOrder> for System {
    fn from(given: FirstOrder) -> Self {
        let derivative = || given.f.derivative(Argument::First, given.x0.len());
        let df_dx = given.df_dx.clone().unwrap_or_else(derivative);
        System::FirstOrder(Arc::new(Complete { given, df_dx }))
    }
}

impl FirstOrderSystem for Complete {
    fn dim(&self) -> usize {
        self.given.x0.len()
    }

    fn x0(&self) -> &[f64] {
        &self.given.x0
    }

    fn z0(&self) -> &[f64] {
        &self.given.z0
    }

    fn dependence(&self) -> FirstOrderDependence {
        let FirstOrder { f, M, .. } = &self.given;
        let linear = !f.uses(Argument::First) && !f.uses(Argument::Inputs);
        FirstOrderDependence {
            mass: M.as_ref().map_or(Dependence::Constant, Dependence::of),
            jacobian: if linear { Dependence::Constant } else { Dependence::State },
            forcing: Dependence::of(f),
        }
    }

    fn mass(&self, at: At<'_>, M: &mut Matrix) -> Result<(), OperatorError> {
        match &self.given.M {
            Some(value) => value.eval_matrix(at, "M", M),
            None => {
                M.set_identity(self.dim());
                Ok(())
            }
        }
    }

    fn rhs(&self, at: At<'_>, f: &mut [f64]) -> Result<(), OperatorError> {
        self.given.f.eval(at, "f", f)
    }

    fn forcing(&self, t: f64, b: &mut [f64]) -> Result<(), OperatorError> {
        self.given.f.eval(At::time(t), "f", b)
    }

    fn rhs_dx(&self, at: At<'_>, A: &mut Matrix) -> Result<(), OperatorError> {
        self.df_dx.eval_matrix(at, "df_dx", A)
    }

    fn operators(&self) -> Vec<&Operator> {
        [&self.given.f, &self.df_dx].into_iter().chain(&self.given.M).collect()
    }

    fn jacobians(&self) -> Vec<Jacobian<'_>> {
        let (value, function, given) = (&self.df_dx, &self.given.f, self.given.df_dx.is_some());
        vec![Jacobian { name: "df_dx", given, value, function, by: Argument::First }]
    }

    fn check(&self, owner: &str) -> Result<(), ModelError> {
        let n = self.dim();
        let why = "the length of `x0`";
        check::not_empty(owner, "x0", n)?;
        check::vector(owner, "x0", &self.given.x0, n, why)?;
        check::vector(owner, "z0", &self.given.z0, self.given.z0.len(), "")?;
        check::vector_operator(owner, "f", &self.given.f, n, why)?;
        check::matrix_operator(owner, "df_dx", &self.df_dx, (n, n), why)?;
        if let Some(M) = &self.given.M {
            check::matrix_operator(owner, "M", M, (n, n), why)?;
        }
        Ok(())
    }
}
