//! Scenes of other programs: what becomes of them, and what is left aside.

use crate::sample::Folder;
use saltus_io::model_file::scene_model;
use saltus_io::scene_file::{SceneFile, SceneFileError, read_model, read_scene};
use saltus_mechanics::{AnyJoint, Coordinate, Follows, Joint, Shape};
use saltus_model::rotation;
use saltus_sim::TimeStepping;
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/scenes").join(name)
}

#[test]
fn a_scene_of_siconos() {
    let file = read_scene(&data("siconos-scene.hdf5")).expect("a scene");
    assert_eq!(file.left_aside, [""; 0]);
    let scene = file.scene;
    assert_eq!(scene.gravity, [0.0, 0.0, -9.80665]);
    assert_eq!(scene.statics.len(), 1);
    assert_eq!(scene.statics[0].position, [0.0, 0.0, -0.5]);
    assert_eq!(scene.statics[0].parts[0].shape, Shape::Box { edges: [40.0, 40.0, 1.0] });
    let names: Vec<&str> = scene.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["ball", "cube", "bar"]);
    let ball = &scene.bodies[0];
    assert_eq!((ball.mass, ball.position, ball.v), (Some(1.0), [0.0, 0.0, 0.5], [3.0, 0.0, 0.0]));
    assert_eq!(ball.inertia, Some([[0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]]));
    assert!(
        matches!(&scene.bodies[1].parts[0].shape, Shape::ConvexHull { points } if points.len() == 8)
    );
    assert_eq!((scene.contacts[0].mu, scene.contacts[0].e), (Some(0.3), 0.0));
    let hinge = AnyJoint::Space(Joint::Pivot { point: [0.0, -4.0, 3.0], axis: [0.0, 1.0, 0.0] });
    assert_eq!(
        (scene.joints[0].joint, &scene.joints[0].bodies[..]),
        (hinge, &["bar".to_string()][..])
    );
    scene.model().expect("a model");
}

#[test]
fn a_robot() {
    let file = read_scene(&data("arm.urdf")).expect("a robot");
    let aside = ["<transmission> `drive`, line 47"];
    assert_eq!(file.left_aside, aside);
    let scene = file.scene;
    assert_eq!(scene.title, "two links");
    assert_eq!(scene.statics[0].name, "base");
    let [upper, fore] = &scene.bodies[..] else { panic!("two bodies") };
    assert_eq!(upper.position, [0.0, 0.0, 0.3]);
    // the moments were given in a frame that is turned about z
    let inertia = upper.inertia.expect("moments");
    assert!((inertia[0][0] - 0.05).abs() < 1e-12 && (inertia[1][1] - 0.04).abs() < 1e-12);
    // the fore arm stands out along x
    assert!((fore.position[0] - 0.2).abs() < 1e-12 && (fore.position[2] - 0.55).abs() < 1e-12);
    // the tool became part of it
    assert_eq!(fore.parts.len(), 2);
    assert_eq!(fore.parts[1].shape, Shape::Sphere { radius: 0.03 });
    assert!((fore.parts[1].position[2] - 0.42).abs() < 1e-12);
    let shoulder = &scene.joints[0];
    assert_eq!(shoulder.bodies, ["upper", "base"]);
    let fitting = &shoulder.fittings[0];
    assert_eq!(fitting.coordinate, Coordinate::Angle);
    assert_eq!(fitting.limits.map(|limits| (limits.lower, limits.upper)), Some((-1.5, 1.5)));
    assert_eq!(fitting.spring.map(|spring| spring.damping), Some(0.1));
    assert_eq!(fitting.friction.map(|friction| friction.force), Some(0.05));
    assert!(scene.joints[1].fittings.is_empty());
    let follows = Follows { joint: "shoulder".to_string(), ratio: 2.0 };
    assert_eq!(scene.joints[1].follows, Some(follows));
    scene.model().expect("a model");
}

