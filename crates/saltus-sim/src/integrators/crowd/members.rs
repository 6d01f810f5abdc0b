//! The mechanical systems of a model: rigid bodies in arrays, whatever else there is by its trait.
//!
//! ```text
//! M (v_free − v) = h F(t + θh, q ∘ hθ v_θ, v_θ),    v_θ = θ v_free + (1 − θ) v                  (1)
//! q⁺ = q ∘ exp(c(h v_ϑ)),    v_ϑ = ϑ v⁺ + (1 − ϑ) v                                            (2)
//! c(φ) = 2 atan(|φ|/2) φ/|φ|       for turns, so that R⁺ = R (1 − ½[φ])⁻¹ (1 + ½[φ])            (3)
//! ```
//!
//! With θ = ϑ = ½ the free turn of a body keeps its energy and its angular momentum to round-off: (1)
//! says `Jω⁺ = (1 + ½[φ])⁻¹ (1 − ½[φ]) Jω`, which (3) undoes.

use super::super::Step;
use super::super::assembly::Places;
use crate::SimError;
use saltus_linalg::{DenseLu, Matrix};
use saltus_model::rotation::{
    self, Matrix3, Quaternion, Vector, add, apply, cross, multiply, scaled, skew,
};
use saltus_model::{At, Body, Linearized, Model, Rigid, SecondOrderSystem, System};
use saltus_numerics::bodies::{MovingBody, Symmetric, Twist};
use std::ops::Range;
use std::sync::Arc;

/// Iterations of (1) before giving up.
const NEWTON: usize = 50;
/// Change, relative to the velocity, at which they end.
const SETTLED: f64 = 4.0 * f64::EPSILON;

/// One system.
#[derive(Debug)]
pub(super) struct Member {
    pub system: Arc<dyn SecondOrderSystem>,
    pub position: usize, // in the model
    pub q: usize,        // where its configuration begins
    pub v: usize,        // and its velocity
    pub kind: Kind,
    pub theta: f64,
    pub mass: f64,
    pub gravity: Vector,
    pub is_loaded: bool, // by forces besides gravity
    turning: Turning,
    pub inputs: Box<[f64]>,
}

/// Moments of inertia in the frame of a body, and their inverse.
#[derive(Debug)]
enum Turning {
    /// A multiple of the identity, or a body in the plane.
    Round {
        J: f64,
        inverse: f64,
    },
    Any(Box<[Matrix3; 2]>),
}

/// What a system is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Space,
    Plane,
    /// Not a body; the position of its factors.
    Other(u32),
}

/// All systems, and their velocities in the frame of the world.
#[derive(Debug)]
pub(super) struct Members {
    pub all: Vec<Member>,
    /// One a system, and at last what stands still.
    pub moving: Vec<MovingBody>,
    /// Velocities at the beginning of the step.
    pub before: Vec<Twist>,
    /// Those without contacts, where springs change the free ones.
    pub ahead: Vec<Twist>,
    /// Iteration matrices of systems that are no bodies.
    pub factors: Vec<DenseLu>,
    /// `h F` of (1), where there are forces besides gravity.
    pub impulse: Vec<f64>,
    pub is_loaded: bool,
    /// Systems that have inputs, by name.
    pub named: Vec<(String, usize)>,
    scratch: Scratch,
}

#[derive(Debug, Default)]
struct Scratch {
    M: Matrix,
    dq: Matrix,
    dv: Matrix,
    matrix: Matrix,
    work: Vec<f64>,
    F: Vec<f64>,
    x: Vec<f64>,
    rest: Vec<f64>,
    v_theta: Vec<f64>,
    way: Vec<f64>,
    q: Vec<f64>,
    lu: DenseLu,
}

