//! What can be said of a system beyond one run of it: periodic orbits.

pub mod periodic;
