//! A box problem as one with `z ≥ 0` only, scaled: `0 ≤ w = M z + q ⟂ z ≥ 0`.
//!
//! ```text
//! z = l + a  or  z = u − a,     0 ≤ s ⟂ u − l − a ≥ 0  for a second bound
//! W ← W − W_F W_FF⁻¹ W_F        for the free unknowns, or z = a − b where W_FF is singular
//! ```
//!
//! That fills in, so where the matrix is sparse free unknowns stay what they are: `w = 0`, and `z` of any sign.

use crate::Problem;
use crate::mode::{Side, allowed};
use crate::sets::clamp;
use saltus_linalg::{DenseLu, Sparse, vector};

/// A difference this small is zero after the elimination of the free unknowns.
const ELIMINATED: f64 = 1e-13;

/// The problem with `z ≥ 0` only: `w = M z + q`.
#[derive(Debug, Default)]
pub(super) struct StandardForm {
    pub n: usize,
    starts: Vec<usize>, // of the columns of M
    entries: Vec<(usize, f64)>,
    pub q: Vec<f64>,
    /// Unknowns of any sign, whose `w` is zero.
    pub is_free: Vec<bool>,
    columns: Vec<Column>,
    scale: Vec<f64>,  // of each new unknown
    q_scale: f64,     // of q, and so of all unknowns
    free: Vec<usize>, // eliminated unknowns
    factors: DenseLu, // of W_FF
    basic: Vec<bool>, // unknowns in the basis
    mode: Vec<Side>,  // of the problem
}

/// What becomes of free unknowns in a sparse matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Free {
    /// They stay.
    Kept,
    /// `z = a − b`.
    Split,
}

/// What a nonnegative unknown stands for.
#[derive(Debug, Clone, Copy)]
enum Column {
    /// `zᵢ = start + sign · a`.
    Variable { index: usize, sign: f64 },
    /// The multiplier of the second bound of the unknown in this column.
    Slack { of: usize, width: f64 },
}

impl StandardForm {
    /// Column `j` of `M`: rows and values.
    pub fn column(&self, j: usize) -> &[(usize, f64)] {
        &self.entries[self.starts[j]..self.starts[j + 1]]
    }

    /// With a dense matrix.
    pub fn build(&mut self, problem: &Problem) {
        let n = problem.len();
        let W = problem.matrix().to_dense();
        let (lower, upper) = (problem.lower(), problem.upper());
        let is_free = |i: usize| lower[i] == f64::NEG_INFINITY && upper[i] == f64::INFINITY;

        // eliminate the free unknowns: W ← W − W_F W_FF⁻¹ W_F, q likewise
        self.free = (0..n).filter(|&i| is_free(i)).collect();
        let free = &self.free;
        let (mut S, mut q) = (W.clone(), problem.q().to_vec());
        let eliminated = !free.is_empty()
            && self.factors.factor_with(free.len(), |i, j| W[(free[i], free[j])]).is_ok();
        if eliminated {
            let mut column = vec![0.0; free.len()];
            for j in 0..=n {
                if j < n && is_free(j) {
                    continue;
                }
                for (k, &i) in free.iter().enumerate() {
                    column[k] = if j < n { W[(i, j)] } else { problem.q()[i] };
                }
                self.factors.solve(&mut column);
                for i in (0..n).filter(|&i| !is_free(i)) {
                    let target = if j < n { &mut S[(i, j)] } else { &mut q[i] };
                    let mut size = target.abs();
                    for (k, &f) in free.iter().enumerate() {
                        let term = W[(i, f)] * column[k];
                        *target -= term;
                        size += term.abs();
                    }
                    // scaling must not make an entry of what is left of a zero
                    if target.abs() <= ELIMINATED * size {
                        *target = 0.0;
                    }
                }
            }
        } else {
            self.free.clear();
        }

        let start = self.assign(problem, if eliminated { None } else { Some(Free::Split) });
        let size = self.n;
        // M and q of the nonnegative unknowns, column by column
        for r in 0..size {
            self.q.push(match self.columns[r] {
                Column::Variable { index, sign } => {
                    sign * (q[index] + vector::dot(S.row(index), &start))
                }
                Column::Slack { width, .. } => width,
            });
        }
        for c in 0..size {
            self.starts.push(self.entries.len());
            for r in 0..size {
                let entry = match (self.columns[r], self.columns[c]) {
                    (
                        Column::Variable { index: i, sign },
                        Column::Variable { index: j, sign: s },
                    ) => sign * S[(i, j)] * s,
                    (Column::Variable { .. }, Column::Slack { of, .. }) => f64::from(of == r),
                    (Column::Slack { of, .. }, _) => -f64::from(of == c),
                };
                if entry != 0.0 {
                    self.entries.push((r, entry));
                }
            }
        }
        self.starts.push(self.entries.len());
        self.equilibrate();
    }

