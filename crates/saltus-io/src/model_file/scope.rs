//! The names a formula may use, and numbers made of formulas.

use super::error::{ErrorKind, Fault};
use super::source::Place;
use super::tree::{Item, Value};
use saltus_expr::{ExprError, Formula, constant, names};
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

/// Entries that the arrays of a model may have in all.
const MAX_ENTRIES: usize = 100_000_000;

/// Repetitions that `for` may ask for in all.
const MAX_REPETITIONS: usize = 1_000_000;

/// Names that stand for something that changes within one value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Moving {
    Time,
    Row,
    Col,
}

impl Moving {
    const ALL: [Moving; 3] = [Moving::Time, Moving::Row, Moving::Col];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Moving::Time => "t",
            Moving::Row => "row",
            Moving::Col => "col",
        }
    }
}

/// Whether a parameter or loop variable of this name would be confused with one of ours.
pub(crate) fn is_moving(name: &str) -> bool {
    Moving::ALL.iter().any(|moving| moving.name() == name)
}

/// The parameters and the loop variable, with their values, and what is left of the limits.
#[derive(Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) parameters: &'a HashMap<String, f64>,
    pub(crate) variable: Option<(&'a str, f64)>,
    pub(crate) limits: &'a Limits,
}

/// How much has been asked for.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    entries: Cell<usize>,
    repetitions: Cell<usize>,
}

impl Limits {
    /// Accounts for an array.
    pub(crate) fn take_entries(&self, what: &str, place: &Place, count: f64) -> Result<(), Fault> {
        take(&self.entries, what, "entries", place, count, MAX_ENTRIES)
    }

    /// Accounts for a `for`.
    pub(crate) fn take_repetitions(&self, place: &Place, count: f64) -> Result<(), Fault> {
        take(&self.repetitions, "for", "repetitions", place, count, MAX_REPETITIONS)
    }
}

fn take(
    used: &Cell<usize>,
    what: &str,
    of: &'static str,
    place: &Place,
    count: f64,
    limit: usize,
) -> Result<(), Fault> {
    let total = used.get() as f64 + count;
    if total > limit as f64 {
        let what = what.to_owned();
        return Err(Fault::new(place, ErrorKind::TooMany { what, of, found: count, limit }));
    }
    used.set(total as usize);
    Ok(())
}

/// A formula whose parameters have their values, and which may still move with `t`, `row`, `col`.
#[derive(Debug, Clone)]
pub(crate) struct Compiled {
    formula: Formula,
    values: [f64; 3], // of what moves, in the order of `Moving::ALL`
}

impl Compiled {
    /// Whether the value changes with it.
    pub(crate) fn moves_with(&self, moving: Moving) -> bool {
        self.formula.uses(moving as usize)
    }

    pub(crate) fn set(&mut self, moving: Moving, value: f64) {
        self.values[moving as usize] = value;
    }

    pub(crate) fn value(&self) -> f64 {
        self.formula.eval(&self.values)
    }

    /// The value with these values of what moves, and the others as they were set.
    pub(crate) fn at<const N: usize>(&self, moving: [(Moving, f64); N]) -> f64 {
        let mut values = self.values;
        for (moving, value) in moving {
            values[moving as usize] = value;
        }
        self.formula.eval(&values)
    }
}

