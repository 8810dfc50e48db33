//! Random clusters.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};
use quotient_engine::names::{Namespace, NodeName, OwnerUid, PodName, PodUid, QueueName, QueueUid};
use quotient_engine::reasons::KeptReason;
use quotient_engine::snapshot::{
    Acceptance, EvictionPolicy, EvictionRules, NamespaceState, Node, Owner, OwnerKind, Phase, Pod,
    PodMetadata, Queue, Quota, Reclaim, ReclaimFrom, Shape, Snapshot, Workload,
};
use quotient_engine::time::Timestamp;

use crate::contents::amounts;
use crate::forest::everything;

fn bounds(cpu: i128, memory: i128) -> Bounds {
    [(Resource::Cpu, Amount::new(cpu)), (Resource::Memory, Amount::new(memory << 20))].into_iter().collect()
}

/// What pods request: of those of an owner all the same.
const SHAPES: [(i128, i128); 4] = [(1000, 1024), (2000, 512), (500, 2048), (1500, 100)];

prop_compose! {
    fn pod()(
        shape in 0usize..4,
        state in 0u8..12,
        priority in -1i32..3,
        created in 0i64..100,
        owner in proptest::option::of(0u8..3),
        stuck in proptest::option::weighted(0.2, 600i64..1000),
    ) -> Pod {
        let shape = SHAPES[owner.map_or(shape, usize::from)];
        let phase = match state { 0 | 1 => Phase::Pending, 2 => Phase::Finished, _ => Phase::Running };
        Pod {
            shape: Arc::new(Shape { requests: amounts(shape.0, shape.1), ..Shape::default() }),
            node: (state != 0).then(|| NodeName::from(if state % 2 == 0 { "n1" } else { "n2" })),
            phase,
            priority,
            created: Timestamp::from_seconds(created),
            started: (phase == Phase::Running).then(|| Timestamp::from_seconds(created + 1)),
            deletion: (state == 3).then(|| Timestamp::from_seconds(1000)),
            evicted: state == 3 && priority == 0,
            kept: (state == 4).then_some(KeptReason::MirrorPod),
            metadata: Arc::new(PodMetadata {
                owner: owner.map(|owner| Workload {
                    uid: OwnerUid::from(format!("owner-{owner}").as_str()),
                    ..Workload::default()
                }),
                ..PodMetadata::default()
            }),
            stuck: stuck.filter(|_| state <= 5).map(Timestamp::from_seconds),
            ..Pod::default()
        }
    }
}

prop_compose! {
    fn owner()(
        number in 0u8..3,
        priority in -1i32..3,
        created in 0i64..100,
        wanted in 0u32..6,
    ) -> Owner {
        let shape = SHAPES[usize::from(number)];
        Owner {
            uid: OwnerUid::from(format!("owner-{number}").as_str()),
            kind: OwnerKind::ReplicaSet,
            name: format!("owner-{number}").into(),
            generation: 1,
            created: Timestamp::from_seconds(created),
            wanted,
            shape: Arc::new(Shape { requests: amounts(shape.0, shape.1), ..Shape::default() }),
            priority,
            ..Owner::default()
        }
    }
}

/// One of each number, so that names and uids are unique.
fn owners() -> impl Strategy<Value = Vec<Owner>> {
    proptest::collection::vec(owner(), 0..4).prop_map(|owners| {
        let by_uid: BTreeMap<OwnerUid, Owner> =
            owners.into_iter().map(|owner| (owner.uid.clone(), owner)).collect();
        by_uid.into_values().collect()
    })
}

prop_compose! {
    fn namespace()(
        governed in 0u8..8,
        weight in 0u32..5,
        request in proptest::option::of((0i128..12_000, 0i128..12_000)),
        guaranteed in proptest::option::of((0i128..4000, 0i128..4000)),
        limit in proptest::option::of((4000i128..9000, 4000i128..9000)),
        hard in proptest::option::of(((0i128..12_000, 0i128..12_000), (0i128..4000, 0i128..4000))),
        pods in proptest::collection::vec(pod(), 0..10),
        owners in owners(),
        observed in proptest::bool::weighted(0.4),
    ) -> NamespaceState {
        let optional = |pair: Option<(i128, i128)>| pair.map_or_else(Bounds::new, |(cpu, memory)| bounds(cpu, memory));
        let queue = Queue {
            uid: QueueUid::from("queue"),
            name: "queue".into(),
            weight,
            request: match request {
                Some((cpu, memory)) => bounds(cpu, memory),
                None if observed => Bounds::new(),
                None => everything(),
            },
            guaranteed: optional(guaranteed),
            limit: optional(limit),
            ..Queue::default()
        };
        NamespaceState {
            queues: if governed == 0 { vec![] } else { vec![queue] },
            quota: hard.map(|(hard, lag)| Quota {
                hard: bounds(hard.0, hard.1),
                enforced: bounds(hard.0 + lag.0, hard.1 + lag.1),
                ours: true,
                owner: Some(QueueUid::from("queue")),
                ..Quota::default()
            }),
            pods,
            owners,
            ..NamespaceState::default()
        }
    }
}

