//! What lacks room in a queue, the most important first.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::amounts::Amounts;
use crate::demand::is_ignored;
use crate::leaf::Leaf;
use crate::names::{GangName, OwnerUid};
use crate::plan::Preemptor;
use crate::slots::Rival;
use crate::snapshot::{Owner, OwnerKind, Pod, Shape};
use crate::time::Timestamp;

/// What is asked for.
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
pub(super) struct Ask<'a> {
    pub(super) kind: Kind,
    pub(super) who: Preemptor,
    pub(super) owner: Option<&'a OwnerUid>,
    /// The QueueJob, by its gang, that a unit is the minimum of.
    pub(super) slots_of: Option<&'a GangName>,
    /// The owners that a unit waits for the former sizes of, each with the pods that it lacks for a unit.
    pub(super) restores: Vec<(&'a Owner, u32)>,
    /// Whether a unit completes a gang.
    pub(super) completes: bool,
    /// The pods of one unit.
    pub(super) pods: Vec<(&'a Arc<Shape>, u32)>,
    /// What one unit requests.
    pub(super) requests: Amounts,
    /// How many of them.
    pub(super) units: u32,
    pub(super) priority: i32,
    order: (Timestamp, Arc<str>),
}

impl Ask<'_> {
    /// So many `units` of it as QueueJobs make room for; none if it is one of theirs, or exists.
    pub(super) fn rival(&self, units: u32) -> Option<Rival> {
        let is_refused = self.kind != Kind::Unschedulable && self.slots_of.is_none();
        let ((created, name), requests) = (self.order.clone(), self.requests.clone());
        is_refused.then_some(Rival { name, priority: self.priority, created, requests, pods: units })
    }
}

/// The asks of a queue, the most important first.
///
/// Slots of a QueueJob above its minimum are no ask: it gets them out of what is left (S-GANG).
pub(super) fn asks<'a>(leaf: &'a Leaf<'a>) -> Vec<Ask<'a>> {
    let state = leaf.state;
    let owners: BTreeMap<&OwnerUid, &Owner> = state.owners.iter().map(|owner| (&owner.uid, owner)).collect();
    let unschedulable = |pod: &&Pod| is_unschedulable(pod) && !is_ignored(pod, &leaf.demand.trust);
    let pods = state.pods.iter().filter(unschedulable).map(|pod| {
        let owner = pod.owner().and_then(|uid| owners.get(uid));
        Ask {
            kind: Kind::Unschedulable,
            who: Preemptor::of_pod(pod, owner.copied()),
            owner: pod.owner(),
            slots_of: None,
            restores: Vec::new(),
            completes: false,
            pods: vec![(&pod.shape, 1)],
            requests: pod.requests().clone(),
            units: 1,
            priority: pod.priority,
            order: (pod.created, pod.name.as_str().into()),
        }
    });
    let wanted = leaf.wanted.iter();
    let asking = wanted.filter(|one| one.owner.kind != OwnerKind::QueueJob || one.completes.is_some());
    let lacking = asking.flat_map(|wanted| {
        let units = [
            (Kind::Refused, wanted.units.saturating_sub(wanted.held_back)),
            (Kind::HeldBack, wanted.held_back),
        ];
        units.into_iter().filter(|(_, units)| *units > 0).map(|(kind, units)| Ask {
            kind,
            who: Preemptor::of(wanted.owner),
            owner: Some(&wanted.owner.uid),
            slots_of: wanted.completes.as_ref().filter(|_| wanted.owner.kind == OwnerKind::QueueJob),
            restores: wanted
                .pods
                .iter()
                .filter(|(owner, _)| kind == Kind::HeldBack && owner.size.former.is_some())
                .copied()
                .collect(),
            completes: wanted.completes.is_some(),
            pods: wanted.pods.iter().map(|(owner, pods)| (&owner.shape, *pods)).collect(),
            requests: wanted.requests.clone(),
            units,
            priority: wanted.owner.priority,
            order: (wanted.owner.created, wanted.owner.name.clone()),
        })
    });
    let mut asks: Vec<Ask<'a>> = pods.chain(lacking).collect();
    asks.sort_by(|a, b| {
        (Reverse(a.priority), a.kind)
            .cmp(&(Reverse(b.priority), b.kind))
            .then_with(|| (&a.order, &a.who, a.owner).cmp(&(&b.order, &b.who, b.owner)))
    });
    asks
}

/// Whether the scheduler has found no node for the pod.
pub(super) fn is_unschedulable(pod: &Pod) -> bool {
    pod.is_live() && pod.node.is_none() && pod.stuck.is_some()
}
