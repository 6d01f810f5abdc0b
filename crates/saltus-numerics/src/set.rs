//! The sets of the laws: what a block's pair `(z, w)` satisfies.
//!
//! ```text
//! −w ∈ N_K(z)   ⟺   z = P_K(z − ρ w)   for any ρ > 0
//! ```
//!
//! | set | `K` | law |
//! | --- | --- | --- |
//! | `Free` | `R` | `w = 0` |
//! | `Nonnegative` | `R₊` | `0 ≤ w ⟂ z ≥ 0` |
//! | `Interval` | `[l, u]` | `z = l` where `w > 0`, `z = u` where `w < 0`, between them `w = 0` |
//!
//! These three are boxes, component by component, and every method here works on the bounds.
//! Sets that are no boxes (graphs, friction cones) will be further members of this enum, each
//! with its projection, generalized Jacobian, one-block solve and share of the residual.

/// The set of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Set {
    /// `w = 0`, `z` free: equalities.
    Free,
    /// `0 ≤ w ⟂ z ≥ 0`: complementarity.
    Nonnegative,
    /// `−w ∈ N_[lower, upper](z)`: relays, saturation, bounds. With `lower = upper` the
    /// unknown is fixed and `w` arbitrary.
    Interval {
        /// Least value of `z`; may be −∞.
        lower: f64,
        /// Largest value of `z`; may be +∞.
        upper: f64,
    },
}

impl Set {
    /// The bounds of each component.
    #[inline]
    pub fn bounds(self) -> (f64, f64) {
        match self {
            Set::Free => (f64::NEG_INFINITY, f64::INFINITY),
            Set::Nonnegative => (0.0, f64::INFINITY),
            Set::Interval { lower, upper } => (lower, upper),
        }
    }

    /// `P_K(z)`, component by component. A NaN stays one.
    #[inline]
    pub fn project(self, z: f64) -> f64 {
        let (lower, upper) = self.bounds();
        project(z, lower, upper)
    }
}

/// The point of `[lower, upper]` closest to `z`. A NaN stays one.
#[inline]
pub(crate) fn project(z: f64, lower: f64, upper: f64) -> f64 {
    if z < lower {
        lower
    } else if z > upper {
        upper
    } else {
        z
    }
}
