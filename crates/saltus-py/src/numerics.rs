//! Problems on their own.

use crate::function::{self, Callables};
use crate::{arrays, errors, settings};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use saltus::linalg::Sparse;
use saltus::numerics::methods::Enumeration;
use saltus::numerics::{
    Block, EnumerationSettings, Global, Graph, Interrupt, Measure, NoOptimum, NumericsError,
    Operator, Polyhedron, Problem, QuadraticProgram, Set, Solution, Solver, Status, Uniqueness,
    residual as measure, solve as solve_problem, solve_until, uniqueness as unique_at,
};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// A complementarity problem.
#[pyclass(frozen, name = "Problem", module = "saltus._saltus")]
pub struct PyProblem {
    pub problem: Problem,
    sparse: bool, // how its matrices are handed out
    functions: Option<Arc<Callables>>,
}

type Vector<'py> = Bound<'py, PyArray1<f64>>;
type Table<'py> = Bound<'py, PyArray2<f64>>;
/// Rows, columns, and entries as row, column and value.
type Triplets<'py> =
    (usize, usize, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Vector<'py>);

impl From<Problem> for PyProblem {
    fn from(problem: Problem) -> Self {
        let sparse = matches!(problem.matrix(), Operator::Sparse(_) | Operator::Global(_));
        PyProblem { problem, sparse, functions: None }
    }
}

#[pymethods]
impl PyProblem {
    #[getter]
    fn size(&self) -> usize {
        self.problem.len()
    }

    #[getter]
    fn contacts(&self) -> usize {
        self.problem.contacts_count()
    }

    /// Whether its matrices are to be sparse ones.
    #[getter]
    fn is_sparse(&self) -> bool {
        self.sparse
    }

    #[getter]
    fn is_global(&self) -> bool {
        self.problem.global().is_some()
    }

    #[getter]
    fn is_function(&self) -> bool {
        self.functions.is_some()
    }

    fn q<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, self.problem.q())
    }

    /// `w` at `z = 0`.
    fn free<'py>(&self, py: Python<'py>) -> Vector<'py> {
        let n = self.problem.len();
        let mut w = vec![0.0; n];
        self.problem.eval(&vec![0.0; n], &mut w);
        PyArray1::from_vec(py, w)
    }

    fn lower<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, self.problem.lower())
    }

    fn upper<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, self.problem.upper())
    }

    /// Of every contact or cone, in order.
    fn mu<'py>(&self, py: Python<'py>) -> Vector<'py> {
        let mu = self.problem.placed().iter().filter_map(|block| match block.set {
            Set::Coulomb2 { mu } | Set::Coulomb3 { mu } | Set::SecondOrder { mu } => Some(mu),
            Set::Rolling2 { mu, .. } | Set::Rolling3 { mu, .. } => Some(mu),
            _ => None,
        });
        PyArray1::from_vec(py, mu.collect())
    }

    /// Of every contact with rolling resistance, in order.
    fn mu_r<'py>(&self, py: Python<'py>) -> Vector<'py> {
        let mu_r = self.problem.placed().iter().filter_map(|block| match block.set {
            Set::Rolling2 { mu_r, .. } | Set::Rolling3 { mu_r, .. } => Some(mu_r),
            _ => None,
        });
        PyArray1::from_vec(py, mu_r.collect())
    }

    /// The map as a matrix, with every zero written out.
    fn dense<'py>(&self, py: Python<'py>) -> PyResult<Table<'py>> {
        let dense = self.problem.matrix().to_dense();
        arrays::table(py, dense.data().to_vec(), dense.rows(), dense.cols())
    }

    fn triplets<'py>(&self, py: Python<'py>) -> Triplets<'py> {
        match self.problem.matrix() {
            Operator::Sparse(sparse) => triplets(py, sparse),
            Operator::Global(global) => triplets(py, &global.condense()),
            other => triplets(py, &Sparse::from_dense(&other.to_dense())),
        }
    }

    /// The problem with `Hᵀ M⁻¹ H` multiplied out.
    fn condensed(&self) -> PyResult<PyProblem> {
        let problem = self.problem.condensed().ok_or_else(not_global)?;
        Ok(PyProblem { problem, sparse: self.sparse, functions: None })
    }

    /// `M` of the pair `(M, H)`.
    fn mass<'py>(&self, py: Python<'py>) -> PyResult<Triplets<'py>> {
        Ok(triplets(py, self.global()?.mass()))
    }

    /// `H` of the pair.
    fn H<'py>(&self, py: Python<'py>) -> PyResult<Triplets<'py>> {
        Ok(triplets(py, self.global()?.H()))
    }

    fn f<'py>(&self, py: Python<'py>) -> PyResult<Vector<'py>> {
        Ok(PyArray1::from_slice(py, self.global()?.f()))
    }

    /// `v = M⁻¹ (f + H z)`
    fn velocity<'py>(
        &self,
        py: Python<'py>,
        z: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Vector<'py>> {
        let global = self.global()?;
        let z = self.unknowns("z", &z)?;
        let mut v = vec![0.0; global.velocities()];
        global.velocity(&z, &mut v);
        Ok(PyArray1::from_vec(py, v))
    }
}

