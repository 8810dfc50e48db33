//! The clusters whose planning is measured: what a running operator sees, quotas in place and in force.

#![allow(
    dead_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_wrap,
    clippy::indexing_slicing,
    reason = "each target measures some of them; a bench may overflow loudly"
)]

pub(crate) mod effort;

use std::sync::Arc;

use quotient_advance::settle;
use quotient_engine::amounts::{Amount, Amounts, Resource};
use quotient_engine::names::{Namespace, NodeName, OwnerUid, PodName, PodUid, QueueName, QueueUid};
use quotient_engine::snapshot::{
    Acceptance, NamespaceState, Node, Owner, OwnerKind, Phase, Pod, PodMetadata, Queue, Shape, Snapshot,
    Workload,
};
use quotient_engine::time::Timestamp;

/// How large a cluster is.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    /// Leaves; each has a namespace with the same number of pods.
    pub(crate) queues: usize,
    pub(crate) nodes: usize,
    pub(crate) pods: usize,
    /// Whether the leaves hang below 10 departments of 10 teams each, or from the cluster itself.
    pub(crate) three_levels: bool,
}

pub(crate) const MEDIUM: Size = Size { queues: 100, nodes: 1_000, pods: 20_000, three_levels: false };
pub(crate) const LARGE: Size = Size { queues: 1_000, nodes: 5_000, pods: 150_000, three_levels: true };
pub(crate) const LARGE_FLAT: Size = Size { three_levels: false, ..LARGE };

/// One more queue than the cluster has pods for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Newcomer {
    /// No queue comes.
    None,
    /// It claims everything and shows no owner.
    Claims,
    /// It asks for as many pods as this, of fifty owners.
    Asks(u32),
}

fn amounts(cpu: i128, gibibytes: i128) -> Amounts {
    [(Resource::Cpu, Amount::new(cpu)), (Resource::Memory, Amount::new(gibibytes << 30))]
        .into_iter()
        .collect()
}

fn name(text: &str) -> QueueName {
    QueueName::new(text, text)
}

fn queue(name: &str, weight: u32, parent: Option<QueueName>, is_parent: bool) -> Queue {
    Queue {
        uid: QueueUid::from(name),
        name: name.into(),
        weight,
        parent,
        children: is_parent.then_some(Acceptance::All),
        request: [Resource::Cpu, Resource::Memory]
            .map(|one| (one, Amount::new(i128::from(i64::MAX))))
            .into_iter()
            .collect(),
        ..Queue::default()
    }
}

fn owner(uid: OwnerUid, wanted: u32, shape: &Arc<Shape>) -> Owner {
    Owner {
        name: uid.as_str().into(),
        uid,
        kind: OwnerKind::ReplicaSet,
        generation: 1,
        created: Timestamp::from_seconds(1),
        wanted,
        shape: Arc::clone(shape),
        gang: None,
        priority: 0,
        ..Owner::default()
    }
}

