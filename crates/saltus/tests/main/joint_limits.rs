//! Limits, friction and motors of joints in scenes: second order while nothing changes, and limits that cannot be
//! held are refused.

use crate::support::{order_within, within};
use saltus::mechanics::{
    BodySpec, Coordinate, Fitting, Friction, Given, Joint, JointLink, JointSpec, Limits, MotorSpec,
    Scene,
};
use saltus::model::ModelError;
use saltus::prelude::*;
use std::f64::consts::PI;

const Y: [f64; 3] = [0.0, 1.0, 0.0];
const O: [f64; 3] = [0.0; 3];
const G: f64 = 9.81;
/// Moment of inertia about the pivot: that about the centre, and `m l²` with `m = l = 1`.
const J: f64 = 1.07;
const STEPS: [f64; 3] = [4e-3, 2e-3, 1e-3];

/// A bob at a distance of 1 from a pivot, that turns at this rate, with something built into the pivot.
fn pendulum(gravity: f64, rate: f64, fitting: Option<Fitting>) -> Scene {
    let mut scene = Scene::new("pendulum").gravity([0.0, 0.0, -gravity]);
    let mut bob = BodySpec::without_shape("bob").mass(1.0).at([1.0, 0.0, 0.0]);
    bob.inertia = Some([[0.05, 0.0, 0.0], [0.0, 0.07, 0.0], [0.0, 0.0, 0.04]]);
    // about y: v = ω × r
    scene.bodies.push(bob.moving([0.0, 0.0, -rate], [0.0, rate, 0.0]));
    let mut link = JointLink::new("pivot", Joint::Pivot { point: O, axis: Y }, &["bob"]);
    link.fittings.extend(fitting);
    scene.joints.push(link);
    scene
}

fn limits(lower: f64, upper: f64, e: f64) -> Fitting {
    Fitting { limits: Some(Limits { lower, upper, e }), ..Fitting::new(Coordinate::Angle) }
}

fn simulation(scene: &Scene, h: f64) -> TimeStepping {
    TimeStepping::new(scene.model().unwrap(), h, [MoreauJean::default().into()]).unwrap()
}

fn place(sim: &TimeStepping) -> [f64; 3] {
    let id = sim.model().system_id("bob").unwrap();
    let q = sim.q(id).unwrap();
    [q[0], q[1], q[2]]
}

fn spin(sim: &TimeStepping) -> f64 {
    sim.v(sim.model().system_id("bob").unwrap()).unwrap()[4]
}

/// How far the bob is from where it is after a turn by `angle` about y.
fn off(sim: &TimeStepping, angle: f64) -> f64 {
    let [x, y, z] = place(sim);
    (x - angle.cos()).hypot(y).hypot(z + angle.sin())
}

fn until(sim: &mut TimeStepping, end: f64) {
    while sim.t() < end - 1e-9 {
        sim.step().unwrap();
    }
}

/// `J φ̈ = m g l cos φ` from rest, by the classical Runge–Kutta method in small steps.
fn swing(end: f64) -> f64 {
    let h = 1e-4;
    let pull = |angle: f64| G / J * angle.cos();
    let (mut x, mut w) = (0.0, 0.0);
    for _ in 0..(end / h).round() as usize {
        let (a, b) = (w, pull(x));
        let (c, d) = (w + 0.5 * h * b, pull(x + 0.5 * h * a));
        let (e, f) = (w + 0.5 * h * d, pull(x + 0.5 * h * c));
        let (g, i) = (w + h * f, pull(x + h * e));
        x += h / 6.0 * (a + 2.0 * c + 2.0 * e + g);
        w += h / 6.0 * (b + 2.0 * d + 2.0 * f + i);
    }
    x
}

