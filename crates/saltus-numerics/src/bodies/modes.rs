//! Newton's method on the contacts of rigid bodies: the answer of the mode that the sweeps have found.
//!
//! ```text
//! open:   δz = 0
//! stick:  w + W δz = 0
//! slip:   δz = δr (1, μ d) + β (0, e),    w_N + (W δz)_N = 0
//!         e · (w + W δz)_T + λ β/(μ z_N) = 0,    d = z_T/|z_T|,  e ⟂ d,  λ = −d · w_T           (1)
//! ```
//!
//! The second row of slip says that the slip stays opposed to the force when that turns. (1) is solved
//! roughly, by stabilized biconjugate gradients (van der Vorst 1992) with the blocks of the contacts as
//! preconditioner; a product with its matrix is one walk over the contacts. What leaves its cone is put
//! back onto it.

use super::{Friction, MovingBody, Touch, Twist};

/// Products with the matrix, half of them, in one solution.
const INNER: usize = 15;
/// Share of the defect at which it ends.
const ENOUGH: f64 = 0.1;
/// Share of the cone within which a contact sticks.
const INSIDE: f64 = 1.0 - 1e-9;

/// The mode of a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mode {
    Open,
    Normal,
    Stick,
    /// Direction of the force, and `λ/(μ z_N)`.
    Slip {
        d: [f64; 2],
        turn: f64,
    },
    /// In the plane, to this side.
    Side(f64),
}

/// The linear system (1) and the vectors of its solution.
#[derive(Debug, Default)]
pub(super) struct Modes {
    modes: Vec<Mode>,
    blocks: Vec<[f64; 9]>, // inverses
    twists: Vec<Twist>,
    y: Vec<f64>,
    r: Vec<f64>,
    shadow: Vec<f64>,
    p: Vec<f64>,
    v: Vec<f64>,
    s: Vec<f64>,
    t: Vec<f64>,
    image: Vec<f64>,
    best: Vec<f64>,
}

/// Whether (1) is known for these contacts.
pub(super) fn suits(touches: &[Touch]) -> bool {
    let plain = |touch: &Touch| {
        matches!(touch.friction, Friction::None | Friction::Plane { .. } | Friction::Space { .. })
    };
    touches.iter().all(plain)
}

impl Modes {
    /// One step from `z`, whose velocities are `twists`; three components a contact.
    pub fn step(
        &mut self,
        bodies: &[MovingBody],
        members: &[u32],
        touches: &[Touch],
        W: impl Fn(usize) -> [f64; 9],
        twists: &[Twist],
        z: &mut [f64],
    ) {
        self.choose(touches, W, twists, z);
        let n = z.len();
        for vector in [&mut self.y, &mut self.p, &mut self.v, &mut self.best] {
            vector.clear();
            vector.resize(n, 0.0);
        }
        for vector in [&mut self.s, &mut self.t, &mut self.image] {
            vector.resize(n, 0.0);
        }
        if self.twists.len() < bodies.len() {
            self.twists.resize(bodies.len(), Twist::default());
        }
        self.solve(bodies, members, touches);
        for (c, touch) in touches.iter().enumerate() {
            let step = self.expand(c, touch, &self.best[3 * c..3 * c + 3]);
            let own = &mut z[3 * c..3 * c + 3];
            for k in 0..3 {
                own[k] += step[k];
            }
            let mu = touch.mu();
            let size = own[1].hypot(own[2]);
            if !(own[0] > 0.0) {
                own.fill(0.0);
            } else if size > mu * own[0] {
                let share = mu * own[0] / size;
                (own[1], own[2]) = (share * own[1], share * own[2]);
            }
        }
    }

