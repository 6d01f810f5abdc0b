//! Every word of the vocabulary is understood: files are made from it, and read.

use super::parse;
use saltus_io::model_file::ErrorKind;
use saltus_io::model_file::vocabulary::{Absent, Form, Key, Kind, Section, SectionId, vocabulary};
use saltus_model::ModelError;
use saltus_sim::{NewtonMode, NewtonSettings};
use std::collections::BTreeSet;

/// A value for a key, where everything has `n` components.
fn sample(key: &Key, n: usize) -> String {
    let row = |i: usize| {
        let entries: Vec<&str> = (0..n).map(|j| if i == j { "1" } else { "0" }).collect();
        format!("[{}]", entries.join(", "))
    };
    match (&key.form, &key.absent) {
        (Form::Number | Form::Count | Form::Flag, Absent::Value(default)) => default.to_string(),
        (Form::Number, _) if key.name == "off" => "0".to_owned(), // at most `on`
        (Form::Text, _) => "'t'".to_owned(),
        (Form::Number | Form::Count | Form::Entry | Form::Coefficient(_), _) => "1".to_owned(),
        (Form::Bounds, Absent::Value(default)) => default.to_string(),
        (Form::Vector(_), _) if key.name == "dofs" => format!("{:?}", (0..n).collect::<Vec<_>>()),
        (Form::Vector(_), _) => row(0),
        (Form::Matrix(_), _) => format!("[{}]", (0..n).map(row).collect::<Vec<_>>().join(", ")),
        (Form::Points, _) => "[[0, 1], [1, 0]]".to_owned(),
        (Form::Choice(names), _) => format!("{:?}", names[0]),
        (Form::Signals, _) => "['s']".to_owned(),
        (form, _) => panic!("no sample of {form:?}"),
    }
}

/// The kinds of rigid bodies, joints and contacts: the sizes of their vectors are their own.
const OF_BODIES: [&str; 25] = [
    "rigid-body",
    "rigid-body-2d",
    "ball",
    "pivot",
    "prismatic",
    "cylindrical",
    "universal",
    "planar",
    "fixed",
    "distance",
    "screw",
    "gear",
    "rack",
    "pivot-2d",
    "prismatic-2d",
    "fixed-2d",
    "distance-2d",
    "joint-coordinate",
    "coupler",
    "spring-damper",
    "bushing",
    "point-plane",
    "sphere-sphere",
    "disk-line",
    "disk-disk",
];

/// Whether a kind is for bodies in the plane.
fn is_flat(kind: &Kind) -> bool {
    kind.name.ends_with("-2d") || kind.name.starts_with("disk")
}

fn is_of_bodies(kind: &Kind) -> bool {
    OF_BODIES.contains(&kind.name)
}

/// A value for a key of these.
fn sample_of_bodies(kind: &Kind, key: &Key) -> String {
    let plane = is_flat(kind);
    let pivot = "{ kind = 'pivot', point = [0, 0, 0], axis = [0, 0, 1] }";
    match (key.name.as_str(), &key.form) {
        ("joint" | "second_joint", _) => pivot.to_owned(),
        ("coordinate" | "second_coordinate", _) => match kind.name {
            "prismatic" | "prismatic-2d" => "'way'".to_owned(),
            "ball" => "'swing'".to_owned(),
            "distance" | "distance-2d" => "'length'".to_owned(),
            _ => "'angle'".to_owned(),
        },
        ("limits", _) => "[-1, inf]".to_owned(),
        ("spring", _) => "{ stiffness = 1, damping = 1, rest = 1 }".to_owned(),
        ("motor", _) => "{ kind = 'force', force = 'sin(t)' }".to_owned(),
        ("more", _) if kind.name == "cylindrical" => {
            let drive = "{ kind = 'position', target = 't', stiffness = 1, max_force = 1 }";
            format!("[{{ coordinate = 'way', friction = 1, motor = {drive} }}]")
        }
        ("more", _) => "[]".to_owned(),
        ("stiffness" | "damping", Form::Vector(_)) => "[1, 1, 1, 1, 1, 1]".to_owned(),
        ("orientation", _) => "[1, 0, 0, 0]".to_owned(),
        ("teeth" | "radii", _) => "[1, 2]".to_owned(),
        ("second_point" | "second_center", _) if plane => "[0, 1]".to_owned(),
        ("second_axis" | "second_point" | "second_center", _) => "[0, 1, 0]".to_owned(),
        (_, Form::VectorOrMatrix) => "[1, 1, 1]".to_owned(),
        ("z0", _) => "[1]".to_owned(),
        ("moment", _) if plane => "[1]".to_owned(), // one about z
        (_, Form::Vector(_)) if plane => "[1, 0]".to_owned(),
        (_, Form::Vector(_)) => "[1, 0, 0]".to_owned(),
        _ => sample(key, 1),
    }
}

