//! The syntax tree: nodes in one list, children before parents.
//!
//! A list rather than boxes: `1+1+1+…` is a tree as deep as it is long, and a list is built, walked and dropped without
//! recursion. Constants are folded as nodes are added, so that a subtree without variables is always one number.

use crate::operation::{Binary, Unary, is_true};

/// A node, by its place in the list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NodeId(usize);

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Node {
    Number(f64),
    /// By its index in the caller's list.
    Variable(usize),
    Unary(Unary, NodeId),
    Binary(Binary, NodeId, NodeId),
    /// `if(condition, a, b)`
    If(NodeId, NodeId, NodeId),
}

/// The nodes of a formula. Folding leaves some that the root no longer reaches.
#[derive(Debug)]
pub(crate) struct Ast {
    nodes: Vec<Node>,
    root: NodeId,
}

impl Ast {
    pub(crate) fn root(&self) -> NodeId {
        self.root
    }

    pub(crate) fn node(&self, id: NodeId) -> Node {
        self.nodes[id.0]
    }
}

/// An [`Ast`] in the making.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    nodes: Vec<Node>,
}

impl Builder {
    pub(crate) fn leaf(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() - 1)
    }

    pub(crate) fn unary(&mut self, op: Unary, a: NodeId) -> NodeId {
        match self.nodes[a.0] {
            Node::Number(a) => self.leaf(Node::Number(op.apply(a))),
            _ => self.leaf(Node::Unary(op, a)),
        }
    }

    pub(crate) fn binary(&mut self, op: Binary, a: NodeId, b: NodeId) -> NodeId {
        match (self.nodes[a.0], self.nodes[b.0]) {
            (Node::Number(a), Node::Number(b)) => self.leaf(Node::Number(op.apply(a, b))),
            _ => self.leaf(Node::Binary(op, a, b)),
        }
    }

    /// A condition that is known takes its branch at once.
    pub(crate) fn select(&mut self, condition: NodeId, a: NodeId, b: NodeId) -> NodeId {
        match self.nodes[condition.0] {
            Node::Number(condition) => {
                if is_true(condition) {
                    a
                } else {
                    b
                }
            }
            _ => self.leaf(Node::If(condition, a, b)),
        }
    }

    pub(crate) fn finish(self, root: NodeId) -> Ast {
        Ast { nodes: self.nodes, root }
    }
}
