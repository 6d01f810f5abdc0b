//! What can be seen of a solve while it runs and after: the residuals that it measured, and
//! whether it was asked to stop.
//!
//! Every method measures its iterates with [`residual`](crate::residual), so that is where both
//! happen: each figure is noted, and where the caller has asked to stop the figure is NaN, on which
//! every method ends. One watch a thread, opened by [`Workspace::solve`](crate::methods::Workspace)
//! and without memory of its own; where none is open, nothing happens.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Most residuals that a history keeps.
pub const LONGEST_HISTORY: usize = 128;

/// The residuals of a solve, in order. Of a long one every second, fourth, … is kept, so that the
/// history covers all of it.
#[derive(Debug, Clone)]
pub struct History {
    values: [f64; LONGEST_HISTORY],
    len: usize,
    every: usize, // one of so many is kept
    seen: usize,
}

impl Default for History {
    fn default() -> Self {
        History::NONE
    }
}

impl History {
    pub(crate) const NONE: History =
        History { values: [0.0; LONGEST_HISTORY], len: 0, every: 1, seen: 0 };

    /// The residuals that were kept.
    pub fn values(&self) -> &[f64] {
        &self.values[..self.len]
    }

    /// How many measurements there are from one of them to the next.
    pub fn every(&self) -> usize {
        self.every
    }

    /// How many were measured in all.
    pub fn measured(&self) -> usize {
        self.seen
    }

    /// The first residual.
    pub fn first(&self) -> Option<f64> {
        self.values().first().copied()
    }

    pub(crate) fn clear(&mut self) {
        (self.len, self.every, self.seen) = (0, 1, 0);
    }

    pub(crate) fn note(&mut self, value: f64) {
        if self.seen.is_multiple_of(self.every) {
            if self.len == LONGEST_HISTORY {
                // every second of those that are there, and from now on
                for k in 0..LONGEST_HISTORY / 2 {
                    self.values[k] = self.values[2 * k];
                }
                self.len = LONGEST_HISTORY / 2;
                self.every *= 2;
            }
            if self.seen.is_multiple_of(self.every) {
                self.values[self.len] = value;
                self.len += 1;
            }
        }
        self.seen += 1;
    }
}

/// A flag that asks a solve to stop; set from another thread or from a handler of signals.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks to stop.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked for.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes the question back.
    pub fn reset(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// What [`Workspace`](crate::methods::Workspace) keeps of its solves.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub history: History,
    pub interrupt: Option<Interrupt>,
}

thread_local! {
    /// The watch of the solve that runs in this thread; taken out of here by who uses it.
    static OPEN: Cell<Option<Box<Watch>>> = const { Cell::new(None) };
}

/// Opens a watch for `work`, and hands it back after. One that was open before stands aside.
pub(crate) fn over<T>(mut watch: Box<Watch>, work: impl FnOnce() -> T) -> (Box<Watch>, T) {
    watch.history.clear();
    let outer = OPEN.replace(Some(watch));
    let result = work();
    let watch = OPEN.replace(outer).unwrap_or_default();
    (watch, result)
}

/// Notes a residual; returns it, or NaN where the solve is to stop.
#[inline]
pub(crate) fn note(value: f64) -> f64 {
    OPEN.with(|open| match open.take() {
        None => value,
        Some(mut watch) => {
            let stop = watch.interrupt.as_ref().is_some_and(Interrupt::is_set);
            watch.history.note(value);
            open.set(Some(watch));
            if stop { f64::NAN } else { value }
        }
    })
}

/// Whether the solve that runs in this thread is to stop, for loops that measure nothing.
#[inline]
pub(crate) fn is_interrupted() -> bool {
    OPEN.with(|open| match open.take() {
        None => false,
        Some(watch) => {
            let stop = watch.interrupt.as_ref().is_some_and(Interrupt::is_set);
            open.set(Some(watch));
            stop
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_history_covers_all_of_it() {
        let mut history = History::default();
        for k in 0..1000 {
            history.note(k as f64);
        }
        let (values, every) = (history.values(), history.every());
        assert!(values.len() > LONGEST_HISTORY / 2 - 1 && values.len() <= LONGEST_HISTORY);
        assert!(values.iter().enumerate().all(|(k, &x)| x == (k * every) as f64));
        assert!(values[values.len() - 1] >= 1000.0 - 2.0 * every as f64);
        assert_eq!(history.measured(), 1000);
        history.clear();
        assert_eq!((history.values(), history.measured()), (&[][..], 0));
    }

    #[test]
    fn without_a_watch_nothing_happens() {
        assert_eq!(note(3.0), 3.0);
        assert!(!is_interrupted());
    }

    #[test]
    fn a_watch_inside_another() {
        let inner_watch = || {
            let (watch, ()) = over(Box::default(), || assert_eq!(note(2.0), 2.0));
            assert_eq!(watch.history.values(), [2.0]);
        };
        let (watch, ()) = over(Box::default(), || {
            note(1.0);
            inner_watch();
            note(3.0);
        });
        assert_eq!(watch.history.values(), [1.0, 3.0]);
    }
}
