//! A dense matrix stored for its product with a vector.
//!
//! ```text
//! y = A x = Σⱼ xⱼ aⱼ                                                                    (1)
//! ```
//!
//! Up to 48 rows at a time, column by column, next to each other in memory: the sums (1) of these rows
//! are then independent of each other, and a processor forms several of them at once, four where its
//! registers are wide enough. The operations are the same in either case, and so is what they give.

use crate::{Matrix, Wide, wide};

/// Rows of a strip.
const STRIP: usize = 4;
/// Strips of a group: as many sums as registers hold beside what they are made of.
const GROUP: usize = 12;

/// Calls what is made for that many strips of a group.
macro_rules! of_strips {
    ($count:expr, $call:ident($($argument:expr),*)) => {
        match $count {
            1 => $call::<1>($($argument),*),
            2 => $call::<2>($($argument),*),
            3 => $call::<3>($($argument),*),
            4 => $call::<4>($($argument),*),
            5 => $call::<5>($($argument),*),
            6 => $call::<6>($($argument),*),
            7 => $call::<7>($($argument),*),
            8 => $call::<8>($($argument),*),
            9 => $call::<9>($($argument),*),
            10 => $call::<10>($($argument),*),
            11 => $call::<11>($($argument),*),
            _ => $call::<GROUP>($($argument),*),
        }
    };
}

/// A row of four, one below the other.
type Strip = [f64; STRIP];

/// A dense matrix in groups of up to twelve strips of four rows, the last one filled up with zeros.
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

    /// `y ← y + Σⱼ aⱼ x[chosenⱼ]`, within [`wide`].
    #[inline(always)]
    pub fn apply_add_chosen_wide(&self, chosen: &[usize], x: &[f64], y: &mut [f64]) {
        let (wanted, found) = ((self.cols, self.rows), (chosen.len(), y.len()));
        assert_eq!(wanted, found, "columns and rows of a product");
        let mut strips = &self.strips[..];
        for own in y.chunks_mut(STRIP * GROUP) {
            let count = own.len().div_ceil(STRIP);
            let (group, rest) = strips.split_at(count * chosen.len());
            of_strips!(count, add_chosen(group, chosen, x, own));
            strips = rest;
        }
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
            form += of_strips!(count, form_of_group(group, x, own));
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
            of_strips!(count, multiply_group(group, start, x, own));
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
    store(products::<N>(group, x, sums), y);
}

/// Equation (1) for a group of `N` strips, with the chosen entries of `x`.
#[inline(always)]
fn add_chosen<const N: usize>(group: &[Strip], chosen: &[usize], x: &[f64], y: &mut [f64]) {
    let mut sums = loaded::<N>(y);
    let columns = group.as_chunks::<N>().0;
    let n = columns.len();
    let chosen = &chosen[..n];
    for j in 0..n {
        let (column, x) = (&columns[j], x[chosen[j]]);
        for k in 0..N {
            for i in 0..STRIP {
                sums[k][i] += column[k][i] * x;
            }
        }
    }
    store(sums, y);
}

/// Equation (1), added to `sums`.
#[inline(always)]
fn products<const N: usize>(group: &[Strip], x: &[f64], mut sums: [Strip; N]) -> [Strip; N] {
    let columns = group.as_chunks::<N>().0;
    let n = columns.len();
    let x = &x[..n];
    for j in 0..n {
        let (column, x) = (&columns[j], x[j]);
        for k in 0..N {
            for i in 0..STRIP {
                sums[k][i] += column[k][i] * x;
            }
        }
    }
    sums
}

/// Writes the sums of `N` strips, the last of which may be shorter. Places are constants throughout: so sums
/// stay in registers.
#[inline(always)]
#[allow(clippy::manual_memcpy)] // a call of memcpy would spill the sums
fn store<const N: usize>(sums: [Strip; N], y: &mut [f64]) {
    let (fours, rest) = y.as_chunks_mut::<STRIP>();
    if let Ok(fours) = <&mut [Strip; N]>::try_from(&mut *fours) {
        *fours = sums;
        return;
    }
    let whole = &mut fours[..N - 1];
    for k in 0..N - 1 {
        whole[k] = sums[k];
    }
    let last = sums[N - 1];
    match rest {
        [a] => *a = last[0],
        [a, b] => (*a, *b) = (last[0], last[1]),
        [a, b, c] => (*a, *b, *c) = (last[0], last[1], last[2]),
        _ => {}
    }
}

/// `N` strips of numbers, the last one filled up with zeros.
#[inline(always)]
#[allow(clippy::manual_memcpy)] // as above
fn loaded<const N: usize>(values: &[f64]) -> [Strip; N] {
    let (fours, rest) = values.as_chunks::<STRIP>();
    if let Ok(strips) = <&[Strip; N]>::try_from(fours) {
        return *strips;
    }
    let (mut strips, whole) = ([[0.0; STRIP]; N], &fours[..N - 1]);
    for k in 0..N - 1 {
        strips[k] = whole[k];
    }
    strips[N - 1] = match *rest {
        [a] => [a, 0.0, 0.0, 0.0],
        [a, b] => [a, b, 0.0, 0.0],
        [a, b, c] => [a, b, c, 0.0],
        _ => [0.0; STRIP],
    };
    strips
}

/// The share of the rows of a group in `xᵀ A x`, `own` being their entries of `x`.
fn form_of_group<const N: usize>(group: &[Strip], x: &[f64], own: &[f64]) -> f64 {
    let sums = products::<N>(group, x, [[0.0; STRIP]; N]);
    own.iter().zip(sums.as_flattened()).map(|(x, sum)| x * sum).sum()
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
                let chosen: Vec<usize> = (0..cols).rev().collect();
                let turned: Vec<f64> = x.iter().rev().copied().collect();
                packed.apply_add_chosen_wide(&chosen, &turned, &mut y);
                assert!(y.iter().zip(&expected).all(|(y, once)| *y == 3.0 * once));
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