impl PyProblem {
    /// Works on the problem without the GIL; what its functions raise is raised.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Problem) -> T + Send,
    ) -> PyResult<T> {
        function::with(py, &self.problem, self.functions.as_ref(), work)
    }

    fn global(&self) -> PyResult<&Global> {
        self.problem.global().ok_or_else(not_global)
    }

    /// A copy of a vector with one entry an unknown.
    fn unknowns(&self, what: &'static str, z: &PyReadonlyArray1<'_, f64>) -> PyResult<Vec<f64>> {
        let (expected, found) = (self.problem.len(), z.len());
        if found != expected {
            return Err(wrong(&NumericsError::Length { what, expected, found }, LOCAL));
        }
        Ok(arrays::vector(z))
    }
}

fn not_global() -> PyErr {
    errors::input("the problem is not of the form M v = f + H z")
}

fn triplets<'py>(py: Python<'py>, sparse: &Sparse) -> Triplets<'py> {
    let row = PyArray1::from_iter(py, sparse.iter().map(|(i, _, _)| i as i64));
    let col = PyArray1::from_iter(py, sparse.iter().map(|(_, j, _)| j as i64));
    let value = PyArray1::from_iter(py, sparse.iter().map(|(_, _, x)| x));
    (sparse.rows(), sparse.cols(), row, col, value)
}

#[pyfunction]
pub fn lcp_problem(M: &Bound<'_, PyAny>, q: PyReadonlyArray1<'_, f64>) -> PyResult<PyProblem> {
    problem(Problem::lcp(matrix(M)?, arrays::vector(&q)), GENERAL)
}

#[pyfunction]
pub fn mlcp_problem(
    M: &Bound<'_, PyAny>,
    q: PyReadonlyArray1<'_, f64>,
    equalities: usize,
) -> PyResult<PyProblem> {
    problem(Problem::mlcp(matrix(M)?, arrays::vector(&q), equalities), GENERAL)
}

#[pyfunction]
pub fn boxed_problem(
    M: &Bound<'_, PyAny>,
    q: PyReadonlyArray1<'_, f64>,
    lower: PyReadonlyArray1<'_, f64>,
    upper: PyReadonlyArray1<'_, f64>,
) -> PyResult<PyProblem> {
    let (lower, upper) = (arrays::vector(&lower), arrays::vector(&upper));
    problem(Problem::boxed(matrix(M)?, arrays::vector(&q), &lower, &upper), GENERAL)
}

/// A block as the Python side writes it: name of the set, number of unknowns, parameters.
type Described = (String, usize, Vec<f64>);

/// A problem out of blocks.
#[pyfunction]
pub fn block_problem(
    M: &Bound<'_, PyAny>,
    q: PyReadonlyArray1<'_, f64>,
    blocks: Vec<Described>,
) -> PyResult<PyProblem> {
    let blocks = described(blocks)?;
    problem(Problem::new(matrix(M)?, arrays::vector(&q), &blocks), GENERAL)
}

/// An affine variational inequality over `A z ≤ b`, `E z = f`.
#[pyfunction]
pub fn avi_problem(
    M: &Bound<'_, PyAny>,
    q: PyReadonlyArray1<'_, f64>,
    A: &Bound<'_, PyAny>,
    b: PyReadonlyArray1<'_, f64>,
    E: &Bound<'_, PyAny>,
    f: PyReadonlyArray1<'_, f64>,
) -> PyResult<PyProblem> {
    let set = Polyhedron::new(q.len())
        .below(matrix(A)?, arrays::vector(&b))
        .on(matrix(E)?, arrays::vector(&f));
    problem(Problem::avi(matrix(M)?, arrays::vector(&q), &set), GENERAL)
}

/// Contacts under one of the laws of friction.
#[pyfunction]
pub fn contact_problem(
    W: &Bound<'_, PyAny>,
    q: PyReadonlyArray1<'_, f64>,
    law: &str,
    mu: PyReadonlyArray1<'_, f64>,
    mu_r: PyReadonlyArray1<'_, f64>,
) -> PyResult<PyProblem> {
    contacts(matrix(W)?, arrays::vector(&q), law, &mu, &mu_r, LOCAL)
}

