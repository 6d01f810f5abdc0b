//! What acts on a body by interactions, and who touches whom: questions to a run.
//!
//! ```text
//! M (v⁺ − v)/h − F = Σ f                contacts:      f = ± p/h,   m = (X − x) × f + m_r/h      (1)
//! J (ω⁺ − ω)/h − M_ext = Σ Rᵀ m         interactions:  (f, Rᵀ m) = Hᵀ λ/h                        (2)
//! ```
//!
//! All of them are means over the step that ended at an instant; `x` and `R` are those at its beginning.
//! `Σ` is over the contacts that were found and over all interactions of the model that link the body:
//! joints with what is built into them, springs, bushings, contacts that the model names.

use crate::Contacts;
use crate::run::{Layout, Quantity, Run, SignalError};
use saltus_model::rotation::{
    IDENTITY, Quaternion, Vector, add, cross, exp, product, rotate, scaled, sub,
};
use std::collections::BTreeMap;
use std::ops::Range;

/// From where forces come.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Contacts with this body or static, which were found.
    Contacts(String),
    /// An interaction of the model.
    Interaction(String),
}

impl Source {
    /// The name of the other side, or of the interaction.
    pub fn name(&self) -> &str {
        match self {
            Source::Contacts(name) | Source::Interaction(name) => name,
        }
    }
}

/// What a source does to a body at each recorded instant: the mean of the step that ended there, zero at
/// the first. Vectors are in the frame of the world.
#[derive(Debug, Clone, PartialEq)]
pub struct Acting {
    /// From where it comes.
    pub source: Source,
    /// The force.
    pub force: Vec<Vector>,
    /// The moment about the center of mass at the beginning of the step. Of what the run does not record the
    /// place of, such as a static: about the origin, and not a number where it comes from an interaction.
    pub moment: Vec<Vector>,
}

impl Run {
    /// What acts on a body, by its sources: first contacts, by the names of the other sides, then
    /// interactions. On a static, contacts alone are told.
    ///
    /// Where not every step was recorded, forces are those of the recorded steps, of the mean length of all,
    /// and the place of the body a step before is where its velocity tells. A step of a heap that was taken
    /// in parts has the forces of its last part.
    pub fn forces_on(&self, body: &str) -> Result<Vec<Acting>, SignalError> {
        let Run { layout, frames, .. } = self;
        let pushes = layout.pushes_on(body)?;
        let side = layout.sides.iter().position(|name| name == body);
        let place = Place::of(layout, body);
        if side.is_none() && place.is_none() && pushes.is_empty() {
            let named = layout.sides.iter().chain(layout.pushes.iter().map(|push| &push.body));
            let mut known: Vec<&str> = named.map(String::as_str).collect();
            known.sort_unstable();
            known.dedup();
            known.truncate(12);
            let known = if known.is_empty() { "nothing".to_string() } else { known.join(", ") };
            return Err(SignalError::NoBody { name: body.to_string(), known });
        }
        let rows = frames.len();
        let nothing = || (vec![[0.0; 3]; rows], vec![[0.0; 3]; rows]);
        let mut touched: BTreeMap<u32, (Vec<Vector>, Vec<Vector>)> = BTreeMap::new();
        let mut pushed: Vec<(Vec<Vector>, Vec<Vector>)> =
            pushes.iter().map(|_| nothing()).collect();
        let count = layout.push_count();
        for row in 1..rows {
            let h = self.step_to(row);
            if !(h > 0.0) {
                continue;
            }
            let before = place.as_ref().map(|place| place.before(self, row, h));
            let x = before.map_or([0.0; 3], |(x, _)| x);
            if let Some(side) = side {
                touches(&frames.contacts, row, side as u32, |other, k, sign| {
                    let contacts = &frames.contacts;
                    let f = scaled(sign / h, contacts.impulse[k]);
                    let rolling = scaled(sign / h, contacts.moment[k]);
                    // at its own surface, half of the gap away
                    let half = 0.5 * sign * contacts.gap[k].max(0.0);
                    let point = add(contacts.point[k], scaled(half, contacts.normal[k]));
                    let m = add(cross(sub(point, x), f), rolling);
                    let (force, moment) = touched.entry(other).or_insert_with(nothing);
                    force[row] = add(force[row], f);
                    moment[row] = add(moment[row], m);
                });
            }
            for ((_, at), (force, moment)) in pushes.iter().zip(&mut pushed) {
                let [a, b, c, d, e, f] = frames.pushes[row * count + at].map(|x| x / h);
                force[row] = [a, b, c];
                moment[row] = before.map_or([f64::NAN; 3], |(_, p)| rotate(p, [d, e, f]));
            }
        }
        let name = |side: u32| layout.sides.get(side as usize).cloned().unwrap_or_default();
        let contacts = touched.into_iter().map(|(side, (force, moment))| Acting {
            source: Source::Contacts(name(side)),
            force,
            moment,
        });
        let interactions = pushes.iter().zip(pushed).map(|((name, _), (force, moment))| Acting {
            source: Source::Interaction(name.to_string()),
            force,
            moment,
        });
        Ok(contacts.chain(interactions).collect())
    }

