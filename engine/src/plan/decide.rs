//! From snapshot to plan: capacity, shares, grants, victims, in this order.

use super::{Plan, QueuePlan, QuotaWrite};
use crate::amounts::{Amounts, Bounds, Resource};
use crate::capacity;
use crate::census::{self, Headcount};
use crate::governance;
use crate::grants::{Holder, grants};
use crate::names::QueueName;
use crate::reason::Reason;
use crate::reclaim::{self, Party};
use crate::shares;
use crate::snapshot::{NamespaceState, Queue, Quota, Snapshot};

/// Decides what every queue deserves, what its quota allows next, and which pods have to go.
///
/// Pure: equal snapshots give equal plans, in whatever order their parts were found.
pub fn plan(snapshot: &Snapshot) -> Plan {
    let census = census::take(snapshot);
    let governance = governance::sort(snapshot);
    let resources = capacity::governed(snapshot);
    let capacity = only(&capacity::shared(snapshot, &census, &governance), &resources);

    // Sorted by path, which is what ties are broken by.
    let leaves: Vec<Leaf<'_>> = governance
        .leaves
        .iter()
        .filter_map(|(namespace, queue)| {
            Some(Leaf {
                name: QueueName::new((*namespace).clone(), queue.name.clone()),
                queue,
                state: snapshot.namespaces.get(*namespace)?,
                headcount: census.namespaces.get(namespace)?,
            })
        })
        .collect();
    let queues: Vec<&Queue> = leaves.iter().map(|leaf| leaf.queue).collect();
    let shares = shares::shares(&queues, &capacity, &resources);

    let holders: Vec<Holder<'_>> = leaves
        .iter()
        .zip(&shares)
        .map(|(leaf, shares)| Holder {
            queue: leaf.queue,
            quota: leaf.state.quota.as_ref(),
            headcount: leaf.headcount,
            deserved: &shares.deserved,
        })
        .collect();
    let granted = grants(&holders, &capacity, &resources);

    let parties: Vec<Party<'_>> = leaves
        .iter()
        .zip(&shares)
        .zip(&granted)
        .map(|((leaf, shares), allocated)| Party {
            name: &leaf.name,
            queue: leaf.queue,
            state: leaf.state,
            headcount: leaf.headcount,
            deserved: &shares.deserved,
            allocated,
            nodes: &snapshot.nodes,
        })
        .collect();
    let (evictions, waiting): (Vec<_>, Vec<_>) = reclaim::evictions(&parties, &capacity, &resources)
        .into_iter()
        .partition(|(_, quota_is_in_force)| *quota_is_in_force);

    let mut plan = Plan {
        evictions: evictions.into_iter().map(|(eviction, _)| eviction).collect(),
        waiting: waiting.into_iter().map(|(eviction, _)| eviction).collect(),
        stalled: governance.stalled,
        ..Plan::default()
    };
    let shortage = why_short(&leaves, &holders, &granted, &plan, &resources);
    for ((leaf, shares), allocated) in leaves.into_iter().zip(shares).zip(granted) {
        let preempting = shares.deserved.less(&allocated);
        let quota = leaf.state.quota.as_ref();
        let queue_plan = QueuePlan {
            uid: leaf.queue.uid.clone(),
            demand: shares.demand,
            fair_share: shares.fair_share,
            unmeetable: shares.unmeetable,
            used: only(&leaf.headcount.charged, &resources),
            pods: leaf.headcount.pods,
            quota_write: quota_write(quota, &allocated, &resources),
            quota_in_force: quota.is_some_and(|quota| is_in_force(quota, &allocated, &resources)),
            starved: (!preempting.is_empty()).then_some(shortage),
            deserved: shares.deserved,
            allocated,
            preempting,
        };
        plan.queues.insert(leaf.name, queue_plan);
    }
    plan.resources = resources;
    plan.capacity = capacity;
    plan
}

/// A Queue that governs its namespace, with what is in it.
struct Leaf<'a> {
    name: QueueName,
    queue: &'a Queue,
    state: &'a NamespaceState,
    headcount: &'a Headcount,
}

fn only(amounts: &Amounts, resources: &[Resource]) -> Amounts {
    resources.iter().map(|resource| (resource.clone(), amounts.get(resource))).collect()
}

/// The quota to write, if the one that stands names other amounts.
fn quota_write(quota: Option<&Quota>, allocated: &Amounts, resources: &[Resource]) -> Option<QuotaWrite> {
    let hard: Bounds = resources.iter().map(|resource| (resource.clone(), allocated.get(resource))).collect();
    if quota.is_some_and(|quota| quota.hard == hard) {
        return None;
    }
    let standing = |resource| quota.and_then(|quota| quota.hard.get(resource));
    // Where nothing was restricted, any restriction lowers.
    let lowers =
        hard.iter().any(|(resource, amount)| standing(resource).is_none_or(|before| amount < before));
    Some(QuotaWrite { hard, lowers })
}

fn is_in_force(quota: &Quota, allocated: &Amounts, resources: &[Resource]) -> bool {
    resources.iter().all(|resource| {
        let wanted = Some(allocated.get(resource));
        quota.hard.get(resource) == wanted && quota.enforced.get(resource) == wanted
    })
}

/// What stands in the way of those who are short.
fn why_short(
    leaves: &[Leaf<'_>],
    holders: &[Holder<'_>],
    granted: &[Amounts],
    plan: &Plan,
    resources: &[Resource],
) -> Reason {
    let leaving = leaves.iter().any(|leaf| leaf.headcount.pods.terminating > 0);
    let falling = holders.iter().zip(granted).any(|(holder, granted)| {
        resources.iter().any(|resource| {
            let settled = granted.get(resource).max(holder.headcount.charged.get(resource));
            holder.hold(resource) > settled
        })
    });
    if leaving || !plan.evictions.is_empty() {
        Reason::WaitingForPreemption
    } else if falling || !plan.waiting.is_empty() {
        Reason::WaitingForQuota
    } else {
        Reason::NothingToEvict
    }
}
