//! Cylinders and cones with anything that is convex and no sphere or plane.
//!
//! The direction between the two bodies comes from the library (nearest points of convex bodies by
//! their supports; overlap by an expanding polytope). Where it is the normal of a face, contacts are
//! those of clipping, with the rim as a polygon one corner of which is exactly where the rim reaches
//! farthest; else there is one contact, and its gap is that of the supports,
//!
//! ```text
//! s(n) = min_{b ∈ B} n · b − max_{a ∈ A} n · a
//! ```

use super::manifold::Clipper;
use super::pairs::{Body, flat_faced, relative, to_world};
use super::polytope::{Moved, Polytope, View};
use super::round::RIM;
use super::separate::{Axis, Kind};
use super::solid::Solid;
use super::surface::Surface;
use super::touch::{Touch, merge, reduce};
use crate::pose::Pose;
use parry3d_f64::math::{Pose as GlamPose, Vector as Glam};
use parry3d_f64::query::epa::EPA;
use parry3d_f64::query::gjk::{self, CsoPoint, GJKResult, VoronoiSimplex};
use parry3d_f64::shape::SupportMap;
use saltus_model::rotation::{Vector, add, cross, dot, scaled, sub};
use std::fmt;

/// Sides of the polygon that stands for a rim.
const SIDES: usize = 8;

/// Two rims and a tip on planes; vertices, edges and faces of what stands for the body elsewhere.
pub(super) const FEATURES: u32 = WALL + 3;

/// Features from here on are those of what stands for a body.
const BODY: u32 = 2 * RIM + 1;

/// Features from here on are those of a line of the wall: those before are corners, edges and faces of
/// a prism.
const WALL: u32 = BODY + 2 * SIDES as u32 + 3 * SIDES as u32 + SIDES as u32 + 2;

/// Directions closer than this to the normal of a face are that normal: what the library's answers
/// are off by, with room to spare.
const FACE: f64 = 1e-4;

/// What can stand for a body.
struct StandIns {
    prism: Polytope,
    cone: Polytope,
    line: Polytope,
}

/// Room to work in.
pub(super) struct Revolved {
    stand_ins: [StandIns; 2],
    moved: Moved,
    clipper: Clipper,
    simplex: VoronoiSimplex,
    epa: EPA,
}

impl fmt::Debug for Revolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Revolved")
    }
}

impl Default for Revolved {
    fn default() -> Self {
        Revolved {
            stand_ins: [0, 1].map(|_| StandIns {
                prism: prism(),
                cone: pyramid(),
                line: Polytope::segment(1.0),
            }),
            moved: Moved::default(),
            clipper: Clipper::default(),
            simplex: VoronoiSimplex::new(),
            epa: EPA::new(),
        }
    }
}

/// Half of the section through the axis, counterclockwise from the axis to the axis.
pub(super) fn profile(solid: &Solid) -> Vec<[f64; 2]> {
    match solid {
        Solid::Cylinder { radius, half } => {
            vec![[0.0, -half], [*radius, -half], [*radius, *half], [0.0, *half]]
        }
        Solid::Cone { radius, half } => vec![[0.0, -half], [*radius, -half], [0.0, *half]],
        _ => Vec::new(),
    }
}

/// A convex body by its supports, in the frame of the first body.
struct Support<'a> {
    shape: Convex<'a>,
    at: Option<&'a Pose>,
}

/// What has supports.
#[derive(Clone, Copy)]
enum Convex<'a> {
    Flat(&'a Polytope),
    Cylinder { radius: f64, half: f64 },
    Cone { radius: f64, half: f64 },
}

impl<'a> Convex<'a> {
    fn of(solid: &'a Solid) -> Option<(Convex<'a>, f64)> {
        match solid {
            Solid::Cylinder { radius, half } => {
                Some((Convex::Cylinder { radius: *radius, half: *half }, 0.0))
            }
            Solid::Cone { radius, half } => {
                Some((Convex::Cone { radius: *radius, half: *half }, 0.0))
            }
            _ => flat_faced(solid).map(|(body, r)| (Convex::Flat(body), r)),
        }
    }

    fn size(&self) -> f64 {
        match self {
            Convex::Flat(body) => body.size,
            Convex::Cylinder { radius, half } | Convex::Cone { radius, half } => radius.min(*half),
        }
    }

