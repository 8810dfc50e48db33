//! What the answer to an eviction means.

use std::fmt;

use kube::core::Status;

use crate::answer::{Lost, said};
use crate::executor::Outcome;

/// What became of an eviction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EvictionOutcome {
    /// The pod is on its way out.
    Evicted,
    /// The pod, or this life of it, is gone already.
    Gone,
    /// The API server will not evict this pod now. The text says why.
    Refused(Refusal, String),
    /// The API server could not do it now, which says nothing about the pod.
    Busy(String),
    /// The outcome is unknown.
    Unknown(String),
}

/// As the record of a decision has it.
impl fmt::Display for EvictionOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evicted => formatter.write_str("evicted"),
            Self::Gone => formatter.write_str("the pod is gone"),
            Self::Refused(_, why) => write!(formatter, "refused: {why}"),
            Self::Busy(why) => write!(formatter, "not now: {why}"),
            Self::Unknown(why) => write!(formatter, "not known: {why}"),
        }
    }
}

/// Why the API server will not evict a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A disruption budget allows no more for now.
    Budget,
    /// Several budgets protect it, which no eviction ever satisfies.
    SeveralBudgets,
    /// The operator may not evict it.
    Forbidden,
    /// The API server failed: an admission webhook that cannot be called answers like this for as long as it is down.
    ServerError,
    /// Something else.
    Other,
}

impl Refusal {
    /// Whether a disruption budget is the reason: then it stands until other pods have changed.
    pub(super) const fn is_by_budget(self) -> bool {
        matches!(self, Self::Budget | Self::SeveralBudgets)
    }

    /// The name in metrics.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Budget => "Budget",
            Self::SeveralBudgets => "SeveralBudgets",
            Self::Forbidden => "Forbidden",
            Self::ServerError => "ServerError",
            Self::Other => "Other",
        }
    }
}

/// What the API server answers where a pod has two budgets, with status 500.
const TWO_BUDGETS: &str = "more than one PodDisruptionBudget";

/// Reads what became of an eviction; none if it was not asked for.
pub(super) fn eviction_outcome(outcome: &Outcome) -> Option<EvictionOutcome> {
    Some(match outcome {
        Outcome::Skipped => return None,
        Outcome::Done => EvictionOutcome::Evicted,
        Outcome::Refused(status) => refused(status),
        Outcome::Unknown(Lost::Server { code: 500, message }) => {
            // If the pod was evicted all the same, the watch shows it before the eviction is asked for again.
            let by_budgets = message.contains(TWO_BUDGETS);
            let refusal = if by_budgets { Refusal::SeveralBudgets } else { Refusal::ServerError };
            EvictionOutcome::Refused(refusal, message.clone())
        }
        Outcome::Unknown(Lost::Server { message, .. }) if is_denied(message) => {
            EvictionOutcome::Refused(Refusal::Other, message.clone())
        }
        Outcome::Unknown(lost) => EvictionOutcome::Unknown(lost.to_string()),
        Outcome::Stale(why) => EvictionOutcome::Unknown(why.clone()),
    })
}

fn refused(status: &Status) -> EvictionOutcome {
    match status.code {
        404 | 409 | 429 if is_denied(&status.message) => {
            EvictionOutcome::Refused(Refusal::Other, said(status))
        }
        404 => EvictionOutcome::Gone,
        409 if is_another_life(&status.message) => EvictionOutcome::Gone,
        // The pod or its budget was written at the same moment. No reason to evict another pod instead.
        409 => EvictionOutcome::Busy(said(status)),
        429 => match budget(status) {
            Some(why) => EvictionOutcome::Refused(Refusal::Budget, why),
            None => EvictionOutcome::Busy(said(status)),
        },
        403 => EvictionOutcome::Refused(Refusal::Forbidden, said(status)),
        _ => EvictionOutcome::Refused(Refusal::Other, said(status)),
    }
}

