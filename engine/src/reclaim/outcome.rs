//! What a reclaim comes to: evictions with their numbers, and what stood in the way.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::Party;
use super::victim::Victim;
use crate::names::{Namespace, PodUid};
use crate::plan::{Eviction, PassedOver, PodId, Unmet};
use crate::reason::Reason;
use crate::snapshot::{Pod, Workloads};
use crate::tree::Index;

/// What is to be taken.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// The pods to evict, in order, each with whether its queue's lowered quota is in force already.
    pub(crate) evictions: Vec<(Eviction, bool)>,
    /// The leaves that lack something, and what stands in the way, where it is more than the time that pods take to go.
    pub(crate) obstacles: BTreeMap<Index, Reason>,
    /// The pods of each leaf that no room was found for.
    pub(crate) unmet: BTreeMap<Index, Vec<Unmet>>,
    /// The pods that a rule kept.
    pub(crate) passed_over: Vec<PassedOver>,
    /// Whether all that was missing is covered, and no pod asked for room on a node: who goes for one may depend on who
    /// goes for another.
    pub(super) is_complete: bool,
}

impl Taken {
    /// Writes down who goes.
    pub(super) fn evict(
        &mut self,
        parties: &[Option<Party<'_>>],
        victims: &[Victim<'_>],
        ranks: &FxHashMap<&PodUid, u32>,
    ) {
        let party = |at: Index| parties.get(at).and_then(Option::as_ref);
        let mut workloads: BTreeMap<Index, Workloads<'_>> = BTreeMap::new();
        for victim in victims {
            let Some(giver) = party(victim.at) else { continue };
            let workloads = workloads.entry(victim.at).or_insert_with(|| Workloads::of(giver.state));
            for pod in victim.candidate.pods() {
                let eviction = Eviction {
                    pod: id(giver, pod),
                    workload: workloads.of_pod(pod).cloned(),
                    rank: ranks.get(&pod.uid).copied(),
                    queue: giver.name.clone(),
                    reason: victim.reason,
                    beneficiary: victim.beneficiary.and_then(party).map(|taker| taker.name.clone()),
                    stage: victim.candidate.stage,
                    priority: pod.priority,
                    requests: pod.requests().clone(),
                    used: giver.headcount.charged.clone(),
                    deserved: giver.deserved.clone(),
                    grace_seconds: giver.eviction.grace_seconds(pod.grace_seconds.into()),
                };
                self.evictions.push((eviction, victim.in_force));
            }
        }
    }

    /// Who goes, by namespace.
    pub(super) fn pods(&self) -> BTreeMap<Namespace, BTreeSet<PodUid>> {
        let mut pods: BTreeMap<Namespace, BTreeSet<PodUid>> = BTreeMap::new();
        for (eviction, _) in &self.evictions {
            pods.entry(eviction.pod.namespace.clone()).or_default().insert(eviction.pod.uid.clone());
        }
        pods
    }

    /// Adds what was chosen of the others, once those chosen so far were on their way.
    pub(super) fn append(&mut self, later: Self) {
        self.evictions.extend(later.evictions);
        self.obstacles = later.obstacles;
        self.unmet = later.unmet;
        self.is_complete = later.is_complete;
        let gone: BTreeSet<&PodUid> = self.evictions.iter().map(|(eviction, _)| &eviction.pod.uid).collect();
        let mut kept: BTreeMap<PodId, PassedOver> = BTreeMap::new();
        for one in self.passed_over.drain(..).chain(later.passed_over) {
            if !gone.contains(&one.pod.uid) {
                kept.entry(one.pod.clone()).or_insert(one);
            }
        }
        self.passed_over = kept.into_values().collect();
    }

    /// Writes down which pods of which leaf a rule kept, but for those that went all the same.
    pub(super) fn pass_over<'a>(
        &mut self,
        parties: &[Option<Party<'_>>],
        kept: BTreeMap<Index, Vec<(&'a Pod, Reason)>>,
    ) {
        let gone: BTreeSet<PodUid> =
            self.evictions.iter().map(|(eviction, _)| eviction.pod.uid.clone()).collect();
        for (at, kept) in kept {
            let Some(party) = parties.get(at).and_then(Option::as_ref) else { continue };
            let mut by_pod: BTreeMap<(&str, &str), (&'a Pod, Reason)> = BTreeMap::new();
            for (pod, reason) in kept {
                by_pod.entry((pod.name.as_str(), pod.uid.as_str())).or_insert((pod, reason));
            }
            let kept = by_pod.into_values().filter(|(pod, _)| !gone.contains(&pod.uid));
            self.passed_over.extend(kept.map(|(pod, reason)| PassedOver {
                pod: id(party, pod),
                queue: party.name.clone(),
                reason,
            }));
        }
    }
}

fn id(party: &Party<'_>, pod: &Pod) -> PodId {
    PodId { namespace: party.name.namespace.clone(), name: pod.name.clone(), uid: pod.uid.clone() }
}
