//! Variational inequalities over polyhedra, and the problem in boxes that they are.
//!
//! ```text
//! z ∈ C = { z : A z ≤ b, E z = f },      (M z + q) · (x − z) ≥ 0   for all x ∈ C              (1)
//!
//! 0 = M z + q + Aᵀ λ + Eᵀ ν                z free                                             (2)
//! 0 ≤ b − A z  ⟂  λ ≥ 0                    one a row of A                                     (3)
//! 0 = f − E z                              ν free, one a row of E                             (4)
//! ```
//!
//! (1) and (2) to (4) say the same for every `M`, which may also be a function. The matrix of (2) to
//! (4) is positive semidefinite where `M` is. Reference: Facchinei, Pang, *Finite-Dimensional
//! Variational Inequalities and Complementarity Problems*, 2003, §1.2.

use crate::operator::{largest, not_finite_in};
use crate::{Block, Function, Map, NumericsError, Operator, Problem, Set};
use saltus_linalg::{Matrix, Sparse};
use std::sync::Arc;

/// The set `{ z : A z ≤ b, E z = f }`.
///
/// ```
/// use saltus_linalg::Matrix;
/// use saltus_numerics::{Polyhedron, Problem, Solver, solve};
///
/// // the point of the triangle z₀ ≥ 0, z₁ ≥ 0, z₀ + z₁ ≤ 1 nearest to (2, 1)
/// let triangle = Polyhedron::new(2)
///     .below(Matrix::from([[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]]), vec![0.0, 0.0, 1.0]);
/// let problem = Problem::avi(Matrix::identity(2), vec![-2.0, -1.0], &triangle)?;
/// let solution = solve(&problem, &Solver::default(), None)?;
/// assert_eq!(solution.z[..2], [1.0, 0.0]);
/// # Ok::<(), saltus_numerics::NumericsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Polyhedron {
    /// The rows of the inequalities.
    pub A: Sparse,
    /// Their right-hand sides.
    pub b: Vec<f64>,
    /// The rows of the equations.
    pub E: Sparse,
    /// Their right-hand sides.
    pub f: Vec<f64>,
}

impl Polyhedron {
    /// All of space.
    pub fn new(dimension: usize) -> Polyhedron {
        let none = Sparse::from_triplets(0, dimension, &[]);
        Polyhedron { A: none.clone(), b: Vec::new(), E: none, f: Vec::new() }
    }

    /// The same with `A z ≤ b` in place of its inequalities.
    pub fn below(mut self, A: impl Into<Operator>, b: Vec<f64>) -> Polyhedron {
        (self.A, self.b) = (sparse(A.into()), b);
        self
    }

    /// The same with `E z = f` in place of its equations.
    pub fn on(mut self, E: impl Into<Operator>, f: Vec<f64>) -> Polyhedron {
        (self.E, self.f) = (sparse(E.into()), f);
        self
    }

    /// Shapes and numbers, for `n` unknowns.
    fn check(&self, n: usize) -> Result<(), NumericsError> {
        for (what, of, matrix, right) in
            [("A", "b", &self.A, &self.b), ("E", "f", &self.E, &self.f)]
        {
            let (expected, found) = ((right.len(), n), (matrix.rows(), matrix.cols()));
            if found != expected {
                return Err(NumericsError::Shape { what, expected, found });
            }
            if !largest(matrix).is_finite() {
                return Err(not_finite_in(what, &matrix.clone().into()));
            }
            if let Some(i) = right.iter().position(|x| !x.is_finite()) {
                return Err(NumericsError::NotFinite { what: of, at: vec![i], value: right[i] });
            }
        }
        Ok(())
    }

    /// The rows of (3) and (4) without their right-hand sides, one below the other: `[A; E]`.
    fn rows(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let inequalities = self.b.len();
        self.A.iter().chain(self.E.iter().map(move |(i, j, x)| (inequalities + i, j, x)))
    }
}

