//! Relations of first-order systems that are not linear.

use crate::{
    Argument, At, Input, IntoRelation, Jacobian, Linked, ModelError, Operator, OperatorError,
    Order, Relation, Terms, check,
};
use saltus_linalg::Matrix;

/// A relation of first-order systems.
///
/// ```text
/// y = h(t, x, λ),    r = g(t, x, λ)
/// ```
///
/// What is not given is exact for a formula, and by differences for a function.
#[derive(Debug, Clone)]
pub struct FirstOrderRelation {
    /// The output.
    pub h: Operator,
    /// The input.
    pub g: Operator,
    /// `∂h/∂x`, if it is not to be found out.
    pub dh_dx: Option<Operator>,
    /// `∂h/∂λ`, likewise.
    pub dh_dlam: Option<Operator>,
    /// `∂g/∂x`, likewise.
    pub dg_dx: Option<Operator>,
    /// `∂g/∂λ`, likewise.
    pub dg_dlam: Option<Operator>,
    /// The inputs until they are set; none unless given.
    pub z0: Vec<f64>,
}

impl FirstOrderRelation {
    /// `y = h`, `r = g`.
    pub fn new(h: impl Into<Operator>, g: impl Into<Operator>) -> Self {
        FirstOrderRelation {
            h: h.into(),
            g: g.into(),
            dh_dx: None,
            dh_dlam: None,
            dg_dx: None,
            dg_dlam: None,
            z0: Vec::new(),
        }
    }
}

/// A relation with its Jacobians.
#[derive(Debug)]
pub struct CompleteFirstOrder {
    h: Operator,
    g: Operator,
    dh_dx: Operator,
    dh_dlam: Operator,
    dg_dx: Operator,
    dg_dlam: Operator,
    z0: Vec<f64>,
    given: [bool; 4], // which of the Jacobians
}

impl IntoRelation for FirstOrderRelation {
    type Relation = CompleteFirstOrder;

    fn complete(self, linked: Linked<'_>) -> CompleteFirstOrder {
        let dim = linked.states();
        let FirstOrderRelation { h, g, dh_dx, dh_dlam, dg_dx, dg_dlam, z0 } = self;
        let size = h.rows();
        let (first, second) = (Argument::First, Argument::Second);
        let given = [&dh_dx, &dh_dlam, &dg_dx, &dg_dlam].map(Option::is_some);
        CompleteFirstOrder {
            dh_dx: dh_dx.unwrap_or_else(|| h.derivative(first, dim)),
            dh_dlam: dh_dlam.unwrap_or_else(|| h.derivative(second, size)),
            dg_dx: dg_dx.unwrap_or_else(|| g.derivative(first, dim)),
            dg_dlam: dg_dlam.unwrap_or_else(|| g.derivative(second, size)),
            h,
            g,
            z0,
            given,
        }
    }
}

impl Relation for CompleteFirstOrder {
    fn order(&self) -> Order {
        Order::First
    }

    fn size(&self) -> usize {
        self.h.rows()
    }

    fn z0(&self) -> &[f64] {
        &self.z0
    }

    fn terms(&self) -> Terms {
        Terms {
            through: !self.dh_dlam.is_zero(),
            time: self.h.uses(Argument::Time),
            feedback: !self.dg_dx.is_zero(),
            velocity: false,
        }
    }

    fn output(&self, at: At<'_>, y: &mut [f64]) -> Result<(), OperatorError> {
        self.h.eval(at, "h", y)
    }

    fn output_dx(&self, at: At<'_>, C: &mut Matrix) -> Result<(), OperatorError> {
        self.dh_dx.eval_matrix(at, "dh_dx", C)
    }

    fn output_dlam(&self, at: At<'_>, D: &mut Matrix) -> Result<(), OperatorError> {
        self.dh_dlam.eval_matrix(at, "dh_dlam", D)
    }

    fn output_dt(&self, _: At<'_>, rate: &mut [f64]) -> Result<(), OperatorError> {
        rate.fill(0.0);
        Ok(())
    }

    fn input(&self) -> Option<&dyn Input> {
        Some(self)
    }

    fn operators(&self) -> Vec<&Operator> {
        vec![&self.h, &self.g, &self.dh_dx, &self.dh_dlam, &self.dg_dx, &self.dg_dlam]
    }

    fn jacobians(&self) -> Vec<Jacobian<'_>> {
        let (h, g) = (&self.h, &self.g);
        let (x, lam) = (Argument::First, Argument::Second);
        let of = |name, k: usize, value, function, by| {
            let given = self.given[k];
            Jacobian { name, given, value, function, by }
        };
        vec![
            of("dh_dx", 0, &self.dh_dx, h, x),
            of("dh_dlam", 1, &self.dh_dlam, h, lam),
            of("dg_dx", 2, &self.dg_dx, g, x),
            of("dg_dlam", 3, &self.dg_dlam, g, lam),
        ]
    }

    fn check(&self, owner: &str, linked: Linked<'_>) -> Result<(), ModelError> {
        let dim = linked.states();
        let m = self.size();
        let (of_h, of_x) = ("components of `h`", "state components of the linked systems");
        check::not_empty(owner, "h", m)?;
        check::vector(owner, "z0", &self.z0, self.z0.len(), "")?;
        check::vector_operator(owner, "h", &self.h, m, "one column")?;
        check::vector_operator(owner, "g", &self.g, dim, of_x)?;
        let both = "components of `h`, state components of the linked systems";
        check::matrix_operator(owner, "dh_dx", &self.dh_dx, (m, dim), both)?;
        check::matrix_operator(owner, "dh_dlam", &self.dh_dlam, (m, m), of_h)?;
        check::matrix_operator(owner, "dg_dx", &self.dg_dx, (dim, dim), of_x)?;
        check::matrix_operator(owner, "dg_dlam", &self.dg_dlam, (dim, m), both)
    }
}

impl Input for CompleteFirstOrder {
    fn value(&self, at: At<'_>, r: &mut [f64]) -> Result<(), OperatorError> {
        self.g.eval(at, "g", r)
    }

    fn dlam(&self, at: At<'_>, B: &mut Matrix) -> Result<(), OperatorError> {
        self.dg_dlam.eval_matrix(at, "dg_dlam", B)
    }

    fn dx(&self, at: At<'_>, K: &mut Matrix) -> Result<(), OperatorError> {
        self.dg_dx.eval_matrix(at, "dg_dx", K)
    }
}
