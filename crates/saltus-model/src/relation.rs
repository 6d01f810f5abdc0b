//! What a strategy sees of a relation.

use crate::{ModelError, Order};
use saltus_linalg::Matrix;
use std::fmt::Debug;

/// A relation between the state of its systems and the local pair `(y, λ)`.
///
/// ```text
/// first order:  y = C x + D λ + e,    r = B λ
/// Lagrangian:   y = H q + b,          p = Hᵀ λ,    u = ẏ = H v
/// ```
///
/// With two systems `x` (or `q`) is their states one after the other.
pub trait Relation: Debug + Send + Sync {
    /// Order of the systems it speaks about.
    fn order(&self) -> Order;
    /// Number of components of `y` and `λ`.
    fn size(&self) -> usize;
    /// `∂y/∂x`: `C`, or `H`; one row a component, one column a state component.
    fn dy_dx(&self) -> &Matrix;
    /// `∂y/∂λ`: `D`; nothing where it is zero.
    fn dy_dlam(&self) -> Option<&Matrix>;
    /// `∂r/∂λ`: `B`; nothing where it is `∂y/∂x` transposed.
    fn dr_dlam(&self) -> Option<&Matrix>;
    /// `y` at `x = 0`, `λ = 0`: `e`, or `b`; nothing where it is zero.
    fn offset(&self) -> Option<&[f64]>;
    /// Finds what is wrong with the relation on systems of `dim` state components in all.
    fn check(&self, owner: &str, dim: usize) -> Result<(), ModelError>;
}
