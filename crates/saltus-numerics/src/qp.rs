//! Convex quadratic programs, and the problem that their conditions of optimality are.
//!
//! ```text
//! min ½ xᵀ P x + cᵀ x     subject to     l ≤ A x ≤ u,     lower ≤ x ≤ upper               (1)
//!
//! w_x = P x + c − Aᵀ y        −w_x ∈ N_[lower, upper](x)                                  (2)
//! w_y = A x − l               0 ≤ w_y ⟂ y ≥ 0         in rows where only l is finite      (3)
//! w_y = A x − u               0 ≥ w_y ⟂ y ≤ 0         where only u is                     (4)
//! w_y = A x − l               w_y = 0, y free         where l = u                         (5)
//! ```
//!
//! A row with two different bounds has an unknown for each, one as in (3) and one as in (4), and
//! `y` is their sum; a row with none has no unknown, and `y = 0`. All are boxes, and the matrix
//!
//! ```text
//! ⎡ P  −Aᵀ ⎤
//! ⎣ A   0  ⎦
//! ```
//!
//! is positive semidefinite where `P` is: then (1) and (2) to (5) say the same, and Lemke's
//! method decides them. `y` is what the optimum gains by a bound, `∂ optimum / ∂ l` in (3).
//! Reference: Nocedal, Wright, *Numerical Optimization*, 2006, ch. 16.

use crate::operator::{largest, not_finite_in};
use crate::{Block, NumericsError, Operator, Problem, Set, Solver, Status, solve};
use saltus_linalg::{Sparse, vector};
use thiserror::Error;

/// The program (1).
///
/// ```
/// use saltus_linalg::Matrix;
/// use saltus_numerics::{QuadraticProgram, Solver, solve};
///
/// // the point of x₀ + x₁ ≥ 2 nearest to the origin
/// let program = QuadraticProgram::new(Matrix::identity(2), vec![0.0, 0.0]).subject_to(
///     Matrix::from([[1.0, 1.0]]),
///     vec![2.0],
///     vec![f64::INFINITY],
/// );
/// let solution = solve(&program.problem()?, &Solver::default(), None)?;
/// let optimum = program.optimum(&solution.z);
/// assert_eq!((optimum.x, optimum.y, optimum.objective), (vec![1.0, 1.0], vec![1.0], 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct QuadraticProgram {
    /// Symmetric, positive semidefinite.
    pub P: Operator,
    /// The slope at the origin.
    pub c: Vec<f64>,
    /// One row a constraint.
    pub A: Operator,
    /// Lower bounds of `A x`, −∞ where there is none.
    pub l: Vec<f64>,
    /// Upper bounds of `A x`, +∞ where there is none.
    pub u: Vec<f64>,
    /// Lower bounds of `x`, −∞ where there is none.
    pub lower: Vec<f64>,
    /// Upper bounds of `x`, +∞ where there is none.
    pub upper: Vec<f64>,
}

/// An answer of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// The variables.
    pub x: Vec<f64>,
    /// The multipliers, one a row of `A`: positive at a lower bound, negative at an upper one.
    pub y: Vec<f64>,
    /// `½ xᵀ P x + cᵀ x`.
    pub objective: f64,
}

/// A program that makes no sense, or that is not convex.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum QpError {
    /// Sizes, numbers and bounds of the variables.
    #[error(transparent)]
    Numerics(#[from] NumericsError),
    /// A vector with one entry a constraint that has another number of them.
    #[error("`{what}` has length {found}, but `A` has {expected} rows")]
    Rows {
        /// The vector.
        what: &'static str,
        /// Rows of `A`.
        expected: usize,
        /// Its length.
        found: usize,
    },
    /// A constraint whose bounds leave nothing between them.
    #[error("row {row} of `A`: the bounds [{lower}, {upper}] are not an interval")]
    Bounds {
        /// The row.
        row: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// A matrix that is not symmetric.
    #[error("`P` is not symmetric: P[{row}, {col}] = {value}, but P[{col}, {row}] = {other}")]
    NotSymmetric {
        /// A row.
        row: usize,
        /// A column.
        col: usize,
        /// What stands there.
        value: f64,
        /// What stands across the diagonal.
        other: f64,
    },
    /// A matrix with a direction of negative curvature.
    #[error(
        "`P` is not positive semidefinite (its first {size} rows and columns are not), so the program is not convex"
    )]
    NotConvex {
        /// Rows and columns of the least leading block that is not.
        size: usize,
    },
}

