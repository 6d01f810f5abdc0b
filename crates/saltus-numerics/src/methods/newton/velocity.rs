//! The step of Newton's method in the velocities of a pair `(M, H)`.
//!
//! With `M dv = H d` and `dw = Hᵀ dv`, the forces leave the system of the step block by block:
//!
//! ```text
//! C = ∂f/∂z + α S ∂f/∂w
//! (M + H C⁻¹ ∂f/∂w Hᵀ) dv = −H C⁻¹ f,      d = −C⁻¹ (f + ∂f/∂w Hᵀ dv)                     (1)
//! ```
//!
//! which has as many unknowns as there are velocities, fewer than forces where bodies touch at
//! many points, and is as sparse as the bodies' neighbourhood. It needs `α > 0`.

use crate::Global;
use crate::blocks::Blocks;
use crate::sets::eliminate;
use saltus_linalg::{Sparse, SparseFactor};

/// The matrix of (1), its factors, and how the blocks enter it.
#[derive(Debug)]
pub(super) struct Velocity {
    factor: SparseFactor,
    mass: Vec<f64>, // M in the pattern of the matrix
    values: Vec<f64>,
    contacts: Vec<Contact>,
    place: Vec<usize>, // of each pair of rows of a contact in `values`
    rows: Vec<usize>,
    H: Vec<f64>, // the rows of H that a contact touches, row by row
    dv: Vec<f64>,
}

/// Where the data of a block begin.
#[derive(Debug, Clone, Copy)]
struct Contact {
    rows: usize,
    count: usize,
    place: usize,
    H: usize,
}

impl Velocity {
    /// The pattern and its analysis.
    pub fn new(global: &Global, blocks: &Blocks) -> Velocity {
        let n = global.velocities();
        let (mut contacts, mut rows, mut H) = (Vec::new(), Vec::new(), Vec::new());
        let mut triplets: Vec<(usize, usize, f64)> = global.mass().iter().collect();
        let mut touched: Vec<usize> = Vec::new();
        for k in 0..blocks.len() {
            let range = blocks.matrix.range(k);
            touched.clear();
            for j in range.clone() {
                touched.extend(global.transposed().row(j).iter().map(|entry| entry.col));
            }
            touched.sort_unstable();
            touched.dedup();
            contacts.push(Contact { rows: rows.len(), count: touched.len(), place: 0, H: H.len() });
            for &i in &touched {
                H.extend(range.clone().map(|j| global.transposed().get(j, i)));
                triplets.extend(touched.iter().map(|&j| (i, j, 0.0)));
            }
            rows.extend_from_slice(&touched);
        }
        let pattern = Sparse::from_triplets(n, n, &triplets);
        let mut first = vec![0; n + 1];
        for i in 0..n {
            first[i + 1] = first[i] + pattern.row(i).len();
        }
        let find =
            |i: usize, j: usize| first[i] + pattern.row(i).partition_point(|entry| entry.col < j);
        let mut place = Vec::new();
        for contact in &mut contacts {
            contact.place = place.len();
            let rows = &rows[contact.rows..contact.rows + contact.count];
            for &i in rows {
                place.extend(rows.iter().map(|&j| find(i, j)));
            }
        }
        let mass: Vec<f64> = pattern.entries().iter().map(|entry| entry.value).collect();
        let values = mass.clone();
        let factor = SparseFactor::with_symmetry(&pattern, false);
        Velocity { factor, mass, values, contacts, place, rows, H, dv: vec![0.0; n] }
    }

    /// Equation (1): `d` comes in as `−f` and goes out as the step; false if it has none.
    pub fn solve(
        &mut self,
        blocks: &Blocks,
        alpha: f64,
        size: &[f64],
        (dz, dw, at): (&[f64], &[f64], &[usize]),
        d: &mut [f64],
    ) -> bool {
        self.values.copy_from_slice(&self.mass);
        self.dv.fill(0.0);
        let mut scratch = Scratch::default();
        for k in 0..blocks.len() {
            let range = blocks.matrix.range(k);
            let n = range.len();
            let (dz, dw) = (&dz[at[k]..at[k + 1]], &dw[at[k]..at[k + 1]]);
            if !scratch.invert(n, alpha * size[k], dz, dw) {
                return false;
            }
            let Contact { rows, count, place, H } = self.contacts[k];
            let (rows, H) = (&self.rows[rows..rows + count], &self.H[H..H + count * n]);
            // H_c D, and −H_c C⁻¹ f
            for (a, &i) in rows.iter().enumerate() {
                let row = &H[a * n..(a + 1) * n];
                for j in 0..n {
                    scratch.row[j] = (0..n).map(|l| row[l] * scratch.D[l * n + j]).sum();
                    self.dv[i] += (0..n).map(|l| row[l] * scratch.inverse[l * n + j]).sum::<f64>()
                        * d[range.start + j];
                }
                let places = &self.place[place + a * count..place + (a + 1) * count];
                for (b, &at) in places.iter().enumerate() {
                    let other = &H[b * n..(b + 1) * n];
                    self.values[at] += (0..n).map(|l| scratch.row[l] * other[l]).sum::<f64>();
                }
            }
        }
        let values = &self.values;
        if self.factor.factor_with(|k| values[k], |_| 0.0).is_err() {
            return false;
        }
        self.factor.solve(&mut self.dv);
        for k in 0..blocks.len() {
            let range = blocks.matrix.range(k);
            let n = range.len();
            let (dz, dw) = (&dz[at[k]..at[k + 1]], &dw[at[k]..at[k + 1]]);
            scratch.invert(n, alpha * size[k], dz, dw);
            let Contact { rows, count, H, .. } = self.contacts[k];
            let (rows, H) = (&self.rows[rows..rows + count], &self.H[H..H + count * n]);
            scratch.row[..n].fill(0.0);
            for (a, &i) in rows.iter().enumerate() {
                for j in 0..n {
                    scratch.row[j] += H[a * n + j] * self.dv[i];
                }
            }
            let d = &mut d[range];
            for i in 0..n {
                scratch.step[i] = (0..n)
                    .map(|j| {
                        scratch.inverse[i * n + j] * d[j] - scratch.D[i * n + j] * scratch.row[j]
                    })
                    .sum();
            }
            d.copy_from_slice(&scratch.step[..n]);
        }
        d.iter().all(|d| d.is_finite())
    }
}

/// Buffers of one block, up to the longest.
#[derive(Default)]
struct Scratch {
    inverse: Vec<f64>, // C⁻¹
    D: Vec<f64>,       // C⁻¹ ∂f/∂w
    C: Vec<f64>,
    row: Vec<f64>,
    step: Vec<f64>,
}

impl Scratch {
    fn invert(&mut self, n: usize, shift: f64, dz: &[f64], dw: &[f64]) -> bool {
        for buffer in [&mut self.inverse, &mut self.D, &mut self.C] {
            buffer.resize(n * n, 0.0);
        }
        for buffer in [&mut self.row, &mut self.step] {
            buffer.resize(n, 0.0);
        }
        for j in 0..n {
            for i in 0..n * n {
                self.C[i] = dz[i] + shift * dw[i];
            }
            self.step[..n].fill(0.0);
            self.step[j] = 1.0;
            if !eliminate(&mut self.C[..n * n], &mut self.step[..n], n) {
                return false;
            }
            for i in 0..n {
                self.inverse[i * n + j] = self.step[i];
            }
        }
        for i in 0..n {
            for j in 0..n {
                self.D[i * n + j] = (0..n).map(|l| self.inverse[i * n + l] * dw[l * n + j]).sum();
            }
        }
        true
    }
}
