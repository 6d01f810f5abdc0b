//! The cone with rolling resistance, `K = { x : ‖x_T‖ ≤ μ x_N and ‖x_R‖ ≤ μ_r x_N }`.
//!
//! A block is `(N, T, R)` with as many tangential as rolling components. The projection scales
//! the parts that stick out to `μ n` and `μ_r n`, and leaves the others:
//!
//! ```text
//! n = (x_N + μ t [t > μ n] + μ_r s [s > μ_r n]) / (1 + μ² [..] + μ_r² [..])                 (1)
//! ```
//!
//! with `t = ‖x_T‖`, `s = ‖x_R‖`; it is zero where `μ t + μ_r s ≤ −x_N`.

use super::{Place, norm};

/// Which of the two disks the projection lies on, and its normal component.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Projection {
    pub slips: bool,
    pub rolls: bool,
    n: f64,
    apex: bool,
}

impl Projection {
    pub fn place(self) -> Place {
        match (self.apex, self.slips || self.rolls) {
            (true, _) => Place::Apex,
            (false, true) => Place::Surface,
            (false, false) => Place::Inside,
        }
    }
}

/// Equation (1).
fn case(mu: f64, mu_r: f64, x: &[f64]) -> Projection {
    let (tangent, rolling) = x[1..].split_at(x.len() / 2);
    let (t, s) = (norm(tangent), norm(rolling));
    let inside = x[0] >= 0.0 && t <= mu * x[0] && s <= mu_r * x[0];
    if mu * t + mu_r * s <= -x[0] && !inside {
        return Projection { slips: false, rolls: false, n: 0.0, apex: true };
    }
    // n falls short of the truth while a part that sticks out is left out of (1): add the one
    // whose ratio is larger first, then see whether the other still sticks out
    let (mut slips, mut rolls) = (false, false);
    let normal = |slips: bool, rolls: bool| {
        let (a, b) = (f64::from(slips), f64::from(rolls));
        (x[0] + a * mu * t + b * mu_r * s) / (1.0 + a * mu * mu + b * mu_r * mu_r)
    };
    let mut n = x[0];
    for _ in 0..2 {
        let (over_t, over_s) = (t > mu * n && !slips, s > mu_r * n && !rolls);
        match (over_t, over_s) {
            (false, false) => break,
            (true, true) if t * mu_r >= s * mu => slips = true,
            (true, true) => rolls = true,
            (true, false) => slips = true,
            (false, true) => rolls = true,
        }
        n = normal(slips, rolls);
    }
    Projection { slips, rolls, n: n.max(0.0), apex: false }
}

/// `x ← P(x)`.
pub(crate) fn project(mu: f64, mu_r: f64, x: &mut [f64]) -> Projection {
    if x.iter().any(|x| x.is_nan()) {
        x.fill(f64::NAN);
    }
    let case = case(mu, mu_r, x);
    if case.apex {
        x.fill(0.0);
        return case;
    }
    let half = x.len() / 2;
    let (tangent, rolling) = x[1..].split_at_mut(half);
    for (part, radius, out) in
        [(tangent, mu * case.n, case.slips), (rolling, mu_r * case.n, case.rolls)]
    {
        if out {
            let scale = radius / norm(part);
            part.iter_mut().for_each(|x| *x *= scale);
        }
    }
    if case.slips || case.rolls {
        x[0] = case.n;
    }
    case
}

/// `P′(x)`, row by row.
pub(crate) fn jacobian(mu: f64, mu_r: f64, x: &[f64], p: &mut [f64]) {
    let (size, half) = (x.len(), x.len() / 2);
    p.fill(0.0);
    let case = case(mu, mu_r, x);
    if case.apex {
        return;
    }
    let parts = [(1, mu, case.slips), (1 + half, mu_r, case.rolls)];
    let sum: f64 = parts.iter().map(|&(_, mu, out)| if out { mu * mu } else { 0.0 }).sum();
    let scale = 1.0 / (1.0 + sum);
    // ∂n = (1, μ d_Tᵀ [slips], μ_r d_Rᵀ [rolls]) · scale
    let mut dn = [0.0; super::LARGEST_BLOCK];
    dn[0] = scale;
    for &(start, mu, out) in &parts {
        let norm = norm(&x[start..start + half]);
        for i in start..start + half {
            dn[i] = if out { scale * mu * x[i] / norm } else { 0.0 };
        }
    }
    p[..size].copy_from_slice(&dn[..size]);
    for &(start, mu, out) in &parts {
        let norm = norm(&x[start..start + half]);
        for i in start..start + half {
            if !out {
                p[i * size + i] = 1.0;
                continue;
            }
            // ∂(μ n d) = μ d ∂n + μ n/‖x‖ (I − d dᵀ)
            let d_i = x[i] / norm;
            for j in 0..size {
                p[i * size + j] = mu * d_i * dn[j];
            }
            for j in start..start + half {
                let d_j = x[j] / norm;
                p[i * size + j] += mu * case.n / norm * (f64::from(i == j) - d_i * d_j);
            }
        }
    }
}
