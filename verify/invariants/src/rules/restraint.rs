//! Modes and pauses: what an administrator withholds is not done.

use crate::checker::InvariantChecker;
use crate::cluster_state::{Mode, QuotaFacts, Restraint};
use crate::violation::Invariant;
use crate::write::Write;

/// The promises that an eviction breaks: from a queue that is not in mode Full or is paused, or for none but such queues.
/// A terminating pod that is evicted `again` may end sooner for its own queue.
pub(crate) fn eviction(
    checker: &InvariantChecker,
    write: &Write<'_>,
    again: bool,
) -> Option<(Invariant, String)> {
    let at = checker.time(write.at);
    let of = format!("{}/{}", write.namespace, write.name);
    let restraint = checker.cluster.restraint(write.namespace, at)?;
    if !restraint.evicts() {
        let is_known = !checker.changes.of_queues_above(&checker.cluster, write.namespace);
        let message = format!("{of}: evicted from a queue with {restraint:?}");
        return is_known.then_some((Invariant::Restrained, message));
    }
    if again || checker.changes.of_queues() {
        return None;
    }
    let pod = checker.cluster.pod(write.namespace, write.name)?;
    let is_exceeded = !checker.cluster.held().fits_in(&checker.cluster.capacity())
        || checker.exceeds_a_limit(write.namespace, &pod.requests);
    let others = checker.cluster.places.keys().filter(|namespace| *namespace != write.namespace);
    let mut gainers = others.filter_map(|namespace| checker.cluster.restraint(namespace, at));
    let is_for_none = !gainers.any(Restraint::evicts) && !is_exceeded;
    is_for_none.then(|| (Invariant::Restrained, format!("{of}: every queue that could gain is restrained")))
}

/// The promises that a write of a quota breaks: in a queue in mode Observe, or in a paused one that it restricts more.
pub(crate) fn quota(
    checker: &InvariantChecker,
    write: &Write<'_>,
    standing: Option<&QuotaFacts>,
) -> Option<(Invariant, String)> {
    let restraint = checker.cluster.restraint(write.namespace, checker.time(write.at))?;
    if checker.changes.of_queues_above(&checker.cluster, write.namespace) {
        return None;
    }
    let quota = checker.cluster.places.get(write.namespace)?.quota.as_ref()?;
    let restricts = standing.is_none_or(|standing| !standing.hard.fits_in(&quota.hard));
    let is_broken = restraint.mode == Mode::Observe || (restraint.is_paused && restricts);
    let before = || standing.map_or_else(|| "no quota".to_owned(), |standing| standing.hard.to_string());
    is_broken.then(|| {
        let message = format!("{}: from {} to {} with {restraint:?}", write.namespace, before(), quota.hard);
        (Invariant::Restrained, message)
    })
}
