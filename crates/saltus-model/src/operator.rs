//! Operators: a constant, or a function of time, of up to two vectors, and of inputs.
//!
//! Every slot of a system or relation is filled by an operator. What the two vectors are
//! depends on the slot:
//!
//! | slot | first | second |
//! | --- | --- | --- |
//! | `f(t, x)`, `M(t)` of first-order systems | `x` | |
//! | `M(q)`, `F_gyr(q, v)`, `F_int(t, q, v)`, `F_ext(t)` | `q` | `v` |
//! | `h(t, x, λ)`, `g(t, x, λ)` | `x` | `λ` |
//! | `h(t, q)`, `h(q, λ)` | `q` | `λ` |

use crate::OperatorError;
use saltus_linalg::{Matrix, vector};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

/// What an operator is evaluated at.
#[derive(Debug, Clone, Copy)]
pub struct At<'a> {
    /// Time.
    pub t: f64,
    /// `x` or `q`.
    pub first: &'a [f64],
    /// `v` or `λ`.
    pub second: &'a [f64],
    /// The inputs `z` of the system or relation.
    pub inputs: &'a [f64],
}

impl<'a> At<'a> {
    /// At a time alone.
    pub fn time(t: f64) -> At<'static> {
        At { t, first: &[], second: &[], inputs: &[] }
    }

    /// At a time and two vectors.
    pub fn new(t: f64, first: &'a [f64], second: &'a [f64]) -> At<'a> {
        At { t, first, second, inputs: &[] }
    }

    /// The same with inputs.
    pub fn with(self, inputs: &'a [f64]) -> At<'a> {
        At { inputs, ..self }
    }

    fn vector(&self, argument: Argument) -> &'a [f64] {
        match argument {
            Argument::Time => &[],
            Argument::First => self.first,
            Argument::Second => self.second,
            Argument::Inputs => self.inputs,
        }
    }
}

/// An argument of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// `t`.
    Time,
    /// `x` or `q`.
    First,
    /// `v` or `λ`.
    Second,
    /// `z`.
    Inputs,
}

impl Argument {
    /// All of them.
    pub const ALL: [Argument; 4] =
        [Argument::Time, Argument::First, Argument::Second, Argument::Inputs];
}

/// A function that fills an array (a matrix row by row) and may fail, as a callback into another
/// language can.
pub trait Function: fmt::Debug + Send + Sync {
    /// Fills `out` with the value.
    fn eval(&self, at: At<'_>, out: &mut [f64]) -> Result<(), String>;

    /// Whether the value can change with this argument.
    fn uses(&self, argument: Argument) -> bool;

    /// Whether this entry of the value can change at all; one that cannot is the same for all arguments.
    fn varies(&self, entry: usize) -> bool {
        let _ = entry;
        true
    }

    /// Where the value is a straight line over time from `t` on: fills its value at the instant
    /// [`Line::start`], and its rate. The line that is told depends on the stretch alone, not on `t`.
    fn line(&self, t: f64, at: &mut [f64], rate: &mut [f64]) -> Option<Line> {
        let _ = (t, at, rate);
        None
    }

    /// Makes ready what the evaluations need, such as machine code, so that none of them has to.
    fn prepare(&self) {}

    /// The function itself, if it can be joined with others of its kind.
    fn as_any(&self) -> Option<&dyn std::any::Any> {
        None
    }

    /// The exact derivative, where it is known: one row an entry of the value, one column a
    /// component of the argument.
    fn derivative(&self, by: Argument) -> Option<Arc<dyn Function>> {
        let _ = by;
        None
    }
}

/// A stretch of time over which a value is a straight line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Where the line has the value that is told.
    pub start: f64,
    /// Before this instant the value is on the line.
    pub until: f64,
}

/// A vector or matrix that is constant or a function.
#[derive(Clone)]
pub struct Operator(Value);

#[derive(Clone)]
enum Value {
    Constant(Matrix),
    Function { rows: usize, cols: usize, function: Arc<dyn Function> },
}

impl Operator {
    /// A constant; a vector has one column.
    pub fn constant(rows: usize, cols: usize, data: Vec<f64>) -> Operator {
        Operator(Value::Constant(Matrix::from_vec(rows, cols, data)))
    }

