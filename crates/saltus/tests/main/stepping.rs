//! How a simulation behaves: steps are transactions, runs repeat bit by bit, and what stands
//! beside a system does not change it.

use crate::models::{self, Case};
use crate::support::{check_run, checked_run, ledgers, order_within, within};
use saltus::numerics::Interrupt;
use saltus::prelude::*;
use saltus::sim::{Frames, Layout, Outcome, SimError, Sink};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Equal to the last bit, zeros with their signs.
#[track_caller]
fn same_bits(a: &Frames, b: &Frames) {
    let bits = |frames: &Frames| -> Vec<u64> {
        let numbers = frames.time.iter().chain(&frames.rows).chain(&frames.residual);
        numbers.map(|x| x.to_bits()).collect()
    };
    assert_eq!(a.len(), b.len());
    assert!(bits(a) == bits(b), "the runs differ");
    assert_eq!(a.iterations, b.iterations);
}

fn some_cases() -> Vec<Case> {
    let to = |until, case| Case { until, ..case };
    vec![
        to(2.0, models::ball(0.1, 5e-3)),
        models::beads(10, 1e-3, 0.8),
        models::rectifier(1e-5),
        to(1e-3, models::bridge(0.5, 1e-6)),
        models::sliding_mode(0.05),
        to(5.0, models::spiral([-4.0, 3.0, 0.0], 1.0, 0.01)),
        to(1.0, models::ladder(10, 1e-3)),
        to(2e-4, models::converter(1e-7, 1.0, models::square_wave)),
        models::dry_oscillator(0.01),
        to(10.0, models::belt(0.01)),
    ]
}

/// `ẋ = −1`, `0 ≤ y = x ⟂ λ ≥ 0`, and λ does nothing: no solution once x would be negative.
fn doomed() -> (Model, SystemId) {
    let mut model = Model::new("no way out");
    let id = model.add("tank", FirstOrderLinear::new([0.25], [[0.0]]).b([-1.0])).unwrap();
    let relation = FirstOrderLinearRelation::new([[1.0]], [[0.0]]);
    model.connect("empty", relation, Law::Complementarity, &[id]).unwrap();
    (model, id)
}

#[test]
fn a_failed_step_changes_nothing() {
    let (model, id) = doomed();
    let mut sim = TimeStepping::new(model, 0.1, []).unwrap();
    sim.step().unwrap();
    sim.step().unwrap();
    let (t, x) = (sim.t(), sim.x(id).unwrap().to_vec());
    for _ in 0..3 {
        let error = sim.step().unwrap_err();
        assert!(
            matches!(&error, SimError::Unsolved { worst, .. } if worst == "`empty`"),
            "{error}"
        );
        assert_eq!((sim.t(), sim.x(id).unwrap()), (t, x.as_slice()));
    }
    // corrected, it goes on as one that never failed
    sim.set_x(id, &[1.0]).unwrap();
    sim.step().unwrap();
    let mut other = TimeStepping::new(doomed().0, 0.1, []).unwrap();
    other.step().unwrap();
    other.step().unwrap();
    other.set_x(id, &[1.0]).unwrap();
    other.step().unwrap();
    assert_eq!((sim.t(), sim.x(id).unwrap()), (other.t(), other.x(id).unwrap()));
}

#[test]
fn a_failed_run_keeps_what_was_computed() {
    let (model, _) = doomed();
    let mut sim = TimeStepping::new(model, 0.1, []).unwrap();
    let failure = sim.run(1.0).unwrap_err();
    assert_eq!(failure.run.stats.steps, 2);
    assert_eq!(failure.run.stats.failures, 1);
    assert_eq!(failure.run.frames.time, [0.0, 0.1, 0.2]);
    assert_eq!(failure.run.stats.outcome, Outcome::Failed(failure.to_string()));
    let message = failure.to_string();
    assert!(message.starts_with("t = 0.30000000000000004: the step's problem was not solved: "));
    assert!(message.ends_with("worst at `empty`)"), "{message}");
}

/// A force of 1 until it is switched off, and then an error.
#[derive(Debug)]
struct Wind(Arc<AtomicBool>);

impl Function for Wind {
    fn eval(&self, _: At<'_>, F: &mut [f64]) -> Result<(), String> {
        F[0] = 1.0;
        if self.0.load(Ordering::Relaxed) { Err("no wind".to_string()) } else { Ok(()) }
    }

    fn uses(&self, argument: Argument) -> bool {
        argument == Argument::Time
    }
}

