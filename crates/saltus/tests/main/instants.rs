//! What a step of a scene makes of what happens within it: impacts that stop a body, points that meet, velocities that
//! are asked for.

use crate::support::within;
use saltus::mechanics::{
    BodySpec, ContactPair, Coordinate, Fitting, Given, Joint, JointLink, MotorSpec, Scene, Shape,
    StaticSpec,
};
use saltus::model::{Names, Operator};
use saltus::prelude::*;

const Y: [f64; 3] = [0.0, 1.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];

fn scene(e: f64, mu: f64) -> Scene {
    let mut scene = Scene::new("instants");
    scene.contacts.push(ContactPair::new("default", "default").restitution(e).friction(mu));
    scene
}

/// A ball with mass 1 and the moments of a full one.
fn ball(name: &str, radius: f64, position: [f64; 3], v: [f64; 3]) -> BodySpec {
    let mut body = BodySpec::new(name, Shape::Sphere { radius }).at(position).mass(1.0);
    let j = 0.4 * radius * radius;
    body.inertia = Some([[j, 0.0, 0.0], [0.0, j, 0.0], [0.0, 0.0, j]]);
    body.moving(v, [0.0; 3])
}

fn simulation(scene: &Scene, h: f64) -> TimeStepping {
    TimeStepping::new(scene.model().unwrap(), h, [MoreauJean::default().into()]).unwrap()
}

fn state(sim: &TimeStepping, body: &str) -> ([f64; 7], [f64; 6]) {
    let id = sim.model().system_id(body).unwrap();
    (sim.q(id).unwrap().try_into().unwrap(), sim.v(id).unwrap().try_into().unwrap())
}

/// A ball without restitution ends on the wall, whatever the share of the step before it: not behind it, not in it and
/// not before it.
#[test]
fn what_an_impact_stops_is_where_it_hits() {
    let wall = Shape::Box { edges: [2.0, 2.0, 2e-3] };
    let plane = Shape::Plane { normal: Z, offset: 1e-3 };
    for shape in [wall, plane] {
        for (h, v, radius) in [(1e-3, 1000.0, 0.01), (5e-3, 5.0, 5e-3), (1e-3, 100.0, 0.1)] {
            for k in 0..40 {
                let mut scene = scene(0.0, 0.5);
                scene.statics.push(StaticSpec::new("wall", shape.clone()));
                let height = radius + 1e-3;
                let start = height + h * v * (1.3 + 0.05 * f64::from(k));
                scene.bodies.push(ball("ball", radius, [0.1, 0.03, start], [0.0, 0.0, -v]));
                let mut sim = simulation(&scene, h);
                for _ in 0..6 {
                    sim.step().unwrap();
                }
                let (q, v) = state(&sim, "ball");
                assert_eq!(v, [0.0; 6], "{k}");
                within(&format!("{shape:?} {k}"), (q[2] - height).abs(), 1e-9 * start);
            }
        }
    }
}

/// A ball that slides on after an impact without rebound is on the wall, and as far along it as before and after the impact
/// together: `x = v_x t* + (v_x − μ v_z) (t − t*)`, whatever the share of the step before it.
#[test]
fn what_slides_on_after_an_impact_is_where_it_hits() {
    let wall = Shape::Box { edges: [20.0, 20.0, 2e-3] };
    let plane = Shape::Plane { normal: Z, offset: 1e-3 };
    for shape in [wall, plane] {
        for (h, v, along, mu) in
            [(1e-3, 100.0, 300.0, 0.5), (5e-3, 5.0, 1.0, 0.0), (1e-2, 2.0, 5.0, 0.3)]
        {
            for k in 0..40 {
                let mut scene = scene(0.0, mu);
                scene.statics.push(StaticSpec::new("wall", shape.clone()));
                let height = 0.05 + 1e-3;
                let start = height + h * v * (1.3 + 0.05 * f64::from(k));
                let body = ball("ball", 0.05, [0.1, 0.03, start], [along, 0.0, -v]);
                scene.bodies.push(body);
                let mut sim = simulation(&scene, h);
                for _ in 0..6 {
                    sim.step().unwrap();
                }
                let (q, now) = state(&sim, "ball");
                within("velocity", (now[0] - (along - mu * v)).abs() + now[2].abs(), 1e-9 * v);
                let hits = (start - height) / v;
                let x = 0.1 + along * hits + (along - mu * v) * (6.0 * h - hits);
                within(&format!("{shape:?} {k}: height"), (q[2] - height).abs(), 1e-9 * start);
                within(&format!("{shape:?} {k}: way"), (q[0] - x).abs(), 1e-9 * x);
            }
        }
    }
}

