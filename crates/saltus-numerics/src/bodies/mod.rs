//! Rigid bodies and their contacts: the map of a friction problem, body by body and contact by contact.
//!
//! ```text
//! V = V_free + Σ M⁻¹ Hᵀ z,     w = H V + q                                                     (1)
//! H_c V = (n · c, t₁ · c, t₂ · c),     c = v_a + ω_a × r_a − v_b − ω_b × r_b
//! ```
//!
//! No matrix is stored beyond the block `W_cc` of each contact: memory is that of bodies and contacts,
//! and a product with `W = H M⁻¹ Hᵀ` is one walk over the contacts. All vectors are in the frame of the
//! world. Bodies in the plane are bodies in space whose contacts have two components.
//!
//! A contact that gives way has a compliance `C` of its normal and its tangents:
//!
//! ```text
//! w = H V + q + C z                                                                            (2)
//! ```
//!
//! which is `W + C` in place of `W`.

mod by_body;
mod central_path;
mod cone;
mod contacts;
mod crowds;
mod fours;
#[cfg(test)]
mod heaps;
mod interior;
mod lanes;
mod lively;
mod measure;
mod newton;
mod normal;
mod part;
mod quads;
mod rows;
mod spots;
mod surroundings;
mod sweeps;
mod turns;
mod visit;

pub(crate) use contacts::Contacts;
pub use normal::{Normal, Response};
pub use sweeps::{BodySweeps, Sweeping};

use crate::{Block, Global, NumericsError, Operator, Problem, Set};
use saltus_linalg::Sparse;

/// A vector of space.
pub type Vector = [f64; 3];

/// A symmetric matrix: `xx, yy, zz, xy, xz, yz`.
pub type Symmetric = [f64; 6];

/// A body, or what stands for one: inverse mass and inertia of zero move under no impulse.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MovingBody {
    /// `1/m`.
    pub inverse_mass: f64,
    /// `J⁻¹` in the frame of the world.
    pub inverse_inertia: Symmetric,
    /// Velocity without the contacts.
    pub v: Vector,
    /// Angular velocity without the contacts.
    pub omega: Vector,
}

/// The law of a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Friction {
    /// None: the normal alone.
    None,
    /// In the plane: normal and tangent.
    Plane {
        /// Coefficient of friction.
        mu: f64,
    },
    /// In space: normal and two tangents.
    Space {
        /// Coefficient of friction.
        mu: f64,
    },
    /// In the plane with rolling resistance: normal, tangent, turn about the third axis.
    RollingPlane {
        /// Coefficient of friction.
        mu: f64,
        /// Coefficient of rolling resistance, a length.
        mu_r: f64,
    },
    /// In space with rolling resistance: normal, two tangents, turns about these.
    RollingSpace {
        /// Coefficient of friction.
        mu: f64,
        /// Coefficient of rolling resistance, a length.
        mu_r: f64,
    },
}

impl Friction {
    /// Number of components.
    #[inline]
    pub fn size(self) -> usize {
        match self {
            Friction::None => 1,
            Friction::Plane { .. } => 2,
            Friction::Space { .. } | Friction::RollingPlane { .. } => 3,
            Friction::RollingSpace { .. } => 5,
        }
    }

    /// Components that are velocities of the point; the others are turns.
    #[inline]
    pub fn linear(self) -> usize {
        match self {
            Friction::None => 1,
            Friction::Plane { .. } | Friction::RollingPlane { .. } => 2,
            Friction::Space { .. } | Friction::RollingSpace { .. } => 3,
        }
    }

    /// Its set.
    #[inline]
    pub fn set(self) -> Set {
        match self {
            Friction::None => Set::Nonnegative,
            Friction::Plane { mu } => Set::Coulomb2 { mu },
            Friction::Space { mu } => Set::Coulomb3 { mu },
            Friction::RollingPlane { mu, mu_r } => Set::Rolling2 { mu, mu_r },
            Friction::RollingSpace { mu, mu_r } => Set::Rolling3 { mu, mu_r },
        }
    }
}

/// Contacts a body of a heap, for which there is room from the first on.
pub const FORESEEN: usize = 4;

/// Components of a contact, at most.
pub const COMPONENTS: usize = 5;

