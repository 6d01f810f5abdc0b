//! The generators: their answers are answers, their sizes are as said, the same seed gives the
//! same problem.

use saltus_numerics::generate::*;
use saltus_numerics::residual::class_figure;
use saltus_numerics::{NumericsError, Problem, Set};

/// How exact the stated answers are.
const ROUND_OFF: f64 = 1e-14;

#[track_caller]
fn check(name: &str, generated: Result<Generated, NumericsError>) -> Problem {
    let Generated { problem, z, w, .. } = generated.unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut found = vec![0.0; z.len()];
    // beside forces of all sizes: a velocity can be no more exact than the forces that make it
    let figure = class_figure(&problem, &z, &mut found);
    assert!(figure <= ROUND_OFF, "{name}: {figure:e}");
    let size = 1.0 + z.iter().chain(&w).fold(0.0, |a: f64, x| a.max(x.abs()));
    for i in 0..w.len() {
        assert!((found[i] - w[i]).abs() <= 1e-12 * size, "{name}: w[{i}]");
    }
    // the law, block by block, by code of our own
    problem.for_each_block(|start, set, length| {
        let range = start..start + length;
        let wrong = crate::sets::violation(set, &z[range.clone()], &w[range]);
        assert!(wrong <= 1e-12 * size, "{name}, {set:?} at {start}: {wrong:e}");
    });
    problem
}

#[test]
fn packings() {
    for law in
        [ContactLaw::Friction2, ContactLaw::Friction3, ContactLaw::Rolling2, ContactLaw::Rolling3]
    {
        for c in [0.1, 1.0, 3.0, 7.0] {
            for contacts in [1, 10, 1000] {
                let packing = Packing { contacts, c, law, seed: 3, ..Packing::default() };
                let name = format!("{packing:?}");
                let problem = check(&name, packing.build());
                assert_eq!(problem.contacts_count(), contacts, "{name}");
                let velocities = problem.global().unwrap().velocities() as f64;
                let ratio = problem.len() as f64 / velocities;
                if contacts == 1000 {
                    assert!((ratio / c - 1.0).abs() < 0.05, "{name}: {ratio}");
                }
                let condensed = packing.build().unwrap().condensed();
                let condensed = condensed.ok_or(NumericsError::Mass { row: 0 });
                let condensed = check(&format!("{name} condensed"), condensed);
                assert!(condensed.matrix().is_matrix());
            }
        }
    }
}

/// Heaps have at least as many contacts as asked for, about `c` unknowns a velocity, and obey geometry: where
/// all bodies move alike, those in contact with each other do not move against each other.
#[test]
fn heaps() {
    for (c, least) in [(0.1, 0.09), (1.0, 0.9), (3.0, 2.0), (7.0, 5.0)] {
        let problem = heap(1000, c, 0.5, 3).unwrap();
        let contacts = problem.contacts_count();
        assert!((1000..1300).contains(&contacts), "{c}: {contacts}");
        let global = problem.global().unwrap();
        let ratio = problem.len() as f64 / global.velocities() as f64;
        assert!(ratio >= least && ratio <= 1.1 * c, "{c}: {ratio}");
        let alike: Vec<f64> =
            (0..global.velocities()).map(|i| [0.3, -1.0, 2.0, 0.0, 0.0, 0.0][i % 6]).collect();
        let mut u = vec![0.0; problem.len()];
        global.transposed().apply(&alike, &mut u);
        let still = u.chunks(3).filter(|u| u.iter().all(|u| u.abs() < 1e-14)).count();
        assert!(still > contacts / 3 && still < contacts, "{c}: {still}");
        assert_eq!(problem.matrix(), heap(1000, c, 0.5, 3).unwrap().matrix());
        assert_ne!(
            problem.global().unwrap().f(),
            heap(1000, c, 0.5, 4).unwrap().global().unwrap().f()
        );
    }
    assert!(matches!(heap(10, 0.0, 0.3, 0), Err(NumericsError::Setting { .. })));
}

/// A few contacts in slow slip keep sweeps of all of this heap at 2e-5; on their own they are soon solved.
#[test]
fn slow_contacts_in_a_large_heap() {
    use saltus_numerics::{Solver, Status, solve};
    let solution = solve(&heap(10_000, 3.0, 0.5, 3).unwrap(), &Solver::default(), None).unwrap();
    assert_eq!(solution.report.status, Status::Solved);
    assert!(solution.report.iterations < 500, "{:?}", solution.report);
}

#[test]
fn heaps_are_solved() {
    use saltus_numerics::{Solver, Status, solve};
    for c in [0.1, 1.0, 3.0, 7.0] {
        let solution = solve(&heap(150, c, 0.5, 1).unwrap(), &Solver::default(), None).unwrap();
        assert_eq!(solution.report.status, Status::Solved, "{c}: {:?}", solution.report);
    }
}

