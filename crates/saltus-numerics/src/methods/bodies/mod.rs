//! Gauss–Seidel on bodies: the pair `(M, H)` is never multiplied out.
//!
//! Where each block touches a few bodies of their own mass, the velocities are kept up to date while
//! the blocks are visited, and a visit looks at these bodies instead of at all blocks that touch them.
//! With `M_B⁻¹ = L Lᵀ` and velocities in units of their masses, `v = L u`, one matrix does for both:
//!
//! ```text
//! K_cB = Lᵀ H_cB,     u = Lᵀ f + K z                       W = Kᵀ K                            (1)
//! b = q_c + Σ_B K_cBᵀ u_B − W_cc z_c,     w_c = W_cc z_c + b with the law of the block         (2)
//! u_B ← u_B + K_cB Δz_c                                                                        (3)
//! ```
//!
//! The same numbers as those of [`GaussSeidel`](super::GaussSeidel) on `W = Hᵀ M⁻¹ H`. A visit costs
//! two products with the columns of `K`, however many blocks touch the same bodies, and there is no
//! `W` to be made. Reference: Jean, *Comput. Methods Appl. Mech. Engrg.* 177 (1999) 235–257.

mod columns;
mod pair;
mod parts;
mod stiffness;

pub(super) use columns::Columns;
use columns::{look_six, push, push_six};
pub(super) use pair::{Pair, is_one_island, of_bodies, of_masses};
pub(super) use stiffness::Stiffness;

use super::gauss_seidel::{every, solve_block};
use crate::bodies::Contacts;
use crate::sets::visit::Visit;
use crate::{LARGEST_BLOCK, Problem, Set};
use saltus_linalg::vector::dot;

/// A problem as contacts of bodies in space, where it is one.
pub(super) fn contacts(problem: &Problem) -> Option<Contacts> {
    let mut start = vec![0];
    problem.for_each_block(|first, _, size| start.push(first + size));
    Columns::new(of_masses(problem)?, start)?.contacts(problem)
}

/// From one visit to the next where bodies touch with their faces, whose points stand next to each other in
/// the list: they would pass the load to and fro among themselves before others have their say.
const APART: usize = 2;

/// The blocks, the bodies that they touch, and the velocities.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    matrix_id: u64,
    columns: Columns,
    own: Vec<f64>, // W_cc of each block
    own_at: Vec<usize>,
    u: Vec<f64>,
    on_body: Vec<usize>, // where the list of each body begins in `there`, and the end
    there: Vec<(usize, usize)>, // the blocks that touch a body, and where their entries begin
    pub sets: Vec<Set>,
    q: Vec<f64>,
    visits: Vec<Visit>, // where all blocks are contacts in space, and bodies too
    apart: usize,       // blocks from one visit to the next
}

impl Bodies {
    /// Takes over what has changed in the problem since the last call; false where a block has no
    /// positive diagonal or is too long, or the mass is not symmetric and positive.
    pub fn update(&mut self, problem: &Problem, pair: Pair<'_>) -> bool {
        self.take_sets(problem);
        self.q.clear();
        self.q.extend_from_slice(problem.q());
        let count = self.sets.len();
        let is_new = self.matrix_id != problem.matrix_id() || self.own_at.len() != count + 1;
        if self.columns.start.windows(2).any(|range| range[1] - range[0] > LARGEST_BLOCK) {
            return false;
        }
        if is_new {
            if !self.join(pair) {
                return false;
            }
            self.matrix_id = problem.matrix_id();
        }
        self.prepare_visits(is_new);
        (0..count).all(|k| {
            let fixed = self.sets[k].bounds().is_some_and(|(lower, upper)| lower == upper);
            fixed || self.own[self.own_at[k]] > 0.0
        })
    }

    /// The blocks of contacts that are visited again and again; none where there are others.
    fn prepare_visits(&mut self, is_new: bool) {
        let Bodies { columns, own, sets, visits, .. } = self;
        let known =
            visits.len() == sets.len() && visits.iter().zip(&*sets).all(|(v, s)| v.is_of(s));
        if known && !is_new {
            return;
        }
        visits.clear();
        for (set, own) in sets.iter().zip(own.as_chunks::<9>().0).take_while(|_| columns.alike) {
            match Visit::new(set, own) {
                Some(visit) => visits.push(visit),
                None => return visits.clear(),
            }
        }
    }

