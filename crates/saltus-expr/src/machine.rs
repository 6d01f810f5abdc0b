//! Machine code for the outputs of a graph.
//!
//! The same operations in the same order as the tape's, each rounded on its own (no fused multiply-add), and the same
//! functions for what is not an instruction of the processor: both give the same bits, but for those of a NaN.
#![allow(unsafe_code)] // the code that was made has to be called

use crate::graph::{Graph, Node, NodeId};
use crate::operation::{Binary, PRODUCTS, Unary, pow};
use crate::placement::{PlaceId, Placement};
use crate::table::Table;
use cranelift_codegen::Context;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{
    AbiParam, BlockArg, InstBuilder, MemFlagsData, SigRef, Signature, StackSlot, StackSlotData,
    StackSlotKind, Type, Value, types,
};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, default_libcall_names};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

/// Graphs with more nodes stay on the tape: the time to compile grows faster than they do.
const MOST_NODES: usize = 10_000;
/// Bytes of a number.
const SIZE: usize = size_of::<f64>();

/// Reads the values of the variables, writes the outputs.
type Code = unsafe extern "C" fn(values: *const f64, out: *mut f64);

/// Code in memory, and what it refers to.
pub(crate) struct Routine {
    code: Code,
    values: usize,  // that it may read
    outputs: usize, // that it writes
    memory: Mutex<Option<JITModule>>,
    _tables: Arc<Vec<Table>>,
}

impl Routine {
    /// Nothing where there is no compiler for the processor, or the graph is too large.
    pub(crate) fn compile(graph: &Graph, outputs: &[NodeId]) -> Option<Routine> {
        let variables = graph.nodes.iter().filter_map(|node| match node {
            Node::Variable(variable) => Some(variable + 1),
            _ => None,
        });
        let values = variables.max().unwrap_or(0);
        if graph.nodes.len() > MOST_NODES
            || i32::try_from(values.max(outputs.len()) * SIZE).is_err()
        {
            return None;
        }
        let mut module =
            JITModule::new(JITBuilder::with_isa(processor()?, default_libcall_names()));
        let pointer = module.target_config().pointer_type();
        let mut context = module.make_context();
        context.func.signature.params = vec![AbiParam::new(pointer); 2];
        let tables = Arc::new(graph.tables.clone());
        emit(graph, outputs, &tables, &module, &mut context);
        let id = module.declare_function("f", Linkage::Local, &context.func.signature).ok()?;
        module.define_function(id, &mut context).ok()?;
        module.finalize_definitions().ok()?;
        let address = module.get_finalized_function(id);
        // SAFETY: the function there was made with this signature, and lives as long as `memory`
        let code = unsafe { std::mem::transmute::<*const u8, Code>(address) };
        let memory = Mutex::new(Some(module));
        Some(Routine { code, values, outputs: outputs.len(), memory, _tables: tables })
    }

    #[inline]
    pub(crate) fn eval(&self, values: &[f64], out: &mut [f64]) {
        assert!(values.len() >= self.values, "values for the variables of a function");
        assert!(out.len() >= self.outputs, "room for the outputs of a function");
        // SAFETY: the code reads the first `self.values` of the values and writes the first `self.outputs` of `out`,
        // both are there, and nobody else has `out`. It is in memory until `self` is dropped.
        unsafe { (self.code)(values.as_ptr(), out.as_mut_ptr()) }
    }
}

impl Drop for Routine {
    fn drop(&mut self) {
        let memory = self.memory.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        if let Some(memory) = memory {
            // SAFETY: a call borrows `self`, so none is under way, and the code's address goes with it
            unsafe { memory.free_memory() }
        }
    }
}

impl fmt::Debug for Routine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("machine code")
    }
}

