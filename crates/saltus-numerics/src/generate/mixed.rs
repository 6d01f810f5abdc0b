//! Every set in one problem.

use super::law::{Shares, answer};
use super::{Generated, Random};
use crate::{Block, Graph, NumericsError, Set};
use saltus_linalg::Sparse;
use std::sync::Arc;

/// `blocks` blocks of all kinds in turn: joints, contacts, relays, graphs, cones, yield surfaces;
/// each coupled to a few others. The matrix is sparse and so close to diagonal that the answer is
/// unique, with friction of at most 0.3: with `λ` its least eigenvalue, that of its symmetric part,
/// the map with its shift is strongly monotone for `λ > μ ‖W‖`.
pub fn mixed(blocks: usize, symmetric: bool, seed: u64) -> Result<Generated, NumericsError> {
    let mut random = Random::new(seed);
    let blocks: Vec<Block> = (0..blocks).map(|k| kind(k, &mut random)).collect();
    let mut starts = vec![0];
    for block in &blocks {
        starts.push(starts[starts.len() - 1] + block.size);
    }
    let n = starts[blocks.len()];

    // 1 + a share of the couplings on the diagonal; each unknown has at most a few of them
    let mut entries: Vec<(usize, usize, f64)> = (0..n).map(|i| (i, i, 1.0)).collect();
    let mut couple = |i: usize, j: usize, size: f64, random: &mut Random| {
        let value = size * random.between(-1.0, 1.0);
        let back = if symmetric { value } else { size * random.between(-1.0, 1.0) };
        entries.push((i, j, value));
        entries.push((j, i, back));
    };
    for (k, block) in blocks.iter().enumerate() {
        let range = starts[k]..starts[k] + block.size;
        for i in range.clone() {
            for j in i + 1..range.end {
                couple(i, j, 0.05, &mut random);
            }
        }
        for other in [k.checked_sub(1), k.checked_sub(7)].into_iter().flatten() {
            let i = starts[k] + random.below(block.size);
            let j = starts[other] + random.below(blocks[other].size);
            couple(i, j, 0.1, &mut random);
        }
    }
    let matrix = Sparse::from_triplets(n, n, &entries);
    let pair = answer(&blocks, Shares::default(), &mut random);
    Generated::around(matrix, &blocks, pair, true)
}

fn kind(k: usize, random: &mut Random) -> Block {
    let mu = random.between(0.05, 0.3);
    let mu_r = random.between(0.02, 0.1);
    let block = |size, set| Block { size, set };
    match k % 12 {
        0 => block(3, Set::Free),
        1 => block(3, Set::Coulomb3 { mu }),
        2 => block(1, Set::Interval { lower: -1.0, upper: 1.0 }),
        3 => match graph(random) {
            Some(graph) => block(1, Set::Graph(Arc::new(graph))),
            None => block(1, Set::Nonnegative),
        },
        4 => block(2, Set::Nonnegative),
        5 => block(2, Set::Coulomb2 { mu }),
        6 => block(4, Set::SecondOrder { mu: 1.0 }),
        7 => block(5, Set::Rolling3 { mu, mu_r }),
        8 => block(3, Set::DruckerPrager { eta: mu, theta: 0.3 * mu }),
        9 => block(3, Set::Rolling2 { mu, mu_r }),
        10 => block(3, Set::VonMises { sigma_y: 1.0 }),
        _ => block(6, Set::SecondOrder { mu: 0.5 }),
    }
}

/// A relay with a slope, a dead zone and a saturation.
fn graph(random: &mut Random) -> Option<Graph> {
    let (a, b) = (random.between(0.2, 1.0), random.between(0.2, 1.0));
    let points = [(-2.0, 1.0 + b), (-1.0, 1.0), (-a, 1.0), (-a, 0.0), (a, 0.0), (1.0 + a, -1.0)];
    Graph::new(&points).ok()
}
