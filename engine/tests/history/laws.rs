//! What has to hold in every step.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use quotient_engine::amounts::{Amount, Amounts, Resource};
use quotient_engine::names::{PodUid, QueueName};
use quotient_engine::plan::{Eviction, Plan, QueuePlan};
use quotient_engine::planner::plan;
use quotient_engine::reasons::ShortReason;
use quotient_engine::snapshot::{
    EvictionPolicy, NamespaceState, Owner, Pod, Quota, ReclaimFrom, Shape, Snapshot,
};

use crate::contents::{charged, leaves, path, pods, sum, terminate};
use crate::story;

type Checked = Result<(), TestCaseError>;

/// `world` without pods that wait at gates. Where pods do, the ledger is the quota: no gate is removed above it.
pub(crate) fn admitted(world: &Snapshot) -> Snapshot {
    let mut world = world.clone();
    for state in world.namespaces.values_mut().filter(|state| state.is_in_gate_mode()) {
        let state = Arc::make_mut(state);
        state.pods.retain(|pod| !pod.is_gated());
        if let Some(quota) = &mut state.quota {
            let granted = quota.granted.clone().unwrap_or_default();
            (quota.hard, quota.enforced) = (granted.clone(), granted);
        }
    }
    world
}

/// The order in which things were found says nothing.
pub(crate) fn same_plan_on_shuffled_input(snapshot: &Snapshot, decided: &Plan, seed: usize) -> Checked {
    let mut shuffled = snapshot.clone();
    for state in shuffled.namespaces.values_mut() {
        let state = Arc::make_mut(state);
        let turn = seed % state.pods.len().max(1);
        state.pods.rotate_left(turn);
        state.pods.reverse();
        state.owners.reverse();
        state.budgets.reverse();
        state.queues.reverse();
    }
    let again = plan(&shuffled);
    let printed = || format!("{}\n{}", story::print(1, decided, &[]), story::print(2, &again, &[]));
    prop_assert!(*decided == again, "another plan on shuffled input:\n{}", printed());
    Ok(())
}

/// Victims take their time to go; while they do, need is zero and no other pod is chosen (S-MCM).
///
/// Where a mode or a pause withholds a part of the evictions, the room of the others may be too little for what they are for.
pub(crate) fn while_victims_leave_no_other_goes(settled: &Snapshot, decided: &Plan) -> Checked {
    let leaving: BTreeSet<PodUid> =
        decided.evictions.iter().map(|eviction| eviction.pod.uid.clone()).collect();
    if leaving.is_empty() || !decided.withheld.is_empty() {
        return Ok(());
    }
    let mut later = settled.clone();
    quotient_advance::keep(&mut later, decided);
    terminate(&mut later, &leaving);
    let then = plan(&later);
    let again: Vec<&PodUid> =
        then.evictions.iter().chain(&then.waiting).map(|eviction| &eviction.pod.uid).collect();
    prop_assert!(
        again.is_empty(),
        "{:?} while {:?} are on their way; {}",
        again,
        leaving,
        moved(decided, &then)
    );
    Ok(())
}

/// Whose numbers moved from one plan to the next.
fn moved(one: &Plan, other: &Plan) -> String {
    let numbers = |plan: &Plan, name: &QueueName, resource: &Resource| {
        plan.queues.get(name).map(|queue| {
            let all = [&queue.demand, &queue.deserved, &queue.target, &queue.allocated, &queue.used];
            (all.map(|amounts| amounts.get(resource).units()), queue.starved)
        })
    };
    let all = leaves(other).flat_map(|(name, _)| other.resources.iter().map(move |one| (name, one)));
    let moved = all.filter_map(|(name, resource)| {
        let (before, after) = (numbers(one, name, resource), numbers(other, name, resource));
        (before != after).then(|| format!("{name} {resource}: {before:?} then {after:?}"))
    });
    let moved: Vec<String> = moved.collect();
    format!("demand, deserved, target, allocated, used: {}", moved.join("; "))
}

