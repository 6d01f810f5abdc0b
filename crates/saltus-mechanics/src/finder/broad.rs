//! Boxes that meet: the one place that names the library's trees.

use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::Vector as Glam;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhNode, BvhWorkspace};
use saltus_model::rotation::Vector;
use std::fmt;

/// A box: its lowest and its highest corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    pub low: Vector,
    pub high: Vector,
}

impl Bounds {
    /// `min n · x`.
    #[inline]
    pub fn lowest(&self, n: Vector) -> f64 {
        let corner = |k: usize| if n[k] > 0.0 { self.low[k] } else { self.high[k] };
        n[0] * corner(0) + n[1] * corner(1) + n[2] * corner(2)
    }

    fn aabb(&self) -> Aabb {
        Aabb { mins: Glam::from_array(self.low), maxs: Glam::from_array(self.high) }
    }
}

/// Moves of all boxes after which a tree is made anew. Between them it keeps its branches, so that no
/// second tree is needed to put them in order.
const MOVES: usize = 16;

/// A tree of boxes, each with a number.
#[derive(Clone, Default)]
pub(super) struct Tree {
    bvh: Bvh,
    workspace: BvhWorkspace,
    count: usize,
    moves: usize,
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tree").field("count", &self.count).finish_non_exhaustive()
    }
}

impl Tree {
    /// Of all boxes at once.
    pub fn new(boxes: impl Iterator<Item = Bounds>) -> Tree {
        let mut count = 0;
        let boxes = boxes.map(|bounds| bounds.aabb()).inspect(|_| count += 1).enumerate();
        let bvh = Bvh::from_iter(BvhBuildStrategy::Binned, boxes);
        Tree { bvh, workspace: BvhWorkspace::default(), count, moves: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Moves the box of this number.
    #[inline]
    pub fn set(&mut self, number: usize, bounds: Bounds) {
        self.bvh.insert_or_update_partially(bounds.aabb(), number as u32, 0.0);
    }

    /// To be called once boxes have moved.
    pub fn refit(&mut self) {
        self.moves += 1;
        if self.moves.is_multiple_of(MOVES) {
            self.bvh.rebuild(&mut self.workspace, BvhBuildStrategy::Binned);
        } else {
            self.bvh.refit_without_opt();
        }
    }

    /// All pairs of boxes that meet.
    pub fn pairs(&mut self, mut found: impl FnMut(u32, u32)) {
        self.bvh.traverse_bvtt_single_tree::<false>(&mut self.workspace, &mut found);
    }

    /// The least distance of `x` from what is in the boxes, where it is below `within`.
    pub fn nearest(&self, x: Vector, within: f64, distance: impl Fn(u32) -> f64) -> Option<f64> {
        let x = Glam::from_array(x);
        let to_box =
            |node: &BvhNode, _| (node.mins() - x).max(x - node.maxs()).max(Glam::ZERO).length();
        let to_leaf = |leaf, _| Some(distance(leaf));
        self.bvh.find_best(within, to_box, to_leaf).map(|(_, least)| least)
    }

    /// All boxes that meet this one.
    #[inline]
    pub fn meeting(&self, bounds: &Bounds, mut found: impl FnMut(u32)) {
        if self.count > 0 {
            self.bvh.intersect_aabb(&bounds.aabb()).for_each(&mut found);
        }
    }
}
