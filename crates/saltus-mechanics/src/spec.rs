//! A joint with all that is built into it, and the interactions that this is.
//!
//! | part | relation | law |
//! | --- | --- | --- |
//! | `hinge` | the joint | equality |
//! | `hinge.limit` | `x − lower`, `upper − x` | impact, with restitution |
//! | `hinge.friction` | `x` | relay: `λ` between `−f` and `f` against `ẋ` |
//! | `hinge.spring` | `x − r + λ/k` with retardation `c/k` | equality |
//! | `hinge.motor` | load, rate or spring | equality, or relay with the largest force |
//!
//! Of a joint with several coordinates the parts carry theirs: `shaft.way_limit`. What breaks is an event,
//! `hinge.break`, that disconnects all of it.
//!
//! A distance joint holds its length alone. Once something is built into that, the length is free but for
//! what is built in: with limits it is a rope or a strut. The first part then has the name of the joint.

use crate::carrier::{Beside, Carrier};
use crate::coordinates::{AnyJoint, Coordinate, JointCoordinate};
use crate::fault::{Fault, not_negative};
use crate::joints::JointRelation;
use crate::outputs::{Lines, Role};
use crate::row::Line;
use saltus_model::rotation::Vector;
use saltus_model::{
    Event, InteractionId, IntoRelation, Law, Linked, Model, ModelError, Operator, SystemId,
};

use std::sync::Arc;

/// How far outside its limits a coordinate may start, relative to them and at least to 1.
const ROUND_OFF: f64 = 1e-9;
/// Share of the turns of an angle that are counted within which its limits are: a little is passed on impact.
const KNOWN: f64 = 0.999;

/// Where a coordinate ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Its least value, or minus infinity; the coordinate starts at it or above. Angles in space have limits less
    /// than two turns apart, those of universal joints less than one.
    pub lower: f64,
    /// Its largest value, or infinity; that of a length is positive.
    pub upper: f64,
    /// Restitution in [0, 1]. Default 0.
    pub e: f64,
}

/// Dry friction in a joint: a force or moment between `−force` and `force` against the motion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Friction {
    /// The largest force while it moves, not negative.
    pub force: f64,
    /// The largest force at rest, at least `force`; that while none is given.
    pub stiction: Option<f64>,
    /// Below this speed it is at rest. Default 1e-6.
    pub rest_speed: f64,
}

/// A spring with a damper: `−k (x − rest) − c ẋ`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spring {
    /// `k`, not negative.
    pub stiffness: f64,
    /// `c`, not negative; one of both is positive.
    pub damping: f64,
    /// Where it has no force.
    pub rest: f64,
}

/// What drives a coordinate.
#[derive(Debug, Clone)]
pub enum Motor {
    /// A force or moment, constant or of time.
    Force(Operator),
    /// A rate, constant or of time, as far as the force allows.
    Velocity {
        /// The rate.
        v: Operator,
        /// The largest force, positive; infinite where there is no bound.
        max_force: f64,
    },
    /// A place, constant or of time: the force `−k (x − r) − c (ẋ − ṙ)`, as far as that goes.
    Position {
        /// `r`.
        target: Operator,
        /// `k`, positive.
        stiffness: f64,
        /// `c`, not negative.
        damping: f64,
        /// The largest force, positive; infinite where there is no bound.
        max_force: f64,
    },
}

/// What is built into one coordinate.
#[derive(Debug, Clone)]
pub struct Extras {
    /// The coordinate.
    pub coordinate: Coordinate,
    /// Where it ends.
    pub limits: Option<Limits>,
    /// Its dry friction.
    pub friction: Option<Friction>,
    /// Its spring and damper.
    pub spring: Option<Spring>,
    /// What drives it.
    pub motor: Option<Motor>,
}

impl Extras {
    /// The key of the first thing that is built in.
    fn first(&self) -> Option<&'static str> {
        let keys = [
            ("limits", self.limits.is_some()),
            ("friction", self.friction.is_some()),
            ("spring", self.spring.is_some()),
            ("motor", self.motor.is_some()),
        ];
        keys.into_iter().find_map(|(key, is_there)| is_there.then_some(key))
    }

    /// Whether something comes of it: limits that are nowhere do nothing.
    fn acts(&self) -> bool {
        let ends = self.limits.is_some_and(|one| one.bounds(self.coordinate).next().is_some());
        ends || self.friction.is_some() || self.spring.is_some() || self.motor.is_some()
    }
}

