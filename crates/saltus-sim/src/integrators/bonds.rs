//! Bonds in a step of Moreau and Jean.
//!
//! A bond is a spring that is taken where the scheme takes forces, at `ŷ = θ y⁺ + (1 − θ) y`. Its
//! impulse `s` and its opening are a row of the problem of their own, scaled so that its matrix is
//! that of velocities and a compliance:
//!
//! ```text
//! s = −h β K ŷ    ⟺    w = ŷ/(h θ²) + s/(h² θ² β K) = 0                               (1)
//! ```
//!
//! Along the normal it only pulls: `s ≤ 0`, and `w ≤ 0` where `s = 0`. `β` follows from the largest
//! opening `δ(ŷ)`; as that is known only when the step is solved, the step is solved again with the
//! `β` that it leads to, until both agree. Each round can only take from `β`, so this ends; what is
//! left after a few rounds waits for the next step. `β` is part of the row of the state: nothing
//! is remembered of a step that fails.

use super::balance::Members;
use super::contact::Contact;
use super::newton::Link;
use crate::SimError;
use saltus_linalg::Matrix;
use saltus_model::{At, Bond, Law};

/// Rounds of a step in which bonds are damaged.
pub(super) const ROUNDS: usize = 50;

/// Changes of `β` that are none.
const SAME: f64 = 1e-12;

/// A bond of a step.
#[derive(Debug)]
pub(super) struct BondOfStep {
    kind: Kind,
    active: bool,     // it is connected
    fresh: bool,      // and was not before the event that happens now
    index: usize,     // among the bonds
    theta: f64,       // mean of its systems
    beta: f64,        // of this round
    before: Vec<f64>, // y at the beginning
}

#[derive(Debug)]
enum Kind {
    Damaged(Bond),
    Binary { opening: f64 },
}

impl BondOfStep {
    /// The bond of a law, if it has one.
    pub fn new(law: &Law, active: bool, index: usize, size: usize) -> Option<BondOfStep> {
        let kind = match law {
            Law::Cohesive { bond, .. } => Kind::Damaged(*bond),
            Law::BinaryCohesive { opening, .. } => Kind::Binary { opening: *opening },
            _ => return None,
        };
        let before = vec![0.0; size];
        Some(BondOfStep { kind, active, fresh: false, index, theta: 0.5, beta: 1.0, before })
    }

    /// `1/(h² θ² β K)` of a component; nothing where no spring is.
    fn compliance(&self, h: f64, component: usize) -> Option<f64> {
        let Kind::Damaged(bond) = &self.kind else { return None };
        let stiffness = if component == 0 { bond.stiffness } else { bond.shear * bond.stiffness };
        let stiffness = h * h * self.theta * self.theta * self.beta * stiffness;
        (stiffness > 0.0).then_some(1.0 / stiffness)
    }
}

impl Members {
    /// Begins a step with this integrity of the bonds.
    pub fn begin_bonds(&mut self, y: &[f64], beta: &[f64]) {
        let Members { systems, interactions, .. } = self;
        for contact in interactions {
            let Some(bond) = &mut contact.bond else { continue };
            let own = systems.iter().filter(|member| contact.ranges.contains(&member.range));
            let sum: f64 = own.map(|member| member.kappa).sum();
            bond.theta = sum / contact.ranges.len() as f64;
            bond.beta = beta[bond.index];
            let gap = &y[contact.rows.start..];
            bond.before.iter_mut().zip(gap).for_each(|(before, y)| *before = *y);
        }
    }

    /// Takes from the integrity what openings that were given have damaged.
    pub fn wear(&self, y: &[f64], beta: &mut [f64]) {
        for contact in &self.interactions {
            let Some(bond) = &contact.bond else { continue };
            if !bond.active || bond.fresh {
                continue;
            }
            let y = &y[contact.rows.clone()][..bond.before.len()];
            let left = match &bond.kind {
                Kind::Damaged(law) => law.integrity(law.opening(y)),
                Kind::Binary { opening } => f64::from(!(y[0] > *opening)),
            };
            let beta = &mut beta[bond.index];
            *beta = beta.min(left);
        }
    }

