//! The blocks of a problem, and a diagonal matrix `D` of the size of `W` that splitting methods
//! measure in.
//!
//! `D` holds the mean diagonal of `W` for each part of each block (normal, tangent, rolling), so that
//! units do not matter; ones for a map that is no matrix. The laws are met in its norm:
//!
//! ```text
//! z = J(x):   the point of the laws with z − (ρ D)⁻¹ w = x                                   (1)
//! ```

use crate::sets::{Set, Step};
use crate::{Operator, Problem};

/// The blocks, and `D`.
#[derive(Debug, Default)]
pub(super) struct Layout {
    start: Vec<usize>, // first unknown of each block, and the end
    sets: Vec<Set>,
    steps: Vec<Step>, // 1/d of the parts of each block
    /// The diagonal of `D`.
    pub d: Vec<f64>,
}

impl Layout {
    /// The blocks of the problem and the sizes of its diagonal; whether `D` has changed.
    pub fn update(&mut self, problem: &Problem) -> bool {
        let Layout { start, sets, steps, .. } = self;
        let mut d = diagonal(problem.matrix());
        let positive = d.iter().filter(|d| **d > 0.0).count().max(1);
        let mean = match d.iter().sum::<f64>() / positive as f64 {
            mean if mean > 0.0 => mean,
            _ => 1.0,
        };
        start.clear();
        sets.clear();
        steps.clear();
        start.push(0);
        problem.for_each_block(|first, set, size| {
            let d = &mut d[first..first + size];
            let of_part = |range: std::ops::Range<usize>| {
                let part = &d[range];
                let part = part.iter().sum::<f64>() / part.len().max(1) as f64;
                1.0 / if part > 1e-12 * mean { part } else { mean }
            };
            let step = if set.is_contact() {
                let end = match set {
                    Set::Rolling2 { .. } | Set::Rolling3 { .. } => 1 + size / 2,
                    _ => size,
                };
                let (normal, tangent) = (of_part(0..1), of_part(1..end));
                Step { normal, tangent, rolling: of_part(end..size) }
            } else {
                let all = of_part(0..size);
                Step { normal: all, tangent: all, rolling: all }
            };
            for (i, d) in d.iter_mut().enumerate() {
                *d = 1.0 / step.of_component(set, i, size);
            }
            start.push(first + size);
            sets.push(set.clone());
            steps.push(step);
        });
        let moved = self.d != d;
        self.d = d;
        moved
    }

    /// `z` moved into the sets; where they are graphs it stays.
    pub fn project(&self, z: &mut [f64]) {
        for (k, set) in self.sets.iter().enumerate() {
            if !matches!(set, Set::Graph(_)) {
                set.project(1.0, &mut z[self.start[k]..self.start[k + 1]]);
            }
        }
    }

    /// Equation (1), in place, with steps `1/(ρ d)`.
    pub fn resolve(&self, rho: f64, t: &mut [f64]) {
        for (k, set) in self.sets.iter().enumerate() {
            let Step { normal, tangent, rolling } = self.steps[k];
            let step =
                Step { normal: normal / rho, tangent: tangent / rho, rolling: rolling / rho };
            set.resolve(step, &mut t[self.start[k]..self.start[k + 1]]);
        }
    }
}

/// The absolute diagonal of `W`; for a pair `(M, H)` that of `Hᵀ diag(M)⁻¹ H`, which is near
/// enough for a scale.
fn diagonal(operator: &Operator) -> Vec<f64> {
    match operator {
        Operator::Global(global) => {
            let inverse: Vec<f64> = (0..global.velocities())
                .map(|i| global.mass().get(i, i).abs())
                .map(|m| if m > 0.0 { 1.0 / m } else { 0.0 })
                .collect();
            let squares = |j| {
                let column = global.transposed().row(j).iter();
                column.map(|e| e.value * e.value * inverse[e.col]).sum()
            };
            (0..global.size()).map(squares).collect()
        }
        Operator::Function(map) => vec![1.0; map.0.size()],
        matrix => (0..matrix.shape().0).map(|i| matrix.get(i, i).abs()).collect(),
    }
}
