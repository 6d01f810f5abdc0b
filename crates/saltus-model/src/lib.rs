//! Systems, relations, laws, and the model that joins them.
//!
//! ```text
//! M ẋ = f(t, x) + r      or      M v̇ = F(t, q, v) + p,  q̇ = T v       systems
//! y = h(t, x, λ),  r = g(t, x, λ)                                     relations
//! −y ∈ N_K(λ)                                                          laws
//! ```
//!
//! A model is data. It knows no algorithm, and never learns which strategy runs it.

mod bond;
mod check;
mod error;
mod event;
mod finder;
mod formula;
mod jacobians;
mod law;
mod model;
mod operator;
pub mod relation;
pub mod relations;
pub mod rotation;
mod system;
pub mod systems;
mod user_law;

pub use bond::Bond;
pub use error::{ModelError, OperatorError};
pub use event::{Action, Event, Expression, Source, Term, Trigger};
pub use finder::{ContactFinder, ContactSearch, Elasticity, FoundContact, Moment, Side};
pub use formula::Names;
pub use jacobians::{Jacobian, JacobianCheck, JacobianPoints};
pub use law::{Coefficient, Law, Range};
pub use model::{Interaction, InteractionId, Model, System, SystemId};
pub use operator::{Argument, At, Function, Line, Operator};
pub use relation::{ForceRule, Input, IntoRelation, Linear, Linked, Relation, Terms};
pub use relations::{
    FirstOrderLinearRelation, FirstOrderRelation, LagrangianCompliant, LagrangianLinearRelation,
    LagrangianRelation, Prescribed,
};
pub use system::{
    Body, Dependence, FirstOrderDependence, FirstOrderSystem, Linearized, Order, Rigid,
    SecondOrderDependence, SecondOrderSystem, StatePart, StateVector,
};
pub use systems::{
    FirstOrder, FirstOrderLinear, Frame, Inertia, Lagrangian, LagrangianLinear, RigidBody,
    RigidBody2d,
};
pub use user_law::{SharedLaw, UserLaw};
