//! Units: rows and columns in anything from micro to mega.

use crate::support::*;
use saltus_linalg::{Matrix, Sparse};
use saltus_numerics::{Block, NumericsError, Problem, Set, Solver, Status, solve};

/// `R W C` over 12 orders of magnitude, with the answer scaled along.
#[test]
fn twelve_orders_of_magnitude() {
    let mut random = Random(31);
    for round in 0..200 {
        let n = 2 + round % 11;
        let a = random_matrix(&mut random, n);
        let skew = random_matrix(&mut random, n);
        let mut matrix = a.mul(&a.transpose());
        matrix.scale(1.0 / n as f64);
        matrix.add_scaled(0.5, &Matrix::identity(n));
        matrix.add_scaled(0.5, &skew);
        matrix.add_scaled(-0.5, &skew.transpose());
        let (plain, answer) = with_answer(matrix.clone(), &mut random);

        let exponent = |random: &mut Random| 10f64.powf(random.between(-3.0, 3.0));
        let rows: Vec<f64> = (0..n).map(|_| exponent(&mut random)).collect();
        // z = C y: half of the rounds symmetric, as a change of units is
        let columns: Vec<f64> = match round % 2 {
            0 => rows.clone(),
            _ => (0..n).map(|_| exponent(&mut random)).collect(),
        };
        let mut data = plain.clone();
        let mut scaled = matrix;
        for i in 0..n {
            for j in 0..n {
                scaled[(i, j)] *= rows[i] * columns[j];
            }
            data.q[i] *= rows[i];
            data.lower[i] /= columns[i];
            data.upper[i] /= columns[i];
        }
        data.matrix = scaled.into();
        let context = format!("scaled {round}, n = {n}");
        let solution = check(&data, &method("auto"), None, &context);
        for i in 0..n {
            // the tolerance is absolute; where it decides nothing, the answer is the known one
            let z = solution.z[i] * columns[i];
            let slack = 1e-6 * (1.0 + 1e3 * data.q.iter().fold(0.0, |a: f64, q| a.max(q.abs())));
            assert!((z - answer[i]).abs() <= slack, "{context}: {z} not {}", answer[i]);
        }
        let first = solution.attempts[0];
        assert_eq!((first.method, first.status), ("pivoting", Status::Solved), "{context}");
    }
}

/// A circuit: currents of 1e-14 A beside volts.
#[test]
fn leakage_currents() {
    let (g, leak) = (1e3, 1e-12);
    let rows = [[leak, -leak, 0.0], [-leak, leak + g, 1.0], [0.0, -1.0, 1e-9]];
    for q in [[-3e-12, 0.0, 0.0], [1e-14, -3.0, 1e-3], [-1e-14, 3.0, -1e-9]] {
        let data = Data::lcp(Matrix::from(rows), &q);
        for name in ["auto", "lemke", "pivoting"] {
            check(&data, &method(name), None, "leakage");
        }
    }
}

/// The answer scales with q.
#[test]
fn homogeneous_in_q() {
    let mut random = Random(32);
    let matrix = Matrix::from([[2.0, -1.0, 0.5], [1.0, 3.0, -1.0], [0.0, 1.0, 2.0]]);
    for _ in 0..50 {
        let q: Vec<f64> = (0..3).map(|_| random.between(-1.0, 1.0)).collect();
        let z = check(&Data::lcp(matrix.clone(), &q), &method("auto"), None, "q").z;
        for scale in [1e-10, 1e-5, 1e5, 1e10] {
            let scaled: Vec<f64> = q.iter().map(|q| q * scale).collect();
            for name in ["auto", "pivoting", "lemke", "enumeration"] {
                let y = check(&Data::lcp(matrix.clone(), &scaled), &method(name), None, "q").z;
                for i in 0..3 {
                    assert!((y[i] - scale * z[i]).abs() <= 1e-12 * scale, "{name} {scale}");
                }
            }
        }
    }
}

/// Rows and columns scaled over many orders of magnitude: the answer scales along, for every
/// method that solves the problem in its own scale.
#[test]
fn direct_methods_do_not_see_the_scale() {
    use saltus_linalg::Matrix;
    use saltus_numerics::{Problem, Solver, Status, solve};
    let mut seed = 7u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as f64 / 2f64.powi(30) - 1.0
    };
    for round in 0..60 {
        let n = 6;
        let factor = Matrix::from_vec(n, n, (0..n * n).map(|_| random()).collect());
        let mut matrix = factor.mul(&factor.transpose());
        matrix.add_scaled(0.1, &Matrix::identity(n));
        let q: Vec<f64> = (0..n).map(|_| random()).collect();
        let plain = Problem::lcp(matrix.clone(), q.clone()).unwrap();
        let expected = solve(&plain, &Solver::default(), None).unwrap();
        assert_eq!(expected.report.status, Status::Solved);

        let scale: Vec<f64> = (0..n).map(|_| 10f64.powf(9.0 * random())).collect();
        let mut scaled = matrix;
        for i in 0..n {
            for j in 0..n {
                scaled[(i, j)] *= scale[i] * scale[j];
            }
        }
        let q = q.iter().zip(&scale).map(|(q, s)| q * s).collect();
        let problem = Problem::lcp(scaled, q).unwrap();
        for name in ["auto", "pivoting", "lemke", "enumeration"] {
            let found = solve(&problem, &Solver::from_name(name).unwrap(), None).unwrap();
            assert_eq!(found.report.status, Status::Solved, "{name}, round {round}");
            for i in 0..n {
                let z = found.z[i] * scale[i];
                assert!((z - expected.z[i]).abs() < 1e-8, "{name}, round {round}: {z}");
            }
        }
    }
}

/// Contacts whose blocks are so small that their inverse is no number: an end, and nothing untrue.
#[test]
fn blocks_next_to_nothing() {
    for scale in [1e-300, 1e-310] {
        let mut W = Matrix::identity(2);
        W.scale(scale);
        let blocks = [Block { size: 2, set: Set::Coulomb2 { mu: 0.5 } }];
        let problem = Problem::new(W, vec![-1.0, -1.0], &blocks).unwrap();
        for solver in [Solver::default(), Solver::from_name("gauss-seidel").unwrap()] {
            let Ok(solution) = solve(&problem, &solver, None) else { continue };
            let is_right = solution.z[0] * scale >= 1.0 - 1e-6;
            assert!(solution.report.status != Status::Solved || is_right, "{:?}", solution.report);
        }
    }
}

/// A cone with more unknowns than sweeps take is left to other methods.
#[test]
fn a_cone_that_is_too_long_for_sweeps() {
    let n = 4097;
    let W = Sparse::from_triplets(n, n, &(0..n).map(|i| (i, i, 1.0)).collect::<Vec<_>>());
    let mut q = vec![0.01; n];
    q[0] = -1.0;
    let blocks = [Block { size: n, set: Set::SecondOrder { mu: 1.0 } }];
    let problem = Problem::new(W, q, &blocks).unwrap();
    let solution = solve(&problem, &Solver::default(), None).unwrap();
    assert_eq!(solution.report.status, Status::Solved);
    let refused = solve(&problem, &Solver::from_name("interior-point").unwrap(), None);
    assert!(matches!(refused, Err(NumericsError::BlockTooLarge { size: 4097, .. })), "{refused:?}");
}
