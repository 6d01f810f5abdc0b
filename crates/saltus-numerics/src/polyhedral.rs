//! Graphs and friction in the plane as boxes, for the methods that pivot.
//!
//! A graph is piecewise linear in `x = z − ρ w`, `ρ = 1/Wᵢᵢ`: with its breaks `x₁ < … < x_K` and slopes `s₀ … s_K`,
//!
//! ```text
//! z = z_a + s₀ (x − x_a) + Σₖ (sₖ − sₖ₋₁) pₖ,     0 ≤ pₖ ⟂ pₖ − x + xₖ ≥ 0
//! 0 = ρ w − z + x                                   x free                                  (1)
//! ```
//!
//! A contact in the plane has `s = z_T + μ z_N`, the distance from one edge of its cone, and
//! `λ = max(0, −w_T)`:
//!
//! ```text
//! 0 ≤ z_N ⟂ w_N ≥ 0,     0 ≤ s ⟂ w_T + λ ≥ 0,     0 ≤ λ ⟂ 2 μ z_N − s ≥ 0                  (2)
//! ```

use crate::residual::residual;
use crate::{Block, Operator, Problem, Report, Set, Solution, Status};
use saltus_linalg::Sparse;

/// The problem in boxes, and the way back: `z = T y + c`.
#[derive(Debug)]
pub(crate) struct Expanded {
    pub problem: Problem,
    columns: Vec<Vec<(usize, f64)>>, // the rows of T
    c: Vec<f64>,
    row: Vec<(usize, f64)>, // the row of `y` that holds each row of `w`, and times what
}

impl Expanded {
    /// `None` for a problem with other sets, or without a matrix.
    pub fn new(problem: &Problem) -> Option<Expanded> {
        let matrix = match problem.matrix() {
            Operator::Dense(matrix) => Sparse::from_dense(matrix),
            Operator::Sparse(matrix) => matrix.clone(),
            Operator::Global(_) | Operator::Function(_) => return None,
        };
        let mut builder = Builder::default();
        let mut possible = true;
        problem.for_each_block(|i, set, _| possible &= builder.add(set, matrix.get(i, i)));
        if !possible {
            return None;
        }
        let Builder { blocks, columns, c, row, extra, constant } = builder;

        // rows of `y` that stand for a row of `w`: W (T y + c) + q
        let size = blocks.len();
        let mut triplets = extra;
        let mut q = constant;
        for (i, &(row, rho)) in row.iter().enumerate() {
            q[row] += rho * problem.q()[i];
            for entry in matrix.row(i) {
                q[row] += rho * entry.value * c[entry.col];
                let column = columns[entry.col].iter();
                triplets.extend(column.map(|&(j, t)| (row, j, rho * entry.value * t)));
            }
        }
        let matrix = Sparse::from_triplets(size, size, &triplets);
        let problem = if size <= 600 {
            Problem::new(matrix.to_dense(), q, &blocks)
        } else {
            Problem::new(matrix, q, &blocks)
        };
        Some(Expanded { problem: problem.ok()?, columns, c, row })
    }

    /// `z = T y + c`.
    pub fn back(&self, y: &[f64], z: &mut [f64]) {
        for (i, z) in z.iter_mut().enumerate() {
            *z = self.c[i] + self.columns[i].iter().map(|&(j, t)| t * y[j]).sum::<f64>();
        }
    }

    /// The `y` of a guess `z`: equations (1) and (2) with its `w`.
    fn guess(&self, original: &Problem, z: &[f64], w: &mut [f64]) -> Vec<f64> {
        original.eval(z, w);
        let mut y = vec![0.0; self.problem.len()];
        original.for_each_block(|i, set, _| match set {
            Set::Graph(_) => {
                let (x, others) = (self.columns[i][0].0, &self.columns[i][1..]);
                y[x] = z[i] - self.row[i].1 * w[i];
                for &(p, _) in others {
                    y[p] = (y[x] - self.problem.q()[p]).max(0.0);
                }
            }
            Set::Coulomb2 { mu } => {
                let s = self.columns[i + 1][0].0;
                y[self.columns[i][0].0] = z[i];
                y[s] = z[i + 1] + mu * z[i];
                y[s + 1] = (-w[i + 1]).max(0.0);
            }
            _ => y[self.columns[i][0].0] = z[i],
        });
        y
    }

