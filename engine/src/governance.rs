//! Which Queue governs which namespace, and which cannot.

use std::collections::BTreeMap;

use crate::names::{Namespace, QueueName};
use crate::plan::Stall;
use crate::reason::Reason;
use crate::snapshot::{Queue, Snapshot};

/// The Queues that have a share, and those that have none.
#[derive(Debug, Default)]
pub(crate) struct Governance<'a> {
    /// One leaf a namespace, by namespace.
    pub(crate) leaves: BTreeMap<&'a Namespace, &'a Queue>,
    /// Every other Queue, and why.
    pub(crate) stalled: BTreeMap<QueueName, Stall>,
}

/// Sorts the Queues: the oldest of a namespace governs it, if its spec makes sense.
///
/// An invalid oldest Queue is not replaced by the next one: two administrators disagreeing about a namespace
/// must not change its share by one of them making a typing error.
pub(crate) fn sort(snapshot: &Snapshot) -> Governance<'_> {
    let mut governance = Governance::default();
    for (namespace, state) in &snapshot.namespaces {
        let Some(oldest) = state.queues.iter().min_by_key(|queue| (queue.created, &queue.uid)) else {
            continue;
        };
        for queue in &state.queues {
            let stall = if queue.uid == oldest.uid { trouble(queue) } else { Some(taken(queue, oldest)) };
            match stall {
                Some(stall) => {
                    governance.stalled.insert(QueueName::new(namespace.clone(), queue.name.clone()), stall);
                }
                None => {
                    governance.leaves.insert(namespace, queue);
                }
            }
        }
    }
    governance
}

fn taken(queue: &Queue, oldest: &Queue) -> Stall {
    Stall {
        uid: queue.uid.clone(),
        reason: Reason::NamespaceTaken,
        message: format!(
            "this namespace is governed by the older Queue {}: delete one of the two, one namespace has one Queue",
            oldest.name
        )
        .into(),
    }
}

fn trouble(queue: &Queue) -> Option<Stall> {
    if let Some(message) = &queue.invalid {
        return Some(Stall { uid: queue.uid.clone(), reason: Reason::InvalidSpec, message: message.clone() });
    }
    let (resource, guaranteed, limit) = queue.guaranteed.iter().find_map(|(resource, guaranteed)| {
        let limit = queue.limit.get(resource)?;
        (guaranteed > limit).then_some((resource, guaranteed, limit))
    })?;
    Some(Stall {
        uid: queue.uid.clone(),
        reason: Reason::GuaranteedAboveLimit,
        message: format!(
            "spec.guaranteed asks for {resource} {} but spec.limit allows {}: lower the one or raise the other",
            resource.format(guaranteed),
            resource.format(limit)
        )
        .into(),
    })
}
