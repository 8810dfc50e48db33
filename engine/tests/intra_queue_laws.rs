//! Laws of priority inside a queue, over random queues on random nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;
use quotient_advance::{advance, settle};
use quotient_engine::plan::{Plan, Preemptor, Scaling};
use quotient_engine::planner::plan;
use quotient_engine::snapshot::{NamespaceState, Phase, ScaleTargetKind, Size, Snapshot};
use quotient_engine::time::Timestamp;

use crate::effort;
use crate::story::{Drawn, parse};

/// An owner: kind, priority, the GPUs of a pod of it, how many it wants, and how many of them it tries to have.
type Wish = (&'static str, i32, u32, u32, u32);

fn wish() -> impl Strategy<Value = Wish> {
    let kind = prop_oneof![3 => Just("ReplicaSet"), 1 => Just("StatefulSet"), 1 => Just("Job")];
    (kind, 0i32..4, prop_oneof![3 => Just(1u32), 1 => Just(2), 1 => Just(4)], 1u32..6, 0u32..6)
}

fn queue() -> impl Strategy<Value = Drawn> {
    let nodes = proptest::collection::vec(1u32..6, 1..4);
    let wishes = proptest::collection::vec(wish(), 2..6);
    (nodes, wishes, any::<u64>()).prop_map(|(nodes, wishes, seed)| Drawn(story(&nodes, &wishes, seed)))
}

/// Every owner has as many of its pods as fit, on nodes that `seed` says.
fn story(nodes: &[u32], wishes: &[Wish], mut seed: u64) -> String {
    let mut chance = |bound: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % bound
    };
    let all: u32 = nodes.iter().sum();
    let mut story = format!("queue a preemption=LowerPriority\nquota a gpu={all}\n");
    for (at, size) in nodes.iter().enumerate() {
        writeln!(story, "node n{at} gpu={size}").unwrap();
    }
    let mut free = nodes.to_vec();
    for (at, (kind, priority, each, wanted, tries)) in wishes.iter().enumerate() {
        let alike = format!("gpu={each} priority={priority}");
        writeln!(story, "owner a/o{at} kind={kind} replicas={wanted} created={at} {alike}").unwrap();
        for number in 0..*tries.min(wanted) {
            let first = chance(free.len());
            let mut all = (0..free.len()).map(|step| (first + step) % free.len());
            let Some(node) = all.find(|node| free[*node] >= *each) else { break };
            free[node] -= each;
            let started = chance(50);
            writeln!(story, "pod a/o{at}-{number} owner=o{at} node=n{node} started={started} {alike}")
                .unwrap();
        }
    }
    story
}

fn state(snapshot: &mut Snapshot) -> &mut NamespaceState {
    Arc::make_mut(snapshot.namespaces.values_mut().next().unwrap())
}

fn lowered(plan: &Plan) -> Vec<Scaling> {
    plan.scalings.iter().filter(|scaling| scaling.lowers()).cloned().collect()
}

/// The names of the workloads and pods that pods go for.
fn beneficiaries(scaling: &Scaling) -> impl Iterator<Item = &str> {
    scaling.beneficiaries.iter().map(|one| match one {
        Preemptor::Owner(_, name) => &**name,
        Preemptor::Pod(name) => name.as_str(),
    })
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
        queue in queue(),
        done in any::<u8>(),
        ways in proptest::collection::vec(prop_oneof![Just(Come::Surplus), Just(Come::Terminating), Just(Come::Gone)], 32),
    ) {
        let mut now = parse(&queue.0);
        let before = lowered(&plan(&now));
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
            yielded.push(&*scaling.scale_target.name);
        }
        let after = lowered(&plan(&now));
        let goes_on = |one: &Scaling| {
            let same = left.iter().filter(|before| before.owner == one.owner);
            same.map(|before| before.pods.len()).sum::<usize>()
        };
        // One scaling may serve both kinds of owners, and does not say which pod is for which.
        let for_others = |one: &Scaling| {
            let both = beneficiaries(one).partition::<Vec<_>, _>(|name| yielded.contains(name));
            match (both.0.len(), both.1.len()) {
                (0, _) => one.pods.len(),
                (_, 0) => 0,
                (_, _) => one.pods.len().min(goes_on(one)),
            }
        };
        let shown = |all: &[Scaling]| -> Vec<_> {
            all.iter().map(|one| (one.scale_target.name.to_string(), one.to, one.pods.clone())).collect()
        };
        let context = format!("of {:?}\n{:?}", shown(&before), &ways[..number.min(32)]);
        let (chosen, planned) = (after.iter().map(for_others), left.iter().map(|one| one.pods.len()));
        prop_assert!(chosen.sum::<usize>() <= planned.sum(), "{:?} for {:?} {}", shown(&after), shown(&left), context);
        let leaves = (0..number).any(|at| ways[at % ways.len()] != Come::Gone);
        prop_assert!(!leaves || after.is_empty(), "{:?} while others leave {}", shown(&after), context);
    }

    /// It comes to rest; pods go no more often than others of a higher priority get room; serving owners keep a pod; and every
    /// victim is of a strictly lower priority than a workload it goes for, or goes for a pod.
    #[test]
    fn it_comes_to_rest_without_any_back_and_forth(queue in queue()) {
        let mut snapshot = parse(&queue.0);
        let wanted: u32 = snapshot.namespaces.values().flat_map(|state| &state.owners).map(|owner| owner.wanted).sum();
        let mut lowerings = 0;
        let mut at_rest = false;
        for _ in 0..60 {
            let (settled, plan) = settle(&snapshot);
            let priorities: BTreeMap<String, i32> = settled.namespaces.values().flat_map(|state| &state.owners)
                .map(|owner| (owner.name.to_string(), owner.priority)).collect();
            lowerings += u32::from(plan.scalings.iter().any(Scaling::lowers));
            prop_assert!(lowerings <= wanted, "back and forth");
            for scaling in &plan.scalings {
                if scaling.lowers() {
                    prop_assert!(scaling.to >= 1 || scaling.scale_target.kind == ScaleTargetKind::Job);
                    prop_assert!(!scaling.pods.is_empty());
                    let is_higher = |name: &str| priorities.get(name).is_none_or(|other| scaling.priority < *other);
                    prop_assert!(beneficiaries(scaling).any(is_higher));
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
    fn no_pod_goes_in_vain(queue in queue()) {
        let mut now = parse(&queue.0);
        let before = lowered(&plan(&now));
        if before.is_empty() {
            return Ok(());
        }
        let pods = state(&mut now).pods.clone();
        for scaling in &before {
            carry_out(&mut now, scaling, &|_| Come::Gone);
        }
        // Only those that pods went for create any now.
        let gainers: BTreeSet<&str> = before.iter().flat_map(beneficiaries).collect();
        for owner in state(&mut now).owners.iter_mut().filter(|owner| !gainers.contains(&*owner.name)) {
            let live = pods.iter().filter(|pod| pod.owner() == Some(&owner.uid)).count();
            owner.wanted = owner.wanted.min(u32::try_from(live).unwrap());
        }
        let (settled, then) = settle(&now);
        let advanced = advance(&settled, &Plan { scalings: Vec::new(), ..then });
        prop_assert!(!advanced.started.is_empty(), "no pod took what was freed\n{before:?}");
    }
}
