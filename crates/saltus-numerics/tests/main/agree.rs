//! Independent methods give the same answer.

use crate::support::assert_close;
use saltus_numerics::generate::{Generated, ladder, lcp_p, mixed};
use saltus_numerics::residual::residual;
use saltus_numerics::{Solver, Status, solve};

/// The answers of those methods that solve the problem; each of them verified.
fn answers(generated: &Generated, names: &[&'static str]) -> Vec<(&'static str, Vec<f64>)> {
    let problem = &generated.problem;
    let mut answers = Vec::new();
    for &name in names {
        let Some(solver) = Solver::from_name(name) else { continue };
        let solver = solver.with_tol(1e-11).with_max_iter(20_000);
        let Ok(solution) = solve(problem, &solver, None) else { continue };
        if solution.report.status == Status::Solved {
            let mut w = vec![0.0; problem.len()];
            let verified = residual(problem, &solution.z, &mut w).value;
            assert!(verified <= 1e-11, "{name}: {verified:e}");
            answers.push((name, w));
        }
    }
    answers
}

/// All of them agree with the stated answer, and so with each other.
#[track_caller]
fn check(generated: &Generated, names: &[&'static str], least: usize, context: &str) {
    let answers = answers(generated, names);
    for (name, w) in &answers {
        assert_close(w, &generated.w, 1e-8, &format!("{context} by {name}"));
    }
    let solved: Vec<&str> = answers.iter().map(|(name, _)| *name).collect();
    assert!(solved.len() >= least, "{context}: only {solved:?}");
}

/// Problems of every set: as many methods as there are for them, and three once there are.
#[test]
fn on_mixed_problems() {
    const GENERAL: [&str; 4] = ["gauss-seidel", "newton", "admm", "extragradient"];
    let present = GENERAL.iter().filter(|name| Solver::from_name(name).is_some()).count();
    let least = if present >= 3 { 3 } else { 0 };
    for seed in 0..20 {
        for symmetric in [true, false] {
            let generated = mixed(6 + 3 * seed as usize, symmetric, seed).unwrap();
            let context = format!("mixed {seed}, symmetric: {symmetric}");
            check(&generated, &GENERAL, least, &context);
        }
    }
}

/// Boxes: pivoting, Lemke's method and whatever else there is.
#[test]
fn on_boxes() {
    let names: Vec<&'static str> =
        Solver::NAMES.into_iter().filter(|&name| name != "auto").collect();
    for seed in 0..10 {
        check(&lcp_p(9, seed).unwrap(), &names, 3, &format!("P-matrix {seed}"));
        check(&ladder(5, seed).unwrap(), &names, 3, &format!("ladder {seed}"));
    }
}
