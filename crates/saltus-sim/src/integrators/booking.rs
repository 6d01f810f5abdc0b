//! Where the energy of a step of mechanics goes.
//!
//! The ledger multiplies the balance (1) of `balance` by the mean velocity `v̄ = (v + v⁺)/2`. Where `M`
//! turns with `q` the kinetic energy also changes by `½ vᵀ (M⁺ − M) v`, which is booked with the work of
//! the gyroscopic forces: the two cancel, but for what the step is too long for.

use super::balance::{Member, Members, point};
use super::newton::Link;
use super::row::MechanicalFields;
use crate::{Ledger, SimError};
use saltus_linalg::{unrolled, vector};
use saltus_model::At;
use std::ops::Range;

/// The velocities whose mean the balance of a step is multiplied by, and what the step does with
/// the forces.
pub(super) struct Path<'a> {
    pub before: &'a [f64],
    pub after: &'a [f64],
    pub forces: Forces,
    /// Which interactions are constraints of smooth motion; none where all have impulses.
    pub smooth: &'a [bool],
}

/// Which mean of its forces a step takes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Forces {
    /// Those of the end with the weight `a` of each system.
    Theta,
    /// Both ends alike.
    Mean,
    /// Those in the middle, for a time `h a`.
    Center,
}

/// `D` of all systems, each at its point.
pub(super) fn damping<'a>(
    systems: &mut [Member],
    work: &mut Vec<f64>,
    D: &mut [f64],
    at: impl Fn(&Range<usize>, &Range<usize>) -> At<'a>,
) -> Result<(), SimError> {
    for member in systems {
        let D = &mut D[member.range.clone()];
        work.resize(work.len().max(D.len()), 0.0);
        let at = at(&member.range, &member.place).with(&member.inputs);
        let work = &mut work[..D.len()];
        match member.system.damping(at, D, work) {
            Ok(true) => {}
            Ok(false) => D.fill(0.0),
            Err(error) => return Err(error.of(&member.name).into()),
        }
    }
    Ok(())
}

impl Members {
    /// Where the energy went: the next entry of the ledger, from the impulses along `H` and the
    /// mean forces of the step, both with the mean of the velocities `path`.
    pub fn book(
        &mut self,
        energy0: f64,
        now: &MechanicalFields<'_>,
        next: &MechanicalFields<'_>,
        links: &[Link],
        path: Path<'_>,
    ) -> Result<Ledger, SimError> {
        let Path { before, after, forces, smooth } = path;
        let mut ledger = Ledger::from_slice(now.ledger);
        let (last, mut turned) = (ledger, 0.0);
        (ledger.kinetic, ledger.potential) = (0.0, 0.0);
        damping(&mut self.systems, &mut self.work, &mut self.D_next, |range, place| {
            point(&self.center, self.step.end, next.q, next.v, range, place)
        })?;
        for member in &self.systems {
            turned += member.kinetic(&now.v[member.range.clone()]);
            ledger.kinetic += member.kinetic(&next.v[member.range.clone()]);
            ledger.potential += member.system.potential(&next.q[member.place.clone()]);
            // time for which forces act, and weight of the last one in their mean
            let (span, share) = match forces {
                Forces::Theta => (self.step.h, member.a),
                Forces::Mean => (self.step.h, 0.5),
                Forces::Center => (self.step.h * member.a, 1.0),
            };
            let mean = |now: f64, next: f64| share * next + (1.0 - share) * now;
            let range = member.range.clone();
            let (F, F_next) = (&self.F_now[range.clone()], &self.F_next[range.clone()]);
            let (D, D_next) = (&self.D_now[range.clone()], &self.D_next[range.clone()]);
            let (v, v_next) = (&before[range.clone()], &after[range]);
            for i in 0..v.len() {
                let way = 0.5 * span * (v[i] + v_next[i]);
                let damped = mean(D[i], D_next[i]);
                ledger.work += way * (mean(F[i], F_next[i]) + damped);
                ledger.damping += way * damped;
            }
        }
        ledger.work += ledger.potential - last.potential; // that of the forces without a potential
        ledger.work += turned - last.kinetic; // ½ vᵀ (M⁺ − M) v
        for (k, one) in self.interactions.iter().enumerate() {
            for (i, row) in one.rows.clone().enumerate() {
                let lam = next.lam[row];
                if lam == 0.0 {
                    continue;
                }
                let along = |link: &Link| {
                    let velocities = link.range.clone().map(|j| before[j] + after[j]);
                    link.Bt.row(i).iter().zip(velocities).map(|(H, v)| H * v).sum::<f64>()
                };
                // what moves the constraint from outside, and what is taken
                let moved = one.rate_before[i] + one.rate[i];
                if smooth.get(k) == Some(&true) {
                    // forces of constraints in smooth motion take nothing
                    ledger.work -= 0.5 * lam * moved;
                    continue;
                }
                let links = &links[one.links.clone()];
                let speed = match links.iter().all(|link| link.on) {
                    true => links.iter().map(along).sum::<f64>() + moved,
                    // its impulse was not one of the balance
                    false => now.u[row] + next.u[row],
                };
                if one.is_force() {
                    ledger.work += 0.5 * lam * (speed - moved);
                    continue;
                }
                let frictional = self.frictional[row];
                let taken = if frictional { &mut ledger.friction } else { &mut ledger.impact };
                *taken -= 0.5 * lam * speed;
                ledger.work -= 0.5 * lam * moved;
            }
        }
        Ok(ledger.closed(energy0))
    }
}

impl Member {
    /// `½ vᵀ M v`, with the last `M`.
    #[inline]
    pub fn kinetic(&self, v: &[f64]) -> f64 {
        0.5 * unrolled!(v.len(), quadratic_form(self.M.data(), v))
    }
}

/// `vᵀ M v`.
#[inline(always)] // `n` is a number where it is small
fn quadratic_form(n: usize, M: &[f64], v: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..n {
        sum += v[i] * vector::dot(&M[i * n..][..n], &v[..n]);
    }
    sum
}
