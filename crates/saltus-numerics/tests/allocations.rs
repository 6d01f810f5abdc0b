//! A repeated solve takes no memory: what a method needs it has after the first visit of a mode.
//! A binary of its own, because the allocator that counts is global.

#![allow(clippy::unwrap_used)]
#![allow(unsafe_code)] // the allocator, whose trait is unsafe

use saltus_linalg::{Matrix, Sparse};
use saltus_numerics::methods::Workspace;
use saltus_numerics::{Operator, Problem, Solver, Status};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is handed on to the system's allocator as it is
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations of this thread in `work`.
fn allocations(work: impl FnOnce()) -> usize {
    let before = COUNT.with(Cell::get);
    work();
    COUNT.with(Cell::get) - before
}

fn chain(n: usize, above: f64) -> Sparse {
    let mut triplets = Vec::new();
    for i in 0..n {
        triplets.push((i, i, 2.5));
        if i > 0 {
            triplets.extend([(i, i - 1, -1.0), (i - 1, i, above)]);
        }
    }
    Sparse::from_triplets(n, n, &triplets)
}

/// Vectors `q` that lead to different modes, from all open to all closed.
fn drives(n: usize) -> Vec<Vec<f64>> {
    (0..8)
        .map(|k| {
            (0..n).map(|i| (0.7 * (i * (k + 1)) as f64).sin() + 0.5 * (3.5 - k as f64)).collect()
        })
        .collect()
}

#[track_caller]
fn check(name: &str, matrix: impl Into<Operator>) {
    let matrix = matrix.into();
    let n = matrix.shape().0;
    let drives = drives(n);
    let mut problem = Problem::lcp(matrix, drives[0].clone()).unwrap();
    let mut workspace = Workspace::new(Solver::from_name(name).unwrap()).unwrap();
    let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
    let mut round = |workspace: &mut Workspace| {
        for q in &drives {
            problem.set_q(q).unwrap();
            let report = workspace.solve(&problem, &mut z, &mut w).unwrap();
            assert_eq!(report.status, Status::Solved, "{name} {n}");
        }
    };
    // the first round comes from nowhere, the second from the last mode of the first
    round(&mut workspace);
    round(&mut workspace);
    assert_eq!(allocations(|| round(&mut workspace)), 0, "{name} {n}");
    workspace.forget();
    assert_eq!(allocations(|| round(&mut workspace)), 0, "{name} {n} after forget");
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![1.0; 3]))), 1);
}

#[test]
fn pivoting_and_the_portfolio() {
    for name in ["pivoting", "auto"] {
        for n in [1, 2, 4, 17, 48, 49, 64, 65, 100] {
            check(name, chain(n, -1.0).to_dense());
        }
        check(name, chain(500, -1.0));
        check(name, chain(500, -0.8));
    }
}

#[test]
fn gauss_seidel() {
    for n in [1, 10, 100] {
        check("gauss-seidel", chain(n, -1.0).to_dense());
        check("gauss-seidel", chain(n, -0.8));
    }
}

/// A new matrix of the same size finds the memory of the last one, where it is dense.
#[test]
fn a_new_matrix_of_the_same_size() {
    for n in [4, 60, 100] {
        let mut workspace = Workspace::new(Solver::default()).unwrap();
        let matrix = |k: usize| {
            let mut matrix = chain(n, -1.0).to_dense();
            matrix.add_scaled(0.1 * k as f64, &Matrix::identity(n));
            matrix
        };
        let q: Vec<f64> = (0..n).map(|i| (0.7 * i as f64).sin()).collect();
        let mut problem = Problem::lcp(matrix(0), q).unwrap();
        let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
        for k in 1..6 {
            problem.set_matrix(matrix(k)).unwrap();
            let count = allocations(|| {
                let report = workspace.solve(&problem, &mut z, &mut w).unwrap();
                assert_eq!(report.status, Status::Solved);
            });
            assert!(k == 1 || count == 0, "n = {n}, matrix {k}: {count}");
        }
    }
}

/// The problem of one block takes no memory, whichever of its paths it goes.
#[test]
fn blocks_take_no_memory() {
    use saltus_numerics::Set;
    let (mu, mu_r) = (0.5, 0.1);
    let sets = [
        (Set::Free, 1),
        (Set::Interval { lower: -1.0, upper: 1.0 }, 1),
        (Set::Coulomb2 { mu }, 2),
        (Set::Coulomb3 { mu }, 3),
        (Set::Rolling2 { mu, mu_r }, 3),
        (Set::Rolling3 { mu, mu_r }, 5),
        (Set::DruckerPrager { eta: mu, theta: 0.2 }, 3),
        (Set::VonMises { sigma_y: 1.0 }, 3),
        (Set::SecondOrder { mu }, 4),
        (Set::SecondOrder { mu }, 5),
    ];
    for (set, n) in sets {
        for singular in [false, true] {
            let mut W = [0.0; 25];
            for i in 0..n {
                for j in 0..n {
                    W[i * n + j] = if singular { 1.0 } else { 0.1 } + f64::from(u8::from(i == j));
                }
                if singular {
                    W[i * n + i] = 1.0;
                }
            }
            for q in drives(n) {
                let mut z = [0.0; 5];
                let mut solved = false;
                let count = allocations(|| {
                    solved = set.solve_block(&W[..n * n], &q, &mut z[..n]);
                });
                assert!(solved || singular, "{set:?} {q:?}");
                assert_eq!(count, 0, "{set:?} {q:?}");
            }
        }
    }
}
