//! Lemke's method with the lexicographic rule.
//!
//! The problem is first written as one with `z ≥ 0` only: a bound is shifted to zero
//! (`z = l + a` or `z = u − a`), an unknown with two bounds gets the second as a row
//! `0 ≤ s ⟂ u − l − a ≥ 0`, free unknowns are eliminated (or written `z = a − b` where that
//! is impossible). Rows and columns are scaled. Then, with an artificial unknown `z₀`:
//!
//! ```text
//! w = M z + q + d z₀,   0 ≤ w ⟂ z ≥ 0,   d = (1, …, 1) first                         (1)
//! ```
//!
//! starts at a large `z₀` and pivots along the almost complementary path until `z₀` leaves the
//! basis (solved) or the path ends on a ray. The inverse of the basis `B` is kept, changed by a
//! term of rank one a pivot, and computed afresh where it drifts. Ties of the ratio test are broken by the rows of
//! `[B⁻¹ q, B⁻¹]` in lexicographic order, so that no basis comes twice. The `z`-part `y ≥ 0` of
//! a ray is checked as a proof (Farkas) that nothing satisfies the inequalities of the problem:
//!
//! ```text
//! Mᵀ y ≤ 0,  qᵀ y < 0   ⇒   yᵀ (M z + q) < 0 for every z ≥ 0, so M z + q ≥ 0 for none     (2)
//! ```
//!
//! It always is one where `M` is positive semidefinite (or copositive-plus). Otherwise the ray
//! says nothing, and other covering vectors `d` are tried. A solution of the problem is one of (1) with `z₀ = 0`, however its bounds and
//! free unknowns were rewritten, so (2) excludes it.
//! Reference: Cottle, Pang, Stone, *The Linear Complementarity Problem*, 1992, §4.4, §4.9.

use super::proximal::Proximal;
use super::unsupported;
use crate::methods::Pivoting;
use crate::mode::{Side, allowed};
use crate::residual::residual;
use crate::sets::clamp;
use crate::{LemkeSettings, NumericsError, PivotingSettings, Problem, Report, Status};
use saltus_linalg::{DenseLu, Matrix, vector};

/// A difference this small beside its terms is zero.
const CANCELLED: f64 = 64.0 * f64::EPSILON;

/// Pivots between two looks at the drift of the basis, and the drift, relative to `q` and `x`,
/// at which it is inverted afresh: late, because what the inversion does to zeros costs the
/// lexicographic rule its order, and what has drifted is mended in the end.
const CHECK: usize = 50;
const DRIFT: f64 = 1e-3;

/// Pivots below this share of their column are round-off: a stack of contacts with more contacts
/// than freedom has many.
const PIVOT: f64 = 1e-9;

/// Changes of mode that mending may take.
const MENDING: usize = 100;

/// Covering vectors that are tried before a ray is the last word.
const COVERINGS: usize = 4;

/// A difference this small is zero after the elimination of the free unknowns.
const ELIMINATED: f64 = 1e-13;

/// Lemke's method and the buffers it keeps between calls.
#[derive(Debug)]
pub struct Lemke {
    settings: LemkeSettings,
    form: StandardForm,
    basis: Basis,
    polish: Pivoting,
    mend: Proximal,
    coarse: Vec<f64>,
}

