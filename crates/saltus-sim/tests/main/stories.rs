//! Stories that users of other tools tell, which ours should not have to.

use crate::closed_forms::{G, simulation};
use crate::finder::{Scene, Shape};
use saltus_model::{Law, RigidBody};
use saltus_sim::RunOptions;

/// A cube of 1 kg and 0.2 m on the ground.
fn cube(mu: f64, gravity: [f64; 3], v: [f64; 3]) -> (Scene, saltus_model::SystemId) {
    let mut scene = Scene::new(Law::impact_friction(0.0, mu));
    scene.ground([0.0, 0.0, 1.0], 0.0);
    let body = RigidBody::cuboid(1.0, [0.2; 3]).at([0.0, 0.0, 0.1]).gravity(gravity);
    let id = scene.add("cube", body.moving(v, [0.0; 3]), Shape::Box([0.1; 3]));
    (scene, id)
}

#[test]
fn story_01_a_cube_at_rest_costs_no_iterations() {
    let (scene, _) = cube(0.5, [0.0, 0.0, -G], [0.0; 3]);
    let mut sim = simulation(scene, 5e-3);
    sim.step().unwrap();
    for _ in 0..1000 {
        assert_eq!(sim.step().unwrap().iterations, 0);
    }
}

#[test]
fn story_04_nothing_sinks_into_the_floor() {
    // sitting, sliding, rolling
    let mut scene = Scene::new(Law::impact_friction(0.0, 0.3));
    scene.ground([0.0, 0.0, 1.0], 0.0);
    let gravity = [0.0, 0.0, -G];
    let mut ids = Vec::new();
    for (k, v) in [[0.0; 3], [2.0, 1.0, 0.0]].into_iter().enumerate() {
        let body = RigidBody::cuboid(1.0, [0.2; 3]).at([0.0, 3.0 * k as f64, 0.1]).gravity(gravity);
        ids.push(scene.add(&format!("cube{k}"), body.moving(v, [0.0; 3]), Shape::Box([0.1; 3])));
    }
    let ball = RigidBody::ball(1.0, 0.1).at([0.0, -3.0, 0.1]).gravity(gravity);
    let ball = ball.moving([1.0, 0.0, 0.0], [0.0, 10.0, 0.0]);
    ids.push(scene.add("ball", ball, Shape::Sphere(0.1)));
    let mut sim = simulation(scene, 5e-3);
    for _ in 0..20_000 {
        let done = sim.step().unwrap();
        assert!(done.penetration < 1e-9, "{:e}", done.penetration);
    }
    for id in ids {
        assert!((sim.q(id).unwrap()[2] - 0.1).abs() < 1e-9);
    }
}

#[test]
fn story_05_a_stack_of_spheres_stands() {
    let mut scene = Scene::new(Law::impact_friction(0.0, 0.5));
    scene.ground([0.0, 0.0, 1.0], 0.0);
    let mut ids = Vec::new();
    for k in 0..6 {
        let ball = RigidBody::ball(1.0, 0.1).at([0.0, 0.0, 0.1 + 0.2 * f64::from(k)]);
        ids.push(scene.add(&format!("ball{k}"), ball.gravity([0.0, 0.0, -G]), Shape::Sphere(0.1)));
    }
    let mut sim = simulation(scene, 5e-3);
    let before: Vec<_> = ids.iter().map(|id| sim.q(*id).unwrap().to_vec()).collect();
    sim.step().unwrap();
    for _ in 0..10_000 {
        assert_eq!(sim.step().unwrap().iterations, 0);
    }
    for (id, before) in ids.iter().zip(before) {
        assert_eq!(sim.q(*id).unwrap(), before);
    }
}

#[test]
fn story_06_contacts_are_kept_where_they_are_recorded() {
    let (scene, _) = cube(0.5, [0.0, 0.0, -G], [0.0; 3]);
    let mut sim = simulation(scene, 1e-3);
    let run = sim.run_with(10.0, RunOptions { every: 1000, ..RunOptions::default() }).unwrap();
    assert_eq!(run.frames.contacts.len(), 4 * 10);
    assert!(sim.checkpoint().to_bytes().len() < 4096);
}

