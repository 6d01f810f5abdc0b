//! The model: named systems, and the interactions between them.

use crate::relation::MOST_LINKED;
use crate::relations::{Bonded, Turned};
use crate::{
    Action, ContactFinder, Event, FirstOrderLinear, FirstOrderSystem, IntoRelation,
    LagrangianLinear, Law, Linked, ModelError, Order, Relation, SecondOrderSystem, StatePart,
    StateVector, Terms,
};
use std::sync::Arc;

/// Names a system of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SystemId(usize);

/// Names an interaction of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InteractionId(usize);

impl SystemId {
    /// Position among the systems of the model.
    pub fn index(self) -> usize {
        self.0
    }
}

impl InteractionId {
    /// Position among the interactions of the model.
    pub fn index(self) -> usize {
        self.0
    }
}

/// A system of either order.
#[derive(Debug, Clone)]
pub enum System {
    /// State `x`.
    FirstOrder(Arc<dyn FirstOrderSystem>),
    /// State `q, v`.
    SecondOrder(Arc<dyn SecondOrderSystem>),
}

impl System {
    /// Order of its equation.
    pub fn order(&self) -> Order {
        match self {
            System::FirstOrder(_) => Order::First,
            System::SecondOrder(_) => Order::Second,
        }
    }

    /// Number of components of `x` or `q`.
    pub fn dim_q(&self) -> usize {
        match self {
            System::FirstOrder(system) => system.dim(),
            System::SecondOrder(system) => system.dim_q(),
        }
    }

    /// The parts that its state has names for: `x`; `q` and `v`; those of bodies.
    pub fn state_parts(&self) -> Vec<StatePart> {
        let part = |name, of, len| StatePart { name, of, range: 0..len };
        match self {
            System::FirstOrder(system) => vec![part("x", StateVector::X, system.dim())],
            System::SecondOrder(system) => match system.body() {
                Some(body) => StatePart::of_body(body),
                None => vec![
                    part("q", StateVector::Q, system.dim_q()),
                    part("v", StateVector::V, system.dim()),
                ],
            },
        }
    }

    /// Number of components of `x`, or degrees of freedom: the components of `v`.
    pub fn dim(&self) -> usize {
        match self {
            System::FirstOrder(system) => system.dim(),
            System::SecondOrder(system) => system.dim(),
        }
    }

    fn check(&self, owner: &str) -> Result<(), ModelError> {
        match self {
            System::FirstOrder(system) => system.check(owner),
            System::SecondOrder(system) => system.check(owner),
        }
    }
}

impl From<FirstOrderLinear> for System {
    fn from(system: FirstOrderLinear) -> Self {
        System::FirstOrder(Arc::new(system))
    }
}

impl From<LagrangianLinear> for System {
    fn from(system: LagrangianLinear) -> Self {
        System::SecondOrder(Arc::new(system))
    }
}

/// A law on the output of a relation between systems.
#[derive(Debug, Clone)]
pub struct Interaction {
    /// What `y` is, and how `λ` acts.
    pub relation: Arc<dyn Relation>,
    /// What `y` and `λ` satisfy.
    pub law: Law,
    /// The systems it links: one or two, or as many as the relation may.
    pub systems: Vec<SystemId>,
    /// Whether it acts from the beginning; else its multiplier is zero until an event connects it.
    pub active: bool,
}

impl Interaction {
    /// The law that holds: none acts where the interaction is not active.
    pub fn acting_law(&self) -> Law {
        if self.active { self.law.clone() } else { Law::relay(0.0, 0.0) }
    }
}

/// How a model depends on its parameters: what it is where some of them have other values.
#[derive(Clone)]
struct Recipe(Arc<Build>);

/// Makes a model with other values of some parameters.
type Build = dyn Fn(&[(&str, f64)]) -> Result<Model, String> + Send + Sync;

impl std::fmt::Debug for Recipe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Recipe")
    }
}

/// Operators that are made ready ahead of a run, at some tenths of a millisecond each.
const PREPARED: usize = 100;

/// Systems and interactions, each with a name.
#[derive(Debug, Clone, Default)]
pub struct Model {
    title: String,
    t0: f64,
    systems: Vec<(Arc<str>, System)>,
    interactions: Vec<(Arc<str>, Interaction)>,
    names: std::collections::HashMap<Arc<str>, Member>,
    parameters: Vec<(String, f64)>,
    events: Vec<Event>,
    recipe: Option<Recipe>,
    finder: Option<Arc<dyn ContactFinder>>,
}

