//! What is said of an answer being the only one is true: claims are held against generators that know it, against
//! enumeration, and against answers that are known by hand.

use crate::support::{INF, Random};
use saltus_linalg::{Matrix, Sparse};
use saltus_numerics::generate::{ContactLaw, Packing, chain, ladder, lcp_p, lcp_psd, murty, wall};
use saltus_numerics::methods::Enumeration;
use saltus_numerics::{
    Block, Doubt, EnumerationSettings, Global, Problem, Set, Solver, Uniqueness, solve, uniqueness,
};

#[track_caller]
fn answer(problem: &Problem) -> Vec<f64> {
    let solution = solve(problem, &Solver::default().with_tol(1e-11), None).unwrap();
    assert!(solution.report.residual <= 1e-11, "{:?}", solution.report);
    solution.z
}

#[track_caller]
fn check(problem: &Problem, expected: Uniqueness) {
    let z = answer(problem);
    assert_eq!(uniqueness(problem, &z, 1e-10).unwrap(), expected, "{z:?}");
}

#[test]
fn definite_and_convex_is_global() {
    let W = Matrix::from([[2.0, -1.0, 0.3], [1.0, 1.0, 0.0], [-0.3, 0.5, 3.0]]);
    check(&Problem::lcp(W.clone(), vec![-1.0, 0.5, 0.0]).unwrap(), Uniqueness::Global);
    let q = vec![-1.0, 0.5, 0.2];
    check(&Problem::second_order(W.clone(), q.clone(), &[3], &[0.7]).unwrap(), Uniqueness::Global);
    // on an edge, too
    let zero = Problem::second_order(W.clone(), vec![0.0; 3], &[3], &[0.7]).unwrap();
    check(&zero, Uniqueness::Global);
    let graph = saltus_numerics::Graph::new(&[(-1.0, 1.0), (0.0, 1.0), (0.0, -1.0), (1.0, -1.0)]);
    let set = Set::Graph(graph.unwrap().into());
    let blocks = [Block { size: 2, set: Set::Free }, Block { size: 1, set }];
    check(&Problem::new(W, q, &blocks).unwrap(), Uniqueness::Global);
    check(&Problem::lcp(Matrix::zeros(0, 0), vec![]).unwrap(), Uniqueness::Global);
}

/// No definite matrices, but all principal minors are positive.
#[test]
fn p_matrices_are_global() {
    check(&murty(8).unwrap().problem, Uniqueness::Global);
    let dominant = Matrix::from([[1.0, 0.9], [-0.99, 1.0]]);
    check(&Problem::lcp(dominant, vec![-1.0, -1.0]).unwrap(), Uniqueness::Global);
    for seed in 0..20 {
        check(&lcp_p(8, seed).unwrap().problem, Uniqueness::Global);
        check(&ladder(4, seed).unwrap().problem, Uniqueness::Global);
    }
}

/// Contacts with friction: nothing is claimed beyond the neighbourhood.
#[test]
fn friction_is_local() {
    let W = Matrix::from([[2.0, 0.1, 0.0], [0.1, 1.0, 0.2], [0.0, 0.2, 1.5]]);
    for q in [[1.0, -3.0, 2.0], [-1.0, 0.1, 0.05], [-1.0, 2.0, -1.0]] {
        let problem = Problem::friction3d(W.clone(), q.to_vec(), &[0.5]).unwrap();
        check(&problem, Uniqueness::Local);
        let problem = Problem::rolling2d(W.clone(), q.to_vec(), &[0.5], &[0.3]).unwrap();
        check(&problem, Uniqueness::Local);
        let block = [Block { size: 3, set: Set::DruckerPrager { eta: 0.5, theta: 0.2 } }];
        check(&Problem::new(W.clone(), q.to_vec(), &block).unwrap(), Uniqueness::Local);
    }
    // about to slide
    let problem = Problem::friction2d(Matrix::identity(2), vec![-1.0, 0.5], &[0.5]).unwrap();
    check(&problem, Uniqueness::Unknown(Doubt::Edge { block: 0 }));
    // Painlevé: the rod lifts off, or slides and is pressed, each of them alone where it is
    let rod = Matrix::from([[1.0, -1.5], [-1.5, 3.0]]);
    let problem = Problem::friction2d(rod, vec![1.0, -6.0], &[2.0]).unwrap();
    for z in [[0.0, 0.0], [0.5, 1.0]] {
        assert_eq!(uniqueness(&problem, &z, 1e-10).unwrap(), Uniqueness::Local, "{z:?}");
    }
}

