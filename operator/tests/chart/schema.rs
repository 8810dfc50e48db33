//! `values.schema.json`: types from the defaults, sentences and bounds from the comments.

use serde_json::{Map, Value, json};

use crate::values::Key;

/// The schema's text.
pub(crate) fn schema(keys: &[Key]) -> String {
    let mut root = group();
    for key in keys {
        let mut names: Vec<&str> = key.path.split('.').collect();
        let last = names.pop().unwrap();
        let parent = names.iter().fold(&mut root, |parent, name| {
            let properties = parent["properties"].as_object_mut().unwrap();
            properties.entry(*name).or_insert_with(group)
        });
        parent["properties"][last] = property(key);
    }
    // Helm hands these to every chart.
    root["properties"]["global"] = json!({"type": "object", "description": "Helm's own; not used"});
    root["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    root["title"] = json!("Values of the chart quotient");
    format!("{root:#}\n")
}

fn group() -> Value {
    json!({"type": "object", "additionalProperties": false, "properties": {}})
}

fn property(key: &Key) -> Value {
    use serde_yaml_ng::Value as Default;
    let kind = match &key.default {
        Default::Bool(_) => "boolean",
        Default::Number(_) => "integer",
        Default::String(_) => "string",
        Default::Sequence(_) => "array",
        Default::Mapping(_) => "object",
        other => panic!("{}: a schema cannot be made of {other:?}", key.path),
    };
    let mut property = Map::new();
    property.insert("type".to_owned(), json!(kind));
    property.insert("description".to_owned(), json!(key.description));
    property.insert("default".to_owned(), serde_json::to_value(&key.default).unwrap());
    if let Some(Value::Object(more)) = &key.schema {
        property.extend(more.clone());
    }
    Value::Object(property)
}