/// A contact of two bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touch {
    /// The bodies, by position.
    pub bodies: [u32; 2],
    /// Normal, from the second to the first, and two tangents.
    pub frame: [Vector; 3],
    /// From the centers of mass to the point.
    pub arms: [Vector; 2],
    /// What is added to the relative velocity; nothing to turns.
    pub q: Vector,
    /// `C` of (2): of the normal, and of the tangents. Turns do not give way.
    pub compliance: [f64; 2],
    /// Its law.
    pub friction: Friction,
}

/// Bodies that hang together by their contacts.
#[derive(Debug, Clone, Copy)]
pub struct Island<'a> {
    /// All bodies there are.
    pub bodies: &'a [MovingBody],
    /// Those of the island that move, in order.
    pub members: &'a [u32],
    /// Its contacts.
    pub touches: &'a [Touch],
}

impl Island<'_> {
    /// Whether a contact gives way.
    pub fn gives(&self) -> bool {
        self.touches.iter().any(|touch| touch.compliance != [0.0; 2])
    }
}

#[inline]
fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline]
fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline]
fn add(a: Vector, s: f64, b: Vector) -> Vector {
    [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]]
}

/// `A a`.
#[inline]
fn apply(A: &Symmetric, a: Vector) -> Vector {
    [
        A[0] * a[0] + A[3] * a[1] + A[4] * a[2],
        A[3] * a[0] + A[1] * a[1] + A[5] * a[2],
        A[4] * a[0] + A[5] * a[1] + A[2] * a[2],
    ]
}

/// Velocity and angular velocity of a body.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Twist {
    /// Velocity.
    pub v: Vector,
    /// Angular velocity.
    pub omega: Vector,
}

impl Twist {
    /// The velocity of a point.
    #[inline]
    fn at(&self, arm: Vector) -> Vector {
        add(self.v, 1.0, cross(self.omega, arm))
    }

    /// Adds what an impulse at a point and a moment do.
    #[inline]
    fn push(&mut self, body: &MovingBody, arm: Vector, sign: f64, impulse: Vector, moment: Vector) {
        if body.inverse_mass == 0.0 && body.inverse_inertia == [0.0; 6] {
            return; // not even by what is no number
        }
        self.v = add(self.v, sign * body.inverse_mass, impulse);
        let turn = add(cross(arm, impulse), 1.0, moment);
        self.omega = add(self.omega, sign, apply(&body.inverse_inertia, turn));
    }
}

impl Touch {
    /// Direction of a component, and whether it is a turn.
    #[inline]
    pub fn direction(&self, k: usize) -> (Vector, bool) {
        match self.friction {
            Friction::RollingPlane { .. } if k == 2 => (self.frame[2], true),
            Friction::RollingSpace { .. } if k > 2 => (self.frame[k - 2], true),
            _ => (self.frame[k], false),
        }
    }

    /// The velocity of the first body less that of the second, at the point.
    pub fn velocity(&self, a: &Twist, b: &Twist) -> Vector {
        add(a.at(self.arms[0]), -1.0, b.at(self.arms[1]))
    }

    /// The coefficient of friction.
    pub fn mu(&self) -> f64 {
        match self.friction {
            Friction::None => 0.0,
            Friction::Plane { mu } | Friction::Space { mu } => mu,
            Friction::RollingPlane { mu, .. } | Friction::RollingSpace { mu, .. } => mu,
        }
    }

    /// `w = H V + q`.
    #[inline]
    pub fn moved(&self, a: &Twist, b: &Twist) -> [f64; COMPONENTS] {
        let mut w = self.relative(a, b);
        for k in 0..self.friction.linear() {
            w[k] += self.q[k];
        }
        w
    }

    /// `C` of a component.
    #[inline]
    pub fn compliance_of(&self, k: usize) -> f64 {
        match k {
            0 => self.compliance[0],
            _ if k < self.friction.linear() => self.compliance[1],
            _ => 0.0,
        }
    }

    /// `w = H V + q + C z`, (2).
    #[inline(always)]
    fn moved_under(&self, a: &Twist, b: &Twist, z: &[f64]) -> [f64; COMPONENTS] {
        let mut w = self.moved(a, b);
        for k in 0..self.friction.linear() {
            w[k] += self.compliance_of(k) * z[k];
        }
        w
    }

