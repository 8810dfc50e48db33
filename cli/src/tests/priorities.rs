//! Priority classes, as admission resolves them.

use expect_test::expect;

use super::{check, read};

const CLASSES: &str = "
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: usual}, value: 10, globalDefault: true}
";

fn pod(name: &str, spec: &str) -> String {
    format!(
        "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: a}}, spec: {{{spec} nodeName: n1, \
         containers: [{{name: c, resources: {{requests: {{cpu: 1}}}}}}]}}}}\n"
    )
}

#[test]
fn pods_get_the_priority_of_their_class() {
    let documents = [
        &pod("a", "priorityClassName: high,"),
        &pod("b", ""),
        &pod("c", "priority: 7, priorityClassName: unheard-of,"),
        &pod("d", "priorityClassName: system-node-critical,"),
        // Read last, and known all the same.
        "---",
        CLASSES,
    ];
    let cluster = read(&[("a.yaml", &documents.concat())]).unwrap();
    let pods = &cluster.snapshot.namespaces[&"a".into()].pods;
    assert_eq!(pods.iter().map(|pod| pod.priority).collect::<Vec<_>>(), [1000, 10, 7, 2_000_001_000]);
    assert_eq!(cluster.warnings, Vec::<String>::new());
}

#[test]
fn a_class_without_a_manifest_is_mentioned_once() {
    let job = "
---
apiVersion: batch/v1
kind: Job
metadata: {name: job, namespace: a}
spec: {template: {spec: {priorityClassName: low, containers: []}}}
";
    let documents = [&pod("a", "priorityClassName: high,"), &pod("b", "priorityClassName: high,"), job];
    let cluster = read(&[("a.yaml", &documents.concat())]).unwrap();
    expect![[r#"
        PriorityClass high is named but not described: pods of it are taken to have priority 0
        PriorityClass low is named but not described: pods of it are taken to have priority 0"#]]
    .assert_eq(&cluster.warnings.join("\n"));
}

#[test]
fn the_lower_priority_goes_first() {
    let documents = [
        CLASSES,
        "
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 3, memory: 3Gi}}
---
{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: q, namespace: a}, spec: {request: {cpu: 1k, memory: 1Ti}}}
---
{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: q, namespace: b}, spec: {request: {cpu: 1, memory: 0}}}
",
        // By name z would be the first.
        &pod("x", ""),
        &pod("y", "priority: 5,"),
        &pod("z", "priorityClassName: high,"),
    ];
    check(
        &documents.concat(),
        &expect![[r#"
        Step 1  capacity 3c 3Gi
          QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED  PREEMPTING
          a/q    1       3c 3Gi  2c 3Gi    2c 3Gi     3c    0
          b/q    1       1c      1c        0          0     1c
          evict  a/y  b/q is short of 1c; a/q uses 3c and deserves 2c 3Gi

        Step 2  capacity 3c 3Gi
          QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED  PREEMPTING
          a/q    1       3c 3Gi  2c 3Gi    2c 3Gi     2c    0
          b/q    1       1c      1c        1c         0     0

        Stable: nothing more would happen.
    "#]],
    );
}
