//! What turns a switch: a formula of states, and where it has memory.
//!
//! ```text
//! open    λ = 0,  while c(t, X) ≤ on
//! closed  y = 0,  while c(t, X) ≥ off,    off ≤ on                                      (1)
//! ```
//!
//! The branch of a switch is no answer of a problem: it stays until (1) ends it.

use crate::SimError;
use crate::events::Map;
use saltus_model::{Expression, Model, Order, Source, StateVector, System};

/// The control of a switch, and its levels.
#[derive(Debug)]
pub(crate) struct Control {
    formula: Expression,
    places: Vec<Place>,
    linear: Option<Linear>,
    on: f64,
    off: f64,
}

/// A control that is a sum: states with their coefficients, and a constant.
#[derive(Debug)]
pub(crate) struct Linear {
    pub terms: Vec<(usize, f64)>,
    pub constant: f64,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    Time,
    Number(f64),
    State(usize),
}

impl Control {
    /// The control of the switch of this name, read off the states `(x, q, v)`.
    pub fn new(
        model: &Model,
        (name, text): (&str, &str),
        (on, off): (f64, f64),
    ) -> Result<Control, SimError> {
        let owner = format!("interaction `{name}`");
        let formula = Map::new(model).reading_of(owner.clone(), "control", text)?.into_expression();
        let starts = Starts::new(model);
        let place = |source: &Source| match *source {
            Source::Time => Some(Place::Time),
            Source::Parameter(k) => model.parameters().nth(k).map(|one| Place::Number(one.1)),
            Source::State(id, vector, k) => Some(Place::State(starts.of(id.index(), vector) + k)),
            Source::Output(..) => None,
        };
        let places: Option<Vec<Place>> = formula.sources().iter().map(place).collect();
        let Some(places) = places else {
            let (integrator, what) = ("event-driven", "the control of the switch");
            let needs = "a formula of states, parameters and the time";
            return Err(SimError::Unsuited { integrator, owner, what, needs });
        };
        let mut control = Control { formula, places, linear: None, on, off };
        control.linear = control.linear();
        Ok(control)
    }

    /// Its terms, where states enter by constant factors alone.
    fn linear(&self) -> Option<Linear> {
        let known: Vec<f64> = self.places.iter().map(|place| place.known()).collect();
        let varies = |k: &usize| !matches!(self.places[*k], Place::Number(_));
        let varying: Vec<usize> = (0..known.len()).filter(varies).collect();
        let factors = self.formula.linear(&varying, &known)?;
        let mut terms = Vec::new();
        for (&k, &factor) in varying.iter().zip(&factors) {
            match self.places[k] {
                Place::State(i) => terms.push((i, factor)),
                _ if factor == 0.0 => {}
                _ => return None,
            }
        }
        Some(Linear { terms, constant: self.formula.eval(&known) })
    }

    /// The sum that it is, if it is one.
    pub fn terms(&self) -> Option<&Linear> {
        self.linear.as_ref()
    }

    /// Sign and level: the indicator of an open or closed switch is `sign · c + level`.
    pub fn margin_of(&self, closed: bool) -> (f64, f64) {
        if closed { (1.0, -self.off) } else { (-1.0, self.on) }
    }

    /// How far the control is from turning the switch; negative where it has turned it.
    pub fn margin(&self, closed: bool, t: f64, X: &[f64]) -> f64 {
        let (sign, level) = self.margin_of(closed);
        sign * self.value(t, X) + level
    }

    fn value(&self, t: f64, X: &[f64]) -> f64 {
        if let Some(Linear { terms, constant }) = &self.linear {
            return terms.iter().fold(*constant, |sum, &(i, a)| sum + a * X[i]);
        }
        let value = |place: &Place| match *place {
            Place::Time => t,
            Place::Number(value) => value,
            Place::State(i) => X[i],
        };
        let values: Vec<f64> = self.places.iter().map(value).collect();
        self.formula.eval(&values)
    }
}

impl Place {
    /// Its value where all that varies is zero.
    fn known(self) -> f64 {
        if let Place::Number(value) = self { value } else { 0.0 }
    }
}

/// Where the states of systems begin in `(x, q, v)`.
struct Starts {
    of: Vec<usize>, // x, or q
    velocities: usize,
}

impl Starts {
    fn new(model: &Model) -> Starts {
        let is_first = |system: &System| system.order() == Order::First;
        let size = |first: bool| {
            let own = model.systems().filter(move |(_, system)| is_first(system) == first);
            own.map(|(_, system)| system.dim()).sum::<usize>()
        };
        let (nx, nq) = (size(true), size(false));
        let (mut x, mut q) = (0, nx);
        let of = model.systems().map(|(_, system)| {
            let next = if is_first(system) { &mut x } else { &mut q };
            let start = *next;
            *next += system.dim();
            start
        });
        Starts { of: of.collect(), velocities: nq }
    }

    fn of(&self, system: usize, vector: StateVector) -> usize {
        self.of[system] + if vector == StateVector::V { self.velocities } else { 0 }
    }
}
