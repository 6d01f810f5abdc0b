//! The scheme of Bilbao for modes: the free vibration is exact.
//!
//! For a mode `m v̇ + c v + k q = F`, with `2 σ = c/m`, `ω² = k/m`, the exact motion obeys
//! `q⁺ = A q − e q⁻` from step to step, `e = e^{−2σh}`. With `v = (q − q⁻)/h`, the mean velocity of
//! the last step, that is
//!
//! ```text
//! W (v⁺ − v) = −(1 − e) W v − h k q + h F + Hᵀ λ,    q⁺ = q + h v⁺                     (1)
//! W = m φ(a) φ(b),    φ(x) = x/(1 − e^{−x}),    a, b = (σ ∓ √(σ² − ω²)) h               (2)
//! ```
//!
//! `a` and `b` may be complex; `φ(a) φ(b) = ω² h²/|1 − e^{−a}|²` then. Forces are those at the
//! beginning of the step. The first step knows the velocity `v` itself, and takes the mean that
//! the exact motion has:
//!
//! ```text
//! (q⁺ − q)/h = g v + G (F − k q)/m    without contact                                  (3)
//! ```
//!
//! Reference: Bilbao, Torin, Chatziioannou 2015.

use super::assembly::factor;
use crate::SimError;
use saltus_linalg::{DenseLu, Matrix, exponential};

/// (1) and (3) for the modes of one system.
pub(super) struct Modes {
    pub W: DenseLu,
    /// `−(1 − e) W`.
    pub by_v: Matrix,
    /// `g` of (3).
    pub start_v: Vec<f64>,
    /// `G/m` of (3).
    pub start_F: Vec<f64>,
}

impl Modes {
    /// The matrices `M`, `C`, `K` must be diagonal.
    pub fn new(name: &str, h: f64, M: &Matrix, C: &Matrix, K: &Matrix) -> Result<Modes, SimError> {
        for (what, matrix) in [("M", M), ("C", C), ("K", K)] {
            let n = matrix.rows();
            let off = |k: usize| k / n != k % n && matrix[(k / n, k % n)] != 0.0;
            if (0..n * n).any(off) {
                let (integrator, owner) = ("moreau-jean-bilbao", format!("`{name}`"));
                return Err(SimError::Unsuited { integrator, owner, what, needs: "diagonal" });
            }
        }
        let n = M.rows();
        let (mut W, mut by_v) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
        let (mut start_v, mut start_F) = (vec![0.0; n], vec![0.0; n]);
        for i in 0..n {
            let m = M[(i, i)];
            let (sigma, omega2) = (0.5 * C[(i, i)] / m, K[(i, i)] / m);
            W[(i, i)] = m * inertia(sigma * h, omega2 * h * h);
            by_v[(i, i)] = (-2.0 * sigma * h).exp_m1() * W[(i, i)];
            // the motion from rest under a unit velocity, and under a unit force; velocities in the
            // unit `s`, in which those of a fast mode are as large as its positions
            let s = omega2.sqrt().max(1.0 / h);
            let motion = Matrix::from([
                [0.0, s * h, 0.0],
                [-omega2 * h / s, -2.0 * sigma * h, h / s],
                [0.0, 0.0, 0.0],
            ]);
            let E = exponential(&motion).map_err(|source| SimError::Iteration {
                system: name.to_string(),
                matrix: "the motion of a mode",
                h,
                source,
            })?;
            start_v[i] = E[(0, 1)] / (s * h);
            start_F[i] = E[(0, 2)] / (h * m);
        }
        Ok(Modes { W: factor(name, "W", h, &W)?, by_v, start_v, start_F })
    }
}

/// Equation (2) for a unit mass, from `σ h` and `ω² h²`.
fn inertia(sigma: f64, omega2: f64) -> f64 {
    let square = sigma * sigma - omega2;
    if square >= 0.0 {
        // the smaller root without cancellation
        let large = sigma + square.sqrt();
        let small = if large > 0.0 { omega2 / large } else { 0.0 };
        return phi(small) * phi(large);
    }
    let (turn, decay) = ((-square).sqrt(), (-sigma).exp());
    let half = (0.5 * turn).sin();
    let distance = (-sigma).exp_m1().powi(2) + 4.0 * decay * half * half;
    omega2 / distance
}

/// `x/(1 − e^{−x})`.
fn phi(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { -x / (-x).exp_m1() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `q⁺ = A q − e q⁻` holds for the exact motion, however it is damped.
    #[test]
    fn the_recurrence_is_exact() {
        for (sigma, omega) in
            [(0.0, 0.3), (0.0, 2.9), (0.1, 2.0), (2.0, 0.5), (1.0, 1.0), (0.7, 0.0)]
        {
            let W = inertia(sigma, omega * omega);
            let (s, e) = (sigma * sigma - omega * omega, (-2.0 * sigma).exp());
            let A = match s {
                s if s >= 0.0 => 2.0 * f64::exp(-sigma) * f64::sqrt(s).cosh(),
                s => 2.0 * f64::exp(-sigma) * f64::sqrt(-s).cos(),
            };
            // v⁺ = e v − ω²/W q  and  q⁺ = q + v⁺
            assert!((1.0 + e - omega * omega / W - A).abs() < 1e-14, "{sigma} {omega}");
        }
        assert_eq!(inertia(0.0, 0.0), 1.0);
    }
}
