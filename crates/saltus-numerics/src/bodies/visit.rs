//! Four contacts side by side, and a visit of a sweep to them.
//!
//! ```text
//! z_c ← the answer of w_c = (W_cc + C_c) z_c + b_c with its law,    b_c = K_c s + q_c − W_cc z_c
//! s ← s + K_cᵀ (z_c⁺ − z_c)                                                                   (1)
//! z ← z + β p,    p ← β p + κ (z⁺ − z)                                                         (2)
//! ```
//!
//! with the `β` of [conjugate directions](super::fours), and `κ = 1`, or both zero where the direction is forgotten.
//! Take-off and stick are exact; the direction of slip goes two steps of Newton's method from where it was, and where it is lost
//! all answers are looked for.

use super::lanes::{Four, Kept, gather, load, negative, read, read_all, times};
use super::rows::{FIXED, Motion, Row};
use super::sweeps::inverse3;
use crate::Set;
use crate::sets::slip::Slip;
use saltus_linalg::Lanes;

/// Steps of Newton's method to the direction of slip, and how far off it may be after them, of the slip.
const STEPS: usize = 2;
const OFF: f64 = 0.1;
/// Least denominator of the normal impulse, of `W_NN`; slip, of what there was before, that is none.
const LEAST: f64 = 1e-3;
const NONE: f64 = 1e-12;

/// Four contacts. Those that are missing are open, and touch what does not move.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
pub(super) struct Contacts<T> {
    pub sides: [[u32; 4]; 2],
    pub K: [[[T; 4]; 18]; 2],
    pub q: [Four; 3],
    pub C: [[T; 4]; 2],       // of the normal, of the tangents
    pub W: [[T; 4]; 6],       // W_cc + C_c: NN, N1, N2, 11, 12, 22
    pub inverse: [[T; 4]; 6], // no numbers where there is none
    pub mu: Four,
    pub size: Four, // the mean of the diagonal
    pub z: [Four; 3],
    pub before: [Four; 3], // the last sweep
    pub p: [Four; 3],
}

impl<T: Kept> Contacts<T> {
    /// None.
    pub fn missing() -> Self {
        let [zeros, ones] = [0.0, 1.0].map(|x| [T::of(x); 4]);
        let units = [ones, zeros, zeros, ones, zeros, ones];
        Contacts {
            sides: [[0; 4]; 2],
            K: [[zeros; 18]; 2],
            q: [[1.0; 4], [0.0; 4], [0.0; 4]],
            C: [zeros; 2],
            W: units,
            inverse: units,
            mu: [1.0; 4],
            size: [0.0; 4],
            z: [[0.0; 4]; 3],
            before: [[0.0; 4]; 3],
            p: [[0.0; 4]; 3],
        }
    }

    /// Puts one into its place.
    pub fn put(&mut self, lane: usize, row: &Row) {
        for side in 0..2 {
            if row.sides[side] != FIXED {
                self.sides[side][lane] = row.sides[side];
            }
            (0..18).for_each(|k| self.K[side][k][lane] = T::of(row.K[side][k]));
        }
        let W = row.block();
        let inverse = inverse3(&W);
        let is_regular = inverse.iter().all(|x| x.is_finite());
        for (k, at) in [0, 1, 2, 4, 5, 8].into_iter().enumerate() {
            self.W[k][lane] = T::of(W[at]);
            self.inverse[k][lane] = T::of(if is_regular { inverse[at] } else { f64::NAN });
        }
        (0..3).for_each(|k| self.q[k][lane] = row.q[k]);
        (0..2).for_each(|k| self.C[k][lane] = T::of(row.C[k]));
        self.mu[lane] = row.mu;
        self.size[lane] = row.size;
    }
}

/// Velocities of four bodies into their places.
#[inline(always)]
fn scatter<L: Lanes>(l: L, from: &[L::Four; 6], of: &[u32; 4], s: &mut [Motion]) {
    let mut after = [[0.0; 4]; 6];
    for i in 0..6 {
        after[i] = l.store(from[i]);
    }
    for lane in 0..4 {
        let own = &mut s[of[lane] as usize];
        for i in 0..6 {
            own[i] = after[i][lane];
        }
    }
}

/// `a b + c d`.
#[inline(always)]
fn dot<L: Lanes>(l: L, a: [L::Four; 2], b: [L::Four; 2]) -> L::Four {
    l.add(l.mul(a[0], b[0]), l.mul(a[1], b[1]))
}

