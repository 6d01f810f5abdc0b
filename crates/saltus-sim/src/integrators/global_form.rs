//! The problem of an iteration with the pair `(W, H)` in place of their product.
//!
//! ```text
//! W (ξ⁺ − ξ) = −ρ + Hᵀ (λ⁺ − λ),    w⁺ = H ξ⁺ + …                                     (1)
//! ```
//!
//! `W` is the iteration matrix, `ρ` the residual with the mass `M`: where the iteration ends, `M`
//! is what stands in the balance, as in the reduced form. Only relations with `B = Cᵀ` and without
//! compliance have this form.

use super::newton::{Link, SystemBlock};
use saltus_linalg::{Matrix, Sparse};
use saltus_numerics::{Global, NumericsError};

/// What the last pair was made of.
#[derive(Debug)]
pub(super) struct GlobalForm {
    states: usize,
    outputs: usize,
    W: Vec<Matrix>,
    H: Vec<Matrix>, // of each link
    impulse: Vec<f64>,
}

impl GlobalForm {
    pub fn new(states: usize, outputs: usize) -> GlobalForm {
        let impulse = vec![0.0; states];
        GlobalForm { states, outputs, W: Vec::new(), H: Vec::new(), impulse }
    }

    /// A pair of the right size, before anything is known.
    pub fn empty(&self) -> Result<Global, NumericsError> {
        let mass: Vec<_> = (0..self.states).map(|i| (i, i, 1.0)).collect();
        let mass = Sparse::from_triplets(self.states, self.states, &mass);
        let H = Sparse::from_triplets(self.states, self.outputs, &[]);
        Global::new(mass, H, vec![0.0; self.states])
    }

    /// The pair at this iterate; nothing where it is the last one.
    pub fn pair(
        &mut self,
        systems: &[SystemBlock],
        links: &[Link],
    ) -> Result<Option<Global>, NumericsError> {
        let same = self.W.iter().eq(systems.iter().map(|system| &system.W))
            && self.H.iter().eq(links.iter().map(|link| &link.C));
        if same {
            return Ok(None);
        }
        self.W.clear();
        self.W.extend(systems.iter().map(|system| system.W.clone()));
        self.H.clear();
        self.H.extend(links.iter().map(|link| link.C.clone()));
        let (mut mass, mut H) = (Vec::new(), Vec::new());
        for SystemBlock { W, range, .. } in systems {
            for (i, row) in range.clone().enumerate() {
                let entries = range.clone().zip(W.row(i)).filter(|(_, value)| **value != 0.0);
                mass.extend(entries.map(|(column, value)| (row, column, *value)));
            }
        }
        for Link { C, range, rows, .. } in links {
            for (i, row) in rows.clone().enumerate() {
                let entries = range.clone().zip(C.row(i)).filter(|(_, value)| **value != 0.0);
                H.extend(entries.map(|(state, value)| (state, row, *value)));
            }
        }
        let mass = Sparse::from_triplets(self.states, self.states, &mass);
        let H = Sparse::from_triplets(self.states, self.outputs, &H);
        Global::new(mass, H, vec![0.0; self.states]).map(Some)
    }

    /// `ξ ← ξ + W⁻¹ Hᵀ (λ⁺ − λ)`.
    pub fn push(
        &mut self,
        systems: &mut [SystemBlock],
        links: &[Link],
        change: impl Fn(usize) -> f64,
        xi: &mut [f64],
    ) {
        self.impulse.fill(0.0);
        for link in links.iter().filter(|link| link.on) {
            for (i, row) in link.rows.clone().enumerate() {
                let (change, impulse) = (change(row), &mut self.impulse[link.range.clone()]);
                impulse.iter_mut().zip(link.Bt.row(i)).for_each(|(p, B)| *p += B * change);
            }
        }
        for system in systems {
            let impulse = &mut self.impulse[system.range.clone()];
            system.lu.solve(impulse);
            xi[system.range.clone()].iter_mut().zip(impulse).for_each(|(x, change)| *x += *change);
        }
    }

    /// Diagonal entry of `H W⁻¹ Hᵀ`.
    pub fn diagonal(&mut self, systems: &mut [SystemBlock], links: &[Link], row: usize) -> f64 {
        let mut sum = 0.0;
        for link in links.iter().filter(|link| link.rows.contains(&row)) {
            let i = row - link.rows.start;
            let column = &mut self.impulse[link.range.clone()];
            column.copy_from_slice(link.Bt.row(i));
            systems[link.system].lu.solve(column);
            sum += saltus_linalg::vector::dot(link.C.row(i), column);
        }
        sum
    }
}
