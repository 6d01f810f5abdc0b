//! Random problems whose answer is chosen first; the matrices are P-matrices, so it is the only
//! one, and all methods agree on it.

use crate::support::*;
use saltus_linalg::{Matrix, Sparse};
use saltus_numerics::Operator;

fn symmetric(random: &mut Random, n: usize) -> Matrix {
    let a = random_matrix(random, n);
    let mut matrix = a.mul(&a.transpose());
    matrix.scale(1.0 / n as f64);
    matrix.add_scaled(0.3, &Matrix::identity(n));
    matrix
}

fn unsymmetric(random: &mut Random, n: usize) -> Matrix {
    let (mut matrix, a) = (symmetric(random, n), random_matrix(random, n));
    matrix.add_scaled(1.0, &a);
    matrix.add_scaled(-1.0, &a.transpose());
    matrix
}

/// A diagonally dominant M-matrix.
fn dominant(random: &mut Random, n: usize) -> Matrix {
    let mut matrix = Matrix::zeros(n, n);
    for i in 0..n {
        for j in (0..n).filter(|&j| j != i) {
            matrix[(i, j)] = -random.unit();
        }
        matrix[(i, i)] = 0.2 - matrix.row(i).iter().sum::<f64>();
    }
    matrix
}

/// A banded matrix with a dominant diagonal.
fn banded(random: &mut Random, n: usize, width: usize, is_symmetric: bool) -> Sparse {
    let (mut triplets, mut diagonal) = (Vec::new(), vec![0.3; n]);
    for i in 0..n {
        for j in i + 1..(i + width + 1).min(n) {
            let a = random.between(-1.0, 1.0);
            let b = if is_symmetric { a } else { random.between(-1.0, 1.0) };
            triplets.extend([(i, j, a), (j, i, b)]);
            diagonal[i] += a.abs().max(b.abs());
            diagonal[j] += a.abs().max(b.abs());
        }
    }
    triplets.extend(diagonal.into_iter().enumerate().map(|(i, x)| (i, i, x)));
    Sparse::from_triplets(n, n, &triplets)
}

/// The methods that must agree on a problem of this size.
fn agree(data: &Data, answer: &[f64], splitting: bool, context: &str) {
    let n = data.q.len();
    let applies = |name: &str| match name {
        "lemke" => n <= 60 || matches!(data.matrix, Operator::Sparse(_)),
        "gauss-seidel" => splitting,
        "enumeration" => n <= 5,
        _ => true,
    };
    for name in saltus_numerics::Solver::NAMES {
        if applies(name) {
            let solver = method(name).with_tol(1e-11).with_max_iter(100_000);
            check(data, &solver, Some(answer), context);
        }
    }
}

#[test]
fn dense_symmetric() {
    let mut random = Random(11);
    for n in (1..=12).cycle().take(60).chain([20, 33, 47, 48, 49, 60]) {
        let matrix = symmetric(&mut random, n);
        let (data, answer) = with_answer(matrix, &mut random);
        agree(&data, &answer, true, &format!("symmetric {n}"));
    }
}

#[test]
fn dense_unsymmetric() {
    let mut random = Random(12);
    for n in (1..=12).cycle().take(60).chain([20, 33, 47, 48, 49, 60]) {
        let matrix = unsymmetric(&mut random, n);
        let (data, answer) = with_answer(matrix, &mut random);
        agree(&data, &answer, false, &format!("unsymmetric {n}"));
    }
}

#[test]
fn dense_dominant() {
    let mut random = Random(13);
    for n in (1..=12).cycle().take(60).chain([20, 33, 47, 48, 49, 60]) {
        let matrix = dominant(&mut random, n);
        let (data, answer) = with_answer(matrix, &mut random);
        agree(&data, &answer, true, &format!("dominant {n}"));
    }
}

#[test]
fn dense_beyond_the_mode_cache() {
    let mut random = Random(14);
    for n in [64, 65, 100, 150] {
        let matrix = unsymmetric(&mut random, n);
        let (data, answer) = with_answer(matrix, &mut random);
        agree(&data, &answer, false, &format!("large {n}"));
    }
}

#[test]
fn sparse_banded() {
    let mut random = Random(15);
    for (n, width) in [(1, 1), (2, 1), (17, 3), (60, 2), (300, 5), (1000, 8), (3000, 3)] {
        for is_symmetric in [true, false] {
            let matrix = banded(&mut random, n, width, is_symmetric);
            let (data, answer) = with_answer(matrix, &mut random);
            agree(&data, &answer, true, &format!("banded {n}, symmetric {is_symmetric}"));
        }
    }
}

/// Answers with `z = w = 0` at many places: several modes have the same answer.
#[test]
fn degenerate() {
    let mut random = Random(16);
    for round in 0..200 {
        let n = 1 + round % 20;
        let matrix = unsymmetric(&mut random, n);
        let mut z = vec![0.0; n];
        let mut q = vec![0.0; n];
        for i in (0..n).filter(|i| (i + round) % 3 == 0) {
            z[i] = random.between(0.1, 1.0);
        }
        matrix.apply(&z, &mut q);
        for i in 0..n {
            let open = (i + round) % 3 == 1 && round % 2 == 0;
            q[i] = if open { random.unit() } else { 0.0 } - q[i];
        }
        for name in ["auto", "pivoting", "lemke"] {
            check(&Data::lcp(matrix.clone(), &q), &method(name), Some(&z), "degenerate");
        }
    }
}
