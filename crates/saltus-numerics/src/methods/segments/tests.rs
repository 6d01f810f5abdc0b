//! Segments beside each other and beside Gauss–Seidel.

use super::*;
use crate::{Block, Graph, Solver, solve};
use std::sync::Arc;

fn blocks(n: usize) -> Vec<Block> {
    let points = [(-2.0, 1.0), (-1.0, 1.0), (0.5, 0.3), (0.5, -0.2), (1.0, -1.0), (2.0, -1.0)];
    let graph = Arc::new(Graph::new(&points).unwrap());
    let set = |i: usize| match i % 4 {
        0 | 1 => Set::Graph(Arc::clone(&graph)),
        2 => Set::Interval { lower: -0.3, upper: 0.4 },
        _ => Set::Nonnegative,
    };
    (0..n).map(|i| Block { size: 1, set: set(i) }).collect()
}

fn chain(n: usize) -> Sparse {
    let mut entries = Vec::new();
    for i in 0..n {
        entries.push((i, i, 1.0));
        if i > 0 {
            entries.extend([(i, i - 1, 0.6), (i - 1, i, -0.2)]);
        }
    }
    Sparse::from_triplets(n, n, &entries)
}

fn q(n: usize, round: usize) -> Vec<f64> {
    (0..n).map(|i| 1.5 * ((i * 7 + 3 * round) as f64).sin()).collect()
}

#[test]
fn graphs_and_boxes_dense_and_sparse_from_step_to_step() {
    for n in [1, 9, 40, 300] {
        let mut sparse = Problem::new(chain(n), q(n, 0), &blocks(n)).unwrap();
        let mut dense = Problem::new(chain(n).to_dense(), q(n, 0), &blocks(n)).unwrap();
        let (mut by_sparse, mut by_dense) = (Segments::new(), Segments::new());
        let (mut y, mut z, mut w) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        for round in 0..6 {
            sparse.set_q(&q(n, round / 2)).unwrap();
            dense.set_q(&q(n, round / 2)).unwrap();
            let report = by_sparse.solve(&sparse, &mut y, &mut w, 1e-12).unwrap();
            assert!(round % 2 == 0 || report.iterations == 1, "{report:?}");
            let _ = by_dense.solve(&dense, &mut z, &mut w, 1e-12).unwrap();
            assert!(y.iter().zip(&z).all(|(y, z)| (y - z).abs() < 1e-10));
            let other = solve(&sparse, &Solver::from_name("gauss-seidel").unwrap(), None);
            let other = other.unwrap();
            assert!(y.iter().zip(&other.z).all(|(y, z)| (y - z).abs() < 1e-6), "{n}");
        }
    }
}

#[test]
fn a_set_that_changes_is_followed() {
    let n = 9;
    let mut problem = Problem::new(chain(n), q(n, 0), &blocks(n)).unwrap();
    let mut segments = Segments::new();
    let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
    let _ = segments.solve(&problem, &mut z, &mut w, 1e-12).unwrap();
    for (lower, upper) in [(0.1, 0.1), (f64::NEG_INFINITY, f64::INFINITY), (-0.3, 0.4)] {
        problem.set_bounds(2, lower, upper);
        let _ = segments.solve(&problem, &mut z, &mut w, 1e-12).unwrap();
        assert!(z[2] >= lower && z[2] <= upper);
        let again = solve(&problem, &Solver::from_name("gauss-seidel").unwrap(), None).unwrap();
        assert!(z.iter().zip(&again.z).all(|(y, z)| (y - z).abs() < 1e-6));
    }
}

#[test]
fn what_it_cannot_do_is_left_as_it_was() {
    let problem = Problem::friction3d(Matrix::identity(3), vec![-1.0; 3], &[0.3]).unwrap();
    let mut z = [0.1, 0.2, 0.3];
    assert_eq!(Segments::new().solve(&problem, &mut z, &mut [0.0; 3], 1e-8), None);
    assert_eq!(z, [0.1, 0.2, 0.3]);
}

/// Stages of gain, each driving the next, and hardly the first again: where the first changes, all do.
#[test]
fn a_chain_that_switches_from_end_to_end() {
    let (n, points) = (400, [(-2.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (2.0, -1.0)]);
    let graph = Arc::new(Graph::new(&points).unwrap());
    let blocks: Vec<Block> =
        (0..n).map(|_| Block { size: 1, set: Set::Graph(Arc::clone(&graph)) }).collect();
    let mut entries = vec![(0, n - 1, 1e-7)];
    for i in 0..n {
        entries.push((i, i, 0.1));
        if i > 0 {
            entries.push((i, i - 1, 11.0));
        }
    }
    let mut problem =
        Problem::new(Sparse::from_triplets(n, n, &entries), vec![0.0; n], &blocks).unwrap();
    let mut segments = Segments::new();
    let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
    for first in [-3.0, 0.02, -0.03, 3.0, 1e-3] {
        let mut q = vec![0.0; n];
        q[0] = first;
        problem.set_q(&q).unwrap();
        let report = segments.solve(&problem, &mut z, &mut w, 1e-12).unwrap();
        assert!(report.iterations <= 20, "{first}: {report:?}");
        // stage after stage, by hand
        let mut drive = first;
        for (k, z) in z.iter().enumerate() {
            let expected = (-drive / 1.1).clamp(-1.0, 1.0);
            assert!((z - expected).abs() < 1e-5, "{first}: stage {k}, {z} beside {expected}");
            drive = 11.0 * z;
        }
    }
}
