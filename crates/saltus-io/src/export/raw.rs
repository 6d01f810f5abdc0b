//! Runs as SPICE's raw files, which waveform viewers read.
//!
//! ```text
//! Title: buck converter
//! Plotname: Transient Analysis
//! Flags: real
//! No. Variables: 3
//! No. Points: 20001
//! Variables:
//!         0       time    time
//!         1       v(out)  voltage
//!         2       i(L1)   current
//! Binary:
//! ```
//!
//! and after it the numbers row by row, as `f64` with the least byte first.

use super::{ExportError, Table};
use saltus_sim::{Run, Signal};
use std::io::{BufWriter, Write};

/// Writes the time and the signals of a run; all its signals if none are named. Of its instants every so
/// many, the first and the last.
pub fn write_raw(
    run: &Run,
    signals: &[Signal],
    every: usize,
    out: impl Write,
) -> Result<(), ExportError> {
    let table = Table::new(run, signals, every)?;
    let mut out = BufWriter::with_capacity(1 << 16, out);
    let mut write = || {
        let title = run.layout.title.replace(['\n', '\r'], " ");
        writeln!(out, "Title: {title}\nPlotname: Transient Analysis\nFlags: real")?;
        writeln!(out, "No. Variables: {}", table.columns.len() + 1)?;
        writeln!(out, "No. Points: {}", table.instants().count())?;
        writeln!(out, "Variables:\n\t0\ttime\ttime")?;
        for (number, (path, _)) in table.columns.iter().enumerate() {
            let name: String = path.split_whitespace().collect();
            writeln!(out, "\t{}\t{name}\t{}", number + 1, kind(path))?;
        }
        writeln!(out, "Binary:")?;
        for (time, values) in table.rows() {
            out.write_all(&time.to_le_bytes())?;
            for value in values {
                out.write_all(&value.to_le_bytes())?;
            }
        }
        out.flush()
    };
    write().map_err(|source| ExportError::Write { source })
}

/// What SPICE calls a variable of this name.
fn kind(path: &str) -> &'static str {
    match path.get(..2) {
        Some("v(") => "voltage",
        Some("i(") => "current",
        _ => "notype",
    }
}
