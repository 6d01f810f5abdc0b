//! The relations, one a file.

mod bonded;
mod first_order;
mod first_order_linear;
mod lagrangian;
mod lagrangian_linear;
mod prescribed;
mod turned;

pub(crate) use bonded::Bonded;
pub use first_order::FirstOrderRelation;
pub use first_order_linear::FirstOrderLinearRelation;
pub use lagrangian::{LagrangianCompliant, LagrangianRelation};
pub use lagrangian_linear::LagrangianLinearRelation;
pub use prescribed::Prescribed;
pub(crate) use turned::Turned;
