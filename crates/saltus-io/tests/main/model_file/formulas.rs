//! Formulas of the state: what they mean in each slot, and what is said where they may not be used.

use super::{parse, replaced};
use saltus_linalg::Matrix;
use saltus_model::{At, Interaction, Law, SecondOrderSystem, System};
use saltus_numerics::Solver;
use saltus_sim::{Integrator, TimeStepping};
use std::sync::Arc;

/// A pendulum on a cart, with a contact whose coefficients are formulas.
const CART: &str = r#"[parameters]
m = 2
g = 9.81
[simulation]
h = 1e-3
until = 1
[[system]]
name = "cart"
kind = "lagrangian"
q0 = [0.1, 0.2]
v0 = [0, 0]
M = [[3, "m*cos(q[1])"], ["m*cos(q[1])", "m"]]
F_gyr = ["-m*sin(q[1])*v[1]^2", 0]
F_int = "[q[0]*t, m*g*sin(q[1]) + z[0]*v[1]]"
F_ext = ["z[1]*sin(t)", 0]
z0 = [0.5, 4]
[[interaction]]
name = "wall"
systems = ["cart"]
relation = { kind = "lagrangian", h = ["q[0] + 1 - t/10", "q[1]"] }
law = { kind = "impact-friction", e = "0.5/(1 + u[0]^2)", mu = "0.3 + q[1]*t" }
"#;

#[track_caller]
fn second_order(text: &str) -> Arc<dyn SecondOrderSystem> {
    let file = parse(text).unwrap_or_else(|error| panic!("{}", error.report()));
    match file.model.systems().next() {
        Some((_, System::SecondOrder(system))) => Arc::clone(system),
        _ => panic!("not Lagrangian"),
    }
}

#[track_caller]
fn interaction(text: &str) -> Interaction {
    let file = parse(text).unwrap_or_else(|error| panic!("{}", error.report()));
    file.model.interactions().next().expect("an interaction").1.clone()
}

#[track_caller]
fn check(from: &str, to: &str, expected: &str) {
    let text = replaced(CART, from, to);
    match parse(&text) {
        Ok(_) => panic!("no error, expected {expected}"),
        Err(error) => assert_eq!(error.to_string(), format!("model.toml:{expected}")),
    }
}

#[test]
fn a_mechanical_system() {
    let cart = second_order(CART);
    let (q, v, z) = ([0.3, 0.7], [1.0, -2.0], [0.5, 4.0]);
    let at = At::new(2.0, &q, &v).with(&z);
    let mut M = Matrix::default();
    cart.mass(at, &mut M).expect("M");
    let c = 2.0 * q[1].cos();
    assert_eq!(M, [[3.0, c], [c, 2.0]].into());

    let mut F = [0.0; 2];
    cart.force(at, &mut F, &mut [0.0; 2]).expect("F");
    let expected = [
        4.0 * 2f64.sin() + 2.0 * q[1].sin() * 4.0 - q[0] * 2.0,
        -(2.0 * 9.81 * q[1].sin() + 0.5 * v[1]),
    ];
    for (found, expected) in F.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-13, "{found} {expected}");
    }

    // derivatives are exact
    let (mut dq, mut dv, mut work) = (Matrix::default(), Matrix::default(), Matrix::default());
    cart.force_dq(at, &mut dq, &mut work).expect("dF_dq");
    cart.force_dv(at, &mut dv, &mut work).expect("dF_dv");
    assert_eq!(dq[(0, 0)], -2.0);
    assert!((dq[(0, 1)] - 2.0 * q[1].cos() * 4.0).abs() < 1e-14);
    assert!((dv[(0, 1)] - 4.0 * q[1].sin() * v[1]).abs() < 1e-14);
    assert_eq!(dv[(1, 1)], -0.5);
}

