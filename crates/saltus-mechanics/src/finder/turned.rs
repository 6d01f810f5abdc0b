//! Which way a cylinder or cone and another convex body are apart, or overlap the least.
//!
//! ```text
//! s(m) = min_{b ∈ B} m · b − max_{a ∈ A} m · a,    s = max s(m)
//! ```
//!
//! where `m` looks out of the body of revolution `A`. A body of revolution is the hull of two circles
//! about its axis (a tip is one of radius zero), and what looks along `m` is a cap, a line of its wall,
//! or a point of a rim. With what looks back at it, `s` is greatest
//!
//! ```text
//! at a face or a cap                       along its normal
//! at a line of the wall and an edge        across both
//! at a line of the wall and a corner       in the plane of the axis and the corner
//! at a rim and an edge                     from a circle that is seen along the edge   (ellipse.rs)
//! at a rim and a corner                    from the rim to the corner, if they are apart
//! at a rim and another rim                 where D − R₁ u₁ − R₂ u₂ is along m          (Newton's method)
//! ```
//!
//! Every direction of this list is tried with the supports of the whole bodies, which say what it is
//! worth: no direction is believed, and the best is exact to rounding, whatever the sizes.

use super::ellipse::from_circle;
use super::nearest::segments;
use super::polytope::View;
use super::separate::PREFERENCE;
use crate::pose::Pose;
use saltus_model::rotation::{Vector, add, dot, norm, scaled, sub, tangents, unit};

/// A cylinder or cone about `z`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turned {
    /// Radius and height of the lower circle and of the upper one.
    pub circles: [[f64; 2]; 2],
    /// The normal of its wall, across the axis and along it.
    pub wall: [f64; 2],
}

/// What decides the direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// A cap of the first: the lower or the upper one.
    Cap(usize),
    /// A face of the other, or its cap.
    Face(usize),
    /// Anything round.
    Round,
}

/// The best direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Apart {
    pub s: f64,
    /// Out of the first.
    pub m: Vector,
    pub kind: Kind,
    /// The best cap or face.
    pub face: (Kind, Vector),
    /// In the middle of the gap.
    pub middle: Vector,
    /// The corner or edge of the other, where it has some.
    pub feature: u32,
}

/// Where a direction comes from, and so the place of the contact.
#[derive(Debug, Clone, Copy)]
enum Place {
    Corner(usize),
    /// A point of a circle of the first.
    First(usize),
    /// A point of a circle of the other.
    Second(usize),
    /// Where a line of the wall crosses an edge, or another wall.
    Lines(usize),
}

impl Turned {
    pub fn cylinder(radius: f64, half: f64) -> Turned {
        Turned { circles: [[radius, -half], [radius, half]], wall: [1.0, 0.0] }
    }

    pub fn cone(radius: f64, half: f64) -> Turned {
        let slant = radius.hypot(2.0 * half);
        Turned {
            circles: [[radius, -half], [0.0, half]],
            wall: [2.0 * half / slant, radius / slant],
        }
    }

    /// How far it reaches along `m`, given across the axis and along it.
    fn reach(&self, across: f64, along: f64) -> f64 {
        let [[r, z], [r1, z1]] = self.circles;
        (r * across + z * along).max(r1 * across + z1 * along)
    }

    /// The point of a circle that reaches farthest along `m`.
    fn on_circle(&self, k: usize, m: Vector) -> Vector {
        let [r, z] = self.circles[k];
        let across = m[0].hypot(m[1]);
        if across > 0.0 { [r * m[0] / across, r * m[1] / across, z] } else { [r, 0.0, z] }
    }

    /// The point that reaches farthest along `m`.
    pub fn support(&self, m: Vector) -> Vector {
        let [low, high] = [0, 1].map(|k| self.on_circle(k, m));
        if dot(m, low) >= dot(m, high) { low } else { high }
    }

    /// The line of the wall on the side of `m`: where it begins, and the way along it.
    fn line(&self, m: Vector) -> [Vector; 2] {
        let [low, high] = [0, 1].map(|k| self.on_circle(k, m));
        [low, sub(high, low)]
    }

