//! LU factors of a dense square matrix, `P A = L U`, with buffers that are reused.
//!
//! Up to `SMALL` rows a plain loop with partial pivoting is the fastest there is, up to four rows
//! unrolled; above, faer's blocked factorization takes over.

use crate::Matrix;
use crate::vector::{axpy, dot};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::factor::{lu_in_place, lu_in_place_scratch};
use faer::{MatMut, Par};
use std::fmt;

/// Rows up to which the plain loop is used.
const SMALL: usize = 48;

/// The matrix has no inverse to working precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Singular {
    /// The column at which no usable pivot was left.
    pub column: usize,
}

impl fmt::Display for Singular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the matrix is singular at column {}", self.column)
    }
}

impl std::error::Error for Singular {}

/// LU factors of a square matrix.
#[derive(Debug, Clone, Default)]
pub struct DenseLu {
    n: usize,
    lu: Vec<f64>,      // L below the diagonal (unit), U on and above, row by row
    order: Vec<usize>, // row i of L U is row order[i] of A
    work: Vec<f64>,
    large: Large,
}

/// What faer's factorization needs besides the matrix. A copy starts without it.
#[derive(Default)]
struct Large {
    inverse: Vec<usize>, // of `order`
    memory: Option<MemBuffer>,
    bytes: usize, // of `memory`
}

impl Clone for Large {
    fn clone(&self) -> Self {
        Large::default()
    }
}

impl fmt::Debug for Large {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Large").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Large {
    /// Room for `n` unknowns; allocates only where there is not enough yet.
    fn fit(&mut self, n: usize) -> &mut MemBuffer {
        self.inverse.resize(n, 0);
        let scratch = lu_in_place_scratch::<usize, f64>(n, n, Par::Seq, Default::default());
        let bytes = scratch.unaligned_bytes_required();
        if bytes > self.bytes {
            (self.memory, self.bytes) = (None, bytes);
        }
        self.memory.get_or_insert_with(|| MemBuffer::new(scratch))
    }
}

impl DenseLu {
    /// Factors of `matrix`.
    pub fn new(matrix: &Matrix) -> Result<Self, Singular> {
        let mut lu = DenseLu::default();
        lu.factor(matrix)?;
        Ok(lu)
    }

    /// No factors yet, but room for those of `n` unknowns.
    pub fn with_capacity(n: usize) -> Self {
        let mut large = Large::default();
        if n > SMALL {
            large.fit(n);
        }
        DenseLu {
            n: 0,
            lu: Vec::with_capacity(n * n),
            order: Vec::with_capacity(n),
            work: Vec::with_capacity(n),
            large,
        }
    }

    /// Number of unknowns.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are no unknowns.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Replaces the factors by those of `matrix`. At a size seen before nothing is
    /// allocated.
    pub fn factor(&mut self, matrix: &Matrix) -> Result<(), Singular> {
        assert_eq!(matrix.rows(), matrix.cols(), "only a square matrix has LU factors");
        self.load(matrix.rows());
        self.lu.copy_from_slice(matrix.data());
        self.factor_loaded()
    }

    /// Replaces the factors by those of the `n × n` matrix whose entries `entry(i, j)` gives.
    pub fn factor_with(
        &mut self,
        n: usize,
        entry: impl Fn(usize, usize) -> f64,
    ) -> Result<(), Singular> {
        self.load(n);
        for i in 0..n {
            for j in 0..n {
                self.lu[i * n + j] = entry(i, j);
            }
        }
        self.factor_loaded()
    }

    #[inline]
    fn load(&mut self, n: usize) {
        if self.n != n || self.order.len() != n {
            self.n = n;
            self.lu.resize(n * n, 0.0);
            self.work.resize(n, 0.0);
            self.order.resize(n, 0);
        }
        for i in 0..n {
            self.order[i] = i;
        }
    }

    fn factor_loaded(&mut self) -> Result<(), Singular> {
        let (lu, order) = (&mut self.lu, &mut self.order);
        let done = match self.n {
            1 => factor_fixed::<1>(lu, order),
            2 => factor_fixed::<2>(lu, order),
            3 => factor_fixed::<3>(lu, order),
            4 => factor_fixed::<4>(lu, order),
            _ => None,
        };
        if let Some(result) = done {
            return result;
        }
        if self.n <= SMALL {
            self.factor_small()
        } else {
            self.factor_large()
        }
        match (0..self.n).find(|&k| !self.is_usable(k)) {
            Some(column) => Err(Singular { column }),
            None => Ok(()),
        }
    }

