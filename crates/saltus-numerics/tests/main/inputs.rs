//! Questions that make no sense are refused, and the message says why.

use crate::support::*;
use saltus_linalg::{Matrix, Sparse};
use saltus_numerics::methods::Workspace;
use saltus_numerics::{Block, Global, NumericsError, Problem, Set, Solver, solve};

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, NumericsError>, message: &str) {
    assert_eq!(result.unwrap_err().to_string(), message);
}

fn two() -> Matrix {
    Matrix::from([[2.0, 1.0], [1.0, 2.0]])
}

#[test]
fn sizes() {
    refused(Problem::lcp(two(), vec![1.0; 3]), "`q` has length 3, but the problem has 2 unknowns");
    refused(Problem::lcp(Matrix::zeros(2, 3), vec![1.0; 2]), "`W` is 2 × 3, expected 2 × 2");
    refused(
        Problem::mlcp(two(), vec![1.0; 2], 3),
        "`equalities` has length 3, but the problem has 2 unknowns",
    );
    refused(
        Problem::boxed(two(), vec![1.0; 2], &[0.0], &[1.0, 1.0]),
        "`lower` has length 1, but the problem has 2 unknowns",
    );
    refused(
        Problem::boxed(two(), vec![1.0; 2], &[0.0, 0.0], &[]),
        "`upper` has length 0, but the problem has 2 unknowns",
    );
    refused(
        Problem::new(two(), vec![1.0; 2], &[Block { size: 3, set: Set::Free }]),
        "`blocks` has length 3, but the problem has 2 unknowns",
    );
    let mut problem = Problem::lcp(two(), vec![1.0; 2]).unwrap();
    refused(problem.set_q(&[1.0]), "`q` has length 1, but the problem has 2 unknowns");
    refused(problem.set_matrix(Matrix::identity(3)), "`W` is 3 × 3, expected 2 × 2");
    let z0 = [0.0; 3];
    refused(
        solve(&problem, &Solver::default(), Some(&z0)),
        "`z0` has length 3, but the problem has 2 unknowns",
    );
    for name in Solver::NAMES {
        let mut workspace = Workspace::new(method(name)).unwrap();
        refused(
            workspace.solve(&problem, &mut [0.0; 1], &mut [0.0; 2]),
            "`z` has length 1, but the problem has 2 unknowns",
        );
        refused(
            workspace.solve(&problem, &mut [0.0; 2], &mut [0.0; 3]),
            "`w` has length 3, but the problem has 2 unknowns",
        );
    }
}

#[test]
fn numbers() {
    let nan = f64::NAN;
    refused(
        Problem::lcp(Matrix::from([[1.0, 0.0], [nan, 1.0]]), vec![1.0; 2]),
        "`W` holds NaN at [1][0], expected finite numbers",
    );
    refused(
        Problem::lcp(Sparse::from_triplets(2, 2, &[(0, 0, 1.0), (0, 1, INF)]), vec![1.0; 2]),
        "`W` holds inf at [0][1], expected finite numbers",
    );
    refused(Problem::lcp(two(), vec![1.0, nan]), "`q` holds NaN at [1], expected finite numbers");
    refused(Problem::lcp(two(), vec![-INF, 1.0]), "`q` holds -inf at [0], expected finite numbers");
    let problem = Problem::lcp(two(), vec![1.0; 2]).unwrap();
    refused(
        solve(&problem, &Solver::default(), Some(&[0.0, INF])),
        "`z0` holds inf at [1], expected finite numbers",
    );
}

#[test]
fn bounds() {
    let boxed = |l: f64, u: f64| Problem::boxed(two(), vec![1.0; 2], &[0.0, l], &[1.0, u]);
    refused(boxed(1.0, 0.0), "unknown 1: the bounds [1, 0] are not an interval");
    refused(boxed(f64::NAN, 0.0), "unknown 1: the bounds [NaN, 0] are not an interval");
    refused(boxed(INF, INF), "unknown 1: the bounds [inf, inf] are not an interval");
    refused(boxed(-INF, -INF), "unknown 1: the bounds [-inf, -inf] are not an interval");
    assert!(boxed(0.0, 0.0).is_ok());
}

#[test]
fn settings() {
    for name in Solver::NAMES {
        let none = [(0.0, "0"), (-1.0, "-1"), (f64::NAN, "NaN"), (INF, "inf")];
        // a residual of about 1 is that of no answer at all
        let large = [(0.11, "0.11"), (0.99, "0.99"), (1.0, "1"), (1e9, "1000000000")];
        for (tol, text) in none.into_iter().chain(large) {
            refused(
                Workspace::new(method(name).with_tol(tol)),
                &format!("setting `tol` = {text} is outside (0, 0.1]"),
            );
        }
    }
    assert!(Workspace::new(method("auto").with_tol(0.1)).is_ok());
    let Solver::GaussSeidel(mut settings) = method("gauss-seidel") else { unreachable!() };
    settings.relaxation = 2.0;
    refused(
        Workspace::new(Solver::GaussSeidel(settings)),
        "setting `relaxation` = 2 is outside (0, 2)",
    );
}