/// The processor this runs on, if there is a compiler for it.
fn processor() -> Option<OwnedTargetIsa> {
    static PROCESSOR: OnceLock<Option<OwnedTargetIsa>> = OnceLock::new();
    let find = || {
        let mut flags = settings::builder();
        // code may lie far from the functions that it calls
        for (flag, value) in [
            ("opt_level", "speed"),
            ("use_colocated_libcalls", "false"),
            ("is_pic", "false"),
            ("enable_verifier", "false"),
        ] {
            flags.set(flag, value).ok()?;
        }
        cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()
    };
    PROCESSOR.get_or_init(find).clone()
}

// What is not an instruction of the processor, with the calling convention of C.

macro_rules! unary_functions {
    ($($name:ident => $op:ident,)*) => {
        $(extern "C" fn $name(a: f64) -> f64 {
            Unary::$op.apply(a)
        })*

        /// The function of an operation that is none of the processor's.
        fn unary_function(op: Unary) -> Option<extern "C" fn(f64) -> f64> {
            Some(match op {
                $(Unary::$op => $name,)*
                _ => return None,
            })
        }
    };
}

unary_functions! {
    sin => Sin,
    cos => Cos,
    tan => Tan,
    asin => Asin,
    acos => Acos,
    atan => Atan,
    sinh => Sinh,
    cosh => Cosh,
    tanh => Tanh,
    exp => Exp,
    ln => Ln,
    log10 => Log10,
    log2 => Log2,
    floor => Floor,
    ceil => Ceil,
    round => Round,
}

extern "C" fn power(a: f64, b: f64) -> f64 {
    pow(a, b)
}

extern "C" fn atan2(a: f64, b: f64) -> f64 {
    a.atan2(b)
}

extern "C" fn hypot(a: f64, b: f64) -> f64 {
    a.hypot(b)
}

extern "C" fn modulo(a: f64, b: f64) -> f64 {
    Binary::Mod.apply(a, b)
}

/// The sine; the cosine goes to `cos`.
unsafe extern "C" fn sin_cos(a: f64, cos: *mut f64) -> f64 {
    let (sine, cosine) = a.sin_cos();
    // SAFETY: `cos` is a place on the stack of the code that calls
    unsafe { *cos = cosine };
    sine
}

unsafe extern "C" fn table_value(x: f64, table: *const Table) -> f64 {
    // SAFETY: the table is kept with the code that calls
    unsafe { (*table).value(x) }
}

unsafe extern "C" fn table_slope(x: f64, table: *const Table) -> f64 {
    // SAFETY: the table is kept with the code that calls
    unsafe { (*table).slope(x) }
}

/// Writes the whole function.
fn emit(
    graph: &Graph,
    outputs: &[NodeId],
    tables: &[Table],
    module: &JITModule,
    context: &mut Context,
) {
    let mut memory = FunctionBuilderContext::new();
    let mut code = FunctionBuilder::new(&mut context.func, &mut memory);
    let start = code.create_block();
    code.append_block_params_for_function_params(start);
    code.switch_to_block(start);
    let &[values, out] = code.block_params(start) else { return };

    let pointer = module.target_config().pointer_type();
    let mut signature = |params: &[Type]| {
        let mut signature: Signature = module.make_signature();
        signature.params = params.iter().map(|&kind| AbiParam::new(kind)).collect();
        signature.returns.push(AbiParam::new(types::F64));
        code.import_signature(signature)
    };
    let one = signature(&[types::F64]);
    let two = signature(&[types::F64; 2]);
    let with_pointer = signature(&[types::F64, pointer]);

    let mut wanted = vec![Vec::new(); graph.nodes.len()];
    for (k, output) in outputs.iter().enumerate() {
        wanted[output.index()].push(k);
    }
    let placement = Placement::new(graph, outputs);
    let is_number = numbers(graph, outputs);
    let computed = vec![None; graph.nodes.len()];
    let (truths, stack) = (computed.clone(), None);
    let mut emitter = Emitter {
        graph,
        tables,
        placement: &placement,
        wanted: &wanted,
        is_number: &is_number,
        code,
        pointer,
        values,
        out,
        one,
        two,
        with_pointer,
        computed,
        truths,
        stack,
    };
    emitter.place(0);
    emitter.code.ins().return_(&[]);
    emitter.code.seal_all_blocks();
    emitter.code.finalize(module.target_config());
}

