//! How the engine behaves: islands, order, restart, transactions, what it refuses.

use crate::closed_forms::{G, simulation};
use crate::finder::{Scene, Shape, Simple};
use saltus_model::{
    Body, ContactFinder, ContactSearch, FoundContact, Law, Model, ModelError, Moment,
    OperatorError, RigidBody, Side, SystemId,
};
use saltus_sim::{EventDriven, GeneralizedAlpha, RunOptions, SimError, TimeStepping};
use std::sync::Arc;

const R: f64 = 0.1;

/// Balls in a box without a lid, in this order.
fn heap(order: &[usize]) -> (Scene, Vec<SystemId>) {
    let mut scene = Scene::new(Law::impact_friction(0.0, 0.5));
    scene.ground([0.0, 0.0, 1.0], 0.0);
    for (n, c) in [([1.0, 0.0, 0.0], 0.0), ([-1.0, 0.0, 0.0], -0.5)] {
        scene.ground(n, c);
    }
    for (n, c) in [([0.0, 1.0, 0.0], 0.0), ([0.0, -1.0, 0.0], -0.5)] {
        scene.ground(n, c);
    }
    let mut ids = vec![None; order.len()];
    for &k in order {
        let (i, j, l) = (k % 2, k / 2 % 2, k / 4);
        let shift = 0.02 * ((k * 7) % 5) as f64;
        let x = [
            0.13 + 0.22 * i as f64 - shift * 0.1,
            0.12 + 0.23 * j as f64 + shift * 0.1,
            0.11 + 0.21 * l as f64,
        ];
        let ball = RigidBody::ball(1.0 + 0.1 * k as f64, R).at(x).gravity([0.0, 0.0, -G]);
        ids[k] = Some(scene.add(&format!("ball{k}"), ball, Shape::Sphere(R)));
    }
    (scene, ids.into_iter().flatten().collect())
}

#[test]
fn the_order_of_bodies_does_not_count() {
    let order: Vec<usize> = (0..20).collect();
    let mut other = order.clone();
    other.reverse();
    other.swap(3, 11);
    let (first, ids) = heap(&order);
    let (second, other_ids) = heap(&other);
    let (mut first, mut second) = (simulation(first, 5e-3), simulation(second, 5e-3));
    // later the smallest difference grows, as in every heap
    for _ in 0..12 {
        first.step().unwrap();
        second.step().unwrap();
    }
    let mut most = 0.0_f64;
    for (a, b) in ids.iter().zip(&other_ids) {
        for (x, y) in first.q(*a).unwrap().iter().zip(second.q(*b).unwrap()) {
            most = most.max((x - y).abs());
        }
    }
    assert!(most < 1e-6, "{most:e}");
}

#[test]
fn islands_know_nothing_of_each_other() {
    let column = |scene: &mut Scene, x: f64, v: f64, name: &str| {
        let mut last = None;
        for k in 0..3 {
            let ball = RigidBody::ball(1.0, R).at([x, 0.0, R + 2.0 * R * f64::from(k)]);
            let ball = ball.gravity([0.0, 0.0, -G]).moving([v, 0.0, 0.0], [0.0; 3]);
            last = Some(scene.add(&format!("{name}{k}"), ball, Shape::Sphere(R)));
        }
        last.unwrap()
    };
    let law = || Law::impact_friction(0.0, 0.4);
    let mut alone = Scene::new(law());
    alone.ground([0.0, 0.0, 1.0], 0.0);
    let a = column(&mut alone, 0.0, 0.3, "a");
    let mut both = Scene::new(law());
    both.ground([0.0, 0.0, 1.0], 0.0);
    let b = column(&mut both, 0.0, 0.3, "a");
    column(&mut both, 5.0, -1.0, "b");
    let (mut alone, mut both) = (simulation(alone, 2e-3), simulation(both, 2e-3));
    for _ in 0..200 {
        alone.step().unwrap();
        both.step().unwrap();
    }
    assert_eq!(alone.q(a).unwrap(), both.q(b).unwrap());
    assert_eq!(alone.v(a).unwrap(), both.v(b).unwrap());
}

