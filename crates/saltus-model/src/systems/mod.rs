//! The systems, one a file.

mod first_order_linear;
mod lagrangian_linear;

pub use first_order_linear::FirstOrderLinear;
pub use lagrangian_linear::LagrangianLinear;
