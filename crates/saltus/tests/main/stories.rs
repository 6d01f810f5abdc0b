//! What went wrong for users once, named after it.

use crate::models;
use saltus::prelude::*;
use saltus::sim::{Outcome, Progress};
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn an_interrupted_run_ends_with_the_last_state_it_reached() {
    let case = models::ball(0.1, 0.1);
    let flag = AtomicBool::new(false);
    let mut progress = |p: Progress| flag.store(p.steps >= 20, Ordering::Relaxed);
    let options = RunOptions {
        every: 1_000_000,
        interrupt: Some(&flag),
        progress: Some(&mut progress),
        ..RunOptions::default()
    };
    let mut sim = case.sim();
    let run = sim.run_with(1e6, options).unwrap();
    assert_eq!(run.stats.outcome, Outcome::Interrupted);
    assert_eq!(run.frames.len(), 2);
    assert_eq!(run.frames.time[1], sim.t());
    let whole = case.sim().run(sim.t()).unwrap();
    let width = whole.layout.width();
    assert_eq!(run.frames.rows[width..], whole.frames.rows[run.stats.steps * width..]);
}

#[test]
fn a_state_that_is_set_starts_without_multipliers() {
    let mut model = Model::new("ball at rest");
    let ball = model.add("ball", LagrangianLinear::new([0.0], [0.0], [[1.0]]).F_ext([-9.81]));
    let ball = ball.unwrap();
    let relation = LagrangianLinearRelation::new([[1.0]]);
    let floor = model.connect("floor", relation, Law::newton_impact(0.0), &[ball]).unwrap();
    let mut sim = TimeStepping::new(model, 0.01, []).unwrap();
    sim.step().unwrap();
    assert!(sim.lam(floor)[0] > 0.09);
    sim.set_qv(ball, Some(&[5.0]), None).unwrap();
    assert_eq!((sim.y(floor), sim.lam(floor)), (&[5.0][..], &[0.0][..]));
}

/// A circuit with a node that holds no charge: its equation must hold at every instant, for
/// every θ, also when the source jumps and when the start does not satisfy it.
#[test]
fn algebraic_equations_hold_at_every_instant_for_every_theta() {
    for (theta, gamma) in [(0.0, 1.0), (0.5, 1.0), (0.5, 0.5), (1.0, 1.0)] {
        for start in [-1.0, 0.3] {
            let source =
                |t: f64| if (std::f64::consts::TAU * t - 1e-9).sin() > 0.0 { 1.0 } else { -1.0 };
            let mut model = Model::new("rectifier");
            // C ẋ = λ,  0 = vs − n − λ,  0 ≤ x − n ⟂ λ ≥ 0
            let circuit = FirstOrderLinear::new([0.0, start], [[0.0, 0.0], [0.0, -1.0]])
                .M([[1.0, 0.0], [0.0, 0.0]])
                .b(Operator::vector_of_time(2, move |t, b| {
                    b[0] = 0.0;
                    b[1] = source(t);
                }));
            let circuit = model.add("circuit", circuit).unwrap();
            let diode = FirstOrderLinearRelation::new([[1.0, -1.0]], [[1.0], [-1.0]]);
            model.connect("diode", diode, Law::Complementarity, &[circuit]).unwrap();
            let scheme = EulerMoreau { theta, gamma, ..Default::default() };
            let run = TimeStepping::new(model, 0.01, [scheme.into()]).unwrap().run(1.0).unwrap();
            let (x, lam) = (run.signal("circuit.x[1]").unwrap(), run.signal("diode.lam").unwrap());
            for (k, &t) in run.frames.time.iter().enumerate().skip(1) {
                let balance = source(t) - x[k] - lam[k];
                assert!(balance.abs() < 1e-12, "θ = {theta}, γ = {gamma}, t = {t}: {balance:e}");
            }
        }
    }
}

/// A mass matrix that is singular without a zero row: the sum of the rows is algebraic.
#[test]
fn algebraic_equations_between_rows() {
    let mut model = Model::new("mixed rows");
    // x₁' + x₂' = −x₁ twice, so the difference of the rows, 0 = x₁ − x₂, is algebraic
    let system =
        FirstOrderLinear::new([1.0, 1.0], [[-1.0, 0.0], [0.0, -1.0]]).M([[1.0, 1.0], [1.0, 1.0]]);
    let pair = model.add("pair", system).unwrap();
    let scheme = EulerMoreau { theta: 0.5, gamma: 1.0, ..Default::default() };
    let mut sim = TimeStepping::new(model, 1e-3, [scheme.into()]).unwrap();
    sim.run(1.0).unwrap();
    let x = sim.x(pair).unwrap();
    assert!((x[0] - x[1]).abs() < 1e-12);
    // 2 x' = −x
    assert!((x[0] - (-0.5f64).exp()).abs() < 1e-6, "{x:?}");
}

/// Four legs carry a table; round-off in the gaps must not drop one of them for a step.
#[test]
fn a_table_on_four_legs_stays_where_it_is() {
    let mut model = Model::new("table");
    let mass = Matrix::diagonal(&[4.0, 1.0, 1.0]);
    let table = LagrangianLinear::new([0.0; 3], [0.0; 3], mass).F_ext([-4.0 * 9.81, 0.0, 0.0]);
    let table = model.add("table", table).unwrap();
    for (i, (a, b)) in [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)].iter().enumerate() {
        let leg = LagrangianLinearRelation::new([[1.0, *a, *b]]);
        let law = Law::newton_impact(0.0);
        model.connect(&format!("leg{i}"), leg, law, &[table]).unwrap();
    }
    let mut sim = TimeStepping::new(model, 1e-2, []).unwrap();
    sim.run(10.0).unwrap();
    let q = sim.q(table).unwrap();
    assert!(q.iter().all(|q| q.abs() < 1e-13), "{q:?}");
}

/// A picofarad beside a henry is a small capacitor, not an algebraic equation.
#[test]
fn a_small_mass_is_not_taken_for_none() {
    // C v' = −v/R with C = 1e-13, R = 1e13: v = exp(−t)
    let mut model = Model::new("small and large");
    let system = FirstOrderLinear::new([1.0, 1.0], [[-1e-13, 0.0], [0.0, -1.0]])
        .M([[1e-13, 0.0], [0.0, 1.0]]);
    let pair = model.add("pair", system).unwrap();
    let scheme = EulerMoreau { theta: 0.5, gamma: 1.0, ..Default::default() };
    let mut sim = TimeStepping::new(model, 1e-3, [scheme.into()]).unwrap();
    sim.run(1.0).unwrap();
    for x in sim.x(pair).unwrap() {
        assert!((x - (-1f64).exp()).abs() < 1e-6, "{x}");
    }
}
