//! Checks that systems and relations share: sizes, shapes, finite numbers.

use crate::{ModelError, Operator};
use saltus_linalg::Matrix;

/// A vector has `expected` entries, all finite.
pub fn vector(
    owner: &str,
    what: &'static str,
    value: &[f64],
    expected: usize,
    why: &str,
) -> Result<(), ModelError> {
    length(owner, what, value.len(), expected, why)?;
    match value.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(i) => {
            let owner = owner.to_string();
            Err(ModelError::NotFinite { owner, what, at: vec![i], value: value[i] })
        }
    }
}

/// A matrix has the shape `expected`, and all entries are finite.
pub fn matrix(
    owner: &str,
    what: &'static str,
    value: &Matrix,
    expected: (usize, usize),
    why: &str,
) -> Result<(), ModelError> {
    shape(owner, what, (value.rows(), value.cols()), expected, why)?;
    match value.data().iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(k) => {
            let at = vec![k / value.cols(), k % value.cols()];
            let owner = owner.to_string();
            Err(ModelError::NotFinite { owner, what, at, value: value.data()[k] })
        }
    }
}

/// [`vector`] for an operator.
pub fn vector_operator(
    owner: &str,
    what: &'static str,
    value: &Operator,
    expected: usize,
    why: &str,
) -> Result<(), ModelError> {
    match (value.as_constant(), value.shape()) {
        (Some(value), (_, 1)) => vector(owner, what, value.data(), expected, why),
        (None, (found, 1)) => length(owner, what, found, expected, why),
        (_, found) => shape(owner, what, found, (expected, 1), why),
    }
}

/// [`matrix`] for an operator.
pub fn matrix_operator(
    owner: &str,
    what: &'static str,
    value: &Operator,
    expected: (usize, usize),
    why: &str,
) -> Result<(), ModelError> {
    match value.as_constant() {
        Some(value) => matrix(owner, what, value, expected, why),
        None => shape(owner, what, value.shape(), expected, why),
    }
}

/// The mass of a body is positive.
pub fn mass(owner: &str, value: f64) -> Result<(), ModelError> {
    if !(value > 0.0 && value.is_finite()) {
        let (owner, what, allowed) = (owner.to_string(), "mass", "(0, inf)");
        return Err(ModelError::Range { owner, what, value, allowed });
    }
    Ok(())
}

/// An array has at least one entry.
pub fn not_empty(owner: &str, what: &'static str, len: usize) -> Result<(), ModelError> {
    if len == 0 {
        return Err(ModelError::Empty { owner: owner.to_string(), what });
    }
    Ok(())
}

fn length(
    owner: &str,
    what: &'static str,
    found: usize,
    expected: usize,
    why: &str,
) -> Result<(), ModelError> {
    if found != expected {
        let (owner, why) = (owner.to_string(), why.to_string());
        return Err(ModelError::Length { owner, what, found, expected, why });
    }
    Ok(())
}

fn shape(
    owner: &str,
    what: &'static str,
    found: (usize, usize),
    expected: (usize, usize),
    why: &str,
) -> Result<(), ModelError> {
    if found != expected {
        let (owner, why) = (owner.to_string(), why.to_string());
        return Err(ModelError::Shape { owner, what, found, expected, why });
    }
    Ok(())
}
