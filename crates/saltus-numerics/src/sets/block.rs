//! The problem of one block, `w = W z + b` with its law, solved to round-off.
//!
//! | set | how |
//! | --- | --- |
//! | boxes | one unknown in closed form; several (never inside a method) by Newton's method |
//! | `Graph` | the point where the line meets the graph |
//! | cones of 2 and 3 components | take-off, stick, slip in turn; slip in space by a scalar root |
//! | `Rolling2` | the nine cases of stick and slip |
//! | others | Newton's method on the block, guarded by projections |
//!
//! Slip on a cone of aperture `μ` with dilatancy `θ` (Coulomb `θ = μ`, convex `θ = 0`,
//! `κ = μ − θ`) has `z = r (1, μ d)`, `w_T = −λ d`, `w_N = κ λ` for a unit vector `d` and `r, λ > 0`:
//!
//! ```text
//! r(d) = −(b_N + κ d·b_T)/D(d),   D(d) = W_NN + μ W_NT d + κ d·(W_TN + μ W_TT d)
//! g(d) = d × [ r(d) (W_TN + μ W_TT d) + b_T ] = 0,    λ = −d · [ the same ]                  (1)
//! ```
//!
//! a scalar equation for the angle of `d`, found by Newton's method from the direction of the
//! guess, and where that fails by bracketing all roots around the circle.

use super::{Set, Step, clamp, norm};

/// See [`Set::solve_block`].
#[inline]
pub(crate) fn solve(set: &Set, W: &[f64], b: &[f64], z: &mut [f64]) -> bool {
    let done = match *set {
        Set::Coulomb3 { mu } => cone3(mu, mu, W, b, z),
        Set::Coulomb2 { mu } => cone2(mu, mu, W, b, z),
        Set::DruckerPrager { eta, theta } => cone3(eta, theta, W, b, z),
        Set::SecondOrder { mu } if z.len() == 3 => cone3(mu, 0.0, W, b, z),
        Set::SecondOrder { mu } if z.len() == 2 => cone2(mu, 0.0, W, b, z),
        Set::SecondOrder { .. } if z.len() == 1 => bounded(W[0], b[0], 0.0, f64::INFINITY, z),
        Set::Rolling2 { mu, mu_r } => rolling2(mu, mu_r, W, b, z),
        Set::Graph(ref graph) => match graph.meet(W[0], b[0]) {
            Some(meet) => {
                z[0] = meet;
                true
            }
            None => false,
        },
        Set::Free | Set::Nonnegative | Set::Interval { .. } if z.len() == 1 => {
            let (lower, upper) = set.bounds().unwrap_or_default();
            bounded(W[0], b[0], lower, upper, z)
        }
        _ => false,
    };
    done || iterate(set, W, b, z)
}

/// One unknown between bounds.
#[inline]
fn bounded(W: f64, b: f64, lower: f64, upper: f64, z: &mut [f64]) -> bool {
    if W > 0.0 {
        z[0] = clamp(-b / W, lower, upper);
        return true;
    }
    // the line does not rise: the bounds first, then the point between them
    if lower > f64::NEG_INFINITY && W * lower + b >= 0.0 {
        z[0] = lower;
        return true;
    }
    if upper < f64::INFINITY && W * upper + b <= 0.0 {
        z[0] = upper;
        return true;
    }
    let between = -b / W;
    if between >= lower && between <= upper {
        z[0] = between;
        return true;
    }
    false
}

/// A cone in the plane: take-off, stick, slip to either side.
#[inline]
fn cone2(mu: f64, theta: f64, W: &[f64], b: &[f64], z: &mut [f64]) -> bool {
    let kappa = mu - theta;
    if b[0] >= kappa * b[1].abs() {
        z.fill(0.0);
        return true;
    }
    let det = W[0] * W[3] - W[1] * W[2];
    if det.abs() > 1e-14 * (W[0] * W[3]).abs() {
        let normal = (W[1] * b[1] - W[3] * b[0]) / det;
        let tangent = (W[2] * b[0] - W[0] * b[1]) / det;
        if tangent.abs() <= mu * normal {
            (z[0], z[1]) = (normal, tangent);
            return true;
        }
    }
    let mut found = false;
    let mut least = f64::INFINITY;
    for d in [1.0, -1.0] {
        let pull = W[2] + mu * W[3] * d;
        let D = W[0] + mu * W[1] * d + kappa * d * pull;
        let r = -(b[0] + kappa * d * b[1]) / D;
        let lambda = -d * (r * pull + b[1]);
        // of two answers (large friction, unsymmetric W) the one closest to the guess
        let distance = (z[0] - r).abs() + (z[1] - mu * r * d).abs();
        if D > 0.0 && r >= 0.0 && lambda >= 0.0 && (!found || distance < least) {
            (z[0], z[1]) = (r, mu * r * d);
            (found, least) = (true, distance);
            if theta == mu && W[1] == W[2] {
                break;
            }
        }
    }
    found
}