    /// The caps and their normals.
    fn caps(&self) -> impl Iterator<Item = (usize, Vector)> {
        let flat = self.circles.map(|[r, _]| r > 0.0);
        [(0, [0.0, 0.0, -1.0]), (1, [0.0, 0.0, 1.0])].into_iter().filter(move |&(k, _)| flat[k])
    }

    /// The normal of its wall in the plane of the axis and `x`.
    fn wall_towards(&self, x: Vector) -> Option<Vector> {
        let across = x[0].hypot(x[1]);
        let [w, along] = self.wall;
        (across > 0.0).then(|| [w * x[0] / across, w * x[1] / across, along])
    }

    /// The normals of its wall `m` with `m · d = c`.
    fn wall_with(&self, d: Vector, c: f64) -> impl Iterator<Item = Vector> {
        // w d⊥ cos φ = c − d_z m_z
        let [w, along] = self.wall;
        let across = d[0].hypot(d[1]);
        let cos = (c - d[2] * along) / (w * across);
        let u = [d[0] / across, d[1] / across];
        let sin = ((1.0 - cos) * (1.0 + cos)).max(0.0).sqrt();
        let found = across > 1e-12 && cos.abs() <= 1.0;
        [sin, -sin]
            .into_iter()
            .filter(move |_| found)
            .map(move |sin| [w * (cos * u[0] - sin * u[1]), w * (cos * u[1] + sin * u[0]), along])
    }

    /// The direction from circle `k` to a point that is apart from its disk and not straight above it.
    fn circle_to(&self, k: usize, x: Vector) -> Option<Vector> {
        let [r, z] = self.circles[k];
        let across = x[0].hypot(x[1]);
        if r > 0.0 && !(across > r) {
            return None;
        }
        let share = if across > 0.0 { 1.0 - r / across } else { 0.0 };
        unit([share * x[0], share * x[1], x[2] - z])
    }
}

