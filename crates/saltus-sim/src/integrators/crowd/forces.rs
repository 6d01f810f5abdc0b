//! Springs, dampers and loads between bodies that find contacts.
//!
//! A spring has an output `g`, a compliance `C = 1/k` and a time of retardation `T = c/k`. As everywhere its
//! law is on the mean of the step (see `balance`), here with the `ϑ` that its island moves by:
//!
//! ```text
//! a g⁺ + (1 − a) g + C λ/h = 0,    a = ϑ + T/h,    g⁺ = g + Δ + h H (ϑ v⁺ + (1 − ϑ) v)           (1)
//! ```
//!
//! where `Δ` is what time alone changes in `g`. Divided by `h a ϑ` it is a row among those of velocities:
//!
//! ```text
//! H v⁺ + b + D λ = 0,    b = H v (1 − ϑ)/ϑ + (g + a Δ)/(h a ϑ),    D = C/(h² a ϑ)                (2)
//! ```
//!
//! A damper alone, a line `λ = −c u` through the origin, is one with `b = ∂h/∂t` and `D = 1/(h c)`. So
//! stiffness and damping are implicit however large they are: `D` becomes nothing, and (2) a constraint. Where
//! both are small instead, `D` is large, and the row is scaled: `s H`, `s b`, `s² D` and `λ/s` with
//! `s² D = H M⁻¹ Hᵀ`.
//!
//! A load is known before anything else: `λ = h f̄` with `f̄ = θ f(t⁺) + (1 − θ) f(t)`. It joins no islands.
//! Contacts are looked for, and judged, where springs would take the bodies, so that one that is stiff pulls
//! nothing through a wall.

use super::Crowd;
use super::links::{Link, RowOfStep};
use crate::integrators::Step;
use crate::{Quantity, SimError};
use saltus_model::{ForceRule, Law, Relation};
use saltus_numerics::Set;

/// What an interaction is to a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A constraint of positions.
    Constraint,
    /// Rows of (2), springs and dampers without bounds.
    Soft,
    /// A load.
    Load,
    /// Whatever has another law.
    Law,
    /// It is not connected.
    Off,
}

/// How a row gives way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Yield {
    /// A spring with this retardation.
    Spring { retardation: f64 },
    /// A damper alone.
    Damper { damping: f64 },
}

impl Role {
    /// The role of an interaction, and how its rows give way; nothing where there is none for it.
    pub fn of(
        relation: &dyn Relation,
        law: &Law,
        active: bool,
        size: usize,
    ) -> Option<(Role, Vec<Yield>)> {
        let (terms, rules) = (relation.terms(), || (0..size).map(|i| relation.force_rule(i)));
        let springs = rules().filter_map(|rule| match rule {
            Some(ForceRule::Spring { retardation }) => Some(Yield::Spring { retardation }),
            _ => None,
        });
        let springs: Vec<Yield> = springs.collect();
        let is_load = rules().all(|rule| rule == Some(ForceRule::Load));
        Some(match law {
            _ if !active => (Role::Off, Vec::new()),
            Law::Equality if is_load => (Role::Load, Vec::new()),
            Law::Equality if springs.len() == size => (Role::Soft, springs),
            _ if springs.len() == size => (Role::Law, springs),
            _ if terms.through => return None,
            Law::Equality if !terms.velocity => (Role::Constraint, Vec::new()),
            law => match damping(law) {
                Some(damping) => (Role::Soft, vec![Yield::Damper { damping }; size]),
                None => (Role::Law, Vec::new()),
            },
        })
    }

    /// Whether its rows are linear equations.
    pub fn is_linear(self) -> bool {
        matches!(self, Role::Constraint | Role::Soft)
    }

    /// Whether it is part of the problem of an island.
    pub fn is_posed(self) -> bool {
        !matches!(self, Role::Load | Role::Off)
    }
}

/// `c` of a graph that is the line `λ = −c u`.
fn damping(law: &Law) -> Option<f64> {
    let Law::PiecewiseLinear { points } = law else { return None };
    let [(u, lam), (u_next, lam_next)] = points[..] else { return None };
    let c = (lam - lam_next) / (u_next - u);
    (c > 0.0 && c.is_finite() && lam + c * u == 0.0).then_some(c)
}

impl Link {
    /// `D` and `b` of (2), of a row that gives way.
    pub fn softness(&self, i: usize, h: f64, theta: f64, row: &RowOfStep) -> [f64; 2] {
        match self.yields[i] {
            Yield::Spring { retardation } => {
                let a = theta + retardation / h;
                let over = 1.0 / (h * a * theta);
                let u = row.u - self.rate[i];
                let b = u * (1.0 - theta) / theta + over * (row.gap + a * row.drift);
                [over * self.compliance[i] / h, b]
            }
            Yield::Damper { damping } => [1.0 / (h * damping), self.rate[i]],
        }
    }

    /// Whether a row under this set may be scaled.
    pub fn may_scale(&self, set: &Set) -> bool {
        self.role == Role::Soft || matches!(set, Set::Interval { .. } | Set::Nonnegative)
    }

    /// The set of a row that gives way, scaled by `s`; that of (2) is all there is.
    pub fn soft_set(&self, set: Set, s: f64) -> Set {
        match set {
            _ if self.role == Role::Soft => Set::Free,
            Set::Interval { lower, upper } => Set::Interval { lower: lower / s, upper: upper / s },
            other => other,
        }
    }

