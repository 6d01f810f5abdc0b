//! LU factors of a matrix of blocks of six by six, one row of them a node of a graph.
//!
//! ```text
//! A = L U,     A_ab ≠ 0 only where a = b or the graph joins a and b                           (1)
//! ```
//!
//! Nodes are eliminated in an order that keeps the factors short (approximate minimum degree), without
//! pivoting between blocks or within: right for matrices whose symmetric part is positive, such as that of
//! bodies which touch each other. A pivot that is zero or not finite is an error.

use crate::{Singular, Wide, wide};
use faer::dyn_stack::MemStack;
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;
use std::mem::MaybeUninit;

/// A block, row by row.
pub type Block6 = [f64; 36];

const ZERO: Block6 = [0.0; 36];

/// Where the two blocks of a joined pair stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairPlace {
    at: usize,
    flipped: bool, // the first node is eliminated first
}

/// The matrix of one graph, and its factors in the same place.
#[derive(Debug, Clone, Default)]
pub struct GraphLu {
    order: Vec<usize>,     // nodes as they are eliminated
    place: Vec<usize>,     // the other way round
    first: Vec<usize>,     // of each column below the diagonal, and the end
    row: Vec<usize>,       // places, in order
    lower: Vec<Block6>,    // by columns
    upper: Vec<Block6>,    // the same places, by rows
    diagonal: Vec<Block6>, // factored, L with ones on its diagonal
    permuted: Vec<[f64; 6]>,
    analysis: Analysis,
}

/// Scratch of the analysis.
#[derive(Debug, Clone, Default)]
struct Analysis {
    start: Vec<usize>, // of the neighbours of each node
    other: Vec<usize>, // these
    column: Vec<usize>,
    head: Vec<usize>, // of each column, the columns whose first row it is
    next: Vec<usize>,
    seen: Vec<usize>,
    memory: Vec<MaybeUninit<u8>>,
}

const NONE: usize = usize::MAX;

impl GraphLu {
    /// The analysis for so many nodes and these joined pairs, which may come several times. There are no entries before
    /// [`set_identity`](Self::set_identity).
    pub fn fit(&mut self, nodes: usize, pairs: impl Iterator<Item = (usize, usize)> + Clone) {
        // the pattern, by columns
        let Analysis { start, other, next, .. } = &mut self.analysis;
        start.clear();
        start.resize(nodes + 1, 0);
        for (a, b) in pairs.clone() {
            start[a + 1] += 1;
            start[b + 1] += 1;
        }
        for k in 0..nodes {
            start[k + 1] += start[k];
        }
        next.clone_from(start);
        other.clear();
        other.resize(start[nodes], 0);
        for (a, b) in pairs {
            other[next[a]] = b;
            other[next[b]] = a;
            next[a] += 1;
            next[b] += 1;
        }
        let (mut begin, mut end) = (0, 0);
        for k in 0..nodes {
            other[begin..start[k + 1]].sort_unstable();
            let own = begin..start[k + 1];
            begin = start[k + 1];
            start[k] = end;
            for at in own {
                if end == start[k] || other[end - 1] != other[at] {
                    other[end] = other[at];
                    end += 1;
                }
            }
        }
        start[nodes] = end;
        other.truncate(end);

        self.order(nodes);
        self.eliminate();
    }

    /// An order with little fill.
    fn order(&mut self, nodes: usize) {
        let GraphLu { order, place, analysis: Analysis { start, other, memory, .. }, .. } = self;
        order.clear();
        order.extend(0..nodes);
        place.clear();
        place.extend(0..nodes);
        let pattern = SymbolicSparseColMatRef::new_checked(nodes, nodes, start, None, other);
        let needed = amd::order_scratch::<usize>(nodes, other.len()).unaligned_bytes_required();
        if memory.len() < needed {
            memory.resize(needed, MaybeUninit::uninit());
        }
        let stack = MemStack::new(memory);
        if amd::order(order, place, pattern, amd::Control::default(), stack).is_err() {
            order.iter_mut().enumerate().for_each(|(k, order)| *order = k);
        }
        for (k, &node) in order.iter().enumerate() {
            place[node] = k;
        }
    }

