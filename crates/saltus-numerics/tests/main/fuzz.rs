//! Small problems in whole numbers, most of them singular or degenerate.

use crate::support::*;
use saltus_linalg::Matrix;
use saltus_numerics::methods::{Auto, Enumeration, Lemke};
use saltus_numerics::{AutoSettings, EnumerationSettings, LemkeSettings, Report, Solver, Status};

fn integers(random: &mut Random, n: usize) -> Matrix {
    Matrix::from_vec(n, n, (0..n * n).map(|_| random.integer(-2, 2)).collect())
}

/// Bounds: complementarity mostly, everything else as well.
fn bounds(random: &mut Random, n: usize, lcp: bool) -> (Vec<f64>, Vec<f64>) {
    let pair = |random: &mut Random| {
        let a = random.integer(-2, 2);
        match random.below(7) {
            0 => (a, a + random.integer(0, 2)),
            1 => (-1.0, 1.0),
            2 => (-INF, INF),
            3 => (-INF, a),
            _ => (0.0, INF),
        }
    };
    (0..n).map(|_| if lcp { (0.0, INF) } else { pair(random) }).unzip()
}

/// The methods, kept, so that memory from one problem meets the next.
struct Bench {
    auto: Auto,
    lemke: Lemke,
    enumeration: Enumeration,
}

impl Bench {
    fn new() -> Self {
        Bench {
            auto: Auto::new(AutoSettings::default()),
            lemke: Lemke::new(LemkeSettings::default()),
            enumeration: Enumeration::new(EnumerationSettings::default()),
        }
    }

    /// What each method says, and whether that is true.
    fn run(&mut self, data: &Data, context: &str) -> [Report; 3] {
        let (problem, n) = (data.problem(), data.q.len());
        let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
        let [auto, lemke, all] = [0, 1, 2].map(|method| {
            z.fill(0.0);
            let report = match method {
                0 => self.auto.solve(&problem, &mut z, &mut w),
                1 => self.lemke.solve(&problem, &mut z, &mut w),
                _ => self.enumeration.solve(&problem, &mut z, &mut w),
            };
            let report = report.unwrap();
            verify(data, 1e-8, &z, &w, report, &format!("{context} {} {data:?}", report.method));
            report
        });
        if all.status == Status::Solved {
            assert_eq!(auto.status, Status::Solved, "{context} {data:?} {auto:?}");
            assert_ne!(lemke.status, Status::Infeasible, "{context} {data:?}");
        }
        // what one of them has solved, no other may call impossible
        let solved = [auto, lemke, all].iter().any(|r| r.status == Status::Solved);
        let refuted = [auto, lemke, all].iter().any(|r| r.status == Status::Infeasible);
        assert!(!(solved && refuted), "{context} {data:?}");
        [auto, lemke, all]
    }
}

#[test]
fn any_whole_numbers() {
    let (mut random, mut bench) = (Random(41), Bench::new());
    let mut count = [0; 3];
    for round in 0..20_000 {
        let n = 1 + random.below(5);
        let matrix = integers(&mut random, n);
        let q: Vec<f64> = (0..n).map(|_| random.integer(-2, 2)).collect();
        let (lower, upper) = bounds(&mut random, n, round % 2 == 0);
        let data = Data::new(matrix, &q, &lower, &upper);
        let [auto, lemke, all] = bench.run(&data, "any");
        count[0] += usize::from(all.status == Status::Solved);
        count[1] += usize::from(auto.status == Status::Solved);
        count[2] += usize::from(lemke.status == Status::Infeasible);
    }
    // the sample says something about each outcome
    assert!(count.iter().all(|&c| c > 1000), "{count:?}");
}

/// Built around an answer: there is one, whatever the methods find, and so none may deny it.
#[test]
fn nobody_denies_an_answer() {
    let (mut random, mut bench) = (Random(42), Bench::new());
    for round in 0..6_000 {
        let n = 1 + random.below(6);
        let matrix = integers(&mut random, n);
        let data = around_an_answer(&mut random, matrix, round % 2 == 0);
        for report in bench.run(&data, "answer") {
            assert_ne!(report.status, Status::Infeasible, "{data:?} {report:?}");
        }
    }
}

/// Positive semidefinite: Lemke's method solves it or proves that nobody can.
#[test]
fn semidefinite_whole_numbers() {
    let (mut random, mut bench) = (Random(43), Bench::new());
    for round in 0..6_000 {
        let n = 1 + random.below(6);
        let rank = random.below(n + 1);
        let a = Matrix::from_vec(n, rank, (0..n * rank).map(|_| random.integer(-1, 1)).collect());
        let skew = integers(&mut random, n);
        let mut matrix = a.mul(&a.transpose());
        matrix.add_scaled(1.0, &skew);
        matrix.add_scaled(-1.0, &skew.transpose());
        let data = if round % 2 == 0 {
            around_an_answer(&mut random, matrix, round % 4 == 0)
        } else {
            let q: Vec<f64> = (0..n).map(|_| random.integer(-2, 2)).collect();
            let (lower, upper) = bounds(&mut random, n, round % 4 == 1);
            Data::new(matrix, &q, &lower, &upper)
        };
        let [auto, lemke, _] = bench.run(&data, "semidefinite");
        for report in [auto, lemke] {
            let allowed = match round % 2 {
                0 => [Status::Solved, Status::Solved],
                _ => [Status::Solved, Status::Infeasible],
            };
            assert!(allowed.contains(&report.status), "{data:?} {report:?}");
        }
    }
}

/// Whole numbers `(z, w)` that obey the law, often with zeros in both, and `q = w − W z`.
fn around_an_answer(random: &mut Random, matrix: Matrix, lcp: bool) -> Data {
    let n = matrix.rows();
    let (lower, upper) = bounds(random, n, lcp);
    let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
    for i in 0..n {
        let (l, u) = (lower[i], upper[i]);
        (z[i], w[i]) = match random.below(3) {
            0 if l.is_finite() => (l, random.integer(0, 2)),
            1 if u.is_finite() => (u, -random.integer(0, 2)),
            _ if l.is_finite() => ((l + random.integer(0, 2)).min(u), 0.0),
            _ if u.is_finite() => (u - random.integer(0, 2), 0.0),
            _ => (random.integer(-2, 2), 0.0),
        };
    }
    let mut q = vec![0.0; n];
    matrix.apply(&z, &mut q);
    for i in 0..n {
        q[i] = w[i] - q[i];
    }
    Data::new(matrix, &q, &lower, &upper)
}

/// The names in the settings are those of the methods.
#[test]
fn reports_name_their_method() {
    for name in Solver::NAMES {
        let data = Data::lcp(Matrix::identity(2), &[1.0, -1.0]);
        let solution = check(&data, &method(name), None, "names");
        let expected = if name == "auto" { "pivoting" } else { name };
        assert_eq!(solution.report.method, expected);
        assert_eq!(solution.attempts.len(), 1);
    }
}
