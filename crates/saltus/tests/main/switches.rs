//! Ideal switches: what they do to the equations, when they change, and what is kept of them.

use saltus::prelude::*;
use saltus::sim::{EventDriven, EventKind};

const H: f64 = 1e-3;
const R: f64 = 0.1;

/// A capacitor that a switch connects with a source of voltage 1 over the resistance `R`.
fn charging(law: Law) -> Model {
    let mut model = Model::new("charging");
    let cell = model.add("cell", FirstOrderLinear::new([0.0], [[0.0]])).unwrap();
    let relation = FirstOrderLinearRelation::new([[1.0]], [[1.0]]).D([[R]]).e([-1.0]);
    model.connect("S", relation, law, &[cell]).unwrap();
    model
}

/// A capacitor that a constant current charges, and a switch discharges.
fn oscillator() -> Model {
    let mut model = Model::new("oscillator");
    let cell = model.add("cell", FirstOrderLinear::new([0.0], [[0.0]]).b([1.0])).unwrap();
    let relation = FirstOrderLinearRelation::new([[1.0]], [[1.0]]).D([[0.05]]);
    let control = "cell.x[0]".to_string();
    let law = Law::Switch { control, on: 1.0, off: 0.2, closed: false };
    model.connect("S", relation, law, &[cell]).unwrap();
    model
}

#[test]
fn closed_it_is_an_equality_and_open_it_is_nothing() {
    let law = Law::switch("0.3 - mod(t, 1)", 0.0);
    let mut sim = TimeStepping::new(charging(law), H, []).unwrap();
    let (model, mut v) = (charging(Law::Equality), 0.0);
    let (cell, switch) = (model.system_id("cell").unwrap(), model.interaction_id("S").unwrap());
    for step in 0..2500 {
        let closed = 0.3 - (step as f64 * H) % 1.0;
        if closed.abs() > 0.5 * H {
            sim.step().unwrap();
            if closed > 0.0 {
                v = (v + H / R) / (1.0 + H / R); // implicit Euler of v' = (1 - v)/R
            }
        } else {
            sim.step().unwrap();
            v = sim.x(cell).unwrap()[0]; // the step in which it opens, but for round-off
        }
        assert!((sim.x(cell).unwrap()[0] - v).abs() < 1e-12, "step {step}");
        let (y, lam) = (sim.y(switch)[0], sim.lam(switch)[0]);
        assert!(y.abs() < 1e-12 || lam == 0.0, "y = {y}, lam = {lam}");
    }
}

#[test]
fn hysteresis_and_its_events() {
    let mut sim = TimeStepping::new(oscillator(), H, []).unwrap();
    let run = sim.run(10.0).unwrap();
    let v = run.signal("cell.x[0]").unwrap();
    let switched: Vec<_> = run.events.iter().filter(|e| e.kind == EventKind::Switch).collect();
    // from 1 s on 0.05 ln(0.95/0.15) = 0.092 s down and 0.8 s up
    assert_eq!(switched.len(), 21);
    for (k, event) in switched.iter().enumerate() {
        assert_eq!(event.interaction, "S");
        assert_eq!(event.changes[0].what, "S.closed");
        let after = event.changes[0].after.to_string();
        assert_eq!(after, if k % 2 == 0 { "1" } else { "0" });
    }
    assert!(v.iter().all(|v| *v <= 1.0 + 2.0 * H));
    assert!(v.iter().skip(1200).all(|v| *v >= 0.2 * 0.9));
}

#[test]
fn a_checkpoint_keeps_the_switch() {
    let mut sim = TimeStepping::new(oscillator(), H, []).unwrap();
    // just after it has closed for the first time
    while sim.totals().steps < 1003 {
        sim.step().unwrap();
    }
    let checkpoint = sim.checkpoint();
    let rest = sim.run(3.0).unwrap();
    let mut again = TimeStepping::new(oscillator(), H, []).unwrap();
    again.restore(&checkpoint).unwrap();
    assert_eq!(again.run(3.0).unwrap().frames.rows, rest.frames.rows);
    // and the beginning is what it was
    again.reset().unwrap();
    let mut anew = TimeStepping::new(oscillator(), H, []).unwrap();
    assert_eq!(again.run(1.5).unwrap().frames.rows, anew.run(1.5).unwrap().frames.rows);
}

#[test]
fn what_is_wrong_is_named() {
    let error = TimeStepping::new(charging(Law::switch("cel.x[0]", 0.0)), H, []).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("interaction `S`") && text.contains("cell.x[0]"), "{text}");

    let mut model = Model::new("mechanics");
    let body = LagrangianLinear::new([0.0], [0.0], [[1.0]]);
    let body = model.add("body", body).unwrap();
    let relation = LagrangianLinearRelation::new([[1.0]]);
    let error = model.connect("S", relation, Law::switch("t", 0.0), &[body]).unwrap_err();
    assert!(error.to_string().contains("Switch"), "{error}");

    let mut model = Model::new("thresholds");
    let cell = model.add("cell", FirstOrderLinear::new([0.0], [[0.0]])).unwrap();
    let law = Law::Switch { control: "t".to_string(), on: 0.0, off: 1.0, closed: false };
    let relation = FirstOrderLinearRelation::new([[1.0]], [[1.0]]);
    let error = model.connect("S", relation, law, &[cell]).unwrap_err();
    assert!(error.to_string().contains("`off`"), "{error}");
}

/// From event to event the switch turns at the instants of the closed form.
#[test]
fn instants_of_a_switch_are_exact() {
    let run = EventDriven::new(oscillator()).unwrap().run(10.0).unwrap();
    let times = run.events.iter().filter(|event| event.interaction == "S").map(|event| event.time);
    let times: Vec<f64> = times.collect();
    assert_eq!(times.len(), 21, "{times:?}");
    let (down, up) = (0.05 * (0.95_f64 / 0.15).ln(), 0.8);
    let mut t = 1.0;
    for (k, found) in times.iter().enumerate() {
        assert!((found - t).abs() < 1e-8, "{k}: {found} {t}");
        t += if k % 2 == 0 { down } else { up };
    }
}
