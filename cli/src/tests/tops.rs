//! `top` and `init`: what uses most, and what follows from that.

use clap::Parser as _;
use expect_test::{Expect, expect};

use super::read;
use crate::args::{Args, Command};
use crate::commands::init::{self, proposals};
use crate::commands::simulate::at_rest;
use crate::commands::top::{TopArgs, What, text, top};
use crate::manifests::Cluster;
use crate::output::Screen;

/// Two namespaces, one of them without a Queue.
const INPUT: &str = r#"
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 10, memory: 10Gi}}}
---
{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: a, namespace: a}, spec: {}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: a}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, resources: {requests: {cpu: 1, memory: 1Gi}}}]}}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: own, namespace: b}, spec: {hard: {requests.cpu: 6}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: b}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, resources: {requests: {cpu: 3}}}]}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: bare, namespace: b}, spec: {nodeName: n1, containers: [{name: main, resources: {requests: {cpu: 500m}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web-1, namespace: a, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: "", controller: true}]}, spec: {nodeName: n1, containers: [{name: main, resources: {requests: {cpu: 1, memory: 1Gi}}}]}}
"#;

fn cluster() -> Cluster {
    at_rest(read(&[("a.yaml", INPUT)]).unwrap())
}

fn args(line: &str) -> TopArgs {
    let words = ["kubectl-quotient", "top"].into_iter().chain(line.split_whitespace());
    match Args::try_parse_from(words).unwrap().command {
        Command::Top(args) => args,
        _ => panic!("{line}"),
    }
}

fn check(line: &str, what: What, expected: &Expect) {
    let (rows, selected) = top(&cluster(), &args(line), None).unwrap();
    expected.assert_eq(&text(&rows, what, selected.as_ref(), Screen::plain()));
}

#[test]
fn the_largest_stand_first() {
    check(
        "workloads",
        What::Workloads,
        &expect![[r#"
        WORKLOAD        NAMESPACE  QUEUE          PODS  USED
        Job train       b          - (unmanaged)  1     3c
        Deployment web  a          a              1     1c 1Gi
        Pod bare        b          - (unmanaged)  1     0.5c
    "#]],
    );
    check(
        "workloads -r memory --limit 1",
        What::Workloads,
        &expect![[r#"
        WORKLOAD        NAMESPACE  QUEUE  PODS  USED
        Deployment web  a          a      1     1Gi
    "#]],
    );
    check(
        "namespaces",
        What::Namespaces,
        &expect![[r#"
        NAMESPACE  QUEUE          PODS  USED
        b          - (unmanaged)  2     3.5c
        a          a              1     1c 1Gi
    "#]],
    );
    check(
        "queues --sort over",
        What::Queues,
        &expect![[r#"
            QUEUE  PODS  USED    DESERVED  OVER  BORROWED  LENT
            a      1     1c 1Gi  2c 2Gi    0     0         0
        "#]],
    );
}

#[test]
fn a_resource_that_nothing_uses_is_refused() {
    assert_eq!(top(&cluster(), &args("queues -r gpu"), None).unwrap_err().code(), 2);
}

#[test]
fn a_namespace_without_a_queue_gets_a_proposal() {
    let proposed = proposals(&cluster());
    expect![[r#"
        NAMESPACE  USED NOW  WEIGHT  DEFAULT REQUESTS  NOTE
        b          3.5c          35  100m, 128Mi       its ResourceQuota own (6c) stays and acts as a limit; 1 workload without requests
        1 Queue written with mode: Observe. Nothing was applied. Next: kubectl quotient diff -f queues/
    "#]].assert_eq(&init::text(&proposed, "queues/", Screen::plain()));
    let manifests: Vec<String> = proposed.iter().map(|proposal| proposal.queue().manifest()).collect();
    expect![[r#"
        # Pods of b requested cpu 3500m.
        apiVersion: quotient.dev/v1alpha1
        kind: Queue
        metadata:
          name: b
          namespace: b
        spec:
          defaultRequests:
            cpu: 100m
            memory: 128Mi
          mode: Observe
          weight: 35
    "#]]
    .assert_eq(&manifests.join("---\n"));
}

#[test]
fn what_is_proposed_is_understood_and_changes_nothing() {
    let proposed: Vec<String> =
        proposals(&cluster()).iter().map(|proposal| proposal.queue().manifest()).collect();
    let with = read(&[("a.yaml", INPUT), ("b.yaml", &proposed.join("---\n"))]).unwrap();
    let plan = quotient_engine::advance::settle(&with.snapshot).1;
    assert_eq!((plan.queues.len(), plan.stalled.len(), plan.evictions.len()), (2, 0, 0));
}
