//! The systems, one a file.

mod first_order;
mod first_order_linear;
mod lagrangian;
mod lagrangian_linear;
mod load;
mod rigid_body;
mod rigid_body_2d;

pub use first_order::FirstOrder;
pub use first_order_linear::FirstOrderLinear;
pub use lagrangian::Lagrangian;
pub use lagrangian_linear::LagrangianLinear;
pub use load::Frame;
pub use rigid_body::{Inertia, RigidBody};
pub use rigid_body_2d::RigidBody2d;
