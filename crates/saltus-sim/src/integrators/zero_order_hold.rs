//! The zero-order hold: exact for linear first-order systems while forcing and multiplier are
//! constant.
//!
//! `M ẋ = A x + b + B λ`, with `b` held from the beginning of the step on and `λ` that of its end:
//!
//! ```text
//! x⁺ = e^{M⁻¹A h} x + Φ M⁻¹ (b + B λ⁺),    Φ = ∫₀ʰ e^{M⁻¹A s} ds                        (1)
//! ```
//!
//! Both come from one exponential, here of `N = A M⁻¹`, for which `e^{M⁻¹A h} = M⁻¹ e^{N h} M`
//! and `Φ M⁻¹ = M⁻¹ ∫₀ʰ e^{N s} ds`:
//!
//! ```text
//! exp [N h, h I; 0, 0] = [e^{N h}, ∫₀ʰ e^{N s} ds; 0, I]                               (2)
//! ```
//!
//! `M` must have an inverse. `A` may change with time; it is then held likewise.

use super::assembly::factor;
use super::euler_moreau::Weights;
use crate::SimError;
use saltus_linalg::{Matrix, exponential};

/// Equations (1) and (2) for one system.
pub(super) fn weights(name: &str, h: f64, M: &Matrix, A: &Matrix) -> Result<Weights, SimError> {
    let n = M.rows();
    let mut W = factor(name, "M", h, M)?;
    let N = A.mul(&W.solve_matrix(&Matrix::identity(n)));
    let mut block = Matrix::zeros(2 * n, 2 * n);
    for i in 0..n {
        for j in 0..n {
            block[(i, j)] = h * N[(i, j)];
        }
        block[(i, n + i)] = h;
    }
    let E = exponential(&block).map_err(|source| SimError::Iteration {
        system: name.to_string(),
        matrix: "e^(h A M⁻¹)",
        h,
        source,
    })?;
    let (mut turn, mut hold) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
    for i in 0..n {
        for j in 0..n {
            turn[(i, j)] = E[(i, j)];
            hold[(i, j)] = E[(i, n + j)];
        }
    }
    let none = || Matrix::zeros(n, n);
    let (state, forcing, input) = (turn.mul(M), [hold.clone(), none()], [none(), hold]);
    Ok(Weights { W, state, forcing, input })
}
