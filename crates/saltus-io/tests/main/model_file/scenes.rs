//! Scenes in model files: what they mean, what is said of wrong ones, and the way back to a text.

use super::{parse, replaced};
use saltus_io::model_file::{ModelFile, Simulation, scene_text};
use saltus_mechanics::{Anchor, AnyJoint, Given, Joint, Scene, Shape};
use saltus_model::{Body, Elasticity};

const BOXES: &str = r#"title = "boxes"

[parameters]
g = 9.81
n = 3

[simulation]
h = 5e-3
until = 1.0

[scene]
gravity = [0, 0, "-g"]
apart = [["box0", "box2"]]

[[material]]
name = "stone"
density = 2500

[[contact]]
materials = ["stone", "default"]
e = 0.1
mu = 0.7

[[static]]
name = "ground"
shape = { kind = "plane" }
material = "stone"

[[static]]
name = "belt"
shape = { kind = "box", size = [2, 1, 0.1] }
position = [5, 0, 0]
drive = { position = [5, 0, "0.1*sin(2*pi*t)"], surface = [1, 0, 0] }
material = "stone"

[[body]]
name = "box{i}"
for = "i in 0..n"
shape = { kind = "box", size = [1, 0.5, 0.25] }
material = "stone"
position = [0, 0, "0.125 + 0.25*i"]
force = ["sin(i*t)", 0, "-q[i]"]

[[body]]
name = "rod"
shapes = [
  { kind = "capsule", radius = 0.1, length = 1, touch = false },
  { kind = "sphere", radius = 0.1, position = [0, 0, 0.5] },
]
origin = [3, 0, 0]
mass = 2
inertia = [1, 1, 0.1]
center = [0, 0, 0.25]

[[joint]]
name = "hinge"
kind = "pivot"
bodies = ["rod", "box0"]
point = [3, 0, 0]
axis = [0, 1, 0]
limits = [-1, inf]
restitution = 0.5
motor = { kind = "velocity", v = "0.1*sin(t)", max_force = 3 }
break_force = 1e4
"#;

fn scene(text: &str) -> Scene {
    let file = parse(text).unwrap_or_else(|error| panic!("{}", error.report()));
    file.scene.expect("a scene")
}

#[test]
fn tables_become_a_scene_and_a_model() {
    let file = parse(BOXES).unwrap_or_else(|error| panic!("{}", error.report()));
    let scene = file.scene.expect("a scene");
    assert_eq!(scene.space, Body::Space);
    assert_eq!(scene.gravity, [0.0, 0.0, -9.81]);
    let names: Vec<&str> = scene.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["box0", "box1", "box2", "rod"]);
    assert_eq!(scene.bodies[2].position, [0.0, 0.0, 0.625]);
    assert_eq!(scene.bodies[0].parts[0].shape, Shape::Box { edges: [1.0, 0.5, 0.25] });
    assert!(matches!(&scene.bodies[2].force, Some(Given::Formulas(texts))
        if texts == &["sin((2.0)*t)", "0.0", "-q[2]"]));
    assert_eq!(scene.bodies[3].anchor, Anchor::Origin);
    assert!(!scene.bodies[3].parts[0].touch);
    assert!(matches!(scene.joints[0].joint, AnyJoint::Space(Joint::Pivot { .. })));

    let model = file.model;
    // the joint, its limits and its motor
    assert_eq!((model.systems().len(), model.interactions().len()), (4, 3));
    let finder = model.contact_finder().expect("contacts");
    let sides: Vec<&str> = finder.sides().iter().map(|side| &*side.name).collect();
    assert_eq!(sides, ["ground", "belt", "box0", "box1", "box2", "rod"]);
    // the center of mass of the rod is not where its shapes have their origin
    let (_, rod) = model.systems().last().expect("the rod");
    let saltus_model::System::SecondOrder(rod) = rod else { panic!("a body") };
    assert_eq!(rod.q0()[..3], [3.0, 0.0, 0.25]);
}

/// What is read from a text of a scene is the scene, to the last bit.
#[test]
fn the_way_back_is_exact() {
    let file = parse(BOXES).expect("it is right");
    let scene = file.scene.expect("a scene");
    let text = scene_text(&scene, &file.simulation).expect("formulas only");
    let again = parse(&text).unwrap_or_else(|error| panic!("{}\n{text}", error.report()));
    assert_eq!(format!("{:?}", again.scene.expect("a scene")), format!("{scene:?}"));
    assert_eq!(format!("{:?}", again.simulation), format!("{:?}", file.simulation));
}

