//! The linear system of a step, `(W + C) d = b` with `C` block diagonal.
//!
//! For the pair `(M, H)`, `W = Hᵀ M⁻¹ H` is not multiplied out but for small problems:
//!
//! ```text
//! [ −M  H ] [ v ]   [ 0 ]
//! [ Hᵀ  C ] [ d ] = [ b ]                                                                      (1)
//! ```
//!
//! Rows and columns are divided by the roots of the diagonals of `M` and `W`, so that units do not
//! matter, and the solution is refined with the system as it was given. Symmetric systems take
//! LDLᵀ, others LU; small ones are dense.

use crate::blocks::Blocks;
use crate::{Global, NumericsError, Operator, Problem};
use saltus_linalg::{DenseLu, Entry, Matrix, Sparse, SparseFactor};
use std::ops::Range;

/// Largest problem whose matrix is factored densely.
const DENSE: usize = 300;
/// Steps of refinement.
const REFINEMENTS: usize = 3;

/// The system and what it keeps from one problem to the next.
#[derive(Debug, Default)]
pub struct System {
    blocks: Blocks,
    /// The block-diagonal `C`, block after block, row by row.
    pub C: Vec<f64>,
    /// Diagonal of `W`, or something of its size.
    pub omega: Vec<f64>,
    /// The mean of `omega`.
    pub mean: f64,
    fixed: Vec<bool>,
    at: Vec<usize>, // first entry of each block in C
    ranges: Vec<Range<usize>>,
    s: Vec<f64>, // scales: of the velocities, then of the unknowns
    velocities: usize,
    analysed: Option<(u64, bool)>,
    factor: Factor,
    values: Vec<f64>,
    full: Vec<f64>,
    defect: Vec<f64>,
    correction: Vec<f64>,
    momentum: Vec<f64>,
}

#[derive(Debug, Default)]
enum Factor {
    #[default]
    None,
    Dense(Box<DenseLu>),
    Sparse(Box<SparseFactor>),
}

