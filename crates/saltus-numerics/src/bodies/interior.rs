//! An interior point method for contacts with friction, on the factored matrix of their bodies.
//!
//! With `x = (z_N, z_T/μ)` and `y = (w_N + |μ w_T|, μ w_T)` the law of friction is complementarity on the cone
//! of Lorentz, `x ∘ y = 0`. Steps of Newton's method on
//!
//! ```text
//! s = s_free + Gᵀ x,     y = G s + p + |(G s + p)_T|_ε e,     x ∘ y = σ ν e                   (1)
//! ```
//!
//! (`G` and `p` are `K` and `q` in these units, `ν` the mean of `x · y`) in the scaling `P` of Nesterov and Todd
//! come down to one system of the bodies, with `d` the direction of `(G s + p)_T`:
//!
//! ```text
//! (1 + Gᵀ P⁻¹ (1 + e dᵀ) G) δs = …                                                            (2)
//! ```
//!
//! A step that predicts (σ = 0) and one that corrects share its factors (Mehrotra). The cone couples normal
//! and tangents through `|·|_T` in a way that is not monotone: where steps become short the method gives up.
//! Reference: Acary, Armand, Nguyen, Shpakovych, *Second-order cone programming for frictional contact
//! mechanics using interior point algorithm*, 2024.

use super::rows::{Motion, Row, Rows};
use saltus_linalg::GraphLu;

/// Steps at most: where it gets there, it does in twenty.
const MOST: usize = 26;
/// Distance of the start from the boundary, of mean impulses and velocities.
const START: f64 = 0.3;
/// `ε`, of the velocity `ν/x`.
const SMOOTH: f64 = 0.02;
/// Least `σ`; share of the way to the boundary; shortest predicted step whose second order counts.
const LEAST: f64 = 0.1;
const SHARE: f64 = 0.95;
const POOR: f64 = 0.3;
/// So many steps that are so short end it.
const SHORT: f64 = 0.1;
const PATIENCE: usize = 5;
/// Complementarity, of the scale of the problem and in units of the tolerance, at which it is worth to
/// measure.
const WORTH: f64 = 30.0;

type Vector = [f64; 3];
type Matrix = [f64; 9];

