//! How a mode goes on: what events, records and dense output see of a step.

use super::collocation::{Collocation, Outcome, Tolerance};
use super::mode::Mode;
use super::plant::Plant;
use crate::SimError;
use saltus_model::Model;

/// The last step, by whatever computed it.
#[derive(Debug)]
pub(super) struct Flow {
    collocation: Collocation,
    /// Where the step begins.
    pub t: f64,
    /// Its length.
    pub h: f64,
    /// Iterations that it took.
    pub iterations: usize,
}

impl Flow {
    pub fn new(_model: &Model, plant: &Plant) -> Flow {
        let collocation = Collocation::new(plant.states, plant.rows);
        Flow { collocation, t: 0.0, h: 0.0, iterations: 0 }
    }

    /// Forgets what belongs to the last step: the state has jumped, or the mode has changed.
    pub fn restart(&mut self) {
        self.collocation.restart();
    }

    /// The step was taken: the next one goes on from it.
    pub fn keep(&mut self) {
        self.collocation.keep();
    }

    /// A first guess of the multipliers.
    pub fn guess(&mut self, lam: &[f64]) {
        self.collocation.guess(lam);
    }

    /// Computes the step from `X` at `t`.
    pub fn step(
        &mut self,
        plant: &mut Plant,
        mode: &Mode,
        t: f64,
        X: &[f64],
        h: f64,
        tolerance: Tolerance,
    ) -> Result<Outcome, SimError> {
        (self.t, self.h) = (t, h);
        let outcome = self.collocation.step(plant, mode, t, X, h, tolerance);
        self.iterations = self.collocation.iterations;
        outcome
    }

    /// A step of length zero.
    pub fn hold(&mut self, t: f64, X: &[f64], lam: &[f64]) {
        (self.t, self.h) = (t, 0.0);
        self.collocation.hold(t, X, lam);
    }

    /// State and multipliers at the end of the step.
    pub fn end(&self, X: &mut [f64], lam: &mut [f64]) {
        self.collocation.end(X);
        lam.copy_from_slice(self.collocation.end_lam());
    }

    /// State and multipliers at `t + θ h`.
    pub fn at(&mut self, theta: f64, X: &mut [f64], lam: &mut [f64]) {
        self.collocation.at(theta, X, lam);
    }
}
