//! Terminating pods whose grace is longer than their queue allows, while another queue needs their room.
//!
//! Quotient gives a victim at most `eviction.maxGraceSeconds`. A pod that something else deleted may have hours, and its
//! room counts as on its way from the start, so that no other pod is evicted for it. Where a queue waits for that room,
//! the pod is evicted again with the cap. The API server counts the new grace from the first deletion, so the deadline is
//! never later than the cap from now, and no pod is found twice.

use std::collections::BTreeMap;

use super::stuck_terminating::again;
use super::{Eviction, Plan};
use crate::amounts::Amounts;
use crate::demand::earliest;
use crate::leaf::Leaf;
use crate::names::QueueName;
use crate::snapshot::{Pod, Snapshot, Workloads};
use crate::time::Timestamp;
use crate::tree::{Index, Tree};

/// What is to be evicted again.
#[derive(Debug, Default)]
pub(super) struct Shortened {
    /// The pods, those with the earliest deadline first.
    pub(super) evictions: Vec<Eviction>,
    /// When the first of the pods with a long grace has no more than the cap left.
    pub(super) next_change: Option<Timestamp>,
}

/// A terminating pod of a queue that uses more than it deserves.
struct Leaving<'a> {
    deadline: Timestamp,
    at: Index,
    pod: &'a Pod,
    /// The most grace that its queue allows, in seconds, where the pod has more left.
    cap: Option<u32>,
}

/// A queue that lacks part of its share.
struct Short<'a> {
    at: Index,
    name: &'a QueueName,
    lacking: Amounts,
}

impl Shortened {
    /// The pods to evict again with the cap of their queue, as few as cover what other queues lack beside the pods that
    /// are gone sooner and the victims of `plan`.
    pub(super) fn of(
        snapshot: &Snapshot,
        tree: &Tree<'_>,
        leaves: &[Option<Leaf<'_>>],
        deserved: &[Amounts],
        plan: &Plan,
    ) -> Self {
        let mut shortened = Self::default();
        let ends_some = |leaf: &Leaf<'_>| leaf.namespace_usage.pods.terminating > 0;
        if !leaves.iter().flatten().any(ends_some) {
            return shortened;
        }
        let above = |leaf: &Leaf<'_>, deserved| leaf.namespace_usage.charged.less(deserved);
        let mut over: Vec<Amounts> = (leaves.iter().zip(deserved))
            .map(|(leaf, deserved)| leaf.as_ref().map(|leaf| above(leaf, deserved)).unwrap_or_default())
            .collect();
        let mut leaving = leaving(tree, leaves, &over, plan, snapshot.now);
        if leaving.iter().all(|one| one.cap.is_none()) {
            return shortened;
        }
        let mut short = short(snapshot, tree, leaves, deserved, plan);
        if short.is_empty() {
            return shortened;
        }
        let may_take = |taker: Index, of: Index| {
            let inside = |fence| tree.path_up(of).any(|(above, _)| above == fence);
            taker != of && tree.fence_above(taker).is_none_or(inside)
        };
        for victim in plan.evictions.iter().chain(&plan.waiting) {
            let Some(at) = tree.branches.iter().position(|branch| branch.name == victim.queue) else {
                continue;
            };
            let Some(over) = over.get_mut(at) else { continue };
            let frees = victim.requests.min(over);
            *over = over.less(&victim.requests);
            cover(&mut short, &frees, |taker| may_take(taker, at));
        }
        let mut workloads: BTreeMap<Index, Workloads<'_>> = BTreeMap::new();
        // What is gone soonest counts first.
        leaving.sort_by_key(|one| (one.cap.is_some(), one.deadline, one.at, &one.pod.name, &one.pod.uid));
        for Leaving { deadline, at, pod, cap } in leaving {
            let Some((branch, leaf)) = tree.branches.get(at).zip(leaves.get(at).and_then(Option::as_ref))
            else {
                continue;
            };
            let Some((over, deserved)) = over.get_mut(at).zip(deserved.get(at)) else { continue };
            let frees = pod.requests().min(over);
            *over = over.less(pod.requests());
            let beneficiary = cover(&mut short, &frees, |taker| may_take(taker, at));
            let Some(cap) = cap else { continue };
            let workloads = workloads.entry(at).or_insert_with(|| Workloads::of(leaf.state));
            let has_the_cap_left = deadline.plus_seconds(i64::from(cap).saturating_neg());
            shortened.next_change = earliest(shortened.next_change, Some(has_the_cap_left));
            shortened.evictions.extend(beneficiary.map(|beneficiary| Eviction {
                beneficiary: Some(beneficiary),
                workload: workloads.of_pod(pod).cloned(),
                ..again(&branch.name, leaf, pod, deserved, cap)
            }));
        }
        shortened
    }
}

/// The terminating pods of queues that use more than they deserve; those with too long a grace only where the quota admits no
/// successor.
fn leaving<'a>(
    tree: &Tree<'_>,
    leaves: &'a [Option<Leaf<'_>>],
    over: &[Amounts],
    plan: &Plan,
    now: Timestamp,
) -> Vec<Leaving<'a>> {
    let mut all = Vec::new();
    for (at, ((branch, leaf), over)) in tree.branches.iter().zip(leaves).zip(over).enumerate() {
        let Some(leaf) = leaf.as_ref().filter(|leaf| leaf.namespace_usage.pods.terminating > 0) else {
            continue;
        };
        let in_force = plan.queues.get(&branch.name).is_some_and(|decided| decided.quota_in_force);
        if over.is_empty() || leaf.never_evicted || !branch.reach.evicts() {
            continue;
        }
        let most = leaf.eviction.most_grace_seconds();
        let latest = now.plus_seconds(i64::from(most));
        for pod in leaf.state.pods.iter().filter(|pod| pod.is_charged() && pod.non_preemptible.is_none()) {
            let Some(deadline) = pod.deletion.filter(|deadline| in_force || *deadline <= latest) else {
                continue;
            };
            all.push(Leaving { deadline, at, pod, cap: (deadline > latest).then_some(most) });
        }
    }
    all
}

