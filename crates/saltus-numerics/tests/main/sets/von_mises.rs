//! `VonMises`.

use super::*;

fn sets() -> Vec<Set> {
    [0.0, 1e-3, 1.0, 20.0].map(|sigma_y| Set::VonMises { sigma_y }).into()
}

#[test]
fn projections() {
    sets().iter().for_each(|set| check_projection(set, 3, 161));
}

#[test]
fn natural_maps() {
    for set in sets() {
        check_natural_map(&set, 3, 162);
        check_jacobian(&set, 3, 163);
    }
}

#[test]
fn blocks() {
    check_blocks(&sets(), 3, 100_000, 164);
    check_unique(&sets(), 3, 10_000, 165);
}
