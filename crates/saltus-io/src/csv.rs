//! Runs as comma-separated values (RFC 4180), one line a recorded instant.
//!
//! ```text
//! t,ball.q[0],ball.q[1],floor.lam[0]
//! 0.0,1.0,0.0,0.0
//! 0.005,0.999754750000000,0.0,0.0
//! ```
//!
//! Numbers are the shortest decimals that read back as the same `f64`; also `NaN`, `inf`, `-inf`.

use crate::partial::{Partial, PartialError};
use saltus_sim::{Layout, Run, Signal};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a run could not be written as CSV.
#[derive(Debug, Error)]
pub enum CsvError {
    /// A signal that the run does not have.
    #[error("the run has no signal `{path}` with the columns {start} to {end}",
            start = columns.start, end = columns.end)]
    Unknown {
        /// Its path.
        path: String,
        /// The columns asked for, among those of the quantity.
        columns: std::ops::Range<usize>,
    },
    /// Writing failed.
    #[error("writing CSV failed: {source}")]
    Write {
        /// What the system said.
        source: io::Error,
    },
    /// The file cannot be made, or writing it failed.
    #[error("cannot write `{path}`: {cause}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: String,
    },
}

/// Writes the time and the signals of a run; all its signals if none are named.
pub fn write_csv(run: &Run, signals: &[Signal], out: impl Write) -> Result<(), CsvError> {
    let signals = if signals.is_empty() { &run.layout.signals[..] } else { signals };
    let mut out = BufWriter::with_capacity(1 << 16, out);
    let failed = |source| CsvError::Write { source };

    // the header; a column has its index within the whole signal, also where a part is asked for
    out.write_all(b"t").map_err(failed)?;
    for signal in signals {
        let first = first_index(&run.layout, signal)?;
        for index in first..first + signal.columns.len() {
            write!(out, ",{}", quoted(format!("{}[{index}]", signal.path()))).map_err(failed)?;
        }
    }
    out.write_all(b"\n").map_err(failed)?;

    let width = run.layout.width();
    for (row, time) in run.frames.time.iter().enumerate() {
        write!(out, "{time:?}").map_err(failed)?;
        for signal in signals {
            let columns = row * width + signal.columns.start..row * width + signal.columns.end;
            for value in run.frames.rows.get(columns).unwrap_or(&[]) {
                write!(out, ",{value:?}").map_err(failed)?;
            }
        }
        out.write_all(b"\n").map_err(failed)?;
    }
    out.flush().map_err(failed)
}

/// [`write_csv`] to a file, which appears whole or not at all.
pub fn write_csv_file(
    run: &Run,
    signals: &[Signal],
    path: impl AsRef<Path>,
) -> Result<(), CsvError> {
    let path = path.as_ref();
    let failed = |cause: String| CsvError::File { path: path.to_path_buf(), cause };
    let mut partial = Partial::create(path).map_err(|error| match error {
        PartialError::Create { source, .. } => failed(source.to_string()),
        PartialError::NoFolder { folder, .. } => {
            failed(format!("there is no folder `{}`", folder.display()))
        }
        PartialError::NotAFileName { .. } => failed("it does not name a file".to_string()),
    })?;
    partial.claim();
    let file = File::create(partial.path()).map_err(|error| failed(error.to_string()))?;
    write_csv(run, signals, &file).map_err(|error| match error {
        CsvError::Write { source } => failed(source.to_string()),
        other => other,
    })?;
    file.sync_all().and_then(|()| partial.commit()).map_err(|error| failed(error.to_string()))
}

/// Index of a signal's first column within the whole signal of the run.
fn first_index(layout: &Layout, signal: &Signal) -> Result<usize, CsvError> {
    let whole = layout.signals.iter().find(|whole| {
        whole.owner == signal.owner
            && whole.quantity == signal.quantity
            && whole.columns.start <= signal.columns.start
            && signal.columns.end <= whole.columns.end
    });
    match whole {
        Some(whole) => Ok(signal.columns.start - whole.columns.start),
        None => Err(CsvError::Unknown { path: signal.path(), columns: signal.columns.clone() }),
    }
}

/// Quotes a name where the format asks for it.
fn quoted(name: String) -> String {
    match name.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name,
    }
}
