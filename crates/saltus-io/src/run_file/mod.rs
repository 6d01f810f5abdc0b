//! Run files: one HDF5 file a run, readable with h5py and any HDF5 tool (1.10 or newer).
//!
//! ```text
//! /                          attributes: format, format_version, title, version,
//!                            outcome ("complete", "interrupted" or "failed: …"), complete (1 or 0),
//!                            steps, iterations, worst_residual, worst_penetration, failures, seconds
//! /time                      (n,)      float64   the recorded instants
//! /systems/NAME/{x|q,v}      (n, dim)  float64   states
//! /interactions/NAME/{y,u,lam}  (n, dim)  float64   outputs, their rates, multipliers
//! /signals/NAME              (n,)      float64   values with names of their own: `v(out)`, `i(L1)`
//! /stats/iterations          (n,)      uint32    of the solver, in the step that ended there
//! /stats/residual            (n,)      float64   of the step's problem, as verified
//! /stats/penetration         (n,)      float64   deepest penetration of a contact at its end, with mechanical systems
//! /stats/status              (n,)      uint8     0: solved (a step that is not ends the run, without a row)
//! /stats/totals              (6,)      float64   the totals of the root's attributes, in their order
//! /stats/error_estimate      (1,)      float64   where the strategy controls errors: their sum, relative to
//!                            1 + |X|; also an attribute of the root
//! /ledger/{kinetic,potential,work,damping,impact,friction,numerical}  (n,)  float64   with mechanical systems only
//! /events/{time,kind,name,interaction}  (k,)     what happened, where anything did: float64 and strings
//! /event_changes/{event,what,before,after,before_name,after_name}  (c,)  what that changed: the
//!                            event's place in `/events` (int64), of what (string), numbers
//!                            (float64), or names of laws (string)
//! /contacts/index            (n + 1,)  int64     where the contacts of each recorded instant begin in the tables
//!                            below; there where the model finds contacts
//! /contacts/names            (s,)      string    all that can be touched
//! /contacts/{time,mu,gap}    (c,)      float64   one row a contact and instant
//! /contacts/bodies           (c, 2)    uint32    the two, by their positions in `names`
//! /contacts/{feature,law}    (c,)      uint64, uint32   which contact of its pair; its law
//! /contacts/{point,normal,u,impulse,moment}  (c, 3)  float64   in the frame of the world
//! /pushes/impulse            (n, 6 p)  float64   what interactions did to rigid bodies in the step that ended there:
//!                            impulse in the frame of the world, that of the moment in the frame of the body
//! /model                     attributes: title, version
//! /model/text                scalar string       the model file, after its overrides as comments,
//!                            where the run was made from one
//! /model/signals             (s,)      string    paths of the signals, in the order of the model
//! /model/columns             (s, 2)    int64     columns first..last of each in a row of all signals
//! /model/{push_interactions,push_bodies}  (k,)   string    which interaction acts on which rigid body
//! /model/push_places         (k,)      int64     where it stands in a row of `/pushes/impulse`, by sixes; −1 where it is
//!                            not recorded
//! ```
//!
//! Attributes of a dataset: `description`, `unit` where it is certain (the generalised coordinates
//! of a mechanical system have no unit that Saltus knows), and `columns`, the paths of its columns.
//! A run of more than 500 signals has none of them: they would be most of the file.
//!
//! Storage is not compressed. A run that fits one buffer is stored contiguously, a longer one in
//! chunks of the same number of rows in every dataset, with an unlimited first axis.
//!
//! A file is written under `NAME.partial` beside its final name, synced, and then renamed: what
//! stands under a final name is whole.

mod contacts;
mod reader;
mod writer;

pub(crate) use reader::check_signature;
pub use reader::{RunInfo, read_info, read_layout, read_run};
pub use writer::RunWriter;
pub(crate) use writer::{fixed_string, padded};

use saltus_sim::{Quantity, Signal};
use std::path::PathBuf;
use thiserror::Error;

/// The root's attribute `format`.
const FORMAT: &str = "saltus-run";
/// The root's attribute `format_version`: raised when older readers would misread a file.
const FORMAT_VERSION: u32 = 1;

