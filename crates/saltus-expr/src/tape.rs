//! The compiled form: instructions on a file of registers.
//!
//! ```text
//! m*g + k*x   →   r4 ← r0·r1 + r2·r3          one instruction, `MulAddMul`
//! ```
//!
//! The first registers hold the constants, those after them the variables that are used; both are copied there before
//! the instructions run. An operation whose only use is in the next one is done together with it, in the same order and
//! with the same roundings as if it stood alone. Registers are used again once nobody needs their value.
//!
//! There are no jumps: both branches of an `if` are computed, and one is taken.
//!
//! With at most 256 registers, which is nearly always, a register's number is a byte, and no access needs a check.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Index;

use crate::graph::{Graph, Node, NodeId};
use crate::operation::{Binary, Unary, is_true, pow};
use crate::table::Table;

/// Registers that a byte can name.
const SMALL: usize = 256;

thread_local! {
    static REGISTERS: Cell<[f64; SMALL]> = const { Cell::new([0.0; SMALL]) };
    static MANY_REGISTERS: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

/// Operations by what they compute from up to four registers; lookups apart.
macro_rules! operations {
    (|$a:ident, $b:ident, $c:ident, $d:ident| $($name:ident => $value:expr,)*) => {
        /// What an instruction computes. Names tell the order: `MulSub` is `a*b - c`, `SubFromMul` is `c - a*b`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        enum Op {
            $($name,)*
            /// The value at the first operand of the table whose index is the second.
            Table,
            /// Its slope there.
            Slope,
            /// The sine of the first operand, and its cosine into the register that is the second.
            SinCos,
        }

        impl Op {
            /// The result. Operands are read only where they are needed.
            #[inline(always)]
            fn apply<R: Register>(
                instruction: &Instruction<R>,
                register: impl Fn(R) -> f64,
                set: impl Fn(R, f64),
                tables: &[Table],
            ) -> f64 {
                match instruction.op {
                    $(Op::$name => {
                        let $a = register(instruction.a);
                        let $b = register(instruction.b);
                        let $c = register(instruction.c);
                        let $d = register(instruction.d);
                        let _ = ($a, $b, $c, $d);
                        $value
                    })*
                    Op::Table => tables[instruction.b.index()].value(register(instruction.a)),
                    Op::Slope => tables[instruction.b.index()].slope(register(instruction.a)),
                    Op::SinCos => {
                        let (sin, cos) = register(instruction.a).sin_cos();
                        set(instruction.b, cos);
                        sin
                    }
                }
            }
        }
    };
}

operations! { |a, b, c, d|
    Neg => -a,
    Not => Unary::Not.apply(a),
    Sin => a.sin(),
    Cos => a.cos(),
    Tan => a.tan(),
    Asin => a.asin(),
    Acos => a.acos(),
    Atan => a.atan(),
    Sinh => a.sinh(),
    Cosh => a.cosh(),
    Tanh => a.tanh(),
    Exp => a.exp(),
    Ln => a.ln(),
    Log10 => a.log10(),
    Log2 => a.log2(),
    Sqrt => a.sqrt(),
    Abs => a.abs(),
    Sign => Unary::Sign.apply(a),
    Floor => a.floor(),
    Ceil => a.ceil(),
    Round => a.round(),
    Heaviside => Unary::Heaviside.apply(a),
    Square => a * a,
    Cube => a * (a * a),
    Fourth => (a * a) * (a * a),
    Reciprocal => 1.0 / a,

    Add => a + b,
    Sub => a - b,
    Mul => a * b,
    Div => a / b,
    Pow => pow(a, b),
    Atan2 => a.atan2(b),
    Hypot => a.hypot(b),
    Mod => Binary::Mod.apply(a, b),
    Min => Binary::Min.apply(a, b),
    Max => Binary::Max.apply(a, b),
    Less => Binary::Less.apply(a, b),
    LessEqual => Binary::LessEqual.apply(a, b),
    Greater => Binary::Greater.apply(a, b),
    GreaterEqual => Binary::GreaterEqual.apply(a, b),
    Equal => Binary::Equal.apply(a, b),
    NotEqual => Binary::NotEqual.apply(a, b),
    And => Binary::And.apply(a, b),
    Or => Binary::Or.apply(a, b),

    If => if is_true(a) { b } else { c },
    IfLess => if a < b { c } else { d },
    IfLessEqual => if a <= b { c } else { d },
    IfGreater => if a > b { c } else { d },
    IfGreaterEqual => if a >= b { c } else { d },
    IfEqual => if a == b { c } else { d },
    IfNotEqual => if a != b { c } else { d },

    AddAdd => (a + b) + c,
    AddSub => (a + b) - c,
    SubFromAdd => c - (a + b),
    AddMul => (a + b) * c,
    AddDiv => (a + b) / c,
    DivByAdd => c / (a + b),
    SubAdd => (a - b) + c,
    SubSub => (a - b) - c,
    SubFromSub => c - (a - b),
    SubMul => (a - b) * c,
    SubDiv => (a - b) / c,
    DivBySub => c / (a - b),
    MulAdd => a * b + c,
    MulSub => a * b - c,
    SubFromMul => c - a * b,
    MulMul => (a * b) * c,
    MulDiv => (a * b) / c,
    DivByMul => c / (a * b),
    DivAdd => a / b + c,
    DivSub => a / b - c,
    SubFromDiv => c - a / b,
    DivMul => (a / b) * c,
    DivDiv => (a / b) / c,
    DivByDiv => c / (a / b),
    MulAddMul => a * b + c * d,
    MulSubMul => a * b - c * d,
}

