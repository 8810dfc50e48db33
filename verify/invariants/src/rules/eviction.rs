//! Evictions: fenced, needed, gentle, once, and never below a guarantee.

use serde_json::Value;

use super::restraint;
use crate::amounts::Resource;
use crate::checker::InvariantChecker;
use crate::cluster_state::{ClusterState, Place, PodFacts};
use crate::violation::Invariant;
use crate::write::Write;

/// The longest grace that a pod is given where its queue names none.
const MOST_GRACE_SECONDS: u64 = 600;

/// The promises that an eviction breaks; the pod is as it was before it.
pub(crate) fn broken(checker: &InvariantChecker, write: &Write<'_>) -> Vec<(Invariant, String)> {
    let Some(place) = checker.cluster.places.get(write.namespace) else { return Vec::new() };
    let Some(pod) = place.pods.get(write.name) else { return Vec::new() };
    let of = format!("{}/{}", write.namespace, write.name);
    let body = |pointer: &str| write.request.and_then(|request| request.pointer(pointer));
    let mut found = Vec::new();

    let uid = body("/deleteOptions/preconditions/uid").and_then(Value::as_str);
    if uid != Some(&pod.uid) {
        found.push((Invariant::EvictionNamesLife, format!("{of}: for uid {uid:?}, it has {}", pod.uid)));
    }
    let asked = body("/deleteOptions/gracePeriodSeconds").and_then(Value::as_u64);
    let by_force = asked == Some(0);
    let cap = place.leaf().and_then(|(_, queue)| queue.grace_seconds).unwrap_or(MOST_GRACE_SECONDS);
    // Something else gave it longer than its queue allows.
    let shortens = asked == Some(cap) && pod.deletion_grace_seconds.is_some_and(|given| given > cap);
    if by_force || shortens || !pod.is_terminating {
        found.extend(restraint::eviction(checker, write, pod.is_terminating));
    }
    if pod.is_terminating {
        if shortens {
            return found;
        }
        let wanted = place.leaf().is_some_and(|(_, queue)| queue.force_after.is_some());
        if by_force && !wanted {
            found.push((Invariant::Gentle, format!("{of}: by force, and its queue does not say so")));
        } else if !by_force && !checker.tolerance.repeats {
            found.push((Invariant::EvictedOnce, format!("{of}: it was on its way out already")));
        }
        return found;
    }
    let above_quota = above_quota(checker, write.namespace, place, pod);
    if !checker.tolerance.moves && above_quota.is_empty() && !quota_just_changed(checker, write) {
        let enforced = checker.cluster.enforced(write.namespace, place).map(ToString::to_string);
        let enforced = enforced.unwrap_or_else(|| "no quota".to_owned());
        let message =
            format!("{of} ({}): live pods request {}, allowed is {enforced}", pod.requests, place.live());
        found.push((Invariant::FencedAndNeeded, message));
    }
    let is_for_a_queue = !checker.tolerance.moves
        && checker.tolerance.under_way == 0
        && !checker.exceeds_a_limit(write.namespace, &pod.requests);
    if is_for_a_queue && !checker.owes(&pod.requests, write.at) {
        found.push((Invariant::OwedFirst, format!("{of} ({}): the ledger owes none of it", pod.requests)));
    }
    let grace = pod.grace_seconds.unwrap_or(30);
    if by_force && grace > 0 && place.leaf().and_then(|(_, queue)| queue.grace_seconds) != Some(0) {
        found.push((Invariant::Gentle, format!("{of}: at once, and it may take {grace} s")));
    }
    found.extend(guarantee(&checker.cluster, place, pod, &above_quota, &of));
    found
}

/// Of which resources that this pod has live pods request more than is enforced; or did, until others left a moment ago.
fn above_quota(checker: &InvariantChecker, namespace: &str, place: &Place, pod: &PodFacts) -> Vec<Resource> {
    let mut live = place.live();
    live.add_all(&checker.changes.given_up(namespace));
    let Some(enforced) = checker.cluster.enforced(namespace, place) else { return Vec::new() };
    let requested = pod.requests.iter().map(|(resource, _)| resource);
    requested.filter(|resource| live.get(resource) > enforced.get(resource)).cloned().collect()
}

/// Whether others have just edited the quota, or the operator has opened one that was enforced.
fn quota_just_changed(checker: &InvariantChecker, write: &Write<'_>) -> bool {
    let opened = checker.opened.get(write.namespace);
    let by_operator = opened.is_some_and(|at| write.at.saturating_sub(*at) < checker.tolerance.under_way);
    checker.changes.of_quota(write.namespace) || by_operator
}

/// Whether the pod leaves its queue less than is guaranteed of what is reclaimed: of what is above the quota, for the quota
/// is lowered before any pod goes. Where nothing is, of all.
fn guarantee(
    cluster: &ClusterState,
    place: &Place,
    pod: &PodFacts,
    above_quota: &[Resource],
    of: &str,
) -> Option<(Invariant, String)> {
    let (_, queue) = place.leaf()?;
    let deserved = queue.deserved.as_ref()?;
    let live = place.live();
    let is_reclaimed = |resource: &Resource| above_quota.is_empty() || above_quota.contains(resource);
    let mut reclaimed = queue.guaranteed.iter().filter(|(resource, _)| is_reclaimed(resource));
    let short = reclaimed.find(|(resource, guaranteed)| {
        let floor = (*guaranteed).min(deserved.get(resource)).max(cluster.claim(queue, resource));
        let taken = pod.requests.get(resource);
        taken.is_positive() && live.get(resource) - taken < floor
    });
    let (resource, guaranteed) = short?;
    let (live, guaranteed) = (resource.format(live.get(resource)), resource.format(guaranteed));
    Some((
        Invariant::GuaranteeKept,
        format!("{of} ({}): of {resource} {live} are live, {guaranteed} guaranteed", pod.requests),
    ))
}
