//! Time-stepping whose step an error decides.
//!
//! One step of length `h` and two of length `h/2` differ by about the error of the first:
//!
//! ```text
//! error = max( |q₁ − q₂|, |x₁ − x₂|, h |v₁ − v₂| ) / (tol (1 + |·|))                    (1)
//! ```
//!
//! Velocities of a ball that bounces many times in a step have no limit; what counts of them is
//! how far they carry.

use crate::SimError;
use crate::event_driven::Instant;
use crate::integrators::{EulerMoreau, MoreauJean, Projection};
use crate::recorder::Parts;
use crate::run::Ledger;
use saltus_model::{Model, Order};
use saltus_numerics::Solver;

/// The schemes, and the last step that they did.
#[derive(Debug)]
pub(super) struct Stepper {
    schemes: Instant,
    whole: Vec<f64>,
    middle: Vec<f64>,
    velocities: usize, // where they begin in the state
    /// Of all problems of the last step.
    pub iterations: usize,
    /// The largest of them.
    pub residual: f64,
    /// At the end of the last step.
    pub penetration: f64,
}

impl Stepper {
    pub fn new(model: &Model, tol: f64, solver: &Solver) -> Result<Stepper, SimError> {
        // gaps that the tolerance does not see are closed, so that small bounces come to rest
        let (gamma, threshold, projection) = (0.0, tol, Some(Projection::Direct));
        let jean = MoreauJean { gamma, threshold, projection, ..MoreauJean::default() };
        let schemes = Instant::with(model, EulerMoreau::default(), jean, solver)?;
        let states = schemes.X.len();
        let second = model.systems().filter(|(_, system)| system.order() == Order::Second);
        let velocities = states - second.map(|(_, system)| system.dim()).sum::<usize>();
        Ok(Stepper {
            schemes,
            whole: vec![0.0; states],
            middle: vec![0.0; states],
            velocities,
            iterations: 0,
            residual: 0.0,
            penetration: 0.0,
        })
    }

    /// A step from this state: error (1).
    pub fn attempt(
        &mut self,
        model: &Model,
        t: f64,
        X: &[f64],
        h: f64,
        tol: f64,
    ) -> Result<f64, SimError> {
        (self.iterations, self.residual) = (0, 0.0);
        self.one(model, t, X, 0, h)?;
        self.whole.copy_from_slice(&self.schemes.X);
        self.one(model, t, X, 1, 0.5 * h)?;
        self.middle.copy_from_slice(&self.schemes.X);
        let middle = std::mem::take(&mut self.middle);
        let done = self.one(model, t + 0.5 * h, &middle, 2, 0.5 * h);
        self.middle = middle;
        done?;
        let second = self.schemes.parts(2).second.as_ref();
        self.penetration = second.map_or(0.0, |part| part.penetration());
        let mut worst = 0.0_f64;
        for (i, (whole, half)) in self.whole.iter().zip(&self.schemes.X).enumerate() {
            let reach = if i < self.velocities { 1.0 } else { h };
            let error = reach * (whole - half).abs() / (tol * (1.0 + reach * half.abs()));
            if !error.is_finite() {
                return Ok(f64::INFINITY);
            }
            worst = worst.max(error);
        }
        Ok(worst)
    }

    fn one(&mut self, model: &Model, t: f64, X: &[f64], k: usize, h: f64) -> Result<(), SimError> {
        let report = self.schemes.step(model, t, X, k, h)?;
        self.iterations += report.iterations;
        if !(report.residual <= self.residual) {
            self.residual = report.residual;
        }
        Ok(())
    }

    /// The state in the middle of the last step.
    pub fn middle(&self) -> &[f64] {
        &self.middle
    }

    /// State and forces after the last step.
    pub fn end(&self) -> (&[f64], &[f64]) {
        (&self.schemes.X, &self.schemes.lam)
    }

    /// Outputs, relative velocities and forces after the last step.
    pub fn outputs(&self) -> [&[f64]; 3] {
        let Instant { y, u, lam, .. } = &self.schemes;
        [y, u, lam]
    }

    /// Where the energy went in the halves of the last step.
    pub fn ledgers(&self) -> [Ledger; 2] {
        let second = self.halves().map(|parts| parts.second.as_ref());
        second.map(|part| part.map_or(Ledger::default(), |part| part.now().ledger()))
    }

    /// The two halves of the last step.
    pub fn halves(&self) -> [&Parts; 2] {
        [self.schemes.parts(1), self.schemes.parts(2)]
    }
}
