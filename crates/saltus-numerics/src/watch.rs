//! What can be seen of a solve while it runs and after: the residuals that it measured, and
//! whether it was asked to stop.
//!
//! Every method measures its iterates with [`residual`](crate::residual), so that is where both
//! happen: each figure is noted, and where the caller has asked to stop the figure is NaN, on which
//! every method ends. One watch a thread, opened by [`Workspace::solve`](crate::methods::Workspace)
//! and without memory of its own; where none is open, nothing happens.
//!
//! Longer work, such as a step of a simulation, is [`Interruptible`] as a whole: its solves ask, and so do loops
//! that measure nothing. Once one of them has seen that it is to stop, all that follows ends early, and the work is
//! to be given up. Work that has ended before anybody saw it is whole.

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

/// A flag that asks a solve to stop; set from another thread or from a handler of signals, or found to be
/// due by who is asked.
#[derive(Clone, Default)]
pub struct Interrupt {
    flag: Arc<AtomicBool>,
    look: Option<Look>,
}

/// Whether it is time to stop.
type Look = Arc<dyn Fn() -> bool + Send + Sync>;

impl Interrupt {
    /// One that looks for itself, in the thread that works, each time that it is asked: every sweep over many contacts, every
    /// iteration, every residual.
    pub fn looking(look: impl Fn() -> bool + Send + Sync + 'static) -> Interrupt {
        Interrupt { flag: Arc::default(), look: Some(Arc::new(look)) }
    }

    /// Asks to stop.
    pub fn stop(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked for.
    pub fn is_set(&self) -> bool {
        if self.flag.load(Ordering::Relaxed) {
            return true;
        }
        let is_due = self.look.as_ref().is_some_and(|look| look());
        if is_due {
            self.stop();
        }
        is_due
    }

    /// Takes the question back.
    pub fn reset(&self) {
        self.flag.store(false, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interrupt").field("flag", &self.flag).finish_non_exhaustive()
    }
}

/// Work that ends early once a flag is set.
///
/// ```
/// use saltus_numerics::{Interrupt, Interruptible, is_interrupted};
///
/// let interrupt = Interrupt::default();
/// let mut work = Interruptible::new(&interrupt);
/// let rounds = work.over(|| (0..10).take_while(|_| !is_interrupted()).count());
/// assert!(rounds == 10 && !work.was_stopped());
/// interrupt.stop(); // from another thread, or a handler of signals
/// let rounds = work.over(|| (0..10).take_while(|_| !is_interrupted()).count());
/// assert!(rounds == 0 && work.was_stopped());
/// ```
#[derive(Debug)]
pub struct Interruptible {
    asked: Option<Box<Asked>>, // `None` only while the work goes on
}

/// Whom to ask, and whether somebody did and was told to stop.
#[derive(Debug)]
struct Asked {
    interrupt: Interrupt,
    is_seen: bool,
}

impl Interruptible {
    /// Work that ends early once this flag is set.
    pub fn new(interrupt: &Interrupt) -> Interruptible {
        let asked = Asked { interrupt: interrupt.clone(), is_seen: false };
        Interruptible { asked: Some(Box::new(asked)) }
    }

    /// Does the work. What was asked around it stands aside.
    pub fn over<T>(&mut self, work: impl FnOnce() -> T) -> T {
        if let Some(asked) = &mut self.asked {
            asked.is_seen = false;
        }
        let outer = AROUND.replace(self.asked.take());
        let result = watched(work);
        self.asked = AROUND.replace(outer);
        result
    }

    /// Whether the last work has seen that it is to stop: then it has ended early, and is not whole.
    pub fn was_stopped(&self) -> bool {
        self.asked.as_ref().is_some_and(|asked| asked.is_seen)
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
    /// The work that runs in this thread, likewise.
    static AROUND: Cell<Option<Box<Asked>>> = const { Cell::new(None) };
    /// How many of both there are, within each other: mostly none, which is all that a loop then looks at.
    static WATCHED: Cell<usize> = const { Cell::new(0) };
}

/// Does what is watched.
fn watched<T>(work: impl FnOnce() -> T) -> T {
    WATCHED.set(WATCHED.get() + 1);
    let result = work();
    WATCHED.set(WATCHED.get() - 1);
    result
}

/// Opens a watch for `work`, and hands it back after. One that was open before stands aside.
pub(crate) fn over<T>(mut watch: Box<Watch>, work: impl FnOnce() -> T) -> (Box<Watch>, T) {
    watch.history.clear();
    let outer = OPEN.replace(Some(watch));
    let result = watched(work);
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
            if stop || is_around_interrupted() { f64::NAN } else { value }
        }
    })
}

/// Whether the work or the solve that runs in this thread is to stop, for loops that measure nothing. Who was told so
/// once is told so until the work ends.
#[inline]
pub fn is_interrupted() -> bool {
    WATCHED.get() > 0 && is_told_to_stop()
}

#[cold]
fn is_told_to_stop() -> bool {
    let own = OPEN.with(|open| match open.take() {
        None => false,
        Some(watch) => {
            let stop = watch.interrupt.as_ref().is_some_and(Interrupt::is_set);
            open.set(Some(watch));
            stop
        }
    });
    own || is_around_interrupted()
}

/// The same of the work alone.
#[inline]
fn is_around_interrupted() -> bool {
    AROUND.with(|around| match around.take() {
        None => false,
        Some(mut asked) => {
            asked.is_seen |= asked.interrupt.is_set();
            let stop = asked.is_seen;
            around.set(Some(asked));
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

    /// Work that ended before anybody asked is whole; once somebody was told to stop, all are until it ends.
    #[test]
    fn work_is_stopped_once_this_is_seen() {
        let interrupt = Interrupt::default();
        let mut work = Interruptible::new(&interrupt);
        work.over(|| interrupt.stop());
        assert!(!work.was_stopped());
        work.over(|| {
            assert!(is_interrupted());
            interrupt.reset();
            assert!(is_interrupted());
        });
        assert!(work.was_stopped());
        // solves inside see it too, and only those of this work
        work.over(|| {
            let (_, value) = over(Box::default(), || note(1.0));
            assert_eq!(value, 1.0);
            interrupt.stop();
            let (_, value) = over(Box::default(), || note(1.0));
            assert!(value.is_nan());
        });
        assert!(work.was_stopped() && !is_interrupted());
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
