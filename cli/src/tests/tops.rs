//! `top` and `init`: what uses most, and what follows from that.

use expect_test::{Expect, expect};

use super::{args, read};
use crate::commands::propose::{self, Basis, proposals};
use crate::commands::simulate::at_rest;
use crate::commands::top::{What, text, top};
use crate::manifests::Cluster;
use crate::output::{Screen, Style, joined};
use crate::queues::{governing, views};

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

fn check(line: &str, what: What, expected: &Expect) {
    let (rows, selected) = top(&cluster(), &args(line), None).unwrap();
    expected.assert_eq(&text(&rows, what, selected.as_ref(), Screen::plain()));
}

#[test]
fn the_oldest_queue_of_a_namespace_governs_it() {
    let queue = |name: &str, created: &str| {
        let created = format!("creationTimestamp: '2026-{created}-01T00:00:00Z'");
        format!(
            "{{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {{name: {name}, namespace: n, {created}}}, spec: {{}}}}"
        )
    };
    let queues = [queue("first", "02"), queue("second", "01")].join("\n---\n");
    let cluster = at_rest(read(&[("queues.yaml", &queues)]).unwrap());
    let views = views(&cluster);
    assert_eq!(governing(&views, "n").map(|view| view.name.to_string()).as_deref(), Some("n/second"));
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

/// A workload has no share of its own: those of the queue that is most above its share stand first.
#[test]
fn workloads_are_sorted_by_what_their_queue_uses_above_its_share() {
    const TWO_QUEUES: &str = "
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 10, memory: 10Gi}}}
---
{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: large, namespace: large}, spec: {weight: 9, request: {cpu: 10}}}
---
{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: small, namespace: small}, spec: {request: {cpu: 10}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: large}, spec: {nodeName: n1, containers: [{name: main, resources: {requests: {cpu: 5}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: small}, spec: {nodeName: n1, containers: [{name: main, resources: {requests: {cpu: 3}}}]}}
";
    let cluster = at_rest(read(&[("a.yaml", TWO_QUEUES)]).unwrap());
    let sorted = |line: &str| {
        let (rows, _) = top(&cluster, &args(line), None).unwrap();
        text(&rows, What::Workloads, None, Screen::plain())
    };
    expect![[r#"
        WORKLOAD  NAMESPACE  QUEUE  PODS  USED
        Pod b     small      small  1     3c
        Pod a     large      large  1     5c
    "#]]
    .assert_eq(&sorted("workloads --sort over"));
    assert_ne!(sorted("workloads"), sorted("workloads --sort over"));
}

#[test]
fn a_resource_that_nothing_uses_is_refused() {
    assert_eq!(top(&cluster(), &args("queues -r gpu"), None).unwrap_err().code(), 2);
}

#[test]
fn a_namespace_without_a_queue_gets_a_proposal() {
    let proposed = proposals(&cluster(), Basis::Usage);
    let manifests: Vec<String> = proposed.iter().map(|proposal| proposal.queue.manifest()).collect();
    expect![[r#"
        # Pods of b requested 3.5 cpu.
        # Its quotas allow 6 cpu.
        apiVersion: quotient.dev/v1alpha1
        kind: Queue
        metadata:
          name: b
          namespace: b
        spec:
          defaultRequests:
            cpu: 100m
            memory: 128Mi
          guaranteed:
            cpu: '1'
          mode: Observe
          weight: 35
    "#]]
    .assert_eq(&manifests.join("---\n"));
}

#[test]
fn a_cluster_with_quotas_is_adopted() {
    let proposed = proposals(&cluster(), Basis::Quotas);
    let manifests: Vec<String> = proposed.iter().map(|proposal| proposal.queue.manifest()).collect();
    let with = read(&[("a.yaml", INPUT), ("b.yaml", &manifests.join("---\n"))]).unwrap();
    let plan = quotient_advance::settle(&with.snapshot).1;
    assert_eq!((plan.stalled.len(), plan.evictions.len()), (0, 0));
    let mut printed = propose::table(&proposed, Style::Plain);
    printed.extend(propose::findings(&at_rest(with), None, Screen::plain()));
    printed.push(propose::ending(proposed.len(), "queues/"));
    expect![[r#"
        NAMESPACE  USED NOW  WEIGHT  GUARANTEED  DEFAULT REQUESTS  NOTE
        b          3.5 cpu   60      6 cpu       100m, 128Mi       its ResourceQuota own (6 cpu) stays and acts as a limit; 1 workload without requests

        cluster      √ 2 checks
        namespaces   √ 3 checks
                     · b: ResourceQuota own bounds the share
                       fix: remove the other ResourceQuota, unless it is meant as a limit
                       (docs/reference/checks.md#foreign-quota)
        autoscaling  √ 1 check
        workloads    √ 8 checks
                     ‼ Deployment a/web cannot roll out at its full share: maxUnavailable is 0 pods
                       fix: set maxUnavailable to at least 1                              docs/reference/checks.md#no-surge-room
                     ‼ Job b/train counts evictions against backoffLimit
                       fix: add a podFailurePolicy that ignores DisruptionTarget            docs/reference/checks.md#job-retries
                     · Pod b/bare has no controller
                       fix: use a Job or a Deployment: nothing creates an evicted bare pod again
                       (docs/reference/checks.md#bare-pods)
        14 ok, 2 warnings, 0 errors, 2 remarks, 3 not looked at

        1 Queue written with mode: Observe. Nothing applied. Next: kubectl quotient diff -f queues/
    "#]].assert_eq(&joined(printed));
    for stated in ["# Its quotas allow 6 cpu.\n", "guaranteed:\n    cpu: '6'\n", "weight: 60\n"] {
        assert!(manifests.concat().contains(stated), "{manifests:?}");
    }
}

/// The operator takes a quota of its name over, so it does not stay. One that Quotient wrote says nothing of the team.
#[test]
fn a_quota_of_our_name_is_taken_over() {
    for (writer, note) in [
        (
            "Helm",
            "its ResourceQuota quotient (6 cpu) is taken over by Quotient: create it again under another name before; 1",
        ),
        ("quotient", "note: \"1"),
    ] {
        let label =
            format!("name: quotient, namespace: b, labels: {{app.kubernetes.io/managed-by: {writer}}}");
        let input = INPUT.replace("name: own, namespace: b", &label);
        assert_ne!(input, INPUT);
        let proposed = proposals(&at_rest(read(&[("a.yaml", &input)]).unwrap()), Basis::Quotas);
        assert!(
            format!("{proposed:?}").contains(&format!("{note} workload without requests")),
            "{proposed:?}"
        );
    }
}

/// A quota that is larger than the cluster is no promise: it only sets the weight.
#[test]
fn quotas_above_the_cluster_become_weights() {
    let input = INPUT.replace("requests.cpu: 6", "requests.cpu: 60");
    let proposed = proposals(&at_rest(read(&[("a.yaml", &input)]).unwrap()), Basis::Quotas);
    let specs = proposed.iter().map(|proposal| &proposal.queue.spec);
    let specs: Vec<_> = specs.map(|spec| (spec.weight, spec.guaranteed.clone())).collect();
    assert_eq!(specs, [(600, None)]);
}

/// Such a quota bounds only some of the pods, so it is no promise to the team.
#[test]
fn a_quota_with_scopes_gives_no_guarantee() {
    let scopes = [
        "scopes: [Terminating]",
        "scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: Exists}]}",
    ];
    for scope in scopes {
        let input = INPUT.replace("hard: {requests.cpu: 6}", &format!("hard: {{requests.cpu: 6}}, {scope}"));
        assert_ne!(input, INPUT);
        let proposed = proposals(&at_rest(read(&[("a.yaml", &input)]).unwrap()), Basis::Quotas);
        let specs = proposed.iter().map(|proposal| &proposal.queue.spec);
        let specs: Vec<_> = specs.map(|spec| (spec.weight, spec.guaranteed.clone())).collect();
        assert_eq!(specs, [(35, None)], "{scope}");
        assert!(!format!("{proposed:?}").contains("ResourceQuota"), "{proposed:?}");
    }
}

#[test]
fn what_is_proposed_is_understood_and_changes_nothing() {
    let proposed: Vec<String> =
        proposals(&cluster(), Basis::Usage).iter().map(|proposal| proposal.queue.manifest()).collect();
    let with = read(&[("a.yaml", INPUT), ("b.yaml", &proposed.join("---\n"))]).unwrap();
    let plan = quotient_advance::settle(&with.snapshot).1;
    assert_eq!((plan.queues.len(), plan.stalled.len(), plan.evictions.len()), (2, 0, 0));
}
