//! Linear modes against closed forms, and against collocation.

use crate::driver::RunOptions;
use crate::event_driven::{EventDriven, EventSettings};
use crate::run::{EventKind, Run};
use saltus_linalg::Matrix;
use saltus_model::*;
use saltus_numerics::Solver;
use std::f64::consts::{FRAC_PI_2, PI};

fn driven(model: &Model, rtol: f64, atol: f64) -> EventDriven {
    EventDriven::with(model.clone(), EventSettings { rtol, atol }, &Solver::default()).unwrap()
}

fn times(sim: &EventDriven, kind: EventKind) -> Vec<f64> {
    sim.events().iter().filter(|event| event.kind == kind).map(|event| event.time).collect()
}

fn last(run: &Run, path: &str, n: usize) -> Vec<f64> {
    let values = run.signal(path).unwrap();
    values[values.len() - n..].to_vec()
}

/// Both ways; the events and the last states (of paths with so many components) agree.
fn agree(model: &Model, until: f64, paths: &[(&str, usize)], allowed: f64) {
    let mut exact = driven(model, 1e-10, 1e-12);
    let mut other = driven(model, 1e-12, 1e-14);
    other.flow.by_collocation();
    let (a, b) = (exact.run(until).unwrap(), other.run(until).unwrap());
    assert!(exact.flow.is_exact(), "it was exact");
    assert!(a.stats.iterations == 0, "{} iterations", a.stats.iterations);
    assert!(!exact.events().is_empty() && exact.events().len() == other.events().len());
    for (a, b) in exact.events().iter().zip(other.events()) {
        assert_eq!((a.kind, &a.interaction), (b.kind, &b.interaction));
        assert!((a.time - b.time).abs() <= allowed * b.time, "{} for {}", a.time, b.time);
    }
    for &(path, n) in paths {
        let (a, b) = (last(&a, path, n), last(&b, path, n));
        let size = b.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        let off = a.iter().zip(&b).fold(0.0_f64, |off, (a, b)| off.max((a - b).abs()));
        assert!(off <= allowed * size, "{path}: {a:?} for {b:?}");
    }
}

/// A mass on a spring that bounces at its middle: an impact every half period.
#[test]
fn an_oscillator_at_a_wall() {
    let w = 2.0 * PI;
    let mut model = Model::new("oscillator");
    let mass = LagrangianLinear::new([1.0], [0.0], [[2.0]]).K([[2.0 * w * w]]);
    let id = model.add("mass", mass).unwrap();
    let wall = LagrangianLinearRelation::new([[1.0]]);
    model.connect("wall", wall, Law::newton_impact(0.9), &[id]).unwrap();
    let mut sim = driven(&model, 1e-10, 1e-12);
    let run = sim.run(4.0).unwrap();
    let impacts = times(&sim, EventKind::Impact);
    assert_eq!(impacts.len(), 8);
    for (k, t) in impacts.iter().enumerate() {
        let exact = 0.25 + 0.5 * k as f64;
        assert!((t - exact).abs() < 4e-15 * (1.0 + exact), "{t} for {exact}");
    }
    // half way between two impacts
    let q = last(&run, "mass.q", 1)[0];
    assert!((q - 0.9_f64.powi(8)).abs() < 1e-13, "{q}");
    assert!(run.stats.steps < 60, "{}", run.stats.steps);
    agree(&model, 3.9, &[("mass.q", 1), ("mass.v", 1)], 1e-12);
}

/// `ẋ = −x + λ` with a relay: it comes to zero at log 3, and stays.
#[test]
fn a_relay_that_holds() {
    let mut model = Model::new("relay");
    let id = model.add("x", FirstOrderLinear::new([2.0], [[-1.0]])).unwrap();
    let relation = FirstOrderLinearRelation::new([[1.0]], [[1.0]]);
    model.connect("relay", relation, Law::relay(-1.0, 1.0), &[id]).unwrap();
    let mut sim = driven(&model, 1e-10, 1e-12);
    let run = sim.run(3.0).unwrap();
    let [slides] = times(&sim, EventKind::Sliding)[..] else { panic!("it slides") };
    assert!((slides - 3.0_f64.ln()).abs() < 1e-15, "{slides}");
    assert!(last(&run, "x.x", 1)[0].abs() < 1e-15);
    assert!(last(&run, "relay.lam", 1)[0].abs() < 1e-15);
    assert!(sim.flow.is_exact());
}

