//! The laws of plans over random clusters, and of plan and advance repeated.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_wrap,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that overflows or misses something fails, as it should"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use quotient_engine::advance::{advance, settle};
use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};
use quotient_engine::names::{Namespace, QueueName};
use quotient_engine::plan::{Plan, QueuePlan, plan};
use quotient_engine::reason::Reason;
use quotient_engine::snapshot::{EvictionPolicy, NamespaceState, Pod, Queue, Snapshot};
use quotient_engine::time::Timestamp;

use crate::{effort, history, random, story};

fn charged(state: &NamespaceState) -> Amounts {
    let mut sum = Amounts::new();
    state.pods.iter().filter(|pod| pod.is_charged()).for_each(|pod| sum.add_all(pod.requests()));
    sum
}

/// What pods hold that are never victims: immune ones, those on nodes that do not count, all below a queue that says so.
fn untakeable(snapshot: &Snapshot, state: &NamespaceState) -> Amounts {
    let mut sum = Amounts::new();
    let lost = |pod: &Pod| pod.node.as_ref().is_some_and(|node| !snapshot.nodes[node].counts);
    let spared = |queue: &Queue| {
        above(snapshot, queue).iter().any(|above| above.eviction.policy == Some(EvictionPolicy::Never))
    };
    let all = state.queues.iter().any(spared);
    let stays = |pod: &&Pod| {
        pod.is_charged() && (lost(pod) || (!pod.is_terminating() && (all || pod.immunity.is_some())))
    };
    state.pods.iter().filter(stays).for_each(|pod| sum.add_all(pod.requests()));
    sum
}

/// The queues above `queue`.
fn above<'a>(snapshot: &'a Snapshot, queue: &Queue) -> Vec<&'a Queue> {
    let find = |name: &QueueName| {
        snapshot.namespaces[&name.namespace].queues.iter().find(|one| one.name == name.name)
    };
    std::iter::successors(queue.parent.as_ref().and_then(find), |below| below.parent.as_ref().and_then(find))
        .collect()
}

/// The same cluster in which no owner wants more pods than there are.
fn without_asks(mut snapshot: Snapshot) -> Snapshot {
    for state in snapshot.namespaces.values_mut() {
        let state = Arc::make_mut(state);
        for owner in &mut state.owners {
            let of_owner = |pod: &&Pod| pod.is_live() && pod.owner() == Some(&owner.uid);
            let live = state.pods.iter().filter(of_owner).count();
            owner.wanted = owner.wanted.min(u32::try_from(live).unwrap());
        }
    }
    snapshot
}

/// The queues that govern pods.
fn leaves(plan: &Plan) -> impl Iterator<Item = (&QueueName, &QueuePlan)> {
    plan.queues.iter().filter(|(_, queue)| !queue.is_parent)
}

/// Σ hold of the queues that share, in what is observed.
fn held(snapshot: &Snapshot, plan: &Plan, resource: &Resource, with_grants: bool) -> Amount {
    leaves(plan)
        .map(|(name, queue)| {
            let state = &snapshot.namespaces[&name.namespace];
            let ceiling = state.quota.as_ref().map(|quota| quota.ceiling(resource)).unwrap_or_default();
            let held = ceiling.max(charged(state).get(resource));
            if with_grants { held.max(queue.allocated.get(resource)) } else { held }
        })
        .sum()
}

/// What the operator writes into statuses with every cycle.
fn keep_statuses(snapshot: &mut Snapshot, plan: &Plan) {
    for (name, decided) in &plan.queues {
        let state = Arc::make_mut(snapshot.namespaces.get_mut(&name.namespace).unwrap());
        let queue = state.queues.iter_mut().find(|queue| queue.name == name.name).unwrap();
        queue.remembered = decided.remember.clone();
    }
}

fn pods(snapshot: &Snapshot) -> BTreeMap<&str, (&Namespace, &Pod)> {
    let all =
        snapshot.namespaces.iter().flat_map(|(name, state)| state.pods.iter().map(move |pod| (name, pod)));
    all.map(|(name, pod)| (pod.uid.as_str(), (name, pod))).collect()
}

