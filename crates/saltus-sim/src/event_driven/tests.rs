//! Event-driven simulation against closed forms and published figures.

#![allow(clippy::excessive_precision)] // figures as they were published

mod beads;
mod columns;
mod events;
mod grazing;
mod ledger;
mod mechanisms;
mod rocking;
mod stories;

use super::{EventDriven, EventSettings};
use crate::run::{EventKind, Run};
use saltus_linalg::Matrix;
use saltus_model::*;
use saltus_numerics::Solver;
use std::f64::consts::{FRAC_PI_2, PI};

fn driven(model: Model, rtol: f64, atol: f64) -> EventDriven {
    EventDriven::with(model, EventSettings { rtol, atol }, &Solver::default()).unwrap()
}

/// The last values of a signal.
fn last<const N: usize>(run: &Run, path: &str) -> [f64; N] {
    *run.signal(path).unwrap().last_chunk().unwrap()
}

/// Instants of the events of one kind.
fn times(sim: &EventDriven, kind: EventKind) -> Vec<f64> {
    sim.events().iter().filter(|event| event.kind == kind).map(|event| event.time).collect()
}

fn worst<'a>(values: impl IntoIterator<Item = &'a f64>, exact: &[f64]) -> f64 {
    values.into_iter().zip(exact).fold(0.0, |worst, (a, b)| (a - b).abs().max(worst))
}

fn ball(e: f64) -> Model {
    let mut model = Model::new("ball");
    let ball =
        model.add("ball", LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext([-9.81])).unwrap();
    let law = Law::newton_impact(e);
    model.connect("floor", LagrangianLinearRelation::new([[1.0]]), law, &[ball]).unwrap();
    model
}

/// Every impact to 1e-12, their limit to 1e-9, then rest.
#[test]
fn the_bouncing_ball() {
    for e in [0.9, 0.5] {
        let mut sim = driven(ball(e), 1e-10, 1e-12);
        let run = sim.run(10.0).unwrap();
        let first = (2.0 / 9.81_f64).sqrt();
        let (mut exact, mut flight) = (first, 2.0 * first * e);
        let impacts = times(&sim, EventKind::Impact);
        assert!(impacts.len() > 20);
        for t in impacts {
            assert!((t / exact - 1.0).abs() < 1e-12, "{t} for {exact}");
            exact += flight;
            flight *= e;
        }
        let [end] = times(&sim, EventKind::Accumulation)[..] else { panic!("one limit") };
        assert!((end - first * (1.0 + e) / (1.0 - e)).abs() < 1e-9, "{end}");
        assert!(last::<1>(&run, "ball.q")[0].abs() < 1e-12);
        assert!((last::<1>(&run, "floor.lam")[0] - 9.81).abs() < 1e-9);
    }
}

/// A discontinuous right-hand side: the switch at t = 1, and the order across it.
#[test]
fn the_switched_oscillator() {
    let mut model = Model::new("oscillator");
    let names = Names { first: ("x", 2), second: ("lam", 1), ..Names::TIME };
    let f = Operator::formulas(2, 1, &["x[0]", "x[1]"], &names, &[]).unwrap();
    let id = model.add("point", FirstOrder::new([(-1.0_f64).exp(), 0.0], f)).unwrap();
    let h = Operator::formulas(1, 1, &["x[0]^2 + x[1]^2 - 1"], &names, &[]).unwrap();
    let g = ["-2*pi*lam[0]*x[1]", "2*pi*lam[0]*x[0]"];
    let g = Operator::formulas(2, 1, &g, &names, &[]).unwrap();
    let law = Law::relay(-1.0, 1.0);
    model.connect("circle", FirstOrderRelation::new(h, g), law, &[id]).unwrap();
    for (rtol, allowed) in [(1e-6, 1e-8), (1e-8, 1e-11), (1e-10, 1e-11), (1e-12, 1e-12)] {
        let mut sim = driven(model.clone(), rtol, 1e-2 * rtol);
        let run = sim.run(FRAC_PI_2).unwrap();
        let error = worst(&last::<2>(&run, "point.x"), &[-1.5974603774506984, 0.7614936206060108]);
        assert!(error < allowed, "{rtol}: {error}");
        let [switch] = times(&sim, EventKind::Switch)[..] else { panic!("one switch") };
        assert!((switch - 1.0).abs() < allowed, "{rtol}: {switch}");
    }
}

