//! Where the energy of a step went.
//!
//! ```text
//! ½ v⁺ᵀ M v⁺ − ½ vᵀ M v = v̄ᵀ h F + Σ ½ (u + u⁺ − 2 u_drive)ᵀ λ,    v̄ = (v + v⁺)/2
//! ```
//!
//! What λ of loads and drives does is work. That of a spring without bounds whose rest stands still goes to
//! its potential `½ k g²` and its damper, which takes `c ġ² h` with the mean rate `ġ` of the step; both are
//! all of it where `ϑ = ½` and `g` is linear, and what is left elsewhere is numerical.

use super::Crowd;
use super::islands::NONE;
use super::members::Kind;
use crate::integrators::Step;
use crate::{Ledger, Quantity, SimError};

impl Crowd {
    /// Where the energy went.
    pub(super) fn book(&mut self, step: Step) -> Result<(), SimError> {
        let mut ledger = Ledger::from_slice(self.now.mechanical().ledger);
        let Crowd { touching, members, islands, after, .. } = self;
        touching.follow_elastic(step, members, islands, after, &mut ledger);
        [ledger.kinetic, ledger.potential] = self.energies(step.end, true)?;
        let stride = self.touching.stride;
        for (place, touch) in self.touching.touches.iter().enumerate() {
            let n = touch.friction.size();
            let z = &self.touching.z[place * stride..place * stride + n];
            if z.iter().all(|z| *z == 0.0) {
                continue;
            }
            let drive = self.touching.drive_at(place);
            for k in 0..n.min(3) {
                ledger.work -= drive[k] * z[k];
            }
            if touch.compliance_of(0) > 0.0 && n == touch.friction.linear() {
                continue;
            }
            let before = self.touching.before(place, &self.members);
            let u = self.touching.after(place, &self.after);
            for k in 0..n {
                let taken = -0.5 * (u[k] + before[k]) * z[k];
                match k {
                    _ if touch.compliance_of(k) > 0.0 => {}
                    0 => ledger.impact += taken,
                    _ => ledger.friction += taken,
                }
            }
        }
        let lam = self.next.get(Quantity::Lam);
        for link in &self.links.all {
            let island = link.members.first().map_or(NONE, |&k| self.islands.of[k]);
            let theta = self.touching.thetas.get(island as usize).copied().unwrap_or(0.5);
            for (i, row) in link.rows.clone().enumerate() {
                // with the H of the step
                let at = &self.links.rows[row];
                let taken = -0.5 * (at.u + at.after) * lam[row];
                ledger.work -= at.rate * lam[row];
                if link.has_potential() {
                    let way = step.h * (theta * at.after + (1.0 - theta) * at.u);
                    ledger.damping += link.damped(i, step.h, way);
                } else if link.terms.through {
                    ledger.work -= taken;
                } else if self.links.frictional[row] {
                    ledger.friction += taken;
                } else {
                    ledger.impact += taken;
                }
            }
        }
        if self.members.is_loaded {
            let (v, v_next) = (self.now.get(Quantity::V), self.next.get(Quantity::V));
            for member in self.members.all.iter().filter(|member| member.is_loaded) {
                let own = member.own_v();
                let mean = |i: usize| 0.5 * (v[i] + v_next[i]);
                ledger.work += own.map(|i| mean(i) * self.members.impulse[i]).sum::<f64>();
                // what has a potential is no work
                let (m, g) = (member.mass, member.gravity);
                let axes = match member.kind {
                    Kind::Space => 3,
                    Kind::Plane => 2,
                    Kind::Other(_) => 0,
                };
                for i in 0..axes {
                    ledger.work -= step.h * m * g[i] * mean(member.v + i);
                }
                if let Kind::Other(_) = member.kind {
                    let (q, q_next) = (self.now.get(Quantity::Q), self.next.get(Quantity::Q));
                    let own = member.own_q();
                    let system = &member.system;
                    ledger.work +=
                        system.potential(&q_next[own.clone()]) - system.potential(&q[own]);
                }
            }
        }
        let ledger = ledger.closed(self.energy0).to_array();
        self.next.mechanical().ledger.copy_from_slice(&ledger);
        step.check_energies(&ledger, || self.boundless(true))
    }

    /// What has an energy that is no number, now or at the end of the step, where it is a spring.
    pub(super) fn boundless(&self, next: bool) -> Option<String> {
        let (row, contacts) = match next {
            true => (&self.next, self.touching.potential()),
            false => (&self.now, self.touching.last.potential),
        };
        let y = row.get(Quantity::Y);
        let link = self.links.all.iter().find(|link| !link.potential(y).is_finite());
        let link = link.map(|link| format!("`{}`", link.name));
        link.or_else(|| (!contacts.is_finite()).then(|| "contacts that give way".to_string()))
    }
}
