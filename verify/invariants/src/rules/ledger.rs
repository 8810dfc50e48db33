//! The ledger: what it grants is free, and what it promises is there once.

use crate::amounts::{Amounts, Resource};

use crate::checker::InvariantChecker;
use crate::cluster_state::LedgerFacts;
use crate::violation::Invariant;

/// The promises that a write of the ledger by the operator breaks. `standing` was the ledger before, `capacity` the capacity.
pub(crate) fn broken(
    checker: &InvariantChecker,
    standing: Option<&LedgerFacts>,
    capacity: &Amounts,
) -> Vec<(Invariant, String)> {
    let (Some(ledger), Some(standing)) = (&checker.cluster.ledger, standing) else { return Vec::new() };
    let fits = [capacity, &checker.changes.squeeze()].into_iter().sum();
    let over_granted = over_granted(checker, ledger, standing, &fits);
    over_granted.into_iter().chain(promised_twice(ledger, standing, &fits)).collect()
}

/// More is granted within targets than is free beside what others occupy.
fn over_granted(
    checker: &InvariantChecker,
    ledger: &LedgerFacts,
    standing: &LedgerFacts,
    fits: &Amounts,
) -> Option<(Invariant, String)> {
    let all = checker.cluster.all_occupied_since(standing);
    ledger.entries.iter().find_map(|(namespace, entry)| {
        let before = standing.entries.get(namespace).map(|entry| entry.largest.clone()).unwrap_or_default();
        let hold = checker.cluster.places.get(namespace)?.hold();
        let raised = entry.firm().less(&before.max(&hold));
        let (resource, raised) = raised.iter().find(|(resource, _)| exceeds(&all, fits, resource))?;
        let message = format!(
            "{namespace}: {} of {resource} more is granted; all may hold {} of {}",
            resource.format(raised),
            resource.format(all.get(resource)),
            resource.format(fits.get(resource)),
        );
        Some((Invariant::NeverOverGranted, message))
    })
}

/// What is granted within targets and what is owed come to more than there is.
fn promised_twice(
    ledger: &LedgerFacts,
    standing: &LedgerFacts,
    fits: &Amounts,
) -> Option<(Invariant, String)> {
    let (firm, owed) = (ledger.firm(), ledger.owed());
    let promised: Amounts = [&firm, &owed].into_iter().sum();
    // Loans become grants by demand alone, and nothing is owed beside them then.
    let grew = promised.less(&[standing.firm(), standing.owed()].into_iter().sum());
    let (resource, _) = grew
        .iter()
        .find(|(resource, _)| owed.get(resource).is_positive() && exceeds(&promised, fits, resource))?;
    let message = format!(
        "of {resource} {} is granted and {} owed, of {}",
        resource.format(firm.get(resource)),
        resource.format(owed.get(resource)),
        resource.format(fits.get(resource)),
    );
    Some((Invariant::PromisedOnce, message))
}

fn exceeds(amounts: &Amounts, fits: &Amounts, resource: &Resource) -> bool {
    amounts.get(resource) > fits.get(resource)
}