/// The mechanical part fails after the first-order part has been computed.
#[test]
fn a_step_of_two_parts_is_one_transaction() {
    let mut model = Model::new("mixed");
    let tank = model.add("tank", FirstOrderLinear::new([1.0], [[-1.0]])).unwrap();
    let broken = Arc::new(AtomicBool::new(false));
    let switch = Arc::clone(&broken);
    let F_ext = Operator::function(1, 1, Arc::new(Wind(switch)));
    let mass =
        model.add("mass", LagrangianLinear::new([0.0], [0.0], [[1.0]]).F_ext(F_ext)).unwrap();
    let mut sim = TimeStepping::new(model.clone(), 0.1, []).unwrap();
    let mut other = TimeStepping::new(model, 0.1, []).unwrap();
    sim.step().unwrap();
    other.step().unwrap();
    let before = (sim.t(), sim.x(tank).unwrap()[0], sim.q(mass).unwrap()[0], sim.ledger());
    broken.store(true, Ordering::Relaxed);
    let error = sim.step().unwrap_err();
    assert_eq!(error.to_string(), "`F_ext of mass` at t = 0.2: no wind");
    let after = (sim.t(), sim.x(tank).unwrap()[0], sim.q(mass).unwrap()[0], sim.ledger());
    assert_eq!(before, after);
    broken.store(false, Ordering::Relaxed);
    same_bits(&sim.run(1.0).unwrap().frames, &other.run(1.0).unwrap().frames);
}

#[test]
fn reset_repeats_the_run() {
    for case in some_cases() {
        let mut sim = case.sim();
        let first = sim.run(case.until).unwrap();
        sim.reset().unwrap();
        assert_eq!(sim.t(), 0.0);
        let second = sim.run(case.until).unwrap();
        same_bits(&first.frames, &second.frames);
    }
}

#[test]
fn two_halves_are_one_run() {
    for case in some_cases() {
        let whole = case.sim().run(case.until).unwrap();
        let mut sim = case.sim();
        let steps = sim.steps_ahead(case.until);
        let middle = (steps / 2) as f64 * case.h;
        let first = sim.run(middle).unwrap();
        assert_eq!(first.stats.steps, steps / 2);
        let second = sim.run(case.until).unwrap();
        assert!(sim.done(case.until));
        let mut joined = first.frames;
        let width = second.layout.width();
        joined.time.extend_from_slice(&second.frames.time[1..]);
        joined.rows.extend_from_slice(&second.frames.rows[width..]);
        joined.iterations.extend_from_slice(&second.frames.iterations[1..]);
        joined.residual.extend_from_slice(&second.frames.residual[1..]);
        same_bits(&whole.frames, &joined);
    }
}

#[test]
fn steps_by_hand_are_the_run() {
    let case = models::beads(10, 1e-3, 0.6);
    let run = case.sim().run(case.until).unwrap();
    let mut sim = case.sim();
    let id = case.model.system_id("bead3").unwrap();
    let contact = case.model.interaction_id("contact2").unwrap();
    let of = |signal| run.signal(signal).unwrap();
    let (q, v) = (of("bead3.q"), of("bead3.v"));
    let (y, u, lam) = (of("contact2.y"), of("contact2.u"), of("contact2.lam"));
    for k in 1..run.frames.len() {
        let stats = sim.step().unwrap();
        assert_eq!((stats.t, stats.h), (run.frames.time[k], case.h));
        assert_eq!(stats.residual, run.frames.residual[k]);
        assert_eq!(sim.q(id).unwrap(), [q[k]]);
        assert_eq!(sim.v(id).unwrap(), [v[k]]);
        assert_eq!(sim.y(contact), [y[k]]);
        assert_eq!(sim.u(contact), [u[k]]);
        assert_eq!(sim.lam(contact), [lam[k]]);
        assert_eq!(sim.ledger().unwrap(), ledgers(&run)[k]);
    }
}

#[test]
fn the_last_step_is_shortened() {
    let case = Case { until: 1.0, ..models::ball(0.1, 0.3) };
    let run = case.sim().run(1.0).unwrap();
    assert_eq!(run.frames.time, [0.0, 0.3, 0.6, 3.0 * 0.3, 1.0]);
    // and the next run goes on from there with full steps
    let mut sim = case.sim();
    sim.run(1.0).unwrap();
    let next = sim.run(2.0).unwrap();
    assert_eq!(next.frames.time, [1.0, 1.3, 1.6, 1.0 + 3.0 * 0.3, 2.0]);
    // the short step obeys its own h: constant velocity and force integrate exactly
    let mut model = Model::new("falling");
    let id =
        model.add("ball", LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext([-9.81])).unwrap();
    let mut sim = TimeStepping::new(model, 0.3, []).unwrap();
    sim.run(1.0).unwrap();
    assert!((sim.v(id).unwrap()[0] + 9.81).abs() < 1e-14);
    assert!((sim.q(id).unwrap()[0] - (1.0 - 0.5 * 9.81)).abs() < 1e-14);
    // a rest far below a step is no step
    let mut sim = case.sim();
    assert_eq!(sim.run(0.3 + 1e-12).unwrap().stats.steps, 1);
    assert_eq!(sim.run(0.3 + 1e-12).unwrap().stats.steps, 0);
}

