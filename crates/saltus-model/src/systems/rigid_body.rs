//! Rigid bodies in space, after Newton and Euler.

use super::load::{Frame, Load};
use crate::rotation::{
    self, IDENTITY, Matrix3, Quaternion, Vector, apply, cross, multiply, rotate, rotate_back, skew,
};
use crate::system::{Body, Rigid, SecondOrderDependence};
use crate::{
    At, Dependence, Jacobian, ModelError, Operator, OperatorError, SecondOrderSystem, System, check,
};
use saltus_linalg::Matrix;
use std::sync::Arc;

/// Moments may miss the triangle inequality by this share: a flat body has equality.
const FLAT: f64 = 1e-9;

/// A rigid body in space.
///
/// ```text
/// m v̇ = m g + f + p_v                      in the frame of the world
/// J ω̇ + ω × J ω = τ + p_ω                  in the frame of the body
/// ẋ = v,    ṗ = ½ p (0, ω),    |p| = 1
/// ```
///
/// `q = (x, p)` has seven components, the place of the center of mass and a quaternion
/// `(w, x, y, z)`; the velocity `(v, ω)` has six. A way `δ = (δ_x, φ)` leads from `q` to
/// `(x + δ_x, p exp(φ))`, so that the quaternion keeps its length.
#[derive(Debug, Clone)]
pub struct RigidBody {
    /// Where the center of mass is at first.
    pub position: Vector,
    /// How the body is turned at first: a quaternion `(w, x, y, z)`, of any length but zero.
    pub orientation: Quaternion,
    /// Its first velocity, in the frame of the world.
    pub v: Vector,
    /// Its first angular velocity, in the frame of the body.
    pub omega: Vector,
    /// Mass, in (0, inf).
    pub mass: f64,
    /// Moments of inertia about the center of mass, in the frame of the body.
    pub inertia: Inertia,
    /// Acceleration of gravity, in the frame of the world; zero unless given.
    pub gravity: Vector,
    /// Force on the center of mass, of `t`, `q` and `v`; zero unless given.
    pub force: Option<Operator>,
    /// The frame of `force`. Default world.
    pub force_frame: Frame,
    /// Moment about the center of mass, of `t`, `q` and `v`; zero unless given.
    pub moment: Option<Operator>,
    /// The frame of `moment`. Default body.
    pub moment_frame: Frame,
    /// The inputs of force and moment until they are set; none unless given.
    pub z0: Vec<f64>,
}

/// Moments of inertia: a symmetric matrix, or the principal ones where they are those about the axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inertia(pub Matrix3);

impl From<Vector> for Inertia {
    fn from([a, b, c]: Vector) -> Self {
        Inertia([[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]])
    }
}

impl From<Matrix3> for Inertia {
    fn from(matrix: Matrix3) -> Self {
        Inertia(matrix)
    }
}

impl RigidBody {
    /// A body at rest in the origin.
    pub fn new(mass: f64, inertia: impl Into<Inertia>) -> Self {
        RigidBody {
            position: [0.0; 3],
            orientation: IDENTITY,
            v: [0.0; 3],
            omega: [0.0; 3],
            mass,
            inertia: inertia.into(),
            gravity: [0.0; 3],
            force: None,
            force_frame: Frame::World,
            moment: None,
            moment_frame: Frame::Body,
            z0: Vec::new(),
        }
    }

    /// A homogeneous ball: `J = 2/5 m r²`.
    pub fn ball(mass: f64, radius: f64) -> Self {
        RigidBody::new(mass, [0.4 * mass * radius * radius; 3])
    }

    /// A homogeneous box with these edges.
    pub fn cuboid(mass: f64, [a, b, c]: Vector) -> Self {
        let moment = |x: f64, y: f64| mass * (x * x + y * y) / 12.0;
        RigidBody::new(mass, [moment(b, c), moment(a, c), moment(a, b)])
    }

    /// The same at this place.
    pub fn at(mut self, position: Vector) -> Self {
        self.position = position;
        self
    }

    /// The same turned by this quaternion.
    pub fn orientation(mut self, orientation: Quaternion) -> Self {
        self.orientation = orientation;
        self
    }

    /// The same with these velocities, `v` in the frame of the world and `omega` in its own.
    pub fn moving(mut self, v: Vector, omega: Vector) -> Self {
        (self.v, self.omega) = (v, omega);
        self
    }

