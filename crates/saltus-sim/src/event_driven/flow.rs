//! How a mode goes on: what events, records and dense output see of a step.
//!
//! Linear modes are followed exactly, all others by collocation.

use super::collocation::{Collocation, Outcome, Tolerance};
use super::exact::{Begin, Exact, Legs};
use super::mode::Mode;
use super::plant::Plant;
use super::watch::Cause;
use crate::SimError;
use saltus_model::Model;

/// The last step, by whatever computed it.
#[derive(Debug)]
pub(super) struct Flow {
    collocation: Collocation,
    exact: Option<Exact>,
    is_exact: bool, // the last step
    is_leg: bool,   // the last step, and it is exact
    is_stale: bool, // collocation knows nothing of it
    lam: Vec<f64>,  // at its end
    /// Where the step begins.
    pub t: f64,
    /// Its length.
    pub h: f64,
    /// Iterations that it took.
    pub iterations: usize,
}

impl Flow {
    pub fn new(model: &Model, plant: &Plant, mode: &Mode) -> Flow {
        Flow {
            collocation: Collocation::new(plant.states, plant.rows),
            exact: Exact::new(model, mode),
            is_exact: false,
            is_leg: false,
            is_stale: false,
            lam: vec![0.0; plant.rows],
            t: 0.0,
            h: 0.0,
            iterations: 0,
        }
    }

    /// Leaves linear modes to collocation too.
    #[cfg(test)]
    pub fn by_collocation(&mut self) {
        self.exact = None;
    }

    /// Whether the last step was exact.
    #[cfg(test)]
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Forgets what belongs to the last step: the state has jumped, or the mode has changed.
    pub fn restart(&mut self) {
        self.is_stale = false;
        self.collocation.restart();
        if let Some(legs) = self.legs() {
            legs.restart();
        }
    }

    fn legs(&mut self) -> Option<&mut Legs> {
        self.exact.as_mut()?.legs.as_mut()
    }

    /// Begins a leg from `X` at `t`, of the length `T` at most; where the mode has just changed, from
    /// this event on.
    pub fn begin_leg(
        &mut self,
        mode: &Mode,
        from: Option<Cause>,
        (t, T): (f64, f64),
        X: &[f64],
        tolerance: Tolerance,
    ) -> Begin {
        self.legs().map_or(Begin::Unsure, |legs| legs.begin(mode, from, (t, T), X, tolerance))
    }

    /// The step is the leg that has begun at `t`, up to its first event, if there is one, or as far as it
    /// is certain. Nothing where it is not.
    pub fn end_leg(&mut self, t: f64) -> Option<Option<Cause>> {
        let (h, event) = self.legs()?.end()?;
        (self.t, self.h, self.iterations) = (t, h, 0);
        (self.is_exact, self.is_leg) = (true, true);
        Some(event)
    }

    /// Whether the last step was a leg.
    pub fn is_leg(&self) -> bool {
        self.is_exact && self.is_leg
    }

    /// State and multipliers where the leg that has begun begins.
    pub fn begin_of_leg(&mut self, X: &mut [f64], lam: &mut [f64]) {
        if let Some(legs) = self.legs() {
            legs.beginning(X, lam);
        }
    }

    /// The step was taken: the next one goes on from it.
    pub fn keep(&mut self) {
        if self.is_exact {
            self.is_stale = true;
        } else {
            self.collocation.keep();
        }
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
        (self.t, self.h, self.iterations) = (t, h, 0);
        if let Some(exact) = &mut self.exact
            && exact.suits(mode)
            && let Some(outcome) = exact.step(X, h, tolerance)
        {
            (self.is_exact, self.is_leg) = (true, false);
            return Ok(outcome);
        }
        self.is_exact = false;
        if std::mem::take(&mut self.is_stale) {
            self.collocation.restart();
            self.collocation.guess(&self.lam);
        }
        let outcome = self.collocation.step(plant, mode, t, X, h, tolerance);
        self.iterations = self.collocation.iterations;
        outcome
    }

    /// Parts of the step over which integrals are as accurate as the step itself.
    pub fn panels(&self) -> usize {
        match &self.exact {
            Some(exact) if self.is_exact && !self.is_leg && !exact.is_polynomial(4) => 3,
            _ => 1,
        }
    }

    /// Weight of the `i`-th node of such a part in integrals over it.
    pub fn weight(&self, i: usize) -> f64 {
        self.collocation.weight(i)
    }

    /// Whether multipliers run away within the step.
    pub fn is_strained(&self) -> bool {
        !self.is_exact && self.collocation.is_strained()
    }

    /// The exact motion, if the last step was one.
    pub fn exact(&self) -> Option<&Exact> {
        self.exact.as_ref().filter(|_| self.is_exact && !self.is_leg)
    }

    /// A step of length zero.
    pub fn hold(&mut self, t: f64, X: &[f64], lam: &[f64]) {
        (self.t, self.h, self.is_exact) = (t, 0.0, false);
        self.collocation.hold(t, X, lam);
    }

    /// State and multipliers at the end of the step.
    pub fn end(&mut self, X: &mut [f64], lam: &mut [f64]) {
        let h = self.h;
        match &mut self.exact {
            Some(Exact { legs: Some(legs), .. }) if self.is_exact && self.is_leg => {
                legs.at(h, X, lam);
            }
            Some(exact) if self.is_exact => exact.end(X, lam),
            _ => {
                self.collocation.end(X);
                lam.copy_from_slice(self.collocation.end_lam());
            }
        }
        self.lam.copy_from_slice(lam);
    }

    /// State and multipliers at `t + θ h`.
    pub fn at(&mut self, theta: f64, X: &mut [f64], lam: &mut [f64]) {
        let h = self.h;
        match &mut self.exact {
            Some(Exact { legs: Some(legs), .. }) if self.is_exact && self.is_leg => {
                legs.at(theta * h, X, lam);
            }
            Some(exact) if self.is_exact => exact.at(theta, X, lam),
            _ => self.collocation.at(theta, X, lam),
        }
    }

    /// The outputs there, where a leg tells them.
    pub fn outputs_of_leg(&self) -> Option<&[f64]> {
        let legs = self.exact.as_ref()?.legs.as_ref()?;
        self.is_leg().then(|| legs.outputs())
    }

    /// The same of what interaction `k` speaks about, at least.
    pub fn interaction_at(&mut self, k: usize, theta: f64, X: &mut [f64], lam: &mut [f64]) {
        let h = self.h;
        match &mut self.exact {
            Some(Exact { legs: Some(legs), .. }) if self.is_exact && self.is_leg => {
                legs.at(theta * h, X, lam);
            }
            Some(exact) if self.is_exact => exact.interaction_at(k, theta, X, lam),
            _ => self.collocation.at(theta, X, lam),
        }
    }
}
