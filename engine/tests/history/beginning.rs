//! Random clusters to begin with.

use std::sync::Arc;

use proptest::prelude::*;
use quotient_advance::advance;
use quotient_engine::amounts::Bounds;
use quotient_engine::labels::Labels;
use quotient_engine::names::{GangName, Namespace, NodeName, OwnerUid, QueueName, QueueUid};
use quotient_engine::plan::Plan;
use quotient_engine::snapshot::{
    Acceptance, EvictionPolicy, EvictionRules, Gang, NamespaceState, Node, Owner, OwnerKind, Placement,
    Queue, Reclaim, ReclaimFrom, Shape, Snapshot,
};
use quotient_engine::time::Timestamp;

use super::{Size, amounts, bounds};
use crate::forest::everything;

/// A node of some size in one of two zones.
pub(super) fn node() -> impl Strategy<Value = Node> {
    let gpus = prop_oneof![3 => Just(0), 1 => 1i128..4];
    ((2i128..14, 2i128..14, gpus), any::<bool>()).prop_map(|((cpu, memory, gpu), zone)| Node {
        allocatable: amounts((cpu * 1000, memory * 1024, gpu)),
        counts: true,
        labels: [("zone", if zone { "a" } else { "b" })].into_iter().collect::<Labels>(),
        ..Node::default()
    })
}

fn size() -> impl Strategy<Value = Size> {
    prop_oneof![
        3 => Just((1000, 1024, 0)),
        2 => Just((2000, 512, 0)),
        2 => Just((500, 2048, 0)),
        1 => Just((1500, 100, 0)),
        1 => Just((250, 256, 1)),
    ]
}

/// The shape of a pod; some may run in one zone only.
pub(super) fn shape() -> impl Strategy<Value = Arc<Shape>> {
    (size(), prop_oneof![5 => Just(None), 1 => Just(Some("a")), 1 => Just(Some("b"))]).prop_map(
        |(size, zone)| {
            let node_selector = zone.map(|zone| ("zone".to_owned(), zone.to_owned())).into_iter().collect();
            let placement = Placement { node_selector, ..Placement::default() };
            Arc::new(Shape { requests: amounts(size), placement, ..Shape::default() })
        },
    )
}

/// An owner without a name.
pub(super) fn owner() -> impl Strategy<Value = Owner> {
    let kind = prop_oneof![Just(OwnerKind::ReplicaSet), Just(OwnerKind::StatefulSet), Just(OwnerKind::Job)];
    let gang = prop_oneof![2 => Just(0u32), 1 => 1u32..4];
    (kind, 0u32..8, shape(), -1i32..3, gang).prop_map(|(kind, wanted, shape, priority, min_available)| {
        Owner {
            uid: OwnerUid::default(),
            kind,
            name: "".into(),
            generation: 1,
            created: Timestamp::default(),
            wanted,
            shape,
            gang: (min_available > 0).then(|| Gang { name: GangName::default(), min_available }),
            priority,
            ..Owner::default()
        }
    })
}

/// Of one resource an amount, or nothing said about it.
fn said(range: std::ops::Range<i128>) -> impl Strategy<Value = i128> {
    prop_oneof![1 => Just(-1), 2 => range]
}

pub(super) fn request() -> impl Strategy<Value = Option<Size>> {
    proptest::option::of((said(0..12_000), said(0..12_000), said(0..4)))
}

pub(super) fn guaranteed() -> impl Strategy<Value = Size> {
    prop_oneof![2 => Just((-1, -1, -1)), 1 => (said(0..4000), said(0..4000), said(0..2))]
}

pub(super) fn limit() -> impl Strategy<Value = Size> {
    prop_oneof![2 => Just((-1, -1, -1)), 1 => (said(4000..9000), said(4000..9000), said(2..5))]
}

