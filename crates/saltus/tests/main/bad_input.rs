//! Bad input through the Rust API: every message, word for word.

use saltus::numerics::{AutoSettings, GaussSeidelSettings, Solver, solve};
use saltus::prelude::*;

const NAN: f64 = f64::NAN;

fn ball() -> LagrangianLinear {
    LagrangianLinear::new([1.0], [0.0], [[1.0]])
}

fn tank() -> FirstOrderLinear {
    FirstOrderLinear::new([1.0, 2.0], [[0.0, 1.0], [0.0, 0.0]])
}

fn floor() -> LagrangianLinearRelation {
    LagrangianLinearRelation::new([[1.0]])
}

fn diode() -> FirstOrderLinearRelation {
    FirstOrderLinearRelation::new([[1.0, 0.0]], [[1.0], [0.0]])
}

const IMPACT: Law = Law::NewtonImpact { e: Coefficient::Constant(0.5) };

/// A model with a ball and a tank.
fn model() -> (Model, SystemId, SystemId) {
    let mut model = Model::new("test");
    let ball = model.add("ball", ball()).unwrap();
    let tank = model.add("tank", tank()).unwrap();
    (model, ball, tank)
}

fn sim() -> TimeStepping {
    TimeStepping::new(model().0, 0.1, []).unwrap()
}

/// The message of adding a system.
fn add(system: impl Into<saltus::model::System>) -> String {
    Model::new("test").add("x", system).unwrap_err().to_string()
}

/// The message of a connection; `which`: 0 the ball, 1 the tank.
fn connect(relation: impl saltus::model::Relation + 'static, law: Law, which: &[usize]) -> String {
    let (mut model, ball, tank) = model();
    let ids: Vec<SystemId> = which.iter().map(|&i| [ball, tank][i]).collect();
    model.connect("link", relation, law, &ids).unwrap_err().to_string()
}

/// The message of a simulation that cannot start.
fn start(steps: impl Into<Steps>, integrators: &[Integrator]) -> String {
    TimeStepping::new(model().0, steps, integrators.to_vec()).unwrap_err().to_string()
}

fn with_solver(solver: Solver) -> String {
    TimeStepping::with_solver(model().0, 0.1, [], &solver).unwrap_err().to_string()
}

