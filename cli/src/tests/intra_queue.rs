//! Priority inside a queue: owners that yield, as `simulate` prints them.

use expect_test::expect;

use super::check;

const CLUSTER: &str = "
apiVersion: v1
kind: Node
metadata: {name: n}
status: {allocatable: {nvidia.com/gpu: 3}}
---
apiVersion: quotient.dev/v1alpha1
kind: Queue
metadata: {name: q, namespace: a}
spec: {preemption: LowerPriority}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: quotient, namespace: a}
spec: {hard: {requests.nvidia.com/gpu: 3}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
";

/// A Deployment whose pods request a GPU each.
fn deployment(name: &str, replicas: u32, class: &str) -> String {
    format!(
        "
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: a}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{{class} containers: [{{name: c, image: i, resources: {{requests: {{cpu: 0, memory: 0, nvidia.com/gpu: 1}}}}}}]}}
---
"
    )
}

/// A pod of a Deployment that runs.
fn pod(name: &str, set: &str) -> String {
    format!(
        "
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  namespace: a
  ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: {set}, controller: true}}]
spec: {{nodeName: n, containers: [{{name: c, image: i, resources: {{requests: {{cpu: 0, memory: 0, nvidia.com/gpu: 1}}}}}}]}}
status: {{phase: Running}}
---
"
    )
}

#[test]
fn a_deployment_yields_to_one_of_a_higher_priority() {
    let manifests = [
        CLUSTER.to_owned(),
        deployment("low", 3, ""),
        pod("low-1", "low"),
        pod("low-2", "low"),
        pod("low-3", "low"),
        deployment("high", 1, "priorityClassName: high,"),
    ]
    .concat();
    check(
        &manifests,
        &expect![[r#"
            Step 1  capacity 3gpu
              QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED  PREEMPTING
              a/q    1       4gpu    3gpu      3gpu       3gpu  0
              scale  a/low  from 3 to 2 of 3 for ReplicaSet high, without low-3: Outranked
              start  a/high-r1-0
              unmet  a/high  1 pod of 1gpu cannot start: WaitingForPreemption (terminating pods use the room)

            Step 2  capacity 3gpu
              QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED  PREEMPTING
              a/q    1       4gpu    3gpu      3gpu       3gpu  0
              unmet  a/low  1 pod of 1gpu cannot start: GaveWay (Quotient lowered Deployment low from 3 to 2 because other pods of the queue needed the room; in mode Full Quotient restores the size when the queue and a node have room)

            Stable: nothing more would happen.
        "#]],
    );
}
