//! Joints: pendulum, top, chains and loops against closed forms and references, and how well they
//! hold.

use crate::support::{Csv, difference, order_within, testdata, within};
use saltus::mechanics::{BodySpec, Follows, Joint, JointLink, Scene};
use saltus::model::rotation;
use saltus::numerics::{AutoSettings, Solver};
use saltus::prelude::*;

const G: [f64; 3] = [0.0, 0.0, -9.81];

fn moreau_jean(projection: Option<Projection>) -> Integrator {
    MoreauJean { projection, ..MoreauJean::default() }.into()
}

fn alpha(rho_inf: f64) -> Integrator {
    let projection = Some(Projection::Ggl);
    GeneralizedAlpha { rho_inf, projection, ..GeneralizedAlpha::default() }.into()
}

/// A body on a pivot with axis y in the origin, let go where it is level with it.
fn pendulum() -> Model {
    let mut model = Model::new("pendulum");
    let body = RigidBody::new(1.0, [0.05; 3]).at([1.0, 0.0, 0.0]).gravity(G);
    let body = model.add("body", body).unwrap();
    let pivot = Joint::Pivot { point: [0.0; 3], axis: [0.0, 1.0, 0.0] };
    model.connect("pivot", pivot, Law::Equality, &[body]).unwrap();
    model
}

/// Largest error of the place of the body, and largest gap of the joint.
fn pendulum_error(integrator: Integrator, h: f64) -> (f64, f64) {
    let csv = Csv::read(&testdata(), "pendulum_pivot/exact.csv");
    let mut sim = TimeStepping::new(pendulum(), h, [integrator]).unwrap();
    let run = sim.run(5.0).unwrap();
    let x = run.signal("body.position").unwrap();
    let error = difference(&csv, "x", h, |k| x[3 * k]).absolute;
    let error = error.max(difference(&csv, "z", h, |k| x[3 * k + 2]).absolute);
    let gap =
        run.signal("pivot.y").unwrap().into_iter().fold(0.0, |most: f64, y| most.max(y.abs()));
    (error, gap)
}

/// Moreau–Jean holds joints at the end of a step: first order, as Siconos is (0.076 at 1 ms).
#[test]
fn a_pendulum_on_a_pivot_by_moreau_and_jean() {
    let mut errors = Vec::new();
    for h in [2e-3, 1e-3, 5e-4] {
        let (error, gap) = pendulum_error(moreau_jean(Some(Projection::Direct)), h);
        within("gap", gap, 1e-13);
        errors.push((h, error));
    }
    order_within("pendulum, moreau-jean", &errors, 0.9..=1.1);
    within("at 1 ms", errors[1].1, 0.08);
}

/// The generalized-α scheme takes joints for part of the smooth motion: second order.
#[test]
fn a_pendulum_on_a_pivot_by_generalized_alpha() {
    let mut errors = Vec::new();
    for h in [5e-3, 2.5e-3, 1.25e-3] {
        let (error, gap) = pendulum_error(alpha(0.9), h);
        within("gap", gap, 1e-13);
        errors.push((h, error));
    }
    order_within("pendulum, generalized-alpha", &errors, 1.9..=2.1);
    within("at 1.25 ms", errors[2].1, 1e-4);
}

/// Every projection keeps a joint closed for a long time.
#[test]
fn joints_do_not_drift_over_a_hundred_thousand_steps() {
    for projection in [Projection::Direct, Projection::Combined, Projection::Ggl] {
        let mut sim = TimeStepping::new(pendulum(), 1e-3, [moreau_jean(Some(projection))]).unwrap();
        let pivot = sim.model().interaction_id("pivot").unwrap();
        let mut worst = 0.0_f64;
        for _ in 0..100_000 {
            sim.step().unwrap();
            worst = sim.y(pivot).iter().fold(worst, |worst, y| worst.max(y.abs()));
        }
        within(&format!("{projection:?}"), worst, 1e-12);
    }
}

