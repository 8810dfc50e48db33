//! What the API server and kubectl need of the definitions, as they are written to their files.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects, reason = "what overflows fails the test")]

mod queue;
mod queue_job;

use kube::{CustomResourceExt, Resource};
use quotient_crds::{Queue, QueueJob, manifests, names};
use serde_json::{Value, json};

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

fn check_names<K: CustomResourceExt + Resource<DynamicType = ()>>(name: &str, short_name: &str) {
    assert_eq!(K::group(&()), names::GROUP);
    assert_eq!(K::version(&()), names::VERSION);
    assert_eq!(K::api_version(&()), names::API_VERSION);
    assert_eq!(K::crd_name(), name);
    let kind = K::kind(&());
    let (singular, plural) = (kind.to_lowercase(), format!("{}s", kind.to_lowercase()));
    assert_eq!(
        definition(name)["spec"]["names"],
        json!({
            "kind": kind, "plural": plural, "singular": singular,
            "shortNames": [short_name], "categories": ["quotient"],
        })
    );
    assert_eq!(definition(name)["spec"]["scope"], "Namespaced");
}

#[test]
fn the_names_are_the_constants() {
    check_names::<Queue>(queue::NAME, "qtq");
    check_names::<QueueJob>(queue_job::NAME, "qtj");
}

#[test]
fn every_field_is_explained() {
    for (name, least) in [(queue::NAME, 30), (queue_job::NAME, 40)] {
        let fields = explained_fields(name);
        assert!(fields > least, "only {fields} fields of {name} were visited");
    }
    assert!(schema(queue::NAME)["description"].as_str().unwrap().starts_with("A Queue gives"));
}

#[test]
fn the_status_is_a_subresource_that_no_rule_refuses_and_whose_conditions_merge_by_type() {
    for name in [queue::NAME, queue_job::NAME] {
        assert_eq!(version(name)["subresources"], json!({"status": {}}));
        let status = schema(name)["properties"]["status"].clone();
        assert_eq!(status.get("required"), None);
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

#[test]
fn the_columns_show_fields_that_exist() {
    let of_queues =
        "Parent Weight Demand Deserved Allocated Used Preempting State Age Nominal Guaranteed Limit Pods";
    for (name, expected, wide) in
        [(queue::NAME, of_queues, 4), (queue_job::NAME, "State Min Slots Running Succeeded Reason Age", 0)]
    {
        let columns = version(name)["additionalPrinterColumns"].as_array().unwrap().clone();
        let titles: Vec<&str> = columns.iter().map(|column| column["name"].as_str().unwrap()).collect();
        assert_eq!(titles.join(" "), expected);
        assert_eq!(columns.iter().filter(|column| column["priority"] == 1).count(), wide);
        for column in &columns {
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
    for (name, most) in [(queue::NAME, 36), (queue_job::NAME, 32)] {
        let stored = definition(name).to_string().len();
        assert!(stored < most * 1024, "the definition {name} has grown to {stored} bytes of JSON");
    }
}
