//! A workspace made anew from the memory of another goes on as that one, bit for bit.

use saltus_linalg::Matrix;
use saltus_numerics::methods::Workspace;
use saltus_numerics::{Memory, Problem, Solver};

/// Six unknowns that feel each other.
fn matrix() -> Matrix {
    let mut W = Matrix::zeros(6, 6);
    for i in 0..6 {
        for j in 0..6 {
            W[(i, j)] = if i == j { 3.0 } else { 1.0 / (1.0 + i.abs_diff(j) as f64) };
        }
    }
    W
}

/// The `q` of the `k`-th problem: modes come and come back.
fn q(k: usize) -> Vec<f64> {
    (0..6).map(|i| ((k % 7 + 3 * i) as f64 * 1.3).sin() + 0.01 * (k as f64 * 0.37).cos()).collect()
}

/// Answers to all problems; after every third one the workspace is another, with the memory of the
/// one before or without.
fn answers(solver: &Solver, renewed: bool, remembers: bool) -> Vec<u64> {
    let mut problem = Problem::lcp(matrix(), q(0)).unwrap();
    let mut workspace = Workspace::new(solver.clone()).unwrap();
    let (mut z, mut w, mut bits) = (vec![0.0; 6], vec![0.0; 6], Vec::new());
    for k in 0..90 {
        problem.set_q(&q(k)).unwrap();
        let report = workspace.solve(&problem, &mut z, &mut w).unwrap();
        bits.extend(z.iter().chain(&w).map(|x| x.to_bits()));
        bits.push(report.iterations as u64);
        if renewed && k % 3 == 2 {
            let mut memory = Memory::to_write();
            workspace.memory(&mut memory, Some(&problem));
            workspace = Workspace::new(solver.clone()).unwrap();
            if remembers {
                let mut memory = Memory::to_read(memory.into_bytes());
                workspace.memory(&mut memory, Some(&problem));
                assert!(memory.is_whole());
            }
        }
    }
    bits
}

#[test]
fn every_method_goes_on() {
    for name in Solver::NAMES {
        let solver = Solver::from_name(name).unwrap();
        let whole = answers(&solver, false, false);
        assert_eq!(whole, answers(&solver, true, true), "{name}");
    }
    // and without its memory pivoting would not
    let solver = Solver::from_name("pivoting").unwrap();
    assert_ne!(answers(&solver, false, false), answers(&solver, true, false));
}
