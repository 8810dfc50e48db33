//! Old news never replaces newer.

use k8s_openapi::api::core::v1::{Namespace, Node, Pod, ResourceQuota};
use quotient_crds::Queue;

use super::{apply, at, index_of, story};
use crate::Keeps;

/// One object of every kind, in this version, with a content that depends on it.
fn objects(version: u64, uid: &str) -> String {
    format!(
        "
kind: Pod
metadata: {{name: p, namespace: a, uid: {uid}, resourceVersion: '{version}'}}
spec: {{priority: {version}, containers: []}}
---
kind: Node
metadata: {{name: n, uid: {uid}, resourceVersion: '{version}'}}
status: {{allocatable: {{cpu: {version}}}}}
---
kind: Queue
metadata: {{name: q, namespace: a, uid: {uid}, resourceVersion: '{version}'}}
spec: {{weight: {version}}}
---
kind: ResourceQuota
metadata: {{name: quotient, namespace: a, uid: {uid}, resourceVersion: '{version}'}}
spec: {{hard: {{cpu: {version}}}}}
---
kind: Namespace
metadata: {{name: a, uid: {uid}, resourceVersion: '{version}', labels: {{version: '{version}'}}}}
"
    )
}

#[test]
fn an_older_version_is_ignored() {
    // 9 before 10: versions are numbers, not texts.
    let mut index = index_of(&objects(10, "u"));
    let before = story::tell(&index.snapshot(at("12:00:00")));
    assert_eq!(apply(&mut index, &objects(9, "u")), [false; 5]);
    assert_eq!(story::tell(&index.snapshot(at("12:00:00"))), before);
    assert_eq!(apply(&mut index, &objects(11, "u")), [true; 5]);
}

#[test]
fn the_predecessor_of_what_is_kept_is_ignored() {
    let mut index = index_of(&objects(10, "second"));
    assert_eq!(apply(&mut index, &objects(9, "first")), [false; 5]);
    assert!(!Keeps::<Pod>::delete(&mut index, "a", "p", "first"));
    assert!(!Keeps::<Node>::delete(&mut index, "", "n", "first"));
    assert!(!Keeps::<Queue>::delete(&mut index, "a", "q", "first"));
    assert!(!Keeps::<ResourceQuota>::delete(&mut index, "a", "quotient", "first"));
    assert!(!Keeps::<Namespace>::delete(&mut index, "", "a", "first"));
    assert_eq!(story::tell(&index.snapshot(at("12:00:00"))).lines().count(), 5);
}

#[test]
fn a_late_reply_does_not_bring_a_deleted_object_back() {
    let mut index = index_of(&objects(10, "u"));
    assert!(Keeps::<Queue>::delete(&mut index, "a", "q", "u"));
    assert!(Keeps::<ResourceQuota>::delete(&mut index, "a", "quotient", "u"));
    assert!(Keeps::<Pod>::delete(&mut index, "a", "p", "u"));
    assert!(Keeps::<Node>::delete(&mut index, "", "n", "u"));
    assert!(index.snapshot(at("12:00:00")).namespaces.is_empty());
    let [_, _, queue, quota, _] = apply(&mut index, &objects(11, "u"))[..] else { panic!() };
    assert!(!queue && !quota);
    // A successor is welcome.
    assert_eq!(apply(&mut index, &objects(12, "successor"))[2..], [true, true, true]);
}

#[test]
fn a_list_removes_what_it_does_not_contain() {
    let mut index = index_of(&objects(10, "u"));
    apply(&mut index, "{kind: Pod, metadata: {name: other, namespace: b, uid: v}, spec: {containers: []}}");
    Keeps::<Pod>::relist_begin(&mut index);
    // Nothing is forgotten while the list runs, and a list that breaks off starts again.
    assert_eq!(index.snapshot(at("12:00:00")).namespaces.len(), 2);
    apply(&mut index, "{kind: Pod, metadata: {name: other, namespace: b, uid: v}, spec: {containers: []}}");
    Keeps::<Pod>::relist_begin(&mut index);
    apply(&mut index, &objects(10, "u"));
    assert!(Keeps::<Pod>::relist_finish(&mut index));
    assert_eq!(index.snapshot(at("12:00:00")).namespaces.len(), 1);
    assert!(!Keeps::<Pod>::relist_finish(&mut index));
    for_each_kind_an_empty_list(&mut index);
    assert_eq!(story::tell(&index.snapshot(at("12:00:00"))), "");
}

fn for_each_kind_an_empty_list(index: &mut crate::Index) {
    Keeps::<Pod>::relist_begin(index);
    assert!(Keeps::<Pod>::relist_finish(index));
    Keeps::<Node>::relist_begin(index);
    assert!(Keeps::<Node>::relist_finish(index));
    // While there is a Queue to which the labels matter.
    Keeps::<Namespace>::relist_begin(index);
    assert!(Keeps::<Namespace>::relist_finish(index));
    Keeps::<Queue>::relist_begin(index);
    assert!(Keeps::<Queue>::relist_finish(index));
    Keeps::<ResourceQuota>::relist_begin(index);
    assert!(Keeps::<ResourceQuota>::relist_finish(index));
}
