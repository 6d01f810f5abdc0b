//! Several formulas over one list of variables, evaluated together, and their exact derivatives.

use std::ops::Range;

use crate::derivative::rates;
use crate::error::ExprError;
use crate::graph::{Builder, Graph, Node, NodeId};
use crate::nearest::nearest;
use crate::operation::{Binary, Unary};
use crate::parser;
use crate::shape::Shape;
use crate::tape::Tape;
use crate::tier::Tier;
use crate::vocabulary::{CONSTANTS, constant};

/// y = f(x): formulas over one list of variables.
///
/// What outputs have in common is computed once. Evaluation allocates nothing (for functions with more than 256
/// intermediate values alive at a time: nothing after the first on a thread), and a function can be shared by threads.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    graph: Graph, // only what the outputs need
    outputs: Vec<NodeId>,
    variables: usize,
    tape: Tape,
    tier: Tier,
}

/// How fast a variable changes, for [`Function::rate`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// At this rate: the time at 1.
    Number(f64),
    /// At the rate that is the variable with this index: a position at its velocity.
    Variable(usize),
}

impl Function {
    /// Parses one formula an output; they may use the names in `variables`, plain (`g`) or indexed (`x[0]`).
    ///
    /// What can be computed without values is computed here, once. A variable hides a constant of the same name; one
    /// with a reserved name ([`is_reserved`](crate::is_reserved)) can never be reached.
    ///
    /// An error is of the kind [`ExprError::Among`], which tells the text.
    pub fn parse(texts: &[&str], variables: &[&str]) -> Result<Function, ExprError> {
        Function::parse_with(texts, variables, &[])
    }

    /// The same, with names that stand for numbers, which are folded into the formulas. They hide the constants of the
    /// language, and are hidden by variables.
    pub fn parse_with(
        texts: &[&str],
        variables: &[&str],
        constants: &[(&str, f64)],
    ) -> Result<Function, ExprError> {
        let mut graph = Builder::default();
        let mut outputs = Vec::with_capacity(texts.len());
        for (index, text) in texts.iter().enumerate() {
            let resolve = |name: &str, span| look_up(name, span, variables, constants);
            let output = parser::parse(text, &mut graph, resolve)
                .map_err(|error| ExprError::Among { text: index, error: Box::new(error) })?;
            outputs.push(output);
        }
        Ok(Function::new(graph.graph(), &outputs, variables.len()))
    }

    /// Parses one text, a formula, a vector `[a, b, c]` or a matrix `[[a, b], [c, d]]`; the outputs are its entries,
    /// row by row.
    pub fn parse_array(text: &str, variables: &[&str]) -> Result<(Function, Shape), ExprError> {
        Function::parse_array_with(text, variables, &[])
    }

    /// The same, with names that stand for numbers, as in [`parse_with`](Function::parse_with).
    pub fn parse_array_with(
        text: &str,
        variables: &[&str],
        constants: &[(&str, f64)],
    ) -> Result<(Function, Shape), ExprError> {
        let mut graph = Builder::default();
        let resolve = |name: &str, span| look_up(name, span, variables, constants);
        let (outputs, shape) = parser::parse_array(text, &mut graph, resolve)?;
        Ok((Function::new(graph.graph(), &outputs, variables.len()), shape))
    }

    /// Keeps of a graph what the outputs need.
    fn new(graph: &Graph, outputs: &[NodeId], variables: usize) -> Function {
        let mut kept = Builder::default();
        let outputs = kept.take(graph, outputs);
        let graph = kept.graph().clone();
        let tape = Tape::compile(&graph, &outputs);
        Function { graph, outputs, variables, tape, tier: Tier::default() }
    }

    /// The outputs, given the values of the variables.
    ///
    /// # Panics
    ///
    /// If `out` has not the length of the outputs, or `values` is too short to hold a variable that the function
    /// [`uses`](Function::uses); a function that [`is_constant`](Function::is_constant) needs none.
    pub fn eval(&self, values: &[f64], out: &mut [f64]) {
        assert_eq!(out.len(), self.outputs.len(), "room for the outputs of a function");
        if !self.tier.eval(&self.graph, &self.outputs, values, out) {
            self.tape.eval(values, out);
        }
    }

