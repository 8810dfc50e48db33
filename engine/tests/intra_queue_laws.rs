//! Laws of priority inside a queue, over random queues on random nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use quotient_advance::{advance, settle};
use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};
use quotient_engine::names::{Namespace, NodeName, OwnerUid, PodName, PodUid, QueueUid};
use quotient_engine::plan::{Plan, Preemptor, Scaling};
use quotient_engine::planner::plan;
use quotient_engine::snapshot::{
    NamespaceState, Node, Owner, OwnerKind, Phase, Pod, PodMetadata, Preemption, Queue, Quota, ScaleTarget,
    ScaleTargetKind, Settings, Shape, Size, Snapshot, Workload,
};
use quotient_engine::time::Timestamp;

use crate::effort;

fn gpu() -> Resource {
    Resource::from_name("nvidia.com/gpu")
}

fn gpus(count: u32) -> Amounts {
    [(gpu(), Amount::new(count.into()))].into_iter().collect()
}

/// An owner: kind, priority, what a pod of it requests, how many it wants, and how many of them it tries to have.
type Wish = (OwnerKind, i32, u32, u32, u32);

fn wish() -> impl Strategy<Value = Wish> {
    let kind = prop_oneof![3 => Just(OwnerKind::ReplicaSet), 1 => Just(OwnerKind::StatefulSet), 1 => Just(OwnerKind::Job)];
    (kind, 0i32..4, prop_oneof![3 => Just(1u32), 1 => Just(2), 1 => Just(4)], 1u32..6, 0u32..6)
}

fn queue() -> impl Strategy<Value = Snapshot> {
    let nodes = proptest::collection::vec(1u32..6, 1..4);
    let wishes = proptest::collection::vec(wish(), 2..6);
    (nodes, wishes, any::<u64>()).prop_map(|(nodes, wishes, seed)| build(&nodes, &wishes, seed))
}

/// Every owner has as many of its pods as fit, on nodes that `seed` says.
fn build(nodes: &[u32], wishes: &[Wish], mut seed: u64) -> Snapshot {
    let all: u32 = nodes.iter().sum();
    let mut free: Vec<u32> = nodes.to_vec();
    let mut chance = |bound: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % bound
    };
    let mut state = NamespaceState {
        queues: vec![Queue {
            uid: QueueUid::from("a"),
            name: "a".into(),
            weight: 1,
            preemption: Preemption::LowerPriority,
            ..Queue::default()
        }],
        ..NamespaceState::default()
    };
    let hard: Bounds = [(gpu(), Amount::new(all.into()))].into_iter().collect();
    state.quota = Some(Quota { hard: hard.clone(), enforced: hard, ours: true, ..Quota::default() });
    for (at, (kind, priority, each, wanted, tries)) in wishes.iter().enumerate() {
        let name = format!("o{at}");
        let uid = OwnerUid::from(name.as_str());
        let shape = Arc::new(Shape { requests: gpus(*each), ..Shape::default() });
        let owner = Workload { uid: uid.clone(), ..Workload::default() };
        let metadata = Arc::new(PodMetadata { owner: Some(owner), ..PodMetadata::default() });
        for number in 0..*tries.min(wanted) {
            let first = chance(free.len());
            let fitting =
                (0..free.len()).map(|step| (first + step) % free.len()).find(|node| free[*node] >= *each);
            let Some(node) = fitting else { break };
            free[node] -= each;
            let started = i64::try_from(chance(50)).unwrap();
            state.pods.push(Pod {
                uid: PodUid::from(format!("{name}-{number}").as_str()),
                name: PodName::from(format!("{name}-{number}").as_str()),
                shape: Arc::clone(&shape),
                metadata: Arc::clone(&metadata),
                node: Some(NodeName::from(format!("n{node}").as_str())),
                phase: Phase::Running,
                priority: *priority,
                created: Timestamp::from_seconds(started),
                started: Some(Timestamp::from_seconds(started)),
                ..Pod::default()
            });
        }
        let scale_target = match kind {
            OwnerKind::ReplicaSet | OwnerKind::QueueJob => ScaleTargetKind::ReplicaSet,
            OwnerKind::StatefulSet => ScaleTargetKind::StatefulSet,
            OwnerKind::Job => ScaleTargetKind::Job,
            OwnerKind::DaemonSet | OwnerKind::Configured(_) => unreachable!("not among the kinds above"),
        };
        state.owners.push(Owner {
            uid: uid.clone(),
            kind: *kind,
            name: name.as_str().into(),
            generation: 1,
            created: Timestamp::from_seconds(i64::try_from(at).unwrap()),
            wanted: *wanted,
            shape,
            priority: *priority,
            size: Size {
                scale_target: Some(ScaleTarget { kind: scale_target, name: name.as_str().into(), uid }),
                written: *wanted,
                ..Size::default()
            },
            ..Owner::default()
        });
    }
    let node = |(at, count): (usize, &u32)| {
        let node = Node { allocatable: gpus(*count), counts: true, ..Node::default() };
        (NodeName::from(format!("n{at}").as_str()), Arc::new(node))
    };
    Snapshot {
        now: Timestamp::from_seconds(1000),
        settings: Settings { resources: BTreeSet::from([gpu()]), ..Settings::default() },
        nodes: nodes.iter().enumerate().map(node).collect(),
        namespaces: [(Namespace::from("a"), Arc::new(state))].into_iter().collect(),
        ..Snapshot::default()
    }
}

