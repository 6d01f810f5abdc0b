//! Text to tokens: where each begins and ends, and of which kind it is.

use std::ops::Range;

use crate::error::{ExprError, found};

/// A kind of token. The text of a name is its span's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Number(f64),
    /// Plain, of a member, or with an index; see [`Token::name`].
    Name,
    Plus,
    Minus,
    Star,
    Slash,
    Caret,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
    Not,
    Open,
    Close,
    OpenBracket,
    CloseBracket,
    Comma,
    End,
}

/// Signs, those first that begin with another.
const SYMBOLS: &[(&str, Kind)] = &[
    ("**", Kind::Caret),
    ("<=", Kind::LessEqual),
    (">=", Kind::GreaterEqual),
    ("==", Kind::Equal),
    ("!=", Kind::NotEqual),
    ("+", Kind::Plus),
    ("-", Kind::Minus),
    ("*", Kind::Star),
    ("/", Kind::Slash),
    ("^", Kind::Caret),
    ("<", Kind::Less),
    (">", Kind::Greater),
    ("(", Kind::Open),
    (")", Kind::Close),
    ("[", Kind::OpenBracket),
    ("]", Kind::CloseBracket),
    (",", Kind::Comma),
];

/// The keyword of that name.
pub(crate) fn keyword(name: &str) -> Option<Kind> {
    match name {
        "and" => Some(Kind::And),
        "or" => Some(Kind::Or),
        "not" => Some(Kind::Not),
        _ => None,
    }
}

/// What is written for characters that are not part of the grammar, but are likely to be typed.
const INSTEAD: &[(char, &str)] = &[
    ('=', "=="),
    ('&', "and"),
    ('|', "or"),
    ('!', "not"),
    ('%', "mod(a, b)"),
    ('−', "-"),
    ('–', "-"),
    ('×', "*"),
    ('·', "*"),
    ('⋅', "*"),
    ('÷', "/"),
    ('²', "^2"),
    ('³', "^3"),
    ('√', "sqrt"),
    ('≤', "<="),
    ('≥', ">="),
    ('≠', "!="),
    ('π', "pi"),
    ('∞', "inf"),
    ('λ', "lam"),
    ('μ', "mu"), // the Greek letter
    ('µ', "mu"), // the sign for micro
    ('θ', "theta"),
];

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Range<usize>,
}

impl Token {
    /// The name without blanks and quotes: `x[0]` for `x [ 0 ]`, `bead 3.q[0]` for `'bead 3'.q[0]`.
    pub(crate) fn name(&self, text: &str) -> String {
        let text = &text[self.span.clone()];
        let (owner, rest) =
            text.strip_prefix('\'').and_then(|rest| rest.split_once('\'')).unwrap_or(("", text));
        let letters = rest.chars().filter(|c| !c.is_whitespace());
        owner.chars().chain(letters).collect()
    }
}

/// All tokens of a text, the last one being [`Kind::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, ExprError> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.blanks();
        let start = lexer.at;
        let Some(first) = lexer.rest().chars().next() else {
            break;
        };
        let kind = match first {
            '0'..='9' => lexer.number()?,
            '.' if lexer.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) => lexer.number()?,
            'a'..='z' | 'A'..='Z' | '_' => lexer.name()?,
            '\'' => lexer.quoted()?,
            _ => lexer.symbol(first)?,
        };
        tokens.push(Token { kind, span: start..lexer.at });
    }
    tokens.push(Token { kind: Kind::End, span: end(text) });
    Ok(tokens)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Steps over characters as long as they are of a kind.
    fn skip(&mut self, of_kind: impl Fn(char) -> bool) {
        self.at = self.text.len() - self.rest().trim_start_matches(of_kind).len();
    }

    fn blanks(&mut self) {
        self.skip(char::is_whitespace);
    }

    /// Takes all that a writer may have meant as one number, so that `1_000` and `2x` are named whole.
    fn number(&mut self) -> Result<Kind, ExprError> {
        let start = self.at;
        self.skip(is_word_or_point);
        let has_exponent = self.text[start..self.at].ends_with(['e', 'E']);
        let is_signed = |rest: &str| {
            let digits = rest.strip_prefix(['+', '-']);
            digits.is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))
        };
        if has_exponent && is_signed(self.rest()) {
            self.at += 1;
            self.skip(is_word_or_point);
        }

        // of the texts that begin with a digit, or a point and a digit, `f64` reads those of our grammar
        let span = start..self.at;
        let text = &self.text[span.clone()];
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Kind::Number(value)),
            Ok(_) => Err(ExprError::NumberTooLarge { text: text.to_owned(), span }),
            Err(_) => Err(ExprError::NotANumber { text: text.to_owned(), span }),
        }
    }

    /// A keyword, or a name with its index if it has one.
    fn name(&mut self) -> Result<Kind, ExprError> {
        let start = self.at;
        self.skip(is_word);
        let end = self.at;
        if let Some(keyword) = keyword(&self.text[start..end]) {
            return Ok(keyword);
        }
        self.rest_of_name()
    }

    /// A name of something that has members, in quotes, because it is no word: `'bead 3'.q[0]`.
    fn quoted(&mut self) -> Result<Kind, ExprError> {
        let start = self.at;
        self.at += 1;
        self.skip(|c| c != '\'');
        self.at = (self.at + 1).min(self.text.len());
        if !self.is_member() {
            self.at = start;
            return self.symbol('\'');
        }
        self.rest_of_name()
    }

    /// Whether a point and a name follow.
    fn is_member(&self) -> bool {
        let member = self.rest().strip_prefix('.');
        member.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
    }

    /// What may follow the first word of a name: members, and an index.
    fn rest_of_name(&mut self) -> Result<Kind, ExprError> {
        while self.is_member() {
            self.at += 1;
            self.skip(is_word);
        }
        let end = self.at;
        self.blanks();
        if self.rest().starts_with('[') {
            self.at += 1;
            self.index()?;
        } else {
            self.at = end;
        }
        Ok(Kind::Name)
    }

    /// The rest of `[ 0 ]`, after the bracket.
    fn index(&mut self) -> Result<(), ExprError> {
        self.blanks();
        let start = self.at;
        self.skip(is_word_or_point);
        let index = &self.text[start..self.at];
        if index.is_empty() || !index.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self.expected("an index such as 0", start));
        }

        self.blanks();
        let start = self.at;
        if !self.rest().starts_with(']') {
            return Err(self.expected("`]`", start));
        }
        self.at += 1;
        Ok(())
    }

    fn symbol(&mut self, first: char) -> Result<Kind, ExprError> {
        for &(symbol, kind) in SYMBOLS {
            if self.rest().starts_with(symbol) {
                self.at += symbol.len();
                return Ok(kind);
            }
        }
        let instead = INSTEAD.iter().find(|&&(character, _)| character == first);
        Err(ExprError::Character {
            found: first,
            instead: instead.map(|&(_, instead)| instead),
            span: self.at..self.at + first.len_utf8(),
        })
    }

    /// The error that what was read since `start`, or else the next character, is not what was expected.
    fn expected(&self, expected: &'static str, start: usize) -> ExprError {
        let span = match self.rest().chars().next() {
            _ if self.at > start => start..self.at,
            Some(next) => start..start + next.len_utf8(),
            None => end(self.text),
        };
        let found = found(&self.text[span.clone()]);
        ExprError::Expected { expected, found, span }
    }
}

/// The end, just behind the last thing written.
fn end(text: &str) -> Range<usize> {
    let end = text.trim_end().len();
    end..end
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_word_or_point(c: char) -> bool {
    is_word(c) || c == '.'
}
