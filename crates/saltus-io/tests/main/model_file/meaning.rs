//! What a right file means.

use super::{BALL, first_order, parse, replaced};
use saltus_io::Strategy;
use saltus_linalg::Matrix;
use saltus_model::{At, Law, System};
use saltus_numerics::Solver;
use saltus_sim::{EulerMoreau, Integrator, MoreauJean};

/// `x0`, `A` and `b` of the only system.
#[track_caller]
fn first_order_parts(text: &str, t: f64) -> (Vec<f64>, Matrix, Vec<f64>) {
    let file = parse(text).unwrap_or_else(|error| panic!("{}", error.report()));
    let (_, system) = file.model.systems().next().expect("a system");
    let System::FirstOrder(system) = system else { panic!("not of first order") };
    let n = system.dim();
    let (mut A, mut b) = (Matrix::zeros(n, n), vec![0.0; n]);
    system.rhs_dx(At::new(t, system.x0(), &[]), &mut A).expect("A");
    system.forcing(t, &mut b).expect("b");
    (system.x0().to_vec(), A, b)
}

#[test]
fn the_contract() {
    let file = parse(BALL).expect("it is right");
    assert_eq!(file.text, BALL);
    assert_eq!(file.model.title(), "bouncing ball");
    assert_eq!(file.model.t0(), 0.0);

    let simulation = &file.simulation;
    assert_eq!(simulation.strategy, Strategy::TimeStepping);
    assert_eq!(simulation.integrators, [Integrator::MoreauJean(MoreauJean::default())]);
    assert_eq!(simulation.solver, Solver::default());
    assert_eq!((simulation.h, simulation.until), (5e-3, 10.0));
    assert_eq!(simulation.output.every, 1);
    let signals = simulation.output.signals.as_deref().expect("signals");
    assert_eq!(signals, ["ball.q", "floor.lam"]);

    let (name, system) = file.model.systems().next().expect("the ball");
    assert_eq!(name, "ball");
    let System::SecondOrder(ball) = system else { panic!("not Lagrangian") };
    assert_eq!((ball.q0(), ball.v0()), (&[1.0, 0.0, 0.0][..], &[0.0, 0.0, 0.0][..]));
    let mut M = Matrix::zeros(3, 3);
    ball.mass(At::new(0.0, ball.q0(), &[]), &mut M).expect("M");
    assert_eq!(M, Matrix::diagonal(&[1.0, 1.0, 2.0 / 5.0 * (0.1 * 0.1)]));
    let mut F = [0.0; 3];
    ball.force(At::new(0.0, ball.q0(), ball.v0()), &mut F, &mut [0.0; 3]).expect("F");
    assert_eq!(F, [-9.81, 0.0, 0.0]);

    let (name, floor) = file.model.interactions().next().expect("the floor");
    assert_eq!(name, "floor");
    assert_eq!(floor.law, Law::newton_impact(0.9));
    let relation = floor.relation.linear().expect("it is linear");
    assert_eq!(relation.e, Some(&[-0.1][..]));
}

#[test]
fn defaults() {
    let text = first_order("", "x0 = [0]\nA = [[0]]");
    let file = parse(&text).expect("it is right");
    assert_eq!(file.model.title(), "model"); // the file's name
    assert_eq!(file.simulation.integrators, [Integrator::EulerMoreau(EulerMoreau::default())]);
    assert_eq!(file.simulation.output.every, 1);
    assert_eq!(file.simulation.output.signals, None);

    let text = replaced(&text, "h = 1", "integrator = { theta = 0.5 }\nt0 = -1\nh = 1");
    let file = parse(&text).expect("it is right");
    let theta = EulerMoreau { theta: 0.5, ..EulerMoreau::default() };
    assert_eq!(file.simulation.integrators, [Integrator::EulerMoreau(theta)]);
    assert_eq!(file.model.t0(), -1.0);
}

