//! The interior point method: closed forms, problems whose answer is chosen first, and agreement
//! with the other methods where the answer is not unique but `w` is.

use crate::support::*;
use saltus_linalg::{Matrix, Sparse};
use saltus_numerics::residual::residual;
use saltus_numerics::{
    Block, Global, Measure, NumericsError, Problem, Set, Solution, Solver, Status, solve,
};

/// Solves, and holds a report of success against the residual computed anew.
#[track_caller]
fn run_problem(problem: &Problem, tol: f64, context: &str) -> Solution {
    let solver = method("interior-point").with_tol(tol);
    let solution = solve(problem, &solver, None).unwrap_or_else(|e| panic!("{context}: {e}"));
    let mut w = vec![0.0; problem.len()];
    let own = residual(problem, &solution.z, &mut w).value;
    let solved = solution.report.status == Status::Solved;
    assert_eq!(solved, own <= tol, "{context}: {:?}, residual {own:e}", solution.report);
    assert_eq!(w, solution.w, "{context}");
    solution
}

#[track_caller]
fn check_problem(problem: &Problem, tol: f64, context: &str) -> Solution {
    let solution = run_problem(problem, tol, context);
    assert_eq!(solution.report.status, Status::Solved, "{context}: {:?}", solution.report);
    solution
}

#[test]
fn one_contact() {
    let W = Matrix::identity(3);
    let problem = |q: [f64; 3]| Problem::friction3d(W.clone(), q.to_vec(), &[0.5]).unwrap();
    // takes off, sticks, slides: z_N = 1, z_T = −0.5 along w_T
    for (q, z) in [
        ([1.0, 2.0, 0.0], [0.0, 0.0, 0.0]),
        ([-1.0, 0.3, 0.1], [1.0, -0.3, -0.1]),
        ([-1.0, 1.5, 2.0], [1.0, -0.3, -0.4]),
    ] {
        let solution = check_problem(&problem(q), 1e-12, "one contact");
        assert_close(&solution.z, &z, 1e-10, "one contact");
    }
}

#[test]
fn the_shift_is_not_left_out() {
    // a block slides under a tangential velocity: Coulomb keeps w_N = 0, the convex law does not
    let W = Matrix::identity(2);
    let friction = Problem::friction2d(W.clone(), vec![-1.0, 3.0], &[0.5]).unwrap();
    let solution = check_problem(&friction, 1e-12, "Coulomb");
    assert_close(&solution.w, &[0.0, 2.5], 1e-10, "Coulomb");
    let associated = Problem::second_order(W, vec![-1.0, 3.0], &[2], &[0.5]).unwrap();
    let solution = check_problem(&associated, 1e-12, "associated");
    assert!(solution.w[0] > 0.1, "{:?}", solution.w);
}

#[test]
fn what_is_fixed_stays() {
    // without friction there is no tangential force; an interval of no width
    let W = Matrix::from([[2.0, 0.3, 0.1], [0.3, 2.0, 0.2], [0.1, 0.2, 1.0]]);
    let problem = Problem::friction3d(W.clone(), vec![-4.0, 1.0, 1.0], &[0.0]).unwrap();
    let solution = check_problem(&problem, 1e-12, "mu = 0");
    assert_close(&solution.z, &[2.0, 0.0, 0.0], 1e-10, "mu = 0");
    let problem = Problem::boxed(W, vec![-4.0, 1.0, 1.0], &[0.0, 2.0, -INF], &[INF, 2.0, INF]);
    let solution = check_problem(&problem.unwrap(), 1e-12, "fixed");
    assert_eq!(solution.z[1], 2.0);
}

#[test]
fn boxes_of_every_kind() {
    let mut random = Random(5);
    for n in (1..=14).cycle().take(60).chain([40, 70]) {
        let mut matrix = {
            let a = random_matrix(&mut random, n);
            let mut matrix = a.mul(&a.transpose());
            matrix.scale(1.0 / n as f64);
            matrix
        };
        matrix.add_scaled(0.3, &Matrix::identity(n));
        if n % 2 == 0 {
            let a = random_matrix(&mut random, n);
            matrix.add_scaled(1.0, &a);
            matrix.add_scaled(-1.0, &a.transpose());
        }
        let (data, answer) = with_answer(matrix, &mut random);
        check(&data, &method("interior-point").with_tol(1e-11), Some(&answer), "boxes");
    }
}

#[test]
fn sparse_boxes() {
    let mut random = Random(17);
    for (below, n) in [(-1.0, 400), (-0.4, 1500)] {
        let (data, answer) = with_answer(chain(n, 2.2, below, -1.0), &mut random);
        check(&data, &method("interior-point").with_tol(1e-11), Some(&answer), "chain");
    }
}

