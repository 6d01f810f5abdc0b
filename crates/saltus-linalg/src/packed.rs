//! A dense matrix stored for its product with a vector.
//!
//! ```text
//! y = A x = Σⱼ xⱼ aⱼ                                                                    (1)
//! ```
//!
//! Four rows at a time, column by column, next to each other in memory: the sums (1) of four rows are
//! then independent of each other, and a processor forms several of them at once.

use crate::Matrix;

/// Rows of a strip.
const STRIP: usize = 4;

/// A dense matrix in strips of four rows, the last one filled up with zeros.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Packed {
    rows: usize,
    cols: usize,
    strips: Vec<[f64; STRIP]>, // strip by strip, in each column by column
}

impl From<&Matrix> for Packed {
    fn from(matrix: &Matrix) -> Packed {
        let mut packed = Packed::default();
        packed.fill(matrix.rows(), matrix.cols(), |i, j| matrix[(i, j)]);
        packed
    }
}

impl Packed {
    /// Makes it the matrix with these entries, without memory of its own once it has had enough.
    pub fn fill(&mut self, rows: usize, cols: usize, entry: impl Fn(usize, usize) -> f64) {
        (self.rows, self.cols) = (rows, cols);
        self.strips.clear();
        for first in (0..rows).step_by(STRIP) {
            for j in 0..cols {
                let mut values = [0.0; STRIP];
                for (k, value) in values.iter_mut().enumerate().take(rows - first) {
                    *value = entry(first + k, j);
                }
                self.strips.push(values);
            }
        }
    }

    /// Takes memory for a matrix of this shape.
    pub fn reserve(&mut self, rows: usize, cols: usize) {
        let needed = rows.div_ceil(STRIP) * cols;
        self.strips.reserve(needed.saturating_sub(self.strips.len()));
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// `y ← A x`.
    #[inline]
    pub fn apply(&self, x: &[f64], y: &mut [f64]) {
        if x.is_empty() {
            y.fill(0.0);
        }
        let (fours, rest) = y.as_chunks_mut::<STRIP>();
        let mut strips = self.strips(x);
        for (y, strip) in fours.iter_mut().zip(&mut strips) {
            *y = products(strip, x, [0.0; STRIP]);
        }
        if let Some(strip) = strips.next() {
            rest.copy_from_slice(&products(strip, x, [0.0; STRIP])[..rest.len()]);
        }
    }

    /// `y ← y + A x`.
    #[inline]
    pub fn apply_add(&self, x: &[f64], y: &mut [f64]) {
        let (fours, rest) = y.as_chunks_mut::<STRIP>();
        let mut strips = self.strips(x);
        for (y, strip) in fours.iter_mut().zip(&mut strips) {
            *y = products(strip, x, *y);
        }
        if let Some(strip) = strips.next() {
            let sums = products(strip, x, filled(rest));
            rest.copy_from_slice(&sums[..rest.len()]);
        }
    }

    /// `y ← c + A x`.
    #[inline]
    pub fn apply_plus(&self, c: &[f64], x: &[f64], y: &mut [f64]) {
        if x.is_empty() {
            y.copy_from_slice(c);
        }
        let (fours, rest) = y.as_chunks_mut::<STRIP>();
        let (c_fours, c_rest) = c.as_chunks::<STRIP>();
        let mut strips = self.strips(x);
        for ((y, c), strip) in fours.iter_mut().zip(c_fours).zip(&mut strips) {
            *y = products(strip, x, *c);
        }
        if let Some(strip) = strips.next() {
            let sums = products(strip, x, filled(c_rest));
            rest.copy_from_slice(&sums[..rest.len()]);
        }
    }

    /// `xᵀ A x`.
    pub fn quadratic_form(&self, x: &[f64]) -> f64 {
        let mut form = 0.0;
        for (x_own, strip) in x.chunks(STRIP).zip(self.strips(x)) {
            let sums = products(strip, x, [0.0; STRIP]);
            form += x_own.iter().zip(sums).map(|(x, sum)| x * sum).sum::<f64>();
        }
        form
    }

    /// The strips, each with as many columns as `x` has entries; none where that is none.
    #[inline]
    fn strips(&self, x: &[f64]) -> std::slice::ChunksExact<'_, [f64; STRIP]> {
        assert_eq!(x.len(), self.cols, "columns of a product");
        self.strips.chunks_exact(x.len().max(1))
    }
}

/// Equation (1) for the rows of a strip, added to `sums`.
#[inline]
fn products(strip: &[[f64; STRIP]], x: &[f64], mut sums: [f64; STRIP]) -> [f64; STRIP] {
    let (pairs, last) = strip.as_chunks::<2>();
    let (x_pairs, x_last) = x.as_chunks::<2>();
    for ([a, b], [x, y]) in pairs.iter().zip(x_pairs) {
        for k in 0..STRIP {
            sums[k] += a[k] * x;
            sums[k] += b[k] * y;
        }
    }
    for (a, x) in last.iter().zip(x_last) {
        for k in 0..STRIP {
            sums[k] += a[k] * x;
        }
    }
    sums
}

/// Up to four numbers, and zeros.
#[inline]
fn filled(values: &[f64]) -> [f64; STRIP] {
    [0, 1, 2, 3].map(|k| values.get(k).copied().unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_all_shapes() {
        let mut packed = Packed::default();
        for rows in 0..10 {
            for cols in 0..7 {
                let entry = |i: usize, j: usize| (1 + i) as f64 - 0.5 * j as f64;
                packed.fill(rows, cols, entry);
                assert_eq!((packed.rows(), packed.cols()), (rows, cols));
                let x: Vec<f64> = (0..cols).map(|j| 1.0 + j as f64).collect();
                let expected: Vec<f64> =
                    (0..rows).map(|i| (0..cols).map(|j| entry(i, j) * x[j]).sum()).collect();
                let mut y = vec![3.0; rows];
                packed.apply(&x, &mut y);
                assert_eq!(y, expected);
                packed.apply_add(&x, &mut y);
                assert!(y.iter().zip(&expected).all(|(y, once)| *y == 2.0 * once));
                packed.apply_plus(&expected, &x, &mut y);
                assert!(y.iter().zip(&expected).all(|(y, once)| *y == 2.0 * once));
                if rows == cols {
                    let form: f64 = x.iter().zip(&expected).map(|(x, y)| x * y).sum();
                    assert!((packed.quadratic_form(&x) - form).abs() < 1e-12);
                }
            }
        }
    }
}
