//! What is left above all floors: one slot at a time to the lowest dominant share.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::claim::{GangClaim, GangSlots};
use super::room::{ResourceVec, Room, dominant};
use crate::shares::Fraction;
use crate::time::Timestamp;

/// A gang that may get another slot.
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

impl Next<'_> {
    fn key(&self) -> (Fraction, bool, Reverse<i32>, Timestamp, &Arc<str>) {
        (self.share, self.moves, self.priority, self.created, self.name)
    }
}

impl Ord for Next<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Next<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Next<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Next<'_> {}

/// Hands `left` out to those whose floor fits. Who has no pod left that fits gets no more.
pub(super) fn hand_out(
    left: &mut Room,
    claims: &[GangClaim],
    vectors: &[Vec<ResourceVec>],
    whole: &ResourceVec,
    slots: &mut [GangSlots],
) {
    let mut used: Vec<ResourceVec> = vectors
        .iter()
        .zip(slots.iter())
        .map(|(vectors, slots)| {
            let mut used = Room(ResourceVec::from_elem(0, whole.len()));
            vectors.iter().zip(&slots.tasks).for_each(|(vector, count)| used.take(vector, *count));
            used.0.into_iter().map(i128::saturating_neg).collect()
        })
        .collect();
    let next = |at: usize, slots: &[GangSlots], used: &[ResourceVec]| -> Option<Next<'_>> {
        let (claim, slots) = (claims.get(at)?, slots.get(at)?);
        let runs = claim.tasks.iter().zip(&slots.tasks).any(|(task, has)| has < &task.running.min(task.most));
        let wants = claim.tasks.iter().zip(&slots.tasks).any(|(task, has)| has < &task.most);
        (slots.fits && wants).then_some(())?;
        Some(Next {
            share: dominant(used.get(at)?, whole),
            moves: !runs,
            priority: Reverse(claim.priority),
            created: claim.created,
            name: &claim.name,
            at,
        })
    };
    let mut heap: BinaryHeap<Reverse<Next<'_>>> =
        (0..claims.len()).filter_map(|at| next(at, slots, &used)).map(Reverse).collect();
    while let Some(Reverse(lowest)) = heap.pop() {
        let at = lowest.at;
        let (Some(claim), Some(vectors)) = (claims.get(at), vectors.get(at)) else { continue };
        let Some((task, vector)) = fitting_task(claim, vectors, slots.get(at), left) else { continue };
        left.take(vector, 1);
        if let Some(count) = slots.get_mut(at).and_then(|slots| slots.tasks.get_mut(task)) {
            *count = count.saturating_add(1);
        }
        if let Some(used) = used.get_mut(at) {
            used.iter_mut().zip(vector).for_each(|(used, more)| *used = used.saturating_add(*more));
        }
        heap.extend(next(at, slots, &used).map(Reverse));
    }
}

/// Gives the gang `at` one slot if it has none and needs none to be of use.
pub(super) fn give_one(
    at: usize,
    left: &mut Room,
    claims: &[GangClaim],
    vectors: &[Vec<ResourceVec>],
    slots: &mut [GangSlots],
) {
    let (Some(claim), Some(vectors), Some(slots)) = (claims.get(at), vectors.get(at), slots.get_mut(at))
    else {
        return;
    };
    if slots.total() > 0 || !claim.needs_nothing() {
        return;
    }
    let Some((task, vector)) = fitting_task(claim, vectors, Some(slots), left) else { return };
    left.take(vector, 1);
    if let Some(count) = slots.tasks.get_mut(task) {
        *count = count.saturating_add(1);
    }
}

/// The task that the next slot of a gang is for: the first in which a pod runs without one, else the first that wants one,
/// of those whose pods still fit.
fn fitting_task<'l>(
    claim: &GangClaim,
    vectors: &'l [ResourceVec],
    slots: Option<&GangSlots>,
    left: &Room,
) -> Option<(usize, &'l ResourceVec)> {
    let counts = &slots?.tasks;
    let wanted = |upto: fn(&super::TaskClaim) -> u32| {
        let tasks = claim.tasks.iter().zip(counts).zip(vectors).enumerate();
        let mut fitting = tasks
            .filter(move |(_, ((task, has), vector))| **has < upto(task) && left.fitting(vector, 1) == 1)
            .map(|(at, (_, vector))| (at, vector));
        fitting.next()
    };
    wanted(|task| task.running.min(task.most)).or_else(|| wanted(|task| task.most))
}
