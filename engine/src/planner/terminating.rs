//! Terminating pods: those that hang, and those that are evicted again with less grace.
//!
//! A pod past its deadline is evicted again without grace where its queue says so.
//!
//! Quotient gives a victim at most `eviction.maxGraceSeconds`. A pod that something else deleted may have hours, and its
//! room counts as on its way from the start, so that no other pod is evicted for it. Where a queue waits for that room,
//! the pod is evicted again with the cap. The API server counts the new grace from the first deletion, so the deadline is
//! never later than the cap from now, and no pod is found twice.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::amounts::Amounts;
use crate::cluster::Cluster;
use crate::leaf::Leaf;
use crate::names::QueueName;
use crate::plan::{Eviction, Plan, PodId, Stage};
use crate::reasons::EvictionReason;
use crate::snapshot::Pod;
use crate::time::{Timestamp, earliest};
use crate::tree::{BranchId, BranchMap};

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

/// Writes down in `plan` which terminating pods hang, and which are evicted again.
pub(super) fn report(cluster: Cluster<'_>, targets: &BranchMap<Amounts>, plan: &mut Plan) {
    let is_losing = |leaf: &&Leaf<'_>| leaf.namespace_usage.pods.terminating > 0;
    if !cluster.each_leaf().any(|leaf| is_losing(&leaf)) {
        return;
    }
    let over = cluster.of_leaves(|leaf| leaf.namespace_usage.charged.less(&targets[leaf.at]));
    let (mut forced, mut leaving) = (Vec::new(), Vec::new());
    for leaf in cluster.each_leaf().filter(is_losing) {
        forced.extend(hanging(leaf, &targets[leaf.at], cluster.snapshot.now, plan));
        if !over[leaf.at].is_empty() && !leaf.never_evicted && leaf.reach.evicts() {
            leaving.extend(leaving_pods(leaf, cluster.snapshot.now, plan));
        }
    }
    plan.overdue.sort();
    forced.sort_by(|a: &Eviction, b| a.pod.cmp(&b.pod));
    if plan.held.is_none() {
        let capped = capped(cluster, targets, over, leaving, plan);
        plan.shortened = forced;
        plan.shortened.extend(capped);
    }
}

/// The pods of `leaf` that it wants gone without grace by now. A pod whose deletion was asked for without grace already is left
/// alone: nothing more can be asked for.
///
/// Writes down in `plan` those that will hardly go by themselves, when the first of all began to terminate, and when the next one
/// hangs.
fn hanging(leaf: &Leaf<'_>, target: &Amounts, now: Timestamp, plan: &mut Plan) -> Vec<Eviction> {
    let mut forced = Vec::new();
    for pod in leaf.state.pods.iter().filter(|pod| pod.is_charged()) {
        let (Some(deadline), Some(since)) = (pod.deletion, pod.terminating_since()) else { continue };
        let first = plan.terminating_since.entry(leaf.name.clone()).or_insert(since);
        *first = since.min(*first);
        let mut is_past = |wait: i64| {
            let at = deadline.plus_seconds(wait);
            if at > now {
                plan.next_change = earliest(plan.next_change, Some(at));
            }
            at <= now
        };
        let is_overdue = is_past(Pod::OVERDUE_SECONDS);
        let may_be_forced = !pod.forced && pod.kept.is_none() && leaf.reach.evicts();
        let wait = leaf.eviction.force_after_seconds.filter(|_| may_be_forced);
        if wait.is_some_and(|wait| is_past(i64::from(wait))) {
            forced.push(Eviction { reason: EvictionReason::ForceDeleted, ..again(leaf, pod, target, 0) });
        }
        plan.overdue.extend(is_overdue.then(|| PodId::of(&leaf.name.namespace, pod)));
    }
    forced
}

/// The terminating pods of `leaf`; those with too long a grace count only where the quota admits no successor.
fn leaving_pods<'a>(leaf: &'a Leaf<'a>, now: Timestamp, plan: &Plan) -> Vec<Leaving<'a>> {
    let in_force = plan.queues.get(&leaf.name).is_some_and(|decided| decided.quota_in_force);
    let most = leaf.eviction.most_grace_seconds();
    let latest = now.plus_seconds(i64::from(most));
    let pods = leaf.state.pods.iter().filter(|pod| pod.is_charged() && pod.kept.is_none());
    let leaving = pods.filter_map(|pod| {
        let deadline = pod.deletion?;
        let cap = (deadline > latest).then_some(most);
        Some(Leaving { deadline, leaf, pod, cap, counts: in_force || cap.is_none() })
    });
    leaving.collect()
}

