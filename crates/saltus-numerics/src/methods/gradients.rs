//! Conjugate gradients for the matrix of a pair `(M, H)` with compliant contacts, without its factors.
//!
//! ```text
//! A v = b,     A = M + H (ρ D)⁻¹ Hᵀ                                                          (1)
//! ```
//!
//! Factors of `A` for bodies in space fill in faster than their number grows; a product with `A`
//! costs one with `H` and one with `Hᵀ`. The blocks of `A` on its diagonal, one a body, precondition:
//! since `ρ D` is of the size of `Hᵀ M⁻¹ H`, the number of iterations hardly depends on that of bodies.
//! Reference: Saad, *Iterative Methods for Sparse Linear Systems*, 2003, ch. 9.

use crate::Global;
use saltus_linalg::{BlockDiagonal, Sparse, vector::dot};

/// Most iterations of a solution.
const MOST: usize = 300;

/// The preconditioner of (1) for one `ρ`, and buffers.
#[derive(Debug, Default)]
pub(super) struct Gradients {
    inverse: Option<BlockDiagonal>,
    compliance: Vec<f64>, // (ρ D)⁻¹
    force: Vec<f64>,      // (ρ D)⁻¹ Hᵀ p
    r: Vec<f64>,
    y: Vec<f64>, // preconditioned r
    p: Vec<f64>,
    Ap: Vec<f64>,
}

impl Gradients {
    /// Prepares for this `ρ`; false where a block is singular, or the mass does not consist of blocks.
    pub fn prepare(&mut self, global: &Global, d: &[f64], rho: f64) -> bool {
        self.compliance.clear();
        self.compliance.extend(d.iter().map(|d| 1.0 / (rho * d)));
        let n = global.velocities();
        self.force.resize(d.len(), 0.0);
        for buffer in [&mut self.r, &mut self.y, &mut self.p, &mut self.Ap] {
            buffer.resize(n, 0.0);
        }
        self.inverse = self.blocks(global);
        self.inverse.is_some()
    }

    /// The inverse of the blocks of `A`.
    fn blocks(&self, global: &Global) -> Option<BlockDiagonal> {
        let mut triplets = Vec::with_capacity(6 * global.velocities());
        let mut longest = 1;
        for range in global.inverse_blocks()?.ranges() {
            longest = longest.max(range.len());
            for i in range.clone() {
                for j in range.clone() {
                    triplets.push((i, j, global.mass().get(i, j) + self.product(global.H(), i, j)));
                }
            }
        }
        let n = global.velocities();
        BlockDiagonal::inverse_of(&Sparse::from_triplets(n, n, &triplets), longest)?.ok()
    }

    /// Entry `(i, j)` of `H (ρ D)⁻¹ Hᵀ`.
    fn product(&self, H: &Sparse, i: usize, j: usize) -> f64 {
        let (mut a, mut b, mut sum) = (H.row(i), H.row(j), 0.0);
        while let ([x, rest_a @ ..], [y, rest_b @ ..]) = (a, b) {
            if x.col == y.col {
                sum += x.value * y.value * self.compliance[x.col];
            }
            if x.col <= y.col {
                a = rest_a;
            }
            if y.col <= x.col {
                b = rest_b;
            }
        }
        sum
    }

    /// `A p`.
    fn apply(&mut self, global: &Global) {
        let products = global.transposed().products(&self.p);
        for ((force, compliance), product) in
            self.force.iter_mut().zip(&self.compliance).zip(products)
        {
            *force = compliance * product;
        }
        let inertia = global.mass().products(&self.p);
        for ((out, inertia), force) in
            self.Ap.iter_mut().zip(inertia).zip(global.H().products(&self.force))
        {
            *out = inertia + force;
        }
    }

    /// Improves the guess in `v` until its defect is this share of what it was.
    pub fn solve(&mut self, global: &Global, b: &[f64], v: &mut [f64], share: f64) {
        self.p.copy_from_slice(v);
        self.apply(global);
        for i in 0..v.len() {
            self.r[i] = b[i] - self.Ap[i];
        }
        self.precondition();
        self.p.copy_from_slice(&self.y);
        let mut size = dot(&self.r, &self.y); // ‖r‖² in the norm of the preconditioner
        let enough = share * share * size;
        for _ in 0..MOST {
            if !(size > enough) {
                return;
            }
            self.apply(global);
            let alpha = size / dot(&self.p, &self.Ap);
            if !(alpha > 0.0 && alpha.is_finite()) {
                return;
            }
            for i in 0..v.len() {
                v[i] += alpha * self.p[i];
                self.r[i] -= alpha * self.Ap[i];
            }
            self.precondition();
            let next = dot(&self.r, &self.y);
            let beta = next / size;
            for i in 0..v.len() {
                self.p[i] = self.y[i] + beta * self.p[i];
            }
            size = next;
        }
    }

    fn precondition(&mut self) {
        self.y.copy_from_slice(&self.r);
        if let Some(inverse) = &self.inverse {
            inverse.apply_in_place(&mut self.y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::packing;

    #[test]
    fn the_answer_solves_the_equation() {
        let generated = packing(60, 3.0, 0.5, 4).unwrap();
        let global = generated.problem.global().unwrap();
        let (n, rho) = (global.velocities(), 0.1);
        let d: Vec<f64> = (0..global.size()).map(|j| 1.0 + 0.1 * (j % 7) as f64).collect();
        let b: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let mut gradients = Gradients::default();
        assert!(gradients.prepare(global, &d, rho));
        let mut v = vec![0.0; n];
        gradients.solve(global, &b, &mut v, 1e-12);
        // A v, by hand
        let mut force = vec![0.0; global.size()];
        global.transposed().apply(&v, &mut force);
        force.iter_mut().zip(&d).for_each(|(f, d)| *f /= rho * d);
        for i in 0..n {
            let product = global.mass().row_dot(i, &v) + global.H().row_dot(i, &force);
            assert!((product - b[i]).abs() < 1e-9, "{i}");
        }
    }
}
