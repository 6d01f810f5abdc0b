//! A mode as a differential equation, where its multipliers follow from the state at once.
//!
//! Some states have no mass. With `x` those that have one and `u` the others and the multipliers, the
//! model and the pieces of a mode are
//!
//! ```text
//! ẋ = A (x, u) + b,    0 = A₀ (x, u) + b₀,    y = C (x, u) + e                            (1)
//! level: λ − β y = a        wall: y = s                                                   (2)
//! ```
//!
//! Multipliers that a piece fixes are known. The rest of (1) and (2) is solved for `u`:
//!
//! ```text
//! u = U (x, 1),    ẋ = F (x, 1),    y = Y (x, 1)                                          (3)
//! ```
//!
//! Where it cannot be, the state has a hidden constraint, `H (x, 1) = 0`, by whose derivative `reduce` finds (3)
//! all the same.

use super::super::super::control;
use super::super::hold::Hold;
use super::super::reduce::{Equations, Reduced};
use super::super::{Link, Part};
use crate::graph::Piece;
use saltus_linalg::{DenseLu, Matrix, vector};
use saltus_model::Order;

/// Pivots below this share of their column leave the multipliers undetermined.
const DETERMINED: f64 = 1e-12;
/// What equations (1) and (2) may leave, relative to their largest terms.
const SOLVED: f64 = 1e-11;

/// Equation (1) of a whole model. Columns are those with mass, those without, then multipliers.
#[derive(Debug)]
pub(super) struct Linear {
    /// Where states with mass stand in `X`.
    pub massive: Vec<usize>,
    /// And those without.
    pub massless: Vec<usize>,
    /// Multipliers.
    pub rows: usize,
    A: Matrix, // last column: b
    A0: Matrix,
    C: Matrix,
}

/// Equation (3). The last column is that of the constant.
#[derive(Debug)]
pub(super) struct Affine {
    pub F: Matrix,
    pub U: Matrix,
    pub Y: Matrix,
    /// The hidden constraint, where there is one.
    pub hold: Hold,
}

impl Linear {
    /// Nothing where there are mechanical systems, or states whose mass is neither there nor not.
    pub fn new(parts: &[Part], links: &[Link]) -> Option<Linear> {
        if parts.iter().any(|part| part.order != Order::First) {
            return None;
        }
        let states: usize = parts.iter().map(|part| part.states.len()).sum();
        let rows: usize = links.iter().map(|link| link.rows.len()).sum();
        // E, and everything else beside it
        let mut E = Matrix::zeros(states, states);
        let mut balance = Matrix::zeros(states, states + rows + 1);
        let mut C = Matrix::zeros(rows, states + rows + 1);
        for part in parts {
            for (i, &row) in part.states.iter().enumerate() {
                for (j, &column) in part.states.iter().enumerate() {
                    E[(row, column)] = part.E[(i, j)];
                    balance[(row, column)] = part.A[(i, j)];
                }
                balance[(row, states + rows)] = part.b[i];
            }
        }
        for link in links {
            let columns = link.systems.iter().flat_map(|&system| parts[system].states.iter());
            for (j, &column) in columns.enumerate() {
                for (i, row) in link.rows.clone().enumerate() {
                    balance[(column, states + row)] += link.B[(j, i)];
                    C[(row, column)] += link.C[(i, j)];
                }
            }
            for (i, row) in link.rows.clone().enumerate() {
                C[(row, states + rows)] = link.e[i];
                if let Some(D) = &link.D {
                    for (j, other) in link.rows.clone().enumerate() {
                        C[(row, states + other)] = D[(i, j)];
                    }
                }
            }
        }
        let is_empty = |i: usize, column: bool| {
            (0..states).all(|j| if column { E[(j, i)] } else { E[(i, j)] } == 0.0)
        };
        let (massless, massive): (Vec<usize>, Vec<usize>) =
            (0..states).partition(|&i| is_empty(i, true));
        let (without, with): (Vec<usize>, Vec<usize>) =
            (0..states).partition(|&i| is_empty(i, false));
        let order: Vec<usize> = massive.iter().chain(&massless).copied().collect();
        let order: Vec<usize> = order.into_iter().chain(states..=states + rows).collect();
        let take = |from: &Matrix, which: &[usize]| {
            let mut out = Matrix::zeros(which.len(), order.len());
            for (i, &row) in which.iter().enumerate() {
                for (j, &column) in order.iter().enumerate() {
                    out[(i, j)] = from[(row, column)];
                }
            }
            out
        };
        let mut lu = DenseLu::default();
        lu.factor_with(massive.len(), |i, j| E[(with[i], massive[j])]).ok()?;
        let A = lu.solve_matrix(&take(&balance, &with));
        let A0 = take(&balance, &without);
        let all: Vec<usize> = (0..rows).collect();
        let C = take(&C, &all);
        let square = with.len() == massive.len() && A.is_finite();
        square.then_some(Linear { massive, massless, rows, A, A0, C })
    }

