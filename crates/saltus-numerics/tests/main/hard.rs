//! Cases that are known to be hard, and the right outcome of each.

use crate::support::*;
use saltus_linalg::Matrix;
use saltus_numerics::{NumericsError, Problem, Solver, Status, generate, solve};

#[track_caller]
fn outcome(data: &Data, name: &str, expected: Status) {
    let solution = run(data, &method(name), None, "hard");
    assert_eq!(solution.report.status, expected, "{name}: {:?}", solution.attempts);
}

/// Murty, n = 12: 4095 pivots for Lemke's method with the rows in the wrong order, none of which
/// a method that changes blocks, or follows a gradient, has to take.
#[test]
fn murty_takes_exponentially_many_pivots_of_some() {
    let n = 12;
    let mut matrix = Matrix::identity(n);
    for i in 0..n {
        for j in 0..i {
            matrix[(i, j)] = 2.0;
        }
    }
    let mut answer = vec![0.0; n];
    answer[0] = 1.0;
    let data = Data::lcp(matrix, &vec![-1.0; n]);
    for name in ["auto", "pivoting", "lemke", "fischer-burmeister", "enumeration"] {
        let solution = check(&data, &method(name).with_tol(1e-10), Some(&answer), "Murty");
        if name == "auto" || name == "fischer-burmeister" {
            assert!(solution.report.iterations <= 2 * n, "{name}: {:?}", solution.report);
        }
    }
}

/// Kostreva: block pivoting goes round in circles, P-matrix or not; single changes end.
#[test]
fn kostreva_cycles() {
    let matrix = Matrix::from([[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]]);
    for name in ["auto", "pivoting", "lemke", "fischer-burmeister", "enumeration"] {
        check(&Data::lcp(matrix.clone(), &[-1.0; 3]), &method(name), Some(&[1.0 / 3.0; 3]), "");
    }
}

/// Pang: `z₂ = z₃ = 0` and `1 ≤ z₁ ≤ 1` leave one answer, isolated although all its minors
/// vanish; a little more in the first row makes it a family, `z₂ + z₃ = ε`, a little less none.
#[test]
fn pang_isolated_solution() {
    let matrix = Matrix::from([[0.0, -1.0, -1.0], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]);
    let data = |first: f64| Data::lcp(matrix.clone(), &[first, -1.0, 1.0]);
    for name in ["auto", "enumeration", "fischer-burmeister"] {
        check(&data(0.0), &method(name).with_tol(1e-10), Some(&[1.0, 0.0, 0.0]), "isolated");
    }
    let solution = check(&data(1e-3), &method("auto").with_tol(1e-10), None, "family");
    assert!((solution.z[1] + solution.z[2] - 1e-3).abs() <= 1e-9);
    outcome(&data(-1e-3), "auto", Status::Infeasible);
}

