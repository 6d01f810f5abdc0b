//! The linear system of a step, `(W + C) d = b` with `C` block diagonal.
//!
//! For the pair `(M, H)`, `W = Hᵀ M⁻¹ H` is multiplied out only where the problem is small or the
//! product is as sparse as its factors. Otherwise the system is, with velocities `v`,
//!
//! ```text
//! [ −M  H ] [ v ]   [ 0 ]
//! [ Hᵀ  C ] [ d ] = [ b ]                                                                      (1)
//! (M + H C⁻¹ Hᵀ) v = H C⁻¹ b,      d = C⁻¹ (b − Hᵀ v)                                          (2)
//! ```
//!
//! where (2) is the smaller one if there are fewer velocities than unknowns (more contacts than
//! degrees of freedom), and needs a `C` that can be inverted: no unknown without a law.
//!
//! Rows and columns are divided by the roots of the diagonals of `M` and `W`, so that units do not
//! matter, and the solution is refined with the system as it was given. Symmetric systems take
//! LDLᵀ, others LU; small ones are dense.

use crate::blocks::{Blocks, DENSEST};
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
    form: Form,
    inverse: Vec<f64>, // C⁻¹, scaled, for the form (2)
    factor: Factor,
    values: Vec<f64>,
    full: Vec<f64>,
    defect: Vec<f64>,
    correction: Vec<f64>,
    momentum: Vec<f64>,
    force: Vec<f64>,
}

/// What is factored.
#[derive(Debug, Default)]
enum Form {
    /// `W + C`.
    #[default]
    Reduced,
    /// (1).
    Pair,
    /// (2).
    Velocities(Box<Velocities>),
}

/// The pattern of (2), and how it is filled.
#[derive(Debug, Default)]
struct Velocities {
    mass: Vec<f64>,    // scaled, in the order of the pattern
    reach: Vec<Reach>, // of each block
    scratch: Matrix,   // a block of C
    lu: DenseLu,       // and its factors
}

/// The velocities that a block acts on.
#[derive(Debug)]
struct Reach {
    velocities: Vec<usize>,
    H: Vec<f64>,    // its columns there, scaled: one row a velocity
    at: Vec<usize>, // where the entries of H C⁻¹ Hᵀ stand in the pattern
}

