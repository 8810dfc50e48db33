//! What a mode or a pause withholds.

use expect_test::expect;

use super::{check, played, read};
use crate::output::Format;

/// `a` uses all of the cluster, and `b` asks for one cpu of it.
fn input(a: &str, b: &str) -> String {
    format!(
        "
{{apiVersion: v1, kind: Node, metadata: {{name: n1, creationTimestamp: 2026-11-21T12:00:00Z}}, status: {{allocatable: {{cpu: 4, memory: 4Gi}}}}}}
---
{{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {{name: q, namespace: a}}, spec: {{request: {{cpu: 1k, memory: 1Ti}}, {a}}}}}
---
{{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {{name: b, namespace: b}}, spec: {{request: {{cpu: 1, memory: 0}}, {b}}}}}
---
{{apiVersion: v1, kind: Pod, metadata: {{name: one, namespace: a}},
 spec: {{nodeName: n1, containers: [{{name: c, resources: {{requests: {{cpu: 1}}}}}}]}}}}
---
{{apiVersion: v1, kind: Pod, metadata: {{name: three, namespace: a}},
 spec: {{nodeName: n1, containers: [{{name: c, resources: {{requests: {{cpu: 3}}}}}}]}}}}
"
    )
}

#[test]
fn what_would_be_evicted_is_named_with_what_keeps_it() {
    let [observed, quota] = [input("mode: Observe", ""), input("", "mode: Quota")]
        .map(|text| played(&read(&[("input.yaml", &text)]).unwrap(), Format::Table));
    expect![[r#"
        Step 1  capacity 4c 4Gi
          QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED  PREEMPTING
          a/q    1       4c 4Gi  3c 4Gi    3c 4Gi     4c    0
          b/b    1       1c      1c        0          0     0
          would evict  a/one  b/b is short of 1c; a/q uses 4c and deserves 3c 4Gi; it stays because queue a/q is in mode Observe
          short  b/b  lacks 1c of the deserved 1c because queue a/q is in mode Observe

        Stable: nothing more would happen.
    "#]].assert_eq(&observed);
    assert_eq!(quota, observed.replace("queue a/q is in mode Observe", "queue b is in mode Quota"));
}

#[test]
fn a_pause_ends_in_a_later_step() {
    check(
        &input("pausedUntil: 2026-11-21T12:10:00Z", ""),
        &expect![[r#"
            Step 1  capacity 4c 4Gi
              QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED  PREEMPTING
              a/q    1       4c 4Gi  3c 4Gi    4c 4Gi     4c    0
              b/b    1       1c      1c        0          0     0
              would evict  a/one  b/b is short of 1c; a/q uses 4c and deserves 3c 4Gi; it stays because queue a/q is paused until 2026-11-21T12:10:00Z
              short  b/b  lacks 1c of the deserved 1c because queue a/q is paused until 2026-11-21T12:10:00Z

            Step 2  600 s later  capacity 4c 4Gi
              QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED  PREEMPTING
              a/q    1       4c 4Gi  3c 4Gi    3c 4Gi     4c    0
              b/b    1       1c      1c        0          0     1c
              evict  a/one  b/b is short of 1c; a/q uses 4c and deserves 3c 4Gi

            Step 3  capacity 4c 4Gi
              QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED  PREEMPTING
              a/q    1       4c 4Gi  3c 4Gi    3c 4Gi     3c    0
              b/b    1       1c      1c        1c         0     0

            Stable: nothing more would happen.
        "#]],
    );
}

#[test]
fn programs_are_told_as_well() {
    let cluster = read(&[("input.yaml", &input("mode: Observe", ""))]).unwrap();
    let report: serde_json::Value = serde_json::from_str(&played(&cluster, Format::Json)).unwrap();
    let step = &report["steps"][0];
    assert_eq!(step["evictions"], serde_json::json!([]));
    let expected =
        serde_json::json!([{"pod": "a/one", "queue": "a/q", "beneficiary": "b/b", "reason": "Reclaimed"}]);
    assert_eq!(step["withheld"], expected);
}