/// A joint and what is built into it.
///
/// ```
/// use saltus_mechanics::{Joint, JointSpec};
/// use saltus_model::{Model, RigidBody};
///
/// let mut model = Model::new("door");
/// let door = model.add("door", RigidBody::new(20.0, [5.0, 6.0, 1.0]).at([0.5, 0.0, 0.0]))?;
/// let hinge = Joint::Pivot { point: [0.0; 3], axis: [0.0, 0.0, 1.0] };
/// let hinge = JointSpec::new(hinge).limits(0.0, 1.5).friction(0.2).spring(3.0, 1.0, 0.0);
/// hinge.connect(&mut model, "hinge", &[door])?;
/// assert_eq!(model.interactions().len(), 4);
/// assert!(model.interaction_id("hinge.limit").is_ok());
/// # Ok::<(), saltus_model::ModelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct JointSpec {
    /// The joint.
    pub joint: AnyJoint,
    /// The axis of swing and twist of a ball joint. Default z.
    pub axis: Vector,
    /// What is built into its coordinates, at most once each.
    pub extras: Vec<Extras>,
    /// It breaks for good once its forces together are larger than this, in steps the mean of a step. A
    /// gear bears one load alone, the moment on its first wheel, which is meant by both.
    pub break_force: Option<f64>,
    /// The same of its moments.
    pub break_moment: Option<f64>,
    /// With one body: whether the world is the first side and the body the second. Default no.
    pub world_first: bool,
    /// With one body: what carries the joint in place of the world.
    pub(crate) carrier: Option<Arc<Carrier>>,
    at: Option<Coordinate>, // that the next call is about
}

impl JointSpec {
    /// The joint alone.
    pub fn new(joint: impl Into<AnyJoint>) -> Self {
        JointSpec {
            joint: joint.into(),
            axis: [0.0, 0.0, 1.0],
            extras: Vec::new(),
            break_force: None,
            break_moment: None,
            world_first: false,
            carrier: None,
            at: None,
        }
    }

    /// Whether nothing is built into it.
    pub fn is_plain(&self) -> bool {
        self.extras.is_empty()
            && self.break_force.is_none()
            && self.break_moment.is_none()
            && !self.world_first
    }

    /// Whether it is a distance joint whose length is free but for what is built into it.
    pub fn has_free_length(&self) -> bool {
        self.joint.length().is_some() && self.extras.iter().any(|one| one.first().is_some())
    }

    /// Number of rows of the interaction that has its own name.
    pub fn size(&self) -> usize {
        let limits = |one: &Extras| Some(one.limits?.bounds(one.coordinate).count());
        match self.has_free_length() {
            false => self.joint.size(),
            true => self.extras.iter().find_map(limits).unwrap_or(1).max(1),
        }
    }

    /// What follows is about this coordinate; before that, about the first one.
    pub fn on(mut self, coordinate: Coordinate) -> Self {
        self.at = Some(coordinate);
        self
    }

    /// What is built into a coordinate.
    pub fn extras_of(&mut self, coordinate: Coordinate) -> &mut Extras {
        let place = match self.extras.iter().position(|one| one.coordinate == coordinate) {
            Some(place) => place,
            None => {
                let (limits, friction, spring, motor) = (None, None, None, None);
                self.extras.push(Extras { coordinate, limits, friction, spring, motor });
                self.extras.len() - 1
            }
        };
        &mut self.extras[place]
    }

    fn here(&mut self) -> &mut Extras {
        let first = self.joint.coordinates().first().copied();
        // one without coordinates is refused when it is connected
        let coordinate = self.at.or(first).unwrap_or(Coordinate::Way);
        self.extras_of(coordinate)
    }

    /// The same between two limits, without restitution.
    pub fn limits(mut self, lower: f64, upper: f64) -> Self {
        self.here().limits = Some(Limits { lower, upper, e: 0.0 });
        self
    }

    /// The same with restitution at its limits.
    pub fn restitution(mut self, e: f64) -> Self {
        if let Some(limits) = &mut self.here().limits {
            limits.e = e;
        }
        self
    }

    /// The same with dry friction.
    pub fn friction(mut self, force: f64) -> Self {
        self.here().friction = Some(Friction { force, stiction: None, rest_speed: 1e-6 });
        self
    }

    /// The same with more friction at rest.
    pub fn stiction(mut self, force: f64) -> Self {
        if let Some(friction) = &mut self.here().friction {
            friction.stiction = Some(force);
        }
        self
    }

    /// The same with a spring and a damper.
    pub fn spring(mut self, stiffness: f64, damping: f64, rest: f64) -> Self {
        self.here().spring = Some(Spring { stiffness, damping, rest });
        self
    }

