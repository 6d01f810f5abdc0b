//! Bonds that break: the energy that it takes, what is remembered, and what is left after it.

use crate::support::{order_within, within};
use saltus::prelude::*;
use saltus::sim::SimError;

const BOND: Bond = Bond { stiffness: 1e4, strength: 20.0, energy: 0.1, shear: 1.0 };

/// A mass, bonded to the ground, that is pulled away at constant speed along one axis.
fn pulled(axis: usize, law: Law, speed: f64) -> Model {
    let mut model = Model::new("pull");
    let mut v = vec![0.0; 2];
    v[axis] = speed;
    let mass = LagrangianLinear::new([0.0; 2], v.clone(), Matrix::identity(2));
    let id = model.add("mass", mass).unwrap();
    let relation = LagrangianLinearRelation::new(Matrix::identity(2));
    model.connect("bond", relation, law, &[id]).unwrap();
    model.prescribe("machine", id, [0, 1], v).unwrap();
    model
}

/// The energy that is taken by pulling, or by sliding, is the fracture energy.
#[test]
fn breaking_costs_the_energy() {
    for axis in [0, 1] {
        for h in [4e-4, 1e-4] {
            // a kink cut off in a step: second order, with a coefficient that depends on where
            let error = (work_of_bond(axis, h) - BOND.energy).abs();
            within("energy", error, 2.0 * BOND.stiffness * (0.1 * h) * (0.1 * h));
        }
    }
}

/// `−∫ λ u dt` of the bond alone.
fn work_of_bond(axis: usize, h: f64) -> f64 {
    let model = pulled(axis, Law::cohesive(BOND, 0.0), 0.1);
    let mut sim = TimeStepping::new(model, h, [MoreauJean::default().into()]).unwrap();
    let bond = sim.model().interaction_id("bond").unwrap();
    let mut work = 0.0;
    let mut before = sim.u(bond).to_vec();
    while sim.t() < 0.15 {
        sim.step().unwrap();
        let (u, lam) = (sim.u(bond), sim.lam(bond));
        for i in 0..4 {
            work -= 0.5 * lam[i] * (before[i] + u[i]);
        }
        before = u.to_vec();
    }
    assert_eq!(sim.beta(bond), Some(0.0));
    work
}

/// What the machine gives is what the bond takes, and the ledger says so.
#[test]
fn the_ledger_closes() {
    let model = pulled(0, Law::cohesive(BOND, 0.0), 0.1);
    let mut sim = TimeStepping::new(model, 1e-4, [MoreauJean::default().into()]).unwrap();
    sim.run(0.15).unwrap();
    let ledger = sim.ledger().unwrap();
    within("contact", (ledger.contact() - BOND.energy).abs(), 1e-5);
    within("work", (ledger.work - ledger.contact()).abs(), 1e-12);
    within("numerical", ledger.numerical.abs(), 1e-12);
}

/// Unloading goes back along the secant, and damage does not heal.
#[test]
fn damage_is_remembered() {
    let mut model = Model::new("there and back");
    let mass = model.add("mass", LagrangianLinear::new([0.0], [0.0], [[1.0]])).unwrap();
    let relation = LagrangianLinearRelation::new([[1.0]]);
    let bond = model.connect("bond", relation, Law::cohesive(BOND, 0.0), &[mass]).unwrap();
    let v = Operator::vector_of_time(1, |t, v| v[0] = if t < 0.05 { 0.1 } else { -0.1 });
    model.prescribe("machine", mass, [0], v).unwrap();
    let mut sim = TimeStepping::new(model, 1e-4, [MoreauJean::default().into()]).unwrap();
    let mut least = 1.0;
    for k in 0..800 {
        sim.step().unwrap();
        let beta = sim.beta(bond).unwrap();
        assert!(beta <= least);
        least = beta;
        // the force is that of the middle of the step
        let y = sim.y(bond)[0] - 0.5 * 1e-4 * sim.u(bond)[0];
        let force = -sim.lam(bond)[1] / 1e-4;
        if k > 502 {
            within("secant", (force - least * BOND.stiffness * y).abs(), 1e-6);
        }
    }
    within("integrity", (least - BOND.integrity(0.005)).abs(), 2e-3);
    assert!(least > 0.0 && sim.y(bond)[0] > 0.0);
    sim.reset().unwrap();
    assert_eq!(sim.beta(bond), Some(1.0));
}

