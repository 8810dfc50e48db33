//! Several gangs in the room of one: which one is completed, and which ones yield.

use std::collections::{BTreeMap, BTreeSet};

use super::partial_gang::PartialGang;
use crate::amounts::{Amounts, Resource};
use crate::leaf::Leaf;
use crate::names::QueueName;
use crate::plan::{GangPart, IncompleteGang, PodId, Preemptor, QueuePlan, Resolution, Scaling};
use crate::reasons::{ScalingReason, ShortReason};
use crate::snapshot::Pod;
use crate::time::Timestamp;

/// Several gangs in the room of one.
pub(super) struct Standoff<'a> {
    /// The gangs, the first to be completed first.
    gangs: Vec<PartialGang<'a>>,
    /// The place of the one that is completed.
    completed: usize,
    /// The places of those that yield; none if none can be held.
    yielding: BTreeSet<usize>,
}

impl<'a> Standoff<'a> {
    /// The one in this leaf, if several gangs lack room that they use themselves. Gangs yield only if the queue `may_hold` them.
    pub(super) fn of(
        leaf: &Leaf<'a>,
        queue: &QueuePlan,
        may_hold: bool,
        resources: &[Resource],
    ) -> Option<Self> {
        let gangs = PartialGang::all(leaf, resources);
        let mut room = queue.allocated.max(&queue.target);
        room.subtract_all(&leaf.staying);
        // The pods of a gang that has room are only not created yet.
        if gangs.len() < 2 || gangs.iter().any(|gang| fits(gang, &room)) {
            return None;
        }
        let holdable: Vec<bool> = gangs.iter().map(|gang| may_hold && gang.can_be_held()).collect();
        let completed = first_that_fits(&gangs, &room, &holdable);
        // Without a gang that can be held, the first of those that would fit without the others tells what is wrong.
        let told = completed.or_else(|| first_that_fits(&gangs, &room, &vec![true; gangs.len()]))?;
        let mut standoff = Self { gangs, completed: told, yielding: BTreeSet::new() };
        if completed.is_some() {
            standoff.yielding = standoff.fewest(room, &holdable);
        }
        Some(standoff)
    }

    /// The places of the least important gangs that leave enough room for the one that is completed, without those that turn out
    /// not to be needed.
    fn fewest(&self, mut room: Amounts, holdable: &[bool]) -> BTreeSet<usize> {
        let Some(completed) = self.gangs.get(self.completed) else { return BTreeSet::new() };
        let mut yielding = BTreeSet::new();
        for (at, (gang, can_be_held)) in self.gangs.iter().zip(holdable).enumerate().rev() {
            if fits(completed, &room) {
                break;
            }
            if *can_be_held && at != self.completed {
                room.add_all(&gang.uses);
                yielding.insert(at);
            }
        }
        for at in yielding.clone() {
            let Some(gang) = self.gangs.get(at) else { continue };
            room.subtract_all(&gang.uses);
            if fits(completed, &room) {
                yielding.remove(&at);
            } else {
                room.add_all(&gang.uses);
            }
        }
        yielding
    }

    /// When the newest pod of the gangs that yield, and of the one that is completed, was created. None if none yields.
    pub(super) fn newest_of_yielding(&self) -> Option<Timestamp> {
        let of =
            |at: &usize| self.gangs.get(*at).map(|gang| gang.members.iter().map(|pod| pod.created).max());
        let newest = self.yielding.iter().chain([&self.completed]).filter_map(of).flatten().max();
        newest.filter(|_| !self.yielding.is_empty())
    }

    /// Names in `queue` which gangs use the room of each other, where only that keeps them from their pods.
    pub(super) fn tell(&self, queue: &mut QueuePlan) {
        let told: BTreeMap<Preemptor, IncompleteGang> = self.told();
        let waits = |reason: ShortReason| matches!(reason, ShortReason::ShareInUse | ShortReason::AboveLimit);
        for unmet in queue.unmet.iter_mut().filter(|unmet| waits(unmet.reason)) {
            if let Some(gang) = told.get(&unmet.who) {
                unmet.reason = ShortReason::GangIncomplete;
                unmet.incomplete_gang = Some(Box::new(gang.clone()));
            }
        }
    }

    /// What is told of each workload.
    fn told(&self) -> BTreeMap<Preemptor, IncompleteGang> {
        let parts: Vec<GangPart> = self.gangs.iter().map(PartialGang::part).collect();
        let is_other = |at: &usize| *at != self.completed;
        let beside_completed = self.yielding.first().copied().or_else(|| (0..parts.len()).find(is_other));
        let mut told = BTreeMap::new();
        for (at, (gang, part)) in self.gangs.iter().zip(&parts).enumerate() {
            let other = if is_other(&at) { Some(self.completed) } else { beside_completed };
            let Some(other) = other.and_then(|other| parts.get(other)) else { continue };
            let resolution = if self.yielding.is_empty() {
                Resolution::NeitherCanBeHeld
            } else if !is_other(&at) {
                Resolution::IsCompleted
            } else if self.yielding.contains(&at) {
                Resolution::Yields
            } else {
                Resolution::Waits
            };
            let incomplete = IncompleteGang { gang: part.clone(), other: other.clone(), resolution };
            told.extend(gang.owners.iter().map(|owner| (Preemptor::of(owner), incomplete.clone())));
        }
        told
    }

    /// The Jobs of the gangs that yield, each without pods.
    pub(super) fn scalings(&self, queue: &QueueName) -> Vec<Scaling> {
        let beneficiary = self.gangs.get(self.completed).map(|gang| Preemptor::of(gang.owner));
        let id = |pod: &&Pod| PodId {
            namespace: queue.namespace.clone(),
            name: pod.name.clone(),
            uid: pod.uid.clone(),
        };
        let scaling = |at: &usize| {
            let PartialGang { owner, members, .. } = self.gangs.get(*at)?;
            Some(Scaling {
                namespace: queue.namespace.clone(),
                queue: queue.clone(),
                owner: owner.uid.clone(),
                scale_target: owner.size.scale_target.clone()?,
                from: owner.size.written,
                to: 0,
                original_replicas: Some(owner.size.original_replicas.unwrap_or(owner.size.written)),
                pods: members.iter().map(id).collect(),
                marks: Vec::new(),
                lifts: Vec::new(),
                priority: owner.priority,
                beneficiaries: beneficiary.iter().cloned().collect(),
                reason: ScalingReason::GangIncomplete,
            })
        };
        self.yielding.iter().filter_map(scaling).collect()
    }
}

/// The place of the first gang that has room when every other one for which `goes` is gone.
fn first_that_fits(gangs: &[PartialGang<'_>], room: &Amounts, goes: &[bool]) -> Option<usize> {
    let mut all = room.clone();
    for (gang, _) in gangs.iter().zip(goes).filter(|(_, goes)| **goes) {
        all.add_all(&gang.uses);
    }
    gangs.iter().zip(goes).position(|(gang, goes)| {
        let mut room = all.clone();
        if *goes {
            room.subtract_all(&gang.uses);
        }
        fits(gang, &room)
    })
}

/// Whether what the gang lacks to its minimum fits into `room`, which may be negative.
fn fits(gang: &PartialGang<'_>, room: &Amounts) -> bool {
    gang.lacks.times_in(room, 1) > 0
}
