//! What a workspace keeps between calls, and what it must not keep.

use crate::support::*;
use saltus_linalg::{Matrix, Sparse};
use saltus_numerics::methods::Workspace;
use saltus_numerics::{Problem, Report, Set, Status};

fn solve_in(workspace: &mut Workspace, data: &Data, problem: &Problem) -> (Vec<f64>, Report) {
    let n = problem.len();
    let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
    let report = workspace.solve(problem, &mut z, &mut w).unwrap();
    verify(data, 1e-8, &z, &w, report, "workspace");
    (z, report)
}

fn problems(n: usize) -> Vec<Data> {
    let mut random = Random(n as u64);
    let sparse = chain(n, 2.5, -1.0, -0.8);
    let (a, _) = with_answer(sparse.clone(), &mut random);
    let (b, _) = with_answer(sparse.to_dense(), &mut random);
    vec![a, b]
}

#[test]
fn the_second_call_takes_one_iteration() {
    for n in [1, 4, 30, 64, 65, 120] {
        for data in problems(n) {
            for name in ["pivoting", "auto"] {
                let mut workspace = Workspace::new(method(name)).unwrap();
                let mut problem = data.problem();
                let (first, _) = solve_in(&mut workspace, &data, &problem);
                let (second, report) = solve_in(&mut workspace, &data, &problem);
                assert_eq!((report.status, report.iterations), (Status::Solved, 1), "{name} {n}");
                // by the factors of the mode first, by its inverse then
                assert_close(&second, &first, 1e-14, name);
                // a little further along in time: the same mode
                let mut later = data.clone();
                for q in &mut later.q {
                    *q += 1e-6;
                }
                problem.set_q(&later.q).unwrap();
                let (_, report) = solve_in(&mut workspace, &later, &problem);
                assert_eq!((report.status, report.iterations), (Status::Solved, 1), "{name} {n}");
            }
        }
    }
}

/// The answer of a fallback is the first guess of the next call, semidefinite or not.
#[test]
fn the_portfolio_remembers_whoever_solved() {
    let g = 1e-3;
    let rows = [[g, g, -1.0, 0.0], [g, g, 0.0, -1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]];
    let mut workspace = Workspace::new(method("auto")).unwrap();
    let mut data = Data::lcp(Matrix::from(rows), &[0.0, 0.0, -10.0, 10.0]);
    let mut problem = data.problem();
    let (_, report) = solve_in(&mut workspace, &data, &problem);
    assert_eq!(report.status, Status::Solved);
    for voltage in [9.0, 8.0, 7.5] {
        data.q = vec![0.0, 0.0, -voltage, voltage];
        problem.set_q(&data.q).unwrap();
        let (_, report) = solve_in(&mut workspace, &data, &problem);
        assert_eq!((report.method, report.iterations), ("pivoting", 1));
        assert_eq!(workspace.attempts().len(), 1);
    }
}

#[test]
fn to_forget_is_to_be_new() {
    for n in [3, 20, 64, 65, 120] {
        for data in problems(n) {
            for name in ["pivoting", "auto", "lemke", "gauss-seidel", "fischer-burmeister"] {
                let mut random = Random(7);
                let mut old = Workspace::new(method(name)).unwrap();
                let mut problem = data.problem();
                let mut data = data.clone();
                for _ in 0..5 {
                    for q in &mut data.q {
                        *q = random.between(-2.0, 2.0);
                    }
                    problem.set_q(&data.q).unwrap();
                    old.forget();
                    let with_past = solve_in(&mut old, &data, &problem);
                    let mut new = Workspace::new(method(name)).unwrap();
                    let without = solve_in(&mut new, &data, &problem);
                    assert_eq!(with_past, without, "{name} {n}");
                }
            }
        }
    }
}

#[test]
fn a_new_matrix_is_noticed() {
    for n in [2, 30, 80] {
        let mut random = Random(8);
        for name in ["pivoting", "auto"] {
            let mut workspace = Workspace::new(method(name)).unwrap();
            let q: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { -1.0 } else { 0.5 }).collect();
            let sparse = |d: f64| chain(n, d, -1.0, -1.0);
            let mut data = Data::lcp(sparse(3.0), &q);
            let mut problem = data.problem();
            for round in 0..12 {
                // dense and sparse in turn, so that the engine changes as well
                let matrix: Sparse = sparse(2.5 + random.unit());
                data.matrix = match round / 3 % 2 {
                    0 => matrix.into(),
                    _ => matrix.to_dense().into(),
                };
                problem.set_matrix(data.matrix.clone()).unwrap();
                let (z, report) = solve_in(&mut workspace, &data, &problem);
                assert_eq!(report.status, Status::Solved);
                let fresh = check(&data, &method(name), None, "fresh");
                assert_close(&z, &fresh.z, 1e-13, name);
            }
        }
    }
}

