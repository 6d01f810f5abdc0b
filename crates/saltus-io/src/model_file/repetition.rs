//! Repeated tables, `for = "i in 0..N"`, and names with formulas in braces, `bead{i+1}`.

use super::error::{ErrorKind, Fault};
use super::parameters::check_name;
use super::scope::Scope;
use super::tree::{Item, Table};
use std::ops::Range;

/// The largest whole number up to which all are `f64`.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// Calls `pass` once, or once for every value of the loop variable of a table with `for`.
pub(crate) fn for_each(
    table: &Table,
    what: &'static str,
    scope: &Scope,
    mut pass: impl FnMut(&Scope) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let Some(item) = table.get("for") else {
        return pass(scope);
    };
    let Some(text) = item.as_text() else {
        return Err(scope.wrong_type(item, "for", "a string such as \"i in 0..N\""));
    };
    let (variable, first, end) = split(text)
        .ok_or_else(|| scope.fault(item, ErrorKind::Repetition { found: text.to_owned() }))?;
    let name = &text[variable.clone()];
    check_name(name, "loop variable")
        .map_err(|kind| Fault::new(&item.place, kind).inside(variable.clone()))?;
    if scope.parameters.contains_key(name) {
        let (what, name) = ("loop variable", name.to_owned());
        let kind = ErrorKind::Unusable { what, name, why: "it is a parameter" };
        return Err(Fault::new(&item.place, kind).inside(variable));
    }
    check_template(table, what, name)?;

    let (first, end) = (whole(item, text, first, scope)?, whole(item, text, end, scope)?);
    scope.limits.take_repetitions(&item.place, (end - first).max(0.0))?;
    let mut value = first;
    while value < end {
        let scope = scope.with_variable(name, value);
        pass(&scope).map_err(|fault| fault.repeated(scope.pass()))?;
        value += 1.0;
    }
    Ok(())
}

/// `i in a..b` as the spans of `i`, `a` and `b`.
fn split(text: &str) -> Option<(Range<usize>, Range<usize>, Range<usize>)> {
    let start = text.len() - text.trim_start().len();
    let variable = start + text[start..].find(char::is_whitespace)?;
    let word = variable + text[variable..].find(|c: char| !c.is_whitespace())?;
    let rest = text[word..].strip_prefix("in").filter(|rest| rest.starts_with(char::is_whitespace));
    let rest = text.len() - rest?.len();
    let dots = rest + text[rest..].find("..")?;
    let is_blank = |span: &Range<usize>| text[span.clone()].trim().is_empty();
    let spans = (start..variable, rest..dots, dots + 2..text.len());
    (!is_blank(&spans.1) && !is_blank(&spans.2)).then_some(spans)
}

/// A repeated table has the loop variable in its name.
fn check_template(table: &Table, what: &'static str, variable: &str) -> Result<(), Fault> {
    match table.get("name").map(|item| (item, item.as_text())) {
        Some((item, Some(name))) if !name.contains('{') => {
            let (name, variable) = (name.to_owned(), variable.to_owned());
            Err(Fault::new(&item.place, ErrorKind::SameName { what, name, variable }))
        }
        _ => Ok(()),
    }
}

/// A piece of a string as a whole number.
fn whole(item: &Item, text: &str, span: Range<usize>, scope: &Scope) -> Result<f64, Fault> {
    let what = text[span.clone()].trim();
    let value = scope.compile(text, span.clone(), &item.place, what, false)?.value();
    if value.fract() == 0.0 && value.abs() <= LARGEST {
        return Ok(value);
    }
    let (what, allowed) = (what.to_owned(), "a whole number".to_owned());
    Err(scope.fault(item, ErrorKind::Range { what, value, allowed }).inside(span))
}

/// A name in which formulas in braces are replaced by their values.
pub(crate) fn expand(item: &Item, what: &str, scope: &Scope) -> Result<String, Fault> {
    let Some(text) = item.as_text() else {
        return Err(scope.wrong_type(item, what, "a string"));
    };
    let braces = || scope.fault(item, ErrorKind::Braces { text: text.to_owned() });
    let mut name = String::new();
    let mut at = 0;
    while let Some(open) = text[at..].find(['{', '}']).map(|open| at + open) {
        let close = open + text[open..].find('}').ok_or_else(braces)?;
        if text[open + 1..close.max(open + 1)].contains('{') || close == open {
            return Err(braces());
        }
        name.push_str(&text[at..open]);
        name.push_str(&format!("{}", whole(item, text, open + 1..close, scope)? as i64));
        at = close + 1;
    }
    name.push_str(&text[at..]);
    Ok(name)
}
