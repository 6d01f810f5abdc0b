//! Where another way through time takes over, and gives back.

use super::control::Control;
use super::transition::VANISHING;
use super::{EventDriven, Instant};
use crate::SimError;
use crate::integrators::row::Row;
use crate::run::{EventKind, EventRecord, Ledger};

impl EventDriven {
    /// The state `(x, q, v)`.
    pub(crate) fn state(&self) -> &[f64] {
        &self.X
    }

    /// How often the model has been changed.
    pub(crate) fn generation(&self) -> usize {
        self.generation
    }

    /// Whether the last step has come to an event of a law.
    pub(crate) fn is_at_event(&self) -> bool {
        self.pending.is_some()
    }

    /// What the last step has come to is left to another way.
    pub(crate) fn forget_event(&mut self) {
        self.pending = None;
    }

    /// Where the next step ends at the latest.
    pub(crate) fn next_stop(&self, until: f64) -> f64 {
        self.stop(until)
    }

    /// All that is known now: of first-order systems, and of mechanical ones.
    pub(crate) fn row_pair(&mut self) -> &[Row; 2] {
        self.fill_rows();
        &self.rows
    }

    /// Tells the schemes of another way which switches are closed.
    pub(crate) fn tell_switches_to(&self, schemes: &mut Instant) {
        self.mode.tell_switches(schemes);
    }

    /// How far the control of a switch is past its level at a state, at most, in units of what is known of it.
    pub(crate) fn past_switches(&self, t: f64, X: &[f64]) -> f64 {
        let past = |(control, closed): (&Control, bool)| {
            let level = control.margin_of(closed).1;
            -control.margin(closed, t, X) / self.tolerance.of(level)
        };
        let switches = self.mode.switches().filter_map(|block| self.mode.switch(block));
        switches.map(past).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Turns the switches whose controls are past their levels, after a step with this state in its middle; whether
    /// there were any.
    pub(crate) fn turn_switches(&mut self, (t, X): (f64, &[f64])) -> Result<bool, SimError> {
        let mut turned = false;
        for block in 0..self.mode.blocks.len() {
            let Some((control, closed)) = self.mode.switch(block) else { continue };
            if control.margin(closed, self.t, &self.X) < 0.0 {
                self.turn(block, t, Some(X))?;
                self.log_event(self.t, EventKind::Switch, block, Vec::new());
                turned = true;
            }
        }
        Ok(turned)
    }

    /// A state of another way, to be recorded.
    pub(crate) fn rows_of(&mut self, t: f64, X: &[f64], lam: &[f64]) -> [&[f64]; 2] {
        self.work.X.copy_from_slice(X);
        self.work.lam.copy_from_slice(lam);
        let known = self.plant.outputs(t, X, lam).is_ok();
        self.show_outputs(true, known);
        self.halves()
    }

    /// Another way has brought the model here, by these events and with these ledgers of its steps and
    /// this error.
    pub(crate) fn arrive(
        &mut self,
        t: f64,
        (X, lam): (&[f64], &[f64]),
        events: Vec<EventRecord>,
        ledgers: &[Ledger],
        error: f64,
    ) -> Result<(), SimError> {
        self.t = t;
        self.errors += error;
        self.X.copy_from_slice(X);
        self.lam.copy_from_slice(lam);
        self.pending = None;
        self.crossing.clear();
        self.events.log.extend(events);
        self.book_steps(ledgers)
    }

    /// Goes on from event to event, with steps of about this length.
    ///
    /// Outputs, relative velocities and forces of the other way, if they are still true, tell what
    /// it held; what is left of gaps and velocities there goes.
    pub(crate) fn resume(&mut self, h: f64, outputs: Option<[&[f64]; 3]>) -> Result<(), SimError> {
        (self.h, self.epsilon, self.last_event) = (h, VANISHING * h, self.t);
        self.idle = 0;
        self.standstill.forget();
        self.series.fill(Default::default());
        self.mode.unknown.fill(true);
        if let Some([y, u, lam]) = outputs {
            let mut branches = std::mem::take(&mut self.work.branches);
            self.mode.read(y, u, lam, f64::INFINITY, &mut branches);
            self.mode.set(&branches);
            self.work.branches = branches;
            self.project()?;
        }
        self.settle(None)
    }
}
