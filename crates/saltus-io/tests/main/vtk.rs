//! Scenes for ParaView: what is written is well-formed, and has as many numbers as it says.

use crate::sample::Folder;
use roxmltree::{Document, Node};
use saltus_io::ModelFile;
use saltus_io::export::{VtkError, write_vtk};
use saltus_sim::TimeStepping;
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
    write_vtk(&run, Some(SCENE), &at).expect("it is written");

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
    assert!(matches!(write_vtk(&run, None, &at), Err(VtkError::NoScene)));
}
