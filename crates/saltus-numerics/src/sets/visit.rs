//! A contact with friction in space that sweeps visit again and again: its block from where it was.
//!
//! With `w = W z + b` at the `z` of the visit before:
//!
//! ```text
//! stick:  z − W⁻¹ w                     where that is in the cone                               (1)
//! slip:   z = r (1, μ d),  r = −b_N/(W_NN + μ W_NT d),  d turned by Newton's method (see `slip`)  (2)
//! ```
//!
//! A contact that slipped turns its direction until a turn is short: what is then
//! still wrong is of second order in it, far less than what the visit has changed, and the next visit
//! goes on from there. Where neither (1) nor (2) is an answer the block is solved as any other.

use super::{Set, block};

/// A turn after which another one would change little.
const SHORT: f64 = 1e-3;
/// Most turns, and the largest that is believed.
const TURNS: usize = 4;
const LARGE: f64 = 0.5;
/// Least share of the product of its diagonal that the determinant of a block has, which has an inverse.
const REGULAR: f64 = 1e-6;

/// The block of a contact.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visit {
    mu: f64,
    W: [f64; 9],
}

impl Visit {
    /// For the law of a contact in space with friction; `None` for another.
    pub fn new(set: &Set, W: &[f64]) -> Option<Visit> {
        let (&Set::Coulomb3 { mu }, Some(&W)) = (set, W.first_chunk::<9>()) else { return None };
        Some(Visit { mu, W })
    }

    /// The law that it is of.
    pub fn is_of(&self, set: &Set) -> bool {
        matches!(set, Set::Coulomb3 { mu } if *mu == self.mu)
    }

    /// Leaves in `z` the answer for the others as they are, when `w = W z + b` is there.
    #[inline]
    pub fn solve(&self, w: &[f64; 3], z: &mut [f64; 3]) {
        let mut b = *w;
        subtract(&mut b, &self.W, z);
        if b[0] >= 0.0 {
            *z = [0.0; 3];
            return;
        }
        let edge = self.mu * z[0];
        let slipped = edge > 0.0 && z[1] * z[1] + z[2] * z[2] >= (1.0 - 1e-12) * edge * edge;
        if slipped && let Some(answer) = self.slip(&b, [z[1], z[2]]) {
            *z = answer;
            return;
        }
        let r = self.stick(w, z);
        let edge = self.mu * r[0];
        if edge > 0.0 && r[1] * r[1] + r[2] * r[2] <= edge * edge {
            *z = r;
            return;
        }
        // prolonged steps may have led it from the edge of its cone
        if !slipped && let Some(answer) = self.slip(&b, [r[1], r[2]]) {
            *z = answer;
            return;
        }
        let _ = block::solve(&Set::Coulomb3 { mu: self.mu }, &self.W, &b, z);
    }

    /// Equation (1), by cofactors; no number where `W` is nearly singular. They are made anew each time: that takes
    /// less than to read them from memory.
    #[inline]
    fn stick(&self, w: &[f64; 3], z: &[f64; 3]) -> [f64; 3] {
        let W = &self.W;
        let rows = [[W[0], W[1], W[2]], [W[3], W[4], W[5]], [W[6], W[7], W[8]]];
        let cofactors = [cross(rows[1], rows[2]), cross(rows[2], rows[0]), cross(rows[0], rows[1])];
        let det = W[0] * cofactors[0][0] + W[1] * cofactors[0][1] + W[2] * cofactors[0][2];
        let regular = det.abs() > REGULAR * (W[0] * W[4] * W[8]).abs();
        let det = if regular { det } else { f64::NAN };
        let part =
            |j: usize| cofactors[0][j] * w[0] + cofactors[1][j] * w[1] + cofactors[2][j] * w[2];
        [z[0] - part(0) / det, z[1] - part(1) / det, z[2] - part(2) / det]
    }

