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

mod pair;
mod parts;

pub(super) use pair::{Pair, is_one_island, of_bodies};

use super::gauss_seidel::solve_block;
use crate::sets::visit::Visit;
use crate::{LARGEST_BLOCK, Problem, Set};
use saltus_linalg::vector::dot;

/// Where a block touches a body.
#[derive(Debug, Clone, Copy)]
struct Touch {
    body: usize, // first velocity of the body
    at: usize,   // where the entries of K begin
}

/// The blocks, the bodies that they touch, and the velocities.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    matrix_id: u64,
    size: usize,         // velocities of a body
    start: Vec<usize>,   // first unknown of each block, and the end
    first: Vec<usize>,   // first touch of each block, and the end
    touches: Vec<Touch>, // block by block
    K: Vec<f64>,         // K_cBᵀ of each touch, a row for each unknown
    own: Vec<f64>,       // W_cc of each block
    own_at: Vec<usize>,
    free: Vec<f64>, // Lᵀ f
    u: Vec<f64>,
    of_velocity: Vec<usize>,    // the block of the mass of each velocity
    on_body: Vec<usize>,        // where the list of each body begins in `there`, and the end
    there: Vec<(usize, usize)>, // the blocks that touch a body, and where their entries begin
    pub sets: Vec<Set>,
    q: Vec<f64>,
    visits: Vec<Visit>, // where all blocks are contacts in space, and bodies too
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
        if (0..count).any(|k| self.start[k + 1] - self.start[k] > LARGEST_BLOCK) {
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
        let Bodies { start, own, sets, visits, .. } = self;
        let known =
            visits.len() == sets.len() && visits.iter().zip(&*sets).all(|(v, s)| v.is_of(s));
        if known && !is_new {
            return;
        }
        visits.clear();
        let alike = self.size == 6 && start.windows(2).all(|range| range[1] - range[0] == 3);
        for (set, own) in sets.iter().zip(own.as_chunks::<9>().0).take_while(|_| alike) {
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
        let Bodies { sets, start, matrix_id, .. } = self;
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

    /// Which bodies each block touches, and the matrices there.
    fn join(&mut self, pair: Pair<'_>) -> bool {
        let Pair { global, inverse, size } = pair;
        let Some(root) = inverse.root() else { return false };
        self.size = size;
        let Bodies { start, first, touches, K, own, own_at, free, u, of_velocity, .. } = self;
        let (on_body, there) = (&mut self.on_body, &mut self.there);
        for list in [&mut *first, &mut *own_at] {
            list.clear();
            list.push(0);
        }
        touches.clear();
        K.clear();
        own.clear();
        of_velocity.clear();
        for (block, range) in inverse.ranges().enumerate() {
            of_velocity.extend(range.map(|_| block));
        }
        for range in start.windows(2) {
            let (rows, from) = (range[1] - range[0], touches.len());
            for (i, unknown) in (range[0]..range[1]).enumerate() {
                for entry in global.transposed().row(unknown) {
                    let body = entry.col - entry.col % size;
                    let known = touches[from..].iter().find(|touch| touch.body == body);
                    let at = known.map_or(K.len(), |touch| touch.at);
                    if known.is_none() {
                        touches.push(Touch { body, at });
                        K.resize(at + rows * size, 0.0);
                    }
                    // Lᵀ times the entry: row `col` of L
                    let block = of_velocity[entry.col];
                    let columns = inverse.range(block);
                    let (row, n) = (entry.col - columns.start, columns.len());
                    let L = &root.entries(block)[row * n..row * n + row + 1];
                    let to = at + i * size + columns.start - body;
                    K[to..].iter_mut().zip(L).for_each(|(k, l)| *k += l * entry.value);
                }
            }
            first.push(touches.len());
            let at = own.len();
            own.resize(at + rows * rows, 0.0);
            for touch in &touches[from..] {
                let K = |i: usize| &K[touch.at + i * size..touch.at + (i + 1) * size];
                for i in 0..rows {
                    for j in 0..rows {
                        own[at + i * rows + j] += dot(K(i), K(j));
                    }
                }
            }
            own_at.push(own.len());
        }
        // who touches each body
        on_body.clear();
        on_body.resize(global.velocities() / size + 1, 0);
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
        free.clear();
        free.resize(global.velocities(), 0.0);
        for (block, range) in inverse.ranges().enumerate() {
            let (n, L) = (range.len(), root.entries(block));
            for (row, i) in range.clone().enumerate() {
                for j in 0..=row {
                    free[range.start + j] += L[row * n + j] * global.f()[i];
                }
            }
        }
        u.clear();
        u.resize(free.len(), 0.0);
        true
    }

    /// The diagonal of `W`, block by block.
    pub fn diagonal(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.sets.len()).flat_map(move |k| {
            let own = &self.own[self.own_at[k]..self.own_at[k + 1]];
            let size = self.start[k + 1] - self.start[k];
            (0..size).map(move |i| own[i * size + i])
        })
    }

    /// Moves `z` into its sets, from which round-off may have led it.
    pub fn project(&self, z: &mut [f64]) {
        for (k, set) in self.sets.iter().enumerate() {
            if !matches!(set, Set::Graph(_)) {
                set.project(1.0, &mut z[self.start[k]..self.start[k + 1]]);
            }
        }
    }

    /// Equations (2) and (3) for every block in order, from the velocities that belong to `z`.
    pub fn sweep(&mut self, relaxation: f64, z: &mut [f64]) {
        self.follow(z);
        if self.visits.is_empty() {
            for k in 0..self.sets.len() {
                self.visit_any(k, relaxation, z);
            }
        }
        for k in 0..self.visits.len() {
            self.visit_contact(k, relaxation, z);
        }
    }

    /// The velocities that belong to `z`.
    fn follow(&mut self, z: &[f64]) {
        self.u.copy_from_slice(&self.free);
        if self.visits.is_empty() {
            let Bodies { size, start, first, touches, K, u, sets, .. } = self;
            for k in 0..sets.len() {
                push(&touches[first[k]..first[k + 1]], *size, K, &z[start[k]..start[k + 1]], u);
            }
            return;
        }
        let Bodies { first, touches, K, u, .. } = self;
        let (K, _) = K.as_chunks::<18>();
        for (range, z) in first.windows(2).zip(z.as_chunks::<3>().0) {
            for place in range[0]..range[1] {
                push_six(&K[place], z, &mut u[touches[place].body..]);
            }
        }
    }

    /// Equations (2) and (3) for a contact in space.
    #[inline]
    fn visit_contact(&mut self, k: usize, relaxation: f64, z: &mut [f64]) {
        let Bodies { first, touches, K, u, q, visits, .. } = self;
        // the touches are numbered as their matrices are stored
        let (K, _) = K.as_chunks::<18>();
        let (Some(z), Some(&q)) = (z[3 * k..].first_chunk_mut(), q[3 * k..].first_chunk()) else {
            return;
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
        let step = [z[0] - before[0], z[1] - before[1], z[2] - before[2]];
        if step[0] != 0.0 || step[1] != 0.0 || step[2] != 0.0 {
            for place in first[k]..first[k + 1] {
                push_six(&K[place], &step, &mut u[touches[place].body..]);
            }
        }
    }

    /// The same for a block of any kind.
    fn visit_any(&mut self, k: usize, relaxation: f64, z: &mut [f64]) {
        let (mut b, mut answer) = ([0.0; LARGEST_BLOCK], [0.0; LARGEST_BLOCK]);
        let range = self.start[k]..self.start[k + 1];
        let (size, body) = (range.len(), self.size);
        let (b, step) = (&mut b[..size], &mut answer[..size]);
        let (z, own) = (&mut z[range.clone()], &self.own[self.own_at[k]..self.own_at[k + 1]]);
        b.copy_from_slice(&self.q[range]);
        for touch in &self.touches[self.first[k]..self.first[k + 1]] {
            for (b, row) in b.iter_mut().zip(self.K[touch.at..].chunks_exact(body)) {
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
        let Bodies { first, touches, K, u, .. } = self;
        push(&touches[first[k]..first[k + 1]], body, K, step, u);
    }
}

/// Equation (3) for the touches of a block and bodies of `size` velocities.
fn push(touches: &[Touch], size: usize, K: &[f64], x: &[f64], u: &mut [f64]) {
    for touch in touches {
        let u = &mut u[touch.body..touch.body + size];
        for (x, row) in x.iter().zip(K[touch.at..].chunks_exact(size)) {
            u.iter_mut().zip(row).for_each(|(u, k)| *u += k * x);
        }
    }
}

/// `b ← b + K_cBᵀ u_B` for three unknowns and six velocities.
#[inline]
fn look_six(K: &[f64; 18], u: &[f64], b: &mut [f64; 3]) {
    let Some(u) = u.first_chunk::<6>() else { return };
    for i in 0..3 {
        let row = |j: usize| K[6 * i + j] * u[j];
        b[i] += (row(0) + row(2) + row(4)) + (row(1) + row(3) + row(5));
    }
}

/// `u_B ← u_B + K_cB x`, alike.
#[inline]
fn push_six(K: &[f64; 18], x: &[f64; 3], u: &mut [f64]) {
    let Some(u) = u.first_chunk_mut::<6>() else { return };
    for j in 0..6 {
        u[j] += K[j] * x[0] + K[6 + j] * x[1] + K[12 + j] * x[2];
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
                let (before, mut quick) = (z.clone(), z.clone());
                bodies.sweep(1.0, &mut quick);
                bodies.follow(&z);
                for k in 0..bodies.len() {
                    bodies.visit_any(k, 1.0, &mut z);
                }
                assert!(distance(&quick, &z) < 1e-3 * distance(&before, &z));
                for k in 0..blocks.len() {
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
