//! Operators of systems, relations and laws: arrays, formulas, Python functions, compiled
//! functions.

use crate::callable::{Callable, Out};
use crate::compiled::Compiled;
use crate::{arrays, errors};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use saltus::expr::{ExprError, Formula};
use saltus::model::{Argument, Names, Operator};
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    /// What a Python function raised while this thread was computing: errors of the model are
    /// texts, and the exception is wanted as their cause.
    static FAILURE: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Keeps what a Python function raised.
pub fn keep_failure(error: PyErr) {
    FAILURE.with(|failure| *failure.borrow_mut() = Some(error));
}

/// Takes what a Python function raised in this thread, if one did.
pub fn take_failure() -> Option<PyErr> {
    FAILURE.with(|failure| failure.borrow_mut().take())
}

/// Takes it if it is no error but an end that was asked for, such as Ctrl-C while the function was at work: a run that tries
/// again after a failure does not lose it.
pub fn take_interrupt(py: Python<'_>) -> Option<PyErr> {
    let asked = |error: &mut PyErr| !error.is_instance_of::<PyException>(py);
    FAILURE.with(|failure| failure.borrow_mut().take_if(asked))
}

/// What fills a slot of a system, relation or law.
#[pyclass(frozen, name = "Operator", module = "saltus._saltus")]
pub struct PyOperator {
    pub operator: Operator,
    /// Whether it is a Python function.
    pub is_python: bool,
}

impl From<Operator> for PyOperator {
    fn from(operator: Operator) -> Self {
        PyOperator { operator, is_python: false }
    }
}

/// Whether formulas may use `t`, names and lengths of the two vectors, number of inputs.
type Scope = (bool, (String, usize), (String, usize), usize);

#[pymethods]
impl PyOperator {
    /// A constant: a vector or a matrix.
    #[staticmethod]
    fn array(value: &Bound<'_, PyAny>) -> PyResult<PyOperator> {
        if let Ok(vector) = value.extract::<PyReadonlyArray1<'_, f64>>() {
            return Ok(Operator::from(arrays::vector(&vector)).into());
        }
        let matrix = arrays::matrix(&value.extract::<PyReadonlyArray2<'_, f64>>()?);
        Ok(Operator::from(matrix).into())
    }

    /// One formula for the whole: a number, `[a, b]` or `[[a, b], [c, d]]`.
    #[staticmethod]
    fn formula(
        what: &str,
        text: &str,
        scope: Scope,
        parameters: Vec<(String, f64)>,
    ) -> PyResult<PyOperator> {
        let operator = Operator::formula(text, &names(&scope), &constants(&parameters));
        operator.map(PyOperator::from).map_err(|error| wrong(what, &error, text))
    }

    /// One formula or number an entry, row by row.
    #[staticmethod]
    fn formulas(
        what: &str,
        shape: (usize, usize),
        entries: Vec<Entry>,
        scope: Scope,
        parameters: Vec<(String, f64)>,
    ) -> PyResult<PyOperator> {
        let texts: Vec<String> = entries.into_iter().map(Entry::text).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (names, constants) = (names(&scope), constants(&parameters));
        let operator = Operator::formulas(shape.0, shape.1, &texts, &names, &constants);
        operator.map(PyOperator::from).map_err(|error| wrong(what, &error, texts[error.text()]))
    }

    /// A Python function of these arguments, and of an array to fill, `out`, which may be the `last`
    /// of them or a keyword; a vector has no second length.
    #[staticmethod]
    #[pyo3(signature = (function, arguments, out, rows, cols=None, last=false))]
    fn callable(
        function: Py<PyAny>,
        arguments: Vec<String>,
        out: bool,
        rows: usize,
        cols: Option<usize>,
        last: bool,
    ) -> PyOperator {
        let out = out.then_some(if last { Out::Last } else { Out::Keyword });
        let arguments = arguments.iter().map(|name| argument(name)).collect();
        let shape = [Some(rows), cols].into_iter().flatten().collect();
        let function = Callable::new(function, arguments, out, shape);
        let operator = Operator::function(rows, cols.unwrap_or(1), Arc::new(function));
        PyOperator { operator, is_python: true }
    }

