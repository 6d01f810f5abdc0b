//! What acts on a body by interactions: Newton's law, at every recorded instant.
//!
//! ```text
//! m (v⁺ − v)/h − m g = Σ f,    J (ω⁺ − ω)/h = Rᵀ Σ m      R at the beginning of the step, J = j I
//! ```

use crate::sample::Folder;
use saltus_io::ModelFile;
use saltus_io::run_file::{RunWriter, read_run};
use saltus_model::rotation::{Vector, add, norm, rotate_back, scaled, sub};
use saltus_sim::{Run, RunOptions, SignalError, Source, TimeStepping};

/// A ball that lies on the ground beside an arm which hangs in a ball joint, a spring between them, a bushing
/// to the world, and a plane that the model names.
const SCENE: &str = r#"
[simulation]
h = 2e-3
until = 0.3
[scene]
gravity = [0, 0, -9.81]
[[contact]]
materials = ["default", "default"]
mu = 0.4
[[static]]
name = "ground"
shape = { kind = "plane" }
[[body]]
name = "ball"
shape = { kind = "sphere", radius = 0.2 }
mass = 2
inertia = [0.04, 0.04, 0.04]
position = [0, 0, 0.21]
v = [0.5, 0.2, 0]
omega = [0, 3, 1]
[[body]]
name = "arm"
shape = { kind = "box", size = [0.2, 0.2, 0.6], touch = false }
mass = 3
inertia = [0.1, 0.1, 0.1]
position = [0, 0, 1]
omega = [1, 0.5, 0]
[[joint]]
name = "socket"
kind = "ball"
bodies = ["arm"]
point = [0, 0, 1.3]
[[interaction]]
name = "spring"
systems = ["ball", "arm"]
relation = { kind = "spring-damper", point = [0.1, 0, 0.25], second_point = [0, 0.05, 0.7], stiffness = 400, damping = 3 }
law = "equality"
[[interaction]]
name = "bushing"
systems = ["arm"]
relation = { kind = "bushing", point = [0, 0, 1], stiffness = [0, 0, 0, 2, 2, 5], damping = [0, 0, 0, 0.1, 0.1, 0.1] }
law = "equality"
[[interaction]]
name = "wall"
systems = ["ball"]
relation = { kind = "point-plane", center = [0, 0, 0.21], radius = 0.2, normal = [-1, 0, 0], origin = [0.22, 0, 0] }
law = { kind = "impact-friction", e = 0.3, mu = 0.2 }
"#;

/// The same joint and plane without a scene.
const MODEL: &str = r#"
[simulation]
h = 2e-3
until = 0.3
[[system]]
name = "arm"
kind = "rigid-body"
mass = 3
inertia = [0.1, 0.1, 0.1]
position = [0, 0, 1]
omega = [2, 0.5, 0]
gravity = [0, 0, -9.81]
[[interaction]]
name = "socket"
systems = ["arm"]
relation = { kind = "ball", point = [0, 0, 1.3] }
law = "equality"
[[interaction]]
name = "wall"
systems = ["arm"]
relation = { kind = "point-plane", center = [0, 0, 0.7], radius = 0.1, normal = [0, 1, 0], origin = [0, -0.12, 0] }
law = { kind = "impact-friction", e = 0.3, mu = 0.2 }
"#;

fn sim_of(text: &str) -> (TimeStepping, f64) {
    let file = ModelFile::parse(text, "model.toml", &[]).expect("a model");
    let one = file.simulation;
    let sim =
        TimeStepping::with_methods(file.model, one.h, one.integrators, &one.solver, one.newton);
    (sim.expect("a simulation"), one.until)
}

fn vectors<const N: usize>(run: &Run, path: &str) -> Vec<[f64; N]> {
    run.signal(path).expect(path).as_chunks::<N>().0.to_vec()
}

/// Newton's law of a body; the largest force.
fn check(run: &Run, body: &str, mass: f64, inertia: f64) -> f64 {
    let (v, omega) =
        (vectors::<3>(run, &format!("{body}.v")), vectors::<3>(run, &format!("{body}.omega")));
    let turn = vectors::<4>(run, &format!("{body}.orientation"));
    let (force, moment) = run.force_on(body).expect("forces");
    assert_eq!((force[0], moment[0]), ([0.0; 3], [0.0; 3]));
    let largest = force.iter().map(|f| norm(*f)).fold(0.0, f64::max);
    for k in 1..run.frames.len() {
        let h = run.frames.time[k] - run.frames.time[k - 1];
        let rate = |after: Vector, before: Vector| scaled(1.0 / h, sub(after, before));
        let gained = scaled(mass, add(rate(v[k], v[k - 1]), [0.0, 0.0, 9.81]));
        let turned = scaled(inertia, rate(omega[k], omega[k - 1]));
        let m = rotate_back(turn[k - 1], moment[k]);
        let [f_off, m_off] = [norm(sub(gained, force[k])), norm(sub(turned, m))];
        // the law of a step that rests holds to the tolerance of its solver
        assert!(f_off < 1e-9 * (1.0 + largest), "{body}, row {k}: {f_off}");
        assert!(m_off < 1e-9 * (1.0 + largest), "{body}, row {k}: {m_off}");
    }
    largest
}

