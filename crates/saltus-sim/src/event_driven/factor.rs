//! Factors of a matrix that may fall apart.
//!
//! Systems that nothing holds together in a mode do not meet in the equations of a step either:
//! each group of unknowns that do is factored on its own, densely where it is small.

use saltus_linalg::{DenseLu, Matrix, Sparse, SparseFactor};

/// Unknowns up to which a group is dense.
const DENSE: usize = 160;

/// The factors, group by group.
#[derive(Debug, Default)]
pub(super) struct Factor {
    groups: Vec<Group>,
    used: usize,        // groups of the last matrix; the rest is memory
    group: Vec<usize>,  // of each unknown
    place: Vec<usize>,  // of each unknown, in its group
    parent: Vec<usize>, // of the forest that finds the groups
}

#[derive(Debug, Default)]
struct Group {
    unknowns: Vec<usize>,
    entries: Vec<(usize, usize, f64)>,
    matrix: Matrix,
    dense: Option<DenseLu>,
    sparse: Option<SparseFactor>,
    x: Vec<f64>,
}

impl Factor {
    /// Factors the matrix with these entries; whether that was possible.
    pub fn set(&mut self, n: usize, entries: &[(usize, usize, f64)]) -> bool {
        self.parent.clear();
        self.parent.extend(0..n);
        for &(i, j, x) in entries {
            if x != 0.0 {
                let (a, b) = (root(&mut self.parent, i), root(&mut self.parent, j));
                self.parent[a.max(b)] = a.min(b);
            }
        }
        self.used = 0;
        self.group.clear();
        self.place.clear();
        for i in 0..n {
            let first = root(&mut self.parent, i);
            let group = if first == i {
                if self.used == self.groups.len() {
                    self.groups.push(Group::default());
                }
                self.groups[self.used].clear();
                self.used += 1;
                self.used - 1
            } else {
                self.group[first]
            };
            self.group.push(group);
            self.place.push(self.groups[group].unknowns.len());
            self.groups[group].unknowns.push(i);
        }
        for &(i, j, x) in entries.iter().filter(|entry| entry.2 != 0.0) {
            self.groups[self.group[i]].entries.push((self.place[i], self.place[j], x));
        }
        self.groups[..self.used].iter_mut().all(Group::factor)
    }

    /// Solves for the right-hand side `x`.
    pub fn solve(&mut self, x: &mut [f64]) {
        for group in &mut self.groups[..self.used] {
            group.x.clear();
            group.x.extend(group.unknowns.iter().map(|&i| x[i]));
            match (&mut group.sparse, &mut group.dense) {
                (Some(factor), _) => factor.solve(&mut group.x),
                (None, Some(factor)) => factor.solve(&mut group.x),
                (None, None) => {}
            }
            group.unknowns.iter().zip(&group.x).for_each(|(&i, value)| x[i] = *value);
        }
    }
}

impl Group {
    fn clear(&mut self) {
        self.unknowns.clear();
        self.entries.clear();
        self.sparse = None;
    }

    fn factor(&mut self) -> bool {
        let n = self.unknowns.len();
        if n > DENSE {
            let matrix = Sparse::from_triplets(n, n, &self.entries);
            let mut factor = SparseFactor::with_symmetry(&matrix, false);
            let done = factor.factor(&matrix).is_ok();
            self.sparse = Some(factor);
            return done;
        }
        self.matrix.reset(n, n);
        for &(i, j, x) in &self.entries {
            self.matrix[(i, j)] += x;
        }
        match &mut self.dense {
            Some(lu) if lu.len() == n => lu.factor(&self.matrix).is_ok(),
            dense => match DenseLu::new(&self.matrix) {
                Ok(lu) => {
                    *dense = Some(lu);
                    true
                }
                Err(_) => false,
            },
        }
    }
}

/// The root of the tree that `i` is in, in a forest.
pub(super) fn root(parent: &mut [usize], mut i: usize) -> usize {
    while parent[i] != i {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    i
}