    /// The rows of each column of the factors: those of the graph, and of the columns whose first row this
    /// column is.
    fn eliminate(&mut self) {
        let GraphLu { order, place, first, row, analysis, .. } = self;
        let Analysis { start, other, column, head, next, seen, .. } = analysis;
        let n = order.len();
        first.clear();
        row.clear();
        head.clear();
        head.resize(n, NONE);
        next.clear();
        next.resize(n, NONE);
        seen.clear();
        seen.resize(n, NONE);
        for j in 0..n {
            first.push(row.len());
            column.clear();
            let node = order[j];
            let mut add = |i: usize, column: &mut Vec<usize>| {
                if i > j && seen[i] != j {
                    seen[i] = j;
                    column.push(i);
                }
            };
            other[start[node]..start[node + 1]].iter().for_each(|&b| add(place[b], column));
            let mut child = head[j];
            while child != NONE {
                let end = first.get(child + 1).copied().unwrap_or(row.len());
                row[first[child]..end].iter().for_each(|&i| add(i, column));
                child = next[child];
            }
            column.sort_unstable();
            if let Some(&parent) = column.first() {
                next[j] = head[parent];
                head[parent] = j;
            }
            row.extend_from_slice(column);
        }
        first.push(row.len());
        for blocks in [&mut self.lower, &mut self.upper, &mut self.diagonal] {
            blocks.clear();
        }
    }

    /// Multiplications of a factorization, about.
    pub fn work(&self) -> f64 {
        let longest = self.first.windows(2).map(|pair| (pair[1] - pair[0]) as f64);
        longest.map(|m| 216.0 * (1.0 + 2.0 * m + m * m)).sum()
    }

    /// Where the blocks of a joined pair stand; `None` where it is not joined.
    pub fn pair(&self, a: usize, b: usize) -> Option<PairPlace> {
        let [i, j] = [self.place[a], self.place[b]];
        let (column, row) = (i.min(j), i.max(j));
        let begin = self.first[column];
        let own = self.row[begin..self.first[column + 1]].binary_search(&row).ok()?;
        Some(PairPlace { at: begin + own, flipped: i < j })
    }

    /// Makes the matrix the identity; its entries take no memory before.
    pub fn set_identity(&mut self) {
        let GraphLu { order, row, lower, upper, diagonal, .. } = self;
        for (blocks, count) in [(lower, row.len()), (upper, row.len()), (diagonal, order.len())] {
            blocks.clear();
            blocks.resize(count, ZERO);
        }
        for block in &mut self.diagonal {
            (0..6).for_each(|i| block[7 * i] = 1.0);
        }
    }

    /// The block of a node.
    pub fn diagonal(&mut self, node: usize) -> &mut Block6 {
        &mut self.diagonal[self.place[node]]
    }

    /// The blocks `A_ab` and `A_ba` of a pair.
    pub fn blocks(&mut self, pair: PairPlace) -> (&mut Block6, &mut Block6) {
        let (lower, upper) = (&mut self.lower[pair.at], &mut self.upper[pair.at]);
        if pair.flipped { (upper, lower) } else { (lower, upper) }
    }

    /// Replaces the matrix by its factors.
    pub fn factor(&mut self) -> Result<(), Singular> {
        wide(Factor(self))
    }

    /// Whether the determinant of the matrix that was factored is positive.
    pub fn is_positive(&self) -> bool {
        let pivots = self.diagonal.iter().flat_map(|block| (0..6).map(|i| block[7 * i]));
        pivots.filter(|pivot| *pivot < 0.0).count().is_multiple_of(2)
    }

    /// Replaces the right-hand side by the answer.
    pub fn solve(&mut self, x: &mut [[f64; 6]]) {
        wide(Solve(self, x));
    }
}

struct Factor<'a>(&'a mut GraphLu);

