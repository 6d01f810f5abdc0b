//! The function of Fischer and Burmeister: for an unknown with bounds, and for cones.
//!
//! ```text
//! φ(a, b) = a + b − √(a² + b²)          zero just where 0 ≤ a ⟂ b ≥ 0                      (1)
//!
//! f = w                                 free
//! f = φ(z − l, w)                       bounded below
//! f = −φ(u − z, −w)                     bounded above
//! f = φ(z − l, −φ(u − z, −w))           both (Billups)
//! f = z − l                             fixed                                             (2)
//! ```
//!
//! For the cone `‖z_T‖ ≤ μ z_N` the same in the Jordan algebra of the Lorentz cone, with the
//! product `x∘y = (xᵀy, x₀ y₁ + y₀ x₁)`, after a change of units that makes the cone and its dual
//! the Lorentz cone:
//!
//! ```text
//! x = (z_N, z_T/μ),     y = ρ (w_N + φ(w), μ w_T)
//! f = x + y − s,        s = (x∘x + y∘y)^½                                                 (3)
//! ```
//!
//! It is zero just where `x` and `y` are in the Lorentz cone and `xᵀy = 0`, which is the law. With
//! `u = (x₀ x₁ + y₀ y₁) / ‖x₀ x₁ + y₀ y₁‖` the eigenvalues of `s` are sums of squares, without cancellation:
//!
//! ```text
//! λ∓ = √(‖x₁ ∓ x₀ u‖² + ‖y₁ ∓ y₀ u‖²),     s = ½ (λ₊ + λ₋, (λ₊ − λ₋) u)                   (4)
//! ∂f/∂x = I − L_s⁻¹ L_x,     L_x = x∘,     likewise for y                                  (5)
//! ```
//!
//! and the eigenvectors of `L_s` are `(1, ±u)` for `λ±` and `(0, t)`, `t ⟂ u`, for `s₀`. Where `λ₋ = 0`, (3)
//! has a kink, and (5) is its limit along `x + εe`, `y + εe`: an element of the generalized Jacobian.
//! References: Fukushima, Luo, Tseng, *SIAM J. Optim.* 12 (2002) 436–460; Chen, Tseng, *Math. Program.*
//! 104 (2005) 293–327.

use super::{Set, norm};
use std::f64::consts::FRAC_1_SQRT_2;

/// Least eigenvalue of `x + y + s` as a share of its largest, and of that of `s`, above which `f` is computed from
/// `x∘y`: where `x + y = −s` but for round-off, that would be divided by nothing but round-off.
const REGULAR: f64 = 0.05;

/// Equation (2) for one unknown: `f` and its slopes in `z` and `w`.
pub(crate) fn law(z: f64, w: f64, lower: f64, upper: f64) -> (f64, f64, f64) {
    match (lower.is_finite(), upper.is_finite()) {
        (false, false) => (w, 0.0, 1.0),
        (true, true) if lower == upper => (z - lower, 1.0, 0.0),
        (true, false) => phi(z - lower, w),
        (false, true) => {
            let (phi, a, b) = phi(upper - z, -w);
            (-phi, a, b)
        }
        (true, true) => {
            let (inner, inner_a, inner_b) = phi(upper - z, -w);
            let (phi, a, b) = phi(z - lower, -inner);
            (phi, a + b * inner_a, b * inner_b)
        }
    }
}

/// Equation (1) and an element of its generalized gradient.
fn phi(a: f64, b: f64) -> (f64, f64, f64) {
    let root = a.hypot(b);
    if root == 0.0 {
        let corner = 1.0 - FRAC_1_SQRT_2;
        return (0.0, corner, corner);
    }
    // the sum without cancellation: (a + b)² − (a² + b²) = 2 a b
    let phi = if a + b > 0.0 { 2.0 * a * (b / (a + b + root)) } else { a + b - root };
    (phi, 1.0 - a / root, 1.0 - b / root)
}

/// The aperture of a set that is a cone with one disk.
pub(crate) fn aperture(set: &Set) -> Option<f64> {
    match *set {
        Set::Coulomb2 { mu } | Set::Coulomb3 { mu } | Set::SecondOrder { mu } => Some(mu),
        Set::DruckerPrager { eta, .. } => Some(eta),
        _ => None,
    }
}