impl Members {
    pub fn new(model: &Model, places: &Places, thetas: &[f64]) -> Members {
        let mut all = Vec::with_capacity(places.systems.len());
        let mut factors = Vec::new();
        let mut named = Vec::new();
        for (position, name, system, range) in places.systems_of(model) {
            let System::SecondOrder(system) = system else { continue };
            let theta = thetas.get(all.len()).copied().unwrap_or(0.5);
            let place = places.configurations[position].clone().unwrap_or(0..0);
            let none = Rigid { mass: 1.0, inertia: IDENTITY, gravity: [0.0; 3], is_loaded: true };
            let (kind, rigid) = match (system.body(), system.rigid()) {
                (Some(Body::Space), Some(rigid)) => (Kind::Space, rigid),
                (Some(Body::Plane), Some(rigid)) => (Kind::Plane, rigid),
                _ => {
                    factors.push(DenseLu::default());
                    (Kind::Other(factors.len() as u32 - 1), none)
                }
            };
            let J = &rigid.inertia;
            let off = J[0][1].abs() + J[0][2].abs() + J[1][2].abs();
            let is_round = off == 0.0 && J[0][0] == J[1][1] && J[1][1] == J[2][2];
            let turning = match kind {
                Kind::Plane => Turning::Round { J: J[2][2], inverse: 1.0 / J[2][2] },
                _ if is_round => Turning::Round { J: J[0][0], inverse: inverse(J)[0][0] },
                _ => Turning::Any(Box::new([*J, inverse(J)])),
            };
            if !system.z0().is_empty() {
                named.push((name.to_string(), all.len()));
            }
            all.push(Member {
                system: Arc::clone(system),
                position,
                q: place.start,
                v: range.start,
                kind,
                theta,
                mass: rigid.mass,
                gravity: rigid.gravity,
                is_loaded: rigid.is_loaded,
                turning,
                inputs: system.z0().into(),
            });
        }
        let is_loaded = all.iter().any(|member: &Member| member.is_loaded);
        Members {
            moving: vec![MovingBody::default(); all.len() + 1],
            before: vec![Twist::default(); all.len() + 1],
            ahead: Vec::new(),
            factors,
            impulse: if is_loaded { vec![0.0; places.states] } else { Vec::new() },
            is_loaded,
            named,
            scratch: Scratch::default(),
            all,
        }
    }

    /// Equation (1) for all systems, into `v_free`, and bodies as the contacts see them.
    pub fn free(
        &mut self,
        model: &Model,
        step: Step,
        q: &[f64],
        v: &[f64],
        v_free: &mut [f64],
    ) -> Result<(), SimError> {
        for k in 0..self.all.len() {
            let member = &self.all[k];
            let (kind, start) = (member.kind, member.v);
            if member.is_loaded {
                self.implicit(model, k, step, q, v, v_free)?;
            } else {
                let gravity = member.gravity;
                match kind {
                    Kind::Plane => {
                        v_free[start] = v[start] + step.h * gravity[0];
                        v_free[start + 1] = v[start + 1] + step.h * gravity[1];
                        v_free[start + 2] = v[start + 2];
                    }
                    _ => {
                        let [linear, omega] = six(&v[start..]);
                        let linear = add(linear, scaled(step.h, gravity));
                        let omega = member.turn(step.h, omega);
                        v_free[start..start + 3].copy_from_slice(&linear);
                        v_free[start + 3..start + 6].copy_from_slice(&omega);
                    }
                }
            }
            self.see(k, q, v, v_free);
        }
        Ok(())
    }

    /// A body as the contacts see it: in the frame of the world.
    pub fn see(&mut self, k: usize, q: &[f64], v: &[f64], v_free: &[f64]) {
        let member = &self.all[k];
        let inverse_mass = member.lightness();
        let start = member.v;
        match member.kind {
            Kind::Other(_) => {}
            Kind::Plane => {
                let twist = |v: &[f64]| Twist {
                    v: [v[start], v[start + 1], 0.0],
                    omega: [0.0, 0.0, v[start + 2]],
                };
                let Twist { v: linear, omega } = twist(v_free);
                let turn = member.turn_by([0.0, 0.0, 1.0])[2];
                let inverse_inertia = [0.0, 0.0, turn, 0.0, 0.0, 0.0];
                self.moving[k] = MovingBody { inverse_mass, inverse_inertia, v: linear, omega };
                self.before[k] = twist(v);
            }
            Kind::Space => {
                let R = rotation::matrix(member.quaternion(q));
                let twist = |v: &[f64]| {
                    let [linear, omega] = six(&v[start..]);
                    Twist { v: linear, omega: apply(&R, omega) }
                };
                let Twist { v: linear, omega } = twist(v_free);
                let inverse_inertia = match &member.turning {
                    &Turning::Round { inverse: one, .. } => [one, one, one, 0.0, 0.0, 0.0],
                    Turning::Any(any) => turned(&R, &any[1]),
                };
                self.moving[k] = MovingBody { inverse_mass, inverse_inertia, v: linear, omega };
                self.before[k] = twist(v);
            }
        }
    }

