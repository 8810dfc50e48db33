//! From snapshot to plan: capacity, tree, demand, shares, grants, victims, in this order.

mod cached;
mod parents;
mod queue_jobs;
mod quota_writes;
mod retained;
mod rollouts;
mod short;
mod terminating;
mod unmet;
mod withheld;

pub use cached::Planner;

use std::collections::BTreeMap;

use crate::amounts::{Amounts, Bounds, Resource};
use crate::capacity::Capacity;
use crate::choice::{self, Context, ReclaimResult};
use crate::cluster::Cluster;
use crate::demand::first_patience;
use crate::gates::{self, GatedNamespaces};
use crate::grants::{Grants, cut_to_what_nodes_offer, grants, nothing_lowered};
use crate::intra_queue::{self, Yielded};
use crate::leaf::Leaf;
use crate::names::QueueName;
use crate::plan::{Plan, Preemptor, QueuePlan, Unmet};
use crate::reasons::ShortReason;
use crate::shares::{self, Shares};
use crate::snapshot::{GrantGate, NamespaceState, OwnerKind, Pod, Remembered, Snapshot};
use crate::targets::{Decided, targets};
use crate::time::{Timestamp, earliest};
use crate::tree::{self, Branch, BranchId, BranchMap, Tree};
use crate::{candidates, capacity, incomplete_gangs, usage};
use quota_writes::{
    is_in_force, is_left_alone, is_limit_in_force, is_limit_left_alone, limit_write, quota_write,
};
use unmet::{Obstacles, not_created_from};
use withheld::WithheldEvictions;

/// Decides what every queue deserves, what its quota allows next, and which pods have to go.
///
/// Pure: equal snapshots give equal plans, in whatever order their parts were found.
pub fn plan(snapshot: &Snapshot) -> Plan {
    let resources = capacity::governed(snapshot);
    let seen: &Snapshot = &snapshot.narrowed(&resources);
    let tree = tree::grow(seen);
    let gated = GatedNamespaces::of(seen, &tree);
    let snapshot: &Snapshot = &gated.taken_out_of(seen);
    let usage = usage::take(snapshot);
    let Capacity { shared: capacity, offered, unmanaged } = Capacity::of(&usage, &tree, &resources);
    let leaves = Leaf::all(&usage, &tree, &capacity, &resources);

    let wishes = leaves.map(|_, leaf| leaf.as_ref().map(Leaf::wish).unwrap_or_default());
    let shares = shares::shares(&tree, &wishes, &capacity, &resources);
    let offered_resources: Vec<Resource> =
        resources.iter().filter(|one| capacity.offers(one)).cloned().collect();
    let cluster = Cluster {
        snapshot,
        usage: &usage,
        tree: &tree,
        leaves: &leaves,
        capacity: &capacity,
        offered: &offered,
        governed: &resources,
        resources: &offered_resources,
    };
    let Decided { targets, kept } = targets(cluster, &shares);
    let granted = grants(cluster, &targets);
    let same_targets = kept == snapshot.targets;
    let context = Context { cluster, shares: &shares, targets: &targets, granted: &granted, same_targets };
    let mut reclaim = choice::evictions(context);
    cut_to_what_nodes_offer(cluster, &granted.firm, &mut reclaim.owed);
    let mut allocated = allocated(&tree, &granted, &reclaim);
    let withheld = WithheldEvictions::take_out(context, &allocated, &mut reclaim);
    reclaim.wait_for_proof(snapshot);
    let held = snapshot.reclaim_gate.held();
    let shortage = held.unwrap_or_else(|| short::why_short(cluster, &allocated, &reclaim));
    let keeps = |at: BranchId| held.is_some() || tree.branches[at].reach.pause.is_some();
    if tree.branches.ids().any(keeps) {
        allocated = nothing_lowered(cluster, &allocated, keeps);
    }
    let (resources, capacity) = (resources.clone(), capacity.clone());
    let mut plan = Plan { resources, capacity, unmanaged, held, targets: kept, ..Plan::default() };
    let decided = decide_queues(context, &gated, &allocated, &mut reclaim, &withheld, shortage, &mut plan);
    parents::sum_up(&tree, decided, &mut plan);
    report_unmet(cluster, &mut plan);
    report_lacking_nodes(&tree, &reclaim.unmet, &mut plan);
    leave_out_waiting_gangs(&mut plan);
    (plan.evictions, plan.waiting) = reclaim.take_evictions();
    (plan.passed_over, plan.unproven) = (reclaim.passed_over, reclaim.unproven);
    plan.withheld = withheld.evictions;
    terminating::report(cluster, &targets, &mut plan);
    decide_inside_queues(context, &mut plan);
    plan.retained = retained::retained(snapshot, &tree);
    plan.gate_removals = gates::removals(seen, &gated, cluster, &plan);
    plan.stalled = tree.stalled;
    plan
}

