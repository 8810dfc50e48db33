//! The laws of plans over random clusters, and of plan and advance repeated.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_wrap,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that overflows or misses something fails, as it should"
)]

mod random;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use quotient_engine::advance::{advance, settle};
use quotient_engine::amounts::{Amount, Amounts, Resource};
use quotient_engine::names::Namespace;
use quotient_engine::plan::{Plan, plan};
use quotient_engine::reason::Reason;
use quotient_engine::snapshot::{NamespaceState, Pod, Snapshot};

fn charged(state: &NamespaceState) -> Amounts {
    let mut sum = Amounts::new();
    state.pods.iter().filter(|pod| pod.is_charged()).for_each(|pod| sum.add_all(&pod.requests));
    sum
}

/// What pods hold that are never victims: immune ones, and those on nodes that do not count.
fn untakeable(snapshot: &Snapshot, state: &NamespaceState) -> Amounts {
    let mut sum = Amounts::new();
    let lost = |pod: &Pod| pod.node.as_ref().is_some_and(|node| !snapshot.nodes[node].counts);
    let stays =
        |pod: &&Pod| pod.is_charged() && !pod.is_terminating() && (pod.immunity.is_some() || lost(pod));
    state.pods.iter().filter(stays).for_each(|pod| sum.add_all(&pod.requests));
    sum
}

/// Σ hold of the queues that share, in what is observed.
fn held(snapshot: &Snapshot, plan: &Plan, resource: &Resource, with_grants: bool) -> Amount {
    plan.queues
        .iter()
        .map(|(name, queue)| {
            let state = &snapshot.namespaces[&name.namespace];
            let ceiling = state.quota.as_ref().map(|quota| quota.ceiling(resource)).unwrap_or_default();
            let held = ceiling.max(charged(state).get(resource));
            if with_grants { held.max(queue.allocated.get(resource)) } else { held }
        })
        .sum()
}

fn pods(snapshot: &Snapshot) -> BTreeMap<&str, (&Namespace, &Pod)> {
    let all =
        snapshot.namespaces.iter().flat_map(|(name, state)| state.pods.iter().map(move |pod| (name, pod)));
    all.map(|(name, pod)| (pod.uid.as_str(), (name, pod))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn never_over_granted(snapshot in random::cluster(6)) {
        let plan = plan(&snapshot);
        for resource in &plan.resources {
            let (before, after) = (held(&snapshot, &plan, resource, false), held(&snapshot, &plan, resource, true));
            prop_assert!(after <= before.max(plan.capacity.get(resource)), "{} {:?} {:?}", resource, before, after);
        }
    }

    #[test]
    fn the_numbers_of_a_plan_agree(snapshot in random::cluster(6)) {
        let plan = plan(&snapshot);
        for (name, queue) in &plan.queues {
            prop_assert_eq!(&queue.used, &charged(&snapshot.namespaces[&name.namespace]));
            prop_assert_eq!(&queue.preempting, &queue.deserved.less(&queue.allocated));
            // Never more than it asks for, but for what cannot be taken from it.
            let untakeable = untakeable(&snapshot, &snapshot.namespaces[&name.namespace]);
            prop_assert!(queue.deserved.fits_in(&queue.demand.max(&untakeable)));
            prop_assert_eq!(queue.starved.is_some(), !queue.preempting.is_empty());
        }
        let mut deserved = Amounts::new();
        plan.queues.values().for_each(|queue| deserved.add_all(&queue.deserved));
        prop_assert!(deserved.fits_in(&plan.capacity));
    }

    #[test]
    fn shuffled_input_gives_the_same_plan(snapshot in random::cluster(5), seed in 0usize..100) {
        let mut shuffled = snapshot.clone();
        for state in shuffled.namespaces.values_mut() {
            let state = Arc::make_mut(state);
            let length = state.pods.len().max(1);
            state.pods.rotate_left(seed % length);
            state.pods.reverse();
        }
        prop_assert_eq!(plan(&snapshot), plan(&shuffled));
    }

    #[test]
    fn victims_are_pods_that_may_go_of_queues_above_their_share(snapshot in random::cluster(6)) {
        let plan = plan(&snapshot);
        let pods = pods(&snapshot);
        let mut seen = BTreeSet::new();
        for (eviction, now) in plan.evictions.iter().map(|e| (e, true)).chain(plan.waiting.iter().map(|e| (e, false))) {
            let (namespace, pod) = pods[eviction.pod.uid.as_str()];
            prop_assert!(seen.insert(&eviction.pod.uid));
            prop_assert!(pod.is_charged() && !pod.is_terminating() && pod.immunity.is_none());
            let queue = &plan.queues[&eviction.queue];
            prop_assert!(!queue.used.fits_in(&queue.deserved));
            if now {
                let quota = snapshot.namespaces[namespace].quota.as_ref().unwrap();
                let lowered = pod.requests.resources().any(|resource| {
                    quota.is_fenced_at(resource, queue.allocated.get(resource))
                        && queue.used.get(resource) > queue.deserved.get(resource)
                });
                prop_assert!(lowered, "evicted before its quota was in force");
            }
        }
    }

    #[test]
    fn repeated_it_comes_to_rest_and_the_four_promises_hold(snapshot in random::cluster(6)) {
        let mut snapshot = snapshot;
        let mut evicted = BTreeSet::new();
        let mut rest = None;
        for _ in 0..40 {
            let (settled, decided) = settle(&snapshot);
            for eviction in &decided.evictions {
                prop_assert!(evicted.insert(eviction.pod.uid.clone()), "evicted twice");
            }
            let advanced = advance(&settled, &decided);
            let still = advanced.snapshot.namespaces == settled.namespaces;
            snapshot = advanced.snapshot;
            if still {
                rest = Some(decided);
                break;
            }
        }
        let rest = rest.expect("comes to rest");
        prop_assert!(rest.is_settled());
        // S-QUEUE: not overused; A = D; used ≤ A; nothing preempting. Overuse stays where nobody is short of it. What
        // cannot be taken is not promised, unless a limit is in the way or there is more of it than capacity.
        let kept_above_limit = rest.queues.keys().any(|name| {
            let state = &snapshot.namespaces[&name.namespace];
            let limit = &state.queues[0].limit;
            let untakeable = untakeable(&snapshot, state);
            untakeable.iter().any(|(resource, amount)| limit.get(resource).is_some_and(|limit| limit < amount))
        });
        let mut untakeable_in_all = Amounts::new();
        for name in rest.queues.keys() {
            untakeable_in_all.add_all(&untakeable(&snapshot, &snapshot.namespaces[&name.namespace]));
        }
        let no_capacity = rest.resources.iter().any(|resource| rest.capacity.get(resource).is_zero());
        if !kept_above_limit && untakeable_in_all.fits_in(&rest.capacity) && !no_capacity {
            for queue in rest.queues.values() {
                prop_assert_eq!(&queue.allocated, &queue.deserved);
                prop_assert!(queue.preempting.is_empty());
            }
            for resource in &rest.resources {
                prop_assert!(held(&snapshot, &rest, resource, true) <= rest.capacity.get(resource));
            }
        }
        for queue in rest.queues.values() {
            prop_assert!(queue.starved.is_none_or(|reason| reason == Reason::NothingToEvict));
        }
    }
}
