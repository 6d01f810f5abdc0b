//! A simulation that is taken up after every tenth step, each time by a new one from a file, is the
//! one that was never interrupted, bit for bit: all examples, all schemes, all solvers.

use saltus::io::checkpoint_file;
use saltus::io::model_file::{ModelFile, Strategy};
use saltus::mechanics::{BodySpec, ContactPair, Joint, JointLink, Scene, Shape, StaticSpec};
use saltus::numerics::Solver;
use saltus::prelude::*;
use saltus::sim::{
    Checkpoint, CheckpointError, CheckpointEvery, Checkpoints, NewtonSettings, SimError,
};
use std::path::{Path, PathBuf};

/// All that a simulation needs.
pub struct Case {
    pub name: String,
    pub model: Model,
    pub steps: Steps,
    pub integrators: Vec<Integrator>,
    pub newton: NewtonSettings,
    pub solver: Solver,
    pub most: usize, // steps
}

impl Case {
    pub fn build(&self) -> Result<TimeStepping, SimError> {
        TimeStepping::with_methods(
            self.model.clone(),
            self.steps.clone(),
            self.integrators.clone(),
            &self.solver,
            self.newton,
        )
    }

    /// Compares after every step; false where the scheme is not made for the model.
    fn check(&self) -> bool {
        let path = self.file();
        let Ok(mut whole) = self.build() else { return false };
        let mut parts = self.build().unwrap();
        for step in 1..=self.most {
            let (a, b) = (whole.step(), parts.step());
            // a step that fails ends both alike
            assert_eq!(a.is_ok(), b.is_ok(), "{}: step {step}: {a:?} and {b:?}", self.name);
            let (Ok(a), Ok(b)) = (a, b) else { break };
            assert_eq!(a, b, "{}: step {step}", self.name);
            assert_eq!(bits(&whole), bits(&parts), "{}: step {step}", self.name);
            if step % 10 == 0 {
                // as `save` does, without waiting for the disk
                std::fs::write(&path, parts.checkpoint().to_bytes()).unwrap();
                parts = self.build().unwrap();
                parts.restore(&checkpoint_file::load(&path).unwrap()).unwrap();
                assert_eq!(bits(&whole), bits(&parts), "{}: restored at {step}", self.name);
            }
        }
        assert_eq!(whole.totals(), parts.totals(), "{}", self.name);
        std::fs::remove_file(path).ok();
        true
    }

    fn file(&self) -> PathBuf {
        let name = self.name.replace(|c: char| !c.is_alphanumeric(), "-");
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.checkpoint"))
    }
}

/// The bits of all that can be seen.
pub fn bits(sim: &TimeStepping) -> Vec<u64> {
    let model = sim.model();
    let mut all = vec![sim.t()];
    for (name, _) in model.systems() {
        let id = model.system_id(name).unwrap();
        for state in [sim.x(id), sim.q(id), sim.v(id)].into_iter().flatten() {
            all.extend(state);
        }
    }
    for (name, _) in model.interactions() {
        let id = model.interaction_id(name).unwrap();
        [sim.y(id), sim.u(id), sim.lam(id)].into_iter().for_each(|values| all.extend(values));
        all.extend(sim.beta(id));
    }
    all.extend(sim.ledger().into_iter().flat_map(|ledger| ledger.to_array()));
    all.into_iter().map(f64::to_bits).collect()
}

/// The model files of all examples.
pub fn examples() -> Vec<(String, ModelFile)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut found = Vec::new();
    for example in std::fs::read_dir(folder).unwrap() {
        let example = example.unwrap().path();
        for file in std::fs::read_dir(&example).into_iter().flatten() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let name = example.file_name().unwrap().to_string_lossy().into_owned();
                let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
                let file = ModelFile::read(&path, &[]).unwrap();
                if file.simulation.strategy == Strategy::TimeStepping {
                    found.push((format!("{name}/{stem}"), file));
                }
            }
        }
    }
    assert!(found.len() >= 17);
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

pub fn case(name: &str, file: &ModelFile, most: usize) -> Case {
    let settings = &file.simulation;
    Case {
        name: name.to_string(),
        model: file.model.clone(),
        steps: settings.h.into(),
        integrators: settings.integrators.clone(),
        newton: settings.newton,
        solver: settings.solver.clone(),
        most,
    }
}

