//! Scenes of other programs, and scenes for ParaView.

use crate::{Folder, Said};
use std::path::Path;

fn data(name: &str) -> String {
    format!("{}/../../testdata/scenes/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Looks into a scene of another program, runs it and exports it; what the summary says.
#[track_caller]
fn check(folder: &Folder, file: &str, until: &str) -> serde_json::Value {
    let info = folder.saltus(&["info", file]).done();
    assert!(info.out.contains("time-stepping"), "{info:?}");
    let info: serde_json::Value =
        serde_json::from_str(&folder.saltus(&["info", file, "--json"]).done().out).unwrap();
    assert_eq!(info["kind"], "model");
    let args = ["run", file, "-o", "run.h5", "--until", until, "--no-plot", "--json"];
    let said = folder.saltus(&args).done();
    let summary: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&summary["complete"], &summary["failures"]), (&true.into(), &0.into()));
    check_vtk(folder, &folder.saltus(&["export", "run.h5", "--to", "vtk", "-o", "vtk"]).done());
    info
}

/// A collection that was named and whose files are there.
#[track_caller]
fn check_vtk(folder: &Folder, said: &Said) {
    assert_eq!(said.out, "vtk/bodies.pvd\n");
    for name in ["bodies", "contacts", "chains"] {
        let collection = folder.path().join(format!("vtk/{name}.pvd"));
        if name != "bodies" && !collection.exists() {
            continue; // nothing can touch
        }
        let text = std::fs::read_to_string(collection).unwrap();
        let files: Vec<&str> =
            text.split("file=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(files.len() > 1, "{text}");
        for file in files {
            assert!(folder.path().join("vtk").join(file).exists(), "{file}");
        }
    }
}

fn names(info: &serde_json::Value, of: &str) -> Vec<String> {
    let all = info[of].as_array().unwrap().iter();
    all.map(|one| one["name"].as_str().unwrap().to_string()).collect()
}

#[test]
fn a_scene_of_siconos() {
    let folder = Folder::new();
    let info = check(&folder, &data("siconos-scene.hdf5"), "0.05");
    assert_eq!(names(&info, "systems"), ["ball", "cube", "bar"]);
    // the ball falls: z = z₀ − g t²/2 before it touches
    let said = folder.saltus(&["info", "run.h5"]).done();
    assert!(said.out.contains("ball.position"), "{said:?}");
}

#[test]
fn a_robot() {
    let folder = Folder::new();
    let info = check(&folder, &data("arm.urdf"), "0.02");
    assert_eq!(names(&info, "systems"), ["upper", "fore"]);
    assert!(names(&info, "interactions").contains(&"shoulder".to_string()), "{info}");
    let said = folder.saltus(&["info", &data("arm.urdf")]).done();
    assert!(said.out.starts_with("two links (scene)\n"), "{said:?}");
    assert!(said.err.contains("left aside: <transmission> `drive`"), "{said:?}");
}

#[test]
fn a_model_of_mujoco() {
    let folder = Folder::new();
    let info = check(&folder, &data("machine.xml"), "0.01");
    assert!(names(&info, "systems").contains(&"crank".to_string()), "{info}");
}

/// A ball that falls freely, with and without files of its own.
const FALL: &str = r#"
[simulation]
h = 1e-2
until = 0.05
[scene]
gravity = [0, 0, -10]
[[static]]
name = "lift"
shape = { kind = "box", size = [1, 1, 1] }
drive = { position = [0, 0, "t"] }
[[body]]
name = "part"
shape = { kind = "triangle-mesh", file = "part.obj" }
mass = 1
inertia = [1, 1, 1]
center = [0, 0, 0]
position = [0, 0, 9]
"#;
const PART: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

/// The smallest z of the points of a file.
fn lowest(file: &Path) -> f64 {
    let text = std::fs::read_to_string(file).unwrap();
    let points = text.split("<Points>").nth(1).unwrap().split("</Points>").next().unwrap();
    let numbers = points.split('>').nth(1).unwrap().split('<').next().unwrap();
    let numbers: Vec<f64> = numbers.split_whitespace().map(|x| x.parse().unwrap()).collect();
    numbers.chunks_exact(3).map(|point| point[2]).fold(f64::INFINITY, f64::min)
}

#[test]
fn a_run_is_exported_from_another_folder() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("mill")).unwrap();
    folder.write("mill/fall.toml", FALL);
    folder.write("mill/part.obj", PART);
    folder.saltus(&["run", "mill/fall.toml", "-o", "run.h5", "--no-plot", "--quiet"]).done();
    let export = ["export", "run.h5", "--to", "vtk", "-o", "vtk"];
    check_vtk(&folder, &folder.saltus(&export).done());
    // the lift has moved up by 0.05, its lower side from −0.5
    let found = lowest(&folder.path().join("vtk/bodies/000005.vtp"));
    assert!((found + 0.45).abs() < 1e-12, "{found}");

    std::fs::rename(folder.path().join("mill"), folder.path().join("mill2")).unwrap();
    let said = folder.saltus(&export);
    assert_eq!(said.status, 2, "{said:?}");
    for words in ["has a mesh in the file `part.obj`", "mill/part.obj`", "--folder DIR"] {
        assert!(said.err.contains(words), "{said:?}");
    }
    folder.saltus(&[&export[..], &["--folder", "mill2"]].concat()).done();
    let said = folder.saltus(&["export", "run.h5", "--to", "csv", "--folder", "mill2"]);
    assert_eq!(said.status, 2, "{said:?}");
    assert!(said.err.contains("--folder is for `vtk`"), "{said:?}");
}
