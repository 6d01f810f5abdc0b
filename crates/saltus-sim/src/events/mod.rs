//! Events of the model, while it is stepped.
//!
//! At every instant at which events are looked at, all that is due happens:
//!
//! ```text
//! 1. an event is due if its condition holds now and did not when it was looked at last, or if its
//!    scheduled instant has come;
//! 2. those that are due happen in the order of the model; each evaluates its formulas first, and
//!    then changes what it changes;
//! 3. back to 1, at the same instant, until nothing is due.
//! ```
//!
//! At the initial time conditions are looked at but make nothing happen. Steps end at scheduled
//! instants.
//!
//! An event that changes parameters, laws or which interactions act makes a new model, with which
//! the strategy goes on from the state that there is. All that events have changed is in
//! [`EventState`]. When they are looked at, and what takes the new model over, is the strategy's:
//! `stepping` at the ends of steps, `event_driven` where conditions change.

mod stepping;

use crate::SimError;
use crate::integrators::assembly::Places;
use crate::integrators::row;
use crate::run::{Change, EventKind, EventRecord, Quantity, Value};
use saltus_model::{
    Action, Expression, InteractionId, Model, ModelError, Order, Source, StatePart, StateVector,
    SystemId, Term, Trigger,
};
use saltus_numerics::Memory;
use serde::{Deserialize, Serialize};

/// Rounds of events at one instant before they are called endless.
pub(crate) const ROUNDS: usize = 100;

/// What events have done so far: plain data, from which a simulation can go on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EventState {
    /// The values that events have given to parameters, in the order of the model.
    pub parameters: Vec<Option<f64>>,
    /// Which interactions act, in the order of the model.
    pub active: Vec<bool>,
    /// The law that an event has given to each interaction: its event, and its place among the
    /// actions of that.
    pub laws: Vec<Option<(usize, usize)>>,
    /// How far each event is.
    pub progress: Vec<EventProgress>,
    /// Whether conditions have been looked at at all.
    pub begun: bool,
    /// Whether there may be events that are due now.
    pub pending: bool,
    /// Whether the last step ended with an event that stops the run.
    pub stopped: bool,
}

/// How far one event is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventProgress {
    /// Whether its condition held when it was looked at last.
    pub holds: bool,
    /// How often it has happened.
    pub fired: usize,
}

impl EventState {
    /// Whether it can be one of this model.
    fn check(&self, model: &Model) -> Result<(), SimError> {
        let own = initial_state(model);
        let sizes = [
            ("parameters", self.parameters.len(), own.parameters.len()),
            ("interactions", self.active.len(), own.active.len()),
            ("interactions", self.laws.len(), own.laws.len()),
            ("events", self.progress.len(), own.progress.len()),
        ];
        if let Some(&(what, found, expected)) = sizes.iter().find(|(_, a, b)| a != b) {
            return Err(SimError::EventState { what, found, expected });
        }
        Ok(())
    }

    /// All of it.
    pub(crate) fn memory(&mut self, memory: &mut Memory) {
        memory.list(&mut self.parameters, None, |memory, value| {
            let (mut given, mut number) = (value.is_some(), value.unwrap_or_default());
            memory.flag(&mut given);
            memory.number(&mut number);
            *value = given.then_some(number);
        });
        memory.list(&mut self.active, false, Memory::flag);
        memory.list(&mut self.laws, None, |memory, law| {
            let (mut given, (mut event, mut action)) = (law.is_some(), law.unwrap_or_default());
            memory.flag(&mut given);
            memory.count(&mut event);
            memory.count(&mut action);
            *law = given.then_some((event, action));
        });
        memory.list(&mut self.progress, EventProgress::default(), |memory, progress| {
            memory.flag(&mut progress.holds);
            memory.count(&mut progress.fired);
        });
        memory.flag(&mut self.begun);
        memory.flag(&mut self.pending);
        memory.flag(&mut self.stopped);
    }
}

