//! A dense matrix stored for its product with a vector.
//!
//! ```text
//! y = A x = Σⱼ xⱼ aⱼ                                                                    (1)
//! ```
//!
//! Up to 32 rows at a time, column by column, next to each other in memory: the sums (1) of these rows
//! are then independent of each other, and a processor forms several of them at once, four where its
//! registers are wide enough. The operations are the same in either case, and so is what they give.

use crate::{Matrix, Wide, wide};

/// Rows of a strip.
const STRIP: usize = 4;
/// Strips of a group.
const GROUP: usize = 8;

/// A row of four, one below the other.
type Strip = [f64; STRIP];

/// A dense matrix in groups of up to eight strips of four rows, the last one filled up with zeros.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Packed {
    rows: usize,
    cols: usize,
    strips: Vec<Strip>, // group by group, in each column by column
}

/// Where the sums of a product start.
#[derive(Clone, Copy)]
enum Start<'a> {
    Zero,
    Here,
    At(&'a [f64]),
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
        for group in (0..rows).step_by(STRIP * GROUP) {
            let end = rows.min(group + STRIP * GROUP);
            for j in 0..cols {
                for first in (group..end).step_by(STRIP) {
                    let mut values = [0.0; STRIP];
                    for (k, value) in values.iter_mut().enumerate().take(rows - first) {
                        *value = entry(first + k, j);
                    }
                    self.strips.push(values);
                }
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
        wide(Product { packed: self, start: Start::Zero, x, y });
    }

    /// `y ← y + A x`.
    #[inline]
    pub fn apply_add(&self, x: &[f64], y: &mut [f64]) {
        wide(Product { packed: self, start: Start::Here, x, y });
    }

    /// `y ← c + A x`.
    #[inline]
    pub fn apply_plus(&self, c: &[f64], x: &[f64], y: &mut [f64]) {
        wide(Product { packed: self, start: Start::At(c), x, y });
    }

    /// [`apply`](Self::apply) within [`wide`].
    #[inline(always)]
    pub fn apply_wide(&self, x: &[f64], y: &mut [f64]) {
        Product { packed: self, start: Start::Zero, x, y }.run();
    }

    /// [`apply_plus`](Self::apply_plus) within [`wide`].
    #[inline(always)]
    pub fn apply_plus_wide(&self, c: &[f64], x: &[f64], y: &mut [f64]) {
        Product { packed: self, start: Start::At(c), x, y }.run();
    }

    /// `xᵀ A x`.
    pub fn quadratic_form(&self, x: &[f64]) -> f64 {
        assert_eq!((self.rows, self.cols), (x.len(), x.len()), "a form has a square matrix");
        let mut form = 0.0;
        let mut strips = &self.strips[..];
        for own in x.chunks(STRIP * GROUP) {
            let count = own.len().div_ceil(STRIP);
            let (group, rest) = strips.split_at(count * x.len());
            strips = rest;
            let sums = match count {
                1 => padded(products::<1>(group, x, [[0.0; STRIP]; 1])),
                2 => padded(products::<2>(group, x, [[0.0; STRIP]; 2])),
                3 => padded(products::<3>(group, x, [[0.0; STRIP]; 3])),
                4 => padded(products::<4>(group, x, [[0.0; STRIP]; 4])),
                5 => padded(products::<5>(group, x, [[0.0; STRIP]; 5])),
                6 => padded(products::<6>(group, x, [[0.0; STRIP]; 6])),
                7 => padded(products::<7>(group, x, [[0.0; STRIP]; 7])),
                _ => products::<GROUP>(group, x, [[0.0; STRIP]; GROUP]),
            };
            form += own.iter().zip(sums.as_flattened()).map(|(x, sum)| x * sum).sum::<f64>();
        }
        form
    }
}

/// `A x`, on its way into `y`.
struct Product<'a> {
    packed: &'a Packed,
    start: Start<'a>,
    x: &'a [f64],
    y: &'a mut [f64],
}

