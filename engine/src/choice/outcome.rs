//! What a reclaim comes to: evictions with their numbers, and what stood in the way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::simulation::{PlacedUnit, Simulation};
use crate::amounts::Amounts;
use crate::names::QueueName;
use crate::plan::{Eviction, PassedOver, PodId, Unmet};
use crate::reasons::{EvictionReason, ShortReason};
use crate::snapshot::Snapshot;
use crate::total::total;
use crate::tree::BranchId;

/// What is to be taken.
#[derive(Debug, Default)]
pub(crate) struct ReclaimResult {
    /// The pods to evict, in order.
    pub(crate) sets: Vec<EvictionSet>,
    /// The queues of these whose lowered quotas are not in force yet.
    not_in_force: BTreeSet<QueueName>,
    /// The leaves that lack something, and what stands in the way, where it is more than the time that pods take to go.
    pub(crate) obstacles: BTreeMap<BranchId, ShortReason>,
    /// The pods of each leaf that no room was found for.
    pub(crate) unmet: BTreeMap<BranchId, Vec<Unmet>>,
    /// The pods that a rule kept.
    pub(crate) passed_over: Vec<PassedOver>,
    /// What the quotas of leaves that lose pods are to allow, nothing lent included.
    pub(crate) lowered: BTreeMap<BranchId, Amounts>,
    /// The leaves that lose pods to one that waits for a node, or for which there is room in its quota but on no node.
    pub(crate) displaced: BTreeSet<BranchId>,
    /// What each leaf lacks of its target for units and claims.
    pub(crate) lacking: BTreeMap<BranchId, Amounts>,
    /// What is free or being freed for each leaf, that which these evictions free included.
    pub(crate) owed: BTreeMap<BranchId, Amounts>,
    /// The first queue whose evictions wait only because no quota has been seen to take effect.
    pub(crate) unproven: Option<QueueName>,
}

/// Evictions that are of use only together: of a gang, or for one pod or gang on nodes. All are for the same queue.
#[derive(Debug)]
pub(crate) struct EvictionSet {
    /// The pods to evict, in order.
    pub(crate) evictions: Vec<Eviction>,
    /// What gets their room on nodes; none where only quotas lack room.
    unit: Option<PlacedUnit>,
}

impl EvictionSet {
    /// The queue that they are for; none where a limit is exceeded.
    pub(crate) fn beneficiary(&self) -> Option<&QueueName> {
        self.evictions.first()?.beneficiary.as_ref()
    }

    /// The queue that is owed what they free: nothing is owed for a pod that exists.
    pub(crate) fn owed_to(&self) -> Option<&QueueName> {
        self.beneficiary().filter(|_| self.unit.is_none_or(|unit| !unit.exists))
    }

    /// What they free.
    pub(crate) fn frees(&self) -> Amounts {
        total(self.evictions.iter().map(|eviction| &eviction.requests))
    }
}

impl ReclaimResult {
    /// Records the victims.
    pub(super) fn evict(&mut self, simulation: &Simulation<'_>) {
        let context = simulation.context;
        // What a leaf uses and deserves, which is the same for all that it loses.
        let mut givers: BTreeMap<BranchId, (Arc<Amounts>, Arc<Amounts>)> = BTreeMap::new();
        for victim in &simulation.victims {
            let at = victim.candidate.leaf;
            let Some(queue_state) = context.queue_state(at) else { continue };
            let (used, deserved) = givers.entry(at).or_insert_with(|| {
                let over = queue_state.leaf.staying.less(queue_state.target);
                let over = context.resources.iter().filter(|one| over.get(one).is_positive());
                let allocated = self.lowered.get(&at).unwrap_or(queue_state.allocated);
                if !queue_state.is_fenced(allocated, over) {
                    self.not_in_force.insert(queue_state.leaf.name.clone());
                }
                let used = queue_state.leaf.namespace_usage.charged.clone();
                (Arc::new(used), Arc::new(queue_state.deserved.clone()))
            });
            let evictions = victim.candidate.pods().iter().map(|pod| Eviction {
                pod: PodId::of(&queue_state.leaf.name.namespace, pod),
                workload: queue_state.leaf.workload_of(pod).cloned(),
                rank: Some(victim.candidate.rank),
                queue: queue_state.leaf.name.clone(),
                reason: victim.reason,
                beneficiary: victim.beneficiary.map(|at| context.tree.branches[at].name.clone()),
                stage: victim.candidate.stage,
                priority: pod.priority,
                requests: pod.requests().clone(),
                used: Arc::clone(used),
                deserved: Arc::clone(deserved),
                grace_seconds: queue_state.leaf.eviction.grace_seconds(pod.grace_seconds.into()),
            });
            match self.sets.last_mut().filter(|set| set.unit.is_some() && set.unit == victim.unit) {
                Some(set) => set.evictions.extend(evictions),
                None => self.sets.push(EvictionSet { evictions: evictions.collect(), unit: victim.unit }),
            }
        }
    }

    /// The pods to evict, in order.
    pub(crate) fn evictions(&self) -> impl Iterator<Item = &Eviction> {
        self.sets.iter().flat_map(|set| &set.evictions)
    }

    /// Lets evictions wait that rely on quotas, while none is seen to take effect. Grants of gated namespaces need no quota.
    pub(crate) fn wait_for_proof(&mut self, snapshot: &Snapshot) {
        if snapshot.reclaim_gate.evictions_wait().is_none() {
            return;
        }
        let is_gated = |queue: &QueueName| {
            snapshot.namespaces.get(&queue.namespace).is_some_and(|state| state.is_in_gate_mode())
        };
        for eviction in self.sets.iter().flat_map(|set| &set.evictions) {
            let relies = eviction.reason != EvictionReason::MovedAside && !is_gated(&eviction.queue);
            if relies && self.not_in_force.insert(eviction.queue.clone()) {
                self.unproven.get_or_insert_with(|| eviction.queue.clone());
            }
        }
    }

    /// Takes out the evictions: those for now, and those that wait.
    pub(crate) fn take_evictions(&mut self) -> (Vec<Eviction>, Vec<Eviction>) {
        let sets = std::mem::take(&mut self.sets).into_iter();
        sets.flat_map(|set| set.evictions).partition(|eviction| !self.waits(eviction))
    }

    /// Whether an eviction waits for the lowered quota of its queue. A pod that is moved comes back, so it does not.
    pub(crate) fn waits(&self, eviction: &Eviction) -> bool {
        eviction.reason != EvictionReason::MovedAside && self.not_in_force.contains(&eviction.queue)
    }

    /// Writes down which pods a rule kept, but for those that went all the same.
    pub(super) fn pass_over(&mut self, simulation: Simulation<'_>) {
        for (at, mut kept) in simulation.passed_over {
            let queue = &simulation.context.tree.branches[at].name;
            kept.retain(|(pod, _)| !simulation.gone.contains(pod));
            kept.sort_by_key(|(pod, _)| (&pod.name, &pod.uid));
            self.passed_over.extend(kept.into_iter().map(|(pod, reason)| PassedOver {
                pod: PodId::of(&queue.namespace, pod),
                queue: queue.clone(),
                reason,
            }));
        }
    }
}
