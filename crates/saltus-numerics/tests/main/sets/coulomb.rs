//! `Coulomb2`, `Coulomb3`, `DruckerPrager`.

use super::*;

const MU: [f64; 8] = [0.0, 1e-6, 0.1, 0.3, 0.7, 1.0, 3.0, 100.0];

fn plane() -> Vec<Set> {
    MU.iter().map(|&mu| Set::Coulomb2 { mu }).collect()
}

fn space() -> Vec<Set> {
    MU.iter().map(|&mu| Set::Coulomb3 { mu }).collect()
}

fn dilatant() -> Vec<Set> {
    let mut sets = Vec::new();
    for eta in [0.0, 0.2, 1.0, 3.0] {
        for share in [0.0, 0.3, 1.0] {
            sets.push(Set::DruckerPrager { eta, theta: share * eta });
        }
    }
    sets
}

#[test]
fn projections() {
    for (sets, n) in [(plane(), 2), (space(), 3), (dilatant(), 3)] {
        sets.iter().for_each(|set| check_projection(set, n, 121));
    }
}

#[test]
fn natural_maps() {
    for (sets, n) in [(plane(), 2), (space(), 3), (dilatant(), 3)] {
        for set in sets {
            check_natural_map(&set, n, 122);
            check_jacobian(&set, n, 123);
        }
    }
}

#[test]
fn blocks_in_the_plane() {
    check_blocks(&plane(), 2, 200_000, 124);
    check_unique(&plane()[..4], 2, 10_000, 125);
}

#[test]
fn blocks_in_space() {
    check_blocks(&space(), 3, 200_000, 126);
    check_unique(&space()[..4], 3, 10_000, 127);
}

#[test]
fn dilatant_blocks() {
    check_blocks(&dilatant(), 3, 100_000, 128);
    check_unique(&dilatant()[..6], 3, 10_000, 129);
}

/// All answers of one contact by a dense scan of the sliding directions.
fn scan(mu: f64, W: &[f64], b: &[f64]) -> Vec<[f64; 3]> {
    let mut all = Vec::new();
    if b[0] >= 0.0 {
        all.push([0.0; 3]);
    }
    // stick, by Cramer's rule
    let det = |m: &[f64]| {
        m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6])
            + m[2] * (m[3] * m[7] - m[4] * m[6])
    };
    let whole = det(W);
    let stick = [0, 1, 2].map(|j| {
        let mut m = W.to_vec();
        (0..3).for_each(|i| m[i * 3 + j] = -b[i]);
        det(&m) / whole
    });
    if norm(&stick[1..]) <= mu * stick[0] {
        all.push(stick);
    }
    let turn = |angle: f64| {
        let d = [angle.cos(), angle.sin()];
        let p = [1.0, mu * d[0], mu * d[1]];
        let r = -b[0] / dot(&W[..3], &p);
        let z = p.map(|p| r * p);
        let w = dual(W, b, &z);
        (z, r, d[0] * w[2] - d[1] * w[1], -(d[0] * w[1] + d[1] * w[2]))
    };
    let rays = 2000;
    for k in 0..rays {
        let step = std::f64::consts::TAU / f64::from(rays);
        let (mut from, mut to) = (f64::from(k) * step, f64::from(k + 1) * step);
        let (a, b) = (turn(from), turn(to));
        if (a.2 > 0.0) == (b.2 > 0.0) || !(a.1 > 0.0 && b.1 > 0.0) {
            continue;
        }
        for _ in 0..60 {
            let middle = 0.5 * (from + to);
            if (turn(middle).2 > 0.0) == (a.2 > 0.0) { from = middle } else { to = middle }
        }
        let (z, r, _, lambda) = turn(from);
        if r >= 0.0 && lambda >= 0.0 {
            all.push(z);
        }
    }
    all
}

/// The answer is one of those that a scan finds, and the one if there is but one.
#[test]
fn a_dense_scan_agrees() {
    let mut random = Random(130);
    let mut several = 0;
    for round in 0..4_000 {
        let mu = [0.1, 0.5, 1.0, 2.0, 5.0][random.below(5)];
        let set = Set::Coulomb3 { mu };
        let kind = if round % 2 == 0 { Kind::Symmetric } else { Kind::Unsymmetric };
        let OneBlock { W, b, .. } = block(&set, 3, &mut random, kind);
        let all = scan(mu, &W, &b);
        let mut z = [0.0; 3];
        assert!(set.solve_block(&W, &b, &mut z), "{mu} {W:?} {b:?} {all:?}");
        several += usize::from(all.len() > 1);
        let closest = all.iter().map(|x| distance(x, &z)).fold(f64::INFINITY, f64::min);
        if all.is_empty() {
            continue; // on the edge between two cases, both may fail by round-off
        }
        assert!(closest <= 1e-7 * (1.0 + norm(&z)), "{mu} {W:?} {b:?}: {z:?} not in {all:?}");
        // every answer is reached from a guess beside it, or from zero
        if all.len() == 1 {
            let mut other = vector(&mut random, 3);
            assert!(set.solve_block(&W, &b, &mut other));
            assert!(distance(&other, &z) <= 1e-8 * (1.0 + norm(&z)), "{mu} {W:?} {b:?}");
        }
    }
    assert!(several > 10, "{several}");
}

/// The three cases, and the answer scales with `b`.
#[test]
fn the_three_cases() {
    let set = Set::Coulomb3 { mu: 0.5 };
    let W = [2.0, 0.1, 0.0, 0.1, 1.0, 0.2, 0.0, 0.2, 1.5];
    for (b, case) in [([1.0, -3.0, 2.0], 0), ([-1.0, 0.1, 0.05], 1), ([-1.0, 2.0, -1.0], 2)] {
        let mut z = [0.0; 3];
        assert!(set.solve_block(&W, &b, &mut z));
        let (force, limit) = (norm(&z[1..]), 0.5 * z[0]);
        match case {
            0 => assert_eq!(z, [0.0; 3]),
            1 => assert!(z[0] > 0.0 && force < limit && norm(&dual(&W, &b, &z)) < 1e-15),
            _ => assert!(z[0] > 0.0 && (force - limit).abs() < 1e-15),
        }
        for scale in [1e-100, 1e-20, 1e20, 1e100] {
            let mut y = [0.0; 3];
            assert!(set.solve_block(&W, &b.map(|b| b * scale), &mut y));
            assert!(distance(&y, &z.map(|z| z * scale)) <= 1e-14 * scale, "{scale}");
        }
    }
}
