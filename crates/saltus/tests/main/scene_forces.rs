//! Springs, dampers and motors that give a force, in scenes whose contacts are found: closed forms, the same
//! joints with contacts that are given, and where their energy goes.

use crate::support::{order_within, within};
use saltus::io::model_file::ModelFile;
use saltus::mechanics::{
    BodySpec, Bushing, ContactPair, Coordinate, Fitting, Given, Joint, Joint2d, JointLink,
    JointSpec, MotorSpec, Scene, Shape, Spring, SpringDamper, StaticSpec,
};
use saltus::model::{ModelError, Names};
use saltus::numerics::AutoSettings;
use saltus::prelude::*;
use saltus::sim::{Ledger, SimError};

const X: [f64; 3] = [1.0, 0.0, 0.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];
const SLIDE: Joint = Joint::Prismatic { axis: Z };
const G: f64 = 9.81;

/// A ground on which contacts are found, friction 0.5.
fn scene() -> Scene {
    let mut scene = Scene::new("forces");
    scene.contacts.push(ContactPair::new("default", "default").friction(0.5));
    let ground = Shape::Plane { normal: Z, offset: 0.0 };
    scene.statics.push(StaticSpec::new("ground", ground));
    scene
}

/// A ball with mass 2 and moments 0.5.
fn ball(name: &str, position: [f64; 3]) -> BodySpec {
    let mut body = BodySpec::new(name, Shape::Sphere { radius: 0.1 }).at(position).mass(2.0);
    body.inertia = Some([[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]]);
    body
}

fn link(joint: Joint, bodies: &[&str], fitting: Fitting) -> JointLink {
    let mut link = JointLink::new("joint", joint, bodies);
    link.fittings.push(fitting);
    link
}

fn spring(coordinate: Coordinate, stiffness: f64, damping: f64, rest: f64) -> Fitting {
    let spring = Some(Spring { stiffness, damping, rest });
    Fitting { spring, ..Fitting::new(coordinate) }
}

fn motor(coordinate: Coordinate, motor: MotorSpec) -> Fitting {
    Fitting { motor: Some(motor), ..Fitting::new(coordinate) }
}

fn force(formula: &str) -> MotorSpec {
    MotorSpec::Force(Given::Formulas(vec![formula.to_string()]))
}

/// One ball over the ground on a joint to the world.
fn on_joint(joint: Joint, position: [f64; 3], fitting: Fitting) -> Scene {
    let mut scene = scene();
    scene.bodies.push(ball("body", position));
    scene.joints.push(link(joint, &["body"], fitting));
    scene
}

fn stepping(model: Model, h: f64) -> TimeStepping {
    TimeStepping::new(model, h, [MoreauJean::default().into()]).unwrap()
}

fn simulation(scene: &Scene, h: f64) -> TimeStepping {
    stepping(scene.model().unwrap(), h)
}

fn v(sim: &TimeStepping, name: &str) -> Vec<f64> {
    sim.v(sim.model().system_id(name).unwrap()).unwrap().to_vec()
}

fn q(sim: &TimeStepping, name: &str) -> Vec<f64> {
    sim.q(sim.model().system_id(name).unwrap()).unwrap().to_vec()
}

fn energy(ledger: &Ledger) -> f64 {
    ledger.kinetic + ledger.potential
}

/// `z = r + e^{−δt} (…)`: second order, as the same joint with contacts that are given, and where the energy
/// goes to round-off.
#[test]
fn a_slider_on_a_spring() {
    let (k, c, m) = (200.0, 3.0, 2.0);
    let (decay, rate) = (c / (2.0 * m), (k / m - f64::powi(c / (2.0 * m), 2)).sqrt());
    let exact = |t: f64| {
        let swing = (rate * t).cos() + decay / rate * (rate * t).sin();
        2.3 - 0.3 * (-decay * t).exp() * swing
    };
    let scene = on_joint(SLIDE, [0.0, 0.0, 2.0], spring(Coordinate::Way, k, c, 0.3));
    let mut given = Model::new("given");
    let body = RigidBody::new(m, [0.5; 3]).at([0.0, 0.0, 2.0]);
    let body = given.add("body", body).unwrap();
    let spec = JointSpec::new(SLIDE).spring(k, c, 0.3);
    spec.connect(&mut given, "joint", &[body]).unwrap();
    let mut errors = Vec::new();
    for h in [4e-3, 2e-3, 1e-3] {
        let mut found = simulation(&scene, h);
        let mut same = stepping(given.clone(), h);
        let (mut worst, mut apart) = (0.0_f64, 0.0_f64);
        while found.t() < 2.0 - 1e-9 {
            found.step().unwrap();
            same.step().unwrap();
            let (z, other) = (q(&found, "body")[2], q(&same, "body")[2]);
            worst = worst.max((z - exact(found.t())).abs());
            apart = apart.max((z - other).abs());
        }
        errors.push((h, worst));
        within("as with given contacts", apart, 1e-8);
        let ledger = found.ledger().unwrap();
        within("energy", (energy(&ledger) + ledger.damping - 0.5 * k * 0.09).abs(), 1e-12);
        within("nothing else", ledger.work.abs() + ledger.contact().abs(), 1e-12);
        within("numerical", ledger.numerical.abs(), 1e-12);
        assert!(ledger.damping > 5.0, "{ledger:?}");
    }
    order_within("slider", &errors, 1.9..=2.1);
}

