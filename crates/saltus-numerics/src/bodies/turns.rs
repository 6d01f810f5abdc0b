//! Sweeps over all contacts and the [surroundings](super::surroundings) of those they leave, in turn.

use super::fours::Fours;
use super::part::Measure;
use super::rows::Free;
use super::surroundings::Surroundings;
use crate::watch::is_interrupted;

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
}

impl Turns {
    /// With the fours and the velocities without impulses, from the impulses `z`, of which `now` is known, until the residual is what is aimed at, falls no more or is no number; the best that
    /// were found, which `best` has room for, are left there. How many sweeps and steps.
    pub fn run(
        &mut self,
        (fours, free): (&mut Fours, impl Free),
        limits: Limits,
        mut now: Now,
        z: &mut [f64],
        best: &mut Vec<f64>,
        mut measured: impl FnMut(&[f64]) -> Now,
    ) -> usize {
        let Turns { surroundings } = self;
        let Limits { aim, tol, turns, patience, max_iter } = limits;
        surroundings.prepare(fours);
        best.clear();
        best.extend_from_slice(z);
        let (mut least, mut half, mut since) = (now.residual, now.residual, 0);
        let (mut size, mut iterations) = (LEAST, 0);
        for turn in 1..=turns {
            let before = now.residual;
            let goes_on = before > aim && before < f64::INFINITY && iterations < max_iter;
            if !goes_on || is_interrupted() {
                break;
            }
            iterations += fours.begin_after(free.clone(), z, |fours, z, s| {
                surroundings.solve(fours, now.measure, tol, size as usize, z, s)
            });
            fours.run(SWEEPS, 0.0);
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
            if turn >= since + patience {
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

#[cfg(test)]
mod tests {
    use super::super::heaps::heap;
    use super::super::rows::Rows;
    use super::super::{Friction, Island};
    use super::*;

    fn run(limits: Limits, residuals: &[f64]) -> (usize, Vec<f64>, Vec<Vec<f64>>) {
        let (bodies, members, touches) = heap(3, Friction::Space { mu: 0.5 }, 1.0);
        let (mut rows, mut fours) = (Rows::default(), Fours::default());
        rows.fill(Island { bodies: &bodies, members: &members, touches: &touches });
        fours.fill(&rows);
        let mut z = vec![0.0; 3 * touches.len()];
        let first = Now { residual: residuals[0], measure: Measure::of(&rows, &z) };
        let mut seen = vec![z.clone()];
        let measured = |z: &[f64]| {
            seen.push(z.to_vec());
            Now { residual: residuals[seen.len() - 1], measure: first.measure }
        };
        let fours = (&mut fours, rows.free.iter().copied());
        let steps = Turns::default().run(fours, limits, first, &mut z, &mut Vec::new(), measured);
        (steps, z, seen)
    }

    const LIMITS: Limits =
        Limits { aim: 1e-9, tol: 1e-9, turns: 4, patience: 3, max_iter: usize::MAX };

    #[test]
    fn the_best_point_is_left() {
        let (_, z, seen) = run(LIMITS, &[1.0, 0.4, 0.9, 0.8, 0.7]);
        assert_eq!((seen.len(), &z), (5, &seen[1]));
        // what is no number ends it
        let (_, z, seen) = run(LIMITS, &[1.0, 0.4, f64::NAN, 0.0]);
        assert_eq!((seen.len(), &z), (3, &seen[1]));
    }

    #[test]
    fn it_ends_where_it_is_told() {
        let (steps, _, seen) = run(Limits { max_iter: 0, ..LIMITS }, &[1.0]);
        assert_eq!((steps, seen.len()), (0, 1));
        let (steps, _, seen) = run(LIMITS, &[1e-10]);
        assert_eq!((steps, seen.len()), (0, 1));
        // no half for so many turns
        let (_, _, seen) = run(Limits { patience: 2, ..LIMITS }, &[1.0, 0.9, 0.8]);
        assert_eq!(seen.len(), 3);
    }
}
