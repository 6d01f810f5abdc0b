//! Circuits as models, and what they do.

#![allow(clippy::unwrap_used, missing_docs)]

mod circuits;
mod devices;
mod events;
mod ill_posed;
mod linear;
mod rest;
mod smooth;
mod switches;
mod switching;
mod transient;

use saltus_circuits::{Circuit, CircuitModel};
use saltus_model::Law;
use saltus_sim::{EulerMoreau, Run, TimeStepping};

/// A run of time-stepping.
pub fn run(circuit: &Circuit, theta: f64, h: f64, until: f64) -> (CircuitModel, Run) {
    let model = circuit.model().unwrap();
    let scheme = EulerMoreau { theta, ..EulerMoreau::default() };
    let mut sim = TimeStepping::new(model.model.clone(), h, [scheme.into()]).unwrap();
    let run = sim.run(until).map_err(|failure| failure.source).unwrap();
    (model, run)
}

/// The last value of a signal.
pub fn last(model: &CircuitModel, run: &Run, name: &str) -> f64 {
    *model.trace(run, name).unwrap().last().unwrap()
}

/// The laws of the interactions with their names.
pub fn laws(model: &CircuitModel) -> Vec<(String, Law)> {
    model.model.interactions().map(|(name, one)| (name.to_string(), one.law.clone())).collect()
}
