//! Signals: voltages and currents as sums of states, multipliers and sources.

use super::autonomous::Autonomous;
use super::form::Row;
use super::model::Place;
use super::state_space::StateSpace;
use crate::{CircuitError, Device, Node, Source};
use saltus_model::{InteractionId, Model, SystemId};
use saltus_sim::{Layout, Quantity, Run, SignalError};
use std::sync::Arc;

/// A voltage or current, `a₀ + Σ aᵢ xᵢ + Σ bₖ λₖ + Σ cₗ uₗ(t) + Σ dₗ u̇ₗ(t)`.
#[derive(Debug, Clone)]
pub struct Signal {
    name: String,
    constant: f64,
    states: Vec<(Name<SystemId>, usize, f64)>,
    multipliers: Vec<(Name<InteractionId>, usize, f64)>,
    sources: Vec<(Arc<Source>, f64)>,
    rates: Vec<(Arc<Source>, f64)>,
    start: f64, // what multipliers add at the beginning
}

/// A part of a model: its handle and its name.
type Name<Id> = (Id, Arc<str>);

/// All that signals are made of.
#[derive(Debug, Clone)]
pub(crate) struct Signals {
    nodes: Vec<(String, Option<Row>)>,
    components: Vec<(String, Row)>,
    terminals: Vec<(String, Row)>,
    columns: super::network::Columns,
    states: Vec<(Name<SystemId>, usize)>,
    multipliers: Vec<(Name<InteractionId>, usize)>,
    sources: Vec<Arc<Source>>,
    systems: Option<Vec<(usize, Autonomous)>>, // of sources that are states, with the first of them
    start: Vec<f64>,                           // multipliers at the beginning
}

impl Signals {
    pub fn new(
        space: &StateSpace<'_>,
        places: &[Place],
        model: &Model,
        (systems, interactions): (&[SystemId], &[InteractionId]),
        sources: &[Arc<Source>],
        of_sources: Option<&[(usize, Autonomous)]>,
    ) -> Signals {
        let (network, circuit) = (&space.network, space.network.circuit);
        let nodes = circuit.nodes.iter().enumerate().map(|(k, name)| {
            let row = network.tree.has(Node(k)).then(|| network.voltage([Node(k), Node::GROUND]));
            (name.clone(), row.map(|row| space.complete(&row)))
        });
        let components =
            circuit.components.iter().enumerate().map(|(k, component)| {
                (component.name.clone(), space.complete(&network.through(k)))
            });
        let mut terminals = Vec::new();
        for (k, component) in circuit.components.iter().enumerate() {
            let named: &[(&str, Node)] = match &component.device {
                Device::Mos { nodes: [d, g, s, b], .. } => {
                    &[("id", *d), ("ig", *g), ("is", *s), ("ib", *b)]
                }
                Device::Bipolar { nodes: [c, b, e], .. } => &[("ic", *c), ("ib", *b), ("ie", *e)],
                _ => &[],
            };
            for (letter, node) in named {
                let row = network.terminal_current(k, *node).unwrap_or_default();
                let name = format!("{letter}({})", component.name.to_lowercase());
                terminals.push((name, space.complete(&row)));
            }
        }
        let names: Vec<Arc<str>> = model.systems().map(|(name, _)| name.into()).collect();
        let states = places
            .iter()
            .map(|place| ((systems[place.system], Arc::clone(&names[place.system])), place.index));
        let mut multipliers = Vec::new();
        let names = model.interactions().map(|(name, _)| Arc::<str>::from(name));
        for ((law, &id), name) in network.parts.laws.iter().zip(interactions).zip(names) {
            multipliers.extend((0..law.multipliers.len()).map(|k| ((id, Arc::clone(&name)), k)));
        }
        Signals {
            nodes: nodes.collect(),
            components: components.collect(),
            terminals,
            columns: space.columns.clone(),
            states: states.collect(),
            multipliers,
            sources: sources.to_vec(),
            systems: of_sources.map(<[_]>::to_vec),
            start: vec![0.0; space.columns.lam.len()],
        }
    }