/// Equation (2).
#[inline(always)]
pub(super) fn follow<L: Lanes, T: Kept>(
    l: L,
    contacts: &mut Contacts<T>,
    beta: L::Four,
    kept: L::Four,
) {
    for k in 0..3 {
        let (z, p) = (l.load(&contacts.z[k]), l.load(&contacts.p[k]));
        let (step, more) = (l.sub(z, l.load(&contacts.before[k])), l.mul(beta, p));
        let z = l.add(z, more);
        contacts.p[k] = l.store(l.add(more, l.mul(kept, step)));
        (contacts.z[k], contacts.before[k]) = (l.store(z), l.store(z));
    }
}

/// Equation (1); the energy of the change.
#[inline(always)]
pub(super) fn visit<L: Lanes, T: Kept>(
    l: L,
    contacts: &mut Contacts<T>,
    s: &mut [Motion],
) -> L::Four {
    let mut sides = [gather(l, s, &contacts.sides[0]), gather(l, s, &contacts.sides[1])];
    let (W, z) = (read_all(l, &contacts.W), load(l, &contacts.z));
    let Wz = times(l, &W, &z);
    let (mut w, C) = (load(l, &contacts.q), read_all(l, &contacts.C));
    let mut b = w;
    for k in 0..3 {
        for side in 0..2 {
            let K = &contacts.K[side];
            let mut sum = l.mul(read(l, &K[6 * k]), sides[side][0]);
            for i in 1..6 {
                sum = l.add(sum, l.mul(read(l, &K[6 * k + i]), sides[side][i]));
            }
            w[k] = l.add(w[k], sum);
        }
        w[k] = l.add(w[k], l.mul(C[k.min(1)], z[k]));
        b[k] = l.sub(w[k], Wz[k]);
    }

    let answer = answer(l, contacts, &W, [&w, &b], &z);

    // the bodies follow
    let (mut step, mut square) = (z, l.splat(0.0));
    for k in 0..3 {
        step[k] = l.sub(answer[k], z[k]);
        square = l.add(square, l.mul(step[k], step[k]));
        contacts.z[k] = l.store(answer[k]);
    }
    for side in 0..2 {
        let K = &contacts.K[side];
        for i in 0..6 {
            for k in 0..3 {
                let push = l.mul(read(l, &K[6 * k + i]), step[k]);
                sides[side][i] = l.add(sides[side][i], push);
            }
        }
        scatter(l, &sides[side], &contacts.sides[side], s);
    }
    l.mul(l.load(&contacts.size), square)
}

/// Take-off, stick, or slip near where it was.
#[inline(always)]
fn answer<L: Lanes, T: Kept>(
    l: L,
    contacts: &Contacts<T>,
    W: &[L::Four; 6],
    [w, b]: [&[L::Four; 3]; 2],
    z: &[L::Four; 3],
) -> [L::Four; 3] {
    let (zero, one) = (l.splat(0.0), l.splat(1.0));
    // −W⁻¹ b, with no more than the change in the digits of W⁻¹
    let mut r = times(l, &read_all(l, &contacts.inverse), w);
    for k in 0..3 {
        r[k] = l.sub(z[k], r[k]);
    }
    let mu = l.load(&contacts.mu);
    let (most, along) = (l.mul(mu, r[0]), dot(l, [r[1], r[2]], [r[1], r[2]]));
    let opens = l.at_most(zero, b[0]);
    let sticks = l.both(l.at_most(along, l.mul(most, most)), l.less(zero, r[0]));
    let is_known = l.choose(opens, one, l.choose(sticks, one, zero));

    let mut slip = [zero; 3];
    if !l.all(l.less(zero, is_known)) {
        slip = slide(l, contacts, W, b, z, &r, is_known);
    }
    let mut answer = [zero; 3];
    for k in 0..3 {
        answer[k] = l.choose(opens, zero, l.choose(sticks, r[k], slip[k]));
    }
    answer
}

