//! Systems, relations and laws that are not linear: against closed forms, and against the same
//! model written in a linear way.

use crate::support::{order_within, within};
use saltus::model::Names;
use saltus::prelude::*;

/// The formulas of a mechanical slot.
fn mechanical(rows: usize, cols: usize, dof: usize, texts: &[&str]) -> Operator {
    let names = Names { first: ("q", dof), second: ("v", dof), ..Names::TIME };
    Operator::formulas(rows, cols, texts, &names, &[]).unwrap()
}

/// The formulas of a relation's slot.
fn relation(rows: usize, of: (&'static str, usize), size: usize, texts: &[&str]) -> Operator {
    let names = Names { first: of, second: ("lam", size), ..Names::TIME };
    Operator::formulas(rows, 1, texts, &names, &[]).unwrap()
}

fn run(model: Model, h: f64, integrator: impl Into<Integrator>, until: f64) -> Run {
    TimeStepping::new(model, h, [integrator.into()]).unwrap().run(until).unwrap()
}

fn last(run: &Run, signal: &str) -> f64 {
    *run.signal(signal).unwrap().last().unwrap()
}

/// `q̈ = −g sin q` released horizontally: the multibody benchmark A01 at t = 10.
#[test]
fn pendulum() {
    let errors: Vec<(f64, f64)> = [4e-3, 2e-3, 1e-3]
        .map(|h| {
            let mut model = Model::new("pendulum");
            let pendulum = Lagrangian::new([-std::f64::consts::FRAC_PI_2], [0.0], [[1.0]])
                .F_int(mechanical(1, 1, 1, &["9.81*sin(q[0])"]));
            model.add("pendulum", pendulum).unwrap();
            let q = last(&run(model, h, MoreauJean::default(), 10.0), "pendulum.q");
            (h, (q.sin() + 0.275_087_462_576_116_9).hypot(-q.cos() + 0.961_419_205_099_125))
        })
        .to_vec();
    order_within("pendulum", &errors, 1.9..=2.1);
}

/// A closure without Jacobians gives what the formula gives.
#[test]
fn differences_in_place_of_derivatives() {
    let with = |force: Operator| {
        let mut model = Model::new("pendulum");
        model.add("pendulum", Lagrangian::new([1.0], [0.0], [[1.0]]).F_int(force)).unwrap();
        run(model, 1e-2, MoreauJean::default(), 1.0).signal("pendulum.q").unwrap()
    };
    let formula = with(mechanical(1, 1, 1, &["9.81*sin(q[0]) + 0.1*v[0]^3"]));
    let closure = with(Operator::vector(1, |at, F| {
        F[0] = 9.81 * at.first[0].sin() + 0.1 * at.second[0].powi(3);
    }));
    for (a, b) in formula.iter().zip(&closure) {
        assert!((a - b).abs() <= 1e-10, "{a} {b}");
    }
}

/// The bouncing ball written with formulas is the bouncing ball.
#[test]
fn a_linear_model_in_formulas() {
    let integrator = MoreauJean::default();
    let mut linear = Model::new("ball");
    let ball = LagrangianLinear::new([1.0, 0.0], [0.0, 0.3], Matrix::diagonal(&[2.0, 3.0]));
    let id = linear.add("ball", ball.F_ext([-19.62, 0.0])).unwrap();
    let floor = LagrangianLinearRelation::new([[1.0, 0.0]]).b([-0.1]);
    linear.connect("floor", floor, Law::newton_impact(0.9), &[id]).unwrap();

    let mut nonlinear = Model::new("ball");
    let ball = Lagrangian::new([1.0, 0.0], [0.0, 0.3], mechanical(2, 2, 2, &["2", "0", "0", "3"]))
        .F_int(mechanical(2, 1, 2, &["0*q[0]", "0"]))
        .F_ext([-19.62, 0.0]);
    let id = nonlinear.add("ball", ball).unwrap();
    let floor = LagrangianRelation::new(relation(1, ("q", 2), 1, &["q[0] - 0.1"]));
    nonlinear.connect("floor", floor, Law::newton_impact(0.9), &[id]).unwrap();

    let (a, b) =
        (run(linear, 5e-3, integrator.clone(), 9.0), run(nonlinear, 5e-3, integrator, 9.0));
    for signal in ["ball.q", "ball.v", "floor.y", "floor.u", "floor.lam"] {
        let (a, b) = (a.signal(signal).unwrap(), b.signal(signal).unwrap());
        let worst = a.iter().zip(&b).fold(0.0f64, |worst, (a, b)| worst.max((a - b).abs()));
        within(signal, worst, 1e-10);
    }
}

/// `ẋ = −x³`, `x = 1/√(1 + 2t)`, with both weights of the step's end.
#[test]
fn first_order_formula() {
    for (theta, order) in [(1.0, 1.0), (0.5, 2.0)] {
        let errors: Vec<(f64, f64)> = [0.02, 0.01, 0.005]
            .map(|h| {
                let names = Names { first: ("x", 1), ..Names::TIME };
                let f = Operator::formulas(1, 1, &["-x[0]^3"], &names, &[]).unwrap();
                let mut model = Model::new("cubic");
                model.add("cubic", FirstOrder::new([1.0], f)).unwrap();
                let scheme = EulerMoreau { theta, ..Default::default() };
                let x = last(&run(model, h, scheme, 2.0), "cubic.x");
                (h, (x - 1.0 / 5f64.sqrt()).abs())
            })
            .to_vec();
        order_within(&format!("theta = {theta}"), &errors, order - 0.1..=order + 0.1);
    }
}

/// `ẋ = −sgn x` as a relay, as a graph, as a polyhedron, and through a relation that is not
/// linear: one run.
#[test]
fn one_relay_in_four_ways() {
    let model = |law: Law, linear: bool| {
        let mut model = Model::new("relay");
        let id = model.add("x", FirstOrderLinear::new([1.01], [[0.0]])).unwrap();
        if linear {
            let relation = FirstOrderLinearRelation::new([[1.0]], [[1.0]]);
            model.connect("relay", relation, law, &[id]).unwrap();
        } else {
            let (h, g) =
                (relation(1, ("x", 1), 1, &["x[0]"]), relation(1, ("x", 1), 1, &["lam[0]"]));
            model.connect("relay", FirstOrderRelation::new(h, g), law, &[id]).unwrap();
        }
        run(model, 0.1, EulerMoreau::default(), 3.0).signal("x.x").unwrap()
    };
    let relay = model(Law::relay(-1.0, 1.0), true);
    assert_eq!(*relay.last().unwrap(), 0.0);
    let points = vec![(-1.0, 1.0), (0.0, 1.0), (0.0, -1.0), (1.0, -1.0)];
    let graph = Law::PiecewiseLinear { points };
    let cone = Law::NormalCone { A: [[1.0], [-1.0]].into(), b: vec![1.0, 1.0] };
    for (law, linear) in [
        (Law::relay(-1.0, 1.0), false),
        (graph.clone(), true),
        (graph, false),
        (cone.clone(), true),
        (cone, false),
    ] {
        let name = law.name();
        for (a, b) in relay.iter().zip(model(law, linear)) {
            assert!((a - b).abs() <= 1e-12, "{name}, linear relation {linear}: {a} {b}");
        }
    }
}

/// A block on an incline of 30°, in the plane: it slides with `g (sin − μ cos)`, or it stays where
/// it is, to the last bit.
#[test]
fn block_on_an_incline() {
    let (sin, cos) = (0.5, 0.75f64.sqrt());
    let model = |mu: f64, formulas: bool| {
        let mut model = Model::new("incline");
        let block = LagrangianLinear::new([0.0, 0.0], [0.0, 0.0], Matrix::identity(2));
        let id = model.add("block", block.F_ext([-9.81 * cos, 9.81 * sin])).unwrap();
        let law = Law::impact_friction(0.0, mu);
        if formulas {
            let h = LagrangianRelation::new(relation(2, ("q", 2), 2, &["q[0]", "q[1]"]));
            model.connect("contact", h, law, &[id]).unwrap();
        } else {
            let H = LagrangianLinearRelation::new(Matrix::identity(2));
            model.connect("contact", H, law, &[id]).unwrap();
        }
        run(model, 2e-3, MoreauJean::default(), 1.0)
    };
    for formulas in [false, true] {
        let slides = model(0.3, formulas);
        let v = slides.signal("block.v").unwrap();
        within("speed after a second", (v[v.len() - 1] - 2.3562872366623964).abs(), 1e-11);
        let sticks = model(0.7, formulas);
        let q = sticks.signal("block.q").unwrap();
        assert!(q.iter().all(|q| *q == 0.0), "it creeps by {:e}", q[q.len() - 1]);
    }
}

/// Friction against a moving belt: `μ` as a formula of the relative velocity.
#[test]
fn friction_that_falls_with_speed() {
    let mu = Operator::formulas(
        1,
        1,
        &["0.2 + 0.1*exp(-abs(u[1]))"],
        &Names { first: ("q", 2), second: ("u", 2), ..Names::TIME },
        &[],
    );
    let mut model = Model::new("braking");
    let block = LagrangianLinear::new([0.0, 0.0], [0.0, 2.0], Matrix::identity(2));
    let id = model.add("block", block.F_ext([-10.0, 0.0])).unwrap();
    let law = Law::impact_friction(0.0, mu.unwrap());
    let H = LagrangianLinearRelation::new(Matrix::identity(2));
    model.connect("contact", H, law, &[id]).unwrap();
    let run = run(model, 1e-4, MoreauJean::default(), 2.0);
    let (v, lam) = (run.signal("block.v").unwrap(), run.signal("contact.lam").unwrap());
    // the first step brakes with μ(2)
    within("first impulse", (lam[3] / lam[2] + 0.2 + 0.1 * (-2.0f64).exp()).abs(), 1e-12);
    assert_eq!(v[v.len() - 1], 0.0);
}

/// A mass on a floor that gives way, `λ = −q/D` while it is pressed: half a period of contact.
#[test]
fn floor_that_gives_way() {
    let errors: Vec<(f64, f64)> =
        [2e-3, 1e-3, 5e-4]
            .map(|h| {
                let mut model = Model::new("compliant");
                let id = model.add("mass", LagrangianLinear::new([0.0], [-1.0], [[1.0]])).unwrap();
                let floor = LagrangianLinearRelation::new([[1.0]]).D([[0.01]]);
                model.connect("floor", floor, Law::Complementarity, &[id]).unwrap();
                let run = run(model, h, MoreauJean { theta: 1.0, ..Default::default() }, 0.2);
                // q = −√D sin(t/√D) for half a period
                let q = run.signal("mass.q").unwrap();
                let error =
                    run.frames.time.iter().zip(&q).fold(0.0f64, |worst, (&t, q)| {
                        worst.max((q + 0.1 * (t / 0.1).sin()).abs())
                    });
                (h, error)
            })
            .to_vec();
    order_within("compliant floor", &errors, 0.9..=1.1);
}

/// A ball carried by a table that moves: `y = q − a sin ωt` stays closed while the table
/// accelerates less than gravity.
#[test]
fn table_that_moves() {
    let mut model = Model::new("table");
    let ball = LagrangianLinear::new([0.0], [0.0], [[1.0]]).F_ext([-9.81]);
    let id = model.add("ball", ball).unwrap();
    let gap = relation(1, ("q", 1), 1, &["q[0] - 0.01*(1 - cos(20*t))"]);
    model.connect("table", LagrangianRelation::new(gap), Law::newton_impact(0.0), &[id]).unwrap();
    let run = run(model, 1e-3, MoreauJean::default(), 2.0);
    let u = run.signal("table.u").unwrap();
    assert!(u.iter().all(|u| u.abs() <= 1e-12), "it leaves the table");
    let y = run.signal("table.y").unwrap();
    within("drift of the gap", y.iter().fold(0.0f64, |worst, y| worst.max(y.abs())), 1e-5);
}

/// Frémond's law takes energy where Newton's with Coulomb's can give it.
#[test]
fn fremond_never_gives_energy() {
    let mut model = Model::new("stick");
    // a rod falls on its end at a slant
    let (l, mass, inertia) = (1.0f64, 1.0, 1.0 / 12.0);
    let slant = 1.0f64;
    let rod = LagrangianLinear::new(
        [0.5 * l * slant.sin() + 1e-3, 0.0, slant],
        [-1.0, 1.5, 0.0],
        Matrix::diagonal(&[mass, mass, inertia]),
    );
    let id = model.add("rod", rod.F_ext([-9.81, 0.0, 0.0])).unwrap();
    let tip = relation(2, ("q", 3), 2, &["q[0] - 0.5*sin(q[2])", "q[1] - 0.5*cos(q[2])"]);
    let law = Law::Fremond { e: 0.8.into(), mu: 0.6.into() };
    model.connect("tip", LagrangianRelation::new(tip), law, &[id]).unwrap();
    let mut sim = TimeStepping::new(model, 1e-4, [MoreauJean::default().into()]).unwrap();
    let mut before = 0.0;
    for _ in 0..2000 {
        sim.step().unwrap();
        let taken = sim.ledger().unwrap().contact();
        assert!(taken >= before - 1e-9, "an impact gave {:e}", before - taken);
        before = taken;
    }
    assert!(before > 0.01, "there was an impact");
}

/// In mechanics a polyhedron is one of forces, as the bounds of a relay are: friction of ±0.5
/// brakes a unit mass from 1 in two seconds, whatever the step.
#[test]
fn a_polyhedron_of_forces() {
    for formulas in [false, true] {
        let mut model = Model::new("brake");
        let id = model.add("mass", LagrangianLinear::new([0.0], [1.0], [[1.0]])).unwrap();
        let law = Law::NormalCone { A: [[1.0], [-1.0]].into(), b: vec![0.5, 0.5] };
        if formulas {
            let h = LagrangianRelation::new(relation(1, ("q", 1), 1, &["q[0]"]));
            model.connect("brake", h, law, &[id]).unwrap();
        } else {
            let H = LagrangianLinearRelation::new([[1.0]]);
            model.connect("brake", H, law, &[id]).unwrap();
        }
        let run = run(model, 0.01, MoreauJean::default(), 3.0);
        let v = run.signal("mass.v").unwrap();
        within("halfway", (v[100] - 0.5).abs(), 1e-12);
        within("at rest", v[300].abs(), 1e-12);
    }
}

/// A shaker takes a mass along: the work is that of the constraint, and nothing is lost.
#[test]
fn the_work_of_a_moving_constraint() {
    let mut model = Model::new("shaker");
    let id = model.add("mass", LagrangianLinear::new([0.0], [0.0], [[2.0]])).unwrap();
    let gap = relation(1, ("q", 1), 1, &["q[0] - 0.1*(1 - cos(3*t))"]);
    model.connect("shaker", LagrangianRelation::new(gap), Law::Equality, &[id]).unwrap();
    let mut sim = TimeStepping::new(model, 1e-3, [MoreauJean::default().into()]).unwrap();
    sim.run(0.5).unwrap();
    let ledger = sim.ledger().unwrap();
    let kinetic = (0.3 * 1.5f64.sin()).powi(2);
    within("kinetic energy", (ledger.kinetic - kinetic).abs(), 1e-6);
    within("work", (ledger.work - ledger.kinetic).abs(), 1e-12);
    within("what is lost", ledger.numerical.abs(), 1e-12);
}

/// Polyhedra among so many outputs that the problem is sparse.
#[test]
fn polyhedra_in_a_large_model() {
    let mut model = Model::new("brakes");
    for i in 0..40 {
        let mass = LagrangianLinear::new([0.0], [1.0 + i as f64], [[1.0]]);
        let id = model.add(&format!("mass{i}"), mass).unwrap();
        let law = Law::NormalCone { A: [[1.0], [-1.0]].into(), b: vec![0.5, 0.5] };
        let h = LagrangianRelation::new(relation(1, ("q", 1), 1, &["q[0]"]));
        model.connect(&format!("brake{i}"), h, law, &[id]).unwrap();
    }
    let run = run(model, 0.1, MoreauJean::default(), 1.0);
    for i in 0..40 {
        within("speed", (last(&run, &format!("mass{i}.v")) - (0.5 + i as f64)).abs(), 1e-10);
    }
}

/// After a step that failed, the present is what it was: a state that is set then sees the force of
/// that time.
#[test]
fn a_failed_step_does_not_move_the_present() {
    let force = Operator::vector(1, |at, F| {
        F[0] = if at.first[0] > 0.5 { f64::NAN } else { at.t };
    });
    let mut model = Model::new("broken");
    let id = model.add("mass", Lagrangian::new([0.0], [0.0], [[1.0]]).F_int(force)).unwrap();
    let simulation = |model: &Model| {
        TimeStepping::new(model.clone(), 0.1, [MoreauJean::default().into()]).unwrap()
    };
    let (mut sim, mut other) = (simulation(&model), simulation(&model));
    sim.step().unwrap();
    other.step().unwrap();
    sim.set_qv(id, None, Some(&[100.0])).unwrap();
    sim.step().unwrap_err();
    // a state in which the force fails is refused as a whole
    sim.set_qv(id, Some(&[1.0]), None).unwrap_err();
    assert_eq!(sim.v(id).unwrap(), [100.0]);
    for sim in [&mut sim, &mut other] {
        sim.set_qv(id, Some(&[0.0]), Some(&[0.0])).unwrap();
        sim.step().unwrap();
    }
    assert_eq!(sim.v(id).unwrap(), other.v(id).unwrap());
    assert_eq!(sim.q(id).unwrap(), other.q(id).unwrap());
}

/// Newton's method that does not converge is an error, and nothing has changed.
#[test]
fn newton_that_fails_changes_nothing() {
    let names = Names { first: ("x", 1), ..Names::TIME };
    let f = Operator::formulas(1, 1, &["-1e6*sign(x[0])*sqrt(abs(x[0]))"], &names, &[]).unwrap();
    let mut model = Model::new("stiff");
    let id = model.add("x", FirstOrder::new([1.0], f)).unwrap();
    let newton = saltus::sim::NewtonSettings { max_iter: 2, ..Default::default() };
    let schemes = [EulerMoreau::default().into()];
    let mut sim =
        TimeStepping::with_methods(model, 0.1, schemes, &Solver::default(), newton).unwrap();
    let error = sim.step().unwrap_err().to_string();
    assert!(error.starts_with("the step to t = 0.1: Newton's method stopped after 2"), "{error}");
    assert_eq!((sim.t(), sim.x(id).unwrap()), (0.0, &[1.0][..]));
}

/// `ẋ = z − x` with an input that changes half-way, and goes back with a reset.
#[test]
fn inputs_hold_from_the_instant_they_are_set() {
    let names = Names { first: ("x", 1), inputs: 1, ..Names::TIME };
    let f = Operator::formula("[z[0] - x[0]]", &names, &[]).unwrap();
    let mut model = Model::new("held");
    let point = model.add("point", FirstOrder::new([1.0], f).z0([0.0])).unwrap();
    let scheme = EulerMoreau { theta: 0.5, ..EulerMoreau::default() };
    let mut sim = TimeStepping::new(model, 1e-3, [scheme.into()]).unwrap();
    sim.run(1.0).unwrap();
    sim.set_inputs("point", &[2.0]).unwrap();
    assert_eq!(sim.inputs("point").unwrap(), [2.0]);
    sim.run(2.0).unwrap();
    let decay = (-1.0_f64).exp();
    let expected = 2.0 + (decay - 2.0) * decay;
    within("x(2)", (sim.x(point).unwrap()[0] - expected).abs(), 1e-6);
    let error = sim.set_inputs("point", &[1.0, 2.0]).unwrap_err().to_string();
    assert!(error.starts_with("set_input: `z` has length 2, expected 1"), "{error}");
    assert!(sim.set_inputs("pont", &[1.0]).unwrap_err().to_string().contains("`point`"));
    sim.reset().unwrap();
    assert_eq!(sim.inputs("point").unwrap(), [0.0]);
}

/// Relations on one system that are formulas are evaluated together, and give what they give alone:
/// here beside the same ones as functions, of two sizes, with and without friction.
#[test]
fn relations_together_are_those_alone() {
    let build = |together: bool| {
        let mut model = Model::new("two angles in a corner");
        let M = mechanical(2, 2, 2, &["2 + cos(q[1])", "0.5", "0.5", "1"]);
        let F = mechanical(2, 1, 2, &["3*sin(q[0]) + 0.1*v[0]", "q[1]*v[0]^2"]);
        let system = Lagrangian::new([0.3, 0.2], [1.0, -0.5], M).F_int(F);
        let arm = model.add("arm", system).unwrap();
        for (k, side) in [(0, 1.0_f64), (1, -1.0)] {
            let text = format!("0.6 + ({side:?})*(sin(q[0]) + 0.5*sin(q[1]))");
            let gap = match together {
                true => LagrangianRelation::new(relation(1, ("q", 2), 1, &[&text])),
                false => {
                    let h = move |at: At<'_>, y: &mut [f64]| {
                        y[0] = 0.6 + side * (at.first[0].sin() + 0.5 * at.first[1].sin());
                    };
                    let H = move |at: At<'_>, H: &mut [f64]| {
                        H[0] = side * at.first[0].cos();
                        H[1] = side * 0.5 * at.first[1].cos();
                    };
                    let still = Operator::zero(1, 1);
                    LagrangianRelation::new(Operator::vector(1, h))
                        .H(Operator::matrix(1, 2, H))
                        .dh_dt(still)
                }
            };
            let law = Law::newton_impact(0.5);
            model.connect(&format!("wall{k}"), gap, law, &[arm]).unwrap();
        }
        // of another size, so not with the others
        let slide = relation(2, ("q", 2), 2, &["2 + cos(q[0])", "sin(q[0])"]);
        let law = Law::impact_friction(0.0, 0.3);
        model.connect("far", LagrangianRelation::new(slide), law, &[arm]).unwrap();
        run(model, 1e-3, MoreauJean::default(), 3.0)
    };
    let (together, alone) = (build(true), build(false));
    assert!(together.signal("wall0.lam").unwrap().iter().any(|lam| *lam > 0.0));
    for signal in ["arm.q", "arm.v", "wall0.y", "wall1.u", "wall1.lam", "far.y"] {
        let pairs = together.signal(signal).unwrap().into_iter().zip(alone.signal(signal).unwrap());
        let worst = pairs.fold(0.0_f64, |worst, (a, b)| worst.max((a - b).abs()));
        within(signal, worst, 1e-10);
    }
}