#[test]
fn every_example_as_it_is() {
    for (name, file) in examples() {
        assert!(case(&name, &file, 1000).check(), "{name}");
    }
}

/// All schemes, with settings that take another way through them.
pub fn schemes() -> Vec<Integrator> {
    let projected = |projection| MoreauJean { projection: Some(projection), ..Default::default() };
    vec![
        EulerMoreau::default().into(),
        EulerMoreau { theta: 0.5, gamma: 0.5, ..Default::default() }.into(),
        ZeroOrderHold::default().into(),
        MoreauJean::default().into(),
        MoreauJean { theta: 1.0, ..Default::default() }.into(),
        MoreauJean { form: Form::Global, ..Default::default() }.into(),
        projected(Projection::Direct).into(),
        projected(Projection::Combined).into(),
        projected(Projection::Ggl).into(),
        SchatzmanPaoli::default().into(),
        GeneralizedAlpha::default().into(),
        GeneralizedAlpha { projection: Some(Projection::Direct), ..Default::default() }.into(),
        D1MinusLinear::default().into(),
        D1MinusLinear { variant: Variant::Velocity, ..Default::default() }.into(),
        MoreauJeanBilbao::default().into(),
    ]
}

#[test]
fn every_scheme_on_every_example() {
    for (k, scheme) in schemes().into_iter().enumerate() {
        let mut served = Vec::new();
        for (name, file) in examples() {
            let mut case = case(&format!("{name} by scheme {k}"), &file, 150);
            case.integrators = vec![scheme.clone()];
            if case.check() {
                served.push(name);
            }
        }
        assert!(!served.is_empty(), "{scheme:?}");
    }
}

#[test]
fn every_solver_on_every_example() {
    for solver in Solver::NAMES {
        let mut served = 0;
        for (name, file) in examples() {
            let mut case = case(&format!("{name} by {solver}"), &file, 100);
            case.solver = Solver::from_name(solver).unwrap();
            served += usize::from(case.check());
        }
        assert!(served > 0, "{solver}");
    }
}

/// What the examples do not have: settings, one system, its relation and law.
const OTHERS: [(&str, [&str; 4]); 6] = [
    (
        "a polyhedron of forces",
        [
            "h = 1e-2",
            r#"kind = "lagrangian-linear", M = [[1, 0], [0, 1]], K = [[4, 0], [0, 9]], q0 = [1, 0.5], v0 = [0, 1]"#,
            r#"kind = "lagrangian-linear", H = [[1, 0], [0, 1]]"#,
            r#"kind = "normal-cone", A = [[1, 1], [-1, 1], [1, -1], [-1, -1]], b = [1, 1, 1, 1]"#,
        ],
    ),
    (
        "a contact that gives way",
        [
            "h = 1e-3",
            r#"kind = "lagrangian", M = [[1]], F_int = ["9.81 + 0.1*v[0]^3"], q0 = [0.2], v0 = [0]"#,
            r#"kind = "lagrangian-compliant", h = ["q[0] + 1e-3*lam[0]*(1 + q[0]^2)"]"#,
            r#"kind = "complementarity""#,
        ],
    ),
    (
        "a floor that moves",
        [
            "h = 1e-3",
            r#"kind = "lagrangian-linear", M = [[1, 0], [0, 1]], F_ext = [-9.81, 0], q0 = [0.1, 0], v0 = [0, 1]"#,
            r#"kind = "lagrangian", h = ["q[0] - 0.05*sin(30*t)", "q[1]"]"#,
            r#"kind = "impact-friction", e = 0.5, mu = 0.3"#,
        ],
    ),
    (
        "matrices that change with time",
        [
            "h = 1e-3\nintegrator = { theta = 0.5, gamma = 0.5 }",
            r#"kind = "first-order-linear", A = [[0, 1], ["-40 - 10*cos(9*t)", -0.1]], b = [0, "sin(20*t)"], x0 = [1, 0]"#,
            r#"kind = "first-order-linear", C = [[0, 1]], B = [[0], [1]]"#,
            r#"kind = "relay", lower = -1, upper = 1"#,
        ],
    ),
    (
        "a nonlinear circuit",
        [
            "h = 1e-3\nintegrator = { theta = 0.5, gamma = 0.5 }",
            r#"kind = "first-order", f = ["-x[0]^3 + sin(9*t)"], x0 = [1]"#,
            r#"kind = "first-order", h = ["x[0] + 0.1*lam[0]"], g = ["lam[0]*(1 + x[0]^2)"]"#,
            r#"kind = "complementarity""#,
        ],
    ),
    (
        "a graph",
        [
            "h = 1e-3",
            r#"kind = "first-order-linear", A = [[0, 1], [-9, 0]], x0 = [1, 0]"#,
            r#"kind = "first-order-linear", C = [[0, 1]], B = [[0], [1]]"#,
            r#"kind = "piecewise-linear", points = [[-1, 2], [-0.5, 0], [0.5, 0], [1, -2]]"#,
        ],
    ),
];