    /// `H V`.
    #[inline]
    pub fn relative(&self, a: &Twist, b: &Twist) -> [f64; COMPONENTS] {
        let c = add(a.at(self.arms[0]), -1.0, b.at(self.arms[1]));
        let mut u = [0.0; COMPONENTS];
        for k in 0..self.friction.linear() {
            u[k] = dot(self.frame[k], c);
        }
        for k in self.friction.linear()..self.friction.size() {
            u[k] = dot(self.direction(k).0, add(a.omega, -1.0, b.omega));
        }
        u
    }

    /// The impulse on the first body, and its moment, of these components.
    #[inline]
    pub fn impulse(&self, z: &[f64]) -> (Vector, Vector) {
        let (mut impulse, mut moment) = ([0.0; 3], [0.0; 3]);
        for k in 0..self.friction.linear() {
            impulse = add(impulse, z[k], self.frame[k]);
        }
        for k in self.friction.linear()..self.friction.size() {
            moment = add(moment, z[k], self.direction(k).0);
        }
        (impulse, moment)
    }

    /// The components of an impulse on the first body, and its moment.
    #[inline]
    pub fn components(&self, impulse: Vector, moment: Vector) -> [f64; COMPONENTS] {
        let mut z = [0.0; COMPONENTS];
        for k in 0..self.friction.size() {
            let (direction, is_turn) = self.direction(k);
            z[k] = dot(direction, if is_turn { moment } else { impulse });
        }
        z
    }

    /// An entry on the diagonal of `W_cc + C`.
    #[inline(always)]
    pub fn diagonal(&self, bodies: &[MovingBody], k: usize) -> f64 {
        let (direction, is_turn) = self.direction(k);
        let mut sum = self.compliance_of(k);
        for side in 0..2 {
            let body = &bodies[self.bodies[side] as usize];
            if is_turn {
                sum += dot(direction, apply(&body.inverse_inertia, direction));
                continue;
            }
            let turn = cross(self.arms[side], direction);
            sum += dot(turn, apply(&body.inverse_inertia, turn)) + body.inverse_mass;
        }
        sum
    }

    /// `W_cc + C`, row by row.
    fn block(&self, bodies: &[MovingBody], W: &mut [f64]) {
        let n = self.friction.size();
        for j in 0..n {
            let (direction, is_turn) = self.direction(j);
            let (mut a, mut b) = (Twist::default(), Twist::default());
            let (impulse, moment) = match is_turn {
                true => ([0.0; 3], direction),
                false => (direction, [0.0; 3]),
            };
            let [first, second] = self.bodies.map(|k| &bodies[k as usize]);
            a.push(first, self.arms[0], 1.0, impulse, moment);
            b.push(second, self.arms[1], -1.0, impulse, moment);
            let u = self.relative(&a, &b);
            for i in 0..n {
                W[i * n + j] = u[i];
            }
            W[j * n + j] += self.compliance_of(j);
        }
    }
}

/// Where the components of each contact begin: all of them have room for as many.
#[inline]
pub fn stride(touches: &[Touch]) -> usize {
    let rolls = |touch: &Touch| matches!(touch.friction, Friction::RollingSpace { .. });
    if touches.iter().any(rolls) { COMPONENTS } else { 3 }
}

