//! What is drawn of a scene, and where it is at an instant.
//!
//! ```text
//! X = x + R (X₀ − c)      a point of the surface; c is the center of mass of a body, zero of a static
//! ```

use super::VtkError;
use saltus_mechanics::{Part, Placed, Scene, StaticMotion, mesh::Mesh};
use saltus_model::rotation::{IDENTITY, Quaternion, Vector, add, normalized, rotate, sub};
use saltus_sim::{Quantity, Run};

/// A body or static, and where it is.
pub(super) struct Item {
    pub name: String,
    pub mesh: Mesh,
    /// Where its center of mass is, of a static the origin of its shapes.
    pub place: Vector,
    pub is_there: bool,
    turn: Quaternion,
    center: Vector,
    motion: Motion,
}

/// What tells where it is.
enum Motion {
    /// Of a static.
    Told(Box<StaticMotion>),
    /// Columns of a row: where position and turn of a body begin; and when it is there.
    Recorded { position: usize, turn: Turn, life: [f64; 2] },
}

enum Turn {
    Quaternion(usize),
    Angle(usize),
}

impl Item {
    /// Goes to where it is at a recorded instant.
    pub fn be_at(&mut self, time: f64, row: &[f64]) -> Result<(), VtkError> {
        match &mut self.motion {
            Motion::Told(motion) => {
                let frame = motion.frame(time);
                (self.place, self.turn) =
                    frame.map_err(|error| VtkError::Drive { time, reason: error.to_string() })?;
            }
            Motion::Recorded { position: x, turn: Turn::Quaternion(p), life } => {
                self.place = [row[*x], row[*x + 1], row[*x + 2]];
                self.turn = [row[*p], row[*p + 1], row[*p + 2], row[*p + 3]];
                self.is_there = life[0] <= time && time < life[1];
            }
            Motion::Recorded { position: x, turn: Turn::Angle(p), life } => {
                let (sin, cos) = (0.5 * row[*p]).sin_cos();
                self.place = [row[*x], row[*x + 1], 0.0];
                self.turn = [cos, 0.0, 0.0, sin];
                self.is_there = life[0] <= time && time < life[1];
            }
        }
        Ok(())
    }

    /// Where a point of its surface is.
    pub fn place_of(&self, point: Vector) -> Vector {
        add(self.place, rotate(self.turn, sub(point, self.center)))
    }

    /// Whether it moves by itself.
    pub fn is_body(&self) -> bool {
        matches!(self.motion, Motion::Recorded { .. })
    }
}

/// How far what has no end is drawn: twice as far as the bodies go at first.
fn reach(scene: &Scene) -> f64 {
    let far = scene.bodies.iter().flat_map(|body| body.position);
    far.fold(1.0_f64, |most, x| most.max(2.0 * x.abs()))
}

/// The surfaces of some parts in their common frame.
fn mesh(parts: &[Part], reach: f64) -> Mesh {
    let mut mesh = Mesh::default();
    for Part { shape, position, orientation, .. } in parts {
        let orientation = normalized(*orientation).unwrap_or(IDENTITY);
        let (shape, position) = (shape.clone(), *position);
        mesh.extend(Placed { shape, position, orientation }.drawing(reach));
    }
    mesh
}

/// All statics, then all bodies.
pub(super) fn items(run: &Run, scene: &Scene) -> Result<Vec<Item>, VtkError> {
    let reach = reach(scene);
    let wrong = |error: saltus_mechanics::SceneError| VtkError::Scene { reason: error.to_string() };
    let item = |name: &String, parts: &[Part], center, motion| Item {
        name: name.clone(),
        mesh: mesh(parts, reach),
        place: [0.0; 3],
        is_there: true,
        turn: IDENTITY,
        center,
        motion,
    };
    let mut items = Vec::new();
    for (k, one) in scene.statics.iter().enumerate() {
        let motion = Motion::Told(Box::new(scene.motion_of(k).map_err(wrong)?));
        items.push(item(&one.name, &one.parts, [0.0; 3], motion));
    }
    for (k, body) in scene.bodies.iter().enumerate() {
        let column = |quantity: Quantity| {
            let mut signals = run.layout.signals.iter();
            let found = signals.find(|s| s.owner == body.name && s.quantity == quantity);
            found.map(|signal| signal.columns.start)
        };
        let missing =
            |what: &str| VtkError::NotRecorded { signal: format!("{}.{what}", body.name) };
        let position = column(Quantity::Position).ok_or_else(|| missing("position"))?;
        let turn = match (column(Quantity::Orientation), column(Quantity::Angle)) {
            (Some(start), _) => Turn::Quaternion(start),
            (None, Some(start)) => Turn::Angle(start),
            (None, None) => return Err(missing("orientation")),
        };
        let center = scene.mass_of(k).map_err(wrong)?.center;
        let motion = Motion::Recorded { position, turn, life: body.life() };
        items.push(item(&body.name, &body.parts, center, motion));
    }
    Ok(items)
}
