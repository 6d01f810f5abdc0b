//! `Graph`.

use super::*;
use std::sync::Arc;

fn sets() -> Vec<Set> {
    let graph = |points: &[(f64, f64)]| Set::Graph(Arc::new(Graph::new(points).unwrap()));
    vec![
        graph(&[(0.0, 1.0), (0.0, 0.0), (1.0, 0.0)]),
        graph(&[(-1.0, 1.0), (0.0, 1.0), (0.0, -1.0), (1.0, -1.0)]),
        graph(&[(-1.0, 3.0), (-0.5, 0.5), (0.5, -0.5), (0.5, -1.0), (2.0, -1.0), (3.0, -4.0)]),
        graph(&[(0.0, 1.0), (1.0, 0.0)]),
        graph(&[(0.0, 1.0), (0.0, -1.0)]),
        graph(&[(0.1, 0.7), (0.3, 0.7), (0.3, 0.2), (0.9, 0.1), (1.1, -0.7)]),
    ]
}

/// The resolvent is the point of the graph with the given `z − ρ w`, and nonexpansive.
#[test]
fn resolvents() {
    let mut random = Random(111);
    for set in sets() {
        let Set::Graph(graph) = &set else { unreachable!() };
        for _ in 0..50_000 {
            let rho = 10f64.powf(random.between(-3.0, 3.0));
            let (x, y) = (5.0 * normal(&mut random), 5.0 * normal(&mut random));
            let (mut px, mut py) = ([x], [y]);
            set.project(rho, &mut px);
            set.project(rho, &mut py);
            let size = 1.0 + x.abs().max(y.abs());
            assert!((px[0] - py[0]).abs() <= (x - y).abs() + 1e-14 * size, "{set:?} {x} {y}");
            let w = (px[0] - x) / rho;
            let slack = 1e-14 * (1.0 + x.abs() + px[0].abs()) * (1.0 + 1.0 / rho);
            assert!(off_graph(graph, w, px[0]) <= slack, "{set:?} {x} {px:?}");
        }
    }
}

#[test]
fn natural_maps() {
    for set in sets() {
        check_natural_map(&set, 1, 112);
        check_jacobian(&set, 1, 113);
    }
}

#[test]
fn blocks() {
    for (k, set) in sets().into_iter().enumerate() {
        check_blocks(std::slice::from_ref(&set), 1, 100_000, 114 + k as u64);
        check_unique(&[set], 1, 5_000, 124 + k as u64);
    }
}

/// Lines through the corners meet the graph there, whatever round-off does.
#[test]
fn corners() {
    let mut random = Random(115);
    for set in sets() {
        let Set::Graph(graph) = &set else { unreachable!() };
        for _ in 0..20_000 {
            let (w, z) = graph.points()[random.below(graph.points().len())];
            let a = 10f64.powf(random.between(-8.0, 8.0));
            let mut found = [0.0];
            assert!(set.solve_block(&[a], &[w - a * z], &mut found), "{set:?} {a}");
            assert!((found[0] - z).abs() <= 1e-12 * (1.0 + (1.0 + w.abs()) / a), "{set:?} {a}");
        }
    }
}
