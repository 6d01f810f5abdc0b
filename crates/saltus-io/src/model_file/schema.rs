//! The JSON schema of model files, made from the vocabulary.

use super::Strategy;
use super::vocabulary::{Absent, Form, Key, Kind, Section, SectionId, vocabulary};
use serde_json::{Map, Value, json};

/// The JSON schema (draft 2020-12) of model files, as editors use it to complete and check TOML.
pub fn schema() -> Value {
    let mut schema = object(vocabulary().section(SectionId::File), None);
    let definitions = vocabulary()
        .sections()
        .iter()
        .map(|section| (definition(section.id).to_owned(), section_schema(section)));
    let mut definitions: Map<String, Value> = definitions.collect();
    definitions.remove(definition(SectionId::File));
    for (name, value) in forms() {
        definitions.insert(name.to_owned(), value);
    }
    if let Value::Object(schema) = &mut schema {
        schema.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
        schema.insert("title".to_owned(), "Saltus model file".into());
        schema.insert("$defs".to_owned(), definitions.into());
    }
    schema
}

/// The name of a section in `$defs`.
fn definition(id: SectionId) -> &'static str {
    match id {
        SectionId::File => "file",
        SectionId::Simulation => "simulation",
        SectionId::Output => "output",
        SectionId::System => "system",
        SectionId::Interaction => "interaction",
        SectionId::Relation => "relation",
        SectionId::Law => "law",
        SectionId::Integrator => "integrator",
        SectionId::Solver => "solver",
        SectionId::Newton => "newton",
        SectionId::VectorEntries => "vector-by-formula",
        SectionId::MatrixEntries => "matrix-by-formula",
        SectionId::MatrixDiagonal => "matrix-by-diagonal",
        SectionId::MatrixIdentity => "identity-matrix",
        SectionId::Event => "event",
        SectionId::Extras => "joint-extras",
        SectionId::Scene => "scene",
        SectionId::Material => "material",
        SectionId::Contact => "contact",
        SectionId::Static => "static",
        SectionId::Drive => "drive",
        SectionId::Body => "body",
        SectionId::Joint => "joint",
        SectionId::Shape => "shape",
        SectionId::Spring => "spring",
        SectionId::Motor => "motor",
    }
}

/// The forms that numbers and arrays of them have.
fn forms() -> [(&'static str, Value); 5] {
    let formula = json!({ "type": "string", "minLength": 1 });
    [
        ("number", json!({ "anyOf": [{ "type": "number" }, formula] })),
        ("count", json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, formula] })),
        ("numbers", json!({ "type": "array", "items": reference("number") })),
        (
            "vector",
            json!({ "anyOf": [reference("numbers"), formula, section_reference(SectionId::VectorEntries)] }),
        ),
        (
            "matrix",
            json!({ "anyOf": [
                { "type": "array", "items": reference("numbers") },
                formula,
                section_reference(SectionId::MatrixEntries),
                section_reference(SectionId::MatrixDiagonal),
                section_reference(SectionId::MatrixIdentity),
            ] }),
        ),
    ]
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn section_reference(id: SectionId) -> Value {
    reference(definition(id))
}

/// A table: one object, or one for each kind, or a kind's name.
fn section_schema(section: &Section) -> Value {
    if section.id == SectionId::Simulation {
        let strategies = Strategy::NAMES.iter().filter_map(|name| Strategy::from_name(name));
        let options: Vec<Value> = strategies.map(|one| simulation(section, one)).collect();
        return json!({ "description": section.doc, "anyOf": options });
    }
    if section.kinds.is_empty() {
        return object(section, None);
    }
    let mut options: Vec<Value> =
        section.kinds.iter().map(|kind| object(section, Some(kind))).collect();
    if section.kind_alone {
        let is_complete = |kind: &&Kind| kind.keys.iter().all(|key| key.absent != Absent::Refused);
        let names: Vec<&str> =
            section.kinds.iter().filter(is_complete).map(|kind| kind.name).collect();
        options.push(json!({ "enum": names }));
    }
    json!({ "description": section.doc, "anyOf": options })
}