fn sparse(matrix: Operator) -> Sparse {
    match matrix {
        Operator::Sparse(sparse) => sparse,
        other => Sparse::from_dense(&other.to_dense()),
    }
}

impl Problem {
    /// The variational inequality (1), as the problem (2) to (4): first the unknowns `z`, then `λ`,
    /// then `ν`. With a function in place of `M z` it is not affine.
    pub fn avi(
        M: impl Into<Operator>,
        q: Vec<f64>,
        set: &Polyhedron,
    ) -> Result<Problem, NumericsError> {
        let (operator, n) = (M.into(), q.len());
        let (expected, found) = ((n, n), operator.shape());
        if found != expected {
            return Err(NumericsError::Shape { what: "W", expected, found });
        }
        set.check(n)?;
        let (inequalities, equations) = (set.b.len(), set.f.len());
        let size = n + inequalities + equations;
        let is_dense = matches!(operator, Operator::Dense(_));
        let operator: Operator = match operator {
            Operator::Function(map) => {
                let rows = set.rows().collect();
                Operator::Function(Function(Arc::new(Extended { map, rows, size })))
            }
            matrix => {
                let mut triplets: Vec<_> = sparse(matrix).iter().collect();
                for (row, col, x) in set.rows() {
                    triplets.extend([(col, n + row, x), (n + row, col, -x)]);
                }
                let whole = Sparse::from_triplets(size, size, &triplets);
                if is_dense { whole.to_dense().into() } else { whole.into() }
            }
        };
        let q = q.into_iter().chain(set.b.iter().copied()).chain(set.f.iter().copied()).collect();
        let blocks = [
            Block { size: n, set: Set::Free },
            Block { size: inequalities, set: Set::Nonnegative },
            Block { size: equations, set: Set::Free },
        ];
        Problem::new(operator, q, &blocks)
    }
}

/// A function with the rows of a polyhedron: (2) to (4) without `q`, `b` and `f`.
struct Extended {
    map: Function,
    rows: Vec<(usize, usize, f64)>,
    size: usize,
}

impl Map for Extended {
    fn size(&self) -> usize {
        self.size
    }

    fn eval(&self, z: &[f64], w: &mut [f64]) {
        let n = self.map.0.size();
        self.map.0.eval(&z[..n], &mut w[..n]);
        w[n..].fill(0.0);
        for &(row, col, x) in &self.rows {
            w[col] += x * z[n + row];
            w[n + row] -= x * z[col];
        }
    }

