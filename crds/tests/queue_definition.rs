//! What the API server and kubectl need of the Queue's definition.
#![cfg(test)]

mod definition;

use definition::{definition, each_schema, explained_fields, schema, version};
use kube::{CustomResourceExt, Resource};
use quotient_crds::{Queue, names};
use serde_json::{Value, json};

const NAME: &str = "queues.quotient.dev";

#[test]
fn the_names_are_the_constants() {
    assert_eq!(Queue::group(&()), names::GROUP);
    assert_eq!(Queue::version(&()), names::VERSION);
    assert_eq!(Queue::api_version(&()), names::API_VERSION);
    assert_eq!(Queue::crd_name(), NAME);
    assert_eq!(
        definition(NAME)["spec"]["names"],
        json!({
            "kind": "Queue", "plural": "queues", "singular": "queue",
            "shortNames": ["qtq"], "categories": ["quotient"],
        })
    );
    assert_eq!(definition(NAME)["spec"]["scope"], "Namespaced");
}

#[test]
fn every_field_is_explained() {
    let fields = explained_fields(NAME);
    assert!(fields > 30, "only {fields} fields were visited");
    assert!(schema(NAME)["description"].as_str().unwrap().starts_with("A Queue gives"));
}

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
fn the_status_is_a_subresource_whose_conditions_merge_by_type() {
    assert_eq!(version(NAME)["subresources"], json!({"status": {}}));
    let status = schema(NAME)["properties"]["status"].clone();
    assert_eq!(status.get("required"), None);
    let conditions = &status["properties"]["conditions"];
    assert_eq!(conditions["x-kubernetes-list-type"], "map");
    assert_eq!(conditions["x-kubernetes-list-map-keys"], json!(["type"]));
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

#[test]
fn no_rule_may_refuse_what_the_operator_reports() {
    each_schema("status", &schema(NAME)["properties"]["status"], &mut |path, schema| {
        for bound in ["x-kubernetes-validations", "maxProperties", "maxItems", "pattern", "maxLength"] {
            assert_eq!(schema.get(bound), None, "{path}");
        }
    });
}

#[test]
fn the_columns_show_fields_that_exist() {
    let columns = version(NAME)["additionalPrinterColumns"].clone();
    let titles: Vec<&str> =
        columns.as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
    assert_eq!(
        titles,
        [
            "Parent",
            "Weight",
            "Demand",
            "Deserved",
            "Allocated",
            "Used",
            "Preempting",
            "State",
            "Age",
            "Nominal",
            "Guaranteed",
            "Limit",
            "Pods"
        ]
    );
    let is_wide = |column: &&Value| column["priority"] == 1;
    assert_eq!(columns.as_array().unwrap().iter().filter(is_wide).count(), 4);
    for column in columns.as_array().unwrap() {
        let path = column["jsonPath"].as_str().unwrap();
        if path.starts_with(".metadata") {
            continue;
        }
        let pointer = path.replace('.', "/properties/");
        let field = schema(NAME).pointer(&pointer).cloned();
        assert_eq!(field.map(|field| field["type"].clone()), Some(column["type"].clone()), "{path}");
    }
}

#[test]
fn client_side_apply_can_store_the_definition() {
    // kubectl keeps the whole object in an annotation, and 262144 bytes is the limit for all of them.
    let stored = definition(NAME).to_string().len();
    assert!(stored < 36 * 1024, "the definition has grown to {stored} bytes of JSON");
}