/// The same as a problem of the pair `(M, H)`, or multiplied out where it is small. What gives way has unit masses
/// of its own, `H = √C`, which is (2): a body for each contact.
pub fn problem(island: Island<'_>) -> Result<Problem, NumericsError> {
    let Island { bodies, members, touches } = island;
    let place = |body: u32| members.binary_search(&body).ok();
    let size: usize = touches.iter().map(|touch| touch.friction.size()).sum();
    let (mut H, mut q, mut blocks) = (Vec::new(), Vec::with_capacity(size), Vec::new());
    let mut velocities = 6 * members.len();
    for touch in touches {
        for k in 0..touch.friction.size() {
            let (direction, is_turn) = touch.direction(k);
            for (side, sign) in [(0, 1.0), (1, -1.0)] {
                let Some(body) = place(touch.bodies[side]) else { continue };
                let turn = if is_turn { direction } else { cross(touch.arms[side], direction) };
                for i in 0..3 {
                    if !is_turn {
                        H.push((6 * body + i, q.len(), sign * direction[i]));
                    }
                    H.push((6 * body + 3 + i, q.len(), sign * turn[i]));
                }
            }
            if touch.compliance_of(k) > 0.0 {
                H.push((velocities + k, q.len(), touch.compliance_of(k).sqrt()));
            }
            q.push(if is_turn { 0.0 } else { touch.q[k] });
        }
        velocities += if touch.compliance_of(0) > 0.0 { 6 } else { 0 };
        blocks.push(Block { size: touch.friction.size(), set: touch.friction.set() });
    }
    let n = velocities;
    let (mut M, mut f) = (Vec::new(), vec![0.0; n]);
    M.extend((6 * members.len()..n).map(|own| (own, own, 1.0)));
    for (place, &body) in members.iter().enumerate() {
        let body = &bodies[body as usize];
        let J = inverse(&body.inverse_inertia);
        let turn = apply(&J, body.omega);
        for i in 0..3 {
            M.push((6 * place + i, 6 * place + i, 1.0 / body.inverse_mass));
            f[6 * place + i] = body.v[i] / body.inverse_mass;
            f[6 * place + 3 + i] = turn[i];
        }
        for (i, j, k) in [(0, 0, 0), (1, 1, 1), (2, 2, 2), (0, 1, 3), (0, 2, 4), (1, 2, 5)] {
            M.push((6 * place + 3 + i, 6 * place + 3 + j, J[k]));
            if i != j {
                M.push((6 * place + 3 + j, 6 * place + 3 + i, J[k]));
            }
        }
    }
    M.retain(|&(i, j, x)| x != 0.0 || i == j);
    H.retain(|&(_, _, x)| x != 0.0);
    let M = Sparse::from_triplets(n, n, &M);
    let H = Sparse::from_triplets(n, size, &H);
    let problem = Problem::new(Operator::Global(Box::new(Global::new(M, H, f)?)), q, &blocks)?;
    let problem = problem.measured(crate::Measure::Largest);
    Ok(match size <= MULTIPLIED_OUT {
        true => match problem.condensed() {
            Some(mut condensed) => {
                if let Operator::Sparse(W) = condensed.matrix() {
                    let W = W.to_dense();
                    condensed.set_matrix(W)?;
                }
                condensed
            }
            None => problem,
        },
        false => problem,
    })
}

/// Unknowns up to which `W` is multiplied out for other methods.
const MULTIPLIED_OUT: usize = 150;

