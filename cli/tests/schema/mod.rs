//! Answers for programs against their published schemas, as far as JSON Schema is used there.

use std::path::Path;

use serde_json::Value;

/// What is wrong with an answer; empty if its schema in `docs/reference/cli/` describes all of it.
pub(crate) fn violations(answer: &Value) -> Vec<String> {
    let kind = answer["kind"].as_str().unwrap_or("nothing");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/reference/cli/{kind}.json"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let schema: Value = serde_json::from_str(&text).unwrap();
    let mut found = Vec::new();
    if answer["apiVersion"] != "cli.quotient.dev/v1" {
        found.push(format!("apiVersion is {}", answer["apiVersion"]));
    }
    check(&schema, &schema, answer, kind, &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#'));
        return check(root, target.expect("a definition"), value, path, found);
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[choice].as_array() {
            let fits = |one: &&Value| {
                let mut inner = Vec::new();
                check(root, one, value, path, &mut inner);
                inner.is_empty()
            };
            if !choices.iter().any(|one| fits(&one)) {
                found.push(format!("{path}: none of {choice} fits {value}"));
            }
        }
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|one| is_of_type(value, one)) {
        found.push(format!("{path}: {value} is not of type {types:?}"));
    }
    if schema["enum"].as_array().is_some_and(|values| !values.contains(value)) {
        found.push(format!("{path}: {value} is none of {}", schema["enum"]));
    }
    if !schema["const"].is_null() && schema["const"] != *value {
        found.push(format!("{path}: {value} is not {}", schema["const"]));
    }
    if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
        for (at, one) in values.iter().enumerate() {
            check(root, items, one, &format!("{path}[{at}]"), found);
        }
    }
    let Some(fields) = value.as_object() else { return };
    for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !fields.contains_key(required) {
            found.push(format!("{path}.{required} is missing"));
        }
    }
    for (name, one) in fields {
        let path = format!("{path}.{name}");
        match (schema["properties"].get(name), &schema["additionalProperties"]) {
            (Some(described), _) => check(root, described, one, &path, found),
            (None, more @ Value::Object(_)) => check(root, more, one, &path, found),
            // A field that programs may use is described.
            (None, _) if schema["properties"].is_object() => found.push(format!("{path} is not described")),
            (None, _) => {}
        }
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        _ => value.is_object(),
    }
}