impl Lemke {
    /// The method with these settings.
    pub fn new(settings: LemkeSettings) -> Self {
        let polish = PivotingSettings { tol: settings.tol, max_iter: 20, cache: 1 };
        Lemke {
            form: StandardForm::default(),
            basis: Basis::default(),
            polish: Pivoting::new(polish),
            mend: Proximal::new(settings.tol),
            settings,
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
        if !problem.is_boxed() || !problem.matrix().is_matrix() {
            return Err(unsupported("lemke", problem));
        }
        self.form.build(problem);
        let (status, iterations) = self.follow();
        self.form.read_back(problem, &self.basis.z, z);

        // the path names the mode; solving that mode afresh removes the round-off of the path
        let mut check = residual(problem, z, w);
        self.polish.forget();
        if status == Status::Solved {
            self.polish.start_from(self.form.mode(problem, &self.basis.basic).iter().copied());
            self.coarse.clear();
            self.coarse.extend_from_slice(z);
            let polished = self.polish.solve(problem, z, w)?;
            if polished.residual <= check.value {
                (check.value, check.worst) = (polished.residual, polished.worst);
            } else {
                z.copy_from_slice(&self.coarse);
                check = residual(problem, z, w);
            }
            // a singular mode: what has drifted is mended by proximal steps
            if !(check.value <= self.settings.tol) {
                self.coarse.copy_from_slice(z);
                self.mend.forget();
                let mended = self.mend.solve(problem, z, w, MENDING);
                if mended.residual <= check.value {
                    (check.value, check.worst) = (mended.residual, mended.worst);
                } else {
                    z.copy_from_slice(&self.coarse);
                    check = residual(problem, z, w);
                }
            }
        }
        let status = match status {
            _ if check.value <= self.settings.tol => Status::Solved,
            Status::Solved => Status::Diverged,
            Status::Ray if inequalities_are_contradictory(problem)? => Status::Infeasible,
            status => status,
        };
        let (residual, worst) = (check.value, check.worst);
        Ok(Report { status, iterations, residual, worst, method: "lemke" })
    }

    /// The path, or another one where it ends on a ray that proves nothing.
    fn follow(&mut self) -> (Status, usize) {
        let mut iterations = 0;
        for covering in 0..COVERINGS {
            let left = self.settings.max_iter - iterations;
            let (status, pivots) = self.basis.run(&self.form, covering, left);
            iterations += pivots;
            if status != Status::Ray {
                return (status, iterations);
            }
            if self.form.is_contradicted_by(&self.basis.ray) {
                return (Status::Infeasible, iterations);
            }
            // every covering vector leads to the same ray in a game
            if let Some(first) = self.form.players() {
                let left = self.settings.max_iter - iterations;
                let (status, pivots) = self.basis.play(&self.form, &first, left);
                return (status, iterations + pivots);
            }
        }
        (Status::Ray, iterations)
    }

    /// The mode of the last answer; empty if it has none that is regular.
    pub(crate) fn mode(&self) -> &[Side] {
        self.polish.mode()
    }
}

/// Whether no `z` within its bounds satisfies even the inequalities of the problem,
///
/// ```text
/// w = 0 (free),   w ≥ 0 (no upper bound),   w ≤ 0 (no lower bound),      w = A z + q
/// ```
///
/// With multipliers `y` of these rows that is a monotone problem, `[0 −Aᵀ; A 0]`, in which a ray
/// is a proof.
fn inequalities_are_contradictory(problem: &Problem) -> Result<bool, NumericsError> {
    let n = problem.len();
    let (mut lower, mut upper) = (problem.lower().to_vec(), problem.upper().to_vec());
    let (mut q, mut rows) = (vec![0.0; n], Vec::new());
    for i in 0..n {
        let (below, above) = (lower[i].is_finite(), upper[i].is_finite());
        if !(below && above) {
            rows.push(i);
            q.push(problem.q()[i]);
            lower.push(if below { 0.0 } else { f64::NEG_INFINITY });
            upper.push(if above { 0.0 } else { f64::INFINITY });
        }
    }
    let mut skew = Matrix::zeros(n + rows.len(), n + rows.len());
    for (r, &i) in rows.iter().enumerate() {
        for j in 0..n {
            let a = problem.matrix().get(i, j);
            (skew[(n + r, j)], skew[(j, n + r)]) = (a, -a);
        }
    }
    let mut form = StandardForm::default();
    form.build(&Problem::boxed(skew, q, &lower, &upper)?);
    let mut basis = Basis::default();
    let (status, _) = basis.run(&form, 0, 10 * (n + rows.len()));
    Ok(status == Status::Ray && form.is_contradicted_by(&basis.ray))
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

    /// Who belongs to the first player, where this is a game, equation (3).
    fn players(&self) -> Option<Vec<bool>> {
        let n = self.n;
        let first: Vec<bool> = (0..n).map(|j| self.M[(0, j)] == 0.0).collect();
        let is_game = (0..n).all(|i| {
            self.q[i] < 0.0
                && (0..n).all(|j| match first[i] == first[j] {
                    true => self.M[(i, j)] == 0.0,
                    false => self.M[(i, j)] > 0.0,
                })
        });
        let both = first.contains(&true) && first.contains(&false);
        (is_game && both).then_some(first)
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

/// The basis, by its inverse: columns are numbered `w` 1 … n, `z` n + 1 … 2n, `z₀` 2n + 1.
///
/// A pivot costs one product with the column that enters and one update of rank one, both only
/// where there is something else than zero.
#[derive(Debug, Default)]
struct Basis {
    n: usize,
    inverse: Vec<f64>, // B⁻¹, row by row
    x: Vec<f64>,       // B⁻¹ q
    basic: Vec<usize>, // column that is basic in each row
    start: Vec<usize>, // where each column of −M begins in `entries`
    entries: Vec<(usize, f64)>,
    cover: Vec<f64>,     // d
    entering: Vec<f64>,  // B⁻¹ times the column that enters
    row: Vec<f64>,       // of the pivot
    nonzero: Vec<usize>, // in that row
    drift: Vec<f64>,     // q − B x
    factors: DenseLu,    // of B, where it drifts
    z: Vec<f64>,
    ray: Vec<f64>, // the z-part of the ray on which the path ended
}

impl Basis {
    /// Follows the path from the covering vector of that number.
    fn run(&mut self, form: &StandardForm, covering: usize, max_iter: usize) -> (Status, usize) {
        let n = form.n;
        self.load(form, covering);
        let z0 = 2 * n + 1;

        // no artificial unknown needed: w = q, z = 0
        let Some(mut row) = self.lexicographic_minimum() else {
            return (Status::Solved, 0);
        };
        let mut entering = z0;
        self.enter(entering);
        let mut iterations = 0;
        let status = loop {
            if iterations == max_iter {
                break Status::MaxIter;
            }
            iterations += 1;
            let leaving = self.basic[row];
            self.pivot(row, entering);
            if iterations % CHECK == 0 {
                self.correct_drift(form);
            }
            if leaving == z0 {
                break Status::Solved;
            }
            // the complement of what left enters
            entering = if leaving <= n { leaving + n } else { leaving - n };
            self.enter(entering);
            match self.ratio_test(z0) {
                Some(next) => row = next,
                None => {
                    self.read_ray(entering);
                    break Status::Ray;
                }
            }
        };
        self.read_answer();
        (status, iterations)
    }

    /// The path of Lemke and Howson: all pairs but the first are complementary, and it ends
    /// where that one is.
    fn play(&mut self, form: &StandardForm, first: &[bool], max_iter: usize) -> (Status, usize) {
        let n = form.n;
        self.load(form, 0);
        let z = |i: usize| n + 1 + i;
        let Some(chosen) = first.iter().position(|&first| first) else {
            return (Status::Ray, 0);
        };
        // an answer of the second player to the choice of the first, and of the first to that
        self.enter(z(chosen));
        let Some(answer) = self.largest_ratio(|i| !first[i]) else { return (Status::Ray, 0) };
        self.pivot(answer, z(chosen));
        self.enter(z(answer));
        let Some(row) = self.largest_ratio(|i| first[i]) else { return (Status::Ray, 1) };
        self.pivot(row, z(answer));

        let (mut leaving, mut iterations) = (1 + row, 2);
        let status = loop {
            if leaving == 1 + chosen || leaving == z(chosen) {
                break Status::Solved;
            }
            if iterations >= max_iter {
                break Status::MaxIter;
            }
            iterations += 1;
            let entering = if leaving <= n { leaving + n } else { leaving - n };
            self.enter(entering);
            let Some(row) = self.ratio_test(2 * n + 1) else { break Status::Ray };
            leaving = self.basic[row];
            self.pivot(row, entering);
        };
        self.read_answer();
        (status, iterations)
    }

    /// The row, of some, in which the entering unknown must be largest for `x ≥ 0`.
    fn largest_ratio(&self, among: impl Fn(usize) -> bool) -> Option<usize> {
        let a = &self.entering;
        let mut largest: Option<usize> = None;
        for i in (0..self.n).filter(|&i| among(i) && a[i] < 0.0) {
            if largest.is_none_or(|j| self.less(j, a[j], i, a[i])) {
                largest = Some(i);
            }
        }
        largest
    }

    /// The unknowns in the basis.
    fn read_answer(&mut self) {
        let n = self.n;
        self.z.fill(0.0);
        for (row, &column) in self.basic.iter().enumerate() {
            if column > n && column <= 2 * n {
                self.z[column - n - 1] = self.x[row];
            }
        }
    }

    /// `w = q` as the basis, and the columns of `−M`.
    fn load(&mut self, form: &StandardForm, covering: usize) {
        let n = form.n;
        self.n = n;
        self.inverse.clear();
        self.inverse.resize(n * n, 0.0);
        for i in 0..n {
            self.inverse[i * n + i] = 1.0;
        }
        self.x.clone_from(&form.q);
        self.basic.clear();
        self.basic.extend(1..=n);
        if covering == 0 {
            self.start.clear();
            self.entries.clear();
            for j in 0..n {
                self.start.push(self.entries.len());
                let column = (0..n).map(|i| (i, -form.M[(i, j)]));
                self.entries.extend(column.filter(|(_, x)| *x != 0.0));
            }
            self.start.push(self.entries.len());
        }
        self.cover.clear();
        self.cover.extend((0..n).map(|i| match covering {
            0 => 1.0,
            // any positive vector will do; these have no two entries in a simple ratio
            k => 0.5 + ((1 + i) as f64 * (k as f64).sqrt() * 0.618_033_988_749_895).fract(),
        }));
        for buffer in [&mut self.entering, &mut self.row, &mut self.z] {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
    }

    /// `B⁻¹` times a column, with zeros where it is but round-off.
    fn enter(&mut self, column: usize) {
        let n = self.n;
        for (i, row) in self.inverse.chunks_exact(n.max(1)).enumerate() {
            let mut sum = 0.0;
            if column <= n {
                sum = row[column - 1];
            } else {
                let mut size = 0.0;
                let mut add = |term: f64| {
                    sum += term;
                    size += term.abs();
                };
                if column <= 2 * n {
                    let column = column - n - 1;
                    let entries = &self.entries[self.start[column]..self.start[column + 1]];
                    entries.iter().for_each(|&(j, a)| add(row[j] * a));
                } else {
                    row.iter().zip(&self.cover).for_each(|(b, d)| add(-b * d));
                }
                // scaling must not make an order of what is left of a zero
                if sum.abs() <= CANCELLED * size {
                    sum = 0.0;
                }
            }
            self.entering[i] = sum;
        }
    }

    /// Along the ray the entering unknown grows by 1, the basic ones by `−(B⁻¹ a)ᵢ`.
    fn read_ray(&mut self, entering: usize) {
        let n = self.n;
        self.ray.clear();
        self.ray.resize(n, 0.0);
        for (row, &column) in self.basic.iter().enumerate() {
            if column > n && column <= 2 * n {
                self.ray[column - n - 1] = (-self.entering[row]).max(0.0);
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

    /// The lexicographically least row of `[q, B⁻¹]ᵢ / dᵢ`, if any `q` is negative: `z₀` enters
    /// there.
    fn lexicographic_minimum(&self) -> Option<usize> {
        let mut least: Option<usize> = None;
        for i in 0..self.n {
            let better = |j: usize| self.less(i, self.cover[i], j, self.cover[j]);
            if self.x[i] < 0.0 && least.is_none_or(better) {
                least = Some(i);
            }
        }
        least
    }

    /// The row that leaves: least `[B⁻¹ q, B⁻¹]ᵢ / (B⁻¹ a)ᵢ` over positive `(B⁻¹ a)ᵢ`; `z₀` wins
    /// every tie of the first entry, so that the path ends as soon as it can.
    fn ratio_test(&self, z0: usize) -> Option<usize> {
        let a = &self.entering;
        let zero = PIVOT * vector::norm_inf(a).max(1e-5);
        let mut least: Option<usize> = None;
        for i in 0..self.n {
            if a[i] > zero && least.is_none_or(|j| self.less(i, a[i], j, a[j])) {
                least = Some(i);
            }
        }
        let least = least?;
        if let Some(z0_row) = self.basic.iter().position(|&column| column == z0)
            && a[z0_row] > zero
        {
            let ratio = |i: usize| self.x[i] / a[i];
            if ratio(z0_row) <= ratio(least) + 1e-14 * (1.0 + ratio(least).abs()) {
                return Some(z0_row);
            }
        }
        Some(least)
    }

    /// Whether `[B⁻¹ q, B⁻¹]ᵢ / a` comes before `[B⁻¹ q, B⁻¹]ⱼ / b`.
    fn less(&self, i: usize, a: f64, j: usize, b: f64) -> bool {
        let n = self.n;
        let differ = |x: f64, y: f64| (x - y).abs() > 1e-13 * (x.abs() + y.abs());
        let (x, y) = (self.x[i] / a, self.x[j] / b);
        if differ(x, y) {
            return x < y;
        }
        let rows = (&self.inverse[i * n..(i + 1) * n], &self.inverse[j * n..(j + 1) * n]);
        for (&x, &y) in rows.0.iter().zip(rows.1) {
            if x == 0.0 && y == 0.0 {
                continue;
            }
            let (x, y) = (x / a, y / b);
            if differ(x, y) {
                return x < y;
            }
        }
        false
    }

    /// Exchanges the basic column of a row for the one that enters.
    fn pivot(&mut self, row: usize, column: usize) {
        let n = self.n;
        let pivot = self.entering[row];
        self.x[row] /= pivot;
        let x_row = self.x[row];
        self.nonzero.clear();
        for (j, x) in self.inverse[row * n..(row + 1) * n].iter_mut().enumerate() {
            if *x != 0.0 {
                *x /= pivot;
                self.nonzero.push(j);
            }
            self.row[j] = *x;
        }
        let few = 4 * self.nonzero.len() < n;
        // what is left of a difference of equal numbers is round-off: the lexicographic rule
        // would take it for an order
        let difference = |x: f64, y: f64| {
            let new = x - y;
            if new.abs() <= CANCELLED * x.abs() { 0.0 } else { new }
        };
        for i in (0..n).filter(|&i| i != row) {
            let factor = self.entering[i];
            if factor == 0.0 {
                continue;
            }
            self.x[i] = difference(self.x[i], factor * x_row);
            let target = &mut self.inverse[i * n..(i + 1) * n];
            if few {
                for &j in &self.nonzero {
                    target[j] = difference(target[j], factor * self.row[j]);
                }
            } else {
                for (x, &source) in target.iter_mut().zip(&self.row) {
                    *x = difference(*x, factor * source);
                }
            }
        }
        self.basic[row] = column;
    }

    /// Inverts the basis afresh where `B x` is no longer `q`.
    #[cold]
    fn correct_drift(&mut self, form: &StandardForm) {
        let n = self.n;
        self.drift.clone_from(&form.q);
        for (k, &column) in self.basic.iter().enumerate() {
            let x = self.x[k];
            if column <= n {
                self.drift[column - 1] -= x;
            } else if column <= 2 * n {
                let column = column - n - 1;
                let entries = &self.entries[self.start[column]..self.start[column + 1]];
                entries.iter().for_each(|&(i, a)| self.drift[i] -= a * x);
            } else {
                vector::axpy(x, &self.cover, &mut self.drift);
            }
        }
        let size = vector::norm_inf(&form.q) + vector::norm_inf(&self.x);
        if vector::norm_inf(&self.drift) <= DRIFT * size {
            return;
        }
        let mut B = Matrix::zeros(n, n);
        for (k, &column) in self.basic.iter().enumerate() {
            if column <= n {
                B[(column - 1, k)] = 1.0;
            } else if column <= 2 * n {
                let column = column - n - 1;
                let entries = &self.entries[self.start[column]..self.start[column + 1]];
                entries.iter().for_each(|&(i, a)| B[(i, k)] = a);
            } else {
                (0..n).for_each(|i| B[(i, k)] = -self.cover[i]);
            }
        }
        // a basis that looks singular keeps what it has; the answer is verified anyway
        if self.factors.factor(&B).is_ok() {
            let inverse = self.factors.solve_matrix(&Matrix::identity(n));
            self.inverse.copy_from_slice(inverse.data());
            self.x.copy_from_slice(&form.q);
            self.factors.solve(&mut self.x);
            // zeros are to be zeros again, for the lexicographic rule
            self.inverse.chunks_exact_mut(n).for_each(|row| drop_noise(row, 1e-13));
            drop_noise(&mut self.x, 1e-13);
        }
    }
}

/// Zeros where there is next to nothing beside the largest entry.
fn drop_noise(x: &mut [f64], share: f64) {
    let noise = share * vector::norm_inf(x);
    for x in x.iter_mut().filter(|x| x.abs() <= noise) {
        *x = 0.0;
    }
}
