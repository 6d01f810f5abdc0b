//! Bodies that overlap are moved apart, beside the step: velocities are not touched.
//!
//! ```text
//! D = Σ M⁻¹ n p,    0 ≤ n · D − d ⟂ p ≥ 0                                                       (1)
//! d = β (−g − s)   where g < −s,    d = −max(g⁺, 0)   elsewhere,    s = ε |r|
//! ```
//!
//! over the contacts of an island, by sweeps of successive over-relaxation until nothing moves any more, so that their order does not count. `g` is the gap that was found, `g⁺` that at the end of
//! the step, `r` the arm. No kinetic energy comes of it. Overlaps up to `s` stay, so that what rests on
//! one another does so to the last bit.

use saltus_linalg::vector::foresee;
use saltus_numerics::bodies::{FORESEEN, MovingBody, Normal, Response, Touch, Twist};

/// The share of an overlap that a step takes away.
const SHARE: f64 = 0.2;
/// Overlap, relative to the arm, that is left.
pub(super) const LEFT: f64 = 1e-6;
/// The overlap, in the same units, from which on there is one: what is taken away ends at `LEFT`, up to round-off.
pub(super) const SEEN: f64 = 1.01 * LEFT;
/// Sweeps at most, and the way, relative to the arm, at which they end.
const SWEEPS: usize = 200;
const FINE: f64 = 1e-9;
/// Steps beyond the answer of a contact alone, `ω` of successive over-relaxation, from the sweep on that shows that contacts do not stand alone.
const OMEGA: f64 = 1.65;
const SINGLE: usize = 2;
/// Contacts up to which what a push does is kept.
const KEPT: usize = 4096;

/// The ways that lead apart.
#[derive(Debug, Default)]
pub(super) struct Overlap {
    /// Of each body, once there was an overlap; zero unless its island overlaps.
    pub ways: Vec<Twist>,
    p: Vec<f64>,
    d: Vec<f64>,
    kept: Vec<(Normal, Response)>, // of islands with few contacts
    responses: Vec<f64>,           // of others; no number where none was asked for
    moved: Vec<usize>, // the visit that moved each body last, counted over all islands of a step
    visit: usize,
    pub any: bool,
}

impl Overlap {
    pub fn begin(&mut self) {
        if self.any {
            self.ways.fill(Twist::default());
            self.moved.fill(0);
        }
        (self.any, self.visit) = (false, 0);
    }

