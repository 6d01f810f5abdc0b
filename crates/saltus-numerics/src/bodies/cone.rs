//! The cone of Lorentz in space, `x_0 ≥ |x_T|`, and its algebra.
//!
//! ```text
//! a ∘ b = (a · b, a_0 b_T + b_0 a_T),     x⁻¹ = (x_0, −x_T)/det x,     det x = x_0² − |x_T|²
//! ```
//!
//! Reference: Alizadeh, Goldfarb, *Math. Program.* 95 (2003) 3–51.

pub(super) type Vector = [f64; 3];
pub(super) type Matrix = [f64; 9];

#[inline]
pub(super) fn dot(a: &Vector, b: &Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// `A x`.
#[inline]
pub(super) fn times(A: &Matrix, x: &Vector) -> Vector {
    [
        A[0] * x[0] + A[1] * x[1] + A[2] * x[2],
        A[3] * x[0] + A[4] * x[1] + A[5] * x[2],
        A[6] * x[0] + A[7] * x[1] + A[8] * x[2],
    ]
}

/// `a + s b`.
#[inline]
pub(super) fn plus(a: &Vector, s: f64, b: &Vector) -> Vector {
    [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]]
}

/// `A²` of a symmetric matrix.
#[inline]
pub(super) fn square(A: &Matrix) -> Matrix {
    let mut out = [0.0; 9];
    for i in 0..3 {
        for j in 0..3 {
            let (a, b) = (3 * i, 3 * j);
            out[a + j] = A[a] * A[b] + A[a + 1] * A[b + 1] + A[a + 2] * A[b + 2];
        }
    }
    out
}

/// `det x`, which is positive inside.
#[inline]
pub(super) fn determinant(x: &Vector) -> f64 {
    let along = (x[1] * x[1] + x[2] * x[2]).sqrt(); // `hypot` costs a call
    (x[0] - along) * (x[0] + along)
}

/// `x⁻¹`.
#[inline]
pub(super) fn inverse(x: &Vector) -> Vector {
    let det = determinant(x);
    [x[0] / det, -x[1] / det, -x[2] / det]
}

/// `a ∘ b`.
#[inline]
pub(super) fn jordan(a: &Vector, b: &Vector) -> Vector {
    [dot(a, b), a[0] * b[1] + b[0] * a[1], a[0] * b[2] + b[0] * a[2]]
}

/// `x` of `a ∘ x = b`.
#[inline]
pub(super) fn jordan_divide(a: &Vector, b: &Vector) -> Vector {
    let x = (a[0] * b[0] - a[1] * b[1] - a[2] * b[2]) / determinant(a);
    [x, (b[1] - x * a[1]) / a[0], (b[2] - x * a[2]) / a[0]]
}

/// The scaling of Nesterov and Todd: `Ω` and its inverse, with `Ω x = Ω⁻¹ y`.
#[inline]
pub(super) fn nesterov_todd(y: &Vector, x: &Vector) -> [Matrix; 2] {
    let (size_y, size_x) = (determinant(y).sqrt(), determinant(x).sqrt());
    let (per_y, per_x) = (1.0 / size_y, 1.0 / size_x);
    let gamma = (0.5 * (1.0 + dot(y, x) * per_y * per_x)).sqrt();
    let half = 0.5 / gamma;
    let a = half * (y[0] * per_y + x[0] * per_x);
    let b = half * (y[1] * per_y - x[1] * per_x);
    let c = half * (y[2] * per_y - x[2] * per_x);
    let k = 1.0 / (1.0 + a);
    let (bb, bc, cc) = (1.0 + k * b * b, k * b * c, 1.0 + k * c * c);
    let beta = (size_y * per_x).sqrt();
    let back = 1.0 / beta;
    let mut scaling = [a, b, c, b, bb, bc, c, bc, cc];
    let mut inverse = [a, -b, -c, -b, bb, bc, -c, bc, cc];
    for (own, other) in scaling.iter_mut().zip(&mut inverse) {
        *own *= beta;
        *other *= back;
    }
    [scaling, inverse]
}

/// The largest `α` with `x + α d` in the cone.
#[inline]
pub(super) fn way(x: &Vector, d: &Vector) -> f64 {
    let (a, c) = (determinant(d), determinant(x));
    let b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2];
    let mut most = if d[0] < 0.0 { -x[0] / d[0] } else { f64::INFINITY };
    let root = b * b - a * c;
    if root >= 0.0 {
        let q = -(b + root.sqrt().copysign(b));
        for alpha in [q / a, c / q] {
            if alpha > 0.0 {
                most = most.min(alpha);
            }
        }
    }
    if b.is_finite() { most } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Vector = [2.0, 0.7, -1.1];
    const Y: Vector = [0.9, 0.1, 0.6];

    fn near(a: &Vector, b: &Vector) -> bool {
        (0..3).all(|i| (a[i] - b[i]).abs() < 1e-14)
    }

    #[test]
    fn inverses_divide() {
        assert!(near(&jordan(&X, &inverse(&X)), &[1.0, 0.0, 0.0]));
        assert!(near(&jordan(&X, &jordan_divide(&X, &Y)), &Y));
    }

    #[test]
    fn the_scaling_makes_both_the_same() {
        let [scaling, back] = nesterov_todd(&Y, &X);
        assert!(near(&times(&scaling, &X), &times(&back, &Y)));
        assert!(near(&times(&back, &times(&scaling, &X)), &X));
        assert!(near(&times(&square(&scaling), &X), &Y));
    }

    #[test]
    fn the_way_ends_on_the_cone() {
        for d in [[-1.0, 0.2, 0.3], [0.1, 1.0, 0.0], [0.0, 0.5, -0.5]] {
            let alpha = way(&X, &d);
            let end = [0, 1, 2].map(|i| X[i] + alpha * d[i]);
            assert!(determinant(&end).abs() < 1e-12 && end[0] > 0.0, "{d:?}");
        }
        assert_eq!(way(&X, &[1.0, 0.5, 0.0]), f64::INFINITY);
        assert_eq!(way(&X, &[f64::NAN, 0.5, 0.0]), 0.0);
    }
}
