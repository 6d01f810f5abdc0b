//! Events of a model, and what happened in a run.

use crate::model::{PyLaw, PyModel};
use crate::{errors, operator};
use pyo3::prelude::*;
use saltus::model::{Action, Event, Model, Term, Trigger};
use saltus::sim::{EventRecord, Value};

/// One change that an event makes.
#[pyclass(frozen, name = "Action", module = "saltus._saltus")]
pub struct PyAction {
    action: Action,
    is_python: bool, // a coefficient of a law is a Python function
}

impl From<Action> for PyAction {
    fn from(action: Action) -> Self {
        PyAction { action, is_python: false }
    }
}

#[pymethods]
impl PyAction {
    #[staticmethod]
    fn set_state(system: String, quantity: String, values: Vec<String>) -> PyAction {
        let values = values.into_iter().map(Term).collect();
        Action::SetState { system, quantity, values }.into()
    }

    #[staticmethod]
    fn set_parameter(parameter: String, value: String) -> PyAction {
        Action::SetParameter { parameter, value: Term(value) }.into()
    }

    #[staticmethod]
    fn set_law(interaction: String, law: &PyLaw) -> PyAction {
        let action = Action::SetLaw { interaction, law: law.law.clone() };
        PyAction { action, is_python: law.is_python }
    }

    #[staticmethod]
    fn connect(interaction: String) -> PyAction {
        Action::Connect(interaction).into()
    }

    #[staticmethod]
    fn disconnect(interaction: String) -> PyAction {
        Action::Disconnect(interaction).into()
    }

    #[staticmethod]
    fn stop() -> PyAction {
        Action::Stop.into()
    }
}

/// The parameters of a model with their values.
#[pyfunction]
pub fn model_parameters(model: &PyModel) -> Vec<(String, f64)> {
    model.model.parameters().map(|(name, value)| (name.to_string(), value)).collect()
}

/// Adds a parameter that events may read and change.
#[pyfunction]
pub fn add_parameter(mut model: PyRefMut<'_, PyModel>, name: String, value: f64) {
    model.model.add_parameter(name, value);
}

/// Says whether an interaction acts from the beginning.
#[pyfunction]
pub fn set_active(
    py: Python<'_>,
    mut model: PyRefMut<'_, PyModel>,
    name: &str,
    active: bool,
) -> PyResult<()> {
    let id = model.model.interaction_id(name).map_err(|error| errors::model(py, error))?;
    model.model.set_active(id, active);
    // with its parts
    let part = format!("{name}.");
    let names = model.model.interactions().map(|(name, _)| name.to_string());
    let parts: Vec<_> = names.filter(|one| one.starts_with(&part)).collect();
    for one in parts {
        let id = model.model.interaction_id(&one).map_err(|error| errors::model(py, error))?;
        model.model.set_active(id, active);
    }
    Ok(())
}

/// Adds an event with one of the triggers; returns its name.
#[pyfunction]
#[pyo3(signature = (model, actions, name=None, once=false, when=None, at=None, every=None, start=None))]
#[allow(clippy::too_many_arguments)] // those of an event
pub fn add_event(
    py: Python<'_>,
    mut model: PyRefMut<'_, PyModel>,
    actions: Vec<PyRef<'_, PyAction>>,
    name: Option<String>,
    once: bool,
    when: Option<String>,
    at: Option<Vec<f64>>,
    every: Option<f64>,
    start: Option<f64>,
) -> PyResult<String> {
    let trigger = match (when, at, every) {
        (Some(condition), None, None) => Trigger::When(condition),
        (None, Some(times), None) => Trigger::At(times),
        (None, None, Some(period)) => Trigger::Every { period, start },
        _ => return Err(errors::input("an event has one of `when`, `at` and `every`")),
    };
    let is_python = actions.iter().any(|action| action.is_python);
    let actions = actions.iter().map(|action| action.action.clone()).collect();
    let event = Event { name: name.unwrap_or_default(), trigger, once, actions };
    model.model.add_event(event).map_err(|error| errors::model(py, error))?;
    model.is_python |= is_python;
    Ok(model.model.events().last().map_or_else(String::new, |event| event.name.clone()))
}

/// Names of the events of a model.
#[pyfunction]
pub fn model_events(model: &PyModel) -> Vec<String> {
    model.model.events().iter().map(|event| event.name.clone()).collect()
}

/// Says how a model depends on its parameters: the function gets pairs of names and values, and
/// returns the model.
#[pyfunction]
pub fn set_recipe(mut model: PyRefMut<'_, PyModel>, recipe: Py<PyAny>) {
    let before = std::mem::take(&mut model.model);
    model.model = before.with_recipe(move |set| {
        Python::attach(|py| {
            let pairs: Vec<(&str, f64)> = set.to_vec();
            let built = recipe.call1(py, (pairs,)).and_then(|built| {
                let built = built.into_bound(py);
                Ok::<Model, PyErr>(built.cast::<PyModel>()?.borrow().model.clone())
            });
            built.map_err(|error| error.value(py).to_string())
        })
    });
}

/// A model with other values of some parameters.
#[pyfunction]
pub fn with_parameters(
    py: Python<'_>,
    model: &PyModel,
    set: Vec<(String, f64)>,
) -> PyResult<PyModel> {
    operator::take_failure();
    let set: Vec<(&str, f64)> = set.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let changed = model.model.with_parameters(&set).map_err(|error| errors::model(py, error))?;
    Ok(PyModel { model: changed, is_python: model.is_python })
}

/// A copy of a model, to be changed on its own.
#[pyfunction]
pub fn copy_model(model: &PyModel) -> PyModel {
    PyModel { model: model.model.clone(), is_python: model.is_python }
}

/// A number, or the name of a law.
#[derive(IntoPyObject)]
pub enum PyValue {
    Number(f64),
    Name(String),
}

impl From<&Value> for PyValue {
    fn from(value: &Value) -> Self {
        match value {
            Value::Number(value) => PyValue::Number(*value),
            Value::Name(name) => PyValue::Name(name.clone()),
        }
    }
}

/// Time, kind, name, interaction, and what changed: of what, before, after.
pub type PyEvent = (f64, &'static str, String, String, Vec<(String, PyValue, PyValue)>);

/// What happened, for Python.
pub fn records(events: &[EventRecord]) -> Vec<PyEvent> {
    let record = |event: &EventRecord| {
        let changes = event.changes.iter();
        let changes = changes.map(|c| (c.what.clone(), (&c.before).into(), (&c.after).into()));
        let (name, interaction) = (event.name.clone(), event.interaction.clone());
        (event.time, event.kind.name(), name, interaction, changes.collect())
    };
    events.iter().map(record).collect()
}
