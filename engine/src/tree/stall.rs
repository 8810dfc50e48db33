//! What keeps a Queue out of the tree, in words for its administrator.

use super::kueue::sign_of_kueue;
use crate::names::QueueName;
use crate::reasons::StallReason;
use crate::snapshot::{NamespaceState, Queue};

/// What is wrong, and what to do.
pub(super) type Trouble = (StallReason, String);

pub(super) fn taken(oldest: &Queue) -> Trouble {
    let message = format!(
        "this namespace is governed by the older Queue {}: delete one of the two, one namespace has one Queue",
        oldest.name
    );
    (StallReason::NamespaceTaken, message)
}

/// What is wrong with the spec itself. Of a parent with a guarantee above its limit the limit counts.
pub(super) fn of_spec(queue: &Queue) -> Option<Trouble> {
    if let Some(message) = &queue.invalid {
        return Some((StallReason::InvalidSpec, message.to_string()));
    }
    if queue.children.is_some() {
        return None;
    }
    let (resource, guaranteed, limit) = queue.guaranteed.iter().find_map(|(resource, guaranteed)| {
        let limit = queue.limit.get(resource)?;
        (guaranteed > limit).then_some((resource, guaranteed, limit))
    })?;
    let message = format!(
        "spec.guaranteed asks for {resource} {} but spec.limit allows {}: lower the one or raise the other",
        resource.format(guaranteed),
        resource.format(limit)
    );
    Some((StallReason::GuaranteedAboveLimit, message))
}

/// Two that hand out the same room to the same pods would each undo what the other decides.
pub(super) fn kueue(queue: &Queue, state: &NamespaceState) -> Option<Trouble> {
    let sign = sign_of_kueue(state).filter(|_| queue.children.is_none())?;
    let message = format!(
        "Kueue manages the pods of this namespace ({sign}): delete this Queue, or take the namespace out of Kueue and \
         remove that label"
    );
    Some((StallReason::ManagedByKueue, message))
}

pub(super) fn not_found(parent: &QueueName) -> Trouble {
    let message = format!(
        "spec.parentRef names {parent}, which does not exist: create that Queue or correct the reference"
    );
    (StallReason::ParentNotFound, message)
}

pub(super) fn not_accepting(parent: &QueueName, is_parent: bool) -> Trouble {
    let message = if is_parent {
        format!(
            "{parent} does not accept Queues of this namespace: its spec.children.namespaces has to allow it"
        )
    } else {
        format!("{parent} is no parent queue: give it spec.children, or refer to another one")
    };
    (StallReason::ParentNotAccepting, message)
}

pub(super) fn cycle(parent: &QueueName) -> Trouble {
    let message = format!(
        "following spec.parentRef from {parent} leads back to it: break the circle at one of its queues"
    );
    (StallReason::ParentCycle, message)
}

pub(super) fn parent_stalled(parent: &QueueName) -> Trouble {
    let message =
        format!("{parent}, which it takes its share from, has none itself: see the conditions of that Queue");
    (StallReason::ParentStalled, message)
}
