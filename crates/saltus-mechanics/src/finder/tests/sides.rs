//! Sides: who touches whom, what is driven, what is wrong.

use super::{Random, UPRIGHT, World, ground};
use crate::{Collider, Drive, Finder, FinderError, Placed, Shape, ShapeError};
use saltus_model::rotation::{IDENTITY, exp, norm, rotate, scaled, sub, unit};
use saltus_model::{Body, ContactFinder, Law, Model, ModelError, Moment, Operator, RigidBody};

const BALL: Shape = Shape::Sphere { radius: 0.5 };

/// A table of two boxes side by side: a box across the joint touches it as it would touch one.
#[test]
fn compound_is_one_side() {
    let half = |x: f64| Placed {
        shape: Shape::Box { edges: [1.0, 2.0, 0.2] },
        position: [x, 0.0, 0.0],
        orientation: IDENTITY,
    };
    let table = Shape::Compound { parts: vec![half(-0.5), half(0.5)] };
    let mut world = World::new(Body::Space);
    world.body(Shape::Box { edges: [0.6, 0.6, 0.6] }, [0.1, 0.0, 0.4], UPRIGHT);
    world.body(table, [0.0; 3], UPRIGHT);
    world.v[2] = -0.1;
    let found = world.find(1e-3);
    assert!(found.iter().all(|c| c.sides == [0, 1] && c.gap.abs() < 1e-15));
    assert!(found.windows(2).all(|pair| pair[0].feature < pair[1].feature));
    // four corners of the box, and the two places where it crosses the joint, once each
    let corners = found.iter().filter(|c| (c.point[1].abs() - 0.3).abs() < 1e-12);
    assert_eq!((found.len(), corners.count()), (6, 6), "{found:#?}");
}

/// A dumbbell on a plane that is named before it.
#[test]
fn compound_after_its_ground() {
    let ball = |x: f64| Placed { shape: BALL, position: [x, 0.0, 0.0], orientation: IDENTITY };
    let mut world = World::new(Body::Space);
    world.fixed(ground());
    world.body(Shape::Compound { parts: vec![ball(-1.0), ball(1.0)] }, [0.0, 0.0, 0.5], UPRIGHT);
    let found = world.find(1e-3);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].feature < found[1].feature);
    assert!(found.iter().all(|c| c.sides == [0, 1] && c.normal == [0.0, 0.0, -1.0]));
}

#[test]
fn apart_and_without_a_law() {
    let mut world = World::new(Body::Space);
    for k in 0..3 {
        world.body(BALL, [0.9 * f64::from(k), 0.0, 0.5], UPRIGHT);
    }
    world.fixed(ground());
    let pairs = |world: &World| world.find(1e-3).iter().map(|c| c.sides).collect::<Vec<_>>();
    assert_eq!(pairs(&world), [[0, 1], [0, 3], [1, 2], [1, 3], [2, 3]]);
    world.colliders.apart = vec![[2, 1]];
    assert_eq!(pairs(&world), [[0, 1], [0, 3], [1, 3], [2, 3]]);
    world.colliders.shapes[0].material = 1;
    world.colliders.laws.of_pair = vec![Some(0), None, Some(0)];
    assert_eq!(pairs(&world), [[1, 3], [2, 3]]);
}

/// Only what can close within the step is found.
#[test]
fn reach_follows_the_step() {
    let mut world = World::new(Body::Space);
    world.body(BALL, [0.0, 0.0, 1.0], UPRIGHT);
    world.fixed(ground());
    world.v[2] = -1.0;
    assert!(world.find(0.45).is_empty());
    assert_eq!(world.find(0.55).len(), 1);
    world.v[2] = 1.0;
    assert!(world.find(0.55).is_empty());
    // a ball that spins gets nowhere by it, a box does
    world.v[2] = 0.0;
    world.v[3] = 20.0;
    assert!(world.find(0.1).is_empty());
    world.colliders.shapes[0].placed.shape = Shape::Box { edges: [1.0; 3] };
    assert!(!world.find(0.1).is_empty());
    // fast and past each other, or together
    let mut world = World::new(Body::Space);
    world.body(BALL, [0.0; 3], UPRIGHT);
    world.body(BALL, [1.2, 0.0, 0.0], UPRIGHT);
    world.v[0] = 10.0;
    world.v[6] = 10.0;
    assert!(world.find(0.1).is_empty());
    world.v[6] = 0.0;
    assert_eq!(world.find(0.1).len(), 1);
}

