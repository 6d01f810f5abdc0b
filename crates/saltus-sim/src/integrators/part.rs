//! What the strategy sees of a scheme at work on the systems of one order.

use super::Step;
use super::assembly::Places;
use super::row::Row;
use crate::{Contacts, SimError};
use saltus_model::{Model, SystemId};
use saltus_numerics::{Memory, Report};
use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;

/// The systems of one order and their scheme.
pub(crate) trait Part: Debug + Send + Sync {
    /// Where systems and interactions stand.
    fn places(&self) -> &Places;

    /// The current state.
    fn now(&self) -> &Row;

    /// Back to the initial state.
    fn reset(&mut self, t0: f64) -> Result<(), SimError>;

    /// The part itself, for another one of its kind to look into.
    fn as_any(&self) -> &dyn Any;

    /// Goes on, under a changed model, from where another part is after its step `last`. The
    /// ledger goes on too where the systems are the `same`, else it begins anew.
    fn adopt(&mut self, before: &dyn Part, last: Step, same: bool) -> Result<(), SimError>;

    /// Replaces parts of the state of one system: `x`, or `q` and `v`.
    fn set(
        &mut self,
        model: &Model,
        id: SystemId,
        range: Range<usize>,
        values: [Option<&[f64]>; 2],
    ) -> Result<(), SimError>;

    /// The state that is set next is that of another instant.
    fn be_at(&mut self, t: f64) {
        let _ = t;
    }

    /// Replaces the state of all systems, one after the other: `x`, or `q` and `v`.
    fn set_all(&mut self, model: &Model, [first, second]: [&[f64]; 2]) -> Result<(), SimError> {
        for (k, (name, _)) in model.systems().enumerate() {
            if let (Some(range), Some(place)) =
                (self.places().systems[k].clone(), self.places().configurations[k].clone())
            {
                let values = [first.get(place), second.get(range.clone())];
                self.set(model, model.system_id(name)?, range, values)?;
            }
        }
        Ok(())
    }

    /// Computes the next state; nothing changes before [`commit`](Self::commit).
    fn advance(&mut self, model: &Model, step: Step) -> Result<Option<Report>, SimError>;

    /// Takes over the state that [`advance`](Self::advance) computed.
    fn commit(&mut self);

    /// Whether a step is over before anybody could ask it to stop: it is not interrupted.
    fn is_quick(&self) -> bool {
        false
    }

    /// Of [`memory`](Self::memory), what [`advance`](Self::advance) may have changed when it is interrupted; reading it
    /// takes that back.
    fn touched(&mut self, memory: &mut Memory) -> Result<(), SimError> {
        self.memory(memory)
    }

    /// All that the next step depends on besides the model, to the last bit. What is read was
    /// written by a part of the same model, scheme and solver.
    fn memory(&mut self, memory: &mut Memory) -> Result<(), SimError>;

    /// The inputs `z` of the system or interaction of this name; nothing where nothing uses them.
    fn inputs(&self, name: &str) -> Option<&[f64]> {
        let _ = name;
        None
    }

    /// Replaces them from the current state on.
    fn set_inputs(&mut self, name: &str, z: &[f64]) -> Result<(), SimError> {
        let _ = (name, z);
        Ok(())
    }

    /// From now on a mode that is known becomes one map, which takes memory in the step that finds it.
    fn compose_modes(&mut self) {}

    /// Makes ready what the steps need, such as machine code, so that none of them has to.
    fn prepare(&mut self) {}

    /// An event is over, all of whose changes are made.
    fn settle(&mut self) {}

    /// Closes or opens the switch of these rows.
    fn set_switch(&mut self, rows: Range<usize>, closed: bool) {
        let _ = (rows, closed);
    }

    /// Adds the contacts that were found in the last step, and closes their instant.
    fn contacts(&self, contacts: &mut Contacts) {
        let _ = contacts;
    }

    /// What the interaction at this position of the model did to its systems in the last step, one after the
    /// other; nothing where the part does not keep it, and it is `Hᵀ λ` at the end of the step.
    fn pushes(&self, interaction: usize) -> Option<&[f64]> {
        let _ = interaction;
        None
    }

    /// Deepest penetration of a contact.
    fn penetration(&self) -> f64 {
        0.0
    }
}
