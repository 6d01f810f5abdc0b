//! LU factors of a sparse matrix whose rows change a few at a time.
//!
//! ```text
//! P K Pᵀ = L U:    uᵢ = kᵢ − Σ_{j<i} lᵢⱼ uⱼ,    lᵢⱼ = (what is left of kᵢ at j) / uⱼⱼ         (1)
//! ```
//!
//! The pivots are those of the diagonal, in the order of Markowitz: the next one is that with the least
//! product of entries left beside it in its row and in its column. The pattern of the factors follows
//! from that of `K`, and is found once.
//!
//! Row `i` of (1) depends on row `i` of `K` and on the rows `uⱼ` that it takes away. After a change of
//! some rows of `K` only these are eliminated again, and then those that depend on a row of `U` that has
//! become another one: the factors are those of the whole matrix, to the last bit. Along a chain, in
//! which everything acts on what comes after it, a change of one row is a change of one row.
//!
//! Without a choice of pivots there is no bound on the growth of round-off: what is solved with these
//! factors has to be checked.

use crate::{Singular, Sparse};
use std::collections::BTreeSet;

/// Most entries of the factors, in those of the matrix.
const MOST_FILL: usize = 8;
/// Share of the largest entry of a row below which what is left of its diagonal is round-off.
const NOTHING: f64 = 1e-13;

/// The factors of one pattern of `K`.
#[derive(Debug)]
pub struct RowLu {
    place: Vec<usize>,     // of each row of K in the order of elimination
    row: Vec<usize>,       // the row of K at each place
    starts: Vec<usize>,    // of the entries of each place, l before u
    diagonals: Vec<usize>, // where uᵢᵢ stands among them
    cols: Vec<u32>,        // in the order of elimination
    values: Vec<f64>,
    inverse: Vec<f64>,   // 1 / uᵢᵢ
    followers: Vec<u32>, // the rows that take away row j, row by row
    follows: Vec<usize>, // where those of each row begin
    waiting: Vec<u64>,   // rows to be eliminated, one bit each
    work: Vec<f64>,
    valid: bool,
    #[cfg(test)]
    eliminated: usize,
}

/// A row of `K`, to be filled.
#[derive(Debug)]
pub struct RowEntries<'a> {
    place: &'a [usize],
    work: &'a mut [f64],
    largest: f64,
}

impl RowEntries<'_> {
    /// `k ← k + value` at a column of the pattern.
    #[inline]
    pub fn add(&mut self, col: usize, value: f64) {
        let entry = &mut self.work[self.place[col]];
        *entry += value;
        self.largest = self.largest.max(entry.abs());
    }
}

impl RowLu {
    /// The order and the pattern of the factors of all matrices with the pattern of `matrix` and a full
    /// diagonal; nothing where they would have many more entries than the matrix.
    pub fn new(matrix: &Sparse) -> Option<RowLu> {
        let n = matrix.rows();
        let most = MOST_FILL * (matrix.len() + n);
        let mut rows: Vec<BTreeSet<usize>> = (0..n).map(|i| BTreeSet::from([i])).collect();
        let mut cols = rows.clone();
        for (i, j, _) in matrix.iter() {
            rows[i].insert(j);
            cols[j].insert(i);
        }
        // Markowitz: rows and cols hold what is left
        let mut left: BTreeSet<(usize, usize)> =
            (0..n).map(|i| (cost(&rows[i], &cols[i]), i)).collect();
        let (mut place, mut row) = (vec![0; n], Vec::with_capacity(n));
        let mut lower: Vec<Vec<usize>> = vec![Vec::new(); n]; // columns of L, by rows of K
        let mut upper: Vec<Vec<usize>> = vec![Vec::new(); n];
        let mut entries = 0;
        while let Some((_, pivot)) = left.pop_first() {
            place[pivot] = row.len();
            row.push(pivot);
            let (own_row, own_col) =
                (std::mem::take(&mut rows[pivot]), std::mem::take(&mut cols[pivot]));
            let mut touched: BTreeSet<usize> = own_row.union(&own_col).copied().collect();
            touched.remove(&pivot);
            for &k in &touched {
                left.remove(&(cost(&rows[k], &cols[k]), k));
            }
            for &j in own_row.iter().filter(|&&j| j != pivot) {
                cols[j].remove(&pivot);
            }
            for &i in own_col.iter().filter(|&&i| i != pivot) {
                rows[i].remove(&pivot);
                lower[i].push(pivot);
                for &j in own_row.iter().filter(|&&j| j != pivot) {
                    if rows[i].insert(j) {
                        cols[j].insert(i);
                    }
                }
            }
            for &k in &touched {
                left.insert((cost(&rows[k], &cols[k]), k));
            }
            entries += own_row.len() + lower[pivot].len();
            if entries > most {
                return None;
            }
            upper[pivot] = own_row.into_iter().collect();
        }
        Some(RowLu::with_pattern(place, row, &lower, &upper))
    }

