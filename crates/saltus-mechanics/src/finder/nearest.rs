//! Nearest points of segments, triangles and polytopes.

use super::polytope::View;
use super::touch::Touch;
use saltus_model::rotation::{Vector, add, cross, dot, norm, scaled, sub};

/// The shares `(s, t)` along two segments `p + s d`, `q + t e` at which they are nearest.
///
/// ```text
/// min |p + s d − q − t e|²,   0 ≤ s, t ≤ 1
/// ```
pub(super) fn segments(p: Vector, d: Vector, q: Vector, e: Vector) -> (f64, f64) {
    let r = sub(p, q);
    let (a, b, c) = (dot(d, d), dot(d, e), dot(e, e));
    let (f, g) = (dot(d, r), dot(e, r));
    let share = |x: f64| x.clamp(0.0, 1.0);
    // |d × e|², which loses no digits where they are nearly parallel
    let across = cross(d, e);
    let square = dot(across, across);
    if !(square > 1e-24 * a * c) {
        // parallel: the middle of where they overlap
        let (s0, s1) = (-f / a, (b - f) / a);
        let (low, high) = (share(s0.min(s1)), share(s0.max(s1)));
        let s = 0.5 * (low + high);
        return (s, share((b * s + g) / c));
    }
    let s = share(dot(cross(sub(q, p), e), across) / square);
    let t = (b * s + g) / c;
    if (0.0..=1.0).contains(&t) {
        return (s, t);
    }
    let t = share(t);
    (share((b * t - f) / a), t)
}

/// A corner, an edge or the face of a triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Corner(usize),
    Edge(usize),
    Face,
}

/// The point of a triangle nearest to `x`, by the region that `x` is in.
///
/// Reference: Ericson, *Real-Time Collision Detection*, 2005, 5.1.5.
pub(super) fn on_triangle(x: Vector, [a, b, c]: [Vector; 3]) -> (Vector, Part) {
    let (ab, ac, ax) = (sub(b, a), sub(c, a), sub(x, a));
    let (d1, d2) = (dot(ab, ax), dot(ac, ax));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (a, Part::Corner(0));
    }
    let bx = sub(x, b);
    let (d3, d4) = (dot(ab, bx), dot(ac, bx));
    if d3 >= 0.0 && d4 <= d3 {
        return (b, Part::Corner(1));
    }
    let cx = sub(x, c);
    let (d5, d6) = (dot(ab, cx), dot(ac, cx));
    if d6 >= 0.0 && d5 <= d6 {
        return (c, Part::Corner(2));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (add(a, scaled(d1 / (d1 - d3), ab)), Part::Edge(0));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return (add(b, scaled(t, sub(c, b))), Part::Edge(1));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (add(a, scaled(d2 / (d2 - d6), ac)), Part::Edge(2));
    }
    // above the face: along its normal
    let n = cross(ab, ac);
    (sub(x, scaled(dot(n, ax) / dot(n, n), n)), Part::Face)
}

/// Nearest points of two edges across a direction of separation, where they are known; else of the
/// edges of each body that reach farthest along it. The normal points from `B` to `A`.
pub(super) fn crossing(
    a: View<'_>,
    b: View<'_>,
    n: Vector,
    pair: Option<[usize; 2]>,
) -> impl Iterator<Item = Touch> {
    let [i, j] = pair.unwrap_or_else(|| [supporting(a, n), supporting(b, scaled(-1.0, n))]);
    let [p, p1] = a.ends(i);
    let [q, q1] = b.ends(j);
    let (d, e) = (sub(p1, p), sub(q1, q));
    let (s, t) = segments(p, d, q, e);
    let (x, y) = (add(p, scaled(s, d)), add(q, scaled(t, e)));
    let gap = dot(n, sub(y, x));
    // where they are nearest at an end, the direction is not between them
    let apart = sub(y, x);
    let straight = gap <= 0.0 || dot(apart, apart) - gap * gap <= 1e-9 * dot(d, d).min(dot(e, e));
    let touch = Touch {
        gap,
        normal: scaled(-1.0, n),
        point: scaled(0.5, add(x, y)),
        features: [a.polytope.edge_feature(i), b.polytope.edge_feature(j)],
    };
    straight.then_some(touch).into_iter()
}

/// The edge that reaches farthest along `n`.
fn supporting(a: View<'_>, n: Vector) -> usize {
    let reach = |k: usize| {
        let [p, q] = a.ends(k);
        dot(n, p) + dot(n, q)
    };
    (0..a.polytope.edges.len()).max_by(|&i, &j| reach(i).total_cmp(&reach(j))).unwrap_or(0)
}