/// A body whose center is off the joint, under gravity, thrown and turning.
fn thrown(name: &str, place: [f64; 3], v: [f64; 3], omega: [f64; 3]) -> BodySpec {
    let inertia = [[0.05, 0.0, 0.0], [0.0, 0.07, 0.0], [0.0, 0.0, 0.04]];
    let body = BodySpec { inertia: Some(inertia), ..BodySpec::without_shape(name).mass(1.0) };
    body.at(place).moving(v, omega)
}

/// The largest error of all joints of a scene in a hundred seconds, in steps of a millisecond.
fn drift(bodies: Vec<BodySpec>, joints: Vec<(Joint, &[&str])>) -> f64 {
    let mut scene = Scene::new("drift").gravity(G);
    scene.bodies = bodies;
    for (k, (joint, linked)) in joints.into_iter().enumerate() {
        scene.joints.push(JointLink::new(format!("joint{k}"), joint, linked));
    }
    let mut sim = TimeStepping::new(scene.model().unwrap(), 1e-3, [moreau_jean(None)]).unwrap();
    let names = scene.joints.iter().map(|joint| sim.model().interaction_id(&joint.name).unwrap());
    let names: Vec<_> = names.collect();
    let mut worst = 0.0_f64;
    for _ in 0..100_000 {
        sim.step().unwrap();
        for &name in &names {
            worst = sim.y(name).iter().fold(worst, |worst, y| worst.max(y.abs()));
        }
    }
    worst
}

/// Every kind of joint stays closed for a long time, as scenes have them.
fn check_drift(bodies: Vec<BodySpec>, joints: Vec<(Joint, &[&str])>) {
    within("error of the joints", drift(bodies, joints), 1e-10);
}

const X: [f64; 3] = [1.0, 0.0, 0.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];
const O: [f64; 3] = [0.0; 3];

#[test]
fn balls_and_distances_do_not_drift() {
    let swinging = || vec![thrown("a", [0.4, 0.1, -0.2], [0.0, 1.0, 0.0], [1.0, 2.0, 0.5])];
    check_drift(
        swinging(),
        vec![(Joint::Distance { point: [0.4, 0.1, -0.2], second_point: O }, &["a"])],
    );
    let spinning = vec![thrown("a", [0.4, 0.0, 0.0], O, [3.0, 0.0, 0.0])];
    check_drift(spinning, vec![(Joint::Ball { point: O }, &["a"])]);
}

#[test]
fn pivots_universal_and_fixed_joints_do_not_drift() {
    let universal = Joint::Universal { point: O, axis: X, second_axis: Y };
    check_drift(vec![thrown("a", [0.0, 0.0, -0.4], [0.5, 0.0, 0.0], O)], vec![(universal, &["a"])]);
    let pair = vec![thrown("a", [0.4, 0.0, 0.0], O, O), thrown("b", [0.8, 0.1, 0.0], O, O)];
    let pivot = Joint::Pivot { point: O, axis: Y };
    check_drift(pair, vec![(pivot, &["a"]), (Joint::Fixed, &["a", "b"])]);
}

#[test]
fn joints_with_ways_do_not_drift() {
    let moving = |omega| vec![thrown("a", [0.1, 0.0, -0.2], [0.1, 0.0, 0.0], omega)];
    check_drift(moving(O), vec![(Joint::Prismatic { axis: X }, &["a"])]);
    check_drift(moving(O), vec![(Joint::Cylindrical { point: O, axis: X }, &["a"])]);
    check_drift(moving([0.0, 0.0, 2.0]), vec![(Joint::Planar { point: O, normal: Z }, &["a"])]);
    let screw = Joint::Screw { point: O, axis: X, pitch: 0.05 };
    check_drift(vec![thrown("a", [0.1, 0.3, 0.0], O, O)], vec![(screw, &["a"])]);
}

#[test]
fn gears_and_racks_do_not_drift() {
    let pair = || vec![thrown("a", [0.0, 0.2, 0.0], O, O), thrown("b", [1.0, 0.0, 0.1], O, O)];
    let held = Joint::Pivot { point: O, axis: X };
    let other = Joint::Pivot { point: [1.0, 0.0, 0.0], axis: Y };
    let gear = Joint::Gear { axis: X, second_axis: Y, teeth: [12, 30] };
    check_drift(pair(), vec![(held, &["a"]), (other, &["b"]), (gear, &["a", "b"])]);
    let rack = Joint::Rack { axis: X, direction: Y, radius: 0.1 };
    let way = Joint::Prismatic { axis: Y };
    check_drift(pair(), vec![(held, &["a"]), (way, &["b"]), (rack, &["a", "b"])]);
}

