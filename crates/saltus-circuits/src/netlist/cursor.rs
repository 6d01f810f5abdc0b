//! A line, read word by word.

use super::error::{NetlistError, Problem, found};
use super::expression::{self, Expr, Node, is_plain_character};
use super::lines::{At, Lines};
use super::number;

/// A word of a netlist, as it was written.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) at: At,
}

impl Word {
    /// In lower case, as names are compared.
    pub(crate) fn key(&self) -> String {
        self.text.to_lowercase()
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        self.text.eq_ignore_ascii_case(text)
    }
}

/// A place in a line, and what can be read from there. Commas count as blanks.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    pub(crate) lines: &'a Lines,
    line: usize,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At the beginning of a line.
    pub(crate) fn new(lines: &'a Lines, line: usize) -> Self {
        Cursor { lines, line, at: 0 }
    }

    fn text(&self) -> &'a str {
        self.lines.text(self.line)
    }

    /// What is left.
    pub(crate) fn rest(&self) -> &'a str {
        &self.text()[self.at..]
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        let trimmed =
            rest.trim_start_matches(|c: char| c.is_whitespace() || c.is_control() || c == ',');
        self.at += rest.len() - trimmed.len();
    }

    /// Here.
    pub(crate) fn here(&self) -> At {
        At { line: self.line as u32, offset: self.at as u32 }
    }

    /// At the next thing to read.
    pub(crate) fn next_at(&mut self) -> At {
        self.blanks();
        self.here()
    }

    /// Whether nothing is left.
    pub(crate) fn is_end(&mut self) -> bool {
        self.blanks();
        self.rest().is_empty()
    }

    /// Steps over a sign, if it is next.
    pub(crate) fn take(&mut self, sign: char) -> bool {
        self.blanks();
        let is_next = self.rest().starts_with(sign);
        self.at += if is_next { sign.len_utf8() } else { 0 };
        is_next
    }

    /// The next word, without stepping over it.
    pub(crate) fn peek(&mut self) -> Option<&'a str> {
        self.blanks();
        let rest = self.rest();
        let length = rest.find(|c| !is_plain_character(c)).unwrap_or(rest.len());
        (length > 0).then(|| &rest[..length])
    }

    /// Whether the next word is this.
    pub(crate) fn is_next(&mut self, word: &str) -> bool {
        self.peek().is_some_and(|next| next.eq_ignore_ascii_case(word))
    }

    /// Steps over a word, if it is next.
    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        let is_next = self.is_next(word);
        if is_next {
            self.at += word.len();
        }
        is_next
    }

    /// Whether the next word has `=` behind it.
    pub(crate) fn is_key(&mut self) -> bool {
        let Some(word) = self.peek() else { return false };
        let after = self.rest()[word.len()..].trim_start();
        after.starts_with('=') && !after.starts_with("==")
    }

    /// The next word.
    pub(crate) fn word(&mut self, expected: &str) -> Result<Word, NetlistError> {
        match self.peek() {
            Some(text) => {
                let word = Word { text: text.to_owned(), at: self.here() };
                self.at += text.len();
                Ok(word)
            }
            None => Err(self.expected(expected)),
        }
    }

    /// A word, in quotes or not: the name of a file.
    pub(crate) fn quoted_word(&mut self, expected: &str) -> Result<Word, NetlistError> {
        self.blanks();
        let at = self.here();
        match self.rest().chars().next() {
            Some(quote @ ('"' | '\'')) => {
                let inside = &self.rest()[1..];
                let Some(end) = inside.find(quote) else {
                    return Err(self.not_closed(quote, quote));
                };
                self.at += end + 2;
                Ok(Word { text: inside[..end].to_owned(), at })
            }
            _ => self.word(expected),
        }
    }

    /// A value: a number, a name of a parameter, or an expression in braces or quotes.
    pub(crate) fn value(&mut self, expected: &str) -> Result<Expr, NetlistError> {
        self.blanks();
        let at = self.here();
        if let Some(expr) = self.enclosed()? {
            return Ok(expr);
        }
        let Some(word) = self.peek() else {
            return Err(self.expected(expected));
        };
        // a variable of a script
        let plain = word.strip_prefix("$&").or(word.strip_prefix('$')).unwrap_or(word);
        let is_name = plain.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && plain.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
        let node = match number::parse(word) {
            Some(value) => Node::Number(value),
            None if is_name => Node::Name(plain.to_lowercase()),
            None if word.starts_with(|c: char| c.is_ascii_digit())
                && !word.contains(['*', '/']) =>
            {
                return Err(self.fail(Problem::NotANumber { text: word.to_owned() }));
            }
            None => {
                let expected = format!("{expected} (an expression stands in braces: `{{2*r}}`)");
                return Err(self.expected(&expected));
            }
        };
        self.at += word.len();
        Ok(Expr { node, at })
    }

    /// A value after `=`: as [`Cursor::value`], or an expression up to where no operator goes on.
    pub(crate) fn expression(&mut self) -> Result<Expr, NetlistError> {
        self.blanks();
        if !self.rest().starts_with('{')
            && let Some(expr) = self.enclosed()?
        {
            return Ok(expr);
        }
        let (expr, end) = expression::parse(self.lines, self.line, self.at, self.text().len())?;
        self.at = end;
        Ok(expr)
    }

    /// An expression in braces or quotes, if one is next.
    pub(crate) fn enclosed(&mut self) -> Result<Option<Expr>, NetlistError> {
        self.blanks();
        let rest = self.rest();
        let (open, close) = match rest.chars().next() {
            Some('{') => ('{', '}'),
            Some(quote @ ('\'' | '"')) => (quote, quote),
            _ => return Ok(None),
        };
        let mut depth = 1usize;
        let end = rest[1..].char_indices().find(|&(_, c)| {
            if c == close {
                depth -= 1;
            } else if c == open {
                depth += 1;
            }
            depth == 0
        });
        let Some((end, _)) = end else {
            return Err(self.not_closed(open, close));
        };
        let (start, end) = (self.at + 1, self.at + 1 + end);
        let expr = expression::parse_all(self.lines, self.line, start, end)?;
        self.at = end + 1;
        Ok(Some(expr))
    }

    /// `name = value` as often as it goes, to the end of the line or a closing parenthesis.
    pub(crate) fn pairs(&mut self, expected: &str) -> Result<Vec<(Word, Expr)>, NetlistError> {
        let mut pairs = Vec::new();
        while !self.is_end() && !self.rest().starts_with(')') {
            let key = self.word(expected)?;
            self.equals(&key)?;
            pairs.push((key, self.expression()?));
        }
        Ok(pairs)
    }

    /// The `=` behind a key.
    pub(crate) fn equals(&mut self, key: &Word) -> Result<(), NetlistError> {
        if self.take('=') {
            return Ok(());
        }
        Err(self.expected(&format!("`=` after `{}`", key.text)))
    }

    /// Nothing may be left.
    pub(crate) fn end(&mut self) -> Result<(), NetlistError> {
        if self.is_end() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }

    /// A closing parenthesis.
    pub(crate) fn close(&mut self) -> Result<(), NetlistError> {
        if self.take(')') { Ok(()) } else { Err(self.expected("`)`")) }
    }

    /// Goes on at a place of this line.
    pub(crate) fn seek(&mut self, at: At) {
        self.at = at.offset as usize;
    }

    /// The error that something else should stand here.
    pub(crate) fn expected(&mut self, expected: &str) -> NetlistError {
        self.blanks();
        let next = match self.peek() {
            Some(word) => found(word),
            None => found(self.rest().get(..1).unwrap_or("")),
        };
        self.fail(Problem::Expected { expected: expected.to_owned(), found: next })
    }

    fn not_closed(&self, open: char, close: char) -> NetlistError {
        self.fail(Problem::NotClosed { open, close })
    }

    /// An error here.
    pub(crate) fn fail(&self, problem: Problem) -> NetlistError {
        self.fail_at(self.here(), problem)
    }

    /// An error at a place.
    pub(crate) fn fail_at(&self, at: At, problem: Problem) -> NetlistError {
        NetlistError::new(self.lines.place(at), problem)
    }
}
