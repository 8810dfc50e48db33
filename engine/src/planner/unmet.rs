//! Pods that cannot start now, and what stands in the way as far as shares, limits and quotas decide it.
//!
//! What only nodes decide (no room on any of them, none that fits) is not known here: a pod that its quota let in
//! and that no node takes shows as [`RoomAvailable`](ShortReason::RoomAvailable).

use std::collections::BTreeMap;

use super::rollouts;
use crate::amounts::{Amount, Amounts, Bounds, Resource};
use crate::cluster::Cluster;
use crate::demand::{PendingPods, node_patience};
use crate::keyed::KeyedMap;
use crate::leaf::Leaf;
use crate::names::{GangName, OwnerUid};
use crate::plan::{Lowered, Preemptor, QueuePlan, Unmet};
use crate::reasons::ShortReason;
use crate::snapshot::{OwnerKind, Pod};
use crate::time::Timestamp;
use crate::tree::BranchMap;

/// For how long there may be room and pods that an owner lacks may not be there before they count as not created.
const NOT_CREATED_SECONDS: i64 = 60;

/// When pods count as not created for which there has been room `since` then.
pub(super) const fn not_created_from(since: Timestamp) -> Timestamp {
    since.plus_seconds(NOT_CREATED_SECONDS)
}

/// What stands in the way of the pods and owners of one leaf.
pub(super) struct Obstacles<'a, 'p> {
    pub(super) cluster: Cluster<'a>,
    pub(super) leaf: &'a Leaf<'a>,
    pub(super) decided: &'p QueuePlan,
    /// What the pods below every queue request.
    pub(super) used: &'p BranchMap<Amounts>,
}

impl Obstacles<'_, '_> {
    /// The pods that cannot start, and why: first those that are there, then what owners lack, the most important first. With
    /// them since when there has been room for pods that owners lack and that are not created, for the next decision.
    pub(super) fn unmet(&self) -> (Vec<Unmet>, BTreeMap<OwnerUid, Timestamp>) {
        let (mut unmet, mut all_waiting) = (self.pods(), BTreeMap::new());
        let newest = self.newest_pods();
        let rollouts = rollouts::waiting(self.leaf.state, &self.leaf.demand.pending_pods);
        let minimums = self.leaf.pending.iter();
        let minimums: KeyedMap<&GangName, &Amounts> =
            minimums.filter_map(|units| Some((units.completes()?, &units.requests))).collect();
        for pending in &self.leaf.demand.pending_pods {
            let owner = pending.owner;
            let rejection = owner.rejection(self.leaf.state.quota.as_ref());
            // What its gang lacks to its minimum, else a pod.
            let minimum = owner.gang.as_ref().and_then(|gang| minimums.get(&gang.name));
            let unit = minimum.copied().unwrap_or(&owner.shape.requests);
            let mut reason = self.reason_of(pending, unit, rejection.is_some());
            if matches!(reason, ShortReason::ShareInUse | ShortReason::AboveLimit)
                && rollouts.contains(&owner.uid)
            {
                reason = ShortReason::RolloutNeedsRoom;
            }
            if let Some(since) = self.waiting(pending, unit, newest.get(&owner.uid).copied()) {
                let is_over = not_created_from(since) <= self.cluster.snapshot.now;
                if is_over && reason != ShortReason::PodsRejected {
                    reason = ShortReason::PodsNotCreated;
                }
                all_waiting.insert(owner.uid.clone(), since);
            }
            let other = not_counted(pending, rejection.is_some());
            let counted = if other == reason { pending.pods } else { pending.counted };
            let split = [(reason, counted), (other, pending.pods.saturating_sub(counted))];
            for (reason, pods) in split.into_iter().filter(|(_, pods)| *pods > 0) {
                unmet.push(Unmet {
                    controller: owner.controller.clone(),
                    rejection: rejection.clone().filter(|_| reason == ShortReason::PodsRejected),
                    lowered: Lowered::of(owner).map(Box::new),
                    ..Unmet::new(Preemptor::of(owner), pods, &owner.shape, reason)
                });
            }
        }
        (unmet, all_waiting)
    }

    /// Since when there has been room for pods that `pending` lacks; none if there is none, or if they wait by rule.
    fn waiting(
        &self,
        pending: &PendingPods<'_>,
        unit: &Amounts,
        newest: Option<Timestamp>,
    ) -> Option<Timestamp> {
        // A gang that waits for its slots says itself what it waits for.
        let may_start = matches!(
            self.reason_of(pending, unit, false),
            ShortReason::RoomAvailable | ShortReason::WaitingForQuota
        ) && pending.counted > 0
            && pending.owner.kind != OwnerKind::QueueJob
            && self.is_let_in(unit);
        if !may_start {
            return None;
        }
        let now = self.cluster.snapshot.now;
        let since = self.leaf.queue.remembered.waiting.get(&pending.owner.uid).copied().unwrap_or(now);
        // Every new pod restarts the time. A time in the future comes from a wrong clock.
        Some(newest.map_or(since, |newest| since.max(newest)).min(now))
    }

    /// Whether admission lets in this unit.
    fn is_let_in(&self, unit: &Amounts) -> bool {
        let quota = self.leaf.state.quota.as_ref();
        let decided = self.decided;
        self.cluster.governed.iter().filter(|resource| unit.get(resource).is_positive()).all(|resource| {
            // Admission may have charged pods that are not seen yet.
            let unseen = quota.and_then(|quota| quota.charged.get(resource)).unwrap_or_default();
            let with = decided.used.get(resource).max(unseen) + unit.get(resource);
            let enforced = quota.and_then(|quota| quota.enforced.get(resource));
            with <= decided.allocated.get(resource) && enforced.is_none_or(|most| with <= most)
        })
    }

