//! Vectors and matrices: written out, by a formula of the position, by a diagonal, or as one text.
//!
//! ```toml
//! x0 = [1, "2*r"]                                                 # written out
//! x0 = { size = "n", entry = "row/(n-1)" }                        # by a formula
//! M = { rows = "n", cols = "n", entry = "if(row == col, 1, 0)" }
//! M = { diagonal = [1, 2, 3] }
//! M = { identity = "n" }
//! M = "[[1, 0], [0, cos(q[0])]]"                                  # as one text
//! ```
//!
//! The formulas of one array become one function, which computes once what they have in common.

use super::error::{ErrorKind, Fault};
use super::expansion::{Expanded, Source, expand};
use super::fields::Fields;
use super::scope::{Moving, Scope};
use super::slot::refusal;
use super::source::Place;
use super::tree::{Item, Value};
use super::vocabulary::SectionId;
use saltus_expr::ExprError;
use saltus_linalg::Matrix;
use saltus_mechanics::Given;
use saltus_model::{Names, Operator};

/// Where an array stands: what it is called, what its formulas may use, and their scope.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot<'a> {
    pub(crate) what: &'a str,
    pub(crate) names: Names,
    pub(crate) scope: &'a Scope<'a>,
}

/// An array in the making: numbers, and the formulas that replace some of them.
struct Array<'a> {
    values: Vec<f64>,
    formulas: Vec<Formula<'a>>,
}

/// A formula that moves with time or state.
struct Formula<'a> {
    position: usize,
    expanded: Expanded,
    place: &'a Place,
}

impl<'a> Array<'a> {
    fn with_capacity(len: usize) -> Array<'a> {
        Array { values: Vec::with_capacity(len), formulas: Vec::new() }
    }

    /// Appends an entry: a number, or a formula.
    fn push(&mut self, item: &'a Item, what: &str, slot: &Slot) -> Result<(), Fault> {
        match slot.moving(item)? {
            Some(expanded) => self.push_formula(expanded, &item.place),
            None => self.values.push(slot.scope.number(item, what)?),
        }
        Ok(())
    }

    fn push_formula(&mut self, expanded: Expanded, place: &'a Place) {
        self.formulas.push(Formula { position: self.values.len(), expanded, place });
        self.values.push(0.0);
    }

    /// The operator: a constant, or one function of all entries.
    fn operator(self, rows: usize, cols: usize, slot: &Slot) -> Result<Operator, Fault> {
        if self.formulas.is_empty() {
            return Ok(Operator::constant(rows, cols, self.values));
        }
        let numbers: Vec<String> = self.values.iter().map(|value| format!("{value:?}")).collect();
        let mut texts: Vec<&str> = numbers.iter().map(String::as_str).collect();
        for formula in &self.formulas {
            texts[formula.position] = &formula.expanded.text;
        }
        let constants = slot.scope.constants();
        Operator::formulas(rows, cols, &texts, &slot.names, &constants).map_err(|error| {
            let is_meant = |formula: &&Formula| formula.position == error.text();
            let formula = self.formulas.iter().find(is_meant).unwrap_or(&self.formulas[0]);
            slot.refuse(error, &formula.expanded, formula.place)
        })
    }
}

impl Slot<'_> {
    fn source<'a>(&'a self, text: &'a str, place: &'a Place) -> Source<'a> {
        Source { text, place, what: self.what, entry: None }
    }

    /// The formula of an entry, if it moves with time or state.
    fn moving(&self, item: &Item) -> Result<Option<Expanded>, Fault> {
        let Value::Text(text) = &item.value else { return Ok(None) };
        let source = self.source(text, &item.place);
        let expanded = expand(source, self.scope)?;
        Ok(expanded.moves(source, self.scope)?.then_some(expanded))
    }

    fn refuse(&self, error: ExprError, expanded: &Expanded, place: &Place) -> Fault {
        let span = expanded.original(error.span());
        let kind = refusal(error, self.what, &self.names);
        Fault::new(place, kind).inside(span).repeated(self.scope.pass())
    }
}

/// A number, or a formula of what the slot allows.
pub(crate) fn scalar(item: &Item, slot: &Slot) -> Result<Operator, Fault> {
    let mut array = Array::with_capacity(1);
    array.push(item, slot.what, slot)?;
    array.operator(1, 1, slot)
}

