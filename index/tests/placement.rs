//! Where a pod may run, as a snapshot shows it, and what the engine makes of it.

use expect_test::expect;
use quotient_snapshot::{Placement, Snapshot};

use super::{at, check, index_of, namespace_a};

#[test]
fn everything_that_is_read() {
    check(
        "
kind: Pod
metadata: {name: p, namespace: a}
spec:
  containers: []
  nodeSelector: {zone: x, disk: ssd}
  tolerations:
  - {key: gpu, value: 'yes', effect: NoSchedule}
  - {key: spot, operator: Exists}
  - {operator: Exists, effect: NoExecute}
  - {key: slow, operator: Equal, effect: PreferNoSchedule}
  - {key: odd, operator: Gt, value: '3'}
  - {key: odd, operator: Exists, effect: Sometimes}
  - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions:
          - {key: zone, operator: In, values: [x, y]}
          - {key: zone, operator: NotIn, values: [z]}
          - {key: gpu, operator: Exists}
          - {key: old, operator: DoesNotExist}
          - {key: cores, operator: Gt, values: ['16']}
          - {key: cores, operator: Lt, values: ['64']}
          matchFields:
          - {key: metadata.name, operator: In, values: [n1]}
          - {key: metadata.name, operator: NotIn, values: [n2]}
        - {}
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 10, preference: {matchExpressions: [{key: disk, operator: In, values: [ssd]}]}}
      - {weight: 100, preference: {}}
",
        &expect![[r#"
            namespace a
              pod p: uid a/p, shape {placement {node_selector [[disk, ssd], [zone, x]], required [[Label In [zone, [x, y]], Label NotIn [zone, [z]], Label Exists gpu, Label DoesNotExist old, Above [cores, 16], Below [cores, 64], Named [n1], NotNamed [n2]], []], preferred [[10, [Label In [disk, [ssd]]]]], tolerations [{key gpu, value yes, effect NoSchedule}, {key spot}, {effect NoExecute}, {key slow, value , effect PreferNoSchedule}]}}
        "#]],
    );
}

/// The names of the nodes that the pod with this spec may run on.
fn allowed(spec: &str) -> Vec<String> {
    let snapshot = cluster(spec);
    let placement = placement(&snapshot);
    let nodes = snapshot.nodes.iter();
    let allowed = nodes.filter(|(name, node)| placement.allows(name.as_str(), &node.labels, &node.taints));
    allowed.map(|(name, _)| name.to_string()).collect()
}

fn placement(snapshot: &Snapshot) -> &Placement {
    &snapshot.namespaces[&"a".into()].pods[0].shape.placement
}

fn cluster(spec: &str) -> Snapshot {
    let objects = "
kind: Node
metadata: {name: big, labels: {cores: '64', zone: x}}
---
kind: Node
metadata: {name: gpu, labels: {cores: many, zone: x}}
spec: {taints: [{key: gpu, effect: NoSchedule}]}
---
kind: Node
metadata: {name: small, labels: {cores: '4', zone: y}}
spec: {taints: [{key: slow, value: 'very', effect: PreferNoSchedule}]}
---
";
    let pod = format!("{{kind: Pod, metadata: {{name: p, namespace: a}}, spec: {{containers: []{spec}}}}}");
    index_of(&[objects, &pod].concat()).snapshot(at("12:00:00"))
}

fn required(terms: &str) -> String {
    format!(
        ", affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: {terms}}}}}}}"
    )
}

#[test]
fn nodes_are_allowed_as_the_scheduler_allows_them() {
    assert_eq!(allowed(""), ["big", "small"]);
    assert_eq!(allowed(", tolerations: [{operator: Exists}]"), ["big", "gpu", "small"]);
    assert_eq!(
        allowed(", tolerations: [{key: gpu, operator: Exists}], nodeSelector: {zone: x}"),
        ["big", "gpu"]
    );
    assert_eq!(allowed(", tolerations: [{key: gpu}]"), ["big", "gpu", "small"]);
    assert_eq!(allowed(", tolerations: [{key: gpu, value: other}]"), ["big", "small"]);
    assert_eq!(
        allowed(&required("[{matchExpressions: [{key: cores, operator: Gt, values: ['16']}]}]")),
        ["big"]
    );
    assert_eq!(
        allowed(&required("[{matchExpressions: [{key: cores, operator: Lt, values: ['16']}]}]")),
        ["small"]
    );
    let either = "[{matchFields: [{key: metadata.name, operator: In, values: [small]}]}, \
                  {matchExpressions: [{key: zone, operator: In, values: [x]}]}]";
    assert_eq!(allowed(&required(either)), ["big", "small"]);
    let not = "[{matchFields: [{key: metadata.name, operator: NotIn, values: [small]}]}]";
    assert_eq!(allowed(&required(not)), ["big"]);
}

#[test]
fn what_cannot_be_understood_allows_no_node() {
    for terms in [
        "[]",
        "[{}]",
        "[{matchExpressions: [{key: zone, operator: Like, values: [x]}]}]",
        "[{matchExpressions: [{key: cores, operator: Gt, values: [many]}]}]",
        "[{matchExpressions: [{key: cores, operator: Gt}]}]",
        "[{matchExpressions: [{key: cores, operator: Lt, values: ['1', '2']}]}]",
        "[{matchFields: [{key: metadata.uid, operator: In, values: [x]}]}]",
    ] {
        assert!(allowed(&required(terms)).is_empty(), "{terms}");
    }
}

#[test]
fn a_bound_pod_of_a_daemon_set_is_bound_for_good() {
    let pod = |number: u32, bound: bool| {
        let node = if bound { format!(", nodeName: n{number}") } else { String::new() };
        format!(
            "{{kind: Pod, metadata: {{name: agent-{number}, namespace: a, ownerReferences: [{{apiVersion: apps/v1, \
             kind: DaemonSet, name: agent, uid: d, controller: true}}]}}, spec: {{containers: []{node}{}}}}}\n---\n",
            required(&format!(
                "[{{matchFields: [{{key: metadata.name, operator: In, values: [n{number}]}}]}}]"
            ))
        )
    };
    let mut index = index_of(&[pod(0, true), pod(1, true), pod(2, false)].concat());
    let pods = &namespace_a(&mut index).pods;
    assert!(std::sync::Arc::ptr_eq(&pods[0].shape, &pods[1].shape));
    assert_eq!(pods[0].shape.placement, Placement::default());
    // The scheduler still has to find that one node for this one.
    assert_ne!(pods[2].shape.placement, Placement::default());
    assert!(std::sync::Arc::ptr_eq(&pods[0].metadata, &pods[2].metadata));
}
