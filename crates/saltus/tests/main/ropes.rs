//! Distance joints with limits: ropes and struts; what is built into gears and racks.

use crate::support::within;
use saltus::io::model_file::{ModelFile, scene_text};
use saltus::mechanics::{
    BodySpec, Coordinate, Fitting, Follows, Given, Joint, Joint2d, JointLink, JointSpec, Limits,
    Motor, Scene, Shape, StaticSpec,
};
use saltus::prelude::*;
use saltus::sim::{EventDriven, EventKind, Projection, Run};

const G: f64 = 9.81;
const X: [f64; 3] = [1.0, 0.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];
const O: [f64; 3] = [0.0; 3];

/// A mass that starts 0.6 beside the anchor of a rope of length 1 falls freely until it is 0.8 below it.
fn taut_after() -> f64 {
    (2.0 * 0.8 / G).sqrt()
}

/// The speed across the rope when it goes taut, and along it.
fn speeds() -> [f64; 2] {
    [0.6 * G * taut_after(), 0.8 * G * taut_after()]
}

fn falling_model(e: f64) -> Model {
    let mut model = Model::new("rope");
    let mass = RigidBody2d::new(2.0, 0.1).at([0.6, 0.0], 0.0).gravity([0.0, -G]);
    let mass = model.add("mass", mass).unwrap();
    let rope = Joint2d::Distance { point: [0.6, 0.0], second_point: [0.0; 2] };
    let rope = JointSpec::new(rope).limits(0.0, 1.0).restitution(e);
    rope.connect(&mut model, "rope", &[mass]).unwrap();
    model
}

/// It falls freely, the rope goes taut at the known instant, takes the radial part of the speed, and then
/// it swings on a circle.
#[test]
fn a_mass_falls_into_its_rope() {
    let mut sim = EventDriven::new(falling_model(0.0)).unwrap();
    let run = sim.run(0.8).unwrap();
    let impact = run.events.iter().find(|event| event.kind == EventKind::Impact).unwrap();
    within("instant", (impact.time - taut_after()).abs(), 1e-9);
    let (q, v) = (run.signal("mass.position").unwrap(), run.signal("mass.v").unwrap());
    let t = &run.frames.time;
    let [across, _] = speeds();
    for k in 0..t.len() {
        let (x, z) = (q[2 * k], q[2 * k + 1]);
        let (length, speed) = (x.hypot(z), v[2 * k].hypot(v[2 * k + 1]));
        if t[k] < impact.time {
            within("free fall", (z + 0.5 * G * t[k] * t[k]).abs(), 1e-9);
        } else if t[k] > impact.time {
            within("taut", (length - 1.0).abs(), 1e-8);
            // v²/2 + g z is that of the speed across the rope
            let energy = 0.5 * speed * speed + G * z;
            within("energy", (energy - (0.5 * across * across - G * 0.8)).abs(), 1e-6);
        }
    }
}

/// With restitution the radial part of the speed comes back, and the other one stays.
#[test]
fn a_rope_that_rebounds() {
    let mut sim = EventDriven::new(falling_model(0.5)).unwrap();
    let until = taut_after() + 1e-6;
    sim.run(until).unwrap();
    let mass = sim.model().system_id("mass").unwrap();
    let v = sim.v(mass).unwrap();
    let [across, along] = speeds();
    within("along", (0.6 * v[0] - 0.8 * v[1] + 0.5 * along).abs(), 1e-4);
    within("across", (0.8 * v[0] + 0.6 * v[1] + across).abs(), 1e-4);
}

