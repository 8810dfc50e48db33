//! What stands in the way of those who lack part of their share, and since when they do.

use crate::amounts::{Amounts, Resource};
use crate::choice::ReclaimResult;
use crate::grants::{GrantInput, falls};
use crate::reason::Reason;
use crate::snapshot::{GrantGate, Queue, Remembered};
use crate::time::Timestamp;

/// What stands in the way of those who are short and not fenced in; `overdue` pods hang in Terminating.
pub(super) fn why_short(
    input: &GrantInput<'_>,
    allocated: &[Amounts],
    reclaim: &ReclaimResult,
    overdue: usize,
    resources: &[Resource],
) -> Reason {
    let leaving = input
        .leaves
        .iter()
        .flatten()
        .map(|leaf| usize::try_from(leaf.namespace_usage.pods.terminating).unwrap_or(usize::MAX));
    let leaving = leaving.fold(0, usize::saturating_add);
    let branches = input.tree.branches.iter().zip(allocated).enumerate();
    let falling = || {
        branches
            .clone()
            .any(|(at, (branch, allocated))| branch.reach.lowers() && falls(input, at, allocated, resources))
    };
    if leaving > overdue || reclaim.evictions.iter().any(|(_, quota_is_in_force)| *quota_is_in_force) {
        Reason::WaitingForPreemption
    } else if let (Some(_), Some(reason)) = (&reclaim.unproven, input.snapshot.reclaim_gate.evictions_wait())
    {
        reason
    } else if !reclaim.evictions.is_empty() || falling() {
        Reason::WaitingForQuota
    } else if overdue > 0 {
        Reason::StuckTerminating
    } else {
        Reason::NothingToEvict
    }
}

/// Why one of them is: nobody's share can grow, its own `obstacle`, or what stands in everybody's way.
pub(super) fn reason(grant_gate: GrantGate, obstacle: Option<&Reason>, everybodys: Reason) -> Reason {
    match grant_gate {
        GrantGate::Held => Reason::WaitingForLedger,
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
    // Never in the future: somebody's clock was wrong.
    let short_since = is_short.then(|| queue.remembered.short_since.unwrap_or(now).min(now));
    let due = short_since.map(|since| since.plus_seconds(i64::from(queue.reclaim.after_seconds)));
    (Remembered { short_since, ..remember }, due.filter(|due| *due > now))
}