impl Op {
    fn unary(op: Unary) -> Op {
        match op {
            Unary::Neg => Op::Neg,
            Unary::Not => Op::Not,
            Unary::Sin => Op::Sin,
            Unary::Cos => Op::Cos,
            Unary::Tan => Op::Tan,
            Unary::Asin => Op::Asin,
            Unary::Acos => Op::Acos,
            Unary::Atan => Op::Atan,
            Unary::Sinh => Op::Sinh,
            Unary::Cosh => Op::Cosh,
            Unary::Tanh => Op::Tanh,
            Unary::Exp => Op::Exp,
            Unary::Ln => Op::Ln,
            Unary::Log10 => Op::Log10,
            Unary::Log2 => Op::Log2,
            Unary::Sqrt => Op::Sqrt,
            Unary::Abs => Op::Abs,
            Unary::Sign => Op::Sign,
            Unary::Floor => Op::Floor,
            Unary::Ceil => Op::Ceil,
            Unary::Round => Op::Round,
            Unary::Heaviside => Op::Heaviside,
        }
    }

    fn binary(op: Binary) -> Op {
        match op {
            Binary::Add => Op::Add,
            Binary::Sub => Op::Sub,
            Binary::Mul => Op::Mul,
            Binary::Div => Op::Div,
            Binary::Pow => Op::Pow,
            Binary::Atan2 => Op::Atan2,
            Binary::Hypot => Op::Hypot,
            Binary::Mod => Op::Mod,
            Binary::Min => Op::Min,
            Binary::Max => Op::Max,
            Binary::Less => Op::Less,
            Binary::LessEqual => Op::LessEqual,
            Binary::Greater => Op::Greater,
            Binary::GreaterEqual => Op::GreaterEqual,
            Binary::Equal => Op::Equal,
            Binary::NotEqual => Op::NotEqual,
            Binary::And => Op::And,
            Binary::Or => Op::Or,
        }
    }

    /// A sum, difference, product or quotient, then another of its result and `c`: in this order, and in the other.
    fn pair(first: Op, second: Op) -> Option<[Op; 2]> {
        Some(match (first, second) {
            (Op::Add, Op::Add) => [Op::AddAdd; 2],
            (Op::Add, Op::Sub) => [Op::AddSub, Op::SubFromAdd],
            (Op::Add, Op::Mul) => [Op::AddMul; 2],
            (Op::Add, Op::Div) => [Op::AddDiv, Op::DivByAdd],
            (Op::Sub, Op::Add) => [Op::SubAdd; 2],
            (Op::Sub, Op::Sub) => [Op::SubSub, Op::SubFromSub],
            (Op::Sub, Op::Mul) => [Op::SubMul; 2],
            (Op::Sub, Op::Div) => [Op::SubDiv, Op::DivBySub],
            (Op::Mul, Op::Add) => [Op::MulAdd; 2],
            (Op::Mul, Op::Sub) => [Op::MulSub, Op::SubFromMul],
            (Op::Mul, Op::Mul) => [Op::MulMul; 2],
            (Op::Mul, Op::Div) => [Op::MulDiv, Op::DivByMul],
            (Op::Div, Op::Add) => [Op::DivAdd; 2],
            (Op::Div, Op::Sub) => [Op::DivSub, Op::SubFromDiv],
            (Op::Div, Op::Mul) => [Op::DivMul; 2],
            (Op::Div, Op::Div) => [Op::DivDiv, Op::DivByDiv],
            _ => return None,
        })
    }

