//! What the API server and kubectl need of the QueueJob's definition.
#![cfg(test)]

mod definition;

use definition::{definition, each_schema, explained_fields, schema, version};
use kube::{CustomResourceExt, Resource};
use quotient_crds::{QueueJob, QueueJobCondition, names};
use serde_json::{Value, json};

const NAME: &str = "queuejobs.quotient.dev";

#[test]
fn the_names_are_the_constants() {
    assert_eq!(QueueJob::api_version(&()), names::API_VERSION);
    assert_eq!(QueueJob::crd_name(), NAME);
    assert_eq!(
        definition(NAME)["spec"]["names"],
        json!({
            "kind": "QueueJob", "plural": "queuejobs", "singular": "queuejob",
            "shortNames": ["qtj"], "categories": ["quotient"],
        })
    );
    assert_eq!(definition(NAME)["spec"]["scope"], "Namespaced");
}

#[test]
fn every_field_is_explained() {
    let fields = explained_fields(NAME);
    assert!(fields > 40, "only {fields} fields were visited");
}

/// What the schema does not know is kept only where a pod template may have it.
#[test]
fn only_templates_keep_what_is_unknown() {
    let template = ".spec.tasks[].template";
    each_schema("", &schema(NAME), &mut |path, schema| {
        let keeps = schema.get("x-kubernetes-preserve-unknown-fields").is_some();
        assert!(!keeps || path.starts_with(template), "{path}");
        let typed = schema.get("type").is_some() || schema["x-kubernetes-int-or-string"] == true;
        assert!(typed, "{path} accepts anything");
    });
    let task = schema(NAME)["properties"]["spec"]["properties"]["tasks"]["items"].clone();
    let pod = &task["properties"]["template"]["properties"]["spec"];
    assert_eq!(pod["x-kubernetes-preserve-unknown-fields"], true);
    assert_eq!(pod["required"], json!(["containers"]));
}

#[test]
fn numbers_are_bounded_and_say_their_defaults() {
    let spec = schema(NAME)["properties"]["spec"]["properties"].clone();
    let bounds = |field: &Value| [field["minimum"].as_f64(), field["maximum"].as_f64()];
    assert_eq!(bounds(&spec["minAvailable"]), [Some(1.0), Some(5000.0)]);
    assert_eq!(bounds(&spec["startTimeoutSeconds"]), [Some(1.0), Some(31_536_000.0)]);
    assert_eq!(bounds(&spec["ttlSecondsAfterFinished"]), [Some(0.0), Some(31_536_000.0)]);
    assert_eq!(bounds(&spec["activeDeadlineSeconds"]), [Some(1.0), Some(31_536_000.0)]);
    assert_eq!(bounds(&spec["backoffLimit"]), [Some(0.0), Some(1_000_000.0)]);
    assert_eq!(
        (&spec["startTimeoutSeconds"]["default"], &spec["suspend"]["default"]),
        (&json!(300), &json!(false))
    );

    let tasks = &spec["tasks"];
    assert_eq!((&tasks["minItems"], &tasks["maxItems"]), (&json!(1), &json!(16)));
    assert_eq!(tasks["x-kubernetes-list-map-keys"], json!(["name"]));
    let task = &tasks["items"]["properties"];
    assert_eq!(bounds(&task["replicas"]), [Some(1.0), Some(5000.0)]);
    assert_eq!(bounds(&task["minAvailable"]), [Some(0.0), Some(5000.0)]);
    // One that is filled into an item of a list makes deployment tools see a difference for ever.
    assert_eq!((task["replicas"].get("default"), task["minAvailable"].get("default")), (None, None));
}

#[test]
fn no_rule_may_refuse_what_the_operator_reports() {
    each_schema("status", &schema(NAME)["properties"]["status"], &mut |path, schema| {
        for bound in ["x-kubernetes-validations", "maxProperties", "maxItems", "pattern", "maxLength", "enum"]
        {
            let is_condition = path == "status.conditions[].status";
            assert!(is_condition || schema.get(bound).is_none(), "{path}");
        }
    });
    assert_eq!(version(NAME)["subresources"], json!({"status": {}}));
    let conditions = &schema(NAME)["properties"]["status"]["properties"]["conditions"];
    assert_eq!(conditions["x-kubernetes-list-map-keys"], json!(["type"]));
    for condition in QueueJobCondition::ALL {
        let described = conditions["description"].as_str().unwrap();
        assert!(described.contains(&format!("`{condition}`")), "{condition} is not explained: {described}");
    }
}

#[test]
fn the_columns_show_fields_that_exist() {
    let columns = version(NAME)["additionalPrinterColumns"].clone();
    let titles: Vec<&str> =
        columns.as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
    assert_eq!(titles, ["State", "Min", "Slots", "Running", "Succeeded", "Reason", "Age"]);
    for column in columns.as_array().unwrap() {
        let path = column["jsonPath"].as_str().unwrap();
        if path.starts_with(".metadata") || path.contains("conditions[?(@.type==\"Admitted\")]") {
            continue;
        }
        let field = schema(NAME).pointer(&path.replace('.', "/properties/")).cloned();
        assert_eq!(field.map(|field| field["type"].clone()), Some(column["type"].clone()), "{path}");
    }
}

#[test]
fn client_side_apply_can_store_the_definition() {
    // kubectl keeps the whole object in an annotation, and 262144 bytes is the limit for all of them.
    let stored = definition(NAME).to_string().len();
    assert!(stored < 32 * 1024, "the definition has grown to {stored} bytes of JSON");
}