/// A table with its keys, and those of a kind.
fn object(section: &Section, kind: Option<&Kind>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    if let Some(kind) = kind {
        properties.insert("kind".to_owned(), json!({ "const": kind.name }));
        if kind_is_needed(section, kind) {
            required.push("kind");
        }
    }
    for key in section.keys_with(kind) {
        properties.insert(key.name.clone(), property(key));
        if key.absent == Absent::Refused {
            required.push(&key.name);
        }
    }
    json!({
        "description": kind.map_or(section.doc, |kind| kind.doc),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// `[simulation]` with the keys of one strategy.
fn simulation(section: &Section, strategy: Strategy) -> Value {
    let mut schema = object(section, None);
    let all = Strategy::NAMES.iter().filter_map(|name| Strategy::from_name(name));
    let others = all.flat_map(Strategy::own_keys).filter(|key| !strategy.own_keys().contains(key));
    if let Some(properties) = schema["properties"].as_object_mut() {
        others.for_each(|key| drop(properties.remove(*key)));
        properties["strategy"] = json!({ "const": strategy.name(), "description": "the strategy" });
    }
    let needed = if strategy == Strategy::TimeStepping { "h" } else { "strategy" };
    if let Some(required) = schema["required"].as_array_mut() {
        required.push(needed.into());
    }
    schema
}

/// An integrator may be left to the model's order, a solver to its default.
fn kind_is_needed(section: &Section, kind: &Kind) -> bool {
    section.id != SectionId::Integrator && section.default_kind != Some(kind.name)
}

/// A key: its form, what it is for, what its absence means.
fn property(key: &Key) -> Value {
    let mut property = form(&key.form);
    if let Value::Object(property) = &mut property {
        let description = match &key.absent {
            Absent::Words(absent) => format!("{}; if absent: {absent}", key.doc),
            _ => key.doc.to_owned(),
        };
        property.insert("description".to_owned(), description.into());
        if let Absent::Value(default) = &key.absent {
            property.insert("default".to_owned(), default.clone());
        }
    }
    property
}

fn form(form: &Form) -> Value {
    match form {
        Form::Text | Form::Name => json!({ "type": "string" }),
        Form::Links => {
            json!({ "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 2 })
        }
        Form::Repetition => json!({ "type": "string", "pattern": r"^\s*\w+\s+in\s.*\.\." }),
        Form::Signals => json!({ "type": "array", "items": { "type": "string" } }),
        Form::Pairs => json!({
            "type": "array",
            "items": {
                "type": "array", "items": { "type": "string" }, "minItems": 2, "maxItems": 2,
            },
        }),
        Form::Choice(names) => json!({ "enum": names }),
        Form::Number | Form::Entry | Form::Coefficient(_) => reference("number"),
        Form::Count => reference("count"),
        Form::Flag => json!({ "type": "boolean" }),
        Form::Bounds => json!({ "anyOf": [reference("number"), reference("numbers")] }),
        Form::Samples => json!({ "anyOf": [reference("count"), reference("numbers")] }),
        Form::Vector(_) => reference("vector"),
        Form::Matrix(_) => reference("matrix"),
        Form::VectorOrMatrix => json!({ "anyOf": [reference("vector"), reference("matrix")] }),
        Form::Moments => json!({
            "anyOf": [reference("number"), reference("vector"), reference("matrix")],
        }),
        Form::Points => json!({
            "type": "array",
            "items": {
                "type": "array", "items": reference("number"), "minItems": 2, "maxItems": 2,
            },
        }),
        Form::Parameters => json!({
            "type": "object",
            "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" },
            "additionalProperties": reference("number"),
        }),
        Form::Values => json!({
            "type": "object",
            "additionalProperties": {
                "anyOf": [reference("number"), reference("numbers"), { "type": "object" }],
            },
        }),
        Form::ByName(id) => {
            json!({ "type": "object", "additionalProperties": section_reference(*id) })
        }
        Form::Table(id) | Form::Kind(id) => section_reference(*id),
        Form::Tables(id) => {
            json!({ "type": "array", "items": section_reference(*id), "minItems": 1 })
        }
        Form::Kinds(id) => {
            let one = section_reference(*id);
            json!({ "anyOf": [one, { "type": "array", "items": one }] })
        }
    }
}
