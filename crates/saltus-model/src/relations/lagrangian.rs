//! Relations of mechanical systems that are not linear, or move with time, or give way.

use crate::{
    Argument, At, IntoRelation, Jacobian, Linked, ModelError, Operator, OperatorError, Order,
    Relation, Terms, check,
};
use saltus_linalg::Matrix;

/// A relation of mechanical systems, possibly moving with time.
///
/// ```text
/// y = h(t, q),    u = H v + ∂h/∂t,    H = ∂h/∂q,    p = Hᵀ λ
/// ```
///
/// What is not given is exact for a formula, and by differences for a function.
#[derive(Debug, Clone)]
pub struct LagrangianRelation {
    /// The gap.
    pub h: Operator,
    /// `∂h/∂q`, if it is not to be found out.
    pub H: Option<Operator>,
    /// `∂h/∂t`, likewise.
    pub dh_dt: Option<Operator>,
}

impl LagrangianRelation {
    /// `y = h(t, q)`.
    pub fn new(h: impl Into<Operator>) -> Self {
        LagrangianRelation { h: h.into(), H: None, dh_dt: None }
    }

    /// The same with the Jacobian `∂h/∂q`.
    pub fn H(mut self, H: impl Into<Operator>) -> Self {
        self.H = Some(H.into());
        self
    }

    /// The same with the rate `∂h/∂t`.
    pub fn dh_dt(mut self, dh_dt: impl Into<Operator>) -> Self {
        self.dh_dt = Some(dh_dt.into());
        self
    }
}

/// A relation of mechanical systems that gives way under the multiplier.
///
/// ```text
/// y = h(q, λ),    H = ∂h/∂q,    p = Hᵀ λ
/// ```
#[derive(Debug, Clone)]
pub struct LagrangianCompliant {
    /// The gap.
    pub h: Operator,
    /// `∂h/∂q`, if it is not to be found out.
    pub H: Option<Operator>,
    /// `∂h/∂λ`, likewise.
    pub dh_dlam: Option<Operator>,
}

impl LagrangianCompliant {
    /// `y = h(q, λ)`.
    pub fn new(h: impl Into<Operator>) -> Self {
        LagrangianCompliant { h: h.into(), H: None, dh_dlam: None }
    }
}

/// A relation with its Jacobians.
#[derive(Debug)]
pub struct CompleteLagrangian {
    h: Operator,
    H: Operator,
    dh_dt: Operator,
    dh_dlam: Option<Operator>,
    joined: Option<Operator>, // h and H, evaluated in one go
    noise: f64,
    given: [bool; 3], // which of the Jacobians H, ∂h/∂t, ∂h/∂λ
}

impl IntoRelation for LagrangianRelation {
    type Relation = CompleteLagrangian;

    fn complete(self, linked: Linked<'_>) -> CompleteLagrangian {
        let dim = linked.states();
        let LagrangianRelation { h, H, dh_dt } = self;
        let (noise, given) = (noise(&h, &H, &dh_dt), [H.is_some(), dh_dt.is_some(), false]);
        let H = H.unwrap_or_else(|| h.accurate_derivative(Argument::First, dim));
        CompleteLagrangian {
            noise,
            given,
            joined: join(&h, &H, dim),
            H,
            dh_dt: dh_dt.unwrap_or_else(|| h.accurate_derivative(Argument::Time, 1)),
            dh_dlam: None,
            h,
        }
    }
}

impl IntoRelation for LagrangianCompliant {
    type Relation = CompleteLagrangian;

    fn complete(self, linked: Linked<'_>) -> CompleteLagrangian {
        let dim = linked.states();
        let LagrangianCompliant { h, H, dh_dlam } = self;
        let size = h.rows();
        let noise = noise(&h, &H, &Some(Operator::zero(size, 1)));
        let given = [H.is_some(), false, dh_dlam.is_some()];
        let H = H.unwrap_or_else(|| h.accurate_derivative(Argument::First, dim));
        CompleteLagrangian {
            noise,
            given,
            joined: join(&h, &H, dim),
            H,
            dh_dt: Operator::zero(size, 1),
            dh_dlam: Some(dh_dlam.unwrap_or_else(|| h.derivative(Argument::Second, size))),
            h,
        }
    }
}

