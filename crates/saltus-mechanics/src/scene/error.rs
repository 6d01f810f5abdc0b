//! What can be wrong with a scene, and where.

use crate::{FinderError, ShapeError};
use saltus_expr::{ExprError, nearest};
use saltus_model::ModelError;
use std::fmt;
use thiserror::Error;

/// A scene that makes no sense: whose fault it is, and what is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct SceneError {
    /// The part of the scene.
    pub member: Member,
    /// Its name in messages: ``body `box` ``.
    pub owner: String,
    /// The key that is wrong, as model files write it; empty where it is the whole.
    pub key: &'static str,
    /// What is wrong.
    pub fault: Box<SceneFault>,
}

/// A part of a scene, by its position in its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Member {
    /// The scene itself.
    Scene,
    /// Of [`Scene::materials`](super::Scene::materials).
    Material(usize),
    /// Of [`Scene::contacts`](super::Scene::contacts).
    Contact(usize),
    /// Of [`Scene::statics`](super::Scene::statics).
    Static(usize),
    /// Of [`Scene::bodies`](super::Scene::bodies).
    Body(usize),
    /// Of [`Scene::joints`](super::Scene::joints).
    Joint(usize),
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SceneFault {
    /// A name that nothing has.
    #[error("there is no {what} named `{name}`{}", did_you_mean(.nearest))]
    Unknown {
        /// What was looked for.
        what: &'static str,
        /// The name.
        name: String,
        /// One that is near.
        nearest: Option<String>,
    },
    /// Two of the same name.
    #[error("the name is used twice; names of {what} must differ")]
    Duplicate {
        /// Of what.
        what: &'static str,
    },
    /// Two laws of the same pair.
    #[error("the contact of `{a}` and `{b}` is described twice")]
    SamePair {
        /// One material.
        a: String,
        /// The other.
        b: String,
    },
    /// Materials that meet and have no law.
    #[error(
        "nothing says what happens where `{a}` touches `{b}`; describe the contact of the two, or of `default` with `default`, or say that they do not touch"
    )]
    NoLaw {
        /// One material.
        a: String,
        /// The other.
        b: String,
    },
    /// Two laws that both could hold.
    #[error(
        "where `{a}` touches `{b}`, both the contact of `{a}` with `default` and that of `{b}` could be meant; describe the contact of `{a}` with `{b}`"
    )]
    Ambiguous {
        /// One material.
        a: String,
        /// The other.
        b: String,
    },
    /// A body without a mass.
    #[error("it has no mass: {why}")]
    NoMass {
        /// What would give it one.
        why: String,
    },
    /// Shapes so small or so large that nothing can be computed with their mass.
    #[error("the {what} of its shapes is {}, expected {allowed}", shown(*.value))]
    Weight {
        /// Mass or moment of inertia.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A number outside its range.
    #[error("`{key}` is {}, expected {allowed}", shown(*.value))]
    Range {
        /// The key.
        key: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A number that another one needs.
    #[error("missing `{key}`, which `{needed}` needs")]
    Missing {
        /// The key that is missing.
        key: &'static str,
        /// The one that is there.
        needed: &'static str,
    },
    /// A vector with the wrong number of components.
    #[error("`{key}` has {found} components, expected {expected}")]
    Length {
        /// The key.
        key: &'static str,
        /// How many it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// A body that is never there.
    #[error("`death` is {}, and the simulation begins at {}: expected a time after that", shown(*.death), shown(*.t0))]
    NeverThere {
        /// Its death.
        death: f64,
        /// The beginning.
        t0: f64,
    },
    /// A shape that makes no sense, or not there.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A plane on a body, which would have no end.
    #[error("a plane cannot belong to a body; use a box, or a static")]
    PlaneOnBody,
    /// Colliders that make no sense.
    #[error(transparent)]
    Finder(#[from] FinderError),
    /// A joint with the wrong number of bodies, or none that moves.
    #[error("a joint links one or two bodies, {found}")]
    Links {
        /// What was found.
        found: String,
    },
    /// A joint that follows itself, or one of two that has no coordinate.
    #[error("it follows `{joint}`, {why}")]
    Follows {
        /// The other joint.
        joint: String,
        /// Why that cannot be.
        why: &'static str,
    },
    /// A formula that cannot be read.
    #[error("`{key}`: {source}")]
    Formula {
        /// The key.
        key: &'static str,
        /// What is wrong with it.
        source: ExprError,
    },
    /// What the model says.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// A number as messages show it, those of hundreds of digits by their power of ten.
fn shown(value: f64) -> String {
    match value == 0.0 || !value.is_finite() || (1e-5..1e16).contains(&value.abs()) {
        true => value.to_string(),
        false => format!("{value:e}"),
    }
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

impl SceneFault {
    /// A name that none of the known ones is.
    pub(crate) fn unknown<'a>(
        what: &'static str,
        name: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> SceneFault {
        let nearest = nearest(name, known).map(str::to_string);
        SceneFault::Unknown { what, name: name.to_string(), nearest }
    }
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.fault {
            // it names its owner itself
            SceneFault::Model(error) => error.fmt(f),
            fault => write!(f, "{}: {fault}", self.owner),
        }
    }
}

impl std::error::Error for SceneError {}

impl super::Scene {
    /// Two parts of the same name, of which this one is the second.
    pub fn duplicate(&self, member: Member) -> SceneError {
        let what = match member {
            Member::Material(_) => "materials",
            _ => "statics, bodies and joints",
        };
        self.error(member, "name", SceneFault::Duplicate { what })
    }

    /// An error of a part of the scene.
    pub(crate) fn error(
        &self,
        member: Member,
        key: &'static str,
        fault: impl Into<SceneFault>,
    ) -> SceneError {
        let owner = match member {
            Member::Scene => "scene".to_string(),
            Member::Material(k) => format!("material `{}`", self.materials[k].name),
            Member::Contact(k) => {
                let [a, b] = &self.contacts[k].materials;
                format!("contact of `{a}` and `{b}`")
            }
            Member::Static(k) => format!("static `{}`", self.statics[k].name),
            Member::Body(k) => format!("body `{}`", self.bodies[k].name),
            Member::Joint(k) => format!("joint `{}`", self.joints[k].name),
        };
        SceneError { member, owner, key, fault: Box::new(fault.into()) }
    }
}
