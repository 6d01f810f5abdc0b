//! Two surfaces: the corners of each on the other, and where their edges cross.

use super::super::nearest::on_triangle;
use super::super::pairs::{relative, to_world};
use super::super::touch::{Touch, flip, merge, reduce};
use super::{DIRECTIONS, Room, SLACK, Surface};
use crate::pose::Pose;
use saltus_model::rotation::{Vector, norm, sub};

/// What is deeper than this share of the size is not pressed out, unless it may have come as far within the step.
const DEEP: f64 = 0.25;

impl Surface {
    /// Another surface: points of each on the other. It is first; normals from `self` to it.
    pub(super) fn surface(
        &self,
        other: &Surface,
        at_other: &Pose,
        at: &Pose,
        reach: f64,
        room: &mut Room,
        touches: &mut Vec<Touch>,
    ) {
        let start = touches.len();
        let size = self.size.min(other.size);
        let deep = reach.max(DEEP * size);
        for (surface, to, body, from, turned) in
            [(self, at, other, at_other, false), (other, at_other, self, at, true)]
        {
            let [center, half] = surface.bounds;
            let of = from.point(body.bounds[0]);
            for &k in &body.felt {
                let x = from.point(body.points[k as usize]);
                let c = sub(to.turn_back(sub(x, to.x)), center);
                if (0..3).any(|k| c[k].abs() > half[k] + deep) {
                    continue;
                }
                let one = touches.len();
                surface.point(x, of, to, [reach, deep], room, touches);
                for touch in &mut touches[one..] {
                    touch.features[0] = DIRECTIONS + k;
                }
                if turned {
                    flip(&mut touches[one..]);
                }
            }
        }
        let one = touches.len();
        let [to, back] = [relative(at, at_other), relative(at_other, at)];
        self.crossings(other, [to, back], [reach, deep], room, touches);
        to_world(&mut touches[one..], at);
        if !touches[start..].iter().any(|touch| touch.gap <= 0.0) {
            let Room { near, odd, .. } = room;
            let one = touches.len();
            self.through(other, &to, &back, deep, [&mut odd.triangles, near], touches);
            to_world(&mut touches[one..], at);
            let one = touches.len();
            other.through(self, &back, &to, deep, [&mut odd.triangles, near], touches);
            flip(&mut touches[one..]);
            to_world(&mut touches[one..], at_other);
        }
        merge(touches, start, size);
        reduce(touches, start, size);
    }

    /// A point of a body about `of`: how deep it is inside at the nearest place, or how far outside.
    fn point(
        &self,
        x: Vector,
        of: Vector,
        at: &Pose,
        [reach, deep]: [f64; 2],
        room: &mut Room,
        touches: &mut Vec<Touch>,
    ) {
        let Some(distance) = self.distance(at.turn_back(sub(x, at.x)), deep) else { return };
        let start = touches.len();
        // what is nearest may be no place to touch
        let mut within = (1.0 + SLACK) * distance + f64::EPSILON * deep;
        loop {
            self.ball(x, 0.0, of, at, within, room, touches);
            let found = touches[start..].iter().copied();
            let nearest = found.min_by(|a, b| a.gap.abs().total_cmp(&b.gap.abs()));
            touches.truncate(start);
            let nearest = nearest.filter(|touch| within >= deep || touch.gap.abs() <= within);
            if nearest.is_some() || !(within < deep) {
                touches.extend(nearest.filter(|touch| touch.gap <= reach));
                return;
            }
            within = deep.min(2.0 * within);
        }
    }

    /// How far `x` is from the surface, up to `within`.
    fn distance(&self, x: Vector, within: f64) -> Option<f64> {
        let to = |t: u32| norm(sub(x, on_triangle(x, self.corners(t)).0));
        self.tree.nearest(x, (1.0 + SLACK) * within, to)
    }
}
