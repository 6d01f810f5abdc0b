//! Joints that follow others where both link up to four bodies that move: hands with fingers.

use crate::support::within;
use saltus::mechanics::{
    BodySpec, ContactPair, Coordinate, Fitting, Follows, Given, Joint, Joint2d, JointLink,
    MotorSpec, Scene, Shape, StaticSpec,
};
use saltus::model::rotation::{conjugate, rotate, sub};
use saltus::prelude::*;

const X: [f64; 3] = [1.0, 0.0, 0.0];
const O: [f64; 3] = [0.0; 3];

fn diagonal([a, b, c]: [f64; 3]) -> Option<[[f64; 3]; 3]> {
    Some([[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]])
}

fn body(name: &str, mass: f64, place: [f64; 3]) -> BodySpec {
    let inertia = diagonal([0.05, 0.07, 0.04].map(|moment| moment * mass));
    BodySpec { inertia, ..BodySpec::without_shape(name).mass(mass).at(place) }
}

fn motor(force: &str) -> Fitting {
    let motor = Some(MotorSpec::Force(Given::Formulas(vec![force.to_string()])));
    Fitting { motor, ..Fitting::new(Coordinate::Way) }
}

fn following(joint: &str, ratio: f64) -> Option<Follows> {
    Some(Follows { joint: joint.to_string(), ratio })
}

fn simulation(scene: &Scene, h: f64) -> TimeStepping {
    TimeStepping::new(scene.model().unwrap(), h, [MoreauJean::default().into()]).unwrap()
}

fn state(sim: &TimeStepping, name: &str) -> (Vec<f64>, Vec<f64>) {
    let id = sim.model().system_id(name).unwrap();
    (sim.q(id).unwrap().to_vec(), sim.v(id).unwrap().to_vec())
}

const MASSES: [(&str, f64); 3] = [("hand", 2.0), ("left", 0.3), ("right", 0.5)];
const STARTS: [[f64; 3]; 3] = [[0.2, -0.1, 0.3], [0.1, 0.1, 0.3], [0.3, 0.1, 0.3]];

/// A hand whose fingers slide along x; a force on the left one closes and opens them.
fn hand(force: &str) -> Scene {
    let mut scene = Scene::new("gripper");
    for ((name, mass), place) in MASSES.into_iter().zip(STARTS) {
        scene.bodies.push(body(name, mass, place));
    }
    for name in ["left", "right"] {
        let slide = Joint::Prismatic { axis: X };
        scene.joints.push(JointLink::new(format!("{name} slide"), slide, &[name, "hand"]));
    }
    scene.joints[0].fittings.push(motor(force));
    scene.joints[1].follows = following("left slide", -1.0);
    scene
}

/// The way of a finger on the hand.
fn way(sim: &TimeStepping, finger: usize) -> f64 {
    let ((hand, _), (q, _)) = (state(sim, "hand"), state(sim, MASSES[finger].0));
    let turn = conjugate([hand[3], hand[4], hand[5], hand[6]]);
    let apart = rotate(turn, sub([q[0], q[1], q[2]], [hand[0], hand[1], hand[2]]));
    apart[0] - (STARTS[finger][0] - STARTS[0][0])
}

fn momentum(sim: &TimeStepping) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for (name, mass) in MASSES {
        let (_, v) = state(sim, name);
        (0..3).for_each(|k| sum[k] += mass * v[k]);
    }
    sum
}

/// The fingers of a hand that may move but does not turn: with the masses `M`, `m₁`, `m₂` and the ways `s`, `−s`,
/// `(m₁ + m₂ − (m₁ − m₂)²/(M + m₁ + m₂)) s̈ = F`.
#[test]
fn fingers_of_a_hand_that_is_free_to_move() {
    let mut scene = hand("0.4");
    // the forces of the fingers pass through the center of the hand
    scene.bodies[1].position = [0.1, -0.1, 0.3];
    scene.bodies[2].position = [0.3, -0.1, 0.3];
    let mut sim = simulation(&scene, 1e-3);
    for _ in 0..700 {
        sim.step().unwrap();
    }
    let mass = 0.8 - 0.04 / 2.8;
    let s = 0.4 * 0.7 * 0.7 / (2.0 * mass);
    within("way of the left finger", (way(&sim, 1) - s).abs(), 1e-12);
    within("way of the right finger", (way(&sim, 2) + s).abs(), 1e-12);
    let (hand, _) = state(&sim, "hand");
    within("way of the hand", (hand[0] - 0.2 - 0.2 * s / 2.8).abs(), 1e-12);
}

