//! Motions that are known in closed form.

use crate::finder::{Scene, Shape};
use saltus_model::rotation::{norm, normalized};
use saltus_model::{Law, RigidBody, SystemId};
use saltus_sim::TimeStepping;

pub const G: f64 = 9.81;

pub fn simulation(scene: Scene, h: f64) -> TimeStepping {
    TimeStepping::new(scene.model(), h, []).unwrap()
}

fn run(sim: &mut TimeStepping, steps: usize) {
    for _ in 0..steps {
        sim.step().unwrap();
    }
}

fn sphere(law: Law, radius: f64, height: f64, v: [f64; 3]) -> (Scene, SystemId) {
    let mut scene = Scene::new(law);
    scene.ground([0.0, 0.0, 1.0], 0.0);
    let ball = RigidBody::ball(1.0, radius).at([0.0, 0.0, height]).gravity([0.0, 0.0, -G]);
    let ball = scene.add("ball", ball.moving(v, [0.0; 3]), Shape::Sphere(radius));
    (scene, ball)
}

#[test]
fn a_sphere_slides_and_then_rolls() {
    let (mu, v0, h) = (0.3, 2.0, 1e-4);
    let (scene, ball) = sphere(Law::impact_friction(0.0, mu), 0.1, 0.1, [v0, 0.0, 0.0]);
    let mut sim = simulation(scene, h);
    let rolls_at = 2.0 * v0 / (7.0 * mu * G);
    let place = v0 * rolls_at - 0.5 * mu * G * rolls_at * rolls_at;
    let mut first = None;
    while sim.t() < 0.5 {
        sim.step().unwrap();
        let v = sim.v(ball).unwrap();
        let slip = v[0] - 0.1 * v[4];
        if first.is_none() && slip.abs() < 1e-9 {
            first = Some((sim.t(), sim.q(ball).unwrap()[0]));
        }
    }
    let (t, x) = first.unwrap();
    assert!((t - rolls_at).abs() <= 1.01 * h, "{t} {rolls_at}");
    assert!((x - place).abs() <= 2.0 * h * v0, "{x} {place}");
    let v = sim.v(ball).unwrap()[0];
    assert!((v - 5.0 / 7.0 * v0).abs() < 1e-6, "{v}");
    assert!((sim.q(ball).unwrap()[2] - 0.1).abs() < 1e-12);
}

/// A box on a plane that is tilted by gravity.
fn on_slope(mu: f64, angle: f64) -> (Scene, SystemId) {
    let mut scene = Scene::new(Law::impact_friction(0.0, mu));
    scene.ground([0.0, 0.0, 1.0], 0.0);
    let half = [0.1, 0.1, 0.05];
    let gravity = [G * angle.sin(), 0.0, -G * angle.cos()];
    let cube = RigidBody::cuboid(2.0, [0.2, 0.2, 0.1]).at([0.0, 0.0, 0.05]).gravity(gravity);
    let cube = scene.add("cube", cube, Shape::Box(half));
    (scene, cube)
}

#[test]
fn a_cube_slides_down_a_slope() {
    let (scene, cube) = on_slope(0.3, 30f64.to_radians());
    let mut sim = simulation(scene, 1e-3);
    run(&mut sim, 1000);
    let v = sim.v(cube).unwrap();
    assert!((v[0] - 2.3562872366623964).abs() < 1e-7, "{}", v[0]);
    assert!(sim.q(cube).unwrap()[2] >= 0.05 - 1e-9);
}

#[test]
fn what_sticks_does_not_creep() {
    for angle in [10f64, 20.0, 30.9] {
        let (scene, cube) = on_slope(0.6, angle.to_radians());
        let mut sim = simulation(scene, 5e-3);
        let before = sim.q(cube).unwrap().to_vec();
        run(&mut sim, 100_000);
        assert_eq!(sim.q(cube).unwrap(), before);
        assert_eq!(sim.v(cube).unwrap(), [0.0; 6]);
    }
}

#[test]
fn a_cube_that_slides_fast_does_not_lift() {
    let mut scene = Scene::new(Law::impact_friction(0.0, 0.5));
    scene.ground([0.0, 0.0, 1.0], 0.0);
    let cube = RigidBody::cuboid(1.0, [0.1; 3]).at([0.0, 0.0, 0.05]).gravity([0.0, 0.0, -G]);
    let cube = scene.add("cube", cube.moving([6.0, 0.0, 0.0], [0.0; 3]), Shape::Box([0.05; 3]));
    let mut sim = simulation(scene, 5e-3);
    for _ in 0..400 {
        sim.step().unwrap();
        let q = sim.q(cube).unwrap();
        assert!((q[2] - 0.05).abs() < 1e-9, "t = {}: lift {:e}", sim.t(), q[2] - 0.05);
    }
    assert_eq!(sim.v(cube).unwrap(), [0.0; 6]);
    let way = 36.0 / (2.0 * 0.5 * G);
    assert!((sim.q(cube).unwrap()[0] - way).abs() < 6.0 * 5e-3);
}

