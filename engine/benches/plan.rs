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
    Acceptance, NamespaceState, Node, Owner, OwnerKind, Phase, Pod, Queue, Shape, Snapshot, Ties,
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
fn cluster(size: Size, newcomer: Option<u32>) -> Snapshot {
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
    let wanted = newcomer.unwrap_or_default();
    for number in 0..size.queues + usize::from(newcomer.is_some()) {
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
                owners: if is_new { asks(wanted, &shape) } else { Vec::new() },
                ..NamespaceState::default()
            },
        );
    }
    // What a running operator sees: quotas are in place and in force.
    settle(&snapshot).0
}

/// How many pods the newcomer's owner wants, where it has one.
const ASKED_FOR: u32 = 5_000;

/// An owner that wants `pods` pods.
fn asks(pods: u32, shape: &Arc<Shape>) -> Vec<Owner> {
    let owner = Owner {
        uid: OwnerUid::from("newcomer"),
        kind: OwnerKind::ReplicaSet,
        name: "newcomer".into(),
        generation: 1,
        created: Timestamp::from_seconds(1),
        wanted: pods,
        shape: Arc::clone(shape),
        gang: None,
        priority: 0,
    };
    if pods == 0 { Vec::new() } else { vec![owner] }
}

fn benches(criterion: &mut Criterion) {
    for (what, size) in [
        ("100 queues, 1000 nodes, 20000 pods", MEDIUM),
        ("1000 queues in 3 levels, 5000 nodes, 15000 pods", LARGE_BUT_PODS),
        ("1000 queues in 3 levels, 5000 nodes, 150000 pods", LARGE),
    ] {
        let at_rest = cluster(size, None);
        assert!(plan(&at_rest).is_settled());
        criterion.bench_function(&format!("plan at rest: {what}"), |bencher| {
            bencher.iter(|| plan(black_box(&at_rest)));
        });
        let newcomer = cluster(size, Some(0));
        let victims = plan(&newcomer).evictions.len();
        criterion.bench_function(&format!("plan a newcomer that takes {victims} pods: {what}"), |bencher| {
            bencher.iter(|| plan(black_box(&newcomer)));
        });
        let asking = cluster(size, Some(ASKED_FOR));
        let victims = plan(&asking).evictions.len();
        let what = format!("plan a newcomer that takes {victims} pods for {ASKED_FOR} of its own: {what}");
        criterion.bench_function(&what, |bencher| bencher.iter(|| plan(black_box(&asking))));
    }
}

criterion_group! {
    name = group;
    config = Criterion::default().sample_size(20);
    targets = benches
}
criterion_main!(group);
