//! Pods that cannot start, pods that a rule kept, and pods that are waited for no longer.

use expect_test::expect;
use quotient_engine::plan::Eviction;
use quotient_engine::reasons::EvictionReason;

use super::read;
use crate::commands::simulate::{render, simulate};
use crate::output::Format;
use crate::output::Style;

/// Two nodes of 4 cpu; a, of the same weight as b, runs three 1-cpu pods on each.
fn scattered(deployments: &str, of_a: &str) -> String {
    let pods = [("p1", "n1"), ("p2", "n2"), ("p3", "n1"), ("p4", "n2"), ("p5", "n1"), ("p6", "n2")];
    let pods = pods.map(|(name, node)| {
        format!(
            "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: a{of_a}}}, \
             spec: {{nodeName: {node}, containers: [{{name: c, resources: {{requests: {{cpu: 1}}}}}}]}}}}\n"
        )
    });
    format!(
        "
{{apiVersion: v1, kind: Node, metadata: {{name: n1}}, status: {{allocatable: {{cpu: 4, memory: 4Gi}}}}}}
---
{{apiVersion: v1, kind: Node, metadata: {{name: n2}}, status: {{allocatable: {{cpu: 4, memory: 4Gi}}}}}}
---
{{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {{name: q, namespace: a}}, spec: {{request: {{cpu: 1k, memory: 1Ti}}}}}}
---
{{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {{name: q, namespace: b}}, spec: {{request: {{cpu: 1k, memory: 1Ti}}}}}}
{}{deployments}",
        pods.concat()
    )
}

fn deployment(name: &str, cpu: u32, more: &str) -> String {
    format!(
        "
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: b}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}]{more}}}
"
    )
}

/// Two Deployments that lack room, and a budget that keeps five of six pods.
fn guarded() -> String {
    let budget = "
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: all, namespace: a}
spec: {minAvailable: 5, selector: {matchLabels: {app: x}}}
";
    scattered(
        &[&deployment("double", 2, ""), &deployment("huge", 5, ""), budget].concat(),
        ", labels: {app: x}",
    )
}

