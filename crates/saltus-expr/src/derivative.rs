//! Exact derivatives, by the chain rule along the graph.
//!
//! ```text
//! ẏ = Σⱼ ∂y/∂xⱼ ẋⱼ          for every node y, operands first
//! ```
//!
//! with the rates ẋⱼ of the variables given: one of them 1 and the others 0 for a column of a Jacobian, velocities for a
//! derivative in time. A rate that is zero whatever the values is not there at all (`None`), and so costs nothing.
//!
//! Where a function has a kink or a jump, the derivative is that of the branch its value comes from: see the crate's
//! root for what that means at the kink itself.

use std::collections::HashMap;
use std::f64::consts::{LN_2, LN_10};

use crate::graph::{Builder, Node, NodeId};
use crate::operation::{Binary, Unary};

/// A rate of change, if it can be other than zero.
pub(crate) type Rate = Option<NodeId>;

/// The rates of the first `count` nodes, given those of the variables.
pub(crate) fn rates(
    graph: &mut Builder,
    count: usize,
    variable: impl Fn(usize) -> Rate,
) -> Vec<Rate> {
    let mut rates: Vec<Rate> = Vec::with_capacity(count);
    for index in 0..count {
        let node = NodeId::at(index);
        let of = |id: NodeId| rates[id.index()];
        let rate = match graph.node(node) {
            Node::Number(_) => None,
            Node::Variable(index) => variable(index),
            Node::Unary(op, a) => of(a).and_then(|rate| unary(graph, op, node, a, rate)),
            Node::Binary(op, a, b) => match (of(a), of(b)) {
                (None, None) => None,
                (rate_a, rate_b) => binary(graph, op, node, (a, rate_a), (b, rate_b)),
            },
            Node::If(condition, a, b) => branch(graph, condition, of(a), of(b)),
            Node::Table(table, x) => of(x).map(|rate| {
                let slope = graph.slope(table, x);
                times(graph, slope, rate)
            }),
            Node::Slope(..) => None,
        };
        rates.push(rate.filter(|&rate| graph.graph().number(rate) != Some(0.0)));
    }
    rates
}

/// The rate of `y = op(a)`.
fn unary(graph: &mut Builder, op: Unary, y: NodeId, a: NodeId, rate: NodeId) -> Rate {
    let one = graph.number(1.0);
    Some(match op {
        Unary::Neg => negative(graph, rate),
        Unary::Sin => {
            let cos = graph.unary(Unary::Cos, a);
            times(graph, cos, rate)
        }
        Unary::Cos => {
            let sin = graph.unary(Unary::Sin, a);
            let product = times(graph, sin, rate);
            negative(graph, product)
        }
        // tan' = 1 + tan²,  tanh' = 1 − tanh²
        Unary::Tan | Unary::Tanh => {
            let sign = if op == Unary::Tan { Binary::Add } else { Binary::Sub };
            let square = square(graph, y);
            let slope = graph.binary(sign, one, square);
            times(graph, slope, rate)
        }
        // asin' = 1/√(1 − a²) = −acos'
        Unary::Asin | Unary::Acos => {
            let square = square(graph, a);
            let rest = graph.binary(Binary::Sub, one, square);
            let root = graph.unary(Unary::Sqrt, rest);
            let quotient = over(graph, rate, root);
            if op == Unary::Asin { quotient } else { negative(graph, quotient) }
        }
        Unary::Atan => {
            let square = square(graph, a);
            let sum = graph.binary(Binary::Add, one, square);
            over(graph, rate, sum)
        }
        Unary::Sinh => {
            let cosh = graph.unary(Unary::Cosh, a);
            times(graph, cosh, rate)
        }
        Unary::Cosh => {
            let sinh = graph.unary(Unary::Sinh, a);
            times(graph, sinh, rate)
        }
        Unary::Exp => times(graph, y, rate),
        Unary::Ln => over(graph, rate, a),
        Unary::Log10 | Unary::Log2 => {
            let base = graph.number(if op == Unary::Log10 { LN_10 } else { LN_2 });
            let divisor = graph.binary(Binary::Mul, base, a);
            over(graph, rate, divisor)
        }
        // √' = 1/(2√a)
        Unary::Sqrt => {
            let two = graph.number(2.0);
            let divisor = graph.binary(Binary::Mul, two, y);
            over(graph, rate, divisor)
        }
        Unary::Abs => {
            let sign = graph.unary(Unary::Sign, a);
            times(graph, sign, rate)
        }
        Unary::Not | Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Round | Unary::Heaviside => {
            return None;
        }
    })
}

