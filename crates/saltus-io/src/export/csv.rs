//! Runs as comma-separated values (RFC 4180), one line a recorded instant.
//!
//! ```text
//! t,ball.q[0],ball.q[1],floor.lam[0]
//! 0.0,1.0,0.0,0.0
//! 0.005,0.999754750000000,0.0,0.0
//! ```
//!
//! Numbers are the shortest decimals that read back as the same `f64`; also `NaN`, `inf`, `-inf`.

use super::{ExportError, Table};
use saltus_sim::{Run, Signal};
use std::io::{BufWriter, Write};

/// Writes the time and the signals of a run; all its signals if none are named. Of its instants every so
/// many, the first and the last.
pub fn write_csv(
    run: &Run,
    signals: &[Signal],
    every: usize,
    out: impl Write,
) -> Result<(), ExportError> {
    let table = Table::new(run, signals, every)?;
    let mut out = BufWriter::with_capacity(1 << 16, out);
    let mut write = || {
        out.write_all(b"t")?;
        for (path, _) in &table.columns {
            write!(out, ",{}", quoted(path))?;
        }
        out.write_all(b"\n")?;
        for (time, values) in table.rows() {
            write!(out, "{time:?}")?;
            for value in values {
                write!(out, ",{value:?}")?;
            }
            out.write_all(b"\n")?;
        }
        out.flush()
    };
    write().map_err(|source| ExportError::Write { source })
}

/// Quotes a name where the format asks for it.
fn quoted(name: &str) -> String {
    match name.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_string(),
    }
}
