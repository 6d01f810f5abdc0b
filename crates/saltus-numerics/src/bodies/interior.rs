//! An interior point method for contacts with friction, on the factored matrix of their bodies.
//!
//! With `x = (z_N, z_T/μ)` and `y = (w_N + |μ w_T|, μ w_T)` the law of friction is complementarity on the cone
//! of Lorentz, `x ∘ y = 0`. Steps of Newton's method on
//!
//! ```text
//! s = s_free + Gᵀ x,     y = G s + p + |(G s + p)_T|_ε e,     x ∘ y = σ ν e                   (1)
//! ```
//!
//! (`G` and `p` are `K` and `q` in these units, `ν` the mean of `x · y`) in the scaling `P = Ω²` of Nesterov and
//! Todd come down to one system of the bodies, with `d` the direction of `(G s + p)_T`:
//!
//! ```text
//! (1 + Gᵀ P⁻¹ (1 + e dᵀ) G) δs = …                                                            (2)
//! ```
//!
//! A step that predicts (σ = 0) and one that corrects share its factors (Mehrotra). The cone couples normal
//! and tangents through `|·|_T` in a way that is not monotone: where steps become short the method gives up,
//! and its path is [followed](super::central_path) instead.
//! Reference: Acary, Armand, Nguyen, Shpakovych, *Second-order cone programming for frictional contact
//! mechanics using interior point algorithm*, 2024.

use super::central_path::Path;
use super::cone::{difference, dot, jordan, jordan_divide, nesterov_todd, square, sum, way};
use super::lanes::{Four, load, store, times};
use super::quads::Quads;
use super::rows::{Motion, Row, Rows};
use crate::watch::is_interrupted;
use saltus_linalg::{GraphLu, Lanes, Wide, WideLanes, wide, wide_lanes};

/// Steps at most: where it gets there, it does in twenty.
const MOST: usize = 26;
/// Distance of the start from the boundary, of mean impulses and velocities.
const START: f64 = 0.3;
/// `ε`, of the velocity `ν/x`.
pub(super) const SMOOTH: f64 = 0.02;
/// Least `σ`; share of the way to the boundary; shortest predicted step whose second order counts.
const LEAST: f64 = 0.1;
const SHARE: f64 = 0.95;
const POOR: f64 = 0.3;
/// So many steps that are so short end it.
const SHORT: f64 = 0.1;
const PATIENCE: usize = 5;
/// Complementarity, of the scale of the problem and in units of the tolerance, at which it is worth to
/// measure.
pub(super) const WORTH: f64 = 30.0;

/// Three numbers a contact.
pub(super) type Triple = [Four; 3];

/// A point, or a direction from one.
#[derive(Debug, Clone, Default)]
pub(super) struct Point {
    pub s: Vec<Motion>, // and the body that does not move
    pub x: Vec<Triple>,
    pub y: Vec<Triple>,
}

impl Point {
    pub fn fit(&mut self, quads: &Quads) {
        self.s.resize(quads.bodies + 1, [0.0; 6]);
        self.x.resize(quads.all.len(), [[0.0; 4]; 3]);
        self.y.resize(quads.all.len(), [[0.0; 4]; 3]);
    }
}

/// The method's vectors, kept between calls.
#[derive(Debug, Default)]
pub(super) struct Interior {
    pub quads: Quads,
    pub at: Point,
    predicted: Point,
    direction: Point,
    pub rp: Vec<Motion>, // defect of s
    pub rd: Vec<Triple>, // defect of y
    pub lambda: Vec<Triple>,
    pub scaling: Vec<[[Four; 6]; 2]>, // Ω and its inverse
    squared: Vec<[Four; 6]>,          // P⁻¹
    pub d: Vec<[Four; 2]>,
    pub along: Vec<Four>, // |(G s + p)_T|_ε
    D: Vec<[f64; 9]>,
    pub path: Path,
}

/// What a step of Newton's method is to remove from (1).
pub(super) trait Asked {
    /// From the balance of a body.
    fn balance(&self, body: usize) -> Motion;
    /// From the velocity of four contacts.
    fn velocity<L: Lanes>(&self, l: L, quad: usize) -> [L::Four; 3];
    /// From complementarity, in the scaled space.
    fn complementarity<L: Lanes>(&self, l: L, quad: usize) -> [L::Four; 3];
}

