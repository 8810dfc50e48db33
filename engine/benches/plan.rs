//! How long one full plan takes: 100 queues, 1,000 nodes, 20,000 pods, at rest and with a fifth to be reclaimed.

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
use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};
use quotient_engine::labels::Labels;
use quotient_engine::names::{Namespace, NodeName, PodName, PodUid, QueueUid};
use quotient_engine::plan::plan;
use quotient_engine::snapshot::{NamespaceState, Node, Phase, Pod, Queue, Snapshot};
use quotient_engine::time::Timestamp;

const QUEUES: usize = 100;
const NODES: usize = 1_000;
const PODS_PER_QUEUE: usize = 200;

fn amounts(cpu: i128, gibibytes: i128) -> Amounts {
    [(Resource::Cpu, Amount::new(cpu)), (Resource::Memory, Amount::new(gibibytes << 30))]
        .into_iter()
        .collect()
}

/// Every queue runs one-cpu pods; with `newcomer`, one more queue comes without any.
fn cluster(newcomer: bool) -> Snapshot {
    let mut snapshot = Snapshot::default();
    let allocatable = amounts(20_000, 80);
    for node in 0..NODES {
        let node = NodeName::from(format!("node-{node}").as_str());
        snapshot.nodes.insert(node, Arc::new(Node { allocatable: allocatable.clone(), counts: true }));
    }
    let names: Vec<NodeName> = snapshot.nodes.keys().cloned().collect();
    let requests = Arc::new(amounts(1_000, 4));
    for number in 0..QUEUES + usize::from(newcomer) {
        let pods = if number == QUEUES { 0 } else { PODS_PER_QUEUE };
        let pod = |index: usize| Pod {
            uid: PodUid::from(format!("00000000-0000-0000-{number:04}-{index:012}").as_str()),
            name: PodName::from(format!("worker-{index}").as_str()),
            requests: Arc::clone(&requests),
            node: names.get((number * PODS_PER_QUEUE + index) % NODES).cloned(),
            phase: Phase::Running,
            priority: 0,
            created: Timestamp::from_seconds(1),
            started: Some(Timestamp::from_seconds(index as i64)),
            deletion: None,
            immunity: None,
            reluctant: false,
            owner: None,
        };
        let queue = Queue {
            uid: QueueUid::from(format!("queue-{number}").as_str()),
            name: "queue".into(),
            created: Timestamp::from_seconds(0),
            weight: if number == QUEUES { 25 } else { 1 },
            request: None,
            guaranteed: Bounds::new(),
            limit: Bounds::new(),
            ..Queue::default()
        };
        let state = NamespaceState {
            labels: Labels::default(),
            queues: vec![queue],
            quota: None,
            pods: (0..pods).map(pod).collect(),
        };
        snapshot.namespaces.insert(Namespace::from(format!("team-{number:04}").as_str()), Arc::new(state));
    }
    // What a running operator sees: quotas are in place and in force.
    settle(&snapshot).0
}

fn benches(criterion: &mut Criterion) {
    let at_rest = cluster(false);
    assert!(plan(&at_rest).is_settled());
    criterion.bench_function("plan 100 queues 1000 nodes 20000 pods, at rest", |bencher| {
        bencher.iter(|| plan(black_box(&at_rest)));
    });
    let newcomer = cluster(true);
    println!("a newcomer takes {} pods", plan(&newcomer).evictions.len());
    criterion.bench_function("plan 100 queues 1000 nodes 20000 pods, a newcomer takes a fifth", |bencher| {
        bencher.iter(|| plan(black_box(&newcomer)));
    });
}

criterion_group!(group, benches);
criterion_main!(group);