/// One workspace for problems of different sizes, bounds and matrices.
#[test]
fn a_workspace_takes_what_comes() {
    for name in ["auto", "pivoting", "lemke"] {
        let mut random = Random(9);
        let mut workspace = Workspace::new(method(name)).unwrap();
        for _ in 0..100 {
            let n = [0, 1, 3, 3, 3, 10, 70][random.below(7)];
            let sparse = chain(n, 3.0, -1.0, -0.5);
            let (data, answer) = match random.below(2) {
                0 => with_answer(sparse, &mut random),
                _ => with_answer(sparse.to_dense(), &mut random),
            };
            let (z, report) = solve_in(&mut workspace, &data, &data.problem());
            assert_eq!(report.status, Status::Solved, "{name} {n}");
            assert_close(&z, &answer, 1e-8, name);
        }
    }
}

/// A bound that goes away or appears takes the remembered side with it.
#[test]
fn sets_change_under_a_remembered_mode() {
    let matrix = Matrix::from([[2.0, 1.0], [1.0, 2.0]]);
    for name in ["auto", "pivoting"] {
        let mut workspace = Workspace::new(method(name)).unwrap();
        let mut problem = Problem::lcp(matrix.clone(), vec![5.0, -5.0]).unwrap();
        let sets = [
            Set::Nonnegative,
            Set::Free,
            Set::Interval { lower: -1.0, upper: 1.0 },
            Set::Interval { lower: -INF, upper: -2.0 },
            Set::Interval { lower: 0.5, upper: 0.5 },
        ];
        for (first, second) in (0..5).flat_map(|i| (0..5).map(move |j| (i, j))) {
            problem.set_set(0, &sets[first]).unwrap();
            problem.set_set(1, &sets[second]).unwrap();
            let data = Data::new(matrix.clone(), problem.q(), problem.lower(), problem.upper());
            let (_, report) = solve_in(&mut workspace, &data, &problem);
            assert_eq!(report.status, Status::Solved, "{name} {first} {second}");
        }
    }
}

/// A failure leaves nothing behind that the next call would stumble over.
#[test]
fn a_failure_is_not_remembered() {
    // mode {2} is singular; from z = 0 the second problem needs no pivot at all
    let matrix = Matrix::from([[1.0, 0.0], [0.0, 0.0]]);
    for name in ["pivoting", "auto"] {
        let mut workspace = Workspace::new(method(name)).unwrap();
        let data = Data::lcp(matrix.clone(), &[1.0, -1.0]);
        let mut problem = data.problem();
        let (_, report) = solve_in(&mut workspace, &data, &problem);
        assert_ne!(report.status, Status::Solved);
        let data = Data::lcp(matrix.clone(), &[-1.0, 1.0]);
        problem.set_q(&data.q).unwrap();
        let (z, report) = solve_in(&mut workspace, &data, &problem);
        assert_eq!(report.status, Status::Solved, "{name}");
        assert_eq!(z, [1.0, 0.0]);
    }
}

/// Where every mode of the answers is singular, the last answer is still the guess of the next.
#[test]
fn a_singular_answer_is_remembered() {
    // three contacts under one body, two of them the same
    let rows = [[2.0, 2.0, 1.0], [2.0, 2.0, 1.0], [1.0, 1.0, 2.0]];
    let mut workspace = Workspace::new(method("auto")).unwrap();
    let mut data = Data::lcp(Matrix::from(rows), &[-1.0, -1.0, -1.0]);
    let mut problem = data.problem();
    let (_, report) = solve_in(&mut workspace, &data, &problem);
    assert_eq!(report.status, Status::Solved);
    for load in [1.1, 1.2, 1.3] {
        data.q = vec![-load; 3];
        problem.set_q(&data.q).unwrap();
        let (_, report) = solve_in(&mut workspace, &data, &problem);
        assert_eq!(report.status, Status::Solved);
        assert!(report.iterations <= 2, "{report:?}");
        assert_eq!(workspace.attempts().len(), 1);
    }
}
