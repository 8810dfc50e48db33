//! Asks are met one after the other: with room that is there, or with room that others leave.

use std::collections::{BTreeMap, BTreeSet};

use super::asks::{Ask, Kind};
use super::queue_preemption::{Need, Place, PreemptionState, QueuePreemption};
use crate::amounts::Amounts;
use crate::choice::NodeResources;
use crate::names::OwnerUid;

/// How many pods of one queue a plan looks for victims for; the next plan goes on.
const MOST_SEARCHES: u32 = 64;

/// How many pods of one ask a plan keeps room for. One owner may ask for two thousand million.
const MOST_PODS: u32 = 5_000;

/// What came of the asks of one queue.
pub(super) struct PreemptionPass<'a> {
    pub(super) queue_preemption: QueuePreemption<'a>,
    /// For how many pods of each ask there is or will be room.
    pub(super) met: BTreeMap<usize, u32>,
    /// How many held-back pods of each ask have room now.
    pub(super) restored: BTreeMap<usize, u32>,
    /// The asks of which a pod was not met although others may go for it.
    pub(super) unmet: BTreeSet<usize>,
    searches: u32,
}

impl<'a> PreemptionPass<'a> {
    /// Meets `asks`, which come most important first, as far as can be. Nobody goes unless `may_take`.
    pub(super) fn hold(
        queue_preemption: QueuePreemption<'a>,
        asks: &[Ask<'a>],
        node_resources: &mut NodeResources<'a>,
        may_take: bool,
    ) -> Self {
        let mut pass = Self {
            queue_preemption,
            met: BTreeMap::new(),
            restored: BTreeMap::new(),
            unmet: BTreeSet::new(),
            searches: MOST_SEARCHES,
        };
        let before = (pass.queue_preemption.state_so_far.clone(), node_resources.clone());
        for (number, ask) in asks.iter().enumerate() {
            // Whoever gives receives nothing, so that what was taken from it is really gone.
            if ask.kind != Kind::Unschedulable && ask.owner.is_some_and(|owner| pass.gives(owner)) {
                continue;
            }
            pass.preempt_for(number, ask, node_resources, may_take && ask.preempts);
        }
        if pass.queue_preemption.state_so_far.chosen.len() > 1 {
            pass.release(asks, &before, node_resources);
        }
        pass
    }

    /// Releases every victim, most protected first, without whom just as many pods are met: what goes for a later one may
    /// be enough for an earlier one, too.
    fn release(
        &mut self,
        asks: &[Ask<'a>],
        before: &(PreemptionState<'a>, NodeResources<'a>),
        node_resources: &mut NodeResources<'a>,
    ) {
        let chosen = self.queue_preemption.state_so_far.chosen.clone();
        for place in self.queue_preemption.in_order(&chosen.keys().copied().collect()).into_iter().rev() {
            let mut fewer = self.queue_preemption.state_so_far.chosen.clone();
            fewer.remove(&place);
            if self.queue_preemption.is_before_any(place, fewer.keys()) {
                continue;
            }
            if let Some((state_so_far, without)) = self.replayed(asks, before, &fewer) {
                (self.queue_preemption.state_so_far, *node_resources) = (state_so_far, without);
            }
        }
    }

    /// What is left when only `chosen` go and as many pods are met as were; none if that cannot be.
    fn replayed(
        &mut self,
        asks: &[Ask<'a>],
        (state_so_far, node_resources): &(PreemptionState<'a>, NodeResources<'a>),
        chosen: &BTreeMap<Place, usize>,
    ) -> Option<(PreemptionState<'a>, NodeResources<'a>)> {
        let now = std::mem::replace(&mut self.queue_preemption.state_so_far, state_so_far.clone());
        let mut node_resources = node_resources.clone();
        for (place, number) in chosen {
            self.queue_preemption.take(&[*place], *number, &mut node_resources);
        }
        let mut all = true;
        for (number, pods) in &self.met {
            let Some(ask) = asks.get(*number) else { continue };
            all &= (0..*pods).all(|_| {
                let exists = ask.kind == Kind::Unschedulable;
                let has_room =
                    exists || self.queue_preemption.state_so_far.room.lacks(&ask.shape.requests).is_empty();
                let is_met = has_room && node_resources.reserve(ask.shape).is_some();
                if !exists {
                    self.queue_preemption.state_so_far.room.book(&ask.shape.requests);
                }
                is_met
            });
        }
        let then = std::mem::replace(&mut self.queue_preemption.state_so_far, now);
        all.then_some((then, node_resources))
    }

    /// Whether no more pods go for it than for `other` that are not on their way yet; or whether it meets more of the
    /// first ask, of those that others may go for, that they do not meet alike.
    pub(super) fn is_as_good_as(&self, other: &Self, asks: &[Ask<'_>]) -> bool {
        if self.queue_preemption.newly_chosen() <= other.queue_preemption.newly_chosen() {
            return true;
        }
        let numbers = || (0..).zip(asks).filter(|(_, ask)| ask.preempts).map(|(number, _)| number);
        let met = |pass: &Self| -> Vec<u32> {
            numbers().map(|number: usize| pass.met.get(&number).copied().unwrap_or_default()).collect()
        };
        met(self) > met(other)
    }

    /// Whether pods of the owner go now, or are about to because it was scaled down.
    fn gives(&self, owner: &OwnerUid) -> bool {
        let members = &self.queue_preemption.members;
        members.iter().enumerate().any(|(at, member)| {
            let chosen = || self.queue_preemption.state_so_far.chosen.keys().any(|(member, _)| *member == at);
            member.owner.uid == *owner && (member.is_giving() || chosen())
        })
    }

    fn preempt_for(
        &mut self,
        number: usize,
        ask: &Ask<'a>,
        node_resources: &mut NodeResources<'a>,
        preempts: bool,
    ) {
        let mut left = ask.pods.min(MOST_PODS);
        let mut together = ask.together;
        while left > 0 {
            let count = together.min(left).max(1);
            if !self.preempt_together(number, ask, count, node_resources, preempts) {
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
    fn preempt_together(
        &mut self,
        number: usize,
        ask: &Ask<'a>,
        count: u32,
        node_resources: &mut NodeResources<'a>,
        preempts: bool,
    ) -> bool {
        if count == 1 {
            return self.preempt_for_one(number, ask, node_resources, preempts);
        }
        let before =
            (self.queue_preemption.state_so_far.clone(), node_resources.clone(), self.restored.clone());
        for _ in 0..count {
            if !self.preempt_for_one(number, ask, node_resources, preempts) {
                (self.queue_preemption.state_so_far, *node_resources, self.restored) = before;
                return false;
            }
        }
        // What is of use only together gets its size back at once: until all of it has room, the room is kept.
        let restored = |restored: &BTreeMap<usize, u32>| restored.get(&number).copied().unwrap_or_default();
        if restored(&self.restored) < restored(&before.2).saturating_add(count) {
            self.restored = before.2;
        }
        true
    }

    fn preempt_for_one(
        &mut self,
        number: usize,
        ask: &Ask<'a>,
        node_resources: &mut NodeResources<'a>,
        preempts: bool,
    ) -> bool {
        let requests = &ask.shape.requests;
        let exists = ask.kind == Kind::Unschedulable;
        // What exists is in the queue already.
        let lacking =
            if exists { Amounts::new() } else { self.queue_preemption.state_so_far.room.lacks(requests) };
        let node = node_resources.reserve(ask.shape);
        let has_all = node.is_some() && lacking.is_empty();
        if has_all && ask.kind == Kind::HeldBack && self.queue_preemption.state_so_far.room.has_now(requests)
        {
            let restored = self.restored.entry(number).or_default();
            *restored = restored.saturating_add(1);
        }
        if !has_all {
            let need = Need { shape: ask.shape, priority: ask.priority, of_queue: &lacking };
            let found = preempts.then(|| self.victims(need, node.is_some(), node_resources)).flatten();
            let Some(victims) = found else {
                if let Some(at) = node {
                    node_resources.give(at, requests);
                }
                return false;
            };
            self.queue_preemption.take(&victims.1, number, node_resources);
            if let Some(at) = victims.0 {
                node_resources.take(at, requests);
            }
        }
        if !exists {
            self.queue_preemption.state_so_far.room.book(requests);
        }
        true
    }

    /// The pods that go for one pod, and the node that is freed for it unless it `has_node`.
    fn victims(
        &mut self,
        need: Need<'_>,
        has_node: bool,
        node_resources: &NodeResources<'a>,
    ) -> Option<(Option<usize>, Vec<Place>)> {
        self.searches = self.searches.checked_sub(1)?;
        if has_node {
            return self.queue_preemption.free_the_queue(need).map(|victims| (None, victims));
        }
        self.queue_preemption.free_a_node(need, node_resources).map(|(at, victims)| (Some(at), victims))
    }
}