#[test]
fn instants_are_steps() {
    // a power of two: k h is exact, so both clocks agree to the last bit
    let h = 1.0 / 128.0;
    let case = Case { until: 4.0, ..models::ball(0.1, h) };
    let instants: Vec<f64> = (1..=512).map(|k| k as f64 * h).collect();
    let fixed = case.sim().run(4.0).unwrap();
    let mut sim = TimeStepping::new(case.model.clone(), instants, []).unwrap();
    let given = sim.run(4.0).unwrap();
    same_bits(&fixed.frames, &given.frames);
    let error = sim.step().unwrap_err();
    assert_eq!(error.to_string(), "`h` gives instants up to t = 4; there is no step beyond it");

    // otherwise to round-off
    let case = Case { until: 1.0, ..models::ball(0.1, 1e-3) };
    let instants: Vec<f64> = (1..=1000).map(|k| k as f64 * 1e-3).collect();
    let fixed = case.sim().run(1.0).unwrap();
    let given = TimeStepping::new(case.model, instants, []).unwrap().run(1.0).unwrap();
    let worst = (fixed.frames.rows.iter().zip(&given.frames.rows))
        .fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
    within("instants against steps", worst, 1e-11);

    // uneven instants: exact for free fall
    let mut model = Model::new("falling");
    let id =
        model.add("ball", LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext([-9.81])).unwrap();
    let mut sim = TimeStepping::new(model, vec![0.1, 0.15, 0.4, 1.0], []).unwrap();
    let run = sim.run(1.0).unwrap();
    assert_eq!(run.frames.time, [0.0, 0.1, 0.15, 0.4, 1.0]);
    assert!((sim.q(id).unwrap()[0] - (1.0 - 0.5 * 9.81)).abs() < 1e-14);
}

#[test]
fn an_interrupt_keeps_the_rows() {
    let case = models::ball(0.1, 1e-3);
    let flag = Interrupt::default();
    flag.stop();
    let options = RunOptions { interrupt: Some(&flag), ..RunOptions::default() };
    let run = case.sim().run_with(10.0, options).unwrap();
    assert_eq!(
        (run.stats.outcome, run.stats.steps, run.frames.len()),
        (Outcome::Interrupted, 0, 1)
    );

    let flag = Interrupt::default();
    let mut seen = Vec::new();
    let mut progress = |p: saltus::sim::Progress| {
        seen.push((p.steps, p.until));
        if p.steps >= 512 {
            flag.stop();
        }
    };
    let options = RunOptions {
        interrupt: Some(&flag),
        progress: Some(&mut progress),
        ..RunOptions::default()
    };
    let mut sim = case.sim();
    let run = sim.run_with(10.0, options).unwrap();
    assert_eq!(run.stats.outcome, Outcome::Interrupted);
    assert_eq!(run.frames.len(), run.stats.steps + 1);
    assert!(run.stats.steps >= 512);
    assert_eq!(seen.last(), Some(&(run.stats.steps, 10.0)));
    assert!(seen.is_sorted_by(|a, b| a.0 < b.0));
    // it can go on
    let rest = sim.run(10.0).unwrap();
    let whole = case.sim().run(10.0).unwrap();
    let width = whole.layout.width();
    assert_eq!(rest.frames.rows, whole.frames.rows[run.stats.steps * width..]);
}

#[test]
fn every_so_many_steps() {
    let case = models::ball(0.1, 0.1);
    let whole = case.sim().run(1.0).unwrap();
    let options = RunOptions { every: 3, ..RunOptions::default() };
    let run = case.sim().run_with(1.0, options).unwrap();
    let expected: Vec<f64> = [0, 3, 6, 9, 10].map(|k| whole.frames.time[k]).to_vec();
    assert_eq!(run.frames.time, expected);
    let width = run.layout.width();
    for (row, k) in [0, 3, 6, 9, 10].into_iter().enumerate() {
        assert_eq!(
            run.frames.rows[row * width..][..width],
            whole.frames.rows[k * width..][..width]
        );
    }
    assert_eq!(run.stats.steps, 10);
}