/// Which nodes are needed as numbers, and not only as conditions.
fn numbers(graph: &Graph, outputs: &[NodeId]) -> Vec<bool> {
    let mut numbers = vec![false; graph.nodes.len()];
    outputs.iter().for_each(|id| numbers[id.index()] = true);
    for node in &graph.nodes {
        match *node {
            Node::Unary(Unary::Not, _) | Node::Binary(Binary::And | Binary::Or, ..) => {}
            Node::If(_, a, b) => [a, b].iter().for_each(|id| numbers[id.index()] = true),
            node => node.operands().for_each(|id| numbers[id.index()] = true),
        }
    }
    numbers
}

/// A function being written.
struct Emitter<'a> {
    graph: &'a Graph,
    tables: &'a [Table],
    placement: &'a Placement,
    wanted: &'a [Vec<usize>], // the outputs that a node is
    is_number: &'a [bool],
    code: FunctionBuilder<'a>,
    pointer: Type,
    values: Value,
    out: Value,
    one: SigRef, // signatures of functions: one number, two, a number and an address
    two: SigRef,
    with_pointer: SigRef,
    computed: Vec<Option<Value>>,
    truths: Vec<Option<Value>>, // of comparisons and the like, which are numbers only where that is needed
    stack: Option<StackSlot>,
}

