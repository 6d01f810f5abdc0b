//! `[simulation]`: strategy, integrators, solver, times and output.

use super::error::{ErrorKind, Fault};
use super::fields::Fields;
use super::scope::Scope;
use super::tree::{Item, Value};
use super::vocabulary::{Form, SectionId, default_integrator};
use super::{Output, Samples, Simulation, Strategy};
use saltus_expr::nearest;
use saltus_model::{Model, Order};
use saltus_numerics::{NumericsError, Solver};
use saltus_sim::{
    AdaptiveSettings, EventSettings, Integrator, Layout, NewtonSettings, Signal, SignalError,
    SimError, check_scene, signals_of,
};
use serde::de::DeserializeOwned;

/// Reads `[simulation]` for a model.
pub(crate) fn simulation(fields: &Fields, model: &Model) -> Result<Simulation, Fault> {
    let strategy = strategy(fields)?;
    let stepping = strategy == Strategy::TimeStepping;
    let simulation = Simulation {
        strategy,
        integrators: if stepping { integrators(fields, model)? } else { Vec::new() },
        solver: solver(fields)?,
        newton: if stepping { newton(fields)? } else { NewtonSettings::default() },
        h: if stepping { fields.number("h")? } else { f64::NAN },
        tolerances: match strategy {
            Strategy::EventDriven => tolerances(fields)?,
            _ => EventSettings::default(),
        },
        adaptive: match strategy {
            Strategy::Adaptive => adaptive(fields)?,
            _ => AdaptiveSettings::default(),
        },
        until: fields.number("until")?,
        output: output(fields, model, strategy)?,
    };
    let Simulation { h, until, .. } = simulation;
    if stepping && !(h > 0.0) {
        return Err(range(fields, "h", h, "a positive number"));
    }
    if until < model.t0() {
        return Err(range(fields, "until", until, format!("at least t0 = {}", model.t0())));
    }
    if stepping && until + h == until {
        return Err(range(
            fields,
            "h",
            h,
            format!("a step that is not lost in rounding at t = {until}"),
        ));
    }
    if stepping {
        scene(fields, model, &simulation)?;
    }
    Ok(simulation)
}

/// Settings that a scene has no use for, or that cannot be used for it.
fn scene(fields: &Fields, model: &Model, simulation: &Simulation) -> Result<(), Fault> {
    let Simulation { integrators, newton, solver, .. } = simulation;
    let (key, owner, reason) = match check_scene(model, integrators, *newton, solver) {
        Err(SimError::Unsuited { integrator, owner, what, needs }) => {
            let key = if what == "`newton`" { "newton" } else { "integrator" };
            (key, owner, format!("{integrator} needs {what} to be {needs}"))
        }
        Err(SimError::Numerics(error)) => ("solver", "solver".to_owned(), error.to_string()),
        // how integrators share the systems is looked at when it runs
        _ => return Ok(()),
    };
    let place = fields.place_of(key).unwrap_or(fields.place);
    Err(Fault::new(place, ErrorKind::Settings { owner, reason }))
}

fn range(fields: &Fields, key: &str, value: f64, allowed: impl Into<String>) -> Fault {
    let place = fields.place_of(key).unwrap_or(fields.place);
    Fault::new(place, ErrorKind::Range { what: key.to_owned(), value, allowed: allowed.into() })
}

/// The strategy, which has all the keys that are there. One that is set from outside leaves the
/// keys of the file's own strategy aside.
fn strategy(fields: &Fields) -> Result<Strategy, Fault> {
    let name = fields.choice("strategy", "strategy")?;
    let strategy = name.and_then(Strategy::from_name).unwrap_or_default();
    let is_set = |key: &str| fields.get(key).is_some_and(|item| item.place.is_override());
    let others = Strategy::NAMES.iter().filter_map(|name| Strategy::from_name(name));
    for key in others.filter(|other| *other != strategy).flat_map(Strategy::own_keys) {
        let is_known = strategy.own_keys().contains(key);
        if fields.get(key).is_none() || is_known || (is_set("strategy") && !is_set(key)) {
            continue;
        }
        let (key, name, known) = (key.to_string(), strategy.name(), strategy.own_keys());
        let place = fields.place_of(&key).unwrap_or(fields.place);
        return Err(Fault::new(place, ErrorKind::OtherStrategy { key, strategy: name, known }));
    }
    Ok(strategy)
}

fn tolerances(fields: &Fields) -> Result<EventSettings, Fault> {
    let settings = EventSettings { rtol: fields.number("rtol")?, atol: fields.number("atol")? };
    settings.check().map_err(|error| outside(fields, &error))?;
    Ok(settings)
}

fn adaptive(fields: &Fields) -> Result<AdaptiveSettings, Fault> {
    let settings = AdaptiveSettings { tol: fields.number("tol")? };
    settings.check().map_err(|error| outside(fields, &error))?;
    Ok(settings)
}

