//! What a snapshot shows of quotas, and what the operator can look up.

use expect_test::expect;
use quotient_engine::amounts::Bounds;
use quotient_engine::names::Namespace;

use super::{apply, at, index_of, shown};
use crate::Index;

#[test]
fn only_the_quota_called_quotient_counts() {
    let text = shown(
        "
kind: ResourceQuota
metadata: {name: quotient, namespace: a, labels: {app.kubernetes.io/managed-by: quotient}}
spec: {hard: {requests.cpu: 3, requests.memory: 9Gi, requests.nvidia.com/gpu: 2, count/pods: 10}}
status: {hard: {requests.cpu: 4, requests.memory: 9216Mi}}
---
kind: ResourceQuota
metadata: {name: theirs, namespace: a}
spec: {hard: {requests.cpu: 1}}
---
kind: ResourceQuota
metadata: {name: theirs, namespace: b}
spec: {hard: {requests.cpu: 1}}
---
kind: ResourceQuota
metadata: {name: quotient, namespace: c, labels: {app.kubernetes.io/managed-by: Helm}}
spec: {hard: {requests.cpu: 1}}
---
kind: ResourceQuota
metadata: {name: quotient, namespace: d}
spec: {hard: {requests.cpu: 1}}
",
        "12:00:00",
    );
    expect![[r#"
        namespace a
          quota: hard cpu 3, memory 9Gi, nvidia.com/gpu 2; enforced cpu 4, memory 9Gi; unconfirmed -
        namespace c
          foreign quota: hard cpu 1; enforced -; unconfirmed -
        namespace d
          foreign quota: hard cpu 1; enforced -; unconfirmed -
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_quota_that_is_being_written_is_ours() {
    let mut index =
        index_of("{kind: ResourceQuota, metadata: {name: quotient, namespace: a, uid: u}, spec: {}}");
    let namespace = Namespace::from("a");
    let ours = |index: &mut Index| {
        index.snapshot(at("12:00:00")).namespaces[&"a".into()].quota.as_ref().unwrap().ours
    };
    assert!(!ours(&mut index));
    let observed = index.observed_quota(&namespace).unwrap().clone();
    assert!(index.quota_written(&namespace, &Bounds::new(), Some(&observed)));
    assert!(ours(&mut index));
    assert!(index.quota_confirmed(&namespace));
    assert!(!ours(&mut index));
}

#[test]
fn what_a_write_needs_is_kept() {
    let quota = |version: &str, generation: &str, used: &str| {
        format!(
            "
kind: ResourceQuota
metadata:
  name: quotient
  namespace: a
  uid: u-1
  resourceVersion: '{version}'
  annotations: {{quotient.dev/generation: '{generation}'}}
spec: {{hard: {{cpu: 1}}}}
status: {{hard: {{cpu: 1}}, used: {{cpu: {used}}}}}
"
        )
    };
    let mut index = index_of(&quota("5", "41", "0"));
    // Admission counts in status.used, which is not ours to know; the version still has to follow.
    assert_eq!(apply(&mut index, &quota("6", "41", "1")), [false]);
    let observed = index.observed_quota(&Namespace::from("a")).unwrap().clone();
    assert_eq!(observed.resource_version.as_ref().unwrap().as_str(), "6");
    assert_eq!((observed.uid.as_str(), observed.generation), ("u-1", Some(41)));
    assert_eq!(apply(&mut index, &quota("7", "42", "1")), [true]);
    assert_eq!(apply(&mut index, &quota("8", "forty-two", "1")), [true]);
    assert_eq!(index.observed_quota(&Namespace::from("a")).unwrap().generation, None);
}

#[test]
fn quantities_that_cannot_be_read_are_named() {
    let quota = serde_yaml_ng::from_str(
        "{metadata: {name: quotient}, spec: {hard: {requests.cpu: lots, pods: lots}}}",
    );
    let unreadable = crate::quotas::unreadable(&quota.unwrap());
    assert_eq!(
        unreadable.iter().map(|problem| problem.field.as_str()).collect::<Vec<_>>(),
        ["spec.hard.requests.cpu"]
    );
}