/// A vector of that length in a random direction.
fn direction(random: &mut Random, n: usize, length: f64) -> Vec<f64> {
    let x: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
    let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-3);
    x.iter().map(|x| x * length / norm).collect()
}

/// A set with a pair `(z, w)` on the graph of its law.
fn law(random: &mut Random, kind: usize, scale: (f64, f64)) -> (Set, Vec<f64>, Vec<f64>) {
    let mu = random.between(0.2, 0.9);
    let mu_r = random.between(0.05, 0.5);
    let (zs, ws) = scale;
    let (f, s) = (zs * random.between(0.5, 2.0), ws * random.between(0.5, 2.0));
    // parts beside the normal one, their apertures and shifts
    let (set, parts): (Set, Vec<(usize, f64, f64)>) = match kind {
        0 => (Set::Coulomb2 { mu }, vec![(1, mu, mu)]),
        1 => (Set::Coulomb3 { mu }, vec![(2, mu, mu)]),
        2 => (Set::Rolling2 { mu, mu_r }, vec![(1, mu, mu), (1, mu_r, mu_r)]),
        3 => (Set::Rolling3 { mu, mu_r }, vec![(2, mu, mu), (2, mu_r, mu_r)]),
        4 => (Set::SecondOrder { mu }, vec![(4, mu, 0.0)]),
        _ => {
            let theta = random.between(0.0, mu);
            (Set::DruckerPrager { eta: mu, theta }, vec![(2, mu, theta)])
        }
    };
    let (mut z, mut w) = (vec![0.0], vec![0.0]);
    let state = random.below(3);
    let mut shifts = 0.0;
    for (size, aperture, shift) in parts {
        let (z_T, w_T) = match state {
            // open
            0 => (vec![0.0; size], direction(random, size, s)),
            // closed, at rest
            1 => (direction(random, size, 0.7 * aperture * f), vec![0.0; size]),
            // sliding: the force against the velocity
            _ => {
                let w_T = direction(random, size, s);
                let length = w_T.iter().map(|x| x * x).sum::<f64>().sqrt();
                (w_T.iter().map(|x| -aperture * f * x / length).collect(), w_T)
            }
        };
        let length = w_T.iter().map(|x| x * x).sum::<f64>().sqrt();
        // the dual variable is on the surface while sliding, inside while open
        shifts += (aperture - shift) * length;
        z.extend(z_T);
        w.extend(w_T);
    }
    match state {
        0 => w[0] = shifts + s,
        1 => z[0] = f,
        _ => (z[0], w[0]) = (f, shifts),
    }
    (set, z, w)
}

/// Blocks of all kinds with an answer, and `W` of that rank.
fn with_law(
    random: &mut Random,
    kinds: &[usize],
    rank: usize,
    scale: (f64, f64),
) -> (Problem, Vec<f64>, Vec<f64>) {
    let (mut blocks, mut z, mut w) = (Vec::new(), Vec::new(), Vec::new());
    for &kind in kinds {
        let (set, z_c, w_c) = law(random, kind, scale);
        blocks.push(Block { size: z_c.len(), set });
        z.extend(z_c);
        w.extend(w_c);
    }
    // a few unknowns without a law, and a bounded one
    blocks.push(Block { size: 2, set: Set::Free });
    z.extend([scale.0, -scale.0]);
    w.extend([0.0, 0.0]);
    blocks.push(Block { size: 1, set: Set::Interval { lower: -scale.0, upper: scale.0 } });
    z.push(scale.0);
    w.push(-scale.1);
    let n = z.len();
    let a = Matrix::from_vec(n, rank, (0..n * rank).map(|_| random.between(-1.0, 1.0)).collect());
    let mut W = a.mul(&a.transpose());
    W.scale(scale.1 / scale.0 / rank as f64);
    if rank >= n {
        W.add_scaled(scale.1 / scale.0, &Matrix::identity(n));
    }
    let mut q = vec![0.0; n];
    W.apply(&z, &mut q);
    q.iter_mut().zip(&w).for_each(|(q, w)| *q = w - *q);
    (Problem::new(W, q, &blocks).unwrap(), z, w)
}

#[test]
fn every_set_alone_and_mixed() {
    let mut random = Random(23);
    for round in 0..60 {
        let kinds: Vec<usize> = (0..1 + round % 6)
            .map(|_| if round < 36 { round % 6 } else { random.below(6) })
            .collect();
        let context = format!("round {round}: {kinds:?}");
        let (problem, z, _) = with_law(&mut random, &kinds, 100, (1.0, 1.0));
        let mut w = vec![0.0; z.len()];
        assert!(residual(&problem, &z, &mut w).value < 1e-12, "{context}: the answer is none");
        check_problem(&problem, 1e-11, &context);
    }
}