    /// Marks the bonds that were not connected before: they are looked at when the event is over.
    pub fn mark_fresh(&mut self, before: &Members) {
        for (contact, before) in self.interactions.iter_mut().zip(&before.interactions) {
            let was = before.bond.as_ref().is_some_and(|bond| bond.active);
            if let Some(bond) = &mut contact.bond {
                bond.fresh = bond.active && !was;
            }
        }
    }

    /// The event is over. Whether there were any.
    pub fn clear_fresh(&mut self) -> bool {
        let mut any = false;
        for bond in self.interactions.iter_mut().filter_map(|contact| contact.bond.as_mut()) {
            any |= std::mem::take(&mut bond.fresh);
        }
        any
    }

    /// The integrity that the solved step leads to. Whether it must be solved again.
    pub fn damage(&mut self, beta: &mut [f64]) -> Result<bool, SimError> {
        let mut again = false;
        let Members { interactions, step, .. } = self;
        for contact in interactions {
            let Contact { bond, relation, q, force, inputs, y, name, .. } = contact;
            let Some(bond) = bond else { continue };
            if !(bond.active && bond.beta > 0.0) {
                continue;
            }
            let at = At::new(step.end, q, force).with(inputs);
            relation.output(at, y).map_err(|error| error.of(name))?;
            let left = match &bond.kind {
                Kind::Damaged(law) => {
                    let middle = y.iter_mut().zip(&bond.before);
                    middle.for_each(|(y, y0)| *y = bond.theta * *y + (1.0 - bond.theta) * y0);
                    law.integrity(law.opening(&y[..bond.before.len()])).min(bond.beta)
                }
                // it has pulled in this step, and lets go after it
                Kind::Binary { opening } => {
                    beta[bond.index] = if y[0] > *opening { 0.0 } else { bond.beta };
                    continue;
                }
            };
            again |= bond.beta - left > SAME;
            bond.beta = left;
            beta[bond.index] = left;
        }
        Ok(again)
    }
}

impl Contact {
    /// Equation (1) in the rows of the bond, where [`turn`](Self::turn) was called last.
    pub fn pull(
        &mut self,
        t: f64,
        h: f64,
        lam: &[f64],
        w: &mut [f64],
        links: &mut [Link],
        kappa: impl Fn(usize) -> f64,
    ) -> Result<(), SimError> {
        let Some(bond) = &self.bond else { return Ok(()) };
        let at = At::new(t, &self.q, &self.force).with(&self.inputs);
        self.relation.output(at, &mut self.y).map_err(|error| error.of(&self.name))?;
        let (size, theta) = (bond.before.len(), bond.theta);
        for i in 0..size {
            let Some(compliance) = bond.compliance(h, i) else { continue };
            let middle = theta * self.y[i] + (1.0 - theta) * bond.before[i];
            let row = self.rows.start + size + i;
            w[row] = middle / (h * theta * theta) + compliance * lam[row];
            for link in &mut links[self.links.clone()] {
                let (width, scale) = (link.range.len(), kappa(link.system) / theta);
                let row = &mut link.C.data_mut()[(size + i) * width..][..width];
                row.iter_mut().for_each(|C| *C *= scale);
            }
        }
        Ok(())
    }

    /// The compliance of (1) on the diagonal of `D`.
    pub fn yielding(&self, h: f64, D: &mut Matrix) {
        let Some(bond) = &self.bond else { return };
        let size = bond.before.len();
        for i in 0..size {
            D[(size + i, size + i)] = bond.compliance(h, i).unwrap_or(0.0);
        }
    }

    /// Size of the terms of (1).
    pub fn bond_terms(&self, h: f64, q: &[f64], terms: &mut [f64]) {
        let Some(bond) = &self.bond else { return };
        let (size, theta) = (bond.before.len(), bond.theta);
        for i in 0..size {
            let q = self.ranges.iter().flat_map(|range| &q[range.clone()]);
            let sum: f64 = self.H.row(i).iter().zip(q).map(|(H, q)| (H * q).abs()).sum();
            terms[self.rows.start + size + i] = sum / (h * theta * theta);
        }
    }
}
