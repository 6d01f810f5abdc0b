//! The compiled form: a formula in postfix order, for a stack of numbers.
//!
//! ```text
//! m*g + k*x   →   m g * k x * +        stack never above 3
//! ```
//!
//! There are no jumps: both branches of an `if` are computed, and one is taken.

use crate::ast::{Ast, Node, NodeId};
use crate::operation::{Binary, Unary, is_true};

/// Stack that `eval` has without asking for memory.
const INLINE_DEPTH: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Instruction {
    Number(f64),
    Variable(usize),
    Unary(Unary),
    Binary(Binary),
    If,
}

/// Instructions, and what is known of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tape {
    code: Vec<Instruction>,
    depth: usize,          // most numbers on the stack at a time
    variables: Vec<usize>, // that occur, ascending
}

impl Tape {
    pub(crate) fn compile(ast: &Ast) -> Tape {
        let code = postfix(ast);
        let depth = depth(&code);
        let variable = |instruction: &Instruction| match *instruction {
            Instruction::Variable(index) => Some(index),
            _ => None,
        };
        let mut variables: Vec<usize> = code.iter().filter_map(variable).collect();
        variables.sort_unstable();
        variables.dedup();
        Tape { code, depth, variables }
    }

    pub(crate) fn variables(&self) -> &[usize] {
        &self.variables
    }

    pub(crate) fn eval(&self, values: &[f64]) -> f64 {
        if self.depth <= INLINE_DEPTH {
            self.run(values, &mut [0.0; INLINE_DEPTH])
        } else {
            self.run(values, &mut vec![0.0; self.depth])
        }
    }

    fn run(&self, values: &[f64], stack: &mut [f64]) -> f64 {
        let mut len = 0; // numbers on the stack
        for &instruction in &self.code {
            match instruction {
                Instruction::Number(value) => {
                    stack[len] = value;
                    len += 1;
                }
                Instruction::Variable(index) => {
                    stack[len] = values[index];
                    len += 1;
                }
                Instruction::Unary(op) => stack[len - 1] = op.apply(stack[len - 1]),
                Instruction::Binary(op) => {
                    len -= 1;
                    stack[len - 1] = op.apply(stack[len - 1], stack[len]);
                }
                Instruction::If => {
                    len -= 2;
                    let taken = if is_true(stack[len - 1]) { len } else { len + 1 };
                    stack[len - 1] = stack[taken];
                }
            }
        }
        debug_assert_eq!(len, 1);
        stack[0]
    }
}

/// The nodes that the root reaches, operands before operations.
fn postfix(ast: &Ast) -> Vec<Instruction> {
    enum Task {
        Visit(NodeId),
        Emit(Instruction),
    }
    use Task::{Emit, Visit};

    let mut code = Vec::new();
    let mut tasks = vec![Visit(ast.root())]; // the last is next
    while let Some(task) = tasks.pop() {
        match task {
            Emit(instruction) => code.push(instruction),
            Visit(id) => match ast.node(id) {
                Node::Number(value) => code.push(Instruction::Number(value)),
                Node::Variable(index) => code.push(Instruction::Variable(index)),
                Node::Unary(op, a) => tasks.extend([Emit(Instruction::Unary(op)), Visit(a)]),
                Node::Binary(op, a, b) => {
                    tasks.extend([Emit(Instruction::Binary(op)), Visit(b), Visit(a)])
                }
                Node::If(condition, a, b) => {
                    tasks.extend([Emit(Instruction::If), Visit(b), Visit(a), Visit(condition)]);
                }
            },
        }
    }
    code
}

/// The most numbers the code has on the stack at a time.
fn depth(code: &[Instruction]) -> usize {
    let mut len = 0;
    let mut depth = 0;
    for instruction in code {
        match instruction {
            Instruction::Number(_) | Instruction::Variable(_) => len += 1,
            Instruction::Unary(_) => {}
            Instruction::Binary(_) => len -= 1,
            Instruction::If => len -= 2,
        }
        depth = depth.max(len);
    }
    depth
}