/// The value of (2) or (3); false for a set that has neither.
pub(crate) fn value(set: &Set, rho: f64, z: &[f64], w: &[f64], f: &mut [f64]) -> bool {
    if let Some((lower, upper)) = set.bounds() {
        for i in 0..z.len() {
            f[i] = law(z[i], rho * w[i], lower, upper).0;
        }
        return true;
    }
    let Some(mu) = aperture(set) else { return false };
    let shift = set.shift(w);
    if mu == 0.0 || z.len() == 1 {
        f.copy_from_slice(z);
        f[0] = phi(z[0], rho * (w[0] + shift)).0;
    } else {
        Pair { z, w, mu, rho, shift }.value(f);
    }
    true
}

/// The value of (2) or (3) and its generalized Jacobians, row by row; false for a set that has neither.
pub(crate) fn function(
    set: &Set,
    rho: f64,
    z: &[f64],
    w: &[f64],
    f: &mut [f64],
    dz: &mut [f64],
    dw: &mut [f64],
) -> bool {
    let n = z.len();
    if let Some((lower, upper)) = set.bounds() {
        dz.fill(0.0);
        dw.fill(0.0);
        for i in 0..n {
            let (value, a, b) = law(z[i], rho * w[i], lower, upper);
            (f[i], dz[i * n + i], dw[i * n + i]) = (value, a, rho * b);
        }
        return true;
    }
    let Some(mu) = aperture(set) else { return false };
    let shift = set.shift(w);
    // of the normal part of y in w_j
    let along = |j: usize| rho * (f64::from(j == 0) + set.shift_derivative(w, j));
    if mu == 0.0 || n == 1 {
        // a ray: no tangential part
        f.copy_from_slice(z);
        dz.fill(0.0);
        dw.fill(0.0);
        let (value, a, b) = phi(z[0], rho * (w[0] + shift));
        (f[0], dz[0]) = (value, a);
        for j in 0..n {
            dw[j] = b * along(j);
        }
        (1..n).for_each(|i| dz[i * n + i] = 1.0);
        return true;
    }
    let pair = Pair { z, w, mu, rho, shift };
    let roots = pair.roots(f);
    pair.jacobian(roots, &f[1..], |i| pair.x(i), dz);
    pair.jacobian(roots, &f[1..], |i| pair.y(i), dw);
    for i in 0..n {
        dz[i * n + 1..(i + 1) * n].iter_mut().for_each(|d| *d /= mu);
        let normal = dw[i * n];
        dw[i * n] = 0.0;
        for j in 0..n {
            dw[i * n + j] = rho * mu * dw[i * n + j] + normal * along(j);
        }
    }
    pair.value(f);
    true
}

/// The pair (3) of one block.
#[derive(Clone, Copy)]
struct Pair<'a> {
    z: &'a [f64],
    w: &'a [f64],
    mu: f64,
    rho: f64,
    shift: f64,
}

