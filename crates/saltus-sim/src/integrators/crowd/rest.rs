//! Islands with interactions that rest, to the last bit.
//!
//! What is left of the velocities `v⁺ = v_free + Σ B_k λ_k` may be no more than round-off of this sum. With the
//! effort `E` of a system, what each impulse alone would do to it,
//!
//! ```text
//! ‖v⁺‖ ≤ ε E,    E = Σ |λ_k| ‖B_k‖,    B = M⁻¹ Hᵀ         of each system, in the norm of its mass      (1)
//! √W ‖λ − P_K(λ − w₀/W)‖ ≤ ε Σ E,    w₀ = c + D λ         of each block, over its systems             (2)
//! ```
//!
//! the velocity zero obeys balance and laws with the impulses that were found, and is taken. An arm in the moment in
//! which it turns back does not rest: its impulses leave it the velocity that the step gives it.
//!
//! It is the measure of contacts alone (`Island::rests`), which compares with the tolerance. Here it is round-off, since
//! what stands upside down in a joint moves as slowly as you like before it falls. So equations whose velocities come
//! close to (1) are solved for the digits that tell.

use super::Crowd;
use super::jointed::Joined;
use super::links::Link;
use super::members::Members;
use crate::integrators::Step;
use crate::{Quantity, SimError};
use saltus_numerics::Set;

/// ε: share of its terms that round-off leaves of a sum.
const ROUND_OFF: f64 = 32.0 * f64::EPSILON;
/// The share from which on equations are solved for more digits.
const NEARLY: f64 = 1e-9;

impl Crowd {
    /// Whether an island, whose step is solved, rests.
    pub(super) fn rests(&mut self, island: usize, step: Step) -> Result<bool, SimError> {
        let is_tried = self.symmetric[island];
        if is_tried {
            if !self.is_slow(island, step, NEARLY)? {
                return Ok(false);
            }
            self.refine(island);
        }
        let rests = self.is_slow(island, step, ROUND_OFF)? && self.may_rest(island);
        Ok(rests && (!is_tried || self.is_right(island, step.h, true)?))
    }

    /// Equation (1).
    fn is_slow(&mut self, island: usize, step: Step, share: f64) -> Result<bool, SimError> {
        let Crowd { joined, members, islands, now, next, .. } = self;
        let (q, v) = (now.get(Quantity::Q), next.get(Quantity::V));
        for &k in islands.systems(island) {
            let [kinetic, _] = members.energies(k as usize, step.start, q, v)?;
            if !((2.0 * kinetic).sqrt() <= share * joined[island].effort(k as usize)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Equation (2).
    fn may_rest(&mut self, island: usize) -> bool {
        let own = &mut self.joined[island];
        let mut w = std::mem::take(&mut own.rest);
        let f = &mut self.scratch;
        w.clone_from(&own.constant);
        let (units, z) = (own.units(), &own.z);
        units.add_yield(z, &mut w);
        let mut blocks = own.blocks.iter();
        let may_rest = units.units.iter().enumerate().all(|(k, unit)| {
            let most = ROUND_OFF * units.systems(k).map(|k| own.effort(k)).sum::<f64>();
            let mut row = unit.rows.start;
            while row < unit.rows.end {
                let (size, set) = blocks.next().map_or((1, &Set::Free), |one| (one.size, &one.set));
                let (W, rows) = (units.diagonal(k, row), row..row + size);
                row = rows.end;
                // else it is known, and taken out of the problem
                if W > 0.0 {
                    f.resize(size, 0.0);
                    set.natural_map(1.0 / W, &z[rows.clone()], &w[rows], f);
                    let wrong = W * f.iter().map(|f| f * f).sum::<f64>();
                    if !(wrong.sqrt() <= most) {
                        return false;
                    }
                }
            }
            true
        });
        own.rest = w;
        may_rest
    }
}

impl Joined {
    /// `E` of a system.
    fn effort(&self, system: usize) -> f64 {
        self.units().effort(system, &self.z)
    }

    /// What round-off leaves of the velocity of a row.
    pub fn noise(&self, link: &Link, row: usize, members: &mut Members) -> f64 {
        let effort: f64 = link.members.iter().map(|&k| self.effort(k)).sum();
        ROUND_OFF * effort * link.mobility(row - link.rows.start, members).sqrt()
    }
}
