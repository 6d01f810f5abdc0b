//! A guess at an answer, group by group, downstream.
//!
//! In a chain every stage acts on the next, and hardly on those before it. Unknowns that act on each
//! other by more than a small share of what they can are a group: the strongly connected components of
//!
//! ```text
//! i depends on j  where  |Wᵢⱼ| Δzⱼ > δ Δwᵢ,    Δz, Δw: how far a graph goes                (1)
//! ```
//!
//! Groups are solved one after the other, each after those that it depends on:
//!
//! ```text
//! w_c = W_cc z_c + b,    b = q_c + Σ_{j∉c} W_cj z_j,    (z_c, w_c) in the graph of its law  (2)
//! ```
//!
//! Newton's method on the whole does not see this order: where a chain switches from one end to the
//! other, each of its steps guesses all stages at once, from stages that are wrong.

use super::Workspace;
use super::segments::Segments;
use crate::{Block, Measure, Problem, Set, Solver, watch};
use saltus_linalg::{Matrix, Sparse};

/// δ of (1): the first with which no group has more than a share of all unknowns, nor more than so many,
/// since groups are dense.
const SMALL: [f64; 5] = [0.0, 1e-6, 1e-4, 1e-3, 1e-2];
const SHARE: f64 = 0.5;
const LARGEST: usize = 400;
/// Times that all groups are visited: what acts upstream, if hardly, is felt the second time.
const SWEEPS: usize = 2;

/// The groups of a problem, in the order in which they act.
#[derive(Debug)]
pub(super) struct Downstream {
    groups: Vec<Group>,
    group_of: Vec<usize>, // of each unknown
    others: Workspace,    // for groups that are not solved by segments
}

#[derive(Debug)]
struct Group {
    unknowns: Vec<usize>,
    problem: Problem,
    segments: Segments,
    z: Vec<f64>,
    w: Vec<f64>,
    b: Vec<f64>,
}

impl Downstream {
    /// The groups of a problem of graphs and boxes; nothing where one is nearly all of it, or
    /// too large to be dense.
    pub fn new(problem: &Problem, W: &Sparse) -> Option<Downstream> {
        let n = problem.len();
        let mut sets: Vec<Set> = Vec::with_capacity(n);
        problem.for_each_block(|_, set, _| sets.push(set.clone()));
        if sets.len() != n {
            return None;
        }
        let reaches = reaches(&sets, W);
        let groups = SMALL.iter().find_map(|&small| {
            let depends = |i: usize, j: usize, value: f64| {
                i != j && value.abs() * reaches[j].0 > small * reaches[i].1
            };
            let groups = components(W, depends);
            let largest = groups.iter().map(Vec::len).max().unwrap_or(0);
            (largest as f64 <= SHARE * n as f64 && largest <= LARGEST).then_some(groups)
        })?;
        let mut group_of = vec![0; n];
        for (k, group) in groups.iter().enumerate() {
            group.iter().for_each(|&i| group_of[i] = k);
        }
        let groups: Option<Vec<Group>> =
            groups.into_iter().map(|unknowns| Group::new(unknowns, &sets, W)).collect();
        let others = Workspace::new(Solver::default()).ok()?;
        Some(Downstream { groups: groups?, group_of, others })
    }

    /// Equation (2), group after group, from `z`; whether all of them were solved.
    pub fn sweep(&mut self, W: &Sparse, q: &[f64], z: &mut [f64], tol: f64) -> bool {
        let Downstream { groups, group_of, others } = self;
        let mut solved = true;
        for sweep in 0..SWEEPS {
            for (k, group) in groups.iter_mut().enumerate() {
                if watch::is_interrupted() {
                    return false;
                }
                for (b, &i) in group.b.iter_mut().zip(&group.unknowns) {
                    let foreign = W.row(i).iter().filter(|entry| group_of[entry.col] != k);
                    *b = q[i] + foreign.map(|entry| entry.value * z[entry.col]).sum::<f64>();
                }
                solved &= group.solve(z, tol, sweep == 0, others);
            }
        }
        solved
    }
}

