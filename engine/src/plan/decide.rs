//! From snapshot to plan: capacity, tree, demand, shares, grants, victims, in this order.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::hanging::Hanging;
use super::leaf::Leaf;
use super::quota_writes::{is_in_force, is_left_alone, quota_write};
use super::shortened::Shortened;
use super::unmet::Obstacles;
use super::withheld::WithheldEvictions;
use super::{Asker, Plan, QueuePlan, Scaling, Unmet, parents, queue_jobs, retained, short, whole_shares};
use crate::amounts::{Amounts, Bounds, Resource};
use crate::capacity;
use crate::census::{self, Census};
use crate::demand::{earliest, first_patience, smallest};
use crate::grants::{Aim, Holder, Next, damped, grants, idle_parts, nothing_lowered};
use crate::names::QueueName;
use crate::reason::Reason;
use crate::reclaim::{self, Party, Taken};
use crate::shares::{self, Wish};
use crate::snapshot::{OwnerKind, Pod, Quota, Snapshot};
use crate::time::Timestamp;
use crate::tree::{self, Branch, Index, Tree};
use crate::within::{self, Yielded};

/// Decides what every queue deserves, what its quota allows next, and which pods have to go.
///
/// Pure: equal snapshots give equal plans, in whatever order their parts were found.
pub fn plan(snapshot: &Snapshot) -> Plan {
    let resources = capacity::governed(snapshot);
    let snapshot: &Snapshot = &snapshot.narrowed(&resources);
    let census = census::take(snapshot);
    let tree = tree::grow(snapshot);
    let capacity = only(&capacity::shared(snapshot, &census, &tree), &resources);

    let leaves = Leaf::all(snapshot, &census, &tree, &capacity);
    let wish = |leaf: &Leaf<'_>| leaf.wish(snapshot, &census);
    let wishes: Vec<Wish> = leaves.iter().map(|leaf| leaf.as_ref().map(wish).unwrap_or_default()).collect();
    let mut shares = shares::shares(&tree, &wishes, &capacity, &resources);
    whole_shares::make_whole(&tree, &leaves, &wishes, &mut shares, &capacity, &resources, snapshot);
    let deserved: Vec<Amounts> = shares.iter().map(|shares| shares.deserved.clone()).collect();

    let holders: Vec<Option<Holder<'_>>> = leaves
        .iter()
        .map(|leaf| {
            leaf.as_ref().map(|leaf| Holder { quota: leaf.state.quota.as_ref(), headcount: leaf.headcount })
        })
        .collect();
    let idle = idle_parts(&tree, &holders, &deserved, &capacity, &resources);
    let next = |at: Index, resource: &Resource| {
        let of_leaf = |leaf: &Leaf<'_>| Next {
            unit: smallest(leaf.state, resource),
            wanted: leaf.demand.known.get(resource),
        };
        leaves.get(at).and_then(Option::as_ref).map(of_leaf).unwrap_or_default()
    };
    let aims = damped(&tree, &holders, &deserved, &idle, &next, &capacity, &resources);
    let units = |at: Index, amount: &Amounts| {
        let leaf = leaves.get(at).and_then(Option::as_ref)?;
        leaf.units_beyond(amount, &Amounts::new(), Vec::new(), &capacity, &resources, snapshot)
    };
    let is_last = |(at, leaf): (Index, &Option<Leaf<'_>>)| {
        tree.fence_above(at).is_some() || leaf.as_ref().is_some_and(|leaf| leaf.is_to_wait(snapshot))
    };
    let last: Vec<bool> = leaves.iter().enumerate().map(is_last).collect();
    let held = snapshot.destruction.held();
    let aim = Aim {
        deserved: &aims,
        idle: &idle,
        last: &last,
        growth: snapshot.growth,
        nothing_falls: held.is_some(),
    };
    let offered = only(&capacity::offered(snapshot, &census, &tree), &resources);
    let granted = grants(&tree, &holders, aim, &units, (&capacity, &offered), &resources);
    // Of the idle part only what is there to be used is spoken of, so that it is never promised.
    let idle: Vec<Amounts> = (idle.iter().zip(&granted).zip(&aims))
        .map(|((idle, granted), aim)| granted.less(aim).min(idle))
        .collect();
    let entitled: Vec<Amounts> = aims.iter().zip(&idle).map(|(aim, idle)| sum(aim, idle)).collect();

    let parties = parties(&tree, &leaves, &entitled, &granted);
    let mut taken = reclaim::evictions(snapshot, &census, &tree, &parties, &capacity, &resources);
    let withheld =
        WithheldEvictions::take_out(&tree, &holders, &granted, &mut taken, (&capacity, &resources));
    let hanging = Hanging::of(&tree, &leaves, &entitled, snapshot.now);
    let shortage = held.unwrap_or_else(|| {
        short::why_short(&tree, &holders, &granted, &taken, hanging.overdue.len(), &resources)
    });

    let allocated = allocated(&tree, &holders, &granted, &resources);

    let mut plan = Plan { resources, capacity, held, ..Plan::default() };
    for (at, branch) in tree.branches.iter().enumerate() {
        let (Some(shares), Some(allocated), Some(leaf)) = (shares.get(at), allocated.get(at), leaves.get(at))
        else {
            continue;
        };
        let idle = idle.get(at).filter(|_| leaf.is_some()).cloned().unwrap_or_default();
        let reason = short::reason(snapshot.growth, taken.obstacles.get(&at), shortage);
        let mut decided = queue_plan(&tree, branch, leaf.as_ref(), shares, allocated, &plan);
        if let Some(entitled) = entitled.get(at).filter(|_| leaf.is_some()) {
            decided.preempting = entitled.less(allocated);
            decided.lacking = decided.preempting.min(&entitled.less(&decided.used));
        }
        decided.deserved.add_all(&idle);
        decided.idle = idle;
        say_why_it_is_short(&mut decided, branch, reason, &withheld);
        if let Some(leaf) = leaf {
            let is_short = decided.starved.is_some();
            let (remember, due) =
                short::since(leaf.queue, is_short, leaf.demand.remember.clone(), snapshot.now);
            // What is not governed is nobody's to remember.
            decided.remember = remember.of(&plan.resources);
            plan.next_change = [leaf.demand.next_change, due].into_iter().fold(plan.next_change, earliest);
            plan.next_try = earliest(plan.next_try, leaf.demand.next_try);
        }
        plan.queues.insert(branch.name.clone(), decided);
    }
    parents::sum_up(&tree, &mut plan);
    say_what_is_unmet(snapshot, &tree, &leaves, &mut plan);
    say_what_nodes_lack(&tree, &taken.unmet, &mut plan);
    say_since_when_there_is_room(snapshot, &tree, &leaves, &taken, &mut plan);
    // A gang that waits although there is room for a pod of it says itself what it waits for.
    let waits_by_rule = |unmet: &Unmet| {
        matches!(unmet.who, Asker::Owner(OwnerKind::QueueJob, _)) && unmet.reason == Reason::RoomAvailable
    };
    plan.queues.values_mut().for_each(|queue| queue.unmet.retain(|unmet| !waits_by_rule(unmet)));
    say_who_goes(taken, withheld, &mut plan);
    say_who_has_less_grace(snapshot, &tree, &leaves, &entitled, hanging, &mut plan);
    say_who_yields(within::yielded(snapshot, &census, &parties, &plan), &mut plan);
    let due = [next_ripe(snapshot, &census, &leaves, &plan), next_end_of_pause(snapshot)];
    plan.next_change = due.into_iter().fold(plan.next_change, earliest);
    queue_jobs::decide(snapshot, &tree, &leaves, &mut plan);
    plan.retained = retained::retained(snapshot, &tree);
    plan.stalled = tree.stalled;
    plan
}