#[test]
fn a_run_goes_on_from_a_checkpoint_bit_by_bit() {
    let order: Vec<usize> = (0..12).collect();
    let (scene, ids) = heap(&order);
    let (copy, _) = heap(&order);
    let (mut sim, mut other) = (simulation(scene, 5e-3), simulation(copy, 5e-3));
    for _ in 0..40 {
        sim.step().unwrap();
    }
    let bytes = sim.checkpoint().to_bytes();
    other.restore(&saltus_sim::Checkpoint::from_bytes(&bytes).unwrap()).unwrap();
    assert_eq!(sim.contacts(), other.contacts());
    for _ in 0..60 {
        sim.step().unwrap();
        other.step().unwrap();
    }
    for id in ids {
        assert_eq!(sim.q(id).unwrap(), other.q(id).unwrap());
    }
    assert_eq!(sim.ledger(), other.ledger());
    // and from the beginning
    sim.reset().unwrap();
    assert_eq!(sim.t(), 0.0);
    assert!(sim.contacts().is_empty());
}

/// Finds what another one finds, and then does something to it that depends on a number.
#[derive(Debug, Clone)]
struct Altered<S> {
    inner: S,
    alter: Alter,
    number: f64,
}

type Alter = fn(f64, Moment<'_>, &mut Vec<FoundContact>) -> Result<(), OperatorError>;

impl ContactFinder for Altered<Simple> {
    fn space(&self) -> Body {
        self.inner.space()
    }
    fn sides(&self) -> &[Side] {
        self.inner.sides()
    }
    fn laws(&self) -> &[Law] {
        self.inner.laws()
    }
    fn check(&self, model: &Model) -> Result<(), ModelError> {
        self.inner.check(model)
    }
    fn begin(&self, starts: &[Option<[usize; 2]>]) -> Box<dyn ContactSearch> {
        let Altered { ref inner, alter, number } = *self;
        Box::new(Altered { inner: inner.begin(starts), alter, number })
    }
}

impl ContactSearch for Altered<Box<dyn ContactSearch>> {
    fn find(
        &mut self,
        moment: Moment<'_>,
        found: &mut Vec<FoundContact>,
    ) -> Result<(), OperatorError> {
        self.inner.find(moment, found)?;
        (self.alter)(self.number, moment, found)
    }

    fn drive(&self, contact: &FoundContact) -> [f64; 3] {
        match contact.feature >= SQUEEZING {
            true => contact.normal.map(|n| -n),
            false => self.inner.drive(contact),
        }
    }
}

/// Fails after this time.
fn fails(last: f64, moment: Moment<'_>, _: &mut Vec<FoundContact>) -> Result<(), OperatorError> {
    if moment.t > last {
        let (what, time) = ("the finder".to_string(), moment.t);
        return Err(OperatorError { what, time, why: "fails".to_string() });
    }
    Ok(())
}

/// The first feature of contacts that [`squeezes`] adds.
const SQUEEZING: u64 = u64::MAX - 1;

/// Adds, in steps that are longer than this, contacts that cannot be.
fn squeezes(
    longest: f64,
    moment: Moment<'_>,
    found: &mut Vec<FoundContact>,
) -> Result<(), OperatorError> {
    if moment.h > longest {
        // a body between two surfaces that come nearer to each other
        for (feature, n) in [(SQUEEZING, 1.0), (SQUEEZING + 1, -1.0)] {
            let (sides, normal, point) = ([0, 5], [0.0, 0.0, n], [0.0; 3]); // floor and first ball
            found.push(FoundContact { sides, feature, law: 0, gap: 0.0, normal, point });
        }
        found.sort_by_key(|one| (one.sides, one.feature));
    }
    Ok(())
}

#[test]
fn a_failed_step_changes_nothing() {
    let (scene, ids) = heap(&[0, 1, 2, 3]);
    let Scene { mut model, finder } = scene;
    let finder = Altered { inner: finder, alter: fails, number: 0.2 };
    model.find_contacts(Arc::new(finder)).unwrap();
    let mut sim = TimeStepping::new(model, 5e-3, []).unwrap();
    let error = loop {
        let before = sim.checkpoint();
        match sim.step() {
            Ok(_) => {}
            Err(error) => {
                assert_eq!(sim.checkpoint(), before);
                break error;
            }
        }
    };
    assert!(matches!(error, SimError::Operator(_)), "{error}");
    assert!((sim.t() - 0.205).abs() < 1e-12);
    assert!(sim.q(ids[0]).is_ok());
}

/// A step that cannot be solved at once is the same as shorter ones, to the last bit; what cannot be solved
/// at all names a contact and changes nothing.
#[test]
fn a_step_is_taken_in_parts() {
    let (h, steps) = (4e-3, 30);
    let order: Vec<usize> = (0..8).collect();
    let simulation = |longest: f64, h: f64| {
        let (Scene { mut model, finder }, ids) = heap(&order);
        let finder = Altered { inner: finder, alter: squeezes, number: longest };
        model.find_contacts(Arc::new(finder)).unwrap();
        (TimeStepping::new(model, h, []).unwrap(), ids)
    };
    for parts in [2_u32, 8] {
        let shorter = h / f64::from(parts);
        let (mut whole, ids) = simulation(1.01 * shorter, h);
        let (mut short, _) = simulation(f64::INFINITY, shorter);
        for step in 0..steps {
            whole.step().unwrap();
            for _ in 0..parts {
                short.step().unwrap();
            }
            for &id in &ids {
                assert_eq!(whole.q(id).unwrap(), short.q(id).unwrap(), "{parts} {step}");
                assert_eq!(whole.v(id).unwrap(), short.v(id).unwrap(), "{parts} {step}");
            }
            let (of_whole, of_short) = (whole.contacts(), short.contacts());
            assert_eq!(of_whole.gap, of_short.gap);
            for (a, b) in of_whole.impulse.iter().zip(&of_short.impulse) {
                assert_eq!(*a, b.map(|b| f64::from(parts) * b)); // the same forces
            }
        }
        let [a, b] = [&whole, &short].map(|sim| sim.ledger().unwrap());
        let scale = a.impact.abs().max(a.kinetic);
        assert!((a.impact - b.impact).abs() <= 1e-12 * scale && a.kinetic == b.kinetic);
    }

    let (mut never, _) = simulation(0.0, h);
    let error = loop {
        let before = never.checkpoint();
        if let Err(error) = never.step() {
            assert_eq!(never.checkpoint(), before);
            break error.to_string();
        }
    };
    assert!(error.contains("the contact of"), "{error}");
}

#[test]
fn what_cannot_find_contacts_says_so() {
    let (scene, _) = heap(&[0]);
    let model = scene.model();
    let error = EventDriven::new(model.clone()).unwrap_err().to_string();
    assert!(error.contains("contacts that are found"), "{error}");
    let scheme = GeneralizedAlpha::default().into();
    let error = TimeStepping::new(model, 1e-3, [scheme]).unwrap_err().to_string();
    assert!(error.contains("moreau-jean"), "{error}");
}

#[test]
fn recorded_contacts_carry_the_weight() {
    let mut scene = Scene::new(Law::impact_friction(0.0, 0.5));
    scene.ground([0.0, 0.0, 1.0], 0.0);
    let cube = RigidBody::cuboid(2.0, [0.2; 3]).at([0.0, 0.0, 0.1]).gravity([0.0, 0.0, -G]);
    scene.add("cube", cube, Shape::Box([0.1; 3]));
    let mut sim = simulation(scene, 1e-2);
    let run = sim.run_with(1.0, RunOptions { every: 10, ..RunOptions::default() }).unwrap();
    let contacts = &run.frames.contacts;
    assert_eq!(run.layout.sides, ["ground0", "cube"]);
    assert_eq!(contacts.ends.len(), run.frames.len());
    assert!(contacts.of(0).is_empty());
    for instant in 1..run.frames.len() {
        let range = contacts.of(instant);
        assert_eq!(range.len(), 4);
        let weight: f64 = range.clone().map(|k| contacts.impulse[k][2]).sum();
        assert!((weight.abs() / (2.0 * G * 1e-2) - 1.0).abs() < 1e-7, "{weight}");
        assert!(range.clone().all(|k| contacts.sides[k] == [0, 1] && contacts.gap[k] == 0.0));
    }
}

#[test]
fn a_body_is_put_elsewhere() {
    let (scene, ids) = heap(&[0, 1]);
    let mut sim = simulation(scene, 5e-3);
    for _ in 0..50 {
        sim.step().unwrap();
    }
    let mut q = sim.q(ids[0]).unwrap().to_vec();
    q[2] = 1.0;
    sim.set_qv(ids[0], Some(&q), Some(&[0.0; 6])).unwrap();
    sim.step().unwrap();
    assert!((sim.v(ids[0]).unwrap()[2] + G * 5e-3).abs() < 1e-12);
    let bad = [0.0; 7];
    assert!(sim.set_qv(ids[0], Some(&bad), None).is_err());
    assert!(sim.q(ids[0]).unwrap()[2] > 0.9);
}
