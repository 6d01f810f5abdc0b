//! Contacts of rigid bodies: spheres that slide and roll, blocks on inclines, spheres that meet.

use crate::support::{Csv, difference, order_within, testdata, within};
use saltus::mechanics::{Components, PointPlane, SphereSphere, corners};
use saltus::model::rotation;
use saltus::prelude::*;

const G: f64 = 9.81;

/// A ball of radius 1/2 that lies on the plane `z = 0`.
fn rolling(mu: f64, v: [f64; 3], omega: [f64; 3]) -> Model {
    let mut model = Model::new("rolling");
    let ball = RigidBody::ball(1.0, 0.5).at([0.0, 0.0, 0.5]).moving(v, omega);
    let ball = model.add("ball", ball.gravity([0.0, 0.0, -G])).unwrap();
    let law = Law::impact_friction(0.0, mu);
    model.connect("floor", PointPlane::sphere(0.5), law, &[ball]).unwrap();
    model
}

fn run(model: Model, h: f64, until: f64) -> (TimeStepping, Run) {
    let mut sim = TimeStepping::new(model, h, [MoreauJean::default().into()]).unwrap();
    let run = sim.run(until).unwrap();
    (sim, run)
}

/// `v = 5/7 v₀` from `t = 2 v₀/(7 μ g)` on, and the place where that is reached.
#[test]
fn a_ball_slides_and_then_rolls() {
    let (mu, v0, h) = (0.2, 3.0, 1e-3);
    let (_, run) = run(rolling(mu, [v0, 0.0, 0.0], [0.0; 3]), h, 1.0);
    let (v, w) = (run.signal("ball.v").unwrap(), run.signal("ball.omega").unwrap());
    let x = run.signal("ball.position").unwrap();
    let end = 2.0 * v0 / (7.0 * mu * G);
    for (k, &t) in run.frames.time.iter().enumerate() {
        let speed = if t < end { v0 - mu * G * t } else { 5.0 / 7.0 * v0 };
        let slid = t.min(end);
        let place = v0 * slid - 0.5 * mu * G * slid * slid + (t - slid) * 5.0 / 7.0 * v0;
        assert!((v[3 * k] - speed).abs() < 1e-11, "t = {t}: {} {speed}", v[3 * k]);
        assert!((x[3 * k] - place).abs() < 3e-7, "t = {t}: {} {place}", x[3 * k]);
        assert!(v[3 * k + 2].abs() < 1e-13 && (x[3 * k + 2] - 0.5).abs() < 1e-13);
    }
    let last = run.frames.len() - 1;
    within("rolling", (v[3 * last] - 0.5 * w[3 * last + 1]).abs(), 1e-12);
    let first = run.signal("floor.u[1]").unwrap().iter().position(|u| u.abs() < 1e-9).unwrap();
    within("instant", (run.frames.time[first] - end).abs(), h);
}

/// Backspin: the ball comes back, `v₀ − μ g t` all the time.
#[test]
fn a_ball_with_backspin_returns() {
    let (_, run) = run(rolling(0.3, [2.0, 0.0, 0.0], [0.0, -20.0, 0.0]), 1e-3, 1.0);
    let v = run.signal("ball.v[0]").unwrap();
    within("velocity", (v.last().unwrap() + 0.943).abs(), 1e-12);
}

/// A ball that spins about an oblique axis: the turn in its own frame costs one order.
#[test]
fn a_ball_with_oblique_spin() {
    let csv = Csv::read(&testdata(), "rolling_sphere/exact_oblique_spin.csv");
    let mut errors = Vec::new();
    for h in [2e-3, 1e-3, 5e-4] {
        let (_, run) = run(rolling(0.25, [2.0, 0.0, 0.0], [6.0, 0.0, 3.0]), h, 1.0);
        let (x, v) = (run.signal("ball.position").unwrap(), run.signal("ball.v").unwrap());
        let mut worst = 0.0_f64;
        for (i, axis) in ["x", "y"].into_iter().enumerate() {
            worst = worst.max(difference(&csv, axis, h, |k| x[3 * k + i]).absolute);
            let name = format!("v{axis}");
            worst = worst.max(difference(&csv, &name, h, |k| v[3 * k + i]).absolute);
        }
        errors.push((h, worst));
    }
    order_within("oblique spin", &errors, 0.9..=1.2);
    // Siconos: 9.1e-4
    within("at 1 ms", errors[1].1, 1e-3);
}