/// The kind and all its keys.
fn all_keys(kind: &Kind, n: usize) -> Vec<String> {
    let mut lines = vec![format!("kind = {:?}", kind.name)];
    lines.extend(kind.keys.iter().map(|key| {
        let value = if is_of_bodies(kind) { sample_of_bodies(kind, key) } else { sample(key, n) };
        format!("{} = {value}", key.name)
    }));
    lines
}

fn section(id: SectionId) -> &'static Section {
    vocabulary().section(id)
}

#[test]
fn every_kind_is_built() {
    let mut built = BTreeSet::new();
    for n in [1, 2, 3, 5] {
        for system in section(SectionId::System).kinds.iter().filter(|kind| !is_of_bodies(kind)) {
            let relations = section(SectionId::Relation).kinds.iter();
            for relation in relations.filter(|kind| !is_of_bodies(kind)) {
                for law in &section(SectionId::Law).kinds {
                    let text = format!(
                        "[simulation]\nh = 1\nuntil = 1\n[[system]]\nname = 's'\n{}\n[[interaction]]\nname = 'i'\nsystems = ['s']\nrelation = {{ {} }}\nlaw = {{ {} }}\n",
                        all_keys(system, n).join("\n"),
                        all_keys(relation, n).join(", "),
                        all_keys(law, n).join(", "),
                    );
                    match parse(&text) {
                        Ok(_) => {
                            built.insert((system.name, relation.name, law.name));
                        }
                        // kinds that do not go together
                        Err(error) => match *error.kind {
                            ErrorKind::Model(
                                ModelError::Order { .. }
                                | ModelError::LawMismatch { .. }
                                | ModelError::ContactSize { .. },
                            ) => {}
                            _ => panic!("{}", error.report()),
                        },
                    }
                }
            }
        }
    }
    // two systems and two relations of first order with every law but those of contacts; two systems and four
    // relations of mechanics with every law but the switch, but for complementarity on the two that are not compliant,
    // laws of contacts on the two that are, and bonds on the one that is rigid and has no gap
    let laws = section(SectionId::Law).kinds.len();
    assert_eq!(built.len(), 2 * 2 * (laws - 7) + 2 * (4 * (laws - 1) - 2 - 2 * 7 - 2));
}

