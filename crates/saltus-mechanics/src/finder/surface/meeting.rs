//! Two surfaces: the corners of each on the other.

use super::super::pairs::{relative, to_world};
use super::super::touch::{Touch, flip, merge, reduce};
use super::{DIRECTIONS, Room, Surface};
use crate::pose::Pose;
use saltus_model::rotation::{Vector, sub};

/// What is deeper than this share of the size is not pressed out.
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
        for (surface, to, points, middle, from, turned) in [
            (self, at, &other.points, other.bounds[0], at_other, false),
            (other, at_other, &self.points, self.bounds[0], at, true),
        ] {
            let [center, half] = surface.bounds;
            let of = from.point(middle);
            for (k, &x) in points.iter().enumerate() {
                let x = from.point(x);
                let c = sub(to.turn_back(sub(x, to.x)), center);
                if (0..3).any(|k| c[k].abs() > half[k] + reach) {
                    continue;
                }
                let one = touches.len();
                surface.point(x, of, to, reach, size, room, touches);
                for touch in &mut touches[one..] {
                    touch.features[0] = DIRECTIONS + k as u32;
                }
                if turned {
                    flip(&mut touches[one..]);
                }
            }
        }
        let deep = DEEP * size;
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
    #[allow(clippy::too_many_arguments)]
    fn point(
        &self,
        x: Vector,
        of: Vector,
        at: &Pose,
        reach: f64,
        size: f64,
        room: &mut Room,
        touches: &mut Vec<Touch>,
    ) {
        let deep = reach.max(DEEP * size);
        let start = touches.len();
        self.ball(x, 0.0, of, at, deep, room, touches);
        let nearest =
            touches[start..].iter().copied().min_by(|a, b| a.gap.abs().total_cmp(&b.gap.abs()));
        touches.truncate(start);
        touches.extend(nearest.filter(|touch| touch.gap <= reach));
    }
}
