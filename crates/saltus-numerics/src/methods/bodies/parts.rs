//! Parts of a problem cut out of the bodies: the blocks beside a block, and the problem of a few of them.

use super::{Bodies, Columns};
use crate::Problem;
use crate::methods::islands::{Neighbourhood, problem};
use saltus_linalg::vector::dot;

impl Neighbourhood for Bodies {
    fn len(&self) -> usize {
        self.sets.len()
    }

    fn for_each_neighbour(&self, k: usize, mut visit: impl FnMut(usize)) {
        let Columns { first, touches, .. } = &self.columns;
        for touch in &touches[first[k]..first[k + 1]] {
            self.on(touch.body)
                .iter()
                .filter(|(other, _)| *other != k)
                .for_each(|&(o, _)| visit(o));
        }
    }

    /// `W_ij = Σ_B K_iBᵀ K_jB` for the blocks of the part; the others push the bodies.
    fn part(&self, whole: &Problem, of: &[usize], z: &[f64]) -> Option<(Problem, Vec<usize>)> {
        let Bodies { columns, sets, .. } = self;
        let Columns { size, start, first, touches, K, free, .. } = columns;
        let size = *size;
        let range = |k: usize| start[k]..start[k + 1];
        let unknowns: Vec<usize> = of.iter().flat_map(|&k| range(k)).collect();
        let mut places = Vec::with_capacity(of.len()); // first unknown of each block in the part
        let mut next = 0;
        for &k in of {
            places.push(next);
            next += range(k).len();
        }
        let mut triplets = Vec::new();
        let mut q: Vec<f64> = unknowns.iter().map(|&i| self.q[i]).collect();
        let mut u = vec![0.0; size];
        for (&k, &place) in of.iter().zip(&places) {
            for touch in &touches[first[k]..first[k + 1]] {
                let own = |i: usize| &K[touch.at + i * size..touch.at + (i + 1) * size];
                u.copy_from_slice(&free[touch.body..touch.body + size]);
                for &(other, at) in self.on(touch.body) {
                    let theirs = |j: usize| &K[at + j * size..at + (j + 1) * size];
                    let Ok(inside) = of.binary_search(&other) else {
                        for (j, z) in z[range(other)].iter().enumerate() {
                            u.iter_mut().zip(theirs(j)).for_each(|(u, k)| *u += k * z);
                        }
                        continue;
                    };
                    for i in 0..range(k).len() {
                        for j in 0..range(other).len() {
                            triplets.push((place + i, places[inside] + j, dot(own(i), theirs(j))));
                        }
                    }
                }
                for i in 0..range(k).len() {
                    q[place + i] += dot(own(i), &u);
                }
            }
        }
        let sets = of.iter().map(|&k| (range(k).len(), &sets[k]));
        Some((problem(whole, &triplets, q, sets)?, unknowns))
    }
}

impl Bodies {
    /// The blocks that touch the body of this velocity, and where their entries begin.
    fn on(&self, velocity: usize) -> &[(usize, usize)] {
        let body = velocity / self.columns.size;
        &self.there[self.on_body[body]..self.on_body[body + 1]]
    }
}
