//! Gauss–Seidel on bodies: the pair `(M, H)` is never multiplied out.
//!
//! Where each block touches a few bodies of their own mass, the velocities are kept up to date while
//! the blocks are visited, and a visit looks at these bodies instead of at all blocks that touch them:
//!
//! ```text
//! b = q_c + Σ_B H_cBᵀ v_B − W_cc z_c,     w_c = W_cc z_c + b with the law of the block         (1)
//! v_B ← v_B + M_B⁻¹ H_cB Δz_c                                                                  (2)
//! ```
//!
//! The same numbers as those of [`GaussSeidel`](super::GaussSeidel) on `W = Hᵀ M⁻¹ H`. A visit costs
//! two products with the columns of `H`, however many blocks touch the same bodies, and there is no
//! `W` to be made. Reference: Jean, *Comput. Methods Appl. Mech. Engrg.* 177 (1999) 235–257.

use super::gauss_seidel::solve_block;
use crate::{Global, LARGEST_BLOCK, Problem, Set};
use saltus_linalg::BlockDiagonal;
use saltus_linalg::vector::dot;

/// Where a block touches a body.
#[derive(Debug, Clone, Copy)]
struct Touch {
    body: usize, // first velocity of the body
    at: usize,   // where the entries of both matrices begin
}

/// The blocks, the bodies that they touch, and the velocities.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    matrix_id: u64,
    size: usize,         // velocities of a body
    start: Vec<usize>,   // first unknown of each block, and the end
    first: Vec<usize>,   // first touch of each block, and the end
    touches: Vec<Touch>, // block by block
    H: Vec<f64>,         // H_cBᵀ of each touch, a row for each unknown
    G: Vec<f64>,         // (M_B⁻¹ H_cB)ᵀ, alike
    own: Vec<f64>,       // W_cc of each block
    own_at: Vec<usize>,
    free: Vec<f64>, // M⁻¹ f
    v: Vec<f64>,
    of_velocity: Vec<usize>, // the block of the mass of each velocity
    pub sets: Vec<Set>,
    q: Vec<f64>,
}

/// Blocks of `W` in a row from which bodies are cheaper.
const CROWDED: f64 = 6.0;

/// A pair whose velocities are those of bodies, all of one kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<'a> {
    global: &'a Global,
    inverse: &'a BlockDiagonal,
    size: usize, // velocities of a body
}

/// The pair of a problem whose mass is that of bodies in space or in the plane, each touched by so many
/// blocks that a row of `W` costs more than the bodies.
pub(super) fn of_bodies(problem: &Problem) -> Option<Pair<'_>> {
    let global = problem.global()?;
    let inverse = global.inverse_blocks()?;
    let n = global.velocities();
    let alone = |size: usize| {
        n.is_multiple_of(size) && inverse.ranges().all(|r| r.start / size == (r.end - 1) / size)
    };
    let size = [6, 3].into_iter().find(|&size| alone(size))?;
    let mut pairs = 0.0; // of blocks on a body, three unknowns each
    for body in 0..n / size {
        let rows = size * body..size * (body + 1);
        let most = rows.map(|i| global.H().row(i).len()).max().unwrap_or(0) as f64;
        pairs += most * most / 9.0;
    }
    (pairs >= CROWDED * problem.len() as f64 / 3.0).then_some(Pair { global, inverse, size })
}

/// Whether all blocks hang together, through the bodies that they touch.
pub(super) fn is_one_island(pair: Pair<'_>) -> bool {
    let Pair { global, size, .. } = pair;
    let mut parent: Vec<u32> = (0..global.velocities()).map(|i| (i - i % size) as u32).collect();
    fn root(parent: &mut [u32], mut k: u32) -> u32 {
        while parent[k as usize] != k {
            parent[k as usize] = parent[parent[k as usize] as usize];
            k = parent[k as usize];
        }
        k
    }
    let columns_of_H = global.transposed();
    let mut first = None;
    for unknown in 0..columns_of_H.rows() {
        let mut columns = columns_of_H.row(unknown).iter().map(|entry| entry.col as u32);
        let Some(one) = columns.next() else { continue };
        for other in columns {
            let (a, b) = (root(&mut parent, one), root(&mut parent, other));
            parent[a.max(b) as usize] = a.min(b);
        }
        first = first.or(Some(one));
    }
    let Some(first) = first else { return true };
    let whole = root(&mut parent, first);
    (0..columns_of_H.rows()).all(|unknown| {
        columns_of_H
            .row(unknown)
            .first()
            .is_some_and(|entry| root(&mut parent, entry.col as u32) == whole)
    })
}

