//! Cholesky's method by blocks, for symmetric matrices whose rows begin late: chains and trees of joints.
//!
//! ```text
//! A = L D Lᵀ,    X_ij = A_ij − Σ_k X_ik L_jkᵀ,    L_ij = X_ij D_j⁻¹,    D_i = A_ii − Σ_j L_ij X_ijᵀ      (1)
//! ```
//!
//! A block has `N` rows, and the last of them are zero where it needs less: all loops have fixed lengths.
//! `D_i⁻¹` is multiplied out. A pivot of `D_i` that is nothing beside the diagonal of `A` belongs to a row
//! that says what others said already: it is left out, and its unknown is zero. So constraints may be
//! redundant.

use super::skyline::REDUNDANT;
use saltus_linalg::{Wide, wide};

pub(super) type Block<const N: usize> = [[f64; N]; N];

/// A matrix by rows of blocks, then its factors in the same place.
#[derive(Debug, Default)]
pub(super) struct Blocks<const N: usize> {
    rows: Vec<Row>,
    left: Vec<Block<N>>,     // A, then L
    diagonal: Vec<Block<N>>, // A, then D⁻¹
}

/// One row of blocks.
#[derive(Debug, Clone, Copy)]
struct Row {
    first: usize, // block column where it begins
    start: usize, // where it begins in `left`
    at: usize,    // its first entry in a vector
    size: usize,  // and how many it has
}

impl<const N: usize> Blocks<N> {
    /// A matrix of zeros with these rows of blocks: the block in which each begins, its first entry in a
    /// vector, and how many entries it has.
    pub fn new(rows: impl Iterator<Item = [usize; 3]>) -> Blocks<N> {
        let mut next = 0;
        let rows: Vec<Row> = (rows.enumerate())
            .map(|(i, [first, at, size])| {
                let start = next;
                next += i - first;
                Row { first, start, at, size }
            })
            .collect();
        let count = rows.len();
        Blocks { rows, left: vec![[[0.0; N]; N]; next], diagonal: vec![[[0.0; N]; N]; count] }
    }

    /// The same with all entries zero.
    pub fn clear(&mut self) {
        self.left.fill([[0.0; N]; N]);
        self.diagonal.fill([[0.0; N]; N]);
    }

    /// A block on the diagonal or left of it.
    #[inline]
    pub fn block(&mut self, i: usize, j: usize) -> &mut Block<N> {
        let Row { first, start, .. } = self.rows[i];
        if i == j { &mut self.diagonal[i] } else { &mut self.left[start + j - first] }
    }

    /// Equation (1).
    pub fn factor(&mut self) {
        wide(Factoring(self));
    }

    #[inline(always)]
    fn eliminate(&mut self) {
        for i in 0..self.rows.len() {
            let Row { first, start, .. } = self.rows[i];
            let (done, rest) = self.left.split_at_mut(start);
            let own = &mut rest[..i - first];
            for j in first..i {
                let other = self.rows[j];
                for k in first.max(other.first)..j {
                    let X = own[k - first];
                    take_product(&X, &done[other.start + k - other.first], &mut own[j - first]);
                }
            }
            let mut D = self.diagonal[i];
            let mut size = [0.0; N];
            for k in 0..N {
                size[k] = D[k][k];
            }
            for j in first..i {
                let X = own[j - first];
                let L = product(&X, &self.diagonal[j]);
                take_product(&L, &X, &mut D);
                own[j - first] = L;
            }
            self.diagonal[i] = inverse(&D, &size);
        }
    }

    /// `x ← A⁻¹ x`.
    pub fn solve(&self, x: &mut [f64], work: &mut Vec<f64>) {
        work.resize(self.rows.len() * N, 0.0);
        wide(Solving { factors: self, x, work });
    }

    #[inline(always)]
    fn substitute(&self, x: &mut [f64], work: &mut [f64]) {
        let (y, _) = work.as_chunks_mut::<N>();
        for i in 0..self.rows.len() {
            let (row, mut own) = (&self.rows[i], [0.0; N]);
            own[..row.size].copy_from_slice(&x[row.at..row.at + row.size]);
            for j in row.first..i {
                let (L, other) = (&self.left[row.start + j - row.first], y[j]);
                for r in 0..N {
                    for c in 0..N {
                        own[r] -= L[r][c] * other[c];
                    }
                }
            }
            y[i] = own;
        }
        for i in 0..y.len() {
            let (right, inverse, mut own) = (y[i], &self.diagonal[i], [0.0; N]);
            // symmetric: by columns
            for c in 0..N {
                for r in 0..N {
                    own[r] += inverse[c][r] * right[c];
                }
            }
            y[i] = own;
        }
        for i in (0..self.rows.len()).rev() {
            let (row, own) = (&self.rows[i], y[i]);
            x[row.at..row.at + row.size].copy_from_slice(&own[..row.size]);
            for j in row.first..i {
                let (L, other) = (&self.left[row.start + j - row.first], &mut y[j]);
                for r in 0..N {
                    for c in 0..N {
                        other[c] -= L[r][c] * own[r];
                    }
                }
            }
        }
    }
}

struct Factoring<'a, const N: usize>(&'a mut Blocks<N>);

impl<const N: usize> Wide for Factoring<'_, N> {
    type Answer = ();

    #[inline(always)]
    fn run(self) {
        self.0.eliminate();
    }
}

struct Solving<'a, const N: usize> {
    factors: &'a Blocks<N>,
    x: &'a mut [f64],
    work: &'a mut [f64],
}

