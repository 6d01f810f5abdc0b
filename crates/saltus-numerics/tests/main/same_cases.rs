//! The same list of cases through every method there is: a method may say that a problem is not
//! for it, or that it did not get there, but what it calls solved is an answer.

use crate::sets::violation;
use crate::support::{assert_close, method};
use saltus_linalg::Matrix;
use saltus_numerics::generate::*;
use saltus_numerics::residual::residual;
use saltus_numerics::{
    NewtonFunction, NewtonSettings, NumericsError, Problem, Set, Solver, Status, solve,
};

struct Case {
    name: String,
    problem: Problem,
    /// The answer, where there is but one.
    z: Option<Vec<f64>>,
}

#[test]
fn every_method_on_every_case() {
    // without a method for all sets, `auto` has nothing to offer but what boxes need
    let general = Solver::from_name("newton").is_some();
    let mut tried = Vec::new();
    for case in list() {
        let supported = case.problem.is_boxed() && case.problem.matrix().is_matrix();
        let mut solved = Vec::new();
        for name in Solver::NAMES {
            if name == "auto" && !supported && !general {
                continue;
            }
            // enough for each of them on problems of this size
            let limit = if name == "enumeration" { 20_000 } else { 3_000 };
            let solver = method(name).with_tol(1e-9).with_max_iter(limit);
            if check(&case, &solver) {
                solved.push(name);
            }
        }
        for function in FUNCTIONS {
            let settings = NewtonSettings { function, ..NewtonSettings::default() };
            let solver = Solver::Newton(settings).with_tol(1e-9).with_max_iter(3_000);
            tried.push((function, check(&case, &solver), case.name.clone()));
        }
        assert!(!supported || solved.contains(&"auto"), "{}: {solved:?}", case.name);
        assert!(!general || !solved.is_empty(), "{}", case.name);
    }
    // whatever the equations, Newton's method solves the whole list
    for function in FUNCTIONS {
        let failed: Vec<_> =
            tried.iter().filter(|(f, solved, _)| *f == function && !solved).collect();
        assert!(failed.is_empty(), "{failed:?}");
    }
}

const FUNCTIONS: [NewtonFunction; 4] = [
    NewtonFunction::AlartCurnier,
    NewtonFunction::JeanMoreau,
    NewtonFunction::NaturalMap,
    NewtonFunction::FischerBurmeister,
];

/// Whether the method solves the case; what it calls solved is held against the laws.
#[track_caller]
fn check(case: &Case, solver: &Solver) -> bool {
    let context = format!("{} by {}", case.name, solver.name());
    let problem = &case.problem;
    let solution = match solve(problem, solver, None) {
        Ok(solution) => solution,
        Err(
            NumericsError::Unsupported { .. }
            | NumericsError::TooLarge { .. }
            | NumericsError::Diagonal { .. },
        ) => return false,
        Err(error) => panic!("{context}: {error}"),
    };
    let (z, report) = (&solution.z, solution.report);
    let mut w = vec![0.0; z.len()];
    let measured = residual(problem, z, &mut w).value;
    assert_eq!(measured.to_bits(), report.residual.to_bits(), "{context}: {report:?}");
    if report.status != Status::Solved {
        // no problem of the list is without an answer
        assert_ne!(report.status, Status::Infeasible, "{context}");
        return false;
    }
    assert!(report.residual <= solver.tol(), "{context}: {report:?}");
    assert_close(&solution.w, &w, 1e-12, &context);
    let size = 1.0
        + [problem.q(), z, &w]
            .iter()
            .map(|x| x.iter().map(|x| x * x).sum::<f64>())
            .sum::<f64>()
            .sqrt();
    problem.for_each_block(|start, set: &Set, length| {
        let range = start..start + length;
        let wrong = violation(set, &z[range.clone()], &w[range]);
        // near an edge of the law the two measures differ by a root
        assert!(wrong <= 1e-4 * size, "{context}, {set:?} at {start}: {wrong:e}");
    });
    if let Some(answer) = &case.z {
        assert_close(z, answer, 1e-5, &context);
    }
    true
}

