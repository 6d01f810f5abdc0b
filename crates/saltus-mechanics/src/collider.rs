//! What a finder of contacts is made of: shapes of sides, and the law of every pair of materials.

use crate::Placed;
use saltus_model::{Elasticity, Law, Operator, Side};

/// One shape of a side.
#[derive(Debug, Clone)]
pub struct Collider {
    /// Its side, by position.
    pub side: usize,
    /// The shape in the frame of its body, whose origin is the center of mass; in that of the world
    /// where the side has no body.
    pub placed: Placed,
    /// Its material, by position.
    pub material: usize,
}

/// How a side without a body moves: the frame of its shapes as functions of time.
#[derive(Debug, Clone, Default)]
pub struct Drive {
    /// Where its origin is, `x(t)`; at rest in the origin if there is none.
    pub position: Option<Operator>,
    /// Angular velocity `ω(t)` in the frame of the world.
    pub omega: Option<Operator>,
    /// Velocity of its surface along itself, in the frame of the world: conveyor belts.
    pub surface: [f64; 3],
}

impl Drive {
    /// Whether the frame moves, not its surface alone.
    pub(crate) fn moves(&self) -> bool {
        let goes = self.position.as_ref().is_some_and(|position| !position.is_constant());
        goes || self.omega.as_ref().is_some_and(|omega| !omega.is_zero())
    }
}

/// The laws of contacts, by the materials of the two shapes.
#[derive(Debug, Clone, PartialEq)]
pub struct PairLaws {
    /// The laws.
    pub laws: Vec<Law>,
    /// What contacts of each law give way by; none beyond the last one.
    pub elastic: Vec<Option<Elasticity>>,
    /// For materials `a ≤ b`, at `b (b + 1)/2 + a`: the position of their law; none where they pass
    /// through each other.
    pub of_pair: Vec<Option<u32>>,
}

impl PairLaws {
    /// The law of two materials.
    #[inline]
    pub fn law(&self, a: usize, b: usize) -> Option<u32> {
        let (a, b) = (a.min(b), a.max(b));
        self.of_pair.get(b * (b + 1) / 2 + a).copied().flatten()
    }
}

/// All that contacts are looked for between.
#[derive(Debug, Clone)]
pub struct Colliders {
    /// The sides.
    pub sides: Vec<Side>,
    /// How sides without a body move; nothing where they stand still. One entry a side.
    pub drives: Vec<Option<Drive>>,
    /// All shapes.
    pub shapes: Vec<Collider>,
    /// Their laws.
    pub laws: PairLaws,
    /// Pairs of sides that do not touch each other, the smaller position first: linked by a joint,
    /// say.
    pub apart: Vec<[usize; 2]>,
}
