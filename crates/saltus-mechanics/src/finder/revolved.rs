//! Cylinders and cones with anything that is convex and no sphere or plane.
//!
//! The direction between the two bodies is that of `turned.rs`. Where it is the normal of a face,
//! contacts are those of clipping, with the rim as a polygon one corner of which is exactly where the rim
//! reaches farthest; else there is one contact, whose gap is that of the supports,
//!
//! ```text
//! s(n) = min_{b ∈ B} n · b − max_{a ∈ A} n · a
//! ```
//!
//! and where a face is nearly across the direction, those of clipping beside it.

use super::manifold::Clipper;
use super::pairs::{Body, flat_faced, relative, to_world};
use super::polytope::{Moved, Polytope, View};
use super::round::RIM;
use super::separate::{Axis, Kind, NEARLY};
use super::solid::Solid;
use super::surface::Surface;
use super::touch::{Touch, merge, reduce};
use super::turned::{self, Apart, Turned};
use crate::pose::Pose;
use saltus_model::rotation::{Vector, add, cross, dot, scaled, sub};

/// Sides of the polygon that stands for a rim.
const SIDES: usize = 8;

/// Two rims and a tip on planes; vertices, edges and faces of what stands for the body elsewhere.
pub(super) const FEATURES: u32 = WALL + 3;

/// Features from here on are those of what stands for a body.
const BODY: u32 = 2 * RIM + 1;

/// Features from here on are those of a line of the wall: those before are corners, edges and faces of
/// a prism.
const WALL: u32 = BODY + 2 * SIDES as u32 + 3 * SIDES as u32 + SIDES as u32 + 2;

/// What can stand for a body.
#[derive(Debug)]
struct StandIns {
    prism: Polytope,
    cone: Polytope,
    line: Polytope,
}

/// Room to work in.
#[derive(Debug)]
pub(super) struct Revolved {
    stand_ins: [StandIns; 2],
    moved: Moved,
    clipper: Clipper,
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

/// A convex body.
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

    fn turned(&self) -> Option<Turned> {
        match *self {
            Convex::Flat(_) => None,
            Convex::Cylinder { radius, half } => Some(Turned::cylinder(radius, half)),
            Convex::Cone { radius, half } => Some(Turned::cone(radius, half)),
        }
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
    let Some((apart, kind, face)) = direction(a, b, to, wide, &mut room.moved) else { return };
    let Apart { s: gap, m: n, middle, .. } = apart;
    let Revolved { stand_ins: [ins_a, ins_b], moved, clipper } = room;
    let (body_a, from_a) = stand_in(a, n, ins_a);
    let (body_b, from_b) = stand_in(b, to.turn_back(scaled(-1.0, n)), ins_b);
    let view_a = View::own(body_a);
    let view_b = moved.view(body_b, to);
    let start = touches.len();
    // no separation claimed: contacts are those of the face alone
    let axis = |kind: Kind, s: f64| Axis { s, n, kind, beside: None };
    match kind {
        Some(kind) => {
            let axis = axis(kind, f64::NEG_INFINITY);
            clipper.along(view_a, view_b, axis, [r, s], reach, touches);
        }
        None => {
            if let Some(face) = face {
                clipper.beside(view_a, view_b, axis(face, gap), face, [r, s], reach, touches);
            }
            if view_a.normals.is_empty() && view_b.normals.is_empty() {
                beside(view_a, view_b, n, [r, s], wide, touches);
            }
        }
    }
    // one contact, where no other is as deep
    let least = touches[start..].iter().fold(f64::INFINITY, |least, t| least.min(t.gap));
    if !(least <= gap - r - s + 1e-9 * a.size().min(b.size())) {
        let normal = scaled(-1.0, n);
        let point = add(middle, scaled(0.5 * (s - r), normal));
        let features = match (a, b) {
            (Convex::Flat(_), _) => [apart.feature, 0],
            _ => [0, apart.feature],
        };
        touches.push(Touch { gap: gap - r - s, normal, point, features });
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

/// The direction from the first body to the second in the frame of the first, the face that it is the
/// normal of, and if there is none the best one that is nearly across it.
fn direction(
    a: Convex<'_>,
    b: Convex<'_>,
    to: &Pose,
    wide: f64,
    moved: &mut Moved,
) -> Option<(Apart, Option<Kind>, Option<Kind>)> {
    let size = a.size().min(b.size());
    let (apart, turned_first) = match (a.turned(), b.turned(), a, b) {
        (Some(first), Some(second), ..) => (turned::turned(&first, &second, to, size, wide)?, true),
        (Some(first), None, _, Convex::Flat(body)) => {
            (turned::polytope(&first, moved.view(body, to), size, wide)?, true)
        }
        (None, Some(second), Convex::Flat(body), _) => {
            // in the frame of the second, and back
            let from = relative(to, &Pose::WORLD);
            let apart = turned::polytope(&second, moved.view(body, &from), size, wide)?;
            let turn = |m: Vector| scaled(-1.0, to.turn(m));
            let (kind, m) = apart.face;
            let face = (kind, turn(m));
            (Apart { m: turn(apart.m), middle: to.point(apart.middle), face, ..apart }, false)
        }
        _ => return None,
    };
    let named = |kind: turned::Kind| match kind {
        turned::Kind::Cap(k) if turned_first => Some(Kind::FaceA(k)),
        turned::Kind::Cap(k) => Some(Kind::FaceB(k)),
        turned::Kind::Face(f) if turned_first => Some(Kind::FaceB(f)),
        turned::Kind::Face(f) => Some(Kind::FaceA(f)),
        turned::Kind::Round => None,
    };
    let near = dot(apart.face.1, apart.m) > NEARLY;
    Some((apart, named(apart.kind), named(apart.face.0).filter(|_| near)))
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
    let super::pairs::Room {
        revolved, surface: super::surface::Room { triangle, odd, .. }, ..
    } = room;
    let depth = shape.size();
    surface.gather(&near, triangle, odd, (to.x, depth), touches, |one, face, all| match face {
        None => meet((Convex::Flat(one), 0.0), (shape, 0.0), &to, reach, revolved, all),
        Some(f) => on_face(one, f, shape, &to, reach, revolved, all),
    });
    room.surface.near = near;
    let size = shape.size().min(surface.size);
    merge(touches, start, size);
    reduce(touches, start, size);
    super::touch::flip(&mut touches[start..]);
    to_world(&mut touches[start..], at);
}

/// Contacts on one face of a polytope, whether that is the best direction or not.
fn on_face(
    a: &Polytope,
    face: usize,
    b: Convex<'_>,
    to: &Pose,
    reach: f64,
    room: &mut Revolved,
    touches: &mut Vec<Touch>,
) {
    let start = touches.len();
    let Revolved { stand_ins: [_, ins], moved, clipper } = room;
    let (body, from) = stand_in(b, to.turn_back(scaled(-1.0, a.normals[face])), ins);
    let view = moved.view(body, to);
    clipper.on_one_face(View::own(a), face, view, [0.0; 2], reach, touches);
    touches[start..].iter_mut().for_each(|touch| touch.features[1] += from);
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