    /// The same with a motor.
    pub fn motor(mut self, motor: Motor) -> Self {
        self.here().motor = Some(motor);
        self
    }

    /// The same, breaking under a force.
    pub fn break_force(mut self, force: f64) -> Self {
        self.break_force = Some(force);
        self
    }

    /// The same, breaking under a moment.
    pub fn break_moment(mut self, moment: f64) -> Self {
        self.break_moment = Some(moment);
        self
    }

    /// The same from the world to a body: the first side is the world, the one body the second.
    pub fn from_world(mut self) -> Self {
        self.world_first = true;
        self
    }

    /// Adds all of it to a model: the joint under this name, its parts under names that follow from
    /// it.
    pub fn connect(
        &self,
        model: &mut Model,
        name: &str,
        systems: &[SystemId],
    ) -> Result<InteractionId, ModelError> {
        let owner = format!("interaction `{name}`");
        self.check().map_err(|fault| fault.of(&owner, self.joint.name()))?;
        let (joint, carrier) = (self.joint, self.carrier.clone());
        let beside = Beside { carrier, is_first: self.world_first };
        let mut parts = Parts::default();
        if !self.has_free_length() {
            let held = Held { joint, beside: beside.clone() };
            model.connect(name, held, Law::Equality, systems)?;
            parts.names.push(name.to_string());
        }
        for extras in &self.extras {
            let of = JointCoordinate { joint, coordinate: extras.coordinate, axis: self.axis };
            let several = joint.coordinates().len() > 1;
            let named = |parts: &Parts, what: &str| match (parts.names.is_empty(), several) {
                (true, _) => name.to_string(),
                (_, false) => format!("{name}.{what}"),
                (_, true) => format!("{name}.{}_{what}", extras.coordinate.name()),
            };
            let part = |what| Part { of, beside: beside.clone(), what };
            if let Some(limits) = extras.limits
                && limits.bounds(extras.coordinate).next().is_some()
            {
                let (own, law) = (named(&parts, "limit"), Law::newton_impact(limits.e));
                model.connect(&own, part(What::Limits(limits)), law, systems)?;
                parts.push(own, limits.bounds(extras.coordinate).map(|(sign, _)| sign));
            }
            if let Some(friction) = extras.friction {
                let own = named(&parts, "friction");
                friction.connect(model, &own, part(What::Coordinate), systems)?;
                parts.push(own, [1.0]);
            }
            if let Some(spring) = extras.spring {
                let (own, (what, law)) = (named(&parts, "spring"), spring.parts());
                model.connect(&own, part(what), law, systems)?;
                parts.push(own, [1.0]);
            }
            if let Some(motor) = &extras.motor {
                let (own, (what, law)) = (named(&parts, "motor"), motor.parts());
                model.connect(&own, part(what), law, systems)?;
                parts.push(own, [1.0]);
            }
        }
        self.add_break(model, name, &parts)?;
        model.interaction_id(name)
    }

    /// The event that lets go of all parts.
    fn add_break(&self, model: &mut Model, name: &str, parts: &Parts) -> Result<(), ModelError> {
        let (forces, moments) = self.loads();
        let sum = |rows: std::ops::Range<usize>| {
            let squares = rows.map(|row| format!("'{name}'.force[{row}]^2"));
            squares.collect::<Vec<_>>().join(" + ")
        };
        let forces = match self.has_free_length() {
            false => sum(forces),
            true => format!("({})^2", parts.along.join(" + ")),
        };
        let bounds = [(self.break_force, forces), (self.break_moment, sum(moments))];
        let broken = bounds.into_iter();
        let broken = broken.filter_map(|(bound, sum)| Some(format!("{sum} > {:?}^2", bound?)));
        let condition = broken.collect::<Vec<_>>().join(" or ");
        if condition.is_empty() {
            return Ok(());
        }
        let event = Event::when(condition).once().named(format!("{name}.break"));
        let names = parts.names.iter();
        model.add_event(names.fold(event, |event, part| event.disconnect(part.as_str())))
    }

