//! The two sides of a joint: what stands still may be the first or the second, and nothing changes its
//! meaning with it.

use crate::support::within;
use saltus::mechanics::{
    BodySpec, Coordinate, DriveSpec, Fitting, Follows, Given, Joint, Joint2d, JointLink, Limits,
    MotorSpec, Scene, Shape, StaticSpec,
};
use saltus::model::Body;
use saltus::prelude::*;

const X: [f64; 3] = [1.0, 0.0, 0.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];
const O: [f64; 3] = [0.0; 3];
const ORDERS: [[&str; 2]; 2] = [["bob", "wall"], ["wall", "bob"]];

fn diagonal(moments: [f64; 3]) -> Option<[[f64; 3]; 3]> {
    let [a, b, c] = moments;
    Some([[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]])
}

fn body(name: &str, mass: f64, place: [f64; 3]) -> BodySpec {
    let inertia = diagonal([0.05, 0.07, 0.04].map(|moment| moment * mass));
    BodySpec { inertia, ..BodySpec::without_shape(name).mass(mass).at(place) }
}

fn wall(place: [f64; 3]) -> StaticSpec {
    StaticSpec::new("wall", Shape::Sphere { radius: 0.1 }).at(place)
}

fn force(coordinate: Coordinate, force: f64) -> Fitting {
    let motor = Some(MotorSpec::Force(Given::Numbers(vec![force])));
    Fitting { motor, ..Fitting::new(coordinate) }
}

fn stepped(scene: &Scene, h: f64, steps: usize) -> TimeStepping {
    let model = scene.model().unwrap();
    let mut sim = TimeStepping::new(model, h, [MoreauJean::default().into()]).unwrap();
    for _ in 0..steps {
        sim.step().unwrap();
    }
    sim
}

fn state(sim: &TimeStepping, name: &str) -> Vec<f64> {
    let id = sim.model().system_id(name).unwrap();
    [sim.q(id).unwrap(), sim.v(id).unwrap()].concat()
}

/// Where a bob is after 0.2 s on a joint with motors on its coordinates, held by a wall that stands still
/// or by a body that weighs a million times a million as much.
fn on(wall_moves: bool, joint: Joint, order: [&str; 2]) -> Vec<f64> {
    let mut scene = Scene::new("sides");
    let place = [-0.3, 0.1, 0.2];
    let bob = body("bob", 1.0, [0.4, 0.1, -0.2]);
    // along what the joint allows, or not at all
    scene.bodies.push(match joint {
        Joint::Ball { .. } | Joint::Distance { .. } => bob.moving(O, [1.0, 2.0, 0.5]),
        _ => bob,
    });
    match wall_moves {
        true => scene.bodies.push(body("wall", 1e12, place)),
        false => scene.statics.push(wall(place)),
    }
    let mut link = JointLink::new("joint", joint, &order);
    let of = link.joint.coordinates().iter();
    // a length would be free with a motor, and no swing has a direction at first
    let driven = of.filter(|one| !matches!(one, Coordinate::Length | Coordinate::Swing));
    link.fittings = driven.zip([0.3, -0.2, 0.1]).map(|(one, f)| force(*one, f)).collect();
    scene.joints.push(link);
    state(&stepped(&scene, 1e-3, 200), "bob")
}

/// A joint with what stands still is the joint with a body that cannot be moved, in both orders.
#[test]
fn what_stands_still_is_a_side_like_a_heavy_body() {
    let (point, axis) = ([0.1, -0.2, 0.3], X);
    let kinds = [
        Joint::Ball { point },
        Joint::Pivot { point, axis },
        Joint::Prismatic { axis },
        Joint::Cylindrical { point, axis },
        Joint::Universal { point, axis, second_axis: Y },
        Joint::Planar { point, normal: Z },
        Joint::Fixed,
        Joint::Distance { point, second_point: [0.5, 0.4, -0.1] },
        Joint::Screw { point, axis, pitch: 0.1 },
    ];
    for joint in kinds {
        for order in ORDERS {
            let (heavy, still) = (on(true, joint, order), on(false, joint, order));
            let differ = heavy.iter().zip(&still).map(|(a, b)| (a - b).abs());
            within(&format!("{} of {order:?}", joint.name()), differ.fold(0.0, f64::max), 1e-9);
        }
    }
}

/// The coordinate counts how the first side moves against the second: with the wall first, a force along
/// it drives the bob back, `x = −F t²/2m`, and its least value is the largest way of the bob.
#[test]
fn signs_of_ways() {
    let slide = Joint::Prismatic { axis: X };
    for (order, sign) in ORDERS.into_iter().zip([1.0, -1.0]) {
        let mut scene = Scene::new("slide");
        scene.statics.push(wall([0.0, 0.0, 1.0]));
        scene.bodies.push(body("bob", 2.0, [0.4, 0.0, 0.0]));
        let mut link = JointLink::new("slide", slide, &order);
        link.fittings.push(force(Coordinate::Way, 3.0));
        scene.joints.push(link);
        let x = state(&stepped(&scene, 1e-3, 500), "bob")[0] - 0.4;
        within("way", (x - sign * 0.5 * 1.5 * 0.25).abs(), 1e-12);
        // x between −0.1 and 0.2
        let limits = Some(Limits { lower: -0.1, upper: 0.2, e: 0.0 });
        scene.joints[0].fittings[0].limits = limits;
        for (push, end) in [(3.0, 0.2), (-3.0, -0.1)] {
            scene.joints[0].fittings[0].motor = force(Coordinate::Way, push).motor;
            let sim = stepped(&scene, 1e-3, 1000);
            within("end", (state(&sim, "bob")[0] - 0.4 - sign * end).abs(), 4e-3);
            let limit = sim.model().interaction_id("slide.limit").unwrap();
            let lam = sim.lam(limit);
            let pressed = if push > 0.0 { lam[1] } else { lam[0] };
            within("pressed", (pressed / 1e-3 - 3.0).abs(), 1e-9);
        }
    }
}