    /// A constant zero.
    pub fn zero(rows: usize, cols: usize) -> Operator {
        Operator::constant(rows, cols, vec![0.0; rows * cols])
    }

    /// A function of this shape.
    pub fn function(rows: usize, cols: usize, function: Arc<dyn Function>) -> Operator {
        Operator(Value::Function { rows, cols, function })
    }

    /// A vector that a closure fills, from everything it may depend on.
    pub fn vector(len: usize, f: impl Fn(At<'_>, &mut [f64]) + Send + Sync + 'static) -> Operator {
        Operator::matrix(len, 1, f)
    }

    /// A matrix that a closure fills row by row.
    pub fn matrix(
        rows: usize,
        cols: usize,
        f: impl Fn(At<'_>, &mut [f64]) + Send + Sync + 'static,
    ) -> Operator {
        Operator::function(rows, cols, Arc::new(Closure { f, time_only: false }))
    }

    /// A vector that a closure of time alone fills.
    pub fn vector_of_time(
        len: usize,
        f: impl Fn(f64, &mut [f64]) + Send + Sync + 'static,
    ) -> Operator {
        Operator::matrix_of_time(len, 1, f)
    }

    /// A matrix that a closure of time alone fills row by row.
    pub fn matrix_of_time(
        rows: usize,
        cols: usize,
        f: impl Fn(f64, &mut [f64]) + Send + Sync + 'static,
    ) -> Operator {
        let f = move |at: At<'_>, out: &mut [f64]| f(at.t, out);
        Operator::function(rows, cols, Arc::new(Closure { f, time_only: true }))
    }

    /// Rows and columns; a vector has one column.
    pub fn shape(&self) -> (usize, usize) {
        match &self.0 {
            Value::Constant(value) => (value.rows(), value.cols()),
            Value::Function { rows, cols, .. } => (*rows, *cols),
        }
    }

    /// Number of rows; the length of a vector.
    pub fn rows(&self) -> usize {
        self.shape().0
    }

    /// The value of a constant.
    pub fn as_constant(&self) -> Option<&Matrix> {
        match &self.0 {
            Value::Constant(value) => Some(value),
            Value::Function { .. } => None,
        }
    }

    pub(crate) fn as_function(&self) -> Option<&dyn Function> {
        match &self.0 {
            Value::Constant(_) => None,
            Value::Function { function, .. } => Some(function.as_ref()),
        }
    }

    /// Makes ready what its evaluations need.
    pub fn prepare(&self) {
        if let Some(function) = self.as_function() {
            function.prepare();
        }
    }

    /// Whether it is a constant zero.
    pub fn is_zero(&self) -> bool {
        self.as_constant().is_some_and(Matrix::is_zero)
    }

    /// Whether it is the same for all arguments.
    pub fn is_constant(&self) -> bool {
        !Argument::ALL.iter().any(|&argument| self.uses(argument))
    }

    /// Whether it can change with this argument.
    pub fn uses(&self, argument: Argument) -> bool {
        match &self.0 {
            Value::Constant(_) => false,
            Value::Function { function, .. } => function.uses(argument),
        }
    }

    /// Whether this entry of the value can change.
    pub fn varies(&self, entry: usize) -> bool {
        match &self.0 {
            Value::Constant(_) => false,
            Value::Function { function, .. } => function.varies(entry),
        }
    }

    /// The value; `what` names the operator in errors.
    #[inline]
    pub fn eval(&self, at: At<'_>, what: &str, out: &mut [f64]) -> Result<(), OperatorError> {
        match &self.0 {
            Value::Constant(value) => out.copy_from_slice(value.data()),
            Value::Function { function, .. } => {
                let fail = |why| OperatorError { what: what.to_string(), time: at.t, why };
                function.eval(at, out).map_err(fail)?;
                if !vector::all_finite(out) {
                    let why = format!("returned a value that is not finite: {out:?}");
                    return Err(OperatorError { what: what.to_string(), time: at.t, why });
                }
            }
        }
        Ok(())
    }

    /// See [`Function::line`]; a constant is a line for ever.
    pub fn line(&self, t: f64, at: &mut [f64], rate: &mut [f64]) -> Option<Line> {
        match &self.0 {
            Value::Constant(value) => {
                at.copy_from_slice(value.data());
                rate.fill(0.0);
                Some(Line { start: 0.0, until: f64::INFINITY })
            }
            Value::Function { function, .. } => {
                let line = function.line(t, at, rate)?;
                let finite = vector::all_finite(at) && vector::all_finite(rate);
                (finite && line.start.is_finite()).then_some(line)
            }
        }
    }

    /// The value as a matrix.
    #[inline]
    pub fn eval_matrix(
        &self,
        at: At<'_>,
        what: &str,
        out: &mut Matrix,
    ) -> Result<(), OperatorError> {
        let (rows, cols) = self.shape();
        out.resize(rows, cols);
        self.eval(at, what, out.data_mut())
    }

    /// `y ← y + A x`, without memory of its own once it has had some.
    pub(crate) fn apply_add(
        &self,
        at: At<'_>,
        what: &str,
        x: &[f64],
        y: &mut [f64],
    ) -> Result<(), OperatorError> {
        thread_local! {
            static SCRATCH: std::cell::Cell<Matrix> = std::cell::Cell::default();
        }
        if let Some(A) = self.as_constant() {
            A.apply_add(x, y);
            return Ok(());
        }
        // taken, not borrowed: the function may come here as well
        let mut A = SCRATCH.take();
        let evaluated = self.eval_matrix(at, what, &mut A);
        if evaluated.is_ok() {
            A.apply_add(x, y);
        }
        SCRATCH.set(A);
        evaluated
    }

    /// The derivative: one row an entry of the value, one column a component of the argument,
    /// which has `len` of them. Exact where the function knows it, else by forward differences,
    /// which is enough for an iteration.
    pub fn derivative(&self, by: Argument, len: usize) -> Operator {
        self.differentiate(by, len, false)
    }

    /// The same by central differences, for a derivative that is part of the model, as `H` is.
    pub fn accurate_derivative(&self, by: Argument, len: usize) -> Operator {
        self.differentiate(by, len, true)
    }

    fn differentiate(&self, by: Argument, len: usize, central: bool) -> Operator {
        let rows = self.shape().0 * self.shape().1;
        match &self.0 {
            Value::Function { function, .. } if function.uses(by) => {
                let exact = function.derivative(by);
                let differences = || Difference::new(Arc::clone(function), by, rows, len, central);
                let exact = exact.unwrap_or_else(|| Arc::new(differences()));
                Operator::function(rows, len, exact)
            }
            _ => Operator::zero(rows, len),
        }
    }

    /// Whether its derivatives are exact.
    pub fn is_differentiable(&self, by: Argument) -> bool {
        match &self.0 {
            Value::Function { function, .. } if function.uses(by) => {
                function.derivative(by).is_some()
            }
            _ => true,
        }
    }
}

/// A closure as a function.
struct Closure<F> {
    f: F,
    time_only: bool,
}

impl<F: Fn(At<'_>, &mut [f64]) + Send + Sync> Function for Closure<F> {
    fn eval(&self, at: At<'_>, out: &mut [f64]) -> Result<(), String> {
        (self.f)(at, out);
        Ok(())
    }

    fn uses(&self, argument: Argument) -> bool {
        !self.time_only || argument == Argument::Time
    }
}

impl<F> fmt::Debug for Closure<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.time_only { "function of t" } else { "function" })
    }
}