fn names(run: &Run, body: &str) -> Vec<Source> {
    run.forces_on(body).expect("forces").into_iter().map(|acting| acting.source).collect()
}

#[test]
fn newtons_law_of_a_scene() {
    let (mut sim, until) = sim_of(SCENE);
    let run = sim.run(until).expect("a run");
    assert!(check(&run, "ball", 2.0, 0.04) > 20.0);
    assert!(check(&run, "arm", 3.0, 0.1) > 20.0);
    let interaction = |name: &str| Source::Interaction(name.to_string());
    let ground = Source::Contacts("ground".to_string());
    assert_eq!(names(&run, "ball"), [ground, interaction("spring"), interaction("wall")]);
    let of_arm = ["spring", "bushing", "socket"].map(interaction);
    let mut found = names(&run, "arm");
    found.sort();
    let mut expected = of_arm.to_vec();
    expected.sort();
    assert_eq!(found, expected);

    // the spring pulls both alike
    let spring = |body: &str| {
        let all = run.forces_on(body).expect("forces");
        all.into_iter().find(|one| one.source.name() == "spring").expect("a spring").force
    };
    for (a, b) in spring("ball").iter().zip(spring("arm")) {
        assert!(norm(add(*a, b)) < 1e-12 * (1.0 + norm(*a)));
    }
    // action and reaction with the ground, and who touches whom
    let all = run.forces_on("ball").expect("forces");
    let (ground, _) = run.force_on("ground").expect("forces");
    assert!(ground.iter().any(|f| norm(*f) > 10.0));
    for (a, b) in all[0].force.iter().zip(&ground) {
        assert!(norm(add(*a, *b)) < 1e-12 * (1.0 + norm(*a)));
    }
    let (k, &f) = (ground.iter().enumerate()).rfind(|(_, f)| norm(**f) > 0.0).expect("a touch");
    let graph = run.contact_graph(run.frames.time[k]);
    assert_eq!(graph.len(), 1);
    let ([a, b], g) = graph[0];
    let sign = if a == "ground" { 1.0 } else { -1.0 };
    assert!(["ground", "ball"].contains(&a) && ["ground", "ball"].contains(&b));
    assert!(norm(sub(scaled(sign, g), f)) < 1e-12 * norm(f));
    assert!(run.contact_graph(-1.0).is_empty());

    // a run file keeps all of it
    let folder = Folder::new();
    let mut writer = RunWriter::create(folder.path("run.h5"), &run.layout, None).expect("a file");
    writer.append(&run.frames).expect("rows");
    writer.events(&run.events);
    writer.finish(&run.stats).expect("a file");
    assert!(read_run(folder.path("run.h5")).expect("a run") == run);
    assert_eq!(run.frames.penetration.len(), run.frames.len());
}

#[test]
fn newtons_law_without_a_scene() {
    let (mut sim, until) = sim_of(MODEL);
    let run = sim.run(until).expect("a run");
    assert!(check(&run, "arm", 3.0, 0.1) > 29.0);
    let wall = &run.forces_on("arm").expect("forces")[1];
    assert_eq!(wall.source, Source::Interaction("wall".to_string()));
    assert!(wall.force.iter().any(|f| norm(*f) > 1.0), "it is hit");
}

/// What was not recorded is said, not left out.
#[test]
fn forces_that_were_not_recorded() {
    let (mut sim, until) = sim_of(MODEL);
    let chosen = ["arm.position".to_string(), "wall.lam".to_string()];
    let options = RunOptions { signals: Some(&chosen), ..RunOptions::default() };
    let run = sim.run_with(until, options).expect("a run");
    let expected =
        SignalError::NoForces { interaction: "socket".to_string(), body: "arm".to_string() };
    assert_eq!(run.force_on("arm"), Err(expected));
    assert!(matches!(run.force_on("leg"), Err(SignalError::NoBody { .. })));

    // every second step: the forces of the recorded ones, the same as in the whole run
    let all = sim_of(MODEL).0.run(until).expect("a run");
    let options = RunOptions { every: 2, ..RunOptions::default() };
    let some = sim_of(MODEL).0.run_with(until, options).expect("a run");
    let (every, second) = (all.force_on("arm").expect("f").0, some.force_on("arm").expect("f").0);
    for (k, f) in second.iter().enumerate() {
        assert!(norm(sub(*f, every[2 * k])) < 1e-9 * (1.0 + norm(*f)), "row {k}");
    }
}
