//! The owners of a queue and their pods: who may go, who stays whatever comes, and who goes anyway.

use std::collections::{BTreeMap, BTreeSet};

use super::removal::Removal;
use crate::choice::{Candidate, is_protected, non_preemptible, rank, replicas};
use crate::names::{GangName, OwnerUid};
use crate::plan::Stage;
use crate::reason::Reason;
use crate::snapshot::{EvictionRules, LastReplica, NamespaceState, Owner, OwnerKind, Phase, Pod, Snapshot};

/// One owner and its live pods.
#[derive(Clone, Debug)]
pub(super) struct Member<'a> {
    pub(super) owner: &'a Owner,
    /// Its pods, first to be removed first.
    pub(super) pods: Vec<Candidate<'a>>,
    /// How many of them go before any other, whatever they are marked with.
    pub(super) fixed: usize,
    /// How many of them, the first, go without anybody's doing: they are more than the owner wants.
    pub(super) surplus: usize,
    /// Why none of them can be made to go by scaling the owner, if so.
    pub(super) kept: Option<Reason>,
}

impl<'a> Member<'a> {
    /// The owners of `state` that have pods that are there, by uid.
    pub(super) fn all(
        state: &'a NamespaceState,
        rules: EvictionRules,
        is_there: impl Fn(&Pod) -> bool,
        snapshot: &'a Snapshot,
    ) -> Vec<Self> {
        let mut pods: BTreeMap<&OwnerUid, Vec<&'a Pod>> = BTreeMap::new();
        for pod in state.pods.iter().filter(|pod| is_there(pod)) {
            if let Some(owner) = pod.owner() {
                pods.entry(owner).or_default().push(pod);
            }
        }
        let mut owners: Vec<&'a Owner> = state.owners.iter().collect();
        owners.sort_by(|a, b| a.uid.cmp(&b.uid));
        let member =
            |owner: &'a Owner| pods.remove(&owner.uid).map(|pods| Self::of(owner, pods, rules, snapshot));
        owners.into_iter().filter_map(member).collect()
    }

    fn of(owner: &'a Owner, live: Vec<&'a Pod>, rules: EvictionRules, snapshot: &'a Snapshot) -> Self {
        let unscalable = owner.size.setter.is_none().then_some(Reason::NotScalable);
        let Removal { order, fixed, is_certain } = Removal::of(owner.kind, live);
        let unforeseeable = (!is_certain).then_some(Reason::NotScalable);
        let wanted = usize::try_from(owner.wanted).unwrap_or(usize::MAX);
        let candidate = |pod: &'a Pod| Candidate {
            pod,
            gang: None,
            protected: is_protected(pod, rules, snapshot),
            stage: if pod.phase == Phase::Running { Stage::Committed } else { Stage::NotRunning },
        };
        let surplus = order.len().saturating_sub(wanted);
        let mut pods: Vec<Candidate<'a>> = order.into_iter().map(candidate).collect();
        if let Some(last) = pods.last_mut().filter(|_| owner.kind == OwnerKind::Job) {
            // What a Job has done so far is lost with its last pod; but nobody is served by it meanwhile.
            last.protected |= last.stage == Stage::Committed;
        }
        let kept = owner.size.left_alone.or(unscalable).or(unforeseeable);
        Self { owner, pods, fixed, surplus, kept }
    }

    /// Whether some of its pods are about to go: whoever gave something receives nothing until that is over.
    pub(super) fn is_giving(&self) -> bool {
        self.surplus > 0
    }

    /// Which of its pods go before the one at `at` can, but for those that go anyway.
    pub(super) fn predecessors(&self, at: usize) -> std::ops::Range<usize> {
        self.surplus..at.min(self.fixed).max(self.surplus)
    }

    /// Why the pod at `at` never goes, whatever happens to others.
    pub(super) fn rule(&self, at: usize, frees_room: impl Fn(&Pod) -> bool) -> Option<Reason> {
        let pod = self.pods.get(at)?.pod;
        let barren = || (!frees_room(pod)).then_some(Reason::NodeNotCounted);
        non_preemptible(pod).or(self.kept).or_else(barren)
    }

    /// Whether the owner keeps what it has to keep once the pods at `going` are gone, with those that go anyway: a
    /// running pod in every pool that had one, and one at all. A Job may lose its last if its queue lets it.
    pub(super) fn keeps_enough(
        &self,
        going: &BTreeSet<usize>,
        rules: EvictionRules,
        snapshot: &'a Snapshot,
    ) -> bool {
        if self.owner.kind == OwnerKind::Job && rules.last_replica() == LastReplica::LastResort {
            return true;
        }
        let stays = |at: &usize| *at >= self.surplus && !going.contains(at);
        let left = (0..self.pods.len()).filter(stays);
        let running = |at: &usize| {
            self.pods
                .get(*at)
                .filter(|one| one.stage == Stage::Committed)
                .map(|one| replicas(one.pod, snapshot))
        };
        let left: Vec<usize> = left.collect();
        let pools: BTreeSet<_> = left.iter().filter_map(running).collect();
        !left.is_empty() && going.iter().filter_map(running).all(|pool| pools.contains(&pool))
    }

    /// How many of its pods stay when nothing is done.
    pub(super) fn staying(&self) -> usize {
        self.pods.len().saturating_sub(self.surplus)
    }
}

