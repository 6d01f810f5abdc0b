//! Multipliers for contacts with friction: contacts give way a little around the impulses that they have, and
//! these follow.
//!
//! ```text
//! r_N = max(0, ẑ_N − ρ w_N),     r_T = P_{μ r_N}(ẑ_T − ρ w_T),     s = s_free + Kᵀ r            (1)
//! ẑ ← r                                                                                        (2)
//! ```
//!
//! `P` is the projection onto the disk. (1) is solved for the velocities `w = K s + q` by Newton's method,
//! with the derivative `D` of the law:
//!
//! ```text
//! (1 + Kᵀ D K) δs = s_free + Kᵀ r − s                                                          (3)
//! ```
//!
//! The stiffer the contacts (`ρ`, in units of `1/W`), the faster (2) and the harder (1): `ρ` grows while (1)
//! takes few steps. Reference: Alart, Curnier, *Comput. Methods Appl. Mech. Eng.* 92 (1991) 353–375.

use super::rows::{Motion, Row, Rows};
use saltus_linalg::GraphLu;

/// Steps of (3), and halvings of each.
const STEPS: usize = 6;
const HALVINGS: usize = 5;

/// The method's vectors, kept between calls.
#[derive(Debug, Default)]
pub(super) struct Multipliers {
    pub s: Vec<Motion>,
    before: Vec<Motion>,
    ds: Vec<Motion>,
    defect: Vec<Motion>,
    r: Vec<f64>,
    D: Vec<[f64; 9]>,
}

impl Multipliers {
    /// (2) for this `ρ`, from the velocities in `s`, with (1) solved up to this defect; how many
    /// factorizations, or `None`, and nothing changed, where (1) was not solved.
    pub fn step(
        &mut self,
        rows: &Rows,
        lu: &mut GraphLu,
        rho: f64,
        defect: f64,
        z: &mut [f64],
    ) -> Option<usize> {
        let begin = self.s.clone();
        self.r.resize(z.len(), 0.0);
        self.D.resize(rows.all.len(), [0.0; 9]);
        let mut size = self.evaluate(rows, rho, z);
        for step in 1..=STEPS {
            rows.assemble(&self.D, lu);
            if lu.factor().is_err() {
                break;
            }
            self.ds.clone_from(&self.defect);
            lu.solve(&mut self.ds);
            self.before.clone_from(&self.s);
            let (last, mut length, mut falls) = (size, 1.0, false);
            for _ in 0..HALVINGS {
                for ((s, before), ds) in self.s.iter_mut().zip(&self.before).zip(&self.ds) {
                    (0..6).for_each(|i| s[i] = before[i] + length * ds[i]);
                }
                size = self.evaluate(rows, rho, z);
                falls = size < (1.0 - 0.2 * length) * last;
                if falls {
                    break;
                }
                length *= 0.5;
            }
            if size <= defect * defect {
                z.copy_from_slice(&self.r);
                return Some(step);
            }
            if !falls {
                break;
            }
        }
        self.s = begin;
        None
    }

    /// `r`, `D` and the defect of (1); its square.
    fn evaluate(&mut self, rows: &Rows, rho: f64, z: &[f64]) -> f64 {
        self.defect.clone_from(&rows.free);
        for (c, row) in rows.all.iter().enumerate() {
            let w = row.velocity(&self.s);
            let (r, D) = law(row, rho / row.size, &z[3 * c..3 * c + 3], w);
            self.r[3 * c..3 * c + 3].copy_from_slice(&r);
            self.D[c] = D;
            row.push(r, &mut self.defect);
        }
        let mut size = 0.0;
        for (defect, s) in self.defect.iter_mut().zip(&self.s) {
            for i in 0..6 {
                defect[i] -= s[i];
                size += defect[i] * defect[i];
            }
        }
        size
    }
}

/// `r` of (1), and `D = −∂r/∂w`.
#[inline]
fn law(row: &Row, rho: f64, z: &[f64], w: [f64; 3]) -> ([f64; 3], [f64; 9]) {
    let x = [z[0] - rho * w[0], z[1] - rho * w[1], z[2] - rho * w[2]];
    if !(x[0] > 0.0) {
        return ([0.0; 3], [0.0; 9]);
    }
    let (mu, along) = (row.mu, x[1].hypot(x[2]));
    if along <= mu * x[0] {
        return (x, [rho, 0.0, 0.0, 0.0, rho, 0.0, 0.0, 0.0, rho]);
    }
    let ([d, e], turn) = ([x[1] / along, x[2] / along], rho * mu * x[0] / along);
    let r = [x[0], mu * x[0] * d, mu * x[0] * e];
    let normal = [rho, 0.0, 0.0];
    let first = [rho * mu * d, turn * (1.0 - d * d), -turn * d * e];
    let second = [rho * mu * e, -turn * d * e, turn * (1.0 - e * e)];
    let mut D = [0.0; 9];
    for (own, row) in D.chunks_exact_mut(3).zip([normal, first, second]) {
        own.copy_from_slice(&row);
    }
    (r, D)
}