/// A leaf without a name.
pub(super) fn queue() -> impl Strategy<Value = Queue> {
    let rules = prop_oneof![
        8 => Just((ReclaimFrom::Cluster, None)),
        1 => Just((ReclaimFrom::Subtree, None)),
        1 => Just((ReclaimFrom::Cluster, Some(EvictionPolicy::Never))),
    ];
    let below = prop_oneof![2 => Just(None), 1 => Just(Some("upper")), 1 => Just(Some("lower"))];
    let demand = any::<bool>();
    let patience = prop_oneof![2 => Just(0u32), 1 => 1u32..40];
    (0u32..5, request(), guaranteed(), limit(), rules, below, demand, patience).prop_map(
        |(weight, request, guaranteed, limit, (from, policy), below, observed, after_seconds)| Queue {
            name: "queue".into(),
            weight,
            request: match request {
                Some(request) => bounds(request),
                None if observed => Bounds::new(),
                None => everything(),
            },
            guaranteed: bounds(guaranteed),
            limit: bounds(limit),
            reclaim: Reclaim { from, after_seconds },
            eviction: EvictionRules { policy, ..EvictionRules::default() },
            parent: below.map(|name| QueueName::new("org", name)),
            ..Queue::default()
        },
    )
}

/// Two parents, one below the other.
pub(super) fn parents() -> impl Strategy<Value = Vec<Queue>> {
    let rules = prop_oneof![
        4 => Just((ReclaimFrom::Cluster, None)),
        1 => Just((ReclaimFrom::Subtree, None)),
        1 => Just((ReclaimFrom::Cluster, Some(EvictionPolicy::Never))),
    ];
    (0u32..5, 0u32..5, guaranteed(), limit(), rules).prop_map(
        |(one, two, guaranteed, limit, (from, policy))| {
            let parent = |name: &str, weight| Queue {
                uid: QueueUid::from(name),
                name: name.into(),
                weight,
                children: Some(Acceptance::All),
                ..Queue::default()
            };
            let upper = Queue { guaranteed: bounds(guaranteed), ..parent("upper", one) };
            let parent = Queue {
                limit: bounds(limit),
                reclaim: Reclaim { from, ..Reclaim::default() },
                eviction: EvictionRules { policy, ..EvictionRules::default() },
                ..parent("lower", two)
            };
            vec![upper, Queue { parent: Some(QueueName::new("org", "upper")), ..parent }]
        },
    )
}

/// Some nodes, and some namespaces with owners whose pods run as far as there was room before any queue was.
pub(crate) fn beginning() -> impl Strategy<Value = Snapshot> {
    let namespace =
        (proptest::collection::vec(owner(), 0..4), prop_oneof![1 => Just(None), 7 => queue().prop_map(Some)]);
    let nodes = proptest::collection::vec(node(), 1..6);
    (nodes, proptest::collection::vec(namespace, 1..6), parents()).prop_map(|(nodes, namespaces, parents)| {
        let mut snapshot = Snapshot { now: Timestamp::from_seconds(1000), ..Snapshot::default() };
        for (number, node) in nodes.into_iter().enumerate() {
            snapshot.nodes.insert(NodeName::new(format!("n{number}")), Arc::new(node));
        }
        let mut queues = Vec::new();
        for (number, (owners, queue)) in namespaces.into_iter().enumerate() {
            let name = Namespace::new(format!("ns{number}"));
            let owners = owners.into_iter().enumerate();
            let owners = owners.map(|(number, owner)| named(owner, &name, &format!("o{number}"))).collect();
            snapshot
                .namespaces
                .insert(name.clone(), Arc::new(NamespaceState { owners, ..NamespaceState::default() }));
            queues.push((name, queue));
        }
        let mut snapshot = advance(&snapshot, &Plan::default()).snapshot;
        for (name, queue) in queues {
            let queue = queue.map(|queue| Queue { uid: QueueUid::new(format!("{name}-0")), ..queue });
            Arc::make_mut(snapshot.namespaces.get_mut(&name).unwrap()).queues.extend(queue);
        }
        let org = NamespaceState { queues: parents, ..NamespaceState::default() };
        snapshot.namespaces.insert(Namespace::from("org"), Arc::new(org));
        snapshot
    })
}

/// `owner` as `namespace` knows it.
pub(super) fn named(owner: Owner, namespace: &Namespace, name: &str) -> Owner {
    let gang = owner.gang.map(|gang| Gang { name: GangName::from(name), ..gang });
    Owner { uid: OwnerUid::new(format!("{namespace}/{name}")), name: name.into(), gang, ..owner }
}