impl Group {
    fn new(unknowns: Vec<usize>, sets: &[Set], W: &Sparse) -> Option<Group> {
        let n = unknowns.len();
        let mut own = Matrix::zeros(n, n);
        for (k, &i) in unknowns.iter().enumerate() {
            for (l, &j) in unknowns.iter().enumerate() {
                own[(k, l)] = W.get(i, j);
            }
        }
        let blocks: Vec<Block> =
            unknowns.iter().map(|&i| Block { size: 1, set: sets[i].clone() }).collect();
        let problem = Problem::new(own, vec![0.0; n], &blocks).ok()?.measured(Measure::Unit);
        let [z, w, b] = [(); 3].map(|()| vec![0.0; n]);
        Some(Group { unknowns, problem, segments: Segments::new(), z, w, b })
    }

    fn solve(&mut self, z: &mut [f64], tol: f64, first: bool, others: &mut Workspace) -> bool {
        let Group { unknowns, problem, segments, z: own, w, b } = self;
        if problem.set_q(b).is_err() {
            return false;
        }
        own.iter_mut().zip(&*unknowns).for_each(|(own, &i)| *own = z[i]);
        if first {
            segments.forget(); // the guess alone decides
        }
        let mut solved = segments.solve(problem, own, w, tol).is_some();
        if !solved {
            others.forget();
            let report = others.solve(problem, own, w);
            solved = report.is_ok_and(|report| report.status == crate::Status::Solved);
        }
        if own.iter().all(|z| z.is_finite()) {
            own.iter().zip(&*unknowns).for_each(|(own, &i)| z[i] = *own);
        }
        solved
    }
}

/// How far each unknown and its `w` go: `Δz` and `Δw` of a graph. An unknown without an end goes as far as
/// it takes to move some `w` all its way.
fn reaches(sets: &[Set], W: &Sparse) -> Vec<(f64, f64)> {
    let span = |points: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| {
        let values = || points.iter().map(of);
        values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
    };
    let known = |set: &Set| match set {
        Set::Graph(graph) => {
            let points = graph.points();
            (span(points, |point| point.1), span(points, |point| point.0))
        }
        set => (set.bounds().map_or(0.0, |(lower, upper)| upper - lower), 0.0),
    };
    let mut all: Vec<(f64, f64)> = sets.iter().map(known).collect();
    let mut ways: Vec<f64> = all.iter().map(|one| one.1).filter(|way| *way > 0.0).collect();
    ways.sort_by(f64::total_cmp);
    let usual = ways.get(ways.len() / 2).copied().unwrap_or(1.0);
    all.iter_mut().filter(|one| !(one.1 > 0.0)).for_each(|one| one.1 = usual);
    let mut most = vec![0.0_f64; all.len()];
    for (i, j, value) in W.iter() {
        most[j] = most[j].max(value.abs() / all[i].1);
    }
    for (one, most) in all.iter_mut().zip(most) {
        if one.0 == f64::INFINITY {
            one.0 = if most > 0.0 { 1.0 / most } else { 0.0 };
        }
    }
    all
}