/// At rest no queue lacks what pods of others would make: for its claim any part of it that leaves other
/// queues their targets, else a pod as a whole.
///
/// Where there are limits and fences, what a queue holds may be out of reach.
pub(crate) fn no_queue_starves_beside_plenty(world: &Snapshot, decided: &Plan) -> Checked {
    let starved = |queue: &&QueuePlan| !queue.is_parent && queue.starved == Some(ShortReason::NothingToEvict);
    let mut lacking = Amounts::new();
    decided.queues.values().filter(starved).for_each(|queue| lacking.add_all(&not_granted(queue)));
    if has_scopes(world) || lacking.is_empty() {
        return Ok(());
    }
    let wants: Vec<(&QueueName, Wants<'_>)> = leaves(decided)
        .filter(|(_, queue)| starved(queue))
        .map(|(name, queue)| (name, Wants::of(&world.namespaces[&name.namespace], name, queue, world)))
        .collect();
    // A pod that is bound beyond what its node offers counts as capacity, so what is free by that needs no pod to go. But quotas
    // grow only into what nodes offer: as much as is bound beyond that waits until these pods are gone.
    let excess = bound_in_excess(world);
    let (mut unheld, mut not_granted) = (decided.capacity.clone(), Amounts::new());
    leaves(decided)
        .for_each(|(_, queue)| unheld.subtract_all(&queue.used.max(&queue.allocated.min(&queue.target))));
    let mut offered = unheld.clone();
    offered.subtract_all(&excess);
    for (_, wants) in &wants {
        not_granted.add_all(&wants.not_granted);
    }
    let waits_for_nodes = |wants: &Wants<'_>| {
        let has_room_in =
            |room: &Amounts| wants.not_granted.resources().all(|one| not_granted.get(one) <= room.get(one));
        has_room_in(&unheld) && !has_room_in(&offered)
    };
    for (name, wants) in wants.iter().filter(|(_, wants)| !waits_for_nodes(wants)) {
        let left: Vec<&Pod> = leaves(decided)
            .filter(|(other, _)| other != name && !is_spared(world, other))
            .flat_map(|(other, queue)| useful(world, decided, &lacking, other, queue))
            .collect();
        prop_assert!(
            !wants.are_met_by(world, decided, name, &left),
            "{:?} lack, and {} could have {:?}; {}",
            lacking,
            name,
            left.iter().map(|pod| &pod.uid).collect::<Vec<_>>(),
            moved(&Plan::default(), decided)
        );
    }
    Ok(())
}

/// The pods of a queue above its target that hold what others lack, and that no rule keeps.
fn useful<'a>(
    world: &'a Snapshot,
    decided: &Plan,
    lacking: &Amounts,
    name: &QueueName,
    queue: &QueuePlan,
) -> Vec<&'a Pod> {
    let passed_over: BTreeSet<&PodUid> = decided.passed_over.iter().map(|passed| &passed.pod.uid).collect();
    // Pods that no node could run hold nothing, and those that leave hold nothing any more.
    let overuse = staying(world, &world.namespaces[&name.namespace]).less(&queue.target);
    let is_useful = |pod: &&Pod| {
        let resources = pod.requests().resources();
        let mut useful = resources
            .filter(|resource| lacking.get(resource).is_positive() && overuse.get(resource).is_positive());
        let counts =
            pod.node.as_ref().is_none_or(|node| world.nodes.get(node).is_some_and(|node| node.counts));
        let runs = counts && (pod.node.is_some() || could_run(world, pod));
        pod.is_live() && runs && !passed_over.contains(&pod.uid) && useful.next().is_some()
    };
    world.namespaces[&name.namespace].pods.iter().filter(is_useful).collect()
}

/// What a queue waits for.
struct Wants<'a> {
    /// Units that its target has room for and its quota has not.
    units: Vec<&'a Amounts>,
    /// What it requests beside its pods and all units of its target, as far as its quota does not allow it. It comes in no units:
    /// any part of it is of use.
    claim: Amounts,
    /// What its pods, the units of its target and its claim come to beside what they and its quota hold.
    not_granted: Amounts,
}