    /// Runs a method on the boxes, and verifies its answer on the problem itself.
    pub fn solve<E>(
        &self,
        original: &Problem,
        tol: f64,
        z: &mut [f64],
        w: &mut [f64],
        method: impl FnOnce(&Problem, &mut [f64], &mut [f64]) -> Result<Report, E>,
    ) -> Result<Report, E> {
        let size = self.problem.len();
        let (mut y, mut v) = (self.guess(original, z, w), vec![0.0; size]);
        let report = method(&self.problem, &mut y, &mut v)?;
        self.back(&y, z);
        Ok(verified(original, tol, z, w, report))
    }

    /// A solution of the boxes as one of the problem.
    pub fn solution(&self, original: &Problem, tol: f64, solution: &Solution) -> Solution {
        let n = original.len();
        let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
        self.back(&solution.z, &mut z);
        let report = verified(original, tol, &z, &mut w, solution.report);
        Solution { z, w, report, attempts: solution.attempts.clone(), history: Vec::new() }
    }
}

fn verified(problem: &Problem, tol: f64, z: &[f64], w: &mut [f64], report: Report) -> Report {
    let last = residual(problem, z, w);
    let status = match report.status {
        _ if last.value <= tol => Status::Solved,
        Status::Solved => Status::Diverged,
        other => other,
    };
    Report { status, residual: last.value, worst: last.worst, ..report }
}

#[derive(Default)]
struct Builder {
    blocks: Vec<Block>,
    columns: Vec<Vec<(usize, f64)>>,
    c: Vec<f64>,
    row: Vec<(usize, f64)>, // the row of `y` that holds each row of `w`, and times what
    extra: Vec<(usize, usize, f64)>,
    constant: Vec<f64>,
}

impl Builder {
    fn unknown(&mut self, set: Set, constant: f64) -> usize {
        self.blocks.push(Block { size: 1, set });
        self.constant.push(constant);
        self.blocks.len() - 1
    }

    fn component(&mut self, row: (usize, f64), column: Vec<(usize, f64)>, c: f64) {
        self.row.push(row);
        self.columns.push(column);
        self.c.push(c);
    }

    fn add(&mut self, set: &Set, diagonal: f64) -> bool {
        match set {
            Set::Free | Set::Nonnegative | Set::Interval { .. } => {
                let own = self.unknown(set.clone(), 0.0);
                self.component((own, 1.0), vec![(own, 1.0)], 0.0);
            }
            Set::Graph(graph) => {
                let rho = if diagonal > 0.0 { 1.0 / diagonal } else { 1.0 };
                self.graph(graph.points(), rho);
            }
            Set::Coulomb2 { mu } => self.contact(*mu),
            _ => return false,
        }
        true
    }

    /// Equation (1).
    fn graph(&mut self, points: &[(f64, f64)], rho: f64) {
        // by increasing x the chain runs backwards
        let ends: Vec<(f64, f64)> = points.iter().rev().map(|&(w, z)| (z - rho * w, z)).collect();
        let slopes: Vec<f64> =
            ends.windows(2).map(|pair| (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0)).collect();
        let x = self.unknown(Set::Free, 0.0);
        let mut column = vec![(x, slopes[0])];
        for k in 1..slopes.len() {
            let p = self.unknown(Set::Nonnegative, ends[k].0);
            self.extra.extend([(p, p, 1.0), (p, x, -1.0)]);
            column.push((p, slopes[k] - slopes[k - 1]));
        }
        let c = ends[0].1 - slopes[0] * ends[0].0;
        // 0 = ρ w − z + x
        self.extra.push((x, x, 1.0));
        self.extra.extend(column.iter().map(|&(j, t)| (x, j, -t)));
        self.constant[x] = -c;
        self.component((x, rho), column, c);
    }