    /// Equation (2) from the direction of `start`.
    #[inline]
    fn slip(&self, b: &[f64; 3], start: [f64; 2]) -> Option<[f64; 3]> {
        let Visit { mu, W } = self;
        let unit = |d: [f64; 2]| {
            let length = 1.0 / (d[0] * d[0] + d[1] * d[1]).sqrt();
            [length * d[0], length * d[1]]
        };
        let dot = |x: [f64; 2], y: [f64; 2]| x[0] * y[0] + x[1] * y[1];
        let cross = |x: [f64; 2], y: [f64; 2]| x[0] * y[1] - x[1] * y[0];
        let (b_t, across) = ([b[1], b[2]], [mu * W[1], mu * W[2]]);
        let stiff =
            |d: [f64; 2]| [mu * (W[4] * d[0] + W[5] * d[1]), mu * (W[7] * d[0] + W[8] * d[1])];
        let mut d = unit(start);
        for _ in 0..TURNS {
            let e = [-d[1], d[0]];
            let (along, turned) = (stiff(d), stiff(e));
            let D = W[0] + dot(across, d);
            // D w_T, and how it turns
            let v = [D * b_t[0] - b[0] * (W[3] + along[0]), D * b_t[1] - b[0] * (W[6] + along[1])];
            let D_turned = dot(across, e);
            let v_turned =
                [D_turned * b_t[0] - b[0] * turned[0], D_turned * b_t[1] - b[0] * turned[1]];
            let lambda = -dot(d, v);
            let angle = -cross(d, v) / (lambda + cross(d, v_turned));
            if !(lambda > 0.0 && D > 0.0 && angle.abs() <= LARGE) {
                return None;
            }
            d = unit([d[0] + angle * e[0], d[1] + angle * e[1]]);
            if angle.abs() <= SHORT {
                let r = -b[0] / (W[0] + dot(across, d));
                let z = [r, mu * r * d[0], mu * r * d[1]];
                return (r > 0.0 && z[1].is_finite() && z[2].is_finite()).then_some(z);
            }
        }
        None
    }
}

/// `a × b`.
#[inline(always)]
fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// `y ← y − A x`.
#[inline]
fn subtract(y: &mut [f64; 3], A: &[f64; 9], x: &[f64; 3]) {
    for i in 0..3 {
        y[i] -= A[3 * i] * x[0] + A[3 * i + 1] * x[1] + A[3 * i + 2] * x[2];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;

    /// A positive definite block.
    fn random_block(random: &mut Random, skew: f64) -> [f64; 9] {
        let L: [f64; 9] = std::array::from_fn(|_| random.between(-1.0, 1.0));
        std::array::from_fn(|k| {
            let (i, j) = (k / 3, k % 3);
            let product: f64 = (0..3).map(|l| L[3 * i + l] * L[3 * j + l]).sum();
            let turn = skew * (j as f64 - i as f64);
            product + turn + if i == j { 0.2 } else { 0.0 }
        })
    }

    /// Visits one after the other end where the block is solved, from wherever they begin.
    #[test]
    fn visits_end_at_the_answer_of_the_block() {
        let mut random = Random::new(5);
        let mut modes = [0; 3]; // open, stick, slip
        for _ in 0..20_000 {
            let mu = random.between(0.05, 0.6);
            let set = Set::Coulomb3 { mu };
            let W = random_block(&mut random, 0.0);
            let b: [f64; 3] = std::array::from_fn(|_| random.between(-1.0, 0.6));
            let mut z: [f64; 3] = std::array::from_fn(|_| random.between(-1.0, 1.0));
            set.project(1.0, &mut z);
            let visit = Visit::new(&set, &W).unwrap();
            assert!(visit.is_of(&set));
            let velocity = |z: &[f64; 3]| {
                [0, 1, 2].map(|i| b[i] + (0..3).map(|j| W[3 * i + j] * z[j]).sum::<f64>())
            };
            for _ in 0..6 {
                visit.solve(&velocity(&z), &mut z);
            }
            let w = velocity(&z);
            let mut f = [0.0; 3];
            set.natural_map(1.0, &z, &w, &mut f);
            assert!(f.iter().all(|f| f.abs() <= 1e-11 * (1.0 + z[0])), "{f:?} {z:?} {W:?} {b:?}");
            let edge = (1.0 - 1e-9) * mu * z[0];
            modes[match z[0] {
                0.0 => 0,
                _ if z[1].hypot(z[2]) < edge => 1,
                _ => 2,
            }] += 1;
        }
        assert!(modes.iter().all(|&count| count > 500), "{modes:?}");
    }

    /// Where the block is nearly singular there is no inverse, and an answer all the same.
    #[test]
    fn a_singular_block_is_solved_as_any_other() {
        let W = [1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0];
        let visit = Visit::new(&Set::Coulomb3 { mu: 0.3 }, &W).unwrap();
        let mut z = [0.0; 3];
        visit.solve(&[-1.0, -0.05, -0.05], &mut z);
        assert!((z[0] - 1.0).abs() < 1e-12 && (z[1] + z[2] - 0.05).abs() < 1e-12, "{z:?}");
        assert!(Visit::new(&Set::SecondOrder { mu: 0.3 }, &W).is_none());
    }
}
