//! Which pods of a queue may go for an ask of the same queue.

use std::collections::BTreeMap;

use super::asks::Kind;
use super::members::Members;
use crate::amounts::Amounts;
use crate::choice::{Candidate, Replicas, Rules, Simulation, replicas};
use crate::keyed::KeyedMap;
use crate::names::{GangName, OwnerUid, PodUid};
use crate::reason::Reason;
use crate::snapshot::{EvictionRules, LastReplica, OwnerKind, Phase, Pod, Snapshot};

/// The rules for one ask.
pub(super) struct Yielding<'r, 'a> {
    pub(super) members: &'r Members<'a>,
    pub(super) staying: Staying<'a>,
    pub(super) ask: (Kind, i32),
}

impl<'a> Rules<'a> for Yielding<'_, 'a> {
    fn may_go(&self, simulation: &mut Simulation<'a>, victims: &[Candidate<'a>], _: &Amounts) -> Vec<bool> {
        let mut going: BTreeMap<&PodUid, &'a Pod> = BTreeMap::new();
        let mut beside: Vec<Candidate<'a>> = Vec::new();
        let mut may_go = |candidate: &Candidate<'a>| {
            let pods: Vec<&'a Pod> =
                candidate.everything().filter(|pod| !simulation.gone.contains(&pod.uid)).collect();
            let forbids = |pod: &&Pod| {
                !simulation.context.usage.frees_room(pod)
                    || self.members.forbids(pod, candidate.stage, self.ask).is_some()
            };
            if simulation.is_gone(candidate) || pods.iter().any(forbids) {
                return false;
            }
            let with: BTreeMap<&PodUid, &'a Pod> = going
                .iter()
                .map(|(uid, pod)| (*uid, *pod))
                .chain(pods.iter().map(|pod| (&pod.uid, *pod)))
                .collect();
            beside.push(candidate.clone());
            let may = self.staying.rule(with.values().copied()).is_none()
                && simulation.budgets_allow(candidate.leaf, &beside);
            if may {
                going = with;
            } else {
                beside.pop();
            }
            may
        };
        victims.iter().map(&mut may_go).collect()
    }
}

/// How many pods of the owners and gangs of a queue stay.
pub(super) struct Staying<'a> {
    snapshot: &'a Snapshot,
    /// Of owners that keep a pod.
    pods: KeyedMap<&'a OwnerUid, usize>,
    /// Of these, the ones that run, in each pool of nodes.
    running: KeyedMap<Replicas<'a>, usize>,
    /// With how many the gang needs.
    gangs: KeyedMap<&'a GangName, (usize, usize)>,
}

impl<'a> Staying<'a> {
    pub(super) fn of(members: &Members<'a>, rules: EvictionRules, simulation: &Simulation<'a>) -> Self {
        let (pods, running, gangs) = <_>::default();
        let mut staying = Self { snapshot: simulation.context.snapshot, pods, running, gangs };
        for member in members.all.values() {
            let may_end =
                member.owner.kind == OwnerKind::Job && rules.last_replica() == LastReplica::LastResort;
            for pod in member.order.iter().filter(|pod| !simulation.gone.contains(&pod.uid)) {
                if let Some(gang) = pod.gang() {
                    let (has, needs) = staying.gangs.entry(&gang.name).or_default();
                    *has = has.saturating_add(1);
                    *needs = (*needs).max(usize::try_from(gang.min_available).unwrap_or(usize::MAX));
                }
                if !may_end {
                    add(&mut staying.pods, &member.owner.uid);
                    staying.running_replicas(pod).into_iter().for_each(|of| add(&mut staying.running, of));
                }
            }
        }
        staying
    }

    /// The rule that keeps one of the pods `going`, if all of them were to go: a last replica, also in each pool, or a gang that
    /// is of use now.
    pub(super) fn rule(&self, going: impl Iterator<Item = &'a Pod>) -> Option<Reason> {
        let (mut pods, mut running, mut gangs) =
            <(KeyedMap<_, _>, KeyedMap<_, _>, KeyedMap<_, _>)>::default();
        for pod in going {
            pod.owner().into_iter().for_each(|owner| add(&mut pods, owner));
            self.running_replicas(pod).into_iter().for_each(|of| add(&mut running, of));
            pod.gang().into_iter().for_each(|gang| add(&mut gangs, &gang.name));
        }
        let is_last = pods.iter().any(|(owner, lost)| self.pods.get(owner) == Some(lost))
            || running.iter().any(|(of, lost)| self.running.get(of) == Some(lost));
        let breaks = |(gang, lost): (&&GangName, &usize)| {
            self.gangs
                .get(gang)
                .is_some_and(|(has, needs)| has >= needs && has.saturating_sub(*lost) < *needs)
        };
        is_last
            .then_some(Reason::LastReplica)
            .or_else(|| gangs.iter().any(breaks).then_some(Reason::GangFloor))
    }

    fn running_replicas(&self, pod: &'a Pod) -> Option<Replicas<'a>> {
        replicas(pod, self.snapshot).filter(|_| pod.phase == Phase::Running)
    }
}

fn add<Of: std::hash::Hash + Eq>(counts: &mut KeyedMap<Of, usize>, of: Of) {
    let count = counts.entry(of).or_default();
    *count = count.saturating_add(1);
}