/// A setting outside its range.
fn outside(fields: &Fields, error: &SimError) -> Fault {
    match error {
        SimError::Setting { field, value, allowed, .. } => range(fields, field, *value, *allowed),
        error => setting(fields, error.to_string()),
    }
}

fn newton(fields: &Fields) -> Result<NewtonSettings, Fault> {
    let Some(item) = fields.get("newton") else {
        return Ok(NewtonSettings::default());
    };
    let fields = Fields::open(item, SectionId::Newton, "newton".to_owned(), fields.scope)?;
    let newton: NewtonSettings = settings(&fields)?;
    newton.check().map_err(|error| match error {
        SimError::Setting { field, value, allowed, .. } => range(&fields, field, value, allowed),
        error => setting(&fields, error.to_string()),
    })?;
    Ok(newton)
}

/// The orders of the systems in a model.
fn orders(model: &Model) -> Vec<Order> {
    let has = |order: &Order| model.systems().any(|(_, system)| system.order() == *order);
    [Order::First, Order::Second].into_iter().filter(has).collect()
}

/// The first integrator for systems of an order, with its default settings.
fn integrator_for(order: Order) -> Option<Integrator> {
    let all = Integrator::NAMES.into_iter().filter_map(default_integrator);
    all.into_iter().find(|integrator| integrator.order() == order)
}

/// One integrator for each order of systems: the given ones, and defaults.
fn integrators(fields: &Fields, model: &Model) -> Result<Vec<Integrator>, Fault> {
    let orders = orders(model);
    let given: &[Item] = match fields.get("integrator") {
        None => &[],
        Some(Item { value: Value::Array(items), .. }) => items,
        Some(item) => std::slice::from_ref(item),
    };
    let default = match orders.as_slice() {
        &[order] => integrator_for(order).map(|integrator| integrator.name()),
        _ => None,
    };

    let mut integrators: Vec<Integrator> = Vec::new();
    for item in given {
        let owner = "integrator".to_owned();
        let fields = Fields::open_with(item, SectionId::Integrator, owner, fields.scope, default)?;
        let integrator: Integrator = settings(&fields)?;
        integrator.check().map_err(|error| match error {
            SimError::Setting { field, value, allowed, .. } => {
                range(&fields, field, value, allowed)
            }
            error => setting(&fields, error.to_string()),
        })?;

        let (name, order) = (integrator.name(), integrator.order());
        let mut refuse = None;
        if !orders.contains(&order) {
            refuse = Some("of which the model has none");
        } else if integrator.systems().is_empty()
            && integrators.iter().any(|other| other.order() == order && other.systems().is_empty())
        {
            refuse = Some("which have one already");
        }
        if let Some(why) = refuse {
            let place = fields.place_of("kind").unwrap_or(&item.place);
            let kind = ErrorKind::Integrator { name, order: order.name(), why };
            return Err(Fault::new(place, kind));
        }
        for system in integrator.systems() {
            let found =
                model.system_id(system).map_err(|error| setting(&fields, error.to_string()))?;
            if model.system(found).is_ok_and(|system| system.order() != order) {
                let (integrator, system) = (name, system.clone());
                let error = SimError::OtherOrder { integrator, system, order: order.name() };
                return Err(setting(&fields, error.to_string()));
            }
        }
        integrators.push(integrator);
    }
    for order in orders {
        if !integrators.iter().any(|integrator| integrator.order() == order) {
            integrators.extend(integrator_for(order));
        }
    }
    Ok(integrators)
}

fn solver(fields: &Fields) -> Result<Solver, Fault> {
    let Some(item) = fields.get("solver") else {
        return Ok(Solver::default());
    };
    let fields = Fields::open(item, SectionId::Solver, "solver".to_owned(), fields.scope)?;
    let solver: Solver = settings(&fields)?;
    solver.check().map_err(|error| match error {
        NumericsError::Setting { field, value, allowed } => range(&fields, field, value, allowed),
        error => setting(&fields, error.to_string()),
    })?;
    Ok(solver)
}

/// Settings that their struct refuses, in its words.
fn setting(fields: &Fields, reason: String) -> Fault {
    Fault::new(fields.place, ErrorKind::Settings { owner: fields.name().to_owned(), reason })
}

