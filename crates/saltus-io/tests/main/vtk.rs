//! Scenes for ParaView: what is written is well-formed, and has as many numbers as it says.

use crate::sample::Folder;
use roxmltree::{Document, Node};
use saltus_io::ModelFile;
use saltus_io::export::{NoInstants, VtkError, scene_of_run, write_scene, write_vtk};
use saltus_sim::{Run, TimeStepping};
use std::path::Path;

const SCENE: &str = r#"
[simulation]
h = 1e-2
until = 0.1
[scene]
gravity = [0, 0, -9.81]
[[contact]]
materials = ["default", "default"]
mu = 0.5
[[static]]
name = "ground"
shape = { kind = "plane" }
[[body]]
name = "box"
shape = { kind = "box", size = [1, 1, 1] }
mass = 2
position = [0, 0, 0.5]
[[body]]
name = "ball"
shape = { kind = "sphere", radius = 0.25 }
mass = 1
position = [0, 0, 1.25]
"#;

fn numbers(node: Node) -> Vec<f64> {
    let text = node.text().unwrap_or_default();
    text.split_whitespace().map(|word| word.parse().expect("a number")).collect()
}

fn count(node: Node, name: &str) -> usize {
    node.attribute(name).expect(name).parse().expect("a number")
}

/// The arrays of a file by name, whose lengths are what the file says.
fn check(path: &Path) -> Vec<(String, Vec<f64>)> {
    let text = std::fs::read_to_string(path).expect("a file");
    let document = Document::parse(&text).expect("XML");
    let piece = document.descendants().find(|node| node.has_tag_name("Piece")).expect("a piece");
    let points = count(piece, "NumberOfPoints");
    let mut arrays = Vec::new();
    for (tag, cells) in
        [("Verts", "NumberOfVerts"), ("Lines", "NumberOfLines"), ("Polys", "NumberOfPolys")]
    {
        let node = piece.children().find(|node| node.has_tag_name(tag)).expect(tag);
        let data: Vec<Node> = node.children().filter(|node| node.is_element()).collect();
        let (corners, ends) = (numbers(data[0]), numbers(data[1]));
        assert_eq!(ends.len(), count(piece, cells), "{tag}");
        assert_eq!(ends.last().copied().unwrap_or(0.0), corners.len() as f64, "{tag}");
        assert!(corners.iter().all(|corner| *corner < points as f64), "{tag}");
    }
    for tag in ["PointData", "Points"] {
        let node = piece.children().find(|node| node.has_tag_name(tag)).expect(tag);
        for array in node.children().filter(|node| node.is_element()) {
            let values = numbers(array);
            assert_eq!(values.len(), points * count(array, "NumberOfComponents"));
            arrays.push((array.attribute("Name").expect("a name").to_string(), values));
        }
    }
    arrays
}

#[test]
fn bodies_contacts_and_chains() {
    let file = ModelFile::parse(SCENE, "scene.toml", &[]).expect("a scene");
    let settings = file.simulation.clone();
    let mut sim = TimeStepping::with_methods(
        file.model,
        settings.h,
        settings.integrators,
        &settings.solver,
        settings.newton,
    )
    .expect("a simulation");
    let run = sim.run(settings.until).expect("a run");
    let folder = Folder::new();
    let at = folder.path("scene");
    write_vtk(&run, Some(SCENE), 1, &at).expect("it is written");

    for name in ["bodies", "contacts", "chains"] {
        let text = std::fs::read_to_string(at.join(format!("{name}.pvd"))).expect("a collection");
        let document = Document::parse(&text).expect("XML");
        let entries: Vec<Node> =
            document.descendants().filter(|node| node.has_tag_name("DataSet")).collect();
        assert_eq!(entries.len(), run.frames.len());
        for (entry, time) in entries.iter().zip(&run.frames.time) {
            let written: f64 =
                entry.attribute("timestep").and_then(|t| t.parse().ok()).expect("a time");
            assert_eq!(written, *time);
            check(&at.join(entry.attribute("file").expect("a file")));
        }
    }
    // what the ground bears is the weight of both
    let contacts = check(&at.join("contacts/000005.vtp"));
    let find = |name: &str| &contacts.iter().find(|(found, _)| found == name).expect(name).1;
    let (force, second) = (find("force"), find("second"));
    let first = find("first");
    let up: f64 = (0..second.len())
        .map(|k| match (first[k] == 0.0, second[k] == 0.0) {
            (_, true) => force[3 * k + 2],
            (true, _) => -force[3 * k + 2],
            _ => 0.0,
        })
        .sum();
    assert!((up - 3.0 * 9.81).abs() < 1e-6, "{up}");
    assert!(matches!(write_vtk(&run, None, 1, &at), Err(VtkError::NoText)));
    assert!(matches!(write_vtk(&run, Some(SCENE), 0, &at), Err(VtkError::Every(NoInstants))));
    // thinner, with the forces of the steps that are left
    let thin = folder.path("thin");
    write_vtk(&run, Some(SCENE), 5, &thin).expect("it is written");
    let last = run.frames.len() - 1;
    let kept: Vec<usize> = (0..=last).filter(|k| k % 5 == 0 || *k == last).collect();
    for name in ["bodies", "contacts", "chains"] {
        assert_eq!(std::fs::read_dir(thin.join(name)).expect("a folder").count(), kept.len());
        let collection = std::fs::read_to_string(thin.join(format!("{name}.pvd"))).expect("one");
        assert_eq!(collection.matches("<DataSet").count(), kept.len());
        for (new, old) in kept.iter().enumerate() {
            let read = |at: &Path, k: usize| {
                std::fs::read(at.join(format!("{name}/{k:06}.vtp"))).expect("a file")
            };
            assert_eq!(read(&thin, new), read(&at, *old), "{name} {old}");
        }
    }
}