/// A sound bond is a spring: the period is that of a mass on it, and stays so for long steps.
#[test]
fn a_sound_bond_is_a_spring() {
    let errors: Vec<(f64, f64)> = [2e-3, 1e-3]
        .map(|h| {
            let mut model = Model::new("spring");
            let bond = Bond { shear: 4.0, ..Bond::new(100.0, 1e9, 1e17) };
            // along the tangent it pulls both ways
            let M = Matrix::identity(2);
            let mass = LagrangianLinear::new([1.0, 0.5], [0.0, 0.0], M);
            let id = model.add("mass", mass).unwrap();
            let relation = LagrangianLinearRelation::new(Matrix::identity(2));
            model.connect("bond", relation, Law::cohesive(bond, 0.0), &[id]).unwrap();
            let mut sim = TimeStepping::new(model, h, [MoreauJean::default().into()]).unwrap();
            sim.run(0.1).unwrap();
            let q = sim.q(id).unwrap();
            (h, (q[0] - 1.0_f64.cos()).hypot(q[1] - 0.5 * 2.0_f64.cos()))
        })
        .to_vec();
    order_within("spring", &errors, 1.9..=2.1);
}

/// What is broken is a contact with friction: a block on a slope holds by its bond, and slides
/// when that is gone.
#[test]
fn friction_takes_over() {
    let slope = |law: Law, push: f64| {
        let mut model = Model::new("slope");
        let (mass, angle) = (1.0, 0.5_f64);
        let load = Operator::vector_of_time(2, move |t, F| {
            F[0] = -9.81 * angle.cos();
            F[1] = 9.81 * angle.sin() + if t < 0.1 { push } else { 0.0 };
        });
        let M = Matrix::diagonal(&[mass, mass]);
        let block = LagrangianLinear::new([0.0; 2], [0.0; 2], M).F_ext(load);
        let id = model.add("block", block).unwrap();
        let relation = LagrangianLinearRelation::new(Matrix::identity(2));
        let bond = model.connect("bond", relation, law, &[id]).unwrap();
        let mut sim = TimeStepping::new(model, 1e-3, [MoreauJean::default().into()]).unwrap();
        sim.run(0.5).unwrap();
        let early = sim.v(id).unwrap()[1];
        sim.run(1.0).unwrap();
        ((sim.v(id).unwrap()[1] - early) / 0.5, sim.beta(bond).unwrap())
    };
    let mu = 0.3;
    let law = || Law::cohesive(BOND, mu);
    let (acceleration, beta) = slope(law(), 0.0);
    assert_eq!(beta, 1.0);
    within("it holds", acceleration.abs(), 0.1);
    let (acceleration, beta) = slope(law(), 40.0);
    assert_eq!(beta, 0.0);
    let sliding = 9.81 * (0.5_f64.sin() - mu * 0.5_f64.cos());
    within("it slides", (acceleration - sliding).abs(), 1e-9);
}

/// A constant force up to an opening: it holds less than it, and lets go of more for good.
#[test]
fn a_binary_bond_holds_or_not() {
    let hung = |load: f64| {
        let mut model = Model::new("hung");
        let mass = LagrangianLinear::new([0.0], [0.0], [[1.0]]);
        let id = model.add("mass", mass.F_ext([load])).unwrap();
        let law =
            Law::BinaryCohesive { strength: 5.0, opening: 1e-2, e: 0.0.into(), mu: 0.0.into() };
        let relation = LagrangianLinearRelation::new([[1.0]]);
        let bond = model.connect("bond", relation, law, &[id]).unwrap();
        let mut sim = TimeStepping::new(model, 1e-4, [MoreauJean::default().into()]).unwrap();
        sim.run(1.0).unwrap();
        let taken = sim.ledger().unwrap().contact();
        (sim.q(id).unwrap()[0], sim.beta(bond).unwrap(), taken)
    };
    let (q, beta, _) = hung(4.9);
    assert_eq!((q, beta), (0.0, 1.0));
    let (q, beta, taken) = hung(6.0);
    assert!(q > 0.1 && beta == 0.0);
    // the force on the way to the opening, and a step more
    assert!((0.05..=0.0501).contains(&taken), "{taken}");
    let (q, beta, _) = hung(-3.0);
    assert_eq!((q, beta), (0.0, 1.0));
}