    /// An `if` on a comparison.
    fn if_on(comparison: Op) -> Option<Op> {
        Some(match comparison {
            Op::Less => Op::IfLess,
            Op::LessEqual => Op::IfLessEqual,
            Op::Greater => Op::IfGreater,
            Op::GreaterEqual => Op::IfGreaterEqual,
            Op::Equal => Op::IfEqual,
            Op::NotEqual => Op::IfNotEqual,
            _ => return None,
        })
    }
}

/// The number of a register, or of a table.
trait Register: Copy + Default {
    fn index(self) -> usize;
    fn next(self) -> Self;
}

impl Register for u8 {
    #[inline(always)]
    fn index(self) -> usize {
        usize::from(self)
    }

    #[inline(always)]
    fn next(self) -> u8 {
        self.wrapping_add(1)
    }
}

impl Register for u32 {
    #[inline(always)]
    fn index(self) -> usize {
        self as usize
    }

    #[inline(always)]
    fn next(self) -> u32 {
        self.wrapping_add(1)
    }
}

/// An operation, the register for its result, and those of its operands; the ones it does not have are 0.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Instruction<R> {
    op: Op,
    to: R,
    a: R,
    b: R,
    c: R,
    d: R,
}

/// Instructions, and what they start from and end with.
#[derive(Debug, Clone, PartialEq)]
struct Code<R> {
    numbers: Vec<f64>,     // of the first registers
    variables: Vec<usize>, // whose values are in the next ones, ascending
    instructions: Vec<Instruction<R>>,
    outputs: Vec<R>,
    tables: Vec<Table>,
    registers: usize,
}

impl<R: Register> Code<R> {
    #[inline(always)]
    fn run<F>(&self, values: &[f64], out: &mut [f64], file: &F)
    where
        F: Index<usize, Output = Cell<f64>> + ?Sized,
    {
        let mut to = R::default();
        for &number in &self.numbers {
            file[to.index()].set(number);
            to = to.next();
        }
        for &variable in &self.variables {
            file[to.index()].set(values[variable]);
            to = to.next();
        }
        for instruction in &self.instructions {
            let register = |register: R| file[register.index()].get();
            let set = |register: R, value: f64| file[register.index()].set(value);
            let result = Op::apply(instruction, register, set, &self.tables);
            set(instruction.to, result);
        }
        for k in 0..self.outputs.len() {
            out[k] = file[self.outputs[k].index()].get();
        }
    }
}

#[inline(never)]
fn run_small(code: &Code<u8>, values: &[f64], out: &mut [f64], file: &[Cell<f64>; SMALL]) {
    code.run(values, out, file);
}

#[inline(never)]
fn run_large(code: &Code<u32>, values: &[f64], out: &mut [f64]) {
    MANY_REGISTERS.with_borrow_mut(|file| {
        if file.len() < code.registers {
            file.resize(code.registers, 0.0);
        }
        code.run(values, out, Cell::from_mut(file.as_mut_slice()).as_slice_of_cells());
    });
}

/// Code for few registers or for many.
#[derive(Debug, Clone, PartialEq)]
enum Size {
    Small(Code<u8>),
    Large(Code<u32>),
}

/// The instructions for the outputs of a graph.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tape(Size);

impl Tape {
    pub(crate) fn compile(graph: &Graph, outputs: &[NodeId]) -> Tape {
        let code = allocate(graph, &fuse(graph, outputs), outputs);
        Tape(match narrow(&code) {
            Some(small) => Size::Small(small),
            None => Size::Large(code),
        })
    }

    /// The variables that occur, ascending.
    pub(crate) fn variables(&self) -> &[usize] {
        match &self.0 {
            Size::Small(code) => &code.variables,
            Size::Large(code) => &code.variables,
        }
    }

    /// `out` has the length of the outputs.
    #[inline]
    pub(crate) fn eval(&self, values: &[f64], out: &mut [f64]) {
        match &self.0 {
            Size::Small(code) => {
                REGISTERS.with(|file| run_small(code, values, out, file.as_array_of_cells()));
            }
            Size::Large(code) => run_large(code, values, out),
        }
    }
}

/// How a node is computed: the operation, and how many of the operands it has.
#[derive(Debug, Clone, Copy)]
struct Recipe {
    op: Op,
    operands: [NodeId; 4],
    count: usize,
    table: usize,
    both: Option<[NodeId; 2]>, // the sine and cosine that it computes
}

