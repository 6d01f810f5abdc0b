//! Probes: rows of states and multipliers become rows of voltages and currents.

use crate::{CircuitError, CircuitModel, Signal};
use saltus_sim::{EventKind, EventRecord, Frames, Layout, Quantity, Run, Sink};

/// Signals of a circuit, ready to be read off the rows of a run.
#[derive(Debug, Clone)]
pub struct Probes {
    signals: Vec<Signal>,
    needed: Vec<String>,
    layout: Layout,
    turned: Vec<String>, // switches that are open where their laws are closed
}

impl Probes {
    /// Probes of these signals (`v(out)`, `v(a, b)`, `i(L1)`), of all nodes and components if none
    /// are chosen.
    pub fn new(model: &CircuitModel, signals: Option<&[String]>) -> Result<Probes, CircuitError> {
        let all;
        let names = match signals {
            Some(names) => names,
            None => {
                all = model.signals();
                &all[..]
            }
        };
        let mut probes: Vec<Signal> = Vec::with_capacity(names.len());
        for name in names {
            let signal = model.signal(name)?;
            if !probes.iter().any(|known| known.name().eq_ignore_ascii_case(signal.name())) {
                probes.push(signal);
            }
        }
        let mut needed: Vec<String> = Vec::new();
        for path in probes.iter().flat_map(Signal::paths) {
            if !needed.contains(&path) {
                needed.push(path);
            }
        }
        if needed.is_empty() {
            // a run records something, even where sources alone say all
            needed.extend(model.model.systems().next().map(|(name, _)| format!("{name}.x")));
        }
        let layout = Layout {
            title: model.model.title().to_string(),
            signals: probes
                .iter()
                .enumerate()
                .map(|(k, signal)| saltus_sim::Signal {
                    owner: signal.name().to_string(),
                    quantity: Quantity::Value,
                    columns: k..k + 1,
                })
                .collect(),
            ..Layout::default()
        };
        let turned = model.turned.clone();
        Ok(Probes { signals: probes, needed, layout, turned })
    }

    /// What a run of the model must record for them.
    pub fn needed(&self) -> &[String] {
        &self.needed
    }

    /// The layout of their rows.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// A run whose rows of the model went through [`sink`](Self::sink), which has made `frames` of
    /// them, and events of switches as the circuit has them.
    pub fn read(&self, run: Run, frames: Frames) -> Run {
        let mut events = run.events;
        let turned = |event: &&mut EventRecord| {
            event.kind == EventKind::Switch && self.turned.contains(&event.interaction)
        };
        for event in events.iter_mut().filter(turned) {
            event
                .changes
                .iter_mut()
                .for_each(|one| std::mem::swap(&mut one.before, &mut one.after));
        }
        Run { layout: self.layout.clone(), frames, stats: run.stats, events }
    }

    /// A sink of rows of the model that keeps rows of the probes, or gives them to another one. So the rows
    /// of a whole run are never there but as signals.
    pub fn sink<'a>(
        &'a self,
        layout: &Layout,
        to: Option<&'a mut dyn Sink>,
    ) -> Result<ProbeSink<'a>, CircuitError> {
        Ok(ProbeSink { probes: self, wired: self.wired(layout)?, frames: Frames::default(), to })
    }

    fn wired(&self, layout: &Layout) -> Result<Wired, CircuitError> {
        let signals = self.signals.iter();
        let wired: Result<Vec<_>, CircuitError> =
            signals.map(|signal| Ok((signal.clone(), signal.columns(layout)?))).collect();
        Ok(Wired(wired?))
    }
}

/// Signals, each with the columns of a row that it is a sum of.
#[derive(Debug)]
struct Wired(Vec<(Signal, Vec<(usize, f64)>)>);

impl Wired {
    /// Adds rows of the probes to `into`.
    fn read(&self, layout: &Layout, frames: &Frames, into: &mut Frames) {
        let (width, before) = (layout.width(), into.rows.len());
        into.rows.resize(before + frames.len() * self.0.len(), 0.0);
        for (k, (signal, columns)) in self.0.iter().enumerate() {
            let still = signal.still();
            let values = into.rows[before..].iter_mut().skip(k).step_by(self.0.len());
            let given = frames.time.iter().zip(frames.rows.chunks_exact(width.max(1)));
            for (value, (&t, row)) in values.zip(given) {
                let mut sum = still.unwrap_or_else(|| signal.at(t));
                if t == 0.0 {
                    sum += signal.missing(t, columns, row);
                }
                columns.iter().for_each(|&(column, a)| sum += a * row[column]);
                *value = sum;
            }
        }
        into.time.extend_from_slice(&frames.time);
        into.iterations.extend_from_slice(&frames.iterations);
        into.residual.extend_from_slice(&frames.residual);
    }
}

/// See [`Probes::sink`].
pub struct ProbeSink<'a> {
    probes: &'a Probes,
    wired: Wired,
    frames: Frames,
    to: Option<&'a mut dyn Sink>,
}

impl ProbeSink<'_> {
    /// Takes memory for so many rows, where it keeps them.
    pub fn expect_rows(&mut self, rows: usize) {
        const MOST: usize = 4 << 30; // bytes, lest a mistyped end take all there is
        if self.to.is_none() {
            let row_bytes = 8 * (self.probes.layout.width() + 3);
            self.frames.reserve(&self.probes.layout, rows.min(MOST / row_bytes));
        }
    }

    /// The rows that it keeps.
    pub fn into_frames(self) -> Frames {
        self.frames
    }
}

impl Sink for ProbeSink<'_> {
    fn append(&mut self, layout: &Layout, frames: &Frames) -> std::io::Result<()> {
        self.wired.read(layout, frames, &mut self.frames);
        let Some(to) = &mut self.to else { return Ok(()) };
        to.append(&self.probes.layout, &self.frames)?;
        self.frames.clear();
        Ok(())
    }
}
