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
use super::cone::{Matrix, Vector, dot, jordan, jordan_divide, nesterov_todd, square, times, way};
use super::rows::{Motion, Row, Rows, Whole};
use saltus_linalg::GraphLu;

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

/// A point, or a direction from one.
#[derive(Debug, Clone, Default)]
pub(super) struct Point {
    pub s: Vec<Motion>,
    pub x: Vec<Vector>,
    pub y: Vec<Vector>,
}

impl Point {
    pub fn fit(&mut self, bodies: usize, contacts: usize) {
        self.s.resize(bodies, [0.0; 6]);
        self.x.resize(contacts, [0.0; 3]);
        self.y.resize(contacts, [0.0; 3]);
    }

    /// The impulses.
    pub fn impulses(&self, rows: &Rows, z: &mut [f64]) {
        for ((z, x), row) in z.chunks_exact_mut(3).zip(&self.x).zip(&rows.all) {
            z.copy_from_slice(&[x[0], row.mu * x[1], row.mu * x[2]]);
        }
    }
}

/// The method's vectors, kept between calls.
#[derive(Debug, Default)]
pub(super) struct Interior {
    pub at: Point,
    predicted: Point,
    direction: Point,
    pub rp: Vec<Motion>, // defect of s
    pub rd: Vec<Vector>, // defect of y
    pub lambda: Vec<Vector>,
    pub scaling: Vec<[Matrix; 2]>, // Ω and its inverse
    pub squares: Vec<[Matrix; 2]>, // P and its inverse
    pub d: Vec<[f64; 2]>,
    pub along: Vec<f64>, // |(G s + p)_T|_ε
    D: Vec<Matrix>,
    pub path: Path,
}

