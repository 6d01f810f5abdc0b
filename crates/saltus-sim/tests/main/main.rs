//! Tests of simulations whose contacts are found while they move.

#![allow(clippy::unwrap_used, clippy::excessive_precision)]

mod closed_forms;
mod engine;
mod finder;
mod heaps;
mod joints;
mod stories;
