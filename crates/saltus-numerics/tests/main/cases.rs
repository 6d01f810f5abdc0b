//! One list of cases, and every method that the theory covers on it.

use crate::support::*;
use saltus_linalg::Matrix;

const EVERY: &[&str] =
    &["auto", "pivoting", "lemke", "gauss-seidel", "fischer-burmeister", "enumeration"];
/// Convergent splittings and small sizes aside.
const EXACT: &[&str] = &["auto", "pivoting", "lemke", "fischer-burmeister", "enumeration"];
/// Positive semidefinite: a singular mode may come in the way of pivoting.
const SEMIDEFINITE: &[&str] = &["auto", "lemke", "fischer-burmeister"];
/// Sparse, and too large for a dense basis.
const LARGE: &[&str] = &["auto", "pivoting", "gauss-seidel", "fischer-burmeister"];

struct Case {
    name: String,
    data: Data,
    answer: Option<Vec<f64>>, // where it is unique
    methods: &'static [&'static str],
}

#[test]
fn every_method_on_the_list() {
    let cases = list();
    assert!(cases.len() > 60);
    for case in &cases {
        for name in case.methods {
            let solver = method(name).with_tol(1e-10);
            check(&case.data, &solver, case.answer.as_deref(), &case.name);
        }
    }
}

/// A method may fail outside its class, but it may not call a failure an answer.
#[test]
fn outside_their_class_methods_are_honest() {
    for case in list().iter().filter(|case| case.data.q.len() <= 12) {
        for name in ["pivoting", "lemke", "gauss-seidel", "fischer-burmeister"] {
            let solver = method(name).with_max_iter(300);
            if let Ok(solution) = saltus_numerics::solve(&case.data.problem(), &solver, None) {
                let (z, w, report) = (&solution.z, &solution.w, solution.report);
                verify(&case.data, solver.tol(), z, w, report, &format!("{} {name}", case.name));
            }
        }
    }
}

/// Any guess leads to the answer of a P-matrix, through whatever modes.
#[test]
fn pivoting_ends_from_every_mode() {
    let cyclic = Matrix::from([[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]]);
    let mut random = Random(3);
    let mut problems = vec![
        (Data::lcp(cyclic.clone(), &[-1.0; 3]), vec![1.0 / 3.0; 3]),
        (Data::lcp(cyclic.transpose(), &[-1.0; 3]), vec![1.0 / 3.0; 3]),
    ];
    for _ in 0..20 {
        problems.push(with_answer(cyclic.clone(), &mut random));
        problems.push(with_answer(murty(6), &mut random));
    }
    for (data, answer) in problems {
        let n = data.q.len();
        for start in 0..3usize.pow(n as u32) {
            // far outside, inside, far outside on the other side
            let guess: Vec<f64> =
                (0..n).map(|i| [-1e3, 0.5, 1e3][start / 3usize.pow(i as u32) % 3]).collect();
            for name in ["pivoting", "auto"] {
                let solution = run(&data, &method(name), Some(&guess), "cyclic");
                assert_close(&solution.z, &answer, 1e-8, name);
            }
        }
    }
}