    /// Equation (1) by Newton's method, for systems with forces of their own.
    fn implicit(
        &mut self,
        model: &Model,
        k: usize,
        step: Step,
        q: &[f64],
        v: &[f64],
        v_free: &mut [f64],
    ) -> Result<(), SimError> {
        let Members { all, scratch, factors, impulse, .. } = self;
        let member = &all[k];
        let Scratch { M, dq, dv, matrix, work, F, x, rest, v_theta, way, q: q_theta, lu } = scratch;
        let (n, theta, h) = (member.dim(), member.theta, step.h);
        let (v, q) = (&v[member.own_v()], &q[member.own_q()]);
        let name = || model.system_name(member.position);
        x.clear();
        x.extend_from_slice(v);
        for vector in [&mut *rest, v_theta, way, F] {
            vector.resize(n, 0.0);
        }
        q_theta.resize(q.len(), 0.0);
        let t = step.start + theta * h;
        let mut settled = false;
        for _ in 0..NEWTON {
            for i in 0..n {
                v_theta[i] = theta * x[i] + (1.0 - theta) * v[i];
                way[i] = h * theta * v_theta[i];
            }
            member.system.displace(q, way, q_theta);
            let at = At::new(t, q_theta, v_theta).with(&member.inputs);
            let out = Linearized { M, F, dq, dv };
            let done = member.system.linearized(at, out, work, matrix);
            done.map_err(|error| error.of(name()))?;
            for i in 0..n {
                let inertia: f64 = (0..n).map(|j| M[(i, j)] * (x[j] - v[j])).sum();
                rest[i] = inertia - h * F[i];
            }
            M.add_scaled(-h * theta, dv);
            M.add_scaled(-h * h * theta * theta, dq);
            super::super::assembly::factor_in(lu, name(), h, M)?;
            lu.solve(rest);
            let (mut change, mut size) = (0.0_f64, 0.0_f64);
            for i in 0..n {
                x[i] -= rest[i];
                change = change.max(rest[i].abs());
                // round-off is that of the larger one
                size = size.max(x[i].abs()).max(v[i].abs());
            }
            // what is no number ends as an error of the state
            settled = !(change > SETTLED * size);
            if settled {
                break;
            }
        }
        if !settled {
            let (iterations, tol) = (NEWTON, SETTLED);
            let residual = rest.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            return Err(SimError::Newton { time: step.end, iterations, residual, tol });
        }
        if let Kind::Other(place) = member.kind {
            factors[place as usize].factor_with(n, |i, j| M[(i, j)]).map_err(|source| {
                let (system, matrix) = (name().to_string(), "M + hθC + h²θ²K");
                SimError::Iteration { system, matrix, h, source }
            })?;
        }
        v_free[member.v..member.v + n].copy_from_slice(x);
        for i in 0..n {
            impulse[member.v + i] = h * F[i];
        }
        Ok(())
    }

    /// The velocity of a body without contacts, in the frame of the world.
    pub fn foreseen(&self, k: usize) -> Twist {
        let body = &self.moving[k];
        self.ahead.get(k).copied().unwrap_or(Twist { v: body.v, omega: body.omega })
    }

