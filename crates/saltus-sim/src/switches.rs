//! Ideal switches in time-stepping.
//!
//! ```text
//! closed: y = 0, λ free      open: λ = 0, y free
//! closes where control > on, opens where control < off,   off ≤ on                      (1)
//! ```
//!
//! Controls are looked at at the beginning of a step, with the state there. A change is one of bounds:
//! the matrices of the step stay, and so do the factors of the modes. A step that fails leaves the
//! switches as they were.

use crate::SimError;
use crate::events::{Map, Reading};
use crate::recorder::Parts;
use saltus_model::{Law, Model, Order};
use saltus_numerics::Memory;
use std::ops::Range;

/// The switches of a model.
#[derive(Debug, Default)]
pub(crate) struct Switches {
    switches: Vec<Switch>,
    parameters: Vec<f64>,
    values: Vec<f64>,      // of the variables of a control
    pub moved: Vec<usize>, // those that change in this step
}

#[derive(Debug)]
struct Switch {
    interaction: usize,
    rows: Range<usize>,
    control: Reading,
    on: f64,
    off: f64,
    closed: bool,
}

impl Switches {
    /// The switches of a model, as they are at the beginning.
    pub fn new(model: &Model) -> Result<Switches, SimError> {
        let is_switch = |law: &Law| matches!(law, Law::Switch { .. });
        if !model.interactions().any(|(_, one)| is_switch(&one.law)) {
            return Ok(Switches::default());
        }
        let map = Map::new(model);
        let (mut switches, mut most) = (Vec::new(), 0);
        for (k, (name, interaction)) in model.interactions().enumerate() {
            let Law::Switch { control, on, off, closed } = &interaction.law else { continue };
            let Some(rows) = map.rows(k, Order::First) else { continue };
            let owner = format!("interaction `{name}`");
            let control = map.reading_of(owner, "control", control)?;
            most = most.max(control.variables());
            let (on, off, closed) = (*on, *off, *closed);
            switches.push(Switch { interaction: k, rows, control, on, off, closed });
        }
        let parameters = model.parameters().map(|(_, value)| value).collect();
        let moved = Vec::with_capacity(switches.len());
        Ok(Switches { switches, parameters, values: vec![0.0; most], moved })
    }

    /// The switches of a model that an event has changed: those that were there stay as they are.
    pub fn follow(&mut self, model: &Model) -> Result<(), SimError> {
        let mut next = Switches::new(model)?;
        for switch in &mut next.switches {
            let same = |old: &&Switch| old.interaction == switch.interaction;
            if let Some(old) = self.switches.iter().find(same) {
                switch.closed = old.closed;
            }
        }
        *self = next;
        Ok(())
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.switches.is_empty()
    }

    /// Puts all of them into the parts as they are.
    pub fn apply(&self, parts: &mut Parts) {
        if let Some(part) = &mut parts.first {
            for switch in &self.switches {
                part.set_switch(switch.rows.clone(), switch.closed);
            }
        }
    }

    /// Equation (1), with the rows of the parts.
    pub fn operate(&mut self, t: f64, parts: &mut Parts) -> Result<(), SimError> {
        let Switches { switches, parameters, values, moved } = self;
        moved.clear();
        let rows = parts.rows();
        for (k, switch) in switches.iter_mut().enumerate() {
            let control = switch.control.eval((t, 1.0), parameters, rows, values);
            if control.is_nan() {
                let what = format!("the control of a switch, `{}`,", switch.control.text());
                return Err(SimError::NotFinite { time: t, what });
            }
            if if switch.closed { control < switch.off } else { control > switch.on } {
                moved.push(k);
            }
        }
        self.turn(parts);
        Ok(())
    }

    /// Turns those that change: once for the step, and back where it fails.
    pub fn turn(&mut self, parts: &mut Parts) {
        let Switches { switches, moved, .. } = self;
        for &k in &*moved {
            let switch = &mut switches[k];
            switch.closed = !switch.closed;
            if let Some(part) = &mut parts.first {
                part.set_switch(switch.rows.clone(), switch.closed);
            }
        }
    }

    /// Those that changed in this step: their interactions, and whether they are closed now.
    pub fn changes(&self) -> impl Iterator<Item = (usize, bool)> + '_ {
        self.moved.iter().map(|&k| (self.switches[k].interaction, self.switches[k].closed))
    }

    /// Which of them are closed.
    pub fn memory(&mut self, memory: &mut Memory) {
        self.switches.iter_mut().for_each(|switch| memory.flag(&mut switch.closed));
    }
}
