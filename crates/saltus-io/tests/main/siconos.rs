//! Scenes of Siconos: what each of their members becomes, and a whole scene against its own run.

use crate::sample::Folder;
use saltus_io::scene_file::{SceneFile, SceneFileError, read_model, read_scene};
use saltus_mechanics::{AnyJoint, BodySpec, Coordinate, Follows, Joint, Scene, Shape};
use saltus_sim::{Integrator, MoreauJean, TimeStepping};
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/scenes").join(name)
}

fn scene(name: &str) -> SceneFile {
    read_scene(&data(name)).expect("a scene")
}

fn body<'a>(scene: &'a Scene, name: &str) -> &'a BodySpec {
    scene.bodies.iter().find(|body| body.name == name).expect("a body")
}

/// Positions of all bodies at the tenths of the first second, with steps of `h`.
fn positions(scene: &Scene, h: f64) -> BTreeMap<(usize, String), [f64; 3]> {
    let model = scene.model().expect("a model");
    let integrator = MoreauJean::default();
    let mut sim = TimeStepping::new(model, h, [integrator.into()]).expect("a simulation");
    let mut found = BTreeMap::new();
    for tenth in 1..=10 {
        sim.run(0.1 * tenth as f64).expect("steps");
        for body in &scene.bodies {
            let id = sim.model().system_id(&body.name).expect("a system");
            let q = sim.q(id).expect("a state");
            found.insert((tenth, body.name.clone()), [q[0], q[1], q[2]]);
        }
    }
    found
}

/// Bodies, contacts, friction and a joint in one scene, here and in Siconos, both with steps of `h` and of
/// `h/2`. Both are of the first order where bodies hit and slide: the error of a run with `h/2` is about its distance from that with `h`,
/// and twice that the error of the latter. They are no further apart than their errors together, besides 0.1 mm of where
/// shapes touch, and closer with the half step.
#[test]
fn a_whole_scene_beside_siconos() {
    let file = scene("siconos-whole.hdf5");
    let told = "/data/ref/Rod: half of the length 2 of a `Capsule`, with which contacts of Siconos do not count";
    assert_eq!(file.left_aside, [told]);
    let text = std::fs::read_to_string(data("siconos-whole.csv")).expect("a table");
    let mut theirs: BTreeMap<(String, usize, String), [f64; 3]> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let words: Vec<&str> = line.split(',').collect();
        let number = |k: usize| -> f64 { words[k].parse().expect("a number") };
        let tenth = (10.0 * number(1)).round() as usize;
        let key = (words[0].to_string(), tenth, words[2].to_string());
        theirs.insert(key, [number(3), number(4), number(5)]);
    }
    assert_eq!(theirs.len(), 120);
    let ours = [1e-3, 5e-4].map(|h| positions(&file.scene, h));
    let theirs = ["0.001", "0.0005"].map(|h| {
        let of = |(tenth, name): &(usize, String)| theirs[&(h.to_string(), *tenth, name.clone())];
        ours[0].keys().map(|key| (key.clone(), of(key))).collect::<BTreeMap<_, _>>()
    });
    // the largest distance of a body
    type Positions = BTreeMap<(usize, String), [f64; 3]>;
    let apart = |a: &Positions, b: &Positions, name: &str| {
        let own = a.iter().zip(b.values()).filter(|((key, _), _)| key.1 == name);
        let far = own.flat_map(|((_, a), b)| (0..3).map(move |k| (a[k] - b[k]).abs()));
        far.fold(0.0, f64::max)
    };
    for body in &file.scene.bodies {
        let name = &body.name;
        let error = apart(&ours[0], &ours[1], name) + apart(&theirs[0], &theirs[1], name);
        let [whole, half] = [0, 1].map(|k| apart(&ours[k], &theirs[k], name));
        assert!(whole <= 2.0 * error + 1e-4, "{name}: {whole}, errors {error}");
        assert!(half <= error + 1e-4, "{name}: {half}, errors {error}");
        assert!(half < whole, "{name}: {whole} and {half}");
    }
}

