//! What independent sources add: `e(t) = e₀ + E u(t) + F u̇(t)`.

use crate::Source;
use saltus_model::{Argument, At, Function, Operator};
use std::sync::Arc;

/// A vector that sources move.
#[derive(Debug, Clone, Default)]
pub(crate) struct Forcing {
    constant: Vec<f64>,
    moving: Vec<Moving>,
}

/// A source, and where it acts.
#[derive(Debug, Clone)]
struct Moving {
    source: Arc<Source>,
    rate: bool, // u̇ in place of u
    rows: Vec<(usize, f64)>,
}

impl Forcing {
    /// A constant vector.
    pub fn new(constant: Vec<f64>) -> Forcing {
        Forcing { constant, moving: Vec::new() }
    }

    /// Adds `share · u` (or `u̇`) to a row.
    pub fn add(&mut self, row: usize, share: f64, source: &Arc<Source>, rate: bool) {
        let same = |one: &&mut Moving| Arc::ptr_eq(&one.source, source) && one.rate == rate;
        match self.moving.iter_mut().find(same) {
            Some(one) => one.rows.push((row, share)),
            None => {
                let (source, rows) = (Arc::clone(source), vec![(row, share)]);
                self.moving.push(Moving { source, rate, rows });
            }
        }
    }

    /// The value: every source is asked once.
    pub fn eval(&self, t: f64, out: &mut [f64]) {
        out.copy_from_slice(&self.constant);
        for Moving { source, rate, rows } in &self.moving {
            let value = if *rate { source.rate(t) } else { source.value(t) };
            rows.iter().for_each(|&(row, share)| out[row] += share * value);
        }
    }

    /// Whether nothing moves.
    pub fn is_constant(&self) -> bool {
        self.moving.is_empty()
    }

    /// As an operator; nothing where it is zero.
    pub fn operator(&self) -> Option<Operator> {
        let rows = self.constant.len();
        if self.is_constant() {
            let zero = self.constant.iter().all(|x| *x == 0.0);
            return (!zero).then(|| Operator::constant(rows, 1, self.constant.clone()));
        }
        Some(Operator::function(rows, 1, Arc::new(self.clone())))
    }
}

impl Function for Forcing {
    fn eval(&self, at: At<'_>, out: &mut [f64]) -> Result<(), String> {
        Forcing::eval(self, at.t, out);
        Ok(())
    }

    fn uses(&self, argument: Argument) -> bool {
        argument == Argument::Time && !self.is_constant()
    }

    fn varies(&self, entry: usize) -> bool {
        self.moving.iter().any(|one| one.rows.iter().any(|&(row, _)| row == entry))
    }
}
