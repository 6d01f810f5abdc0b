//! The recorder: one row of frames an instant, all signals or a choice of them.

use crate::integrators::assembly::Places;
use crate::integrators::part::Part;
use crate::integrators::row;
use crate::pushes::pushes_of;
use crate::run::{Frames, Layout, Quantity, Signal, SignalError};
use saltus_model::{Model, Order};
use std::ops::Range;

/// The systems of either order, where there are any.
#[derive(Debug)]
pub(crate) struct Parts {
    pub first: Option<Box<dyn Part>>,
    pub second: Option<Box<dyn Part>>,
}

impl Parts {
    /// All of them.
    pub fn all(&mut self) -> impl Iterator<Item = &mut Box<dyn Part>> {
        [&mut self.first, &mut self.second].into_iter().flatten()
    }

    /// The two halves of a row: first-order systems first, mechanical ones after.
    #[inline]
    pub fn rows(&self) -> [&[f64]; 2] {
        let first = self.first.as_ref().map_or(&[][..], |part| &part.now().values);
        let second = self.second.as_ref().map_or(&[][..], |part| &part.now().values);
        [first, second]
    }
}

/// The signals of a model, all of them, in the order of the model.
pub fn signals_of(model: &Model) -> Layout {
    let mut signals = Vec::new();
    let mut push = |owner: &str, quantity, start: usize, part: &Range<usize>| {
        let columns = start + part.start..start + part.end;
        signals.push(Signal { owner: owner.to_string(), quantity, columns });
    };
    let (first, second) = (Places::new(model, Order::First), Places::new(model, Order::Second));
    let offset = row::width(Order::First, first.sizes());
    let start =
        |order, places: &Places, quantity| row::columns(order, places.sizes(), quantity).start;
    let of_first = |quantity| start(Order::First, &first, quantity);
    let of_second = |quantity| offset + start(Order::Second, &second, quantity);
    for (k, (name, system)) in model.systems().enumerate() {
        for part in system.state_parts() {
            let vector = Quantity::of(part.of);
            let (start, place) = match system.order() {
                Order::First => (of_first(vector), first.of(k, part.of)),
                Order::Second => (of_second(vector), second.of(k, part.of)),
            };
            let start = start + place.map_or(0, |place| place.start);
            let quantity = Quantity::from_name(part.name).unwrap_or(vector);
            push(name, quantity, start, &part.range);
        }
    }
    for (k, (name, _)) in model.interactions().enumerate() {
        if let Some(range) = &first.interactions[k] {
            for quantity in [Quantity::Y, Quantity::Lam] {
                push(name, quantity, of_first(quantity), range);
            }
        }
        if let Some(range) = &second.interactions[k] {
            for quantity in [Quantity::Y, Quantity::U, Quantity::Lam] {
                push(name, quantity, of_second(quantity), range);
            }
        }
        if let Some(bond) = &second.bonds[k] {
            push(name, Quantity::Beta, of_second(Quantity::Beta), bond);
        }
    }
    let sides = model.contact_finder().map_or(&[][..], |finder| finder.sides());
    let sides = sides.iter().map(|side| side.name.to_string()).collect();
    let (ledger, pushes) = (second.states > 0, pushes_of(model));
    Layout { title: model.title().to_string(), signals, ledger, sides, pushes }
}

/// What is recorded of the step that ended at an instant; nothing of the first one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Done {
    pub iterations: usize,
    pub residual: f64,
    pub penetration: f64,
}

/// Writes rows of the chosen signals.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub layout: Layout,
    /// Nothing where all columns are kept, else the columns to keep, where they follow each other as one.
    columns: Option<Vec<Range<usize>>>,
    /// Which of the pushes of the model are kept.
    pub pushes: Vec<usize>,
}

impl Recorder {
    /// All signals, or those whose path (`ball.q`) or owner (`ball`) is listed. The path of a
    /// component (`ball.q[0]`) stands for its whole signal.
    pub fn new(full: Layout, chosen: Option<&[String]>) -> Result<Recorder, SignalError> {
        let Some(chosen) = chosen else {
            let pushes = (0..full.push_count()).collect();
            return Ok(Recorder { layout: full, columns: None, pushes });
        };
        let mut columns = Vec::new();
        let mut signals: Vec<Signal> = Vec::new();
        for path in chosen {
            let same = |a: &Signal, b: &Signal| a.owner == b.owner && a.quantity == b.quantity;
            let named = match full.signals.iter().any(|signal| signal.owner == *path) {
                true => None,
                false => Some(full.find(path)?),
            };
            let asked_for = |signal: &&Signal| match &named {
                None => signal.owner == *path,
                Some(named) => same(signal, named),
            };
            for signal in full.signals.iter().filter(asked_for) {
                if signals.iter().any(|s| same(s, signal)) {
                    continue;
                }
                let start = columns.len();
                columns.extend(signal.columns.clone());
                signals.push(Signal { columns: start..columns.len(), ..signal.clone() });
            }
        }
        columns.extend(full.ledger_columns());
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for column in columns {
            match ranges.last_mut() {
                Some(last) if last.end == column => last.end += 1,
                _ => ranges.push(column..column + 1),
            }
        }
        // what an interaction does is kept with its λ
        let mut kept = Vec::new();
        let mut pushes = full.pushes;
        for (k, push) in pushes.iter_mut().enumerate() {
            let own = |s: &Signal| s.quantity == Quantity::Lam && s.owner == push.interaction;
            if push.place.is_some() && signals.iter().any(own) {
                push.place = Some(kept.len());
                kept.push(k);
            } else {
                push.place = None;
            }
        }
        let layout = Layout { signals, pushes, ..full };
        Ok(Recorder { layout, columns: Some(ranges), pushes: kept })
    }

    /// Adds a row given in two halves: first-order systems, mechanical ones.
    #[inline]
    pub fn record(&self, frames: &mut Frames, t: f64, [first, second]: [&[f64]; 2], done: &Done) {
        frames.time.push(t);
        frames.iterations.push(done.iterations as u32);
        frames.residual.push(done.residual);
        if self.layout.ledger {
            frames.penetration.push(done.penetration);
        }
        match &self.columns {
            None => {
                frames.rows.extend_from_slice(first);
                frames.rows.extend_from_slice(second);
            }
            Some(columns) => {
                for range in columns {
                    let own = range.start.min(first.len())..range.end.min(first.len());
                    frames.rows.extend_from_slice(&first[own]);
                    if range.end > first.len() {
                        let other = range.start.max(first.len()) - first.len();
                        frames.rows.extend_from_slice(&second[other..range.end - first.len()]);
                    }
                }
            }
        }
    }
}
