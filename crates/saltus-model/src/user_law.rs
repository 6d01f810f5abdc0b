//! A law of the user's own.

use std::fmt;
use std::sync::Arc;

/// The law `−y ∈ N_K(λ)` of a closed convex set `K` that is known by its projection (mechanics: with
/// `u` for `y`; `K` is one of forces, `λ` their impulse over the step).
pub trait UserLaw: fmt::Debug + Send + Sync {
    /// Number of components of `y` and `λ`.
    fn size(&self) -> usize;

    /// `x ← P_K(x)`. A point of the set must stay what it is to the last digit, and a NaN must not
    /// become a number.
    fn project(&self, x: &mut [f64]);

    /// `P_K′(x)`, row by row. Whether it was given: differences are taken where it is not.
    fn jacobian(&self, x: &[f64], jacobian: &mut [f64]) -> bool {
        let _ = (x, jacobian);
        false
    }
}

/// A shared [`UserLaw`]; equal only to itself.
#[derive(Debug, Clone)]
pub struct SharedLaw(pub Arc<dyn UserLaw>);

impl PartialEq for SharedLaw {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