impl System {
    /// Takes over a problem, some of whose unknowns are fixed; `symmetric` says whether `C` is.
    pub fn prepare(
        &mut self,
        problem: &Problem,
        fixed: &[bool],
        symmetric: bool,
    ) -> Result<(), NumericsError> {
        let n = problem.len();
        let mut ranges = Vec::new();
        problem.for_each_block(|start, _, size| ranges.push(start..start + size));
        let recut = ranges != self.ranges;
        self.ranges = ranges;
        self.at.clear();
        self.at.push(0);
        for range in &self.ranges {
            self.at.push(self.at[self.at.len() - 1] + range.len() * range.len());
        }
        self.C.clear();
        self.C.resize(self.at[self.ranges.len()], 0.0);
        self.fixed.clear();
        self.fixed.extend_from_slice(fixed);
        for buffer in [&mut self.defect, &mut self.correction] {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        let pair = match problem.matrix() {
            Operator::Global(global) if n > DENSE => Some(global),
            _ => None,
        };
        let key = (problem.matrix_id(), symmetric);
        if pair.is_none() {
            self.blocks.update("interior-point", problem)?;
        }
        if self.analysed == Some(key) && !recut {
            return Ok(());
        }
        self.omega.clear();
        self.omega.resize(n, 0.0);
        self.s.clear();
        match pair {
            Some(global) => {
                let mass: Vec<f64> =
                    (0..global.velocities()).map(|i| global.mass().get(i, i).abs()).collect();
                let usual = mean(&mass);
                let mass = mass.iter().map(|&m| if m > 0.0 { m } else { usual });
                self.s.extend(mass.map(|m| 1.0 / m.sqrt()));
                for (i, row) in self.omega.iter_mut().enumerate() {
                    let square = |e: &Entry| (e.value * self.s[e.col]).powi(2);
                    *row = global.transposed().row(i).iter().map(square).sum();
                }
            }
            None => {
                for (k, range) in self.ranges.iter().enumerate() {
                    let own = self.blocks.matrix.diagonal(k);
                    for i in 0..range.len() {
                        self.omega[range.start + i] = own[i * range.len() + i].abs();
                    }
                }
            }
        }
        self.mean = mean(&self.omega);
        for omega in &mut self.omega {
            // what the matrix hardly sees is measured by the others
            if !(*omega > 1e-12 * self.mean) {
                *omega = self.mean;
            }
        }
        self.velocities = self.s.len();
        self.s.extend(self.omega.iter().map(|omega| 1.0 / omega.sqrt()));
        self.full.clear();
        self.full.resize(self.s.len(), 0.0);
        self.momentum.clear();
        self.momentum.resize(self.velocities, 0.0);

        self.factor = if n <= DENSE {
            Factor::Dense(Box::new(DenseLu::with_capacity(n)))
        } else {
            let (pattern, symmetric) = match (pair, problem.matrix()) {
                (Some(global), _) => {
                    let exact = global.mass().is_symmetric(4.0 * f64::EPSILON);
                    (self.pattern(global), symmetric && exact)
                }
                (None, Operator::Sparse(W)) => {
                    (self.blocks.matrix.pattern(), symmetric && W.is_symmetric(1e-14))
                }
                (None, _) => (self.blocks.matrix.pattern(), false),
            };
            self.values.clear();
            self.values.resize(pattern.len(), 0.0);
            Factor::Sparse(Box::new(SparseFactor::with_symmetry(&pattern, symmetric)))
        };
        self.analysed = Some(key);
        Ok(())
    }

    /// The block of `C` of block `k`.
    pub fn block(&mut self, k: usize) -> &mut [f64] {
        &mut self.C[self.at[k]..self.at[k + 1]]
    }

    /// Ones wherever (1) can have entries.
    fn pattern(&self, global: &Global) -> Sparse {
        let mut triplets = Vec::new();
        self.for_each(global, 0.0, |i, j, _| triplets.push((i, j, 1.0)));
        Sparse::from_triplets(self.s.len(), self.s.len(), &triplets)
    }

    /// Visits the entries of (1) row by row, columns ascending, `delta` added to the diagonal.
    fn for_each(&self, global: &Global, delta: f64, mut visit: impl FnMut(usize, usize, f64)) {
        let nv = self.velocities;
        for i in 0..nv {
            for e in global.mass().row(i) {
                visit(i, e.col, -self.s[i] * e.value * self.s[e.col]);
            }
            for e in global.H().row(i) {
                let value = if self.fixed[e.col] { 0.0 } else { e.value };
                visit(i, nv + e.col, self.s[i] * value * self.s[nv + e.col]);
            }
        }
        for (k, range) in self.ranges.iter().enumerate() {
            for i in range.clone() {
                for e in global.transposed().row(i) {
                    let value = if self.fixed[i] { 0.0 } else { e.value };
                    visit(nv + i, e.col, self.s[nv + i] * value * self.s[e.col]);
                }
                for j in range.clone() {
                    visit(nv + i, nv + j, self.diagonal_entry(k, i, j, 0.0, delta));
                }
            }
        }
    }

    /// Entry `(i, j)` of `W + C` in diagonal block `k`, scaled; `own` is that of `W`.
    #[inline]
    fn diagonal_entry(&self, k: usize, i: usize, j: usize, own: f64, delta: f64) -> f64 {
        if self.fixed[i] || self.fixed[j] {
            return f64::from(i == j);
        }
        let (start, n) = (self.ranges[k].start, self.ranges[k].len());
        let C = self.C[self.at[k] + (i - start) * n + (j - start)];
        let s = &self.s[self.velocities..];
        s[i] * (own + C) * s[j] + if i == j { delta } else { 0.0 }
    }

    /// Visits the entries of `W + C` row by row, columns ascending.
    fn for_each_reduced(&self, delta: f64, mut visit: impl FnMut(usize, usize, f64)) {
        for (k, range) in self.ranges.iter().enumerate() {
            let own = self.blocks.matrix.diagonal(k);
            for i in range.clone() {
                let local = i - range.start;
                self.blocks.matrix.for_each_in_row(k, |col, width, block| {
                    for j in col..col + width {
                        let at = local * width + (j - col);
                        let value = match block {
                            None => self.diagonal_entry(k, i, j, own[at], delta),
                            Some(_) if self.fixed[i] || self.fixed[j] => 0.0,
                            Some(block) => self.s[i] * block[at] * self.s[j],
                        };
                        visit(i, j, value);
                    }
                });
            }
        }
    }

    /// Factors the system for the present `C`; false if it is singular.
    pub fn factor(&mut self, problem: &Problem, delta: f64) -> bool {
        let n = problem.len();
        let mut factor = std::mem::take(&mut self.factor);
        let done = match &mut factor {
            Factor::None => false,
            Factor::Dense(lu) => {
                let mut matrix = Matrix::zeros(n, n);
                let data = matrix.data_mut();
                self.for_each_reduced(delta, |i, j, value| data[i * n + j] = value);
                lu.factor(&matrix).is_ok()
            }
            Factor::Sparse(sparse) => {
                let mut values = std::mem::take(&mut self.values);
                let mut k = 0;
                let mut put = |value| {
                    values[k] = value;
                    k += 1;
                };
                match problem.matrix() {
                    Operator::Global(global) => self.for_each(global, delta, |_, _, v| put(v)),
                    _ => self.for_each_reduced(delta, |_, _, v| put(v)),
                }
                self.values = values;
                sparse.factor_with(|k| self.values[k], |_| delta).is_ok()
            }
        };
        self.factor = factor;
        done
    }

    /// `d ← (W + C)⁻¹ b`, and how far it is from that, relative to `b`.
    pub fn solve(&mut self, problem: &Problem, b: &[f64], d: &mut [f64]) -> f64 {
        self.defect.copy_from_slice(b);
        d.fill(0.0);
        let size = self.size(b);
        let mut error = 1.0;
        for _ in 0..=REFINEMENTS {
            let mut step = std::mem::take(&mut self.correction);
            step.copy_from_slice(&self.defect);
            self.solve_once(&mut step);
            if !step.iter().all(|x| x.is_finite()) {
                self.correction = step;
                return f64::INFINITY;
            }
            for i in 0..d.len() {
                step[i] += d[i];
            }
            self.measure(problem, b, &step);
            let now = self.size(&self.defect) / size;
            // a refinement that does not help is not taken
            let better = now < error || error == 1.0;
            if better {
                d.copy_from_slice(&step);
            }
            self.correction = step;
            if !better {
                return error;
            }
            let enough = now < 1e-13 || now > 0.5 * error;
            error = now;
            if enough || size == 0.0 {
                return if size == 0.0 { 0.0 } else { error };
            }
        }
        error
    }

    /// The largest entry, each in its unit.
    fn size(&self, b: &[f64]) -> f64 {
        let s = &self.s[self.velocities..];
        (0..b.len()).fold(0.0, |m: f64, i| m.max((s[i] * b[i]).abs()))
    }

    /// The defect `b − (W + C) d`.
    fn measure(&mut self, problem: &Problem, b: &[f64], d: &[f64]) {
        match problem.matrix() {
            Operator::Global(global) if self.velocities > 0 => {
                global.H().apply(d, &mut self.momentum);
                global.solve_mass(&mut self.momentum);
                global.transposed().apply(&self.momentum, &mut self.defect);
            }
            _ => {
                self.defect.fill(0.0);
                let mut product = std::mem::take(&mut self.full);
                self.blocks.matrix.apply_plus(d, &self.defect, &mut product);
                self.defect.copy_from_slice(&product);
                self.full = product;
            }
        }
        for (k, range) in self.ranges.iter().enumerate() {
            let (n, C) = (range.len(), &self.C[self.at[k]..self.at[k + 1]]);
            for i in 0..n {
                let row = &C[i * n..(i + 1) * n];
                self.defect[range.start + i] +=
                    row.iter().zip(&d[range.clone()]).map(|(c, d)| c * d).sum::<f64>();
            }
        }
        for i in 0..b.len() {
            self.defect[i] = if self.fixed[i] { 0.0 } else { b[i] - self.defect[i] };
        }
    }

    /// One solve with the factors.
    fn solve_once(&mut self, b: &mut [f64]) {
        let nv = self.velocities;
        let full = &mut self.full[..];
        full[..nv].fill(0.0);
        for i in 0..b.len() {
            full[nv + i] = if self.fixed[i] { 0.0 } else { self.s[nv + i] * b[i] };
        }
        match &mut self.factor {
            Factor::None => {}
            Factor::Dense(lu) => lu.solve(full),
            Factor::Sparse(factor) => factor.solve(full),
        }
        for i in 0..b.len() {
            b[i] = self.s[nv + i] * full[nv + i];
        }
    }
}

/// The mean of positive numbers; 1 if there is none.
fn mean(x: &[f64]) -> f64 {
    let sum: f64 = x.iter().sum();
    if sum > 0.0 { sum / x.len() as f64 } else { 1.0 }
}
