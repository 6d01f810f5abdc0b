//! The recorder: one row of frames an instant, all signals or a choice of them.

use crate::integrators::euler_moreau::EulerMoreauPart;
use crate::integrators::moreau_jean::MoreauJeanPart;
use crate::run::{Frames, Layout, Quantity, Signal, SignalError};
use saltus_model::{Model, Order};

/// The systems of either order, where there are any.
#[derive(Debug)]
pub(crate) struct Parts {
    pub first: Option<EulerMoreauPart>,
    pub second: Option<MoreauJeanPart>,
}

impl Parts {
    /// A row of a quantity: first-order systems and interactions first, mechanical ones after.
    fn row(&self, quantity: Quantity) -> [&[f64]; 2] {
        let first = self.first.as_ref().map_or(&[][..], |part| part.now.get(quantity));
        let second = self.second.as_ref().map_or(&[][..], |part| part.now.get(quantity));
        [first, second]
    }
}

/// The signals of a model, all of them, in the order of the model.
pub(crate) fn full_layout(model: &Model, parts: &Parts) -> Layout {
    let mut signals = Vec::new();
    let mut push = |owner: &str, quantity, columns| {
        signals.push(Signal { owner: owner.to_string(), quantity, columns });
    };
    for (k, (name, system)) in model.systems().enumerate() {
        let place = match system.order() {
            Order::First => parts.first.as_ref().map(|p| &p.places),
            Order::Second => parts.second.as_ref().map(|p| &p.places),
        };
        let Some(range) = place.and_then(|p| p.systems[k].clone()) else { continue };
        match system.order() {
            Order::First => push(name, Quantity::X, range),
            Order::Second => {
                push(name, Quantity::Q, range.clone());
                push(name, Quantity::V, range);
            }
        }
    }
    let offset = parts.first.as_ref().map_or(0, |p| p.places.outputs);
    for (k, (name, interaction)) in model.interactions().enumerate() {
        match interaction.relation.order() {
            Order::First => {
                let place = parts.first.as_ref().and_then(|p| p.places.interactions[k].clone());
                let Some(range) = place else { continue };
                push(name, Quantity::Y, range.clone());
                push(name, Quantity::Lam, range);
            }
            Order::Second => {
                let place = parts.second.as_ref().and_then(|p| p.places.interactions[k].clone());
                let Some(range) = place else { continue };
                let shifted = offset + range.start..offset + range.end;
                push(name, Quantity::Y, shifted.clone());
                push(name, Quantity::U, range);
                push(name, Quantity::Lam, shifted);
            }
        }
    }
    let ledger = parts.second.is_some();
    Layout { title: model.title().to_string(), signals, ledger }
}

/// Writes rows of the chosen signals.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub layout: Layout,
    /// For each quantity: nothing where all columns are kept, else the columns to keep.
    columns: [Option<Vec<usize>>; 6],
}

impl Recorder {
    /// All signals, or those whose path (`ball.q`, `ball.q[0]`) or owner (`ball`) is listed.
    pub fn new(full: Layout, chosen: Option<&[String]>) -> Result<Recorder, SignalError> {
        let Some(chosen) = chosen else {
            return Ok(Recorder { layout: full, columns: Default::default() });
        };
        let mut columns: [Option<Vec<usize>>; 6] = std::array::from_fn(|_| Some(Vec::new()));
        let mut signals: Vec<Signal> = Vec::new();
        for path in chosen {
            let of_owner: Vec<Signal> =
                full.signals.iter().filter(|signal| signal.owner == *path).cloned().collect();
            let found = if of_owner.is_empty() { vec![full.find(path)?] } else { of_owner };
            for signal in found {
                let taken = signals
                    .iter()
                    .any(|s| s.owner == signal.owner && s.quantity == signal.quantity);
                if taken {
                    continue;
                }
                let kept = columns[signal.quantity as usize].get_or_insert_default();
                let start = kept.len();
                kept.extend(signal.columns.clone());
                signals.push(Signal { columns: start..kept.len(), ..signal });
            }
        }
        let layout = Layout { title: full.title, signals, ledger: full.ledger };
        Ok(Recorder { layout, columns })
    }

    /// Adds the current state as a row.
    #[inline]
    pub fn record(
        &self,
        frames: &mut Frames,
        t: f64,
        parts: &Parts,
        iterations: usize,
        residual: f64,
    ) {
        frames.time.push(t);
        frames.iterations.push(iterations as u32);
        frames.residual.push(residual);
        for quantity in Quantity::ALL {
            let [first, second] = parts.row(quantity);
            let table = &mut frames.tables[quantity as usize];
            match &self.columns[quantity as usize] {
                None => {
                    table.extend_from_slice(first);
                    table.extend_from_slice(second);
                }
                Some(columns) => {
                    for &column in columns {
                        let value = match column.checked_sub(first.len()) {
                            None => first[column],
                            Some(column) => second[column],
                        };
                        table.push(value);
                    }
                }
            }
        }
        if let Some(part) = &parts.second {
            frames.ledger.extend_from_slice(&part.now.ledger().to_array());
        }
    }
}
