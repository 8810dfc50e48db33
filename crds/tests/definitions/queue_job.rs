//! What the QueueJob's definition bounds and promises.

use super::{each_schema, schema};
use quotient_crds::QueueJobCondition;
use serde_json::{Value, json};

pub(super) const NAME: &str = "queuejobs.quotient.dev";

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
fn every_condition_is_explained() {
    let conditions = &schema(NAME)["properties"]["status"]["properties"]["conditions"];
    for condition in QueueJobCondition::ALL {
        let described = conditions["description"].as_str().unwrap();
        assert!(described.contains(&format!("`{condition}`")), "{condition} is not explained: {described}");
    }
}
