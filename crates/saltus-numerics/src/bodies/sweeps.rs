//! Sweeps over the contacts of rigid bodies with their velocities, and conjugate directions between them.
//!
//! ```text
//! z_c ← the answer of w_c = (W_cc + C_c) z_c + b_c with its law,    b_c = H_c V + q_c − W_cc z_c
//! V ← V + M⁻¹ H_cᵀ (z_c⁺ − z_c)                             for each contact in turn           (1)
//! z ← z + β p,    p ← β p + (z⁺ − z),    β = |z⁺ − z|²/|z − z⁻|²                               (2)
//! ```
//!
//! The velocities are a linear function of `z`, so (2) moves them along. Where `β > 1` the direction is
//! forgotten. Reference: Silcowitz, Niebe, Erleben, *The Visual Computer* 26 (2010) 893–901.
//!
//! Crowds of contacts without rolling resistance, and the fewest where one gives way, go another way (see `crowds`); with it, rounds of sweeps take
//! turns with solutions of the surroundings of the worst contacts (see `spots`).
//!
//! Bodies whose velocity the impulses stop altogether, but for less than the tolerance, are
//! [at rest](Island::rests).

use super::crowds::Crowds;
use super::measure::Measured;
use super::spots::Spots;
use super::{COMPONENTS, Friction, Island, Touch, Twist};
use crate::sets::slip::Slip;
use crate::watch::is_interrupted;
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
    long_blocks: Vec<f64>, // the same of contacts with rolling in space
    before: Vec<Twist>,    // of the members of a small island
    along: Vec<Twist>,     // p, as velocities of them
    z_before: Vec<f64>,
    p: Vec<f64>,
    saved: Vec<f64>,
    spots: Spots,
    crowds: Crowds,
}

/// `W_cc + C_c` of three components at most, and its inverse.
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
    /// Solves for the contacts of an island from the guess in `z`, whose components begin at multiples of
    /// `stride`; leaves the answer there, and the velocities of its bodies in `twists`, which has room for all
    /// bodies. `worst` of the report is a contact.
    pub fn solve(
        &mut self,
        island: Island<'_>,
        z: &mut [f64],
        stride: usize,
        settings: Sweeping,
        twists: &mut [Twist],
    ) -> Report {
        let Island { bodies, touches, .. } = island;
        let few = touches.len() <= FEW;
        let rolls = |touch: &Touch| touch.friction.size() > touch.friction.linear();
        if (!few || island.gives()) && !touches.iter().any(rolls) {
            if stride == 3 {
                return self.crowds.solve(island, z, settings, twists);
            }
            // elsewhere in the scene there is rolling resistance, and room for it here
            let mut packed = std::mem::take(&mut self.saved);
            packed.clear();
            packed.extend(z.chunks_exact(stride).flat_map(|z| [z[0], z[1], z[2]]));
            let report = self.crowds.solve(island, &mut packed, settings, twists);
            for (z, own) in z.chunks_exact_mut(stride).zip(packed.chunks_exact(3)) {
                z[..3].copy_from_slice(own);
            }
            self.saved = packed;
            return report;
        }
        self.prepare(island, stride);
        let Sweeping { tol, max_iter, patience, .. } = settings;
        let Measured { mut residual, free, rho } = island.measure(z, stride, twists);
        let (mut iterations, mut round, mut least, mut since) = (0, 0, residual.value, 0);
        loop {
            let status = match residual.value {
                value if value <= tol => Some(Status::Solved),
                value if !value.is_finite() => Some(Status::Diverged),
                _ if iterations >= max_iter || round > since + patience => Some(Status::MaxIter),
                _ if is_interrupted() => Some(Status::MaxIter),
                _ => None,
            };
            if let Some(status) = status {
                let (value, worst) = (residual.value, residual.worst);
                let method = "body-sweeps";
                return Report { status, iterations, residual: value, worst, method };
            }
            let before = residual.value;
            let mut sweep = |own: &mut Self, z: &mut [f64], sweeps: usize, twists: &mut [Twist]| {
                iterations += own.run(island, z, stride, sweeps, tol * free, twists);
                island.measure(z, stride, twists).residual
            };
            residual = if few {
                sweep(self, z, ALONE, twists)
            } else if round == 0 {
                self.spots.prepare(bodies.len(), touches, tol);
                sweep(self, z, FIRST, twists)
            } else {
                self.saved.clear();
                self.saved.extend_from_slice(z);
                let rings = 1 + (round - since) / WIDER;
                self.spots.solve(bodies, touches, rho, rings, z, stride, twists);
                let now = sweep(self, z, AFTER, twists);
                if now.value <= GROWTH * before {
                    now
                } else {
                    z.copy_from_slice(&self.saved);
                    island.follow(z, stride, twists);
                    sweep(self, z, 3 * AFTER, twists)
                }
            };
            round += 1;
            if round == 1 || residual.value <= 0.5 * least {
                (least, since) = (residual.value, round);
            }
        }
    }

    /// Sweeps, until they change less than `still`; how many.
    fn run(
        &mut self,
        island: Island<'_>,
        z: &mut [f64],
        stride: usize,
        sweeps: usize,
        still: f64,
        twists: &mut [Twist],
    ) -> usize {
        let Island { members, touches, .. } = island;
        let mut last = f64::INFINITY;
        let few = touches.len() <= FEW;
        if few {
            self.forget(members, z.len());
        }
        for done in 1..=sweeps {
            if few {
                self.z_before[..z.len()].copy_from_slice(z);
                self.before.clear();
                self.before.extend(members.iter().map(|&k| twists[k as usize]));
            }
            let (change, speed) = self.sweep(island, z, stride, twists);
            if few {
                self.go_on(members, change / last, z, twists);
                last = change;
            }
            if speed <= 0.1 * still || !few && is_interrupted() {
                return done;
            }
        }
        sweeps
    }

    /// The blocks `W_cc + C_c`.
    fn prepare(&mut self, Island { bodies, touches, .. }: Island<'_>, stride: usize) {
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
        &self,
        Island { bodies, touches, .. }: Island<'_>,
        z: &mut [f64],
        stride: usize,
        twists: &mut [Twist],
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
            let (mut a, mut b) = (twists[first], twists[second]);
            let mut w = touch.moved_under(&a, &b, own);
            for k in 0..n {
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
            (twists[first], twists[second]) = (a, b);
        }
        (change, f64::sqrt(speed))
    }

    /// Equation (2).
    fn go_on(&mut self, members: &[u32], beta: f64, z: &mut [f64], twists: &mut [Twist]) {
        let goes_on = beta < 1.0;
        let beta = if goes_on { beta } else { 0.0 };
        for ((z, before), p) in z.iter_mut().zip(&self.z_before).zip(&mut self.p) {
            let step = *z - before;
            *z += beta * *p;
            *p = beta * *p + if goes_on { step } else { 0.0 };
        }
        for ((&k, before), along) in members.iter().zip(&self.before).zip(&mut self.along) {
            let now = &mut twists[k as usize];
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
