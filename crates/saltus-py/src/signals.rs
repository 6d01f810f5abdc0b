//! Ctrl-C while a run computes: at the ends of steps, and within those that take long.

use pyo3::prelude::*;
use saltus::numerics::Interrupt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often a run looks for signals such as Ctrl-C.
pub const SIGNALS: Duration = Duration::from_millis(50);

/// What a run asks whether to stop, and what to raise then.
pub struct Signals {
    pub interrupt: Interrupt,
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Signals {
    pub fn new() -> Signals {
        let raised: Arc<Mutex<Option<PyErr>>> = Arc::default();
        let (found, looked) = (Arc::clone(&raised), Mutex::new(Instant::now()));
        let interrupt = Interrupt::looking(move || {
            match looked.try_lock() {
                Ok(mut looked) if looked.elapsed() >= SIGNALS => *looked = Instant::now(),
                _ => return false,
            }
            // only the main thread of Python sees signals
            let signal = Python::attach(|py| py.check_signals());
            signal.is_err_and(|error| keep(&found, error))
        });
        Signals { interrupt, raised }
    }

    /// Asks to stop, because of this.
    pub fn raise(&self, error: PyErr) {
        keep(&self.raised, error);
        self.interrupt.stop();
    }

    /// What to raise: what was found, or a signal that came since the last look.
    pub fn take(&self, py: Python<'_>) -> Option<PyErr> {
        let raised = self.raised.lock().ok().and_then(|mut raised| raised.take());
        raised.or_else(|| py.check_signals().err())
    }
}

/// Keeps the first of them.
fn keep(raised: &Mutex<Option<PyErr>>, error: PyErr) -> bool {
    if let Ok(mut raised) = raised.lock() {
        raised.get_or_insert(error);
    }
    true
}
