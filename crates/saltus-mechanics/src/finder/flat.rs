//! Shapes of the plane: convex polygons, segments (polygons with two corners), lines of segments.

use super::pairs::Body;
use super::round::HalfSpace;
use super::solid::Solid;
use super::touch::{Touch, flip};
use crate::pose::Pose;
use saltus_model::rotation::Vector;

type Point = [f64; 2];

fn minus(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1]]
}

fn along(a: Point, s: f64, d: Point) -> Point {
    [a[0] + s * d[0], a[1] + s * d[1]]
}

fn inner(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn length(a: Point) -> f64 {
    a[0].hypot(a[1])
}

/// `(x, y)` turned by −90°: out of an edge that goes counterclockwise.
fn outwards(d: Point) -> Point {
    let l = length(d);
    [d[1] / l, -d[0] / l]
}

fn lifted(a: Point) -> Vector {
    [a[0], a[1], 0.0]
}

/// Corners counterclockwise.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Polygon {
    pub corners: Vec<Point>,
    pub size: f64,
}

/// Corners one after the other.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Polyline {
    pub corners: Vec<Point>,
    pub size: f64,
}

/// Room for corners in the frame of the world, less the place of the first shape.
#[derive(Debug, Clone, Default)]
pub(super) struct Room {
    a: Vec<Point>,
    b: Vec<Point>,
}

impl Polygon {
    pub fn new(corners: &[Point]) -> Polygon {
        let mut corners = corners.to_vec();
        let n = corners.len();
        let area = |k: usize| {
            let (a, b) = (corners[k], corners[(k + 1) % n]);
            a[0] * b[1] - a[1] * b[0]
        };
        if (0..n).map(area).sum::<f64>() < 0.0 {
            corners.reverse();
        }
        let size = 0.5 * extent(&corners);
        Polygon { corners, size }
    }

    /// Corners, then edges.
    pub fn features(&self) -> u32 {
        2 * self.corners.len() as u32
    }

    /// With a disk about `x`.
    pub fn disk(&self, x: Vector, r: f64, at: &Pose, reach: f64, touches: &mut Vec<Touch>) {
        let c = at.turn_back([x[0] - at.x[0], x[1] - at.x[1], 0.0]);
        let touch = disk_on(&self.corners, [c[0], c[1]], r, |_| true);
        touches.extend(touch.filter(|t| t.gap <= reach).map(|t| in_world(t, at)));
    }

    /// With a half-plane.
    pub fn plane(&self, at: &Pose, plane: &HalfSpace, reach: f64, touches: &mut Vec<Touch>) {
        corners_on(&self.corners, at, plane, reach, touches);
    }
}

impl Polyline {
    pub fn new(corners: &[Point]) -> Polyline {
        Polyline { corners: corners.to_vec(), size: 0.5 * extent(corners) }
    }

    /// Corners, then segments.
    pub fn features(&self) -> u32 {
        2 * self.corners.len() as u32
    }

    /// With a disk about `x`: where one segment goes on as the next, only the nearer one counts.
    pub fn disk(&self, x: Vector, r: f64, at: &Pose, reach: f64, touches: &mut Vec<Touch>) {
        let c = at.turn_back([x[0] - at.x[0], x[1] - at.x[1], 0.0]);
        let c = [c[0], c[1]];
        let count = self.corners.len() as u32;
        let start = touches.len();
        for k in 0..self.corners.len() - 1 {
            let ends = [self.corners[k], self.corners[k + 1]];
            let touch = disk_on(&ends, c, r, |corner| self.outermost(k + corner, c, 0.0));
            touches.extend(touch.filter(|t| t.gap <= reach).map(|mut t| {
                t.features[1] = match t.features[1] {
                    corner @ 0..2 => k as u32 + corner,
                    _ => count + k as u32,
                };
                in_world(t, at)
            }));
        }
        super::touch::merge(touches, start, self.size.min(r));
    }

    pub fn plane(&self, at: &Pose, plane: &HalfSpace, reach: f64, touches: &mut Vec<Touch>) {
        corners_on(&self.corners, at, plane, reach, touches);
    }

