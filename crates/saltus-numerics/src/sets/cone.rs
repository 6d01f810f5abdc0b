//! The cone `K = { x : ‖x_T‖ ≤ μ x_N }`, in any dimension.
//!
//! ```text
//! t = ‖x_T‖      P(x) = 0                         where μ t ≤ −x_N
//!                P(x) = x                         where t ≤ μ x_N
//!                P(x) = n (1, μ x_T/t),  n = (x_N + μ t)/(1 + μ²)   elsewhere               (1)
//! ```

use super::{Place, norm};

/// `x ← P(x)`.
#[inline]
pub(crate) fn project(mu: f64, x: &mut [f64]) -> Place {
    let t = norm(&x[1..]);
    // with μ = 0 or no tangential part the second condition does not imply the first
    if x[0] >= 0.0 && t <= mu * x[0] {
        return Place::Inside;
    }
    if mu * t <= -x[0] {
        x.fill(0.0);
        return Place::Apex;
    }
    let n = (x[0] + mu * t) / (1.0 + mu * mu);
    let scale = if t > 0.0 { mu * n / t } else { 0.0 };
    x[0] = n;
    x[1..].iter_mut().for_each(|x| *x *= scale);
    Place::Surface
}

/// `P′(x)`, row by row. Where `x` is on an edge between two cases of (1), that of one of them.
pub(crate) fn jacobian(mu: f64, x: &[f64], p: &mut [f64]) {
    let (n, t) = (x.len(), norm(&x[1..]));
    p.fill(0.0);
    // with μ = 0 the cone is a ray, and no point has its tangential part inside
    if t < mu * x[0] || (n == 1 && x[0] > 0.0) {
        for i in 0..n {
            p[i * n + i] = 1.0;
        }
        return;
    }
    if mu * t <= -x[0] {
        return;
    }
    // ∂n = (1, μ dᵀ)/(1 + μ²),   ∂(μ n d) = μ d ∂n + μ n/t (I − d dᵀ)
    let scale = 1.0 / (1.0 + mu * mu);
    p[0] = scale;
    if t == 0.0 {
        return;
    }
    let curvature = mu * (x[0] + mu * t) * scale / t;
    for i in 1..n {
        let d_i = x[i] / t;
        p[i] = mu * d_i * scale;
        p[i * n] = mu * d_i * scale;
        for j in 1..n {
            let d_j = x[j] / t;
            p[i * n + j] =
                mu * mu * d_i * d_j * scale + curvature * (f64::from(i == j) - d_i * d_j);
        }
    }
}
