//! From the equations of a mode to a differential equation.
//!
//! ```text
//! P (Ẋ, λ) + Q X + r = 0                                                              (1)
//! ```
//!
//! is solved for `Ẋ` and `λ` by elimination. Rows in which nothing of them is left hold the state:
//! `C X + c = 0`. Their derivative `C Ẋ = 0` takes their place, as of held velocities, until all
//! is solved:
//!
//! ```text
//! Ẋ = F X + g,    λ = L X + l,    C X + c = 0                                          (2)
//! ```
//!
//! An entry that is the round-off of what made it counts as zero: every entry has beside it the
//! sum of the sizes of its terms.

use saltus_linalg::Matrix;

/// Round-off of an entry, relative to its terms.
const ROUND_OFF: f64 = 64.0 * f64::EPSILON;

/// Equation (1), while it is put together.
#[derive(Debug)]
pub(super) struct Equations {
    states: usize,
    unknowns: usize,
    W: Matrix,                 // (P Q r), row by row
    terms: Matrix,             // sizes of the terms of W
    pivot: Vec<Option<usize>>, // column of each row
}

/// Equation (2). Columns are those of `X`, then the constant.
#[derive(Debug)]
pub(super) struct Reduced {
    /// `(F g; 0 0)`.
    pub A: Matrix,
    /// `(L l)`.
    pub L: Matrix,
    /// `(C c)`.
    pub C: Matrix,
}

impl Equations {
    /// Of so many states and multipliers, all entries zero.
    pub fn new(states: usize, multipliers: usize) -> Equations {
        let unknowns = states + multipliers;
        let columns = unknowns + states + 1;
        Equations {
            states,
            unknowns,
            W: Matrix::zeros(unknowns, columns),
            terms: Matrix::zeros(unknowns, columns),
            pivot: vec![None; unknowns],
        }
    }

    /// Adds to a row: `x` times `Ẋⱼ`, or from `j = states` on times a multiplier.
    pub fn add_unknown(&mut self, row: usize, j: usize, x: f64) {
        self.W[(row, j)] += x;
    }

    /// Adds to a row: `x` times `Xⱼ`, or for `j = states` the constant `x`.
    pub fn add_known(&mut self, row: usize, j: usize, x: f64) {
        self.W[(row, self.unknowns + j)] += x;
    }

    /// Equation (2); nothing where rows say the same, or contradict each other.
    pub fn reduce(mut self) -> Option<Reduced> {
        let (n, N) = (self.states, self.unknowns);
        for (size, x) in self.terms.data_mut().iter_mut().zip(self.W.data()) {
            *size = x.abs();
        }
        let mut hidden = Vec::new();
        for _ in 0..=n {
            self.eliminate();
            let mut complete = true;
            for row in 0..N {
                if self.pivot[row].is_none() {
                    complete = false;
                    let held = self.W.row(row)[N..].to_vec();
                    if held[..n].iter().all(|x| *x == 0.0) {
                        return None;
                    }
                    self.differentiate(row, &held[..n]);
                    hidden.extend(held);
                }
            }
            if complete {
                let mut A = Matrix::zeros(n + 1, n + 1);
                let mut L = Matrix::zeros(N - n, n + 1);
                for (row, column) in self.pivot.iter().enumerate() {
                    let column = (*column)?;
                    for (j, x) in
                        self.W.row(row)[N..].iter().enumerate().filter(|(_, x)| **x != 0.0)
                    {
                        match column < n {
                            true => A[(column, j)] = -x,
                            false => L[(column - n, j)] = -x,
                        }
                    }
                }
                let C = Matrix::from_vec(hidden.len() / (n + 1), n + 1, hidden);
                return (A.is_finite() && L.is_finite()).then_some(Reduced { A, L, C });
            }
        }
        None
    }

