//! Gaps of round shapes, exact to 1e-12 of the size, against other formulas for the same.

use super::{Random, UPRIGHT, between, ground};
use crate::Shape;
use saltus_model::FoundContact;
use saltus_model::rotation::{
    Quaternion, Vector, add, dot, norm, rotate, rotate_back, scaled, sub,
};

fn least(found: &[FoundContact]) -> f64 {
    found.iter().fold(f64::INFINITY, |least, c| least.min(c.gap))
}

/// Both orders of the pair give the same gap, and normals that are each other's opposites.
#[track_caller]
fn check(
    a: (&Shape, Vector, Quaternion),
    b: (&Shape, Vector, Quaternion),
    expected: f64,
    size: f64,
) {
    let reach = 3.0 * size;
    let there = between(a, b, reach);
    assert!((least(&there) - expected).abs() <= 1e-12 * size, "{} for {expected}", least(&there));
    if matches!(b.0, Shape::Plane { .. }) {
        return;
    }
    let back = between(b, a, reach);
    assert_eq!(there.len(), back.len());
    assert!((least(&back) - expected).abs() <= 1e-12 * size);
    for contact in &there {
        let same = |other: &&FoundContact| {
            norm(sub(other.point, contact.point)) < 1e-9 * size
                && norm(add(other.normal, contact.normal)) < 1e-9
        };
        assert!(back.iter().any(|other| same(&other)), "{contact:?} in {back:?}");
    }
}

/// The distance of a point from a segment by ternary search: no formula in common.
fn to_segment(x: Vector, ends: [Vector; 2]) -> f64 {
    let at = |s: f64| norm(sub(x, add(scaled(1.0 - s, ends[0]), scaled(s, ends[1]))));
    minimum(at)
}

/// The minimum of a convex function on [0, 1], by golden sections and then by a parabola's foot,
/// which distances are near their minimum.
fn minimum(f: impl Fn(f64) -> f64) -> f64 {
    let (mut a, mut b) = (0.0, 1.0);
    for _ in 0..200 {
        let (c, d) = (a + (b - a) / 3.0, b - (b - a) / 3.0);
        if f(c) < f(d) { b = d } else { a = c }
    }
    f(0.5 * (a + b)).min(f(0.0)).min(f(1.0))
}

#[test]
fn spheres() {
    let mut random = Random(1);
    for _ in 0..200 {
        let (r, s) = (random.within(0.1, 1.0), random.within(0.1, 1.0));
        let (x, y) = (random.vector(2.0), random.vector(2.0));
        let expected =
            ((x[0] - y[0]).powi(2) + (x[1] - y[1]).powi(2) + (x[2] - y[2]).powi(2)).sqrt() - r - s;
        if expected < 0.2 {
            let (a, b) = (Shape::Sphere { radius: r }, Shape::Sphere { radius: s });
            check((&a, x, random.turn()), (&b, y, random.turn()), expected, r + s);
        }
    }
}

#[test]
fn sphere_and_box() {
    let mut random = Random(2);
    for _ in 0..500 {
        let half = [0; 3].map(|_| random.within(0.2, 1.0));
        let r = random.within(0.1, 0.8);
        let (y, q) = (random.vector(1.0), random.turn());
        let local = random.vector(1.5);
        // distance outside: of the clamped point; inside: the nearest face
        let over = [0, 1, 2].map(|k| local[k].abs() - half[k]);
        let outside = norm(over.map(|d| d.max(0.0)));
        let inside = over[0].max(over[1]).max(over[2]).min(0.0);
        let expected = outside + inside - r;
        if expected < 0.3 {
            let (a, b) = (Shape::Sphere { radius: r }, Shape::Box { edges: scaled(2.0, half) });
            let x = add(y, rotate(q, local));
            check((&a, x, UPRIGHT), (&b, y, q), expected, 2.0);
        }
    }
}

#[test]
fn sphere_and_capsule_cylinder_cone() {
    let mut random = Random(3);
    for _ in 0..500 {
        let (r, s, l) = (random.within(0.1, 0.5), random.within(0.1, 0.7), random.within(0.3, 2.0));
        let (y, q) = (random.vector(1.0), random.turn());
        let local = random.vector(1.3);
        let x = add(y, rotate(q, local));
        let ball = Shape::Sphere { radius: r };

        let ends = [[0.0, 0.0, -0.5 * l], [0.0, 0.0, 0.5 * l]];
        let expected = to_segment(local, ends) - r - s;
        if expected < 0.3 {
            let b = Shape::Capsule { radius: s, length: l };
            // the search for the minimum is good to the root of the last bit, the distance to it all
            check((&ball, x, UPRIGHT), (&b, y, q), expected, 2.0);
        }

        // signed distance of a cylinder: the larger of its two coordinates, or their hypotenuse
        let (rho, z) = (local[0].hypot(local[1]) - s, local[2].abs() - 0.5 * l);
        let expected = rho.max(z).min(0.0) + rho.max(0.0).hypot(z.max(0.0)) - r;
        if expected < 0.3 {
            let b = Shape::Cylinder { radius: s, length: l };
            check((&ball, x, UPRIGHT), (&b, y, q), expected, 2.0);
        }

        // a cone outside: the nearest of base disk and slanted line; inside: the nearest of their planes
        let (rho, z) = (local[0].hypot(local[1]), local[2]);
        let slant = to_segment([rho, z, 0.0], [[s, -0.5 * l, 0.0], [0.0, 0.5 * l, 0.0]]);
        let base = (rho - s).max(0.0).hypot(z + 0.5 * l);
        let within = z > -0.5 * l && rho < s * (0.5 * l - z) / l;
        let inside = (z + 0.5 * l).min((s * (0.5 * l - z) - l * rho) / s.hypot(l));
        let expected = if within { -inside } else { slant.min(base) } - r;
        if expected < 0.3 {
            let b = Shape::Cone { radius: s, height: l };
            check((&ball, x, UPRIGHT), (&b, y, q), expected, 2.0);
        }
    }
}

