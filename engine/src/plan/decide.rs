//! From snapshot to plan: capacity, tree, shares, grants, victims, in this order.

use super::{Plan, PodCounts, QueuePlan, QuotaWrite};
use crate::amounts::{Amounts, Bounds, Resource};
use crate::capacity;
use crate::census::{self, Headcount};
use crate::grants::{Holder, grants};
use crate::reason::Reason;
use crate::reclaim::{self, Party, Taken};
use crate::shares;
use crate::snapshot::{NamespaceState, Queue, Quota, Remembered, Snapshot};
use crate::tree::{self, Branch, Tree};

/// Decides what every queue deserves, what its quota allows next, and which pods have to go.
///
/// Pure: equal snapshots give equal plans, in whatever order their parts were found.
pub fn plan(snapshot: &Snapshot) -> Plan {
    let census = census::take(snapshot);
    let tree = tree::grow(snapshot);
    let resources = capacity::governed(snapshot);
    let capacity = only(&capacity::shared(snapshot, &census, &tree), &resources);

    let leaves: Vec<Option<Leaf<'_>>> = tree
        .branches
        .iter()
        .enumerate()
        .map(|(at, branch)| {
            let namespace = &branch.name.namespace;
            let state = snapshot.namespaces.get(namespace)?;
            let headcount = census.namespaces.get(namespace)?;
            branch.is_leaf().then(|| Leaf {
                queue: branch.queue,
                state,
                headcount,
                spared: tree.is_spared(at),
            })
        })
        .collect();
    let held: Vec<Amounts> =
        leaves.iter().map(|leaf| leaf.as_ref().map(|leaf| leaf.held(snapshot)).unwrap_or_default()).collect();
    let shares = shares::shares(&tree, &held, &capacity, &resources);
    let deserved: Vec<&Amounts> = shares.iter().map(|shares| &shares.deserved).collect();

    let holders: Vec<Option<Holder<'_>>> = leaves
        .iter()
        .map(|leaf| {
            leaf.as_ref().map(|leaf| Holder { quota: leaf.state.quota.as_ref(), headcount: leaf.headcount })
        })
        .collect();
    let granted = grants(&tree, &holders, &deserved, &capacity, &resources);

    let parties: Vec<Option<Party<'_>>> = (tree.branches.iter().zip(&leaves))
        .zip(deserved.iter().zip(&granted))
        .map(|((branch, leaf), (deserved, allocated))| {
            leaf.as_ref().map(|leaf| Party {
                name: &branch.name,
                queue: branch.queue,
                state: leaf.state,
                headcount: leaf.headcount,
                deserved,
                allocated,
                spared: leaf.spared,
            })
        })
        .collect();
    let taken = reclaim::evictions(snapshot, &census, &tree, &parties, &capacity, &resources);
    let shortage = why_short(&holders, &granted, &taken, &resources);

    let mut plan = Plan { resources, capacity, ..Plan::default() };
    for (at, branch) in tree.branches.iter().enumerate() {
        let (Some(shares), Some(allocated), Some(leaf)) = (shares.get(at), granted.get(at), leaves.get(at))
        else {
            continue;
        };
        let reason = taken.obstacles.get(&at).copied().unwrap_or(shortage);
        let mut queue_plan =
            queue_plan(&tree, branch, leaf.as_ref(), shares, allocated, reason, &plan.resources);
        queue_plan.unmet = taken.unmet.get(&at).cloned().unwrap_or_default();
        plan.queues.insert(branch.name.clone(), queue_plan);
    }
    sum_up_parents(&tree, &mut plan);
    for (eviction, quota_is_in_force) in taken.evictions {
        if quota_is_in_force { plan.evictions.push(eviction) } else { plan.waiting.push(eviction) }
    }
    plan.passed_over = taken.passed_over;
    plan.stalled = tree.stalled;
    plan
}

/// What is in the namespace of a leaf.
struct Leaf<'a> {
    queue: &'a Queue,
    state: &'a NamespaceState,
    headcount: &'a Headcount,
    spared: bool,
}

