//! The systems, one a file.

mod first_order;
mod first_order_linear;
mod lagrangian;
mod lagrangian_linear;

pub use first_order::FirstOrder;
pub use first_order_linear::FirstOrderLinear;
pub use lagrangian::Lagrangian;
pub use lagrangian_linear::LagrangianLinear;
