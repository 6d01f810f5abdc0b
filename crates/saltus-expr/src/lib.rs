//! Formula strings: parsed once, evaluated often, differentiated exactly.
//!
//! ```
//! use saltus_expr::{Formula, Function, Rate};
//!
//! let energy = Formula::parse("m*v[0]^2/2 + m*g*max(q[0], 0)", &["q[0]", "v[0]", "m", "g"])?;
//! assert_eq!(energy.eval(&[1.0, 4.0, 2.0, 9.75]), 35.5);
//! assert!(energy.uses(1));
//!
//! let text = "2*rr";
//! let error = Formula::parse(text, &["r"]).unwrap_err();
//! assert_eq!(error.to_string(), "unknown name `rr`; did you mean `r`?");
//! assert_eq!(error.caret(text), "2*rr\n  ^^");
//!
//! // a gap h(t, q), its Jacobian H = ∂h/∂q, the velocity u = ∂h/∂t + H v, and ∂u/∂q
//! let h = Function::parse(&["q[0]*q[1] - t"], &["t", "q[0]", "q[1]", "v[0]", "v[1]"])?;
//! let H = h.jacobian(&[1, 2]);
//! let u = h.rate(&[(0, Rate::Number(1.0)), (1, Rate::Variable(3)), (2, Rate::Variable(4))]);
//! let du_dq = u.jacobian(&[1, 2]);
//! let (values, mut out) = ([0.5, 2.0, 3.0, 10.0, 20.0], [0.0; 2]);
//! H.eval(&values, &mut out);
//! assert_eq!(out, [3.0, 2.0]);
//! u.eval(&values, &mut out[..1]);
//! assert_eq!(out[0], 3.0 * 10.0 + 2.0 * 20.0 - 1.0);
//! du_dq.eval(&values, &mut out);
//! assert_eq!(out, [20.0, 10.0]);
//! # Ok::<(), saltus_expr::ExprError>(())
//! ```
//!
//! # Grammar
//!
//! ```text
//! array       = formula | vector | "[" vector { "," vector } "]"      Function::parse_array; rows of equal length
//! vector      = "[" formula { "," formula } "]"
//! formula     = disjunction                                          everywhere else
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
//! variable    = [ ( name | "'" owner "'" ) "." ] name [ "[" digits "]" ]      owner: anything without quotes
//! name        = ( letter | "_" ) { letter | digit | "_" }
//! number      = ( digits [ "." [ digits ] ] | "." digits ) [ ( "e" | "E" ) [ "+" | "-" ] digits ]
//! ```
//!
//! Letters and digits are ASCII; blanks and line breaks may stand between any two of these, and inside `x [ 0 ]`, which
//! is the name `x[0]`. A member of something else, where there are such names, is `ball.q[0]`, or `'bead 3'.q[0]` if
//! what it belongs to is no word. So `-2^2` is −4, `2^3^2` is 2⁹, `2^-1` is ½, and `not a < b` is `not (a < b)`.
//!
//! # Meaning
//!
//! Numbers are `f64`, and no formula fails to evaluate: 1/0 is infinite, `sqrt(-1)` is NaN.
//!
//! - Comparisons, `and`, `or`, `not` give 1 or 0; as a condition, every number but 0 counts as true.
//! - `if(condition, a, b)` is `a` or `b`; the one not taken has no influence, not even by a NaN.
//! - `piecewise(c1, a1, c2, a2, …, otherwise)` is the value after the first condition that holds.
//! - `sin cos tan asin acos atan sinh cosh tanh exp log10 log2 sqrt abs floor ceil` as in any language; `log` and `ln`
//!   are the natural logarithm; `round` goes to the nearest integer, halves away from zero; `sign(0)` is 0;
//!   `heaviside` is 0 below 0 and 1 from 0 on.
//! - `atan2(y, x)`, `hypot(a, b)`, `pow(a, b)` = `a^b`; `mod(a, b)` has the sign of `b`: `mod(-1, 3)` is 2.
//! - Powers with a whole exponent of at most 16 in size are products: within 16 roundings of the exact power.
//! - `table(x, x0, y0, x1, y1, …)` is linear between the points and constant beyond the ends: `y0` below `x0`. The
//!   abscissae are constants in ascending order. If the ordinates are constants too it takes O(log n), else O(n).
//! - `min` and `max` of two or more; a NaN among them is the result. `clamp(x, lo, hi)` is `min(max(x, lo), hi)`.
//! - `pi`, `tau` = 2π, `inf`, unless a variable has that name. `e` is no constant: Euler's number is `exp(1)`.
//!
//! Functions and `and`, `or`, `not` cannot name a variable: see [`is_reserved`].
//!
//! # Derivatives
//!
//! [`Function::jacobian`] and [`Function::rate`] follow the rules of calculus, to any order. Where a function is not
//! differentiable:
//!
//! - `abs` has the slope `sign`, so 0 at 0; `hypot` 0 at the origin. `sqrt(x^2 + y^2)` there is 0/0, NaN.
//! - `sign`, `floor`, `ceil`, `round`, `heaviside`, comparisons, `and`, `or`, `not` have the slope 0, at jumps too.
//! - `if`, `piecewise`, `min`, `max`, `clamp` have the derivative of the branch that their value comes from; that of
//!   `min(a, b)` and `max(a, b)` is that of `b` where both are equal. A branch not taken has no influence, not even by a
//!   NaN, and a constant branch gives 0 even inside a function of infinite slope: `sqrt(max(x, 0))` for x < 0.
//! - `mod(a, b)` has slope 1 in `a` and −⌊a/b⌋ in `b`; `table` has the slope to the right of `x`.
//! - x² has slope 0 at 0, x¹ has 1, x⁰ has 0; √x has an infinite one. aᵇ has slope 0 in b at a = 0 < b.
//!
//! # Cost
//!
//! A function is a list of instructions on registers, the tape; common subexpressions are computed once, for all outputs,
//! and both branches of an `if` are. A call takes some 7 ns and about 2 ns an operation, more for `sin` and the like, on
//! a machine where the same closure takes 3 ns. With the feature `jit` (on by default) a function becomes machine code
//! when [`Function::compile`] is called, or once it has been evaluated ten thousand times: then a call takes about 2 ns
//! more than the closure, only the branch taken is computed, and the bits are the same (a NaN's apart).
//! `cargo run --release -p saltus-bench formulas` measures it.

// What happens to a text, a file a stage: lexer → parser → graph (folded and shared as it grows) → tape (evaluated), and
// graph → placement → machine (evaluated instead, when `tier` says so); derivatives are graph → graph.
mod derivative;
mod error;
mod formula;
mod function;
mod graph;
mod lexer;
#[cfg(feature = "jit")]
mod machine;
mod nearest;
mod operation;
mod parser;
#[cfg(feature = "jit")]
mod placement;
mod shape;
mod table;
mod tape;
mod tier;
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