#[test]
fn chosen_signals() {
    let case = models::beads(5, 1e-3, 0.6);
    let whole = case.sim().run(0.6).unwrap();
    let chosen = ["bead2.q[0]", "contact1", "bead0.v"].map(str::to_string);
    let options = RunOptions { signals: Some(&chosen), ..RunOptions::default() };
    let run = case.sim().run_with(0.6, options).unwrap();
    let paths: Vec<String> = run.layout.signals.iter().map(|s| s.path()).collect();
    assert_eq!(paths, ["bead2.q", "contact1.y", "contact1.u", "contact1.lam", "bead0.v"]);
    for path in paths {
        assert_eq!(run.signal(&path).unwrap(), whole.signal(&path).unwrap());
    }
    assert_eq!(ledgers(&run), ledgers(&whole));
    // a component stands for its signal, so that its index stays what it was
    let case = Case { until: 1.0, ..models::ball(0.1, 0.1) };
    let chosen = ["ball.q[2]", "ball.q[0]"].map(str::to_string);
    let options = RunOptions { signals: Some(&chosen), ..RunOptions::default() };
    let ball = case.sim().run_with(1.0, options).unwrap();
    let whole = case.sim().run(1.0).unwrap();
    assert_eq!(ball.layout.signals.len(), 1);
    assert_eq!(ball.signal("ball.q").unwrap(), whole.signal("ball.q").unwrap());
    let error = run.signal("bead1.q").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the run has no signal `bead1.q`; it has bead2.q, contact1.y, contact1.u, contact1.lam, bead0.v"
    );
}

#[test]
fn a_sink_gets_every_row_once() {
    #[derive(Default)]
    struct Collect(Frames, usize);
    impl Sink for Collect {
        fn append(&mut self, _: &Layout, frames: &Frames) -> std::io::Result<()> {
            self.0.time.extend_from_slice(&frames.time);
            self.0.rows.extend_from_slice(&frames.rows);
            self.0.iterations.extend_from_slice(&frames.iterations);
            self.0.residual.extend_from_slice(&frames.residual);
            self.1 += 1;
            Ok(())
        }
    }
    let case = models::beads(100, 1e-3, 1.0);
    let whole = case.sim().run(1.0).unwrap();
    let mut sink = Collect::default();
    let options = RunOptions { sink: Some(&mut sink), ..RunOptions::default() };
    let run = case.sim().run_with(1.0, options).unwrap();
    assert!(run.frames.is_empty());
    assert!(sink.1 > 1, "one chunk only");
    same_bits(&sink.0, &whole.frames);

    struct Full;
    impl Sink for Full {
        fn append(&mut self, _: &Layout, _: &Frames) -> std::io::Result<()> {
            Err(std::io::Error::other("disk full"))
        }
    }
    let options = RunOptions { sink: Some(&mut Full), ..RunOptions::default() };
    let failure = case.sim().run_with(1.0, options).unwrap_err();
    assert_eq!(failure.to_string(), "recording failed: disk full");
}

#[test]
fn states_can_be_set() {
    // thrown from the hand at t = 1 instead of dropped at t = 0
    let case = models::ball(0.1, 1e-2);
    let id = case.model.system_id("ball").unwrap();
    let mut sim = case.sim();
    sim.run(1.0).unwrap();
    sim.set_qv(id, Some(&[1.0, 0.0, 0.0]), Some(&[0.0; 3])).unwrap();
    let floor = case.model.interaction_id("floor").unwrap();
    assert_eq!(sim.y(floor), [0.9]);
    assert_eq!(sim.u(floor), [0.0]);
    let ledger = sim.ledger().unwrap();
    assert_eq!([ledger.kinetic, ledger.work, ledger.contact(), ledger.numerical], [0.0; 4]);
    let run = sim.run(3.0).unwrap();
    let fresh = case.sim().run(2.0).unwrap();
    let (a, b) = (run.signal("ball.q[0]").unwrap(), fresh.signal("ball.q[0]").unwrap());
    assert_eq!(a, b);
    assert!(ledgers(&run).iter().all(|l| l.numerical.abs() < 1e-12));
    // one of both
    sim.set_qv(id, None, Some(&[1.0, 2.0, 3.0])).unwrap();
    assert_eq!(sim.v(id).unwrap(), [1.0, 2.0, 3.0]);
    assert_eq!(sim.q(id).unwrap()[0], *b.last().unwrap());

    let case = models::sliding_mode(0.1);
    let id = case.model.system_id("plant").unwrap();
    let surface = case.model.interaction_id("surface").unwrap();
    let mut sim = case.sim();
    sim.run(1.0).unwrap();
    sim.set_x(id, &[0.0, 2.21]).unwrap();
    assert_eq!(sim.y(surface), [2.21]);
    let run = sim.run(6.0).unwrap();
    let fresh = case.sim().run(5.0).unwrap();
    assert_eq!(run.signal("plant.x").unwrap(), fresh.signal("plant.x").unwrap());
}

