//! How far the impulses of contacts are from a solution: equations (2) and (4) of `residual`, with `w`
//! recomputed from `z` contact by contact.
//!
//! What is below the round-off of the velocities `c` that `w` is a difference of counts as nothing: of bodies that move on together,
//! `w` has no other digits.
//!
//! ```text
//! ‖r‖ ≤ 4 ε √Σ (|c_a|² + |c_b|²)
//! ```

use super::{COMPONENTS, Friction, Island, MovingBody, Touch, Twist, dot};
use crate::residual::Residual;
use crate::sets::natural_map_by;
use crate::sets::{cone, norm};
use crate::{Report, Status};
use saltus_linalg::{Wide, wide};

/// A residual, and what it was measured against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    pub residual: Residual,
    pub free: f64, // ‖H V_free + q‖
    pub rho: f64,  // impulses a velocity
}

/// What the residuals of some contacts are measured against, the same for all impulses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scales {
    pub free: f64,    // ‖H V_free + q‖
    pub largest: f64, // entry of W
    speeds: f64,      // Σ (|c_a|² + |c_b|²) without impulses
}

impl Island<'_> {
    /// Leaves the velocities under the impulses `z` in `twists`, and measures. `worst` is a contact.
    pub(super) fn measure(&self, z: &[f64], stride: usize, twists: &mut [Twist]) -> Measured {
        self.measure_against(self.scales(twists), z, stride, twists)
    }

    /// Leaves the velocities without impulses in `twists`.
    pub(super) fn scales(&self, twists: &mut [Twist]) -> Scales {
        wide(OfScales { island: *self, twists })
    }

    /// The same where it is known what it is measured against.
    pub(super) fn measure_against(
        &self,
        against: Scales,
        z: &[f64],
        stride: usize,
        twists: &mut [Twist],
    ) -> Measured {
        wide(OfImpulses { island: *self, against, z, stride, twists })
    }

    /// The same as a report.
    pub fn report(&self, z: &[f64], stride: usize, twists: &mut [Twist]) -> Report {
        let Residual { value, worst } = self.measure(z, stride, twists).residual;
        let status = Status::MaxIter;
        Report { status, iterations: 0, residual: value, worst, method: "measure" }
    }

    /// Whether the impulses `z` stop all bodies: the residual of `V = 0`, which has a share of the
    /// momentum that is left; no more than that share where it is above `most`.
    ///
    /// ```text
    /// √(Vᵀ M V / V_freeᵀ M V_free) + ‖z − P_K(z − ρ (w + φ(w) e_N))‖ / ‖z‖,    w = q + C z
    /// ```
    pub fn rests(&self, z: &[f64], stride: usize, most: f64, twists: &mut [Twist]) -> f64 {
        let Island { bodies, members, touches } = *self;
        self.follow(z, stride, twists);
        let (mut left, mut free) = (0.0, 0.0);
        for &k in members {
            let (body, twist) = (&bodies[k as usize], twists[k as usize]);
            left += energy(body, &twist);
            free += energy(body, &Twist { v: body.v, omega: body.omega });
        }
        let left = if left == 0.0 { 0.0 } else { f64::sqrt(left / free) };
        if left > most {
            return left;
        }
        let (mut wrong, mut size) = (0.0, 0.0);
        let (mut q, mut f) = ([0.0; COMPONENTS], [0.0; COMPONENTS]);
        for (c, touch) in touches.iter().enumerate() {
            let n = touch.friction.size();
            let own = &z[c * stride..c * stride + n];
            q[..3].copy_from_slice(&touch.q);
            for k in 0..touch.friction.linear() {
                q[k] += touch.compliance_of(k) * own[k];
            }
            let still = q[..n].iter().all(|q| *q == 0.0);
            size += own.iter().map(|z| z * z).sum::<f64>();
            if still && in_cone(touch.friction, own) {
                continue;
            }
            // what moves, or is open: in units of the impulse that would change it
            let rho = 1.0 / touch.diagonal(bodies, 0);
            touch.friction.set().natural_map(rho, own, &q[..n], &mut f[..n]);
            wrong += f[..n].iter().map(|x| x * x).sum::<f64>();
        }
        let wrong = if wrong == 0.0 { 0.0 } else { f64::sqrt(wrong) / f64::sqrt(size) };
        left + wrong
    }

    /// The velocities under the impulses `z`.
    #[inline]
    pub(super) fn follow(&self, z: &[f64], stride: usize, twists: &mut [Twist]) {
        self.start(twists);
        self.push_all(z, stride, twists);
    }

    /// Those without impulses.
    #[inline]
    fn start(&self, twists: &mut [Twist]) {
        for &k in self.members {
            let MovingBody { v, omega, .. } = self.bodies[k as usize];
            twists[k as usize] = Twist { v, omega };
        }
    }

    /// Adds what the impulses do.
    #[inline]
    fn push_all(&self, z: &[f64], stride: usize, twists: &mut [Twist]) {
        for (c, touch) in self.touches.iter().enumerate() {
            let z = &z[c * stride..];
            if z[..touch.friction.size()].iter().all(|z| *z == 0.0) {
                continue;
            }
            let (impulse, moment) = touch.impulse(z);
            let [a, b] = touch.bodies.map(|k| k as usize);
            twists[a].push(&self.bodies[a], touch.arms[0], 1.0, impulse, moment);
            twists[b].push(&self.bodies[b], touch.arms[1], -1.0, impulse, moment);
        }
    }
}

