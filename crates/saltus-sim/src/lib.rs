//! Integrators, time-stepping, recorder: where model and numerics meet.

mod clock;
mod error;
pub mod integrators;
mod recorder;
mod run;
mod time_stepping;

pub use clock::Steps;
pub use error::SimError;
pub use integrators::{
    D1MinusLinear, EulerMoreau, Form, GeneralizedAlpha, Integrator, MoreauJean, MoreauJeanBilbao,
    NewtonMode, NewtonSettings, Projection, SchatzmanPaoli, Variant, ZeroOrderHold,
};
pub use recorder::signals_of;
pub use run::{
    Frames, Layout, Ledger, Outcome, Quantity, Run, RunStats, Signal, SignalError, Sink,
};
pub use time_stepping::{Progress, RunFailure, RunOptions, StepStats, TimeStepping};
