//! Scenes of other programs: what becomes of them, and what is left aside.

use crate::sample::Folder;
use saltus_io::scene_file::{SceneFileError, read_scene};
use saltus_mechanics::{AnyJoint, Coordinate, Joint, Shape};
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
    let aside = ["<transmission> `drive`", "<mimic> of the joint `elbow`"];
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
    scene.model().expect("a model");
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
        "expected a model file (.toml), a scene of Siconos (.hdf5) or a robot (.urdf)",
    );
    check(
        "g.toml",
        "[simulation]\nh = 1\nuntil = 1\n[[system]]\nname = 's'\nkind = 'first-order-linear'\nx0 = [1]\nA = [[0]]\n",
        "has no [[body]]",
    );
    let missing = read_scene(&folder.path("nothing.toml"));
    assert!(matches!(missing, Err(SceneFileError::Missing { .. })));
}
