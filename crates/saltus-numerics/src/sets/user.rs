//! A convex set of the user's own, known by its projection.
//!
//! ```text
//! −w ∈ N_K(z)   ⟺   z = P_K(z − ρ w)   for any ρ > 0                                    (1)
//! ```
//!
//! That is all that [`GaussSeidel`](crate::methods::GaussSeidel),
//! [`Newton`](crate::methods::Newton), [`Admm`](crate::methods::Admm),
//! [`Extragradient`](crate::methods::Extragradient) and the portfolio ask for, and what the residual
//! measures. Methods that need more (pivots, barriers) refuse.

use super::Place;
use std::fmt;
use std::sync::Arc;

/// A closed convex set `K` of `size` components.
///
/// ```
/// use saltus_linalg::Matrix;
/// use saltus_numerics::{Block, Problem, Set, Solver, UserSet, solve};
///
/// /// `{ z : ‖z‖ ≤ 1 }`
/// #[derive(Debug)]
/// struct Ball;
///
/// impl UserSet for Ball {
///     fn size(&self) -> usize {
///         2
///     }
///
///     fn project(&self, x: &mut [f64]) {
///         let length = x[0].hypot(x[1]);
///         if length > 1.0 {
///             x.iter_mut().for_each(|x| *x /= length);
///         }
///     }
/// }
///
/// let blocks = [Block { size: 2, set: Set::user(Ball) }];
/// let problem = Problem::new(Matrix::identity(2), vec![-3.0, -4.0], &blocks)?;
/// let solution = solve(&problem, &Solver::default(), None)?;
/// assert!((solution.z[0] - 0.6).abs() <= 1e-8 && (solution.z[1] - 0.8).abs() <= 1e-8);
/// # Ok::<(), saltus_numerics::NumericsError>(())
/// ```
pub trait UserSet: fmt::Debug + Send + Sync {
    /// Number of components.
    fn size(&self) -> usize;

    /// `x ← P_K(x)`, the point of the set that is closest to `x`. A point of the set must stay what
    /// it is to the last digit, and a NaN must not become a number.
    fn project(&self, x: &mut [f64]);

    /// `P_K′(x)`, row by row: an element of the generalized Jacobian. By central differences unless
    /// it is given; exact ones make Newton's method faster near edges.
    fn jacobian(&self, x: &[f64], jacobian: &mut [f64]) {
        let n = x.len();
        let largest = x.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
        let step = largest * f64::EPSILON.cbrt();
        let (mut ahead, mut behind) = (x.to_vec(), x.to_vec());
        for j in 0..n {
            ahead.copy_from_slice(x);
            behind.copy_from_slice(x);
            ahead[j] += step;
            behind[j] -= step;
            let width = ahead[j] - behind[j];
            self.project(&mut ahead);
            self.project(&mut behind);
            for i in 0..n {
                jacobian[i * n + j] = (ahead[i] - behind[i]) / width;
            }
        }
    }
}

/// A shared [`UserSet`]; equal only to itself.
#[derive(Debug, Clone)]
pub struct SharedSet(pub Arc<dyn UserSet>);

impl PartialEq for SharedSet {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl SharedSet {
    /// The projection, and whether it changed anything.
    #[cold]
    pub(super) fn project(&self, x: &mut [f64]) -> Place {
        let mut small = [0.0; 16];
        let mut long = Vec::new();
        let before = match small.get_mut(..x.len()) {
            Some(small) => small,
            None => {
                long.resize(x.len(), 0.0);
                &mut long[..]
            }
        };
        before.copy_from_slice(x);
        self.0.project(x);
        if *before == *x { Place::Inside } else { Place::Surface }
    }
}
