//! Where steps end: time as a count of steps, or as given instants.

use crate::SimError;
use crate::integrators::Step;
use saltus_numerics::Memory;

/// Where the steps end.
#[derive(Debug, Clone, PartialEq)]
pub enum Steps {
    /// Every `h` seconds; the last step of a run is shortened where `until` asks for it.
    Every(f64),
    /// At these instants, which increase from `t0` on; a run ends at the last of them that is
    /// not beyond `until`.
    Instants(Vec<f64>),
}

impl From<f64> for Steps {
    fn from(h: f64) -> Self {
        Steps::Every(h)
    }
}

impl From<Vec<f64>> for Steps {
    fn from(instants: Vec<f64>) -> Self {
        Steps::Instants(instants)
    }
}

/// Shares of a step below which two instants are the same.
const NEARLY: f64 = 1e-9;
/// Round-off of an instant, in units of its last place.
const ROUND_OFF: f64 = 8.0 * f64::EPSILON;

/// Time as a count of steps since an anchor, so that it does not drift.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    pub t: f64,
    t0: f64,
    anchor: f64,
    count: usize,   // full steps since the anchor
    instant: usize, // next entry of given instants
    between: bool,  // a scheduled instant was met on the way to the end of the step
    last_h: f64,
}

impl Clock {
    pub fn new(t0: f64) -> Clock {
        Clock { t: t0, t0, anchor: t0, count: 0, instant: 0, between: false, last_h: f64::NAN }
    }

    /// What the next step depends on.
    pub fn memory(&mut self, memory: &mut Memory) {
        memory.number(&mut self.t);
        memory.number(&mut self.anchor);
        memory.count(&mut self.count);
        memory.count(&mut self.instant);
        memory.flag(&mut self.between);
        memory.number(&mut self.last_h);
    }

    /// Steps left before `until`, a shortened last one included.
    pub fn steps_ahead(&self, steps: &Steps, until: f64) -> usize {
        match steps {
            Steps::Every(h) => {
                let slack = self.slack(until, *h) / h;
                // a rest within the slack is no step
                let ahead = |from: f64| match (until - from) / h {
                    ahead if ahead > slack => (ahead - slack).ceil() as usize,
                    _ => 0,
                };
                match self.between && ahead(self.t) > 0 {
                    true => 1 + ahead(self.anchor + (self.count + 1) as f64 * h),
                    false => ahead(self.t),
                }
            }
            Steps::Instants(instants) => {
                let left = instants.get(self.instant..).unwrap_or(&[]);
                let until = until + ROUND_OFF * until.abs();
                left.iter().take_while(|&&t| t <= until).count()
            }
        }
    }

    /// The step that comes next, ending at `until` at the latest.
    #[inline]
    pub fn next_step(&self, steps: &Steps, until: f64) -> Result<Step, SimError> {
        let start = self.t;
        match steps {
            Steps::Every(h) => {
                let end = self.anchor + (self.count + 1) as f64 * h;
                if end > until && end > until + self.slack(until, *h) && until > start {
                    return Ok(Step { start, end: until, h: until - start });
                }
                Ok(Step { start, end, h: if self.between { end - start } else { *h } })
            }
            Steps::Instants(instants) => match instants.get(self.instant) {
                Some(&end) => Ok(Step { start, end, h: self.settle(end - start, end) }),
                None => Err(SimError::NoMoreInstants { last: start }),
            },
        }
    }

    /// The same step, ending at a scheduled instant where that comes before its end. Also
    /// whether it does.
    pub fn cut(&self, step: Step, steps: &Steps, instant: f64) -> (Step, bool) {
        let nominal = if let Steps::Every(h) = steps { *h } else { step.end - step.start };
        let slack = self.slack(instant, nominal);
        match instant.is_finite() && instant > step.start + slack && instant < step.end - slack {
            true => (Step { start: step.start, end: instant, h: instant - step.start }, true),
            false => (step, false),
        }
    }

    /// Whether a scheduled instant has come.
    pub fn has_come(&self, steps: &Steps, instant: f64) -> bool {
        let h = if let Steps::Every(h) = steps { *h } else { self.last_h };
        // no step yet: only what is now
        let slack = if h.is_nan() { 0.0 } else { self.slack(instant, h) };
        instant.is_finite() && instant <= self.t + slack
    }

    /// The length of the last step, 0 before there is one.
    pub fn last_h(&self) -> f64 {
        if self.last_h.is_nan() { 0.0 } else { self.last_h }
    }

    /// The step, cut by [`cut`](Self::cut), has been done: the grid of steps stays what it is.
    pub fn advance_between(&mut self, step: Step) {
        self.t = step.end;
        self.last_h = step.h;
        self.between = true;
    }

