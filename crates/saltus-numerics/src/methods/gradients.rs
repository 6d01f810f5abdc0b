//! Conjugate gradients for bodies with compliant contacts, without the factors of their matrix.
//!
//! In units of the masses, with `K` of [`Columns`]:
//!
//! ```text
//! A u = b,     A = 1 + K C Kᵀ,     C = (ρ D)⁻¹                                                (1)
//! ```
//!
//! Factors of `A` for bodies in space fill in faster than their number grows. Symmetric sweeps over the
//! bodies precondition (see [`Stiffness`]): since `ρ D` is of the size of `Kᵀ K`, the number of iterations
//! hardly depends on that of bodies. The unknowns are `x = Sᵀ Rᵀ u`.
//! Reference: Saad, *Iterative Methods for Sparse Linear Systems*, 2003, ch. 9.

use super::bodies::{Columns, Stiffness, of_masses};
use crate::Problem;
use saltus_linalg::vector::dot;

/// Most iterations of a solution.
const MOST: usize = 300;

/// The matrix of (1), its sweeps for one `ρ`, and buffers.
#[derive(Debug)]
pub(super) struct Gradients {
    columns: Columns,
    stiffness: Stiffness,
    C: Vec<f64>,
    x: Vec<f64>,
    r: Vec<f64>,
    p: Vec<f64>,
    t: Vec<f64>,
    Ap: Vec<f64>,
}

impl Gradients {
    /// For the bodies of a problem; `None` where it has none, or their mass is not symmetric and positive.
    pub fn new(problem: &Problem) -> Option<Gradients> {
        let mut start = vec![0];
        problem.for_each_block(|first, _, size| start.push(first + size));
        let columns = Columns::new(of_masses(problem)?, start)?;
        let stiffness = Stiffness::new(&columns);
        let zeros = || vec![0.0; columns.free().len()];
        let (x, r, p, t, Ap) = (zeros(), zeros(), zeros(), zeros(), zeros());
        Some(Gradients { columns, stiffness, C: Vec::new(), x, r, p, t, Ap })
    }

    /// Prepares for this `ρ`; false where a block of `A` on its diagonal is not positive.
    pub fn prepare(&mut self, d: &[f64], rho: f64) -> bool {
        // the last velocities, in the variables of the new matrix
        let known = self.x.iter().any(|&x| x != 0.0);
        if known {
            self.stiffness.sweep_back(&mut self.x);
            self.stiffness.unscale(&mut self.x);
        }
        self.C.clear();
        self.C.extend(d.iter().map(|d| 1.0 / (rho * d)));
        let filled = self.stiffness.fill(&self.columns, &self.C);
        match filled {
            true if known => self.stiffness.lift(&mut self.x),
            true => {}
            false => self.forget(),
        }
        filled
    }

    /// Forgets the last answer, from which the next would begin.
    pub fn forget(&mut self) {
        self.x.fill(0.0);
    }

    /// `z ← z − C Kᵀ u` for the `u` of `A u = Lᵀ f + K z`, whose defect is made this share of what it is
    /// at the last `u`.
    pub fn relax(&mut self, z: &mut [f64], share: f64) {
        self.r.copy_from_slice(self.columns.free());
        self.columns.push(z, &mut self.r);
        self.stiffness.scale(&mut self.r);
        self.solve(share);
        self.t.copy_from_slice(&self.x);
        self.stiffness.sweep_back(&mut self.t);
        self.stiffness.unscale(&mut self.t);
        self.columns.pull(&self.C, &self.t, z);
    }

