//! The factors `W_BB = L U` of the last mode, for matrices too large for a cache of many.

use crate::Problem;
use crate::mode::Side;
use saltus_linalg::{DenseLu, MaskedFactor, Matrix, Sparse, vector};

/// The factors of the last mode of one matrix.
#[derive(Debug)]
pub(super) struct LastMode<F> {
    factors: F,
    valid: bool,
    pub basic: Vec<bool>,
    indices: Vec<usize>,
    right: Vec<f64>,
}

impl<F> LastMode<F> {
    pub fn new(n: usize, factors: F) -> Self {
        let (basic, indices) = (vec![false; n], Vec::with_capacity(n));
        LastMode { factors, valid: false, basic, indices, right: vec![0.0; n] }
    }

    pub fn clear(&mut self) {
        self.valid = false;
    }

    /// Whether the factors are those of this mode; takes note of it if not.
    fn is_current(&mut self, mode: &[Side]) -> bool {
        let same = self.valid
            && self.basic.iter().zip(mode).all(|(&basic, &side)| basic == (side == Side::Basic));
        if !same {
            self.valid = false;
            self.indices.clear();
            for (i, &side) in mode.iter().enumerate() {
                self.basic[i] = side == Side::Basic;
                if self.basic[i] {
                    self.indices.push(i);
                }
            }
        }
        same
    }
}

impl LastMode<DenseLu> {
    pub fn solve(&mut self, W: &Matrix, problem: &Problem, mode: &[Side], z: &mut [f64]) -> bool {
        if !self.is_current(mode) {
            let indices = &self.indices;
            let entry = |i: usize, j: usize| W[(indices[i], indices[j])];
            self.valid = self.factors.factor_with(indices.len(), entry).is_ok();
        }
        if self.valid {
            let right = &mut self.right[..self.indices.len()];
            for (right, &i) in right.iter_mut().zip(&self.indices) {
                *right = -problem.q()[i] - vector::dot(W.row(i), z);
            }
            self.factors.solve(right);
            for (&i, &right) in self.indices.iter().zip(right.iter()) {
                z[i] += right;
            }
        }
        self.valid
    }
}

impl LastMode<MaskedFactor> {
    pub fn solve(&mut self, W: &Sparse, problem: &Problem, mode: &[Side], z: &mut [f64]) -> bool {
        if !self.is_current(mode) {
            let basic = &self.basic;
            self.valid = self.factors.factor(W, |i| basic[i]).is_ok();
        }
        if self.valid {
            for (((right, q), product), basic) in
                self.right.iter_mut().zip(problem.q()).zip(W.products(z)).zip(&self.basic)
            {
                *right = if *basic { -q - product } else { 0.0 };
            }
            self.factors.solve(&mut self.right);
            for &i in &self.indices {
                z[i] += self.right[i];
            }
        }
        self.valid
    }
}
