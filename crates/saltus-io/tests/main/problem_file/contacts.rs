//! Friction, cones, yield surfaces and mixed blocks: small texts with known answers, and wrong
//! ones with what is said about them.

use super::check_wrong;
use saltus_io::problem_file::{ErrorKind, Kind, StoredProblem, parse};
use saltus_numerics::residual::residual;
use saltus_numerics::{Measure, Operator, Set};

/// Two contacts in the plane in sparse blocks, only those on the diagonal.
pub const FC2D: &str = "\
2 2
1 4 4
2 2 2
2 4   2 4
3 2
0 1 2   0 1
0   2 0 0 3
1   5 1 1 4
-1 0.5  -2 0
0.3 0.3
1
";

/// A unit mass that is pressed on a plane and pushed: it slides, r = (1, −0.4, 0).
pub const FC3D: &str = "\
3 1
0 3 3
3 3
1 0 0
0 1 0
0 0 1
-1 2 0
0.4
";

/// The same with its mass, 2, and with the bias in `b`.
pub const GFC3D: &str = "\
3 1
0 3 3 3 3
2 0 0   0 2 0   0 0 2
2
3
3
1
any banner line
triplet: 3-by-3, nzmax: 5 nnz: 4
    0 0 : 1
    2 2 : 1
    1 1 : 0.5
    1 1 : 0.5
-2 2 0
0 1 0
0.4
0
";

/// A mass in the plane, with the contacts in compressed columns.
pub const GFC2D: &str = "\
2 1
2 2 2
2
banner
2-by-2, nzmax: 2 nnz: 2, 1-norm: 4
    col 0 : locations 0 to 0
      0 : 4
    col 1 : locations 1 to 1
      1 : 4
1 2 2
1 1 1  2 2  2 1  0 1 0
0  1 0 0 1
-4 1
0 0
0.5
";

/// No contacts: nothing but the mass.
pub const GFC2D_FREE: &str = "\
2 0
0 2 2 2 2
1 0 0 1
2
2
0
1
banner
triplet: 2-by-0, nzmax: 1 nnz: 0
3 4
";

/// One contact with rolling resistance: it sticks and rolls.
pub const RFC3D: &str = "\
5 1
0 5 5 5 5
1 0 0 0 0   0 1 0 0 0   0 0 1 0 0   0 0 0 1 0   0 0 0 0 1
-2 0.5 0 1 0
0.5
0.1
";

/// The same in the plane.
pub const RFC2D: &str = "3 1  0 3 3 3 3  1 0 0  0 1 0  0 0 1  -2 0.5 1  0.5  0.1\n";

/// And with its mass.
pub const GRFC3D: &str = "\
5 1
0 5 5 5 5
1 0 0 0 0   0 1 0 0 0   0 0 1 0 0   0 0 0 1 0   0 0 0 0 1
0 5 5 5 5
1 0 0 0 0   0 1 0 0 0   0 0 1 0 0   0 0 0 1 0   0 0 0 0 1
-2 0.5 0 1 0
0 0 0 0 0
0.5
0.1
";

/// Two cones, of three and of two components.
pub const SOCLCP: &str = "\
5 2
2
5
5
3
banner
csr: 5-by-5, nzmax: 5 nnz: 5, 1-norm: 1
    row 0 : locations 0 to 0
      0 : 1
    row 1 : locations 1 to 1
      1 : 1
    row 2 : locations 2 to 2
      2 : 1
    row 3 : locations 3 to 3
      3 : 1
    row 4 : locations 4 to 4
      4 : 1
-1 1 0   -1 0
0 3 5
1 1
";

/// Drucker-Prager with all of the dilatancy taken away: friction.
pub const PLASTICITY: &str = "\
3 1 1
0 3 3 3 3
1 0 0   0 1 0   0 0 1
-1 2 0
0.4
0.4
";

