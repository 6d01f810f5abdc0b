//! The pair `(M, H)` of a mechanical system: `W = Hᵀ M⁻¹ H` that is never multiplied out.
//!
//! ```text
//! M v = f + H z,      w = Hᵀ v + q                                                        (1)
//! ```
//!
//! `M` is the mass, `H` maps the forces `z` of the contacts to generalized ones, `f` is momentum
//! and impulse of the given forces, `v` the velocity. A mass that consists of small blocks on the
//! diagonal (rigid bodies) is inverted block by block; any other is factored once.

use crate::NumericsError;
use crate::operator::{largest, not_finite_in};
use saltus_linalg::{BlockDiagonal, DenseLu, Sparse, SparseFactor};
use std::sync::{Arc, Mutex};

/// The mass, the map of the forces, and the given momentum, with the mass factored.
#[derive(Debug, Clone)]
pub struct Global {
    mass: Sparse,
    H: Sparse,
    transposed: Sparse, // Hᵀ
    f: Vec<f64>,
    inverse: Inverse,
    free: Vec<f64>, // Hᵀ M⁻¹ f
    largest: f64,
}

#[derive(Debug, Clone)]
enum Inverse {
    Blocks(BlockDiagonal),
    Factor(Arc<Mutex<SparseFactor>>), // solving needs scratch memory
}

impl PartialEq for Global {
    fn eq(&self, other: &Self) -> bool {
        self.mass == other.mass && self.H == other.H && self.f == other.f
    }
}

/// A row of a singular matrix that depends on those before it: where elimination by rows finds no
/// pivot. A row of zeros for matrices that are too large to look at so.
fn dependent_row(mass: &Sparse) -> usize {
    let n = mass.rows();
    let of_zeros = (0..n).find(|&i| mass.row(i).iter().all(|entry| entry.value == 0.0));
    if let Some(row) = of_zeros {
        return row;
    }
    let mut factors = DenseLu::default();
    match n <= 2000 {
        true => factors.factor_with(n, |i, j| mass.get(j, i)).err().map_or(0, |e| e.column),
        false => 0,
    }
}

/// Largest block of a mass that is inverted.
const LARGEST: usize = 12;

impl Global {
    /// The pair, with the mass factored. `mass` is n × n, `H` n × m, `f` has n components.
    pub fn new(mass: Sparse, H: Sparse, f: Vec<f64>) -> Result<Global, NumericsError> {
        let n = f.len();
        if (mass.rows(), mass.cols()) != (n, n) {
            let (expected, found) = ((n, n), (mass.rows(), mass.cols()));
            return Err(NumericsError::Shape { what: "M", expected, found });
        }
        if H.rows() != n {
            let (expected, found) = ((n, H.cols()), (H.rows(), H.cols()));
            return Err(NumericsError::Shape { what: "H", expected, found });
        }
        for (what, matrix) in [("M", &mass), ("H", &H)] {
            if !largest(matrix).is_finite() {
                return Err(not_finite_in(what, &matrix.clone().into()));
            }
        }
        if let Some(i) = f.iter().position(|x| !x.is_finite()) {
            return Err(NumericsError::NotFinite { what: "f", at: vec![i], value: f[i] });
        }
        let inverse = match BlockDiagonal::inverse_of(&mass, LARGEST) {
            Some(Ok(blocks)) => Inverse::Blocks(blocks),
            Some(Err(singular)) => return Err(NumericsError::Mass { row: singular.column }),
            None => {
                let mut factor = SparseFactor::new(&mass);
                factor
                    .factor(&mass)
                    .map_err(|singular| NumericsError::Mass { row: singular.column })?;
                Inverse::Factor(Arc::new(Mutex::new(factor)))
            }
        };
        let transposed = H.transpose();
        let largest = largest(&H);
        let mut global = Global { mass, H, transposed, f, inverse, free: Vec::new(), largest };
        let mut free = vec![0.0; global.size()];
        global.apply(&vec![0.0; global.size()], &mut free);
        if !free.iter().all(|x| x.is_finite()) {
            return Err(NumericsError::Mass { row: dependent_row(&global.mass) });
        }
        global.free = free;
        Ok(global)
    }

