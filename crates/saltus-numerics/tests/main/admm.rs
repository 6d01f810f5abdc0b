//! Alternating directions: closed forms, the answers of other methods, units, singular matrices.

use crate::mixed::*;
use crate::support::*;
use saltus_linalg::{Matrix, Sparse};
use saltus_numerics::methods::Workspace;
use saltus_numerics::{
    AdmmSettings, Function, Global, Map, NumericsError, Operator, Problem, Solver, Status, solve,
};
use std::sync::Arc;

fn admm() -> Solver {
    method("admm")
}

#[test]
fn closed_forms() {
    check_closed_forms(&admm());
}

#[test]
fn agrees_with_other_methods() {
    check_random(&admm(), 11, 60);
}

#[test]
fn no_false_success() {
    check_no_false_success(&admm());
}

#[test]
fn no_number() {
    check_nan(&admm());
}

/// A matrix that is not symmetric takes the other factors; above and below the limit of dense ones.
#[test]
fn unsymmetric() {
    let mut random = Random(5);
    for n in [4, 30, 90] {
        let noise = random_matrix(&mut random, n);
        let mut matrix = Matrix::diagonal(&vec![3.0; n]);
        for i in 0..n {
            for j in 0..n {
                matrix[(i, j)] += (noise[(i, j)] - noise[(j, i)]) / (n as f64).sqrt();
            }
        }
        for operator in [Operator::from(matrix.clone()), Sparse::from_dense(&matrix).into()] {
            let (data, answer) = with_answer(operator, &mut random);
            check(&data, &admm().with_tol(1e-11), Some(&answer), "unsymmetric");
        }
    }
}

/// A box on many contacts: more unknowns than degrees of freedom, in either form.
#[test]
fn more_contacts_than_freedom() {
    let mut random = Random(3);
    let (velocities, contacts) = (6, 8);
    let mut triplets = Vec::new();
    for c in 0..contacts {
        let (x, y) = (random.between(-1.0, 1.0), random.between(-1.0, 1.0));
        let (up, across, along) = (3 * c, 3 * c + 1, 3 * c + 2);
        triplets.extend([(2, up, 1.0), (3, up, y), (4, up, -x)]);
        triplets.extend([(0, across, 1.0), (4, across, -0.5), (5, across, -y)]);
        triplets.extend([(1, along, 1.0), (3, along, 0.5), (5, along, x)]);
    }
    let H = Sparse::from_triplets(velocities, 3 * contacts, &triplets);
    let mass = Sparse::from_dense(&Matrix::diagonal(&[2.0, 2.0, 2.0, 0.3, 0.3, 0.5]));
    let f = vec![0.4, 0.1, -9.81, 0.01, 0.02, 0.0];
    let global = Global::new(mass, H, f).unwrap();
    let (q, mu) = (vec![0.0; 3 * contacts], vec![0.3; contacts]);
    let problem = Problem::friction3d(global, q, &mu).unwrap();
    let pair = solved(&problem, &admm(), "the pair");
    let matrix = solved(&problem.condensed().unwrap(), &admm(), "the matrix");
    // the forces are not unique, the velocities are
    assert_close(&pair.w, &matrix.w, 1e-5, "velocities");
}

/// Other units of `z` and `w` change nothing but the last digits.
#[test]
fn units_do_not_matter() {
    let mut random = Random(8);
    let blocks = 20;
    let matrix = chain(3 * blocks, 2.0, -0.9, -0.9);
    let q: Vec<f64> = (0..3 * blocks).map(|_| random.between(-1.0, 0.5)).collect();
    let reference =
        solved(&Problem::friction3d(matrix.clone(), q.clone(), &[0.4; 20]).unwrap(), &admm(), "1");
    for scale in [1e-6, 1e-3, 1e4, 1e8] {
        let entries: Vec<_> = matrix.iter().map(|(i, j, a)| (i, j, scale * a)).collect();
        let scaled = Sparse::from_triplets(3 * blocks, 3 * blocks, &entries);
        let problem = Problem::friction3d(scaled, q.clone(), &[0.4; 20]).unwrap();
        let solution = solve(&problem, &admm().with_tol(1e-12), None).unwrap();
        let z: Vec<f64> = solution.z.iter().map(|z| z * scale).collect();
        assert_close(&z, &reference.z, 1e-6, &format!("scale {scale:e}"));
    }
}

/// What is kept between calls does not change the answers.
#[test]
fn repeated_solves() {
    let mut random = Random(21);
    let problems = random_problems(&mut random, 10);
    for mut problem in problems {
        let mut workspace = Workspace::new(admm()).unwrap();
        for _ in 0..4 {
            let q: Vec<f64> = (0..problem.len()).map(|_| random.between(-2.0, 2.0)).collect();
            problem.set_q(&q).unwrap();
            let (mut z, mut w) = (vec![0.0; q.len()], vec![0.0; q.len()]);
            let report = workspace.solve(&problem, &mut z, &mut w).unwrap();
            assert_eq!(report.status, Status::Solved);
            let fresh = solved(&problem, &admm(), "fresh");
            assert_eq!((z.clone(), report), (fresh.z, fresh.report));

            // from the answer there is nothing to do
            let report = workspace.solve(&problem, &mut z, &mut w).unwrap();
            assert_eq!((report.status, report.iterations), (Status::Solved, 0));
        }
    }
}

#[test]
fn out_of_iterations() {
    let problem = Problem::lcp(chain(50, 2.0, -1.0, -1.0), vec![-1.0; 50]).unwrap();
    let solution = solve(&problem, &admm().with_max_iter(2), None).unwrap();
    let report = solution.report;
    assert_eq!((report.status, report.iterations), (Status::MaxIter, 2));
    assert!(report.residual > 1e-8);
}

#[test]
fn refusals() {
    struct Square;
    impl Map for Square {
        fn size(&self) -> usize {
            1
        }
        fn eval(&self, z: &[f64], w: &mut [f64]) {
            w[0] = z[0] * z[0];
        }
        fn jacobian(&self, z: &[f64], jacobian: &mut Matrix) {
            jacobian[(0, 0)] = 2.0 * z[0];
        }
    }
    let map = Operator::Function(Function(Arc::new(Square)));
    let problem = Problem::lcp(map, vec![-1.0]).unwrap();
    let error = solve(&problem, &admm(), None).unwrap_err();
    assert!(matches!(error, NumericsError::Unsupported { method: "admm", .. }), "{error}");

    for rho in [0.0, -1.0, f64::NAN, INF] {
        let settings = AdmmSettings { rho, ..Default::default() };
        let error = Workspace::new(Solver::Admm(settings)).unwrap_err();
        assert!(matches!(error, NumericsError::Setting { field: "rho", .. }), "{error}");
    }
}