/// A bond that begins open, or is put so, has the damage of its opening.
#[test]
fn openings_that_are_given_count() {
    let binary =
        || Law::BinaryCohesive { strength: 5.0, opening: 0.1, e: 0.0.into(), mu: 0.0.into() };
    for (law, start, beta) in [
        (Law::cohesive(BOND, 0.0), 0.005, BOND.integrity(0.005)),
        (Law::cohesive(BOND, 0.0), 1.0, 0.0),
        (binary(), 0.05, 1.0),
        (binary(), 0.2, 0.0),
    ] {
        let mut model = Model::new("open");
        let id = model.add("mass", LagrangianLinear::new([start], [0.0], [[1.0]])).unwrap();
        let relation = LagrangianLinearRelation::new([[1.0]]);
        let bond = model.connect("bond", relation, law, &[id]).unwrap();
        let mut sim = TimeStepping::new(model, 1e-4, [MoreauJean::default().into()]).unwrap();
        assert_eq!(sim.beta(bond), Some(beta));
        sim.step().unwrap();
        assert_eq!(sim.v(id).unwrap()[0] == 0.0, beta == 0.0);
        sim.set_qv(id, Some(&[2.0]), None).unwrap();
        assert_eq!(sim.beta(bond), Some(0.0));
        sim.reset().unwrap();
        assert_eq!(sim.beta(bond), Some(beta));
    }
}

/// A step that fails damages nothing.
#[test]
fn a_failed_step_is_forgotten() {
    let mut model = Model::new("load");
    let load =
        Operator::vector_of_time(1, |t, F| F[0] = if t < 0.1 { 300.0 * t } else { f64::NAN });
    let mass = LagrangianLinear::new([0.0], [0.0], [[1.0]]).F_ext(load);
    let id = model.add("mass", mass).unwrap();
    let relation = LagrangianLinearRelation::new([[1.0]]);
    let bond = model.connect("bond", relation, Law::cohesive(BOND, 0.0), &[id]).unwrap();
    let mut sim = TimeStepping::new(model, 1e-4, [MoreauJean::default().into()]).unwrap();
    while sim.step().is_ok() {}
    let (beta, q) = (sim.beta(bond), sim.q(id).unwrap().to_vec());
    assert!(beta < Some(1.0));
    assert!(sim.step().is_err());
    assert_eq!((sim.beta(bond), sim.q(id).unwrap()), (beta, &q[..]));
}

#[test]
fn what_bonds_do_not_go_with() {
    let law = || Law::cohesive(BOND, 0.0);
    let explicit = MoreauJean { theta: 0.0, ..MoreauJean::default() };
    let others: [Integrator; 3] =
        [GeneralizedAlpha::default().into(), SchatzmanPaoli::default().into(), explicit.into()];
    for integrator in others {
        let error = TimeStepping::new(pulled(0, law(), 0.1), 1e-3, [integrator]).unwrap_err();
        assert!(matches!(error, SimError::Unsuited { .. }), "{error}");
    }
    let mut model = Model::new("mass");
    let id = model.add("mass", LagrangianLinear::new([0.0], [0.0], [[1.0]])).unwrap();
    let mut compliant = LagrangianLinearRelation::new([[1.0]]);
    compliant.D = Some([[1.0]].into());
    assert!(model.connect("bond", compliant, law(), &[id]).is_err());
    let prescribed = Prescribed::new([0], [0.0]);
    assert!(model.connect("bond", prescribed, law(), &[id]).is_err());
    for (bond, what) in [
        (Bond { stiffness: 0.0, ..BOND }, "stiffness"),
        (Bond { strength: -1.0, ..BOND }, "strength"),
        (Bond { energy: 0.01, ..BOND }, "energy"),
        (Bond { energy: f64::NAN, ..BOND }, "energy"),
        (Bond { shear: -1.0, ..BOND }, "shear"),
    ] {
        let relation = LagrangianLinearRelation::new([[1.0]]);
        let error = model.connect("bond", relation, Law::cohesive(bond, 0.0), &[id]).unwrap_err();
        assert!(error.to_string().contains(&format!("`{what}`")), "{error}");
    }
}
