//! The relations, one a file.

mod first_order_linear;
mod lagrangian_linear;

pub use first_order_linear::FirstOrderLinearRelation;
pub use lagrangian_linear::LagrangianLinearRelation;