/// Of a hand that is thrown and spins, fingers stay symmetric over 10⁴ steps, and momentum is what it was.
#[test]
fn fingers_of_a_hand_that_spins() {
    let mut scene = hand("0.5*cos(3*t)");
    let spring = saltus::mechanics::Spring { stiffness: 20.0, damping: 0.0, rest: 0.0 };
    scene.joints[0].fittings[0].spring = Some(spring);
    let omega = [0.4, -0.7, 2.0];
    for (one, place) in scene.bodies.iter_mut().zip(STARTS) {
        let arm = sub(place, STARTS[0]);
        let spin = saltus::model::rotation::cross(omega, arm);
        one.v = [0.3 + spin[0], -0.2 + spin[1], 0.1 + spin[2]];
        one.omega = omega;
    }
    let mut sim = simulation(&scene, 1e-3);
    let before = momentum(&sim);
    let (mut worst, mut most, mut drift) = (0.0_f64, 0.0_f64, 0.0_f64);
    for _ in 0..10_000 {
        sim.step().unwrap();
        let [left, right] = [1, 2].map(|finger| way(&sim, finger));
        worst = worst.max((left + right).abs());
        most = most.max(left.abs());
        let now = momentum(&sim);
        drift = (0..3).fold(drift, |drift, k| drift.max((now[k] - before[k]).abs()));
    }
    within("symmetry", worst, 1e-10);
    within("momentum", drift, 1e-10);
    assert!(most > 0.02, "the fingers move by {most}");
}

/// Energy and angular momentum of a spinning hand in the plane, with fingers that are let go, as the same hand keeps them
/// whose fingers are independent; and on fingers of one mass both are the same.
#[test]
fn energy_is_kept_as_with_ordinary_joints() {
    let drift = |follows: Option<Follows>, masses: [f64; 2]| {
        let mut scene = Scene::new("hand").in_plane();
        let omega = [0.0, 0.0, 3.0];
        for (name, mass, x) in
            [("hand", 2.0, 0.0), ("left", masses[0], -0.2), ("right", masses[1], 0.2)]
        {
            let turning = BodySpec { omega, ..body(name, mass, [x, 0.0, 0.0]) };
            scene.bodies.push(BodySpec { v: [0.1, 0.2 + 3.0 * x, 0.0], ..turning });
        }
        for name in ["left", "right"] {
            let slide = Joint2d::Prismatic { axis: [1.0, 0.0] };
            let mut link = JointLink::new(format!("{name} slide"), slide, &[name, "hand"]);
            let spring = saltus::mechanics::Spring { stiffness: 8.0, damping: 0.0, rest: 0.0 };
            link.fittings.push(Fitting { spring: Some(spring), ..Fitting::new(Coordinate::Way) });
            scene.joints.push(link);
        }
        scene.joints[1].follows = follows;
        let mut sim = simulation(&scene, 1e-3);
        let energy = |sim: &TimeStepping| {
            let ledger = sim.ledger().unwrap();
            ledger.kinetic + ledger.potential
        };
        let angular = |sim: &TimeStepping| {
            let of = |name: &str, mass: f64| {
                let (q, v) = state(sim, name);
                mass * (q[0] * v[1] - q[1] * v[0]) + 0.04 * mass * v[2]
            };
            of("hand", 2.0) + of("left", masses[0]) + of("right", masses[1])
        };
        let (e, l) = (energy(&sim), angular(&sim));
        let mut worst = [0.0_f64; 2];
        for _ in 0..3000 {
            sim.step().unwrap();
            worst[0] = worst[0].max((energy(&sim) - e).abs() / e);
            worst[1] = worst[1].max((angular(&sim) - l).abs() / l);
        }
        worst
    };
    for masses in [[0.4, 0.4], [0.3, 0.5]] {
        let [free, held] = [None, following("left slide", -1.0)].map(|one| drift(one, masses));
        for k in 0..2 {
            assert!(held[k] <= 1.5 * free[k] + 1e-12, "{masses:?}: {held:?}, free {free:?}");
        }
    }
}

