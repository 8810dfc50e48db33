//! Quotas: nothing grows but into what is free, and no stamp goes back.

use quotient_engine::amounts::Amounts;

use super::restraint;
use crate::judge::Judge;
use crate::truth::QuotaFacts;
use crate::violation::Invariant;
use crate::write::Write;

/// The promises that a write of a quota by the operator breaks. `capacity` and `held` were capacity and what all might hold, `was` what
/// this namespace might, `standing` its quota.
pub(crate) fn broken(
    judge: &Judge,
    write: &Write<'_>,
    (capacity, held): (&Amounts, &Amounts),
    was: &Amounts,
    standing: Option<&QuotaFacts>,
) -> Vec<(Invariant, String)> {
    let mut found: Vec<_> = restraint::quota(judge, write, standing).into_iter().collect();
    let place = judge.truth.places.get(write.namespace);
    let Some((place, quota)) = place.and_then(|place| Some((place, place.quota.as_ref()?))) else {
        return found;
    };
    let squeeze = judge.changes.squeeze();
    for (resource, hard) in quota.hard.iter() {
        let raise = place.hold().less(was).get(resource);
        if !raise.is_positive() {
            continue;
        }
        let fits = capacity.get(resource) + squeeze.get(resource);
        let all = held.get(resource) + raise;
        if all > fits {
            found.push((
                Invariant::NeverOverGranted,
                format!(
                    "{}: {resource} {} lets in {} more; all may hold {} of {}",
                    write.namespace,
                    resource.format(hard),
                    resource.format(raise),
                    resource.format(all),
                    resource.format(capacity.get(resource)),
                ),
            ));
        }
    }
    if let Some(standing) = standing.filter(|standing| standing.uid == quota.uid)
        && standing.stamp > quota.stamp
    {
        let message = format!("{}: from {:?} to {:?}", write.namespace, standing.stamp, quota.stamp);
        found.push((Invariant::GenerationsRise, message));
    }
    found
}