/// Who gives and takes: an entry a branch, none for parents.
fn parties<'a>(
    tree: &'a Tree<'a>,
    leaves: &'a [Option<Leaf<'a>>],
    entitled: &'a [Amounts],
    granted: &'a [Amounts],
) -> Vec<Option<Party<'a>>> {
    (tree.branches.iter().zip(leaves))
        .zip(entitled.iter().zip(granted))
        .map(|((branch, leaf), (deserved, allocated))| {
            leaf.as_ref().map(|leaf| Party {
                name: &branch.name,
                queue: branch.queue,
                state: leaf.state,
                headcount: leaf.headcount,
                deserved,
                allocated,
                asks: &leaf.demand.asks,
                trust: &leaf.demand.trust,
                eviction: leaf.eviction,
                spared: leaf.spared,
            })
        })
        .collect()
}

/// Writes down who goes, who should and does not, and whom a rule kept.
fn say_who_goes(taken: Taken, withheld: WithheldEvictions, plan: &mut Plan) {
    plan.withheld = withheld.evictions;
    for (eviction, quota_is_in_force) in taken.evictions {
        if quota_is_in_force { plan.evictions.push(eviction) } else { plan.waiting.push(eviction) }
    }
    plan.passed_over = taken.passed_over;
}

/// Writes down which terminating pods hang, and which are evicted again.
fn say_who_has_less_grace(
    snapshot: &Snapshot,
    tree: &Tree<'_>,
    leaves: &[Option<Leaf<'_>>],
    deserved: &[Amounts],
    hanging: Hanging,
    plan: &mut Plan,
) {
    plan.overdue = hanging.overdue;
    plan.next_change = earliest(plan.next_change, hanging.next_change);
    if plan.held.is_none() {
        let shortened = Shortened::of(snapshot, tree, leaves, deserved, plan);
        plan.next_change = earliest(plan.next_change, shortened.next_change);
        plan.shortened = hanging.forced;
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
                Asker::Owner(kind, name) => promised.contains(&(*kind, name.clone())),
                Asker::Pod(_) => false,
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
    census: &Census<'_>,
    leaves: &[Option<Leaf<'_>>],
    plan: &Plan,
) -> Option<Timestamp> {
    let is_at_rest = is_at_rest(plan);
    // Where nobody lacks anything it makes no difference who would go.
    let matters = |leaf: &&Leaf<'_>| leaf.keeps_some() || !is_at_rest;
    let unprotected = |leaf: &Leaf<'_>| reclaim::next_unprotected(leaf.state, leaf.eviction, snapshot.now);
    let ripe = leaves.iter().flatten().filter(matters).filter_map(unprotected).min();
    earliest(ripe, first_patience(snapshot, census))
}

/// What quotas allow next: of paused queues no less than they allow already.
fn allocated<'a>(
    tree: &Tree<'_>,
    holders: &[Option<Holder<'_>>],
    granted: &'a [Amounts],
    resources: &[Resource],
) -> Cow<'a, [Amounts]> {
    if (0..tree.branches.len()).any(|at| tree.is_paused(at)) {
        nothing_lowered(tree, holders, granted, resources, |at| tree.is_paused(at)).into()
    } else {
        granted.into()
    }
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
    let waits = |leaf: &Leaf<'_>| leaf.headcount.stuck || !leaf.demand.asks.is_empty();
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
    taken: &Taken,
    plan: &mut Plan,
) {
    for (at, (branch, leaf)) in tree.branches.iter().zip(leaves).enumerate() {
        let Some(leaf) = leaf else { continue };
        let Some(decided) = plan.queues.get_mut(&branch.name) else { continue };
        let is_stuck = |pod: &Pod| pod.is_live() && pod.node.is_none() && pod.stuck.is_some();
        let mut unmet = taken.unmet.get(&at).into_iter().flatten();
        let waits = plan.held.is_some() || unmet.any(|unmet| unmet.reason == Reason::WaitingForPreemption);
        let has_room = leaf.headcount.stuck && !waits && leaf.state.pods.iter().any(is_stuck);
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
                Some(known) => known.reason = one.reason,
                None => queue.unmet.push(one.clone()),
            }
        }
    }
}

