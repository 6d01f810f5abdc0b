//! Matrices with few diagonals beside the main one, and factors of the symmetric ones.

use crate::Sparse;

/// A square matrix whose nonzeros are on a few diagonals.
///
/// ```text
/// (A x)ᵢ = Σₖ aₖᵢ xᵢ₊ₖ          k over the diagonals
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Banded {
    n: usize,
    diagonals: Vec<Diagonal>, // offsets ascending
}

/// The entries `(i, i + offset)`.
#[derive(Debug, Clone, PartialEq)]
struct Diagonal {
    offset: isize,
    values: Vec<f64>,
}

impl Diagonal {
    /// First rows and first columns, of a stretch as long as the values.
    #[inline]
    fn first(&self) -> (usize, usize) {
        let shift = self.offset.unsigned_abs();
        if self.offset >= 0 { (0, shift) } else { (shift, 0) }
    }
}

impl Banded {
    /// A sparse matrix by its diagonals; nothing if it is not square, or more than every second
    /// place on its diagonals is empty.
    pub fn from_sparse(sparse: &Sparse) -> Option<Banded> {
        let n = sparse.rows();
        if n != sparse.cols() {
            return None;
        }
        let mut offsets: Vec<isize> = Vec::new();
        for (i, j, _) in sparse.iter() {
            let offset = j as isize - i as isize;
            if let Err(place) = offsets.binary_search(&offset) {
                offsets.insert(place, offset);
                if offsets.len() * n > 2 * sparse.len() + n {
                    return None;
                }
            }
        }
        let diagonal = |&offset: &isize| {
            let values = vec![0.0; n - offset.unsigned_abs()];
            Diagonal { offset, values }
        };
        let mut diagonals: Vec<Diagonal> = offsets.iter().map(diagonal).collect();
        for (i, j, x) in sparse.iter() {
            let offset = j as isize - i as isize;
            if let Ok(place) = offsets.binary_search(&offset) {
                diagonals[place].values[i.min(j)] = x;
            }
        }
        Some(Banded { n, diagonals })
    }

    /// `y ← y + A x`.
    #[inline]
    pub fn apply_add(&self, x: &[f64], y: &mut [f64]) {
        debug_assert_eq!((x.len(), y.len()), (self.n, self.n));
        for diagonal in &self.diagonals {
            let (row, col) = diagonal.first();
            for ((y, x), a) in y[row..].iter_mut().zip(&x[col..]).zip(&diagonal.values) {
                *y += a * x;
            }
        }
    }

    /// `xᵀ A x`.
    #[inline]
    pub fn quadratic_form(&self, x: &[f64]) -> f64 {
        debug_assert_eq!(x.len(), self.n);
        let mut sum = [0.0; 4];
        let mut rest = 0.0;
        for diagonal in &self.diagonals {
            let (row, col) = diagonal.first();
            let len = diagonal.values.len();
            let (a4, a_rest) = diagonal.values.as_chunks::<4>();
            let (x4, x_rest) = x[row..row + len].as_chunks::<4>();
            let (y4, y_rest) = x[col..col + len].as_chunks::<4>();
            for ((a, x), y) in a4.iter().zip(x4).zip(y4) {
                for k in 0..4 {
                    sum[k] += a[k] * x[k] * y[k];
                }
            }
            for ((a, x), y) in a_rest.iter().zip(x_rest).zip(y_rest) {
                rest += a * x * y;
            }
        }
        (sum[0] + sum[2]) + (sum[1] + sum[3]) + rest
    }
}

/// Factors of a symmetric positive definite matrix with `p` diagonals on either side.
///
/// ```text
/// A = L D Lᵀ,    Lᵢᵢ = 1,    Lᵢⱼ = 0 for j < i − p
/// ```
///
/// A solution takes `(4 p + 3) n` operations, in `2 n` steps that wait for each other.
#[derive(Debug, Clone, PartialEq)]
pub struct BandedFactor {
    width: usize,      // p
    lower: Vec<f64>,   // Lᵢⱼ for j = i − p … i − 1, row by row; zero left of the matrix
    inverse: Vec<f64>, // 1/Dᵢᵢ
}

impl BandedFactor {
    /// Factors a matrix; nothing if it is not symmetric, or not positive definite beyond
    /// round-off.
    pub fn new(matrix: &Sparse) -> Option<BandedFactor> {
        let n = matrix.rows();
        if !matrix.is_symmetric(1e-14) {
            return None;
        }
        let width = bandwidth(matrix);
        let (mut lower, mut diagonal) = (vec![0.0; n * width], vec![0.0; n]);
        let at = |lower: &[f64], i: usize, j: usize| match i - j <= width {
            true => lower[i * width + j + width - i],
            false => 0.0,
        };
        for i in 0..n {
            let first = i.saturating_sub(width);
            for j in first..i {
                let known: f64 =
                    (first..j).map(|k| at(&lower, i, k) * diagonal[k] * at(&lower, j, k)).sum();
                lower[i * width + j + width - i] = (matrix.get(i, j) - known) / diagonal[j];
            }
            let full = matrix.get(i, i);
            let known: f64 =
                (first..i).map(|k| at(&lower, i, k) * at(&lower, i, k) * diagonal[k]).sum();
            diagonal[i] = full - known;
            if !(diagonal[i] > 1e-12 * full) {
                return None;
            }
        }
        let inverse = diagonal.iter().map(|d| 1.0 / d).collect();
        Some(BandedFactor { width, lower, inverse })
    }

