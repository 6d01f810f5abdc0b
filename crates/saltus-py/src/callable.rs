//! Python functions as operators.
//!
//! A call costs little more than the function itself: the arrays it gets are made once and
//! filled again, unless it kept one of them, and an array of float64 or a list of floats that it
//! returns is copied as it is.
#![allow(unsafe_code)] // NumPy's arrays are read and filled through their pointers

use crate::operator;
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyFloat, PyList, PyTuple};
use pyo3::{ffi, intern};
use saltus::model::{Argument, At, Function};
use std::fmt;
use std::sync::{Mutex, MutexGuard};

/// A Python function.
pub struct Callable {
    function: Py<PyAny>,
    arguments: Vec<Argument>,
    out: Option<Out>,
    shape: Vec<usize>,
    arrays: Mutex<Option<Box<Arrays>>>, // nothing while a call is using them
}

/// How a function gets the array that it fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Out {
    /// After its arguments.
    Last,
    /// By the name `out`.
    Keyword,
}

/// What is handed to the function, made once.
struct Arrays {
    arguments: Vec<Option<Py<PyArray1<f64>>>>, // one an argument, nothing for `t`
    tuple: Py<PyTuple>, // of them, and `out` where it is the last; empty where it has to be made anew
    out: Option<Py<PyArrayDyn<f64>>>,
    keywords: Option<Py<PyDict>>,
}

impl Callable {
    pub fn new(
        function: Py<PyAny>,
        arguments: Vec<Argument>,
        out: Option<Out>,
        shape: Vec<usize>,
    ) -> Callable {
        Callable { function, arguments, out, shape, arrays: Mutex::new(None) }
    }

    fn arrays(&self) -> MutexGuard<'_, Option<Box<Arrays>>> {
        self.arrays.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Fills `out` with what the function gives.
    fn call(&self, py: Python<'_>, at: At<'_>, out: &mut [f64]) -> PyResult<()> {
        // another thread, or the function itself through another simulation, may be at work here
        let taken = self.arrays().take();
        let mut arrays = match taken {
            Some(arrays) => arrays,
            None => Box::new(self.new_arrays(py)?),
        };
        let result = self.call_with(py, &mut arrays, at, out);
        *self.arrays() = Some(arrays);
        result
    }

    fn call_with(
        &self,
        py: Python<'_>,
        arrays: &mut Arrays,
        at: At<'_>,
        out: &mut [f64],
    ) -> PyResult<()> {
        // the tuple, which has a reference to each of them, stays until all have been looked at
        let ours = if arrays.tuple.bind(py).is_empty() { 1 } else { 2 };
        let mut anew = false;
        for (array, &argument) in arrays.arguments.iter_mut().zip(&self.arguments) {
            if let Some(values) = vector(at, argument) {
                anew |= !fill(py, array, values, ours);
            }
        }
        if let Some(out) = &mut arrays.out {
            // by name, the other reference is that of the dictionary
            let ours = if self.out == Some(Out::Keyword) { 2 } else { ours };
            if is_shared(out.as_ptr(), ours) {
                *out = self.new_out(py);
                match &mut arrays.keywords {
                    Some(keywords) => *keywords = new_keywords(py, out)?,
                    None => anew = true,
                }
            }
        }
        if anew {
            arrays.tuple = PyTuple::empty(py).unbind();
        }
        self.renew(py, arrays, at.t)?;
        let keywords = arrays.keywords.as_ref().map(|keywords| keywords.bind(py));
        let value = self.function.bind(py).call(arrays.tuple.bind(py), keywords)?;
        match &arrays.out {
            Some(array) if value.is_none() => copy(array.bind(py), &self.shape, out),
            _ => read(&value, &self.shape, out),
        }
    }

    /// The arguments as a tuple: that of the last call with another `t`, unless it was kept.
    #[inline]
    fn renew(&self, py: Python<'_>, arrays: &mut Arrays, t: f64) -> PyResult<()> {
        let Arrays { arguments, tuple, out, .. } = arrays;
        if tuple.bind(py).is_empty() || is_shared(tuple.as_ptr(), 1) {
            let given = arguments.iter().map(|array| match array {
                Some(array) => array.bind(py).as_any().clone(),
                None => PyFloat::new(py, t).into_any(),
            });
            let last = out.iter().filter(|_| self.out == Some(Out::Last));
            let last = last.map(|array| array.bind(py).as_any().clone());
            *tuple = PyTuple::new(py, given.chain(last).collect::<Vec<_>>())?.unbind();
            return Ok(());
        }
        for (k, argument) in self.arguments.iter().enumerate() {
            if *argument == Argument::Time {
                let t = PyFloat::new(py, t).into_ptr();
                // SAFETY: nobody else has the tuple, `k` is in its range, and the reference to
                // the number is handed over
                unsafe { ffi::PyTuple_SetItem(tuple.as_ptr(), k as ffi::Py_ssize_t, t) };
            }
        }
        Ok(())
    }

    fn new_arrays(&self, py: Python<'_>) -> PyResult<Arrays> {
        let out = self.out.map(|_| self.new_out(py));
        let keywords = match &out {
            Some(out) if self.out == Some(Out::Keyword) => Some(new_keywords(py, out)?),
            _ => None,
        };
        let arguments = self.arguments.iter().map(|_| None).collect();
        Ok(Arrays { arguments, tuple: PyTuple::empty(py).unbind(), out, keywords })
    }

    fn new_out(&self, py: Python<'_>) -> Py<PyArrayDyn<f64>> {
        PyArrayDyn::zeros(py, &self.shape[..], false).unbind()
    }
}

