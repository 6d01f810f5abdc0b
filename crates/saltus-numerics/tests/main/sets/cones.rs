//! `SecondOrder` of several sizes.

use super::*;

const SIZES: [usize; 5] = [1, 2, 3, 5, 9];

fn sets() -> Vec<Set> {
    [0.0, 0.1, 1.0, 3.0, 100.0].map(|mu| Set::SecondOrder { mu }).into()
}

#[test]
fn projections() {
    for n in SIZES {
        sets().iter().for_each(|set| check_projection(set, n, 141));
    }
}

#[test]
fn natural_maps() {
    for n in SIZES {
        for set in sets() {
            check_natural_map(&set, n, 142);
            check_jacobian(&set, n, 143);
        }
    }
}

#[test]
fn blocks() {
    for n in SIZES {
        check_blocks(&sets(), n, if n > 3 { 10_000 } else { 100_000 }, 144);
        check_unique(&sets(), n, 3_000, 145);
    }
}