/// A limit that is not reached changes nothing at all.
#[test]
fn limits_that_are_not_reached() {
    let exact = swing(1.0);
    let mut errors = Vec::new();
    for h in STEPS {
        let mut bare = simulation(&pendulum(G, 0.0, None), h);
        let mut limited = simulation(&pendulum(G, 0.0, Some(limits(-1.0, 3.5, 0.5))), h);
        until(&mut bare, 1.0);
        until(&mut limited, 1.0);
        assert_eq!(place(&bare), place(&limited));
        errors.push((h, off(&limited, exact)));
    }
    within("1 ms", errors[2].1, 5e-6);
    order_within("pendulum with limits", &errors, 1.9..=2.1);
    // ten seconds
    let mut sim = simulation(&pendulum(G, 0.0, Some(limits(-1.0, 3.5, 0.5))), 1e-3);
    until(&mut sim, 10.0);
    let ledger = sim.ledger().unwrap();
    within("energy", (ledger.kinetic + ledger.potential).abs(), 1e-4);
}

/// Two links whose joint is bent as far as it goes, and pressed there as they turn: one body, at one rate.
#[test]
fn a_limit_that_presses() {
    let (rate, at) = (3.0, [1.5, 0.0, 0.4]);
    let mut errors = Vec::new();
    for h in STEPS {
        let mut scene = pendulum(0.0, rate, None);
        let mut other = BodySpec::without_shape("other").mass(2.0).at(at);
        other.inertia = Some([[0.05, 0.0, 0.0], [0.0, 0.07, 0.0], [0.0, 0.0, 0.04]]);
        scene.bodies.push(other.moving([rate * at[2], 0.0, -rate * at[0]], [0.0, rate, 0.0]));
        let joint = Joint::Pivot { point: [1.2, 0.0, 0.0], axis: Y };
        let mut link = JointLink::new("elbow", joint, &["bob", "other"]);
        link.fittings.push(limits(0.0, 1.0, 0.0));
        scene.joints.push(link);
        let mut sim = simulation(&scene, h);
        let before = sim.ledger().unwrap().kinetic;
        until(&mut sim, 1.0);
        let limit = sim.model().interaction_id("elbow.limit").unwrap();
        assert!(sim.lam(limit).iter().any(|lam| *lam > 0.0));
        // what the first step takes, in which the limit begins to press
        let jolt = 0.5 * (rate * h) * (rate * h);
        within("energy", (sim.ledger().unwrap().kinetic / before - 1.0).abs(), jolt);
        errors.push((h, off(&sim, rate)));
    }
    order_within("a limit that presses", &errors, 1.9..=2.1);
}

/// A limit that is hit is not passed, and with `e = 1` the swing comes back.
#[test]
fn a_limit_that_is_hit() {
    let mut sim = simulation(&pendulum(G, 0.0, Some(limits(-1.0, 1.0, 1.0))), 1e-3);
    let limit = sim.model().interaction_id("pivot.limit").unwrap();
    let (mut hits, mut least, mut top) = (0, f64::INFINITY, f64::NEG_INFINITY);
    while sim.t() < 5.0 - 1e-9 {
        sim.step().unwrap();
        let is_hit = sim.lam(limit).iter().any(|lam| *lam > 0.0);
        hits += u32::from(is_hit);
        least = sim.y(limit).iter().fold(least, |least, y| least.min(*y));
        if hits > 3 {
            top = top.max(place(&sim)[2]);
        }
    }
    // 0.49 s from rest to the limit, and as long back
    assert_eq!(hits, 5);
    within("passed", -least, 1e-10);
    within("height", top.abs(), 2e-3);
}

/// Friction that slips, `φ = ω t − M t²/2J`, and holds where it comes to rest.
#[test]
fn friction_slips_and_holds() {
    let (rate, moment) = (3.0, 2.0);
    let friction = Some(Friction { force: moment, stiction: None, rest_speed: 1e-6 });
    let fitting = Fitting { friction, ..Fitting::new(Coordinate::Angle) };
    let stop = J * rate / moment;
    let angle = |t: f64| rate * t - 0.5 * moment / J * t * t;
    let mut errors = [const { Vec::new() }; 2];
    for h in STEPS {
        let mut sim = simulation(&pendulum(0.0, rate, Some(fitting.clone())), h);
        until(&mut sim, 1.0);
        errors[0].push((h, off(&sim, angle(1.0))));
        until(&mut sim, 2.0);
        errors[1].push((h, off(&sim, angle(stop))));
        let held = place(&sim);
        until(&mut sim, 3.0);
        assert_eq!(place(&sim), held);
        assert_eq!(spin(&sim), 0.0);
    }
    within("slips, 1 ms", errors[0][2].1, 1e-5);
    order_within("slips", &errors[0], 1.9..=2.1);
    within("stops, 1 ms", errors[1][2].1, 1e-5);
}