/// What is decided for each queue; `shortage` is why those are short that nothing else keeps from their share.
fn decide_queues(
    context: Context<'_>,
    gated: &GatedNamespaces<'_>,
    allocated: &BranchMap<Amounts>,
    reclaim: &mut ReclaimResult,
    withheld: &WithheldEvictions,
    shortage: ShortReason,
    plan: &mut Plan,
) -> BranchMap<QueuePlan> {
    let tree = context.tree;
    let target = tree.sums(context.targets.clone());
    tree.branches.map(|at, branch| {
        let leaf = context.leaf(at);
        // No share can grow, or something stands in its own way, or in that of all.
        let reason = match context.snapshot.grant_gate {
            GrantGate::Held => ShortReason::WaitingForLedger,
            GrantGate::Allowed => reclaim.obstacles.get(&at).copied().unwrap_or(shortage),
        };
        let gated = gated.get(&branch.name.namespace).filter(|_| branch.is_leaf());
        let mut decided = queue_plan(tree, branch, leaf, gated, &context.shares[at], &allocated[at], plan);
        decided.target = target[at].clone();
        decided.preempting = reclaim.owed.remove(&at).unwrap_or_default();
        decided.lacking = reclaim.lacking.remove(&at).unwrap_or_default();
        if !decided.lacking.is_empty() {
            decided.withheld = withheld.cause(branch, reason);
            let is_withheld = decided.withheld.is_some();
            decided.starved = Some(if is_withheld { ShortReason::EvictionsDisabled } else { reason });
        }
        if let Some(leaf) = leaf {
            remember(&mut decided, leaf, context, reclaim, plan);
        }
        decided
    })
}

/// What quotas allow, without what is lent to queues whose pods go.
fn allocated(tree: &Tree<'_>, granted: &Grants, reclaim: &ReclaimResult) -> BranchMap<Amounts> {
    let mut allocated = granted.allocated.clone();
    for (at, lowered) in &reclaim.lowered {
        let lent = granted.allocated[*at].less(lowered);
        tree.path_up(*at).for_each(|(index, _)| allocated[index].subtract_all(&lent));
    }
    allocated
}

/// Notes what is remembered of a leaf for the next decision, and when it changes by itself.
fn remember(
    decided: &mut QueuePlan,
    leaf: &Leaf<'_>,
    context: Context<'_>,
    reclaim: &ReclaimResult,
    plan: &mut Plan,
) {
    let (now, loans) = (context.snapshot.now, &context.granted.loans[leaf.at]);
    // Never in the future: a clock was wrong.
    let since = leaf.queue.remembered.short_since.unwrap_or(now).min(now);
    let short_since = decided.starved.map(|_| since);
    let due = short_since.map(|since| since.plus_seconds(leaf.queue.reclaim.after_seconds.into()));
    let windows = if reclaim.displaced.contains(&leaf.at) {
        loans.windows_after_loss(leaf, &context.targets[leaf.at], now)
    } else {
        loans.windows.clone()
    };
    let room_since = room_since(leaf, reclaim, context.snapshot);
    let remember = Remembered { short_since, windows, room_since, ..leaf.demand.remember.clone() };
    // What is not governed is not remembered.
    decided.remember = remember.of(&plan.resources);
    let due = [loans.next_change, leaf.demand.next_change, due.filter(|due| *due > now)];
    plan.next_change = due.into_iter().fold(plan.next_change, earliest);
    plan.next_try = earliest(plan.next_try, leaf.demand.next_try);
}

/// Decides which workloads yield to others of their queue, and what QueueJobs run.
fn decide_inside_queues(context: Context<'_>, plan: &mut Plan) {
    let cluster = context.cluster;
    let mut yielded = intra_queue::yielded(context, plan);
    let yielded_slots = std::mem::take(&mut yielded.slots);
    report_yields(yielded, plan);
    incomplete_gangs::resolve(cluster, plan);
    // Those that lower a size first, each group by queue.
    plan.scalings.sort_by_cached_key(|one| (!one.lowers(), one.queue.clone(), one.scale_target.clone()));
    let due = [next_ripe(context, plan), next_end_of_pause(cluster.snapshot)];
    plan.next_change = due.into_iter().fold(plan.next_change, earliest);
    queue_jobs::decide(context, &yielded_slots, plan);
}

/// A gang that waits although there is room for a pod of it says itself what it waits for.
fn leave_out_waiting_gangs(plan: &mut Plan) {
    let waits_by_rule = |unmet: &Unmet| {
        matches!(unmet.preemptor, Preemptor::Owner(OwnerKind::QueueJob, _))
            && unmet.reason == ShortReason::RoomAvailable
    };
    plan.queues.values_mut().for_each(|queue| queue.unmet.retain(|unmet| !waits_by_rule(unmet)));
}

