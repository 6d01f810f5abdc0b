//! Bodies that overlap are moved apart, beside the step: velocities are not touched.
//!
//! ```text
//! D = Σ M⁻¹ n p,    0 ≤ n · D − d ⟂ p ≥ 0                                                       (1)
//! d = β (−g − s)   where g < −s,    d = −max(g⁺, 0)   elsewhere,    s = ε |r|
//! ```
//!
//! over the contacts of an island, by some sweeps. `g` is the gap that was found, `g⁺` that at the end of
//! the step, `r` the arm. No kinetic energy comes of it. Overlaps up to `s` stay, so that what rests on
//! one another does so to the last bit.

use saltus_numerics::bodies::{MovingBody, Touch, Twist};

/// The share of an overlap that a step takes away.
const SHARE: f64 = 0.2;
/// Overlap, relative to the arm, that is left.
pub(super) const LEFT: f64 = 1e-6;
/// Sweeps.
const SWEEPS: usize = 20;

/// The ways that lead apart.
#[derive(Debug, Default)]
pub(super) struct Overlap {
    /// Of each body; zero unless its island overlaps.
    pub ways: Vec<Twist>,
    p: Vec<f64>,
    d: Vec<f64>,
    pub any: bool,
}

impl Overlap {
    pub fn begin(&mut self, bodies: usize) {
        if self.any || self.ways.len() != bodies {
            self.ways.clear();
            self.ways.resize(bodies, Twist::default());
        }
        self.any = false;
    }

    /// Equation (1); `gaps` are, of each contact, `g`, `g⁺` and the arm.
    pub fn part(
        &mut self,
        bodies: &[MovingBody],
        touches: &[Touch],
        gaps: impl Iterator<Item = [f64; 3]>,
    ) {
        self.d.clear();
        self.d.extend(gaps.map(|[gap, next, arm]| match -gap - LEFT * arm {
            over if over > 0.0 => SHARE * over,
            _ => -next.max(0.0),
        }));
        if !self.d.iter().any(|d| *d > 0.0) {
            return;
        }
        self.any = true;
        self.p.clear();
        self.p.resize(touches.len(), 0.0);
        for _ in 0..SWEEPS {
            let mut moved = false;
            for (c, touch) in touches.iter().enumerate() {
                let [a, b] = touch.bodies.map(|k| k as usize);
                let now = touch.relative(&self.ways[a], &self.ways[b])[0];
                let p = (self.p[c] - (now - self.d[c]) / touch.normal_response(bodies)).max(0.0);
                let change = p - self.p[c];
                if change == 0.0 {
                    continue;
                }
                moved = true;
                self.p[c] = p;
                touch.push_normal(bodies, change, &mut self.ways);
            }
            if !moved {
                break;
            }
        }
    }
}