impl<'a> Scope<'a> {
    /// The same with a loop variable.
    pub(crate) fn with_variable(&self, name: &'a str, value: f64) -> Scope<'a> {
        Scope { variable: Some((name, value)), ..*self }
    }

    /// `i = 3`, in one pass of a repetition.
    pub(crate) fn pass(&self) -> Option<String> {
        self.variable.map(|(name, value)| format!("{name} = {value}"))
    }

    fn value_of(&self, name: &str) -> Option<f64> {
        match self.variable {
            Some((variable, value)) if variable == name => Some(value),
            _ => self.parameters.get(name).copied(),
        }
    }

    /// Compiles a piece of a string value. `t` is understood everywhere, to be refused in better words.
    pub(crate) fn compile(
        &self,
        text: &str,
        within: Range<usize>,
        place: &Place,
        is_entry: bool,
    ) -> Result<Compiled, Fault> {
        let shift = |span: Range<usize>| within.start + span.start..within.start + span.end;
        let fail = |mut error: ExprError| {
            let span = shift(error.span());
            if let ExprError::UnknownName { nearest, .. } = &mut error {
                // most slots cannot use `t`, which is too short to be a likely slip
                nearest.take_if(|name| name == Moving::Time.name());
            }
            Fault::new(place, error).inside(span).repeated(self.pass())
        };
        let piece = &text[within.clone()];
        let known: &[Moving] = if is_entry { &Moving::ALL } else { &[Moving::Time] };

        let used = names(piece).map_err(&fail)?;
        let is_moving = |name: &str| known.iter().any(|moving| moving.name() == name);
        let mut is_known = true;
        let mut constants = Vec::with_capacity(used.len());
        for name in used.iter().filter(|name| !is_moving(name)) {
            match self.value_of(name) {
                Some(value) => constants.push((name.as_str(), value)),
                None => is_known &= constant(name).is_some(),
            }
        }
        let mut variables: Vec<&str> = known.iter().map(|moving| moving.name()).collect();
        if !is_known {
            // only for the error, which names the nearest one
            constants = self.all_constants();
            constants.extend(variables.drain(..).map(|name| (name, 0.0)));
        }
        let formula = Formula::parse_with(piece, &variables, &constants).map_err(fail)?;
        Ok(Compiled { formula, values: [0.0; 3] })
    }

    fn all_constants(&self) -> Vec<(&str, f64)> {
        let mut constants: Vec<(&str, f64)> =
            self.parameters.iter().map(|(name, &value)| (name.as_str(), value)).collect();
        constants.sort_unstable_by_key(|&(name, _)| name);
        constants.extend(self.variable);
        constants
    }

    /// A number or formula that is the same at all times; `what` names it in errors.
    pub(crate) fn constant(&self, item: &Item, what: &str) -> Result<f64, Fault> {
        let value = match &item.value {
            Value::Number(value) => *value,
            Value::Text(text) => {
                let compiled = self.compile(text, 0..text.len(), &item.place, false)?;
                if compiled.moves_with(Moving::Time) {
                    return Err(self.fault(item, ErrorKind::NotConstant { what: what.to_owned() }));
                }
                compiled.value()
            }
            _ => return Err(self.wrong_type(item, what, "a number or a formula")),
        };
        if value.is_nan() {
            return Err(self.fault(item, ErrorKind::NotFinite { what: what.to_owned(), value }));
        }
        Ok(value)
    }

    /// The same, finite.
    pub(crate) fn number(&self, item: &Item, what: &str) -> Result<f64, Fault> {
        let value = self.constant(item, what)?;
        if !value.is_finite() {
            return Err(self.fault(item, ErrorKind::NotFinite { what: what.to_owned(), value }));
        }
        Ok(value)
    }

    /// A whole number that is not negative.
    pub(crate) fn count(&self, item: &Item, what: &str) -> Result<usize, Fault> {
        let value = self.number(item, what)?;
        if value < 0.0 || value.fract() != 0.0 || value > 2f64.powi(53) {
            return Err(self.range(item, what, value, "a whole number that is not negative"));
        }
        Ok(value as usize)
    }

    pub(crate) fn range(&self, item: &Item, what: &str, value: f64, allowed: &str) -> Fault {
        let (what, allowed) = (what.to_owned(), allowed.to_owned());
        self.fault(item, ErrorKind::Range { what, value, allowed })
    }

    pub(crate) fn wrong_type(&self, item: &Item, what: &str, expected: &str) -> Fault {
        let (what, expected) = (what.to_owned(), expected.to_owned());
        let found = item.in_words().to_owned();
        self.fault(item, ErrorKind::Type { what, expected, found })
    }

    pub(crate) fn fault(&self, item: &Item, kind: impl Into<ErrorKind>) -> Fault {
        Fault::new(&item.place, kind).repeated(self.pass())
    }
}