    /// The modes, their blocks, and the right-hand side.
    fn choose(
        &mut self,
        touches: &[Touch],
        W: impl Fn(usize) -> [f64; 9],
        twists: &[Twist],
        z: &[f64],
    ) {
        self.modes.clear();
        self.blocks.clear();
        self.r.clear();
        self.r.resize(z.len(), 0.0);
        for (c, touch) in touches.iter().enumerate() {
            let own = &z[3 * c..3 * c + 3];
            let W = W(c);
            let (mut mode, mut block) = (Mode::Open, [0.0; 9]);
            if own[0] > 0.0 {
                let [a, b] = touch.bodies.map(|k| k as usize);
                let mut w = touch.relative(&twists[a], &twists[b]);
                for k in 0..3 {
                    w[k] += touch.q[k];
                }
                let r = &mut self.r[3 * c..3 * c + 3];
                let (mu, size) = (touch.mu(), own[1].hypot(own[2]));
                let sticks = size < INSIDE * mu * own[0];
                match touch.friction {
                    Friction::Plane { .. } if sticks => {
                        mode = Mode::Stick;
                        let det = W[0] * W[3] - W[1] * W[2];
                        block[..2].copy_from_slice(&[W[3] / det, -W[1] / det]);
                        block[3..5].copy_from_slice(&[-W[2] / det, W[0] / det]);
                        (r[0], r[1]) = (-w[0], -w[1]);
                    }
                    Friction::Plane { .. } if size > 0.0 => {
                        let side = 1.0_f64.copysign(own[1]);
                        mode = Mode::Side(side);
                        block[0] = 1.0 / (W[0] + mu * side * W[1]);
                        r[0] = -w[0];
                    }
                    Friction::Space { .. } if sticks => {
                        mode = Mode::Stick;
                        block = super::sweeps::inverse3(&W);
                        (r[0], r[1], r[2]) = (-w[0], -w[1], -w[2]);
                    }
                    Friction::Space { .. } if size > 0.0 => {
                        let d = [own[1] / size, own[2] / size];
                        let e = [-d[1], d[0]];
                        let slip = (-(d[0] * w[1] + d[1] * w[2])).max(0.0);
                        let turn = slip / (mu * own[0]);
                        mode = Mode::Slip { d, turn };
                        (r[0], r[1]) = (-w[0], -(e[0] * w[1] + e[1] * w[2]));
                        let ray = [1.0, mu * d[0], mu * d[1]];
                        let across = [0.0, e[0], e[1]];
                        let by = |row: usize, x: [f64; 3]| {
                            W[3 * row] * x[0] + W[3 * row + 1] * x[1] + W[3 * row + 2] * x[2]
                        };
                        let along = |x: [f64; 3]| e[0] * by(1, x) + e[1] * by(2, x);
                        let (nn, ne) = (by(0, ray), by(0, across));
                        let (en, ee) = (along(ray), along(across) + turn);
                        let det = nn * ee - ne * en;
                        block[..2].copy_from_slice(&[ee / det, -ne / det]);
                        block[3..5].copy_from_slice(&[-en / det, nn / det]);
                    }
                    _ => {
                        mode = Mode::Normal;
                        block[0] = 1.0 / W[0];
                        r[0] = -w[0];
                    }
                }
            }
            self.modes.push(mode);
            self.blocks.push(block);
        }
    }

    /// The change of an impulse.
    #[inline]
    fn expand(&self, c: usize, touch: &Touch, y: &[f64]) -> [f64; 3] {
        let mu = touch.mu();
        match self.modes[c] {
            Mode::Open => [0.0; 3],
            Mode::Normal => [y[0], 0.0, 0.0],
            Mode::Stick => [y[0], y[1], y[2]],
            Mode::Side(side) => [y[0], mu * side * y[0], 0.0],
            Mode::Slip { d, .. } => {
                [y[0], mu * d[0] * y[0] - d[1] * y[1], mu * d[1] * y[0] + d[0] * y[1]]
            }
        }
    }

