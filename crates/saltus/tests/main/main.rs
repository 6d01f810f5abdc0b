//! The simulations held against references: runs of Siconos with the same scheme and step,
//! closed forms, laws and balances. The files are described in `testdata/README.md`.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod arch;
mod bad_input;
mod births;
mod body_files;
mod bonds;
mod carried;
mod checkpoints;
mod contacts;
mod convergence;
mod defects;
mod elastic;
mod event_files;
mod events;
mod exact;
mod example_files;
mod facts;
mod followers;
mod gallery;
mod global_form;
mod grains;
mod impact_and_friction;
mod impacts;
mod instants;
mod interrupts;
mod joint_limits;
mod joint_parts;
mod joint_rest;
mod joint_sides;
mod joints;
mod law_events;
mod ledger;
mod mechanisms;
mod meshes;
mod model_files;
mod model_kinds;
mod models;
mod netlist_files;
mod nonlinear;
mod orders;
mod reference_models;
mod rigid_bodies;
mod ropes;
mod same_scheme;
mod scene_forces;
mod scenes;
mod schemes;
mod states;
mod stepping;
mod stories;
mod support;
mod switches;
mod user_laws;
