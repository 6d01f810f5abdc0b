//! Expressions to numbers and formulas: parameters looked up, functions written out.
//!
//! Parameters belong to scopes: the netlist's, and one for each call of a subcircuit, which sees its caller's. They may
//! be given in any order; those that depend on themselves are named.

use std::collections::HashMap;

use saltus_expr::{Formula, nearest};

use super::card::{Block, Function};
use super::error::{NetlistError, Problem};
use super::expression::{Expr, Factor, Node};
use super::functions::{CONSTANTS, FUNCTIONS, NOT_SUPPORTED};
use super::lines::{At, Lines};
use super::probe::{Probe, ProbedFormula};

/// How deep expressions, parameters and functions may lead into one another.
const MAX_DEPTH: usize = 200;
/// Operations that one expression may take, functions written out.
const MAX_WORK: usize = 100_000;

/// What an expression comes to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// A number.
    Number(f64),
    /// A formula of quantities of the circuit.
    Formula {
        /// Text for `saltus-expr`.
        text: String,
        /// The loosest operator in it, outside of parentheses.
        level: Level,
        /// The quantity and factor if it is `factor · quantity`.
        linear: Option<(Probe, f64)>,
    },
}

/// How tight an operator binds.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(crate) enum Level {
    Or,
    And,
    Comparison,
    Sum,
    Product,
    Unary,
    Power,
    Atom,
}

impl Value {
    fn formula(text: String, level: Level) -> Value {
        Value::Formula { text, level, linear: None }
    }

    /// As text that can stand where an operator of a level stands.
    pub(crate) fn text(&self, least: Level) -> String {
        match self {
            Value::Number(value) if *value < 0.0 || value.is_sign_negative() => match least {
                Level::Or => number(*value),
                _ => format!("({})", number(*value)),
            },
            Value::Number(value) => number(*value),
            Value::Formula { text, level, .. } if *level >= least => text.clone(),
            Value::Formula { text, .. } => format!("({text})"),
        }
    }

    /// The same, and the text is given away.
    fn into_text(self, least: Level) -> String {
        match self {
            Value::Formula { text, level, .. } if level >= least => text,
            value => value.text(least),
        }
    }

    /// `factor` times it, if it is a multiple of a quantity.
    fn scaled(&self, factor: f64) -> Option<(Probe, f64)> {
        match self {
            Value::Formula { linear: Some((probe, known)), .. } => {
                Some((probe.clone(), known * factor))
            }
            _ => None,
        }
    }
}

fn number(value: f64) -> String {
    match value {
        _ if value == f64::INFINITY => "inf".to_owned(),
        _ if value == f64::NEG_INFINITY => "-inf".to_owned(),
        _ => format!("{value:?}"),
    }
}

/// What names an expression may use beside parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Uses {
    /// None: it is a number.
    Nothing,
    /// Quantities of the circuit, and the time.
    Quantities,
    /// The same, and the name of a node for its voltage.
    Signals,
    /// Results of measures.
    Measures,
}

/// The parameters and names of the netlist, or of one call of a subcircuit.
#[derive(Debug)]
pub(crate) struct Scope<'d> {
    /// The scope it is called from.
    pub(crate) caller: Option<usize>,
    /// The block it is a call of.
    pub(crate) block: usize,
    /// What its names begin with, such as `X1.`.
    pub(crate) prefix: String,
    /// Names of its ports in lower case, and what they are connected to.
    pub(crate) ports: HashMap<String, String>,
    entries: HashMap<String, Entry<'d>>,
}

#[derive(Debug, Clone, Copy)]
enum Entry<'d> {
    /// An expression, to be evaluated in a scope.
    Given(&'d Expr, usize),
    Underway,
    Known(f64),
}

/// Evaluates expressions in scopes.
pub(crate) struct Resolver<'d> {
    pub(crate) lines: &'d Lines,
    pub(crate) blocks: &'d [Block],
    pub(crate) scopes: Vec<Scope<'d>>,
    /// Nodes that are the same in every scope, in lower case.
    pub(crate) globals: &'d [String],
    /// Celsius.
    pub(crate) temperature: f64,
    /// Quantities met since last emptied, and where.
    pub(crate) probes: Vec<(Probe, At)>,
    underway: Vec<String>,
    depth: usize,
    work: usize,
}

