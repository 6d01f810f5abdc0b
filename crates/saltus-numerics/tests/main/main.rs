//! The tests of the methods: one list of cases, random problems with known answers, and the
//! questions that have no answer. Every answer is held against the law by code of our own.

#![allow(clippy::unwrap_used)]

mod admm;
mod agree;
mod cases;
mod certificate;
mod coloured;
mod enumeration;
mod extragradient;
mod fuzz;
mod generate;
mod hard;
mod infeasible;
mod inputs;
mod interior_point;
mod memory;
mod mixed;
mod random;
mod same_cases;
mod scaling;
mod sets;
mod support;
mod switched;
mod uniqueness;
mod user_sets;
mod warm;