/// Von Mises: a pure shear stress of 4 against a yield stress of √3, of which 1 is left.
pub const VON_MISES: &str = "\
3 1 2
0 3 3 3 3
1 0 0   0 1 0   0 0 1
0 0 -4
1.7320508075688772
";

/// An equality, a complementarity and a contact, coupled by the equality.
pub const GMP: &str = "\
1 5 5
5 3 3
1 2 5
1 2 5
4 5
0 2 4 5
0 1 0 1 2
0  1
1  -1
2  1
3  2
4  1 0 0  0 1 0  0 0 1
1 3 -1 2 0
2
0
4 0.4
";

/// Every kind of this module, with a text.
pub const TEXTS: [(Kind, &str); 12] = [
    (Kind::Fc2d, FC2D),
    (Kind::Fc3d, FC3D),
    (Kind::Gfc2d, GFC2D),
    (Kind::Gfc2d, GFC2D_FREE),
    (Kind::Gfc3d, GFC3D),
    (Kind::Rfc3d, RFC3D),
    (Kind::Rfc3d, RFC2D),
    (Kind::Grfc3d, GRFC3D),
    (Kind::Soclcp, SOCLCP),
    (Kind::Plasticity, PLASTICITY),
    (Kind::Plasticity, VON_MISES),
    (Kind::Gmp, GMP),
];

/// Parses a text, and expects this answer to solve it.
#[track_caller]
fn check(kind: Kind, text: &str, z: &[f64], w: &[f64]) -> StoredProblem {
    let stored = parse(text, kind).unwrap();
    assert_eq!(stored.problem.len(), z.len());
    let mut found = vec![0.0; z.len()];
    let residual = residual(&stored.problem, z, &mut found);
    assert!(residual.value < 1e-14, "{residual:?}, w = {found:?}");
    for (found, expected) in found.iter().zip(w) {
        assert!((found - expected).abs() < 1e-14, "{found} instead of {expected}");
    }
    stored
}

fn sets(stored: &StoredProblem) -> Vec<Set> {
    let mut sets = Vec::new();
    stored.problem.for_each_block(|_, set, _| sets.push(set.clone()));
    sets
}

#[test]
fn friction_in_the_plane() {
    let z = [0.5, -0.15, 8.0 / 19.0, -2.0 / 19.0];
    let stored = check(Kind::Fc2d, FC2D, &z, &[0.0, 0.05, 0.0, 0.0]);
    assert!(matches!(stored.problem.matrix(), Operator::Sparse(_)));
    assert_eq!(stored.problem.measure(), Measure::Largest);
    assert_eq!(sets(&stored), [Set::Coulomb2 { mu: 0.3 }, Set::Coulomb2 { mu: 0.3 }]);
    assert_eq!(stored.reference, None); // one number follows, which is no answer
    let followed =
        format!("{} 0.5 -0.15 0.421052631578947 -0.105263157894737", FC2D.trim_end_matches("1\n"));
    assert!(parse(&followed, Kind::Fc2d).unwrap().reference.is_some());
}

#[test]
fn friction_in_space() {
    let stored = check(Kind::Fc3d, FC3D, &[1.0, -0.4, 0.0], &[0.0, 1.6, 0.0]);
    assert!(matches!(stored.problem.matrix(), Operator::Dense(_)));
    assert_eq!(stored.problem.contacts_count(), 1);
}

/// v = (q + H r) / 2, u = v + b.
#[test]
fn global_friction() {
    let stored = check(Kind::Gfc3d, GFC3D, &[2.0, -0.8, 0.0], &[0.0, 1.6, 0.0]);
    let global = stored.problem.global().unwrap();
    assert_eq!((global.velocities(), global.size()), (3, 3));
    assert_eq!(global.f(), [-2.0, 2.0, 0.0]);
    assert_eq!(global.H().get(1, 1), 1.0); // entries at one place add up
    assert_eq!(stored.problem.q(), [0.0, 1.0, 0.0]);
    let stored = check(Kind::Gfc2d, GFC2D, &[4.0, -1.0], &[0.0, 0.0]);
    assert_eq!(sets(&stored), [Set::Coulomb2 { mu: 0.5 }]);
}

