//! How dense events are.

/// Events in a row that are looked at.
const ROW: usize = 16;

/// The last events that followed each other without a step that ended by itself.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Density {
    first: f64,
    count: usize,
}

impl Density {
    /// A step has ended at `t`, by an event or by itself.
    pub fn note(&mut self, t: f64, event: bool) {
        match (event, self.count) {
            (false, _) => self.count = 0,
            (true, 0) => (self.first, self.count) = (t, 1),
            (true, count) => self.count = count + 1,
        }
    }

    /// The mean interval of a row of events, once there is one; a new row begins then.
    pub fn interval(&mut self, t: f64) -> Option<f64> {
        if self.count <= ROW {
            return None;
        }
        let interval = (t - self.first) / (self.count - 1) as f64;
        self.count = 0;
        (interval > 0.0).then_some(interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_events_has_an_interval() {
        let mut density = Density::default();
        for k in 0..=ROW {
            assert_eq!(density.interval(0.1 * k as f64), None);
            density.note(0.1 * k as f64, true);
        }
        let interval = density.interval(0.1 * ROW as f64).unwrap();
        assert!((interval - 0.1).abs() < 1e-15);
        assert_eq!(density.interval(2.0), None);
    }

    #[test]
    fn steps_between_events_end_a_row() {
        let mut density = Density::default();
        for k in 0..100 {
            density.note(k as f64, k % 10 != 0);
            assert_eq!(density.interval(k as f64), None);
        }
    }
}
