//! Joints of a scene, with what is built into them.

use super::{Given, Scene, SceneFault};
use crate::{AnyJoint, Coordinate, Friction, JointSpec, Limits, Motor, Spring};
use saltus_model::rotation::Vector;
use saltus_model::{Names, Operator};

/// A joint between two bodies, or a body and the world.
#[derive(Debug, Clone)]
pub struct JointLink {
    /// Its name.
    pub name: String,
    /// The joint.
    pub joint: AnyJoint,
    /// The axis of swing and twist of a ball joint. Default z.
    pub axis: Vector,
    /// What is built into its coordinates, at most once each.
    pub fittings: Vec<Fitting>,
    /// It breaks for good once its forces together are larger than this; a gear once its moment is.
    pub break_force: Option<f64>,
    /// The same of its moments.
    pub break_moment: Option<f64>,
    /// The body and the world, or the first side and the second: bodies, or one of them and what stands
    /// still. Points, axes, coordinates and forces are those of the sides in this order.
    pub bodies: Vec<String>,
    /// Whether the two may touch each other nevertheless.
    pub touch: bool,
    /// The joint whose first coordinate that of this one follows; nothing: it moves by itself.
    pub follows: Option<Follows>,
}

/// How a joint follows another: `x = ratio x_other`, both of them from where they start. It holds on where one
/// of the joints breaks.
#[derive(Debug, Clone, PartialEq)]
pub struct Follows {
    /// The other joint.
    pub joint: String,
    /// The ratio, not zero; that of two angles in space a ratio of whole numbers up to 1000.
    pub ratio: f64,
}

impl Follows {
    /// Whether two angles in space can be held in this ratio.
    pub fn is_of_angles(&self) -> bool {
        self.ratio != 0.0 && crate::coordinates::denominator(self.ratio).is_ok()
    }
}

/// What is built into one coordinate of a joint.
#[derive(Debug, Clone)]
pub struct Fitting {
    /// The coordinate.
    pub coordinate: Coordinate,
    /// Where it ends.
    pub limits: Option<Limits>,
    /// Its dry friction.
    pub friction: Option<Friction>,
    /// Its spring and damper.
    pub spring: Option<Spring>,
    /// What drives it.
    pub motor: Option<MotorSpec>,
}

/// What drives a coordinate of a joint; each vector has one component, a function of `t`.
#[derive(Debug, Clone)]
pub enum MotorSpec {
    /// A force or moment.
    Force(Given),
    /// A rate, as far as the force allows.
    Velocity {
        /// The rate.
        v: Given,
        /// The largest force.
        max_force: f64,
    },
    /// A place, by a spring and a damper.
    Position {
        /// The place.
        target: Given,
        /// The stiffness.
        stiffness: f64,
        /// The damping.
        damping: f64,
        /// The largest force.
        max_force: f64,
    },
}

impl Fitting {
    /// A coordinate with nothing built into it.
    pub fn new(coordinate: Coordinate) -> Self {
        Fitting { coordinate, limits: None, friction: None, spring: None, motor: None }
    }
}

impl JointLink {
    /// A joint of one or two bodies that do not touch each other.
    pub fn new(name: impl Into<String>, joint: impl Into<AnyJoint>, bodies: &[&str]) -> Self {
        JointLink {
            name: name.into(),
            joint: joint.into(),
            axis: [0.0, 0.0, 1.0],
            fittings: Vec::new(),
            break_force: None,
            break_moment: None,
            bodies: bodies.iter().map(|name| name.to_string()).collect(),
            touch: false,
            follows: None,
        }
    }

    /// The joint with its operators.
    pub(crate) fn spec(&self, scene: &Scene) -> Result<JointSpec, SceneFault> {
        let constants = scene.constants();
        let operator = |given: &Given, key| given.operator(key, 1, &Names::TIME, &constants);
        let motor = |motor: &MotorSpec| {
            Ok::<Motor, SceneFault>(match motor {
                MotorSpec::Force(force) => Motor::Force(operator(force, "motor")?),
                MotorSpec::Velocity { v, max_force } => {
                    let v: Operator = operator(v, "motor")?;
                    Motor::Velocity { v, max_force: *max_force }
                }
                MotorSpec::Position { target, stiffness, damping, max_force } => Motor::Position {
                    target: operator(target, "motor")?,
                    stiffness: *stiffness,
                    damping: *damping,
                    max_force: *max_force,
                },
            })
        };
        let mut spec = JointSpec::new(self.joint);
        spec.axis = self.axis;
        (spec.break_force, spec.break_moment) = (self.break_force, self.break_moment);
        for Fitting { coordinate, limits, friction, spring, motor: drive } in &self.fittings {
            // what two tables say of one coordinate adds up
            let own = spec.extras_of(*coordinate);
            own.limits = limits.or(own.limits);
            own.friction = friction.or(own.friction);
            own.spring = spring.or(own.spring);
            if let Some(drive) = drive {
                own.motor = Some(motor(drive)?);
            }
        }
        Ok(spec)
    }
}