impl Interior {
    /// Steps from near the impulses `z`, until `residual` of them is at most `tol`; leaves the last ones in
    /// `z`. How many steps.
    pub fn solve(
        &mut self,
        rows: &Rows,
        lu: &mut GraphLu,
        z: &mut [f64],
        tol: f64,
        mut residual: impl FnMut(&[f64]) -> f64,
    ) -> usize {
        let [force, speed] = self.begin(rows, z, START);
        let mut short = 0;
        for step in 1..=MOST {
            let nu = self.complementarity();
            self.defects(rows, SMOOTH * nu / force);
            if is_interrupted() || !self.factor(rows, lu) {
                return step;
            }
            let predicted = self.direction(lu, [0.0, nu], false);
            std::mem::swap(&mut self.predicted, &mut self.direction);
            let sigma = (1.0 - predicted).powi(3).clamp(LEAST, 0.9);
            let length = self.direction(lu, [sigma, nu], predicted >= POOR);
            if !(length > 0.0) {
                return step; // a NaN too
            }
            wide(Step { at: &mut self.at, direction: &self.direction, length });
            short += usize::from(length < SHORT);
            let worth = nu <= WORTH * tol * force * speed;
            if worth || short == PATIENCE || step == MOST {
                self.impulses(z);
                if short == PATIENCE || (worth && residual(z) <= tol) {
                    return step;
                }
            }
        }
        MOST
    }

    /// A point so far inside the cones, near `z`. The mean impulse and velocity.
    pub fn begin(&mut self, rows: &Rows, z: &[f64], start: f64) -> [f64; 2] {
        let count = rows.all.len() as f64;
        let square = |row: &Row| row.velocity(&rows.free).iter().map(|w| w * w).sum::<f64>();
        let speed = (rows.all.iter().map(square).sum::<f64>() / count).sqrt();
        let size = rows.all.iter().map(|row| row.size).sum::<f64>() / count;
        let force = z.iter().step_by(3).sum::<f64>() / count;
        let force = force.max(speed / size);
        self.quads.fill(rows, speed);
        self.at.fit(&self.quads);
        let Interior { quads, at, rd, lambda, scaling, squared, d, along, D, .. } = self;
        rows.follow(z, &mut at.s);
        at.s.push([0.0; 6]);
        at.x.fill([[start * force; 4], [0.0; 4], [0.0; 4]]);
        for (c, (row, z)) in rows.all.iter().zip(z.chunks_exact(3)).enumerate() {
            let [a, b] = if row.mu > 0.0 { [z[1] / row.mu, z[2] / row.mu] } else { [0.0; 2] };
            let x = [a.hypot(b).max(z[0]) + start * force, a, b];
            (0..3).for_each(|k| at.x[c / 4][k][c % 4] = x[k]);
        }
        wide_lanes(Velocities { quads, at, least: start * speed });
        let all = quads.all.len();
        rd.resize(all, [[0.0; 4]; 3]);
        lambda.resize(all, [[0.0; 4]; 3]);
        scaling.resize(all, [[[0.0; 4]; 6]; 2]);
        squared.resize(all, [[0.0; 4]; 6]);
        d.resize(all, [[0.0; 4]; 2]);
        along.resize(all, [0.0; 4]);
        D.resize(rows.all.len(), [0.0; 9]);
        [force, speed]
    }

    /// The impulses.
    pub fn impulses(&self, z: &mut [f64]) {
        for (c, z) in z.chunks_exact_mut(3).enumerate() {
            let (x, lane) = (&self.at.x[c / 4], c % 4);
            let mu = self.quads.all[c / 4].mu[lane];
            z.copy_from_slice(&[x[0][lane], mu * x[1][lane], mu * x[2][lane]]);
        }
    }

    /// `ν`.
    pub fn complementarity(&self) -> f64 {
        let Point { x, y, .. } = &self.at;
        wide_lanes(Mean { x, y })
    }

    /// How far (1) is from being so, and `d`.
    pub fn defects(&mut self, rows: &Rows, epsilon: f64) {
        self.rp.clone_from(&rows.free);
        self.rp.push([0.0; 6]);
        let Interior { quads, at, rp, rd, d, along, .. } = self;
        wide_lanes(Defects { quads, at, rp, rd, d, along, epsilon });
        for (rp, s) in self.rp.iter_mut().zip(&self.at.s) {
            (0..6).for_each(|i| rp[i] -= s[i]);
        }
    }

    /// The factors of (2); false where there are none.
    pub fn factor(&mut self, rows: &Rows, lu: &mut GraphLu) -> bool {
        let Interior { quads, at, lambda, scaling, squared, d, D, .. } = self;
        wide_lanes(Scale { quads, at, lambda, scaling, squared, d, D });
        rows.assemble(D, lu);
        lu.factor().is_ok()
    }