/// Forward differences `(f(x + δ eⱼ) − f(x)) / δ`, with `δ = √ε max(1, |xⱼ|)`, or central ones
/// `(f(x + δ eⱼ) − f(x − δ eⱼ)) / 2δ`, with `δ = ∛ε max(1, |xⱼ|)`.
struct Difference {
    function: Arc<dyn Function>,
    by: Argument,
    central: bool,
    entries: usize,
    len: usize,
    scratch: Mutex<Option<Scratch>>, // nothing while a call is using it
}

struct Scratch {
    argument: Vec<f64>,
    base: Vec<f64>,
    moved: Vec<f64>,
}

impl Scratch {
    fn new(entries: usize, len: usize) -> Scratch {
        let zeros = |len| vec![0.0; len];
        Scratch { argument: zeros(len), base: zeros(entries), moved: zeros(entries) }
    }
}

impl Difference {
    fn new(
        function: Arc<dyn Function>,
        by: Argument,
        entries: usize,
        len: usize,
        central: bool,
    ) -> Difference {
        let scratch = Mutex::new(Some(Scratch::new(entries, len)));
        Difference { function, by, central, entries, len, scratch }
    }

    fn scratch(&self) -> MutexGuard<'_, Option<Scratch>> {
        self.scratch.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Function for Difference {
    fn eval(&self, at: At<'_>, out: &mut [f64]) -> Result<(), String> {
        // not locked while the function runs: it may wait for another thread that is here too
        let taken = self.scratch().take();
        let mut scratch = taken.unwrap_or_else(|| Scratch::new(self.entries, self.len));
        let result = self.fill(at, out, &mut scratch);
        *self.scratch() = Some(scratch);
        result
    }

    fn uses(&self, argument: Argument) -> bool {
        self.function.uses(argument)
    }

    fn prepare(&self) {
        self.function.prepare();
    }
}

impl Difference {
    fn fill(&self, at: At<'_>, out: &mut [f64], scratch: &mut Scratch) -> Result<(), String> {
        let Scratch { argument, base, moved } = scratch;
        let step = if self.central { f64::EPSILON.cbrt() } else { f64::EPSILON.sqrt() };
        if !self.central {
            self.function.eval(at, base)?;
        }
        if self.by == Argument::Time {
            let delta = step * at.t.abs().max(1.0);
            let (mut before, after) = (at.t, at.t + delta);
            if self.central {
                before -= delta;
                self.function.eval(At { t: before, ..at }, base)?;
            }
            self.function.eval(At { t: after, ..at }, moved)?;
            for (out, (moved, base)) in out.iter_mut().zip(moved.iter().zip(&*base)) {
                *out = (moved - base) / (after - before);
            }
            return Ok(());
        }
        let (here, cols) = (at.vector(self.by), argument.len());
        argument.copy_from_slice(here);
        for j in 0..cols {
            let delta = step * here[j].abs().max(1.0);
            let mut behind = here[j];
            if self.central {
                behind -= delta;
                argument[j] = behind;
                self.function.eval(self.there(at, argument), base)?;
            }
            argument[j] = here[j] + delta;
            self.function.eval(self.there(at, argument), moved)?;
            for (i, (moved, base)) in moved.iter().zip(&*base).enumerate() {
                out[i * cols + j] = (moved - base) / (argument[j] - behind);
            }
            argument[j] = here[j];
        }
        Ok(())
    }

