//! Heaps of grains.

use crate::finder::{Scene, Shape};
use saltus_model::{Law, RigidBody};
use saltus_numerics::{AutoSettings, Solver};
use saltus_sim::TimeStepping;

/// Spheres that fall into a bin.
pub fn bin(count: usize, radius: f64, mu: f64) -> Scene {
    let side = (count as f64 / 2.0).cbrt().ceil().max(2.0) as usize;
    let width = side as f64 * 2.2 * radius;
    let mut scene = Scene::new(Law::impact_friction(0.0, mu));
    scene.ground([0.0, 0.0, 1.0], 0.0);
    for axis in 0..2 {
        let mut n = [0.0; 3];
        n[axis] = 1.0;
        scene.ground(n, 0.0);
        n[axis] = -1.0;
        scene.ground(n, -width);
    }
    for k in 0..count {
        let place = [k % side, k / side % side, k / side / side];
        let shift = |i: usize| 0.1 * radius * (((k * 37 + i * 11) % 19) as f64 / 19.0 - 0.5);
        let x = [0, 1, 2].map(|i| (place[i] as f64 + 0.5) * 2.2 * radius + shift(i));
        let mass = 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
        let ball = RigidBody::ball(mass, radius).at(x).gravity([0.0, 0.0, -9.81]);
        scene.add(&format!("ball{k}"), ball, Shape::Sphere(radius));
    }
    scene
}

#[test]
fn a_bin_of_spheres_is_solved_in_every_step() {
    let (tol, radius) = (1e-6, 0.05);
    let solver = Solver::Auto(AutoSettings { tol, ..AutoSettings::default() });
    let model = bin(16, radius, 0.7).model();
    let mut sim = TimeStepping::with_solver(model, 5e-3, [], &solver).unwrap();
    let mut deepest = 0.0_f64;
    for _ in 0..100 {
        let done = sim.step().unwrap();
        assert!(done.residual <= tol, "{done:?}");
        deepest = deepest.max(done.penetration);
    }
    assert!(deepest < 0.05 * radius, "{deepest:e}");
    let ledger = sim.ledger().unwrap();
    assert!(ledger.impact >= 0.0 && ledger.friction >= 0.0, "{ledger:?}");
}

/// Wedged spheres, whose impulses can be shifted without a velocity that changes, are solved too.
#[test]
fn a_heap_of_sixty_spheres_is_solved_in_every_step() {
    let tol = 1e-6;
    let solver = Solver::Auto(AutoSettings { tol, ..AutoSettings::default() });
    let model = bin(60, 0.05, 0.7).model();
    let mut sim = TimeStepping::with_solver(model, 5e-3, [], &solver).unwrap();
    for _ in 0..150 {
        let done = sim.step().unwrap();
        assert!(done.residual <= tol, "{done:?}");
    }
}
