//! Old news never replaces newer.

use serde_json::Value;

use super::kinds::{KINDS, delete_value, relist_begin, relist_finish};
use super::{apply, delete, documents, index_of, printed};
use quotient_index::Index;

/// One object of every kind, in this version, with a content that depends on it. The Queue comes first: without one
/// others are no news.
fn objects(version: u64, uid: &str) -> String {
    format!(
        "
kind: Queue
metadata: {{name: q, namespace: a, uid: {uid}, resourceVersion: '{version}'}}
spec: {{weight: {version}}}
---
kind: Pod
metadata: {{name: p, namespace: a, uid: {uid}, resourceVersion: '{version}'}}
spec: {{priority: {version}, containers: []}}
---
kind: Node
metadata: {{name: n, uid: {uid}, resourceVersion: '{version}'}}
status: {{allocatable: {{cpu: {version}}}}}
---
kind: Namespace
metadata: {{name: a, uid: {uid}, resourceVersion: '{version}', labels: {{version: '{version}'}}}}
---
kind: ReplicaSet
metadata: {{name: web, namespace: a, uid: {uid}-r, resourceVersion: '{version}'}}
spec: {{replicas: {version}, selector: {{}}, template: {{spec: {{containers: [], priorityClassName: high}}}}}}
---
kind: StatefulSet
metadata: {{name: web, namespace: a, uid: {uid}-s, resourceVersion: '{version}'}}
spec: {{replicas: {version}, selector: {{}}, template: {{spec: {{containers: []}}}}}}
---
kind: DaemonSet
metadata: {{name: web, namespace: a, uid: {uid}-d, resourceVersion: '{version}'}}
spec: {{selector: {{}}, template: {{spec: {{containers: []}}}}}}
status: {{currentNumberScheduled: 0, desiredNumberScheduled: {version}, numberMisscheduled: 0, numberReady: 0}}
---
kind: Job
metadata: {{name: web, namespace: a, uid: {uid}-j, resourceVersion: '{version}'}}
spec: {{parallelism: {version}, template: {{spec: {{containers: []}}}}}}
---
kind: QueueJob
metadata: {{name: train, namespace: a, uid: {uid}-q, resourceVersion: '{version}'}}
spec: {{minAvailable: {version}, tasks: [{{name: w, replicas: {version}, template: {{spec: {{containers: []}}}}}}]}}
---
kind: PodDisruptionBudget
metadata: {{name: b, namespace: a, uid: {uid}, resourceVersion: '{version}'}}
spec: {{selector: {{}}}}
status: {{disruptionsAllowed: {version}, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0}}
---
kind: PriorityClass
metadata: {{name: high, uid: {uid}, resourceVersion: '{version}'}}
value: {version}
---
kind: ResourceQuota
metadata: {{name: theirs, namespace: a, uid: {uid}-t, resourceVersion: '{version}'}}
spec: {{hard: {{cpu: {version}}}}}
---
kind: ResourceQuota
metadata: {{name: quotient, namespace: a, uid: {uid}, resourceVersion: '{version}'}}
spec: {{hard: {{cpu: {version}}}}}
"
    )
}

/// As many as `objects` are.
const ALL: usize = 13;

/// The kinds of `objects`; those that only say the size of others have their own tests (`sizes.rs`, `gangs.rs`).
fn described_kinds() -> impl Iterator<Item = &'static str> {
    KINDS.into_iter().filter(|kind| !["Deployment", "HorizontalPodAutoscaler", "PodGroup"].contains(kind))
}

#[test]
fn an_older_version_is_ignored() {
    // 9 before 10: versions are numbers, not texts.
    let mut index = index_of(&objects(10, "u"));
    let before = printed(&mut index);
    assert_eq!(apply(&mut index, &objects(10, "u")), [false; ALL]);
    assert_eq!(apply(&mut index, &objects(9, "u")), [false; ALL]);
    assert_eq!(printed(&mut index), before);
    assert_eq!(apply(&mut index, &objects(11, "u")), [true; ALL]);
}

#[test]
fn the_predecessor_of_what_is_kept_is_ignored() {
    let mut index = index_of(&objects(10, "second"));
    let before = printed(&mut index);
    assert_eq!(apply(&mut index, &objects(9, "first")), [false; ALL]);
    assert_eq!(delete(&mut index, &objects(9, "first")), [false; ALL]);
    assert_eq!(printed(&mut index), before);
}

#[test]
fn what_is_deleted_is_gone() {
    let mut index = index_of(&objects(10, "u"));
    assert_eq!(delete(&mut index, &objects(10, "u")), [true; ALL]);
    assert_eq!(printed(&mut index), "");
    assert_eq!(delete(&mut index, &objects(10, "u")), [false; ALL]);
    assert_eq!(index.kept().namespaces, 0);
}

#[test]
fn a_late_reply_does_not_bring_a_deleted_object_back() {
    let mut index = index_of(&objects(10, "u"));
    delete(&mut index, &objects(10, "u"));
    let written = |yaml: &str| -> Vec<Value> {
        let ours = |object: &Value| object["kind"] == "Queue" || object["metadata"]["name"] == "quotient";
        documents(yaml).into_iter().filter(ours).collect()
    };
    let take = |index: &mut Index, yaml: &str| -> Vec<bool> {
        written(yaml).iter().map(|object| super::apply_value(index, object)).collect()
    };
    assert_eq!(take(&mut index, &objects(11, "u")), [false, false]);
    // A successor is welcome.
    assert_eq!(take(&mut index, &objects(12, "successor")), [true, true]);
}

#[test]
fn a_list_removes_what_it_does_not_contain() {
    let other = |kind: &str| {
        let mut object =
            documents(&objects(10, "v")).into_iter().rfind(|object| object["kind"] == kind).unwrap();
        if kind == "Namespace" || kind == "Node" || kind == "PriorityClass" {
            object["metadata"]["name"] = "other".into();
        } else {
            object["metadata"]["namespace"] = "b".into();
        }
        object
    };
    for kind in described_kinds() {
        let mut index = index_of(&objects(10, "u"));
        let without = printed(&mut index);
        super::apply_value(&mut index, &other("Queue"));
        super::apply_value(&mut index, &other(kind));
        let before = printed(&mut index);
        relist_begin(&mut index, kind);
        // Nothing is forgotten while the list runs, and a list that breaks off starts again.
        assert_eq!(printed(&mut index), before, "{kind}");
        super::apply_value(&mut index, &other(kind));
        relist_begin(&mut index, kind);
        apply(&mut index, &objects(10, "u"));
        relist_finish(&mut index, kind);
        delete_value(&mut index, &other("Queue"));
        assert_eq!(printed(&mut index), without, "{kind}");
        assert!(!relist_finish(&mut index, kind), "{kind}");
    }
}

#[test]
fn an_empty_list_removes_everything() {
    let mut index = index_of(&objects(10, "u"));
    // While there is a Queue to which the others matter.
    for kind in described_kinds().filter(|kind| *kind != "Queue").chain(["Queue"]) {
        relist_begin(&mut index, kind);
        let news = relist_finish(&mut index, kind);
        // A class whose owners are gone does not matter.
        assert_eq!(news, kind != "PriorityClass", "{kind}");
    }
    assert_eq!(printed(&mut index), "");
    assert_eq!(index.kept().namespaces, 0);
}
