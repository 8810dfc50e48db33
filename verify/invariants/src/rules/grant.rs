//! Quotas: nothing grows but into what the ledger grants, or what is free where there never was one; loans overlap within bounds,
//! and no stamp goes back.

use crate::amounts::{Amounts, Resource};

use super::restraint;
use crate::checker::InvariantChecker;
use crate::cluster_state::QuotaFacts;
use crate::violation::Invariant;
use crate::write::Write;

/// The promises that a write of a quota by the operator breaks. `capacity` and `held` were capacity and what all might hold,
/// `was` what this namespace might, `standing` its quota.
pub(crate) fn broken(
    checker: &InvariantChecker,
    write: &Write<'_>,
    (capacity, held): (&Amounts, &Amounts),
    was: &Amounts,
    standing: Option<&QuotaFacts>,
) -> Vec<(Invariant, String)> {
    let mut found: Vec<_> = restraint::quota(checker, write, standing).into_iter().collect();
    let place = checker.cluster.places.get(write.namespace);
    let Some((place, quota)) = place.and_then(|place| Some((place, place.quota.as_ref()?))) else {
        return found;
    };
    let squeeze = checker.changes.squeeze();
    found.extend(loans_overlap(checker, write, capacity, &squeeze, &place.hold().less(was)));
    if let Some(ledger) = &checker.cluster.last_ledger {
        let granted =
            ledger.entries.get(write.namespace).map(|entry| entry.largest.clone()).unwrap_or_default();
        let raised = place.hold().less(&was.max(&granted));
        // A ledger that was restored from a backup grants less than stands; what has room takes from no queue.
        let occupied = checker.cluster.all_occupied();
        let exceeds = |one| occupied.get(one) + raised.get(one) > capacity.get(one) + squeeze.get(one);
        if raised.iter().any(|(one, _)| exceeds(one)) {
            let message = format!("{}: {raised} more than the ledger grants", write.namespace);
            found.push((Invariant::NeverOverGranted, message));
        }
        found.extend(goes_back(write, quota, standing));
        return found;
    }
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
    found.extend(goes_back(write, quota, standing));
    found
}

fn goes_back(
    write: &Write<'_>,
    quota: &QuotaFacts,
    standing: Option<&QuotaFacts>,
) -> Option<(Invariant, String)> {
    let standing = standing.filter(|standing| standing.uid == quota.uid && standing.stamp > quota.stamp)?;
    let message = format!("{}: from {:?} to {:?}", write.namespace, standing.stamp, quota.stamp);
    Some((Invariant::GenerationsRise, message))
}

/// All quotas together allow one and a half times the capacity or more, and this one has `raised` that.
fn loans_overlap(
    checker: &InvariantChecker,
    write: &Write<'_>,
    capacity: &Amounts,
    squeeze: &Amounts,
    raised: &Amounts,
) -> Option<(Invariant, String)> {
    let all = checker.cluster.allowed(write.at);
    ["cpu", "memory"].map(Resource::named).iter().filter(|one| raised.get(one).is_positive()).find_map(
        |one| {
            let fits = capacity.get(one) + squeeze.get(one);
            let is_too_much = all.get(one).nano().saturating_mul(2) >= fits.nano().saturating_mul(3);
            let message = || {
                let (all, fits) = (one.format(all.get(one)), one.format(fits));
                format!("{}: all quotas allow {one} {all} of {fits}", write.namespace)
            };
            is_too_much.then(|| (Invariant::LoansBounded, message()))
        },
    )
}