/// Groups, laws, births and shapes.
#[test]
fn members_of_a_scene() {
    let SceneFile { scene, simulation, .. } = scene("siconos-parts.hdf5");
    let simulation = simulation.expect("a simulation");
    assert_eq!((simulation.h, simulation.until, simulation.output.every), (1e-3, 2.0, 10));
    assert!(matches!(&simulation.integrators[0], Integrator::MoreauJean(one) if one.theta == 0.5));
    assert_eq!(scene.gravity, [0.0, 0.0, -9.80665 / 2.0]);
    let shape = |name: &str| &body(&scene, name).parts[0].shape;
    assert_eq!(*shape("rod"), Shape::Capsule { radius: 0.05_f32.into(), length: 1.0 });
    assert_eq!(*shape("drum"), Shape::Cylinder { radius: 0.25, length: 0.5 });
    assert_eq!(*shape("hat"), Shape::Cone { radius: 0.25, height: 0.5 });
    // rows go along x there
    let heights = vec![vec![0.0, 3.0], vec![1.0, 4.0], vec![2.0, 5.0]];
    let hill = scene.statics.iter().find(|one| one.name == "hill").expect("a hill");
    assert_eq!(hill.parts[0].shape, Shape::HeightField { heights, size: [4.0, 2.0] });
    let floor = Shape::Plane { normal: [0.0, 0.0, 1.0], offset: 0.0 };
    assert_eq!(scene.statics[0].parts[0].shape, floor);
    let Shape::TriangleMesh { points, triangles } = shape("rock") else { panic!("a mesh") };
    assert_eq!((points[1], triangles.len()), ([0.5, 0.0, 0.0], 4));
    assert!(matches!(shape("block"), Shape::ConvexHull { points } if points.len() == 4));
    let ball = body(&scene, "ball");
    assert_eq!((ball.birth, ball.death), (Some(0.25), Some(0.75)));
    let drum = body(&scene, "drum");
    let seen = drum.parts.iter().find(|part| !part.touch).expect("what is only drawn");
    assert_eq!((seen.material.clone(), &seen.shape), (None, &Shape::Sphere { radius: 0.25 }));
    let law = |a: &str, b: &str| {
        let pair = scene.contacts.iter().find(|one| one.materials == [a, b]).expect("a law");
        (pair.e, pair.mu, pair.mu_r, pair.et, pair.touch)
    };
    assert_eq!(law("group0", "group1"), (0.5, Some(0.25), None, 0.0, true));
    assert_eq!(law("group1", "group1"), (0.0, Some(0.5), Some(0.125), 0.0, true));
    // Frémond's law at θ = 1/2
    assert_eq!(law("group0", "group0"), (0.25, Some(0.5), None, 1.0, true));
    assert!(!law("default", "default").4);
    scene.model().expect("a model");
}