fn new_keywords(py: Python<'_>, out: &Py<PyArrayDyn<f64>>) -> PyResult<Py<PyDict>> {
    let keywords = PyDict::new(py);
    keywords.set_item(intern!(py, "out"), out)?;
    Ok(keywords.unbind())
}

impl Function for Callable {
    fn eval(&self, at: At<'_>, out: &mut [f64]) -> Result<(), String> {
        Python::attach(|py| {
            self.call(py, at, out).map_err(|error| {
                let text = error.to_string();
                operator::keep_failure(error);
                text
            })
        })
    }

    fn uses(&self, argument: Argument) -> bool {
        self.arguments.contains(&argument)
    }
}

impl fmt::Debug for Callable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Python function")
    }
}

/// The values of an argument; nothing for `t`.
fn vector(at: At<'_>, argument: Argument) -> Option<&[f64]> {
    match argument {
        Argument::Time => None,
        Argument::First => Some(at.first),
        Argument::Second => Some(at.second),
        Argument::Inputs => Some(at.inputs),
    }
}

/// Puts values into the array of the last call; into a new one, and then the answer is no, where
/// somebody still looks at it.
#[inline]
fn fill(
    py: Python<'_>,
    array: &mut Option<Py<PyArray1<f64>>>,
    values: &[f64],
    ours: isize,
) -> bool {
    if let Some(array) = array
        && !is_shared(array.as_ptr(), ours)
    {
        let array = array.bind(py);
        // SAFETY: nobody else has the array. It was made by `from_slice` below, so it is one
        // piece; its length is looked at because the function may have changed that.
        if array.len() == values.len()
            && let Ok(slice) = unsafe { array.as_slice_mut() }
        {
            slice.copy_from_slice(values);
            return true;
        }
    }
    *array = Some(PyArray1::from_slice(py, values).unbind());
    false
}

/// Whether there are more references than ours.
#[inline]
fn is_shared(object: *mut ffi::PyObject, ours: isize) -> bool {
    // SAFETY: the object is alive, since we have a reference
    unsafe { ffi::Py_REFCNT(object) != ours }
}

/// Fills `out` with what a function returned.
#[inline]
fn read(value: &Bound<'_, PyAny>, shape: &[usize], out: &mut [f64]) -> PyResult<()> {
    // a list is known by its type, an array only after a look at what it holds
    let is_list = value.is_exact_instance_of::<PyList>() || value.is_exact_instance_of::<PyTuple>();
    if is_list && read_numbers(value, shape, out) {
        return Ok(());
    }
    if let Ok(array) = value.cast::<PyArrayDyn<f64>>() {
        return copy(array, shape, out);
    }
    if !is_list && read_numbers(value, shape, out) {
        return Ok(());
    }
    if value.is_none() {
        let message = format!("returned None, expected an array of shape {}", tuple(shape));
        return Err(PyTypeError::new_err(message));
    }
    let array = as_array(value)?;
    copy(array.cast::<PyArrayDyn<f64>>()?, shape, out)
}

/// Fills `out` from floats in lists or tuples of this shape, which is quicker than to make an
/// array of them; the answer is no for anything else.
fn read_numbers(value: &Bound<'_, PyAny>, shape: &[usize], out: &mut [f64]) -> bool {
    let Some((&len, inner)) = shape.split_first() else {
        return match value.cast::<PyFloat>() {
            Ok(number) => {
                out[0] = number.value();
                true
            }
            Err(_) => false,
        };
    };
    let width = inner.iter().product();
    let mut rows = out.chunks_exact_mut(std::cmp::max(width, 1));
    let mut fill = |item: Bound<'_, PyAny>| match rows.next() {
        Some(row) => read_numbers(&item, inner, row),
        None => false,
    };
    if let Ok(list) = value.cast_exact::<PyList>() {
        list.len() == len && list.iter().all(&mut fill)
    } else if let Ok(tuple) = value.cast_exact::<PyTuple>() {
        tuple.len() == len && tuple.iter().all(&mut fill)
    } else {
        len == 1 && inner.is_empty() && read_numbers(value, inner, out)
    }
}

#[inline]
fn copy(array: &Bound<'_, PyArrayDyn<f64>>, shape: &[usize], out: &mut [f64]) -> PyResult<()> {
    let single = out.len() == 1 && array.len() == 1;
    if array.shape() != shape && !single {
        return Err(PyValueError::new_err(format!(
            "returned an array of shape {}, expected {}",
            tuple(array.shape()),
            tuple(shape)
        )));
    }
    // SAFETY: the interpreter is held, and nothing runs in it before the values are copied
    unsafe {
        match array.is_c_contiguous().then(|| array.as_slice()) {
            Some(Ok(values)) => out.copy_from_slice(values),
            _ => out.iter_mut().zip(array.as_array()).for_each(|(out, value)| *out = *value),
        }
    }
    Ok(())
}

/// `numpy.asarray(value, "float64")`, also of SciPy's sparse matrices.
fn as_array<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let asarray = FUNCTION.import(value.py(), "numpy", "asarray")?;
    let name = intern!(value.py(), "toarray");
    match value.hasattr(name)? {
        true => asarray.call1((value.call_method0(name)?, "float64")),
        false => asarray.call1((value, "float64")),
    }
}

/// A shape as Python writes it.
fn tuple(shape: &[usize]) -> String {
    match shape {
        [n] => format!("({n},)"),
        _ => format!("({})", shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}
