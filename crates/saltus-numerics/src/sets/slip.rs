//! Slip on a cone in space: the direction is the root of a scalar equation.
//!
//! Slip on a cone of aperture `μ` with dilatancy `θ` (Coulomb `θ = μ`, convex `θ = 0`,
//! `κ = μ − θ`) has `z = r (1, μ d)`, `w_T = −λ d`, `w_N = κ λ` for a unit vector `d` and `r, λ ≥ 0`:
//!
//! ```text
//! r(d) = −(b_N + κ d·b_T)/D(d),   D(d) = W_NN + μ W_NT d + κ d·(W_TN + μ W_TT d)
//! g(d) = d × [ r(d) (W_TN + μ W_TT d) + b_T ] = 0,    λ = −d · [ the same ]                  (1)
//! ```
//!
//! Newton's method on the angle of `d` starts from the direction of the guess. Where that fails,
//! all roots are found: with `d = ±(1 − t², 2t)/(1 + t²)`, `|t| ≤ 1`, the equation `D g = 0` is a
//! polynomial in `t` of degree 4 (Coulomb) or 6, whose real roots are separated by those of its
//! derivatives.

/// Equation (1).
pub(crate) struct Slip<'a> {
    pub mu: f64,
    pub kappa: f64,
    pub W: &'a [f64],
    pub b: &'a [f64],
}

/// `D g` and its derivative with respect to the angle, and what decides the signs.
struct Turn {
    g: f64,
    slope: f64,
    size: f64, // of the terms of g
    numerator: f64,
    denominator: f64,
    lambda: f64, // times D
}

/// Most directions that (1) can have: the roots and the extrema, on both halves of the circle.
const MOST: usize = 2 * (6 + 5);

/// Answers of (1).
#[derive(Default)]
pub(crate) struct Answers {
    found: [[f64; 3]; MOST],
    count: usize,
}