    fn jacobian(&self, z: &[f64], jacobian: &mut Matrix) {
        let n = self.map.0.size();
        let mut own = Matrix::zeros(n, n);
        self.map.0.jacobian(&z[..n], &mut own);
        jacobian.data_mut().fill(0.0);
        for i in 0..n {
            for j in 0..n {
                jacobian[(i, j)] = own[(i, j)];
            }
        }
        for &(row, col, x) in &self.rows {
            jacobian[(col, n + row)] += x;
            jacobian[(n + row, col)] -= x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Solver, Status, solve};

    #[track_caller]
    fn answer(problem: &Problem) -> Vec<f64> {
        let solution = solve(problem, &Solver::default(), None).unwrap();
        assert_eq!(solution.report.status, Status::Solved, "{:?}", solution.report);
        solution.z
    }

    /// One step of the implicit twisting controller after another, until the state is at rest.
    #[test]
    fn implicit_twisting_reaches_the_origin() {
        let (G, beta, h) = (10.0, 0.1, 1e-2);
        let M = Matrix::from([[G * h * h / 2.0, G * beta * h * h / 2.0], [G * h, G * beta * h]]);
        // the parallelogram with vertices ±(1, 1 + h/2) and ±(1, −1 + h/2)
        let set = Polyhedron::new(2).below(
            Matrix::from([[1.0, 0.0], [-1.0, 0.0], [-h / 2.0, 1.0], [h / 2.0, -1.0]]),
            vec![1.0, 1.0, 1.0, 1.0],
        );
        let mut x = [30.0, -20.0];
        let mut steps = 0;
        while f64::hypot(x[0], x[1]) > 1e-6 {
            let q = vec![x[0] + h * x[1], x[1]];
            let z = answer(&Problem::avi(M.clone(), q.clone(), &set).unwrap());
            for i in 0..2 {
                x[i] = q[i] + M[(i, 0)] * z[0] + M[(i, 1)] * z[1];
            }
            steps += 1;
            assert!(steps < 50_000, "{x:?}");
        }
        for _ in 0..20 {
            let q = vec![x[0] + h * x[1], x[1]];
            let z = answer(&Problem::avi(M.clone(), q.clone(), &set).unwrap());
            for i in 0..2 {
                x[i] = q[i] + M[(i, 0)] * z[0] + M[(i, 1)] * z[1];
            }
            assert!(f64::hypot(x[0], x[1]) <= 1e-6, "{x:?}");
        }
    }

    #[test]
    fn projections_on_a_line_and_a_simplex() {
        let n = 4;
        let ones = Matrix::from([[1.0, 1.0, 1.0, 1.0]]);
        let mut below = Matrix::zeros(n, n);
        (0..n).for_each(|i| below[(i, i)] = -1.0);
        let line = Polyhedron::new(n).on(ones, vec![1.0]);
        let simplex = line.clone().below(below, vec![0.0; n]);
        let q = vec![-0.9, -0.3, 0.2, 0.5];
        for sparse in [false, true] {
            let identity: Operator = match sparse {
                true => Sparse::from_dense(&Matrix::identity(n)).into(),
                false => Matrix::identity(n).into(),
            };
            let on_line = answer(&Problem::avi(identity.clone(), q.clone(), &line).unwrap());
            let inside = answer(&Problem::avi(identity, q.clone(), &simplex).unwrap());
            for i in 0..n {
                assert!((on_line[i] - (-q[i] + 0.125)).abs() < 1e-12);
                assert!((inside[i] - [0.8, 0.2, 0.0, 0.0][i]).abs() < 1e-12, "{inside:?}");
            }
        }
    }

    #[test]
    fn a_function_over_a_polyhedron() {
        struct Cube;
        impl Map for Cube {
            fn size(&self) -> usize {
                2
            }
            fn eval(&self, z: &[f64], w: &mut [f64]) {
                (w[0], w[1]) = (z[0].powi(3) - 8.0, z[1].powi(3) - 1.0);
            }
            fn jacobian(&self, z: &[f64], jacobian: &mut Matrix) {
                jacobian.data_mut().copy_from_slice(&[
                    3.0 * z[0] * z[0],
                    0.0,
                    0.0,
                    3.0 * z[1] * z[1],
                ]);
            }
        }
        // z₀ + z₁ ≤ 2 is active: z₀³ − 8 = z₁³ − 1 = −λ
        let set = Polyhedron::new(2).below(Matrix::from([[1.0, 1.0]]), vec![2.0]);
        let problem = Problem::avi(Function(Arc::new(Cube)), vec![0.0, 0.0], &set).unwrap();
        let z = answer(&problem);
        assert!((z[0] + z[1] - 2.0).abs() < 1e-7, "{z:?}");
        assert!((z[0].powi(3) - 8.0 - (z[1].powi(3) - 1.0)).abs() < 1e-6, "{z:?}");
        assert!(z[2] > 0.0);
    }

    #[test]
    fn shapes_are_checked() {
        let set = Polyhedron::new(3).below(Matrix::identity(2), vec![1.0; 2]);
        let error = Problem::avi(Matrix::identity(3), vec![0.0; 3], &set).unwrap_err();
        assert_eq!(error.to_string(), "`A` is 2 × 2, expected 2 × 3");
    }
}