    /// Its rows that are forces, and those that are moments.
    fn loads(&self) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        match (self.joint.forces(), self.joint.size()) {
            // the one load of a gear
            (0, size) => (0..size, 0..size),
            (forces, size) => (0..forces, forces..size),
        }
    }

    /// A coordinate starts within its limits, and is known from one to the other.
    fn check_limits(&self, coordinate: Coordinate, limits: &Limits) -> Result<(), Fault> {
        let (joint, name) = (self.joint.name(), coordinate.name());
        let Limits { lower, upper, .. } = *limits;
        let period = self.joint.period(coordinate);
        let center = limits.center();
        let known = KNOWN * 0.5 * period;
        if limits.bounds(coordinate).any(|(_, at)| (at - center).abs() > known) {
            return Err(Fault::LimitsApart { joint, name, limits: [lower, upper], period });
        }
        let found = match coordinate {
            Coordinate::Length => self.joint.length().unwrap_or(0.0),
            _ => 0.0,
        };
        let outside = |(sign, at): (f64, f64)| sign * (found - at) < -ROUND_OFF * at.abs().max(1.0);
        match limits.bounds(coordinate).any(outside) {
            true => Err(Fault::OutsideLimits { joint, name, limits: [lower, upper], found }),
            false => Ok(()),
        }
    }

    /// A length that is free ends somewhere, or something acts on it.
    fn check_length(&self) -> Result<(), Fault> {
        let (what, allowed) = ("limits", "(0, inf] for the largest length");
        let of_length = self.extras.iter().filter(|one| one.coordinate == Coordinate::Length);
        let mut largest = of_length.filter_map(|one| Some(one.limits?.upper));
        if let Some(value) = largest.clone().find(|upper| !(*upper > 0.0)) {
            return Err(Fault::Range { what, value, allowed });
        }
        match largest.next() {
            Some(value) if !self.extras.iter().any(Extras::acts) => {
                let allowed = "(0, inf) for the largest length, where there is no least one";
                Err(Fault::Range { what, value, allowed })
            }
            _ => Ok(()),
        }
    }

    fn check(&self) -> Result<(), Fault> {
        let positive = |what, value: f64| match value > 0.0 {
            true => Ok(()),
            false => Err(Fault::Range { what, value, allowed: "(0, inf]" }),
        };
        self.break_force.map_or(Ok(()), |value| positive("break_force", value))?;
        self.break_moment.map_or(Ok(()), |value| positive("break_moment", value))?;
        let joint = self.joint.name();
        if self.break_moment.is_some() && self.loads().1.is_empty() {
            return Err(Fault::NoMoment { joint });
        }
        if let (Some(what), []) =
            (self.extras.iter().find_map(Extras::first), self.joint.coordinates())
        {
            return Err(Fault::NothingFree { joint, what });
        }
        self.check_length()?;
        for Extras { coordinate, limits, friction, spring, motor } in &self.extras {
            if let Some(Limits { lower, upper, .. }) = *limits
                && !(lower < upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY)
            {
                let (what, allowed) = ("limits", "(-inf, upper)");
                return Err(Fault::Range { what, value: lower, allowed });
            }
            if let Some(limits) = limits {
                self.check_limits(*coordinate, limits)?;
            }
            if let Some(Friction { force, stiction, rest_speed }) = *friction {
                not_negative("friction", force)?;
                not_negative("rest_speed", rest_speed)?;
                if let Some(value) = stiction
                    && !(value >= force && value.is_finite())
                {
                    let (what, allowed) = ("stiction", "[friction, inf)");
                    return Err(Fault::Range { what, value, allowed });
                }
            }
            if let Some(Spring { stiffness, damping, .. }) = *spring {
                spring_numbers(stiffness, damping)?;
            }
            match motor {
                None | Some(Motor::Force(_)) => {}
                Some(Motor::Velocity { max_force, .. }) => positive("max_force", *max_force)?,
                Some(Motor::Position { stiffness, damping, max_force, .. }) => {
                    spring_numbers(*stiffness, *damping)?;
                    positive("stiffness", *stiffness)?;
                    positive("max_force", *max_force)?;
                }
            }
        }
        Ok(())
    }
}

/// The parts of a joint, as they are connected.
#[derive(Default)]
struct Parts {
    names: Vec<String>,
    /// Their forces along the coordinate.
    along: Vec<String>,
}

impl Parts {
    fn push(&mut self, name: String, signs: impl IntoIterator<Item = f64>) {
        let force = |(row, sign): (usize, f64)| format!("({sign:?})*'{name}'.force[{row}]");
        self.along.extend(signs.into_iter().enumerate().map(force));
        self.names.push(name);
    }
}

/// Numbers of a spring with a damper.
pub(crate) fn spring_numbers(stiffness: f64, damping: f64) -> Result<(), Fault> {
    not_negative("stiffness", stiffness)?;
    not_negative("damping", damping)?;
    match stiffness + damping > 0.0 {
        true => Ok(()),
        false => {
            let (what, allowed) = ("stiffness", "(0, inf) where there is no damping");
            Err(Fault::Range { what, value: stiffness, allowed })
        }
    }
}

