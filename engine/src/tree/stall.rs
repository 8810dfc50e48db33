//! What keeps a Queue out of the tree, in words for its administrator.

use super::kueue::sign_of_kueue;
use crate::names::QueueName;
use crate::plan::Stall;
use crate::reasons::StallReason;
use crate::snapshot::{NamespaceState, Queue};

fn stall(queue: &Queue, reason: StallReason, message: String) -> Stall {
    Stall { uid: queue.uid.clone(), generation: queue.generation, reason, message: message.into() }
}

pub(super) fn taken(queue: &Queue, oldest: &Queue) -> Stall {
    stall(
        queue,
        StallReason::NamespaceTaken,
        format!(
            "this namespace is governed by the older Queue {}: delete one of the two, one namespace has one Queue",
            oldest.name
        ),
    )
}

/// What is wrong with the spec itself. Of a parent with a guarantee above its limit the limit counts.
pub(super) fn of_spec(queue: &Queue) -> Option<Stall> {
    if let Some(message) = &queue.invalid {
        return Some(stall(queue, StallReason::InvalidSpec, message.to_string()));
    }
    if queue.children.is_some() {
        return None;
    }
    let (resource, guaranteed, limit) = queue.guaranteed.iter().find_map(|(resource, guaranteed)| {
        let limit = queue.limit.get(resource)?;
        (guaranteed > limit).then_some((resource, guaranteed, limit))
    })?;
    Some(stall(
        queue,
        StallReason::GuaranteedAboveLimit,
        format!(
            "spec.guaranteed asks for {resource} {} but spec.limit allows {}: lower the one or raise the other",
            resource.format(guaranteed),
            resource.format(limit)
        ),
    ))
}

/// Two that hand out the same room to the same pods would each undo what the other decides.
pub(super) fn kueue(queue: &Queue, state: &NamespaceState) -> Option<Stall> {
    let sign = sign_of_kueue(state).filter(|_| queue.children.is_none())?;
    Some(stall(
        queue,
        StallReason::ManagedByKueue,
        format!(
            "Kueue manages the pods of this namespace ({sign}): delete this Queue, or take the namespace out of Kueue \
             and remove that label"
        ),
    ))
}

pub(super) fn not_found(queue: &Queue, parent: &QueueName) -> Stall {
    stall(
        queue,
        StallReason::ParentNotFound,
        format!(
            "spec.parentRef names {parent}, which does not exist: create that Queue or correct the reference"
        ),
    )
}

pub(super) fn not_accepting(queue: &Queue, parent: &QueueName, is_parent: bool) -> Stall {
    let message = if is_parent {
        format!(
            "{parent} does not accept Queues of this namespace: its spec.children.namespaces has to allow it"
        )
    } else {
        format!("{parent} is no parent queue: give it spec.children, or refer to another one")
    };
    stall(queue, StallReason::ParentNotAccepting, message)
}

pub(super) fn cycle(queue: &Queue, parent: &QueueName) -> Stall {
    stall(
        queue,
        StallReason::ParentCycle,
        format!(
            "following spec.parentRef from {parent} leads back to it: break the circle at one of its queues"
        ),
    )
}

pub(super) fn parent_stalled(queue: &Queue, parent: &QueueName) -> Stall {
    stall(
        queue,
        StallReason::ParentStalled,
        format!("{parent}, which it takes its share from, has none itself: see the conditions of that Queue"),
    )
}