#[test]
fn neighbours_do_not_matter() {
    let (h, until) = (1e-2, 3.0);
    let circuit = models::lzc(0.5, h);
    let ball = models::ball(0.1, h);
    let mut model = Model::new("both");
    let mut copy = |from: &Model, name: &str| {
        let id = from.system_id(name).unwrap();
        model.add(name, from.system(id).unwrap().clone()).unwrap()
    };
    let ball_id = copy(&ball.model, "ball");
    let circuit_id = copy(&circuit.model, "circuit");
    let zener = FirstOrderLinearRelation::new([[0.0, 1.0]], [[0.0], [1.0]]);
    model.connect("zener", zener, Law::relay(-5.0, 0.0), &[circuit_id]).unwrap();
    let floor = LagrangianLinearRelation::new([[1.0, 0.0, 0.0]]).b([-0.1]);
    model.connect("floor", floor, Law::newton_impact(0.9), &[ball_id]).unwrap();
    let integrators = [ball.integrator.clone(), circuit.integrator.clone()];
    let both = TimeStepping::new(model, h, integrators).unwrap().run(until).unwrap();
    for case in [&ball, &circuit] {
        let alone = case.sim().run(until).unwrap();
        for signal in &alone.layout.signals {
            let path = signal.path();
            assert_eq!(both.signal(&path).unwrap(), alone.signal(&path).unwrap(), "{path}");
        }
    }
    assert_eq!(ledgers(&both), ledgers(&ball.sim().run(until).unwrap()));
}

#[test]
fn equality_welds_two_masses() {
    let mut model = Model::new("welded");
    let a = LagrangianLinear::new([0.0], [1.0], [[1.0]]).F_ext([3.0]);
    let b = LagrangianLinear::new([1.0], [1.0], [[2.0]]);
    let ids = [model.add("a", a).unwrap(), model.add("b", b).unwrap()];
    let relation = LagrangianLinearRelation::new([[-1.0, 1.0]]).b([-1.0]);
    model.connect("weld", relation, Law::Equality, &ids).unwrap();
    let h = 1e-2;
    let case = Case { model, h, until: 2.0, integrator: MoreauJean::default().into() };
    let run = checked_run(&case);
    let of = |signal| run.signal(signal).unwrap();
    let (q, gap, u, lam) = (of("b.q"), of("weld.y"), of("weld.u"), of("weld.lam"));
    for (k, t) in run.frames.time.iter().enumerate() {
        assert!((q[k] - (1.0 + t + 0.5 * t * t)).abs() < 1e-12); // 3 N on 3 kg
        assert!(gap[k].abs() < 1e-12 && u[k].abs() < 1e-13);
        if k > 0 {
            assert!((lam[k] - 2.0 * h).abs() < 1e-13); // 1 m/s² for 2 kg
        }
    }
    // the weld does no work
    assert!(ledgers(&run).iter().all(|l| l.contact().abs() < 1e-12));
}

#[test]
fn equality_of_first_order() {
    // two capacitors closed to a loop: an impulse of current, then equal voltages; charge stays
    let mut model = Model::new("loop");
    let ids = [3.0, 0.0].map(|x| FirstOrderLinear::new([x], [[0.0]]));
    let [a, b] = ids;
    let ids = [model.add("a", a).unwrap(), model.add("b", b.M([[2.0]])).unwrap()];
    let relation = FirstOrderLinearRelation::new([[1.0, -1.0]], [[-1.0], [1.0]]);
    model.connect("loop", relation, Law::Equality, &ids).unwrap();
    let integrator = EulerMoreau::default().into();
    let run = checked_run(&Case { model, h: 0.1, until: 1.0, integrator });
    let of = |signal| run.signal(signal).unwrap();
    let (a, b, lam) = (of("a.x"), of("b.x"), of("loop.lam"));
    for k in 1..run.frames.len() {
        assert!((a[k] - 1.0).abs() < 1e-14 && (b[k] - 1.0).abs() < 1e-14);
    }
    assert!((lam[1] * 0.1 - 2.0).abs() < 1e-14 && lam[2].abs() < 1e-12);

    // an algebraic equation: ẋ₁ = x₂, 0 = x₂ + λ, 0 = x₁ + x₂, so that x₁ = e⁻ᵗ; M is singular
    let mut errors = Vec::new();
    for h in [0.1, 0.05, 0.025] {
        let mut model = Model::new("algebraic");
        let system = FirstOrderLinear::new([1.0, -1.0], [[0.0, 1.0], [0.0, 1.0]])
            .M([[1.0, 0.0], [0.0, 0.0]]);
        let id = model.add("x", system).unwrap();
        let relation = FirstOrderLinearRelation::new([[1.0, 1.0]], [[0.0], [1.0]]);
        model.connect("sum", relation, Law::Equality, &[id]).unwrap();
        let run =
            checked_run(&Case { model, h, until: 2.0, integrator: EulerMoreau::default().into() });
        let (x, lam) = (run.signal("x.x").unwrap(), run.signal("sum.lam").unwrap());
        let mut worst = 0.0f64;
        for k in 1..run.frames.len() {
            assert!((x[2 * k] + x[2 * k + 1]).abs() < 1e-13);
            assert!((lam[k] - x[2 * k]).abs() < 1e-12);
            worst = worst.max((x[2 * k] - (-run.frames.time[k]).exp()).abs());
        }
        errors.push((h, worst));
    }
    order_within("algebraic equation, implicit Euler", &errors, 0.9..=1.1);
}

