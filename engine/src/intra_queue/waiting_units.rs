//! What lacks room in a queue, the most important first.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::amounts::Amounts;
use crate::leaf::{Leaf, PendingUnits};
use crate::names::{GangName, OwnerUid};
use crate::plan::Preemptor;
use crate::slots::CompetingPods;
use crate::snapshot::{OwnerKind, Pod, Shape};
use crate::time::Timestamp;

/// Where units lack room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Room on a node, by a pod that its queue let in.
    Unschedulable,
    /// Room in the queue and on nodes, by pods that do not exist.
    Refused,
    /// The same, by pods that will exist once their owner has its former size again.
    HeldBack,
}

/// Alike units that lack room.
#[derive(Clone, Debug)]
pub(super) struct WaitingUnits<'a> {
    pub(super) kind: Kind,
    pub(super) preemptor: Preemptor,
    pub(super) owner: Option<&'a OwnerUid>,
    /// What owners want of which this is a part; none for a pod that exists.
    pub(super) pending: Option<&'a PendingUnits<'a>>,
    /// The pods of one unit.
    pub(super) pods: Vec<(&'a Arc<Shape>, u32)>,
    /// What one unit requests.
    pub(super) requests: Amounts,
    /// How many of them.
    pub(super) units: u32,
    pub(super) priority: i32,
    order: (Timestamp, Arc<str>),
}

impl<'a> WaitingUnits<'a> {
    /// The gang that a unit completes.
    pub(super) fn completes(&self) -> Option<&'a GangName> {
        self.pending?.completes()
    }

    /// The gang that a unit comes on top of the minimum of.
    pub(super) fn surplus_of(&self) -> Option<&'a GangName> {
        self.pending?.surplus_of()
    }

    /// The QueueJob, by its gang, that a unit is the minimum of.
    pub(super) fn slots_of(&self) -> Option<&'a GangName> {
        self.completes().filter(|_| self.pending.is_some_and(|one| one.owner.kind == OwnerKind::QueueJob))
    }

    /// So many `units` of it as QueueJobs make room for; none if it is one of theirs, or exists.
    pub(super) fn competing_pods(&self, units: u32) -> Option<CompetingPods> {
        let is_refused = self.kind != Kind::Unschedulable && self.slots_of().is_none();
        let ((created, name), requests) = (self.order.clone(), self.requests.clone());
        is_refused.then_some(CompetingPods { name, priority: self.priority, created, requests, pods: units })
    }
}

/// What waits for room in a queue, the most important first.
///
/// Slots of a QueueJob above its minimum do not wait: it gets them out of what is left (S-GANG).
pub(super) fn waiting_units<'a>(leaf: &'a Leaf<'a>) -> Vec<WaitingUnits<'a>> {
    let trust = &leaf.demand.trust;
    let unschedulable = |pod: &&Pod| is_unschedulable(pod) && trust.why_ignored(pod).is_none();
    let pods = leaf.state.pods.iter().filter(unschedulable).map(|pod| WaitingUnits {
        kind: Kind::Unschedulable,
        preemptor: Preemptor::of_pod(pod, leaf.owner_of(pod)),
        owner: pod.owner(),
        pending: None,
        pods: vec![(&pod.shape, 1)],
        requests: pod.requests().clone(),
        units: 1,
        priority: pod.priority,
        order: (pod.created, pod.name.as_str().into()),
    });
    let pending = leaf.pending.iter();
    let waiting = pending.filter(|one| one.owner.kind != OwnerKind::QueueJob || one.completes().is_some());
    let lacking = waiting.flat_map(|pending| {
        let units = [
            (Kind::Refused, pending.units.saturating_sub(pending.withheld_replicas)),
            (Kind::HeldBack, pending.withheld_replicas),
        ];
        units.into_iter().filter(|(_, units)| *units > 0).map(move |(kind, units)| WaitingUnits {
            kind,
            preemptor: Preemptor::of(pending.owner),
            owner: Some(&pending.owner.uid),
            pending: Some(pending),
            pods: pending.pods.iter().map(|(owner, pods)| (&owner.shape, *pods)).collect(),
            requests: pending.requests.clone(),
            units,
            priority: pending.owner.priority,
            order: (pending.owner.created, pending.owner.name.clone()),
        })
    });
    let mut waiting_units: Vec<WaitingUnits<'a>> = pods.chain(lacking).collect();
    waiting_units.sort_by_cached_key(|one| {
        (Reverse(one.priority), one.kind, one.order.clone(), one.preemptor.clone(), one.owner)
    });
    waiting_units
}

/// Whether the scheduler has found no node for the pod.
pub(super) fn is_unschedulable(pod: &Pod) -> bool {
    pod.is_live() && pod.node.is_none() && pod.stuck.is_some()
}
