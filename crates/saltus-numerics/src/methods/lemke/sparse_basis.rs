//! The basis of Lemke's method by sparse factors and their updates.
//!
//! The columns of `w` in the basis are unit vectors. Without them and their rows a kernel is left, as many rows
//! `R` as there are columns `Z` of `−M` and `−d` in the basis, of which there are sparse LU factors:
//!
//! ```text
//! B₀ x = b:    K x_Z = b_R,   x_W = b_W − B_WZ x_Z,      K = B_RZ                          (1)
//! ```
//!
//! A pivot exchanges one column, which multiplies the basis from the right by a matrix that is one but for
//! a column `η = B⁻¹ a` (product form):
//!
//! ```text
//! B = B₀ E₁ E₂ …,     E⁻¹ x:   x_r ← x_r / η_r,   xᵢ ← xᵢ − ηᵢ x_r                          (2)
//! ```
//!
//! and after `UPDATES` of them the basis is factored afresh. Rows of `B⁻¹`, which the lexicographic rule of
//! dense bases compares, are not at hand; instead `q + ε p` takes the place of `q`, with an infinitely small `ε`
//! and a positive vector `p` without simple ratios: ties of `B⁻¹ q` are broken by `B⁻¹ p`.

use super::path::{Tableau, covering_vector, follow, is_round_off, read_ray, spread};
use super::standard_form::StandardForm;
use crate::Status;
use saltus_linalg::{Sparse, SparseFactor, vector};

/// Pivots between two factorizations.
const UPDATES: usize = 50;
/// Entries of a column that enters below this share of the largest are round-off, and so is a basic
/// unknown below this share of the largest after a factorization.
const NOISE: f64 = 1e-14;
/// A difference this small beside its terms is zero.
const CANCELLED: f64 = 64.0 * f64::EPSILON;
/// Ratios that differ by less are equal.
const TIE: f64 = 1e-12;

/// The basis; columns are numbered as in `path`.
#[derive(Debug, Default)]
pub(super) struct SparseBasis {
    pub basic: Vec<usize>, // column that is basic in each row
    x: Vec<f64>,           // B⁻¹ q
    y: Vec<f64>,           // B⁻¹ p
    p: Vec<f64>,
    cover: Vec<f64>,    // d
    entering: Vec<f64>, // B⁻¹ times the column that enters
    is_free: Vec<bool>, // rows in which a free unknown is basic
    kernel: Kernel,
    etas: Etas,
    work: Vec<f64>,
    pub z: Vec<f64>,
    pub ray: Vec<f64>, // the z-part of the ray on which the path ended
}

/// The kernel of (1), as of the last factorization.
#[derive(Debug, Default)]
struct Kernel {
    factor: Option<SparseFactor>,
    rows: Vec<usize>,           // R: the rows of B
    positions: Vec<usize>,      // where the columns Z stand in the basis
    columns: Vec<usize>,        // their numbers
    units: Vec<(usize, usize)>, // unit columns: their row, and where they stand in the basis
    place: Vec<usize>,          // of each row of B in R
    right: Vec<f64>,
}

/// The updates (2) since then.
#[derive(Debug, Default)]
struct Etas {
    pivots: Vec<(usize, f64)>, // row and value
    starts: Vec<usize>,
    entries: Vec<(usize, f64)>,
}

const NONE: usize = usize::MAX;

impl SparseBasis {
    /// Follows the path from the covering vector of that number; nothing where the equations of the free
    /// unknowns are singular.
    pub fn run(
        &mut self,
        form: &StandardForm,
        covering: usize,
        max_iter: usize,
    ) -> Option<(Status, usize)> {
        if !self.load(form, covering) {
            return None;
        }
        let (status, iterations) = follow(self, form, max_iter);
        self.read_answer(form);
        Some((status, iterations))
    }

