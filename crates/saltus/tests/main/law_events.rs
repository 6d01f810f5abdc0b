//! What laws do in a run of time-stepping: impacts, lift-offs, stick and slip, switches.

use crate::models;
use saltus::model::Names;
use saltus::prelude::*;
use saltus::sim::{EventKind, EventRecord, Value};

/// A mass of 1 with this force above a table at height zero, `(height, place)`.
fn mass(height: f64, force: [&str; 2], law: Law) -> Model {
    let mut model = Model::new("mass");
    let names = Names::TIME;
    let force = Operator::formulas(2, 1, &force, &names, &[]).unwrap();
    let mass = LagrangianLinear::new([height, 0.0], [0.0; 2], Matrix::identity(2)).F_ext(force);
    let id = model.add("mass", mass).unwrap();
    let relation = LagrangianLinearRelation::new(Matrix::identity(2));
    model.connect("table", relation, law, &[id]).unwrap();
    model
}

fn events(model: Model, h: f64, until: f64) -> Vec<EventRecord> {
    TimeStepping::new(model, h, []).unwrap().run(until).unwrap().events
}

fn kinds(events: &[EventRecord]) -> Vec<EventKind> {
    events.iter().map(|event| event.kind).collect()
}

fn numbers(event: &EventRecord, k: usize) -> (f64, f64) {
    match (&event.changes[k].before, &event.changes[k].after) {
        (Value::Number(before), Value::Number(after)) => (*before, *after),
        other => panic!("{other:?}"),
    }
}

/// A bounce is one impact, with the velocities before and after it; rest is none.
#[test]
fn bounces() {
    let h = 1e-3;
    let events = events(mass(1.0, ["-10", "0"], Law::impact_friction(0.5, 0.0)), h, 3.0);
    let flight = 0.2_f64.sqrt();
    let mut exact = flight;
    for (k, event) in events.iter().take(5).enumerate() {
        assert_eq!((event.kind, event.interaction.as_str()), (EventKind::Impact, "table"));
        assert!((event.time - exact).abs() < 4.0 * h, "{k}: {} for {exact}", event.time);
        let (before, after) = numbers(event, 0);
        assert!(before < 0.0 && (after + 0.5 * before).abs() < 1e-12);
        assert_eq!(event.changes[0].what, "table.u[0]");
        exact += 2.0 * flight * 0.5_f64.powi(k as i32 + 1);
    }
    // at rest from sqrt(0.2)·3 = 1.34 on
    assert!(events.iter().all(|event| event.kind == EventKind::Impact && event.time < 1.4));
}

#[test]
fn lift_off() {
    let events = events(mass(0.0, ["t - 1", "0"], Law::impact_friction(0.0, 0.3)), 1e-2, 2.0);
    assert_eq!(kinds(&events), [EventKind::Impact, EventKind::LiftOff]);
    assert!(events[0].time <= 1e-2);
    assert!((events[1].time - 1.0).abs() <= 2e-2);
}

/// Pulled by 0.6 sin t against friction of 0.5.
#[test]
fn stick_and_slip() {
    let law = Law::impact_friction(0.0, 0.5);
    let events = events(mass(0.0, ["-1", "0.6*sin(t)"], law), 1e-3, 4.0);
    let wanted = [EventKind::Impact, EventKind::Slip, EventKind::Stick];
    assert_eq!(kinds(&events)[..3], wanted);
    assert!((events[1].time - (0.5_f64 / 0.6).asin()).abs() < 5e-3);
    let (before, after) = numbers(&events[1], 1);
    assert!(before.abs() < 1e-12 && after > 0.0);
}

#[test]
fn relays_switch_and_slide() {
    let mut model = Model::new("relay");
    let x = model.add("x", FirstOrderLinear::new([1.0], [[0.0]])).unwrap();
    let relation = FirstOrderLinearRelation::new([[1.0]], [[1.0]]);
    model.connect("relay", relation, Law::relay(-1.0, 1.0), &[x]).unwrap();
    let found = events(model, 1e-2, 2.0);
    assert_eq!(kinds(&found), [EventKind::Sliding]);
    assert!((found[0].time - 1.0).abs() < 2e-2);
    assert_eq!(found[0].changes[0].what, "relay.lam[0]");
    assert!((numbers(&found[0], 0).0 + 1.0).abs() < 1e-12);
}