/// The same scene in steps, by a rope whose first side is the ceiling; and again from its text.
fn falling_scene() -> Scene {
    let mut scene = Scene::new("rope").gravity([0.0, 0.0, -G]);
    let ceiling = StaticSpec::new("ceiling", Shape::Sphere { radius: 0.01 });
    scene.statics.push(ceiling);
    let mass = BodySpec::without_shape("mass").mass(2.0).at([0.6, 0.0, 0.0]);
    let inertia = Some([[0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]]);
    scene.bodies.push(BodySpec { inertia, ..mass });
    let rope = Joint::Distance { point: O, second_point: [0.6, 0.0, 0.0] };
    let mut rope = JointLink::new("rope", rope, &["ceiling", "mass"]);
    let limits = Some(Limits { lower: 0.0, upper: 1.0, e: 0.0 });
    rope.fittings.push(Fitting { limits, ..Fitting::new(Coordinate::Length) });
    scene.joints.push(rope);
    scene
}

fn run(model: Model, h: f64, until: f64) -> Run {
    let mut sim = TimeStepping::new(model, h, [MoreauJean::default().into()]).unwrap();
    sim.run(until).unwrap()
}

#[test]
fn a_rope_in_a_scene() {
    let (scene, h) = (falling_scene(), 1e-4);
    let run_of = run(scene.model().unwrap(), h, 0.8);
    let (q, v) = (run_of.signal("mass.position").unwrap(), run_of.signal("mass.v").unwrap());
    let lam = run_of.signal("rope.lam").unwrap();
    let [across, along] = speeds();
    let first = lam.iter().position(|lam| *lam > 0.0).unwrap();
    within("instant", (run_of.frames.time[first] - taut_after()).abs(), 2.0 * h);
    within("impulse", (lam[first] - 2.0 * along).abs(), 1e-2);
    let last = run_of.frames.time.len() - 1;
    for k in first..=last {
        within("length", (q[3 * k].hypot(q[3 * k + 2]) - 1.0).abs(), 2e-3);
    }
    let energy = 0.5 * (v[3 * last].powi(2) + v[3 * last + 2].powi(2)) + G * q[3 * last + 2];
    within("energy", (energy - (0.5 * across * across - G * 0.8)).abs(), 2e-2);

    // a scene file says the same, and what is saved of it
    let file = ModelFile::parse(SCENE, "rope.toml", &[]).unwrap();
    let text = scene_text(&file.scene.unwrap(), &file.simulation).unwrap();
    for text in [SCENE, &text] {
        let again = ModelFile::parse(text, "rope.toml", &[]).unwrap();
        assert_eq!(run(again.model, h, 0.8).signal("mass.position").unwrap(), q, "{text}");
    }
}

const SCENE: &str = r#"
title = "rope"
[simulation]
h = 1e-4
until = 0.8
[scene]
gravity = [0, 0, -9.81]
[[static]]
name = "ceiling"
shape = { kind = "sphere", radius = 0.01 }
[[body]]
name = "mass"
mass = 2
inertia = [0.1, 0.1, 0.1]
position = [0.6, 0, 0]
[[joint]]
name = "rope"
kind = "distance"
bodies = ["ceiling", "mass"]
point = [0, 0, 0]
second_point = [0.6, 0, 0]
limits = [0, 1]
"#;

/// The same from a model file.
#[test]
fn a_rope_in_a_model_file() {
    let text = r#"
title = "rope"
[simulation]
strategy = "event-driven"
until = 0.8
[[system]]
name = "mass"
kind = "rigid-body-2d"
position = [0.6, 0]
mass = 2
inertia = 0.1
gravity = [0, -9.81]
[[interaction]]
name = "rope"
systems = ["mass"]
relation = { kind = "distance-2d", point = [0.6, 0], second_point = [0, 0], limits = [0, 1] }
law = "equality"
"#;
    let file = ModelFile::parse(text, "rope.toml", &[]).unwrap();
    let mut sim = EventDriven::new(file.model).unwrap();
    let run = sim.run(0.8).unwrap();
    let impact = run.events.iter().find(|event| event.kind == EventKind::Impact).unwrap();
    within("instant", (impact.time - taut_after()).abs(), 1e-9);
}

