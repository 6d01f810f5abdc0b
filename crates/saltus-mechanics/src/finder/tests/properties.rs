//! What holds for all pairs of shapes: order, moving together, moving apart, supports.

use super::{Random, World, between};
use crate::Shape;
use saltus_model::rotation::{
    Quaternion, Vector, add, dot, exp, norm, product, rotate, rotate_back, scaled, sub,
};
use saltus_model::{Body, FoundContact};

fn hull(random: &mut Random, count: usize) -> Shape {
    let on_ball = |random: &mut Random| {
        let n = rotate(random.turn(), [0.0, 0.0, 1.0]);
        [0.5 * n[0], 0.4 * n[1], 0.6 * n[2]]
    };
    Shape::ConvexHull { points: (0..count).map(|_| on_ball(random)).collect() }
}

fn shapes(random: &mut Random) -> Vec<Shape> {
    vec![
        Shape::Sphere { radius: 0.4 },
        Shape::Capsule { radius: 0.25, length: 0.6 },
        Shape::Box { edges: [0.5, 0.7, 0.9] },
        hull(random, 14),
        Shape::Cylinder { radius: 0.35, length: 0.8 },
        Shape::Cone { radius: 0.45, height: 0.9 },
    ]
}

/// How far a shape reaches along `n`, in its own frame.
fn support(shape: &Shape, n: Vector) -> f64 {
    let across = n[0].hypot(n[1]);
    match shape {
        Shape::Sphere { radius } => *radius,
        Shape::Capsule { radius, length } => radius + 0.5 * length * n[2].abs(),
        Shape::Box { edges } => (0..3).map(|k| 0.5 * edges[k] * n[k].abs()).sum(),
        Shape::ConvexHull { points } => {
            points.iter().map(|&x| dot(n, x)).fold(f64::NEG_INFINITY, f64::max)
        }
        Shape::Cylinder { radius, length } => radius * across + 0.5 * length * n[2].abs(),
        Shape::Cone { radius, height } => {
            (0.5 * height * n[2]).max(radius * across - 0.5 * height * n[2])
        }
        _ => unreachable!(),
    }
}

/// `s(n)` with `n` from the first to the second.
fn separation(a: (&Shape, Vector, Quaternion), b: (&Shape, Vector, Quaternion), n: Vector) -> f64 {
    let of = |shape: &Shape, p: Quaternion, n: Vector| support(shape, rotate_back(p, n));
    dot(n, sub(b.1, a.1)) - of(a.0, a.2, n) - of(b.0, b.2, scaled(-1.0, n))
}

fn deepest(found: &[FoundContact]) -> FoundContact {
    *found.iter().min_by(|a, b| a.gap.total_cmp(&b.gap)).unwrap()
}

/// Random places at which two shapes overlap a little or are a little apart.
fn for_places(
    seed: u64,
    count: usize,
    mut check: impl FnMut(&mut Random, [(&Shape, Vector, Quaternion); 2]),
) {
    let mut random = Random(seed);
    let all = shapes(&mut random);
    for a in &all {
        for b in &all {
            for _ in 0..count {
                let (p, q) = (random.turn(), random.turn());
                let way = rotate(random.turn(), [0.0, 0.0, 1.0]);
                // along a line until they are as far apart as wanted, by the best of some directions
                let directions: Vec<Vector> = (0..300)
                    .map(|_| add(way, random.vector(0.9)))
                    .map(|n| scaled(1.0 / norm(n), n))
                    .collect();
                let wanted = random.within(-0.08, 0.08);
                let x = random.vector(1.0);
                let (mut low, mut high) = (0.0, 3.0);
                for _ in 0..40 {
                    let middle = 0.5 * (low + high);
                    let y = add(x, scaled(middle, way));
                    let s = directions.iter().map(|&n| separation((a, x, p), (b, y, q), n));
                    if s.fold(f64::NEG_INFINITY, f64::max) > wanted {
                        high = middle
                    } else {
                        low = middle
                    }
                }
                check(&mut random, [(a, x, p), (b, add(x, scaled(high, way)), q)]);
            }
        }
    }
}

