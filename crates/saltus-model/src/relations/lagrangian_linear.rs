//! Linear relations of mechanical systems.

use crate::{ModelError, Order, Relation, check};
use saltus_linalg::Matrix;

/// A linear relation of mechanical systems.
///
/// ```text
/// y = H q + b,    u = H v,    p = Hᵀ λ
/// ```
#[derive(Debug, Clone)]
pub struct LagrangianLinearRelation {
    /// Jacobian of the gap, one row a component.
    pub H: Matrix,
    /// Offset; zero unless given.
    pub b: Option<Vec<f64>>,
}

impl LagrangianLinearRelation {
    /// `y = H q`.
    pub fn new(H: impl Into<Matrix>) -> Self {
        LagrangianLinearRelation { H: H.into(), b: None }
    }

    /// The same with the offset `b`.
    pub fn b(mut self, b: impl Into<Vec<f64>>) -> Self {
        self.b = Some(b.into());
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

    fn dy_dx(&self) -> &Matrix {
        &self.H
    }

    fn dy_dlam(&self) -> Option<&Matrix> {
        None
    }

    fn dr_dlam(&self) -> Option<&Matrix> {
        None
    }

    fn offset(&self) -> Option<&[f64]> {
        self.b.as_deref()
    }

    fn check(&self, owner: &str, dim: usize) -> Result<(), ModelError> {
        let m = self.size();
        let why = "rows of `H`, degrees of freedom of the linked systems";
        check::not_empty(owner, "H", m)?;
        check::matrix(owner, "H", &self.H, (m, dim), why)?;
        if let Some(b) = &self.b {
            check::vector(owner, "b", b, m, "rows of `H`")?;
        }
        Ok(())
    }
}