    /// Whether it stands for a force.
    pub fn is_force(&self) -> bool {
        self.role == Role::Load || !self.yields.is_empty()
    }

    /// Whether its energy is a potential: a spring without bounds whose rest does not move.
    pub fn has_potential(&self) -> bool {
        let is_spring = matches!(self.yields.first(), Some(Yield::Spring { .. }));
        self.role == Role::Soft && is_spring && !self.terms.time
    }

    /// The potential of its springs, where their outputs are `y`.
    pub fn potential(&self, y: &[f64]) -> f64 {
        if !self.has_potential() {
            return 0.0;
        }
        let rows = y[self.rows.clone()].iter().zip(&self.compliance);
        rows.map(|(y, compliance)| 0.5 * y * y / compliance).sum()
    }

    /// What the damper of a spring takes on the way of a step.
    pub fn damped(&self, i: usize, h: f64, way: f64) -> f64 {
        match self.yields[i] {
            Yield::Spring { retardation } => retardation / self.compliance[i] * way * way / h,
            Yield::Damper { damping } => damping * way * way / h,
        }
    }
}

impl Crowd {
    /// Linearizes the forces, lets loads act on the free velocities, and says where springs would take the
    /// bodies.
    pub(super) fn begin_forces(&mut self, step: Step) -> Result<(), SimError> {
        let Crowd { links, members, now, next, .. } = self;
        let (now, next) = (now.mechanical(), next.mechanical());
        let half = (0.5 * step.h, 0.0);
        for link in links.all.iter_mut().filter(|link| link.is_force()) {
            for &k in &link.members {
                members.displace(k, half, now.q, now.v, now.v, None, &mut links.q_mid);
            }
            let rows = &mut links.rows[link.rows.clone()];
            if link.role == Role::Load {
                // y = C λ/h − C f, whose mean is zero
                let theta = link.members.first().map_or(0.5, |&k| members.all[k].theta);
                let lam = &mut next.lam[link.rows.clone()];
                for (t, share) in [(step.end, theta), (step.start, 1.0 - theta)] {
                    link.output(t, now.q, members)?;
                    let h = step.h;
                    for (i, lam) in lam.iter_mut().enumerate() {
                        *lam -= h * share * link.y[i] / link.compliance[i];
                    }
                }
            } else {
                let y = &now.y[link.rows.clone()];
                rows.iter_mut().zip(y).for_each(|(row, y)| (row.gap, row.drift) = (*y, 0.0));
                if link.terms.time {
                    link.output(step.end, now.q, members)?;
                    let moved = rows.iter_mut().zip(&link.y);
                    moved.for_each(|(row, y)| row.drift = y - row.gap);
                }
            }
            link.evaluate(step.start + 0.5 * step.h, &links.q_mid, members)?;
            link.velocities(now.v, members, |i, u| rows[i].u = u);
        }
        self.push_loads();
        self.foresee(step.h);
        Ok(())
    }

    /// Lets the loads act on the free velocities.
    fn push_loads(&mut self) {
        let Crowd { links, members, loads, scratch, now, next, .. } = self;
        let is_load = |link: &Link| link.role == Role::Load;
        if !links.all.iter().any(is_load) {
            return;
        }
        let (now, next) = (now.mechanical(), next.mechanical());
        loads.compose(links.parts(is_load), members);
        loads.set_links(links, members);
        scratch.clear();
        scratch.resize(loads.size, 0.0);
        for (rows, k) in loads.links() {
            scratch[rows].copy_from_slice(&next.lam[links.all[k].rows.clone()]);
        }
        loads.push(scratch, next.v);
        for link in links.all.iter_mut().filter(|link| is_load(link)) {
            link.add_push(&next.lam[link.rows.clone()]);
        }
        for link in links.all.iter().filter(|link| is_load(link)) {
            link.members.iter().for_each(|&k| members.see(k, now.q, now.v, next.v));
        }
    }

    /// The velocities without contacts, where there are springs: these act one after the other, each with
    /// (2).
    fn foresee(&mut self, h: f64) {
        let Crowd { links, members, springs, ahead, now, next, .. } = self;
        ahead.clear();
        members.ahead.clear();
        let is_spring = |link: &Link| link.role == Role::Soft && link.terms.through;
        if !links.all.iter().any(is_spring) {
            return;
        }
        ahead.extend_from_slice(next.mechanical().v);
        springs.compose(links.parts(is_spring), members);
        springs.set_links(links, members);
        for (unit, (rows, k)) in springs.links().enumerate() {
            let link = &links.all[k];
            let theta = link.members.first().map_or(0.5, |&k| members.all[k].theta);
            for (i, row) in rows.enumerate() {
                let [D, b] = link.softness(i, h, theta, &links.rows[link.rows.start + i]);
                springs.relax(unit, row, [D, b], ahead);
            }
        }
        let bodies = 0..members.moving.len();
        let mut twists = std::mem::take(&mut members.ahead);
        twists.extend(bodies.map(|k| members.foreseen(k)));
        let moved = links.all.iter().filter(|link| is_spring(link));
        for &k in moved.flat_map(|link| &link.members) {
            twists[k] = members.twist(k, now.get(Quantity::Q), ahead);
        }
        members.ahead = twists;
    }
}
