//! What can be wrong with a formula, and where.

use std::borrow::Cow;
use std::ops::Range;

use thiserror::Error;

use crate::{MAX_DEPTH, MAX_LENGTH};

/// Characters of a user's text that a message repeats.
const QUOTED: usize = 40;

/// A text that is no formula. Every kind has the `span`, in bytes of the text, of what is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ExprError {
    /// Something else should stand there.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What could stand there, in words.
        expected: &'static str,
        /// What does, in words.
        found: String,
        /// Where.
        span: Range<usize>,
    },
    /// A character that no formula has.
    #[error("unexpected character `{}`{}", printable(*.found), character_hint(*.instead))]
    Character {
        /// The character.
        found: char,
        /// What to write for it, where that is known.
        instead: Option<&'static str>,
        /// Where.
        span: Range<usize>,
    },
    /// A text that begins like a number and is none.
    #[error("`{}` is not a number such as 1, 1.5, .5 or 1e-3; a product needs `*`", clip(.text))]
    NotANumber {
        /// The text.
        text: String,
        /// Where.
        span: Range<usize>,
    },
    /// A number beyond the range of `f64`.
    #[error("the number `{}` is too large; infinity is `inf`", clip(.text))]
    NumberTooLarge {
        /// The number as written.
        text: String,
        /// Where.
        span: Range<usize>,
    },
    /// A name that is neither a variable nor a constant.
    #[error("unknown name `{}`{}", clip(.name), name_hint(.name, .nearest))]
    UnknownName {
        /// The name.
        name: String,
        /// The known name that was probably meant.
        nearest: Option<String>,
        /// Where.
        span: Range<usize>,
    },
    /// A name with arguments that is no function.
    #[error("unknown function `{}`{}", clip(.name), did_you_mean(*.nearest))]
    UnknownFunction {
        /// The name.
        name: String,
        /// The function that was probably meant.
        nearest: Option<&'static str>,
        /// Where the name is.
        span: Range<usize>,
    },
    /// A function without arguments.
    #[error("`{name}` is a function: expected `(` after it, found {found}")]
    FunctionAlone {
        /// The function.
        name: &'static str,
        /// What follows it, in words.
        found: String,
        /// Where the name is.
        span: Range<usize>,
    },
    /// A function with too few or too many arguments.
    #[error("`{function}` takes {expected}, found {found}")]
    Arguments {
        /// The function.
        function: &'static str,
        /// How many it takes, in words.
        expected: &'static str,
        /// How many there are.
        found: usize,
        /// Where the call is.
        span: Range<usize>,
    },
    /// A second comparison on the result of a first.
    #[error("comparisons do not chain: write `a < b and b < c`, not `a < b < c`")]
    Chained {
        /// Where the second comparison sign is.
        span: Range<usize>,
    },
    /// Parentheses, calls, signs, `not` or exponents nested deeper than [`MAX_DEPTH`].
    #[error("nested too deep: expected at most {MAX_DEPTH} levels")]
    TooDeep {
        /// Where the first level too many begins.
        span: Range<usize>,
    },
    /// An abscissa of a `table` that is not a finite constant above the one before it.
    #[error("the abscissae of a `table` must be finite constants in ascending order")]
    Abscissa {
        /// Where the abscissa is.
        span: Range<usize>,
    },
    /// A row of a matrix that is longer or shorter than the first.
    #[error("the rows of a matrix must have the same length: expected {expected}, found {found}")]
    Ragged {
        /// Entries of the first row.
        expected: usize,
        /// Entries of this one.
        found: usize,
        /// Where this row is.
        span: Range<usize>,
    },
    /// An error in one of several texts.
    #[error("{error}")]
    Among {
        /// Which text, from 0.
        text: usize,
        /// What is wrong with it. Not itself of this kind.
        error: Box<ExprError>,
    },
    /// A text longer than [`MAX_LENGTH`].
    #[error("too long: expected at most {MAX_LENGTH} bytes, found {found}")]
    TooLong {
        /// Its length in bytes.
        found: usize,
        /// What is beyond the limit.
        span: Range<usize>,
    },
}

impl ExprError {
    /// Where in the text, in bytes. Empty if something is missing there.
    pub fn span(&self) -> Range<usize> {
        match self {
            ExprError::Expected { span, .. }
            | ExprError::Character { span, .. }
            | ExprError::NotANumber { span, .. }
            | ExprError::NumberTooLarge { span, .. }
            | ExprError::UnknownName { span, .. }
            | ExprError::UnknownFunction { span, .. }
            | ExprError::FunctionAlone { span, .. }
            | ExprError::Arguments { span, .. }
            | ExprError::Chained { span }
            | ExprError::TooDeep { span }
            | ExprError::Abscissa { span }
            | ExprError::Ragged { span, .. }
            | ExprError::TooLong { span, .. } => span.clone(),
            ExprError::Among { error, .. } => error.span(),
        }
    }

    /// Which of several texts is wrong, from 0; 0 if there was only one.
    pub fn text(&self) -> usize {
        match self {
            ExprError::Among { text, .. } => *text,
            _ => 0,
        }
    }

    /// The line of `text` that is wrong, and a line below it with `^` under the place.
    ///
    /// ```text
    /// 2*rr + 1
    ///   ^^
    /// ```
    ///
    /// Of a long line, only what is near the place is shown.
    pub fn caret(&self, text: &str) -> String {
        // the place, kept inside the text in case it is not the one that was parsed
        let span = self.span();
        let start = text.floor_char_boundary(span.start);
        let end = text.floor_char_boundary(span.end).max(start);

        // its first line
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let end = end.min(line_end);

        let before = clip_start(&text[line_start..start]);
        let marked = clip(&text[start..end]);
        let after = clip(text[end..line_end].trim_end());
        let indent: String = (before.chars()).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let carets = "^".repeat(marked.chars().count().max(1));
        format!("{before}{marked}{after}\n{indent}{carets}")
    }
}

/// A piece of the text in words.
pub(crate) fn found(text: &str) -> String {
    if text.is_empty() { "the end".to_owned() } else { format!("`{}`", clip(text)) }
}

/// The beginning of a text.
fn clip(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(QUOTED) {
        Some((at, _)) => format!("{}…", &text[..at]).into(),
        None => text.into(),
    }
}

/// The end of a text.
fn clip_start(text: &str) -> Cow<'_, str> {
    match text.char_indices().rev().nth(QUOTED) {
        Some((at, c)) => format!("…{}", &text[at + c.len_utf8()..]).into(),
        None => text.into(),
    }
}

fn did_you_mean(name: Option<&str>) -> String {
    name.map_or(String::new(), |name| format!("; did you mean `{}`?", clip(name)))
}

/// `e` is asked for as Euler's number often enough to have an answer.
fn name_hint(name: &str, nearest: &Option<String>) -> String {
    match nearest {
        None if name == "e" => "; Euler's number is `exp(1)`".to_owned(),
        nearest => did_you_mean(nearest.as_deref()),
    }
}

/// Itself, or an escape if it would not show.
fn printable(c: char) -> String {
    match c {
        '\'' | '"' | '\\' => c.to_string(),
        _ => c.escape_debug().to_string(),
    }
}

fn character_hint(text: Option<&str>) -> String {
    text.map_or(String::new(), |text| format!("; write `{text}`"))
}