#[test]
fn every_joint_and_contact_is_built() {
    let kinds = &section(SectionId::System).kinds;
    let [space, plane] = [4, 5].map(|k| {
        let body = all_keys(&kinds[k], 1).join("\n");
        format!("[[system]]\nname = 'a'\n{body}\n[[system]]\nname = 'b'\n{body}\n")
    });
    let mut sizes = Vec::new();
    for relation in section(SectionId::Relation).kinds.iter().filter(|kind| is_of_bodies(kind)) {
        let contacts = ["point-plane", "sphere-sphere", "disk-line", "disk-disk"];
        let contact = contacts.contains(&relation.name);
        let law =
            if contact { "{ kind = 'impact-friction', e = 0, mu = 1 }" } else { "'equality'" };
        let bodies = if is_flat(relation) { &plane } else { &space };
        let text = format!(
            "[simulation]\nh = 1\nuntil = 1\n{bodies}[[interaction]]\nname = 'i'\nsystems = ['a', 'b']\nrelation = {{ {} }}\nlaw = {law}\n",
            all_keys(relation, 1).join(", "),
        );
        let file = parse(&text).unwrap_or_else(|error| panic!("{}", error.report()));
        let mut interactions = file.model.interactions();
        sizes.push(interactions.next().unwrap().1.relation.size());
        let parts: Vec<_> = interactions.map(|(name, _)| name).collect();
        match relation.name {
            "pivot" => {
                assert_eq!(parts, ["i.limit", "i.friction", "i.spring", "i.motor"]);
                assert_eq!(file.model.events().len(), 3);
            }
            "cylindrical" => {
                assert_eq!(parts[3..], ["i.angle_motor", "i.way_friction", "i.way_motor"]);
            }
            _ => {}
        }
    }
    let joints = [3, 5, 5, 4, 4, 3, 6, 1, 5, 1, 1, 2, 2, 3, 1];
    assert_eq!(sizes[..15], joints);
    assert_eq!(sizes[15..], [1, 1, 1, 6, 3, 3, 2, 2]);
}

#[test]
fn newton_is_read() {
    let keys: Vec<String> = (section(SectionId::Newton).keys.iter())
        .map(|key| format!("{} = {}", key.name, sample(key, 1)))
        .collect();
    let with = |newton: &str| {
        let system = &section(SectionId::System).kinds[0];
        let system = all_keys(system, 1).join("\n");
        parse(&format!(
            "[simulation]\nh = 1\nuntil = 1\nnewton = {{ {newton} }}\n[[system]]\nname = 's'\n{system}\n"
        ))
    };
    let all = with(&keys.join(", ")).expect("it is right").simulation.newton;
    assert_eq!(all, NewtonSettings::default());
    let some = with("mode = 'quasi', tol = '10^-6'").expect("it is right").simulation.newton;
    assert_eq!((some.mode, some.tol), (NewtonMode::Quasi, 1e-6));
    let said = |newton| with(newton).expect_err("it is wrong").to_string();
    assert_eq!(
        said("mode = 'quick'"),
        "model.toml:4:19: unknown mode `quick`; expected one of `full`, `quasi`, `linear`"
    );
    assert_eq!(said("tol = 2"), "model.toml:4:12: `tol` is 2, expected (0, 0.1]");
}

#[test]
fn every_setting_is_read() {
    for id in [SectionId::Integrator, SectionId::Solver] {
        for kind in &section(id).kinds {
            for system in &section(SectionId::System).kinds {
                let text = format!(
                    "[simulation]\nh = 1\nuntil = 1\n{} = {{ {} }}\n[[system]]\nname = 's'\n{}\n",
                    section(id).name,
                    all_keys(kind, 1).join(", "),
                    all_keys(system, 1).join("\n"),
                );
                match parse(&text).map_err(|error| error.kind) {
                    Ok(file) if id == SectionId::Solver => {
                        assert_eq!(file.simulation.solver.name(), kind.name);
                    }
                    Ok(file) => assert_eq!(file.simulation.integrators[0].name(), kind.name),
                    Err(kind) => assert!(matches!(*kind, ErrorKind::Integrator { .. }), "{kind}"),
                }
            }
        }
    }
}

#[test]
fn everything_is_explained() {
    for section in vocabulary().sections() {
        assert!(!section.doc.is_empty());
        for kind in section.kinds.iter().map(Some).chain([None]) {
            for key in section.keys_with(kind) {
                assert!(!key.doc.is_empty(), "{}.{}", section.name, key.name);
            }
        }
    }
}