    /// A sum of states over `(x, 1)`, by (3).
    pub fn row(&self, of: &control::Linear, affine: &Affine) -> Vec<f64> {
        let n = self.massive.len();
        let mut row = vec![0.0; n + 1];
        row[n] = of.constant;
        for &(state, a) in &of.terms {
            if let Some(k) = self.massive.iter().position(|&i| i == state) {
                row[k] += a;
            } else if let Some(k) = self.massless.iter().position(|&i| i == state) {
                vector::axpy(a, affine.U.row(k), &mut row);
            }
        }
        row
    }

    /// Equation (3) of a mode with these pieces.
    pub fn affine(&self, pieces: &[Piece]) -> Option<Affine> {
        let (n, free) = (self.massive.len(), self.massless.len());
        let fixed = |piece: &Piece| match *piece {
            Piece::Level { a, b: 0.0, .. } => Some(a),
            _ => None,
        };
        let unknown = (0..self.rows).filter(|&row| fixed(&pieces[row]).is_none());
        let unknown: Vec<usize> = (n..n + free).chain(unknown.map(|row| n + free + row)).collect();
        let k = unknown.len();
        // P u = R (x, 1)
        let (mut P, mut R) = (Matrix::zeros(k, k), Matrix::zeros(k, n + 1));
        let last = n + free + self.rows;
        let equation = |column: usize, j: usize| self.equation(pieces, column, j);
        let known = (0..self.rows).filter_map(|row| Some((n + free + row, fixed(&pieces[row])?)));
        let known: Vec<(usize, f64)> = known.filter(|(_, value)| *value != 0.0).collect();
        for (i, &column) in unknown.iter().enumerate() {
            unknown.iter().enumerate().for_each(|(j, &of)| P[(i, j)] = equation(column, of));
            (0..n).for_each(|j| R[(i, j)] = -equation(column, j));
            let known = known.iter().map(|&(j, value)| value * equation(column, j));
            R[(i, n)] = -equation(column, last) - known.sum::<f64>();
        }
        let Some(solved) = solve(&P, &R) else { return self.hidden(pieces) };
        let mut U = Matrix::zeros(free + self.rows, n + 1);
        for row in 0..self.rows {
            U[(free + row, n)] = fixed(&pieces[row]).unwrap_or(0.0);
        }
        for (i, &column) in unknown.iter().enumerate() {
            (0..=n).for_each(|j| U[(column - n, j)] = solved[(i, j)]);
        }
        let (F, Y) = (through(&self.A, &U, n), through(&self.C, &U, n));
        let hold = Hold::default();
        (F.is_finite() && Y.is_finite()).then_some(Affine { F, U, Y, hold })
    }

    /// Of the equation of a state without mass or a multiplier, by its column, the coefficient of column `j`.
    fn equation(&self, pieces: &[Piece], column: usize, j: usize) -> f64 {
        let (n, free) = (self.massive.len(), self.massless.len());
        let last = n + free + self.rows;
        if column < n + free {
            return self.A0[(column - n, j)];
        }
        let row = column - n - free;
        match pieces[row] {
            Piece::Level { a, b, .. } => {
                let own = if j == column { 1.0 } else { 0.0 };
                own - b * self.C[(row, j)] - if j == last { a } else { 0.0 }
            }
            Piece::Wall { s, .. } => self.C[(row, j)] - if j == last { s } else { 0.0 },
        }
    }