/// A ball that hits another one without rebound goes on with it from where they met.
#[test]
fn what_goes_on_together_has_met() {
    for (h, v, mass) in [(1e-3, 10.0, 1.0), (5e-3, 2.0, 3.0)] {
        for k in 0..40 {
            let mut scene = scene(0.0, 0.4);
            let gap = h * v * (1.3 + 0.05 * f64::from(k));
            scene.bodies.push(ball("first", 0.05, [-0.1 - gap, 0.0, 0.0], [v, 0.0, 0.0]));
            scene.bodies.push(ball("second", 0.05, [0.0; 3], [0.0; 3]).mass(mass));
            let mut sim = simulation(&scene, h);
            for _ in 0..6 {
                sim.step().unwrap();
            }
            let together = v / (1.0 + mass);
            let x = together * (6.0 * h - gap / v);
            let [first, second] = ["first", "second"].map(|name| state(&sim, name));
            within("velocity", (first.1[0] - together).abs(), 1e-9 * v);
            within(&format!("{k}: second"), (second.0[0] - x).abs(), 1e-9);
            within(&format!("{k}: first"), (first.0[0] - (x - 0.1)).abs(), 1e-9);
        }
    }
}

/// With weight: a ball that lands and slides on ends on the ground in the step in which it hits, and no step gains energy.
#[test]
fn what_lands_is_on_the_ground() {
    for k in 0..60 {
        let mut scene = scene(0.0, 0.2).gravity([0.0, 0.0, -9.81]);
        scene.statics.push(StaticSpec::new("ground", Shape::Plane { normal: Z, offset: 0.0 }));
        let start = 0.05 + 5e-3 * (1.05 + 0.02 * f64::from(k));
        scene.bodies.push(ball("ball", 0.05, [0.0, 0.0, start], [1.0, 0.0, -1.0]));
        let mut sim = simulation(&scene, 5e-3);
        let (mut energy, mut height) = (f64::INFINITY, f64::INFINITY);
        while !sim.done(0.1) {
            sim.step().unwrap();
            let (q, v) = state(&sim, "ball");
            let j = 0.4 * 0.05 * 0.05;
            let now = 0.5 * (v[0] * v[0] + v[2] * v[2] + j * v[4] * v[4]) + 9.81 * q[2];
            assert!(now <= energy + 1e-9, "{k}: {now} after {energy}");
            if v[2] == 0.0 && height > 1.0 {
                height = q[2];
            }
            energy = now;
        }
        // forces alone make a way of h² g/2 in a step
        within(&format!("{k}"), (height - 0.05).abs(), 0.5 * 9.81 * 5e-3 * 5e-3);
    }
}

