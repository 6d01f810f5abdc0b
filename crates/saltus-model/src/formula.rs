//! Formulas as operators.

use crate::{Argument, At, Function, Operator};
use saltus_expr::{ExprError, Shape};
use saltus_linalg::Matrix;
use std::cell::RefCell;
use std::sync::Arc;

/// What a formula may use in one slot: `t`, and the entries of up to three vectors, such as
/// `q[0]`, `v[1]`, `z[0]`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Names {
    /// Whether it may use `t`.
    pub time: bool,
    /// Name and length of the first vector.
    pub first: (&'static str, usize),
    /// Name and length of the second vector.
    pub second: (&'static str, usize),
    /// Number of inputs `z`.
    pub inputs: usize,
}

impl Names {
    /// `t` alone.
    pub const TIME: Names = Names { time: true, first: ("", 0), second: ("", 0), inputs: 0 };

    /// The variables, in the order in which their values are gathered.
    fn list(&self) -> Vec<String> {
        let entries =
            |(name, len): (&'static str, usize)| (0..len).map(move |i| format!("{name}[{i}]"));
        // a name that no formula can write stands for a `t` that it may not use
        let time = if self.time { "t" } else { "" };
        let vectors = [("z", self.inputs), self.first, self.second].into_iter().flat_map(entries);
        std::iter::once(time.to_string()).chain(vectors).collect()
    }

    /// The variables of one argument. So the variables of `M(q)` are the first ones of
    /// `F_int(t, q, v)`, and both can be evaluated in one go.
    fn range(&self, argument: Argument) -> std::ops::Range<usize> {
        let inputs = 1 + self.inputs;
        let first = inputs + self.first.1;
        match argument {
            Argument::Time => 0..1,
            Argument::Inputs => 1..inputs,
            Argument::First => inputs..first,
            Argument::Second => first..first + self.second.1,
        }
    }

    fn len(&self) -> usize {
        self.range(Argument::Second).end
    }

    /// Whether the variables of `self` are the first ones of `other`.
    fn begins(&self, other: &Names) -> bool {
        self.inputs == other.inputs
            && (self.first.1 == 0 || self.first.1 == other.first.1)
            && (self.second.1 == 0 || self.second.1 == other.second.1)
            && (self.first.1 != 0 || self.second.1 == 0)
    }
}

impl Operator {
    /// The operator of one formula an entry, row by row; `constants` are names that stand for
    /// numbers. Derivatives are exact. An error tells which of the texts is meant.
    ///
    /// ```
    /// use saltus_model::{Names, Operator};
    ///
    /// let names = Names { first: ("q", 1), second: ("v", 1), ..Names::TIME };
    /// let force = Operator::formulas(1, 1, &["-k*sin(q[0]) - v[0]"], &names, &[("k", 9.81)])?;
    /// assert_eq!(force.shape(), (1, 1));
    /// # Ok::<(), saltus_expr::ExprError>(())
    /// ```
    pub fn formulas(
        rows: usize,
        cols: usize,
        texts: &[&str],
        names: &Names,
        constants: &[(&str, f64)],
    ) -> Result<Operator, ExprError> {
        let list = names.list();
        let variables: Vec<&str> = list.iter().map(String::as_str).collect();
        let function = saltus_expr::Function::parse_with(texts, &variables, constants)?;
        Ok(Operator::of_function(rows, cols, function, *names))
    }

    /// The operator of one text: a number, a vector `[a, b]` or a matrix `[[a, b], [c, d]]`.
    pub fn formula(
        text: &str,
        names: &Names,
        constants: &[(&str, f64)],
    ) -> Result<Operator, ExprError> {
        let list = names.list();
        let variables: Vec<&str> = list.iter().map(String::as_str).collect();
        let (function, shape) =
            saltus_expr::Function::parse_array_with(text, &variables, constants)?;
        let (rows, cols) = match shape {
            Shape::Scalar => (1, 1),
            Shape::Vector(len) => (len, 1),
            Shape::Matrix(rows, cols) => (rows, cols),
        };
        Ok(Operator::of_function(rows, cols, function, *names))
    }

    /// The entries of several operators one after the other, in one evaluation that shares what
    /// they have in common. Only for formulas and constants.
    pub fn joined(operators: &[&Operator]) -> Option<Operator> {
        if let Some(constants) = constants(operators) {
            let data = constants.iter().flat_map(|constant| constant.data()).copied();
            return Some(data.collect::<Vec<_>>().into());
        }
        let (functions, names) = functions(operators)?;
        let function = functions.into_iter().reduce(|joined, function| joined.join(&function))?;
        Some(Operator::of_function(function.len(), 1, function, names))
    }

    /// `A − B − …`, entry by entry, likewise.
    pub(crate) fn difference(operators: &[&Operator]) -> Option<Operator> {
        let (rows, cols) = operators.first()?.shape();
        if operators.iter().any(|operator| operator.shape() != (rows, cols)) {
            return None;
        }
        if let Some(constants) = constants(operators) {
            let (first, others) = constants.split_first()?;
            let mut left = (*first).clone();
            others.iter().for_each(|constant| left.add_scaled(-1.0, constant));
            return Some(left.into());
        }
        let (functions, names) = functions(operators)?;
        let function = functions.into_iter().reduce(|left, function| left.minus(&function))?;
        Some(Operator::of_function(rows, cols, function, names))
    }

    /// What is left of a formula where this argument is zero.
    pub(crate) fn without(&self, argument: Argument) -> Option<Operator> {
        let (rows, cols) = self.shape();
        let Formulas { function, names, .. } = self.as_formulas()?;
        let function = function.without(names.range(argument));
        Some(Operator::of_function(rows, cols, function, *names))
    }

    fn as_formulas(&self) -> Option<&Formulas> {
        self.as_function()?.as_any()?.downcast_ref()
    }

    fn of_function(
        rows: usize,
        cols: usize,
        function: saltus_expr::Function,
        names: Names,
    ) -> Operator {
        if function.is_constant() {
            let mut values = vec![0.0; function.len()];
            function.eval(&[], &mut values);
            return Matrix::from_vec(rows, cols, values).into();
        }
        Operator::function(rows, cols, Arc::new(Formulas { function, names }))
    }
}

/// The values, where all are constants.
fn constants<'a>(operators: &[&'a Operator]) -> Option<Vec<&'a Matrix>> {
    operators.iter().map(|operator| operator.as_constant()).collect()
}