/// The same with the pair `(M, H)` in place of `W`.
#[pyfunction]
pub fn global_problem(
    M: &Bound<'_, PyAny>,
    H: &Bound<'_, PyAny>,
    f: PyReadonlyArray1<'_, f64>,
    b: PyReadonlyArray1<'_, f64>,
    law: &str,
    mu: PyReadonlyArray1<'_, f64>,
    mu_r: PyReadonlyArray1<'_, f64>,
) -> PyResult<PyProblem> {
    let (M, H) = (matrix(M)?, matrix(H)?);
    let sparse = [&M, &H].iter().any(|matrix| matches!(matrix, Operator::Sparse(_)));
    let (columns, found) = (H.shape().1, b.len());
    if found != columns {
        let message = format!("`b` has length {found}, but `H` has {columns} columns");
        return Err(errors::input(message));
    }
    let global = Global::new(as_sparse(M), as_sparse(H), arrays::vector(&f))
        .map_err(|error| wrong(&error, GLOBAL))?;
    let made = contacts(global.into(), arrays::vector(&b), law, &mu, &mu_r, GLOBAL)?;
    Ok(PyProblem { sparse, ..made })
}

fn contacts(
    map: Operator,
    q: Vec<f64>,
    law: &str,
    mu: &PyReadonlyArray1<'_, f64>,
    mu_r: &PyReadonlyArray1<'_, f64>,
    letters: Letters,
) -> PyResult<PyProblem> {
    let (mu, mu_r) = (arrays::vector(mu), arrays::vector(mu_r));
    let made = match law {
        "coulomb2" => Problem::friction2d(map, q, &mu),
        "coulomb3" => Problem::friction3d(map, q, &mu),
        "rolling2" => Problem::rolling2d(map, q, &mu, &mu_r),
        "rolling3" => Problem::rolling3d(map, q, &mu, &mu_r),
        _ => return Err(errors::input(format!("there is no law `{law}` of contacts"))),
    };
    problem(made, letters)
}

#[pyfunction]
pub fn second_order_problem(
    M: &Bound<'_, PyAny>,
    q: PyReadonlyArray1<'_, f64>,
    sizes: Vec<usize>,
    mu: PyReadonlyArray1<'_, f64>,
) -> PyResult<PyProblem> {
    let (q, mu) = (arrays::vector(&q), arrays::vector(&mu));
    problem(Problem::second_order(matrix(M)?, q, &sizes, &mu), GENERAL)
}

/// `w = F(z)` with a Python function and its Jacobian.
#[pyfunction]
pub fn function_problem(
    F: Py<PyAny>,
    jac: Py<PyAny>,
    blocks: Vec<Described>,
) -> PyResult<PyProblem> {
    let blocks = described(blocks)?;
    let size = blocks.iter().map(|block| block.size).sum();
    let functions = Arc::new(Callables { size, F, jac });
    let made = Problem::new(function::map(&functions), vec![0.0; size], &blocks)
        .map_err(|error| wrong(&error, GENERAL))?;
    let problem = made.measured(Measure::Absolute);
    Ok(PyProblem { problem, sparse: false, functions: Some(functions) })
}

/// The sets by their names. The Python side has checked names and numbers of parameters.
fn described(blocks: Vec<Described>) -> PyResult<Vec<Block>> {
    let mut out = Vec::with_capacity(blocks.len());
    for (index, (name, size, parameters)) in blocks.into_iter().enumerate() {
        let set = match (name.as_str(), parameters.as_slice()) {
            ("free", []) => Set::Free,
            ("nonnegative", []) => Set::Nonnegative,
            ("interval", &[lower, upper]) => Set::Interval { lower, upper },
            ("coulomb2", &[mu]) => Set::Coulomb2 { mu },
            ("coulomb3", &[mu]) => Set::Coulomb3 { mu },
            ("rolling2", &[mu, mu_r]) => Set::Rolling2 { mu, mu_r },
            ("rolling3", &[mu, mu_r]) => Set::Rolling3 { mu, mu_r },
            ("second-order", &[mu]) => Set::SecondOrder { mu },
            ("drucker-prager", &[eta, theta]) => Set::DruckerPrager { eta, theta },
            ("von-mises", &[sigma_y]) => Set::VonMises { sigma_y },
            ("graph", coordinates) => {
                let points: Vec<(f64, f64)> =
                    coordinates.chunks_exact(2).map(|point| (point[0], point[1])).collect();
                let graph = Graph::new(&points)
                    .map_err(|error| errors::input(format!("block {index}: {error}")))?;
                Set::Graph(Arc::new(graph))
            }
            _ => return Err(errors::input(format!("block {index}: there is no set `{name}`"))),
        };
        out.push(Block { size, set });
    }
    Ok(out)
}