    /// Equation (1); `gaps` are, of each contact, `g`, `g⁺` and the arm.
    pub fn part(
        &mut self,
        bodies: &[MovingBody],
        touches: &[Touch],
        gaps: impl Iterator<Item = [f64; 3]>,
    ) {
        let foreseen = FORESEEN * bodies.len();
        self.d.clear();
        foresee(&mut self.d, touches.len(), foreseen);
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
        foresee(&mut self.p, touches.len(), foreseen);
        self.p.resize(touches.len(), 0.0);
        let is_kept = touches.len() <= KEPT;
        self.kept.clear();
        self.responses.clear();
        if is_kept {
            let with_response = |touch: &Touch| {
                let normal = Normal::new(touch);
                (normal, normal.response(bodies))
            };
            self.kept.extend(touches.iter().map(with_response));
        } else {
            foresee(&mut self.responses, touches.len(), foreseen);
            self.responses.resize(touches.len(), f64::NAN);
        }
        self.moved.resize(bodies.len(), 0);
        let Overlap { ways, p, d, kept, responses, moved, visit, .. } = self;
        let (count, begin) = (touches.len(), *visit);
        for sweep in 0..SWEEPS {
            let mut most = 0.0_f64;
            let omega = if sweep < SINGLE { 1.0 } else { OMEGA };
            for (c, touch) in touches.iter().enumerate() {
                *visit += 1;
                let (a, b) = (touch.bodies[0] as usize, touch.bodies[1] as usize);
                // nothing has moved since the last visit, a sweep ago; or since the beginning, and it need not
                let last = moved[a].max(moved[b]);
                let is_still = match sweep {
                    0 => last <= begin && !(d[c] > 0.0),
                    _ => last <= *visit - count,
                };
                if is_still {
                    continue;
                }
                let made;
                let (normal, response) = match is_kept {
                    true => (&kept[c].0, kept[c].1.size),
                    false => {
                        made = Normal::new(touch);
                        if responses[c].is_nan() {
                            responses[c] = made.response(bodies).size;
                        }
                        (&made, responses[c])
                    }
                };
                // nothing can move
                if !(response > 0.0) {
                    continue;
                }
                let now = normal.velocity(ways);
                let next = (p[c] - omega * (now - d[c]) / response).max(0.0);
                let change = next - p[c];
                if change == 0.0 {
                    continue;
                }
                most = most.max(response * change.abs());
                p[c] = next;
                match is_kept {
                    true => normal.push(change, &kept[c].1, bodies, ways),
                    false => normal.push(change, &normal.response(bodies), bodies, ways),
                }
                // what stands still is never moved
                for body in [a, b] {
                    if bodies[body].inverse_mass > 0.0 {
                        moved[body] = *visit;
                    }
                }
            }
            if most <= fine {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_numerics::bodies::Friction;

    /// Balls in a row, one after the other into its neighbour by these overlaps, the first into a wall.
    fn row(overlaps: &[f64]) -> (Vec<MovingBody>, Vec<Touch>) {
        let ball = MovingBody {
            inverse_mass: 1.0,
            inverse_inertia: [2.5, 2.5, 2.5, 0.0, 0.0, 0.0],
            ..MovingBody::default()
        };
        let count = overlaps.len() as u32;
        let mut bodies = vec![ball; overlaps.len()];
        bodies.push(MovingBody::default());
        let touch = |k: u32| Touch {
            bodies: [k, k.checked_sub(1).unwrap_or(count)],
            frame: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            arms: [[-1.0, 0.0, 0.0], if k == 0 { [0.0; 3] } else { [1.0, 0.0, 0.0] }],
            q: [0.0; 3],
            compliance: [0.0; 2],
            friction: Friction::None,
        };
        (bodies, (0..count).map(touch).collect())
    }

    /// Every contact moves apart by what it should and no more is pushed than that takes, one island after the other.
    #[test]
    fn what_overlaps_moves_apart() {
        let overlaps = [0.0, 1e-3, 0.0, 0.0, 2e-3];
        let (bodies, touches) = row(&overlaps);
        let mut overlap = Overlap::default();
        for step in 0..3 {
            overlap.begin();
            assert!(overlap.ways.iter().all(|way| *way == Twist::default()), "{step}");
            // two islands: the second has one contact, of two bodies that are not in the first
            for part in [0..3, 4..5] {
                let gaps = part.clone().map(|k| [-overlaps[k], -overlaps[k], 1.0]);
                overlap.part(&bodies, &touches[part.clone()], gaps);
            }
            assert!(overlap.any);
            let asked = SHARE * (1e-3 - LEFT);
            let ways = [0, 1, 2].map(|k: usize| overlap.ways[k].v[0]);
            assert!(ways[0].abs() < 1e-8, "the wall holds the first ball: {ways:?}");
            assert!((ways[1] - asked).abs() < 1e-8 && (ways[2] - asked).abs() < 1e-8, "{ways:?}");
            let apart = overlap.ways[4].v[0] - overlap.ways[3].v[0];
            assert!((apart - SHARE * (2e-3 - LEFT)).abs() < 1e-8, "{apart}");
            assert_eq!(overlap.ways[5], Twist::default(), "the wall stays");
        }
    }

    /// A long row that overlaps everywhere comes to its answer, ball `k` by `k + 1` times the way of one: without
    /// over-relaxation two hundred sweeps leave two hundredths of it.
    #[test]
    fn a_long_row_moves_apart() {
        let overlaps = [1e-3; 12];
        let (bodies, touches) = row(&overlaps);
        let mut overlap = Overlap::default();
        overlap.begin();
        overlap.part(&bodies, &touches, overlaps.iter().map(|over| [-over, -over, 1.0]));
        for k in 0..overlaps.len() {
            let asked = (k + 1) as f64 * SHARE * (1e-3 - LEFT);
            let way = overlap.ways[k].v[0];
            assert!((way - asked).abs() < 1e-8, "{k}: {way} instead of {asked}");
        }
    }

    #[test]
    fn what_cannot_move_is_left() {
        let (mut bodies, touches) = row(&[1e-3, 0.0]);
        bodies[0] = MovingBody::default();
        let mut overlap = Overlap::default();
        overlap.begin();
        overlap.part(&bodies, &touches, [[-1e-3, -1e-3, 1.0], [0.0, 0.0, 1.0]].into_iter());
        assert!(overlap.ways.iter().all(|way| *way == Twist::default()), "{:?}", overlap.ways);
    }
}