/// The rate of `y = op(a, b)`, from the operands and their rates.
fn binary(
    graph: &mut Builder,
    op: Binary,
    y: NodeId,
    (a, rate_a): (NodeId, Rate),
    (b, rate_b): (NodeId, Rate),
) -> Rate {
    match op {
        Binary::Add => sum(graph, rate_a, rate_b),
        Binary::Sub => difference(graph, rate_a, rate_b),
        Binary::Mul => {
            let left = rate_a.map(|rate| times(graph, b, rate));
            let right = rate_b.map(|rate| times(graph, a, rate));
            sum(graph, left, right)
        }
        // (ȧ − y ḃ)/b
        Binary::Div => {
            let right = rate_b.map(|rate| times(graph, y, rate));
            let rest = difference(graph, rate_a, right);
            rest.map(|rest| over(graph, rest, b))
        }
        Binary::Pow => {
            let left = rate_a.map(|rate| {
                let slope = power_by_base(graph, a, b);
                times(graph, slope, rate)
            });
            let right = rate_b.map(|rate| {
                let slope = power_by_exponent(graph, y, a, b);
                times(graph, slope, rate)
            });
            sum(graph, left, right)
        }
        // (b ȧ − a ḃ)/(a² + b²)
        Binary::Atan2 => {
            let left = rate_a.map(|rate| times(graph, b, rate));
            let right = rate_b.map(|rate| times(graph, a, rate));
            let (square_a, square_b) = (square(graph, a), square(graph, b));
            let squares = graph.binary(Binary::Add, square_a, square_b);
            difference(graph, left, right).map(|rest| over(graph, rest, squares))
        }
        // (a ȧ + b ḃ)/y, and 0 at the tip of the cone
        Binary::Hypot => {
            let mut part = |operand: NodeId, rate: Rate| {
                let quotient = graph.binary(Binary::Div, operand, y);
                let zero = graph.number(0.0);
                let slope = graph.select(y, quotient, zero);
                rate.map(|rate| times(graph, slope, rate))
            };
            let (left, right) = (part(a, rate_a), part(b, rate_b));
            sum(graph, left, right)
        }
        // a − n b with whole n = (a − y)/b
        Binary::Mod => {
            let right = rate_b.map(|rate| {
                let whole = graph.binary(Binary::Sub, a, y);
                let quotient = graph.binary(Binary::Div, whole, b);
                let n = graph.unary(Unary::Round, quotient);
                times(graph, n, rate)
            });
            difference(graph, rate_a, right)
        }
        // a where it is the smaller, b else, as the value
        Binary::Min => {
            let is_a = graph.binary(Binary::Less, a, b);
            branch(graph, is_a, rate_a, rate_b)
        }
        Binary::Max => {
            let is_a = graph.binary(Binary::Greater, a, b);
            branch(graph, is_a, rate_a, rate_b)
        }
        Binary::Less
        | Binary::LessEqual
        | Binary::Greater
        | Binary::GreaterEqual
        | Binary::Equal
        | Binary::NotEqual
        | Binary::And
        | Binary::Or => None,
    }
}

/// ∂(aᵇ)/∂a = b aᵇ⁻¹, and 0 for b = 0 even where a⁻¹ is infinite.
fn power_by_base(graph: &mut Builder, a: NodeId, b: NodeId) -> NodeId {
    let (zero, one) = (graph.number(0.0), graph.number(1.0));
    let less = graph.binary(Binary::Sub, b, one);
    let power = graph.binary(Binary::Pow, a, less);
    let slope = graph.binary(Binary::Mul, b, power);
    graph.select(b, slope, zero)
}

/// ∂(aᵇ)/∂b = aᵇ ln a, and 0 for 0 to a positive power.
fn power_by_exponent(graph: &mut Builder, y: NodeId, a: NodeId, b: NodeId) -> NodeId {
    let zero = graph.number(0.0);
    let log = graph.unary(Unary::Ln, a);
    let slope = graph.binary(Binary::Mul, y, log);
    let is_zero = graph.binary(Binary::Equal, a, zero);
    let is_positive = graph.binary(Binary::Greater, b, zero);
    let is_flat = graph.binary(Binary::And, is_zero, is_positive);
    graph.select(is_flat, zero, slope)
}

