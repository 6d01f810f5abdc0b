//! Blocks that are switched off and on while the matrix stays: what methods keep of it must follow.

use crate::coloured::net;
use saltus_numerics::methods::Workspace;
use saltus_numerics::{
    AdmmSettings, AutoSettings, ExtragradientSettings, GaussSeidelSettings, InteriorPointSettings,
    NewtonSettings, NumericsError, Operator, Solver, Status,
};

fn solvers() -> Vec<Solver> {
    vec![
        Solver::Auto(AutoSettings::default()),
        Solver::GaussSeidel(GaussSeidelSettings { coloured: true, ..Default::default() }),
        Solver::Newton(NewtonSettings::default()),
        Solver::InteriorPoint(InteriorPointSettings::default()),
        Solver::Admm(AdmmSettings::default()),
        Solver::Extragradient(ExtragradientSettings::default()),
    ]
}

/// One workspace over contacts that open and close gives what a new one gives.
#[test]
fn contacts_that_come_and_go() {
    for solver in solvers() {
        let mut problem = net(120);
        let n = problem.len();
        let mut kept = Workspace::new(solver.clone()).unwrap();
        for round in 0..4 {
            for contact in 0..120 {
                problem.switch(3 * contact, (contact + round) % 3 != 0);
            }
            let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
            let report = kept.solve(&problem, &mut z, &mut w).unwrap();
            assert_eq!(report.status, Status::Solved, "{} in round {round}", solver.name());
            let mut fresh = (vec![0.0; n], vec![0.0; n]);
            let mut new = Workspace::new(solver.clone()).unwrap();
            let again = new.solve(&problem, &mut fresh.0, &mut fresh.1).unwrap();
            assert_eq!(again.status, Status::Solved);
            for (i, (a, b)) in z.iter().zip(&fresh.0).enumerate() {
                assert!((a - b).abs() <= 1e-6, "{} in round {round}: {a} {b}", solver.name());
                let off = (i / 3 + round) % 3 == 0;
                assert!(!off || *a == 0.0, "{} in round {round}: z[{i}] = {a}", solver.name());
            }
        }
    }
}

/// A matrix that is not finite is refused, and another one mends it.
#[test]
fn a_matrix_that_breaks_and_is_mended() {
    let mut problem = net(2);
    let write = |value: f64| {
        move |operator: &mut Operator| {
            if let Operator::Sparse(matrix) = operator {
                *matrix.value_mut(0) = value;
            }
        }
    };
    let error = problem.update_matrix(write(f64::INFINITY)).unwrap_err();
    assert!(matches!(error, NumericsError::NotFinite { .. }), "{error}");
    assert_eq!(problem.matrix().shape(), (6, 6));
    problem.update_matrix(write(3.0)).unwrap();
    assert_eq!(problem.matrix().get(0, 0), 3.0);
}
