//! Onto what a linear mode holds, by a way that no tolerance sees.
//!
//! A mode may hold more than its rows say: a current that a transistor in saturation sets, say. States without
//! mass follow from the others, and what is left is a condition on those that have one:
//!
//! ```text
//! C x + c = 0   ⇔   u = U (x, 1),    H x + h = 0                                           (1)
//! ```
//!
//! An event is found, and the motion before it followed, to within tolerances; so much may be left in (1). The
//! shortest way back, each state in units `w` of what is allowed of it, is
//!
//! ```text
//! δ = −w² Hᵀ (H w² Hᵀ)⁻¹ (H x + h)                                                         (2)
//! ```

use saltus_linalg::{DenseLu, Matrix, vector};

/// Pivots below this share of the largest entry of their row, as it was, are round-off.
const ROUND_OFF: f64 = 1e-12;

/// Equation (1).
#[derive(Debug, Default)]
pub(super) struct Hold {
    follow: Vec<(usize, Vec<f64>)>, // a state without mass, and its row
    H: Vec<Vec<f64>>,
}

impl Hold {
    /// From `(C c)`; which states have no mass.
    pub fn new(C: &Matrix, is_massless: impl Fn(usize) -> bool) -> Hold {
        let n = C.cols().saturating_sub(1);
        let mut rows: Vec<Vec<f64>> = (0..C.rows()).map(|i| scaled(C.row(i))).collect();
        let mut hold = Hold::default();
        for column in (0..n).filter(|&column| is_massless(column)) {
            let best = (0..rows.len())
                .max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()));
            let Some(best) = best.filter(|&k| rows[k][column].abs() > ROUND_OFF) else {
                continue;
            };
            let mut row = rows.swap_remove(best);
            let pivot = row[column];
            row.iter_mut().for_each(|x| *x /= -pivot);
            row[column] = 0.0;
            let insert = |other: &mut Vec<f64>| {
                let share = std::mem::take(&mut other[column]);
                vector::axpy(share, &row, other);
            };
            rows.iter_mut().for_each(insert);
            hold.follow.iter_mut().map(|one| &mut one.1).for_each(insert);
            hold.follow.push((column, row));
        }
        // what was all cancelled says nothing
        let is_real = |row: &[f64]| row[..n].iter().any(|x| x.abs() > ROUND_OFF);
        hold.H = rows.into_iter().filter(|row| is_real(row)).collect();
        hold
    }

    /// Over the first `n` states alone, which all have a mass: what the others follow from, and the rest.
    pub fn only(self, n: usize) -> (Vec<(usize, Vec<f64>)>, Hold) {
        let first =
            |row: Vec<f64>| -> Vec<f64> { row[..n].iter().chain(row.last()).copied().collect() };
        let follow = self.follow.into_iter().map(|(column, row)| (column, first(row))).collect();
        let H = self.H.into_iter().map(first).collect();
        (follow, Hold { follow: Vec::new(), H })
    }

    /// Whether there is nothing to hold.
    pub fn is_empty(&self) -> bool {
        self.follow.is_empty() && self.H.is_empty()
    }

    /// Moves a state (with 1 behind it) onto (1); whether it need not go further than is allowed.
    pub fn take(&self, x: &mut [f64], allowed: impl Fn(f64) -> f64) -> bool {
        let n = x.len().saturating_sub(1);
        let w: Vec<f64> = x[..n].iter().map(|&x| allowed(x)).collect();
        // rows in units of what is allowed
        let weighted = |row: &Vec<f64>| -> Vec<f64> {
            let size =
                vector::norm2(&row[..n].iter().zip(&w).map(|(a, w)| a * w).collect::<Vec<_>>());
            row.iter().map(|a| a / size).collect()
        };
        let H: Vec<Vec<f64>> = self.H.iter().map(weighted).collect();
        if !H.is_empty() {
            let mut lu = DenseLu::default();
            let entry =
                |i: usize, j: usize| (0..n).map(|k| H[i][k] * w[k] * w[k] * H[j][k]).sum::<f64>();
            if lu.factor_with(H.len(), entry).is_err() {
                return false;
            }
            let mut left: Vec<f64> = H.iter().map(|row| vector::dot(row, x)).collect();
            lu.solve(&mut left);
            let change = |k: usize| -> f64 {
                let back = H.iter().zip(&left).map(|(row, left)| row[k] * left);
                -w[k] * w[k] * back.sum::<f64>() // (2)
            };
            let changes: Vec<f64> = (0..n).map(change).collect();
            if changes.iter().zip(&w).any(|(change, w)| !(change.abs() <= *w)) {
                return false;
            }
            x.iter_mut().zip(&changes).for_each(|(x, change)| *x += change);
        }
        for (column, row) in &self.follow {
            x[*column] = vector::dot(row, x);
        }
        true
    }
}

/// A row in units of its largest entry but the last.
fn scaled(row: &[f64]) -> Vec<f64> {
    let of_states = &row[..row.len() - 1];
    let largest = of_states.iter().fold(0.0_f64, |a, b| a.max(b.abs())).max(f64::MIN_POSITIVE);
    row.iter().map(|x| x / largest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `u = 2 x + 1`, and `u + y = 4` with `u` without mass: `2 x + y = 3`.
    #[test]
    fn states_without_mass_follow() {
        let C = Matrix::from([[-2.0, 0.0, 1.0, -1.0], [0.0, 1e6, 1e6, -4e6]]);
        let hold = Hold::new(&C, |k| k == 2);
        let mut x = [1.0, 1.0 + 1e-7, 17.0, 1.0];
        assert!(hold.take(&mut x, |_| 1e-6));
        assert!((2.0 * x[0] + x[1] - 3.0).abs() < 1e-15 && (x[2] - 2.0 * x[0] - 1.0).abs() < 1e-15);
        // two fifths and one fifth of 1e-7
        assert!((x[0] - 1.0 + 0.4e-7).abs() < 1e-15 && (x[1] - 1.0 - 0.8e-7).abs() < 1e-15);
        // too far
        let far = [1.0, 1.1, 17.0, 1.0];
        let mut x = far;
        assert!(!hold.take(&mut x, |_| 1e-6));
        assert_eq!(x, far);
    }
}
