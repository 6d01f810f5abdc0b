//! The matrix of a step of Newton's method, block by block:
//!
//! ```text
//! ∂f/∂z + ∂f/∂w (W + α S)                                                                  (1)
//! ```

use crate::blocks::Blocks;

/// The matrix (1).
pub(crate) struct Rows<'a> {
    pub blocks: &'a Blocks,
    pub size: &'a [f64],
    pub dz: &'a [f64],
    pub dw: &'a [f64],
    pub at: &'a [usize],
    pub alpha: f64,
}

impl Rows<'_> {
    /// Visits its entries row by row, in the order of the pattern of `W`.
    pub fn for_each(&self, mut visit: impl FnMut(usize, usize, f64)) {
        for k in 0..self.blocks.len() {
            let range = self.blocks.matrix.range(k);
            let n = range.len();
            let (dz, dw) = (&self.dz[self.at[k]..], &self.dw[self.at[k]..]);
            let own = self.blocks.matrix.diagonal(k);
            let shift = self.alpha * self.size[k];
            for i in 0..n {
                let a = &dw[i * n..(i + 1) * n];
                self.blocks.matrix.for_each_in_row(k, |col, width, block| {
                    let block = block.unwrap_or(own);
                    for j in 0..width {
                        let mut value: f64 = (0..n).map(|l| a[l] * block[l * width + j]).sum();
                        if col == range.start {
                            value += dz[i * n + j] + shift * a[j];
                        }
                        visit(range.start + i, col + j, value);
                    }
                });
            }
        }
    }
}
