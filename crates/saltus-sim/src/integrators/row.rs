//! What a part of the simulation knows at one instant, in one piece, so that recording it is one
//! copy.
//!
//! ```text
//! first order:  x, y, λ            mechanics:  q, v, y, u, λ, ledger
//! ```

use crate::{Ledger, Quantity};
use saltus_model::Order;
use saltus_numerics::Memory;
use std::ops::Range;

/// The row of the systems of one order: `n` state components, `m` outputs.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    order: Order,
    n: usize,
    m: usize,
    pub values: Vec<f64>,
}

/// The row of first-order systems, to be changed.
pub(crate) struct FirstOrderFields<'a> {
    pub x: &'a mut [f64],
    pub y: &'a mut [f64],
    pub lam: &'a mut [f64],
}

/// The row of mechanical systems, to be changed.
pub(crate) struct MechanicalFields<'a> {
    pub q: &'a mut [f64],
    pub v: &'a mut [f64],
    pub y: &'a mut [f64],
    pub u: &'a mut [f64],
    pub lam: &'a mut [f64],
    pub ledger: &'a mut [f64],
}

impl Row {
    pub fn new(order: Order, n: usize, m: usize) -> Row {
        Row { order, n, m, values: vec![0.0; width(order, n, m)] }
    }

    pub fn memory(&mut self, memory: &mut Memory) {
        memory.numbers(&mut self.values);
    }

    pub fn get(&self, quantity: Quantity) -> &[f64] {
        &self.values[columns(self.order, self.n, self.m, quantity)]
    }

    pub fn get_mut(&mut self, quantity: Quantity) -> &mut [f64] {
        &mut self.values[columns(self.order, self.n, self.m, quantity)]
    }

    /// Replaces the ledger, where there is one.
    pub fn set_ledger(&mut self, ledger: &[f64]) {
        if self.order == Order::Second {
            let first = self.values.len() - ledger.len();
            self.values[first..].copy_from_slice(ledger);
        }
    }

    /// The ledger of mechanical systems.
    pub fn ledger(&self) -> Ledger {
        Ledger::from_slice(&self.values[self.values.len().saturating_sub(Ledger::NAMES.len())..])
    }

    #[inline]
    pub fn first_order(&mut self) -> FirstOrderFields<'_> {
        let (x, rest) = self.values.split_at_mut(self.n);
        let (y, lam) = rest.split_at_mut(self.m);
        FirstOrderFields { x, y, lam }
    }

    #[inline]
    pub fn mechanical(&mut self) -> MechanicalFields<'_> {
        let (q, rest) = self.values.split_at_mut(self.n);
        let (v, rest) = rest.split_at_mut(self.n);
        let (y, rest) = rest.split_at_mut(self.m);
        let (u, rest) = rest.split_at_mut(self.m);
        let (lam, ledger) = rest.split_at_mut(self.m);
        MechanicalFields { q, v, y, u, lam, ledger }
    }
}

/// Where each quantity stands in a row; empty where it does not.
pub(crate) fn columns(order: Order, n: usize, m: usize, quantity: Quantity) -> Range<usize> {
    let starts: &[(Quantity, usize, usize)] = match order {
        Order::First => &[(Quantity::X, 0, n), (Quantity::Y, n, m), (Quantity::Lam, n + m, m)],
        Order::Second => &[
            (Quantity::Q, 0, n),
            (Quantity::V, n, n),
            (Quantity::Y, 2 * n, m),
            (Quantity::U, 2 * n + m, m),
            (Quantity::Lam, 2 * n + 2 * m, m),
        ],
    };
    let place = starts.iter().find(|(stored, ..)| *stored == quantity);
    place.map_or(0..0, |&(_, start, len)| start..start + len)
}

/// Columns of a row.
pub(crate) fn width(order: Order, n: usize, m: usize) -> usize {
    match order {
        Order::First => n + 2 * m,
        Order::Second => 2 * n + 3 * m + Ledger::NAMES.len(),
    }
}