/// A cone in space: take-off, stick, slip.
#[inline]
fn cone3(mu: f64, theta: f64, W: &[f64], b: &[f64], z: &mut [f64]) -> bool {
    let kappa = mu - theta;
    if b[0] >= kappa * norm(&b[1..3]) {
        z.fill(0.0);
        return true;
    }
    if let Some(r) = solve3(W, b)
        && norm(&r[1..]) <= mu * r[0]
    {
        z.copy_from_slice(&r);
        return true;
    }
    let slip = Slip { mu, kappa, W, b };
    match slip.near([z[1], z[2]]).or_else(|| slip.anywhere([z[0], z[1], z[2]])) {
        Some(answer) => {
            z.copy_from_slice(&answer);
            true
        }
        None => false,
    }
}

/// Equation (1).
struct Slip<'a> {
    mu: f64,
    kappa: f64,
    W: &'a [f64],
    b: &'a [f64],
}

/// `g(d)` times `D(d)`, its derivative with respect to the angle, and what decides the signs.
struct Turn {
    g: f64,
    slope: f64,
    size: f64, // of the terms of g
    numerator: f64,
    denominator: f64,
    lambda: f64, // times D
}

impl Slip<'_> {
    #[inline]
    fn at(&self, d: [f64; 2]) -> Turn {
        let Slip { mu, kappa, W, b } = *self;
        let e = [-d[1], d[0]]; // ∂d
        let dot = |x: [f64; 2], y: [f64; 2]| x[0] * y[0] + x[1] * y[1];
        let cross = |x: [f64; 2], y: [f64; 2]| x[0] * y[1] - x[1] * y[0];
        let b_t = [b[1], b[2]];
        let row = [W[1], W[2]]; // W_NT
        let turn =
            |d: [f64; 2]| [mu * (W[4] * d[0] + W[5] * d[1]), mu * (W[7] * d[0] + W[8] * d[1])];
        let (turned, turned_e) = (turn(d), turn(e));
        let pull = [W[3] + turned[0], W[6] + turned[1]]; // W_TN + μ W_TT d
        let numerator = -(b[0] + kappa * dot(d, b_t));
        let denominator = W[0] + mu * dot(row, d) + kappa * dot(d, pull);
        let inner = [
            numerator * pull[0] + denominator * b_t[0],
            numerator * pull[1] + denominator * b_t[1],
        ];
        let d_numerator = -kappa * dot(e, b_t);
        let d_denominator = mu * dot(row, e) + kappa * (dot(e, pull) + dot(d, turned_e));
        let d_inner = [0, 1]
            .map(|i| d_numerator * pull[i] + numerator * turned_e[i] + d_denominator * b_t[i]);
        Turn {
            g: cross(d, inner),
            slope: cross(e, inner) + cross(d, d_inner),
            size: (numerator * pull[0]).abs()
                + (numerator * pull[1]).abs()
                + (denominator * b_t[0]).abs()
                + (denominator * b_t[1]).abs(),
            numerator,
            denominator,
            lambda: -dot(d, inner),
        }
    }

    /// The answer at a root, if its signs are right.
    #[inline]
    fn answer(&self, d: [f64; 2], turn: &Turn) -> Option<[f64; 3]> {
        let slack = 1e-13 * turn.size;
        if turn.numerator > 0.0
            && turn.denominator > 0.0
            && turn.lambda >= -slack
            && turn.g.abs() <= slack
        {
            let r = turn.numerator / turn.denominator;
            return Some([r, self.mu * r * d[0], self.mu * r * d[1]]);
        }
        None
    }

    /// Newton's method on the angle from the direction of the guess, or from that in which the
    /// block would slide without friction.
    #[inline]
    fn near(&self, guess: [f64; 2]) -> Option<[f64; 3]> {
        let (W, b) = (self.W, self.b);
        let mut d = guess;
        if d == [0.0, 0.0] {
            let r = -b[0] / W[0];
            d = [-(b[1] + W[3] * r), -(b[2] + W[6] * r)];
        }
        let mut d = unit(d)?;
        let mut last = f64::INFINITY;
        for _ in 0..12 {
            let turn = self.at(d);
            if turn.g.abs() <= 4.0 * f64::EPSILON * turn.size || turn.g.abs() >= last {
                return self.answer(d, &turn);
            }
            last = turn.g.abs();
            let angle = -turn.g / turn.slope;
            // a root with λ > 0 is stable under descent: leave the basin of any other
            if !(angle.abs() <= 1.0) || turn.lambda < 0.0 {
                return None;
            }
            d = unit([d[0] - angle * d[1], d[1] + angle * d[0]])?;
        }
        None
    }

    /// All roots around the circle; of those with the right signs the one closest to the guess.
    #[cold]
    fn anywhere(&self, guess: [f64; 3]) -> Option<[f64; 3]> {
        const RAYS: usize = 48;
        let ray = |k: usize| {
            let angle = (k % RAYS) as f64 * (std::f64::consts::TAU / RAYS as f64);
            [angle.cos(), angle.sin()]
        };
        let mut best: Option<([f64; 3], f64)> = None;
        let mut take = |d: [f64; 2]| {
            if let Some(z) = self.answer(d, &self.at(d)) {
                let distance: f64 = (0..3).map(|i| (z[i] - guess[i]).powi(2)).sum();
                if best.is_none_or(|(_, least)| distance < least) {
                    best = Some((z, distance));
                }
            }
        };
        for k in 0..RAYS {
            let (from, to) = (ray(k), ray(k + 1));
            let (a, b) = (self.at(from), self.at(to));
            if (a.g <= 0.0) != (b.g <= 0.0) {
                take(self.bisect(from, to, a.g <= 0.0));
            } else if (a.slope * a.g < 0.0) && (b.slope * b.g > 0.0) {
                // |g| has a minimum between: it may touch zero, or cross it twice
                let low = self.lowest(from, to, a.g > 0.0);
                if (self.at(low).g <= 0.0) != (a.g <= 0.0) {
                    take(self.bisect(from, low, a.g <= 0.0));
                    take(self.bisect(low, to, b.g > 0.0));
                } else {
                    take(low);
                }
            }
        }
        best.map(|(z, _)| z)
    }

    /// The root between two directions, `g ≤ 0` at the first one if `rises`.
    fn bisect(&self, mut from: [f64; 2], mut to: [f64; 2], rises: bool) -> [f64; 2] {
        for _ in 0..60 {
            let Some(middle) = unit([from[0] + to[0], from[1] + to[1]]) else { break };
            if middle == from || middle == to {
                break;
            }
            if (self.at(middle).g <= 0.0) == rises {
                from = middle;
            } else {
                to = middle;
            }
        }
        let (a, b) = (self.at(from).g.abs(), self.at(to).g.abs());
        if a <= b { from } else { to }
    }

    /// Where `|g|` is least between two directions, by its slope.
    fn lowest(&self, mut from: [f64; 2], mut to: [f64; 2], positive: bool) -> [f64; 2] {
        for _ in 0..60 {
            let Some(middle) = unit([from[0] + to[0], from[1] + to[1]]) else { break };
            if middle == from || middle == to {
                break;
            }
            if (self.at(middle).slope < 0.0) == positive {
                from = middle;
            } else {
                to = middle;
            }
        }
        from
    }
}