    /// The same with gravity.
    pub fn gravity(mut self, gravity: Vector) -> Self {
        self.gravity = gravity;
        self
    }

    /// The same with a force on the center of mass.
    pub fn force(mut self, force: impl Into<Operator>, frame: Frame) -> Self {
        (self.force, self.force_frame) = (Some(force.into()), frame);
        self
    }

    /// The same with a moment.
    pub fn moment(mut self, moment: impl Into<Operator>, frame: Frame) -> Self {
        (self.moment, self.moment_frame) = (Some(moment.into()), frame);
        self
    }
}

/// The body with the Jacobians of its loads. There may be very many, so loads that few have are boxed.
#[derive(Debug)]
struct Complete {
    q0: [f64; 7], // of unit length, unless the orientation that was given has no direction
    v0: [f64; 6],
    mass: f64,
    inertia: Moments,
    gravity: Vector,
    force: Option<Box<Load<3, 7, 6>>>,
    moment: Option<Box<Load<3, 7, 6>>>,
    z0: Box<[f64]>,
}

/// Moments of inertia, which few bodies have about other axes than their own.
#[derive(Debug)]
enum Moments {
    Principal(Vector),
    Any(Box<Matrix3>),
}

impl From<Inertia> for Moments {
    fn from(Inertia(J): Inertia) -> Self {
        let off = [J[0][1], J[0][2], J[1][0], J[1][2], J[2][0], J[2][1]];
        match off.iter().all(|J| *J == 0.0) {
            true => Moments::Principal([J[0][0], J[1][1], J[2][2]]),
            false => Moments::Any(Box::new(J)),
        }
    }
}

impl Moments {
    #[inline]
    fn matrix(&self) -> Matrix3 {
        match self {
            Moments::Principal(moments) => Inertia::from(*moments).0,
            Moments::Any(J) => **J,
        }
    }
}

impl From<RigidBody> for System {
    fn from(given: RigidBody) -> Self {
        let RigidBody { position: [x, y, z], v: [vx, vy, vz], omega: [wx, wy, wz], .. } = given;
        // what has no direction is found by the check
        let [a, b, c, d] = rotation::normalized(given.orientation).unwrap_or(given.orientation);
        let load = |names, value: &Option<Operator>, frame| {
            value.as_ref().map(|value| Box::new(Load::new(names, value, frame)))
        };
        let force = ["force", "dforce_dq", "dforce_dv"];
        let moment = ["moment", "dmoment_dq", "dmoment_dv"];
        System::SecondOrder(Arc::new(Complete {
            q0: [x, y, z, a, b, c, d],
            v0: [vx, vy, vz, wx, wy, wz],
            force: load(force, &given.force, given.force_frame),
            moment: load(moment, &given.moment, given.moment_frame),
            mass: given.mass,
            inertia: given.inertia.into(),
            gravity: given.gravity,
            z0: given.z0.into(),
        }))
    }
}

/// The quaternion of a configuration.
#[inline]
fn quaternion(q: &[f64]) -> Quaternion {
    [q[3], q[4], q[5], q[6]]
}

#[inline]
fn vector(x: &[f64]) -> Vector {
    [x[0], x[1], x[2]]
}

/// Adds a block of three rows to a matrix of six columns.
fn add_block(J: &mut Matrix, (row, col): (usize, usize), sign: f64, block: &Matrix3) {
    for i in 0..3 {
        for j in 0..3 {
            J[(row + i, col + j)] += sign * block[i][j];
        }
    }
}

impl Complete {
    /// Adds the slopes of a load, given along six velocities in its own frame.
    fn add_slopes(
        J: &mut Matrix,
        row: usize,
        slopes: &[[f64; 6]; 3],
        turn: impl Fn(Vector) -> Vector,
    ) {
        for j in 0..6 {
            let column = turn([slopes[0][j], slopes[1][j], slopes[2][j]]);
            for i in 0..3 {
                J[(row + i, j)] += column[i];
            }
        }
    }
}

impl SecondOrderSystem for Complete {
    fn dim(&self) -> usize {
        6
    }

    fn dim_q(&self) -> usize {
        7
    }

    fn body(&self) -> Option<Body> {
        Some(Body::Space)
    }

