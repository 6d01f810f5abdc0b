//! Rows of 3 × 3 blocks times a vector, the inner loop of block Gauss–Seidel.
//!
//! ```text
//! sᵢⱼ = Σ_k (W_k)ᵢⱼ (x_k)ⱼ,      (Σ_k W_k x_k)ᵢ = sᵢ₀ + sᵢ₁ + sᵢ₂                            (1)
//! ```
//!
//! A sum for each place of the block, added up at the end: a row of a block is one multiplication of
//! four numbers, of which the last belongs to what comes next and is left out. Both ways below do the
//! same operations in the same order.

#![allow(unsafe_code)] // the wide registers have to be asked for

/// `Σ W_k x_k` for blocks one after the other in `values`, which goes on for at least a number after
/// the last of them; each with its first column.
#[inline]
pub(crate) fn products(
    columns: impl ExactSizeIterator<Item = usize>,
    values: &[f64],
    x: &[f64],
) -> [f64; 3] {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx") {
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { wide(columns, values, x) };
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
#[target_feature(enable = "avx")]
fn wide(columns: impl ExactSizeIterator<Item = usize>, values: &[f64], x: &[f64]) -> [f64; 3] {
    use std::arch::x86_64::*;
    assert!(values.len() > 9 * columns.len(), "a number after the last block");
    let mut sums = [_mm256_setzero_pd(); 3];
    for (k, col) in columns.enumerate() {
        let x = match x[col..].first_chunk::<4>() {
            // SAFETY: four numbers are there.
            Some(four) => unsafe { _mm256_loadu_pd(four.as_ptr()) },
            None => _mm256_set_pd(0.0, x[col + 2], x[col + 1], x[col]),
        };
        for i in 0..3 {
            // SAFETY: it reads the numbers 9 k + 3 i to 9 k + 9 at most, and there are more.
            let row = unsafe { _mm256_loadu_pd(values.as_ptr().add(9 * k + 3 * i)) };
            sums[i] = _mm256_add_pd(sums[i], _mm256_mul_pd(row, x));
        }
    }
    sums.map(|sum| {
        let mut four = [0.0; 4];
        // SAFETY: there is room for four.
        unsafe { _mm256_storeu_pd(four.as_mut_ptr(), sum) };
        four[0] + four[1] + four[2]
    })
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
