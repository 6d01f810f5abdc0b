//! The central path of contacts with friction, followed by its length.
//!
//! With friction the path of the [interior point method](super::interior) need not lead downhill all the
//! way: it may turn, so that `ν` has to rise before it falls again, and a method that only lowers `ν` ends
//! there. From any point inside, with `y = ν₀ x⁻¹`, there is a curve of zeros of
//!
//! ```text
//! s_free + Gᵀ x − s = φ r_s,    G s + p + |(G s + p)_T|_ε e − y = φ r_y,    x ∘ y = ν e        (1)
//! φ = ν/ν₀,    ε ∝ ν
//! ```
//!
//! where `r_s`, `r_y` are what (1) leaves at that point. At `ν = 0` it is a solution. It is followed by a
//! parabola in its length `α`, with `τ = ln ν` one unknown more,
//!
//! ```text
//! u + c + α t + ½ α² a,      A (t, a, c) = …                                                  (2)
//! ```
//!
//! `t` the tangent, `a` the curvature, `c` the correction back to the curve; `c` and `a` are orthogonal to `t` in
//! the scaling of the point. All three come from the factors `A` of one Newton step. Which way is onward is
//! told by the determinant: `dτ/dα` has the sign of `−det A`, all along one curve.
//! Reference: Allgower, Georg, *Introduction to Numerical Continuation Methods*, SIAM 2003.

use super::cone::{determinant, difference, dot, inverse, jordan, scaled, sum};
use super::interior::{Asked, Interior, Point, SMOOTH, Triple, WORTH};
use super::lanes::{load, store, times};
use super::rows::{Motion, Rows};
use crate::watch::is_interrupted;
use saltus_linalg::{GraphLu, Lanes, WideLanes, wide_lanes};

/// Steps at most.
const MOST: usize = 200;
/// Distance of the start from the boundary, of mean impulses and velocities.
const START: f64 = 1.0;
/// How far off the curve a contact may be, in its own scaling; where that is aimed at; the power of their
/// ratio by which steps change, and its bounds.
const FAR: f64 = 0.6;
const AIM: f64 = 0.2;
const POWER: f64 = 0.4;
const FALL: f64 = 0.4;
const GROWTH: f64 = 3.0;
/// The first step, the longest one in units of the steepest contact, what is left of one that led too far,
/// and the shortest.
const FIRST: f64 = 0.5;
const LONGEST: f64 = 3.0;
const BACK: f64 = 0.3;
const SHORTEST: f64 = 1e-5;
/// Shortening of steps that leave the cones, and how much nearer to their boundary one may come.
const INSIDE: f64 = 0.7;
const MARGIN: f64 = 1e-3;
/// The largest change of `τ`.
const CHANGE: f64 = 3.0;

/// What following keeps.
#[derive(Debug, Default)]
pub(super) struct Path {
    correction: Point,
    tangent: Point,
    curvature: Point,
    from: Point,           // the last point on the curve, where these begin
    tried: [Point; 2],     // correction and tangent of the point that comes next
    balance: Vec<Motion>,  // r_s
    velocity: Vec<Triple>, // r_y
    best: Vec<f64>,
}

/// Where a point on the curve leads.
#[derive(Clone, Copy)]
struct Onward {
    nu: f64,
    unit: f64,  // dτ/dα
    bend: f64,  // d²τ/dα²
    back: f64,  // dτ of the correction
    alpha: f64, // of the last step from it
}

impl Interior {
    /// Follows the path from near the impulses `z`, until `residual` of them is at most `tol`; leaves the best ones
    /// that it has measured in `z`. How many steps.
    pub fn follow(
        &mut self,
        rows: &Rows,
        lu: &mut GraphLu,
        z: &mut [f64],
        tol: f64,
        residual: impl FnMut(&[f64]) -> f64,
    ) -> usize {
        let scales = self.begin(rows, z, START);
        let mut path = std::mem::take(&mut self.path);
        let steps = self.follow_from(&mut path, rows, lu, z, tol, scales, residual);
        self.path = path;
        steps
    }

