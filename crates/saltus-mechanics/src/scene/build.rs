//! A scene becomes a model: systems, joints, events of births and deaths, and a finder of contacts.

use super::laws::Materials;
use super::untouched::Untouched;
use super::{Anchor, BodySpec, Member, Part, Scene, SceneError, SceneFault, StaticSpec, life};
use crate::{Collider, Colliders, Drive, Finder, MassProperties, Placed};
use saltus_model::rotation::{IDENTITY, Quaternion, Vector};
use saltus_model::rotation::{add, normalized, product, rotate, sub};
use saltus_model::{
    Body, Event, Inertia, Model, Names, Operator, RigidBody, RigidBody2d, Side, System,
};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// What formulas of forces in space may use.
pub(crate) const IN_SPACE: Names =
    Names { time: true, first: ("q", 7), second: ("v", 6), inputs: 0 };

/// What formulas of forces in the plane may use.
pub(crate) const IN_PLANE: Names =
    Names { time: true, first: ("q", 3), second: ("v", 3), inputs: 0 };

impl Scene {
    /// The model of the scene.
    pub fn model(&self) -> Result<Model, SceneError> {
        let mut model = Model::new(&*self.title);
        for (name, value) in &self.parameters {
            model.add_parameter(name.as_str(), *value);
        }
        self.add_bodies(&mut model)?;
        self.complete(&mut model)?;
        Ok(model)
    }

    /// Adds the bodies to a model, so that interactions can link them.
    pub fn add_bodies(&self, model: &mut Model) -> Result<(), SceneError> {
        let materials = self.all_materials()?;
        for (k, body) in self.bodies.iter().enumerate() {
            self.check_body(k, body)?;
            for part in body.parts.iter().filter(|part| part.touch) {
                self.material(Member::Body(k), &body.material, part, &materials)?;
                self.check_shape(Member::Body(k), part)?;
            }
            let system = self.system(k, self.mass_of(k)?, model.t0())?;
            (model.add(&body.name, system))
                .map_err(|error| self.error(Member::Body(k), key_of(&error), error))?;
        }
        Ok(())
    }

    /// Adds what links the bodies of the scene, which are in the model: joints, births and deaths,
    /// and the finder of contacts.
    pub fn complete(&self, model: &mut Model) -> Result<(), SceneError> {
        for (k, joint) in self.joints.iter().enumerate() {
            let before = model.interactions().len();
            self.connect(k, joint, model)?;
            self.let_live(k, &joint.bodies, before, model)?;
        }
        for (k, joint) in self.joints.iter().enumerate() {
            if let Some(follows) = &joint.follows {
                self.follow(k, joint, follows, model)?;
            }
        }
        for (k, body) in self.bodies.iter().enumerate().filter(|(_, body)| body.is_mortal()) {
            self.give_life(k, body, model)?;
        }
        let colliders = self.colliders(model)?;
        if colliders.is_none() && !self.bodies.is_empty() {
            let finder = Arc::new(Untouched { space: self.space });
            (model.find_contacts(finder)).map_err(|error| self.error(Member::Scene, "", error))?;
        }
        if let Some(colliders) = colliders {
            let finder = Finder::new(self.space, &colliders)
                .map_err(|error| self.error(Member::Scene, "", error))?;
            let statics = vec![[f64::NEG_INFINITY, f64::INFINITY]; self.statics.len()];
            let lives = statics.into_iter().chain(self.bodies.iter().map(BodySpec::life));
            let added = match self.bodies.iter().any(BodySpec::is_mortal) {
                false => model.find_contacts(Arc::new(finder)),
                true => {
                    let lives = lives.collect();
                    model.find_contacts(Arc::new(life::LivingFinder { finder, lives }))
                }
            };
            added.map_err(|error| self.error(Member::Scene, "", error))?;
        }
        Ok(())
    }

    pub(crate) fn constants(&self) -> Vec<(&str, f64)> {
        self.parameters.iter().map(|(name, value)| (name.as_str(), *value)).collect()
    }

