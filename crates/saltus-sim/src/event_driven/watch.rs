//! Events in a step: which indicator passes through zero first, and where.
//!
//! Indicators are looked at on the polynomial of the step. That is less accurate than the end of
//! the step, so the length of the step becomes an unknown: with `g(h)` the indicator at the end of
//! a step of length `h`, Newton's method finds
//!
//! ```text
//! g(h) = 0                                                                            (1)
//! ```
//!
//! and the event has the order of the step.

use super::EventDriven;
use super::collocation::Outcome;
use super::flow::Flow;
use super::mode::INDICATORS;
use super::plant::Plant;
use crate::SimError;

/// Instants of a step at which indicators are looked at.
const SAMPLES: usize = 8;
/// Iterations on (1); they converge quadratically.
const ITERATIONS: usize = 8;

/// An indicator of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cause {
    pub block: usize,
    pub indicator: usize,
}

impl EventDriven {
    /// An indicator at `t + θ h`.
    pub(super) fn indicator(&mut self, of: Cause, theta: f64) -> Result<f64, SimError> {
        self.look(theta)?;
        Ok(self.indicators(of.block, theta)?[of.indicator])
    }

    /// Whether no indicator is negative at the end of the step.
    pub(super) fn consistent(&mut self) -> Result<bool, SimError> {
        self.look(1.0)?;
        for block in 0..self.mode.blocks.len() {
            if self.indicators(block, 1.0)?.iter().any(|value| *value < 0.0) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Evaluates state, multipliers and outputs at `t + θ h`.
    fn look(&mut self, theta: f64) -> Result<(), SimError> {
        let Flow { t, h, .. } = self.flow;
        self.flow.at(theta, &mut self.work.X, &mut self.work.lam);
        self.plant.outputs(t + theta * h, &self.work.X, &self.work.lam)
    }

    fn indicators(&self, block: usize, theta: f64) -> Result<[f64; INDICATORS], SimError> {
        let Flow { t, h, .. } = self.flow;
        let Plant { y, u, .. } = &self.plant;
        self.mode.indicators(block, t + theta * h, &self.work.X, y, u, &self.work.lam)
    }

    /// The first indicator that passes through zero in the step, and about where (θ).
    pub(super) fn first_event(&mut self) -> Result<Option<(Cause, f64)>, SimError> {
        for j in 1..=SAMPLES {
            let (left, right) = ((j - 1) as f64 / SAMPLES as f64, j as f64 / SAMPLES as f64);
            self.look(right)?;
            let mut crossed = std::mem::take(&mut self.work.crossed);
            crossed.clear();
            for block in 0..self.mode.blocks.len() {
                for (indicator, value) in self.indicators(block, right)?.iter().enumerate() {
                    if *value < 0.0 {
                        crossed.push(Cause { block, indicator });
                    }
                }
            }
            let mut first: Option<(Cause, f64)> = None;
            for &cause in &crossed {
                let theta = self.root(cause, left, right)?;
                if first.is_none_or(|(_, before)| theta < before) {
                    first = Some((cause, theta));
                }
            }
            self.work.crossed = crossed;
            if first.is_some() {
                return Ok(first);
            }
        }
        Ok(None)
    }

    /// Where an indicator that is negative at `right` becomes so, by bisection and secants. At the
    /// beginning of the step, where it may be zero to round-off, it counts as positive.
    fn root(&mut self, of: Cause, left: f64, right: f64) -> Result<f64, SimError> {
        let (mut a, mut b) = (left, right);
        let mut g_b = self.indicator(of, b)?;
        let mut g_a = if a == 0.0 { f64::NAN } else { self.indicator(of, a)? };
        for _ in 0..80 {
            let secant = a + (b - a) * g_a / (g_a - g_b);
            let inner = 0.01 * (b - a);
            let c = if secant > a + inner && secant < b - inner { secant } else { 0.5 * (a + b) };
            if c <= a || c >= b || b - a < 1e-15 {
                break;
            }
            let g_c = self.indicator(of, c)?;
            if g_c < 0.0 {
                (b, g_b) = (c, g_c);
            } else {
                (a, g_a) = (c, g_c);
            }
        }
        Ok(b)
    }

    /// Equation (1), from a guess of the length. Whether the step converged for it.
    pub(super) fn locate(&mut self, of: Cause, mut h: f64) -> Result<bool, SimError> {
        let mut known: Option<(f64, f64)> = None; // a length and its indicator
        for _ in 0..ITERATIONS {
            if self.t + h == self.t {
                // the event is now: nothing moves
                self.flow.hold(self.t, &self.X, &self.lam);
                break;
            }
            if self.smooth(h)? == Outcome::TooLong {
                return Ok(false);
            }
            let value = self.indicator(of, 1.0)?;
            let slope = match known {
                Some((at, was)) if at != h => (value - was) / (h - at),
                _ => (value - self.indicator(of, 1.0 - 1e-3)?) / (1e-3 * h),
            };
            known = Some((h, value));
            let change = value / slope;
            let round_off = 2.0 * f64::EPSILON * self.t.abs().max(h);
            let next = h - change;
            if !(change.abs() > round_off && next > 0.0 && next < 2.0 * h) {
                break;
            }
            h = next;
        }
        Ok(true)
    }
}