/// Two weights that follow each other as if they hung on a rope over a wheel: `a = g (m₁ − m₂)/(m₁ + m₂)`.
#[test]
fn a_joint_follows_another() {
    let mut scene = Scene::new("Atwood").gravity(G);
    for (name, mass, place) in [("heavy", 3.0, 0.0), ("light", 1.0, 1.0)] {
        let mut body = thrown(name, [place, 0.0, 0.0], O, O);
        body.mass = Some(mass);
        scene.bodies.push(body);
        let rail = JointLink::new(format!("{name} rail"), Joint::Prismatic { axis: Z }, &[name]);
        scene.joints.push(rail);
    }
    scene.joints[1].follows = Some(Follows { joint: "heavy rail".to_string(), ratio: -1.0 });
    let mut sim = TimeStepping::new(scene.model().unwrap(), 1e-3, [moreau_jean(None)]).unwrap();
    let [heavy, light] = ["heavy", "light"].map(|name| sim.model().system_id(name).unwrap());
    for _ in 0..1000 {
        sim.step().unwrap();
    }
    let fallen = 0.5 * 9.81 * (3.0 - 1.0) / (3.0 + 1.0);
    // the first step begins at rest, and impulses act at once
    within("heavy", (sim.q(heavy).unwrap()[2] + fallen).abs(), 1e-3 * fallen);
    within("both", (sim.q(heavy).unwrap()[2] + sim.q(light).unwrap()[2]).abs(), 1e-13);
}

/// An arm whose second link stays upright, since its joint turns back as much as the first turns.
#[test]
fn a_joint_follows_the_one_before_it() {
    let mut scene = Scene::new("arm").gravity(G);
    scene.bodies.push(thrown("upper", [0.3, 0.0, 0.0], O, O));
    scene.bodies.push(thrown("fore", [0.6, 0.0, 0.3], O, O));
    let shoulder = Joint::Pivot { point: O, axis: Y };
    scene.joints.push(JointLink::new("shoulder", shoulder, &["upper"]));
    let elbow = Joint::Pivot { point: [0.6, 0.0, 0.0], axis: Y };
    let mut elbow = JointLink::new("elbow", elbow, &["fore", "upper"]);
    elbow.follows = Some(Follows { joint: "shoulder".to_string(), ratio: -1.0 });
    scene.joints.push(elbow);
    let mut sim = TimeStepping::new(scene.model().unwrap(), 1e-3, [moreau_jean(None)]).unwrap();
    let [upper, fore] = ["upper", "fore"].map(|name| sim.model().system_id(name).unwrap());
    let mut lowest = 0.0_f64;
    for _ in 0..1000 {
        sim.step().unwrap();
        lowest = lowest.min(sim.q(upper).unwrap()[2]);
    }
    within("lowest place of the upper arm", (lowest + 0.3).abs(), 1e-3);
    within("turn of the fore arm", (sim.q(fore).unwrap()[3].abs() - 1.0).abs(), 1e-12);
    // and a third one, on three bodies, turns as the first one does
    scene.bodies.push(thrown("hand", [0.9, 0.0, 0.3], O, O));
    let wrist = Joint::Pivot { point: [0.8, 0.0, 0.3], axis: Y };
    let mut wrist = JointLink::new("wrist", wrist, &["hand", "fore"]);
    wrist.follows = Some(Follows { joint: "shoulder".to_string(), ratio: 1.0 });
    scene.joints.push(wrist);
    let mut sim = TimeStepping::new(scene.model().unwrap(), 1e-3, [moreau_jean(None)]).unwrap();
    let [upper, hand] = ["upper", "hand"].map(|name| sim.model().system_id(name).unwrap());
    for _ in 0..300 {
        sim.step().unwrap();
        let [upper, hand] = [upper, hand].map(|id| sim.q(id).unwrap()[5]);
        assert!((upper - hand).abs() <= 1e-12, "{upper} {hand}");
    }
    assert!(sim.q(upper).unwrap()[5].abs() > 0.1);
    scene.joints[2].follows = Some(Follows { joint: "shoulders".to_string(), ratio: 1.0 });
    let error = scene.model().unwrap_err().to_string();
    assert!(error.contains("did you mean `shoulder`?"), "{error}");
}

