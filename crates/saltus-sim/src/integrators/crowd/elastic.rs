//! Contacts that give way: springs and dampers, implicit in the step.
//!
//! With the way `h u_ϑ` of the step, `u_ϑ = ϑ u⁺ + (1 − ϑ) u`, and the stretch `e` of the tangential spring,
//!
//! ```text
//! z_N/h = max(0, −k (g + ϑ h u_ϑ) − c u_ϑ)                  of what touches, g ≤ 0
//! z_N/h = max(0, −(k + c/(ϑ h)) (g + ϑ h u_ϑ))              of what closes in the step             (1)
//! z_T/h = −k_T (e + ϑ h s) − c_T s,     c_T = c k_T/k       in the cone,     e⁺ = e + h s          (2)
//! ```
//!
//! `s` is the part of `u_ϑ` that does not slide. This is a rigid contact, `w = u⁺ + q + C z`, with
//!
//! ```text
//! C = 1/(h ϑ D),     D = ϑ h k + c
//! q_N = (1/ϑ − 1) u + k g/(ϑ D)   or   (1/ϑ − 1) u + g/(ϑ² h),     q_T = (1/ϑ − 1) u + k_T e/(ϑ D_T)   (3)
//! ```
//!
//! and `w_T = (u_ϑ − s)/ϑ` opposite to a force that slides. Springs that the step resolves keep their energy while they are closed,
//! `ϑ = ½` (one that closes or opens gives or takes up to `κ/4` of that of its motion); those that it does not are damped, `ϑ = 1`:
//!
//! ```text
//! ϑ = ½ + ½ (√κ − ½)/(2 − ½) in [½, 1],     κ = (h² k + h c) W_NN                                  (4)
//! ```
//!
//! with the largest of normal and tangents, `k_T W_TT`, in place of `k W_NN`. At the end of the step the tangential spring has slid as far as the
//! cone asks for, `k_T ‖e⁺‖ ≤ μ z_N/h`.
//!
//! What springs hold is `½ k g² + ½ k_T e²`, dampers take `h c ġ²`, what slides `−z_T · (u_ϑ − s)` and what its spring loses by it. A damper
//! lets go before it pulls; what its spring still held then is its own, and that of the tangents slides. What springs hold before
//! the first step, or after a state was set, has been put there by work.

use saltus_model::Elasticity;
use saltus_numerics::bodies::COMPONENTS;

/// `√κ` up to which a step resolves a spring, and from which on it does not at all.
const RESOLVED: f64 = 0.5;
const STIFF: f64 = 2.0;

/// A contact in a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Elastic {
    pub of: Elasticity,
    pub h: f64,
    pub theta: f64,
    pub gap: f64,
    /// The relative velocity at the beginning.
    pub u: [f64; COMPONENTS],
    /// `e`.
    pub stretch: [f64; 2],
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Outcome {
    /// `e⁺`.
    pub stretch: [f64; 2],
    /// What the springs hold.
    pub potential: f64,
    /// Taken by dampers.
    pub damping: f64,
    /// Taken by what slides.
    pub friction: f64,
}

/// Equation (4), from `W` of the normal and of a tangent.
pub(super) fn theta(of: Elasticity, h: f64, [normal, tangent]: [f64; 2]) -> f64 {
    let W = normal.max(of.tangential / of.stiffness * tangent);
    let kappa = (h * h * of.stiffness + h * of.damping) * W;
    let share = (kappa.sqrt() - RESOLVED) / (STIFF - RESOLVED);
    0.5 + 0.5 * share.clamp(0.0, 1.0)
}

impl Elastic {
    /// Stiffness and damping of the normal, or of the tangents.
    fn spring(&self, component: usize) -> [f64; 2] {
        let Elasticity { stiffness, damping, tangential } = self.of;
        match component {
            0 => [stiffness, damping],
            _ => [tangential, damping * tangential / stiffness],
        }
    }

    /// `C` of (3), of the normal and of the tangents.
    pub fn compliance(&self) -> [f64; 2] {
        let Elastic { h, theta, .. } = *self;
        [0, 1].map(|component| {
            let [k, c] = self.spring(component);
            1.0 / (h * theta * (theta * h * k + c))
        })
    }

