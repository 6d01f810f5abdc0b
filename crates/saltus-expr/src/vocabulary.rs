//! The names that mean something without being variables: functions and constants. (Keywords are the lexer's.)

use std::f64::consts::{PI, TAU};

use crate::lexer::keyword;
use crate::operation::{Binary, Unary};

/// What a function's name stands for, by the arguments it takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Function {
    /// One argument.
    Unary(Unary),
    /// Two arguments.
    Binary(Binary),
    /// Two arguments or more: the operation of the first two, then of that and the third, and so on.
    Chain(Binary),
    /// `if(condition, a, b)`
    If,
    /// `clamp(x, lo, hi)`
    Clamp,
    /// `piecewise(c1, a1, c2, a2, ..., otherwise)`
    Piecewise,
    /// `table(x, x0, y0, x1, y1, ...)`
    Table,
}

impl Function {
    /// The arguments it takes, in words.
    pub(crate) fn arguments(self) -> &'static str {
        match self {
            Function::Unary(_) => "1 argument",
            Function::Binary(_) => "2 arguments",
            Function::Chain(_) => "at least 2 arguments",
            Function::If | Function::Clamp => "3 arguments",
            Function::Piecewise => "pairs of a condition and a value, then a value for all else",
            Function::Table => "an argument, then at least 2 points x, y",
        }
    }
}

pub(crate) const FUNCTIONS: &[(&str, Function)] = &[
    ("sin", Function::Unary(Unary::Sin)),
    ("cos", Function::Unary(Unary::Cos)),
    ("tan", Function::Unary(Unary::Tan)),
    ("asin", Function::Unary(Unary::Asin)),
    ("acos", Function::Unary(Unary::Acos)),
    ("atan", Function::Unary(Unary::Atan)),
    ("atan2", Function::Binary(Binary::Atan2)),
    ("sinh", Function::Unary(Unary::Sinh)),
    ("cosh", Function::Unary(Unary::Cosh)),
    ("tanh", Function::Unary(Unary::Tanh)),
    ("exp", Function::Unary(Unary::Exp)),
    ("log", Function::Unary(Unary::Ln)),
    ("ln", Function::Unary(Unary::Ln)),
    ("log10", Function::Unary(Unary::Log10)),
    ("log2", Function::Unary(Unary::Log2)),
    ("sqrt", Function::Unary(Unary::Sqrt)),
    ("abs", Function::Unary(Unary::Abs)),
    ("sign", Function::Unary(Unary::Sign)),
    ("floor", Function::Unary(Unary::Floor)),
    ("ceil", Function::Unary(Unary::Ceil)),
    ("round", Function::Unary(Unary::Round)),
    ("heaviside", Function::Unary(Unary::Heaviside)),
    ("min", Function::Chain(Binary::Min)),
    ("max", Function::Chain(Binary::Max)),
    ("mod", Function::Binary(Binary::Mod)),
    ("hypot", Function::Binary(Binary::Hypot)),
    ("pow", Function::Binary(Binary::Pow)),
    ("clamp", Function::Clamp),
    ("if", Function::If),
    ("piecewise", Function::Piecewise),
    ("table", Function::Table),
];

pub(crate) const CONSTANTS: &[(&str, f64)] = &[("pi", PI), ("tau", TAU), ("inf", f64::INFINITY)];

/// The function of that name, with its name.
pub(crate) fn function(name: &str) -> Option<(&'static str, Function)> {
    FUNCTIONS.iter().copied().find(|&(known, _)| known == name)
}

/// The value of a constant: `pi`, `tau` or `inf`. A variable may have its name, and then hides it.
pub fn constant(name: &str) -> Option<f64> {
    let found = CONSTANTS.iter().find(|&&(known, _)| known == name);
    found.map(|&(_, value)| value)
}

/// Whether `name` is a function or a keyword, so that no variable can have it. Constants are not reserved.
pub fn is_reserved(name: &str) -> bool {
    keyword(name).is_some() || function(name).is_some()
}