/// The heavy top of the reference, on a ball joint in the origin.
fn top() -> Model {
    let (m, l) = (1.0, 0.3);
    let mut model = Model::new("heavy top");
    let tilt = 0.5235987755982988_f64;
    let p = [(0.5 * tilt).cos(), (0.5 * tilt).sin(), 0.0, 0.0];
    let body = RigidBody::new(m, [0.02, 0.02, 0.01])
        .at(rotation::rotate(p, [0.0, 0.0, l]))
        .orientation(p)
        .moving([0.0; 3], [0.0, 0.0, 60.0])
        .gravity(G);
    let body = model.add("top", body).unwrap();
    model.connect("tip", Joint::Ball { point: [0.0; 3] }, Law::Equality, &[body]).unwrap();
    model
}

fn top_error(integrator: Integrator, h: f64) -> f64 {
    let csv = Csv::read(&testdata(), "free_body_and_top/reference_top.csv");
    let mut sim = TimeStepping::new(top(), h, [integrator]).unwrap();
    let run = sim.run(0.6).unwrap();
    let x = run.signal("top.position").unwrap();
    let axis = |i: usize| move |k: usize, x: &[f64]| x[3 * k + i] / 0.3;
    let mut worst = 0.0_f64;
    for (i, name) in ["axis_x", "axis_y", "axis_z"].into_iter().enumerate() {
        let of = axis(i);
        worst = worst.max(difference(&csv, name, h, |k| of(k, &x)).absolute);
    }
    worst
}

/// The axis of the top: first order with Moreau–Jean (Siconos: 0.063 at 1 ms), second with
/// generalized-α.
#[test]
fn the_heavy_top_follows_the_reference() {
    let errors = [2e-3, 1e-3, 5e-4].map(|h| (h, top_error(moreau_jean(Some(Projection::Ggl)), h)));
    order_within("top, moreau-jean", &errors, 0.9..=1.1);
    let errors = [2e-3, 1e-3, 5e-4].map(|h| (h, top_error(alpha(1.0), h)));
    order_within("top, generalized-alpha", &errors, 1.9..=2.2);
    within("at 1 ms", errors[1].1, 5e-3);
}

/// Its axis falls from where it is let go to the closed form of the lowest place, and comes back.
#[test]
fn the_heavy_top_nutates_between_its_bounds() {
    let mut sim = TimeStepping::new(top(), 1e-4, [alpha(1.0)]).unwrap();
    let run = sim.run(0.6).unwrap();
    let x = run.signal("top.position").unwrap();
    let heights: Vec<f64> = x.chunks(3).map(|x| x[2] / 0.3).collect();
    let (lowest, highest) =
        heights.iter().fold((1.0_f64, -1.0_f64), |(low, high), &z| (low.min(z), high.max(z)));
    within("lowest", (lowest + 0.493_847_243_688_319_2).abs(), 1e-4);
    within("highest", (highest - 0.866_025_403_784_438_6).abs(), 1e-4);
}