    /// The sum of all that [`forces_on`](Self::forces_on) tells: force and moment at each instant.
    pub fn force_on(&self, body: &str) -> Result<(Vec<Vector>, Vec<Vector>), SignalError> {
        let rows = self.frames.len();
        let (mut force, mut moment) = (vec![[0.0; 3]; rows], vec![[0.0; 3]; rows]);
        for acting in self.forces_on(body)? {
            force.iter_mut().zip(&acting.force).for_each(|(sum, f)| *sum = add(*sum, *f));
            moment.iter_mut().zip(&acting.moment).for_each(|(sum, m)| *sum = add(*sum, *m));
        }
        Ok((force, moment))
    }

    /// Who touches whom with a force at the last recorded instant that is not after `t`: two names, and the
    /// force on the first in the frame of the world. Contacts that the model names are interactions, and not
    /// told here.
    pub fn contact_graph(&self, t: f64) -> Vec<([&str; 2], Vector)> {
        let contacts = &self.frames.contacts;
        let row = self.frames.time.partition_point(|time| *time <= t).saturating_sub(1);
        let h = self.step_to(row);
        let mut pairs: BTreeMap<[u32; 2], Vector> = BTreeMap::new();
        for k in contacts.of(row) {
            if contacts.impulse[k] != [0.0; 3] && h > 0.0 {
                let force = pairs.entry(contacts.sides[k]).or_default();
                *force = add(*force, scaled(1.0 / h, contacts.impulse[k]));
            }
        }
        let name = |side: u32| self.layout.sides.get(side as usize).map_or("", String::as_str);
        pairs.into_iter().map(|(sides, force)| (sides.map(name), force)).collect()
    }

    /// The length of the step that ended at a recorded instant: the mean one where not every step is
    /// recorded; zero at the first, which ends none.
    pub fn step_to(&self, row: usize) -> f64 {
        let time = &self.frames.time;
        match (row, time.first(), time.last()) {
            (0, ..) => 0.0,
            _ if self.has_every_step() => time[row] - time[row - 1],
            (_, Some(first), Some(last)) => (last - first) / self.stats.steps.max(1) as f64,
            _ => 0.0,
        }
    }

    fn has_every_step(&self) -> bool {
        self.frames.len() == self.stats.steps + 1
    }
}

/// The contacts of an instant on a side: the other one, the contact, and the sign of the impulse.
fn touches(contacts: &Contacts, row: usize, side: u32, mut each: impl FnMut(u32, usize, f64)) {
    for k in contacts.of(row) {
        match contacts.sides[k] {
            [a, other] if a == side => each(other, k, 1.0),
            [other, b] if b == side => each(other, k, -1.0),
            _ => {}
        }
    }
}

/// The columns of a rigid body in a row.
struct Place {
    position: Range<usize>,
    turn: Range<usize>,
    /// `v` and `omega`, where they are recorded.
    velocities: Option<[Range<usize>; 2]>,
}

impl Place {
    /// Those of a body; nothing where the run does not record them, as of a static.
    fn of(layout: &Layout, body: &str) -> Option<Place> {
        let find = |quantity: Quantity| {
            let mut signals = layout.signals.iter();
            let found = signals.find(|s| s.owner == body && s.quantity == quantity);
            found.map(|signal| signal.columns.clone())
        };
        let position = find(Quantity::Position)?;
        let turn = find(Quantity::Orientation).or_else(|| find(Quantity::Angle))?;
        let velocities = find(Quantity::V).zip(find(Quantity::Omega)).map(|(v, omega)| [v, omega]);
        Some(Place { position, turn, velocities })
    }

    /// Where the body was when the step of length `h` began that ended at a row, and how it was turned.
    fn before(&self, run: &Run, row: usize, h: f64) -> (Vector, Quaternion) {
        let width = run.layout.width();
        let (row, back) = if run.has_every_step() { (row - 1, 0.0) } else { (row, -h) };
        let row = &run.frames.rows[row * width..(row + 1) * width];
        let (mut v, mut omega) = (&[][..], &[][..]);
        if let Some([of_v, of_omega]) = &self.velocities {
            (v, omega) = (&row[of_v.clone()], &row[of_omega.clone()]);
        }
        let x = add(vector(&row[self.position.clone()]), scaled(back, vector(v)));
        let p = match row[self.turn.clone()] {
            [w, x, y, z] => product([w, x, y, z], exp(scaled(back, vector(omega)))),
            [angle] => {
                let turn = omega.first().map_or(0.0, |omega| back * omega);
                exp([0.0, 0.0, angle + turn])
            }
            _ => IDENTITY,
        };
        (x, p)
    }
}

/// A vector of the plane or of space.
fn vector(values: &[f64]) -> Vector {
    std::array::from_fn(|k| values.get(k).copied().unwrap_or(0.0))
}