    /// Whether pivot `k` is more than the round-off of the sum that made it,
    /// `Aₖₖ = Σᵢ Lₖᵢ Uᵢₖ + Uₖₖ`. Scaling rows and columns changes nothing; a NaN fails.
    #[inline]
    fn is_usable(&self, k: usize) -> bool {
        let n = self.n;
        let lu = &self.lu[..n * n];
        let pivot = lu[k * n + k].abs();
        let mut sum = pivot;
        for i in 0..k {
            sum += lu[k * n + i].abs() * lu[i * n + k].abs();
        }
        pivot > (4 + n) as f64 * f64::EPSILON * sum && sum.is_finite()
    }

    /// Gaussian elimination with partial pivoting, column by column.
    fn factor_small(&mut self) {
        let n = self.n;
        for k in 0..n {
            let mut p = k;
            for i in k + 1..n {
                if self.lu[i * n + k].abs() > self.lu[p * n + k].abs() {
                    p = i;
                }
            }
            if p != k {
                self.order.swap(p, k);
                for j in 0..n {
                    self.lu.swap(p * n + j, k * n + j);
                }
            }
            let pivot = self.lu[k * n + k];
            if pivot == 0.0 {
                continue; // reported by the caller
            }
            let (upper, lower) = self.lu.split_at_mut((k + 1) * n);
            let pivot_row = &upper[k * n + k + 1..(k + 1) * n];
            for row in lower.chunks_exact_mut(n) {
                let factor = row[k] / pivot;
                row[k] = factor;
                if factor != 0.0 {
                    axpy(-factor, pivot_row, &mut row[k + 1..]);
                }
            }
        }
    }

    fn factor_large(&mut self) {
        let n = self.n;
        self.large.fit(n);
        let Large { inverse, memory: Some(memory), .. } = &mut self.large else { return };
        lu_in_place(
            MatMut::from_row_major_slice_mut(&mut self.lu, n, n),
            &mut self.order,
            inverse,
            Par::Seq,
            MemStack::new(memory),
            Default::default(),
        );
    }

    /// `x ← A⁻¹ x`.
    #[inline]
    pub fn solve(&mut self, x: &mut [f64]) {
        match self.n {
            1 => solve_fixed::<1>(&self.lu, &self.order, x),
            2 => solve_fixed::<2>(&self.lu, &self.order, x),
            3 => solve_fixed::<3>(&self.lu, &self.order, x),
            4 => solve_fixed::<4>(&self.lu, &self.order, x),
            _ => self.solve_many(x),
        }
    }

    fn solve_many(&mut self, x: &mut [f64]) {
        let n = self.n;
        let y = &mut self.work;
        // L y = P x
        for i in 0..n {
            let row = &self.lu[i * n..i * n + i];
            y[i] = x[self.order[i]] - dot(row, &y[..i]);
        }
        // U x = y
        for i in (0..n).rev() {
            let row = &self.lu[i * n + i + 1..(i + 1) * n];
            x[i] = (y[i] - dot(row, &x[i + 1..])) / self.lu[i * n + i];
        }
    }

    /// `A⁻¹ B`.
    pub fn solve_matrix(&mut self, right: &Matrix) -> Matrix {
        let mut transposed = right.transpose();
        let n = self.n;
        if n > 0 {
            for column in transposed.data_mut().chunks_exact_mut(n) {
                self.solve(column);
            }
        }
        transposed.transpose()
    }
}