#[derive(Debug, Default)]
enum Factor {
    #[default]
    None,
    Dense(Box<(Matrix, DenseLu)>),
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
        // the scaling of a block is dense
        if let Some(block) = ranges.iter().position(|range| range.len() > DENSEST) {
            let (method, size, limit) = ("interior-point", ranges[block].len(), DENSEST);
            return Err(NumericsError::BlockTooLarge { method, block, size, limit });
        }
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
        for buffer in [&mut self.defect, &mut self.correction, &mut self.force] {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        let pair = match problem.matrix() {
            Operator::Global(global) if n > DENSE && !multiplied_out(global) => Some(global),
            _ => None,
        };
        if pair.is_none() {
            self.blocks.update("interior-point", problem)?;
        }
        let lawless = (problem.lower().iter().zip(problem.upper()).enumerate())
            .any(|(i, (lower, upper))| (*lower, *upper) == FREE && !covered(problem, i));
        let key = (problem.matrix_id(), symmetric);
        let recut = recut || matches!(self.form, Form::Velocities(_)) && lawless;
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

        self.form = Form::Reduced;
        self.factor = if n <= DENSE {
            Factor::Dense(Box::new((Matrix::zeros(n, n), DenseLu::with_capacity(n))))
        } else {
            let (pattern, symmetric) = match (pair, problem.matrix()) {
                (Some(global), _) => {
                    let exact = global.mass().is_symmetric(4.0 * f64::EPSILON);
                    let pattern = if lawless || n <= self.velocities {
                        self.form = Form::Pair;
                        self.pattern(global)
                    } else {
                        let (velocities, pattern) = self.velocities_pattern(global);
                        self.form = Form::Velocities(Box::new(velocities));
                        self.inverse.clear();
                        self.inverse.resize(self.C.len(), 0.0);
                        pattern
                    };
                    (pattern, symmetric && exact)
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

    /// The pattern of (2), the mass in it, and where each block enters.
    fn velocities_pattern(&self, global: &Global) -> (Velocities, Sparse) {
        let nv = self.velocities;
        let mut triplets = Vec::new();
        for (i, j, value) in global.mass().iter() {
            triplets.push((i, j, self.s[i] * value * self.s[j]));
        }
        let mut reach = Vec::new();
        for range in &self.ranges {
            let rows = range.clone().map(|i| global.transposed().row(i));
            let mut velocities: Vec<usize> = rows.flatten().map(|e| e.col).collect();
            velocities.sort_unstable();
            velocities.dedup();
            for &i in &velocities {
                triplets.extend(velocities.iter().map(|&j| (i, j, 0.0)));
            }
            let mut H = Vec::new();
            for &i in &velocities {
                H.extend(range.clone().map(|j| self.s[i] * global.H().get(i, j) * self.s[nv + j]));
            }
            reach.push(Reach { velocities, H, at: Vec::new() });
        }
        let pattern = Sparse::from_triplets(nv, nv, &triplets);
        let mut start = vec![0];
        for i in 0..nv {
            start.push(start[i] + pattern.row(i).len());
        }
        for reach in &mut reach {
            for &i in &reach.velocities {
                let row = pattern.row(i);
                let place = |j: &usize| start[i] + row.partition_point(|e| e.col < *j);
                reach.at.extend(reach.velocities.iter().map(place));
            }
        }
        let mass = pattern.entries().iter().map(|e| e.value).collect();
        (Velocities { mass, reach, ..Velocities::default() }, pattern)
    }

    /// `C⁻¹`, scaled, block by block, zero for fixed unknowns; false if there is none.
    fn invert(&mut self, velocities: &mut Velocities, delta: f64) -> bool {
        let mut inverse = std::mem::take(&mut self.inverse);
        let done = self.ranges.iter().enumerate().all(|(k, range)| {
            let n = range.len();
            velocities.scratch.reset(n, n);
            for i in 0..n {
                for j in 0..n {
                    velocities.scratch[(i, j)] =
                        self.diagonal_entry(k, range.start + i, range.start + j, 0.0, delta);
                }
            }
            if velocities.lu.factor(&velocities.scratch).is_err() {
                return false;
            }
            let mut column = vec![0.0; n];
            for j in (0..n).filter(|j| !self.fixed[range.start + j]) {
                column.fill(0.0);
                column[j] = 1.0;
                velocities.lu.solve(&mut column);
                for i in 0..n {
                    inverse[self.at[k] + i * n + j] = column[i];
                }
            }
            column.iter().all(|x| x.is_finite())
        });
        self.inverse = inverse;
        done
    }

    /// The values of (2); false if there are none.
    fn fill_velocities(&mut self, velocities: &mut Velocities, delta: f64) -> bool {
        if !self.invert(velocities, delta) {
            return false;
        }
        self.values.copy_from_slice(&velocities.mass);
        let mut product = Vec::new();
        for (k, reach) in velocities.reach.iter().enumerate() {
            let (n, C) = (self.ranges[k].len(), &self.inverse[self.at[k]..self.at[k + 1]]);
            let m = reach.velocities.len();
            // H C⁻¹, then times Hᵀ
            product.clear();
            for row in reach.H.chunks_exact(n) {
                product.extend((0..n).map(|j| (0..n).map(|i| row[i] * C[i * n + j]).sum::<f64>()));
            }
            for a in 0..m {
                let left = &product[a * n..(a + 1) * n];
                for b in 0..m {
                    let right = &reach.H[b * n..(b + 1) * n];
                    let value = left.iter().zip(right).map(|(l, r)| l * r).sum::<f64>();
                    self.values[reach.at[a * m + b]] += value;
                }
            }
        }
        true
    }

    /// `b ← C⁻¹ b`, both scaled.
    fn apply_inverse(&self, b: &mut [f64]) {
        let mut product = Vec::new();
        for (k, range) in self.ranges.iter().enumerate() {
            let (n, C) = (range.len(), &self.inverse[self.at[k]..self.at[k + 1]]);
            let b = &mut b[range.clone()];
            product.clear();
            product.extend((0..n).map(|i| (0..n).map(|j| C[i * n + j] * b[j]).sum::<f64>()));
            b.copy_from_slice(&product);
        }
    }

    /// Equation (2) with the factors, all scaled.
    fn solve_velocities(&mut self, velocities: &Velocities, b: &mut [f64]) {
        let mut v = std::mem::take(&mut self.momentum);
        let mut force = std::mem::take(&mut self.force);
        force.clear();
        force.extend_from_slice(b);
        self.apply_inverse(&mut force);
        v.fill(0.0);
        for (reach, range) in velocities.reach.iter().zip(&self.ranges) {
            for (row, &i) in reach.H.chunks_exact(range.len()).zip(&reach.velocities) {
                v[i] += row.iter().zip(&force[range.clone()]).map(|(h, f)| h * f).sum::<f64>();
            }
        }
        if let Factor::Sparse(factor) = &mut self.factor {
            factor.solve(&mut v);
        }
        for (reach, range) in velocities.reach.iter().zip(&self.ranges) {
            for (row, &i) in reach.H.chunks_exact(range.len()).zip(&reach.velocities) {
                for (b, h) in b[range.clone()].iter_mut().zip(row) {
                    *b -= h * v[i];
                }
            }
        }
        self.apply_inverse(b);
        self.momentum = v;
        self.force = force;
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
            Factor::Dense(dense) => {
                let (matrix, lu) = &mut **dense;
                let data = matrix.data_mut();
                self.for_each_reduced(delta, |i, j, value| data[i * n + j] = value);
                lu.factor(matrix).is_ok()
            }
            Factor::Sparse(sparse) if matches!(self.form, Form::Velocities(_)) => {
                let mut form = std::mem::take(&mut self.form);
                let filled = match &mut form {
                    Form::Velocities(velocities) => self.fill_velocities(velocities, delta),
                    _ => false,
                };
                self.form = form;
                filled && sparse.factor_with(|k| self.values[k], |_| 0.0).is_ok()
            }
            Factor::Sparse(sparse) => {
                let mut values = std::mem::take(&mut self.values);
                let mut k = 0;
                let mut put = |value| {
                    values[k] = value;
                    k += 1;
                };
                match (&self.form, problem.matrix()) {
                    (Form::Pair, Operator::Global(global)) => {
                        self.for_each(global, delta, |_, _, v| put(v));
                    }
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
        if let Form::Velocities(_) = self.form {
            let form = std::mem::take(&mut self.form);
            let scale = |b: &mut [f64], s: &[f64]| b.iter_mut().zip(s).for_each(|(b, s)| *b *= s);
            scale(b, &self.s[nv..]);
            if let Form::Velocities(velocities) = &form {
                self.solve_velocities(velocities, b);
            }
            scale(b, &self.s[nv..]);
            self.form = form;
            return;
        }
        let full = &mut self.full[..];
        full[..nv].fill(0.0);
        for i in 0..b.len() {
            full[nv + i] = if self.fixed[i] { 0.0 } else { self.s[nv + i] * b[i] };
        }
        match &mut self.factor {
            Factor::None => {}
            Factor::Dense(dense) => dense.1.solve(full),
            Factor::Sparse(factor) => factor.solve(full),
        }
        for i in 0..b.len() {
            b[i] = self.s[nv + i] * full[nv + i];
        }
    }
}

/// The bounds of an unknown without any.
const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// Whether unknown `i` is in a block that is no box.
fn covered(problem: &Problem, i: usize) -> bool {
    let placed = problem.placed();
    let after = placed.partition_point(|block| block.start <= i);
    after > 0 && i < placed[after - 1].start + placed[after - 1].size
}

/// Whether `Hᵀ M⁻¹ H` is about as sparse as `M` and `H`: many bodies with few contacts each.
fn multiplied_out(global: &Global) -> bool {
    let Some(mass) = global.inverse_blocks() else { return false };
    let mut product = 0;
    for range in mass.ranges() {
        let mut columns: Vec<usize> =
            range.flat_map(|i| global.H().row(i)).map(|e| e.col).collect();
        columns.sort_unstable();
        columns.dedup();
        product += columns.len() * columns.len();
    }
    global.size() < global.velocities()
        && product <= 4 * (global.mass().len() + 2 * global.H().len())
}

/// The mean of positive numbers; 1 if there is none.
fn mean(x: &[f64]) -> f64 {
    let sum: f64 = x.iter().sum();
    if sum > 0.0 { sum / x.len() as f64 } else { 1.0 }
}
