//! Problems on their own.

use crate::{arrays, errors, settings};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use saltus::linalg::Sparse;
use saltus::numerics::methods::Enumeration;
use saltus::numerics::{
    EnumerationSettings, NumericsError, Operator, Problem, Solution, Status, residual as measure,
    solve as solve_problem,
};
use std::time::Instant;

/// A complementarity problem.
#[pyclass(frozen, name = "Problem", module = "saltus._saltus")]
pub struct PyProblem(pub Problem);

type Vector<'py> = Bound<'py, PyArray1<f64>>;
/// Rows, columns, and entries as row, column and value.
type Triplets<'py> =
    (usize, usize, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Vector<'py>);

#[pymethods]
impl PyProblem {
    #[getter]
    fn size(&self) -> usize {
        self.0.len()
    }

    fn q<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, self.0.q())
    }

    fn lower<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, self.0.lower())
    }

    fn upper<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, self.0.upper())
    }

    #[getter]
    fn is_sparse(&self) -> bool {
        matches!(self.0.matrix(), Operator::Sparse(_))
    }

    fn dense<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let dense = self.0.matrix().to_dense();
        arrays::table(py, dense.data().to_vec(), dense.rows(), dense.cols())
    }

    fn triplets<'py>(&self, py: Python<'py>) -> Triplets<'py> {
        let sparse = match self.0.matrix() {
            Operator::Sparse(sparse) => sparse.clone(),
            other => Sparse::from_dense(&other.to_dense()),
        };
        let row = PyArray1::from_iter(py, sparse.iter().map(|(i, _, _)| i as i64));
        let col = PyArray1::from_iter(py, sparse.iter().map(|(_, j, _)| j as i64));
        let value = PyArray1::from_iter(py, sparse.iter().map(|(_, _, x)| x));
        (sparse.rows(), sparse.cols(), row, col, value)
    }
}

#[pyfunction]
pub fn lcp_problem(M: &Bound<'_, PyAny>, q: PyReadonlyArray1<'_, f64>) -> PyResult<PyProblem> {
    problem(Problem::lcp(matrix(M)?, arrays::vector(&q)))
}

#[pyfunction]
pub fn mlcp_problem(
    M: &Bound<'_, PyAny>,
    q: PyReadonlyArray1<'_, f64>,
    equalities: usize,
) -> PyResult<PyProblem> {
    problem(Problem::mlcp(matrix(M)?, arrays::vector(&q), equalities))
}

#[pyfunction]
pub fn boxed_problem(
    M: &Bound<'_, PyAny>,
    q: PyReadonlyArray1<'_, f64>,
    lower: PyReadonlyArray1<'_, f64>,
    upper: PyReadonlyArray1<'_, f64>,
) -> PyResult<PyProblem> {
    let (lower, upper) = (arrays::vector(&lower), arrays::vector(&upper));
    problem(Problem::boxed(matrix(M)?, arrays::vector(&q), &lower, &upper))
}

fn problem(problem: Result<Problem, NumericsError>) -> PyResult<PyProblem> {
    problem.map(PyProblem).map_err(|error| wrong(&error))
}

/// The error in the letters of Python's problems, `M z + q`.
fn wrong(error: &NumericsError) -> PyErr {
    errors::input(error.to_string().replace("`W`", "`M`").replace("W[", "M["))
}

/// An array, or rows, columns and entries as row, column and value.
fn matrix(value: &Bound<'_, PyAny>) -> PyResult<Operator> {
    if let Ok(array) = value.extract::<PyReadonlyArray2<'_, f64>>() {
        return Ok(arrays::matrix(&array).into());
    }
    type Entries<'py> = (
        usize,
        usize,
        PyReadonlyArray1<'py, i64>,
        PyReadonlyArray1<'py, i64>,
        PyReadonlyArray1<'py, f64>,
    );
    let (rows, cols, row, col, value): Entries<'_> = value.extract()?;
    if row.len() != col.len() || row.len() != value.len() {
        return Err(errors::input("the entries of a sparse matrix differ in number"));
    }
    let mut triplets = Vec::with_capacity(value.len());
    for ((&i, &j), &x) in row.as_array().iter().zip(col.as_array()).zip(value.as_array()) {
        match (usize::try_from(i), usize::try_from(j)) {
            (Ok(i), Ok(j)) if i < rows && j < cols => triplets.push((i, j, x)),
            _ => {
                let message = format!("entry ({i}, {j}) is outside a {rows} × {cols} matrix");
                return Err(errors::input(message));
            }
        }
    }
    Ok(Sparse::from_triplets(rows, cols, &triplets).into())
}

/// `z`, `w`, residual, iterations, seconds, status, method, worst unknown, attempts.
type Answer<'py> = (
    Vector<'py>,
    Vector<'py>,
    f64,
    usize,
    f64,
    &'static str,
    &'static str,
    usize,
    Vec<(&'static str, &'static str, f64)>,
);

fn answer(py: Python<'_>, solution: Solution, seconds: f64) -> Answer<'_> {
    let Solution { z, w, report, attempts } = solution;
    let attempts = attempts.iter().map(|a| (a.method, a.status.name(), a.residual)).collect();
    (
        PyArray1::from_vec(py, z),
        PyArray1::from_vec(py, w),
        report.residual,
        report.iterations,
        seconds,
        status(report.status.name()),
        report.method,
        report.worst,
        attempts,
    )
}

/// The word for a status in Python, where a ray that proves nothing is an end like any other
/// without an answer; `attempts` say `ray`.
pub fn status(name: &str) -> &str {
    if name == Status::Ray.name() { Status::Diverged.name() } else { name }
}

/// Solves a problem with the solver that a JSON text describes.
#[pyfunction]
#[pyo3(signature = (problem, solver, z0=None))]
pub fn solve<'py>(
    py: Python<'py>,
    problem: &PyProblem,
    solver: &str,
    z0: Option<PyReadonlyArray1<'py, f64>>,
) -> PyResult<Answer<'py>> {
    let solver = settings::solver(solver)?;
    let z0 = z0.as_ref().map(arrays::vector);
    let start = Instant::now();
    let solution = py.detach(|| solve_problem(&problem.0, &solver, z0.as_deref()));
    let seconds = start.elapsed().as_secs_f64();
    Ok(answer(py, solution.map_err(|error| wrong(&error))?, seconds))
}

/// How far `z` is from a solution.
#[pyfunction]
pub fn residual(problem: &PyProblem, z: PyReadonlyArray1<'_, f64>) -> PyResult<f64> {
    let (expected, found) = (problem.0.len(), z.len());
    if found != expected {
        let error = NumericsError::Length { what: "z", expected, found };
        return Err(wrong(&error));
    }
    let mut w = vec![0.0; expected];
    Ok(measure::residual(&problem.0, &arrays::vector(&z), &mut w).value)
}

/// All isolated solutions; how many modes are singular, and how many there are.
#[pyfunction]
pub fn all_solutions<'py>(
    py: Python<'py>,
    problem: &PyProblem,
    tol: f64,
    max_iter: usize,
) -> PyResult<(Vec<Answer<'py>>, usize, usize)> {
    let start = Instant::now();
    let found = py
        .detach(|| Enumeration::new(EnumerationSettings { tol, max_iter }).all(&problem.0))
        .map_err(|error| wrong(&error))?;
    let seconds = start.elapsed().as_secs_f64();
    let answers = found.solutions.into_iter().map(|s| answer(py, s, seconds)).collect();
    Ok((answers, found.singular_modes, found.modes))
}