/// The events of a model, ready to be fired.
#[derive(Debug, Default)]
pub(crate) struct Events {
    events: Vec<Planned>,
    pub state: EventState,
    parameters: Vec<f64>, // as they are now
    /// Length of the last step, by which impulses are forces; 1 where multipliers are forces.
    pub h: f64,
    values: Vec<f64>, // of the variables of a formula
    due: Vec<bool>,
    pub log: Vec<EventRecord>,
}

#[derive(Debug)]
struct Planned {
    name: String,
    once: bool,
    start: Start,
    changes: Vec<Planning>,
}

/// When it happens.
#[derive(Debug)]
enum Start {
    When(Box<Reading>),
    At(Vec<f64>),
    Every { period: f64, start: f64 },
}

/// What changes.
#[derive(Debug)]
enum Planning {
    State { system: SystemId, part: StatePart, name: String, whole: Whole, values: Vec<Reading> },
    Parameter { index: usize, value: Box<Reading> },
    Law { interaction: InteractionId, action: usize },
    Active { interaction: InteractionId, active: bool },
    Stop,
}

/// The vector that a part of a state is one of: where it begins, and its size.
#[derive(Debug, Clone, Copy)]
struct Whole {
    start: Place,
    size: usize,
}

/// A formula with the places of its variables.
#[derive(Debug)]
pub(crate) struct Reading {
    expression: Expression,
    places: Vec<Place>,
}

/// Where a value is found.
#[derive(Debug, Clone, Copy)]
enum Place {
    Time,
    Parameter(usize),
    First(usize),
    Second(usize),
    /// The force of a multiplier.
    Force(usize),
}

impl Reading {
    /// How many variables it has.
    pub fn variables(&self) -> usize {
        self.places.len()
    }

    /// Its text.
    pub fn text(&self) -> &str {
        self.expression.text()
    }

    /// The formula alone.
    pub fn into_expression(self) -> Expression {
        self.expression
    }

    /// The value, with the rows of the parts, after a step of length `h`; `values` is memory of a
    /// sufficient size.
    #[inline]
    pub fn eval(
        &self,
        (t, h): (f64, f64),
        parameters: &[f64],
        rows: [&[f64]; 2],
        values: &mut [f64],
    ) -> f64 {
        self.fill((t, h), parameters, rows, values);
        self.expression.eval(&values[..self.places.len()])
    }

    /// The values of its variables.
    #[inline]
    fn fill(&self, (t, h): (f64, f64), parameters: &[f64], rows: [&[f64]; 2], values: &mut [f64]) {
        for (value, place) in values.iter_mut().zip(&self.places) {
            *value = match *place {
                Place::Time => t,
                Place::Parameter(k) => parameters[k],
                Place::First(column) => rows[0][column],
                Place::Second(column) => rows[1][column],
                Place::Force(column) => rows[1][column] / h,
            };
        }
    }
}

/// Finds the places of variables.
pub(crate) struct Map<'a> {
    model: &'a Model,
    first: Places,
    second: Places,
}

