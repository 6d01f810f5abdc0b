//! Events of the model in time-stepping: at the ends of steps.
//!
//! An event that changes parameters, laws or which interactions act makes new parts for the new
//! model, which go on from the state of the old ones. They take the place of the old ones when all
//! of it has succeeded; nothing in a step knows of events.

use super::{Changes, EventState, ROUNDS, changed_model};
use crate::integrators::part::Part;
use crate::integrators::{Step, choice};
use crate::recorder::Parts;
use crate::run::EventRecord;
use crate::time_stepping::TimeStepping;
use crate::{SimError, time_stepping};
use saltus_model::{Model, Order, SystemId};

impl TimeStepping {
    /// What events have done so far.
    pub fn event_state(&self) -> &EventState {
        &self.events.state
    }

    /// All events of the model that happened since the beginning.
    pub fn events(&self) -> &[EventRecord] {
        &self.events.log
    }

    /// Goes on from another state of events of the same model: parameters, laws and connections
    /// become what they were then. The state of the systems stays.
    pub fn set_event_state(&mut self, state: EventState) -> Result<(), SimError> {
        if self.events.is_empty() && state == EventState::default() {
            return Ok(());
        }
        state.check(&self.model)?;
        let anew = state.parameters != self.events.state.parameters;
        let base = self.base.as_deref().unwrap_or(&self.model);
        let model = changed_model(base, &state)?;
        let parts = self.parts_of(&model, [true; 2], anew)?;
        self.switches.follow(&model)?;
        self.take_over(model, parts);
        self.events.state = state;
        Ok(())
    }

    /// All that is due now happens.
    pub(crate) fn fire_events(&mut self) -> Result<(), SimError> {
        self.events.state.pending = true;
        self.events.state.stopped = false;
        if self.clock.last_h() > 0.0 {
            self.events.h = self.clock.last_h();
        }
        let mut last = 0;
        for _ in 0..ROUNDS {
            let (clock, steps) = (&self.clock, &self.steps);
            let come = |instant| clock.has_come(steps, instant);
            if !self.events.look(clock.t, come, self.parts.rows(), &[])? {
                self.events.state.pending = false;
                return Ok(());
            }
            for k in 0..self.events.due.len() {
                if self.events.due[k] {
                    self.fire(k).map_err(|e| self.events.failed(k, self.clock.t, e))?;
                    last = k;
                }
            }
        }
        Err(self.events.endless(self.clock.t, last))
    }

    /// One event happens.
    fn fire(&mut self, k: usize) -> Result<(), SimError> {
        let changes = self.events.evaluate(k, self.clock.t, &self.model, self.parts.rows())?;
        let Changes { state, states, mut orders, anew, records } = changes;
        let touched = orders[0] || orders[1];
        if touched || states.len() > 1 {
            // beside the old ones, which stay if anything fails
            for (id, _) in &states {
                orders[(self.model.system(*id)?.order() == Order::Second) as usize] = true;
            }
            let base = self.base.as_deref().unwrap_or(&self.model);
            let model = changed_model(base, &state)?;
            let mut parts = self.parts_of(&model, orders, anew)?;
            for (id, values) in &states {
                set_state(&model, &mut parts, *id, values)?;
            }
            self.switches.follow(&model)?;
            self.take_over(model, parts);
        } else if let Some((id, values)) = states.first() {
            set_state(&self.model, &mut self.parts, *id, values)?;
        }
        self.laws.begin(&self.parts);
        self.events.happened(k, self.clock.t, state, records);
        Ok(())
    }

    /// New parts of these orders for a changed model, which go on from the old ones.
    fn parts_of(&self, model: &Model, orders: [bool; 2], anew: bool) -> Result<Parts, SimError> {
        let (h, t) = (self.clock.last_h(), self.clock.t);
        let last = Step { start: t - h, end: t, h };
        let make = |order, old: &Option<Box<dyn Part>>, wanted| match old {
            Some(old) if wanted => {
                let time_stepping::Methods { integrators, newton, solver } = &self.methods;
                let mut part = choice::part(model, order, integrators, *newton, solver)?;
                if let Some(part) = &mut part {
                    part.adopt(old.as_ref(), last, !anew)?;
                    part.prepare();
                }
                Ok::<_, SimError>(part)
            }
            _ => Ok(None),
        };
        Ok(Parts {
            first: make(Order::First, &self.parts.first, orders[0])?,
            second: make(Order::Second, &self.parts.second, orders[1])?,
        })
    }

    /// The changed model, and those parts that are new.
    fn take_over(&mut self, model: Model, mut parts: Parts) {
        for part in [&mut parts.first, &mut parts.second].into_iter().flatten() {
            part.settle();
        }
        self.parts.first = parts.first.or(self.parts.first.take());
        self.parts.second = parts.second.or(self.parts.second.take());
        self.switches.apply(&mut self.parts);
        self.events.take_parameters(&model);
        self.laws.watch(&model);
        let before = std::mem::replace(&mut self.model, model);
        self.base.get_or_insert_with(|| Box::new(before));
    }
}

/// Replaces the state of a system.
fn set_state(
    model: &Model,
    parts: &mut Parts,
    id: SystemId,
    [first, second]: &[Option<Vec<f64>>; 2],
) -> Result<(), SimError> {
    let values = [first.as_deref(), second.as_deref()];
    for part in [&mut parts.first, &mut parts.second].into_iter().flatten() {
        if let Some(Some(range)) = part.places().systems.get(id.index()).cloned() {
            part.set(model, id, range, values)?;
        }
    }
    Ok(())
}