#[test]
fn a_system_without_contacts() {
    let stored = parse(GFC2D_FREE, Kind::Gfc2d).unwrap();
    assert!(stored.problem.is_empty());
    assert_eq!(stored.problem.global().unwrap().velocities(), 2);
    assert!(parse("3 0 0 0 0 0 0", Kind::Fc3d).unwrap().problem.is_empty());
    assert!(parse("1 0 0 0", Kind::Gmp).unwrap().problem.is_empty());
    assert!(parse("0 0 0 0 0 0 0 0", Kind::Soclcp).unwrap().problem.is_empty());
}

#[test]
fn rolling() {
    let (z, w) = ([2.0, -0.5, 0.0, -0.2, 0.0], [0.0, 0.0, 0.0, 0.8, 0.0]);
    let stored = check(Kind::Rfc3d, RFC3D, &z, &w);
    assert_eq!(sets(&stored), [Set::Rolling3 { mu: 0.5, mu_r: 0.1 }]);
    check(Kind::Grfc3d, GRFC3D, &z, &w);
    let stored = check(Kind::Rfc3d, RFC2D, &[2.0, -0.5, -0.2], &[0.0, 0.0, 0.8]);
    assert_eq!(sets(&stored), [Set::Rolling2 { mu: 0.5, mu_r: 0.1 }]);
}

/// (1, −1) is on the boundary of its cone already.
#[test]
fn second_order_cones() {
    let z = [1.0, -1.0, 0.0, 1.0, 0.0];
    let stored = check(Kind::Soclcp, SOCLCP, &z, &[0.0; 5]);
    assert_eq!(stored.problem.placed()[1].size, 2);
}

#[test]
fn yield_surfaces() {
    let stored = check(Kind::Plasticity, PLASTICITY, &[1.0, -0.4, 0.0], &[0.0, 1.6, 0.0]);
    assert_eq!(sets(&stored), [Set::DruckerPrager { eta: 0.4, theta: 0.4 }]);
    assert_eq!(stored.problem.measure(), Measure::Absolute);
    let stored = check(Kind::Plasticity, VON_MISES, &[0.0, 0.0, 1.0], &[0.0, 0.0, -3.0]);
    assert_eq!(sets(&stored), [Set::VonMises { sigma_y: 1.7320508075688772 }]);
}

/// z₀ + z₁ + 1 = 0, 0 ≤ −z₀ + 2 z₁ + 3 ⟂ z₁ ≥ 0 in blocks: the first is stored by column.
#[test]
fn mixed_blocks() {
    let z = [-1.0, 0.0, 1.0, -0.4, 0.0];
    let stored = check(Kind::Gmp, GMP, &z, &[0.0, 2.0, 0.0, 1.6, 0.0]);
    assert_eq!(stored.problem.measure(), Measure::Blocks);
    let interval = Set::Interval { lower: 0.0, upper: f64::INFINITY };
    assert_eq!(sets(&stored), [Set::Free, interval, Set::Coulomb3 { mu: 0.4 }]);
}

/// Replaces a piece of a good text, and expects these words.
#[track_caller]
fn check_changed(kind: Kind, text: &str, old: &str, new: &str, expected: &str) {
    assert!(text.contains(old), "{old}");
    check_wrong(kind, &text.replacen(old, new, 1), expected);
}