impl<'a> Wants<'a> {
    fn of(state: &'a NamespaceState, name: &QueueName, queue: &QueuePlan, world: &Snapshot) -> Self {
        let has = |owner: &Owner| {
            let pods = state.pods.iter().filter(|pod| pod.is_live() && pod.node.is_some());
            pods.filter(|pod| pod.owner() == Some(&owner.uid)).count()
        };
        let lacks = |owner: &&Owner| usize::try_from(owner.wanted).unwrap() > has(owner);
        // Pods without a node are units that wait, and hold nothing beside that.
        let waits = |pod: &&Pod| {
            pod.is_live() && pod.node.is_none() && pod.owner().is_some() && could_run(world, pod)
        };
        let mut holds = queue.used.clone();
        state.pods.iter().filter(waits).for_each(|pod| holds.subtract_all(pod.requests()));
        let mut lacking = queue.target.less(&holds);
        // Those that its quota allows already wait for no victim.
        let granted = queue.allocated.less(&holds);
        // The target is made of units in the order in which owners create them: what has no part in it waits for nothing.
        let could_start = |owner: &&Owner| could_run_shape(world, &owner.shape);
        let mut owners: Vec<&Owner> = state.owners.iter().filter(lacks).filter(could_start).collect();
        owners.sort_by_key(|owner| (owner.created, owner.kind, owner.name.clone(), owner.uid.clone()));
        let mut units: Vec<&Amounts> = Vec::new();
        for owner in owners {
            let unit = &owner.shape.requests;
            let most = i128::from(owner.wanted) - i128::try_from(has(owner)).unwrap();
            let fits = unit.times_in(&lacking, most);
            units.extend((fits > unit.times_in(&granted, 1 << 20)).then_some(unit));
            lacking.subtract_all(&unit.times(u32::try_from(fits).unwrap()));
        }
        let own = state.queues.iter().find(|queue| queue.name == name.name);
        let requested = own.map(|queue| queue.request.amounts()).unwrap_or_default().min(&queue.target);
        let in_units = queue.target.less(&lacking);
        Self {
            units,
            claim: requested.less(&in_units).min(&not_granted(queue)),
            not_granted: in_units.max(&requested).less(&queue.allocated.max(&queue.used)),
        }
    }

    /// Whether the queue could make use of the room of these pods.
    fn are_met_by(&self, world: &Snapshot, decided: &Plan, name: &QueueName, left: &[&Pod]) -> bool {
        if left.is_empty() {
            return false;
        }
        if !self.claim.is_empty() {
            let serves = |pod: &&Pod| {
                pod.requests().overlaps(&self.claim) && leaves_its_target(world, decided, pod, &self.claim)
            };
            return left.iter().any(serves);
        }
        // What pods free that its own queue was granted stays its own. Pods that no node could run keep their place in its quota.
        let mut room = decided.capacity.clone();
        for (other, plan) in leaves(decided) {
            let state = &world.namespaces[&other.namespace];
            let goes = |pod: &&Pod| {
                left.iter().any(|left| left.uid == pod.uid)
                    || (other == name && pod.is_live() && pod.node.is_none() && could_run(world, pod))
            };
            let mut stays = plan.used.clone();
            state.pods.iter().filter(goes).for_each(|pod| stays.subtract_all(pod.requests()));
            let granted = plan.allocated.min(&plan.target);
            room = room.less(&if other == name { stays } else { stays.max(&granted) });
        }
        self.units.iter().any(|unit| unit.fits_in(&room))
    }
}

/// What is bound to nodes that count beyond what they offer.
pub(crate) fn bound_in_excess(world: &Snapshot) -> Amounts {
    let mut excess = Amounts::new();
    for (name, node) in world.nodes.iter().filter(|(_, node)| node.counts) {
        let bound =
            pods(world).map(|(_, pod)| pod).filter(|pod| pod.is_charged() && pod.node.as_ref() == Some(name));
        excess.add_all(&sum(bound).less(&node.allocatable));
    }
    excess
}

