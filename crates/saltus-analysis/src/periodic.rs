//! Periodic orbits by shooting: the state that a period leads back to.
//!
//! ```text
//! find x:   P(x) = x,    P(x): the state one period after x
//!
//! Newton:   (P'(x) − I) d = x − P(x),   x ← x + s d,   s = 1, 1/2, 1/4 … until ‖P(x) − x‖ falls
//! ```
//!
//! A small change over a period alone says little where the way back is slow; the step `d` says how far
//! away the orbit is, and must be small too.
//!
//! `P` is a simulation of one period. With switches `P` is continuous and piecewise smooth, so its
//! derivative by differences is that of the piece at hand; where Newton's step does not help, plain
//! periods are simulated instead, which is what the system itself does on its way to a stable orbit.

use saltus_linalg::{DenseLu, Matrix};
use thiserror::Error;

/// How an orbit is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shooting {
    /// Largest `|P(x) − x|` of a component, relative to the largest value it was seen to have; the
    /// distance `|d|` to the orbit may be `√tol`.
    pub tol: f64,
    /// Periods simulated before the first step of Newton, so that the start is forgotten.
    pub settle: usize,
    /// Periods that may be simulated in all.
    pub max_periods: usize,
}

impl Default for Shooting {
    fn default() -> Self {
        Shooting { tol: 1e-9, settle: 3, max_periods: 2000 }
    }
}

/// A periodic orbit.
#[derive(Debug, Clone, PartialEq)]
pub struct Orbit {
    /// The state that comes back after a period.
    pub state: Vec<f64>,
    /// `max |P(x) − x|`, relative to the largest value of each component.
    pub residual: f64,
    /// `max |d|`, how far away the orbit is to first order, likewise relative.
    pub error: f64,
    /// Steps of Newton.
    pub iterations: usize,
    /// Periods simulated.
    pub periods: usize,
}

/// Why no orbit was found.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ShootingError<E> {
    /// A period could not be simulated.
    #[error(transparent)]
    Period(E),
    /// The periods are used up.
    #[error(
        "no periodic orbit within {periods} periods: a period changes the state by {residual:.1e}, asked for {tol:.1e}"
    )]
    NotFound {
        /// Periods simulated.
        periods: usize,
        /// The least change of a period that was seen.
        residual: f64,
        /// What was asked for.
        tol: f64,
    },
    /// A state that is not finite.
    #[error("a period leads to a state that is not finite")]
    NotFinite,
}