    /// The direction that removes what is asked, by the factors of (2).
    pub fn newton(&self, lu: &mut GraphLu, asked: &impl Asked, out: &mut Point) {
        for (k, ds) in out.s.iter_mut().take(self.quads.bodies).enumerate() {
            *ds = asked.balance(k);
        }
        out.s[self.quads.bodies] = [0.0; 6];
        wide_lanes(Reduced { of: self, asked, out });
        lu.solve(&mut out.s);
        wide_lanes(Expanded { of: self, out });
    }

    /// The step to `x ∘ y = σ ν e`, with the second order of the predicted one if asked; how far it may go.
    fn direction(&mut self, lu: &mut GraphLu, [sigma, nu]: [f64; 2], second: bool) -> f64 {
        let mut direction = std::mem::take(&mut self.direction);
        direction.fit(&self.quads);
        self.newton(lu, &Target { of: self, to: sigma * nu, second }, &mut direction);
        let length = wide_lanes(Length { at: &self.at, direction: &direction });
        self.direction = direction;
        (SHARE * length).min(1.0)
    }
}

/// `y` of a point so far inside.
struct Velocities<'a> {
    quads: &'a Quads,
    at: &'a mut Point,
    least: f64,
}

impl WideLanes for Velocities<'_> {
    type Answer = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Velocities { quads, at, least } = self;
        for (quad, y) in quads.all.iter().zip(&mut at.y) {
            let g = quad.velocity(l, &at.s);
            let along = l.sqrt(l.add(l.mul(g[1], g[1]), l.mul(g[2], g[2])));
            let parting = l.greater(g[0], l.splat(0.0));
            *y = store(l, &[l.add(l.add(along, parting), l.splat(least)), g[1], g[2]]);
        }
    }
}

/// The mean of `x · y`.
struct Mean<'a> {
    x: &'a [Triple],
    y: &'a [Triple],
}

impl WideLanes for Mean<'_> {
    type Answer = f64;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> f64 {
        let mut all = l.splat(0.0);
        for (x, y) in self.x.iter().zip(self.y) {
            all = l.add(all, dot(l, &load(l, x), &load(l, y)));
        }
        l.sum(all) / (4 * self.x.len()) as f64
    }
}

/// What [`Interior::defects`] does: `Gᵀ x` and the defects of velocities.
struct Defects<'a> {
    quads: &'a Quads,
    at: &'a Point,
    rp: &'a mut [Motion],
    rd: &'a mut [Triple],
    d: &'a mut [[Four; 2]],
    along: &'a mut [Four],
    epsilon: f64,
}

impl WideLanes for Defects<'_> {
    type Answer = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Defects { quads, at, rp, rd, d, along, epsilon } = self;
        let squared = l.splat(epsilon * epsilon);
        for (c, quad) in quads.all.iter().enumerate() {
            quad.push(l, &load(l, &at.x[c]), rp);
            let (g, y) = (quad.velocity(l, &at.s), load(l, &at.y[c]));
            let size = l.add(l.add(l.mul(g[1], g[1]), l.mul(g[2], g[2])), squared);
            let size = l.sqrt(size);
            d[c] = store(l, &[l.div(g[1], size), l.div(g[2], size)]);
            along[c] = l.store(size);
            rd[c] = store(l, &difference(l, &[l.add(g[0], size), g[1], g[2]], &y));
        }
    }
}

/// The scaling, and `P⁻¹ (1 + e dᵀ)` in the units of the rows.
struct Scale<'a> {
    quads: &'a Quads,
    at: &'a Point,
    lambda: &'a mut [Triple],
    scaling: &'a mut [[[Four; 6]; 2]],
    squared: &'a mut [[Four; 6]],
    d: &'a [[Four; 2]],
    D: &'a mut [[f64; 9]],
}

impl WideLanes for Scale<'_> {
    type Answer = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Scale { quads, at, lambda, scaling, squared, d, D } = self;
        for (c, (quad, own)) in quads.all.iter().zip(D.chunks_mut(4)).enumerate() {
            let (x, y, mu) = (load(l, &at.x[c]), load(l, &at.y[c]), l.load(&quad.mu));
            let [forth, back] = nesterov_todd(l, &y, &x);
            lambda[c] = store(l, &times(l, &forth, &x));
            scaling[c] = [store(l, &forth), store(l, &back)];
            let (A, d) = (square(l, &back), load(l, &d[c]));
            squared[c] = store(l, &A);
            let rows = [[A[0], A[1], A[2]], [A[1], A[3], A[4]], [A[2], A[4], A[5]]];
            let mut block = [[0.0; 4]; 9];
            for i in 0..3 {
                let first = if i == 0 { rows[i][0] } else { l.mul(mu, rows[i][0]) };
                block[3 * i] = l.store(first);
                for j in 1..3 {
                    let of = l.add(rows[i][j], l.mul(rows[i][0], d[j - 1]));
                    let of = if i == 0 { of } else { l.mul(mu, of) };
                    block[3 * i + j] = l.store(l.mul(of, mu));
                }
            }
            for lane in 0..own.len() {
                for k in 0..9 {
                    own[lane][k] = block[k][lane];
                }
            }
        }
    }
}