/// The functions of operators that are formulas or constants, over the longest of their lists of
/// names; nothing where one is neither, all are constants, or the others' names do not begin it.
fn functions(operators: &[&Operator]) -> Option<(Vec<saltus_expr::Function>, Names)> {
    let formulas = operators.iter().map(|operator| match operator.as_constant() {
        Some(_) => Some(None),
        None => operator.as_formulas().map(Some),
    });
    let formulas: Vec<Option<&Formulas>> = formulas.collect::<Option<_>>()?;
    let widest = formulas.iter().flatten().max_by_key(|formulas| formulas.names.len())?;
    if !formulas.iter().flatten().all(|formulas| formulas.names.begins(&widest.names)) {
        return None;
    }
    let list = widest.names.list();
    let variables: Vec<&str> = list.iter().map(String::as_str).collect();
    let function = |(operator, formulas): (&&Operator, &Option<&Formulas>)| match formulas {
        Some(formulas) => Some(formulas.function.clone()),
        None => {
            let numbers = operator.as_constant()?.data().iter();
            let texts: Vec<String> = numbers.map(|x| format!("{x:?}")).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            saltus_expr::Function::parse(&texts, &variables).ok()
        }
    };
    let functions = operators.iter().zip(&formulas).map(function).collect::<Option<_>>()?;
    Some((functions, widest.names))
}

/// Formulas of one slot.
#[derive(Debug)]
struct Formulas {
    function: saltus_expr::Function,
    names: Names,
}

/// Variables whose values are gathered on the stack, in the smaller of two arrays and in the larger.
const FEW: usize = 8;
const INLINE: usize = 32;

thread_local! {
    /// The values of a formula with more variables.
    static VALUES: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

impl Formulas {
    #[inline]
    fn gather(&self, at: At<'_>, values: &mut [f64]) {
        let Names { first: (_, first), second: (_, second), inputs, .. } = self.names;
        values[0] = at.t;
        let mut place = 1;
        for (len, vector) in [(inputs, at.inputs), (first, at.first), (second, at.second)] {
            // what a slot does not use may be absent
            let (to, from) = (&mut values[place..place + len], &vector[..len.min(vector.len())]);
            to[..from.len()].copy_from_slice(from);
            place += len;
        }
    }
}

impl Function for Formulas {
    #[inline]
    fn eval(&self, at: At<'_>, out: &mut [f64]) -> Result<(), String> {
        let len = self.names.len();
        if len == 1 {
            self.function.eval(&[at.t], out);
        } else if len <= FEW {
            let mut values = [0.0; FEW];
            self.gather(at, &mut values);
            self.function.eval(&values[..len], out);
        } else if len <= INLINE {
            let mut values = [0.0; INLINE];
            self.gather(at, &mut values);
            self.function.eval(&values[..len], out);
        } else {
            VALUES.with_borrow_mut(|values| {
                values.clear();
                values.resize(len, 0.0);
                self.gather(at, values);
                self.function.eval(values, out);
            });
        }
        Ok(())
    }

    fn uses(&self, argument: Argument) -> bool {
        self.names.range(argument).any(|variable| self.function.uses(variable))
    }

    fn varies(&self, entry: usize) -> bool {
        (0..self.names.len()).any(|variable| self.function.depends(entry, variable))
    }

    fn prepare(&self) {
        self.function.compile();
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }

    fn derivative(&self, by: Argument) -> Option<Arc<dyn Function>> {
        let variables: Vec<usize> = self.names.range(by).collect();
        let function = self.function.jacobian(&variables);
        Some(Arc::new(Formulas { function, names: self.names }))
    }
}