/// A block on several feet: the weight is carried, by whom is open.
#[test]
fn hyperstatic_is_not_unique() {
    // one rigid body with three velocities, two forces a foot
    for feet in [2usize, 3, 4, 7] {
        let place = |k: usize| k as f64 - 0.5 * (feet - 1) as f64;
        let mut H = Vec::new();
        for k in 0..feet {
            // normal up, tangent along, one below the centre
            H.extend([(1, 2 * k, 1.0), (2, 2 * k, place(k))]);
            H.extend([(0, 2 * k + 1, 1.0), (2, 2 * k + 1, 1.0)]);
        }
        let H = Sparse::from_triplets(3, 2 * feet, &H);
        let mass = Sparse::from_triplets(3, 3, &[(0, 0, 1.0), (1, 1, 1.0), (2, 2, 0.7)]);
        let pair = Global::new(mass, H, vec![0.05, -1.0, 0.0]).unwrap();
        let contact = Block { size: 2, set: Set::Coulomb2 { mu: 0.6 } };
        let blocks = vec![contact; feet];
        let problem = Problem::new(pair, vec![0.0; 2 * feet], &blocks).unwrap();
        // all feet carry alike: inside of their cones
        let z: Vec<f64> = (0..feet)
            .flat_map(|k| {
                let square: f64 = (0..feet).map(|k| place(k).powi(2)).sum();
                [1.0 / feet as f64 + 0.05 * place(k) / square, -0.05 / feet as f64]
            })
            .collect();
        let found = uniqueness(&problem, &z, 1e-9).unwrap();
        assert_eq!(found, Uniqueness::Not { dimension: 2 * feet - 3 }, "{feet}");
        let dense = problem.matrix().to_dense();
        let problem = Problem::friction2d(dense, problem_q(&problem), &vec![0.6; feet]).unwrap();
        assert_eq!(uniqueness(&problem, &z, 1e-9).unwrap(), found, "{feet}");
    }
}

/// `Hᵀ M⁻¹ f + q` of a pair.
fn problem_q(problem: &Problem) -> Vec<f64> {
    let free = problem.global().map(|pair| pair.free().to_vec()).unwrap_or_default();
    free.iter().zip(problem.q()).map(|(a, b)| a + b).collect()
}

/// The only answer of a monotone problem whose matrix is singular: what is loaded is regular.
#[test]
fn singular_and_unique() {
    // two supports at one place, of which one is lifted
    let W = Matrix::from([[1.0, 1.0], [1.0, 1.0]]);
    check(&Problem::lcp(W.clone(), vec![-1.0, -0.5]).unwrap(), Uniqueness::Global);
    let both = Problem::lcp(W, vec![-1.0, -1.0]).unwrap();
    assert_eq!(uniqueness(&both, &[0.25, 0.75], 1e-9).unwrap(), Uniqueness::Not { dimension: 1 });
    // at the end of the segment of answers one of them is on its edge, and held still
    let end = uniqueness(&both, &[1.0, 0.0], 1e-9).unwrap();
    assert!(matches!(end, Uniqueness::Unknown(Doubt::Edge { .. })), "{end:?}");
    // a free unknown that nothing determines
    let (lower, upper) = ([-INF, 0.0], [INF; 2]);
    let W = Matrix::diagonal(&[0.0, 1.0]);
    let problem = Problem::boxed(W, vec![0.0, -1.0], &lower, &upper).unwrap();
    check(&problem, Uniqueness::Not { dimension: 1 });
}

#[test]
fn what_is_no_answer_is_not_judged() {
    let problem = Problem::lcp(Matrix::identity(2), vec![-1.0, 1.0]).unwrap();
    let found = uniqueness(&problem, &[0.5, 0.0], 1e-8).unwrap();
    assert_eq!(found, Uniqueness::Unknown(Doubt::NoAnswer));
    assert!(uniqueness(&problem, &[0.5], 1e-8).is_err());
    assert_eq!(found.name(), "unknown");
    assert_eq!(
        Uniqueness::Not { dimension: 3 }.words(),
        "other answers along at least 3 directions"
    );
}

