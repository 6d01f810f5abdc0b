//! Contacts of two shapes in their places.

use super::manifold::Clipper;
use super::nearest::on_polytope;
use super::polytope::{Moved, Polytope, View};
use super::revolved::{self, Revolved};
use super::round::{HalfSpace, capsules, rim, sphere_profile, sphere_segment, spheres};
use super::separate::boxes;
use super::solid::Solid;
use super::touch::{Touch, flip, merge, reduce};
use crate::pose::Pose;
use saltus_model::rotation::{Vector, dot, scaled, sub};

/// A shape in its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Body<'a> {
    pub solid: &'a Solid,
    pub at: &'a Pose,
}

/// Room to work in.
#[derive(Debug, Default)]
pub(super) struct Room {
    pub clipper: Clipper,
    pub moved: Moved,
    pub revolved: Revolved,
    pub surface: super::surface::Room,
    pub flat: super::flat::Room,
}

/// `B` in the frame of `A`.
#[inline]
pub(super) fn relative(a: &Pose, b: &Pose) -> Pose {
    let (A, B) = (&a.R, &b.R);
    let mut R = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            R[i][j] = A[0][i] * B[0][j] + A[1][i] * B[1][j] + A[2][i] * B[2][j];
        }
    }
    Pose::of(a.turn_back(sub(b.x, a.x)), R)
}

/// From the frame of `at` into that of the world.
pub(super) fn to_world(touches: &mut [Touch], at: &Pose) {
    for touch in touches {
        touch.normal = at.turn(touch.normal);
        touch.point = at.point(touch.point);
    }
}

/// In which order shapes are taken.
fn rank(solid: &Solid) -> u8 {
    match solid {
        Solid::Sphere { .. } => 0,
        Solid::Capsule { .. } => 1,
        Solid::Box { .. } | Solid::Hull { .. } => 2,
        Solid::Cylinder { .. } | Solid::Cone { .. } => 3,
        Solid::Surface(_) => 4,
        Solid::Polygon(_) => 5,
        Solid::Polyline(_) => 6,
        Solid::Plane { .. } => 7,
    }
}

/// Adds all contacts within `reach`, normals from `b` to `a`.
pub(super) fn contacts(
    a: Body<'_>,
    b: Body<'_>,
    reach: f64,
    room: &mut Room,
    touches: &mut Vec<Touch>,
) {
    let start = touches.len();
    if rank(a.solid) <= rank(b.solid) {
        ordered(a, b, reach, room, touches);
    } else {
        ordered(b, a, reach, room, touches);
        flip(&mut touches[start..]);
    }
}

fn ordered(a: Body<'_>, b: Body<'_>, reach: f64, room: &mut Room, touches: &mut Vec<Touch>) {
    match (a.solid, b.solid) {
        (Solid::Sphere { radius }, _) => sphere(a.at.x, *radius, b, reach, room, touches),
        (_, Solid::Plane { n, offset }) => {
            plane(a, &HalfSpace::new(*n, *offset, b.at), reach, touches);
        }
        (Solid::Capsule { radius, half, .. }, Solid::Capsule { radius: s, half: other, .. }) => {
            let ends = [axis(a.at, *half), axis(b.at, *other)];
            capsules(ends[0], *radius, ends[1], *s, |touch| push(touches, touch, reach));
        }
        (Solid::Box { half, body }, Solid::Box { half: other, body: second }) => {
            let start = touches.len();
            let to = relative(a.at, b.at);
            let size = body.size.min(second.size);
            if let Some(axis) = boxes(*half, *other, &to, size, reach) {
                let second = room.moved.view(second, &to);
                room.clipper.along(View::own(body), second, axis, [0.0; 2], reach, touches);
                settle(touches, start, size, a.at);
            }
        }
        (_, Solid::Surface(surface)) => surface.contacts(a, b.at, reach, room, touches),
        (Solid::Polygon(_) | Solid::Polyline(_), _) => {
            super::flat::contacts(a, b, reach, room, touches);
        }
        (Solid::Cylinder { .. } | Solid::Cone { .. }, _)
        | (_, Solid::Cylinder { .. } | Solid::Cone { .. }) => {
            revolved::contacts(a, b, reach, &mut room.revolved, touches);
        }
        _ => {
            if let (Some((core, r)), Some((body, s))) = (flat_faced(a.solid), flat_faced(b.solid)) {
                polytopes((core, r, a.at), (body, s, b.at), reach, room, touches);
            }
        }
    }
}

/// A shape that is a polytope, widened by a radius.
pub(super) fn flat_faced(solid: &Solid) -> Option<(&Polytope, f64)> {
    match solid {
        Solid::Capsule { radius, core, .. } => Some((core, *radius)),
        Solid::Box { body, .. } | Solid::Hull { body } => Some((body, 0.0)),
        _ => None,
    }
}