    #[expect(clippy::too_many_arguments)]
    fn follow_from(
        &mut self,
        path: &mut Path,
        rows: &Rows,
        lu: &mut GraphLu,
        z: &mut [f64],
        tol: f64,
        [force, speed]: [f64; 2],
        mut residual: impl FnMut(&[f64]) -> f64,
    ) -> usize {
        let first = self.complementarity();
        wide_lanes(Central { at: &mut self.at, nu: first });
        self.defects(rows, SMOOTH * first / force);
        path.balance.clone_from(&self.rp);
        path.velocity.clone_from(&self.rd);
        let Path { correction, tangent, curvature, tried: [a, b], .. } = path;
        for point in [correction, tangent, curvature, a, b] {
            point.fit(&self.quads);
        }
        path.best.clear();
        path.best.extend_from_slice(z);
        let (mut steps, mut least) = (0, f64::INFINITY);
        let (mut nu, mut reach, mut onward) = (first, FIRST, None::<Onward>);
        while steps < MOST {
            steps += 1;
            let epsilon = SMOOTH * nu / force;
            self.defects(rows, epsilon);
            if is_interrupted() || !self.factor(rows, lu) {
                break;
            }
            let on = On { of: self, path, phi: nu / first, nu, epsilon };
            let arrived = on.arrive(lu);
            let next = match arrived {
                Some((Onward { unit, .. }, off, steep)) => {
                    if let Some(last) = onward {
                        reach = last.alpha * (AIM / off.max(1e-9)).powf(POWER).clamp(FALL, GROWTH);
                    }
                    reach = reach.min(LONGEST / (steep * unit.abs()).max(0.5));
                    path.from.clone_from(&self.at);
                    arrived.map(|(next, ..)| next)
                }
                None => {
                    reach = BACK * onward.map_or(0.0, |last| last.alpha);
                    onward
                }
            };
            let Some(mut next) = next.filter(|_| reach >= SHORTEST) else { break };
            let Some(share) = self.step(path, &mut next, reach) else { break };
            nu = next.nu * share.clamp(-CHANGE, CHANGE).exp();
            onward = Some(next);
            if nu <= WORTH * tol * force * speed {
                self.impulses(z);
                let value = residual(z);
                if value < least {
                    path.best.copy_from_slice(z);
                    least = value;
                }
                if value <= tol {
                    break;
                }
            }
        }
        z.copy_from_slice(&path.best);
        steps
    }

    /// (2), as far as `reach` and the cones allow; the change of `τ`.
    fn step(&mut self, path: &Path, next: &mut Onward, reach: f64) -> Option<f64> {
        let Path { correction: c, tangent: t, curvature: a, from, .. } = path;
        let mut alpha = reach;
        while alpha >= SHORTEST {
            let half = 0.5 * alpha * alpha;
            let share = alpha * next.unit + half * next.bend - next.back;
            // what becomes of a vector, with t taken by its share
            let of = |from: f64, c: f64, t: f64, a: f64| from + c + share * t + half * a;
            let least = MARGIN * (2.0 * share).exp().min(1.0);
            let inside = wide_lanes(Along { at: &mut self.at, path, share, half, least });
            if inside {
                for k in 0..from.s.len() {
                    for i in 0..6 {
                        self.at.s[k][i] = of(from.s[k][i], c.s[k][i], t.s[k][i], a.s[k][i]);
                    }
                }
                next.alpha = alpha;
                return Some(share);
            }
            alpha *= INSIDE;
        }
        None
    }

    /// The product of two directions in the scaling of the point, with `τ`.
    fn product(&self, nu: f64, a: (&Point, f64), b: (&Point, f64)) -> f64 {
        let sum = wide_lanes(Product { of: self, a: a.0, b: b.0 });
        sum / (nu * (4 * self.at.x.len()) as f64) + a.1 * b.1
    }

    /// The largest share of a contact in `a + s b`.
    fn largest(&self, nu: f64, a: &Point, s: f64, b: &Point) -> f64 {
        (wide_lanes(Largest { of: self, a, s, b }) / nu).sqrt()
    }
}

/// `y = ν x⁻¹`.
struct Central<'a> {
    at: &'a mut Point,
    nu: f64,
}

impl WideLanes for Central<'_> {
    type Answer = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        for (x, y) in self.at.x.iter().zip(&mut self.at.y) {
            *y = store(l, &scaled(l, l.splat(self.nu), &inverse(l, &load(l, x))));
        }
    }
}

/// `x` and `y` of (2); whether they are inside their cones, not much nearer to the boundary than before.
struct Along<'a> {
    at: &'a mut Point,
    path: &'a Path,
    share: f64,
    half: f64,
    least: f64,
}