    fn rigid(&self) -> Option<Rigid> {
        let Complete { mass, gravity, .. } = *self;
        let is_loaded = self.force.is_some() || self.moment.is_some();
        Some(Rigid { mass, inertia: self.inertia.matrix(), gravity, is_loaded })
    }

    fn displace(&self, q: &[f64], way: &[f64], to: &mut [f64]) {
        for k in 0..3 {
            to[k] = q[k] + way[k];
        }
        to[3..].copy_from_slice(&rotation::turned(quaternion(q), vector(&way[3..])));
    }

    /// `g_x`, and `½ g_pᵀ [p (0, ·)]`.
    fn pull_back(&self, q: &[f64], g: &[f64], along: &mut [f64]) {
        let ([w, x, y, z], [a, b, c, d]) = (quaternion(q), [g[3], g[4], g[5], g[6]]);
        along[..3].copy_from_slice(&g[..3]);
        along[3] = 0.5 * (-a * x + b * w + c * z - d * y);
        along[4] = 0.5 * (-a * y - b * z + c * w + d * x);
        along[5] = 0.5 * (-a * z + b * y - c * x + d * w);
    }

    fn extent(&self, q: &[f64], extent: &mut [f64]) {
        extent[..3].copy_from_slice(&q[..3]);
        extent[3..].fill(1.0);
    }

