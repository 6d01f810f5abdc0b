//! Problems of any size with known answers, for tests and benches.
//!
//! Each is built backwards: a pair `(z, w)` that obeys the laws is drawn first, and the data
//! follow from it,
//!
//! ```text
//! q = w − W z            or            f = M v − H z,   q = w − Hᵀ v                        (1)
//! ```
//!
//! or it is a structure at rest, whose forces statics tells. The same arguments give the same
//! bits on every machine.
//!
//! | generator | problem |
//! | --- | --- |
//! | [`packing`], [`Packing`] | grains or stacked boxes in contact, by contacts per degree of freedom |
//! | [`heap`], [`Heap`] | bodies in a bin under their weight, with no answer known |
//! | [`wall`], [`tower`], [`chain`] | cubes at rest under their weight or a push |
//! | [`fem`] | an elastic body with few contacts: `M` couples all |
//! | [`obstacle`] | a membrane over an obstacle |
//! | [`ladder`] | a ladder of resistors, capacitors and diodes |
//! | [`lcp_p`], [`lcp_psd`], [`lcp_copositive`], [`murty`], [`bimatrix`] | complementarity, by class of the matrix |
//! | [`mixed`] | every set in one problem |

mod circuit;
mod elastic;
mod heap;
mod law;
mod lcp;
mod mixed;
mod packing;
mod statics;

pub use circuit::ladder;
pub use elastic::{fem, obstacle};
pub use heap::{Heap, heap};
pub use lcp::{bimatrix, lcp_copositive, lcp_p, lcp_psd, murty};
pub use mixed::mixed;
pub use packing::{ContactLaw, Packing, packing};
pub use statics::{chain, tower, wall};

use crate::{Block, Global, NumericsError, Operator, Problem};
use saltus_linalg::Sparse;

/// A problem and an answer of it.
#[derive(Debug, Clone)]
pub struct Generated {
    /// The problem.
    pub problem: Problem,
    /// An answer.
    pub z: Vec<f64>,
    /// Its other half, `F(z) + q`.
    pub w: Vec<f64>,
    /// Whether it is known to be the only one.
    pub unique: bool,
}

impl Generated {
    /// From the map and the answer: equation (1), left.
    fn around(
        operator: impl Into<Operator>,
        blocks: &[Block],
        (z, w): (Vec<f64>, Vec<f64>),
        unique: bool,
    ) -> Result<Generated, NumericsError> {
        let operator = operator.into();
        let mut q = vec![0.0; z.len()];
        operator.apply(&z, &mut q);
        q.iter_mut().zip(&w).for_each(|(q, w)| *q = w - *q);
        let problem = Problem::new(operator, q, blocks)?;
        Ok(Generated { problem, z, w, unique })
    }

    /// From mass, map of the forces, velocity and the answer: equation (1), right.
    fn in_motion(
        mass: Sparse,
        H: Sparse,
        v: &[f64],
        blocks: &[Block],
        (z, w): (Vec<f64>, Vec<f64>),
    ) -> Result<Generated, NumericsError> {
        let f = (0..v.len()).map(|i| mass.row_dot(i, v) - H.row_dot(i, &z)).collect();
        let mut q = vec![0.0; z.len()];
        H.transpose().apply(v, &mut q);
        q.iter_mut().zip(&w).for_each(|(q, w)| *q = w - *q);
        let problem = Problem::new(Global::new(mass, H, f)?, q, blocks)?;
        Ok(Generated { problem, z, w, unique: false })
    }

    /// The same with `Hᵀ M⁻¹ H` multiplied out, if the map is the pair `(M, H)`.
    pub fn condensed(&self) -> Option<Generated> {
        let problem = self.problem.condensed()?;
        Some(Generated { problem, z: self.z.clone(), w: self.w.clone(), unique: self.unique })
    }
}

/// A deterministic generator of numbers (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        // seeds that differ little give streams that differ much
        let mut random = Random(seed ^ 0x5a17_u64.rotate_left(40));
        random.bits();
        random
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Uniform in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [a, b).
    pub(crate) fn between(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.unit()
    }

    /// One of 0 … n − 1.
    fn below(&mut self, n: usize) -> usize {
        (self.bits() % n.max(1) as u64) as usize
    }

    /// Components in [−1, 1).
    fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.between(-1.0, 1.0)).collect()
    }
}