impl Bodies {
    /// Takes over what has changed in the problem since the last call; false where a block has no
    /// positive diagonal or is too long.
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
            self.matrix_id = problem.matrix_id();
            self.join(pair);
        }
        (0..count).all(|k| {
            let fixed = self.sets[k].bounds().is_some_and(|(lower, upper)| lower == upper);
            fixed || self.own[self.own_at[k]] > 0.0
        })
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
    fn join(&mut self, pair: Pair<'_>) {
        let Pair { global, inverse, size } = pair;
        self.size = size;
        let Bodies { start, first, touches, H, G, own, own_at, free, v, of_velocity, .. } = self;
        for list in [&mut *first, &mut *own_at] {
            list.clear();
            list.push(0);
        }
        touches.clear();
        H.clear();
        own.clear();
        of_velocity.clear();
        for (block, range) in inverse.ranges().enumerate() {
            of_velocity.extend(range.map(|_| block));
        }
        for range in start.windows(2) {
            let (rows, from) = (range[1] - range[0], touches.len());
            for (i, unknown) in (range[0]..range[1]).enumerate() {
                for entry in global.transposed().row(unknown) {
                    let within = entry.col % size;
                    let body = entry.col - within;
                    let known = touches[from..].iter().find(|touch| touch.body == body);
                    let at = known.map_or(H.len(), |touch| touch.at);
                    if known.is_none() {
                        touches.push(Touch { body, at });
                        H.resize(at + rows * size, 0.0);
                    }
                    H[at + i * size + within] += entry.value;
                }
            }
            first.push(touches.len());
        }
        G.clear();
        G.resize(H.len(), 0.0);
        for (k, range) in start.windows(2).enumerate() {
            let (rows, at) = (range[1] - range[0], own.len());
            own.resize(at + rows * rows, 0.0);
            for touch in &touches[first[k]..first[k + 1]] {
                let H = &H[touch.at..touch.at + rows * size];
                let G = &mut G[touch.at..touch.at + rows * size];
                for j in 0..size {
                    // row j of the inverse of the mass
                    let block = of_velocity[touch.body + j];
                    let columns = inverse.range(block);
                    let row = touch.body + j - columns.start;
                    let M = &inverse.entries(block)[row * columns.len()..(row + 1) * columns.len()];
                    let from = columns.start - touch.body;
                    for i in 0..rows {
                        let H = &H[i * size + from..];
                        G[i * size + j] = M.iter().zip(H).map(|(m, h)| m * h).sum::<f64>();
                    }
                }
                for i in 0..rows {
                    for j in 0..rows {
                        own[at + i * rows + j] += dot(&H[i * size..(i + 1) * size], &G[j * size..]);
                    }
                }
            }
            own_at.push(own.len());
        }
        free.clear();
        free.extend_from_slice(global.f());
        inverse.apply_in_place(free);
        v.clear();
        v.resize(free.len(), 0.0);
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

    /// Equations (1) and (2) for every block in order, from the velocities that belong to `z`.
    pub fn sweep(&mut self, relaxation: f64, z: &mut [f64]) {
        let alike = self.start.windows(2).all(|range| range[1] - range[0] == 3);
        match (alike, self.size) {
            (true, 6) => self.sweep_alike(relaxation, z),
            _ => self.sweep_mixed(relaxation, z),
        }
    }

    /// Contacts in space of bodies in space.
    fn sweep_alike(&mut self, relaxation: f64, z: &mut [f64]) {
        let Bodies { first, touches, H, G, own, free, v, sets, q, .. } = self;
        v.copy_from_slice(free);
        let (z, _) = z.as_chunks_mut::<3>();
        let ((q, _), (own, _)) = (q.as_chunks::<3>(), own.as_chunks::<9>());
        // the touches are numbered as their matrices are stored
        let ((H, _), (G, _)) = (H.as_chunks::<18>(), G.as_chunks::<18>());
        for (k, z) in z.iter().enumerate() {
            for place in first[k]..first[k + 1] {
                push_six(&G[place], z, &mut v[touches[place].body..]);
            }
        }
        for (k, z) in z.iter_mut().enumerate() {
            let (own, mut b) = (&own[k], q[k]);
            for place in first[k]..first[k + 1] {
                look_six(&H[place], &v[touches[place].body..], &mut b);
            }
            for i in 0..3 {
                b[i] -= own[3 * i] * z[0] + own[3 * i + 1] * z[1] + own[3 * i + 2] * z[2];
            }
            let mut answer = *z;
            solve_block(&sets[k], own, &b, &mut answer);
            if relaxation != 1.0 {
                answer = [0, 1, 2].map(|i| z[i] + relaxation * (answer[i] - z[i]));
            }
            let step = [0, 1, 2].map(|i| answer[i] - z[i]);
            if step != [0.0; 3] {
                *z = answer;
                for place in first[k]..first[k + 1] {
                    push_six(&G[place], &step, &mut v[touches[place].body..]);
                }
            }
        }
    }

    /// Blocks and bodies of any kind.
    fn sweep_mixed(&mut self, relaxation: f64, z: &mut [f64]) {
        let Bodies { size, start, first, touches, H, G, own, own_at, free, v, sets, q, .. } = self;
        let body = *size;
        let push = |touches: &[Touch], x: &[f64], v: &mut [f64]| {
            for touch in touches {
                let v = &mut v[touch.body..touch.body + body];
                for (x, row) in x.iter().zip(G[touch.at..].chunks_exact(body)) {
                    v.iter_mut().zip(row).for_each(|(v, g)| *v += g * x);
                }
            }
        };
        v.copy_from_slice(free);
        for k in 0..sets.len() {
            push(&touches[first[k]..first[k + 1]], &z[start[k]..start[k + 1]], v);
        }
        let (mut b, mut answer) = ([0.0; LARGEST_BLOCK], [0.0; LARGEST_BLOCK]);
        for k in 0..sets.len() {
            let range = start[k]..start[k + 1];
            let (size, touches) = (range.len(), &touches[first[k]..first[k + 1]]);
            let (b, answer) = (&mut b[..size], &mut answer[..size]);
            let (z, own) = (&mut z[range.clone()], &own[own_at[k]..own_at[k + 1]]);
            b.copy_from_slice(&q[range]);
            for touch in touches {
                for (b, row) in b.iter_mut().zip(H[touch.at..].chunks_exact(body)) {
                    *b += dot(row, &v[touch.body..]);
                }
            }
            for i in 0..size {
                b[i] -= dot(&own[i * size..(i + 1) * size], z);
            }
            answer.copy_from_slice(z);
            solve_block(&sets[k], own, b, answer);
            for i in 0..size {
                let step = answer[i] - z[i];
                let next = if relaxation == 1.0 { answer[i] } else { z[i] + relaxation * step };
                answer[i] = next - z[i];
                z[i] = next;
            }
            push(touches, answer, v);
        }
    }
}