    /// `image ← B y` of (1), with `y = P x` for the preconditioner `P`; leaves `y` in `x`'s place.
    fn product(
        &mut self,
        bodies: &[MovingBody],
        members: &[u32],
        touches: &[Touch],
        from: Vectors,
    ) {
        let mut x = std::mem::take(self.vector(from));
        let mut image = std::mem::take(&mut self.image);
        for &k in members {
            self.twists[k as usize] = Twist::default();
        }
        for (c, touch) in touches.iter().enumerate() {
            let own = &mut x[3 * c..3 * c + 3];
            if self.modes[c] == Mode::Open {
                own.fill(0.0);
                continue;
            }
            let B = &self.blocks[c];
            let row = |i: usize| B[3 * i] * own[0] + B[3 * i + 1] * own[1] + B[3 * i + 2] * own[2];
            let y = [row(0), row(1), row(2)];
            own.copy_from_slice(&y);
            let (impulse, moment) = touch.impulse(&self.expand(c, touch, &y));
            let [a, b] = touch.bodies.map(|k| k as usize);
            self.twists[a].push(&bodies[a], touch.arms[0], 1.0, impulse, moment);
            self.twists[b].push(&bodies[b], touch.arms[1], -1.0, impulse, moment);
        }
        for (c, touch) in touches.iter().enumerate() {
            let out = &mut image[3 * c..3 * c + 3];
            let [a, b] = touch.bodies.map(|k| k as usize);
            if self.modes[c] == Mode::Open {
                out.fill(0.0);
                continue;
            }
            let u = touch.relative(&self.twists[a], &self.twists[b]);
            match self.modes[c] {
                Mode::Open => {}
                Mode::Normal | Mode::Side(_) => out.copy_from_slice(&[u[0], 0.0, 0.0]),
                Mode::Stick => out.copy_from_slice(&u[..3]),
                Mode::Slip { d, turn } => {
                    let across = -d[1] * u[1] + d[0] * u[2] + turn * x[3 * c + 1];
                    out.copy_from_slice(&[u[0], across, 0.0]);
                }
            }
        }
        self.image = image;
        *self.vector(from) = x;
    }

    fn vector(&mut self, which: Vectors) -> &mut Vec<f64> {
        match which {
            Vectors::S => &mut self.s,
            Vectors::T => &mut self.t,
        }
    }

    /// (1), roughly; the best answer is left in `best`.
    fn solve(&mut self, bodies: &[MovingBody], members: &[u32], touches: &[Touch]) {
        let n = self.r.len();
        self.shadow.clone_from(&self.r);
        let start = square(&self.r);
        let (mut least, mut rho, mut alpha, mut omega) = (start, 1.0, 1.0, 1.0);
        for _ in 0..INNER {
            let next = dot(&self.shadow, &self.r);
            let beta = next / rho * alpha / omega;
            rho = next;
            for i in 0..n {
                self.p[i] = self.r[i] + beta * (self.p[i] - omega * self.v[i]);
            }
            self.t.copy_from_slice(&self.p);
            self.product(bodies, members, touches, Vectors::T);
            self.v.copy_from_slice(&self.image);
            alpha = rho / dot(&self.shadow, &self.v);
            for i in 0..n {
                self.y[i] += alpha * self.t[i];
                self.r[i] -= alpha * self.v[i];
            }
            self.s.copy_from_slice(&self.r);
            self.product(bodies, members, touches, Vectors::S);
            omega = dot(&self.image, &self.r) / square(&self.image);
            for i in 0..n {
                self.y[i] += omega * self.s[i];
                self.r[i] -= omega * self.image[i];
            }
            let size = square(&self.r);
            if !size.is_finite() {
                return;
            }
            if size < least {
                least = size;
                self.best.copy_from_slice(&self.y);
            }
            if size <= ENOUGH * ENOUGH * start {
                return;
            }
        }
    }
}

/// Which vector a product takes.
#[derive(Debug, Clone, Copy)]
enum Vectors {
    S,
    T,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    saltus_linalg::vector::dot(a, b)
}

fn square(a: &[f64]) -> f64 {
    dot(a, a)
}