/// The leaves that lack something and wait for pods of others to go; those behind the innermost fences first.
///
/// What a queue's own pods hold within its target comes back to it when they are gone, and until then the room of others
/// is of no use to it. So no queue both gives and lacks a resource, and the room of a pod goes to the queue that can
/// take from the fewest: then no order in which pods end covers more than another, and an eviction again changes nothing for the
/// rest.
fn short<'a>(
    snapshot: &Snapshot,
    tree: &'a Tree<'_>,
    leaves: &[Option<Leaf<'_>>],
    deserved: &[Amounts],
    plan: &Plan,
) -> Vec<Short<'a>> {
    let branches = tree.branches.iter().zip(leaves).zip(deserved).enumerate();
    let mut short: Vec<Short<'a>> = branches
        .filter_map(|(at, ((branch, leaf), deserved))| {
            let leaf = leaf.as_ref().filter(|leaf| !leaf.queue.is_delayed(snapshot.now))?;
            let comes_back = leaf.namespace_usage.charged.min(deserved).less(&leaf.staying);
            let lacking = plan.queues.get(&branch.name)?.lacking.less(&comes_back);
            let waits = branch.reach.evicts() && !lacking.is_empty();
            waits.then_some(Short { at, name: &branch.name, lacking })
        })
        .collect();
    let depth = |at| tree.fence_above(at).map_or(0, |fence| tree.path_up(fence).count());
    short.sort_by_key(|short| (std::cmp::Reverse(depth(short.at)), short.at));
    short
}

/// Books `frees` for the queues that may take it and lack some of it, and names the first of them.
fn cover(short: &mut [Short<'_>], frees: &Amounts, may_take: impl Fn(Index) -> bool) -> Option<QueueName> {
    let mut left = frees.clone();
    let mut first = None;
    for taker in short.iter_mut().filter(|short| may_take(short.at)) {
        let part = taker.lacking.min(&left);
        if !part.is_empty() {
            first.get_or_insert_with(|| taker.name.clone());
            taker.lacking = taker.lacking.less(&part);
            left = left.less(&part);
        }
    }
    first
}
