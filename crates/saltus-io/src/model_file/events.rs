//! The events: `[[event]]` tables.
//!
//! ```toml
//! [[event]]
//! name = "cut"
//! when = "mass.q[0] < 0"          # or: at = [1.0, 2.0], or: every = 0.5 and start = 0.25
//! once = true
//! set = { "mass.v" = ["2*mass.v[0]", 0], mu = "mu/2" }
//! law = { floor = { kind = "newton-impact", e = 0.2 } }
//! disconnect = ["string"]
//! ```

use super::build::{law, owner, tables};
use super::error::{ErrorKind, Fault};
use super::fields::Fields;
use super::repetition::{expand, for_each};
use super::scope::Scope;
use super::slot::Sizes;
use super::source::Place;
use super::tree::{Item, Table, Value};
use super::vocabulary::SectionId;
use saltus_model::{Action, Event, Model, ModelError, Term, Trigger};

/// Adds the parameters of the file to the model, and its events.
pub(crate) fn add_events(file: &Table, model: &mut Model, scope: &Scope) -> Result<(), Fault> {
    for (name, value) in scope.constants() {
        model.add_parameter(name, value);
    }
    for (item, table) in tables(file, "event", scope)? {
        for_each(table, "event", scope, |scope| {
            let fields = Fields::open(item, SectionId::Event, owner(table, "event"), scope)?;
            let event = event(&fields, model)?;
            let place = fields.place_of("name").unwrap_or(&item.place);
            model.add_event(event).map_err(|error| Fault::new(place, error).repeated(scope.pass()))
        })?;
    }
    Ok(())
}

fn event(fields: &Fields, model: &Model) -> Result<Event, Fault> {
    let scope = fields.scope;
    let name = match fields.get("name") {
        Some(item) => expand(item, "name", scope)?,
        None => String::new(),
    };
    let check = Check { model, scope, name: if name.is_empty() { "event" } else { &name } };
    let (trigger, place) = trigger(fields)?;
    let once = fields.get("once").map_or(Ok(false), |item| fields.flag(item, "once"))?;
    let mut event = Event { name: name.clone(), trigger, once, actions: Vec::new() };
    check.trigger(&event, place)?;

    if let Some(item) = fields.get("set") {
        let table = item.as_table().ok_or_else(|| {
            scope.wrong_type(item, "set", "a table of new values, such as { \"ball.v\" = [0] }")
        })?;
        for (path, item) in assignments(table) {
            event.actions.push(check.action(assignment(&path, item, model, scope)?, item)?);
        }
    }
    if let Some(item) = fields.get("law") {
        let expected = "a table of laws by interaction, such as { floor = { kind = … } }";
        let table = item.as_table().ok_or_else(|| scope.wrong_type(item, "law", expected))?;
        for entry in &table.entries {
            let action = new_law(&entry.key, &entry.item, model, scope)?;
            event.actions.push(check.action(action, &entry.item)?);
        }
    }
    for key in ["disconnect", "connect"] {
        let Some(item) = fields.get(key) else { continue };
        let expected = "an array of names of interactions";
        let items = item.as_array().ok_or_else(|| scope.wrong_type(item, key, expected))?;
        for item in items {
            let name = expand(item, key, scope)?;
            let connects = key == "connect";
            let action = if connects { Action::Connect(name) } else { Action::Disconnect(name) };
            event.actions.push(check.action(action, item)?);
        }
    }
    if fields.get("stop").map_or(Ok(false), |item| fields.flag(item, "stop"))? {
        event.actions.push(Action::Stop);
    }
    Ok(event)
}

/// One of `when`, `at` and `every`, and where it stands.
fn trigger<'a>(fields: &Fields<'a>) -> Result<(Trigger, &'a Item), Fault> {
    let scope = fields.scope;
    let given: Vec<(&str, &Item)> = ["when", "at", "every"]
        .into_iter()
        .filter_map(|key| Some((key, fields.get(key)?)))
        .collect();
    let [(key, item)] = given[..] else {
        let place = given.get(1).map_or(fields.place, |(_, item)| &item.place);
        return Err(Fault::new(place, ErrorKind::Trigger { found: given.len() }));
    };
    let start = fields.get("start");
    if let (Some(start), true) = (start, key != "every") {
        return Err(scope.wrong_type(start, "start", "`every` beside it"));
    }
    let trigger = match key {
        "when" => Trigger::When(expand(item, "when", scope)?),
        "at" => Trigger::At(match item.as_array() {
            Some(items) => {
                let number = |(i, item)| scope.constant(item, &format!("at[{i}]"));
                items.iter().enumerate().map(number).collect::<Result<_, _>>()?
            }
            None => vec![scope.constant(item, "at")?],
        }),
        _ => {
            let start = start.map(|start| scope.number(start, "start")).transpose()?;
            Trigger::Every { period: scope.number(item, "every")?, start }
        }
    };
    Ok((trigger, item))
}

