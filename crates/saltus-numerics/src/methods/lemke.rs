//! Lemke's method with the lexicographic rule.
//!
//! The problem is first written as one with `z ≥ 0` only: a bound is shifted to zero
//! (`z = l + a` or `z = u − a`), an unknown with two bounds gets the second as a row
//! `0 ≤ s ⟂ u − l − a ≥ 0`, free unknowns are eliminated (or written `z = a − b` where that
//! is impossible). Rows and columns are scaled. Then, with an artificial unknown `z₀`:
//!
//! ```text
//! w = M z + q + d z₀,   0 ≤ w ⟂ z ≥ 0,   d = (1, …, 1)                               (1)
//! ```
//!
//! starts at a large `z₀` and pivots along the almost complementary path until `z₀` leaves the
//! basis (solved) or the path ends on a ray. Ties of the ratio test are broken by the rows of
//! `[B⁻¹ q, B⁻¹]` in lexicographic order, so that no basis comes twice. The `z`-part `y ≥ 0` of
//! a ray is checked as a proof (Farkas) that nothing satisfies the inequalities of the problem:
//!
//! ```text
//! Mᵀ y ≤ 0,  qᵀ y < 0   ⇒   yᵀ (M z + q) < 0 for every z ≥ 0, so M z + q ≥ 0 for none     (2)
//! ```
//!
//! It always is one where `M` is positive semidefinite (or copositive-plus). Otherwise the ray
//! says nothing. A solution of the problem is one of (1) with `z₀ = 0`, however its bounds and
//! free unknowns were rewritten, so (2) excludes it.
//! Reference: Cottle, Pang, Stone, *The Linear Complementarity Problem*, 1992, §4.4, §4.9.

use crate::methods::Pivoting;
use crate::mode::{Side, allowed};
use crate::residual::residual;
use crate::sets::clamp;
use crate::{LemkeSettings, NumericsError, PivotingSettings, Problem, Report, Status};
use saltus_linalg::{DenseLu, Matrix, vector};

/// A difference this small beside its terms is zero.
const CANCELLED: f64 = 64.0 * f64::EPSILON;

/// The same after the elimination of the free unknowns, a system of equations.
const ELIMINATED: f64 = 1e-13;

/// Lemke's method and the buffers it keeps between calls.
#[derive(Debug)]
pub struct Lemke {
    settings: LemkeSettings,
    form: StandardForm,
    tableau: Tableau,
    polish: Pivoting,
    coarse: Vec<f64>,
}

impl Lemke {
    /// The method with these settings.
    pub fn new(settings: LemkeSettings) -> Self {
        let polish = PivotingSettings { tol: settings.tol, max_iter: 20, cache: 1 };
        Lemke {
            settings,
            form: StandardForm::default(),
            tableau: Tableau::default(),
            polish: Pivoting::new(polish),
            coarse: Vec::new(),
        }
    }

    /// Solves the problem (the guess in `z` plays no part); leaves the answer in `z` and
    /// `w = W z + q`.
    pub fn solve(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        self.form.build(problem);
        let (status, iterations) = self.tableau.run(&self.form, self.settings.max_iter);
        self.form.read_back(problem, &self.tableau.z, z);

        // the path names the mode; solving that mode afresh removes the round-off of the path
        let mut check = residual(problem, z, w);
        self.polish.forget();
        if status == Status::Solved {
            self.polish.start_from(self.form.mode(problem, &self.tableau.basis).iter().copied());
            self.coarse.clear();
            self.coarse.extend_from_slice(z);
            let polished = self.polish.solve(problem, z, w)?;
            if polished.residual <= check.value {
                (check.value, check.worst) = (polished.residual, polished.worst);
            } else {
                z.copy_from_slice(&self.coarse);
                check = residual(problem, z, w);
            }
        }
        let status = match status {
            _ if check.value <= self.settings.tol => Status::Solved,
            Status::Solved => Status::Diverged,
            Status::Ray if self.form.is_contradicted_by(&self.tableau.ray) => Status::Infeasible,
            status => status,
        };
        let (residual, worst) = (check.value, check.worst);
        Ok(Report { status, iterations, residual, worst, method: "lemke" })
    }

    /// The mode of the last answer; empty if it has none that is regular.
    pub(crate) fn mode(&self) -> &[Side] {
        self.polish.mode()
    }
}

