//! Sweeps over the contacts of rigid bodies with their velocities, and conjugate directions between them.
//!
//! ```text
//! z_c ← the answer of w_c = W_cc z_c + b_c with its law,    b_c = H_c V + q_c − W_cc z_c
//! V ← V + M⁻¹ H_cᵀ (z_c⁺ − z_c)                             for each contact in turn           (1)
//! z ← z + β p,    p ← β p + (z⁺ − z),    β = |z⁺ − z|²/|z − z⁻|²                               (2)
//! ```
//!
//! The velocities are a linear function of `z`, so (2) moves them along. Where `β > 1` the direction is
//! forgotten. Reference: Silcowitz, Niebe, Erleben, *The Visual Computer* 26 (2010) 893–901.
//!
//! Crowds of contacts without rolling resistance go another way (see `crowds`); with it, rounds of sweeps take
//! turns with solutions of the surroundings of the worst contacts (see `spots`).
//!
//! Bodies whose velocity the impulses stop altogether, but for less than the tolerance, are
//! [at rest](BodySweeps::rests).

use super::crowds::Crowds;
use super::measure::{Measured, measure, push_all, start};
use super::spots::Spots;
use super::{COMPONENTS, Friction, MovingBody, Normal, Touch, Twist};
use crate::sets::slip::Slip;
use crate::{Report, Status};

/// What the sweeps are to reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sweeping {
    /// Residual at which they end.
    pub tol: f64,
    /// Sweeps before giving up.
    pub max_iter: usize,
    /// Rounds in which the residual must halve.
    pub patience: usize,
    /// Whether crowds get methods that take long.
    pub thorough: bool,
}

/// The sweeps and what they keep between calls.
#[derive(Debug, Default)]
pub struct BodySweeps {
    blocks: Vec<Local>,
    long_blocks: Vec<f64>, // W_cc of contacts with rolling in space
    twists: Vec<Twist>,
    before: Vec<Twist>, // of the members of a small island
    along: Vec<Twist>,  // p, as velocities of them
    z_before: Vec<f64>,
    p: Vec<f64>,
    saved: Vec<f64>,
    spots: Spots,
    crowds: Crowds,
}

/// Bodies that hang together by their contacts.
#[derive(Clone, Copy)]
pub(super) struct Island<'a> {
    pub bodies: &'a [MovingBody],
    pub members: &'a [u32],
    pub touches: &'a [Touch],
}

/// `W_cc` of three components at most, and its inverse.
#[derive(Debug, Clone, Copy, Default)]
struct Local {
    W: [f64; 9],
    inverse: [f64; 9],
    size: f64, // the mean of the diagonal
}

/// Sweeps at first, and after spots.
const FIRST: usize = 30;
const AFTER: usize = 15;
/// Contacts up to which there are sweeps alone, and how many.
const FEW: usize = 12;
const ALONE: usize = 200;
/// Growth of the residual that undoes a round.
const GROWTH: f64 = 3.0;
/// Rounds in which the residual does not halve that widen the spots.
const WIDER: usize = 3;

impl BodySweeps {
    /// Velocities after the last solve.
    pub fn twists(&self) -> &[Twist] {
        &self.twists
    }

    /// Room for bodies.
    fn fit(&mut self, bodies: usize) {
        if self.twists.len() < bodies {
            self.twists.resize(bodies, Twist::default());
        }
    }

    /// The velocities under the impulses `z`, and their residual.
    pub fn measure(
        &mut self,
        bodies: &[MovingBody],
        members: &[u32],
        touches: &[Touch],
        z: &[f64],
        stride: usize,
    ) -> Report {
        self.fit(bodies.len());
        let Measured { residual, .. } =
            measure(bodies, members, touches, z, stride, &mut self.twists);
        let (value, worst) = (residual.value, residual.worst);
        let status = Status::MaxIter;
        Report { status, iterations: 0, residual: value, worst, method: "measure" }
    }