/// A motor that pulls as much as it can, then goes at its rate: `φ = M t²/2J`, then `ω (t − Jω/2M)`.
#[test]
fn a_motor_reaches_its_rate() {
    let (rate, moment) = (2.0, 4.0);
    let motor = MotorSpec::Velocity { v: Given::Numbers(vec![rate]), max_force: moment };
    let fitting = Fitting { motor: Some(motor), ..Fitting::new(Coordinate::Angle) };
    let mut errors = [const { Vec::new() }; 2];
    for h in STEPS {
        let mut sim = simulation(&pendulum(0.0, 0.0, Some(fitting.clone())), h);
        until(&mut sim, 0.4);
        errors[0].push((h, off(&sim, 0.5 * moment / J * 0.16)));
        until(&mut sim, 2.0);
        within("rate", (spin(&sim) - rate).abs(), 1e-12);
        errors[1].push((h, off(&sim, rate * (2.0 - 0.5 * J * rate / moment))));
    }
    within("pulls, 1 ms", errors[0][2].1, 1e-5);
    within("goes, 1 ms", errors[1][2].1, 1e-5);
}

/// Limits that cannot be held are refused, with the joint, the limits and what is found.
#[test]
fn limits_that_cannot_be_held() {
    let model = |joint: Joint, lower: f64, upper: f64| {
        let mut model = Model::new("limits");
        let body = model.add("body", RigidBody::new(1.0, [1.0; 3])).unwrap();
        let spec = JointSpec::new(joint).limits(lower, upper);
        spec.connect(&mut model, "hinge", &[body]).map(|_| ())
    };
    let pivot = Joint::Pivot { point: O, axis: Y };
    let slide = Joint::Prismatic { axis: Y };
    let rope = Joint::Distance { point: O, second_point: [0.0, 2.0, 0.0] };
    let cross = Joint::Universal { point: O, axis: Y, second_axis: [1.0, 0.0, 0.0] };
    let text = |joint, lower, upper| model(joint, lower, upper).unwrap_err().to_string();
    assert_eq!(
        model(pivot, 0.5, 1.5),
        Err(ModelError::OutsideLimits {
            owner: "interaction `hinge`".to_string(),
            joint: "pivot",
            coordinate: "angle",
            lower: 0.5,
            upper: 1.5,
            found: 0.0,
        })
    );
    assert_eq!(
        text(rope, 0.0, 1.5),
        "interaction `hinge`: the length of distance starts at 2, its limits are [0, 1.5]"
    );
    assert!(matches!(model(slide, -2.0, -1.0), Err(ModelError::OutsideLimits { .. })));
    assert!(matches!(model(pivot, -7.0, 7.0), Err(ModelError::LimitsApart { .. })));
    assert!(matches!(model(pivot, -7.0, f64::INFINITY), Err(ModelError::LimitsApart { .. })));
    assert!(matches!(model(cross, -PI, PI), Err(ModelError::LimitsApart { .. })));
    // by round-off, and as far as turns are counted
    assert_eq!(model(pivot, 5e-10, 1.5), Ok(()));
    assert_eq!(model(pivot, -6.2, 6.2), Ok(()));
    assert_eq!(model(cross, -3.0, 3.0), Ok(()));
    assert_eq!(model(slide, -1e3, 1e3), Ok(()));
    assert_eq!(model(rope, 0.0, 2.0), Ok(()));
    // a scene says which of its joints it is
    let error = pendulum(G, 0.0, Some(limits(0.5, 1.5, 0.0))).model().unwrap_err();
    assert_eq!((error.owner.as_str(), error.key), ("joint `pivot`", "limits"));
    let fault = error.fault.to_string();
    assert!(fault.contains("starts at 0, its limits are [0.5, 1.5]"), "{fault}");
}