proptest! {
    #![proptest_config(effort::cases(1500))]

    #[test]
    fn never_over_granted(snapshot in random::cluster(6)) {
        let plan = plan(&snapshot);
        for resource in &plan.resources {
            let (before, after) = (held(&snapshot, &plan, resource, false), held(&snapshot, &plan, resource, true));
            prop_assert!(after <= before.max(plan.capacity.get(resource)), "{} {:?} {:?}", resource, before, after);
        }
    }

    #[test]
    fn never_over_granted_below_a_limit(snapshot in random::cluster(6)) {
        let plan = plan(&snapshot);
        let queues = snapshot.namespaces.values().flat_map(|state| &state.queues);
        for parent in queues.filter(|queue| queue.children.is_some()) {
            let mut below = plan.clone();
            below.queues.retain(|name, queue| {
                !queue.is_parent
                    && above(&snapshot, &snapshot.namespaces[&name.namespace].queues[0]).iter().any(|one| one.uid == parent.uid)
            });
            for (resource, limit) in parent.limit.iter() {
                let (before, after) = (held(&snapshot, &below, resource, false), held(&snapshot, &below, resource, true));
                prop_assert!(after <= before.max(limit), "{} {:?} {:?}", resource, before, after);
            }
        }
    }

    #[test]
    fn the_numbers_of_a_plan_agree(snapshot in random::cluster(6)) {
        let plan = plan(&snapshot);
        for (name, queue) in leaves(&plan) {
            prop_assert_eq!(&queue.used, &charged(&snapshot.namespaces[&name.namespace]));
            for resource in &plan.resources {
                let short = queue.deserved.less(&queue.allocated).get(resource);
                let next_to_nothing = short.units() * 100 < queue.deserved.get(resource).units();
                let promised = queue.preempting.get(resource);
                prop_assert!(promised == short || (promised.is_zero() && next_to_nothing));
            }
            // Never more than it asks for, but for what cannot be taken from it.
            let untakeable = untakeable(&snapshot, &snapshot.namespaces[&name.namespace]);
            let claimed = queue.deserved.less(&queue.idle);
            prop_assert!(claimed.fits_in(&queue.demand.max(&untakeable)));
            // The idle part is never promised, only had.
            prop_assert!(queue.idle.fits_in(&queue.allocated.less(&claimed)));
            // Of what is promised, its own pods may hold some already.
            let held = queue.deserved.less(&queue.used);
            prop_assert_eq!(&queue.lacking, &queue.preempting.min(&held));
            prop_assert_eq!(queue.starved.is_some(), !queue.lacking.is_empty());
        }
        let mut deserved = Amounts::new();
        leaves(&plan).for_each(|(_, queue)| deserved.add_all(&queue.deserved));
        prop_assert!(deserved.fits_in(&plan.capacity));
    }

    /// S-QUEUE: never above a limit nor below a guarantee that can be met; nothing is wasted.
    #[test]
    fn shares_keep_their_laws(snapshot in random::cluster(6)) {
        let plan = plan(&snapshot);
        let mut nothing_is_held = true;
        for (name, queue) in leaves(&plan) {
            let state = &snapshot.namespaces[&name.namespace];
            let spec = &state.queues[0];
            nothing_is_held &= untakeable(&snapshot, state).is_empty();
            for resource in &plan.resources {
                let (deserved, demand) = (queue.deserved.get(resource), queue.demand.get(resource));
                let bounds = [spec.limit.get(resource), state.foreign_quotas.get(resource)];
                prop_assert!(bounds.into_iter().flatten().all(|bound| deserved <= bound));
                if queue.unmeetable.get(resource).is_zero() {
                    let guaranteed = spec.guaranteed.get(resource).unwrap_or_default();
                    let claimed = deserved - queue.idle.get(resource);
                    prop_assert!(claimed >= guaranteed.min(demand), "{} {:?}", name, claimed);
                }
            }
        }
        if nothing_is_held {
            for resource in &plan.resources {
                let roots = || plan.queues.values().filter(|queue| queue.parent.is_none());
                let demand: Amount = roots().map(|queue| queue.demand.get(resource)).sum();
                let shared: Amount =
                    leaves(&plan).map(|(_, queue)| (queue.deserved.less(&queue.idle)).get(resource)).sum();
                // Shares are handed out in whole quanta, so less than one may be left.
                let wasted = demand.min(plan.capacity.get(resource)) - shared;
                prop_assert!((0..resource.quantum()).contains(&wasted.units()), "{:?}", wasted);
            }
        }
    }

    #[test]
    fn shuffled_input_gives_the_same_plan(snapshot in random::cluster(5), seed in 0usize..100) {
        let mut shuffled = snapshot.clone();
        for state in shuffled.namespaces.values_mut() {
            let state = Arc::make_mut(state);
            let length = state.pods.len().max(1);
            state.pods.rotate_left(seed % length);
            state.pods.reverse();
            state.owners.reverse();
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
                let lowered = pod.requests().resources().any(|resource| {
                    quota.is_fenced_at(resource, queue.allocated.get(resource))
                        && queue.used.get(resource) > queue.deserved.get(resource)
                });
                prop_assert!(lowered, "evicted before its quota was in force");
            }
        }
    }

    /// A victim takes its time to go; the need that it serves must not choose another one meanwhile.
    #[test]
    fn nobody_else_goes_while_victims_are_on_their_way(snapshot in random::cluster(6)) {
        // Who goes for a node may be another one than whole shares were made for (`make_whole`).
        let snapshot = without_asks(snapshot);
        let (mut settled, decided) = settle(&snapshot);
        prop_assume!(!decided.evictions.is_empty());
        keep_statuses(&mut settled, &decided);
        let victims: BTreeSet<_> = decided.evictions.iter().map(|eviction| &eviction.pod.uid).collect();
        for state in settled.namespaces.values_mut() {
            for pod in Arc::make_mut(state).pods.iter_mut().filter(|pod| victims.contains(&pod.uid)) {
                (pod.deletion, pod.evicted) = (Some(Timestamp::from_seconds(1030)), true);
            }
        }
        let (_, again) = settle(&settled);
        prop_assert!(again.evictions.is_empty(), "{}\n{}\nafter\n{}", history::tell(&snapshot), story::print(2, &again, &[]), story::print(1, &decided, &[]));
    }

    #[test]
    fn repeated_it_comes_to_rest_and_the_four_promises_hold(snapshot in random::cluster(6)) {
        let mut snapshot = snapshot;
        let mut evicted = BTreeSet::new();
        let mut rest = None;
        let mut told = String::new();
        for step in 0..60 {
            let (settled, decided) = settle(&snapshot);
            for eviction in &decided.evictions {
                prop_assert!(evicted.insert(eviction.pod.uid.clone()), "evicted twice");
            }
            let advanced = advance(&settled, &decided);
            told += &story::print(step, &decided, &advanced.started);
            let still = advanced.rests(&settled);
            snapshot = advanced.snapshot;
            if still {
                // At rest for now; what only waits for its time to come has to come to rest as well.
                if let Some(later) = decided.next_change.filter(|later| *later > snapshot.now) {
                    snapshot.now = later;
                    continue;
                }
                rest = Some(decided);
                break;
            }
        }
        prop_assert!(rest.is_some(), "does not come to rest:\n{}", told);
        let rest = rest.expect("comes to rest");
        prop_assert!(rest.is_settled());
        // S-QUEUE: not overused; A = D; used ≤ A; nothing preempting. Overuse stays where nobody is short of it. What
        // cannot be taken is not promised, unless a limit is in the way or there is more of it than capacity.
        let mut untakeable_below: BTreeMap<&str, Amounts> = BTreeMap::new();
        for (name, _) in leaves(&rest) {
            let state = &snapshot.namespaces[&name.namespace];
            for above in above(&snapshot, &state.queues[0]) {
                untakeable_below.entry(&above.name).or_default().add_all(&untakeable(&snapshot, state));
            }
        }
        let exceeds = |queue: &Queue, untakeable: &Amounts| {
            untakeable.iter().any(|(resource, amount)| queue.limit.get(resource).is_some_and(|limit| limit < amount))
        };
        let kept_above_limit = snapshot.namespaces.values().any(|state| {
            state.queues.iter().any(|queue| {
                let below = untakeable_below.get(&*queue.name).cloned();
                exceeds(queue, &below.unwrap_or_else(|| untakeable(&snapshot, state)))
            })
        });
        // Pods are whole: what only pods hold that a guarantee keeps stays promised, too.
        let kept = |queue: &QueuePlan| matches!(queue.starved, Some(Reason::Fenced | Reason::Guarantee | Reason::Blocked | Reason::Fragmented | Reason::NoNodeFits));
        let above_guarantee = |(name, queue): (&QueueName, &QueuePlan)| {
            let guards = |one: &Queue| !one.guaranteed.is_empty();
            let own = &snapshot.namespaces[&name.namespace].queues[0];
            !queue.used.fits_in(&queue.deserved) && (guards(own) || above(&snapshot, own).iter().any(|one| guards(one)))
        };
        // Asks that nothing can be done for leave their part of a promise open, too.
        let asked = rest.queues.values().any(|queue| !queue.unmet.is_empty());
        let fenced = asked || rest.queues.values().any(kept) || leaves(&rest).any(above_guarantee);
        let mut untakeable_in_all = Amounts::new();
        for (name, _) in leaves(&rest) {
            untakeable_in_all.add_all(&untakeable(&snapshot, &snapshot.namespaces[&name.namespace]));
        }
        let no_capacity = rest.resources.iter().any(|resource| rest.capacity.get(resource).is_zero());
        if !fenced && !kept_above_limit && untakeable_in_all.fits_in(&rest.capacity) && !no_capacity {
            for (_, queue) in leaves(&rest) {
                for resource in &rest.resources {
                    let (allocated, deserved) = (queue.allocated.get(resource), queue.deserved.get(resource));
                    let difference = allocated.max(deserved) - allocated.min(deserved);
                    // Or so close to it that nothing is written for the difference.
                    let damped = difference.units() * 100 < deserved.units();
                    prop_assert!(difference.is_zero() || damped, "{:?} {:?}", allocated, deserved);
                }
                prop_assert!(queue.preempting.is_empty());
            }
            for resource in &rest.resources {
                prop_assert!(held(&snapshot, &rest, resource, true) <= rest.capacity.get(resource));
            }
        }
        for queue in rest.queues.values() {
            // What it still lacks comes neither by waiting for pods nor for quotas.
            prop_assert!(!matches!(queue.starved, Some(Reason::WaitingForPreemption | Reason::WaitingForQuota)));
        }
    }
}