/// A turn by a motor, in space and in the plane: with the wall first, the bob turns back.
#[test]
fn signs_of_turns() {
    for (order, sign) in ORDERS.into_iter().zip([1.0, -1.0]) {
        let mut scene = Scene::new("hinge");
        scene.statics.push(wall(O));
        scene.bodies.push(body("bob", 1.0, O));
        let mut link = JointLink::new("hinge", Joint::Pivot { point: O, axis: Z }, &order);
        link.fittings.push(force(Coordinate::Angle, 0.02));
        scene.joints.push(link);
        // J φ̈ = M; a step turns it by 2 atan(h ω/2), which is h² ∫ ω³/12 short of ∫ ω with ω = t/2
        let bob = state(&stepped(&scene, 1e-3, 1000), "bob");
        let short = 1e-6 / 384.0;
        within("turn", (2.0 * bob[6].atan2(bob[3]) - sign * (0.25 - short)).abs(), 1e-12);

        let mut flat = Scene::new("hinge");
        flat.space = Body::Plane;
        let disk = StaticSpec::new("wall", Shape::Disk { radius: 0.1 });
        flat.statics.push(disk);
        flat.bodies.push(body("bob", 1.0, O));
        let mut link = JointLink::new("hinge", Joint2d::Pivot { point: [0.0; 2] }, &order);
        link.fittings.push(force(Coordinate::Angle, 0.02));
        flat.joints.push(link);
        let bob = state(&stepped(&flat, 1e-3, 1000), "bob");
        within("turn in the plane", (bob[2] - sign * 0.25).abs(), 1e-9);
    }
}

/// The point of a distance is that of the first side: one of the ceiling, about which the center of a bob
/// swings while the bob spins as it did.
#[test]
fn the_points_of_a_distance() {
    let (above, center) = ([0.0, 0.0, 1.0], [0.6, 0.0, 0.2]);
    let orders = [(ORDERS[0], center, above), (ORDERS[1], above, center)];
    for (order, point, second_point) in orders {
        let mut scene = Scene::new("pendulum").gravity([0.0, 0.0, -9.81]);
        scene.statics.push(wall(above));
        let mut bob = body("bob", 1.0, center).moving(O, [0.0, 0.0, 3.0]);
        bob.inertia = diagonal([0.05; 3]);
        scene.bodies.push(bob);
        let joint = Joint::Distance { point, second_point };
        scene.joints.push(JointLink::new("string", joint, &order));
        let sim = stepped(&scene, 1e-3, 700);
        let bob = state(&sim, "bob");
        within("length", (bob[0].hypot(bob[2] - 1.0) - 1.0).abs(), 1e-10);
        within("spin", (bob[12] - 3.0).abs(), 1e-10);
        // what it has lost in height it has in speed
        let speed = bob[7].hypot(bob[9]);
        let energy = 0.5 * speed * speed + 9.81 * (bob[2] - 0.2);
        within("energy", energy.abs(), 1e-4);
    }
}

/// Two sliders on a frame, where one joint is written the other way: the ways are of both signs, and so is
/// what follows.
#[test]
fn a_joint_follows_from_either_side() {
    for (order, sign) in ORDERS.into_iter().zip([1.0, -1.0]) {
        let mut scene = Scene::new("sliders");
        scene.statics.push(wall(O));
        scene.bodies.push(body("bob", 1.0, X));
        scene.bodies.push(body("other", 1.0, Y));
        let slide = Joint::Prismatic { axis: X };
        let mut link = JointLink::new("slide", slide, &order);
        link.fittings.push(force(Coordinate::Way, 1.0));
        scene.joints.push(link);
        let mut follower = JointLink::new("follower", slide, &["other", "wall"]);
        follower.follows = Some(Follows { joint: "slide".to_string(), ratio: 0.5 });
        scene.joints.push(follower);
        let sim = stepped(&scene, 1e-3, 500);
        let (bob, other) = (state(&sim, "bob")[0] - 1.0, state(&sim, "other")[0]);
        // m ẍ + m (ẍ/2)/2 = F
        within("driven", (bob - sign * 0.5 * 0.25 / 1.25).abs(), 1e-12);
        within("follows", (other - sign * 0.5 * bob).abs(), 1e-13);
    }
}

/// A joint links something that moves by itself: two that move as they are told are refused.
#[test]
fn sides_that_are_driven() {
    let mut scene = Scene::new("driven");
    let position = Some(Given::Formulas(["sin(t)", "0", "0"].map(str::to_string).to_vec()));
    let drive = Some(DriveSpec { position, ..DriveSpec::default() });
    let other = StaticSpec { name: "other".to_string(), ..wall(O) };
    scene.statics.push(StaticSpec { drive, ..wall(O) });
    scene.statics.push(other);
    scene.joints.push(JointLink::new("hinge", Joint::Ball { point: O }, &["wall", "other"]));
    let error = scene.model().unwrap_err().to_string();
    let expected = "joint `hinge`: a joint links one or two bodies, but what it links stands still or moves as it is told";
    assert_eq!(error, expected);
}
