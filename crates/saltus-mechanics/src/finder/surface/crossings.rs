//! Where convex edges of two surfaces cross.
//!
//! Two bodies may overlap, or be about to, with no corner of either in the other. Then an edge `p + s d` of one is across an edge
//! `q + t e` of the other,
//!
//! ```text
//! n = ± d × e,   n a normal of the first surface on its edge, −n one of the second on its own;   g = n · (q + t e − p − s d)
//! ```
//!
//! with both nearest points within their edges. Where `g < 0` and what is between these points is inside of both, the way `−g` along
//! `n` is the one on which both edges part. The edge around a face that is nearly parallel to one of the other surface counts beside its
//! normals too, so that faces that lie on each other a little tilted touch all over. An edge reaches no farther than it is long: what is
//! finer than the overlap has corners in it.

use super::super::nearest::segments;
use super::super::separate::NEARLY;
use super::super::touch::Touch;
use super::{FLAT, LEAN, NONE, Room, Surface};
use crate::pose::Pose;
use saltus_model::rotation::{Vector, add, cross, dot, norm, scaled, sub, unit};

/// Edges that are more parallel than this cross nowhere: a sine.
const PARALLEL: f64 = 1e-7;

/// The overlap is looked for between both edges, and so far from there under the faces beside them, as shares of its depth: what is
/// between the edges may be in line with a face.
const ASIDE: [f64; 3] = [0.0, 0.25, 0.5];

/// Two surfaces and their places in each other's frame.
#[derive(Debug)]
struct Two<'a> {
    first: &'a Surface,
    second: &'a Surface,
    /// The first in the frame of the second.
    to: Pose,
    /// The second in the frame of the first.
    back: Pose,
}

/// Side `k` of the triangle `t`.
type Edge = (u32, usize);

impl Surface {
    /// Whether the surface can be touched on a side of a triangle by an edge: where it is convex or, if it has two sides, bent at all.
    /// Of the two triangles at an edge it is a side of the first.
    pub(super) fn is_edge(&self, (t, k): Edge) -> bool {
        match self.bend(t, k) {
            None => true,
            Some(up) if t < self.neighbours[t as usize][k] => {
                up < -FLAT || (!self.solid && up > FLAT)
            }
            Some(_) => false,
        }
    }

    /// The ends of an edge.
    pub(super) fn ends(&self, (t, k): Edge) -> [Vector; 2] {
        [k, (k + 1) % 3].map(|k| self.corners(t)[k])
    }

    /// Whether the surface has the normal `n` on an edge, or nearly: where `n` is nearly that of the face on one side of it, and the
    /// other side falls off.
    fn allows(&self, (t, k): Edge, n: Vector) -> bool {
        let nearly = |t: u32| {
            let along = dot(self.normals[t as usize], n);
            along > NEARLY || (!self.solid && along < -NEARLY)
        };
        let falls = |third: Vector| dot(n, self.inwards(t, k, third)) <= 0.0;
        let other = self.neighbours[t as usize][k];
        self.edge_has(t, k, n, LEAN)
            || match (nearly(t), other != NONE && nearly(other)) {
                (true, false) => other == NONE || self.third(other, t, k).is_some_and(falls),
                (false, true) => falls(self.corners(t)[(k + 2) % 3]),
                _ => false,
            }
    }

    /// Across `n`, from an edge to what is between the faces beside it.
    fn aside(&self, (t, k): Edge, n: Vector) -> Vector {
        let inwards = |third: Vector| unit(self.inwards(t, k, third)).unwrap_or([0.0; 3]);
        let other = self.neighbours[t as usize][k];
        let third = if other == NONE { None } else { self.third(other, t, k) };
        let own = inwards(self.corners(t)[(k + 2) % 3]);
        let way = add(own, third.map_or([0.0; 3], inwards));
        sub(way, scaled(dot(way, n), n))
    }

    /// Whether `x` is behind the surface. An open one has no behind, but on its rim nothing is.
    fn holds(&self, (t, k): Edge, x: Vector, reach: f64, near: &mut Vec<u32>) -> bool {
        match self.solid {
            true => self.way_out(x, reach, near).is_some(),
            false => self.neighbours[t as usize][k] != NONE,
        }
    }

    /// Triangles near the box of another surface, which is at `at`, widened.
    pub(super) fn near_bounds(&self, of: &Surface, at: &Pose, wide: f64, near: &mut Vec<u32>) {
        let [center, half] = of.bounds;
        let center = at.point(center);
        let across = |i: usize| (0..3).map(|j| at.R[i][j].abs() * half[j]).sum::<f64>() + wide;
        let half = [0, 1, 2].map(across);
        self.near(sub(center, half), add(center, half), near);
    }