/// Both in one evaluation, where they are formulas of the right shapes.
fn join(h: &Operator, H: &Operator, dim: usize) -> Option<Operator> {
    let fits = h.shape() == (h.rows(), 1) && H.shape() == (h.rows(), dim);
    fits.then(|| Operator::joined(&[h, H]))?
}

/// That of central differences, where `H` or `∂h/∂t` is neither given nor exact.
fn noise(h: &Operator, H: &Option<Operator>, dh_dt: &Option<Operator>) -> f64 {
    let by_q = H.is_some() || h.is_differentiable(Argument::First);
    let by_t = dh_dt.is_some() || h.is_differentiable(Argument::Time);
    if by_q && by_t { 0.0 } else { 1e-9 }
}

impl Relation for CompleteLagrangian {
    fn order(&self) -> Order {
        Order::Second
    }

    fn size(&self) -> usize {
        self.h.rows()
    }

    fn terms(&self) -> Terms {
        let (through, time) = (self.dh_dlam.is_some(), !self.dh_dt.is_zero());
        Terms { through, time, ..Terms::default() }
    }

    fn noise(&self) -> f64 {
        self.noise
    }

    fn output(&self, at: At<'_>, y: &mut [f64]) -> Result<(), OperatorError> {
        self.h.eval(at, "h", y)
    }

    fn output_dx(&self, at: At<'_>, C: &mut Matrix) -> Result<(), OperatorError> {
        self.H.eval_matrix(at, "H", C)
    }

    fn output_and_dx(
        &self,
        at: At<'_>,
        y: &mut [f64],
        C: &mut Matrix,
        work: &mut Vec<f64>,
    ) -> Result<(), OperatorError> {
        let Some(joined) = &self.joined else {
            self.output(at, y)?;
            return self.output_dx(at, C);
        };
        work.resize(joined.rows(), 0.0);
        joined.eval(at, "h or H", work)?;
        let (output, H) = work.split_at(y.len());
        y.copy_from_slice(output);
        C.resize(y.len(), self.H.shape().1);
        C.data_mut().copy_from_slice(H);
        Ok(())
    }

    fn output_with_dx(&self) -> Option<&Operator> {
        self.joined.as_ref()
    }

    fn output_dlam(&self, at: At<'_>, D: &mut Matrix) -> Result<(), OperatorError> {
        match &self.dh_dlam {
            Some(value) => value.eval_matrix(at, "dh_dlam", D),
            None => {
                D.reset(self.size(), self.size());
                Ok(())
            }
        }
    }

    fn output_dt(&self, at: At<'_>, rate: &mut [f64]) -> Result<(), OperatorError> {
        self.dh_dt.eval(at, "dh_dt", rate)
    }

    fn operators(&self) -> Vec<&Operator> {
        let all = [&self.h, &self.H, &self.dh_dt].into_iter();
        all.chain(&self.dh_dlam).chain(&self.joined).collect()
    }

    fn jacobians(&self) -> Vec<Jacobian<'_>> {
        let function = &self.h;
        let of = |name, given, value, by| Jacobian { name, given, value, function, by };
        let [H, dh_dt, dh_dlam] = self.given;
        let mut all = vec![of("H", H, &self.H, Argument::First)];
        match &self.dh_dlam {
            Some(value) => all.push(of("dh_dlam", dh_dlam, value, Argument::Second)),
            None => all.push(of("dh_dt", dh_dt, &self.dh_dt, Argument::Time)),
        }
        all
    }

    fn check(&self, owner: &str, linked: Linked<'_>) -> Result<(), ModelError> {
        let dim = linked.states();
        let m = self.size();
        let why = "components of `h`, degrees of freedom of the linked systems";
        check::not_empty(owner, "h", m)?;
        check::vector_operator(owner, "h", &self.h, m, "one column")?;
        check::matrix_operator(owner, "H", &self.H, (m, dim), why)?;
        check::vector_operator(owner, "dh_dt", &self.dh_dt, m, "components of `h`")?;
        if let Some(dh_dlam) = &self.dh_dlam {
            check::matrix_operator(owner, "dh_dlam", dh_dlam, (m, m), "components of `h`")?;
        }
        Ok(())
    }
}
