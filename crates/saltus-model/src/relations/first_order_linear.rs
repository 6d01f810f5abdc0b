//! Linear relations of first-order systems.

use crate::{ModelError, Order, Relation, check};
use saltus_linalg::Matrix;

/// A linear relation of first-order systems.
///
/// ```text
/// y = C x + D λ + e,    r = B λ
/// ```
#[derive(Debug, Clone)]
pub struct FirstOrderLinearRelation {
    /// Output matrix, one row a component.
    pub C: Matrix,
    /// Input matrix, one column a component.
    pub B: Matrix,
    /// Feed-through; zero unless given.
    pub D: Option<Matrix>,
    /// Offset; zero unless given.
    pub e: Option<Vec<f64>>,
}

impl FirstOrderLinearRelation {
    /// `y = C x`, `r = B λ`.
    pub fn new(C: impl Into<Matrix>, B: impl Into<Matrix>) -> Self {
        FirstOrderLinearRelation { C: C.into(), B: B.into(), D: None, e: None }
    }

    /// The same with the feed-through `D`.
    pub fn D(mut self, D: impl Into<Matrix>) -> Self {
        self.D = Some(D.into());
        self
    }

    /// The same with the offset `e`.
    pub fn e(mut self, e: impl Into<Vec<f64>>) -> Self {
        self.e = Some(e.into());
        self
    }
}

impl Relation for FirstOrderLinearRelation {
    fn order(&self) -> Order {
        Order::First
    }

    fn size(&self) -> usize {
        self.C.rows()
    }

    fn dy_dx(&self) -> &Matrix {
        &self.C
    }

    fn dy_dlam(&self) -> Option<&Matrix> {
        self.D.as_ref()
    }

    fn dr_dlam(&self) -> Option<&Matrix> {
        Some(&self.B)
    }

    fn offset(&self) -> Option<&[f64]> {
        self.e.as_deref()
    }

    fn check(&self, owner: &str, dim: usize) -> Result<(), ModelError> {
        let m = self.size();
        let why = "rows of `C`, state components of the linked systems";
        check::not_empty(owner, "C", m)?;
        check::matrix(owner, "C", &self.C, (m, dim), why)?;
        check::matrix(owner, "B", &self.B, (dim, m), "as `C` transposed")?;
        if let Some(D) = &self.D {
            check::matrix(owner, "D", D, (m, m), "rows of `C`")?;
        }
        if let Some(e) = &self.e {
            check::vector(owner, "e", e, m, "rows of `C`")?;
        }
        Ok(())
    }
}
