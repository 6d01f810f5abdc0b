//! Every word of the vocabulary is understood: files are made from it, and read.

use super::parse;
use saltus_io::model_file::ErrorKind;
use saltus_io::model_file::vocabulary::{Absent, Form, Key, Kind, Section, SectionId, vocabulary};
use saltus_model::ModelError;

/// A value for a key, where everything has one component.
fn sample(key: &Key) -> String {
    match (&key.form, &key.absent) {
        (Form::Number | Form::Count | Form::Flag, Absent::Value(default)) => default.to_string(),
        (Form::Number | Form::Count | Form::Entry, _) => "1".to_owned(),
        (Form::Bounds, Absent::Value(default)) => default.to_string(),
        (Form::Vector { .. }, _) => "[1]".to_owned(),
        (Form::Matrix { .. }, _) => "[[1]]".to_owned(),
        (Form::Choice(words), _) => format!("{:?}", words[0]),
        (Form::Signals, _) => "['s']".to_owned(),
        (form, _) => panic!("no sample of {form:?}"),
    }
}

/// The kind and all its keys.
fn all_keys(kind: &Kind) -> Vec<String> {
    let mut lines = vec![format!("kind = {:?}", kind.name)];
    lines.extend(kind.keys.iter().map(|key| format!("{} = {}", key.name, sample(key))));
    lines
}

fn section(id: SectionId) -> &'static Section {
    vocabulary().section(id)
}

#[test]
fn every_kind_is_built() {
    let mut built = 0;
    for system in &section(SectionId::System).kinds {
        for relation in &section(SectionId::Relation).kinds {
            for law in &section(SectionId::Law).kinds {
                let text = format!(
                    "[simulation]\nh = 1\nuntil = 1\n[[system]]\nname = 's'\n{}\n[[interaction]]\nname = 'i'\nsystems = ['s']\nrelation = {{ {} }}\nlaw = {{ {} }}\n",
                    all_keys(system).join("\n"),
                    all_keys(relation).join(", "),
                    all_keys(law).join(", "),
                );
                match parse(&text) {
                    Ok(_) => built += 1,
                    // kinds that do not go together
                    Err(error) => match *error.kind {
                        ErrorKind::Model(
                            ModelError::Order { .. } | ModelError::LawMismatch { .. },
                        ) => {}
                        _ => panic!("{}", error.report()),
                    },
                }
            }
        }
    }
    // each law with a system and a relation of the same order, but for impacts of first order and the like
    assert_eq!(built, 2 * section(SectionId::Law).kinds.len() - 2);
}

#[test]
fn every_setting_is_read() {
    for id in [SectionId::Integrator, SectionId::Solver] {
        for kind in &section(id).kinds {
            for system in &section(SectionId::System).kinds {
                let text = format!(
                    "[simulation]\nh = 1\nuntil = 1\n{} = {{ {} }}\n[[system]]\nname = 's'\n{}\n",
                    section(id).name,
                    all_keys(kind).join(", "),
                    all_keys(system).join("\n"),
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
