//! One block whose set is a cone of more than three components, `K = { z : ‖z_T‖ ≤ μ z_N }`.
//!
//! ```text
//! take-off    z = 0                       where b is in the dual cone
//! stick       W z = −b                    where that is in the cone
//! surface     (W − τ J) z = −b,   zᵀ J z = 0,   J = diag(μ², −1, …, −1),   τ ≥ 0             (1)
//! ```
//!
//! Newton's method on (1) starts from the guess, from the projections of what would stick and of
//! `−b`, and at last from bisection: for a given `z_N = r` the tangential part solves a problem on a ball,
//!
//! ```text
//! (W_TT + ν I) z_T = −(b_T + r W_TN),   ‖z_T‖ = μ r,     F(r) = w_N − μ ‖w_T‖,   w_T = −ν z_T   (2)
//! ```
//!
//! whose length falls with `ν`, and `F` rises with `r`, for every positive definite `W`.

use super::block::{eliminate, ray};
use super::{LARGEST_BLOCK, norm};

const SMALL: usize = (LARGEST_BLOCK + 1) * (LARGEST_BLOCK + 1) + 3 * (LARGEST_BLOCK + 1);

/// Solves from the guess in `z`; whether there is an answer.
pub(crate) fn long_cone(mu: f64, W: &[f64], b: &[f64], z: &mut [f64]) -> bool {
    if b[0] >= mu * norm(&b[1..]) {
        z.fill(0.0);
        return true;
    }
    if mu == 0.0 {
        return ray(W[0], b[0], z);
    }
    let n = z.len();
    let (mut stack, mut heap);
    let buffer: &mut [f64] = if n <= LARGEST_BLOCK {
        stack = [0.0; SMALL];
        &mut stack
    } else {
        heap = vec![0.0; (n + 1) * (n + 1) + 3 * (n + 1)];
        &mut heap
    };
    let (A, vectors) = buffer.split_at_mut((n + 1) * (n + 1));
    let (x, vectors) = vectors.split_at_mut(n + 1);
    let (d, y) = vectors.split_at_mut(n + 1);
    let mut surface = Surface { mu, W, b, n, A, x, d, y: &mut y[..n] };

    let regular = surface.stick();
    if regular && norm(&surface.y[1..]) <= mu * surface.y[0] {
        z.copy_from_slice(surface.y);
        return true;
    }
    // x holds the point to start from
    surface.x[..n].copy_from_slice(z);
    if surface.newton() {
        z.copy_from_slice(&surface.x[..n]);
        return true;
    }
    if regular {
        let Surface { x, y, .. } = &mut surface;
        x[..n].copy_from_slice(y);
        if surface.newton() {
            z.copy_from_slice(&surface.x[..n]);
            return true;
        }
    }
    // one step of projection from the apex
    surface.x[..n].iter_mut().zip(b).for_each(|(x, b)| *x = -b);
    let found = surface.newton() || (surface.bisect() && surface.newton());
    if found {
        z.copy_from_slice(&surface.x[..n]);
    }
    found
}

struct Surface<'a> {
    mu: f64,
    W: &'a [f64],
    b: &'a [f64],
    n: usize,
    A: &'a mut [f64],
    x: &'a mut [f64], // z and τ
    d: &'a mut [f64],
    y: &'a mut [f64],
}

