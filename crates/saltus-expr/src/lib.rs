//! Formula strings: parsed once, evaluated often.
//!
//! ```
//! use saltus_expr::Formula;
//!
//! let energy = Formula::parse("m*v[0]^2/2 + m*g*max(q[0], 0)", &["q[0]", "v[0]", "m", "g"])?;
//! assert_eq!(energy.eval(&[1.0, 4.0, 2.0, 9.75]), 35.5);
//! assert!(energy.uses(1));
//!
//! let text = "2*rr";
//! let error = Formula::parse(text, &["r"]).unwrap_err();
//! assert_eq!(error.to_string(), "unknown name `rr`; did you mean `r`?");
//! assert_eq!(error.caret(text), "2*rr\n  ^^");
//! # Ok::<(), saltus_expr::ExprError>(())
//! ```
//!
//! # Grammar
//!
//! ```text
//! formula     = disjunction
//! disjunction = conjunction { "or" conjunction }
//! conjunction = negation { "and" negation }
//! negation    = "not" negation | comparison
//! comparison  = sum [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) sum ]
//! sum         = product { ( "+" | "-" ) product }
//! product     = unary { ( "*" | "/" ) unary }
//! unary       = ( "-" | "+" ) unary | power
//! power       = atom [ ( "^" | "**" ) unary ]
//! atom        = number | variable | call | "(" formula ")"
//! call        = function "(" formula { "," formula } ")"
//! variable    = name [ "[" digits "]" ]
//! name        = ( letter | "_" ) { letter | digit | "_" }
//! number      = ( digits [ "." [ digits ] ] | "." digits ) [ ( "e" | "E" ) [ "+" | "-" ] digits ]
//! ```
//!
//! Letters and digits are ASCII; blanks and line breaks may stand between any two of these, and inside `x [ 0 ]`, which
//! is the name `x[0]`. So `-2^2` is −4, `2^3^2` is 2⁹, `2^-1` is ½, and `not a < b` is `not (a < b)`.
//!
//! # Meaning
//!
//! Numbers are `f64`, and no formula fails to evaluate: 1/0 is infinite, `sqrt(-1)` is NaN.
//!
//! - Comparisons, `and`, `or`, `not` give 1 or 0; as a condition, every number but 0 counts as true.
//! - `if(condition, a, b)` is `a` or `b`; the one not taken has no influence, not even by a NaN.
//! - `sin cos tan asin acos atan sinh cosh tanh exp log10 log2 sqrt abs floor ceil` as in any language; `log` and `ln`
//!   are the natural logarithm; `round` goes to the nearest integer, halves away from zero; `sign(0)` is 0.
//! - `atan2(y, x)`, `hypot(a, b)`, `pow(a, b)` = `a^b`; `mod(a, b)` has the sign of `b`: `mod(-1, 3)` is 2.
//! - `min` and `max` of two or more; a NaN among them is the result. `clamp(x, lo, hi)` is `min(max(x, lo), hi)`.
//! - `pi`, `tau` = 2π, `inf`, unless a variable has that name. `e` is no constant: Euler's number is `exp(1)`.
//!
//! Functions and `and`, `or`, `not` cannot name a variable: see [`is_reserved`].

// What happens to a text, a file a stage: lexer → parser → graph (folded and shared as it grows) → tape (evaluated);
// derivatives are graph → graph.
mod derivative;
mod error;
mod formula;
mod function;
mod graph;
mod lexer;
mod nearest;
mod operation;
mod parser;
mod shape;
mod table;
mod tape;
mod vocabulary;

pub use error::ExprError;
pub use formula::{Formula, names};
pub use function::{Function, Rate};
pub use nearest::nearest;
pub use shape::Shape;
pub use vocabulary::{constant, is_reserved};

/// Bytes a formula may have.
pub const MAX_LENGTH: usize = 100_000;

/// How deep parentheses, calls, signs, `not` and exponents may nest.
pub const MAX_DEPTH: usize = 200;