/// Whether the name belongs to a pod with another uid now. Two layers of the API server may notice, in two wordings.
fn is_another_life(message: &str) -> bool {
    message.contains("UID in the precondition") || message.contains("UID in precondition")
}

/// Whether an admission webhook denied it. A webhook answers with any code, and many with 429, so that `kubectl drain` asks
/// again: the API server has time, and the pod is there.
fn is_denied(message: &str) -> bool {
    message.starts_with("admission webhook ") && message.contains(" denied the request")
}

/// What the disruption budget says. A 429 without this cause is the API server's own load.
fn budget(status: &Status) -> Option<String> {
    let causes = &status.details.as_ref()?.causes;
    let cause = causes.iter().find(|cause| cause.reason == "DisruptionBudget")?;
    Some(if cause.message.is_empty() { said(status) } else { cause.message.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::classify;
    use serde_json::json;

    /// What an answer with this status, this message and this cause comes to, as the record of a decision has it.
    fn printed(code: u16, message: &str, cause: Option<&str>) -> String {
        let causes: Vec<_> =
            cause.iter().map(|cause| json!({"reason": "DisruptionBudget", "message": cause})).collect();
        let body =
            json!({"status": "Failure", "message": message, "code": code, "details": {"causes": causes}});
        let status: Status = serde_json::from_value(body).unwrap();
        let outcome = eviction_outcome(&classify(kube::Error::Api(status.boxed())).into()).unwrap();
        match &outcome {
            EvictionOutcome::Refused(refusal, _) => format!("{}: {outcome}", refusal.name()),
            _ => outcome.to_string(),
        }
    }

    #[test]
    fn every_answer_is_told_apart() {
        let budget = "The disruption budget web needs 2 healthy pods and has 2 currently";
        let would_violate = "Cannot evict pod as it would violate the pod's disruption budget.";
        let two = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
        let forbidden = "pods \"a\" is forbidden: User \"quotient\" cannot create resource";
        let webhook = "failed calling webhook \"pods.example.com\": no endpoints available";
        let denied =
            "admission webhook \"drain.example.com\" denied the request: the volume has to be moved first";
        let modified = "Operation cannot be fulfilled on pods \"a\": the object has been modified";
        for (code, message, cause, expected) in [
            (429, would_violate, Some(budget), format!("Budget: refused: {budget}")),
            (429, would_violate, Some(""), format!("Budget: refused: {would_violate}")),
            // It reads like a failure.
            (500, two, None, format!("SeveralBudgets: refused: {two}")),
            (500, webhook, None, format!("ServerError: refused: {webhook}")),
            (403, forbidden, None, format!("Forbidden: refused: {forbidden}")),
            (400, "no", None, "Other: refused: no".to_owned()),
            // An overloaded server is no budget.
            (429, "Too many requests", None, "not now: Too many requests".to_owned()),
            (409, modified, None, format!("not now: {modified}")),
            (504, "Timeout", None, "not known: Timeout".to_owned()),
            // A webhook chooses the code. The pod is there, and the next time it says the same.
            (404, denied, None, format!("Other: refused: {denied}")),
            (409, denied, None, format!("Other: refused: {denied}")),
            (429, denied, None, format!("Other: refused: {denied}")),
            (503, denied, None, format!("Other: refused: {denied}")),
            (404, "pods \"a\" not found", None, "the pod is gone".to_owned()),
            // A successor has its name, in the words of both layers of the API server.
            (
                409,
                "Operation cannot be fulfilled on Pod \"a\": the UID in the precondition (1) does not match the UID in \
                 record (2). The object might have been deleted and then recreated",
                None,
                "the pod is gone".to_owned(),
            ),
            (
                409,
                "Operation cannot be fulfilled on Pod \"a\": Precondition failed: UID in precondition: 1, UID in object \
                 meta: 2",
                None,
                "the pod is gone".to_owned(),
            ),
        ] {
            assert_eq!(printed(code, message, cause), expected);
        }
    }
}