    /// The face that looks along `n`, and its normal: flat faces and caps are exact.
    fn facing(&self, n: Vector) -> Option<(usize, Vector)> {
        let near = |m: Vector| {
            let apart = sub(m, n);
            dot(apart, apart) < FACE * FACE
        };
        let (down, up) = ([0.0, 0.0, -1.0], [0.0, 0.0, 1.0]);
        match self {
            Convex::Flat(body) => {
                let face = body.normals.iter().position(|&m| near(m))?;
                Some((face, body.normals[face]))
            }
            Convex::Cylinder { .. } | Convex::Cone { .. } if near(down) => Some((0, down)),
            Convex::Cylinder { .. } if near(up) => Some((1, up)),
            _ => None,
        }
    }

    /// Where it reaches farthest along `n`.
    fn support(&self, n: Vector) -> Vector {
        let rim = |radius: f64, z: f64| {
            let across = n[0].hypot(n[1]);
            if across > 0.0 {
                [radius * n[0] / across, radius * n[1] / across, z]
            } else {
                [radius, 0.0, z]
            }
        };
        match self {
            Convex::Flat(body) => {
                let far = |a: &&Vector, b: &&Vector| dot(n, **a).total_cmp(&dot(n, **b));
                body.vertices.iter().max_by(far).copied().unwrap_or([0.0; 3])
            }
            Convex::Cylinder { radius, half } => rim(*radius, half.copysign(n[2])),
            Convex::Cone { radius, half } => {
                let (tip, base) = ([0.0, 0.0, *half], rim(*radius, -half));
                if dot(n, tip) > dot(n, base) { tip } else { base }
            }
        }
    }
}

impl SupportMap for Support<'_> {
    fn local_support_point(&self, dir: Glam) -> Glam {
        let n = dir.to_array();
        let x = match self.at {
            None => self.shape.support(n),
            Some(at) => at.point(self.shape.support(at.turn_back(n))),
        };
        Glam::from_array(x)
    }
}

/// Adds all contacts within `reach`, normals from `b` to `a`.
pub(super) fn contacts(
    a: Body<'_>,
    b: Body<'_>,
    reach: f64,
    room: &mut Revolved,
    touches: &mut Vec<Touch>,
) {
    let (Some((first, r)), Some((second, s))) = (Convex::of(a.solid), Convex::of(b.solid)) else {
        return;
    };
    let start = touches.len();
    let to = relative(a.at, b.at);
    meet((first, r), (second, s), &to, reach, room, touches);
    let size = first.size().min(second.size());
    merge(touches, start, size);
    // all corners of a rim stay, as on a plane: a choice among them would change with the lowest
    if touches.len() - start > SIDES {
        reduce(touches, start, size);
    }
    to_world(&mut touches[start..], a.at);
}

