//! A sparse matrix in compressed rows.

use crate::Matrix;

/// A sparse matrix in compressed-row form, columns ascending in each row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sparse {
    rows: usize,
    cols: usize,
    start: Vec<usize>, // row i holds the entries start[i] .. start[i + 1]
    entries: Vec<Entry>,
}

/// A stored entry of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// Its column.
    pub col: usize,
    /// Its value.
    pub value: f64,
}

impl Sparse {
    /// From `(row, column, value)` entries in any order; entries at one place add up.
    /// Panics on an index outside the shape.
    pub fn from_triplets(rows: usize, cols: usize, triplets: &[(usize, usize, f64)]) -> Self {
        let mut sorted = triplets.to_vec();
        sorted.sort_by_key(|&(i, j, _)| (i, j));
        let (mut start, mut entries) = (vec![0; rows + 1], Vec::<Entry>::new());
        let mut last = None;
        for (i, j, x) in sorted {
            assert!(i < rows && j < cols, "entry ({i}, {j}) of a {rows} × {cols} matrix");
            if last == Some((i, j)) {
                if let Some(entry) = entries.last_mut() {
                    entry.value += x;
                }
            } else {
                entries.push(Entry { col: j, value: x });
                start[i + 1] += 1;
                last = Some((i, j));
            }
        }
        for i in 0..rows {
            start[i + 1] += start[i];
        }
        Sparse { rows, cols, start, entries }
    }

    /// The nonzero entries of a dense matrix.
    pub fn from_dense(dense: &Matrix) -> Self {
        let mut triplets = Vec::new();
        for i in 0..dense.rows() {
            for (j, &x) in dense.row(i).iter().enumerate() {
                if x != 0.0 {
                    triplets.push((i, j, x));
                }
            }
        }
        Sparse::from_triplets(dense.rows(), dense.cols(), &triplets)
    }

    /// The same matrix with every zero written out.
    pub fn to_dense(&self) -> Matrix {
        let mut dense = Matrix::zeros(self.rows, self.cols);
        for (i, j, x) in self.iter() {
            dense[(i, j)] = x;
        }
        dense
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of stored entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The stored entries, row by row.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The value of an entry by its place in [`entries`](Self::entries), to be changed.
    #[inline]
    pub fn value_mut(&mut self, place: usize) -> &mut f64 {
        &mut self.entries[place].value
    }

    /// Place of entry `(i, j)` in [`entries`](Self::entries), if it is stored.
    pub fn place(&self, i: usize, j: usize) -> Option<usize> {
        let k = self.row(i).binary_search_by_key(&j, |entry| entry.col).ok()?;
        Some(self.start[i] + k)
    }

    /// The entries of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[Entry] {
        &self.entries[self.start[i]..self.start[i + 1]]
    }

    /// All stored entries as `(row, column, value)`.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        (0..self.rows).flat_map(move |i| self.row(i).iter().map(move |e| (i, e.col, e.value)))
    }

    /// Entry `(i, j)`, zero where nothing is stored.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let row = self.row(i);
        row.binary_search_by_key(&j, |entry| entry.col).map_or(0.0, |k| row[k].value)
    }

    /// `Aᵢ x`, the product of row `i`.
    #[inline]
    pub fn row_dot(&self, i: usize, x: &[f64]) -> f64 {
        product(self.row(i), x)
    }

    /// `A x`, row after row.
    #[inline]
    pub fn products<'a>(&'a self, x: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let mut rest = &self.entries[..];
        self.start.windows(2).map(move |range| {
            let (row, others) = rest.split_at(range[1] - range[0]);
            rest = others;
            product(row, x)
        })
    }

    /// `y ← A x`.
    #[inline]
    pub fn apply(&self, x: &[f64], y: &mut [f64]) {
        for (y, product) in y.iter_mut().zip(self.products(x)) {
            *y = product;
        }
    }

    /// `y ← y + A x`.
    #[inline]
    pub fn apply_add(&self, x: &[f64], y: &mut [f64]) {
        for (y, product) in y.iter_mut().zip(self.products(x)) {
            *y += product;
        }
    }

    /// `Aᵀ`.
    pub fn transpose(&self) -> Sparse {
        let mut start = vec![0; self.cols + 1];
        for entry in &self.entries {
            start[entry.col + 1] += 1;
        }
        for j in 0..self.cols {
            start[j + 1] += start[j];
        }
        let mut next = start.clone();
        let mut entries = vec![Entry { col: 0, value: 0.0 }; self.entries.len()];
        for i in 0..self.rows {
            for entry in self.row(i) {
                entries[next[entry.col]] = Entry { col: i, value: entry.value };
                next[entry.col] += 1;
            }
        }
        Sparse { rows: self.cols, cols: self.rows, start, entries }
    }

    /// `A B`.
    pub fn mul(&self, other: &Sparse) -> Sparse {
        assert_eq!(self.cols, other.rows, "inner sizes of a product");
        let (mut start, mut entries) = (vec![0], Vec::new());
        // a row of the product: its values where they are, and which there are
        let (mut row, mut seen) = (vec![0.0; other.cols], vec![usize::MAX; other.cols]);
        let mut columns = Vec::new();
        for i in 0..self.rows {
            columns.clear();
            for a in self.row(i) {
                for b in other.row(a.col) {
                    if seen[b.col] != i {
                        seen[b.col] = i;
                        row[b.col] = 0.0;
                        columns.push(b.col);
                    }
                    row[b.col] += a.value * b.value;
                }
            }
            columns.sort_unstable();
            entries.extend(columns.iter().map(|&col| Entry { col, value: row[col] }));
            start.push(entries.len());
        }
        Sparse { rows: self.rows, cols: other.cols, start, entries }
    }

    /// Whether `A = Aᵀ` up to `tol` times the largest entry.
    pub fn is_symmetric(&self, tol: f64) -> bool {
        let largest = self.entries.iter().fold(0.0, |m: f64, entry| m.max(entry.value.abs()));
        let tol = tol * largest;
        self.rows == self.cols && self.iter().all(|(i, j, x)| (x - self.get(j, i)).abs() <= tol)
    }
}

/// `Σ aⱼ xⱼ` over the entries of a row. Long rows get partial sums, so that the loop is not bound by
/// the latency of one addition.
#[inline]
fn product(row: &[Entry], x: &[f64]) -> f64 {
    let (fours, rest) = if row.len() < LONG { (&[][..], row) } else { row.as_chunks::<4>() };
    let mut sums = [0.0; 4];
    for four in fours {
        for k in 0..4 {
            sums[k] += four[k].value * x[four[k].col];
        }
    }
    let mut sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
    for entry in rest {
        sum += entry.value * x[entry.col];
    }
    sum
}

/// Entries from which a row is long.
const LONG: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triplets_add_up_and_products_agree_with_dense() {
        let a = Sparse::from_triplets(2, 3, &[(1, 2, 1.0), (0, 0, 2.0), (1, 2, 3.0), (1, 0, -1.0)]);
        assert_eq!(a.to_dense(), Matrix::from([[2.0, 0.0, 0.0], [-1.0, 0.0, 4.0]]));
        assert_eq!(a.len(), 3);
        assert_eq!(a.get(1, 1), 0.0);
        assert_eq!(a.transpose().to_dense(), a.to_dense().transpose());
        assert_eq!(a.mul(&a.transpose()).to_dense(), a.to_dense().mul(&a.to_dense().transpose()));
        let mut y = [1.0, 1.0];
        a.apply_add(&[1.0, 2.0, 3.0], &mut y);
        assert_eq!(y, [3.0, 12.0]);
    }
}