/// γ = θ = 1/2 takes the multiplier's mean: second order where γ = 1 is first.
#[test]
fn gamma_is_the_weight_of_the_multiplier() {
    let run_of = |gamma, h| {
        let mut case = models::rectifier(h);
        let mut model = Model::new("blocked at first");
        let tank = FirstOrderLinear::new([-10.0, 0.0], [[0.0, -1e6], [1e2, 0.0]]);
        let id = model.add("tank", tank).unwrap();
        let relation = FirstOrderLinearRelation::new([[-1.0, 0.0]], [[-1e6], [0.0]]).D([[1e3]]);
        model.connect("diode", relation, Law::Complementarity, &[id]).unwrap();
        case.model = model;
        case.until = 1e-3;
        case.integrator = EulerMoreau { theta: 0.5, gamma, ..Default::default() }.into();
        checked_run(&case).signal("tank.x[0]").unwrap()
    };
    for (gamma, range) in [(1.0, 0.8..=1.4), (0.5, 1.6..=2.4)] {
        let mut errors = Vec::new();
        for h in [5e-6, 2.5e-6, 1.25e-6] {
            let (coarse, fine) = (run_of(gamma, h), run_of(gamma, h / 2.0));
            let pairs = coarse.iter().zip(fine.iter().step_by(2));
            errors.push((h, pairs.fold(0.0f64, |a, (x, y)| a.max((x - y).abs()))));
        }
        order_within(&format!("rectifier, γ = {gamma}, against half the step"), &errors, range);
    }
}

#[test]
fn time_varying_matrix() {
    // ẋ = −2 t x, x = exp(−t²); and a turning frame ẋ = 2t (x₂, −x₁)
    for (theta, range) in [(0.5, 1.9..=2.1), (1.0, 0.9..=1.1)] {
        let (mut decay, mut turn) = (Vec::new(), Vec::new());
        for h in [0.02, 0.01, 0.005] {
            let mut model = Model::new("time-varying");
            let A = Operator::matrix_of_time(1, 1, |t, A| A[0] = -2.0 * t);
            model.add("decay", FirstOrderLinear::new([1.0], A)).unwrap();
            let A = Operator::matrix_of_time(2, 2, |t, A| {
                A.copy_from_slice(&[0.0, 2.0 * t, -2.0 * t, 0.0]);
            });
            model.add("turn", FirstOrderLinear::new([1.0, 0.0], A)).unwrap();
            let integrator = EulerMoreau { theta, gamma: 1.0, ..Default::default() }.into();
            let run = checked_run(&Case { model, h, until: 2.0, integrator });
            let (x, z) = (run.signal("decay.x").unwrap(), run.signal("turn.x[0]").unwrap());
            let worst = |values: &[f64], exact: fn(f64) -> f64| {
                let rows = run.frames.time.iter().zip(values);
                rows.fold(0.0f64, |a, (&t, x)| a.max((x - exact(t)).abs()))
            };
            decay.push((h, worst(&x, |t| (-t * t).exp())));
            turn.push((h, worst(&z, |t| (t * t).cos())));
        }
        order_within(&format!("A(t), decay, θ = {theta}"), &decay, range.clone());
        order_within(&format!("A(t), turning, θ = {theta}"), &turn, range);
    }
}

/// `q̈ + 2 d ω q̇ + ω² q = a cos wt` from rest at 1.
fn forced(theta: f64, h: f64, d: f64, a: f64) -> (Run, f64) {
    let (omega, w) = (2.0, 3.0);
    let mut model = Model::new("forced oscillator");
    let force = Operator::vector_of_time(1, move |t, F| F[0] = a * (w * t).cos());
    let system = LagrangianLinear::new([1.0], [0.0], [[1.0]])
        .C([[2.0 * d * omega]])
        .K([[omega * omega]])
        .F_ext(force);
    model.add("mass", system).unwrap();
    let integrator = MoreauJean { theta, ..MoreauJean::default() }.into();
    let case = Case { model, h, until: 10.0, integrator };
    let run = case.sim().run(10.0).unwrap();
    check_run(&case, &run);
    // particular solution P cos wt + Q sin wt, homogeneous one from what it leaves at t = 0
    let (s, r) = (omega * omega - w * w, 2.0 * d * omega * w);
    let (P, Q) = (a * s / (s * s + r * r), a * r / (s * s + r * r));
    let wd = omega * (1.0f64 - d * d).sqrt();
    let (B1, B2) = (1.0 - P, (d * omega * (1.0 - P) - w * Q) / wd);
    let exact = |t: f64| {
        (-d * omega * t).exp() * (B1 * (wd * t).cos() + B2 * (wd * t).sin())
            + P * (w * t).cos()
            + Q * (w * t).sin()
    };
    let q = run.signal("mass.q").unwrap();
    let rows = run.frames.time.iter().zip(&q);
    let error = rows.fold(0.0f64, |worst, (&t, q)| worst.max((q - exact(t)).abs()));
    (run, error)
}