/// A polytope in the frame of the body of revolution; nothing where they are farther apart than `reach`.
pub(super) fn polytope(a: &Turned, b: View<'_>, size: f64, reach: f64) -> Option<Apart> {
    let preference = PREFERENCE * size;
    let worth = |m: Vector| b.lowest(m) - a.reach(m[0].hypot(m[1]), m[2]);
    let mut best = (f64::NEG_INFINITY, [0.0; 3], Kind::Round);
    for (f, (&n, o)) in b.normals.iter().zip(b.offsets).enumerate() {
        let s = -o - a.reach(n[0].hypot(n[1]), -n[2]);
        if s > reach {
            return None;
        }
        if s > best.0 {
            best = (s, scaled(-1.0, n), Kind::Face(f));
        }
    }
    for (k, m) in a.caps() {
        let s = worth(m);
        if s > reach {
            return None;
        }
        if s > best.0 + preference || best.2 == Kind::Round {
            best = (s, m, Kind::Cap(k));
        }
    }
    let face = (best.2, best.1);
    let y = a.support(best.1);
    let least = best.0.min(0.0);

    let mut place = None;
    let mut last = 0;
    let mut offer = |m: Vector, at: Place| {
        let bound = if best.2 == Kind::Round { best.0 } else { best.0 + preference };
        let far = a.reach(m[0].hypot(m[1]), m[2]);
        // the corner that ruled out the last direction first
        if !(dot(m, b.vertices[last]) - far > bound) {
            return;
        }
        let mut s = f64::INFINITY;
        for (k, &x) in b.vertices.iter().enumerate() {
            let along = dot(m, x) - far;
            if !(along > bound) {
                last = k;
                return;
            }
            s = s.min(along);
        }
        best = (s, m, Kind::Round);
        place = Some(at);
    };
    let corner = |v: usize, offer: &mut dyn FnMut(Vector, Place)| {
        let x = b.vertices[v];
        if let Some(m) = a.wall_towards(x) {
            offer(m, Place::Corner(v));
        }
        for k in 0..2 {
            if let Some(m) = a.circle_to(k, x) {
                offer(m, Place::Corner(v));
            }
        }
    };
    let edge = |i: usize, offer: &mut dyn FnMut(Vector, Place)| {
        let [p, q] = b.ends(i);
        let Some(e) = unit(sub(q, p)) else { return };
        a.wall_with(e, 0.0).for_each(|m| offer(m, Place::Lines(i)));
        for (k, [r, z]) in a.circles.into_iter().enumerate() {
            let from = sub(p, [0.0, 0.0, z]);
            for m in from_circle(from, r, [0.0, 0.0, 1.0], e) {
                offer(m, Place::First(k + 2 * i));
            }
        }
    };
    if b.normals.is_empty() {
        (0..b.vertices.len()).for_each(|v| corner(v, &mut offer));
        (0..b.polytope.edges.len()).for_each(|i| edge(i, &mut offer));
    }
    // s(m) ≤ m · (y − b) for a corner b that looks along −m, which is between the normals of its faces:
    // one of them looks at y, or m is no better
    for f in 0..b.normals.len() {
        if dot(b.normals[f], y) - b.offsets[f] < least {
            continue;
        }
        for &[v, i] in b.polytope.corners(f) {
            corner(v as usize, &mut offer);
            edge(i as usize, &mut offer);
        }
    }
    let (s, m, kind) = best;
    if s > reach {
        return None;
    }
    let half = scaled(0.5 * s, m);
    let (middle, feature) = match place {
        Some(Place::Corner(v)) => (sub(b.vertices[v], half), v as u32),
        Some(Place::First(k)) => (add(a.on_circle(k % 2, m), half), b.polytope.edge_feature(k / 2)),
        Some(Place::Lines(i)) => {
            let [p, q] = b.ends(i);
            (between(a.line(m), [p, sub(q, p)]), b.polytope.edge_feature(i))
        }
        _ => (add(a.support(m), half), 0),
    };
    Some(Apart { s, m, kind, face, middle, feature })
}

/// Between the nearest points of two segments.
fn between([p, d]: [Vector; 2], [q, e]: [Vector; 2]) -> Vector {
    let (s, t) = segments(p, d, q, e);
    scaled(0.5, add(add(p, scaled(s, d)), add(q, scaled(t, e))))
}

