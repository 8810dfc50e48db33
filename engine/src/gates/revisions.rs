//! Of the pods of a Deployment that wait during a rollout those of the newest revision come first.
//!
//! *Why*: by age alone the pods of a revision that is being replaced would take the room, and be deleted soon after.

use std::cmp::Reverse;

use super::unit::GatedUnit;
use crate::keyed::KeyedMap;
use crate::leaf::Leaf;
use crate::names::OwnerUid;
use crate::time::Timestamp;

/// What units have in common that may change places: the Deployment, whether a node could run them, and the priority.
type Alike<'a> = (&'a OwnerUid, bool, i32);

/// `units`, which are in order, with the newest revision of each Deployment in the first of the Deployment's places.
pub(super) fn newest_first<'a>(units: Vec<GatedUnit<'a>>, leaf: &Leaf<'_>) -> Vec<GatedUnit<'a>> {
    let all = leaf.state.owners.iter();
    let revisions: KeyedMap<&OwnerUid, (&OwnerUid, Timestamp)> =
        all.filter_map(|owner| Some((&owner.uid, (owner.deployment()?, owner.created)))).collect();
    let mut places: KeyedMap<Alike<'_>, Vec<(Timestamp, usize)>> = KeyedMap::default();
    for (place, unit) in units.iter().enumerate() {
        let Some(pod) = unit.pods.first() else { continue };
        let Some((deployment, created)) = pod.owner().and_then(|owner| revisions.get(owner)) else {
            continue;
        };
        let alike = (*deployment, unit.fits_node, pod.priority);
        places.entry(alike).or_default().push((*created, place));
    }
    let mut order: Vec<usize> = (0..units.len()).collect();
    for of_deployment in places.into_values() {
        let mut newest = of_deployment.clone();
        newest.sort_by_key(|(created, _)| Reverse(*created));
        for ((_, place), (_, from)) in of_deployment.into_iter().zip(newest) {
            if let Some(slot) = order.get_mut(place) {
                *slot = from;
            }
        }
    }
    let mut units: Vec<Option<GatedUnit<'a>>> = units.into_iter().map(Some).collect();
    order.into_iter().filter_map(|from| units.get_mut(from)?.take()).collect()
}
