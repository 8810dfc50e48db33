//! Why the API server refuses the pods of an owner, as the owner's status says it.

use k8s_openapi::api::apps::v1::ReplicaSetStatus;
use quotient_crds::names::QUOTA;

/// The most characters of the API server's words that are kept.
const MOST: usize = 240;

/// What stands before the reason in every refusal of admission: `pods "web-x2x9f" is forbidden: `.
const FORBIDDEN: &str = " is forbidden: ";

/// What a ReplicaSet says of the last pod that was refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Refusal<'a> {
    /// None was, since pods were last created.
    #[default]
    None,
    /// The quota `quotient` is used up: the pod waits.
    QuotaUsedUp,
    /// Anything else, in the API server's words.
    Other(&'a str),
}

/// Reads the condition `ReplicaFailure`.
pub(super) fn refusal(status: Option<&ReplicaSetStatus>) -> Refusal<'_> {
    let conditions = status.and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    let mut failures = conditions.iter().filter(|one| one.type_ == "ReplicaFailure" && one.status == "True");
    // The same condition says that a pod could not be deleted.
    let created = failures.find(|one| one.reason.as_deref() != Some("FailedDelete"));
    let Some(message) = created.and_then(|one| one.message.as_deref()).filter(|text| !text.trim().is_empty())
    else {
        return Refusal::None;
    };
    if message.contains(&format!("exceeded quota: {QUOTA},")) {
        return Refusal::QuotaUsedUp;
    }
    let why = message.split_once(FORBIDDEN).map_or(message, |(_, why)| why);
    let end = why.char_indices().nth(MOST).map_or(why.len(), |(at, _)| at);
    Refusal::Other(why.get(..end).unwrap_or(why))
}