/// `A⁻¹`; of a body in the plane, whose other turns cannot be, 1 in their place.
fn inverse(A: &Symmetric) -> Symmetric {
    let [a, b, c, d, e, f] = *A;
    if a == 0.0 && b == 0.0 {
        let c = if c == 0.0 { 1.0 } else { 1.0 / c };
        return [1.0, 1.0, c, 0.0, 0.0, 0.0];
    }
    let [p, q, r] = [b * c - f * f, e * f - d * c, d * f - b * e];
    let det = a * p + d * q + e * r;
    let [s, t, u] = [a * c - e * e, d * e - a * f, a * b - d * d];
    [p / det, s / det, u / det, q / det, r / det, t / det]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;
    use crate::residual::residual;

    /// Balls in a row on the ground, pressed together by their velocities.
    fn row(count: u32, friction: Friction) -> (Vec<MovingBody>, Vec<u32>, Vec<Touch>) {
        let ball = |k: u32| MovingBody {
            inverse_mass: 1.0,
            inverse_inertia: [2.5, 2.5, 2.5, 0.0, 0.0, 0.0],
            v: [if k == 0 { 2.0 } else { -0.1 }, 0.05 * f64::from(k), -1.0],
            omega: [0.0; 3],
        };
        let mut bodies: Vec<_> = (0..count).map(ball).collect();
        bodies.push(MovingBody::default());
        let (x, y, z) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]);
        let minus = |a: Vector| a.map(|a| -a);
        let q = [0.0; 3];
        let mut touches = Vec::new();
        for k in 0..count {
            let arms = [minus(z), [0.0; 3]];
            let (bodies, frame, compliance) = ([k, count], [z, x, y], [0.0; 2]);
            touches.push(Touch { bodies, frame, arms, q, compliance, friction });
            if k + 1 < count {
                let (bodies, arms) = ([k, k + 1], [x, minus(x)]);
                let frame = [minus(x), y, minus(z)];
                touches.push(Touch { bodies, frame, arms, q, compliance, friction });
            }
        }
        (bodies, (0..count).collect(), touches)
    }

    /// Room for the velocities of bodies.
    fn still(bodies: &[MovingBody]) -> Vec<Twist> {
        vec![Twist::default(); bodies.len()]
    }

    /// The residual that the sweeps report is that of the same problem as a matrix.
    #[test]
    fn sweeps_solve_what_the_matrix_says() {
        let laws = [
            Friction::None,
            Friction::Space { mu: 0.3 },
            Friction::RollingSpace { mu: 0.3, mu_r: 0.01 },
        ];
        for (count, friction) in [3, 20].into_iter().flat_map(|n| laws.map(|law| (n, law))) {
            let (bodies, members, touches) = row(count, friction);
            let stride = stride(&touches);
            let mut z = vec![0.0; stride * touches.len()];
            let settings = Sweeping { tol: 1e-9, max_iter: 20_000, patience: 20, thorough: true };
            let (mut sweeps, mut twists) = (BodySweeps::default(), still(&bodies));
            let island = Island { bodies: &bodies, members: &members, touches: &touches };
            let report = sweeps.solve(island, &mut z, stride, settings, &mut twists);
            assert_eq!(report.status, Status::Solved, "{count} {friction:?} {report:?}");
            let packed: Vec<f64> = (0..touches.len())
                .flat_map(|c| z[c * stride..c * stride + friction.size()].to_vec())
                .collect();
            let mut w = vec![0.0; packed.len()];
            let known = problem(island).unwrap();
            let value = residual(&known, &packed, &mut w).value;
            assert!(value <= 2e-9, "{count} {friction:?} {value:e}");
        }
    }

    /// Contacts without rolling resistance that have room for it, because others of the scene do.
    #[test]
    fn a_crowd_may_have_more_room_than_it_needs() {
        let (bodies, members, touches) = heaps::heap(3, Friction::Space { mu: 0.4 }, 0.0);
        let settings = Sweeping { tol: 1e-9, max_iter: 20_000, patience: 20, thorough: true };
        let solve = |stride: usize| {
            let (mut z, mut twists) = (vec![0.0; stride * touches.len()], still(&bodies));
            let island = Island { bodies: &bodies, members: &members, touches: &touches };
            let mut sweeps = BodySweeps::default();
            let report = sweeps.solve(island, &mut z, stride, settings, &mut twists);
            assert_eq!(report.status, Status::Solved, "{report:?}");
            let again = island.report(&z, stride, &mut twists);
            assert_eq!(again.residual, report.residual);
            (z, twists)
        };
        let ((z, twists), (wide, same)) = (solve(3), solve(COMPONENTS));
        assert_eq!(twists, same);
        for (z, wide) in z.chunks_exact(3).zip(wide.chunks_exact(COMPONENTS)) {
            assert_eq!((z, &[0.0; 2][..]), (&wide[..3], &wide[3..]));
        }
    }

    /// What is no number ends as such, and leaves the next problem alone.
    #[test]
    fn a_crowd_survives_what_is_no_number() {
        let (bodies, members, touches) = heaps::heap(3, Friction::Space { mu: 0.4 }, 0.0);
        let settings = Sweeping { tol: 1e-9, max_iter: 2000, patience: 20, thorough: true };
        let (mut sweeps, mut z) = (BodySweeps::default(), vec![0.0; 3 * touches.len()]);
        let mut broken = bodies.clone();
        broken[4].v[1] = f64::NAN;
        let mut twists = still(&bodies);
        let mut island = Island { bodies: &broken, members: &members, touches: &touches };
        let report = sweeps.solve(island, &mut z, 3, settings, &mut twists);
        assert_eq!(report.status, Status::Diverged);
        z.fill(0.0);
        island.bodies = &bodies;
        let report = sweeps.solve(island, &mut z, 3, settings, &mut twists);
        assert_eq!(report.status, Status::Solved, "{report:?}");
    }

    #[test]
    fn what_the_impulses_stop_is_at_rest() {
        let (mut bodies, members, touches) = row(1, Friction::Space { mu: 0.3 });
        bodies[0].v = [0.0, 0.0, -1.0];
        let mut twists = still(&bodies);
        let island = Island { bodies: &bodies, members: &members, touches: &touches };
        assert_eq!(island.rests(&[1.0, 0.0, 0.0], 3, f64::INFINITY, &mut twists), 0.0);
        assert!(island.rests(&[0.9, 0.0, 0.0], 3, f64::INFINITY, &mut twists) > 0.05);
        assert!(island.rests(&[1.0, 0.5, 0.0], 3, f64::INFINITY, &mut twists) > 0.05);
    }
}
