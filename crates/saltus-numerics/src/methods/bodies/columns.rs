//! The columns of `H` in units of the masses, body by body.
//!
//! ```text
//! M⁻¹ = L Lᵀ,     v = L u,     K = Lᵀ H:     Hᵀ v = Kᵀ u,     u = Lᵀ f + K z                   (1)
//! ```
//!
//! A block of unknowns touches a few bodies, and has a small dense matrix at each. Products with `K`
//! and with `Kᵀ` each read it once.

use super::Pair;
use crate::bodies::Contacts;
use crate::{Problem, Set};
use saltus_linalg::vector::dot;
use saltus_linalg::{Wide, wide};

/// Where a block touches a body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Touch {
    pub body: usize, // first velocity of the body
    pub at: usize,   // where the entries of K begin
}

/// `K`, and the velocities without forces.
#[derive(Debug, Default)]
pub(in crate::methods) struct Columns {
    pub(super) size: usize,         // velocities of a body
    pub(super) start: Vec<usize>,   // first unknown of each block, and the end
    pub(super) first: Vec<usize>,   // first touch of each block, and the end
    pub(super) touches: Vec<Touch>, // block by block
    pub(super) K: Vec<f64>,         // K_cBᵀ of each touch, a row for each unknown
    pub(super) alike: bool,         // all blocks are contacts of bodies in space: three rows of six
    pub(super) free: Vec<f64>,      // Lᵀ f
    of_velocity: Vec<usize>,        // the block of the mass of each velocity
}

impl Columns {
    /// For the blocks that begin at `start`; `None` where the mass is not symmetric and positive.
    pub fn new(pair: Pair<'_>, start: Vec<usize>) -> Option<Columns> {
        let mut columns = Columns { start, ..Columns::default() };
        columns.join(pair).then_some(columns)
    }

    /// The matrices of the blocks as they are cut; false where the mass is not symmetric and positive.
    pub(super) fn join(&mut self, pair: Pair<'_>) -> bool {
        let Pair { global, inverse, size } = pair;
        let Some(root) = inverse.root() else { return false };
        let Columns { start, first, touches, K, free, of_velocity, .. } = self;
        self.size = size;
        self.alike = size == 6 && start.windows(2).all(|range| range[1] - range[0] == 3);
        first.clear();
        first.push(0);
        touches.clear();
        K.clear();
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
        }
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
        true
    }

    /// The same as contacts of bodies in space; `None` where some block is none.
    pub fn contacts(&self, problem: &Problem) -> Option<Contacts> {
        let mut mus = Vec::with_capacity(self.first.len());
        let mut are_contacts = self.alike;
        problem.for_each_block(|_, set, _| match *set {
            Set::Coulomb3 { mu } if mu > 0.0 => mus.push(mu),
            _ => are_contacts = false,
        });
        if !are_contacts || self.first.windows(2).any(|range| range[1] - range[0] > 2) {
            return None;
        }
        let free = self.free.chunks_exact(6).map(|u| std::array::from_fn(|i| u[i])).collect();
        let contacts = self.blocks().zip(mus).map(|((unknowns, touches), mu)| {
            let (mut sides, mut K) = ([None; 2], [[0.0; 18]; 2]);
            for (side, touch) in touches.iter().enumerate() {
                sides[side] = Some((touch.body / 6) as u32);
                K[side].copy_from_slice(&self.K[touch.at..touch.at + 18]);
            }
            let q = std::array::from_fn(|k| problem.q()[unknowns.start + k]);
            (sides, K, q, mu)
        });
        Some(Contacts::new(free, contacts))
    }

    /// `Lᵀ f`: the velocities without forces.
    pub fn free(&self) -> &[f64] {
        &self.free
    }

    /// The unknowns and the touches of each block.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (std::ops::Range<usize>, &[Touch])> {
        let touches = self.first.windows(2).map(|range| &self.touches[range[0]..range[1]]);
        self.start.windows(2).map(|range| range[0]..range[1]).zip(touches)
    }

    /// Whether most blocks touch the same bodies as the one before: points of one face.
    pub(super) fn share_faces(&self) -> bool {
        let bodies =
            |k: usize| self.touches[self.first[k]..self.first[k + 1]].iter().map(|t| t.body);
        let count = self.first.len() - 1;
        let alike = (1..count).filter(|&k| bodies(k - 1).eq(bodies(k))).count();
        2 * alike > count
    }

    /// `u ← u + K z`.
    pub fn push(&self, z: &[f64], u: &mut [f64]) {
        if !self.alike {
            for (range, touches) in self.blocks() {
                push(touches, self.size, &self.K, &z[range], u);
            }
            return;
        }
        let (K, _) = self.K.as_chunks::<18>();
        for (range, z) in self.first.windows(2).zip(z.as_chunks::<3>().0) {
            for place in range[0]..range[1] {
                push_six(&K[place], z, &mut u[self.touches[place].body..]);
            }
        }
    }

    /// `z ← z − C Kᵀ u`.
    pub fn pull(&self, C: &[f64], u: &[f64], z: &mut [f64]) {
        wide(Pull { columns: self, C, u, z });
    }
}

