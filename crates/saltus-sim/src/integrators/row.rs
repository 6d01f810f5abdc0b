//! What a part of the simulation knows at one instant, in one piece, so that recording it is one
//! copy.
//!
//! ```text
//! first order:  x, y, λ            mechanics:  q, v, y, u, λ, β, ledger
//! ```

use crate::{Ledger, Quantity};
use saltus_model::Order;
use saltus_numerics::Memory;
use std::ops::Range;

/// The row of the systems of one order.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    order: Order,
    sizes: Sizes,
    pub values: Vec<f64>,
}

/// How much there is of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Components of `q`; of first-order systems as many as of `x`.
    pub positions: usize,
    /// Components of `x` or `v`.
    pub states: usize,
    /// Outputs.
    pub outputs: usize,
    /// Bonds.
    pub bonds: usize,
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
    pub beta: &'a mut [f64],
    pub ledger: &'a mut [f64],
}

impl Row {
    pub fn new(order: Order, sizes: Sizes) -> Row {
        Row { order, sizes, values: vec![0.0; width(order, sizes)] }
    }

    pub fn memory(&mut self, memory: &mut Memory) {
        memory.numbers(&mut self.values);
    }

    #[inline]
    pub fn get(&self, quantity: Quantity) -> &[f64] {
        &self.values[columns(self.order, self.sizes, quantity)]
    }

    pub fn get_mut(&mut self, quantity: Quantity) -> &mut [f64] {
        &mut self.values[columns(self.order, self.sizes, quantity)]
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
        let (x, rest) = self.values.split_at_mut(self.sizes.states);
        let (y, lam) = rest.split_at_mut(self.sizes.outputs);
        FirstOrderFields { x, y, lam }
    }

    #[inline]
    pub fn mechanical(&mut self) -> MechanicalFields<'_> {
        let Sizes { positions, states: n, outputs: m, bonds } = self.sizes;
        let (q, rest) = self.values.split_at_mut(positions);
        let (v, rest) = rest.split_at_mut(n);
        let (y, rest) = rest.split_at_mut(m);
        let (u, rest) = rest.split_at_mut(m);
        let (lam, rest) = rest.split_at_mut(m);
        let (beta, ledger) = rest.split_at_mut(bonds);
        MechanicalFields { q, v, y, u, lam, beta, ledger }
    }
}

/// Where each quantity stands in a row; empty where it does not.
#[inline]
pub(crate) fn columns(order: Order, sizes: Sizes, quantity: Quantity) -> Range<usize> {
    let Sizes { positions, states: n, outputs: m, bonds } = sizes;
    let after = positions + n;
    let (start, len) = match (order, quantity) {
        (Order::First, Quantity::X) => (0, n),
        (Order::First, Quantity::Y) => (n, m),
        (Order::First, Quantity::Lam) => (n + m, m),
        (Order::Second, Quantity::Q) => (0, positions),
        (Order::Second, Quantity::V) => (positions, n),
        (Order::Second, Quantity::Y) => (after, m),
        (Order::Second, Quantity::U) => (after + m, m),
        (Order::Second, Quantity::Lam) => (after + 2 * m, m),
        (Order::Second, Quantity::Beta) => (after + 3 * m, bonds),
        _ => (0, 0),
    };
    start..start + len
}

/// Columns of a row.
pub(crate) fn width(order: Order, sizes: Sizes) -> usize {
    let Sizes { positions, states: n, outputs: m, bonds } = sizes;
    match order {
        Order::First => n + 2 * m,
        Order::Second => positions + n + 3 * m + bonds + Ledger::NAMES.len(),
    }
}
