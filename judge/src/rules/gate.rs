//! Gates: in Gate mode none is removed above what the ledger grants.

use crate::judge::Judge;
use crate::violation::Invariant;
use crate::write::Write;

/// The promise that the removal of a gate breaks; the pod is as it is after it.
pub(crate) fn broken(judge: &Judge, write: &Write<'_>) -> Option<(Invariant, String)> {
    let place = judge.truth.places.get(write.namespace).filter(|place| place.is_in_gate_mode())?;
    let pod = place.pods.get(write.name)?;
    // The mode may have changed since the operator decided.
    if judge.changes.of_queues_above(&judge.truth, write.namespace) {
        return None;
    }
    let granted = judge.truth.enforced(write.namespace, place).cloned().unwrap_or_default();
    // What others took a moment ago the operator may not have seen.
    let used = place.charged().less(&judge.changes.squeeze());
    let (resource, _) =
        pod.requests.iter().find(|(resource, _)| used.get(resource) > granted.get(resource))?;
    let (used, granted) = (resource.format(used.get(resource)), resource.format(granted.get(resource)));
    let message = format!(
        "{}/{} ({}): of {resource} {used} are in use, {granted} granted",
        write.namespace, write.name, pod.requests
    );
    Some((Invariant::GatesWithinShare, message))
}
