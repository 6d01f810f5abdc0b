//! Cholesky's method for symmetric matrices whose rows begin late: chains and trees of joints.
//!
//! ```text
//! A = L D Lᵀ,    row i of L from the first column in which row i of A has an entry              (1)
//! ```
//!
//! A pivot that is nothing beside its diagonal belongs to a row that says what others said already: it
//! is left out, and its unknown is zero. So constraints may be redundant.

/// A pivot, relative to its diagonal, below which a row is redundant.
const REDUNDANT: f64 = 1e-9;

/// A matrix by rows, then its factors in the same place.
#[derive(Debug, Default)]
pub(super) struct Skyline {
    first: Vec<usize>, // column where each row begins
    start: Vec<usize>, // where it is kept
    values: Vec<f64>,
    inverse: Vec<f64>, // 1/D, or 0
}

impl Skyline {
    /// A matrix of zeros whose rows begin in these columns.
    pub fn reset(&mut self, first: impl Iterator<Item = usize>) {
        self.first.clear();
        self.first.extend(first);
        self.start.clear();
        let mut next = 0;
        for (i, first) in self.first.iter().enumerate() {
            self.start.push(next);
            next += i + 1 - first;
        }
        self.values.clear();
        self.values.resize(next, 0.0);
    }

    /// The entry in the lower triangle.
    #[inline]
    pub fn add(&mut self, i: usize, j: usize, value: f64) {
        self.values[self.start[i] + j - self.first[i]] += value;
    }

    /// Equation (1).
    pub fn factor(&mut self) {
        let n = self.first.len();
        self.inverse.clear();
        self.inverse.resize(n, 0.0);
        for i in 0..n {
            let (done, rest) = self.values.split_at_mut(self.start[i]);
            let (first, row) = (self.first[i], &mut rest[..i + 1 - self.first[i]]);
            let diagonal = row[i - first];
            for j in first..i {
                // of L D, then of L
                let from = first.max(self.first[j]);
                let other =
                    &done[self.start[j] + from - self.first[j]..self.start[j] + j - self.first[j]];
                let own = &row[from - first..j - first];
                let sum: f64 = own.iter().zip(other).map(|(a, b)| a * b).sum();
                row[j - first] -= sum;
            }
            let mut pivot = diagonal;
            for j in first..i {
                let entry = row[j - first];
                row[j - first] = entry * self.inverse[j];
                pivot -= entry * row[j - first];
            }
            self.inverse[i] = if pivot > REDUNDANT * diagonal { 1.0 / pivot } else { 0.0 };
        }
    }

    /// `x ← A⁻¹ x`.
    pub fn solve(&self, x: &mut [f64]) {
        let n = self.first.len();
        for i in 0..n {
            let row = &self.values[self.start[i]..self.start[i] + i - self.first[i]];
            let sum: f64 = row.iter().zip(&x[self.first[i]..i]).map(|(a, b)| a * b).sum();
            x[i] -= sum;
        }
        for i in 0..n {
            x[i] *= self.inverse[i];
        }
        for i in (0..n).rev() {
            let row = &self.values[self.start[i]..self.start[i] + i - self.first[i]];
            let own = x[i];
            for (x, a) in x[self.first[i]..i].iter_mut().zip(row) {
                *x -= a * own;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_with_a_row_twice_is_solved() {
        // the third row is the second again
        let A = [
            [2.0, -1.0, -1.0, 0.0],
            [-1.0, 2.0, 2.0, -1.0],
            [-1.0, 2.0, 2.0, -1.0],
            [0.0, -1.0, -1.0, 3.0],
        ];
        let mut skyline = Skyline::default();
        skyline.reset([0, 0, 0, 1].into_iter());
        for i in 0..4_usize {
            for j in [0, 0, 0, 1][i]..=i {
                skyline.add(i, j, A[i][j]);
            }
        }
        skyline.factor();
        let b = [1.0, 2.0, 2.0, -1.0];
        let mut x = b;
        skyline.solve(&mut x);
        for i in 0..4 {
            let product: f64 = (0..4).map(|j| A[i][j] * x[j]).sum();
            assert!((product - b[i]).abs() < 1e-14, "{i}: {product}");
        }
    }
}