#[test]
fn methods_that_do_not_apply() {
    let problem = Problem::lcp(Matrix::diagonal(&[1.0, -2.5]), vec![1.0; 2]).unwrap();
    refused(
        solve(&problem, &method("gauss-seidel"), None),
        "Gauss-Seidel needs a positive diagonal, but W[1, 1] = -2.5e0",
    );
    let problem = Problem::lcp(Matrix::identity(30), vec![1.0; 30]).unwrap();
    refused(
        solve(&problem, &method("enumeration"), None),
        "enumeration of 30 unknowns means 1.073741824e9 modes; use at most 1000000 modes, or another method",
    );
}

/// A refused change leaves the problem as it was.
#[test]
fn a_refused_change_changes_nothing() {
    let mut problem = Problem::lcp(two(), vec![-4.0, 1.0]).unwrap();
    let before = problem.clone();
    assert!(problem.set_q(&[1.0, f64::NAN]).is_err());
    assert!(problem.set_matrix(Matrix::diagonal(&[1.0, INF])).is_err());
    assert!(problem.set_set(0, &Set::Interval { lower: 2.0, upper: 1.0 }).is_err());
    assert_eq!(problem, before);
    assert_eq!(problem.matrix_scale(), 2.0);
}

/// Numbers at the ends of the range do no harm: no panic, no false answer.
#[test]
fn huge_and_tiny_numbers() {
    for a in [1e-300, 1e-160, 1e160, 1e300] {
        for q in [-1e-300, -1.0, -1e300, 1e300] {
            let data = Data::lcp(Matrix::from([[a, 0.0], [0.5 * a, a]]), &[q, 1.0]);
            for name in Solver::NAMES {
                let solver = method(name).with_max_iter(1000);
                let problem = data.problem();
                let solution = solve(&problem, &solver, None).unwrap();
                if solution.report.status == saltus_numerics::Status::Solved {
                    assert!(solution.z.iter().all(|z| z.is_finite()), "{name} {a} {q}");
                    assert!(own_residual(&data, &solution.z) <= 1e-8, "{name} {a} {q}");
                }
            }
        }
    }
}

#[test]
fn what_would_fill_the_memory_is_refused() {
    let n = 20_000;
    let ones: Vec<_> = (0..n).map(|i| (i, i, 1.0)).collect();
    let identity = Sparse::from_triplets(n, n, &ones);
    // one cone of 20 000 components would be a dense block
    let cone = Problem::second_order(identity.clone(), vec![-1.0; n], &[n], &[1.0]).unwrap();
    let error = solve(&cone, &Solver::from_name("gauss-seidel").unwrap(), None).unwrap_err();
    assert_eq!(
        error,
        NumericsError::BlockTooLarge { method: "gauss-seidel", block: 0, size: n, limit: 4096 }
    );
    // the basis of Lemke's method is factored
    let n = 200_001;
    let ones: Vec<(usize, usize, f64)> = (0..n).map(|i| (i, i, 1.0)).collect();
    let lcp = Problem::lcp(Sparse::from_triplets(n, n, &ones), vec![-1.0; n]).unwrap();
    let error = solve(&lcp, &Solver::from_name("lemke").unwrap(), None).unwrap_err();
    let limit = 200_000;
    assert_eq!(error, NumericsError::TooManyUnknowns { method: "lemke", unknowns: n, limit });
}

#[test]
fn the_bounds_of_a_cone_are_not_set() {
    let mut problem = Problem::friction3d(Matrix::identity(3), vec![0.0; 3], &[0.5]).unwrap();
    for index in 0..3 {
        let error = problem.set_set(index, &Set::Nonnegative).unwrap_err();
        assert_eq!(error, NumericsError::NotABox { index, set: "Coulomb3" });
    }
    assert!(problem.set_set(3, &Set::Nonnegative).is_err());
}

#[test]
fn a_singular_mass_names_its_row() {
    // unsymmetric, coupled, and row 13 is twice row 12
    let n = 14;
    let mut triplets: Vec<(usize, usize, f64)> = Vec::new();
    for i in 0..n - 1 {
        triplets.push((i, i, 2.0));
        triplets.push((i, (i + 1) % n, 0.5));
    }
    triplets.extend([(13, 12, 4.0), (13, 13, 1.0)]);
    let mass = Sparse::from_triplets(n, n, &triplets);
    let H = Sparse::from_triplets(n, 2, &[(0, 0, 1.0), (13, 1, 1.0)]);
    let error = Global::new(mass, H, vec![1.0; n]).unwrap_err();
    assert_eq!(error, NumericsError::Mass { row: 13 });
}

#[test]
fn enumeration_counts_the_unknowns_of_the_problem() {
    let n = 30;
    let problem =
        Problem::friction2d(Matrix::identity(n), vec![-1.0; n], &vec![0.5; n / 2]).unwrap();
    let error = solve(&problem, &Solver::from_name("enumeration").unwrap(), None).unwrap_err();
    assert!(error.to_string().starts_with("enumeration of 30 unknowns"), "{error}");
}
