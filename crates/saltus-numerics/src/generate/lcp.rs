//! Linear complementarity problems by the class of their matrix; dense.

use super::law::{Shares, answer};
use super::{Generated, Random};
use crate::{Block, Measure, NumericsError, Set};
use saltus_linalg::Matrix;

fn complementarity(
    matrix: Matrix,
    pair: (Vec<f64>, Vec<f64>),
    unique: bool,
) -> Result<Generated, NumericsError> {
    let blocks = [Block { size: matrix.rows(), set: Set::Nonnegative }];
    let mut generated = Generated::around(matrix, &blocks, pair, unique)?;
    generated.problem = generated.problem.measured(Measure::Relative);
    Ok(generated)
}

fn draw(n: usize, random: &mut Random) -> (Vec<f64>, Vec<f64>) {
    answer(&[Block { size: n, set: Set::Nonnegative }], Shares::default(), random)
}

/// `A Aᵀ / n + S − Sᵀ` plus a diagonal: a P-matrix that is not symmetric.
pub fn lcp_p(n: usize, seed: u64) -> Result<Generated, NumericsError> {
    let mut random = Random::new(seed);
    let a = Matrix::from_vec(n, n, random.vector(n * n));
    let skew = Matrix::from_vec(n, n, random.vector(n * n));
    let mut matrix = a.mul(&a.transpose());
    matrix.add_scaled(0.5, &skew);
    matrix.add_scaled(-0.5, &skew.transpose());
    matrix.scale(1.0 / n.max(1) as f64);
    matrix.add_scaled(0.1, &Matrix::identity(n));
    let pair = draw(n, &mut random);
    complementarity(matrix, pair, true)
}

/// Symmetric positive semidefinite of the given rank: `w` is unique, `z` mostly not.
pub fn lcp_psd(n: usize, rank: usize, seed: u64) -> Result<Generated, NumericsError> {
    let mut random = Random::new(seed);
    let a = Matrix::from_vec(n, rank, random.vector(n * rank));
    let mut matrix = a.mul(&a.transpose());
    matrix.scale(1.0 / rank.max(1) as f64);
    let pair = draw(n, &mut random);
    complementarity(matrix, pair, false)
}

/// No negative entry and a positive diagonal: strictly copositive, far from definite. There is
/// always an answer, often several.
pub fn lcp_copositive(n: usize, seed: u64) -> Result<Generated, NumericsError> {
    let mut random = Random::new(seed);
    let mut matrix = Matrix::from_vec(n, n, (0..n * n).map(|_| random.unit()).collect());
    matrix.add_scaled(0.1, &Matrix::identity(n));
    let pair = draw(n, &mut random);
    complementarity(matrix, pair, false)
}

/// Ones on the diagonal, twos above, `q = −1`: `2ⁿ` pivots for some rules (Murty). The answer is
/// the last unit vector, and unique.
pub fn murty(n: usize) -> Result<Generated, NumericsError> {
    let mut matrix = Matrix::identity(n);
    for i in 0..n {
        for j in i + 1..n {
            matrix[(i, j)] = 2.0;
        }
    }
    let (mut z, mut w) = (vec![0.0; n], vec![1.0; n]);
    if n > 0 {
        (z[n - 1], w[n - 1]) = (1.0, 0.0);
    }
    complementarity(matrix, (z, w), true)
}

/// A game of two players with `m` and `n` strategies and positive costs `A`, `B`:
///
/// ```text
/// 0 ≤ x ⟂ A y − 1 ≥ 0,      0 ≤ y ⟂ Bᵀ x − 1 ≥ 0
/// ```
///
/// The strategies of the answer are drawn, and the rows of `A` and `Bᵀ` scaled to fit them.
pub fn bimatrix(m: usize, n: usize, seed: u64) -> Result<Generated, NumericsError> {
    let mut random = Random::new(seed);
    let total = m + n;
    let mut strategy = |size: usize| -> Vec<f64> {
        let certain = random.below(size);
        let play =
            |i| if i == certain || random.unit() < 0.4 { random.between(0.2, 1.0) } else { 0.0 };
        (0..size).map(play).collect()
    };
    let (x, y) = (strategy(m), strategy(n));
    let mut matrix = Matrix::zeros(total, total);
    let (mut z, mut w) = (x.clone(), vec![0.0; total]);
    z.extend_from_slice(&y);
    for i in 0..total {
        // the row of a player acts on the strategy of the other
        let (start, other) = if i < m { (m, &y) } else { (0, &x) };
        let costs: Vec<f64> = other.iter().map(|_| random.between(0.5, 1.5)).collect();
        let cost: f64 = costs.iter().zip(other).map(|(c, o)| c * o).sum();
        w[i] = if z[i] > 0.0 { 0.0 } else { random.between(0.1, 1.0) };
        for (j, c) in costs.iter().enumerate() {
            matrix[(i, start + j)] = c * (1.0 + w[i]) / cost;
        }
    }
    complementarity(matrix, (z, w), false)
}