#[test]
fn messages() {
    let expected = include_str!("bad_input.txt");
    let mut found = String::new();
    let mut say = |what: &str, message: String| {
        found.push_str(&format!("{what}\n    {message}\n"));
    };

    // systems
    say("NaN in q0", add(LagrangianLinear::new([NAN], [0.0], [[1.0]])));
    say("infinite A", add(FirstOrderLinear::new([0.0], [[f64::INFINITY]])));
    say("NaN in F_ext", add(ball().F_ext([NAN])));
    say("empty q0", add(LagrangianLinear::new([], [], Matrix::zeros(0, 0))));
    say("empty x0", add(FirstOrderLinear::new([], Matrix::zeros(0, 0))));
    say("v0 of another length", add(LagrangianLinear::new([0.0], [0.0, 1.0], [[1.0]])));
    say("M of another shape", add(LagrangianLinear::new([0.0], [0.0], [[1.0, 0.0]])));
    say("A of another shape", add(FirstOrderLinear::new([0.0], [[1.0, 0.0], [0.0, 1.0]])));
    say(
        "A(t) of another shape",
        add(FirstOrderLinear::new([0.0], Operator::matrix_of_time(2, 1, |_, _| {}))),
    );
    say("b of another length", add(tank().b([1.0])));
    say("F_ext(t) of another length", add(ball().F_ext(Operator::vector_of_time(2, |_, _| {}))));
    let two = |M: [[f64; 2]; 2]| add(LagrangianLinear::new([0.0; 2], [0.0; 2], M));
    say("singular M", two([[1.0, 1.0], [1.0, 1.0]]));
    say("zero M", add(LagrangianLinear::new([0.0], [0.0], [[0.0]])));
    say("indefinite M", two([[1.0, 2.0], [2.0, 1.0]]));
    say("negative M", add(LagrangianLinear::new([0.0], [0.0], [[-1.0]])));
    say("unsymmetric M", two([[1.0, 0.5], [0.0, 1.0]]));

    // names
    let (mut twice, ..) = model();
    say("duplicate name", twice.add("ball", ball()).unwrap_err().to_string());
    let tank_id = twice.system_id("tank").unwrap();
    say(
        "name of a system for an interaction",
        twice.connect("ball", diode(), Law::Equality, &[tank_id]).unwrap_err().to_string(),
    );
    say("empty name", twice.add("", ball()).unwrap_err().to_string());
    say("name with a dot", twice.add("ball.q", ball()).unwrap_err().to_string());
    say("unknown system", twice.system_id("bell").unwrap_err().to_string());
    say("nearly known system", twice.system_id("Ball").unwrap_err().to_string());
    say("unknown interaction", twice.interaction_id("floor").unwrap_err().to_string());

    // interactions
    say("no system", connect(floor(), IMPACT, &[]));
    say("three systems", connect(floor(), IMPACT, &[0, 0, 0]));
    say("self link", connect(LagrangianLinearRelation::new([[1.0, -1.0]]), IMPACT, &[0, 0]));
    say("order mismatch", connect(floor(), IMPACT, &[1]));
    say("order mismatch of the second", connect(floor(), IMPACT, &[0, 1]));
    say("law mismatch", connect(diode(), IMPACT, &[1]));
    say("the other law mismatch", connect(floor(), Law::Complementarity, &[0]));
    say("H of another width", connect(LagrangianLinearRelation::new([[1.0, 0.0]]), IMPACT, &[0]));
    say(
        "B of another shape",
        connect(
            FirstOrderLinearRelation::new([[1.0, 0.0]], [[1.0, 0.0]]),
            Law::Complementarity,
            &[1],
        ),
    );
    say("D of another shape", connect(diode().D([[1.0, 0.0]]), Law::Complementarity, &[1]));
    say("e of another length", connect(diode().e([1.0, 2.0]), Law::Complementarity, &[1]));
    say("NaN in b", connect(floor().b([NAN]), IMPACT, &[0]));
    say("restitution above 1", connect(floor(), Law::newton_impact(1.5), &[0]));
    say("negative restitution", connect(floor(), Law::newton_impact(-0.1), &[0]));
    say("NaN restitution", connect(floor(), Law::newton_impact(NAN), &[0]));
    say("relay bounds reversed", connect(diode(), Law::relay(1.0, -1.0), &[1]));
    say("NaN relay bound", connect(diode(), Law::relay(-1.0, NAN), &[1]));
    let bounds = Law::Relay { lower: vec![-1.0, -1.0], upper: vec![1.0] };
    say("relay bounds of another length", connect(diode(), bounds, &[1]));
    let mut larger = Model::new("larger");
    larger.add("a", ball()).unwrap();
    larger.add("b", ball()).unwrap();
    let stranger = larger.add("c", ball()).unwrap();
    say(
        "handle of another model",
        model().0.connect("link", floor(), IMPACT, &[stranger]).unwrap_err().to_string(),
    );

    // starting
    say("empty model", TimeStepping::new(Model::new("nothing"), 0.1, []).unwrap_err().to_string());
    say("NaN t0", TimeStepping::new(model().0.starting_at(NAN), 0.1, []).unwrap_err().to_string());
    say("zero step", start(0.0, &[]));
    say("negative step", start(-0.1, &[]));
    say("NaN step", start(NAN, &[]));
    say("infinite step", start(f64::INFINITY, &[]));
    say("instants not increasing", start(vec![0.1, 0.2, 0.2], &[]));
    say("instant before t0", start(vec![-0.1, 0.1], &[]));
    say("no instant but t0", start(vec![0.0], &[]));
    say("no instants", start(vec![], &[]));
    say("NaN instant", start(vec![0.1, NAN], &[]));
    say(
        "theta above 1",
        start(0.1, &[EulerMoreau { theta: 1.5, gamma: 1.0, ..Default::default() }.into()]),
    );
    say(
        "gamma 0",
        start(0.1, &[EulerMoreau { theta: 1.0, gamma: 0.0, ..Default::default() }.into()]),
    );
    say("NaN theta", start(0.1, &[MoreauJean { theta: NAN, ..MoreauJean::default() }.into()]));
    say(
        "NaN threshold",
        start(0.1, &[MoreauJean { threshold: NAN, ..MoreauJean::default() }.into()]),
    );
    say("integrator for nothing", {
        let mut model = Model::new("test");
        model.add("ball", ball()).unwrap();
        let schemes = [EulerMoreau::default().into()];
        TimeStepping::new(model, 0.1, schemes).unwrap_err().to_string()
    });
    say(
        "two integrators",
        start(0.1, &[MoreauJean::default().into(), MoreauJean::default().into()]),
    );
    say(
        "negative tolerance",
        with_solver(Solver::Auto(AutoSettings { tol: -1.0, ..AutoSettings::default() })),
    );
    let settings = GaussSeidelSettings { relaxation: 2.0, ..GaussSeidelSettings::default() };
    say("relaxation 2", with_solver(Solver::GaussSeidel(settings)));

    // running
    let mut running = sim();
    running.run(0.5).unwrap();
    say("until before t", running.run(0.2).unwrap_err().to_string());
    say("NaN until", running.run(NAN).unwrap_err().to_string());
    say("infinite until", running.run(f64::INFINITY).unwrap_err().to_string());
    for (what, signal) in [
        ("unknown signal", "ball.x"),
        ("unknown owner", "bell.q"),
        ("not a signal", "bell"),
        ("index out of range", "tank.x[2]"),
        ("broken index", "tank.x[one]"),
    ] {
        let signals = [signal.to_string()];
        let options = RunOptions { signals: Some(&signals), ..RunOptions::default() };
        say(what, running.run_with(1.0, options).unwrap_err().to_string());
    }
    let (_, ball, tank) = model();
    say("x of a mechanical system", running.x(ball).unwrap_err().to_string());
    say("q of a first-order system", running.q(tank).unwrap_err().to_string());
    say("x of another length", running.set_x(tank, &[1.0]).unwrap_err().to_string());
    say("NaN in x", running.set_x(tank, &[1.0, NAN]).unwrap_err().to_string());
    say(
        "q of another length",
        running.set_qv(ball, Some(&[1.0, 2.0]), None).unwrap_err().to_string(),
    );
    say("infinite v", running.set_qv(ball, None, Some(&[f64::INFINITY])).unwrap_err().to_string());
    say("state of another model", running.q(stranger).unwrap_err().to_string());

    // steps that fail
    let step = |system: saltus::model::System, h: f64| {
        let mut model = Model::new("test");
        model.add("x", system).unwrap();
        let mut sim = TimeStepping::new(model, h, []).unwrap();
        (0..3000).find_map(|_| sim.step().err()).unwrap().to_string()
    };
    say("singular iteration matrix", step(FirstOrderLinear::new([1.0], [[10.0]]).into(), 0.1));
    say(
        "singular M and A",
        step(
            FirstOrderLinear::new([1.0, 1.0], [[1.0, 0.0], [0.0, 0.0]])
                .M([[1.0, 0.0], [0.0, 0.0]])
                .into(),
            0.1,
        ),
    );
    say("no longer finite", step(FirstOrderLinear::new([1.0], [[9.0]]).into(), 0.1));
    let late = Operator::vector_of_time(1, |t, F| F[0] = if t > 0.15 { NAN } else { 0.0 });
    say("F_ext(t) becomes NaN", step(self::ball().F_ext(late).into(), 0.1));

    // the solver
    let lcp = |n: usize, q: Vec<f64>| Problem::lcp(Matrix::identity(n), q).unwrap_err().to_string();
    say("problem with q of another length", lcp(2, vec![1.0]));
    say("problem with NaN in q", lcp(2, vec![1.0, NAN]));
    say(
        "problem that is not square",
        Problem::lcp(Matrix::zeros(1, 2), vec![1.0]).unwrap_err().to_string(),
    );
    say(
        "bounds reversed",
        Problem::boxed(Matrix::identity(1), vec![0.0], &[1.0], &[-1.0]).unwrap_err().to_string(),
    );
    let large = Problem::lcp(Matrix::identity(40), vec![-1.0; 40]).unwrap();
    let by = |problem: &Problem, name: &str| {
        solve(problem, &Solver::from_name(name).unwrap(), None).unwrap_err().to_string()
    };
    say("too many modes", by(&large, "enumeration"));
    let flat = Problem::lcp(Matrix::zeros(2, 2), vec![1.0, 1.0]).unwrap();
    say("zero diagonal", by(&flat, "gauss-seidel"));
    say(
        "guess of another length",
        solve(&flat, &Solver::default(), Some(&[0.0])).unwrap_err().to_string(),
    );

    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let path =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/main/bad_input.txt");
        std::fs::write(path, &found).unwrap();
        return;
    }
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.lines().count(), expected.lines().count());
}
