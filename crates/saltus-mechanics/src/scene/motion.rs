//! Where the shapes of a static are at an instant.
//!
//! ```text
//! x(t), p(t) p₀      the origin and the turn of their frame; ṗ = ½ ω p from p = 1 at t = 0
//! ```

use super::{Member, Scene, SceneError};
use crate::finder::driven::Driving;
use saltus_model::OperatorError;
use saltus_model::rotation::{Quaternion, Vector, normalized, product};

/// How a static of a scene moves, or that it stands still.
#[derive(Debug, Clone)]
pub struct StaticMotion {
    position: Vector,
    turn: Quaternion, // of unit length
    driving: Option<Driving>,
}

impl Scene {
    /// How the static number `k` moves.
    pub fn motion_of(&self, k: usize) -> Result<StaticMotion, SceneError> {
        let one = &self.statics[k];
        let turn = normalized(one.orientation);
        let turn = turn.ok_or_else(|| self.no_turn(Member::Static(k), one.orientation))?;
        let drive = self.drive(k, one)?;
        let driving = drive.map(|drive| Driving::new(&drive, self.space, &one.name));
        Ok(StaticMotion { position: one.position, turn, driving })
    }
}

impl StaticMotion {
    /// Where the origin of its shapes is, and how they are turned.
    pub fn frame(&mut self, t: f64) -> Result<(Vector, Quaternion), OperatorError> {
        match &mut self.driving {
            None => Ok((self.position, self.turn)),
            Some(driving) => {
                let (x, p) = driving.frame(t)?;
                Ok((x, product(p, self.turn)))
            }
        }
    }
}