    /// `w` of the inequalities and `z` of the equations as the basis.
    fn load(&mut self, form: &StandardForm, covering: usize) -> bool {
        let n = form.n;
        self.basic.clear();
        self.basic.extend((0..n).map(|i| if form.is_free[i] { n + 1 + i } else { 1 + i }));
        self.is_free.clone_from(&form.is_free);
        covering_vector(covering, form, &mut self.cover);
        self.p.clear();
        self.p.extend((0..n).map(|i| if form.is_free[i] { 0.0 } else { spread(i, 1.7) }));
        for buffer in [&mut self.x, &mut self.y, &mut self.entering, &mut self.work, &mut self.z] {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        self.refactor(form)
    }

    /// The unknowns in the basis.
    fn read_answer(&mut self, form: &StandardForm) {
        let n = form.n;
        self.z.fill(0.0);
        for (row, &column) in self.basic.iter().enumerate() {
            if column > n && column <= 2 * n {
                self.z[column - n - 1] = self.x[row];
            }
        }
    }

    /// Factors the basis afresh, and computes `B⁻¹ q` and `B⁻¹ p` with it.
    fn refactor(&mut self, form: &StandardForm) -> bool {
        self.etas.clear();
        if !self.kernel.factor(form, &self.basic, &self.cover) {
            return false;
        }
        self.y.copy_from_slice(&self.p);
        self.kernel.solve(form, &self.cover, &mut self.y, &mut self.work);
        self.x.copy_from_slice(&form.q);
        self.kernel.solve(form, &self.cover, &mut self.x, &mut self.work);
        // once more, for what is left of q
        self.entering.copy_from_slice(&form.q);
        self.kernel.subtract(form, &self.cover, &self.x, &mut self.entering);
        self.kernel.solve(form, &self.cover, &mut self.entering, &mut self.work);
        vector::axpy(1.0, &self.entering, &mut self.x);
        let noise = NOISE * vector::norm_inf(&self.x);
        self.x.iter_mut().filter(|x| x.abs() <= noise).for_each(|x| *x = 0.0);
        vector::all_finite(&self.x) && vector::all_finite(&self.y)
    }

    /// Whether row `i` with the ratio over `a` comes before row `j` with that over `b`.
    fn less(&self, (i, a): (usize, f64), (j, b): (usize, f64)) -> bool {
        let (x, y) = (self.x[i] / a, self.x[j] / b);
        if (x - y).abs() > TIE * (x.abs() + y.abs()) {
            return x < y;
        }
        self.y[i] / a < self.y[j] / b
    }
}

impl Tableau for SparseBasis {
    fn basic(&self) -> &[usize] {
        &self.basic
    }

    fn first_row(&self) -> Option<usize> {
        let d = &self.cover;
        let mut least: Option<usize> = None;
        for i in (0..self.x.len()).filter(|&i| self.x[i] < 0.0 && !self.is_free[i]) {
            if least.is_none_or(|j| self.less((i, d[i]), (j, d[j]))) {
                least = Some(i);
            }
        }
        least
    }

    fn enter(&mut self, form: &StandardForm, column: usize) {
        let n = form.n;
        let a = &mut self.entering;
        a.fill(0.0);
        if column <= n {
            a[column - 1] = 1.0;
        } else if column <= 2 * n {
            form.column(column - n - 1).iter().for_each(|&(i, x)| a[i] = -x);
        } else {
            a.iter_mut().zip(&self.cover).for_each(|(a, d)| *a = -d);
        }
        self.kernel.solve(form, &self.cover, a, &mut self.work);
        self.etas.apply(a);
        let noise = NOISE * vector::norm_inf(a);
        a.iter_mut().filter(|a| a.abs() <= noise).for_each(|a| *a = 0.0);
    }

    fn ratio_test(&self, z0: usize) -> Option<usize> {
        let a = &self.entering;
        let zero = is_round_off(a);
        let mut least: Option<usize> = None;
        let mut z0_row = None;
        for i in (0..a.len()).filter(|&i| a[i] > zero && !self.is_free[i]) {
            if least.is_none_or(|j| self.less((i, a[i]), (j, a[j]))) {
                least = Some(i);
            }
            if self.basic[i] == z0 {
                z0_row = Some(i);
            }
        }
        let least = least?;
        let ratio = |i: usize| self.x[i] / a[i];
        match z0_row {
            Some(row) if ratio(row) <= ratio(least) + TIE * (TIE + ratio(least).abs()) => Some(row),
            _ => Some(least),
        }
    }

    fn pivot(&mut self, row: usize, column: usize) -> bool {
        let pivot = self.entering[row];
        // what is left of a difference of equal numbers is round-off
        let difference = |x: f64, y: f64| {
            let new = x - y;
            if new.abs() <= CANCELLED * x.abs() { 0.0 } else { new }
        };
        let (x_row, y_row) = (self.x[row] / pivot, self.y[row] / pivot);
        self.etas.begin(row, pivot);
        for (i, &a) in self.entering.iter().enumerate() {
            if a != 0.0 && i != row {
                self.x[i] = difference(self.x[i], a * x_row);
                self.y[i] -= a * y_row;
                self.etas.entries.push((i, a));
            }
        }
        (self.x[row], self.y[row]) = (x_row, y_row);
        self.basic[row] = column;
        pivot.is_finite()
    }

