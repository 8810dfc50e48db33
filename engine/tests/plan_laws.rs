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
use quotient_advance::{advance, keep, settle};
use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};
use quotient_engine::names::{GangName, QueueName};
use quotient_engine::plan::{Eviction, Plan, QueuePlan};
use quotient_engine::planner::plan;
use quotient_engine::reasons::ShortReason;
use quotient_engine::snapshot::{
    Gang, NamespaceState, Owner, OwnerKind, Pod, Queue, Remembered, Shape, Snapshot,
};

use crate::contents::{charged, leaves, path, pods, sum};
use crate::{effort, history, random, story};

/// What pods hold that are never victims because a queue says so.
fn spared(snapshot: &Snapshot, name: &QueueName) -> Amounts {
    let live = snapshot.namespaces[&name.namespace].pods.iter().filter(|pod| pod.is_live());
    if history::is_spared(snapshot, name) { sum(live) } else { Amounts::new() }
}

fn milli_cpu(milli: i128) -> Amounts {
    [(Resource::Cpu, Amount::new(milli))].into_iter().collect()
}

/// What queues may occupy by what was promised to them, and what their pods hold: with the grants of `plan`, or before.
fn held(snapshot: &Snapshot, plan: &Plan, resource: &Resource, with_grants: bool) -> Amount {
    leaves(plan)
        .map(|(name, queue)| {
            let state = &snapshot.namespaces[&name.namespace];
            let ceiling = state.quota.as_ref().map(|quota| quota.ceiling(resource)).unwrap_or_default();
            let granted = if with_grants { queue.allocated.get(resource) } else { Amount::ZERO };
            // What no node could run holds nothing.
            ceiling.max(granted).min(queue.target.get(resource)).max(
                if with_grants { history::runnable(snapshot, state) } else { charged(state) }.get(resource),
            )
        })
        .sum()
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
                    && path(&snapshot, name).iter().any(|one| one.uid == parent.uid)
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
        let (mut deserved, mut targets) = (Amounts::new(), Amounts::new());
        for (name, queue) in leaves(&plan) {
            let state = &snapshot.namespaces[&name.namespace];
            prop_assert_eq!(&queue.used, &charged(state));
            // Never more than it asks for, but for what is never taken from it.
            prop_assert!(queue.deserved.fits_in(&queue.demand.max(&spared(&snapshot, name))));
            prop_assert!(queue.target.fits_in(&queue.demand.max(&queue.deserved)), "{} {:?}", name, queue.target);
            // What is owed is part of what is lacking, and that is part of the target.
            prop_assert!(queue.preempting.fits_in(&queue.target));
            prop_assert_eq!(queue.starved.is_some(), !queue.lacking.is_empty());
            deserved.add_all(&queue.deserved);
            targets.add_all(&queue.target);
        }
        prop_assert!(deserved.fits_in(&plan.capacity));
        prop_assert!(targets.fits_in(&plan.capacity));
    }

    /// S-QUEUE: never above a limit nor below a guarantee that can be met; nothing is wasted.
    #[test]
    fn shares_keep_their_laws(snapshot in random::cluster(6)) {
        let plan = plan(&snapshot);
        let mut nothing_is_held = true;
        for (name, queue) in leaves(&plan) {
            let state = &snapshot.namespaces[&name.namespace];
            let spec = &state.queues[0];
            nothing_is_held &= spared(&snapshot, name).is_empty();
            for resource in &plan.resources {
                let (deserved, demand) = (queue.deserved.get(resource), queue.demand.get(resource));
                let bounds = [spec.limit.get(resource), state.foreign_quotas.get(resource)];
                let target = queue.target.get(resource);
                prop_assert!(bounds.into_iter().flatten().all(|bound| deserved.max(target) <= bound));
                if queue.unmeetable.get(resource).is_zero() {
                    let guaranteed = spec.guaranteed.get(resource).unwrap_or_default();
                    prop_assert!(deserved.min(target) >= guaranteed.min(demand), "{} {:?}", name, deserved);
                }
            }
        }
        if nothing_is_held {
            for resource in &plan.resources {
                let roots = || plan.queues.values().filter(|queue| queue.parent.is_none());
                let demand: Amount = roots().map(|queue| queue.demand.get(resource)).sum();
                let shared: Amount = leaves(&plan).map(|(_, queue)| queue.deserved.get(resource)).sum();
                // Shares are handed out in whole quanta, so less than one may be left.
                let wasted = demand.min(plan.capacity.get(resource)) - shared;
                prop_assert!((0..resource.quantum()).contains(&wasted.units()), "{:?}", wasted);
            }
        }
    }

    /// What pods hold changes nothing of what queues deserve, as long as they ask for the same.
    #[test]
    fn what_is_deserved_does_not_depend_on_pods(snapshot in random::cluster(6)) {
        let before = plan(&snapshot);
        let mut without = snapshot.clone();
        for (name, queue) in leaves(&before) {
            let state = Arc::make_mut(without.namespaces.get_mut(&name.namespace).unwrap());
            if !spared(&snapshot, name).is_empty() || state.pods.iter().any(|pod| {
                pod.node.as_ref().is_some_and(|node| !snapshot.nodes.get(node).is_some_and(|node| node.counts))
            }) {
                return Ok(());
            }
            state.pods.clear();
            state.owners.clear();
            state.queue_jobs.clear();
            state.queues[0].request = queue.demand.iter().map(|(one, amount)| (one.clone(), amount)).collect();
            state.queues[0].remembered = Remembered::default();
        }
        let after = plan(&without);
        prop_assume!(after.capacity == before.capacity);
        for (name, queue) in leaves(&before) {
            prop_assert_eq!(&queue.deserved, &after.queues[name].deserved, "{}", name);
        }
    }

    #[test]
    fn shuffled_input_gives_the_same_plan(snapshot in random::cluster(5), seed in 0usize..100) {
        history::same_plan_on_shuffled_input(&snapshot, &plan(&snapshot), seed)?;
    }

    #[test]
    fn victims_are_pods_that_may_go_of_queues_above_their_share(snapshot in random::cluster(6)) {
        let plan = plan(&snapshot);
        let pods: BTreeMap<_, _> = pods(&snapshot).map(|(name, pod)| (pod.uid.as_str(), (name, pod))).collect();
        let mut seen = BTreeSet::new();
        for (eviction, now) in plan.evictions.iter().map(|e| (e, true)).chain(plan.waiting.iter().map(|e| (e, false))) {
            let (namespace, pod) = pods[eviction.pod.uid.as_str()];
            prop_assert!(seen.insert(&eviction.pod.uid));
            prop_assert!(pod.is_charged() && !pod.is_terminating() && pod.kept.is_none());
            let queue = &plan.queues[&eviction.queue];
            prop_assert!(!queue.used.fits_in(&queue.target));
            if now {
                let quota = snapshot.namespaces[namespace].quota.as_ref().unwrap();
                let lowered = pod.requests().resources().any(|resource| {
                    quota.is_fenced_at(resource, queue.allocated.get(resource))
                        && queue.used.get(resource) > queue.target.get(resource)
                });
                prop_assert!(lowered, "evicted before its quota was in force");
            }
        }
    }

    /// A victim takes its time to go; the need that it serves must not choose another one meanwhile.
    #[test]
    fn no_other_pod_is_evicted_while_victims_terminate(snapshot in random::cluster(6)) {
        let (settled, decided) = settle(&snapshot);
        prop_assume!(!decided.evictions.is_empty());
        history::while_victims_leave_no_other_goes(&settled, &decided)?;
    }

    #[test]
    fn repeated_it_comes_to_rest_and_the_four_promises_hold(snapshot in random::cluster(6)) {
        let beginning = snapshot.clone();
        let mut snapshot = snapshot;
        let mut evicted = BTreeSet::new();
        let mut rest = None;
        let mut printed = String::new();
        for step in 0..60 {
            let (settled, decided) = settle(&snapshot);
            for eviction in &decided.evictions {
                prop_assert!(evicted.insert(eviction.pod.uid.clone()), "evicted twice");
            }
            let advanced = advance(&settled, &decided);
            printed += &story::print(step, &decided, &advanced.started);
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
        prop_assert!(rest.is_some(), "does not come to rest:\n{}\n{}", history::describe(&beginning), printed);
        let rest = rest.expect("comes to rest");
        prop_assert!(rest.is_settled());
        // S-QUEUE: not overused; A reaches the target; nothing preempting.
        let held_for = |queue: &QueuePlan, one: &Resource| {
            queue.allocated.get(one).max(queue.used.get(one)).min(queue.target.get(one))
        };
        for resource in rest.resources.iter().filter(|one| !rest.capacity.get(one).is_zero()) {
            let held: Amount = leaves(&rest).map(|(_, queue)| held_for(queue, resource)).sum();
            prop_assert!(held <= rest.capacity.get(resource));
        }
        prop_assert!(leaves(&rest).all(|(_, queue)| queue.preempting.is_empty()), "{}\n{}", history::describe(&snapshot), printed);
        for queue in rest.queues.values() {
            // What it still lacks comes neither by waiting for pods nor for quotas.
            prop_assert!(!matches!(queue.starved, Some(ShortReason::WaitingForPreemption | ShortReason::WaitingForQuota)));
        }
    }
}

