//! What has to be true once everything rests: shares add up, quotas say them, and a queue that lacks something says why.

use crate::amounts::{Amount, Amounts, Resource};

use crate::cluster_state::{ClusterState, Place, QueueFacts, Restraint};
use crate::violation::Invariant;

/// The conditions that say why a queue lacks part of what it deserves.
const EXCUSES: [&str; 2] = ["Starved", "Stalled"];

/// The promises that do not hold although everything rests.
pub(crate) fn broken(cluster: &ClusterState, at: i64) -> Vec<(Invariant, String)> {
    let mut found = Vec::new();
    let mut promised = Amounts::new();
    for (namespace, place) in &cluster.places {
        let Some((name, queue)) = place.leaf() else { continue };
        let is_stalled = queue.conditions.iter().any(|condition| condition == "Stalled");
        if is_stalled || cluster.restraint(namespace, at).is_some_and(Restraint::keeps_quota) {
            continue;
        }
        let of = format!("{namespace}/{name}");
        let deserved = queue.deserved.clone().unwrap_or_default();
        let target = cluster.target(namespace).unwrap_or(&deserved);
        found.extend(of_queue(&of, place, queue, target));
        promised.add_all(&queue.allocated.min(&deserved.min(target)));
        promised.add_all(&queue.preempting);
    }
    let capacity = cluster.capacity();
    for (resource, promised) in promised.iter() {
        if promised > capacity.get(resource) && cluster.held().get(resource) <= capacity.get(resource) {
            let (promised, capacity) = (resource.format(promised), resource.format(capacity.get(resource)));
            found.push((Invariant::Conserved, format!("{resource}: {promised} promised of {capacity}")));
        }
    }
    found
}

/// In Gate mode the quota holds the limit, and nothing else.
fn holds_the_limit(of: &str, place: &Place, queue: &QueueFacts) -> Option<(Invariant, String)> {
    let limit: Amounts = queue.limit.clone().into_iter().collect();
    let hard = place.quota.as_ref().map(|quota| quota.hard.clone()).unwrap_or_default();
    let message = || format!("{of}: it is in Gate mode with the limit {limit}, and its quota says {hard}");
    (hard != limit).then(|| (Invariant::QuotaIsAllocated, message()))
}

fn of_queue(of: &str, place: &Place, queue: &QueueFacts, target: &Amounts) -> Vec<(Invariant, String)> {
    let mut found = Vec::new();
    let Some(deserved) = &queue.deserved else {
        return vec![(Invariant::SharesArrive, format!("{of}: its status has no share"))];
    };
    let QueueFacts { allocated, preempting, .. } = queue;
    let missing = deserved.max(target).less(allocated);
    if preempting.less(&missing).iter().any(|one| matters(deserved, one)) {
        let message =
            format!("{of}: allocated {allocated} of {deserved} deserved, and {preempting} is promised");
        found.push((Invariant::SharesAddUp, message));
    }
    match &place.quota {
        _ if queue.is_in_gate_mode => found.extend(holds_the_limit(of, place, queue)),
        None => found.push((Invariant::QuotaIsAllocated, format!("{of}: it has no quota"))),
        Some(quota) if quota.hard != *allocated || quota.enforced != *allocated => {
            let message = format!(
                "{of}: allocated {allocated}, the quota says {} and enforces {}",
                quota.hard, quota.enforced
            );
            found.push((Invariant::QuotaIsAllocated, message));
        }
        Some(_) => {}
    }
    if let Some(lacking) = lacking_without_reason(place, queue, deserved, target) {
        found.push((Invariant::SharesArrive, format!("{of}: {lacking} is missing and nothing says why")));
    }
    found
}

/// A difference of less than 1 % is not worth a write.
fn matters(deserved: &Amounts, (resource, amount): (&Resource, Amount)) -> bool {
    amount.nano().saturating_mul(100) >= deserved.get(resource).nano()
}

/// What the queue lacks of its share and target although no condition says why.
pub(super) fn lacking_without_reason(
    place: &Place,
    queue: &QueueFacts,
    deserved: &Amounts,
    target: &Amounts,
) -> Option<Amounts> {
    let is_excused =
        queue.fits_no_node || queue.conditions.iter().any(|condition| EXCUSES.contains(&condition.as_str()));
    // What its own pods hold already is only missing in its quota.
    let within = deserved.min(target);
    let lacking = within.less(&queue.allocated).min(&within.less(&place.charged()));
    (lacking.iter().any(|one| matters(deserved, one)) && !is_excused).then_some(lacking)
}