    /// Whether the impulses `z` stop all bodies: the residual of `V = 0`, which has a share of the
    /// momentum that is left.
    ///
    /// ```text
    /// √(Vᵀ M V / V_freeᵀ M V_free) + ‖z − P_K(z − ρ (q + φ(q) e_N))‖ / ‖z‖
    /// ```
    pub fn rests(
        &mut self,
        bodies: &[MovingBody],
        members: &[u32],
        touches: &[Touch],
        z: &[f64],
        stride: usize,
    ) -> f64 {
        self.fit(bodies.len());
        start(bodies, members, &mut self.twists);
        push_all(bodies, touches, z, stride, &mut self.twists);
        let (mut left, mut free) = (0.0, 0.0);
        for &k in members {
            let (body, twist) = (&bodies[k as usize], self.twists[k as usize]);
            left += energy(body, &twist);
            free += energy(body, &Twist { v: body.v, omega: body.omega });
        }
        let (mut wrong, mut size) = (0.0, 0.0);
        let mut f = [0.0; COMPONENTS];
        for (c, touch) in touches.iter().enumerate() {
            let n = touch.friction.size();
            let own = &z[c * stride..c * stride + n];
            let still = touch.q[..n].iter().all(|q| *q == 0.0);
            size += own.iter().map(|z| z * z).sum::<f64>();
            if still && in_cone(touch.friction, own) {
                continue;
            }
            // what moves, or is open: in units of the impulse that would change it
            let rho = 1.0 / Normal::new(touch).response(bodies).size;
            touch.friction.set().natural_map(rho, own, &touch.q[..n], &mut f[..n]);
            wrong += f[..n].iter().map(|x| x * x).sum::<f64>();
        }
        let wrong = if wrong == 0.0 { 0.0 } else { f64::sqrt(wrong) / f64::sqrt(size) };
        let left = if left == 0.0 { 0.0 } else { f64::sqrt(left / free) };
        left + wrong
    }

    /// Solves for the contacts of the bodies `members` from the guess in `z`, whose components begin at
    /// multiples of `stride`; leaves the answer there, and the velocities in
    /// [`twists`](Self::twists). `worst` of the report is a contact.
    pub fn solve(
        &mut self,
        bodies: &[MovingBody],
        members: &[u32],
        touches: &[Touch],
        z: &mut [f64],
        stride: usize,
        settings: Sweeping,
    ) -> Report {
        self.fit(bodies.len());
        let few = touches.len() <= FEW;
        let rolls = |touch: &Touch| touch.friction.size() > touch.friction.linear();
        if !few && !touches.iter().any(rolls) {
            let island = Island { bodies, members, touches };
            if stride == 3 {
                return self.crowds.solve(island, z, settings, &mut self.twists);
            }
            // elsewhere in the scene there is rolling resistance, and room for it here
            let mut packed = std::mem::take(&mut self.saved);
            packed.clear();
            packed.extend(z.chunks_exact(stride).flat_map(|z| [z[0], z[1], z[2]]));
            let report = self.crowds.solve(island, &mut packed, settings, &mut self.twists);
            for (z, own) in z.chunks_exact_mut(stride).zip(packed.chunks_exact(3)) {
                z[..3].copy_from_slice(own);
            }
            self.saved = packed;
            return report;
        }
        self.prepare(bodies, touches, stride);
        let Sweeping { tol, max_iter, patience, .. } = settings;
        let Measured { mut residual, free, rho } =
            measure(bodies, members, touches, z, stride, &mut self.twists);
        let (mut iterations, mut round, mut least, mut since) = (0, 0, residual.value, 0);
        loop {
            let status = match residual.value {
                value if value <= tol => Some(Status::Solved),
                value if !value.is_finite() => Some(Status::Diverged),
                _ if iterations >= max_iter || round > since + patience => Some(Status::MaxIter),
                _ => None,
            };
            if let Some(status) = status {
                let (value, worst) = (residual.value, residual.worst);
                let method = "body-sweeps";
                return Report { status, iterations, residual: value, worst, method };
            }
            let before = residual.value;
            let mut sweep = |own: &mut Self, z: &mut [f64], sweeps: usize| {
                iterations += own.run(bodies, members, touches, z, stride, sweeps, tol * free);
                measure(bodies, members, touches, z, stride, &mut own.twists).residual
            };
            residual = if few {
                sweep(self, z, ALONE)
            } else if round == 0 {
                self.spots.prepare(bodies.len(), touches, tol);
                sweep(self, z, FIRST)
            } else {
                self.saved.clear();
                self.saved.extend_from_slice(z);
                let rings = 1 + (round - since) / WIDER;
                self.spots.solve(bodies, touches, rho, rings, z, stride, &mut self.twists);
                let now = sweep(self, z, AFTER);
                if now.value <= GROWTH * before {
                    now
                } else {
                    z.copy_from_slice(&self.saved);
                    self.follow(bodies, members, touches, z, stride);
                    sweep(self, z, 3 * AFTER)
                }
            };
            round += 1;
            if round == 1 || residual.value <= 0.5 * least {
                (least, since) = (residual.value, round);
            }
        }
    }