/// The method's vectors, kept between calls.
#[derive(Debug, Default)]
pub(super) struct Interior {
    x: Vec<Vector>,
    y: Vec<Vector>,
    dx: Vec<Vector>,
    dy: Vec<Vector>,
    rc: Vec<Vector>, // what complementarity asks for, in the scaled space
    rd: Vec<Vector>, // defect of y
    lambda: Vec<Vector>,
    scaling: Vec<[Matrix; 2]>, // P^½ and its inverse
    d: Vec<[f64; 2]>,
    D: Vec<Matrix>,
    s: Vec<Motion>,
    rp: Vec<Motion>, // defect of s
    ds: Vec<Motion>,
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
        let count = rows.all.len() as f64;
        let [force, speed] = self.begin(rows, z);
        let mut short = 0;
        for step in 1..=MOST {
            let nu = self.x.iter().zip(&self.y).map(|(x, y)| dot(x, y)).sum::<f64>() / count;
            self.defects(rows, SMOOTH * nu / force);
            self.scale(rows);
            rows.assemble(&self.D, lu);
            if lu.factor().is_err() {
                return step;
            }
            let predicted = self.direction(rows, lu, [0.0, nu], false);
            let sigma = (1.0 - predicted).powi(3).clamp(LEAST, 0.9);
            let length = self.direction(rows, lu, [sigma, nu], predicted >= POOR);
            if !(length > 0.0) {
                return step; // a NaN too
            }
            for (s, ds) in self.s.iter_mut().zip(&self.ds) {
                (0..6).for_each(|i| s[i] += length * ds[i]);
            }
            for (own, change) in [(&mut self.x, &self.dx), (&mut self.y, &self.dy)] {
                for (own, change) in own.iter_mut().zip(change) {
                    (0..3).for_each(|i| own[i] += length * change[i]);
                }
            }
            short += usize::from(length < SHORT);
            let worth = nu <= WORTH * tol * force * speed;
            if worth || short == PATIENCE || step == MOST {
                for ((z, x), row) in z.chunks_exact_mut(3).zip(&self.x).zip(&rows.all) {
                    z.copy_from_slice(&[x[0], row.mu * x[1], row.mu * x[2]]);
                }
                if short == PATIENCE || (worth && residual(z) <= tol) {
                    return step;
                }
            }
        }
        MOST
    }

    /// A point well inside the cones, near `z`. The mean impulse and velocity.
    fn begin(&mut self, rows: &Rows, z: &[f64]) -> [f64; 2] {
        let count = rows.all.len() as f64;
        rows.follow(z, &mut self.s);
        let square = |row: &Row| row.velocity(&rows.free).iter().map(|w| w * w).sum::<f64>();
        let speed = (rows.all.iter().map(square).sum::<f64>() / count).sqrt();
        let size = rows.all.iter().map(|row| row.size).sum::<f64>() / count;
        let force = z.iter().step_by(3).sum::<f64>() / count;
        let force = force.max(speed / size);
        self.x.clear();
        self.y.clear();
        for (row, z) in rows.all.iter().zip(z.chunks_exact(3)) {
            let [a, b] = if row.mu > 0.0 { [z[1] / row.mu, z[2] / row.mu] } else { [0.0; 2] };
            self.x.push([a.hypot(b).max(z[0]) + START * force, a, b]);
            let w = row.velocity(&self.s);
            let [a, b] = [row.mu * w[1], row.mu * w[2]];
            self.y.push([a.hypot(b) + w[0].max(0.0) + START * speed, a, b]);
        }
        for vectors in [&mut self.dx, &mut self.dy, &mut self.rc, &mut self.rd, &mut self.lambda] {
            vectors.clear();
            vectors.resize(rows.all.len(), [0.0; 3]);
        }
        self.D.resize(rows.all.len(), [0.0; 9]);
        self.ds.resize(rows.free.len(), [0.0; 6]);
        [force, speed]
    }

    /// How far (1) is from being so, and `d`.
    fn defects(&mut self, rows: &Rows, epsilon: f64) {
        self.rp.clone_from(&rows.free);
        self.d.clear();
        for (c, row) in rows.all.iter().enumerate() {
            let (x, y, mu) = (&self.x[c], &self.y[c], row.mu);
            row.push([x[0], mu * x[1], mu * x[2]], &mut self.rp);
            let w = row.velocity(&self.s);
            let g = [w[0], mu * w[1], mu * w[2]];
            let along = (g[1] * g[1] + g[2] * g[2] + epsilon * epsilon).sqrt();
            self.d.push([g[1] / along, g[2] / along]);
            self.rd[c] = [g[0] + along - y[0], g[1] - y[1], g[2] - y[2]];
        }
        for (rp, s) in self.rp.iter_mut().zip(&self.s) {
            (0..6).for_each(|i| rp[i] -= s[i]);
        }
    }

    /// The scaling, and `P⁻¹ (1 + e dᵀ)` in the units of the contacts.
    fn scale(&mut self, rows: &Rows) {
        self.scaling.clear();
        for (c, row) in rows.all.iter().enumerate() {
            let [W, inverse] = nesterov_todd(&self.y[c], &self.x[c]);
            self.lambda[c] = times(&W, &self.x[c]);
            let (A, d, units) = (square(&inverse), self.d[c], [1.0, row.mu, row.mu]);
            for i in 0..3 {
                let own =
                    [A[3 * i], A[3 * i + 1] + A[3 * i] * d[0], A[3 * i + 2] + A[3 * i] * d[1]];
                for j in 0..3 {
                    self.D[c][3 * i + j] = units[i] * own[j] * units[j];
                }
            }
            self.scaling.push([W, inverse]);
        }
    }

    /// The step to `x ∘ y = σ ν e`, with the second order of the last one if asked; how far it may go.
    fn direction(
        &mut self,
        rows: &Rows,
        lu: &mut GraphLu,
        [sigma, nu]: [f64; 2],
        second: bool,
    ) -> f64 {
        self.ds.copy_from_slice(&self.rp);
        for (c, row) in rows.all.iter().enumerate() {
            let [W, inverse] = &self.scaling[c];
            let lambda = &self.lambda[c];
            let own = jordan(lambda, lambda);
            let mut asked = [sigma * nu - own[0], -own[1], -own[2]];
            if second {
                let more = jordan(&times(W, &self.dx[c]), &times(inverse, &self.dy[c]));
                (0..3).for_each(|i| asked[i] -= more[i]);
            }
            self.rc[c] = times(inverse, &jordan_divide(lambda, &asked));
            let of_rd = times(inverse, &times(inverse, &self.rd[c]));
            let push = [0, 1, 2].map(|i| self.rc[c][i] - of_rd[i]);
            row.push([push[0], row.mu * push[1], row.mu * push[2]], &mut self.ds);
        }
        lu.solve(&mut self.ds);
        let mut length = 1.0 / SHARE;
        for (c, row) in rows.all.iter().enumerate() {
            let inverse = &self.scaling[c][1];
            let w = row.turn(&self.ds);
            let ([d, e], rd) = (self.d[c], &self.rd[c]);
            let g = [w[0], row.mu * w[1], row.mu * w[2]];
            self.dy[c] = [rd[0] + g[0] + d * g[1] + e * g[2], rd[1] + g[1], rd[2] + g[2]];
            let of_dy = times(inverse, &times(inverse, &self.dy[c]));
            self.dx[c] = [0, 1, 2].map(|i| self.rc[c][i] - of_dy[i]);
            length = length.min(way(&self.x[c], &self.dx[c])).min(way(&self.y[c], &self.dy[c]));
        }
        (SHARE * length).min(1.0)
    }
}