/// The evictions of pods that are `leaving` with the cap of their queue: as few as cover what other queues lack beside the pods
/// that are gone sooner and the victims of `plan`. Those with the earliest deadline come first.
///
/// `over` is what queues use above their targets. `plan` gets the time at which the first pod with a long grace has no more than
/// the cap left.
fn capped(
    cluster: Cluster<'_>,
    targets: &BranchMap<Amounts>,
    mut over: BranchMap<Amounts>,
    mut leaving: Vec<Leaving<'_>>,
    plan: &mut Plan,
) -> Vec<Eviction> {
    let mut evictions = Vec::new();
    if leaving.iter().all(|one| one.cap.is_none() || !one.counts) {
        return evictions;
    }
    let tree = cluster.tree;
    let mut short = short(cluster, targets, plan);
    if short.is_empty() {
        return evictions;
    }
    let may_take = |taker: BranchId, of: BranchId| {
        taker != of && tree.fence_above(taker).is_none_or(|fence| tree.is_below(of, fence))
    };
    for victim in plan.evictions.iter().chain(&plan.waiting) {
        let Some(at) = tree.leaves.get(&victim.queue.namespace).copied() else { continue };
        let frees = victim.requests.min(&over[at]);
        over[at] = over[at].less(&victim.requests);
        cover(&mut short, &frees, |taker| may_take(taker, at));
    }
    // What is gone soonest counts first.
    leaving.sort_by_key(|one| (one.cap.is_some(), one.deadline, one.leaf.at, &one.pod.name, &one.pod.uid));
    for Leaving { deadline, leaf, pod, cap, counts } in leaving {
        let has_the_cap_left = cap.map(|cap| deadline.plus_seconds(i64::from(cap).saturating_neg()));
        plan.next_change = earliest(plan.next_change, has_the_cap_left);
        if !counts {
            continue;
        }
        let at = leaf.at;
        let frees = pod.requests().min(&over[at]);
        over[at] = over[at].less(pod.requests());
        let beneficiary = cover(&mut short, &frees, |taker| may_take(taker, at));
        evictions.extend(
            cap.filter(|_| beneficiary.is_some())
                .map(|cap| Eviction { beneficiary, ..again(leaf, pod, &targets[at], cap) }),
        );
    }
    evictions
}

/// The eviction of a terminating pod of `leaf` with the grace `grace_seconds`.
fn again<'a>(leaf: &Leaf<'a>, pod: &'a Pod, target: &Amounts, grace_seconds: u32) -> Eviction {
    Eviction {
        pod: PodId::of(&leaf.name.namespace, pod),
        workload: leaf.workload_of(pod).cloned(),
        queue: leaf.name.clone(),
        beneficiary: None,
        reason: EvictionReason::GraceShortened,
        stage: Stage::Terminating,
        rank: None,
        priority: pod.priority,
        requests: pod.requests().clone(),
        used: Arc::new(leaf.namespace_usage.charged.clone()),
        deserved: Arc::new(target.clone()),
        grace_seconds: Some(grace_seconds),
    }
}

/// The leaves that lack something and wait for pods of others to go; those behind the innermost fences first.
///
/// What a queue's own pods hold within its target comes back to it when they are gone, and until then the room of others
/// is of no use to it. So no queue both gives and lacks a resource, and the room of a pod goes to the queue that can
/// take from the fewest: then no order in which pods end covers more than another, and an eviction again changes nothing for the
/// rest.
fn short<'a>(cluster: Cluster<'a>, targets: &BranchMap<Amounts>, plan: &Plan) -> Vec<Short<'a>> {
    let waiting = cluster.each_leaf().filter(|leaf| !leaf.queue.is_delayed(cluster.snapshot.now));
    let short = waiting.filter_map(|leaf| {
        let comes_back = leaf.namespace_usage.charged.min(&targets[leaf.at]).less(&leaf.staying);
        let lacking = plan.queues.get(&leaf.name)?.lacking.less(&comes_back);
        let waits = leaf.reach.evicts() && !lacking.is_empty();
        waits.then_some(Short { at: leaf.at, name: &leaf.name, lacking })
    });
    let mut short: Vec<Short<'a>> = short.collect();
    short.sort_by_key(|short| (Reverse(cluster.tree.depth_of_fence(short.at)), short.at));
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
