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

use crate::event_driven::Instant;
use crate::integrators::{EulerMoreau, MoreauJean, Projection};
use crate::recorder::Parts;
use crate::SimError;
use saltus_model::{Model, Order};
use saltus_numerics::Solver;

/// The schemes, and the last step that they did.
#[derive(Debug)]
pub(super) struct Stepper {
    schemes: Instant,
    whole: Vec<f64>,
    middle: Vec<f64>,
    velocities: usize, // where they begin in the state
}

impl Stepper {
    pub fn new(model: &Model, tol: f64, solver: &Solver) -> Result<Stepper, SimError> {
        // a resting contact that round-off has lifted still acts
        let threshold = 1e-3 * tol;
        let jean = MoreauJean { threshold, ..MoreauJean::default() };
        let jean = MoreauJean { projection: Some(Projection::Direct), ..jean };
        let schemes = Instant::with(model, EulerMoreau::default(), jean, solver)?;
        let states = schemes.X.len();
        let second = model.systems().filter(|(_, system)| system.order() == Order::Second);
        let velocities = states - second.map(|(_, system)| system.dim()).sum::<usize>();
        Ok(Stepper { schemes, whole: vec![0.0; states], middle: vec![0.0; states], velocities })
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
        self.schemes.step(model, t, X, 0, h)?;
        self.whole.copy_from_slice(&self.schemes.X);
        self.schemes.step(model, t, X, 1, 0.5 * h)?;
        self.middle.copy_from_slice(&self.schemes.X);
        self.schemes.step(model, t + 0.5 * h, &self.middle, 2, 0.5 * h)?;
        let mut worst = 0.0_f64;
        for (i, (whole, half)) in self.whole.iter().zip(&self.schemes.X).enumerate() {
            let reach = if i < self.velocities { 1.0 } else { h };
            let error = reach * (whole - half).abs() / (tol * (1.0 + reach * half.abs()));
            if !(error <= worst) {
                worst = error;
            }
        }
        Ok(worst)
    }

    /// State and forces after the last step.
    pub fn end(&self) -> (&[f64], &[f64]) {
        (&self.schemes.X, &self.schemes.lam)
    }

    /// The two halves of the last step.
    pub fn halves(&self) -> [&Parts; 2] {
        [self.schemes.parts(1), self.schemes.parts(2)]
    }
}