    /// With a sparse matrix, that of the problem.
    pub fn build_sparse(&mut self, problem: &Problem, W: &Sparse, free: Free) {
        let n = problem.len();
        self.free.clear();
        let start = self.assign(problem, Some(free));
        let mut product = vec![0.0; n];
        W.apply(&start, &mut product);
        // the new rows of each old one
        let (mut rows, mut slack) = (vec![[None; 2]; n], vec![None; self.n]);
        for (r, column) in self.columns.iter().enumerate() {
            match *column {
                Column::Variable { index, sign } => {
                    self.q.push(sign * (problem.q()[index] + product[index]));
                    let place = usize::from(rows[index][0].is_some());
                    rows[index][place] = Some((r, sign));
                }
                Column::Slack { of, width } => {
                    self.q.push(width);
                    slack[of] = Some(r);
                }
            }
        }
        let transposed = W.transpose();
        for c in 0..self.n {
            self.starts.push(self.entries.len());
            match self.columns[c] {
                Column::Variable { index, sign: s } => {
                    for entry in transposed.row(index) {
                        for (r, sign) in rows[entry.col].into_iter().flatten() {
                            self.entries.push((r, sign * entry.value * s));
                        }
                    }
                    self.entries.extend(slack[c].map(|r| (r, -1.0)));
                }
                Column::Slack { of, .. } => self.entries.push((of, 1.0)),
            }
        }
        self.starts.push(self.entries.len());
        self.equilibrate();
    }

    /// The nonnegative unknowns, and where each unknown of the problem starts; `free` unknowns have none if they
    /// are eliminated.
    fn assign(&mut self, problem: &Problem, free: Option<Free>) -> Vec<f64> {
        let n = problem.len();
        let (lower, upper) = (problem.lower(), problem.upper());
        self.columns.clear();
        self.is_free.clear();
        let mut start = vec![0.0; n];
        let mut slacks = Vec::new();
        for i in 0..n {
            if lower[i] == f64::NEG_INFINITY && upper[i] == f64::INFINITY {
                if free.is_some() {
                    self.columns.push(Column::Variable { index: i, sign: 1.0 });
                }
                match free {
                    Some(Free::Kept) => {
                        self.is_free.resize(self.columns.len(), false);
                        self.is_free[self.columns.len() - 1] = true;
                    }
                    Some(Free::Split) => {
                        self.columns.push(Column::Variable { index: i, sign: -1.0 });
                    }
                    None => {}
                }
            } else if lower[i].is_finite() {
                start[i] = lower[i];
                if lower[i] < upper[i] {
                    if upper[i].is_finite() {
                        let (of, width) = (self.columns.len(), upper[i] - lower[i]);
                        slacks.push(Column::Slack { of, width });
                    }
                    self.columns.push(Column::Variable { index: i, sign: 1.0 });
                }
            } else {
                start[i] = upper[i];
                self.columns.push(Column::Variable { index: i, sign: -1.0 });
            }
        }
        self.columns.append(&mut slacks);
        self.n = self.columns.len();
        self.is_free.resize(self.n, false);
        self.starts.clear();
        self.entries.clear();
        self.q.clear();
        start
    }

    /// Scales `M ← R M R` and `q ← R q / ‖R q‖`, so that definiteness is kept.
    fn equilibrate(&mut self) {
        let n = self.n;
        self.scale.clear();
        self.scale.resize(n, 1.0);
        let mut largest = vec![0.0f64; n];
        for _ in 0..3 {
            // the largest entry of row and column of each unknown, as scaled so far
            largest.fill(0.0);
            for j in 0..n {
                for &(i, x) in &self.entries[self.starts[j]..self.starts[j + 1]] {
                    let x = (x * self.scale[i] * self.scale[j]).abs();
                    largest[i] = largest[i].max(x);
                    largest[j] = largest[j].max(x);
                }
            }
            for (scale, &largest) in self.scale.iter_mut().zip(&largest) {
                if largest > 0.0 && largest.is_finite() {
                    // a power of two: scaling is exact
                    *scale *= (-0.5 * largest.log2()).round().exp2();
                }
            }
        }
        for j in 0..n {
            for (i, x) in &mut self.entries[self.starts[j]..self.starts[j + 1]] {
                *x *= self.scale[*i] * self.scale[j];
            }
            self.q[j] *= self.scale[j];
        }
        // the answer is as many times larger as q is: solve for a q of size 1
        let largest = vector::norm_inf(&self.q);
        let in_range = largest > 0.0 && largest.is_finite();
        self.q_scale = if in_range { largest.log2().round().exp2() } else { 1.0 };
        for q in &mut self.q {
            *q /= self.q_scale;
        }
    }