/// A cube of side 1/2 on its corners, in the frame of an incline.
fn block(angle: f64, mu: f64, v: [f64; 3]) -> (Model, SystemId) {
    let mut model = Model::new("block on an incline");
    let body = RigidBody::cuboid(1.0, [0.5; 3]).at([1.0, 2.0, 0.25]).moving(v, [0.0; 3]);
    let gravity = [G * angle.sin(), 0.0, -G * angle.cos()];
    let body = model.add("block", body.gravity(gravity)).unwrap();
    for (k, corner) in corners([0.5; 3]).into_iter().enumerate() {
        let law = Law::impact_friction(0.0, mu);
        model.connect(&format!("corner{k}"), PointPlane::point(corner), law, &[body]).unwrap();
    }
    (model, body)
}

const THIRTY: f64 = std::f64::consts::PI / 6.0;

/// `a = g (sin α − μ cos α)`, to round-off.
#[test]
fn a_block_slides_down_an_incline() {
    let (model, body) = block(THIRTY, 0.3, [0.0; 3]);
    let (sim, _) = run(model, 2e-3, 1.0);
    let a = 2.3562872366623964;
    within("velocity", (sim.v(body).unwrap()[0] - a).abs(), 1e-10);
    within("place", (sim.q(body).unwrap()[0] - 1.0 - 0.5 * a).abs(), 1e-10);
    within("height", (sim.q(body).unwrap()[2] - 0.25).abs(), 1e-12);
}

/// A block that is braked comes to rest where the closed form says, and stays.
#[test]
fn a_block_is_braked() {
    let angle = 20.0_f64.to_radians();
    let (model, body) = block(angle, 0.6, [2.0, 0.0, 0.0]);
    let (sim, _) = run(model, 2e-3, 1.0);
    let a = G * (0.6 * angle.cos() - angle.sin());
    within("place", (sim.q(body).unwrap()[0] - 1.0 - 2.0 / a).abs(), 2e-6);
    within("velocity", sim.v(body).unwrap()[0].abs(), 1e-14);
}

/// A block at rest on an incline does not creep: over a hundred thousand steps it stays exactly where
/// it is.
#[test]
fn a_block_sticks_without_creep() {
    let (model, body) = block(THIRTY, 0.7, [0.0; 3]);
    let mut sim = TimeStepping::new(model, 2e-3, [MoreauJean::default().into()]).unwrap();
    for _ in 0..50 {
        sim.step().unwrap();
    }
    let before = sim.q(body).unwrap().to_vec();
    for _ in 0..100_000 {
        sim.step().unwrap();
    }
    let creep = sim.q(body).unwrap().iter().zip(&before).map(|(a, b)| (a - b).abs());
    within("creep", creep.fold(0.0, f64::max), 0.0);
    within("from the start", (before[0] - 1.0).abs(), 1e-13);
}

/// A ball on a table that is a body itself, and moves with it.
#[test]
fn a_ball_rests_on_a_body() {
    let mut model = Model::new("tray");
    let tray = model.add("tray", RigidBody::cuboid(5.0, [1.0, 1.0, 0.1])).unwrap();
    let ball = RigidBody::ball(1.0, 0.2).at([0.1, 0.0, 0.25]).gravity([0.0, 0.0, -G]);
    let ball = model.add("ball", ball).unwrap();
    let v =
        Operator::vector_of_time(6, |t, v| v.copy_from_slice(&[0.0, 0.0, t.sin(), 0.0, 0.0, 0.0]));
    model.prescribe("lift", tray, [0, 1, 2, 3, 4, 5], v).unwrap();
    let top = PointPlane::sphere(0.2).above([0.0, 0.0, 1.0], [0.0, 0.0, 0.05]);
    let law = Law::impact_friction(0.0, 0.5);
    model.connect("contact", top, law, &[ball, tray]).unwrap();
    let (sim, _) = run(model, 1e-3, 2.0);
    let (a, b) = (sim.q(ball).unwrap(), sim.q(tray).unwrap());
    within("height", (a[2] - b[2] - 0.25).abs(), 1e-11);
    within("lifted", (b[2] - (1.0 - 2.0_f64.cos())).abs(), 1e-6);
}