    /// The same point with another value of the argument.
    fn there<'a>(&self, at: At<'a>, argument: &'a [f64]) -> At<'a> {
        match self.by {
            Argument::First => At { first: argument, ..at },
            Argument::Second => At { second: argument, ..at },
            _ => At { inputs: argument, ..at },
        }
    }
}

impl fmt::Debug for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "differences of {:?}", self.function)
    }
}

impl fmt::Debug for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Value::Constant(value) if value.cols() == 1 => value.data().fmt(f),
            Value::Constant(value) => value.fmt(f),
            Value::Function { rows, cols: 1, function } => write!(f, "{function:?}, length {rows}"),
            Value::Function { rows, cols, function } => write!(f, "{function:?}, {rows} × {cols}"),
        }
    }
}

impl From<Vec<f64>> for Operator {
    fn from(value: Vec<f64>) -> Self {
        Operator::constant(value.len(), 1, value)
    }
}

impl<const N: usize> From<[f64; N]> for Operator {
    fn from(value: [f64; N]) -> Self {
        value.to_vec().into()
    }
}

impl From<Matrix> for Operator {
    fn from(value: Matrix) -> Self {
        Operator(Value::Constant(value))
    }
}

impl<const R: usize, const C: usize> From<[[f64; C]; R]> for Operator {
    fn from(value: [[f64; C]; R]) -> Self {
        Matrix::from(value).into()
    }
}