#[test]
fn solvers() {
    let with = |solver: &str| {
        let text = first_order("", "x0 = [0]\nA = [[0]]");
        let text = replaced(&text, "h = 1", &format!("solver = {solver}\nh = 1"));
        parse(&text).unwrap_or_else(|error| panic!("{}", error.report())).simulation.solver
    };
    for name in Solver::NAMES {
        assert_eq!(Some(with(&format!("{name:?}"))), Solver::from_name(name));
        let tol = with(&format!("{{ kind = {name:?}, tol = \"10^-6\", max_iter = 7 }}"));
        let expected = Solver::from_name(name).map(|solver| solver.with_tol(1e-6).with_max_iter(7));
        assert_eq!(Some(tol), expected);
    }
    assert_eq!(with("{ tol = 1e-3 }"), Solver::default().with_tol(1e-3));
}

#[test]
fn parameters_in_any_order() {
    let text = first_order("c = \"2*b\"\na = 3\nb = \"a^2 + pi\"", "x0 = [\"c\"]\nA = [[0]]");
    let (x0, ..) = first_order_parts(&text, 0.0);
    assert_eq!(x0, [2.0 * (9.0 + std::f64::consts::PI)]);
}

#[test]
fn literals_are_the_nearest_doubles() {
    let x0 =
        "x0 = [0.1, 1_000, 9007199254740993, 0xff, 1e-400, 123456789.123456789e-5, +5, \"0.1\"]";
    let text = first_order("", &format!("{x0}\nA = {{ identity = 8 }}"));
    let (x0, ..) = first_order_parts(&text, 0.0);
    let expected = [0.1, 1000.0, 9007199254740992.0, 255.0, 0.0, 1234.567891234568, 5.0, 0.1];
    assert_eq!(x0, expected);
}

#[test]
fn arrays() {
    let text = first_order(
        "n = 3",
        r#"x0 = { size = "n", entry = "row^2" }
A = { rows = "n", cols = "n", entry = "10*row + col" }
b = [1, "n", "-n"]
M = { diagonal = { size = "n", entry = 2 } }"#,
    );
    let (x0, A, b) = first_order_parts(&text, 0.0);
    assert_eq!(x0, [0.0, 1.0, 4.0]);
    assert_eq!(A, [[0.0, 1.0, 2.0], [10.0, 11.0, 12.0], [20.0, 21.0, 22.0]].into());
    assert_eq!(b, [1.0, 3.0, -3.0]);

    let text = replaced(
        &text,
        r#"{ rows = "n", cols = "n", entry = "10*row + col" }"#,
        "{ identity = \"n\" }",
    );
    assert_eq!(first_order_parts(&text, 0.0).1, Matrix::identity(3));
}

#[test]
fn functions_of_time() {
    let system = r#"x0 = [0, 0]
A = [[1, "k*t"], [0, 2]]
b = ["sin(k*t)", "k"]"#;
    let (_, A, b) = first_order_parts(&first_order("k = 2", system), 0.5);
    assert_eq!(A, [[1.0, 1.0], [0.0, 2.0]].into());
    assert_eq!(b, [1f64.sin(), 2.0]);

    let system = r#"x0 = [0, 0]
A = { rows = 2, cols = 2, entry = "t*(10*row + col)" }
b = { size = 2, entry = "row + t" }"#;
    let (_, A, b) = first_order_parts(&first_order("", system), 2.0);
    assert_eq!(A, [[0.0, 2.0], [20.0, 22.0]].into());
    assert_eq!(b, [2.0, 3.0]);

    let system = "x0 = [0, 0]\nA = { diagonal = [\"t\", 5] }\nb = [\"if(0, t, 1)\", 0]";
    let text = first_order("", system);
    let (_, A, b) = first_order_parts(&text, 3.0);
    assert_eq!(A, Matrix::diagonal(&[3.0, 5.0]));
    assert_eq!(b, [1.0, 0.0]);
    // what does not depend on t is a constant
    let file = parse(&text).expect("it is right");
    let (_, system) = file.model.systems().next().expect("a system");
    let System::FirstOrder(system) = system else { panic!("not of first order") };
    assert_eq!(system.dependence().forcing, saltus_model::Dependence::Constant);
    assert_eq!(system.dependence().jacobian, saltus_model::Dependence::Time);
}