/// Chains of joints that follow, and joints of four bodies: `d` follows `c`, which follows what links two others.
#[test]
fn chains_of_four_bodies() {
    let mut scene = Scene::new("chain");
    let places = [O, X, [0.0, 2.0, 0.0], [1.0, 2.0, 0.0], [2.0, 2.0, 0.0]];
    for (name, place) in ["a", "b", "c", "d", "e"].into_iter().zip(places) {
        let omega = [0.3, 0.1, -0.5];
        let one = body(name, 1.0, place);
        scene.bodies.push(match name {
            "a" | "b" => BodySpec { omega, v: [0.0, -0.5 * place[0], -0.1 * place[0]], ..one },
            _ => one,
        });
    }
    let pivot = |point: [f64; 3]| Joint::Pivot { point, axis: [0.0, 0.0, 1.0] };
    let links = [
        ("ab", Joint::Prismatic { axis: X }, ["b", "a"], None),
        ("cd", Joint::Prismatic { axis: X }, ["d", "c"], following("ab", 2.0)),
        ("de", pivot([2.0, 2.0, 0.0]), ["e", "d"], following("cd", -0.7)),
    ];
    for (name, joint, bodies, follows) in links {
        scene.joints.push(JointLink { follows, ..JointLink::new(name, joint, &bodies) });
    }
    scene.joints[0].fittings.push(motor("0.2"));
    let model = scene.model().unwrap();
    let id = model.interaction_id("cd.follows").unwrap();
    assert_eq!(model.interaction(id).unwrap().systems.len(), 4);
    let mut sim = simulation(&scene, 1e-3);
    let mut worst = 0.0_f64;
    for _ in 0..1000 {
        sim.step().unwrap();
        for name in ["cd.follows", "de.follows"] {
            let id = sim.model().interaction_id(name).unwrap();
            worst = worst.max(sim.y(id)[0].abs());
        }
    }
    within("what is followed", worst, 1e-12);
    let between = |a: &str, b: &str| {
        let ((a, _), (b, _)) = (state(&sim, a), state(&sim, b));
        let turn = conjugate([b[3], b[4], b[5], b[6]]);
        let apart = rotate(turn, sub([a[0], a[1], a[2]], [b[0], b[1], b[2]]));
        let turned = saltus::model::rotation::product(turn, [a[3], a[4], a[5], a[6]]);
        (apart[0] - 1.0, 2.0 * turned[3].atan2(turned[0]))
    };
    let (ab, cd, de) = (between("b", "a").0, between("d", "c").0, between("e", "d").1);
    assert!(ab > 0.01, "{ab}");
    within("second", (cd - 2.0 * ab).abs(), 1e-12);
    within("third", (de + 0.7 * cd).abs(), 1e-12);
}

