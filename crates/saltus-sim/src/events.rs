//! Events of the model, while it is stepped.
//!
//! At the end of every step, all that is due happens:
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
//! An event that changes parameters, laws or which interactions act makes a new model, and new
//! parts that go on from the state of the old ones. They take the place of the old ones when all of
//! it has succeeded; nothing in a step knows of events. All that events have changed is in
//! [`EventState`].

use crate::clock::{Clock, Steps};
use crate::integrators::assembly::Places;
use crate::integrators::part::Part;
use crate::integrators::{Step, choice, row};
use crate::recorder::Parts;
use crate::run::{Change, EventKind, EventRecord, Quantity, Value};
use crate::time_stepping::TimeStepping;
use crate::{SimError, time_stepping};
use saltus_model::{
    Action, Expression, InteractionId, Model, ModelError, Order, Source, SystemId, Term, Trigger,
};
use saltus_numerics::Memory;
use serde::{Deserialize, Serialize};

/// Rounds of events at one instant before they are called endless.
const ROUNDS: usize = 100;

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
    values: Vec<f64>,     // of the variables of a formula
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
    State { system: SystemId, quantity: Quantity, name: String, values: Vec<Reading> },
    Parameter { index: usize, value: Box<Reading> },
    Law { interaction: InteractionId, action: usize },
    Active { interaction: InteractionId, active: bool },
    Stop,
}

/// A formula with the places of its variables.
#[derive(Debug)]
struct Reading {
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
}

impl Reading {
    /// The value, with the rows of the parts; `values` is memory of a sufficient size.
    #[inline]
    fn eval(&self, t: f64, parameters: &[f64], rows: [&[f64]; 2], values: &mut [f64]) -> f64 {
        let values = &mut values[..self.places.len()];
        for (value, place) in values.iter_mut().zip(&self.places) {
            *value = match *place {
                Place::Time => t,
                Place::Parameter(k) => parameters[k],
                Place::First(column) => rows[0][column],
                Place::Second(column) => rows[1][column],
            };
        }
        self.expression.eval(values)
    }
}

/// Finds the places of variables.
struct Map<'a> {
    model: &'a Model,
    first: Places,
    second: Places,
}