#[test]
fn every_kind_of_relation_and_law() {
    for (name, [settings, system, relation, law]) in OTHERS {
        let text = format!(
            "system = [{{ name = \"s\", {system} }}]\n[simulation]\nuntil = 1\n{settings}\n[[interaction]]\nname = \"i\"\nsystems = [\"s\"]\nrelation = {{ {relation} }}\nlaw = {{ {law} }}\n"
        );
        let file = ModelFile::parse(&text, "model.toml", &[])
            .unwrap_or_else(|error| panic!("{name}: {}", error.report()));
        let own = case(name, &file, 500);
        assert!(own.check(), "{name}");
        for (k, scheme) in schemes().into_iter().enumerate() {
            let mut other = case(&format!("{name} by {k}"), &file, 200);
            other.integrators = vec![scheme];
            other.check();
        }
    }
}

/// A ball and a spring, each with a scheme of its own, beside a circuit.
pub fn mixed() -> Case {
    let mut model = Model::new("mixed");
    let ball = LagrangianLinear::new([0.3], [0.0], [[1.0]]).F_ext([-9.81]);
    let ball = model.add("ball", ball).unwrap();
    let spring = LagrangianLinear::new([1.0], [0.0], [[2.0]]).K([[50.0]]).C([[0.1]]);
    let spring = model.add("spring", spring).unwrap();
    let circuit = model.add("circuit", FirstOrderLinear::new([1.0], [[-2.0]])).unwrap();
    let law = || Law::newton_impact(0.8);
    let above = || LagrangianLinearRelation::new([[1.0]]);
    model.connect("floor", above(), law(), &[ball]).unwrap();
    model.connect("stop", above().b([0.5]), law(), &[spring]).unwrap();
    let sign = FirstOrderLinearRelation::new([[1.0]], [[1.0]]);
    model.connect("sign", sign, Law::relay(-1.0, 1.0), &[circuit]).unwrap();
    let names = |name: &str| vec![name.to_string()];
    let integrators = vec![
        MoreauJean { systems: names("ball"), ..Default::default() }.into(),
        SchatzmanPaoli { systems: names("spring"), ..Default::default() }.into(),
        EulerMoreau::default().into(),
    ];
    let (newton, solver) = (NewtonSettings::default(), Solver::default());
    let name = "mixed".to_string();
    Case { name, model, steps: 1e-3.into(), integrators, newton, solver, most: 2000 }
}

#[test]
fn several_schemes_at_once_and_instants() {
    assert!(mixed().check());
    let instants: Vec<f64> = (1..500).map(|k| 1e-3 * k as f64 + 2e-4 * (k % 3) as f64).collect();
    let steps = Steps::Instants(instants);
    assert!(Case { name: "instants".to_string(), steps, most: 400, ..mixed() }.check());
}

/// What was restored once may be restored again, into a simulation that has gone elsewhere.
#[test]
fn a_simulation_that_was_used() {
    for (name, file) in examples() {
        let case = case(&name, &file, 0);
        let mut sim = case.build().unwrap();
        let mut rows = Vec::new();
        let start = sim.checkpoint();
        (0..60).for_each(|_| assert!(sim.step().is_ok()));
        let middle = sim.checkpoint();
        for _ in 0..60 {
            sim.step().unwrap();
            rows.push(bits(&sim));
        }
        let elsewhere = sim.t() + 0.3 * file.simulation.h;
        sim.run(elsewhere).unwrap(); // with a step of another length
        for checkpoint in [&middle, &start] {
            sim.restore(checkpoint).unwrap();
            assert_eq!(sim.t(), checkpoint.t());
            if checkpoint == &start {
                (0..60).for_each(|_| assert!(sim.step().is_ok()));
            }
            for (k, expected) in rows.iter().enumerate() {
                sim.step().unwrap();
                assert_eq!(&bits(&sim), expected, "{name}: step {k}");
            }
        }
    }
}