/// A top that precesses steadily, `ψ̇` from `m g l = (J₃ ω₃ − (J₁ + m l²) ψ̇ cos θ) ψ̇`: the tilt stays.
#[test]
fn steady_precession() {
    let (m, l, g, spin, tilt) = (1.0, 0.3, 9.81, 200.0_f64, 0.6_f64);
    let (J1, J3) = (0.02 + m * l * l, 0.01);
    let cos = tilt.cos();
    let root = ((J3 * spin).powi(2) - 4.0 * J1 * cos * m * g * l).sqrt();
    let rate = (J3 * spin - root) / (2.0 * J1 * cos);
    let p = [(0.5 * tilt).cos(), (0.5 * tilt).sin(), 0.0, 0.0];
    let place = rotation::rotate(p, [0.0, 0.0, l]);
    // ω₃ is the whole spin about the axis of the body
    let turning = rotation::rotate_back(p, [0.0, 0.0, rate]);
    let omega = [turning[0], turning[1], spin];
    let v = rotation::cross(rotation::rotate(p, omega), place);
    let mut model = Model::new("steady top");
    let body = RigidBody::new(m, [0.02, 0.02, J3]).at(place).orientation(p);
    let body = body.moving(v, omega).gravity([0.0, 0.0, -g]);
    let body = model.add("top", body).unwrap();
    model.connect("tip", Joint::Ball { point: [0.0; 3] }, Law::Equality, &[body]).unwrap();
    let mut sim = TimeStepping::new(model, 1e-4, [alpha(1.0)]).unwrap();
    let run = sim.run(1.0).unwrap();
    let x = run.signal("top.position").unwrap();
    let off = x.chunks(3).fold(0.0_f64, |off, x| off.max((x[2] / l - cos).abs()));
    within("tilt", off, 1e-4);
    let last = x.chunks(3).next_back().unwrap();
    let angle = last[0].atan2(-last[1]);
    let turns = (angle - rate).rem_euclid(std::f64::consts::TAU);
    within("precession", turns.min(std::f64::consts::TAU - turns), 2e-3);
}

/// Ten links on pivots whose axes alternate: held together, and energy is kept.
#[test]
fn a_chain_of_pivots() {
    let mut model = Model::new("chain");
    let mut before = None;
    for k in 0..10 {
        let x = 0.2 * f64::from(k);
        let body = RigidBody::cuboid(0.5, [0.2, 0.05, 0.03]).at([x + 0.1, 0.0, 0.0]).gravity(G);
        let body = model.add(&format!("link{k}"), body).unwrap();
        let axis = if k % 2 == 0 { [0.0, 1.0, 0.0] } else { [0.0, 0.6, 0.8] };
        let pivot = Joint::Pivot { point: [x, 0.0, 0.0], axis };
        let name = format!("pivot{k}");
        match before {
            None => model.connect(&name, pivot, Law::Equality, &[body]).unwrap(),
            Some(before) => model.connect(&name, pivot, Law::Equality, &[body, before]).unwrap(),
        };
        before = Some(body);
    }
    let mut errors = Vec::new();
    for h in [2e-3, 1e-3] {
        let mut sim = TimeStepping::new(model.clone(), h, [alpha(1.0)]).unwrap();
        let run = sim.run(1.0).unwrap();
        let energy = |ledger: saltus::sim::Ledger| ledger.kinetic + ledger.potential;
        errors.push((h, energy(sim.ledger().unwrap()).abs()));
        for k in 0..10 {
            let y = run.signal(&format!("pivot{k}.y")).unwrap();
            within("gap", y.iter().fold(0.0, |most: f64, y| most.max(y.abs())), 1e-12);
        }
    }
    within("energy at 1 ms", errors[1].1, 5e-3);
}