    /// Compiles to machine code now, for this function and its clones, rather than once it has been evaluated some ten
    /// thousand times: evaluations allocate nothing from here on. Takes some tenths of a millisecond, and does nothing
    /// without the feature `jit` or where there is no compiler for the processor.
    pub fn compile(&self) {
        self.tier.compile(&self.graph, &self.outputs);
    }

    /// The number of outputs.
    #[expect(clippy::len_without_is_empty, reason = "not a collection")]
    pub fn len(&self) -> usize {
        self.outputs.len()
    }

    /// The number of variables, used or not.
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// Whether some output depends on the variable with this index: it occurs, and not only in a branch never taken.
    pub fn uses(&self, variable: usize) -> bool {
        self.tape.variables().binary_search(&variable).is_ok()
    }

    /// The variables that occur, ascending.
    pub fn used(&self) -> &[usize] {
        self.tape.variables()
    }

    /// Whether an output depends on a variable: the pattern of the Jacobian is part of this.
    pub fn depends(&self, output: usize, variable: usize) -> bool {
        let reached = self.graph.reached(&[self.outputs[output]]);
        let mut nodes = self.graph.nodes.iter().zip(reached);
        nodes.any(|(node, reached)| reached && *node == Node::Variable(variable))
    }

    /// Whether no output depends on a variable.
    pub fn is_constant(&self) -> bool {
        self.tape.variables().is_empty()
    }

    /// The value of an output that depends on no variable.
    pub fn constant(&self, output: usize) -> Option<f64> {
        self.graph.number(self.outputs[output])
    }

    /// The outputs that are zero whatever the values, ascending.
    pub fn zeros(&self) -> Vec<usize> {
        (0..self.len()).filter(|&output| self.constant(output) == Some(0.0)).collect()
    }

    /// The other outputs: the pattern of a Jacobian, row by row.
    pub fn nonzeros(&self) -> Vec<usize> {
        (0..self.len()).filter(|&output| self.constant(output) != Some(0.0)).collect()
    }

    /// A function of some of the outputs, in the order given: of a sparse Jacobian, its [`nonzeros`](Self::nonzeros).
    pub fn select(&self, outputs: &[usize]) -> Function {
        let outputs: Vec<NodeId> = outputs.iter().map(|&output| self.outputs[output]).collect();
        Function::new(&self.graph, &outputs, self.variables)
    }

    /// The outputs of this function and then those of `other`, which has the same variables: what both have in common,
    /// such as a function and its Jacobian, is computed once.
    pub fn join(&self, other: &Function) -> Function {
        let mut graph = Builder::new(&self.graph);
        let mut outputs = self.outputs.clone();
        outputs.extend(graph.take(&other.graph, &other.outputs));
        Function::new(graph.graph(), &outputs, self.variables.max(other.variables))
    }

    /// f − g, output by output, for as many as both have; they have the same variables.
    pub fn minus(&self, other: &Function) -> Function {
        let mut graph = Builder::new(&self.graph);
        let subtracted = graph.take(&other.graph, &other.outputs);
        let pairs = self.outputs.iter().zip(subtracted);
        let outputs: Vec<NodeId> = pairs.map(|(&f, g)| graph.binary(Binary::Sub, f, g)).collect();
        Function::new(graph.graph(), &outputs, self.variables.max(other.variables))
    }

    /// The function where these variables are zero; they stay in the list, and are not used.
    pub fn without(&self, variables: Range<usize>) -> Function {
        let mut graph = Builder::default();
        let zero = graph.number(0.0);
        let place = |variable| variables.contains(&variable).then_some(zero);
        let outputs = graph.take_with(&self.graph, &self.outputs, place);
        Function::new(graph.graph(), &outputs, self.variables)
    }

    /// ∂fᵢ/∂xⱼ for all outputs i and the variables j in `with_respect_to`, row by row.
    ///
    /// Exact, and again a function that can be differentiated. What kinks and jumps give is said at the crate's root.
    pub fn jacobian(&self, with_respect_to: &[usize]) -> Function {
        let mut graph = Builder::new(&self.graph);
        let zero = graph.number(0.0);
        let (rows, cols) = (self.len(), with_respect_to.len());
        let mut entries = vec![zero; rows * cols];
        for (col, &variable) in with_respect_to.iter().enumerate() {
            if !self.uses(variable) {
                continue;
            }
            let one = graph.number(1.0);
            let rates =
                rates(&mut graph, self.graph.nodes.len(), |j| (j == variable).then_some(one));
            for (row, output) in self.outputs.iter().enumerate() {
                entries[row * cols + col] = rates[output.index()].unwrap_or(zero);
            }
        }
        Function::new(graph.graph(), &entries, self.variables)
    }

