//! What stands in the way of those who lack part of their share, and since when they do.

use crate::amounts::{Amounts, Resource};
use crate::grants::Holder;
use crate::reason::Reason;
use crate::reclaim::Taken;
use crate::snapshot::{Queue, Remembered};
use crate::time::Timestamp;

/// What stands in the way of those who are short and not fenced in.
pub(super) fn why_short(
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

/// `remember`, with since when `queue` has been short; and when it has waited long enough for pods to go for it.
pub(super) fn since(
    queue: &Queue,
    is_short: bool,
    remember: Remembered,
    now: Timestamp,
) -> (Remembered, Option<Timestamp>) {
    // Never in the future: somebody's clock was wrong.
    let short_since = is_short.then(|| queue.remembered.short_since.unwrap_or(now).min(now));
    let due = short_since.map(|since| since.plus_seconds(i64::from(queue.delay_seconds)));
    (Remembered { short_since, ..remember }, due.filter(|due| *due > now))
}