fn square(graph: &mut Builder, a: NodeId) -> NodeId {
    let two = graph.number(2.0);
    graph.binary(Binary::Pow, a, two)
}

/// The rate of the branch that is taken.
fn branch(graph: &mut Builder, condition: NodeId, a: Rate, b: Rate) -> Rate {
    if (a, b) == (None, None) {
        return None;
    }
    let zero = graph.number(0.0);
    Some(graph.select(condition, a.unwrap_or(zero), b.unwrap_or(zero)))
}

fn negative(graph: &mut Builder, a: NodeId) -> NodeId {
    match graph.node(a) {
        Node::Unary(Unary::Neg, a) => a,
        _ => graph.unary(Unary::Neg, a),
    }
}

fn sum(graph: &mut Builder, a: Rate, b: Rate) -> Rate {
    let (Some(left), Some(right)) = (a, b) else {
        return a.or(b);
    };
    Some(match (graph.node(left), graph.node(right)) {
        (_, Node::Unary(Unary::Neg, right)) => graph.binary(Binary::Sub, left, right),
        (Node::Unary(Unary::Neg, left), _) => graph.binary(Binary::Sub, right, left),
        _ if left == right => {
            let two = graph.number(2.0);
            graph.binary(Binary::Mul, two, left)
        }
        _ => graph.binary(Binary::Add, left, right),
    })
}

fn difference(graph: &mut Builder, a: Rate, b: Rate) -> Rate {
    match (a, b) {
        (Some(left), Some(right)) if left == right => None,
        (Some(left), Some(right)) => Some(match graph.node(right) {
            Node::Unary(Unary::Neg, right) => graph.binary(Binary::Add, left, right),
            _ => graph.binary(Binary::Sub, left, right),
        }),
        (None, Some(right)) => Some(negative(graph, right)),
        (left, None) => left,
    }
}

/// `factor` times a rate.
fn times(graph: &mut Builder, factor: NodeId, rate: NodeId) -> NodeId {
    if let Node::Unary(Unary::Neg, rate) = graph.node(rate) {
        let product = times(graph, factor, rate);
        return negative(graph, product);
    }
    by_branch(graph, rate, |graph, rate| {
        match (graph.graph().number(factor), graph.graph().number(rate)) {
            (Some(0.0), _) => factor,
            (Some(-1.0), None) => negative(graph, rate),
            (None, Some(-1.0)) => negative(graph, factor),
            _ => graph.binary(Binary::Mul, factor, rate),
        }
    })
}

/// A rate over `divisor`.
fn over(graph: &mut Builder, rate: NodeId, divisor: NodeId) -> NodeId {
    if let Node::Unary(Unary::Neg, rate) = graph.node(rate) {
        let quotient = over(graph, rate, divisor);
        return negative(graph, quotient);
    }
    by_branch(graph, rate, |graph, rate| graph.binary(Binary::Div, rate, divisor))
}

/// A multiple of a rate, branch by branch if the rate is zero in some: there it stays zero, whatever it is multiplied
/// with. So √max(x, 0) has the derivative 0 for x < 0, though that of √ is infinite.
fn by_branch(
    graph: &mut Builder,
    rate: NodeId,
    multiple: impl Fn(&mut Builder, NodeId) -> NodeId,
) -> NodeId {
    if !matches!(graph.node(rate), Node::If(..)) {
        return multiple(graph, rate);
    }

    // the branches, each before those inside it
    let mut branches = vec![rate];
    let mut seen = HashMap::from([(rate, rate)]);
    let mut next = 0;
    while let Some(&branch) = branches.get(next) {
        next += 1;
        if let Node::If(_, a, b) = graph.node(branch) {
            for inner in [a, b] {
                if seen.insert(inner, inner).is_none() {
                    branches.push(inner);
                }
            }
        }
    }
    let is_zero = |graph: &Builder, id: NodeId| graph.graph().number(id) == Some(0.0);
    if !branches.iter().any(|&branch| is_zero(graph, branch)) {
        return multiple(graph, rate);
    }

    // operands have lower places than operations
    branches.sort_unstable();
    let mut multiples = seen;
    for branch in branches {
        let result = match graph.node(branch) {
            Node::If(condition, a, b) => graph.select(condition, multiples[&a], multiples[&b]),
            _ if is_zero(graph, branch) => branch,
            _ => multiple(graph, branch),
        };
        multiples.insert(branch, result);
    }
    multiples[&rate]
}
