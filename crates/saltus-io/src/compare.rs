//! Whether two runs are the same, up to a tolerance.
//!
//! For each signal that both have, over all its columns and the rows that both have:
//!
//! ```text
//! absolute = max |a − b|
//! relative = absolute / max(1, max |a|, max |b|)
//! ```
//!
//! Two runs agree if they have the same signals with the same columns, the same number of rows,
//! and every relative difference, that of the instants included, is at most `tol`. So `tol` is
//! absolute for small signals and relative for large ones, and neither run is preferred. A NaN
//! never agrees with anything; equal infinities agree. Iterations, residuals and energies are not
//! compared.

use saltus_sim::{Frames, Quantity, Run, Signal};
use serde::Serialize;
use std::collections::HashMap;
use std::ops::Range;

/// How two runs differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The tolerance asked for.
    pub tol: f64,
    /// Rows of the first and of the second run.
    pub rows: (usize, usize),
    /// The instants.
    pub time: Difference,
    /// The signals that both have, in the order of the first run.
    pub signals: Vec<SignalDifference>,
    /// Paths of the signals that only the first run has.
    pub only_in_a: Vec<String>,
    /// Paths of the signals that only the second run has.
    pub only_in_b: Vec<String>,
}

/// How one signal differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SignalDifference {
    /// Its path.
    pub path: String,
    /// Columns in the first and in the second run. Not compared if they differ.
    pub columns: (usize, usize),
    /// The difference of the values.
    pub difference: Difference,
}

/// The largest difference of two arrays.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Difference {
    /// `max |a − b|`; NaN if a NaN is among the values or the arrays cannot be compared.
    pub absolute: f64,
    /// `absolute / max(1, max |a|, max |b|)`.
    pub relative: f64,
    /// The row of the largest difference, or of the first NaN.
    pub row: usize,
}

impl Comparison {
    /// Whether the runs are the same up to the tolerance.
    pub fn agrees(&self) -> bool {
        self.rows.0 == self.rows.1
            && self.only_in_a.is_empty()
            && self.only_in_b.is_empty()
            && self.time.relative <= self.tol
            && self.signals.iter().all(|signal| self.accepts(signal))
    }

    /// Whether one signal is the same up to the tolerance.
    pub fn accepts(&self, signal: &SignalDifference) -> bool {
        signal.columns.0 == signal.columns.1 && signal.difference.relative <= self.tol
    }

    /// The signal with the largest relative difference, a NaN before all.
    pub fn worst(&self) -> Option<&SignalDifference> {
        let key = |signal: &SignalDifference| {
            let relative = signal.difference.relative;
            if relative.is_nan() { f64::INFINITY } else { relative }
        };
        self.signals.iter().max_by(|a, b| key(a).total_cmp(&key(b)))
    }
}

/// Compares two runs; the runs agree if no difference exceeds `tol`.
pub fn compare(a: &Run, b: &Run, tol: f64) -> Comparison {
    let (in_a, in_b) = (by_name(a), by_name(b));
    let missing = |from: &Run, other: &HashMap<Name, &Signal>| -> Vec<String> {
        let lost = from.layout.signals.iter().filter(|x| !other.contains_key(&name(x)));
        lost.map(Signal::path).collect()
    };
    let (width_a, width_b) = (a.layout.width(), b.layout.width());
    let mut signals = Vec::new();
    for x in &a.layout.signals {
        let Some(y) = in_b.get(&name(x)) else { continue };
        let columns = (x.columns.len(), y.columns.len());
        let difference = match columns.0 == columns.1 {
            true => {
                let x = cells(&a.frames, width_a, &x.columns);
                let y = cells(&b.frames, width_b, &y.columns);
                Difference::of(x, y, columns.0)
            }
            false => Difference { absolute: f64::NAN, relative: f64::NAN, row: 0 },
        };
        signals.push(SignalDifference { path: x.path(), columns, difference });
    }
    Comparison {
        tol,
        rows: (a.frames.len(), b.frames.len()),
        time: Difference::of(a.frames.time.iter(), b.frames.time.iter(), 1),
        signals,
        only_in_a: missing(a, &in_b),
        only_in_b: missing(b, &in_a),
    }
}

/// What a signal is found by.
type Name<'a> = (&'a str, Quantity);

fn name(signal: &Signal) -> Name<'_> {
    (&signal.owner, signal.quantity)
}

fn by_name(run: &Run) -> HashMap<Name<'_>, &Signal> {
    run.layout.signals.iter().map(|signal| (name(signal), signal)).collect()
}

/// Some columns of the rows, row by row.
fn cells<'a>(
    frames: &'a Frames,
    width: usize,
    columns: &'a Range<usize>,
) -> impl Iterator<Item = &'a f64> {
    frames.rows.chunks_exact(width.max(1)).flat_map(|row| &row[columns.clone()])
}

impl Difference {
    /// The largest difference over the rows that both have.
    fn of<'a>(
        a: impl Iterator<Item = &'a f64>,
        b: impl Iterator<Item = &'a f64>,
        width: usize,
    ) -> Difference {
        let mut scale: f64 = 1.0;
        let mut absolute = 0.0;
        let mut place = 0;
        for (index, (a, b)) in a.zip(b).enumerate() {
            let difference = if a == b { 0.0 } else { (a - b).abs() };
            if difference.is_nan() {
                let row = index / width.max(1);
                return Difference { absolute: f64::NAN, relative: f64::NAN, row };
            }
            // equal infinities must not make every other difference look small
            for value in [a.abs(), b.abs()] {
                if value.is_finite() && value > scale {
                    scale = value;
                }
            }
            if difference > absolute {
                absolute = difference;
                place = index;
            }
        }
        Difference { absolute, relative: absolute / scale, row: place / width.max(1) }
    }
}