/// A shorter export over a longer one leaves none of its instants behind, and nothing else is touched.
#[test]
fn a_shorter_export_over_a_longer_one() {
    let file = ModelFile::parse(SCENE, "scene.toml", &[]).expect("a scene");
    let (run, text) = run_of(file);
    let folder = Folder::new();
    let at = folder.path("scene");
    let files = |name: &str| {
        let entries = std::fs::read_dir(at.join(name)).expect("a folder");
        let names = entries.map(|entry| entry.expect("a file").file_name().into_string());
        let mut names: Vec<String> = names.map(|name| name.expect("a name")).collect();
        names.sort();
        names
    };
    let numbered = |count: usize| (0..count).map(|k| format!("{k:06}.vtp")).collect::<Vec<_>>();
    write_vtk(&run, Some(&text), 1, &at).expect("it is written");
    assert_eq!(files("contacts"), numbered(run.frames.len()));
    // what a collection does not name is of somebody else
    for other in ["bodies/notes.txt", "bodies/000900.vtp", "contacts.txt"] {
        std::fs::write(at.join(other), "other").expect("a file");
    }
    write_vtk(&run, Some(&text), 5, &at).expect("it is written");
    let kept =
        run.frames.len().div_ceil(5) + usize::from(!(run.frames.len() - 1).is_multiple_of(5));
    assert_eq!(files("contacts"), numbered(kept));
    assert_eq!(files("chains"), numbered(kept));
    let mut bodies = numbered(kept);
    bodies.extend(["000900.vtp".to_string(), "notes.txt".to_string()]);
    assert_eq!(files("bodies"), bodies);
    assert!(at.join("contacts.txt").exists());
    // a collection of somebody else is written anew, and its files stay
    std::fs::write(at.join("chains.pvd"), "<VTKFile type=\"Collection\"/>").expect("a file");
    write_vtk(&run, Some(&text), 1000, &at).expect("it is written");
    assert_eq!((files("contacts"), files("chains")), (numbered(2), numbered(kept)));
    // a run that has found no contacts has no collections of them
    let mut still = run.clone();
    still.layout.sides.clear();
    write_vtk(&still, Some(&text), 1, &at).expect("it is written");
    assert!(!at.join("contacts.pvd").exists() && files("contacts").is_empty());
}

/// The run of a text, and that text.
fn run_of(file: ModelFile) -> (Run, String) {
    let (settings, text) = (file.simulation.clone(), file.text_with(&[]));
    let mut sim = TimeStepping::with_methods(
        file.model,
        settings.h,
        settings.integrators,
        &settings.solver,
        settings.newton,
    )
    .expect("a simulation");
    (sim.run(settings.until).expect("a run"), text)
}

/// The points of each body at a recorded instant, by the number of their owner.
fn drawn(folder: &Path, instant: usize, owner: usize) -> Vec<[f64; 3]> {
    let arrays = check(&folder.join(format!("bodies/{instant:06}.vtp")));
    let find = |name: &str| &arrays.iter().find(|(found, _)| found == name).expect(name).1;
    let (points, owners) = (find("Points"), find("body"));
    let own = points.chunks_exact(3).zip(owners).filter(|(_, k)| **k == owner as f64);
    own.map(|(point, _)| [point[0], point[1], point[2]]).collect()
}