    /// The system of a body.
    pub(super) fn system(
        &self,
        k: usize,
        mass: MassProperties,
        t0: f64,
    ) -> Result<System, SceneError> {
        let (at, body) = (Member::Body(k), &self.bodies[k]);
        let fault = |key, fault: SceneFault| self.error(at, key, fault);
        let (names, components, turns) = match self.space {
            Body::Space => (IN_SPACE, 3, 3),
            Body::Plane => (IN_PLANE, 2, 1),
        };
        let constants = self.constants();
        let operator = |key, given: &Option<super::Given>, len| {
            let given = given.as_ref().map(|given| given.operator(key, len, &names, &constants));
            given.transpose().map_err(|error| fault(key, error))
        };
        let mut force = operator("force", &body.force, components)?;
        let mut moment = operator("moment", &body.moment, turns)?;
        let mut gravity = self.gravity;
        self.check_life(k, body)?;
        if let Some(death) = body.death.filter(|&death| death <= t0) {
            return Err(fault("death", SceneFault::NeverThere { death, t0 }));
        }
        if body.is_mortal() {
            force = Some(life::force(body, &mass, gravity, force, components));
            moment = moment.map(|moment| life::moment(body, moment));
            gravity = [0.0; 3];
        }
        let position = self.center_of(body, mass.center);
        // it rests until it is born
        let unborn = body.birth.is_some_and(|birth| birth > t0);
        let moving = |x: Vector| if unborn { [0.0; 3] } else { x };
        let (v, omega) = (moving(body.v), moving(body.omega));
        if self.space == Body::Plane {
            let [x, y, _] = position;
            return Ok(RigidBody2d {
                position: [x, y],
                angle: body.angle,
                v: [v[0], v[1]],
                omega: omega[2],
                mass: mass.mass,
                inertia: mass.inertia[2][2],
                gravity: [gravity[0], gravity[1]],
                force,
                force_frame: body.force_frame,
                moment,
                z0: Vec::new(),
            }
            .into());
        }
        Ok(RigidBody {
            position,
            orientation: body.orientation,
            v,
            omega,
            mass: mass.mass,
            inertia: Inertia(mass.inertia),
            gravity,
            force,
            force_frame: body.force_frame,
            moment,
            moment_frame: body.moment_frame,
            z0: Vec::new(),
        }
        .into())
    }

    /// Where the center of mass of a body is at first.
    fn center_of(&self, body: &BodySpec, center: Vector) -> Vector {
        match body.anchor {
            Anchor::Center => body.position,
            Anchor::Origin => add(body.position, rotate(self.turn_of(body), center)),
        }
    }

    /// How a body is turned at first.
    fn turn_of(&self, body: &BodySpec) -> Quaternion {
        match self.space {
            Body::Plane => about_z(body.angle),
            // what has no direction is found by the model
            Body::Space => normalized(body.orientation).unwrap_or(IDENTITY),
        }
    }

    /// While all of these bodies are there.
    pub(super) fn life_of(&self, bodies: &[String]) -> [f64; 2] {
        let linked = self.bodies.iter().filter(|body| bodies.contains(&body.name));
        linked.map(BodySpec::life).fold([f64::NEG_INFINITY, f64::INFINITY], |life, [from, to]| {
            [life[0].max(from), life[1].min(to)]
        })
    }

    /// A joint acts while its bodies are there; its interactions begin at `first`.
    pub(super) fn let_live(
        &self,
        k: usize,
        bodies: &[String],
        first: usize,
        model: &mut Model,
    ) -> Result<(), SceneError> {
        let [birth, death] = self.life_of(bodies);
        let names: Vec<String> =
            model.interactions().skip(first).map(|(name, _)| name.to_string()).collect();
        let own = || names.first().map_or("", |name| name);
        let mut events = Vec::new();
        if birth > model.t0() {
            for name in &names {
                if let Ok(id) = model.interaction_id(name) {
                    model.set_active(id, false);
                }
            }
            let event = Event::at([birth]).named(format!("{} appears", own()));
            events.push(names.iter().fold(event, |event, name| event.connect(name.as_str())));
        }
        if death > model.t0() && death < f64::INFINITY {
            let event = Event::at([death]).named(format!("{} disappears", own()));
            events.push(names.iter().fold(event, |event, name| event.disconnect(name.as_str())));
        }
        for event in events {
            model.add_event(event).map_err(|error| self.error(Member::Joint(k), "name", error))?;
        }
        Ok(())
    }