/// Strongly connected components, each after those that it depends on (Tarjan).
fn components(W: &Sparse, depends: impl Fn(usize, usize, f64) -> bool) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let n = W.rows();
    let (mut index, mut low) = (vec![NEW; n], vec![0; n]);
    let mut waits = vec![false; n];
    let (mut stack, mut found, mut next) = (Vec::new(), Vec::new(), 0);
    let mut path: Vec<(usize, usize)> = Vec::new(); // an unknown, and the next entry of its row
    for root in 0..n {
        if index[root] != NEW {
            continue;
        }
        path.push((root, 0));
        while let Some(&mut (i, ref mut entry)) = path.last_mut() {
            if *entry == 0 {
                (index[i], low[i]) = (next, next);
                next += 1;
                stack.push(i);
                waits[i] = true;
            }
            let row = W.row(i);
            let mut deeper = None;
            while let Some(one) = row.get(*entry) {
                *entry += 1;
                if !depends(i, one.col, one.value) {
                    continue;
                }
                if index[one.col] == NEW {
                    deeper = Some(one.col);
                    break;
                }
                if waits[one.col] {
                    low[i] = low[i].min(index[one.col]);
                }
            }
            if let Some(j) = deeper {
                path.push((j, 0));
                continue;
            }
            path.pop();
            if let Some(&(above, _)) = path.last() {
                low[above] = low[above].min(low[i]);
            }
            if low[i] == index[i] {
                let mut group = Vec::new();
                while let Some(j) = stack.pop() {
                    waits[j] = false;
                    group.push(j);
                    if j == i {
                        break;
                    }
                }
                group.sort_unstable();
                found.push(group);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Graph;
    use crate::residual::residual;
    use std::sync::Arc;

    #[test]
    fn components_come_after_what_they_depend_on() {
        // 0 ⇄ 2 ← 4,  1 ← 0,  3 alone; a weak entry closes the circle
        let entries = [
            (0, 2, 1.0),
            (2, 0, 1.0),
            (2, 4, 1.0),
            (1, 0, 1.0),
            (4, 1, 1e-9),
            (0, 0, 1.0),
            (3, 3, 1.0),
        ];
        let W = Sparse::from_triplets(5, 5, &entries);
        let all = components(&W, |i, j, _| i != j);
        assert_eq!(all, [vec![0, 1, 2, 4], vec![3]]);
        let strong = components(&W, |i, j, value| i != j && value > 1e-6);
        assert_eq!(strong, [vec![4], vec![0, 2], vec![1], vec![3]]);
    }

    /// Stages of gain ten, one after the other: `w` of each is what drives it less ten times what it gives.
    #[test]
    fn a_long_chain_of_gain_is_solved_in_its_order() {
        let n = 300;
        let graph =
            Arc::new(Graph::new(&[(-2.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (2.0, -1.0)]).unwrap());
        let blocks: Vec<Block> =
            (0..n).map(|_| Block { size: 1, set: Set::Graph(Arc::clone(&graph)) }).collect();
        let mut entries = Vec::new();
        for i in 0..n {
            entries.push((i, i, 0.1));
            if i > 0 {
                entries.push((i, i - 1, 11.0));
            }
        }
        entries.push((0, n - 1, 1e-7)); // hardly felt upstream
        let W = Sparse::from_triplets(n, n, &entries);
        let mut q = vec![0.0; n];
        q[0] = 1e-3;
        let problem = Problem::new(W.clone(), q, &blocks).unwrap();
        let mut downstream = Downstream::new(&problem, &W).unwrap();
        assert_eq!(downstream.groups.len(), n);
        let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
        assert!(downstream.sweep(&W, problem.q(), &mut z, 1e-12));
        assert!(residual(&problem, &z, &mut w).value < 1e-6);
    }

    /// Two rings, each dense in its group: groups have a bound.
    #[test]
    fn groups_that_are_too_large_are_left_alone() {
        let rings = |size: usize| {
            let n = 2 * size;
            let graph = Arc::new(Graph::new(&[(-1.0, 1.0), (1.0, -1.0)]).unwrap());
            let block = || Block { size: 1, set: Set::Graph(Arc::clone(&graph)) };
            let blocks: Vec<Block> = (0..n).map(|_| block()).collect();
            let mut entries = Vec::new();
            for i in 0..n {
                let next = if (i + 1) % size == 0 { i + 1 - size } else { i + 1 };
                entries.extend([(i, i, 1.0), (i, next, 0.5)]);
            }
            let W = Sparse::from_triplets(n, n, &entries);
            let problem = Problem::new(W.clone(), vec![0.0; n], &blocks).unwrap();
            Downstream::new(&problem, &W).map(|one| one.groups.len())
        };
        assert_eq!(rings(LARGEST), Some(2));
        assert_eq!(rings(LARGEST + 1), None);
    }
}