/// `b ← b + H_cBᵀ v_B` for three unknowns and six velocities.
#[inline]
fn look_six(H: &[f64; 18], v: &[f64], b: &mut [f64; 3]) {
    let Some(v) = v.first_chunk::<6>() else { return };
    for i in 0..3 {
        let row = |j: usize| H[6 * i + j] * v[j];
        b[i] += (row(0) + row(2) + row(4)) + (row(1) + row(3) + row(5));
    }
}

/// `v_B ← v_B + M_B⁻¹ H_cB x`, alike.
#[inline]
fn push_six(G: &[f64; 18], x: &[f64; 3], v: &mut [f64]) {
    let Some(v) = v.first_chunk_mut::<6>() else { return };
    for j in 0..6 {
        v[j] += G[j] * x[0] + G[6 + j] * x[1] + G[12 + j] * x[2];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Blocks;
    use crate::generate;
    use saltus_linalg::vector::distance;

    /// One sweep on bodies is one sweep on `W`.
    #[test]
    fn a_sweep_agrees_with_the_matrix_multiplied_out() {
        for c in [3.0, 7.0] {
            let problem = generate::heap(60, c, 0.5, 3).unwrap();
            let pair = of_bodies(&problem).unwrap();
            let (mut bodies, mut blocks) = (Bodies::default(), Blocks::default());
            assert!(bodies.update(&problem, pair));
            blocks.update("bodies", &problem).unwrap();
            let (mut z, mut expected) = (vec![0.1; problem.len()], vec![0.1; problem.len()]);
            let mut mixed = z.clone();
            for _ in 0..3 {
                bodies.sweep(1.0, &mut z);
                bodies.sweep_mixed(1.0, &mut mixed);
                assert!(distance(&z, &mixed) < 1e-12);
                for k in 0..blocks.len() {
                    let range = blocks.matrix.range(k);
                    let mut b = blocks.q[range.clone()].to_vec();
                    blocks.matrix.add_others(k, &expected, &mut b);
                    let z = &mut expected[range];
                    assert!(blocks.sets[k].solve_block(blocks.matrix.diagonal(k), &b, z));
                }
                assert!(distance(&z, &expected) < 1e-10, "{}", distance(&z, &expected));
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
    fn few_contacts_are_left_to_the_matrix() {
        assert!(of_bodies(&generate::heap(60, 0.1, 0.5, 3).unwrap()).is_none());
    }
}