    /// Whether a corner is nearer to `c` than the segments that meet in it.
    fn outermost(&self, corner: usize, c: Point, slack: f64) -> bool {
        let v = self.corners[corner];
        let away = |other: usize| {
            let d = minus(self.corners[other], v);
            inner(minus(c, v), d) <= slack * length(d)
        };
        (corner == 0 || away(corner - 1)) && (corner + 1 == self.corners.len() || away(corner + 1))
    }
}

fn extent(corners: &[Point]) -> f64 {
    let pairs = corners.iter().flat_map(|&a| corners.iter().map(move |&b| length(minus(a, b))));
    pairs.fold(0.0_f64, f64::max)
}

fn in_world(touch: Touch, at: &Pose) -> Touch {
    Touch { normal: at.turn(touch.normal), point: at.point(touch.point), ..touch }
}

fn corners_on(
    corners: &[Point],
    at: &Pose,
    plane: &HalfSpace,
    reach: f64,
    touches: &mut Vec<Touch>,
) {
    let start = touches.len();
    for (k, &x) in corners.iter().enumerate() {
        let touch = plane.touch(at.point(lifted(x)), 0.0, k as u32);
        if touch.gap <= reach {
            touches.push(touch);
        }
    }
    keep_two(touches, start, [-plane.n[1], plane.n[0]]);
}

/// Leaves at most two: those that reach farthest either way along `t`, the deeper of equals.
fn keep_two(touches: &mut Vec<Touch>, start: usize, t: Point) {
    if touches.len() - start <= 2 {
        return;
    }
    let score = |touch: &Touch, sign: f64| {
        sign * inner([touch.point[0], touch.point[1]], t) - 0.1 * touch.gap
    };
    for (k, sign) in [(start, 1.0), (start + 1, -1.0)] {
        let best = (k..touches.len())
            .max_by(|&i, &j| score(&touches[i], sign).total_cmp(&score(&touches[j], sign)));
        if let Some(best) = best {
            touches.swap(k, best);
        }
    }
    touches.truncate(start + 2);
}

/// A disk and a convex polygon or segment; `counts` says whether a corner does.
fn disk_on(
    corners: &[Point],
    c: Point,
    r: f64,
    counts: impl Fn(usize) -> bool,
) -> impl Iterator<Item = Touch> {
    let n = corners.len();
    let mut inside = (f64::NEG_INFINITY, 0);
    let mut nearest = (f64::INFINITY, 0, 0.0);
    for k in 0..n {
        let (a, b) = (corners[k], corners[(k + 1) % n]);
        let d = minus(b, a);
        let height = inner(outwards(d), minus(c, a));
        if height > inside.0 {
            inside = (height, k);
        }
        let share = (inner(minus(c, a), d) / inner(d, d)).clamp(0.0, 1.0);
        let distance = length(minus(c, along(a, share, d)));
        if distance < nearest.0 || (distance == nearest.0 && height > 0.0) {
            nearest = (distance, k, share);
        }
    }
    let (k, share) =
        if n > 2 && inside.0 <= 0.0 { (inside.1, 0.5) } else { (nearest.1, nearest.2) };
    let (a, b) = (corners[k], corners[(k + 1) % n]);
    let out = outwards(minus(b, a));
    let corner = if share == 0.0 { Some(k) } else { (share == 1.0).then_some((k + 1) % n) };
    let (normal, distance, feature) = match corner {
        Some(v) if nearest.0 > 0.0 => {
            let apart = minus(c, corners[v]);
            ([apart[0] / nearest.0, apart[1] / nearest.0], nearest.0, v)
        }
        // a segment has two sides, of which the disk is on one
        _ if n == 2 && inner(out, minus(c, a)) < 0.0 => {
            ([-out[0], -out[1]], -inner(out, minus(c, a)), n + 1 - k)
        }
        _ => (out, inner(out, minus(c, a)), n + k),
    };
    let fine = corner.is_none_or(counts);
    let on = along(c, -distance, normal);
    fine.then(|| Touch::on_second(lifted(on), lifted(normal), distance - r, [0, feature as u32]))
        .into_iter()
}