/// A checkpoint of another simulation changes nothing, and the message says what differs.
#[test]
fn what_does_not_fit_is_named() {
    let mut there = mixed().build().unwrap();
    (0..30).for_each(|_| assert!(there.step().is_ok()));
    let checkpoint = there.checkpoint();
    let other_solver = Case { solver: Solver::from_name("lemke").unwrap(), ..mixed() };
    let mut fewer = mixed();
    fewer.integrators.pop();
    let mut more = mixed();
    more.model.add("more", FirstOrderLinear::new([1.0], [[0.0]])).unwrap();
    let others = [
        (Case { steps: 2e-3.into(), ..mixed() }, "the step h is 0.002, and was 0.001"),
        (other_solver, "the solver is Lemke"),
        (fewer, "integrator 2 is nothing, and was EulerMoreau"),
        (more, "system 3 is `more`, first-order with 1 components, and was nothing"),
    ];
    for (case, words) in others {
        let mut here = case.build().unwrap();
        here.step().unwrap();
        let before = bits(&here);
        let error = here.restore(&checkpoint).unwrap_err();
        assert!(matches!(error, SimError::Checkpoint(CheckpointError::Other { .. })), "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(bits(&here), before);
    }
}

/// A checkpoint of another scene says what of it differs.
#[test]
fn what_differs_of_a_scene_is_named() {
    let scene = |bodies: &[&str], change: &dyn Fn(&mut Scene)| {
        let mut scene = Scene::new("").gravity([0.0, 0.0, -9.81]);
        let ground = Shape::Plane { normal: [0.0, 0.0, 1.0], offset: 0.0 };
        scene.statics.push(StaticSpec::new("ground", ground));
        scene.contacts.push(ContactPair::new("default", "default").friction(0.5));
        for (k, name) in bodies.iter().enumerate() {
            let ball = Shape::Sphere { radius: 0.5 };
            let at = [2.0 * k as f64, 0.0, 0.5];
            scene.bodies.push(BodySpec::new(*name, ball).at(at).mass(1.0));
        }
        change(&mut scene);
        TimeStepping::new(scene.model().unwrap(), 1e-3, []).unwrap()
    };
    let mut there = scene(&["a", "b", "c"], &|_| {});
    (0..3).for_each(|_| assert!(there.step().is_ok()));
    let checkpoint = there.checkpoint();
    scene(&["a", "b", "c"], &|scene| scene.contacts[0].mu = Some(0.1))
        .restore(&checkpoint)
        .unwrap();
    let check = |mut here: TimeStepping, expected: &str| {
        let error = here.restore(&checkpoint).unwrap_err().to_string();
        let start = "the checkpoint is of another simulation: ";
        assert_eq!(error, format!("{start}{expected}"));
        here.step().unwrap();
    };
    check(
        scene(&["a", "c"], &|_| {}),
        "the number of systems is 2 and was 3, and the first that differs: system 1 is `c`, Lagrangian with 6 components, and was `b`, Lagrangian with 6 components",
    );
    let all = ["a", "b", "c"];
    check(
        scene(&all, &|scene| scene.statics[0].name = "floor".into()),
        "static 0 is `floor`, and was `ground`",
    );
    check(
        scene(&all, &|scene| {
            let wall = Shape::Plane { normal: [1.0, 0.0, 0.0], offset: -9.0 };
            scene.statics.push(StaticSpec::new("wall", wall));
        }),
        "the number of statics is 2 and was 1, and the first that differs: static 1 is `wall`, and was nothing",
    );
    check(
        scene(&all, &|scene| scene.contacts[0].mu = None),
        "contact law 0 is NewtonImpact, rigid, and was ImpactFriction, rigid",
    );
    check(
        scene(&all, &|scene| {
            let own = scene.contacts[0].clone();
            scene.contacts[0] = own.elastic(1e5, 0.0);
        }),
        "contact law 0 is ImpactFriction, giving way, and was ImpactFriction, rigid",
    );
    check(
        scene(&all, &|scene| {
            let pivot = Joint::Ball { point: [0.0, 0.0, 1.0] };
            scene.joints.push(JointLink::new("hinge", pivot, &["a"]));
        }),
        "interaction 0 is `hinge` of `a`, Equality with 3 components, and was nothing",
    );
}

/// A run that makes checkpoints is the one that makes none, and each of them leads to its end,
/// with the rows that are left.
#[test]
fn runs_go_on_with_their_rows() {
    fn options<'a>() -> RunOptions<'a> {
        RunOptions { every: 7, ..Default::default() }
    }
    let whole = mixed().build().unwrap().run_with(0.5, options()).unwrap();
    let mut kept: Vec<Checkpoint> = Vec::new();
    let mut keep = |checkpoint: &Checkpoint| {
        kept.push(checkpoint.clone());
        Ok(())
    };
    let checkpoints = Some(Checkpoints { every: CheckpointEvery::Steps(60), keep: &mut keep });
    let mut sim = mixed().build().unwrap();
    let watched = sim.run_with(0.5, RunOptions { checkpoints, ..options() }).unwrap();
    assert_eq!(watched.frames, whole.frames);
    assert_eq!(kept.len(), 9); // 60, 120, … 480, and the end
    for checkpoint in kept {
        let mut sim = mixed().build().unwrap();
        sim.restore(&checkpoint).unwrap();
        let rest = sim.run_with(0.5, options()).unwrap();
        let from = whole.frames.time.partition_point(|t| *t <= checkpoint.t());
        assert_eq!(rest.frames.time[1..], whole.frames.time[from..]);
        let width = whole.layout.width();
        assert_eq!(rest.frames.rows[width..], whole.frames.rows[from * width..]);
        assert_eq!(sim.totals().steps, 500);
    }
}

/// A checkpoint that cannot be kept ends the run, with what was computed.
#[test]
fn a_checkpoint_that_cannot_be_kept() {
    let mut keep = |_: &Checkpoint| Err(std::io::Error::other("no room"));
    let checkpoints = Some(Checkpoints { every: CheckpointEvery::Steps(20), keep: &mut keep });
    let options = RunOptions { checkpoints, ..Default::default() };
    let failure = mixed().build().unwrap().run_with(0.5, options).unwrap_err();
    assert_eq!(failure.source, SimError::Record("no room".to_string()));
    assert_eq!(failure.run.frames.len(), 21);
}

/// A damaged file is told, by its name.
#[test]
fn a_damaged_file() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("damaged.checkpoint");
    let mut sim = mixed().build().unwrap();
    checkpoint_file::save(&sim.checkpoint(), &path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let mut changed = bytes.clone();
    changed[bytes.len() / 2] ^= 1;
    for (content, words) in [
        (&bytes[..bytes.len() - 3], "was written with"),
        (&changed[..], "checksum"),
        (&b"[simulation]"[..], "not a checkpoint"),
    ] {
        std::fs::write(&path, content).unwrap();
        let error = checkpoint_file::load(&path).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("damaged.checkpoint"), "{error}");
    }
    std::fs::remove_file(&path).unwrap();
    assert!(checkpoint_file::load(&path).unwrap_err().to_string().contains("cannot read"));
}

/// The same model with its events in another order is another one.
#[test]
fn events_are_part_of_the_fingerprint() {
    let simulation = |names: [&str; 2]| {
        let mut model = Model::new("ball");
        model.add("ball", LagrangianLinear::new([1.0], [0.0], [[1.0]])).unwrap();
        for name in names {
            model.add_event(Event::at([0.5]).named(name).stop()).unwrap();
        }
        TimeStepping::new(model, 0.1, [MoreauJean::default().into()]).unwrap()
    };
    let checkpoint = simulation(["a", "b"]).checkpoint();
    simulation(["a", "b"]).restore(&checkpoint).unwrap();
    let error = simulation(["b", "a"]).restore(&checkpoint).unwrap_err();
    assert!(error.to_string().contains("event 0"), "{error}");
}
