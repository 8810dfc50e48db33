//! From slots to the parallelism that Jobs get now.

use std::cmp::Reverse;

use super::claim::GangClaim;
use super::room::{ResourceVec, Resources, Room};
use crate::amounts::{Amounts, Resource};

/// One QueueJob on its way to its slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobAllocation {
    /// How many pods of each task are to run in the end.
    pub slots: Vec<u32>,
    /// How many each task's Job may run now.
    pub parallelism: Vec<u32>,
    /// Whether pods of it are being evicted for others: until they are gone its Jobs stay as they are, or each of these
    /// slots would cost it two pods.
    pub is_losing: bool,
}

/// How many pods each Job may run now; an entry for each claim, in their order.
///
/// What is to be less is less at once. What is to be more has to fit in `free`, which is what admission still lets in beside
/// all pods that are there and those that are about to come: a Job whose pods are refused waits ever longer. A gang that
/// has less than its floor gets all that it lacks to it or nothing.
pub fn bring(
    claims: &[GangClaim],
    allocations: &[JobAllocation],
    free: &Amounts,
    resources: &[Resource],
) -> Vec<Vec<u32>> {
    let resources = Resources(resources);
    let mut free = Room(resources.vector(free));
    let mut brought = vec![Vec::new(); claims.len()];
    let mut order: Vec<_> = claims.iter().zip(allocations).zip(&mut brought).collect();
    order.sort_by_cached_key(|((claim, _), _)| {
        (!claim.admitted, !claim.intact, Reverse(claim.priority), claim.created, claim.name.clone())
    });
    for ((claim, allocation), brought) in order {
        *brought = bring_one(claim, allocation, &mut free, resources);
    }
    brought
}

fn bring_one(
    claim: &GangClaim,
    allocation: &JobAllocation,
    free: &mut Room,
    resources: Resources<'_>,
) -> Vec<u32> {
    if allocation.is_losing {
        return allocation.parallelism.clone();
    }
    let vectors: Vec<ResourceVec> = claim.tasks.iter().map(|task| resources.vector(&task.requests)).collect();
    let both = allocation.slots.iter().zip(&allocation.parallelism);
    let mut now: Vec<u32> = both.map(|(slots, parallelism)| *slots.min(parallelism)).collect();
    let lacking: Vec<u32> = claim
        .floors()
        .into_iter()
        .zip(allocation.slots.iter().zip(&now))
        .map(|(floor, (slots, now))| floor.min(*slots).saturating_sub(*now))
        .collect();
    if !free.take_all(&vectors, &lacking) {
        return now;
    }
    for (((now, lacking), slots), vector) in now.iter_mut().zip(lacking).zip(&allocation.slots).zip(&vectors)
    {
        *now = now.saturating_add(lacking);
        let more = free.fitting(vector, slots.saturating_sub(*now));
        free.take(vector, more);
        *now = now.saturating_add(more);
    }
    now
}
