//! The JSON schema: right files fit it, wrong ones do not.

use super::{BALL, examples, parse, replaced};
use saltus_io::model_file::schema;
use serde_json::{Value, json};

/// Whether a value fits a schema, for the few keywords that ours uses.
fn fits(value: &Value, schema: &Value, root: &Value) -> bool {
    let each = |key: &str| schema[key].as_array().into_iter().flatten();
    let is_type = |name: &str| match name {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|value| value.fract() == 0.0),
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        other => panic!("the type {other} is not known here"),
    };
    let at_least = |key: &str, found: usize| schema[key].as_u64().is_none_or(|n| found as u64 >= n);
    let properties = &schema["properties"];
    let object = value.as_object();
    schema["$ref"].as_str().is_none_or(|path| {
        let target = root.pointer(path.trim_start_matches('#'));
        fits(value, target.unwrap_or_else(|| panic!("{path} leads nowhere")), root)
    }) && schema["type"].as_str().is_none_or(is_type)
        && (schema["const"].is_null() || schema["const"] == *value)
        && (schema["enum"].is_null() || each("enum").any(|one| one == value))
        && (schema["anyOf"].is_null() || each("anyOf").any(|one| fits(value, one, root)))
        && each("required")
            .all(|key| object.is_none_or(|it| it.contains_key(key.as_str().unwrap_or(""))))
        && at_least("minItems", value.as_array().map_or(usize::MAX, Vec::len))
        && value
            .as_array()
            .into_iter()
            .flatten()
            .all(|item| schema["items"].is_null() || fits(item, &schema["items"], root))
        && object.into_iter().flatten().all(|(key, item)| match properties.get(key) {
            Some(property) => fits(item, property, root),
            None if schema["additionalProperties"] == json!(false) => false,
            None if schema["additionalProperties"].is_null() => true,
            None => fits(item, &schema["additionalProperties"], root),
        })
}

fn to_json(text: &str) -> Value {
    let table: toml::Table = text.parse().expect("TOML");
    serde_json::to_value(table).expect("no infinities")
}

#[test]
fn examples_fit() {
    let schema = schema();
    assert!(fits(&to_json(BALL), &schema, &schema));
    for path in examples::all() {
        let text = std::fs::read_to_string(&path).expect("an example");
        assert!(fits(&to_json(&text), &schema, &schema), "{}", path.display());
    }
}

#[test]
fn wrong_files_do_not() {
    let schema = schema();
    for (from, to) in [
        ("theta = 0.5", "thta = 0.5"),
        ("\"moreau-jean\"", "\"moreau-jaen\""),
        ("kind = \"lagrangian-linear\"\n", ""),
        ("h = 5e-3\n", ""),
        ("h = 5e-3\n", "h = 5e-3\nrtol = 1e-9\n"),
        ("\"time-stepping\" ", "\"event-driven\" "),
        ("e = 0.9", ""),
        ("q0 = [1.0, 0.0, 0.0]", "q0 = 1"),
        ("[[1, 0, 0], [0, 1", "[1, [0, 1"),
        ("{ kind = \"newton-impact\", e = 0.9 }", "\"newton-impact\""),
        ("[[system]]", "[system]"),
    ] {
        let text = replaced(BALL, from, to);
        assert!(!fits(&to_json(&text), &schema, &schema), "{to}");
        assert!(parse(&text).is_err(), "{to}");
    }
}

#[test]
fn everything_is_described() {
    let schema = schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let theta = &schema["$defs"]["integrator"]["anyOf"][1]["properties"]["theta"];
    assert_eq!(theta["default"], 0.5); // of the Rust struct
    let mut waiting = vec![&schema];
    let mut described = 0;
    while let Some(value) = waiting.pop() {
        for (name, property) in value["properties"].as_object().into_iter().flatten() {
            assert!(
                name == "kind" || property["description"].as_str().is_some_and(|it| !it.is_empty()),
                "{name}"
            );
            described += 1;
        }
        match value {
            Value::Object(object) => waiting.extend(object.values()),
            Value::Array(items) => waiting.extend(items),
            _ => {}
        }
    }
    assert!(described > 50);
}
