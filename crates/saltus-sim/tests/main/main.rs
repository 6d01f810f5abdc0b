//! Tests of simulations whose contacts are found while they move.

mod closed_forms;
mod engine;
mod finder;
mod heaps;
mod joints;
mod stories;