/// A gripper lifts a block between its fingers, and is taken up again from a checkpoint, bit for bit.
#[test]
fn a_gripper_holds_a_block() {
    let mut scene = Scene::new("gripper").gravity([0.0, 0.0, -9.81]);
    scene.contacts.push(ContactPair::new("default", "default").friction(0.6));
    let ground = Shape::Plane { normal: [0.0, 0.0, 1.0], offset: 0.0 };
    scene.statics.push(StaticSpec::new("ground", ground));
    let boxed = |name: &str, mass: f64, edges: [f64; 3], place: [f64; 3]| {
        BodySpec::new(name, Shape::Box { edges }).mass(mass).at(place)
    };
    scene.bodies.push(boxed("hand", 1.0, [0.3, 0.1, 0.05], [0.0, 0.0, 0.3]));
    scene.bodies.push(boxed("left", 0.1, [0.02, 0.08, 0.2], [-0.08, 0.0, 0.15]));
    scene.bodies.push(boxed("right", 0.1, [0.02, 0.08, 0.2], [0.08, 0.0, 0.15]));
    scene.bodies.push(boxed("block", 0.2, [0.08, 0.06, 0.1], [0.0, 0.0, 0.05]));
    let lift = Joint::Prismatic { axis: [0.0, 0.0, 1.0] };
    let mut lift = JointLink::new("lift", lift, &["hand"]);
    let target = Given::Formulas(vec!["0.05*(1 - cos(3*max(t - 0.3, 0)))".to_string()]);
    let motor = MotorSpec::Position { target, stiffness: 4e3, damping: 2e2, max_force: 200.0 };
    lift.fittings.push(Fitting { motor: Some(motor), ..Fitting::new(Coordinate::Way) });
    scene.joints.push(lift);
    for name in ["left", "right"] {
        let slide = Joint::Prismatic { axis: X };
        scene.joints.push(JointLink::new(format!("{name} slide"), slide, &[name, "hand"]));
    }
    scene.joints[1].fittings.push(self::motor("12"));
    scene.joints[2].follows = following("left slide", -1.0);
    let mut sim = simulation(&scene, 2e-3);
    let mut again = simulation(&scene, 2e-3);
    let mut worst = 0.0_f64;
    for step in 0..600 {
        sim.step().unwrap();
        match step {
            250 => again.restore(&sim.checkpoint()).unwrap(),
            251.. => {
                again.step().unwrap();
            }
            _ => {}
        }
        let [left, right, hand] = ["left", "right", "hand"].map(|name| state(&sim, name).0);
        worst = worst.max((left[0] + right[0] - 2.0 * hand[0]).abs());
    }
    within("symmetry", worst, 1e-10);
    let (block, _) = state(&sim, "block");
    let (hand, _) = state(&sim, "hand");
    within("the block hangs in the hand", (block[2] + 0.25 - hand[2]).abs(), 2e-3);
    assert!(block[2] > 0.1, "{block:?}");
    for name in ["hand", "left", "right", "block"] {
        assert_eq!(state(&sim, name), state(&again, name));
    }
}

/// Another scheme takes a condition on three bodies as any other one, and what it does to each is a force of the run.
#[test]
fn other_schemes_with_fingers() {
    let mut scene = Scene::new("hand").in_plane();
    for (name, mass, x) in [("hand", 2.0, 0.0), ("left", 0.3, -0.2), ("right", 0.5, 0.2)] {
        let omega = [0.0, 0.0, 1.0];
        let turning = BodySpec { omega, ..body(name, mass, [x, 0.0, 0.0]) };
        scene.bodies.push(BodySpec { v: [0.1, 0.2 + x, 0.0], ..turning });
    }
    for name in ["left", "right"] {
        let slide = Joint2d::Prismatic { axis: [1.0, 0.0] };
        let link = JointLink::new(format!("{name} slide"), slide, &[name, "hand"]);
        scene.joints.push(link);
    }
    scene.joints[1].follows = following("left slide", -1.0);
    let mut sim = simulation(&scene, 1e-3);
    let mut alpha =
        TimeStepping::new(scene.model().unwrap(), 1e-3, [GeneralizedAlpha::default().into()])
            .unwrap();
    for _ in 0..1000 {
        sim.step().unwrap();
        alpha.step().unwrap();
    }
    for name in ["hand", "left", "right"] {
        let [known, found] = [&alpha, &sim].map(|sim| state(sim, name).0);
        for (found, known) in found.iter().zip(known) {
            within(name, (found - known).abs(), 1e-5);
        }
    }
}

/// What a joint that follows does to each of three bodies is a force of the run: `m a` is the sum of all.
#[test]
fn forces_of_what_follows() {
    let run = simulation(&hand("0.4"), 1e-3).run(0.05).unwrap();
    for (name, mass) in MASSES {
        let v = run.signal(&format!("{name}.v[0]")).unwrap();
        let all = run.forces_on(name).unwrap();
        let own = all.iter().filter(|one| one.source.name() == "right slide.follows");
        assert_eq!(own.count(), 1, "{name}");
        let (force, _) = run.force_on(name).unwrap();
        for k in 1..v.len() {
            let error = force[k][0] - mass * (v[k] - v[k - 1]) / 1e-3;
            assert!(error.abs() < 1e-9, "{name}: {error:e}");
        }
    }
}