fn state(snapshot: &mut Snapshot) -> &mut NamespaceState {
    Arc::make_mut(snapshot.namespaces.values_mut().next().unwrap())
}

/// The queue in a few lines.
fn describe(snapshot: &Snapshot) -> String {
    let nodes: Vec<String> =
        snapshot.nodes.iter().map(|(name, node)| format!("{name}: {}", node.allocatable)).collect();
    let state = snapshot.namespaces.values().next().unwrap();
    let owner = |owner: &Owner| {
        let pods = state.pods.iter().filter(|pod| pod.owner() == Some(&owner.uid));
        let pods: Vec<String> = pods
            .map(|pod| {
                format!("{} on {} since {:?}", pod.name, pod.node.as_ref().unwrap(), pod.started.unwrap())
            })
            .collect();
        let each = &owner.shape.requests;
        format!(
            "{} {:?} of priority {} wants {} of {each}: {}",
            owner.name,
            owner.kind,
            owner.priority,
            owner.wanted,
            pods.join(", ")
        )
    };
    let owners: Vec<String> = state.owners.iter().map(owner).collect();
    format!("{}\n{}", nodes.join(", "), owners.join("\n"))
}

fn lowered(plan: &Plan) -> Vec<Scaling> {
    plan.scalings.iter().filter(|scaling| scaling.lowers()).cloned().collect()
}

/// How far a victim has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Come {
    Surplus,
    Terminating,
    Gone,
}

/// `scaling` is carried out, and its pods have come so far; all of them at least to where the owner has.
fn carry_out(snapshot: &mut Snapshot, scaling: &Scaling, come: &dyn Fn(usize) -> Come) {
    let state = state(snapshot);
    let owner = state.owners.iter_mut().find(|owner| owner.uid == scaling.owner).unwrap();
    owner.wanted = scaling.to;
    owner.size = Size {
        written: scaling.to,
        original_replicas: scaling.original_replicas,
        withheld_replicas: scaling.original_replicas.unwrap() - scaling.to,
        ..owner.size.clone()
    };
    for (at, pod) in scaling.pods.iter().enumerate() {
        let found = state.pods.iter_mut().find(|one| one.uid == pod.uid).unwrap();
        match come(at) {
            Come::Surplus => found.deletion_cost = i32::MIN,
            Come::Terminating => found.deletion = Some(Timestamp::from_seconds(1030)),
            Come::Gone => found.phase = Phase::Finished,
        }
    }
}