/// Whether the queue of `pod` keeps its target of what is lacking without it: a claim comes in no units, so it takes no part
/// of another target. A gang goes as a whole.
fn leaves_its_target(world: &Snapshot, decided: &Plan, pod: &Pod, lacks: &Amounts) -> bool {
    let has_it =
        |name: &QueueName| world.namespaces[&name.namespace].pods.iter().any(|one| one.uid == pod.uid);
    let holds = |name: &QueueName| staying(world, &world.namespaces[&name.namespace]);
    let mut overuse =
        leaves(decided).filter(|(name, _)| has_it(name)).map(|(name, queue)| holds(name).less(&queue.target));
    pod.gang().is_none()
        && overuse.any(|overuse| lacks.resources().all(|one| pod.requests().get(one) <= overuse.get(one)))
}

/// What `queue` lacks of its target and its quota does not allow yet: a unit may lack one resource and have the others.
fn not_granted(queue: &QueuePlan) -> Amounts {
    queue.lacking.min(&queue.target.less(&queue.allocated))
}

/// What the queue of this name lacks even if all that its quota allows beside the pods that stay is for that.
pub(super) fn lacks_at_least(settled: &Snapshot, decided: &Plan, name: &QueueName) -> Amounts {
    let Some(queue) = decided.queues.get(name) else { return Amounts::new() };
    let pods = settled.namespaces[&name.namespace].pods.iter();
    let staying = sum(pods.filter(|pod| pod.is_live()));
    queue.lacking.less(&queue.allocated.less(&staying))
}

/// Whether the queue or one above it says that its pods are never taken.
pub(crate) fn is_spared(world: &Snapshot, name: &QueueName) -> bool {
    path(world, name).iter().any(|queue| queue.eviction.policy == Some(EvictionPolicy::Never))
}

/// Whether there is more to take from than the whole cluster.
fn has_scopes(snapshot: &Snapshot) -> bool {
    let mut queues = snapshot.namespaces.values().flat_map(|state| &state.queues);
    queues.any(|queue| queue.reclaim.from == ReclaimFrom::Subtree || !queue.limit.is_empty())
}

/// Σ max(min(enforced, T), charged) ≤ C, but for what was exceeded already, and for capacity that went meanwhile.
///
/// T is the target by which the plan grants, or the one after if that is lower. Above it a quota lends, and a target that grows
/// over a loan grants nothing new. Loans may overlap, so pods that are admitted above T count from the next step on: what is
/// promised later is free of them. What comes in where a quota is left alone was not granted by the plan.
///
/// `decided` is the plan, and the one once quotas had settled: those without a Queue have been lowered by then.
pub(super) fn nothing_newly_over_granted(
    before: &Snapshot,
    (decided, meanwhile): (&Plan, &Plan),
    after: &Snapshot,
    then: &Plan,
) -> Checked {
    for resource in &then.resources {
        // A target may grow by what a lost capacity leaves: what was granted below it is no new promise.
        let target = |plan: &Plan, name: &QueueName| {
            plan.queues.get(name).map(|queue| queue.target.get(resource)).unwrap_or_default()
        };
        // What was written before is not granted now, enforced or not. Of a queue that was in Gate mode only the ledger says it.
        let stood = |name: &QueueName, quota: &Quota| {
            Some(quota.ceiling(resource).min(target(decided, name).max(target(then, name))))
        };
        let held_before = held(before, decided, |_, state| charged(state).get(resource), stood);
        let grants = |name: &QueueName| target(decided, name).min(target(then, name));
        let enforced = |name: &QueueName, quota: &Quota| {
            quota.enforced.get(resource).map(|enforced| enforced.min(grants(name)))
        };
        let promised = |name: &QueueName, state: &NamespaceState| {
            let stood = before.namespaces.get(&name.namespace);
            let is_open = decided.queues.get(name).is_some_and(|queue| queue.quota_left_alone);
            let most = if is_open {
                stood.map(|state| runnable(before, state).get(resource)).unwrap_or_default()
            } else {
                stood.map(|state| charged(state).get(resource)).unwrap_or_default().max(grants(name))
            };
            runnable(after, state).get(resource).min(most)
        };
        let holds = held(after, then, promised, enforced);
        let capacities = [then, decided, meanwhile].map(|plan| plan.capacity.get(resource));
        let capacity = capacities.into_iter().max().unwrap_or_default();
        prop_assert!(
            holds <= held_before.max(capacity),
            "over-granted {}: {:?} held of {:?}, before {:?}; {}",
            resource,
            holds,
            capacity,
            held_before,
            moved(decided, then)
        );
    }
    Ok(())
}

