//! How far the impulses of contacts are from a solution: equations (2) and (4) of `residual`, with `w`
//! recomputed from `z` contact by contact.
//!
//! What is below the round-off of the velocities `c` that `w` is a difference of counts as nothing: of bodies that move on together,
//! `w` has no other digits.
//!
//! ```text
//! ‖r‖ ≤ 4 ε √Σ (|c_a|² + |c_b|²)
//! ```

use super::{COMPONENTS, MovingBody, Touch, Twist, dot};
use crate::residual::Residual;

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

/// Leaves the velocities without impulses in `twists`.
pub(super) fn scales(
    bodies: &[MovingBody],
    members: &[u32],
    touches: &[Touch],
    twists: &mut [Twist],
) -> Scales {
    let (mut free, mut largest, mut speeds) = (0.0, 0.0_f64, 0.0);
    start(bodies, members, twists);
    for touch in touches {
        let [a, b] = touch.bodies.map(|k| k as usize);
        let u = touch.relative(&twists[a], &twists[b]);
        let [of_a, of_b] = [twists[a].at(touch.arms[0]), twists[b].at(touch.arms[1])];
        speeds += dot(of_a, of_a) + dot(of_b, of_b);
        for k in 0..touch.friction.size() {
            free += (u[k] + touch.q[k]).powi(2);
        }
        // the largest entries of a semidefinite matrix are on its diagonal
        let n = touch.friction.size();
        let mut W = [0.0; COMPONENTS * COMPONENTS];
        touch.block(bodies, &mut W);
        for k in 0..n {
            largest = largest.max(W[k * n + k]);
        }
    }
    Scales { free: f64::sqrt(free), largest, speeds }
}

/// Leaves the velocities under the impulses `z` in `twists`, and measures. `worst` is a contact.
pub(super) fn measure(
    bodies: &[MovingBody],
    members: &[u32],
    touches: &[Touch],
    z: &[f64],
    stride: usize,
    twists: &mut [Twist],
) -> Measured {
    let against = scales(bodies, members, touches, twists);
    measure_against(against, bodies, members, touches, z, stride, twists)
}

/// The same where it is known what it is measured against.
pub(super) fn measure_against(
    Scales { free, largest, speeds }: Scales,
    bodies: &[MovingBody],
    members: &[u32],
    touches: &[Touch],
    z: &[f64],
    stride: usize,
    twists: &mut [Twist],
) -> Measured {
    start(bodies, members, twists);
    push_all(bodies, touches, z, stride, twists);
    let forces = square(touches, z, stride).sqrt();
    let needed = free / largest;
    let scale = if needed.is_finite() { forces.max(needed) } else { forces };
    let rho = scale / free;
    let rho = (rho > 0.0 && rho.is_finite() && scale.is_finite()).then_some(rho);

    let (mut own, mut scaled, mut moving) = (0.0, 0.0, 0.0);
    let mut worst = [(0.0, 0); 2];
    for (c, touch) in touches.iter().enumerate() {
        let [a, b] = touch.bodies.map(|k| k as usize);
        let mut w = touch.relative(&twists[a], &twists[b]);
        let n = touch.friction.size();
        for k in 0..n {
            w[k] += touch.q[k];
            moving += w[k] * w[k];
        }
        let (set, z) = (touch.friction.set(), &z[c * stride..c * stride + n]);
        let mut f = [0.0; COMPONENTS];
        let approach = set.approach(&w[..n]);
        let mut share = |rho: f64, approach: f64, worst: &mut (f64, usize)| {
            set.natural_map(rho, z, &w[..n], &mut f[..n]);
            let share: f64 = f[..n].iter().map(|x| x * x).sum();
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

/// The velocities without impulses.
pub(super) fn start(bodies: &[MovingBody], members: &[u32], twists: &mut [Twist]) {
    for &k in members {
        let MovingBody { v, omega, .. } = bodies[k as usize];
        twists[k as usize] = Twist { v, omega };
    }
}

/// Adds what the impulses do.
pub(super) fn push_all(
    bodies: &[MovingBody],
    touches: &[Touch],
    z: &[f64],
    stride: usize,
    twists: &mut [Twist],
) {
    for (c, touch) in touches.iter().enumerate() {
        let z = &z[c * stride..];
        if z[..touch.friction.size()].iter().all(|z| *z == 0.0) {
            continue;
        }
        let (impulse, moment) = touch.impulse(z);
        let [a, b] = touch.bodies.map(|k| k as usize);
        twists[a].push(&bodies[a], touch.arms[0], 1.0, impulse, moment);
        twists[b].push(&bodies[b], touch.arms[1], -1.0, impulse, moment);
    }
}

/// `‖z‖²`.
fn square(touches: &[Touch], z: &[f64], stride: usize) -> f64 {
    let of = |(c, touch): (usize, &Touch)| {
        z[c * stride..c * stride + touch.friction.size()].iter().map(|z| z * z).sum::<f64>()
    };
    touches.iter().enumerate().map(of).sum()
}
