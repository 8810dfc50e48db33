//! Which pods of a queue may go for waiting units of the same queue.

use super::members::Members;
use super::waiting_units::Kind;
use crate::amounts::Amounts;
use crate::candidates::{Candidate, Replicas, replicas};
use crate::choice::{Rules, Simulation};
use crate::keyed::{KeyedMap, KeyedSet};
use crate::names::{GangName, OwnerUid};
use crate::plan::Stage;
use crate::pod_set::PodSet;
use crate::reasons::KeptReason;
use crate::snapshot::{EvictionRules, LastReplica, OwnerKind, Phase, Pod, Snapshot};

/// The rules for waiting units of one kind.
pub(super) struct Yielding<'r, 'a> {
    pub(super) members: &'r Members<'a>,
    pub(super) staying: Staying<'a>,
    pub(super) beneficiary: (Kind, i32),
}

impl<'a> Rules<'a> for Yielding<'_, 'a> {
    fn may_go(&self, simulation: &mut Simulation<'a>, victims: &[Candidate<'a>], _: &Amounts) -> Vec<bool> {
        let (kind, priority) = self.beneficiary;
        let mut lost = Counts::default();
        let mut going = PodSet::default();
        let mut allows = |candidate: &Candidate<'a>| {
            let is_left = |pod: &&Pod| !simulation.gone.contains(pod) && !going.contains(pod);
            let pods: Vec<&'a Pod> = candidate.everything().filter(is_left).collect();
            if simulation.is_gone(candidate) {
                return false;
            }
            lost.count_all(&pods, self.staying.snapshot, true);
            let is_on_loan = |pod: &Pod| {
                kind != Kind::Unschedulable
                    && candidate.stage == Stage::Surplus
                    && self.members.is_of_queue_job(pod)
                    && self.staying.is_beside_others(pod, &lost)
            };
            let forbids = |pod: &Pod| {
                (pod.priority >= priority && !is_on_loan(pod))
                    || self.members.rule(pod, simulation.context.usage).is_some()
            };
            let allows = !pods.iter().any(|pod| forbids(pod) || self.staying.rule(pod, &lost).is_some());
            if allows {
                going.extend(pods.iter().copied());
            } else {
                lost.count_all(&pods, self.staying.snapshot, false);
            }
            allows
        };
        let mut verdicts: Vec<bool> = victims.iter().map(&mut allows).collect();
        let allowed = || victims.iter().zip(&verdicts).filter(|(_, allowed)| **allowed);
        let candidates: Vec<Candidate<'a>> = allowed().map(|(candidate, _)| candidate.clone()).collect();
        let Some(first) = victims.first() else { return verdicts };
        let budgets = simulation.budgets_allow(first.leaf, &candidates);
        verdicts
            .iter_mut()
            .filter(|allowed| **allowed)
            .zip(budgets)
            .for_each(|(verdict, may)| *verdict = may);
        verdicts
    }
}

/// How many pods owners and gangs have.
#[derive(Default)]
struct Counts<'a> {
    of_owners: KeyedMap<&'a OwnerUid, usize>,
    /// Of these, the ones that run, in each pool of nodes.
    running: KeyedMap<Replicas<'a>, usize>,
    of_gangs: KeyedMap<&'a GangName, usize>,
}

impl<'a> Counts<'a> {
    fn count_all(&mut self, pods: &[&'a Pod], snapshot: &'a Snapshot, more: bool) {
        for pod in pods {
            self.count(pod, snapshot, more);
        }
    }

    /// Counts one more pod, or one less.
    fn count(&mut self, pod: &'a Pod, snapshot: &'a Snapshot, more: bool) {
        let change = |count: &mut usize| {
            *count = if more { count.saturating_add(1) } else { count.saturating_sub(1) };
        };
        pod.owner().map(|owner| self.of_owners.entry(owner).or_default()).map(change);
        running(pod, snapshot).map(|replicas| self.running.entry(replicas).or_default()).map(change);
        pod.gang().map(|gang| self.of_gangs.entry(&gang.name).or_default()).map(change);
    }
}

/// The pod among the replicas of its owner that run, in its pool of nodes.
fn running<'a>(pod: &'a Pod, snapshot: &'a Snapshot) -> Option<Replicas<'a>> {
    replicas(pod, snapshot).filter(|_| pod.phase == Phase::Running)
}

/// How many pods of a queue stay.
pub(super) struct Staying<'a> {
    snapshot: &'a Snapshot,
    counts: Counts<'a>,
    /// How many pods each gang needs, but for QueueJobs, which yield as a whole.
    needs: KeyedMap<&'a GangName, usize>,
    /// The owners that may lose all pods.
    may_end: KeyedSet<&'a OwnerUid>,
}

impl<'a> Staying<'a> {
    pub(super) fn of(members: &Members<'a>, rules: EvictionRules, simulation: &Simulation<'a>) -> Self {
        let (counts, needs, may_end) = <_>::default();
        let mut staying = Self { snapshot: simulation.context.snapshot, counts, needs, may_end };
        let may_end = rules.last_replica != Some(LastReplica::Never);
        let is_left = |pod: &&Pod| !simulation.gone.contains(pod);
        for member in members.all.values() {
            if may_end && member.owner.kind == OwnerKind::Job {
                staying.may_end.insert(&member.owner.uid);
            }
            for pod in member.order.iter().copied().filter(is_left) {
                staying.counts.count(pod, staying.snapshot, true);
                if let Some(gang) = pod.gang() {
                    let needs = staying.needs.entry(&gang.name).or_default();
                    *needs = (*needs).max(usize::try_from(gang.min_available).unwrap_or(usize::MAX));
                }
            }
        }
        for (task, pods) in &members.tasks {
            staying.may_end.insert(task);
            let left = pods.iter().copied().filter(is_left);
            left.for_each(|pod| staying.counts.count(pod, staying.snapshot, true));
        }
        staying
    }

    /// The rule that keeps `pod` if it is alone in going.
    pub(super) fn rule_alone(&self, pod: &'a Pod) -> Option<KeptReason> {
        let mut lost = Counts::default();
        lost.count(pod, self.snapshot, true);
        self.rule(pod, &lost)
    }

    /// The rule that keeps `pod`, which is among those `lost`: it is a last replica, also in its pool, or of a gang that would
    /// be of no use any more.
    fn rule(&self, pod: &'a Pod, lost: &Counts<'a>) -> Option<KeptReason> {
        let (has, owner) = (&self.counts, pod.owner()?);
        let is_last = has.of_owners.get(owner) == lost.of_owners.get(owner)
            || running(pod, self.snapshot).is_some_and(|one| has.running.get(&one) == lost.running.get(&one));
        let breaks = |gang: &GangName| {
            let (has, needs) = (has.of_gangs.get(gang)?, self.needs.get(gang)?);
            let left = has.saturating_sub(lost.of_gangs.get(gang).copied().unwrap_or_default());
            Some(has >= needs && left < *needs)
        };
        let breaks_gang = pod.gang().and_then(|gang| breaks(&gang.name)).unwrap_or_default();
        (is_last && !self.may_end.contains(owner))
            .then_some(KeptReason::LastReplica)
            .or_else(|| breaks_gang.then_some(KeptReason::GangFloor))
    }

    /// Whether its gang keeps pods beside those `lost`.
    fn is_beside_others(&self, pod: &Pod, lost: &Counts<'a>) -> bool {
        let count = |of: &Counts<'a>| pod.gang().and_then(|gang| of.of_gangs.get(&gang.name).copied());
        count(&self.counts) > count(lost)
    }
}
