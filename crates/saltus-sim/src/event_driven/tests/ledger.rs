//! Where the energy goes.

use super::*;

/// Of the ledger: `numerical`, relative to the energy that there was.
fn imbalance(sim: &EventDriven, energy: f64) -> f64 {
    (sim.ledger().unwrap().numerical / energy).abs()
}

/// After `n` impacts a share `e²ⁿ` is left; the rest was taken along the normal.
#[test]
fn of_the_bouncing_ball() {
    let e = 0.8_f64;
    let mut sim = driven(ball(e), 1e-10, 1e-12);
    let until = (2.0 / 9.81_f64).sqrt() * (1.0 + 2.0 * e + 2.0 * e * e + 0.5);
    let run = sim.run(until).unwrap();
    assert_eq!(times(&sim, EventKind::Impact).len(), 3);
    let (ledger, start) = (sim.ledger().unwrap(), 9.81);
    assert!((ledger.impact - start * (1.0 - e.powi(6))).abs() < 1e-9 * start, "{ledger:?}");
    let height = last::<1>(&run, "ball.q")[0];
    assert!((ledger.work - 9.81 * (1.0 - height)).abs() < 1e-10 * start, "{ledger:?}");
    assert_eq!((ledger.damping, ledger.friction, ledger.potential), (0.0, 0.0, 0.0));
    assert!(imbalance(&sim, start) < 1e-10, "{ledger:?}");
    assert_eq!(
        run.frames.columns(&run.layout, run.layout.ledger_columns()).len(),
        7 * run.frames.len()
    );
    // all of it, at the limit
    sim.run(10.0).unwrap();
    let ledger = sim.ledger().unwrap();
    assert!(
        (ledger.impact - start).abs() < 1e-9 * start && imbalance(&sim, start) < 1e-9,
        "{ledger:?}"
    );
}

/// Of 1/2, 0.005 is left in the spring; friction took the rest.
#[test]
fn of_the_coulomb_oscillator() {
    let mut model = Model::new("coulomb");
    let id = model.add("mass", LagrangianLinear::new([1.0], [0.0], [[1.0]]).K([[1.0]])).unwrap();
    let law = Law::relay(-0.15, 0.15);
    model.connect("friction", LagrangianLinearRelation::new([[1.0]]), law, &[id]).unwrap();
    let mut sim = driven(model, 1e-10, 1e-12);
    sim.run(20.0).unwrap();
    let ledger = sim.ledger().unwrap();
    assert!((ledger.friction - 0.495).abs() < 1e-10 && (ledger.potential - 0.005).abs() < 1e-10);
    assert!(ledger.impact.abs() < 1e-15 && ledger.work.abs() < 1e-12, "{ledger:?}");
    assert!(imbalance(&sim, 0.5) < 1e-10, "{ledger:?}");
}

/// Pendulums, and a bead whose mass depends on where it is.
#[test]
fn of_pendulums() {
    // the one on a circle: its rod takes nothing
    let mut model = Model::new("pendulum");
    let names = Names { first: ("q", 2), second: ("lam", 1), ..Names::TIME };
    let mass = LagrangianLinear::new([-1.0, 0.0], [0.0, 0.0], Matrix::identity(2));
    let id = model.add("mass", mass.F_ext([0.0, -9.81])).unwrap();
    let h = Operator::formulas(1, 1, &["(q[0]^2 + q[1]^2 - 1)/2"], &names, &[]).unwrap();
    model.connect("rod", LagrangianRelation::new(h), Law::Equality, &[id]).unwrap();
    let mut sim = driven(model, 1e-10, 1e-12);
    let run = sim.run(3.0).unwrap();
    let ledger = sim.ledger().unwrap();
    let height = last::<2>(&run, "mass.q")[1];
    assert!((ledger.work + 9.81 * height).abs() < 1e-9, "{ledger:?}");
    assert!(ledger.impact.abs() < 1e-9 && imbalance(&sim, 9.81) < 1e-9, "{ledger:?}");

    // x = s³/3 + s: kinetic energy ½ (1 + s²)² ṡ², free but for damping
    let names = Names { first: ("q", 1), second: ("v", 1), ..Names::TIME };
    let m = Operator::formulas(1, 1, &["(1 + q[0]^2)^2"], &names, &[]).unwrap();
    let f = ["-2*q[0]*(1 + q[0]^2)*v[0]^2 - 0.1*v[0]"];
    let f = Operator::formulas(1, 1, &f, &names, &[]).unwrap();
    let mut model = Model::new("bead");
    model.add("bead", Lagrangian::new([-1.0], [1.0], m).F_int(f)).unwrap();
    let mut sim = driven(model, 1e-10, 1e-12);
    sim.run(3.0).unwrap();
    let ledger = sim.ledger().unwrap();
    assert!(imbalance(&sim, 2.0) < 1e-8, "{ledger:?}");
    assert!((ledger.kinetic + ledger.damping - 2.0 - ledger.work).abs() < 1e-7, "{ledger:?}");
}

