//! Bodies that overlap are moved apart, beside the step: velocities are not touched.
//!
//! ```text
//! D = Σ M⁻¹ n p,    0 ≤ n · D − d ⟂ p ≥ 0                                                       (1)
//! d = β (−g − s)   where g < −s,    d = −max(g⁺, 0)   elsewhere,    s = ε |r|
//! ```
//!
//! over the contacts of an island, by sweeps until nothing moves any more, so that their order does not count. `g` is the gap that was found, `g⁺` that at the end of
//! the step, `r` the arm. No kinetic energy comes of it. Overlaps up to `s` stay, so that what rests on
//! one another does so to the last bit.

use saltus_numerics::bodies::{MovingBody, Normal, Touch, Twist};

/// The share of an overlap that a step takes away.
const SHARE: f64 = 0.2;
/// Overlap, relative to the arm, that is left.
pub(super) const LEFT: f64 = 1e-6;
/// The overlap, in the same units, from which on there is one: what is taken away ends at `LEFT`, up to round-off.
pub(super) const SEEN: f64 = 1.01 * LEFT;
/// Sweeps at most, and the way, relative to the arm, at which they end.
const SWEEPS: usize = 200;
const FINE: f64 = 1e-9;
/// The share of that way after which a body is looked at again.
const MOVED: f64 = 0.1;

/// The ways that lead apart.
#[derive(Debug, Default)]
pub(super) struct Overlap {
    /// Of each body, once there was an overlap; zero unless its island overlaps.
    pub ways: Vec<Twist>,
    p: Vec<f64>,
    d: Vec<f64>,
    normals: Vec<Normal>,
    moved: Vec<usize>, // the visit that moved each body last
    pub any: bool,
}

impl Overlap {
    pub fn begin(&mut self) {
        if self.any {
            self.ways.fill(Twist::default());
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
        let mut fine = f64::INFINITY;
        self.d.extend(gaps.map(|[gap, next, arm]| {
            fine = fine.min(FINE * arm);
            match -gap - LEFT * arm {
                over if over > 0.0 => SHARE * over,
                _ => -next.max(0.0),
            }
        }));
        if !self.d.iter().any(|d| *d > 0.0) {
            return;
        }
        self.any = true;
        self.ways.resize(bodies.len(), Twist::default());
        self.p.clear();
        self.p.resize(touches.len(), 0.0);
        self.normals.clear();
        self.normals.extend(touches.iter().map(|touch| Normal::new(touch, bodies)));
        self.moved.clear();
        self.moved.resize(bodies.len(), 0);
        let Overlap { ways, p, d, normals, moved, .. } = self;
        let (count, mut visit) = (touches.len(), 0);
        for sweep in 0..SWEEPS {
            let mut most = 0.0_f64;
            for (c, normal) in normals.iter().enumerate() {
                visit += 1;
                let [a, b] = normal.bodies.map(|k| k as usize);
                // nothing has moved since the last visit, a sweep ago
                if sweep > 0 && moved[a].max(moved[b]) <= visit - count {
                    continue;
                }
                let now = normal.velocity(ways);
                let next = (p[c] - (now - d[c]) / normal.response).max(0.0);
                let change = next - p[c];
                if change == 0.0 {
                    continue;
                }
                let way = normal.response * change.abs();
                most = most.max(way);
                p[c] = next;
                normal.push(change, ways);
                if way > MOVED * fine {
                    // what stands still is never moved
                    for body in [a, b].into_iter().filter(|&k| bodies[k].inverse_mass > 0.0) {
                        moved[body] = visit;
                    }
                }
            }
            if most <= fine {
                break;
            }
        }
    }
}
