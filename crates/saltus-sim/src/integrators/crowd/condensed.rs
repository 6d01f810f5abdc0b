//! Rows without bounds, springs and dampers, are solved for by the others: what is left is a smaller problem,
//! of velocities as they are with the springs at work.
//!
//! ```text
//! A_ss λ_s + A_sr λ_r + q_s = 0,    w_r = A_rr λ_r + A_rs λ_s + q_r
//! w_r = (A_rr − A_rs A_ss⁻¹ A_sr) λ_r + (q_r − A_rs A_ss⁻¹ q_s)                                   (1)
//! ```

use saltus_linalg::Matrix;
use saltus_numerics::Operator;

/// The rows of a problem: those that lead, and those that follow.
#[derive(Debug, Default)]
pub(super) struct Sides {
    pub lead: Vec<usize>,
    pub follow: Vec<usize>,
    solved: Matrix, // λ_s by λ_r, after elimination
    constant: Vec<f64>,
}

impl Sides {
    /// Equation (1), by Gauss and Jordan; a sparse matrix is left as it is, and has nothing that follows.
    pub fn condense(&mut self, A: Operator, mut q: Vec<f64>) -> (Operator, Vec<f64>) {
        let mut A = match A {
            Operator::Dense(A) if !self.follow.is_empty() => A,
            other => return (other, q),
        };
        let n = q.len();
        for &s in &self.follow {
            for i in (0..n).filter(|&i| i != s) {
                let factor = A[(i, s)] / A[(s, s)];
                if factor != 0.0 {
                    for j in 0..n {
                        A[(i, j)] -= factor * A[(s, j)];
                    }
                    q[i] -= factor * q[s];
                }
            }
        }
        let mut W = Matrix::zeros(self.lead.len(), self.lead.len());
        for (i, &row) in self.lead.iter().enumerate() {
            for (j, &col) in self.lead.iter().enumerate().take(i + 1) {
                (W[(i, j)], W[(j, i)]) = (A[(row, col)], A[(row, col)]);
            }
        }
        let own = self.lead.iter().map(|&row| q[row]).collect();
        (self.solved, self.constant) = (A, q);
        (Operator::Dense(W), own)
    }

    /// All of `λ` from those that lead.
    pub fn expand(&self, lead: &[f64], z: &mut [f64]) {
        for (&row, value) in self.lead.iter().zip(lead) {
            z[row] = *value;
        }
        for &s in &self.follow {
            let by = self.lead.iter().zip(lead).map(|(&r, value)| self.solved[(s, r)] * value);
            z[s] = -(self.constant[s] + by.sum::<f64>()) / self.solved[(s, s)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_is_solved() {
        let rows = [[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 2.0]];
        let mut A = Matrix::zeros(3, 3);
        (0..3).for_each(|i| (0..3).for_each(|j| A[(i, j)] = rows[i][j]));
        let q = [1.0, -2.0, 0.3];
        let mut sides = Sides { lead: vec![1], follow: vec![0, 2], ..Sides::default() };
        let (W, own) = sides.condense(Operator::Dense(A), q.to_vec());
        let Operator::Dense(W) = W else { unreachable!() };
        let lead = [-own[0] / W[(0, 0)]];
        let mut z = [0.0; 3];
        sides.expand(&lead, &mut z);
        for i in 0..3 {
            let w: f64 = q[i] + (0..3).map(|j| rows[i][j] * z[j]).sum::<f64>();
            assert!(w.abs() < 1e-15, "{i}: {w}");
        }
    }
}
