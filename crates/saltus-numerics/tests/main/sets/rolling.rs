//! `Rolling2`, `Rolling3`.

use super::*;

const RATIOS: [(f64, f64); 9] = [
    (0.0, 0.0),
    (0.3, 0.0),
    (0.0, 0.3),
    (0.3, 0.01),
    (0.5, 0.5),
    (1.0, 0.1),
    (0.1, 2.0),
    (3.0, 2.0),
    (50.0, 20.0),
];

fn plane() -> Vec<Set> {
    RATIOS.iter().map(|&(mu, mu_r)| Set::Rolling2 { mu, mu_r }).collect()
}

fn space() -> Vec<Set> {
    RATIOS.iter().map(|&(mu, mu_r)| Set::Rolling3 { mu, mu_r }).collect()
}

#[test]
fn projections() {
    for (sets, n) in [(plane(), 3), (space(), 5)] {
        sets.iter().for_each(|set| check_projection(set, n, 151));
    }
}

#[test]
fn natural_maps() {
    for (sets, n) in [(plane(), 3), (space(), 5)] {
        for set in sets {
            check_natural_map(&set, n, 152);
            check_jacobian(&set, n, 153);
        }
    }
}

#[test]
fn blocks_in_the_plane() {
    check_blocks(&plane(), 3, 200_000, 154);
    check_unique(&plane()[..5], 3, 10_000, 155);
}

#[test]
fn blocks_in_space() {
    check_blocks(&space(), 5, 200_000, 156);
    check_unique(&space()[..5], 5, 10_000, 157);
}
