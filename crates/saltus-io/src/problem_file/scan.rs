//! Tokens and numbers of a text, with their places.

use super::error::{ErrorKind, Fault};

/// Reads a text from its beginning to its end.
#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize, // byte where the next token, or space before it, begins
}

/// A piece of text without white space.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
}

/// A size with its place, for what is said about it later.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Count {
    pub(crate) value: usize,
    pub(crate) at: usize,
}

/// The white space of C.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r')
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Scanner { text, at }
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.find(|c| !is_space(c)).unwrap_or(rest.len());
    }

    pub(crate) fn is_at_end(&mut self) -> bool {
        self.skip_space();
        self.at == self.text.len()
    }

    /// Where the next token begins.
    pub(crate) fn next_at(&mut self) -> usize {
        self.skip_space();
        self.at
    }

    /// An error at the place that was reached.
    pub(crate) fn here(&self, kind: ErrorKind) -> Fault {
        Fault::at(self.at, kind)
    }

    /// The next token, unless the text has ended.
    pub(crate) fn token(&mut self) -> Option<Token<'a>> {
        self.skip_space();
        let rest = &self.text[self.at..];
        let length = rest.find(is_space).unwrap_or(rest.len());
        let token = Token { text: &rest[..length], at: self.at };
        self.at += length;
        (length > 0).then_some(token)
    }

    /// What is left of the current line.
    pub(crate) fn line(&mut self) -> Token<'a> {
        let rest = &self.text[self.at..];
        let length = rest.find('\n').unwrap_or(rest.len());
        let line = &rest[..length];
        let token = Token { text: line.trim_matches(is_space), at: self.at };
        self.at = (self.at + length + 1).min(self.text.len());
        token
    }

    /// The next token is this word.
    pub(crate) fn word(&mut self, word: &str, what: impl Fn() -> String) -> Result<(), Fault> {
        match self.token() {
            Some(token) if token.text == word => Ok(()),
            token => Err(self.unexpected(token, what(), format!("`{word}`"))),
        }
    }

    /// A nonnegative integer.
    pub(crate) fn count(&mut self, what: impl Fn() -> String) -> Result<Count, Fault> {
        const EXPECTED: &str = "a nonnegative integer";
        let token = self.token();
        match token.and_then(|token| Some((token.at, token.text.parse().ok()?))) {
            Some((at, value)) => Ok(Count { value, at }),
            None => Err(self.unexpected(token, what(), EXPECTED.to_owned())),
        }
    }

    /// An integer with a known value.
    pub(crate) fn exactly(&mut self, value: usize, what: impl Fn() -> String) -> Result<(), Fault> {
        let count = self.count(&what)?;
        if count.value == value {
            return Ok(());
        }
        let (what, expected, found) = (what(), value.to_string(), count.value.to_string());
        Err(Fault::at(count.at, ErrorKind::Expected { what, expected, found }))
    }

    /// A number that is not NaN.
    pub(crate) fn real(&mut self, what: impl Fn() -> String) -> Result<f64, Fault> {
        let token = self.token();
        let Some((token, value)) = token.and_then(|token| Some((token, number(token.text)?)))
        else {
            return Err(self.unexpected(token, what(), "a number".to_owned()));
        };
        let found = || clip(token.text);
        if value.is_nan() {
            let kind = ErrorKind::NotANumber { what: what(), found: found() };
            return Err(Fault::at(token.at, kind));
        }
        if value.is_infinite() && token.text.contains(|c: char| c.is_ascii_digit()) {
            let kind = ErrorKind::NumberTooLarge { what: what(), found: found() };
            return Err(Fault::at(token.at, kind));
        }
        Ok(value)
    }

    /// A finite number.
    pub(crate) fn finite(&mut self, what: impl Fn() -> String) -> Result<f64, Fault> {
        self.skip_space();
        let at = self.at;
        let value = self.real(&what)?;
        if value.is_finite() {
            return Ok(value);
        }
        let found = clip(&self.text[at..self.at]);
        Err(Fault::at(at, ErrorKind::NotFinite { what: what(), found }))
    }

    /// A finite number that is not negative.
    pub(crate) fn nonnegative(&mut self, what: impl Fn() -> String) -> Result<f64, Fault> {
        let at = self.next_at();
        let found = self.finite(&what)?;
        if found >= 0.0 {
            return Ok(found);
        }
        Err(Fault::at(at, ErrorKind::Negative { what: what(), found }))
    }

    /// A vector of finite numbers that are not negative, whose length is known to fit the file.
    pub(crate) fn coefficients(&mut self, name: &str, size: usize) -> Result<Vec<f64>, Fault> {
        (0..size).map(|i| self.nonnegative(|| format!("`{name}[{i}]`"))).collect()
    }

    /// A vector of finite numbers, whose length is known to fit the file.
    pub(crate) fn vector(&mut self, name: &str, size: usize) -> Result<Vec<f64>, Fault> {
        (0..size).map(|i| self.finite(|| format!("`{name}[{i}]`"))).collect()
    }

    /// The next number if there is one and it is finite.
    pub(crate) fn any_finite(&mut self) -> Option<f64> {
        number(self.token()?.text).filter(|value| value.is_finite())
    }

    /// Checks that the rest of the text can hold so many numbers, each with a space before it.
    pub(crate) fn check_room(&self, count: Count, what: &str, needed: u128) -> Result<(), Fault> {
        let left = self.text.len() - self.at;
        if needed.saturating_mul(2) <= left as u128 {
            return Ok(());
        }
        let kind = ErrorKind::TooShort { what: what.to_owned(), needed, left };
        Err(Fault::at(count.at, kind))
    }

    /// What stands there is not what should.
    pub(crate) fn unexpected(
        &self,
        token: Option<Token<'_>>,
        what: String,
        expected: String,
    ) -> Fault {
        let (at, found) = match token {
            Some(token) => (token.at, format!("`{}`", clip(token.text))),
            None => (self.text.len(), "the end of the file".to_owned()),
        };
        Fault::at(at, ErrorKind::Expected { what, expected, found })
    }
}