/// What a name of the model stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Member {
    System(SystemId),
    Interaction(InteractionId),
}

impl Model {
    /// An empty model that starts at `t = 0`.
    pub fn new(title: impl Into<String>) -> Self {
        Model { title: title.into(), ..Model::default() }
    }

    /// The same, starting at `t0`.
    pub fn starting_at(mut self, t0: f64) -> Self {
        self.t0 = t0;
        self
    }

    /// Compiles the formulas of systems, relations and laws to machine code. A model with very many
    /// leaves that to the run, which compiles those that it evaluates often.
    pub fn prepare(&self) {
        let mut operators = Vec::new();
        for (_, system) in &self.systems {
            operators.extend(match system {
                System::FirstOrder(system) => system.operators(),
                System::SecondOrder(system) => system.operators(),
            });
        }
        for (_, Interaction { relation, law, .. }) in &self.interactions {
            operators.extend(relation.operators());
            operators.extend(law.operators());
        }
        operators.retain(|operator| operator.as_constant().is_none());
        if operators.len() <= PREPARED {
            operators.iter().for_each(|operator| operator.prepare());
        }
    }

    /// The title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The initial time.
    pub fn t0(&self) -> f64 {
        self.t0
    }

    /// Adds a system.
    pub fn add(&mut self, name: &str, system: impl Into<System>) -> Result<SystemId, ModelError> {
        self.check_name(name)?;
        let system = system.into();
        system.check(&format!("system `{name}`")).map_err(|error| error.of(name))?;
        let id = SystemId(self.systems.len());
        let name: Arc<str> = name.into();
        self.systems.push((Arc::clone(&name), system));
        self.names.insert(name, Member::System(id));
        Ok(id)
    }

    /// Adds an interaction between one or two systems, or as many as the relation may link.
    pub fn connect(
        &mut self,
        name: &str,
        relation: impl IntoRelation,
        law: Law,
        systems: &[SystemId],
    ) -> Result<InteractionId, ModelError> {
        self.check_name(name)?;
        let links = |most: usize| match (1..=most).contains(&systems.len()) {
            true => Ok(()),
            false => Err(ModelError::Links { name: name.to_string(), found: systems.len() }),
        };
        links(MOST_LINKED)?;
        let linked = systems.iter().map(|&id| Ok(self.named_system(id)?.1));
        let linked = linked.collect::<Result<Vec<&System>, ModelError>>()?;
        let linked = Linked::new(&linked);
        let relation = relation.complete(linked);
        links(relation.most_systems())?;
        for (k, &id) in systems.iter().enumerate() {
            let (system_name, system) = self.named_system(id)?;
            if system.order() != relation.order() {
                return Err(ModelError::Order {
                    name: name.to_string(),
                    relation: relation.order().name(),
                    system: system_name.to_string(),
                    found: system.order().name(),
                });
            }
            if systems[..k].contains(&id) {
                let (name, system) = (name.to_string(), system_name.to_string());
                return Err(ModelError::LinkedTwice { name, system });
            }
        }
        relation.check(&format!("interaction `{name}`"), linked)?;
        let turns = linked.is_curved() && !relation.is_in_velocities();
        let turned = turns.then(|| linked.systems().cloned().collect::<Vec<_>>());
        let Terms { through, velocity, .. } = relation.terms();
        law.check(name, relation.order(), relation.size(), through)?;
        if law.is_bond() && velocity {
            let (name, law, relation) = (name.to_string(), law.name(), relation.order().name());
            let instead = "use a relation that says what the gap is";
            return Err(ModelError::LawMismatch { name, law, relation, instead });
        }

        let id = InteractionId(self.interactions.len());
        let mut relation: Arc<dyn Relation> = Arc::new(relation);
        if let Some(systems) = turned {
            relation = Arc::new(Turned { relation, systems });
        }
        if law.is_bond() {
            relation = Arc::new(Bonded { relation });
        }
        let (systems, active) = (systems.to_vec(), true);
        let interaction = Interaction { relation, law, systems, active };
        let name: Arc<str> = name.into();
        self.interactions.push((Arc::clone(&name), interaction));
        self.names.insert(name, Member::Interaction(id));
        Ok(id)
    }