    /// The step has been done.
    #[inline]
    pub fn advance(&mut self, step: Step, steps: &Steps) {
        let whole = self.between || matches!(steps, Steps::Every(h) if *h == step.h);
        self.between = false;
        self.t = step.end;
        self.last_h = step.h;
        match steps {
            Steps::Every(h) if whole && step.end == self.anchor + (self.count + 1) as f64 * h => {
                self.count += 1;
            }
            Steps::Every(_) => (self.anchor, self.count) = (step.end, 0),
            Steps::Instants(_) => self.instant += 1,
        }
    }

    /// Seconds within which two instants are the same: a small share of a step, or of
    /// the whole way if that is shorter, or the
    /// round-off of the instants where that is more.
    #[inline]
    fn slack(&self, until: f64, h: f64) -> f64 {
        let largest = until.abs().max(self.t.abs()).max(self.anchor.abs());
        (NEARLY * h.min(until - self.t0)).max(ROUND_OFF * largest)
    }

    /// The length of the last step, where the difference is only round-off of the instants:
    /// equal steps keep their matrices.
    fn settle(&self, h: f64, end: f64) -> f64 {
        let round_off = ROUND_OFF * end.abs().max(self.t.abs());
        if (h - self.last_h).abs() <= round_off { self.last_h } else { h }
    }
}

impl Steps {
    /// Checks the step, or the instants; drops a first instant that is `t0` itself.
    pub(crate) fn checked(mut self, t0: f64) -> Result<Steps, SimError> {
        match &mut self {
            Steps::Every(h) => {
                // a step that does not move the time is none
                if !(*h > 0.0 && h.is_finite() && t0 + *h > t0) {
                    let (owner, allowed) = ("time-stepping", "(0, inf)");
                    return Err(SimError::Setting { owner, field: "h", value: *h, allowed });
                }
            }
            Steps::Instants(instants) => {
                if instants.first() == Some(&t0) {
                    instants.remove(0);
                }
                if instants.is_empty() {
                    return Err(SimError::NoInstants);
                }
                let mut before = t0;
                for (index, &found) in instants.iter().enumerate() {
                    if !(found > before) || !found.is_finite() {
                        return Err(SimError::Instants { index, found, before });
                    }
                    before = found;
                }
            }
        }
        Ok(self)
    }

    /// The last instant, where instants are given.
    pub(crate) fn last(&self) -> Option<f64> {
        match self {
            Steps::Every(_) => None,
            Steps::Instants(instants) => instants.last().copied(),
        }
    }

    /// Whether `until` lies beyond the last of given instants.
    pub(crate) fn end_before(&self, until: f64) -> Option<f64> {
        self.last().filter(|last| until > last + ROUND_OFF * last.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps to `until` as a run does, and compares with the count told ahead.
    fn count(t0: f64, h: f64, until: f64) -> (usize, usize, f64) {
        let steps = Steps::Every(h);
        let mut clock = Clock::new(t0);
        let ahead = clock.steps_ahead(&steps, until);
        let (mut done, mut least) = (0, f64::INFINITY);
        while clock.steps_ahead(&steps, until) > 0 {
            let step = clock.next_step(&steps, until).unwrap();
            least = least.min(step.h);
            clock.advance(step, &steps);
            done += 1;
        }
        assert!((clock.t - until).abs() <= 1e-9 * h + 1e-14 * until.abs());
        (ahead, done, least)
    }

    #[test]
    fn no_step_of_length_zero_far_from_the_origin() {
        let mut seed = 1u64;
        for t0 in [0.0, 1e3, 1e6] {
            for _ in 0..300 {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let h = 1e-5 * (1.0 + (seed >> 40) as f64 / 2f64.powi(24));
                let steps = 1 + (seed >> 33) as usize % 300;
                let (ahead, done, least) = count(t0, h, t0 + steps as f64 * h);
                assert_eq!((ahead, done), (steps, steps), "t0 = {t0}, h = {h}");
                assert!(least > 0.5 * h, "t0 = {t0}, h = {h}, least = {least}");
            }
        }
        let (ahead, done, least) = count(0.0, 5.45e-7, 5.45);
        assert_eq!((ahead, done), (10_000_000, 10_000_000));
        assert_eq!(least, 5.45e-7);
    }

    #[test]
    fn the_last_step_is_shortened() {
        assert_eq!(count(0.0, 0.25, 1.1).0, 5);
        assert_eq!(count(0.0, 0.25, 0.1).0, 1);
        assert_eq!(count(0.0, 0.25, 0.0).0, 0);
        assert_eq!(count(0.0, 1e10, 5.0).0, 1);
    }

    #[test]
    fn instants_may_begin_with_t0_and_end_at_until_but_for_round_off() {
        let steps = Steps::Instants(vec![0.0, 0.1, 0.1 + 0.1 + 0.1]).checked(0.0).unwrap();
        assert_eq!(steps, Steps::Instants(vec![0.1, 0.1 + 0.1 + 0.1]));
        assert_eq!(Clock::new(0.0).steps_ahead(&steps, 0.3), 2);
        assert_eq!(Steps::Instants(vec![0.0]).checked(0.0), Err(SimError::NoInstants));
    }
}
