//! From snapshot to plan: capacity, tree, demand, shares, grants, victims, in this order.

use std::collections::BTreeMap;

use super::forced::forced;
use super::leaf::Leaf;
use super::quota_writes::{is_in_force, quota_write};
use super::unmet::Obstacles;
use super::{Plan, QueuePlan, Unmet, orphans, parents, short, whole_shares};
use crate::amounts::{Amounts, Resource};
use crate::capacity;
use crate::census;
use crate::demand::{earliest, smallest, weight_shares};
use crate::grants::{Aim, Holder, Next, Sharer, damped, grants, idle_parts};
use crate::reason::Reason;
use crate::reclaim::{self, Party};
use crate::shares::{self, Wish};
use crate::snapshot::Snapshot;
use crate::tree::{self, Branch, Index, Tree};

/// Decides what every queue deserves, what its quota allows next, and which pods have to go.
///
/// Pure: equal snapshots give equal plans, in whatever order their parts were found.
pub fn plan(snapshot: &Snapshot) -> Plan {
    let census = census::take(snapshot);
    let tree = tree::grow(snapshot);
    let resources = capacity::governed(snapshot);
    let capacity = only(&capacity::shared(snapshot, &census, &tree), &resources);

    let weight_shares = weight_shares(&tree, &capacity, &resources);
    let leaves = Leaf::all(snapshot, &census, &tree, &weight_shares, &resources);
    let wish = |leaf: &Leaf<'_>| leaf.wish(snapshot, &capacity, &resources);
    let wishes: Vec<Wish> = leaves.iter().map(|leaf| leaf.as_ref().map(wish).unwrap_or_default()).collect();
    let mut shares = shares::shares(&tree, &wishes, &capacity, &resources);
    whole_shares::make_whole(&tree, &leaves, &wishes, &mut shares, &capacity, &resources, snapshot.now);
    let deserved: Vec<Amounts> = shares.iter().map(|shares| shares.deserved.clone()).collect();

    let holders: Vec<Option<Holder<'_>>> = leaves
        .iter()
        .map(|leaf| {
            leaf.as_ref().map(|leaf| Holder { quota: leaf.state.quota.as_ref(), headcount: leaf.headcount })
        })
        .collect();
    let idlers: Vec<Option<Sharer<'_>>> =
        leaves.iter().zip(&holders).map(|(leaf, holder)| Some(leaf.as_ref()?.sharer((*holder)?))).collect();
    let idle = idle_parts(&tree, &idlers, &deserved, &capacity, &resources);
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
        leaf.units_beyond(amount, &Amounts::new(), &resources, snapshot.now)
    };
    let is_last = |(at, leaf): (Index, &Option<Leaf<'_>>)| {
        tree.fence_above(at).is_some() || leaf.as_ref().is_some_and(|leaf| leaf.is_to_wait(snapshot))
    };
    let last: Vec<bool> = leaves.iter().enumerate().map(is_last).collect();
    let aim = Aim { deserved: &aims, idle: &idle, last: &last };
    let granted = grants(&tree, &holders, aim, &units, &capacity, &resources);
    // Of the idle part only what is there to be used is spoken of, so that it is never promised.
    let idle: Vec<Amounts> = (idle.iter().zip(&granted).zip(&aims))
        .map(|((idle, granted), aim)| granted.less(aim).min(idle))
        .collect();
    let entitled: Vec<Amounts> = aims.iter().zip(&idle).map(|(aim, idle)| sum(aim, idle)).collect();

    let parties: Vec<Option<Party<'_>>> = (tree.branches.iter().zip(&leaves))
        .zip(entitled.iter().zip(&granted))
        .map(|((branch, leaf), (deserved, allocated))| {
            leaf.as_ref().map(|leaf| Party {
                name: &branch.name,
                queue: branch.queue,
                state: leaf.state,
                headcount: leaf.headcount,
                deserved,
                allocated,
                not_taken_up: &leaf.demand.remember.not_taken_up,
                spared: leaf.spared,
            })
        })
        .collect();
    let taken = reclaim::evictions(snapshot, &census, &tree, &parties, &capacity, &resources);
    let shortage = short::why_short(&holders, &granted, &taken, &resources);

    let mut plan = Plan { resources, capacity, ..Plan::default() };
    for (at, branch) in tree.branches.iter().enumerate() {
        let (Some(shares), Some(allocated), Some(leaf)) = (shares.get(at), granted.get(at), leaves.get(at))
        else {
            continue;
        };
        let idle = idle.get(at).filter(|_| leaf.is_some()).cloned().unwrap_or_default();
        let reason = taken.obstacles.get(&at).copied().unwrap_or(shortage);
        let mut decided = queue_plan(&tree, branch, leaf.as_ref(), shares, allocated, &plan.resources);
        if let Some(entitled) = entitled.get(at).filter(|_| leaf.is_some()) {
            decided.preempting = entitled.less(allocated);
        }
        decided.deserved.add_all(&idle);
        decided.idle = idle;
        decided.starved = (!decided.preempting.is_empty()).then_some(reason);
        if let Some(leaf) = leaf {
            let is_short = decided.starved.is_some();
            let (remember, due) =
                short::since(leaf.queue, is_short, leaf.demand.remember.clone(), snapshot.now);
            // What is not governed is nobody's to remember.
            decided.remember = remember.of(&plan.resources);
            let (hanging, next_hangs) = forced(&branch.name.namespace, leaf, snapshot.now);
            plan.forced.extend(hanging);
            plan.next_change =
                [leaf.demand.next_change, due, next_hangs].into_iter().fold(plan.next_change, earliest);
        }
        plan.queues.insert(branch.name.clone(), decided);
    }
    plan.forced.sort();
    parents::sum_up(&tree, &mut plan);
    say_what_is_unmet(snapshot, &tree, &leaves, &mut plan);
    say_what_nodes_lack(&tree, &taken.unmet, &mut plan);
    for (eviction, quota_is_in_force) in taken.evictions {
        if quota_is_in_force { plan.evictions.push(eviction) } else { plan.waiting.push(eviction) }
    }
    plan.passed_over = taken.passed_over;
    plan.orphans = orphans::orphans(snapshot, &census, &plan.resources);
    plan.stalled = tree.stalled;
    plan
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
        decided.unmet = obstacles.unmet();
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
                Some(known) => known.reason = one.reason,
                None => queue.unmet.push(one.clone()),
            }
        }
    }
}

fn only(amounts: &Amounts, resources: &[Resource]) -> Amounts {
    resources.iter().map(|resource| (resource.clone(), amounts.get(resource))).collect()
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
    resources: &[Resource],
) -> QueuePlan {
    let quota = leaf.and_then(|leaf| leaf.state.quota.as_ref());
    let parent = branch.parent.and_then(|parent| tree.branches.get(parent)).map(|parent| parent.name.clone());
    QueuePlan {
        uid: branch.queue.uid.clone(),
        is_parent: !branch.is_leaf(),
        parent,
        demand: shares.demand.clone(),
        deserved: shares.deserved.clone(),
        fair_share: shares.fair_share.clone(),
        unmeetable: shares.unmeetable.clone(),
        used: leaf.map(|leaf| only(&leaf.headcount.charged, resources)).unwrap_or_default(),
        pods: leaf.map(|leaf| leaf.headcount.pods).unwrap_or_default(),
        quota_write: leaf.and_then(|leaf| quota_write(quota, leaf.queue, allocated, resources)),
        quota_in_force: leaf.is_none() || quota.is_some_and(|quota| is_in_force(quota, allocated, resources)),
        allocated: allocated.clone(),
        ..QueuePlan::default()
    }
}