    /// `q` of (3), of so many components.
    pub fn bias(&self, q: &mut [f64]) {
        let Elastic { h, theta, gap, .. } = *self;
        for (component, q) in q.iter_mut().enumerate() {
            let [k, c] = self.spring(component);
            let D = theta * h * k + c;
            *q += (1.0 / theta - 1.0) * self.u[component];
            *q += match component {
                0 if gap > 0.0 => gap / (theta * theta * h),
                0 => k * gap / (theta * D),
                _ => k * self.stretch[component - 1] / (theta * D),
            };
        }
    }

    /// What the springs hold at its beginning.
    pub fn held(&self) -> f64 {
        let [s, t] = self.stretch;
        0.5 * self.of.tangential * (s * s + t * t) + self.pressed(self.gap)
    }

    /// What that of the normal holds.
    fn pressed(&self, gap: f64) -> f64 {
        0.5 * self.of.stiffness * gap.min(0.0).powi(2)
    }

    /// After the step, of impulses `z` and velocities `u⁺`, as many components as are velocities, and the coefficient of friction.
    pub fn after(&self, z: &[f64], u: &[f64], mu: f64) -> Outcome {
        let Elastic { h, theta, gap, .. } = *self;
        let mean = |k: usize| theta * u[k] + (1.0 - theta) * self.u[k];
        let (before, after) = (self.pressed(gap), self.pressed(gap + h * mean(0)));
        let mut outcome = Outcome { stretch: [0.0; 2], potential: after, ..Outcome::default() };
        if !(z[0] > 0.0) {
            let lets_go = gap <= 0.0 && self.of.damping > 0.0;
            outcome.damping = if lets_go { before - after } else { 0.0 };
            outcome.friction = self.held() - before;
            return outcome;
        }
        let rate = if gap > 0.0 { gap / (theta * h) + mean(0) } else { mean(0) };
        outcome.damping = h * self.of.damping * rate * rate;
        for component in 1..z.len() {
            let [k, c] = self.spring(component);
            let (stretch, force) = (self.stretch[component - 1], z[component] / h);
            let s = -(force + k * stretch) / (k * theta * h + c);
            outcome.stretch[component - 1] = stretch + h * s;
            outcome.damping += h * c * s * s;
            outcome.friction -= z[component] * (mean(component) - s);
        }
        let [k, _] = self.spring(1);
        let [x, y] = outcome.stretch;
        let (stretch, most) = (x.hypot(y), mu * z[0] / (h * k));
        let held = |stretch: f64| 0.5 * k * stretch * stretch;
        if stretch > most {
            outcome.stretch = [x * (most / stretch), y * (most / stretch)];
            outcome.friction += held(stretch) - held(most);
        }
        outcome.potential += held(stretch.min(most));
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF: Elasticity = Elasticity { stiffness: 3e3, damping: 7.0, tangential: 2e3 };

    fn contact(gap: f64, theta: f64) -> Elastic {
        let u = [-0.3, 0.2, -0.1, 0.0, 0.0];
        Elastic { of: OF, h: 1e-2, theta, gap, u, stretch: [2e-3, -1e-3] }
    }

    /// `u⁺` for which nothing slides and nothing parts: `w = 0`.
    fn stuck(contact: &Elastic, z: [f64; 3]) -> [f64; 3] {
        let (C, mut q) = (contact.compliance(), [0.0; 3]);
        contact.bias(&mut q);
        [0, 1, 2].map(|k: usize| -q[k] - C[k.min(1)] * z[k])
    }

    /// The forces are those of (1) and (2).
    #[test]
    fn forces_are_those_of_springs_and_dampers() {
        for (gap, theta) in [(-2e-3, 0.5), (-1e-4, 1.0), (1e-4, 0.5), (1e-4, 0.8)] {
            let contact = contact(gap, theta);
            let (z, h) = ([0.05, 0.01, -0.02], contact.h);
            let u = stuck(&contact, z);
            let mean = [0, 1, 2].map(|k| theta * u[k] + (1.0 - theta) * contact.u[k]);
            let gap_then = gap + theta * h * mean[0];
            let rate = if gap > 0.0 { gap_then / (theta * h) } else { mean[0] };
            let force = -OF.stiffness * gap_then - OF.damping * rate;
            assert!((force - z[0] / h).abs() < 1e-12 * force.abs(), "{gap} {theta}");
            for k in 1..3 {
                let then = contact.stretch[k - 1] + theta * h * mean[k];
                let force = -OF.tangential * then - OF.damping * 2.0 / 3.0 * mean[k];
                assert!((force - z[k] / h).abs() < 1e-11, "{gap} {theta} {k}");
            }
        }
    }

    /// At `ϑ = ½` what is taken is held, damped or slid, all of it.
    #[test]
    fn energies_add_up() {
        for slip in [0.0, 0.4] {
            let contact = contact(-2e-3, 0.5);
            let z = [0.05, 0.01, -0.02];
            let mut u = stuck(&contact, z);
            u[1] -= slip * z[1];
            u[2] -= slip * z[2];
            let after = contact.after(&z, &u, 10.0);
            let taken = |k: usize| -0.5 * (u[k] + contact.u[k]) * z[k];
            let taken = taken(0) + taken(1) + taken(2);
            let told = after.potential - contact.held() + after.damping + after.friction;
            assert!((told - taken).abs() < 1e-15, "{told} {taken}");
            assert!(after.damping > 0.0 && after.friction >= -1e-16);
            assert_eq!(slip > 0.0, after.friction > 1e-9);
        }
    }

    /// What lets go keeps nothing along the tangents, and its damper has what the spring gave; what only comes closer takes nothing.
    #[test]
    fn what_parts_is_not_stretched() {
        let after = contact(-2e-3, 0.5).after(&[0.0; 3], &[0.9, 0.0, 0.0], 0.5);
        assert_eq!((after.stretch, after.potential), ([0.0; 2], 0.0));
        assert!((after.damping - 0.5 * OF.stiffness * 4e-6).abs() < 1e-18);
        assert!((after.friction - 0.5 * OF.tangential * 5e-6).abs() < 1e-18);
        let contact = Elastic { stretch: [0.0; 2], ..contact(2e-3, 0.5) };
        let after = contact.after(&[0.0; 3], &[-0.3, 0.0, 0.0], 0.5);
        assert!(after.potential > 0.0);
        assert_eq!((after.damping, after.friction), (0.0, 0.0));
    }

    /// A spring that slides is stretched as far as the cone lets it, and no further; energies still add up.
    #[test]
    fn springs_are_stretched_as_far_as_the_cone_allows() {
        let mut contact = contact(-2e-3, 0.5);
        contact.of.damping = 0.0;
        let (mu, z) = (0.5, [0.05, -0.025, 0.0]);
        let mut u = stuck(&contact, z);
        u[1] += 0.7;
        let after = contact.after(&z, &u, mu);
        let force = OF.tangential * after.stretch[0].hypot(after.stretch[1]);
        assert!(force <= mu * z[0] / contact.h * (1.0 + 1e-14), "{force}");
        let taken = |k: usize| -0.5 * (u[k] + contact.u[k]) * z[k];
        let taken = taken(0) + taken(1) + taken(2);
        let told = after.potential - contact.held() + after.damping + after.friction;
        assert!((told - taken).abs() < 1e-15 && after.friction > 0.0, "{told} {taken}");
    }

    #[test]
    fn steps_that_resolve_a_spring_keep_its_energy() {
        let theta = |h: f64| theta(Elasticity { damping: 0.0, ..OF }, h, [1.0 / 3.0; 2]);
        let period = 2.0 * std::f64::consts::PI / 1e3_f64.sqrt();
        assert_eq!(theta(period / 20.0), 0.5);
        assert_eq!(theta(period), 1.0);
        assert!(theta(period / 5.0) > 0.5 && theta(period / 5.0) < 1.0);
    }
}
