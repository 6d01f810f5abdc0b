//! What stands beside a scene in a model file: systems, interactions and events, kept as text so that
//! they can be added again once the scene was changed.

use super::write::{array, number, string};
use crate::model_file::error::{ErrorKind, Fault, ModelFileError};
use crate::model_file::scope::{Limits, Scope};
use crate::model_file::source::{Place, Source};
use crate::model_file::tree::{self, Item, Table, Value};
use crate::model_file::{build, events, parameters};
use saltus_mechanics::Scene;
use saltus_model::{Action, Model};
use std::fmt::Write;

/// The tables that may stand beside a scene.
const TABLES: [&str; 3] = ["system", "interaction", "event"];

/// The `[[system]]`, `[[interaction]]` and `[[event]]` of a model file, as the text of a model file; nothing
/// where there are none.
pub(crate) fn tables_beside(text: &str, name: &str) -> Result<String, ModelFileError> {
    let file = tree::document(text).map_err(|fault| fault.locate(&[source(text, name)]))?;
    let mut out = String::new();
    for key in TABLES {
        let tables = file.get(key).and_then(Item::as_array).unwrap_or(&[]);
        for table in tables.iter().filter_map(Item::as_table) {
            let _ = writeln!(out, "\n[[{key}]]");
            for entry in &table.entries {
                let _ = writeln!(out, "{} = {}", name_of(&entry.key), value(&entry.item));
            }
        }
    }
    Ok(out)
}

/// The model of a scene with what stands beside it: the text of `[[system]]`, `[[interaction]]` and
/// `[[event]]` tables, whose formulas may use the parameters of the scene.
pub fn scene_model(scene: &Scene, beside: &str) -> Result<Model, ModelFileError> {
    let mut text = String::from("[parameters]\n");
    for (name, value) in &scene.parameters {
        let _ = writeln!(text, "{name} = {}", number(*value));
    }
    text.push_str(beside);
    let name = format!("beside the scene `{}`", scene.title);
    together(scene, &text).map_err(|fault| fault.locate(&[source(&text, &name)]))
}

fn together(scene: &Scene, text: &str) -> Result<Model, Fault> {
    let start = Place { source: 0, span: 0..0 };
    let file = tree::document(text)?;
    let known = file.entries.iter().find(|entry| {
        let key = entry.key.as_str();
        key != "parameters" && !TABLES.contains(&key)
    });
    if let Some(entry) = known {
        let (what, found) = (entry.key.clone(), entry.item.in_words().to_owned());
        let expected = "[[system]], [[interaction]] or [[event]]".to_owned();
        return Err(Fault::new(&entry.key_place, ErrorKind::Type { what, expected, found }));
    }
    let parameters = parameters::evaluate(file.get("parameters"))?;
    let limits = Limits::default();
    let scope = Scope { parameters: &parameters, variable: None, limits: &limits };
    let mut model = Model::new(&*scene.title);
    build::add_systems(&file, &mut model, &scope)?;
    scene.add_bodies(&mut model).map_err(|error| Fault::new(&start, error))?;
    build::connect(&file, &mut model, &scope)?;
    scene.complete(&mut model).map_err(|error| Fault::new(&start, error))?;
    events::add_events(&file, &mut model, &scope)?;
    Ok(model)
}

/// Whether an event of the model sets a parameter.
pub(crate) fn sets_parameters(model: &Model) -> bool {
    let mut actions = model.events().iter().flat_map(|event| &event.actions);
    actions.any(|action| matches!(action, Action::SetParameter { .. }))
}

fn source(text: &str, name: &str) -> Source {
    Source { name: name.to_owned(), text: text.to_owned(), is_file: true }
}

/// A key, in quotes where it needs them.
fn name_of(key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !key.is_empty() && key.chars().all(is_bare) {
        true => key.to_owned(),
        false => string(key),
    }
}

fn value(item: &Item) -> String {
    match &item.value {
        Value::Text(text) => string(text),
        Value::Number(value) => number(*value),
        Value::Boolean(value) => value.to_string(),
        Value::Date => string(""), // no key is a date, and what was read has none
        Value::Array(items) => array(items.iter().map(value)),
        Value::Table(table) => inline(table),
    }
}

fn inline(table: &Table) -> String {
    let entries = table.entries.iter();
    let entries = entries.map(|entry| format!("{} = {}", name_of(&entry.key), value(&entry.item)));
    format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
}
