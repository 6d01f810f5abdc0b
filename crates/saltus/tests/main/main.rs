//! The simulations held against references: runs of Siconos with the same scheme and step,
//! closed forms, laws and balances. The files are described in `testdata/README.md`.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod bad_input;
mod checkpoints;
mod convergence;
mod exact;
mod example_files;
mod facts;
mod ledger;
mod model_files;
mod model_kinds;
mod models;
mod nonlinear;
mod same_scheme;
mod schemes;
mod states;
mod stepping;
mod stories;
mod support;
