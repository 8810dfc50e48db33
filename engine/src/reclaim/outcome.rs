//! What a reclaim comes to: evictions with their numbers, and what stood in the way.

use std::collections::{BTreeMap, BTreeSet};

use super::Party;
use super::candidate::Candidate;
use crate::names::{PodUid, QueueName};
use crate::plan::{Eviction, PassedOver, PodId, Unmet};
use crate::reason::Reason;
use crate::snapshot::Pod;
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
}

impl Taken {
    /// Writes down that `victim` of `party` goes.
    pub(super) fn evict(
        &mut self,
        party: &Party<'_>,
        victim: &Candidate<'_>,
        beneficiary: Option<&QueueName>,
        reason: Reason,
        in_force: bool,
    ) {
        for pod in victim.pods() {
            let eviction = Eviction {
                pod: id(party, pod),
                queue: party.name.clone(),
                reason,
                beneficiary: beneficiary.cloned(),
                stage: victim.stage,
                priority: pod.priority,
                requests: pod.requests().clone(),
                used: party.headcount.charged.clone(),
                deserved: party.deserved.clone(),
                grace_seconds: party.queue.grace_seconds,
            };
            self.evictions.push((eviction, in_force));
        }
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