/// A strut pushes and does not pull: a ball on it stands at its least length, and may be lifted.
#[test]
fn a_strut() {
    let strut = |force: f64| {
        let mut model = Model::new("strut");
        let body = RigidBody2d::new(2.0, 0.1).at([0.0, 1.0], 0.0).gravity([0.0, -G]);
        let body = model.add("ball", body.force([0.0, force], Frame::World)).unwrap();
        let joint = Joint2d::Distance { point: [0.0, 1.0], second_point: [0.0; 2] };
        let strut = JointSpec::new(joint).limits(1.0, f64::INFINITY);
        strut.connect(&mut model, "strut", &[body]).unwrap();
        run(model, 1e-3, 1.0)
    };
    let stands = strut(0.0);
    within("length", (stands.signal("ball.position[1]").unwrap()[1000] - 1.0).abs(), 1e-12);
    within("force", (stands.signal("strut.lam").unwrap()[1000] / 1e-3 - 2.0 * G).abs(), 1e-9);
    let lifted = strut(2.0 * G + 1.0);
    within("lifted", (lifted.signal("ball.v[1]").unwrap()[1000] - 0.5).abs(), 1e-9);
}

/// A rope may start slack in its anchor, where it has no direction; it breaks under the force of all that
/// is built into its length.
#[test]
fn a_rope_breaks() {
    let mut model = Model::new("rope");
    let mass = RigidBody2d::new(2.0, 0.1).gravity([0.0, -G]);
    let mass = model.add("mass", mass).unwrap();
    let rope = Joint2d::Distance { point: [0.0; 2], second_point: [0.0; 2] };
    let rope = JointSpec::new(rope).limits(0.0, 0.5).spring(4.0, 0.0, 0.0).break_force(100.0);
    rope.connect(&mut model, "rope", &[mass]).unwrap();
    let run = run(model, 1e-3, 1.0);
    let event = run.events.iter().find(|event| event.name == "rope.break").unwrap();
    // m z̈ = m g − k z from rest: z = m g/k (1 − cos ωt)
    let omega = 2.0_f64.sqrt();
    let taut = (1.0 - 0.5 * 4.0 / (2.0 * G)).acos() / omega;
    within("instant", (event.time - taut).abs(), 3e-3);
    assert_eq!(event.changes.len(), 2);
}

/// A rope over a wheel without mass: one length follows the other from where both start.
#[test]
fn lengths_that_follow() {
    let mut scene = Scene::new("Atwood").gravity([0.0, 0.0, -G]);
    for (name, mass, x, z) in [("heavy", 3.0, 0.0, -1.0), ("light", 1.0, 1.0, -2.0)] {
        let body = BodySpec::without_shape(name).mass(mass).at([x, 0.0, z]);
        let inertia = Some([[0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]]);
        scene.bodies.push(BodySpec { inertia, ..body });
        let rope = Joint::Distance { point: [x, 0.0, z], second_point: [x, 0.0, 0.0] };
        let mut rope = JointLink::new(format!("{name} rope"), rope, &[name]);
        let limits = Some(Limits { lower: 0.0, upper: 10.0, e: 0.0 });
        rope.fittings.push(Fitting { limits, ..Fitting::new(Coordinate::Length) });
        scene.joints.push(rope);
    }
    scene.joints[1].follows = Some(Follows { joint: "heavy rope".to_string(), ratio: -1.0 });
    let run = run(scene.model().unwrap(), 1e-3, 0.5);
    let z = run.signal("heavy.position[2]").unwrap();
    within("fallen", (z[500] + 1.0 + 0.5 * 0.5 * G * 0.25).abs(), 2e-3);
    let other = run.signal("light.position[2]").unwrap();
    within("both", (z[500] + other[500] + 3.0).abs(), 1e-12);
    // a length that is held follows nothing
    scene.joints[1].fittings.clear();
    let error = scene.model().unwrap_err().to_string();
    assert!(error.contains("one of the two holds its length"), "{error}");
}

