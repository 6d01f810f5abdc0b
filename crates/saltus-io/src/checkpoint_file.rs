//! Checkpoints of a simulation in files.
//!
//! A file appears whole or not at all: a crash while it is written leaves the checkpoint before.

use crate::{WriteError, write_whole};
use saltus_sim::{Checkpoint, CheckpointError};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A checkpoint that cannot be written or read.
#[derive(Debug, Error)]
pub enum CheckpointFileError {
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// It cannot be read.
    #[error("cannot read `{path}`: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What was read is no checkpoint, or a damaged one.
    #[error("`{path}`: {source}", path = path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: CheckpointError,
    },
}

/// Writes a checkpoint, in place of one that is there.
pub fn save(checkpoint: &Checkpoint, path: impl AsRef<Path>) -> Result<(), CheckpointFileError> {
    Ok(write_whole(path, &checkpoint.to_bytes())?)
}

/// Reads a checkpoint.
pub fn load(path: impl AsRef<Path>) -> Result<Checkpoint, CheckpointFileError> {
    let path = path.as_ref();
    let read = |source| CheckpointFileError::Read { path: path.to_path_buf(), source };
    let bytes = std::fs::read(path).map_err(read)?;
    Checkpoint::from_bytes(&bytes)
        .map_err(|source| CheckpointFileError::Content { path: path.to_path_buf(), source })
}
