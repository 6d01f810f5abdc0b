//! A step that may be asked to stop before it is done.
//!
//! The new state is computed beside the old one, so a step that is given up leaves the state as it was. What besides
//! that it may have changed, such as the modes that a solver remembers, is written down before and taken back: the
//! step that is done later is the one of a run that was never interrupted, bit for bit.

use crate::SimError;
use crate::integrators::Step;
use crate::integrators::part::Part;
use crate::recorder::Parts;
use saltus_model::Model;
use saltus_numerics::{Interrupt, Interruptible, Memory, Report};

/// Whom the steps of a run ask.
#[derive(Debug)]
pub(crate) struct Listening {
    work: Interruptible,
    before: Memory,
}

impl Listening {
    pub fn new(interrupt: &Interrupt) -> Listening {
        Listening { work: Interruptible::new(interrupt), before: Memory::to_write() }
    }

    /// The next state of all parts. If one is interrupted, nothing has changed: those that are not, come after it.
    #[inline]
    pub fn advance(
        &mut self,
        model: &Model,
        parts: &mut Parts,
        step: Step,
        mut count: impl FnMut(Option<Report>),
    ) -> Result<(), SimError> {
        let Listening { work, before } = self;
        if parts.slow().next().is_none() {
            return parts.all().try_for_each(|part| part.advance(model, step).map(&mut count));
        }
        before.write_anew();
        parts.slow().try_for_each(|part| part.touched(before))?;
        let mut advance = |part: &mut Box<dyn Part>| -> Result<(), SimError> {
            count(part.advance(model, step)?);
            Ok(())
        };
        let done = work.over(|| parts.slow().try_for_each(&mut advance));
        if work.was_stopped() {
            before.read_anew();
            parts.slow().try_for_each(|part| part.touched(before))?;
            return Err(SimError::Interrupted { time: step.end });
        }
        done?;
        parts.all().filter(|part| part.is_quick()).try_for_each(advance)
    }
}

impl Parts {
    /// Those that may be interrupted.
    fn slow(&mut self) -> impl Iterator<Item = &mut Box<dyn Part>> {
        self.all().filter(|part| !part.is_quick())
    }
}