    /// Whether they are those of a problem.
    pub fn are_of(&self, problem: &Problem) -> bool {
        self.matrix_id == problem.matrix_id()
    }

    fn take_sets(&mut self, problem: &Problem) {
        let Bodies { sets, columns, matrix_id, .. } = self;
        let start = &mut columns.start;
        let (mut k, mut moved) = (0, false);
        let mut place = |k: usize, first: usize| match start.get_mut(k) {
            Some(there) if *there == first => {}
            Some(there) => (*there, moved) = (first, true),
            None => {
                start.push(first);
                moved = true;
            }
        };
        place(0, 0);
        problem.for_each_block(|first, set, size| {
            place(k + 1, first + size);
            match sets.get_mut(k) {
                Some(there) => there.clone_from(set),
                None => sets.push(set.clone()),
            }
            k += 1;
        });
        sets.truncate(k);
        start.truncate(k + 1);
        if moved {
            *matrix_id = 0; // cut in another way
        }
    }

    /// Which bodies each block touches, the matrices there, and who touches each body.
    fn join(&mut self, pair: Pair<'_>) -> bool {
        if !self.columns.join(pair) {
            return false;
        }
        let Bodies { columns, own, own_at, on_body, there, u, .. } = self;
        let Columns { size, start, first, touches, K, free, .. } = &*columns;
        let size = *size;
        own.clear();
        own_at.clear();
        own_at.push(0);
        for (range, touched) in start.windows(2).zip(first.windows(2)) {
            let (rows, at) = (range[1] - range[0], own.len());
            own.resize(at + rows * rows, 0.0);
            for touch in &touches[touched[0]..touched[1]] {
                let K = |i: usize| &K[touch.at + i * size..touch.at + (i + 1) * size];
                for i in 0..rows {
                    for j in 0..rows {
                        own[at + i * rows + j] += dot(K(i), K(j));
                    }
                }
            }
            own_at.push(own.len());
        }
        on_body.clear();
        on_body.resize(free.len() / size + 1, 0);
        touches.iter().for_each(|touch| on_body[touch.body / size + 1] += 1);
        for body in 1..on_body.len() {
            on_body[body] += on_body[body - 1];
        }
        there.clear();
        there.resize(touches.len(), (0, 0));
        for k in (0..first.len() - 1).rev() {
            for touch in &touches[first[k]..first[k + 1]] {
                // filled from the end, which then is the beginning of the next
                let end = &mut on_body[touch.body / size + 1];
                *end -= 1;
                there[*end] = (k, touch.at);
            }
        }
        on_body.remove(0);
        on_body.push(touches.len());
        self.apart = if columns.share_faces() { APART } else { 1 };
        u.clear();
        u.resize(free.len(), 0.0);
        true
    }

