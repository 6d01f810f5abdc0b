//! A step in parts, where all of it at once is not solved.
//!
//! Whether the problem of a heap is solved is a matter of where its bodies are: contacts that wedge each other
//! in one position do not in the next. So a step that fails is cut into parts, each of which is verified like any
//! other step, and halved again where it fails; methods that take long on many contacts come last, for the shortest
//! parts. A heap that needed parts needs them in the next step, too. A part that fails costs about as much as one that
//! does not, and its two halves come on top. So the next step begins with parts of a length of which no more than half
//! failed, and longer ones are tried again after steps in which none did.
//!
//! ```text
//! λ ← h/h_m λ_m                                                                               (1)
//! ```
//!
//! stands in the row of the whole step: the forces of its last part `m`. Nothing of the parts is seen elsewhere, and
//! nothing has changed if they fail.

use super::committed::Committed;
use super::{Crowd, Part, Step};
use crate::integrators::together;
use crate::{Quantity, SimError};
use saltus_model::Model;
use saltus_numerics::{Memory, Report};

/// Halvings of the shortest part of a step.
const SHORTEST: u32 = 6;
/// Steps at most until longer parts are tried again.
const LONGEST_WAIT: u32 = 16;

/// How the next step is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    halvings: u32,
    wait: u32, // steps that go well until there is one halving less
    done: u32, // of these
}

impl Default for Cut {
    fn default() -> Cut {
        Cut { halvings: 0, wait: 1, done: 0 }
    }
}

impl Cut {
    /// After a step that began so, of whose first parts so many had to be halved.
    fn after(self, failed: u32) -> Cut {
        let Cut { halvings, wait, done } = self;
        if 2 * failed > 1 << halvings {
            // longer parts were too much, or this moment is harder than those before
            let wait = if done == 0 { (2 * wait).min(LONGEST_WAIT) } else { 1 };
            return Cut { halvings: halvings + 1, wait, done: 0 };
        }
        if failed > 0 {
            self
        } else if done + 1 < wait {
            Cut { done: done + 1, ..self }
        } else {
            Cut { halvings: halvings.saturating_sub(1), wait, done: 0 }
        }
    }

    pub fn memory(&mut self, memory: &mut Memory) {
        let mut words = [self.halvings, self.wait, self.done].map(u64::from);
        words.iter_mut().for_each(|word| memory.word(word));
        let [halvings, wait, done] = words.map(|word| word as u32);
        let wait = wait.clamp(1, LONGEST_WAIT);
        *self = Cut { halvings: halvings.min(SHORTEST), wait, done: done.min(wait) };
    }
}

/// What parts change and the step as a whole must not.
struct Begin {
    values: Vec<f64>,
    last: Step,
    contacts: Committed,
    pushed: Vec<Vec<f64>>,
    penetration: f64,
}

impl Crowd {
    /// The step, whole or in parts.
    pub(super) fn advance_somehow(
        &mut self,
        model: &Model,
        step: Step,
    ) -> Result<Option<Report>, SimError> {
        self.cut_next = self.cut;
        let halvings = self.cut.halvings;
        let mut failure = None;
        if halvings == 0 {
            match self.attempt(model, step) {
                Err(error @ SimError::Unsolved { .. }) => failure = Some(error),
                Err(error) => return Err(error),
                Ok(report) => {
                    self.cut_next = Cut::default();
                    return Ok(report);
                }
            }
        }
        match self.in_parts(model, step, halvings.max(1)) {
            Err(error @ SimError::Unsolved { .. }) => Err(failure.unwrap_or(error)),
            Err(error) => Err(error),
            Ok((report, failed)) => {
                // a whole step that failed is one of one
                self.cut_next = self.cut.after(if halvings == 0 { 1 } else { failed });
                Ok(report)
            }
        }
    }

