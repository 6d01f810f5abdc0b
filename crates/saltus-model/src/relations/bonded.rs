//! A relation with its components twice: those of a contact, and those of the bond across it.

use crate::{At, Jacobian, Linked, ModelError, Operator, OperatorError, Order, Relation, Terms};
use saltus_linalg::Matrix;
use std::sync::Arc;

/// `y = (h, h)`, so that a contact and a bond act side by side.
#[derive(Debug)]
pub(crate) struct Bonded {
    pub relation: Arc<dyn Relation>,
}

impl Relation for Bonded {
    fn order(&self) -> Order {
        self.relation.order()
    }

    fn size(&self) -> usize {
        2 * self.relation.size()
    }

    fn z0(&self) -> &[f64] {
        self.relation.z0()
    }

    fn terms(&self) -> Terms {
        self.relation.terms()
    }

    fn is_in_velocities(&self) -> bool {
        self.relation.is_in_velocities()
    }

    fn noise(&self) -> f64 {
        self.relation.noise()
    }

    fn output(&self, at: At<'_>, y: &mut [f64]) -> Result<(), OperatorError> {
        twice(y, |contact| self.relation.output(at, contact))
    }

    fn output_dx(&self, at: At<'_>, C: &mut Matrix) -> Result<(), OperatorError> {
        self.relation.output_dx(at, C)?;
        let (rows, cols) = (C.rows(), C.cols());
        C.resize(2 * rows, cols);
        C.data_mut().copy_within(..rows * cols, rows * cols);
        Ok(())
    }

    fn output_dlam(&self, _: At<'_>, D: &mut Matrix) -> Result<(), OperatorError> {
        D.reset(self.size(), self.size());
        Ok(())
    }

    fn output_dt(&self, at: At<'_>, rate: &mut [f64]) -> Result<(), OperatorError> {
        twice(rate, |contact| self.relation.output_dt(at, contact))
    }

    fn operators(&self) -> Vec<&Operator> {
        self.relation.operators()
    }

    fn jacobians(&self) -> Vec<Jacobian<'_>> {
        self.relation.jacobians()
    }

    fn check(&self, owner: &str, linked: Linked<'_>) -> Result<(), ModelError> {
        self.relation.check(owner, linked)
    }
}

/// Fills the first half, and copies it to the second.
fn twice(
    values: &mut [f64],
    fill: impl FnOnce(&mut [f64]) -> Result<(), OperatorError>,
) -> Result<(), OperatorError> {
    let (contact, bond) = values.split_at_mut(values.len() / 2);
    fill(contact)?;
    bond.copy_from_slice(contact);
    Ok(())
}
