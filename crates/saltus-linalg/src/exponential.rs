//! The exponential of a matrix, by scaling, a Padé approximant, and squaring.
//!
//! ```text
//! e^A = (e^{A/2ˢ})^{2ˢ},    e^X ≈ (V − U)⁻¹ (V + U),    V ± U = Σₖ bₖ (±X)ᵏ,  k = 0 … 13
//! ```
//!
//! With `‖X‖₁ ≤ 5.37` the approximant is exact to working precision; the squarings multiply its
//! round-off by about `‖A‖₁`.
//! Reference: Higham, *The scaling and squaring method for the matrix exponential revisited*, 2005.

use crate::{DenseLu, Matrix, Singular};

/// Norm up to which the approximant is exact to working precision.
const REACH: f64 = 5.371920351148152;
/// Coefficients of the approximant.
const B: [f64; 14] = [
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
];

/// `e^A` of a square matrix; fails where `A` is not finite, or so large that the result is not.
pub fn exponential(A: &Matrix) -> Result<Matrix, Singular> {
    let n = A.rows();
    let column = |j: usize| (0..n).map(|i| A[(i, j)].abs()).sum::<f64>();
    let norm = (0..n).map(column).fold(0.0, |a: f64, b| if b > a || b.is_nan() { b } else { a });
    if !norm.is_finite() {
        return Err(Singular { column: 0 });
    }
    let squarings = if norm > REACH { (norm / REACH).log2().ceil() as i32 } else { 0 };
    let mut X = A.clone();
    X.scale(0.5f64.powi(squarings));

    let X2 = X.mul(&X);
    let X4 = X2.mul(&X2);
    let X6 = X4.mul(&X2);
    // b₀ I + b₂ X² + b₄ X⁴ + b₆ X⁶ + X⁶ (b₈ X² + b₁₀ X⁴ + b₁₂ X⁶), and the same of odd numbers
    let half = |first: usize| {
        let mut high = X2.clone();
        high.scale(B[first + 8]);
        high.add_scaled(B[first + 10], &X4);
        high.add_scaled(B[first + 12], &X6);
        let mut sum = X6.mul(&high);
        sum.add_scaled(B[first], &Matrix::identity(n));
        sum.add_scaled(B[first + 2], &X2);
        sum.add_scaled(B[first + 4], &X4);
        sum.add_scaled(B[first + 6], &X6);
        sum
    };
    let (V, U) = (half(0), X.mul(&half(1)));
    let (mut plus, mut minus) = (V.clone(), V);
    plus.add_scaled(1.0, &U);
    minus.add_scaled(-1.0, &U);
    let mut E = DenseLu::new(&minus)?.solve_matrix(&plus);
    for _ in 0..squarings {
        E = E.mul(&E);
    }
    if E.is_finite() { Ok(E) } else { Err(Singular { column: 0 }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(A: Matrix, expected: Matrix, tol: f64) {
        let found = exponential(&A).unwrap();
        for (a, b) in found.data().iter().zip(expected.data()) {
            assert!((a - b).abs() <= tol * (1.0 + b.abs()), "{found:?} {expected:?}");
        }
    }

    #[test]
    fn closed_forms() {
        check(Matrix::zeros(3, 3), Matrix::identity(3), 0.0);
        check(
            Matrix::diagonal(&[1.0, -2.0]),
            Matrix::diagonal(&[1f64.exp(), (-2f64).exp()]),
            1e-15,
        );
        // a nilpotent matrix, and a turn by t
        let nilpotent = Matrix::from([[0.0, 1.0, 2.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]]);
        check(nilpotent, Matrix::from([[1.0, 1.0, 3.5], [0.0, 1.0, 3.0], [0.0, 0.0, 1.0]]), 1e-15);
        for t in [1e-9, 0.3, 3.0, 30.0, 300.0f64] {
            let (sin, cos) = t.sin_cos();
            let turn = Matrix::from([[cos, sin], [-sin, cos]]);
            check(Matrix::from([[0.0, t], [-t, 0.0]]), turn, 1e-14 * (1.0 + t));
        }
    }

    #[test]
    fn stiff_and_defective() {
        // e^{tJ} of a Jordan block, and one with rates six decades apart
        let t = 2.0f64;
        let e = (-t).exp();
        check(Matrix::from([[-t, t], [0.0, -t]]), Matrix::from([[e, t * e], [0.0, e]]), 1e-15);
        let (a, b) = (-1e6f64, -1.0f64);
        let mixed = Matrix::from([[a, 1.0], [0.0, b]]);
        let corner = (b.exp() - a.exp()) / (b - a);
        // squaring loses what the norm is above 1
        check(mixed, Matrix::from([[0.0, corner], [0.0, b.exp()]]), 1e-16 * 1e6);
    }

    #[test]
    fn the_product_with_its_inverse_is_the_identity() {
        let data = (0..49).map(|k| ((k * 7919) % 101) as f64 / 50.0 - 1.0).collect();
        let A = Matrix::from_vec(7, 7, data);
        let mut minus = A.clone();
        minus.scale(-1.0);
        let product = exponential(&A).unwrap().mul(&exponential(&minus).unwrap());
        for i in 0..7 {
            for j in 0..7 {
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!((product[(i, j)] - expected).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        assert!(exponential(&Matrix::from([[f64::NAN, 0.0], [0.0, 1.0]])).is_err());
        assert!(exponential(&Matrix::from([[1e4]])).is_err());
    }
}