#[inline]
fn unit(d: [f64; 2]) -> Option<[f64; 2]> {
    let length = (d[0] * d[0] + d[1] * d[1]).sqrt();
    (length > 0.0 && length.is_finite()).then(|| [d[0] / length, d[1] / length])
}

/// `W r = −b` for three unknowns, by cofactors; `None` where `W` is singular.
#[inline]
fn solve3(W: &[f64], b: &[f64]) -> Option<[f64; 3]> {
    let cofactor = |i: usize, j: usize| {
        let (r, s) = ((i + 1) % 3, (i + 2) % 3);
        let (c, d) = ((j + 1) % 3, (j + 2) % 3);
        W[r * 3 + c] * W[s * 3 + d] - W[r * 3 + d] * W[s * 3 + c]
    };
    let top = [cofactor(0, 0), cofactor(0, 1), cofactor(0, 2)];
    let det = W[0] * top[0] + W[1] * top[1] + W[2] * top[2];
    let size = (W[0] * W[4] * W[8]).abs();
    if !(det.abs() > 1e-14 * size) {
        return None;
    }
    let mut r = [0.0; 3];
    for (j, r) in r.iter_mut().enumerate() {
        *r = -(0..3).map(|i| cofactor(i, j) * b[i]).sum::<f64>() / det;
    }
    Some(r)
}

