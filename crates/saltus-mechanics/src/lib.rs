//! Joints and contacts between rigid bodies, as relations of a model.
//!
//! ```text
//! y = h(q_a, q_b),    u = ẏ = H_a (v_a, ω_a) + H_b (v_b, ω_b),    p = Hᵀ λ
//! ```
//!
//! `H` has six columns a body in space, along its velocity in the frame of the world and its angular
//! velocity in its own frame, and three a body in the plane. Where one body is linked, the other side is the world. Points and directions are
//! given in the frame of the world, for the configuration that the bodies start in, unless they are
//! said to be in the frame of a body.
//!
//! - [`Joint`]: ball, pivot, prismatic, cylindrical, universal, planar, fixed, distance, screw, gear,
//!   rack; [`Joint2d`]: pivot, prismatic, fixed, distance in the plane.
//! - [`JointCoordinate`]: what a joint leaves free, as an output; [`Coupler`]: two of them in a ratio.
//! - [`JointSpec`]: a joint with limits, friction, spring, motor, and a force that breaks it.
//! - [`SpringDamper`], [`Bushing`]: what gives way.
//! - [`PointPlane`], [`SphereSphere`]: contacts with a normal, two tangents and, where it is asked for,
//!   two rates of rolling; [`DiskLine`], [`DiskDisk`] in the plane.
//! - [`Scene`]: bodies with shapes and materials, statics and joints as data, which come to a model.
//! - [`Finder`]: contacts between [`Shape`]s of bodies, found while a model moves.
//!
//! Theory: the book, "Rigid bodies" and "Finding contacts".

mod carrier;
mod collider;
pub mod contacts;
pub mod coordinates;
mod drawing;
mod fault;
mod finder;
pub mod joints;
pub mod joints_2d;
mod mass;
pub mod mesh;
mod outputs;
mod pose;
mod row;
pub mod scene;
mod shape;
pub mod spec;
pub mod springs;

pub use collider::{Collider, Colliders, Drive, PairLaws};
pub use contacts::{Components, DiskDisk, DiskLine, PointPlane, SphereSphere, corners};
pub use coordinates::{AnyJoint, Coordinate, Coupler, JointCoordinate};
pub use finder::{Finder, FinderError};
pub use joints::Joint;
pub use joints_2d::Joint2d;
pub use mass::MassProperties;
pub use scene::{
    Anchor, BodySpec, ContactPair, DriveSpec, Fitting, Follows, Given, JointLink, Material,
    MotorSpec, Part, Scene, SceneError, StaticMotion, StaticSpec,
};
pub use shape::{Placed, Shape, ShapeError};
pub use spec::{Extras, Friction, JointSpec, Limits, Motor, Spring};
pub use springs::{Bushing, SpringDamper};
