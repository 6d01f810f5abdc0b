//! Files that appear whole or not at all.
//!
//! ```text
//! NAME.partial   is written and synced;   then renamed to NAME;   removed if that never comes
//! ```
//!
//! A symbolic link is followed: what it points to is replaced, and the link stays. Only regular
//! files are replaced; a rename would take the place of a device or a pipe.

use crate::run_file::RunFileError;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a file cannot be written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The path does not name a file.
    #[error("`{path}` does not name a file", path = path.display())]
    NotAFileName {
        /// The path asked for.
        path: PathBuf,
    },
    /// The folder of the file does not exist.
    #[error("cannot write `{path}`: there is no folder `{folder}`",
            path = path.display(), folder = folder.display())]
    NoFolder {
        /// The file to write.
        path: PathBuf,
        /// The missing folder.
        folder: PathBuf,
    },
    /// What has the name is a device, a pipe or the like.
    #[error("cannot write `{path}`: it is not a regular file", path = path.display())]
    NotRegular {
        /// The file to write.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot write `{path}`: {source}", path = path.display())]
    Io {
        /// The file to write.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl WriteError {
    pub(crate) fn into_run_file(self) -> RunFileError {
        match self {
            WriteError::NotAFileName { path } => RunFileError::NotAFileName { path },
            WriteError::NoFolder { path, folder } => RunFileError::NoFolder { path, folder },
            WriteError::NotRegular { path } => RunFileError::NotRegular { path },
            WriteError::Io { path, source } => {
                RunFileError::Create { path, cause: source.to_string() }
            }
        }
    }
}

/// Writes a file that appears whole or not at all, in place of a regular file of that name.
///
/// The bytes and, where the system can, the folder are synced: a crash leaves the old file or
/// the new one.
pub fn write_whole(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), WriteError> {
    let path = path.as_ref();
    write_with(path, |mut file| {
        let failed = |source| WriteError::Io { path: path.to_path_buf(), source };
        file.write_all(bytes).map_err(failed)
    })
}

/// Whether [`write_whole`] could begin: known before the bytes are.
pub fn check_target(path: impl AsRef<Path>) -> Result<(), WriteError> {
    resolved(path.as_ref()).map(|_| ())
}

/// [`write_whole`], with the bytes as they come.
pub(crate) fn write_with<E: From<WriteError>>(
    path: &Path,
    fill: impl FnOnce(&File) -> Result<(), E>,
) -> Result<(), E> {
    let mut partial = Partial::create(path)?;
    let target = partial.target().to_path_buf();
    let failed = |source| WriteError::Io { path: target.clone(), source };
    partial.claim();
    let file = File::create(partial.path()).map_err(failed)?;
    fill(&file)?;
    file.sync_all().and_then(|()| partial.commit()).map_err(failed)?;
    Ok(())
}

/// The regular file that a path stands for, or would, with all links followed.
fn resolved(path: &Path) -> Result<PathBuf, WriteError> {
    let failed = |source| WriteError::Io { path: path.to_path_buf(), source };
    if path.file_name().is_none() {
        return Err(WriteError::NotAFileName { path: path.to_path_buf() });
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    if !folder.as_os_str().is_empty() && !folder.exists() {
        let folder = folder.to_path_buf();
        return Err(WriteError::NoFolder { path: path.to_path_buf(), folder });
    }
    let target = match path.is_symlink() {
        true => path.canonicalize().map_err(failed)?,
        false => path.to_path_buf(),
    };
    match std::fs::metadata(&target) {
        Ok(data) if data.is_dir() => Err(failed(io::ErrorKind::IsADirectory.into())),
        Ok(data) if !data.is_file() => Err(WriteError::NotRegular { path: path.to_path_buf() }),
        _ => Ok(target), // what else is wrong, creating the file tells
    }
}

/// A file under way. Dropped without [`Partial::commit`], it is removed.
#[derive(Debug)]
pub(crate) struct Partial {
    path: PathBuf,
    target: PathBuf,
    /// Whether the file is ours to remove.
    owned: bool,
}

impl Partial {
    /// Makes the file `target.partial`, or fails where `target` could not be made either.
    pub(crate) fn create(target: &Path) -> Result<Partial, WriteError> {
        let target = resolved(target)?;
        let mut name = target.file_name().unwrap_or_default().to_os_string();
        name.push(".partial");
        let path = target.with_file_name(name);
        // a file that is there is a crashed process's, or one that another process is writing:
        // it is neither cut nor ours, until its writer has its lock and claims it
        let mut options = OpenOptions::new();
        let owned = options.write(true).create_new(true).open(&path).is_ok();
        if !owned && let Err(source) = OpenOptions::new().append(true).create(true).open(&path) {
            return Err(WriteError::Io { path: target, source });
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
        sync_folder(&self.target);
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

/// Makes a rename last. Not all systems can; the file is whole either way.
fn sync_folder(file: &Path) {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if cfg!(unix)
        && let Ok(folder) = File::open(folder)
    {
        let _ = folder.sync_all();
    }
}
