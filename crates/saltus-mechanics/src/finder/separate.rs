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
use crate::pose::Pose;
use saltus_model::rotation::{Vector, cross, dot, norm, scaled, sub};

/// Faces are taken before edges, and those of the first before those of the second, unless the other
/// is better by this share of the smaller body: bodies at rest on each other keep their kind of
/// contact, whatever the last bits are.
pub(super) const PREFERENCE: f64 = 1e-6;

/// Cosine above which a direction across two edges is nearly the normal of a face: faces that lie on
/// each other a little tilted are apart the most across two of their edges, and touch all over.
pub(super) const NEARLY: f64 = 0.99;

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
    /// Across edges: the face whose normal is nearly the same.
    pub beside: Option<Kind>,
}

impl Axis {
    fn new(s: f64, n: Vector, kind: Kind) -> Axis {
        Axis { s, n, kind, beside: None }
    }

    /// The same, which knows the best face.
    fn beside(self, face: Option<Axis>) -> Axis {
        let beside = match self.kind {
            Kind::Edges(_) => face.filter(|face| dot(face.n, self.n) > NEARLY),
            _ => None,
        };
        Axis { beside: beside.map(|face| face.kind), ..self }
    }
}

/// The best direction; nothing where the bodies are farther apart than `reach`.
pub(super) fn separate(a: View<'_>, b: View<'_>, reach: f64) -> Option<Axis> {
    let preference = PREFERENCE * a.polytope.size.min(b.polytope.size);
    let mut best: Option<Axis> = None;
    let offer = |best: &mut Option<Axis>, axis: Axis, better: f64| {
        if best.is_none_or(|best| axis.s > best.s + better) {
            *best = Some(axis);
        }
        axis.s <= reach
    };
    for (f, (&n, o)) in a.normals.iter().zip(a.offsets).enumerate() {
        if !offer(&mut best, Axis::new(b.lowest(n) - o, n, Kind::FaceA(f)), 0.0) {
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
            second = Some(Axis::new(s, scaled(-1.0, n), Kind::FaceB(f)));
        }
    }
    if let Some(axis) = second {
        offer(&mut best, axis, preference);
    }
    let face = best;
    let edges = match best {
        Some(best) if a.polytope.solid && b.polytope.solid => by_arcs(a, b, best),
        _ => by_all(a, b),
    };
    if let Some(axis) = edges
        && !offer(&mut best, axis, preference)
    {
        return None;
    }
    best.map(|best| best.beside(face))
}

