//! Joints and limits among bodies that find contacts.

use crate::closed_forms::{G, simulation};
use crate::finder::{Scene, Shape};
use saltus_linalg::Matrix;
use saltus_model::rotation::{Vector, add, matrix, multiply, rotate, skew, sub};
use saltus_model::{
    At, Law, Linked, ModelError, OperatorError, Order, Relation, RigidBody, SystemId, Terms,
};
use saltus_sim::TimeStepping;

/// A point of a body stays on a point of another one, or of the world.
#[derive(Debug)]
struct Ball {
    own: Vector,
    other: Vector,
    two: bool,
}

impl Ball {
    fn halves(q: &[f64]) -> (Vector, [f64; 4]) {
        ([q[0], q[1], q[2]], [q[3], q[4], q[5], q[6]])
    }
}

impl Relation for Ball {
    fn order(&self) -> Order {
        Order::Second
    }
    fn size(&self) -> usize {
        3
    }
    fn terms(&self) -> Terms {
        Terms::default()
    }
    fn is_in_velocities(&self) -> bool {
        true
    }
    fn output(&self, at: At<'_>, y: &mut [f64]) -> Result<(), OperatorError> {
        let (x, p) = Ball::halves(at.first);
        let other = match self.two {
            true => {
                let (x, p) = Ball::halves(&at.first[7..]);
                add(x, rotate(p, self.other))
            }
            false => self.other,
        };
        y.copy_from_slice(&sub(add(x, rotate(p, self.own)), other));
        Ok(())
    }
    fn output_dx(&self, at: At<'_>, H: &mut Matrix) -> Result<(), OperatorError> {
        H.reset(3, if self.two { 12 } else { 6 });
        for (side, sign) in [(0, 1.0), (1, -1.0)] {
            if side == 1 && !self.two {
                continue;
            }
            let (_, p) = Ball::halves(&at.first[7 * side..]);
            let turn = multiply(&matrix(p), &skew(if side == 0 { self.own } else { self.other }));
            for i in 0..3 {
                H[(i, 6 * side + i)] = sign;
                for j in 0..3 {
                    H[(i, 6 * side + 3 + j)] = -sign * turn[i][j];
                }
            }
        }
        Ok(())
    }
    fn output_dlam(&self, _: At<'_>, D: &mut Matrix) -> Result<(), OperatorError> {
        D.reset(3, 3);
        Ok(())
    }
    fn output_dt(&self, _: At<'_>, rate: &mut [f64]) -> Result<(), OperatorError> {
        rate.fill(0.0);
        Ok(())
    }
    fn check(&self, _: &str, _: Linked<'_>) -> Result<(), ModelError> {
        Ok(())
    }
}

const LENGTH: f64 = 0.2;

const MASS: f64 = 0.5;

/// Rods on ball joints, horizontal at first, the first one fixed in the origin. Without a radius they
/// touch nothing.
fn chain(scene: &mut Scene, links: usize, height: f64, radius: Option<f64>) -> Vec<SystemId> {
    let mut ids: Vec<SystemId> = Vec::new();
    for k in 0..links {
        let x = [(k as f64 + 0.5) * LENGTH, 0.0, height];
        let rod = RigidBody::cuboid(MASS, [LENGTH, 0.03, 0.02]).at(x).gravity([0.0, 0.0, -G]);
        let name = format!("rod{k}");
        let id = match radius {
            Some(radius) => scene.add(&name, rod, Shape::Sphere(radius)),
            None => scene.model.add(&name, rod).unwrap(),
        };
        let (own, tip) = ([-0.5 * LENGTH, 0.0, 0.0], [0.5 * LENGTH, 0.0, 0.0]);
        let name = format!("joint{k}");
        match ids.last() {
            None => {
                let joint = Ball { own, other: [0.0, 0.0, height], two: false };
                scene.model.connect(&name, joint, Law::Equality, &[id]).unwrap();
            }
            Some(&last) => {
                let joint = Ball { own, other: tip, two: true };
                scene.model.connect(&name, joint, Law::Equality, &[id, last]).unwrap();
            }
        }
        ids.push(id);
    }
    ids
}

/// Kinetic and potential energy.
fn energy(sim: &TimeStepping) -> f64 {
    let ledger = sim.ledger().unwrap();
    ledger.kinetic + ledger.potential
}

/// The largest defect of any joint.
fn defect(sim: &TimeStepping, links: usize) -> f64 {
    let mut most = 0.0_f64;
    for k in 0..links {
        let id = sim.model().interaction_id(&format!("joint{k}")).unwrap();
        most = sim.y(id).iter().fold(most, |most, y| most.max(y.abs()));
    }
    most
}

