//! The basis of Lemke's method by its inverse, with the lexicographic rule: for dense matrices.
//!
//! A pivot costs one product with the column that enters and one update of rank one, both only
//! where there is something else than zero.

use super::path::{Tableau, covering_vector, follow, is_round_off, read_ray};
use super::standard_form::StandardForm;
use crate::Status;
use saltus_linalg::{DenseLu, Matrix, vector};

/// A difference this small beside its terms is zero.
const CANCELLED: f64 = 64.0 * f64::EPSILON;

/// Pivots between two looks at the drift of the basis, and the drift, relative to `q` and `x`,
/// at which it is inverted afresh: late, because what the inversion does to zeros costs the
/// lexicographic rule its order, and what has drifted is mended in the end.
const CHECK: usize = 50;
const DRIFT: f64 = 1e-3;

/// The basis; columns are numbered as in `path`.
#[derive(Debug, Default)]
pub(super) struct Basis {
    n: usize,
    inverse: Vec<f64>,     // B⁻¹, row by row
    x: Vec<f64>,           // B⁻¹ q
    pub basic: Vec<usize>, // column that is basic in each row
    cover: Vec<f64>,       // d
    entering: Vec<f64>,    // B⁻¹ times the column that enters
    row: Vec<f64>,         // of the pivot
    nonzero: Vec<usize>,   // in that row
    drift: Vec<f64>,       // q − B x
    factors: DenseLu,      // of B, where it drifts
    pub z: Vec<f64>,
    pub ray: Vec<f64>, // the z-part of the ray on which the path ended
}

impl Basis {
    /// Follows the path from the covering vector of that number.
    pub fn run(
        &mut self,
        form: &StandardForm,
        covering: usize,
        max_iter: usize,
    ) -> (Status, usize) {
        self.load(form, covering);
        let (status, iterations) = follow(self, form, max_iter);
        self.read_answer();
        (status, iterations)
    }

    /// The path of Lemke and Howson: all pairs but the first are complementary, and it ends
    /// where that one is.
    pub fn play(
        &mut self,
        form: &StandardForm,
        first: &[bool],
        max_iter: usize,
    ) -> (Status, usize) {
        let n = form.n;
        self.load(form, 0);
        let z = |i: usize| n + 1 + i;
        let Some(chosen) = first.iter().position(|&first| first) else {
            return (Status::Ray, 0);
        };
        // an answer of the second player to the choice of the first, and of the first to that
        self.enter(form, z(chosen));
        let Some(answer) = self.largest_ratio(|i| !first[i]) else { return (Status::Ray, 0) };
        self.pivot(answer, z(chosen));
        self.enter(form, z(answer));
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
            self.enter(form, entering);
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

    /// `w = q` as the basis.
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
        covering_vector(covering, form, &mut self.cover);
        for buffer in [&mut self.entering, &mut self.row, &mut self.z] {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
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
                let entries = form.column(column - n - 1);
                entries.iter().for_each(|&(i, a)| self.drift[i] += a * x);
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
                let entries = form.column(column - n - 1);
                entries.iter().for_each(|&(i, a)| B[(i, k)] = -a);
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

impl Tableau for Basis {
    fn basic(&self) -> &[usize] {
        &self.basic
    }

    /// `B⁻¹` times a column, with zeros where it is but round-off.
    fn enter(&mut self, form: &StandardForm, column: usize) {
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
                    form.column(column - n - 1).iter().for_each(|&(j, a)| add(-row[j] * a));
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

    fn read_ray(&mut self, form: &StandardForm, entering: usize) {
        read_ray(form, entering, &self.basic, &self.entering, &mut self.ray);
    }

    /// The lexicographically least row of `[q, B⁻¹]ᵢ / dᵢ`, if any `q` is negative: `z₀` enters
    /// there.
    fn first_row(&self) -> Option<usize> {
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
        let zero = is_round_off(a);
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

    /// Exchanges the basic column of a row for the one that enters.
    fn pivot(&mut self, row: usize, column: usize) -> bool {
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
        true
    }

    fn refresh(&mut self, form: &StandardForm, pivots: usize) -> bool {
        if pivots.is_multiple_of(CHECK) {
            self.correct_drift(form);
        }
        true
    }
}

/// Zeros where there is next to nothing beside the largest entry.
fn drop_noise(x: &mut [f64], share: f64) {
    let noise = share * vector::norm_inf(x);
    for x in x.iter_mut().filter(|x| x.abs() <= noise) {
        *x = 0.0;
    }
}
