//! Expressions as SPICE writes them, as trees: parameters, functions, `v(a)`, `v(a, b)`, `i(name)`.
//!
//! ```text
//! expression = or [ "?" expression ":" expression ]
//! or         = and { ( "||" | "|" ) and }
//! and        = comparison { ( "&&" | "&" ) comparison }
//! comparison = sum [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" | "<>" ) sum ]
//! sum        = product { ( "+" | "-" ) product }
//! product    = unary { ( "*" | "/" | "%" ) unary }
//! unary      = ( "-" | "+" | "!" | "~" ) unary | power
//! power      = atom [ ( "^" | "**" ) unary ]
//! atom       = number | name | name "(" [ expression { "," expression } ] ")" | "(" expression ")" | "{" expression "}"
//!            | "v(" node [ "," node ] ")" | "i(" component ")" | "@" component "[i]" | component "#branch"
//! ```
//!
//! Case does not count: names are kept in lower case, those of nodes and components as they are written.

use super::error::{NetlistError, Problem, found};
use super::lines::{At, Lines};
use super::number;

/// How deep an expression may nest.
pub(crate) const MAX_DEPTH: usize = 64;

/// An expression, and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expr {
    pub(crate) node: Node,
    pub(crate) at: At,
}

/// What an expression is. Chains of one operator are one level, so that depth is that of parentheses.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Number(f64),
    /// A parameter, argument or constant, in lower case.
    Name(String),
    /// A function, in lower case, and its arguments.
    Call(String, Vec<Expr>),
    /// The voltage of a node, or between two.
    Voltage(String, Option<String>),
    /// The current through a component.
    Current(String),
    Minus(Box<Expr>),
    Not(Box<Expr>),
    /// Terms; those with `true` are subtracted.
    Sum(Vec<(bool, Expr)>),
    /// Factors, each with its operator.
    Product(Vec<(Factor, Expr)>),
    Power(Box<Expr>, Box<Expr>),
    Compare(&'static str, Box<Expr>, Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    /// Condition, then, else.
    Choose(Box<[Expr; 3]>),
}

/// How a factor enters a product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Factor {
    Times,
    Over,
    Modulo,
}

impl Expr {
    /// A number.
    pub(crate) fn number(value: f64, at: At) -> Expr {
        Expr { node: Node::Number(value), at }
    }

    /// Its value if it is a plain number.
    pub(crate) fn literal(&self) -> Option<f64> {
        match &self.node {
            Node::Number(value) => Some(*value),
            Node::Minus(of) => of.literal().map(|value| -value),
            _ => None,
        }
    }
}

/// Parses an expression that begins at `start` of a line and ends where no operator goes on, at most at `end`.
pub(crate) fn parse(
    lines: &Lines,
    line: usize,
    start: usize,
    end: usize,
) -> Result<(Expr, usize), NetlistError> {
    let mut parser = Parser { lines, line, text: &lines.text(line)[..end], at: start, depth: 0 };
    let expr = parser.expression()?;
    let at = parser.at;
    Ok((expr, at))
}

/// Parses all of a line from `start` to `end`.
pub(crate) fn parse_all(
    lines: &Lines,
    line: usize,
    start: usize,
    end: usize,
) -> Result<Expr, NetlistError> {
    let mut parser = Parser { lines, line, text: &lines.text(line)[..end], at: start, depth: 0 };
    let expr = parser.expression()?;
    parser.blanks();
    if parser.at < end {
        return Err(parser.expected("an operator"));
    }
    Ok(expr)
}

struct Parser<'a> {
    lines: &'a Lines,
    line: usize,
    text: &'a str, // up to the end
    at: usize,
    depth: usize,
}

type Parsed = Result<Expr, NetlistError>;

