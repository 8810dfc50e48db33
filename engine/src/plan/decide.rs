//! From snapshot to plan: capacity, tree, demand, shares, grants, victims, in this order.

use std::collections::BTreeMap;

use super::quota_writes::{is_in_force, is_left_alone, is_limit_in_force, limit_write, quota_write};
use super::shortened::Shortened;
use super::stuck_terminating::StuckTerminating;
use super::unmet::Obstacles;
use super::withheld::WithheldEvictions;
use super::{Plan, Preemptor, QueuePlan, Scaling, Unmet, parents, queue_jobs, retained, short};
use crate::amounts::{Amounts, Bounds, Resource};
use crate::capacity;
use crate::choice::{self, Context, QueueState, ReclaimResult};
use crate::demand::{earliest, first_patience};
use crate::gates::{self, GatedNamespace, GatedNamespaces};
use crate::grants::{GrantInput, Grants, cut_to_what_nodes_offer, grants, nothing_lowered};
use crate::intra_queue::{self, Yielded};
use crate::leaf::Leaf;
use crate::names::QueueName;
use crate::reason::Reason;
use crate::shares::{self, Shares, Wish};
use crate::snapshot::{OwnerKind, Pod, Quota, Snapshot};
use crate::targets::targets;
use crate::time::Timestamp;
use crate::tree::{self, Branch, Index, Tree};
use crate::usage::{self, Usage};

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
    let capacity = capacity::shared(snapshot, &usage, &tree).of(&resources);
    let offered = capacity::offered(snapshot, &usage, &tree).of(&resources);
    let leaves = Leaf::all(snapshot, &usage, &tree, &capacity, &resources);

    let wishes: Vec<Wish> =
        leaves.iter().map(|leaf| leaf.as_ref().map(Leaf::wish).unwrap_or_default()).collect();
    let shares = shares::shares(&tree, &wishes, &capacity, &resources);
    let decided = targets(&tree, &leaves, &shares, snapshot, &capacity, &resources);
    let offered_resources = offered_resources(&capacity, &resources);
    let input = GrantInput {
        snapshot,
        tree: &tree,
        leaves: &leaves,
        targets: &decided.targets,
        capacity: &capacity,
        offered: &offered,
        resources: &offered_resources,
    };
    let granted = grants(&input, &resources);
    let queue_states = queue_states(&tree, &leaves, &shares, &decided.targets, &granted);
    let context = Context {
        snapshot,
        usage: &usage,
        tree: &tree,
        queue_states: &queue_states,
        capacity: &capacity,
        resources: &offered_resources,
        same_targets: decided.kept == snapshot.targets,
    };
    let mut reclaim = reclaims(context, &input, &granted);
    let mut allocated = granted.allocated.clone();
    for (at, lowered) in &reclaim.lowered {
        let lent = granted.allocated.get(*at).map(|granted| granted.less(lowered)).unwrap_or_default();
        for (index, _) in tree.path_up(*at) {
            allocated.get_mut(index).into_iter().for_each(|allocated| allocated.subtract_all(&lent));
        }
    }
    let withheld = WithheldEvictions::take_out(&input, &allocated, &mut reclaim, &resources);
    let stuck_terminating = StuckTerminating::of(&tree, &leaves, &decided.targets, snapshot.now);
    let held = snapshot.reclaim_gate.held();
    let shortage = held.unwrap_or_else(|| {
        short::why_short(&input, &allocated, &reclaim, stuck_terminating.overdue.len(), &resources)
    });
    let keeps = |at: Index| held.is_some() || tree.is_paused(at);
    let allocated = if (0..leaves.len()).any(keeps) {
        nothing_lowered(&input, &allocated, &resources, keeps)
    } else {
        allocated
    };

    let mut plan =
        Plan { resources, capacity: capacity.clone(), held, targets: decided.kept, ..Plan::default() };
    plan.unmanaged = capacity::unmanaged(&usage, &tree, &plan.resources);
    let target = tree.sums(decided.targets.clone());
    for (at, branch) in tree.branches.iter().enumerate() {
        let (Some(shares), Some(allocated), Some(leaf), Some(target)) =
            (shares.get(at), allocated.get(at), leaves.get(at), target.get(at))
        else {
            continue;
        };
        let reason = short::reason(snapshot.grant_gate, reclaim.obstacles.get(&at), shortage);
        let gated = gated.get(&branch.name.namespace).filter(|_| branch.is_leaf());
        let mut decided = queue_plan(&tree, branch, leaf.as_ref(), gated, shares, allocated, &plan);
        decided.target = target.clone();
        decided.preempting = reclaim.owed.remove(&at).unwrap_or_default();
        decided.lacking = reclaim.lacking.remove(&at).unwrap_or_default();
        say_why_it_is_short(&mut decided, branch, reason, &withheld);
        if let Some(leaf) = leaf {
            let is_short = decided.starved.is_some();
            let (mut remember, due) =
                short::since(leaf.queue, is_short, leaf.demand.remember.clone(), snapshot.now);
            if let Some(loans) = granted.loans.get(at) {
                remember.windows.clone_from(&loans.windows);
                plan.next_change = earliest(plan.next_change, loans.next_change);
            }
            // What is not governed is not remembered.
            decided.remember = remember.of(&plan.resources);
            plan.next_change = [leaf.demand.next_change, due].into_iter().fold(plan.next_change, earliest);
            plan.next_try = earliest(plan.next_try, leaf.demand.next_try);
        }
        plan.queues.insert(branch.name.clone(), decided);
    }
    parents::sum_up(&tree, &mut plan);
    say_what_is_unmet(snapshot, &tree, &leaves, &mut plan);
    say_what_nodes_lack(&tree, &reclaim.unmet, &mut plan);
    say_since_when_there_is_room(snapshot, &tree, &leaves, &reclaim, &mut plan);
    leave_out_waiting_gangs(&mut plan);
    say_who_goes(reclaim, withheld, &mut plan);
    say_who_has_less_grace(snapshot, &tree, &leaves, &decided.targets, stuck_terminating, &mut plan);
    let mut yielded = intra_queue::yielded(context, &plan);
    let yielding_slots = std::mem::take(&mut yielded.slots);
    say_who_yields(yielded, &mut plan);
    let due = [next_ripe(snapshot, &usage, &leaves, &plan), next_end_of_pause(snapshot)];
    plan.next_change = due.into_iter().fold(plan.next_change, earliest);
    queue_jobs::decide(snapshot, &tree, &leaves, &yielding_slots, &mut plan);
    plan.retained = retained::retained(snapshot, &tree);
    plan.gate_removals = gates::removals(seen, &gated, &tree, &leaves, &plan);
    plan.stalled = tree.stalled;
    plan
}