/// Why a program has no optimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoOptimum {
    /// Nothing satisfies the constraints.
    Infeasible,
    /// Something does, and the objective has no lower bound.
    Unbounded,
}

impl NoOptimum {
    /// The word used in Python.
    pub fn name(self) -> &'static str {
        match self {
            NoOptimum::Infeasible => "infeasible",
            NoOptimum::Unbounded => "unbounded",
        }
    }
}

/// The bound that an unknown of a constraint belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    Lower,
    Upper,
    Both,
}

impl QuadraticProgram {
    /// The program without constraints.
    pub fn new(P: impl Into<Operator>, c: Vec<f64>) -> Self {
        let n = c.len();
        QuadraticProgram {
            P: P.into(),
            c,
            A: Sparse::from_triplets(0, n, &[]).into(),
            l: Vec::new(),
            u: Vec::new(),
            lower: vec![f64::NEG_INFINITY; n],
            upper: vec![f64::INFINITY; n],
        }
    }

    /// The same with `l ≤ A x ≤ u` in place of its constraints.
    pub fn subject_to(mut self, A: impl Into<Operator>, l: Vec<f64>, u: Vec<f64>) -> Self {
        (self.A, self.l, self.u) = (A.into(), l, u);
        self
    }

    /// The same with `lower ≤ x ≤ upper` in place of its bounds.
    pub fn within(mut self, lower: Vec<f64>, upper: Vec<f64>) -> Self {
        (self.lower, self.upper) = (lower, upper);
        self
    }

    /// The problem (2) to (5): first the unknowns `x`, then those of the constraints.
    pub fn problem(&self) -> Result<Problem, QpError> {
        let (P, A) = self.check()?;
        let mut triplets: Vec<(usize, usize, f64)> = P.iter().collect();
        let mut q = self.c.clone();
        let interval = |(&lower, &upper)| Block { size: 1, set: Set::Interval { lower, upper } };
        let mut blocks: Vec<Block> = self.lower.iter().zip(&self.upper).map(interval).collect();
        for (row, bound) in self.unknowns() {
            let unknown = q.len();
            for entry in A.row(row) {
                triplets.push((entry.col, unknown, -entry.value));
                triplets.push((unknown, entry.col, entry.value));
            }
            let (level, set) = match bound {
                Bound::Lower => (self.l[row], Set::Nonnegative),
                Bound::Upper => {
                    (self.u[row], Set::Interval { lower: f64::NEG_INFINITY, upper: 0.0 })
                }
                Bound::Both => (self.l[row], Set::Free),
            };
            q.push(-level);
            blocks.push(Block { size: 1, set });
        }
        let matrix = Sparse::from_triplets(q.len(), q.len(), &triplets);
        let is_dense = |matrix: &Operator| matches!(matrix, Operator::Dense(_));
        let no_constraints = self.l.is_empty();
        let operator: Operator = match is_dense(&self.P) && (is_dense(&self.A) || no_constraints) {
            true => matrix.to_dense().into(),
            false => matrix.into(),
        };
        Ok(Problem::new(operator, q, &blocks)?)
    }

    /// What an answer of [`problem`](Self::problem) says of the program.
    pub fn optimum(&self, z: &[f64]) -> Optimum {
        let (x, multipliers) = z.split_at(self.c.len());
        let mut y = vec![0.0; self.l.len()];
        for ((row, _), multiplier) in self.unknowns().zip(multipliers) {
            y[row] += multiplier;
        }
        let mut Px = vec![0.0; x.len()];
        self.P.apply(x, &mut Px);
        let objective = 0.5 * vector::dot(x, &Px) + vector::dot(&self.c, x);
        Optimum { x: x.to_vec(), y, objective }
    }

    /// Why the program has no optimum, after [`Status::Infeasible`]: the point of its constraints
    /// nearest to the origin exists, or does not. `None` where that cannot be told either.
    pub fn why_no_optimum(&self) -> Result<Option<NoOptimum>, QpError> {
        let n = self.c.len();
        let unit: Vec<_> = (0..n).map(|i| (i, i, 1.0)).collect();
        let nearest = QuadraticProgram {
            P: Sparse::from_triplets(n, n, &unit).into(),
            c: vec![0.0; n],
            ..self.clone()
        };
        let solution = solve(&nearest.problem()?, &Solver::default(), None)?;
        Ok(match solution.report.status {
            Status::Solved => Some(NoOptimum::Unbounded),
            Status::Infeasible => Some(NoOptimum::Infeasible),
            _ => None,
        })
    }