/// A block that slides to rest: everything by friction, nothing along the normal. A belt gives work.
#[test]
fn of_friction() {
    let mut model = Model::new("block");
    let block = LagrangianLinear::new([0.0; 3], [0.0, 3.0, 4.0], Matrix::identity(3));
    let id = model.add("block", block.F_ext([-10.0, 0.0, 0.0])).unwrap();
    let relation = LagrangianLinearRelation::new(Matrix::identity(3));
    model.connect("floor", relation, Law::impact_friction(0.0, 0.5), &[id]).unwrap();
    let mut sim = driven(model, 1e-10, 1e-12);
    sim.run(2.0).unwrap();
    let ledger = sim.ledger().unwrap();
    assert!((ledger.friction - 12.5).abs() < 1e-9 && ledger.impact.abs() < 1e-12, "{ledger:?}");
    assert!(imbalance(&sim, 12.5) < 1e-10, "{ledger:?}");

    let mut model = Model::new("belt");
    let names = Names { first: ("q", 2), second: ("lam", 2), ..Names::TIME };
    let mass = LagrangianLinear::new([0.0, 0.0], [0.0, 0.0], Matrix::identity(2));
    let id = model.add("mass", mass.F_ext([-1.0, 0.0])).unwrap();
    let h = Operator::formulas(2, 1, &["q[0]", "q[1] - t"], &names, &[]).unwrap();
    let law = Law::impact_friction(0.0, 0.5);
    model.connect("belt", LagrangianRelation::new(h), law, &[id]).unwrap();
    let mut sim = driven(model, 1e-10, 1e-12);
    sim.run(3.0).unwrap();
    // it takes two seconds to be as fast as the belt: half of the work is lost
    let ledger = sim.ledger().unwrap();
    assert!((ledger.work - 1.0).abs() < 1e-9 && (ledger.friction - 0.5).abs() < 1e-9, "{ledger:?}");
    assert!((ledger.kinetic - 0.5).abs() < 1e-9 && imbalance(&sim, 0.5) < 1e-9, "{ledger:?}");
}

/// A state that is set begins the ledger anew; another law does not.
#[test]
fn across_events() {
    let mut model = ball(0.8);
    model.add_event(Event::at([0.2]).set_law("floor", Law::newton_impact(0.5))).unwrap();
    model.add_event(Event::at([1.0]).set_state("ball", "v", [0.0])).unwrap();
    let mut sim = driven(model, 1e-10, 1e-12);
    sim.run(0.5).unwrap();
    let ledger = sim.ledger().unwrap();
    assert!(
        (ledger.impact - 0.75 * 9.81).abs() < 1e-8 && imbalance(&sim, 9.81) < 1e-10,
        "{ledger:?}"
    );
    sim.run(1.0).unwrap();
    let ledger = sim.ledger().unwrap();
    assert_eq!((ledger.kinetic, ledger.work, ledger.impact), (0.0, 0.0, 0.0));
}