type Resolved = Result<Value, NetlistError>;

impl<'d> Resolver<'d> {
    pub(crate) fn new(lines: &'d Lines, blocks: &'d [Block], globals: &'d [String]) -> Self {
        Resolver {
            lines,
            blocks,
            scopes: Vec::new(),
            globals,
            temperature: 27.0,
            probes: Vec::new(),
            underway: Vec::new(),
            depth: 0,
            work: 0,
        }
    }

    /// Adds a scope with the parameters of its block, and those given by the call; evaluates them.
    pub(crate) fn add_scope(
        &mut self,
        block: usize,
        caller: Option<usize>,
        prefix: String,
        given: &'d [(super::cursor::Word, Expr)],
        numbers: &HashMap<String, f64>,
    ) -> Result<usize, NetlistError> {
        let scope = self.scopes.len();
        let of: &'d Block = &self.blocks[block];
        let mut entries = HashMap::new();
        for (name, expr) in of.defaults.iter().chain(&of.parameters) {
            entries.insert(name.key(), Entry::Given(expr, scope));
        }
        for (name, expr) in given {
            entries.insert(name.key(), Entry::Given(expr, caller.unwrap_or(scope)));
        }
        for (name, value) in numbers {
            entries.insert(name.clone(), Entry::Known(*value));
        }
        self.scopes.push(Scope { caller, block, prefix, ports: HashMap::new(), entries });
        for (name, expr) in of.defaults.iter().chain(&of.parameters).chain(given) {
            self.parameter(scope, &name.key(), expr.at)?;
        }
        Ok(scope)
    }

