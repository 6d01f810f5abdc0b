//! The blocks of a problem and the rows of its matrix cut into them, as block methods read them.

use crate::{NumericsError, Operator, Problem, Set};
use saltus_linalg::BlockSparse;

/// Most unknowns of a block: its own matrix is dense, and takes 128 MB then.
pub(crate) const DENSEST: usize = 4096;

/// The matrix of a problem in blocks, with their sets; `q` is that of the problem, and for a
/// pair `(M, H)` includes what the given momentum makes.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    matrix_id: u64,
    /// Changes whenever the matrix does, or the way it is cut.
    pub version: u64,
    pub matrix: BlockSparse,
    pub sets: Vec<Set>,
    pub q: Vec<f64>,
    free: Vec<f64>,    // Hᵀ M⁻¹ f
    start: Vec<usize>, // first unknown of each block, and the end
    /// The block of each unknown.
    pub of_unknown: Vec<usize>,
}

impl Blocks {
    /// Takes over what has changed in the problem since the last call.
    pub fn update(&mut self, method: &'static str, problem: &Problem) -> Result<(), NumericsError> {
        let Blocks { sets, start, .. } = self;
        start.clear();
        start.push(0);
        let mut k = 0;
        problem.for_each_block(|first, set, size| {
            start.push(first + size);
            if k < sets.len() {
                sets[k].clone_from(set);
            } else {
                sets.push(set.clone());
            }
            k += 1;
        });
        sets.truncate(k);
        let size = |block: usize| start[block + 1] - start[block];
        if let Some(block) = (0..k).find(|&block| size(block) > DENSEST) {
            let (size, limit) = (size(block), DENSEST);
            return Err(NumericsError::BlockTooLarge { method, block, size, limit });
        }
        let cut_alike = self.matrix.len() == k
            && (0..k).all(|b| self.matrix.range(b) == (start[b]..start[b + 1]));
        if self.matrix_id != problem.matrix_id() || !cut_alike {
            self.free.clear();
            self.matrix = match problem.matrix() {
                Operator::Dense(matrix) => BlockSparse::from_dense(matrix, start),
                Operator::Sparse(matrix) => BlockSparse::from_sparse(matrix, start),
                Operator::Global(global) => {
                    self.free.extend_from_slice(global.free());
                    BlockSparse::from_sparse(&global.condense(), start)
                }
                Operator::Function(_) => {
                    let what = "a map that is not linear";
                    return Err(NumericsError::Unsupported { method, what });
                }
            };
            self.matrix_id = problem.matrix_id();
            self.version += 1;
            self.of_unknown.clear();
            for (k, range) in start.windows(2).enumerate() {
                self.of_unknown.extend((range[0]..range[1]).map(|_| k));
            }
        }
        self.q.clear();
        self.q.extend_from_slice(problem.q());
        self.q.iter_mut().zip(&self.free).for_each(|(q, free)| *q += free);
        Ok(())
    }

    /// Moves `z` into its sets, from which round-off may have led it.
    pub fn project(&self, z: &mut [f64]) {
        for (k, set) in self.sets.iter().enumerate() {
            if !matches!(set, Set::Graph(_)) {
                set.project(1.0, &mut z[self.matrix.range(k)]);
            }
        }
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.sets.len()
    }
}