impl Surface<'_> {
    /// `y ← −W⁻¹ b`, whether that is an answer to round-off.
    fn stick(&mut self) -> bool {
        let n = self.n;
        self.A[..n * n].copy_from_slice(self.W);
        self.y.iter_mut().zip(self.b).for_each(|(y, b)| *y = -b);
        eliminate(self.A, self.y, n)
    }

    /// Newton's method on (1) from the point in `x`, brought to the surface.
    fn newton(&mut self) -> bool {
        let (n, mu) = (self.n, self.mu);
        let J = |i: usize| if i == 0 { mu * mu } else { -1.0 };
        let length = norm(&self.x[1..n]);
        let normal = (self.x[0] + mu * length) / (1.0 + mu * mu);
        if !(normal > 0.0 && length > 0.0) {
            return false;
        }
        self.x[0] = normal;
        self.x[1..n].iter_mut().for_each(|x| *x *= mu * normal / length);
        // the τ that fits best: w = τ J z
        let (mut along, mut square) = (0.0, 0.0);
        for i in 0..n {
            let w = self.b[i] + product(self.W, self.x, n, i);
            along += w * J(i) * self.x[i];
            square += (J(i) * self.x[i]).powi(2);
        }
        self.x[n] = (along / square).max(0.0);

        let mut least = f64::INFINITY;
        let m = n + 1;
        for round in 0..30 {
            let tau = self.x[n];
            let (mut defect, mut terms, mut form) = (0.0, 0.0, 0.0);
            for i in 0..n {
                let flow = tau * J(i) * self.x[i];
                let f = self.b[i] + product(self.W, self.x, n, i) - flow;
                self.d[i] = -f;
                defect += f.abs();
                terms += self.b[i].abs() + flow.abs();
                for j in 0..n {
                    self.A[i * m + j] = self.W[i * n + j];
                    terms += (self.W[i * n + j] * self.x[j]).abs();
                }
                self.A[i * m + i] -= tau * J(i);
                self.A[i * m + n] = -J(i) * self.x[i];
                self.A[n * m + i] = J(i) * self.x[i];
                form += J(i) * self.x[i] * self.x[i];
            }
            self.A[n * m + n] = 0.0;
            self.d[n] = -0.5 * form;
            let size = (mu * self.x[0]).powi(2);
            let error = (defect / terms).max(form.abs() / size);
            if error <= 4e-16 || (error <= 1e-14 && error >= least) {
                let right = self.x[0] > 0.0 && tau >= -1e-14 * terms / norm(&self.x[..n]);
                return right;
            }
            if !error.is_finite() || (round > 12 && error > 0.5 * least) {
                return false;
            }
            least = least.min(error);
            if !eliminate(self.A, self.d, m) {
                return false;
            }
            // not through the apex
            let mut scale = 1.0;
            if self.d[0] < -0.8 * self.x[0] {
                scale = -0.8 * self.x[0] / self.d[0];
            }
            for i in 0..m {
                self.x[i] += scale * self.d[i];
            }
        }
        false
    }

    /// Equation (2): the ball for `r`, its `ν` between the bounds kept from call to call; leaves
    /// `z_T` in `x` and returns `F(r)`.
    fn ball(&mut self, r: f64) -> Option<f64> {
        let (n, radius) = (self.n, self.mu * r);
        let t = n - 1;
        let solve = |this: &mut Self, nu: f64| {
            for i in 0..t {
                for j in 0..t {
                    this.A[i * t + j] = this.W[(i + 1) * n + j + 1] + nu * f64::from(i == j);
                }
                this.x[i + 1] = -(this.b[i + 1] + r * this.W[(i + 1) * n]);
            }
            eliminate(this.A, &mut this.x[1..n], t).then(|| norm(&this.x[1..n]))
        };
        let mut nu = 0.0;
        let inside = solve(self, 0.0).is_some_and(|length| length <= radius);
        if !inside {
            // ν ‖z_T‖² ≤ −z_T · c
            let force: f64 = (1..n).map(|i| (self.b[i] + r * self.W[i * n]).powi(2)).sum();
            let (mut low, mut high) = (0.0, 2.0 * force.sqrt() / radius);
            for _ in 0..60 {
                nu = if low > 1e-3 * high {
                    0.5 * (low + high)
                } else {
                    (low * high).sqrt().max(1e-5 * high)
                };
                if solve(self, nu)? > radius {
                    low = nu
                } else {
                    high = nu
                }
                if high - low <= 1e-12 * high {
                    break;
                }
            }
        }
        self.x[0] = r;
        let w = self.b[0] + product(self.W, self.x, n, 0);
        Some(w - self.mu * nu * norm(&self.x[1..n]))
    }

    /// The root of `F`, to some ten digits.
    #[cold]
    fn bisect(&mut self) -> bool {
        let scale = norm(self.b) / norm(self.W);
        if !(scale > 0.0 && scale.is_finite()) {
            return false;
        }
        let (mut low, mut high) = (0.0, scale);
        for _ in 0..200 {
            match self.ball(high) {
                Some(F) if F < 0.0 => (low, high) = (high, 8.0 * high),
                Some(_) => break,
                None => return false,
            }
        }
        for _ in 0..80 {
            let r = if low > 1e-2 * high {
                0.5 * (low + high)
            } else {
                (low * high).sqrt().max(1e-4 * high)
            };
            match self.ball(r) {
                Some(F) if F < 0.0 => low = r,
                Some(_) => high = r,
                None => return false,
            }
            if high - low <= 1e-11 * high {
                break;
            }
        }
        true
    }
}

/// `(W x)ᵢ`.
fn product(W: &[f64], x: &[f64], n: usize, i: usize) -> f64 {
    W[i * n..][..n].iter().zip(x).map(|(a, x)| a * x).sum()
}
