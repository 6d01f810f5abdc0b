//! Regions: where sweeps do not get on, the surroundings of the worst blocks are solved together.
//!
//! In large friction problems most blocks settle soon, and a few groups of them, in which one
//! contact's slip opens another, keep the sweeps from converging. Each group with its neighbours
//! is a small problem, in which the rest `S` stands still:
//!
//! ```text
//! w_R = W_RR z_R + (q_R + W_RS z_S)   for each region R                                     (1)
//! ```
//!
//! Regions overlap, and each sees what the ones before it have changed. After all of them some
//! sweeps spread what is left: in spots around the blocks that are the worse for it, or in all of
//! the problem where these are most of it. The cost is linear in the number of regions.
//! Reference: Cai, Keyes, *SIAM J. Sci. Comput.* 24 (2002) 183–200, for equations.

use super::islands::Neighbourhood;

/// Share of the largest residual of a block from which a block has a region.
const LEAST: f64 = 0.1;
/// Blocks of a region: at first, and at most in problems that are not very large.
pub(super) const SIZE: usize = 40;
pub(super) const LARGEST: usize = 320;
/// How far what a region has changed is looked for.
pub(super) const RINGS: usize = 4;
/// Share of the squared residual that the worst blocks hold, and most of the blocks that these are.
const HELD: f64 = 0.9;
const FEW: f64 = 0.05;

/// The regions of at most `size` blocks around those with large shares of the residual, the
/// largest first; `None` where most of the problem would be in several of them.
pub(super) fn around(
    blocks: &impl Neighbourhood,
    shares: &[f64],
    size: usize,
) -> Option<Vec<Vec<usize>>> {
    let count = blocks.len();
    let least = LEAST * shares.iter().copied().fold(0.0, f64::max);
    let mut seeds: Vec<usize> = (0..count).filter(|&k| shares[k] >= least).collect();
    seeds.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
    let mut inside = vec![false; count]; // a region, with all its neighbours
    let mut seen = vec![usize::MAX; count]; // the last seed that a block was reached from
    let mut regions = Vec::new();
    for seed in seeds {
        if inside[seed] {
            continue;
        }
        let mut region = vec![seed];
        seen[seed] = seed;
        let mut next = 0;
        while next < region.len() && region.len() < size {
            blocks.for_each_neighbour(region[next], |other| {
                if seen[other] != seed && region.len() < size {
                    seen[other] = seed;
                    region.push(other);
                }
            });
            next += 1;
        }
        region[..next].iter().for_each(|&k| inside[k] = true);
        region.sort_unstable();
        regions.push(region);
        // together as large as the problem: nothing is local
        if regions.len() * size > count && regions.len() > 1 {
            return None;
        }
    }
    Some(regions)
}

/// The least share of the blocks that together hold most of the residual; `None` where these are many,
/// unless the worst of them are to be had then.
///
/// ```text
/// Σ shareₖ² over shareₖ ≥ level  is  0.9 Σ shareₖ²  or more
/// ```
pub(super) fn worst(shares: &[f64], even_of_many: bool) -> Option<f64> {
    let mut sorted = shares.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let all: f64 = sorted.iter().map(|share| share * share).sum();
    let most = (FEW * sorted.len() as f64).ceil() as usize;
    let mut held = 0.0;
    for &share in sorted.iter().take(most) {
        held += share * share;
        if held >= HELD * all {
            return Some(share);
        }
    }
    sorted.get(most.saturating_sub(1)).copied().filter(|_| even_of_many)
}

/// The blocks with at least this share and those within so many steps of them; each spot sees none of
/// the others.
pub(super) fn spots(
    blocks: &impl Neighbourhood,
    shares: &[f64],
    level: f64,
    rings: usize,
) -> Vec<Vec<usize>> {
    let mut inside: Vec<bool> = shares.iter().map(|&share| !(share < level)).collect();
    let mut ring: Vec<usize> = (0..blocks.len()).filter(|&k| inside[k]).collect();
    let mut next = Vec::new();
    let visit = |k: usize, inside: &mut [bool], to: bool, found: &mut Vec<usize>| {
        blocks.for_each_neighbour(k, |other| {
            if inside[other] != to {
                inside[other] = to;
                found.push(other);
            }
        });
    };
    for _ in 0..rings {
        next.clear();
        ring.iter().for_each(|&k| visit(k, &mut inside, true, &mut next));
        std::mem::swap(&mut ring, &mut next);
    }
    // those that see each other together; what is collected is no longer inside
    let mut spots = Vec::new();
    for seed in 0..blocks.len() {
        if !inside[seed] {
            continue;
        }
        inside[seed] = false;
        let mut spot = vec![seed];
        let mut at = 0;
        while at < spot.len() {
            let k = spot[at];
            visit(k, &mut inside, false, &mut spot);
            at += 1;
        }
        spot.sort_unstable();
        spots.push(spot);
    }
    spots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem;
    use crate::blocks::Blocks;
    use saltus_linalg::Sparse;

    /// A chain of unknowns, each of which sees the next and the one before.
    fn chain(n: usize) -> Blocks {
        let mut triplets = Vec::new();
        for i in 0..n {
            triplets.push((i, i, 2.0));
            if i > 0 {
                triplets.extend([(i, i - 1, -1.0), (i - 1, i, -1.0)]);
            }
        }
        let problem = Problem::lcp(Sparse::from_triplets(n, n, &triplets), vec![0.0; n]).unwrap();
        let mut blocks = Blocks::default();
        blocks.update("regions", &problem).unwrap();
        blocks
    }

    #[test]
    fn the_nearest_blocks_are_around_the_worst() {
        let mut shares = vec![0.0; 1000];
        (shares[500], shares[501], shares[100], shares[800]) = (1.0, 0.9, 0.2, 0.05);
        let regions = around(&chain(1000), &shares, SIZE).unwrap();
        assert_eq!(regions.len(), 2); // 501 is inside the first, the share of 800 is too small
        assert!(regions.iter().all(|region| region.len() == SIZE));
        assert_eq!(regions[0].first(), Some(&480));
        assert!(regions[0].contains(&519) && regions[1].contains(&100));
    }

    #[test]
    fn spots_do_not_see_each_other() {
        let mut shares = vec![0.0; 100];
        (shares[20], shares[24], shares[60], shares[90]) = (1.0, 2.0, 1.0, 0.5);
        let expected: [Vec<usize>; 2] = [(16..29).collect(), (56..65).collect()];
        assert_eq!(spots(&chain(100), &shares, 1.0, RINGS), expected);
        assert_eq!(spots(&chain(100), &shares, 0.0, RINGS).len(), 1);
        // what is no number is not good
        shares[20] = f64::NAN;
        assert_eq!(spots(&chain(100), &shares, 1.0, RINGS), expected);
    }

    #[test]
    fn the_worst_hold_most_of_the_residual() {
        let mut shares = vec![0.01; 100];
        (shares[7], shares[50], shares[51]) = (1.0, 2.0, 0.9);
        assert_eq!(worst(&shares, false), Some(0.9));
        // a residual that is everywhere has no worst blocks, but some may be wanted
        assert_eq!(worst(&[1.0; 100], false), None);
        assert_eq!(worst(&[1.0; 100], true), Some(1.0));
        assert_eq!(worst(&[], true), None);
    }

    #[test]
    fn what_is_wrong_everywhere_is_not_local() {
        assert!(around(&chain(100), &[1.0; 100], SIZE).is_none());
        // unless one region holds everything
        assert_eq!(around(&chain(30), &[1.0; 30], SIZE).unwrap().len(), 1);
    }
}