impl Wide for Product<'_> {
    type Answer = ();

    /// Equation (1), group by group.
    #[inline(always)]
    fn run(self) {
        let Product { packed, start, x, y } = self;
        assert_eq!((x.len(), y.len()), (packed.cols, packed.rows), "columns and rows of a product");
        let (mut strips, mut first) = (&packed.strips[..], 0);
        while first < y.len() {
            let own = &mut y[first..];
            let rows = own.len().min(STRIP * GROUP);
            let own = &mut own[..rows];
            let count = rows.div_ceil(STRIP);
            let (group, rest) = strips.split_at(count * x.len());
            let start = match start {
                Start::At(c) => Start::At(&c[first..first + rows]),
                other => other,
            };
            match count {
                1 => multiply_group::<1>(group, start, x, own),
                2 => multiply_group::<2>(group, start, x, own),
                3 => multiply_group::<3>(group, start, x, own),
                4 => multiply_group::<4>(group, start, x, own),
                5 => multiply_group::<5>(group, start, x, own),
                6 => multiply_group::<6>(group, start, x, own),
                7 => multiply_group::<7>(group, start, x, own),
                _ => multiply_group::<GROUP>(group, start, x, own),
            }
            strips = rest;
            first += rows;
        }
    }
}

/// Equation (1) for the rows of a group of `N` strips.
#[inline(always)]
fn multiply_group<const N: usize>(group: &[Strip], start: Start<'_>, x: &[f64], y: &mut [f64]) {
    let sums = match start {
        Start::Zero => [[0.0; STRIP]; N],
        Start::Here => loaded(y),
        Start::At(c) => loaded(c),
    };
    let sums = products::<N>(group, x, sums);
    let (fours, rest) = y.as_chunks_mut::<STRIP>();
    for (y, sums) in fours.iter_mut().zip(&sums) {
        *y = *sums;
    }
    if !rest.is_empty() {
        for (y, sum) in rest.iter_mut().zip(&sums[N - 1]) {
            *y = *sum;
        }
    }
}

/// Equation (1), added to `sums`.
#[inline(always)]
fn products<const N: usize>(group: &[Strip], x: &[f64], mut sums: [Strip; N]) -> [Strip; N] {
    for (column, x) in group.as_chunks::<N>().0.iter().zip(x) {
        for k in 0..N {
            for i in 0..STRIP {
                sums[k][i] += column[k][i] * x;
            }
        }
    }
    sums
}

/// Up to `N` strips of numbers, and zeros.
#[inline(always)]
fn loaded<const N: usize>(values: &[f64]) -> [Strip; N] {
    let (fours, rest) = values.as_chunks::<STRIP>();
    let mut strips = [[0.0; STRIP]; N];
    for (strip, four) in strips.iter_mut().zip(fours) {
        *strip = *four;
    }
    if !rest.is_empty() {
        for (entry, value) in strips[N - 1].iter_mut().zip(rest) {
            *entry = *value;
        }
    }
    strips
}

/// The same with strips of zeros behind them.
fn padded<const N: usize>(strips: [Strip; N]) -> [Strip; GROUP] {
    let mut all = [[0.0; STRIP]; GROUP];
    all[..N].copy_from_slice(&strips);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_all_shapes() {
        let mut packed = Packed::default();
        for rows in 0..70 {
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
            }
        }
        for n in 0..70 {
            let entry = |i: usize, j: usize| (1 + i) as f64 - 0.5 * j as f64;
            packed.fill(n, n, entry);
            let x: Vec<f64> = (0..n).map(|j| 1.0 + j as f64).collect();
            let row = |i: usize| (0..n).map(|j| entry(i, j) * x[j]).sum::<f64>();
            let form: f64 = (0..n).map(|i| x[i] * row(i)).sum();
            assert!((packed.quadratic_form(&x) - form).abs() <= 1e-12 * (1.0 + form.abs()));
        }
    }

    #[test]
    fn wide_registers_give_the_same_bits() {
        let entry = |i: usize, j: usize| (1.3 * i as f64 + 0.7 * j as f64).sin();
        for rows in 1..70 {
            let mut packed = Packed::default();
            packed.fill(rows, 9, entry);
            let x: Vec<f64> = (0..9).map(|j| (0.3 * j as f64).cos()).collect();
            let (mut there, mut here) = (vec![0.0; rows], vec![0.0; rows]);
            packed.apply(&x, &mut there);
            Product { packed: &packed, start: Start::Zero, x: &x, y: &mut here }.run();
            assert_eq!(there, here);
        }
    }
}
