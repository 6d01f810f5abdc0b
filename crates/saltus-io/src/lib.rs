//! saltus-io

mod partial;
pub mod run_file;
