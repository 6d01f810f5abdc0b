//! A relation of the components of `q`, on systems that have other velocities.

use crate::{
    At, Jacobian, Linked, ModelError, Operator, OperatorError, Order, Relation, System, Terms,
};
use saltus_linalg::Matrix;
use std::cell::Cell;
use std::sync::Arc;

/// `H = ∂h/∂q T(q)`, row by row and system by system.
#[derive(Debug)]
pub(crate) struct Turned {
    pub relation: Arc<dyn Relation>,
    pub systems: Vec<System>,
}

impl Relation for Turned {
    fn order(&self) -> Order {
        self.relation.order()
    }

    fn size(&self) -> usize {
        self.relation.size()
    }

    fn z0(&self) -> &[f64] {
        self.relation.z0()
    }

    fn terms(&self) -> Terms {
        self.relation.terms()
    }

    fn is_in_velocities(&self) -> bool {
        true
    }

    fn force_rule(&self, component: usize) -> Option<crate::ForceRule> {
        self.relation.force_rule(component)
    }

    fn noise(&self) -> f64 {
        self.relation.noise()
    }

    fn output(&self, at: At<'_>, y: &mut [f64]) -> Result<(), OperatorError> {
        self.relation.output(at, y)
    }

    fn output_dx(&self, at: At<'_>, C: &mut Matrix) -> Result<(), OperatorError> {
        thread_local! {
            static SCRATCH: Cell<Vec<f64>> = const { Cell::new(Vec::new()) };
        }
        self.relation.output_dx(at, C)?;
        let mut slopes = SCRATCH.take();
        slopes.clear();
        slopes.extend_from_slice(C.data());
        let (rows, states) = (C.rows(), C.cols());
        let dofs = self.systems.iter().map(System::dim).sum();
        C.resize(rows, dofs);
        for i in 0..rows {
            let (mut q, mut g) = (at.first, &slopes[i * states..][..states]);
            let mut along = &mut C.data_mut()[i * dofs..][..dofs];
            for system in &self.systems {
                let (own_q, rest_q) = q.split_at(system.dim_q());
                let (own_g, rest_g) = g.split_at(system.dim_q());
                let (own, rest) = along.split_at_mut(system.dim());
                match system {
                    System::SecondOrder(system) => system.pull_back(own_q, own_g, own),
                    System::FirstOrder(_) => own.copy_from_slice(own_g),
                }
                (q, g, along) = (rest_q, rest_g, rest);
            }
        }
        SCRATCH.set(slopes);
        Ok(())
    }

    fn output_dlam(&self, at: At<'_>, D: &mut Matrix) -> Result<(), OperatorError> {
        self.relation.output_dlam(at, D)
    }

    fn output_dt(&self, at: At<'_>, rate: &mut [f64]) -> Result<(), OperatorError> {
        self.relation.output_dt(at, rate)
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
