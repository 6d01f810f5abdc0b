//! Anderson's acceleration of a fixed-point iteration `t ← T(t)`, in the norm of a diagonal `D`.
//!
//! ```text
//! t ← T(t) − Σ γⱼ ΔTⱼ,     γ = argmin ‖ r − Σ γⱼ Δrⱼ ‖,     r = T(t) − t                       (1)
//! ```
//!
//! over the last steps. What follows from `t` by an affine map can be carried along by the same combination
//! instead of being made anew. Where the defect `r` grew, the plain step is taken from the point before, and
//! the steps so far are forgotten. Reference: Fu, Zhang, Boyd, *SIAM J. Sci. Comput.* 42 (2020)
//! A3560–A3583.

use saltus_linalg::vector::dot;
use saltus_linalg::{Wide, wide};
use std::ops::Range;

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
    roots: Vec<f64>,               // √d
    image: Vec<f64>,               // T(t)
    defect: Vec<f64>,              // √d r
    carried_images: Vec<Vec<f64>>, // of what is carried, as `images`
    carried_image: Vec<f64>,       // at T(t)
    last: Option<f64>,             // ‖r‖ of the step before
    accelerated: bool,             // that step was
    steps: usize,
}

impl Anderson {
    /// For the diagonal of `D`, looking back on so many steps, at most [`MOST`], with so many numbers that
    /// are carried along.
    pub fn resize(&mut self, d: &[f64], memory: usize, carried: usize) {
        self.memory = memory.min(MOST);
        self.images.resize_with(self.memory, Vec::new);
        self.defects.resize_with(self.memory, Vec::new);
        let ring = self.images.iter_mut().chain(&mut self.defects);
        for buffer in ring.chain([&mut self.image, &mut self.defect]) {
            buffer.resize(d.len(), 0.0); // what it holds is not looked at before it is written
        }
        self.carried_images.resize_with(self.memory, Vec::new);
        for buffer in self.carried_images.iter_mut().chain([&mut self.carried_image]) {
            buffer.resize(carried, 0.0);
        }
        self.roots.clear();
        self.roots.extend(d.iter().map(|d| d.sqrt()));
        self.steps = 0;
        self.restart();
    }

    /// Forgets the steps so far.
    pub fn restart(&mut self) {
        (self.count, self.next, self.last, self.accelerated) = (0, 0, None, false);
    }

    /// The next point, from `t` one before it: `t` comes as its image `T(t)`, and `r = T(t) − t`. One step in `period`
    /// is accelerated; false where the acceleration before led astray. `carried` belongs to the image, and then to the
    /// next point.
    ///
    /// The vectors are gone through twice, piece by piece, as they are too long for the fast memory.
    pub fn step(&mut self, period: usize, r: &[f64], t: &mut [f64], carried: &mut [f64]) -> bool {
        let column = self.next;
        let count = match self.last {
            Some(_) => (self.count + 1).min(self.memory),
            None => 0,
        };

        // √d r, its change, and their products with the changes before
        let (mut size, mut gram, mut gamma) = (0.0, [0.0; MOST], [0.0; MOST]);
        for piece in pieces(t.len()) {
            let (before, changes) = self.defects.split_at_mut(column);
            let (change, after) = changes.split_at_mut(1);
            let change = &mut change[0][piece.clone()];
            let defect = &mut self.defect[piece.clone()];
            let (roots, r) = (&self.roots[piece.clone()], &r[piece.clone()]);
            for i in 0..r.len() {
                let now = roots[i] * r[i];
                change[i] = now - defect[i];
                defect[i] = now;
            }
            size += dot(defect, defect);
            for k in 0..count {
                let other = match k {
                    k if k < column => &before[k][piece.clone()],
                    k if k == column => &*change,
                    k => &after[k - column - 1][piece.clone()],
                };
                let [with_change, with_defect] = wide(Products { other, change, defect });
                gram[k] += with_change;
                gamma[k] += with_defect;
            }
        }
        let size = size.sqrt();
        if let Some(last) = self.last
            && self.accelerated
            && !(size <= GROWTH * last)
        {
            // the plain step from the point before
            t.copy_from_slice(&self.image);
            carried.copy_from_slice(&self.carried_image);
            self.restart();
            return false;
        }
        for k in 0..count {
            self.gram[k][column] = gram[k];
            self.gram[column][k] = gram[k];
        }
        if self.last.is_some() {
            self.next = (column + 1) % self.memory;
        }
        (self.count, self.last) = (count, Some(size));
        self.steps += 1;
        self.accelerated = count > 0
            && self.steps.is_multiple_of(period)
            && least_squares(&self.gram, count, &mut gamma);

        // T(t) and its change; (1), where it is its turn
        for piece in pieces(t.len()) {
            let image = &mut self.image[piece.clone()];
            let (t, change) = (&mut t[piece.clone()], &mut self.images[column][piece.clone()]);
            for i in 0..t.len() {
                change[i] = t[i] - image[i];
                image[i] = t[i];
            }
            if self.accelerated {
                wide(Combination { gamma: &gamma[..count], images: &self.images, piece, t });
            }
        }
        for piece in pieces(carried.len()) {
            let image = &mut self.carried_image[piece.clone()];
            let change = &mut self.carried_images[column][piece.clone()];
            let t = &mut carried[piece.clone()];
            for i in 0..t.len() {
                change[i] = t[i] - image[i];
                image[i] = t[i];
            }
            if self.accelerated {
                let images = &self.carried_images;
                wide(Combination { gamma: &gamma[..count], images, piece, t });
            }
        }
        true
    }
}