/// What contacts give way by: what is left out, formulas, and the way back.
#[test]
fn contacts_that_give_way() {
    let check = |keys: &str, expected: Option<[f64; 3]>, written: &[&str]| {
        let file = parse(&replaced(BOXES, "e = 0.1\n", &format!("{keys}\n")));
        let file = file.unwrap_or_else(|error| panic!("{}", error.report()));
        let scene = file.scene.expect("a scene");
        let expected = expected.map(|[stiffness, damping, tangential]| Elasticity {
            stiffness,
            damping,
            tangential,
        });
        assert_eq!(scene.contacts[0].elastic, expected, "{keys}");
        assert_eq!(file.model.contact_finder().expect("contacts").elasticity(0), expected);
        let text = scene_text(&scene, &file.simulation).expect("formulas only");
        let is_elastic = |line: &&str| line.contains("stiffness") || line.contains("damping");
        assert_eq!(text.lines().filter(is_elastic).collect::<Vec<_>>(), written);
        let again = parse(&text).unwrap_or_else(|error| panic!("{}\n{text}", error.report()));
        let again = again.scene.expect("a scene");
        assert_eq!(format!("{again:?}"), format!("{scene:?}"));
        assert_eq!(scene_text(&again, &file.simulation).expect("again"), text);
    };
    check("", None, &[]);
    check("stiffness = 1e6", Some([1e6, 0.0, 1e6]), &["stiffness = 1000000.0"]);
    check(
        "stiffness = 1e6\ndamping = 0\ntangential_stiffness = 1e6",
        Some([1e6, 0.0, 1e6]),
        &["stiffness = 1000000.0"],
    );
    check(
        "stiffness = '2*n'\ndamping = 'n/2'\ntangential_stiffness = 'n/7'",
        Some([6.0, 1.5, 3.0 / 7.0]),
        &["stiffness = 6.0", "damping = 1.5", "tangential_stiffness = 0.42857142857142855"],
    );
}

#[test]
fn contacts_that_cannot_give_way() {
    let of = "contact of `stone` and `default`";
    let check = |keys: &str, expected: &str| {
        let (at, said) = expected.split_once(' ').expect("a place");
        check("e = 0.1\nmu = 0.7\n", keys, &format!("{at} {of}: {said}"));
    };
    check("damping = 10\n", "21:1: missing key `stiffness`, which `damping` needs");
    check("damping = 0\n", "21:1: missing key `stiffness`, which `damping` needs");
    check(
        "mu = 0.7\ntangential_stiffness = 1e6\n",
        "22:1: missing key `stiffness`, which `tangential_stiffness` needs",
    );
    check("stiffness = 0\n", "21:1: `stiffness` is 0, expected positive");
    check("stiffness = 'n - 4'\n", "21:1: `stiffness` is -1, expected positive");
    check("stiffness = 1\ndamping = -1\n", "22:1: `damping` is -1, expected not negative");
    check(
        "stiffness = 1\ntangential_stiffness = 0\n",
        "22:1: `tangential_stiffness` is 0, expected positive",
    );
    check(
        "stiffness = 1\ntangential_stiffness = 2\n",
        "22:1: `tangential_stiffness` is 2, expected given only with `mu`: without friction nothing acts along the tangents",
    );
    let rebounds = "expected 0 where `stiffness` is given: springs and dampers say how it rebounds";
    check("stiffness = 1\ne = 0.1\n", &format!("22:1: `e` is 0.1, {rebounds}"));
    check("mu = 1\net = 0.5\nstiffness = 1\n", &format!("22:1: `et` is 0.5, {rebounds}"));
}

/// What passes through has no law.
#[test]
fn contacts_that_do_not_touch() {
    let pair = |keys: &str| replaced(BOXES, "e = 0.1\nmu = 0.7\n", keys);
    parse(&pair("touch = false\n")).expect("they pass through each other");
    parse(&pair("touch = false\ne = 0\n")).expect("which is the default");
    let check = |key: &str, value: &str| {
        let said = format!(
            "contact of `stone` and `default`: `{key}` is {value}, expected nothing where `touch` is false: they pass through each other"
        );
        let keys = format!("touch = false\n{key} = {value}\n");
        check("e = 0.1\nmu = 0.7\n", &keys, &format!("22:1: {said}"));
    };
    check("mu", "0.5");
    check("mu", "0");
    check("e", "0.5");
    check("mu_r", "0.1");
    check("stiffness", "1000");
}