    /// The unknowns of the constraints, in order: row and bound.
    fn unknowns(&self) -> impl Iterator<Item = (usize, Bound)> + '_ {
        self.l.iter().zip(&self.u).enumerate().flat_map(|(row, (&l, &u))| {
            let (lower, upper) = match (l.is_finite(), u.is_finite()) {
                (true, true) if l == u => (Some(Bound::Both), None),
                (has_l, has_u) => (has_l.then_some(Bound::Lower), has_u.then_some(Bound::Upper)),
            };
            lower.into_iter().chain(upper).map(move |bound| (row, bound))
        })
    }

    /// The matrices, after all that can be wrong with the program but bounds of `x`.
    fn check(&self) -> Result<(Sparse, Sparse), QpError> {
        let n = self.c.len();
        let rows = self.A.shape().0;
        for (what, matrix, expected) in [("P", &self.P, (n, n)), ("A", &self.A, (rows, n))] {
            let found = matrix.shape();
            if found != expected {
                return Err(NumericsError::Shape { what, expected, found }.into());
            }
            // a function has no entries
            if !matrix.is_matrix() || !matrix.largest().is_finite() {
                return Err(not_finite_in(what, matrix).into());
            }
        }
        if let Some(i) = self.c.iter().position(|c| !c.is_finite()) {
            let (at, value) = (vec![i], self.c[i]);
            return Err(NumericsError::NotFinite { what: "c", at, value }.into());
        }
        for (what, vector) in [("lower", &self.lower), ("upper", &self.upper)] {
            if vector.len() != n {
                let (expected, found) = (n, vector.len());
                return Err(NumericsError::Length { what, expected, found }.into());
            }
        }
        for (what, vector) in [("l", &self.l), ("u", &self.u)] {
            if vector.len() != rows {
                return Err(QpError::Rows { what, expected: rows, found: vector.len() });
            }
        }
        for (row, (&lower, &upper)) in self.l.iter().zip(&self.u).enumerate() {
            if !(lower <= upper) || lower == f64::INFINITY || upper == f64::NEG_INFINITY {
                return Err(QpError::Bounds { row, lower, upper });
            }
        }
        let P = sparse(&self.P);
        symmetric(&P)?;
        convex(&P)?;
        Ok((P, sparse(&self.A)))
    }
}

fn sparse(matrix: &Operator) -> Sparse {
    match matrix {
        Operator::Sparse(sparse) => sparse.clone(),
        other => Sparse::from_dense(&other.to_dense()),
    }
}

/// Refuses what differs across the diagonal by more than round-off.
fn symmetric(P: &Sparse) -> Result<(), QpError> {
    let tol = 1e-12 * largest(P);
    for (row, col, value) in P.iter() {
        let other = P.get(col, row);
        if !((value - other).abs() <= tol) {
            return Err(QpError::NotSymmetric { row, col, value, other });
        }
    }
    Ok(())
}

