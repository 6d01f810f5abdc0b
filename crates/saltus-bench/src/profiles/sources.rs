//! The problems that solvers are compared on.

use saltus::io::problem_file::{self, Kind};
use saltus::numerics::generate::{self, Generated};
use saltus::numerics::{NumericsError, Problem};
use std::path::{Path, PathBuf};

/// Where a problem comes from. Its text form names it to the process that solves it.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// A file, in a folder that is named after its kind.
    Stored(PathBuf),
    /// A generated problem with a known answer, by its name in [`GENERATED`].
    Generated(&'static str),
}

type Generator = fn() -> Result<Generated, NumericsError>;

/// The generated problems: no file is needed for them.
const GENERATED: [(&str, Generator); 14] = [
    ("packing-1000-c0.1", || generate::packing(1000, 0.1, 0.5, 1)),
    ("packing-1000-c1", || generate::packing(1000, 1.0, 0.5, 1)),
    ("packing-300-c3", || generate::packing(300, 3.0, 0.5, 1)),
    ("packing-300-c7", || generate::packing(300, 7.0, 0.5, 1)),
    ("wall-6x8", || generate::wall(6, 8)),
    ("tower-10", || generate::tower(10, 1.0)),
    ("chain-30", || generate::chain(30)),
    ("obstacle-30", || generate::obstacle(30)),
    ("lcp-p-80", || generate::lcp_p(80, 1)),
    ("lcp-psd-80", || generate::lcp_psd(80, 30, 1)),
    ("murty-14", || generate::murty(14)),
    ("bimatrix-6x7", || generate::bimatrix(6, 7, 1)),
    ("ladder-60", || generate::ladder(60, 1)),
    ("mixed-40", || generate::mixed(40, true, 1)),
];

/// A problem with what it is.
pub struct Loaded {
    /// The problem.
    pub problem: Problem,
    /// The name of its kind.
    pub kind: String,
}

/// Stored problems beside the repository.
pub fn default_folder() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    // a tree of its own may stand one folder deeper
    let beside = root.ancestors().skip(1).take(2).map(|folder| folder.join("shared/problems"));
    beside.into_iter().find(|folder| folder.is_dir())
}

/// All problems: the files under the folders, then the generated ones.
pub fn all(folders: &[PathBuf]) -> Vec<Source> {
    let mut files = Vec::new();
    folders.iter().for_each(|folder| collect(folder, &mut files));
    files.sort();
    files.dedup();
    let generated = GENERATED.iter().map(|(name, _)| Source::Generated(name));
    files.into_iter().map(Source::Stored).chain(generated).collect()
}

/// The files under a folder whose own folder is named after a kind.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_file() {
        let is_problem = Kind::of_folder(path).is_some();
        files.extend(is_problem.then(|| path.to_path_buf()));
    }
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        collect(&entry.path(), files);
    }
}

impl Source {
    /// The source that [`Source::address`] told.
    pub fn from_address(address: &str) -> Source {
        let generated = GENERATED.iter().find(|(name, _)| *name == address);
        generated
            .map_or_else(|| Source::Stored(address.into()), |(name, _)| Source::Generated(name))
    }

    /// What another process finds it by.
    pub fn address(&self) -> String {
        match self {
            Source::Stored(path) => path.display().to_string(),
            Source::Generated(name) => (*name).to_owned(),
        }
    }

    /// The name in tables; the peer calls it the same.
    pub fn name(&self) -> String {
        match self {
            Source::Stored(path) => {
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                Kind::of_folder(path).map_or_else(|| file.to_string(), |k| format!("{k}/{file}"))
            }
            Source::Generated(name) => format!("generated/{name}"),
        }
    }

    /// The file, where it is one: what the peer can be asked about.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Source::Stored(path) => Some(path),
            Source::Generated(_) => None,
        }
    }

    /// The problem, or why there is none.
    pub fn load(&self) -> Result<Loaded, String> {
        match self {
            Source::Stored(path) => match problem_file::read(path, None) {
                Ok(stored) => {
                    Ok(Loaded { kind: stored.kind.name().to_owned(), problem: stored.problem })
                }
                Err(error) => Err(error.message),
            },
            Source::Generated(name) => {
                let found = GENERATED.iter().find(|(known, _)| known == name);
                let (_, generate) = found.ok_or("there is no such generator")?;
                let generated = generate().map_err(|error| error.to_string())?;
                Ok(Loaded { kind: "generated".to_owned(), problem: generated.problem })
            }
        }
    }
}
