//! Linear relations of first-order systems.

use crate::{
    Argument, At, Input, Line, Linear, Linked, ModelError, Operator, OperatorError, Order,
    Relation, Terms, check,
};
use saltus_linalg::Matrix;

/// A linear relation of first-order systems.
///
/// ```text
/// y = C(t) x + D(t) λ + e(t) + F(t) z,    r = B(t) λ
/// ```
///
/// `z` are inputs that stay as they are until they are set.
#[derive(Debug, Clone)]
pub struct FirstOrderLinearRelation {
    /// Output matrix, one row a component.
    pub C: Operator,
    /// Input matrix, one column a component.
    pub B: Operator,
    /// Feed-through; zero unless given.
    pub D: Option<Operator>,
    /// Offset; zero unless given.
    pub e: Option<Operator>,
    /// Weight of the inputs; zero unless given.
    pub F: Option<Operator>,
    /// The inputs until they are set, one for each column of `F`.
    pub z0: Vec<f64>,
    /// A size of `y` that counts where its terms are smaller; zero unless given.
    pub unit: f64,
}

impl FirstOrderLinearRelation {
    /// `y = C x`, `r = B λ`.
    pub fn new(C: impl Into<Operator>, B: impl Into<Operator>) -> Self {
        let (C, B) = (C.into(), B.into());
        FirstOrderLinearRelation { C, B, D: None, e: None, F: None, z0: Vec::new(), unit: 0.0 }
    }

    /// The same with the feed-through `D`.
    pub fn D(mut self, D: impl Into<Operator>) -> Self {
        self.D = Some(D.into());
        self
    }

    /// The same with the offset `e`.
    pub fn e(mut self, e: impl Into<Operator>) -> Self {
        self.e = Some(e.into());
        self
    }

    /// The same where `y` of this size counts: of a sum that cancels its terms tell nothing.
    pub fn unit(mut self, unit: f64) -> Self {
        self.unit = unit;
        self
    }

    /// The same with inputs and their weight `F`.
    pub fn inputs(mut self, F: impl Into<Operator>, z0: impl Into<Vec<f64>>) -> Self {
        self.F = Some(F.into());
        self.z0 = z0.into();
        self
    }
}

impl FirstOrderLinearRelation {
    fn parts(&self) -> impl Iterator<Item = &Operator> {
        [Some(&self.C), Some(&self.B), self.D.as_ref(), self.e.as_ref(), self.F.as_ref()]
            .into_iter()
            .flatten()
    }
}

impl Relation for FirstOrderLinearRelation {
    fn order(&self) -> Order {
        Order::First
    }

    fn size(&self) -> usize {
        self.C.rows()
    }

    fn z0(&self) -> &[f64] {
        &self.z0
    }

    fn unit(&self) -> f64 {
        self.unit
    }

    fn linear(&self) -> Option<Linear<'_>> {
        let moves = self.e.as_ref().is_some_and(|e| e.as_constant().is_none());
        let matrices = [Some(&self.C), Some(&self.B), self.D.as_ref()];
        let mut matrices = matrices.into_iter().flatten();
        if self.F.is_some() || matrices.any(|matrix| matrix.as_constant().is_none()) {
            return None;
        }
        Some(Linear {
            moves,
            C: self.C.as_constant()?,
            B: self.B.as_constant(),
            D: self.D.as_ref().and_then(Operator::as_constant),
            e: self.e.as_ref().and_then(Operator::as_constant).map(Matrix::data),
        })
    }

    fn offset(&self, t: f64, e: &mut [f64]) -> Result<(), OperatorError> {
        match &self.e {
            Some(value) => value.eval(At::time(t), "e", e),
            None => {
                e.fill(0.0);
                Ok(())
            }
        }
    }

    fn offset_line(&self, t: f64, at: &mut [f64], rate: &mut [f64]) -> Option<Line> {
        self.e.as_ref()?.line(t, at, rate)
    }

    fn terms(&self) -> Terms {
        let time = self.parts().any(|part| part.uses(Argument::Time));
        Terms { through: self.D.is_some(), time, ..Terms::default() }
    }

    fn output(&self, at: At<'_>, y: &mut [f64]) -> Result<(), OperatorError> {
        match &self.e {
            Some(e) => e.eval(at, "e", y)?,
            None => y.fill(0.0),
        }
        self.C.apply_add(at, "C", at.first, y)?;
        if let Some(D) = &self.D {
            D.apply_add(at, "D", at.second, y)?;
        }
        if let Some(F) = &self.F {
            F.apply_add(at, "F", at.inputs, y)?;
        }
        Ok(())
    }

    fn output_dx(&self, at: At<'_>, C: &mut Matrix) -> Result<(), OperatorError> {
        self.C.eval_matrix(at, "C", C)
    }

    fn output_dlam(&self, at: At<'_>, D: &mut Matrix) -> Result<(), OperatorError> {
        match &self.D {
            Some(value) => value.eval_matrix(at, "D", D),
            None => {
                D.reset(self.size(), self.size());
                Ok(())
            }
        }
    }

    fn output_dt(&self, _: At<'_>, rate: &mut [f64]) -> Result<(), OperatorError> {
        rate.fill(0.0);
        Ok(())
    }

    fn input(&self) -> Option<&dyn Input> {
        Some(self)
    }

    fn operators(&self) -> Vec<&Operator> {
        self.parts().collect()
    }

    fn check(&self, owner: &str, linked: Linked<'_>) -> Result<(), ModelError> {
        let dim = linked.states();
        let m = self.size();
        let why = "rows of `C`, state components of the linked systems";
        check::not_empty(owner, "C", m)?;
        check::matrix_operator(owner, "C", &self.C, (m, dim), why)?;
        check::matrix_operator(owner, "B", &self.B, (dim, m), "as `C` transposed")?;
        if let Some(D) = &self.D {
            check::matrix_operator(owner, "D", D, (m, m), "rows of `C`")?;
        }
        if let Some(e) = &self.e {
            check::vector_operator(owner, "e", e, m, "rows of `C`")?;
        }
        let inputs = self.F.as_ref().map_or(0, |F| F.shape().1);
        if let Some(F) = &self.F {
            check::matrix_operator(owner, "F", F, (m, inputs), "rows of `C`")?;
        }
        check::vector(owner, "z0", &self.z0, inputs, "columns of `F`")
    }
}

impl Input for FirstOrderLinearRelation {
    fn value(&self, at: At<'_>, r: &mut [f64]) -> Result<(), OperatorError> {
        r.fill(0.0);
        self.B.apply_add(at, "B", at.second, r)
    }

    fn dlam(&self, at: At<'_>, B: &mut Matrix) -> Result<(), OperatorError> {
        self.B.eval_matrix(at, "B", B)
    }

    fn dx(&self, _: At<'_>, K: &mut Matrix) -> Result<(), OperatorError> {
        let dim = self.B.rows();
        K.reset(dim, dim);
        Ok(())
    }
}