impl Wide for Factor<'_> {
    type Answer = Result<(), Singular>;

    /// Column by column: its factors, then what they take from the columns to the right.
    #[inline(always)]
    fn run(self) -> Result<(), Singular> {
        let GraphLu { order, first, row, lower, upper, diagonal, .. } = self.0;
        for j in 0..diagonal.len() {
            let (begin, end) = (first[j], first[j + 1]);
            factor(&mut diagonal[j]).map_err(|k| Singular { column: 6 * order[j] + k })?;
            let pivot = diagonal[j];
            for at in begin..end {
                divide_right(&pivot, &mut lower[at]);
                divide_left(&pivot, &mut upper[at]);
            }
            let ([.., own_lower], later_lower) = split(lower, begin, end);
            let ([.., own_upper], later_upper) = split(upper, begin, end);
            for x in 0..end - begin {
                let column = row[begin + x];
                subtract(&mut diagonal[column], &own_lower[x], &own_upper[x]);
                let mut to = first[column];
                for y in x + 1..end - begin {
                    while row[to] != row[begin + y] {
                        to += 1;
                    }
                    subtract(&mut later_lower[to - end], &own_lower[y], &own_upper[x]);
                    subtract(&mut later_upper[to - end], &own_lower[x], &own_upper[y]);
                }
            }
        }
        Ok(())
    }
}

/// The blocks of a column, and those after it.
#[inline(always)]
fn split(blocks: &mut [Block6], begin: usize, end: usize) -> ([&[Block6]; 1], &mut [Block6]) {
    let (before, after) = blocks.split_at_mut(end);
    ([&before[begin..]], after)
}

struct Solve<'a>(&'a mut GraphLu, &'a mut [[f64; 6]]);

impl Wide for Solve<'_> {
    type Answer = ();

    #[inline(always)]
    fn run(self) {
        let Solve(GraphLu { order, first, row, lower, upper, diagonal, permuted: x, .. }, b) = self;
        x.clear();
        x.extend(order.iter().map(|&node| b[node]));
        for j in 0..order.len() {
            let (d, mut v) = (&diagonal[j], x[j]);
            for i in 0..6 {
                for k in 0..i {
                    v[i] -= d[6 * i + k] * v[k];
                }
            }
            x[j] = v;
            for at in first[j]..first[j + 1] {
                take(&mut x[row[at]], &lower[at], &v);
            }
        }
        for j in (0..order.len()).rev() {
            let (d, mut v) = (&diagonal[j], x[j]);
            for at in first[j]..first[j + 1] {
                let other = x[row[at]];
                take(&mut v, &upper[at], &other);
            }
            for i in (0..6).rev() {
                for k in i + 1..6 {
                    v[i] -= d[6 * i + k] * v[k];
                }
                v[i] /= d[7 * i];
            }
            x[j] = v;
        }
        for (x, &node) in x.iter().zip(order.iter()) {
            b[node] = *x;
        }
    }
}

/// `v ← v − A x`.
#[inline(always)]
fn take(v: &mut [f64; 6], A: &Block6, x: &[f64; 6]) {
    for i in 0..6 {
        let mut sum = 0.0;
        for k in 0..6 {
            sum += A[6 * i + k] * x[k];
        }
        v[i] -= sum;
    }
}

/// LU of a block in its place; the column where a pivot is none.
#[inline(always)]
fn factor(a: &mut Block6) -> Result<(), usize> {
    for k in 0..6 {
        let pivot = a[7 * k];
        if !(pivot.abs() > 0.0 && pivot.is_finite()) {
            return Err(k);
        }
        for i in k + 1..6 {
            a[6 * i + k] /= pivot;
            let share = a[6 * i + k];
            for j in k + 1..6 {
                a[6 * i + j] -= share * a[6 * k + j];
            }
        }
    }
    Ok(())
}