    fn check_life(&self, k: usize, body: &BodySpec) -> Result<(), SceneError> {
        for (key, value) in [("birth", body.birth), ("death", body.death)] {
            if let Some(value) = value.filter(|value| !value.is_finite()) {
                let allowed = "a finite number";
                let fault = SceneFault::Range { key, value, allowed };
                return Err(self.error(Member::Body(k), key, fault));
            }
        }
        if let (Some(birth), Some(value)) = (body.birth, body.death)
            && value <= birth
        {
            let (key, allowed) = ("death", "a time after its birth");
            return Err(self.error(
                Member::Body(k),
                key,
                SceneFault::Range { key, value, allowed },
            ));
        }
        Ok(())
    }

    /// The events of a birth and a death.
    fn give_life(&self, k: usize, body: &BodySpec, model: &mut Model) -> Result<(), SceneError> {
        let mass = self.mass_of(k)?;
        let [x, y, z] = self.center_of(body, mass.center);
        let (q, v) = match self.space {
            Body::Plane => (vec![x, y, body.angle], vec![body.v[0], body.v[1], body.omega[2]]),
            Body::Space => {
                let [a, b, c, d] = self.turn_of(body);
                (vec![x, y, z, a, b, c, d], [body.v, body.omega].concat())
            }
        };
        for event in body.events(model.t0(), &q, &v) {
            model.add_event(event).map_err(|error| self.error(Member::Body(k), "birth", error))?;
        }
        Ok(())
    }

    /// All that contacts are looked for between; nothing in a scene without contacts.
    pub(crate) fn colliders(&self, model: &Model) -> Result<Option<Colliders>, SceneError> {
        let materials = self.all_materials()?;
        self.check_names()?;
        let mut sides = Vec::new();
        let mut drives = Vec::new();
        let mut shapes = Vec::new();
        for (k, one) in self.statics.iter().enumerate() {
            let (side, at) = (sides.len(), Member::Static(k));
            self.check_static(k, one)?;
            sides.push(Side { name: one.name.as_str().into(), system: None });
            let drive = self.drive(k, one)?;
            // a driven frame is turned and moved by its drive
            let place = if drive.is_some() { [0.0; 3] } else { one.position };
            let turn = normalized(one.orientation);
            let turn = turn.ok_or_else(|| self.no_turn(at, one.orientation))?;
            for part in one.parts.iter().filter(|part| part.touch) {
                let material = self.material(at, &one.material, part, &materials)?;
                let placed = self.placed(at, part, place, turn)?;
                shapes.push(Collider { side, placed, material });
            }
            drives.push(drive);
        }
        for (k, body) in self.bodies.iter().enumerate() {
            let (side, at) = (sides.len(), Member::Body(k));
            let system = (model.system_id(&body.name)).map_err(|e| self.error(at, "name", e))?;
            let name = model.shared_name(system).map_err(|e| self.error(at, "name", e))?;
            sides.push(Side { name, system: Some(system) });
            // the origin of a body's frame is its center of mass
            let center = self.mass_of(k)?.center;
            for part in body.parts.iter().filter(|part| part.touch) {
                let material = self.material(at, &body.material, part, &materials)?;
                let placed = self.placed(at, part, center.map(|x| -x), IDENTITY)?;
                shapes.push(Collider { side, placed, material });
            }
            drives.push(None);
        }
        if self.contacts.is_empty() {
            return Ok(None);
        }
        let meeting = Meeting::new(&shapes, &sides, materials.names.len());
        let laws = self.pair_laws(&materials, |a, b| meeting.possible(a, b))?;
        let apart = self.apart(&sides)?;
        Ok(Some(Colliders { sides, drives, shapes, laws, apart }))
    }