/// m = k = 1, F = 0.15: rests at −0.1 at 3π.
#[test]
fn the_coulomb_oscillator() {
    let mut model = Model::new("coulomb");
    let id = model.add("mass", LagrangianLinear::new([1.0], [0.0], [[1.0]]).K([[1.0]])).unwrap();
    let law = Law::relay(-0.15, 0.15);
    model.connect("friction", LagrangianLinearRelation::new([[1.0]]), law, &[id]).unwrap();
    let mut sim = driven(model, 1e-12, 1e-13);
    let run = sim.run(20.0).unwrap();
    assert!((last::<1>(&run, "mass.q")[0] + 0.1).abs() < 1e-12);
    let [rest] = times(&sim, EventKind::Sliding)[..] else { panic!("one rest") };
    assert!((rest - 3.0 * PI).abs() < 1e-11, "{rest}");
    assert!(worst(&times(&sim, EventKind::Switch), &[PI, 2.0 * PI]) < 1e-11);
}

/// Infinitely many switches into a corner, which is passed.
#[test]
fn the_square_spiral() {
    let mut model = Model::new("spiral");
    let id = model.add("point", FirstOrderLinear::new([1.0; 3], Matrix::zeros(3, 3))).unwrap();
    let relation = FirstOrderLinearRelation::new(
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        [[1.0, -2.0], [2.0, 1.0], [-1.0, -1.0]],
    );
    model.connect("relays", relation, Law::relay(-1.0, 1.0), &[id]).unwrap();
    let mut sim = driven(model, 1e-10, 1e-12);
    let run = sim.run(10.0).unwrap();
    assert!(worst(&last::<3>(&run, "point.x"), &[0.0, 0.0, 1.4]) < 1e-9);
    let [end] = times(&sim, EventKind::Accumulation)[..] else { panic!("one limit") };
    assert!((end - 1.0).abs() < 1e-9, "{end}");
}

/// A pendulum as a point on a circle, ten seconds.
#[test]
fn the_pendulum_on_a_circle() {
    let mut model = Model::new("pendulum");
    let names = Names { first: ("q", 2), second: ("lam", 1), ..Names::TIME };
    let mass = LagrangianLinear::new([-1.0, 0.0], [0.0, 0.0], Matrix::identity(2));
    let id = model.add("mass", mass.F_ext([0.0, -9.81])).unwrap();
    let h = Operator::formulas(1, 1, &["(q[0]^2 + q[1]^2 - 1)/2"], &names, &[]).unwrap();
    model.connect("rod", LagrangianRelation::new(h), Law::Equality, &[id]).unwrap();
    for (rtol, allowed) in [(1e-6, 1e-6), (1e-9, 1e-10), (1e-12, 1e-12)] {
        let run = driven(model.clone(), rtol, rtol).run(10.0).unwrap();
        let exact = [-0.275_087_462_576_116_86, -0.961_419_205_099_125_1];
        let error = worst(&last::<2>(&run, "mass.q"), &exact);
        assert!(error < allowed, "{rtol}: {error}");
        let drift = run.signal("rod.y").unwrap().iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        assert!(drift < 1e-9, "{rtol}: {drift}");
    }
}

/// Stick and slip on a belt, with more friction at rest than in motion.
#[test]
fn stick_and_slip_on_a_belt() {
    let mut model = Model::new("belt");
    let names = Names { first: ("q", 2), second: ("v", 2), ..Names::TIME };
    // q = (height, place); pressed onto the belt with 1, which moves with 1
    let mass = LagrangianLinear::new([0.0, 0.0], [0.0, 1.0], Matrix::identity(2));
    let id = model.add("mass", mass.K([[0.0, 0.0], [0.0, 1.0]]).F_ext([-1.0, 0.0])).unwrap();
    let h = Operator::formulas(2, 1, &["q[0]", "q[1] - t"], &names, &[]).unwrap();
    let mu = Operator::formulas(1, 1, &["piecewise(v[1] == 0, 1.5, 0.5)"], &names, &[]).unwrap();
    let law = Law::impact_friction(0.0, mu);
    model.connect("belt", LagrangianRelation::new(h), law, &[id]).unwrap();
    let mut sim = driven(model, 1e-12, 1e-13);
    sim.run(40.0).unwrap();
    let slips = times(&sim, EventKind::Slip);
    assert!(slips.len() >= 6);
    for pair in slips.windows(2) {
        assert!((pair[1] - pair[0] - 6.71238898038469).abs() < 1e-10, "{pair:?}");
    }
}