#[test]
fn programs_read_what_cannot_start_and_what_was_kept() {
    let cluster = read(&[("a.yaml", &guarded())]).unwrap();
    let simulation = simulate(&cluster, false);
    let json = |explain| {
        let text = render(&cluster, &simulation, Format::Json, explain, Style::Plain).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["steps"][0].clone()
    };
    let plain = json(false);
    assert_eq!(plain.get("passedOver"), None);
    assert_eq!(plain["evictedAgain"], serde_json::json!([]));
    let explained = json(true);
    let line = |one: &serde_json::Value| format!("{one}\n");
    let parts = ["unmet", "passedOver"].map(|part| explained[part].as_array().unwrap());
    expect![[r#"
        {"message":"The pods cannot start because terminating pods use the room. The quota rises as these pods end.","pods":1,"queue":"b/q","reason":"WaitingForPreemption","requests":{"cpu":"2","memory":"128Mi"},"what":"ReplicaSet double"}
        {"message":"The pods cannot start because no node could run one even if the node were empty. Correct node selector, affinity, tolerations or size, or add such a node.","pods":2,"queue":"b/q","reason":"NoNodeFits","requests":{"cpu":"5","memory":"128Mi"},"what":"ReplicaSet huge"}
        {"message":"The pods cannot start because the pods that use the room may not be evicted now. The quota rises when their budgets allow more. kubectl delete pod asks no budget.","pods":1,"queue":"b/q","reason":"Blocked","requests":{"cpu":"2","memory":"128Mi"},"what":"ReplicaSet double"}
        {"pod":"a/p1","queue":"a/q","reason":"Budget"}
        {"pod":"a/p2","queue":"a/q","reason":"Budget"}
        {"pod":"a/p3","queue":"a/q","reason":"Budget"}
        {"pod":"a/p4","queue":"a/q","reason":"Budget"}
        {"pod":"a/p5","queue":"a/q","reason":"Budget"}
    "#]].assert_eq(&parts.into_iter().flatten().map(line).collect::<String>());
}

#[test]
fn the_table_says_what_cannot_start_and_what_was_kept() {
    let cluster = read(&[("a.yaml", &guarded())]).unwrap();
    let simulation = simulate(&cluster, false);
    expect![[r#"
        Step 1  capacity 8c 8Gi
          QUEUE  WEIGHT  DEMAND   DESERVED  ALLOCATED  USED  PREEMPTING
          a/q    1       8c 8Gi   4c 4Gi    4c 4Gi     6c    0
          b/q    1       14c 8Gi  4c 4Gi    2c 4Gi     0     0
          evict  a/p6  b/q is short of 2c 128Mi; a/q uses 6c and deserves 4c 4Gi
          keep  a/p1  Budget: a disruption budget allows no more
          keep  a/p2  Budget: a disruption budget allows no more
          keep  a/p3  Budget: a disruption budget allows no more
          keep  a/p4  Budget: a disruption budget allows no more
          keep  a/p5  Budget: a disruption budget allows no more
          short  b/q  lacks 1c 128Mi of the deserved 4c 4Gi because the pods that use the room may not be evicted now
          start  b/double-r1-0
          unmet  b/double  1 pod of 2c 128Mi cannot start: WaitingForPreemption (terminating pods use the room)
          unmet  b/huge    2 pods of 5c 128Mi cannot start: NoNodeFits (no node could run one even if the node were empty)
          unmet  b/double  1 pod of 2c 128Mi cannot start: Blocked (the pods that use the room may not be evicted now)

        Not stable: more would happen; --until-stable shows it.
    "#]].assert_eq(&render(&cluster, &simulation, Format::Table, true, Style::Plain).unwrap());
}

#[test]
fn overdue_pods_are_shown() {
    let cluster = read(&[("a.yaml", &scattered("", ""))]).unwrap();
    let mut simulation = simulate(&cluster, false);
    let plan = &mut simulation.steps[0].plan;
    let evicted = plan.evictions[0].clone();
    let overdue = Eviction {
        beneficiary: None,
        reason: EvictionReason::ForceDeleted,
        grace_seconds: Some(0),
        ..evicted.clone()
    };
    let capped =
        Eviction { reason: EvictionReason::GraceShortened, grace_seconds: Some(600), ..evicted.clone() };
    plan.shortened = vec![overdue, capped];
    plan.evictions = vec![Eviction { reason: EvictionReason::MovedAside, ..evicted }];
    expect![[r#"
        Step 1  capacity 8c 8Gi
          QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED  PREEMPTING
          a/q    1       8c 8Gi  4c 4Gi    4c 4Gi     6c    0
          b/q    1       8c 8Gi  4c 4Gi    2c 4Gi     0     2c
          evict  a/p6  b/q needs its room on this node for a pod within what is guaranteed; a/q keeps its quota
          again  a/p6  gets no more grace: eviction.forceAfterSeconds have passed since its deadline
          again  a/p6  gets 600 s of grace, the most that its queue allows, because b/q needs its room

        Not stable: more would happen; --until-stable shows it.
    "#]].assert_eq(&render(&cluster, &simulation, Format::Table, false, Style::Plain).unwrap());
    let text = render(&cluster, &simulation, Format::Json, false, Style::Plain).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["steps"][0]["queues"][0]["borrowed"], serde_json::json!({"cpu": "2", "memory": "0"}));
    assert_eq!(
        json["steps"][0]["evictedAgain"],
        serde_json::json!([
            {"pod": "a/p6", "queue": "a/q", "graceSeconds": 0, "beneficiary": null, "reason": "ForceDeleted"},
            {"pod": "a/p6", "queue": "a/q", "graceSeconds": 600, "beneficiary": "b/q", "reason": "GraceShortened"},
        ])
    );
}
