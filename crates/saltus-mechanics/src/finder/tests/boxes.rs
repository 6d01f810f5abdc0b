//! Boxes on planes and on each other.

use super::{Random, UPRIGHT, World, between, ground};
use crate::Shape;
use saltus_model::Body;
use saltus_model::rotation::{Quaternion, Vector, add, dot, exp, norm, rotate, scaled, sub};

const CUBE: Shape = Shape::Box { edges: [1.0, 1.0, 1.0] };

fn features(found: &[saltus_model::FoundContact]) -> Vec<u64> {
    found.iter().map(|c| c.feature).collect()
}

/// Four corners, the same ones whatever the last bits of the tilt.
#[test]
fn rest_does_not_flicker() {
    let mut random = Random(7);
    let mut expected: [Option<Vec<u64>>; 2] = [None, None];
    for k in 0..200 {
        let mut world = World::new(Body::Space);
        let noise = |random: &mut Random| if k == 0 { [0.0; 3] } else { random.vector(1e-9) };
        let turn = |n: Vector| [1.0, 0.5 * n[0], 0.5 * n[1], 0.5 * n[2]];
        let p = turn(noise(&mut random));
        let x = add([0.0, 0.0, 0.5], noise(&mut random));
        world.body(CUBE, x, p);
        let p = turn(noise(&mut random));
        let y = add([0.0, 0.0, 1.5], noise(&mut random));
        world.body(CUBE, y, p);
        world.fixed(ground());
        for v in [2, 8] {
            world.v[v] = -0.05; // a step of weight
        }
        let found = world.find(5e-3);
        assert_eq!(found.len(), 8);
        for (pair, expected) in expected.iter_mut().enumerate() {
            let sides = [[0, 1], [0, 2]][pair];
            let of_pair: Vec<_> = found.iter().filter(|c| c.sides == sides).copied().collect();
            assert!(of_pair.iter().all(|c| c.gap.abs() < 1e-8));
            assert!(of_pair.iter().all(|c| (c.normal[2].abs() - 1.0).abs() < 1e-15));
            assert_eq!(expected.get_or_insert_with(|| features(&of_pair)), &features(&of_pair));
        }
    }
}

/// The same for other bodies on other grounds: places and features stay.
#[test]
fn rest_of_other_bodies_does_not_flicker() {
    let mut random = Random(8);
    let points: Vec<Vector> = (0..6)
        .flat_map(|k| {
            let (sin, cos) = (f64::from(k) * std::f64::consts::FRAC_PI_3).sin_cos();
            [[0.4 * cos, 0.4 * sin, -0.5], [0.3 * cos, 0.3 * sin, 0.5]]
        })
        .collect();
    let bodies = [
        CUBE,
        Shape::ConvexHull { points },
        Shape::Cylinder { radius: 0.4, length: 1.0 },
        Shape::Cone { radius: 0.4, height: 1.0 },
    ];
    let flat = Shape::HeightField { heights: vec![vec![0.5; 5]; 5], size: [3.0, 3.0] };
    for ground in [Shape::Box { edges: [3.0, 3.0, 1.0] }, flat] {
        // on triangles, which corners of a rim are chosen changes with the lowest
        let count = if matches!(ground, Shape::Box { .. }) { bodies.len() } else { 2 };
        for body in &bodies[..count] {
            let mut expected: Option<Vec<(u64, Vector)>> = None;
            for k in 0..60 {
                let mut world = World::new(Body::Space);
                let n = if k == 0 { [0.0; 3] } else { random.vector(1e-9) };
                let x = add([0.1, 0.07, 1.0], if k == 0 { n } else { random.vector(1e-9) });
                world.body(body.clone(), x, [1.0, 0.5 * n[0], 0.5 * n[1], 0.5 * n[2]]);
                world.fixed(ground.clone());
                world.v[2] = -0.05;
                let found = world.find(5e-3);
                let places: Vec<_> = found.iter().map(|c| (c.feature, c.point)).collect();
                let expected = expected.get_or_insert_with(|| places.clone());
                let name = (body.name(), ground.name());
                assert_eq!(found.len(), expected.len(), "{name:?} {found:#?} {expected:?}");
                assert!(found.iter().all(|c| c.gap.abs() < 1e-8 && c.normal[2] > 1.0 - 1e-12));
                // one corner of a rim goes to its lowest point, at most half a side away
                let mut moved = 0;
                for ((feature, point), (other, place)) in places.iter().zip(&*expected) {
                    assert_eq!(feature, other, "{name:?} {places:?} {expected:?}");
                    let way = norm(sub(*point, *place));
                    moved += usize::from(way > 1e-8);
                    assert!(way < 0.4 * 0.4, "{name:?} {way}");
                }
                assert!(moved <= 1, "{name:?}");
            }
        }
    }
}