impl Recipe {
    fn new<const N: usize>(op: Op, operands: [NodeId; N]) -> Recipe {
        let mut all = [NodeId::at(0); 4];
        all[..N].copy_from_slice(&operands);
        Recipe { op, operands: all, count: N, table: 0, both: None }
    }
}

/// The recipes of the nodes, in order; none for numbers, variables, and what is done together with its only use.
fn fuse(graph: &Graph, outputs: &[NodeId]) -> Vec<Option<Recipe>> {
    let mut uses = vec![0_usize; graph.nodes.len()];
    let operands = graph.nodes.iter().flat_map(|node| node.operands());
    operands.chain(outputs.iter().copied()).for_each(|id| uses[id.index()] += 1);
    outputs.iter().for_each(|id| uses[id.index()] += 1); // never done together with another

    let mut recipes: Vec<Option<Recipe>> = Vec::with_capacity(graph.nodes.len());
    for &node in &graph.nodes {
        let once = |id: NodeId| recipes[id.index()].filter(|_| uses[id.index()] == 1);
        let (recipe, done) = match node {
            Node::Number(_) | Node::Variable(_) => (None, [None; 2]),
            Node::Unary(op, a) => (Some(Recipe::new(Op::unary(op), [a])), [None; 2]),
            Node::Binary(Binary::Pow, a, b) => (Some(power(graph, a, b)), [None; 2]),
            Node::Binary(op, a, b) => {
                let (recipe, done) = pair(Op::binary(op), (a, once(a)), (b, once(b)));
                (Some(recipe), done)
            }
            Node::If(condition, a, b) => {
                let comparison = once(condition)
                    .and_then(|recipe| Some((Op::if_on(recipe.op)?, recipe.operands)));
                match comparison {
                    Some((op, [x, y, ..])) => {
                        (Some(Recipe::new(op, [x, y, a, b])), [Some(condition), None])
                    }
                    None => (Some(Recipe::new(Op::If, [condition, a, b])), [None; 2]),
                }
            }
            Node::Table(table, x) => {
                (Some(Recipe { table, ..Recipe::new(Op::Table, [x]) }), [None; 2])
            }
            Node::Slope(table, x) => {
                (Some(Recipe { table, ..Recipe::new(Op::Slope, [x]) }), [None; 2])
            }
        };
        done.into_iter().flatten().for_each(|id| recipes[id.index()] = None);
        recipes.push(recipe);
    }
    sines_and_cosines(graph, &mut recipes);
    recipes
}

/// The sine and cosine of the same angle are computed together, where the first of them was.
fn sines_and_cosines(graph: &Graph, recipes: &mut [Option<Recipe>]) {
    let mut first: HashMap<NodeId, NodeId> = HashMap::new(); // by the angle
    for index in 0..recipes.len() {
        let Node::Unary(op @ (Unary::Sin | Unary::Cos), angle) = graph.nodes[index] else {
            continue;
        };
        let this = NodeId::at(index);
        let Some(other) = first.insert(angle, this) else { continue };
        let both = if op == Unary::Sin { [this, other] } else { [other, this] };
        let recipe = Recipe { both: Some(both), ..Recipe::new(Op::SinCos, [angle]) };
        recipes[other.index()] = Some(recipe);
        recipes[index] = None;
    }
}

/// Small constant exponents have operations of their own, which compute what `pow` does.
fn power(graph: &Graph, a: NodeId, b: NodeId) -> Recipe {
    match graph.number(b) {
        Some(2.0) => Recipe::new(Op::Square, [a]),
        Some(3.0) => Recipe::new(Op::Cube, [a]),
        Some(4.0) => Recipe::new(Op::Fourth, [a]),
        Some(-1.0) => Recipe::new(Op::Reciprocal, [a]),
        _ => Recipe::new(Op::Pow, [a, b]),
    }
}

/// An operation of two operands, together with those of them that are used only here; which ones that are.
fn pair(
    op: Op,
    (a, of_a): (NodeId, Option<Recipe>),
    (b, of_b): (NodeId, Option<Recipe>),
) -> (Recipe, [Option<NodeId>; 2]) {
    let is_product = |recipe: Option<Recipe>| recipe.is_some_and(|recipe| recipe.op == Op::Mul);
    if let (Some(left), Some(right)) = (of_a, of_b)
        && is_product(of_a)
        && is_product(of_b)
        && matches!(op, Op::Add | Op::Sub)
    {
        let op = if op == Op::Add { Op::MulAddMul } else { Op::MulSubMul };
        let ([p, q, ..], [r, s, ..]) = (left.operands, right.operands);
        return (Recipe::new(op, [p, q, r, s]), [Some(a), Some(b)]);
    }

    let with_a = of_a.and_then(|recipe| {
        let [in_order, _] = Op::pair(recipe.op, op)?;
        let [p, q, ..] = recipe.operands;
        Some((Recipe::new(in_order, [p, q, b]), [Some(a), None]))
    });
    let with_b = of_b.and_then(|recipe| {
        let [_, reversed] = Op::pair(recipe.op, op)?;
        let [p, q, ..] = recipe.operands;
        Some((Recipe::new(reversed, [p, q, a]), [Some(b), None]))
    });
    let preferred = if is_product(of_b) { with_b.or(with_a) } else { with_a.or(with_b) };
    preferred.unwrap_or((Recipe::new(op, [a, b]), [None; 2]))
}