/// Friction and rolling in the plane: each of the two sticks or slips to either side.
fn rolling2(mu: f64, mu_r: f64, W: &[f64], b: &[f64], z: &mut [f64]) -> bool {
    if b[0] >= 0.0 {
        z.fill(0.0);
        return true;
    }
    const SIDES: [f64; 3] = [0.0, 1.0, -1.0];
    for side in SIDES {
        for side_r in SIDES {
            // rows: w_N = 0, then stick w = 0 or slip z = ±μ z_N
            let mut A = [0.0; 9];
            let mut rhs = [0.0; 3];
            for (i, (side, mu)) in [(0.0, 0.0), (side, mu), (side_r, mu_r)].into_iter().enumerate()
            {
                if side == 0.0 {
                    A[i * 3..i * 3 + 3].copy_from_slice(&W[i * 3..i * 3 + 3]);
                    rhs[i] = b[i];
                } else {
                    A[i * 3] = -side * mu;
                    A[i * 3 + i] = 1.0;
                }
            }
            let mut factors = A;
            let mut x = [-rhs[0], -rhs[1], -rhs[2]];
            if !eliminate(&mut factors, &mut x, 3) || !(x[0] >= 0.0) {
                continue;
            }
            let right = [(1, side, mu), (2, side_r, mu_r)].into_iter().all(|(i, side, mu)| {
                if side == 0.0 {
                    x[i].abs() <= mu * x[0]
                } else {
                    let w = b[i] + (0..3).map(|j| W[i * 3 + j] * x[j]).sum::<f64>();
                    side * w <= 0.0
                }
            });
            if right {
                z.copy_from_slice(&x);
                return true;
            }
        }
    }
    false
}

/// Solves a small dense system in place by elimination with row exchanges.
pub(crate) fn eliminate(A: &mut [f64], x: &mut [f64], n: usize) -> bool {
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| A[i * n + k].abs().total_cmp(&A[j * n + k].abs()));
        let Some(pivot) = pivot else { return false };
        let value = A[pivot * n + k];
        if !(value.abs() > 0.0) || !value.is_finite() {
            return false;
        }
        if pivot != k {
            for j in 0..n {
                A.swap(k * n + j, pivot * n + j);
            }
            x.swap(k, pivot);
        }
        for i in k + 1..n {
            let factor = A[i * n + k] / value;
            if factor != 0.0 {
                for j in k + 1..n {
                    A[i * n + j] -= factor * A[k * n + j];
                }
                x[i] -= factor * x[k];
            }
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| A[k * n + j] * x[j]).sum();
        x[k] = (x[k] - sum) / A[k * n + k];
    }
    x[..n].iter().all(|x| x.is_finite())
}

/// Newton's method on the block with a line search; where it stops short, projections with a
/// step of their own, and Newton again.
#[cold]
fn iterate(set: &Set, W: &[f64], b: &[f64], z: &mut [f64]) -> bool {
    let n = z.len();
    let mut local = Local {
        set,
        W,
        b,
        step: Step::of_block(set, W, n),
        n,
        w: vec![0.0; n],
        f: vec![0.0; n],
        dz: vec![0.0; n * n],
        dw: vec![0.0; n * n],
        J: vec![0.0; n * n],
        d: vec![0.0; n],
        trial: vec![0.0; n],
        best: z.to_vec(),
        least: f64::INFINITY,
    };
    let tol = 1e-15 * (1.0 + (n as f64));
    for _ in 0..4 {
        if local.newton(z, tol) || local.project(z, 200, tol) {
            break;
        }
    }
    z.copy_from_slice(&local.best);
    local.least <= 1e-13
}