/// A point along the axis and the way along it.
fn axis(at: &Pose, half: f64) -> [Vector; 2] {
    let along = at.turn([0.0, 0.0, half]);
    [sub(at.x, along), scaled(2.0, along)]
}

#[inline]
fn push(touches: &mut Vec<Touch>, touch: Touch, reach: f64) {
    if touch.gap <= reach {
        touches.push(touch);
    }
}

fn sphere(x: Vector, r: f64, b: Body<'_>, reach: f64, room: &mut Room, touches: &mut Vec<Touch>) {
    match b.solid {
        Solid::Sphere { radius } => push(touches, spheres(x, r, b.at.x, *radius), reach),
        Solid::Plane { n, offset } => {
            push(touches, HalfSpace::new(*n, *offset, b.at).touch(x, r, 0), reach);
        }
        Solid::Capsule { radius, half, .. } => {
            let [p, d] = axis(b.at, *half);
            push(touches, sphere_segment(x, r, p, d, *radius), reach);
        }
        Solid::Box { body, .. } | Solid::Hull { body } => {
            let c = b.at.turn_back(sub(x, b.at.x));
            if !outside_sphere(body, c, r + reach) {
                let (y, n, distance, feature) = on_polytope(View::own(body), c);
                let touch = Touch::on_second(y, n, distance - r, [0, feature]);
                let start = touches.len();
                push(touches, touch, reach);
                to_world(&mut touches[start..], b.at);
            }
        }
        Solid::Cylinder { .. } | Solid::Cone { .. } => {
            push(touches, sphere_profile(x, r, b.at, &revolved::profile(b.solid)), reach);
        }
        Solid::Surface(surface) => surface.sphere(x, r, b.at, reach, &mut room.surface, touches),
        Solid::Polygon(polygon) => polygon.disk(x, r, b.at, reach, touches),
        Solid::Polyline(polyline) => polyline.disk(x, r, b.at, reach, touches),
    }
}

/// Whether some face is farther away than `reach`.
fn outside_sphere(body: &Polytope, c: Vector, reach: f64) -> bool {
    body.normals.iter().zip(&body.offsets).any(|(&n, o)| dot(n, c) - o > reach)
}

/// Corners, ends and rims on a plane.
fn plane(a: Body<'_>, plane: &HalfSpace, reach: f64, touches: &mut Vec<Touch>) {
    let start = touches.len();
    let points = |points: &[Vector], r: f64, touches: &mut Vec<Touch>| {
        for (k, &x) in points.iter().enumerate() {
            push(touches, plane.touch(a.at.point(x), r, k as u32), reach);
        }
    };
    match a.solid {
        Solid::Capsule { radius, core, .. } => points(&core.vertices, *radius, touches),
        Solid::Box { half, body } => {
            points(&body.vertices, 0.0, touches);
            reduce(touches, start, half[0].min(half[1]).min(half[2]));
        }
        Solid::Hull { body } => {
            points(&body.vertices, 0.0, touches);
            reduce(touches, start, body.size);
        }
        Solid::Cylinder { radius, half } => {
            let up = dot(plane.n, a.at.turn([0.0, 0.0, 1.0])) >= 0.0;
            // the lower rim, and of the upper one the lowest point
            for (z, first, lower) in [(-half, 0, up), (*half, super::round::RIM, !up)] {
                let mut many = 0;
                rim(a.at, z, *radius, plane, first, |touch| {
                    if lower || many == 0 {
                        push(touches, touch, reach);
                    }
                    many += 1;
                });
            }
        }
        Solid::Cone { radius, half } => {
            rim(a.at, -half, *radius, plane, 0, |touch| push(touches, touch, reach));
            let tip = plane.touch(a.at.point([0.0, 0.0, *half]), 0.0, 2 * super::round::RIM);
            push(touches, tip, reach);
        }
        Solid::Surface(surface) => {
            points(&surface.points, 0.0, touches);
            merge(touches, start, surface.size);
            reduce(touches, start, surface.size);
        }
        Solid::Polygon(polygon) => polygon.plane(a.at, plane, reach, touches),
        Solid::Polyline(polyline) => polyline.plane(a.at, plane, reach, touches),
        _ => {}
    }
}

/// Two convex bodies with flat faces and their radii.
pub(super) fn polytopes(
    (a, r, at_a): (&Polytope, f64, &Pose),
    (b, s, at_b): (&Polytope, f64, &Pose),
    reach: f64,
    room: &mut Room,
    touches: &mut Vec<Touch>,
) {
    let start = touches.len();
    let to = relative(at_a, at_b);
    let other = room.moved.view(b, &to);
    room.clipper.contacts(View::own(a), other, [r, s], reach, touches);
    settle(touches, start, a.size.min(b.size), at_a);
}

/// One contact in each place, not too many, in the frame of the world.
fn settle(touches: &mut Vec<Touch>, start: usize, size: f64, at: &Pose) {
    merge(touches, start, size);
    reduce(touches, start, size);
    to_world(&mut touches[start..], at);
}
