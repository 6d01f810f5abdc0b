//! A parsed formula, and the names a text uses.

use std::collections::HashMap;
use std::ops::Range;

use crate::ast::Node;
use crate::error::ExprError;
use crate::nearest::nearest;
use crate::parser;
use crate::tape::Tape;
use crate::vocabulary::{CONSTANTS, constant};

/// A parsed formula over named variables.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    text: String,
    tape: Tape,
}

impl Formula {
    /// Parses `text`, which may use the names in `variables`, plain (`g`) or indexed (`x[0]`).
    ///
    /// What can be computed without values is computed here, once. A variable hides a constant of the same name; one
    /// with a reserved name ([`is_reserved`](crate::is_reserved)) can never be reached.
    pub fn parse(text: &str, variables: &[&str]) -> Result<Formula, ExprError> {
        let ast = parser::parse(text, |name, span| lookup(name, span, variables))?;
        Ok(Formula { text: text.to_owned(), tape: Tape::compile(&ast) })
    }

    /// The value, given those of the variables in the order they had in [`parse`](Formula::parse).
    ///
    /// Allocates nothing, unless operands wait for each other more than 32 deep, as in `a+(b+(c+…))`.
    ///
    /// # Panics
    ///
    /// If `values` is too short to hold a variable that the formula [`uses`](Formula::uses); a formula that
    /// [`is_constant`](Formula::is_constant) needs none.
    pub fn eval(&self, values: &[f64]) -> f64 {
        self.tape.eval(values)
    }

    /// Whether the value depends on the variable with this index: it occurs, and not only in a branch never taken.
    pub fn uses(&self, variable: usize) -> bool {
        self.tape.variables().binary_search(&variable).is_ok()
    }

    /// Whether the value depends on no variable.
    pub fn is_constant(&self) -> bool {
        self.tape.variables().is_empty()
    }

    /// The text it was parsed from.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The names that `text` uses, in order of first use, each once: to order parameters by what they depend on.
///
/// A constant such as `pi` is listed too, because a variable may hide it; [`constant`] tells which names those are.
/// Functions are not listed.
pub fn names(text: &str) -> Result<Vec<String>, ExprError> {
    let mut index = HashMap::new();
    parser::parse(text, |name, _| {
        let next = index.len();
        Ok(Node::Variable(*index.entry(name.to_owned()).or_insert(next)))
    })?;

    let mut names: Vec<(String, usize)> = index.into_iter().collect();
    names.sort_unstable_by_key(|&(_, first)| first);
    Ok(names.into_iter().map(|(name, _)| name).collect())
}

/// What a name stands for: a variable, else a constant.
fn lookup(name: &str, span: Range<usize>, variables: &[&str]) -> Result<Node, ExprError> {
    if let Some(index) = variables.iter().position(|&variable| variable == name) {
        return Ok(Node::Variable(index));
    }
    if let Some(value) = constant(name) {
        return Ok(Node::Number(value));
    }

    // the name meant: `x[0]` for a bare `x`, else the nearest one
    let variables = variables.iter().copied();
    let constants = CONSTANTS.iter().map(|&(name, _)| name);
    let has_index =
        |known: &&str| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('['));
    let meant = variables.clone().find(has_index);
    let meant = meant.or_else(|| nearest(name, variables.chain(constants)));
    Err(ExprError::UnknownName { name: name.to_owned(), nearest: meant.map(str::to_owned), span })
}