/// A vector.
pub(crate) fn vector(item: &Item, slot: &Slot) -> Result<Operator, Fault> {
    if let Value::Text(text) = &item.value {
        let vector = by_text(item, text, slot)?;
        if vector.shape().1 != 1 {
            let (what, found) = (slot.what.to_owned(), "a matrix".to_owned());
            let expected = "a vector such as [a, b]".to_owned();
            return Err(slot.scope.fault(item, ErrorKind::Type { what, expected, found }));
        }
        return Ok(vector);
    }
    let array = vector_array(item, slot)?;
    let len = array.values.len();
    array.operator(len, 1, slot)
}

/// A formula as a text that stands on its own.
pub(crate) fn text(item: &Item, slot: &Slot) -> Result<String, Fault> {
    let Value::Text(text) = &item.value else {
        return Err(slot.scope.wrong_type(item, slot.what, "a formula"));
    };
    let expanded = expand(slot.source(text, &item.place), slot.scope)?;
    Ok(slot.scope.without_variable(&expanded.text))
}

/// The entries of a vector as texts that stand on their own: with indices by numbers, and the loop
/// variable by its value.
pub(crate) fn texts(item: &Item, slot: &Slot) -> Result<Vec<String>, Fault> {
    if let Value::Text(text) = &item.value {
        let expanded = expand(slot.source(text, &item.place), slot.scope)?;
        let Given::Formulas(texts) = Given::of_text(&expanded.text) else { return Ok(Vec::new()) };
        return Ok(texts.iter().map(|text| slot.scope.without_variable(text)).collect());
    }
    let array = vector_array(item, slot)?;
    let mut texts: Vec<String> = array.values.iter().map(|value| format!("{value:?}")).collect();
    for formula in &array.formulas {
        texts[formula.position] = slot.scope.without_variable(&formula.expanded.text);
    }
    Ok(texts)
}

/// The number of entries of a vector, without a look at them.
pub(crate) fn len(item: &Item, slot: &Slot) -> Result<usize, Fault> {
    match &item.value {
        Value::Array(items) => Ok(items.len()),
        Value::Table(_) => vector_entries(item, slot)?.count("size"),
        Value::Text(text) => Ok(entries_of(text)),
        _ => Ok(0),
    }
}

/// The number of entries of a vector that is one text.
fn entries_of(text: &str) -> usize {
    let (mut depth, mut commas) = (0, 0);
    for c in text.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 1 => commas += 1,
            _ => {}
        }
    }
    commas + 1
}

/// `"[[1, 0], [0, cos(q[0])]]"`
fn by_text(item: &Item, text: &str, slot: &Slot) -> Result<Operator, Fault> {
    let scope = slot.scope;
    let expanded = expand(slot.source(text, &item.place), scope)?;
    let operator = Operator::formula(&expanded.text, &slot.names, &scope.constants())
        .map_err(|error| slot.refuse(error, &expanded, &item.place))?;
    let (rows, cols) = operator.shape();
    scope.limits.take_entries(slot.what, &item.place, rows as f64 * cols as f64)?;
    if let Some(value) = operator.as_constant() {
        for (k, &value) in value.data().iter().enumerate() {
            let what = || match cols {
                1 => format!("{}[{k}]", slot.what),
                _ => format!("{}[{}][{}]", slot.what, k / cols, k % cols),
            };
            finite(value, what, item, scope)?;
        }
    }
    Ok(operator)
}

fn vector_array<'a>(item: &'a Item, slot: &'a Slot) -> Result<Array<'a>, Fault> {
    let Slot { what, scope, .. } = *slot;
    match &item.value {
        Value::Array(items) => {
            scope.limits.take_entries(what, &item.place, items.len() as f64)?;
            let mut array = Array::with_capacity(items.len());
            for (i, item) in items.iter().enumerate() {
                array.push(item, &format!("{what}[{i}]"), slot)?;
            }
            Ok(array)
        }
        Value::Table(_) => {
            let fields = vector_entries(item, slot)?;
            let size = fields.count("size")?;
            scope.limits.take_entries(what, &item.place, size as f64)?;
            by_entry(fields.need("entry")?, size, 1, slot)
        }
        _ => Err(scope.wrong_type(item, what, "an array of numbers")),
    }
}

/// `{ size = "n", entry = "…" }`
fn vector_entries<'a>(item: &'a Item, slot: &'a Slot) -> Result<Fields<'a>, Fault> {
    Fields::open(item, SectionId::VectorEntries, format!("`{}`", slot.what), slot.scope)
}

