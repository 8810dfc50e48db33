//! `explain` of what waits for something else than its share: for a person, for a node, or for a mode or a pause to end.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{observed, observed_yaml, read};
use crate::commands::explain::{Question, Target, explain};
use crate::commands::simulate::at_rest;
use crate::manifests::Cluster;
use crate::output::{Explanation, Screen};
use crate::snapshot::Snapshot;

const NOW: &str = "2026-11-24T14:02:00Z";

/// A node of 4 cpu and the Queue of namespace `a`.
fn queue(spec: &str) -> String {
    format!(
        "
{{apiVersion: v1, kind: Node, metadata: {{name: n1}}, status: {{allocatable: {{cpu: 4, memory: 4Gi}}}}}}
---
{{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {{name: a, namespace: a}}, spec: {spec}}}
"
    )
}

/// A Deployment of pods of 1 cpu.
fn deployment(metadata: &str, replicas: u32) -> String {
    format!(
        "---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: a, {metadata}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template: {{metadata: {{labels: {{app: web}}}}, spec: {{nodeSelector: {{}}, containers: [{{name: main, resources: {{requests: {{cpu: 1, memory: 1Gi}}}}}}]}}}}
"
    )
}

/// A pod of it.
fn pod(spec: &str) -> String {
    format!(
        "---
{{apiVersion: v1, kind: Pod, metadata: {{name: web-1, namespace: a, creationTimestamp: \"2026-11-24T10:00:00Z\", ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: web, controller: true}}]}}, spec: {{{spec}, containers: [{{name: main, resources: {{requests: {{cpu: 1, memory: 1Gi}}}}}}]}},
 status: {{phase: Pending, conditions: [{{type: PodScheduled, status: \"False\", reason: Unschedulable, lastTransitionTime: \"2026-11-24T10:00:00Z\"}}]}}}}
"
    )
}

fn explained(cluster: Cluster, target: &str) -> Explanation {
    let cluster = at_rest(cluster);
    explain(&cluster, &Target::parse(target).unwrap(), None, &Question::default()).unwrap()
}

fn check(documents: &[String], target: &str, expected: &Expect) -> Explanation {
    let explanation = explained(read(&[("input.yaml", &documents.concat())]).unwrap(), target);
    expected.assert_eq(&explanation.text(Screen::plain()));
    explanation
}

/// As one namespace of a cluster is read.
fn check_observed(documents: &[&str], target: &str, expected: &Expect) -> Explanation {
    let observed = observed_yaml(&documents.join("\n---\n"), NOW);
    let cluster = Cluster::of(&Snapshot { is_partial: true, ..observed }, None).unwrap();
    let explanation = explained(cluster, target);
    expected.assert_eq(&explanation.text(Screen::plain()));
    explanation
}

#[test]
fn a_workload_without_a_node_is_explained_as_its_pod_is() {
    let template = deployment("", 1).replace("nodeSelector: {}", "nodeSelector: {disk: ssd}");
    let explanation = check(
        &[queue("{}"), template.clone(), pod("nodeSelector: {disk: ssd}")],
        "deploy/web",
        &expect![[r#"
            Deployment web has 1 of 1 pods. 1 has no node yet.
             › 1 pod of ReplicaSet web: The pods cannot start because no node could run one even if the node were empty. Correct
               node selector, affinity, tolerations or size, or add such a node.
            The pods do not start until you change something.
        "#]],
    );
    assert!(explanation.needs_a_person);
    // Where the Queue reports nothing of it, the pod knows more.
    check(
        &[queue("{}"), template, pod("schedulingGates: [{name: example.com/review}]")],
        "deploy/web",
        &expect![[r#"
            Deployment web has 1 of 1 pods. 1 has no node yet.
             › 1 pod of ReplicaSet web: The pods cannot start because their controller has not created them yet, or the scheduler
               has not placed them. The queue has room. If something else stops them, the events of the workload or pod name it.
            Nothing to do: the pods start by themselves.
        "#]],
    );
}

#[test]
fn a_workload_that_quotient_made_smaller_is_told_so() {
    let lowered = "annotations: {quotient.dev/replicas-before: '3', quotient.dev/replicas-lowered-to: '1'}";
    check(
        &[queue("{}"), deployment(lowered, 1), pod("nodeName: n1")],
        "deploy/web",
        &expect![[r#"
        Deployment web has 1 of 1 pods.
         › 2 pods of ReplicaSet web: Quotient lowered Deployment web from 3 to 1 because other pods of the queue needed the
           room; in mode Full Quotient restores the size when the queue and a node have room
        Nothing to do: the pods start by themselves.
    "#]],
    );
}

#[test]
fn a_queue_without_a_quota_is_told_so() {
    let documents = [queue("{mode: Observe}"), deployment("", 2)];
    check(
        &documents,
        "queue/a",
        &expect![[r#"
        Queue a deserves 2 cpu 2Gi; Quotient writes no quota for it; its pods use nothing. State: Observe.
         √ the spec is understood
         › Quotient writes no quota here because queue a is in mode Observe

        Weight   1 of 1 among the queues without a parent that you may see
        Demand   2 cpu 2Gi: what its pods request and its workloads lack
        Nominal  4 cpu 4Gi: the share if every queue asked for everything
        Waits    ReplicaSet web: 2 pods: The pods cannot start because their controller has not created them yet, or the
                 scheduler has not placed them. The queue has room. If something else stops them, the events of the workload or
                 pod name it.
    "#]],
    );
    check(
        &documents,
        "deploy/web",
        &expect![[r#"
        Deployment web has 0 of 2 pods.
         √ Queue a is Ready
         › Quotient writes no quota here because queue a is in mode Observe
         √ all containers set requests, or have defaults
         √ one pod (1 cpu 1Gi) is smaller than the share (2 cpu 2Gi) and fits a node (n1: 4 cpu 4Gi free)
         › 2 pods of ReplicaSet web: The pods cannot start because their controller has not created them yet, or the scheduler
           has not placed them. The queue has room. If something else stops them, the events of the workload or pod name it.
        Nothing to do: the pods start by themselves.
    "#]],
    );
    let pods = [queue("{mode: Observe, limit: {cpu: 0}}"), deployment("", 1), pod("nodeName: n1")];
    check(
        &pods,
        "pod/web-1",
        &expect![[r#"
        Pod web-1 is on n1 and is starting.

        Eviction  Queue a uses 1 cpu above its deserved share; mode Observe keeps its pods from being evicted
        Next      a mode or a pause keeps it, otherwise it would be evicted: a/a uses 1c 1Gi and is allocated 0
    "#]],
    );
    let stalled = [queue("{parentRef: {name: nowhere}}"), deployment("", 1), pod("nodeName: n1")];
    check(
        &stalled,
        "pod/web-1",
        &expect![[r#"
        Pod web-1 is on n1 and is starting.

        Eviction  Queue a has no share (ParentNotFound), so none of its pods is evicted
    "#]],
    );
}

#[test]
fn a_parent_queue_is_told_what_its_children_have() {
    let cluster = crate::manifests::read(&[super::example("fence")], None).unwrap();
    let explanation = explained(cluster, "queue/research");
    expect!["Queue org/research deserves 8 cpu 8Gi; the quotas of its child queues allow 6 cpu 6Gi; their pods use 6 cpu 6Gi. State: starved."].assert_eq(&explanation.headline);
}

/// Its pods are there or not whatever Quotient does, and its size is not known.
#[test]
fn a_workload_in_a_namespace_without_a_queue_is_not_managed() {
    let set = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: free, uid: d-web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main}]}}
";
    check_observed(
        &[set],
        "deploy/web",
        &expect![[r#"
        Quotient does not manage Deployment web.
         × namespace free has no Queue: no share keeps its pods from starting
        See the events of the workload: kubectl describe.
    "#]],
    );
}

/// The objects of `file`, of which one is changed.
fn changed(file: &str, time: &str, name: &str, change: impl FnOnce(&mut Value)) -> Cluster {
    let mut snapshot = Snapshot { is_partial: true, ..observed(file, time) };
    snapshot.entries.iter_mut().find(|entry| entry.name() == name).unwrap().change(change);
    Cluster::of(&snapshot, None).unwrap()
}

fn text(cluster: Cluster, target: &str) -> String {
    explained(cluster, target).text(Screen::plain())
}

/// With `--resources=nvidia.com/gpu` no queue has a share of cpu.
#[test]
fn resources_that_are_not_shared_keep_no_pod_from_starting() {
    let requesting = |gpus: &'static str| {
        changed("ml.yaml", NOW, "trainer", move |job| {
            let container = &mut job["spec"]["template"]["spec"]["containers"][0];
            container["resources"]["requests"] = json!({"cpu": "2", "memory": "0", "nvidia.com/gpu": gpus});
        })
    };
    let told = text(requesting("1"), "job/trainer");
    assert!(told.contains(" √ one pod (1 gpu) is smaller than the share (44 gpu)\n"), "{told}");
    assert!(told.contains(" × the queue uses 47 of its 44 gpu quota\n"), "{told}");
    let told = text(requesting("44"), "job/trainer");
    assert!(told.contains(" √ one pod (44 gpu) is as large as the share (44 gpu)\n"), "{told}");
}

/// The operator does not run, or has not seen the Queue or its last change yet.
#[test]
fn a_queue_that_the_operator_has_not_seen_is_told_so() {
    let unseen = || changed("ml.yaml", NOW, "web", |queue| queue["status"] = json!({}));
    expect![[r#"
        Quotient has not reported on Queue web yet.
        If that does not change within a minute, see: kubectl quotient check
    "#]]
    .assert_eq(&text(unseen(), "queue/web"));
    expect![[r#"
        Pod broken is on gpu-1 and does not run: container main: ImagePullBackOff.

        Cause     the kubelet reports it; Quotient has nothing to do with it
        Eviction  Quotient has not reported on Queue web yet, so its share is not known
    "#]]
    .assert_eq(&text(unseen(), "pod/broken"));
    let outdated = changed("ml.yaml", NOW, "ml-dev", |queue| queue["metadata"]["generation"] = json!(2));
    assert!(text(outdated, "queue/ml-dev").contains(" › this is what followed from an older spec"));
}

#[test]
fn a_queue_is_explained_with_what_is_unusual_although_it_is_ready() {
    let unusual = changed("ml.yaml", NOW, "web", |queue| {
        let condition = |kind: &str, status: &str, reason: &str, message: &str| json!({"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": NOW});
        queue["status"]["conditions"] = json!([
            condition("Ready", "True", "ForeignQuota", "Another ResourceQuota bounds the share."),
            condition(
                "Starved",
                "False",
                "HeldByItself",
                "The pods use 2 gpu that the quota does not allow."
            ),
        ]);
    });
    let told = text(unusual, "queue/web");
    let checks: Vec<&str> = told.lines().skip(1).take_while(|line| !line.is_empty()).collect();
    assert_eq!(
        checks,
        [
            " √ the spec is understood and the quota is in sync",
            " › Another ResourceQuota bounds the share.",
            " › The pods use 2 gpu that the quota does not allow.",
            " √ the cluster has the guaranteed amounts",
        ]
    );
}

/// The share is there, but not where its pods can use it.
#[test]
fn pods_may_leave_for_a_queue_that_lacks_nothing_of_its_share() {
    let met = changed("web.yaml", "2026-11-24T14:00:18Z", "web", |queue| {
        queue["status"]["deserved"] = json!({"cpu": "8"});
    });
    let told = text(met, "deploy/api");
    assert!(told.contains(" › 2 pods of batch are terminating (18 s of 30 s grace)\n"), "{told}");
}

/// A QueueJob in this state, with this condition.
fn queue_job(state: &str, admitted: &str) -> String {
    format!(
        "
apiVersion: quotient.dev/v1alpha1
kind: QueueJob
metadata: {{name: train, namespace: a, uid: j-train}}
spec: {{tasks: []}}
status:
  state: {state}
  slots: 5
  minAvailable: 5
  running: 5
  deserved: {{cpu: '5'}}
  allocated: {{cpu: '5'}}
  conditions: [{{type: Admitted, {admitted}, lastTransitionTime: \"{NOW}\"}}]
"
    )
}

#[test]
fn a_queue_job_is_explained_as_the_operator_reported_it() {
    let running = queue_job("Running", "status: 'True', reason: Admitted, message: The gang has its slots.");
    check_observed(
        &[&running],
        "queuejob/train",
        &expect![[r#"
        QueueJob train is Running: it has 5 slots, needs 5 at once, and 5 of its pods run.
         √ Admitted: The gang has its slots.

        Deserved   5 cpu
        Allocated  5 cpu
    "#]],
    );
    let suspended = queue_job("Suspended", "status: 'False', reason: Suspended, message: It is suspended.");
    check_observed(
        &[&suspended],
        "queuejob/train",
        &expect![[r#"
        QueueJob train is Suspended: it has 5 slots, needs 5 at once, and 5 of its pods run.
         √ Suspended: It is suspended.

        Deserved   5 cpu
        Allocated  5 cpu

        It asks for slots when you set spec.suspend to false.
    "#]],
    );
    let refused =
        queue_job("Waiting", "status: 'False', reason: JobRefused, message: The API server refused it.");
    assert!(
        check_observed(
            &[&refused],
            "queuejob/train",
            &expect![[r#"
        QueueJob train is Waiting: it has 5 slots, needs 5 at once, and 5 of its pods run.
         × JobRefused: The API server refused it.

        Deserved   5 cpu
        Allocated  5 cpu

        The pods do not start until you change something.
    "#]]
        )
        .needs_a_person
    );
}

/// Its queue keeps its share, so another pod of it can start at once.
#[test]
fn a_pod_that_moved_aside_comes_back_on_another_node() {
    let moved = changed("ml.yaml", NOW, "ml-train", |queue| {
        queue["status"]["recentReclaims"][0]["reason"] = "MovedAside".into();
    });
    let explanation = explained(moved, "pod/trainer-46");
    let comes_back = explanation.facts.iter().find(|fact| fact.title == "Comes back").unwrap();
    let expected = "when another node has room for it, because ml-train keeps its quota. ";
    assert!(comes_back.text.starts_with(expected), "{}", comes_back.text);
}
