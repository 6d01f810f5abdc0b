//! Netlists in the language of SPICE.
//!
//! ```text
//! text ──lines──> lines ──cursor, expression, element, read──> blocks, requests ──expand──> Circuit
//!                 (continuations, includes)                    (nothing evaluated)         (numbers)
//! ```

mod card;
mod cursor;
mod element;
mod error;
pub(crate) mod expand;
mod expression;
mod functions;
pub(crate) mod lines;
mod measures;
pub(crate) mod model;
mod number;
mod probe;
pub(crate) mod read;
pub(crate) mod resolve;
mod vocabulary;

pub(crate) use card::{Body, EventCard, MeasureBody, Moment, Requests, Wave, Window};
pub use error::{Caution, NetlistError, Problem, Warning};
pub(crate) use expression::Expr;
pub use number::number;
pub use probe::{Probe, ProbedFormula};
