//! What interactions do to rigid bodies in the step that ended at a recorded instant.
//!
//! ```text
//! p = Hᵀ λ      the impulse on the center of mass, and that of the moment about it
//! ```
//!
//! It stands beside the rows, not in them: how `H` was taken in the step, no row tells.

use crate::run::{Layout, SignalError};
use saltus_model::{Body, Model, Order, System};
use serde::Serialize;

/// An interaction and one of the bodies that it links.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Push {
    /// The interaction.
    pub interaction: String,
    /// The body.
    pub body: String,
    /// Where it stands among those of an instant; nothing where it is not recorded.
    pub place: Option<usize>,
}

/// The impulse in the frame of the world, then that of the moment in the frame of the body; in the plane
/// the first two and the last number count.
pub type Impulse = [f64; 6];

/// A [`Push`] of a model: which interaction, which system, where it begins in `p`, and what body it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub interaction: usize,
    pub system: usize,
    pub start: usize,
    pub body: Body,
}

/// All pushes of a model, in the order of its interactions and their systems.
pub(crate) fn places_of(model: &Model) -> Vec<Place> {
    let bodies: Vec<Option<Body>> = model.systems().map(|(_, system)| body_of(system)).collect();
    let sizes: Vec<usize> = model.systems().map(|(_, system)| system.dim()).collect();
    let mut places = Vec::new();
    for (interaction, (_, one)) in model.interactions().enumerate() {
        if one.relation.order() != Order::Second {
            continue;
        }
        let mut start = 0;
        for system in one.systems.iter().map(|id| id.index()) {
            if let Some(body) = bodies[system] {
                places.push(Place { interaction, system, start, body });
            }
            start += sizes[system];
        }
    }
    places
}

fn body_of(system: &System) -> Option<Body> {
    match system {
        System::FirstOrder(_) => None,
        System::SecondOrder(system) => system.body(),
    }
}

/// The same by name; none of them is recorded.
pub(crate) fn pushes_of(model: &Model) -> Vec<Push> {
    let systems: Vec<&str> = model.systems().map(|(name, _)| name).collect();
    let interactions: Vec<&str> = model.interactions().map(|(name, _)| name).collect();
    let push = |place: Place| Push {
        interaction: interactions[place.interaction].to_string(),
        body: systems[place.system].to_string(),
        place: None,
    };
    places_of(model).into_iter().map(push).collect()
}

impl Layout {
    /// The same with all pushes recorded.
    pub(crate) fn with_pushes(mut self) -> Layout {
        self.pushes.iter_mut().enumerate().for_each(|(k, push)| push.place = Some(k));
        self
    }

    /// Pushes that are recorded at an instant.
    pub fn push_count(&self) -> usize {
        self.pushes.iter().filter_map(|push| push.place).map(|place| place + 1).max().unwrap_or(0)
    }

    /// The recorded ones of a body: interactions, and where they stand.
    pub(crate) fn pushes_on(&self, body: &str) -> Result<Vec<(&str, usize)>, SignalError> {
        let own = self.pushes.iter().filter(|push| push.body == body);
        own.map(|push| {
            let place = push.place.ok_or_else(|| SignalError::NoForces {
                interaction: push.interaction.clone(),
                body: body.to_string(),
            })?;
            Ok((push.interaction.as_str(), place))
        })
        .collect()
    }
}

/// The part of `p` that belongs to a body.
pub(crate) fn impulse_on(place: Place, p: &[f64]) -> Impulse {
    let p = p.get(place.start..).unwrap_or(&[]);
    match (place.body, p) {
        (Body::Plane, &[x, y, turn, ..]) => [x, y, 0.0, 0.0, 0.0, turn],
        (Body::Space, &[x, y, z, a, b, c, ..]) => [x, y, z, a, b, c],
        _ => [0.0; 6],
    }
}
