//! What all tests share: a generator of numbers, problems as data, and the one `check`.

use saltus_linalg::{Matrix, Sparse};
use saltus_numerics::{Operator, Problem, Report, Solution, Solver, Status, solve};

pub const INF: f64 = f64::INFINITY;

/// A deterministic generator (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [a, b).
    pub fn between(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.unit()
    }

    /// One of 0 … n − 1.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// A whole number in a … b.
    pub fn integer(&mut self, a: i64, b: i64) -> f64 {
        (a + self.below((b - a + 1) as usize) as i64) as f64
    }
}

/// A problem as data.
#[derive(Debug, Clone)]
pub struct Data {
    pub matrix: Operator,
    pub q: Vec<f64>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
}

impl Data {
    pub fn new(matrix: impl Into<Operator>, q: &[f64], lower: &[f64], upper: &[f64]) -> Data {
        let matrix = matrix.into();
        Data { matrix, q: q.to_vec(), lower: lower.to_vec(), upper: upper.to_vec() }
    }

    pub fn lcp(matrix: impl Into<Operator>, q: &[f64]) -> Data {
        Data::new(matrix, q, &vec![0.0; q.len()], &vec![INF; q.len()])
    }

    pub fn problem(&self) -> Problem {
        let (matrix, q) = (self.matrix.clone(), self.q.clone());
        Problem::boxed(matrix, q, &self.lower, &self.upper).unwrap()
    }
}

/// The residual of the book, by code of our own: `‖z − P(z − w)‖ / (1 + ‖q‖)`.
pub fn own_residual(data: &Data, z: &[f64]) -> f64 {
    let (mut sum, mut scale) = (0.0, 0.0);
    for i in 0..z.len() {
        let w = data.q[i] + row_times(&data.matrix, i, z);
        // how far z is from its bound, or w from zero: beside a large z, z − w is z again
        let wrong = if z[i] - w < data.lower[i] {
            z[i] - data.lower[i]
        } else if z[i] - w > data.upper[i] {
            z[i] - data.upper[i]
        } else {
            w
        };
        sum += wrong.powi(2);
        scale += data.q[i].powi(2);
    }
    sum.sqrt() / (1.0 + scale.sqrt())
}

fn row_times(matrix: &Operator, i: usize, z: &[f64]) -> f64 {
    match matrix {
        Operator::Dense(matrix) => (0..z.len()).map(|j| matrix[(i, j)] * z[j]).sum(),
        Operator::Sparse(matrix) => {
            matrix.row(i).iter().map(|entry| entry.value * z[entry.col]).sum()
        }
        other => unreachable!("only matrices here, not {other:?}"),
    }
}

/// The law itself: bounds, signs, complementarity; and `w` is what it says it is.
#[track_caller]
pub fn assert_law(data: &Data, z: &[f64], w: &[f64], tol: f64, context: &str) {
    let n = data.q.len();
    assert_eq!((z.len(), w.len()), (n, n), "{context}");
    let scale = 1.0 + data.q.iter().map(|q| q * q).sum::<f64>().sqrt();
    let slack = 1.01 * tol * scale;
    for i in 0..n {
        let (lower, upper) = (data.lower[i], data.upper[i]);
        let own = data.q[i] + row_times(&data.matrix, i, z);
        let size: f64 = data.q[i].abs()
            + (0..n).map(|j| (data.matrix.get(i, j) * z[j]).abs()).sum::<f64>().max(0.0);
        assert!((w[i] - own).abs() <= 1e-12 * size, "{context}: w[{i}] = {} not {own}", w[i]);
        assert!(z[i] >= lower && z[i] <= upper, "{context}: z[{i}] = {} out of bounds", z[i]);
        assert!(z[i] - lower <= slack || own <= slack, "{context}: {i} above its bound, w = {own}");
        assert!(
            upper - z[i] <= slack || own >= -slack,
            "{context}: {i} below its bound, w = {own}"
        );
    }
    let residual = own_residual(data, z);
    assert!(residual <= 1.01 * tol, "{context}: residual {residual:e}");
}

