//! Whether two paths are one file.

use crate::Error;
use std::path::{Path, PathBuf};

/// Refuses to write a file over another one of the same command, by whatever names.
///
/// Each file has words for it, such as `the picture`; `remedy` tells what to do instead.
pub fn check_distinct(files: &[(&str, &Path)], remedy: &str) -> Result<(), Error> {
    for (number, (what, path)) in files.iter().enumerate() {
        let same = files[..number].iter().find(|(_, other)| identity(other) == identity(path));
        if let Some((other, _)) = same {
            let path = path.display();
            return Err(format!("{other} and {what} are both `{path}`; {remedy}").into());
        }
    }
    Ok(())
}

/// The path without links and detours, also of a file that does not exist yet.
fn identity(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        match (folder.canonicalize(), path.file_name()) {
            (Ok(folder), Some(name)) => folder.join(name),
            _ => path.to_path_buf(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detours_do_not_make_another_file() {
        let same = |a: &str, b: &str| identity(Path::new(a)) == identity(Path::new(b));
        assert!(same("Cargo.toml", "./src/../Cargo.toml"));
        assert!(same("not-there.png", "./src/../not-there.png"));
        assert!(!same("Cargo.toml", "not-there.png"));
        assert!(!same("not/there.png", "not/here.png"));
    }
}