impl Answers {
    pub fn as_slice(&self) -> &[[f64; 3]] {
        &self.found[..self.count]
    }
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
        let largest =
            (W[3].abs() + W[6].abs()) + mu * (W[4].abs() + W[5].abs() + W[7].abs() + W[8].abs());
        Turn {
            g: cross(d, inner),
            slope: cross(e, inner) + cross(d, d_inner),
            size: numerator.abs() * largest + denominator.abs() * (b_t[0].abs() + b_t[1].abs()),
            numerator,
            denominator,
            lambda: -dot(d, inner),
        }
    }

    /// The answer at a root, if its signs are right.
    #[inline]
    fn answer(&self, d: [f64; 2], turn: &Turn) -> Option<[f64; 3]> {
        let slack = 1e-14 * turn.size;
        let lambda = if turn.denominator < 0.0 { -turn.lambda } else { turn.lambda };
        if turn.numerator * turn.denominator > 0.0 && lambda >= -slack && turn.g.abs() <= slack {
            let r = turn.numerator / turn.denominator;
            let z = [r, self.mu * r * d[0], self.mu * r * d[1]];
            return z.iter().all(|z| z.is_finite()).then_some(z);
        }
        None
    }

    /// The direction in which the block would slide without friction.
    #[inline]
    pub fn free(&self) -> [f64; 2] {
        let (W, b) = (self.W, self.b);
        let r = -b[0] / W[0];
        [-(b[1] + W[3] * r), -(b[2] + W[6] * r)]
    }

    /// Newton's method on the angle from a direction.
    #[inline]
    pub fn near(&self, start: [f64; 2]) -> Option<[f64; 3]> {
        let mut d = unit(start)?;
        let mut last = f64::INFINITY;
        for _ in 0..12 {
            let turn = self.at(d);
            if turn.g.abs() <= 2.0 * f64::EPSILON * turn.size || turn.g.abs() >= last {
                return self.answer(d, &turn);
            }
            last = turn.g.abs();
            let angle = -turn.g / turn.slope;
            if !(angle.abs() <= 1.0) || turn.lambda * turn.denominator < 0.0 {
                return None;
            }
            d = unit([d[0] - angle * d[1], d[1] + angle * d[0]])?;
        }
        None
    }

    /// Of all answers the one closest to the guess.
    #[cold]
    pub fn closest(&self, guess: [f64; 3]) -> Option<[f64; 3]> {
        let distance = |z: &[f64; 3]| (0..3).map(|i| (z[i] - guess[i]).powi(2)).sum::<f64>();
        let all = self.all();
        all.as_slice().iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).copied()
    }

    /// All answers.
    #[cold]
    pub fn all(&self) -> Answers {
        let mut answers = Answers::default();
        for side in [1.0, -1.0] {
            let (p, degree) = self.polynomial(side);
            let mut roots = [0.0; 13];
            let count = real_roots(&p, degree, &mut roots);
            for &t in &roots[..count] {
                let scale = side / (1.0 + t * t);
                let d = [(1.0 - t * t) * scale, 2.0 * t * scale];
                if let Some(z) = self.polish(d)
                    && answers.count < MOST
                {
                    answers.found[answers.count] = z;
                    answers.count += 1;
                }
            }
        }
        answers
    }

    /// Newton's method for `r` and the angle together: where `D` is small against its terms, `r`
    /// is no longer known well enough from `d` alone.
    fn polish(&self, mut d: [f64; 2]) -> Option<[f64; 3]> {
        let Slip { mu, kappa, W, b } = *self;
        let dot = |x: [f64; 2], y: [f64; 2]| x[0] * y[0] + x[1] * y[1];
        let cross = |x: [f64; 2], y: [f64; 2]| x[0] * y[1] - x[1] * y[0];
        let (b_t, row) = ([b[1], b[2]], [W[1], W[2]]);
        let sizes = (
            W[0].abs() + mu * (row[0].abs() + row[1].abs()),
            (W[3].abs() + W[6].abs()) + mu * (W[4].abs() + W[5].abs() + W[7].abs() + W[8].abs()),
        );
        let b_size = b_t[0].abs() + b_t[1].abs();
        let mut r = f64::NAN;
        let (mut least, mut best) = (f64::INFINITY, None);
        for _ in 0..10 {
            let e = [-d[1], d[0]];
            let turn =
                |d: [f64; 2]| [mu * (W[4] * d[0] + W[5] * d[1]), mu * (W[7] * d[0] + W[8] * d[1])];
            let (turned, turned_e) = (turn(d), turn(e));
            let pull = [W[3] + turned[0], W[6] + turned[1]];
            let D = W[0] + mu * dot(row, d) + kappa * dot(d, pull);
            let free = b[0] + kappa * dot(d, b_t);
            if r.is_nan() {
                r = (-free / D).abs();
            }
            let w_t = [r * pull[0] + b_t[0], r * pull[1] + b_t[1]];
            let f = [r * D + free, cross(d, w_t)];
            let lambda = -dot(d, w_t);
            let tangent_size = r.abs() * sizes.1 + b_size;
            let normal_size = r.abs() * sizes.0 + b[0].abs() + kappa.abs() * tangent_size;
            let error = (f[0].abs() / normal_size).max(f[1].abs() / tangent_size);
            if error < least {
                least = error;
                let right = r > 0.0 && r.is_finite() && lambda >= -1e-14 * tangent_size;
                best = right.then(|| [r, mu * r * d[0], mu * r * d[1]]);
            }
            if error <= f64::EPSILON {
                break;
            }
            let J = [
                D,
                r * (mu * dot(row, e) + kappa * (dot(e, pull) + dot(d, turned_e)))
                    + kappa * dot(e, b_t),
                cross(d, pull),
                lambda + r * cross(d, turned_e),
            ];
            let det = J[0] * J[3] - J[1] * J[2];
            let step = [(J[1] * f[1] - J[3] * f[0]) / det, (J[2] * f[0] - J[0] * f[1]) / det];
            if !(step[0].is_finite() && step[1].abs() <= 1.0) {
                break;
            }
            r += step[0];
            let Some(next) = unit([d[0] - step[1] * d[1], d[1] + step[1] * d[0]]) else { break };
            d = next;
        }
        best.filter(|_| least <= 1e-14)
    }

    /// The coefficients of `D g`, times a power of `1 + t²`, and the degree.
    fn polynomial(&self, side: f64) -> ([f64; 7], usize) {
        let Slip { mu, kappa, W, b } = *self;
        let one = [1.0, 0.0, 1.0];
        let (c, s) = ([side, 0.0, -side], [0.0, 2.0 * side, 0.0]);
        let linear = |k: f64, x: f64, y: f64| [0, 1, 2].map(|i| k * one[i] + x * c[i] + y * s[i]);
        let pull = [linear(W[3], mu * W[4], mu * W[5]), linear(W[6], mu * W[7], mu * W[8])];
        let numerator = linear(-b[0], -kappa * b[1], -kappa * b[2]);
        let mut inner = [[0.0; 7]; 2];
        if kappa == 0.0 {
            let denominator = linear(W[0], mu * W[1], mu * W[2]);
            for i in 0..2 {
                add_scaled(&mut inner[i], -b[0], &pull[i]);
                add_scaled(&mut inner[i], b[1 + i], &denominator);
            }
        } else {
            let mut denominator = [0.0; 7];
            add_product(&mut denominator, 1.0, &one, &linear(W[0], mu * W[1], mu * W[2]));
            add_product(&mut denominator, kappa, &c, &pull[0]);
            add_product(&mut denominator, kappa, &s, &pull[1]);
            for i in 0..2 {
                add_product(&mut inner[i], 1.0, &numerator, &pull[i]);
                add_scaled(&mut inner[i], b[1 + i], &denominator);
            }
        }
        let mut g = [0.0; 7];
        add_product(&mut g, 1.0, &c, &inner[1]);
        add_product(&mut g, -1.0, &s, &inner[0]);
        (g, if kappa == 0.0 { 4 } else { 6 })
    }
}