/// A face on an edge, a corner on a face, two edges.
#[test]
fn kinds_of_contact() {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let eighth: Quaternion =
        [(0.125 * std::f64::consts::PI).cos(), (0.125 * std::f64::consts::PI).sin(), 0.0, 0.0];
    // on its edge
    let found =
        between((&CUBE, [0.0, 0.0, 0.5 + half + 0.01], eighth), (&CUBE, [0.0; 3], UPRIGHT), 0.02);
    assert_eq!(found.len(), 2);
    assert!(
        found.iter().all(|c| (c.gap - 0.01).abs() < 1e-15 && (c.normal[2] - 1.0).abs() < 1e-15)
    );
    // edges that cross
    let other: Quaternion =
        [(0.125 * std::f64::consts::PI).cos(), 0.0, (0.125 * std::f64::consts::PI).sin(), 0.0];
    let found =
        between((&CUBE, [0.1, -0.1, 2.0 * half - 0.01], eighth), (&CUBE, [0.0; 3], other), 0.02);
    assert_eq!(found.len(), 1);
    assert!((found[0].gap + 0.01).abs() < 1e-15, "{:?}", found[0]);
    assert!(norm(sub(found[0].point, [0.0, -0.1, half - 0.005])) < 0.11);
    // a corner, slightly turned so that it is the only one
    let on_corner = {
        let axis = 0.5 * (1.0_f64 / 3.0).sqrt().acos();
        [axis.cos(), axis.sin() * half, -axis.sin() * half, 0.0]
    };
    let high = 0.5 * 3.0_f64.sqrt();
    let found = between(
        (&CUBE, [0.1, 0.0, 0.5 + high - 1e-3], on_corner),
        (&CUBE, [0.0; 3], UPRIGHT),
        0.01,
    );
    assert_eq!(found.len(), 1);
    assert!((found[0].gap + 1e-3).abs() < 1e-14);
}

/// Turned by 45° the common face is an octagon: four of its corners stay.
#[test]
fn octagon_keeps_four() {
    let p = [(0.125 * std::f64::consts::PI).cos(), 0.0, 0.0, (0.125 * std::f64::consts::PI).sin()];
    let found = between((&CUBE, [0.0, 0.0, 1.0], p), (&CUBE, [0.0; 3], UPRIGHT), 1e-3);
    assert_eq!(found.len(), 4);
    let spread = found.iter().flat_map(|a| found.iter().map(|b| norm(sub(a.point, b.point))));
    assert!(spread.fold(0.0_f64, f64::max) > 1.0);
}

/// The gap is the separation along its normal, and none of very many directions separates more.
#[test]
fn gaps_against_supports() {
    let mut random = Random(11);
    let mut tried = 0;
    while tried < 200 {
        let (e, f) =
            ([0; 3].map(|_| random.within(0.3, 1.5)), [0; 3].map(|_| random.within(0.3, 1.5)));
        let (p, q) = (random.turn(), random.turn());
        let y = random.vector(1.2);
        let support = |half: Vector, p: Quaternion, n: Vector| -> f64 {
            (0..3)
                .map(|k| {
                    let mut axis = [0.0; 3];
                    axis[k] = half[k];
                    dot(rotate(p, axis), n).abs()
                })
                .sum()
        };
        let s =
            |n: Vector| dot(n, y) - support(scaled(0.5, e), p, n) - support(scaled(0.5, f), q, n);
        // the best of many directions, then uphill
        let mut best = (f64::NEG_INFINITY, [0.0; 3]);
        for _ in 0..2000 {
            let n = rotate(random.turn(), [0.0, 0.0, 1.0]);
            if s(n) > best.0 {
                best = (s(n), n);
            }
        }
        let mut step = 0.1;
        while step > 1e-9 {
            let mut better = false;
            for _ in 0..30 {
                let m = add(best.1, random.vector(step));
                let m = scaled(1.0 / norm(m), m);
                if s(m) > best.0 {
                    best = (s(m), m);
                    better = true;
                }
            }
            if !better {
                step *= 0.5;
            }
        }
        if best.0 > 0.2 || best.0 < -0.3 {
            continue;
        }
        tried += 1;
        let (a, b) = (Shape::Box { edges: e }, Shape::Box { edges: f });
        let found = between((&a, [0.0; 3], p), (&b, y, q), 0.5);
        let least = found.iter().min_by(|a, b| a.gap.total_cmp(&b.gap)).unwrap();
        // it is the separation along its own normal, and no direction is better; faces are preferred
        // by 1e-6 of the size
        let attained = s(scaled(-1.0, least.normal));
        assert!((least.gap - attained).abs() < 1e-12, "{} for {attained}", least.gap);
        assert!(best.0 < least.gap + 3e-6, "{} below {}", least.gap, best.0);
    }
}

