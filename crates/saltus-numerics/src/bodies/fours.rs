//! Sweeps over the contacts of a crowd, four at a time, with conjugate directions between them.
//!
//! ```text
//! z_c ← the answer of w_c = (W_cc + C_c) z_c + b_c with its law,    b_c = K_c s + q_c − W_cc z_c
//! s ← s + K_cᵀ (z_c⁺ − z_c)                                 for each contact in turn           (1)
//! z ← z + β p,    p ← β p + (z⁺ − z),    β = |z⁺ − z|²/|z − z⁻|²                               (2)
//! ```
//!
//! Four contacts that share no body that moves stand side by side, so that one register holds the same number of
//! each; contacts keep their order but for that. Take-off and stick are exact; the direction of slip
//! goes two steps of Newton's method from where it was, and where it is lost all answers are looked for.
//! `s` is a linear function of `z`, so (2) moves it along; where `β > 1` the direction is forgotten.
//! Reference: Silcowitz, Niebe, Erleben, *The Visual Computer* 26 (2010) 893–901.

use super::FORESEEN;
use super::lanes::{Four, Kept, gather, load, negative, read, read_all, times};
use super::rows::{FIXED, Free, Motion, Row, Whole};
use super::sweeps::inverse3;
use super::{Island, Twist};
use crate::Set;
use crate::sets::slip::Slip;
use saltus_linalg::vector::{self, room};
use saltus_linalg::{Lanes, WideLanes, wide_lanes};

/// Fours that wait for contacts with other bodies.
const OPEN: usize = 16;
/// Steps of Newton's method to the direction of slip, and how far off it may be after them, of the slip.
const STEPS: usize = 2;
const OFF: f64 = 0.1;
/// Least denominator of the normal impulse, of `W_NN`; slip, of what there was before, that is none.
const LEAST: f64 = 1e-3;
const NONE: f64 = 1e-12;

/// Four contacts. Those that are missing are open, and touch what does not move.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Contacts<T> {
    sides: [[u32; 4]; 2],
    K: [[[T; 4]; 18]; 2],
    q: [Four; 3],
    C: [[T; 4]; 2],       // of the normal, of the tangents
    W: [[T; 4]; 6],       // W_cc + C_c: NN, N1, N2, 11, 12, 22
    inverse: [[T; 4]; 6], // no numbers where there is none
    mu: Four,
    size: Four, // the mean of the diagonal
    z: [Four; 3],
    before: [Four; 3], // the last sweep
    p: [Four; 3],
}

/// The contacts of a crowd and what the sweeps keep between calls.
#[derive(Debug)]
pub(super) struct Fours<T = f64> {
    all: Vec<Contacts<T>>,
    place: Vec<u32>, // of each contact: its four, and where in it
    bodies: usize,
    s: Vec<Motion>,      // the last one stands for all that does not move
    open: Vec<[u32; 5]>, // how many, and which
    s_before: Vec<Motion>,
    along: Vec<Motion>,
    change: Option<f64>, // of the last sweep from these impulses
    last: f64,           // and of the one before
}

impl<T> Default for Fours<T> {
    fn default() -> Self {
        Fours {
            all: Vec::new(),
            place: Vec::new(),
            bodies: 0,
            s: Vec::new(),
            open: Vec::new(),
            s_before: Vec::new(),
            along: Vec::new(),
            change: None,
            last: 0.0,
        }
    }
}

impl<T: Kept> Fours<T> {
    /// Room for the contacts of a crowd, and for as many as a heap of all these bodies has.
    pub fn foresee(&mut self, bodies: usize, contacts: usize) {
        let Fours { all, place, s, s_before, along, .. } = self;
        let [fours, foreseen] =
            [contacts, contacts.max(FORESEEN * bodies)].map(|count| count.div_ceil(4) + OPEN);
        all.clear();
        vector::foresee(all, fours, foreseen);
        place.clear();
        vector::foresee(place, contacts, FORESEEN * bodies);
        for of_bodies in [s, s_before, along] {
            of_bodies.clear();
            vector::room(of_bodies, bodies + 1);
        }
    }

