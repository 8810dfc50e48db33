//! What a snapshot shows of the labels of namespaces, and of namespaces without a Queue.

use quotient_snapshot::labels::Labels;

use super::{apply, at, index_of};
use quotient_index::Index;

const QUEUE: &str = "{kind: Queue, metadata: {name: q, namespace: a, uid: u}, spec: {}}";

fn namespace(name: &str, org: &str) -> String {
    format!(
        "{{kind: Namespace, metadata: {{name: {name}, uid: {name}, labels: {{org: {org}, tier: gold}}}}}}"
    )
}

/// The label `org` of namespace `a` as a snapshot shows it.
fn org(index: &mut Index) -> Option<String> {
    let snapshot = index.snapshot(at("12:00:00"));
    snapshot.namespaces.get(&"a".into())?.labels.get("org").map(str::to_owned)
}

/// A cluster may have ten thousand namespaces that take part in nothing.
#[test]
fn of_a_namespace_without_a_queue_only_pods_are_shown() {
    let mut index = index_of("{kind: Pod, metadata: {name: p, namespace: a}, spec: {containers: []}}");
    let objects = "
{kind: ReplicaSet, metadata: {name: web, namespace: b}, spec: {replicas: 2, selector: {}, template: {spec: {containers: []}}}}
---
{kind: ResourceQuota, metadata: {name: theirs, namespace: b}, spec: {hard: {cpu: 8}}}
---
{kind: PodDisruptionBudget, metadata: {name: web, namespace: b}, spec: {selector: {}}}
---
";
    let labels = ["a", "b"].map(|name| namespace(name, "x")).join("\n---\n");
    assert_eq!(apply(&mut index, &[objects, &labels].concat()), [false; 5]);
    let snapshot = index.snapshot(at("12:00:00"));
    assert_eq!(snapshot.namespaces.len(), 1);
    assert_eq!(snapshot.namespaces[&"a".into()].labels, Labels::default());

    // They come with a Queue and go with it.
    assert_eq!(apply(&mut index, QUEUE), [true]);
    assert_eq!(org(&mut index).as_deref(), Some("x"));
    assert!(index.delete::<quotient_crds::Queue>(&(), "a", "q", "u"));
    assert_eq!(index.snapshot(at("12:00:00")), snapshot);
}

/// What a namespace asks for that is being deleted cannot come any more. The API server says so before it deletes the first pod.
#[test]
fn a_namespace_that_is_being_deleted_is_shown_as_such() {
    let mut index = index_of(&[QUEUE, "\n---\n", &namespace("a", "x")].concat());
    let is_terminating =
        |index: &mut Index| index.snapshot(at("12:00:00")).namespaces[&"a".into()].terminating;
    assert!(!is_terminating(&mut index));
    let deleted = namespace("a", "x").replace("uid: a,", "uid: a, deletionTimestamp: 2026-01-01T12:00:00Z,");
    assert_eq!(apply(&mut index, &deleted), [true]);
    assert!(is_terminating(&mut index));
    // Its successor of the same name is another one.
    assert_eq!(apply(&mut index, &namespace("a", "x").replace("uid: a,", "uid: a2,")), [true]);
    assert!(!is_terminating(&mut index));
}