#[inline]
fn dot(a: &Vector, b: &Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline]
fn times(A: &Matrix, x: &Vector) -> Vector {
    [0, 1, 2].map(|i| A[3 * i] * x[0] + A[3 * i + 1] * x[1] + A[3 * i + 2] * x[2])
}

/// `A²` of a symmetric matrix.
#[inline]
fn square(A: &Matrix) -> Matrix {
    let mut out = [0.0; 9];
    for i in 0..3 {
        for j in 0..3 {
            out[3 * i + j] = (0..3).map(|k| A[3 * i + k] * A[3 * j + k]).sum();
        }
    }
    out
}

/// `x_0² − |x_T|²`.
#[inline]
fn determinant(x: &Vector) -> f64 {
    let along = x[1].hypot(x[2]);
    (x[0] - along) * (x[0] + along)
}

/// `a ∘ b`.
#[inline]
fn jordan(a: &Vector, b: &Vector) -> Vector {
    [dot(a, b), a[0] * b[1] + b[0] * a[1], a[0] * b[2] + b[0] * a[2]]
}

/// `x` of `a ∘ x = b`.
#[inline]
fn jordan_divide(a: &Vector, b: &Vector) -> Vector {
    let x = (a[0] * b[0] - a[1] * b[1] - a[2] * b[2]) / determinant(a);
    [x, (b[1] - x * a[1]) / a[0], (b[2] - x * a[2]) / a[0]]
}

/// `W` and its inverse, with `W x = W⁻¹ y`.
fn nesterov_todd(y: &Vector, x: &Vector) -> [Matrix; 2] {
    let [size_y, size_x] = [determinant(y).sqrt(), determinant(x).sqrt()];
    let [y, x] = [y.map(|y| y / size_y), x.map(|x| x / size_x)];
    let gamma = (0.5 * (1.0 + dot(&y, &x))).sqrt();
    let [a, b, c] = [y[0] + x[0], y[1] - x[1], y[2] - x[2]].map(|w: f64| w / (2.0 * gamma));
    let (beta, k) = ((size_y / size_x).sqrt(), 1.0 / (1.0 + a));
    let [bb, bc, cc] = [1.0 + k * b * b, k * b * c, 1.0 + k * c * c];
    let W = [a, b, c, b, bb, bc, c, bc, cc].map(|w| w * beta);
    let inverse = [a, -b, -c, -b, bb, bc, -c, bc, cc].map(|w| w / beta);
    [W, inverse]
}

/// The largest `α` with `x + α d` in the cone.
fn way(x: &Vector, d: &Vector) -> f64 {
    let (a, c) = (determinant(d), determinant(x));
    let b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2];
    let mut most = if d[0] < 0.0 { -x[0] / d[0] } else { f64::INFINITY };
    let root = b * b - a * c;
    if root >= 0.0 {
        let q = -(b + root.sqrt().copysign(b));
        for alpha in [q / a, c / q] {
            if alpha > 0.0 {
                most = most.min(alpha);
            }
        }
    }
    if b.is_finite() { most } else { 0.0 }
}
