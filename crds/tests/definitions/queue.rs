//! What the Queue's definition bounds and promises.

use super::{each_schema, schema};
use serde_json::{Value, json};

pub(super) const NAME: &str = "queues.quotient.dev";

/// What the operator does with it, and in which mode; not what it once did not do.
#[test]
fn priority_inside_a_queue_is_told_as_it_works() {
    let preemption = schema(NAME)["properties"]["spec"]["properties"]["preemption"].clone();
    let said = preemption["description"].as_str().unwrap_or_default().to_owned();
    assert!(said.contains("The operator does this in mode Full only"), "{said}");
    assert!(!said.contains("yet"), "{said}");
}

#[test]
fn unknown_fields_are_refused_and_nothing_is_kept_unread() {
    each_schema("", &schema(NAME), &mut |path, schema| {
        assert_eq!(schema.get("x-kubernetes-preserve-unknown-fields"), None, "{path}");
        assert_ne!(schema.get("additionalProperties"), Some(&json!(true)), "{path}");
        let typed = schema.get("type").is_some() || schema["x-kubernetes-int-or-string"] == true;
        assert!(typed, "{path} accepts anything");
        // API servers warn about formats they do not know, such as uint32.
        let format = schema["format"].as_str();
        assert!(matches!(format, None | Some("int32" | "int64" | "date-time")), "{path}: {format:?}");
    });
}

#[test]
fn the_spec_has_the_fields_that_work_and_bounds_them() {
    let spec = schema(NAME)["properties"]["spec"].clone();
    let fields: Vec<&String> = spec["properties"].as_object().unwrap().keys().collect();
    let expected = [
        "admission",
        "children",
        "defaultRequests",
        "eviction",
        "guaranteed",
        "limit",
        "mode",
        "parentRef",
        "pausedUntil",
        "preemption",
        "reclaim",
        "request",
        "weight",
    ];
    assert_eq!(fields, expected);
    assert_eq!(spec.get("required"), None);
    assert_eq!(spec["x-kubernetes-validations"].as_array().unwrap().len(), 1);

    let weight = &spec["properties"]["weight"];
    assert_eq!((&weight["default"], weight["minimum"].as_f64()), (&json!(1), Some(0.0)));
    assert_eq!(weight["maximum"].as_f64(), Some(1_000_000.0));

    let mode = &spec["properties"]["mode"];
    assert_eq!((&mode["default"], &mode["enum"]), (&json!("Full"), &json!(["Observe", "Quota", "Full"])));
    let pause = &spec["properties"]["pausedUntil"];
    assert_eq!((&pause["format"], &pause["nullable"]), (&json!("date-time"), &json!(true)));
    assert_eq!(pause["x-kubernetes-validations"].as_array().unwrap().len(), 1);

    for (field, rules) in [("defaultRequests", 1), ("guaranteed", 2), ("limit", 2), ("request", 2)] {
        let map = &spec["properties"][field];
        assert_eq!(map["maxProperties"], 16, "{field}");
        assert_eq!(map["nullable"], true, "{field}");
        assert_eq!(map["x-kubernetes-validations"].as_array().unwrap().len(), rules, "{field}");
        let amount = &map["additionalProperties"];
        assert_eq!(amount["x-kubernetes-int-or-string"], true, "{field}");
        assert_eq!(amount["maxLength"], 32, "{field}");
        assert!(amount["pattern"].is_string(), "{field}");
        assert_eq!(amount["x-kubernetes-validations"].as_array().unwrap().len(), 3, "{field}");
    }
}