    /// The contacts of a crowd.
    pub fn fill(&mut self, whole: &impl Whole) {
        let meets = |a: u32, b: u32| {
            let (a, b) = (whole.sides(a as usize), whole.sides(b as usize));
            a.iter().any(|k| *k != FIXED && b.contains(k))
        };
        let count = whole.count();
        (self.bodies, self.change) = (whole.bodies(), None);
        self.all.clear();
        room(&mut self.all, count.div_ceil(4) + OPEN);
        self.open.clear();
        self.place.clear();
        room(&mut self.place, count);
        self.place.resize(count, 0);
        for c in 0..count as u32 {
            let free = |four: &[u32; 5]| !four[1..=four[0] as usize].iter().any(|&o| meets(o, c));
            let at = match self.open.iter().position(free) {
                Some(at) => at,
                None => {
                    if self.open.len() == OPEN {
                        let four = self.open.remove(0);
                        self.close(whole, &four);
                    }
                    self.open.push([0; 5]);
                    self.open.len() - 1
                }
            };
            let four = &mut self.open[at];
            four[0] += 1;
            four[four[0] as usize] = c;
            if four[0] == 4 {
                let four = self.open.remove(at);
                self.close(whole, &four);
            }
        }
        while !self.open.is_empty() {
            let four = self.open.remove(0);
            self.close(whole, &four);
        }
        self.s.clear();
        room(&mut self.s, self.bodies + 1);
        self.s.resize(self.bodies + 1, [0.0; 6]);
    }

    /// These contacts side by side.
    fn close(&mut self, whole: &impl Whole, four: &[u32; 5]) {
        let mut contacts = Contacts::missing();
        contacts.sides = [[self.bodies as u32; 4]; 2];
        for (lane, &c) in four[1..=four[0] as usize].iter().enumerate() {
            self.place[c as usize] = (4 * self.all.len() + lane) as u32;
            whole.look(c as usize, |row| contacts.put(lane, row));
        }
        let count = self.all.len();
        room(&mut self.all, count + 1);
        self.all.push(contacts);
    }

    /// Begins at the impulses `z`; `free` are the velocities without them.
    pub fn begin(&mut self, free: impl Free, z: &[f64]) {
        let mut s = std::mem::take(&mut self.s);
        self.follow_from(free, z, &mut s);
        s.push([0.0; 6]);
        self.s = s;
        self.put(z);
    }

    /// The same after `change`, which changes the impulses and lets their velocities follow.
    pub fn begin_after<A>(
        &mut self,
        free: impl Free,
        z: &mut [f64],
        change: impl FnOnce(&Self, &mut [f64], &mut [Motion]) -> A,
    ) -> A {
        self.begin(free, z);
        let mut s = std::mem::take(&mut self.s);
        let done = change(self, z, &mut s[..self.bodies]);
        self.s = s;
        self.put(z);
        done
    }

    /// The same where `s` are their velocities.
    pub fn take(&mut self, z: &[f64], s: &[Motion]) {
        self.s[..s.len()].copy_from_slice(s);
        self.s[s.len()..].fill([0.0; 6]);
        self.put(z);
    }

    /// Where rows have seven digits: `q` so that `w` is that of the island under these impulses, whose motion is in `twists`, to the
    /// last digit. What follows is off by seven digits of its own change.
    pub fn aim(&mut self, island: Island<'_>, twists: &[Twist]) {
        for (touch, &place) in island.touches.iter().zip(&self.place) {
            let [at, lane] = four_and_lane(place);
            let own = &mut self.all[at];
            let [a, b] = touch.bodies.map(|k| &twists[k as usize]);
            let w = touch.moved(a, b);
            for k in 0..touch.friction.size() {
                let C = own.C[k.min(1)][lane].whole();
                let mut q = w[k] + (touch.compliance_of(k) - C) * own.z[k][lane];
                for side in 0..2 {
                    let s = &self.s[own.sides[side][lane] as usize];
                    q -= (0..6).map(|i| own.K[side][6 * k + i][lane].whole() * s[i]).sum::<f64>();
                }
                own.q[k][lane] = q;
            }
        }
    }

