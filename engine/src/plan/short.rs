//! What stands in the way of those who lack part of their share, and since when they do.

use crate::amounts::{Amounts, Resource};
use crate::grants::Holder;
use crate::reason::Reason;
use crate::reclaim::Taken;
use crate::snapshot::{Growth, Queue, Remembered};
use crate::time::Timestamp;
use crate::tree::Tree;

/// What stands in the way of those who are short and not fenced in; `overdue` pods hang in Terminating.
pub(super) fn why_short(
    tree: &Tree<'_>,
    holders: &[Option<Holder<'_>>],
    granted: &[Amounts],
    taken: &Taken,
    overdue: usize,
    resources: &[Resource],
) -> Reason {
    let leaves =
        || holders.iter().zip(granted).filter_map(|(holder, granted)| Some((holder.as_ref()?, granted)));
    let terminating =
        |holder: &Holder<'_>| usize::try_from(holder.headcount.pods.terminating).unwrap_or(usize::MAX);
    let leaving = leaves().map(|(holder, _)| terminating(holder)).fold(0, usize::saturating_add);
    let may_fall = tree.branches.iter().map(|branch| branch.reach.lowers());
    let falling = (holders.iter().zip(granted).zip(may_fall)).any(|((holder, granted), may_fall)| {
        may_fall && holder.as_ref().is_some_and(|holder| falls(holder, granted, resources))
    });
    if leaving > overdue || taken.evictions.iter().any(|(_, quota_is_in_force)| *quota_is_in_force) {
        Reason::WaitingForPreemption
    } else if falling || !taken.evictions.is_empty() {
        Reason::WaitingForQuota
    } else if overdue > 0 {
        Reason::StuckTerminating
    } else {
        Reason::NothingToEvict
    }
}

/// Whether a leaf holds more than it will once its quota allows what is `granted`.
pub(super) fn falls(holder: &Holder<'_>, granted: &Amounts, resources: &[Resource]) -> bool {
    resources.iter().any(|resource| {
        let settled = granted.get(resource).max(holder.headcount.charged.get(resource));
        holder.hold(resource) > settled
    })
}

/// Why one of them is: nobody's share can grow, its own `obstacle`, or what stands in everybody's way.
pub(super) fn reason(growth: Growth, obstacle: Option<&Reason>, everybodys: Reason) -> Reason {
    match growth {
        Growth::Held => Reason::WaitingForLedger,
        Growth::Allowed => obstacle.copied().unwrap_or(everybodys),
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