/// `p ← p + a x`.
fn add_scaled(p: &mut [f64; 7], a: f64, x: &[f64]) {
    p.iter_mut().zip(x).for_each(|(p, x)| *p += a * x);
}

/// `p ← p + a x y`; what would be of degree 7 or more is zero.
fn add_product(p: &mut [f64; 7], a: f64, x: &[f64], y: &[f64]) {
    for (i, x) in x.iter().enumerate() {
        for (j, y) in y.iter().enumerate() {
            if i + j < p.len() {
                p[i + j] += a * x * y;
            }
        }
    }
}

/// The real roots in `[−1, 1]` and the extrema, where two of them may have met.
fn real_roots(p: &[f64; 7], degree: usize, out: &mut [f64; 13]) -> usize {
    const END: f64 = 1.0 + 1e-6; // a root on the edge belongs to both halves of the circle
    let mut derivatives = [[0.0; 7]; 7];
    derivatives[0] = *p;
    for k in 1..=degree {
        for i in 1..=degree {
            derivatives[k][i - 1] = derivatives[k - 1][i] * i as f64;
        }
    }
    // between two neighbouring roots of the derivative a polynomial is monotone
    let mut separators = [0.0; 8];
    let mut count = 0;
    for k in (0..degree).rev() {
        let p = &derivatives[k];
        let mut roots = [0.0; 8];
        let mut found = 0;
        let mut from = -END;
        for i in 0..=count {
            let to = if i < count { separators[i] } else { END };
            if let Some(root) = root_between(p, degree - k, from, to) {
                roots[found] = root;
                found += 1;
            }
            from = to;
        }
        if k == 0 {
            out[..found].copy_from_slice(&roots[..found]);
            out[found..found + count].copy_from_slice(&separators[..count]);
            return found + count;
        }
        (separators, count) = (roots, found);
    }
    0
}

/// The root of a polynomial that is monotone between two points, if its signs differ there.
fn root_between(p: &[f64; 7], degree: usize, mut from: f64, mut to: f64) -> Option<f64> {
    let at = |t: f64| {
        let (mut value, mut slope) = (0.0, 0.0);
        for i in (0..=degree).rev() {
            slope = slope * t + value;
            value = value * t + p[i];
        }
        (value, slope)
    };
    let (left, right) = (at(from).0, at(to).0);
    if (left > 0.0) == (right > 0.0) || from == to {
        return None;
    }
    let mut t = 0.5 * (from + to);
    for _ in 0..60 {
        let (value, slope) = at(t);
        if (value > 0.0) == (left > 0.0) {
            from = t;
        } else {
            to = t;
        }
        let next = t - value / slope;
        let next = if next > from && next < to { next } else { 0.5 * (from + to) };
        if (next - t).abs() <= 1e-16 {
            return Some(next);
        }
        t = next;
    }
    Some(t)
}

#[inline]
pub(crate) fn unit(d: [f64; 2]) -> Option<[f64; 2]> {
    let length = (d[0] * d[0] + d[1] * d[1]).sqrt();
    (length > 0.0 && length.is_finite()).then(|| [d[0] / length, d[1] / length])
}