    fn put(&mut self, z: &[f64]) {
        self.change = None;
        for (z, &place) in z.chunks_exact(3).zip(&self.place) {
            let [at, lane] = four_and_lane(place);
            let own = &mut self.all[at];
            for k in 0..3 {
                (own.z[k][lane], own.before[k][lane], own.p[k][lane]) = (z[k], z[k], 0.0);
            }
        }
    }

    /// The impulses.
    pub fn leave(&self, z: &mut [f64]) {
        for (z, &place) in z.chunks_exact_mut(3).zip(&self.place) {
            let [at, lane] = four_and_lane(place);
            let own = &self.all[at].z;
            (0..3).for_each(|k| z[k] = own[k][lane]);
        }
    }

    /// So many sweeps at most, the last of which is left as it is; fewer where one changes no more than `still`, an energy. How
    /// many. Directions are those of the sweeps before, if there were any from these impulses on.
    pub fn run(&mut self, sweeps: usize, still: f64) -> usize {
        for done in 1..=sweeps {
            let [beta, kept] = self.go_on();
            let Fours { all, s, .. } = self;
            let change = wide_lanes(Sweep { all, s, beta, kept });
            self.change = Some(change);
            if change <= still {
                return done;
            }
        }
        sweeps
    }

    /// Equation (2) for the velocities, after a sweep; the impulses follow as the next one comes by, with this `β` and this share of
    /// their change.
    fn go_on(&mut self) -> [f64; 2] {
        let Fours { s, s_before, along, change, last, .. } = self;
        let Some(change) = *change else {
            along.clear();
            along.resize(s.len(), [0.0; 6]);
            s_before.clone_from(s);
            *last = f64::INFINITY;
            return [0.0; 2];
        };
        let beta = change / *last;
        let [beta, kept] = if beta < 1.0 { [beta, 1.0] } else { [0.0, 0.0] };
        *last = change;
        for ((s, before), along) in s.iter_mut().zip(s_before).zip(along) {
            for k in 0..6 {
                let step = s[k] - before[k];
                s[k] += beta * along[k];
                along[k] = beta * along[k] + kept * step;
            }
            *before = *s;
        }
        [beta, kept]
    }
}

/// The four of a place, and where in it.
#[inline]
fn four_and_lane(place: u32) -> [usize; 2] {
    [place as usize / 4, place as usize % 4]
}