/// Stops the other way round, friction as a force, a screw, a joint that follows, given velocities.
#[test]
fn joints_of_a_scene() {
    let SceneFile { scene, .. } = scene("siconos-parts.hdf5");
    let joint = |name: &str| scene.joints.iter().find(|one| one.name == name).expect("a joint");
    let slide = &joint("slide of rod").fittings[0];
    let limits = slide.limits.expect("limits");
    // its coordinate is minus ours: at most 1/2 there, at least −1/2 here
    assert_eq!((limits.lower, limits.upper, limits.e), (-0.5, 0.25, 0.75));
    assert_eq!(slide.coordinate, Coordinate::Way);
    // an impulse of 1/4 in steps of 1 ms
    assert_eq!(slide.friction.map(|one| one.force), Some(250.0));
    assert!(joint("slide of drum").fittings.is_empty());
    let follows = Follows { joint: "slide of rod".to_string(), ratio: 2.0 };
    assert_eq!(joint("slide of drum").follows, Some(follows));
    assert!(scene.apart.contains(&["rod".to_string(), "drum".to_string()]));
    let (point, axis) = ([3.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
    let screw = AnyJoint::Space(Joint::Screw { point, axis, pitch: TAU / 4.0 });
    assert_eq!(joint("screw").joint, screw);
    assert_eq!(joint("pin").bodies, ["rock", "block"]);
    let flat = Joint::Planar { point: [7.0, 0.0, 1.0], normal: [0.0, 1.0, 0.0] };
    assert_eq!(joint("upright").joint, AnyJoint::Space(flat));
    // v = 1/2 + 2 cos 4t of what is told how to move
    let table = scene.statics.iter().find(|one| one.name == "table").expect("a table");
    let drive = table.drive.as_ref().expect("a drive");
    let saltus_mechanics::Given::Formulas(position) = drive.position.as_ref().expect("a way")
    else {
        panic!("formulas")
    };
    let z = "(1.0) + (0.5)*t + (0.5)*(sin((4.0)*t + (0.0)) - (0.0))";
    assert_eq!(position[2], z);
    // as the text of a model file, too
    read_model(&data("siconos-parts.hdf5"), &[]).expect("a model file");
}

#[test]
fn what_of_a_scene_is_told() {
    let told = scene("siconos-parts.hdf5").left_aside;
    let expected = [
        "/data/siconos_mechanics_run_options: the option `set_external_forces`",
        "/data/input/floor: `time_of_death` 3 of what stands still",
        "/data/ref/Rod: half of the length 2",
        "/data/ref/Hat: half of the length 1",
        "/data/ref/Blob: the primitive `Torus`; contactors with it TOUCH NOTHING",
        "/data/nslaws/glue: a law of type `BinaryCohesiveNSL`, so groups 2 and 0 PASS THROUGH EACH OTHER",
        "/data/joints/pin: a stop of coordinate 0",
        "/data/joints/slide of drum: `friction` between 0 and 0.25",
        "/data/boundary_conditions/push: the velocities [0] of `pushed`, which MOVES FREELY",
    ];
    for one in expected {
        assert!(told.iter().any(|told| told.starts_with(one)), "{one}: {told:#?}");
    }
    assert_eq!(told.len(), expected.len(), "{told:#?}");
}

#[test]
fn a_scene_in_the_plane() {
    let SceneFile { scene, left_aside, .. } = scene("siconos-plane.hdf5");
    assert_eq!(
        left_aside,
        ["/data/ref/Ring: the primitive `Circle`; contactors with it TOUCH NOTHING"]
    );
    assert_eq!(scene.gravity, [0.0, -9.80665, 0.0]);
    let shape = |name: &str| body(&scene, name).parts[0].shape.clone();
    assert_eq!(shape("coin"), Shape::Disk { radius: 0.25 });
    let card = vec![[-0.5, -0.25], [0.5, -0.25], [0.5, 0.25], [-0.5, 0.25]];
    assert_eq!(shape("card"), Shape::Polygon { points: card });
    let wedge = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]];
    assert_eq!(shape("wedge"), Shape::Polygon { points: wedge });
    let fixed = |k: usize| scene.statics[k].parts[0].shape.clone();
    // 2 y + 4 = 0, below the bodies
    assert_eq!(fixed(0), Shape::Plane { normal: [0.0, 1.0, 0.0], offset: -2.0 });
    assert_eq!(fixed(1), Shape::Segment { from: [3.0, 0.0], to: [3.0, 1.0] });
    let coin = body(&scene, "coin");
    assert_eq!((coin.angle, coin.v, coin.omega), (0.5, [1.0, 2.0, 0.0], [0.0, 0.0, 3.0]));
    assert_eq!((scene.contacts[0].mu, scene.contacts[0].mu_r), (Some(0.5), Some(0.125)));
    scene.model().expect("a model");
}

/// A scene with some of its bytes changed.
fn changed(from: &[u8], to: &[u8]) -> Result<SceneFile, SceneFileError> {
    let mut bytes = std::fs::read(data("siconos-parts.hdf5")).expect("a file");
    let mut found = 0;
    while let Some(at) = bytes.windows(from.len()).position(|window| window == from) {
        bytes[at..at + to.len()].copy_from_slice(to);
        found += 1;
    }
    assert!(found > 0, "{from:?}");
    let folder = Folder::new();
    let path = folder.path("changed.hdf5");
    std::fs::write(&path, bytes).expect("a file");
    read_scene(&path)
}

#[test]
fn wrong_scenes_are_told_where() {
    let check = |from: &[u8], to: &[u8], expected: &str| {
        let error = changed(from, to).expect_err("it is wrong");
        assert!(matches!(error, SceneFileError::Content { .. }), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
    };
    let nan = f64::NAN.to_le_bytes();
    check(&0.125_f64.to_le_bytes(), &nan, "has NaN, expected finite numbers");
    check(b"Cone", b"Disk", "/data/ref/Hat: `Disk` has 2 parameters, expected 1");
}

/// A file that ends too early is an error, wherever it ends.
#[test]
fn cut_scenes_are_errors() {
    let bytes = std::fs::read(data("siconos-parts.hdf5")).expect("a file");
    let folder = Folder::new();
    let path = folder.path("cut.hdf5");
    for part in 0..40 {
        std::fs::write(&path, &bytes[..bytes.len() * part / 40]).expect("a file");
        if let Ok(file) = read_scene(&path) {
            // what is missing was not needed
            assert_eq!(file.scene.bodies.len(), 8, "{part}");
        }
    }
}
