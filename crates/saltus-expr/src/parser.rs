//! Tokens to syntax tree, by recursive descent along the grammar at the crate's root.
//!
//! The rules from `disjunction` to `product` have the same shape, and are one function, `binary`, with the rule as its
//! argument; `unary`, `power`, `atom` and `call` have one each. Recursion is bounded by [`MAX_DEPTH`].

use std::ops::Range;

use crate::error::{ExprError, found};
use crate::graph::{Builder, Node, NodeId};
use crate::lexer::{Kind, Token, tokens};
use crate::nearest::nearest;
use crate::operation::{Binary, Unary};
use crate::shape::Shape;
use crate::table::Table;
use crate::vocabulary::{FUNCTIONS, Function, function};
use crate::{MAX_DEPTH, MAX_LENGTH};

type Parsed = Result<NodeId, ExprError>;

/// Adds a formula to a graph; `resolve` says what a name, found at a span, stands for.
pub(crate) fn parse<R>(text: &str, graph: &mut Builder, resolve: R) -> Parsed
where
    R: FnMut(&str, Range<usize>) -> Result<Node, ExprError>,
{
    let mut parser = Parser::new(text, graph, resolve)?;
    let root = parser.formula()?;
    parser.expect(Kind::End, "an operator or the end")?;
    Ok(root)
}

/// The same for a formula, a vector or a matrix: its entries, row by row.
pub(crate) fn parse_array<R>(
    text: &str,
    graph: &mut Builder,
    resolve: R,
) -> Result<(Vec<NodeId>, Shape), ExprError>
where
    R: FnMut(&str, Range<usize>) -> Result<Node, ExprError>,
{
    let mut parser = Parser::new(text, graph, resolve)?;
    let mut entries = Vec::new();
    let shape = parser.array(&mut entries)?;
    let expected = match shape {
        Shape::Scalar => "an operator or the end",
        _ => "the end",
    };
    parser.expect(Kind::End, expected)?;
    Ok((entries, shape))
}

/// Tells the names of a formula, vector or matrix, as often as they occur. What they stand for is not known, and so
/// nothing is asked of it.
pub(crate) fn parse_names(text: &str, mut found: impl FnMut(&str)) -> Result<(), ExprError> {
    let mut graph = Builder::default();
    let resolve = |name: &str, _| {
        found(name);
        Ok(Node::Variable(0))
    };
    let mut parser = Parser::new(text, &mut graph, resolve)?;
    parser.only_names = true;
    parser.array(&mut Vec::new())?;
    parser.expect(Kind::End, "an operator or the end")
}

/// A rule of the grammar whose operators have a precedence, loosest first.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum Rule {
    Disjunction,
    Conjunction,
    Negation,
    Comparison,
    Sum,
    Product,
    Unary,
}

impl Rule {
    /// The rule of an operator, and the operation it stands for.
    fn of(operator: Kind) -> Option<(Rule, Binary)> {
        Some(match operator {
            Kind::Or => (Rule::Disjunction, Binary::Or),
            Kind::And => (Rule::Conjunction, Binary::And),
            Kind::Less => (Rule::Comparison, Binary::Less),
            Kind::LessEqual => (Rule::Comparison, Binary::LessEqual),
            Kind::Greater => (Rule::Comparison, Binary::Greater),
            Kind::GreaterEqual => (Rule::Comparison, Binary::GreaterEqual),
            Kind::Equal => (Rule::Comparison, Binary::Equal),
            Kind::NotEqual => (Rule::Comparison, Binary::NotEqual),
            Kind::Plus => (Rule::Sum, Binary::Add),
            Kind::Minus => (Rule::Sum, Binary::Sub),
            Kind::Star => (Rule::Product, Binary::Mul),
            Kind::Slash => (Rule::Product, Binary::Div),
            _ => return None,
        })
    }

    /// The rule of the operands.
    fn operand(self) -> Rule {
        match self {
            Rule::Disjunction => Rule::Conjunction,
            Rule::Conjunction => Rule::Negation,
            Rule::Negation => Rule::Comparison,
            Rule::Comparison => Rule::Sum,
            Rule::Sum => Rule::Product,
            Rule::Product | Rule::Unary => Rule::Unary,
        }
    }
}

struct Parser<'a, R> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
    graph: &'a mut Builder,
    resolve: R,
    only_names: bool,
}

