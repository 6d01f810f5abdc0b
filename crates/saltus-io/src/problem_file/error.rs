//! What can be wrong with a stored problem, and where.

use super::kind::{Kind, names};
use saltus_numerics::NumericsError;
use std::fmt;
use thiserror::Error;

/// A stored problem that cannot be read, with the place of what is wrong.
///
/// `Display` gives one line, `lcp/x.dat:7:3: …`.
#[derive(Debug, Clone, PartialEq)]
pub struct ProblemFileError {
    /// The file; empty for a text.
    pub file: String,
    /// The line, from 1; 0 if the file as a whole is meant.
    pub line: usize,
    /// The column in characters, from 1; 0 if the file as a whole is meant.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// The same, to match on.
    pub kind: Box<ErrorKind>,
}

/// What can be wrong with a stored problem.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ErrorKind {
    /// The file cannot be read.
    #[error("{reason}")]
    Read {
        /// Why.
        reason: String,
    },
    /// Neither the caller nor the folder says what the file holds.
    #[error(
        "the file does not say what kind of problem it holds, nor does its folder's name; give one of {}",
        names()
    )]
    NoKind,
    /// A file that does not hold all of the problem.
    #[error("kind `{kind}` cannot be read: {reason}")]
    Unreadable {
        /// The kind.
        kind: Kind,
        /// Why.
        reason: &'static str,
    },
    /// HDF5, but its structure is broken.
    #[error("the HDF5 file is damaged: {cause}")]
    Hdf5 {
        /// What does not fit.
        cause: String,
    },
    /// HDF5, but not a stored problem.
    #[error(
        "an HDF5 file, but not a stored problem: expected one of the groups fclib_local, fclib_global, fclib_global_rolling"
    )]
    NotFclib,
    /// An HDF5 file that holds something else than was asked for.
    #[error("the file holds a problem of kind `{found}`, not `{kind}`")]
    OtherKind {
        /// The kind that was asked for.
        kind: Kind,
        /// What it holds.
        found: Kind,
    },
    /// Nothing is in the file.
    #[error("the file is empty, expected a problem of kind `{kind}`")]
    Empty {
        /// What it should hold.
        kind: Kind,
    },
    /// Something else than what should stand there.
    #[error("{what}: expected {expected}, found {found}")]
    Expected {
        /// What it is about.
        what: String,
        /// What should stand there, in words.
        expected: String,
        /// What does.
        found: String,
    },
    /// Infinity or NaN.
    #[error("{what}: expected a finite number, found {found}")]
    NotFinite {
        /// What it is about.
        what: String,
        /// What stands there.
        found: String,
    },
    /// NaN where infinity would be allowed.
    #[error("{what}: expected a number, found {found}")]
    NotANumber {
        /// What it is about.
        what: String,
        /// What stands there.
        found: String,
    },
    /// A literal beyond the range of `f64`.
    #[error("{what}: the number {found} is too large")]
    NumberTooLarge {
        /// What it is about.
        what: String,
        /// The number as written.
        found: String,
    },
    /// A size that the rest of the file cannot fill.
    #[error("{what}: {needed} numbers should follow, but the file has only {left} more bytes")]
    TooShort {
        /// What it is about.
        what: String,
        /// How many numbers should follow.
        needed: u128,
        /// How many bytes do.
        left: usize,
    },
    /// A negative number where there cannot be one.
    #[error("{what}: expected a number that is not negative, found {found}")]
    Negative {
        /// What it is about.
        what: String,
        /// The number.
        found: f64,
    },
    /// Entries at one place whose sum is beyond the range of `f64`.
    #[error("{what}: the entries at this place add up to too large a number")]
    SumTooLarge {
        /// The entry.
        what: String,
    },
    /// A matrix of another shape than what it is for.
    #[error("the matrix{} is {rows} × {cols}, expected {} × {}{}",
            matrix_name(.name), expected.0, expected.1, rectangular(*.rows, *.cols, *.expected))]
    Shape {
        /// What it is called: `M`, `H`.
        name: &'static str,
        /// Its rows.
        rows: usize,
        /// Its columns.
        cols: usize,
        /// The rows and columns it should have.
        expected: (usize, usize),
    },
    /// A block of a mixed problem whose parameters the format does not store.
    #[error(
        "type of block {block}: {type_number} is {law}, of which the format does not store {parameters}; \
         expected 0 (LCP), 2 (equality) or 4 (FC3D)"
    )]
    NoParameters {
        /// The block.
        block: usize,
        /// The number that stands for its law.
        type_number: usize,
        /// The law.
        law: &'static str,
        /// What is not in the file.
        parameters: &'static str,
    },
    /// The two forms of a problem in one file differ.
    #[error(
        "{what} is {first} in the first form of the problem and {second} in the second, expected the same"
    )]
    Disagreement {
        /// The entry.
        what: String,
        /// Its value in the form with blocks of rows.
        first: f64,
        /// Its value in the form A, B, C, D.
        second: f64,
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
    /// A problem that makes no sense.
    #[error(transparent)]
    Problem(#[from] NumericsError),
}

fn rectangular(rows: usize, cols: usize, expected: (usize, usize)) -> &'static str {
    let is_wrong = rows != cols && expected.0 == expected.1;
    if is_wrong { " (rectangular problems cannot be solved)" } else { "" }
}

/// Only where there is more than one matrix is it named.
fn matrix_name(name: &str) -> String {
    if name == "M" { String::new() } else { format!(" `{name}`") }
}

impl fmt::Display for ProblemFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProblemFileError { file, line, column, message, .. } = self;
        match (file.is_empty(), *line == 0) {
            (false, false) => write!(f, "{file}:{line}:{column}: {message}"),
            (false, true) => write!(f, "{file}: {message}"),
            (true, false) => write!(f, "line {line}, column {column}: {message}"),
            (true, true) => write!(f, "{message}"),
        }
    }
}

impl std::error::Error for ProblemFileError {}

impl ProblemFileError {
    /// An error of the file as a whole.
    pub(crate) fn of_file(file: &str, kind: ErrorKind) -> Self {
        let (file, message) = (file.to_owned(), kind.to_string());
        ProblemFileError { file, line: 0, column: 0, message, kind: Box::new(kind) }
    }

    /// The same, in a file of this name.
    pub(crate) fn in_file(self, file: &str) -> Self {
        ProblemFileError { file: file.to_owned(), ..self }
    }
}

/// An error before its place is turned into line and column.
#[derive(Debug)]
pub(crate) struct Fault {
    at: usize, // byte in the text
    kind: Box<ErrorKind>,
}

impl Fault {
    pub(crate) fn at(at: usize, kind: impl Into<ErrorKind>) -> Fault {
        Fault { at, kind: Box::new(kind.into()) }
    }

    pub(crate) fn locate(self, text: &str) -> ProblemFileError {
        let before = &text[..text.floor_char_boundary(self.at)];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        ProblemFileError {
            file: String::new(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: self.kind.to_string(),
            kind: self.kind,
        }
    }
}