    /// The unknowns of the problem from those of the standard form.
    pub fn read_back(&mut self, problem: &Problem, a: &[f64], z: &mut [f64]) {
        for i in 0..z.len() {
            let (lower, upper) = (problem.lower()[i], problem.upper()[i]);
            z[i] = match (lower.is_finite(), upper.is_finite()) {
                (true, _) => lower,
                (false, true) => upper,
                (false, false) => 0.0,
            };
        }
        for (column, (&a, &scale)) in self.columns.iter().zip(a.iter().zip(&self.scale)) {
            if let Column::Variable { index, sign } = *column {
                z[index] += sign * scale * self.q_scale * a;
            }
        }
        // round-off, and the sum lower + (upper − lower), may end outside
        for i in 0..z.len() {
            z[i] = clamp(z[i], problem.lower()[i], problem.upper()[i]);
        }
        if !self.free.is_empty() {
            // z_F = −W_FF⁻¹ (q_F + W_FN z_N)
            let mut right: Vec<f64> = (self.free.iter())
                .map(|&i| -problem.q()[i] - problem.matrix().row_dot(i, z))
                .collect();
            self.factors.solve(&mut right);
            for (&i, z_i) in self.free.iter().zip(right) {
                z[i] = z_i;
            }
        }
    }

    /// Who belongs to the first player, where this is a game: no entries within a player, positive ones between them.
    pub fn players(&self) -> Option<Vec<bool>> {
        let n = self.n;
        let first: Vec<bool> =
            (0..n).map(|j| self.column(j).iter().all(|&(i, _)| i != 0)).collect();
        let count = |player: bool| first.iter().filter(|&&first| first == player).count();
        let (ones, others) = (count(true), count(false));
        let is_game = self.q.iter().all(|&q| q < 0.0)
            && (0..n).all(|j| {
                let column = self.column(j);
                let all = if first[j] { others } else { ones };
                column.len() == all && column.iter().all(|&(i, x)| first[i] != first[j] && x > 0.0)
            });
        (is_game && ones > 0 && others > 0).then_some(first)
    }

    /// Whether `y` proves that there is no solution, equation (2) of `lemke`.
    pub fn is_contradicted_by(&self, y: &[f64]) -> bool {
        // a sum, and the round-off that it may have for all we know
        let product = |terms: &mut dyn Iterator<Item = f64>, eps: f64| {
            let (mut sum, mut size) = (0.0, 0.0);
            for term in terms {
                sum += term;
                size += term.abs();
            }
            (sum, eps * size)
        };
        let (q_y, noise) = product(&mut self.q.iter().zip(y).map(|(q, y)| q * y), 1e-9);
        q_y < -noise
            && (0..self.n).all(|j| {
                let column = self.column(j);
                let (M_y, noise) = product(&mut column.iter().map(|&(i, x)| x * y[i]), 1e-11);
                // the other sign would serve a free unknown as well
                M_y <= noise && (!self.is_free[j] || M_y >= -noise)
            })
    }

    /// The mode of the problem that a complementary basis of the standard form stands for.
    pub fn mode(&mut self, problem: &Problem, basis: &[usize]) -> &[Side] {
        let n = self.n;
        self.basic.clear();
        self.basic.resize(n, false);
        for &column in basis {
            if column > n && column <= 2 * n {
                self.basic[column - n - 1] = true;
            }
        }
        self.mode.clear();
        self.mode.resize(problem.len(), Side::Lower);
        for i in 0..problem.len() {
            let (lower, upper) = (problem.lower()[i], problem.upper()[i]);
            if !lower.is_finite() {
                // at the bound it was shifted to, or free
                self.mode[i] = allowed(Side::Upper, lower, upper);
            }
        }
        for (k, column) in self.columns.iter().enumerate() {
            match *column {
                Column::Variable { index, .. } if self.basic[k] => self.mode[index] = Side::Basic,
                Column::Slack { of, .. } if self.basic[k] => {
                    if let Column::Variable { index, .. } = self.columns[of] {
                        self.mode[index] = Side::Upper;
                    }
                }
                _ => {}
            }
        }
        &self.mode
    }
}