/// A convex quadratic program.
#[pyclass(frozen, name = "QuadraticProgram", module = "saltus._saltus")]
pub struct PyQuadraticProgram(QuadraticProgram);

#[pymethods]
impl PyQuadraticProgram {
    #[new]
    fn new(
        P: &Bound<'_, PyAny>,
        c: PyReadonlyArray1<'_, f64>,
        A: &Bound<'_, PyAny>,
        l: PyReadonlyArray1<'_, f64>,
        u: PyReadonlyArray1<'_, f64>,
        lower: PyReadonlyArray1<'_, f64>,
        upper: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let program = QuadraticProgram::new(matrix(P)?, arrays::vector(&c))
            .subject_to(matrix(A)?, arrays::vector(&l), arrays::vector(&u))
            .within(arrays::vector(&lower), arrays::vector(&upper));
        Ok(PyQuadraticProgram(program))
    }

    fn problem(&self) -> PyResult<PyProblem> {
        match self.0.problem() {
            Ok(problem) => Ok(problem.into()),
            Err(error) => Err(errors::input(error.to_string())),
        }
    }

    /// Why there is no optimum, where that can be told: `infeasible` or `unbounded`.
    fn why_no_optimum(&self, py: Python<'_>) -> PyResult<Option<&'static str>> {
        let why = py.detach(|| self.0.why_no_optimum());
        Ok(why.map_err(|error| errors::input(error.to_string()))?.map(NoOptimum::name))
    }

    /// `x`, `y` and the objective of an answer.
    fn optimum<'py>(
        &self,
        py: Python<'py>,
        z: PyReadonlyArray1<'_, f64>,
    ) -> (Vector<'py>, Vector<'py>, f64) {
        let optimum = self.0.optimum(&arrays::vector(&z));
        (PyArray1::from_vec(py, optimum.x), PyArray1::from_vec(py, optimum.y), optimum.objective)
    }
}

fn problem(problem: Result<Problem, NumericsError>, letters: Letters) -> PyResult<PyProblem> {
    problem.map(PyProblem::from).map_err(|error| wrong(&error, letters))
}

/// What Python's arguments are called where Rust says `W` and `q`.
type Letters = &'static [(&'static str, &'static str)];
/// `M z + q`
const GENERAL: Letters = &[("`W`", "`M`"), ("W[", "M[")];
/// `W z + q`
const LOCAL: Letters = &[];
/// `Hᵀ M⁻¹ (f + H z) + b`
const GLOBAL: Letters = &[("`q`", "`b`")];

/// The error in the letters of Python's problems.
fn wrong(error: &NumericsError, letters: Letters) -> PyErr {
    let say = |text: String, &(from, to): &(&str, &str)| text.replace(from, to);
    errors::input(letters.iter().fold(error.to_string(), say))
}

fn as_sparse(matrix: Operator) -> Sparse {
    match matrix {
        Operator::Sparse(sparse) => sparse,
        other => Sparse::from_dense(&other.to_dense()),
    }
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

/// `z`, `w`, residual, iterations, seconds, status, method, worst unknown, attempts, reason, history.
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
    &'static str,
    Vector<'py>,
);

