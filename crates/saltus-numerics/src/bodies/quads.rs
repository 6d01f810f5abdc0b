//! Contacts of rigid bodies four at a time, in units in which their laws are cones of Lorentz.
//!
//! ```text
//! g = G s + p,     s = s_free + Gᵀ x,     G = diag(1, μ, μ) K,     p = diag(1, μ, μ) q        (1)
//! ```
//!
//! Those that are missing in the last four touch nothing, and part at the speed of the others: their cones are open, and take
//! no part in anything.

use super::lanes::{Four, gather, load};
use super::rows::{FIXED, Motion, Rows};
use saltus_linalg::Lanes;

/// Four contacts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quad {
    /// Their bodies; what does not move is the body after the last one, on which nothing acts.
    sides: [[u32; 4]; 2],
    G: [[Four; 18]; 2],
    p: [Four; 3],
    /// Coefficients of friction.
    pub mu: Four,
}

/// All contacts of an island.
#[derive(Debug, Default)]
pub(super) struct Quads {
    pub all: Vec<Quad>,
    /// Contacts, and bodies.
    pub count: usize,
    pub bodies: usize,
}

impl Quads {
    /// These rows, whose mean speed without impulses is so much.
    pub fn fill(&mut self, rows: &Rows, speed: f64) {
        let Quads { all, count, bodies } = self;
        (*count, *bodies) = (rows.all.len(), rows.free.len());
        all.clear();
        for four in rows.all.chunks(4) {
            let mut quad = Quad {
                sides: [[rows.free.len() as u32; 4]; 2],
                G: [[[0.0; 4]; 18]; 2],
                p: [[speed; 4], [0.0; 4], [0.0; 4]],
                mu: [1.0; 4],
            };
            for (lane, row) in four.iter().enumerate() {
                let units = [1.0, row.mu, row.mu];
                quad.mu[lane] = row.mu;
                for side in (0..2).filter(|&side| row.sides[side] != FIXED) {
                    quad.sides[side][lane] = row.sides[side];
                    for k in 0..18 {
                        quad.G[side][k][lane] = units[k / 6] * row.K[side][k];
                    }
                }
                (0..3).for_each(|k| quad.p[k][lane] = units[k] * row.q[k]);
            }
            all.push(quad);
        }
    }
}

impl Quad {
    /// `G s`.
    #[inline(always)]
    pub fn turn<L: Lanes>(&self, l: L, s: &[Motion]) -> [L::Four; 3] {
        let sides = [gather(l, s, &self.sides[0]), gather(l, s, &self.sides[1])];
        let mut g = [l.splat(0.0); 3];
        for k in 0..3 {
            for side in 0..2 {
                for i in 0..6 {
                    let own = l.load(&self.G[side][6 * k + i]);
                    g[k] = l.add(g[k], l.mul(own, sides[side][i]));
                }
            }
        }
        g
    }

    /// `G s + p`.
    #[inline(always)]
    pub fn velocity<L: Lanes>(&self, l: L, s: &[Motion]) -> [L::Four; 3] {
        let (g, p) = (self.turn(l, s), load(l, &self.p));
        [l.add(g[0], p[0]), l.add(g[1], p[1]), l.add(g[2], p[2])]
    }

    /// `s ← s + Gᵀ x`.
    #[inline(always)]
    pub fn push<L: Lanes>(&self, l: L, x: &[L::Four; 3], s: &mut [Motion]) {
        for side in 0..2 {
            let G = &self.G[side];
            let mut step = [[0.0; 4]; 6];
            for i in 0..6 {
                let mut sum = l.mul(l.load(&G[i]), x[0]);
                for k in 1..3 {
                    sum = l.add(sum, l.mul(l.load(&G[6 * k + i]), x[k]));
                }
                step[i] = l.store(sum);
            }
            for lane in 0..4 {
                let own = &mut s[self.sides[side][lane] as usize];
                for i in 0..6 {
                    own[i] += step[i][lane];
                }
            }
        }
    }
}