impl Emitter<'_> {
    /// All nodes of a place, in order.
    fn place(&mut self, place: PlaceId) {
        let (placement, wanted) = (self.placement, self.wanted);
        for &id in &placement.nodes[place] {
            self.node(id);
            for &k in &wanted[id.index()] {
                let value = self.value(id);
                let (flags, offset) = (MemFlagsData::trusted(), (k * SIZE) as i32);
                self.code.ins().store(flags, value, self.out, offset);
            }
        }
    }

    fn node(&mut self, id: NodeId) {
        let value = match self.graph.node(id) {
            Node::Number(_) => return,
            Node::Variable(variable) => {
                let (flags, offset) = (MemFlagsData::trusted(), (variable * SIZE) as i32);
                self.code.ins().load(types::F64, flags, self.values, offset)
            }
            Node::Unary(Unary::Not, _) | Node::Binary(Binary::Less, ..) => {
                return self.truth_of(id);
            }
            Node::Unary(Unary::Sin | Unary::Cos, a)
                if self.placement.partners.contains_key(&id) =>
            {
                return self.sine_and_cosine(id, a);
            }
            Node::Unary(op, a) => self.unary(op, a),
            Node::Binary(op, a, b) => match self.binary(op, a, b) {
                Some(value) => value,
                None => return self.truth_of(id),
            },
            Node::If(condition, a, b) => self.branch(id, condition, a, b),
            Node::Table(table, x) => {
                let address = self.address(&raw const self.tables[table] as usize);
                let x = self.value(x);
                self.call(table_value as *const () as usize, self.with_pointer, &[x, address])
            }
            Node::Slope(table, x) => {
                let address = self.address(&raw const self.tables[table] as usize);
                let x = self.value(x);
                self.call(table_slope as *const () as usize, self.with_pointer, &[x, address])
            }
        };
        self.computed[id.index()] = Some(value);
    }

    /// The number that a node is. Constants are written where they are used.
    fn value(&mut self, id: NodeId) -> Value {
        match (self.computed[id.index()], self.graph.number(id)) {
            (Some(value), _) => value,
            (None, number) => self.number(number.unwrap_or(f64::NAN)),
        }
    }

    fn number(&mut self, number: f64) -> Value {
        self.code.ins().f64const(number)
    }

    fn address(&mut self, address: usize) -> Value {
        self.code.ins().iconst(self.pointer, address as i64)
    }

    /// Whether a node, taken as a condition, holds.
    fn truth(&mut self, id: NodeId) -> Value {
        if let Some(truth) = self.truths[id.index()] {
            return truth;
        }
        let (value, zero) = (self.value(id), self.number(0.0));
        self.code.ins().fcmp(FloatCC::NotEqual, value, zero)
    }

    /// A node that is 1 or 0.
    fn truth_of(&mut self, id: NodeId) {
        let truth = match self.graph.node(id) {
            Node::Unary(_, a) => match self.truths[a.index()] {
                Some(truth) => {
                    let one = self.code.ins().iconst(types::I8, 1);
                    self.code.ins().bxor(truth, one)
                }
                None => {
                    let (value, zero) = (self.value(a), self.number(0.0));
                    self.code.ins().fcmp(FloatCC::Equal, value, zero)
                }
            },
            Node::Binary(Binary::And, a, b) => {
                let (a, b) = (self.truth(a), self.truth(b));
                self.code.ins().band(a, b)
            }
            Node::Binary(Binary::Or, a, b) => {
                let (a, b) = (self.truth(a), self.truth(b));
                self.code.ins().bor(a, b)
            }
            Node::Binary(op, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                self.code.ins().fcmp(comparison(op), a, b)
            }
            _ => return,
        };
        self.truths[id.index()] = Some(truth);
        if self.is_number[id.index()] {
            let (one, zero) = (self.number(1.0), self.number(0.0));
            self.computed[id.index()] = Some(self.code.ins().select(truth, one, zero));
        }
    }

    fn unary(&mut self, op: Unary, a: NodeId) -> Value {
        let a = self.value(a);
        if let Some(function) = unary_function(op) {
            return self.call(function as *const () as usize, self.one, &[a]);
        }
        match op {
            Unary::Neg => self.code.ins().fneg(a),
            Unary::Abs => self.code.ins().fabs(a),
            Unary::Sqrt => self.code.ins().sqrt(a),
            // ±1 with the sign of `a`; ±0 and NaN are themselves
            Unary::Sign => {
                let (one, zero) = (self.number(1.0), self.number(0.0));
                let size = self.code.ins().fcopysign(one, a);
                let is_signed = self.code.ins().fcmp(FloatCC::OrderedNotEqual, a, zero);
                self.code.ins().select(is_signed, size, a)
            }
            // of the rest there is only `heaviside`
            _ => {
                let (one, zero) = (self.number(1.0), self.number(0.0));
                let above = self.code.ins().fcmp(FloatCC::GreaterThanOrEqual, a, zero);
                let step = self.code.ins().select(above, one, zero);
                let is_nan = self.code.ins().fcmp(FloatCC::Unordered, a, a);
                self.code.ins().select(is_nan, a, step)
            }
        }
    }

    /// Nothing for comparisons, `and`, `or`.
    fn binary(&mut self, op: Binary, a: NodeId, b: NodeId) -> Option<Value> {
        let exponent = self.graph.number(b);
        let operands = |emitter: &mut Self| (emitter.value(a), emitter.value(b));
        Some(match op {
            Binary::Add => {
                let (a, b) = operands(self);
                self.code.ins().fadd(a, b)
            }
            Binary::Sub => {
                let (a, b) = operands(self);
                self.code.ins().fsub(a, b)
            }
            Binary::Mul => {
                let (a, b) = operands(self);
                self.code.ins().fmul(a, b)
            }
            Binary::Div => {
                let (a, b) = operands(self);
                self.code.ins().fdiv(a, b)
            }
            Binary::Pow => match exponent {
                Some(b) if b.abs() <= PRODUCTS && b.trunc() == b => self.product(a, b),
                _ => self.call_binary(power, a, b),
            },
            Binary::Atan2 => self.call_binary(atan2, a, b),
            Binary::Hypot => self.call_binary(hypot, a, b),
            Binary::Mod => self.call_binary(modulo, a, b),
            // the first if it is NaN, else the smaller, else the second
            Binary::Min | Binary::Max => {
                let (a, b) = operands(self);
                let better =
                    if op == Binary::Min { FloatCC::LessThan } else { FloatCC::GreaterThan };
                let is_first = self.code.ins().fcmp(better, a, b);
                let chosen = self.code.ins().select(is_first, a, b);
                let is_nan = self.code.ins().fcmp(FloatCC::Unordered, a, a);
                self.code.ins().select(is_nan, a, chosen)
            }
            _ => return None,
        })
    }

    /// A power with a whole exponent, by the products of `operation::pow`.
    fn product(&mut self, a: NodeId, exponent: f64) -> Value {
        let a = self.value(a);
        let (mut power, mut square, mut rest) = (None, a, exponent.abs() as u32);
        while rest > 0 {
            if rest & 1 == 1 {
                power = Some(match power {
                    Some(power) => self.code.ins().fmul(power, square),
                    None => square,
                });
            }
            rest >>= 1;
            if rest > 0 {
                square = self.code.ins().fmul(square, square);
            }
        }
        let one = self.number(1.0);
        let power = power.unwrap_or(one);
        if exponent < 0.0 { self.code.ins().fdiv(one, power) } else { power }
    }

    fn sine_and_cosine(&mut self, id: NodeId, angle: NodeId) {
        if self.computed[id.index()].is_some() {
            return; // with its partner
        }
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, SIZE as u32, 3);
        let stack = *self.stack.get_or_insert_with(|| self.code.create_sized_stack_slot(slot));
        let place = self.code.ins().stack_addr(self.pointer, stack, 0);
        let angle = self.value(angle);
        let sin = self.call(sin_cos as *const () as usize, self.with_pointer, &[angle, place]);
        let cos = self.code.ins().load(types::F64, MemFlagsData::trusted(), place, 0);
        let partner = self.placement.partners[&id];
        let is_sine = matches!(self.graph.node(id), Node::Unary(Unary::Sin, _));
        let (sine, cosine) = if is_sine { (id, partner) } else { (partner, id) };
        self.computed[sine.index()] = Some(sin);
        self.computed[cosine.index()] = Some(cos);
    }

    fn branch(&mut self, id: NodeId, condition: NodeId, a: NodeId, b: NodeId) -> Value {
        let condition = self.truth(condition);
        let Some(&places) = self.placement.branches.get(&id) else {
            let (a, b) = (self.value(a), self.value(b));
            return self.code.ins().select(condition, a, b);
        };
        let blocks = [self.code.create_block(), self.code.create_block()];
        let end = self.code.create_block();
        let result = self.code.append_block_param(end, types::F64);
        self.code.ins().brif(condition, blocks[0], &[], blocks[1], &[]);
        for ((block, place), branch) in blocks.into_iter().zip(places).zip([a, b]) {
            self.code.switch_to_block(block);
            self.place(place);
            let value = self.value(branch);
            self.code.ins().jump(end, &[BlockArg::Value(value)]);
        }
        self.code.switch_to_block(end);
        result
    }

    fn call_binary(
        &mut self,
        function: extern "C" fn(f64, f64) -> f64,
        a: NodeId,
        b: NodeId,
    ) -> Value {
        let (a, b) = (self.value(a), self.value(b));
        self.call(function as *const () as usize, self.two, &[a, b])
    }

    fn call(&mut self, function: usize, signature: SigRef, arguments: &[Value]) -> Value {
        let function = self.address(function);
        let call = self.code.ins().call_indirect(signature, function, arguments);
        self.code.inst_results(call)[0]
    }
}

fn comparison(op: Binary) -> FloatCC {
    match op {
        Binary::Less => FloatCC::LessThan,
        Binary::LessEqual => FloatCC::LessThanOrEqual,
        Binary::Greater => FloatCC::GreaterThan,
        Binary::GreaterEqual => FloatCC::GreaterThanOrEqual,
        Binary::Equal => FloatCC::Equal,
        _ => FloatCC::NotEqual,
    }
}
