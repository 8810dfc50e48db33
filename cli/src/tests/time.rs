//! Steps that only time brings about.

use expect_test::expect;

use super::check;

#[test]
fn a_delay_passes_in_one_step() {
    check(
        "
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, memory: 4Gi}}}
---
{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: q, namespace: a}, spec: {request: {cpu: 1k, memory: 1Ti}}}
---
{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: q, namespace: b},
 spec: {request: {cpu: 1, memory: 0}, reclaim: {afterSeconds: 300}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: one, namespace: a},
 spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: three, namespace: a},
 spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 3}}}]}}
",
        &expect![[r#"
            Step 1  capacity 4c 4Gi
              QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED  PREEMPTING
              a/q    1       4c 4Gi  3c 4Gi    3c 4Gi     4c    0
              b/q    1       1c      1c        0          0     0
              short  b/q  lacks 1c of the deserved 1c because reclaim.afterSeconds of the queue have not passed yet

            Step 2  300 s later  capacity 4c 4Gi
              QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED  PREEMPTING
              a/q    1       4c 4Gi  3c 4Gi    3c 4Gi     4c    0
              b/q    1       1c      1c        0          0     1c
              evict  a/one  b/q is short of 1c; a/q uses 4c and deserves 3c 4Gi

            Step 3  capacity 4c 4Gi
              QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED  PREEMPTING
              a/q    1       4c 4Gi  3c 4Gi    3c 4Gi     3c    0
              b/q    1       1c      1c        1c         0     0

            Stable: nothing more would happen.
        "#]],
    );
}
