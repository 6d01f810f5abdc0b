//! Enumeration finds all solutions.

use crate::support::*;
use saltus_linalg::Matrix;
use saltus_numerics::EnumerationSettings;
use saltus_numerics::methods::{AllSolutions, Enumeration};

#[track_caller]
fn all(data: &Data, expected: &[&[f64]]) -> AllSolutions {
    let mut enumeration = Enumeration::new(EnumerationSettings::default());
    let found = enumeration.all(&data.problem()).unwrap();
    for solution in &found.solutions {
        assert_law(data, &solution.z, &solution.w, 1e-12, "all solutions");
    }
    assert_eq!(found.solutions.len(), expected.len(), "{found:?}");
    for expected in expected {
        let close = |z: &[f64]| z.iter().zip(*expected).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(found.solutions.iter().any(|s| close(&s.z)), "{expected:?} not in {found:?}");
    }
    found
}

#[test]
fn two_solutions() {
    let found = all(&Data::lcp(Matrix::from([[-1.0]]), &[1.0]), &[&[0.0], &[1.0]]);
    assert_eq!((found.modes, found.singular_modes), (2, 0));
    // Painlevé: the contact may stay, or let go
    let data =
        Data::new(Matrix::from([[1.0, 0.0], [-1.0, -2.0]]), &[1.0, 3.0], &[-INF, 0.0], &[INF; 2]);
    all(&data, &[&[-1.0, 0.0], &[-1.0, 2.0]]);
}

#[test]
fn three_solutions() {
    // a relay against a negative resistance
    let relay = Data::new(Matrix::from([[-2.0]]), &[0.5], &[-1.0], &[1.0]);
    let found = all(&relay, &[&[-1.0], &[0.25], &[1.0]]);
    assert_eq!((found.modes, found.singular_modes), (3, 0));
    let both = Matrix::from([[1.0, 2.0], [2.0, 1.0]]);
    all(&Data::lcp(both, &[-1.0, -1.0]), &[&[1.0, 0.0], &[0.0, 1.0], &[1.0 / 3.0, 1.0 / 3.0]]);
}

#[test]
fn eight_solutions() {
    let data = Data::lcp(Matrix::diagonal(&[-1.0, -2.0, -4.0]), &[1.0; 3]);
    let answers: Vec<Vec<f64>> = (0..8)
        .map(|k| (0..3).map(|i| if k >> i & 1 == 1 { 0.5f64.powi(i) } else { 0.0 }).collect())
        .collect();
    let answers: Vec<&[f64]> = answers.iter().map(Vec::as_slice).collect();
    assert_eq!(all(&data, &answers).modes, 8);
}

#[test]
fn no_solution() {
    let found = all(&Data::lcp(Matrix::from([[-1.0]]), &[-1.0]), &[]);
    assert_eq!((found.modes, found.singular_modes), (2, 0));
    let found = all(&Data::lcp(Matrix::from([[0.0]]), &[-1.0]), &[]);
    assert_eq!((found.modes, found.singular_modes), (2, 1));
}

#[test]
fn degenerate_solutions_count_once() {
    all(&Data::lcp(Matrix::identity(3), &[0.0, 0.0, -1.0]), &[&[0.0, 0.0, 1.0]]);
    all(&Data::new(Matrix::identity(1), &[1.0], &[-1.0], &[1.0]), &[&[-1.0]]);
}

#[test]
fn singular_modes_are_counted() {
    // the third row is the sum of the others: one mode of eight is singular
    let rows = [[0.3, 0.7, -1.1], [-1.1, 1.0 / 3.0, 0.7], [-0.8, 0.7 + 1.0 / 3.0, 0.7 - 1.1]];
    let data = Data::lcp(Matrix::from(rows), &[1.0; 3]);
    let found = all(&data, &[&[0.0; 3], &[0.7, 0.0, 1.1]]);
    assert_eq!((found.modes, found.singular_modes), (8, 1));
    // free unknowns have one side, fixed ones too, boxes three
    let data =
        Data::new(Matrix::zeros(4, 4), &[0.0; 4], &[-INF, 1.0, -1.0, 0.0], &[INF, 1.0, 1.0, INF]);
    let mut enumeration = Enumeration::new(EnumerationSettings::default());
    let found = enumeration.all(&data.problem()).unwrap();
    assert_eq!((found.modes, found.singular_modes), (6, 6));
}

#[test]
fn too_many_modes() {
    let data = Data::lcp(Matrix::identity(25), &[1.0; 25]);
    let mut enumeration = Enumeration::new(EnumerationSettings::default());
    let error = enumeration.all(&data.problem()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "enumeration of 25 unknowns means 3.3554432e7 modes; use at most 1000000 modes, or another method"
    );
}
