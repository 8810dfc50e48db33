//! What a snapshot shows of quotas, and what the operator can look up.

use expect_test::expect;
use k8s_openapi::api::core::v1::ResourceQuota;
use quotient_snapshot::amounts::{Amount, Bounds, Resource};
use quotient_snapshot::ledger::Generation;
use quotient_snapshot::names::Namespace;
use quotient_snapshot::time::Timestamp;

use super::{QUEUE, apply, check, index_of, namespace_a, story};
use quotient_index::Index;

#[test]
fn ours_is_the_quota_called_quotient() {
    check(
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
        &expect![[r#"
            namespace a
              quota hard {cpu 3, memory 9Gi, nvidia.com/gpu 2}, enforced {cpu 4, memory 9Gi}, ours
              others allow {cpu 1}
            namespace c
              quota hard {cpu 1}
            namespace d
              quota hard {cpu 1}
        "#]],
    );
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
    assert_eq!((observed.uid.as_str(), observed.generation), ("u-1", Some(Generation::new(41))));
    assert_eq!(apply(&mut index, &quota("7", "42", "1")), [true]);
    assert_eq!(apply(&mut index, &quota("8", "forty-two", "1")), [true]);
    assert_eq!(index.observed_quota(&Namespace::from("a")).unwrap().generation, None);
}

#[test]
fn quantities_that_cannot_be_read_are_named() {
    let quota = serde_yaml_ng::from_str(
        "{metadata: {name: quotient}, spec: {hard: {requests.cpu: lots, pods: lots}}}",
    );
    let unreadable = quotient_index::quotas::unreadable(&quota.unwrap());
    assert_eq!(
        unreadable.iter().map(|problem| problem.field.as_str()).collect::<Vec<_>>(),
        ["spec.hard.requests.cpu"]
    );
}

fn theirs(name: &str, spec: &str) -> String {
    format!(
        "{{kind: ResourceQuota, metadata: {{name: {name}, namespace: a, uid: {name}}}, spec: {spec}}}\n---\n"
    )
}

/// What the quotas of others allow in the namespace.
fn others(index: &mut Index) -> String {
    story::told(&namespace_a(index).foreign_quotas, &Bounds::new())
}

#[test]
fn quotas_of_others_bound_what_is_shared_out() {
    let mut index = index_of(
        &[
            QUEUE,
            &theirs("one", "{hard: {cpu: 8, requests.memory: 10Gi, limits.cpu: 1, pods: 3}}"),
            &theirs("two", "{hard: {requests.cpu: 6, memory: 12Gi, requests.nvidia.com/gpu: 2}}"),
            &theirs("scoped", "{hard: {cpu: 1}, scopes: [BestEffort]}"),
            &theirs("classes", "{hard: {cpu: 1}, scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: Exists}]}}"),
            &theirs("counts", "{hard: {pods: 1}}"),
            &theirs("nothing", "{}"),
        ]
        .concat(),
    );
    assert_eq!(others(&mut index), "{cpu 6, memory 10Gi, nvidia.com/gpu 2}");
    // A quota that is looser than another one changes nothing.
    assert_eq!(apply(&mut index, &theirs("one", "{hard: {cpu: 9, memory: 10Gi}}")), [false]);
    assert_eq!(apply(&mut index, &theirs("two", "{hard: {cpu: 10}, scopes: []}")), [true]);
    assert_eq!(others(&mut index), "{cpu 9, memory 10Gi}");
    assert_eq!(apply(&mut index, &theirs("one", "{hard: {cpu: 9}, scopes: [Terminating]}")), [true]);
    assert_eq!(others(&mut index), "{cpu 10}");
    assert!(!index.delete::<ResourceQuota>(&(), "a", "two", "predecessor"));
    assert!(index.delete::<ResourceQuota>(&(), "a", "two", "two"));
    assert_eq!(others(&mut index), "");
}

#[test]
fn the_queue_that_owns_a_quota_stands_on_it() {
    let quota = |version: u32, uid: &str| {
        let owner = format!(
            "{{apiVersion: quotient.dev/v1alpha1, kind: Queue, name: team, uid: {uid}, controller: true}}"
        );
        format!(
            "{{kind: ResourceQuota, metadata: {{name: quotient, namespace: a, uid: u, resourceVersion: '{version}', \
             ownerReferences: [{owner}]}}, spec: {{}}}}"
        )
    };
    let mut index = index_of(&quota(1, "q"));
    let owner = |index: &mut Index| {
        let shown = namespace_a(index).quota.clone().unwrap().owner;
        assert_eq!(index.observed_quota(&Namespace::from("a")).unwrap().owner, shown);
        shown.map(|uid| uid.as_str().to_owned())
    };
    assert_eq!(owner(&mut index).as_deref(), Some("q"));
    assert_eq!(apply(&mut index, &quota(2, "r")), [true]);
    assert_eq!(owner(&mut index).as_deref(), Some("r"));
}

/// Pods and quotas come by different watches: what admission has charged is held until the pods are seen.
#[test]
fn what_is_charged_before_its_pod_is_seen_is_held() {
    let quota = |version: u32, used: u32| {
        format!(
            "
---
apiVersion: v1
kind: ResourceQuota
metadata: {{name: quotient, namespace: a, uid: q, resourceVersion: \"{version}\"}}
spec: {{hard: {{requests.cpu: 4}}}}
status: {{hard: {{requests.cpu: 4}}, used: {{requests.cpu: {used}}}}}
"
        )
    };
    let pod = |name: &str, version: u32| {
        format!(
            "
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: a, uid: {name}, resourceVersion: \"{version}\"}}
spec: {{containers: [{{name: c, resources: {{requests: {{cpu: 1}}}}}}]}}
"
        )
    };
    let charged = |index: &mut Index| {
        let snapshot = index.snapshot(Timestamp::default());
        let quota = snapshot.namespaces[&"a".into()].quota.clone().unwrap();
        quota.charged.get(&Resource::Cpu).map(Amount::units)
    };
    let mut index = index_of(&[QUEUE, &pod("one", 10), &quota(11, 1)].concat());
    assert_eq!(charged(&mut index), Some(1_000));
    // More is charged: that calls for no decision, it only keeps others from the room.
    assert_eq!(apply(&mut index, &quota(12, 2)), [false]);
    assert_eq!(charged(&mut index), Some(2_000));
    // The pod is seen: from here on pods tell.
    assert_eq!(apply(&mut index, &pod("two", 13)), [true]);
    assert_eq!(charged(&mut index), None);
    // A quota that is older than the pods tells nothing of them.
    assert_eq!(apply(&mut index, &quota(12, 2)), [false]);
    assert_eq!(charged(&mut index), None);
    // Less is charged than before: others may have the room.
    apply(&mut index, &quota(14, 2));
    assert_eq!(apply(&mut index, &quota(15, 1)), [true]);
    // So they may when pods have told already: admission lets them in only now.
    apply(&mut index, &pod("three", 20));
    assert_eq!(apply(&mut index, &quota(16, 3)), [false]);
    assert_eq!(apply(&mut index, &quota(17, 2)), [true]);
}

#[test]
fn a_quota_that_was_to_be_counted_anew_and_still_says_so_is_written() {
    let quota = |version: u32, key: &str| {
        format!(
            "
---
apiVersion: v1
kind: ResourceQuota
metadata:
  {{name: quotient, namespace: a, uid: q, resourceVersion: \"{version}\", annotations: {{quotient.dev/generation: \"3\"}}}}
spec: {{hard: {{requests.cpu: 4{key}}}}}
"
        )
    };
    let mut index = index_of(QUEUE);
    for (version, key, unstamped) in
        [(1, "", false), (2, ", count/usage-resync.quotient.dev: 0", true), (3, "", false)]
    {
        apply(&mut index, &quota(version, key));
        let snapshot = index.snapshot(Timestamp::default());
        assert_eq!(snapshot.namespaces[&"a".into()].quota.as_ref().unwrap().unstamped, unstamped, "{key}");
    }
}
