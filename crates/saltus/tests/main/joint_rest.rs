//! What hangs in joints and rests does so to the last bit; what moves slowly goes on.

use crate::support::within;
use saltus::mechanics::{
    BodySpec, ContactPair, Coordinate, Fitting, Friction, Joint, JointLink, Limits, Scene, Shape,
    StaticSpec,
};
use saltus::prelude::*;

const G: f64 = 9.81;
const INERTIA: [[f64; 3]; 3] = [[0.02, 0.003, 0.0], [0.003, 0.03, 0.0], [0.0, 0.0, 0.04]];

fn simulation(scene: &Scene, h: f64) -> TimeStepping {
    TimeStepping::new(scene.model().unwrap(), h, [MoreauJean::default().into()]).unwrap()
}

fn step(sim: &mut TimeStepping, steps: usize) {
    for _ in 0..steps {
        sim.step().unwrap();
    }
}

/// Places and velocities of all bodies.
fn state(sim: &TimeStepping, scene: &Scene) -> (Vec<f64>, Vec<f64>) {
    let ids = scene.bodies.iter().map(|body| sim.model().system_id(&body.name).unwrap());
    let ids: Vec<_> = ids.collect();
    let q = ids.iter().flat_map(|id| sim.q(*id).unwrap().to_vec()).collect();
    (q, ids.iter().flat_map(|id| sim.v(*id).unwrap().to_vec()).collect())
}

/// An arm of links in space about axes that are no axes of the world, the first one held by the world, with something
/// built into each joint.
fn arm(links: usize, fitting: &dyn Fn(usize) -> Fitting) -> Scene {
    let mut scene = Scene::new("arm").gravity([0.3, -0.2, -G]);
    let mut from = [0.1, 0.2, 0.3];
    for k in 0..links {
        let angle = 0.7 * k as f64;
        let way = [0.3 * angle.cos(), 0.3 * angle.sin(), 0.11];
        let at = [0, 1, 2].map(|i| from[i] + way[i]);
        let mut link =
            BodySpec::without_shape(format!("link{k}")).mass(1.0 + 0.3 * k as f64).at(at);
        link.inertia = Some(INERTIA);
        scene.bodies.push(link);
        let axis = [0.6, 0.3 - 0.1 * k as f64, 0.74];
        let joint = Joint::Pivot { point: from, axis };
        let (own, before) = (format!("link{k}"), format!("link{}", k.saturating_sub(1)));
        let bodies: Vec<&str> = if k == 0 { vec![&own] } else { vec![&before, &own] };
        let mut joint = JointLink::new(format!("joint{k}"), joint, &bodies);
        joint.fittings.push(fitting(k));
        scene.joints.push(joint);
        from = [0, 1, 2].map(|i| at[i] + way[i]);
    }
    scene
}

fn friction(force: f64) -> Option<Friction> {
    Some(Friction { force, stiction: None, rest_speed: 1e-6 })
}

/// An arm that dry friction holds, and one that has fallen onto its limits.
#[test]
fn arms_rest() {
    let held = |_| Fitting { friction: friction(200.0), ..Fitting::new(Coordinate::Angle) };
    let limits = Some(Limits { lower: -0.05, upper: 0.05, e: 0.0 });
    let fallen =
        |_| Fitting { limits, friction: friction(0.05), ..Fitting::new(Coordinate::Angle) };
    for links in [1, 2, 5, 12] {
        let scenes = [("held", arm(links, &held), 2), ("fallen", arm(links, &fallen), 6000)];
        for (name, scene, settled) in scenes {
            let mut sim = simulation(&scene, 1e-3);
            step(&mut sim, settled);
            let (q, v) = state(&sim, &scene);
            let most = v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
            assert!(most == 0.0, "{name}, {links}: {most}");
            step(&mut sim, 500);
            assert_eq!(state(&sim, &scene), (q, v), "{name}, {links}");
        }
    }
}

/// `J φ̈ = m g l sin φ`: what stands upside down, off by no more than round-off leaves to see, falls as it should.
#[test]
fn what_falls_slowly_goes_on() {
    let (J, angle, h) = (1.07, 1e-11, 1e-3);
    let rate = f64::sqrt(G / J);
    for fitting in [None, Some(Limits { lower: -1.0, upper: 1.0, e: 0.0 })] {
        let mut scene = Scene::new("upside down").gravity([0.0, 0.0, -G]);
        let mut bob = BodySpec::without_shape("bob").mass(1.0).at([angle, 0.0, 1.0]);
        bob.inertia = Some([[0.05, 0.0, 0.0], [0.0, 0.07, 0.0], [0.0, 0.0, 0.04]]);
        scene.bodies.push(bob);
        let joint = Joint::Pivot { point: [0.0; 3], axis: [0.0, 1.0, 0.0] };
        let mut link = JointLink::new("pivot", joint, &["bob"]);
        let limits = fitting
            .is_some()
            .then_some(Fitting { limits: fitting, ..Fitting::new(Coordinate::Angle) });
        link.fittings.extend(limits);
        scene.joints.push(link);
        let mut sim = simulation(&scene, h);
        step(&mut sim, 3000);
        let (q, _) = state(&sim, &scene);
        let exact = angle * f64::cosh(3.0 * rate);
        within("it falls", (q[0] / exact - 1.0).abs(), 1e-3);
    }
}

/// What is let go stands still in that moment, and has the velocity of its acceleration after a step.
#[test]
fn what_is_let_go_moves() {
    let (J, h) = (1.07, 1e-3);
    let mut scene = Scene::new("pendulum").gravity([0.0, 0.0, -G]);
    let mut bob = BodySpec::without_shape("bob").mass(1.0).at([1.0, 0.0, 0.0]);
    bob.inertia = Some([[0.05, 0.0, 0.0], [0.0, 0.07, 0.0], [0.0, 0.0, 0.04]]);
    scene.bodies.push(bob);
    let joint = Joint::Pivot { point: [0.0; 3], axis: [0.0, 1.0, 0.0] };
    scene.joints.push(JointLink::new("pivot", joint, &["bob"]));
    let mut sim = simulation(&scene, h);
    step(&mut sim, 1);
    let (_, v) = state(&sim, &scene);
    within("its rate", (v[4] / (h * G / J) - 1.0).abs(), 1e-4);
}

/// A box on the floor and a lid that lies on it, in a hinge: an island with contacts.
#[test]
fn a_lid_rests_on_a_box() {
    let mut scene = Scene::new("lid").gravity([0.0, 0.0, -G]);
    scene.contacts.push(ContactPair::new("default", "default").friction(0.5));
    let floor = Shape::Plane { normal: [0.0, 0.0, 1.0], offset: 0.0 };
    scene.statics.push(StaticSpec::new("floor", floor));
    let cube = Shape::Box { edges: [1.0, 1.0, 1.0] };
    scene.bodies.push(BodySpec::new("box", cube).mass(5.0).at([0.0, 0.0, 0.5]));
    let plate = Shape::Box { edges: [0.9, 0.8, 0.1] };
    scene.bodies.push(BodySpec::new("lid", plate).mass(1.0).at([0.0, 0.0, 1.06]));
    let joint = Joint::Pivot { point: [-0.5, 0.0, 1.06], axis: [0.0, 1.0, 0.0] };
    scene.joints.push(JointLink::new("hinge", joint, &["lid"]));
    let mut sim = simulation(&scene, 1e-3);
    step(&mut sim, 1000);
    let (q, v) = state(&sim, &scene);
    assert!(v.iter().all(|v| *v == 0.0), "{v:?}");
    step(&mut sim, 200);
    assert_eq!(state(&sim, &scene), (q, v));
}