/// Nearest points of two bodies that are apart: over corners of one and faces of the other, and over
/// pairs of edges.
pub(super) fn between(a: View<'_>, b: View<'_>) -> impl Iterator<Item = Touch> {
    let mut best: Option<(f64, Vector, Vector, [u32; 2])> = None;
    let mut offer = |x: Vector, y: Vector, features: [u32; 2]| {
        let apart = sub(x, y);
        let square = dot(apart, apart);
        if best.is_none_or(|(least, ..)| square < least) {
            best = Some((square, x, y, features));
        }
    };
    for (v, &x) in a.vertices.iter().enumerate() {
        on_faces(b, x, |y, feature| offer(x, y, [v as u32, feature]));
    }
    for (v, &y) in b.vertices.iter().enumerate() {
        on_faces(a, y, |x, feature| offer(x, y, [feature, v as u32]));
    }
    for i in 0..a.polytope.edges.len() {
        let [p, p1] = a.ends(i);
        for j in 0..b.polytope.edges.len() {
            let [q, q1] = b.ends(j);
            let (d, e) = (sub(p1, p), sub(q1, q));
            let (s, t) = segments(p, d, q, e);
            let features = [end(a, i, s), end(b, j, t)];
            offer(add(p, scaled(s, d)), add(q, scaled(t, e)), features);
        }
    }
    best.and_then(|(square, x, y, features)| {
        let distance = square.sqrt();
        // on a face the normal is that of the face, not of a difference of close points
        let face = |a: View<'_>, feature: u32| {
            let f = feature.checked_sub(a.polytope.face_feature(0));
            f.map(|f| a.normals[f as usize])
        };
        let on_face = face(b, features[1]).or(face(a, features[0]).map(|n| scaled(-1.0, n)));
        let normal = on_face.unwrap_or_else(|| scaled(1.0 / distance, sub(x, y)));
        let gap = if on_face.is_some() { dot(normal, sub(x, y)) } else { distance };
        (distance > 0.0).then(|| Touch { gap, normal, point: scaled(0.5, add(x, y)), features })
    })
    .into_iter()
}

/// The feature at a share along an edge: one of its ends, or the edge.
fn end(a: View<'_>, edge: usize, share: f64) -> u32 {
    let ends = a.polytope.edges[edge].ends;
    if share == 0.0 {
        ends[0]
    } else if share == 1.0 {
        ends[1]
    } else {
        a.polytope.edge_feature(edge)
    }
}

/// The feet of `x` on the faces that it stands over.
fn on_faces(b: View<'_>, x: Vector, mut offer: impl FnMut(Vector, u32)) {
    for f in 0..b.normals.len() {
        let n = b.normals[f];
        let height = dot(n, x) - b.offsets[f];
        if height <= 0.0 {
            continue;
        }
        let foot = sub(x, scaled(height, n));
        let corners = b.polytope.corners(f);
        let inside = (0..corners.len()).all(|k| {
            let p = b.vertices[corners[k][0] as usize];
            let q = b.vertices[corners[(k + 1) % corners.len()][0] as usize];
            dot(cross(sub(q, p), n), sub(foot, p)) <= 0.0
        });
        if inside {
            offer(foot, b.polytope.face_feature(f));
        }
    }
}

/// The nearest point of a convex body's surface to `x`, the outer normal there, the distance
/// (negative inside) and the feature.
pub(super) fn on_polytope(b: View<'_>, x: Vector) -> (Vector, Vector, f64, u32) {
    // inside: the nearest face
    let heights = b.normals.iter().zip(b.offsets).map(|(&n, o)| dot(n, x) - o);
    let mut face = (0, f64::NEG_INFINITY);
    for (f, height) in heights.enumerate() {
        if height > face.1 {
            face = (f, height);
        }
    }
    if face.1 <= 0.0 {
        let n = b.normals[face.0];
        return (sub(x, scaled(face.1, n)), n, face.1, b.polytope.face_feature(face.0));
    }
    let mut best = (f64::INFINITY, x, 0);
    on_faces(b, x, |y, feature| {
        let apart = sub(x, y);
        let square = dot(apart, apart);
        if square < best.0 {
            best = (square, y, feature);
        }
    });
    for edge in 0..b.polytope.edges.len() {
        let [q, q1] = b.ends(edge);
        let e = sub(q1, q);
        let share = (dot(sub(x, q), e) / dot(e, e)).clamp(0.0, 1.0);
        let y = add(q, scaled(share, e));
        let apart = sub(x, y);
        let square = dot(apart, apart);
        if square < best.0 {
            best = (square, y, end(b, edge, share));
        }
    }
    let (_, y, feature) = best;
    let apart = sub(x, y);
    let distance = norm(apart);
    // on the surface to the last bit: the face that it is on
    if !(distance > 1e-14 * b.polytope.size) {
        return (y, b.normals[face.0], face.1, feature);
    }
    // above a face the normal is that of the face, not of a difference of close points
    let faces = b.polytope.features() - b.normals.len() as u32;
    if feature >= faces {
        let f = (feature - faces) as usize;
        return (y, b.normals[f], dot(b.normals[f], x) - b.offsets[f], feature);
    }
    (y, scaled(1.0 / distance, apart), distance, feature)
}