/// Writes down which workloads yield to others of the same queue, and to which.
fn report_yields(yielded: Yielded, plan: &mut Plan) {
    for (name, promised) in &yielded.promised {
        let Some(queue) = plan.queues.get_mut(name) else { continue };
        let evicts = queue.reach.evicts();
        for one in &mut queue.unmet {
            if promised.contains(&one.preemptor)
                && matches!(one.reason, ShortReason::ShareInUse | ShortReason::NothingToEvict)
            {
                one.reason =
                    if evicts { ShortReason::WaitingForPreemption } else { ShortReason::EvictionsDisabled };
            }
        }
    }
    let is_carried_out = |queue: &QueueName| plan.queues.get(queue).is_some_and(|queue| queue.reach.evicts());
    plan.scalings = yielded.scalings;
    plan.scalings.retain(|scaling| is_carried_out(&scaling.queue));
    plan.passed_over.extend(yielded.passed_over);
}

/// When the next pod will have run long enough to go like others, or waited long enough for a node that may be added.
fn next_ripe(context: Context<'_>, plan: &Plan) -> Option<Timestamp> {
    let cluster = context.cluster;
    // Where nothing is lacking it makes no difference which pods would go, except to targets that are being made.
    let matters = !context.same_targets || !is_at_rest(plan);
    let unprotected =
        |leaf: &Leaf<'_>| candidates::next_unprotected(leaf.state, leaf.eviction, cluster.snapshot.now);
    let ripe = cluster.each_leaf().filter(|_| matters).filter_map(unprotected).min();
    earliest(ripe, first_patience(cluster.usage))
}

/// When the next pause ends.
fn next_end_of_pause(snapshot: &Snapshot) -> Option<Timestamp> {
    let queues = snapshot.namespaces.values().flat_map(|state| &state.queues);
    queues.filter_map(|queue| queue.paused_until).filter(|until| *until > snapshot.now).min()
}

/// Whether no pod is evicted, kept by a rule, terminating or waiting.
fn is_at_rest(plan: &Plan) -> bool {
    let is_content =
        |queue: &QueuePlan| queue.starved.is_none() && queue.unmet.is_empty() && queue.pods.terminating == 0;
    plan.evictions.is_empty()
        && plan.waiting.is_empty()
        && plan.passed_over.is_empty()
        && plan.queues.values().all(is_content)
}

