//! Bodies that appear and disappear while a scene runs.
//!
//! ```text
//! force, moment and gravity act where birth ≤ t < death
//! at birth:  q ← q₀, v ← v₀        at death:  v ← 0
//! ```
//!
//! Before and after, a body is where it was put or where it was left: it rests, is touched by
//! nothing, and its joints do not act.

use super::BodySpec;
use crate::{Finder, MassProperties};
use saltus_model::rotation::{Quaternion, Vector, rotate_back};
use saltus_model::{
    Argument, At, Body, ContactFinder, ContactSearch, Elasticity, Event, FoundContact, Frame,
    Function, Law, Model, ModelError, Moment, Operator, OperatorError, Side,
};
use std::sync::Arc;

impl BodySpec {
    /// When it is there: from birth to death, `birth ≤ t < death`.
    pub fn life(&self) -> [f64; 2] {
        [self.birth.unwrap_or(f64::NEG_INFINITY), self.death.unwrap_or(f64::INFINITY)]
    }

    /// Whether it is not there all the time.
    pub(crate) fn is_mortal(&self) -> bool {
        self.birth.is_some() || self.death.is_some()
    }

    /// What happens to it, after `t0`: the state it is born with, and its end.
    pub(crate) fn events(&self, t0: f64, q: &[f64], v: &[f64]) -> Vec<Event> {
        let mut events = Vec::new();
        // two components of a position in the plane and an angle, or three and a quaternion
        let (space, turn) = if q.len() == 3 { (2, "angle") } else { (3, "orientation") };
        let parts = |event: Event, v: &[f64]| {
            let event = event.set_state(&self.name, "v", v[..space].iter().copied());
            event.set_state(&self.name, "omega", v[space..].iter().copied())
        };
        if let Some(birth) = self.birth.filter(|&birth| birth > t0) {
            let event = Event::at([birth]).named(format!("{} appears", self.name));
            let event = event.set_state(&self.name, "position", q[..space].iter().copied());
            let event = event.set_state(&self.name, turn, q[space..].iter().copied());
            events.push(parts(event, v));
        }
        if let Some(death) = self.death.filter(|&death| death > t0) {
            let event = Event::at([death]).named(format!("{} disappears", self.name));
            events.push(parts(event, &vec![0.0; v.len()]));
        }
        events
    }
}

/// A finder that leaves out what is not there.
#[derive(Debug)]
pub(crate) struct LivingFinder {
    pub finder: Finder,
    /// When each side is there: from birth to death.
    pub lives: Vec<[f64; 2]>,
}

#[derive(Debug)]
struct LivingSearch {
    search: Box<dyn ContactSearch>,
    lives: Vec<[f64; 2]>,
}

impl ContactFinder for LivingFinder {
    fn space(&self) -> Body {
        self.finder.space()
    }

    fn sides(&self) -> &[Side] {
        self.finder.sides()
    }

    fn laws(&self) -> &[Law] {
        self.finder.laws()
    }

    fn elasticity(&self, law: usize) -> Option<Elasticity> {
        self.finder.elasticity(law)
    }

    fn check(&self, model: &Model) -> Result<(), ModelError> {
        self.finder.check(model)
    }

    fn begin(&self, starts: &[Option<[usize; 2]>]) -> Box<dyn ContactSearch> {
        let (search, lives) = (self.finder.begin(starts), self.lives.clone());
        Box::new(LivingSearch { search, lives })
    }
}

impl ContactSearch for LivingSearch {
    fn share(&mut self, threads: usize) {
        self.search.share(threads);
    }

    fn find(
        &mut self,
        moment: Moment<'_>,
        found: &mut Vec<FoundContact>,
    ) -> Result<(), OperatorError> {
        self.search.find(moment, found)?;
        let is_there = |side: u32| {
            let [birth, death] = self.lives[side as usize];
            birth <= moment.t && moment.t < death
        };
        found.retain(|contact| contact.sides.into_iter().all(is_there));
        Ok(())
    }

    fn drive(&self, contact: &FoundContact) -> Vector {
        self.search.drive(contact)
    }

    fn turn(&self, contact: &FoundContact) -> Vector {
        self.search.turn(contact)
    }
}

/// A load that acts from birth to death, and the weight beside it.
#[derive(Debug)]
struct Mortal {
    life: [f64; 2],
    load: Option<Operator>,
    weight: Vector,
    /// The weight is in the frame of the world; the load may be in that of the body.
    frame: Frame,
}

impl Function for Mortal {
    fn eval(&self, at: At<'_>, out: &mut [f64]) -> Result<(), String> {
        out.fill(0.0);
        let [birth, death] = self.life;
        if !(birth <= at.t && at.t < death) {
            return Ok(());
        }
        if let Some(load) = &self.load {
            load.eval(at, "force", out).map_err(|error| error.why)?;
        }
        let mut weight = self.weight;
        if self.frame == Frame::Body {
            weight = match *at.first {
                [_, _, _, a, b, c, d] => rotate_back([a, b, c, d] as Quaternion, weight),
                [_, _, angle] => {
                    let (sin, cos) = angle.sin_cos();
                    [cos * weight[0] + sin * weight[1], cos * weight[1] - sin * weight[0], 0.0]
                }
                _ => weight,
            };
        }
        for (out, weight) in out.iter_mut().zip(weight) {
            *out += weight;
        }
        Ok(())
    }

    fn uses(&self, argument: Argument) -> bool {
        let by_turn = self.frame == Frame::Body && argument == Argument::First;
        let by_load = self.load.as_ref().is_some_and(|load| load.uses(argument));
        argument == Argument::Time || by_turn || by_load
    }
}

/// The force on a mortal body, with its weight.
pub(crate) fn force(
    spec: &BodySpec,
    mass: &MassProperties,
    gravity: Vector,
    force: Option<Operator>,
    components: usize,
) -> Operator {
    let weight = gravity.map(|g| mass.mass * g);
    let mortal = Mortal { life: spec.life(), load: force, weight, frame: spec.force_frame };
    Operator::function(components, 1, Arc::new(mortal))
}

/// The moment on a mortal body.
pub(crate) fn moment(spec: &BodySpec, moment: Operator) -> Operator {
    let (rows, cols) = moment.shape();
    let frame = Frame::World;
    let mortal = Mortal { life: spec.life(), load: Some(moment), weight: [0.0; 3], frame };
    Operator::function(rows, cols, Arc::new(mortal))
}
