//! The known name that an unknown one was probably meant to be.

use pyo3::prelude::*;

/// The name in `known` nearest to `name`, if near enough to be a likely slip.
#[pyfunction]
pub fn nearest(name: &str, known: Vec<String>) -> Option<String> {
    saltus::expr::nearest(name, known.iter().map(String::as_str)).map(str::to_string)
}