/// `B ← L⁻¹ B`.
#[inline(always)]
fn divide_left(pivot: &Block6, b: &mut Block6) {
    for i in 0..6 {
        for k in 0..i {
            let share = pivot[6 * i + k];
            for j in 0..6 {
                b[6 * i + j] -= share * b[6 * k + j];
            }
        }
    }
}

/// `B ← B U⁻¹`.
#[inline(always)]
fn divide_right(pivot: &Block6, b: &mut Block6) {
    for j in 0..6 {
        for k in 0..j {
            let share = pivot[6 * k + j];
            for i in 0..6 {
                b[6 * i + j] -= share * b[6 * i + k];
            }
        }
        let inverse = 1.0 / pivot[7 * j];
        for i in 0..6 {
            b[6 * i + j] *= inverse;
        }
    }
}

/// `C ← C − A B`.
#[inline(always)]
fn subtract(C: &mut Block6, A: &Block6, B: &Block6) {
    for i in 0..6 {
        let mut row = [0.0; 6];
        for k in 0..6 {
            let share = A[6 * i + k];
            for j in 0..6 {
                row[j] += share * B[6 * k + j];
            }
        }
        for j in 0..6 {
            C[6 * i + j] -= row[j];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring with a few chords, unsymmetric, its symmetric part positive.
    #[test]
    fn the_answer_solves_the_system() {
        let n = 12;
        let pairs: Vec<(usize, usize)> =
            (0..n).map(|k| (k, (k + 1) % n)).chain([(0, 5), (3, 9), (9, 3), (2, 7)]).collect();
        let mut lu = GraphLu::default();
        lu.fit(n, pairs.iter().copied());
        assert!(lu.pair(1, 4).is_none());
        assert!(lu.work() > 216.0 * n as f64);
        let mut next = 1.0_f64;
        let mut random = || {
            next = (next * 7.31 + 0.17).fract();
            next - 0.5
        };
        for _ in 0..2 {
            // the same matrix, dense
            let mut dense = vec![0.0; 36 * n * n];
            lu.set_identity();
            for k in 0..n {
                let block = lu.diagonal(k);
                for i in 0..6 {
                    for j in 0..6 {
                        block[6 * i + j] += if i == j { 6.0 } else { 0.0 } + random();
                        dense[(6 * k + i) * 6 * n + 6 * k + j] = block[6 * i + j];
                    }
                }
            }
            for &(a, b) in &pairs {
                let place = lu.pair(a, b).unwrap();
                let (ab, ba) = lu.blocks(place);
                for i in 0..6 {
                    for j in 0..6 {
                        ab[6 * i + j] += random();
                        ba[6 * i + j] += random();
                        dense[(6 * a + i) * 6 * n + 6 * b + j] = ab[6 * i + j];
                        dense[(6 * b + i) * 6 * n + 6 * a + j] = ba[6 * i + j];
                    }
                }
            }
            let known: Vec<[f64; 6]> = (0..n).map(|_| [0; 6].map(|_| random())).collect();
            let flat: Vec<f64> = known.iter().flatten().copied().collect();
            let mut x: Vec<[f64; 6]> = (0..n)
                .map(|k| {
                    std::array::from_fn(|i| {
                        let row = &dense[(6 * k + i) * 6 * n..][..6 * n];
                        row.iter().zip(&flat).map(|(a, x)| a * x).sum()
                    })
                })
                .collect();
            lu.factor().unwrap();
            lu.solve(&mut x);
            for (x, known) in x.iter().flatten().zip(known.iter().flatten()) {
                assert!((x - known).abs() < 1e-12, "{x} {known}");
            }
        }
        lu.set_identity();
        (lu.diagonal(4)[0], lu.diagonal(7)[21]) = (-2.0, -1.0);
        lu.factor().unwrap();
        assert!(lu.is_positive());
        lu.set_identity();
        lu.diagonal(3)[7] = -1.0;
        lu.factor().unwrap();
        assert!(!lu.is_positive());
        lu.set_identity();
        lu.diagonal(4)[0] = 0.0;
        assert!(lu.factor().is_err());
    }
}
