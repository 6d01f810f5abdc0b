//! Indices by formulas, `q[i + 1]`, and the place of an entry, `row` and `col`, as numbers.
//!
//! ```text
//! k*(q[row] - q[min(row + 1, n - 1)])      the entry in row 3, with n = 10:      k*(q[3] - q[4])
//! ```

use super::error::{ErrorKind, Fault};
use super::scope::{Moving, Scope};
use super::source::Place;
use saltus_expr::{is_reserved, names};
use std::ops::Range;

/// A formula after its expansion, which still knows where its pieces come from.
#[derive(Debug)]
pub(crate) struct Expanded {
    pub(crate) text: String,
    pieces: Vec<Piece>, // ascending
}

/// A piece that was replaced.
#[derive(Debug)]
struct Piece {
    made: Range<usize>,
    from: Range<usize>,
}

/// What is expanded: a text, its place, and what it is called in messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) text: &'a str,
    pub(crate) place: &'a Place,
    pub(crate) what: &'a str,
    pub(crate) entry: Option<(usize, usize)>, // row and column
}

impl Expanded {
    /// The span of the text before expansion.
    pub(crate) fn original(&self, span: Range<usize>) -> Range<usize> {
        let back = |at: usize, is_end: bool| {
            let mut shift = 0;
            for Piece { made, from } in &self.pieces {
                if at < made.start || (is_end && at == made.start) {
                    break;
                }
                if at < made.end || (is_end && at == made.end) {
                    return if is_end { from.end } else { from.start };
                }
                shift = from.end as isize - made.end as isize;
            }
            at.saturating_add_signed(shift)
        };
        let start = back(span.start, false);
        start..back(span.end, true).max(start)
    }

    /// Whether it uses the time or a state.
    pub(crate) fn moves(&self, source: Source, scope: &Scope) -> Result<bool, Fault> {
        let used = names(&self.text).map_err(|error| {
            let span = self.original(error.span());
            Fault::new(source.place, error).inside(span).repeated(scope.pass())
        })?;
        Ok(used.iter().any(|name| name == "t" || name.ends_with(']')))
    }
}

/// Replaces `row`, `col` and the formulas in indices by their values.
pub(crate) fn expand(source: Source, scope: &Scope) -> Result<Expanded, Fault> {
    let Source { text, entry, .. } = source;
    let mut expanded = Expanded { text: String::with_capacity(text.len()), pieces: Vec::new() };
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !is_word(c) {
            expanded.text.push(c);
            at += c.len_utf8();
            continue;
        }
        let end = text[at..].find(|c| !is_word(c) && c != '.').map_or(text.len(), |end| at + end);
        let word = &text[at..end];
        match (word, entry) {
            ("row", Some((row, _))) => expanded.replace(at..end, row),
            ("col", Some((_, col))) => expanded.replace(at..end, col),
            _ => expanded.text.push_str(word),
        }
        at = end;
        if c.is_ascii_digit() || is_reserved(word) {
            continue;
        }
        if let Some(index) = index_after(text, at) {
            let inside = text[index.clone()].trim();
            if !inside.is_empty() && !inside.chars().all(|c| c.is_ascii_digit()) {
                expanded.text.push_str(&text[at..index.start]);
                let value = index_value(source, index.clone(), scope)?;
                expanded.replace(index.clone(), value);
                at = index.end;
            }
        }
    }
    Ok(expanded)
}

impl Expanded {
    fn replace(&mut self, from: Range<usize>, value: usize) {
        let start = self.text.len();
        self.text.push_str(&value.to_string());
        self.pieces.push(Piece { made: start..self.text.len(), from });
    }
}

/// What stands between the brackets that follow.
fn index_after(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text[at..].trim_start().strip_prefix('[')?;
    let start = text.len() - rest.len();
    let mut depth = 1;
    for (i, c) in rest.char_indices() {
        depth += i32::from(c == '[') - i32::from(c == ']');
        if depth == 0 {
            return Some(start..start + i);
        }
    }
    None
}

fn index_value(source: Source, span: Range<usize>, scope: &Scope) -> Result<usize, Fault> {
    let Source { text, place, what, entry } = source;
    let mut formula = scope.compile(text, span.clone(), place, what, entry.is_some())?;
    if let Some((row, col)) = entry {
        formula.set(Moving::Row, row as f64);
        formula.set(Moving::Col, col as f64);
    }
    let value = formula.value();
    if value >= 0.0 && value.fract() == 0.0 && value < 2f64.powi(32) {
        return Ok(value as usize);
    }
    let (what, allowed) =
        (text[span.clone()].trim().to_owned(), "a whole number that is not negative");
    let kind = ErrorKind::Range { what, value, allowed: allowed.to_owned() };
    Err(Fault::new(place, kind).inside(span).repeated(scope.pass()))
}
