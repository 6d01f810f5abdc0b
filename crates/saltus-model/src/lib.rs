//! Systems, relations, laws, and the model that joins them.
//!
//! ```text
//! M ẋ = f(t, x) + r      or      M v̇ = F(t, q, v) + p,  q̇ = v       systems
//! y = h(t, x, λ),  r = g(t, x, λ)                                     relations
//! −y ∈ N_K(λ)                                                          laws
//! ```
//!
//! A model is data. It knows no algorithm, and never learns which strategy runs it.

mod check;
mod error;
mod law;
mod model;
mod operator;
mod relation;
pub mod relations;
mod system;
pub mod systems;

pub use error::{ModelError, OperatorError};
pub use law::Law;
pub use model::{Interaction, InteractionId, Model, System, SystemId};
pub use operator::{MatrixOperator, VectorOperator};
pub use relation::Relation;
pub use relations::{FirstOrderLinearRelation, LagrangianLinearRelation};
pub use system::{
    Dependence, FirstOrderDependence, FirstOrderSystem, Order, SecondOrderDependence,
    SecondOrderSystem,
};
pub use systems::{FirstOrderLinear, LagrangianLinear};
