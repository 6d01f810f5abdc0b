//! The adaptive strategy: from event to event while they are rare, by error-controlled steps of
//! time-stepping through clusters of them.
//!
//! ```text
//! events in a row, at intervals δ on average:  one step of 4 δ is tried                 (1)
//!   its error is allowed:   time-stepping, as long as steps are longer than δ
//!   and laws change:        once they have not for a while, from event to event again
//! ```
//!
//! Where the event-driven strategy cannot go on, time-stepping is tried too. Nothing here depends
//! on how fast the machine is.

mod density;
mod stepper;
#[cfg(test)]
mod tests;

use crate::SimError;
use crate::event_driven::{EventDriven, EventSettings};
use crate::law_log::LawLog;
use density::Density;
use saltus_model::Model;
use saltus_numerics::Solver;
use stepper::Stepper;

/// The tolerance of an [`Adaptive`] simulation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdaptiveSettings {
    /// Error allowed in a step, relative to `1 + |X|`. Default 1e-6.
    pub tol: f64,
}

impl Default for AdaptiveSettings {
    fn default() -> Self {
        AdaptiveSettings { tol: 1e-6 }
    }
}

impl AdaptiveSettings {
    /// The tolerances between events, of which there may be many.
    fn between_events(self) -> EventSettings {
        EventSettings { rtol: 0.1 * self.tol, atol: 0.01 * self.tol }
    }
}

/// A model on its way through time, by whichever strategy suits.
#[derive(Debug)]
pub struct Adaptive {
    exact: EventDriven,
    settings: AdaptiveSettings,
    solver: Solver,
    density: Density,
    cluster: Option<Cluster>,
    steps: [usize; 2], // done from event to event, and by time-stepping
}

/// The way through a cluster of events.
#[derive(Debug)]
struct Cluster {
    stepper: Stepper,
    laws: LawLog,
    h: f64,
    shortest: f64, // steps that are worth it
    quiet: usize,  // steps since a law has changed
}

/// Intervals in the first step of a cluster.
const TRIED: f64 = 4.0;
/// Steps without a change of laws after which a cluster is over.
const QUIET: usize = 8;
/// Longest and shortest factor from one step of a cluster to the next.
const GROWTH: (f64, f64) = (0.3, 2.0);
/// The shortest step of a cluster that the event-driven strategy could not pass, as a share of the
/// run.
const LEAST: f64 = 1e-10;
