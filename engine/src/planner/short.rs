//! What stands in the way of queues that lack part of their share, and since when they do.

use crate::amounts::Amounts;
use crate::choice::ReclaimResult;
use crate::cluster::Cluster;
use crate::leaf::Leaf;
use crate::reasons::ShortReason;
use crate::snapshot::{GrantGate, Pod, Queue, Remembered};
use crate::time::Timestamp;
use crate::tree::BranchMap;

/// What stands in the way of queues that are short and not fenced in.
pub(super) fn why_short(
    cluster: Cluster<'_>,
    allocated: &BranchMap<Amounts>,
    reclaim: &ReclaimResult,
) -> ShortReason {
    let is_losing = |leaf: &&Leaf<'_>| leaf.namespace_usage.pods.terminating > 0;
    let ends = |pod: &Pod| pod.is_charged() && pod.is_terminating() && !pod.is_overdue(cluster.snapshot.now);
    let mut pods = cluster.each_leaf().filter(is_losing).flat_map(|leaf| &leaf.state.pods);
    let is_falling =
        |leaf: &Leaf<'_>| leaf.reach.lowers() && leaf.falls_to(&allocated[leaf.at], cluster.governed);
    if pods.any(ends) || reclaim.evictions.iter().any(|eviction| !reclaim.waits(eviction)) {
        ShortReason::WaitingForPreemption
    } else if let (Some(_), Some(reason)) =
        (&reclaim.unproven, cluster.snapshot.reclaim_gate.evictions_wait())
    {
        reason
    } else if !reclaim.evictions.is_empty() || cluster.each_leaf().any(is_falling) {
        ShortReason::WaitingForQuota
    } else if cluster.each_leaf().any(|leaf| is_losing(&leaf)) {
        ShortReason::StuckTerminating
    } else {
        ShortReason::NothingToEvict
    }
}

/// Why one of them is: no share can grow, its own `obstacle`, or what stands in the way of all.
pub(super) fn reason(
    grant_gate: GrantGate,
    obstacle: Option<&ShortReason>,
    everybodys: ShortReason,
) -> ShortReason {
    match grant_gate {
        GrantGate::Held => ShortReason::WaitingForLedger,
        GrantGate::Allowed => obstacle.copied().unwrap_or(everybodys),
    }
}

/// `remember`, with since when `queue` has been short; and when it has waited long enough for pods to go for it.
pub(super) fn since(
    queue: &Queue,
    is_short: bool,
    remember: Remembered,
    now: Timestamp,
) -> (Remembered, Option<Timestamp>) {
    // Never in the future: a clock was wrong.
    let short_since = is_short.then(|| queue.remembered.short_since.unwrap_or(now).min(now));
    let due = short_since.map(|since| since.plus_seconds(i64::from(queue.reclaim.after_seconds)));
    (Remembered { short_since, ..remember }, due.filter(|due| *due > now))
}
