//! How long one full plan takes, at rest and while a newcomer takes its share.

#![allow(
    missing_docs,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_wrap,
    reason = "criterion's macros make public items; a bench may overflow loudly"
)]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use quotient_engine::advance::settle;
use quotient_engine::amounts::{Amount, Amounts, Resource};
use quotient_engine::names::{Namespace, NodeName, OwnerUid, PodName, PodUid, QueueName, QueueUid};
use quotient_engine::plan::plan;
use quotient_engine::snapshot::{
    Acceptance, DemandMode, NamespaceState, Node, Owner, OwnerKind, Phase, Pod, Queue, Shape, Snapshot, Ties,
};
use quotient_engine::time::Timestamp;

/// How large a cluster is.
#[derive(Clone, Copy)]
struct Size {
    /// Leaves; each has a namespace with the same number of pods.
    queues: usize,
    nodes: usize,
    pods: usize,
    /// Whether the leaves hang below 10 departments of 10 teams each, or from the cluster itself.
    three_levels: bool,
}

const MEDIUM: Size = Size { queues: 100, nodes: 1_000, pods: 20_000, three_levels: false };
const LARGE: Size = Size { queues: 1_000, nodes: 5_000, pods: 150_000, three_levels: true };
const LARGE_BUT_PODS: Size = Size { pods: 15_000, ..LARGE };

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
        ..Queue::default()
    }
}

/// Every queue runs one-cpu pods that fill the cluster; with `newcomer`, one more queue comes without any.
fn cluster(size: Size, newcomer: bool) -> Snapshot {
    let mut snapshot = Snapshot::default();
    let per_node = i128::try_from(size.pods / size.nodes).unwrap_or(1);
    let allocatable = amounts(per_node * 1_000, per_node * 4);
    for node in 0..size.nodes {
        let node = NodeName::from(format!("node-{node}").as_str());
        snapshot.nodes.insert(
            node,
            Arc::new(Node { allocatable: allocatable.clone(), counts: true, ..Node::default() }),
        );
    }
    let mut add = |namespace: &str, state: NamespaceState| {
        snapshot.namespaces.insert(Namespace::from(namespace), Arc::new(state));
    };
    if size.three_levels {
        for department in 0..10 {
            let above = format!("department-{department}");
            add(
                &above,
                NamespaceState { queues: vec![queue(&above, 1, None, true)], ..NamespaceState::default() },
            );
            for team in 0..10 {
                let team = format!("team-{department}-{team}");
                let queues = vec![queue(&team, 1, Some(name(&above)), true)];
                add(&team, NamespaceState { queues, ..NamespaceState::default() });
            }
        }
    }
    let names: Vec<NodeName> =
        (0..size.nodes).map(|node| NodeName::from(format!("node-{node}").as_str())).collect();
    let shape = Arc::new(Shape { requests: amounts(1_000, 4), ..Shape::default() });
    let per_queue = size.pods / size.queues;
    for number in 0..size.queues + usize::from(newcomer) {
        let is_new = number == size.queues;
        let owner = OwnerUid::from(format!("owner-{number}").as_str());
        let ties = Arc::new(Ties { owner: Some(owner), ..Ties::default() });
        let pod = |index: usize| Pod {
            uid: PodUid::from(format!("00000000-0000-0000-{number:04}-{index:012}").as_str()),
            name: PodName::from(format!("worker-{index}").as_str()),
            shape: Arc::clone(&shape),
            ties: Arc::clone(&ties),
            node: names.get((number * per_queue + index) % size.nodes).cloned(),
            phase: Phase::Running,
            priority: 0,
            created: Timestamp::from_seconds(1),
            started: Some(Timestamp::from_seconds(index as i64)),
            ..Pod::default()
        };
        let namespace = format!("ns-{number:04}");
        let parent = size.three_levels.then(|| name(&format!("team-{}-{}", number % 10, number / 10 % 10)));
        let parent = parent.filter(|_| !is_new);
        let weight = if !is_new {
            1
        } else if size.three_levels {
            // Against ten departments: a thirtieth.
            1
        } else {
            25
        };
        let pods = if is_new { Vec::new() } else { (0..per_queue).map(pod).collect() };
        add(
            &namespace,
            NamespaceState {
                queues: vec![queue(&namespace, weight, parent, false)],
                pods,
                ..NamespaceState::default()
            },
        );
    }
    // What a running operator sees: quotas are in place and in force.
    settle(&snapshot).0
}

/// The large cluster as a flat list of queues that state what they ask for, or whose owners do.
fn flat(demand: DemandMode, lacking: u32) -> Snapshot {
    let mut snapshot = cluster(Size { three_levels: false, ..LARGE }, false);
    snapshot.now = Timestamp::from_seconds(100);
    for (number, state) in snapshot.namespaces.values_mut().enumerate() {
        let state = Arc::make_mut(state);
        let pods = u32::try_from(state.pods.len()).unwrap_or(0);
        // Neighbours ask for more and for less than they have.
        let wanted =
            if number % 2 == 0 { pods.saturating_add(lacking) } else { pods.saturating_sub(lacking) };
        let owner = state.pods.first().and_then(|pod| Some((pod.owner()?.clone(), Arc::clone(&pod.shape))));
        for queue in &mut state.queues {
            queue.demand = demand;
            let request = amounts(i128::from(wanted) * 1_000, i128::from(wanted) * 4);
            queue.request = (demand == DemandMode::Declared)
                .then(|| request.iter().map(|(resource, amount)| (resource.clone(), amount)).collect());
        }
        state.owners = owner
            .into_iter()
            .map(|(uid, shape)| Owner {
                name: uid.as_str().into(),
                uid,
                kind: OwnerKind::ReplicaSet,
                generation: 1,
                created: Timestamp::from_seconds(1),
                wanted,
                shape,
                gang: None,
                priority: 0,
            })
            .collect();
    }
    settle(&snapshot).0
}

fn flat_benches(criterion: &mut Criterion) {
    for (what, demand, lacking) in [
        ("declared, all satisfied", DemandMode::Declared, 0),
        ("declared, half of them short", DemandMode::Declared, 7),
        ("observed, all satisfied", DemandMode::Observed, 0),
        ("observed, half of them short", DemandMode::Observed, 7),
    ] {
        let snapshot = flat(demand, lacking);
        criterion.bench_function(&format!("plan 1000 flat queues of 150000 pods: {what}"), |bencher| {
            bencher.iter(|| plan(black_box(&snapshot)));
        });
    }
}

fn benches(criterion: &mut Criterion) {
    for (what, size) in [
        ("100 queues, 1000 nodes, 20000 pods", MEDIUM),
        ("1000 queues in 3 levels, 5000 nodes, 15000 pods", LARGE_BUT_PODS),
        ("1000 queues in 3 levels, 5000 nodes, 150000 pods", LARGE),
    ] {
        let at_rest = cluster(size, false);
        assert!(plan(&at_rest).is_settled());
        criterion.bench_function(&format!("plan at rest: {what}"), |bencher| {
            bencher.iter(|| plan(black_box(&at_rest)));
        });
        let newcomer = cluster(size, true);
        let victims = plan(&newcomer).evictions.len();
        criterion.bench_function(&format!("plan a newcomer that takes {victims} pods: {what}"), |bencher| {
            bencher.iter(|| plan(black_box(&newcomer)));
        });
    }
}

criterion_group! {
    name = group;
    config = Criterion::default().sample_size(20);
    targets = benches, flat_benches
}
criterion_main!(group);