/// The right-hand side of (2), with what is known of `δx` and `δy`.
struct Reduced<'a, A> {
    of: &'a Interior,
    asked: &'a A,
    out: &'a mut Point,
}

impl<A: Asked> WideLanes for Reduced<'_, A> {
    type Answer = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Reduced { of, asked, out: Point { s, x, y } } = self;
        for (c, quad) in of.quads.all.iter().enumerate() {
            let (inverse, lambda) = (load(l, &of.scaling[c][1]), load(l, &of.lambda[c]));
            let asked_x = jordan_divide(l, &lambda, &asked.complementarity(l, c));
            let (dx, dy) = (times(l, &inverse, &asked_x), asked.velocity(l, c));
            let of_dy = times(l, &load(l, &of.squared[c]), &dy);
            quad.push(l, &difference(l, &dx, &of_dy), s);
            x[c] = store(l, &dx);
            y[c] = store(l, &dy);
        }
    }
}

/// `δx` and `δy` of `δs`.
struct Expanded<'a> {
    of: &'a Interior,
    out: &'a mut Point,
}

impl WideLanes for Expanded<'_> {
    type Answer = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Expanded { of, out: Point { s, x, y } } = self;
        for (c, quad) in of.quads.all.iter().enumerate() {
            let d = load(l, &of.d[c]);
            let g = quad.turn(l, s);
            let slip = l.add(l.mul(d[0], g[1]), l.mul(d[1], g[2]));
            let dy = sum(l, &load(l, &y[c]), &[l.add(g[0], slip), g[1], g[2]]);
            let of_dy = times(l, &load(l, &of.squared[c]), &dy);
            x[c] = store(l, &difference(l, &load(l, &x[c]), &of_dy));
            y[c] = store(l, &dy);
        }
    }
}

/// How far a direction may go.
struct Length<'a> {
    at: &'a Point,
    direction: &'a Point,
}

impl WideLanes for Length<'_> {
    type Answer = f64;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> f64 {
        let Length { at, direction } = self;
        let mut most = l.splat(1.0 / SHARE);
        for c in 0..at.x.len() {
            let of_x = way(l, &load(l, &at.x[c]), &load(l, &direction.x[c]));
            let of_y = way(l, &load(l, &at.y[c]), &load(l, &direction.y[c]));
            most = l.lesser(most, l.lesser(of_x, of_y));
        }
        let most = l.store(most);
        most[0].min(most[1]).min(most[2].min(most[3]))
    }
}

/// Goes so far.
struct Step<'a> {
    at: &'a mut Point,
    direction: &'a Point,
    length: f64,
}

impl Wide for Step<'_> {
    type Answer = ();

    #[inline(always)]
    fn run(self) {
        let Step { at, direction, length } = self;
        for (s, ds) in at.s.iter_mut().zip(&direction.s) {
            for i in 0..6 {
                s[i] += length * ds[i];
            }
        }
        for (own, change) in [(&mut at.x, &direction.x), (&mut at.y, &direction.y)] {
            for (own, change) in own.iter_mut().zip(change) {
                for k in 0..3 {
                    for lane in 0..4 {
                        own[k][lane] += length * change[k][lane];
                    }
                }
            }
        }
    }
}

/// (1) with this `ν`, from where it is.
struct Target<'a> {
    of: &'a Interior,
    to: f64,
    second: bool,
}

impl Asked for Target<'_> {
    fn balance(&self, body: usize) -> Motion {
        self.of.rp[body]
    }

    #[inline(always)]
    fn velocity<L: Lanes>(&self, l: L, quad: usize) -> [L::Four; 3] {
        load(l, &self.of.rd[quad])
    }

    #[inline(always)]
    fn complementarity<L: Lanes>(&self, l: L, c: usize) -> [L::Four; 3] {
        let (lambda, zero) = (load(l, &self.of.lambda[c]), l.splat(0.0));
        let own = jordan(l, &lambda, &lambda);
        let mut asked = difference(l, &[l.splat(self.to), zero, zero], &own);
        if self.second {
            let [scaling, inverse] = &self.of.scaling[c];
            let (scaling, inverse) = (load(l, scaling), load(l, inverse));
            let last = &self.of.predicted;
            let x = times(l, &scaling, &load(l, &last.x[c]));
            let y = times(l, &inverse, &load(l, &last.y[c]));
            asked = difference(l, &asked, &jordan(l, &x, &y));
        }
        asked
    }
}
