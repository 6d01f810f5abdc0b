//! Problems without an answer, and methods out of their depth: what is said must be true.

use crate::support::*;
use saltus_linalg::Matrix;
use saltus_numerics::{Status, solve};

#[track_caller]
fn check_status(data: &Data, name: &str, expected: Status) {
    let solution = run(data, &method(name), None, "status");
    assert_eq!(solution.report.status, expected, "{name}: {:?}", solution.report);
}

fn infeasible() -> Vec<Data> {
    let skew = Matrix::from([[0.0, 1.0], [-1.0, 0.0]]);
    let free = ([-INF, 0.0], [INF, INF]);
    vec![
        Data::lcp(Matrix::from([[0.0]]), &[-1.0]),
        Data::lcp(skew.clone(), &[0.0, -1.0]),
        Data::lcp(skew.clone(), &[1.0, -1.0]),
        Data::lcp(Matrix::from([[1.0, -1.0], [-1.0, 1.0]]), &[-1.0, -1.0]),
        Data::lcp(Matrix::from([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 2.0]]), &[-1.0; 3]),
        // not positive semidefinite, but the inequalities alone contradict each other
        Data::lcp(Matrix::from([[-1.0]]), &[-1.0]),
        // 0 = 1
        Data::new(Matrix::zeros(1, 1), &[1.0], &[-INF], &[INF]),
        // x = y + 1 and x = y, x and y free
        Data::new(Matrix::from([[1.0, -1.0], [-1.0, 1.0]]), &[1.0, 0.0], &[-INF; 2], &[INF; 2]),
        // a free unknown is eliminated, what it leaves is 0 ≤ −1
        Data::new(Matrix::from([[1.0, 1.0], [1.0, 1.0]]), &[1.0, 0.0], &free.0, &free.1),
        // bounded above only
        Data::new(Matrix::zeros(1, 1), &[1.0], &[-INF], &[3.0]),
        // a box cannot help: 0 z + s = 1, z in a box, the other one open
        Data::new(skew, &[5.0, -3.0], &[0.0; 2], &[2.0, INF]),
    ]
}

#[test]
fn no_solution_is_proved() {
    for data in infeasible() {
        for name in ["lemke", "auto"] {
            check_status(&data, name, Status::Infeasible);
        }
    }
}

/// The proof does not depend on units.
#[test]
fn no_solution_is_proved_at_any_scale() {
    for data in infeasible() {
        for scale in [1e-6, 1e6] {
            let mut data = data.clone();
            let mut matrix = data.matrix.to_dense();
            matrix.scale(scale);
            data.matrix = matrix.into();
            for name in ["lemke", "auto"] {
                check_status(&data, name, Status::Infeasible);
            }
        }
    }
}

/// Large semidefinite problems that miss a solution by a little or by a lot.
#[test]
fn semidefinite_without_solution() {
    let mut random = Random(21);
    for round in 0..60 {
        let (n, rank) = (2 + round % 19, 1 + round % 5);
        let a =
            Matrix::from_vec(n, rank, (0..n * rank).map(|_| random.between(-1.0, 1.0)).collect());
        let skew = random_matrix(&mut random, n);
        let mut matrix = a.mul(&a.transpose());
        matrix.add_scaled(0.5, &skew);
        matrix.add_scaled(-0.5, &skew.transpose());
        // the last row of the problem reads 0 ≤ −gap − |something| z
        for j in 0..n - 1 {
            let size = matrix[(j, n - 1)].abs();
            (matrix[(n - 1, j)], matrix[(j, n - 1)]) = (-size, size);
        }
        matrix[(n - 1, n - 1)] = 0.0;
        let mut q: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
        q[n - 1] = -[1e-6, 1e-3, 1.0][round % 3];
        for name in ["lemke", "auto"] {
            check_status(&Data::lcp(matrix.clone(), &q), name, Status::Infeasible);
        }
    }
}

/// A ray that proves nothing: the problem is solvable, but not along this path, or it is not
/// solvable although its inequalities are. Trying all modes decides either.
#[test]
fn a_ray_is_no_proof() {
    let solvable = Data::lcp(Matrix::from([[-1.0, 1.0], [1.0, 0.0]]), &[0.0, -1.0]);
    check_status(&solvable, "lemke", Status::Ray);
    check_status(&solvable, "auto", Status::Solved);
    let feasible_only = Data::lcp(Matrix::from([[0.0, 1.0], [0.0, 0.0]]), &[-1.0, 1.0]);
    check_status(&feasible_only, "lemke", Status::Ray);
    for name in ["enumeration", "auto"] {
        check_status(&feasible_only, name, Status::Infeasible);
    }
}

/// Every mode refuted, singular ones too, is a proof.
#[test]
fn no_solution_is_proved_mode_by_mode() {
    for data in infeasible() {
        check_status(&data, "enumeration", Status::Infeasible);
    }
}

/// A singular mode with a family of answers, none of them at zero.
#[test]
fn a_singular_mode_may_hold_the_answer() {
    // z₁ + z₂ = 3 with z₁ = 0 impossible: the third row asks for z₁ ≥ 1
    let rows = [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0]];
    let data = Data::new(Matrix::from(rows), &[-3.0, -3.0, -1.0], &[-INF, -INF, 0.0], &[INF; 3]);
    for name in ["enumeration", "auto"] {
        check_status(&data, name, Status::Solved);
    }
}

#[test]
fn solved_means_solved() {
    let mut random = Random(22);
    for round in 0..300 {
        let n = 1 + round % 9;
        let matrix = random_matrix(&mut random, n);
        let q: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
        let data = Data::lcp(matrix, &q);
        for name in saltus_numerics::Solver::NAMES {
            let solver = method(name).with_max_iter(2000);
            if let Ok(solution) = solve(&data.problem(), &solver, None) {
                let (z, w) = (&solution.z, &solution.w);
                verify(&data, solver.tol(), z, w, solution.report, name);
            }
        }
    }
}