/// A body that is dead before anything begins is a slip.
#[test]
fn deaths_before_the_beginning() {
    let with = |keys: &str| format!("mass = 2\n{keys}");
    let said =
        "body `rod`: `death` is 0, and the simulation begins at 0: expected a time after that";
    let place = |keys: &str| {
        let text = replaced(BOXES, "mass = 2\n", &with(keys));
        text.lines().position(|line| line.starts_with("death")).map_or(0, |line| line + 1)
    };
    check("mass = 2\n", &with("death = 0\n"), &format!("{}:1: {said}", place("death = 0\n")));
    let later = replaced(BOXES, "mass = 2\n", &with("death = 1.5\n"));
    parse(&later).expect("it is there for a while");
    let later = replaced(&later, "[simulation]\n", "[simulation]\nt0 = 1.5\n");
    let error = parse(&later).expect_err("it is wrong").to_string();
    let said = "`death` is 1.5, and the simulation begins at 1.5: expected a time after that";
    assert!(error.ends_with(said), "{error}");
    let early = "birth = 2\ndeath = 1\n";
    let text = replaced(BOXES, "mass = 2\n", &with(early));
    let error = parse(&text).expect_err("it is wrong").to_string();
    assert!(error.ends_with("`death` is 1, expected a time after its birth"), "{error}");
}

/// A ratio of nothing is no ratio, and a file that is called `scene.toml` has the name of its folder.
#[test]
fn what_follows_nothing() {
    let boxes = BOXES.replace("title = \"boxes\"\n", "");
    let joint = "[[joint]]\nname = \"hook\"\nkind = \"fixed\"\nbodies = [\"box0\"]\n";
    let text = format!("{boxes}\n{joint}");
    let file = ModelFile::parse(&text, "shelf/scene.toml", &[]).expect("it is right");
    assert_eq!(file.model.title(), "shelf");
    let text = format!("{text}follow_ratio = 2\n");
    let error = ModelFile::parse(&text, "scene.toml", &[]).unwrap_err().to_string();
    assert!(
        error.ends_with("joint `hook`: missing key `follows`, which `follow_ratio` needs"),
        "{error}"
    );
}

/// A scene says how it is simulated, and once it is written this does not change any more.
#[test]
fn the_way_back_of_settings() {
    let check = |settings: &str, said: &[&str], unsaid: &[&str]| {
        let text = BOXES.replacen("[simulation]\n", &format!("[simulation]\n{settings}\n"), 1);
        assert_ne!(text, BOXES);
        let file = parse(&text).unwrap_or_else(|error| panic!("{}", error.report()));
        let scene = file.scene.expect("a scene");
        let written = scene_text(&scene, &file.simulation).expect("formulas only");
        for part in said {
            assert!(written.contains(part), "`{part}` is missing:\n{written}");
        }
        for part in unsaid {
            assert!(!written.contains(part), "`{part}` is the default:\n{written}");
        }
        let again = parse(&written).unwrap_or_else(|error| panic!("{}", error.report()));
        assert_eq!(again.simulation, file.simulation);
        let twice = scene_text(&again.scene.expect("a scene"), &again.simulation).expect("again");
        assert_eq!(twice, written);
    };
    check("", &[], &["integrator", "newton", "output"]);
    check("integrator = { theta = 0.75 }", &["theta = 0.75"], &["newton"]);
    check("solver = { kind = \"newton\", tol = 1e-9 }", &["kind = \"newton\""], &["integrator"]);
    check(
        "output = { every = 3, signals = [\"box0\", \"rod.v[1]\"] }",
        &["every = 3", "rod.v[1]"],
        &["samples"],
    );
}

/// What has no effect on the steps of a scene, and what cannot be used for its contacts.
#[test]
fn settings_that_scenes_have_no_use_for() {
    let with = |settings: &str| format!("[simulation]\n{settings}\n");
    let check = |settings: &str, expected: &str| {
        check("[simulation]\n", &with(settings), &format!("8:1: {expected}"));
    };
    let scene = "a scene: moreau-jean needs";
    check(
        "newton = { tol = 1e-6 }",
        &format!("{scene} `newton` to be left out: its steps have no such iteration"),
    );
    let why = "left out: it looks in each step for the contacts that can close";
    check("integrator = { gamma = 1 }", &format!("{scene} `gamma` to be {why}"));
    check("integrator = { threshold = 1e-3 }", &format!("{scene} `threshold` to be {why}"));
    for method in ["pivoting", "lemke", "fischer-burmeister", "enumeration"] {
        let said = "does not solve problems with friction in space; use another method, for example `auto`";
        check(&format!("solver = {method:?}"), &format!("solver: {method} {said}"));
        // without friction, and for its joints, it may be used
        let smooth = replaced(BOXES, "mu = 0.7\n", "");
        let settings = with(&format!("solver = {method:?}"));
        parse(&replaced(&smooth, "[simulation]\n", &settings)).expect("it is possible");
    }
    let first =
        "[[system]]\nname = \"heat\"\nkind = \"first-order\"\nx0 = [1]\nf = [\"-x[0]^2\"]\n";
    let text =
        format!("{}\n{first}", replaced(BOXES, "[simulation]\n", &with("newton = { tol = 1e-6 }")));
    parse(&text).expect("what stands beside the scene may need it");
}