/// The deepest gap is the separation along its normal, and no direction near or far separates more.
#[test]
fn gaps_are_separations() {
    for_places(31, 12, |random, [a, b]| {
        let found = between(a, b, 0.5);
        assert!(!found.is_empty(), "{a:?} {b:?}");
        let contact = deepest(&found);
        let n = scaled(-1.0, contact.normal);
        assert!((norm(n) - 1.0).abs() < 1e-12);
        let tol = 1e-12;
        let s = separation(a, b, n);
        assert!(
            (contact.gap - s).abs() < tol,
            "{} {} {}: {} for {s}",
            a.0.name(),
            b.0.name(),
            found.len(),
            contact.gap
        );
        let mut best = s;
        for k in 0..2000 {
            let m = if k % 2 == 0 {
                rotate(random.turn(), [0.0, 0.0, 1.0])
            } else {
                add(n, random.vector(10.0_f64.powi(-1 - k % 5)))
            };
            best = best.max(separation(a, b, scaled(1.0 / norm(m), m)));
        }
        let tol = 2e-6;
        assert!(
            best < contact.gap + tol,
            "{} {}: {} below {best}",
            a.0.name(),
            b.0.name(),
            contact.gap
        );
    });
}

fn grown(shape: &Shape, k: f64) -> Shape {
    match shape {
        Shape::Sphere { radius } => Shape::Sphere { radius: k * radius },
        Shape::Capsule { radius, length } => {
            Shape::Capsule { radius: k * radius, length: k * length }
        }
        Shape::Box { edges } => Shape::Box { edges: scaled(k, *edges) },
        Shape::ConvexHull { points } => {
            Shape::ConvexHull { points: points.iter().map(|&x| scaled(k, x)).collect() }
        }
        Shape::Cylinder { radius, length } => {
            Shape::Cylinder { radius: k * radius, length: k * length }
        }
        Shape::Cone { radius, height } => Shape::Cone { radius: k * radius, height: k * height },
        _ => unreachable!(),
    }
}

/// The same for a small shape at a large one, a little apart or a little overlapping: their separation
/// is the gap, to a share of the small one.
#[test]
fn gaps_of_different_sizes_are_separations() {
    let mut random = Random(35);
    let all = shapes(&mut random);
    for a in &all {
        for b in &all {
            for k in 0..24 {
                let large = grown(b, [5.0, 50.0, 500.0][k % 3]);
                let wanted = [1e-9, -1e-9, 1e-4, -1e-4, 1e-2, -1e-2][k / 3 % 6];
                let (p, q) = (random.turn(), random.turn());
                let way = rotate(random.turn(), [0.0, 0.0, 1.0]);
                // from far away along a line until the contact that is found is as wanted
                let y = [0.0; 3];
                let (mut low, mut high) = (0.0, 2000.0);
                let mut x = y;
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    x = scaled(middle, way);
                    let found = between((a, x, p), (&large, y, q), 1.0);
                    let gap = found.iter().fold(f64::INFINITY, |least, c| least.min(c.gap));
                    if gap > wanted { high = middle } else { low = middle }
                }
                let found = between((a, x, p), (&large, y, q), 1.0);
                let contact = deepest(&found);
                let s = separation((a, x, p), (&large, y, q), scaled(-1.0, contact.normal));
                let names = format!("{} {} {k}", a.name(), b.name());
                assert!((contact.gap - s).abs() < 1e-9, "{names}: {} for {s}", contact.gap);
                for j in 0..400 {
                    let m = add(contact.normal, random.vector(10.0_f64.powi(-1 - j % 7)));
                    let m = scaled(-1.0 / norm(m), m);
                    let better = separation((a, x, p), (&large, y, q), m);
                    assert!(better < contact.gap + 2e-6, "{names}: {} {better}", contact.gap);
                }
            }
        }
    }
}