impl<'a> Map<'a> {
    pub fn new(model: &'a Model) -> Map<'a> {
        let (first, second) = (Places::new(model, Order::First), Places::new(model, Order::Second));
        Map { model, first, second }
    }

    /// The rows of an interaction, where it is of this order.
    pub fn rows(&self, interaction: usize, order: Order) -> Option<std::ops::Range<usize>> {
        let places = if order == Order::First { &self.first } else { &self.second };
        places.interactions[interaction].clone()
    }

    fn reading(&self, event: &str, what: &str, text: &str) -> Result<Reading, SimError> {
        self.reading_of(format!("event `{event}`"), what, text)
    }

    /// A formula of an owner with this name.
    pub fn reading_of(&self, owner: String, what: &str, text: &str) -> Result<Reading, SimError> {
        let fail = |source| {
            let (what, text) = (what.to_string(), text.to_string());
            let source = Box::new(source);
            SimError::Model(ModelError::Formula { owner, what, text, source })
        };
        let expression = self.model.expression(text).map_err(fail)?;
        let places = expression.sources().iter().map(|source| self.place(*source)).collect();
        Ok(Reading { expression, places })
    }

    fn place(&self, source: Source) -> Place {
        let column = |order, places: &Places, start: usize, quantity: &str, index: usize| {
            let quantity = Quantity::from_name(quantity).unwrap_or(Quantity::X);
            row::columns(order, places.sizes(), quantity).start + start + index
        };
        let force = matches!(source, Source::Output(_, "force", _));
        let (quantity, index, first, second) = match source {
            Source::Time => return Place::Time,
            Source::Parameter(k) => return Place::Parameter(k),
            Source::State(id, vector, index) => {
                let of = |places: &Places| places.of(id.index(), vector);
                let quantity = Quantity::of(vector);
                (quantity.name(), index, of(&self.first), of(&self.second))
            }
            Source::Output(id, quantity, index) => {
                let of = |places: &Places| places.interactions[id.index()].clone();
                let quantity = if force { "lam" } else { quantity };
                (quantity, index, of(&self.first), of(&self.second))
            }
        };
        match (first, second) {
            (Some(range), _) => {
                Place::First(column(Order::First, &self.first, range.start, quantity, index))
            }
            (None, range) => {
                let start = range.map_or(0, |range| range.start);
                let column = column(Order::Second, &self.second, start, quantity, index);
                if force { Place::Force(column) } else { Place::Second(column) }
            }
        }
    }
}

impl Events {
    /// The events of a model.
    pub fn new(model: &Model) -> Result<Events, SimError> {
        if model.events().is_empty() {
            return Ok(Events::default());
        }
        let map = Map::new(model);
        let mut events = Vec::new();
        for event in model.events() {
            let start = match &event.trigger {
                Trigger::When(text) => {
                    Start::When(Box::new(map.reading(&event.name, "when", text)?))
                }
                Trigger::At(times) => {
                    let mut times = times.clone();
                    times.sort_by(f64::total_cmp);
                    times.dedup();
                    Start::At(times)
                }
                Trigger::Every { period, start } => {
                    Start::Every { period: *period, start: start.unwrap_or(model.t0()) }
                }
            };
            let actions = event.actions.iter().enumerate();
            let changes = actions.map(|(k, action)| plan(&map, &event.name, k, action));
            let changes = changes.collect::<Result<_, SimError>>()?;
            events.push(Planned { name: event.name.clone(), once: event.once, start, changes });
        }
        let longest = |planned: &Planned| match &planned.start {
            Start::When(reading) => reading.places.len(),
            _ => 0,
        };
        let longest = events.iter().map(longest).max().unwrap_or(0);
        Ok(Events {
            state: initial_state(model),
            parameters: model.parameters().map(|(_, value)| value).collect(),
            h: 1.0,
            values: vec![0.0; longest],
            due: vec![false; events.len()],
            events,
            log: Vec::new(),
        })
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Back to the beginning.
    pub fn reset(&mut self, model: &Model) {
        self.state = initial_state(model);
        self.take_parameters(model);
        self.log.clear();
    }

    pub fn take_parameters(&mut self, model: &Model) {
        self.parameters.clear();
        self.parameters.extend(model.parameters().map(|(_, value)| value));
    }

    /// The next scheduled instant.
    pub fn next_instant(&self) -> f64 {
        let events = self.events.iter().zip(&self.state.progress);
        events.fold(f64::INFINITY, |next, (event, progress)| next.min(event.instant(progress)))
    }

    /// Equation 1: which events are due. Whether any is.
    ///
    /// `come` tells whether a scheduled instant has come. The conditions in `crossing` hold, whatever
    /// round-off says.
    pub fn look(
        &mut self,
        t: f64,
        come: impl Fn(f64) -> bool,
        rows: [&[f64]; 2],
        crossing: &[bool],
    ) -> Result<bool, SimError> {
        let mut any = false;
        let Events { events, state, parameters, h, values, due, .. } = self;
        for (k, event) in events.iter().enumerate() {
            let progress = &mut state.progress[k];
            due[k] = match &event.start {
                Start::When(condition) => {
                    let value = condition.eval((t, *h), parameters, rows, values);
                    if value.is_nan() {
                        let what = condition.expression.text().to_string();
                        return Err(event.failed(t, SimError::EventValue { what, value }));
                    }
                    let holds = value != 0.0 || crossing.get(k) == Some(&true);
                    let rises = holds && !progress.holds && state.begun;
                    let due = rises && !(event.once && progress.fired > 0);
                    // one that is due has not been seen before it has happened
                    progress.holds = holds && !due;
                    due
                }
                _ => come(event.instant(progress)),
            };
            any |= due[k];
        }
        state.begun = true;
        Ok(any)
    }

    /// Whether an event is due.
    pub fn is_due(&self, k: usize) -> bool {
        self.due[k]
    }

    /// Number of events.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether the condition of an event held when it was looked at last; nothing where it has none,
    /// or no longer matters.
    pub fn held(&self, k: usize) -> Option<bool> {
        let (event, progress) = (&self.events[k], self.state.progress[k]);
        let over = event.once && progress.fired > 0;
        (matches!(event.start, Start::When(_)) && !over).then_some(progress.holds)
    }

    /// Whether there are conditions that still matter.
    pub fn has_conditions(&self) -> bool {
        (0..self.events.len()).any(|k| self.held(k).is_some())
    }

    /// The condition of an event has been false since it was looked at last.
    pub fn release(&mut self, k: usize) {
        self.state.progress[k].holds = false;
    }

    /// Whether the condition of an event holds.
    pub fn holds(&mut self, k: usize, t: f64, rows: [&[f64]; 2]) -> bool {
        let Events { events, parameters, h, values, .. } = self;
        match &events[k].start {
            Start::When(condition) => condition.eval((t, *h), parameters, rows, values) != 0.0,
            _ => false,
        }
    }

    /// What the condition of an event compares: differences that pass through zero where it changes.
    pub fn margins(&mut self, k: usize, t: f64, rows: [&[f64]; 2], out: &mut Vec<f64>) {
        let Events { events, parameters, h, values, .. } = self;
        out.clear();
        if let Start::When(condition) = &events[k].start {
            out.resize(condition.expression.margins(), 0.0);
            condition.fill((t, *h), parameters, rows, values);
            condition.expression.eval_margins(values, out);
        }
    }

    /// An event has happened.
    pub fn happened(&mut self, k: usize, time: f64, state: EventState, changes: Vec<Change>) {
        let event = &self.events[k];
        let kind = match event.start {
            Start::When(_) => EventKind::When,
            _ => EventKind::Scheduled,
        };
        let (name, interaction) = (event.name.clone(), String::new());
        self.log.push(EventRecord { time, kind, name, interaction, changes });
        self.state = state;
    }

    /// An event that could not happen.
    pub fn failed(&self, k: usize, time: f64, source: SimError) -> SimError {
        self.events[k].failed(time, source)
    }

    /// Events without end.
    pub fn endless(&self, time: f64, last: usize) -> SimError {
        SimError::EventLoop { time, event: self.events[last].name.clone(), rounds: ROUNDS }
    }

    /// The formulas of an event, and what will have changed.
    pub fn evaluate(
        &self,
        k: usize,
        t: f64,
        model: &Model,
        rows: [&[f64]; 2],
    ) -> Result<Changes, SimError> {
        let Events { events, state, parameters, .. } = self;
        let mut state = state.clone();
        state.progress[k].fired += 1;
        state.progress[k].holds = true;
        let (mut states, mut records): (Vec<NewState>, _) = (Vec::new(), Vec::new());
        let (mut orders, mut anew) = ([false; 2], false);
        let mut scratch = Vec::new();
        let mut value_of = |reading: &Reading, what: &dyn Fn() -> String| {
            scratch.resize(reading.places.len(), 0.0);
            let value = reading.eval((t, self.h), parameters, rows, &mut scratch);
            match value.is_finite() {
                true => Ok(value),
                false => Err(SimError::EventValue { what: what(), value }),
            }
        };
        for change in &events[k].changes {
            match change {
                Planning::State { system, part, name, whole, values } => {
                    let now = match whole.start {
                        Place::First(column) => &rows[0][column..][..whole.size],
                        Place::Second(column) => &rows[1][column..][..whole.size],
                        _ => &[],
                    };
                    let own = &now[part.range.clone()];
                    let mut new = Vec::with_capacity(values.len());
                    for (i, (reading, before)) in values.iter().zip(own).enumerate() {
                        let value = value_of(reading, &|| format!("{name}[{i}]"))?;
                        new.push(value);
                        let (before, after) = (Value::Number(*before), Value::Number(value));
                        note(&mut records, format!("{name}[{i}]"), before, after);
                    }
                    let place = match states.iter().position(|(id, _)| id == system) {
                        Some(place) => place,
                        None => {
                            states.push((*system, [None, None]));
                            states.len() - 1
                        }
                    };
                    let vector = &mut states[place].1[(part.of == StateVector::V) as usize];
                    let vector = vector.get_or_insert_with(|| now.to_vec());
                    vector[part.range.clone()].copy_from_slice(&new);
                }
                Planning::Parameter { index, value } => {
                    let name = model.parameters().nth(*index).map_or("", |(name, _)| name);
                    let value = value_of(value, &|| name.to_string())?;
                    state.parameters[*index] = Some(value);
                    (orders, anew) = ([true; 2], true);
                    let (before, after) = (parameters[*index], value);
                    let (before, after) = (Value::Number(before), Value::Number(after));
                    note(&mut records, name.to_string(), before, after);
                }
                Planning::Law { interaction, action } => {
                    state.laws[interaction.index()] = Some((k, *action));
                    let (name, one) = interaction_of(model, *interaction);
                    orders[(one.relation.order() == Order::Second) as usize] = true;
                    let action = model.events()[k].actions.get(*action);
                    let Some(Action::SetLaw { law, .. }) = action else { continue };
                    let [before, after] =
                        [&one.law, law].map(|law| Value::Name(law.name().to_string()));
                    // another law may have the same name
                    records.push(Change { what: format!("{name}.law"), before, after });
                }
                Planning::Active { interaction, active } => {
                    let (name, one) = interaction_of(model, *interaction);
                    let before = std::mem::replace(&mut state.active[interaction.index()], *active);
                    if before != *active {
                        orders[(one.relation.order() == Order::Second) as usize] = true;
                    }
                    let flag = |on: bool| Value::Number(f64::from(u8::from(on)));
                    note(&mut records, format!("{name}.active"), flag(before), flag(*active));
                }
                Planning::Stop => state.stopped = true,
            }
        }
        Ok(Changes { state, states, orders, anew, records })
    }
}

impl Planned {
    /// Its next scheduled instant, infinite if there is none.
    fn instant(&self, progress: &EventProgress) -> f64 {
        match &self.start {
            _ if self.once && progress.fired > 0 => f64::INFINITY,
            Start::When(_) => f64::INFINITY,
            Start::At(times) => times.get(progress.fired).copied().unwrap_or(f64::INFINITY),
            Start::Every { period, start } => start + progress.fired as f64 * period,
        }
    }

