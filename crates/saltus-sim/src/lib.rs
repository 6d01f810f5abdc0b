//! Integrators, time-stepping, recorder: where model and numerics meet.

mod adaptive;
mod checkpoint;
mod clock;
mod contacts;
mod driver;
mod error;
mod event_driven;
mod events;
mod forces;
mod graph;
pub mod integrators;
mod keeper;
mod law_log;
mod listening;
mod memory;
mod pushes;
mod recorder;
mod run;
mod switches;
mod time_stepping;

pub use adaptive::{Adaptive, AdaptiveSettings};
pub use checkpoint::{Checkpoint, CheckpointError};
pub use clock::Steps;
pub use contacts::{ContactRow, Contacts};
pub use driver::{Progress, RunFailure, RunOptions, StepStats, Strategy};
pub use error::SimError;
pub use event_driven::{EventDriven, EventSettings, RelativeDegree, relative_degrees};
pub use events::{EventProgress, EventState};
pub use forces::{Acting, Source};
pub use integrators::{
    D1MinusLinear, EulerMoreau, Form, GeneralizedAlpha, Integrator, MoreauJean, MoreauJeanBilbao,
    NewtonMode, NewtonSettings, Projection, SchatzmanPaoli, Variant, ZeroOrderHold, check_scene,
};
pub use keeper::{CheckpointEvery, Checkpoints};
pub use pushes::{Impulse, Push};
pub use recorder::signals_of;
pub use run::{
    Change, EventKind, EventRecord, Frames, Layout, Ledger, Outcome, Quantity, Run, RunStats,
    Signal, SignalError, Sink, Value,
};
pub use time_stepping::{TimeStepping, Totals};