/// A cube that overlaps the one below it, a little turned and tilted: whatever pair of edges is the
/// shallowest way out, the contacts carry it on all sides of its center.
#[test]
fn tilted_faces_touch_all_over() {
    let mut random = Random(11);
    for depth in [0.05, 1e-3, -1e-3] {
        for _ in 0..500 {
            let tilt = random.vector(0.02);
            let p = exp([tilt[0], tilt[1], random.within(-0.3, 0.3)]);
            let x = [random.within(-0.1, 0.1), random.within(-0.1, 0.1), 1.0 - depth];
            let found = between((&CUBE, x, p), (&CUBE, [0.0; 3], UPRIGHT), 0.1);
            assert!(found.len() >= 3, "{p:?} {x:?} {found:?}");
            assert!(found.iter().all(|c| c.normal[2] > 0.99), "{p:?} {x:?} {found:?}");
            for k in 0..8 {
                let (sin, cos) = (0.25 * std::f64::consts::PI * f64::from(k)).sin_cos();
                let carries = |point: Vector| cos * (point[0] - x[0]) + sin * (point[1] - x[1]);
                let most = found.iter().map(|c| carries(c.point)).fold(-1.0, f64::max);
                assert!(most > 0.0, "{p:?} {x:?} {k} {most}");
            }
        }
    }
}

/// The best of all fifteen directions, one after the other: `s` and the direction.
fn of_all(
    a: Vector,
    b: Vector,
    to: &crate::pose::Pose,
    size: f64,
    reach: f64,
) -> Option<(f64, Vector)> {
    let axis = |j: usize| [to.R[0][j], to.R[1][j], to.R[2][j]];
    let units = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let wide = |half: Vector, axes: [Vector; 3], n: Vector| {
        half[0] * dot(n, axes[0]).abs()
            + half[1] * dot(n, axes[1]).abs()
            + half[2] * dot(n, axes[2]).abs()
    };
    let axes = [0, 1, 2].map(axis);
    let outwards = |n: Vector| scaled(1.0_f64.copysign(dot(n, to.x)), n);
    let best_of = |found: &[(f64, Vector)]| {
        let mut best = found[0];
        found.iter().for_each(|one| best = if one.0 > best.0 { *one } else { best });
        best
    };
    let of_a = [0, 1, 2].map(|i| {
        let s = to.x[i].abs() - a[i] - wide(b, axes, units[i]);
        (s, outwards(units[i]))
    });
    let of_b = [0, 1, 2].map(|j| {
        let s = dot(axes[j], to.x).abs() - b[j] - wide(a, units, axes[j]);
        (s, outwards(axes[j]))
    });
    let mut of_edges = Vec::new();
    for i in 0..3 {
        for r in axes {
            let n = saltus_model::rotation::cross(units[i], r);
            let (k, l) = ((i + 1) % 3, (i + 2) % 3);
            let length = n[k].hypot(n[l]);
            if length > 1e-7 {
                let n = scaled(1.0 / length, n);
                let s = dot(n, to.x).abs() - wide(a, units, n) - wide(b, axes, n);
                of_edges.push((s, outwards(n)));
            }
        }
    }
    if of_a.iter().chain(&of_b).chain(&of_edges).any(|(s, _)| *s > reach) {
        return None;
    }
    let mut best = best_of(&of_a);
    for others in [&of_b[..], &of_edges[..]].into_iter().filter(|others| !others.is_empty()) {
        let other = best_of(others);
        best = if other.0 > best.0 + 1e-6 * size { other } else { best };
    }
    Some(best)
}

/// What leaves directions out finds the best of all: boxes of all sizes, turned anyhow, nearly parallel, and parallel.
#[test]
fn no_direction_that_counts_is_left_out() {
    use crate::finder::separate::{Kind, boxes};
    use crate::pose::Pose;
    use saltus_model::rotation::{matrix, normalized};
    let mut random = Random(41);
    let (mut apart, mut across) = (0, 0);
    for k in 0..20_000 {
        let half = |random: &mut Random| [0; 3].map(|_: i32| random.within(0.2, 1.0));
        let (a, b) = (half(&mut random), half(&mut random));
        let tilt = [1.0, 0.1, 1e-3, 1e-6, 1e-9, 0.0][k % 6];
        let p = random.turn();
        let p = normalized([1.0, tilt * p[1], tilt * p[2], tilt * p[3]]).unwrap();
        let to = Pose::of(random.vector(1.8), matrix(p));
        let (size, reach) = (norm(a).min(norm(b)), random.within(0.0, 0.3));
        let (found, all) = (boxes(a, b, &to, size, reach), of_all(a, b, &to, size, reach));
        apart += usize::from(found.is_none());
        across += usize::from(found.is_some_and(|axis| matches!(axis.kind, Kind::Edges(_))));
        match (found, all) {
            (None, None) => {}
            (Some(found), Some((s, n))) => {
                assert!((found.s - s).abs() < 1e-14, "{k}: {} {s}", found.s);
                // of equally good ones any
                let same = norm(sub(found.n, n)) < 1e-14;
                assert!(same || tilt < 1e-2, "{k}: {:?} {n:?}", found.n);
            }
            _ => panic!("{k}: {found:?} {all:?}"),
        }
    }
    assert!(apart > 1000 && across > 1000, "{apart} {across}");
}
