//! Edges and corners within a plane, which are not felt.
//!
//! A face that lies on several triangles of one plane is clipped at the sides of each. What is cut off at a side between two of them goes
//! on beyond it, so that the corners of all they have in common with the face are those of the face and of the plane as a whole.

use super::super::polytope::Polytope;
use super::super::touch::Touch;
use super::{FLAT, NONE, Surface};
use saltus_model::rotation::{dot, norm};

impl Surface {
    /// How far the surface bends up across a side of a triangle, a sine; nothing on its rim.
    pub(super) fn bend(&self, t: u32, k: usize) -> Option<f64> {
        let other = self.neighbours[t as usize][k];
        if other == NONE {
            return None;
        }
        let inwards = self.inwards(t, k, self.third(other, t, k)?);
        Some(dot(self.normals[t as usize], inwards) / norm(inwards))
    }

    pub(super) fn is_flat(&self, t: u32, k: usize) -> bool {
        self.bend(t, k).is_some_and(|up| up.abs() <= FLAT)
    }

    /// Whether all sides about a corner are within one plane.
    pub(super) fn is_flat_about(&self, point: u32) -> bool {
        let fan = self.starts[point as usize] as usize..self.starts[point as usize + 1] as usize;
        self.fans[fan].iter().all(|&t| {
            let corners = self.triangles[t as usize];
            (0..3).all(|k| {
                let is_about = corners[k] == point || corners[(k + 1) % 3] == point;
                !is_about || self.is_flat(t, k)
            })
        })
    }

    /// Leaves out contacts with a triangle on what of it is not felt.
    pub(super) fn leave_out_flat(
        &self,
        t: u32,
        triangle: &Polytope,
        touches: &mut Vec<Touch>,
        start: usize,
    ) {
        let is_felt = |touch: &Touch| match touch.features[0] {
            corner @ 0..3 => !self.is_flat_about(self.triangles[t as usize][corner as usize]),
            edge @ 3..6 => !self.is_flat(t, self.side(edge as usize - 3, triangle)),
            _ => true,
        };
        let mut kept = start;
        for k in start..touches.len() {
            if is_felt(&touches[k]) {
                touches[kept] = touches[k];
                kept += 1;
            }
        }
        touches.truncate(kept);
    }
}