fn only(amounts: &Amounts, resources: &[Resource]) -> Amounts {
    resources.iter().map(|resource| (resource.clone(), amounts.get(resource))).collect()
}

fn governed(bounds: &Bounds, resources: &[Resource]) -> Bounds {
    let bound = |resource: &Resource| Some((resource.clone(), bounds.get(resource)?));
    resources.iter().filter_map(bound).collect()
}

fn sum(one: &Amounts, other: &Amounts) -> Amounts {
    let mut sum = one.clone();
    sum.add_all(other);
    sum
}

fn queue_plan(
    tree: &Tree<'_>,
    branch: &Branch<'_>,
    leaf: Option<&Leaf<'_>>,
    shares: &shares::Shares,
    allocated: &Amounts,
    plan: &Plan,
) -> QueuePlan {
    let resources = &plan.resources;
    let quota = leaf.and_then(|leaf| leaf.state.quota.as_ref());
    let parent = branch.parent.and_then(|parent| tree.branches.get(parent)).map(|parent| parent.name.clone());
    let write = leaf.and_then(|leaf| quota_write(quota, leaf.queue, plan.bounds(allocated)));
    let is_left_alone = leaf.is_some() && is_left_alone(&branch.reach, quota, write.as_ref());
    // Without a quota nothing keeps pods out, and none is to come.
    let is_open = is_left_alone && quota.is_none_or(|quota| quota.hard.is_empty());
    let is_in_force = |quota: &Quota| is_in_force(quota, allocated, resources);
    QueuePlan {
        uid: branch.queue.uid.clone(),
        is_parent: !branch.is_leaf(),
        parent,
        demand: shares.demand.clone(),
        deserved: shares.deserved.clone(),
        nominal: shares.nominal.clone(),
        guaranteed: governed(&branch.queue.guaranteed, resources),
        limit: governed(&branch.queue.limit, resources),
        unmeetable: shares.unmeetable.clone(),
        used: leaf.map(|leaf| only(&leaf.headcount.charged, resources)).unwrap_or_default(),
        pods: leaf.map(|leaf| leaf.headcount.pods).unwrap_or_default(),
        quota_write: write.filter(|_| !is_left_alone),
        quota_left_alone: is_left_alone,
        reach: branch.reach.clone(),
        quota_in_force: leaf.is_none() || is_open || quota.is_some_and(is_in_force),
        allocated: allocated.clone(),
        foreign_limit: foreign_limit(branch, shares, resources),
        ..QueuePlan::default()
    }
}

/// Where what others allow in the namespace of a leaf is what keeps it from asking for more.
fn foreign_limit(branch: &Branch<'_>, shares: &shares::Shares, resources: &[Resource]) -> Bounds {
    let binds = |resource: &Resource| {
        let allowed = branch.foreign?.get(resource)?;
        let own = branch.queue.limit.get(resource);
        let is_tighter = own.is_none_or(|own| allowed < own) && shares.demand.get(resource) >= allowed;
        is_tighter.then(|| (resource.clone(), allowed))
    };
    resources.iter().filter_map(binds).collect()
}