/// Gaussian elimination with partial pivoting, and its check, for a number of rows that is known;
/// nothing where there are other ones.
#[inline]
fn factor_fixed<const N: usize>(
    lu: &mut [f64],
    order: &mut [usize],
) -> Option<Result<(), Singular>> {
    let rows: &mut [[f64; N]; N] = lu.as_chunks_mut::<N>().0.first_chunk_mut()?;
    let order: &mut [usize; N] = order.first_chunk_mut()?;
    for k in 0..N {
        let mut p = k;
        for i in k + 1..N {
            if rows[i][k].abs() > rows[p][k].abs() {
                p = i;
            }
        }
        if p != k {
            order.swap(p, k);
            rows.swap(p, k);
        }
        let pivot_row = rows[k];
        if pivot_row[k] == 0.0 {
            continue; // found below
        }
        for row in &mut rows[k + 1..] {
            let factor = row[k] / pivot_row[k];
            row[k] = factor;
            if factor != 0.0 {
                for j in k + 1..N {
                    row[j] -= factor * pivot_row[j];
                }
            }
        }
    }
    // as in `is_usable`
    for k in 0..N {
        let pivot = rows[k][k].abs();
        let mut sum = pivot;
        for i in 0..k {
            sum += rows[k][i].abs() * rows[i][k].abs();
        }
        if !(pivot > (4 + N) as f64 * f64::EPSILON * sum && sum.is_finite()) {
            return Some(Err(Singular { column: k }));
        }
    }
    Some(Ok(()))
}

/// `x ← A⁻¹ x` with the factors of a matrix whose number of rows is known.
#[inline]
fn solve_fixed<const N: usize>(lu: &[f64], order: &[usize], x: &mut [f64]) {
    let rows: Option<&[[f64; N]; N]> = lu.as_chunks::<N>().0.first_chunk();
    let (Some(rows), Some(order), Some(x)) =
        (rows, order.first_chunk::<N>(), x.first_chunk_mut::<N>())
    else {
        return;
    };
    // L y = P x
    let mut y = [0.0; N];
    for i in 0..N {
        let mut sum = 0.0;
        for j in 0..i {
            sum += rows[i][j] * y[j];
        }
        y[i] = x[order[i]] - sum;
    }
    // U x = y
    for i in (0..N).rev() {
        let mut sum = 0.0;
        for j in i + 1..N {
            sum += rows[i][j] * x[j];
        }
        x[i] = (y[i] - sum) / rows[i][i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix without structure, from a small congruential generator.
    fn random(n: usize, mut seed: u64) -> Matrix {
        let data = (0..n * n)
            .map(|_| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (seed >> 33) as f64 / 2f64.powi(31) - 0.5
            })
            .collect();
        Matrix::from_vec(n, n, data)
    }

    #[test]
    fn solves_small_and_large() {
        for n in [1, 2, 3, 4, 5, 7, 30, 48, 49, 100, 200] {
            let a = random(n, n as u64);
            let x: Vec<f64> = (0..n).map(|i| i as f64 - 1.5).collect();
            let mut b = vec![0.0; n];
            a.apply(&x, &mut b);
            DenseLu::new(&a).unwrap().solve(&mut b);
            for i in 0..n {
                assert!((b[i] - x[i]).abs() < 1e-8, "n = {n}, {} against {}", b[i], x[i]);
            }
        }
    }

    #[test]
    fn singular_matrices_are_refused() {
        let twice = Matrix::from([[1.0, 2.0], [2.0, 4.0]]);
        assert_eq!(DenseLu::new(&twice).unwrap_err(), Singular { column: 1 });
        assert!(DenseLu::new(&Matrix::zeros(60, 60)).is_err());
        assert!(DenseLu::new(&Matrix::from([[f64::NAN]])).is_err());
        assert!(DenseLu::new(&Matrix::from([[1.0, f64::NAN], [0.0, 1.0]])).is_err());
        assert!(DenseLu::new(&Matrix::from([[1.0, 0.0], [f64::INFINITY, 1.0]])).is_err());
    }

    #[test]
    fn round_off_is_no_pivot_at_any_scale() {
        // the third row is the sum of the others, in numbers that do not cancel exactly
        let (a, b, c) = (1.0 / 3.0, 0.7, -1.1);
        for scale in [1.0, 1e-9, 1e9] {
            let (r, s) = ([a, b, c], [c, a * scale, b]);
            let sum = [r[0] + s[0], r[1] + s[1], r[2] + s[2]];
            assert!(DenseLu::new(&Matrix::from([r, s, sum])).is_err(), "{scale}");
        }
        // far from singular, but for the units of its rows and columns
        let scaled = Matrix::from([[2e12, 1.0], [1.0, 2e-12]]);
        assert!(DenseLu::new(&scaled).is_ok());
    }
}