/// The tank circuit with a diode bridge.
#[test]
fn the_diode_bridge() {
    let mut model = Model::new("diode bridge");
    let tank = FirstOrderLinear::new([10.0, 0.0], [[0.0, -1e6], [100.0, 0.0]]);
    let tank = model.add("tank", tank).unwrap();
    let C = [[0.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [1.0, 0.0]];
    let B = [[0.0, 0.0, -1e6, 1e6], [0.0; 4]];
    let D = [
        [1e-3, 1e-3, -1.0, 0.0],
        [1e-3, 1e-3, 0.0, -1.0],
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
    ];
    let bridge = FirstOrderLinearRelation::new(C, B).D(D);
    model.connect("bridge", bridge, Law::Complementarity, &[tank]).unwrap();
    agree(&model, 5e-3, &[("tank.x", 2)], 1e-11);
}

/// A diode that charges a capacitor through a resistance of 10⁻⁶: rates eight decades apart, and
/// the instant at which it blocks.
#[test]
fn a_stiff_circuit() {
    // C₁ v₁' = −v₁/R − i,  C₂ v₂' = i − v₂/S,  0 ≤ i ⟂ r i − v₁ + v₂ ≥ 0
    let (r, R, S) = (1e-6, 1.0, 100.0);
    let mut model = Model::new("stiff");
    let id = model.add("v", FirstOrderLinear::new([5.0, 0.0], [[-1.0 / R, 0.0], [0.0, -1.0 / S]]));
    let relation = FirstOrderLinearRelation::new([[-1.0, 1.0]], [[-1.0], [1.0]]).D([[r]]);
    model.connect("diode", relation, Law::Complementarity, &[id.unwrap()]).unwrap();
    let mut sim = driven(&model, 1e-10, 1e-12);
    let run = sim.run(2.0).unwrap();
    assert!(sim.flow.is_exact());
    let [blocks] = times(&sim, EventKind::Switch)[..] else { panic!("it blocks once") };
    // eigenvalues while it conducts, and the current as their sum
    let (a, b, c) = (-1.0 / R - 1.0 / r, 1.0 / r, -1.0 / S - 1.0 / r);
    let (mean, root) = (0.5 * (a + c), (0.25 * (a - c) * (a - c) + b * b).sqrt());
    let (slow, fast) = ((a * c - b * b) / (mean - root), mean - root);
    // v₁ − v₂ = p e^{slow t} + s e^{fast t}, from its value 5 and slope 5 (a − b)
    let p = (5.0 * (a - b) - 5.0 * fast) / (slow - fast);
    let exact = ((5.0 - p) / -p).ln() / (slow - fast);
    assert!((blocks / exact - 1.0).abs() < 1e-10, "{blocks} for {exact}");
    assert!(run.stats.steps < 120, "{}", run.stats.steps);
    agree(&model, 2.0, &[("v.x", 2)], 1e-7);
}

/// Two masses on springs that a closed contact holds together until the springs part
/// them; beside them one that nothing meets.
#[test]
fn groups_form_and_part() {
    let mut model = Model::new("groups");
    let mass = |q: f64, v: f64, k: f64| LagrangianLinear::new([q], [v], [[1.0]]).K([[k]]);
    let a = model.add("a", mass(0.0, 2.0, 1.0)).unwrap();
    let b = model.add("b", mass(0.0, -1.0, 2.0)).unwrap();
    model.add("c", mass(1.0, 0.0, 9.0)).unwrap();
    let gap = LagrangianLinearRelation::new([[-1.0, 1.0]]);
    model.connect("gap", gap, Law::newton_impact(0.0), &[a, b]).unwrap();
    let paths = [("a.q", 1), ("a.v", 1), ("b.q", 1), ("b.v", 1), ("c.q", 1), ("c.v", 1)];
    let mut sim = driven(&model, 1e-10, 1e-12);
    sim.run(10.0).unwrap();
    agree(&model, 10.0, &paths, 1e-11);
    assert!(!times(&sim, EventKind::LiftOff).is_empty());
}

/// Sliding in the plane on a slope with friction, then sticking.
#[test]
fn friction_in_the_plane() {
    let (g, mu, slope) = (9.81_f64, 0.7, FRAC_PI_2 / 3.0);
    let mut model = Model::new("slope");
    let block = LagrangianLinear::new([0.0; 2], [0.0, -2.0], Matrix::identity(2));
    let weight = [-g * slope.cos(), g * slope.sin()];
    let id = model.add("block", block.F_ext(weight)).unwrap();
    let relation = LagrangianLinearRelation::new(Matrix::identity(2));
    model.connect("slope", relation, Law::impact_friction(0.0, mu), &[id]).unwrap();
    let mut sim = driven(&model, 1e-10, 1e-12);
    let run = sim.run(1.0).unwrap();
    assert!(sim.flow.is_exact() && run.stats.iterations == 0);
    let rate = g * (slope.sin() + mu * slope.cos());
    let [stick] = times(&sim, EventKind::Stick)[..] else { panic!("it sticks") };
    assert!((stick - 2.0 / rate).abs() < 1e-15, "{stick}");
    let q = last(&run, "block.q", 2);
    assert!(q[0].abs() < 1e-15 && (q[1] + 2.0 / rate).abs() < 1e-14, "{q:?}");
}

/// A comparator of finite gain between a ramp, which an event sets back, and a filter, and a diode that
/// clamps: from event to event, beside collocation.
#[test]
fn legs_from_event_to_event() {
    let mut model = Model::new("pulses");
    // x: filter of two stages, ramp; ẋ₁ = −40 (x₁ − λ₁), ẋ₂ = x₁ − x₂ − λ₂, ṙ = 1
    let A = [[-40.0, 0.0, 0.0], [1.0, -1.0, 0.0], [0.0, 0.0, 0.0]];
    let filter = FirstOrderLinear::new([0.0, 0.2, 0.0], A).b([0.0, 0.0, 1.0]);
    let id = model.add("filter", filter).unwrap();
    let relation = FirstOrderLinearRelation::new([[0.0, -1.0, 1.0]], [[40.0], [0.0], [0.0]]);
    let points = vec![(-1.0, 1.0), (-0.01, 1.0), (0.01, 0.0), (1.0, 0.0)];
    model.connect("comparator", relation, Law::PiecewiseLinear { points }, &[id]).unwrap();
    let clamp = FirstOrderLinearRelation::new([[0.0, -1.0, 0.0]], [[0.0], [-1.0], [0.0]]);
    let clamp = clamp.D([[0.02]]).e([0.45]);
    model.connect("clamp", clamp, Law::Complementarity, &[id]).unwrap();
    let back = Event::every(0.5).starting_at(0.5).set_state(
        "filter",
        "x",
        ["filter.x[0]", "filter.x[1]", "0"],
    );
    model.add_event(back).unwrap();
    let samples: Vec<f64> = (0..=400).map(|k| 0.025 * k as f64).collect();
    let options = || RunOptions { samples: Some(&samples), ..RunOptions::default() };
    let (mut legs, mut other) = (driven(&model, 1e-10, 1e-12), driven(&model, 1e-12, 1e-14));
    other.flow.by_collocation();
    let a = legs.run_with(10.0, options()).unwrap();
    assert!(legs.flow.is_leg());
    assert!(a.stats.steps < legs.events().len() + 25, "{} steps", a.stats.steps);
    let b = other.run_with(10.0, options()).unwrap();
    assert!(legs.events().len() > 60 && legs.events().len() == other.events().len());
    for (a, b) in legs.events().iter().zip(other.events()) {
        assert_eq!((a.kind, &a.interaction), (b.kind, &b.interaction));
        assert!((a.time - b.time).abs() <= 1e-9, "{} for {}", a.time, b.time);
    }
    for path in ["filter.x", "comparator.lam", "clamp.lam"] {
        let (a, b) = (a.signal(path).unwrap(), b.signal(path).unwrap());
        let off = a.iter().zip(&b).fold(0.0_f64, |off, (a, b)| off.max((a - b).abs()));
        assert!(a.len() == b.len() && off < 1e-8, "{path}: {off:e}");
    }
}

/// `ẋ = x` up to one, `ẋ = 2 − x` above: what grows is followed in pieces, and nothing is lost.
#[test]
fn legs_of_what_grows() {
    let mut model = Model::new("grows");
    let id = model.add("system", FirstOrderLinear::new([1e-9], [[1.0]])).unwrap();
    let relation = FirstOrderLinearRelation::new([[1.0]], [[1.0]]);
    let points = vec![(-10.0, 0.0), (1.0, 0.0), (3.0, -4.0)];
    model.connect("bend", relation, Law::PiecewiseLinear { points }, &[id]).unwrap();
    let mut sim = driven(&model, 1e-10, 1e-12);
    let samples: Vec<f64> = (0..=250).map(|k| 0.1 * k as f64).collect();
    let options = RunOptions { samples: Some(&samples), ..RunOptions::default() };
    let run = sim.run_with(25.0, options).unwrap();
    assert!(sim.flow.is_leg() && run.stats.steps < 8, "{} steps", run.stats.steps);
    let bend = 1e9_f64.ln();
    assert_eq!(sim.events().len(), 1);
    assert!((sim.events()[0].time - bend).abs() < 1e-12);
    for (t, x) in samples.iter().zip(run.signal("system.x").unwrap()) {
        let exact = if *t < bend { 1e-9 * t.exp() } else { 2.0 - (bend - t).exp() };
        assert!((x - exact).abs() < 1e-13 * (1.0 + t) * (exact + 1.0), "{x} for {exact} at {t}");
    }
}

/// A relay that the state comes to and slides on: the leg to it, then the other way, same as without.
#[test]
fn legs_end_where_it_slides() {
    // ẋ₁ = −x₁ + λ, ẋ₂ = −3 x₂ + 1; the relay of x₁
    let mut model = Model::new("slides");
    let A = [[-1.0, 0.0], [0.0, -3.0]];
    let system = FirstOrderLinear::new([1.0, 0.0], A).b([0.0, 1.0]);
    let id = model.add("system", system).unwrap();
    let relation = FirstOrderLinearRelation::new([[1.0, 0.0]], [[1.0], [0.0]]);
    model.connect("relay", relation, Law::relay(-1.0, 1.0), &[id]).unwrap();
    let mut sim = driven(&model, 1e-10, 1e-12);
    let samples: Vec<f64> = (0..=40).map(|k| 0.05 * k as f64).collect();
    let options = RunOptions { samples: Some(&samples), ..RunOptions::default() };
    let run = sim.run_with(2.0, options).unwrap();
    let rest = 2_f64.ln(); // x₁ = 2 e^{−t} − 1
    assert!((sim.events()[0].time - rest).abs() < 1e-12, "{:?}", sim.events());
    for (t, x) in samples.iter().zip(run.signal("system.x").unwrap().chunks(2)) {
        let exact = [(2.0 * (-t).exp() - 1.0).max(0.0), (1.0 - (-3.0 * t).exp()) / 3.0];
        let off = (x[0] - exact[0]).abs().max((x[1] - exact[1]).abs());
        assert!(off < 1e-12, "{x:?} for {exact:?} at {t}");
    }
}

/// What is not linear, or is driven by time, is left to collocation.
#[test]
fn other_models_are_left_alone() {
    let mut model = Model::new("driven");
    let push = Operator::vector_of_time(1, |t, out| out[0] = t.sin());
    let mass = LagrangianLinear::new([0.0], [0.0], [[1.0]]).F_ext(push);
    model.add("mass", mass).unwrap();
    let mut sim = driven(&model, 1e-10, 1e-12);
    let run = sim.run(2.0).unwrap();
    assert!(!sim.flow.is_exact());
    assert!((last(&run, "mass.q", 1)[0] - (2.0 - 2.0_f64.sin())).abs() < 1e-12);
}
