//! The problems that solvers are compared on.

use saltus::io::problem_file::{self, Kind};
use saltus::numerics::Problem;
use std::path::{Path, PathBuf};

/// Where a problem comes from. Its text form names it to the process that solves it.
///
/// Generated problems are to be a second variant: a name here, the generator's call in
/// [`Source::load`], and the list of them in [`all`].
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// A file, in a folder that is named after its kind.
    Stored(PathBuf),
}

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
    files.into_iter().map(Source::Stored).collect()
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
        Source::Stored(PathBuf::from(address))
    }

    /// What another process finds it by.
    pub fn address(&self) -> String {
        match self {
            Source::Stored(path) => path.display().to_string(),
        }
    }

    /// The name in tables; the peer calls it the same.
    pub fn name(&self) -> String {
        match self {
            Source::Stored(path) => {
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                Kind::of_folder(path).map_or_else(|| file.to_string(), |k| format!("{k}/{file}"))
            }
        }
    }

    /// The file, where it is one: what the peer can be asked about.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Source::Stored(path) => Some(path),
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
        }
    }
}
