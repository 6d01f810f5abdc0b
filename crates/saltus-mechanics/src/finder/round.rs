//! Closed forms for shapes that are round: spheres, capsules, cylinders, cones.
//!
//! Normals point from the second shape to the first, whose places are in the frame of the world.

use super::nearest::segments;
use super::touch::Touch;
use crate::pose::Pose;
use saltus_model::rotation::{Vector, add, cross, dot, norm, scaled, sub, tangents, unit};

/// Spheres about `x` and `y`: `gap = |x − y| − r − s`.
#[inline]
pub(super) fn spheres(x: Vector, r: f64, y: Vector, s: f64) -> Touch {
    apart(x, r, y, s, [0.0, 0.0, 1.0], [0, 0])
}

/// Two points with radii; `otherwise` is the normal where they coincide.
#[inline]
pub(super) fn apart(
    x: Vector,
    r: f64,
    y: Vector,
    s: f64,
    otherwise: Vector,
    features: [u32; 2],
) -> Touch {
    let between = sub(x, y);
    let distance = norm(between);
    let normal = if distance > 0.0 { scaled(1.0 / distance, between) } else { otherwise };
    let gap = distance - (r + s);
    Touch::on_second(add(y, scaled(s, normal)), normal, gap, features)
}

/// The half-space `n · x ≤ offset` in the frame of the world.
#[derive(Debug, Clone, Copy)]
pub(super) struct HalfSpace {
    pub n: Vector,
    pub offset: f64,
}

impl HalfSpace {
    pub fn new(n: Vector, offset: f64, at: &Pose) -> HalfSpace {
        let n = at.turn(n);
        HalfSpace { n, offset: offset + dot(n, at.x) }
    }

    /// With a point of radius `r`.
    #[inline]
    pub fn touch(&self, x: Vector, r: f64, feature: u32) -> Touch {
        let gap = dot(self.n, x) - self.offset - r;
        Touch::on_second(sub(x, scaled(r + gap, self.n)), self.n, gap, [feature, 0])
    }
}

/// A sphere and the segment from `p` along `d`, of radius `s`.
pub(super) fn sphere_segment(x: Vector, r: f64, p: Vector, d: Vector, s: f64) -> Touch {
    let share = (dot(sub(x, p), d) / dot(d, d)).clamp(0.0, 1.0);
    let y = add(p, scaled(share, d));
    let otherwise = tangents(unit(d).unwrap_or([0.0, 0.0, 1.0]))[0];
    // its features are the two ends, and what is between them
    let feature = if share == 0.0 { 0 } else { 1 + u32::from(share < 1.0) };
    apart(x, r, y, s, otherwise, [0, feature])
}

/// Capsules less parallel than this touch in one point.
const PARALLEL: f64 = 0.03;

/// Two capsules about the segments from `p` along `d` and from `q` along `e`.
pub(super) fn capsules(
    [p, d]: [Vector; 2],
    r: f64,
    [q, e]: [Vector; 2],
    s: f64,
    mut found: impl FnMut(Touch),
) {
    let across = cross(d, e);
    let sine = norm(across) / (norm(d) * norm(e));
    let otherwise = unit(across).unwrap_or_else(|| tangents(unit(d).unwrap_or([1.0, 0.0, 0.0]))[0]);
    let feature = |share: f64| if share <= 0.0 { 0 } else { 1 + u32::from(share < 1.0) };
    let mut offer = |a: f64, b: f64| {
        let (x, y) = (add(p, scaled(a, d)), add(q, scaled(b, e)));
        found(apart(x, r, y, s, otherwise, [feature(a), feature(b)]));
    };
    let (a, b) = segments(p, d, q, e);
    if !(sine < PARALLEL) {
        offer(a, b);
        return;
    }
    // nearly parallel: the two ends of where they are beside each other
    let (s0, s1) = (dot(sub(q, p), d) / dot(d, d), dot(sub(add(q, e), p), d) / dot(d, d));
    let (low, high) = (s0.min(s1).clamp(0.0, 1.0), s0.max(s1).clamp(0.0, 1.0));
    let beside = |a: f64| (dot(sub(add(p, scaled(a, d)), q), e) / dot(e, e)).clamp(0.0, 1.0);
    if !(high - low > 1e-6) {
        offer(a, b);
        return;
    }
    for share in [low, high] {
        offer(share, beside(share));
    }
    if sine > 1e-7 && a > low && a < high {
        offer(a, b);
    }
}

