//! Pods that cannot start now, and what stands in the way as far as shares, limits and quotas decide it.
//!
//! What only nodes decide (no room on any of them, none that fits) is not known here: a pod that its quota let in
//! and that no node takes shows as [`RoomAvailable`](Reason::RoomAvailable).

use std::collections::BTreeMap;

use super::leaf::Leaf;
use super::{Asker, Lowered, QueuePlan, Unmet};
use crate::amounts::{Amount, Amounts, Resource};
use crate::demand::{Ask, node_patience};
use crate::names::OwnerUid;
use crate::reason::Reason;
use crate::snapshot::{Owner, Pod, Snapshot};
use crate::tree::{Index, Tree};

/// What stands in the way of the pods and owners of one leaf.
pub(super) struct Obstacles<'a, 'l> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) tree: &'a Tree<'a>,
    pub(super) at: Index,
    pub(super) leaf: &'a Leaf<'l>,
    pub(super) decided: &'a QueuePlan,
    /// What the pods below every queue request; an entry a branch.
    pub(super) used: &'a [Amounts],
    pub(super) resources: &'a [Resource],
}

impl Obstacles<'_, '_> {
    /// The pods that cannot start: first those that are there, then what owners lack, the most important first.
    pub(super) fn unmet(&self) -> Vec<Unmet> {
        let mut unmet = self.pods();
        unmet.extend(self.leaf.demand.asks.iter().map(|ask| Unmet {
            who: Asker::of(ask.owner),
            pods: ask.pods,
            requests: ask.owner.shape.requests.clone(),
            reason: self.of_ask(ask),
            lowered: Lowered::of(ask.owner),
        }));
        unmet
    }

    /// Pods that the scheduler could not place, those of one owner together.
    fn pods(&self) -> Vec<Unmet> {
        if !self.leaf.headcount.stuck {
            return Vec::new();
        }
        let owners: BTreeMap<&OwnerUid, &Owner> =
            self.leaf.state.owners.iter().map(|owner| (&owner.uid, owner)).collect();
        let is_stuck = |pod: &&Pod| pod.is_live() && pod.node.is_none() && pod.stuck.is_some();
        let mut pods: Vec<&Pod> = self.leaf.state.pods.iter().filter(is_stuck).collect();
        pods.sort_by(|a, b| {
            (b.priority.cmp(&a.priority))
                .then_with(|| (a.created, &a.name, &a.uid).cmp(&(b.created, &b.name, &b.uid)))
        });
        let mut unmet: Vec<Unmet> = Vec::new();
        let mut known: BTreeMap<(&OwnerUid, Reason), usize> = BTreeMap::new();
        for pod in pods {
            let reason = self.of_pod(pod);
            let owner = pod.owner().and_then(|owner| owners.get(owner));
            let same = owner.and_then(|owner| known.get(&(&owner.uid, reason)).copied());
            if let Some(entry) = same.and_then(|at| unmet.get_mut(at)) {
                entry.pods = entry.pods.saturating_add(1);
                continue;
            }
            if let Some(owner) = owner {
                known.insert((&owner.uid, reason), unmet.len());
            }
            unmet.push(Unmet {
                who: owner.map_or_else(|| Asker::Pod(pod.name.clone()), |owner| Asker::of(owner)),
                pods: 1,
                requests: pod.requests().clone(),
                reason,
                lowered: owner.and_then(|owner| Lowered::of(owner)),
            });
        }
        unmet
    }

    fn of_pod(&self, pod: &Pod) -> Reason {
        let now = self.snapshot.now;
        if self.leaf.demand.ignores(pod, now) {
            Reason::NotTakenUp
        } else if node_patience(pod, &self.snapshot.settings, now).is_some() {
            Reason::WaitingForNodes
        } else {
            Reason::RoomAvailable
        }
    }

    fn of_ask(&self, ask: &Ask<'_>) -> Reason {
        let unit = &ask.owner.shape.requests;
        let with = |used: Amount, resource: &Resource| used + unit.get(resource);
        let asked = || self.resources.iter().filter(|resource| unit.get(resource).is_positive());
        let used = |at: Index, resource: &Resource| {
            self.used.get(at).map(|used| used.get(resource)).unwrap_or_default()
        };
        let above_foreign = asked().any(|resource| {
            let bound = self.leaf.state.foreign_quotas.get(resource);
            bound.is_some_and(|bound| with(used(self.at, resource), resource) > bound)
        });
        let above_limit = self.tree.path_up(self.at).any(|(at, branch)| {
            asked().any(|resource| {
                let limit = branch.queue.limit.get(resource);
                limit.is_some_and(|limit| with(used(at, resource), resource) > limit)
            })
        });
        let fits = |room: &Amounts, used: &Amounts| {
            asked().all(|resource| with(used.get(resource), resource) <= room.get(resource))
        };
        let share = self.decided.deserved.max(&self.decided.fair_share);
        if ask.not_taken_up {
            Reason::NotTakenUp
        } else if ask.held_back == ask.pods {
            // Before every bound: its controller does not even try to create them.
            Reason::GaveWay
        } else if above_foreign {
            Reason::ForeignQuota
        } else if above_limit {
            Reason::AboveLimit
        } else if !fits(&share, &Amounts::new()) {
            Reason::UnitAboveShare
        } else if fits(&self.decided.allocated, &self.decided.used) {
            if self.decided.quota_in_force { Reason::RoomAvailable } else { Reason::WaitingForQuota }
        } else if fits(&self.decided.deserved, &self.decided.used) {
            self.decided.starved.unwrap_or(Reason::WaitingForQuota)
        } else {
            Reason::ShareInUse
        }
    }
}