/// Those of `resources` of which there is something to share.
fn offered_resources(capacity: &Amounts, resources: &[Resource]) -> Vec<Resource> {
    resources.iter().filter(|one| capacity.offers(one)).cloned().collect()
}

/// The pods to evict, and what is owed for it as far as nodes offer it.
fn reclaims(context: Context<'_>, input: &GrantInput<'_>, granted: &Grants) -> ReclaimResult {
    let mut reclaim = choice::evictions(context);
    cut_to_what_nodes_offer(input, &granted.firm, &mut reclaim.owed);
    reclaim
}

/// Who gives and takes: an entry a branch, none for parents.
fn queue_states<'a>(
    tree: &'a Tree<'a>,
    leaves: &'a [Option<Leaf<'a>>],
    shares: &'a [Shares],
    targets: &'a [Amounts],
    granted: &'a Grants,
) -> Vec<Option<QueueState<'a>>> {
    let queue_state = |(at, (branch, leaf)): (Index, (&'a Branch<'a>, &'a Option<Leaf<'a>>))| {
        let leaf = leaf.as_ref()?;
        Some(QueueState {
            name: &branch.name,
            leaf,
            target: targets.get(at)?,
            deserved: &shares.get(at)?.deserved,
            allocated: granted.allocated.get(at)?,
            firm: granted.firm.get(at)?,
            owed: granted.owed.get(at)?,
            lost: granted.lost.get(at)?,
        })
    };
    tree.branches.iter().zip(leaves).enumerate().map(queue_state).collect()
}

/// A gang that waits although there is room for a pod of it says itself what it waits for.
fn leave_out_waiting_gangs(plan: &mut Plan) {
    let waits_by_rule = |unmet: &Unmet| {
        matches!(unmet.who, Preemptor::Owner(OwnerKind::QueueJob, _)) && unmet.reason == Reason::RoomAvailable
    };
    plan.queues.values_mut().for_each(|queue| queue.unmet.retain(|unmet| !waits_by_rule(unmet)));
}

/// Writes down who goes, who should and does not, and whom a rule kept.
fn say_who_goes(reclaim: ReclaimResult, withheld: WithheldEvictions, plan: &mut Plan) {
    plan.withheld = withheld.evictions;
    for (eviction, quota_is_in_force) in reclaim.evictions {
        if quota_is_in_force { plan.evictions.push(eviction) } else { plan.waiting.push(eviction) }
    }
    plan.passed_over = reclaim.passed_over;
}