impl WideLanes for Along<'_> {
    type Answer = bool;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> bool {
        let Along { at, path, share, half, least } = self;
        let Path { correction: c, tangent: t, curvature: a, from, .. } = path;
        let (share, half, least) = (l.splat(share), l.splat(half), l.splat(least));
        let mut inside = true;
        for k in 0..from.x.len() {
            let sides = [
                (&mut at.x[k], &from.x[k], &c.x[k], &t.x[k], &a.x[k]),
                (&mut at.y[k], &from.y[k], &c.y[k], &t.y[k], &a.y[k]),
            ];
            for (now, from, c, t, a) in sides {
                let from = load(l, from);
                let onward = scaled(l, share, &load(l, t));
                let own = sum(l, &sum(l, &from, &load(l, c)), &onward);
                let own = sum(l, &own, &scaled(l, half, &load(l, a)));
                let least = l.mul(least, determinant(l, &from));
                let is_far = l.less(least, determinant(l, &own));
                inside &= l.all(l.both(is_far, l.less(l.splat(0.0), own[0])));
                *now = store(l, &own);
            }
        }
        inside
    }
}

/// The product of two directions, scaled.
struct Product<'a> {
    of: &'a Interior,
    a: &'a Point,
    b: &'a Point,
}

impl WideLanes for Product<'_> {
    type Answer = f64;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> f64 {
        let Product { of, a, b } = self;
        let mut all = l.splat(0.0);
        for (k, [scaling, inverse]) in of.scaling.iter().enumerate() {
            for (by, a, b) in [(scaling, &a.x[k], &b.x[k]), (inverse, &a.y[k], &b.y[k])] {
                let by = load(l, by);
                let (a, b) = (times(l, &by, &load(l, a)), times(l, &by, &load(l, b)));
                all = l.add(all, dot(l, &a, &b));
            }
        }
        l.sum(all)
    }
}

/// The largest square of a contact in `a + s b`, scaled; what is no number is far.
struct Largest<'a> {
    of: &'a Interior,
    a: &'a Point,
    s: f64,
    b: &'a Point,
}

impl WideLanes for Largest<'_> {
    type Answer = f64;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> f64 {
        let Largest { of, a, s, b } = self;
        let (mut largest, mut all, s) = (l.splat(0.0), l.splat(0.0), l.splat(s));
        for (k, [scaling, inverse]) in of.scaling.iter().enumerate() {
            let mut own = l.splat(0.0);
            for (by, a, b) in [(scaling, &a.x[k], &b.x[k]), (inverse, &a.y[k], &b.y[k])] {
                let both = sum(l, &load(l, a), &scaled(l, s, &load(l, b)));
                let both = times(l, &load(l, by), &both);
                own = l.add(own, dot(l, &both, &both));
            }
            largest = l.greater(own, largest);
            all = l.add(all, own);
        }
        if l.sum(all).is_finite() {
            l.store(largest).into_iter().fold(0.0, f64::max)
        } else {
            f64::INFINITY
        }
    }
}

/// A point near the curve.
struct On<'a> {
    of: &'a Interior,
    path: &'a mut Path,
    phi: f64,
    nu: f64,
    epsilon: f64,
}

impl On<'_> {
    /// Correction, tangent and curvature; where that leads, how far off the curve the point is, and the steepest
    /// contact. Nothing where it is too far off.
    fn arrive(self, lu: &mut GraphLu) -> Option<(Onward, f64, f64)> {
        let On { of, path, phi, nu, epsilon } = self;
        let Path { balance, velocity, tried, .. } = path;
        let start = Start { of, balance, velocity, phi };
        let [correction, tangent] = tried;
        of.newton(lu, &Correction { start, nu }, correction);
        of.newton(lu, &Tangent { start, nu, epsilon }, tangent);
        let size = of.product(nu, (tangent, 1.0), (tangent, 1.0)).sqrt();
        let back = of.product(nu, (correction, 0.0), (tangent, 1.0)) / (size * size);
        let off = of.largest(nu, correction, -back, tangent);
        if !(off <= FAR) {
            return None;
        }
        let steep = of.largest(nu, tangent, 0.0, tangent);
        let unit = if lu.is_positive() { -1.0 / size } else { 1.0 / size };
        let asked = Curvature { start, tangent, nu, epsilon, unit };
        of.newton(lu, &asked, &mut path.curvature);
        let bend = -of.product(nu, (&path.curvature, 0.0), (tangent, 1.0)) / (size * size);
        std::mem::swap(correction, &mut path.correction);
        std::mem::swap(tangent, &mut path.tangent);
        Some((Onward { nu, unit, bend, back, alpha: 0.0 }, off, steep))
    }
}

