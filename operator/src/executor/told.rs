//! What the log says of an operation that has ended: which object, what of it, and what became of that.

use quotient_engine::plan::Scaling;
use tracing::{debug, info, warn};

use super::operation::{Object, Purpose};
use super::outcome::Outcome;
use crate::message::listed;

/// Logs what became of an operation on `object`, and `why` it was not carried out. Evictions have verdicts of their own.
pub(super) fn tell(purpose: &Purpose, object: &Object, outcome: &Outcome, why: &str) {
    let Some((subject, done)) = words(purpose) else { return };
    let content = content(purpose);
    let error = Some(why).filter(|why| !why.is_empty());
    let sentence = match outcome {
        Outcome::Skipped => return,
        Outcome::Done => format!("{subject} was {done}"),
        Outcome::Stale(_) | Outcome::Refused(_) => format!("{subject} was not {done}"),
        Outcome::Unknown(_) => format!("whether {subject} was {done} is not known"),
    };
    if matches!(outcome, Outcome::Done) && is_news(purpose) {
        info!(%object, content, "{sentence}");
    } else if is_alarming(purpose, outcome) {
        warn!(%object, content, error, "{sentence}");
    } else {
        debug!(%object, content, error, "{sentence}");
    }
}

/// The subject and the verb of a sentence: `the quota was written`, `the quota was not written`.
fn words(purpose: &Purpose) -> Option<(&'static str, &'static str)> {
    Some(match purpose {
        Purpose::Eviction { .. } => return None,
        Purpose::Quota { .. } => ("the quota", "written"),
        Purpose::LimitRange { defaults, .. } if defaults.is_empty() => ("the LimitRange", "removed"),
        Purpose::LimitRange { .. } => ("the LimitRange", "written"),
        Purpose::UsageResync { .. } => ("the quota", "counted anew"),
        Purpose::Requeue(_) => ("a controller", "told that there is room again"),
        Purpose::Gate(_) => ("the scheduling gate", "removed"),
        Purpose::Mark { .. } => ("the deletion cost", "changed"),
        Purpose::Size(_) => ("the size", "changed"),
        Purpose::Job { .. } => ("a Job", "written"),
        Purpose::Expiry(_) => ("the QueueJob", "deleted"),
        Purpose::JobStatus { .. } | Purpose::Status { .. } => ("the status", "written"),
    })
}

/// What the object is to say; none where that says nothing.
fn content(purpose: &Purpose) -> Option<String> {
    match purpose {
        Purpose::Quota { write, .. } => Some(listed(&write.hard)),
        Purpose::LimitRange { defaults, .. } => Some(listed(defaults)),
        Purpose::Mark { scaling, .. } => {
            let Scaling { queue, scale_target, .. } = &**scaling;
            Some(format!("{} {}/{}", scale_target.kind.name(), queue.namespace, scale_target.name))
        }
        Purpose::Size(scaling) => {
            let Scaling { from, to, reason, .. } = &**scaling;
            Some(format!("from {from} to {to}: {reason}"))
        }
        _ => None,
    }
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