    /// Adds contacts where edges of another surface cross those of this one, which is second, within `reach` and no deeper than `deep`.
    /// Poses are those of the other in the frame of this one and the other way round.
    pub(super) fn crossings(
        &self,
        first: &Surface,
        [to, back]: [Pose; 2],
        [reach, deep]: [f64; 2],
        room: &mut Room,
        touches: &mut Vec<Touch>,
    ) {
        let Room { near, odd, .. } = room;
        let wide = reach.max(deep);
        first.near_bounds(self, &back, wide, &mut odd.triangles);
        let two = Two { first, second: self, to, back };
        for &u in &odd.triangles {
            for l in (0..3).filter(|&l| first.edges[u as usize][l]) {
                let [q, q1] = first.ends((u, l)).map(|x| two.to.point(x));
                let wide = [wide.min(norm(sub(q1, q))); 3];
                let low = [0, 1, 2].map(|i| q[i].min(q1[i]));
                let high = [0, 1, 2].map(|i| q[i].max(q1[i]));
                self.near(sub(low, wide), add(high, wide), near);
                for &t in near.iter() {
                    for k in (0..3).filter(|&k| self.edges[t as usize][k]) {
                        let touch = two.across((u, l), [q, q1], (t, k), &mut odd.near);
                        touches.extend(touch.filter(|one| one.gap <= reach && one.gap >= -deep));
                    }
                }
            }
        }
    }
}

impl Two<'_> {
    /// Where an edge of the first, from `q` to `q1` in the frame of the second, crosses one of the second.
    fn across(
        &self,
        of_first: Edge,
        [q, q1]: [Vector; 2],
        of_second: Edge,
        near: &mut Vec<u32>,
    ) -> Option<Touch> {
        let [p, p1] = self.second.ends(of_second);
        let (d, e) = (sub(p1, p), sub(q1, q));
        let (dd, ee) = (dot(d, d), dot(e, e));
        let across = cross(d, e);
        let square = dot(across, across);
        if !(square > PARALLEL * PARALLEL * dd * ee) {
            return None;
        }
        let n = scaled(1.0 / square.sqrt(), across);
        let (between, shorter) = (dot(n, sub(q, p)), dd.min(ee));
        if !(between * between <= shorter) {
            return None;
        }
        let (s, t) = segments(p, d, q, e);
        let (x, y) = (add(p, scaled(s, d)), add(q, scaled(t, e)));
        let apart = sub(y, x);
        if !(dot(apart, apart) - between * between <= 1e-9 * shorter) {
            return None;
        }
        let n = [n, scaled(-1.0, n)].into_iter().find(|&n| {
            self.second.allows(of_second, n)
                && self.first.allows(of_first, scaled(-1.0, self.back.turn(n)))
                && self.is_between(x, n)
        })?;
        let (gap, point) = (dot(n, apart), scaled(0.5, add(x, y)));
        let size = self.first.size.min(self.second.size);
        let is_one =
            gap >= -LEAN * size || self.overlap(of_first, of_second, point, scaled(-gap, n), near);
        let features = [
            self.first.side_feature(of_first.0, of_first.1),
            self.second.side_feature(of_second.0, of_second.1),
        ];
        is_one.then_some(Touch { gap, normal: n, point, features })
    }

    /// Whether both are on their own sides of `x`, where the centers say on which they are.
    fn is_between(&self, x: Vector, n: Vector) -> bool {
        let center = self.to.point(self.first.bounds[0]);
        (self.second.solid || dot(n, sub(center, x)) > 0.0)
            && (self.first.solid || dot(n, sub(self.second.bounds[0], x)) < 0.0)
    }

    /// Whether both are behind their edges, next to `x` between them.
    fn overlap(
        &self,
        of_first: Edge,
        of_second: Edge,
        x: Vector,
        depth: Vector,
        near: &mut Vec<u32>,
    ) -> bool {
        let Some(n) = unit(depth) else { return true };
        let m = scaled(-1.0, self.back.turn(n));
        let aside = self.to.turn(self.first.aside(of_first, m));
        let aside = add(aside, self.second.aside(of_second, n));
        let reach = 2.0 * norm(depth);
        ASIDE.into_iter().any(|share| {
            let x = add(x, scaled(share * norm(depth), aside));
            self.second.holds(of_second, x, reach, near)
                && self.first.holds(of_first, self.back.point(x), reach, near)
        })
    }
}