    /// A compiled function at this address, which `owner` keeps alive.
    #[staticmethod]
    #[pyo3(signature = (address, owner, arguments, rows, cols=None))]
    fn compiled(
        address: usize,
        owner: Py<PyAny>,
        arguments: Vec<String>,
        rows: usize,
        cols: Option<usize>,
    ) -> PyResult<PyOperator> {
        let arguments = arguments.iter().map(|name| argument(name)).collect();
        let function = Compiled::new(address, owner, arguments)
            .ok_or_else(|| errors::input("the address of a compiled function is 0"))?;
        Ok(Operator::function(rows, cols.unwrap_or(1), Arc::new(function)).into())
    }

    /// Rows and columns; a vector has one column.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        self.operator.shape()
    }
}

fn argument(name: &str) -> Argument {
    match name {
        "t" => Argument::Time,
        "x" | "q" => Argument::First,
        "z" => Argument::Inputs,
        _ => Argument::Second,
    }
}

fn names(scope: &Scope) -> Names {
    let (time, first, second, inputs) = scope;
    Names { time: *time, first: vector(first), second: vector(second), inputs: *inputs }
}

fn vector((name, len): &(String, usize)) -> (&'static str, usize) {
    const KNOWN: [&str; 5] = ["x", "q", "v", "u", "lam"];
    KNOWN.into_iter().find(|known| known == name).map_or(("", 0), |known| (known, *len))
}

fn constants(parameters: &[(String, f64)]) -> Vec<(&str, f64)> {
    parameters.iter().map(|(name, value)| (name.as_str(), *value)).collect()
}

/// A text that is no formula, with the place.
fn wrong(what: &str, error: &ExprError, text: &str) -> PyErr {
    let caret = error.caret(text);
    errors::model_input(format!("{what}: {error}\n{caret}"))
}

/// The values of constant formulas; nothing where `defer` is set and one has a name that may be
/// a parameter.
#[pyfunction]
pub fn evaluate<'py>(
    py: Python<'py>,
    what: &str,
    entries: Vec<Entry>,
    parameters: Vec<(String, f64)>,
    defer: bool,
) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
    let mut values = Vec::with_capacity(entries.len());
    for entry in entries {
        let text = match entry {
            Entry::Number(value) => {
                values.push(value);
                continue;
            }
            Entry::Formula(text) => text,
        };
        match Formula::parse_with(&text, &["t"], &constants(&parameters)) {
            Ok(formula) if formula.is_constant() => values.push(formula.eval(&[])),
            Ok(_) => return Err(errors::model_input(format!("{what} cannot depend on t"))),
            Err(ExprError::UnknownName { .. }) if defer => return Ok(None),
            Err(error) => return Err(wrong(what, &error, &text)),
        }
    }
    Ok(Some(PyArray1::from_vec(py, values)))
}

/// Whether formulas can have a parameter of this name.
#[pyfunction]
pub fn is_parameter_name(name: &str) -> bool {
    let mut letters = name.chars();
    let first = letters.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    let taken = ["t", "x", "q", "v", "u", "lam", "z"].contains(&name);
    first
        && letters.all(|c| c.is_alphanumeric() || c == '_')
        && !taken
        && !saltus::expr::is_reserved(name)
}

/// An entry of an array with formulas.
#[derive(FromPyObject)]
pub enum Entry {
    Number(f64),
    Formula(String),
}

impl Entry {
    /// A number is a formula too.
    fn text(self) -> String {
        match self {
            Entry::Number(value) if value.is_nan() => "0/0".to_string(),
            Entry::Number(value) => format!("{value:?}"),
            Entry::Formula(text) => text,
        }
    }
}
