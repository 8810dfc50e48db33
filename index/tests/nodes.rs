//! What a snapshot shows of nodes, and when.

use std::sync::Arc;

use expect_test::expect;
use kube::core::{Expression, Selector};
use quotient_snapshot::amounts::Resource;

use super::{apply, at, check, printed, story};
use quotient_index::{Index, IndexSettings};

const READY_AT_NOON: &str = "
kind: Node
metadata: {name: n1, uid: u-1}
status:
  allocatable: {cpu: 3999500u, memory: 15Gi, pods: 110, ephemeral-storage: 1Ti, nvidia.com/gpu: 4}
  conditions:
  - {type: MemoryPressure, status: 'False'}
  - {type: Ready, status: 'True', lastTransitionTime: 2026-01-01T12:00:00Z}
";

#[test]
fn a_node_counts_once_it_has_been_ready_for_a_while() {
    let mut index = Index::new(IndexSettings::default());
    apply(&mut index, READY_AT_NOON);
    assert_eq!(index.next_change(at("12:00:03")), Some(at("12:00:10")));
    expect![[r#"
        node n1: allocatable {cpu 3999m, memory 15Gi, nvidia.com/gpu 4}
    "#]]
    .assert_eq(&story::describe(&index.snapshot(at("12:00:09"))));
    expect![[r#"
        node n1: allocatable {cpu 3999m, memory 15Gi, nvidia.com/gpu 4}, counts
    "#]]
    .assert_eq(&story::describe(&index.snapshot(at("12:00:10"))));
    assert_eq!(index.next_change(at("12:00:10")), None);
    // Time is the caller's: an earlier question gets the earlier answer.
    assert!(!index.snapshot(at("12:00:01")).nodes.values().any(|node| node.counts));
}

#[test]
fn nodes_that_do_not_count() {
    check(
        "
kind: Node
metadata: {name: cordoned}
spec: {unschedulable: true}
status: {allocatable: {cpu: 1}}
---
kind: Node
metadata: {name: deleted, deletionTimestamp: 2026-01-01T11:00:00Z, finalizers: [karpenter.sh/termination]}
status: {allocatable: {cpu: 1}}
---
kind: Node
metadata: {name: control-plane, labels: {node-role.kubernetes.io/control-plane: ''}}
spec: {taints: [{key: node-role.kubernetes.io/control-plane, effect: NoSchedule}]}
status: {allocatable: {cpu: 1}}
---
kind: Node
metadata: {name: single-node-cluster, labels: {node-role.kubernetes.io/control-plane: ''}}
status: {allocatable: {cpu: 1}}
---
kind: Node
metadata: {name: lost}
status: {allocatable: {cpu: 1}, conditions: [{type: Ready, status: Unknown}]}
---
kind: Node
metadata: {name: new}
status: {allocatable: {cpu: 1}, conditions: [{type: DiskPressure, status: 'False'}]}
---
kind: Node
metadata: {name: manifest}
status: {allocatable: {cpu: 1}}
---
kind: Node
metadata: {name: capacity-alone}
status: {capacity: {cpu: 1}}
---
kind: Node
metadata: {name: nothing}
",
        &expect![[r#"
            node capacity-alone: allocatable {cpu 1}, counts
            node control-plane: allocatable {cpu 1}, labels [[node-role.kubernetes.io/control-plane, ]], taints [{key node-role.kubernetes.io/control-plane, value , effect NoSchedule}]
            node cordoned: allocatable {cpu 1}
            node deleted: allocatable {cpu 1}
            node lost: allocatable {cpu 1}
            node manifest: allocatable {cpu 1}, counts
            node new: allocatable {cpu 1}
            node nothing: counts
            node single-node-cluster: allocatable {cpu 1}, counts, labels [[node-role.kubernetes.io/control-plane, ]]
        "#]],
    );
}

#[test]
fn only_selected_nodes_count() {
    let nodes = Selector::from(Expression::Equal("pool".into(), "batch".into()));
    let mut index = Index::new(IndexSettings { nodes, ..IndexSettings::default() });
    let changed = apply(
        &mut index,
        "
kind: Node
metadata: {name: n1, labels: {pool: batch}}
status: {allocatable: {cpu: 1}}
---
kind: Node
metadata: {name: n2, labels: {pool: web}}
status: {allocatable: {cpu: 1}}
---
kind: Node
metadata: {name: n1, labels: {pool: web}}
status: {allocatable: {cpu: 1}}
",
    );
    assert_eq!(changed, [true, true, true]);
    assert!(!index.snapshot(at("12:00:00")).nodes.values().any(|node| node.counts));
}

/// What is missing to the ceiling may still be added. Nodes that come, even before they are Ready, use it up.
#[test]
fn up_to_a_ceiling_nodes_may_still_be_added() {
    let ceiling = [(Resource::Cpu, Resource::Cpu.rounded_up("10".parse().unwrap()))].into_iter().collect();
    let mut index = Index::new(IndexSettings { ceiling, ..IndexSettings::default() });
    let mut check = |nodes: &str, expected: &str| {
        apply(&mut index, nodes);
        assert_eq!(index.snapshot(at("12:01:00")).settings.expandable.to_string(), expected);
    };
    check("", "cpu 10");
    check(READY_AT_NOON, "cpu 6001m");
    check(
        "{kind: Node, metadata: {name: starting}, status: {allocatable: {cpu: 5}, conditions: [{type: Ready, status: 'False'}]}}",
        "cpu 1001m",
    );
    check(
        "{kind: Node, metadata: {name: starting}, spec: {unschedulable: true}, status: {allocatable: {cpu: 6}}}",
        "cpu 1m",
    );
    check("{kind: Node, metadata: {name: one-more}, status: {allocatable: {cpu: 2}}}", "nothing");
}

#[test]
fn heartbeats_change_nothing() {
    let mut index = Index::new(IndexSettings::default());
    assert_eq!(apply(&mut index, READY_AT_NOON), [true]);
    let before = index.snapshot(at("12:01:00"));
    let beat = READY_AT_NOON.replace("'False'}", "'False', lastHeartbeatTime: 2026-01-01T12:05:00Z}");
    assert_eq!(apply(&mut index, &beat), [false]);
    assert_eq!(index.snapshot(at("12:01:00")), before);
}

#[test]
fn labels_and_taints() {
    let node = "
kind: Node
metadata: {name: n1, labels: {zone: x, pool: gpu}, annotations: {beat: '1'}}
spec: {taints: [{key: gpu, effect: NoSchedule, timeAdded: 2026-01-01T11:00:00Z}, {key: spot, value: 'yes', effect: PreferNoSchedule}, {key: odd, effect: Sometimes}]}
status: {allocatable: {cpu: 1}}
";
    let mut index = Index::new(IndexSettings::default());
    assert_eq!(apply(&mut index, node), [true]);
    expect![[r#"
        node n1: allocatable {cpu 1}, counts, labels [[pool, gpu], [zone, x]], taints [{key gpu, value , effect NoSchedule}, {key spot, value yes, effect PreferNoSchedule}]
    "#]]
    .assert_eq(&printed(&mut index));
    let before = index.snapshot(at("12:00:00"));
    // When a taint was added, and what only annotations say, makes no difference.
    assert_eq!(apply(&mut index, &node.replace("11:00", "11:30").replace("beat: '1'", "beat: '2'")), [false]);
    assert!(Arc::ptr_eq(&before.nodes[&"n1".into()], &index.snapshot(at("12:00:00")).nodes[&"n1".into()]));
    assert_eq!(apply(&mut index, &node.replace("zone: x", "zone: y")), [true]);
    assert_eq!(
        apply(&mut index, &node.replace("zone: x", "zone: y").replace("key: spot", "key: cheap")),
        [true]
    );
    assert_eq!(before.nodes[&"n1".into()].labels.get("zone"), Some("x"));
}

/// A foreign kubelet may report any number of resources, and each would become a part of every quota.
#[test]
fn a_node_offers_so_many_resources_and_the_others_are_named() {
    let mut index = Index::new(IndexSettings::default());
    let node = |names: usize| {
        let names: Vec<String> = (0..names).map(|at| format!(", example.org/r{at:04}: 1")).collect();
        let names = names.concat();
        format!(
            "kind: Node\nmetadata: {{name: n1, uid: u-1}}\nstatus: {{allocatable: {{cpu: 4, memory: 4Gi{names}}}}}"
        )
    };
    for (names, kept) in [(64, 66), (65, 66), (12_000, 66)] {
        apply(&mut index, &node(names));
        let snapshot = index.snapshot(at("12:00:00"));
        let offered: Vec<Resource> = snapshot.nodes[&"n1".into()].allocatable.resources().cloned().collect();
        assert_eq!(offered.len(), kept, "{names}");
        assert!(offered.contains(&Resource::Cpu) && offered.contains(&Resource::Memory));
        assert!(offered.contains(&Resource::from_name("example.org/r0063")), "{names}");
        let object: k8s_openapi::api::core::v1::Node = serde_yaml_ng::from_str(&node(names)).unwrap();
        let said = quotient_index::Kind::excess(&object);
        assert_eq!(said.is_some(), names > 64, "{said:?}");
    }
}
