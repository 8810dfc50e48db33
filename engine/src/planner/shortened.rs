//! Terminating pods whose grace is longer than their queue allows, while another queue needs their room.
//!
//! Quotient gives a victim at most `eviction.maxGraceSeconds`. A pod that something else deleted may have hours, and its
//! room counts as on its way from the start, so that no other pod is evicted for it. Where a queue waits for that room,
//! the pod is evicted again with the cap. The API server counts the new grace from the first deletion, so the deadline is
//! never later than the cap from now, and no pod is found twice.

use std::collections::BTreeMap;

use super::stuck_terminating::again;
use crate::amounts::Amounts;
use crate::cluster::Cluster;
use crate::leaf::Leaf;
use crate::names::QueueName;
use crate::plan::{Eviction, Plan};
use crate::snapshot::Pod;
use crate::time::{Timestamp, earliest};
use crate::tree::{BranchId, BranchMap};
use crate::workloads::Workloads;

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
    leaf: &'a Leaf<'a>,
    pod: &'a Pod,
    /// The most grace that its queue allows, in seconds, where the pod has more left.
    cap: Option<u32>,
    /// Whether its room is counted on. With a long grace it is not while the quota may admit a successor.
    counts: bool,
}

/// A queue that lacks part of its share.
struct Short<'a> {
    at: BranchId,
    name: &'a QueueName,
    lacking: Amounts,
}

impl Shortened {
    /// The pods to evict again with the cap of their queue, as few as cover what other queues lack beside the pods that
    /// are gone sooner and the victims of `plan`.
    pub(super) fn of(cluster: Cluster<'_>, targets: &BranchMap<Amounts>, plan: &Plan) -> Self {
        let mut shortened = Self::default();
        if !cluster.each_leaf().any(|leaf| leaf.namespace_usage.pods.terminating > 0) {
            return shortened;
        }
        let tree = cluster.tree;
        let mut over = cluster.of_leaves(|leaf| leaf.namespace_usage.charged.less(&targets[leaf.at]));
        let mut leaving = leaving(cluster, &over, plan);
        if leaving.iter().all(|one| one.cap.is_none() || !one.counts) {
            return shortened;
        }
        let mut short = short(cluster, targets, plan);
        if short.is_empty() {
            return shortened;
        }
        let may_take = |taker: BranchId, of: BranchId| {
            let inside = |fence| tree.path_up(of).any(|(above, _)| above == fence);
            taker != of && tree.fence_above(taker).is_none_or(inside)
        };
        for victim in plan.evictions.iter().chain(&plan.waiting) {
            let Some(at) = tree.leaves.get(&victim.queue.namespace).copied() else { continue };
            let frees = victim.requests.min(&over[at]);
            over[at] = over[at].less(&victim.requests);
            cover(&mut short, &frees, |taker| may_take(taker, at));
        }
        let mut workloads: BTreeMap<BranchId, Workloads<'_>> = BTreeMap::new();
        // What is gone soonest counts first.
        leaving
            .sort_by_key(|one| (one.cap.is_some(), one.deadline, one.leaf.at, &one.pod.name, &one.pod.uid));
        for Leaving { deadline, leaf, pod, cap, counts } in leaving {
            let has_the_cap_left = cap.map(|cap| deadline.plus_seconds(i64::from(cap).saturating_neg()));
            shortened.next_change = earliest(shortened.next_change, has_the_cap_left);
            if !counts {
                continue;
            }
            let at = leaf.at;
            let frees = pod.requests().min(&over[at]);
            over[at] = over[at].less(pod.requests());
            let beneficiary = cover(&mut short, &frees, |taker| may_take(taker, at));
            let Some(cap) = cap else { continue };
            let workloads = workloads.entry(at).or_insert_with(|| Workloads::of(leaf.state));
            shortened.evictions.extend(beneficiary.map(|beneficiary| Eviction {
                beneficiary: Some(beneficiary),
                workload: workloads.of_pod(pod).cloned(),
                ..again(leaf, pod, &targets[at], cap)
            }));
        }
        shortened
    }
}

/// The terminating pods of queues that use more than they deserve; those with too long a grace count only where the quota admits
/// no successor.
fn leaving<'a>(cluster: Cluster<'a>, over: &BranchMap<Amounts>, plan: &Plan) -> Vec<Leaving<'a>> {
    let mut all = Vec::new();
    for leaf in cluster.each_leaf().filter(|leaf| leaf.namespace_usage.pods.terminating > 0) {
        let in_force = plan.queues.get(&leaf.name).is_some_and(|decided| decided.quota_in_force);
        let evicts = cluster.tree.branches[leaf.at].reach.evicts();
        if over[leaf.at].is_empty() || leaf.never_evicted || !evicts {
            continue;
        }
        let most = leaf.eviction.most_grace_seconds();
        let latest = cluster.snapshot.now.plus_seconds(i64::from(most));
        for pod in leaf.state.pods.iter().filter(|pod| pod.is_charged() && pod.kept.is_none()) {
            let Some(deadline) = pod.deletion else { continue };
            let cap = (deadline > latest).then_some(most);
            all.push(Leaving { deadline, leaf, pod, cap, counts: in_force || cap.is_none() });
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
fn short<'a>(cluster: Cluster<'a>, targets: &BranchMap<Amounts>, plan: &Plan) -> Vec<Short<'a>> {
    let tree = cluster.tree;
    let waiting = cluster.each_leaf().filter(|leaf| !leaf.queue.is_delayed(cluster.snapshot.now));
    let short = waiting.filter_map(|leaf| {
        let comes_back = leaf.namespace_usage.charged.min(&targets[leaf.at]).less(&leaf.staying);
        let lacking = plan.queues.get(&leaf.name)?.lacking.less(&comes_back);
        let waits = tree.branches[leaf.at].reach.evicts() && !lacking.is_empty();
        waits.then_some(Short { at: leaf.at, name: &leaf.name, lacking })
    });
    let mut short: Vec<Short<'a>> = short.collect();
    let depth = |at| tree.fence_above(at).map_or(0, |fence| tree.path_up(fence).count());
    short.sort_by_key(|short| (std::cmp::Reverse(depth(short.at)), short.at));
    short
}

/// Books `frees` for the queues that may take it and lack some of it, and names the first of them.
fn cover(short: &mut [Short<'_>], frees: &Amounts, may_take: impl Fn(BranchId) -> bool) -> Option<QueueName> {
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
