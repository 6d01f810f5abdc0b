//! The extragradient method: closed forms, the answers of other methods, functions.

use crate::mixed::*;
use crate::support::*;
use saltus_linalg::Matrix;
use saltus_numerics::{Block, Function, Map, Operator, Problem, Set, Solver, Status, solve};
use std::sync::Arc;

fn extragradient() -> Solver {
    method("extragradient")
}

#[test]
fn closed_forms() {
    check_closed_forms(&extragradient());
}

#[test]
fn agrees_with_other_methods() {
    check_random(&extragradient(), 12, 30);
}

#[test]
fn no_false_success() {
    check_no_false_success(&extragradient());
}

#[test]
fn no_number() {
    check_nan(&extragradient());
}

/// A rotation: the plain projection method runs away from the answer, the second step does not.
#[test]
fn a_rotation() {
    let skew = Matrix::from([[0.0, 1.0], [-1.0, 0.0]]);
    let data = Data::new(skew, &[-1.0, 1.0], &[-INF; 2], &[INF; 2]);
    check(&data, &extragradient().with_tol(1e-10), Some(&[1.0, 1.0]), "rotation");
}

/// A map from a closure, which this method needs no Jacobian of.
struct Closure<F>(usize, F);

impl<F: Fn(&[f64], &mut [f64]) + Send + Sync> Map for Closure<F> {
    fn size(&self) -> usize {
        self.0
    }
    fn eval(&self, z: &[f64], w: &mut [f64]) {
        self.1(z, w);
    }
    fn jacobian(&self, _: &[f64], _: &mut Matrix) {
        unreachable!("no Jacobian is asked for")
    }
}

fn function(n: usize, f: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static) -> Operator {
    Operator::Function(Function(Arc::new(Closure(n, f))))
}

/// `zᵢ³ + zᵢ + zᵢ₋₁ − zᵢ₊₁`, monotone and not linear, with an answer of every kind.
#[test]
fn a_function_on_boxes() {
    let map = |z: &[f64], w: &mut [f64]| {
        for i in 0..z.len() {
            let (left, right) = (z[(i + 3) % 4], z[(i + 1) % 4]);
            w[i] = z[i].powi(3) + z[i] + left - right;
        }
    };
    let blocks = [
        Block { size: 1, set: Set::Free },
        Block { size: 2, set: Set::Nonnegative },
        Block { size: 1, set: Set::Interval { lower: -1.0, upper: 1.0 } },
    ];
    let (z, w) = ([-0.7, 0.0, 1.3, 1.0], [0.0, 0.4, 0.0, -0.9]);
    let mut q = [0.0; 4];
    map(&z, &mut q);
    let q = (0..4).map(|i| w[i] - q[i]).collect();
    let problem = Problem::new(function(4, map), q, &blocks).unwrap();
    let solution = solved(&problem, &extragradient().with_tol(1e-11), "function");
    assert_close(&solution.z, &z, 1e-8, "function");
}

/// The gradient of `Σ exp(zᵢ) ` on a cone, from afar: the step must adapt.
#[test]
fn a_steep_function_on_a_cone() {
    let map = |z: &[f64], w: &mut [f64]| (0..3).for_each(|i| w[i] = z[i].exp());
    let set = Set::SecondOrder { mu: 1.0 };
    let problem =
        Problem::new(function(3, map), vec![-3.0, -1.0, -1.0], &[Block { size: 3, set }]).unwrap();
    let far = [9.0, 5.0, -5.0];
    let solution = solve(&problem, &extragradient(), Some(&far)).unwrap();
    assert_eq!(solution.report.status, Status::Solved, "{:?}", solution.report);
    assert_close(&solution.z, &[3f64.ln(), 0.0, 0.0], 1e-7, "inside the cone");
}

/// A function that is no number somewhere, or everywhere.
#[test]
fn a_function_without_values() {
    let root = |z: &[f64], w: &mut [f64]| w[0] = z[0] - (1.0 - z[0]).sqrt();
    let free = [Block { size: 1, set: Set::Nonnegative }];
    let problem = Problem::new(function(1, root), vec![0.0], &free).unwrap();
    let solution = solve(&problem, &extragradient(), None).unwrap();
    assert_eq!(solution.report.status, Status::Solved);
    assert_close(&solution.z, &[0.5 * (5f64.sqrt() - 1.0)], 1e-7, "root");

    let nothing = |_: &[f64], w: &mut [f64]| w[0] = f64::NAN;
    let problem = Problem::new(function(1, nothing), vec![0.0], &free).unwrap();
    let solution = solve(&problem, &extragradient(), None).unwrap();
    assert_eq!(solution.report.status, Status::Diverged);
}

#[test]
fn out_of_iterations() {
    let problem = Problem::lcp(chain(50, 2.0, -1.0, -1.0), vec![-1.0; 50]).unwrap();
    let report = solve(&problem, &extragradient().with_max_iter(3), None).unwrap().report;
    assert_eq!((report.status, report.iterations), (Status::MaxIter, 3));
}