#[test]
fn forced_and_damped_oscillator() {
    let steps = [0.02, 0.01, 0.005];
    for (d, a) in [(0.0, 0.0), (0.1, 0.0), (0.0, 1.5), (0.1, 1.5)] {
        for (theta, range) in [(0.5, 1.9..=2.1), (1.0, 0.8..=1.15)] {
            let errors: Vec<(f64, f64)> =
                steps.into_iter().map(|h| (h, forced(theta, h, d, a).1)).collect();
            order_within(&format!("oscillator, d = {d}, a = {a}, θ = {theta}"), &errors, range);
        }
    }
}

#[test]
fn the_ledger_of_an_oscillator() {
    // free: θ = 1/2 keeps the energy, θ = 1 takes some, and says how much
    let (run, _) = forced(0.5, 0.01, 0.0, 0.0);
    for ledger in ledgers(&run) {
        assert!((ledger.kinetic + ledger.potential - 2.0).abs() < 1e-12);
        assert_eq!([ledger.work, ledger.damping, ledger.contact()], [0.0; 3]);
    }
    let (run, _) = forced(1.0, 0.01, 0.0, 0.0);
    let ledger = *ledgers(&run).last().unwrap();
    assert!((ledger.numerical + ledger.kinetic + ledger.potential - 2.0).abs() < 1e-12);
    assert!(ledger.numerical > 0.1);
    // damped: all that is lost is lost to the damper, and ∫ C v² is that
    let (run, _) = forced(0.5, 0.001, 0.1, 0.0);
    let ledger = *ledgers(&run).last().unwrap();
    assert!((ledger.damping + ledger.kinetic + ledger.potential - 2.0).abs() < 1e-12);
    let v = run.signal("mass.v").unwrap();
    let lost: f64 = v.windows(2).map(|v| 1e-3 * 0.4 * (0.5 * (v[0] + v[1])).powi(2)).sum();
    assert!((ledger.damping - lost).abs() < 1e-12);
    // forced: work is what the force did
    let (run, _) = forced(0.5, 0.001, 0.1, 1.5);
    let ledger = *ledgers(&run).last().unwrap();
    let v = run.signal("mass.v").unwrap();
    let F = |k: usize| 1.5 * (3.0 * run.frames.time[k]).cos();
    let work: f64 = (1..v.len()).map(|k| 1e-3 * 0.25 * (F(k) + F(k - 1)) * (v[k] + v[k - 1])).sum();
    assert!((ledger.work - work).abs() < 1e-12);
}

/// All solvers that can solve a case give the same run, to their tolerance.
#[test]
fn the_solver_does_not_matter() {
    use saltus::numerics::Solver;
    for case in some_cases() {
        let reference = case.sim().run(case.until).unwrap();
        for name in ["pivoting", "lemke", "enumeration"] {
            let solver = Solver::from_name(name).unwrap();
            let bridge = reference.layout.title == "diode bridge";
            let large = reference.layout.title.starts_with("RC ladder");
            if (name == "enumeration" && large) || bridge {
                continue; // too many modes; multipliers that are not unique
            }
            let integrators = [case.integrator.clone()];
            let mut sim =
                TimeStepping::with_solver(case.model.clone(), case.h, integrators, &solver)
                    .unwrap();
            let run = match sim.run(case.until) {
                Ok(run) => run,
                Err(failure) => panic!("{}, {name}: {failure}", reference.layout.title),
            };
            let scale = reference.frames.rows.iter().fold(0.0f64, |a, x| a.max(x.abs()));
            let worst = (run.frames.rows.iter().zip(&reference.frames.rows))
                .fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
            within(&format!("{}, {name}", reference.layout.title), worst / scale, 1e-8);
        }
    }
}

#[test]
fn time_may_start_anywhere() {
    for t0 in [-2.0, 0.5, 1024.0] {
        let case = Case { until: 2.0, ..models::ball(0.1, 1.0 / 256.0) };
        let early = case.sim().run(2.0).unwrap();
        let model = case.model.clone().starting_at(t0);
        let mut sim = TimeStepping::new(model, case.h, []).unwrap();
        assert_eq!(sim.t(), t0);
        let late = sim.run(t0 + 2.0).unwrap();
        assert_eq!(early.frames.rows, late.frames.rows);
        let times: Vec<f64> = early.frames.time.iter().map(|t| t0 + t).collect();
        assert_eq!(late.frames.time, times);
        sim.reset().unwrap();
        assert_eq!(sim.t(), t0);
    }
}

