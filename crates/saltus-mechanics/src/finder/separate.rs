//! Which way two convex bodies with flat faces are apart, or overlap the least.
//!
//! ```text
//! s(n) = min_{b ∈ B} n · b − max_{a ∈ A} n · a,    s = max s(n)
//! ```
//!
//! over the outer normals of faces of `A`, those of `B` turned round, and the directions that are
//! perpendicular to an edge of each. Where the bodies overlap `−s` is the least way to part them.
//!
//! Reference: Gottschalk, Lin, Manocha, *OBBTree*, 1996; Gregorius, *The separating axis test
//! between convex polyhedra*, 2013 (edges whose arcs on the sphere of normals cross).

use super::polytope::View;
use saltus_model::rotation::{Vector, cross, dot, norm, scaled, sub};

/// Faces are taken before edges, and those of the first before those of the second, unless the other
/// is better by this share of the smaller body: bodies at rest on each other keep their kind of
/// contact, whatever the last bits are.
const PREFERENCE: f64 = 1e-6;

/// Edges that are more parallel than this span no plane.
const PARALLEL: f64 = 1e-7;

/// Where the best direction comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    FaceA(usize),
    FaceB(usize),
    /// An edge of each, where they are known.
    Edges(Option<[usize; 2]>),
}

/// The best direction, from `A` to `B`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    pub s: f64,
    pub n: Vector,
    pub kind: Kind,
}

/// The best direction; nothing where the bodies are farther apart than `reach`.
pub(super) fn separate(a: View<'_>, b: View<'_>, reach: f64) -> Option<Axis> {
    let preference = PREFERENCE * a.polytope.size.min(b.polytope.size);
    let mut best: Option<Axis> = None;
    let mut offer = |axis: Axis, better: f64| {
        if best.is_none_or(|best| axis.s > best.s + better) {
            best = Some(axis);
        }
        axis.s <= reach
    };
    for (f, (&n, o)) in a.normals.iter().zip(a.offsets).enumerate() {
        if !offer(Axis { s: b.lowest(n) - o, n, kind: Kind::FaceA(f) }, 0.0) {
            return None;
        }
    }
    let mut second: Option<Axis> = None;
    for (f, (&n, o)) in b.normals.iter().zip(b.offsets).enumerate() {
        let s = a.lowest(n) - o;
        if s > reach {
            return None;
        }
        if second.is_none_or(|second| s > second.s) {
            second = Some(Axis { s, n: scaled(-1.0, n), kind: Kind::FaceB(f) });
        }
    }
    if let Some(axis) = second {
        offer(axis, preference);
    }
    let edges = if a.polytope.solid && b.polytope.solid { by_arcs(a, b) } else { by_all(a, b) };
    if let Some(axis) = edges
        && !offer(axis, preference)
    {
        return None;
    }
    best
}

/// Among pairs of edges that meet in the surface of the difference of the bodies: those whose arcs
/// between the normals of their faces cross on the sphere, that of `B` turned round.
fn by_arcs(a: View<'_>, b: View<'_>) -> Option<Axis> {
    let mut best: Option<Axis> = None;
    for (i, edge) in a.polytope.edges.iter().enumerate() {
        let [p, q] = a.ends(i);
        let along = sub(q, p);
        let [n1, n2] = edge.faces.map(|f| a.normals[f as usize]);
        for (j, other) in b.polytope.edges.iter().enumerate() {
            let [m1, m2] = other.faces.map(|f| b.normals[f as usize]);
            // n1, n2 on different sides of the plane of the arc of B, and the other way round
            let (c1, c2) = (-dot(m1, along), -dot(m2, along));
            if !(c1 * c2 < 0.0) {
                continue;
            }
            let [r, t] = b.ends(j);
            let across = sub(t, r);
            let (d1, d2) = (dot(n1, across), dot(n2, across));
            if !(d1 * d2 < 0.0) {
                continue;
            }
            // the arcs themselves cross, not one and the opposite of the other
            let turns = dot(cross(n2, n1), along) * dot(cross(m2, m1), across);
            if !(turns * c1 * d2 > 0.0) {
                continue;
            }
            let n = cross(along, across);
            let length = norm(n);
            if !(length > PARALLEL * norm(along) * norm(across)) {
                continue;
            }
            let mut n = scaled(1.0 / length, n);
            if dot(n, sub(p, a.center)) < 0.0 {
                n = scaled(-1.0, n);
            }
            let s = dot(n, sub(r, p));
            if best.is_none_or(|best| s > best.s) {
                best = Some(Axis { s, n, kind: Kind::Edges(Some([i, j])) });
            }
        }
    }
    best
}

/// Perpendicular to any edge of each.
fn by_all(a: View<'_>, b: View<'_>) -> Option<Axis> {
    let mut best: Option<Axis> = None;
    for &along in a.directions {
        for &across in b.directions {
            let n = cross(along, across);
            let length = norm(n);
            if !(length > PARALLEL) {
                continue;
            }
            let n = scaled(1.0 / length, n);
            let (ahead, behind) = (b.lowest(n) - a.highest(n), a.lowest(n) - b.highest(n));
            let (s, n) = if ahead >= behind { (ahead, n) } else { (behind, scaled(-1.0, n)) };
            if best.is_none_or(|best| s > best.s) {
                best = Some(Axis { s, n, kind: Kind::Edges(None) });
            }
        }
    }
    best
}
