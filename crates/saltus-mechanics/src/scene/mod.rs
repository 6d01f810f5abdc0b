//! Scenes: bodies with shapes and materials, what they stand on, and the joints between them, as data.
//!
//! ```
//! use saltus_mechanics::{BodySpec, ContactPair, Material, Scene, Shape, StaticSpec};
//!
//! let mut scene = Scene::new("a box on the ground").gravity([0.0, 0.0, -9.81]);
//! scene.materials.push(Material::new("stone", 2500.0));
//! scene.contacts.push(ContactPair::new("stone", "stone").restitution(0.0).friction(0.7));
//! let ground = Shape::Plane { normal: [0.0, 0.0, 1.0], offset: 0.0 };
//! scene.statics.push(StaticSpec::new("ground", ground).of("stone"));
//! let cube = Shape::Box { edges: [1.0; 3] };
//! scene.bodies.push(BodySpec::new("box", cube).of("stone").at([0.0, 0.0, 2.0]));
//! let model = scene.model()?;
//! assert_eq!(model.systems().len(), 1);
//! # Ok::<(), saltus_mechanics::SceneError>(())
//! ```
//!
//! A scene comes to a model: a rigid body a body, an interaction a joint, and a finder of contacts.
//! Other systems may stand in the same model, and interactions may link them with bodies.

mod alone;
mod build;
mod error;
mod given;
mod joint;
mod laws;
mod life;
mod linking;
mod mass;
mod motion;
mod reach;
mod untouched;

pub use error::{Member, SceneError, SceneFault};
pub use given::Given;
pub use joint::{Fitting, Follows, JointLink, MotorSpec};
pub use motion::StaticMotion;

use crate::Shape;
use saltus_model::rotation::{IDENTITY, Matrix3, Quaternion, Vector};
use saltus_model::{Body, Elasticity, Frame};

/// The material of parts that name none, and what pairs with all materials in [`ContactPair`].
pub const DEFAULT: &str = "default";

/// A scene.
#[derive(Debug, Clone)]
pub struct Scene {
    /// Its title.
    pub title: String,
    /// Where its bodies live.
    pub space: Body,
    /// Acceleration of gravity; in the plane, of the first two components.
    pub gravity: Vector,
    /// Names that formulas may use.
    pub parameters: Vec<(String, f64)>,
    /// The materials. One named [`DEFAULT`] is there without being listed, and has no density.
    pub materials: Vec<Material>,
    /// What happens where two materials touch. Without any, nothing touches.
    pub contacts: Vec<ContactPair>,
    /// Pairs of sides, or of groups of them, that do not touch; a group twice: its members.
    pub apart: Vec<[String; 2]>,
    /// What stands still or moves as it is told.
    pub statics: Vec<StaticSpec>,
    /// What moves by itself.
    pub bodies: Vec<BodySpec>,
    /// What holds bodies together.
    pub joints: Vec<JointLink>,
}

impl Default for Scene {
    fn default() -> Self {
        Scene::new("scene")
    }
}

impl Scene {
    /// An empty scene in space, without gravity.
    pub fn new(title: impl Into<String>) -> Self {
        Scene {
            title: title.into(),
            space: Body::Space,
            gravity: [0.0; 3],
            parameters: Vec::new(),
            materials: Vec::new(),
            contacts: Vec::new(),
            apart: Vec::new(),
            statics: Vec::new(),
            bodies: Vec::new(),
            joints: Vec::new(),
        }
    }

    /// The same in the plane.
    pub fn in_plane(mut self) -> Self {
        self.space = Body::Plane;
        self
    }

    /// The same with gravity.
    pub fn gravity(mut self, gravity: Vector) -> Self {
        self.gravity = gravity;
        self
    }

    /// Components of a position: two or three.
    pub fn dim(&self) -> usize {
        match self.space {
            Body::Plane => 2,
            Body::Space => 3,
        }
    }
}

/// A material.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Its name.
    pub name: String,
    /// Mass of a unit of volume, in the plane of a unit of area; nothing where bodies say their
    /// mass themselves.
    pub density: Option<f64>,
}

