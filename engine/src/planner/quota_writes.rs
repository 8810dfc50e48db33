//! Which quotas have to be written, and whether those that stand are in force.

use crate::amounts::{Amounts, Bounds, Resource};
use crate::plan::{QuotaWrite, Reach};
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

/// Whether in Gate mode the quota of a queue with this `reach` is left as it stands, instead of this `write`.
///
/// Nothing tells what a person made of the quota from a limit that was changed since, so both stay while a pause lasts. What
/// the ledger grants is no limit: it is from before Gate mode, and keeps pods out that are to be gated.
pub(super) fn is_limit_left_alone(reach: &Reach, quota: Option<&Quota>, write: Option<&QuotaWrite>) -> bool {
    let is_granted = |quota: &Quota| quota.granted.as_ref() == Some(&quota.hard);
    let changes = |write: &QuotaWrite| write.lowers || !quota.is_some_and(is_granted);
    reach.pause.is_some() && write.is_some_and(changes)
}

/// Whether the quota that stands allows `allocated`, no more and no less, and admission knows.
pub(super) fn is_in_force(quota: &Quota, allocated: &Amounts, resources: &[Resource]) -> bool {
    resources.iter().all(|resource| {
        let wanted = Some(allocated.get(resource));
        quota.hard.get(resource) == wanted && quota.enforced.get(resource) == wanted
    })
}

/// The quota to write in Gate mode, where it is to hold `limit`, or not to be there if that is nothing.
///
/// What the ledger grants moves no quota then, so the stamp of the quota may be older.
pub(super) fn limit_write(quota: Option<&Quota>, queue: &Queue, limit: &Bounds) -> Option<QuotaWrite> {
    let standing =
        quota.filter(|quota| is_there(quota)).map(|quota| Quota { unstamped: false, ..quota.clone() });
    if standing.is_none() && limit.is_empty() {
        return None;
    }
    quota_write(standing.as_ref(), queue, limit.clone())
        .or_else(|| limit.is_empty().then(|| QuotaWrite { owner: None, hard: Bounds::new(), lowers: false }))
}

/// Whether the quota that stands holds `limit` and no more, and admission knows.
pub(super) fn is_limit_in_force(quota: Option<&Quota>, write: Option<&QuotaWrite>, limit: &Bounds) -> bool {
    write.is_none() && (limit.is_empty() || quota.is_some_and(|quota| quota.enforced == *limit))
}

/// Whether the quota exists, as far as is seen. What was granted and never seen is a quota, too, and says nothing.
fn is_there(quota: &Quota) -> bool {
    quota.owner.is_some() || !quota.hard.is_empty() || !quota.enforced.is_empty()
}