impl Leaf<'_> {
    /// What cannot be taken from it, whatever its share.
    fn held(&self, snapshot: &Snapshot) -> Amounts {
        if self.spared {
            return self.headcount.charged.less(&self.headcount.leaving).max(&self.headcount.untakeable);
        }
        let mut held = self.headcount.untakeable.clone();
        held.add_all(&reclaim::never_taken(self.state, self.queue, snapshot));
        held
    }
}

fn only(amounts: &Amounts, resources: &[Resource]) -> Amounts {
    resources.iter().map(|resource| (resource.clone(), amounts.get(resource))).collect()
}

fn queue_plan(
    tree: &Tree<'_>,
    branch: &Branch<'_>,
    leaf: Option<&Leaf<'_>>,
    shares: &shares::Shares,
    allocated: &Amounts,
    shortage: Reason,
    resources: &[Resource],
) -> QueuePlan {
    let preempting = if leaf.is_some() { shares.deserved.less(allocated) } else { Amounts::new() };
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
        starved: (!preempting.is_empty()).then_some(shortage),
        allocated: allocated.clone(),
        preempting,
        idle: Amounts::new(),
        unmet: Vec::new(),
        remember: Remembered::default(),
    }
}

/// Fills in what parents have through their children.
fn sum_up_parents(tree: &Tree<'_>, plan: &mut Plan) {
    for branch in tree.branches.iter().rev() {
        let Some(parent) = branch.parent.and_then(|parent| tree.branches.get(parent)) else { continue };
        let Some(child) = plan.queues.get(&branch.name) else { continue };
        let (used, pods, preempting) = (child.used.clone(), child.pods, child.preempting.clone());
        let (starved, in_force) = (child.starved, child.quota_in_force);
        let Some(parent) = plan.queues.get_mut(&parent.name) else { continue };
        parent.used.add_all(&used);
        parent.pods = PodCounts {
            running: parent.pods.running.saturating_add(pods.running),
            pending: parent.pods.pending.saturating_add(pods.pending),
            terminating: parent.pods.terminating.saturating_add(pods.terminating),
        };
        parent.preempting.add_all(&preempting);
        parent.starved = parent.starved.or(starved);
        parent.quota_in_force &= in_force;
    }
}

/// The quota to write, if the one that stands names other amounts.
fn quota_write(
    quota: Option<&Quota>,
    queue: &Queue,
    allocated: &Amounts,
    resources: &[Resource],
) -> Option<QuotaWrite> {
    let goes_with_queue = queue.removes_quota;
    let hard: Bounds = resources.iter().map(|resource| (resource.clone(), allocated.get(resource))).collect();
    if quota.is_some_and(|quota| quota.hard == hard && quota.goes_with_queue == goes_with_queue) {
        return None;
    }
    let standing = |resource| quota.and_then(|quota| quota.hard.get(resource));
    // Where nothing was restricted, any restriction lowers.
    let lowers =
        hard.iter().any(|(resource, amount)| standing(resource).is_none_or(|before| amount < before));
    Some(QuotaWrite { hard, lowers, goes_with_queue })
}

fn is_in_force(quota: &Quota, allocated: &Amounts, resources: &[Resource]) -> bool {
    resources.iter().all(|resource| {
        let wanted = Some(allocated.get(resource));
        quota.hard.get(resource) == wanted && quota.enforced.get(resource) == wanted
    })
}

/// What stands in the way of those who are short and not fenced in.
fn why_short(
    holders: &[Option<Holder<'_>>],
    granted: &[Amounts],
    taken: &Taken,
    resources: &[Resource],
) -> Reason {
    let leaves =
        || holders.iter().zip(granted).filter_map(|(holder, granted)| Some((holder.as_ref()?, granted)));
    let leaving = leaves().any(|(holder, _)| holder.headcount.pods.terminating > 0);
    let falling = leaves().any(|(holder, granted)| {
        resources.iter().any(|resource| {
            let settled = granted.get(resource).max(holder.headcount.charged.get(resource));
            holder.hold(resource) > settled
        })
    });
    if leaving || taken.evictions.iter().any(|(_, quota_is_in_force)| *quota_is_in_force) {
        Reason::WaitingForPreemption
    } else if falling || !taken.evictions.is_empty() {
        Reason::WaitingForQuota
    } else {
        Reason::NothingToEvict
    }
}