    /// A body at the end of the step, in the frame of the world.
    pub fn twist(&self, k: usize, q: &[f64], v: &[f64]) -> Twist {
        let member = &self.all[k];
        let v = &v[member.v..];
        match member.kind {
            Kind::Other(_) => Twist::default(),
            Kind::Plane => Twist { v: [v[0], v[1], 0.0], omega: [0.0, 0.0, v[2]] },
            Kind::Space => {
                let [linear, omega] = six(v);
                Twist { v: linear, omega: rotation::rotate(member.quaternion(q), omega) }
            }
        }
    }

    /// Velocities of a body under impulses, back in its own coordinates.
    pub fn take(&self, k: usize, twist: &Twist, q: &[f64], v: &mut [f64]) {
        let member = &self.all[k];
        let v = &mut v[member.v..];
        match member.kind {
            Kind::Other(_) => {}
            Kind::Plane => {
                v[..3].copy_from_slice(&[twist.v[0], twist.v[1], twist.omega[2]]);
            }
            Kind::Space => {
                v[..3].copy_from_slice(&twist.v);
                let omega = rotation::rotate_back(member.quaternion(q), twist.omega);
                v[3..6].copy_from_slice(&omega);
            }
        }
    }

    /// Equation (2), and a way `D` after it, in the frame of the world.
    #[expect(clippy::too_many_arguments)]
    pub fn displace(
        &mut self,
        k: usize,
        (h, theta): (f64, f64),
        q: &[f64],
        v: &[f64],
        v_next: &[f64],
        way: Option<&Twist>,
        q_next: &mut [f64],
    ) {
        let member = &self.all[k];
        let (own, own_q) = (member.own_v(), member.own_q());
        let (v, v_next) = (&v[own.clone()], &v_next[own]);
        let (q, q_next) = (&q[own_q.clone()], &mut q_next[own_q]);
        let mean = |i: usize| h * (theta * v_next[i] + (1.0 - theta) * v[i]);
        match member.kind {
            Kind::Space => {
                let D = way.copied().unwrap_or_default();
                let p = [q[3], q[4], q[5], q[6]];
                for i in 0..3 {
                    q_next[i] = q[i] + (mean(i) + D.v[i]);
                }
                let mut phi = cayley([mean(3), mean(4), mean(5)]);
                if way.is_some() {
                    phi = add(phi, rotation::rotate_back(p, D.omega));
                }
                q_next[3..].copy_from_slice(&rotation::turned(p, phi));
            }
            Kind::Plane => {
                let D = way.copied().unwrap_or_default();
                let D = [D.v[0], D.v[1], D.omega[2]];
                for i in 0..3 {
                    q_next[i] = q[i] + (mean(i) + D[i]);
                }
            }
            Kind::Other(_) => {
                let way = &mut self.scratch.way;
                way.clear();
                way.extend((0..v.len()).map(mean));
                member.system.displace(q, way, q_next);
            }
        }
    }

    /// Moves a system by a way.
    pub fn shift(&mut self, k: usize, way: &[f64], q: &mut [f64]) {
        let member = &self.all[k];
        let (way, q) = (&way[member.own_v()], &mut q[member.own_q()]);
        match member.kind {
            Kind::Space => {
                let [linear, turn] = six(way);
                q.iter_mut().zip(linear).for_each(|(q, way)| *q += way);
                let p = rotation::turned([q[3], q[4], q[5], q[6]], turn);
                q[3..].copy_from_slice(&p);
            }
            Kind::Plane => q.iter_mut().zip(way).for_each(|(q, way)| *q += way),
            Kind::Other(_) => {
                let from = &mut self.scratch.q;
                from.clear();
                from.extend_from_slice(q);
                member.system.displace(from, way, q);
            }
        }
    }