/// Solves with the method of that name and tolerance. If it says solved, that is verified.
#[track_caller]
pub fn run(data: &Data, solver: &Solver, z0: Option<&[f64]>, context: &str) -> Solution {
    let context = format!("{context} by {}", solver.name());
    let solution = solve(&data.problem(), solver, z0).unwrap_or_else(|e| panic!("{context}: {e}"));
    verify(data, solver.tol(), &solution.z, &solution.w, solution.report, &context);
    solution
}

/// A report that says solved, says it of an answer that obeys the law.
#[track_caller]
pub fn verify(data: &Data, tol: f64, z: &[f64], w: &[f64], report: Report, context: &str) {
    if report.status == Status::Solved {
        assert!(report.residual <= tol, "{context}: {report:?}");
        assert_law(data, z, w, tol, context);
    } else {
        assert!(!(own_residual(data, z) <= 0.5 * tol), "{context}: unnoticed answer, {report:?}");
    }
}

/// The method solves the problem, and with this answer if there is but one.
#[track_caller]
pub fn check(data: &Data, solver: &Solver, answer: Option<&[f64]>, context: &str) -> Solution {
    let solution = run(data, solver, None, context);
    let report = solution.report;
    assert_eq!(report.status, Status::Solved, "{context} by {}: {report:?}", solver.name());
    if let Some(answer) = answer {
        assert_close(&solution.z, answer, 1e-8, &format!("{context} by {}", solver.name()));
    }
    solution
}

#[track_caller]
pub fn assert_close(a: &[f64], b: &[f64], tol: f64, context: &str) {
    assert_eq!(a.len(), b.len(), "{context}");
    for i in 0..a.len() {
        let error = (a[i] - b[i]).abs();
        assert!(error <= tol * (1.0 + b[i].abs()), "{context}: [{i}] {} not {}", a[i], b[i]);
    }
}

pub fn method(name: &str) -> Solver {
    Solver::from_name(name).unwrap()
}

/// A chain: `diagonal` on the diagonal, `below` and `above` beside it.
pub fn chain(n: usize, diagonal: f64, below: f64, above: f64) -> Sparse {
    let mut triplets = Vec::new();
    for i in 0..n {
        triplets.push((i, i, diagonal));
        if i > 0 {
            triplets.push((i, i - 1, below));
            triplets.push((i - 1, i, above));
        }
    }
    Sparse::from_triplets(n, n, &triplets)
}

/// Entries in [-1, 1].
pub fn random_matrix(random: &mut Random, n: usize) -> Matrix {
    Matrix::from_vec(n, n, (0..n * n).map(|_| random.between(-1.0, 1.0)).collect())
}

/// `z`, `w` and bounds of every kind, drawn at random so that `(z, w)` obeys the law strictly;
/// with `q = w − W z` they are the answer of a problem.
pub fn with_answer(matrix: impl Into<Operator>, random: &mut Random) -> (Data, Vec<f64>) {
    let matrix = matrix.into();
    let n = matrix.shape().0;
    let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
    let (mut lower, mut upper) = (vec![0.0; n], vec![0.0; n]);
    for i in 0..n {
        let (start, width) = (random.between(-1.0, 1.0), random.between(0.5, 2.0));
        (lower[i], upper[i]) = match random.below(8) {
            0 => (-INF, INF),
            1 => (start, start + width),
            2 => (-INF, start),
            3 => (start, start),
            4 => (-1.0, 1.0),
            _ => (0.0, INF),
        };
        let push = random.between(0.1, 2.0);
        let between = |a: f64, b: f64, x: f64| match (a.is_finite(), b.is_finite()) {
            (true, true) => a + (0.1 + 0.8 * x) * (b - a),
            (true, false) => a + 0.1 + x,
            (false, true) => b - 0.1 - x,
            (false, false) => 2.0 * x - 1.0,
        };
        (z[i], w[i]) = match random.below(3) {
            0 if lower[i].is_finite() => (lower[i], push),
            1 if upper[i].is_finite() => (upper[i], -push),
            _ if lower[i] == upper[i] => (lower[i], push - 1.0),
            _ => (between(lower[i], upper[i], random.unit()), 0.0),
        };
    }
    let q: Vec<f64> = (0..n).map(|i| w[i] - row_times(&matrix, i, &z)).collect();
    (Data::new(matrix, &q, &lower, &upper), z)
}