struct Local<'a> {
    set: &'a Set,
    W: &'a [f64],
    b: &'a [f64],
    step: Step,
    n: usize,
    w: Vec<f64>,
    f: Vec<f64>,
    dz: Vec<f64>,
    dw: Vec<f64>,
    J: Vec<f64>,
    d: Vec<f64>,
    trial: Vec<f64>,
    best: Vec<f64>,
    least: f64, // error of the best
}

impl Local<'_> {
    fn eval(&mut self, z: &[f64]) {
        for i in 0..self.n {
            let row = &self.W[i * self.n..][..self.n];
            self.w[i] = self.b[i] + row.iter().zip(z).map(|(a, z)| a * z).sum::<f64>();
        }
    }

    /// The natural map relative to the size of its terms; keeps the best point.
    fn error(&mut self, z: &[f64]) -> f64 {
        self.eval(z);
        let rho = self.step.normal;
        self.set.natural_map(rho, z, &self.w, &mut self.f);
        let size = norm(z).max(rho * norm(&self.w)).max(rho * norm(self.b)).max(f64::MIN_POSITIVE);
        let error = norm(&self.f) / size;
        if error < self.least {
            self.least = error;
            self.best.copy_from_slice(z);
        }
        error
    }

    fn newton(&mut self, z: &mut [f64], tol: f64) -> bool {
        let n = self.n;
        for _ in 0..30 {
            if self.error(z) <= tol {
                return true;
            }
            self.set.newton_function(
                self.step,
                z,
                &self.w,
                &mut self.f,
                &mut self.dz,
                &mut self.dw,
            );
            let merit = norm(&self.f);
            // J = ∂f/∂z + ∂f/∂w W
            for i in 0..n {
                for j in 0..n {
                    let sum: f64 = (0..n).map(|k| self.dw[i * n + k] * self.W[k * n + j]).sum();
                    self.J[i * n + j] = self.dz[i * n + j] + sum;
                }
                self.d[i] = -self.f[i];
            }
            if !eliminate(&mut self.J, &mut self.d, n) {
                return false;
            }
            let mut length = 1.0;
            loop {
                for i in 0..n {
                    self.trial[i] = z[i] + length * self.d[i];
                }
                let trial = std::mem::take(&mut self.trial);
                self.eval(&trial);
                self.set.newton_value(self.step, &trial, &self.w, &mut self.f);
                self.trial = trial;
                if norm(&self.f) <= (1.0 - 1e-4 * length) * merit {
                    break;
                }
                length *= 0.5;
                if length < 1e-3 {
                    return self.error(z) <= tol;
                }
            }
            z.copy_from_slice(&self.trial);
        }
        self.error(z) <= tol
    }

    /// `z ← P_K(z − ρ (w + φ(w) e_N))` with a step that is halved where the map is not contracting.
    fn project(&mut self, z: &mut [f64], sweeps: usize, tol: f64) -> bool {
        let n = self.n;
        let mut rho = self.step.normal.min(self.step.tangent).min(self.step.rolling);
        for _ in 0..sweeps {
            if self.error(z) <= tol {
                return true;
            }
            loop {
                for i in 0..n {
                    self.trial[i] = z[i] - rho * self.w[i];
                }
                self.trial[0] -= rho * self.set.shift(&self.w);
                self.set.project(rho, &mut self.trial);
                self.f.copy_from_slice(&self.w);
                self.f[0] += self.set.shift(&self.w);
                let trial = std::mem::take(&mut self.trial);
                self.eval(&trial);
                self.w[0] += self.set.shift(&self.w);
                let change: f64 =
                    self.w.iter().zip(&self.f).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                let moved: f64 =
                    trial.iter().zip(z.iter()).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                self.trial = trial;
                if rho * change <= 0.9 * moved || rho < 1e-12 {
                    if rho * change < 0.3 * moved {
                        rho *= 1.5;
                    }
                    break;
                }
                rho *= 2.0 / 3.0;
                let z = &*z;
                self.eval(z);
            }
            z.copy_from_slice(&self.trial);
        }
        self.error(z) <= tol
    }
}