/// Writes down which terminating pods hang, and which are evicted again.
fn say_who_has_less_grace(
    snapshot: &Snapshot,
    tree: &Tree<'_>,
    leaves: &[Option<Leaf<'_>>],
    deserved: &[Amounts],
    stuck_terminating: StuckTerminating,
    plan: &mut Plan,
) {
    plan.overdue = stuck_terminating.overdue;
    plan.next_change = earliest(plan.next_change, stuck_terminating.next_change);
    if plan.held.is_none() {
        let shortened = Shortened::of(snapshot, tree, leaves, deserved, plan);
        plan.next_change = earliest(plan.next_change, shortened.next_change);
        plan.shortened = stuck_terminating.forced;
        plan.shortened.extend(shortened.evictions);
    }
}

/// Writes down why others hold part of the share of `decided`, if they do: for this `reason`, or because something is withheld.
fn say_why_it_is_short(
    decided: &mut QueuePlan,
    branch: &Branch<'_>,
    reason: Reason,
    withheld: &WithheldEvictions,
) {
    if decided.lacking.is_empty() {
        return;
    }
    decided.withheld = withheld.cause(branch, reason);
    decided.starved = Some(if decided.withheld.is_some() { Reason::EvictionsDisabled } else { reason });
}

/// Writes down who yields to others of the same queue, and for whom that makes room.
fn say_who_yields(yielded: Yielded, plan: &mut Plan) {
    for (name, promised) in &yielded.promised {
        let Some(queue) = plan.queues.get_mut(name) else { continue };
        let evicts = queue.reach.evicts();
        for one in &mut queue.unmet {
            let is_promised = match &one.who {
                Preemptor::Owner(kind, name) => promised.contains(&(*kind, name.clone())),
                Preemptor::Pod(_) => false,
            };
            if is_promised && matches!(one.reason, Reason::ShareInUse | Reason::NothingToEvict) {
                one.reason = if evicts { Reason::WaitingForPreemption } else { Reason::EvictionsDisabled };
            }
        }
    }
    let is_carried_out = |queue: &QueueName| plan.queues.get(queue).is_some_and(|queue| queue.reach.evicts());
    plan.scalings = yielded.scalings;
    plan.scalings.retain(|scaling| is_carried_out(&scaling.queue));
    plan.scalings.sort_by(|a, b| {
        let key = |scaling: &Scaling| (!scaling.lowers(), scaling.queue.clone(), scaling.setter.clone());
        key(a).cmp(&key(b))
    });
    plan.passed_over.extend(yielded.passed_over);
}

/// When the next pod will have run long enough to go like others, or waited long enough for a node that may be added.
fn next_ripe(
    snapshot: &Snapshot,
    usage: &Usage<'_>,
    leaves: &[Option<Leaf<'_>>],
    plan: &Plan,
) -> Option<Timestamp> {
    // Where nothing is lacking it makes no difference who would go.
    let matters = !is_at_rest(plan);
    let unprotected = |leaf: &Leaf<'_>| choice::next_unprotected(leaf.state, leaf.eviction, snapshot.now);
    let ripe = leaves.iter().flatten().filter(|_| matters).filter_map(unprotected).min();
    earliest(ripe, first_patience(snapshot, usage))
}

/// When the next pause ends.
fn next_end_of_pause(snapshot: &Snapshot) -> Option<Timestamp> {
    let queues = snapshot.namespaces.values().flat_map(|state| &state.queues);
    queues.filter_map(|queue| queue.paused_until).filter(|until| *until > snapshot.now).min()
}

/// Whether nobody goes, is kept from going, is on his way or waits for anything.
fn is_at_rest(plan: &Plan) -> bool {
    let is_content =
        |queue: &QueuePlan| queue.starved.is_none() && queue.unmet.is_empty() && queue.pods.terminating == 0;
    plan.evictions.is_empty()
        && plan.waiting.is_empty()
        && plan.passed_over.is_empty()
        && plan.queues.values().all(is_content)
}

/// Tells every leaf what keeps its pods from starting, once all numbers are known.
fn say_what_is_unmet(snapshot: &Snapshot, tree: &Tree<'_>, leaves: &[Option<Leaf<'_>>], plan: &mut Plan) {
    let used = |branch: &Branch<'_>| plan.queues.get(&branch.name).map(|queue| queue.used.clone());
    let used: Vec<Amounts> = tree.branches.iter().map(|branch| used(branch).unwrap_or_default()).collect();
    let waits = |leaf: &Leaf<'_>| leaf.namespace_usage.stuck || !leaf.demand.asks.is_empty();
    for (at, (branch, leaf)) in tree.branches.iter().zip(leaves).enumerate() {
        let Some(leaf) = leaf.as_ref().filter(|leaf| waits(leaf)) else { continue };
        let Some(decided) = plan.queues.get_mut(&branch.name) else { continue };
        let resources = &plan.resources;
        let obstacles = Obstacles { snapshot, tree, at, leaf, decided, used: &used, resources };
        let found = obstacles.unmet();
        decided.unmet = found.unmet;
        decided.remember.waiting = found.waiting;
        decided.remember.not_created = found.not_created;
        plan.next_change = earliest(plan.next_change, found.next_change);
    }
}

/// Notes since when pods without a node have had room in vain: while others are to go for them, they are no evidence.
fn say_since_when_there_is_room(
    snapshot: &Snapshot,
    tree: &Tree<'_>,
    leaves: &[Option<Leaf<'_>>],
    reclaim: &ReclaimResult,
    plan: &mut Plan,
) {
    for (at, (branch, leaf)) in tree.branches.iter().zip(leaves).enumerate() {
        let Some(leaf) = leaf else { continue };
        let Some(decided) = plan.queues.get_mut(&branch.name) else { continue };
        let is_stuck = |pod: &Pod| pod.is_live() && pod.node.is_none() && pod.stuck.is_some();
        let mut unmet = reclaim.unmet.get(&at).into_iter().flatten();
        let waits = plan.held.is_some() || unmet.any(|unmet| unmet.reason == Reason::WaitingForPreemption);
        let has_room = leaf.namespace_usage.stuck && !waits && leaf.state.pods.iter().any(is_stuck);
        let before = leaf.queue.remembered.room_since.unwrap_or(snapshot.now).min(snapshot.now);
        decided.remember.room_since = has_room.then_some(before);
    }
}

/// Lets what was found on nodes, and in others' way of giving, replace what shares alone could say.
fn say_what_nodes_lack(tree: &Tree<'_>, found: &BTreeMap<Index, Vec<Unmet>>, plan: &mut Plan) {
    for (at, found) in found {
        let queue = tree.branches.get(*at).and_then(|branch| plan.queues.get_mut(&branch.name));
        let Some(queue) = queue else { continue };
        for one in found {
            match queue.unmet.iter_mut().find(|known| known.who == one.who) {
                Some(_) if one.reason == Reason::UnitAboveShare => {}
                // No room on a node helps pods that do not come to be.
                Some(known) if matches!(known.reason, Reason::PodsRejected | Reason::PodsNotCreated) => {}
                Some(known) if one.pods < known.pods && one.reason != known.reason => {
                    let pods = known.pods.saturating_sub(one.pods);
                    let rest = Unmet { pods, ..known.clone() };
                    (known.pods, known.reason) = (one.pods, one.reason);
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
    gated: Option<&GatedNamespace<'_>>,
    shares: &Shares,
    allocated: &Amounts,
    plan: &Plan,
) -> QueuePlan {
    let resources = &plan.resources;
    let quota = leaf.and_then(|leaf| leaf.state.quota.as_ref());
    let limit = governed(&branch.queue.limit, resources);
    let parent = branch.parent.and_then(|parent| tree.branches.get(parent)).map(|parent| parent.name.clone());
    let write = leaf.and_then(|leaf| quota_write(quota, leaf.queue, plan.bounds(allocated)));
    let is_left_alone = leaf.is_some() && is_left_alone(&branch.reach, quota, write.as_ref());
    // Without a quota nothing keeps pods out, and none is to come.
    let is_open = is_left_alone && quota.is_none_or(|quota| quota.hard.is_empty());
    let is_in_force = |quota: &Quota| is_in_force(quota, allocated, resources);
    let is_in_force = leaf.is_none() || is_open || quota.is_some_and(is_in_force);
    let mut pods = leaf.map(|leaf| leaf.namespace_usage.pods).unwrap_or_default();
    let (write, is_left_alone, is_in_force) = match gated {
        // The ledger is always written: only the operator changes what it grants, and nothing of it falls during a pause.
        Some(gated) => {
            pods.gated = gated.count();
            let write = limit_write(gated.quota(), branch.queue, &limit);
            let is_in_force = is_limit_in_force(gated.quota(), write.as_ref(), &limit);
            (write.filter(|write| !write.lowers || branch.reach.lowers()), false, is_in_force)
        }
        None => (write.filter(|_| !is_left_alone), is_left_alone, is_in_force),
    };
    QueuePlan {
        uid: branch.queue.uid.clone(),
        is_parent: !branch.is_leaf(),
        parent,
        demand: shares.demand.clone(),
        deserved: shares.deserved.clone(),
        nominal: shares.nominal.clone(),
        guaranteed: governed(&branch.queue.guaranteed, resources),
        limit,
        unmeetable: shares.unmeetable.clone(),
        used: leaf.map(|leaf| leaf.namespace_usage.charged.of(resources)).unwrap_or_default(),
        pods,
        quota_write: write,
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
