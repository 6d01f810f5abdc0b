//! Integrators, time-stepping, recorder: where model and numerics meet.

mod clock;
mod error;
mod event_driven;
pub mod integrators;
mod recorder;
mod run;
mod time_stepping;

pub use clock::Steps;
pub use error::SimError;
pub use event_driven::{Event, EventDriven, EventKind, EventSettings};
pub use integrators::{
    D1MinusLinear, EulerMoreau, GeneralizedAlpha, Integrator, MoreauJean, MoreauJeanBilbao,
    NewtonMode, NewtonSettings, Projection, SchatzmanPaoli, Variant, ZeroOrderHold,
};
pub use recorder::signals_of;
pub use run::{
    Frames, Layout, Ledger, Outcome, Quantity, Run, RunStats, Signal, SignalError, Sink,
};
pub use time_stepping::{Progress, RunFailure, RunOptions, StepStats, TimeStepping};
