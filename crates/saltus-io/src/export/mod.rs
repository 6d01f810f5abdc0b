//! Runs in the formats of other tools: comma-separated values, SPICE's raw files, and scenes for the
//! Visualization Toolkit.
//!
//! The first two write a table: the time, then the columns of some signals, one row an instant.

mod csv;
mod raw;
mod vtk;

pub use csv::write_csv;
pub use raw::write_raw;
pub use vtk::{VtkError, scene_of_run, write_scene, write_vtk};

use crate::partial::{WriteError, write_with};
use saltus_sim::{Quantity, Run, Signal};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use thiserror::Error;

/// Why a run could not be exported.
#[derive(Debug, Error)]
pub enum ExportError {
    /// A signal that the run does not have.
    #[error("the run has no signal `{path}` with the columns {start} to {end}",
            start = columns.start, end = columns.end)]
    Unknown {
        /// Its path.
        path: String,
        /// The columns asked for, among those of the quantity.
        columns: Range<usize>,
    },
    /// A thinning that keeps nothing.
    #[error(transparent)]
    Every(#[from] NoInstants),
    /// Writing failed.
    #[error("writing failed: {source}")]
    Write {
        /// What the system said.
        source: io::Error,
    },
    /// The file cannot be made, or writing it failed.
    #[error(transparent)]
    File(#[from] WriteError),
}

/// Every zeroth instant is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("`every` = 0 is outside 1, 2, 3 …")]
pub struct NoInstants;

/// The places of every so many of `count` instants, with the first and the last.
fn thinned(count: usize, every: usize) -> Result<impl Iterator<Item = usize> + Clone, NoInstants> {
    if every == 0 {
        return Err(NoInstants);
    }
    Ok((0..count).filter(move |k| k % every == 0 || k + 1 == count))
}

/// A format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values, `.csv`.
    Csv,
    /// SPICE's raw file in binary, `.raw`.
    Raw,
}

impl Format {
    /// The ending of its files.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Raw => "raw",
        }
    }
}

/// Writes the time and the signals of a run, all its signals if none are named, to a file, which
/// appears whole or not at all. Of its instants every so many, the first and the last.
pub fn export(
    run: &Run,
    signals: &[Signal],
    every: usize,
    format: Format,
    path: impl AsRef<Path>,
) -> Result<(), ExportError> {
    let path = path.as_ref();
    write_with(path, |file: &File| {
        let written = match format {
            Format::Csv => write_csv(run, signals, every, file),
            Format::Raw => write_raw(run, signals, every, file),
        };
        written.map_err(|error| match error {
            ExportError::Write { source } => {
                WriteError::Io { path: path.to_path_buf(), source }.into()
            }
            other => other,
        })
    })
}

/// The columns of some signals of a run.
struct Table<'a> {
    run: &'a Run,
    columns: Vec<(String, usize)>, // path and place in a row
    every: usize,
}

impl<'a> Table<'a> {
    /// The columns of these signals, of all if there are none. A column has its index within the
    /// whole signal, also where a part is asked for.
    fn new(run: &'a Run, signals: &[Signal], every: usize) -> Result<Self, ExportError> {
        let _ = thinned(0, every)?;
        let signals = if signals.is_empty() { &run.layout.signals[..] } else { signals };
        let key = |signal: &'a Signal| (signal.owner.as_str(), signal.quantity);
        let whole: HashMap<(&str, Quantity), &Range<usize>> =
            run.layout.signals.iter().map(|signal| (key(signal), &signal.columns)).collect();
        let mut columns = Vec::new();
        for signal in signals {
            let (start, end) = (signal.columns.start, signal.columns.end);
            let whole = whole.get(&(signal.owner.as_str(), signal.quantity));
            let Some(whole) = whole.filter(|whole| whole.start <= start && end <= whole.end) else {
                let columns = signal.columns.clone();
                return Err(ExportError::Unknown { path: signal.path(), columns });
            };
            columns.extend((start..end).map(|place| (signal.column(place - whole.start), place)));
        }
        Ok(Table { run, columns, every })
    }

    /// The places of the rows that are written.
    fn instants(&self) -> impl Iterator<Item = usize> {
        thinned(self.run.frames.len(), self.every).into_iter().flatten()
    }

    /// The rows: the time, and the values of the columns.
    fn rows(&self) -> impl Iterator<Item = (f64, impl Iterator<Item = f64>)> {
        let width = self.run.layout.width();
        self.instants().map(move |row| {
            let time = self.run.frames.time[row];
            let values = self.run.frames.rows.get(row * width..(row + 1) * width).unwrap_or(&[]);
            (time, self.columns.iter().filter_map(|&(_, place)| values.get(place).copied()))
        })
    }
}
