//! `--set PATH=VALUE`.

use super::BALL;
use saltus_io::{ModelFile, ModelFileError};
use saltus_model::{At, Law, System};
use saltus_numerics::Solver;
use saltus_sim::{Integrator, MoreauJean};

fn set(changes: &[(&str, &str)]) -> Result<ModelFile, ModelFileError> {
    let owned: Vec<(String, String)> =
        changes.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect();
    ModelFile::parse(BALL, "model.toml", &owned)
}

#[track_caller]
fn good(changes: &[(&str, &str)]) -> ModelFile {
    set(changes).unwrap_or_else(|error| panic!("{}", error.report()))
}

#[track_caller]
fn check(path: &str, value: &str, expected: &str) {
    match set(&[(path, value)]) {
        Ok(_) => panic!("no error, expected {expected}"),
        Err(error) => assert_eq!(error.to_string(), format!("--set {path}={value}: {expected}")),
    }
}

fn force(file: &ModelFile) -> f64 {
    let (_, system) = file.model.systems().next().expect("the ball");
    let System::SecondOrder(ball) = system else { panic!("not Lagrangian") };
    let mut F = [0.0; 3];
    ball.force(At::new(0.0, ball.q0(), ball.v0()), &mut F, &mut [0.0; 3]).expect("F");
    F[0]
}

fn q0(file: &ModelFile) -> Vec<f64> {
    let (_, system) = file.model.systems().next().expect("the ball");
    let System::SecondOrder(ball) = system else { panic!("not Lagrangian") };
    ball.q0().to_vec()
}

fn law(file: &ModelFile) -> Law {
    let (_, interaction) = file.model.interactions().next().expect("the floor");
    interaction.law.clone()
}

#[test]
fn values() {
    assert_eq!(force(&good(&[("parameters.g", "1.62")])), -1.62);
    assert_eq!(force(&good(&[("g", "2*r")])), -0.2);
    assert_eq!(force(&good(&[("g", "1"), ("g", "2")])), -2.0);
    assert_eq!(force(&good(&[("ball.F_ext[0]", "-3*g")])), -3.0 * 9.81);
    assert_eq!(q0(&good(&[("ball.q0[0]", "2")])), [2.0, 0.0, 0.0]);
    assert_eq!(q0(&good(&[("ball.q0", "[3, \"r\", 0]")])), [3.0, 0.1, 0.0]);
    assert_eq!(q0(&good(&[("system[0].q0[0]", "2")])), [2.0, 0.0, 0.0]);
    assert_eq!(law(&good(&[("floor.law.e", "0.5")])), Law::newton_impact(0.5));
    assert_eq!(good(&[("simulation.h", "1e-3")]).simulation.h, 1e-3);
    assert_eq!(good(&[("title", "another ball")]).model.title(), "another ball");
    assert_eq!(good(&[("simulation.t0", "1")]).model.t0(), 1.0); // not in the file
}

#[test]
fn settings() {
    let theta = |file: &ModelFile| match &file.simulation.integrators[..] {
        [Integrator::MoreauJean(MoreauJean { theta, .. })] => *theta,
        other => panic!("{other:?}"),
    };
    assert_eq!(theta(&good(&[("simulation.integrator.theta", "1")])), 1.0);
    let changes = [("simulation.integrator", "moreau-jean"), ("simulation.integrator.theta", "1")];
    assert_eq!(theta(&good(&changes)), 1.0);
    assert_eq!(
        good(&[("simulation.solver", "lemke")]).simulation.solver,
        Solver::from_name("lemke").expect("it exists")
    );
    let solver = good(&[("simulation.solver.tol", "1e-4")]).simulation.solver;
    assert_eq!(solver, Solver::default().with_tol(1e-4));
    assert_eq!(good(&[("simulation.output.every", "10")]).simulation.output.every, 10);
}

#[test]
fn unknown_paths() {
    check("parameters.gg", "1", "there is no `gg` in `parameters`; did you mean `g`?");
    check("bal.q0", "1", "there is no `bal` in the model; did you mean `ball`?");
    check("gg", "1", "there is no `gg` in the model; did you mean `g`?");
    check("simulation.untl", "1", "unknown key `untl`; did you mean `until`?");
    check("simulation.integrator.thta", "1", "unknown key `thta`; did you mean `theta`?");
    check("floor.law.ee", "1", "unknown key `ee`; did you mean `e`?");
    check("ball.q0[3]", "1", "`ball.q0` is an array of 3 entries, which has no entry [3]");
    check("ball.M.x", "1", "there is no `x` in `ball.M`, which is an array");
    check("simulation.h[0]", "1", "`simulation.h` is a number, which has no entry [0]");
    for path in ["", ".", "ball.", "ball.q0[", "ball.q0[x]", "ball.q0[0]x", "[0]"] {
        check(
            path,
            "1",
            &format!("expected a path such as `parameters.g` or `ball.q0[0]`, found `{path}`"),
        );
    }
}

#[test]
fn wrong_values() {
    check("floor.law.e", "2", "interaction `floor`, law NewtonImpact: `e` = 2 is outside [0, 1]");
    check("g", "2*rr", "unknown name `rr`; did you mean `r`?");
    check("g", "true", "`g`: expected a number or a formula, found a boolean");
    check("simulation.h", "-1", "`h` is -1, expected a positive number");
    // the key that the model complains of is in the file
    let error = set(&[("ball.q0", "[1, 2]")]).expect_err("v0 is longer");
    let expected =
        "model.toml:18:1: system `ball`: `v0` has length 3, expected 2 (the length of `q0`)";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn the_place_in_an_override() {
    let error = set(&[("g", "2*rr")]).expect_err("no rr");
    assert_eq!((error.file.as_str(), error.line, error.column), ("--set g=2*rr", 1, 5));
    assert_eq!(
        error.report(),
        "--set g=2*rr: unknown name `rr`; did you mean `r`?\n  |\n1 | g=2*rr\n  |     ^^"
    );
    let error = set(&[("ball.q0", "[1, 2, 'rr']")]).expect_err("no rr");
    assert_eq!(error.column, 17);
    assert!(set(&[("ball.q0", "[1, 2")]).is_err());
}

#[test]
fn repeated_tables() {
    let text = "[simulation]\nh = 1\nuntil = 1\n[[system]]\nfor = 'i in 0..3'\nname = 'b{i}'\nkind = 'lagrangian-linear'\nq0 = ['i']\nv0 = [0]\nM = [[1]]\n";
    let change = |path: &str| [(path.to_owned(), "7".to_owned())];
    let file = ModelFile::parse(text, "model.toml", &change("b{i}.q0[0]")).expect("it is right");
    assert_eq!(q0(&file), [7.0]);
    let error = ModelFile::parse(text, "model.toml", &change("b1.q0[0]")).expect_err("one of many");
    assert_eq!(
        error.to_string(),
        "--set b1.q0[0]=7: `b1` is one of the repeated `b{i}`; set `b{i}` to change all of them"
    );
}

/// What made a run stands in its file: the overrides as comments, then the text as it was.
#[test]
fn overrides_are_comments_before_the_text() {
    let file = good(&[]);
    assert_eq!(file.text_with(&[]), BALL);
    let overrides = [("g", "1.62"), ("title", "two\nlines")];
    let overrides = overrides.map(|(path, value)| (path.to_owned(), value.to_owned()));
    let text = file.text_with(&overrides);
    assert_eq!(text, format!("# --set g=1.62\n# --set title=two\\nlines\n{BALL}"));
    ModelFile::parse(&text, "model.toml", &[]).unwrap();
}