impl Map<'_> {
    fn reading(&self, event: &str, what: &str, text: &str) -> Result<Reading, SimError> {
        let fail = |source| {
            let (owner, what) = (format!("event `{event}`"), what.to_string());
            SimError::Model(ModelError::Formula { owner, what, source })
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
        let (quantity, index, first, second) = match source {
            Source::Time => return Place::Time,
            Source::Parameter(k) => return Place::Parameter(k),
            Source::State(id, quantity, index) => {
                let of = |places: &Places| places.systems[id.index()].clone();
                (quantity, index, of(&self.first), of(&self.second))
            }
            Source::Output(id, quantity, index) => {
                let of = |places: &Places| places.interactions[id.index()].clone();
                (quantity, index, of(&self.first), of(&self.second))
            }
        };
        match (first, second) {
            (Some(range), _) => {
                Place::First(column(Order::First, &self.first, range.start, quantity, index))
            }
            (None, range) => {
                let start = range.map_or(0, |range| range.start);
                Place::Second(column(Order::Second, &self.second, start, quantity, index))
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
        let (first, second) = (Places::new(model, Order::First), Places::new(model, Order::Second));
        let map = Map { model, first, second };
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

    fn take_parameters(&mut self, model: &Model) {
        self.parameters.clear();
        self.parameters.extend(model.parameters().map(|(_, value)| value));
    }

    /// The next scheduled instant.
    pub fn next_instant(&self) -> f64 {
        let events = self.events.iter().zip(&self.state.progress);
        events.fold(f64::INFINITY, |next, (event, progress)| next.min(event.instant(progress)))
    }

    /// Equation 1: which events are due. Whether any is.
    fn look(&mut self, clock: &Clock, steps: &Steps, parts: &Parts) -> Result<bool, SimError> {
        let mut any = false;
        let Events { events, state, parameters, values, due, .. } = self;
        let rows = parts.rows();
        for (k, event) in events.iter().enumerate() {
            let progress = &mut state.progress[k];
            due[k] = match &event.start {
                Start::When(condition) => {
                    let value = condition.eval(clock.t, parameters, rows, values);
                    if value.is_nan() {
                        let what = condition.expression.text().to_string();
                        return Err(event.failed(clock.t, SimError::EventValue { what, value }));
                    }
                    let holds = value != 0.0;
                    let rises = holds && !progress.holds && state.begun;
                    let due = rises && !(event.once && progress.fired > 0);
                    // one that is due has not been seen before it has happened
                    progress.holds = holds && !due;
                    due
                }
                _ => clock.has_come(steps, event.instant(progress)),
            };
            any |= due[k];
        }
        state.begun = true;
        Ok(any)
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

    fn failed(&self, time: f64, source: SimError) -> SimError {
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
            let quantity = Quantity::from_name(quantity).unwrap_or(Quantity::X);
            Planning::State { system: model.system_id(system)?, quantity, name, values }
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
fn changed_model(base: &Model, state: &EventState) -> Result<Model, SimError> {
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
type NewState = (SystemId, [Option<Vec<f64>>; 2]);

/// What one event changes, evaluated.
struct Changes {
    state: EventState,
    states: Vec<NewState>,
    orders: [bool; 2], // whose parts are made anew
    anew: bool,        // the systems are not the same
    records: Vec<Change>,
}

impl TimeStepping {
    /// What events have done so far.
    pub fn event_state(&self) -> &EventState {
        &self.events.state
    }

    /// Everything that happened since the beginning.
    pub fn events(&self) -> &[EventRecord] {
        &self.events.log
    }

    /// Goes on from another state of events of the same model: parameters, laws and connections
    /// become what they were then. The state of the systems stays.
    pub fn set_event_state(&mut self, state: EventState) -> Result<(), SimError> {
        if self.events.is_empty() && state == EventState::default() {
            return Ok(());
        }
        let own = initial_state(&self.model);
        let sizes = [
            ("parameters", state.parameters.len(), own.parameters.len()),
            ("interactions", state.active.len(), own.active.len()),
            ("interactions", state.laws.len(), own.laws.len()),
            ("events", state.progress.len(), own.progress.len()),
        ];
        if let Some(&(what, found, expected)) = sizes.iter().find(|(_, a, b)| a != b) {
            return Err(SimError::EventState { what, found, expected });
        }
        let anew = state.parameters != self.events.state.parameters;
        let base = self.base.as_deref().unwrap_or(&self.model);
        let model = changed_model(base, &state)?;
        let parts = self.parts_of(&model, [true; 2], anew)?;
        self.take_over(model, parts);
        self.events.state = state;
        Ok(())
    }

    /// All that is due now happens.
    pub(crate) fn fire_events(&mut self) -> Result<(), SimError> {
        self.events.state.pending = true;
        self.events.state.stopped = false;
        let mut last = 0;
        for _ in 0..ROUNDS {
            if !self.events.look(&self.clock, &self.steps, &self.parts)? {
                self.events.state.pending = false;
                return Ok(());
            }
            for k in 0..self.events.due.len() {
                if self.events.due[k] {
                    self.fire(k).map_err(|e| self.events.events[k].failed(self.clock.t, e))?;
                    last = k;
                }
            }
        }
        let (time, event) = (self.clock.t, self.events.events[last].name.clone());
        Err(SimError::EventLoop { time, event, rounds: ROUNDS })
    }

    /// One event happens.
    fn fire(&mut self, k: usize) -> Result<(), SimError> {
        let Changes { state, states, mut orders, anew, records } = self.evaluate(k)?;
        let touched = orders[0] || orders[1];
        if touched || states.len() > 1 {
            // beside the old ones, which stay if anything fails
            for (id, _) in &states {
                orders[(self.model.system(*id)?.order() == Order::Second) as usize] = true;
            }
            let base = self.base.as_deref().unwrap_or(&self.model);
            let model = changed_model(base, &state)?;
            let mut parts = self.parts_of(&model, orders, anew)?;
            for (id, values) in &states {
                set_state(&model, &mut parts, *id, values)?;
            }
            self.take_over(model, parts);
        } else if let Some((id, values)) = states.first() {
            set_state(&self.model, &mut self.parts, *id, values)?;
        }
        let event = &self.events.events[k];
        let kind = match event.start {
            Start::When(_) => EventKind::When,
            _ => EventKind::Scheduled,
        };
        self.events.log.push(EventRecord {
            time: self.clock.t,
            kind,
            name: event.name.clone(),
            interaction: String::new(),
            changes: records,
        });
        self.events.state = state;
        Ok(())
    }

    /// The formulas of an event, and what will have changed.
    fn evaluate(&self, k: usize) -> Result<Changes, SimError> {
        let Events { events, state, parameters, .. } = &self.events;
        let mut state = state.clone();
        state.progress[k].fired += 1;
        state.progress[k].holds = true;
        let (mut states, mut records): (Vec<NewState>, _) = (Vec::new(), Vec::new());
        let (mut orders, mut anew) = ([false; 2], false);
        let mut scratch = Vec::new();
        let mut value_of = |reading: &Reading, what: &dyn Fn() -> String| {
            scratch.resize(reading.places.len(), 0.0);
            let value = reading.eval(self.clock.t, parameters, self.parts.rows(), &mut scratch);
            match value.is_finite() {
                true => Ok(value),
                false => Err(SimError::EventValue { what: what(), value }),
            }
        };
        for change in &events[k].changes {
            match change {
                Planning::State { system, quantity, name, values } => {
                    let now = match quantity {
                        Quantity::X => self.x(*system)?,
                        Quantity::Q => self.q(*system)?,
                        _ => self.v(*system)?,
                    };
                    let mut new = Vec::with_capacity(values.len());
                    for (i, (reading, before)) in values.iter().zip(now).enumerate() {
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
                    states[place].1[(*quantity == Quantity::V) as usize] = Some(new);
                }
                Planning::Parameter { index, value } => {
                    let name = self.model.parameters().nth(*index).map_or("", |(name, _)| name);
                    let value = value_of(value, &|| name.to_string())?;
                    state.parameters[*index] = Some(value);
                    (orders, anew) = ([true; 2], true);
                    let (before, after) = (parameters[*index], value);
                    let (before, after) = (Value::Number(before), Value::Number(after));
                    note(&mut records, name.to_string(), before, after);
                }
                Planning::Law { interaction, action } => {
                    state.laws[interaction.index()] = Some((k, *action));
                    let (name, one) = self.interaction(*interaction);
                    orders[(one.relation.order() == Order::Second) as usize] = true;
                    let action = self.model.events()[k].actions.get(*action);
                    let Some(Action::SetLaw { law, .. }) = action else { continue };
                    let [before, after] =
                        [&one.law, law].map(|law| Value::Name(law.name().to_string()));
                    // another law may have the same name
                    records.push(Change { what: format!("{name}.law"), before, after });
                }
                Planning::Active { interaction, active } => {
                    let (name, one) = self.interaction(*interaction);
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

    fn interaction(&self, id: InteractionId) -> (&str, &saltus_model::Interaction) {
        // the events of a model name its own interactions
        self.model.interactions().nth(id.index()).unwrap_or_else(|| unreachable!())
    }

    /// New parts of these orders for a changed model, which go on from the old ones.
    fn parts_of(&self, model: &Model, orders: [bool; 2], anew: bool) -> Result<Parts, SimError> {
        let (h, t) = (self.clock.last_h(), self.clock.t);
        let last = Step { start: t - h, end: t, h };
        let make = |order, old: &Option<Box<dyn Part>>, wanted| match old {
            Some(old) if wanted => {
                let time_stepping::Methods { integrators, newton, solver } = &self.methods;
                let mut part = choice::part(model, order, integrators, *newton, solver)?;
                if let Some(part) = &mut part {
                    part.adopt(old.as_ref(), last, !anew)?;
                    part.prepare();
                }
                Ok::<_, SimError>(part)
            }
            _ => Ok(None),
        };
        Ok(Parts {
            first: make(Order::First, &self.parts.first, orders[0])?,
            second: make(Order::Second, &self.parts.second, orders[1])?,
        })
    }

    /// The changed model, and those parts that are new.
    fn take_over(&mut self, model: Model, mut parts: Parts) {
        for part in [&mut parts.first, &mut parts.second].into_iter().flatten() {
            part.settle();
        }
        self.parts.first = parts.first.or(self.parts.first.take());
        self.parts.second = parts.second.or(self.parts.second.take());
        self.events.take_parameters(&model);
        let before = std::mem::replace(&mut self.model, model);
        self.base.get_or_insert_with(|| Box::new(before));
    }
}

/// Takes down what becomes something else.
fn note(records: &mut Vec<Change>, what: String, before: Value, after: Value) {
    if before != after {
        records.push(Change { what, before, after });
    }
}

/// Replaces the state of a system.
fn set_state(
    model: &Model,
    parts: &mut Parts,
    id: SystemId,
    [first, second]: &[Option<Vec<f64>>; 2],
) -> Result<(), SimError> {
    let values = [first.as_deref(), second.as_deref()];
    for part in [&mut parts.first, &mut parts.second].into_iter().flatten() {
        if let Some(Some(range)) = part.places().systems.get(id.index()).cloned() {
            part.set(model, id, range, values)?;
        }
    }
    Ok(())
}