/// Random LCPs of whole numbers, many of them singular: enumeration lists the isolated answers of each mode, so
/// that a claim of being the only one can be refuted.
#[test]
fn enumeration_does_not_refute_it() {
    let mut random = Random(77);
    let mut seen = [0; 4];
    for round in 0..3000 {
        let n = 1 + round % 4;
        let mut M = Matrix::zeros(n, n);
        M.data_mut().iter_mut().for_each(|x| *x = random.integer(-2, 2));
        if round % 3 == 0 {
            M = M.mul(&M.transpose());
        }
        let q: Vec<f64> = (0..n).map(|_| random.integer(-2, 2)).collect();
        let problem = Problem::lcp(M, q).unwrap();
        let all = Enumeration::new(EnumerationSettings::default()).all(&problem).unwrap();
        for solution in &all.solutions {
            let found = uniqueness(&problem, &solution.z, 1e-9).unwrap();
            let others = all
                .solutions
                .iter()
                .filter(|other| other.z.iter().zip(&solution.z).any(|(a, b)| (a - b).abs() > 1e-6));
            let nearest = others
                .clone()
                .map(|other| {
                    let apart = other.z.iter().zip(&solution.z).map(|(a, b)| (a - b).abs());
                    apart.fold(0.0, f64::max)
                })
                .fold(INF, f64::min);
            match found {
                Uniqueness::Global => {
                    assert_eq!(others.count(), 0, "{problem:?} {:?}", solution.z);
                    seen[0] += 1;
                }
                // the numbers are whole: other answers are not closer than that
                Uniqueness::Local => {
                    assert!(nearest > 1e-3, "{problem:?}");
                    seen[1] += 1;
                }
                Uniqueness::Not { dimension } => {
                    assert!(
                        dimension <= n && all.singular_modes > 0,
                        "{problem:?} {:?}",
                        solution.z
                    );
                    seen[2] += 1;
                }
                Uniqueness::Unknown(_) => seen[3] += 1,
            }
        }
    }
    assert!(seen[0] > 200 && seen[1] > 200 && seen[3] > 20, "{seen:?}");
}

/// The generators say which of their answers are unique; nothing else is ever claimed.
#[test]
fn generators_do_not_refute_it() {
    let mut claimed = 0;
    for seed in 0..10 {
        let generated = lcp_psd(12, 5, seed).unwrap();
        let found = uniqueness(&generated.problem, &generated.z, 1e-9).unwrap();
        assert_ne!(found, Uniqueness::Unknown(Doubt::NoAnswer));
        assert!(!generated.unique || !matches!(found, Uniqueness::Not { .. }), "{found:?}");
    }
    for c in [0.1, 1.0, 3.0, 7.0] {
        for law in [ContactLaw::Friction2, ContactLaw::Friction3, ContactLaw::Rolling3] {
            let packing = Packing { contacts: 30, c, mu: 0.3, law, seed: 3, ..Packing::default() };
            let generated = packing.build().unwrap();
            let found = uniqueness(&generated.problem, &generated.z, 1e-9).unwrap();
            assert_ne!(found, Uniqueness::Unknown(Doubt::NoAnswer));
            assert!(!generated.unique || !matches!(found, Uniqueness::Not { .. }), "{found:?}");
            claimed += usize::from(!matches!(found, Uniqueness::Unknown(_)));
        }
    }
    assert!(claimed > 4, "{claimed}");
    for generated in [chain(4).unwrap(), wall(3, 2).unwrap()] {
        let found = uniqueness(&generated.problem, &generated.z, 1e-9).unwrap();
        assert_ne!(found, Uniqueness::Unknown(Doubt::NoAnswer));
    }
}

/// Beyond the size whose whole kernel is computed.
#[test]
fn many_unknowns() {
    let n = 1000;
    // a line of springs, definite; the same without its supports, singular
    let line = |ends: f64| {
        let mut triplets: Vec<(usize, usize, f64)> = Vec::new();
        for i in 0..n {
            let diagonal = if i == 0 || i == n - 1 { 1.0 + ends } else { 2.0 };
            triplets.push((i, i, diagonal));
            if i > 0 {
                triplets.extend([(i, i - 1, -1.0), (i - 1, i, -1.0)]);
            }
        }
        Sparse::from_triplets(n, n, &triplets)
    };
    // inside of the bounds, all of them: only W counts
    let z: Vec<f64> = (0..n).map(|i| 0.5 + 0.3 * (i as f64 * 0.1).sin()).collect();
    for (ends, expected) in [(1.0, Uniqueness::Global), (0.0, Uniqueness::Not { dimension: 1 })] {
        let W = line(ends);
        let mut q = vec![0.0; n];
        W.apply(&z, &mut q);
        q.iter_mut().for_each(|q| *q = -*q);
        let problem = Problem::lcp(W, q).unwrap();
        assert_eq!(uniqueness(&problem, &z, 1e-9).unwrap(), expected);
    }
}