    /// The velocities under these impulses.
    fn follow(
        &mut self,
        bodies: &[MovingBody],
        members: &[u32],
        touches: &[Touch],
        z: &[f64],
        stride: usize,
    ) {
        start(bodies, members, &mut self.twists);
        push_all(bodies, touches, z, stride, &mut self.twists);
    }

    /// Sweeps, until they change less than `still`; how many.
    #[expect(clippy::too_many_arguments)]
    fn run(
        &mut self,
        bodies: &[MovingBody],
        members: &[u32],
        touches: &[Touch],
        z: &mut [f64],
        stride: usize,
        sweeps: usize,
        still: f64,
    ) -> usize {
        let mut last = f64::INFINITY;
        let few = touches.len() <= FEW;
        if few {
            self.forget(members, z.len());
        }
        for done in 1..=sweeps {
            if few {
                self.z_before[..z.len()].copy_from_slice(z);
                self.before.clear();
                self.before.extend(members.iter().map(|&k| self.twists[k as usize]));
            }
            let (change, speed) = self.sweep(bodies, touches, z, stride);
            if few {
                self.go_on(members, change / last, z);
                last = change;
            }
            if speed <= 0.1 * still {
                return done;
            }
        }
        sweeps
    }

    /// The blocks `W_cc`.
    fn prepare(&mut self, bodies: &[MovingBody], touches: &[Touch], stride: usize) {
        self.blocks.clear();
        self.long_blocks.clear();
        for touch in touches {
            let mut local = Local::default();
            let n = touch.friction.size();
            if n > 3 {
                let first = self.long_blocks.len();
                self.long_blocks.resize(first + n * n, 0.0);
                let W = &mut self.long_blocks[first..];
                touch.block(bodies, W);
                local.size = (0..n).map(|i| W[i * n + i]).sum::<f64>() / n as f64;
            } else {
                touch.block(bodies, &mut local.W);
                local.size = (0..n).map(|i| local.W[i * n + i]).sum::<f64>() / n as f64;
                if n == 3 {
                    local.inverse = inverse3(&local.W);
                }
            }
            self.blocks.push(local);
        }
        self.z_before.resize(touches.len() * stride, 0.0);
        self.p.resize(touches.len() * stride, 0.0);
    }

    fn forget(&mut self, members: &[u32], unknowns: usize) {
        self.p[..unknowns].fill(0.0);
        self.along.clear();
        self.along.resize(members.len(), Twist::default());
    }