/// The problem with `z ≥ 0` only: `w = M z + q`.
#[derive(Debug, Default)]
struct StandardForm {
    n: usize,
    M: Matrix,
    q: Vec<f64>,
    columns: Vec<Column>,
    scale: Vec<f64>,  // of each new unknown
    q_scale: f64,     // of q, and so of all unknowns
    free: Vec<usize>, // eliminated unknowns
    factors: DenseLu, // of W_FF
    basic: Vec<bool>, // unknowns in the basis
    mode: Vec<Side>,  // of the problem
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
    fn build(&mut self, problem: &Problem) {
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

        // the nonnegative unknowns, and where each starts
        self.columns.clear();
        let mut start = vec![0.0; n];
        let mut slacks = Vec::new();
        for i in 0..n {
            if is_free(i) {
                if !eliminated {
                    self.columns.push(Column::Variable { index: i, sign: 1.0 });
                    self.columns.push(Column::Variable { index: i, sign: -1.0 });
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

        // M and q of the nonnegative unknowns
        let size = self.columns.len();
        self.n = size;
        self.M.reset(size, size);
        self.q.clear();
        for r in 0..size {
            match self.columns[r] {
                Column::Variable { index, sign } => {
                    self.q.push(sign * (q[index] + vector::dot(S.row(index), &start)));
                    for c in 0..size {
                        self.M[(r, c)] = match self.columns[c] {
                            Column::Variable { index: j, sign: s } => sign * S[(index, j)] * s,
                            Column::Slack { of, .. } => f64::from(of == r),
                        };
                    }
                }
                Column::Slack { of, width } => {
                    self.q.push(width);
                    self.M[(r, of)] = -1.0;
                }
            }
        }
        self.equilibrate();
    }

    /// Scales `M ← R M R` and `q ← R q / ‖R q‖`, so that definiteness is kept.
    fn equilibrate(&mut self) {
        let n = self.n;
        self.scale.clear();
        self.scale.resize(n, 1.0);
        for _ in 0..3 {
            for i in 0..n {
                let mut largest = 0.0f64;
                for j in 0..n {
                    largest = largest.max(self.M[(i, j)].abs()).max(self.M[(j, i)].abs());
                }
                if largest > 0.0 && largest.is_finite() {
                    // a power of two: scaling is exact
                    let factor = (-0.5 * largest.log2()).round().exp2();
                    self.scale[i] *= factor;
                    for j in 0..n {
                        self.M[(i, j)] *= factor;
                        self.M[(j, i)] *= factor;
                    }
                    self.q[i] *= factor;
                }
            }
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
    fn read_back(&mut self, problem: &Problem, a: &[f64], z: &mut [f64]) {
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

    /// Whether `y` proves that there is no solution, equation (2).
    fn is_contradicted_by(&self, y: &[f64]) -> bool {
        let n = self.n;
        // a sum, and the round-off that it may have for all we know
        let product = |column: &dyn Fn(usize) -> f64, eps: f64| {
            let (mut sum, mut size) = (0.0, 0.0);
            for i in 0..n {
                let term = column(i) * y[i];
                sum += term;
                size += term.abs();
            }
            (sum, eps * size)
        };
        let (q_y, noise) = product(&|i| self.q[i], 1e-9);
        q_y < -noise
            && (0..n).all(|j| {
                let (M_y, noise) = product(&|i| self.M[(i, j)], 1e-11);
                M_y <= noise
            })
    }

    /// The mode of the problem that a complementary basis of the standard form stands for.
    fn mode(&mut self, problem: &Problem, basis: &[usize]) -> &[Side] {
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

/// The tableau `B⁻¹ [q, I, −M, −d]`: columns right-hand side, w, z, z₀.
#[derive(Debug, Default)]
struct Tableau {
    T: Matrix,
    basis: Vec<usize>, // column that is basic in each row
    z: Vec<f64>,
    ray: Vec<f64>, // the z-part of the ray on which the path ended
}

impl Tableau {
    fn run(&mut self, form: &StandardForm, max_iter: usize) -> (Status, usize) {
        let n = form.n;
        self.load(form);
        let z0 = 2 * n + 1;

        // no artificial unknown needed: w = q, z = 0
        let Some(mut row) = self.lexicographic_minimum(n) else {
            return (Status::Solved, 0);
        };
        let mut entering = z0;
        let mut iterations = 0;
        let status = loop {
            if iterations == max_iter {
                break Status::MaxIter;
            }
            iterations += 1;
            let leaving = self.basis[row];
            self.pivot(row, entering);
            if leaving == z0 {
                break Status::Solved;
            }
            // the complement of what left enters
            entering = if leaving <= n { leaving + n } else { leaving - n };
            match self.ratio_test(entering, z0, n) {
                Some(next) => row = next,
                None => {
                    self.read_ray(entering, n);
                    break Status::Ray;
                }
            }
        };
        for (row, &column) in self.basis.iter().enumerate() {
            if column > n && column < z0 {
                self.z[column - n - 1] = self.T[(row, 0)];
            }
        }
        (status, iterations)
    }

    /// Along the ray the entering unknown grows by 1, the basic ones by `−Tᵢ`.
    fn read_ray(&mut self, entering: usize, n: usize) {
        self.ray.clear();
        self.ray.resize(n, 0.0);
        for (row, &column) in self.basis.iter().enumerate() {
            if column > n && column <= 2 * n {
                self.ray[column - n - 1] = (-self.T[(row, entering)]).max(0.0);
            }
        }
        if entering > n {
            self.ray[entering - n - 1] = 1.0;
        }
        // any y ≥ 0 may serve as a proof, and one without round-off is the better one
        let noise = 1e-11 * vector::norm_inf(&self.ray);
        for y in self.ray.iter_mut().filter(|y| **y <= noise) {
            *y = 0.0;
        }
    }

    fn load(&mut self, form: &StandardForm) {
        let n = form.n;
        self.T.reset(n, 2 * n + 2);
        self.basis.clear();
        for i in 0..n {
            self.T[(i, 0)] = form.q[i];
            self.T[(i, 1 + i)] = 1.0;
            for j in 0..n {
                self.T[(i, 1 + n + j)] = -form.M[(i, j)];
            }
            self.T[(i, 2 * n + 1)] = -1.0;
            self.basis.push(1 + i);
        }
        self.z.clear();
        self.z.resize(n, 0.0);
    }

    /// The lexicographically least row of `[q, B⁻¹]`, if any `q` is negative: `z₀` enters there.
    fn lexicographic_minimum(&self, n: usize) -> Option<usize> {
        let mut least = None;
        for i in 0..n {
            if self.T[(i, 0)] < 0.0 && least.is_none_or(|j| self.less(i, 1.0, j, 1.0, n)) {
                least = Some(i);
            }
        }
        least
    }

    /// The row that leaves: least `[q, B⁻¹]ᵢ / Tᵢ` over positive `Tᵢ`; `z₀` wins every tie of
    /// the first entry, so that the path ends as soon as it can.
    fn ratio_test(&self, entering: usize, z0: usize, n: usize) -> Option<usize> {
        let mut largest = 0.0f64;
        for i in 0..n {
            largest = largest.max(self.T[(i, entering)].abs());
        }
        let zero = 1e-11 * largest.max(1e-3);
        let mut least: Option<usize> = None;
        for i in 0..n {
            let pivot = self.T[(i, entering)];
            if pivot > zero {
                let better = least.is_none_or(|j| self.less(i, pivot, j, self.T[(j, entering)], n));
                if better {
                    least = Some(i);
                }
            }
        }
        let least = least?;
        let z0_row = self.basis.iter().position(|&column| column == z0)?;
        let pivot = self.T[(z0_row, entering)];
        if pivot > zero {
            let ratio = |i: usize| self.T[(i, 0)] / self.T[(i, entering)];
            if ratio(z0_row) <= ratio(least) + 1e-14 * (1.0 + ratio(least).abs()) {
                return Some(z0_row);
            }
        }
        Some(least)
    }

    /// Whether `[q, B⁻¹]ᵢ / a` comes before `[q, B⁻¹]ⱼ / b`.
    fn less(&self, i: usize, a: f64, j: usize, b: f64, n: usize) -> bool {
        for column in 0..=n {
            let (x, y) = (self.T[(i, column)] / a, self.T[(j, column)] / b);
            if (x - y).abs() > 1e-13 * (x.abs() + y.abs()) {
                return x < y;
            }
        }
        false
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let (n, width) = (self.T.rows(), self.T.cols());
        let data = self.T.data_mut();
        let pivot = data[row * width + column];
        for x in &mut data[row * width..(row + 1) * width] {
            *x /= pivot;
        }
        for i in (0..n).filter(|&i| i != row) {
            let factor = data[i * width + column];
            if factor != 0.0 {
                let (source, target) = if i < row {
                    let (head, tail) = data.split_at_mut(row * width);
                    (&tail[..width], &mut head[i * width..(i + 1) * width])
                } else {
                    let (head, tail) = data.split_at_mut(i * width);
                    (&head[row * width..(row + 1) * width], &mut tail[..width])
                };
                for (x, &source) in target.iter_mut().zip(source) {
                    // what is left of a difference of equal numbers is round-off: the
                    // lexicographic rule would take it for an order
                    let new = *x - factor * source;
                    *x = if new.abs() <= CANCELLED * x.abs() { 0.0 } else { new };
                }
                target[column] = 0.0;
            }
        }
        self.basis[row] = column;
    }
}
