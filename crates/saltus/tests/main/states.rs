//! States that are replaced, reset or refused, and what schemes make of them.

use saltus::model::Names;
use saltus::prelude::*;
use saltus::sim::{NewtonSettings, SimError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

/// Replacing the state of one system is no matter to another that it does not touch.
#[test]
fn schatzman_paoli_keeps_the_momentum_of_the_others() {
    let mut model = Model::new("two springs");
    let spring = || LagrangianLinear::new([1.0], [0.5], [[1.0]]).K([[30.0]]);
    let (left, right) =
        (model.add("left", spring()).unwrap(), model.add("right", spring()).unwrap());
    let build = || TimeStepping::new(model.clone(), 1e-2, [SchatzmanPaoli::default().into()]);
    let (mut plain, mut set) = (build().unwrap(), build().unwrap());
    for step in 0..100 {
        if step == 40 {
            set.set_qv(right, Some(&[0.3]), Some(&[-1.0])).unwrap();
        }
        plain.step().unwrap();
        set.step().unwrap();
        for of in [TimeStepping::q, TimeStepping::v] {
            let (a, b) = (of(&plain, left).unwrap(), of(&set, left).unwrap());
            assert!((a[0] - b[0]).abs() < 1e-14, "step {step}: {a:?} and {b:?}");
        }
    }
    // and the other one begins as a new one does
    let mut model = Model::new("one spring");
    let right = model.add("right", LagrangianLinear::new([0.3], [-1.0], [[1.0]]).K([[30.0]]));
    let mut alone = TimeStepping::new(model, 1e-2, [SchatzmanPaoli::default().into()]).unwrap();
    (0..60).for_each(|_| assert!(alone.step().is_ok()));
    let (a, b) =
        (alone.q(right.unwrap()).unwrap()[0], set.q(set.model().system_id("right").unwrap()));
    assert!((a - b.unwrap()[0]).abs() < 1e-14);
}

/// A function that fails while a flag is set.
#[derive(Debug)]
struct Switched(Arc<AtomicBool>);

impl Function for Switched {
    fn eval(&self, at: At<'_>, out: &mut [f64]) -> Result<(), String> {
        if self.0.load(Ordering::Relaxed) {
            return Err("switched off".to_string());
        }
        out[0] = at.first[0].powi(3);
        Ok(())
    }

    fn uses(&self, argument: Argument) -> bool {
        argument == Argument::First
    }
}

/// A reset that fails has changed nothing: the next steps are those without it.
#[test]
fn a_reset_that_fails_is_undone() {
    let off = Arc::new(AtomicBool::new(false));
    let function = || Operator::function(1, 1, Arc::new(Switched(Arc::clone(&off))));
    let mut model = Model::new("switched");
    let ball = Lagrangian::new([0.3], [0.0], [[1.0]]).F_int(function()).F_ext([-9.81]);
    let ball = model.add("ball", ball).unwrap();
    let floor = LagrangianLinearRelation::new([[1.0]]);
    let floor = model.connect("floor", floor, Law::newton_impact(0.5), &[ball]).unwrap();
    let tank = model.add("tank", FirstOrderLinear::new([1.0], [[-1.0]])).unwrap();
    for scheme in [MoreauJean::default().into(), Integrator::from(GeneralizedAlpha::default())] {
        let build = || TimeStepping::new(model.clone(), 1e-3, [scheme.clone()]).unwrap();
        let (mut plain, mut reset) = (build(), build());
        for step in 0..700 {
            if step % 100 == 77 {
                off.store(true, Ordering::Relaxed);
                assert!(matches!(reset.reset(), Err(SimError::Operator(_))));
                off.store(false, Ordering::Relaxed);
            }
            plain.step().unwrap();
            reset.step().unwrap();
            let seen = |sim: &TimeStepping| {
                let of_ball = [sim.q(ball).unwrap(), sim.v(ball).unwrap(), sim.lam(floor)];
                let ledger = sim.ledger().unwrap().to_array();
                [bits(&of_ball.concat()), bits(sim.x(tank).unwrap()), bits(&ledger)]
            };
            assert_eq!(seen(&plain), seen(&reset), "step {step}");
            assert_eq!(plain.t(), reset.t());
        }
    }
}

/// After a reset a run is the first one again, also where laws add unknowns.
#[test]
fn a_reset_clears_what_laws_add() {
    let law = || Law::NormalCone {
        A: Matrix::from([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]]),
        b: vec![1.0; 4],
    };
    let mut mechanics = Model::new("grip");
    let block = LagrangianLinear::new([1.0, 0.5], [0.0, 1.0], [[1.0, 0.0], [0.0, 1.0]])
        .K([[4.0, 0.0], [0.0, 9.0]]);
    let block = mechanics.add("s", block).unwrap();
    let grip = LagrangianLinearRelation::new([[1.0, 0.0], [0.0, 1.0]]);
    mechanics.connect("grip", grip, law(), &[block]).unwrap();
    let mut circuit = Model::new("first order");
    let s = FirstOrderLinear::new([1.0, 0.5], [[0.0, 1.0], [-4.0, 0.0]]);
    let s = circuit.add("s", s).unwrap();
    let identity = [[1.0, 0.0], [0.0, 1.0]];
    let relation = FirstOrderLinearRelation::new(identity, identity);
    circuit.connect("grip", relation, law(), &[s]).unwrap();
    for model in [mechanics, circuit] {
        for solver in ["auto", "gauss-seidel", "interior-point", "admm"] {
            let solver = Solver::from_name(solver).unwrap();
            let mut sim = TimeStepping::with_solver(model.clone(), 1e-2, [], &solver).unwrap();
            let Ok(first) = sim.run(1.0) else { continue };
            sim.reset().unwrap();
            let second = sim.run(1.0).unwrap();
            assert_eq!(first.frames.rows, second.frames.rows, "{}", solver.name());
        }
    }
}

