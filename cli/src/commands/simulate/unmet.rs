//! Pods that cannot start now, in words.

use quotient_engine::names::QueueName;
use quotient_engine::plan::{Plan, Preemptor, QueuePlan, Unmet};
use quotient_engine::reason::Reason;

/// Everything unmet, by queue, each queue's most important first. Parents only repeat what their children have.
pub(crate) fn all(plan: &Plan) -> impl Iterator<Item = (&QueueName, &QueuePlan, &Unmet)> {
    let leaves = plan.queues.iter().filter(|(_, queue)| !queue.is_parent);
    leaves.flat_map(|(name, queue)| queue.unmet.iter().map(move |unmet| (name, queue, unmet)))
}

/// Kind and name, such as `ReplicaSet web`.
pub(crate) fn what(unmet: &Unmet) -> String {
    asker(&unmet.who)
}

/// Who asks: kind and name.
pub(crate) fn asker(asker: &Preemptor) -> String {
    match asker {
        Preemptor::Pod(name) => format!("Pod {name}"),
        Preemptor::Owner(kind, name) => format!("{} {name}", kind.name()),
    }
}

/// The name alone.
pub(crate) fn name(unmet: &Unmet) -> &str {
    match &unmet.who {
        Preemptor::Pod(name) => name.as_str(),
        Preemptor::Owner(_, name) => name,
    }
}

/// `2 pods of 4c cannot start: Fragmented (…)`.
pub(crate) fn sentence(queue: &QueuePlan, unmet: &Unmet) -> String {
    let pods = if unmet.pods == 1 { "pod" } else { "pods" };
    let state = if unmet.reason == Reason::RoomAvailable { "can start" } else { "cannot start" };
    let (number, each, reason) = (unmet.pods, unmet.requests.compact(), unmet.reason);
    format!("{number} {pods} of {each} {state}: {reason} ({})", message(queue, unmet))
}

/// The most characters of a sentence that quotes the API server.
const MOST: usize = 240;

/// What stands in the way, for people.
pub(crate) fn message(queue: &QueuePlan, unmet: &Unmet) -> String {
    if let Some(rejection) = &unmet.rejection {
        return rejection.sentence(MOST);
    }
    if let (Reason::GaveWay, Some(lowered)) = (unmet.reason, &unmet.lowered) {
        return lowered.to_string();
    }
    if let Some(first) = unmet.left_out.first.as_ref().filter(|_| unmet.reason == Reason::NoNodeFits) {
        return format!("one requests {first}, which no node offers");
    }
    let text = match unmet.reason {
        Reason::UnitAboveShare => {
            let share = queue.deserved.max(&queue.nominal);
            return if unmet.requests.fits_in(&share) {
                format!("more is needed at once than is left of the queue's {}", share.compact())
            } else {
                format!("one alone is more than the {} that the queue could have", share.compact())
            };
        }
        Reason::ShareInUse => "other pods of its queue use the share",
        Reason::RolloutNeedsRoom => {
            "its Deployment keeps all older pods, which hold the room, until it starts"
        }
        Reason::AboveLimit => "the limit of the queue, or of one above it, would be exceeded",
        Reason::ForeignQuota => "another ResourceQuota of the namespace does not allow it",
        Reason::Fragmented => {
            "there is enough for the queue, but not on one node that may run it, nor can it be freed there"
        }
        Reason::NoNodeFits => {
            "no node could run one even if it were empty: selector, affinity, taints or size"
        }
        Reason::WaitingForNodes => "the autoscaler may still add a node",
        Reason::RoomAvailable => "its queue has room, and the pods have not used it yet",
        Reason::PodsRejected => "the API server rejects its pods",
        Reason::PodsNotCreated => {
            "there has been room for 60 s, and they are not created: rejected, or held back by their controller"
        }
        Reason::SetAside => "it had room and did not start, so it does not count for 1 to 30 minutes",
        Reason::OneAtATime => "pods of its queue did not start lately, so one pod of it starts first",
        Reason::WaitingForPreemption => "pods that hold its queue's share are terminating",
        Reason::WaitingForQuota => "a lowered quota is not enforced yet",
        Reason::Fenced => "what it needs is held outside its queue's fence",
        Reason::NothingToEvict => "no pod that may be evicted holds what it needs",
        Reason::Blocked => "a disruption budget, or the API server, lets no pod go now",
        Reason::EvictionsDisabled => "a mode or a pause keeps the pods that hold it",
        Reason::Delayed => "its queue has not been short for its reclaim.afterSeconds yet",
        Reason::Guarantee => "what it needs is held by pods that are guaranteed to their queues",
        _ => "it has to wait",
    };
    text.to_owned()
}