/// `z ← z − C Kᵀ u`.
struct Pull<'a> {
    columns: &'a Columns,
    C: &'a [f64],
    u: &'a [f64],
    z: &'a mut [f64],
}

impl Wide for Pull<'_> {
    type Answer = ();

    #[inline(always)]
    fn run(self) {
        let Pull { columns, C, u, z } = self;
        if !columns.alike {
            for (range, touches) in columns.blocks() {
                for touch in touches {
                    let rows = columns.K[touch.at..].chunks_exact(columns.size);
                    for (i, row) in range.clone().zip(rows) {
                        z[i] -= C[i] * dot(row, &u[touch.body..touch.body + columns.size]);
                    }
                }
            }
            return;
        }
        let (K, _) = columns.K.as_chunks::<18>();
        let contacts = columns.first.windows(2).zip(C.as_chunks::<3>().0);
        for ((range, C), z) in contacts.zip(z.as_chunks_mut::<3>().0) {
            let mut w = [0.0; 3];
            for place in range[0]..range[1] {
                look_six(&K[place], &u[columns.touches[place].body..], &mut w);
            }
            for i in 0..3 {
                z[i] -= C[i] * w[i];
            }
        }
    }
}

/// `u_B ← u_B + K_cB x` for the touches of a block and bodies of `size` velocities.
pub(super) fn push(touches: &[Touch], size: usize, K: &[f64], x: &[f64], u: &mut [f64]) {
    for touch in touches {
        let u = &mut u[touch.body..touch.body + size];
        for (x, row) in x.iter().zip(K[touch.at..].chunks_exact(size)) {
            u.iter_mut().zip(row).for_each(|(u, k)| *u += k * x);
        }
    }
}

/// `b ← b + K_cBᵀ u_B` for three unknowns and six velocities.
#[inline(always)]
pub(super) fn look_six(K: &[f64; 18], u: &[f64], b: &mut [f64; 3]) {
    let Some(u) = u.first_chunk::<6>() else { return };
    for i in 0..3 {
        let row = |j: usize| K[6 * i + j] * u[j];
        b[i] += (row(0) + row(2) + row(4)) + (row(1) + row(3) + row(5));
    }
}

/// `u_B ← u_B + K_cB x`, alike.
#[inline(always)]
pub(super) fn push_six(K: &[f64; 18], x: &[f64; 3], u: &mut [f64]) {
    let Some(u) = u.first_chunk_mut::<6>() else { return };
    for j in 0..6 {
        u[j] += K[j] * x[0] + K[6 + j] * x[1] + K[12 + j] * x[2];
    }
}
