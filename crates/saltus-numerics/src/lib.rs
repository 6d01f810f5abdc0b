//! One complementarity problem, its sets, its residual, its methods.
//!
//! ```text
//! find z, w:   w = W z + q,    (z, w) in the graph of its law, block by block
//! ```
//!
//! A [`Problem`] is a matrix, a vector and a list of blocks, each with its [`Set`]. A method
//! (see [`methods`]) proposes an answer; the [`residual`] module, which no method can
//! replace, says how far it is from a solution, and only then is it called solved.
//! This crate knows no time.

mod avi;
mod blocks;
pub mod bodies;
mod error;
pub mod generate;
mod global;
mod memory;
pub mod methods;
mod mode;
mod operator;
mod polyhedral;
mod problem;
mod qp;
mod report;
pub mod residual;
mod sets;
mod settings;
mod uniqueness;
mod watch;

pub use avi::Polyhedron;
pub use error::NumericsError;
pub use global::Global;
pub use memory::Memory;
pub use operator::{Function, Map, Operator};
pub use problem::{Block, Placed, Problem};
pub use qp::{NoOptimum, Optimum, QpError, QuadraticProgram};
pub use report::{Attempt, Report, Solution, Status, solve, solve_until};

pub use residual::Measure;
pub use sets::{Graph, GraphError, LARGEST_BLOCK, Place, Set, SharedSet, UserSet};
pub use settings::{
    AdmmSettings, AutoSettings, EnumerationSettings, ExtragradientSettings,
    FischerBurmeisterSettings, GaussSeidelSettings, InteriorPointSettings, LARGEST_TOL,
    LemkeSettings, NewtonFunction, NewtonSettings, PivotingSettings, Solver,
};
pub use uniqueness::{Doubt, Uniqueness, uniqueness};
pub use watch::{History, Interrupt, Interruptible, LONGEST_HISTORY, is_interrupted};