#[test]
fn the_place_in_the_tree_is_bounded() {
    let spec = schema(NAME)["properties"]["spec"]["properties"].clone();
    let parent = &spec["parentRef"];
    assert_eq!(parent["required"], json!(["name"]));
    assert_eq!(
        (&parent["properties"]["name"]["maxLength"], &parent["nullable"]),
        (&json!(253), &json!(true))
    );
    assert_eq!(parent["properties"]["namespace"]["maxLength"], 63);
    assert_eq!(schema(NAME)["x-kubernetes-validations"].as_array().unwrap().len(), 1);

    let namespaces = &spec["children"]["properties"]["namespaces"];
    assert_eq!(namespaces["x-kubernetes-validations"].as_array().unwrap().len(), 2);
    assert_eq!(namespaces["properties"]["from"]["enum"], json!(["Same", "All", "Selector"]));
    assert_eq!(namespaces["properties"]["from"]["default"], "Same");
    let selector = &namespaces["properties"]["selector"]["properties"];
    assert_eq!(selector["matchLabels"]["maxProperties"], 16);
    assert_eq!(selector["matchExpressions"]["maxItems"], 16);
    let requirement = &selector["matchExpressions"]["items"];
    assert_eq!(requirement["required"], json!(["key", "operator"]));
    assert_eq!(requirement["properties"]["values"]["maxItems"], 64);
    assert_eq!(requirement["x-kubernetes-validations"].as_array().unwrap().len(), 2);
}

#[test]
fn reclaim_eviction_and_preemption_say_their_bounds_and_defaults() {
    let spec = schema(NAME)["properties"]["spec"]["properties"].clone();
    let (reclaim, eviction) = (&spec["reclaim"], &spec["eviction"]);
    for field in [reclaim, eviction] {
        assert_eq!((&field["nullable"], field.get("default")), (&json!(true), None));
    }
    assert_eq!(spec["preemption"]["enum"], json!(["Never", "LowerPriority"]));
    assert_eq!(spec["preemption"]["default"], json!("Never"));
    let reclaim = &reclaim["properties"];
    assert_eq!(reclaim["from"]["enum"], json!(["Cluster", "Subtree", "None"]));
    assert_eq!(
        (&reclaim["from"]["default"], &reclaim["afterSeconds"]["default"]),
        (&json!("Cluster"), &json!(0))
    );
    let eviction = &eviction["properties"];
    let choices = |field: &str| -> Vec<Value> {
        let all = eviction[field]["enum"].as_array().unwrap();
        all.iter().filter(|choice| !choice.is_null()).cloned().collect()
    };
    assert_eq!(choices("policy"), ["Allowed", "Never"]);
    assert_eq!(choices("lastReplica"), ["LastResort", "Never"]);
    assert_eq!(choices("gangs"), ["WholeLast", "Never"]);
    for (schema, maximum) in [
        (&eviction["minRuntimeSeconds"], 2_592_000.0),
        (&reclaim["afterSeconds"], 86_400.0),
        (&eviction["maxGraceSeconds"], 86_400.0),
        (&eviction["forceAfterSeconds"], 86_400.0),
    ] {
        let bounds = ["minimum", "maximum"].map(|bound| schema[bound].as_f64());
        assert_eq!(bounds, [Some(0.0), Some(maximum)], "{schema}");
    }
    // A rule that is left out is inherited, so the API server fills none in.
    for (field, schema) in eviction.as_object().unwrap() {
        assert_eq!((&schema["nullable"], schema.get("default")), (&json!(true), None), "{field}");
    }
}

#[test]
fn what_the_status_remembers_can_be_read_back() {
    let status = schema(NAME)["properties"]["status"]["properties"].clone();
    for time in ["/shortSince", "/demandFalling/additionalProperties", "/setAside/items/properties/since"] {
        let schema = status.pointer(time).unwrap();
        assert_eq!((&schema["type"], &schema["format"]), (&json!("string"), &json!("date-time")), "{time}");
    }
    let entry = &status["setAside"]["items"];
    assert_eq!(entry["required"], json!(["kind", "name", "since", "uid"]));
    assert_eq!(status["unmet"]["items"]["required"], json!(["kind", "message", "name", "pods", "reason"]));
    // An absent list or map is an empty one; a default would be written into every Queue.
    for field in ["demandFalling", "setAside", "unmet"] {
        assert_eq!(status[field].get("default"), None, "{field}");
    }
}