impl<const N: usize> Wide for Solving<'_, N> {
    type Answer = ();

    #[inline(always)]
    fn run(self) {
        self.factors.substitute(self.x, self.work);
    }
}

/// `A B` with a symmetric `B`.
#[inline(always)]
fn product<const N: usize>(A: &Block<N>, B: &Block<N>) -> Block<N> {
    let mut C = [[0.0; N]; N];
    for i in 0..N {
        for k in 0..N {
            for j in 0..N {
                C[i][j] += A[i][k] * B[k][j];
            }
        }
    }
    C
}

/// `C ← C − A Bᵀ`.
#[inline(always)]
fn take_product<const N: usize>(A: &Block<N>, B: &Block<N>, C: &mut Block<N>) {
    let T = transposed(B);
    for i in 0..N {
        let mut row = C[i];
        for k in 0..N {
            for j in 0..N {
                row[j] -= A[i][k] * T[k][j];
            }
        }
        C[i] = row;
    }
}

/// `C ← C + A Bᵀ`.
#[inline(always)]
pub(super) fn add_product<const M: usize, const N: usize>(
    A: &[[f64; M]; N],
    B: &[[f64; M]; N],
    C: &mut Block<N>,
) {
    let T = transposed(B);
    for i in 0..N {
        let mut row = C[i];
        for k in 0..M {
            for j in 0..N {
                row[j] += A[i][k] * T[k][j];
            }
        }
        C[i] = row;
    }
}

#[inline(always)]
fn transposed<const M: usize, const N: usize>(A: &[[f64; M]; N]) -> [[f64; N]; M] {
    let mut T = [[0.0; N]; M];
    for j in 0..N {
        for k in 0..M {
            T[k][j] = A[j][k];
        }
    }
    T
}

/// `A⁻¹ = L⁻ᵀ D⁻¹ L⁻¹`, without the pivots that are nothing beside `size`.
#[inline(always)]
fn inverse<const N: usize>(A: &Block<N>, size: &[f64; N]) -> Block<N> {
    // L below the diagonal, and 1/D
    let mut L = *A;
    let mut over = [0.0; N];
    for j in 0..N {
        let pivot = L[j][j];
        over[j] = if pivot > REDUNDANT * size[j] { 1.0 / pivot } else { 0.0 };
        let mut column = [0.0; N];
        for i in j + 1..N {
            column[i] = L[i][j];
            L[i][j] = column[i] * over[j];
            for k in j + 1..=i {
                L[i][k] -= L[i][j] * column[k];
            }
        }
    }
    // L⁻¹, row by row
    let mut K = [[0.0; N]; N];
    for i in 0..N {
        K[i][i] = 1.0;
        for k in 0..i {
            for j in 0..=k {
                K[i][j] -= L[i][k] * K[k][j];
            }
        }
    }
    let mut C = [[0.0; N]; N];
    for k in 0..N {
        for i in 0..=k {
            let share = over[k] * K[k][i];
            for j in 0..N {
                C[i][j] += share * K[k][j];
            }
        }
    }
    C
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix of four rows of blocks in a ring, with one row that says what another says.
    #[test]
    fn a_ring_with_a_row_twice_is_solved() {
        // A = G Gᵀ, with three numbers of G for each of the unknowns; the last two rows of a block of
        // two are the same
        let (sizes, firsts) = ([3, 2, 3, 1], [0, 0, 1, 0]);
        let n: usize = sizes.iter().sum();
        let starts = [0, 3, 5, 8];
        let block_of = |i: usize| starts.iter().rposition(|start| *start <= i).unwrap();
        // entries of G stand where blocks share a system: 0–1, 1–2, 0–3, 2–3, and each its own
        let shares = [[0, 1], [1, 2], [0, 3], [2, 3], [0, 0], [1, 1], [2, 2], [3, 3]];
        let mut state = 1_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / (1 << 24) as f64 - 0.5
        };
        let mut G = vec![vec![0.0; 3 * shares.len()]; n];
        for i in 0..n {
            for (s, of) in shares.iter().enumerate() {
                for k in 0..3 {
                    let entry = random();
                    if of.contains(&block_of(i)) {
                        G[i][3 * s + k] = entry;
                    }
                }
            }
        }
        G[4] = G[3].clone();
        let dot = |i: usize, j: usize| G[i].iter().zip(&G[j]).map(|(a, b)| a * b).sum::<f64>();
        let rows = (0..4).map(|i| [firsts[i], starts[i], sizes[i]]);
        let mut blocks = Blocks::<3>::new(rows);
        for i in 0..n {
            for j in 0..n {
                let (a, b) = (block_of(i), block_of(j));
                if b <= a && b >= firsts[a] {
                    blocks.block(a, b)[i - starts[a]][j - starts[b]] = dot(i, j);
                }
            }
        }
        blocks.factor();
        let x: Vec<f64> = (0..n).map(|k| 1.0 + k as f64).collect();
        let b: Vec<f64> = (0..n).map(|i| (0..n).map(|j| dot(i, j) * x[j]).sum()).collect();
        let (mut y, mut work) = (b.clone(), Vec::new());
        blocks.solve(&mut y, &mut work);
        assert_eq!(y[4], 0.0);
        for i in 0..n {
            let product: f64 = (0..n).map(|j| dot(i, j) * y[j]).sum();
            assert!(
                (product - b[i]).abs() < 1e-12 * b[i].abs().max(1.0),
                "{i}: {product} {}",
                b[i]
            );
        }
    }
}
