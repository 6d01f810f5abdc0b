//! The checkpoints of a run: when they are made, and who takes them.

use crate::SimError;
use crate::checkpoint::Checkpoint;
use crate::driver::{Pace, Strategy};
use std::time::Instant;

/// When a run makes checkpoints, and what becomes of them.
pub struct Checkpoints<'a> {
    /// How often.
    pub every: CheckpointEvery,
    /// Takes each of them; an error ends the run as one of recording does.
    pub keep: &'a mut dyn FnMut(&Checkpoint) -> std::io::Result<()>,
}

/// How often a run makes checkpoints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CheckpointEvery {
    /// After so many steps.
    Steps(usize),
    /// After so many seconds of wall time, about.
    Seconds(f64),
}

impl std::fmt::Debug for Checkpoints<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checkpoints").field("every", &self.every).finish_non_exhaustive()
    }
}

/// Makes the checkpoints of a run.
pub(crate) struct Keeper<'a> {
    wanted: Checkpoints<'a>,
    pace: Pace,
    last: Instant,
    kept: Option<usize>, // steps of the last one
}

impl<'a> Keeper<'a> {
    pub fn new(wanted: Checkpoints<'a>, now: Instant) -> Keeper<'a> {
        let pace = Pace { next: 1, stride: 1, last: now };
        Keeper { wanted, pace, last: now, kept: None }
    }

    pub fn is_time(&mut self, steps: usize) -> bool {
        match self.wanted.every {
            CheckpointEvery::Steps(every) => steps.is_multiple_of(every.max(1)),
            CheckpointEvery::Seconds(seconds) => {
                self.pace.is_time(steps) && self.last.elapsed().as_secs_f64() >= seconds
            }
        }
    }

    /// Keeps one, unless this step has one.
    pub fn keep<S: Strategy>(
        &mut self,
        sim: &mut S,
        before: usize,
        steps: usize,
    ) -> Result<(), SimError> {
        if self.kept == Some(steps) {
            return Ok(());
        }
        let checkpoint = sim.checkpoint_after(before + steps)?;
        (self.kept, self.last) = (Some(steps), Instant::now());
        let failed = |error: std::io::Error| SimError::Record(error.to_string());
        (self.wanted.keep)(&checkpoint).map_err(failed)
    }
}