#[test]
fn a_moving_contact() {
    let wall = interaction(CART);
    let (q, lam) = ([0.3, 0.7], [0.0; 2]);
    let at = At::new(2.0, &q, &lam);
    let (mut y, mut rate, mut H) = ([0.0; 2], [0.0; 2], Matrix::default());
    wall.relation.output(at, &mut y).expect("h");
    wall.relation.output_dt(at, &mut rate).expect("dh_dt");
    wall.relation.output_dx(at, &mut H).expect("H");
    assert_eq!((y, rate), ([0.3 + 1.0 - 0.2, 0.7], [-0.1, 0.0]));
    assert_eq!(H, Matrix::identity(2));
    let Law::ImpactFriction { e, mu, et } = &wall.law else { panic!("{:?}", wall.law) };
    let at = At::new(2.0, &q, &[3.0, 0.0]);
    assert_eq!(e.eval(at, &saltus_model::Range::E), Ok(0.05));
    assert_eq!(mu.eval(at, &saltus_model::Range::MU), Ok(0.3 + 0.7 * 2.0));
    assert_eq!(*et, 0.0);
}

#[test]
fn it_runs() {
    let file = parse(CART).expect("it is right");
    let settings = &file.simulation;
    let (solver, newton) = (&settings.solver, settings.newton);
    let integrators = settings.integrators.clone();
    let sim = TimeStepping::with_methods(file.model, settings.h, integrators, solver, newton);
    let run = sim.expect("a simulation").run(settings.until).expect("it runs");
    assert!(run.stats.worst_residual <= 1e-8);
    assert_eq!(settings.integrators[0].name(), Integrator::NAMES[1]);
    assert_eq!(*solver, Solver::default());
}

#[test]
fn first_order() {
    let text = r#"[simulation]
h = 1
until = 1
[[system]]
name = "a"
kind = "first-order"
x0 = [1, 2]
f = "[x[1] + t, -sin(x[0])*z[0]]"
z0 = [3]
[[system]]
name = "b"
kind = "first-order"
x0 = [5]
f = ["-x[0]^2"]
M = [["1 + t"]]
[[interaction]]
name = "i"
systems = ["a", "b"]
relation = { kind = "first-order", h = ["x[0] - x[2]", "x[1]*lam[1] + z[0]"], g = "[lam[0], 0, lam[0]*x[2]]", z0 = [7] }
law = "complementarity"
"#;
    let file = parse(text).unwrap_or_else(|error| panic!("{}", error.report()));
    let Some((_, System::FirstOrder(a))) = file.model.systems().next() else { panic!("a") };
    let (mut f, mut A) = ([0.0; 2], Matrix::default());
    let at = At::new(0.5, &[1.0, 2.0], &[]).with(&[3.0]);
    a.rhs(at, &mut f).expect("f");
    a.rhs_dx(at, &mut A).expect("df_dx");
    assert_eq!(f, [2.5, -1f64.sin() * 3.0]);
    assert_eq!(A, [[0.0, 1.0], [-1f64.cos() * 3.0, 0.0]].into());

    // with two systems x is one state above the other
    let relation = &interaction(text).relation;
    let at = At::new(0.0, &[1.0, 2.0, 5.0], &[10.0, 20.0]).with(&[7.0]);
    let (mut y, mut D) = ([0.0; 2], Matrix::default());
    relation.output(at, &mut y).expect("h");
    relation.output_dlam(at, &mut D).expect("dh_dlam");
    assert_eq!((y, D), ([-4.0, 47.0], [[0.0, 0.0], [0.0, 2.0]].into()));
    let mut r = [0.0; 3];
    relation.input().expect("g").value(at, &mut r).expect("g");
    assert_eq!(r, [10.0, 0.0, 50.0]);
}

