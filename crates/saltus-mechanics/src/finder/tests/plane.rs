//! Shapes of the plane.

use super::{Random, World};
use crate::{Placed, Shape, ShapeError};
use saltus_model::{Body, FoundContact};

fn square(half: f64) -> Shape {
    Shape::Polygon { points: vec![[-half, -half], [half, -half], [half, half], [-half, half]] }
}

fn floor() -> Shape {
    Shape::Plane { normal: [0.0, 2.0, 0.0], offset: 0.0 }
}

fn on(ground: Shape, shape: Shape, q: [f64; 3], reach: f64) -> Vec<FoundContact> {
    let mut world = World::new(Body::Plane);
    world.body(shape, q, [1.0, 0.0, 0.0, 0.0]);
    world.fixed(ground);
    world.v[1] = -reach;
    world.find(1.0)
}

#[track_caller]
fn check(found: &[FoundContact], count: usize, gap: f64) {
    assert_eq!(found.len(), count, "{found:#?}");
    for contact in found {
        assert!((contact.gap - gap).abs() < 1e-14, "{found:#?}");
        assert!((contact.normal[1] - 1.0).abs() < 1e-14 && contact.normal[2] == 0.0, "{found:#?}");
        assert_eq!(contact.point[2], 0.0);
    }
}

#[test]
fn on_a_plane() {
    check(&on(floor(), Shape::Disk { radius: 0.5 }, [0.3, 0.51, 2.0], 0.1), 1, 0.01);
    check(&on(floor(), square(0.5), [0.3, 0.51, 0.0], 0.1), 2, 0.01);
    let points = vec![[-1.0, 0.0], [0.0, 0.2], [1.0, 0.0]];
    check(&on(floor(), Shape::Polyline { points }, [0.0, 0.01, 0.0], 0.1), 2, 0.01);
    check(
        &on(floor(), Shape::Segment { from: [-1.0, 0.0], to: [1.0, 0.0] }, [0.0, 0.01, 0.0], 0.1),
        2,
        0.01,
    );
}

#[test]
fn squares() {
    check(&on(square(2.0), square(0.5), [0.3, 2.51, 0.0], 0.1), 2, 0.01);
    check(&on(square(0.5), square(0.5), [0.0, 1.0 - 1e-9, 1e-15], 0.1), 2, -1e-9);
    check(&on(square(0.5), square(0.5), [1e-9, 1.0 - 1e-9, -1e-15], 0.1), 2, -1e-9);
    let half = 0.5 * 2.0_f64.sqrt();
    let eighth = 0.25 * std::f64::consts::PI;
    check(&on(square(2.0), square(0.5), [0.3, 2.0 + half - 0.01, eighth], 1e-3), 1, -0.01);
    // past each other's corners: the distance of the corners
    let found = on(square(0.5), square(0.5), [1.03, 1.04, 0.0], 0.1);
    assert_eq!(found.len(), 1);
    assert!((found[0].gap - 0.05).abs() < 1e-15, "{found:?}");
    assert!((found[0].normal[0] - 0.6).abs() < 1e-13);
}

/// A disk rolls over the corners of a straight line without feeling them, and sits in valleys on two
/// contacts.
#[test]
fn lines() {
    let mut random = Random(4);
    let points: Vec<[f64; 2]> = (0..9).map(|k| [f64::from(k) - 4.0, 0.0]).collect();
    for k in 0..200 {
        let x = if k < 10 { f64::from(k) - 4.0 } else { random.within(-3.5, 3.5) };
        if x > 4.0 {
            continue;
        }
        let line = Shape::Polyline { points: points.clone() };
        check(&on(line.clone(), Shape::Disk { radius: 0.4 }, [x, 0.39, 0.0], 0.1), 1, -0.01);
        check(&on(line, square(0.3), [x.clamp(-3.6, 3.6), 0.3 - 1e-7, 0.0], 0.01), 2, -1e-7);
    }
    let valley = Shape::Polyline { points: vec![[-1.0, 1.0], [0.0, 0.0], [1.0, 1.0]] };
    let found = on(valley, Shape::Disk { radius: 0.2 }, [0.0, 0.2 * 2.0_f64.sqrt(), 0.0], 0.01);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|c| c.gap.abs() < 1e-15));
    let ridge = Shape::Polyline { points: vec![[-1.0, -1.0], [0.0, 0.0], [1.0, -1.0]] };
    check(&on(ridge, Shape::Disk { radius: 0.2 }, [0.0, 0.19, 0.0], 0.01), 1, -0.01);
}

/// Gap of a disk and a turned polygon, both orders of the pair.
/// A disk is on one side of a segment, whichever way it is drawn and turned, and its gap is positive.
#[test]
fn disks_beside_a_segment() {
    let mut random = Random(11);
    for _ in 0..2000 {
        let [a, b, c, d, share, apart] = [0; 6].map(|_| random.within(-1.0, 1.0));
        let (from, to) = ([3.0 * a, 3.0 * b], [3.0 * a + c, 3.0 * b + d]);
        let length = c.hypot(d);
        if length < 0.1 {
            continue;
        }
        let (share, apart) = (0.5 + 0.4 * share, 0.2 + 0.05 * apart);
        let (x, y) =
            (from[0] + share * c - apart * d / length, from[1] + share * d + apart * c / length);
        for (from, to) in [(from, to), (to, from)] {
            let mut world = World::new(Body::Plane);
            world.body(Shape::Disk { radius: 0.1 }, [x, y, 0.0], [1.0, 0.0, 0.0, 0.0]);
            world.fixed(Shape::Segment { from, to });
            (world.v[0], world.v[1]) = (d / length, -c / length);
            let found = world.find(1.0);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!((found[0].gap - (apart - 0.1)).abs() < 1e-12, "{found:?}");
            assert!((found[0].normal[0] + d / length).abs() < 1e-12, "{found:?}");
        }
    }
}