/// Rims are looked at in this many directions, fixed in the body.
const DIRECTIONS: u32 = 8;

/// Rims more tilted than this touch a plane in their lowest point alone: the sine of the angle.
const LEVEL: f64 = 0.1;

/// Below this tilt the lowest point of a rim is that of a direction which the last bits decide.
const FLAT: f64 = 1e-12;

/// The rim of radius `r` about the `z` axis at height `z` of a body, on a plane: its lowest point, and
/// where the rim is level the points of the other directions. Features from `first` on are those of
/// the directions: the lowest point takes the place of the direction it is nearest to.
pub(super) fn rim(
    at: &Pose,
    z: f64,
    r: f64,
    plane: &HalfSpace,
    first: u32,
    mut found: impl FnMut(Touch),
) {
    let n = at.turn_back(plane.n);
    let tilt = n[0].hypot(n[1]);
    let place = |cos: f64, sin: f64| at.point([r * cos, r * sin, z]);
    let step = std::f64::consts::TAU / f64::from(DIRECTIONS);
    let lowest = (tilt > FLAT).then(|| {
        let (cos, sin) = (-n[0] / tilt, -n[1] / tilt);
        let turn = (sin.atan2(cos) / step).round().rem_euclid(f64::from(DIRECTIONS));
        (cos, sin, turn as u32 % DIRECTIONS)
    });
    if let Some((cos, sin, k)) = lowest {
        let level = tilt < LEVEL;
        found(plane.touch(
            place(cos, sin),
            0.0,
            if level { first + k } else { first + DIRECTIONS },
        ));
        if !level {
            return;
        }
    }
    for k in (0..DIRECTIONS).filter(|&k| lowest.is_none_or(|(_, _, taken)| k != taken)) {
        let (sin, cos) = (f64::from(k) * step).sin_cos();
        found(plane.touch(place(cos, sin), 0.0, first + k));
    }
}

/// Features of a rim.
pub(super) const RIM: u32 = DIRECTIONS + 1;

/// A sphere and a body of revolution about `z`, whose profile in `(ρ, z)` is the convex polygon
/// `(0, z₀), …, (0, z₁)`: counterclockwise, from the axis to the axis. The first feature is the sphere's.
pub(super) fn sphere_profile(x: Vector, r: f64, at: &Pose, profile: &[[f64; 2]]) -> Touch {
    let c = at.turn_back(sub(x, at.x));
    let rho = c[0].hypot(c[1]);
    let point = [rho, c[2]];
    let radial = if rho > 0.0 { [c[0] / rho, c[1] / rho] } else { [1.0, 0.0] };
    let to_world = |a: [f64; 2]| at.turn([a[0] * radial[0], a[0] * radial[1], a[1]]);
    let (mut inside, mut outside) =
        ((f64::NEG_INFINITY, [0.0; 2], 0), (f64::INFINITY, [0.0; 2], 0));
    for (k, pair) in profile.windows(2).enumerate() {
        let (a, b) = (pair[0], pair[1]);
        let along = [b[0] - a[0], b[1] - a[1]];
        let length = along[0].hypot(along[1]);
        let out = [along[1] / length, -along[0] / length];
        let from = [point[0] - a[0], point[1] - a[1]];
        let height = from[0] * out[0] + from[1] * out[1];
        if height > inside.0 {
            inside = (height, out, k as u32);
        }
        let share = ((from[0] * along[0] + from[1] * along[1]) / (length * length)).clamp(0.0, 1.0);
        let nearest = [a[0] + share * along[0], a[1] + share * along[1]];
        let distance = (point[0] - nearest[0]).hypot(point[1] - nearest[1]);
        if distance < outside.0 {
            let over = share > 0.0 && share < 1.0 && height > 0.0;
            let direction = if over {
                out
            } else {
                [(point[0] - nearest[0]) / distance, (point[1] - nearest[1]) / distance]
            };
            outside = (if over { height } else { distance }, direction, k as u32);
        }
    }
    let (distance, direction, k) = if inside.0 <= 0.0 { inside } else { outside };
    let normal = to_world(direction);
    Touch::on_second(sub(x, scaled(distance, normal)), normal, distance - r, [0, k])
}