impl Material {
    /// A material of this density.
    pub fn new(name: impl Into<String>, density: f64) -> Self {
        Material { name: name.into(), density: Some(density) }
    }
}

/// What happens where two materials touch: `u⁺ = −e u⁻` along the normal, or springs and dampers, friction with `μ`, and
/// rolling resistance with `μ_r`.
#[derive(Debug, Clone, PartialEq)]
pub struct ContactPair {
    /// The materials, in any order; [`DEFAULT`] stands for every one. The more names a pair gives, the
    /// more it counts.
    pub materials: [String; 2],
    /// The restitution, in [0, 1].
    pub e: f64,
    /// The friction coefficient; nothing: no friction.
    pub mu: Option<f64>,
    /// The coefficient of rolling resistance, a length; nothing: none.
    pub mu_r: Option<f64>,
    /// The tangential restitution, in [-1, 1].
    pub et: f64,
    /// What they give way by; nothing: they are rigid.
    pub elastic: Option<Elasticity>,
    /// Whether they touch at all, or pass through each other.
    pub touch: bool,
}

impl ContactPair {
    /// Without restitution and friction.
    pub fn new(a: impl Into<String>, b: impl Into<String>) -> Self {
        let materials = [a.into(), b.into()];
        let (mu, mu_r, elastic) = (None, None, None);
        ContactPair { materials, e: 0.0, mu, mu_r, et: 0.0, elastic, touch: true }
    }

    /// The same with restitution.
    pub fn restitution(mut self, e: f64) -> Self {
        self.e = e;
        self
    }

    /// The same with friction.
    pub fn friction(mut self, mu: f64) -> Self {
        self.mu = Some(mu);
        self
    }

    /// The same with rolling resistance.
    pub fn rolling(mut self, mu_r: f64) -> Self {
        self.mu_r = Some(mu_r);
        self
    }

    /// The same with springs of this stiffness along normal and tangents, and dampers.
    pub fn elastic(mut self, stiffness: f64, damping: f64) -> Self {
        self.elastic = Some(Elasticity { stiffness, damping, tangential: stiffness });
        self
    }
}

/// A shape of a body, or of something that stands still, in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The shape.
    pub shape: Shape,
    /// Where its origin is, in the frame of the shapes.
    pub position: Vector,
    /// How it is turned there.
    pub orientation: Quaternion,
    /// Its material; nothing: that of its owner.
    pub material: Option<String>,
    /// Whether it touches anything and has a mass, or is only drawn.
    pub touch: bool,
}

impl From<Shape> for Part {
    fn from(shape: Shape) -> Self {
        Part { shape, position: [0.0; 3], orientation: IDENTITY, material: None, touch: true }
    }
}

/// Something that stands still, or moves as it is told.
#[derive(Debug, Clone)]
pub struct StaticSpec {
    /// Its name.
    pub name: String,
    /// Its shapes.
    pub parts: Vec<Part>,
    /// Their material, where they name none.
    pub material: String,
    /// Where the origin of its shapes is.
    pub position: Vector,
    /// How it is turned.
    pub orientation: Quaternion,
    /// How it moves; nothing: not at all.
    pub drive: Option<DriveSpec>,
    /// Its group, see [`Scene::apart`](field@Scene::apart).
    pub group: Option<String>,
}

/// How something moves as it is told: each a function of `t`.
#[derive(Debug, Clone, Default)]
pub struct DriveSpec {
    /// Where the origin of its shapes is; nothing: where it is put.
    pub position: Option<Given>,
    /// Its angular velocity in the frame of the world, one component in the plane.
    pub omega: Option<Given>,
    /// Velocity of its surface along itself, as of a conveyor belt.
    pub surface: Vector,
}

impl StaticSpec {
    /// A shape at the origin, of the default material.
    pub fn new(name: impl Into<String>, shape: impl Into<Part>) -> Self {
        StaticSpec {
            name: name.into(),
            parts: vec![shape.into()],
            material: DEFAULT.to_string(),
            position: [0.0; 3],
            orientation: IDENTITY,
            drive: None,
            group: None,
        }
    }