/// A pendulum with a spring and a damper in its hinge, beside `J φ¨ = −m g l sin φ − k φ − c φ˙` by Runge and
/// Kutta: second order.
#[test]
fn a_pendulum_with_a_spring() {
    let (k, c, l) = (6.0, 0.4, 0.8);
    let J = 0.5 + 2.0 * l * l;
    let turn = |[phi, omega]: [f64; 2]| {
        [omega, (-2.0 * G * l * phi.sin() - k * (phi + 0.5) - c * omega) / J]
    };
    let mut exact = [1.0, 0.0];
    let h = 1e-4;
    for _ in 0..10_000 {
        let go = |slope: [f64; 2], h: f64| [0, 1].map(|i| exact[i] + h * slope[i]);
        let a = turn(exact);
        let b = turn(go(a, 0.5 * h));
        let c = turn(go(b, 0.5 * h));
        let d = turn(go(c, h));
        exact = [0, 1].map(|i| exact[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
    }
    let place = [l * f64::sin(1.0), 0.0, 2.0 - l * f64::cos(1.0)];
    let hinge = Joint::Pivot { point: [0.0, 0.0, 2.0], axis: [0.0, -1.0, 0.0] };
    // the angle of the joint is zero at the start
    let scene =
        on_joint(hinge, place, spring(Coordinate::Angle, k, c, -1.5)).gravity([0.0, 0.0, -G]);
    let errors = [4e-3, 2e-3, 1e-3].map(|h| {
        let mut sim = simulation(&scene, h);
        sim.run(1.0).unwrap();
        let x = q(&sim, "body");
        let phi = x[0].atan2(2.0 - x[2]);
        (h, (phi - exact[0]).abs())
    });
    order_within("pendulum", &errors, 1.9..=2.1);
    within("at 1 ms", errors[2].1, 1e-5);
}

/// A moment of the body itself swings it as the spring in its hinge does, also where its velocity turns.
#[test]
fn a_spring_is_as_good_as_a_moment() {
    let swing = |in_hinge: bool| {
        let mut scene = scene();
        (scene.space, scene.statics) = (saltus::model::Body::Plane, Vec::new());
        let mut arm = BodySpec::new("arm", Shape::Disk { radius: 0.01 }).mass(0.05);
        arm.position = [0.05, 0.0, 0.0];
        arm.inertia = Some([[0.0; 3], [0.0; 3], [0.0, 0.0, 4.2e-5]]);
        let mut hinge = JointLink::new("hinge", Joint2d::Pivot { point: [0.0; 2] }, &["arm"]);
        match in_hinge {
            true => hinge.fittings.push(spring(Coordinate::Angle, 4.0, 0.0, 0.9)),
            false => arm.moment = Some(Given::Formulas(vec!["4*(0.9 - q[2])".to_string()])),
        }
        scene.bodies.push(arm);
        scene.joints.push(hinge);
        let mut sim = simulation(&scene, 1e-4);
        sim.run(0.2).unwrap().signal("arm.angle").unwrap()
    };
    let (own, other) = (swing(false), swing(true));
    let most = own.iter().fold(0.0_f64, |most, x| most.max(*x));
    within("swings", (most - 1.8).abs(), 1e-3);
    let apart = own.iter().zip(&other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    // the moment is taken where the arm would be without its hinge
    within("alike", apart, 5e-3);
}

/// `ω˙ = τ/J`, and the work of the motor is the kinetic energy.
#[test]
fn a_moment_turns_a_wheel() {
    let hinge = Joint::Pivot { point: [0.0, 0.0, 2.0], axis: Z };
    let scene = on_joint(hinge, [0.0, 0.0, 2.0], motor(Coordinate::Angle, force("3*t^2")));
    let errors = [2e-3, 1e-3].map(|h| {
        let mut sim = simulation(&scene, h);
        sim.run(1.0).unwrap();
        let ledger = sim.ledger().unwrap();
        within("work", (ledger.work - ledger.kinetic).abs(), 1e-12);
        let shown = sim.lam(sim.model().interaction_id("joint.motor").unwrap())[0] / h;
        within("as recorded", (shown - 3.0).abs(), 6.5 * h);
        (h, (v(&sim, "body")[5] - 2.0).abs())
    });
    order_within("moment of time", &errors, 1.9..=2.1);
    let scene = on_joint(hinge, [0.0, 0.0, 2.0], motor(Coordinate::Angle, force("1.5")));
    let mut sim = simulation(&scene, 1e-2);
    sim.run(1.0).unwrap();
    within("constant", (v(&sim, "body")[5] - 3.0).abs(), 1e-12);
}

/// Springs and dampers that are stiff beyond all measure do not blow up, with and without contacts.
#[test]
fn what_is_stiff_stays() {
    for (k, c) in [(1e12, 0.0), (1e12, 1e4), (1e3, 1e9), (0.0, 1e12), (1e-9, 0.0)] {
        let scene = on_joint(SLIDE, [0.0, 0.0, 2.0], spring(Coordinate::Way, k, c, 0.3));
        let mut sim = simulation(&scene, 1e-2);
        for _ in 0..1000 {
            sim.step().unwrap();
            let z = q(&sim, "body")[2] - 2.0;
            assert!((-1e-9..=0.6 + 1e-9).contains(&z), "k = {k}, c = {c}: {z} at {}", sim.t());
        }
        let ledger = sim.ledger().unwrap();
        assert!(energy(&ledger) <= 0.5 * k * 0.09 * (1.0 + 1e-9), "{ledger:?}");
        // pressed to the ground
        let mut scene = on_joint(SLIDE, [0.0, 0.0, 0.2], spring(Coordinate::Way, k, c, -0.3));
        scene.gravity = [0.0, 0.0, -G];
        let mut sim = simulation(&scene, 1e-2);
        for _ in 0..300 {
            sim.step().unwrap();
            let z = q(&sim, "body")[2];
            assert!(z > 0.1 - 1e-6, "k = {k}, c = {c}: {z} at {}", sim.t());
        }
    }
}

/// A car on two wheels: `(M + 2 m + 2 J/r²) a = 2 τ/r` while they roll, `a = μ g` where both slip.
#[test]
fn driven_wheels_roll_and_slip() {
    let (M, m, J, r) = (10.0, 1.0, 0.02, 0.2);
    let drive = |torque: f64| {
        let mut scene = Scene::new("car").in_plane().gravity([0.0, -G, 0.0]);
        scene.contacts.push(ContactPair::new("default", "default").friction(0.5));
        let ground = Shape::Plane { normal: Y, offset: 0.0 };
        scene.statics.push(StaticSpec::new("ground", ground));
        let mut car = BodySpec::without_shape("car").at([0.0, 0.2, 0.0]).mass(M);
        let about = |J: f64| Some([[J, 0.0, 0.0], [0.0, J, 0.0], [0.0, 0.0, J]]);
        car.inertia = about(1.0);
        scene.bodies.push(car);
        for (name, x) in [("rear", -0.5), ("front", 0.5)] {
            let wheel = BodySpec::new(name, Shape::Disk { radius: r }).at([x, r, 0.0]).mass(m);
            scene.bodies.push(BodySpec { inertia: about(J), ..wheel });
            let axle = Joint2d::Pivot { point: [x, r] };
            let mut axle = JointLink::new(format!("{name} axle"), axle, &[name, "car"]);
            axle.fittings.push(motor(Coordinate::Angle, force(&format!("-{torque}"))));
            scene.joints.push(axle);
        }
        let mut sim = simulation(&scene, 1e-3);
        sim.run(1.0).unwrap();
        sim
    };
    let torque = 3.0;
    let sim = drive(torque);
    let a = 2.0 * torque / r / (M + 2.0 * m + 2.0 * J / (r * r));
    assert!(a < 0.5 * G);
    within("rolls", (v(&sim, "car")[0] - a).abs(), 1e-6);
    within("turns", (v(&sim, "rear")[2] + a / r).abs(), 1e-5);
    let ledger = sim.ledger().unwrap();
    within("work of the motors", (ledger.work - ledger.kinetic).abs(), 1e-6);
    within("no slip", ledger.friction.abs() + ledger.impact.abs(), 1e-6);

    let sim = drive(10.0);
    within("slips", (v(&sim, "car")[0] - 0.5 * G).abs(), 1e-6);
    // J ω˙ = τ − μ N r, of both together
    let both = v(&sim, "rear")[2] + v(&sim, "front")[2];
    let spin = (20.0 - 0.5 * (M + 2.0 * m) * G * r) / J;
    within("spins", (both + spin).abs() / spin, 1e-6);
    let ledger = sim.ledger().unwrap();
    assert!(ledger.friction > 0.0);
    within("closed", ledger.numerical.abs() / ledger.work, 1e-9);
}

/// A ball that rests is left alone until its motor bears its weight, and then rises: `m z¨ = f − m g`.
#[test]
fn a_motor_lifts_what_rests() {
    let mut scene = on_joint(SLIDE, [0.0, 0.0, 0.1], motor(Coordinate::Way, force("20*t")));
    scene.gravity = [0.0, 0.0, -G];
    let mut sim = simulation(&scene, 1e-3);
    let start = 2.0 * G / 20.0;
    while sim.t() < start - 1e-3 {
        sim.step().unwrap();
        within("rests", (q(&sim, "body")[2] - 0.1).abs(), 1e-12);
    }
    sim.run(2.0).unwrap();
    let t = 2.0 - start;
    within("rises", (v(&sim, "body")[2] - 5.0 * t * t).abs(), 2e-5);
}

/// A weight on a moving spring leaves the ground where the spring bears it.
#[test]
fn a_drive_lifts_what_rests() {
    let target = Given::Formulas(vec!["0.2*t".to_string()]);
    let drive =
        MotorSpec::Position { target, stiffness: 400.0, damping: 40.0, max_force: f64::INFINITY };
    let mut scene = on_joint(SLIDE, [0.0, 0.0, 0.1], motor(Coordinate::Way, drive));
    scene.gravity = [0.0, 0.0, -G];
    let mut sim = simulation(&scene, 1e-3);
    // k 0.2 t + c 0.2 = m g
    let start = (2.0 * G - 40.0 * 0.2) / (400.0 * 0.2);
    sim.run(start - 2e-3).unwrap();
    within("rests", (q(&sim, "body")[2] - 0.1).abs(), 1e-12);
    sim.run(4.0).unwrap();
    within("follows", (v(&sim, "body")[2] - 0.2).abs(), 1e-6);
    within("behind", (q(&sim, "body")[2] - 0.1 - 0.8 + 2.0 * G / 400.0).abs(), 1e-6);
    let ledger = sim.ledger().unwrap();
    let gained = energy(&ledger) - 2.0 * G * 0.1;
    within("work", (ledger.work - ledger.contact() - gained).abs(), 1e-9);
}

/// A place as far as the largest force allows: first with all it has, then there.
#[test]
fn a_drive_with_a_largest_force() {
    let drive = MotorSpec::Position {
        target: Given::Numbers(vec![1.0]),
        stiffness: 1e4,
        damping: 1e4,
        max_force: 1.0,
    };
    let hinge = Joint::Pivot { point: [0.0, 0.0, 2.0], axis: Z };
    let scene = on_joint(hinge, [0.0, 0.0, 2.0], motor(Coordinate::Angle, drive));
    let mut sim = simulation(&scene, 1e-3);
    sim.run(0.2).unwrap();
    within("saturated", (v(&sim, "body")[5] - 0.4).abs(), 1e-9);
    sim.run(30.0).unwrap();
    within("at rest", v(&sim, "body")[5].abs(), 1e-9);
}

/// Two balls on a spring over the ground keep their momentum and swing at `√(2 k/m)`; on the ground friction
/// holds them below `μ m g`, and no more above it.
#[test]
fn a_spring_between_two_bodies() {
    let two = |z: f64| {
        let mut scene = scene().gravity([0.0, 0.0, -G]);
        scene.bodies.push(ball("a", [0.0, 0.0, z]));
        scene.bodies.push(ball("b", [1.0, 0.0, z]));
        scene
    };
    let between = |scene: &Scene, k: f64, rest: f64, h: f64| {
        let mut model = scene.model().unwrap();
        let systems = ["a", "b"].map(|name| model.system_id(name).unwrap());
        let [a, b] = [0, 1].map(|i| scene.bodies[i].position);
        let spring = SpringDamper::new(a, b, k, 0.0).rest(rest);
        model.connect("spring", spring, Law::Equality, &systems).unwrap();
        stepping(model, h)
    };
    let mut flying = two(20.0);
    flying.gravity = [0.0; 3];
    let errors = [4e-3, 2e-3].map(|h| {
        let mut sim = between(&flying, 100.0, 0.8, h);
        sim.run(1.0).unwrap();
        let (a, b) = (v(&sim, "a"), v(&sim, "b"));
        within("momentum", (a[0] + b[0]).abs(), 1e-13);
        let length = q(&sim, "b")[0] - q(&sim, "a")[0];
        (h, (length - 0.8 - 0.2 * (100.0_f64).sqrt().cos()).abs())
    });
    order_within("flying", &errors, 1.9..=2.1);

    // pushed with k 0.05 against μ m g = 9.81
    let mut held = between(&two(0.1), 190.0, 1.05, 1e-3);
    held.run(1.0).unwrap();
    // they roll: friction does not hold a ball
    assert!(v(&held, "a")[0] != 0.0);
    let mut scene = two(0.1);
    for (body, x) in scene.bodies.iter_mut().zip([0.0, 1.0]) {
        let cube = Shape::Box { edges: [0.2; 3] };
        *body = BodySpec::new(body.name.clone(), cube).at([x, 0.0, 0.1]).mass(2.0);
    }
    let mut held = between(&scene, 190.0, 1.05, 1e-3);
    held.run(1.0).unwrap();
    within("held", (q(&held, "b")[0] - 1.0).abs() + q(&held, "a")[0].abs(), 1e-9);
    let mut let_go = between(&scene, 210.0, 1.05, 1e-3);
    let_go.run(1.0).unwrap();
    let way = q(&let_go, "b")[0] - 1.0;
    // half a swing: (k 0.05 − μ m g)/k, twice, both ends alike
    within("slides", (way - (0.05 - 0.5 * 2.0 * G / 210.0)).abs(), 1e-5);
    within("alike", (way + q(&let_go, "a")[0]).abs(), 1e-7);
}

/// All of it in one scene: the same bits for any number of threads.
#[test]
fn threads_do_not_change_a_bit() {
    let recorded = |threads: usize| {
        let mut scene = scene().gravity([0.0, 0.0, -G]);
        for k in 0..8 {
            let (name, x) = (format!("ball{k}"), 0.21 * k as f64);
            scene.bodies.push(ball(&name, [x, 0.003 * k as f64, 0.12 + 0.01 * k as f64]));
            if k % 2 == 1 {
                let slide = Joint::Prismatic { axis: X };
                let other = format!("ball{}", k - 1);
                let fitting = spring(Coordinate::Way, 500.0, 1.0, 0.02);
                let mut slide = link(slide, &[&name, &other], fitting);
                slide.fittings[0].motor = Some(force("5*sin(30*t)"));
                slide.name = format!("slide{k}");
                scene.joints.push(slide);
            }
        }
        let solver = Solver::Auto(AutoSettings { threads, ..AutoSettings::default() });
        let integrator = [MoreauJean::default().into()];
        let model = scene.model().unwrap();
        let mut sim = TimeStepping::with_solver(model, 1e-3, integrator, &solver).unwrap();
        sim.run(0.2).unwrap().frames.rows
    };
    assert_eq!(recorded(1), recorded(2));
}

/// A spring that breaks with its joint takes its energy with it: the ledger stays closed.
#[test]
fn a_spring_breaks_with_its_joint() {
    let mut scene = on_joint(SLIDE, [0.0, 0.0, 2.0], spring(Coordinate::Way, 50.0, 0.0, 0.3));
    scene.bodies[0].v = [0.0; 3];
    scene.bodies[0].force = Some(Given::Formulas(vec!["20*t".into(), "0".into(), "0".into()]));
    scene.joints[0].break_force = Some(10.0);
    let mut sim = simulation(&scene, 1e-3);
    let run = sim.run(1.0).unwrap();
    assert!(run.events.iter().any(|event| event.name == "joint.break"), "{:?}", run.events);
    let ledger = sim.ledger().unwrap();
    assert_eq!(ledger.potential, 0.0);
    within("closed", ledger.numerical.abs(), 1e-9);
    // straight on after it
    let before = v(&sim, "body")[2];
    sim.run(1.5).unwrap();
    within("free", (v(&sim, "body")[2] - before).abs(), 1e-12);
}

/// A bushing and a damper of a file, between a body of the scene and the world.
#[test]
fn springs_of_a_scene_file() {
    let text = r#"
        [simulation]
        h = 1e-3
        until = 1.0
        [scene]
        gravity = [0, 0, 0]
        [[contact]]
        materials = ["default", "default"]
        [[static]]
        name = "ground"
        shape = { kind = "plane", normal = [0, 0, 1] }
        [[body]]
        name = "body"
        shape = { kind = "sphere", radius = 0.1 }
        mass = 2
        inertia = [[0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5]]
        position = [0, 0, 2]
        v = [1, 0, 0]
        omega = [0, 0, 2]
        [[body]]
        name = "wheel"
        shape = { kind = "sphere", radius = 0.1 }
        mass = 2
        inertia = [[0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5]]
        position = [1, 0, 2]
        omega = [0, 0, 4]
        [[joint]]
        name = "axle"
        kind = "pivot"
        bodies = ["wheel"]
        point = [1, 0, 2]
        axis = [0, 0, 1]
        spring = { stiffness = 0, damping = 0.25 }
        [[interaction]]
        name = "mount"
        systems = ["body"]
        relation = { kind = "bushing", point = [0, 0, 2], stiffness = [50, 0, 0, 0, 0, 8], damping = [0, 0, 0, 0, 0, 0] }
        law = "equality"
    "#;
    let ModelFile { model, .. } = ModelFile::parse(text, "scene.toml", &[]).unwrap();
    let mut sim = stepping(model, 1e-3);
    sim.run(1.0).unwrap();
    within("along", (q(&sim, "body")[0] - 0.2 * 5.0_f64.sin()).abs(), 2e-5);
    within("about", (v(&sim, "body")[5] - 2.0 * 4.0_f64.cos()).abs(), 2e-5);
    // ω = ω₀ exp(−c t/J), of first order
    within("damper", (v(&sim, "wheel")[5] - 4.0 * (-0.5_f64).exp()).abs(), 1e-3);
}

/// What makes no sense is said with the key, and what gives way without being a spring is refused.
#[test]
fn bad_springs_are_refused() {
    let wrong = [
        (spring(Coordinate::Way, -1.0, 0.0, 0.0), "stiffness"),
        (spring(Coordinate::Way, 0.0, 0.0, 0.0), "stiffness"),
        (spring(Coordinate::Way, 1.0, f64::NAN, 0.0), "damping"),
        (spring(Coordinate::Angle, 1.0, 0.0, 0.0), "angle"),
        (motor(Coordinate::Way, force("t +")), "motor"),
    ];
    for (fitting, key) in wrong {
        let error = on_joint(SLIDE, [0.0, 0.0, 2.0], fitting).model().unwrap_err();
        assert!(error.to_string().contains(key), "{key}: {error}");
    }
    let mut model =
        on_joint(SLIDE, [0.0, 0.0, 2.0], Fitting::new(Coordinate::Way)).model().unwrap();
    let body = model.system_id("body").unwrap();
    let bushing = Bushing::new([0.0; 3], [0.0; 6], [0.0; 6]);
    assert!(matches!(bushing.connect(&mut model, "none", &[body]), Err(ModelError::Range { .. })));
    // a contact that gives way in steps is no spring between bodies
    let names = Names { first: ("q", 7), second: ("lam", 1), ..Names::TIME };
    let gap = Operator::formula("[q[2] + 1e-3*lam[0]]", &names, &[]).unwrap();
    let soft = LagrangianCompliant::new(gap);
    model.connect("soft", soft, Law::Complementarity, &[body]).unwrap();
    let refused = TimeStepping::new(model, 1e-3, [MoreauJean::default().into()]);
    assert!(matches!(refused, Err(SimError::Unsuited { what: "the relation", .. })));
}
