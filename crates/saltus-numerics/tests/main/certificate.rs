//! No answer is called one that is none: small problems at random, whose truth is known from how
//! they are built or from enumeration.
//!
//! ```text
//! jam        w_N of two contacts sums up to q₁ + q₂ < 0 whatever the forces: no solution
//! any        H and q at random: enumeration decides
//! built      q = w − W z for a pair that obeys the laws: there is a solution
//! ```
//!
//! The loads of the rest are up to 10⁵ times those of the jam, in all units.

use crate::support::{Random, method};
use saltus_linalg::Matrix;
use saltus_numerics::{Problem, Solver, Status, solve};

/// Those that take contacts in space.
const METHODS_FOR_FRICTION: [&str; 6] =
    ["auto", "newton", "gauss-seidel", "admm", "extragradient", "interior-point"];
/// How many problems of each sort.
const COUNT: usize = 400;

/// What became of them.
#[derive(Debug, Default)]
struct Tally {
    problems: usize,
    solved: usize,
    infeasible: usize,
    wrong: Vec<String>,
}

/// A matrix `Hᵀ H` of contacts between bodies with `velocities` degrees of freedom in all.
fn delassus(H: &Matrix) -> Matrix {
    let (rows, cols) = (H.rows(), H.cols());
    let mut W = Matrix::zeros(cols, cols);
    for i in 0..cols {
        for j in 0..cols {
            W[(i, j)] = (0..rows).map(|k| H[(k, i)] * H[(k, j)]).sum();
        }
    }
    W
}

fn friction(dimension: usize, W: Matrix, q: Vec<f64>, mu: &[f64]) -> Problem {
    match dimension {
        2 => Problem::friction2d(W, q, mu).unwrap(),
        _ => Problem::friction3d(W, q, mu).unwrap(),
    }
}

/// Two contacts with opposite normals on one body, which close; others beside them, on the same
/// body and on others, under loads of their own.
fn jam(random: &mut Random, dimension: usize) -> Problem {
    let others = random.below(4);
    let contacts = 2 + others;
    let (body, more) = (dimension, random.below(5));
    let mut H = Matrix::zeros(body + more, contacts * dimension);
    let unit = 10f64.powf(random.between(-3.0, 3.0));
    for c in 0..2 {
        // normal along the first axis, one way and the other; tangents across
        H[(0, c * dimension)] = if c == 0 { unit } else { -unit };
        for t in 1..dimension {
            H[(t, c * dimension + t)] = unit;
        }
    }
    let touches_body = random.below(2) == 0;
    for i in 2 * dimension..contacts * dimension {
        for k in 0..body + more {
            if k >= body || touches_body {
                H[(k, i)] = unit * random.between(-1.0, 1.0);
            }
        }
    }
    let closing = random.between(0.1, 1.0);
    let drift = random.between(-1.0, 1.0);
    let mut q = vec![drift, 0.0, 0.0, -drift - closing, 0.0, 0.0];
    if dimension == 2 {
        q = vec![drift, 0.0, -drift - closing, 0.0];
    }
    let load = 10f64.powf(random.between(-2.0, 5.0));
    q.extend((0..others * dimension).map(|_| load * random.between(-1.0, 1.0)));
    let speed = 10f64.powf(random.between(-3.0, 3.0));
    q.iter_mut().for_each(|q| *q *= speed);
    let mu: Vec<f64> = (0..contacts).map(|_| random.between(0.0, 1.5)).collect();
    friction(dimension, delassus(&H), q, &mu)
}

fn no_answer_of_a_jam(count: usize) -> Tally {
    let mut random = Random(1);
    let mut tally = Tally::default();
    for k in 0..count {
        let problem = jam(&mut random, 2 + k % 2);
        let solution = solve(&problem, &Solver::default().with_max_iter(2000), None).unwrap();
        tally.problems += 1;
        tally.infeasible += usize::from(solution.report.status == Status::Infeasible);
        if solution.report.status == Status::Solved {
            tally.wrong.push(format!("jam {k}: {:?}", solution.report));
        }
    }
    tally
}