    fn refresh(&mut self, form: &StandardForm, pivots: usize) -> bool {
        !pivots.is_multiple_of(UPDATES) || self.refactor(form)
    }

    fn read_ray(&mut self, form: &StandardForm, entering: usize) {
        read_ray(form, entering, &self.basic, &self.entering, &mut self.ray);
    }
}

impl Etas {
    fn clear(&mut self) {
        self.pivots.clear();
        self.starts.clear();
        self.entries.clear();
    }

    fn begin(&mut self, row: usize, pivot: f64) {
        self.pivots.push((row, pivot));
        self.starts.push(self.entries.len());
    }

    /// Equation (2), all of them.
    fn apply(&self, x: &mut [f64]) {
        for (k, &(row, pivot)) in self.pivots.iter().enumerate() {
            let x_row = x[row] / pivot;
            x[row] = x_row;
            if x_row != 0.0 {
                let end = self.starts.get(k + 1).copied().unwrap_or(self.entries.len());
                self.entries[self.starts[k]..end].iter().for_each(|&(i, a)| x[i] -= a * x_row);
            }
        }
    }
}

impl Kernel {
    /// Cuts the kernel out of the basis, and factors it; false where it is singular.
    fn factor(&mut self, form: &StandardForm, basic: &[usize], cover: &[f64]) -> bool {
        let n = form.n;
        self.units.clear();
        self.place.clear();
        self.place.resize(n, 0);
        for (position, &column) in basic.iter().enumerate() {
            if column <= n {
                self.units.push((column - 1, position));
                self.place[column - 1] = NONE;
            }
        }
        // columns in order, z₀ last, so that the diagonal of M is that of the kernel, or nearly
        let mut columns: Vec<(usize, usize)> = (basic.iter().enumerate())
            .filter(|&(_, &column)| column > n)
            .map(|(position, &column)| (column, position))
            .collect();
        columns.sort_unstable();
        self.columns.clear();
        self.positions.clear();
        for (column, position) in columns {
            self.columns.push(column);
            self.positions.push(position);
        }
        self.rows.clear();
        for i in 0..n {
            if self.place[i] != NONE {
                self.place[i] = self.rows.len();
                self.rows.push(i);
            }
        }
        let size = self.rows.len();
        self.right.clear();
        self.right.resize(size, 0.0);
        self.factor = None;
        if size == 0 {
            return true;
        }
        let mut triplets = Vec::new();
        for (k, &column) in self.columns.iter().enumerate() {
            if column <= 2 * n {
                let inside = form.column(column - n - 1).iter();
                let inside = inside.filter(|&&(i, _)| self.place[i] != NONE);
                triplets.extend(inside.map(|&(i, a)| (self.place[i], k, -a)));
            } else {
                triplets.extend(self.rows.iter().enumerate().map(|(r, &i)| (r, k, -cover[i])));
            }
        }
        let matrix = Sparse::from_triplets(size, size, &triplets);
        let mut factor = SparseFactor::with_symmetry(&matrix, false);
        let done = factor.factor(&matrix).is_ok();
        self.factor = Some(factor);
        done
    }

    /// Equation (1): `b`, by rows, becomes `x`, by positions in the basis.
    fn solve(&mut self, form: &StandardForm, cover: &[f64], b: &mut [f64], work: &mut [f64]) {
        for (right, &i) in self.right.iter_mut().zip(&self.rows) {
            *right = b[i];
        }
        if self.right.iter().any(|x| *x != 0.0)
            && let Some(factor) = &mut self.factor
        {
            factor.solve(&mut self.right);
        }
        let n = form.n;
        for (&x, &column) in self.right.iter().zip(&self.columns).filter(|(x, _)| **x != 0.0) {
            if column <= 2 * n {
                form.column(column - n - 1).iter().for_each(|&(i, a)| b[i] += a * x);
            } else {
                vector::axpy(x, cover, b);
            }
        }
        for &(row, position) in &self.units {
            work[position] = b[row];
        }
        for (&x, &position) in self.right.iter().zip(&self.positions) {
            work[position] = x;
        }
        b.copy_from_slice(work);
    }

    /// `b ← b − B x`, right after a factorization.
    fn subtract(&self, form: &StandardForm, cover: &[f64], x: &[f64], b: &mut [f64]) {
        let n = form.n;
        for &(row, position) in &self.units {
            b[row] -= x[position];
        }
        for (&column, &position) in self.columns.iter().zip(&self.positions) {
            let x = x[position];
            if column <= 2 * n {
                form.column(column - n - 1).iter().for_each(|&(i, a)| b[i] += a * x);
            } else {
                vector::axpy(x, cover, b);
            }
        }
    }
}