/// Gives every value a register.
fn allocate(graph: &Graph, recipes: &[Option<Recipe>], outputs: &[NodeId]) -> Code<u32> {
    // the last recipe that needs a value; those of outputs are needed to the end
    const NEVER: usize = 0;
    const ALWAYS: usize = usize::MAX;
    let mut last = vec![NEVER; graph.nodes.len()];
    for (index, recipe) in recipes.iter().enumerate() {
        let Some(recipe) = recipe else { continue };
        recipe.operands[..recipe.count].iter().for_each(|id| last[id.index()] = index);
    }
    outputs.iter().for_each(|id| last[id.index()] = ALWAYS);

    // numbers and variables, in this order
    let mut places = vec![0_u32; graph.nodes.len()];
    let mut registers = 0;
    let needed = |index: &usize| last[*index] != NEVER;
    let mut numbers = Vec::new();
    for index in (0..graph.nodes.len()).filter(needed) {
        if let Node::Number(number) = graph.nodes[index] {
            places[index] = registers;
            registers += 1;
            numbers.push(number.value());
        }
    }
    let mut variables: Vec<(usize, usize)> = (0..graph.nodes.len())
        .filter(needed)
        .filter_map(|index| match graph.nodes[index] {
            Node::Variable(variable) => Some((variable, index)),
            _ => None,
        })
        .collect();
    variables.sort_unstable();
    for &(_, index) in &variables {
        places[index] = registers;
        registers += 1;
    }
    let variables = variables.into_iter().map(|(variable, _)| variable).collect();

    // the rest, in registers that are free again
    let mut free: Vec<u32> = Vec::new();
    let mut instructions = Vec::new();
    for (index, recipe) in recipes.iter().enumerate() {
        let Some(Recipe { op, operands, count, table, both }) = *recipe else { continue };
        let mut from = [0; 4];
        for (k, operand) in operands[..count].iter().enumerate() {
            from[k] = places[operand.index()];
            let is_last = last[operand.index()] == index && !operands[..k].contains(operand);
            let is_kept = matches!(graph.node(*operand), Node::Number(_) | Node::Variable(_));
            if is_last && !is_kept {
                free.push(from[k]);
            }
        }
        if matches!(op, Op::Table | Op::Slope) {
            from[1] = table as u32;
        }
        let mut register = || {
            free.pop().unwrap_or_else(|| {
                registers += 1;
                registers - 1
            })
        };
        let to = register();
        places[index] = to;
        if let Some([sin, cos]) = both {
            from[1] = register();
            (places[sin.index()], places[cos.index()]) = (to, from[1]);
        }
        let [a, b, c, d] = from;
        instructions.push(Instruction { op, to, a, b, c, d });
    }
    let outputs = outputs.iter().map(|id| places[id.index()]).collect();
    let (tables, registers) = (graph.tables.clone(), registers as usize);
    Code { numbers, variables, instructions, outputs, tables, registers }
}

/// The same code with bytes for registers, if there are few enough.
fn narrow(code: &Code<u32>) -> Option<Code<u8>> {
    let byte = |register: u32| u8::try_from(register).ok();
    let instruction = |&Instruction { op, to, a, b, c, d }: &Instruction<u32>| {
        let (a, b, c, d) = (byte(a)?, byte(b)?, byte(c)?, byte(d)?);
        Some(Instruction { op, to: byte(to)?, a, b, c, d })
    };
    if code.registers > SMALL {
        return None;
    }
    Some(Code {
        numbers: code.numbers.clone(),
        variables: code.variables.clone(),
        instructions: code.instructions.iter().map(instruction).collect::<Option<_>>()?,
        outputs: code.outputs.iter().map(|&register| byte(register)).collect::<Option<_>>()?,
        tables: code.tables.clone(),
        registers: code.registers,
    })
}