    /// Equation (2).
    fn contact(&mut self, mu: f64) {
        let normal = self.unknown(Set::Nonnegative, 0.0);
        let s = self.unknown(Set::Nonnegative, 0.0);
        let lambda = self.unknown(Set::Nonnegative, 0.0);
        self.extra.extend([(s, lambda, 1.0), (lambda, normal, 2.0 * mu), (lambda, s, -1.0)]);
        self.component((normal, 1.0), vec![(normal, 1.0)], 0.0);
        self.component((s, 1.0), vec![(s, 1.0), (normal, -mu)], 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Graph, Solver, solve};
    use saltus_linalg::Matrix;
    use std::sync::Arc;

    #[test]
    fn a_relay_with_dead_zone_and_a_contact() {
        let dead_zone = Graph::new(&[
            (-2.0, 1.0),
            (-1.0, 1.0),
            (-1.0, 0.0),
            (1.0, 0.0),
            (1.0, -1.0),
            (2.0, -1.0),
        ]);
        let blocks = [
            Block { size: 1, set: Set::Graph(Arc::new(dead_zone.unwrap())) },
            Block { size: 2, set: Set::Coulomb2 { mu: 0.4 } },
        ];
        let matrix = Matrix::from([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.0]]);
        for q in [[-3.0, -1.0, 0.2], [-0.5, -1.0, 2.0], [5.0, 1.0, 0.0], [1.2, -2.0, -3.0]] {
            let problem = Problem::new(matrix.clone(), q.to_vec(), &blocks).unwrap();
            let sweeps =
                solve(&problem, &Solver::from_name("gauss-seidel").unwrap(), None).unwrap();
            for name in ["lemke", "pivoting", "enumeration"] {
                let solution = solve(&problem, &Solver::from_name(name).unwrap(), None).unwrap();
                assert_eq!(solution.report.status, Status::Solved, "{name} on {q:?}");
                for i in 0..3 {
                    assert!((solution.z[i] - sweeps.z[i]).abs() < 1e-7, "{name} on {q:?}");
                }
            }
        }
    }

    #[test]
    fn the_guess_is_where_the_method_starts() {
        let relay = Graph::new(&[(-1.0, 1.0), (0.0, 1.0), (0.0, -1.0), (1.0, -1.0)]).unwrap();
        let blocks = [
            Block { size: 1, set: Set::Graph(Arc::new(relay)) },
            Block { size: 2, set: Set::Coulomb2 { mu: 0.4 } },
        ];
        let matrix = Matrix::from([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.0]]);
        let problem = Problem::new(matrix, vec![-0.5, -1.0, 2.0], &blocks).unwrap();
        let solver = Solver::from_name("pivoting").unwrap();
        let cold = solve(&problem, &solver, None).unwrap();
        let expanded = Expanded::new(&problem).unwrap();
        let y = expanded.guess(&problem, &cold.z, &mut [0.0; 3]);
        let answer = residual(&expanded.problem, &y, &mut vec![0.0; y.len()]);
        assert!(answer.value <= 1e-12, "{answer:?}");
        let warm = solve(&problem, &solver, Some(&cold.z)).unwrap();
        assert!(warm.report.iterations <= 2, "{:?} after {:?}", warm.report, cold.report);
    }

    #[test]
    fn painleve_none_one_and_two_solutions() {
        // a rod that slides to the right on a rough floor: W_NN + μ W_NT d < 0 for slip
        let count = |normal: f64, coupling: f64, q: [f64; 2]| {
            let matrix = Matrix::from([[normal, coupling], [coupling, 1.0]]);
            let problem = Problem::friction2d(matrix, q.to_vec(), &[2.0]).unwrap();
            let settings = crate::EnumerationSettings::default();
            let mut all = crate::methods::Enumeration::new(settings).all(&problem).unwrap();
            all.solutions.retain(|s| s.report.status == Status::Solved);
            all.solutions.len()
        };
        assert_eq!(count(1.0, 0.2, [-1.0, 5.0]), 1);
        assert!(count(1.0, 0.8, [0.5, 5.0]) >= 2);
    }
}