#[test]
fn disk_and_polygon() {
    let mut random = Random(6);
    for _ in 0..500 {
        let half = [random.within(0.2, 1.0), random.within(0.2, 1.0)];
        let [a, b] = half;
        let shape = Shape::Polygon { points: vec![[-a, b], [a, b], [a, -b], [-a, -b]] };
        let (local, angle) =
            ([random.within(-1.5, 1.5), random.within(-1.5, 1.5)], random.within(-4.0, 4.0));
        let over = [local[0].abs() - a, local[1].abs() - b];
        let expected =
            over[0].max(0.0).hypot(over[1].max(0.0)) + over[0].max(over[1]).min(0.0) - 0.3;
        if expected > 0.2 {
            continue;
        }
        let (sin, cos) = f64::sin_cos(angle);
        let x = [cos * local[0] - sin * local[1], sin * local[0] + cos * local[1], 0.0];
        let mut gaps = Vec::new();
        for order in [false, true] {
            let mut world = World::new(Body::Plane);
            let disk = |world: &mut World| {
                world.body(Shape::Disk { radius: 0.3 }, x, [1.0, 0.0, 0.0, 0.0])
            };
            let polygon = |world: &mut World| {
                world.body(shape.clone(), [0.0, 0.0, angle], [1.0, 0.0, 0.0, 0.0])
            };
            if order {
                disk(&mut world);
                polygon(&mut world);
            } else {
                polygon(&mut world);
                disk(&mut world);
            }
            let way = if order { -2.0 } else { 2.0 };
            world.v[..3].copy_from_slice(&[way * x[0], way * x[1], 2.0]);
            world.v[5] = 2.0;
            let found = world.find(1.0);
            assert_eq!(found.len(), 1);
            assert!((found[0].gap - expected).abs() < 1e-14);
            gaps.push(found[0].normal);
        }
        assert!((gaps[0][0] + gaps[1][0]).abs() < 1e-14 && (gaps[0][1] + gaps[1][1]).abs() < 1e-14);
    }
}

#[test]
fn placed_in_the_plane() {
    let shape = Shape::Disk { radius: 1.0 };
    let tilted =
        Placed { shape: shape.clone(), position: [0.0; 3], orientation: [1.0, 0.5, 0.0, 0.0] };
    assert!(matches!(tilted.check(Body::Plane), Err(ShapeError::Orientation { .. })));
    let raised = Placed { shape, position: [0.0, 0.0, 1.0], orientation: [1.0, 0.0, 0.0, 0.0] };
    assert!(matches!(raised.check(Body::Plane), Err(ShapeError::Space { .. })));
}

/// A small polygon or disk on the edge of a large one: the gap is the height of its lowest corner, and
/// the normal that of the edge, wherever on it it is.
#[test]
fn small_on_large_edge() {
    let mut random = Random(15);
    for half in [0.5, 10.0, 1000.0] {
        let ground = [[-half, -half], [half, -half], [half, 0.0], [-half, 0.0]].to_vec();
        for k in 0..400 {
            let count = 3 + k % 6;
            let corners: Vec<[f64; 2]> = (0..count)
                .map(|j| {
                    let angle =
                        (j as f64 + random.within(0.1, 0.9)) * std::f64::consts::TAU / count as f64;
                    [0.1 * angle.cos(), 0.1 * angle.sin()]
                })
                .collect();
            let angle = random.within(-3.0, 3.0);
            let (sin, cos) = f64::sin_cos(angle);
            let turned = corners.iter().map(|[x, y]| [cos * x - sin * y, sin * x + cos * y]);
            let low = turned.min_by(|a, b| a[1].total_cmp(&b[1])).unwrap();
            let gap = [0.0, 1e-10, -1e-10, 1e-6, -1e-6, 1e-4, -1e-4][k % 7];
            let at = random.within(0.01 - half, half - 0.01);
            let mut world = World::new(Body::Plane);
            let (shape, x) = if k % 8 == 0 {
                (Shape::Disk { radius: 0.1 }, [at, 0.1 + gap, angle])
            } else {
                (Shape::Polygon { points: corners }, [at - low[0], gap - low[1], angle])
            };
            world.body(shape, x, super::UPRIGHT);
            world.fixed(Shape::Polygon { points: ground.clone() });
            world.v[1] = -0.1;
            let found = world.find(2e-2);
            let least = found.iter().min_by(|a, b| a.gap.total_cmp(&b.gap)).unwrap();
            assert!((least.gap - gap).abs() < 1e-12 * half.max(1.0), "{k} {half}: {found:?}");
            assert!((least.normal[1] - 1.0).abs() < 1e-12, "{k} {half}: {found:?}");
        }
    }
}
