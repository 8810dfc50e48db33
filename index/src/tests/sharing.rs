//! Snapshots share what has not changed.

use std::sync::Arc;

use super::{apply, at, index_of};

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
fn pods_of_one_owner_share_its_id() {
    let pod = |name: &str| {
        format!(
            "---\n{{kind: Pod, metadata: {{name: {name}, namespace: a, ownerReferences: [{{apiVersion: apps/v1, \
             kind: ReplicaSet, name: web, uid: r-1, controller: true}}]}}, spec: {{containers: []}}}}\n"
        )
    };
    let mut index = index_of(&[pod("p"), pod("q")].concat());
    let snapshot = index.snapshot(at("12:00:00"));
    let ids: Vec<_> =
        snapshot.namespaces[&"a".into()].pods.iter().map(|pod| pod.owner().unwrap().as_str()).collect();
    assert_eq!(ids, ["r-1", "r-1"]);
    assert!(std::ptr::eq(ids[0], ids[1]));
}
