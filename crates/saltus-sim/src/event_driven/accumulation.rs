//! Infinitely many events in finite time.
//!
//! The intervals `Δ` of a ball that bounces, or of a state that spirals into a corner, shrink in a
//! ratio `ρ` that tends to a constant. The rest of them takes
//!
//! ```text
//! Δ ρ + Δ ρ² + … = Δ ρ/(1 − ρ)                                                        (1)
//! ```

/// The last events of a block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Series {
    last: f64,
    intervals: [f64; 3],
    count: usize,
    longest: f64,
}

/// How steady the ratio must be, in units of `1 − ρ`.
const STEADY: f64 = 0.1;

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
        *self = Series { longest: self.longest, ..Series::default() };
    }

    /// Time since the last event, where there was one.
    pub fn since(&self, t: f64) -> Option<f64> {
        (self.count > 0 && t > self.last).then_some(t - self.last)
    }

    /// Equation (1), counted from the event at `t`, once intervals are below `shortest` of the
    /// longest one.
    pub fn left(mut self, t: f64, shortest: f64) -> Option<f64> {
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
        let short = c <= shortest * self.longest;
        (ratio < 1.0 && steady && short).then(|| c * ratio / (1.0 - ratio))
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
}