/// A number as C and Fortran write it: `1`, `1.`, `-3e-7`, `1d-3`, `inf`, `nan`.
fn number(text: &str) -> Option<f64> {
    if let Ok(value) = text.parse() {
        return Some(value);
    }
    let unsigned = text.trim_start_matches(['+', '-']);
    if unsigned.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("nan")) {
        return Some(f64::NAN); // `nan(0x8000)`
    }
    let is_fortran = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if !is_fortran || !text.contains(['d', 'D']) {
        return None;
    }
    text.replacen(['d', 'D'], "e", 1).parse().ok()
}

/// A piece of text that fits a message.
pub(crate) fn clip(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_c_and_fortran() {
        for (text, expected) in [
            ("1", Some(1.0)),
            ("+1.", Some(1.0)),
            (".5", Some(0.5)),
            ("-3e-7", Some(-3e-7)),
            ("1d-3", Some(1e-3)),
            ("-2.5D+01", Some(-25.0)),
            ("inf", Some(f64::INFINITY)),
            ("-INF", Some(f64::NEG_INFINITY)),
            ("-Infinity", Some(f64::NEG_INFINITY)),
            ("d", None),
            ("1dd3", None),
            ("1e5e", None),
            ("id3", None),
            ("--1", None),
            ("", None),
            ("0x10", None),
            ("1,5", None),
            ("λ", None),
        ] {
            assert_eq!(number(text), expected, "{text}");
        }
        for text in ["nan", "-NaN", "nan(0x8)", "NAN"] {
            assert!(number(text).is_some_and(f64::is_nan), "{text}");
        }
    }

    #[test]
    fn lines_and_tokens() {
        let mut scanner = Scanner::new("\u{feff}1 \r\n a banner \r\n\t2\x0b3");
        assert_eq!(scanner.token().map(|token| token.text), Some("1"));
        assert_eq!(scanner.line().text, "");
        assert_eq!(scanner.line().text, "a banner");
        assert_eq!(scanner.token().map(|token| (token.text, token.at)), Some(("2", 20)));
        assert_eq!(scanner.token().map(|token| token.text), Some("3"));
        assert!(scanner.token().is_none() && scanner.is_at_end());
        assert_eq!(scanner.line().text, "");
    }
}
