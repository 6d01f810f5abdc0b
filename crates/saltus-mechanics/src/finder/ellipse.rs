//! Which way a point is from a circle that is seen along a direction, where it is an ellipse.
//!
//! ```text
//! max_m  m · y − √((e₀ m₀)² + (e₁ m₁)²),   |m| = 1                                   (1)
//! m ∝ (y₀ / (u + r − 1), y₁ / u),   r = (e₀ / e₁)²
//! (r z₀ / (u + r − 1))² + (z₁ / u)² = 1,   zᵢ = yᵢ / eᵢ                              (2)
//! ```
//!
//! with half axes `e₀ ≥ e₁`: the value of (1) is how far the point is outside, negative inside. The left
//! side of (2) falls and is convex for `u > 0`, so that Newton's method from below goes up to its root.
//! Inside there may be another direction out, on the far side of the major axis, which is no worse than
//! those next to it: the greatest root with `1 − r < u < 0`, to which Newton's method goes down.
//!
//! Reference: Eberly, *Distance from a Point to an Ellipse*, 2013.

use saltus_model::rotation::{Vector, add, cross, dot, scaled, unit};

/// Ellipses that are flatter than this are segments.
const FLAT: f64 = 1e-12;

/// The directions, perpendicular to the unit vector `along`, from the circle of radius `r` about the
/// origin and the unit vector `axis` to the point `y`: the best, then that of the far side.
pub(super) fn from_circle(
    y: Vector,
    r: f64,
    axis: Vector,
    along: Vector,
) -> impl Iterator<Item = Vector> {
    let flat = |y: Vector| add(y, scaled(-dot(y, along), along));
    let found = match unit(cross(axis, along)).filter(|_| r > 0.0) {
        None => [unit(flat(y)), None],
        Some(major) => {
            let minor = cross(along, major);
            let (y0, y1) = (dot(y, major), dot(y, minor));
            let (s0, s1) = (1.0_f64.copysign(y0), 1.0_f64.copysign(y1));
            let (y, e) = ([y0.abs(), y1.abs()], [r, r * dot(axis, along).abs()]);
            let back = |[m0, m1]: [f64; 2]| add(scaled(s0 * m0, major), scaled(s1 * m1, minor));
            [near(y, e).map(back), far(y, e).map(back)]
        }
    };
    found.into_iter().flatten()
}

fn unit_of(m0: f64, m1: f64) -> Option<[f64; 2]> {
    let length = m0.hypot(m1);
    (length > 0.0 && length.is_finite()).then(|| [m0 / length, m1 / length])
}

/// The unit vector of (1), for `y` in the first quadrant.
fn near([y0, y1]: [f64; 2], [e0, e1]: [f64; 2]) -> Option<[f64; 2]> {
    if !(e1 > FLAT * e0) {
        return if y0 > e0 { unit_of(y0 - e0, y1) } else { Some([0.0, 1.0]) };
    }
    if y1 == 0.0 {
        return on_major(y0, [e0, e1]);
    }
    let r = (e0 / e1) * (e0 / e1);
    let (z0, z1) = (y0 / e0, y1 / e1);
    let mut u = z1.max(r * z0 - (r - 1.0));
    for _ in 0..200 {
        let step = newton(u, r, [z0, z1]);
        u += step;
        if !(step > 1e-15 * u) {
            break;
        }
    }
    unit_of(y0 / (u + (r - 1.0)), y1 / u)
}

/// The same on the far side of the major axis, if there is one.
fn far([y0, y1]: [f64; 2], [e0, e1]: [f64; 2]) -> Option<[f64; 2]> {
    let mirrored = |[m0, m1]: [f64; 2]| [m0, -m1];
    if !(e1 > FLAT * e0) {
        return (y0 <= e0).then_some([0.0, -1.0]);
    }
    if y1 == 0.0 {
        return on_major(y0, [e0, e1]).map(mirrored);
    }
    let r = (e0 / e1) * (e0 / e1);
    let (z0, z1) = (y0 / e0, y1 / e1);
    let mut u = -z1;
    for _ in 0..200 {
        if !(u > 1.0 - r) {
            return None;
        }
        let step = newton(u, r, [z0, z1]);
        // up again: there is none
        if step > 1e-14 * -u {
            return None;
        }
        u += step;
        if !(step < -1e-15 * -u) {
            return unit_of(y0 / (u + (r - 1.0)), y1 / u);
        }
    }
    None
}

/// On the major axis: its end is nearest, or two points beside it.
fn on_major(y0: f64, [e0, e1]: [f64; 2]) -> Option<[f64; 2]> {
    let share = e0 * y0 / (e0 * e0 - e1 * e1);
    if share < 1.0 {
        unit_of(share / e0, (1.0 - share * share).sqrt() / e1)
    } else {
        Some([1.0, 0.0])
    }
}

/// A step of Newton's method for (2).
fn newton(u: f64, r: f64, [z0, z1]: [f64; 2]) -> f64 {
    let (a, b) = (r * z0 / (u + (r - 1.0)), z1 / u);
    let excess = a * a + b * b - 1.0;
    let slope = -2.0 * (a * a / (u + (r - 1.0)) + b * b / u);
    -excess / slope
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No other direction has a greater value of (1), inside, outside and on the rim.
    #[test]
    fn best_direction() {
        let e = [1.0, 0.3];
        let value =
            |y: [f64; 2], m: [f64; 2]| m[0] * y[0] + m[1] * y[1] - (e[0] * m[0]).hypot(e[1] * m[1]);
        for i in 0..30 {
            for j in 0..30 {
                let y = [f64::from(i) * 0.05, f64::from(j) * 0.03];
                let best = value(y, near(y, e).unwrap());
                for k in 0..720 {
                    let (sin, cos) = (f64::from(k) * std::f64::consts::PI / 360.0).sin_cos();
                    assert!(value(y, [cos, sin]) <= best + 1e-14, "{y:?}");
                }
            }
        }
    }

    /// The far side is a direction with none better beside it, and it is found inside a flat ellipse.
    #[test]
    fn far_side() {
        let e = [1.0, 0.01];
        let value = |m: [f64; 2]| 0.6 * m[0] + 0.002 * m[1] - (e[0] * m[0]).hypot(e[1] * m[1]);
        let m = far([0.6, 0.002], e).unwrap();
        assert!(m[1] < 0.0);
        for turn in [-1e-3, -1e-4, 1e-4, 1e-3_f64] {
            let (sin, cos) = turn.sin_cos();
            assert!(value([cos * m[0] - sin * m[1], sin * m[0] + cos * m[1]]) < value(m));
        }
    }
}
