//! Model files in, run files in and out, exports, comparison.

pub mod compare;
pub mod csv;
pub mod model_file;
mod partial;
pub mod run_file;

pub use model_file::{ModelFile, ModelFileError, Output, Simulation, Strategy};
