//! What is left above all floors: one slot at a time to the lowest dominant share.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::gang::Gang;
use super::room::{ResourceVec, Room, dominant};
use crate::shares::Fraction;
use crate::time::Timestamp;

/// A gang that may get another slot; the first in order gets the next one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Next<'a> {
    /// What it has of the whole.
    share: Fraction,
    /// Whether the slot that it would get next is not one in which a pod of it runs.
    moves: bool,
    priority: Reverse<i32>,
    created: Timestamp,
    name: &'a Arc<str>,
    at: usize,
}

/// Divides `left` among the gangs whose floor fits. A gang without another pod that fits gets no more.
pub(super) fn hand_out(left: &mut Room, gangs: &mut [Gang<'_>], whole: &ResourceVec) {
    let mut heap: BinaryHeap<Reverse<Next<'_>>> =
        gangs.iter().enumerate().filter_map(|(at, gang)| next(at, gang, whole)).map(Reverse).collect();
    while let Some(Reverse(Next { at, .. })) = heap.pop() {
        let Some(gang) = gangs.get_mut(at) else { continue };
        if gang.takes_one(left) {
            heap.extend(next(at, gang, whole).map(Reverse));
        }
    }
}

/// The turn of the gang `at`, if it wants another slot and may get one.
fn next<'a>(at: usize, gang: &Gang<'a>, whole: &ResourceVec) -> Option<Next<'a>> {
    let claim = gang.claim;
    (gang.slots.fits && gang.wants(|task| task.most)).then(|| Next {
        share: dominant(&gang.used, whole),
        moves: !gang.wants(|task| task.running.min(task.most)),
        priority: Reverse(claim.priority),
        created: claim.created,
        name: &claim.name,
        at,
    })
}
