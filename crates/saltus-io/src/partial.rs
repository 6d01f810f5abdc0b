//! Files that appear whole or not at all.
//!
//! ```text
//! NAME.partial   is written;   then renamed to NAME;   removed if that never comes
//! ```

use crate::run_file::RunFileError;
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A file under way. Dropped without [`Partial::commit`], it is removed.
#[derive(Debug)]
pub(crate) struct Partial {
    path: PathBuf,
    target: PathBuf,
    /// Whether the file is ours to remove.
    owned: bool,
}

/// Why a file cannot be made.
#[derive(Debug, Error)]
pub(crate) enum PartialError {
    #[error("`{}` does not name a file", path.display())]
    NotAFileName { path: PathBuf },
    #[error("cannot write `{}`: there is no folder `{}`", path.display(), folder.display())]
    NoFolder { path: PathBuf, folder: PathBuf },
    #[error("cannot write `{}`: {source}", path.display())]
    Create { path: PathBuf, source: io::Error },
}

impl PartialError {
    pub(crate) fn into_run_file(self) -> RunFileError {
        match self {
            PartialError::NotAFileName { path } => RunFileError::NotAFileName { path },
            PartialError::NoFolder { path, folder } => RunFileError::NoFolder { path, folder },
            PartialError::Create { path, source } => {
                RunFileError::Create { path, cause: source.to_string() }
            }
        }
    }
}

impl Partial {
    /// Makes the file `target.partial`, or fails where `target` could not be made either.
    pub(crate) fn create(target: &Path) -> Result<Partial, PartialError> {
        let target = target.to_path_buf();
        let Some(name) = target.file_name() else {
            return Err(PartialError::NotAFileName { path: target });
        };
        let mut name = name.to_os_string();
        name.push(".partial");
        let folder = target.parent().unwrap_or(Path::new(""));
        if !folder.as_os_str().is_empty() && !folder.exists() {
            let folder = folder.to_path_buf();
            return Err(PartialError::NoFolder { path: target, folder });
        }
        if target.is_dir() {
            let source = io::Error::from(io::ErrorKind::IsADirectory);
            return Err(PartialError::Create { path: target, source });
        }
        let path = folder.join(name);
        // a file that is there is a crashed process's, or one that another process is writing:
        // it is neither cut nor ours, until its writer has its lock and claims it
        let mut options = OpenOptions::new();
        let owned = options.write(true).create_new(true).open(&path).is_ok();
        if !owned && let Err(source) = OpenOptions::new().append(true).create(true).open(&path) {
            return Err(PartialError::Create { path: target, source });
        }
        Ok(Partial { path, target, owned })
    }

    /// The file is ours, even if something had its name before.
    pub(crate) fn claim(&mut self) {
        self.owned = true;
    }

    /// Where to write.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The final name.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Gives the file its final name.
    pub(crate) fn commit(&mut self) -> io::Result<()> {
        std::fs::rename(&self.path, &self.target)?;
        self.owned = false;
        Ok(())
    }

    /// Removes the file, if it is ours and can be.
    pub(crate) fn remove(&mut self) {
        if self.owned {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        self.remove();
    }
}