    /// Names of statics, bodies and joints differ.
    fn check_names(&self) -> Result<(), SceneError> {
        let mut names: HashSet<&str> = HashSet::new();
        let bodies = self.bodies.iter().map(|one| &one.name).enumerate();
        let bodies = bodies.map(|(k, name)| (Member::Body(k), name));
        let statics = self.statics.iter().map(|one| &one.name).enumerate();
        let statics = statics.map(|(k, name)| (Member::Static(k), name));
        let joints = self.joints.iter().map(|one| &one.name).enumerate();
        let joints = joints.map(|(k, name)| (Member::Joint(k), name));
        for (member, name) in bodies.chain(joints).chain(statics) {
            if !names.insert(name) {
                return Err(self.duplicate(member));
            }
        }
        Ok(())
    }

    pub(super) fn no_turn(&self, at: Member, found: Quaternion) -> SceneError {
        let owner = self.error(at, "", SceneFault::Duplicate { what: "" }).owner;
        let error = saltus_model::ModelError::Orientation { owner, found };
        self.error(at, "orientation", error)
    }

    /// The position of a part's material.
    fn material(
        &self,
        at: Member,
        own: &str,
        part: &Part,
        materials: &Materials<'_>,
    ) -> Result<usize, SceneError> {
        let name = part.material.as_deref().unwrap_or(own);
        materials.names.iter().position(|known| *known == name).ok_or_else(|| {
            let fault = SceneFault::unknown("material", name, materials.names.iter().copied());
            self.error(at, "material", fault)
        })
    }

    /// A part in a frame that is itself at a place and turned.
    pub(super) fn placed(
        &self,
        at: Member,
        part: &Part,
        place: Vector,
        turn: Quaternion,
    ) -> Result<Placed, SceneError> {
        let own = normalized(part.orientation);
        let own = own.ok_or_else(|| self.no_turn(at, part.orientation))?;
        self.check_shape(at, part)?;
        Ok(Placed {
            shape: part.shape.clone(),
            position: add(place, rotate(turn, part.position)),
            orientation: product(turn, own),
        })
    }

    fn check_shape(&self, at: Member, part: &Part) -> Result<(), SceneError> {
        let checked = part.shape.check(self.space).map_err(SceneFault::from);
        let checked = checked.and(match (at, &part.shape) {
            (Member::Body(_), crate::Shape::Plane { .. }) => Err(SceneFault::PlaneOnBody),
            _ => Ok(()),
        });
        checked.map_err(|fault| self.error(at, "shape", fault))
    }

    /// How something moves as it is told.
    pub(super) fn drive(&self, k: usize, one: &StaticSpec) -> Result<Option<Drive>, SceneError> {
        let Some(drive) = &one.drive else { return Ok(None) };
        let constants = self.constants();
        let (along, about) = match self.space {
            Body::Plane => (2, 1),
            Body::Space => (3, 3),
        };
        let operator = |key, given: &Option<super::Given>, len| {
            let operator =
                |given: &super::Given| given.operator(key, len, &Names::TIME, &constants);
            let operator = given.as_ref().map(operator).transpose();
            operator.map_err(|fault| self.error(Member::Static(k), "drive", fault))
        };
        let position = operator("position", &drive.position, along)?;
        let omega = operator("omega", &drive.omega, about)?;
        let put = || one.position[..along].to_vec();
        let position = position.or_else(|| Some(Operator::from(put())));
        Ok(Some(Drive { position, omega, surface: drive.surface }))
    }

