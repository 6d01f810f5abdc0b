//! The state of an event-driven simulation: what can be read, set and recorded of it.

use super::EventDriven;
use super::accumulation::Series;
use super::flow::Flow;
use super::mode::Branch;
use crate::SimError;
use crate::checkpoint::Checkpoint;
use crate::driver::{self, RunFailure, RunOptions, StepStats, Strategy};
use crate::run::{EventRecord, Ledger, Quantity, Run};
use crate::time_stepping::{check_state, range_of};
use saltus_model::{InteractionId, Model, Order, SystemId};
use std::ops::Range;

/// What a step that fails goes back to.
#[derive(Debug, Default)]
pub(super) struct Before {
    t: f64,
    X: Vec<f64>,
    lam: Vec<f64>,
    ledger: Ledger,
    energies: (f64, f64),
}

/// What an event whose consequences cannot be found goes back to.
#[derive(Debug, Default)]
pub(super) struct BeforeEvent {
    state: Before,
    branches: Vec<Branch>,
    unknown: Vec<bool>,
    series: Vec<Series>,
    logged: usize,
    unsettled: bool,
    idle: usize,
    last_event: f64,
}

impl Before {
    fn keep(&mut self, t: f64, X: &[f64], lam: &[f64], book: (Ledger, (f64, f64))) {
        self.t = t;
        self.X.clear();
        self.X.extend_from_slice(X);
        self.lam.clear();
        self.lam.extend_from_slice(lam);
        (self.ledger, self.energies) = book;
    }
}

impl EventDriven {
    /// Back to the initial state and time, with the initial parameters, laws and connections. If
    /// it fails, nothing has changed.
    pub fn reset(&mut self) -> Result<(), SimError> {
        if let Some(base) = &self.base {
            self.take_model(base.as_ref().clone(), false)?;
            self.base = None;
        }
        self.X = self.plant.initial();
        self.mode.restart();
        self.t = self.model.t0();
        self.events.reset(&self.model);
        self.crossing.clear();
        self.unsettled = false;
        self.forget();
        Ok(())
    }

    /// State of a first-order system.
    pub fn x(&self, id: SystemId) -> Result<&[f64], SimError> {
        Ok(&self.X[self.place(id, Quantity::X)?])
    }

    /// Configuration of a mechanical system.
    pub fn q(&self, id: SystemId) -> Result<&[f64], SimError> {
        Ok(&self.X[self.place(id, Quantity::Q)?])
    }

    /// Velocity of a mechanical system.
    pub fn v(&self, id: SystemId) -> Result<&[f64], SimError> {
        Ok(&self.X[self.place(id, Quantity::V)?])
    }

    /// Output (gap) of an interaction. (The simulation is borrowed to be changed: outputs are
    /// computed when they are asked for.)
    pub fn y(&mut self, id: InteractionId) -> &[f64] {
        self.of_interaction(id, Quantity::Y)
    }

    /// Relative velocity of a mechanical interaction; empty for a first-order one.
    pub fn u(&mut self, id: InteractionId) -> &[f64] {
        self.of_interaction(id, Quantity::U)
    }

    /// Multiplier of an interaction (mechanics: its force).
    pub fn lam(&mut self, id: InteractionId) -> &[f64] {
        self.of_interaction(id, Quantity::Lam)
    }

    /// Replaces the state of a first-order system. What follows is found anew.
    pub fn set_x(&mut self, id: SystemId, x: &[f64]) -> Result<(), SimError> {
        let range = self.place(id, Quantity::X)?;
        check_state("x", x, range.len())?;
        self.X[range].copy_from_slice(x);
        self.forget();
        Ok(())
    }

    /// Replaces configuration or velocity, or both, of a mechanical system. What follows is found
    /// anew.
    pub fn set_qv(
        &mut self,
        id: SystemId,
        q: Option<&[f64]>,
        v: Option<&[f64]>,
    ) -> Result<(), SimError> {
        let both = [("q", Quantity::Q, q), ("v", Quantity::V, v)];
        for (what, quantity, value) in both {
            let range = self.place(id, quantity)?;
            if let Some(value) = value {
                check_state(what, value, range.len())?;
            }
        }
        for (_, quantity, value) in both {
            let range = self.place(id, quantity)?;
            if let Some(value) = value {
                self.X[range].copy_from_slice(value);
            }
        }
        self.forget();
        Ok(())
    }

    /// The mode, the next step and what has been seen of accumulations.
    fn forget(&mut self) {
        self.fresh = true;
        self.pending = None;
        self.idle = 0;
        self.standstill.forget();
        self.errors = 0.0;
        self.lam.fill(0.0);
        self.series.fill(Series::default());
        self.mode.unknown.fill(true);
        self.flow.restart();
        let _ = self.begin_ledger(); // the next step does it again, and tells what fails
    }

    /// Back to the beginning of the step.
    fn undo(&mut self) {
        let Before { t, X, lam, ledger, energies } = &self.work.before;
        self.t = *t;
        self.X.copy_from_slice(X);
        self.lam.copy_from_slice(lam);
        (self.book.ledger, self.energies) = (*ledger, *energies);
        self.flow.restart();
        self.flow.guess(&self.lam);
    }

    /// Keeps what [`take_back`](Self::take_back) goes back to.
    pub(super) fn keep_event(&mut self) {
        let of = &mut self.work.before_event;
        of.state.keep(self.t, &self.X, &self.lam, (self.book.ledger, self.energies));
        of.branches.clone_from(&self.mode.branches);
        of.unknown.clone_from(&self.mode.unknown);
        of.series.clone_from(&self.series);
        of.logged = self.events.log.len();
        of.unsettled = self.unsettled;
        (of.idle, of.last_event) = (self.idle, self.last_event);
    }

