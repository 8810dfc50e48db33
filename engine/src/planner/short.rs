//! What stands in the way of queues that lack part of their share.

use crate::amounts::Amounts;
use crate::choice::ReclaimResult;
use crate::cluster::Cluster;
use crate::leaf::Leaf;
use crate::reasons::ShortReason;
use crate::snapshot::Pod;
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
    if pods.any(ends) || reclaim.evictions().any(|eviction| !reclaim.waits(eviction)) {
        ShortReason::WaitingForPreemption
    } else if let (Some(_), Some(reason)) =
        (&reclaim.unproven, cluster.snapshot.reclaim_gate.evictions_wait())
    {
        reason
    } else if reclaim.evictions().next().is_some() || cluster.each_leaf().any(is_falling) {
        ShortReason::WaitingForQuota
    } else if cluster.each_leaf().any(|leaf| is_losing(&leaf)) {
        ShortReason::StuckTerminating
    } else {
        ShortReason::NothingToEvict
    }
}
