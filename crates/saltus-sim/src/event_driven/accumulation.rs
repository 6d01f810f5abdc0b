//! Infinitely many events in finite time.
//!
//! The intervals `Δ` of a ball that bounces, or of a state that spirals into a corner, shrink in a
//! ratio `ρ` that tends to a constant. The rest of them takes
//!
//! ```text
//! Δ ρ + Δ ρ² + … = Δ ρ/(1 − ρ)                                                        (1)
//! ```
//!
//! Several contacts at once have no such ratio, nor do elastic bounces end. What then is left are
//! bounces too low to be told from rest, or events between which nothing moves.

use super::collocation::Tolerance;

/// The last events of a block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Series {
    last: f64,
    intervals: [f64; 3],
    count: usize,
    longest: f64,
    low: usize, // bounces in a row that could not be told from rest, of no steady ratio
}

/// How steady the ratio must be, in units of `1 − ρ`.
const STEADY: f64 = 0.1;
/// Height, in units of the tolerance, below which a bounce is none.
const LOW: f64 = 1e-4;
/// Gap, in units of the tolerance, from which on a contact has nothing to do with an impact nearby:
/// twice that at which it counts as closed. A bounce below it cannot be told from rest.
pub(super) const APART: f64 = 20.0;
/// Bounces in a row, all too low to be told from rest, after which there are no more.
const PATIENCE: usize = 50;

impl Series {
    /// An event at `t`.
    pub fn add(&mut self, t: f64) {
        if self.count > 0 {
            let interval = t - self.last;
            self.intervals.rotate_left(1);
            self.intervals[2] = interval;
            self.longest = self.longest.max(interval);
        }
        self.last = t;
        self.count += 1;
    }

    /// Something else has changed the motion: the intervals are forgotten, but not how long they were.
    pub fn restart(&mut self) {
        *self = Series { longest: self.longest, low: self.low, ..Series::default() };
    }

    /// Time since the last event, where there was one.
    pub fn since(&self, t: f64) -> Option<f64> {
        (self.count > 0 && t > self.last).then_some(t - self.last)
    }

    /// Whether the bounce that ends at `t` with velocity `u` was nothing, `|u| Δ / 4` high under a
    /// constant force, or the last of many that could not be told from rest.
    pub fn is_last(&mut self, t: f64, u: f64, tolerance: Tolerance) -> bool {
        let Some(interval) = self.since(t) else { return false };
        let height = 0.25 * u.abs() * interval / tolerance.atol;
        height < LOW || self.is_over(t, height < APART)
    }

    /// A bounce has ended at `t`: whether too many have been `low` by now. Those of a steady ratio are
    /// left to equation (1).
    pub fn is_over(&mut self, t: f64, low: bool) -> bool {
        if !low {
            self.low = 0;
        } else if self.ratio(t).is_none() {
            self.low += 1;
        }
        self.low > PATIENCE
    }

    /// Equation (1), counted from the event at `t`, once intervals are below `shortest` of the
    /// longest one.
    pub fn left(self, t: f64, shortest: f64) -> Option<f64> {
        let (ratio, last) = self.ratio(t)?;
        let longest = self.longest.max(last);
        (last <= shortest * longest).then(|| last * ratio / (1.0 - ratio))
    }

    /// The ratio, if there is one, and the last interval, with an event at `t`.
    fn ratio(mut self, t: f64) -> Option<(f64, f64)> {
        if t > self.last {
            self.add(t);
        }
        if self.count < 6 {
            return None;
        }
        let [a, b, c] = self.intervals;
        let (first, second) = (b / a, c / b);
        let ratio = (first * second).sqrt();
        let steady = (first - second).abs() < STEADY * (1.0 - ratio);
        (ratio < 1.0 && steady).then_some((ratio, c))
    }
}

/// Events between which nothing moves.
#[derive(Debug, Default)]
pub(super) struct Standstill {
    t: f64,
    X: Vec<f64>,
    count: usize,
    length: f64,
}

