//! What the API server and kubectl need of the definitions, as they are written to their files.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects, reason = "what overflows fails the test")]

use kube::{CustomResourceExt, Resource};
use quotient_crds::{ConditionType, Queue, QueueJob, QueueJobCondition, manifests, names};
use serde_json::{Value, json};

const QUEUE: &str = "queues.quotient.dev";
const QUEUE_JOB: &str = "queuejobs.quotient.dev";

/// The definition of the kind whose CRD is called `name`.
fn definition(name: &str) -> Value {
    let definitions = manifests().unwrap();
    let parsed = definitions.iter().map(|manifest| serde_yaml_ng::from_str::<Value>(&manifest.text).unwrap());
    parsed.into_iter().find(|definition| definition["metadata"]["name"] == name).unwrap()
}

/// Its only version.
fn version(name: &str) -> Value {
    definition(name)["spec"]["versions"][0].clone()
}

/// The schema of that version.
fn schema(name: &str) -> Value {
    version(name)["schema"]["openAPIV3Schema"].clone()
}

/// Calls `visit` with every schema in `schema`, itself included, and its path.
fn each_schema(path: &str, schema: &Value, visit: &mut impl FnMut(&str, &Value)) {
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
fn explained_fields(name: &str) -> usize {
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

#[test]
fn the_names_are_the_constants() {
    assert_eq!((Queue::crd_name(), QueueJob::crd_name()), (QUEUE, QUEUE_JOB));
    for of_kind in [
        [Queue::group(&()), Queue::version(&()), Queue::api_version(&())],
        [QueueJob::group(&()), QueueJob::version(&()), QueueJob::api_version(&())],
    ] {
        assert_eq!(of_kind, [names::GROUP, names::VERSION, names::API_VERSION]);
    }
}

#[test]
fn every_field_is_explained() {
    for (name, least) in [(QUEUE, 30), (QUEUE_JOB, 40)] {
        let fields = explained_fields(name);
        assert!(fields > least, "only {fields} fields of {name} were visited");
    }
    assert!(schema(QUEUE)["description"].as_str().unwrap().starts_with("A Queue gives"));
}

#[test]
fn every_rule_says_what_to_do_on_one_line() {
    for name in [QUEUE, QUEUE_JOB] {
        each_schema("", &schema(name), &mut |path, schema| {
            for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
                let message = rule["message"].as_str().unwrap();
                assert!(!message.contains('\n') && !message.contains("  "), "{path}: {message}");
                let verbs = ["write", "name resources as", "leave", "lower"];
                assert!(verbs.iter().any(|verb| message.contains(verb)), "{path}: {message}");
                // The name of the object is no field of the schema.
                let has_field = rule["fieldPath"].is_string() || path.is_empty();
                assert!(has_field || name == QUEUE, "{path}: {message}");
            }
        });
    }
}

#[test]
fn the_status_is_a_subresource_that_no_rule_refuses_and_whose_conditions_merge_by_type() {
    for name in [QUEUE, QUEUE_JOB] {
        assert_eq!(version(name)["subresources"], json!({"status": {}}));
        let status = schema(name)["properties"]["status"].clone();
        assert_eq!(status.get("required"), None);
        // An absent list or map is an empty one; a default would be written into every object.
        for (field, schema) in status["properties"].as_object().unwrap() {
            assert_eq!(schema.get("default"), None, "{name}: {field}");
        }
        let conditions = &status["properties"]["conditions"];
        assert_eq!(conditions["x-kubernetes-list-type"], "map");
        assert_eq!(conditions["x-kubernetes-list-map-keys"], json!(["type"]));
        each_schema("status", &status, &mut |path, schema| {
            let bounds =
                ["x-kubernetes-validations", "maxProperties", "maxItems", "pattern", "maxLength", "enum"];
            for bound in bounds {
                let is_condition = path == "status.conditions[].status";
                assert!(is_condition || schema.get(bound).is_none(), "{name}: {path}");
            }
        });
    }
}

/// The API server estimates by these bounds what rules cost. What a pod template has is bounded by Kubernetes.
#[test]
fn everything_in_a_spec_is_bounded_and_known() {
    for name in [QUEUE, QUEUE_JOB] {
        each_schema("", &schema(name)["properties"]["spec"], &mut |path, schema| {
            let is_in_template = path.starts_with(".tasks[].template");
            let has = |bound: &str| schema.get(bound).is_some();
            let is_bounded = match schema["type"].as_str() {
                Some("array") => has("maxItems"),
                Some("object") => !has("additionalProperties") || has("maxProperties"),
                Some("integer") => has("minimum") && has("maximum"),
                Some("string") => has("maxLength") || has("enum") || has("format"),
                Some("boolean") => true,
                _ => schema["x-kubernetes-int-or-string"] == true && has("maxLength"),
            };
            assert!(is_bounded || is_in_template, "{name}: {path} accepts anything");
            assert!(!has("x-kubernetes-preserve-unknown-fields") || is_in_template, "{name}: {path}");
            // API servers warn about formats they do not know, such as uint32.
            let format = schema["format"].as_str();
            assert!(matches!(format, None | Some("int32" | "int64" | "date-time")), "{path}: {format:?}");
        });
    }
}

/// A rule of eviction that is left out is inherited. A default of an item makes deployment tools see a difference for ever.
#[test]
fn what_is_inherited_and_what_is_in_a_list_has_no_default() {
    for name in [QUEUE, QUEUE_JOB] {
        each_schema("", &schema(name)["properties"]["spec"], &mut |path, schema| {
            if path.starts_with(".eviction") || path.contains("[]") {
                assert_eq!(schema.get("default"), None, "{name}: {path}");
            }
        });
    }
}

#[test]
fn every_condition_is_explained() {
    let queues = ConditionType::ALL.map(|condition| (QUEUE, condition.as_str()));
    let jobs = QueueJobCondition::ALL.map(|condition| (QUEUE_JOB, condition.as_str()));
    for (name, condition) in queues.into_iter().chain(jobs) {
        let conditions = &schema(name)["properties"]["status"]["properties"]["conditions"];
        let described = conditions["description"].as_str().unwrap();
        assert!(described.contains(&format!("`{condition}`")), "{condition} is not explained: {described}");
    }
}

#[test]
fn the_columns_show_fields_that_exist() {
    for name in [QUEUE, QUEUE_JOB] {
        for column in version(name)["additionalPrinterColumns"].as_array().unwrap() {
            let path = column["jsonPath"].as_str().unwrap();
            if path.starts_with(".metadata") || path.contains("conditions[?(@.type==\"Admitted\")]") {
                continue;
            }
            let field = schema(name).pointer(&path.replace('.', "/properties/")).cloned();
            assert_eq!(field.map(|field| field["type"].clone()), Some(column["type"].clone()), "{path}");
        }
    }
}

#[test]
fn client_side_apply_can_store_the_definitions() {
    // kubectl keeps the whole object in an annotation, and 262144 bytes is the limit for all of them.
    for (name, most) in [(QUEUE, 36), (QUEUE_JOB, 32)] {
        let stored = definition(name).to_string().len();
        assert!(stored < most * 1024, "the definition {name} has grown to {stored} bytes of JSON");
    }
}
