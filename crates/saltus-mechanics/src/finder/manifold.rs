//! Where two convex bodies with flat faces touch, given the direction in which they are apart.
//!
//! The face that looks along the direction is the reference: the face of the other body that looks
//! against it is clipped by the planes through the edges of the reference, and what is left of its
//! corners are the contacts. Two edges that cross touch in one point, and faces beside them that are
//! nearly parallel wherever they lie on each other.

use super::nearest::{between, crossing};
use super::polytope::View;
use super::separate::{Axis, Kind, separate};
use super::touch::Touch;
use saltus_model::rotation::{Vector, add, cross, dot, scaled, sub};

/// Corners that stick out of the reference by less than this share of the smaller body are on it: bodies
/// of the same size on top of each other touch in their corners, whatever the last bits are.
const ON_EDGE: f64 = 1e-6;

/// A corner of the polygon that is being clipped.
#[derive(Debug, Clone, Copy)]
struct Corner {
    x: Vector,
    /// The vertex of the clipped body that it is, if it is one.
    vertex: Option<u32>,
    /// The edge that leads on from it.
    on: Side,
}

/// An edge of the polygon.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Side {
    /// Of the clipped face.
    Clipped(u32),
    /// Along this side of the reference.
    Reference(usize),
}

/// Room for polygons.
#[derive(Debug, Clone, Default)]
pub(super) struct Clipper {
    polygon: Vec<Corner>,
    next: Vec<Corner>,
}

impl Clipper {
    /// All contacts within `reach`; normals from `B` to `A`. Radii widen the bodies.
    pub fn contacts(
        &mut self,
        a: View<'_>,
        b: View<'_>,
        radii: [f64; 2],
        reach: f64,
        touches: &mut Vec<Touch>,
    ) {
        let wide = reach + radii[0] + radii[1];
        if let Some(axis) = separate(a, b, wide) {
            self.along(a, b, axis, radii, reach, touches);
        }
    }

    /// The contacts that belong to this direction.
    pub fn along(
        &mut self,
        a: View<'_>,
        b: View<'_>,
        axis: Axis,
        radii: [f64; 2],
        reach: f64,
        touches: &mut Vec<Touch>,
    ) {
        let start = touches.len();
        let wide = reach + radii[0] + radii[1];
        match axis.kind {
            Kind::FaceA(f) => self.on_face(a, f, b, wide, touches),
            Kind::FaceB(f) => {
                self.on_face(b, f, a, wide, touches);
                super::touch::flip(&mut touches[start..]);
            }
            Kind::Edges(pair) => {
                if let Some(face) = axis.beside {
                    self.on_faces(a, b, axis, face, wide, touches);
                }
                for touch in crossing(a, b, axis.n, pair).filter(|t| t.gap <= wide) {
                    // one contact where these edges cross
                    let same = |t: &Touch| t.features == touch.features;
                    match touches[start..].iter().position(same) {
                        Some(k) => touches[start + k] = touch,
                        None => touches.push(touch),
                    }
                }
            }
        }
        // apart, and perhaps nearest somewhere else: past the edge of a face, or at the end of an edge;
        // bodies with sharp edges may be a little tilted, as they are at rest
        let size = a.polytope.size.min(b.polytope.size);
        let tilt = if radii == [0.0; 2] { ON_EDGE } else { 1e-9 };
        let least = touches[start..].iter().fold(f64::INFINITY, |least, t| least.min(t.gap));
        if axis.s > 0.0 && !(least <= axis.s + tilt * size) {
            let nearer = least - 1e-9 * size;
            touches.extend(between(a, b).filter(|t| t.gap <= wide && !(t.gap >= nearer)));
        }
        widen(&mut touches[start..], radii);
    }

    /// Where two edges cross between faces that are nearly parallel: the corners that these have in
    /// common, apart along the direction across the edges, and nowhere deeper than it says.
    fn on_faces(
        &mut self,
        a: View<'_>,
        b: View<'_>,
        axis: Axis,
        face: Kind,
        reach: f64,
        touches: &mut Vec<Touch>,
    ) {
        let start = touches.len();
        match face {
            Kind::FaceA(f) => self.on_face(a, f, b, reach, touches),
            Kind::FaceB(f) => {
                self.on_face(b, f, a, reach, touches);
                super::touch::flip(&mut touches[start..]);
            }
            Kind::Edges(_) => {}
        }
        let mut kept = start;
        for k in start..touches.len() {
            let touch = touches[k];
            let along = -dot(touch.normal, axis.n);
            let gap = (touch.gap / along).max(axis.s);
            if gap <= reach {
                touches[kept] = Touch { gap, normal: scaled(-1.0, axis.n), ..touch };
                kept += 1;
            }
        }
        touches.truncate(kept);
    }

    /// The same with radii.
    #[allow(clippy::too_many_arguments)]
    pub fn beside(
        &mut self,
        a: View<'_>,
        b: View<'_>,
        axis: Axis,
        face: Kind,
        radii: [f64; 2],
        reach: f64,
        touches: &mut Vec<Touch>,
    ) {
        let start = touches.len();
        self.on_faces(a, b, axis, face, reach + radii[0] + radii[1], touches);
        widen(&mut touches[start..], radii);
    }

    /// The contacts on one face of `A`, whether that is the best direction or not.
    pub fn on_one_face(
        &mut self,
        a: View<'_>,
        face: usize,
        b: View<'_>,
        radii: [f64; 2],
        reach: f64,
        touches: &mut Vec<Touch>,
    ) {
        let start = touches.len();
        self.on_face(a, face, b, reach + radii[0] + radii[1], touches);
        widen(&mut touches[start..], radii);
    }

