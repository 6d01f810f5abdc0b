//! What carries a joint in place of the world: a static that moves as it is told.
//!
//! ```text
//! x(t), p(t)        its pose; ṗ = ½ ω p from p = 1 at t = 0
//! ẋ(t), Rᵀ ω(t)     its velocities, those of a body: turns in its own frame
//! ```

use crate::Drive;
use crate::finder::driven::Driving;
use crate::pose::{Pose, Start};
use crate::row::Sides;
use saltus_model::{Argument, Body, Operator, OperatorError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What stands beside one body that a joint links.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beside {
    /// What carries the joint; nothing: the world does.
    pub carrier: Option<Arc<Carrier>>,
    /// Whether it is the first side, and the body the second.
    pub is_first: bool,
}

impl Beside {
    /// The sides of so many linked bodies.
    pub fn sides(&self, count: usize) -> Sides {
        let sides = Sides::linked(count, self.is_first);
        if self.carrier.is_some() { sides.carried() } else { sides }
    }

    /// Where it is when the joint begins.
    pub fn start(&self) -> Start {
        self.carrier.as_ref().map_or(Start::WORLD, |carrier| carrier.start)
    }
}

/// A static that carries a joint.
#[derive(Debug)]
pub(crate) struct Carrier {
    moving: Mutex<Moving>,
    speed: Option<Operator>,
    drive: Drive,
    /// Where it is when its joint begins.
    pub start: Start,
}

/// What is kept of its motion: how far it has turned, and where it was when it was asked last, since all of its joint asks at one time.
#[derive(Debug)]
struct Moving {
    driving: Driving,
    last: Option<(f64, Pose)>,
}

impl Carrier {
    /// How it moves, and when its joint begins.
    pub fn new(drive: Drive, space: Body, name: &str, t: f64) -> Result<Carrier, OperatorError> {
        let mut driving = Driving::new(&drive, space, name);
        let start = Start::at(space, &driving.pose(t)?);
        let speed = drive.position.as_ref();
        let speed = speed.map(|position| position.accurate_derivative(Argument::Time, 1));
        let moving = Mutex::new(Moving { driving, last: None });
        Ok(Carrier { moving, speed, drive, start })
    }

    fn moving(&self) -> MutexGuard<'_, Moving> {
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where it is.
    pub fn pose(&self, t: f64) -> Result<Pose, OperatorError> {
        let mut moving = self.moving();
        if let Some((then, pose)) = moving.last
            && then == t
        {
            return Ok(pose);
        }
        let pose = moving.driving.pose(t)?;
        moving.last = Some((t, pose));
        Ok(pose)
    }

    /// Its velocities, where it is at this pose.
    pub fn velocities(&self, t: f64, pose: &Pose) -> Result<[f64; 6], OperatorError> {
        let [[x, y, z], omega] = self.moving().driving.velocities(self.speed.as_ref(), t)?;
        let [a, b, c] = pose.turn_back(omega);
        Ok([x, y, z, a, b, c])
    }

    /// What is evaluated in a step.
    pub fn operators(&self) -> impl Iterator<Item = &Operator> {
        [&self.drive.position, &self.speed, &self.drive.omega].into_iter().flatten()
    }
}
