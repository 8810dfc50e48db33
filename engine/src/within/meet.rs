//! Asks are met one after the other: with room that is there, or with room that others leave.

use std::collections::{BTreeMap, BTreeSet};

use super::asks::{Ask, Kind};
use super::household::{Books, Household, Need, Place};
use crate::amounts::Amounts;
use crate::choice::Rooms;
use crate::names::OwnerUid;

/// How many pods of one queue a plan looks for victims for; the next plan goes on.
const MOST_SEARCHES: u32 = 64;

/// How many pods of one ask a plan keeps room for. One owner may ask for two thousand million.
const MOST_PODS: u32 = 5_000;

/// What came of the asks of one queue.
pub(super) struct Meeting<'a> {
    pub(super) household: Household<'a>,
    /// For how many pods of each ask there is or will be room.
    pub(super) met: BTreeMap<usize, u32>,
    /// How many held-back pods of each ask have room now.
    pub(super) restored: BTreeMap<usize, u32>,
    /// The asks of which a pod was not met although others may go for it.
    pub(super) unmet: BTreeSet<usize>,
    searches: u32,
}

impl<'a> Meeting<'a> {
    /// Meets `asks`, which come most important first, as far as can be. Nobody goes unless `may_take`.
    pub(super) fn hold(
        household: Household<'a>,
        asks: &[Ask<'a>],
        rooms: &mut Rooms<'a>,
        may_take: bool,
    ) -> Self {
        let mut meeting = Self {
            household,
            met: BTreeMap::new(),
            restored: BTreeMap::new(),
            unmet: BTreeSet::new(),
            searches: MOST_SEARCHES,
        };
        let before = (meeting.household.books.clone(), rooms.clone());
        for (number, ask) in asks.iter().enumerate() {
            // Whoever gives receives nothing, so that what was taken from it is really gone.
            if ask.kind != Kind::Unschedulable && ask.owner.is_some_and(|owner| meeting.gives(owner)) {
                continue;
            }
            meeting.meet(number, ask, rooms, may_take && ask.preempts);
        }
        if meeting.household.books.chosen.len() > 1 {
            meeting.release(asks, &before, rooms);
        }
        meeting
    }

    /// Releases every victim, most protected first, without whom just as many pods are met: what goes for a later one may
    /// be enough for an earlier one, too.
    fn release(&mut self, asks: &[Ask<'a>], before: &(Books<'a>, Rooms<'a>), rooms: &mut Rooms<'a>) {
        let chosen = self.household.books.chosen.clone();
        for place in self.household.in_order(&chosen.keys().copied().collect()).into_iter().rev() {
            let mut fewer = self.household.books.chosen.clone();
            fewer.remove(&place);
            if self.household.is_before_any(place, fewer.keys()) {
                continue;
            }
            if let Some((books, without)) = self.replayed(asks, before, &fewer) {
                (self.household.books, *rooms) = (books, without);
            }
        }
    }

    /// What is left when only `chosen` go and as many pods are met as were; none if that cannot be.
    fn replayed(
        &mut self,
        asks: &[Ask<'a>],
        (books, rooms): &(Books<'a>, Rooms<'a>),
        chosen: &BTreeMap<Place, usize>,
    ) -> Option<(Books<'a>, Rooms<'a>)> {
        let now = std::mem::replace(&mut self.household.books, books.clone());
        let mut rooms = rooms.clone();
        for (place, number) in chosen {
            self.household.take(&[*place], *number, &mut rooms);
        }
        let mut all = true;
        for (number, pods) in &self.met {
            let Some(ask) = asks.get(*number) else { continue };
            all &= (0..*pods).all(|_| {
                let exists = ask.kind == Kind::Unschedulable;
                let has_room = exists || self.household.books.room.lacks(&ask.shape.requests).is_empty();
                let is_met = has_room && rooms.reserve(ask.shape).is_some();
                if !exists {
                    self.household.books.room.book(&ask.shape.requests);
                }
                is_met
            });
        }
        let then = std::mem::replace(&mut self.household.books, now);
        all.then_some((then, rooms))
    }

    /// Whether no more pods go for it than for `other` that are not on their way yet; or whether it meets more of the
    /// first ask, of those that others may go for, that they do not meet alike.
    pub(super) fn is_as_good_as(&self, other: &Self, asks: &[Ask<'_>]) -> bool {
        if self.household.newly_chosen() <= other.household.newly_chosen() {
            return true;
        }
        let numbers = || (0..).zip(asks).filter(|(_, ask)| ask.preempts).map(|(number, _)| number);
        let met = |meeting: &Self| -> Vec<u32> {
            numbers().map(|number: usize| meeting.met.get(&number).copied().unwrap_or_default()).collect()
        };
        met(self) > met(other)
    }

    /// Whether pods of the owner go now, or are about to because it was scaled down.
    fn gives(&self, owner: &OwnerUid) -> bool {
        let members = &self.household.members;
        members.iter().enumerate().any(|(at, member)| {
            let chosen = || self.household.books.chosen.keys().any(|(member, _)| *member == at);
            member.owner.uid == *owner && (member.is_giving() || chosen())
        })
    }

    fn meet(&mut self, number: usize, ask: &Ask<'a>, rooms: &mut Rooms<'a>, preempts: bool) {
        let mut left = ask.pods.min(MOST_PODS);
        let mut together = ask.together;
        while left > 0 {
            let count = together.min(left).max(1);
            if !self.meet_together(number, ask, count, rooms, preempts) {
                if preempts {
                    self.unmet.insert(number);
                }
                return;
            }
            left = left.saturating_sub(count);
            // Beyond what makes it of use, one by one.
            together = 1;
            let met = self.met.entry(number).or_default();
            *met = met.saturating_add(count);
        }
    }

    /// Room for `count` pods, or nothing.
    fn meet_together(
        &mut self,
        number: usize,
        ask: &Ask<'a>,
        count: u32,
        rooms: &mut Rooms<'a>,
        preempts: bool,
    ) -> bool {
        if count == 1 {
            return self.meet_one(number, ask, rooms, preempts);
        }
        let before = (self.household.books.clone(), rooms.clone(), self.restored.clone());
        for _ in 0..count {
            if !self.meet_one(number, ask, rooms, preempts) {
                (self.household.books, *rooms, self.restored) = before;
                return false;
            }
        }
        true
    }

    fn meet_one(&mut self, number: usize, ask: &Ask<'a>, rooms: &mut Rooms<'a>, preempts: bool) -> bool {
        let requests = &ask.shape.requests;
        let exists = ask.kind == Kind::Unschedulable;
        // What exists is in the queue already.
        let lacking = if exists { Amounts::new() } else { self.household.books.room.lacks(requests) };
        let node = rooms.reserve(ask.shape);
        let has_all = node.is_some() && lacking.is_empty();
        if has_all && ask.kind == Kind::HeldBack && self.household.books.room.has_now(requests) {
            let restored = self.restored.entry(number).or_default();
            *restored = restored.saturating_add(1);
        }
        if !has_all {
            let need = Need { shape: ask.shape, priority: ask.priority, of_queue: &lacking };
            let found = preempts.then(|| self.victims(need, node.is_some(), rooms)).flatten();
            let Some(victims) = found else {
                if let Some(at) = node {
                    rooms.give(at, requests);
                }
                return false;
            };
            self.household.take(&victims.1, number, rooms);
            if let Some(at) = victims.0 {
                rooms.take(at, requests);
            }
        }
        if !exists {
            self.household.books.room.book(requests);
        }
        true
    }

    /// The pods that go for one pod, and the node that is freed for it unless it `has_node`.
    fn victims(
        &mut self,
        need: Need<'_>,
        has_node: bool,
        rooms: &Rooms<'a>,
    ) -> Option<(Option<usize>, Vec<Place>)> {
        self.searches = self.searches.checked_sub(1)?;
        if has_node {
            return self.household.free_the_queue(need).map(|victims| (None, victims));
        }
        self.household.free_a_node(need, rooms).map(|(at, victims)| (Some(at), victims))
    }
}