#[test]
fn capsules() {
    let mut random = Random(4);
    for _ in 0..300 {
        let (r, s) = (random.within(0.1, 0.4), random.within(0.1, 0.4));
        let (k, l) = (random.within(0.3, 1.5), random.within(0.3, 1.5));
        let (x, y) = (random.vector(1.0), random.vector(1.0));
        let (p, q) = (random.turn(), random.turn());
        let ends = |x: Vector, p: Quaternion, l: f64| {
            [-0.5, 0.5].map(|share| add(x, rotate(p, [0.0, 0.0, share * l])))
        };
        let (e, f) = (ends(x, p, k), ends(y, q, l));
        let at = |s: f64| to_segment(add(scaled(1.0 - s, e[0]), scaled(s, e[1])), f);
        let expected = minimum(at) - r - s;
        if expected < 0.3 && expected + r + s > 0.02 {
            let (a, b) =
                (Shape::Capsule { radius: r, length: k }, Shape::Capsule { radius: s, length: l });
            check((&a, x, p), (&b, y, q), expected, 2.0);
        }
    }
}

/// The lowest point of anything convex over a plane, by its support function.
#[test]
fn everything_on_a_tilted_plane() {
    let mut random = Random(5);
    for _ in 0..300 {
        let (r, l) = (random.within(0.1, 0.6), random.within(0.2, 1.4));
        let (x, p) = (random.vector(0.5), random.turn());
        let n = rotate(random.turn(), [0.0, 0.0, 1.0]);
        let offset = random.within(-0.5, 0.5);
        let d = rotate_back(p, scaled(-1.0, n));
        let across = d[0].hypot(d[1]);
        let edges = [r, l, 0.7 * l];
        let points: Vec<Vector> = (0..12).map(|_| random.vector(0.7)).collect();
        let highest = points.iter().map(|&v| dot(d, v)).fold(f64::NEG_INFINITY, f64::max);
        let boxed: f64 = (0..3).map(|k| 0.5 * edges[k] * d[k].abs()).sum();
        let cases = [
            (Shape::Sphere { radius: r }, r),
            (Shape::Box { edges }, boxed),
            (Shape::Capsule { radius: r, length: l }, r + 0.5 * l * d[2].abs()),
            (Shape::Cylinder { radius: r, length: l }, r * across + 0.5 * l * d[2].abs()),
            (
                Shape::Cone { radius: r, height: l },
                (0.5 * l * d[2]).max(r * across - 0.5 * l * d[2]),
            ),
            (Shape::ConvexHull { points }, highest),
        ];
        for (shape, support) in cases {
            let expected = dot(n, x) - support - offset;
            if expected < 0.5 {
                let plane = Shape::Plane { normal: scaled(3.0, n), offset };
                check((&shape, x, p), (&plane, [0.0; 3], UPRIGHT), expected, 2.0);
            }
        }
    }
}

/// Lying it has two contacts, standing eight on its rim, whichever way it is turned.
#[test]
fn cylinder_lying_and_standing() {
    let shape = Shape::Cylinder { radius: 0.3, length: 1.0 };
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let lying = between(
        (&shape, [0.0, 0.0, 0.3], [half, half, 0.0, 0.0]),
        (&ground(), [0.0; 3], UPRIGHT),
        1e-3,
    );
    assert_eq!(lying.len(), 2);
    assert!(norm(sub(lying[0].point, lying[1].point)) > 0.999);
    for tilt in [0.0, 1e-9, -1e-9, 1e-6] {
        let p = [1.0, 0.5 * tilt, 0.0, 0.0];
        let standing = between((&shape, [0.0, 0.0, 0.5], p), (&ground(), [0.0; 3], UPRIGHT), 1e-3);
        assert_eq!(standing.len(), 8, "{tilt}");
        let features: Vec<u64> = standing.iter().map(|c| c.feature).collect();
        assert_eq!(features, (0..8).map(|k| k << 32).collect::<Vec<u64>>());
        assert!(standing.iter().all(|c| c.gap.abs() < 1e-6));
    }
}

/// Side by side they touch along a line: at its two ends.
#[test]
fn cylinders_side_by_side() {
    let (a, b) = (
        Shape::Cylinder { radius: 0.3, length: 1.0 },
        Shape::Cylinder { radius: 0.5, length: 0.6 },
    );
    let capsule = Shape::Capsule { radius: 0.5, length: 0.6 };
    for other in [&b, &capsule] {
        for gap in [-0.02, 0.01] {
            let found =
                between((&a, [0.0; 3], UPRIGHT), (other, [0.8 + gap, 0.0, 0.1], UPRIGHT), 0.05);
            assert_eq!(found.len(), 2, "{found:?}");
            for contact in &found {
                assert!((contact.gap - gap).abs() < 1e-6, "{contact:?}");
                assert!(norm(add(contact.normal, [1.0, 0.0, 0.0])) < 1e-5);
            }
            assert!((norm(sub(found[0].point, found[1].point)) - 0.6).abs() < 1e-6);
        }
    }
}