    fn with_pattern(
        place: Vec<usize>,
        row: Vec<usize>,
        lower: &[Vec<usize>],
        upper: &[Vec<usize>],
    ) -> RowLu {
        let n = row.len();
        let (mut starts, mut diagonals, mut cols) = (vec![0], Vec::new(), Vec::new());
        let mut following: Vec<Vec<u32>> = vec![Vec::new(); n];
        for (i, &own) in row.iter().enumerate() {
            let sorted = |list: &[usize]| {
                let mut list: Vec<u32> = list.iter().map(|&k| place[k] as u32).collect();
                list.sort_unstable();
                list
            };
            let before = sorted(&lower[own]);
            before.iter().for_each(|&j| following[j as usize].push(i as u32));
            cols.extend(before);
            diagonals.push(cols.len());
            cols.extend(sorted(&upper[own]));
            starts.push(cols.len());
        }
        let mut follows = vec![0];
        let mut followers = Vec::new();
        for list in following {
            followers.extend(list);
            follows.push(followers.len());
        }
        RowLu {
            place,
            row,
            starts,
            diagonals,
            values: vec![0.0; cols.len()],
            cols,
            inverse: vec![0.0; n],
            followers,
            follows,
            waiting: vec![0; n.div_ceil(64)],
            work: vec![0.0; n],
            valid: false,
            #[cfg(test)]
            eliminated: 0,
        }
    }

    /// Forgets the values.
    pub fn forget(&mut self) {
        self.valid = false;
    }

