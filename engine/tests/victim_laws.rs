//! Victim sets against an exhaustive search: irreducible, and no smaller set would do.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_wrap,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that overflows or misses something fails, as it should"
)]

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use quotient_advance::settle;
use quotient_engine::amounts::{Amounts, Bounds, Resource};
use quotient_engine::labels::Labels;
use quotient_engine::names::{Namespace, NodeName, PodName, PodUid, QueueUid};
use quotient_engine::snapshot::{NamespaceState, Node, Phase, Pod, Queue, Shape, Snapshot};
use quotient_engine::time::Timestamp;

use crate::{contents, effort};

#[derive(Clone, Debug)]
struct Spec {
    cpu: i128,
    memory: i128,
    runs: bool,
    priority: i32,
}

fn specs(most: usize) -> impl Strategy<Value = Vec<Spec>> {
    let one = (1i128..5, 0i128..4, prop_oneof![1 => Just(false), 3 => Just(true)], 0i32..3);
    let one = one.prop_map(|(cpu, memory, runs, priority)| Spec { cpu, memory, runs, priority });
    proptest::collection::vec(one, 1..=most)
}

/// Amounts of cpu and GiB.
fn amounts(cpu: i128, memory: i128) -> Amounts {
    contents::amounts(cpu * 1000, memory << 10)
}

/// A queue that is guaranteed `claim` and claims it.
fn queue(claim: &Amounts) -> Queue {
    let all = [Resource::Cpu, Resource::Memory];
    let claim: Bounds = all.into_iter().map(|resource| (resource.clone(), claim.get(&resource))).collect();
    Queue {
        uid: QueueUid::from("queue"),
        name: "queue".into(),
        created: Timestamp::from_seconds(0),
        weight: 1,
        request: claim.clone(),
        guaranteed: claim,
        limit: Bounds::new(),
        ..Queue::default()
    }
}

/// Queue `giver` fills the cluster with `specs`; queue `taker` is entitled to `need` of it.
fn cluster(specs: &[Spec], need: &Amounts) -> Snapshot {
    let total = amounts(specs.iter().map(|s| s.cpu).sum(), specs.iter().map(|s| s.memory).sum());
    let pods = specs.iter().enumerate().map(|(index, spec)| Pod {
        uid: PodUid::from(format!("{index}").as_str()),
        name: PodName::from(format!("p{index}").as_str()),
        shape: Arc::new(Shape { requests: amounts(spec.cpu, spec.memory), ..Shape::default() }),
        node: Some(NodeName::from("n1")),
        phase: if spec.runs { Phase::Running } else { Phase::Pending },
        priority: spec.priority,
        created: Timestamp::from_seconds(index as i64),
        started: spec.runs.then(|| Timestamp::from_seconds(index as i64)),
        ..Pod::default()
    });
    let giver = NamespaceState {
        labels: Labels::default(),
        queues: vec![queue(&Amounts::new())],
        quota: None,
        pods: pods.collect(),
        ..NamespaceState::default()
    };
    let taker = NamespaceState { queues: vec![queue(need)], ..NamespaceState::default() };
    let mut snapshot = Snapshot::default();
    snapshot
        .nodes
        .insert(NodeName::from("n1"), Arc::new(Node { allocatable: total, counts: true, ..Node::default() }));
    snapshot.namespaces.insert(Namespace::from("giver"), Arc::new(giver));
    snapshot.namespaces.insert(Namespace::from("taker"), Arc::new(taker));
    snapshot
}

fn victims(snapshot: &Snapshot) -> BTreeSet<usize> {
    let (_, plan) = settle(snapshot);
    plan.evictions.iter().map(|eviction| eviction.pod.uid.as_str().parse().unwrap()).collect()
}

fn freed(specs: &[Spec], chosen: &BTreeSet<usize>) -> Amounts {
    amounts(chosen.iter().map(|&i| specs[i].cpu).sum(), chosen.iter().map(|&i| specs[i].memory).sum())
}

/// How many victims a set has in each class, most protected class first.
fn cost(specs: &[Spec], chosen: &BTreeSet<usize>) -> Vec<usize> {
    let classes: BTreeSet<(bool, i32)> = specs.iter().map(|spec| (spec.runs, spec.priority)).collect();
    let members = |class: &(bool, i32)| {
        chosen.iter().filter(|&&i| (specs[i].runs, specs[i].priority) == *class).count()
    };
    classes.iter().rev().map(members).collect()
}

proptest! {
    #![proptest_config(effort::cases(1500))]

    #[test]
    fn irreducible_and_sufficient(specs in specs(10), cpu in 0i128..12, memory in 0i128..10) {
        let need = amounts(cpu, memory).min(&amounts(
            specs.iter().map(|s| s.cpu).sum(),
            specs.iter().map(|s| s.memory).sum(),
        ));
        let chosen = victims(&cluster(&specs, &need));
        prop_assert!(need.fits_in(&freed(&specs, &chosen)));
        for spared in &chosen {
            let mut fewer = chosen.clone();
            fewer.remove(spared);
            prop_assert!(!need.fits_in(&freed(&specs, &fewer)), "{spared} was not needed");
        }
    }

    #[test]
    fn the_smallest_where_one_resource_decides(specs in specs(10), cpu in 0i128..12) {
        let need = amounts(cpu, 0).min(&amounts(specs.iter().map(|s| s.cpu).sum(), 0));
        let chosen = victims(&cluster(&specs, &need));
        let best = (0u32..1 << specs.len())
            .map(|mask| (0..specs.len()).filter(|i| mask & (1 << i) != 0).collect::<BTreeSet<usize>>())
            .filter(|set| need.fits_in(&freed(&specs, set)))
            .map(|set| cost(&specs, &set))
            .min()
            .unwrap();
        // As few as possible of the most protected class, then of the next, and so on.
        prop_assert_eq!(cost(&specs, &chosen), best);
    }
}