/// Settings from the keys of their table: names and defaults are serde's.
fn settings<T: DeserializeOwned>(fields: &Fields) -> Result<T, Fault> {
    let mut object = serde_json::Map::new();
    if !fields.kind().is_empty() {
        object.insert("kind".to_owned(), fields.kind().into());
    }
    for key in fields.keys() {
        let Some(item) = fields.get(&key.name) else {
            continue;
        };
        let value = match key.form {
            Form::Count => fields.scope.count(item, &key.name)?.into(),
            Form::Number => fields.scope.number(item, &key.name)?.into(),
            Form::Flag => fields.flag(item, &key.name)?.into(),
            Form::Signals => names(fields, item, &key.name)?.into(),
            Form::Choice(_) => fields.choice(&key.name, &key.name)?.into(),
            _ => fields.text(&key.name)?.into(),
        };
        object.insert(key.name.clone(), value);
    }
    serde_json::from_value(object.into()).map_err(|error| setting(fields, error.to_string()))
}

/// An array of names.
fn names(fields: &Fields, item: &Item, key: &str) -> Result<Vec<String>, Fault> {
    let Some(items) = item.as_array() else {
        return Err(fields.scope.wrong_type(item, key, "an array of names"));
    };
    items.iter().map(|item| super::repetition::expand(item, key, fields.scope)).collect()
}

fn output(fields: &Fields, model: &Model, strategy: Strategy) -> Result<Output, Fault> {
    let until = fields.number("until")?;
    let Some(item) = fields.get("output") else {
        return Ok(Output::default());
    };
    let fields = Fields::open(item, SectionId::Output, "output".to_owned(), fields.scope)?;
    let every = fields.count("every")?;
    if every == 0 {
        return Err(range(&fields, "every", 0.0, "at least 1"));
    }
    let samples = samples(&fields, model.t0(), until)?;
    if samples.is_some() && !strategy.has_samples() {
        let place = fields.place_of("samples").unwrap_or(fields.place);
        let (key, strategy) = ("samples".to_owned(), strategy.name());
        let kind = ErrorKind::OtherStrategy { key, strategy, known: &["every"] };
        return Err(Fault::new(place, kind));
    }
    if samples.is_some() && fields.get("every").is_some() {
        return Err(setting(&fields, "`every` counts steps, and `samples` are none".to_owned()));
    }
    Ok(Output { every, samples, signals: signals(&fields, model)? })
}

/// A number of samples, or instants that increase from `t0` to `until`.
fn samples(fields: &Fields, t0: f64, until: f64) -> Result<Option<Samples>, Fault> {
    let Some(item) = fields.get("samples") else {
        return Ok(None);
    };
    if item.as_array().is_none() {
        let count = fields.count("samples")?;
        if !(2..1 << 31).contains(&count) {
            let allowed = "a number of samples from 2 to 2^31 - 1, or instants";
            return Err(range(fields, "samples", count as f64, allowed));
        }
        return Ok(Some(Samples::Count(count)));
    }
    let instants = fields.bounds("samples")?;
    let mut before = f64::NEG_INFINITY;
    for (i, &t) in instants.iter().enumerate() {
        if !(t > before && t >= t0 && t <= until) {
            let place = fields.place_of("samples").unwrap_or(fields.place);
            let allowed = format!("instants that increase from t0 = {t0} to until = {until}");
            let what = format!("samples[{i}]");
            return Err(Fault::new(place, ErrorKind::Range { what, value: t, allowed }));
        }
        before = t;
    }
    Ok(Some(Samples::Instants(instants)))
}

/// The signals to record, each of which the model has.
fn signals(fields: &Fields, model: &Model) -> Result<Option<Vec<String>>, Fault> {
    let Some(item) = fields.get("signals") else {
        return Ok(None);
    };
    let Some(items) = item.as_array() else {
        let expected = "an array of signals such as \"ball.q\"";
        return Err(fields.scope.wrong_type(item, "signals", expected));
    };
    let layout = signals_of(model);
    let signal = |item: &Item| {
        let path = super::repetition::expand(item, "signals", fields.scope)?;
        // a bare name stands for all signals of its owner
        if !layout.signals.iter().any(|signal| signal.owner == path) {
            layout
                .find(&path)
                .map_err(|error| fields.scope.fault(item, signal_error(error, &layout)))?;
        }
        Ok(path)
    };
    items.iter().map(signal).collect::<Result<_, _>>().map(Some)
}

/// The error of a signal, with the nearest one there is.
fn signal_error(error: SignalError, layout: &Layout) -> ErrorKind {
    let SignalError::Unknown { path, .. } = error else {
        return error.into();
    };
    let mut known: Vec<String> = layout.signals.iter().map(Signal::path).collect();
    let nearest = nearest(&path, known.iter().map(String::as_str)).map(str::to_owned);
    known.truncate(13);
    ErrorKind::UnknownSignal { path, nearest, known }
}

/// Opens `[simulation]`, which has to be there.
pub(crate) fn open<'a>(item: &'a Item, scope: &'a Scope<'a>) -> Result<Fields<'a>, Fault> {
    Fields::open(item, SectionId::Simulation, "[simulation]".to_owned(), scope)
}