/// Two wheels with moments 0.2 and 0.6, and 10 and 20 teeth.
fn wheels(spec: JointSpec, moment: Operator) -> Model {
    let mut model = Model::new("wheels");
    let wheel = |moment: f64, place: f64| RigidBody::new(1.0, [moment; 3]).at([place, 0.0, 0.0]);
    let mut first = wheel(0.2, 0.0);
    first.moment = Some(moment);
    let first = model.add("first", first).unwrap();
    let second = model.add("second", wheel(0.6, 1.0)).unwrap();
    for (name, id, x) in [("axle", first, 0.0), ("other axle", second, 1.0)] {
        let axle = Joint::Pivot { point: [x, 0.0, 0.0], axis: Z };
        model.connect(name, axle, Law::Equality, &[id]).unwrap();
    }
    spec.connect(&mut model, "gear", &[first, second]).unwrap();
    model
}

const GEAR: Joint = Joint::Gear { axis: Z, second_axis: Z, teeth: [10, 20] };

fn moment(of: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Operator {
    Operator::vector_of_time(3, move |t, out| {
        out.fill(0.0);
        out[2] = of(t);
    })
}

/// A gear has the turns of its wheels for coordinates, and one load, which breaks it by either word.
#[test]
fn what_is_built_into_a_gear() {
    // τ = (J₁ + J₂/4) φ̈
    let whole = 0.2 + 0.6 / 4.0;
    let constant = |value: f64| Operator::constant(1, 1, vec![value]);
    let motor = JointSpec::new(GEAR).motor(Motor::Force(constant(0.7)));
    let run_of = run(wheels(motor, moment(|_| 0.0)), 1e-3, 0.5);
    let spin = |run: &Run, name: &str| run.signal(&format!("{name}.omega[2]")).unwrap();
    within("first", (spin(&run_of, "first")[500] - 0.5 * 0.7 / whole).abs(), 1e-9);
    within("second", (spin(&run_of, "second")[500] + 0.25 * 0.7 / whole).abs(), 1e-9);
    // the moment on the first wheel is J₂/4 φ̈
    let bound = 0.5;
    let specs = [JointSpec::new(GEAR).break_force(bound), JointSpec::new(GEAR).break_moment(bound)];
    for spec in specs {
        let run_of = run(wheels(spec, moment(|t| 2.0 * t)), 1e-3, 1.0);
        let event = run_of.events.iter().find(|event| event.name == "gear.break").unwrap();
        within("breaks", (event.time - bound * whole / (0.6 / 4.0) / 2.0).abs(), 2e-3);
    }
}

/// The second wheel turns back until its limit, and the first one with it: in a scene.
#[test]
fn limits_of_a_gear() {
    let mut scene = Scene::new("wheels");
    for (name, moment) in [("first", 0.2), ("second", 0.6)] {
        let body = BodySpec::without_shape(name).mass(1.0);
        let inertia = Some([[moment, 0.0, 0.0], [0.0, moment, 0.0], [0.0, 0.0, moment]]);
        scene.bodies.push(BodySpec { inertia, ..body });
        let axle = Joint::Pivot { point: O, axis: Z };
        scene.joints.push(JointLink::new(format!("{name} axle"), axle, &[name]));
    }
    scene.bodies[0].moment = Some(Given::Numbers(vec![0.0, 0.0, 0.7]));
    let mut gear = JointLink::new("gear", GEAR, &["first", "second"]);
    let limits = Some(Limits { lower: -0.1, upper: f64::INFINITY, e: 0.0 });
    gear.fittings.push(Fitting { limits, ..Fitting::new(Coordinate::SecondAngle) });
    scene.joints.push(gear);
    let run = run(scene.model().unwrap(), 1e-3, 2.0);
    within("limit", run.signal("gear.second_angle_limit.y").unwrap()[2000].abs(), 1e-3);
    within("still", run.signal("first.omega[2]").unwrap()[2000].abs(), 1e-9);
    // 0.7 on the first wheel is 1.4 on the second
    let lam = run.signal("gear.second_angle_limit.lam").unwrap();
    within("moment", (lam[2000] / 1e-3 - 1.4).abs(), 1e-9);
}

/// The same outside scenes, where all velocities are then zero but for round-off: with and without rebound, whatever
/// brings positions back. A rack likewise, whose way ends.
#[test]
fn limits_of_gears_and_racks_outside_scenes() {
    let ends = |e: f64| {
        let gear = JointSpec::new(GEAR).on(Coordinate::SecondAngle).limits(-0.1, f64::INFINITY);
        let gear = wheels(gear.restitution(e), moment(|_| 0.7));
        let mut rack = Model::new("rack");
        let pinion = RigidBody::new(1.0, [0.1; 3]);
        let pinion = rack.add("pinion", RigidBody { moment: Some(moment(|_| 0.7)), ..pinion });
        let pinion = pinion.unwrap();
        let bar = rack.add("rack", RigidBody::new(2.0, [1.0; 3]).at([0.0, -0.2, 0.0])).unwrap();
        let axle = Joint::Pivot { point: O, axis: Z };
        rack.connect("axle", axle, Law::Equality, &[pinion]).unwrap();
        rack.connect("slide", Joint::Prismatic { axis: X }, Law::Equality, &[bar]).unwrap();
        let teeth = Joint::Rack { axis: Z, direction: X, radius: 0.2 };
        let teeth = JointSpec::new(teeth).on(Coordinate::Way).limits(-1.0, 0.1).restitution(e);
        teeth.connect(&mut rack, "teeth", &[pinion, bar]).unwrap();
        // 0.7 on the first wheel is 1.4 on the second, 0.7 on the pinion 3.5 on the rack
        [(gear, "gear.second_angle_limit", 0, 1.4), (rack, "teeth.way_limit", 1, 3.5)]
    };
    let projections = [Projection::Direct, Projection::Combined, Projection::Ggl].map(Some);
    for e in [0.0, 0.5] {
        for projection in [None].into_iter().chain(projections) {
            for (model, limit, row, force) in ends(e) {
                let moreau = MoreauJean { projection, ..MoreauJean::default() };
                let mut sim = TimeStepping::new(model, 1e-3, [moreau.into()]).unwrap();
                let limit = sim.model().interaction_id(limit).unwrap();
                let mut pressed = 0.0;
                for step in 0..3000 {
                    sim.step().unwrap();
                    if step >= 2000 {
                        pressed += sim.lam(limit)[row];
                    }
                }
                within("limit", sim.y(limit)[row].abs(), 1e-3);
                // with rebound and a projection it presses in every other step
                within("mean force", (pressed - force).abs(), if e == 0.0 { 1e-9 } else { 1e-2 });
            }
        }
    }
}

/// A rack has the turn of its pinion and the way of its rack.
#[test]
fn what_is_built_into_a_rack() {
    let mut model = Model::new("rack");
    let pinion = model.add("pinion", RigidBody::new(1.0, [0.1; 3])).unwrap();
    let rack = model.add("rack", RigidBody::new(2.0, [1.0; 3]).at([0.0, -0.2, 0.0])).unwrap();
    let axle = Joint::Pivot { point: O, axis: Z };
    model.connect("axle", axle, Law::Equality, &[pinion]).unwrap();
    model.connect("slide", Joint::Prismatic { axis: X }, Law::Equality, &[rack]).unwrap();
    let teeth = Joint::Rack { axis: Z, direction: X, radius: 0.2 };
    let force = Operator::constant(1, 1, vec![3.0]);
    let spec = JointSpec::new(teeth).on(Coordinate::Way).motor(Motor::Force(force));
    spec.connect(&mut model, "teeth", &[pinion, rack]).unwrap();
    let run = run(model, 1e-3, 0.5);
    // F = (m + J/r²) ẍ
    let v = 0.5 * 3.0 / (2.0 + 0.1 / 0.04);
    within("rack", (run.signal("rack.v[0]").unwrap()[500] - v).abs(), 1e-9);
    within("pinion", (run.signal("pinion.omega[2]").unwrap()[500] - v / 0.2).abs(), 1e-9);
}
