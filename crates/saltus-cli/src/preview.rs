//! A picture of a run of any length in bounded memory.
//!
//! The rows of a run are cut into at most `BUCKETS` buckets; of each, the least and the largest
//! value of every column are kept, in the order in which they came. Spikes survive, and a
//! bucket is no wider than a pixel.

use crate::chart;
use saltus::sim::{Frames, Layout, Run, RunStats, Signal};

const BUCKETS: usize = 2000;

/// The rows of the signals that a picture shows, thinned out.
pub struct Preview {
    chosen: Vec<Signal>,
    per_bucket: usize,
    seen: usize, // rows in the open bucket
    start: f64,  // time of its first row
    end: f64,    // time of its last row
    extremes: Vec<Extremes>,
    title: String,
    time: Vec<f64>,
    rows: Vec<f64>,
}

/// Least and largest value of a column in the open bucket.
#[derive(Debug, Clone, Copy)]
struct Extremes {
    least: f64,
    largest: f64,
    rising: bool, // the least came before the largest
}

impl Preview {
    /// For a run of about `rows` recorded rows.
    pub fn new(layout: &Layout, rows: usize) -> Preview {
        let chosen = chart::default_signals(layout);
        Preview {
            chosen,
            per_bucket: rows.div_ceil(BUCKETS).max(1),
            seen: 0,
            start: 0.0,
            end: 0.0,
            extremes: Vec::new(),
            title: layout.title.clone(),
            time: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Takes more rows.
    pub fn append(&mut self, layout: &Layout, frames: &Frames) {
        let width = layout.width().max(1);
        for (&t, cells) in frames.time.iter().zip(frames.rows.chunks_exact(width)) {
            let mut k = 0;
            for signal in &self.chosen {
                for &value in &cells[signal.columns.clone()] {
                    if self.seen == 0 {
                        let new = Extremes { least: value, largest: value, rising: true };
                        if k < self.extremes.len() {
                            self.extremes[k] = new;
                        } else {
                            self.extremes.push(new);
                        }
                    } else {
                        let cell = &mut self.extremes[k];
                        if value < cell.least {
                            (cell.least, cell.rising) = (value, false);
                        }
                        if value > cell.largest {
                            (cell.largest, cell.rising) = (value, true);
                        }
                    }
                    k += 1;
                }
            }
            if self.seen == 0 {
                self.start = t;
            }
            self.end = t;
            self.seen += 1;
            if self.seen == self.per_bucket {
                self.close();
            }
        }
    }

    /// The open bucket becomes one row, or two.
    fn close(&mut self) {
        let two = self.seen > 1;
        self.time.push(self.start);
        for e in &self.extremes {
            self.rows.push(if e.rising { e.least } else { e.largest });
        }
        if two {
            self.time.push(self.end);
            for e in &self.extremes {
                self.rows.push(if e.rising { e.largest } else { e.least });
            }
        }
        self.seen = 0;
    }

    /// The thinned rows as a run.
    pub fn into_run(mut self, stats: RunStats) -> Run {
        if self.seen > 0 {
            self.close();
        }
        let mut start = 0;
        let signals = (self.chosen.into_iter())
            .map(|signal| {
                let columns = start..start + signal.columns.len();
                start = columns.end;
                Signal { columns, ..signal }
            })
            .collect();
        let layout = Layout { title: self.title, signals, ..Layout::default() };
        let count = self.time.len();
        let frames = Frames {
            time: self.time,
            rows: self.rows,
            iterations: vec![0; count],
            residual: vec![0.0; count],
            ..Frames::default()
        };
        Run { layout, frames, stats, events: Vec::new() }
    }
}
