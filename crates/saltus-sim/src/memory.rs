//! What a simulation remembers besides its model: checkpoints are made of it, and it undoes what
//! failed.

use crate::SimError;
use crate::checkpoint::{Checkpoint, CheckpointError, Fingerprint, checksum};
use crate::clock::Steps;
use crate::time_stepping::{Methods, TimeStepping, Totals};
use saltus_model::Event;
use saltus_numerics::Memory;

impl TimeStepping {
    /// The simulation as it is now. (It is borrowed to be changed, and is not: one list of fields
    /// serves to write and to read.)
    pub fn checkpoint(&mut self) -> Checkpoint {
        let mut memory = Memory::to_write();
        // only reading makes matrices, which may fail
        let _ = self.memory(&mut memory);
        let (fingerprint, t) = (self.fingerprint(), self.clock.t);
        Checkpoint { fingerprint, t, memory: memory.into_bytes() }
    }

    /// Takes up a simulation of the same model where it was left; the next steps are those of the
    /// one that was not interrupted, bit for bit. If it fails, nothing has changed.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), SimError> {
        checkpoint.fingerprint.check(&self.fingerprint())?;
        let before = self.checkpoint();
        let mut memory = Memory::to_read(checkpoint.memory.clone());
        let done = self.memory(&mut memory).and_then(|()| match memory.is_whole() {
            true => Ok(()),
            false => Err(CheckpointError::Memory.into()),
        });
        match done {
            Ok(()) => self.events.log.retain(|event| event.time <= checkpoint.t),
            Err(_) => {
                let _ = self.memory(&mut Memory::to_read(before.memory)); // it was good before
            }
        }
        done
    }

    /// All that changes with time.
    pub(crate) fn memory(&mut self, memory: &mut Memory) -> Result<(), SimError> {
        self.clock.memory(memory);
        // before the parts: events may have changed what they are made of
        let mut events = self.events.state.clone();
        events.memory(memory);
        if memory.is_read() && events != self.events.state {
            self.set_event_state(events)?;
        }
        self.switches.memory(memory);
        if memory.is_read() {
            self.switches.apply(&mut self.parts);
        }
        for part in [&mut self.parts.first, &mut self.parts.second].into_iter().flatten() {
            part.memory(memory)?;
        }
        self.laws.memory(memory);
        self.totals.memory(memory);
        memory.count(&mut self.recorded);
        Ok(())
    }

    /// What a checkpoint must agree with.
    fn fingerprint(&self) -> Fingerprint {
        let model = self.base.as_deref().unwrap_or(&self.model);
        let mut fingerprint = Fingerprint::default();
        fingerprint.add("t0", model.t0());
        match &self.steps {
            Steps::Every(h) => fingerprint.add("the step h", h),
            Steps::Instants(instants) => {
                let bytes: Vec<u8> = instants.iter().flat_map(|t| t.to_le_bytes()).collect();
                let (count, sum) = (instants.len(), checksum(&bytes));
                fingerprint.add("h", format!("a list of {count} instants (checksum {sum:x})"));
            }
        }
        for (k, (name, system)) in model.systems().enumerate() {
            let (order, dim) = (system.order().name(), system.dim());
            let value = format!("`{name}`, {order} with {dim} components");
            fingerprint.add(format!("system {k}"), value);
        }
        let names: Vec<&str> = model.systems().map(|(name, _)| name).collect();
        for (k, (name, interaction)) in model.interactions().enumerate() {
            let linked = interaction.systems.iter().map(|id| format!("`{}`", names[id.index()]));
            let linked = linked.collect::<Vec<_>>().join(" and ");
            let (law, size) = (interaction.law.name(), interaction.relation.size());
            let value = format!("`{name}` of {linked}, {law} with {size} components");
            fingerprint.add(format!("interaction {k}"), value);
        }
        if let Some(finder) = model.contact_finder() {
            let statics = finder.sides().iter().filter(|side| side.system.is_none());
            for (k, side) in statics.enumerate() {
                fingerprint.add(format!("static {k}"), format!("`{}`", side.name));
            }
            fingerprint.add("the number of sides of contacts", finder.sides().len());
            for (k, law) in finder.laws().iter().enumerate() {
                let gives = finder.elasticity(k).is_some();
                let kind = if gives { "giving way" } else { "rigid" };
                fingerprint.add(format!("contact law {k}"), format!("{}, {kind}", law.name()));
            }
        }
        let Methods { integrators, newton, solver } = &self.methods;
        fingerprint.add("newton", format!("{newton:?}"));
        fingerprint.add("the solver", format!("{solver:?}"));
        for (k, integrator) in integrators.iter().enumerate() {
            fingerprint.add(format!("integrator {k}"), format!("{integrator:?}"));
        }
        for (k, event) in model.events().iter().enumerate() {
            let Event { name, trigger, once, actions } = event;
            let value = format!("`{name}`, {trigger:?}, once: {once}, {} actions", actions.len());
            fingerprint.add(format!("event {k}"), value);
        }
        fingerprint
    }
}

impl Totals {
    fn memory(&mut self, memory: &mut Memory) {
        memory.count(&mut self.steps);
        memory.count(&mut self.iterations);
        memory.number(&mut self.worst_residual);
        memory.number(&mut self.worst_penetration);
    }
}
