//! Cholesky's method for symmetric matrices whose rows begin late, row by row: for interactions with more
//! rows than joints have (see `blocks`).
//!
//! ```text
//! A = L D Lᵀ,    row i of L from the first column in which row i of A has an entry              (1)
//! ```
//!
//! A pivot that is nothing beside its diagonal belongs to a row that says what others said already: it
//! is left out, and its unknown is zero. So constraints may be redundant.

/// A pivot, relative to its diagonal, below which a row is redundant.
pub(super) const REDUNDANT: f64 = 1e-9;

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
    pub fn reset(&mut self, first: &[usize]) {
        self.first.clear();
        self.first.extend_from_slice(first);
        self.start.clear();
        let mut next = 0;
        for (i, first) in self.first.iter().enumerate() {
            self.start.push(next);
            next += i + 1 - first;
        }
        self.values.clear();
        self.values.resize(next, 0.0);
        self.inverse.clear();
        self.inverse.resize(self.first.len(), 0.0);
    }

    /// The same with all entries zero.
    pub fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// Entries of a row of the lower triangle, from a column on.
    #[inline]
    pub fn add(&mut self, i: usize, j: usize, entries: &[f64]) {
        let from = self.start[i] + j - self.first[i];
        let own = &mut self.values[from..from + entries.len()];
        for k in 0..entries.len() {
            own[k] += entries[k];
        }
    }

    /// Equation (1).
    pub fn factor(&mut self) {
        for i in 0..self.first.len() {
            let (done, rest) = self.values.split_at_mut(self.start[i]);
            let (first, row) = (self.first[i], &mut rest[..i + 1 - self.first[i]]);
            let diagonal = row[i - first];
            for j in first..i {
                // of L D, then of L
                let from = first.max(self.first[j]);
                let start = self.start[j] + from - self.first[j];
                let other = &done[start..start + j - from];
                let sum = dot(&row[from - first..j - first], other);
                row[j - first] -= sum;
            }
            let mut pivot = diagonal;
            let inverse = &self.inverse[first..i];
            let left = &mut row[..inverse.len()];
            for j in 0..inverse.len() {
                let entry = left[j];
                left[j] = entry * inverse[j];
                pivot -= entry * left[j];
            }
            self.inverse[i] = if pivot > REDUNDANT * diagonal { 1.0 / pivot } else { 0.0 };
        }
    }

    /// `x ← A⁻¹ x`.
    pub fn solve(&self, x: &mut [f64]) {
        let n = self.first.len();
        for i in 0..n {
            let width = i - self.first[i];
            let row = &self.values[self.start[i]..self.start[i] + width];
            x[i] -= dot(row, &x[self.first[i]..i]);
        }
        for i in 0..n {
            x[i] *= self.inverse[i];
        }
        for i in (0..n).rev() {
            let width = i - self.first[i];
            let row = &self.values[self.start[i]..self.start[i] + width];
            let own = x[i];
            let above = &mut x[self.first[i]..i];
            for k in 0..width {
                above[k] -= row[k] * own;
            }
        }
    }
}

/// `a · b`, of a few entries.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let b = &b[..a.len()];
    let mut sum = 0.0;
    for k in 0..a.len() {
        sum += a[k] * b[k];
    }
    sum
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
        let first = [0, 0, 0, 1];
        skyline.reset(&first);
        for i in 0..4_usize {
            skyline.add(i, first[i], &A[i][first[i]..=i]);
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