#[test]
fn laws() {
    let with = |law: &str| {
        interaction(&replaced(
            CART,
            "{ kind = \"impact-friction\", e = \"0.5/(1 + u[0]^2)\", mu = \"0.3 + q[1]*t\" }",
            law,
        ))
        .law
    };
    let points = "{ kind = \"piecewise-linear\", points = [[-1, \"m\"], [0, 1], [\"m\", -1]] }";
    let expected = vec![(-1.0, 2.0), (0.0, 1.0), (2.0, -1.0)];
    assert_eq!(with(points), Law::PiecewiseLinear { points: expected });
    let cone = "{ kind = \"normal-cone\", A = \"[[1, 1], [-1, 0], [0, -1]]\", b = [1, 0, 0] }";
    let A = Matrix::from([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]);
    assert_eq!(with(cone), Law::NormalCone { A, b: vec![1.0, 0.0, 0.0] });
    let friction = "{ kind = \"impact-friction\", e = 0, mu = \"0.1*m\", et = -0.5 }";
    let expected = Law::ImpactFriction { e: 0.0.into(), mu: (0.1 * 2.0).into(), et: -0.5 };
    assert_eq!(with(friction), expected);
    let fremond = "{ kind = \"fremond\", e = 0.5, mu = 0.2 }";
    assert_eq!(with(fremond), Law::Fremond { e: 0.5.into(), mu: 0.2.into() });
    let several = "{ kind = \"multiple-impact\", e = 0.5, stiffness = 2 }";
    assert_eq!(with(several), Law::multiple_impact(0.5, 2.0));
    let bond = "{ kind = \"cohesive\", stiffness = 1e3, strength = 5, energy = 1 }";
    let law = Law::cohesive(saltus_model::Bond::new(1e3, 5.0, 1.0), 0.0);
    assert_eq!(with(bond), law);
    let bond = "{ kind = \"binary-cohesive\", strength = 5, opening = 0.1, mu = 0.3 }";
    let (e, mu) = (0.0.into(), 0.3.into());
    assert_eq!(with(bond), Law::BinaryCohesive { strength: 5.0, opening: 0.1, e, mu });
}

/// A chain: entries by a formula, indices by formulas of `row` and of the loop variable.
#[test]
fn indices_by_formulas() {
    let text = r#"[parameters]
n = 4
[simulation]
h = 1
until = 1
[[system]]
name = "chain"
kind = "lagrangian"
q0 = { size = "n", entry = "row" }
v0 = { size = "n", entry = 0 }
M = { identity = "n" }
F_int = { size = "n", entry = "(q[row] - q[max(row - 1, 0)])^3 + v[n - 1 - row]*t" }
[[interaction]]
for = "i in 1..n"
name = "stop{i}"
systems = ["chain"]
relation = { kind = "lagrangian", h = ["q[i] - 2*q[ i - 1 ] + i"] }
law = { kind = "newton-impact", e = 0 }
"#;
    let chain = second_order(text);
    let (mut F, mut work) = ([0.0; 4], [0.0; 4]);
    let at = At::new(10.0, &[1.0, 2.0, 4.0, 7.0], &[1.0, 2.0, 3.0, 4.0]);
    chain.force(at, &mut F, &mut work).expect("F");
    assert_eq!(F, [-40.0, -31.0, -28.0, -37.0]);
    let file = parse(text).expect("it is right");
    let gaps: Vec<f64> = (file.model.interactions())
        .map(|(_, it)| {
            let mut y = [0.0];
            it.relation.output(At::new(0.0, &[1.0, 2.0, 4.0, 7.0], &[0.0]), &mut y).expect("h");
            y[0]
        })
        .collect();
    assert_eq!(gaps, [1.0, 2.0, 2.0]);

    let say = |from: &str, to: &str| {
        parse(&replaced(text, from, to)).expect_err("it is wrong").to_string()
    };
    assert_eq!(
        say("q[i] - 2", "q[i + 1] - 2"),
        "model.toml:17:41: `h`: there is no `q[4]`, expected an index from 0 to 3 (with i = 3)"
    );
    assert_eq!(
        say("q[ i - 1 ]", "q[i/2]"),
        "model.toml:17:52: `i/2` is 0.5, expected a whole number that is not negative (with i = 1)"
    );
    assert_eq!(
        say("max(row - 1, 0)", "row - 1"),
        "model.toml:12:44: `row - 1` is -1, expected a whole number that is not negative"
    );
    assert_eq!(
        say("q[row] -", "q[rwo] -"),
        "model.toml:12:35: unknown name `rwo`; did you mean `row`?"
    );
    assert_eq!(
        say("v[n - 1 - row]*t", "lam[row]*t"),
        "model.toml:12:66: `F_int`: its formula cannot use `lam[0]`; it may use `t`, `q[0]` to `q[3]`, `v[0]` to `v[3]`"
    );
}

