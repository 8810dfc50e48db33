//! What the answer to an eviction means.

use kube::core::Status;

use crate::answer::{Answer, Lost, said};

/// What became of an eviction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The pod is on its way out.
    Evicted,
    /// The pod, or this life of it, is gone already.
    Gone,
    /// A disruption budget forbids it for now, or two budgets for ever; the text says which.
    Blocked(String),
    /// The API server has other reasons, which may pass.
    Refused(String),
    /// Nobody knows.
    Unknown(String),
}

/// What the API server answers where a pod has two budgets, with status 500.
const TWO_BUDGETS: &str = "more than one PodDisruptionBudget";

/// Reads the answer.
pub(super) fn verdict(answer: Answer<Status>) -> Verdict {
    match answer {
        Answer::Done(_) => Verdict::Evicted,
        Answer::Refused(status) => refused(&status),
        Answer::Unknown(Lost::Server(message)) if message.contains(TWO_BUDGETS) => Verdict::Blocked(message),
        Answer::Unknown(lost) => Verdict::Unknown(lost.to_string()),
    }
}

fn refused(status: &Status) -> Verdict {
    match status.code {
        404 => Verdict::Gone,
        // The precondition names our uid first, then the one that has the name now.
        409 if status.message.contains("Precondition failed: UID") => Verdict::Gone,
        429 if budget(status).is_some() => Verdict::Blocked(budget(status).unwrap_or_default()),
        _ => Verdict::Refused(said(status)),
    }
}

/// What the disruption budget says. A 429 without this cause is the API server's own load.
fn budget(status: &Status) -> Option<String> {
    let causes = &status.details.as_ref()?.causes;
    let cause = causes.iter().find(|cause| cause.reason == "DisruptionBudget")?;
    Some(if cause.message.is_empty() { said(status) } else { cause.message.clone() })
}
