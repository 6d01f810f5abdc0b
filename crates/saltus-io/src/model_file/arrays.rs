//! Vectors and matrices: written out, by a formula of the position, or by a diagonal.
//!
//! ```toml
//! x0 = [1, "2*r"]                                                 # written out
//! x0 = { size = "n", entry = "row/(n-1)" }                        # by a formula
//! M = { rows = "n", cols = "n", entry = "if(row == col, 1, 0)" }
//! M = { diagonal = [1, 2, 3] }
//! M = { identity = "n" }
//! ```

use super::error::{ErrorKind, Fault};
use super::fields::Fields;
use super::scope::{Compiled, Moving, Scope};
use super::tree::{Item, Value};
use super::vocabulary::SectionId;
use saltus_linalg::Matrix;
use saltus_model::Operator;

/// An array in the making: numbers, and the formulas that replace some of them at every `t`.
struct Array {
    values: Vec<f64>,
    moving: Vec<(usize, Compiled)>,
}

impl Array {
    fn with_capacity(len: usize) -> Array {
        Array { values: Vec::with_capacity(len), moving: Vec::new() }
    }

    /// Appends an entry: a number, or a formula that may use `t` if `time`.
    fn push(&mut self, item: &Item, what: &str, time: bool, scope: &Scope) -> Result<(), Fault> {
        if let Value::Text(text) = &item.value {
            let compiled = scope.compile(text, 0..text.len(), &item.place, false)?;
            if compiled.moves_with(Moving::Time) && time {
                self.moving.push((self.values.len(), compiled));
                self.values.push(0.0);
                return Ok(());
            }
        }
        self.values.push(scope.number(item, what)?);
        Ok(())
    }

    /// Fills `out` with the entries at time `t`.
    fn fill(&self, t: f64, out: &mut [f64]) {
        out.copy_from_slice(&self.values);
        for (position, formula) in &self.moving {
            out[*position] = formula.at([(Moving::Time, t)]);
        }
    }
}

/// A vector; its entries may use `t` if `time`.
pub(crate) fn vector(
    item: &Item,
    what: &str,
    time: bool,
    scope: &Scope,
) -> Result<Operator, Fault> {
    let array = vector_array(item, what, time, scope)?;
    Ok(match array.moving.is_empty() {
        true => array.values.into(),
        false => Operator::vector_of_time(array.values.len(), move |t, out| array.fill(t, out)),
    })
}

fn vector_array(item: &Item, what: &str, time: bool, scope: &Scope) -> Result<Array, Fault> {
    match &item.value {
        Value::Array(items) => {
            scope.limits.take_entries(what, &item.place, items.len() as f64)?;
            let mut array = Array::with_capacity(items.len());
            for (i, item) in items.iter().enumerate() {
                array.push(item, &format!("{what}[{i}]"), time, scope)?;
            }
            Ok(array)
        }
        Value::Table(_) => vector_by_formula(item, what, time, scope),
        _ => Err(scope.wrong_type(item, what, "an array of numbers")),
    }
}

/// `{ size = "n", entry = "…" }`
fn vector_by_formula(item: &Item, what: &str, time: bool, scope: &Scope) -> Result<Array, Fault> {
    let fields = Fields::open(item, SectionId::VectorEntries, format!("`{what}`"), scope)?;
    let size = fields.count("size")?;
    scope.limits.take_entries(what, &item.place, size as f64)?;

    let entry_item = fields.need("entry")?;
    let mut entry = entry_formula(&fields, what, time)?;
    let is_moving = entry.moves_with(Moving::Time);
    let mut array = Array::with_capacity(size);
    for row in 0..size {
        entry.set(Moving::Row, row as f64);
        if is_moving {
            array.moving.push((row, entry.clone()));
            array.values.push(0.0);
        } else {
            let at = || format!("{what}[{row}]");
            array.values.push(finite(entry.value(), at, entry_item, scope)?);
        }
    }
    Ok(array)
}

/// The `entry` of a table: a number, or a formula of `row` and `col`, and of `t` if `time`.
fn entry_formula(fields: &Fields, what: &str, time: bool) -> Result<Compiled, Fault> {
    let (item, scope) = (fields.need("entry")?, fields.scope);
    let compiled = match &item.value {
        Value::Text(text) => scope.compile(text, 0..text.len(), &item.place, true)?,
        Value::Number(value) => {
            let text = format!("{value}");
            scope.compile(&text, 0..text.len(), &item.place, true)?
        }
        _ => return Err(scope.wrong_type(item, "entry", "a number or a formula")),
    };
    if compiled.moves_with(Moving::Time) && !time {
        return Err(scope.fault(item, ErrorKind::NotConstant { what: what.to_owned() }));
    }
    Ok(compiled)
}

