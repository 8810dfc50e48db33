//! Snapshots share what has not changed.

use std::sync::Arc;

use super::{apply, at, index_of, namespace_a};

fn pod(namespace: &str, name: &str, cpu: &str) -> String {
    format!(
        "---\n{{kind: Pod, metadata: {{name: {name}, namespace: {namespace}}}, \
         spec: {{nodeName: n1, containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}]}}}}\n"
    )
}

#[test]
fn only_what_changed_is_copied() {
    let node = "{kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 8}}}\n";
    let mut index = index_of(&[node, &pod("a", "p", "1"), &pod("b", "p", "1")].concat());
    let before = index.snapshot(at("12:00:00"));
    let unchanged = index.snapshot(at("12:00:00"));
    assert!(Arc::ptr_eq(&before.namespaces[&"a".into()], &unchanged.namespaces[&"a".into()]));
    assert_eq!(apply(&mut index, &pod("a", "p", "1")), [false]);
    assert_eq!(apply(&mut index, &pod("a", "q", "1")), [true]);
    let after = index.snapshot(at("12:00:00"));
    assert!(!Arc::ptr_eq(&before.namespaces[&"a".into()], &after.namespaces[&"a".into()]));
    assert!(Arc::ptr_eq(&before.namespaces[&"b".into()], &after.namespaces[&"b".into()]));
    assert!(Arc::ptr_eq(&before.nodes[&"n1".into()], &after.nodes[&"n1".into()]));
    // What was handed out stays as it was.
    assert_eq!(before.namespaces[&"a".into()].pods.len(), 1);
}

#[test]
fn pods_of_one_shape_share_it() {
    let mut index = index_of(&[pod("a", "p", "1"), pod("b", "q", "1000m"), pod("b", "r", "2")].concat());
    let snapshot = index.snapshot(at("12:00:00"));
    let pods: Vec<_> = snapshot.namespaces.values().flat_map(|state| &state.pods).collect();
    assert!(Arc::ptr_eq(&pods[0].shape, &pods[1].shape));
    assert!(!Arc::ptr_eq(&pods[0].shape, &pods[2].shape));
}

#[test]
fn pods_of_one_owner_share_all_that_they_have_in_common() {
    let pod = |number: u32, tier: &str| {
        format!(
            "---\n{{kind: Pod, metadata: {{name: db-{number}, namespace: a, resourceVersion: '{number}', labels: \
             {{app: db, tier: {tier}, apps.kubernetes.io/pod-index: '{number}'}}, \
             annotations: {{quotient.dev/gang-min-available: '2'}}, ownerReferences: [{{apiVersion: apps/v1, \
             kind: StatefulSet, name: db, uid: s-1, controller: true}}]}}, spec: {{containers: []}}}}\n"
        )
    };
    let mut index = index_of(&[pod(1, "gold"), pod(2, "gold"), pod(3, "iron")].concat());
    let metadata = |index: &mut quotient_index::Index| -> Vec<_> {
        namespace_a(index).pods.iter().map(|pod| pod.metadata.clone()).collect()
    };
    let before = metadata(&mut index);
    assert!(Arc::ptr_eq(&before[0], &before[1]));
    assert!(!Arc::ptr_eq(&before[0], &before[2]));
    // What an event leaves as it was is not even looked up again.
    let again = pod(1, "gold").replace("containers: []", "containers: [], priority: 1");
    assert_eq!(apply(&mut index, &again), [true]);
    assert!(Arc::ptr_eq(&before[0], &metadata(&mut index)[0]));
    // Labels may change.
    assert_eq!(apply(&mut index, &pod(1, "iron")), [true]);
    assert!(Arc::ptr_eq(&before[2], &metadata(&mut index)[0]));
}

#[test]
fn texts_stand_in_memory_once() {
    let mut index = index_of(
        "
kind: Node
metadata: {name: n1, labels: {zone: a-very-long-name-of-a-zone}}
---
kind: Pod
metadata: {name: p, namespace: a, labels: {zone: a-very-long-name-of-a-zone}}
spec: {containers: []}
",
    );
    let snapshot = index.snapshot(at("12:00:00"));
    let of_node = snapshot.nodes[&"n1".into()].labels.get("zone").unwrap();
    let of_pod = snapshot.namespaces[&"a".into()].pods[0].metadata.labels.get("zone").unwrap();
    assert!(std::ptr::eq(of_node, of_pod));
}