    /// Back to before an event.
    pub(super) fn take_back(&mut self) {
        let of = &self.work.before_event;
        let Before { t, X, lam, ledger, energies } = &of.state;
        self.t = *t;
        self.X.copy_from_slice(X);
        self.lam.copy_from_slice(lam);
        (self.book.ledger, self.energies) = (*ledger, *energies);
        self.mode.set(&of.branches);
        self.mode.unknown.clone_from(&of.unknown);
        self.series.clone_from(&of.series);
        self.events.log.truncate(of.logged);
        self.unsettled = of.unsettled;
        (self.idle, self.last_event) = (of.idle, of.last_event);
        self.standstill.forget();
        self.flow.restart();
        self.flow.guess(&self.lam);
    }

    /// Where the state of a system is.
    fn place(&self, id: SystemId, quantity: Quantity) -> Result<Range<usize>, SimError> {
        let (nx, nq) = (self.places[0].states, self.places[1].states);
        let (order, what, start) = match quantity {
            Quantity::X => (Order::First, "x", 0),
            Quantity::Q => (Order::Second, "q, v", nx),
            _ => (Order::Second, "q, v", nx + nq),
        };
        let places = &self.places[usize::from(order == Order::Second)];
        let range = range_of(&self.model, id, places.systems.get(id.index()), what, order)?;
        Ok(start + range.start..start + range.end)
    }

    fn of_interaction(&mut self, id: InteractionId, quantity: Quantity) -> &[f64] {
        self.fill_rows();
        for (places, row) in self.places.iter().zip(&self.rows) {
            if let Some(Some(range)) = places.interactions.get(id.index()) {
                return row.get(quantity).get(range.clone()).unwrap_or(&[]);
            }
        }
        &[]
    }

    /// State, outputs and multipliers as they are now.
    pub(super) fn fill_rows(&mut self) {
        let known = self.plant.outputs(self.t, &self.X, &self.lam).is_ok();
        self.show_outputs(false, known);
    }

    /// The rows, with the outputs that were computed last, if they are known.
    pub(super) fn show_outputs(&mut self, polynomial: bool, known: bool) {
        if !known {
            self.plant.y.fill(f64::NAN);
            self.plant.u.fill(f64::NAN);
        }
        self.show(polynomial);
    }

    pub(super) fn halves(&self) -> [&[f64]; 2] {
        let mechanical = self.places[1].states > 0;
        [&self.rows[0].values, if mechanical { &self.rows[1].values } else { &[] }]
    }

    /// The deepest penetration of a contact.
    fn penetration(&self) -> f64 {
        let blocks = (0..self.mode.blocks.len()).filter(|&k| self.mode.is_contact(k));
        blocks.map(|k| -self.plant.y[self.mode.blocks[k].rows.start]).fold(0.0, f64::max)
    }
}

impl Strategy for EventDriven {
    const NAME: &'static str = "event-driven";
    const CHECKPOINTS: bool = false;
    const SAMPLES: bool = true;

    fn model(&self) -> &Model {
        &self.model
    }

    fn t(&self) -> f64 {
        self.t
    }

    fn events(&self) -> &[EventRecord] {
        &self.events.log
    }

    fn error_estimate(&self) -> Option<f64> {
        Some(self.errors)
    }

    fn begin(&mut self, until: f64) -> Result<(), SimError> {
        driver::check_until(Self::NAME, until, self.t, 0.0)?;
        self.may_fly = true;
        self.begin_towards(until)
    }

    fn finished(&self, until: f64) -> bool {
        self.done(until)
    }

    fn advance(&mut self, until: f64) -> Result<StepStats, SimError> {
        if self.is_flying() || self.take_off(until) {
            return Ok(self.fly(until));
        }
        if let Some(done) = self.glide(until) {
            return Ok(done);
        }
        let start = self.t;
        self.work.before.keep(start, &self.X, &self.lam, (self.book.ledger, self.energies));
        let iterations = self.advance_smoothly(until).inspect_err(|_| self.undo())?;
        let (t, h, penetration) = (self.t, self.t - start, self.penetration());
        // of the problems of the event before it; iterations are those of the step itself
        let residual = std::mem::take(&mut self.instant.solved).residual;
        Ok(StepStats { t, h, iterations, residual, penetration })
    }

    fn jumps(&self) -> bool {
        self.pending.is_some() || self.crossing.contains(&true)
    }

    fn react(&mut self, _until: f64) -> Result<(), SimError> {
        if self.is_flying() {
            self.touch()?;
            if self.is_flying() {
                return Ok(());
            }
        }
        self.settle_pending()?;
        self.happen()
    }

    fn rows(&mut self) -> [&[f64]; 2] {
        match self.is_flying() {
            true => self.show_flight(self.t),
            false => self.fill_rows(),
        }
        self.halves()
    }

    fn rows_at(&mut self, t: f64) -> [&[f64]; 2] {
        if self.is_flying() {
            self.show_flight(t);
            return self.halves();
        }
        let Flow { t: start, h, .. } = self.flow;
        let known = self.look((t - start) / h).is_ok();
        self.show_outputs(true, known);
        self.halves()
    }

    fn steps_left(&self, _until: f64) -> Option<usize> {
        None
    }

    fn run_until(&mut self, until: f64, options: RunOptions<'_>) -> Result<Run, RunFailure> {
        self.run_with(until, options)
    }

    fn take_resumed(&mut self) -> usize {
        0
    }

    fn checkpoint_after(&mut self, _steps: usize) -> Result<Checkpoint, SimError> {
        Err(SimError::NoCheckpoint { strategy: Self::NAME })
    }
}