fn list() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: &str, problem: Problem, z: Option<&[f64]>| {
        cases.push(Case { name: name.into(), problem, z: z.map(<[f64]>::to_vec) });
    };

    // one contact: take-off, stick, slip; in the plane, in space, rolling
    let W2 = || Matrix::from([[2.0, 0.3], [0.3, 1.0]]);
    let W3 = || Matrix::from([[2.0, 0.1, 0.0], [0.1, 1.0, 0.2], [0.0, 0.2, 1.5]]);
    for (state, b) in
        [("open", [1.0, -2.0, 1.0]), ("stuck", [-1.0, 0.1, 0.1]), ("sliding", [-1.0, 2.0, -1.0])]
    {
        let name = |what: &str| format!("{what}, {state}");
        let problem = Problem::friction2d(W2(), b[..2].to_vec(), &[0.3]).unwrap();
        add(&name("one contact in the plane"), problem, None);
        let problem = Problem::friction3d(W3(), b.to_vec(), &[0.3]).unwrap();
        add(&name("one contact in space"), problem, None);
        let problem = Problem::rolling2d(W3(), b.to_vec(), &[0.3], &[0.1]).unwrap();
        add(&name("one rolling contact in the plane"), problem, None);
        let b5 = vec![b[0], b[1], b[2], 0.5 * b[1], -0.3 * b[2]];
        let problem = Problem::rolling3d(Matrix::identity(5), b5, &[0.3], &[0.1]).unwrap();
        add(&name("one rolling contact in space"), problem, None);
        let problem = Problem::second_order(W3(), b.to_vec(), &[3], &[1.0]).unwrap();
        add(&name("one cone"), problem, None);
    }
    // a block on a plane, by hand: m = 1, pushed along with less and with more than μ
    let eye = || Matrix::identity(3);
    let answer = [1.0, -0.2, 0.0];
    add(
        "a push below friction",
        Problem::friction3d(eye(), vec![-1.0, 0.2, 0.0], &[0.5]).unwrap(),
        Some(&answer),
    );
    let answer = [1.0, -0.5, 0.0];
    add(
        "a push above friction",
        Problem::friction3d(eye(), vec![-1.0, 2.0, 0.0], &[0.5]).unwrap(),
        Some(&answer),
    );
    add(
        "frictionless",
        Problem::friction3d(eye(), vec![-1.0, 2.0, 0.0], &[0.0]).unwrap(),
        Some(&[1.0, 0.0, 0.0]),
    );
    add("nothing", Problem::friction3d(Matrix::zeros(0, 0), vec![], &[]).unwrap(), Some(&[]));

    // generated, with the answers that are unique
    let mut generated = |name: String, made: Result<Generated, NumericsError>| {
        let Generated { problem, z, unique, .. } = made.unwrap_or_else(|e| panic!("{name}: {e}"));
        cases.push(Case { name, problem, z: unique.then_some(z) });
    };
    for c in [0.1, 1.0, 3.0, 7.0] {
        for law in [
            ContactLaw::Friction2,
            ContactLaw::Friction3,
            ContactLaw::Rolling2,
            ContactLaw::Rolling3,
        ] {
            let packing = Packing { contacts: 12, c, mu: 0.3, law, seed: 5, ..Packing::default() };
            generated(format!("{law:?} packing, c = {c}"), packing.build());
            let condensed = packing.build().unwrap().condensed().unwrap();
            generated(format!("{law:?} packing, c = {c}, condensed"), Ok(condensed));
        }
    }
    for symmetric in [true, false] {
        generated(format!("mixed, symmetric: {symmetric}"), mixed(24, symmetric, 6));
    }
    for n in [1, 3] {
        generated(format!("tower of {n}"), tower(n, 10.0));
        generated(format!("chain of {n}"), chain(n));
        generated(format!("wall of {n}"), wall(n, 2));
    }
    generated("elastic bar".into(), fem(40, 0.3, 7));
    generated("obstacle".into(), obstacle(8));
    generated("ladder".into(), ladder(10, 8));
    for seed in 0..3 {
        generated("P-matrix".into(), lcp_p(12, seed));
        generated("semidefinite".into(), lcp_psd(12, 5, seed));
        generated("copositive".into(), lcp_copositive(8, seed));
        generated("game".into(), bimatrix(5, 6, seed));
    }
    generated("Murty".into(), murty(10));
    cases
}
