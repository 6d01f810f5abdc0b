//! The integration tests of saltus-io: one binary, a module a file.

#![allow(clippy::unwrap_used)]

mod compare;
mod csv;
mod forces;
mod model_file;
mod partial;
mod problem_file;
mod raw;
mod run_file;
mod sample;
mod scene_file;
mod siconos;
mod vtk;