#[test]
fn more_contacts_than_degrees_of_freedom() {
    let mut random = Random(29);
    for round in 0..40 {
        let kinds: Vec<usize> = (0..12).map(|_| random.below(6)).collect();
        let (problem, _, _) = with_law(&mut random, &kinds, 12, (1.0, 1.0));
        check_problem(&problem, 1e-8, &format!("hyperstatic {round}: {kinds:?}"));
    }
}

#[test]
fn units_do_not_matter() {
    for (zs, ws) in [(1e6, 1.0), (1e-6, 1.0), (1.0, 1e5), (1e4, 1e-4), (1e8, 1e-3)] {
        let mut iterations = Vec::new();
        for scale in [(1.0, 1.0), (zs, ws)] {
            let mut random = Random(31);
            let kinds: Vec<usize> = (0..10).map(|k| k % 6).collect();
            let (problem, z, w) = with_law(&mut random, &kinds, 100, scale);
            // the measure of friction has none either
            let solution = check_problem(&problem.measured(Measure::Largest), 1e-7, "scaled");
            for (found, known, unit) in [(&solution.z, &z, scale.0), (&solution.w, &w, scale.1)] {
                for i in 0..z.len() {
                    assert!((found[i] - known[i]).abs() < 1e-4 * unit, "{zs} {ws} [{i}]");
                }
            }
            iterations.push(solution.report.iterations);
        }
        assert!(iterations[1] <= iterations[0] + 20, "{zs} {ws}: {iterations:?}");
    }
}

/// A column of blocks, each on four corners of the one below, the mass growing by `ratio` upwards.
fn tower(blocks: usize, ratio: f64, mu: f64) -> Problem {
    let n = 6 * blocks;
    let (mut mass, mut H, mut f) = (Vec::new(), Vec::new(), vec![0.0; n]);
    let mut column = 0;
    for b in 0..blocks {
        let m = ratio.powi(b as i32);
        for i in 0..6 {
            mass.push((6 * b + i, 6 * b + i, if i < 3 { m } else { m / 6.0 }));
        }
        f[6 * b + 2] = -0.01 * m;
        f[6 * b] = 0.002 * m;
        for (x, y) in [(-0.5, -0.5), (-0.5, 0.5), (0.5, 0.5), (0.5, -0.5)] {
            for (axis, direction) in
                [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].iter().enumerate()
            {
                for (body, z, sign) in [(Some(b), -0.5, 1.0), (b.checked_sub(1), 0.5, -1.0)] {
                    let Some(body) = body else { continue };
                    let (d, arm) = (direction, [x, y, z]);
                    let torque = [
                        arm[1] * d[2] - arm[2] * d[1],
                        arm[2] * d[0] - arm[0] * d[2],
                        arm[0] * d[1] - arm[1] * d[0],
                    ];
                    for i in 0..3 {
                        H.push((6 * body + i, column + axis, sign * d[i]));
                        H.push((6 * body + 3 + i, column + axis, sign * torque[i]));
                    }
                }
            }
            column += 3;
        }
    }
    let set = Set::Coulomb3 { mu };
    let contacts: Vec<Block> =
        (0..column / 3).map(|_| Block { size: 3, set: set.clone() }).collect();
    let H: Vec<_> = H.into_iter().filter(|entry| entry.2 != 0.0).collect();
    let global =
        Global::new(Sparse::from_triplets(n, n, &mass), Sparse::from_triplets(n, column, &H), f);
    Problem::new(global.unwrap(), vec![0.0; column], &contacts).unwrap()
}

#[test]
fn towers_agree_in_both_forms() {
    // above and below the size from which (M, H) stay apart
    for (blocks, ratio, mu) in [(6, 2.0, 0.6), (6, 2.0, 0.15), (30, 1.2, 0.5), (30, 1.0, 0.1)] {
        let problem = tower(blocks, ratio, mu);
        let context = format!("tower of {blocks}, ratio {ratio}, mu {mu}");
        let pair = check_problem(&problem, 1e-10, &context);
        let matrix = check_problem(&problem.condensed().unwrap(), 1e-10, &context);
        let largest = pair.w.iter().fold(0.0_f64, |m, w| m.max(w.abs()));
        for i in 0..pair.w.len() {
            let error = (pair.w[i] - matrix.w[i]).abs();
            assert!(error <= 1e-5 * largest.max(1e-3), "{context} [{i}] {error:e}");
        }
    }
}

