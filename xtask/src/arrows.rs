//! The arrow test: manifests may use only what ARCHITECTURE.md draws.

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::path::Path;

    type Arrows = BTreeMap<String, BTreeSet<String>>;

    /// The table "Rooms and arrows": crate in the first column, what it may use in the last.
    fn drawn(root: &Path) -> Arrows {
        let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
        let section = text.split("## Rooms and arrows").nth(1).unwrap();
        let rows = section.lines().filter(|line| line.starts_with("| `"));
        rows.map(|row| {
            let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
            let names = |cell: &str| -> BTreeSet<String> {
                cell.split('`').skip(1).step_by(2).map(str::to_string).collect()
            };
            let name = names(cells[0]).into_iter().next().unwrap();
            (name, names(cells[cells.len() - 1]))
        })
        .collect()
    }

    /// The crates of this workspace that a manifest depends on, tests included.
    fn used(manifest: &Path) -> (String, BTreeSet<String>) {
        let text = fs::read_to_string(manifest).unwrap();
        let mut name = String::new();
        let mut section = String::new();
        let mut used = BTreeSet::new();
        for line in text.lines().map(str::trim) {
            if line.starts_with('[') {
                section = line.to_string();
            } else if section == "[package]" && line.starts_with("name") {
                name = line.split('"').nth(1).unwrap().to_string();
            } else if section.contains("dependencies") {
                let key = line.split(['.', '=', ' ']).next().unwrap();
                if key == "saltus" || key.starts_with("saltus-") {
                    used.insert(key.to_string());
                }
            }
        }
        (name, used)
    }

    #[test]
    fn no_arrow_that_the_architecture_does_not_draw() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let drawn = drawn(root);
        let mut manifests: Vec<_> = fs::read_dir(root.join("crates"))
            .unwrap()
            .map(|entry| entry.unwrap().path().join("Cargo.toml"))
            .collect();
        manifests.push(root.join("xtask/Cargo.toml"));
        for manifest in manifests {
            let (name, used) = used(&manifest);
            let allowed =
                drawn.get(&name).unwrap_or_else(|| panic!("{name} has no row in ARCHITECTURE.md"));
            if let Some(arrow) = used.difference(allowed).next() {
                panic!("{name} -> {arrow} is not in ARCHITECTURE.md");
            }
        }
        for name in drawn.keys() {
            let folder =
                if name == "xtask" { root.join(name) } else { root.join("crates").join(name) };
            assert!(folder.exists(), "ARCHITECTURE.md names {name}, which does not exist");
        }
    }

    #[test]
    fn only_linalg_names_faer() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for entry in fs::read_dir(root.join("crates")).unwrap() {
            let path = entry.unwrap().path();
            let names_faer = fs::read_to_string(path.join("Cargo.toml")).unwrap().contains("faer");
            assert_eq!(names_faer, path.ends_with("saltus-linalg"), "{}", path.display());
        }
    }
}
