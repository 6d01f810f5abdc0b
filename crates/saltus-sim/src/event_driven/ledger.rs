//! Where the energy goes: the ledger of mechanical systems.
//!
//! Powers are integrated with the nodes of the step, of order nine as the step is:
//!
//! ```text
//! work      ← ∫ vᵀ (F + D) + ½ vᵀ Ṁ v − λᵀ ∂h/∂t  dt + V(end) − V(start)                (1)
//! damping   ← ∫ vᵀ D  dt
//! impact, friction  ← −∫ λ u  dt,    at jumps  −½ p (u⁻ + u⁺)                          (2)
//! ```
//!
//! with the damping force `D`, the potential `V`, and the impulse `p` of a jump. What is left of the
//! balance is `numerical`.

use super::EventDriven;
use super::collocation::NODES;
use super::flow::Flow;
use crate::SimError;
use crate::integrators::laws::takes_by_friction;
use crate::run::Ledger;
use saltus_model::Model;

/// The ledger so far, and the energy when it began.
#[derive(Debug, Default)]
pub(super) struct Book {
    pub ledger: Ledger,
    energy0: f64,
    /// Rows whose energy is taken by friction.
    pub frictional: Vec<bool>,
}

impl Book {
    pub fn new(model: &Model) -> Book {
        let mut frictional = Vec::new();
        for (_, interaction) in model.interactions() {
            let rows = 0..interaction.relation.size();
            frictional.extend(rows.map(|i| takes_by_friction(&interaction.law, i)));
        }
        Book { frictional, ..Book::default() }
    }

    /// Energies per second, or of an instant, that rows take along their relative velocities.
    pub fn take(&mut self, row: usize, power: f64) {
        match self.frictional[row] {
            true => self.ledger.friction -= power,
            false => self.ledger.impact -= power,
        }
    }
}

impl EventDriven {
    /// Energies of the mechanical systems, if there are any.
    pub fn ledger(&self) -> Option<Ledger> {
        (self.places[1].states > 0).then(|| {
            let mut book = self.book.ledger;
            let (kinetic, potential) = self.energies;
            (book.kinetic, book.potential) = (kinetic, potential);
            book.closed(self.book.energy0)
        })
    }

    /// Begins the ledger anew.
    pub(super) fn begin_ledger(&mut self) -> Result<(), SimError> {
        self.measure()?;
        self.book.ledger = Ledger::default();
        self.book.energy0 = self.energies.0 + self.energies.1;
        Ok(())
    }

    /// Kinetic and potential energy of the state.
    pub(super) fn measure(&mut self) -> Result<(), SimError> {
        if self.places[1].states > 0 {
            self.energies = self.plant.energies(self.t, &self.X)?;
        }
        Ok(())
    }

    /// Equations (1) and (2) for the step that was done last, before anything is projected.
    pub(super) fn book_step(&mut self) -> Result<(), SimError> {
        let Flow { t, h, .. } = self.flow;
        if self.places[1].states == 0 || h == 0.0 {
            return Ok(());
        }
        let panels = self.flow.panels();
        let share = 1.0 / panels as f64;
        for panel in 0..panels {
            for (i, c) in NODES.iter().enumerate() {
                let theta = share * (panel as f64 + c);
                self.look(theta)?;
                let weight = share * h * self.flow.weight(i);
                let (X, lam) = (&self.work.X, &self.work.lam);
                self.plant.book(t + theta * h, X, lam, weight, &mut self.book)?;
            }
        }
        let before = self.energies.1;
        self.measure()?;
        self.book.ledger.work += self.energies.1 - before;
        Ok(())
    }

    /// Steps of another way, with what their schemes have booked, have led to the state that there
    /// is now.
    pub(super) fn book_steps(&mut self, ledgers: &[Ledger]) -> Result<(), SimError> {
        for of in ledgers {
            let book = &mut self.book.ledger;
            book.work += of.work;
            book.damping += of.damping;
            book.impact += of.impact;
            book.friction += of.friction;
        }
        self.measure()
    }

    /// Equation (2) for a jump with these impulses, from these relative velocities to those that the
    /// plant has now.
    pub(super) fn book_jump(&mut self, impulses: &[f64], before: &[f64]) -> Result<(), SimError> {
        for (row, (p, before)) in impulses.iter().zip(before).enumerate() {
            if let Some(moved) = self.plant.moved(row) {
                self.book.take(row, 0.5 * p * (before + self.plant.u[row]));
                self.book.ledger.work -= p * moved;
            }
        }
        self.measure()
    }

    /// Whatever energy is lost from here to the state that there is now is taken by this block.
    pub(super) fn book_loss(&mut self, block: usize) -> Result<(), SimError> {
        let before = self.energies;
        self.measure()?;
        let gained = self.energies.0 + self.energies.1 - before.0 - before.1;
        if self.places[1].states > 0 {
            self.book.take(self.mode.blocks[block].rows.start, gained);
        }
        Ok(())
    }
}