/// A table that is shaken along z and turned about z, whose first turn is a quaternion of length 2: a
/// corner `X₀` is at `x(t) + R(ω t) R₀ X₀`.
#[test]
fn what_is_driven_moves_as_it_is_told() {
    const SHAKEN: &str = r#"
[simulation]
h = 1e-2
until = 0.2
[[static]]
name = "table"
shape = { kind = "box", size = [2, 2, 2], orientation = [3, 0, 0, 0] }
position = [9, 9, 9]
orientation = [0, 2, 0, 0]
drive = { position = ["0.5*t", 0, "0.1*sin(20*t)"], omega = [0, 0, 3] }
[[static]]
name = "post"
shape = { kind = "box", size = [2, 2, 2] }
position = [5, 0, 0]
orientation = [0.5, 0, 0, 0]
[[body]]
name = "ball"
shape = { kind = "sphere", radius = 0.25 }
mass = 1
"#;
    let (run, text) = run_of(ModelFile::parse(SHAKEN, "scene.toml", &[]).expect("a scene"));
    let folder = Folder::new();
    write_vtk(&run, Some(&text), 1, folder.as_ref()).expect("it is written");
    let corners = [-1.0, 1.0].iter().flat_map(|x| {
        [-1.0, 1.0].iter().flat_map(move |y| [-1.0, 1.0].iter().map(move |z| [*x, *y, *z]))
    });
    let corners: Vec<[f64; 3]> = corners.collect();
    let near = |found: &[[f64; 3]], x: [f64; 3]| {
        let off = |p: &[f64; 3]| (0..3).map(|k| (p[k] - x[k]).abs()).fold(0.0, f64::max);
        found.iter().map(off).fold(f64::INFINITY, f64::min)
    };
    for (k, &t) in run.frames.time.iter().enumerate() {
        let (found, post) = (drawn(folder.as_ref(), k, 0), drawn(folder.as_ref(), k, 1));
        assert_eq!((found.len(), post.len()), (8, 8));
        let (sin, cos) = (3.0 * t).sin_cos();
        for &[x, y, z] in &corners {
            let [x0, y0, z0] = [x, -y, -z]; // half a turn about x
            let moved =
                [0.5 * t + cos * x0 - sin * y0, sin * x0 + cos * y0, 0.1 * (20.0 * t).sin() + z0];
            assert!(near(&found, moved) < 1e-14, "t = {t}");
            assert!(near(&post, [5.0 + x, y, z]) < 1e-14, "t = {t}");
        }
    }
}

/// Bodies are drawn from birth to death, and not at the instant of death.
#[test]
fn what_is_not_there_is_not_drawn() {
    const SHORT: &str = r#"
[simulation]
h = 0.125
until = 1
[[body]]
name = "always"
shape = { kind = "sphere", radius = 0.25 }
mass = 1
[[body]]
name = "mayfly"
shape = { kind = "box", size = [1, 1, 1] }
mass = 1
position = [3, 0, 0]
birth = 0.25
death = 0.75
"#;
    let (run, text) = run_of(ModelFile::parse(SHORT, "scene.toml", &[]).expect("a scene"));
    let folder = Folder::new();
    write_vtk(&run, Some(&text), 1, folder.as_ref()).expect("it is written");
    for (k, &t) in run.frames.time.iter().enumerate() {
        assert!(!drawn(folder.as_ref(), k, 0).is_empty());
        let is_there = (0.25..0.75).contains(&t);
        assert_eq!(drawn(folder.as_ref(), k, 1).len(), if is_there { 8 } else { 0 }, "t = {t}");
    }
}

/// A run knows where the meshes of its model were; without them the error says where they were looked for.
#[test]
fn meshes_of_a_run_are_found_from_anywhere() {
    const MESHED: &str = r#"
[simulation]
h = 1e-2
until = 0.02
[[body]]
name = "part"
shape = { kind = "triangle-mesh", file = "part.obj" }
mass = 1
inertia = [1, 1, 1]
center = [0, 0, 0]
"#;
    const PART: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    let folder = Folder::new();
    let model = folder.path("model");
    std::fs::create_dir(&model).expect("a folder");
    std::fs::write(model.join("part.obj"), PART).expect("a file");
    let name = model.join("scene.toml");
    let file = ModelFile::parse(MESHED, &name.display().to_string(), &[]).expect("a scene");
    assert_eq!(file.files, [model.join("part.obj")]);
    let (run, text) = run_of(file);
    assert_eq!(text, format!("# folder {}\n{MESHED}", model.display()));
    write_vtk(&run, Some(&text), 1, &folder.path("vtk")).expect("it is written");
    assert_eq!(drawn(&folder.path("vtk"), 0, 0).len(), 4);

    // the model is gone, and found again
    let moved = folder.path("moved");
    std::fs::rename(&model, &moved).expect("it is moved");
    let beside = folder.path("");
    match scene_of_run(Some(&text), None, Some(&beside)) {
        Err(VtkError::NoMesh { file, tried }) => {
            let places = [model.join("part.obj"), beside.join("part.obj"), "part.obj".into()];
            assert_eq!((file.as_str(), tried), ("part.obj", places.to_vec()));
        }
        other => panic!("{other:?}"),
    }
    let scene = scene_of_run(Some(&text), Some(&moved), None).expect("the scene");
    write_scene(&run, &scene, 1, &folder.path("vtk")).expect("it is written");
    scene_of_run(Some(&text), None, Some(&moved)).expect("beside the run");
}