/// What (1) left at the start, and how much of it is left here.
#[derive(Clone, Copy)]
struct Start<'a> {
    of: &'a Interior,
    balance: &'a [Motion],
    velocity: &'a [Triple],
    phi: f64,
}

/// `c`: what (1) leaves here.
struct Correction<'a> {
    start: Start<'a>,
    nu: f64,
}

impl Asked for Correction<'_> {
    fn balance(&self, body: usize) -> Motion {
        let Start { of, balance, phi, .. } = self.start;
        std::array::from_fn(|i| of.rp[body][i] - phi * balance[body][i])
    }

    #[inline(always)]
    fn velocity<L: Lanes>(&self, l: L, c: usize) -> [L::Four; 3] {
        let Start { of, velocity, phi, .. } = self.start;
        let first = scaled(l, l.splat(phi), &load(l, &velocity[c]));
        difference(l, &load(l, &of.rd[c]), &first)
    }

    #[inline(always)]
    fn complementarity<L: Lanes>(&self, l: L, c: usize) -> [L::Four; 3] {
        let (lambda, zero) = (load(l, &self.start.of.lambda[c]), l.splat(0.0));
        difference(l, &[l.splat(self.nu), zero, zero], &jordan(l, &lambda, &lambda))
    }
}

/// `t` for `dτ = 1`: the derivative of (1) by `τ`.
struct Tangent<'a> {
    start: Start<'a>,
    nu: f64,
    epsilon: f64,
}

impl Asked for Tangent<'_> {
    fn balance(&self, body: usize) -> Motion {
        self.start.balance[body].map(|r| -self.start.phi * r)
    }

    #[inline(always)]
    fn velocity<L: Lanes>(&self, l: L, c: usize) -> [L::Four; 3] {
        let Start { of, velocity, phi, .. } = self.start;
        let asked = scaled(l, l.splat(-phi), &load(l, &velocity[c]));
        let smooth = l.div(l.splat(self.epsilon * self.epsilon), l.load(&of.along[c]));
        [l.add(asked[0], smooth), asked[1], asked[2]]
    }

    #[inline(always)]
    fn complementarity<L: Lanes>(&self, l: L, _: usize) -> [L::Four; 3] {
        [l.splat(self.nu), l.splat(0.0), l.splat(0.0)]
    }
}

/// `a`: the second derivative of (1) by the length, with `unit = dτ/dα`.
struct Curvature<'a> {
    start: Start<'a>,
    tangent: &'a Point,
    nu: f64,
    epsilon: f64,
    unit: f64,
}

impl Asked for Curvature<'_> {
    fn balance(&self, body: usize) -> Motion {
        let share = -self.start.phi * self.unit * self.unit;
        self.start.balance[body].map(|r| share * r)
    }

    /// `|g|_ε″ = (|g′|² + 2 (ε τ′)² − |g|_ε′²)/|g|_ε + d · g″`.
    #[inline(always)]
    fn velocity<L: Lanes>(&self, l: L, c: usize) -> [L::Four; 3] {
        let Start { of, velocity, phi, .. } = self.start;
        let (unit, along, d) = (l.splat(self.unit), l.load(&of.along[c]), load(l, &of.d[c]));
        let g = scaled(l, unit, &of.quads.all[c].turn(l, &self.tangent.s));
        let squared = l.splat((self.epsilon * self.unit).powi(2));
        let rate = l.add(l.mul(d[0], g[1]), l.mul(d[1], g[2]));
        let rate = l.add(rate, l.div(squared, l.mul(unit, along)));
        let mut bend = l.add(l.mul(g[1], g[1]), l.mul(g[2], g[2]));
        bend = l.add(bend, l.add(squared, squared));
        bend = l.div(l.sub(bend, l.mul(rate, rate)), along);
        let asked = l.splat(-phi * self.unit * self.unit);
        let asked = scaled(l, asked, &load(l, &velocity[c]));
        [l.add(asked[0], bend), asked[1], asked[2]]
    }

    #[inline(always)]
    fn complementarity<L: Lanes>(&self, l: L, c: usize) -> [L::Four; 3] {
        let [scaling, inverse] = &self.start.of.scaling[c];
        let x = times(l, &load(l, scaling), &load(l, &self.tangent.x[c]));
        let y = times(l, &load(l, inverse), &load(l, &self.tangent.y[c]));
        let both = scaled(l, l.splat(2.0), &jordan(l, &x, &y));
        let (nu, zero) = (l.splat(self.nu), l.splat(0.0));
        scaled(l, l.splat(self.unit * self.unit), &difference(l, &[nu, zero, zero], &both))
    }
}