/// Two balls meet head on: velocities are exchanged, momentum is kept.
#[test]
fn spheres_collide() {
    let mut model = Model::new("billiard");
    let a = RigidBody::ball(1.0, 0.1).at([-0.5, 0.0, 0.0]).moving([2.0, 0.0, 0.0], [0.0; 3]);
    let a = model.add("a", a).unwrap();
    let b = model.add("b", RigidBody::ball(1.0, 0.1)).unwrap();
    let contact = SphereSphere::new([0.1, 0.1]);
    model.connect("contact", contact, Law::impact_friction(1.0, 0.3), &[a, b]).unwrap();
    let (sim, _) = run(model, 1e-3, 0.5);
    within("first", sim.v(a).unwrap()[0].abs(), 1e-12);
    within("second", (sim.v(b).unwrap()[0] - 2.0).abs(), 1e-12);
}

/// A glancing blow with friction keeps momentum, angular momentum, and does not make energy.
#[test]
fn a_glancing_blow_keeps_both_momenta() {
    let mut model = Model::new("glancing");
    let place = [-0.5, 0.12, 0.03];
    let a = RigidBody::ball(1.0, 0.1).at(place).moving([2.0, 0.0, 0.0], [0.0, 5.0, -9.0]);
    let a = model.add("a", a).unwrap();
    let b = model.add("b", RigidBody::ball(2.0, 0.1).orientation([0.6, 0.0, 0.8, 0.0])).unwrap();
    let contact = SphereSphere::new([0.1, 0.1]);
    model.connect("contact", contact, Law::impact_friction(0.5, 0.3), &[a, b]).unwrap();
    let mut sim = TimeStepping::new(model, 1e-4, [MoreauJean::default().into()]).unwrap();
    let momenta = |sim: &TimeStepping| {
        let (mut P, mut L, mut E) = ([0.0; 3], [0.0; 3], 0.0);
        for (id, m) in [(a, 1.0), (b, 2.0)] {
            let (q, v) = (sim.q(id).unwrap(), sim.v(id).unwrap());
            let (x, w) = ([q[0], q[1], q[2]], [v[3], v[4], v[5]]);
            let p = rotation::scaled(m, [v[0], v[1], v[2]]);
            let J = 0.4 * m * 0.01;
            let spin = rotation::rotate([q[3], q[4], q[5], q[6]], rotation::scaled(J, w));
            P = rotation::add(P, p);
            L = rotation::add(L, rotation::add(rotation::cross(x, p), spin));
            E += 0.5 * rotation::dot(p, p) / m + 0.5 * J * rotation::dot(w, w);
        }
        (P, L, E)
    };
    let (P0, L0, E0) = momenta(&sim);
    sim.run(0.5).unwrap();
    let (P, L, E) = momenta(&sim);
    within("momentum", rotation::norm(rotation::sub(P, P0)), 1e-13);
    within("angular momentum", rotation::norm(rotation::sub(L, L0)), 1e-4);
    assert!(E < E0 - 1e-3, "{E} {E0}");
    assert!(sim.v(b).unwrap()[0] > 0.1);
}

/// Rolling resistance stops a ball: `v̇ = −(5/7) (μ_r/r) g`.
#[test]
fn rolling_resistance_stops_a_ball() {
    let mut model = Model::new("rolling resistance");
    let ball = RigidBody::ball(1.0, 0.5).at([0.0, 0.0, 0.5]);
    let ball = ball.moving([1.0, 0.0, 0.0], [0.0, 2.0, 0.0]).gravity([0.0, 0.0, -G]);
    let ball = model.add("ball", ball).unwrap();
    let law = Law::RollingFriction { e: 0.0.into(), mu: 0.5.into(), mu_r: 0.01.into() };
    let contact = PointPlane::sphere(0.5).with(Components::Rolling);
    model.connect("floor", contact, law, &[ball]).unwrap();
    let (sim, _) = run(model, 1e-3, 1.0);
    let expected = 1.0 - 5.0 / 7.0 * 0.01 / 0.5 * G;
    within("velocity", (sim.v(ball).unwrap()[0] - expected).abs(), 1e-6);
}
