//! Who of a queue lacks room, the most important first.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::choice::QueueState;
use crate::demand::is_ignored;
use crate::names::OwnerUid;
use crate::plan::Preemptor;
use crate::snapshot::{Owner, OwnerKind, Pod, Shape};
use crate::time::Timestamp;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Room on a node, by a pod that its queue let in.
    Unschedulable,
    /// Room in the queue and on a node, by pods that do not exist.
    Refused,
    /// The same, by pods that will exist once their owner has its former size again.
    HeldBack,
}

/// Pods of one shape that lack room.
#[derive(Clone, Debug)]
pub(super) struct Ask<'a> {
    pub(super) kind: Kind,
    pub(super) who: Preemptor,
    pub(super) owner: Option<&'a OwnerUid>,
    pub(super) shape: &'a Arc<Shape>,
    /// How many of them.
    pub(super) pods: u32,
    /// How many are of use only together.
    pub(super) together: u32,
    pub(super) priority: i32,
    /// Whether pods go for it.
    pub(super) preempts: bool,
    order: (Timestamp, Arc<str>),
}

/// The asks of a queue, the most important first.
pub(super) fn asks<'a>(queue_state: &QueueState<'a>) -> Vec<Ask<'a>> {
    let owners: BTreeMap<&OwnerUid, &'a Owner> =
        queue_state.state.owners.iter().map(|owner| (&owner.uid, owner)).collect();
    let mut asks: Vec<Ask<'a>> = Vec::new();
    for pod in queue_state
        .state
        .pods
        .iter()
        .filter(|pod| is_unschedulable(pod) && !is_ignored(pod, queue_state.trust))
    {
        let owner = pod.owner().and_then(|uid| owners.get(uid));
        asks.push(Ask {
            kind: Kind::Unschedulable,
            who: owner.map_or_else(|| Preemptor::Pod(pod.name.clone()), |owner| Preemptor::of(owner)),
            owner: pod.owner(),
            shape: &pod.shape,
            pods: 1,
            together: 1,
            priority: pod.priority,
            preempts: true,
            order: (pod.created, pod.name.as_str().into()),
        });
    }
    // A QueueJob's slots are not refused pods: they are decided with those of all others (S-GANG).
    let is_refused = |ask: &&crate::demand::Ask<'_>| {
        !ask.owner.shape.requests.is_empty() && ask.owner.kind != OwnerKind::QueueJob
    };
    for lacking in queue_state.asks.iter().filter(is_refused) {
        let owner = lacking.owner;
        let held_back = lacking.held_back.min(lacking.counted);
        let refused = lacking.counted.saturating_sub(held_back);
        let together = owner.gang.as_ref().map_or(1, |gang| {
            let is_member = |pod: &&Pod| pod.is_live() && pod.gang().is_some_and(|one| one.name == gang.name);
            let members = queue_state.state.pods.iter().filter(is_member).count();
            gang.min_available.saturating_sub(u32::try_from(members).unwrap_or(u32::MAX)).max(1)
        });
        for (kind, pods) in [(Kind::Refused, refused), (Kind::HeldBack, held_back)] {
            if pods > 0 {
                asks.push(Ask {
                    kind,
                    who: Preemptor::of(owner),
                    owner: Some(&owner.uid),
                    shape: &owner.shape,
                    pods,
                    together: together.min(pods),
                    priority: owner.priority,
                    // Who yielded waits for room: otherwise one preemption led to the next.
                    preempts: kind == Kind::Refused,
                    order: (owner.created, owner.name.clone()),
                });
            }
        }
    }
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