/// Balls that touch and move on together have relative velocities of round-off alone, which ask for nothing.
#[test]
fn balls_that_go_on_together() {
    for (mass, h) in [(500.0, 1e-4), (0.5, 1e-3), (1.0, 1e-2)] {
        let mut scene = scene(1.0, 0.0);
        for (k, x) in [-1.0, 1.0, 2.0, 3.0, 4.0].into_iter().enumerate() {
            let v = if k == 0 { 1.0 } else { 0.0 };
            let body = ball(&format!("b{k}"), 0.5, [x, 0.0, 0.0], [v, 0.0, 0.0]);
            scene.bodies.push(body.mass(mass));
        }
        let mut sim = simulation(&scene, h);
        while !sim.done(1.2) {
            sim.step().unwrap();
        }
        let v: Vec<f64> = (0..5).map(|k| state(&sim, &format!("b{k}")).1[0]).collect();
        within("momentum", (v.iter().sum::<f64>() - 1.0).abs(), 1e-12);
        within("energy", (v.iter().map(|v| v * v).sum::<f64>() - 1.0).abs(), 1e-12);
        // Newton's law for all contacts at once
        for (v, exact) in v.iter().zip([-0.6, 0.4, 0.4, 0.4, 0.4]) {
            within("velocity", (v - exact).abs(), 1e-12);
        }
    }
}

/// Friction pushes at the surface, wherever the body is when the step begins: a ball that sticks at once keeps 5/7 of its
/// velocity along the ground.
#[test]
fn impulses_act_at_the_surface() {
    for k in 0..20 {
        let mut scene = scene(0.5, 10.0);
        scene.statics.push(StaticSpec::new("ground", Shape::Plane { normal: Z, offset: 0.0 }));
        let height = 0.05 + 0.05 * (1.2 + 0.05 * f64::from(k));
        scene.bodies.push(ball("ball", 0.05, [0.0, 0.0, height], [10.0, 0.0, -10.0]));
        let mut sim = simulation(&scene, 5e-3);
        for _ in 0..3 {
            sim.step().unwrap();
        }
        let (_, v) = state(&sim, "ball");
        within("along the ground", (v[0] - 50.0 / 7.0).abs(), 1e-12);
        within("upwards", (v[2] - 5.0).abs(), 1e-12);
    }
}

/// A velocity that is asked for is there at the end of every step, and the way is its integral.
#[test]
fn a_velocity_that_is_asked_for_does_not_lag() {
    let mut scene = scene(0.0, 0.0);
    scene.bodies.push(ball("cart", 0.1, [0.0; 3], [0.0; 3]));
    let mut link = JointLink::new("rail", Joint::Prismatic { axis: Y }, &["cart"]);
    let v = Given::Formulas(vec!["2*t".to_string()]);
    let motor = Some(MotorSpec::Velocity { v, max_force: f64::INFINITY });
    link.fittings.push(Fitting { motor, ..Fitting::new(Coordinate::Way) });
    scene.joints.push(link);
    let mut sim = simulation(&scene, 1e-2);
    for step in 1..=100 {
        sim.step().unwrap();
        let (t, (q, v)) = (1e-2 * f64::from(step), state(&sim, "cart"));
        within("velocity", (v[1] - 2.0 * t).abs(), 1e-9);
        within("way", (q[1] - t * t).abs(), 1e-9);
    }
}

/// A body that is linked to a system with fewer coordinates than a body has.
#[test]
fn a_body_beside_a_system_of_one_coordinate() {
    let mut scene = scene(0.0, 0.0);
    scene.bodies.push(ball("body", 0.1, [0.0; 3], [0.0; 3]));
    let mut model = scene.model().unwrap();
    let body = model.system_id("body").unwrap();
    let other = LagrangianLinear::new([0.0], [0.0], [[3.0]]).F_ext([1.0]);
    let other = model.add("other", other).unwrap();
    let names = Names { first: ("q", 8), second: ("lam", 1), ..Names::TIME };
    let h = Operator::formulas(1, 1, &["q[0] - q[7]"], &names, &[]).unwrap();
    let tied = LagrangianRelation::new(h);
    model.connect("tie", tied, Law::Equality, &[body, other]).unwrap();
    let mut sim = TimeStepping::new(model, 1e-3, [MoreauJean::default().into()]).unwrap();
    while !sim.done(1.0) {
        sim.step().unwrap();
    }
    // a force of 1 on both masses together
    let (q, v) = state(&sim, "body");
    within("velocity", (v[0] - 0.25).abs(), 1e-9);
    within("way", (q[0] - 0.125).abs(), 1e-6);
}
