//! The current between collector and emitter, after Gummel and Poon.

/// The charge of the base, relative to that at rest:
///
/// ```text
/// q = q₁ (1 + √(1 + 4 q₂))/2,    q₁ = 1/(1 − v_BC/V_AF − v_BE/V_AR),    q₂ = i_F/I_KF + i_R/I_KR
/// ```
#[derive(Debug, Clone, Copy)]
pub(crate) struct BaseCharge {
    /// `V_AF`, `V_AR`; infinite for none.
    pub early: [f64; 2],
    /// `I_KF`, `I_KR`; infinite for none.
    pub knee: [f64; 2],
}

/// Least of `1/q₁`: beyond it the voltages are no longer those of a transistor at work.
const LEAST: f64 = 1e-2;

impl BaseCharge {
    /// `1/q` at `(v_BE, v_BC, i_F, i_R)`, and its slopes.
    fn inverse(&self, [v_be, v_bc, i_f, i_r]: [f64; 4]) -> (f64, [f64; 4]) {
        let [forward, reverse] = self.early.map(f64::recip);
        let first = 1.0 - v_bc * forward - v_be * reverse;
        let (first, [d_be, d_bc]) = match first > LEAST {
            true => (first, [-reverse, -forward]),
            false => (LEAST, [0.0, 0.0]),
        };
        let [k_f, k_r] = self.knee.map(f64::recip);
        let level = i_f * k_f + i_r * k_r;
        let (root, [d_f, d_r]) = match level > 0.0 {
            true => {
                let root = (1.0 + 4.0 * level).sqrt();
                (root, [2.0 * k_f / root, 2.0 * k_r / root])
            }
            false => (1.0, [0.0, 0.0]),
        };
        let second = 2.0 / (1.0 + root);
        let falls = -first * second / (1.0 + root);
        (first * second, [second * d_be, second * d_bc, falls * d_f, falls * d_r])
    }

    /// `i/q` with `i = a_F i_F + a_R i_R`, and its slopes.
    pub fn share(&self, [a_f, a_r]: [f64; 2], w: [f64; 4]) -> (f64, [f64; 4]) {
        let (inverse, slopes) = self.inverse(w);
        let current = a_f * w[2] + a_r * w[3];
        let mut result = slopes.map(|slope| current * slope);
        result[2] += a_f * inverse;
        result[3] += a_r * inverse;
        (current * inverse, result)
    }
}

/// `i = (i_F − i_R)/q`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transport(pub BaseCharge);

impl Transport {
    /// The current and its slopes at `(v_BE, v_BC, i_F, i_R)`.
    pub fn current(&self, w: [f64; 4]) -> (f64, [f64; 4]) {
        self.0.share([1.0, -1.0], w)
    }
}