    /// Factors the matrix whose rows `fill` gives, of which these have changed since the last successful
    /// call (in the first one, all of them).
    pub fn factor(
        &mut self,
        changed: impl IntoIterator<Item = usize>,
        fill: impl Fn(usize, &mut RowEntries<'_>),
    ) -> Result<(), Singular> {
        let n = self.row.len();
        if self.valid {
            for row in changed {
                let place = self.place[row];
                self.waiting[place / 64] |= 1 << (place % 64);
            }
        } else {
            self.waiting.fill(0);
            (0..n).for_each(|place| self.waiting[place / 64] |= 1 << (place % 64));
        }
        let all_new = !std::mem::replace(&mut self.valid, false); // until all of it is done
        for word in 0..self.waiting.len() {
            while self.waiting[word] != 0 {
                let place = 64 * word + self.waiting[word].trailing_zeros() as usize;
                self.waiting[word] &= self.waiting[word] - 1;
                let is_other = self.eliminate(place, &fill)?;
                if is_other && !all_new {
                    let followers = self.follows[place]..self.follows[place + 1];
                    for &next in &self.followers[followers] {
                        self.waiting[next as usize / 64] |= 1 << (next % 64);
                    }
                }
            }
        }
        self.valid = true;
        Ok(())
    }

    /// Equation (1) for one row; tells whether its part of `U` is another one.
    fn eliminate(
        &mut self,
        i: usize,
        fill: &impl Fn(usize, &mut RowEntries<'_>),
    ) -> Result<bool, Singular> {
        #[cfg(test)]
        {
            self.eliminated += 1;
        }
        let (first, diagonal, end) = (self.starts[i], self.diagonals[i], self.starts[i + 1]);
        for &col in &self.cols[first..end] {
            self.work[col as usize] = 0.0;
        }
        let mut entries = RowEntries { place: &self.place, work: &mut self.work, largest: 0.0 };
        fill(self.row[i], &mut entries);
        let largest = entries.largest;
        for entry in first..diagonal {
            let j = self.cols[entry] as usize;
            let l = self.work[j] * self.inverse[j];
            self.values[entry] = l;
            if l != 0.0 {
                let upper = self.diagonals[j] + 1..self.starts[j + 1];
                let (cols, values) = (&self.cols[upper.clone()], &self.values[upper]);
                for (&col, value) in cols.iter().zip(values) {
                    self.work[col as usize] -= l * value;
                }
            }
        }
        let pivot = self.work[i];
        if !(pivot.abs() > NOTHING * largest) || !pivot.is_finite() {
            return Err(Singular { column: self.row[i] });
        }
        self.inverse[i] = 1.0 / pivot;
        let mut is_other = false;
        for entry in diagonal..end {
            let value = self.work[self.cols[entry] as usize];
            is_other |= value.to_bits() != self.values[entry].to_bits();
            self.values[entry] = value;
        }
        Ok(is_other)
    }

    /// `x ← K⁻¹ x`, with the factors of the last successful [`factor`](Self::factor).
    pub fn solve(&mut self, x: &mut [f64]) {
        let RowLu { row, starts, diagonals, cols, values, inverse, work, .. } = self;
        let n = row.len();
        for i in 0..n {
            let lower = starts[i]..diagonals[i];
            let mut sum = x[row[i]];
            for (&col, value) in cols[lower.clone()].iter().zip(&values[lower]) {
                sum -= value * work[col as usize];
            }
            work[i] = sum;
        }
        for i in (0..n).rev() {
            let upper = diagonals[i] + 1..starts[i + 1];
            let mut sum = work[i];
            for (&col, value) in cols[upper.clone()].iter().zip(&values[upper]) {
                sum -= value * work[col as usize];
            }
            work[i] = sum * inverse[i];
            x[row[i]] = work[i];
        }
    }
}

/// Entries that the elimination of a pivot may make.
fn cost(row: &BTreeSet<usize>, col: &BTreeSet<usize>) -> usize {
    row.len().saturating_sub(1) * col.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain in which each acts on the next two, and the last on the first where it is a ring.
    fn chain(n: usize, ring: bool) -> Sparse {
        let mut entries = Vec::new();
        for i in 0..n {
            entries.push((i, i, 2.0));
            entries.extend((i >= 1).then(|| (i, i - 1, -0.7)));
            entries.extend((i >= 2).then(|| (i, i - 2, 0.3)));
        }
        if ring {
            entries.push((0, n - 1, 0.9));
        }
        Sparse::from_triplets(n, n, &entries)
    }

    /// Rows of the identity in the place of some of the matrix.
    fn fill(matrix: &Sparse, unit: &[bool], i: usize, entries: &mut RowEntries<'_>) {
        if unit[i] {
            return entries.add(i, 1.0);
        }
        matrix.row(i).iter().for_each(|entry| entries.add(entry.col, entry.value));
    }

    #[track_caller]
    fn check(lu: &mut RowLu, matrix: &Sparse, unit: &[bool]) {
        let n = matrix.rows();
        let x: Vec<f64> = (0..n).map(|i| (1.3 * i as f64).sin()).collect();
        let mut b: Vec<f64> =
            (0..n).map(|i| if unit[i] { x[i] } else { matrix.row_dot(i, &x) }).collect();
        lu.solve(&mut b);
        assert!(b.iter().zip(&x).all(|(b, x)| (b - x).abs() < 1e-12), "{b:?}");
    }

    #[test]
    fn rows_that_change_give_the_factors_of_the_whole() {
        for (n, ring) in [(1, false), (7, false), (150, false), (3, true), (150, true)] {
            let matrix = chain(n, ring);
            let mut lu = RowLu::new(&matrix).unwrap();
            let mut unit = vec![false; n];
            lu.factor([], |i, entries| fill(&matrix, &unit, i, entries)).unwrap();
            check(&mut lu, &matrix, &unit);
            for round in 0..20 {
                let changed = [(round * 37) % n, (round * 11 + 5) % n];
                changed.iter().for_each(|&i| unit[i] = !unit[i]);
                lu.factor(changed, |i, entries| fill(&matrix, &unit, i, entries)).unwrap();
                check(&mut lu, &matrix, &unit);
                let mut anew = RowLu::new(&matrix).unwrap();
                anew.factor([], |i, entries| fill(&matrix, &unit, i, entries)).unwrap();
                assert_eq!(lu.values, anew.values);
            }
        }
    }

    #[test]
    fn along_a_chain_a_change_stays_where_it_is() {
        let (n, mut unit) = (100, vec![false; 100]);
        let matrix = chain(n, false);
        let mut lu = RowLu::new(&matrix).unwrap();
        lu.factor([], |i, entries| fill(&matrix, &unit, i, entries)).unwrap();
        lu.eliminated = 0;
        unit[50] = true;
        lu.factor([50], |i, entries| fill(&matrix, &unit, i, entries)).unwrap();
        assert!(lu.eliminated <= 5, "{}", lu.eliminated);
    }

    #[test]
    fn what_is_singular_is_told_and_can_be_mended() {
        let matrix = Sparse::from_triplets(2, 2, &[(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0)]);
        let mut lu = RowLu::new(&matrix).unwrap();
        let corner = std::cell::Cell::new(1.0);
        let fill = |i: usize, entries: &mut RowEntries<'_>| {
            matrix.row(i).iter().for_each(|entry| entries.add(entry.col, entry.value));
            if i == 1 {
                entries.add(1, corner.get());
            }
        };
        assert!(lu.factor([], fill).is_err());
        corner.set(3.0);
        lu.factor([1], fill).unwrap();
        let mut x = [3.0, 7.0];
        lu.solve(&mut x);
        assert_eq!(x, [1.0, 2.0]);
    }

    #[test]
    fn too_many_entries_are_refused() {
        // an arrow whose point would be eliminated last is sparse, a random matrix is not
        let n = 1000;
        let entries: Vec<_> =
            (0..4 * n).map(|k| (k % n, (k * 7919 + k / n * 613) % n, 1.0)).collect();
        assert!(RowLu::new(&Sparse::from_triplets(n, n, &entries)).is_none());
    }
}