    /// What a condition compares: `b − a` for `a < b`, `a − b` for `a > b`, one output a comparison.
    ///
    /// `None` where the first output is not made of these comparisons (`<`, `<=`, `>`, `>=`) and `and`, `or`, `not`
    /// alone. Where a condition changes, one of its margins changes its sign, and is smooth where its sides are.
    pub fn margins(&self) -> Option<Function> {
        let mut graph = Builder::new(&self.graph);
        let (mut margins, mut open) = (Vec::new(), vec![*self.outputs.first()?]);
        while let Some(id) = open.pop() {
            let margin = match self.graph.node(id) {
                Node::Unary(Unary::Not, a) => {
                    open.push(a);
                    continue;
                }
                Node::Binary(Binary::And | Binary::Or, a, b) => {
                    open.extend([b, a]);
                    continue;
                }
                Node::Binary(Binary::Less | Binary::LessEqual, a, b) => {
                    graph.binary(Binary::Sub, b, a)
                }
                Node::Binary(Binary::Greater | Binary::GreaterEqual, a, b) => {
                    graph.binary(Binary::Sub, a, b)
                }
                _ => return None,
            };
            if !margins.contains(&margin) {
                margins.push(margin);
            }
        }
        Some(Function::new(graph.graph(), &margins, self.variables))
    }

    /// Σⱼ ∂fᵢ/∂xⱼ ẋⱼ for all outputs i, the variables changing as given by pairs (j, ẋⱼ), and the others not.
    ///
    /// For h(t, q) with velocities v this is the derivative in time, ∂h/∂t + H v: see the example at the crate's root.
    /// A rate may be a variable beyond the list, which is then that long.
    pub fn rate(&self, of: &[(usize, Rate)]) -> Function {
        let mut graph = Builder::new(&self.graph);
        let mut variables = self.variables;
        let mut of_variables = vec![None; self.variables];
        for &(variable, rate) in of {
            let rate = match rate {
                Rate::Number(0.0) => None,
                Rate::Number(rate) => Some(graph.number(rate)),
                Rate::Variable(index) => {
                    variables = variables.max(index + 1);
                    Some(graph.add(Node::Variable(index)))
                }
            };
            if let Some(place) = of_variables.get_mut(variable) {
                *place = rate;
            }
        }
        let rates = rates(&mut graph, self.graph.nodes.len(), |j| of_variables[j]);
        let zero = graph.number(0.0);
        let of_output = |output: &NodeId| rates[output.index()].unwrap_or(zero);
        let outputs: Vec<NodeId> = self.outputs.iter().map(of_output).collect();
        Function::new(graph.graph(), &outputs, variables)
    }
}

/// What a name stands for: a variable, else a constant, of the caller or of the language.
fn look_up(
    name: &str,
    span: Range<usize>,
    variables: &[&str],
    constants: &[(&str, f64)],
) -> Result<Node, ExprError> {
    if let Some(index) = variables.iter().position(|&variable| variable == name) {
        return Ok(Node::Variable(index));
    }
    let given = constants.iter().find(|&&(known, _)| known == name).map(|&(_, value)| value);
    if let Some(value) = given.or_else(|| constant(name)) {
        return Ok(Node::Number(value.into()));
    }

    // the name meant: `x[0]` for a bare `x`, else the nearest one
    let given = constants.iter().map(|&(name, _)| name);
    let mine = variables.iter().copied().chain(given);
    let others = CONSTANTS.iter().map(|&(name, _)| name);
    let has_index =
        |known: &&str| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('['));
    let meant = mine.clone().find(has_index);
    let meant = meant.or_else(|| nearest(name, mine.chain(others)));
    Err(ExprError::UnknownName { name: name.to_owned(), nearest: meant.map(str::to_owned), span })
}
