//! The expression graph: nodes in one list, operands before operations, every expression once.
//!
//! A list rather than boxes: `1+1+1+…` is a tree as deep as it is long, and a list is built, walked and dropped without
//! recursion. Constants are folded as nodes are added, so that what has no variables is always one number; and a node
//! that is there already is not added again, so that common subexpressions are shared, within an output and between
//! outputs.

use std::collections::HashMap;

use crate::operation::{Binary, Unary, is_true};
use crate::table::Table;

/// A node, by its place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeId(u32);

impl NodeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn at(index: usize) -> NodeId {
        // a node takes more than a byte of memory for each of its 2³² places
        NodeId(index as u32)
    }
}

/// A number that is the same as another if its bits are: NaN is itself, and −0 is not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Number(u64);

impl Number {
    pub(crate) fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Number {
        Number(value.to_bits())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    Number(Number),
    /// By its index in the caller's list.
    Variable(usize),
    Unary(Unary, NodeId),
    Binary(Binary, NodeId, NodeId),
    /// `if(condition, a, b)`
    If(NodeId, NodeId, NodeId),
    /// The value of a table, by its index, at a point.
    Table(usize, NodeId),
    /// The slope of a table.
    Slope(usize, NodeId),
}

impl Node {
    pub(crate) fn operands(self) -> impl Iterator<Item = NodeId> {
        let operands = match self {
            Node::Number(_) | Node::Variable(_) => [None; 3],
            Node::Unary(_, a) | Node::Table(_, a) | Node::Slope(_, a) => [Some(a), None, None],
            Node::Binary(_, a, b) => [Some(a), Some(b), None],
            Node::If(condition, a, b) => [Some(condition), Some(a), Some(b)],
        };
        operands.into_iter().flatten()
    }
}

/// Nodes and the tables they look up.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) tables: Vec<Table>,
}

impl Graph {
    pub(crate) fn node(&self, id: NodeId) -> Node {
        self.nodes[id.index()]
    }

    /// The value of a node that is a number.
    pub(crate) fn number(&self, id: NodeId) -> Option<f64> {
        match self.node(id) {
            Node::Number(number) => Some(number.value()),
            _ => None,
        }
    }

    /// Which nodes some of these need, themselves included.
    pub(crate) fn reached(&self, from: &[NodeId]) -> Vec<bool> {
        let mut reached = vec![false; self.nodes.len()];
        from.iter().for_each(|id| reached[id.index()] = true);
        for index in (0..self.nodes.len()).rev() {
            if reached[index] {
                self.nodes[index].operands().for_each(|id| reached[id.index()] = true);
            }
        }
        reached
    }
}

/// A [`Graph`] in the making.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    graph: Graph,
    known: HashMap<Node, NodeId>,
}

impl Builder {
    pub(crate) fn new(graph: &Graph) -> Builder {
        let places = (0..graph.nodes.len()).map(NodeId::at);
        let known = graph.nodes.iter().copied().zip(places).collect();
        Builder { graph: graph.clone(), known }
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    pub(crate) fn node(&self, id: NodeId) -> Node {
        self.graph.node(id)
    }

    /// The node, added unless it is there.
    pub(crate) fn add(&mut self, node: Node) -> NodeId {
        let nodes = &mut self.graph.nodes;
        *self.known.entry(node).or_insert_with(|| {
            nodes.push(node);
            NodeId::at(nodes.len() - 1)
        })
    }

    pub(crate) fn number(&mut self, value: f64) -> NodeId {
        self.add(Node::Number(value.into()))
    }

    pub(crate) fn unary(&mut self, op: Unary, a: NodeId) -> NodeId {
        match self.graph.number(a) {
            Some(a) => self.number(op.apply(a)),
            None => self.add(Node::Unary(op, a)),
        }
    }

    /// What is exactly the same in `f64` is made simpler: `x*1`, `x/1`, `x^1`, `x - 0`.
    pub(crate) fn binary(&mut self, op: Binary, a: NodeId, b: NodeId) -> NodeId {
        match (op, self.graph.number(a), self.graph.number(b)) {
            (_, Some(a), Some(b)) => self.number(op.apply(a, b)),
            (Binary::Mul, Some(1.0), _) => b,
            (Binary::Mul | Binary::Div | Binary::Pow, _, Some(1.0)) => a,
            (Binary::Sub, _, Some(zero)) if zero.to_bits() == 0 => a,
            // one order for operands whose order does not matter
            (Binary::Add | Binary::Mul, ..) => self.add(Node::Binary(op, a.min(b), a.max(b))),
            _ => self.add(Node::Binary(op, a, b)),
        }
    }

    /// A condition that is known takes its branch at once.
    pub(crate) fn select(&mut self, condition: NodeId, a: NodeId, b: NodeId) -> NodeId {
        match self.graph.number(condition) {
            _ if a == b => a,
            Some(condition) if is_true(condition) => a,
            Some(_) => b,
            None => self.add(Node::If(condition, a, b)),
        }
    }

    /// The place of a table, added unless it is there.
    pub(crate) fn intern(&mut self, table: &Table) -> usize {
        let tables = &mut self.graph.tables;
        tables.iter().position(|known| known == table).unwrap_or_else(|| {
            tables.push(table.clone());
            tables.len() - 1
        })
    }

    /// The value of a table at `x`.
    pub(crate) fn table(&mut self, table: usize, x: NodeId) -> NodeId {
        match self.graph.number(x) {
            Some(x) => self.number(self.graph.tables[table].value(x)),
            None => self.add(Node::Table(table, x)),
        }
    }

    /// The slope of a table at `x`.
    pub(crate) fn slope(&mut self, table: usize, x: NodeId) -> NodeId {
        match self.graph.number(x) {
            Some(x) => self.number(self.graph.tables[table].slope(x)),
            None => self.add(Node::Slope(table, x)),
        }
    }

    /// Takes what `outputs` need from another graph; the places they have here.
    pub(crate) fn take(&mut self, from: &Graph, outputs: &[NodeId]) -> Vec<NodeId> {
        self.take_with(from, outputs, |_| None)
    }

    /// The same with nodes of this graph in place of some variables.
    pub(crate) fn take_with(
        &mut self,
        from: &Graph,
        outputs: &[NodeId],
        given: impl Fn(usize) -> Option<NodeId>,
    ) -> Vec<NodeId> {
        let reached = from.reached(outputs);
        let mut places = vec![NodeId::at(0); from.nodes.len()];
        for (index, &node) in from.nodes.iter().enumerate().filter(|&(index, _)| reached[index]) {
            let place = |id: NodeId| places[id.index()];
            places[index] = match node {
                Node::Variable(variable) => given(variable).unwrap_or_else(|| self.add(node)),
                Node::Number(_) => self.add(node),
                Node::Unary(op, a) => self.unary(op, place(a)),
                Node::Binary(op, a, b) => self.binary(op, place(a), place(b)),
                Node::If(condition, a, b) => self.select(place(condition), place(a), place(b)),
                Node::Table(table, x) => {
                    let table = self.intern(&from.tables[table]);
                    self.table(table, place(x))
                }
                Node::Slope(table, x) => {
                    let table = self.intern(&from.tables[table]);
                    self.slope(table, place(x))
                }
            };
        }
        outputs.iter().map(|id| places[id.index()]).collect()
    }
}