/// Pang: `z₃ ≥ z₁ + z₂ ≥ 2` satisfies all inequalities, but then `z₃ > 0` asks for
/// `z₁ + z₂ + z₃ = 3`. No answer; every mode is refuted, the singular ones too.
#[test]
fn pang_without_solution() {
    let matrix = Matrix::from([[-1.0, -1.0, 1.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]);
    let data = Data::lcp(matrix, &[0.0, -2.0, -3.0]);
    for name in ["auto", "enumeration"] {
        outcome(&data, name, Status::Infeasible);
    }
    for name in ["pivoting", "lemke", "fischer-burmeister"] {
        let status = run(&data, &method(name), None, "Pang").report.status;
        assert!(status != Status::Solved && status != Status::Infeasible, "{name}: {status:?}");
    }
}

/// Ideal diodes in parallel carry one current, in shares that nothing determines: all modes with
/// an answer are singular. A current against all of them is impossible.
///
/// ```text
/// ±(I − Σ i) = 0,    0 ≤ i ⟂ v ≥ 0
/// ```
#[test]
fn parallel_diodes() {
    for (count, sign) in [2, 4, 20, 100].into_iter().flat_map(|n| [(n, 1.0), (n, -1.0)]) {
        let mut matrix = Matrix::zeros(count + 1, count + 1);
        for i in 1..=count {
            (matrix[(i, 0)], matrix[(0, i)]) = (1.0, -sign);
        }
        let (mut lower, upper) = (vec![0.0; count + 1], vec![INF; count + 1]);
        lower[0] = -INF;
        let mut q = vec![0.0; count + 1];
        q[0] = sign * 2.5;
        let data = Data::new(matrix.clone(), &q, &lower, &upper);
        let solution = check(&data, &method("auto").with_tol(1e-10), None, "parallel diodes");
        assert!(solution.z[0].abs() <= 1e-9, "no voltage: {}", solution.z[0]);
        let current: f64 = solution.z[1..].iter().sum();
        assert!((current - 2.5).abs() <= 1e-8, "{current}");
        q[0] = -q[0];
        let data = Data::new(matrix, &q, &lower, &upper);
        outcome(&data, "auto", Status::Infeasible);
    }
}

/// Bridges in series, each of four ideal diodes: singular equations beside singular modes.
#[test]
fn bridges_in_series() {
    for count in [1, 5, 20] {
        // currents of the two diodes on each side of a bridge, and its two voltages
        let n = 4 * count;
        let mut matrix = Matrix::zeros(n, n);
        let mut q = vec![0.0; n];
        for k in 0..count {
            let at = 4 * k;
            let g = 1e-3;
            let rows =
                [[g, g, -1.0, 0.0], [g, g, 0.0, -1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]];
            for (i, row) in rows.iter().enumerate() {
                for (j, x) in row.iter().enumerate() {
                    matrix[(at + i, at + j)] = *x;
                }
            }
            let voltage = if k % 2 == 0 { 10.0 } else { -10.0 };
            (q[at + 2], q[at + 3]) = (-voltage, voltage);
        }
        let data = Data::lcp(matrix, &q);
        for name in ["auto", "fischer-burmeister"] {
            check(&data, &method(name).with_tol(1e-10), None, "bridges");
        }
    }
}

/// A leakage current of 1e-14 A beside 3 V, in equations and in the sets.
#[test]
fn currents_beside_voltages() {
    let leak = 1e-14 / 3.0;
    // v: node between resistor and diode; i: current of the diode, at most 1e-14 A beyond it
    for (source, expected) in [(3.0, 1e-14), (-3.0, 0.0), (0.0, 0.0)] {
        let rows = [[leak, 1.0], [-1.0, 0.0]];
        let data = Data::new(Matrix::from(rows), &[-leak * source, 0.0], &[-INF, 0.0], &[INF, INF]);
        for name in ["auto", "lemke", "fischer-burmeister"] {
            let solution = run(&data, &method(name), None, "leak");
            assert_eq!(solution.report.status, Status::Solved, "{name}");
            // the tolerance does not see it; a direct method finds it all the same
            if name != "fischer-burmeister" {
                let i = solution.z[1];
                assert!((i - expected).abs() <= 1e-26, "{name}, {source} V: {i:e}");
            }
        }
    }
}

/// Equilibria of bimatrix games with positive costs `A`, `B`: always one, and Lemke's method ends
/// on a ray from its usual start.
///
/// ```text
/// 0 ≤ A y − 1 ⟂ x ≥ 0,    0 ≤ Bᵀ x − 1 ⟂ y ≥ 0
/// ```
#[test]
fn bimatrix_games() {
    let mut random = Random(77);
    for round in 0..200 {
        let (m, n) = (1 + random.below(9), 1 + random.below(11));
        let mut matrix = Matrix::zeros(m + n, m + n);
        for i in 0..m {
            for j in m..m + n {
                let (a, b) = match round % 2 {
                    0 => (random.between(1.0, 10.0), random.between(1.0, 10.0)),
                    _ => (random.integer(1, 4), random.integer(1, 4)),
                };
                (matrix[(i, j)], matrix[(j, i)]) = (a, b);
            }
        }
        let data = Data::lcp(matrix, &vec![-1.0; m + n]);
        check(&data, &method("auto").with_tol(1e-10), None, &format!("game {round}, {m} × {n}"));
    }
}

/// A stack of contacts: more of them than the bodies have freedom, `W = H Hᵀ` of low rank.
#[test]
fn stacks_of_contacts() {
    let mut random = Random(78);
    for (n, rank) in [(10, 4), (52, 39), (120, 60), (300, 200)] {
        // each contact touches a few of the freedoms
        let mut H = Matrix::zeros(n, rank);
        for i in 0..n {
            for _ in 0..4 {
                H[(i, random.below(rank))] = random.between(-1.0, 1.0);
            }
        }
        let mut q = vec![0.0; n];
        let v: Vec<f64> = (0..rank).map(|_| random.between(-1.0, 1.0)).collect();
        H.apply(&v, &mut q); // in the range of H, so that there is an answer
        let data = Data::lcp(H.mul(&H.transpose()), &q);
        check(&data, &method("auto").with_tol(1e-10), None, &format!("stack {n}"));
    }
}

/// A packing whose velocities no motion of bodies makes: sweeps and Newton's method come near and no further, the
/// interior point method gets there if it ends where its own path led.
#[test]
fn a_packing_beyond_sweeps() {
    let problem = generate::packing(300, 3.0, 0.5, 1).unwrap().problem;
    for solver in [Solver::default(), method("interior-point")] {
        let solution = solve(&problem, &solver, None).unwrap();
        assert_eq!(solution.report.status, Status::Solved, "{:?}", solution.attempts);
    }
}

#[test]
fn rectangular_is_refused() {
    let matrix = Matrix::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let error = Problem::mlcp(matrix, vec![1.0, 2.0], 1).unwrap_err();
    let expected = NumericsError::Shape { what: "W", expected: (2, 2), found: (3, 2) };
    assert_eq!(error, expected);
}

/// A portfolio that fails says what it knows: the least residual that any of its methods reached.
#[test]
fn a_failure_is_described() {
    // feasible, without solution, and too large to try all modes
    let n = 40;
    let mut matrix = Matrix::identity(n);
    let block = [[-1.0, -1.0, 1.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]];
    let mut q = vec![-1.0; n];
    for i in 0..3 {
        for j in 0..3 {
            matrix[(i, j)] = block[i][j];
        }
        q[i] = [0.0, -2.0, -3.0][i];
    }
    let data = Data::lcp(matrix, &q);
    let solution = solve(&data.problem(), &Solver::default().with_max_iter(500), None).unwrap();
    assert_ne!(solution.report.status, Status::Solved);
    assert_ne!(solution.report.status, Status::Infeasible);
    let least = solution.attempts.iter().fold(INF, |a, attempt| a.min(attempt.residual));
    assert!(solution.report.residual <= least * (1.0 + 1e-12));
}