    fn admit(&self, q: &mut [f64]) -> Result<(), &'static str> {
        let unit = rotation::normalized(quaternion(q));
        q[3..].copy_from_slice(
            &unit.ok_or("the orientation is no rotation: a quaternion of length zero")?,
        );
        Ok(())
    }

    fn q0(&self) -> &[f64] {
        &self.q0
    }

    fn v0(&self) -> &[f64] {
        &self.v0
    }

    fn z0(&self) -> &[f64] {
        &self.z0
    }

    fn dependence(&self) -> SecondOrderDependence {
        SecondOrderDependence {
            mass: Dependence::Constant,
            jacobian: Dependence::State,
            forcing: Dependence::State,
        }
    }

    fn mass(&self, _: At<'_>, M: &mut Matrix) -> Result<(), OperatorError> {
        M.reset(6, 6);
        for k in 0..3 {
            M[(k, k)] = self.mass;
        }
        add_block(M, (3, 3), 1.0, &self.inertia.matrix());
        Ok(())
    }

    /// `(m g + f, τ − ω × J ω)`.
    fn force(&self, at: At<'_>, F: &mut [f64], _: &mut [f64]) -> Result<(), OperatorError> {
        let Complete { mass, inertia, gravity, .. } = self;
        let (p, omega) = (quaternion(at.first), vector(&at.second[3..]));
        let mut f = rotation::scaled(*mass, *gravity);
        if let Some(load) = &self.force {
            let own = load.eval(at)?;
            f = rotation::add(f, if load.frame == Frame::Body { rotate(p, own) } else { own });
        }
        let mut moment = cross(apply(&inertia.matrix(), omega), omega);
        if let Some(load) = &self.moment {
            let own = load.eval(at)?;
            let own = if load.frame == Frame::World { rotate_back(p, own) } else { own };
            moment = rotation::add(moment, own);
        }
        F[..3].copy_from_slice(&f);
        F[3..].copy_from_slice(&moment);
        Ok(())
    }

    /// `−m g · x`.
    fn potential(&self, q: &[f64]) -> f64 {
        -self.mass * rotation::dot(self.gravity, vector(q))
    }

    fn external(&self, t: f64, F: &mut [f64]) -> Result<(), OperatorError> {
        let at = At::new(t, &self.q0, &[0.0; 6]).with(&self.z0);
        self.force(at, F, &mut [])
    }

    /// Of `R f`: `−R [f]ₓ` by a turn; of `Rᵀ τ`: `[Rᵀ τ]ₓ`; and what the load itself does.
    fn force_dq(&self, at: At<'_>, J: &mut Matrix, _: &mut Matrix) -> Result<(), OperatorError> {
        J.reset(6, 6);
        let p = quaternion(at.first);
        let pulled = |slopes: [[f64; 7]; 3]| {
            let mut along = [[0.0; 6]; 3];
            for (g, along) in slopes.iter().zip(&mut along) {
                self.pull_back(at.first, g, along);
            }
            along
        };
        if let Some(load) = &self.force {
            let turn = |a| if load.frame == Frame::Body { rotate(p, a) } else { a };
            if load.frame == Frame::Body {
                let by_turn = multiply(&rotation::matrix(p), &skew(load.eval(at)?));
                add_block(J, (0, 3), -1.0, &by_turn);
            }
            if let Some(slopes) = load.by_q(at)? {
                Complete::add_slopes(J, 0, &pulled(slopes), turn);
            }
        }
        if let Some(load) = &self.moment {
            let turn = |a| if load.frame == Frame::World { rotate_back(p, a) } else { a };
            if load.frame == Frame::World {
                add_block(J, (3, 3), 1.0, &skew(rotate_back(p, load.eval(at)?)));
            }
            if let Some(slopes) = load.by_q(at)? {
                Complete::add_slopes(J, 3, &pulled(slopes), turn);
            }
        }
        Ok(())
    }

    /// `[J ω]ₓ − [ω]ₓ J`, and what the loads do.
    fn force_dv(&self, at: At<'_>, J: &mut Matrix, _: &mut Matrix) -> Result<(), OperatorError> {
        J.reset(6, 6);
        let (p, omega) = (quaternion(at.first), vector(&at.second[3..]));
        let inertia = &self.inertia.matrix();
        add_block(J, (3, 3), 1.0, &skew(apply(inertia, omega)));
        add_block(J, (3, 3), -1.0, &multiply(&skew(omega), inertia));
        if let Some(load) = &self.force
            && let Some(slopes) = load.by_v(at)?
        {
            let turn = |a| if load.frame == Frame::Body { rotate(p, a) } else { a };
            Complete::add_slopes(J, 0, &slopes, turn);
        }
        if let Some(load) = &self.moment
            && let Some(slopes) = load.by_v(at)?
        {
            let turn = |a| if load.frame == Frame::World { rotate_back(p, a) } else { a };
            Complete::add_slopes(J, 3, &slopes, turn);
        }
        Ok(())
    }

    fn operators(&self) -> Vec<&Operator> {
        self.force.iter().chain(&self.moment).flat_map(|load| load.operators()).collect()
    }

    fn jacobians(&self) -> Vec<Jacobian<'_>> {
        self.force.iter().chain(&self.moment).flat_map(|load| load.jacobians()).collect()
    }

    fn check(&self, owner: &str) -> Result<(), ModelError> {
        let Complete { q0, v0, mass, inertia, gravity, z0, .. } = self;
        let orientation = quaternion(q0);
        let places: [(_, &[f64]); 6] = [
            ("position", &q0[..3]),
            ("orientation", &orientation),
            ("v", &v0[..3]),
            ("omega", &v0[3..]),
            ("gravity", gravity),
            ("z0", z0),
        ];
        for (what, value) in places {
            check::vector(owner, what, value, value.len(), "")?;
        }
        if rotation::normalized(orientation).is_none() {
            return Err(ModelError::Orientation { owner: owner.to_string(), found: orientation });
        }
        check::mass(owner, *mass)?;
        for (what, load) in [("force", &self.force), ("moment", &self.moment)] {
            if let Some(load) = load {
                check::vector_operator(owner, what, &load.value, 3, "the directions of space")?;
            }
        }
        check_inertia(owner, &inertia.matrix())
    }
}

/// Symmetric, positive, and no moment larger than the sum of the others.
fn check_inertia(owner: &str, J: &Matrix3) -> Result<(), ModelError> {
    let rows = Matrix::from(*J);
    check::matrix(owner, "inertia", &rows, (3, 3), "the axes of space")?;
    let fail =
        |moments: Vector, why| Err(ModelError::Inertia { owner: owner.to_string(), moments, why });
    let size = J.as_flattened().iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let apart = [(0, 1), (0, 2), (1, 2)].map(|(i, j)| (J[i][j] - J[j][i]).abs());
    if apart.iter().any(|apart| *apart > 1e-12 * size) {
        return fail([J[0][0], J[1][1], J[2][2]], "the matrix is not symmetric");
    }
    let moments = rotation::eigenvalues(*J);
    if !(moments[0] > 0.0) {
        return fail(moments, "all of them must be positive");
    }
    if moments[2] > (moments[0] + moments[1]) * (1.0 + FLAT) {
        let why = "no body has one that is larger than the sum of the other two";
        return fail(moments, why);
    }
    Ok(())
}