    /// Gives the multipliers at the beginning.
    pub fn start_with(&mut self, lam0: Option<&[f64]>) {
        if let Some(lam0) = lam0 {
            self.start.copy_from_slice(lam0);
        }
    }

    pub fn names(&self) -> Vec<String> {
        let nodes = self.nodes.iter().skip(1).filter(|(_, row)| row.is_some());
        let voltages = nodes.map(|(name, _)| format!("v({name})"));
        voltages.chain(self.components.iter().map(|(name, _)| format!("i({name})"))).collect()
    }

    pub fn find(&self, text: &str) -> Result<Signal, CircuitError> {
        let syntax = || CircuitError::Signal { text: text.to_string() };
        let (kind, inner) = text.trim().split_once('(').ok_or_else(syntax)?;
        let inner = inner.strip_suffix(')').ok_or_else(syntax)?;
        let unknown = |what, name: &str, nearest: Option<&str>| CircuitError::Unknown {
            owner: format!("signal `{text}`"),
            what,
            name: name.to_string(),
            nearest: nearest.map(str::to_string),
        };
        let row = match kind.trim().to_lowercase().as_str() {
            "v" => {
                let node = |name: &str| {
                    let name = name.trim();
                    let ground = name.eq_ignore_ascii_case("gnd");
                    let same = |known: &str| known.eq_ignore_ascii_case(name);
                    let found = self.nodes.iter().position(|(known, _)| same(known));
                    let known = self.nodes.iter().filter(|one| one.1.is_some());
                    let nearest =
                        || saltus_expr::nearest(name, known.map(|(known, _)| known.as_str()));
                    let row = if ground { Some(0) } else { found };
                    let row = row.and_then(|k| self.nodes[k].1.as_ref());
                    row.ok_or_else(|| unknown("node", name, nearest()))
                };
                let (first, second) = inner.split_once(',').unwrap_or((inner, "0"));
                let mut row = node(first)?.clone();
                row.add(-1.0, node(second)?);
                row
            }
            "i" => {
                let name = inner.trim();
                let known = || self.components.iter();
                let found = known().find(|(known, _)| known.eq_ignore_ascii_case(name));
                let nearest = || saltus_expr::nearest(name, known().map(|one| one.0.as_str()));
                found.ok_or_else(|| unknown("component", name, nearest()))?.1.clone()
            }
            kind => {
                let asked = format!("{kind}({})", inner.trim().to_lowercase());
                let found = self.terminals.iter().find(|(known, _)| *known == asked);
                found.ok_or_else(syntax)?.1.clone()
            }
        };
        Ok(self.signal(text, &row))
    }

    fn signal(&self, name: &str, row: &Row) -> Signal {
        let columns = &self.columns;
        let states = row.within(columns.x.clone()).map(|(k, a)| {
            let (name, index) = &self.states[k];
            (name.clone(), *index, a)
        });
        let multipliers = row.within(columns.lam.clone()).map(|(k, a)| {
            let (name, index) = &self.multipliers[k];
            (name.clone(), *index, a)
        });
        let source = |(k, a): (usize, f64)| (Arc::clone(&self.sources[k]), a);
        let mut signal = Signal {
            name: name.to_string(),
            constant: row.get(columns.one),
            states: states.collect(),
            multipliers: multipliers.collect(),
            sources: row.within(columns.u.clone()).map(source).collect(),
            rates: row.within(columns.j.clone()).map(source).collect(),
            start: row.within(columns.lam.clone()).map(|(k, a)| a * self.start[k]).sum(),
        };
        if let Some(systems) = &self.systems {
            // sources are states
            (signal.sources, signal.rates) = (Vec::new(), Vec::new());
            let mut add = |k: usize, a: f64, row: &[f64]| {
                for (i, b) in row.iter().enumerate().filter(|(_, b)| **b != 0.0) {
                    let (name, index) = &self.states[systems[k].0 + i];
                    signal.states.push((name.clone(), *index, a * b));
                }
            };
            for (k, a) in row.within(columns.u.clone()) {
                signal.constant += a * systems[k].1.offset;
                add(k, a, &systems[k].1.value);
            }
            for (k, a) in row.within(columns.j.clone()) {
                add(k, a, &systems[k].1.rate());
            }
        }
        signal
    }
}

