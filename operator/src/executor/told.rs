//! What the log says of an operation that has ended: which object, what of it, and what became of that.

use quotient_crds::names::LIMIT_RANGE;
use quotient_engine::plan::Scaling;
use tracing::{debug, info, warn};

use super::operation::{Purpose, Requeue};
use super::outcome::Outcome;
use crate::message::listed;

/// The subject and the verb of a sentence: `the quota was written`, `the quota was not written`.
struct Words {
    object: String,
    subject: &'static str,
    done: &'static str,
    /// What it is now; none where that says nothing.
    content: Option<String>,
}

impl Words {
    fn new(object: String, subject: &'static str, done: &'static str) -> Self {
        Self { object, subject, done, content: None }
    }
}

/// Logs what became of an operation, and `why` it was not carried out. Evictions have verdicts of their own.
pub(super) fn tell(purpose: &Purpose, outcome: &Outcome, why: &str) {
    let Some(Words { object, subject, done, content }) = words(purpose) else { return };
    let error = Some(why).filter(|why| !why.is_empty());
    let sentence = match outcome {
        Outcome::Skipped => return,
        Outcome::Done => format!("{subject} was {done}"),
        Outcome::Stale(_) | Outcome::Refused(_) => format!("{subject} was not {done}"),
        Outcome::Unknown(_) => format!("whether {subject} was {done} is not known"),
    };
    if matches!(outcome, Outcome::Done) && is_news(purpose) {
        info!(object, content, "{sentence}");
    } else if is_alarming(purpose, outcome) {
        warn!(object, content, error, "{sentence}");
    } else {
        debug!(object, content, error, "{sentence}");
    }
}

fn words(purpose: &Purpose) -> Option<Words> {
    Some(match purpose {
        Purpose::Eviction { .. } | Purpose::LessGrace(_) => return None,
        Purpose::Quota { queue, write, .. } => Words {
            content: Some(listed(&write.hard)),
            ..Words::new(format!("Queue {queue}"), "the quota", "written")
        },
        Purpose::LimitRange { queue, defaults, .. } => {
            let object = format!("LimitRange {}/{LIMIT_RANGE}", queue.namespace);
            let done = if defaults.is_empty() { "removed" } else { "written" };
            Words { content: Some(listed(defaults)), ..Words::new(object, "the LimitRange", done) }
        }
        Purpose::UsageResync { namespace, .. } => {
            Words::new(format!("Namespace {namespace}"), "the quota", "counted anew")
        }
        Purpose::Requeue(Requeue { namespace, kind, name, .. }) => {
            let object = format!("{} {namespace}/{name}", kind.name());
            Words::new(object, "a controller", "told that there is room again")
        }
        Purpose::Gate(pod) => {
            Words::new(format!("Pod {}/{}", pod.namespace, pod.name), "the scheduling gate", "removed")
        }
        Purpose::Mark { scaling, pod, .. } => Words {
            content: Some(named(scaling)),
            ..Words::new(format!("Pod {}/{}", pod.namespace, pod.name), "the deletion cost", "changed")
        },
        Purpose::Size(scaling) => {
            let Scaling { from, to, reason, .. } = &**scaling;
            let content = Some(format!("from {from} to {to}: {reason}"));
            Words { content, ..Words::new(named(scaling), "the size", "changed") }
        }
        Purpose::Job { name, .. } => Words::new(format!("QueueJob {name}"), "a Job", "written"),
        Purpose::Expiry(name) => Words::new(format!("QueueJob {name}"), "the QueueJob", "deleted"),
        Purpose::JobStatus { name, .. } => Words::new(format!("QueueJob {name}"), "the status", "written"),
        Purpose::Status { queue, .. } => Words::new(format!("Queue {queue}"), "the status", "written"),
    })
}

fn named(Scaling { queue, scale_target, .. }: &Scaling) -> String {
    format!("{} {}/{}", scale_target.kind.name(), queue.namespace, scale_target.name)
}

/// Whether each one that was carried out is told.
const fn is_news(purpose: &Purpose) -> bool {
    matches!(
        purpose,
        Purpose::Quota { .. }
            | Purpose::LimitRange { .. }
            | Purpose::Size(_)
            | Purpose::UsageResync { is_second: true, .. }
    )
}

/// Whether people are to look at it. Not where the next cycle decides again anyway and nothing else is wrong.
fn is_alarming(purpose: &Purpose, outcome: &Outcome) -> bool {
    match (purpose, outcome) {
        (Purpose::Requeue(_), Outcome::Refused(status)) => status.code != 429,
        (_, Outcome::Done)
        | (Purpose::UsageResync { .. }, _)
        | (Purpose::Requeue(_), Outcome::Unknown(_))
        | (Purpose::Gate(_), Outcome::Stale(_))
        | (Purpose::Size(_), Outcome::Stale(_) | Outcome::Unknown(_)) => false,
        _ => true,
    }
}