/// Refuses a `P` for which Cholesky's factors of `P + δ I` do not exist, with a `δ` of the size
/// of round-off:
///
/// ```text
/// Lᵢⱼ = (Pᵢⱼ − Σₖ Lᵢₖ Lⱼₖ) / Lⱼⱼ,      Lᵢᵢ² = Pᵢᵢ + δ − Σₖ Lᵢₖ²
/// ```
///
/// Rows are stored from their first entry on, so a band costs little.
fn convex(P: &Sparse) -> Result<(), QpError> {
    let (n, largest) = (P.rows(), largest(P));
    if largest == 0.0 {
        return Ok(()); // a linear program
    }
    let delta = 64.0 * n as f64 * f64::EPSILON * largest;
    let mut factor: Vec<(usize, Vec<f64>)> = Vec::with_capacity(n); // first column, row
    for i in 0..n {
        let first = P.row(i).first().map_or(i, |entry| entry.col.min(i));
        let mut row = vec![0.0; i + 1 - first];
        for entry in P.row(i).iter().take_while(|entry| entry.col <= i) {
            row[entry.col - first] = entry.value;
        }
        for j in first..i {
            let (first_j, row_j) = &factor[j];
            let from = first.max(*first_j);
            let sum =
                vector::dot(&row[from - first..j - first], &row_j[from - first_j..j - first_j]);
            row[j - first] = (row[j - first] - sum) / row_j[j - first_j];
        }
        let (before, diagonal) = row.split_at(i - first);
        let square = diagonal[0] + delta - vector::dot(before, before);
        if !(square > 0.0) {
            return Err(QpError::NotConvex { size: i + 1 });
        }
        row[i - first] = square.sqrt();
        factor.push((first, row));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_linalg::Matrix;

    const INF: f64 = f64::INFINITY;

    #[test]
    fn unbounded_is_not_infeasible() {
        let nothing = Matrix::zeros(1, 1);
        // min −x with x ≥ 0; and min −x with x ≥ 0, x ≤ −1
        let above = QuadraticProgram::new(nothing, vec![-1.0]).within(vec![0.0], vec![INF]);
        let none = above.clone().subject_to(Matrix::identity(1), vec![-INF], vec![-1.0]);
        for (program, why) in [(above, NoOptimum::Unbounded), (none, NoOptimum::Infeasible)] {
            let solution = solve(&program.problem().unwrap(), &Solver::default(), None).unwrap();
            assert_eq!(solution.report.status, Status::Infeasible);
            assert_eq!(program.why_no_optimum().unwrap(), Some(why));
        }
    }

    #[track_caller]
    fn check(program: &QuadraticProgram, x: &[f64], y: &[f64], objective: f64) {
        let problem = program.problem().unwrap();
        let solution = solve(&problem, &Solver::default(), None).unwrap();
        assert_eq!(solution.report.status, Status::Solved);
        let optimum = program.optimum(&solution.z);
        let close = |a: &[f64], b: &[f64]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9)
        };
        assert!(close(&optimum.x, x), "{optimum:?}");
        assert!(close(&optimum.y, y), "{optimum:?}");
        assert!((optimum.objective - objective).abs() <= 1e-9, "{optimum:?}");
    }

    #[test]
    fn every_kind_of_row() {
        // the nearest point to (3, 1, −2)
        let nearest = || QuadraticProgram::new(Matrix::identity(3), vec![-3.0, -1.0, 2.0]);
        check(&nearest(), &[3.0, 1.0, -2.0], &[], -7.0);
        let A = Matrix::from([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]]);
        let program = nearest().subject_to(
            A.clone(),
            vec![-INF, 2.0, -1.0, -INF],
            vec![1.0, INF, 5.0, INF], // only upper, only lower, both, none
        );
        check(&program, &[1.0, 2.0, -1.0], &[-2.0, 1.0, 1.0, 0.0], -4.0);
        let inside = nearest().subject_to(A.clone(), vec![-9.0; 4], vec![9.0; 4]);
        check(&inside, &[3.0, 1.0, -2.0], &[0.0; 4], -7.0);
        // x₀ + x₁ + x₂ = 5 moves all by 1
        let equality = nearest().subject_to(Matrix::from([[1.0; 3]]), vec![5.0], vec![5.0]);
        check(&equality, &[4.0, 2.0, -1.0], &[1.0], -5.5);
        let bounds = nearest().within(vec![-INF, 2.0, -1.0], vec![1.0, INF, 5.0]);
        check(&bounds, &[1.0, 2.0, -1.0], &[], -4.0);
    }

    #[test]
    fn a_linear_program() {
        // max x₀ + 2 x₁ with x₀ + x₁ ≤ 4, x₁ ≤ 3, x ≥ 0
        let program = QuadraticProgram::new(Matrix::zeros(2, 2), vec![-1.0, -2.0])
            .subject_to(Matrix::from([[1.0, 1.0]]), vec![-INF], vec![4.0])
            .within(vec![0.0; 2], vec![INF, 3.0]);
        check(&program, &[1.0, 3.0], &[-1.0], -7.0);
    }

    #[test]
    fn sparse_and_semidefinite() {
        // ½ (x₀ − x₁)² with x₀ + x₁ = 2, and a third variable that is only bounded
        let P =
            Sparse::from_triplets(3, 3, &[(0, 0, 1.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 1.0)]);
        let A = Sparse::from_triplets(1, 3, &[(0, 0, 1.0), (0, 1, 1.0)]);
        let program = QuadraticProgram::new(P, vec![0.0, 0.0, 1.0])
            .subject_to(A, vec![2.0], vec![2.0])
            .within(vec![-INF, -INF, -1.0], vec![INF; 3]);
        assert!(matches!(program.problem().unwrap().matrix(), Operator::Sparse(_)));
        check(&program, &[1.0, 1.0, -1.0], &[0.0], -1.0);
    }

    #[test]
    fn no_optimum() {
        // x₀ ≥ 1 and x₀ ≤ 0; a slope without an end
        let crossed = QuadraticProgram::new(Matrix::identity(1), vec![0.0]).subject_to(
            Matrix::from([[1.0], [1.0]]),
            vec![1.0, -INF],
            vec![INF, 0.0],
        );
        let unbounded =
            QuadraticProgram::new(Matrix::zeros(1, 1), vec![1.0]).within(vec![-INF], vec![0.0]);
        for program in [crossed, unbounded] {
            let problem = program.problem().unwrap();
            let solution = solve(&problem, &Solver::default(), None).unwrap();
            assert_eq!(solution.report.status, Status::Infeasible);
        }
    }

    #[track_caller]
    fn refused(program: &QuadraticProgram, message: &str) {
        assert_eq!(program.problem().unwrap_err().to_string(), message);
    }

    #[test]
    fn what_is_refused() {
        let program = |P: [[f64; 2]; 2]| QuadraticProgram::new(Matrix::from(P), vec![0.0; 2]);
        let fine = program([[2.0, 1.0], [1.0, 2.0]]);
        refused(
            &program([[1.0, 2.0], [2.0, 1.0]]),
            "`P` is not positive semidefinite (its first 2 rows and columns are not), so the program is not convex",
        );
        refused(
            &program([[1.0, 2.0], [0.0, 1.0]]),
            "`P` is not symmetric: P[0, 1] = 2, but P[1, 0] = 0",
        );
        refused(
            &QuadraticProgram::new(Matrix::identity(2), vec![0.0; 3]),
            "`P` is 2 × 2, expected 3 × 3",
        );
        refused(
            &fine.clone().subject_to(Matrix::identity(3), vec![0.0; 3], vec![0.0; 3]),
            "`A` is 3 × 3, expected 3 × 2",
        );
        refused(
            &fine.clone().subject_to(Matrix::identity(2), vec![0.0; 3], vec![0.0; 2]),
            "`l` has length 3, but `A` has 2 rows",
        );
        refused(
            &fine.clone().subject_to(Matrix::identity(2), vec![0.0, f64::NAN], vec![0.0; 2]),
            "row 1 of `A`: the bounds [NaN, 0] are not an interval",
        );
        refused(
            &fine.clone().within(vec![1.0; 2], vec![0.0; 2]),
            "unknown 0: the bounds [1, 0] are not an interval",
        );
        refused(
            &fine.within(vec![1.0], vec![2.0; 2]),
            "`lower` has length 1, but the problem has 2 unknowns",
        );
    }

    #[test]
    fn what_is_convex() {
        let is_convex = |P: Matrix| convex(&Sparse::from_dense(&P)).is_ok();
        assert!(is_convex(Matrix::zeros(3, 3)));
        assert!(is_convex(Matrix::diagonal(&[0.0, 0.0, 3.0])));
        assert!(!is_convex(Matrix::diagonal(&[1.0, -1e-9, 3.0])));
        assert!(!is_convex(Matrix::from([[0.0, 1.0], [1.0, 0.0]])));
        assert!(!is_convex(Matrix::diagonal(&[-1.0])));
        // b bᵀ has rank one, with round-off
        let b = [0.1, -0.7, 1.3, 1e-8, 3.0, 0.0, 17.0];
        let rank_one: Vec<f64> = b.iter().flat_map(|x| b.iter().map(move |y| x * y)).collect();
        assert!(is_convex(Matrix::from_vec(7, 7, rank_one.clone())));
        let mut saddle = Matrix::from_vec(7, 7, rank_one);
        saddle[(4, 4)] -= 1e-6;
        assert!(!is_convex(saddle));
    }
}
