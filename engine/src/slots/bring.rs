//! From slots to the parallelism that Jobs get now.

use std::cmp::Reverse;

use super::claim::GangClaim;
use super::room::{ResourceVec, Room, vector};
use crate::amounts::{Amounts, Resource};

/// How many pods each Job may run now, on its way to its `slots`; an entry for each claim, in their order.
///
/// What is to be less is less at once. What is to be more has to fit in `free`, which is what admission still lets in beside
/// all pods that are there and those that are about to come: a Job whose pods are refused waits ever longer. A gang that
/// has less than its floor gets all that it lacks to it or nothing.
pub(crate) fn bring(
    claims: &[GangClaim],
    slots: &[Vec<u32>],
    free: &Amounts,
    resources: &[Resource],
) -> Vec<Vec<u32>> {
    let mut free = Room(vector(resources, free));
    let mut brought = vec![Vec::new(); claims.len()];
    let mut order: Vec<_> = claims.iter().zip(slots).zip(&mut brought).collect();
    order.sort_by_cached_key(|((claim, _), _)| {
        (!claim.admitted, !claim.intact, Reverse(claim.priority), claim.created, claim.name.clone())
    });
    for ((claim, slots), brought) in order {
        *brought = bring_one(claim, slots, &mut free, resources);
    }
    brought
}

fn bring_one(claim: &GangClaim, slots: &[u32], free: &mut Room, resources: &[Resource]) -> Vec<u32> {
    let parallelism = claim.tasks.iter().map(|task| task.parallelism);
    if claim.is_losing {
        return parallelism.collect();
    }
    let vectors: Vec<ResourceVec> =
        claim.tasks.iter().map(|task| vector(resources, &task.requests)).collect();
    let mut now: Vec<u32> =
        parallelism.zip(slots).map(|(parallelism, slots)| parallelism.min(*slots)).collect();
    let floors = claim.floors().into_iter().zip(slots.iter().zip(&now));
    let lacking: Vec<u32> =
        floors.map(|(floor, (slots, now))| floor.min(*slots).saturating_sub(*now)).collect();
    if !free.take_all(&vectors, &lacking) {
        return now;
    }
    for (((now, lacking), slots), vector) in now.iter_mut().zip(lacking).zip(slots).zip(&vectors) {
        *now = now.saturating_add(lacking);
        let more = free.fitting(vector, slots.saturating_sub(*now));
        free.take(vector, more);
        *now = now.saturating_add(more);
    }
    now
}
