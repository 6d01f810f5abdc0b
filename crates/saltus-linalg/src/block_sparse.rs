//! Sparse matrices of small dense blocks, whose rows and columns are cut alike.
//!
//! Block Gauss–Seidel reads whole rows of blocks and the diagonal ones; both are contiguous here.

use crate::triples;
use crate::{Matrix, Sparse};

/// A square block-sparse matrix, rows of blocks one after the other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BlockSparse {
    start: Vec<usize>,   // first row of each block row, and the end
    row: Vec<usize>,     // first block of each block row, and the end
    blocks: Vec<Placed>, // off the diagonal
    values: Vec<f64>,
    diagonal: Vec<f64>, // the blocks on the diagonal, one after the other
    diagonal_at: Vec<usize>,
    uniform: usize, // rows of every block; 0 where they differ
}

/// A block, its column and its entries (row by row).
#[derive(Debug, Clone, Copy, PartialEq)]
struct Placed {
    col: u32,  // first column
    size: u32, // columns
    at: usize,
}

impl BlockSparse {
    /// The matrix cut at `start`: first index of each block, and the end.
    pub fn from_sparse(matrix: &Sparse, start: &[usize]) -> BlockSparse {
        let row = |i: usize| matrix.row(i).iter().map(|entry| (entry.col, entry.value));
        BlockSparse::build(matrix.cols(), start, row)
    }

    /// The same from a dense matrix; blocks of zeros are left out.
    pub fn from_dense(matrix: &Matrix, start: &[usize]) -> BlockSparse {
        let row = |i: usize| {
            let entries = matrix.row(i).iter().copied().enumerate();
            entries.filter(|(_, value)| *value != 0.0)
        };
        BlockSparse::build(matrix.cols(), start, row)
    }

    /// From the entries `(column, value)` of each row.
    fn build<Row: Iterator<Item = (usize, f64)>>(
        n: usize,
        start: &[usize],
        row: impl Fn(usize) -> Row,
    ) -> BlockSparse {
        let mut of_col = vec![0; n];
        for (k, range) in start.windows(2).enumerate() {
            of_col[range[0]..range[1]].fill(k);
        }
        let count = start.len() - 1;
        let mut result = BlockSparse { start: start.to_vec(), ..BlockSparse::default() };
        result.row.push(0);
        result.diagonal_at.push(0);
        let mut place = vec![usize::MAX; count]; // of the block of each column in this row
        let mut columns: Vec<usize> = Vec::new();
        for k in 0..count {
            let (first, end) = (start[k], start[k + 1]);
            let height = end - first;
            columns.clear();
            for i in first..end {
                for (j, _) in row(i) {
                    let c = of_col[j];
                    if c != k && place[c] == usize::MAX {
                        place[c] = 0;
                        columns.push(c);
                    }
                }
            }
            if !columns.is_sorted() {
                columns.sort_unstable();
            }
            let mut at = result.values.len();
            for &c in &columns {
                let width = start[c + 1] - start[c];
                place[c] = at;
                result.blocks.push(Placed { col: start[c] as u32, size: width as u32, at });
                at += height * width;
            }
            result.values.resize(at, 0.0);
            let own = result.diagonal.len();
            result.diagonal.resize(own + height * height, 0.0);
            let (values, diagonal) = (&mut result.values, &mut result.diagonal);
            for i in first..end {
                for (j, value) in row(i) {
                    let c = of_col[j];
                    let (local, width) = (j - start[c], start[c + 1] - start[c]);
                    if c == k {
                        diagonal[own + (i - first) * height + local] += value;
                    } else {
                        values[place[c] + (i - first) * width + local] += value;
                    }
                }
            }
            for &c in &columns {
                place[c] = usize::MAX;
            }
            result.row.push(result.blocks.len());
            result.diagonal_at.push(result.diagonal.len());
        }
        result.values.push(0.0); // see `triples`
        let sizes = || start.windows(2).map(|range| range[1] - range[0]);
        let first = sizes().next().unwrap_or(0);
        result.uniform = if sizes().all(|size| size == first) { first } else { 0 };
        result
    }

    /// Number of block rows.
    pub fn len(&self) -> usize {
        self.row.len().saturating_sub(1)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows of block row `k`.
    #[inline]
    pub fn range(&self, k: usize) -> std::ops::Range<usize> {
        self.start[k]..self.start[k + 1]
    }

    /// The diagonal block of block row `k`, row by row.
    #[inline]
    pub fn diagonal(&self, k: usize) -> &[f64] {
        &self.diagonal[self.diagonal_at[k]..self.diagonal_at[k + 1]]
    }

    /// First columns of the blocks beside the diagonal one in block row `k`.
    pub fn neighbours(&self, k: usize) -> impl Iterator<Item = usize> + '_ {
        self.blocks[self.row[k]..self.row[k + 1]].iter().map(|block| block.col as usize)
    }

    /// Visits the blocks of row `k` by columns: first column, columns, entries; the diagonal one
    /// as `None`.
    #[inline]
    pub fn for_each_in_row(&self, k: usize, mut visit: impl FnMut(usize, usize, Option<&[f64]>)) {
        let own = self.range(k);
        let mut passed = false;
        for &Placed { col, size, at } in &self.blocks[self.row[k]..self.row[k + 1]] {
            let (col, size) = (col as usize, size as usize);
            if col > own.start && !passed {
                visit(own.start, own.len(), None);
                passed = true;
            }
            visit(col, size, Some(&self.values[at..at + own.len() * size]));
        }
        if !passed {
            visit(own.start, own.len(), None);
        }
    }