/// No integrators are the default ones.
#[test]
fn a_scene_without_integrators_is_written_as_it_is_read() {
    let file = parse(BOXES).expect("it is right");
    let scene = file.scene.expect("a scene");
    let none = Simulation { integrators: Vec::new(), ..file.simulation.clone() };
    let texts = [&none, &file.simulation].map(|one| scene_text(&scene, one).expect("formulas"));
    assert_eq!(texts[0], texts[1]);
}

#[test]
fn the_way_back_of_every_shape() {
    let shapes = r#"[
  { kind = "sphere", radius = 0.1 },
  { kind = "box", size = [1, 2, "1/3"] },
  { kind = "capsule", radius = 0.1, length = 0.7 },
  { kind = "cylinder", radius = 0.1, length = 0.7, orientation = [1, 1, 0, 0] },
  { kind = "cone", radius = 0.1, height = 0.7, material = "default" },
  { kind = "convex-hull", points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]] },
  { kind = "triangle-mesh", points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], triangles = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] },
  { kind = "height-field", heights = { rows = 3, cols = 4, entry = "0.1*row*sin(col)" }, size = [2, 3] },
  { kind = "plane", normal = [0, 1, 1], offset = -0.5 },
  { kind = "compound", parts = [{ kind = "sphere", radius = 1 }, { kind = "sphere", radius = 1, position = [0, 1, 0] }] },
]"#;
    let text = format!(
        "[simulation]\nh = 1\nuntil = 1\n[[static]]\nname = 's'\nshapes = {shapes}\n[[body]]\nname = 'b'\nmass = 1\ninertia = [1, 1, 1]\n"
    );
    let file = parse(&text).unwrap_or_else(|error| panic!("{}", error.report()));
    let scene = file.scene.expect("a scene");
    let written = scene_text(&scene, &file.simulation).expect("it can be written");
    assert_eq!(format!("{:?}", self::scene(&written)), format!("{scene:?}"));
}

#[test]
fn the_plane() {
    let text = r#"
[simulation]
h = 1e-3
until = 1
[scene]
dim = 2
gravity = [0, -9.81]
[[contact]]
materials = ["default", "default"]
mu = 0.5
[[static]]
name = "ground"
shape = { kind = "plane" }
[[material]]
name = "wood"
density = 2
[[body]]
name = "block"
shape = { kind = "box", size = [2, 1] }
material = "wood"
position = [0, 1]
angle = 0.5
omega = 0.25
[[body]]
name = "wheel"
shape = { kind = "disk", radius = 0.5 }
mass = 2
position = [3, 0.5]
"#;
    let scene = scene(text);
    assert_eq!(scene.mass_of(0).expect("a density").mass, 4.0);
    let inertia = scene.mass_of(1).expect("a mass").inertia[2][2];
    assert!((inertia - 0.5 * 2.0 * 0.25).abs() < 1e-12, "{inertia}");
    let model = scene.model().expect("a model");
    let (_, block) = model.systems().next().expect("the block");
    let saltus_model::System::SecondOrder(block) = block else { panic!("a body") };
    assert_eq!((block.q0(), block.v0()), (&[0.0, 1.0, 0.5][..], &[0.0, 0.0, 0.25][..]));
}

