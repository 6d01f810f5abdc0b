//! Moreau–Jean with the pair `(W, H)` beside the reduced form: the same trajectories.

use crate::support::within;
use saltus::io::model_file::ModelFile;
use saltus::model::Names;
use saltus::numerics::AutoSettings;
use saltus::prelude::*;
use saltus::sim::SimError;
use std::path::Path;

/// The portfolio with a tolerance at which forms can be compared.
fn accurate() -> Solver {
    Solver::Auto(AutoSettings { tol: 1e-12, ..AutoSettings::default() })
}

/// Runs a bundled example for some steps in one form.
fn example(name: &str, form: Form, steps: usize) -> Run {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name).join("model.toml");
    let ModelFile { model, simulation, .. } = ModelFile::read(&path, &[]).unwrap();
    let integrators = simulation.integrators.into_iter().map(|integrator| match integrator {
        Integrator::MoreauJean(scheme) => MoreauJean { form, ..scheme }.into(),
        other => other,
    });
    let (h, newton) = (simulation.h, simulation.newton);
    let mut sim = TimeStepping::with_methods(model, h, integrators, &accurate(), newton).unwrap();
    let first = sim.step().unwrap();
    let until = first.t + (steps - 1) as f64 * first.h;
    sim.reset().unwrap();
    sim.run(until).unwrap()
}

/// Impacts, joints, friction; linear and nonlinear systems.
#[test]
fn examples_in_both_forms() {
    for (name, steps) in [
        ("bouncing-ball", 2000),
        ("column-of-beads", 900),
        ("two-link-arm", 2500),
        ("slider-crank", 400),
        ("friction-oscillator", 1000),
        ("cam-follower", 6000),
        ("impacting-bar", 60),
        ("rocking-block", 1000),
        ("woodpecker", 1000),
    ] {
        let (a, b) = (example(name, Form::Reduced, steps), example(name, Form::Global, steps));
        assert_eq!(a.frames.len(), b.frames.len(), "{name}");
        let size = a.frames.rows.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
        let pairs = a.frames.rows.iter().zip(&b.frames.rows);
        let apart = pairs.fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
        within(name, apart / size, 1e-9);
    }
}

/// A disk with a spring on a rail, in space, thrown at a floor with friction.
#[test]
fn friction_in_space() {
    let run = |form: Form, solver: &Solver| {
        let mut model = Model::new("thrown");
        let body =
            Lagrangian::new([0.2, 0.0, 0.0], [-1.0, 2.0, -0.5], Matrix::diagonal(&[1.0, 1.0, 2.0]));
        let names = Names { first: ("q", 3), second: ("v", 3), ..Names::TIME };
        let texts = ["9.81 + 5*v[0]^3", "0.3*sin(q[1]) + 20*q[1]", "0.1*v[2]*v[1]"];
        let force = Operator::formulas(3, 1, &texts, &names, &[]).unwrap();
        let id = model.add("body", body.F_int(force)).unwrap();
        let relation = LagrangianLinearRelation::new(Matrix::identity(3));
        model.connect("floor", relation, Law::impact_friction(0.4, 0.3), &[id]).unwrap();
        let scheme = MoreauJean { form, ..MoreauJean::default() };
        TimeStepping::with_solver(model, 1e-3, [scheme.into()], solver).unwrap().run(1.0).unwrap()
    };
    let auto = Solver::default();
    let reduced = run(Form::Reduced, &auto);
    for solver in [auto, Solver::from_name("admm").unwrap()] {
        let global = run(Form::Global, &solver);
        for signal in ["body.q", "body.v", "floor.lam"] {
            let (a, b) = (reduced.signal(signal).unwrap(), global.signal(signal).unwrap());
            let apart = a.iter().zip(&b).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
            within(signal, apart, 1e-6);
        }
    }
}

/// At an impact of a stiff nonlinear spring the iteration matrix is far from the mass: the momentum
/// is that of the mass.
#[test]
fn the_mass_stands_in_the_balance() {
    let run = |form: Form| {
        let mut model = Model::new("stiff");
        let names = Names { first: ("q", 2), second: ("v", 2), ..Names::TIME };
        let texts =
            ["1e4*(q[0] - q[1])^3 + 1e3*(q[0] - q[1])", "-1e4*(q[0] - q[1])^3 - 1e3*(q[0] - q[1])"];
        let force = Operator::formulas(2, 1, &texts, &names, &[]).unwrap();
        let pair = Lagrangian::new([0.01, 0.01], [-3.0, -3.0], Matrix::diagonal(&[1.0, 2.0]));
        let id = model.add("pair", pair.F_int(force)).unwrap();
        let relation = LagrangianLinearRelation::new([[1.0, 0.0]]);
        model.connect("wall", relation, Law::newton_impact(0.5), &[id]).unwrap();
        let scheme = MoreauJean { form, ..MoreauJean::default() };
        let scheme = [scheme.into()];
        let mut sim = TimeStepping::with_solver(model, 1e-2, scheme, &accurate()).unwrap();
        let run = sim.run(0.5).unwrap();
        // momentum: only the wall changes it
        let v = run.signal("pair.v").unwrap();
        let lam = run.signal("wall.lam").unwrap();
        for k in 1..lam.len() {
            let gained = (v[2 * k] - v[2 * k - 2]) + 2.0 * (v[2 * k + 1] - v[2 * k - 1]);
            assert!((gained - lam[k]).abs() <= 1e-9, "{k}: {gained} {}", lam[k]);
        }
        v
    };
    for (a, b) in run(Form::Reduced).iter().zip(run(Form::Global)) {
        assert!((a - b).abs() <= 1e-9, "{a} {b}");
    }
}

#[test]
fn what_has_no_global_form() {
    let global = || MoreauJean { form: Form::Global, ..MoreauJean::default() };
    let model = |relation: LagrangianLinearRelation, law: Law| {
        let mut model = Model::new("mass");
        let id = model.add("mass", LagrangianLinear::new([0.0], [0.0], [[1.0]])).unwrap();
        model.connect("law", relation, law, &[id]).unwrap();
        TimeStepping::new(model, 1e-2, [global().into()]).unwrap_err()
    };
    let rigid = || LagrangianLinearRelation::new([[1.0]]);
    let compliant = LagrangianLinearRelation { D: Some([[1.0]].into()), ..rigid() };
    let polyhedron = Law::NormalCone { A: [[1.0]].into(), b: vec![1.0] };
    for error in [
        model(compliant, Law::Complementarity),
        model(rigid(), polyhedron),
        model(rigid(), Law::cohesive(Bond::new(1.0, 1.0, 1.0), 0.0)),
    ] {
        assert!(matches!(error, SimError::Unsuited { .. }), "{error}");
    }
}
