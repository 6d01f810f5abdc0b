//! Sweeps over all contacts and the [surroundings](super::surroundings) of those they leave, in turn.

use super::fours::Fours;
use super::part::Measure;
use super::rows::{Motion, Rows};
use super::surroundings::Surroundings;

/// Sweeps of a turn.
pub(super) const SWEEPS: usize = 50;
/// Contacts of surroundings: at first, at most, and how they grow and shrink.
const LEAST: f64 = 30.0;
const MOST: f64 = 120.0;
const GROWTH: f64 = 1.25;
/// Fall of the residual in a turn above which they grow, and below which they shrink.
const SLOW: f64 = 0.5;
const FAST: f64 = 0.2;

/// How far it goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// The residual to reach.
    pub aim: f64,
    /// The one that surroundings are solved for.
    pub tol: f64,
    /// Turns at most, and those within which the residual must halve.
    pub turns: usize,
    pub patience: usize,
    /// Sweeps and steps at most.
    pub max_iter: usize,
}

/// The residual of impulses, and how that of their contacts is measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Now {
    pub residual: f64,
    pub measure: Measure,
}

/// What is kept between calls.
#[derive(Debug, Default)]
pub(super) struct Turns {
    surroundings: Surroundings,
    best: Vec<f64>,
    s: Vec<Motion>,
}

impl Turns {
    /// From the impulses `z`, of which `now` is known; the best that were found are left there. How many sweeps and
    /// steps.
    pub fn run(
        &mut self,
        rows: &Rows,
        fours: &mut Fours,
        limits: Limits,
        mut now: Now,
        z: &mut [f64],
        mut measured: impl FnMut(&[f64]) -> Now,
    ) -> usize {
        let Turns { surroundings, best, s } = self;
        let Limits { aim, tol, turns, patience, max_iter } = limits;
        surroundings.prepare(rows);
        best.clear();
        best.extend_from_slice(z);
        let (mut least, mut half, mut since) = (now.residual, now.residual, 0);
        let (mut size, mut iterations) = (LEAST, 0);
        for turn in 1..=turns {
            let before = now.residual;
            rows.follow(z, s);
            iterations += surroundings.solve(rows, now.measure, tol, size as usize, z, s);
            fours.take(z, s);
            fours.run(SWEEPS);
            fours.leave(z);
            iterations += SWEEPS;
            now = measured(z);
            let value = now.residual;
            if value < least {
                least = value;
                best.copy_from_slice(z);
            }
            if value <= 0.5 * half {
                (half, since) = (value, turn);
            }
            let is_done = value <= aim || !value.is_finite();
            if is_done || turn >= since + patience || iterations >= max_iter {
                break;
            }
            if value > SLOW * before {
                size = (GROWTH * size).min(MOST);
            } else if value < FAST * before {
                size = (size / GROWTH).max(LEAST);
            }
        }
        z.copy_from_slice(best);
        iterations
    }
}