    /// When the newest pod of each owner was created.
    fn newest_pods(&self) -> KeyedMap<&OwnerUid, Timestamp> {
        let mut newest: KeyedMap<&OwnerUid, Timestamp> = KeyedMap::default();
        if self.leaf.demand.pending_pods.is_empty() {
            return newest;
        }
        for pod in &self.leaf.state.pods {
            if let Some(owner) = pod.owner() {
                let known = newest.entry(owner).or_insert(pod.created);
                *known = pod.created.max(*known);
            }
        }
        newest
    }

    /// Pods that the scheduler could not place, those of one owner together.
    fn pods(&self) -> Vec<Unmet> {
        if !self.leaf.namespace_usage.stuck {
            return Vec::new();
        }
        let is_ignored = |pod: &Pod| self.leaf.demand.trust.why_ignored(pod).is_some();
        let is_stuck =
            |pod: &&Pod| pod.is_live() && pod.node.is_none() && (pod.stuck.is_some() || is_ignored(pod));
        let mut pods: Vec<&Pod> = self.leaf.state.pods.iter().filter(is_stuck).collect();
        pods.sort_by(|a, b| Pod::by_importance(a, b));
        let mut unmet: Vec<Unmet> = Vec::new();
        let mut known: BTreeMap<(&OwnerUid, ShortReason), usize> = BTreeMap::new();
        for pod in pods {
            let reason = self.of_pod(pod);
            let owner = self.leaf.owner_of(pod);
            let next = unmet.len();
            let at = owner.map_or(next, |owner| *known.entry((&owner.uid, reason)).or_insert(next));
            if let Some(entry) = unmet.get_mut(at) {
                entry.pods = entry.pods.saturating_add(1);
                continue;
            }
            unmet.push(Unmet {
                controller: owner.and_then(|owner| owner.controller.clone()),
                lowered: owner.and_then(|owner| Lowered::of(owner).map(Box::new)),
                ..Unmet::new(Preemptor::of_pod(pod, owner), 1, &pod.shape, reason)
            });
        }
        unmet
    }

    fn of_pod(&self, pod: &Pod) -> ShortReason {
        let now = self.cluster.snapshot.now;
        if let Some(reason) = self.leaf.demand.trust.why_ignored(pod) {
            reason
        } else if node_patience(pod, &self.cluster.snapshot.settings, now).is_some() {
            ShortReason::WaitingForNodes
        } else if !pod.shape.left_out.is_nothing() {
            ShortReason::NoNodeFits
        } else if pod.node.is_none() && self.exceeds_share(pod) {
            ShortReason::ShareInUse
        } else {
            ShortReason::RoomAvailable
        }
    }

    /// Whether the pods of the queue, which `pod` is one of, use more than they may of what it requests: they were there before
    /// the share shrank, or Kubernetes let in too many.
    fn exceeds_share(&self, pod: &Pod) -> bool {
        let QueuePlan { used, allocated, .. } = self.decided;
        let is_requested = |one: &&Resource| pod.requests().get(one).is_positive();
        self.cluster.governed.iter().filter(is_requested).any(|one| used.get(one) > allocated.get(one))
    }

    /// Why `pending` waits, of which `unit` has to have room at once.
    fn reason_of(&self, pending: &PendingPods<'_>, unit: &Amounts, rejected: bool) -> ShortReason {
        let with = |used: Amount, resource: &Resource| used + unit.get(resource);
        let requested = || self.cluster.governed.iter().filter(|resource| unit.get(resource).is_positive());
        let exceeds = |bounds: &Bounds, used: &Amounts| {
            let is_above = |one: &Resource, bound: Amount| with(used.get(one), one) > bound;
            requested().any(|one| bounds.get(one).is_some_and(|bound| is_above(one, bound)))
        };
        let above_foreign = exceeds(&self.leaf.state.foreign_quotas, &self.used[self.leaf.at]);
        let mut path = self.cluster.tree.path_up(self.leaf.at);
        let above_limit = path.any(|(at, branch)| exceeds(&branch.queue.limit, &self.used[at]));
        let fits = |room: &Amounts, used: &Amounts| {
            requested().all(|resource| with(used.get(resource), resource) <= room.get(resource))
        };
        let share = self.decided.target.max(&self.decided.nominal).max(&self.decided.deserved);
        if pending.withheld_replicas == pending.pods {
            // Before every bound: its controller does not even try to create them.
            ShortReason::GaveWay
        } else if !self.leaf.could_run_shape(&pending.owner.shape) {
            ShortReason::NoNodeFits
        } else if above_foreign {
            ShortReason::ForeignQuota
        } else if above_limit {
            ShortReason::AboveLimit
        } else if rejected {
            ShortReason::PodsRejected
        } else if !fits(&share, &Amounts::new()) {
            ShortReason::UnitAboveShare
        } else if fits(&self.decided.allocated, &self.decided.used) {
            if self.decided.quota_in_force {
                ShortReason::RoomAvailable
            } else {
                ShortReason::WaitingForQuota
            }
        } else if fits(&self.decided.target, &self.decided.used) {
            self.decided.starved.unwrap_or(ShortReason::WaitingForQuota)
        } else {
            ShortReason::ShareInUse
        }
    }
}

/// Why pods that `pending` lacks do not count.
const fn not_counted(pending: &PendingPods<'_>, rejected: bool) -> ShortReason {
    if rejected {
        ShortReason::PodsRejected
    } else if pending.set_aside.is_some() {
        ShortReason::SetAside
    } else {
        ShortReason::OneAtATime
    }
}
