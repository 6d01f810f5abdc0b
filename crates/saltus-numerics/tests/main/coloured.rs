//! Gauss–Seidel by colours: the same bits for any number of threads, and the right answers.

use crate::mixed::*;
use crate::support::*;
use saltus_linalg::Sparse;
use saltus_numerics::methods::Workspace;
use saltus_numerics::{
    GaussSeidelSettings, NumericsError, Problem, Solution, Solver, Status, solve,
};

fn coloured(threads: usize) -> GaussSeidelSettings {
    GaussSeidelSettings { threads, coloured: true, ..Default::default() }
}

fn bits(solution: &Solution) -> Vec<u64> {
    solution.z.iter().chain(&solution.w).map(|x| x.to_bits()).collect()
}

/// A net of contacts, each beside a few others; large enough for every thread to have its share.
pub fn net(contacts: usize) -> Problem {
    let mut random = Random(17);
    let n = 3 * contacts;
    let mut triplets: Vec<_> = (0..n).map(|i| (i, i, 3.0)).collect();
    for c in 0..contacts {
        for other in [c + 1, c + 40] {
            if other < contacts {
                for k in 0..9 {
                    let (i, j) = (3 * c + k / 3, 3 * other + k % 3);
                    let value = random.between(-0.4, 0.4);
                    triplets.extend([(i, j, value), (j, i, value)]);
                }
            }
        }
    }
    let q = (0..n).map(|_| random.between(-1.0, 0.3)).collect();
    let mu: Vec<f64> = (0..contacts).map(|_| random.between(0.1, 0.5)).collect();
    Problem::friction3d(Sparse::from_triplets(n, n, &triplets), q, &mu).unwrap()
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let problem = net(1600);
    let variants = [
        coloured(1),
        GaussSeidelSettings { accelerate: false, relaxation: 1.1, ..coloured(1) },
        GaussSeidelSettings { freeze: 3, ..coloured(1) },
    ];
    for settings in variants {
        let run = |threads| {
            let settings = GaussSeidelSettings { threads, ..settings.clone() };
            let solution = solve(&problem, &Solver::GaussSeidel(settings), None).unwrap();
            assert_eq!(solution.report.status, Status::Solved, "{:?}", solution.report);
            (bits(&solution), solution.report)
        };
        let one = run(1);
        for threads in [2, 3, 5, 0] {
            assert!(run(threads) == one, "{threads} threads, {settings:?}");
        }
    }
}

/// Blocks of every kind and size, some longer than the stack's buffers.
#[test]
fn mixed_sets() {
    let mut random = Random(4);
    for round in 0..20 {
        for problem in random_problems(&mut random, 1 + 8 * round) {
            let run = |settings: GaussSeidelSettings| {
                solved(&problem, &Solver::GaussSeidel(settings).with_tol(1e-11), "mixed")
            };
            let one = run(coloured(1));
            for threads in [2, 3, 5] {
                assert!(bits(&run(coloured(threads))) == bits(&one), "{threads} threads");
            }
            let plain = run(GaussSeidelSettings::default());
            assert_close(&one.z, &plain.z, 1e-8, "the order of the blocks");
        }
    }
}

#[test]
fn closed_forms() {
    for threads in [1, 3] {
        check_closed_forms(&Solver::GaussSeidel(coloured(threads)));
    }
}

/// What is kept between calls does not change the answers, with the matrix replaced or not.
#[test]
fn repeated_solves() {
    let mut problem = net(900);
    let mut random = Random(2);
    let mut workspace = Workspace::new(Solver::GaussSeidel(coloured(2))).unwrap();
    for round in 0..4 {
        let q: Vec<f64> = (0..problem.len()).map(|_| random.between(-1.0, 0.3)).collect();
        problem.set_q(&q).unwrap();
        if round == 2 {
            problem.set_matrix(chain(q.len(), 3.0, -1.0, -1.0)).unwrap();
        }
        let (mut z, mut w) = (vec![0.0; q.len()], vec![0.0; q.len()]);
        let report = workspace.solve(&problem, &mut z, &mut w).unwrap();
        assert_eq!(report.status, Status::Solved);
        assert_eq!(z, solved(&problem, &Solver::GaussSeidel(coloured(1)), "fresh").z);
    }
}

/// More than one thread means colours; one alone does not.
#[test]
fn when_there_are_colours() {
    let problem = net(600);
    let run = |settings| bits(&solved(&problem, &Solver::GaussSeidel(settings), "colours"));
    let threads = |threads| GaussSeidelSettings { threads, ..Default::default() };
    assert_eq!(run(threads(2)), run(coloured(1)));
    assert_ne!(run(threads(1)), run(coloured(1)));
}

#[test]
fn out_of_sweeps_and_no_number() {
    let problem = net(1600);
    for threads in [1, 3] {
        let solver = Solver::GaussSeidel(coloured(threads)).with_max_iter(2);
        let report = solve(&problem, &solver, None).unwrap().report;
        assert_eq!((report.status, report.iterations), (Status::MaxIter, 2));

        let mut workspace = Workspace::new(Solver::GaussSeidel(coloured(threads))).unwrap();
        let (mut z, mut w) = (vec![0.0; problem.len()], vec![0.0; problem.len()]);
        z[7] = f64::NAN;
        let report = workspace.solve(&problem, &mut z, &mut w).unwrap();
        assert_ne!(report.status, Status::Solved);
    }
}

#[test]
fn too_many_threads() {
    let error = Workspace::new(Solver::GaussSeidel(coloured(257))).unwrap_err();
    assert!(matches!(error, NumericsError::Setting { field: "threads", .. }), "{error}");
}
