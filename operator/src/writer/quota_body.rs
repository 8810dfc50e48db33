//! What is sent to write a quota.

use k8s_openapi::api::core::v1::ResourceQuota;
use kube::api::Patch;
use quotient_crds::names::{
    GENERATION_ANNOTATION, MANAGED_BY_LABEL, MANAGED_BY_QUOTIENT, QUEUE_ANNOTATION, QUOTA, RECOUNT_KEY,
};
use quotient_engine::amounts::Bounds;
use quotient_engine::ledger::Generation;
use quotient_engine::names::{Namespace, QueueName, QueueUid};
use quotient_index::quotas::{QuotaUid, hard_from_bounds};
use serde_json::{Map, Value, json};

use super::json_patch::json_patch;
use super::owning_queue::OwningQueue;

/// What a quota is to say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content<'a> {
    /// The Queue whose share it enforces.
    pub(super) queue: &'a QueueName,
    /// The Queue that is to own it; none if the owner references are to stay.
    pub(super) owner: Option<OwningQueue<'a>>,
    /// Every amount.
    pub(super) hard: &'a Bounds,
    /// The generation of the ledger's entry that the amounts are from.
    pub(super) stamp: Generation,
}

impl Content<'_> {
    /// The annotation that names the Queue.
    fn queue(&self) -> (&'static str, String) {
        (QUEUE_ANNOTATION, self.queue.name.to_string())
    }

    /// The annotations of a quota that we write for the first time.
    fn first_annotations(&self) -> Vec<(&'static str, String)> {
        vec![(GENERATION_ANNOTATION, self.stamp.to_string()), self.queue()]
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
    serde_json::from_value(json!({
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {
            "name": QUOTA,
            "namespace": namespace.as_str(),
            "labels": {MANAGED_BY_LABEL: MANAGED_BY_QUOTIENT},
            "annotations": object(content.first_annotations()),
            "ownerReferences": content.owner.map(|owner| owner.references()),
        },
        "spec": {"hard": hard_from_bounds(content.hard)},
    }))
}

/// New content for the quota `uid` that bears `standing` and that `owner` owns.
///
/// The two tests are what keeps a late write from harm: it lands on this life of the object and on no other, and
/// only while it bears no later stamp. A resourceVersion would say the same and more: admission moves it with
/// every pod that it counts, so it would refuse writes that nothing is wrong with.
///
/// The owner references are written only if they differ. So a write for a Queue that is gone does not take the quota back
/// from its successor.
pub(super) fn update(
    uid: &QuotaUid,
    standing: Generation,
    owner: Option<&QueueUid>,
    content: &Content<'_>,
) -> Result<Patch<()>, serde_json::Error> {
    let path = annotation(GENERATION_ANNOTATION);
    let mut operations = vec![
        json!({"op": "test", "path": "/metadata/uid", "value": uid.as_str()}),
        json!({"op": "test", "path": path, "value": standing.to_string()}),
        json!({"op": "replace", "path": path, "value": content.stamp.to_string()}),
    ];
    operations.push(set(content.queue()));
    let other = content.owner.filter(|wanted| owner != Some(wanted.uid));
    operations.extend(other.map(|wanted| wanted.own()));
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
        }
        Some(annotations) => {
            let generation = annotations.get(GENERATION_ANNOTATION);
            let path = annotation(GENERATION_ANNOTATION);
            operations.push(json!({"op": "test", "path": path, "value": generation}));
            operations.extend(wanted.into_iter().map(set));
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
    operations.extend(content.owner.map(|owner| owner.own()));
    operations.push(content.amounts());
    json_patch(operations)
}

/// Sets an annotation, whether it is there or not.
fn set((name, value): (&'static str, String)) -> Value {
    json!({"op": "add", "path": annotation(name), "value": value})
}

fn object(annotations: Vec<(&'static str, String)>) -> Map<String, Value> {
    annotations.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}

/// Where an annotation stands, as a JSON pointer.
fn annotation(name: &str) -> String {
    format!("/metadata/annotations/{}", escaped(name))
}

/// A member's name as a JSON pointer spells it.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
