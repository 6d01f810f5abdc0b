//! Saltus for Rust users: systems that jump, stick, slip and switch.
//!
//! ```
//! use saltus::prelude::*;
//!
//! let mut model = Model::new("bouncing ball");
//! let ball = model.add("ball", LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext([-9.81]))?;
//! let floor = LagrangianLinearRelation::new([[1.0]]);
//! model.connect("floor", floor, Law::newton_impact(0.9), &[ball])?;
//!
//! let mut sim = TimeStepping::new(model, 5e-3, [MoreauJean::default().into()])?;
//! while !sim.done(1.0) {
//!     sim.step()?;
//! }
//! assert!(sim.q(ball)?[0] > 0.0);
//! # Ok::<(), SaltusError>(())
//! ```
//!
//! The inner crates stay free to move; this one is what to depend on.

pub use saltus_expr as expr;
pub use saltus_io as io;
pub use saltus_linalg as linalg;
pub use saltus_mechanics as mechanics;
pub use saltus_model as model;
pub use saltus_numerics as numerics;
pub use saltus_sim as sim;

use thiserror::Error;

/// The version of Saltus.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Any failure of Saltus.
#[derive(Debug, Error)]
pub enum SaltusError {
    /// A model that makes no sense.
    #[error(transparent)]
    Model(#[from] model::ModelError),
    /// A problem or setting that a method cannot work on.
    #[error(transparent)]
    Numerics(#[from] numerics::NumericsError),
    /// A simulation that cannot start, or a step that failed.
    #[error(transparent)]
    Sim(#[from] sim::SimError),
    /// A run that ended early; holds what was computed.
    #[error(transparent)]
    Run(#[from] sim::RunFailure),
    /// A signal that a run does not have.
    #[error(transparent)]
    Signal(#[from] sim::SignalError),
    /// A model file that cannot be read.
    #[error(transparent)]
    ModelFile(#[from] io::ModelFileError),
    /// A run file that cannot be written or read.
    #[error(transparent)]
    RunFile(#[from] io::run_file::RunFileError),
    /// A stored problem that cannot be read.
    #[error(transparent)]
    ProblemFile(#[from] io::problem_file::ProblemFileError),
    /// A checkpoint that cannot be written or read.
    #[error(transparent)]
    Checkpoint(#[from] io::checkpoint_file::CheckpointFileError),
    /// A table that cannot be written.
    #[error(transparent)]
    Csv(#[from] io::csv::CsvError),
}

/// What most programs need.
pub mod prelude {
    pub use crate::SaltusError;
    pub use saltus_linalg::Matrix;
    pub use saltus_model::{
        Argument, At, Bond, Coefficient, Event, FirstOrder, FirstOrderLinear,
        FirstOrderLinearRelation, FirstOrderRelation, Frame, Function, Inertia, InteractionId,
        Lagrangian, LagrangianCompliant, LagrangianLinear, LagrangianLinearRelation,
        LagrangianRelation, Law, Model, Operator, Prescribed, RigidBody, RigidBody2d, SystemId,
        UserLaw,
    };
    pub use saltus_numerics::{Problem, Solver, UserSet};
    pub use saltus_sim::{
        D1MinusLinear, EulerMoreau, Form, GeneralizedAlpha, Integrator, MoreauJean,
        MoreauJeanBilbao, Projection, Run, RunOptions, SchatzmanPaoli, Steps, TimeStepping,
        Variant, ZeroOrderHold,
    };
}