/// Tells every leaf what keeps its pods from starting, once all numbers are known.
fn report_unmet(cluster: Cluster<'_>, plan: &mut Plan) {
    let waits = |leaf: &Leaf<'_>| leaf.namespace_usage.stuck || !leaf.demand.pending_pods.is_empty();
    if !cluster.each_leaf().any(waits) {
        return;
    }
    let used = |branch: &Branch<'_>| plan.queues.get(&branch.name).map(|queue| queue.used.clone());
    let used = cluster.tree.branches.map(|_, branch| used(branch).unwrap_or_default());
    for leaf in cluster.each_leaf().filter(|leaf| waits(leaf)) {
        let Some(decided) = plan.queues.get_mut(&leaf.name) else { continue };
        let obstacles = Obstacles { cluster, leaf, decided, used: &used };
        let (unmet, waiting) = obstacles.unmet();
        let is_over = |since: &Timestamp| not_created_from(*since) <= cluster.snapshot.now;
        let (over, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
            waiting.clone().into_iter().partition(|(_, since)| is_over(since));
        decided.unmet = unmet;
        (decided.remember.waiting, decided.remember.not_created) = (waiting, over);
        let next = others.into_values().map(not_created_from).min();
        plan.next_change = earliest(plan.next_change, next);
    }
}

/// Since when pods of a leaf without a node have had room in vain: while others are to go for them, or this is withheld, they are
/// no evidence.
fn room_since(leaf: &Leaf<'_>, reclaim: &ReclaimResult, snapshot: &Snapshot) -> Option<Timestamp> {
    let now = snapshot.now;
    let is_stuck = |pod: &Pod| pod.is_live() && pod.node.is_none() && pod.stuck_since(now).is_some();
    let mut reasons = reclaim.unmet.get(&leaf.at).into_iter().flatten().map(|unmet| unmet.reason);
    let waits = snapshot.reclaim_gate.held().is_some()
        || reasons.any(|reason| {
            matches!(reason, ShortReason::WaitingForPreemption | ShortReason::EvictionsDisabled)
        });
    let has_room = leaf.namespace_usage.stuck && !waits && leaf.state.pods.iter().any(is_stuck);
    has_room.then(|| leaf.queue.remembered.room_since.unwrap_or(now).min(now))
}

/// Lets what was found on nodes, and in others' way of giving, replace what shares alone could say.
fn report_lacking_nodes(tree: &Tree<'_>, found: &BTreeMap<BranchId, Vec<Unmet>>, plan: &mut Plan) {
    for (at, found) in found {
        let Some(queue) = plan.queues.get_mut(&tree.branches[*at].name) else { continue };
        let mut places: BTreeMap<Preemptor, usize> = BTreeMap::new();
        for (place, known) in queue.unmet.iter().enumerate() {
            places.entry(known.preemptor.clone()).or_insert(place);
        }
        for one in found {
            let place = *places.entry(one.preemptor.clone()).or_insert(queue.unmet.len());
            match queue.unmet.get_mut(place) {
                Some(_) if one.reason == ShortReason::UnitAboveShare => {}
                // No room on a node helps pods that do not come to be.
                Some(Unmet { reason: ShortReason::PodsRejected | ShortReason::PodsNotCreated, .. }) => {}
                Some(known) if one.pods < known.pods && one.reason != known.reason => {
                    let pods = known.pods.saturating_sub(one.pods);
                    let rest = Unmet { pods, ..known.clone() };
                    (known.pods, known.reason) = (one.pods, one.reason);
                    // What else is found is of the rest.
                    places.insert(one.preemptor.clone(), queue.unmet.len());
                    queue.unmet.push(rest);
                }
                Some(known) => known.reason = one.reason,
                None => queue.unmet.push(one.clone()),
            }
        }
    }
}

fn governed(bounds: &Bounds, resources: &[Resource]) -> Bounds {
    let bound = |resource: &Resource| Some((resource.clone(), bounds.get(resource)?));
    resources.iter().filter_map(bound).collect()
}

fn queue_plan(
    tree: &Tree<'_>,
    branch: &Branch<'_>,
    leaf: Option<&Leaf<'_>>,
    gated: Option<&NamespaceState>,
    shares: &Shares,
    allocated: &Amounts,
    plan: &Plan,
) -> QueuePlan {
    let resources = &plan.resources;
    let limit = governed(&branch.queue.limit, resources);
    let parent = branch.parent.map(|parent| tree.branches[parent].name.clone());
    let mut pods = leaf.map(|leaf| leaf.namespace_usage.pods).unwrap_or_default();
    let (write, is_left_alone, is_in_force) = match (gated, leaf) {
        (Some(gated), _) => {
            pods.gated = u32::try_from(gated.gated_pods().count()).unwrap_or(u32::MAX);
            let quota = gated.quota.as_ref();
            let write = limit_write(quota, branch.queue, &limit);
            let is_in_force = is_limit_in_force(quota, write.as_ref(), &limit);
            let is_left_alone = is_limit_left_alone(&branch.reach, quota, write.as_ref());
            (write, is_left_alone, is_in_force)
        }
        (None, Some(leaf)) => {
            let quota = leaf.state.quota.as_ref();
            let write = quota_write(quota, leaf.queue, plan.bounds(allocated));
            let is_left_alone = is_left_alone(&branch.reach, quota, write.as_ref());
            // Without a quota nothing keeps pods out, and none is to come.
            let is_open = is_left_alone && quota.is_none_or(|quota| quota.hard.is_empty());
            let is_in_force = is_open || quota.is_some_and(|quota| is_in_force(quota, allocated, resources));
            (write, is_left_alone, is_in_force)
        }
        (None, None) => (None, false, true),
    };
    QueuePlan {
        uid: branch.queue.uid.clone(),
        generation: branch.queue.generation,
        is_parent: !branch.is_leaf(),
        parent,
        demand: shares.demand.clone(),
        deserved: shares.deserved.clone(),
        nominal: shares.nominal.clone(),
        weight: branch.queue.weight,
        guaranteed: governed(&branch.queue.guaranteed, resources),
        limit,
        unmeetable: shares.unmeetable.clone(),
        used: leaf.map(|leaf| leaf.namespace_usage.charged.of(resources)).unwrap_or_default(),
        pods,
        quota_write: write.filter(|_| !is_left_alone),
        quota_left_alone: is_left_alone,
        admission: branch.queue.admission,
        reach: branch.reach.clone(),
        quota_in_force: is_in_force,
        allocated: allocated.clone(),
        foreign_limit: foreign_limit(branch, shares, resources),
        ..QueuePlan::default()
    }
}

/// Where what others allow in the namespace of a leaf is what keeps it from asking for more.
fn foreign_limit(branch: &Branch<'_>, shares: &Shares, resources: &[Resource]) -> Bounds {
    let binds = |resource: &Resource| {
        let allowed = branch.foreign?.get(resource)?;
        let own = branch.queue.limit.get(resource);
        let is_tighter = own.is_none_or(|own| allowed < own) && shares.demand.get(resource) >= allowed;
        is_tighter.then(|| (resource.clone(), allowed))
    };
    resources.iter().filter_map(binds).collect()
}