/// Polygons, segments and lines of segments with each other; normals from `b` to `a`.
pub(super) fn contacts(
    a: Body<'_>,
    b: Body<'_>,
    reach: f64,
    room: &mut super::pairs::Room,
    touches: &mut Vec<Touch>,
) {
    let origin = a.at.x;
    let Room { a: first, b: second } = &mut room.flat;
    if !(take(a, origin, first) && take(b, origin, second)) {
        return;
    }
    let start = touches.len();
    let (lines_a, lines_b) = (is_line(a.solid), is_line(b.solid));
    let count = |points: &[Point], line: bool| if line { points.len() - 1 } else { 1 };
    for i in 0..count(first, lines_a) {
        for j in 0..count(second, lines_b) {
            let from = touches.len();
            let part = |points: &'_ [Point], line: bool, k: usize| -> (usize, usize) {
                if line { (k, k + 2) } else { (0, points.len()) }
            };
            let (a0, a1) = part(first, lines_a, i);
            let (b0, b1) = part(second, lines_b, j);
            polygons(&first[a0..a1], &second[b0..b1], reach, touches);
            if lines_b {
                drop_inner(second, j, from, 1, 1.0, touches);
            }
            if lines_a {
                drop_inner(first, i, from, 0, -1.0, touches);
            }
            for touch in &mut touches[from..] {
                for (side, (line, k, n)) in
                    [(lines_a, i, first.len()), (lines_b, j, second.len())].into_iter().enumerate()
                {
                    let feature = &mut touch.features[side];
                    if line {
                        let (k, n) = (k as u32, n as u32);
                        *feature = if *feature < 2 { k + *feature } else { n + k };
                    }
                }
            }
        }
    }
    let size = extent(first).min(extent(second));
    super::touch::merge(touches, start, size);
    if lines_a || lines_b {
        super::touch::reduce(touches, start, size);
    }
    for touch in &mut touches[start..] {
        touch.point = [touch.point[0] + origin[0], touch.point[1] + origin[1], 0.0];
    }
}

/// A corner at which a line goes on is touched only from where it sticks out.
fn drop_inner(
    line: &[Point],
    k: usize,
    from: usize,
    side: usize,
    sign: f64,
    touches: &mut Vec<Touch>,
) {
    let mut j = from;
    while j < touches.len() {
        let touch = touches[j];
        let n = [sign * touch.normal[0], sign * touch.normal[1]];
        let fine = match touch.features[side] {
            corner @ 0..2 => {
                let v = k + corner as usize;
                let away = |other: usize| {
                    let d = minus(line[other], line[v]);
                    inner(n, d) <= 1e-6 * length(d)
                };
                (v == 0 || away(v - 1)) && (v + 1 == line.len() || away(v + 1))
            }
            _ => true,
        };
        if fine {
            j += 1
        } else {
            touches.swap_remove(j);
        }
    }
}

fn is_line(solid: &Solid) -> bool {
    matches!(solid, Solid::Polyline(_))
}

/// Corners in the frame of the world, less the origin.
fn take(a: Body<'_>, origin: Vector, out: &mut Vec<Point>) -> bool {
    let corners = match a.solid {
        Solid::Polygon(polygon) => &polygon.corners,
        Solid::Polyline(polyline) => &polyline.corners,
        _ => return false,
    };
    out.clear();
    let shift = [a.at.x[0] - origin[0], a.at.x[1] - origin[1]];
    out.extend(corners.iter().map(|&x| {
        let y = a.at.turn(lifted(x));
        [y[0] + shift[0], y[1] + shift[1]]
    }));
    true
}

/// Preference of the first shape's edges, and what still counts as on an edge: shares of the size.
const SHARE: f64 = 1e-6;

/// The edge along whose normal the polygons are farthest apart: the separation and the edge.
fn best_edge(a: &[Point], b: &[Point]) -> (f64, usize) {
    let mut best = (f64::NEG_INFINITY, 0);
    for k in 0..a.len() {
        let n = outwards(minus(a[(k + 1) % a.len()], a[k]));
        let s = b.iter().map(|&x| inner(n, minus(x, a[k]))).fold(f64::INFINITY, f64::min);
        if s > best.0 {
            best = (s, k);
        }
    }
    best
}