/// Another body of revolution at `to`; nothing where they are farther apart than `reach`.
pub(super) fn turned(a: &Turned, b: &Turned, to: &Pose, size: f64, reach: f64) -> Option<Apart> {
    let preference = PREFERENCE * size;
    let (c, d) = (to.x, to.turn([0.0, 0.0, 1.0]));
    let worth = |m: Vector| {
        let along = dot(m, d);
        let across = norm(sub(m, scaled(along, d)));
        dot(m, c) - a.reach(m[0].hypot(m[1]), m[2]) - b.reach(across, -along)
    };
    let mut best = (f64::NEG_INFINITY, [0.0; 3], Kind::Round);
    for (k, m) in a.caps() {
        let s = worth(m);
        if s > best.0 {
            best = (s, m, Kind::Cap(k));
        }
    }
    let mut second = best;
    second.0 = f64::NEG_INFINITY;
    for (k, m) in b.caps() {
        let m = scaled(-1.0, to.turn(m));
        let s = worth(m);
        if s > second.0 {
            second = (s, m, Kind::Face(k));
        }
    }
    if second.0 > best.0 + preference {
        best = second;
    }
    if best.0 > reach {
        return None;
    }
    let face = (best.2, best.1);
    let mut place = None;
    let mut offer = |m: Vector, at: Place| {
        let bound = if best.2 == Kind::Round { best.0 } else { best.0 + preference };
        let s = worth(m);
        if s > bound {
            best = (s, m, Kind::Round);
            place = Some(at);
        }
    };

    // a wall with a circle of the other, seen from either
    let back = |m: Vector| scaled(-1.0, to.turn(m));
    let from = Pose::of(to.turn_back(scaled(-1.0, c)), transposed(&to.R));
    wall_and_circles(a, b, to, |m, k| offer(m, Place::Second(k)));
    wall_and_circles(b, a, &from, |m, k| offer(back(m), Place::First(k)));
    // tips with circles
    for k in 0..2 {
        for (j, [r, z]) in b.circles.into_iter().enumerate() {
            if r == 0.0
                && let Some(m) = a.circle_to(k, add(c, scaled(z, d)))
            {
                offer(m, Place::Second(j));
            }
        }
        for (j, [r, z]) in a.circles.into_iter().enumerate() {
            if r == 0.0
                && let Some(m) = b.circle_to(k, from.point([0.0, 0.0, z]))
            {
                offer(back(m), Place::First(j));
            }
        }
    }
    // two walls: the other looks along −m
    a.wall_with(d, -b.wall[1]).for_each(|m| offer(m, Place::Lines(0)));
    if let Some(m) = a.wall_towards(c) {
        offer(m, Place::Lines(0));
    }
    // two rims
    let starts = [face.1, unit(c).unwrap_or(face.1)];
    for (k, [r, z]) in a.circles.into_iter().enumerate() {
        for [q, h] in b.circles {
            if r == 0.0 || q == 0.0 {
                continue;
            }
            let rims = Rims { D: sub(add(c, scaled(h, d)), [0.0, 0.0, z]), r, q, d };
            let scanned = rims.scan();
            for m in [starts[0], starts[1], scanned] {
                offer(rims.climb(m), Place::First(k));
            }
        }
    }
    let (s, m, kind) = best;
    if s > reach {
        return None;
    }
    let half = scaled(0.5 * s, m);
    let middle = match place {
        Some(Place::Second(k)) => {
            sub(to.point(b.on_circle(k, to.turn_back(scaled(-1.0, m)))), half)
        }
        Some(Place::First(k)) => add(a.on_circle(k, m), half),
        Some(Place::Lines(_)) => {
            let [q, e] = b.line(to.turn_back(scaled(-1.0, m)));
            between(a.line(m), [to.point(q), to.turn(e)])
        }
        _ => add(a.support(m), half),
    };
    Some(Apart { s, m, kind, face, middle, feature: 0 })
}

fn transposed(R: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| R[j][i]))
}

/// Directions from the wall of `a` to the circles of `b`.
fn wall_and_circles(a: &Turned, b: &Turned, to: &Pose, mut offer: impl FnMut(Vector, usize)) {
    let d = to.turn([0.0, 0.0, 1.0]);
    for (k, [r, z]) in b.circles.into_iter().enumerate() {
        let center = to.point([0.0, 0.0, z]);
        if r == 0.0 {
            if let Some(m) = a.wall_towards(center) {
                offer(m, k);
            }
        } else if a.wall[1] == 0.0 {
            // a cylinder, seen along its axis, is a disk
            let from = scaled(-1.0, center);
            for m in from_circle(from, r, d, [0.0, 0.0, 1.0]) {
                offer(scaled(-1.0, m), k);
            }
        } else {
            around(a, center, r, d, |m| offer(m, k));
        }
    }
}

/// Directions of the wall of a cone, looked at between so many of them.
const AROUND: usize = 24;

