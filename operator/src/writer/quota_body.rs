//! What is sent to write a quota.

use k8s_openapi::api::core::v1::ResourceQuota;
use kube::api::Patch;
use quotient_crds::names::{GENERATION_ANNOTATION, MANAGED_BY_LABEL, MANAGED_BY_QUOTIENT, QUOTA};
use quotient_engine::amounts::Bounds;
use quotient_engine::names::QueueName;
use quotient_index::quotas::{QuotaUid, hard_from_bounds};
use serde_json::{Value, json};

/// Annotation on the quota: the Queue whose share it enforces, by name.
const QUEUE_ANNOTATION: &str = "quotient.dev/queue";

/// The generation of a quota that has just been created.
const FIRST_GENERATION: u64 = 1;

/// The quota of `queue`, for a namespace that has none.
pub(super) fn create(queue: &QueueName, hard: &Bounds) -> Result<ResourceQuota, serde_json::Error> {
    serde_json::from_value(json!({
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {
            "name": QUOTA,
            "namespace": queue.namespace.as_str(),
            "labels": {MANAGED_BY_LABEL: MANAGED_BY_QUOTIENT},
            "annotations": {
                GENERATION_ANNOTATION: FIRST_GENERATION.to_string(),
                QUEUE_ANNOTATION: &*queue.name,
            },
        },
        "spec": {"hard": hard_from_bounds(hard)},
    }))
}

/// New amounts for the quota `uid` that is at `generation`.
///
/// The two tests are what keeps a late write from harm: it lands on this life of the object and on no other, and
/// only while nobody has written since. A resourceVersion would say the same and more: admission moves it with
/// every pod that it counts, so it would refuse writes that nothing is wrong with.
pub(super) fn update(
    queue: &QueueName,
    uid: &QuotaUid,
    generation: u64,
    hard: &Bounds,
) -> Result<Patch<()>, serde_json::Error> {
    let annotation = |name: &str| format!("/metadata/annotations/{}", escaped(name));
    json_patch(vec![
        json!({"op": "test", "path": "/metadata/uid", "value": uid.as_str()}),
        json!({"op": "test", "path": annotation(GENERATION_ANNOTATION), "value": generation.to_string()}),
        json!({
            "op": "replace",
            "path": annotation(GENERATION_ANNOTATION),
            "value": generation.saturating_add(1).to_string(),
        }),
        json!({"op": "add", "path": annotation(QUEUE_ANNOTATION), "value": &*queue.name}),
        json!({"op": "add", "path": "/spec/hard", "value": hard_from_bounds(hard)}),
    ])
}

/// New amounts for a quota of our name that was not written by us, as it was just read: `found`.
///
/// The same tests, except that what must not have changed is what stands in the annotation's place.
pub(super) fn take_over(
    queue: &QueueName,
    found: &ResourceQuota,
    hard: &Bounds,
) -> Result<Patch<()>, serde_json::Error> {
    let mut operations =
        vec![json!({"op": "test", "path": "/metadata/uid", "value": found.metadata.uid.as_deref()})];
    let annotations = found.metadata.annotations.as_ref().map(|annotations| {
        let text = |name: &str| annotations.get(name).map(String::as_str);
        (text(GENERATION_ANNOTATION), json!(annotations))
    });
    let wanted =
        [(GENERATION_ANNOTATION, FIRST_GENERATION.to_string()), (QUEUE_ANNOTATION, queue.name.to_string())];
    let path = |name: &str| format!("/metadata/annotations/{}", escaped(name));
    match annotations {
        // An operation on a member of a map that is not there fails: the map itself is added.
        None => {
            operations.push(json!({"op": "test", "path": "/metadata/annotations", "value": null}));
            let all: serde_json::Map<String, Value> =
                wanted.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
            operations.push(json!({"op": "add", "path": "/metadata/annotations", "value": all}));
        }
        Some((generation, _)) => {
            operations.push(json!({"op": "test", "path": path(GENERATION_ANNOTATION), "value": generation}));
            for (name, value) in wanted {
                operations.push(json!({"op": "add", "path": path(name), "value": value}));
            }
        }
    }
    if found.metadata.labels.is_none() {
        operations.push(json!({
            "op": "add",
            "path": "/metadata/labels",
            "value": {MANAGED_BY_LABEL: MANAGED_BY_QUOTIENT},
        }));
    } else {
        operations.push(json!({
            "op": "add",
            "path": format!("/metadata/labels/{}", escaped(MANAGED_BY_LABEL)),
            "value": MANAGED_BY_QUOTIENT,
        }));
    }
    operations.push(json!({"op": "add", "path": "/spec/hard", "value": hard_from_bounds(hard)}));
    json_patch(operations)
}

fn json_patch(operations: Vec<Value>) -> Result<Patch<()>, serde_json::Error> {
    Ok(Patch::Json(serde_json::from_value(Value::Array(operations))?))
}

/// A member's name as a JSON pointer spells it.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