#[test]
fn stories_13_to_15_what_is_pressed_does_not_creep() {
    // against a wall, with twenty times the friction that it takes, and shaken
    let mut scene = Scene::new(Law::impact_friction(0.0, 1.0));
    scene.ground([1.0, 0.0, 0.0], 0.0);
    let gravity = [-20.0 * G, 0.0, -G];
    let body = RigidBody::cuboid(1.0, [0.2; 3]).at([0.1, 0.0, 0.0]).gravity(gravity);
    let body = body.force(
        saltus_model::Operator::vector_of_time(3, |t, f| f[1] = 5.0 * (900.0 * t).sin()),
        saltus_model::Frame::World,
    );
    let id = scene.add("cube", body, Shape::Box([0.1; 3]));
    let mut sim = simulation(scene, 2e-3);
    let before = sim.q(id).unwrap().to_vec();
    for _ in 0..20_000 {
        sim.step().unwrap();
    }
    assert_eq!(sim.q(id).unwrap(), before);
}

#[test]
fn story_34_friction_is_the_same_in_all_directions() {
    for k in 0..24 {
        let angle = f64::from(k) * 15f64.to_radians() + 0.03;
        let (sin, cos) = angle.sin_cos();
        // a little more than friction holds
        let (scene, id) = cube(0.5, [0.6 * G * cos, 0.6 * G * sin, -G], [0.0; 3]);
        let mut sim = simulation(scene, 1e-3);
        for _ in 0..200 {
            sim.step().unwrap();
        }
        let v = sim.v(id).unwrap();
        assert!((v[0] - 0.1 * G * 0.2 * cos).abs() < 1e-7, "{k}: {v:?}");
        assert!((v[1] - 0.1 * G * 0.2 * sin).abs() < 1e-7, "{k}: {v:?}");
        // and a little less
        let (scene, id) = cube(0.5, [0.49 * G * cos, 0.49 * G * sin, -G], [0.0; 3]);
        let mut sim = simulation(scene, 1e-3);
        for _ in 0..200 {
            sim.step().unwrap();
        }
        assert_eq!(sim.v(id).unwrap(), [0.0; 6]);
    }
}

#[test]
fn stories_35_and_36_a_ball_gains_nothing_and_loses_what_it_should() {
    for (e, h) in [(1.0, 1e-3), (1.0, 1e-2), (0.8, 1e-3), (0.8, 5e-3)] {
        let mut scene = Scene::new(Law::newton_impact(e));
        scene.ground([0.0, 0.0, 1.0], 0.0);
        let ball = RigidBody::ball(1.0, 0.1).at([0.0, 0.0, 1.1]).gravity([0.0, 0.0, -G]);
        let id = scene.add("ball", ball, Shape::Sphere(0.1));
        let mut sim = simulation(scene, h);
        // heights after one and two bounces
        let (mut heights, mut rising, mut last) = (Vec::new(), false, 1.1);
        while heights.len() < 2 {
            sim.step().unwrap();
            let z = sim.q(id).unwrap()[2];
            if rising && z < last {
                heights.push(last - 0.1);
            }
            rising = z > last;
            last = z;
        }
        for (k, height) in heights.into_iter().enumerate() {
            let expected = f64::powi(e, 2 * (k as i32 + 1));
            assert!(height <= expected * (1.0 + 1e-9) + 0.02 * h / 1e-3, "{e} {h}: {height}");
            assert!((height - expected).abs() < 12.0 * h, "{e} {h}: {height}");
        }
    }
}

#[test]
fn story_36_a_heavy_ball_on_a_light_one() {
    let mut scene = Scene::new(Law::impact_friction(0.0, 0.5));
    scene.ground([0.0, 0.0, 1.0], 0.0);
    let mut ids = Vec::new();
    for (k, mass) in [1.0, 1e3, 1e6].into_iter().enumerate() {
        let ball = RigidBody::ball(mass, 0.1).at([0.0, 0.0, 0.1 + 0.2 * k as f64]);
        ids.push(scene.add(&format!("ball{k}"), ball.gravity([0.0, 0.0, -G]), Shape::Sphere(0.1)));
    }
    let mut sim = simulation(scene, 5e-3);
    for _ in 0..1000 {
        sim.step().unwrap();
    }
    for (k, id) in ids.into_iter().enumerate() {
        assert!((sim.q(id).unwrap()[2] - 0.1 - 0.2 * k as f64).abs() < 1e-9);
    }
}

#[test]
fn story_37_a_sliding_cube_stays_down_at_every_step() {
    for h in [1e-3, 5e-3, 2e-2] {
        let (scene, id) = cube(0.5, [0.0, 0.0, -G], [6.0, 0.0, 0.0]);
        let mut sim = simulation(scene, h);
        for _ in 0..(2.0 / h) as usize {
            let done = sim.step().unwrap();
            assert!(done.residual <= 1e-8);
            assert!(sim.q(id).unwrap()[2] - 0.1 < 1e-9);
        }
        assert_eq!(sim.v(id).unwrap(), [0.0; 6]);
    }
}
