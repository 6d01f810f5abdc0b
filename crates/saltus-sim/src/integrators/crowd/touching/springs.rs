//! Found contacts that give way: what their springs hold from step to step.
//!
//! The stretch of a tangential spring lies in the plane of its contact. It keeps its length where that plane tilts, and turns about
//! the normal `n` with both sides, so that two bodies that turn together do not creep along each other:
//!
//! ```text
//! ė = s + n · ω  n × e,    ω = ½ (ω_a + ω_b) of two bodies, that of the side that is none where there is one
//! ```
//!
//! So a ball that spins on the ground does not creep either.

use super::super::committed::Committed;
use super::super::elastic::{self, Elastic};
use super::super::islands::Islands;
use super::super::members::Members;
use super::Touching;
use crate::Ledger;
use crate::integrators::Step;
use saltus_model::Elasticity;
use saltus_model::rotation::{dot, norm};
use saltus_numerics::bodies::{COMPONENTS, Twist};

impl Touching {
    /// What a contact gives way by.
    pub(super) fn elastic(&self, place: usize) -> Option<Elasticity> {
        self.laws[self.found[self.order[place] as usize].law as usize].elastic
    }

    /// Whether a contact gives way.
    pub fn gives(&self, place: usize) -> bool {
        self.elastic(place).is_some()
    }

    /// The ϑ that a contact asks for, before it has a compliance.
    pub(super) fn theta_of(&self, of: Elasticity, place: usize, h: f64, members: &Members) -> f64 {
        let touch = &self.touches[place];
        let W = |k: usize| touch.diagonal(&members.moving, k);
        let tangent = (1..touch.friction.linear()).map(W).fold(0.0, f64::max);
        elastic::theta(of, h, [W(0), tangent])
    }

    /// One that gives way, as the step finds it.
    pub(super) fn begin_elastic(
        &self,
        of: Elasticity,
        place: usize,
        [h, theta]: [f64; 2],
        u: [f64; COMPONENTS],
    ) -> Elastic {
        Elastic { of, h, theta, gap: self.gap(place), u, stretch: self.stretch[place] }
    }

    /// Books what contacts that give way took in the step, and follows their springs.
    pub fn follow_elastic(
        &mut self,
        step: Step,
        members: &Members,
        islands: &Islands,
        after: &[Twist],
        ledger: &mut Ledger,
    ) {
        self.potential = 0.0;
        for place in 0..if self.keeps.stretches { self.touches.len() } else { 0 } {
            let Some(of) = self.elastic(place) else { continue };
            let [u, u_after] = [self.before(place, members), self.after(place, after)];
            let island = self.island(&self.touches[place], islands);
            let theta = island.map_or(1.0, |island| self.thetas[island]);
            let contact = self.begin_elastic(of, place, [step.h, theta], u);
            let linear = self.touches[place].friction.linear();
            let outcome = contact.after(
                &self.z[place * self.stride..][..linear],
                &u_after,
                self.touches[place].mu(),
            );
            self.stretch[place] = outcome.stretch;
            if linear == 3 && outcome.stretch != [0.0; 2] {
                let rate = self.spin(place, theta, [&members.before, after]);
                self.stretch[place] = turned(outcome.stretch, step.h * rate);
            }
            self.potential += outcome.potential;
            ledger.damping += outcome.damping;
            ledger.friction += outcome.friction;
            if !self.last.is_held {
                ledger.work += contact.held();
            }
        }
    }

    /// `n · ω` in the step.
    fn spin(&self, place: usize, theta: f64, [before, after]: [&[Twist]; 2]) -> f64 {
        let found = &self.found[self.order[place] as usize];
        let bodies = self.touches[place].bodies.map(|k| k as usize);
        // what is no body has the last twist, which stands still
        if bodies.iter().any(|&k| k + 1 == after.len()) {
            return dot(found.normal, self.search.turn(found));
        }
        let [a, b] = bodies.map(|k| {
            let along = |twist: &Twist| dot(found.normal, twist.omega);
            theta * along(&after[k]) + (1.0 - theta) * along(&before[k])
        });
        0.5 * (a + b)
    }

    /// A body is somewhere else: its tangential springs begin anew. The contacts as they were.
    pub fn forget_stretches(&mut self, body: usize) -> Committed {
        let Touching { body_of, last, .. } = self;
        let before = last.clone();
        let is_of = |side: u32| body_of[side as usize] as usize == body;
        last.forget_stretches(|sides| sides.into_iter().any(is_of));
        before
    }

    /// What springs of contacts hold at the end of the step.
    pub fn potential(&self) -> f64 {
        self.potential
    }
}

/// A stretch in the plane of a contact, as long as it was.
pub(super) fn along(frame: &[[f64; 3]; 3], stretch: [f64; 3]) -> [f64; 2] {
    let own = [dot(frame[1], stretch), dot(frame[2], stretch)];
    let (length, left) = (norm(stretch), own[0].hypot(own[1]));
    if left > 0.0 { own.map(|x| x * (length / left)) } else { own }
}

/// Turned by an angle in its plane.
fn turned([s, t]: [f64; 2], angle: f64) -> [f64; 2] {
    let (sin, cos) = angle.sin_cos();
    [cos * s - sin * t, sin * s + cos * t]
}
