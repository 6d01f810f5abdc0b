//! Questions that make no sense.

use thiserror::Error;

/// A problem or setting that no method, or not this one, can work on.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum NumericsError {
    /// A vector of the wrong length.
    #[error("`{what}` has length {found}, but the problem has {expected} unknowns")]
    Length {
        /// The vector.
        what: &'static str,
        /// Number of unknowns.
        expected: usize,
        /// Its length.
        found: usize,
    },
    /// A matrix of the wrong shape.
    #[error("`{what}` is {} × {}, expected {} × {}", found.0, found.1, expected.0, expected.1)]
    Shape {
        /// The matrix.
        what: &'static str,
        /// Rows and columns it should have.
        expected: (usize, usize),
        /// Rows and columns it has.
        found: (usize, usize),
    },
    /// A number that is not finite.
    #[error("`{what}` holds {value} at {}, expected finite numbers", place(.at))]
    NotFinite {
        /// The array.
        what: &'static str,
        /// The index in it.
        at: Vec<usize>,
        /// What stands there.
        value: f64,
    },
    /// Bounds that leave nothing between them.
    #[error("unknown {index}: the bounds [{lower}, {upper}] are not an interval")]
    Bounds {
        /// The unknown.
        index: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// A parameter of a set that makes no sense.
    #[error(
        "block {block} ({set}): `{parameter}` = {value}, expected a finite number that is not negative"
    )]
    Parameter {
        /// The block.
        block: usize,
        /// Its set.
        set: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        value: f64,
    },
    /// A block whose size does not fit its set.
    #[error("block {block} ({set}) has {found} unknowns, expected {expected}")]
    BlockSize {
        /// The block.
        block: usize,
        /// Its set.
        set: &'static str,
        /// Unknowns that the set has.
        expected: usize,
        /// Unknowns that the block has.
        found: usize,
    },
    /// A set where only a box can stand.
    #[error("unknown {index}: {set} is not a box")]
    NotABox {
        /// The unknown.
        index: usize,
        /// The set.
        set: &'static str,
    },
    /// Unknowns that are not whole contacts.
    #[error(
        "`q` has length {found}, which is not a multiple of {dimension}, the components of a contact"
    )]
    Multiple {
        /// Its length.
        found: usize,
        /// Components of a contact.
        dimension: usize,
    },
    /// A vector with one entry a contact that has another number of them.
    #[error("`{what}` has length {found}, but the problem has {expected} contacts")]
    Contacts {
        /// The vector.
        what: &'static str,
        /// Number of contacts.
        expected: usize,
        /// Its length.
        found: usize,
    },
    /// A mass matrix that cannot be inverted.
    #[error("the mass `M` is singular (row {row})")]
    Mass {
        /// A row that depends on the others.
        row: usize,
    },
    /// A problem that a method cannot work on.
    #[error("{method} does not solve problems with {what}; use another method, for example `auto`")]
    Unsupported {
        /// The method.
        method: &'static str,
        /// What the problem has.
        what: &'static str,
    },
    /// A diagonal entry that a method needs positive.
    #[error("Gauss-Seidel needs a positive diagonal, but W[{row}, {row}] = {value:e}")]
    Diagonal {
        /// The row.
        row: usize,
        /// What stands there.
        value: f64,
    },
    /// A problem too large for a method.
    #[error(
        "enumeration of {unknowns} unknowns means {modes:e} modes; use at most {limit} modes, or another method"
    )]
    TooLarge {
        /// Number of unknowns.
        unknowns: usize,
        /// Number of modes.
        modes: f64,
        /// How many it would try.
        limit: usize,
    },
    /// A block that a method would store as a dense matrix, and that is too large for it.
    #[error(
        "{method}: block {block} has {size} unknowns, and would take a dense matrix of that size; blocks of at most {limit} are possible, or the method `extragradient`"
    )]
    BlockTooLarge {
        /// The method.
        method: &'static str,
        /// The block.
        block: usize,
        /// Its unknowns.
        size: usize,
        /// The most it could have.
        limit: usize,
    },
    /// A problem too large for a method that works on a dense matrix.
    #[error(
        "{method} works on a dense matrix and solves at most {limit} unknowns, but the problem has {unknowns}; use another method, for example `auto`"
    )]
    TooManyUnknowns {
        /// The method.
        method: &'static str,
        /// Number of unknowns.
        unknowns: usize,
        /// The most it could have.
        limit: usize,
    },
    /// A setting outside its range.
    #[error("setting `{field}` = {value} is outside {allowed}")]
    Setting {
        /// The setting.
        field: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
}

fn place(at: &[usize]) -> String {
    at.iter().map(|i| format!("[{i}]")).collect()
}
