//! From the Queue of the API to the Queue of the engine.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quotient_crds::{MAX_WEIGHT, Queue as Written, QueueSpec};
use quotient_snapshot::names::QueueUid;
use quotient_snapshot::{Acceptance, Queue};

use super::mistakes::Mistakes;
use super::{default_requests, remembered, rules};
use crate::meta::timestamp;
use crate::reading::{Rounding, uid_of};

/// The Queue as the engine reads it.
///
/// Requests and guarantees are rounded up to the unit of their resource, limits down. A spec with a mistake
/// gives a Queue that is `invalid`, with a text that names the field and says what to do, and with nothing else
/// in it but whether it is a parent, how far Quotient may go in it and whether its pods wait gated: half of an
/// intention is not acted on, and a parent with a mistake must not be taken for the Queue that governs its namespace.
pub fn decode(queue: &Written) -> Queue {
    let QueueSpec {
        weight,
        request,
        limit,
        guaranteed,
        parent_ref,
        children,
        mode,
        admission,
        paused_until,
        reclaim,
        eviction,
        preemption,
        default_requests: defaults,
    } = &queue.spec;
    let mut mistakes = Mistakes::default();
    // No share depends on them: they are kept beside the Queue.
    default_requests::read(defaults.as_ref(), &mut mistakes);
    let decoded = Queue {
        request: mistakes.amounts(request.as_ref(), Rounding::Up, "request"),
        guaranteed: mistakes.amounts(guaranteed.as_ref(), Rounding::Up, "guaranteed"),
        limit: mistakes.amounts(limit.as_ref(), Rounding::Down, "limit"),
        weight: mistakes.whole(*weight, MAX_WEIGHT, "weight"),
        parent: parent_ref.as_ref().map(|parent| rules::parent(parent, &queue.metadata, &mut mistakes)),
        children: children.as_ref().map(|children| rules::acceptance(children, &mut mistakes)),
        mode: *mode,
        admission: rules::admission(*admission),
        paused_until: paused_until.as_ref().map(timestamp),
        reclaim: rules::reclaim(reclaim.as_ref(), &mut mistakes),
        eviction: rules::eviction(eviction.as_ref(), &mut mistakes),
        preemption: *preemption,
        remembered: queue.status.as_ref().map(remembered::remembered).unwrap_or_default(),
        ..blank(&queue.metadata)
    };
    match mistakes.text() {
        Some(text) => Queue {
            children: decoded.children.map(|_| Acceptance::Same),
            mode: decoded.mode,
            admission: decoded.admission,
            paused_until: decoded.paused_until,
            ..undecodable(&queue.metadata, &text)
        },
        None => decoded,
    }
}

/// A Queue of which nothing but the metadata could be read, and why.
pub fn undecodable(metadata: &ObjectMeta, problem: &str) -> Queue {
    Queue { invalid: Some(problem.into()), ..blank(metadata) }
}

fn blank(metadata: &ObjectMeta) -> Queue {
    Queue {
        uid: QueueUid::new(uid_of(metadata).unwrap_or_default()),
        generation: metadata.generation.unwrap_or_default(),
        name: metadata.name.as_deref().unwrap_or_default().into(),
        created: metadata.creation_timestamp.as_ref().map(timestamp).unwrap_or_default(),
        leaving: metadata.deletion_timestamp.is_some(),
        ..Queue::default()
    }
}
