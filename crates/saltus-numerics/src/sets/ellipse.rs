//! Von Mises' ellipsoid in plane stress, `K = { x : xᵀ A x ≤ σ² }`.
//!
//! ```text
//! xᵀ A x = x₁² + x₂² − x₁ x₂ + 3 x₃²
//! ```
//!
//! In the axes `a = (x₁ + x₂)/√2`, `b = (x₁ − x₂)/√2`, `c = x₃` this is `a²/2 + 3 b²/2 + 3 c²`,
//! and the projection of a point outside is, with the one positive root `λ`,
//!
//! ```text
//! pᵢ = xᵢ/(1 + λ αᵢ),     Σ αᵢ pᵢ² = σ²,     α = (1/2, 3/2, 3)                              (1)
//! ```

use super::Place;

const ALPHA: [f64; 3] = [0.5, 1.5, 3.0];

/// `A`, row by row.
pub(crate) const MATRIX: [f64; 9] = [1.0, -0.5, 0.0, -0.5, 1.0, 0.0, 0.0, 0.0, 3.0];

/// `A x`.
#[inline]
pub(crate) fn normal(x: &[f64; 3]) -> [f64; 3] {
    [x[0] - 0.5 * x[1], x[1] - 0.5 * x[0], 3.0 * x[2]]
}

/// To the axes of the ellipsoid, and back: the change is its own inverse.
#[inline]
fn axes(x: &[f64]) -> [f64; 3] {
    let s = std::f64::consts::FRAC_1_SQRT_2;
    [s * (x[0] + x[1]), s * (x[0] - x[1]), x[2]]
}

/// `λ` of (1), zero inside. The sum falls and is convex in `λ`, so Newton's method from the left
/// climbs to the root.
fn multiplier(sigma: f64, a: &[f64; 3]) -> f64 {
    let sum = |lambda: f64| {
        let (mut value, mut slope) = (-sigma * sigma, 0.0);
        for i in 0..3 {
            let scale = 1.0 / (1.0 + lambda * ALPHA[i]);
            let term = ALPHA[i] * (a[i] * scale).powi(2);
            value += term;
            slope -= 2.0 * term * ALPHA[i] * scale;
        }
        (value, slope)
    };
    let mut lambda = 0.0;
    for _ in 0..200 {
        let (value, slope) = sum(lambda);
        if !(value > 0.0) {
            break;
        }
        let next = lambda - value / slope;
        if next <= lambda {
            break;
        }
        lambda = next;
    }
    lambda
}

/// `x ← P(x)`.
pub(crate) fn project(sigma: f64, x: &mut [f64]) -> Place {
    let a = axes(x);
    if ALPHA.iter().zip(&a).map(|(alpha, a)| alpha * a * a).sum::<f64>() <= sigma * sigma {
        return Place::Inside;
    }
    if sigma == 0.0 {
        x.iter_mut().for_each(|x| *x *= 0.0); // a NaN stays one
        return Place::Surface;
    }
    let lambda = multiplier(sigma, &a);
    let p = [0, 1, 2].map(|i| a[i] / (1.0 + lambda * ALPHA[i]));
    x.copy_from_slice(&axes(&p));
    Place::Surface
}

/// `P′(x)`, row by row: with `D = (I + λ A)⁻¹` and `n = A p`, `D − D n nᵀ D / (nᵀ D n)`.
pub(crate) fn jacobian(sigma: f64, x: &[f64], p: &mut [f64]) {
    let a = axes(x);
    p.fill(0.0);
    if ALPHA.iter().zip(&a).map(|(alpha, a)| alpha * a * a).sum::<f64>() <= sigma * sigma {
        (p[0], p[4], p[8]) = (1.0, 1.0, 1.0);
        return;
    }
    if sigma == 0.0 {
        return;
    }
    let lambda = multiplier(sigma, &a);
    let d = ALPHA.map(|alpha| 1.0 / (1.0 + lambda * alpha));
    let dn = [0, 1, 2].map(|i| d[i] * ALPHA[i] * d[i] * a[i]); // D A p
    let scale = 1.0 / (0..3).map(|i| ALPHA[i] * d[i] * a[i] * dn[i]).sum::<f64>();
    // rows in the axes, then both sides turned back
    for j in 0..3 {
        let mut unit = [0.0; 3];
        unit[j] = 1.0;
        let e = axes(&unit);
        let along: f64 = (0..3).map(|i| dn[i] * e[i]).sum();
        let column = axes(&[0, 1, 2].map(|i| d[i] * e[i] - scale * dn[i] * along));
        for i in 0..3 {
            p[i * 3 + j] = column[i];
        }
    }
}