    /// Gives degrees of freedom of a mechanical system these velocities, constant or functions of
    /// time. The reactions are the multipliers.
    ///
    /// ```
    /// use saltus_model::{LagrangianLinear, Model, Operator};
    ///
    /// let mut model = Model::new("shaker");
    /// let M = [[1.0, 0.0], [0.0, 1.0]];
    /// let masses = model.add("masses", LagrangianLinear::new([0.0; 2], [0.0; 2], M))?;
    /// let v = Operator::vector_of_time(1, |t, v| v[0] = t.cos());
    /// model.prescribe("shaker", masses, [0], v)?;
    /// # Ok::<(), saltus_model::ModelError>(())
    /// ```
    pub fn prescribe(
        &mut self,
        name: &str,
        system: SystemId,
        dofs: impl Into<Vec<usize>>,
        v: impl Into<crate::Operator>,
    ) -> Result<InteractionId, ModelError> {
        self.connect(name, crate::Prescribed::new(dofs, v), Law::Equality, &[system])
    }

    /// Lets bodies touch each other where this finder says so.
    pub fn find_contacts(&mut self, finder: Arc<dyn ContactFinder>) -> Result<(), ModelError> {
        finder.check(self)?;
        self.finder = Some(finder);
        Ok(())
    }

    /// What finds contacts between its bodies.
    pub fn contact_finder(&self) -> Option<&Arc<dyn ContactFinder>> {
        self.finder.as_ref()
    }

    /// Whether any of its bodies can touch anything that is found.
    pub fn has_found_contacts(&self) -> bool {
        self.finder.as_ref().is_some_and(|finder| !finder.laws().is_empty())
    }

    /// A model of some of the systems alone, in this order, with the interactions that link no
    /// others; also the positions of those interactions in the whole.
    pub fn part(&self, systems: &[usize]) -> (Model, Vec<usize>) {
        let mut part = Model { title: self.title.clone(), t0: self.t0, ..Model::default() };
        let mut own = vec![None; self.systems.len()];
        for &k in systems {
            let id = SystemId(part.systems.len());
            own[k] = Some(id);
            part.names.insert(self.systems[k].0.clone(), Member::System(id));
            part.systems.push(self.systems[k].clone());
        }
        let mut positions = Vec::new();
        for (k, (name, interaction)) in self.interactions.iter().enumerate() {
            let links = interaction.systems.iter().map(|id| own[id.0]).collect::<Option<_>>();
            if let Some(systems) = links {
                let id = InteractionId(part.interactions.len());
                part.names.insert(name.clone(), Member::Interaction(id));
                let (relation, law) = (Arc::clone(&interaction.relation), interaction.law.clone());
                let active = interaction.active;
                let interaction = Interaction { relation, law, systems, active };
                part.interactions.push((name.clone(), interaction));
                positions.push(k);
            }
        }
        (part, positions)
    }

    /// The systems with their names, in the order they were added.
    pub fn systems(&self) -> impl ExactSizeIterator<Item = (&str, &System)> {
        self.systems.iter().map(|(name, system)| (&**name, system))
    }

    /// The interactions with their names, in the order they were added.
    pub fn interactions(&self) -> impl ExactSizeIterator<Item = (&str, &Interaction)> {
        self.interactions.iter().map(|(name, interaction)| (&**name, interaction))
    }

    /// The interaction at this position, and its name.
    pub fn interaction_at(&self, position: usize) -> Option<(&str, &Interaction)> {
        self.interactions.get(position).map(|(name, interaction)| (&**name, interaction))
    }

    /// The name of a system, without a copy of its text.
    pub fn shared_name(&self, id: SystemId) -> Result<Arc<str>, ModelError> {
        let found = self.systems.get(id.0).map(|(name, _)| Arc::clone(name));
        found.ok_or(ModelError::Handle { index: id.0 })
    }

    /// The name of the system at this position; empty where there is none.
    pub fn system_name(&self, position: usize) -> &str {
        self.systems.get(position).map_or("", |(name, _)| name)
    }

    /// The system a handle names.
    pub fn system(&self, id: SystemId) -> Result<&System, ModelError> {
        self.named_system(id).map(|(_, system)| system)
    }

    /// The handle of a system.
    pub fn system_id(&self, name: &str) -> Result<SystemId, ModelError> {
        match self.names.get(name) {
            Some(Member::System(id)) => Ok(*id),
            _ => Err(unknown("system", name, self.systems().map(|(name, _)| name))),
        }
    }

