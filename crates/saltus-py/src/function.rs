//! Python functions as the map of a problem.
//!
//! A map cannot fail, a Python function can: what it raises is kept, every value is NaN from
//! there on, so that the method ends soon, and the exception is raised in place of the answer.
//! Each call of a method gets a map of its own, so that threads do not see each other's.

use crate::errors;
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use saltus::linalg::Matrix;
use saltus::numerics::{Function, Map, Operator, Problem};
use std::sync::{Arc, Mutex, MutexGuard};

/// The two functions. The Python side sees to it that they give arrays of the right shape.
#[derive(Debug)]
pub struct Callables {
    pub size: usize,
    pub F: Py<PyAny>,
    pub jac: Py<PyAny>,
}

/// The functions in one call, and what they raised.
#[derive(Debug)]
struct Calls {
    functions: Arc<Callables>,
    raised: Mutex<Option<PyErr>>,
}

impl Calls {
    fn raised(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.raised.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Fills `out` with what the function gives at `z`.
    fn call(&self, function: &Py<PyAny>, z: &[f64], out: &mut [f64]) {
        if self.raised().is_some() {
            return out.fill(f64::NAN);
        }
        let result = Python::attach(|py| -> PyResult<()> {
            let value = function.bind(py).call1((PyArray1::from_slice(py, z),))?;
            let array = value.cast::<PyArrayDyn<f64>>()?.try_readonly()?;
            out.iter_mut().zip(array.as_array()).for_each(|(out, value)| *out = *value);
            Ok(())
        });
        if let Err(error) = result {
            out.fill(f64::NAN);
            *self.raised() = Some(error);
        }
    }
}

impl Map for Calls {
    fn size(&self) -> usize {
        self.functions.size
    }

    fn eval(&self, z: &[f64], w: &mut [f64]) {
        self.call(&self.functions.F, z, w);
    }

    fn jacobian(&self, z: &[f64], jacobian: &mut Matrix) {
        self.call(&self.functions.jac, z, jacobian.data_mut());
    }
}

/// The map for a problem that is only described.
pub fn map(functions: &Arc<Callables>) -> Operator {
    Operator::Function(Function(calls(functions)))
}

fn calls(functions: &Arc<Callables>) -> Arc<Calls> {
    Arc::new(Calls { functions: Arc::clone(functions), raised: Mutex::new(None) })
}

/// Works on a problem without the GIL; an exception of its functions takes the place of the
/// answer.
pub fn with<T: Send>(
    py: Python<'_>,
    problem: &Problem,
    functions: Option<&Arc<Callables>>,
    work: impl FnOnce(&Problem) -> T + Send,
) -> PyResult<T> {
    let Some(functions) = functions else { return Ok(py.detach(|| work(problem))) };
    let calls = calls(functions);
    let mut own = problem.clone();
    own.set_matrix(Operator::Function(Function(calls.clone())))
        .map_err(|error| errors::input(error.to_string()))?;
    let answer = py.detach(|| work(&own));
    match calls.raised().take() {
        Some(raised) => Err(raised),
        None => Ok(answer),
    }
}
