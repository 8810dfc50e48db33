//! What a snapshot shows of the labels of namespaces.

use k8s_openapi::api::core::v1::Namespace;
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

#[test]
fn a_namespace_with_a_queue_shows_its_labels() {
    for documents in [[QUEUE, &*namespace("a", "x")], [&*namespace("a", "x"), QUEUE]] {
        let mut index = index_of(&documents.join("\n---\n"));
        assert_eq!(org(&mut index).as_deref(), Some("x"), "{documents:?}");
        let before = index.snapshot(at("12:00:00"));
        assert_eq!(apply(&mut index, &namespace("a", "x")), [false]);
        assert_eq!(apply(&mut index, &namespace("a", "y")), [true]);
        assert_eq!(org(&mut index).as_deref(), Some("y"));
        assert_eq!(before.namespaces[&"a".into()].labels.get("org"), Some("x"));
        assert!(index.delete::<Namespace>(&(), "", "a", "a"));
        assert_eq!(org(&mut index), None);
    }
}

#[test]
fn labels_without_a_queue_to_which_they_matter_are_no_news() {
    let mut index = index_of("{kind: Pod, metadata: {name: p, namespace: a}, spec: {containers: []}}");
    assert_eq!(apply(&mut index, &namespace("a", "x")), [false]);
    assert_eq!(apply(&mut index, &namespace("b", "x")), [false]);
    let snapshot = index.snapshot(at("12:00:00"));
    assert_eq!(snapshot.namespaces.len(), 1);
    assert_eq!(snapshot.namespaces[&"a".into()].labels, Labels::default());

    // They come with a Queue and go with it.
    assert_eq!(apply(&mut index, QUEUE), [true]);
    assert_eq!(org(&mut index).as_deref(), Some("x"));
    assert!(index.delete::<quotient_crds::Queue>(&(), "a", "q", "u"));
    assert_eq!(index.snapshot(at("12:00:00")), snapshot);
}

#[test]
fn ten_thousand_namespaces_are_not_in_the_snapshot() {
    let mut index = index_of(QUEUE);
    for number in 0..10_000 {
        let object = Namespace {
            metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                name: Some(format!("ns-{number}")),
                uid: Some(format!("uid-{number}")),
                labels: Some([("kubernetes.io/metadata.name".to_owned(), format!("ns-{number}"))].into()),
                ..Default::default()
            },
            ..Namespace::default()
        };
        assert!(!index.apply(&object));
    }
    assert_eq!(index.snapshot(at("12:00:00")).namespaces.len(), 1);
}