    /// The handle of an interaction.
    pub fn interaction_id(&self, name: &str) -> Result<InteractionId, ModelError> {
        match self.names.get(name) {
            Some(Member::Interaction(id)) => Ok(*id),
            _ => Err(unknown("interaction", name, self.interactions().map(|(name, _)| name))),
        }
    }

    /// The inputs `z` that the system or interaction of this name starts with.
    pub fn inputs(&self, name: &str) -> Result<&[f64], ModelError> {
        match self.names.get(name) {
            Some(Member::System(id)) => Ok(match self.system(*id)? {
                System::FirstOrder(system) => system.z0(),
                System::SecondOrder(system) => system.z0(),
            }),
            Some(Member::Interaction(id)) => Ok(self.interactions[id.0].1.relation.z0()),
            None => {
                let systems = self.systems().map(|(name, _)| name);
                let known = systems.chain(self.interactions().map(|(name, _)| name));
                Err(unknown("system or interaction", name, known))
            }
        }
    }

    /// Adds a parameter that events may read and change, or gives it another value.
    pub fn add_parameter(&mut self, name: impl Into<String>, value: f64) {
        let name = name.into();
        match self.parameters.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.parameters.push((name, value)),
        }
    }

    /// The parameters with their values.
    pub fn parameters(&self) -> impl ExactSizeIterator<Item = (&str, f64)> {
        self.parameters.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// The position of a parameter.
    pub fn parameter(&self, name: &str) -> Result<usize, ModelError> {
        let found = self.parameters.iter().position(|(known, _)| known == name);
        found.ok_or_else(|| unknown("parameter", name, self.parameters().map(|(name, _)| name)))
    }

    /// Says how the model depends on its parameters: `build` makes it with other values of some of
    /// them. Needed where events set parameters.
    ///
    /// ```
    /// use saltus_model::{Event, LagrangianLinear, Model, ModelError};
    ///
    /// fn model(g: f64) -> Result<Model, ModelError> {
    ///     let mut model = Model::new("a planet that loses its gravity");
    ///     model.add_parameter("g", g);
    ///     model.add("ball", LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext([-g]))?;
    ///     model.add_event(Event::at([0.5]).set_parameter("g", "g/6"))?;
    ///     Ok(model)
    /// }
    ///
    /// let model = model(9.81)?.with_recipe(|set| model(set[0].1).map_err(|e| e.to_string()));
    /// assert_eq!(model.with_parameters(&[("g", 1.62)])?.parameters().next(), Some(("g", 1.62)));
    /// # Ok::<(), ModelError>(())
    /// ```
    pub fn with_recipe(
        mut self,
        build: impl Fn(&[(&str, f64)]) -> Result<Model, String> + Send + Sync + 'static,
    ) -> Model {
        self.recipe = Some(Recipe(Arc::new(build)));
        self
    }

    /// Whether it says how it depends on its parameters.
    pub fn has_recipe(&self) -> bool {
        self.recipe.is_some()
    }

    /// The model with other values of some parameters; its systems and interactions are the same
    /// in number, name and size.
    pub fn with_parameters(&self, set: &[(&str, f64)]) -> Result<Model, ModelError> {
        let fail = |why: String| {
            let parameter = set.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("`, `");
            Err(ModelError::Fixed { event: self.setter(set), parameter, why })
        };
        let Some(Recipe(build)) = &self.recipe else {
            return fail("the model does not say how it depends on its parameters".to_string());
        };
        let mut model = match build(set) {
            Ok(model) => model,
            Err(why) => return fail(why),
        };
        let same = self.shape().eq(model.shape()) && self.events.len() == model.events.len();
        if !same {
            return fail("it would change which systems, interactions and events there are".into());
        }
        model.t0 = self.t0;
        model.recipe = self.recipe.clone();
        Ok(model)
    }

    /// The first event that sets one of these parameters.
    fn setter(&self, set: &[(&str, f64)]) -> String {
        let sets = |action: &Action| match action {
            Action::SetParameter { parameter, .. } => set.iter().any(|(name, _)| name == parameter),
            _ => false,
        };
        let setter = self.events.iter().find(|event| event.actions.iter().any(sets));
        setter.map_or_else(String::new, |event| event.name.clone())
    }

    /// Names, orders and sizes of systems and interactions.
    fn shape(&self) -> impl Iterator<Item = (&str, Order, usize)> {
        let systems = self.systems().map(|(name, one)| (name, one.order(), one.dim()));
        let interactions = self
            .interactions()
            .map(|(name, one)| (name, one.relation.order(), one.relation.size()));
        systems.chain(interactions)
    }

    /// Adds an event; what it names must be there.
    pub fn add_event(&mut self, mut event: Event) -> Result<(), ModelError> {
        if event.name.is_empty() {
            event.name = format!("event{}", self.events.len() + 1);
        }
        if self.events.iter().any(|known| known.name == event.name) {
            return Err(ModelError::TwoEvents { name: event.name });
        }
        event.check(self)?;
        self.events.push(event);
        Ok(())
    }

    /// Finds what is wrong with an event.
    pub fn check_event(&self, event: &Event) -> Result<(), ModelError> {
        event.check(self)
    }

    /// The events, in the order they were added.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The interaction a handle names.
    pub fn interaction(&self, id: InteractionId) -> Option<&Interaction> {
        self.interactions.get(id.0).map(|(_, interaction)| interaction)
    }

    /// Says whether an interaction acts from the beginning, or only after an event connects it.
    pub fn set_active(&mut self, id: InteractionId, active: bool) {
        if let Some((_, interaction)) = self.interactions.get_mut(id.0) {
            interaction.active = active;
        }
    }

    /// Gives an interaction another law.
    pub fn set_law(&mut self, id: InteractionId, law: Law) -> Result<(), ModelError> {
        self.check_law(id, &law)?;
        self.interactions[id.0].1.law = law;
        Ok(())
    }

    /// Finds what is wrong with a law for an interaction.
    pub(crate) fn check_law(&self, id: InteractionId, law: &Law) -> Result<(), ModelError> {
        let Some((name, Interaction { relation, law: before, .. })) = self.interactions.get(id.0)
        else {
            return Err(ModelError::Handle { index: id.0 });
        };
        if law.is_bond() != before.is_bond() {
            let (name, law, relation) = (name.to_string(), law.name(), relation.order().name());
            let instead = match before.is_bond() {
                true => {
                    "what was connected as a bond stays one; disconnect it, and connect another"
                }
                false => {
                    "only what was connected as a bond can become one; connect it with `active = false`"
                }
            };
            return Err(ModelError::LawMismatch { name, law, relation, instead });
        }
        // the components of a bond come twice
        let size = relation.size() / if law.is_bond() { 2 } else { 1 };
        law.check(name, relation.order(), size, relation.terms().through)
    }

    fn named_system(&self, id: SystemId) -> Result<(&str, &System), ModelError> {
        let found = self.systems.get(id.0).map(|(name, system)| (&**name, system));
        found.ok_or(ModelError::Handle { index: id.0 })
    }

    /// Whether this can be the name of a part of an interaction that is there, such as
    /// `hinge.limit`: its name, a dot, and a word that no quantity has.
    fn is_part_of_interaction(&self, name: &str) -> bool {
        let Some((owner, part)) = name.rsplit_once('.') else { return false };
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let quantity = ["y", "u", "lam", "force", "law", "active"].contains(&part);
        matches!(self.names.get(owner), Some(Member::Interaction(_)))
            && !self.names.contains_key(name)
            && part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.chars().all(word)
            && !quantity
    }

    /// A name can stand in a signal path such as `ball.q[0]`, and is not taken.
    fn check_name(&self, name: &str) -> Result<(), ModelError> {
        let fail = |why| Err(ModelError::Name { name: name.to_string(), why });
        if name.trim() != name || name.is_empty() {
            return fail("it is empty, or begins or ends with a blank");
        }
        if name.contains(char::is_control) {
            let (name, why) = (name.escape_debug().to_string(), "it holds a control character");
            return Err(ModelError::Name { name, why });
        }
        if self.is_part_of_interaction(name) {
            return Ok(());
        }
        if name.contains(|c: char| "./[]{},\"'".contains(c)) {
            return fail("the characters . / [ ] { } , and quotes have a meaning in signal paths");
        }
        if self.names.contains_key(name) {
            return Err(ModelError::Duplicate { name: name.to_string() });
        }
        Ok(())
    }
}

fn unknown<'a>(what: &'static str, name: &str, known: impl Iterator<Item = &'a str>) -> ModelError {
    let nearest = saltus_expr::nearest(name, known).map(str::to_string);
    ModelError::Unknown { what, name: name.to_string(), nearest }
}
