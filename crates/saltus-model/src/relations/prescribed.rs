//! Degrees of freedom that move as they are told: boundary conditions.

use crate::{
    At, IntoRelation, Linked, ModelError, Operator, OperatorError, Order, Relation, Terms, check,
};
use saltus_linalg::Matrix;

/// Velocities of some degrees of freedom that are given, constant or functions of time.
///
/// ```text
/// u = v[dofs] − v_p(t),    p[dofs] = λ
/// ```
///
/// With the law of equality, `u = 0`, and `λ` is the reaction. This speaks of velocities alone:
/// there is no gap, and `y` is zero. [`Model::prescribe`](crate::Model::prescribe) connects it.
#[derive(Debug, Clone)]
pub struct Prescribed {
    /// The degrees of freedom, counted over the linked systems.
    pub dofs: Vec<usize>,
    /// Their velocities.
    pub v: Operator,
}

impl Prescribed {
    /// These degrees of freedom with these velocities.
    pub fn new(dofs: impl Into<Vec<usize>>, v: impl Into<Operator>) -> Self {
        Prescribed { dofs: dofs.into(), v: v.into() }
    }
}

/// The relation with its matrix.
#[derive(Debug)]
pub struct CompletePrescribed {
    given: Prescribed,
    dim: usize,
    H: Matrix,
}

impl IntoRelation for Prescribed {
    type Relation = CompletePrescribed;

    fn complete(self, linked: Linked<'_>) -> CompletePrescribed {
        let dim = linked.dofs();
        let mut H = Matrix::zeros(self.dofs.len(), dim);
        for (i, &dof) in self.dofs.iter().enumerate().filter(|(_, dof)| **dof < dim) {
            H[(i, dof)] = 1.0;
        }
        CompletePrescribed { given: self, dim, H }
    }
}

impl Relation for CompletePrescribed {
    fn order(&self) -> Order {
        Order::Second
    }

    fn size(&self) -> usize {
        self.given.dofs.len()
    }

    fn terms(&self) -> Terms {
        Terms { time: true, velocity: true, ..Terms::default() }
    }

    fn is_in_velocities(&self) -> bool {
        true
    }

    fn output(&self, _: At<'_>, y: &mut [f64]) -> Result<(), OperatorError> {
        y.fill(0.0);
        Ok(())
    }

    fn output_dx(&self, _: At<'_>, C: &mut Matrix) -> Result<(), OperatorError> {
        C.copy_from(&self.H);
        Ok(())
    }

    fn output_dlam(&self, _: At<'_>, D: &mut Matrix) -> Result<(), OperatorError> {
        D.reset(self.size(), self.size());
        Ok(())
    }

    fn output_dt(&self, at: At<'_>, rate: &mut [f64]) -> Result<(), OperatorError> {
        self.given.v.eval(At::time(at.t), "v", rate)?;
        rate.iter_mut().for_each(|rate| *rate = -*rate);
        Ok(())
    }

    fn operators(&self) -> Vec<&Operator> {
        vec![&self.given.v]
    }

    fn check(&self, owner: &str, linked: Linked<'_>) -> Result<(), ModelError> {
        let dim = linked.dofs();
        let dofs = &self.given.dofs;
        check::not_empty(owner, "dofs", dofs.len())?;
        check::vector_operator(owner, "v", &self.given.v, dofs.len(), "one for each of `dofs`")?;
        for (i, &dof) in dofs.iter().enumerate() {
            if dof >= self.dim.min(dim) || dofs[..i].contains(&dof) {
                let owner = owner.to_string();
                return Err(ModelError::Dof { owner, index: i, found: dof, dim });
            }
        }
        Ok(())
    }
}