/// Bounds that meet leave λ no choice: a constant force, here of 2.
#[test]
fn a_relay_with_equal_bounds_is_a_constant() {
    let h = 0.1;
    let mut model = Model::new("constant");
    let id = model.add("mass", LagrangianLinear::new([0.0], [0.0], [[1.0]])).unwrap();
    let relation = LagrangianLinearRelation::new([[1.0]]);
    model.connect("push", relation, Law::relay(2.0, 2.0), &[id]).unwrap();
    let case = Case { model, h, until: 1.0, integrator: MoreauJean::default().into() };
    let mut sim = case.sim();
    sim.run(1.0).unwrap();
    assert!((sim.v(id).unwrap()[0] - 2.0).abs() < 1e-14);

    let mut model = Model::new("constant");
    let id = model.add("x", FirstOrderLinear::new([0.0], [[0.0]])).unwrap();
    let relation = FirstOrderLinearRelation::new([[1.0]], [[1.0]]);
    model.connect("push", relation, Law::relay(2.0, 2.0), &[id]).unwrap();
    let mut sim = TimeStepping::new(model, h, []).unwrap();
    sim.run(1.0).unwrap();
    assert!((sim.x(id).unwrap()[0] - 2.0).abs() < 1e-14);
}

/// The same constraint twice: the multipliers are not unique, the motion is.
#[test]
fn redundant_constraints() {
    // two floors, and a table on four legs
    let mut model = Model::new("two floors");
    let id =
        model.add("ball", LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext([-9.81])).unwrap();
    let law = Law::newton_impact(0.9);
    let floors = LagrangianLinearRelation::new([[1.0], [1.0]]).b([-0.1, -0.1]);
    model.connect("floors", floors, law.clone(), &[id]).unwrap();
    let integrator: Integrator = MoreauJean::default().into();
    let twice = checked_run(&Case { model, h: 5e-3, until: 5.0, integrator: integrator.clone() });
    let once = checked_run(&Case { until: 5.0, ..models::ball(0.1, 5e-3) });
    let (a, b) = (twice.signal("ball.q").unwrap(), once.signal("ball.q[0]").unwrap());
    let worst = a.iter().zip(&b).fold(0.0f64, |w, (a, b)| w.max((a - b).abs()));
    within("two floors against one", worst, 1e-9);

    let mut model = Model::new("table");
    let M = Matrix::diagonal(&[1.0, 0.1, 0.1]); // height and two angles
    let table = LagrangianLinear::new([0.05, 0.0, 0.0], [0.0; 3], M).F_ext([-9.81, 0.0, 0.0]);
    let id = model.add("table", table).unwrap();
    let legs = [[1.0, 1.0, 1.0], [1.0, 1.0, -1.0], [1.0, -1.0, -1.0], [1.0, -1.0, 1.0]];
    let legs = LagrangianLinearRelation::new(legs);
    model.connect("legs", legs, Law::newton_impact(0.0), &[id]).unwrap();
    let case = Case { model, h: 1e-3, until: 1.0, integrator };
    let run = checked_run(&case);
    let lam = run.signal("legs.lam").unwrap();
    let weight: f64 = lam[lam.len() - 4..].iter().sum();
    assert!((weight - 9.81 * case.h).abs() < 1e-12);
    assert!(
        run.signal("table.v").unwrap().rchunks(3).next().unwrap().iter().all(|v| v.abs() < 1e-12)
    );
}

#[test]
fn a_redundant_equality() {
    let mut model = Model::new("welded twice");
    let a = LagrangianLinear::new([0.0], [1.0], [[1.0]]).F_ext([3.0]);
    let b = LagrangianLinear::new([1.0], [1.0], [[2.0]]);
    let ids = [model.add("a", a).unwrap(), model.add("b", b).unwrap()];
    let relation = LagrangianLinearRelation::new([[-1.0, 1.0], [-1.0, 1.0]]).b([-1.0, -1.0]);
    model.connect("weld", relation, Law::Equality, &ids).unwrap();
    let case = Case { model, h: 1e-2, until: 1.0, integrator: MoreauJean::default().into() };
    let run = checked_run(&case);
    let q = run.signal("b.q").unwrap();
    within("welded twice", (q.last().unwrap() - 2.5).abs(), 1e-9);
}

#[test]
fn an_elastic_ball_bounces_for_ever() {
    let mut model = Model::new("elastic");
    let id =
        model.add("ball", LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext([-9.81])).unwrap();
    let relation = LagrangianLinearRelation::new([[1.0]]);
    model.connect("floor", relation, Law::newton_impact(1.0), &[id]).unwrap();
    let case = Case { model, h: 1e-3, until: 20.0, integrator: MoreauJean::default().into() };
    let run = checked_run(&case);
    assert!(ledgers(&run).iter().all(|l| l.contact().abs() < 1e-11));
    let (q, v) = (run.signal("ball.q").unwrap(), run.signal("ball.v").unwrap());
    for k in 0..q.len() {
        assert!((9.81 * q[k] + 0.5 * v[k] * v[k] - 9.81).abs() < 1e-10, "row {k}");
    }
}