/// A table that rises and falls, as far as its formula says.
#[test]
fn driven_table() {
    let mut world = World::new(Body::Space);
    world.body(BALL, [0.0, 0.0, 1.3], UPRIGHT);
    let table = world.fixed(Shape::Box { edges: [2.0, 2.0, 1.0] });
    let position = Operator::vector_of_time(3, |t, x| {
        x.copy_from_slice(&[0.0, 0.0, 0.2 * (3.0 * t).sin()]);
    });
    world.drive(table, Drive { position: Some(position), ..Drive::default() });
    let mut search = world.search();
    for t in [0.1, 0.3, 0.5] {
        let h = 0.01;
        let height = |t: f64| 0.2 * f64::sin(3.0 * t);
        world.v[2] = -30.0;
        let found = world.find_in(&mut *search, t, h);
        assert_eq!(found.len(), 1);
        assert!((found[0].gap - (1.3 - 0.5 - 0.5 - height(t))).abs() < 1e-14);
        let mean = (height(t + h) - height(t)) / h;
        // the table is the second side
        let drive = search.drive(&found[0]);
        assert!((drive[2] + mean).abs() < 1e-12 && drive[0] == 0.0);
    }
}

/// A turntable and a belt.
#[test]
fn turntable_and_belt() {
    let mut world = World::new(Body::Space);
    world.body(BALL, [1.0, 0.0, 1.0], UPRIGHT);
    let table = world.fixed(Shape::Box { edges: [4.0, 4.0, 1.0] });
    let omega = Operator::constant(3, 1, vec![0.0, 0.0, 2.0]);
    world.drive(table, Drive { omega: Some(omega), surface: [0.0, 0.0, 0.0], ..Drive::default() });
    let drive = |world: &World| {
        let mut search = world.search();
        let found = world.find_in(&mut *search, 0.0, 1e-3);
        search.drive(&found[0])
    };
    assert!((drive(&world)[1] + 2.0).abs() < 1e-12, "{:?}", drive(&world));

    let mut world = World::new(Body::Space);
    world.body(BALL, [1.0, 0.0, 0.5], UPRIGHT);
    let belt = world.fixed(ground());
    world.drive(belt, Drive { surface: [1.5, 0.0, 0.7], ..Drive::default() });
    assert_eq!(drive(&world), [-1.5, 0.0, 0.0]);
}

/// Turning about an axis that itself turns: `ω` in the world of a body that spins by `a` about an axis
/// which goes round by `b`.
#[test]
fn turns_are_integrated() {
    let (a, b) = (3.0, 2.0);
    // R = exp(b t e_z) exp(a t e_x), so ω = b e_z + a exp(b t e_z) e_x
    let omega = Operator::vector_of_time(3, move |t, w| {
        w.copy_from_slice(&[a * (b * t).cos(), a * (b * t).sin(), b]);
    });
    let mut world = World::new(Body::Space);
    let rod = world.fixed(Placed {
        shape: Shape::Sphere { radius: 0.1 },
        position: [0.0, 1.0, 0.0],
        orientation: IDENTITY,
    });
    world.drive(rod, Drive { omega: Some(omega), ..Drive::default() });
    world.body(Shape::Sphere { radius: 2.0 }, [0.0; 3], UPRIGHT);
    let mut search = world.search();
    for t in [0.01, 1.7, 0.4, 23.456, -0.3] {
        let found = world.find_in(&mut *search, t, 1e-3);
        let p = saltus_model::rotation::product(
            exp(scaled(b * t, [0.0, 0.0, 1.0])),
            exp(scaled(a * t, [1.0, 0.0, 0.0])),
        );
        let expected = rotate(p, [0.0, 1.0, 0.0]);
        // the first side is the rod: its end lies along the normal
        let found = found[0].normal;
        assert!(norm(sub(found, expected)) < 1e-11, "{t}: {found:?} {expected:?}");
    }
}