/// Every kind of joint with what it can have, written and read again.
#[test]
fn the_way_back_of_every_joint() {
    let joints = r#"
[[joint]]
name = "rope"
kind = "distance"
bodies = ["ground", "rod"]
point = [3, 0, 2]
second_point = [3, 0, 0.25]
limits = [0, 2]
restitution = 0.1
spring = { stiffness = 10, rest = 1.5 }
break_force = 100

[[joint]]
name = "gear"
kind = "gear"
bodies = ["box1", "box2"]
axis = [0, 0, 1]
second_axis = [0, 0, 1]
teeth = [10, -20]
friction = 0.1
more = [{ coordinate = "second_angle", limits = [-1, 1] }]
break_force = 3
break_moment = 4

[[joint]]
name = "rack"
kind = "rack"
bodies = ["box1", "rod"]
axis = [0, 0, 1]
direction = [1, 0, 0]
radius = 0.5
coordinate = "way"
limits = [-1, 1]
break_force = 5

[[joint]]
name = "glue"
kind = "fixed"
bodies = ["box1", "rod"]
break_force = 5
break_moment = 6
"#;
    let file = parse(&format!("{BOXES}{joints}")).unwrap_or_else(|e| panic!("{}", e.report()));
    let scene = file.scene.expect("a scene");
    let text = scene_text(&scene, &file.simulation).expect("formulas only");
    let again = parse(&text).unwrap_or_else(|error| panic!("{}\n{text}", error.report()));
    assert_eq!(format!("{:?}", again.scene.expect("a scene")), format!("{scene:?}"));
    let names: Vec<&str> = again.model.interactions().map(|(name, _)| name).collect();
    let expected = [
        "rope",
        "rope.spring",
        "gear",
        "gear.angle_friction",
        "gear.second_angle_limit",
        "rack",
        "rack.way_limit",
        "glue",
    ];
    assert_eq!(names[3..], expected);
}

/// What makes no sense of a joint is said, at its key.
#[test]
fn joints_that_cannot_have_it() {
    let of_joint =
        "kind = \"pivot\"\nbodies = [\"rod\", \"box0\"]\npoint = [3, 0, 0]\naxis = [0, 1, 0]\n";
    let fixed = "kind = \"fixed\"\nbodies = [\"rod\", \"box0\"]\n";
    check(of_joint, fixed, "59:1: `fixed` has no `limits`: it leaves nothing free");
    let ball = format!("{}break_moment = 3\n", of_joint.replace("axis", "twist_axis"));
    let ball = ball.replace("pivot", "ball");
    check(
        of_joint,
        &ball,
        "61:1: `ball` has no `break_moment`: it bears no moment; use `break_force`",
    );
}

#[track_caller]
fn check(from: &str, to: &str, expected: &str) {
    let error = parse(&replaced(BOXES, from, to)).expect_err("it is wrong");
    assert_eq!(error.to_string(), format!("model.toml:{expected}"));
}

#[test]
fn wrong_scenes_are_told_where() {
    check(
        "material = \"stone\"\nposition = [0",
        "material = \"ston\"\nposition = [0",
        "40:1: body `box0`: there is no material named `ston`; did you mean `stone`? (with i = 0)",
    );
    check("mu = 0.7", "nu = 0.7", "22:1: unknown key `nu`; did you mean `mu`?");
    check(
        "mu = 0.7",
        "mu = -1",
        "22:1: contact of `stone` and `default`: `mu` is -1, expected not negative",
    );
    check(
        "bodies = [\"rod\", \"box0\"]",
        "bodies = [\"rod\", \"bx0\"]",
        "58:1: joint `hinge`: there is no body named `bx0`; did you mean `box0`?",
    );
    check(
        "kind = \"pivot\"",
        "kind = \"pivo\"",
        "57:8: unknown kind of joint `pivo`; did you mean `pivot`?",
    );
    check(
        "density = 2500",
        "density = 0",
        "17:1: material `stone`: `density` is 0, expected a positive number",
    );
    check(
        "apart = [[\"box0\", \"box2\"]]",
        "apart = [[\"box0\", \"box7\"]]",
        "13:1: scene: there is no body, static or group named `box7`; did you mean `box0`?",
    );
    check(
        "kind = \"box\", size = [1, 0.5, 0.25]",
        "kind = \"box\", size = [1, 0.5]",
        "39:25: box: `size` has length 2, expected 3 (the axes of space) (with i = 0)",
    );
    check(
        "kind = \"box\", size = [1, 0.5",
        "kind = \"bok\", size = [1, 0.5",
        "39:18: unknown shape `bok`; did you mean `box`? (with i = 0)",
    );
    check(
        "mass = 2\n",
        "",
        "44:1: body `rod`: it has no mass: the material `default` has no density, and `mass` is not given",
    );
    check(
        "\"stone\", \"default\"",
        "\"stone\", \"stone\"",
        "11:1: scene: nothing says what happens where `stone` touches `default`; describe the contact of the two, or of `default` with `default`, or say that they do not touch",
    );
    check(
        "name = \"belt\"",
        "name = \"box1\"",
        "30:1: static `box1`: the name is used twice; names of statics, bodies and joints must differ",
    );
}
