//! What stands in the way of queues that lack part of their share, and since when they do.

use crate::amounts::Amounts;
use crate::choice::ReclaimResult;
use crate::cluster::Cluster;
use crate::leaf::Leaf;
use crate::reasons::ShortReason;
use crate::snapshot::{GrantGate, Queue, Remembered};
use crate::time::Timestamp;
use crate::tree::BranchMap;

/// What stands in the way of queues that are short and not fenced in; `overdue` pods hang in Terminating.
pub(super) fn why_short(
    cluster: Cluster<'_>,
    allocated: &BranchMap<Amounts>,
    reclaim: &ReclaimResult,
    overdue: usize,
) -> ShortReason {
    let terminating = cluster.each_leaf().map(|leaf| leaf.namespace_usage.pods.terminating);
    let terminating = usize::try_from(terminating.fold(0, u32::saturating_add)).unwrap_or(usize::MAX);
    let lowers = |leaf: &Leaf<'_>| cluster.tree.branches[leaf.at].reach.lowers();
    let is_falling = |leaf: &Leaf<'_>| lowers(leaf) && leaf.falls_to(&allocated[leaf.at], cluster.governed);
    if terminating > overdue || reclaim.evictions.iter().any(|eviction| !reclaim.waits(eviction)) {
        ShortReason::WaitingForPreemption
    } else if let (Some(_), Some(reason)) =
        (&reclaim.unproven, cluster.snapshot.reclaim_gate.evictions_wait())
    {
        reason
    } else if !reclaim.evictions.is_empty() || cluster.each_leaf().any(is_falling) {
        ShortReason::WaitingForQuota
    } else if overdue > 0 {
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