    fn failed(&self, time: f64, mut source: SimError) -> SimError {
        // others may set the same parameter
        if let SimError::Model(ModelError::Fixed { event, .. }) = &mut source {
            event.clone_from(&self.name);
        }
        SimError::Event { event: self.name.clone(), time, source: Box::new(source) }
    }
}

fn plan(map: &Map<'_>, event: &str, k: usize, action: &Action) -> Result<Planning, SimError> {
    let model = map.model;
    Ok(match action {
        Action::SetState { system, quantity, values } => {
            let name = format!("{system}.{quantity}");
            let read =
                |(i, Term(text)): (usize, &Term)| map.reading(event, &format!("{name}[{i}]"), text);
            let values = values.iter().enumerate().map(read).collect::<Result<_, SimError>>()?;
            let id = model.system_id(system)?;
            let of = model.system(id)?;
            let part = of.state_parts().into_iter().find(|part| part.name == quantity);
            let Some(part) = part else {
                let (owner, known) = (format!("event `{event}`"), "no such part".to_string());
                return Err(SimError::Model(ModelError::NoState { owner, name, known }));
            };
            let size = if part.of == StateVector::Q { of.dim_q() } else { of.dim() };
            let whole = Whole { start: map.place(Source::State(id, part.of, 0)), size };
            Planning::State { system: id, part, name, whole, values }
        }
        Action::SetParameter { parameter, value: Term(text) } => {
            if !model.has_recipe() {
                return Err(SimError::Model(ModelError::Fixed {
                    event: event.to_string(),
                    parameter: parameter.clone(),
                    why: "the model does not say how it depends on its parameters".to_string(),
                }));
            }
            let value = Box::new(map.reading(event, parameter, text)?);
            Planning::Parameter { index: model.parameter(parameter)?, value }
        }
        Action::SetLaw { interaction, .. } => {
            Planning::Law { interaction: model.interaction_id(interaction)?, action: k }
        }
        Action::Connect(name) => {
            Planning::Active { interaction: model.interaction_id(name)?, active: true }
        }
        Action::Disconnect(name) => {
            Planning::Active { interaction: model.interaction_id(name)?, active: false }
        }
        Action::Stop => Planning::Stop,
    })
}

/// Before anything has happened.
fn initial_state(model: &Model) -> EventState {
    let interactions = model.interactions();
    EventState {
        parameters: vec![None; model.parameters().len()],
        active: interactions.map(|(_, interaction)| interaction.active).collect(),
        laws: vec![None; model.interactions().len()],
        progress: vec![EventProgress::default(); model.events().len()],
        begun: false,
        pending: true,
        stopped: false,
    }
}

/// The model as events have changed it.
pub(crate) fn changed_model(base: &Model, state: &EventState) -> Result<Model, SimError> {
    let parameters = base.parameters().zip(&state.parameters);
    let set: Vec<(&str, f64)> =
        parameters.filter_map(|((name, _), value)| Some((name, (*value)?))).collect();
    let mut model = if set.is_empty() { base.clone() } else { base.with_parameters(&set)? };
    let names: Vec<String> = model.interactions().map(|(name, _)| name.to_string()).collect();
    for (k, name) in names.iter().enumerate() {
        let id = model.interaction_id(name)?;
        if let Some((event, action)) = state.laws[k]
            && let Some(Action::SetLaw { law, .. }) =
                model.events().get(event).and_then(|event| event.actions.get(action))
        {
            let law = law.clone();
            model.set_law(id, law)?;
        }
        model.set_active(id, state.active[k]);
    }
    Ok(model)
}

/// A system with the new values of its `x` or `q`, and of its `v`.
pub(crate) type NewState = (SystemId, [Option<Vec<f64>>; 2]);

/// What one event changes, evaluated.
pub(crate) struct Changes {
    pub state: EventState,
    pub states: Vec<NewState>,
    pub orders: [bool; 2], // whose parts are made anew
    pub anew: bool,        // the systems are not the same
    pub records: Vec<Change>,
}

/// An interaction with its name.
fn interaction_of(model: &Model, id: InteractionId) -> (&str, &saltus_model::Interaction) {
    // the events of a model name its own interactions
    model.interactions().nth(id.index()).unwrap_or_else(|| unreachable!())
}

/// Takes down what becomes something else.
fn note(records: &mut Vec<Change>, what: String, before: Value, after: Value) {
    if before != after {
        records.push(Change { what, before, after });
    }
}