/// What [`Island::scales`] does.
struct OfScales<'a> {
    island: Island<'a>,
    twists: &'a mut [Twist],
}

impl Wide for OfScales<'_> {
    type Answer = Scales;

    #[inline(always)]
    fn run(self) -> Scales {
        let OfScales { island: Island { bodies, touches, .. }, twists } = self;
        let (mut free, mut largest, mut speeds) = (0.0, 0.0_f64, 0.0);
        self.island.start(twists);
        for touch in touches {
            let [a, b] = touch.bodies.map(|k| k as usize);
            let u = touch.moved(&twists[a], &twists[b]);
            let [of_a, of_b] = [twists[a].at(touch.arms[0]), twists[b].at(touch.arms[1])];
            speeds += dot(of_a, of_a) + dot(of_b, of_b);
            for k in 0..touch.friction.size() {
                free += u[k].powi(2);
            }
            // the largest entries of a semidefinite matrix are on its diagonal
            for k in 0..touch.friction.size() {
                largest = largest.max(touch.diagonal(bodies, k));
            }
        }
        Scales { free: f64::sqrt(free), largest, speeds }
    }
}

/// What [`Island::measure_against`] does.
struct OfImpulses<'a> {
    island: Island<'a>,
    against: Scales,
    z: &'a [f64],
    stride: usize,
    twists: &'a mut [Twist],
}