/// Contacts in the frame of the first, the second at `to`.
fn meet(
    (a, r): (Convex<'_>, f64),
    (b, s): (Convex<'_>, f64),
    to: &Pose,
    reach: f64,
    room: &mut Revolved,
    touches: &mut Vec<Touch>,
) {
    let wide = reach + r + s;
    let of_a = Support { shape: a, at: None };
    let of_b = Support { shape: b, at: Some(to) };
    let Some((n, x, y)) = direction(&of_a, &of_b, wide, room) else { return };
    // a face that looks along the direction decides it: first one of a body with flat faces
    let facing_a = a.facing(n).map(|(f, n)| (Kind::FaceA(f), n));
    let facing_b = b.facing(to.turn_back(scaled(-1.0, n)));
    let facing_b = facing_b.map(|(f, n)| (Kind::FaceB(f), scaled(-1.0, to.turn(n))));
    let facing = match b {
        Convex::Flat(_) => facing_b.or(facing_a),
        _ => facing_a.or(facing_b),
    };
    let (kind, n) = facing.map_or((None, n), |(kind, n)| (Some(kind), n));
    let Revolved { stand_ins: [ins_a, ins_b], moved, clipper, .. } = room;
    let (body_a, from_a) = stand_in(a, n, ins_a);
    let (body_b, from_b) = stand_in(b, to.turn_back(scaled(-1.0, n)), ins_b);
    let view_a = View::own(body_a);
    let view_b = moved.view(body_b, to);
    let start = touches.len();
    if let Some(kind) = kind {
        // no separation claimed: contacts are those of the face alone
        let axis = Axis { s: f64::NEG_INFINITY, n, kind, beside: None };
        clipper.along(view_a, view_b, axis, [r, s], reach, touches);
    }
    if view_a.normals.is_empty() && view_b.normals.is_empty() {
        beside(view_a, view_b, n, [r, s], wide, touches);
    }
    if touches.len() == start {
        let near = |at: Vector| Glam::from_array(at);
        let deep_a = of_a.local_support_point(near(n)).to_array();
        let deep_b = of_b.local_support_point(near(scaled(-1.0, n))).to_array();
        let gap = dot(n, sub(deep_b, deep_a));
        if gap <= wide {
            let middle = scaled(0.5, add(x, y));
            let normal = scaled(-1.0, n);
            touches.push(Touch {
                gap: gap - r - s,
                normal,
                point: add(middle, scaled(0.5 * (s - r), normal)),
                features: [0, 0],
            });
        }
    }
    for touch in &mut touches[start..] {
        touch.features[0] += from_a;
        touch.features[1] += from_b;
    }
}

/// Lines less parallel than this touch in one point: a sine.
const PARALLEL: f64 = 1e-3;

/// Two lines of walls side by side: contacts at both ends of where they are.
fn beside(
    a: View<'_>,
    b: View<'_>,
    n: Vector,
    [r, s]: [f64; 2],
    wide: f64,
    touches: &mut Vec<Touch>,
) {
    let ([p, p1], [q, q1]) = (a.ends(0), b.ends(0));
    let (d, e) = (sub(p1, p), sub(q1, q));
    let across = cross(d, e);
    if dot(across, across) > PARALLEL * PARALLEL * dot(d, d) * dot(e, e) {
        return;
    }
    let share = |x: Vector| (dot(sub(x, p), d) / dot(d, d)).clamp(0.0, 1.0);
    let (low, high) = (share(q).min(share(q1)), share(q).max(share(q1)));
    if !(high - low > 1e-6) {
        return;
    }
    for (k, share) in [low, high].into_iter().enumerate() {
        let x = add(p, scaled(share, d));
        let y = add(q, scaled((dot(sub(x, q), e) / dot(e, e)).clamp(0.0, 1.0), e));
        let gap = dot(n, sub(y, x));
        if gap <= wide {
            let normal = scaled(-1.0, n);
            let middle = scaled(0.5, add(x, y));
            touches.push(Touch {
                gap: gap - r - s,
                normal,
                point: add(middle, scaled(0.5 * (s - r), normal)),
                features: [k as u32, 2],
            });
        }
    }
}

/// The direction from the first body to the second, and nearest points of each.
fn direction(
    a: &Support<'_>,
    b: &Support<'_>,
    wide: f64,
    room: &mut Revolved,
) -> Option<(Vector, Vector, Vector)> {
    let here = GlamPose::IDENTITY;
    let towards = b.at.map_or(Glam::X, |at| Glam::from_array(at.x));
    let towards = towards.try_normalize().unwrap_or(Glam::X);
    room.simplex.reset(CsoPoint::from_shapes(&here, a, b, towards));
    match gjk::closest_points(&here, a, b, wide, true, &mut room.simplex) {
        GJKResult::ClosestPoints(x, y, n) => Some((n.to_array(), x.to_array(), y.to_array())),
        GJKResult::Intersection => {
            let (x, y, n) = room.epa.closest_points(&here, a, b, &room.simplex)?;
            Some((n.to_array(), x.to_array(), y.to_array()))
        }
        _ => None,
    }
}

/// A surface of triangles: triangle by triangle. Normals from the surface to `a`.
pub(super) fn on_surface(
    a: Body<'_>,
    surface: &Surface,
    at: &Pose,
    reach: f64,
    room: &mut super::pairs::Room,
    touches: &mut Vec<Touch>,
) {
    let Some((shape, _)) = Convex::of(a.solid) else { return };
    let start = touches.len();
    let to = relative(at, a.at);
    let [center, half] = a.solid.bounds(&to);
    let wide = add(half, [reach; 3]);
    let mut near = std::mem::take(&mut room.surface.near);
    surface.near(sub(center, wide), add(center, wide), &mut near);
    for &t in &near {
        let triangle = surface.triangle(t, &mut room.surface.triangle);
        let one = touches.len();
        meet((Convex::Flat(triangle), 0.0), (shape, 0.0), &to, reach, &mut room.revolved, touches);
        surface.settle(t, triangle, one, touches);
    }
    room.surface.near = near;
    let size = shape.size().min(surface.size);
    merge(touches, start, size);
    reduce(touches, start, size);
    super::touch::flip(&mut touches[start..]);
    to_world(&mut touches[start..], at);
}

/// What stands for a body whose support along `n`, in its own frame, has to be exact, and the number
/// of its first feature: the body itself, the line of its wall that looks that way, or a prism or
/// pyramid with corners on the rim.
fn stand_in<'a>(shape: Convex<'a>, n: Vector, room: &'a mut StandIns) -> (&'a Polytope, u32) {
    let across = n[0].hypot(n[1]);
    let azimuth = (across > 1e-12).then(|| n[1].atan2(n[0]));
    // corners of a rim are fixed in the body, but for that nearest to where it reaches farthest
    let step = std::f64::consts::TAU / SIDES as f64;
    let nearest =
        azimuth.map(|angle| (angle / step).round().rem_euclid(SIDES as f64) as usize % SIDES);
    let place = |angle: f64, radius: f64, z: f64| [radius * angle.cos(), radius * angle.sin(), z];
    let rim = |k: usize, radius: f64, z: f64| match azimuth {
        Some(angle) if nearest == Some(k) => place(angle, radius, z),
        _ => place(step * k as f64, radius, z),
    };
    let wall = |radius: f64, z: f64| place(azimuth.unwrap_or(0.0), radius, z);
    match shape {
        Convex::Flat(body) => (body, 0),
        Convex::Cylinder { radius, half } if across > n[2].abs() => {
            room.line.vertices[0] = wall(radius, -half);
            room.line.vertices[1] = wall(radius, half);
            (&room.line, WALL)
        }
        // the wall's normal is (h, r) along (ρ, z)
        Convex::Cone { radius, half }
            if 2.0 * half * across + radius * n[2] > -n[2] * radius.hypot(2.0 * half) =>
        {
            room.line.vertices[0] = wall(radius, -half);
            room.line.vertices[1] = [0.0, 0.0, half];
            (&room.line, WALL)
        }
        Convex::Cylinder { radius, half } => {
            for k in 0..SIDES {
                room.prism.vertices[k] = rim(k, radius, -half);
                room.prism.vertices[SIDES + k] = rim(k, radius, half);
            }
            room.prism.refresh();
            (&room.prism, BODY)
        }
        Convex::Cone { radius, half } => {
            for k in 0..SIDES {
                room.cone.vertices[k] = rim(k, radius, -half);
            }
            room.cone.vertices[SIDES] = [0.0, 0.0, half];
            room.cone.refresh();
            (&room.cone, BODY)
        }
    }
}

/// Bottom and top first, then the sides.
fn prism() -> Polytope {
    let n = SIDES as u32;
    let mut faces = vec![(0..n).rev().collect::<Vec<u32>>(), (n..2 * n).collect()];
    faces.extend((0..n).map(|k| vec![k, (k + 1) % n, n + (k + 1) % n, n + k]));
    let place = |k: u32| {
        let angle = std::f64::consts::TAU * f64::from(k % n) / f64::from(n);
        [angle.cos(), angle.sin(), if k < n { -1.0 } else { 1.0 }]
    };
    Polytope::from_loops((0..2 * n).map(place).collect(), &faces)
}

/// The base first, then the sides.
fn pyramid() -> Polytope {
    let n = SIDES as u32;
    let mut faces = vec![(0..n).rev().collect::<Vec<u32>>()];
    faces.extend((0..n).map(|k| vec![k, (k + 1) % n, n]));
    let place = |k: u32| {
        let angle = std::f64::consts::TAU * f64::from(k) / f64::from(n);
        if k < n { [angle.cos(), angle.sin(), -1.0] } else { [0.0, 0.0, 1.0] }
    };
    Polytope::from_loops((0..=n).map(place).collect(), &faces)
}