    /// Pairs of sides that do not touch: those set apart, and those that a joint links.
    fn apart(&self, sides: &[Side]) -> Result<Vec<[usize; 2]>, SceneError> {
        let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (side, one) in sides.iter().enumerate() {
            members.entry(&one.name).or_default().push(side);
        }
        let statics = self.statics.iter().map(|one| one.group.as_deref());
        let groups = statics.chain(self.bodies.iter().map(|body| body.group.as_deref()));
        for (side, group) in groups.enumerate() {
            if let Some(group) = group {
                let known = members.entry(group).or_default();
                if !known.contains(&side) {
                    known.push(side);
                }
            }
        }
        let find = |name: &String, fault: &dyn Fn(SceneFault) -> SceneError| {
            members.get(name.as_str()).ok_or_else(|| {
                let what = "body, static or group";
                fault(SceneFault::unknown(what, name, members.keys().copied()))
            })
        };
        let mut pairs = Vec::new();
        let mut separate = |a: &[usize], b: &[usize]| {
            for &i in a {
                pairs.extend(b.iter().filter(|&&j| i != j).map(|&j| [i.min(j), i.max(j)]));
            }
        };
        for [a, b] in &self.apart {
            let fault = |fault| self.error(Member::Scene, "apart", fault);
            separate(find(a, &fault)?, find(b, &fault)?);
        }
        for (k, joint) in self.joints.iter().enumerate().filter(|(_, joint)| !joint.touch) {
            if let [a, b] = &joint.bodies[..] {
                let fault = |fault| self.error(Member::Joint(k), "bodies", fault);
                separate(find(a, &fault)?, find(b, &fault)?);
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        Ok(pairs)
    }

    /// Where the frame of a body's shapes is, for a configuration of the body.
    pub fn frame_of(&self, center: Vector, q: &[f64]) -> (Vector, Quaternion) {
        let (x, turn) = match *q {
            [x, y, angle] => ([x, y, 0.0], about_z(angle)),
            [x, y, z, a, b, c, d] => ([x, y, z], [a, b, c, d]),
            _ => ([0.0; 3], IDENTITY),
        };
        (sub(x, rotate(turn, center)), turn)
    }
}

/// The turn about the third axis.
fn about_z(angle: f64) -> Quaternion {
    let (sin, cos) = (0.5 * angle).sin_cos();
    [cos, 0.0, 0.0, sin]
}

/// Which materials can meet: how many sides have them, and whether one of these is a body.
struct Meeting {
    sides: Vec<HashSet<usize>>,
    bodies: Vec<bool>,
}

impl Meeting {
    fn new(shapes: &[Collider], sides: &[Side], materials: usize) -> Meeting {
        let mut meeting =
            Meeting { sides: vec![HashSet::new(); materials], bodies: vec![false; materials] };
        for collider in shapes {
            meeting.sides[collider.material].insert(collider.side);
            meeting.bodies[collider.material] |= sides[collider.side].system.is_some();
        }
        meeting
    }

    fn possible(&self, a: usize, b: usize) -> bool {
        let moves = self.bodies[a] || self.bodies[b];
        let [one, other] = [&self.sides[a], &self.sides[b]];
        let apart = one.iter().any(|i| other.iter().any(|j| i != j));
        moves && apart
    }
}

/// The key that an error of the model is about.
pub(super) fn key_of(error: &saltus_model::ModelError) -> &'static str {
    use saltus_model::ModelError;
    match error {
        ModelError::Length { what, .. }
        | ModelError::NotFinite { what, .. }
        | ModelError::Range { what, .. }
        | ModelError::NothingFree { what, .. }
        | ModelError::Direction { what, .. } => what,
        ModelError::NoMoment { .. } => "break_moment",
        ModelError::OutsideLimits { .. } | ModelError::LimitsApart { .. } => "limits",
        ModelError::Inertia { .. } => "inertia",
        ModelError::Orientation { .. } => "orientation",
        ModelError::Duplicate { .. } | ModelError::Name { .. } => "name",
        ModelError::Links { .. }
        | ModelError::Linked { .. }
        | ModelError::NotABody { .. }
        | ModelError::LinkedTwice { .. } => "bodies",
        _ => "",
    }
}