    /// Number of unknowns `z`.
    pub fn size(&self) -> usize {
        self.H.cols()
    }

    /// Number of velocities.
    pub fn velocities(&self) -> usize {
        self.f.len()
    }

    /// `M`.
    pub fn mass(&self) -> &Sparse {
        &self.mass
    }

    /// `H`.
    pub fn H(&self) -> &Sparse {
        &self.H
    }

    /// `Hᵀ`.
    pub fn transposed(&self) -> &Sparse {
        &self.transposed
    }

    /// `f`.
    pub fn f(&self) -> &[f64] {
        &self.f
    }

    /// `Hᵀ M⁻¹ f`, what `w − q` is without forces.
    pub fn free(&self) -> &[f64] {
        &self.free
    }

    /// `M⁻¹` where `M` consists of small blocks on the diagonal.
    pub fn inverse_blocks(&self) -> Option<&BlockDiagonal> {
        match &self.inverse {
            Inverse::Blocks(blocks) => Some(blocks),
            Inverse::Factor(_) => None,
        }
    }

    /// `x ← M⁻¹ x`.
    pub fn solve_mass(&self, x: &mut [f64]) {
        match &self.inverse {
            Inverse::Blocks(blocks) => blocks.apply_in_place(x),
            Inverse::Factor(factor) => {
                // a panic elsewhere leaves nothing half done: the factors do not change
                factor.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).solve(x);
            }
        }
    }

    /// `v ← M⁻¹ (f + H z)`, with one step of refinement where `M` was factored.
    pub fn velocity(&self, z: &[f64], v: &mut [f64]) {
        let Hz: Vec<f64> = self.H.products(z).collect();
        self.velocity_of(&Hz, v);
    }

    /// The same for a known `H z`.
    pub(crate) fn velocity_of(&self, Hz: &[f64], v: &mut [f64]) {
        let momentum = |i: usize| self.f[i] + Hz[i];
        for (i, v) in v.iter_mut().enumerate() {
            *v = momentum(i);
        }
        self.solve_mass(v);
        if let Inverse::Factor(_) = self.inverse {
            let mut defect: Vec<f64> =
                (0..v.len()).map(|i| momentum(i) - self.mass.row_dot(i, v)).collect();
            self.solve_mass(&mut defect);
            v.iter_mut().zip(&defect).for_each(|(v, d)| *v += d);
        }
    }

    /// `w ← Hᵀ M⁻¹ (f + H z)`.
    pub fn apply(&self, z: &[f64], w: &mut [f64]) {
        let mut v = vec![0.0; self.f.len()];
        self.velocity(z, &mut v);
        self.transposed.apply(&v, w);
    }

    /// `Hᵀ M⁻¹ H`, multiplied out.
    pub fn condense(&self) -> Sparse {
        match &self.inverse {
            Inverse::Blocks(blocks) => self.transposed.mul(&blocks.to_sparse().mul(&self.H)),
            Inverse::Factor(_) => {
                let m = self.size();
                let mut triplets = Vec::new();
                let mut column = vec![0.0; self.f.len()];
                for j in 0..m {
                    column.fill(0.0);
                    for entry in self.transposed.row(j) {
                        column[entry.col] = entry.value;
                    }
                    self.solve_mass(&mut column);
                    for i in 0..m {
                        let value = self.transposed.row_dot(i, &column);
                        if value != 0.0 {
                            triplets.push((i, j, value));
                        }
                    }
                }
                Sparse::from_triplets(m, m, &triplets)
            }
        }
    }

    pub(crate) fn largest(&self) -> f64 {
        self.largest
    }
}