/// Every queue runs one-cpu pods that fill the cluster.
pub(crate) fn cluster(size: Size, newcomer: Newcomer) -> Snapshot {
    let mut snapshot = Snapshot::default();
    let per_node = i128::try_from((size.pods / size.nodes).max(1)).unwrap_or(1);
    let allocatable = amounts(per_node * 1_000, per_node * 4);
    let names: Vec<NodeName> =
        (0..size.nodes).map(|node| NodeName::from(format!("node-{node}").as_str())).collect();
    for node in &names {
        let node_of = Node { allocatable: allocatable.clone(), counts: true, ..Node::default() };
        snapshot.nodes.insert(node.clone(), Arc::new(node_of));
    }
    let mut add = |namespace: &str, state: NamespaceState| {
        snapshot.namespaces.insert(Namespace::from(namespace), Arc::new(state));
    };
    if size.three_levels {
        for department in 0..10 {
            let above = format!("department-{department}");
            let queues = vec![queue(&above, 1, None, true)];
            add(&above, NamespaceState { queues, ..NamespaceState::default() });
            for team in 0..10 {
                let team = format!("team-{department}-{team}");
                let queues = vec![queue(&team, 1, Some(name(&above)), true)];
                add(&team, NamespaceState { queues, ..NamespaceState::default() });
            }
        }
    }
    let shape = Arc::new(Shape { requests: amounts(1_000, 4), ..Shape::default() });
    for number in 0..size.queues {
        // As even as it goes.
        let first = size.pods * number / size.queues;
        let pods = size.pods * (number + 1) / size.queues - first;
        let owner = OwnerUid::from(format!("owner-{number}").as_str());
        let owner = Workload { uid: owner, ..Workload::default() };
        let metadata = Arc::new(PodMetadata { owner: Some(owner), ..PodMetadata::default() });
        let pod = |index: usize| Pod {
            uid: PodUid::from(format!("00000000-0000-0000-{number:04}-{index:012}").as_str()),
            name: PodName::from(format!("worker-{index}").as_str()),
            shape: Arc::clone(&shape),
            metadata: Arc::clone(&metadata),
            node: names.get((first + index) % size.nodes).cloned(),
            phase: Phase::Running,
            priority: 0,
            created: Timestamp::from_seconds(1),
            started: Some(Timestamp::from_seconds(index as i64)),
            ..Pod::default()
        };
        let namespace = format!("ns-{number:04}");
        let parent = size.three_levels.then(|| name(&format!("team-{}-{}", number % 10, number / 10 % 10)));
        let queues = vec![queue(&namespace, 1, parent, false)];
        add(
            &namespace,
            NamespaceState { queues, pods: (0..pods).map(pod).collect(), ..NamespaceState::default() },
        );
    }
    if newcomer != Newcomer::None {
        let namespace = format!("ns-{:04}", size.queues);
        // Against ten departments: an eleventh.
        let mut newcome = queue(&namespace, if size.three_levels { 1 } else { 25 }, None, false);
        let mut owners = Vec::new();
        if let Newcomer::Asks(pods) = newcomer {
            let all = amounts(i128::from(pods) * 1_000, i128::from(pods) * 4);
            newcome.request = all.iter().map(|(one, amount)| (one.clone(), amount)).collect();
            let new = |number: u32| OwnerUid::from(format!("asker-{number}").as_str());
            owners.extend((0..50).map(|number| owner(new(number), pods / 50, &shape)));
        }
        add(&namespace, NamespaceState { queues: vec![newcome], owners, ..NamespaceState::default() });
    }
    settle(&snapshot).0
}

/// Where the demand of a queue comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Demand {
    /// A standing claim, and its workloads.
    Claimed,
    /// Its workloads alone.
    Observed,
}

/// The large cluster as a flat list of queues that claim their demand, or whose workloads show it; every other one lacks
/// as many pods as this, and the others do without as many of theirs.
pub(crate) fn flat(demand: Demand, lacking: u32) -> Snapshot {
    let mut snapshot = cluster(LARGE_FLAT, Newcomer::None);
    snapshot.now = Timestamp::from_seconds(100);
    for (number, state) in snapshot.namespaces.values_mut().enumerate() {
        let state = Arc::make_mut(state);
        let pods = u32::try_from(state.pods.len()).unwrap_or(0);
        let wanted =
            if number % 2 == 0 { pods.saturating_add(lacking) } else { pods.saturating_sub(lacking) };
        for queue in &mut state.queues {
            if demand == Demand::Claimed {
                let request = amounts(i128::from(wanted) * 1_000, i128::from(wanted) * 4);
                queue.request = request.iter().map(|(resource, amount)| (resource.clone(), amount)).collect();
            }
        }
        let first = state.pods.first().and_then(|pod| Some((pod.owner()?.clone(), Arc::clone(&pod.shape))));
        state.owners = first.into_iter().map(|(uid, shape)| owner(uid, wanted, &shape)).collect();
    }
    settle(&snapshot).0
}

/// A cluster by the name under which its planning is measured.
pub(crate) struct Story {
    pub(crate) name: &'static str,
    pub(crate) cluster: fn() -> Snapshot,
}

/// Everything that is measured and compared with what it took before.
pub(crate) const STORIES: [Story; 9] = [
    Story { name: "medium at rest", cluster: || cluster(MEDIUM, Newcomer::None) },
    Story { name: "medium, a newcomer takes 4000 pods", cluster: || cluster(MEDIUM, Newcomer::Claims) },
    Story { name: "large at rest", cluster: || cluster(LARGE, Newcomer::None) },
    Story { name: "large, a newcomer takes 13000 pods", cluster: || cluster(LARGE, Newcomer::Claims) },
    Story { name: "large, a newcomer asks for 5000 pods", cluster: || cluster(LARGE, Newcomer::Asks(5_000)) },
    Story { name: "flat and claimed, all satisfied", cluster: || flat(Demand::Claimed, 0) },
    Story { name: "flat and claimed, half of them short", cluster: || flat(Demand::Claimed, 7) },
    Story { name: "flat and observed, all satisfied", cluster: || flat(Demand::Observed, 0) },
    Story { name: "flat and observed, half of them short", cluster: || flat(Demand::Observed, 7) },
];