#[test]
fn heavy_towers_that_are_pushed() {
    for seed in 0..12 {
        let mut problem = tower(12, 2.0, 0.4);
        // the topmost block moves and turns at first
        let mut random = Random(seed);
        let [vx, vy, vz, ax, ay, az]: [f64; 6] = std::array::from_fn(|_| random.between(-1.0, 1.0));
        let mut q = vec![0.0; problem.len()];
        let corners = [(-0.5, -0.5), (-0.5, 0.5), (0.5, 0.5), (0.5, -0.5)];
        for (q, (x, y)) in q[12 * 11..].chunks_exact_mut(3).zip(corners) {
            q[0] = vz + ax * y - ay * x;
            q[1] = vx - 0.5 * ay - az * y;
            q[2] = vy + az * x + 0.5 * ax;
        }
        problem.set_q(&q).unwrap();
        check_problem(&problem, 1e-8, &format!("seed {seed}"));
    }
}

#[test]
fn agrees_with_other_methods() {
    let mut random = Random(37);
    for round in 0..20 {
        let kinds: Vec<usize> = (0..4).map(|_| random.below(4)).collect();
        let (problem, _, _) = with_law(&mut random, &kinds, 100, (1.0, 1.0));
        let context = format!("round {round}: {kinds:?}");
        let own = check_problem(&problem, 1e-11, &context);
        for name in ["newton", "gauss-seidel"] {
            let other = solve(&problem, &method(name).with_tol(1e-11), Some(&own.z)).unwrap();
            assert_eq!(other.report.status, Status::Solved, "{context} {name}");
            assert_close(&own.w, &other.w, 1e-8, &format!("{context} {name}"));
        }
    }
}

#[test]
fn what_has_no_answer_is_not_solved() {
    let line = Matrix::from([[1.0, -1.0], [-1.0, 1.0]]);
    let cone = [Block { size: 2, set: Set::SecondOrder { mu: 0.5 } }];
    let interval = |lower, upper| Block { size: 1, set: Set::Interval { lower, upper } };
    let problems = [
        Problem::lcp(Matrix::from([[0.0]]), vec![-1.0]),
        Problem::lcp(Matrix::from([[-1.0]]), vec![-1.0]),
        Problem::lcp(line.clone(), vec![-1.0, -1.0]),
        Problem::lcp(line.clone(), vec![-1.0, 0.5]),
        Problem::new(line.clone(), vec![-1.0, 0.9], &[interval(1.0, INF), interval(2.0, INF)]),
        Problem::new(line, vec![1.0, 0.2], &[Block { size: 2, set: Set::Free }]),
        Problem::new(Matrix::zeros(2, 2), vec![-1.0, 0.3], &cone),
        Problem::friction2d(Matrix::zeros(2, 2), vec![-1.0, 0.3], &[0.5]),
    ];
    let mut proven = Vec::new();
    for (k, problem) in problems.into_iter().enumerate() {
        let report = solve(&problem.unwrap(), &method("interior-point"), None).unwrap().report;
        assert_ne!(report.status, Status::Solved, "{k}");
        proven.push(report.status == Status::Infeasible);
    }
    assert_eq!(proven, [true; 8]);
    // out of steps
    let problem = tower(6, 2.0, 0.15);
    let solver = Solver::from_name("interior-point").unwrap().with_max_iter(0).with_tol(1e-14);
    let solution = solve(&problem, &solver, None).unwrap();
    let mut w = vec![0.0; problem.len()];
    let solved = residual(&problem, &solution.z, &mut w).value <= 1e-14;
    assert_eq!(solution.report.status == Status::Solved, solved);
}

#[test]
fn says_what_it_cannot_do() {
    let blocks = [Block { size: 3, set: Set::VonMises { sigma_y: 1.0 } }];
    let problem = Problem::new(Matrix::identity(3), vec![1.0; 3], &blocks).unwrap();
    let error = solve(&problem, &method("interior-point"), None).unwrap_err();
    let (method, what) = ("interior-point", "VonMises");
    assert_eq!(error, NumericsError::Unsupported { method, what });
}

#[test]
fn nothing_to_solve() {
    let problem = Problem::lcp(Matrix::default(), vec![]).unwrap();
    check_problem(&problem, 1e-8, "empty");
    let problem = Problem::friction3d(Matrix::identity(3), vec![0.0; 3], &[0.5]).unwrap();
    assert_eq!(check_problem(&problem, 1e-8, "zero").report.iterations, 0);
}