    /// The diagonal of `W`, block by block.
    pub fn diagonal(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.sets.len()).flat_map(move |k| {
            let own = &self.own[self.own_at[k]..self.own_at[k + 1]];
            let size = self.columns.start[k + 1] - self.columns.start[k];
            (0..size).map(move |i| own[i * size + i])
        })
    }

    /// Moves `z` into its sets, from which round-off may have led it.
    pub fn project(&self, z: &mut [f64]) {
        for (k, set) in self.sets.iter().enumerate() {
            if !matches!(set, Set::Graph(_)) {
                set.project(1.0, &mut z[self.columns.start[k]..self.columns.start[k + 1]]);
            }
        }
    }

    /// Equations (2) and (3) for every block in order, from the velocities, which belong to `z`; leaves in `step` by
    /// what `z` changes. The squared length of that.
    pub fn sweep(&mut self, relaxation: f64, z: &mut [f64], step: &mut [f64]) -> f64 {
        let order = every(self.apart, self.sets.len());
        if self.visits.is_empty() {
            order.map(|k| self.visit_any(k, relaxation, z, step)).sum()
        } else {
            order.map(|k| self.visit_contact(k, relaxation, z, step)).sum()
        }
    }

    /// The velocities.
    pub fn velocities(&mut self) -> &mut [f64] {
        &mut self.u
    }

    /// Makes the velocities those that belong to `z`.
    pub fn follow(&mut self, z: &[f64]) {
        self.u.copy_from_slice(&self.columns.free);
        self.columns.push(z, &mut self.u);
    }

    /// Equations (2) and (3) for a contact in space.
    #[inline]
    fn visit_contact(&mut self, k: usize, relaxation: f64, z: &mut [f64], step: &mut [f64]) -> f64 {
        let Bodies { columns, u, q, visits, .. } = self;
        let Columns { first, touches, K, .. } = columns;
        // the touches are numbered as their matrices are stored
        let (K, _) = K.as_chunks::<18>();
        let (z, step) = (z[3 * k..].first_chunk_mut(), step[3 * k..].first_chunk_mut());
        let (Some(z), Some(step), Some(&q)) = (z, step, q[3 * k..].first_chunk()) else {
            return 0.0;
        };
        let mut w: [f64; 3] = q;
        for place in first[k]..first[k + 1] {
            look_six(&K[place], &u[touches[place].body..], &mut w);
        }
        let before: [f64; 3] = *z;
        visits[k].solve(&w, z);
        if relaxation != 1.0 {
            for i in 0..3 {
                z[i] = before[i] + relaxation * (z[i] - before[i]);
            }
        }
        *step = [z[0] - before[0], z[1] - before[1], z[2] - before[2]];
        if *step != [0.0; 3] {
            for place in first[k]..first[k + 1] {
                push_six(&K[place], step, &mut u[touches[place].body..]);
            }
        }
        step[0] * step[0] + step[1] * step[1] + step[2] * step[2]
    }

    /// The same for a block of any kind.
    fn visit_any(&mut self, k: usize, relaxation: f64, z: &mut [f64], step: &mut [f64]) -> f64 {
        let mut b = [0.0; LARGEST_BLOCK];
        let Columns { start, first, touches, K, size: body, .. } = &self.columns;
        let (range, body) = (start[k]..start[k + 1], *body);
        let size = range.len();
        let touches = &touches[first[k]..first[k + 1]];
        let (b, step) = (&mut b[..size], &mut step[range.clone()]);
        let (z, own) = (&mut z[range.clone()], &self.own[self.own_at[k]..self.own_at[k + 1]]);
        b.copy_from_slice(&self.q[range]);
        for touch in touches {
            for (b, row) in b.iter_mut().zip(K[touch.at..].chunks_exact(body)) {
                *b += dot(row, &self.u[touch.body..]);
            }
        }
        for i in 0..size {
            b[i] -= dot(&own[i * size..(i + 1) * size], z);
        }
        step.copy_from_slice(z);
        solve_block(&self.sets[k], own, b, step);
        for i in 0..size {
            let length = step[i] - z[i];
            let next = if relaxation == 1.0 { step[i] } else { z[i] + relaxation * length };
            step[i] = next - z[i];
            z[i] = next;
        }
        push(touches, body, K, step, &mut self.u);
        dot(step, step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Blocks;
    use crate::methods::islands::Neighbourhood;
    use crate::{Block, Global, generate};
    use saltus_linalg::Sparse;
    use saltus_linalg::vector::distance;

    /// The same bodies with masses that are full blocks.
    fn coupled(heap: Problem, coupling: f64) -> Problem {
        let global = heap.global().unwrap();
        let mut mass: Vec<_> = global.mass().iter().collect();
        for body in (0..global.velocities()).step_by(6) {
            mass.extend([(body + 3, body + 5, coupling), (body + 5, body + 3, coupling)]);
        }
        let n = global.velocities();
        let mass = Sparse::from_triplets(n, n, &mass);
        let pair = Global::new(mass, global.H().clone(), global.f().to_vec()).unwrap();
        let blocks = vec![Block { size: 3, set: Set::Coulomb3 { mu: 0.5 } }; heap.len() / 3];
        Problem::new(pair, vec![0.01; heap.len()], &blocks).unwrap()
    }

    /// One sweep on bodies is one sweep on `W`.
    #[test]
    fn a_sweep_agrees_with_the_matrix_multiplied_out() {
        for (c, coupling) in [(3.0, 0.0), (7.0, 0.03)] {
            let problem = coupled(generate::heap(60, c, 0.5, 3).unwrap(), coupling);
            let pair = of_bodies(&problem).unwrap();
            let (mut bodies, mut blocks) = (Bodies::default(), Blocks::default());
            assert!(bodies.update(&problem, pair));
            blocks.update("bodies", &problem).unwrap();
            let (mut z, mut expected) = (vec![0.1; problem.len()], vec![0.1; problem.len()]);
            for _ in 0..3 {
                // visits of contacts are exact up to second order in what they change
                let (before, mut quick, mut step) = (z.clone(), z.clone(), z.clone());
                bodies.follow(&quick);
                let square = bodies.sweep(1.0, &mut quick, &mut step);
                let length = distance(&before, &quick);
                assert!((square.sqrt() - length).abs() < 1e-12 * length);
                assert!((0..z.len()).all(|i| step[i] == quick[i] - before[i]));
                bodies.follow(&z);
                for k in every(bodies.apart, bodies.len()) {
                    bodies.visit_any(k, 1.0, &mut z, &mut step);
                }
                assert!(distance(&quick, &z) < 1e-3 * distance(&before, &z));
                for k in every(bodies.apart, blocks.len()) {
                    let range = blocks.matrix.range(k);
                    let mut b = blocks.q[range.clone()].to_vec();
                    blocks.matrix.add_others(k, &expected, &mut b);
                    let z = &mut expected[range];
                    assert!(blocks.sets[k].solve_block(blocks.matrix.diagonal(k), &b, z));
                }
                assert!(distance(&z, &expected) < 1e-10, "{}", distance(&z, &expected));
            }
            // the problem of some blocks is that of the matrix
            let of = [3, 4, 10, 11, 30];
            let (found, unknowns) = bodies.part(&problem, &of, &z).unwrap();
            let (expected, same) = blocks.part(&problem, &of, &z).unwrap();
            assert_eq!(unknowns, same);
            assert!(distance(found.q(), expected.q()) < 1e-12);
            for (i, j) in (0..15).flat_map(|i| (0..15).map(move |j| (i, j))) {
                let defect = found.matrix().get(i, j) - expected.matrix().get(i, j);
                assert!(defect.abs() < 1e-12);
            }
            for k in 0..bodies.len() {
                let (mut found, mut expected) = (Vec::new(), Vec::new());
                bodies.for_each_neighbour(k, |other| found.push(other));
                blocks.for_each_neighbour(k, |other| expected.push(other));
                found.sort_unstable();
                found.dedup();
                assert_eq!(found, expected);
            }
            let diagonal: Vec<f64> = bodies.diagonal().collect();
            let W = pair.global.condense();
            for (i, d) in diagonal.iter().enumerate() {
                assert!((d - W.get(i, i)).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn bodies_that_do_not_touch_are_several_islands() {
        for (c, expected) in [(3.0, true), (0.1, false)] {
            let problem = generate::heap(60, c, 0.5, 3).unwrap();
            let global = problem.global().unwrap();
            let inverse = global.inverse_blocks().unwrap();
            assert_eq!(is_one_island(Pair { global, inverse, size: 6 }), expected);
        }
    }

    #[test]
    fn a_mass_that_is_not_symmetric_is_left_to_the_matrix() {
        let heap = generate::heap(60, 3.0, 0.5, 3).unwrap();
        let global = heap.global().unwrap();
        let mut mass: Vec<_> = global.mass().iter().collect();
        mass.push((3, 5, 0.01));
        let mass = Sparse::from_triplets(global.velocities(), global.velocities(), &mass);
        let pair = Global::new(mass, global.H().clone(), global.f().to_vec()).unwrap();
        let blocks = vec![Block { size: 3, set: Set::Coulomb3 { mu: 0.5 } }; heap.len() / 3];
        let problem = Problem::new(pair, vec![0.0; heap.len()], &blocks).unwrap();
        let pair = of_bodies(&problem).unwrap();
        assert!(!Bodies::default().update(&problem, pair));
    }

    #[test]
    fn few_contacts_are_left_to_the_matrix() {
        assert!(of_bodies(&generate::heap(60, 0.1, 0.5, 3).unwrap()).is_none());
    }
}