    /// The same of a mode with a hidden constraint.
    fn hidden(&self, pieces: &[Piece]) -> Option<Affine> {
        let (n, free) = (self.massive.len(), self.massless.len());
        let (states, last) = (n + free, n + free + self.rows);
        let mut equations = Equations::new(states, self.rows);
        for i in 0..last {
            if i < n {
                equations.add_unknown(i, i, 1.0);
            }
            for j in 0..=last {
                let x = if i < n { -self.A[(i, j)] } else { self.equation(pieces, i, j) };
                match j {
                    j if j < states => equations.add_known(i, j, x),
                    j if j < last => equations.add_unknown(i, j, x),
                    _ => equations.add_known(i, states, x),
                }
            }
        }
        let Reduced { A, L, C } = equations.reduce()?;
        let (follow, hold) = Hold::new(&C, |k| k >= n).only(n);
        if follow.len() != free {
            return None;
        }
        // over (x, 1), states without mass by the rows that they follow
        let over = |row: &[f64]| -> Vec<f64> {
            let mut out = row[..n].to_vec();
            out.push(row[states]);
            for (column, follow) in &follow {
                vector::axpy(row[*column], follow, &mut out);
            }
            out
        };
        let F: Vec<f64> = (0..n).flat_map(|i| over(A.row(i))).collect();
        let mut U = Matrix::zeros(free + self.rows, n + 1);
        for (column, row) in &follow {
            row.iter().enumerate().for_each(|(j, x)| U[(column - n, j)] = *x);
        }
        for row in 0..self.rows {
            over(L.row(row)).iter().enumerate().for_each(|(j, x)| U[(free + row, j)] = *x);
        }
        let (F, Y) = (Matrix::from_vec(n, n + 1, F), through(&self.C, &U, n));
        let sound = F.is_finite() && U.is_finite() && Y.is_finite();
        sound.then_some(Affine { F, U, Y, hold })
    }
}

/// `M (x, U (x, 1), 1)` over `(x, 1)`.
fn through(M: &Matrix, U: &Matrix, n: usize) -> Matrix {
    let mut out = Matrix::zeros(M.rows(), n + 1);
    for i in 0..M.rows() {
        let row = M.row(i);
        for j in 0..=n {
            let direct = if j < n { row[j] } else { row[row.len() - 1] };
            let terms = (0..U.rows()).filter(|&k| row[n + k] != 0.0);
            out[(i, j)] = direct + terms.map(|k| row[n + k] * U[(k, j)]).sum::<f64>();
        }
    }
    out
}

/// `P⁻¹ R` by elimination with scaled rows, checked against `P` and `R`; nothing where `P` is singular
/// to round-off.
fn solve(P: &Matrix, R: &Matrix) -> Option<Matrix> {
    let (k, width) = (P.rows(), P.rows() + R.cols());
    let mut W = Matrix::zeros(k, width);
    for i in 0..k {
        let largest = P.row(i).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        if !(largest > 0.0) {
            return None;
        }
        (0..k).for_each(|j| W[(i, j)] = P[(i, j)] / largest);
        (k..width).for_each(|j| W[(i, j)] = R[(i, j - k)] / largest);
    }
    let columns: Vec<f64> =
        (0..k).map(|j| (0..k).fold(0.0_f64, |a, i| a.max(W[(i, j)].abs()))).collect();
    for c in 0..k {
        let pivot = (c..k).max_by(|&a, &b| W[(a, c)].abs().total_cmp(&W[(b, c)].abs()))?;
        if !(W[(pivot, c)].abs() > DETERMINED * columns[c]) {
            return None;
        }
        if pivot != c {
            for j in 0..width {
                let kept = W[(c, j)];
                W[(c, j)] = W[(pivot, j)];
                W[(pivot, j)] = kept;
            }
        }
        let scale = 1.0 / W[(c, c)];
        for i in 0..k {
            let factor = W[(i, c)] * scale;
            if i == c || factor == 0.0 {
                continue;
            }
            let (row, other) = rows_of(&mut W, c, i);
            vector::axpy(-factor, &row[c..], &mut other[c..]);
        }
    }
    let mut out = Matrix::zeros(k, R.cols());
    for i in 0..k {
        (0..R.cols()).for_each(|j| out[(i, j)] = W[(i, k + j)] / W[(i, i)]);
    }
    // rows in units of their largest entry, columns as a whole
    for j in 0..R.cols() {
        let (mut off, mut size) = (0.0_f64, 0.0_f64);
        for i in 0..k {
            let largest = P.row(i).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
            let terms = (0..k).map(|l| P[(i, l)] * out[(l, j)]);
            let (left, of) = terms.fold((-R[(i, j)], R[(i, j)].abs()), |(left, of), term| {
                (left + term, of + term.abs())
            });
            (off, size) = (off.max(left.abs() / largest), size.max(of / largest));
        }
        if !(off <= SOLVED * size) {
            return None;
        }
    }
    Some(out)
}

/// Two rows, the first to be read.
fn rows_of(W: &mut Matrix, read: usize, write: usize) -> (&[f64], &mut [f64]) {
    let columns = W.cols();
    let (low, high) = W.data_mut().split_at_mut(read.max(write) * columns);
    match read < write {
        true => (&low[read * columns..][..columns], &mut high[..columns]),
        false => (&high[..columns], &mut low[write * columns..][..columns]),
    }
}