#[test]
fn a_free_turn_keeps_energy_and_momentum() {
    let mut scene = Scene::new(Law::newton_impact(0.0));
    let body = RigidBody::new(1.0, [1.0, 2.0, 2.7]).moving([0.0; 3], [1e-3, 3.0, 1e-3]);
    let orientation = normalized([0.9, 0.1, -0.3, 0.2]).unwrap();
    let body = scene.add("racket", body.orientation(orientation), Shape::Sphere(0.1));
    let mut sim = simulation(scene, 1e-2);
    let momentum = |sim: &TimeStepping| {
        let (q, v) = (sim.q(body).unwrap(), sim.v(body).unwrap());
        let own = [v[3], 2.0 * v[4], 2.7 * v[5]];
        saltus_model::rotation::rotate([q[3], q[4], q[5], q[6]], own)
    };
    let (energy, before) = (sim.ledger().unwrap().kinetic, momentum(&sim));
    let mut turned = false;
    for _ in 0..10_000 {
        sim.step().unwrap();
        turned |= sim.v(body).unwrap()[4] < -2.0;
    }
    assert!(turned, "the middle axis is not stable");
    assert!((sim.ledger().unwrap().kinetic / energy - 1.0).abs() < 1e-11);
    let after = momentum(&sim);
    let change = norm([0, 1, 2].map(|k| after[k] - before[k])) / norm(before);
    assert!(change < 1e-11, "{change:e}");
}

#[test]
fn an_elastic_ball_bounces_for_ever() {
    let (scene, ball) = sphere(Law::newton_impact(1.0), 0.1, 1.1, [0.0; 3]);
    let mut sim = simulation(scene, 5e-3);
    let mut most = 0.0_f64;
    for k in 0..20_000 {
        sim.step().unwrap();
        let q = sim.q(ball).unwrap();
        assert!(q[2] >= 0.1 - 1e-12, "step {k}");
        if k > 10_000 {
            most = most.max(q[2]);
        }
        let ledger = sim.ledger().unwrap();
        assert!((ledger.kinetic + ledger.potential - 1.1 * G).abs() < 1e-9);
    }
    assert!((most - 1.1).abs() < 1e-3, "{most}");
}

#[test]
fn a_bouncing_ball_comes_to_rest_when_it_should() {
    let (scene, ball) = sphere(Law::newton_impact(0.5), 0.1, 1.1, [0.0; 3]);
    let mut sim = simulation(scene, 1e-3);
    let mut rests_at = f64::INFINITY;
    while sim.t() < 2.0 {
        sim.step().unwrap();
        if sim.v(ball).unwrap().iter().all(|v| *v == 0.0) && rests_at.is_infinite() {
            rests_at = sim.t();
        }
    }
    assert!((rests_at - 1.3545709229571927).abs() < 0.02, "{rests_at}");
    assert!((sim.q(ball).unwrap()[2] - 0.1).abs() < 1e-9);
}

#[test]
fn a_belt_takes_a_cube_along() {
    let mut scene = Scene::new(Law::impact_friction(0.0, 0.4));
    scene.moving_ground([0.0, 0.0, 1.0], 0.0, [1.5, 0.0, 0.0]);
    let cube = RigidBody::cuboid(1.0, [0.2, 0.2, 0.1]).at([0.0, 0.0, 0.05]);
    let cube = scene.add("cube", cube.gravity([0.0, 0.0, -G]), Shape::Box([0.1, 0.1, 0.05]));
    let mut sim = simulation(scene, 1e-3);
    run(&mut sim, 1000);
    assert!((sim.v(cube).unwrap()[0] - 1.5).abs() < 1e-8);
    // it slips for v/(μ g), and the belt does twice the work that the cube gets
    let ledger = sim.ledger().unwrap();
    assert!((ledger.friction - 0.5 * 1.5 * 1.5).abs() < 1e-2, "{ledger:?}");
    assert!((ledger.work - 1.5 * 1.5).abs() < 2e-2, "{ledger:?}");
    assert!(ledger.numerical.abs() < 1e-9, "{ledger:?}");
}
