//! Tokens to syntax tree, by recursive descent along the grammar at the crate's root.
//!
//! The rules from `disjunction` to `product` have the same shape, and are one function, `binary`, with the rule as its
//! argument; `unary`, `power`, `atom` and `call` have one each. Recursion is bounded by [`MAX_DEPTH`].

use std::ops::Range;

use crate::ast::{Ast, Builder, Node, NodeId};
use crate::error::{ExprError, found};
use crate::lexer::{Kind, Token, tokens};
use crate::nearest::nearest;
use crate::operation::{Binary, Unary};
use crate::vocabulary::{FUNCTIONS, Function, function};
use crate::{MAX_DEPTH, MAX_LENGTH};

type Parsed = Result<NodeId, ExprError>;

/// Parses a text; `resolve` says what a name, found at a span, stands for.
pub(crate) fn parse<R>(text: &str, resolve: R) -> Result<Ast, ExprError>
where
    R: FnMut(&str, Range<usize>) -> Result<Node, ExprError>,
{
    if text.len() > MAX_LENGTH {
        return Err(ExprError::TooLong {
            found: text.len(),
            span: text.floor_char_boundary(MAX_LENGTH)..text.len(),
        });
    }
    let tokens = tokens(text)?;
    let mut parser = Parser { text, tokens, next: 0, depth: 0, ast: Builder::default(), resolve };
    let root = parser.formula()?;
    parser.expect(Kind::End, "an operator or the end")?;
    Ok(parser.ast.finish(root))
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
    ast: Builder,
    resolve: R,
}

impl<R> Parser<'_, R>
where
    R: FnMut(&str, Range<usize>) -> Result<Node, ExprError>,
{
    fn formula(&mut self) -> Parsed {
        self.binary(Rule::Disjunction)
    }

    /// The rules from `disjunction` to `product`: what is a `rule` or binds tighter.
    fn binary(&mut self, rule: Rule) -> Parsed {
        let mut left = if rule <= Rule::Negation && self.take(Kind::Not) {
            let operand = self.nested(|parser| parser.binary(Rule::Negation))?;
            self.ast.unary(Unary::Not, operand)
        } else {
            self.unary()?
        };
        while let Some((found, operation)) = Rule::of(self.kind())
            && found >= rule
        {
            self.next += 1;
            let right = self.binary(found.operand())?;
            left = self.ast.binary(operation, left, right);
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
            Ok(self.ast.unary(Unary::Neg, operand))
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
            Ok(self.ast.binary(Binary::Pow, base, exponent))
        } else {
            Ok(base)
        }
    }

    fn atom(&mut self) -> Parsed {
        match self.kind() {
            Kind::Number(value) => {
                self.next += 1;
                Ok(self.ast.leaf(Node::Number(value)))
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
                Ok(self.ast.leaf(node))
            }
        }
    }

    /// The rest of a call, after the function's name.
    fn call(&mut self, name: &'static str, function: Function, span: Range<usize>) -> Parsed {
        self.next += 1; // the parenthesis
        let mut arguments = Vec::new();
        if self.kind() != Kind::Close {
            arguments.push(self.nested(Self::formula)?);
            while self.take(Kind::Comma) {
                arguments.push(self.nested(Self::formula)?);
            }
        }
        let end = self.token().span.end;
        self.expect(Kind::Close, "an operator, `,` or `)`")?;

        let ast = &mut self.ast;
        Ok(match (function, arguments.as_slice()) {
            (Function::Unary(op), &[a]) => ast.unary(op, a),
            (Function::Binary(op), &[a, b]) => ast.binary(op, a, b),
            (Function::Chain(op), &[a, b, ref rest @ ..]) => {
                let first = ast.binary(op, a, b);
                rest.iter().fold(first, |so_far, &next| ast.binary(op, so_far, next))
            }
            (Function::If, &[condition, a, b]) => ast.select(condition, a, b),
            (Function::Clamp, &[x, lo, hi]) => {
                let at_least = ast.binary(Binary::Max, x, lo);
                ast.binary(Binary::Min, at_least, hi)
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
