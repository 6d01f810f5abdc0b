//! Model files and stored problems in, run files in and out, exports, comparison.

pub mod checkpoint_file;
pub mod compare;
pub mod export;
pub mod model_file;
mod partial;
pub mod problem_file;
pub mod run_file;
pub mod scene_file;
pub mod verify;

pub use model_file::{ModelFile, ModelFileError, Output, Samples, Simulation, Strategy};
pub use partial::{WriteError, check_target, write_whole};