/// All entries by one formula of `row` and `col`.
fn by_entry<'a>(item: &'a Item, rows: usize, cols: usize, slot: &Slot) -> Result<Array<'a>, Fault> {
    let Slot { what, scope, .. } = *slot;
    let number;
    let text = match &item.value {
        Value::Text(text) => text,
        Value::Number(value) => {
            number = format!("{value:?}");
            &number
        }
        _ => return Err(scope.wrong_type(item, "entry", "a number or a formula")),
    };
    let mut array = Array::with_capacity(rows * cols);
    if rows * cols == 0 {
        return Ok(array);
    }
    let at = |row, col| Source { entry: Some((row, col)), ..slot.source(text, &item.place) };
    if expand(at(0, 0), scope)?.moves(at(0, 0), scope)? {
        for k in 0..rows * cols {
            array.push_formula(expand(at(k / cols, k % cols), scope)?, &item.place);
        }
        return Ok(array);
    }
    let mut formula = scope.compile(text, 0..text.len(), &item.place, what, true)?;
    for row in 0..rows {
        formula.set(Moving::Row, row as f64);
        for col in 0..cols {
            formula.set(Moving::Col, col as f64);
            let at = || match cols {
                1 => format!("{what}[{row}]"),
                _ => format!("{what}[{row}][{col}]"),
            };
            array.values.push(finite(formula.value(), at, item, scope)?);
        }
    }
    Ok(array)
}

fn finite(value: f64, what: impl Fn() -> String, item: &Item, scope: &Scope) -> Result<f64, Fault> {
    if value.is_finite() {
        return Ok(value);
    }
    Err(scope.fault(item, ErrorKind::NotFinite { what: what(), value }))
}

/// A matrix.
pub(crate) fn matrix(item: &Item, slot: &Slot) -> Result<Operator, Fault> {
    let Slot { what, scope, .. } = *slot;
    let open = |section| Fields::open(item, section, format!("`{what}`"), scope);
    match &item.value {
        Value::Array(rows) => matrix_by_rows(item, rows, slot),
        Value::Text(text) => by_text(item, text, slot),
        Value::Table(table) if table.get("diagonal").is_some() => {
            let fields = open(SectionId::MatrixDiagonal)?;
            matrix_by_diagonal(item, fields.need("diagonal")?, slot)
        }
        Value::Table(table) if table.get("identity").is_some() => {
            let size = open(SectionId::MatrixIdentity)?.count("identity")?;
            scope.limits.take_entries(what, &item.place, size as f64 * size as f64)?;
            Ok(Matrix::identity(size).into())
        }
        // `{ rows = "n", cols = "n", entry = "…" }`
        Value::Table(_) => {
            let fields = open(SectionId::MatrixEntries)?;
            let (rows, cols) = (fields.count("rows")?, fields.count("cols")?);
            scope.limits.take_entries(what, &item.place, rows as f64 * cols as f64)?;
            by_entry(fields.need("entry")?, rows, cols, slot)?.operator(rows, cols, slot)
        }
        _ => Err(scope.wrong_type(item, what, "an array of rows, each an array of numbers")),
    }
}

fn matrix_by_rows(item: &Item, rows: &[Item], slot: &Slot) -> Result<Operator, Fault> {
    let Slot { what, scope, .. } = *slot;
    let cols = rows.first().and_then(Item::as_array).map_or(0, <[Item]>::len);
    scope.limits.take_entries(what, &item.place, rows.len() as f64 * cols as f64)?;
    let mut array = Array::with_capacity(rows.len() * cols);
    for (i, row) in rows.iter().enumerate() {
        let Some(entries) = row.as_array() else {
            let expected = "a row, which is an array of numbers";
            return Err(scope.wrong_type(row, &format!("{what}[{i}]"), expected));
        };
        if entries.len() != cols {
            let (what, found) = (what.to_owned(), entries.len());
            return Err(scope.fault(row, ErrorKind::Ragged { what, row: i, found, expected: cols }));
        }
        for (j, entry) in entries.iter().enumerate() {
            array.push(entry, &format!("{what}[{i}][{j}]"), slot)?;
        }
    }
    array.operator(rows.len(), cols, slot)
}

/// `{ diagonal = […] }`
fn matrix_by_diagonal(item: &Item, diagonal: &Item, slot: &Slot) -> Result<Operator, Fault> {
    let diagonal = vector_array(diagonal, slot)?;
    let n = diagonal.values.len();
    slot.scope.limits.take_entries(slot.what, &item.place, n as f64 * n as f64)?;
    let mut array = Array { values: vec![0.0; n * n], formulas: diagonal.formulas };
    for (i, value) in diagonal.values.into_iter().enumerate() {
        array.values[i * n + i] = value;
    }
    for formula in &mut array.formulas {
        formula.position *= n + 1;
    }
    array.operator(n, n, slot)
}