    /// The step from half to half; nothing has changed after it but `next`.
    fn in_parts(
        &mut self,
        model: &Model,
        step: Step,
        halvings: u32,
    ) -> Result<(Option<Report>, u32), SimError> {
        let begin = Begin {
            values: self.now.values.clone(),
            last: self.last,
            contacts: self.touching.last.clone(),
            pushed: self.links.all.iter().map(|link| link.pushed.clone()).collect(),
            penetration: self.penetration,
        };
        let done = self.each_part(model, step, halvings);
        self.now.values = begin.values;
        (self.last, self.penetration) = (begin.last, begin.penetration);
        self.touching.last = begin.contacts;
        for (link, pushed) in self.links.all.iter_mut().zip(begin.pushed) {
            link.is_current = false;
            link.pushed = pushed;
        }
        self.step = step;
        done
    }

    /// All parts, halved so often at first; the last one is not committed. What they report, and how many of the
    /// first ones failed.
    fn each_part(
        &mut self,
        model: &Model,
        step: Step,
        halvings: u32,
    ) -> Result<(Option<Report>, u32), SimError> {
        let count = 1 << halvings;
        // the next part is the last of these
        let mut ahead: Vec<(Step, u32)> =
            (1..=count).rev().map(|k| (step.part(k, count), halvings)).collect();
        let (mut report, mut share, mut failed) = (None, 1.0, 0);
        while let Some((part, halved)) = ahead.pop() {
            match self.attempt_part(model, part, halved) {
                Ok(solved) => {
                    report = together(report, solved);
                    share = step.h / part.h;
                    if !ahead.is_empty() {
                        self.commit();
                    }
                }
                Err(SimError::Unsolved { .. }) if halved < SHORTEST => {
                    failed += u32::from(halved == halvings);
                    ahead.extend([part.part(2, 2), part.part(1, 2)].map(|part| (part, halved + 1)));
                }
                Err(error) => return Err(error),
            }
        }
        // equation (1)
        self.touching.z.iter_mut().for_each(|z| *z *= share);
        self.next.get_mut(Quantity::Lam).iter_mut().for_each(|lam| *lam *= share);
        let pushes = self.links.all.iter_mut().flat_map(|link| &mut link.push);
        pushes.for_each(|p| *p *= share);
        Ok((report, failed))
    }

    /// One part; the methods that take long where there is no shorter one.
    fn attempt_part(
        &mut self,
        model: &Model,
        part: Step,
        halvings: u32,
    ) -> Result<Option<Report>, SimError> {
        self.has_spared = false;
        let done = self.attempt(model, part);
        let is_unsolved = matches!(done, Err(SimError::Unsolved { .. }));
        if halvings < SHORTEST || !is_unsolved || !self.has_spared {
            return done;
        }
        self.is_thorough = true;
        let done = self.attempt(model, part);
        self.is_thorough = false;
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heap_that_needed_parts_begins_with_them() {
        let cut = Cut::default().after(1);
        assert_eq!(cut, Cut { halvings: 1, wait: 2, done: 0 });
        // one half of two may fail
        assert_eq!(cut.after(1), cut);
        assert_eq!(cut.after(2), Cut { halvings: 2, wait: 4, done: 0 });
        // two steps that go well, then one halving less
        let cut = cut.after(0);
        assert_eq!(cut, Cut { halvings: 1, wait: 2, done: 1 });
        let cut = cut.after(0);
        assert_eq!(cut, Cut { halvings: 0, wait: 2, done: 0 });
        // which was too early: the next attempt comes later
        assert_eq!(cut.after(1), Cut { halvings: 1, wait: 4, done: 0 });
        // trouble after steps that went well is new
        let cut = Cut { halvings: 2, wait: 8, done: 3 };
        assert_eq!(cut.after(3), Cut { halvings: 3, wait: 1, done: 0 });
        // one or two of four are not too many, but no reason for longer parts
        assert_eq!([cut.after(1), cut.after(2)], [cut; 2]);
    }
}
