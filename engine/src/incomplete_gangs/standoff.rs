//! Several gangs in the room of one: which one is completed, and which ones yield.

use std::collections::BTreeMap;

use super::partial_gang::PartialGang;
use crate::amounts::{Amounts, Resource};
use crate::leaf::Leaf;
use crate::names::QueueName;
use crate::plan::{IncompleteGang, PodId, Preemptor, QueuePlan, Resolution, Scaling};
use crate::reasons::{ScalingReason, ShortReason};
use crate::time::Timestamp;
use crate::total::total;

/// Several gangs in the room of one.
pub(super) struct Standoff<'a> {
    /// The one that is completed.
    completed: PartialGang<'a>,
    /// The others, the first to be completed first, and whether they yield; none does if none can be held.
    others: Vec<(PartialGang<'a>, bool)>,
}

impl<'a> Standoff<'a> {
    /// The one in this leaf, if several gangs lack room that they use themselves. Gangs yield only if the queue `may_hold` them.
    pub(super) fn of(
        leaf: &Leaf<'a>,
        queue: &QueuePlan,
        may_hold: bool,
        resources: &[Resource],
    ) -> Option<Self> {
        let mut gangs = PartialGang::all(leaf, resources);
        let mut room = queue.allocated.max(&queue.target);
        room.subtract_all(&leaf.staying);
        // The pods of a gang that has room are only not created yet.
        if gangs.len() < 2 || gangs.iter().any(|gang| fits(gang, &room)) {
            return None;
        }
        for gang in &mut gangs {
            gang.can_be_held &= may_hold;
        }
        let holdable = first_that_fits(&gangs, &room, |gang| gang.can_be_held);
        // Without a gang that can be held, the first of those that would fit without the others tells what is wrong.
        let completed = gangs.remove(holdable.or_else(|| first_that_fits(&gangs, &room, |_| true))?);
        let others = gangs.into_iter().map(|gang| (gang, false)).collect();
        let mut standoff = Self { completed, others };
        if holdable.is_some() {
            standoff.choose(room);
        }
        Some(standoff)
    }

    /// Lets the least important gangs yield that leave enough `room` for the one that is completed, without those that turn out
    /// not to be needed.
    fn choose(&mut self, mut room: Amounts) {
        for (gang, yields) in self.others.iter_mut().rev().filter(|(gang, _)| gang.can_be_held) {
            if fits(&self.completed, &room) {
                break;
            }
            room.add_all(&gang.uses);
            *yields = true;
        }
        for (gang, yields) in self.others.iter_mut().filter(|(_, yields)| *yields) {
            room.subtract_all(&gang.uses);
            if fits(&self.completed, &room) {
                *yields = false;
            } else {
                room.add_all(&gang.uses);
            }
        }
    }

    fn yielding(&self) -> impl Iterator<Item = &PartialGang<'a>> {
        self.others.iter().filter(|(_, yields)| *yields).map(|(gang, _)| gang)
    }

    /// When the newest pod of the gangs that yield, and of the one that is completed, was created. None if none yields.
    pub(super) fn newest_of_yielding(&self) -> Option<Timestamp> {
        self.yielding().next()?;
        let gangs = self.yielding().chain([&self.completed]);
        gangs.flat_map(|gang| &gang.members).map(|pod| pod.created).max()
    }

    /// Names in `queue` which gangs use the room of each other, where only that keeps them from their pods.
    pub(super) fn report(&self, queue: &mut QueuePlan) {
        let incomplete: BTreeMap<Preemptor, IncompleteGang> = self.incomplete();
        let waits = |reason: ShortReason| matches!(reason, ShortReason::ShareInUse | ShortReason::AboveLimit);
        for unmet in queue.unmet.iter_mut().filter(|unmet| waits(unmet.reason)) {
            if let Some(gang) = incomplete.get(&unmet.preemptor) {
                unmet.reason = ShortReason::GangIncomplete;
                unmet.incomplete_gang = Some(Box::new(gang.clone()));
            }
        }
    }

    /// The incomplete gang of each workload.
    fn incomplete(&self) -> BTreeMap<Preemptor, IncompleteGang> {
        let is_held = self.yielding().next().is_some();
        let beside = self.yielding().next().or_else(|| self.others.first().map(|(gang, _)| gang));
        let completed = beside.map(|beside| (&self.completed, beside, Resolution::IsCompleted));
        let others = self.others.iter().map(|(gang, yields)| {
            (gang, &self.completed, if *yields { Resolution::Yields } else { Resolution::Waits })
        });
        let mut gangs = BTreeMap::new();
        for (gang, other, resolution) in completed.into_iter().chain(others) {
            let resolution = if is_held { resolution } else { Resolution::NeitherCanBeHeld };
            let incomplete = IncompleteGang { gang: gang.part(), other: other.part(), resolution };
            gangs.extend(gang.owners.iter().map(|owner| (Preemptor::of(owner), incomplete.clone())));
        }
        gangs
    }

    /// The Jobs of the gangs that yield, each without pods.
    pub(super) fn scalings(&self, queue: &QueueName) -> Vec<Scaling> {
        let scaling = |gang: &PartialGang<'_>| {
            let owner = gang.owner;
            Some(Scaling {
                to: 0,
                original_replicas: Some(owner.size.original_replicas.unwrap_or(owner.size.written)),
                pods: gang.members.iter().map(|pod| PodId::of(&queue.namespace, pod)).collect(),
                beneficiaries: vec![Preemptor::of(self.completed.owner)],
                ..Scaling::unchanged(queue, owner, ScalingReason::GangIncomplete)?
            })
        };
        self.yielding().filter_map(scaling).collect()
    }
}

/// The place of the first gang that has room when every other one that `goes` is gone.
fn first_that_fits(
    gangs: &[PartialGang<'_>],
    room: &Amounts,
    goes: impl Fn(&PartialGang<'_>) -> bool,
) -> Option<usize> {
    let all = room.plus(&total(gangs.iter().filter(|gang| goes(gang)).map(|gang| &gang.uses)));
    gangs.iter().position(|gang| {
        let mut room = all.clone();
        if goes(gang) {
            room.subtract_all(&gang.uses);
        }
        fits(gang, &room)
    })
}

/// Whether what the gang lacks to its minimum fits into `room`, which may be negative.
fn fits(gang: &PartialGang<'_>, room: &Amounts) -> bool {
    gang.lacks.times_in(room, 1) > 0
}
