//! `release` and `uninstall --check`.

use expect_test::{Expect, expect};

use super::{observed_yaml, read};
use crate::commands::leaving::{release, uninstall};
use crate::manifests::Cluster;
use crate::output::Screen;
use crate::snapshot::{Missing, Snapshot};

/// A parent with a child whose quota it owns, an orphaned quota, and a workload that gave way.
const INPUT: &str = "
{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: org, namespace: org}, spec: {children: {namespaces: {from: All}}}}
---
{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: a, namespace: a}, spec: {parentRef: {namespace: org, name: org}}}
---
{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: b, namespace: b}, spec: {preemption: LowerPriority}}
---
apiVersion: v1
kind: ResourceQuota
metadata:
  name: quotient
  namespace: a
  labels: {app.kubernetes.io/managed-by: quotient}
  ownerReferences: [{apiVersion: quotient.dev/v1alpha1, kind: Queue, name: a, uid: u-a}]
spec: {hard: {requests.cpu: 4}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: quotient, namespace: b, labels: {app.kubernetes.io/managed-by: quotient}}
spec: {hard: {requests.cpu: 4}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: low, namespace: b, annotations: {quotient.dev/replicas-before: '5', quotient.dev/replicas-lowered-to: '2'}}
spec:
  replicas: 2
  selector: {matchLabels: {app: low}}
  template: {metadata: {labels: {app: low}}, spec: {containers: [{name: main, resources: {requests: {cpu: 1}}}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 8}}}
---
apiVersion: v1
kind: Pod
metadata: {name: one, namespace: a}
spec: {nodeName: n1, containers: [{name: main, resources: {requests: {cpu: 1}}}]}
";

fn check_release(namespace: &str, expected: &Expect) {
    let cluster = read(&[("a.yaml", INPUT)]).unwrap();
    expected.assert_eq(&release(&cluster, namespace).unwrap().explanation.text(Screen::plain()));
}