fn finite(value: f64, what: impl Fn() -> String, item: &Item, scope: &Scope) -> Result<f64, Fault> {
    if value.is_finite() {
        return Ok(value);
    }
    Err(scope.fault(item, ErrorKind::NotFinite { what: what(), value }))
}

/// A matrix; its entries may use `t` if `time`.
pub(crate) fn matrix(
    item: &Item,
    what: &str,
    time: bool,
    scope: &Scope,
) -> Result<Operator, Fault> {
    match &item.value {
        Value::Array(rows) => matrix_by_rows(item, rows, what, time, scope),
        Value::Table(table) if table.get("diagonal").is_some() => {
            matrix_by_diagonal(item, what, time, scope)
        }
        Value::Table(table) if table.get("identity").is_some() => {
            let fields = Fields::open(item, SectionId::MatrixIdentity, format!("`{what}`"), scope)?;
            let size = fields.count("identity")?;
            scope.limits.take_entries(what, &item.place, size as f64 * size as f64)?;
            Ok(Matrix::identity(size).into())
        }
        Value::Table(_) => matrix_by_formula(item, what, time, scope),
        _ => Err(scope.wrong_type(item, what, "an array of rows, each an array of numbers")),
    }
}

fn operator(rows: usize, cols: usize, array: Array) -> Operator {
    match array.moving.is_empty() {
        true => Matrix::from_vec(rows, cols, array.values).into(),
        false => Operator::matrix_of_time(rows, cols, move |t, out| array.fill(t, out)),
    }
}

fn matrix_by_rows(
    item: &Item,
    rows: &[Item],
    what: &str,
    time: bool,
    scope: &Scope,
) -> Result<Operator, Fault> {
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
            array.push(entry, &format!("{what}[{i}][{j}]"), time, scope)?;
        }
    }
    Ok(operator(rows.len(), cols, array))
}

/// `{ diagonal = […] }`
fn matrix_by_diagonal(
    item: &Item,
    what: &str,
    time: bool,
    scope: &Scope,
) -> Result<Operator, Fault> {
    let fields = Fields::open(item, SectionId::MatrixDiagonal, format!("`{what}`"), scope)?;
    let diagonal = vector_array(fields.need("diagonal")?, what, time, scope)?;
    let n = diagonal.values.len();
    scope.limits.take_entries(what, &item.place, n as f64 * n as f64)?;
    let mut array = Array { values: vec![0.0; n * n], moving: diagonal.moving };
    for (i, value) in diagonal.values.into_iter().enumerate() {
        array.values[i * n + i] = value;
    }
    for (position, _) in &mut array.moving {
        *position = *position * n + *position;
    }
    Ok(operator(n, n, array))
}

/// `{ rows = "n", cols = "n", entry = "…" }`
fn matrix_by_formula(
    item: &Item,
    what: &str,
    time: bool,
    scope: &Scope,
) -> Result<Operator, Fault> {
    let fields = Fields::open(item, SectionId::MatrixEntries, format!("`{what}`"), scope)?;
    let (rows, cols) = (fields.count("rows")?, fields.count("cols")?);
    scope.limits.take_entries(what, &item.place, rows as f64 * cols as f64)?;

    let entry_item = fields.need("entry")?;
    let mut entry = entry_formula(&fields, what, time)?;
    if entry.moves_with(Moving::Time) {
        return Ok(Operator::matrix_of_time(rows, cols, move |t, out| {
            for k in 0..out.len() {
                let (row, col) = ((k / cols) as f64, (k % cols) as f64);
                out[k] = entry.at([(Moving::Time, t), (Moving::Row, row), (Moving::Col, col)]);
            }
        }));
    }
    let mut values = Vec::with_capacity(rows * cols);
    for row in 0..rows {
        entry.set(Moving::Row, row as f64);
        for col in 0..cols {
            entry.set(Moving::Col, col as f64);
            let at = || format!("{what}[{row}][{col}]");
            values.push(finite(entry.value(), at, entry_item, scope)?);
        }
    }
    Ok(Matrix::from_vec(rows, cols, values).into())
}