fn answer(py: Python<'_>, solution: Solution, seconds: f64) -> Answer<'_> {
    let Solution { z, w, report, attempts, history } = solution;
    let attempts = attempts.iter().map(|a| (a.method, a.status.name(), a.residual)).collect();
    (
        PyArray1::from_vec(py, z),
        PyArray1::from_vec(py, w),
        report.residual,
        report.iterations,
        seconds,
        report.status.word(),
        report.method,
        report.worst,
        attempts,
        report.status.name(),
        PyArray1::from_vec(py, history),
    )
}

/// The word for a status in Python, of four, from its name.
pub fn status(name: &str) -> &str {
    let all = [
        Status::Ray,
        Status::Stalled,
        Status::IllScaled,
        Status::Interrupted,
        Status::Diverged,
        Status::MaxIter,
        Status::Infeasible,
        Status::Solved,
    ];
    all.into_iter().find(|status| status.name() == name).map_or(name, |status| status.word())
}

/// Unknowns up to which a solve is over before Ctrl-C would be noticed.
const SHORT: usize = 64;
/// How often signals are looked for.
const GLANCE: Duration = Duration::from_millis(50);

/// Works in a thread of its own, while this one looks for Ctrl-C; then the work is asked to stop, and
/// what Python makes of the signal is raised.
fn until_signal<T: Send>(work: impl FnOnce(&Interrupt) -> T + Send) -> PyResult<T> {
    let interrupt = Interrupt::default();
    let mut raised = None;
    let done = std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let interrupt = &interrupt;
        let worker = scope.spawn(move || {
            let done = work(interrupt);
            // the receiver is gone only where this thread is
            let _ = sender.send(());
            done
        });
        while let Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(GLANCE) {
            if raised.is_none()
                && let Err(error) = Python::attach(|py| py.check_signals())
            {
                raised = Some(error);
                interrupt.stop();
            }
        }
        worker.join()
    });
    match (raised, done) {
        (Some(raised), _) => Err(raised),
        (None, Ok(done)) => Ok(done),
        (None, Err(panic)) => std::panic::resume_unwind(panic),
    }
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
    let is_short = problem.problem.len() <= SHORT
        && problem.functions.is_none()
        && !matches!(solver, Solver::Enumeration(_));
    let solution = problem.work(py, |problem| match is_short {
        true => Ok(solve_problem(problem, &solver, z0.as_deref())),
        false => {
            until_signal(|interrupt| solve_until(problem, &solver, z0.as_deref(), Some(interrupt)))
        }
    })??;
    let seconds = start.elapsed().as_secs_f64();
    Ok(answer(py, solution.map_err(|error| wrong(&error, GENERAL))?, seconds))
}

/// How far `z` is from a solution.
#[pyfunction]
pub fn residual(
    py: Python<'_>,
    problem: &PyProblem,
    z: PyReadonlyArray1<'_, f64>,
) -> PyResult<f64> {
    let z = problem.unknowns("z", &z)?;
    problem.work(py, |problem| measure::residual(problem, &z, &mut vec![0.0; z.len()]).value)
}

/// The figure of the class alone, as other programs print it.
#[pyfunction]
pub fn class_figure(
    py: Python<'_>,
    problem: &PyProblem,
    z: PyReadonlyArray1<'_, f64>,
) -> PyResult<f64> {
    let z = problem.unknowns("z", &z)?;
    problem.work(py, |problem| measure::class_figure(problem, &z, &mut vec![0.0; z.len()]))
}

/// The parts of the law of friction: gap, cone, complementarity, angle of dissipation.
#[pyfunction]
pub fn physical(
    py: Python<'_>,
    problem: &PyProblem,
    z: PyReadonlyArray1<'_, f64>,
) -> PyResult<(f64, f64, f64, f64)> {
    let z = problem.unknowns("z", &z)?;
    let parts = problem.work(py, |problem| {
        let mut w = vec![0.0; z.len()];
        problem.eval(&z, &mut w);
        measure::physical(problem, &z, &w)
    })?;
    Ok((parts.gap, parts.cone, parts.complementarity, parts.dissipation_angle))
}

/// Whether an answer is the only one: a word, the number of directions with others, what is claimed in words.
#[pyfunction]
pub fn uniqueness(
    py: Python<'_>,
    problem: &PyProblem,
    z: PyReadonlyArray1<'_, f64>,
    tol: f64,
) -> PyResult<(&'static str, usize, String)> {
    let z = problem.unknowns("z", &z)?;
    let found = problem.work(py, |problem| unique_at(problem, &z, tol))?;
    let found = found.map_err(|error| wrong(&error, GENERAL))?;
    let dimension = if let Uniqueness::Not { dimension } = found { dimension } else { 0 };
    Ok((found.name(), dimension, found.words()))
}

/// All isolated solutions; how many modes are singular, and how many there are.
#[pyfunction]
pub fn all_solutions<'py>(
    py: Python<'py>,
    problem: &PyProblem,
    tol: f64,
    max_iter: usize,
) -> PyResult<(Vec<Answer<'py>>, usize, usize)> {
    let (placed, method) = (problem.problem.placed().first(), "enumeration");
    let unsupported = match placed {
        Some(block) => Some(block.set.name()),
        None if !problem.problem.matrix().is_matrix() => Some("a map that is not a matrix"),
        None => None,
    };
    if let Some(what) = unsupported {
        return Err(wrong(&NumericsError::Unsupported { method, what }, GENERAL));
    }
    let start = Instant::now();
    let found = py
        .detach(|| Enumeration::new(EnumerationSettings { tol, max_iter }).all(&problem.problem))
        .map_err(|error| wrong(&error, GENERAL))?;
    let seconds = start.elapsed().as_secs_f64();
    let answers = found.solutions.into_iter().map(|s| answer(py, s, seconds)).collect();
    Ok((answers, found.singular_modes, found.modes))
}