impl<T: Kept> Contacts<T> {
    /// None.
    fn missing() -> Self {
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
    fn put(&mut self, lane: usize, row: &Row) {
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

impl<T: Kept> Whole for Fours<T> {
    fn bodies(&self) -> usize {
        self.bodies
    }

    fn count(&self) -> usize {
        self.place.len()
    }

    fn sides(&self, c: usize) -> [u32; 2] {
        let ([at, lane], fixed) = (four_and_lane(self.place[c]), self.bodies as u32);
        let side = |side: [u32; 4]| Some(side[lane]).filter(|&k| k != fixed);
        self.all[at].sides.map(|four| side(four).unwrap_or(FIXED))
    }

    #[inline]
    fn look<A>(&self, c: usize, see: impl FnOnce(&Row) -> A) -> A {
        let [at, lane] = four_and_lane(self.place[c]);
        let own = &self.all[at];
        let (mut K, mut q) = ([[0.0; 18]; 2], [0.0; 3]);
        for side in 0..2 {
            (0..18).for_each(|k| K[side][k] = own.K[side][k][lane].whole());
        }
        (0..3).for_each(|k| q[k] = own.q[k][lane]);
        let (mu, size) = (own.mu[lane], own.size[lane]);
        let C = own.C.map(|C| C[lane].whole());
        see(&Row { sides: self.sides(c), K, q, mu, C, size, pair: None })
    }
}

/// Equation (1) for all contacts; the energy of the change.
struct Sweep<'a, T> {
    all: &'a mut [Contacts<T>],
    s: &'a mut [Motion],
    beta: f64,
    kept: f64,
}

impl<T: Kept> WideLanes for Sweep<'_, T> {
    type Answer = f64;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> f64 {
        let Sweep { all, s, beta, kept } = self;
        let (beta, kept) = (lanes.splat(beta), lanes.splat(kept));
        let mut change = lanes.splat(0.0);
        for contacts in all {
            follow(lanes, contacts, beta, kept);
            change = lanes.add(change, visit(lanes, contacts, s));
        }
        lanes.sum(change)
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

/// Equation (2) for four contacts.
#[inline(always)]
fn follow<L: Lanes, T: Kept>(l: L, contacts: &mut Contacts<T>, beta: L::Four, kept: L::Four) {
    for k in 0..3 {
        let (z, p) = (l.load(&contacts.z[k]), l.load(&contacts.p[k]));
        let (step, more) = (l.sub(z, l.load(&contacts.before[k])), l.mul(beta, p));
        let z = l.add(z, more);
        contacts.p[k] = l.store(l.add(more, l.mul(kept, step)));
        (contacts.z[k], contacts.before[k]) = (l.store(z), l.store(z));
    }
}

/// Equation (1) for four contacts.
#[inline(always)]
fn visit<L: Lanes, T: Kept>(l: L, contacts: &mut Contacts<T>, s: &mut [Motion]) -> L::Four {
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

#[cfg(test)]
mod tests {
    use super::super::heaps::heap;
    use super::super::rows::{Rows, Unkept};
    use super::super::{Friction, Island, MovingBody, Touch, Twist};
    use super::*;

    fn filled(bodies: &[MovingBody], members: &[u32], touches: &[Touch]) -> (Rows, Fours) {
        let (mut rows, mut fours) = (Rows::default(), Fours::default());
        rows.fill(Island { bodies, members, touches });
        fours.fill(&rows);
        (rows, fours)
    }

    #[test]
    fn four_contacts_share_no_body_and_none_is_left_out() {
        let (bodies, members, touches) = heap(4, Friction::Space { mu: 0.4 }, 0.0);
        let (rows, fours) = filled(&bodies, &members, &touches);
        let fixed = members.len() as u32;
        for contacts in &fours.all {
            let mut seen = Vec::new();
            for lane in 0..4 {
                let sides = contacts.sides.map(|side| side[lane]);
                let moving = || sides.into_iter().filter(|k| *k != fixed);
                assert!(moving().all(|k| !seen.contains(&k)));
                seen.extend(moving());
            }
        }
        let mut places = fours.place.clone();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), touches.len());
        // what is looked at is what was put there, kept before or not
        let kept = |row: &Row| (row.sides, row.K, row.q, row.mu, row.C, row.size);
        let island = Island { bodies: &bodies, members: &members, touches: &touches };
        let mut place = Vec::new();
        Unkept::of(island, &mut place, |unkept| {
            assert_eq!((fours.count(), unkept.count()), (touches.len(), touches.len()));
            for (c, row) in rows.all.iter().enumerate() {
                assert_eq!((fours.sides(c), unkept.sides(c)), (row.sides, row.sides));
                assert_eq!((fours.look(c, kept), unkept.look(c, kept)), (kept(row), kept(row)));
            }
        });
        assert!(place.iter().all(|&place| place == FIXED));
        // little room is lost
        assert!(4 * fours.all.len() < touches.len() + 4 * OPEN);
    }

    /// Sweeps solve heaps of weak friction, of every law that has three components at most.
    #[test]
    fn sweeps_solve() {
        let laws = [Friction::None, Friction::Space { mu: 0.2 }, Friction::Space { mu: 0.0 }];
        for friction in laws {
            let (bodies, members, touches) = heap(4, friction, 2.0);
            let (rows, mut fours) = filled(&bodies, &members, &touches);
            let (mut z, mut s) = (vec![0.0; 3 * touches.len()], Vec::new());
            rows.follow(&z, &mut s);
            fours.take(&z, &s);
            fours.run(3000, 0.0);
            fours.leave(&mut z);
            let mut twists = vec![Twist::default(); bodies.len()];
            let island = Island { bodies: &bodies, members: &members, touches: &touches };
            let value = island.measure(&z, 3, &mut twists).residual.value;
            assert!(value <= 1e-9, "{friction:?} {value:e}");
            // the velocities went along
            rows.follow(&z, &mut s);
            for (a, b) in s.iter().zip(&fours.s) {
                assert!((0..6).all(|i| (a[i] - b[i]).abs() < 1e-9));
            }
        }
    }

    /// A block without an inverse is solved as any other.
    #[test]
    fn a_contact_whose_block_is_singular_is_solved() {
        // its third row is the sum of the others
        let K = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]];
        let mut own = [0.0; 18];
        (0..9).for_each(|k| own[6 * (k / 3) + k % 3] = K[k / 3][k % 3]);
        let contact = ([Some(0), None], [own, [0.0; 18]], [-1.0, 0.1, 0.0], 0.3);
        let mut rows = Rows::default();
        rows.set(vec![[0.0; 6]], [contact].into_iter());
        let (mut fours, mut z) = (Fours::<f64>::default(), [0.0; 3]);
        fours.fill(&rows);
        fours.begin(rows.free.iter().copied(), &z);
        fours.run(20, 0.0);
        fours.leave(&mut z);
        assert!(z.iter().all(|z| z.is_finite()) && z[0] > 0.0, "{z:?}");
        assert!(z[1].hypot(z[2]) <= (1.0 + 1e-12) * 0.3 * z[0], "{z:?}");
    }

