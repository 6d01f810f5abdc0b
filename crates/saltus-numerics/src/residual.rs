//! How far `(z, w)` is from a solution: the only measure, which no method can replace.
//!
//! ```text
//! w = W z + q                               always recomputed from z
//! rᵢ = zᵢ − P_K(zᵢ − wᵢ)                    the natural map, zero at a solution        (1)
//! residual = ‖r‖₂ / (1 + ‖q‖₂)                                                        (2)
//! ```
//!
//! A NaN anywhere makes the residual NaN, and NaN is never at most a tolerance.

use crate::Problem;

/// A residual and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Residual {
    /// Equation (2).
    pub value: f64,
    /// The unknown with the largest share.
    pub worst: usize,
}

/// Recomputes `w` from `z`, and measures how far the pair is from a solution.
#[inline]
pub fn residual(problem: &Problem, z: &[f64], w: &mut [f64]) -> Residual {
    problem.eval(z, w);
    natural_map(problem, z, w)
}

/// Equations (1) and (2) for a `w` that is known to be `W z + q`.
#[inline]
pub(crate) fn natural_map(problem: &Problem, z: &[f64], w: &[f64]) -> Residual {
    let n = z.len();
    let (q, lower, upper) = (&problem.q()[..n], &problem.lower()[..n], &problem.upper()[..n]);
    let w = &w[..n];
    let (mut sum, mut scale) = (0.0, 0.0);
    let (mut worst, mut largest) = (0, 0.0);
    for i in 0..n {
        let r = natural(z[i], w[i], lower[i], upper[i]);
        sum += r * r;
        scale += q[i] * q[i];
        if !(r.abs() <= largest) {
            (worst, largest) = (i, r.abs());
        }
    }
    // exactly zero is common in small problems, and spares the roots
    let value = if sum == 0.0 { 0.0 } else { sum.sqrt() / (1.0 + scale.sqrt()) };
    Residual { value, worst }
}

/// Equation (1) for one unknown. Where `z − w` is inside, `z − (z − w)` is `w`, and is written
/// so: beside a large `z` the difference would lose a `w` that is wrong.
#[inline]
fn natural(z: f64, w: f64, lower: f64, upper: f64) -> f64 {
    let t = z - w;
    if t < lower {
        z - lower
    } else if t > upper {
        z - upper
    } else {
        w + 0.0 * t // NaN unless t is finite
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_linalg::Matrix;

    #[test]
    fn measures_each_law() {
        let matrix = Matrix::identity(3);
        let inf = f64::INFINITY;
        let problem =
            Problem::boxed(matrix, vec![-2.0, 1.0, 4.0], &[-inf, 0.0, -1.0], &[inf, inf, 1.0])
                .unwrap();
        let mut w = [0.0; 3];
        assert_eq!(residual(&problem, &[2.0, 0.0, -1.0], &mut w).value, 0.0);
        assert_eq!(w, [0.0, 1.0, 3.0]);
        let wrong = residual(&problem, &[2.0, 0.0, 1.0], &mut w);
        assert!(wrong.value > 0.1);
        assert_eq!(wrong.worst, 2);
    }

    #[test]
    fn a_large_z_hides_nothing() {
        let problem = Problem::lcp(Matrix::zeros(1, 1), vec![4.0]).unwrap();
        for z in [1.0, 1e17, 1e300] {
            assert!(residual(&problem, &[z], &mut [0.0]).value >= 0.2, "{z}");
        }
    }

    #[test]
    fn what_the_matrix_does_not_see_must_be_finite() {
        let nothing = saltus_linalg::Sparse::from_triplets(1, 1, &[]);
        let free = [crate::Block { size: 1, set: crate::Set::Free }];
        let problem = Problem::new(nothing, vec![0.0], &free).unwrap();
        for z in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(residual(&problem, &[z], &mut [0.0]).value.is_nan());
        }
        assert_eq!(residual(&problem, &[3.0], &mut [0.0]).value, 0.0);
    }

    #[test]
    fn a_nan_is_never_small() {
        let problem = Problem::lcp(Matrix::identity(2), vec![1.0, 1.0]).unwrap();
        let mut w = [0.0; 2];
        for z in [[f64::NAN, 0.0], [0.0, f64::NAN], [f64::INFINITY, 0.0]] {
            assert!(!(residual(&problem, &z, &mut w).value <= 1e300));
        }
    }
}