/// Three balls, the first of which hits the second, which touches the third: Newton's law for both
/// contacts at once.
#[test]
fn three_balls_at_once() {
    let mut model = Model::new("three balls");
    let balls =
        [-0.5, 1.0, 2.0].map(|q| LagrangianLinear::new([q], [(q < 0.0) as u8 as f64], [[1.0]]));
    let mut ids = Vec::new();
    for (k, ball) in balls.into_iter().enumerate() {
        ids.push(model.add(&format!("ball{k}"), ball).unwrap());
    }
    for k in 0..2 {
        let relation = LagrangianLinearRelation::new([[-1.0, 1.0]]).b([-1.0]);
        let pair = [ids[k], ids[k + 1]];
        model.connect(&format!("gap{k}"), relation, Law::newton_impact(1.0), &pair).unwrap();
    }
    let mut sim = driven(model, 1e-10, 1e-12);
    let run = sim.run(2.0).unwrap();
    let v = [0, 1, 2].map(|k| last::<1>(&run, &format!("ball{k}.v"))[0]);
    assert!(worst(&v, &[-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]) < 1e-13, "{v:?}");
    assert!(worst(&times(&sim, EventKind::Impact), &[0.5, 0.5]) < 1e-13);
}

/// A diode whose current is part of what it looks at: relative degree zero.
#[test]
fn the_rectifier() {
    let (l, c, r) = (1e-2, 1e-6, 1e3);
    let mut model = Model::new("rectifier");
    let circuit = FirstOrderLinear::new([10.0, 0.0], [[0.0, -1.0 / c], [1.0 / l, 0.0]]);
    let id = model.add("circuit", circuit).unwrap();
    let relation = FirstOrderLinearRelation::new([[-1.0, 0.0]], [[-1.0 / c], [0.0]]).D([[r]]);
    model.connect("diode", relation, Law::Complementarity, &[id]).unwrap();
    let mut sim = driven(model, 1e-10, 1e-12);
    sim.run(5e-3).unwrap();
    let events: Vec<f64> = sim.events().iter().map(|event| event.time).collect();
    assert!(events.len() > 10);
    // blocked for half a period of the circuit without it
    for pair in events.chunks_exact(2) {
        assert!(((pair[1] - pair[0]) / (PI * (l * c).sqrt()) - 1.0).abs() < 1e-9, "{pair:?}");
    }
}

/// A block in space on a slope of 30°: it slips, sticks, or turns until it slides straight down.
#[test]
fn a_block_on_a_slope() {
    let g = 9.81_f64;
    let (sine, cosine) = (30.0_f64.to_radians().sin(), 30.0_f64.to_radians().cos());
    let run = |mu: f64, v0: [f64; 2], until: f64| {
        let mut model = Model::new("block");
        let block = LagrangianLinear::new([0.0; 3], [0.0, v0[0], v0[1]], Matrix::identity(3));
        let id = model.add("block", block.F_ext([-g * cosine, g * sine, 0.0])).unwrap();
        let relation = LagrangianLinearRelation::new(Matrix::identity(3));
        model.connect("slope", relation, Law::impact_friction(0.0, mu), &[id]).unwrap();
        let mut sim = driven(model, 1e-10, 1e-12);
        let run = sim.run(until).unwrap();
        (last::<3>(&run, "block.v"), times(&sim, EventKind::Stick))
    };
    let (v, _) = run(0.3, [0.0; 2], 1.0);
    assert!((v[1] - 2.3562872366623964).abs() < 1e-12, "{v:?}");
    let (v, _) = run(0.7, [0.0; 2], 1.0);
    assert!(v.iter().all(|v| v.abs() < 1e-25), "{v:?}");
    // uphill, until it rests
    let (v, stick) = run(0.7, [-2.0, 0.0], 1.0);
    let exact = 2.0 / (g * (sine + 0.7 * cosine));
    assert!(v.iter().all(|v| v.abs() < 1e-12), "{v:?}");
    assert!(stick.len() == 1 && (stick[0] - exact).abs() < 1e-11, "{stick:?} for {exact}");
    // across, with μ = tan 30°: ‖v‖ + v_x stays
    let (v, _) = run(sine / cosine, [0.0, 1.0], 1.0);
    assert!((v[1].hypot(v[2]) + v[1] - 1.0).abs() < 1e-9, "{v:?}");
}

