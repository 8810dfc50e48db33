//! What every queue's quota allows next, and what it is promised (S-PREEMPT §Preemption stage).
//!
//! One step of a level-triggered function, per queue and resource, with D deserved and A what the quota allows:
//!
//! * case 01, D < A: the quota drops to D at once. What nobody uses is free as soon as the lower quota is in
//!   force; what pods still hold is to be preempted.
//! * case 02, D = A: nothing happens.
//! * case 03, D > A: the quota rises at no cost up to what the queue holds already, and above that by what is
//!   free. The rest is promised: Preempting.

use crate::amounts::{Amount, Amounts, Resource};
use crate::census::Headcount;
use crate::shares::{Level, fill};
use crate::snapshot::{Queue, Quota};

/// What is known of one queue when grants are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holder<'a> {
    pub(crate) queue: &'a Queue,
    pub(crate) quota: Option<&'a Quota>,
    pub(crate) headcount: &'a Headcount,
    pub(crate) deserved: &'a Amounts,
}

impl Holder<'_> {
    /// What its quota allows as it was written last; what is charged if it restricts nothing.
    pub(crate) fn allocated(&self, resource: &Resource) -> Amount {
        self.quota
            .and_then(|quota| quota.hard.get(resource))
            .unwrap_or_else(|| self.headcount.charged.get(resource))
    }

    /// The most that it can still occupy, as far as has been observed: its hold.
    pub(crate) fn hold(&self, resource: &Resource) -> Amount {
        let ceiling = self.quota.map(|quota| quota.ceiling(resource)).unwrap_or_default();
        ceiling.max(self.headcount.charged.get(resource))
    }
}

/// The next allocated amounts of `holders`, which are sorted by path, in the same order.
///
/// Keeps Σ max(hold, allocated) ≤ C wherever Σ hold ≤ C held before: nothing grows but into what is free.
pub(crate) fn grants(holders: &[Holder<'_>], capacity: &Amounts, resources: &[Resource]) -> Vec<Amounts> {
    let mut all = vec![Amounts::new(); holders.len()];
    for resource in resources {
        let granted = grant_one(holders, capacity.get(resource), resource);
        for (amounts, granted) in all.iter_mut().zip(granted) {
            amounts.set(resource, granted);
        }
    }
    all
}

fn grant_one(holders: &[Holder<'_>], capacity: Amount, resource: &Resource) -> Vec<Amount> {
    // No capacity in sight is more often a blind operator than an empty cluster: nothing shrinks.
    if capacity.is_zero() {
        return holders.iter().map(|holder| holder.allocated(resource)).collect();
    }
    let deserved: Vec<Amount> = holders.iter().map(|holder| holder.deserved.get(resource)).collect();
    let mut granted: Vec<Amount> = holders
        .iter()
        .zip(&deserved)
        .map(|(holder, deserved)| holder.hold(resource).max(holder.allocated(resource)).min(*deserved))
        .collect();

    let held: Amount = holders.iter().map(|holder| holder.hold(resource)).sum();
    let mut free = capacity.less(held);
    let guaranteed: Vec<Amount> = holders
        .iter()
        .zip(&deserved)
        .map(|(holder, deserved)| holder.queue.guaranteed.get(resource).unwrap_or_default().min(*deserved))
        .collect();
    free = raise(&mut granted, &guaranteed, &deserved, free, resource.quantum());
    raise(&mut granted, &deserved, &deserved, free, resource.quantum());
    granted
}

/// Raises `granted` towards `target` out of `free`, the lowest granted/deserved first; returns what stays free.
fn raise(
    granted: &mut [Amount],
    target: &[Amount],
    deserved: &[Amount],
    free: Amount,
    quantum: i128,
) -> Amount {
    let missing: Amount = granted.iter().zip(target).map(|(granted, target)| target.less(*granted)).sum();
    if missing <= free {
        for (granted, target) in granted.iter_mut().zip(target) {
            *granted = (*granted).max(*target);
        }
        return free - missing;
    }
    let whole = |amount: Amount| amount.units().checked_div(quantum).unwrap_or(0);
    let levels: Vec<Level> = granted
        .iter()
        .zip(target)
        .zip(deserved)
        .map(|((granted, target), deserved)| Level {
            have: whole(*granted),
            room: whole(target.less(*granted) + Amount::new(quantum.saturating_sub(1))),
            weight: whole(*deserved).max(1),
        })
        .collect();
    let mut left = free;
    for ((granted, target), quanta) in granted.iter_mut().zip(target).zip(fill(whole(free), &levels)) {
        let raised = (*granted + Amount::new(quanta.saturating_mul(quantum))).min((*target).max(*granted));
        left -= raised - *granted;
        *granted = raised;
    }
    left
}