fn held(
    snapshot: &Snapshot,
    decided: &Plan,
    charged: impl Fn(&QueueName, &NamespaceState) -> Amount,
    allows: impl Fn(&QueueName, &Quota) -> Option<Amount>,
) -> Amount {
    let hold = |name: &QueueName| {
        let state = &snapshot.namespaces[&name.namespace];
        let allowed = state.quota.as_ref().and_then(|quota| allows(name, quota)).unwrap_or_default();
        charged(name, state).max(allowed)
    };
    leaves(decided).map(|(name, _)| hold(name)).sum()
}

/// The queue that loses a pod is not the beneficiary.
pub(super) fn no_queue_takes_from_itself(decided: &Plan) -> Checked {
    for eviction in decided.evictions.iter().chain(&decided.waiting) {
        prop_assert!(eviction.beneficiary.as_ref() != Some(&eviction.queue), "{:?}", eviction);
    }
    Ok(())
}

/// Evictions leave a queue what it is guaranteed and deserves of every resource that is taken from it.
pub(super) fn no_queue_falls_below_a_guarantee(settled: &Snapshot, decided: &Plan) -> Checked {
    let mut taken: BTreeMap<&QueueName, Vec<&Eviction>> = BTreeMap::new();
    for eviction in &decided.evictions {
        taken.entry(&eviction.queue).or_default().push(eviction);
    }
    // What a beneficiary lacks because pods of its own go as well is not what these go for.
    let loses = |name: &QueueName, resource: &Resource| -> Amount {
        // What a mode withholds is decided all the same.
        let all = decided.evictions.iter().chain(&decided.waiting).chain(&decided.withheld);
        let of_queue = all.filter(|eviction| eviction.queue == *name);
        of_queue.map(|eviction| eviction.requests.get(resource)).sum()
    };
    // No guarantee is for pods that had room and never started.
    let is_sound = |name: &QueueName| decided.queues[name].remember.set_aside.is_empty();
    for (name, evictions) in taken.into_iter().filter(|(name, _)| is_sound(name)) {
        let state = &settled.namespaces[&name.namespace];
        let queue = state.queues.iter().find(|queue| queue.name == name.name).unwrap();
        let deserved = &decided.queues[name].deserved;
        let mut staying = staying(settled, state);
        for eviction in evictions {
            let before = staying.clone();
            staying.subtract_all(&eviction.requests);
            for (resource, guaranteed) in queue.guaranteed.iter() {
                let floor = guaranteed.min(deserved.get(resource));
                let is_reclaimed = match &eviction.beneficiary {
                    Some(queue) => {
                        let lacks = lacks_at_least(settled, decided, queue).get(resource);
                        let lacks = lacks.less(loses(queue, resource));
                        lacks.is_positive()
                            && is_short(settled, decided, resource)
                            && !is_for_a_stuck_pod(settled, decided, eviction, resource)
                    }
                    None => queue.limit.get(resource).is_some_and(|limit| before.get(resource) > limit),
                };
                let is_too_much = before.get(resource) > decided.queues[name].target.get(resource);
                let is_taken = is_reclaimed && is_too_much && eviction.requests.get(resource).is_positive();
                prop_assert!(
                    !is_taken || staying.get(resource) >= floor,
                    "{} is left {:?} of {} where {:?} are guaranteed: {:?}; {}",
                    name,
                    staying.get(resource),
                    resource,
                    floor,
                    eviction,
                    moved(&Plan::default(), decided)
                );
            }
        }
    }
    Ok(())
}

