//! The bundled examples.

use saltus_io::ModelFile;
use std::path::{Path, PathBuf};

/// The model files of the examples.
pub(super) fn all() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let entries = |path: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(path).expect("a folder of examples");
        entries.map(|entry| entry.expect("an entry").path()).collect()
    };
    let folders = entries(&folder).into_iter().filter(|path| path.is_dir());
    let mut files: Vec<PathBuf> = folders
        .flat_map(|folder| entries(&folder))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files
}

#[test]
fn every_example_is_a_model() {
    let files = all();
    assert!(files.len() >= 10, "{files:?}");
    for path in files {
        let file = ModelFile::read(&path, &[]).unwrap_or_else(|error| panic!("{}", error.report()));
        assert!(!file.model.title().is_empty());
        assert!(file.model.systems().len() > 0);
    }
}

#[test]
fn sizes_follow_the_parameters() {
    let read = |example: &str, name: &str, value: &str| {
        let path = all().into_iter().find(|path| path.to_string_lossy().contains(example));
        let change = [(name.to_owned(), value.to_owned())];
        ModelFile::read(&path.expect("the example"), &change).expect("it is right").model
    };
    let beads = read("column-of-beads", "N", "1000");
    assert_eq!((beads.systems().len(), beads.interactions().len()), (1000, 1000));
    for n in [1, 3, 50] {
        let ladder = read("rc-diode-ladder", "n", &n.to_string());
        let (_, system) = ladder.systems().next().expect("the ladder");
        assert_eq!(system.dim(), 2 * n);
    }
}
