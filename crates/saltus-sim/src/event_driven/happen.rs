//! Events of the model: scheduled instants end steps, and so do conditions that become true.
//!
//! A condition made of comparisons changes where the difference of two sides passes through zero:
//! that is an indicator like those of the laws, and located like them (`watch`). At the instant
//! itself round-off may still deny the condition; it counts as true there.

use super::EventDriven;
use super::flight::Flight;
use super::flow::Flow;
use super::instant::Instant;
use super::ledger::Book;
use super::mode::Mode;
use super::plant::Plant;
use crate::SimError;
use crate::events::{Changes, EventState, ROUNDS, changed_model};
use crate::run::Quantity;
use saltus_model::{Model, Order};

/// Conditions that change within so many roundings of the time change at one instant.
const TOGETHER: f64 = 256.0 * f64::EPSILON;

impl EventDriven {
    /// What events have done so far.
    pub fn event_state(&self) -> &EventState {
        &self.events.state
    }

    /// The instant at which the next step ends at the latest.
    pub(super) fn stop(&self, until: f64) -> f64 {
        until.min(self.events.next_instant())
    }

    /// Events that are due before the first step, or could not happen after the last one.
    pub(super) fn begin_events(&mut self) -> Result<(), SimError> {
        self.events.state.stopped = false;
        if self.unsettled {
            self.settle(None)?;
        }
        if self.events.state.pending { self.happen() } else { Ok(()) }
    }

    /// Notes which conditions become true at the end of the step.
    pub(super) fn note_crossings(&mut self, located: Option<usize>) -> Result<(), SimError> {
        self.crossing.clear();
        if self.events.is_empty() {
            return Ok(());
        }
        if let Some(k) = located {
            // it may have been true at the beginning of the step
            self.events.release(k);
        }
        let Flow { t, h, .. } = self.flow;
        // a step of length zero has nothing beyond it but itself
        let beyond = if h > 0.0 { (TOGETHER * self.t.abs().max(h) / h).min(0.5) } else { 0.0 };
        self.look(1.0 + beyond)?;
        self.show(true);
        let t = t + (1.0 + beyond) * h;
        for k in 0..self.events.len() {
            let rows = self.rows.each_ref().map(|row| &row.values[..]);
            let open = self.events.held(k) == Some(false);
            let now = located == Some(k) || (open && self.events.holds(k, t, rows));
            self.crossing.push(now);
        }
        Ok(())
    }

    /// All that is due now happens; then what follows from it.
    pub(crate) fn happen(&mut self) -> Result<(), SimError> {
        if self.events.is_empty() {
            return Ok(());
        }
        self.events.state.pending = true;
        self.events.state.stopped = false;
        let mut last = 0;
        for _ in 0..ROUNDS {
            self.plant.outputs(self.t, &self.X, &self.lam)?;
            self.show(false);
            let t = self.t;
            let rows = self.rows.each_ref().map(|row| &row.values[..]);
            if !self.events.look(t, |instant| instant <= t, rows, &self.crossing)? {
                self.events.state.pending = false;
                self.crossing.clear();
                return Ok(());
            }
            for k in 0..self.events.len() {
                if self.events.is_due(k) {
                    let compared = self.compared();
                    self.fire(k).map_err(|error| self.events.failed(k, t, error))?;
                    last = k;
                    self.forget_crossings(&compared)?;
                }
            }
            if self.unsettled && !self.stays() {
                self.settle(None)?;
            }
        }
        Err(self.events.endless(self.t, last))
    }

    /// What the conditions compare that become true at this instant.
    fn compared(&mut self) -> Vec<Vec<f64>> {
        let rows = self.rows.each_ref().map(|row| &row.values[..]);
        let mut all = vec![Vec::new(); self.crossing.len()];
        for (k, of) in all.iter_mut().enumerate().filter(|(k, _)| self.crossing[*k]) {
            self.events.margins(k, self.t, rows, of);
        }
        all
    }

    /// A condition that now compares something else does not become true: it is or it is not.
    fn forget_crossings(&mut self, before: &[Vec<f64>]) -> Result<(), SimError> {
        if !self.unsettled {
            return Ok(());
        }
        self.plant.outputs(self.t, &self.X, &self.lam)?;
        self.show(false);
        for (k, after) in self.compared().iter().enumerate() {
            let same = !after.is_empty() && *after == before[k];
            self.crossing[k] &= same;
        }
        Ok(())
    }