#[test]
fn repetition() {
    let text = r#"
[parameters]
N = 4
[simulation]
h = 1
until = 1
output = { signals = ["bead{N-1}.q"] }
[[system]]
for = "i in 0..N"
name = "bead{i}"
kind = "lagrangian-linear"
q0 = ["10*i"]
v0 = [0]
M = { identity = 1 }
[[interaction]]
for = " k in 1 .. N "
name = "contact{k}"
systems = ["bead{k-1}", "bead{ k }"]
relation = { kind = "lagrangian-linear", H = [[-1, 1]], b = ["-k"] }
law = { kind = "newton-impact", e = "k/N" }
"#;
    let file = parse(text).unwrap_or_else(|error| panic!("{}", error.report()));
    let systems: Vec<(&str, f64)> = (file.model.systems())
        .map(|(name, system)| match system {
            System::SecondOrder(system) => (name, system.q0()[0]),
            System::FirstOrder(_) => panic!("not Lagrangian"),
        })
        .collect();
    assert_eq!(systems, [("bead0", 0.0), ("bead1", 10.0), ("bead2", 20.0), ("bead3", 30.0)]);
    let interactions: Vec<(&str, Vec<usize>, &Law)> = (file.model.interactions())
        .map(|(name, it)| (name, it.systems.iter().map(|id| id.index()).collect(), &it.law))
        .collect();
    let law = |e| Law::newton_impact(e);
    let expected = [
        ("contact1", vec![0, 1], &law(0.25)),
        ("contact2", vec![1, 2], &law(0.5)),
        ("contact3", vec![2, 3], &law(0.75)),
    ];
    assert_eq!(interactions, expected);
    assert_eq!(file.simulation.output.signals, Some(vec!["bead3.q".to_owned()]));

    // one bead, no contact
    let one = parse(&replaced(text, "N = 4", "N = 1")).expect("it is right");
    assert_eq!((one.model.systems().len(), one.model.interactions().len()), (1, 0));
}

#[test]
fn relays() {
    let with = |law: &str| {
        let text = first_order("V = 5", "x0 = [1, 2]\nA = [[0, 0], [0, 0]]");
        let relation = "relation = { kind = \"first-order-linear\", C = [[1, 0], [0, 1]], B = { identity = 2 } }";
        let text = format!(
            "{text}[[interaction]]\nname = \"i\"\nsystems = [\"s\"]\n{relation}\nlaw = {law}\n"
        );
        let file = parse(&text).unwrap_or_else(|error| panic!("{}", error.report()));
        let (_, interaction) = file.model.interactions().next().expect("one");
        interaction.law.clone()
    };
    let relay =
        |lower: &[f64], upper: &[f64]| Law::Relay { lower: lower.into(), upper: upper.into() };
    assert_eq!(with("\"relay\""), relay(&[-1.0], &[1.0]));
    assert_eq!(with("\"equality\""), Law::Equality);
    assert_eq!(with("\"complementarity\""), Law::Complementarity);
    let bounds = "{ kind = \"relay\", lower = [\"-V\", 0], upper = inf }";
    assert_eq!(with(bounds), relay(&[-5.0, 0.0], &[f64::INFINITY]));
}

#[test]
fn two_integrators_for_a_mixed_model() {
    let mut text = replaced(
        BALL,
        "integrator = { kind = \"moreau-jean\", theta = 0.5 }",
        "integrator = [\"euler-moreau\", { kind = \"moreau-jean\", theta = 1 }]",
    );
    text.push_str("[[system]]\nname = \"s\"\nkind = \"first-order-linear\"\nx0 = [0]\nA = [[0]]\n");
    let file = parse(&text).expect("it is right");
    let names: Vec<&str> = file.simulation.integrators.iter().map(Integrator::name).collect();
    assert_eq!(names, ["euler-moreau", "moreau-jean"]);
}

#[test]
fn byte_order_mark_and_line_ends() {
    let windows = format!("\u{feff}{}", BALL.replace('\n', "\r\n"));
    assert_eq!(parse(&windows).expect("it is right").model.title(), "bouncing ball");
    let text = replaced(&windows, "\"2/5*r^2\"", "\"\"\"\r\n2/5*\r\n rr\"\"\"");
    let error = parse(&text).expect_err("no rr");
    assert_eq!(error.to_string(), "model.toml:21:2: unknown name `rr`; did you mean `r`?");
}