/// Slip: `z = r (1, μ d)` with `w_N = 0` and `w_T` against `d`.
#[inline(always)]
fn slide<L: Lanes, T: Kept>(
    l: L,
    contacts: &Contacts<T>,
    W: &[L::Four; 6],
    b: &[L::Four; 3],
    z: &[L::Four; 3],
    stick: &[L::Four; 3],
    is_known: L::Four,
) -> [L::Four; 3] {
    let (zero, one, mu) = (l.splat(0.0), l.splat(1.0), l.load(&contacts.mu));
    let (across, below) = ([W[1], W[2]], negative(l, b[0]));
    let least = l.mul(l.splat(LEAST), W[0]);
    // d, from the last force or where stick would have it
    let slipped = l.less(zero, dot(l, [z[1], z[2]], [z[1], z[2]]));
    let start = [l.choose(slipped, z[1], stick[1]), l.choose(slipped, z[2], stick[2])];
    let mut d = unit(l, start);
    let mut step = 0;
    loop {
        let denominator = l.greater(l.add(W[0], l.mul(mu, dot(l, across, d))), least);
        let normal = l.div(below, denominator);
        let force = l.mul(mu, normal);
        let turn = [dot(l, [W[3], W[4]], d), dot(l, [W[4], W[5]], d)];
        let w = [
            l.add(l.add(l.mul(W[1], normal), l.mul(force, turn[0])), b[1]),
            l.add(l.add(l.mul(W[2], normal), l.mul(force, turn[1])), b[2]),
        ];
        // e · w = 0 where e ⟂ d, and −d · w is the slip
        let e = [negative(l, d[1]), d[0]];
        let (off, speed) = (dot(l, e, w), negative(l, dot(l, d, w)));
        if step == STEPS {
            let slip = [normal, l.mul(force, d[0]), l.mul(force, d[1])];
            let none = l.mul(l.splat(NONE), l.add(l.abs(b[1]), l.abs(b[2])));
            let near = l.add(l.mul(l.splat(OFF), l.abs(speed)), none);
            let near = l.at_most(l.abs(off), near);
            let right = l.both(near, l.at_most(negative(l, none), speed));
            let right = l.greater(is_known, l.choose(right, one, zero));
            return match l.all(l.less(zero, right)) {
                true => slip,
                false => lost(l, contacts, b, &slip, right),
            };
        }
        step += 1;
        // the next d: by the slope of e · w, or against the velocity where that leads nowhere
        let dr = negative(l, l.div(l.mul(force, dot(l, across, e)), denominator));
        let more = l.mul(mu, dr);
        let own = [dot(l, [W[3], W[4]], e), dot(l, [W[4], W[5]], e)];
        let rate = [
            l.add(l.add(l.mul(W[1], dr), l.mul(more, turn[0])), l.mul(force, own[0])),
            l.add(l.add(l.mul(W[2], dr), l.mul(more, turn[1])), l.mul(force, own[1])),
        ];
        let slope = l.add(dot(l, e, rate), speed);
        let good = l.both(l.less(zero, slope), l.less(zero, speed));
        let angle = l.div(negative(l, off), slope);
        let angle = l.greater(l.lesser(angle, one), l.splat(-1.0));
        let next = [
            l.choose(good, l.add(d[0], l.mul(angle, e[0])), negative(l, w[0])),
            l.choose(good, l.add(d[1], l.mul(angle, e[1])), negative(l, w[1])),
        ];
        d = unit(l, next);
    }
}

/// A vector of length one.
#[inline(always)]
fn unit<L: Lanes>(l: L, d: [L::Four; 2]) -> [L::Four; 2] {
    let size = l.sqrt(l.add(dot(l, d, d), l.splat(f64::MIN_POSITIVE)));
    [l.div(d[0], size), l.div(d[1], size)]
}

/// The slips of those contacts that have lost their direction, by all answers.
#[cold]
#[inline(never)]
fn lost<L: Lanes, T: Kept>(
    l: L,
    contacts: &Contacts<T>,
    b: &[L::Four; 3],
    slip: &[L::Four; 3],
    right: L::Four,
) -> [L::Four; 3] {
    let right = l.store(right);
    let b = [l.store(b[0]), l.store(b[1]), l.store(b[2])];
    let mut slip = [l.store(slip[0]), l.store(slip[1]), l.store(slip[2])];
    for lane in (0..4).filter(|&lane| right[lane] == 0.0) {
        let own = |k: usize| contacts.W[k][lane].whole();
        let W = [own(0), own(1), own(2), own(1), own(3), own(4), own(2), own(4), own(5)];
        let b = [b[0][lane], b[1][lane], b[2][lane]];
        let mut z = [slip[0][lane], slip[1][lane], slip[2][lane]];
        let mu = contacts.mu[lane];
        match (Slip { mu, kappa: 0.0, W: &W, b: &b }).near([z[1], z[2]]) {
            Some(answer) => z = answer,
            None => {
                Set::Coulomb3 { mu }.solve_block(&W, &b, &mut z);
            }
        }
        (0..3).for_each(|k| slip[k][lane] = z[k]);
    }
    [l.load(&slip[0]), l.load(&slip[1]), l.load(&slip[2])]
}