impl<'a, R> Parser<'a, R>
where
    R: FnMut(&str, Range<usize>) -> Result<Node, ExprError>,
{
    fn new(text: &'a str, graph: &'a mut Builder, resolve: R) -> Result<Self, ExprError> {
        if text.len() > MAX_LENGTH {
            return Err(ExprError::TooLong {
                found: text.len(),
                span: text.floor_char_boundary(MAX_LENGTH)..text.len(),
            });
        }
        let tokens = tokens(text)?;
        Ok(Parser { text, tokens, next: 0, depth: 0, graph, resolve, only_names: false })
    }

    /// A formula, a vector or a matrix.
    fn array(&mut self, entries: &mut Vec<NodeId>) -> Result<Shape, ExprError> {
        if !self.take(Kind::OpenBracket) {
            entries.push(self.formula()?);
            return Ok(Shape::Scalar);
        }
        if self.kind() != Kind::OpenBracket {
            return Ok(Shape::Vector(self.row(entries)?));
        }

        // rows, the first of which says how long they are
        let (mut rows, mut cols) = (0, 0);
        loop {
            let start = self.token().span.start;
            self.expect(Kind::OpenBracket, "`[`")?;
            let found = self.row(entries)?;
            if rows == 0 {
                cols = found;
            } else if found != cols {
                let span = start..self.tokens[self.next - 1].span.end;
                return Err(ExprError::Ragged { expected: cols, found, span });
            }
            rows += 1;
            if !self.take(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::CloseBracket, "`,` or `]`")?;
        Ok(Shape::Matrix(rows, cols))
    }

    /// The rest of `[a, b, c]`, after the bracket; how many there are.
    fn row(&mut self, entries: &mut Vec<NodeId>) -> Result<usize, ExprError> {
        let before = entries.len();
        loop {
            entries.push(self.formula()?);
            if !self.take(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::CloseBracket, "an operator, `,` or `]`")?;
        Ok(entries.len() - before)
    }

    fn formula(&mut self) -> Parsed {
        self.binary(Rule::Disjunction)
    }

    /// The rules from `disjunction` to `product`: what is a `rule` or binds tighter.
    fn binary(&mut self, rule: Rule) -> Parsed {
        let mut left = if rule <= Rule::Negation && self.take(Kind::Not) {
            let operand = self.nested(|parser| parser.binary(Rule::Negation))?;
            self.graph.unary(Unary::Not, operand)
        } else {
            self.unary()?
        };
        while let Some((found, operation)) = Rule::of(self.kind())
            && found >= rule
        {
            self.next += 1;
            let right = self.binary(found.operand())?;
            left = self.graph.binary(operation, left, right);
            if found == Rule::Comparison {
                self.refuse_chain()?;
            }
        }
        Ok(left)
    }

    /// After a comparison there is no other.
    fn refuse_chain(&self) -> Result<(), ExprError> {
        match Rule::of(self.kind()) {
            Some((Rule::Comparison, _)) => {
                Err(ExprError::Chained { span: self.token().span.clone() })
            }
            _ => Ok(()),
        }
    }

    fn unary(&mut self) -> Parsed {
        if self.take(Kind::Minus) {
            let operand = self.nested(Self::unary)?;
            Ok(self.graph.unary(Unary::Neg, operand))
        } else if self.take(Kind::Plus) {
            self.nested(Self::unary)
        } else {
            self.power()
        }
    }

    fn power(&mut self) -> Parsed {
        let base = self.atom()?;
        if self.take(Kind::Caret) {
            let exponent = self.nested(Self::unary)?;
            Ok(self.graph.binary(Binary::Pow, base, exponent))
        } else {
            Ok(base)
        }
    }

    fn atom(&mut self) -> Parsed {
        match self.kind() {
            Kind::Number(value) => {
                self.next += 1;
                Ok(self.graph.number(value))
            }
            Kind::Name => self.name(),
            Kind::Open => {
                self.next += 1;
                let inner = self.nested(Self::formula)?;
                self.expect(Kind::Close, "an operator or `)`")?;
                Ok(inner)
            }
            _ => Err(self.expected("a value")),
        }
    }

    /// A variable, a constant or a call.
    fn name(&mut self) -> Parsed {
        let name = self.token().name(self.text);
        let span = self.token().span.clone();
        self.next += 1;
        match (function(&name), self.kind()) {
            (Some((name, function)), Kind::Open) => self.call(name, function, span),
            (Some((name, _)), _) => {
                Err(ExprError::FunctionAlone { name, found: self.found(), span })
            }
            (None, Kind::Open) => {
                let nearest = nearest(&name, FUNCTIONS.iter().map(|&(name, _)| name));
                Err(ExprError::UnknownFunction { name, nearest, span })
            }
            (None, _) => {
                let node = (self.resolve)(&name, span)?;
                Ok(self.graph.add(node))
            }
        }
    }

    /// The rest of a call, after the function's name.
    fn call(&mut self, name: &'static str, function: Function, span: Range<usize>) -> Parsed {
        self.next += 1; // the parenthesis
        let (mut arguments, mut spans) = (Vec::new(), Vec::new());
        while self.kind() != Kind::Close || !arguments.is_empty() {
            let start = self.token().span.start;
            arguments.push(self.nested(Self::formula)?);
            spans.push(start..self.tokens[self.next - 1].span.end);
            if !self.take(Kind::Comma) {
                break;
            }
        }
        let end = self.token().span.end;
        self.expect(Kind::Close, "an operator, `,` or `)`")?;

        let graph = &mut *self.graph;
        Ok(match (function, arguments.as_slice()) {
            (Function::Unary(op), &[a]) => graph.unary(op, a),
            (Function::Binary(op), &[a, b]) => graph.binary(op, a, b),
            (Function::Chain(op), &[a, b, ref rest @ ..]) => {
                let first = graph.binary(op, a, b);
                rest.iter().fold(first, |so_far, &next| graph.binary(op, so_far, next))
            }
            (Function::If, &[condition, a, b]) => graph.select(condition, a, b),
            (Function::Clamp, &[x, lo, hi]) => {
                let at_least = graph.binary(Binary::Max, x, lo);
                graph.binary(Binary::Min, at_least, hi)
            }
            (Function::Piecewise, &[ref pairs @ .., otherwise])
                if !pairs.is_empty() && pairs.len() % 2 == 0 =>
            {
                let pairs = pairs.chunks_exact(2).rev();
                pairs.fold(otherwise, |rest, pair| graph.select(pair[0], pair[1], rest))
            }
            (Function::Table, &[x, ref points @ ..])
                if points.len() >= 4 && points.len() % 2 == 0 =>
            {
                match self.only_names {
                    true => x,
                    false => table(graph, x, points, &spans[1..])?,
                }
            }
            (_, arguments) => {
                return Err(ExprError::Arguments {
                    function: name,
                    expected: function.arguments(),
                    found: arguments.len(),
                    span: span.start..end,
                });
            }
        })
    }

    /// A rule one level deeper.
    fn nested(&mut self, rule: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        if self.depth == MAX_DEPTH {
            return Err(ExprError::TooDeep { span: self.token().span.clone() });
        }
        self.depth += 1;
        let parsed = rule(self);
        self.depth -= 1;
        parsed
    }

    /// The next token: the last one, `End`, is never stepped over.
    fn token(&self) -> &Token {
        &self.tokens[self.next]
    }

    fn kind(&self) -> Kind {
        self.token().kind
    }

    /// Steps over the next token if it is of that kind.
    fn take(&mut self, kind: Kind) -> bool {
        let is_next = self.kind() == kind;
        self.next += usize::from(is_next);
        is_next
    }

    /// The next token must be of that kind; it is stepped over, unless it is the end.
    fn expect(&mut self, kind: Kind, expected: &'static str) -> Result<(), ExprError> {
        if self.kind() != kind {
            return Err(self.expected(expected));
        }
        self.next += usize::from(kind != Kind::End);
        Ok(())
    }

    fn expected(&self, expected: &'static str) -> ExprError {
        ExprError::Expected { expected, found: self.found(), span: self.token().span.clone() }
    }

    fn found(&self) -> String {
        found(&self.text[self.token().span.clone()])
    }
}

/// `table(x, x0, y0, x1, y1, ...)`: a lookup if all points are numbers, else an `if` a piece.
fn table(graph: &mut Builder, x: NodeId, points: &[NodeId], spans: &[Range<usize>]) -> Parsed {
    let mut abscissae = Vec::with_capacity(points.len() / 2);
    for (point, span) in points.iter().zip(spans).step_by(2) {
        let last = abscissae.last().copied().unwrap_or(f64::NEG_INFINITY);
        match graph.graph().number(*point) {
            Some(value) if value.is_finite() && value > last => abscissae.push(value),
            _ => return Err(ExprError::Abscissa { span: span.clone() }),
        }
    }
    let ordinates: Vec<NodeId> = points.iter().skip(1).step_by(2).copied().collect();

    let number = |id: &NodeId| graph.graph().number(*id);
    if let Some(numbers) = ordinates.iter().map(number).collect::<Option<Vec<f64>>>() {
        let points = abscissae.into_iter().zip(numbers).collect();
        let table = graph.intern(&Table::new(points));
        return Ok(graph.table(table, x));
    }

    // from the right: x where it is no number, the last value, the pieces, the first value
    let last = ordinates.len() - 1;
    let end = graph.number(abscissae[last]);
    let is_beyond = graph.binary(Binary::GreaterEqual, x, end);
    let mut value = graph.select(is_beyond, ordinates[last], x);
    for left in (0..last).rev() {
        let (start, end) = (graph.number(abscissae[left]), graph.number(abscissae[left + 1]));
        let width = graph.number(abscissae[left + 1] - abscissae[left]);
        let rise = graph.binary(Binary::Sub, ordinates[left + 1], ordinates[left]);
        let slope = graph.binary(Binary::Div, rise, width);
        let run = graph.binary(Binary::Sub, x, start);
        let change = graph.binary(Binary::Mul, run, slope);
        let piece = graph.binary(Binary::Add, ordinates[left], change);
        let is_left = graph.binary(Binary::Less, x, end);
        value = graph.select(is_left, piece, value);
    }
    let start = graph.number(abscissae[0]);
    let is_before = graph.binary(Binary::Less, x, start);
    Ok(graph.select(is_before, ordinates[0], value))
}