/// What a step of Newton's method is to remove from (1).
pub(super) trait Asked {
    /// From the balance of a body.
    fn balance(&self, body: usize) -> Motion;
    /// From the velocity of a contact.
    fn velocity(&self, contact: usize) -> Vector;
    /// From complementarity, in the scaled space.
    fn complementarity(&self, contact: usize) -> Vector;
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
            if !self.factor(rows, lu) {
                return step;
            }
            let predicted = self.direction(rows, lu, [0.0, nu], false);
            std::mem::swap(&mut self.predicted, &mut self.direction);
            let sigma = (1.0 - predicted).powi(3).clamp(LEAST, 0.9);
            let length = self.direction(rows, lu, [sigma, nu], predicted >= POOR);
            if !(length > 0.0) {
                return step; // a NaN too
            }
            let Interior { at, direction, .. } = self;
            for (s, ds) in at.s.iter_mut().zip(&direction.s) {
                (0..6).for_each(|i| s[i] += length * ds[i]);
            }
            for (own, change) in [(&mut at.x, &direction.x), (&mut at.y, &direction.y)] {
                for (own, change) in own.iter_mut().zip(change) {
                    (0..3).for_each(|i| own[i] += length * change[i]);
                }
            }
            short += usize::from(length < SHORT);
            let worth = nu <= WORTH * tol * force * speed;
            if worth || short == PATIENCE || step == MOST {
                at.impulses(rows, z);
                if short == PATIENCE || (worth && residual(z) <= tol) {
                    return step;
                }
            }
        }
        MOST
    }

    /// A point so far inside the cones, near `z`. The mean impulse and velocity.
    pub fn begin(&mut self, rows: &Rows, z: &[f64], start: f64) -> [f64; 2] {
        let Interior { at, rd, lambda, D, .. } = self;
        let count = rows.all.len() as f64;
        rows.follow(z, &mut at.s);
        let square = |row: &Row| row.velocity(&rows.free).iter().map(|w| w * w).sum::<f64>();
        let speed = (rows.all.iter().map(square).sum::<f64>() / count).sqrt();
        let size = rows.all.iter().map(|row| row.size).sum::<f64>() / count;
        let force = z.iter().step_by(3).sum::<f64>() / count;
        let force = force.max(speed / size);
        at.x.clear();
        at.y.clear();
        for (row, z) in rows.all.iter().zip(z.chunks_exact(3)) {
            let [a, b] = if row.mu > 0.0 { [z[1] / row.mu, z[2] / row.mu] } else { [0.0; 2] };
            at.x.push([a.hypot(b).max(z[0]) + start * force, a, b]);
            let w = row.velocity(&at.s);
            let [a, b] = [row.mu * w[1], row.mu * w[2]];
            at.y.push([a.hypot(b) + w[0].max(0.0) + start * speed, a, b]);
        }
        rd.resize(rows.all.len(), [0.0; 3]);
        lambda.resize(rows.all.len(), [0.0; 3]);
        D.resize(rows.all.len(), [0.0; 9]);
        [force, speed]
    }

    /// `ν`.
    pub fn complementarity(&self) -> f64 {
        let Point { x, y, .. } = &self.at;
        x.iter().zip(y).map(|(x, y)| dot(x, y)).sum::<f64>() / x.len() as f64
    }

    /// How far (1) is from being so, and `d`.
    pub fn defects(&mut self, rows: &Rows, epsilon: f64) {
        let Point { s, x, y } = &self.at;
        self.rp.clone_from(&rows.free);
        self.d.clear();
        self.along.clear();
        for (c, row) in rows.all.iter().enumerate() {
            let (x, y, mu) = (&x[c], &y[c], row.mu);
            row.push([x[0], mu * x[1], mu * x[2]], &mut self.rp);
            let w = row.velocity(s);
            let g = [w[0], mu * w[1], mu * w[2]];
            let along = (g[1] * g[1] + g[2] * g[2] + epsilon * epsilon).sqrt();
            self.d.push([g[1] / along, g[2] / along]);
            self.along.push(along);
            self.rd[c] = [g[0] + along - y[0], g[1] - y[1], g[2] - y[2]];
        }
        for (rp, s) in self.rp.iter_mut().zip(s) {
            (0..6).for_each(|i| rp[i] -= s[i]);
        }
    }

    /// The scaling, and `P⁻¹ (1 + e dᵀ)` in the units of the contacts.
    fn scale(&mut self, rows: &Rows) {
        self.scaling.clear();
        self.squares.clear();
        for (c, row) in rows.all.iter().enumerate() {
            let [scaling, inverse] = nesterov_todd(&self.at.y[c], &self.at.x[c]);
            self.lambda[c] = times(&scaling, &self.at.x[c]);
            let (P, A) = (square(&scaling), square(&inverse));
            let (d, units) = (self.d[c], [1.0, row.mu, row.mu]);
            for i in 0..3 {
                let own =
                    [A[3 * i], A[3 * i + 1] + A[3 * i] * d[0], A[3 * i + 2] + A[3 * i] * d[1]];
                for j in 0..3 {
                    self.D[c][3 * i + j] = units[i] * own[j] * units[j];
                }
            }
            self.scaling.push([scaling, inverse]);
            self.squares.push([P, A]);
        }
    }

    /// The factors of (2); false where there are none.
    pub fn factor(&mut self, rows: &Rows, lu: &mut GraphLu) -> bool {
        self.scale(rows);
        rows.assemble(&self.D, lu);
        lu.factor().is_ok()
    }

    /// The direction that removes what is asked, by the factors of (2).
    pub fn newton(&self, rows: &Rows, lu: &mut GraphLu, asked: &impl Asked, out: &mut Point) {
        let Point { s: ds, x: dx, y: dy } = out;
        for (k, ds) in ds.iter_mut().enumerate() {
            *ds = asked.balance(k);
        }
        for (c, row) in rows.all.iter().enumerate() {
            let inverse = &self.scaling[c][1];
            dx[c] = times(inverse, &jordan_divide(&self.lambda[c], &asked.complementarity(c)));
            dy[c] = asked.velocity(c);
            let of_dy = times(&self.squares[c][1], &dy[c]);
            let [of_n, of_t, of_b] =
                [dx[c][0] - of_dy[0], dx[c][1] - of_dy[1], dx[c][2] - of_dy[2]];
            row.push([of_n, row.mu * of_t, row.mu * of_b], ds);
        }
        lu.solve(ds);
        for (c, row) in rows.all.iter().enumerate() {
            let (w, [d, e]) = (row.turn(ds), self.d[c]);
            let g = [w[0], row.mu * w[1], row.mu * w[2]];
            let own = &mut dy[c];
            *own = [own[0] + g[0] + d * g[1] + e * g[2], own[1] + g[1], own[2] + g[2]];
            let of_dy = times(&self.squares[c][1], own);
            (0..3).for_each(|i| dx[c][i] -= of_dy[i]);
        }
    }

    /// The step to `x ∘ y = σ ν e`, with the second order of the predicted one if asked; how far it may go.
    fn direction(
        &mut self,
        rows: &Rows,
        lu: &mut GraphLu,
        [sigma, nu]: [f64; 2],
        second: bool,
    ) -> f64 {
        let mut direction = std::mem::take(&mut self.direction);
        direction.fit(rows.free.len(), rows.all.len());
        let asked = Target { of: self, to: sigma * nu, second };
        self.newton(rows, lu, &asked, &mut direction);
        let mut length = 1.0 / SHARE;
        for c in 0..rows.all.len() {
            length = length.min(way(&self.at.x[c], &direction.x[c]));
            length = length.min(way(&self.at.y[c], &direction.y[c]));
        }
        self.direction = direction;
        (SHARE * length).min(1.0)
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

    fn velocity(&self, contact: usize) -> Vector {
        self.of.rd[contact]
    }

    fn complementarity(&self, c: usize) -> Vector {
        let (lambda, [scaling, inverse]) = (&self.of.lambda[c], &self.of.scaling[c]);
        let own = jordan(lambda, lambda);
        let mut asked = [self.to - own[0], -own[1], -own[2]];
        if self.second {
            let last = &self.of.predicted;
            let more = jordan(&times(scaling, &last.x[c]), &times(inverse, &last.y[c]));
            (0..3).for_each(|i| asked[i] -= more[i]);
        }
        asked
    }
}