    /// Equation (1) for all contacts. The energy of the change, and its velocity.
    fn sweep(
        &mut self,
        bodies: &[MovingBody],
        touches: &[Touch],
        z: &mut [f64],
        stride: usize,
    ) -> (f64, f64) {
        let (mut change, mut speed, mut long) = (0.0, 0.0, 0);
        for (c, touch) in touches.iter().enumerate() {
            let [first, second] = touch.bodies.map(|k| k as usize);
            let n = touch.friction.size();
            let local = &self.blocks[c];
            let W: &[f64] = match n > 3 {
                true => {
                    long += n * n;
                    &self.long_blocks[long - n * n..long]
                }
                false => &local.W,
            };
            let own = &mut z[c * stride..c * stride + n];
            let (mut a, mut b) = (self.twists[first], self.twists[second]);
            let mut w = touch.relative(&a, &b);
            for k in 0..n {
                w[k] += touch.q[k];
                for j in 0..n {
                    w[k] -= W[k * n + j] * own[j];
                }
            }
            let mut answer = [0.0; COMPONENTS];
            answer[..n].copy_from_slice(own);
            match touch.friction {
                Friction::Space { mu } => space(mu, local, &w, &mut answer),
                Friction::None => answer[0] = (-w[0] / W[0]).max(0.0),
                friction => {
                    friction.set().solve_block(W, &w[..n], &mut answer[..n]);
                }
            }
            let mut step = [0.0; COMPONENTS];
            let mut square = 0.0;
            for k in 0..n {
                step[k] = answer[k] - own[k];
                square += step[k] * step[k];
                own[k] = answer[k];
            }
            if square == 0.0 {
                continue;
            }
            change += local.size * square;
            speed += local.size * local.size * square;
            let (impulse, moment) = touch.impulse(&step);
            a.push(&bodies[first], touch.arms[0], 1.0, impulse, moment);
            b.push(&bodies[second], touch.arms[1], -1.0, impulse, moment);
            (self.twists[first], self.twists[second]) = (a, b);
        }
        (change, f64::sqrt(speed))
    }

    /// Equation (2).
    fn go_on(&mut self, members: &[u32], beta: f64, z: &mut [f64]) {
        let goes_on = beta < 1.0;
        let beta = if goes_on { beta } else { 0.0 };
        for ((z, before), p) in z.iter_mut().zip(&self.z_before).zip(&mut self.p) {
            let step = *z - before;
            *z += beta * *p;
            *p = beta * *p + if goes_on { step } else { 0.0 };
        }
        for ((&k, before), along) in members.iter().zip(&self.before).zip(&mut self.along) {
            let now = &mut self.twists[k as usize];
            let parts = [
                (&mut now.v, before.v, &mut along.v),
                (&mut now.omega, before.omega, &mut along.omega),
            ];
            for (now, before, along) in parts {
                for i in 0..3 {
                    let step = now[i] - before[i];
                    now[i] += beta * along[i];
                    along[i] = beta * along[i] + if goes_on { step } else { 0.0 };
                }
            }
        }
    }
}

/// The block of a contact with friction in space: take-off, stick, slip.
#[inline]
fn space(mu: f64, local: &Local, b: &[f64; COMPONENTS], z: &mut [f64; COMPONENTS]) {
    if b[0] >= 0.0 {
        z[..3].fill(0.0);
        return;
    }
    let A = &local.inverse;
    let stick = |i: usize| -(A[3 * i] * b[0] + A[3 * i + 1] * b[1] + A[3 * i + 2] * b[2]);
    let r = [stick(0), stick(1), stick(2)];
    if r[1] * r[1] + r[2] * r[2] <= mu * mu * r[0] * r[0] && r[0] > 0.0 {
        z[..3].copy_from_slice(&r);
        return;
    }
    let slip = Slip { mu, kappa: 0.0, W: &local.W, b: &b[..3] };
    match slip.near([z[1], z[2]]).or_else(|| slip.near([r[1], r[2]])) {
        Some(answer) => z[..3].copy_from_slice(&answer),
        None => {
            Friction::Space { mu }.set().solve_block(&local.W, &b[..3], &mut z[..3]);
        }
    }
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

/// `W⁻¹` by cofactors.
pub(super) fn inverse3(W: &[f64; 9]) -> [f64; 9] {
    let cofactor = |i: usize, j: usize| {
        let (r, s) = ((i + 1) % 3, (i + 2) % 3);
        let (c, d) = ((j + 1) % 3, (j + 2) % 3);
        W[r * 3 + c] * W[s * 3 + d] - W[r * 3 + d] * W[s * 3 + c]
    };
    let det = W[0] * cofactor(0, 0) + W[1] * cofactor(0, 1) + W[2] * cofactor(0, 2);
    let mut inverse = [0.0; 9];
    for i in 0..3 {
        for j in 0..3 {
            inverse[3 * i + j] = cofactor(j, i) / det;
        }
    }
    inverse
}
