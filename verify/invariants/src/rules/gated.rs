//! Gated pods once everything rests: none has room, and no gang is let in in part.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::amounts::Amounts;

use crate::cluster_state::{ClusterState, GangFacts, Place, PodFacts, Restraint};
use crate::violation::Invariant;

/// The promises that do not hold although everything rests.
pub(crate) fn broken(cluster: &ClusterState, at: i64) -> Vec<(Invariant, String)> {
    let mut found = Vec::new();
    for (namespace, place) in &cluster.places {
        found.extend(halves(namespace, place));
        if !cluster.restraint(namespace, at).is_some_and(Restraint::keeps_quota) {
            found.extend(waits_with_room(cluster, namespace, place));
        }
    }
    found
}

/// A gang of which some pods run, and not its minimum, while the others wait.
fn halves(namespace: &str, place: &Place) -> Vec<(Invariant, String)> {
    let gated = place.pods.values().filter(|pod| pod.is_gated);
    let gangs: BTreeSet<_> = gated.filter_map(|pod| pod.gang.as_ref()).collect();
    let half = |gang: &GangFacts| {
        let admitted = place.gang(&gang.name).admitted;
        let (minimum, name) = (gang.minimum, &gang.name);
        let message = format!("{namespace}: {admitted} of {minimum} pods of the gang {name} are let in");
        (admitted > 0 && admitted < minimum).then_some((Invariant::GangsWhole, message))
    };
    gangs.into_iter().filter_map(half).collect()
}

/// The first pod, or gang, of those that wait has room in what the ledger grants.
pub(super) fn waits_with_room(
    cluster: &ClusterState,
    namespace: &str,
    place: &Place,
) -> Option<(Invariant, String)> {
    let waiting = place.pods.iter().filter(|(_, pod)| pod.is_gated && fits_node(cluster, pod));
    let (name, pod) = waiting
        .min_by_key(|(name, pod)| (is_incomplete(place, pod), Reverse(pod.priority), &pod.created, *name))?;
    if is_incomplete(place, pod) {
        return None;
    }
    let message = |room: &str| format!("{namespace}/{name}: it waits, and {room}");
    if !place.is_in_gate_mode() {
        return Some((Invariant::NothingWaitsWithRoom, message("no queue in Gate mode governs it")));
    }
    let granted = cluster.enforced(namespace, place)?;
    let room = granted.less(&place.charged());
    let requests = requested_together(place, pod);
    let has_room = requests.iter().all(|(resource, amount)| amount <= room.get(resource));
    has_room.then(|| (Invariant::NothingWaitsWithRoom, message(&format!("{room} are free of {granted}"))))
}

/// Whether its gang lacks pods that are not there at all.
fn is_incomplete(place: &Place, pod: &PodFacts) -> bool {
    pod.gang.as_ref().is_some_and(|gang| place.gang(&gang.name).all < gang.minimum)
}

/// What it requests, or all that its gang lacks to its minimum.
fn requested_together(place: &Place, pod: &PodFacts) -> Amounts {
    let Some(gang) = &pod.gang else { return pod.requests.clone() };
    let lacks = gang.minimum.saturating_sub(place.gang(&gang.name).admitted).max(1);
    let of_gang = |other: &&PodFacts| other.gang.as_ref().is_some_and(|one| one.name == gang.name);
    let gated = place.pods.values().filter(|pod| pod.is_gated).filter(of_gang);
    gated.take(usize::try_from(lacks).unwrap_or(usize::MAX)).map(|pod| &pod.requests).sum()
}

fn fits_node(cluster: &ClusterState, pod: &PodFacts) -> bool {
    let mut nodes = cluster.nodes.values().filter(|node| node.counts);
    nodes.any(|node| pod.requests.iter().all(|(resource, amount)| amount <= node.allocatable.get(resource)))
}