proptest! {
    // Few clusters are of the kind that it is about, so it looks at twenty times as many.
    #![proptest_config(effort::cases(150))]

    /// A part of a gang's minimum is of no use to it, nor is a pod on top of a minimum that has no room.
    #[test]
    fn pods_go_for_a_gang_only_if_its_minimum_gets_room(
        mut snapshot in random::cluster(6),
        weight in 0u32..5,
        (minimum, surplus, cpu) in (2u32..6, 0u32..4, 1i128..4000),
    ) {
        let name = QueueName::new("gang", "queue");
        let owner = Owner {
            uid: "train".into(),
            name: "train".into(),
            kind: OwnerKind::Job,
            wanted: minimum + surplus,
            shape: Arc::new(Shape { requests: milli_cpu(cpu), ..Shape::default() }),
            gang: Some(Gang { name: GangName::from("train"), min_available: minimum }),
            ..Owner::default()
        };
        let queue = Queue { uid: "queue".into(), name: "queue".into(), weight, ..Queue::default() };
        let state = NamespaceState { queues: vec![queue], owners: vec![owner], ..NamespaceState::default() };
        snapshot.namespaces.insert(name.namespace.clone(), Arc::new(state));
        let (_, decided) = settle(&snapshot);
        let promised = decided.queues[&name].allocated.plus(&decided.queues[&name].preempting);
        let is_for_it = |eviction: &Eviction| eviction.beneficiary.as_ref() == Some(&name);
        prop_assert!(
            !decided.evictions.iter().any(is_for_it) || milli_cpu(cpu).times(minimum).fits_in(&promised),
            "{promised}\n{}", story::print(1, &decided, &[])
        );
    }

    /// Whatever no queue needs is open to each that has its target, even if its pods hold more than that.
    #[test]
    fn what_is_idle_is_open_to_every_queue(snapshot in random::cluster(6)) {
        let plan = plan(&snapshot);
        prop_assume!(plan.held.is_none());
        let is_bounded = |name: &QueueName| path(&snapshot, name).iter().any(|queue| !queue.limit.is_empty());
        let loses = |name: &QueueName| {
            plan.evictions.iter().chain(&plan.waiting).any(|eviction| eviction.queue == *name)
        };
        let excess = history::bound_in_excess(&snapshot);
        for one in plan.resources.iter().filter(|one| excess.get(one).is_zero()) {
            let holds = |(name, queue): (&QueueName, &QueuePlan)| {
                queue.target.get(one).max(charged(&snapshot.namespaces[&name.namespace]).get(one))
            };
            let idle = plan.capacity.get(one) - leaves(&plan).map(holds).sum();
            for (name, queue) in leaves(&plan).filter(|(name, _)| !is_bounded(name) && !loses(name)) {
                // What had to go for another queue is not let in again.
                let window = queue.remember.windows.get(one).filter(|window| window.lost.is_none());
                let Some(window) = window else { continue };
                if queue.allocated.get(one) >= queue.target.get(one) && window.size.is_positive() && window.size <= idle {
                    prop_assert!(
                        queue.allocated.get(one) > holds((name, queue)),
                        "{name} {one}: {idle:?} is idle; {}", story::print(1, &plan, &[])
                    );
                }
            }
        }
    }

    /// A pod that starts in what is lent to its queue and leaves half of that moves no quota.
    #[test]
    fn a_pod_that_starts_in_what_is_lent_moves_no_quota(mut snapshot in random::cluster(6)) {
        // QueueJobPhase claims leave nothing idle.
        for state in snapshot.namespaces.values_mut() {
            Arc::make_mut(state).queues.iter_mut().for_each(|queue| queue.request = Bounds::new());
        }
        let (mut settled, mut before) = settle(&snapshot);
        for _ in 0..10 {
            if before.evictions.is_empty() {
                break;
            }
            (settled, before) = settle(&advance(&settled, &before).snapshot);
        }
        keep(&mut settled, &before);
        prop_assume!(before.evictions.is_empty());
        // Targets that were made whole are made anew for a pod without a controller.
        prop_assume!(settled.targets.is_none());
        let requests: Amounts =
            [(Resource::Cpu, Amount::new(100)), (Resource::Memory, Amount::new(100 << 20))].into_iter().collect();
        let lent = |queue: &QueuePlan| queue.allocated.less(&queue.target);
        let fits = |queue: &QueuePlan| {
            requests.times(3).fits_in(&lent(queue))
                && queue.used.fits_in(&queue.target)
                // Where demand is about to fall, a new pod is part of what is still counted.
                && queue.remember.falling.is_empty()
                && queue.remember.set_aside.is_empty()
                && queue.pods.terminating == 0
                && requests.iter().all(|(one, amount)| {
                    let window = queue.remember.windows.get(one).map(|window| window.size).unwrap_or_default();
                    (lent(queue).get(one) - amount).units() * 2 >= window.units()
                })
        };
        let one = leaves(&before).find(|(_, queue)| fits(queue)).map(|(name, _)| name.clone());
        prop_assume!(one.is_some());
        prop_assume!(leaves(&before).all(|(_, queue)| queue.remember.falling.is_empty()));
        // So much is idle that no loan has to be cut for it.
        let mut idle = before.capacity.clone();
        leaves(&before).for_each(|(_, queue)| idle.subtract_all(&queue.target.max(&queue.used)));
        let idle = idle.less(&requests);
        prop_assume!(leaves(&before).all(|(_, queue)| lent(queue).fits_in(&idle)));
        // Nor for the limit of a parent.
        let parents = settled.namespaces.iter().flat_map(|(namespace, state)| {
            state.queues.iter().map(move |queue| (queue, QueueName::new(namespace.clone(), queue.name.clone())))
        });
        for (parent, name) in parents.filter(|(queue, _)| queue.children.is_some()) {
            let plan = &before.queues[&name];
            let held = plan.target.max(&plan.used).plus(&requests);
            let is_cut = |(one, limit): (&Resource, Amount)| {
                leaves(&before).any(|(_, queue)| lent(queue).get(one) > limit.less(held.get(one)))
            };
            prop_assume!(!parent.limit.iter().any(is_cut));
        }
        let state = Arc::make_mut(settled.namespaces.get_mut(&one.unwrap().namespace).unwrap());
        state.pods.push(Pod {
            uid: "new".into(),
            name: "new".into(),
            shape: Arc::new(Shape { requests, ..Shape::default() }),
            created: settled.now,
            ..Pod::default()
        });
        let after = plan(&settled);
        // Where a quota comes down because pods go it is not for the new one.
        prop_assume!(after.evictions.is_empty() && after.waiting.is_empty());
        prop_assert_eq!(after.quota_writes().count(), 0, "{}\n{}\nafter\n{}", format!("{}{:?}", history::describe(&settled), settled.namespaces.values().flat_map(|state| state.queues.iter().map(|queue| &queue.remembered)).collect::<Vec<_>>()), story::print(2, &after, &[]), story::print(1, &before, &[]));
    }
}
