//! The parameters: numbers, or formulas of other parameters in any order.

use super::error::{ErrorKind, Fault};
use super::scope::{Limits, Scope, is_moving};
use super::tree::{Entry, Item, Value};
use saltus_expr::{is_reserved, names};
use std::collections::{HashMap, VecDeque};

/// The values of all parameters.
pub(crate) fn evaluate(item: Option<&Item>) -> Result<HashMap<String, f64>, Fault> {
    let Some(item) = item else {
        return Ok(HashMap::new());
    };
    let limits = Limits::default();
    let none = HashMap::new();
    let empty = Scope { parameters: &none, variable: None, limits: &limits };
    let Some(table) = item.as_table() else {
        return Err(empty.wrong_type(item, "parameters", "a table [parameters]"));
    };
    for entry in &table.entries {
        check_name(&entry.key, "parameter").map_err(|kind| Fault::new(entry.place(), kind))?;
    }

    // a parameter is computed once all those it refers to are
    let index: HashMap<&str, usize> =
        (table.entries.iter().enumerate()).map(|(i, entry)| (entry.key.as_str(), i)).collect();
    let mut needs: Vec<Vec<usize>> = Vec::with_capacity(index.len());
    for entry in &table.entries {
        needs.push(references(entry, &index)?);
    }
    let mut waiting: Vec<usize> = needs.iter().map(Vec::len).collect();
    let mut needed_by = vec![Vec::new(); needs.len()];
    for (i, needs) in needs.iter().enumerate() {
        needs.iter().for_each(|&needed| needed_by[needed].push(i));
    }

    let mut values = HashMap::with_capacity(needs.len());
    let mut ready: VecDeque<usize> = (0..needs.len()).filter(|&i| waiting[i] == 0).collect();
    while let Some(i) = ready.pop_front() {
        let Entry { key, item, .. } = &table.entries[i];
        let scope = Scope { parameters: &values, variable: None, limits: &limits };
        // a name that is not ready is unknown: say so with all names in view
        let value = scope.constant(item, key).map_err(|fault| match unknown(item, &index) {
            true => {
                let all = index.keys().map(|&name| (name.to_owned(), 0.0)).collect();
                let all = Scope { parameters: &all, variable: None, limits: &limits };
                all.constant(item, key).err().unwrap_or(fault)
            }
            false => fault,
        })?;
        values.insert(key.clone(), value);
        for &next in &needed_by[i] {
            waiting[next] -= 1;
            if waiting[next] == 0 {
                ready.push_back(next);
            }
        }
    }
    match waiting.iter().position(|&waiting| waiting > 0) {
        None => Ok(values),
        Some(start) => Err(circle(start, &table.entries, &needs, &waiting)),
    }
}

/// A name that a formula can use, and that is not one of ours.
pub(crate) fn check_name(name: &str, what: &'static str) -> Result<(), ErrorKind> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let why = if name.is_empty() || !name.chars().all(is_word) {
        "formulas know names of letters, digits and `_`"
    } else if name.starts_with(|c: char| c.is_ascii_digit()) {
        "a name begins with a letter or `_`"
    } else if is_reserved(name) {
        "it is a function or a keyword of formulas"
    } else if is_moving(name) {
        "formulas use `t` for the time, `row` and `col` for the place in an array"
    } else {
        return Ok(());
    };
    Err(ErrorKind::Unusable { what, name: name.to_owned(), why })
}

/// The parameters that a parameter refers to.
fn references(entry: &Entry, index: &HashMap<&str, usize>) -> Result<Vec<usize>, Fault> {
    let Value::Text(text) = &entry.item.value else {
        return Ok(Vec::new());
    };
    let used = names(text).map_err(|error| {
        let span = error.span();
        Fault::new(&entry.item.place, error).inside(span)
    })?;
    Ok(used.iter().filter_map(|name| index.get(name.as_str()).copied()).collect())
}

/// Whether a formula uses a name that is no parameter.
fn unknown(item: &Item, index: &HashMap<&str, usize>) -> bool {
    let used = item.as_text().and_then(|text| names(text).ok()).unwrap_or_default();
    used.iter().any(|name| !index.contains_key(name.as_str()))
}

/// The circle that a parameter which never became ready leads into.
fn circle(start: usize, entries: &[Entry], needs: &[Vec<usize>], waiting: &[usize]) -> Fault {
    let mut seen = vec![false; entries.len()];
    let mut path = Vec::new();
    let mut at = start;
    while !seen[at] {
        seen[at] = true;
        path.push(at);
        // it waits, so one of those it needs waits too
        at = needs[at].iter().copied().find(|&needed| waiting[needed] > 0).unwrap_or(at);
    }
    let first = path.iter().position(|&i| i == at).unwrap_or(0);
    let mut names: Vec<String> = path[first..].iter().map(|&i| entries[i].key.clone()).collect();
    names.push(entries[at].key.clone());
    Fault::new(entries[at].place(), ErrorKind::Cycle(names))
}