proptest! {
    // Few clusters are of the kind that it is about, so it looks at twenty times as many.
    #![proptest_config(effort::cases(150))]

    /// A pod that starts in the idle part and leaves some of it moves no quota.
    #[test]
    fn a_pod_that_starts_within_the_idle_part_moves_no_quota(mut snapshot in random::cluster(6)) {
        // Standing claims leave nothing idle.
        for state in snapshot.namespaces.values_mut() {
            Arc::make_mut(state).queues.iter_mut().for_each(|queue| queue.request = Bounds::new());
        }
        let quanta: Amounts =
            [Resource::Cpu, Resource::Memory].map(|one| (one.clone(), Amount::new(one.quantum()))).into_iter().collect();
        let (mut settled, mut before) = settle(&snapshot);
        for _ in 0..10 {
            if before.evictions.is_empty() {
                break;
            }
            (settled, before) = settle(&advance(&settled, &before).snapshot);
        }
        keep_statuses(&mut settled, &before);
        prop_assume!(before.evictions.is_empty());
        let requests: Amounts =
            [(Resource::Cpu, Amount::new(100)), (Resource::Memory, Amount::new(100 << 20))].into_iter().collect();
        // Pods that do not count as demand, or cannot be taken, are charged all the same: then the part is in use.
        let fits = |queue: &QueuePlan| {
            requests.fits_in(&queue.idle.less(&quanta))
                && queue.used.fits_in(&queue.deserved.less(&queue.idle).min(&queue.demand))
                // Where demand is about to fall, a new pod is part of what is still counted.
                && queue.remember.falling.is_empty()
                && queue.remember.set_aside.is_empty()
                && queue.pods.terminating == 0
        };
        let idle = leaves(&before).find(|(_, queue)| fits(queue)).map(|(name, _)| name.clone());
        prop_assume!(idle.is_some());
        // Below a quarter of what is idle everybody is given some more.
        let plenty = before.resources.iter().all(|resource| {
            let sum = |of: &dyn Fn(&QueuePlan) -> Amount| leaves(&before).map(|(_, queue)| of(queue)).sum::<Amount>();
            let given = sum(&|queue| queue.idle.get(resource));
            let occupied = sum(&|queue| (queue.deserved.less(&queue.idle)).max(&queue.used).get(resource));
            let left = before.capacity.get(resource).less(occupied);
            left.is_zero() || (given - requests.get(resource)).units() * 4 >= (left - requests.get(resource)).units()
        });
        prop_assume!(plenty);
        // A queue that has nothing of it is given some as soon as that is worth a write.
        let has_some = |queue: &QueuePlan| before.resources.iter().all(|resource| queue.idle.get(resource).is_positive());
        prop_assume!(leaves(&before).all(|(_, queue)| has_some(queue)));
        let state = Arc::make_mut(settled.namespaces.get_mut(&idle.unwrap().namespace).unwrap());
        state.pods.push(Pod {
            uid: "new".into(),
            name: "new".into(),
            shape: Arc::new(quotient_engine::snapshot::Shape { requests, ..Default::default() }),
            created: settled.now,
            ..Pod::default()
        });
        let after = plan(&settled);
        prop_assert_eq!(after.quota_writes().count(), 0, "{}\nafter\n{}", story::print(2, &after, &[]), story::print(1, &before, &[]));
    }
}
