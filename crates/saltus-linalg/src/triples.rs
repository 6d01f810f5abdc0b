//! Rows of 3 × 3 blocks times a vector, the inner loop of block Gauss–Seidel.
//!
//! ```text
//! sᵢⱼ = Σ_k (W_k)ᵢⱼ (x_k)ⱼ,      (Σ_k W_k x_k)ᵢ = sᵢ₀ + sᵢ₁ + sᵢ₂                            (1)
//! ```
//!
//! A sum for each place of the block, added up at the end: a row of a block is one multiplication of
//! four numbers, of which the last belongs to what comes next and is left out. Both ways below do the
//! same operations in the same order.

#[cfg(target_arch = "x86_64")]
use pulp::{cast, f64x4, x86::V3};

/// `Σ W_k x_k` for blocks one after the other in `values`, which goes on for at least a number after
/// the last of them; each with its first column.
#[inline]
pub(crate) fn products(
    columns: impl Iterator<Item = usize>,
    values: &[f64],
    x: &[f64],
) -> [f64; 3] {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = V3::try_new() {
        return simd.vectorize(|| wide(simd, columns, values, x));
    }
    narrow(columns, values, x)
}

/// Equation (1), a number at a time.
fn narrow(columns: impl Iterator<Item = usize>, values: &[f64], x: &[f64]) -> [f64; 3] {
    let mut sums = [0.0; 9];
    for (col, block) in columns.zip(values.as_chunks::<9>().0) {
        let x = &x[col..col + 3];
        for i in 0..3 {
            for j in 0..3 {
                sums[3 * i + j] += block[3 * i + j] * x[j];
            }
        }
    }
    [0, 3, 6].map(|i| sums[i] + sums[i + 1] + sums[i + 2])
}

/// Equation (1), a row of a block at a time.
#[cfg(target_arch = "x86_64")]
#[inline(always)] // into what is compiled for the registers of `simd`
fn wide(simd: V3, columns: impl Iterator<Item = usize>, mut values: &[f64], x: &[f64]) -> [f64; 3] {
    let mut sums = [f64x4(0.0, 0.0, 0.0, 0.0); 3];
    for col in columns {
        let (block, x) = (&values[..10], four(x, col));
        for i in 0..3 {
            sums[i] = simd.add_f64x4(sums[i], simd.mul_f64x4(four(block, 3 * i), x));
        }
        values = &values[9..];
    }
    let sum = |f64x4(a, b, c, _)| a + b + c;
    [sum(sums[0]), sum(sums[1]), sum(sums[2])]
}

/// The numbers from place `at`: three and the one after them, which at the end is a zero.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn four(numbers: &[f64], at: usize) -> f64x4 {
    match numbers[at..].first_chunk::<4>() {
        Some(&four) => cast(four),
        None => f64x4(numbers[at], numbers[at + 1], numbers[at + 2], 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_agree_to_the_last_bit() {
        let x: Vec<f64> = (0..12).map(|i| (1.3 * i as f64).sin()).collect();
        let values: Vec<f64> = (0..37).map(|i| (0.7 * i as f64).cos()).collect();
        for columns in [vec![0, 3, 6, 9], vec![9], vec![], vec![3, 0]] {
            let found = products(columns.iter().copied(), &values, &x);
            assert_eq!(found, narrow(columns.iter().copied(), &values, &x));
            for i in 0..3 {
                let expected: f64 = (columns.iter().enumerate())
                    .map(|(k, &col)| {
                        (0..3).map(|j| values[9 * k + 3 * i + j] * x[col + j]).sum::<f64>()
                    })
                    .sum();
                assert!((found[i] - expected).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn what_comes_after_does_not_matter() {
        let mut values = vec![1.0; 10];
        values[9] = f64::NAN;
        let x = [1.0, 2.0, 3.0, f64::INFINITY];
        assert_eq!(products([0].into_iter(), &values, &x), [6.0; 3]);
    }
}