/// Hyperstatic packings have a singular W, loose ones do not.
#[test]
fn a_packing_is_one_body_after_another() {
    let loose = packing(200, 0.1, 0.3, 1).unwrap();
    let dense = packing(200, 7.0, 0.3, 1).unwrap();
    let rows = |g: &Generated| g.problem.global().unwrap().velocities();
    assert_eq!((rows(&loose), rows(&dense)), (6000, 84));
    // all three states occur
    for Generated { problem, z, w, .. } in [&loose, &dense] {
        let mut count = [0; 3];
        problem.for_each_block(|i, set, _| {
            let Set::Coulomb3 { mu } = set else { panic!("{set:?}") };
            let force = z[i + 1].hypot(z[i + 2]);
            let state = match z[i] {
                0.0 => 0,
                normal if force < 0.95 * mu * normal => 1,
                _ => 2,
            };
            count[state] += 1;
            assert_eq!(w[i] > 0.0, state == 0);
        });
        assert!(count.iter().all(|&c| c > 20), "{count:?}");
    }
}

#[test]
fn large_packings_take_linear_time() {
    let problem = check("large", packing(100_000, 1.0, 0.5, 9));
    assert_eq!(problem.len(), 300_000);
    let H = problem.global().unwrap().H();
    assert!(H.len() <= 300_000 * 12);
}

#[test]
fn cubes_at_rest() {
    for (rows, cols) in [(1, 1), (3, 2), (6, 8)] {
        let problem = check("wall", wall(rows, cols));
        assert_eq!(problem.contacts_count(), 4 * (rows * cols + rows * (cols - 1)));
    }
    for n in [1, 2, 20] {
        for ratio in [1.0, 100.0, 1e4] {
            assert_eq!(check("tower", tower(n, ratio)).contacts_count(), 4 * n);
        }
        assert_eq!(check("chain", chain(n)).contacts_count(), 4 * n);
    }
    let tower = tower(3, 4.0).unwrap();
    let total: f64 = (0..4).map(|c| tower.z[3 * c]).sum();
    assert!((total - 0.0981 * 7.0).abs() < 1e-12, "{total}");
}

#[test]
fn elastic_bodies_and_circuits() {
    for n in [1, 10, 95, 400] {
        assert_eq!(check("fem", fem(n, 0.3, 1)).contacts_count(), n.div_ceil(10));
        assert_eq!(check("ladder", ladder(n, 2)).len(), 2 * n);
    }
    for n in [1, 2, 7, 40] {
        assert_eq!(check("obstacle", obstacle(n)).len(), n * n);
    }
}

#[test]
fn complementarity() {
    for n in [1, 2, 10, 50] {
        for seed in 0..5 {
            assert_eq!(check("P", lcp_p(n, seed)).len(), n);
            check("semidefinite", lcp_psd(n, n / 2, seed));
            check("copositive", lcp_copositive(n, seed));
            assert_eq!(check("game", bimatrix(n, n + 2, seed)).len(), 2 * n + 2);
        }
        let q = check("Murty", murty(n));
        assert!(q.q().iter().all(|&q| q == -1.0));
    }
}

#[test]
fn mixtures() {
    for symmetric in [true, false] {
        for (blocks, seed) in [(1, 0), (12, 1), (13, 2), (200, 3)] {
            let problem = check("mixed", mixed(blocks, symmetric, seed));
            if blocks == 200 {
                let W = problem.matrix().to_dense();
                assert_eq!(W.is_symmetric(1e-15), symmetric);
                let names: std::collections::BTreeSet<_> =
                    problem.placed().iter().map(|block| block.set.name()).collect();
                assert_eq!(names.len(), 8, "{names:?}");
                // what the answer's uniqueness rests on: rows that are nearly diagonal
                for i in 0..problem.len() {
                    let off: f64 = (0..problem.len())
                        .filter(|&j| j != i)
                        .map(|j| 0.5 * (W[(i, j)] + W[(j, i)]).abs())
                        .sum();
                    assert!(off < 0.6, "{i}: {off}");
                }
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_problem() {
    type Generator = Box<dyn Fn(u64) -> Result<Generated, NumericsError>>;
    let generators: Vec<Generator> = vec![
        Box::new(|seed| packing(50, 3.0, 0.3, seed)),
        Box::new(|seed| fem(30, 0.3, seed)),
        Box::new(|seed| ladder(10, seed)),
        Box::new(|seed| lcp_p(10, seed)),
        Box::new(|seed| lcp_psd(10, 4, seed)),
        Box::new(|seed| lcp_copositive(10, seed)),
        Box::new(|seed| bimatrix(5, 6, seed)),
        Box::new(|seed| mixed(20, true, seed)),
    ];
    for generate in generators {
        let [a, b, other] = [1, 1, 2].map(|seed| generate(seed).unwrap());
        assert_eq!((a.problem.q(), &a.z, &a.w), (b.problem.q(), &b.z, &b.w));
        assert_eq!(a.problem.matrix(), b.problem.matrix());
        assert_ne!(a.z, other.z);
    }
}

#[test]
fn what_makes_no_sense() {
    for c in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(packing(10, c, 0.3, 0), Err(NumericsError::Setting { .. })));
    }
    assert!(matches!(packing(10, 1.0, -0.3, 0), Err(NumericsError::Parameter { .. })));
    assert!(matches!(tower(3, 0.0), Err(NumericsError::Setting { .. })));
}
