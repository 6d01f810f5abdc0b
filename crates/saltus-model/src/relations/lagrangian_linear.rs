//! Linear relations of mechanical systems.

use crate::{At, Linear, Linked, ModelError, OperatorError, Order, Relation, Terms, check};
use saltus_linalg::Matrix;

/// A linear relation of mechanical systems.
///
/// ```text
/// y = H q + D λ + b,    u = H v,    p = Hᵀ λ
/// ```
///
/// With a compliance `D` the contact gives way; `λ` is then a force, and the law is one of
/// position.
#[derive(Debug, Clone)]
pub struct LagrangianLinearRelation {
    /// Jacobian of the gap, one row a component.
    pub H: Matrix,
    /// Offset; zero unless given.
    pub b: Option<Vec<f64>>,
    /// Compliance; zero unless given.
    pub D: Option<Matrix>,
}

impl LagrangianLinearRelation {
    /// `y = H q`.
    pub fn new(H: impl Into<Matrix>) -> Self {
        LagrangianLinearRelation { H: H.into(), b: None, D: None }
    }

    /// The same with the offset `b`.
    pub fn b(mut self, b: impl Into<Vec<f64>>) -> Self {
        self.b = Some(b.into());
        self
    }

    /// The same with the compliance `D`.
    pub fn D(mut self, D: impl Into<Matrix>) -> Self {
        self.D = Some(D.into());
        self
    }
}

impl Relation for LagrangianLinearRelation {
    fn order(&self) -> Order {
        Order::Second
    }

    fn size(&self) -> usize {
        self.H.rows()
    }

    fn linear(&self) -> Option<Linear<'_>> {
        Some(Linear { C: &self.H, B: None, D: self.D.as_ref(), e: self.b.as_deref(), moves: false })
    }

    fn terms(&self) -> Terms {
        Terms { through: self.D.is_some(), ..Terms::default() }
    }

    fn output(&self, at: At<'_>, y: &mut [f64]) -> Result<(), OperatorError> {
        self.H.apply(at.first, y);
        if let Some(D) = &self.D {
            D.apply_add(at.second, y);
        }
        if let Some(b) = &self.b {
            y.iter_mut().zip(b).for_each(|(y, b)| *y += b);
        }
        Ok(())
    }

    fn output_dx(&self, _: At<'_>, C: &mut Matrix) -> Result<(), OperatorError> {
        C.copy_from(&self.H);
        Ok(())
    }

    fn output_dlam(&self, _: At<'_>, D: &mut Matrix) -> Result<(), OperatorError> {
        match &self.D {
            Some(value) => D.copy_from(value),
            None => D.reset(self.size(), self.size()),
        }
        Ok(())
    }

    fn output_dt(&self, _: At<'_>, rate: &mut [f64]) -> Result<(), OperatorError> {
        rate.fill(0.0);
        Ok(())
    }

    fn check(&self, owner: &str, linked: Linked<'_>) -> Result<(), ModelError> {
        let dim = linked.states();
        let m = self.size();
        let why = "rows of `H`, degrees of freedom of the linked systems";
        check::not_empty(owner, "H", m)?;
        check::matrix(owner, "H", &self.H, (m, dim), why)?;
        if let Some(b) = &self.b {
            check::vector(owner, "b", b, m, "rows of `H`")?;
        }
        if let Some(D) = &self.D {
            check::matrix(owner, "D", D, (m, m), "rows of `H`")?;
        }
        Ok(())
    }
}