    /// Contacts that are not kept beside the fours make the same sweeps, to the last bit.
    #[test]
    fn sweeps_do_not_know_where_contacts_were_kept() {
        let (bodies, members, touches) = heap(4, Friction::Space { mu: 0.4 }, 1.0);
        let (rows, mut fours) = filled(&bodies, &members, &touches);
        let mut others = Fours::<f64>::default();
        let island = Island { bodies: &bodies, members: &members, touches: &touches };
        Unkept::of(island, &mut Vec::new(), |whole| others.fill(whole));
        let mut z: Vec<f64> = (0..3 * touches.len()).map(|k| (k as f64).cos().max(0.0)).collect();
        let (mut same, mut s) = (z.clone(), Vec::new());
        for _ in 0..2 {
            rows.follow(&z, &mut s);
            fours.take(&z, &s);
            others.begin(island.free(), &same);
            fours.run(7, 0.0);
            others.run(7, 0.0);
            fours.leave(&mut z);
            others.leave(&mut same);
            assert_eq!(z, same);
        }
    }

    /// Two balls in line: what the first sweeps leave is the answer of each contact.
    #[test]
    fn a_slip_that_is_lost_is_found() {
        let (mut bodies, members, mut touches) = heap(1, Friction::Space { mu: 0.5 }, 0.0);
        touches.truncate(1);
        bodies[0].v = [3.0, 0.4, -1.0];
        bodies[0].omega = [0.0; 3];
        let (rows, mut fours) = filled(&bodies, &members, &touches);
        let mut s = Vec::new();
        // a guess that points the wrong way
        let mut z = [0.4, 0.15, -0.1];
        rows.follow(&z, &mut s);
        fours.take(&z, &s);
        fours.run(40, 0.0);
        fours.leave(&mut z);
        let mut twists = vec![Twist::default(); bodies.len()];
        let island = Island { bodies: &bodies, members: &members, touches: &touches };
        let value = island.measure(&z, 3, &mut twists).residual.value;
        assert!(value <= 1e-12, "{value:e}");
        assert!((z[1].hypot(z[2]) - 0.5 * z[0]).abs() < 1e-12, "{z:?}");
    }
}