fn list() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: &str, data: Data, answer: Option<&[f64]>, methods| {
        let (name, answer) = (name.to_string(), answer.map(<[f64]>::to_vec));
        cases.push(Case { name, data, answer, methods });
    };
    let two = || Matrix::from([[2.0, 1.0], [1.0, 2.0]]);

    // no unknown, one unknown, each law alone
    add("nothing", Data::lcp(Matrix::zeros(0, 0), &[]), Some(&[]), EVERY);
    let one = |q: f64, l: f64, u: f64| Data::new(Matrix::from([[2.0]]), &[q], &[l], &[u]);
    add("one, open", one(3.0, 0.0, INF), Some(&[0.0]), EVERY);
    add("one, closed", one(-3.0, 0.0, INF), Some(&[1.5]), EVERY);
    add("one, at rest", one(0.0, 0.0, INF), Some(&[0.0]), EVERY);
    add("one, free", one(3.0, -INF, INF), Some(&[-1.5]), EVERY);
    add("one, relay at −1", one(3.0, -1.0, 1.0), Some(&[-1.0]), EVERY);
    add("one, relay at +1", one(-3.0, -1.0, 1.0), Some(&[1.0]), EVERY);
    add("one, relay between", one(1.0, -1.0, 1.0), Some(&[-0.5]), EVERY);
    add("one, relay at its corner", one(2.0, -1.0, 1.0), Some(&[-1.0]), EVERY);
    add("one, fixed", one(1e3, 0.25, 0.25), Some(&[0.25]), EVERY);
    add("one, bounded above only", one(-3.0, -INF, 1.0), Some(&[1.0]), EVERY);
    add("one, below its upper bound", one(3.0, -INF, 1.0), Some(&[-1.5]), EVERY);
    add("one, bounds far from zero", one(-4.0, 5.0, 6.0), Some(&[5.0]), EVERY);

    // LCP
    add("q ≥ 0", Data::lcp(two(), &[1.0, 0.0]), Some(&[0.0, 0.0]), EVERY);
    add("one contact closed", Data::lcp(two(), &[-4.0, 1.0]), Some(&[2.0, 0.0]), EVERY);
    add("both closed", Data::lcp(two(), &[-3.0, -3.0]), Some(&[1.0, 1.0]), EVERY);
    add("z and w both zero", Data::lcp(two(), &[-4.0, -2.0]), Some(&[2.0, 0.0]), EVERY);
    add("all zero", Data::lcp(two(), &[0.0, 0.0]), Some(&[0.0, 0.0]), EVERY);
    let rows = [[10.0, 0.0, -2.0], [2.0, 0.1, -0.4], [0.0, 0.2, 0.1]];
    add("three, unsymmetric P", Data::lcp(Matrix::from(rows), &[10.0, 1.0, -1.0]), None, EXACT);
    let cyclic = Matrix::from([[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]]);
    add("Kostreva, cyclic", Data::lcp(cyclic.clone(), &[-1.0; 3]), Some(&[1.0 / 3.0; 3]), EXACT);
    let answer = Some(&[1.0 / 3.0; 3][..]);
    add("Kostreva, cyclic, transposed", Data::lcp(cyclic.transpose(), &[-1.0; 3]), answer, EXACT);

    // Murty: exponentially many pivots
    for n in 8..=12 {
        let mut last = vec![0.0; n];
        last[n - 1] = 1.0;
        add(&format!("Murty {n}"), Data::lcp(murty(n), &vec![-1.0; n]), Some(&last), EXACT);
        let mut first = vec![0.0; n];
        first[0] = 1.0;
        let data = Data::lcp(murty(n).transpose(), &vec![-1.0; n]);
        add(&format!("Murty {n} reversed"), data, Some(&first), EXACT);
        // Fathi: the same path, for a symmetric matrix
        let fathi = murty(n).mul(&murty(n).transpose());
        add(&format!("Fathi {n}"), Data::lcp(fathi, &vec![-1.0; n]), None, EXACT);
    }

    // mixed: free unknowns first
    let rows = [[4.0, 1.0, -1.0], [1.0, 3.0, 0.5], [-1.0, 0.5, 2.0]];
    let (free, up) = ([-INF, -INF, 0.0], [INF; 3]);
    let data = Data::new(Matrix::from(rows), &[1.0, -2.0, -3.0], &free, &up);
    add("mixed, contact closed", data, None, EVERY);
    let data = Data::new(Matrix::from(rows), &[1.0, -2.0, 5.0], &free, &up);
    add("mixed, contact open", data, None, EVERY);
    let data = Data::new(Matrix::from(rows), &[1.0, -2.0, 5.0], &[-INF; 3], &up);
    add("linear equations", data, None, EVERY);
    // saddle point: W_FF is singular, but the whole is not
    let saddle = Matrix::from([[0.0, 1.0, 0.0], [-1.0, 2.0, 1.0], [0.0, 1.0, 3.0]]);
    let data = Data::new(saddle.clone(), &[-1.0, 0.5, 1.0], &[-INF, 0.0, 0.0], &[INF; 3]);
    add("mixed, saddle point", data, Some(&[2.5, 1.0, 0.0]), SEMIDEFINITE);
    let data = Data::new(saddle, &[-1.0, 0.5, -2.0], &[-INF, 0.0, 0.0], &[INF; 3]);
    let answer = [2.5 + 1.0 / 3.0, 1.0, 1.0 / 3.0];
    add("mixed, saddle point, closed", data, Some(&answer), SEMIDEFINITE);
    // skew: what the elimination of the free unknowns leaves is zero, but for round-off
    let rows = [
        [0.0, 2.0, 0.0, -1.0, 1.0],
        [-2.0, 0.0, -3.0, -1.0, -3.0],
        [0.0, 3.0, 0.0, -3.0, 0.0],
        [1.0, 1.0, 3.0, 0.0, -2.0],
        [-1.0, 3.0, 0.0, 2.0, 0.0],
    ];
    let data = Data::new(
        Matrix::from(rows),
        &[2.0, -1.0, 2.0, 2.0, 2.0],
        &[0.0, -INF, -INF, -INF, -INF],
        &[INF; 5],
    );
    add("mixed, skew", data, None, SEMIDEFINITE);
    // a free unknown that nothing determines
    let data = Data::new(Matrix::diagonal(&[0.0, 1.0]), &[0.0, -1.0], &[-INF, 0.0], &[INF; 2]);
    add("a free unknown without equation", data, None, SEMIDEFINITE);

    // boxes, relays, fixed, one-sided, all together
    let relay = |q: &[f64]| Data::new(two(), q, &[-1.0; 2], &[1.0; 2]);
    add("relays apart", relay(&[-5.0, 5.0]), Some(&[1.0, -1.0]), EVERY);
    add("relays together", relay(&[-5.0, -5.0]), Some(&[1.0, 1.0]), EVERY);
    add("one relay slides", relay(&[-5.0, -1.5]), Some(&[1.0, 0.25]), EVERY);
    add("both relays slide", relay(&[-1.0, 0.5]), Some(&[5.0 / 6.0, -2.0 / 3.0]), EVERY);
    add("relays at their corners", relay(&[-3.0, -3.0]), Some(&[1.0, 1.0]), EVERY);
    let data = Data::new(two(), &[1.0, -3.0], &[2.0, 0.0], &[2.0, INF]);
    add("one fixed", data, Some(&[2.0, 0.5]), EVERY);
    let data = Data::new(two(), &[1.0, -3.0], &[2.0, -1.0], &[2.0, -1.0]);
    add("all fixed", data, Some(&[2.0, -1.0]), EVERY);
    let data = Data::new(Matrix::zeros(2, 2), &[1.0, -3.0], &[-1.0; 2], &[1.0; 2]);
    add("boxes without a matrix", data, Some(&[-1.0, 1.0]), EXACT);
    let rows = [
        [5.0, 1.0, 0.0, -1.0, 0.5],
        [1.0, 4.0, 1.0, 0.0, 0.0],
        [0.0, 1.0, 6.0, 1.0, 1.0],
        [-1.0, 0.0, 1.0, 3.0, 0.0],
        [0.5, 0.0, 1.0, 0.0, 2.0],
    ];
    let (l, u) = ([-INF, 0.0, -1.0, -INF, 0.5], [INF, INF, 1.0, 2.0, 0.5]);
    let data = Data::new(Matrix::from(rows), &[1.0, -9.0, 8.0, -9.0, 3.0], &l, &u);
    add("every law at once", data, None, EVERY);

    // positive semidefinite, singular, unsymmetric
    let data = Data::lcp(Matrix::from([[1.0, 1.0], [1.0, 1.0]]), &[-1.0, -1.0]);
    add("two contacts, one equation", data, None, SEMIDEFINITE);
    let data = Data::lcp(Matrix::from([[1.0, -1.0], [-1.0, 1.0]]), &[-1.0, 1.0]);
    add("a line of answers", data, None, SEMIDEFINITE);
    let data = Data::lcp(Matrix::from([[0.0, 1.0], [-1.0, 0.0]]), &[-1.0, 2.0]);
    add("skew", data, None, SEMIDEFINITE);
    let data = Data::lcp(Matrix::zeros(3, 3), &[0.0, 1.0, 2.0]);
    add("no matrix", data, None, SEMIDEFINITE);
    // a linear program: max x + y, x + 2 y ≤ 4, 3 x + y ≤ 6
    let rows = [
        [0.0, 0.0, 1.0, 3.0],
        [0.0, 0.0, 2.0, 1.0],
        [-1.0, -2.0, 0.0, 0.0],
        [-3.0, -1.0, 0.0, 0.0],
    ];
    let data = Data::lcp(Matrix::from(rows), &[-1.0, -1.0, 4.0, 6.0]);
    add("a linear program", data, Some(&[1.6, 1.2, 0.4, 0.2]), SEMIDEFINITE);
    // the bridge rectifier: ideal diodes, resistor, capacitor
    for (coupling, voltage) in
        [0.0, 1e-6, 1.0, 1e3].iter().flat_map(|&c| [0.0, 10.0, -10.0, 1e-9].map(|v| (c, v)))
    {
        let data = Data::lcp(bridge(coupling), &[0.0, 0.0, -voltage, voltage]);
        add(&format!("bridge, coupling {coupling}, {voltage} V"), data, None, SEMIDEFINITE);
    }
    let mut random = Random(5);
    for pattern in 0..16 {
        let side = |i: usize, on: bool| if (pattern >> i & 1 == 1) == on { 1.0 } else { 0.0 };
        let z: Vec<f64> = (0..4).map(|i| side(i, true) * random.between(0.1, 2.0)).collect();
        let matrix = bridge(1e-3);
        let mut q = vec![0.0; 4];
        matrix.apply(&z, &mut q);
        for i in 0..4 {
            q[i] = side(i, false) * random.between(0.1, 2.0) - q[i];
        }
        add(&format!("bridge, mode {pattern}"), Data::lcp(matrix, &q), None, SEMIDEFINITE);
    }

    // chains, sparse
    for n in [1, 10, 70, 500, 2000] {
        let wave: Vec<f64> = (0..n).map(|i| (0.3 * i as f64).sin()).collect();
        for (name, below, above) in [("chain", -1.0, -1.0), ("unsymmetric chain", -0.7, -1.2)] {
            let data = Data::lcp(chain(n, 2.2, below, above), &wave);
            add(&format!("{name} of {n}"), data, None, LARGE);
            let data = Data::new(chain(n, 2.2, below, above), &wave, &vec![-0.2; n], &vec![0.3; n]);
            add(&format!("{name} of {n} relays"), data, None, LARGE);
        }
    }
    let wave: Vec<f64> = (0..60).map(|i| (0.3 * i as f64).sin()).collect();
    add("chain of 60 for Lemke", Data::lcp(chain(60, 2.2, -1.0, -1.0), &wave), None, &["lemke"]);
    // an obstacle problem: the Laplacian itself
    let data = Data::new(chain(400, 2.0, -1.0, -1.0), &[-1e-4; 400], &[-INF; 400], &[0.7; 400]);
    add("string under a ceiling", data, None, &["auto", "pivoting"]);
    cases
}

/// Ones on the diagonal, twos above: `2ⁿ` pivots for some rules.
fn murty(n: usize) -> Matrix {
    let mut matrix = Matrix::identity(n);
    for i in 0..n {
        for j in i + 1..n {
            matrix[(i, j)] = 2.0;
        }
    }
    matrix
}

/// Unknowns: voltages of two diodes, currents of the two others; `coupling` = time step over
/// capacity.
fn bridge(coupling: f64) -> Matrix {
    let (g, c) = (1e-3, coupling);
    Matrix::from([[g, g, -1.0, 0.0], [g, g, 0.0, -1.0], [1.0, 0.0, c, -c], [0.0, 1.0, -c, c]])
}
