//! Islands: parts of a problem that do not see each other, solved one by one.
//!
//! Blocks are joined where `W` joins them. A packing with few contacts falls into thousands of
//! islands of a few contacts each; together they would take as many sweeps as the worst of them.
//!
//! ```text
//! w_I = W_II z_I + q_I   for each island I,   W_IJ = 0
//! ```

use crate::blocks::Blocks;
use crate::{Block, Problem, Set};
use saltus_linalg::{Matrix, Sparse};

/// Unknowns up to which an island gets a dense matrix.
const DENSE: usize = 30;

/// Which blocks belong together.
#[derive(Debug, Default)]
pub(crate) struct Islands {
    order: Vec<usize>, // the blocks, island by island
    start: Vec<usize>, // of each island therein, and the end
}

impl Islands {
    /// The islands of a problem.
    pub fn of(blocks: &Blocks) -> Islands {
        let count = blocks.len();
        let mut parent: Vec<usize> = (0..count).collect();
        for k in 0..count {
            blocks.for_each_neighbour(k, |other| {
                let (a, b) = (root(&mut parent, k), root(&mut parent, other));
                // the first block names the island
                parent[a.max(b)] = a.min(b);
            });
        }
        // islands are numbered as their first blocks come
        let mut number = vec![usize::MAX; count];
        let mut start = vec![0];
        for k in 0..count {
            let root = root(&mut parent, k);
            if number[root] == usize::MAX {
                number[root] = start.len() - 1;
                start.push(0);
            }
            number[k] = number[root];
            start[number[k] + 1] += 1;
        }
        for island in 1..start.len() {
            start[island] += start[island - 1];
        }
        let (mut order, mut next) = (vec![0; count], start.clone());
        for k in 0..count {
            order[next[number[k]]] = k;
            next[number[k]] += 1;
        }
        Islands { order, start }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// The blocks of each island, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[usize]> {
        self.start.windows(2).map(|range| &self.order[range[0]..range[1]])
    }
}

/// The block that names the island of `k`.
fn root(parent: &mut [usize], mut k: usize) -> usize {
    while parent[k] != k {
        parent[k] = parent[parent[k]];
        k = parent[k];
    }
    k
}

/// Blocks that know which others they see, and the problems of some of them.
pub(crate) trait Neighbourhood {
    /// Number of blocks.
    fn len(&self) -> usize;

    /// Visits the blocks that block `k` sees, some perhaps twice.
    fn for_each_neighbour(&self, k: usize, visit: impl FnMut(usize));

    /// The problem of some blocks, in ascending order, and which unknowns it has. The other blocks stay
    /// as they are in `z`; an island does not see them.
    fn part(&self, whole: &Problem, of: &[usize], z: &[f64]) -> Option<(Problem, Vec<usize>)>;
}

impl Neighbourhood for Blocks {
    fn len(&self) -> usize {
        self.sets.len()
    }

    fn for_each_neighbour(&self, k: usize, mut visit: impl FnMut(usize)) {
        self.matrix.neighbours(k).for_each(|unknown| visit(self.of_unknown[unknown]));
    }

    fn part(&self, whole: &Problem, of: &[usize], z: &[f64]) -> Option<(Problem, Vec<usize>)> {
        let unknowns: Vec<usize> = of.iter().flat_map(|&k| self.matrix.range(k)).collect();
        let place = |unknown: usize| unknowns.partition_point(|&other| other < unknown);
        let mut triplets = Vec::new();
        let mut q: Vec<f64> = unknowns.iter().map(|&i| self.q[i]).collect();
        for &k in of {
            let (range, own) = (self.matrix.range(k), self.matrix.diagonal(k));
            self.matrix.for_each_in_row(k, |col, width, block| {
                let values = block.unwrap_or(own);
                let first = place(col);
                if unknowns.get(first) != Some(&col) {
                    // what is outside stays as it is
                    for (i, row) in range.clone().enumerate() {
                        let values = &values[i * width..(i + 1) * width];
                        q[place(row)] +=
                            values.iter().zip(&z[col..]).map(|(a, z)| a * z).sum::<f64>();
                    }
                    return;
                }
                for (i, row) in range.clone().enumerate() {
                    for j in 0..width {
                        triplets.push((place(row), first + j, values[i * width + j]));
                    }
                }
            });
        }
        let sets = of.iter().map(|&k| (self.matrix.range(k).len(), &self.sets[k]));
        Some((problem(whole, &triplets, q, sets)?, unknowns))
    }
}

/// A problem that is measured like another.
pub(super) fn problem<'a>(
    whole: &Problem,
    triplets: &[(usize, usize, f64)],
    q: Vec<f64>,
    sets: impl Iterator<Item = (usize, &'a Set)>,
) -> Option<Problem> {
    let n = q.len();
    let sets: Vec<Block> = sets.map(|(size, set)| Block { size, set: set.clone() }).collect();
    let problem = if n <= DENSE {
        let mut matrix = Matrix::zeros(n, n);
        triplets.iter().for_each(|&(i, j, value)| matrix[(i, j)] += value);
        Problem::new(matrix, q, &sets)
    } else {
        Problem::new(Sparse::from_triplets(n, n, triplets), q, &sets)
    };
    Some(problem.ok()?.measured(whole.measure()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_see_each_other_are_one_island() {
        // contacts 0 and 2 share a body, contact 1 stands alone
        let mut matrix = Matrix::identity(6);
        (matrix[(0, 4)], matrix[(4, 0)]) = (0.3, 0.3);
        let q = vec![-1.0, 0.2, -2.0, 0.0, -3.0, 0.5];
        let problem = Problem::friction2d(matrix.clone(), q.clone(), &[0.5; 3]).unwrap();
        let mut blocks = Blocks::default();
        blocks.update("auto", &problem).unwrap();
        let islands = Islands::of(&blocks);
        let islands: Vec<&[usize]> = islands.iter().collect();
        assert_eq!(islands, [&[0, 2][..], &[1]]);
        // what stands still outside is part of q
        let z = [0.0, 0.0, 0.0, 0.0, 2.0, 0.0];
        let (alone, _) = blocks.part(&problem, &[0], &z).unwrap();
        assert_eq!(alone.q(), [-1.0 + 0.3 * 2.0, 0.2]);
        let (part, unknowns) = blocks.part(&problem, islands[0], &z).unwrap();
        assert_eq!(unknowns, [0, 1, 4, 5]);
        assert_eq!(part.q(), [-1.0, 0.2, -3.0, 0.5]);
        for (i, &row) in unknowns.iter().enumerate() {
            for (j, &col) in unknowns.iter().enumerate() {
                assert_eq!(part.matrix().get(i, j), matrix[(row, col)]);
            }
        }
    }
}
