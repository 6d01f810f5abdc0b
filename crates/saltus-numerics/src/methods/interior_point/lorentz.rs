//! The Jordan algebra of the Lorentz cone, and the scaling of Nesterov and Todd.
//!
//! ```text
//! L = { x : ‖x_T‖ ≤ x_N },      x ∘ y = (xᵀ y,  x_N y_T + y_N x_T),      det x = x_N² − ‖x_T‖²
//! ```
//!
//! A cone of one component is the half-line, for which all of this is right too. With
//! `x̄ = x / √det x`, `ȳ` likewise and `J = diag(1, −1, …)`
//!
//! ```text
//! γ² = (1 + x̄ᵀ ȳ) / 2,      v = (x̄ + J ȳ) / (2 γ),      η⁴ = det x / det y                    (1)
//! N = η [ v_N  v_Tᵀ;  v_T  I + v_T v_Tᵀ / (1 + v_N) ],      N y = N⁻¹ x                        (2)
//! N⁻² = η⁻² (2 (J v) (J v)ᵀ − J)                                                               (3)
//! ```

use crate::sets::norm;

/// `det x`, without cancellation beyond that of `x_N − ‖x_T‖`.
#[inline]
pub fn det(x: &[f64]) -> f64 {
    let t = norm(&x[1..]);
    (x[0] - t) * (x[0] + t)
}

#[inline]
fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Equation (1): leaves `v`, and returns `η`.
#[inline]
pub fn scaling(x: &[f64], y: &[f64], v: &mut [f64]) -> f64 {
    let (a, b) = (det(x).sqrt(), det(y).sqrt());
    let gamma = (0.5 * (1.0 + dot(x, y) / (a * b))).sqrt();
    let (p, q) = (0.5 / (gamma * a), 0.5 / (gamma * b));
    v[0] = p * x[0] + q * y[0];
    for i in 1..x.len() {
        v[i] = p * x[i] - q * y[i];
    }
    // √(v_N² − ‖v_T‖²) = 1 to the last bit that matters
    v[0] = (1.0 + dot(&v[1..], &v[1..])).sqrt();
    (a / b).sqrt()
}

/// `u ← N u`.
#[inline]
pub fn scale(eta: f64, v: &[f64], u: &mut [f64]) {
    apply(eta, 1.0, v, u);
}

/// `u ← N⁻¹ u`.
#[inline]
pub fn unscale(eta: f64, v: &[f64], u: &mut [f64]) {
    apply(1.0 / eta, -1.0, v, u);
}

#[inline]
fn apply(eta: f64, sign: f64, v: &[f64], u: &mut [f64]) {
    let along = sign * dot(&v[1..], &u[1..]);
    let share = eta * sign * (u[0] + along / (1.0 + v[0]));
    u[0] = eta * (v[0] * u[0] + along);
    for i in 1..u.len() {
        u[i] = eta * u[i] + share * v[i];
    }
}

/// Entry `(i, j)` of `N⁻²`, equation (3).
#[inline]
pub fn inverse_square(eta: f64, v: &[f64], i: usize, j: usize) -> f64 {
    let sign = |k: usize| if k == 0 { 1.0 } else { -1.0 };
    let rank_one = 2.0 * sign(i) * sign(j) * v[i] * v[j];
    (rank_one - if i == j { sign(i) } else { 0.0 }) / (eta * eta)
}

/// `u ← x ∘ u`.
#[inline]
pub fn product(x: &[f64], u: &mut [f64]) {
    let (first, normal) = (dot(x, u), u[0]);
    for i in 1..u.len() {
        u[i] = x[0] * u[i] + normal * x[i];
    }
    u[0] = first;
}

/// `u ← x \ u`, the solution of `x ∘ v = u`.
#[inline]
pub fn divide(x: &[f64], u: &mut [f64]) {
    let normal = (x[0] * u[0] - dot(&x[1..], &u[1..])) / det(x);
    for i in 1..u.len() {
        u[i] = (u[i] - normal * x[i]) / x[0];
    }
    u[0] = normal;
}

/// The largest `α` with `x + α d` in the cone, for `x` inside; ∞ if there is none.
#[inline]
pub fn length(x: &[f64], d: &[f64]) -> f64 {
    // det(x + α d) = a α² + 2 b α + c with c > 0: its smallest positive root
    let t = norm(&d[1..]);
    let (a, c) = ((d[0] - t) * (d[0] + t), det(x));
    let b = x[0] * d[0] - dot(&x[1..], &d[1..]);
    let discriminant = b * b - a * c;
    if d[0] >= t {
        f64::INFINITY
    } else if x.len() == 1 {
        -x[0] / d[0]
    } else if discriminant <= 0.0 {
        // only round-off, or a double root: a = 0 = b cannot be with d outside the cone
        if b < 0.0 { -c / b } else { f64::INFINITY }
    } else {
        let root = discriminant.sqrt();
        if b < 0.0 {
            c / (root - b)
        } else if a < 0.0 {
            (b + root) / -a
        } else {
            f64::INFINITY
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scaled_points_coincide() {
        for (x, y) in [
            (vec![2.0, 1.0, -0.5], vec![3.0, -1.0, 2.0]),
            (vec![1.0, 0.999], vec![1e-3, -0.9e-3]),
            (vec![5.0], vec![0.1]),
        ] {
            let mut v = vec![0.0; x.len()];
            let eta = scaling(&x, &y, &mut v);
            let (mut a, mut b) = (x.clone(), y.clone());
            unscale(eta, &v, &mut a);
            scale(eta, &v, &mut b);
            let mut back = a.clone();
            divide(&a, &mut back);
            for i in 0..x.len() {
                assert!((a[i] - b[i]).abs() < 1e-12 * a[0], "{a:?} {b:?}");
                // N⁻² x = y
                let y_i: f64 = (0..x.len()).map(|j| inverse_square(eta, &v, i, j) * x[j]).sum();
                assert!((y_i - y[i]).abs() < 1e-12 * y[0].max(1.0), "{y_i} {}", y[i]);
                // λ \ λ = e
                assert!((back[i] - f64::from(i == 0)).abs() < 1e-12);
            }
            product(&a, &mut back);
            assert!((back[0] - a[0]).abs() < 1e-12 * a[0]);
        }
    }

    #[test]
    fn the_longest_step_ends_on_the_surface() {
        let x = [2.0, 0.5, 0.1];
        for d in [[-1.0, 0.0, 0.0], [-1.0, 3.0, 1.0], [0.2, -1.0, 4.0], [-4.0, -1.0, 0.1]] {
            let alpha = length(&x, &d);
            let end: Vec<f64> = x.iter().zip(&d).map(|(x, d)| x + alpha * d).collect();
            assert!(alpha > 0.0 && end[0] >= -1e-12 && det(&end).abs() < 1e-12, "{end:?}");
        }
        assert_eq!(length(&x, &[1.0, 0.5, 0.5]), f64::INFINITY);
        assert_eq!(length(&[3.0], &[-2.0]), 1.5);
    }
}
