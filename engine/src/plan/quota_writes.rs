//! Which quotas have to be written, and whether those that stand are in force.

use super::{QuotaWrite, Reach};
use crate::amounts::{Amounts, Bounds, Resource};
use crate::snapshot::{Queue, Quota};

/// The quota to write, if the one that stands names other amounts or another Queue, or does not bear the ledger's stamp.
pub(super) fn quota_write(quota: Option<&Quota>, queue: &Queue, hard: Bounds) -> Option<QuotaWrite> {
    let owner = (!queue.leaving).then(|| queue.uid.clone());
    let is_owned = |quota: &Quota| owner.is_none() || quota.owner == owner;
    let stands = |quota: &Quota| quota.hard == hard && is_owned(quota) && !quota.unstamped;
    if quota.is_some_and(stands) {
        return None;
    }
    let standing = |resource| quota.and_then(|quota| quota.hard.get(resource));
    // Where nothing was restricted, any restriction lowers.
    let lowers =
        hard.iter().any(|(resource, amount)| standing(resource).is_none_or(|before| amount < before));
    Some(QuotaWrite { owner, hard, lowers })
}

/// Whether the quota of a queue with this `reach` is left as it stands, instead of this `write`.
///
/// While a pause lasts, nothing restricts the namespace more than before, and what a person made of the quota stays.
pub(super) fn is_left_alone(reach: &Reach, quota: Option<&Quota>, write: Option<&QuotaWrite>) -> bool {
    let is_changed = || quota.is_none_or(|quota| quota.drifted);
    let lowers = || write.is_some_and(|write| write.lowers);
    !reach.writes_quotas() || (reach.pause.is_some() && (is_changed() || lowers()))
}

/// Whether the quota that stands allows `allocated`, no more and no less, and admission knows.
pub(super) fn is_in_force(quota: &Quota, allocated: &Amounts, resources: &[Resource]) -> bool {
    resources.iter().all(|resource| {
        let wanted = Some(allocated.get(resource));
        quota.hard.get(resource) == wanted && quota.enforced.get(resource) == wanted
    })
}