#[test]
fn wrong_contacts() {
    let fc3d =
        |old: &str, new: &str, expected: &str| check_changed(Kind::Fc3d, FC3D, old, new, expected);
    fc3d("3 1\n", "2 1\n", "line 1, column 1: components of a contact: expected 3, found 2");
    fc3d("3 1\n", "3 2\n", "line 2, column 3: the matrix is 3 × 3, expected 6 × 6");
    fc3d(
        "3 1\n",
        "3 1000000000000\n",
        "line 1, column 3: number of contacts: 4000000000000 numbers should follow, but the file has only 40 more bytes",
    );
    fc3d(
        "0 3 3\n",
        "0 3 4\n",
        "line 2, column 3: the matrix is 3 × 4, expected 3 × 3 (rectangular problems cannot be solved)",
    );
    fc3d(
        "0.4\n",
        "-0.4\n",
        "line 8, column 1: `mu[0]`: expected a number that is not negative, found -0.4",
    );
    fc3d("0.4\n", "nan\n", "line 8, column 1: `mu[0]`: expected a number, found nan");
    fc3d("0.4\n", "inf\n", "line 8, column 1: `mu[0]`: expected a finite number, found inf");
    fc3d("0.4\n", "", "line 8, column 1: `mu[0]`: expected a number, found the end of the file");
    fc3d("-1 2 0\n", "-1 inf 0\n", "line 7, column 4: `q[1]`: expected a finite number, found inf");
    check_changed(
        Kind::Rfc3d,
        RFC3D,
        "5 1\n",
        "2 1\n",
        "line 1, column 1: components of a contact: expected 3 or 5, found 2",
    );
    check_changed(
        Kind::Rfc3d,
        RFC3D,
        "0.1\n",
        "-1e-3\n",
        "line 6, column 1: `mu_r[0]`: expected a number that is not negative, found -0.001",
    );
}

#[test]
fn wrong_global_problems() {
    let gfc3d = |old: &str, new: &str, expected: &str| {
        check_changed(Kind::Gfc3d, GFC3D, old, new, expected);
    };
    gfc3d(
        "0 3 3 3 3\n",
        "0 3 2 3 3\n",
        "line 2, column 3: the matrix is 3 × 2, expected 3 × 3 (rectangular problems cannot be solved)",
    );
    gfc3d(
        "0 3 3 3 3\n",
        "2 900000000 900000000 3 3\n",
        "line 2, column 3: number of velocities: 900000000 numbers should follow, but the file has only 155 more bytes",
    );
    gfc3d(
        "2\n3\n3\n1\n",
        "2\n3\n2\n1\n",
        "line 5, column 1: the matrix `H` is 3 × 2, expected 3 × 3 (rectangular problems cannot be solved)",
    );
    gfc3d(
        "triplet: 3-by-3",
        "triplet: 3-by-2",
        "line 9, column 1: the matrix `H` is 3 × 2, expected 3 × 3 (rectangular problems cannot be solved)",
    );
    gfc3d(
        "2 2 : 1\n",
        "2 3 : 1\n",
        "line 11, column 7: column of entry 1: expected 0 to 2, found 3",
    );
    gfc3d(
        "2 2 : 1\n",
        "2 2 : nan\n",
        "line 11, column 11: entry 1, `H[2][2]`: expected a number, found nan",
    );
    gfc3d("2 0 0   0 2", "0 0 0   0 2", "line 2, column 3: the mass `M` is singular (row 0)");
    gfc3d(
        "0.5\n    1 1 : 0.5",
        "1e308\n    1 1 : 1e308",
        "line 5, column 1: `H[1][1]`: the entries at this place add up to too large a number",
    );
    gfc3d(
        "0.4\n",
        "-4\n",
        "line 16, column 1: `mu[0]`: expected a number that is not negative, found -4",
    );
}