/// The other order of the two bodies gives the same gaps, and normals turned round.
#[test]
fn swapping_sides_flips_the_normal() {
    for_places(32, 10, |_, [a, b]| {
        let (there, back) = (deepest(&between(a, b, 0.3)), deepest(&between(b, a, 0.3)));
        assert!((there.gap - back.gap).abs() < 3e-6, "{} {}", a.0.name(), b.0.name());
        if (there.gap - back.gap).abs() < 1e-12 {
            assert!(norm(add(there.normal, back.normal)) < 1e-5 || there.gap < 0.0);
        }
    });
}

/// Both bodies moved and turned together move the contact with them.
#[test]
fn moving_together_moves_the_contact() {
    for_places(33, 8, |random, [a, b]| {
        let (shift, turn) = (random.vector(10.0), random.turn());
        let to = |x: Vector| add(shift, rotate(turn, x));
        let here = between(a, b, 0.3);
        let there =
            between((a.0, to(a.1), product(turn, a.2)), (b.0, to(b.1), product(turn, b.2)), 0.3);
        let (h, t) = (deepest(&here), deepest(&there));
        assert!((h.gap - t.gap).abs() < 1e-11, "{} {}", a.0.name(), b.0.name());
        let revolved = |s: &Shape| matches!(s, Shape::Cylinder { .. } | Shape::Cone { .. });
        if here.len() == there.len() && !revolved(a.0) && !revolved(b.0) {
            for (h, t) in here.iter().zip(&there) {
                assert_eq!(h.feature, t.feature);
                assert!((h.gap - t.gap).abs() < 1e-11);
                assert!(norm(sub(rotate(turn, h.normal), t.normal)) < 1e-11);
                assert!(norm(sub(to(h.point), t.point)) < 1e-9);
            }
        }
    });
}

/// A small move changes the gap by `n · δ`.
#[test]
fn small_moves_change_the_gap_along_the_normal() {
    let mut linear = 0;
    let mut all = 0;
    for_places(34, 10, |random, [a, b]| {
        let delta = random.vector(1e-5);
        let before = deepest(&between(a, b, 0.3));
        let after = deepest(&between((a.0, add(a.1, delta), a.2), b, 0.3));
        let expected = before.gap + dot(before.normal, delta);
        all += 1;
        // where the kind of contact changes within the move it is not
        linear += usize::from((after.gap - expected).abs() < 2e-8);
    });
    assert!(linear * 100 >= all * 97, "{linear} of {all}");
}

/// What is found depends on nothing that came before, and bodies in another order give the same.
#[test]
fn no_history() {
    let mut random = Random(40);
    let mut world = World::new(Body::Space);
    let all = shapes(&mut random);
    for k in 0..60 {
        let shape = all[k % all.len()].clone();
        let x = random.vector(1.3);
        let p = random.turn();
        world.body(shape, x, p);
    }
    for v in &mut world.v {
        *v = random.within(-1.0, 1.0);
    }
    let mut search = world.search();
    for step in 0..20 {
        let found = world.find_in(&mut *search, 0.0, 5e-3);
        assert!(!found.is_empty());
        assert_eq!(found, world.find(5e-3), "step {step}");
        assert!(found.windows(2).all(|p| (p[0].sides, p[0].feature) < (p[1].sides, p[1].feature)));
        for body in 0..60 {
            let (q, v) = (&mut world.q[7 * body..7 * body + 7], &world.v[6 * body..6 * body + 6]);
            for k in 0..3 {
                q[k] += 0.03 * v[k];
            }
            let turn = product([q[3], q[4], q[5], q[6]], exp(scaled(0.03, [v[3], v[4], v[5]])));
            q[3..].copy_from_slice(&turn);
        }
    }
}