/// Looks for the orbit from `start`; `period` simulates one period, from its first argument to its
/// second.
///
/// ```
/// use saltus_analysis::periodic::{Shooting, ShootingError, find};
///
/// // x ← 0.9 x + 1 comes back to 10
/// let period = |x: &[f64], end: &mut [f64]| -> Result<(), std::convert::Infallible> {
///     end[0] = 0.9 * x[0] + 1.0;
///     Ok(())
/// };
/// let orbit = find(&[0.0], Shooting::default(), period).unwrap();
/// assert!((orbit.state[0] - 10.0).abs() < 1e-7);
/// ```
pub fn find<E>(
    start: &[f64],
    settings: Shooting,
    period: impl FnMut(&[f64], &mut [f64]) -> Result<(), E>,
) -> Result<Orbit, ShootingError<E>> {
    let n = start.len();
    let mut search = Search { settings, period, periods: 0, seen: vec![0.0; n] };
    let mut x = start.to_vec();
    let mut end = vec![0.0; n];
    for _ in 0..settings.settle {
        search.simulate(&x, &mut end)?;
        x.copy_from_slice(&end);
    }
    search.simulate(&x, &mut end)?;
    let mut residual = search.change(&x, &end);
    let mut best = residual;
    let mut iterations = 0;

    let (mut slopes, mut factor) = (Matrix::zeros(n, n), DenseLu::default());
    let (mut moved, mut moved_end) = (vec![0.0; n], vec![0.0; n]);
    let mut error = if residual == 0.0 { 0.0 } else { f64::INFINITY };
    while !(residual <= settings.tol && error <= settings.tol.sqrt()) {
        if search.periods >= settings.max_periods {
            let periods = search.periods;
            return Err(ShootingError::NotFound { periods, residual: best, tol: settings.tol });
        }
        iterations += 1;
        // P'(x) − I, column by column
        for j in 0..n {
            moved.copy_from_slice(&x);
            let step = DIFFERENCE * search.seen[j].max(f64::MIN_POSITIVE.sqrt());
            moved[j] += step;
            search.simulate(&moved, &mut moved_end)?;
            for i in 0..n {
                let unit = if i == j { 1.0 } else { 0.0 };
                slopes.data_mut()[i * n + j] = (moved_end[i] - end[i]) / step - unit;
            }
        }
        let mut improved = false;
        if factor.factor(&slopes).is_ok() {
            let mut d: Vec<f64> = x.iter().zip(&end).map(|(x, end)| x - end).collect();
            factor.solve(&mut d);
            error = search.size(&d);
            if residual <= settings.tol && error <= settings.tol.sqrt() {
                break;
            }
            let (mut share, before) = (1.0, residual);
            while !improved && share > 1.0 / 64.0 {
                for i in 0..n {
                    moved[i] = x[i] + share * d[i];
                }
                search.simulate(&moved, &mut moved_end)?;
                let change = search.change(&moved, &moved_end);
                if change < residual {
                    (residual, improved) = (change, true);
                    error *= if share == 1.0 { change / before } else { 1.0 };
                    x.copy_from_slice(&moved);
                    end.copy_from_slice(&moved_end);
                }
                share /= 2.0;
            }
        }
        if !improved {
            for _ in 0..1 + settings.settle {
                x.copy_from_slice(&end);
                search.simulate(&x, &mut end)?;
            }
            residual = search.change(&x, &end);
            error = f64::INFINITY;
        }
        best = best.min(residual);
    }
    Ok(Orbit { state: x, residual, error, iterations, periods: search.periods })
}

/// Step of differences, relative to the largest value seen.
const DIFFERENCE: f64 = 1e-6;

/// Periods that are simulated, and how large the state was in them.
struct Search<P> {
    settings: Shooting,
    period: P,
    periods: usize,
    seen: Vec<f64>, // largest |x| of each component
}

impl<E, P: FnMut(&[f64], &mut [f64]) -> Result<(), E>> Search<P> {
    fn simulate(&mut self, x: &[f64], end: &mut [f64]) -> Result<(), ShootingError<E>> {
        if self.periods > self.settings.max_periods.saturating_add(x.len() + 64) {
            let tol = self.settings.tol;
            let periods = self.periods;
            return Err(ShootingError::NotFound { periods, residual: f64::NAN, tol });
        }
        self.periods += 1;
        (self.period)(x, end).map_err(ShootingError::Period)?;
        if !x.iter().chain(end.iter()).all(|value| value.is_finite()) {
            return Err(ShootingError::NotFinite);
        }
        for ((seen, x), end) in self.seen.iter_mut().zip(x).zip(end.iter()) {
            *seen = seen.max(x.abs()).max(end.abs());
        }
        Ok(())
    }

    /// `max |P(x) − x|`, each component relative to the largest value it was seen to have.
    fn change(&self, x: &[f64], end: &[f64]) -> f64 {
        let change: Vec<f64> = x.iter().zip(end).map(|(x, end)| end - x).collect();
        self.size(&change)
    }

    /// `max |d|`, likewise relative.
    fn size(&self, d: &[f64]) -> f64 {
        let relative = |(d, seen): (&f64, &f64)| if *d == 0.0 { 0.0 } else { d.abs() / seen };
        d.iter().zip(&self.seen).map(relative).fold(0.0, f64::max)
    }
}