/// The graph of a damper alone, `λ = −c u`.
pub(crate) fn damper(damping: f64) -> Law {
    Law::PiecewiseLinear { points: vec![(-1.0, damping), (1.0, -damping)] }
}

impl Friction {
    /// The friction, and where it is larger at rest the events between both.
    fn connect(
        &self,
        model: &mut Model,
        name: &str,
        of: Part,
        systems: &[SystemId],
    ) -> Result<(), ModelError> {
        let Friction { force, stiction, rest_speed } = *self;
        let law = |force: f64| Law::relay(-force, force);
        let Some(most) = stiction else {
            model.connect(name, of, law(force), systems)?;
            return Ok(());
        };
        model.connect(name, of, law(most), systems)?;
        let moves = format!("abs('{name}'.u[0]) > {rest_speed:?}");
        let rests = format!("abs('{name}'.u[0]) <= {rest_speed:?}");
        let slip = Event::when(moves).named(format!("{name}.slip")).set_law(name, law(force));
        let stick = Event::when(rests).named(format!("{name}.stick")).set_law(name, law(most));
        model.add_event(slip)?;
        model.add_event(stick)
    }
}

impl Spring {
    fn parts(&self) -> (What, Law) {
        match self.stiffness {
            0.0 => (What::Coordinate, damper(self.damping)),
            _ => (What::Spring(*self), Law::Equality),
        }
    }
}

impl Motor {
    fn parts(&self) -> (What, Law) {
        let within = |max_force: f64| match max_force.is_finite() {
            true => Law::relay(-max_force, max_force),
            false => Law::Equality,
        };
        match self {
            Motor::Force(force) => (What::Load(force.clone()), Law::Equality),
            Motor::Velocity { v, max_force } => (What::Rate(v.clone()), within(*max_force)),
            Motor::Position { target, stiffness, damping, max_force } => {
                let drive = What::Drive(target.clone(), *stiffness, *damping);
                (drive, within(*max_force))
            }
        }
    }
}

/// What a part makes of a coordinate.
#[derive(Debug, Clone)]
enum What {
    Coordinate,
    Limits(Limits),
    Spring(Spring),
    Load(Operator),
    Rate(Operator),
    Drive(Operator, f64, f64),
}

/// The joint itself.
struct Held {
    joint: AnyJoint,
    beside: Beside,
}

impl IntoRelation for Held {
    type Relation = JointRelation;

    fn complete(self, linked: Linked<'_>) -> JointRelation {
        self.joint.between(linked, &self.beside)
    }
}

/// A part of a joint.
#[derive(Debug, Clone)]
struct Part {
    of: JointCoordinate,
    beside: Beside,
    what: What,
}

impl IntoRelation for Part {
    type Relation = Lines;

    fn complete(self, linked: Linked<'_>) -> Lines {
        let Part { of, beside, what } = self;
        let one = |role: Role| of.relation(linked, &beside, role, |line| Ok(vec![line]));
        match what {
            What::Coordinate => one(Role::Gap),
            What::Limits(limits) => of
                .relation(linked, &beside, Role::Gap, |line| Ok(limits.lines(of.coordinate, line))),
            What::Spring(Spring { stiffness, damping, rest }) => {
                let role = Role::spring(stiffness, damping, None);
                let at_rest = |line| Ok(vec![Line { offset: rest, ..line }]);
                of.relation(linked, &beside, role, at_rest)
            }
            What::Load(force) => one(Role::Load(force)),
            What::Rate(v) => one(Role::Rate(v)),
            What::Drive(target, stiffness, damping) => {
                one(Role::spring(stiffness, damping, Some(target)))
            }
        }
    }
}

impl Limits {
    /// The bounds that there are, each with the sign of its force. No length is below zero.
    fn bounds(&self, of: Coordinate) -> impl Iterator<Item = (f64, f64)> {
        let is_bound = move |&(sign, at): &(f64, f64)| {
            at.is_finite() && (of != Coordinate::Length || sign < 0.0 || at > 0.0)
        };
        [(1.0, self.lower), (-1.0, self.upper)].into_iter().filter(is_bound)
    }

    /// The middle between them, next to which angles are taken.
    fn center(&self) -> f64 {
        let middle = 0.5 * (self.lower + self.upper);
        if middle.is_finite() { middle } else { 0.0 }
    }

    /// `x − lower` and `upper − x`, next to the middle of both.
    fn lines(&self, of: Coordinate, line: Line) -> Vec<Line> {
        let center = self.center();
        let lines = self.bounds(of);
        lines.map(|(factor, offset)| Line { center, factor, offset, ..line.clone() }).collect()
    }
}
