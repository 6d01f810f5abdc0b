//! A step in parts, where all of it at once is not solved.
//!
//! Whether the problem of a heap is solved is a matter of where its bodies are: contacts that wedge each other
//! in one position do not in the next. So a step that fails is cut into parts, each of which is verified like any
//! other step, and halved again where it fails. Methods that take long on many contacts come last.
//!
//! ```text
//! λ ← h/h_m λ_m                                                                               (1)
//! ```
//!
//! stands in the row of the whole step: the forces of its last part `m`. Nothing of the parts is seen elsewhere, and
//! nothing has changed if they fail.

use super::{Crowd, Part, Step};
use crate::contacts::ContactRow;
use crate::integrators::together;
use crate::{Quantity, SimError};
use saltus_model::Model;
use saltus_numerics::Report;

/// The shortest part of a step.
const SHORTEST: f64 = 1.0 / 64.0;

/// What parts change and the step as a whole must not.
struct Begin {
    values: Vec<f64>,
    last: Step,
    rows: Vec<ContactRow>,
    h: f64,
    penetration: f64,
}

impl Crowd {
    /// The step, whole or in parts.
    pub(super) fn advance_somehow(
        &mut self,
        model: &Model,
        step: Step,
    ) -> Result<Option<Report>, SimError> {
        (self.is_thorough, self.has_spared) = (false, false);
        let failure = match self.attempt(model, step) {
            Err(error @ SimError::Unsolved { .. }) => error,
            done => return done,
        };
        for is_thorough in [false, true] {
            if is_thorough && !self.has_spared {
                break; // nothing would be different
            }
            self.is_thorough = is_thorough;
            match self.in_parts(model, step) {
                Err(SimError::Unsolved { .. }) => {}
                done => return done,
            }
        }
        Err(failure)
    }

    /// The step from half to half; nothing has changed after it but `next`.
    fn in_parts(&mut self, model: &Model, step: Step) -> Result<Option<Report>, SimError> {
        let begin = Begin {
            values: self.now.values.clone(),
            last: self.last,
            rows: self.touching.rows.clone(),
            h: self.touching.h,
            penetration: self.penetration,
        };
        let done = self.each_part(model, step);
        self.now.values = begin.values;
        (self.last, self.penetration) = (begin.last, begin.penetration);
        (self.touching.rows, self.touching.h) = (begin.rows, begin.h);
        self.links.all.iter_mut().for_each(|link| link.is_current = false);
        self.step = step;
        done
    }

    /// All parts; the last one is not committed.
    fn each_part(&mut self, model: &Model, step: Step) -> Result<Option<Report>, SimError> {
        // the next part is the last of these; without methods that it was spared, all of it has failed already
        let mut ahead = match self.is_thorough {
            true => vec![step],
            false => vec![step.part(2, 2), step.part(1, 2)],
        };
        let (mut report, mut share) = (None, 1.0);
        while let Some(part) = ahead.pop() {
            match self.attempt(model, part) {
                Ok(solved) => {
                    report = together(report, solved);
                    share = step.h / part.h;
                    if !ahead.is_empty() {
                        self.commit();
                    }
                }
                Err(SimError::Unsolved { .. }) if part.h > 1.5 * SHORTEST * step.h => {
                    ahead.extend([part.part(2, 2), part.part(1, 2)]);
                }
                Err(error) => return Err(error),
            }
        }
        // equation (1)
        self.touching.z.iter_mut().for_each(|z| *z *= share);
        self.next.get_mut(Quantity::Lam).iter_mut().for_each(|lam| *lam *= share);
        Ok(report)
    }
}