proptest! {
    #![proptest_config(effort::cases(256))]

    /// While some owners are scaled down already and their pods leave, no other pod is chosen. Once those are gone, no more pods
    /// are chosen than are left of the plan, but for owners that yielded themselves.
    #[test]
    fn while_victims_leave_no_more_are_chosen_than_are_left(
        snapshot in queue(),
        done in any::<u8>(),
        ways in proptest::collection::vec(prop_oneof![Just(Come::Surplus), Just(Come::Terminating), Just(Come::Gone)], 32),
    ) {
        let before = lowered(&plan(&snapshot));
        let mut now = snapshot.clone();
        let (mut left, mut yielded) = (Vec::new(), Vec::new());
        let mut number = 0;
        for (at, scaling) in before.iter().enumerate() {
            if done & (1 << (at % 8)) == 0 {
                left.push(scaling.clone());
                continue;
            }
            // The controller of a StatefulSet or a Job removes pods in its order, so the later ones are not further.
            let from = number;
            carry_out(&mut now, scaling, &|at| ways[(from + at) % ways.len()]);
            number += scaling.pods.len();
            yielded.push(&scaling.scale_target.name);
        }
        let after = lowered(&plan(&now));
        let has_yielded = |one: &Preemptor| matches!(one, Preemptor::Owner(_, name) if yielded.contains(&name));
        let goes_on = |one: &Scaling| {
            let same = left.iter().filter(|before| before.owner == one.owner);
            same.map(|before| before.pods.len()).sum::<usize>()
        };
        // One scaling may serve both kinds of owners, and does not say which pod is for which.
        let for_others = |one: &Scaling| {
            let yielded = one.beneficiaries.iter().filter(|one| has_yielded(one)).count();
            match (yielded, one.beneficiaries.len() - yielded) {
                (0, _) => one.pods.len(),
                (_, 0) => 0,
                (_, _) => one.pods.len().min(goes_on(one)),
            }
        };
        let shown = |all: &[Scaling]| -> Vec<_> {
            all.iter().map(|one| (one.scale_target.name.to_string(), one.to, one.pods.clone())).collect()
        };
        let context = format!("of {:?}\n{}\n{:?}", shown(&before), describe(&snapshot), &ways[..number.min(32)]);
        let (chosen, planned) = (after.iter().map(for_others), left.iter().map(|one| one.pods.len()));
        prop_assert!(chosen.sum::<usize>() <= planned.sum(), "{:?} for {:?} {}", shown(&after), shown(&left), context);
        let leaves = (0..number).any(|at| ways[at % ways.len()] != Come::Gone);
        prop_assert!(!leaves || after.is_empty(), "{:?} while others leave {}", shown(&after), context);
    }

    /// It comes to rest; pods go no more often than others of a higher priority get room; serving owners keep a pod; and every
    /// victim is of a strictly lower priority than a workload it goes for.
    #[test]
    fn it_comes_to_rest_without_any_back_and_forth(mut snapshot in queue()) {
        let beginning = describe(&snapshot);
        let wanted: u32 = snapshot.namespaces.values().flat_map(|state| &state.owners).map(|owner| owner.wanted).sum();
        let mut lowerings = 0;
        let mut at_rest = false;
        for _ in 0..60 {
            let (settled, plan) = settle(&snapshot);
            let priorities: BTreeMap<String, i32> = settled.namespaces.values().flat_map(|state| &state.owners)
                .map(|owner| (owner.name.to_string(), owner.priority)).collect();
            lowerings += u32::from(plan.scalings.iter().any(Scaling::lowers));
            prop_assert!(lowerings <= wanted, "back and forth\n{beginning}");
            for scaling in &plan.scalings {
                if scaling.lowers() {
                    prop_assert!(scaling.to >= 1 || scaling.scale_target.kind == ScaleTargetKind::Job);
                    prop_assert!(!scaling.pods.is_empty());
                    let highest = scaling.beneficiaries.iter().map(|asker| match asker {
                        quotient_engine::plan::Preemptor::Owner(_, name) => priorities[&**name],
                        quotient_engine::plan::Preemptor::Pod(_) => i32::MAX,
                    }).max().unwrap();
                    prop_assert!(scaling.priority < highest);
                }
            }
            let advanced = advance(&settled, &plan);
            if plan.is_settled() && advanced.started.is_empty() && advanced.rests(&settled) {
                at_rest = true;
                break;
            }
            snapshot = advanced.snapshot;
        }
        prop_assert!(at_rest, "does not come to rest");
    }

    /// A workload that pods go for starts as many as were promised: no pod goes for an ask that is not met.
    #[test]
    fn no_pod_goes_in_vain(snapshot in queue()) {
        let first = plan(&snapshot);
        let before = lowered(&first);
        if before.is_empty() {
            return Ok(());
        }
        let mut now = snapshot.clone();
        for scaling in &before {
            carry_out(&mut now, scaling, &|_| Come::Gone);
        }
        let freed: i128 = before.iter().flat_map(|scaling| &scaling.pods).map(|pod| {
            let state = &snapshot.namespaces[&pod.namespace];
            state.pods.iter().find(|one| one.uid == pod.uid).unwrap().requests().get(&gpu()).units()
        }).sum();
        // Only those that pods went for create any now.
        let gainers: BTreeSet<String> = before.iter().flat_map(|scaling| &scaling.beneficiaries).map(|asker| match asker {
            quotient_engine::plan::Preemptor::Owner(_, name) => name.to_string(),
            quotient_engine::plan::Preemptor::Pod(name) => name.to_string(),
        }).collect();
        for owner in state(&mut now).owners.iter_mut().filter(|owner| !gainers.contains(&*owner.name)) {
            let live = snapshot.namespaces.values().flat_map(|state| &state.pods)
                .filter(|pod| pod.owner() == Some(&owner.uid)).count();
            owner.wanted = owner.wanted.min(u32::try_from(live).unwrap());
        }
        let (settled, then) = settle(&now);
        let advanced = advance(&settled, &Plan { scalings: Vec::new(), ..then });
        prop_assert!(freed > 0);
        prop_assert!(!advanced.started.is_empty(), "no pod took what was freed\n{}\n{before:?}", describe(&snapshot));
    }
}
