//! Finds contacts between shapes of bodies.
//!
//! ```text
//! contacts whose gap can close within the step:   g ≤ h max(0, −n · (v_a − v_b)) + h |ω_a| ρ_a + h |ω_b| ρ_b
//! ```
//!
//! and those that a push of the step could close: up to a share of the sizes of the shapes, and not
//! farther than the bodies move at all. Boxes about what each shape sweeps in the step meet in a tree
//! (`broad.rs`); shapes in boxes that meet are looked at pair by pair (`pairs.rs`): closed forms for
//! what is round (`round.rs`), directions of separation and clipped faces for what is flat
//! (`separate.rs`, `manifold.rs`), those of cylinders and cones (`turned.rs`), surfaces of triangles (`surface.rs`), shapes of the plane
//! (`flat.rs`). What is found is a function of the configuration alone.
//!
//! Theory: the book, "Finding contacts".

mod broad;
pub(crate) mod driven;
mod ellipse;
mod flat;
mod hull;
mod manifold;
mod nearest;
mod pairs;
mod plan;
mod polytope;
mod revolved;
mod round;
mod search;
mod separate;
mod solid;
mod surface;
mod touch;
mod turned;

#[cfg(test)]
mod tests;

pub(crate) use hull::hull;
pub(crate) use surface::closed;

use crate::{Colliders, ShapeError};
use plan::Plan;
use saltus_model::{
    Body, ContactFinder, ContactSearch, Elasticity, Law, Model, ModelError, Side, System,
};
use std::sync::Arc;
use thiserror::Error;

/// Contacts between colliders, as a part of a model: `model.find_contacts(Arc::new(finder))`.
#[derive(Debug, Clone)]
pub struct Finder {
    plan: Arc<Plan>,
}

/// Colliders that make no sense.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FinderError {
    /// A shape that makes no sense.
    #[error("`{side}`: {source}")]
    Shape {
        /// Its side.
        side: String,
        /// What is wrong with it.
        source: ShapeError,
    },
    /// A position that nothing has.
    #[error("{owner} names {what} {found}, but there are {count}, counted from 0")]
    Position {
        /// What names it.
        owner: String,
        /// What is named.
        what: &'static str,
        /// The position.
        found: usize,
        /// How many there are.
        count: usize,
    },
    /// A list with more or fewer entries than sides.
    #[error("`drives` has {found} entries, expected {expected}, one for each side")]
    Drives {
        /// Its length.
        found: usize,
        /// The number of sides.
        expected: usize,
    },
    /// A body that is also driven.
    #[error("`{side}` follows a body and is driven as well; expected one of the two")]
    BodyDriven {
        /// The side.
        side: String,
    },
    /// A drive of the wrong length.
    #[error("`{side}`: `{what}` of its drive has {found} components, expected {expected}")]
    Drive {
        /// The side.
        side: String,
        /// `position` or `omega`.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it should have.
        expected: usize,
    },
    /// A plane on a body, which would have no end.
    #[error("`{side}`: a plane cannot belong to a body; use a box, or a side without a body")]
    PlaneOnBody {
        /// The side.
        side: String,
    },
    /// A law that is none of contacts.
    #[error(
        "law {index} is {found}; contacts that are found obey newton-impact, impact-friction or rolling-friction"
    )]
    Law {
        /// Its position.
        index: usize,
        /// What it is.
        found: &'static str,
    },
    /// More parts of shapes than numbers for them.
    #[error("`{side}`: its shapes have more than {} corners, edges and faces", u32::MAX)]
    Large {
        /// The side.
        side: String,
    },
}

impl Finder {
    /// Of these colliders, in this space.
    pub fn new(space: Body, colliders: &Colliders) -> Result<Finder, FinderError> {
        Ok(Finder { plan: Arc::new(Plan::new(space, colliders)?) })
    }
}

impl ContactFinder for Finder {
    fn space(&self) -> Body {
        self.plan.space
    }

    fn sides(&self) -> &[Side] {
        &self.plan.sides
    }

    fn laws(&self) -> &[Law] {
        &self.plan.laws.laws
    }

    fn elasticity(&self, law: usize) -> Option<Elasticity> {
        self.plan.laws.elastic.get(law).copied().flatten()
    }

    fn check(&self, model: &Model) -> Result<(), ModelError> {
        for side in &self.plan.sides {
            let Some(id) = side.system else { continue };
            let fits = match model.system(id)? {
                System::SecondOrder(system) => system.body() == Some(self.plan.space),
                System::FirstOrder(_) => false,
            };
            if !fits {
                return Err(ModelError::NotABody {
                    owner: format!("side `{}`", side.name),
                    what: "a finder of contacts",
                    system: 1,
                    bodies: match self.plan.space {
                        Body::Space => "rigid bodies in space",
                        Body::Plane => "rigid bodies in the plane",
                    },
                });
            }
        }
        Ok(())
    }

    fn begin(&self, starts: &[Option<[usize; 2]>]) -> Box<dyn ContactSearch> {
        Box::new(search::Search::new(Arc::clone(&self.plan), starts))
    }
}
