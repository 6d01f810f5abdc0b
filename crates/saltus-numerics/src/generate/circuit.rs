//! Circuits.

use super::law::{Shares, answer};
use super::{Generated, Random};
use crate::{Block, NumericsError, Set};
use saltus_linalg::Sparse;

/// A ladder of `n` cells, each with a resistor along it, a capacitor to ground and a diode, over
/// one step of the implicit Euler method. The voltages are free, the currents of the diodes
/// complementary:
///
/// ```text
/// (C/h + G) v − i + q_v = 0,      0 ≤ i ⟂ v + r i + q_i ≥ 0
/// ```
pub fn ladder(n: usize, seed: u64) -> Result<Generated, NumericsError> {
    let mut random = Random::new(seed);
    let mut entries = Vec::with_capacity(6 * n);
    for k in 0..n {
        entries.push((k, k, random.between(0.1, 1.0))); // C/h
        let conductance = 10f64.powf(random.between(-1.0, 1.0));
        entries.push((k, k, conductance));
        if k > 0 {
            entries.push((k - 1, k - 1, conductance));
            entries.push((k - 1, k, -conductance));
            entries.push((k, k - 1, -conductance));
        }
        entries.push((k, n + k, -1.0));
        entries.push((n + k, k, 1.0));
        entries.push((n + k, n + k, 0.01)); // r
    }
    let matrix = Sparse::from_triplets(2 * n, 2 * n, &entries);
    let blocks = [Block { size: n, set: Set::Free }, Block { size: n, set: Set::Nonnegative }];
    let pair = answer(&blocks, Shares::default(), &mut random);
    Generated::around(matrix, &blocks, pair, true)
}