    /// `H M⁻¹ Hᵀ` of a row.
    pub fn mobility(&mut self, k: usize, H: &[f64]) -> f64 {
        let member = &self.all[k];
        let (m, dot) = (member.lightness(), rotation::dot);
        match member.kind {
            Kind::Space => {
                let [linear, turn] = six(H);
                m * dot(linear, linear) + dot(turn, member.turn_by(turn))
            }
            Kind::Plane => {
                let turn = [0.0, 0.0, H[2]];
                m * (H[0] * H[0] + H[1] * H[1]) + dot(turn, member.turn_by(turn))
            }
            Kind::Other(place) => {
                let way = &mut self.scratch.way;
                way.clear();
                way.extend_from_slice(H);
                self.factors[place as usize].solve(way);
                H.iter().zip(way).map(|(a, b)| a * *b).sum()
            }
        }
    }

    /// `½ vᵀ M v` and the potential of a system.
    pub fn energies(
        &mut self,
        k: usize,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<[f64; 2], SimError> {
        let member = &self.all[k];
        let (mass, gravity) = (member.mass, member.gravity);
        let x = &q[member.q..];
        let own = &v[member.v..];
        Ok(match member.kind {
            Kind::Space => {
                let [linear, omega] = six(own);
                let turn = rotation::dot(omega, member.spin(omega));
                let kinetic = 0.5 * (mass * rotation::dot(linear, linear) + turn);
                [kinetic, -mass * rotation::dot(gravity, [x[0], x[1], x[2]])]
            }
            Kind::Plane => {
                let square = own[0] * own[0] + own[1] * own[1];
                let turn = member.spin([0.0, 0.0, own[2]])[2];
                let kinetic = 0.5 * (mass * square + turn * own[2]);
                [kinetic, -mass * (gravity[0] * x[0] + gravity[1] * x[1])]
            }
            Kind::Other(_) => {
                let n = member.dim();
                let (q, v) = (&x[..member.dim_q()], &own[..n]);
                let M = &mut self.scratch.M;
                member.system.mass(At::new(t, q, v).with(&member.inputs), M)?;
                let kinetic = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
                let kinetic: f64 = kinetic.map(|(i, j)| v[i] * M[(i, j)] * v[j]).sum();
                [0.5 * kinetic, member.system.potential(q)]
            }
        })
    }
}

impl Member {
    /// Components of its velocity.
    #[inline]
    pub fn dim(&self) -> usize {
        match self.kind {
            Kind::Space => 6,
            Kind::Plane => 3,
            Kind::Other(_) => self.system.dim(),
        }
    }

    /// Those of its configuration.
    #[inline]
    pub fn dim_q(&self) -> usize {
        match self.kind {
            Kind::Space => 7,
            Kind::Plane => 3,
            Kind::Other(_) => self.system.dim_q(),
        }
    }

    /// Where its velocity stands.
    #[inline]
    pub fn own_v(&self) -> Range<usize> {
        self.v..self.v + self.dim()
    }

    /// Where its configuration stands.
    #[inline]
    pub fn own_q(&self) -> Range<usize> {
        self.q..self.q + self.dim_q()
    }

    /// `1/m`.
    #[inline]
    pub fn lightness(&self) -> f64 {
        1.0 / self.mass
    }

    #[inline]
    pub fn quaternion(&self, q: &[f64]) -> Quaternion {
        let p = &q[self.q + 3..self.q + 7];
        [p[0], p[1], p[2], p[3]]
    }

    /// `M⁻¹` of a body in space, where it is diagonal.
    #[inline]
    pub fn straight(&self) -> Option<[f64; 6]> {
        let m = self.lightness();
        let [x, y, z] = match &self.turning {
            _ if self.kind != Kind::Space => return None,
            &Turning::Round { inverse, .. } => [inverse; 3],
            Turning::Any(any) => {
                let [J, [a, b, c]] = &**any;
                if J[0][1] != 0.0 || J[0][2] != 0.0 || J[1][2] != 0.0 {
                    return None;
                }
                [a[0], b[1], c[2]]
            }
        };
        Some([m, m, m, x, y, z])
    }

    /// The center of mass; of what is no body the origin.
    #[inline]
    pub fn center(&self, q: &[f64]) -> Vector {
        match self.kind {
            Kind::Plane => [q[self.q], q[self.q + 1], 0.0],
            Kind::Space => [q[self.q], q[self.q + 1], q[self.q + 2]],
            Kind::Other(_) => [0.0; 3],
        }
    }