    /// Gives every column a row to itself, as far as there are any.
    fn eliminate(&mut self) {
        for column in 0..self.unknowns {
            if self.pivot.contains(&Some(column)) {
                continue;
            }
            let mut best = (0.0, None);
            for row in (0..self.unknowns).filter(|&row| self.pivot[row].is_none()) {
                let entry = self.W[(row, column)].abs();
                if entry > 0.0 {
                    let unknowns = &self.W.row(row)[..self.unknowns];
                    let largest = unknowns.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
                    if entry / largest > best.0 {
                        best = (entry / largest, Some(row));
                    }
                }
            }
            let (_, Some(row)) = best else { continue };
            self.pivot[row] = Some(column);
            let scale = 1.0 / self.W[(row, column)];
            let columns = self.W.cols();
            for matrix in [&mut self.W, &mut self.terms] {
                let row = &mut matrix.data_mut()[row * columns..][..columns];
                row.iter_mut().for_each(|x| *x *= scale);
            }
            for other in (0..self.unknowns).filter(|&other| other != row) {
                self.subtract(other, row, column);
            }
        }
    }

    /// Removes a column from a row by means of the row that has it to itself.
    fn subtract(&mut self, from: usize, row: usize, column: usize) {
        let factor = self.W[(from, column)];
        if factor == 0.0 {
            return;
        }
        for j in 0..self.W.cols() {
            let x = self.W[(row, j)];
            if x == 0.0 && self.terms[(row, j)] == 0.0 {
                continue;
            }
            let terms = self.terms[(from, j)].abs() + (factor * self.terms[(row, j)]).abs();
            let entry = self.W[(from, j)] - factor * x;
            self.terms[(from, j)] = terms;
            self.W[(from, j)] = if entry.abs() <= ROUND_OFF * terms { 0.0 } else { entry };
        }
        self.W[(from, column)] = 0.0;
    }

    /// Puts `C Ẋ = 0` into a row that has held `C X`.
    fn differentiate(&mut self, row: usize, C: &[f64]) {
        for j in 0..self.W.cols() {
            let x = if j < self.states { C[j] } else { 0.0 };
            self.W[(row, j)] = x;
            self.terms[(row, j)] = x.abs();
        }
        for other in 0..self.unknowns {
            if let Some(column) = self.pivot[other] {
                self.subtract(row, other, column);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mass on a spring, `m v̇ = −k q + λ`, held: `v = 0`.
    #[test]
    fn a_held_velocity_gives_its_force() {
        let mut equations = Equations::new(2, 1);
        equations.add_unknown(0, 0, 1.0);
        equations.add_known(0, 1, -1.0);
        equations.add_unknown(1, 1, 2.0);
        equations.add_known(1, 0, 8.0);
        equations.add_unknown(1, 2, -1.0);
        equations.add_known(2, 1, 1.0);
        let Reduced { A, L, C } = equations.reduce().unwrap();
        assert_eq!(A, Matrix::from([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]));
        assert_eq!(L, Matrix::from([[8.0, 0.0, 0.0]]));
        assert_eq!(C, Matrix::from([[0.0, 1.0, 0.0]]));
    }

    /// `0 · ẋ = x − 3 y`, `ẏ = −y`: an equation without a derivative.
    #[test]
    fn a_state_that_follows_another() {
        let mut equations = Equations::new(2, 0);
        equations.add_known(0, 0, 1.0);
        equations.add_known(0, 1, -3.0);
        equations.add_unknown(1, 1, 1.0);
        equations.add_known(1, 1, 1.0);
        let Reduced { A, C, .. } = equations.reduce().unwrap();
        assert_eq!(A, Matrix::from([[0.0, -3.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 0.0]]));
        assert_eq!(C.row(0), [1.0, -3.0, 0.0]);
    }

    /// A mass held twice: the two forces are not determined.
    #[test]
    fn rows_that_say_the_same_are_told() {
        let mut equations = Equations::new(1, 2);
        equations.add_unknown(0, 0, 1.0);
        for row in 1..3 {
            equations.add_unknown(0, row, -1.0);
            equations.add_known(row, 0, 0.1 * row as f64);
        }
        assert!(equations.reduce().is_none());
    }
}
