//! TOML text to a tree in which every key and value knows its place.

use super::error::{ErrorKind, Fault};
use super::source::Place;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Parts of a dotted key. The parser bounds the nesting of brackets, not that of dotted keys.
const MAX_KEY_PARTS: usize = 8;

/// A value and its place.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Text(String),
    Number(f64),
    Boolean(bool),
    Date,
    Array(Vec<Item>),
    Table(Table),
}

/// Keys with their values, in the order of the file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_place: Place,
    pub(crate) item: Item,
}

impl Item {
    /// What it is, in words.
    pub(crate) fn in_words(&self) -> &'static str {
        match &self.value {
            Value::Text(_) => "a string",
            Value::Number(_) => "a number",
            Value::Boolean(_) => "a boolean",
            Value::Date => "a date",
            Value::Array(_) => "an array",
            Value::Table(_) => "a table",
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_array(&self) -> Option<&[Item]> {
        match &self.value {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn as_table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The place of the first override in it.
    pub(crate) fn overridden(&self) -> Option<&Place> {
        if self.place.is_override() {
            return Some(&self.place);
        }
        match &self.value {
            Value::Array(items) => items.iter().find_map(Item::overridden),
            Value::Table(table) => table.entries.iter().find_map(|entry| entry.item.overridden()),
            _ => None,
        }
    }
}

impl Entry {
    /// Where to point when the entry as a whole is wrong: at its key, or at the override in it.
    pub(crate) fn place(&self) -> &Place {
        self.item.overridden().unwrap_or(&self.key_place)
    }
}

impl Table {
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Item> {
        self.entry(key).map(|entry| &entry.item)
    }

    pub(crate) fn position(&self, key: &str) -> Option<usize> {
        self.entries.iter().position(|entry| entry.key == key)
    }
}

/// The tree of a model file.
pub(crate) fn document(text: &str) -> Result<Table, Fault> {
    let reader = Reader { source: 0, offset: 0 };
    if let Some(span) = deep_key(text) {
        return Err(reader.fault(span, ErrorKind::DeepKey { limit: MAX_KEY_PARTS }));
    }
    let table = DeTable::parse(text).map_err(|error| reader.syntax(&error, text))?;
    reader.table(table.into_inner())
}

/// One value, which stands at `offset` of a source.
pub(crate) fn value(text: &str, source: usize, offset: usize) -> Result<Item, Fault> {
    let reader = Reader { source, offset };
    if let Some(span) = deep_key(text) {
        return Err(reader.fault(span, ErrorKind::DeepKey { limit: MAX_KEY_PARTS }));
    }
    let value = DeValue::parse(text).map_err(|error| reader.syntax(&error, text))?;
    reader.item(value)
}

struct Reader {
    source: usize,
    offset: usize,
}

impl Reader {
    fn place(&self, span: Range<usize>) -> Place {
        Place { source: self.source, span: self.offset + span.start..self.offset + span.end }
    }

    fn fault(&self, span: Range<usize>, kind: ErrorKind) -> Fault {
        Fault::new(&self.place(span), kind)
    }

    fn syntax(&self, error: &toml::de::Error, text: &str) -> Fault {
        let end = text.trim_end().len();
        let span = error.span().unwrap_or(end..end);
        self.fault(span, ErrorKind::Syntax { reason: error.message().to_owned() })
    }

    fn table(&self, table: DeTable<'_>) -> Result<Table, Fault> {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            let key_place = self.place(key.span());
            let item = self.item(value)?;
            entries.push(Entry { key: key.into_inner().into_owned(), key_place, item });
        }
        entries.sort_by_key(|entry| entry.key_place.span.start);
        Ok(Table { entries })
    }

    /// Recursion is bounded by the parser's limit on brackets and ours on dotted keys.
    fn item(&self, value: Spanned<DeValue<'_>>) -> Result<Item, Fault> {
        let place = self.place(value.span());
        let value = match value.into_inner() {
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Integer(integer) => {
                let value = integer_value(integer.as_str(), integer.radix());
                Value::Number(value.ok_or_else(|| too_large(&place, integer.as_str()))?)
            }
            DeValue::Float(float) => {
                let value = float_value(float.as_str());
                Value::Number(value.ok_or_else(|| too_large(&place, float.as_str()))?)
            }
            DeValue::Boolean(value) => Value::Boolean(value),
            DeValue::Datetime(_) => Value::Date,
            DeValue::Array(items) => {
                let items = items.into_iter().map(|item| self.item(item));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            DeValue::Table(table) => Value::Table(self.table(table)?),
        };
        Ok(Item { place, value })
    }
}

fn too_large(place: &Place, text: &str) -> Fault {
    Fault::new(place, ErrorKind::NumberTooLarge { text: text.to_owned() })
}

/// The `f64` nearest to an integer.
fn integer_value(text: &str, radix: u32) -> Option<f64> {
    match radix {
        10 => float_value(text),
        _ => u128::from_str_radix(text, radix).ok().map(|value| value as f64),
    }
}

/// The `f64` nearest to a decimal number, unless the number is beyond all of them.
fn float_value(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    (value.is_finite() || text.contains("inf") || text.contains("nan")).then_some(value)
}

/// Finds a dotted key with too many parts: each part is a table in a table, which the parser builds and drops by
/// recursion without a limit of its own.
fn deep_key(text: &str) -> Option<Range<usize>> {
    let mut dots = 0;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let next = match c {
            '"' | '\'' => string_end(text, at, c), // a part of a key, or a value
            '#' => text[at..].find('\n').map_or(text.len(), |length| at + length),
            _ => at + c.len_utf8(),
        };
        match c {
            '.' => dots += 1,
            '=' | ',' | '[' | ']' | '{' | '}' | '\n' => dots = 0,
            _ => {}
        }
        if dots == MAX_KEY_PARTS {
            return Some(at..next);
        }
        at = next;
    }
    None
}

/// Where the string that starts at `at` ends. One that is not closed ends with its line, or with the text.
fn string_end(text: &str, at: usize, quote: char) -> usize {
    let rest = &text[at..];
    let triple = if quote == '"' { "\"\"\"" } else { "'''" };
    let (open, is_multiline) = if rest.starts_with(triple) { (3, true) } else { (1, false) };
    let mut position = open;
    while let Some(c) = rest[position..].chars().next() {
        if c == '\\' && quote == '"' {
            position += 1;
            match rest[position..].chars().next() {
                Some('\n') if !is_multiline => return at + position,
                Some(escaped) => position += escaped.len_utf8(),
                None => break,
            }
        } else if is_multiline && rest[position..].starts_with(triple) {
            position += 3;
            // up to two quotes may stand before the closing three
            position += rest[position..].chars().take(2).take_while(|&c| c == quote).count();
            return at + position;
        } else if !is_multiline && (c == quote || c == '\n') {
            return at + position + usize::from(c == quote);
        } else {
            position += c.len_utf8();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_keys() {
        assert!(deep_key("a.b.c.d = 1.5\n").is_none());
        assert!(deep_key("# a.b.c.d.e.f.g.h.i.j.k\n").is_none());
        assert!(deep_key("a = \"1.2.3.4.5.6.7.8.9.10\"").is_none());
        assert!(deep_key("a = '''\n\" 1.2.3.4.5.6.7.8.9.10'''").is_none());
        assert!(deep_key("a = [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]").is_none());
        assert!(deep_key("a.b.c.d.e.f.g.h.i = 1").is_some());
        assert!(deep_key("\"=\" . \"=\".\"=\".\"=\".\"=\".'='.'='.'='.'=' = 1").is_some());
        assert!(deep_key("a = [\"\"\" \" \"\"\"\", {a.b.c.d.e.f.g.h.i = 1}]").is_some());
    }

    #[test]
    fn numbers() {
        assert_eq!(integer_value("9007199254740993", 10), Some(9007199254740992.0));
        assert_eq!(
            integer_value("123456789012345678901234567890", 10),
            Some(1.2345678901234568e29)
        );
        assert_eq!(integer_value("ff", 16), Some(255.0));
        assert_eq!(float_value("0.1"), Some(0.1));
        assert_eq!(float_value("1e999"), None);
        assert_eq!(float_value("-inf"), Some(f64::NEG_INFINITY));
    }
}