    /// The largest of its coordinates that are lengths; of what is no body of all.
    pub fn extent(&self, q: &[f64]) -> f64 {
        let own = match self.kind {
            Kind::Plane => 2,
            Kind::Space => 3,
            Kind::Other(_) => self.dim_q(),
        };
        q[self.q..self.q + own].iter().fold(0.0, |most: f64, x| most.max(x.abs()))
    }

    /// `J⁻¹ τ` in the frame of the body.
    #[inline]
    pub fn turn_by(&self, moment: Vector) -> Vector {
        match &self.turning {
            Turning::Round { inverse, .. } => scaled(*inverse, moment),
            Turning::Any(any) => apply(&any[1], moment),
        }
    }

    /// `J ω` in the frame of the body.
    #[inline]
    fn spin(&self, omega: Vector) -> Vector {
        match &self.turning {
            Turning::Round { J, .. } => scaled(*J, omega),
            Turning::Any(any) => apply(&any[0], omega),
        }
    }

    /// `J (ω⁺ − ω) + h ω_θ × J ω_θ = 0` by Newton's method.
    fn turn(&self, h: f64, omega: Vector) -> Vector {
        let Turning::Any(any) = &self.turning else { return omega };
        if omega == [0.0; 3] {
            return omega;
        }
        let ([J, J_inverse], theta) = (&**any, self.theta);
        // about an axis of inertia it stays what it is
        let change = scaled(h, apply(J_inverse, cross(omega, apply(J, omega))));
        if !(rotation::norm(change) > 0.5 * SETTLED * rotation::norm(omega)) {
            return omega;
        }
        let mut next = omega;
        for _ in 0..NEWTON {
            let mean = add(scaled(theta, next), scaled(1.0 - theta, omega));
            let spin = apply(J, mean);
            let change = apply(J, rotation::sub(next, omega));
            let rest = add(change, scaled(h, cross(mean, spin)));
            let (first, second) = (multiply(&skew(mean), J), skew(spin));
            let mut A = *J;
            for i in 0..3 {
                for j in 0..3 {
                    A[i][j] += h * theta * (first[i][j] - second[i][j]);
                }
            }
            let step = apply(&inverse(&A), rest);
            next = rotation::sub(next, step);
            if !(rotation::norm(step) > SETTLED * rotation::norm(next)) {
                break;
            }
        }
        next
    }
}

const IDENTITY: Matrix3 = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// Equation (3).
#[inline]
fn cayley(phi: Vector) -> Vector {
    let square = rotation::dot(phi, phi);
    if square == 0.0 {
        return phi;
    }
    let share = if square < 1e-6 {
        1.0 - square / 12.0 * (1.0 - 0.15 * square)
    } else {
        let angle = square.sqrt();
        2.0 * (0.5 * angle).atan() / angle
    };
    scaled(share, phi)
}

/// The two halves of a velocity.
#[inline]
pub(super) fn six(v: &[f64]) -> [Vector; 2] {
    [[v[0], v[1], v[2]], [v[3], v[4], v[5]]]
}

/// `R A Rᵀ` of a symmetric matrix.
fn turned(R: &Matrix3, A: &Matrix3) -> Symmetric {
    let B = multiply(R, A);
    let entry = |i: usize, j: usize| rotation::dot(B[i], R[j]);
    [entry(0, 0), entry(1, 1), entry(2, 2), entry(0, 1), entry(0, 2), entry(1, 2)]
}

/// `A⁻¹` by cofactors: its columns are the products of two rows of `A`, over the determinant.
#[inline]
fn inverse(A: &Matrix3) -> Matrix3 {
    let [x, y, z] = [cross(A[1], A[2]), cross(A[2], A[0]), cross(A[0], A[1])];
    let over = 1.0 / rotation::dot(A[0], x);
    [0, 1, 2].map(|i| [over * x[i], over * y[i], over * z[i]])
}
