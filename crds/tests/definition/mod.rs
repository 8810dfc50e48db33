//! The definition of one kind, as it is written to its file.

#![allow(clippy::arithmetic_side_effects, reason = "what overflows fails the test")]

use quotient_crds::manifests;
use serde_json::{Value, json};

/// The definition of the kind whose CRD is called `name`.
pub(crate) fn definition(name: &str) -> Value {
    let definitions = manifests().unwrap();
    let parsed = definitions.iter().map(|manifest| serde_yaml_ng::from_str::<Value>(&manifest.text).unwrap());
    parsed.into_iter().find(|definition| definition["metadata"]["name"] == name).unwrap()
}

/// Its only version.
pub(crate) fn version(name: &str) -> Value {
    definition(name)["spec"]["versions"][0].clone()
}

/// The schema of that version.
pub(crate) fn schema(name: &str) -> Value {
    version(name)["schema"]["openAPIV3Schema"].clone()
}

/// Calls `visit` with every schema in `schema`, itself included, and its path.
pub(crate) fn each_schema(path: &str, schema: &Value, visit: &mut impl FnMut(&str, &Value)) {
    visit(path, schema);
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        each_schema(&format!("{path}.{name}"), property, visit);
    }
    for (key, mark) in [("additionalProperties", "{}"), ("items", "[]")] {
        if schema.get(key).is_some() {
            each_schema(&format!("{path}{mark}"), &schema[key], visit);
        }
    }
}

/// Every field has a description, in whole paragraphs and without links of rustdoc, and it explains every value and the
/// default of a field of the spec. Returns how many there are.
pub(crate) fn explained_fields(name: &str) -> usize {
    let mut fields = 0;
    each_schema("", &schema(name), &mut |path, schema| {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            fields += 1;
            let description = property["description"].as_str().unwrap_or_default();
            assert!(description.len() >= 20, "{path}.{name} needs a doc comment: it has {description:?}");
            assert!(!description.contains("](") && !description.contains("[`"), "{path}.{name} has a link");
            let paragraphs: Vec<&str> = description.split("\n\n").collect();
            assert!(paragraphs.iter().all(|text| !text.contains('\n')), "{path}.{name} has broken lines");
            let place = format!("{path}.{name}");
            // A selector and what a pod template has are those of Kubernetes.
            if place.starts_with(".spec.") && !place.contains("template") && !place.contains("selector") {
                let values = property["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
                for value in values {
                    assert!(description.contains(&format!("`{value}`")), "{place} does not explain {value}");
                }
                let needed = schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
                assert!(needed || description.contains("Default:"), "{place} has no word on its default");
            }
        }
    });
    fields
}
