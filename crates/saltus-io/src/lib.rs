//! saltus-io

pub mod model_file;
pub mod compare;
pub mod csv;
mod partial;
pub mod run_file;

pub use model_file::{ModelFile, ModelFileError, Output, Simulation, Strategy};