#[test]
fn a_namespace_that_may_go_is_shown_what_follows() {
    check_release(
        "a",
        &expect![[r#"
            Release of namespace a: delete Queue a
             › 1 pod runs on. The capacity that queues share shrinks by 1 cpu.
             › No quota rejects new pods of the namespace any more, and no pod is evicted for a share.
             › Kubernetes deletes what the Queue owns: 1 quota or LimitRange.
        "#]],
    );
}

#[test]
fn what_stands_in_the_way_is_named_with_the_way_out() {
    check_release(
        "b",
        &expect![[r#"
            Release of namespace b: delete Queue b
             › No quota rejects new pods of the namespace any more, and no pod is evicted for a share.
             × Deployment low would keep its lowered size, because Quotient lowered it from 5 for pods of a higher priority. First:
               set preemption: Never in the Queue and wait until the size is restored
             × ResourceQuota quotient would stay, because no Queue owns it, so garbage collection does not delete it. First: kubectl
               -n b delete resourcequota quotient
        "#]],
    );
    check_release(
        "org",
        &expect![[r#"
            Release of namespace org: delete Queue org
             › No quota rejects new pods of the namespace any more, and no pod is evicted for a share.
             × Queue org is the parent of a/a: without it they have no share. First: give them another parentRef
        "#]],
    );
    let cluster = read(&[("a.yaml", INPUT)]).unwrap();
    assert_eq!(release(&cluster, "none").unwrap_err().code(), 2);
}

/// Garbage collection never deletes it, so it is not waited for. One that Quotient wrote goes with its Queue, whatever its label.
#[test]
fn a_quota_of_another_program_stands_in_the_way() {
    const LABEL: &str = "labels: {app.kubernetes.io/managed-by: quotient}";
    let theirs = INPUT.replace(LABEL, "labels: {app.kubernetes.io/managed-by: Helm}");
    let obstacles = |namespace: &str| {
        let release = release(&read(&[("a.yaml", &theirs)]).unwrap(), namespace).unwrap();
        (release.explanation.needs_a_person, release.explanation.text(Screen::plain()))
    };
    let (is_refused, printed) = obstacles("b");
    assert!(
        is_refused
            && printed.contains("ResourceQuota quotient would stay, because another program wrote it."),
        "{printed}"
    );
    let (is_refused, printed) = obstacles("a");
    assert!(!is_refused && printed.contains("what the Queue owns: 1 quota or LimitRange"), "{printed}");
    // What is not Quotient's does not keep Quotient from leaving.
    let printed = uninstall(&read(&[("a.yaml", &theirs)]).unwrap()).text(Screen::plain());
    assert!(!printed.contains("ResourceQuota"), "{printed}");
}

/// A parent queue and the Queue of its own namespace are deleted together.
#[test]
fn a_namespace_with_a_tree_of_its_own_may_go() {
    let own = INPUT.replace(
        "name: a, namespace: a}, spec: {parentRef: {namespace: org, name: org",
        "name: own, namespace: org}, spec: {parentRef: {name: org",
    );
    assert_ne!(own, INPUT);
    let cluster = read(&[("a.yaml", &own)]).unwrap();
    let release = release(&cluster, "org").unwrap();
    let text = release.explanation.text(Screen::plain());
    assert!(!release.explanation.needs_a_person && text.contains("delete Queues org, own"), "{text}");
}

/// Between the look and the deletion of the Queue a pod may be created, and nothing else would remove its gate.
#[test]
fn pods_are_let_in_wherever_a_queue_gates() {
    let gating = INPUT.replace("spec: {preemption: LowerPriority}", "spec: {admission: Gate}");
    let has_gates = |input: &str| release(&read(&[("a.yaml", input)]).unwrap(), "b").unwrap().has_gates;
    assert!(has_gates(&gating) && !has_gates(INPUT));
}

/// Its Queue was deleted and its pods still have the gate.
#[test]
fn gated_pods_that_are_left_behind_are_let_in() {
    let gated = "
apiVersion: v1
kind: Pod
metadata: {name: waits, namespace: left}
spec:
  schedulingGates: [{name: quotient.dev/share}]
  containers: [{name: main, resources: {requests: {cpu: 1}}}]
";
    let cluster = read(&[("a.yaml", gated)]).unwrap();
    expect![[r#"
        Release of namespace left: let its gated pods in
         › No quota rejects new pods of the namespace any more, and no pod is evicted for a share.
         › 1 gated pod is let in at once, whatever room there is.
    "#]]
    .assert_eq(&release(&cluster, "left").unwrap().explanation.text(Screen::plain()));
    expect![[r#"
        1 finding needs you first.
         √ 0 Queues go, with 0 quotas and LimitRanges
         × 1 gated pod of left would wait for ever, because nothing else removes the gate. First: kubectl quotient release left

        Then, in this order:
          helm uninstall quotient --namespace quotient-system
          kubectl delete queues.quotient.dev --all --all-namespaces
          kubectl delete crd queues.quotient.dev queuejobs.quotient.dev
          kubectl -n quotient-system delete configmap quotient-ledger
    "#]].assert_eq(&uninstall(&cluster).text(Screen::plain()));
}

/// The chart names the Deployment after the release, and not always alike.
#[test]
fn the_release_of_the_operator_is_uninstalled() {
    const OPERATOR: &str = "
apiVersion: apps/v1
kind: Deployment
metadata:
  name: prod-quotient
  namespace: sharing
  labels: {app.kubernetes.io/part-of: quotient, app.kubernetes.io/instance: prod}
spec:
  selector: {matchLabels: {app: quotient}}
  template: {spec: {containers: [{name: operator, args: [--flag-of-a-later-version]}]}}
";
    let cluster = Cluster::of(&observed_yaml(OPERATOR, "2026-11-24T14:00:00Z"), None).unwrap();
    let printed = uninstall(&cluster).text(Screen::plain());
    assert!(printed.contains("\n  helm uninstall prod --namespace sharing\n"), "{printed}");
    // What its flags say is not known, so answers may be those of another operator.
    let [warning] = &cluster.warnings[..] else { panic!("{:?}", cluster.warnings) };
    assert!(
        warning.starts_with("the flags of the operator cannot be read, so its defaults are assumed: "),
        "{warning}"
    );
}

/// Its children are in namespaces that the person may not look into.
#[test]
fn a_release_says_if_child_queues_may_be_hidden() {
    let mut snapshot = observed_yaml(INPUT, "2026-11-24T14:00:00Z");
    snapshot.entries.retain(|entry| entry.namespace() == "org");
    let missing = Missing { resource: "queues.quotient.dev".to_owned(), namespace: None };
    let printed = |snapshot: &Snapshot| {
        let release = release(&Cluster::of(snapshot, None).unwrap(), "org").unwrap();
        release.explanation.text(Screen::plain())
    };
    assert!(!printed(&snapshot).contains("Child queues"));
    snapshot.missing.push(missing);
    assert!(printed(&snapshot).contains("Child queues in other namespaces would lose their share."));
}

#[test]
fn what_an_uninstall_would_leave_is_listed() {
    let report = uninstall(&read(&[("a.yaml", INPUT)]).unwrap());
    assert!(report.needs_a_person);
    expect![[r#"
        2 findings need you first.
         √ 3 Queues go, with 1 quota or LimitRange
         × Deployment low in b would keep its lowered size, because Quotient lowered it from 5 for pods of a higher priority.
           First: set preemption: Never in the Queue and wait until the size is restored
         × ResourceQuota quotient in b would stay, because no Queue owns it, so garbage collection does not delete it. First:
           kubectl -n b delete resourcequota quotient

        Then, in this order:
          helm uninstall quotient --namespace quotient-system
          kubectl delete queues.quotient.dev --all --all-namespaces
          kubectl delete crd queues.quotient.dev queuejobs.quotient.dev
          kubectl -n quotient-system delete configmap quotient-ledger
    "#]]
    .assert_eq(&report.text(Screen::plain()));
}