/// `m(φ) = (w cos φ, w sin φ, m_z)` where `m · c − r |m − (m · d) d|` is greatest: between two directions
/// with slopes of different signs, by halves.
fn around(a: &Turned, c: Vector, r: f64, d: Vector, mut offer: impl FnMut(Vector)) {
    let [w, along] = a.wall;
    let at = |angle: f64| {
        let (sin, cos) = angle.sin_cos();
        ([w * cos, w * sin, along], [-w * sin, w * cos, 0.0])
    };
    let slope = |angle: f64| {
        let (m, dm) = at(angle);
        let across = sub(m, scaled(dot(m, d), d));
        let length = norm(across);
        dot(dm, c) - if length > 0.0 { r * dot(across, dm) / length } else { 0.0 }
    };
    let step = std::f64::consts::TAU / AROUND as f64;
    for k in 0..AROUND {
        let (mut low, mut high) = (k as f64 * step, (k + 1) as f64 * step);
        if !(slope(low) >= 0.0 && slope(high) < 0.0) {
            continue;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if slope(middle) >= 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        offer(at(low).0);
    }
}

/// Two circles: one about `z` of radius `r`, the other about `d`, of radius `q`, at `D` from it.
struct Rims {
    D: Vector,
    r: f64,
    q: f64,
    d: Vector,
}

impl Rims {
    /// `g(m) = m · D − r |m − m_z z| − q |m − (m · d) d|` and its gradient.
    fn value(&self, m: Vector) -> (f64, Vector, [(f64, Vector); 2]) {
        let across = |axis: Vector| {
            let u = sub(m, scaled(dot(m, axis), axis));
            let length = norm(u);
            (length, if length > 0.0 { scaled(1.0 / length, u) } else { [0.0; 3] })
        };
        let (one, two) = (across([0.0, 0.0, 1.0]), across(self.d));
        let g = dot(m, self.D) - self.r * one.0 - self.q * two.0;
        let slope = sub(self.D, add(scaled(self.r, one.1), scaled(self.q, two.1)));
        (g, slope, [one, two])
    }

    /// The best of the directions to the corners, edges and sides of a cube.
    fn scan(&self) -> Vector {
        let mut best = (f64::NEG_INFINITY, [0.0, 0.0, 1.0]);
        for k in 0..27 {
            let Some(m) = unit([k % 3, k / 3 % 3, k / 9].map(|x: i32| f64::from(x - 1))) else {
                continue;
            };
            let g = self.value(m).0;
            if g > best.0 {
                best = (g, m);
            }
        }
        best.1
    }

    /// From `m` up to where `g` is greatest on the sphere: Newton's method, held back where it would go
    /// down.
    fn climb(&self, mut m: Vector) -> Vector {
        let (mut g, mut slope, mut across) = self.value(m);
        let mut held = 0.0;
        let size = self.r + self.q + norm(self.D);
        for _ in 0..60 {
            let [t1, t2] = tangents(m);
            let (p, q) = (dot(slope, t1), dot(slope, t2));
            if p.hypot(q) <= 1e-16 * size {
                break;
            }
            // −r/|m⊥| (P − u uᵀ) of each circle, and −g of the sphere
            let bend = |x: Vector, y: Vector| {
                let of = |r: f64, axis: Vector, (length, u): (f64, Vector)| {
                    let length = length.max(1e-12);
                    r / length * (dot(x, y) - dot(x, axis) * dot(y, axis) - dot(x, u) * dot(y, u))
                };
                of(self.r, [0.0, 0.0, 1.0], across[0]) + of(self.q, self.d, across[1])
            };
            let (a, b, c) = (bend(t1, t1) + g, bend(t1, t2), bend(t2, t2) + g);
            // the lesser eigenvalue of the curvature has to be positive
            let lesser = 0.5 * (a + c) - (0.5 * (a - c)).hypot(b);
            let shift = held + if lesser > 1e-12 * size { 0.0 } else { 1e-3 * size - lesser };
            let (a, c) = (a + shift, c + shift);
            let det = a * c - b * b;
            let (x, y) = ((c * p - b * q) / det, (a * q - b * p) / det);
            let next = unit(add(m, add(scaled(x, t1), scaled(y, t2))));
            let Some(next) = next.filter(|_| x.is_finite() && y.is_finite()) else { break };
            let found = self.value(next);
            if found.0 >= g {
                let done = x.hypot(y) < 1e-15;
                m = next;
                (g, slope, across) = found;
                held *= 0.1;
                if done {
                    break;
                }
            } else {
                held = if held > 0.0 { 10.0 * held } else { 1e-3 * size };
                if held > 1e12 * size {
                    break;
                }
            }
        }
        m
    }
}