    /// Improves `x` until its defect, for the right-hand side in `r`, is this share of what it was.
    fn solve(&mut self, share: f64) {
        let Gradients { stiffness, x, r, p, t, Ap, .. } = self;
        // r ← S⁻¹ (r − x + t) − t, t = S⁻ᵀ x
        t.copy_from_slice(x);
        stiffness.sweep_back(t);
        for i in 0..x.len() {
            r[i] += t[i] - x[i];
        }
        stiffness.sweep(r);
        for i in 0..x.len() {
            r[i] -= t[i];
        }
        p.copy_from_slice(r);
        let mut size = dot(r, r);
        let enough = share * share * size;
        for _ in 0..MOST {
            if !(size > enough) {
                return;
            }
            t.copy_from_slice(p);
            stiffness.sweep_back(t);
            for i in 0..p.len() {
                Ap[i] = p[i] - t[i];
            }
            stiffness.sweep(Ap);
            for i in 0..p.len() {
                Ap[i] += t[i];
            }
            let alpha = size / dot(p, Ap);
            if !(alpha > 0.0 && alpha.is_finite()) {
                return;
            }
            for i in 0..x.len() {
                x[i] += alpha * p[i];
                r[i] -= alpha * Ap[i];
            }
            let next = dot(r, r);
            let beta = next / size;
            for i in 0..p.len() {
                p[i] = r[i] + beta * p[i];
            }
            size = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Random, packing};
    use crate::{Block, Global, Set};
    use saltus_linalg::Sparse;

    /// The velocities of the relaxed forces are those of `(M + H C Hᵀ) v = f + H z`: `C Hᵀ v` is what was
    /// taken from `z`.
    fn check(problem: &Problem) {
        let global = problem.global().unwrap();
        let (m, rho) = (global.size(), 0.1);
        let d: Vec<f64> = (0..m).map(|j| 1.0 + 0.1 * (j % 7) as f64).collect();
        let z: Vec<f64> = (0..m).map(|i| (i as f64).sin()).collect();
        let mut gradients = Gradients::new(problem).unwrap();
        assert!(gradients.prepare(&d, rho));
        let mut relaxed = z.clone();
        gradients.relax(&mut relaxed, 1e-12);
        let (mut v, mut w) = (vec![0.0; global.velocities()], vec![0.0; m]);
        global.velocity(&relaxed, &mut v);
        global.transposed().apply(&v, &mut w);
        for i in 0..m {
            assert!((z[i] - w[i] / (rho * d[i]) - relaxed[i]).abs() < 1e-9, "{i}");
        }
        // another ρ begins at the same velocities: these are the answer for what then stands for z
        let next = 3.0 * rho;
        assert!(gradients.prepare(&d, next));
        let mut other: Vec<f64> = (0..m).map(|i| relaxed[i] + w[i] / (next * d[i])).collect();
        gradients.relax(&mut other, 1.0);
        for i in 0..m {
            assert!((other[i] - relaxed[i]).abs() < 1e-8, "{i}");
        }
    }

    #[test]
    fn the_answer_solves_the_equation() {
        check(&packing(60, 3.0, 0.5, 4).unwrap().problem);
    }

    /// Points and bodies of two, three and six velocities, blocks of one to three of them.
    #[test]
    fn bodies_of_any_kind() {
        let mut random = Random::new(8);
        for (size, bodies) in [(1, 5), (2, 4), (3, 3), (6, 4)] {
            let n = size * bodies;
            let mass: Vec<_> = (0..n).map(|i| (i, i, random.between(0.5, 2.0))).collect();
            let (mut entries, unknowns) = (Vec::new(), 2 * 6);
            for block in 0..6 {
                for touched in 0..=block % 3 {
                    let body = (block + 2 * touched) % bodies;
                    for (i, j) in (0..size).flat_map(|i| (0..2).map(move |j| (i, j))) {
                        let entry = random.between(-1.0, 1.0);
                        entries.push((size * body + i, 2 * block + j, entry));
                    }
                }
            }
            let (mass, H) =
                (Sparse::from_triplets(n, n, &mass), Sparse::from_triplets(n, unknowns, &entries));
            let pair = Global::new(mass, H, vec![0.3; n]).unwrap();
            let blocks = vec![Block { size: 2, set: Set::Coulomb2 { mu: 0.5 } }; 6];
            check(&Problem::new(pair, vec![0.0; unknowns], &blocks).unwrap());
        }
    }
}
