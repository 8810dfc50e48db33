//! Pods that cannot start now, in words.

use quotient_engine::names::QueueName;
use quotient_engine::plan::{Plan, QueuePlan, Unmet};
use quotient_engine::reasons::ShortReason;

use crate::output::counted;

/// Everything unmet, by queue, each queue's most important first. Parents only repeat what their children have.
pub(crate) fn all(plan: &Plan) -> impl Iterator<Item = (&QueueName, &QueuePlan, &Unmet)> {
    let leaves = plan.queues.iter().filter(|(_, queue)| !queue.is_parent);
    leaves.flat_map(|(name, queue)| queue.unmet.iter().map(move |unmet| (name, queue, unmet)))
}

/// `2 pods of 4c cannot start: Fragmented (…)`.
pub(crate) fn sentence(queue: &QueuePlan, unmet: &Unmet) -> String {
    let pods = counted(unmet.pods, "pod", "pods");
    let state = if unmet.reason == ShortReason::RoomAvailable { "can start" } else { "cannot start" };
    let (each, reason) = (unmet.requests.compact(), unmet.reason);
    format!("{pods} of {each} {state}: {reason} ({})", message(queue, unmet))
}

/// The most characters of a sentence that quotes the API server.
const MOST: usize = 240;

/// What stands in the way, for people.
pub(crate) fn message(queue: &QueuePlan, unmet: &Unmet) -> String {
    if let Some(rejection) = &unmet.rejection {
        return rejection.sentence(MOST);
    }
    if let (ShortReason::GaveWay, Some(lowered)) = (unmet.reason, &unmet.lowered) {
        return lowered.to_string();
    }
    if let Some(gang) = &unmet.incomplete_gang {
        return gang.sentences().join(" ");
    }
    if let Some(first) = unmet.left_out.first.as_ref().filter(|_| unmet.reason == ShortReason::NoNodeFits) {
        return format!("one requests {first}, which no node offers");
    }
    if unmet.reason == ShortReason::UnitAboveShare {
        let share = queue.deserved.max(&queue.nominal);
        return if unmet.requests.fits_in(&share) {
            format!("more is needed at once than is left of the queue's {}", share.compact())
        } else {
            format!("one alone is more than the {} that the queue could have", share.compact())
        };
    }
    unmet.reason.because().to_owned()
}
