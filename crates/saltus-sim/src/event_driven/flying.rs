//! Many bodies that fly: the simulation hands its state to their parabolas, and takes it back.

use super::EventDriven;
use super::flight::{Hit, Horizon, Met};
use super::mode::Branch;
use super::transition::{ENDLESS, SHORT};
use super::watch::Cause;
use crate::SimError;
use crate::driver::StepStats;
use crate::run::{Change, EventKind, Value};

impl EventDriven {
    /// Whether the state is with the parabolas.
    pub(super) fn is_flying(&self) -> bool {
        self.flight.as_ref().is_some_and(|flight| flight.flying)
    }

    /// Hands the state to the parabolas, where the model and its mode are made for them.
    pub(super) fn take_off(&mut self, until: f64) -> bool {
        let end = self.stop(until);
        let known = !self.unsettled && self.pending.is_none() && !self.mode.unknown.contains(&true);
        let conditions = (0..self.events.len()).any(|k| self.events.held(k).is_some());
        if !self.may_fly || !known || conditions || !end.is_finite() {
            return false;
        }
        let Some(flight) = &mut self.flight else { return false };
        let horizon = Horizon { begin: self.model.t0(), end, tolerance: self.tolerance };
        flight.begin(self.t, &self.X, &self.mode, horizon)
    }

    /// To the next event, or as far as this flight goes.
    pub(super) fn fly(&mut self, until: f64) -> StepStats {
        let (start, end) = (self.t, self.stop(until));
        self.limit = end;
        let (mut h, mut penetration) = (end - start, 0.0);
        if let Some(flight) = &self.flight {
            let (contact, t) = flight.next();
            self.t = end;
            if t <= end {
                self.t = t.max(start);
                self.pending = Some(Cause { block: contact, indicator: 0 });
                h = self.t - start;
                penetration = (-flight.gap(contact, self.t)[0]).max(0.0);
            }
        }
        StepStats { t: self.t, h, iterations: 0, residual: 0.0, penetration }
    }

    /// What happens at the end of a step of the flight; it ends where others must tell.
    pub(super) fn touch(&mut self) -> Result<(), SimError> {
        let Some(Cause { block, .. }) = self.pending else { return self.land() };
        self.idle = if self.t > self.last_event { 0 } else { self.idle + 1 };
        if self.idle > ENDLESS {
            return self.land();
        }
        let t = self.t;
        let Some(flight) = &mut self.flight else { return Ok(()) };
        let [_, u, _] = flight.gap(block, t);
        let mut left = self.series[block].left(t, SHORT[0]);
        if left.is_none() && self.series[block].is_last(t, u, self.tolerance) {
            left = Some(0.0);
        }
        let mut hits = std::mem::take(&mut self.work.hits);
        let (met, work) = flight.collide(block, t, left.is_some(), &mut hits);
        if met != Met::Unknown {
            self.last_event = t;
            self.book.ledger.work += work;
            hits.iter().for_each(|hit| self.take_hit(hit));
            if let Some(left) = left {
                self.log_event(t + left, EventKind::Accumulation, block, Vec::new());
                self.series[block] = Default::default();
                if let Some(flight) = &self.flight {
                    flight.around(block, |other| self.series[other].restart());
                }
            }
            self.pending = None;
        }
        self.work.hits = hits;
        match met {
            Met::Settled => Ok(()),
            Met::Unknown => self.land(),
            Met::Unsure => {
                self.land()?;
                self.settle(None)
            }
        }
    }

    /// Books and tells what an impact did to a contact.
    fn take_hit(&mut self, hit: &Hit) {
        let &Hit { contact, before, after, impulse, closed } = hit;
        if closed {
            self.mode.put(contact, Branch::Closed);
        }
        if !(impulse > 0.0) {
            return;
        }
        let block = &self.mode.blocks[contact];
        let row = block.rows.start;
        self.book.take(row, 0.5 * impulse * (before + after));
        let what = format!("{}.u[{}]", block.owner, row - self.mode.first_row(contact));
        let (before, after) = (Value::Number(before), Value::Number(after));
        let change = Change { what, before, after };
        self.log_event(self.t, EventKind::Impact, contact, vec![change]);
        self.series[contact].add(self.t);
    }

    /// Takes the state back.
    pub(super) fn land(&mut self) -> Result<(), SimError> {
        let Some(flight) = self.flight.as_mut().filter(|flight| flight.flying) else {
            return Ok(());
        };
        flight.flying = false;
        flight.look(self.t, &mut self.X, &mut self.lam);
        self.book.ledger.work += flight.work(self.t);
        if let Some(Cause { block, .. }) = self.pending {
            self.last_event = flight.since(block).min(self.last_event.max(self.model.t0()));
        }
        self.standstill.forget();
        self.flow.restart();
        self.flow.guess(&self.lam);
        self.project()?;
        self.measure()
    }

    /// The rows of a flight at an instant.
    pub(super) fn show_flight(&mut self, t: f64) {
        let Some(flight) = &self.flight else { return };
        flight.look(t, &mut self.work.X, &mut self.work.lam);
        let kept = self.book.ledger;
        self.book.ledger.work += flight.work(t);
        let known = self.plant.outputs(t, &self.work.X, &self.work.lam).is_ok();
        if let Ok(energies) = self.plant.energies(t, &self.work.X) {
            self.energies = energies;
        }
        self.show_outputs(true, known);
        self.book.ledger = kept;
    }
}