/// Events without any motion before they are passed by, and such at one instant; and the time between
/// them, relative to the time of the run.
const MANY: usize = 200;
const AT_ONCE: usize = 20;
const BRIEF: f64 = 1e-8;
/// The step that passes by them, in units of the time between two of them, and how much longer each
/// further one is.
const STRIDE: f64 = 16.0;

impl Standstill {
    /// Forgets all events.
    pub fn forget(&mut self) {
        self.X.clear();
        (self.count, self.length) = (0, 0.0);
    }

    /// A state that is far from that of the first event means that something moves.
    pub fn see(&mut self, X: &[f64], tolerance: Tolerance) {
        let moved = |(a, b): (&f64, &f64)| !((a - b).abs() <= tolerance.of(*a));
        if X.iter().zip(&self.X).any(moved) {
            self.forget();
        }
    }

    /// An event at `t` in state `X`. A length of time to be passed by, where so many of them have
    /// moved nothing that can be told and take next to nothing of the time `horizon`.
    pub fn add(&mut self, t: f64, X: &[f64], horizon: f64, tolerance: Tolerance) -> Option<f64> {
        self.see(X, tolerance);
        if self.X.is_empty() {
            self.t = t;
            self.X.extend_from_slice(X);
            return None;
        }
        self.count += 1;
        let mean = (t - self.t) / self.count as f64;
        let enough = if t == self.t { AT_ONCE } else { MANY };
        if self.count < enough || mean > BRIEF * horizon {
            return None;
        }
        let least = mean.max(f64::EPSILON * t.abs()).max(f64::MIN_POSITIVE);
        self.length = STRIDE * self.length.max(least);
        (self.t, self.count) = (t + self.length, 0);
        Some(self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_geometric_series_ends_at_its_limit() {
        let (mut series, mut t, mut interval) = (Series::default(), 0.0, 1.0);
        while interval > 1e-6 {
            assert_eq!(series.left(t, 1e-6), None);
            series.add(t);
            t += interval;
            interval *= 0.9;
        }
        series.add(t);
        let end = t + series.left(t, 1.2e-6).unwrap();
        assert!((end - 10.0).abs() < 1e-11, "{end}");
    }

    #[test]
    fn equal_intervals_have_no_limit() {
        let mut series = Series::default();
        (0..100).for_each(|k| series.add(k as f64));
        assert_eq!(series.left(100.0, 1.0), None);
    }

    #[test]
    fn low_bounces_are_over_after_a_while() {
        let mut series = Series::default();
        let mut bounces = 0;
        while !series.is_over(bounces as f64, true) {
            series.add(bounces as f64);
            bounces += 1;
        }
        assert_eq!(bounces, PATIENCE);
        assert!(!series.is_over(1e3, false) && !series.is_over(1e3 + 1.0, true));
    }

    #[test]
    fn events_that_move_nothing_are_passed_by() {
        let tolerance = Tolerance { rtol: 1e-9, atol: 1e-11 };
        let mut still = Standstill::default();
        let mut passed = Vec::new();
        for _ in 0..=AT_ONCE {
            passed.extend(still.add(1.0, &[2.0], 1.0, tolerance));
        }
        for _ in 0..MANY {
            passed.extend(still.add(1.0 + 1e-10, &[2.0], 1.0, tolerance));
        }
        assert_eq!(passed[0], STRIDE * f64::EPSILON);
        assert!(passed.len() == 2 && passed[1] >= STRIDE * passed[0], "{passed:?}");
        // time passes, or something moves
        let passed = (0..1000).find_map(|k| still.add(2.0 + k as f64, &[2.0], 10.0, tolerance));
        assert_eq!(passed, None);
        let passed = (0..1000).find_map(|k| still.add(2e3, &[k as f64], 10.0, tolerance));
        assert_eq!(passed, None);
    }
}
