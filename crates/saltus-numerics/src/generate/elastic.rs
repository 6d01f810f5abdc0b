//! Elastic bodies: large matrices that couple all, and few contacts; and the membrane.

use super::law::{Shares, answer};
use super::{Generated, Random};
use crate::{Block, NumericsError, Set};
use saltus_linalg::Sparse;

/// An elastic bar of `n` nodes in space, whose effective mass is block tridiagonal, and which
/// touches something with friction `mu` at every tenth node.
pub fn fem(n: usize, mu: f64, seed: u64) -> Result<Generated, NumericsError> {
    let mut random = Random::new(seed);
    let mut entries = Vec::with_capacity(15 * n);
    for i in 0..n {
        for a in 0..3 {
            entries.push((3 * i + a, 3 * i + a, random.between(0.5, 1.0)));
        }
        if i == 0 {
            continue;
        }
        // a spring between neighbours: stiffer along the bar, and coupled a little
        let (along, across) = (random.between(2.0, 4.0), random.between(0.5, 1.0));
        for a in 0..3 {
            for b in 0..3 {
                let k = if a != b {
                    0.1
                } else if a == 0 {
                    along
                } else {
                    across
                };
                let (p, q) = (3 * (i - 1) + a, 3 * (i - 1) + b);
                entries.push((p, q, k));
                entries.push((p + 3, q + 3, k));
                entries.push((p, q + 3, -k));
                entries.push((p + 3, q, -k));
            }
        }
    }
    let mass = Sparse::from_triplets(3 * n, 3 * n, &entries);
    let contacts = n.div_ceil(10);
    let columns: Vec<_> = (0..contacts)
        .flat_map(|c| [(2, 0), (0, 1), (1, 2)].map(|(a, k)| (30 * c + a, 3 * c + k, 1.0)))
        .collect();
    let H = Sparse::from_triplets(3 * n, 3 * contacts, &columns);
    let blocks = vec![Block { size: 3, set: Set::Coulomb3 { mu } }; contacts];
    let pair = answer(&blocks, Shares::default(), &mut random);
    let v = random.vector(3 * n);
    Generated::in_motion(mass, H, &v, &blocks, pair)
}

/// A membrane over an obstacle on a grid of `n × n` points: `z` is its height above the obstacle,
/// `w` the pressure of the contact in the middle.
pub fn obstacle(n: usize) -> Result<Generated, NumericsError> {
    let mut entries = Vec::with_capacity(5 * n * n);
    let (mut z, mut w) = (vec![0.0; n * n], vec![0.0; n * n]);
    for i in 0..n {
        for j in 0..n {
            let at = i * n + j;
            entries.push((at, at, 4.0));
            if i > 0 {
                entries.push((at, at - n, -1.0));
                entries.push((at - n, at, -1.0));
            }
            if j > 0 {
                entries.push((at, at - 1, -1.0));
                entries.push((at - 1, at, -1.0));
            }
            // in contact on a disk, and parabolic outside of it
            let coordinate = |k: usize| (2 * k + 1) as f64 / n as f64 - 1.0;
            let over = coordinate(i).powi(2) + coordinate(j).powi(2) - 0.3;
            if over > 0.0 {
                z[at] = over;
            } else {
                w[at] = (0.01 - over) / n as f64;
            }
        }
    }
    let laplacian = Sparse::from_triplets(n * n, n * n, &entries);
    let blocks = [Block { size: n * n, set: Set::Nonnegative }];
    Generated::around(laplacian, &blocks, (z, w), true)
}
