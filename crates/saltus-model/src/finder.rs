//! Contacts that come and go between rigid bodies, found while the model moves.
//!
//! A finder is data, as the model is: shapes, and who may touch whom. A search is a finder at work in
//! one simulation. What it finds depends on the configuration alone, so a step that fails has changed
//! nothing, and a run that goes on from a checkpoint finds the same contacts to the last bit.

use crate::rotation::Vector;
use crate::{Body, Law, Model, ModelError, OperatorError, SystemId};
use std::fmt::Debug;
use std::sync::Arc;

/// Something that can be touched: a body of the model, or a thing that moves as it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// Its name in results.
    pub name: Arc<str>,
    /// The system whose configuration it follows; none of what stands still or is driven.
    pub system: Option<SystemId>,
}

/// What a contact gives way by: springs and dampers along its normal and its tangents.
///
/// ```text
/// f_N = max(0, −k g − c ġ) where g ≤ 0,     f_T = −k_T (e + (c/k) ė),     ‖f_T‖ ≤ μ f_N
/// ```
///
/// Each point of contact has its own; `e` is how far the tangential spring is stretched: it follows the tangential way, but for what slides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Elasticity {
    /// `k`, force a length.
    pub stiffness: f64,
    /// `c`, force a velocity.
    pub damping: f64,
    /// `k_T`.
    pub tangential: f64,
}

/// A contact between two sides.
///
/// ```text
/// u = (n · c, t₁ · c, t₂ · c),    c = velocity of the first side less that of the second, at the point
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FoundContact {
    /// The sides, by their positions in [`ContactFinder::sides`]; one of them at least is a body.
    pub sides: [u32; 2],
    /// Which contact of this pair it is: the same number for the same place, from step to step.
    pub feature: u64,
    /// Its law, by its position in [`ContactFinder::laws`].
    pub law: u32,
    /// Distance; negative where the shapes overlap.
    pub gap: f64,
    /// Unit normal in the frame of the world, from the second side to the first.
    pub normal: Vector,
    /// Where it is, in the frame of the world: in the middle of the gap.
    pub point: Vector,
}

/// When and where contacts are looked for.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    /// Beginning of the step.
    pub t: f64,
    /// Its length: whatever can close within it is to be found.
    pub h: f64,
    /// Configurations of all mechanical systems, one after the other.
    pub q: &'a [f64],
    /// Their velocities, with the forces of the step already at work.
    pub v: &'a [f64],
}

/// Finds contacts between the rigid bodies of a model.
pub trait ContactFinder: Debug + Send + Sync {
    /// Where its bodies live.
    fn space(&self) -> Body;

    /// All that can be touched.
    fn sides(&self) -> &[Side];

    /// The laws of its contacts: [`Law::NewtonImpact`], [`Law::ImpactFriction`] or
    /// [`Law::RollingFriction`].
    fn laws(&self) -> &[Law];

    /// What contacts of this law give way by; nothing where they are rigid, as they are by default.
    fn elasticity(&self, _law: usize) -> Option<Elasticity> {
        None
    }

    /// Finds what is wrong with the finder in this model.
    fn check(&self, model: &Model) -> Result<(), ModelError>;

    /// A search. `starts` says for each side where its system begins in `q` and in `v`; nothing for
    /// sides without one.
    fn begin(&self, starts: &[Option<[usize; 2]>]) -> Box<dyn ContactSearch>;
}

/// A finder at work in a simulation.
pub trait ContactSearch: Debug + Send + Sync {
    /// From now on so many threads may take part, with the same answers, bit for bit. Does nothing
    /// by default.
    fn share(&mut self, _threads: usize) {}

    /// Fills in all contacts whose gap can close within the step, sorted by sides, then by feature.
    fn find(
        &mut self,
        moment: Moment<'_>,
        found: &mut Vec<FoundContact>,
    ) -> Result<(), OperatorError>;

    /// Velocity of the first driven side less that of the second, at a contact that was found in the last step;
    /// zero of what stands still, and by default. Velocities of bodies are not part of it.
    fn drive(&self, _contact: &FoundContact) -> Vector {
        [0.0; 3]
    }

    /// Angular velocities of its driven sides, added; zero of what stands still, and by default.
    fn turn(&self, _contact: &FoundContact) -> Vector {
        [0.0; 3]
    }
}
