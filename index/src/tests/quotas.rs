//! What a snapshot shows of quotas, and what the operator can look up.

use expect_test::expect;
use quotient_engine::names::Namespace;

use super::{apply, index_of, shown};

#[test]
fn only_the_quota_called_quotient_counts() {
    let text = shown(
        "
kind: ResourceQuota
metadata: {name: quotient, namespace: a}
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
",
        "12:00:00",
    );
    expect![[r#"
        namespace a
          quota: hard cpu 3, memory 9Gi, nvidia.com/gpu 2; enforced cpu 4, memory 9Gi; unconfirmed -
    "#]]
    .assert_eq(&text);
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