    /// Clips the face of `other` that looks against face `f` of `reference`; normals from `other` to
    /// `reference`, and the first feature that of the reference.
    fn on_face(
        &mut self,
        reference: View<'_>,
        f: usize,
        other: View<'_>,
        reach: f64,
        touches: &mut Vec<Touch>,
    ) {
        let (n, offset) = (reference.normals[f], reference.offsets[f]);
        let clipped = self.take_face(other, n);
        let sides = reference.polytope.corners(f);
        let slack = ON_EDGE * reference.polytope.size.min(other.polytope.size);
        for (k, side) in sides.iter().enumerate() {
            let p = reference.vertices[side[0] as usize];
            let q = reference.vertices[sides[(k + 1) % sides.len()][0] as usize];
            let out = cross(sub(q, p), n);
            let length = dot(out, out).sqrt();
            if length > 0.0 {
                self.clip(scaled(1.0 / length, out), p, k, slack);
            }
        }
        let count = self.polygon.len();
        for (j, corner) in self.polygon.iter().enumerate() {
            let gap = dot(n, corner.x) - offset;
            if gap > reach {
                continue;
            }
            let before = self.polygon[(j + count - 1) % count].on;
            let features = features(reference, f, other, clipped, corner, before);
            touches.push(Touch {
                gap,
                normal: scaled(-1.0, n),
                point: sub(corner.x, scaled(0.5 * gap, n)),
                features,
            });
        }
    }

    /// Of the faces at the corner that is nearest along `n` the one that looks against `n` the most, or
    /// the one edge there is. Some other face may look against it more, farther away.
    fn take_face(&mut self, other: View<'_>, n: Vector) -> Option<usize> {
        self.polygon.clear();
        let corner = |vertex: u32, on: u32| Corner {
            x: other.vertices[vertex as usize],
            vertex: Some(vertex),
            on: Side::Clipped(on),
        };
        let against = |k: usize| dot(other.normals[k], n);
        let along = |v: usize| dot(other.vertices[v], n);
        let lowest = (0..other.vertices.len()).min_by(|&i, &j| along(i).total_cmp(&along(j)));
        let at_lowest = |f: &usize| {
            other.polytope.corners(*f).iter().any(|corner| Some(corner[0] as usize) == lowest)
        };
        let face = (0..other.normals.len())
            .filter(at_lowest)
            .min_by(|&i, &j| against(i).total_cmp(&against(j)));
        match face {
            Some(f) => {
                let corners = other.polytope.corners(f).iter();
                self.polygon.extend(corners.map(|&[vertex, on]| corner(vertex, on)));
            }
            None => self.polygon.extend([corner(0, 0), corner(1, 0)]),
        }
        face
    }

    /// Keeps what is not out of the plane through `p`, by more than `slack`.
    fn clip(&mut self, out: Vector, p: Vector, side: usize, slack: f64) {
        let height = |corner: &Corner| dot(out, sub(corner.x, p));
        let polygon = &self.polygon;
        if polygon.iter().all(|corner| height(corner) <= slack) {
            return;
        }
        self.next.clear();
        let count = polygon.len();
        for (k, &corner) in polygon.iter().enumerate() {
            let after = polygon[(k + 1) % count];
            let (d, e) = (height(&corner), height(&after));
            let cut = || add(corner.x, scaled(d / (d - e), sub(after.x, corner.x)));
            match (d <= slack, e <= slack) {
                (true, true) => self.next.push(corner),
                (true, false) => {
                    self.next.push(corner);
                    // a corner on the plane is the cut
                    if d < 0.0 {
                        self.next.push(Corner {
                            x: cut(),
                            vertex: None,
                            on: Side::Reference(side),
                        });
                    } else if let Some(last) = self.next.last_mut() {
                        last.on = Side::Reference(side);
                    }
                }
                (false, true) if e < 0.0 => {
                    self.next.push(Corner { x: cut(), vertex: None, on: corner.on });
                }
                _ => {}
            }
        }
        std::mem::swap(&mut self.polygon, &mut self.next);
    }
}

/// From cores to surfaces: the middle between them moves, and the gap is smaller by the radii.
fn widen(touches: &mut [Touch], radii: [f64; 2]) {
    for touch in touches {
        touch.point = add(touch.point, scaled(0.5 * (radii[1] - radii[0]), touch.normal));
        touch.gap -= radii[0] + radii[1];
    }
}

/// The same place has the same features, whichever body is the reference.
fn features(
    reference: View<'_>,
    f: usize,
    other: View<'_>,
    clipped: Option<usize>,
    corner: &Corner,
    before: Side,
) -> [u32; 2] {
    let (a, b) = (reference.polytope, other.polytope);
    if let Some(vertex) = corner.vertex {
        return [a.face_feature(f), vertex];
    }
    let sides = a.corners(f);
    match (before, corner.on) {
        (Side::Clipped(edge), Side::Reference(k)) | (Side::Reference(k), Side::Clipped(edge)) => {
            [a.edge_feature(sides[k][1] as usize), b.edge_feature(edge as usize)]
        }
        (Side::Reference(j), Side::Reference(k)) => {
            // the corner of the reference between its two sides
            let vertex = if (j + 1) % sides.len() == k { sides[k][0] } else { sides[j][0] };
            [vertex, clipped.map_or(0, |face| b.face_feature(face))]
        }
        (Side::Clipped(_), Side::Clipped(edge)) => {
            [a.face_feature(f), b.edge_feature(edge as usize)]
        }
    }
}