/// Contacts in the plane with a random `H`, which has fewer rows than columns as often as not.
fn as_enumeration_says(count: usize) -> Tally {
    let mut random = Random(2);
    let mut tally = Tally::default();
    for k in 0..count {
        let contacts = 1 + random.below(3);
        let rows = 1 + random.below(2 * contacts + 1);
        let unit = 10f64.powf(random.between(-2.0, 2.0));
        let mut H = Matrix::zeros(rows, 2 * contacts);
        for i in 0..rows {
            for j in 0..2 * contacts {
                H[(i, j)] = unit * random.between(-1.0, 1.0);
            }
        }
        let q: Vec<f64> = (0..2 * contacts)
            .map(|_| 10f64.powf(random.between(-3.0, 3.0)) * random.between(-1.0, 1.0))
            .collect();
        let mu: Vec<f64> = (0..contacts).map(|_| random.between(0.0, 1.5)).collect();
        let problem = friction(2, delassus(&H), q, &mu);
        let all = solve(&problem, &Solver::from_name("enumeration").unwrap(), None).unwrap();
        let auto = solve(&problem, &Solver::default().with_max_iter(2000), None).unwrap();
        tally.problems += 1;
        tally.solved += usize::from(auto.report.status == Status::Solved);
        tally.infeasible += usize::from(all.report.status == Status::Infeasible);
        match (all.report.status, auto.report.status) {
            (Status::Infeasible, Status::Solved) | (Status::Solved, Status::Infeasible) => {
                tally.wrong.push(format!("any {k}: {:?}, but {:?}", all.report, auto.report));
            }
            _ => {}
        }
    }
    tally
}

/// Problems with an answer, built backwards.
fn never_infeasible(count: usize) -> Tally {
    let mut random = Random(3);
    let mut tally = Tally::default();
    for k in 0..count {
        let (dimension, contacts) = (2 + k % 2, 1 + random.below(8));
        let rows = 1 + random.below(dimension * contacts + 3);
        let unit = 10f64.powf(random.between(-2.0, 2.0));
        let mut H = Matrix::zeros(rows, dimension * contacts);
        for i in 0..rows {
            for j in 0..dimension * contacts {
                H[(i, j)] = unit * random.between(-1.0, 1.0);
            }
        }
        let W = delassus(&H);
        let mu = [0.0, 0.1, 0.5, 1.0, 3.0][random.below(5)];
        let (mut z, mut w) = (Vec::new(), Vec::new());
        for _ in 0..contacts {
            let angle = random.between(0.0, 6.0);
            let along = match dimension {
                2 => vec![angle.cos().signum()],
                _ => vec![angle.cos(), angle.sin()],
            };
            let (force, slip) = (random.between(0.0, 1.0), random.between(0.0, 1.0));
            let (friction, normal, open, moves) = match random.below(3) {
                0 => (0.0, 0.0, slip, slip),
                1 => (mu * force * slip, force, 0.0, 0.0),
                _ => (mu * force, force, 0.0, slip),
            };
            z.push(normal);
            w.push(open);
            for a in along {
                z.push(-friction * a);
                w.push(moves * a);
            }
        }
        let q = (0..z.len())
            .map(|i| w[i] - (0..z.len()).map(|j| W[(i, j)] * z[j]).sum::<f64>())
            .collect();
        let problem = friction(dimension, W, q, &vec![mu; contacts]);
        let solution = solve(&problem, &Solver::default(), None).unwrap();
        tally.problems += 1;
        tally.solved += usize::from(solution.report.status == Status::Solved);
        if solution.report.status == Status::Infeasible {
            tally.wrong.push(format!("built {k}: {:?}", solution.report));
        }
    }
    tally
}

#[test]
fn a_jam_has_no_answer() {
    let tally = no_answer_of_a_jam(COUNT);
    assert!(tally.wrong.is_empty(), "{tally:?}");
}

#[test]
fn answers_are_those_of_enumeration() {
    let tally = as_enumeration_says(COUNT);
    assert!(tally.wrong.is_empty(), "{tally:?}");
    assert!(tally.solved > 0 && tally.infeasible > 0, "{tally:?}");
}

#[test]
fn what_has_an_answer_is_not_called_infeasible() {
    let tally = never_infeasible(COUNT);
    assert!(tally.wrong.is_empty(), "{tally:?}");
    assert!(tally.solved * 50 >= tally.problems * 49, "{tally:?}");
}

/// However large the coefficient of friction is, a contact that closes without a force is no answer.
#[test]
fn friction_hides_nothing() {
    let W = Matrix::from([[15.0, -1.0, -2.0], [-1.0, 14.0, 1.0], [-2.0, 1.0, 16.0]]);
    for mu in [1e2, 1e4, 1e8, 1e12, 1e16] {
        let problem = Problem::friction3d(W.clone(), vec![-1.0, 2.0, 3.0], &[mu]).unwrap();
        for name in METHODS_FOR_FRICTION {
            let solver = method(name).with_tol(1e-3);
            let solution = solve(&problem, &solver, None).unwrap();
            let (w, status) = (solution.w[0], solution.report.status);
            assert!(status != Status::Solved || w >= -0.02, "{name}, {mu:e}: w_N = {w}");
            assert!(name != "auto" || status == Status::Solved, "{mu:e}: {:?}", solution.report);
        }
    }
}

/// The same a hundred times longer.
#[test]
#[ignore = "takes minutes"]
fn the_same_with_many() {
    let tallies =
        [no_answer_of_a_jam(35_000), as_enumeration_says(35_000), never_infeasible(30_000)];
    assert!(tallies.iter().all(|tally| tally.wrong.is_empty()), "{tallies:?}");
}