impl Signal {
    /// The name it was asked by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value at time `t`, given the states of systems and the multipliers of interactions.
    pub fn value<'a>(
        &self,
        t: f64,
        x: impl Fn(SystemId) -> &'a [f64],
        lam: impl Fn(InteractionId) -> &'a [f64],
    ) -> f64 {
        let states = self.states.iter().map(|((id, _), k, a)| a * x(*id)[*k]);
        let multipliers = self.multipliers.iter().map(|((id, _), k, a)| a * lam(*id)[*k]);
        self.at(t) + states.sum::<f64>() + multipliers.sum::<f64>()
    }

    /// What a run must have recorded for it: `circuit.x`, `D1.lam`.
    pub(crate) fn paths(&self) -> Vec<String> {
        let path = |name: &str, quantity: Quantity| format!("{name}.{}", quantity.name());
        let states = self.states.iter().map(|((_, name), ..)| path(name, Quantity::X));
        let lams = self.multipliers.iter().map(|((_, name), ..)| path(name, Quantity::Lam));
        states.chain(lams).collect()
    }

    /// The columns of a row of a run that it is a sum of.
    pub(crate) fn columns(&self, layout: &Layout) -> Result<Vec<(usize, f64)>, CircuitError> {
        let missing = |error: SignalError| CircuitError::OperatingPoint { why: error.to_string() };
        let column = |name: &str, quantity: Quantity, k: usize| {
            let path = format!("{name}.{}[{k}]", quantity.name());
            layout.find(&path).map_err(missing).map(|signal| signal.columns.start)
        };
        let states =
            self.states.iter().map(|((_, name), k, a)| Ok((column(name, Quantity::X, *k)?, *a)));
        let multipliers = self
            .multipliers
            .iter()
            .map(|((_, name), k, a)| Ok((column(name, Quantity::Lam, *k)?, *a)));
        states.chain(multipliers).collect()
    }

    /// What is missing in a row of a run, whose columns are [`columns`](Self::columns): time-stepping
    /// knows no multipliers at the beginning.
    pub(crate) fn missing(&self, t: f64, columns: &[(usize, f64)], row: &[f64]) -> f64 {
        let unknown =
            t == 0.0 && columns[self.states.len()..].iter().all(|&(column, _)| row[column] == 0.0);
        if unknown { self.start } else { 0.0 }
    }

    /// The same always, where no source is in it.
    pub(crate) fn still(&self) -> Option<f64> {
        (self.sources.is_empty() && self.rates.is_empty()).then(|| self.at(0.0))
    }

    /// What constants and sources give at time `t`.
    pub(crate) fn at(&self, t: f64) -> f64 {
        let sources = self.sources.iter().map(|(source, a)| a * source.value(t));
        let rates = self.rates.iter().map(|(source, a)| a * source.rate(t));
        self.constant + sources.sum::<f64>() + rates.sum::<f64>()
    }

    /// The value at every row of a run that has recorded the states and multipliers it needs.
    pub fn trace(&self, run: &Run) -> Result<Vec<f64>, CircuitError> {
        let (columns, frames) = (self.columns(&run.layout)?, &run.frames);
        let rows = frames.rows.chunks_exact(run.layout.width().max(1));
        let values = frames.time.iter().zip(rows).map(|(&t, row)| {
            let begin = self.at(t) + self.missing(t, &columns, row);
            columns.iter().fold(begin, |sum, &(column, a)| sum + a * row[column])
        });
        Ok(values.collect())
    }
}