/// The same for two boxes with half edges `a` and `b`, the second at `to` in the frame of the first.
///
/// ```text
/// s(n) = |n · t| − Σᵢ aᵢ |nᵢ| − Σⱼ bⱼ |n · rⱼ|
/// ```
///
/// along the axes of each and their products. Those of `eᵢ` and `rⱼ` have the length `√(1 − Rᵢⱼ²)`; times that,
///
/// ```text
/// s ℓ = |(eᵢ × rⱼ) · t| − a_k |R_lj| − a_l |R_kj| − b_m |Rᵢₙ| − bₙ |Rᵢₘ|      (i, k, l and j, m, n in turn)
/// ```
///
/// leaves out all that are not the best for certain.
pub(super) fn boxes(a: Vector, b: Vector, to: &Pose, size: f64, reach: f64) -> Option<Axis> {
    let (R, t) = (&to.R, to.x);
    let preference = PREFERENCE * size;
    let column = |j: usize| [R[0][j], R[1][j], R[2][j]];
    let mut best = Axis::new(f64::NEG_INFINITY, [0.0; 3], Kind::FaceA(0));
    for i in 0..3 {
        let wide = b[0] * R[i][0].abs() + b[1] * R[i][1].abs() + b[2] * R[i][2].abs();
        let s = t[i].abs() - a[i] - wide;
        if s > reach {
            return None;
        }
        if s > best.s {
            let mut n = [0.0; 3];
            n[i] = 1.0_f64.copysign(t[i]);
            best = Axis::new(s, n, Kind::FaceA(2 * i + usize::from(n[i] < 0.0)));
        }
    }
    let mut second = best;
    second.s = f64::NEG_INFINITY;
    for j in 0..3 {
        let r = column(j);
        let along = dot(r, t);
        let wide = a[0] * r[0].abs() + a[1] * r[1].abs() + a[2] * r[2].abs();
        let s = along.abs() - b[j] - wide;
        if s > reach {
            return None;
        }
        if s > second.s {
            let sign = 1.0_f64.copysign(along);
            // the face of the second that looks at the first
            let kind = Kind::FaceB(2 * j + usize::from(sign > 0.0));
            second = Axis::new(s, scaled(sign, r), kind);
        }
    }
    if second.s > best.s + preference {
        best = second;
    }
    let face = best;
    let sum = |x: Vector| x[0].abs() + x[1].abs() + x[2].abs();
    let rounding = 8.0 * f64::EPSILON * (sum(t) + sum(a) + sum(b));
    for i in 0..3 {
        for j in 0..3 {
            let r = column(j);
            // eᵢ × rⱼ
            let (k, l) = ((i + 1) % 3, (i + 2) % 3);
            let least = match best.kind {
                Kind::Edges(_) => best.s,
                _ => best.s + preference,
            };
            let (m, n) = ((j + 1) % 3, (j + 2) % 3);
            let long = (r[k] * r[k] + r[l] * r[l]).sqrt();
            let wide = a[k] * r[l].abs() + a[l] * r[k].abs();
            let wide = wide + b[m] * R[i][n].abs() + b[n] * R[i][m].abs();
            if (t[l] * r[k] - t[k] * r[l]).abs() - wide + rounding < least.min(reach) * long {
                continue;
            }
            let mut n = [0.0; 3];
            (n[k], n[l]) = (-r[l], r[k]);
            let length = n[k].hypot(n[l]);
            if !(length > PARALLEL) {
                continue;
            }
            let n = scaled(1.0 / length, n);
            let along = dot(n, t);
            let wide_a = a[k] * n[k].abs() + a[l] * n[l].abs();
            let wide_b = b[0] * dot(n, column(0)).abs()
                + b[1] * dot(n, column(1)).abs()
                + b[2] * dot(n, column(2)).abs();
            let s = along.abs() - wide_a - wide_b;
            if s > reach {
                return None;
            }
            if s > least {
                best = Axis::new(s, scaled(1.0_f64.copysign(along), n), Kind::Edges(None));
            }
        }
    }
    Some(best.beside(Some(face)))
}

/// Among pairs of edges that meet in the surface of the difference of the bodies: those whose arcs
/// between the normals of their faces cross on the sphere, that of `B` turned round.
///
/// For any point `x` of `B` and `n` between the normals `n₁`, `n₂` at an edge through `p` of `A`, where
/// both `nᵢ · (x − p) < 0`
///
/// ```text
/// s(n) ≤ n · (x − p) ≤ max nᵢ · (x − p)
/// ```
///
/// which leaves out edges that look away from the point of `B` nearest along the best face.
fn by_arcs(a: View<'_>, b: View<'_>, face: Axis) -> Option<Axis> {
    let mut best: Option<Axis> = None;
    let along_face = |x: &&Vector, y: &&Vector| dot(face.n, **x).total_cmp(&dot(face.n, **y));
    let x = b.vertices.iter().min_by(along_face).copied()?;
    for (i, edge) in a.polytope.edges.iter().enumerate() {
        let [p, q] = a.ends(i);
        let along = sub(q, p);
        let [n1, n2] = edge.faces.map(|f| a.normals[f as usize]);
        let from = sub(x, p);
        if dot(n1, from).max(dot(n2, from)) < face.s.min(0.0) {
            continue;
        }
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
                best = Some(Axis::new(s, n, Kind::Edges(Some([i, j]))));
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
                best = Some(Axis::new(s, n, Kind::Edges(None)));
            }
        }
    }
    best
}
