//! What a strategy sees of a system: a small trait for each order.

use crate::rotation::{Matrix3, Vector};
use crate::{Argument, At, Jacobian, Line, ModelError, Operator, OperatorError};
use saltus_linalg::Matrix;
use std::fmt::Debug;
use std::ops::Range;

/// Order of the differential equation, which decides what the state is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// State `x`.
    First,
    /// State `q, v`.
    Second,
}

impl Order {
    /// The adjective used in messages.
    pub fn name(self) -> &'static str {
        match self {
            Order::First => "first-order",
            Order::Second => "Lagrangian",
        }
    }
}

impl Dependence {
    /// Of an operator: inputs count as state, since they change at any time.
    pub fn of(operator: &Operator) -> Dependence {
        if [Argument::First, Argument::Second, Argument::Inputs].iter().any(|&a| operator.uses(a)) {
            Dependence::State
        } else if operator.uses(Argument::Time) {
            Dependence::Time
        } else {
            Dependence::Constant
        }
    }
}

/// The world that a rigid body lives in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// Space: `q` is the position and a unit quaternion `w, x, y, z`; `v` is the velocity in the
    /// frame of the world and the angular velocity in that of the body.
    Space,
    /// The plane: `q` is the position and an angle, `v` their rates.
    Plane,
}

/// What a rigid body is made of. In the plane the moment of inertia is the last entry of `inertia`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rigid {
    /// Mass.
    pub mass: f64,
    /// Moments of inertia about the center of mass, in the frame of the body.
    pub inertia: Matrix3,
    /// Acceleration of gravity, in the frame of the world.
    pub gravity: Vector,
    /// Whether there are other forces or moments.
    pub is_loaded: bool,
}

/// A part of a state that has a name, such as `q` or `omega`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatePart {
    /// Its name.
    pub name: &'static str,
    /// What it is a part of.
    pub of: StateVector,
    /// Which components.
    pub range: Range<usize>,
}

/// The vectors that states are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateVector {
    /// `x`.
    X,
    /// `q`.
    Q,
    /// `v`.
    V,
}

impl StatePart {
    /// The parts of a body's state.
    pub(crate) fn of_body(body: Body) -> Vec<StatePart> {
        let (space, turn) = match body {
            Body::Space => (3, "orientation"),
            Body::Plane => (2, "angle"),
        };
        let (q, v) = match body {
            Body::Space => (7, 6),
            Body::Plane => (3, 3),
        };
        let part = |name, of, range| StatePart { name, of, range };
        vec![
            part("position", StateVector::Q, 0..space),
            part(turn, StateVector::Q, space..q),
            part("v", StateVector::V, 0..space),
            part("omega", StateVector::V, space..v),
        ]
    }
}

/// What an operator depends on; strategies keep what does not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dependence {
    /// On nothing: evaluated once.
    Constant,
    /// On time only: evaluated once a step.
    Time,
    /// On the state: evaluated in every iteration.
    State,
}

