//! Anderson's acceleration of a fixed-point iteration `t ← T(t)`, in the norm of a diagonal `D`.
//!
//! ```text
//! t ← T(t) − Σ γⱼ ΔTⱼ,     γ = argmin ‖ r − Σ γⱼ Δrⱼ ‖,     r = T(t) − t                       (1)
//! ```
//!
//! over the last steps. Where the defect `r` grew, the plain step is taken from the point before, and
//! the steps so far are forgotten. Reference: Fu, Zhang, Boyd, *SIAM J. Sci. Comput.* 42 (2020)
//! A3560–A3583.

use saltus_linalg::vector::dot;

/// Most steps that the acceleration can look back on.
pub(super) const MOST: usize = 15;
/// Growth of the defect that ends an acceleration.
const GROWTH: f64 = 2.0;

/// The last steps.
#[derive(Debug, Default)]
pub(super) struct Anderson {
    memory: usize,
    images: Vec<Vec<f64>>,  // ΔT of the last steps, in a ring
    defects: Vec<Vec<f64>>, // √d Δr of them
    count: usize,           // of them that hold something
    next: usize,
    gram: Box<[[f64; MOST]; MOST]>,
    image: Vec<f64>,   // T(t)
    defect: Vec<f64>,  // √d r
    last: Option<f64>, // ‖r‖ of the step before
    accelerated: bool, // that step was
    steps: usize,
}

impl Anderson {
    /// For `n` unknowns, looking back on so many steps, at most [`MOST`].
    pub fn resize(&mut self, n: usize, memory: usize) {
        self.memory = memory.min(MOST);
        self.images.resize_with(self.memory, Vec::new);
        self.defects.resize_with(self.memory, Vec::new);
        let ring = self.images.iter_mut().chain(&mut self.defects);
        for buffer in ring.chain([&mut self.image, &mut self.defect]) {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        self.steps = 0;
        self.restart();
    }

    /// Forgets the steps so far.
    pub fn restart(&mut self) {
        (self.count, self.next, self.last, self.accelerated) = (0, 0, None, false);
    }

    /// `t` after the next step, one in `period` of which is accelerated, from `r` at `t`; false where
    /// the acceleration before led astray.
    pub fn step(&mut self, period: usize, d: &[f64], r: &[f64], t: &mut [f64]) -> bool {
        let n = t.len();
        let size = (0..n).map(|i| d[i] * r[i] * r[i]).sum::<f64>().sqrt();
        if let Some(last) = self.last
            && self.accelerated
            && !(size <= GROWTH * last)
        {
            // the plain step from the point before
            t.copy_from_slice(&self.image);
            self.restart();
            return false;
        }

        // T(t) and r, and their changes
        let column = self.next;
        let (images, defects) = (&mut self.images[column], &mut self.defects[column]);
        for i in 0..n {
            let (image, defect) = (t[i] + r[i], d[i].sqrt() * r[i]);
            images[i] = image - self.image[i];
            defects[i] = defect - self.defect[i];
            self.image[i] = image;
            self.defect[i] = defect;
        }
        if self.last.is_some() {
            self.count = (self.count + 1).min(self.memory);
            for k in 0..self.count {
                let product = dot(&self.defects[k], &self.defects[column]);
                self.gram[k][column] = product;
                self.gram[column][k] = product;
            }
            self.next = (column + 1) % self.memory;
        }
        self.last = Some(size);
        t.copy_from_slice(&self.image);

        // (1), where it is its turn
        self.steps += 1;
        let mut gamma = [0.0; MOST];
        for k in 0..self.count {
            gamma[k] = dot(&self.defects[k], &self.defect);
        }
        self.accelerated = self.count > 0
            && self.steps.is_multiple_of(period)
            && least_squares(&self.gram, self.count, &mut gamma);
        if self.accelerated {
            for k in 0..self.count {
                for (t, change) in t.iter_mut().zip(&self.images[k]) {
                    *t -= gamma[k] * change;
                }
            }
        }
        true
    }
}

/// `b ← (G + ε tr G)⁻¹ b` by Cholesky's method, for the first `n` rows; false where that fails.
fn least_squares(gram: &[[f64; MOST]; MOST], n: usize, b: &mut [f64; MOST]) -> bool {
    let trace: f64 = (0..n).map(|i| gram[i][i]).sum();
    let mut l = [[0.0; MOST]; MOST];
    for i in 0..n {
        for j in 0..=i {
            let sum = gram[i][j] - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
            if i > j {
                l[i][j] = sum / l[j][j];
                continue;
            }
            let pivot = sum + 1e-12 * trace;
            if !(pivot > 0.0) {
                return false;
            }
            l[i][i] = pivot.sqrt();
        }
    }
    for i in 0..n {
        b[i] = (b[i] - (0..i).map(|k| l[i][k] * b[k]).sum::<f64>()) / l[i][i];
    }
    for i in (0..n).rev() {
        b[i] = (b[i] - (i + 1..n).map(|k| l[k][i] * b[k]).sum::<f64>()) / l[i][i];
    }
    b[..n].iter().all(|b| b.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A linear map contracts by 0.9; as many steps as it has dimensions find its fixed point.
    #[test]
    fn a_linear_map_is_solved_in_as_many_steps_as_it_has_dimensions() {
        let (rates, fixed) = ([0.9, 0.5, -0.3], [1.0, -2.0, 3.0]);
        let mut anderson = Anderson::default();
        anderson.resize(3, 5);
        let mut t = [0.0; 3];
        for _ in 0..7 {
            let r: Vec<f64> = (0..3).map(|i| (rates[i] - 1.0) * (t[i] - fixed[i])).collect();
            assert!(anderson.step(1, &[1.0, 2.0, 0.5], &r, &mut t));
        }
        for i in 0..3 {
            assert!((t[i] - fixed[i]).abs() < 1e-6, "{t:?}");
        }
    }

    #[test]
    fn what_led_astray_is_undone() {
        let mut anderson = Anderson::default();
        anderson.resize(1, 5);
        let mut t = [0.0];
        for r in [1.0, 0.9] {
            assert!(anderson.step(1, &[1.0], &[r], &mut t));
        }
        assert!(t[0] > 5.0); // far ahead
        assert!(!anderson.step(1, &[1.0], &[-20.0], &mut t));
        assert!((t[0] - 1.9).abs() < 1e-12);
    }
}