#[test]
fn wrong_cones_and_surfaces() {
    let soclcp = |old: &str, new: &str, expected: &str| {
        check_changed(Kind::Soclcp, SOCLCP, old, new, expected);
    };
    soclcp(
        "0 3 5\n",
        "0 6 5\n",
        "line 19, column 3: first unknown of cone 1: expected 1 to 5, found 6",
    );
    soclcp("0 3 5\n", "0 3 4\n", "line 19, column 5: end of the cones: expected 5, found 4");
    soclcp(
        "0 3 5\n",
        "0 5 5\n",
        "line 19, column 5: end of the cones: expected more than 5, found 5",
    );
    soclcp("0 3 5\n", "1 3 5\n", "line 19, column 1: first unknown of cone 0: expected 0, found 1");
    soclcp(
        "1 1\n",
        "1 -1\n",
        "line 20, column 3: `tau[1]`: expected a number that is not negative, found -1",
    );
    soclcp(
        "5 2\n",
        "5 900\n",
        "line 1, column 3: number of cones: 1800 numbers should follow, but the file has only 285 more bytes",
    );
    let plasticity = |old: &str, new: &str, expected: &str| {
        check_changed(Kind::Plasticity, PLASTICITY, old, new, expected);
    };
    plasticity(
        "3 1 1\n",
        "3 1 3\n",
        "line 1, column 5: model (1: Drucker-Prager, 2: von Mises): expected 1 to 2, found 3",
    );
    plasticity(
        "3 1 1\n",
        "2 1 1\n",
        "line 1, column 1: components of a stress: expected 3, found 2",
    );
    plasticity(
        "0.4\n0.4\n",
        "0.4\n",
        "line 6, column 1: `theta[0]`: expected a number, found the end of the file",
    );
    plasticity(
        "0.4\n0.4\n",
        "0.4\n-1\n",
        "line 6, column 1: `theta[0]`: expected a number that is not negative, found -1",
    );
    check_changed(
        Kind::Plasticity,
        VON_MISES,
        "1.73",
        "-1.73",
        "line 5, column 1: `sigma_y[0]`: expected a number that is not negative, found -1.7320508075688772",
    );
}

#[test]
fn wrong_mixed_blocks() {
    let gmp =
        |old: &str, new: &str, expected: &str| check_changed(Kind::Gmp, GMP, old, new, expected);
    gmp("1 5 5\n", "0 5 5\n", "line 1, column 1: storage of the matrix: expected 1, found 0");
    gmp(
        "1 5 5\n5 3 3\n",
        "1 5 5\n0 3 3\n",
        "line 1, column 3: number of blocks: expected at least 1, found 0",
    );
    gmp(
        "4 0.4\n",
        "4 -0.4\n",
        "line 16, column 3: mu of block 2: expected a number that is not negative, found -0.4",
    );
    gmp(
        "2\n0\n4 0.4\n",
        "2\n4 0.4\n",
        "line 15, column 1: size of block 1: expected 3 unknowns for type 4 (FC3D), found 1",
    );
    gmp("4 0.4\n", "10\n", "line 16, column 1: type of block 2: expected 0 to 9, found 10");
    for (number, law, parameters) in [
        (1, "MLCP", "which rows are equalities"),
        (3, "FC2D", "mu"),
        (5, "NCP", "the function"),
        (6, "MCP", "the function"),
        (7, "VI", "the function and the set"),
        (8, "AVI", "the set"),
        (9, "relay", "the bounds"),
    ] {
        let text = GMP.replacen("4 0.4\n", &format!("{number}\n"), 1);
        let error = check_wrong(
            Kind::Gmp,
            &text,
            &format!(
                "line 16, column 1: type of block 2: {number} is {law}, of which the format does not store {parameters}; expected 0 (LCP), 2 (equality) or 4 (FC3D)"
            ),
        );
        assert!(matches!(*error.kind, ErrorKind::NoParameters { block: 2, .. }));
    }
}

/// Cut anywhere, a text is told to be too short, or was so only after its last number.
#[test]
fn truncated_texts() {
    for (kind, text) in TEXTS {
        for end in 0..text.len() {
            if let Err(error) = parse(&text[..end], kind) {
                assert!(error.line >= 1 && !error.message.is_empty(), "{kind}, {end}: {error}");
            } else {
                // in the last number, or in the flag that may follow it
                let tokens = text[end..].split_whitespace().count();
                assert!(tokens <= 2, "{kind}: {end} of {}", text.len());
            }
        }
    }
}