/// Why a run file could not be written or read.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum RunFileError {
    /// The path does not name a file.
    #[error("`{path}` does not name a file", path = path.display())]
    NotAFileName {
        /// The path asked for.
        path: PathBuf,
    },
    /// The folder of the file to write does not exist.
    #[error("cannot write `{path}`: there is no folder `{folder}`",
            path = path.display(), folder = folder.display())]
    NoFolder {
        /// The file to write.
        path: PathBuf,
        /// The missing folder.
        folder: PathBuf,
    },
    /// What has the name of the file to write is a device, a pipe or the like.
    #[error("cannot write `{path}`: it is not a regular file", path = path.display())]
    NotRegular {
        /// The file to write.
        path: PathBuf,
    },
    /// The file cannot be made where it should be.
    #[error("cannot write `{path}`: {cause}", path = path.display())]
    Create {
        /// The file to write.
        path: PathBuf,
        /// What the system or the HDF5 library said.
        cause: String,
    },
    /// A name that HDF5 cannot hold as the name of a group.
    #[error(
        "cannot store a system or interaction named `{name}`: a name is not empty or a point, and has no `/`"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// The same signal twice.
    #[error("the signal `{path}` is recorded twice")]
    Duplicate {
        /// Its path.
        path: String,
    },
    /// Signals that do not lie side by side.
    #[error("the signal `{path}` has the columns {start}..{end}, but {expected} comes next")]
    Columns {
        /// The signal's path.
        path: String,
        /// Its first column.
        start: usize,
        /// The column after its last one.
        end: usize,
        /// The first column that no signal before it has.
        expected: usize,
    },
    /// Rows that do not fit the layout.
    #[error("`{table}` has {found} values in {rows} rows, but the layout asks for {expected}")]
    Shape {
        /// Which table.
        table: &'static str,
        /// Rows of `time`.
        rows: usize,
        /// Values that the layout asks for.
        expected: usize,
        /// Values found.
        found: usize,
    },
    /// A write failed, for example for lack of space.
    #[error("writing `{path}` failed: {cause}", path = path.display())]
    Write {
        /// The file to write.
        path: PathBuf,
        /// What the system or the HDF5 library said.
        cause: String,
    },
    /// An earlier write failed, so there is nothing to finish.
    #[error("`{path}` was not made, because an earlier write to it failed", path = path.display())]
    Abandoned {
        /// The file to write.
        path: PathBuf,
    },
    /// There is no such file.
    #[error("there is no file `{path}`", path = path.display())]
    Missing {
        /// The file to read.
        path: PathBuf,
    },
    /// The file cannot be opened.
    #[error("cannot read `{path}`: {cause}", path = path.display())]
    Open {
        /// The file to read.
        path: PathBuf,
        /// What the system said.
        cause: String,
    },
    /// The file is something else than HDF5.
    #[error("`{path}` is not an HDF5 file", path = path.display())]
    NotHdf5 {
        /// The file to read.
        path: PathBuf,
    },
    /// The file ends early.
    #[error("`{path}` is cut off: it has {found} of {expected} bytes", path = path.display())]
    Truncated {
        /// The file to read.
        path: PathBuf,
        /// Bytes that its header promises.
        expected: u64,
        /// Bytes that it has.
        found: u64,
    },
    /// HDF5, but its structure is broken.
    #[error("`{path}` is damaged: {cause}", path = path.display())]
    Damaged {
        /// The file to read.
        path: PathBuf,
        /// What does not fit.
        cause: String,
    },
    /// HDF5, but not a run of Saltus.
    #[error("`{path}` is an HDF5 file, but not a run of Saltus", path = path.display())]
    NotARun {
        /// The file to read.
        path: PathBuf,
    },
    /// A run of a newer Saltus.
    #[error(
        "`{path}` is a run file of format {found}, this Saltus reads format {known}",
        path = path.display(), known = FORMAT_VERSION
    )]
    Newer {
        /// The file to read.
        path: PathBuf,
        /// Its format version.
        found: u32,
    },
}

impl From<RunFileError> for std::io::Error {
    fn from(error: RunFileError) -> Self {
        std::io::Error::other(error)
    }
}

/// Owner and quantity of a path: `ball.q` is the `q` of `ball`, everything else the name of a value.
fn parts(path: &str) -> (&str, Quantity) {
    let parts = path.rsplit_once('.');
    let parts = parts.and_then(|(owner, name)| Some((owner, Quantity::from_name(name)?)));
    parts.unwrap_or((path, Quantity::Value))
}

/// The columns of the signals must tile a row: no gap, no column of two signals.
fn check_columns(signals: &[Signal]) -> Result<(), RunFileError> {
    let mut sorted: Vec<&Signal> = signals.iter().collect();
    sorted.sort_by_key(|signal| (signal.columns.start, signal.columns.end));
    let mut expected = 0;
    for signal in sorted {
        let (start, end) = (signal.columns.start, signal.columns.end);
        if start != expected || start > end {
            return Err(RunFileError::Columns { path: signal.path(), start, end, expected });
        }
        expected = end;
    }
    Ok(())
}

/// The HDF5 library's message without the names of its layers.
pub(crate) fn cause(error: &rust_hdf5::Hdf5Error) -> String {
    let text = error.to_string();
    let mut text = text.as_str();
    for layer in ["hdf5-io error: ", "I/O error: ", "format error: "] {
        text = text.strip_prefix(layer).unwrap_or(text);
    }
    text.to_string()
}