/// A gripper whose second finger mimics the first one, from an offset; its limits are those from there.
#[test]
fn a_gripper_that_mimics() {
    let finger = |name: &str, y: f64, mimic: &str| {
        format!(
            r#"<joint name="{name} slide" type="prismatic"><parent link="palm"/><child link="{name}"/>
            <origin xyz="0 {y} 0"/><axis xyz="0 1 0"/><limit lower="-0.1" upper="0.1" effort="1" velocity="1"/>{mimic}</joint>
            <link name="{name}"><inertial><mass value="0.1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>"#
        )
    };
    let mimic = r#"<mimic joint="left slide" multiplier="-1" offset="0.02"/>"#;
    let robot = |palm: &str| {
        let fingers = [finger("left", 0.1, ""), finger("right", -0.1, mimic)].concat();
        format!(r#"<robot name="gripper">{palm}<link name="palm">{PALM}</link>{fingers}</robot>"#)
    };
    const PALM: &str =
        r#"<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>"#;
    let folder = Folder::new();
    let path = folder.path("gripper.urdf");
    std::fs::write(&path, robot("")).expect("a file");
    let file = read_scene(&path).expect("a robot");
    assert_eq!(file.left_aside, [""; 0]);
    // a root without shapes is the world
    assert!(file.scene.statics.is_empty());
    let right = &file.scene.joints[1];
    assert_eq!(right.bodies, ["right"]);
    let follows = Follows { joint: "left slide".to_string(), ratio: -1.0 };
    assert_eq!(right.follows, Some(follows));
    assert!((file.scene.bodies[1].position[1] + 0.08).abs() < 1e-15);
    let limits = right.fittings[0].limits.expect("limits");
    assert!((limits.lower + 0.12).abs() < 1e-15 && (limits.upper - 0.08).abs() < 1e-15);
    let model = file.scene.model().expect("a model");
    assert!(model.interaction_id("right slide.follows").is_ok());
    // as the text of a model file, too
    let (text, _) = read_model(&path, &[]).expect("a model file");
    assert_eq!(text.model.interactions().len(), model.interactions().len());

    // on an arm it links three bodies
    let arm = r#"<link name="base"/><joint name="arm" type="continuous"><parent link="base"/><child link="palm"/></joint>"#;
    std::fs::write(&path, robot(arm)).expect("a file");
    let file = read_scene(&path).expect("a robot");
    assert_eq!(file.left_aside, [""; 0]);
    let (text, _) = read_model(&path, &[]).expect("a model file");
    for model in [file.scene.model().expect("a model"), text.model] {
        let id = model.interaction_id("right slide.follows").expect("it follows");
        let systems = &model.interaction(id).expect("an interaction").systems;
        let names: Vec<&str> = systems.iter().map(|id| model.system_name(id.index())).collect();
        assert_eq!(names, ["left", "palm", "right"]);
    }
}

/// A joint whose limits do not hold zero stands at the one next to it, one that follows it where that says, and this is told.
#[test]
fn a_robot_that_cannot_stand_at_zero() {
    let slide = |name: &str, limits: &str, mimic: &str| {
        format!(
            r#"<joint name="{name} slide" type="prismatic"><parent link="base"/><child link="{name}"/>
            <axis xyz="0 2 0"/><limit {limits} effort="1" velocity="1"/>{mimic}</joint>
            <link name="{name}"><inertial><mass value="0.1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>"#
        )
    };
    let mimic = r#"<mimic joint="left slide" multiplier="-2" offset="0.05"/>"#;
    let slides = [
        slide("left", r#"lower="-0.3" upper="-0.1""#, ""),
        slide("right", r#"lower="0" upper="1""#, mimic),
    ];
    let robot = format!(r#"<robot name="r"><link name="base"/>{}</robot>"#, slides.concat());
    let folder = Folder::new();
    let path = folder.path("robot.urdf");
    std::fs::write(&path, robot).expect("a file");
    let file = read_scene(&path).expect("a robot");
    let told = "the joint `left slide` stands at -0.1, since zero is outside its limits, line 1";
    assert_eq!(file.left_aside, [told]);
    let near = |found: f64, known: f64| assert!((found - known).abs() < 1e-15, "{found} {known}");
    for (k, y, lower, upper) in [(0, -0.1, -0.2, 0.0), (1, 0.25, -0.25, 0.75)] {
        near(file.scene.bodies[k].position[1], y);
        let limits = file.scene.joints[k].fittings[0].limits.expect("limits");
        near(limits.lower, lower);
        near(limits.upper, upper);
    }
    file.scene.model().expect("a model");
    // one that would begin outside its own limits is told of in the numbers of the file
    let slides = [
        slide("left", r#"lower="-0.3" upper="-0.1""#, ""),
        slide("right", r#"lower="0.5" upper="1""#, mimic),
    ];
    let robot = format!(r#"<robot name="r"><link name="base"/>{}</robot>"#, slides.concat());
    std::fs::write(&path, robot).expect("a file");
    let error = read_scene(&path).expect_err("it cannot begin").to_string();
    let told = "the joint begins at 0.25, where the one that it follows says: outside its limits from 0.5 to 1";
    assert!(error.contains(told), "{error}");
}

/// The same of a model of MuJoCo, whose angles are degrees from where it is drawn.
#[test]
fn joints_of_mujoco_that_cannot_begin() {
    let folder = Folder::new();
    let path = folder.path("arm.xml");
    let hinge = |name: &str, range: &str| {
        format!(
            "<body name='{name}'><joint name='{name}' axis='0 1 0' {range}/><geom size='0.1'/></body>"
        )
    };
    let error = |first: &str, second: &str| {
        let text = format!(
            "<mujoco><worldbody>{}{}</worldbody>
            <equality><joint joint1='b' joint2='a' polycoef='0 2 0 0 0'/></equality></mujoco>",
            hinge("a", first),
            hinge("b", second),
        );
        std::fs::write(&path, text).expect("a file");
        read_scene(&path).map(|_| ()).expect_err("it cannot begin").to_string()
    };
    let told = "the joint begins at 50, where the one that it follows says: outside its limits from -10 to 10";
    let found = error("range='20 40'", "range='-10 10' ref='10'");
    assert!(found.contains(told), "{found}");
    let told = "`range` is from -500 to 400: an angle is known over less than two turns";
    let found = error("", "range='-500 400' ref='30'");
    assert!(found.contains(told), "{found}");
}

/// Hinges whose ratio is none of whole numbers are left to move by themselves; names that have a meaning
/// in signal paths are written otherwise; what is fixed together does not touch.
#[test]
fn a_robot_of_odd_ratios_and_names() {
    let inertial = r#"<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>"#;
    let joint = |name: &str, kind: &str, parent: &str, child: &str, mimic: &str| {
        format!(
            r#"<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{mimic}</joint>
            <link name="{child}">{inertial}</link>"#
        )
    };
    let mimic = |ratio: f64| format!(r#"<mimic joint="r/a" multiplier="{ratio}"/>"#);
    let text = [
        joint("r/a", "continuous", "base", "arm", ""),
        joint("tip", "continuous", "arm", "b", &mimic(std::f64::consts::PI)),
        joint("c", "fixed", "b", "tip", ""),
        joint("d", "fixed", "b", "end", ""),
    ];
    let folder = Folder::new();
    let path = folder.path("odd.urdf");
    let write = |text: &[String]| {
        let text = format!(r#"<robot name="odd"><link name="base"/>{}</robot>"#, text.concat());
        std::fs::write(&path, text).expect("a file");
        read_scene(&path).expect("a robot")
    };
    let file = write(&text);
    let aside = [
        "the name `r/a`, which is `r_a` here",
        "<mimic> of the joint `tip`: the ratio of two angles has to be one of whole numbers up to 1000, line 2",
    ];
    assert_eq!(file.left_aside, aside);
    let joints: Vec<&str> = file.scene.joints.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(joints, ["r_a", "tip joint", "c", "d"]);
    let mut apart = file.scene.apart.clone();
    apart.iter_mut().for_each(|pair| pair.sort());
    apart.sort();
    let pairs = [["arm", "end"], ["arm", "tip"], ["end", "tip"]];
    assert_eq!(apart, pairs.map(|pair| pair.map(str::to_string)));
    file.scene.model().expect("a model");
    let same = joint("tip", "continuous", "arm", "b", &mimic(1.5));
    let file = write(&[text[0].clone(), same]);
    assert_eq!(file.scene.joints[1].follows.as_ref().map(|one| one.ratio), Some(1.5));
    file.scene.model().expect("a model");
}

/// Bodies, geoms, joints, defaults and equalities of MuJoCo.
#[test]
fn a_model_of_mujoco() {
    let file = read_scene(&data("machine.xml")).expect("a model");
    let aside =
        ["`integrator` of <option>", "<actuator>", "`armature` of `crank` of the body `crank`"];
    assert_eq!(file.left_aside, aside);
    assert_eq!(file.simulation.expect("a simulation").h, 0.001);
    let scene = file.scene;
    assert_eq!((scene.title.as_str(), scene.gravity), ("machine", [0.0, 0.0, -9.8]));
    let statics: Vec<&str> = scene.statics.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(statics, ["world", "post"]);
    assert_eq!(
        scene.statics[0].parts[0].shape,
        Shape::Plane { normal: [0.0, 0.0, 1.0], offset: 0.0 }
    );
    assert_eq!(scene.statics[1].parts[0].position, [0.0, 1.0, 0.5]);
    let names: Vec<&str> = scene.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["crank", "rod", "slider", "ball", "cart"]);
    let [crank, rod, slider, ball, cart] = &scene.bodies[..] else { panic!("five bodies") };
    // a capsule from end to end
    assert_eq!(crank.parts[0].shape, Shape::Capsule { radius: 0.02, length: 0.2 });
    assert!((crank.parts[0].position[0] - 0.1).abs() < 1e-15);
    let mass = |body: &saltus_mechanics::BodySpec| {
        let k = scene.bodies.iter().position(|one| one.name == body.name).expect("it is there");
        scene.mass_of(k).expect("a mass")
    };
    let volume = std::f64::consts::PI * (0.02_f64.powi(2) * 0.2 + 4.0 / 3.0 * 0.02_f64.powi(3));
    assert!((mass(crank).mass - 500.0 * volume).abs() < 1e-12);
    // its own moments, turned by a right angle about z
    assert_eq!((rod.mass, rod.center), (Some(0.3), Some([0.2, 0.0, 0.0])));
    let inertia = rod.inertia.expect("moments");
    assert!((inertia[0][0] - 2e-3).abs() < 1e-15 && (inertia[1][1] - 1e-3).abs() < 1e-15);
    assert!((mass(slider).mass - 0.7).abs() < 1e-12);
    assert_eq!(ball.v, [0.0; 3]);
    assert!((cart.orientation[0] - 0.5_f64.sqrt()).abs() < 1e-12);
    let joints: Vec<(&str, &str)> =
        scene.joints.iter().map(|one| (one.name.as_str(), one.joint.name())).collect();
    let expected = [
        ("crank joint", "pivot"),
        ("rod joint", "universal"),
        ("slide", "prismatic"),
        ("x", "planar"),
        ("pin", "ball"),
    ];
    assert_eq!(joints, expected);
    let fitting = &scene.joints[0].fittings[0];
    let limits = fitting.limits.expect("limits");
    assert!((limits.lower + 1.0).abs() < 1e-15 && (limits.upper - 2.0).abs() < 1e-15);
    assert_eq!(fitting.spring.map(|spring| spring.damping), Some(0.25));
    let follows = Follows { joint: "crank joint".to_string(), ratio: 0.5 };
    assert_eq!(scene.joints[2].follows, Some(follows));
    assert_eq!(scene.joints[4].bodies, ["rod", "cart"]);
    assert_eq!(scene.apart, [["crank".to_string(), "slider".to_string()]]);
    // friction of two is the larger one; what has no masks in common passes
    let law = |a: usize, b: usize| {
        let names = [format!("geom {a}"), format!("geom {b}")];
        scene.contacts.iter().find(|pair| pair.materials == names).expect("a pair")
    };
    assert_eq!(law(1, 2).mu, Some(1.0));
    assert_eq!(law(2, 2).mu, Some(0.4));
    assert!(scene.contacts.iter().any(|pair| !pair.touch));
}

/// Reads a model of MuJoCo from its inner text.
fn mujoco(inner: &str) -> SceneFile {
    try_mujoco(inner).expect("a model")
}

fn try_mujoco(inner: &str) -> Result<SceneFile, SceneFileError> {
    let folder = Folder::new();
    let path = folder.path("m.xml");
    std::fs::write(&path, format!("<mujoco>{inner}</mujoco>")).expect("a file");
    read_scene(&path)
}

/// Stiffness, damping and rest of a joint act beside a floor that is touched: `√(k/J)`, about `springref`.
#[test]
fn springs_of_mujoco_act() {
    let file = mujoco(
        "<option gravity='0 0 0'/>
        <worldbody><geom type='plane' size='1 1 1'/>
            <body name='wheel' pos='0 0 1'>
                <joint name='hinge' axis='0 0 1' stiffness='8' springref='30'/>
                <geom type='sphere' size='0.1'/>
                <inertial pos='0 0 0' mass='1' diaginertia='0.5 0.5 0.5'/>
            </body>
        </worldbody>",
    );
    let model = file.scene.model().expect("a scene");
    assert!(model.has_found_contacts());
    let integrator = saltus_sim::MoreauJean::default();
    let mut sim = saltus_sim::TimeStepping::new(model, 1e-3, [integrator.into()]).expect("a run");
    sim.run(1.0).expect("steps");
    let wheel = sim.model().system_id("wheel").expect("a body");
    let speed = sim.v(wheel).expect("a velocity")[5];
    let exact = 30_f64.to_radians() * 4.0 * 4.0_f64.sin();
    assert!((speed - exact).abs() < 1e-4, "{speed}, {exact}");
}

/// Sections that come twice, classes that turn, limits that are none, names that come later.
#[test]
fn models_of_mujoco_in_parts() {
    let file = mujoco(
        "<compiler angle='radian'/><compiler eulerseq='XYZ'/>
        <default><geom density='500' euler='0 0 1'/></default><default><geom size='2'/></default>
        <worldbody><geom/></worldbody>
        <worldbody><geom/>
            <body name='a'><joint name='b' range='0 0'/><geom quat='1 0 0 0'/>
                <body name='b'><joint name='r/c' range='-1 1'/><geom/>
                    <body name='c'><geom/></body><body name='d'><geom/></body></body></body>
        </worldbody>",
    );
    let scene = &file.scene;
    assert_eq!(file.left_aside, ["the name `r/c`, which is `r_c` here"]);
    let [world] = &scene.statics[..] else { panic!("one static") };
    assert_eq!((world.name.as_str(), world.parts.len()), ("world", 2));
    assert!((world.parts[0].orientation[3] - 0.5_f64.sin()).abs() < 1e-15);
    assert_eq!(world.parts[0].shape, Shape::Sphere { radius: 2.0 });
    assert_eq!(scene.bodies[0].parts[0].orientation, [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(scene.materials[0].density, Some(500.0));
    let joints: Vec<&str> = scene.joints.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(joints, ["b joint", "r_c", "c joint", "d joint"]);
    assert!(scene.joints[0].fittings.is_empty());
    assert_eq!(scene.joints[1].fittings[0].limits.map(|one| one.upper), Some(1.0));
    // b, c and d are one, beside a
    let pairs = [["a", "c"], ["a", "d"], ["c", "d"]];
    let mut apart = scene.apart.clone();
    apart.iter_mut().for_each(|pair| pair.sort());
    apart.sort();
    assert_eq!(apart, pairs.map(|pair| pair.map(str::to_string)));
    scene.model().expect("a model");

    // a body without joints and mass is part of the one that it stands in
    let file = mujoco(
        "<worldbody><body><freejoint/><geom size='1'/><body pos='1 0 0'><body name='pad' pos='0 2 0'>
        <geom size='1' mass='0'/></body></body></body><body name='ground'><geom size='1'/></body></worldbody>
        <contact><exclude body1='pad' body2='ground'/></contact>",
    );
    let [body] = &file.scene.bodies[..] else { panic!("one body") };
    let places: Vec<[f64; 3]> = body.parts.iter().map(|part| part.position).collect();
    assert_eq!(places, [[0.0; 3], [1.0, 2.0, 0.0]]);
    assert_eq!(file.scene.apart, [[body.name.clone(), "ground".to_string()]]);
    let mass = file.scene.mass_of(0).expect("a mass").mass;
    assert!((mass / (4000.0 / 3.0 * std::f64::consts::PI) - 1.0).abs() < 1e-12);
    file.scene.model().expect("a model");

    let joint = "<worldbody><body><joint range='-1 1'/><geom size='1'/></body></worldbody>";
    let file = mujoco(&format!("<compiler autolimits='false'/>{joint}"));
    assert!(file.scene.joints[0].fittings.is_empty());
}

/// A joint whose range does not hold where the file draws it stands at the end next to that, and what hangs on
/// it moves along; this is told, in the units of the file.
#[test]
fn models_of_mujoco_that_cannot_stand_as_drawn() {
    let near = |found: &[f64], known: &[f64]| {
        let far = found.iter().zip(known).any(|(a, b)| (a - b).abs() > 1e-14);
        assert!(found.len() == known.len() && !far, "{found:?} {known:?}");
    };
    let limits = |file: &SceneFile, joint: usize, fitting: usize| {
        let limits = file.scene.joints[joint].fittings[fitting].limits.expect("limits");
        [limits.lower, limits.upper]
    };
    let geom = "<geom size='.01' density='1'/>";
    let arm = |elbow: &str, wrist: &str| {
        mujoco(&format!(
            "<worldbody><body name='upper' pos='0 0 1'><joint name='elbow' axis='0 2 0' {elbow}/>{geom}
            <body name='lower' pos='1 0 0'><joint name='wrist' pos='0 1 0' {wrist}/>{geom}</body></body></worldbody>"
        ))
    };
    let file = arm("range='-150 -30'", "range='-60 60' stiffness='2' springref='30'");
    let told = "the joint `elbow` of the body `upper` stands at -30, since 0 is outside its `range`, line 1";
    assert_eq!(file.left_aside, [told]);
    let degrees = std::f64::consts::PI / 180.0;
    let (sin, cos) = (30.0 * degrees).sin_cos();
    let half = 15.0 * degrees;
    let [upper, lower] = &file.scene.bodies[..] else { panic!("two bodies") };
    near(&upper.position, &[0.0, 0.0, 1.0]);
    near(&lower.position, &[cos, 0.0, 1.0 + sin]);
    for body in [upper, lower] {
        near(&body.orientation, &[half.cos(), 0.0, -half.sin(), 0.0]);
    }
    let AnyJoint::Space(Joint::Pivot { point, axis }) = file.scene.joints[1].joint else {
        panic!("a pivot")
    };
    near(&point, &[cos, 1.0, 1.0 + sin]);
    near(&axis, &[-sin, 0.0, cos]);
    near(&limits(&file, 0, 0), &[-120.0 * degrees, 0.0]);
    near(&limits(&file, 1, 0), &[-60.0 * degrees, 60.0 * degrees]);
    near(&[file.scene.joints[1].fittings[0].spring.expect("a spring").rest], &[30.0 * degrees]);
    file.scene.model().expect("a model");

    // `ref` is the value of what is drawn; the spring keeps its rest
    let file =
        arm("range='10 40' ref='20'", "range='-60 -40' ref='-10' stiffness='2' springref='30'");
    let told = "the joint `wrist` of the body `lower` stands at -40, since -10 is outside its `range`, line 2";
    assert_eq!(file.left_aside, [told]);
    near(&limits(&file, 0, 0), &[-10.0 * degrees, 20.0 * degrees]);
    near(&limits(&file, 1, 0), &[-20.0 * degrees, 0.0]);
    near(&[file.scene.joints[1].fittings[0].spring.expect("a spring").rest], &[70.0 * degrees]);
    // about a point that stays where it is
    near(&file.scene.bodies[1].position, &[1.0 - 0.5, 1.0 - 0.75_f64.sqrt(), 1.0]);
    file.scene.model().expect("a model");

    // what is not limited stands where it is drawn
    assert_eq!(arm("range='10 40' limited='false'", "").left_aside, [""; 0]);

    // a cross: the inner axis turns with the outer one
    let file = mujoco(&format!(
        "<compiler angle='radian'/><worldbody><body><joint axis='1 0 0' range='.3 1'/>
        <joint axis='0 1 0' range='-1 -.2'/>{geom}</body></worldbody>"
    ));
    assert_eq!(file.left_aside.len(), 2);
    let [a, b] = [[0.3, 0.0, 0.0], [0.0, -0.2, 0.0]].map(rotation::exp);
    near(&file.scene.bodies[0].orientation, &rotation::product(a, b));
    near(&limits(&file, 0, 0), &[0.0, 0.7]);
    near(&limits(&file, 0, 1), &[-0.8, 0.0]);
    let AnyJoint::Space(Joint::Universal { axis, second_axis, .. }) = file.scene.joints[0].joint
    else {
        panic!("a cross")
    };
    near(&second_axis, &[1.0, 0.0, 0.0]);
    near(&axis, &rotation::rotate(a, [0.0, 1.0, 0.0]));
    let sim = TimeStepping::new(file.scene.model().expect("a model"), 1e-3, []);
    sim.expect("a simulation").step().expect("a step");

    // one that follows another stands where that says, and is not told
    let fingers = |equality: &str| {
        let finger = |name: &str, range: &str| {
            format!(
                "<body name='{name}'><joint name='{name} slide' type='slide' axis='0 0 2' range='{range}'/>{geom}</body>"
            )
        };
        format!(
            "<worldbody>{}{}</worldbody><equality>{equality}</equality>",
            finger("right", "-1 1"),
            finger("left", ".1 .3")
        )
    };
    let file =
        mujoco(&fingers("<joint joint1='right slide' joint2='left slide' polycoef='0 -2'/>"));
    let told = "the joint `left slide` of the body `left` stands at 0.1, since 0 is outside its `range`, line 1";
    assert_eq!(file.left_aside, [told]);
    near(&file.scene.bodies[0].position, &[0.0, 0.0, -0.2]);
    near(&file.scene.bodies[1].position, &[0.0, 0.0, 0.1]);
    near(&limits(&file, 0, 0), &[-0.8, 1.2]);
    file.scene.model().expect("a model");

    // what is left aside says nothing of where joints stand
    let file = mujoco(&fingers("<joint joint1='left slide' joint2='right slide' polycoef='0 0'/>"));
    assert!(file.left_aside.iter().any(|told| told.contains("its ratio is zero")));
    near(&file.scene.bodies[1].position, &[0.0, 0.0, 0.1]);
    file.scene.model().expect("a model");
    let finger = |name: &str, range: &str| {
        format!(
            "<body name='{name}'><joint name='{name}' type='slide' axis='0 0 1' range='{range}'/>{geom}</body>"
        )
    };
    let file = mujoco(&format!(
        "<worldbody><body name='hand'><joint name='hand'/>{geom}{}{}</body></worldbody>
        <equality><joint joint1='r' joint2='l'/></equality>",
        finger("l", ".1 .3"),
        finger("r", "-.2 .3")
    ));
    // the fingers of a hand that moves stand alike
    assert_eq!(file.left_aside.len(), 1);
    near(&file.scene.bodies[2].position, &[0.0, 0.0, 0.1]);
    file.scene.model().expect("a model");

    // what was moved apart cannot be held together as it was
    let welded = fingers("<weld body1='right' body2='left'/>");
    let error = try_mujoco(&welded).expect_err("they are apart").to_string();
    let said =
        "<weld> `equality 1`: joints that begin at their limits have moved apart what it holds";
    assert!(error.contains(said), "{error}");
    mujoco(&fingers("<weld body1='right'/>"));
}

/// What changes a motion and is not read is told, by the name of its attribute.
#[test]
fn attributes_of_mujoco_that_are_told() {
    let file = mujoco(
        "<compiler settotalmass='3' boundmass='0'/><option><flag warmstart='disable'/></option>
        <default><joint springdamper='1 1'/></default>
        <worldbody><geom margin='0.1' gap='0' condim='4' size='1' rgba='1 0 0 1'/>
            <body gravcomp='1'><joint/><geom size='1'/></body></worldbody>",
    );
    let told = [
        "`settotalmass` of <compiler>",
        "the flag `warmstart`",
        "`margin` of <geom>",
        "friction against spinning of geoms whose `condim` is 4 or 6",
        "`gravcomp` of <body>",
        "`springdamper` of <joint>",
    ];
    assert_eq!(file.left_aside, told);
}

/// Of two geoms the larger `condim` and the larger of each friction hold, or those of the larger priority.
#[test]
fn friction_of_two_geoms_of_mujoco() {
    let file = mujoco(
        "<worldbody><geom size='1' condim='1' friction='0.5'/><geom size='1' condim='6' friction='0.2'/>
        <geom size='1' condim='1' priority='1'/></worldbody>",
    );
    let law = |k: usize| (file.scene.contacts[k].mu, file.scene.contacts[k].mu_r);
    // each with each: 1 1, 1 2, 1 3, 2 2, 2 3, 3 3
    let expected = [(None, None), (Some(0.5), Some(1e-4)), (None, None), (Some(0.2), Some(1e-4))];
    assert_eq!([0, 1, 2, 3].map(law), expected);
    assert_eq!(law(4), (None, None));
    // a geom that says less has the rest of its class
    let file = mujoco(
        "<default><geom condim='6' friction='1 0.1 0.2'/></default>
        <worldbody><geom size='1' friction='0.5'/></worldbody>",
    );
    let pair = &file.scene.contacts[0];
    assert_eq!((pair.mu, pair.mu_r), (Some(0.5), Some(0.2)));
}

/// Joints follow others in ratios that can be held.
#[test]
fn equalities_of_mujoco_that_are_left_aside() {
    let body = |name: &str, inner: &str| {
        format!("<body name='{name}'><joint name='{name} j'/><geom size='1'/>{inner}</body>")
    };
    let bodies = body("a", &body("b", &body("c", "")));
    let equal = |one: &str, two: &str, ratio: &str| {
        format!("<joint joint1='{one} j' joint2='{two} j' polycoef='0 {ratio}'/>")
    };
    let equalities = [equal("c", "a", "1"), equal("b", "a", "0.7390851332151607")].concat();
    let text = format!("<worldbody>{bodies}</worldbody><equality>{equalities}</equality>");
    let file = mujoco(&text);
    let aside = [
        "<joint> `equality 2` of <equality>: the ratio of two angles has to be one of whole numbers up to 1000",
    ];
    assert_eq!(file.left_aside, aside);
    let model = file.scene.model().expect("a model");
    let id = model.interaction_id("c j.follows").expect("it follows");
    assert_eq!(model.interaction(id).expect("an interaction").systems.len(), 3);
}

/// What of MuJoCo is not read is named, and where.
#[test]
fn models_of_mujoco_that_are_not_read() {
    let folder = Folder::new();
    let check = |inner: &str, expected: &str| {
        let path = folder.path("m.xml");
        std::fs::write(&path, format!("<mujoco>\n{inner}</mujoco>")).expect("a file");
        let error = read_scene(&path).expect_err("it is wrong").to_string();
        assert!(error.contains(expected), "{error}");
    };
    let body = |inner: &str| format!("<worldbody><body name='b'>{inner}</body></worldbody>");
    let mesh = body("<freejoint/><geom type='mesh' mesh='hand'/>");
    check(&mesh, "line 2, column 39: the geom `hand` is of type `mesh`, which is not read");
    let ball = "<geom size='1'/>";
    let many = format!("{ball}<joint type='slide'/><joint type='ball'/>");
    check(&body(&many), "the body `b` has the joints slide, ball: none of the joints");
    check(&body("<joint/>"), "the body `b` moves and has neither <inertial> nor <geom>");
    check(&body(&format!("{ball}<composite/>")), "<composite> in the body `b` is not read");
    check("<include file='other.xml'/>", "<include> is not read");
    check(&body("<freejoint/><geom class='soft' size='1'/>"), "there is no class `soft`");
    check(&body("<freejoint/><geom type='box' size='1 1'/>"), "needs 3 sizes, found 2");
    let seen = "<geom type='mesh' mesh='hand' contype='0' conaffinity='0'/>";
    check(&body(&format!("<freejoint/>{ball}{seen}")), "the geom `hand` is of type `mesh`");
    check("<option><flag gravity='disable'/></option>", "the flag `gravity` is \"disable\"");
    check(&body(&format!("<joint limited='true'/>{ball}")), "is limited and has no `range`");
    check("<compiler angle='gon'/>", "expected degree or radian");
    check("<option timestep='0'/>", "`timestep` is 0, expected (0, inf)");
    let negative = body("\n<freejoint/><geom size='1' mass='-1'/>");
    check(&negative, "line 3, column 13: `mass` is -1, expected a mass that is not negative");
    let negative = body("\n<freejoint/><geom size='1' density='-1'/>");
    check(&negative, "`density` is -1, expected a density that is not negative");
    let inertial = "<freejoint/>\n<inertial pos='0 0 0' mass='-1' diaginertia='1 1 1'/>";
    check(&body(inertial), "line 3, column 1: body `b`: `mass` is -1, expected a positive number");
    check(&body("<freejoint/><geom size='-1'/>"), "`size` has -1, expected positive numbers");
    check(&body("<freejoint/><geom size='1' friction='-1'/>"), "`friction` has -1");
    check(&body(&format!("<joint range='1 -1'/>{ball}")), "`range` is from 1 to -1");
    let path = folder.path("r.xml");
    std::fs::write(&path, "<robot/>").expect("a file");
    let error = read_scene(&path).expect_err("it is wrong").to_string();
    assert!(error.contains("expected <mujoco>"), "{error}");
}

/// Robots that make no sense, or of which something is not read, are told with the line of the element.
#[test]
fn robots_that_make_no_sense() {
    let folder = Folder::new();
    let read = |inner: &str| {
        let path = folder.path("r.urdf");
        std::fs::write(&path, format!("<robot name='r'>\n<link name='base'/>\n{inner}</robot>"))
            .expect("a file");
        read_scene(&path)
    };
    let inertia = "<inertia ixx='1' iyy='1' izz='1'/>";
    let link = |name: &str, mass: f64| {
        format!(
            "<link name='{name}'>\n<inertial><mass value='{mass}'/>{inertia}</inertial></link>\n"
        )
    };
    let joint = |name: &str, kind: &str, child: &str, inner: &str| {
        format!(
            "<joint name='{name}' type='{kind}'><parent link='base'/><child link='{child}'/>\n{inner}</joint>\n"
        )
    };
    let check = |inner: &[String], expected: &str| {
        let error = read(&inner.concat()).expect_err("it is wrong").to_string();
        assert!(error.contains(expected), "{error}");
    };
    let arm = || link("arm", 1.0);
    let limit = |lower: f64, upper: f64| format!("<limit lower='{lower}' upper='{upper}'/>");

    check(
        &[arm(), joint("j", "revolute", "arm", &limit(1.0, -1.0))],
        "line 6, column 1: `lower` is 1 and `upper` is -1, expected lower < upper",
    );
    check(
        &[arm(), joint("j", "revolute", "arm", "")],
        "line 5, column 1: a revolute joint needs <limit>; one without is `continuous`",
    );
    check(&[arm(), joint("j", "prismatic", "arm", "")], "a prismatic joint needs <limit>");
    let two = [arm(), link("b", 1.0), joint("j", "floating", "arm", "")];
    check(
        &[two.concat(), joint("j", "floating", "b", "")],
        "line 9, column 1: there are two joints named `j`",
    );
    check(
        &two,
        "line 5, column 1: the link `b` is the child of no joint, as `base` is: a robot has one root",
    );
    // what the scene says is told of the element
    let turning = |arm: String| [arm, joint("j", "continuous", "arm", "")];
    check(
        &turning(link("arm", -1.0)),
        "line 4, column 11: body `arm`: `mass` is -1, expected a positive number",
    );
    check(&turning(link("arm", 0.0)), "line 4, column 11: body `arm`: `mass` is 0");
    let ball = "<collision><geometry><sphere radius='-1'/></geometry></collision>";
    check(
        &turning(arm().replace("</link>", &format!("\n{ball}</link>"))),
        "line 5, column 1: body `arm`",
    );
    check(
        &turning(arm().replace("ixx='1'", "ixx='-1'")),
        "line 4, column 28: system `arm`: `inertia`",
    );
    check(
        &[arm(), joint("j", "continuous", "arm", "<axis xyz='0 0 0'/>")],
        "line 6, column 1: interaction `j`: `axis`",
    );
    // the command line says the same
    let error = read_model(&folder.path("r.urdf"), &[]).expect_err("it is wrong").to_string();
    assert!(error.contains("r.urdf`: line 6, column 1: interaction `j`"), "{error}");

    let inner = format!("{}<limits/><calibration/>", limit(0.0, 0.0));
    let file = read(&[arm(), joint("j", "revolute", "arm", &inner)].concat()).expect("a robot");
    let told = [
        "<limits> of the joint `j`, line 6",
        "<calibration> of the joint `j`, line 6",
        "<limit> of the joint `j`: its `lower` and `upper` are both 0, line 6",
    ];
    assert_eq!(file.left_aside, told);
}

#[test]
fn wrong_files_are_told_where() {
    let folder = Folder::new();
    let check = |name: &str, text: &str, expected: &str| {
        let path = folder.path(name);
        std::fs::write(&path, text).expect("a file");
        let error = read_scene(&path).expect_err("it is wrong").to_string();
        assert!(error.contains(expected), "{error}");
    };
    check("a.urdf", "<robot", "cannot read");
    check("b.urdf", "<car/>", "line 1, column 1: expected <robot>");
    check(
        "c.urdf",
        "<robot><link name='a'/>\n<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint></robot>",
        "line 2, column 48: there is no link `b`",
    );
    check(
        "d.urdf",
        "<robot><link name='a'/><link name='b'/><joint name='j' type='revolute'><parent link='a'/><child link='b'/></joint></robot>",
        "the link `b` moves and has no <inertial>",
    );
    check("e.hdf5", "no", "is not an HDF5 file");
    check(
        "f.txt",
        "",
        "expected a model file (.toml), a scene of Siconos (.hdf5), a robot (.urdf) or a model of MuJoCo (.xml, .mjcf)",
    );
    check(
        "g.toml",
        "[simulation]\nh = 1\nuntil = 1\n[[system]]\nname = 's'\nkind = 'first-order-linear'\nx0 = [1]\nA = [[0]]\n",
        "has no [[body]]",
    );
    let missing = read_scene(&folder.path("nothing.toml"));
    assert!(matches!(missing, Err(SceneFileError::Missing { .. })));
}

/// Systems, interactions and events beside a scene are kept, and added again once the scene was changed.
#[test]
fn what_stands_beside_a_scene() {
    const TEXT: &str = r#"
        title = "a spring"
        [parameters]
        k = 50
        [simulation]
        h = 0.001
        until = 1
        [[body]]
        name = "bob"
        shape = { kind = "sphere", radius = 0.1 }
        mass = 2
        position = [0, 0, -1]
        [[system]]
        name = "mass{i}"
        for = "i in 0..2"
        kind = "lagrangian-linear"
        q0 = [0]
        v0 = ["1 + i"]
        M = [[1]]
        [[interaction]]
        name = "spring"
        systems = ["bob"]
        law = "equality"
        [interaction.relation]
        kind = "spring-damper"
        point = [0, 0, -1]
        second_point = [0, 0, 0]
        stiffness = "k"
        [[event]]
        name = "cut"
        at = 0.5
        disconnect = ["spring"]
        set = { "mass0.v" = [0], mass1.v = ["2*mass1.v[0]"] }
    "#;
    let folder = Folder::new();
    let path = folder.path("spring.toml");
    std::fs::write(&path, TEXT).expect("a file");
    let mut file = read_scene(&path).expect("a scene");
    let names = |model: &saltus_model::Model| {
        let systems = model.systems().map(|(name, _)| name.to_owned());
        let interactions = model.interactions().map(|(name, _)| name.to_owned());
        let events = model.events().iter().map(|event| event.name.clone());
        systems.chain(interactions).chain(events).collect::<Vec<_>>()
    };
    let model = scene_model(&file.scene, &file.beside).expect("a model");
    assert_eq!(names(&model), ["mass0", "mass1", "bob", "spring", "cut"]);
    assert_eq!(model.events()[0].actions.len(), 3);

    // the scene changes, they stay
    let mut other = file.scene.bodies[0].clone();
    other.name = "other".to_string();
    other.position = [5.0, 0.0, 0.0];
    file.scene.bodies.push(other);
    let model = scene_model(&file.scene, &file.beside).expect("a model");
    assert_eq!(names(&model), ["mass0", "mass1", "bob", "other", "spring", "cut"]);

    // what does not fit any more is named
    file.scene.bodies.remove(0);
    let error = scene_model(&file.scene, &file.beside).expect_err("the bob is gone").to_string();
    assert!(error.contains("bob") && error.contains("a spring"), "{error}");

    // other tables are none that stand beside a scene
    let error = scene_model(&file.scene, "[scene]\ndim = 2\n").expect_err("a table too many");
    assert!(error.to_string().contains("[[system]], [[interaction]] or [[event]]"), "{error}");

    // the numbers of a scene do not follow its parameters
    let text = TEXT.replace("set = {", "set = { k = 20, ");
    std::fs::write(&path, text).expect("a file");
    let error = read_scene(&path).expect_err("it sets a parameter").to_string();
    assert!(error.contains("has events that set parameters besides its scene"), "{error}");

    // scenes begin at 0
    let text = TEXT.replace("[simulation]\n", "[simulation]\nt0 = -1\n");
    std::fs::write(&path, text).expect("a file");
    let error = read_scene(&path).expect_err("it begins before").to_string();
    assert!(error.contains("has a beginning `t0` other than 0 besides its scene"), "{error}");
}