    /// The scopes from one to the netlist's.
    fn chain(&self, scope: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(scope), |&scope| self.scopes[scope].caller)
    }

    /// The innermost scope, from this one outwards, that is of a block.
    pub(crate) fn scope_of(&self, scope: usize, block: usize) -> usize {
        self.chain(scope).find(|&known| self.scopes[known].block == block).unwrap_or(0)
    }

    /// The name in the whole circuit of a node that has this name in a scope.
    pub(crate) fn node(&self, scope: usize, name: &str) -> String {
        let key = name.to_lowercase();
        if key == "0" || key == "gnd" {
            return "0".to_owned();
        }
        match self.scopes[scope].ports.get(&key) {
            Some(connected) => connected.clone(),
            // `$G_` begins a global node of PSpice
            None if self.globals.contains(&key) || key.starts_with("$g_") => name.to_owned(),
            None => format!("{}{name}", self.scopes[scope].prefix),
        }
    }

    /// The name in the whole circuit of a component.
    pub(crate) fn component(&self, scope: usize, name: &str) -> String {
        format!("{}{name}", self.scopes[scope].prefix)
    }

    /// A number.
    pub(crate) fn number(&mut self, expr: &'d Expr, scope: usize) -> Result<f64, NetlistError> {
        if let Some(value) = expr.literal() {
            return Ok(value);
        }
        match self.value(expr, scope, Uses::Nothing)? {
            Value::Number(value) if value.is_finite() => Ok(value),
            Value::Number(value) => Err(self.fail(
                expr.at,
                Problem::Value {
                    what: "the expression".to_owned(),
                    value,
                    expected: "a finite number",
                },
            )),
            Value::Formula { text, .. } => {
                Err(self.fail(expr.at, Problem::NotConstant { name: text }))
            }
        }
    }

    /// A number or a formula, checked to be one.
    pub(crate) fn formula(&mut self, expr: &'d Expr, scope: usize, uses: Uses) -> Resolved {
        let value = self.value(expr, scope, uses)?;
        match &value {
            Value::Number(number) if !number.is_finite() => Err(self.fail(
                expr.at,
                Problem::Value {
                    what: "the expression".to_owned(),
                    value: *number,
                    expected: "a finite number",
                },
            )),
            Value::Formula { text, .. } => match ProbedFormula::parse(text) {
                Ok(_) => Ok(value),
                Err(reason) => Err(self.fail(expr.at, Problem::Formula { reason })),
            },
            _ => Ok(value),
        }
    }

    fn value(&mut self, expr: &'d Expr, scope: usize, uses: Uses) -> Resolved {
        self.work = 0;
        self.resolve(expr, scope, &[], uses)
    }

    fn fail(&self, at: At, problem: Problem) -> NetlistError {
        NetlistError::new(self.lines.place(at), problem)
    }

    fn resolve(
        &mut self,
        expr: &'d Expr,
        scope: usize,
        locals: &[(&'d str, Value)],
        uses: Uses,
    ) -> Resolved {
        if self.depth == MAX_DEPTH {
            return Err(self.fail(expr.at, Problem::TooDeep { limit: MAX_DEPTH }));
        }
        self.work += 1;
        if self.work > MAX_WORK {
            let problem = Problem::TooMany { what: "operations in an expression", limit: MAX_WORK };
            return Err(self.fail(expr.at, problem));
        }
        self.depth += 1;
        let value = self.resolve_node(expr, scope, locals, uses);
        self.depth -= 1;
        let value = value?;
        if let Value::Formula { text, .. } = &value {
            self.check_length(text, expr.at)?;
        }
        Ok(value)
    }

    fn check_length(&self, text: &str, at: At) -> Result<(), NetlistError> {
        let limit = saltus_expr::MAX_LENGTH;
        if text.len() <= limit {
            return Ok(());
        }
        Err(self.fail(at, Problem::TooMany { what: "bytes in a formula", limit }))
    }

    fn resolve_node(
        &mut self,
        expr: &'d Expr,
        scope: usize,
        locals: &[(&'d str, Value)],
        uses: Uses,
    ) -> Resolved {
        let at = expr.at;
        match &expr.node {
            Node::Number(value) => Ok(Value::Number(*value)),
            Node::Name(name) => self.name(name, at, scope, locals, uses),
            Node::Voltage(plus, minus) => {
                let name = || match minus {
                    Some(minus) => format!("v({plus},{minus})"),
                    None => format!("v({plus})"),
                };
                if matches!(uses, Uses::Nothing | Uses::Measures) {
                    return Err(self.fail(at, Problem::NotConstant { name: name() }));
                }
                let plus = self.node(scope, plus);
                let minus = minus.as_ref().map(|minus| self.node(scope, minus));
                Ok(match (plus.as_str(), minus.as_deref()) {
                    (a, Some(b)) if a == b => Value::Number(0.0),
                    ("0", None) => Value::Number(0.0),
                    (_, None | Some("0")) => self.probe(Probe::Voltage(plus), at),
                    (_, Some(minus)) => self.probe(Probe::Difference(plus, minus.to_owned()), at),
                })
            }
            Node::Current(component) => {
                if matches!(uses, Uses::Nothing | Uses::Measures) {
                    let name = format!("i({component})");
                    return Err(self.fail(at, Problem::NotConstant { name }));
                }
                let component = self.component(scope, component);
                Ok(self.probe(Probe::Current(component), at))
            }
            Node::Minus(of) => Ok(match self.resolve(of, scope, locals, uses)? {
                Value::Number(value) => Value::Number(-value),
                value => Value::Formula {
                    text: format!("-{}", value.text(Level::Unary)),
                    level: Level::Unary,
                    linear: value.scaled(-1.0),
                },
            }),
            Node::Not(of) => Ok(match self.resolve(of, scope, locals, uses)? {
                Value::Number(value) => Value::Number(truth(value == 0.0)),
                value => Value::formula(format!("(not {})", value.text(Level::Atom)), Level::Atom),
            }),
            Node::Sum(terms) => self.sum(terms, scope, locals, uses),
            Node::Product(factors) => self.product(factors, scope, locals, uses),
            Node::Power(base, exponent) => {
                let base = self.resolve(base, scope, locals, uses)?;
                let exponent = self.resolve(exponent, scope, locals, uses)?;
                let text = format!("{}^{}", base.text(Level::Atom), exponent.text(Level::Atom));
                self.folded(text, Level::Power, &[base, exponent], at)
            }
            Node::Compare(sign, left, right) => {
                let left = self.resolve(left, scope, locals, uses)?;
                let right = self.resolve(right, scope, locals, uses)?;
                let text = format!("{} {sign} {}", left.text(Level::Sum), right.text(Level::Sum));
                self.folded(text, Level::Comparison, &[left, right], at)
            }
            Node::And(operands) => self.chained(operands, scope, locals, uses, "and", Level::And),
            Node::Or(operands) => self.chained(operands, scope, locals, uses, "or", Level::Or),
            Node::Choose(parts) => {
                let [condition, then, otherwise] = parts.as_ref();
                match self.resolve(condition, scope, locals, uses)? {
                    Value::Number(value) => {
                        let taken = if value != 0.0 { then } else { otherwise };
                        self.resolve(taken, scope, locals, uses)
                    }
                    condition => {
                        let then = self.resolve(then, scope, locals, uses)?;
                        let otherwise = self.resolve(otherwise, scope, locals, uses)?;
                        let [condition, then, otherwise] =
                            [condition, then, otherwise].map(|value| value.text(Level::Or));
                        let text = format!("if({condition}, {then}, {otherwise})");
                        Ok(Value::formula(text, Level::Atom))
                    }
                }
            }
            Node::Call(name, arguments) => self.call(name, arguments, at, scope, locals, uses),
        }
    }

    fn probe(&mut self, probe: Probe, at: At) -> Value {
        let value = Value::Formula {
            text: probe.to_string(),
            level: Level::Atom,
            linear: Some((probe.clone(), 1.0)),
        };
        self.probes.push((probe, at));
        value
    }

    fn sum(
        &mut self,
        terms: &'d [(bool, Expr)],
        scope: usize,
        locals: &[(&'d str, Value)],
        uses: Uses,
    ) -> Resolved {
        let mut so_far: Option<Value> = None;
        for (is_minus, term) in terms {
            let at = term.at;
            let term = self.resolve(term, scope, locals, uses)?;
            so_far = Some(match (so_far, term) {
                (None, term) => term,
                (Some(Value::Number(a)), Value::Number(b)) => {
                    Value::Number(if *is_minus { a - b } else { a + b })
                }
                (Some(a), b) => {
                    let sign = if *is_minus { '-' } else { '+' };
                    let factor = if *is_minus { -1.0 } else { 1.0 };
                    let linear = match (a.scaled(1.0), b.scaled(factor)) {
                        (Some((a, x)), Some((b, y))) if a == b => Some((a, x + y)),
                        _ => None,
                    };
                    let mut text = a.into_text(Level::Sum);
                    text.extend([' ', sign, ' ']);
                    text.push_str(&b.text(Level::Product));
                    self.check_length(&text, at)?;
                    Value::Formula { text, level: Level::Sum, linear }
                }
            });
        }
        Ok(so_far.unwrap_or(Value::Number(0.0)))
    }

    fn product(
        &mut self,
        factors: &'d [(Factor, Expr)],
        scope: usize,
        locals: &[(&'d str, Value)],
        uses: Uses,
    ) -> Resolved {
        let mut so_far: Option<Value> = None;
        for (kind, factor) in factors {
            let at = factor.at;
            let factor = self.resolve(factor, scope, locals, uses)?;
            so_far = Some(match (so_far, kind, factor) {
                (None, _, factor) => factor,
                (Some(Value::Number(a)), Factor::Times, Value::Number(b)) => Value::Number(a * b),
                (Some(Value::Number(a)), Factor::Over, Value::Number(b)) => Value::Number(a / b),
                (Some(a), Factor::Modulo, b) => {
                    let text = format!("mod({}, {})", a.text(Level::Or), b.text(Level::Or));
                    self.folded(text, Level::Atom, &[a, b], at)?
                }
                (Some(a), kind, b) => {
                    let is_over = *kind == Factor::Over;
                    let linear = match (&a, &b) {
                        (_, Value::Number(by)) if is_over => a.scaled(1.0 / by),
                        (_, Value::Number(by)) => a.scaled(*by),
                        (Value::Number(by), _) if !is_over => b.scaled(*by),
                        _ => None,
                    };
                    let sign = if is_over { '/' } else { '*' };
                    let mut text = a.into_text(Level::Product);
                    text.push(sign);
                    text.push_str(&b.text(Level::Unary));
                    self.check_length(&text, at)?;
                    Value::Formula { text, level: Level::Product, linear }
                }
            });
        }
        Ok(so_far.unwrap_or(Value::Number(1.0)))
    }

    fn chained(
        &mut self,
        operands: &'d [Expr],
        scope: usize,
        locals: &[(&'d str, Value)],
        uses: Uses,
        word: &str,
        level: Level,
    ) -> Resolved {
        let mut values = Vec::with_capacity(operands.len());
        for operand in operands {
            values.push(self.resolve(operand, scope, locals, uses)?);
        }
        let least = if level == Level::Or { Level::And } else { Level::Comparison };
        let texts: Vec<String> = values.iter().map(|value| value.text(least)).collect();
        let at = operands[0].at;
        self.folded(texts.join(&format!(" {word} ")), level, &values, at)
    }

    /// A formula, as a number if all it is made of are.
    fn folded(&self, text: String, level: Level, of: &[Value], at: At) -> Resolved {
        if of.iter().any(|value| matches!(value, Value::Formula { .. })) {
            return Ok(Value::formula(text, level));
        }
        match Formula::parse(&text, &[]) {
            Ok(formula) => Ok(Value::Number(formula.eval(&[]))),
            Err(reason) => Err(self.fail(at, Problem::Formula { reason })),
        }
    }

    fn name(
        &mut self,
        name: &'d str,
        at: At,
        scope: usize,
        locals: &[(&'d str, Value)],
        uses: Uses,
    ) -> Resolved {
        if let Some((_, value)) = locals.iter().find(|(known, _)| *known == name) {
            return Ok(value.clone());
        }
        if let Some(value) = self.parameter(scope, name, at)? {
            return Ok(Value::Number(value));
        }
        match (uses, name) {
            (Uses::Quantities | Uses::Signals, "time") => return Ok(self.probe(Probe::Time, at)),
            (_, "temper" | "temp") => return Ok(Value::Number(self.temperature)),
            (_, "pi") => return Ok(Value::Number(std::f64::consts::PI)),
            (Uses::Signals, _) => {
                let node = self.node(scope, name);
                return Ok(self.probe(Probe::Voltage(node), at));
            }
            (Uses::Measures, _) => return Ok(self.probe(Probe::Measure(name.to_owned()), at)),
            _ => {}
        }
        if let Some((_, value)) = CONSTANTS.iter().find(|(known, _)| *known == name) {
            return Ok(Value::Number(*value));
        }
        if name == "hertz" {
            let problem = Problem::NotSupported {
                name: name.to_owned(),
                element: None,
                what: "the frequency of `.ac`".to_owned(),
                instead: "`time`",
            };
            return Err(self.fail(at, problem));
        }
        let known = self.chain(scope).flat_map(|scope| self.scopes[scope].entries.keys());
        let mut known: Vec<&str> = known.map(String::as_str).collect();
        known.extend(locals.iter().map(|(name, _)| *name));
        known.sort_unstable();
        let problem = Problem::Unknown {
            kind: "parameter",
            name: name.to_owned(),
            nearest: nearest(name, known).map(str::to_owned),
        };
        Err(self.fail(at, problem))
    }

    /// The value of a parameter, if there is one.
    fn parameter(&mut self, scope: usize, name: &str, at: At) -> Result<Option<f64>, NetlistError> {
        let owner = self.chain(scope).find(|&scope| self.scopes[scope].entries.contains_key(name));
        let Some(owner) = owner else { return Ok(None) };
        match self.scopes[owner].entries[name] {
            Entry::Known(value) => Ok(Some(value)),
            Entry::Underway => {
                let from = self.underway.iter().position(|known| known == name).unwrap_or(0);
                let mut chain = self.underway[from..].to_vec();
                chain.push(name.to_owned());
                let problem = Problem::Cycle { kind: "parameter", name: name.to_owned(), chain };
                Err(self.fail(at, problem))
            }
            Entry::Given(expr, within) => {
                self.set_entry(owner, name, Entry::Underway);
                self.underway.push(name.to_owned());
                let value = self.resolve(expr, within, &[], Uses::Nothing)?;
                self.underway.pop();
                let value = match value {
                    Value::Number(value) if !value.is_nan() => value,
                    Value::Number(value) => {
                        let what = format!("parameter `{name}`");
                        let expected = "a number";
                        return Err(self.fail(expr.at, Problem::Value { what, value, expected }));
                    }
                    Value::Formula { text, .. } => {
                        return Err(self.fail(expr.at, Problem::NotConstant { name: text }));
                    }
                };
                self.set_entry(owner, name, Entry::Known(value));
                Ok(Some(value))
            }
        }
    }

    fn set_entry(&mut self, scope: usize, name: &str, entry: Entry<'d>) {
        self.scopes[scope].entries.insert(name.to_owned(), entry);
    }

    fn call(
        &mut self,
        name: &'d str,
        arguments: &'d [Expr],
        at: At,
        scope: usize,
        locals: &[(&'d str, Value)],
        uses: Uses,
    ) -> Resolved {
        let own = self.function(scope, name);
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.resolve(argument, scope, locals, uses)?);
        }
        if let Some((function, within)) = own {
            if values.len() != function.arguments.len() {
                let problem = Problem::Arguments {
                    function: name.to_owned(),
                    expected: match function.arguments.len() {
                        1 => "1 argument".to_owned(),
                        count => format!("{count} arguments"),
                    },
                    found: values.len(),
                };
                return Err(self.fail(at, problem));
            }
            let names = function.arguments.iter().map(String::as_str);
            let locals: Vec<(&'d str, Value)> = names.zip(values).collect();
            return self.resolve(&function.body, within, &locals, uses);
        }
        // as ngspice has it, `pwr` keeps the sign of signals, but not of parameters
        let is_signal = uses == Uses::Quantities;
        let name = if name == "pwr" && is_signal { "pwrs" } else { name };
        let Some(known) = FUNCTIONS.iter().find(|known| known.name == name) else {
            return Err(self.fail(at, self.unknown_function(scope, name)));
        };
        if values.len() < known.least || values.len() > known.most {
            let problem = Problem::Arguments {
                function: name.to_owned(),
                expected: known.arguments(),
                found: values.len(),
            };
            return Err(self.fail(at, problem));
        }
        if values.len() == 1 && ["max", "min"].contains(&name) {
            return Ok(values.remove(0)); // of one
        }
        let texts: Vec<String> = values.iter().map(|value| value.text(Level::Or)).collect();
        let text = known.formula(&texts);
        let level = if known.is_call() { Level::Atom } else { Level::Product };
        let text = if level == Level::Atom { text } else { format!("({text})") };
        self.folded(text, Level::Atom, &values, at)
    }

    /// A function of the netlist, and the scope it belongs to.
    fn function(&self, scope: usize, name: &str) -> Option<(&'d Function, usize)> {
        self.chain(scope).find_map(|scope| {
            let functions = &self.blocks[self.scopes[scope].block].functions;
            functions
                .iter()
                .rev()
                .find(|function| function.name == name)
                .map(|found| (found, scope))
        })
    }

    fn unknown_function(&self, scope: usize, name: &str) -> Problem {
        if let Some((_, what)) = NOT_SUPPORTED.iter().find(|(known, _)| *known == name) {
            return Problem::NotSupported {
                name: name.to_owned(),
                element: None,
                what: (*what).to_owned(),
                instead: "a function of what is there at that instant",
            };
        }
        let own =
            self.chain(scope).flat_map(|scope| &self.blocks[self.scopes[scope].block].functions);
        let known = own.map(|function| function.name.as_str());
        let known = known.chain(FUNCTIONS.iter().map(|known| known.name));
        Problem::Unknown {
            kind: "function",
            name: name.to_owned(),
            nearest: nearest(name, known).map(str::to_owned),
        }
    }
}

fn truth(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}