/// Whether the pod makes room on its node for pods of its beneficiary that exist, and the node has enough of `resource` for
/// each of them: then another resource is reclaimed.
fn is_for_a_stuck_pod(settled: &Snapshot, decided: &Plan, eviction: &Eviction, resource: &Resource) -> bool {
    let Some(queue) = &eviction.beneficiary else { return false };
    let all = |namespace| settled.namespaces.get(namespace).into_iter().flat_map(|state| &state.pods);
    let node = all(&eviction.pod.namespace)
        .find(|pod| pod.uid == eviction.pod.uid)
        .and_then(|pod| pod.node.as_ref());
    let Some((node, offers)) = node.and_then(|node| Some((node, settled.nodes.get(node)?))) else {
        return false;
    };
    let bound = settled
        .namespaces
        .keys()
        .flat_map(all)
        .filter(|pod| pod.is_charged() && pod.node.as_ref() == Some(node));
    let used: Amount = bound.map(|pod| pod.requests().get(resource)).sum();
    let free = offers.allocatable.get(resource) - used;
    let mut stuck = all(&queue.namespace)
        .filter(|pod| pod.is_live() && pod.node.is_none() && pod.stuck.is_some())
        .peekable();
    let waits =
        decided.queues[queue].unmet.iter().any(|unmet| unmet.reason == ShortReason::WaitingForPreemption);
    waits && stuck.peek().is_some() && stuck.all(|pod| pod.requests().get(resource) <= free)
}

/// What the pods of a namespace hold once those that leave are gone. What no node could run holds nothing.
fn staying(settled: &Snapshot, state: &NamespaceState) -> Amounts {
    runnable_of(settled, state, Pod::is_live)
}

/// Whether there is less of `resource` than those queues lack that pods are evicted for, once the pods that leave are gone.
fn is_short(settled: &Snapshot, decided: &Plan, resource: &Resource) -> bool {
    let holds = |name: &QueueName, queue: &QueuePlan| {
        let staying = staying(settled, &settled.namespaces[&name.namespace]);
        queue.allocated.min(&queue.target).max(&staying).get(resource)
    };
    let held: Amount = leaves(decided).map(|(name, queue)| holds(name, queue)).sum();
    let gain: BTreeSet<&QueueName> =
        decided.evictions.iter().filter_map(|one| one.beneficiary.as_ref()).collect();
    let lacking: Amount =
        gain.into_iter().map(|name| lacks_at_least(settled, decided, name).get(resource)).sum();
    held + lacking > decided.capacity.get(resource)
}

/// What the pods of a namespace are charged that some node could run.
pub(crate) fn runnable(snapshot: &Snapshot, state: &NamespaceState) -> Amounts {
    runnable_of(snapshot, state, Pod::is_charged)
}

fn runnable_of(snapshot: &Snapshot, state: &NamespaceState, is_one: impl Fn(&Pod) -> bool) -> Amounts {
    let pods = state.pods.iter().filter(|pod| is_one(pod));
    sum(pods.filter(|pod| pod.node.is_some() || could_run(snapshot, pod)))
}

fn could_run(snapshot: &Snapshot, pod: &Pod) -> bool {
    could_run_shape(snapshot, &pod.shape)
}

fn could_run_shape(snapshot: &Snapshot, shape: &Shape) -> bool {
    snapshot.nodes.iter().any(|(name, node)| {
        node.counts
            && shape.requests.fits_in(&node.allocatable)
            && shape.placement.allows(name.as_str(), &node.labels, &node.taints)
    })
}
