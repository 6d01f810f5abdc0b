//! Sets of the user's own: beside the built-in ones that they repeat, and sets that nobody else has.

use saltus_linalg::Matrix;
use saltus_numerics::residual::residual;
use saltus_numerics::{
    Block, Measure, NumericsError, Problem, Set, Solver, Status, UserSet, solve,
};

/// `[lower, upper]` in every component.
#[derive(Debug)]
struct Bounds {
    lower: f64,
    upper: f64,
}

impl UserSet for Bounds {
    fn size(&self) -> usize {
        3
    }

    fn project(&self, x: &mut [f64]) {
        x.iter_mut().for_each(|x| *x = x.clamp(self.lower, self.upper));
    }
}

/// `‖x_T‖ ≤ μ x_N`.
#[derive(Debug)]
struct Cone(f64);

impl UserSet for Cone {
    fn size(&self) -> usize {
        3
    }

    fn project(&self, x: &mut [f64]) {
        Set::SecondOrder { mu: self.0 }.project(1.0, x);
    }
}

/// The same with its Jacobian.
#[derive(Debug)]
struct ExactCone(f64);

impl UserSet for ExactCone {
    fn size(&self) -> usize {
        3
    }

    fn project(&self, x: &mut [f64]) {
        Cone(self.0).project(x);
    }

    fn jacobian(&self, x: &[f64], jacobian: &mut [f64]) {
        // ∂f/∂w of the natural map at z = x, w = 0 is the Jacobian of the projection
        let set = Set::SecondOrder { mu: self.0 };
        set.natural_jacobian(1.0, x, &[0.0; 3], &mut [0.0; 9], jacobian);
    }
}

/// `{ z ≥ 0 : Σ z = 1 }`, by sorting.
#[derive(Debug)]
struct Simplex(usize);

impl UserSet for Simplex {
    fn size(&self) -> usize {
        self.0
    }

    fn project(&self, x: &mut [f64]) {
        let mut sorted = x.to_vec();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let (mut sum, mut shift) = (0.0, 0.0);
        for (k, value) in sorted.iter().enumerate() {
            sum += value;
            let next = (sum - 1.0) / (k + 1) as f64;
            if value - next > 0.0 {
                shift = next;
            }
        }
        x.iter_mut().for_each(|x| *x = (*x - shift).max(0.0));
    }
}

/// A symmetric definite matrix, and numbers between −1 and 1.
fn data(n: usize, seed: usize) -> (Matrix, Vec<f64>) {
    let number = |k: usize| ((37 * k + 101 * seed + 11) as f64 * 0.7315).sin();
    let mut A = Matrix::zeros(n, n);
    for i in 0..n {
        for j in 0..n {
            A[(i, j)] = number(i * n + j);
        }
    }
    let mut W = A.mul(&A.transpose());
    W.add_scaled(0.5, &Matrix::identity(n));
    (W, (0..n).map(|i| 2.0 * number(n * n + i)).collect())
}

const METHODS: [&str; 5] = ["auto", "gauss-seidel", "newton", "admm", "extragradient"];

#[test]
fn what_repeats_a_set_has_its_answers() {
    for seed in 0..20 {
        let (W, q) = data(9, seed);
        let pairs: [(Set, Set); 3] = [
            (
                Set::Interval { lower: -0.3, upper: 0.2 },
                Set::user(Bounds { lower: -0.3, upper: 0.2 }),
            ),
            (Set::SecondOrder { mu: 0.7 }, Set::user(ExactCone(0.7))),
            (Set::SecondOrder { mu: 0.7 }, Set::user(Cone(0.7))),
        ];
        for (known, own) in pairs {
            let blocks = |set: &Set| vec![Block { size: 3, set: set.clone() }; 3];
            let problem = Problem::new(W.clone(), q.clone(), &blocks(&known)).unwrap();
            let exact = solve(&problem, &Solver::default(), None).unwrap();
            assert_eq!(exact.report.status, Status::Solved);
            let problem = Problem::new(W.clone(), q.clone(), &blocks(&own)).unwrap();
            for method in METHODS {
                let solver = Solver::from_name(method).unwrap();
                let answer = solve(&problem, &solver, None).unwrap();
                assert_eq!(answer.report.status, Status::Solved, "{method}, {known:?}");
                for (a, b) in answer.z.iter().zip(&exact.z) {
                    assert!((a - b).abs() <= 1e-6, "{method}, {known:?}: {a} {b}");
                }
            }
        }
    }
}

/// On a simplex: `w` is least and the same where `z > 0`.
#[test]
fn a_simplex() {
    for (n, seed) in [(2, 1), (4, 2), (7, 3), (20, 4)] {
        let (W, q) = data(2 * n, seed);
        let blocks = vec![Block { size: n, set: Set::user(Simplex(n)) }; 2];
        let problem = Problem::new(W, q, &blocks).unwrap();
        for method in METHODS {
            let answer = solve(&problem, &Solver::from_name(method).unwrap(), None).unwrap();
            assert_eq!(answer.report.status, Status::Solved, "{method}, {n}");
            for (z, w) in answer.z.chunks(n).zip(answer.w.chunks(n)) {
                assert!((z.iter().sum::<f64>() - 1.0).abs() <= 1e-7);
                let least = w.iter().copied().fold(f64::INFINITY, f64::min);
                for (z, w) in z.iter().zip(w) {
                    assert!(*z >= -1e-7 && z * (w - least) <= 1e-6, "{method}: {z} {w} {least}");
                }
            }
        }
    }
}

#[test]
fn methods_that_need_more_say_so() {
    let (W, q) = data(3, 0);
    let blocks = [Block { size: 3, set: Set::user(Simplex(3)) }];
    let problem = Problem::new(W, q, &blocks).unwrap();
    for method in ["lemke", "pivoting", "enumeration", "fischer-burmeister", "interior-point"] {
        let error = solve(&problem, &Solver::from_name(method).unwrap(), None).unwrap_err();
        assert!(matches!(error, NumericsError::Unsupported { what: "User", .. }), "{error}");
    }
}

#[test]
fn sizes_and_residuals() {
    let (W, q) = data(4, 0);
    let wrong = [Block { size: 4, set: Set::user(Simplex(3)) }];
    let error = Problem::new(W.clone(), q.clone(), &wrong).unwrap_err();
    assert!(matches!(error, NumericsError::BlockSize { expected: 3, found: 4, .. }), "{error}");
    let blocks = [Block { size: 4, set: Set::user(Simplex(4)) }];
    let problem = Problem::new(W, q, &blocks).unwrap().measured(Measure::Absolute);
    let mut w = [0.0; 4];
    // outside, a corner, far outside, not a number
    assert!(residual(&problem, &[0.0; 4], &mut w).value > 0.1);
    assert!(residual(&problem, &[1e9, 0.0, 0.0, 0.0], &mut w).value > 0.1);
    assert!(!(residual(&problem, &[f64::NAN, 0.0, 0.0, 0.0], &mut w).value <= 1e300));
}