/// A coefficient of zero: what lies still has no direction to slip in, what is pulled slides freely.
#[test]
fn a_floor_without_friction() {
    for force in [0.0, 1.0, -2.0] {
        let mut model = Model::new("puck");
        let puck = LagrangianLinear::new([0.0; 2], [0.0; 2], Matrix::identity(2));
        let id = model.add("puck", puck.F_ext([-9.81, force])).unwrap();
        let relation = LagrangianLinearRelation::new(Matrix::identity(2));
        model.connect("floor", relation, Law::impact_friction(0.0, 0.0), &[id]).unwrap();
        let run = driven(model, 1e-9, 1e-11).run(1.0).unwrap();
        let ([height, place], [push, pull]) = (last(&run, "puck.q"), last(&run, "floor.lam"));
        assert!(height.abs() < 1e-11 && (place - 0.5 * force).abs() < 1e-9, "{height} {place}");
        assert!((push - 9.81).abs() < 1e-9 && pull.abs() < 1e-9, "{push} {pull}");
    }
}

/// Two integrators in a row above a bound, relative degree two: stopped there, as a ball without
/// restitution is.
#[test]
fn a_first_order_output_of_degree_two() {
    let mut model = Model::new("ball");
    let ball = FirstOrderLinear::new([1.0, 0.0], [[0.0, 1.0], [0.0, 0.0]]).b([0.0, -9.81]);
    let id = model.add("ball", ball).unwrap();
    let floor = FirstOrderLinearRelation::new([[1.0, 0.0]], [[0.0], [1.0]]);
    model.connect("floor", floor, Law::Complementarity, &[id]).unwrap();
    let mut sim = driven(model, 1e-9, 1e-11);
    assert_eq!(sim.relative_degrees().unwrap()[0].degrees, [Some(2)]);
    let run = sim.run(2.0).unwrap();
    assert!(worst(&last::<2>(&run, "ball.x"), &[0.0, 0.0]) < 1e-12);
    assert!((last::<1>(&run, "floor.lam")[0] - 9.81).abs() < 1e-9);
    let impact = times(&sim, EventKind::Switch)[0];
    assert!((impact - (2.0 / 9.81_f64).sqrt()).abs() < 1e-12);
}

/// What cannot be simulated is refused, with its name.
#[test]
fn bad_input() {
    let settings = |rtol, atol| EventSettings { rtol, atol };
    let refused = |model: Model, settings| {
        EventDriven::with(model, settings, &Solver::default()).unwrap_err().to_string()
    };
    let good = EventSettings::default();
    assert!(refused(Model::new("nothing"), good).contains("has no system"));
    assert!(refused(ball(0.5), settings(f64::NAN, 1e-9)).contains("`rtol` = NaN"));
    assert!(refused(ball(0.5), settings(1e-9, 0.0)).contains("`atol` = 0"));
    assert!(refused(ball(0.5).starting_at(f64::NAN), good).contains("`t0` = NaN"));
    let mut several = Model::new("several");
    let id = several.add("ball", LagrangianLinear::new([1.0], [0.0], [[1.0]])).unwrap();
    let relation = LagrangianLinearRelation::new([[1.0]]);
    several.connect("floor", relation, Law::multiple_impact(0.5, 1.0), &[id]).unwrap();
    assert!(refused(several, good).contains("interaction `floor`"));
    let mut sim = driven(ball(0.5), 1e-9, 1e-9);
    assert!(sim.run(f64::NAN).is_err() && sim.run(-1.0).is_err());
}