prop_compose! {
    /// Two parents, one below the other, and who of the namespaces is a child of which.
    fn parents()(
        below in proptest::collection::vec(0u8..4, 8),
        weights in (0u32..5, 0u32..5),
        guaranteed in proptest::option::of((0i128..6000, 0i128..6000)),
        limit in proptest::option::of((2000i128..12_000, 2000i128..12_000)),
        rules in prop_oneof![
            4 => Just((ReclaimFrom::Cluster, None)),
            1 => Just((ReclaimFrom::Subtree, None)),
            1 => Just((ReclaimFrom::Cluster, Some(EvictionPolicy::Never))),
        ],
    ) -> (Vec<u8>, Vec<Queue>) {
        let optional = |pair: Option<(i128, i128)>| pair.map_or_else(Bounds::new, |(cpu, memory)| bounds(cpu, memory));
        let upper = Queue {
            uid: QueueUid::from("upper"),
            name: "upper".into(),
            weight: weights.0,
            guaranteed: optional(guaranteed),
            children: Some(Acceptance::All),
            ..Queue::default()
        };
        let lower = Queue {
            uid: QueueUid::from("lower"),
            name: "lower".into(),
            weight: weights.1,
            limit: optional(limit),
            parent: Some(QueueName::new("org", "upper")),
            children: Some(Acceptance::All),
            reclaim: Reclaim { from: rules.0, ..Reclaim::default() },
            eviction: EvictionRules { policy: rules.1, ..EvictionRules::default() },
            ..Queue::default()
        };
        (below, vec![upper, lower])
    }
}

/// A cluster of two nodes and up to `most` namespaces, with pods in every state.
pub(crate) fn cluster(most: usize) -> impl Strategy<Value = Snapshot> {
    let sizes = (0i128..16_000, 1000i128..16_000, any::<bool>());
    (proptest::collection::vec(namespace(), 1..most), sizes, parents()).prop_map(
        |(namespaces, (one, two, counts), (below, parents))| {
            let mut snapshot = Snapshot { now: Timestamp::from_seconds(1000), ..Snapshot::default() };
            let node = |size: i128, counts| {
                Arc::new(Node { allocatable: amounts(size, size), counts, ..Node::default() })
            };
            snapshot.nodes.insert(NodeName::from("n1"), node(one, counts));
            snapshot.nodes.insert(NodeName::from("n2"), node(two, true));
            let org = NamespaceState { queues: parents, ..NamespaceState::default() };
            snapshot.namespaces.insert(Namespace::from("org"), Arc::new(org));
            for (number, mut state) in namespaces.into_iter().enumerate() {
                for queue in &mut state.queues {
                    queue.parent = match below.get(number) {
                        Some(1) => Some(QueueName::new("org", "upper")),
                        Some(2) => Some(QueueName::new("org", "lower")),
                        _ => None,
                    };
                }
                for (index, pod) in state.pods.iter_mut().enumerate() {
                    pod.name = PodName::from(format!("p{index}").as_str());
                    pod.uid = PodUid::from(format!("{number}-{index}").as_str());
                }
                snapshot.namespaces.insert(Namespace::from(format!("ns{number}").as_str()), Arc::new(state));
            }
            make_room(&mut snapshot);
            snapshot
        },
    )
}

/// No kubelet runs more than its node has: a node that counts is at least as large as what is bound to it.
fn make_room(snapshot: &mut Snapshot) {
    let mut bound: BTreeMap<NodeName, Amounts> = BTreeMap::new();
    for pod in snapshot.namespaces.values().flat_map(|state| &state.pods).filter(|pod| pod.is_charged()) {
        if let Some(node) = &pod.node {
            bound.entry(node.clone()).or_default().add_all(pod.requests());
        }
    }
    for (name, node) in &mut snapshot.nodes {
        if let Some(bound) = bound.get(name).filter(|_| node.counts) {
            Arc::make_mut(node).allocatable = node.allocatable.max(bound);
        }
    }
}