/// Two convex polygons: the edge of one that looks at the other is clipped at the ends of that.
fn polygons(a: &[Point], b: &[Point], reach: f64, touches: &mut Vec<Touch>) {
    let start = touches.len();
    let size = extent(a).min(extent(b));
    let ((s, i), (t, j)) = (best_edge(a, b), best_edge(b, a));
    if s > reach || t > reach {
        return;
    }
    let best = s.max(t);
    if t > s + SHARE * size {
        clip(b, j, a, reach, touches);
    } else {
        clip(a, i, b, reach, touches);
        flip(&mut touches[start..]);
    }
    let least = touches[start..].iter().fold(f64::INFINITY, |least, t| least.min(t.gap));
    if best > 0.0 && !(least <= best + 1e-9 * size) {
        touches.truncate(start);
        touches.extend(corners_between(a, b).filter(|t| t.gap <= reach));
    }
}

/// Contacts on edge `k` of `reference`; normals point away from it, its feature is the second.
fn clip(reference: &[Point], k: usize, other: &[Point], reach: f64, touches: &mut Vec<Touch>) {
    let n = reference.len();
    let (p, q) = (reference[k], reference[(k + 1) % n]);
    let d = minus(q, p);
    let out = outwards(d);
    let m = other.len();
    let looks = |j: usize| inner(out, outwards(minus(other[(j + 1) % m], other[j])));
    // of the two edges at the deepest corner the one that looks against it the most
    let depth = |v: usize| inner(out, other[v]);
    let lowest = (0..m).min_by(|&i, &j| depth(i).total_cmp(&depth(j))).unwrap_or(0);
    let before = (lowest + m - 1) % m;
    let against = if looks(lowest) <= looks(before) { lowest } else { before };
    let ends = [against, (against + 1) % m];
    let at = |v: usize| inner(minus(other[v], p), d) / inner(d, d);
    let (u, w) = (at(ends[0]), at(ends[1]));
    let slack = SHARE * (extent(other) / length(d)).min(1.0);
    for (end, (here, there)) in ends.into_iter().zip([(u, w), (w, u)]) {
        let kept = here.clamp(0.0, 1.0);
        let outside =
            (here < -slack && there < -slack) || (here > 1.0 + slack && there > 1.0 + slack);
        if outside {
            continue;
        }
        let (x, features) = if (here - kept).abs() <= slack {
            (other[end], [end as u32, (n + k) as u32])
        } else {
            let share = (kept - here) / (there - here);
            let x = along(
                other[end],
                share,
                minus(other[if end == ends[0] { ends[1] } else { ends[0] }], other[end]),
            );
            let corner = if kept == 0.0 { k } else { (k + 1) % n };
            (x, [(m + against) as u32, corner as u32])
        };
        let gap = inner(out, minus(x, p));
        if gap <= reach {
            touches.push(Touch {
                gap,
                normal: lifted(out),
                point: lifted(along(x, -0.5 * gap, out)),
                features,
            });
        }
    }
}

/// Nearest points of two polygons that are apart, one of them a corner.
fn corners_between(a: &[Point], b: &[Point]) -> impl Iterator<Item = Touch> {
    let mut best: Option<Touch> = None;
    for (v, &x) in a.iter().enumerate() {
        for touch in disk_on(b, x, 0.0, |_| true) {
            if best.is_none_or(|best| touch.gap < best.gap) {
                best = Some(Touch { features: [v as u32, touch.features[1]], ..touch });
            }
        }
    }
    for (v, &x) in b.iter().enumerate() {
        for touch in disk_on(a, x, 0.0, |_| true) {
            if best.is_none_or(|best| touch.gap < best.gap) {
                best = Some(Touch { features: [v as u32, touch.features[1]], ..touch }.flipped());
            }
        }
    }
    best.into_iter()
}
