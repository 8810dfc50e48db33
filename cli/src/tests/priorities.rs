//! Priority classes, as admission resolves them.

use expect_test::expect;

use super::read;

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
