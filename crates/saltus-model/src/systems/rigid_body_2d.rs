//! Rigid bodies in the plane.

use super::load::{Frame, Load};
use crate::system::{Body, Rigid, SecondOrderDependence};
use crate::{
    At, Dependence, Jacobian, ModelError, Operator, OperatorError, SecondOrderSystem, System, check,
};
use saltus_linalg::Matrix;
use std::sync::Arc;

/// A rigid body in the plane.
///
/// ```text
/// m v̇ = m g + f + p_v,    J ω̇ = τ + p_ω,    q = (x, y, φ)
/// ```
#[derive(Debug, Clone)]
pub struct RigidBody2d {
    /// Where the center of mass is at first.
    pub position: [f64; 2],
    /// How the body is turned at first, in radians.
    pub angle: f64,
    /// Its first velocity.
    pub v: [f64; 2],
    /// Its first angular velocity.
    pub omega: f64,
    /// Mass, in (0, inf).
    pub mass: f64,
    /// Moment of inertia about the center of mass, in (0, inf).
    pub inertia: f64,
    /// Acceleration of gravity; zero unless given.
    pub gravity: [f64; 2],
    /// Force on the center of mass, of `t`, `q` and `v`; zero unless given.
    pub force: Option<Operator>,
    /// The frame of `force`. Default world.
    pub force_frame: Frame,
    /// Moment about the center of mass, of `t`, `q` and `v`; zero unless given.
    pub moment: Option<Operator>,
    /// The inputs of force and moment until they are set; none unless given.
    pub z0: Vec<f64>,
}

impl RigidBody2d {
    /// A body at rest in the origin.
    pub fn new(mass: f64, inertia: f64) -> Self {
        RigidBody2d {
            position: [0.0; 2],
            angle: 0.0,
            v: [0.0; 2],
            omega: 0.0,
            mass,
            inertia,
            gravity: [0.0; 2],
            force: None,
            force_frame: Frame::World,
            moment: None,
            z0: Vec::new(),
        }
    }

    /// The same at this place, turned by this angle.
    pub fn at(mut self, position: [f64; 2], angle: f64) -> Self {
        (self.position, self.angle) = (position, angle);
        self
    }

    /// The same with these velocities.
    pub fn moving(mut self, v: [f64; 2], omega: f64) -> Self {
        (self.v, self.omega) = (v, omega);
        self
    }

    /// The same with gravity.
    pub fn gravity(mut self, gravity: [f64; 2]) -> Self {
        self.gravity = gravity;
        self
    }

    /// The same with a force on the center of mass.
    pub fn force(mut self, force: impl Into<Operator>, frame: Frame) -> Self {
        (self.force, self.force_frame) = (Some(force.into()), frame);
        self
    }

    /// The same with a moment.
    pub fn moment(mut self, moment: impl Into<Operator>) -> Self {
        self.moment = Some(moment.into());
        self
    }
}

/// The body with the Jacobians of its loads.
#[derive(Debug)]
struct Complete {
    given: RigidBody2d,
    q0: [f64; 3],
    v0: [f64; 3],
    force: Option<Load<2, 3, 3>>,
    moment: Option<Load<1, 3, 3>>,
}

impl From<RigidBody2d> for System {
    fn from(given: RigidBody2d) -> Self {
        let ([x, y], [vx, vy]) = (given.position, given.v);
        let force = ["force", "dforce_dq", "dforce_dv"];
        let moment = ["moment", "dmoment_dq", "dmoment_dv"];
        System::SecondOrder(Arc::new(Complete {
            q0: [x, y, given.angle],
            v0: [vx, vy, given.omega],
            force: given.force.as_ref().map(|value| Load::new(force, value, given.force_frame)),
            moment: given.moment.as_ref().map(|value| Load::new(moment, value, Frame::World)),
            given,
        }))
    }
}

/// A vector turned by an angle.
fn turned(angle: f64, [x, y]: [f64; 2]) -> [f64; 2] {
    let (sin, cos) = angle.sin_cos();
    [cos * x - sin * y, sin * x + cos * y]
}

impl Complete {
    /// The Jacobian with these slopes of force and moment.
    fn fill(
        &self,
        angle: f64,
        J: &mut Matrix,
        f: Option<[[f64; 3]; 2]>,
        tau: Option<[[f64; 3]; 1]>,
    ) {
        J.reset(3, 3);
        if let (Some(load), Some(slopes)) = (&self.force, f) {
            for j in 0..3 {
                let column = [slopes[0][j], slopes[1][j]];
                let in_body = load.frame == Frame::Body;
                let column = if in_body { turned(angle, column) } else { column };
                (J[(0, j)], J[(1, j)]) = (column[0], column[1]);
            }
        }
        if let Some([slopes]) = tau {
            (0..3).for_each(|j| J[(2, j)] = slopes[j]);
        }
    }
}

impl SecondOrderSystem for Complete {
    fn dim(&self) -> usize {
        3
    }

    fn body(&self) -> Option<Body> {
        Some(Body::Plane)
    }