/// Bricard's loop: five rods and the ground on six pivots, which by counting could not move; as a scene,
/// whose engine is another one, or not.
fn bricard_as(is_scene: bool) -> Model {
    let corners = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, -1.0, 0.0],
        [1.0, -1.0, 1.0],
        [0.0, -1.0, 1.0],
        [0.0, 0.0, 1.0],
    ];
    let axes = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]];
    let mut model = Model::new("Bricard");
    let mut rods = Vec::new();
    for k in 0..5 {
        let (a, b): ([f64; 3], [f64; 3]) = (corners[k], corners[k + 1]);
        let middle = rotation::scaled(0.5, rotation::add(a, b));
        let along = rotation::sub(b, a);
        // thin about its own axis
        let moments = along.map(|x| if x == 0.0 { 1.0 / 12.0 } else { 1e-4 });
        let rod = RigidBody::new(1.0, moments).at(middle).gravity([0.0, -9.81, 0.0]);
        rods.push(model.add(&format!("rod{k}"), rod).unwrap());
    }
    if is_scene {
        // one more body, which nothing touches
        let mut scene = Scene::new("Bricard");
        let mut idle = BodySpec::without_shape("idle").mass(1.0);
        idle.inertia = Some([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        scene.bodies.push(idle);
        scene.add_bodies(&mut model).unwrap();
        scene.complete(&mut model).unwrap();
    }
    for k in 0..6 {
        let pivot = Joint::Pivot { point: corners[k], axis: axes[k % 3] };
        let systems: Vec<SystemId> = match k {
            0 => vec![rods[0]],
            5 => vec![rods[4]],
            k => vec![rods[k], rods[k - 1]],
        };
        model.connect(&format!("pivot{k}"), pivot, Law::Equality, &systems).unwrap();
    }
    model
}

/// One of its thirty conditions follows from the others. It moves, stays closed, and keeps its energy, also
/// where the solver is asked for more digits.
#[test]
fn a_loop_with_one_condition_too_many() {
    for tol in [1e-8, 1e-10] {
        let solver = Solver::Auto(AutoSettings { tol, ..AutoSettings::default() });
        let model = bricard_as(false);
        let sim = TimeStepping::with_solver(model, 1e-3, [alpha(1.0)], &solver).unwrap();
        follow_bricard(sim, 1e-7);
    }
}

/// The same in a scene, of second order: its energy is kept to (h v)².
#[test]
fn a_loop_with_one_condition_too_many_in_a_scene() {
    for tol in [1e-8, 1e-12] {
        let solver = Solver::Auto(AutoSettings { tol, ..AutoSettings::default() });
        let scheme = [moreau_jean(None)];
        let sim = TimeStepping::with_solver(bricard_as(true), 1e-3, scheme, &solver).unwrap();
        follow_bricard(sim, 5e-3);
    }
}

/// Ten seconds of it.
fn follow_bricard(mut sim: TimeStepping, drift: f64) {
    let run = sim.run(10.0).unwrap();
    for k in 0..6 {
        let y = run.signal(&format!("pivot{k}.y")).unwrap();
        within("gap", y.iter().fold(0.0, |most: f64, y| most.max(y.abs())), 1e-12);
    }
    let ledger = sim.ledger().unwrap();
    let start = -9.81 * (0.0 + 0.5 + 1.0 + 1.0 + 0.5);
    let y = run.signal("rod2.position[1]").unwrap();
    let lowest = y.iter().fold(0.0_f64, |low, y| low.min(*y));
    assert!(lowest < -1.2, "it does not move: {lowest}");
    within("energy", (ledger.kinetic + ledger.potential - start).abs(), drift);
    // joints take nothing
    within("impact", ledger.impact.abs(), 1e-14);
    within("booked", ledger.numerical.abs(), drift);
}

/// What each joint leaves free: a body that is pushed along everything moves along that alone.
#[test]
fn joints_leave_what_they_say() {
    let (point, axis) = ([0.0; 3], [0.0, 0.0, 1.0]);
    let cases: [(Joint, [bool; 6]); 7] = [
        (Joint::Ball { point }, [false, false, false, true, true, true]),
        (Joint::Pivot { point, axis }, [false, false, false, false, false, true]),
        (Joint::Prismatic { axis }, [false, false, true, false, false, false]),
        (Joint::Cylindrical { point, axis }, [false, false, true, false, false, true]),
        (
            Joint::Universal { point, axis, second_axis: [1.0, 0.0, 0.0] },
            [false, false, false, true, false, true],
        ),
        (Joint::Planar { point, normal: axis }, [true, true, false, false, false, true]),
        (Joint::Fixed, [false; 6]),
    ];
    for (joint, free) in cases {
        let mut model = Model::new("pushed");
        let body = RigidBody::new(1.0, [1.0; 3]).force([1.0; 3], Frame::World);
        let body = model.add("body", body.moment([1.0; 3], Frame::World)).unwrap();
        model.connect("joint", joint, Law::Equality, &[body]).unwrap();
        let integrator = moreau_jean(Some(Projection::Ggl));
        let mut sim = TimeStepping::new(model, 1e-2, [integrator]).unwrap();
        sim.step().unwrap();
        let v = sim.v(body).unwrap();
        for k in 0..6 {
            assert_eq!(v[k].abs() > 1e-4, free[k], "{joint:?}: {v:?}");
        }
    }
}

/// A screw turns weight into spin, over many turns: `(m + J (2π/p)²) z̈ = −m g`.
#[test]
fn a_screw_comes_down_turning() {
    let (pitch, m, J) = (0.5, 2.0, 0.3);
    let mut model = Model::new("screw");
    let body = model.add("nut", RigidBody::new(m, [0.2, 0.2, J]).gravity(G)).unwrap();
    let screw = Joint::Screw { point: [0.0; 3], axis: [0.0, 0.0, 1.0], pitch };
    let screw = model.connect("screw", screw, Law::Equality, &[body]).unwrap();
    let integrator = moreau_jean(Some(Projection::Ggl));
    let mut sim = TimeStepping::new(model, 1e-3, [integrator]).unwrap();
    sim.run(3.0).unwrap();
    let lead = std::f64::consts::TAU / pitch;
    let a = m * 9.81 / (m + J * lead * lead);
    let (q, v) = (sim.q(body).unwrap(), sim.v(body).unwrap());
    within("height", (q[2] + 4.5 * a).abs(), 1e-9);
    within("spin", (v[5] + lead * 3.0 * a).abs(), 1e-9);
    within("gap", sim.y(screw).iter().fold(0.0, |most: f64, y| most.max(y.abs())), 1e-12);
    assert!(q[2] < -2.0 * pitch, "several turns: {}", q[2]);
}

/// Two wheels with 10 and 35 teeth under a moment on the first, for many turns.
#[test]
fn gears_turn_as_their_teeth_say() {
    let mut model = Model::new("gears");
    let axis = [0.0, 0.0, 1.0];
    let small = RigidBody::new(1.0, [0.1; 3]).moment([0.0, 0.0, 1.0], Frame::Body);
    let small = model.add("small", small).unwrap();
    let large = model.add("large", RigidBody::new(1.0, [0.4; 3]).at([1.0, 0.0, 0.0])).unwrap();
    for (name, body, x) in [("a", small, 0.0), ("b", large, 1.0)] {
        let pivot = Joint::Pivot { point: [x, 0.0, 0.0], axis };
        model.connect(name, pivot, Law::Equality, &[body]).unwrap();
    }
    let gear = Joint::Gear { axis, second_axis: axis, teeth: [10, 35] };
    let gear = model.connect("gear", gear, Law::Equality, &[small, large]).unwrap();
    let integrator = moreau_jean(Some(Projection::Direct));
    let mut sim = TimeStepping::new(model, 1e-3, [integrator]).unwrap();
    sim.run(5.0).unwrap();
    let ratio = 10.0 / 35.0;
    let rate = 5.0 / (0.1 + ratio * ratio * 0.4);
    within("small", (sim.v(small).unwrap()[5] - rate).abs(), 1e-9);
    within("large", (sim.v(large).unwrap()[5] + ratio * rate).abs(), 1e-9);
    within("gap", sim.y(gear)[0].abs(), 1e-12);
}

/// Two balls on a rod without mass turn about each other at their distance.
#[test]
fn a_distance_between_two_bodies() {
    let mut model = Model::new("dumbbell");
    let ball = |x: f64, v: f64| {
        RigidBody::ball(1.0, 0.1).at([x, 0.0, 0.0]).moving([0.0, v, 0.0], [0.0; 3])
    };
    let a = model.add("a", ball(1.0, 2.0)).unwrap();
    let b = model.add("b", ball(-1.0, -2.0)).unwrap();
    let rod = Joint::Distance { point: [1.0, 0.0, 0.0], second_point: [-1.0, 0.0, 0.0] };
    let rod = model.connect("rod", rod, Law::Equality, &[a, b]).unwrap();
    let mut errors = Vec::new();
    for h in [4e-3, 2e-3, 1e-3] {
        let mut sim = TimeStepping::new(model.clone(), h, [alpha(1.0)]).unwrap();
        sim.run(3.0).unwrap();
        let q = sim.q(a).unwrap();
        let (sin, cos) = 6.0_f64.sin_cos();
        errors.push((h, (q[0] - cos).abs().max((q[1] - sin).abs())));
        within("distance", sim.y(rod)[0].abs(), 1e-13);
    }
    order_within("place", &errors, 1.9..=2.1);
}
