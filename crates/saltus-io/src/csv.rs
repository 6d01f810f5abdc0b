//! Runs as comma-separated values (RFC 4180), one line a recorded instant.
//!
//! ```text
//! t,ball.q[0],ball.q[1],floor.lam[0]
//! 0.0,1.0,0.0,0.0
//! 0.005,0.999754750000000,0.0,0.0
//! ```
//!
//! Numbers are the shortest decimals that read back as the same `f64`; also `NaN`, `inf`, `-inf`.

use crate::partial::{WriteError, write_with};
use saltus_sim::{Layout, Quantity, Run, Signal};
use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::Path;
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
        columns: Range<usize>,
    },
    /// Writing failed.
    #[error("writing CSV failed: {source}")]
    Write {
        /// What the system said.
        source: io::Error,
    },
    /// The file cannot be made, or writing it failed.
    #[error(transparent)]
    File(#[from] WriteError),
}

/// Writes the time and the signals of a run; all its signals if none are named.
pub fn write_csv(run: &Run, signals: &[Signal], out: impl Write) -> Result<(), CsvError> {
    let signals = if signals.is_empty() { &run.layout.signals[..] } else { signals };
    let mut out = BufWriter::with_capacity(1 << 16, out);
    let failed = |source| CsvError::Write { source };

    // the header; a column has its index within the whole signal, also where a part is asked for
    out.write_all(b"t").map_err(failed)?;
    let whole = places(&run.layout);
    for signal in signals {
        let first = first_index(&whole, signal)?;
        for index in first..first + signal.columns.len() {
            write!(out, ",{}", quoted(signal.column(index))).map_err(failed)?;
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
    write_with(path, |file| {
        write_csv(run, signals, file).map_err(|error| match error {
            CsvError::Write { source } => {
                WriteError::Io { path: path.to_path_buf(), source }.into()
            }
            other => other,
        })
    })
}

/// The columns of each whole signal.
type Places<'a> = HashMap<(&'a str, Quantity), &'a Range<usize>>;

fn places(layout: &Layout) -> Places<'_> {
    let signals = layout.signals.iter();
    signals.map(|signal| ((signal.owner.as_str(), signal.quantity), &signal.columns)).collect()
}

/// Index of a signal's first column within the whole signal of the run.
fn first_index(whole: &Places, signal: &Signal) -> Result<usize, CsvError> {
    let columns = &signal.columns;
    let whole = whole.get(&(signal.owner.as_str(), signal.quantity));
    match whole.filter(|whole| whole.start <= columns.start && columns.end <= whole.end) {
        Some(whole) => Ok(columns.start - whole.start),
        None => Err(CsvError::Unknown { path: signal.path(), columns: columns.clone() }),
    }
}

/// Quotes a name where the format asks for it.
fn quoted(name: String) -> String {
    match name.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name,
    }
}