    fn rigid(&self) -> Option<Rigid> {
        let RigidBody2d { mass, inertia, gravity: [x, y], .. } = self.given;
        let is_loaded = self.force.is_some() || self.moment.is_some();
        let inertia = [[0.0; 3], [0.0; 3], [0.0, 0.0, inertia]];
        Some(Rigid { mass, inertia, gravity: [x, y, 0.0], is_loaded })
    }

    fn q0(&self) -> &[f64] {
        &self.q0
    }

    fn v0(&self) -> &[f64] {
        &self.v0
    }

    fn z0(&self) -> &[f64] {
        &self.given.z0
    }

    fn dependence(&self) -> SecondOrderDependence {
        let force = self.force.as_ref().map_or(Dependence::Constant, |load| match load.frame {
            Frame::World => load.dependence(),
            Frame::Body => Dependence::State,
        });
        let moment = self.moment.as_ref().map_or(Dependence::Constant, Load::dependence);
        let forcing = force.max(moment);
        // a force of time alone has no slopes
        let jacobian = if forcing == Dependence::State { forcing } else { Dependence::Constant };
        SecondOrderDependence { mass: Dependence::Constant, jacobian, forcing }
    }

    fn mass(&self, _: At<'_>, M: &mut Matrix) -> Result<(), OperatorError> {
        M.reset(3, 3);
        let RigidBody2d { mass, inertia, .. } = self.given;
        (M[(0, 0)], M[(1, 1)], M[(2, 2)]) = (mass, mass, inertia);
        Ok(())
    }

    fn force(&self, at: At<'_>, F: &mut [f64], _: &mut [f64]) -> Result<(), OperatorError> {
        let RigidBody2d { mass, gravity: [gx, gy], .. } = self.given;
        (F[0], F[1], F[2]) = (mass * gx, mass * gy, 0.0);
        if let Some(load) = &self.force {
            let own = load.eval(at)?;
            let in_body = load.frame == Frame::Body;
            let [x, y] = if in_body { turned(at.first[2], own) } else { own };
            F[0] += x;
            F[1] += y;
        }
        if let Some(load) = &self.moment {
            let [moment] = load.eval(at)?;
            F[2] += moment;
        }
        Ok(())
    }

    fn external(&self, t: f64, F: &mut [f64]) -> Result<(), OperatorError> {
        let at = At::new(t, &[0.0; 3], &[0.0; 3]).with(&self.given.z0);
        self.force(at, F, &mut [])
    }

    fn force_dq(&self, at: At<'_>, J: &mut Matrix, _: &mut Matrix) -> Result<(), OperatorError> {
        let f = self.force.as_ref().map_or(Ok(None), |load| load.by_q(at))?;
        let tau = self.moment.as_ref().map_or(Ok(None), |load| load.by_q(at))?;
        self.fill(at.first.get(2).copied().unwrap_or(0.0), J, f, tau);
        if let Some(load) = self.force.as_ref().filter(|load| load.frame == Frame::Body) {
            let [x, y] = turned(at.first[2], load.eval(at)?);
            J[(0, 2)] -= y;
            J[(1, 2)] += x;
        }
        Ok(())
    }

    fn force_dv(&self, at: At<'_>, J: &mut Matrix, _: &mut Matrix) -> Result<(), OperatorError> {
        let f = self.force.as_ref().map_or(Ok(None), |load| load.by_v(at))?;
        let tau = self.moment.as_ref().map_or(Ok(None), |load| load.by_v(at))?;
        self.fill(at.first.get(2).copied().unwrap_or(0.0), J, f, tau);
        Ok(())
    }

    fn operators(&self) -> Vec<&Operator> {
        let force = self.force.iter().flat_map(Load::operators);
        force.chain(self.moment.iter().flat_map(Load::operators)).collect()
    }

    fn jacobians(&self) -> Vec<Jacobian<'_>> {
        let force = self.force.iter().flat_map(Load::jacobians);
        force.chain(self.moment.iter().flat_map(Load::jacobians)).collect()
    }

    fn check(&self, owner: &str) -> Result<(), ModelError> {
        let RigidBody2d { position, angle, v, omega, mass, inertia, gravity, z0, .. } = &self.given;
        let places: [(_, &[f64]); 6] = [
            ("position", position),
            ("angle", std::slice::from_ref(angle)),
            ("v", v),
            ("omega", std::slice::from_ref(omega)),
            ("gravity", gravity),
            ("z0", z0),
        ];
        for (what, value) in places {
            check::vector(owner, what, value, value.len(), "")?;
        }
        check::mass(owner, *mass)?;
        if !(*inertia > 0.0 && inertia.is_finite()) {
            let (owner, what, value) = (owner.to_string(), "inertia", *inertia);
            return Err(ModelError::Range { owner, what, value, allowed: "(0, inf)" });
        }
        if let Some(load) = &self.force {
            check::vector_operator(owner, "force", &load.value, 2, "the directions of the plane")?;
        }
        if let Some(load) = &self.moment {
            check::vector_operator(owner, "moment", &load.value, 1, "a moment in the plane")?;
        }
        Ok(())
    }
}