/// The products of one vector with two others.
struct Products<'a> {
    other: &'a [f64],
    change: &'a [f64],
    defect: &'a [f64],
}

impl Wide for Products<'_> {
    type Answer = [f64; 2];

    #[inline(always)]
    fn run(self) -> [f64; 2] {
        let (others, rest) = self.other.as_chunks::<4>();
        let ((changes, of_change), (defects, of_defect)) =
            (self.change.as_chunks::<4>(), self.defect.as_chunks::<4>());
        let mut sums = [[0.0; 4]; 2];
        for ((x, a), b) in others.iter().zip(changes).zip(defects) {
            for i in 0..4 {
                sums[0][i] += x[i] * a[i];
                sums[1][i] += x[i] * b[i];
            }
        }
        let mut ends = [0.0; 2];
        for ((x, a), b) in rest.iter().zip(of_change).zip(of_defect) {
            ends[0] += x * a;
            ends[1] += x * b;
        }
        let [a, b] = sums.map(|sum| (sum[0] + sum[2]) + (sum[1] + sum[3]));
        [a + ends[0], b + ends[1]]
    }
}

/// `t ← t − Σ γⱼ ΔTⱼ` in a piece.
struct Combination<'a> {
    gamma: &'a [f64],
    images: &'a [Vec<f64>],
    piece: Range<usize>,
    t: &'a mut [f64],
}

impl Wide for Combination<'_> {
    type Answer = ();

    #[inline(always)]
    fn run(self) {
        let (eights, rest) = self.t.as_chunks_mut::<8>();
        let changes = || self.gamma.iter().zip(self.images);
        let mut at = self.piece.start;
        for t in eights {
            let mut next = *t;
            for (gamma, change) in changes() {
                let Some(change) = change[at..].first_chunk::<8>() else { break };
                for i in 0..8 {
                    next[i] -= gamma * change[i];
                }
            }
            *t = next;
            at += 8;
        }
        for (i, t) in rest.iter_mut().enumerate() {
            changes().for_each(|(gamma, change)| *t -= gamma * change[at + i]);
        }
    }
}

/// Pieces of vectors of this length, of 4 kB each.
pub(super) fn pieces(n: usize) -> impl Iterator<Item = Range<usize>> {
    (0..n).step_by(512).map(move |start| start..n.min(start + 512))
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
        anderson.resize(&[1.0, 2.0, 0.5], 5, 1);
        let mut t = [0.0; 3];
        for _ in 0..7 {
            let r: Vec<f64> = (0..3).map(|i| (rates[i] - 1.0) * (t[i] - fixed[i])).collect();
            let sum = |t: &[f64], r: &[f64]| 2.0 + t.iter().chain(r).sum::<f64>();
            let mut carried = [sum(&t, &r)];
            (0..3).for_each(|i| t[i] += r[i]);
            assert!(anderson.step(1, &r, &mut t, &mut carried));
            assert!((carried[0] - sum(&t, &[])).abs() < 1e-12);
        }
        for i in 0..3 {
            assert!((t[i] - fixed[i]).abs() < 1e-6, "{t:?}");
        }
    }

    #[test]
    fn what_led_astray_is_undone() {
        let mut anderson = Anderson::default();
        anderson.resize(&[1.0], 5, 1);
        let (mut t, mut carried) = ([0.0], [0.0]);
        for r in [1.0, 0.9] {
            t[0] += r;
            carried[0] = 3.0 * t[0];
            assert!(anderson.step(1, &[r], &mut t, &mut carried));
        }
        assert!(t[0] > 5.0 && (carried[0] - 3.0 * t[0]).abs() < 1e-12); // far ahead
        t[0] -= 20.0;
        assert!(!anderson.step(1, &[-20.0], &mut t, &mut carried));
        assert!((t[0] - 1.9).abs() < 1e-12 && (carried[0] - 5.7).abs() < 1e-12);
    }
}
