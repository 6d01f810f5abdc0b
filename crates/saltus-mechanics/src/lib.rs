//! Joints and contacts between rigid bodies in space, as relations of a model.
//!
//! ```text
//! y = h(q_a, q_b),    u = ẏ = H_a (v_a, ω_a) + H_b (v_b, ω_b),    p = Hᵀ λ
//! ```
//!
//! `H` has six columns a body, along its velocity in the frame of the world and its angular velocity
//! in its own frame. Where one body is linked, the other side is the world. Points and directions are
//! given in the frame of the world, for the configuration that the bodies start in, unless they are
//! said to be in the frame of a body.
//!
//! - [`Joint`]: ball, pivot, prismatic, cylindrical, universal, planar, fixed, distance, screw, gear.
//! - [`PointPlane`], [`SphereSphere`]: contacts with a normal, two tangents and, where it is asked for,
//!   two rates of rolling.
//!
//! - [`Finder`]: contacts between [`Shape`]s of bodies, found while a model moves.
//!
//! Theory: the book, "Rigid bodies" and "Finding contacts".

mod collider;
pub mod contacts;
mod fault;
mod finder;
pub mod joints;
mod mass;
pub mod mesh;
mod pose;
mod row;
mod shape;

pub use collider::{Collider, Colliders, Drive, PairLaws};
pub use contacts::{Components, PointPlane, SphereSphere, corners};
pub use finder::{Finder, FinderError};
pub use joints::Joint;
pub use mass::MassProperties;
pub use shape::{Placed, Shape, ShapeError};