    /// The same of this material.
    pub fn of(mut self, material: impl Into<String>) -> Self {
        self.material = material.into();
        self
    }

    /// The same at this place.
    pub fn at(mut self, position: Vector) -> Self {
        self.position = position;
        self
    }
}

/// What the position of a body is the position of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Anchor {
    /// Its center of mass.
    #[default]
    Center,
    /// The origin of its shapes.
    Origin,
}

/// A body that moves by itself.
#[derive(Debug, Clone)]
pub struct BodySpec {
    /// Its name.
    pub name: String,
    /// Its shapes; without any, it touches nothing.
    pub parts: Vec<Part>,
    /// Their material, where they name none.
    pub material: String,
    /// Where it is at first.
    pub position: Vector,
    /// What of it is there. Default its center of mass.
    pub anchor: Anchor,
    /// How it is turned at first. In the plane, see `angle`.
    pub orientation: Quaternion,
    /// How it is turned at first in the plane, in radians.
    pub angle: f64,
    /// The first velocity of its center of mass.
    pub v: Vector,
    /// Its first angular velocity, in its own frame; in the plane the third component.
    pub omega: Vector,
    /// Its mass; nothing: by shapes and densities.
    pub mass: Option<f64>,
    /// Its moments of inertia about the center of mass, in the frame of the shapes; in the plane the
    /// last entry. Nothing: by shapes and mass.
    pub inertia: Option<Matrix3>,
    /// Its center of mass in the frame of the shapes; nothing: by shapes and densities.
    pub center: Option<Vector>,
    /// Force on its center of mass, of `t`, `q` and `v`.
    pub force: Option<Given>,
    /// The frame of `force`.
    pub force_frame: Frame,
    /// A moment, of `t`, `q` and `v`.
    pub moment: Option<Given>,
    /// The frame of `moment`.
    pub moment_frame: Frame,
    /// When it appears; nothing: it is there from the beginning.
    pub birth: Option<f64>,
    /// When it disappears; nothing: never.
    pub death: Option<f64>,
    /// Its group, see [`Scene::apart`](field@Scene::apart).
    pub group: Option<String>,
}

impl BodySpec {
    /// A body of one shape at rest in the origin, of the default material.
    pub fn new(name: impl Into<String>, shape: impl Into<Part>) -> Self {
        BodySpec { parts: vec![shape.into()], ..BodySpec::without_shape(name) }
    }

    /// A body without shapes, which needs a mass and moments of inertia.
    pub fn without_shape(name: impl Into<String>) -> Self {
        BodySpec {
            name: name.into(),
            parts: Vec::new(),
            material: DEFAULT.to_string(),
            position: [0.0; 3],
            anchor: Anchor::Center,
            orientation: IDENTITY,
            angle: 0.0,
            v: [0.0; 3],
            omega: [0.0; 3],
            mass: None,
            inertia: None,
            center: None,
            force: None,
            force_frame: Frame::World,
            moment: None,
            moment_frame: Frame::Body,
            birth: None,
            death: None,
            group: None,
        }
    }

    /// The same of this material.
    pub fn of(mut self, material: impl Into<String>) -> Self {
        self.material = material.into();
        self
    }

    /// The same at this place.
    pub fn at(mut self, position: Vector) -> Self {
        self.position = position;
        self
    }

    /// The same turned by this quaternion.
    pub fn orientation(mut self, orientation: Quaternion) -> Self {
        self.orientation = orientation;
        self
    }

    /// The same with these velocities, `v` in the frame of the world and `omega` in its own.
    pub fn moving(mut self, v: Vector, omega: Vector) -> Self {
        (self.v, self.omega) = (v, omega);
        self
    }

    /// The same with this mass.
    pub fn mass(mut self, mass: f64) -> Self {
        self.mass = Some(mass);
        self
    }
}