/// What changes the energy of a step of joints alone: positions that are put back by `O((Ω h)³)` lengths,
/// in a field of gravity, and the part of the velocity that leads off the joints, `O((Ω h)²)` of it, whose
/// energy is only lost. `Ω` is that of the fastest link, or of a free swing. These bounds hold for any
/// motion, so that they do not depend on where a chaotic one goes.
#[test]
fn a_chain_swings_without_drift() {
    let (links, h) = (5, 1e-3);
    let mut scene = Scene::new(Law::impact_friction(0.0, 0.3));
    let ids = chain(&mut scene, links, 0.0, None);
    let mut sim = simulation(scene, h);
    let fastest = |sim: &TimeStepping| {
        let turns = ids.iter().map(|id| sim.v(*id).unwrap()[4].abs());
        turns.fold(0.0_f64, f64::max)
    };
    let (mut worst, mut before, mut spin) = (0.0_f64, energy(&sim), 0.0_f64);
    for _ in 0..100_000 {
        sim.step().unwrap();
        worst = worst.max(defect(&sim, links));
        let (after, fast) = (energy(&sim), fastest(&sim));
        let square = spin.max(fast).powi(2) + G / LENGTH;
        let mass = links as f64 * MASS;
        let moved = mass * G * LENGTH * (square.sqrt() * h).powi(3);
        let lost = mass * square * LENGTH * LENGTH * (square.sqrt() * h).powi(4);
        let change = after - before;
        assert!(change <= moved, "{change:e} J gained at {}", sim.t());
        assert!(-change <= moved + 4.0 * lost, "{change:e} J at {}", sim.t());
        (before, spin) = (after, fast);
    }
    assert!(worst <= 1e-10, "{worst:e}");
}

#[test]
fn the_energy_of_a_chain_is_of_second_order() {
    // before its end whips round
    let errors = [1.0, 0.5, 0.25].map(|share| {
        let h = 1e-3 * share;
        let mut scene = Scene::new(Law::impact_friction(0.0, 0.3));
        chain(&mut scene, 5, 0.0, None);
        let mut sim = simulation(scene, h);
        let start = energy(&sim);
        for _ in 0..(0.25 / h).round() as usize {
            sim.step().unwrap();
        }
        energy(&sim) - start
    });
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!((3.8..4.2).contains(&ratio), "{errors:?}");
    }
}

#[test]
fn a_pendulum_swings_as_it_should() {
    // a heavy point at the end of a light rod
    let mut scene = Scene::new(Law::newton_impact(0.0));
    let small = 1e-8;
    let bob = RigidBody::new(1.0, [small; 3]).at([-1.0, 0.0, 0.0]).gravity([0.0, 0.0, -G]);
    let bob = scene.add("bob", bob, Shape::Sphere(0.01));
    let joint = Ball { own: [1.0, 0.0, 0.0], other: [0.0; 3], two: false };
    scene.model.connect("joint", joint, Law::Equality, &[bob]).unwrap();
    let mut sim = simulation(scene, 1e-3);
    while sim.t() < 10.0 - 1e-9 {
        sim.step().unwrap();
    }
    let q = sim.q(bob).unwrap();
    let error = (q[0] + 0.27508746257611686).hypot(q[2] + 0.9614192050991251);
    assert!(error < 2e-4, "{error:e} at {:?}", &q[..3]);
}

#[test]
fn a_chain_falls_onto_the_ground_and_lies_there() {
    let links = 6;
    let mut scene = Scene::new(Law::impact_friction(0.0, 0.5));
    scene.ground([0.0, 0.0, 1.0], -0.3);
    let ids = chain(&mut scene, links, 0.0, Some(0.02));
    let mut sim = simulation(scene, 2e-3);
    for _ in 0..3000 {
        let done = sim.step().unwrap();
        assert!(done.residual <= 1e-8);
    }
    assert!(defect(&sim, links) <= 1e-10);
    for id in ids {
        assert!(sim.q(id).unwrap()[2] > -0.3 + 0.02 - 1e-6);
    }
    let ledger = sim.ledger().unwrap();
    assert!(ledger.kinetic < 0.05, "{ledger:?}");
    assert!(ledger.impact > -1e-9 && ledger.friction > -1e-9, "{ledger:?}");
}

#[test]
fn a_joint_said_twice_is_as_good_as_once() {
    let build = |times: usize| {
        let mut scene = Scene::new(Law::newton_impact(0.0));
        let rod = RigidBody::cuboid(0.5, [LENGTH, 0.03, 0.02]).at([0.5 * LENGTH, 0.0, 0.0]);
        let rod = scene.add("rod", rod.gravity([0.0, 0.0, -G]), Shape::Sphere(0.01));
        for k in 0..times {
            let joint = Ball { own: [-0.5 * LENGTH, 0.0, 0.0], other: [0.0; 3], two: false };
            scene.model.connect(&format!("joint{k}"), joint, Law::Equality, &[rod]).unwrap();
        }
        let mut sim = simulation(scene, 1e-3);
        for _ in 0..1000 {
            sim.step().unwrap();
        }
        sim.q(rod).unwrap().to_vec()
    };
    for (a, b) in build(1).iter().zip(build(2)) {
        assert!((a - b).abs() < 1e-9);
    }
}