impl Pair<'_> {
    #[inline]
    fn x(&self, i: usize) -> f64 {
        if i == 0 { self.z[0] } else { self.z[i] / self.mu }
    }

    #[inline]
    fn y(&self, i: usize) -> f64 {
        let y = if i == 0 { self.w[0] + self.shift } else { self.mu * self.w[i] };
        self.rho * y
    }

    /// `λ₋` and `λ₊` of (4); leaves `u` behind the first component of `u`.
    fn roots(&self, u: &mut [f64]) -> (f64, f64) {
        let (n, x_0, y_0) = (self.z.len(), self.x(0), self.y(0));
        for i in 1..n {
            u[i] = x_0 * self.x(i) + y_0 * self.y(i);
        }
        let length = norm(&u[1..]);
        if length > 0.0 {
            u[1..].iter_mut().for_each(|u| *u /= length);
        } else {
            // any direction will do, unless there is a NaN
            u[1..].iter_mut().for_each(|u| *u *= 0.0);
            u[1] += 1.0;
        }
        let (mut lower, mut upper) = (0.0, 0.0);
        for i in 1..n {
            let (x, y) = (self.x(i), self.y(i));
            lower += (x - x_0 * u[i]).powi(2) + (y - y_0 * u[i]).powi(2);
            upper += (x + x_0 * u[i]).powi(2) + (y + y_0 * u[i]).powi(2);
        }
        (lower.sqrt(), upper.sqrt())
    }

    /// Equation (3).
    fn value(&self, f: &mut [f64]) {
        let (n, x_0, y_0) = (self.z.len(), self.x(0), self.y(0));
        let (lower, upper) = self.roots(f);
        let (s_0, slope) = (0.5 * (upper + lower), 0.5 * (upper - lower));
        // (x + y)² − s² = 2 x∘y, so with t = x + y + s: f = L_t⁻¹ (2 x∘y), without cancellation
        let t_0 = x_0 + y_0 + s_0;
        let product = |i: usize| 2.0 * (x_0 * self.y(i) + y_0 * self.x(i));
        let (mut length, mut along, mut first) = (0.0, 0.0, x_0 * y_0);
        for i in 1..n {
            let t = self.x(i) + self.y(i) + slope * f[i];
            length += t * t;
            along += t * product(i);
            first += self.x(i) * self.y(i);
        }
        let length = length.sqrt();
        let largest = if t_0 + length > upper { t_0 + length } else { upper };
        if t_0 - length > REGULAR * largest {
            let normal = (2.0 * t_0 * first - along) / ((t_0 - length) * (t_0 + length));
            f[0] = normal;
            for i in 1..n {
                let t = self.x(i) + self.y(i) + slope * f[i];
                f[i] = (product(i) - normal * t) / t_0;
            }
        } else {
            f[0] = x_0 + y_0 - s_0;
            for i in 1..n {
                f[i] = self.x(i) + self.y(i) - slope * f[i];
            }
        }
    }

    /// Equation (5) for one of the two, `a`, row by row.
    fn jacobian(
        &self,
        (lower, upper): (f64, f64),
        u: &[f64],
        a: impl Fn(usize) -> f64,
        d: &mut [f64],
    ) {
        let n = self.z.len();
        if upper == 0.0 {
            // all is zero: L_s = √2 L_x along x = y = ε e
            d.fill(0.0);
            (0..n).for_each(|i| d[i * n + i] = 1.0 - FRAC_1_SQRT_2);
            return;
        }
        let (a_0, s_0) = (a(0), 0.5 * (upper + lower));
        // (1, ∓u)ᵀ L_a / λ∓ = (∓u·e, e),   e = (a₁ ∓ a₀ u) / λ∓
        let below = |j: usize| {
            if lower > 0.0 { (a(j) - a_0 * u[j - 1]) / lower } else { -FRAC_1_SQRT_2 * u[j - 1] }
        };
        let above = |j: usize| (a(j) + a_0 * u[j - 1]) / upper;
        let (mut u_below, mut u_above, mut u_a) = (0.0, 0.0, 0.0);
        for j in 1..n {
            u_below += u[j - 1] * below(j);
            u_above += u[j - 1] * above(j);
            u_a += u[j - 1] * a(j);
        }
        d[0] = 1.0 - 0.5 * (u_above - u_below);
        for j in 1..n {
            d[j] = -0.5 * (above(j) + below(j));
        }
        for i in 1..n {
            let u_i = u[i - 1];
            d[i * n] = -0.5 * u_i * (u_above + u_below) - (a(i) - u_a * u_i) / s_0;
            for j in 1..n {
                let (same, u_j) = (f64::from(i == j), u[j - 1]);
                let turned = a_0 * (same - u_i * u_j) / s_0;
                d[i * n + j] = same - 0.5 * u_i * (above(j) - below(j)) - turned;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_is_zero_just_on_the_law() {
        let inf = f64::INFINITY;
        for (z, w, l, u) in [
            (3.0, 0.0, -inf, inf),
            (0.0, 2.0, 0.0, inf),
            (2.0, 0.0, 0.0, inf),
            (1.0, -2.0, -inf, 1.0),
            (-1.0, 5.0, -1.0, 1.0),
            (1.0, -5.0, -1.0, 1.0),
            (0.3, 0.0, -1.0, 1.0),
            (2.0, 7.0, 2.0, 2.0),
        ] {
            assert_eq!(law(z, w, l, u).0, 0.0, "{z} {w} {l} {u}");
        }
        for (z, w, l, u) in [
            (1.0, 1.0, 0.0, inf),
            (0.0, -1.0, 0.0, inf),
            (-1.0, 0.0, 0.0, inf),
            (0.5, 1.0, -1.0, 1.0),
            (1.0, 1.0, -1.0, 1.0),
            (2.0, 0.0, -1.0, 1.0),
        ] {
            assert!(law(z, w, l, u).0.abs() > 0.1, "{z} {w} {l} {u}");
        }
    }

    #[test]
    fn slopes_are_those_of_the_function() {
        let (inf, h) = (f64::INFINITY, 1e-6);
        for (l, u) in [(-inf, inf), (0.0, inf), (-inf, 0.5), (-1.0, 1.0)] {
            for (z, w) in [(0.3, 0.7), (-0.4, 1.1), (1.2, -0.8), (-2.0, -3.0), (1e-3, 5.0)] {
                let (_, a, b) = law(z, w, l, u);
                let by_z = (law(z + h, w, l, u).0 - law(z - h, w, l, u).0) / (2.0 * h);
                let by_w = (law(z, w + h, l, u).0 - law(z, w - h, l, u).0) / (2.0 * h);
                assert!((a - by_z).abs() < 1e-7 && (b - by_w).abs() < 1e-7, "{z} {w} {l} {u}");
            }
        }
    }

    /// With `x = 0` and `−y` in the cone `x + y + s` is zero but for round-off, and `f = 2 y` is not.
    #[test]
    fn a_force_of_nothing_against_a_velocity_into_the_obstacle_is_no_answer() {
        let mut number = crate::sets::functions::tests::numbers(9);
        for mu in [0.3, 1.0, 4.0] {
            for _ in 0..2000 {
                let (set, t) = (Set::Coulomb3 { mu }, [0.1 * number(), 0.1 * number()]);
                let w = [-(1.0 + 2.0 * (mu + mu * mu)), t[0], t[1]];
                let (mut f, y_0) = ([0.0; 3], w[0] + mu * norm(&t));
                value(&set, 1.0, &[0.0; 3], &w, &mut f);
                for (f, y) in f.iter().zip([y_0, mu * t[0], mu * t[1]]) {
                    assert!((f - 2.0 * y).abs() < 1e-13 * (1.0 + mu * mu), "{w:?}: {f} {y}");
                }
            }
        }
    }

    /// `s∘s = x∘x + y∘y` with `s` in the cone, so `(3)` is what it says, by both ways of writing it.
    #[test]
    fn the_root_squares_to_the_sum() {
        let mut number = crate::sets::functions::tests::numbers(5);
        for n in [2, 3, 6] {
            for _ in 0..2000 {
                let mut draw = || (0..n).map(|_| number()).collect::<Vec<f64>>();
                let (z, w) = (draw(), draw());
                let pair = Pair { z: &z, w: &w, mu: 0.6, rho: 1.3, shift: 0.2 };
                let mut f = vec![0.0; n];
                pair.value(&mut f);
                let s: Vec<f64> = (0..n).map(|i| pair.x(i) + pair.y(i) - f[i]).collect();
                assert!(s[0] >= norm(&s[1..]) * (1.0 - 1e-12));
                let square = |a: &dyn Fn(usize) -> f64, i: usize| match i {
                    0 => (0..n).map(|i| a(i) * a(i)).sum::<f64>(),
                    i => 2.0 * a(0) * a(i),
                };
                let size = square(&|i| s[i], 0);
                for i in 0..n {
                    let sum = square(&|i| pair.x(i), i) + square(&|i| pair.y(i), i);
                    assert!((square(&|i| s[i], i) - sum).abs() <= 1e-13 * size, "{z:?} {w:?}");
                }
            }
        }
    }
}