/// The entries of `set`; `ball.v = […]` without quotes is a table in a table.
fn assignments(table: &Table) -> Vec<(String, &Item)> {
    let mut all = Vec::new();
    for entry in &table.entries {
        match &entry.item.value {
            Value::Table(inner) => {
                let inner = inner.entries.iter();
                all.extend(inner.map(|one| (format!("{}.{}", entry.key, one.key), &one.item)));
            }
            _ => all.push((entry.key.clone(), &entry.item)),
        }
    }
    all
}

/// `ball.v = […]`, `ball.v[0] = …` or `mu = …`.
fn assignment(path: &str, item: &Item, model: &Model, scope: &Scope) -> Result<Action, Fault> {
    let term = |item: &Item| match &item.value {
        Value::Number(value) => Ok(Term::from(*value)),
        Value::Text(_) => Ok(Term(expand(item, path, scope)?)),
        _ => Err(scope.wrong_type(item, path, "a number or a formula")),
    };
    let key = Item { place: item.place.clone(), value: Value::Text(path.to_owned()) };
    let path = expand(&key, "set", scope)?;
    let Some((system, quantity)) = path.rsplit_once('.') else {
        return Ok(Action::SetParameter { parameter: path.clone(), value: term(item)? });
    };
    let (system, quantity) = (system.to_owned(), quantity.to_owned());
    let values = match (quantity.strip_suffix(']').and_then(|q| q.split_once('[')), &item.value) {
        (None, Value::Array(items)) => items.iter().map(term).collect::<Result<_, _>>()?,
        (None, _) => vec![term(item)?],
        (Some((quantity, index)), _) => {
            // the other components stay what they are
            let one = model.system_id(&system).and_then(|id| model.system(id));
            let one = one.map_err(|error| Fault::new(&item.place, error))?;
            // a name that is none is found when the event is added
            let part = one.state_parts().into_iter().find(|part| part.name == quantity);
            let dim = part.map_or(one.dim_q(), |part| part.range.len());
            let index =
                index.parse().ok().filter(|index: &usize| *index < dim).ok_or_else(|| {
                    let (what, name) = ("set".to_owned(), path.clone());
                    Fault::new(&item.place, ErrorKind::Index { what, name, len: dim })
                })?;
            let mut values: Vec<Term> =
                (0..dim).map(|i| Term(format!("'{system}'.{quantity}[{i}]"))).collect();
            values[index] = term(item)?;
            return Ok(Action::SetState { system, quantity: quantity.to_owned(), values });
        }
    };
    Ok(Action::SetState { system, quantity, values })
}

fn new_law(key: &str, item: &Item, model: &Model, scope: &Scope) -> Result<Action, Fault> {
    let name = Item { place: item.place.clone(), value: Value::Text(key.to_owned()) };
    let interaction = expand(&name, "law", scope)?;
    let id = model.interaction_id(&interaction);
    let id = id.map_err(|error| Fault::new(&item.place, error).repeated(scope.pass()))?;
    let mut sizes = Sizes::default();
    if let Some(one) = model.interaction(id) {
        let dims = one.systems.iter().filter_map(|id| Some(model.system(*id).ok()?.dim_q()));
        sizes = Sizes { first: dims.sum(), second: one.relation.size(), inputs: 0 };
    }
    let owner = format!("law of `{interaction}`");
    let fields = Fields::open(item, SectionId::Law, owner, scope)?;
    Ok(Action::SetLaw { interaction, law: law(&fields.sized(sizes))? })
}

/// Checks what an event is made of, piece by piece, so that errors have their place.
struct Check<'a> {
    model: &'a Model,
    scope: &'a Scope<'a>,
    name: &'a str,
}

impl Check<'_> {
    fn trigger(&self, event: &Event, item: &Item) -> Result<(), Fault> {
        let event = Event { name: self.name.to_owned(), ..event.clone() };
        self.model.check_event(&event).map_err(|error| self.fault(error, item))
    }

    fn action(&self, action: Action, item: &Item) -> Result<Action, Fault> {
        let event = Event::at([self.model.t0()]).named(self.name).does(action.clone());
        self.model.check_event(&event).map_err(|error| self.fault(error, item))?;
        Ok(action)
    }

    /// The place of a formula is inside its string.
    fn fault(&self, error: ModelError, item: &Item) -> Fault {
        let pass = self.scope.pass();
        if let ModelError::Formula { what, source, .. } = &error {
            let component = what.strip_suffix(']').and_then(|what| what.rsplit_once('['));
            let component = component.and_then(|(_, index)| index.parse::<usize>().ok());
            let entry = item.as_array().zip(component).and_then(|(items, i)| items.get(i));
            let item = entry.unwrap_or(item);
            let plain = item.as_text().is_some_and(|text| !text.contains('{'));
            let place: &Place = &item.place;
            let fault = Fault::new(place, (**source).clone()).repeated(pass);
            return if plain { fault.inside(source.span()) } else { fault };
        }
        Fault::new(&item.place, error).repeated(pass)
    }
}