/// The balance of a step holds with `H(q, λ)` at the force of that step.
#[test]
fn a_compliant_relation_turns_with_its_force() {
    let names = Names { first: ("q", 1), second: ("lam", 1), ..Names::TIME };
    let gap = Operator::formula("[q[0] + 2e-2*lam[0]*(1 + 40*q[0]^2)]", &names, &[]).unwrap();
    let (h, g) = (1e-3, 9.81);
    for linear in [false, true] {
        let mut model = Model::new("soft floor");
        let ball = LagrangianLinear::new([0.3], [0.0], [[1.0]]).F_ext([-g]);
        let ball = model.add("ball", ball).unwrap();
        let soft = LagrangianCompliant::new(gap.clone());
        let soft = model.connect("soft", soft, Law::Complementarity, &[ball]).unwrap();
        let mode = match linear {
            true => saltus::sim::NewtonMode::Linear,
            false => saltus::sim::NewtonMode::Full,
        };
        let newton = NewtonSettings { mode, ..Default::default() };
        let scheme = [MoreauJean::default().into()];
        let mut sim =
            TimeStepping::with_methods(model, h, scheme, &Solver::default(), newton).unwrap();
        let (mut worst, mut pressed) = (0.0f64, 0);
        for _ in 0..600 {
            let before = sim.v(ball).unwrap()[0];
            sim.step().unwrap();
            let (q, v, lam) = (sim.q(ball).unwrap()[0], sim.v(ball).unwrap()[0], sim.lam(soft)[0]);
            let H = 1.0 + 2e-2 * (lam / h) * 80.0 * q;
            let size = v.abs() + before.abs() + h * g + lam;
            worst = worst.max((v - before + h * g - H * lam).abs() / size);
            pressed += usize::from(lam > 0.0);
        }
        assert!(pressed > 20);
        // one iteration alone is as good as its linearization
        assert!(worst < if linear { 0.5 } else { 1e-11 }, "{worst:e}");
    }
}

/// A projection that does not settle says how far it is from it.
#[test]
fn a_projection_that_fails_has_a_residual() {
    let names = Names { first: ("q", 2), ..Names::TIME };
    let rod = Operator::formula("[hypot(q[0], q[1]) - 1]", &names, &[]).unwrap();
    let mut failed = 0;
    for max_iter in 1..8 {
        let mut model = Model::new("pendulum");
        let mass = [[1.0, 0.0], [0.0, 1.0]];
        let bob = LagrangianLinear::new([1.0, 0.0], [0.0, 3.0], mass).F_ext([0.0, -9.81]);
        let bob = model.add("bob", bob).unwrap();
        let relation = LagrangianRelation::new(rod.clone());
        model.connect("rod", relation, Law::Equality, &[bob]).unwrap();
        let scheme = MoreauJean { projection: Some(Projection::Ggl), ..Default::default() };
        let newton = NewtonSettings { max_iter, tol: 1e-13, ..Default::default() };
        let solver = Solver::default();
        let mut sim =
            TimeStepping::with_methods(model, 0.1, [scheme.into()], &solver, newton).unwrap();
        if let Err(SimError::Newton { residual, tol, .. }) = sim.step() {
            assert!(residual.is_finite() && residual > tol, "{max_iter}: {residual}");
            failed += 1;
        }
    }
    assert!(failed > 1);
}
