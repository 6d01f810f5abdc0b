//! The path of Lemke's method, over either form of its basis.
//!
//! ```text
//! B x = q,     x ≥ 0,     the columns of B from (I, −M, −d)                              (1)
//! ```
//!
//! Columns are numbered `w` 1 … n, `z` n + 1 … 2n, `z₀` 2n + 1.

use super::standard_form::StandardForm;
use crate::Status;
use saltus_linalg::vector;

/// Pivots below this share of their column are round-off: a stack of contacts with more contacts
/// than freedom has many.
const PIVOT: f64 = 1e-9;

/// A basis that columns enter and leave.
pub(super) trait Tableau {
    /// The column that is basic in each row.
    fn basic(&self) -> &[usize];
    /// The row in which `z₀` enters, if any `x` is negative.
    fn first_row(&self) -> Option<usize>;
    /// Computes `B⁻¹` times a column, with zeros where it is but round-off.
    fn enter(&mut self, form: &StandardForm, column: usize);
    /// The row that leaves for the column that enters; `z₀` wins every tie, so that the path ends as
    /// soon as it can.
    fn ratio_test(&self, z0: usize) -> Option<usize>;
    /// Exchanges the basic column of a row for the one that enters; false if it cannot.
    fn pivot(&mut self, row: usize, column: usize) -> bool;
    /// Removes what has drifted in so many pivots; false if that fails.
    fn refresh(&mut self, form: &StandardForm, pivots: usize) -> bool;
    /// Keeps the ray along which the column enters.
    fn read_ray(&mut self, form: &StandardForm, entering: usize);
}

/// Follows the path from the basis that is loaded.
pub(super) fn follow(
    tableau: &mut impl Tableau,
    form: &StandardForm,
    max_iter: usize,
) -> (Status, usize) {
    let n = form.n;
    let z0 = 2 * n + 1;
    // no artificial unknown needed: z = 0, but for free unknowns
    let Some(mut row) = tableau.first_row() else {
        return (Status::Solved, 0);
    };
    let mut entering = z0;
    tableau.enter(form, entering);
    let mut iterations = 0;
    loop {
        if iterations == max_iter {
            return (Status::MaxIter, iterations);
        }
        iterations += 1;
        let leaving = tableau.basic()[row];
        if !tableau.pivot(row, entering) || !tableau.refresh(form, iterations) {
            return (Status::Diverged, iterations);
        }
        if leaving == z0 {
            return (Status::Solved, iterations);
        }
        // the complement of what left enters
        entering = if leaving <= n { leaving + n } else { leaving - n };
        tableau.enter(form, entering);
        match tableau.ratio_test(z0) {
            Some(next) => row = next,
            None => {
                tableau.read_ray(form, entering);
                return (Status::Ray, iterations);
            }
        }
    }
}

/// What a positive entry of the column that enters must exceed.
pub(super) fn is_round_off(entering: &[f64]) -> f64 {
    PIVOT * vector::norm_inf(entering).max(1e-5)
}

/// The covering vector `d` of that number; zero for free unknowns, whose rows are equations.
pub(super) fn covering_vector(number: usize, form: &StandardForm, d: &mut Vec<f64>) {
    d.clear();
    d.extend((0..form.n).map(|i| match number {
        _ if form.is_free[i] => 0.0,
        0 => 1.0,
        // any positive vector will do; these have no two entries in a simple ratio
        k => spread(i, (k as f64).sqrt()),
    }));
}

/// Numbers between 0.5 and 1.5, no two in a simple ratio.
pub(super) fn spread(i: usize, step: f64) -> f64 {
    0.5 + ((1 + i) as f64 * step * 0.618_033_988_749_895).fract()
}

/// The `z`-part of a ray: along it the entering unknown grows by 1, the basic ones by `−(B⁻¹ a)ᵢ`.
pub(super) fn read_ray(
    form: &StandardForm,
    entering: usize,
    basic: &[usize],
    column: &[f64],
    ray: &mut Vec<f64>,
) {
    let n = form.n;
    ray.clear();
    ray.resize(n, 0.0);
    for (row, &basic) in basic.iter().enumerate() {
        if basic > n && basic <= 2 * n {
            let z = basic - n - 1;
            ray[z] = if form.is_free[z] { -column[row] } else { (-column[row]).max(0.0) };
        }
    }
    if entering > n && entering <= 2 * n {
        ray[entering - n - 1] = 1.0;
    }
    // any such y may serve as a proof, and one without round-off is the better one
    let noise = 1e-11 * vector::norm_inf(ray);
    for y in ray.iter_mut().filter(|y| y.abs() <= noise) {
        *y = 0.0;
    }
}