#[test]
fn what_a_slot_allows() {
    check(
        "M = [[3,",
        "M = [[\"3 + v[0]\",",
        "12:12: `M`: its formula cannot use `v[0]`; it may use `q[0]` to `q[1]`",
    );
    check(
        "\"z[1]*sin(t)\"",
        "\"z[1]*sin(q[0])\"",
        "15:20: `F_ext`: its formula cannot use `q[0]`; it may use `t`, `z[0]` to `z[1]`",
    );
    check(
        "q0 = [0.1,",
        "q0 = [\"2*t\",",
        "10:10: `q0` must be constant, so its formula cannot use `t`",
    );
    check(
        "\"q[1]\"",
        "\"lam[0]\"",
        "20:60: `h`: its formula cannot use `lam[0]`; it may use `t`, `q[0]` to `q[1]`",
    );
    check(
        "mu = \"0.3 + q[1]*t\"",
        "mu = \"0.3 + v[1]\"",
        "21:71: `mu`: its formula cannot use `v[1]`; it may use `t`, `q[0]` to `q[1]`, `u[0]` to `u[1]`",
    );
    check("v[1]^2", "v[2]^2", "13:24: `F_gyr`: there is no `v[2]`, expected an index from 0 to 1");
    check(
        "z[0]*v[1]",
        "z[2]*v[1]",
        "14:35: `F_int`: there is no `z[2]`, expected an index from 0 to 1",
    );
    check("g*sin(q[1])", "g*sin(q)", "14:27: unknown name `q`; did you mean `q[0]`?");
    check("g*sin(q[1])", "gg*sin(q[1])", "14:21: unknown name `gg`; did you mean `g`?");
    check("g*sin(q[1])", "g*sin(q[1]", "14:43: expected an operator, `,` or `)`, found `]`");
}

#[test]
fn the_report_shows_the_place() {
    let text = replaced(CART, "q[0]*t", "q[3]*t");
    let expected = "model.toml:14:11: `F_int`: there is no `q[3]`, expected an index from 0 to 1
   |
14 | F_int = \"[q[3]*t, m*g*sin(q[1]) + z[0]*v[1]]\"
   |           ^^^^";
    assert_eq!(parse(&text).expect_err("no q[3]").report(), expected);
}

#[test]
fn whole_arrays_as_text() {
    check(
        "v0 = [0, 0]",
        "v0 = \"[0, 0, 0]\"",
        "11:1: system `cart`: `v0` has length 3, expected 2 (the length of `q0`)",
    );
    check(
        "v0 = [0, 0]",
        "v0 = \"[[0, 1], [2, 3]]\"",
        "11:6: `v0`: expected a vector such as [a, b], found a matrix",
    );
    check("v0 = [0, 0]", "v0 = \"[0, 1/0]\"", "11:6: `v0[1]`: expected a finite number, found inf");
    let cart = second_order(&replaced(CART, "v0 = [0, 0]", "v0 = \"[m, -m/4]\""));
    assert_eq!(cart.v0(), [2.0, -0.5]);
}

#[test]
fn of_the_model() {
    check(
        ", \"q[1]\"]",
        "]",
        "20:1: interaction `wall`, law ImpactFriction: the relation has 1 components, expected 2 (in the plane) or 3 (in space)",
    );
    check(
        "mu = \"0.3 + q[1]*t\"",
        "mu = -1",
        "21:59: interaction `wall`, law ImpactFriction: `mu` = -1 is outside [0, inf)",
    );
    check(
        "{ kind = \"impact-friction\", e = \"0.5/(1 + u[0]^2)\", mu = \"0.3 + q[1]*t\" }",
        "{ kind = \"piecewise-linear\", points = [[0, 1], [-1, 0]] }",
        "21:36: interaction `wall`, law PiecewiseLinear: point 1 of `points`, (-1, 0), goes back: y must not decrease, lam not increase",
    );
    check(
        "{ kind = \"impact-friction\", e = \"0.5/(1 + u[0]^2)\", mu = \"0.3 + q[1]*t\" }",
        "{ kind = \"piecewise-linear\", points = [[0, 1], 2] }",
        "21:54: `points[1]`: expected a point [y, lam], found a number",
    );
    check(
        "\"m*cos(q[1])\"], [",
        "\"m/(q[0] - 0.1)\"], [",
        "12:1: `M of cart` at t = 0: returned a value that is not finite: [3.0, inf, 1.9601331556824833, 2.0]",
    );
}