/// A first-order system.
///
/// ```text
/// M(t) ẋ = f(t, x) + r,    x(t0) = x0
/// ```
///
/// Where it is evaluated, `first` is `x`.
pub trait FirstOrderSystem: Debug + Send + Sync {
    /// Number of state components.
    fn dim(&self) -> usize;
    /// The initial state.
    fn x0(&self) -> &[f64];
    /// The inputs `z` until they are set.
    fn z0(&self) -> &[f64] {
        &[]
    }
    /// Whether `M`, `∂f/∂x` and `f(t, 0)` stay the same.
    fn dependence(&self) -> FirstOrderDependence;
    /// `M(t)`.
    fn mass(&self, at: At<'_>, M: &mut Matrix) -> Result<(), OperatorError>;
    /// `f(t, x)`.
    fn rhs(&self, at: At<'_>, f: &mut [f64]) -> Result<(), OperatorError>;
    /// `f(t, 0)`, of a system whose `f` is linear in `x`: what drives it from outside.
    fn forcing(&self, t: f64, b: &mut [f64]) -> Result<(), OperatorError>;
    /// Whether this component of it can change with time.
    fn forcing_varies(&self, component: usize) -> bool {
        let _ = component;
        true
    }
    /// Where it is a straight line from `t` on, see [`Function::line`](crate::Function::line).
    fn forcing_line(&self, t: f64, at: &mut [f64], rate: &mut [f64]) -> Option<Line> {
        let _ = (t, at, rate);
        None
    }
    /// `∂f/∂x (t, x)`.
    fn rhs_dx(&self, at: At<'_>, A: &mut Matrix) -> Result<(), OperatorError>;
    /// The operators that a step evaluates, to be made ready before the first.
    fn operators(&self) -> Vec<&Operator> {
        Vec::new()
    }
    /// Its Jacobians, to be compared with differences; none where they cannot be wrong.
    fn jacobians(&self) -> Vec<Jacobian<'_>> {
        Vec::new()
    }
    /// Finds what is wrong with the system; `owner` names it in the error.
    fn check(&self, owner: &str) -> Result<(), ModelError>;
}

/// What the parts of a [`FirstOrderSystem`] depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstOrderDependence {
    /// Of `M`.
    pub mass: Dependence,
    /// Of `∂f/∂x`.
    pub jacobian: Dependence,
    /// Of `f(t, 0)`.
    pub forcing: Dependence,
}

/// A second-order system.
///
/// ```text
/// M(q) v̇ = F(t, q, v) + p,    q̇ = T(q) v,    q(t0) = q0,  v(t0) = v0
/// ```
///
/// Where it is evaluated, `first` is `q` and `second` is `v`. `work` is memory of the size of
/// the result.
///
/// Mostly `q` is a vector and `T` the identity. The configurations of a rigid body are curved:
/// they have more components than there are velocities, and a velocity that acts for a time moves
/// them by [`displace`](Self::displace).
pub trait SecondOrderSystem: Debug + Send + Sync {
    /// Number of degrees of freedom: the components of `v`.
    fn dim(&self) -> usize;
    /// Number of components of `q`.
    fn dim_q(&self) -> usize {
        self.dim()
    }
    /// Whether it is a rigid body, and where.
    fn body(&self) -> Option<Body> {
        None
    }
    /// What it is made of, if it is a rigid body.
    fn rigid(&self) -> Option<Rigid> {
        None
    }
    /// Where the way `δ = ∫ v dt` leads from `q`: `q ∘ exp(δ)`, which is `q + δ` of vectors.
    fn displace(&self, q: &[f64], way: &[f64], to: &mut [f64]) {
        for (to, (q, way)) in to.iter_mut().zip(q.iter().zip(way)) {
            *to = q + way;
        }
    }
    /// `gᵀ T(q)`: the slope `g` of a function of `q` as a slope along the ways of
    /// [`displace`](Self::displace).
    fn pull_back(&self, q: &[f64], g: &[f64], along: &mut [f64]) {
        let _ = q;
        along.copy_from_slice(g);
    }
    /// Size of the terms of a configuration, as its ways see them: `q` itself of vectors.
    fn extent(&self, q: &[f64], extent: &mut [f64]) {
        extent.copy_from_slice(q);
    }
    /// Makes a configuration that somebody has set one of the system's own, or says why it is none.
    fn admit(&self, q: &mut [f64]) -> Result<(), &'static str> {
        let _ = q;
        Ok(())
    }
    /// The initial configuration.
    fn q0(&self) -> &[f64];
    /// The initial velocity.
    fn v0(&self) -> &[f64];
    /// The inputs `z` until they are set.
    fn z0(&self) -> &[f64] {
        &[]
    }
    /// Whether `M`, the Jacobians of `F` and `F(t, 0, 0)` stay the same.
    fn dependence(&self) -> SecondOrderDependence;
    /// `M(q)`.
    fn mass(&self, at: At<'_>, M: &mut Matrix) -> Result<(), OperatorError>;
    /// `F(t, q, v)`: all forces but the multipliers'.
    fn force(&self, at: At<'_>, F: &mut [f64], work: &mut [f64]) -> Result<(), OperatorError>;
    /// Energy of the forces that have a potential, where it is known.
    fn potential(&self, q: &[f64]) -> f64 {
        let _ = q;
        0.0
    }
    /// The force that damps, `D`, as far as it is known: what is subtracted in `F` because the
    /// system moves. The energy ledger tells its work from that of other forces. `false`, and
    /// nothing is filled, where there is none.
    fn damping(&self, at: At<'_>, D: &mut [f64], work: &mut [f64]) -> Result<bool, OperatorError> {
        let _ = (at, D, work);
        Ok(false)
    }
    /// The external force: `F(t, 0, 0)` of a linear system.
    fn external(&self, t: f64, F: &mut [f64]) -> Result<(), OperatorError>;
    /// `∂F/∂q` along the ways of [`displace`](Self::displace): one column a component of `v`.
    fn force_dq(&self, at: At<'_>, J: &mut Matrix, work: &mut Matrix) -> Result<(), OperatorError>;
    /// `∂F/∂v`.
    fn force_dv(&self, at: At<'_>, J: &mut Matrix, work: &mut Matrix) -> Result<(), OperatorError>;
    /// `M` and `F` together.
    fn mass_and_force(
        &self,
        at: At<'_>,
        M: &mut Matrix,
        F: &mut [f64],
        work: &mut Vec<f64>,
    ) -> Result<(), OperatorError> {
        work.resize(F.len(), 0.0);
        self.mass(at, M)?;
        self.force(at, F, work)
    }
    /// `∂F/∂q` and `∂F/∂v` together.
    fn force_jacobians(
        &self,
        at: At<'_>,
        dq: &mut Matrix,
        dv: &mut Matrix,
        work: &mut Matrix,
    ) -> Result<(), OperatorError> {
        self.force_dq(at, dq, work)?;
        self.force_dv(at, dv, work)
    }

    /// `M`, `F`, `∂F/∂q` and `∂F/∂v` together. `work` and `matrix` are memory.
    fn linearized(
        &self,
        at: At<'_>,
        out: Linearized<'_>,
        work: &mut Vec<f64>,
        matrix: &mut Matrix,
    ) -> Result<(), OperatorError> {
        let Linearized { M, F, dq, dv } = out;
        self.mass_and_force(at, M, F, work)?;
        self.force_jacobians(at, dq, dv, matrix)
    }

    /// The operators that a step evaluates, to be made ready before the first.
    fn operators(&self) -> Vec<&Operator> {
        Vec::new()
    }
    /// Its Jacobians, to be compared with differences; none where they cannot be wrong.
    fn jacobians(&self) -> Vec<Jacobian<'_>> {
        Vec::new()
    }
    /// Finds what is wrong with the system; `owner` names it in the error.
    fn check(&self, owner: &str) -> Result<(), ModelError>;
}

/// Where a [`SecondOrderSystem`] writes itself and its Jacobians.
#[derive(Debug)]
pub struct Linearized<'a> {
    /// `M`.
    pub M: &'a mut Matrix,
    /// `F`.
    pub F: &'a mut [f64],
    /// `∂F/∂q`.
    pub dq: &'a mut Matrix,
    /// `∂F/∂v`.
    pub dv: &'a mut Matrix,
}

/// What the parts of a [`SecondOrderSystem`] depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecondOrderDependence {
    /// Of `M`.
    pub mass: Dependence,
    /// Of `∂F/∂q` and `∂F/∂v`.
    pub jacobian: Dependence,
    /// Of `F(t, 0, 0)`.
    pub forcing: Dependence,
}
