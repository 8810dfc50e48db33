//! Pods that cannot start now, in words.

use quotient_engine::names::QueueName;
use quotient_engine::plan::{Plan, QueuePlan, Unmet};
use quotient_engine::reasons::ShortReason;
use quotient_operator::status::why_unmet;

use crate::output::counted;

/// Everything unmet, by queue, each queue's most important first. Parents only repeat what their children have.
pub(crate) fn all(plan: &Plan) -> impl Iterator<Item = (&QueueName, &QueuePlan, &Unmet)> {
    let leaves = plan.queues.iter().filter(|(_, queue)| !queue.is_parent);
    leaves.flat_map(|(name, queue)| queue.unmet.iter().map(move |unmet| (name, queue, unmet)))
}

/// `2 pods of 4c cannot start: Fragmented (…)`, with the operator's sentence. In general only with the cause that it names: a
/// line of a table has no room for what would help.
pub(crate) fn sentence(name: &QueueName, queue: &QueuePlan, unmet: &Unmet) -> String {
    let pods = counted(unmet.pods, "pod", "pods");
    let state = if unmet.reason == ShortReason::RoomAvailable { "can start" } else { "cannot start" };
    let (each, reason) = (unmet.requests.compact(), unmet.reason);
    let why = why_unmet(&name.namespace, queue, unmet);
    let cause = why.strip_prefix("The pods cannot start because ").and_then(|rest| rest.split(". ").next());
    format!("{pods} of {each} {state}: {reason} ({})", cause.unwrap_or(&why).trim_end_matches('.'))
}
