//! Time-stepping whose step an error decides.
//!
//! One step of length `h` and two of length `h/2` differ by about the error of the first:
//!
//! ```text
//! error = max( |q₁ − q₂|, |x₁ − x₂|, h |v₁ − v₂| ) / (tol (1 + |·|))                    (1)
//! ```
//!
//! Velocities of a ball that bounces many times in a step have no limit; what counts of them is
//! how far they carry. States without mass follow from the others at every instant: they may jump, and
//! are not looked at.
//!
//! Of first-order systems whose laws are smooth the two may be combined, so that the error of the
//! first order goes:
//!
//! ```text
//! x = 2 x₂ − x₁                                                                        (2)
//! ```
//!
//! Where a slope jumps in the first half of a step, as a device that turns on makes it, `x₁` and `x₂` are
//! the same, and both are wrong. So the slope of the second half counts too, beside that of the step
//! before; in smooth motion this is about twice (1), and of the same order:
//!
//! ```text
//! error = h/4 |ẋ₂ − ẋ₀| / (tol (1 + |·|))                                              (3)
//! ```
//!
//! Where there is no step before, a far shorter one from the same state tells `ẋ₀`.

use crate::SimError;
use crate::event_driven::{EventDriven, Instant};
use crate::integrators::{EulerMoreau, MoreauJean, NewtonSettings, Projection};
use crate::recorder::Parts;
use crate::run::Ledger;
use saltus_linalg::Matrix;
use saltus_model::{At, Model, Order, System};
use saltus_numerics::Solver;

/// Share of a step after which its first slope is told.
const SHORT: f64 = 1e-3;

/// The schemes, and the last step that they did.
#[derive(Debug)]
pub(super) struct Stepper {
    schemes: Instant,
    whole: Vec<f64>,
    middle: Vec<f64>,
    velocities: usize, // where they begin in the state
    inert: Vec<bool>,  // of x: has a mass
    combines: bool,    // (2) and (3)
    end: Vec<f64>,
    slope: Vec<f64>,          // of the second half
    before: Option<Vec<f64>>, // the same of the step before, where that is known
    /// Of all problems of the last step.
    pub iterations: usize,
    /// The largest of them.
    pub residual: f64,
    /// At the end of the last step.
    pub penetration: f64,
}

impl Stepper {
    /// `combined`: by (2), with these settings of Newton's method.
    pub fn new(
        model: &Model,
        tol: f64,
        combined: Option<NewtonSettings>,
        solver: &Solver,
    ) -> Result<Stepper, SimError> {
        // gaps that the tolerance does not see are closed, so that small bounces come to rest
        let (gamma, threshold, projection) = (0.0, tol, Some(Projection::Direct));
        let jean = MoreauJean { gamma, threshold, projection, ..MoreauJean::default() };
        let newton = combined.unwrap_or_default();
        let schemes = Instant::with(model, EulerMoreau::default(), jean, newton, solver)?;
        let states = schemes.X.len();
        let second = model.systems().filter(|(_, system)| system.order() == Order::Second);
        let velocities = states - second.map(|(_, system)| system.dim()).sum::<usize>();
        Ok(Stepper {
            schemes,
            whole: vec![0.0; states],
            middle: vec![0.0; states],
            velocities,
            inert: inert(model)?,
            combines: combined.is_some(),
            end: vec![0.0; states],
            slope: vec![0.0; states],
            before: None,
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
        if self.combines && self.before.is_none() {
            self.one(model, t, X, 0, SHORT * h)?;
            let slopes =
                self.schemes.X.iter().zip(X).map(|(end, start)| (end - start) / (SHORT * h));
            self.before = Some(slopes.collect());
        }
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
            if self.inert.get(i) == Some(&false) {
                continue;
            }
            let reach = if i < self.velocities { 1.0 } else { h };
            let error = reach * (whole - half).abs() / (tol * (1.0 + reach * half.abs()));
            if !error.is_finite() {
                return Ok(f64::INFINITY);
            }
            worst = worst.max(error);
        }
        self.end.copy_from_slice(&self.schemes.X);
        if self.combines {
            worst = worst.max(self.bends(h, tol));
            for i in (0..self.inert.len()).filter(|&i| self.inert[i]) {
                self.end[i] += self.end[i] - self.whole[i]; // (2)
            }
        }
        Ok(worst)
    }

    /// Error (3).
    fn bends(&mut self, h: f64, tol: f64) -> f64 {
        let mut worst = 0.0_f64;
        for i in (0..self.inert.len()).filter(|&i| self.inert[i]) {
            let half = self.schemes.X[i];
            self.slope[i] = 2.0 * (half - self.middle[i]) / h;
            let bend = self.before.as_ref().map_or(0.0, |before| self.slope[i] - before[i]);
            worst = worst.max(0.25 * h * bend.abs() / (tol * (1.0 + half.abs())));
        }
        worst
    }

    /// Takes the switches as they are now.
    pub fn follow_switches(&mut self, exact: &EventDriven) {
        exact.tell_switches_to(&mut self.schemes);
    }

    /// The last step is taken: the next one goes on from it.
    pub fn keep(&mut self) {
        if self.combines {
            self.before.get_or_insert_default().clone_from(&self.slope);
        }
    }

    /// Something else has changed the state: slopes may jump.
    pub fn restart(&mut self) {
        self.before = None;
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
        (&self.end, &self.schemes.lam)
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

/// Which components of the first-order states have a mass: a column of `M` that is not zero.
fn inert(model: &Model) -> Result<Vec<bool>, SimError> {
    let (mut inert, mut M) = (Vec::new(), Matrix::default());
    for (name, system) in model.systems() {
        if let System::FirstOrder(system) = system {
            system.mass(At::time(model.t0()), &mut M).map_err(|error| error.of(name))?;
            inert.extend((0..M.cols()).map(|k| (0..M.rows()).any(|i| M[(i, k)] != 0.0)));
        }
    }
    Ok(inert)
}
