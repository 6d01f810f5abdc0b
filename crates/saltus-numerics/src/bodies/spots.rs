//! The surroundings of the contacts that hold most of the residual, each as a small problem of its own
//! with everything else as it is: where bodies are wedged, sweeps take for ever to shift their forces.

use super::by_body::ByBody;
use super::{COMPONENTS, Island, MovingBody, Touch, Twist, problem};
use crate::methods::Workspace;
use crate::{AutoSettings, Solver};

/// Spots in one round.
const SPOTS: usize = 4;
/// Most contacts of one, and iterations of its solver.
const MOST: usize = 40;
const EFFORT: usize = 500;

/// What the spots keep between calls.
#[derive(Debug, Default)]
pub(super) struct Spots {
    workspace: Option<Workspace>,
    tol: f64,
    by_body: ByBody,
    shares: Vec<f64>,
    is_done: Vec<bool>,
    is_in: Vec<bool>, // bodies
    spot: Vec<u32>,
    members: Vec<u32>,
    touches: Vec<Touch>,
    bodies: Vec<MovingBody>,
    z: Vec<f64>,
    w: Vec<f64>,
}

impl Spots {
    /// The contacts of each body.
    pub fn prepare(&mut self, bodies: usize, touches: &[Touch], tol: f64) {
        self.by_body.fill(bodies, touches.iter().map(|touch| touch.bodies));
        if self.workspace.is_none() || self.tol != tol {
            let settings =
                AutoSettings { tol: 1e-2 * tol, max_iter: EFFORT, ..AutoSettings::default() };
            self.workspace = Workspace::new(Solver::Auto(settings)).ok();
            self.tol = tol;
        }
    }

    /// Solves the surroundings, so many rings wide, of the worst contacts; `rho` makes impulses of
    /// velocities.
    #[expect(clippy::too_many_arguments)]
    pub fn solve(
        &mut self,
        bodies: &[MovingBody],
        touches: &[Touch],
        rho: f64,
        rings: usize,
        z: &mut [f64],
        stride: usize,
        twists: &mut [Twist],
    ) {
        self.is_done.clear();
        self.is_done.resize(touches.len(), false);
        self.is_in.resize(bodies.len(), false);
        self.bodies.resize(bodies.len(), MovingBody::default());
        self.shares.clear();
        let mut f = [0.0; COMPONENTS];
        for (c, touch) in touches.iter().enumerate() {
            let n = touch.friction.size();
            let [a, b] = touch.bodies.map(|k| k as usize);
            let own = &z[c * stride..c * stride + n];
            let w = touch.moved_under(&twists[a], &twists[b], own);
            touch.friction.set().natural_map(rho, own, &w[..n], &mut f[..n]);
            self.shares.push(f[..n].iter().map(|x| x * x).sum());
        }
        for _ in 0..SPOTS {
            let open = (0..touches.len()).filter(|&c| !self.is_done[c]);
            let worst = open.max_by(|&a, &b| self.shares[a].total_cmp(&self.shares[b]));
            let Some(worst) = worst else { return };
            if !(self.shares[worst] > 0.0) {
                return;
            }
            self.surround(bodies, touches, worst, rings);
            self.solve_one(bodies, touches, z, stride, twists);
        }
    }

    /// The contacts of the spot, and its bodies.
    fn surround(&mut self, bodies: &[MovingBody], touches: &[Touch], worst: usize, rings: usize) {
        let moves = |k: u32| bodies[k as usize].inverse_mass > 0.0;
        self.spot.clear();
        self.members.clear();
        let (mut seen, mut ring) = (0, touches[worst].bodies.into_iter().collect::<Vec<_>>());
        ring.retain(|&k| moves(k));
        self.members.extend(ring);
        self.members.dedup();
        self.members.iter().for_each(|&k| self.is_in[k as usize] = true);
        for _ in 0..=rings {
            let until = self.members.len();
            for place in seen..until {
                for &c in self.by_body.of(self.members[place] as usize) {
                    if self.is_done[c as usize] || self.spot.contains(&c) {
                        continue;
                    }
                    if self.spot.len() >= MOST {
                        break;
                    }
                    self.spot.push(c);
                    for other in touches[c as usize].bodies {
                        if moves(other) && !self.is_in[other as usize] {
                            self.is_in[other as usize] = true;
                            self.members.push(other);
                        }
                    }
                }
            }
            seen = until;
        }
        self.members.iter().for_each(|&k| self.is_in[k as usize] = false);
        self.members.sort_unstable();
        self.is_done[worst] = true;
    }

    /// The spot alone.
    fn solve_one(
        &mut self,
        bodies: &[MovingBody],
        touches: &[Touch],
        z: &mut [f64],
        stride: usize,
        twists: &mut [Twist],
    ) {
        self.touches.clear();
        self.z.clear();
        let push = |twists: &mut [Twist], touch: &Touch, z: &[f64], sign: f64| {
            let (impulse, moment) = touch.impulse(z);
            let [a, b] = touch.bodies.map(|k| k as usize);
            twists[a].push(&bodies[a], touch.arms[0], sign, impulse, moment);
            twists[b].push(&bodies[b], touch.arms[1], -sign, impulse, moment);
        };
        for &c in &self.spot {
            let (touch, c) = (touches[c as usize], c as usize);
            self.is_done[c] = true;
            let own = &z[c * stride..c * stride + touch.friction.size()];
            push(twists, &touch, own, -1.0);
            self.z.extend_from_slice(own);
            self.touches.push(touch);
        }
        for &k in &self.members {
            let Twist { v, omega } = twists[k as usize];
            self.bodies[k as usize] = MovingBody { v, omega, ..bodies[k as usize] };
        }
        let mut next = 0;
        let spot = Island { bodies: &self.bodies, members: &self.members, touches: &self.touches };
        let solved = problem(spot).ok().and_then(|small| {
            self.w.clear();
            self.w.resize(small.len(), 0.0);
            let workspace = self.workspace.as_mut()?;
            workspace.forget();
            workspace.solve(&small, &mut self.z, &mut self.w).ok()
        });
        for &c in &self.spot {
            let (touch, c) = (&touches[c as usize], c as usize);
            let n = touch.friction.size();
            if solved.is_some() {
                z[c * stride..c * stride + n].copy_from_slice(&self.z[next..next + n]);
            }
            push(twists, touch, &z[c * stride..c * stride + n], 1.0);
            next += n;
        }
    }
}