    /// One event happens. If it fails, nothing has changed.
    fn fire(&mut self, k: usize) -> Result<(), SimError> {
        self.plant.outputs(self.t, &self.X, &self.lam)?;
        self.show(false);
        let rows = self.rows.each_ref().map(|row| &row.values[..]);
        let changes = self.events.evaluate(k, self.t, &self.model, rows)?;
        let Changes { state, states, orders, anew, records } = changes;
        let mut X = self.X.clone();
        for (id, [first, second]) in &states {
            for (k, values) in [first, second].into_iter().enumerate() {
                if let Some(values) = values {
                    let place = self.plant.system(id.index(), k == 1);
                    X[place].copy_from_slice(values);
                }
            }
        }
        // whatever can fail comes first
        if orders.contains(&true) {
            let base = self.base.as_deref().unwrap_or(&self.model);
            let model = changed_model(base, &state)?;
            Plant::new(&model).energies(self.t, &X)?;
            let before = self.take_model(model, true)?;
            self.base.get_or_insert_with(|| Box::new(before));
            self.unsettled = true;
        } else {
            self.plant.energies(self.t, &X)?;
        }
        self.X = X;
        self.unsettled |= !states.is_empty();
        let set = states.iter().any(|(id, _)| {
            matches!(self.model.system(*id), Ok(system) if system.order() == Order::Second)
        });
        if anew || set {
            self.begin_ledger()?;
        }
        self.events.happened(k, self.t, state, records);
        Ok(())
    }

    /// Another model of the same systems and interactions takes the place of this one, which is
    /// given back. Inputs and branches `go on` or are those of the beginning. If it fails, nothing
    /// has changed.
    pub(super) fn take_model(&mut self, model: Model, go_on: bool) -> Result<Model, SimError> {
        let mut plant = Plant::new(&model);
        let mut mode = Mode::new(&model, |k| plant.states_of(k).to_vec())?;
        if go_on {
            plant.adopt(&self.plant);
            mode.adopt(&self.mode);
        }
        let instant = Instant::new(&model, 10.0 * self.tolerance.atol, &self.solver)?;
        self.events.take_parameters(&model);
        self.flow = Flow::new(&model, &plant, &mode);
        self.flight = Flight::new(&model, &mode);
        (self.plant, self.mode, self.instant) = (plant, mode, instant);
        self.book.frictional = Book::new(&model).frictional;
        self.series = vec![Default::default(); self.mode.blocks.len()];
        self.returns = vec![0; self.mode.blocks.len()];
        self.generation += 1;
        Ok(std::mem::replace(&mut self.model, model))
    }

    /// Fills the rows with the state, or with what was looked at on the polynomial. Outputs were
    /// evaluated before.
    pub(super) fn show(&mut self, polynomial: bool) {
        let (X, lam) = match polynomial {
            true => (&self.work.X, &self.work.lam),
            false => (&self.X, &self.lam),
        };
        let (nx, nq) = (self.places[0].states, self.places[1].states);
        self.rows[0].get_mut(Quantity::X).copy_from_slice(&X[..nx]);
        self.rows[1].get_mut(Quantity::Q).copy_from_slice(&X[nx..nx + nq]);
        self.rows[1].get_mut(Quantity::V).copy_from_slice(&X[nx + nq..]);
        let mut next = 0;
        for (k, (_, interaction)) in self.model.interactions().enumerate() {
            let rows = next..next + interaction.relation.size();
            next = rows.end;
            let order = usize::from(interaction.relation.order() == Order::Second);
            let Some(place) = self.places[order].interactions[k].clone() else { continue };
            let row = &mut self.rows[order];
            row.get_mut(Quantity::Y)[place.clone()].copy_from_slice(&self.plant.y[rows.clone()]);
            if order == 1 {
                let u = &self.plant.u[rows.clone()];
                row.get_mut(Quantity::U)[place.clone()].copy_from_slice(u);
            }
            row.get_mut(Quantity::Lam)[place].copy_from_slice(&lam[rows]);
        }
        if let Some(ledger) = self.ledger() {
            self.rows[1].set_ledger(&ledger.to_array());
        }
    }
}
