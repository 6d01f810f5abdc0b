//! `Free`, `Nonnegative`, `Interval`.

use super::*;
use crate::support::INF;

fn sets() -> Vec<Set> {
    let interval = |lower, upper| Set::Interval { lower, upper };
    vec![
        Set::Free,
        Set::Nonnegative,
        interval(-1.0, 1.0),
        interval(-INF, 0.5),
        interval(0.25, INF),
        interval(0.5, 0.5),
    ]
}

#[test]
fn projections() {
    for set in sets() {
        for n in [1, 4] {
            check_projection(&set, n, 101);
        }
    }
}

#[test]
fn natural_maps() {
    for set in sets() {
        check_natural_map(&set, 1, 102);
        check_natural_map(&set, 3, 103);
        check_jacobian(&set, 1, 104);
        check_jacobian(&set, 3, 105);
    }
}

#[test]
fn blocks() {
    for (k, set) in sets().into_iter().enumerate() {
        check_blocks(std::slice::from_ref(&set), 1, 100_000, 106 + k as u64);
        check_blocks(std::slice::from_ref(&set), 4, 20_000, 206 + k as u64);
        check_unique(std::slice::from_ref(&set), 1, 2_000, 306 + k as u64);
        check_unique(&[set], 3, 2_000, 406 + k as u64);
    }
}

/// A row of zeros determines nothing, or everything.
#[test]
fn rows_of_zeros() {
    let solve = |set: &Set, b: f64| {
        let mut z = [0.75];
        set.solve_block(&[0.0], &[b], &mut z).then_some(z[0])
    };
    let relay = Set::Interval { lower: -1.0, upper: 1.0 };
    assert_eq!(solve(&Set::Free, 0.0), Some(0.75));
    assert_eq!(solve(&Set::Free, 1.0), None);
    assert_eq!(solve(&Set::Nonnegative, 0.0), Some(0.75));
    assert_eq!(solve(&Set::Nonnegative, 1.0), Some(0.0));
    assert_eq!(solve(&Set::Nonnegative, -1.0), None);
    assert_eq!(solve(&relay, 2.0), Some(-1.0));
    assert_eq!(solve(&relay, -2.0), Some(1.0));
}
