//! What is sent to write a quota.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ResourceQuota;
use kube::api::Patch;
use quotient_crds::names::{
    GENERATION_ANNOTATION, MANAGED_BY_LABEL, MANAGED_BY_QUOTIENT, ON_DELETE_ANNOTATION, ON_DELETE_REMOVE,
    QUEUE_ANNOTATION, QUOTA, RECOUNT_KEY,
};
use quotient_engine::amounts::Bounds;
use quotient_engine::ledger::Generation;
use quotient_engine::names::{Namespace, QueueName};
use quotient_index::quotas::{QuotaUid, hard_from_bounds};
use serde_json::{Map, Value, json};

/// What a quota is to say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content<'a> {
    /// The Queue whose share it enforces. Without one, what the quota says of that stays as it is.
    pub(super) queue: Option<&'a QueueName>,
    /// Every amount.
    pub(super) hard: &'a Bounds,
    /// Whether it is to be deleted together with its Queue.
    pub(super) goes_with_queue: bool,
    /// The generation of the ledger's entry that the amounts are from.
    pub(super) stamp: Generation,
}

impl Content<'_> {
    /// The annotation that names the Queue.
    fn queue(&self) -> Option<(&'static str, String)> {
        self.queue.map(|queue| (QUEUE_ANNOTATION, queue.name.to_string()))
    }

    /// The annotations of a quota that we write for the first time.
    fn first_annotations(&self) -> Vec<(&'static str, String)> {
        let generation = (GENERATION_ANNOTATION, self.stamp.to_string());
        [generation].into_iter().chain(self.queue()).collect()
    }

    /// What becomes of the annotation that has it deleted with its Queue, where it `had` that before or not.
    ///
    /// Only a difference is an operation: one that removes what is not there fails, and with it the whole patch. Another
    /// value of the annotation means nothing and is left alone.
    fn on_delete(&self, had: bool) -> Option<Value> {
        let path = annotation(ON_DELETE_ANNOTATION);
        match (had, self.goes_with_queue) {
            (false, true) => Some(json!({"op": "add", "path": path, "value": ON_DELETE_REMOVE})),
            (true, false) => Some(json!({"op": "remove", "path": path})),
            (true, true) | (false, false) => None,
        }
    }

    fn amounts(&self) -> Value {
        json!({"op": "add", "path": "/spec/hard", "value": hard_from_bounds(self.hard)})
    }
}

/// The quota of a `namespace` that has none.
pub(super) fn create(
    namespace: &Namespace,
    content: &Content<'_>,
) -> Result<ResourceQuota, serde_json::Error> {
    let mut annotations = content.first_annotations();
    if content.goes_with_queue {
        annotations.push((ON_DELETE_ANNOTATION, ON_DELETE_REMOVE.to_owned()));
    }
    serde_json::from_value(json!({
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {
            "name": QUOTA,
            "namespace": namespace.as_str(),
            "labels": {MANAGED_BY_LABEL: MANAGED_BY_QUOTIENT},
            "annotations": object(annotations),
        },
        "spec": {"hard": hard_from_bounds(content.hard)},
    }))
}

/// New content for the quota `uid` that bears `standing`, and goes with its Queue or not.
///
/// The two tests are what keeps a late write from harm: it lands on this life of the object and on no other, and
/// only while it bears no later stamp. A resourceVersion would say the same and more: admission moves it with
/// every pod that it counts, so it would refuse writes that nothing is wrong with.
pub(super) fn update(
    uid: &QuotaUid,
    standing: Generation,
    goes_with_queue: bool,
    content: &Content<'_>,
) -> Result<Patch<()>, serde_json::Error> {
    let path = annotation(GENERATION_ANNOTATION);
    let mut operations = vec![
        json!({"op": "test", "path": "/metadata/uid", "value": uid.as_str()}),
        json!({"op": "test", "path": path, "value": standing.to_string()}),
        json!({"op": "replace", "path": path, "value": content.stamp.to_string()}),
    ];
    operations.extend(content.queue().map(set));
    operations.extend(content.on_delete(goes_with_queue));
    operations.push(content.amounts());
    json_patch(operations)
}

/// Makes the quota `uid` that bears `standing` name one thing more that it bounds, or not any more; no amount changes.
pub(super) fn mark(
    uid: &QuotaUid,
    standing: Generation,
    marked: bool,
) -> Result<Patch<()>, serde_json::Error> {
    let path = format!("/spec/hard/{}", RECOUNT_KEY.replace('/', "~1"));
    json_patch(vec![
        json!({"op": "test", "path": "/metadata/uid", "value": uid.as_str()}),
        json!({"op": "test", "path": annotation(GENERATION_ANNOTATION), "value": standing.to_string()}),
        if marked {
            json!({"op": "add", "path": path, "value": "0"})
        } else {
            json!({"op": "remove", "path": path})
        },
    ])
}

/// New content for a quota of our name that was not written by us, as it was just read: `found`.
///
/// The same tests, except that what must not have changed is what stands in the annotation's place.
pub(super) fn take_over(
    found: &ResourceQuota,
    content: &Content<'_>,
) -> Result<Patch<()>, serde_json::Error> {
    let mut operations =
        vec![json!({"op": "test", "path": "/metadata/uid", "value": found.metadata.uid.as_deref()})];
    let wanted = content.first_annotations();
    match &found.metadata.annotations {
        // An operation on a member of a map that is not there fails: the map itself is added.
        None => {
            operations.push(json!({"op": "test", "path": "/metadata/annotations", "value": null}));
            operations.push(json!({"op": "add", "path": "/metadata/annotations", "value": object(wanted)}));
            operations.extend(content.on_delete(false));
        }
        Some(annotations) => {
            let generation = annotations.get(GENERATION_ANNOTATION);
            let path = annotation(GENERATION_ANNOTATION);
            operations.push(json!({"op": "test", "path": path, "value": generation}));
            operations.extend(wanted.into_iter().map(set));
            operations.extend(content.on_delete(goes_with_queue(annotations)));
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
    operations.push(content.amounts());
    json_patch(operations)
}

fn goes_with_queue(annotations: &BTreeMap<String, String>) -> bool {
    annotations.get(ON_DELETE_ANNOTATION).is_some_and(|value| value == ON_DELETE_REMOVE)
}

/// Sets an annotation, whether it is there or not.
fn set((name, value): (&'static str, String)) -> Value {
    json!({"op": "add", "path": annotation(name), "value": value})
}

fn object(annotations: Vec<(&'static str, String)>) -> Map<String, Value> {
    annotations.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}

fn json_patch(operations: Vec<Value>) -> Result<Patch<()>, serde_json::Error> {
    Ok(Patch::Json(serde_json::from_value(Value::Array(operations))?))
}

/// Where an annotation stands, as a JSON pointer.
fn annotation(name: &str) -> String {
    format!("/metadata/annotations/{}", escaped(name))
}

/// A member's name as a JSON pointer spells it.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