impl Wide for OfImpulses<'_> {
    type Answer = Measured;

    #[inline(always)]
    fn run(self) -> Measured {
        let OfImpulses { island, against: Scales { free, largest, speeds }, z, stride, twists } =
            self;
        let touches = island.touches;
        island.follow(z, stride, twists);
        let forces = square(touches, z, stride).sqrt();
        let needed = free / largest;
        let scale = if needed.is_finite() { forces.max(needed) } else { forces };
        let rho = scale / free;
        let rho = (rho > 0.0 && rho.is_finite() && scale.is_finite()).then_some(rho);

        let (mut own, mut scaled, mut moving) = (0.0, 0.0, 0.0);
        let mut worst = [(0.0, 0); 2];
        for (c, touch) in touches.iter().enumerate() {
            let [a, b] = touch.bodies.map(|k| k as usize);
            let w = touch.moved_under(&twists[a], &twists[b], &z[c * stride..]);
            let n = touch.friction.size();
            for k in 0..n {
                moving += w[k] * w[k];
            }
            let z = &z[c * stride..c * stride + n];
            let approach = touch.friction.set().approach(&w[..n]);
            let share = |rho: f64, approach: f64, worst: &mut (f64, usize)| {
                let share = share(touch.friction, rho, z, &w);
                let least = (rho * approach).powi(2);
                let share = if least > share { least } else { share };
                if !(share <= worst.0) && !worst.0.is_nan() {
                    *worst = (share, c);
                }
                share
            };
            own += share(1.0, 0.0, &mut worst[0]);
            if let Some(rho) = rho {
                scaled += share(rho, approach, &mut worst[1]);
            }
        }
        let class = free.max(forces).max(f64::sqrt(moving));
        let rounding = 4.0 * f64::EPSILON * f64::sqrt(speeds);
        let seen = |square: f64, rho: f64| match f64::sqrt(square) {
            left if left <= rho * rounding => 0.0,
            left => left,
        };
        let own = seen(own, 1.0) / if class > f64::EPSILON { class } else { 1.0 };
        let own = if class.is_finite() { own } else { f64::NAN };
        let scaled = rho.map_or(own, |rho| seen(scaled, rho) / scale);
        // a NaN is larger than all
        let (value, worst) = match own >= scaled || own.is_nan() {
            true => (own, worst[0].1),
            false => (scaled, worst[1].1),
        };
        Measured { residual: Residual { value, worst }, free, rho: rho.unwrap_or(1.0) }
    }
}

/// The square of what the natural map of a contact leaves.
#[inline(always)]
fn share(friction: Friction, rho: f64, z: &[f64], w: &[f64; COMPONENTS]) -> f64 {
    let mut f = [0.0; COMPONENTS];
    match (friction, z) {
        // of a known length and set
        (Friction::Space { mu }, &[a, b, c]) => {
            let [z, w] = [[a, b, c], [w[0], w[1], w[2]]];
            let mut f = [0.0; 3];
            let shift = mu * norm(&w[1..]);
            natural_map_by(rho, &z, &w, shift, &mut f, |x| cone::project(mu, x));
            f[0] * f[0] + f[1] * f[1] + f[2] * f[2]
        }
        _ => {
            let n = z.len();
            friction.set().natural_map(rho, z, &w[..n], &mut f[..n]);
            f[..n].iter().map(|x| x * x).sum()
        }
    }
}

/// `‖z‖²`.
fn square(touches: &[Touch], z: &[f64], stride: usize) -> f64 {
    let of = |(c, touch): (usize, &Touch)| {
        z[c * stride..c * stride + touch.friction.size()].iter().map(|z| z * z).sum::<f64>()
    };
    touches.iter().enumerate().map(of).sum()
}

/// Whether an impulse is in its cone.
fn in_cone(friction: Friction, z: &[f64]) -> bool {
    let square = |z: &[f64]| z.iter().map(|z| z * z).sum::<f64>();
    let within = |z: &[f64], most: f64| square(z) <= most * most;
    z[0] >= 0.0
        && match friction {
            Friction::None => true,
            Friction::Plane { mu } | Friction::Space { mu } => within(&z[1..], mu * z[0]),
            Friction::RollingPlane { mu, mu_r } => {
                within(&z[1..2], mu * z[0]) && within(&z[2..], mu_r * z[0])
            }
            Friction::RollingSpace { mu, mu_r } => {
                within(&z[1..3], mu * z[0]) && within(&z[3..], mu_r * z[0])
            }
        }
}

/// `Vᵀ M V` of a body; its turns are measured by the inverse of the mean of `J⁻¹`.
fn energy(body: &MovingBody, twist: &Twist) -> f64 {
    if body.inverse_mass == 0.0 {
        return 0.0;
    }
    let square = |a: [f64; 3]| a.iter().map(|x| x * x).sum::<f64>();
    let A = &body.inverse_inertia;
    let (sum, count) =
        A[..3].iter().filter(|x| **x > 0.0).fold((0.0, 0), |(s, n), x| (s + x, n + 1));
    let turn = if count == 0 { 0.0 } else { f64::from(count) / sum };
    square(twist.v) / body.inverse_mass + turn * square(twist.omega)
}