#[test]
fn diodes_switch() {
    let case = models::rectifier(1e-6);
    let run = case.sim().run(case.until).unwrap();
    let lam = run.signal("diode.lam").unwrap();
    let changes = lam.windows(2).skip(1).filter(|pair| (pair[0] > 0.0) != (pair[1] > 0.0)).count();
    assert!(changes > 4);
    assert_eq!(run.events.len(), changes);
    assert!(run.events.iter().all(|event| event.kind == EventKind::Switch));
}

/// Steps that are done one by one keep no events; a run tells its own.
#[test]
fn a_run_tells_its_own() {
    let mut sim = models::ball(0.1, 5e-3).sim();
    for _ in 0..200 {
        sim.step().unwrap();
    }
    assert!(sim.events().is_empty());
    let start = sim.t();
    let run = sim.run(3.0).unwrap();
    assert!(run.events.len() > 2);
    assert!(run.events.iter().all(|event| event.time > start));
    let whole = models::ball(0.1, 5e-3).sim().run(3.0).unwrap();
    let late = whole.events.iter().filter(|event| event.time > start);
    assert!(late.eq(&run.events));
}

/// A run that goes on from a checkpoint has the events of the one that was not interrupted.
#[test]
fn events_after_a_checkpoint() {
    let case = models::ball(0.1, 5e-3);
    let whole = case.sim().run(4.0).unwrap();
    let mut first = case.sim();
    let mut events = first.run(1.7).unwrap().events;
    let mut second = case.sim();
    second.restore(&first.checkpoint()).unwrap();
    events.extend(second.run(4.0).unwrap().events);
    assert_eq!(events, whole.events);
}

/// Laws first, then the events of the model, at one instant.
#[test]
fn beside_events_of_the_model() {
    let mut model = mass(1.0, ["-10", "0"], Law::impact_friction(0.5, 0.0));
    model.add_event(Event::when("table.u[0] > 0.1").named("up").once()).unwrap();
    let found = events(model, 1e-3, 1.0);
    assert_eq!(kinds(&found)[..2], [EventKind::Impact, EventKind::When]);
    assert_eq!(found[0].time, found[1].time);
    assert!(found.is_sorted_by(|a, b| a.time <= b.time));
}

/// An event of the model in every step does not hide what laws do.
#[test]
fn laws_between_events_of_the_model() {
    let mut model = Model::new("relay");
    let x = model.add("x", FirstOrderLinear::new([1.0], [[0.0]])).unwrap();
    let relation = FirstOrderLinearRelation::new([[1.0]], [[1.0]]);
    model.connect("relay", relation, Law::relay(-1.0, 1.0), &[x]).unwrap();
    model.add("clock", FirstOrderLinear::new([0.0], [[0.0]])).unwrap();
    model.add_event(Event::every(1e-2).set_state("clock", "x", ["t"])).unwrap();
    let found = events(model, 1e-2, 2.0);
    let sliding = found.iter().filter(|event| event.kind == EventKind::Sliding);
    assert_eq!(sliding.count(), 1);
}

/// What was before the first impact is what the state was set to, at the beginning and later.
#[test]
fn impacts_right_after_a_state_is_set() {
    let mut sim =
        TimeStepping::new(mass(0.0, ["0", "0"], Law::impact_friction(0.5, 0.0)), 1e-3, []);
    let sim = sim.as_mut().unwrap();
    let id = sim.model().system_id("mass").unwrap();
    sim.set_qv(id, None, Some(&[-1.0, 0.0])).unwrap();
    let first = sim.run(0.01).unwrap().events;
    assert_eq!((first.len(), numbers(&first[0], 0)), (1, (-1.0, 0.5)));
    sim.set_qv(id, Some(&[0.0, 0.0]), Some(&[-2.0, 0.0])).unwrap();
    let second = sim.run(0.02).unwrap().events;
    assert_eq!((second.len(), numbers(&second[0], 0)), (1, (-2.0, 1.0)));
}