/// Comparison signs, those first that begin with another, and how a formula writes them.
const COMPARISONS: &[(&str, &str)] =
    &[("<=", "<="), (">=", ">="), ("<>", "!="), ("==", "=="), ("!=", "!="), ("<", "<"), (">", ">")];

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn here(&self) -> At {
        At { line: self.line as u32, offset: self.at as u32 }
    }

    /// Steps over a sign, if it is next.
    fn take(&mut self, sign: &str) -> bool {
        self.blanks();
        let is_next = self.rest().starts_with(sign);
        self.at += if is_next { sign.len() } else { 0 };
        is_next
    }

    fn fail(&self, problem: Problem) -> NetlistError {
        NetlistError::new(self.lines.place(self.here()), problem)
    }

    fn expected(&self, expected: &str) -> NetlistError {
        let rest = self.rest();
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '#');
        let mut length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if length == 0 {
            length = rest.chars().next().map_or(0, char::len_utf8);
        }
        let found = match rest.is_empty() {
            true => "the end of the expression".to_owned(),
            false => found(&rest[..length]),
        };
        self.fail(Problem::Expected { expected: expected.to_owned(), found })
    }

    /// A rule one level deeper.
    fn nested(&mut self, rule: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        if self.depth == MAX_DEPTH {
            return Err(self.fail(Problem::TooDeep { limit: MAX_DEPTH }));
        }
        self.depth += 1;
        let parsed = rule(self);
        self.depth -= 1;
        parsed
    }

    fn expression(&mut self) -> Parsed {
        self.nested(|parser| {
            parser.blanks();
            let at = parser.here();
            let condition = parser.or()?;
            if !parser.take("?") {
                return Ok(condition);
            }
            let then = parser.expression()?;
            if !parser.take(":") {
                return Err(parser.expected("an operator or `:`"));
            }
            let otherwise = parser.expression()?;
            Ok(Expr { node: Node::Choose(Box::new([condition, then, otherwise])), at })
        })
    }

    fn or(&mut self) -> Parsed {
        self.chain(Self::and, ["||", "|"], Node::Or)
    }

    fn and(&mut self) -> Parsed {
        self.chain(Self::comparison, ["&&", "&"], Node::And)
    }

    fn chain(
        &mut self,
        operand: fn(&mut Self) -> Parsed,
        signs: [&str; 2],
        make: fn(Vec<Expr>) -> Node,
    ) -> Parsed {
        let first = operand(self)?;
        let at = first.at;
        let mut operands = vec![first];
        while signs.iter().any(|sign| self.take(sign)) {
            operands.push(operand(self)?);
        }
        Ok(match operands.len() {
            1 => operands.remove(0),
            _ => Expr { node: make(operands), at },
        })
    }

    fn comparison(&mut self) -> Parsed {
        let left = self.sum()?;
        for (sign, name) in COMPARISONS {
            if self.take(sign) {
                let (at, right) = (left.at, self.sum()?);
                let node = Node::Compare(name, Box::new(left), Box::new(right));
                return Ok(Expr { node, at });
            }
        }
        Ok(left)
    }

    fn sum(&mut self) -> Parsed {
        let first = self.product()?;
        let at = first.at;
        let mut terms = vec![(false, first)];
        loop {
            let is_minus = if self.take("+") {
                false
            } else if self.take("-") {
                true
            } else {
                break;
            };
            terms.push((is_minus, self.product()?));
        }
        Ok(match terms.len() {
            1 => terms.remove(0).1,
            _ => Expr { node: Node::Sum(terms), at },
        })
    }

    fn product(&mut self) -> Parsed {
        let first = self.unary()?;
        let at = first.at;
        let mut factors = vec![(Factor::Times, first)];
        loop {
            self.blanks();
            let factor = if self.rest().starts_with("**") {
                break;
            } else if self.take("*") {
                Factor::Times
            } else if self.take("/") {
                Factor::Over
            } else if self.take("%") {
                Factor::Modulo
            } else {
                break;
            };
            factors.push((factor, self.unary()?));
        }
        Ok(match factors.len() {
            1 => factors.remove(0).1,
            _ => Expr { node: Node::Product(factors), at },
        })
    }

    fn unary(&mut self) -> Parsed {
        self.blanks();
        let at = self.here();
        if self.take("-") {
            let of = self.nested(Self::unary)?;
            return Ok(Expr { node: Node::Minus(Box::new(of)), at });
        }
        if self.take("+") {
            return self.nested(Self::unary);
        }
        if (!self.rest().starts_with("!=") && self.take("!")) || self.take("~") {
            let of = self.nested(Self::unary)?;
            return Ok(Expr { node: Node::Not(Box::new(of)), at });
        }
        self.power()
    }

    fn power(&mut self) -> Parsed {
        let base = self.atom()?;
        if self.take("**") || self.take("^") {
            let (at, exponent) = (base.at, self.nested(Self::unary)?);
            return Ok(Expr { node: Node::Power(Box::new(base), Box::new(exponent)), at });
        }
        Ok(base)
    }

    fn atom(&mut self) -> Parsed {
        self.blanks();
        let at = self.here();
        if self.take("(") {
            let inner = self.expression()?;
            self.close("an operator or `)`")?;
            return Ok(Expr { at, ..inner });
        }
        if self.rest().starts_with('{') {
            let open = self.at;
            self.at += 1;
            let inner = self.expression()?;
            if !self.take("}") {
                if self.rest().is_empty() {
                    self.at = open;
                    return Err(self.fail(Problem::NotClosed { open: '{', close: '}' }));
                }
                return Err(self.expected("an operator or `}`"));
            }
            return Ok(inner);
        }
        if let Some(read) = number::scan(self.rest()) {
            return match read {
                Ok((value, length)) => {
                    self.at += length;
                    Ok(Expr::number(value, at))
                }
                Err(length) => {
                    let text = self.rest()[..length].to_owned();
                    Err(self.fail(Problem::NotANumber { text }))
                }
            };
        }
        if self.rest().starts_with('@') {
            return self.device_current(at);
        }
        self.name(at)
    }

    /// `@L1[i]`
    fn device_current(&mut self, at: At) -> Parsed {
        let rest = &self.rest()[1..];
        let open = rest.find('[').filter(|&open| is_plain(&rest[..open]));
        let inside = open.and_then(|open| {
            let close = open + rest[open..].find(']')?;
            Some((rest[..open].to_owned(), &rest[open + 1..close], close))
        });
        match inside {
            Some((name, of, close)) if ["i", "id", "ic", "current"].contains(&of) => {
                self.at += close + 2;
                Ok(Expr { node: Node::Current(name), at })
            }
            _ => Err(self.expected("the current of a component, such as `@L1[i]`")),
        }
    }

    fn name(&mut self, at: At) -> Parsed {
        let rest = self.rest();
        let is_first = |c: char| c.is_alphabetic() || c == '_';
        if !rest.starts_with(is_first) {
            return Err(self.expected("a number, a name or `(`"));
        }
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '#');
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let word = rest[..length].to_owned();
        self.at += length;
        if let Some(component) = strip_suffix(&word, "#branch") {
            return Ok(Expr { node: Node::Current(component.to_owned()), at });
        }
        let name = word.to_lowercase();
        if !self.take("(") {
            return Ok(Expr { node: Node::Name(name), at });
        }
        match name.as_str() {
            "v" => {
                let plus = self.plain("a node")?;
                let minus = if self.take(",") { Some(self.plain("a node")?) } else { None };
                self.close("`,` or `)`")?;
                Ok(Expr { node: Node::Voltage(plus, minus), at })
            }
            "i" => {
                let component = self.plain("a component")?;
                self.close("`)`")?;
                Ok(Expr { node: Node::Current(component), at })
            }
            _ => {
                let mut arguments = Vec::new();
                self.blanks();
                while !self.rest().starts_with(')') || !arguments.is_empty() {
                    arguments.push(self.expression()?);
                    if !self.take(",") {
                        break;
                    }
                }
                self.close("an operator, `,` or `)`")?;
                Ok(Expr { node: Node::Call(name, arguments), at })
            }
        }
    }

    /// The name of a node or component: anything up to a blank, comma or parenthesis.
    fn plain(&mut self, expected: &str) -> Result<String, NetlistError> {
        self.blanks();
        let rest = self.rest();
        let ends = |c: char| !is_plain_character(c);
        let length = rest.find(ends).unwrap_or(rest.len());
        if length == 0 {
            return Err(self.expected(expected));
        }
        let name = rest[..length].to_owned();
        self.at += length;
        Ok(name)
    }

    fn close(&mut self, expected: &str) -> Result<(), NetlistError> {
        if self.take(")") { Ok(()) } else { Err(self.expected(expected)) }
    }
}

/// Whether a character can stand in the name of a node or component.
pub(crate) fn is_plain_character(c: char) -> bool {
    !(c.is_whitespace()
        || c.is_control()
        || matches!(c, ',' | '(' | ')' | '=' | '{' | '}' | '\'' | '"'))
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_plain_character)
}

/// A text without its end, if it has that end in any case of letters.
fn strip_suffix<'a>(text: &'a str, end: &str) -> Option<&'a str> {
    let at = text.len().checked_sub(end.len())?;
    let matches = text.get(at..).is_some_and(|found| found.eq_ignore_ascii_case(end));
    (matches && at > 0).then(|| &text[..at])
}
