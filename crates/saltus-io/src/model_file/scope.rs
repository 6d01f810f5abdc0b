//! The names a formula may use, and numbers made of formulas.

use super::error::{ErrorKind, Fault};
use super::slot::refusal;
use super::source::Place;
use super::tree::{Item, Value};
use saltus_expr::{ExprError, Formula, constant, names};
use saltus_model::Names;
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

/// Entries that the arrays of a model may have in all.
const MAX_ENTRIES: usize = 100_000_000;

/// Repetitions that `for` may ask for in all.
const MAX_REPETITIONS: usize = 1_000_000;

/// Names that stand for the place in an array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Moving {
    Row,
    Col,
}

impl Moving {
    const ALL: [Moving; 2] = [Moving::Row, Moving::Col];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Moving::Row => "row",
            Moving::Col => "col",
        }
    }
}

/// Whether a parameter or loop variable of this name would be confused with one of ours.
pub(crate) fn is_moving(name: &str) -> bool {
    name == "t" || Moving::ALL.iter().any(|moving| moving.name() == name)
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

/// A formula whose parameters have their values, and which may still move with `row` and `col`.
#[derive(Debug, Clone)]
pub(crate) struct Compiled {
    formula: Formula,
    values: Vec<f64>,          // of the names that the text uses
    slots: [Option<usize>; 2], // where in `values` the moving ones are, in the order of `Moving::ALL`
}

impl Compiled {
    pub(crate) fn set(&mut self, moving: Moving, value: f64) {
        if let Some(slot) = self.slots[moving as usize] {
            self.values[slot] = value;
        }
    }

    pub(crate) fn value(&self) -> f64 {
        self.formula.eval(&self.values)
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

    /// The names that stand for numbers, with their values.
    pub(crate) fn constants(&self) -> Vec<(&str, f64)> {
        let parameters = self.parameters.iter().map(|(name, &value)| (name.as_str(), value));
        let mut constants: Vec<(&str, f64)> = parameters.chain(self.variable).collect();
        constants.sort_unstable_by_key(|&(name, _)| name);
        constants
    }

    /// A formula in which the loop variable is replaced by its value.
    pub(crate) fn without_variable(&self, text: &str) -> String {
        let Some((name, value)) = self.variable else { return text.to_owned() };
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut made = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let end = match is_word(c) {
                true => rest.find(|c| !is_word(c) && c != '.').unwrap_or(rest.len()),
                false => c.len_utf8(),
            };
            match &rest[..end] {
                word if word == name => made.push_str(&format!("({value:?})")),
                word => made.push_str(word),
            }
            rest = &rest[end..];
        }
        made
    }

    /// Compiles a piece of a string value that is the same at all times; `what` names it in errors.
    pub(crate) fn compile(
        &self,
        text: &str,
        within: Range<usize>,
        place: &Place,
        what: &str,
        is_entry: bool,
    ) -> Result<Compiled, Fault> {
        let shift = |span: Range<usize>| within.start + span.start..within.start + span.end;
        let fail = |error: ExprError| {
            let span = shift(error.span());
            let kind = refusal(error, what, &Names::default());
            Fault::new(place, kind).inside(span).repeated(self.pass())
        };
        let piece = &text[within.clone()];
        let known: &[Moving] = if is_entry { &Moving::ALL } else { &[] };

        let mut used = names(piece).map_err(&fail)?;
        let mut values = Vec::with_capacity(used.len());
        let mut slots = [None; 2];
        let mut is_known = true;
        used.retain(|name| {
            if let Some(&moving) = known.iter().find(|moving| moving.name() == name) {
                slots[moving as usize] = Some(values.len());
                values.push(0.0);
            } else if let Some(value) = self.value_of(name) {
                values.push(value);
            } else {
                is_known &= constant(name).is_some();
                return false;
            }
            true
        });
        let variables: Vec<&str> = if is_known {
            used.iter().map(String::as_str).collect()
        } else {
            self.all_names(known) // only for the error, which names the nearest one
        };
        let formula = Formula::parse(piece, &variables).map_err(fail)?;
        Ok(Compiled { formula, values, slots })
    }

    fn all_names(&self, known: &[Moving]) -> Vec<&str> {
        let mut names: Vec<&str> = self.parameters.keys().map(String::as_str).collect();
        names.sort_unstable();
        names.extend(self.variable.map(|(name, _)| name));
        names.extend(known.iter().map(|moving| moving.name()));
        names
    }

    /// A number or formula that is the same at all times; `what` names it in errors.
    pub(crate) fn constant(&self, item: &Item, what: &str) -> Result<f64, Fault> {
        let value = match &item.value {
            Value::Number(value) => *value,
            Value::Text(text) => {
                self.compile(text, 0..text.len(), &item.place, what, false)?.value()
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
