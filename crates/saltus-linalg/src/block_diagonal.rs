//! Matrices of small blocks on the diagonal: the masses of rigid bodies.

use crate::{DenseLu, Matrix, Singular, Sparse};

/// A block-diagonal matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockDiagonal {
    start: Vec<usize>, // of each block, and the end
    at: Vec<usize>,    // where its entries begin
    entries: Vec<f64>, // row by row
}

/// Most rows of a block.
const LONGEST: usize = 64;

impl BlockDiagonal {
    /// The inverse of a matrix that consists of blocks of at most `largest` rows on its diagonal;
    /// `None` if it does not.
    pub fn inverse_of(matrix: &Sparse, largest: usize) -> Option<Result<BlockDiagonal, Singular>> {
        let (n, largest) = (matrix.rows(), largest.min(LONGEST));
        let (mut start, mut at, mut entries) = (vec![0], vec![0], Vec::new());
        let (mut first, mut end) = (0, 0);
        for i in 0..n {
            let row = matrix.row(i);
            let (low, high) = (row.first()?.col, row.last()?.col);
            end = end.max(high + 1).max(i + 1);
            if low < first || end - first > largest {
                return None;
            }
            if end == i + 1 {
                let size = end - first;
                let block = dense(size, |a, b| matrix.get(first + a, first + b));
                match inverse(&block) {
                    Ok(inverse) => entries.extend_from_slice(inverse.data()),
                    Err(singular) => {
                        return Some(Err(Singular { column: first + singular.column }));
                    }
                }
                start.push(end);
                at.push(entries.len());
                first = end;
            }
        }
        Some(Ok(BlockDiagonal { start, at, entries }))
    }

    /// First and last-plus-one row of each block.
    pub fn ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        self.start.windows(2).map(|w| w[0]..w[1])
    }

    /// The lower triangular `L` with `A = L Lᵀ`, by Cholesky's method; `None` where a block is not
    /// symmetric to round-off or not positive definite.
    pub fn root(&self) -> Option<BlockDiagonal> {
        let mut root = self.clone();
        for (k, range) in self.ranges().enumerate() {
            let (n, A) = (range.len(), self.entries(k));
            let L = &mut root.entries[self.at[k]..self.at[k + 1]];
            let largest = A.iter().fold(0.0, |most: f64, a| most.max(a.abs()));
            for i in 0..n {
                for j in 0..n {
                    if !((A[i * n + j] - A[j * n + i]).abs() <= 1e-13 * largest) {
                        return None;
                    }
                    if j > i {
                        L[i * n + j] = 0.0;
                        continue;
                    }
                    let known: f64 = (0..j).map(|l| L[i * n + l] * L[j * n + l]).sum();
                    let left = A[i * n + j] - known;
                    L[i * n + j] = if i == j { left.sqrt() } else { left / L[j * n + j] };
                }
                if !(L[i * n + i] > 0.0 && L[i * n + i].is_finite()) {
                    return None;
                }
            }
        }
        Some(root)
    }

    /// The rows of block `k`.
    #[inline]
    pub fn range(&self, k: usize) -> std::ops::Range<usize> {
        self.start[k]..self.start[k + 1]
    }

    /// The entries of block `k`, row by row.
    #[inline]
    pub fn entries(&self, k: usize) -> &[f64] {
        &self.entries[self.at[k]..self.at[k + 1]]
    }

    /// `x ← A x`.
    pub fn apply_in_place(&self, x: &mut [f64]) {
        let mut y = [0.0; LONGEST];
        for (k, range) in self.start.windows(2).enumerate() {
            let (first, size) = (range[0], range[1] - range[0]);
            let block = &self.entries[self.at[k]..self.at[k + 1]];
            if size == 1 {
                x[first] *= block[0];
                continue;
            }
            for i in 0..size {
                y[i] =
                    crate::vector::dot(&block[i * size..(i + 1) * size], &x[first..first + size]);
            }
            x[first..first + size].copy_from_slice(&y[..size]);
        }
    }

    /// The same with its entries in a sparse matrix.
    pub fn to_sparse(&self) -> Sparse {
        let n = self.start.last().copied().unwrap_or(0);
        let mut triplets = Vec::with_capacity(self.entries.len());
        for (k, range) in self.ranges().enumerate() {
            let size = range.len();
            for i in 0..size {
                for j in 0..size {
                    let value = self.entries[self.at[k] + i * size + j];
                    if value != 0.0 {
                        triplets.push((range.start + i, range.start + j, value));
                    }
                }
            }
        }
        Sparse::from_triplets(n, n, &triplets)
    }
}

fn inverse(block: &Matrix) -> Result<Matrix, Singular> {
    let n = block.rows();
    if n == 1 {
        return match block[(0, 0)] {
            0.0 => Err(Singular { column: 0 }),
            value => Ok(dense(1, |_, _| 1.0 / value)),
        };
    }
    let mut lu = DenseLu::default();
    lu.factor(block)?;
    let mut inverse = Matrix::zeros(n, n);
    let mut column = vec![0.0; n];
    for j in 0..n {
        column.fill(0.0);
        column[j] = 1.0;
        lu.solve(&mut column);
        for i in 0..n {
            inverse[(i, j)] = column[i];
        }
    }
    Ok(inverse)
}

fn dense(n: usize, entry: impl Fn(usize, usize) -> f64) -> Matrix {
    let data = (0..n * n).map(|k| entry(k / n, k % n)).collect();
    Matrix::from_vec(n, n, data)
}
