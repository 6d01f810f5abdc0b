//! What can be wrong with a joint or contact, before its interaction has a name.

use saltus_model::rotation::{Vector, unit};
use saltus_model::{Body, ModelError};

/// Told by the check of the relation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// One of the linked systems, counted from one, is none of this kind.
    NotABody(usize, Body),
    /// The wrong number of them.
    Linked { expected: &'static str, found: usize },
    /// A coordinate that the joint does not leave free.
    Coordinate { joint: &'static str, name: &'static str, known: String },
    /// Something built into a joint that leaves nothing free.
    NothingFree { joint: &'static str, what: &'static str },
    /// A moment that breaks a joint which bears none.
    NoMoment { joint: &'static str },
    /// A coordinate that starts outside its limits.
    OutsideLimits { joint: &'static str, name: &'static str, limits: [f64; 2], found: f64 },
    /// Limits of an angle whose turns are not counted so far.
    LimitsApart { joint: &'static str, name: &'static str, limits: [f64; 2], period: f64 },
    /// No direction.
    Direction { what: &'static str, found: Vector },
    /// A number outside its range.
    Range { what: &'static str, value: f64, allowed: &'static str },
}

impl Fault {
    /// The error of an interaction whose relation is `what`.
    pub fn of(self, owner: &str, kind: &'static str) -> ModelError {
        let owner = owner.to_string();
        match self {
            Fault::NotABody(system, body) => {
                let bodies = match body {
                    Body::Space => "rigid bodies in space",
                    Body::Plane => "rigid bodies in the plane",
                };
                ModelError::NotABody { owner, what: kind, system, bodies }
            }
            Fault::Linked { expected, found } => {
                ModelError::Linked { owner, what: kind, expected, found }
            }
            Fault::Coordinate { joint, name, known } => {
                ModelError::Coordinate { owner, joint, name, known }
            }
            Fault::NothingFree { joint, what } => ModelError::NothingFree { owner, joint, what },
            Fault::NoMoment { joint } => ModelError::NoMoment { owner, joint },
            Fault::OutsideLimits { joint, name: coordinate, limits: [lower, upper], found } => {
                ModelError::OutsideLimits { owner, joint, coordinate, lower, upper, found }
            }
            Fault::LimitsApart { joint, name: coordinate, limits: [lower, upper], period } => {
                ModelError::LimitsApart { owner, joint, coordinate, lower, upper, period }
            }
            Fault::Direction { what, found } => ModelError::Direction { owner, what, found },
            Fault::Range { what, value, allowed } => {
                ModelError::Range { owner, what, value, allowed }
            }
        }
    }
}

/// The unit vector of a direction that somebody gave.
pub(crate) fn direction(what: &'static str, found: Vector) -> Result<Vector, Fault> {
    unit(found).ok_or(Fault::Direction { what, found })
}

/// A point that somebody gave is finite.
pub(crate) fn point(what: &'static str, found: Vector) -> Result<Vector, Fault> {
    match found.iter().find(|x| !x.is_finite()) {
        None => Ok(found),
        Some(&value) => Err(Fault::Range { what, value, allowed: "the finite numbers" }),
    }
}

/// A number that somebody gave is not negative and finite.
pub(crate) fn not_negative(what: &'static str, value: f64) -> Result<f64, Fault> {
    match value >= 0.0 && value.is_finite() {
        true => Ok(value),
        false => Err(Fault::Range { what, value, allowed: "[0, inf)" }),
    }
}

/// A number that somebody gave is finite and not zero.
pub(crate) fn not_zero(what: &'static str, value: f64) -> Result<f64, Fault> {
    match value != 0.0 && value.is_finite() {
        true => Ok(value),
        false => Err(Fault::Range { what, value, allowed: "the finite numbers but zero" }),
    }
}