/// What gangs have, and what they cannot do without.
#[derive(Clone, Debug, Default)]
pub(super) struct Gangs<'a>(BTreeMap<&'a GangName, (u32, u32)>);

impl<'a> Gangs<'a> {
    /// The gangs of those pods of `members` that stay.
    pub(super) fn of(members: &[Member<'a>]) -> Self {
        let mut gangs: BTreeMap<&'a GangName, (u32, u32)> = BTreeMap::new();
        for candidate in members.iter().flat_map(|member| member.pods.iter().skip(member.surplus)) {
            if let Some(gang) = candidate.pod.gang() {
                let (has, needs) = gangs.entry(&gang.name).or_default();
                *has = has.saturating_add(1);
                *needs = (*needs).max(gang.min_available);
            }
        }
        Self(gangs)
    }

    /// Whether no gang that is of use now is of none any more once `going` are gone.
    pub(super) fn hold<'c>(&self, going: impl Iterator<Item = &'c Candidate<'a>>) -> bool
    where
        'a: 'c,
    {
        let mut lost: BTreeMap<&GangName, u32> = BTreeMap::new();
        for gang in going.filter_map(|candidate| candidate.pod.gang()) {
            let count = lost.entry(&gang.name).or_default();
            *count = count.saturating_add(1);
        }
        lost.iter().all(|(name, lost)| {
            self.0.get(name).is_none_or(|(has, needs)| has < needs || has.saturating_sub(*lost) >= *needs)
        })
    }

    /// `candidate` goes.
    pub(super) fn lose(&mut self, candidate: &Candidate<'a>) {
        if let Some((has, _)) = candidate.pod.gang().and_then(|gang| self.0.get_mut(&gang.name)) {
            *has = has.saturating_sub(1);
        }
    }
}

/// The places of all pods that stay when nothing is done, least protected first.
pub(super) fn ranked(members: &[Member<'_>]) -> Vec<(usize, usize)> {
    let mut places: Vec<(usize, usize)> = Vec::new();
    for (at, member) in members.iter().enumerate() {
        places.extend((member.surplus..member.pods.len()).map(|pod| (at, pod)));
    }
    let candidate = |(member, pod): &(usize, usize)| members.get(*member).and_then(|one| one.pods.get(*pod));
    places.sort_by(|a, b| match (candidate(a), candidate(b)) {
        (Some(a), Some(b)) => rank(a, b),
        _ => a.cmp(b),
    });
    places
}