    /// A sparse matrix of ones wherever a block stands.
    pub fn pattern(&self) -> Sparse {
        let n = self.start.last().copied().unwrap_or(0);
        let mut triplets = Vec::new();
        for k in 0..self.len() {
            for i in self.range(k) {
                self.for_each_in_row(k, |col, size, _| {
                    triplets.extend((col..col + size).map(|j| (i, j, 1.0)));
                });
            }
        }
        Sparse::from_triplets(n, n, &triplets)
    }

    /// Rows of every block, where all have as many.
    #[inline]
    pub fn uniform(&self) -> Option<usize> {
        Some(self.uniform).filter(|&size| size > 0)
    }

    /// `b ← b + Σ W_kj x_j` over the blocks of row `k` beside the diagonal one.
    #[inline]
    pub fn add_others(&self, k: usize, x: &[f64], b: &mut [f64]) {
        match (self.uniform, b) {
            (1, [b0]) => *b0 = self.with_others(k, x, [*b0])[0],
            (2, [b0, b1]) => [*b0, *b1] = self.with_others(k, x, [*b0, *b1]),
            (3, [b0, b1, b2]) => [*b0, *b1, *b2] = self.with_others(k, x, [*b0, *b1, *b2]),
            (_, b) => {
                for &Placed { col, size, at } in &self.blocks[self.row[k]..self.row[k + 1]] {
                    let col = col as usize;
                    match (size, &mut *b) {
                        (1, [b0]) => *b0 += self.values[at] * x[col],
                        (3, [b0, b1, b2]) => {
                            let (v, x) = (&self.values[at..at + 9], &x[col..col + 3]);
                            *b0 += v[0] * x[0] + v[1] * x[1] + v[2] * x[2];
                            *b1 += v[3] * x[0] + v[4] * x[1] + v[5] * x[2];
                            *b2 += v[6] * x[0] + v[7] * x[1] + v[8] * x[2];
                        }
                        (_, b) => self.add_block(col, size as usize, at, x, b),
                    }
                }
            }
        }
    }

    /// `b + Σ W_kj x_j` over the blocks of row `k` beside the diagonal one, where all blocks have `N`
    /// rows: no lengths to look at.
    #[inline]
    pub fn with_others<const N: usize>(&self, k: usize, x: &[f64], b: [f64; N]) -> [f64; N] {
        debug_assert_eq!(self.uniform, N);
        let row = self.row[k]..self.row[k + 1];
        let (values, blocks) = (&self.values[N * N * row.start..], &self.blocks[row]);
        let mut sum = b;
        match &mut sum[..] {
            [s0, s1, s2] => {
                let columns = blocks.iter().map(|block| block.col as usize);
                let products = triples::products(columns, values, x);
                (*s0, *s1, *s2) = (*s0 + products[0], *s1 + products[1], *s2 + products[2]);
            }
            [s0, s1] => {
                for (block, v) in blocks.iter().zip(values.as_chunks::<4>().0) {
                    let Some(&[x0, x1]) = x[block.col as usize..].first_chunk() else { break };
                    *s0 += v[0] * x0 + v[1] * x1;
                    *s1 += v[2] * x0 + v[3] * x1;
                }
            }
            sum => {
                for (block, values) in blocks.iter().zip(values.chunks_exact(N * N)) {
                    let x = &x[block.col as usize..];
                    for (sum, row) in sum.iter_mut().zip(values.chunks_exact(N)) {
                        *sum += row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
                    }
                }
            }
        }
        sum
    }

    #[inline]
    fn add_block(&self, col: usize, size: usize, at: usize, x: &[f64], b: &mut [f64]) {
        let x = &x[col..col + size];
        for (i, b) in b.iter_mut().enumerate() {
            let row = &self.values[at + i * size..at + (i + 1) * size];
            *b += row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
        }
    }

    /// `y ← W x + q`.
    pub fn apply_plus(&self, x: &[f64], q: &[f64], y: &mut [f64]) {
        for k in 0..self.len() {
            let range = self.range(k);
            let (n, own) = (range.len(), self.diagonal(k));
            let y = &mut y[range.clone()];
            y.copy_from_slice(&q[range.clone()]);
            self.add_others(k, x, y);
            for i in 0..n {
                let row = &own[i * n..(i + 1) * n];
                y[i] += row.iter().zip(&x[range.clone()]).map(|(a, x)| a * x).sum::<f64>();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_the_sparse_matrix() {
        let triplets: Vec<_> = (0..60)
            .map(|k: usize| ((k * 7) % 11, (k * 5 + k / 11) % 11, (k as f64).sin()))
            .collect();
        let matrix = Sparse::from_triplets(11, 11, &triplets);
        let start = [0, 3, 4, 7, 9, 11];
        let x: Vec<f64> = (0..11).map(|i| (i as f64).cos()).collect();
        let q: Vec<f64> = (0..11).map(|i| i as f64).collect();
        let mut expected = q.clone();
        matrix.apply_add(&x, &mut expected);
        for blocks in [
            BlockSparse::from_sparse(&matrix, &start),
            BlockSparse::from_dense(&matrix.to_dense(), &start),
        ] {
            let mut y = vec![0.0; 11];
            blocks.apply_plus(&x, &q, &mut y);
            for i in 0..11 {
                assert!((y[i] - expected[i]).abs() < 1e-13);
            }
            assert_eq!(blocks.diagonal(1), [matrix.get(3, 3)]);
        }
    }
}
