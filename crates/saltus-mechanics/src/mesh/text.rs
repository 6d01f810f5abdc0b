//! Words of a text, each with its line.

use super::Fault;
use saltus_model::rotation::Vector;
use std::str::FromStr;

/// The text of a file.
pub(super) fn text(bytes: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        Fault::byte(at, format!("the byte {:#04x} is no text", bytes[at]))
    })
}

/// Words one after the other.
#[derive(Debug, Clone)]
pub(super) struct Words<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Words<'a> {
    /// Of a text whose first line has this number.
    pub fn new(text: &'a str, line: usize) -> Words<'a> {
        Words { rest: text, line }
    }

    /// The line of the next word.
    pub fn line(&self) -> usize {
        let blank = self.rest.len() - self.rest.trim_start().len();
        self.line + self.rest[..blank].matches('\n').count()
    }

    /// The next word, if there is one.
    pub fn next(&mut self) -> Option<&'a str> {
        self.line = self.line();
        let rest = self.rest.trim_start();
        if rest.is_empty() {
            self.rest = rest;
            return None;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        Some(word)
    }

    /// The next word without taking it.
    pub fn peek(&self) -> Option<&'a str> {
        self.clone().next()
    }

    /// The rest of the line.
    pub fn rest_of_line(&mut self) -> &'a str {
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.line += usize::from(line.len() < self.rest.len());
        self.rest = rest;
        line
    }

    /// The next word, which has to be there.
    pub fn word(&mut self, expected: &str) -> Result<&'a str, Fault> {
        let line = self.line();
        self.next().ok_or_else(|| Fault::line(line, format!("the file ends; expected {expected}")))
    }

    /// The next word, which has to be this one, in capitals or not.
    pub fn keyword(&mut self, expected: &str) -> Result<(), Fault> {
        let line = self.line();
        let word = self.word(&format!("`{expected}`"))?;
        if word.eq_ignore_ascii_case(expected) {
            Ok(())
        } else {
            Err(Fault::line(line, format!("found `{word}`, expected `{expected}`")))
        }
    }

    /// A number.
    pub fn number<T: FromStr>(&mut self, what: &str) -> Result<T, Fault> {
        let line = self.line();
        let word = self.word(what)?;
        word.parse().map_err(|_| Fault::line(line, format!("found `{word}`, expected {what}")))
    }

    /// A finite number.
    pub fn finite(&mut self, what: &str) -> Result<f64, Fault> {
        let line = self.line();
        let value: f64 = self.number(what)?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(Fault::line(line, format!("{what} is {value}, expected a finite number")))
        }
    }

    /// Three finite numbers.
    pub fn vector(&mut self) -> Result<Vector, Fault> {
        Ok([
            self.finite("a coordinate")?,
            self.finite("a coordinate")?,
            self.finite("a coordinate")?,
        ])
    }

    /// A position among `count` points.
    pub fn index(&mut self, count: usize) -> Result<u32, Fault> {
        let line = self.line();
        let index: u64 = self.number("the position of a point")?;
        match u32::try_from(index) {
            Ok(index) if (index as usize) < count => Ok(index),
            _ => Err(Fault::line(
                line,
                format!("point {index} is named, but there are {count} points, counted from 0"),
            )),
        }
    }
}
