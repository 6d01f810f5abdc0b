//! Problems with sets of every kind, for the methods that take them all.

use crate::support::*;
use saltus_linalg::{Matrix, Sparse};
use saltus_numerics::{
    Block, Global, Graph, Operator, Problem, Set, Solution, Solver, Status, solve,
};
use std::sync::Arc;

/// A relay with slope: `z` from 1 to −1 while `w` goes from −0.5 to 0.5.
pub fn slope() -> Set {
    let points = [(-2.0, 1.0), (-0.5, 1.0), (0.5, -1.0), (2.0, -1.0)];
    Set::Graph(Arc::new(Graph::new(&points).unwrap()))
}

/// One block with its answer.
pub struct Case {
    pub name: &'static str,
    pub set: Set,
    pub q: Vec<f64>,
    pub z: Vec<f64>,
}

/// One block with `W = 2`, in closed form.
pub fn closed_forms() -> Vec<Case> {
    let case = |name, set, q: &[f64], z: &[f64]| Case { name, set, q: q.to_vec(), z: z.to_vec() };
    let coulomb = Set::Coulomb3 { mu: 0.5 };
    let rolling = Set::Rolling3 { mu: 0.5, mu_r: 0.25 };
    let (cone, flow) = (Set::SecondOrder { mu: 1.0 }, Set::DruckerPrager { eta: 1.0, theta: 0.5 });
    vec![
        case("free", Set::Free, &[-3.0], &[1.5]),
        case("closed", Set::Nonnegative, &[-3.0], &[1.5]),
        case("open", Set::Nonnegative, &[3.0], &[0.0]),
        case("at its bound", Set::Interval { lower: -1.0, upper: 1.0 }, &[-3.0], &[1.0]),
        case("fixed", Set::Interval { lower: 0.25, upper: 0.25 }, &[-3.0], &[0.25]),
        // z = −2 w on the slope, w = 2 z + 1
        case("on the slope", slope(), &[1.0], &[-0.4]),
        case("on the plateau", slope(), &[-4.0], &[1.0]),
        case("plane, slips", Set::Coulomb2 { mu: 0.5 }, &[-2.0, 8.0], &[1.0, -0.5]),
        case("takes off", coulomb.clone(), &[1.0, 5.0, 0.0], &[0.0; 3]),
        case("sticks", coulomb.clone(), &[-2.0, 0.4, -0.2], &[1.0, -0.2, 0.1]),
        case("slips", coulomb, &[-2.0, 3.0, -4.0], &[1.0, -0.3, 0.4]),
        case(
            "plane, rolls",
            Set::Rolling2 { mu: 0.5, mu_r: 0.25 },
            &[-2.0, 0.2, 9.0],
            &[1.0, -0.1, -0.25],
        ),
        case(
            "slips and rolls",
            rolling,
            &[-2.0, 3.0, -4.0, 0.0, 7.0],
            &[1.0, -0.3, 0.4, 0.0, -0.25],
        ),
        // w = λ (1, 1) up to the sign: 2 r − 2 = λ, −2 r + 6 = λ
        case("cone", cone, &[-2.0, 6.0, 0.0], &[2.0, -2.0, 0.0]),
        // w = λ (0.5, 1) up to the sign: 2 r − 2 = λ/2, −2 r + 6 = λ
        case("dilates", flow, &[-2.0, 6.0, 0.0], &[5.0 / 3.0, -5.0 / 3.0, 0.0]),
        case("yields", Set::VonMises { sigma_y: 1.0 }, &[-8.0, -8.0, 0.0], &[1.0, 1.0, 0.0]),
        case("elastic", Set::VonMises { sigma_y: 9.0 }, &[-8.0, -8.0, 0.2], &[4.0, 4.0, -0.1]),
    ]
}

impl Case {
    /// The problem with the matrix in each of its forms.
    pub fn problems(&self) -> Vec<Problem> {
        let n = self.q.len();
        let matrix = Matrix::diagonal(&vec![2.0; n]);
        let (half, one) = (Matrix::diagonal(&vec![0.5; n]), Matrix::identity(n));
        let global =
            Global::new(Sparse::from_dense(&half), Sparse::from_dense(&one), vec![0.0; n]).unwrap();
        let operators: [Operator; 3] =
            [matrix.clone().into(), Sparse::from_dense(&matrix).into(), global.into()];
        let blocks = [Block { size: n, set: self.set.clone() }];
        operators
            .into_iter()
            .map(|operator| Problem::new(operator, self.q.clone(), &blocks).unwrap())
            .collect()
    }
}

/// The method finds the closed forms, whatever the form of the matrix.
#[track_caller]
pub fn check_closed_forms(solver: &Solver) {
    for case in closed_forms() {
        for problem in case.problems() {
            let solution = solved(&problem, solver, case.name);
            assert_close(&solution.z, &case.z, 1e-7, case.name);
        }
    }
}

#[track_caller]
pub fn solved(problem: &Problem, solver: &Solver, context: &str) -> Solution {
    let solution = solve(problem, solver, None).unwrap();
    let report = solution.report;
    assert_eq!(report.status, Status::Solved, "{context} by {}: {report:?}", solver.name());
    assert!(report.residual <= solver.tol(), "{context}: {report:?}");
    solution
}

