//! One formula with its text, and the names a text uses.

use std::collections::HashSet;

use crate::error::ExprError;
use crate::function::Function;
use crate::parser;

/// A [`Function`] with one output, and the text it was parsed from.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    text: String,
    function: Function,
}

impl Formula {
    /// Parses `text` as [`Function::parse`] does each of its texts.
    pub fn parse(text: &str, variables: &[&str]) -> Result<Formula, ExprError> {
        Formula::parse_with(text, variables, &[])
    }

    /// The same, with names that stand for numbers, as in [`Function::parse_with`].
    pub fn parse_with(
        text: &str,
        variables: &[&str],
        constants: &[(&str, f64)],
    ) -> Result<Formula, ExprError> {
        let function = Function::parse_with(&[text], variables, constants);
        match function {
            Ok(function) => Ok(Formula { text: text.to_owned(), function }),
            Err(ExprError::Among { error, .. }) => Err(*error),
            Err(error) => Err(error),
        }
    }

    /// The value, given those of the variables, under the conditions of [`Function::eval`].
    pub fn eval(&self, values: &[f64]) -> f64 {
        let mut out = [0.0];
        self.function.eval(values, &mut out);
        out[0]
    }

    /// Whether the value depends on the variable with this index: it occurs, and not only in a branch never taken.
    pub fn uses(&self, variable: usize) -> bool {
        self.function.uses(variable)
    }

    /// Whether the value depends on no variable.
    pub fn is_constant(&self) -> bool {
        self.function.is_constant()
    }

    /// The text it was parsed from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// As a function with one output, to be differentiated or joined with others.
    pub fn function(&self) -> &Function {
        &self.function
    }
}

/// The names that `text`, a formula, vector or matrix, uses, in order of first use, each once: to order parameters by
/// what they depend on.
///
/// A constant such as `pi` is listed too, because a variable may hide it; [`constant`](crate::constant) tells which
/// names those are. Functions are not listed.
pub fn names(text: &str) -> Result<Vec<String>, ExprError> {
    let (mut names, mut seen) = (Vec::new(), HashSet::new());
    parser::parse_names(text, |name| {
        if seen.insert(name.to_owned()) {
            names.push(name.to_owned());
        }
    })?;
    Ok(names)
}