    /// `x ← A⁻¹ x`.
    #[inline]
    pub fn solve(&self, x: &mut [f64]) {
        let (n, width) = (self.inverse.len(), self.width);
        debug_assert_eq!(x.len(), n);
        if width == 1 {
            return self.solve_tridiagonal(x);
        }
        for i in 0..n {
            let first = i.saturating_sub(width);
            let row = &self.lower[i * width + width - (i - first)..(i + 1) * width];
            let (before, here) = x.split_at_mut(i);
            let known: f64 = row.iter().zip(&before[first..]).map(|(l, x)| l * x).sum();
            here[0] -= known;
        }
        x.iter_mut().zip(&self.inverse).for_each(|(x, inverse)| *x *= inverse);
        for i in (0..n).rev() {
            let first = i.saturating_sub(width);
            let row = &self.lower[i * width + width - (i - first)..(i + 1) * width];
            let (before, here) = x.split_at_mut(i);
            before[first..].iter_mut().zip(row).for_each(|(x, l)| *x -= l * here[0]);
        }
    }

    /// The same where each row waits for one neighbour only.
    #[inline]
    fn solve_tridiagonal(&self, x: &mut [f64]) {
        let mut last = 0.0;
        for (x, l) in x.iter_mut().zip(&self.lower) {
            last = *x - l * last;
            *x = last;
        }
        let mut from_next = 0.0;
        for ((x, inverse), l) in x.iter_mut().zip(&self.inverse).zip(&self.lower).rev() {
            *x = *x * inverse - from_next;
            from_next = l * *x;
        }
    }
}

/// Diagonals on either side of the main one, up to the last that is not empty.
pub fn bandwidth(matrix: &Sparse) -> usize {
    let nonzeros = matrix.iter().filter(|&(_, _, x)| x != 0.0);
    nonzeros.map(|(i, j, _)| i.abs_diff(j)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DenseLu;

    /// Symmetric, with `width` diagonals on either side, and strong on the main one.
    fn matrix(n: usize, width: usize) -> Sparse {
        let mut triplets = Vec::new();
        for i in 0..n {
            triplets.push((i, i, 2.0 + 2.0 * width as f64 + 0.1 * i as f64));
            for j in i.saturating_sub(width)..i {
                let x = 1.0 / (1 + i - j) as f64 - 0.03 * j as f64;
                triplets.extend([(i, j, x), (j, i, x)]);
            }
        }
        Sparse::from_triplets(n, n, &triplets)
    }

    #[test]
    fn products_agree_with_the_sparse_matrix() {
        for (n, width) in [(1, 0), (5, 1), (23, 1), (23, 4)] {
            let sparse = matrix(n, width);
            let banded = Banded::from_sparse(&sparse).unwrap();
            let x: Vec<f64> = (0..n).map(|i| (1.7 * i as f64).sin()).collect();
            let (mut y, mut expected) = (x.clone(), x.clone());
            banded.apply_add(&x, &mut y);
            sparse.apply_add(&x, &mut expected);
            let form: f64 = x.iter().zip(sparse.products(&x)).map(|(x, y)| x * y).sum();
            assert!((banded.quadratic_form(&x) - form).abs() <= 1e-12 * form.abs());
            for (a, b) in y.iter().zip(&expected) {
                assert!((a - b).abs() < 1e-12, "{n}, {width}: {a} or {b}");
            }
        }
        let scattered = Sparse::from_triplets(9, 9, &[(0, 8, 1.0), (4, 1, 1.0), (2, 7, 1.0)]);
        assert_eq!(Banded::from_sparse(&scattered), None);
    }

    #[test]
    fn solutions_agree_with_dense_factors() {
        for (n, width) in [(1, 0), (2, 1), (40, 1), (40, 2), (40, 5)] {
            let sparse = matrix(n, width);
            let factor = BandedFactor::new(&sparse).unwrap();
            let mut x: Vec<f64> = (0..n).map(|i| 1.0 + (0.9 * i as f64).cos()).collect();
            let mut expected = x.clone();
            factor.solve(&mut x);
            DenseLu::new(&sparse.to_dense()).unwrap().solve(&mut expected);
            for (a, b) in x.iter().zip(&expected) {
                assert!((a - b).abs() < 1e-12, "{n}, {width}: {a} or {b}");
            }
        }
    }

    #[test]
    fn what_is_not_positive_definite_is_refused() {
        for triplets in [
            vec![(0, 0, 1.0), (1, 1, -1.0)],
            vec![(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 1.0)],
            vec![(0, 0, 1.0), (0, 1, 1.0), (1, 1, 1.0)],
        ] {
            assert_eq!(BandedFactor::new(&Sparse::from_triplets(2, 2, &triplets)), None);
        }
    }
}