/// Blocks of every kind, in random order.
pub fn random_blocks(random: &mut Random, count: usize) -> Vec<Block> {
    let mut blocks = Vec::new();
    for _ in 0..count {
        let mu = random.between(0.05, 0.3);
        let (size, set) = match random.below(10) {
            0 => (2, Set::Free),
            1 => (2, Set::Nonnegative),
            2 => (1, Set::Interval { lower: -1.0, upper: 1.0 }),
            3 => (1, slope()),
            4 => (2, Set::Coulomb2 { mu }),
            5 => (3, Set::Coulomb3 { mu }),
            6 => (5, Set::Rolling3 { mu, mu_r: 0.5 * mu }),
            7 => (7, Set::SecondOrder { mu }),
            8 => (3, Set::DruckerPrager { eta: mu, theta: 0.5 * mu }),
            _ => (3, Set::VonMises { sigma_y: 0.5 }),
        };
        blocks.push(Block { size, set });
    }
    blocks
}

/// `Hᵀ M⁻¹ H` with more velocities than unknowns, so that it is definite: as a pair, as a sparse
/// and as a dense matrix.
pub fn random_operators(random: &mut Random, n: usize) -> (Vec<Operator>, Vec<f64>) {
    let velocities = 2 * n;
    let mass: Vec<f64> = (0..velocities).map(|_| random.between(0.5, 2.0)).collect();
    let mut triplets: Vec<(usize, usize, f64)> = (0..n).map(|j| (j, j, 1.5)).collect();
    for j in 0..n {
        for _ in 0..3 {
            triplets.push((random.below(velocities), j, random.between(-0.5, 0.5)));
        }
    }
    let H = Sparse::from_triplets(velocities, n, &triplets);
    let f: Vec<f64> = (0..velocities).map(|_| random.between(-1.0, 1.0)).collect();
    let mass = Sparse::from_dense(&Matrix::diagonal(&mass));
    let global = Global::new(mass, H, f).unwrap();
    let W = global.condense();
    let mut free = vec![0.0; n];
    global.apply(&vec![0.0; n], &mut free);
    (vec![W.to_dense().into(), W.into(), global.into()], free)
}

/// Random definite problems with sets of every kind, each in three forms.
pub fn random_problems(random: &mut Random, count: usize) -> Vec<Problem> {
    let blocks = random_blocks(random, count);
    let n = blocks.iter().map(|block| block.size).sum();
    let q: Vec<f64> = (0..n).map(|_| random.between(-2.0, 2.0)).collect();
    let (operators, free) = random_operators(random, n);
    let mut problems = Vec::new();
    for operator in operators {
        // the given momentum of the pair is part of q for the matrices
        let with_free = operator.is_matrix();
        let q = (0..n).map(|i| q[i] + if with_free { free[i] } else { 0.0 }).collect();
        problems.push(Problem::new(operator, q, &blocks).unwrap());
    }
    problems
}

/// The answers agree with those of Gauss–Seidel and Newton's method.
#[track_caller]
pub fn check_random(solver: &Solver, seed: u64, rounds: usize) {
    let mut random = Random(seed);
    for round in 0..rounds {
        let count = 1 + random.below(12);
        let problems = random_problems(&mut random, count);
        let reference = solved(&problems[0], &method("gauss-seidel").with_tol(1e-12), "reference");
        let newton = solve(&problems[0], &method("newton").with_tol(1e-12), None).unwrap();
        if newton.report.status == Status::Solved {
            assert_close(&newton.z, &reference.z, 1e-8, &format!("round {round}, newton"));
        }
        for problem in &problems {
            let solution = solved(problem, &solver.clone().with_tol(1e-11), &format!("{round}"));
            assert_close(&solution.z, &reference.z, 1e-8, &format!("round {round}"));
        }
    }
}

/// Problems without a solution, or with one that the method cannot reach, are never called solved.
#[track_caller]
pub fn check_no_false_success(solver: &Solver) {
    let one = |W: f64, q: f64, set: Set| {
        Problem::new(Matrix::from([[W]]), vec![q], &[Block { size: 1, set }]).unwrap()
    };
    let skew = Matrix::from([[0.0, 1.0], [-1.0, 0.0]]);
    let contradiction = Matrix::from([[1.0, -1.0], [-1.0, 1.0]]);
    let wall = Matrix::diagonal(&[0.0, 1.0, 1.0]);
    let problems = [
        one(0.0, -1.0, Set::Nonnegative),
        one(-1.0, -1.0, Set::Nonnegative),
        one(0.0, 1.0, Set::Free),
        Problem::lcp(skew, vec![0.0, -1.0]).unwrap(),
        Problem::lcp(contradiction, vec![-1.0, -1.0]).unwrap(),
        // a contact pressed with nothing to give way
        Problem::friction3d(wall, vec![-1.0, 0.3, 0.0], &[0.5]).unwrap(),
    ];
    for problem in &problems {
        let solution = solve(problem, &solver.clone().with_max_iter(300), None).unwrap();
        let report = solution.report;
        assert_ne!(report.status, Status::Solved, "{problem:?}: {report:?}");
        assert!(!(report.residual <= solver.tol()), "{problem:?}: {report:?}");
    }
}

/// A guess that is no number is never called an answer, and breaks nothing that follows.
#[track_caller]
pub fn check_nan(solver: &Solver) {
    let problem = Problem::friction3d(Matrix::identity(3), vec![-1.0, 0.1, 0.2], &[0.5]).unwrap();
    let mut workspace = saltus_numerics::methods::Workspace::new(solver.clone()).unwrap();
    for bad in [f64::NAN, INF] {
        let (mut z, mut w) = ([0.0, bad, 0.0], [0.0; 3]);
        let report = workspace.solve(&problem, &mut z, &mut w).unwrap();
        assert!(report.status != Status::Solved || z.iter().all(|z| z.is_finite()), "{report:?}");
        let (mut z, mut w) = ([0.0; 3], [0.0; 3]);
        let report = workspace.solve(&problem, &mut z, &mut w).unwrap();
        assert_eq!(report.status, Status::Solved);
        assert_close(&z, &[1.0, -0.1, -0.2], 1e-7, "after a guess that is no number");
    }
}