#[test]
fn errors_name_the_side() {
    let world = || {
        let mut world = World::new(Body::Space);
        world.body(BALL, [0.0; 3], UPRIGHT);
        world.fixed(ground());
        world
    };
    let says = |world: &World, expected: &str| {
        let error = Finder::new(Body::Space, &world.colliders).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let mut w = world();
    w.colliders.shapes[0].placed.shape = Shape::Sphere { radius: -1.0 };
    says(&w, "`body 0`: sphere: `radius` = -1");
    let mut w = world();
    w.colliders.shapes[0].placed.shape = ground();
    says(&w, "`body 0`: a plane cannot belong to a body");
    let mut w = world();
    w.colliders.shapes.push(Collider { side: 7, placed: BALL.into(), material: 0 });
    says(&w, "shape 2 names side 7, but there are 2");
    let mut w = world();
    w.colliders.drives.pop();
    says(&w, "`drives` has 1 entries, expected 2");
    let mut w = world();
    w.drive(0, Drive::default());
    says(&w, "`body 0` follows a body and is driven");
    let mut w = world();
    w.drive(1, Drive { omega: Some(Operator::zero(2, 1)), ..Drive::default() });
    says(&w, "`omega` of its drive has 2 components, expected 3");
    let mut w = world();
    w.colliders.laws.laws = vec![Law::Equality];
    says(&w, "law 0 is Equality");
    let mut w = world();
    w.colliders.laws.of_pair = vec![Some(4)];
    says(&w, "names law 4");
    let mut w = world();
    w.colliders.shapes[1].placed.shape = Shape::Disk { radius: 1.0 };
    let error = Finder::new(Body::Space, &w.colliders).unwrap_err();
    assert!(matches!(error, FinderError::Shape { source: ShapeError::Space { .. }, .. }));
}

#[test]
fn systems_have_to_be_bodies() {
    let world = {
        let mut world = World::new(Body::Space);
        world.body(BALL, [0.0; 3], UPRIGHT);
        world
    };
    let finder = Finder::new(Body::Space, &world.colliders).unwrap();
    // in the model of these tests systems are no bodies
    assert!(matches!(finder.check(&world.model), Err(ModelError::NotABody { .. })));
    assert!(matches!(finder.check(&Model::new("empty")), Err(ModelError::Handle { .. })));
    let mut model = Model::new("bodies");
    model.add("body 0", RigidBody::new(1.0, [1.0; 3])).unwrap();
    assert!(finder.check(&model).is_ok());
}

/// Numbers that are none are told, not searched.
#[test]
fn not_finite() {
    let mut random = Random(1);
    let mut world = World::new(Body::Space);
    world.body(BALL, random.vector(1.0), UPRIGHT);
    world.q[1] = f64::NAN;
    let mut found = Vec::new();
    let moment = saltus_model::Moment { t: 0.5, h: 1e-3, q: &world.q, v: &world.v };
    let error = world.search().find(moment, &mut found).unwrap_err();
    assert!(error.to_string().contains("not finite"));
}

/// A plane that stands still is met by what comes near it and by nothing else; one that is driven, but not away from where it is, is
/// looked at for every body, and has the same contacts to the last bit.
#[test]
fn a_plane_is_met_by_all_that_come_near_it() {
    let shapes = [
        Shape::Sphere { radius: 0.5 },
        Shape::Box { edges: [0.8, 1.0, 0.6] },
        Shape::Capsule { radius: 0.3, length: 0.7 },
        Shape::Cylinder { radius: 0.4, length: 0.9 },
        Shape::Cone { radius: 0.4, height: 0.9 },
    ];
    let mut random = Random(23);
    let (mut none, mut some) = (0, 0);
    for k in 0..2000 {
        let n = random.turn();
        let Some(normal) = unit([n[1], n[2], n[3]]) else { continue };
        let plane = Shape::Plane { normal, offset: random.within(-1.0, 1.0) };
        let (x, p) = (random.vector(1.5), random.turn());
        let v: Vec<f64> = (0..6).map(|_| random.within(-20.0, 20.0)).collect();
        let mut found = [(); 2].map(|()| Vec::new());
        for (found, is_driven) in found.iter_mut().zip([false, true]) {
            let mut world = World::new(Body::Space);
            world.body(shapes[k % shapes.len()].clone(), x, p);
            let side = world.fixed(plane.clone());
            if is_driven {
                let position = Some(Operator::constant(3, 1, vec![0.0; 3]));
                world.drive(side, Drive { position, ..Drive::default() });
            }
            // at rest, slow and fast
            let speed = [0.0, 0.01, 1.0][k % 3];
            world.v.iter_mut().zip(&v).for_each(|(own, v)| *own = speed * v);
            *found = world.find(5e-3);
        }
        let [standing, driven] = found;
        assert_eq!(standing, driven, "{k}");
        none += usize::from(standing.is_empty());
        some += usize::from(!standing.is_empty());
    }
    assert!(none > 200 && some > 200, "{none} {some}");
}

/// A search that goes on from what it found before finds what a new one finds, to the last bit: while some bodies move, most,
/// none or all, with another step, and with several threads.
#[test]
fn what_stands_still_is_found_again() {
    let mut random = Random(5);
    let mut world = World::new(Body::Space);
    for k in 0..500 {
        let place = [k % 8, k / 8 % 8, k / 64].map(|i| 0.98 * f64::from(i));
        let shape = match k % 3 {
            0 => Shape::Sphere { radius: 0.5 },
            _ => Shape::Box { edges: [1.0; 3] },
        };
        let jitter = random.vector(0.01);
        let p = [1.0, jitter[0], jitter[1], jitter[2]];
        world.body(shape, [0, 1, 2].map(|i| place[i] + jitter[i]), p);
    }
    world.fixed(Shape::Plane { normal: [0.0, 0.0, 1.0], offset: -0.5 });
    let table = world.fixed(Placed {
        shape: Shape::Box { edges: [20.0, 20.0, 1.0] },
        position: [0.0, 0.0, -1.0],
        orientation: IDENTITY,
    });
    let position = Operator::vector_of_time(3, |t, x| x.copy_from_slice(&[0.0, t, 0.0]));
    for is_driven in [false, true] {
        if is_driven {
            let position = Some(position.clone());
            world.drive(table, Drive { position, ..Drive::default() });
        }
        for threads in [1, 2] {
            let mut search = world.search();
            search.share(threads);
            let mut found = Vec::new();
            let shares = [1.0, 0.02, 0.02, 0.0, 0.0, 0.02, 0.6, 0.02, 0.3, 0.3, 1.0, 0.0];
            for (k, share) in shares.into_iter().enumerate() {
                for body in 0..500 {
                    if random.unit() < share {
                        for i in 0..3 {
                            world.q[7 * body + i] += random.within(-1e-3, 1e-3);
                            world.v[6 * body + i] = random.within(-1.0, 1.0);
                        }
                    }
                }
                let (t, h) = (0.01 * (k / 2) as f64, if k < 9 { 5e-3 } else { 2e-3 });
                let moment = Moment { t, h, q: &world.q, v: &world.v };
                search.find(moment, &mut found).unwrap();
                let fresh = world.find_in(&mut *world.search(), t, h);
                assert!(fresh.len() > 2000, "{}", fresh.len());
                assert_eq!(found, fresh, "{is_driven} {threads} {k}");
            }
        }
    }
}
