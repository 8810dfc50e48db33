//! The names that Quotient uses on objects of the cluster.
//!
//! They are part of the API: scripts, policies and the text of refusals mention them, so a change here is a
//! change for users.

/// The API group of every kind that Quotient defines.
pub const GROUP: &str = "quotient.dev";

/// The served and stored version of the API group.
pub const VERSION: &str = "v1alpha1";

/// Group and version as they stand in an object's `apiVersion`.
pub const API_VERSION: &str = "quotient.dev/v1alpha1";

/// The name of the `ResourceQuota` that Quotient keeps in a governed namespace.
///
/// It is the only word of ours in the 403 that a refused user reads.
pub const QUOTA: &str = "quotient";

/// The field manager of every server-side apply of the operator.
pub const FIELD_MANAGER: &str = "quotient";

/// Label that says which program keeps an object; on the quota its value is [`MANAGED_BY_QUOTIENT`].
pub const MANAGED_BY_LABEL: &str = "app.kubernetes.io/managed-by";

/// The value of [`MANAGED_BY_LABEL`] on objects that the operator keeps.
pub const MANAGED_BY_QUOTIENT: &str = "quotient";

/// Annotation on the quota: which of our writes its amounts come from, a decimal number that every write raises.
///
/// A write applies only to the generation that it was decided on, so an older one never replaces a newer one.
pub const GENERATION_ANNOTATION: &str = "quotient.dev/generation";

/// Annotation on a pod: how readily it may be evicted for another queue.
///
/// The one value is [`PREEMPTIBLE_LAST`].
pub const PREEMPTIBLE_ANNOTATION: &str = "quotient.dev/preemptible";

/// The value of [`PREEMPTIBLE_ANNOTATION`] for a pod that, once started, goes only when nothing else is left.
pub const PREEMPTIBLE_LAST: &str = "last";

/// Annotation on the quota: the Queue whose share it enforces, by name.
pub const QUEUE_ANNOTATION: &str = "quotient.dev/queue";

/// Annotation on a pod: the name of its gang, within its namespace. Without it the gang is the pod's owner.
///
/// Pods of several owners that have the same name in it are one gang.
pub const GANG_ANNOTATION: &str = "quotient.dev/gang";

/// Annotation on a pod: how many pods of its gang have to run for any of them to be of use, a decimal number.
pub const GANG_MIN_AVAILABLE_ANNOTATION: &str = "quotient.dev/gang-min-available";

/// Annotation on a Queue: what becomes of the quota when the Queue is deleted.
///
/// The one value is [`ON_DELETE_REMOVE`]. Without it the quota stays, lowered to what is charged: removing it
/// would open the namespace to everybody who may create pods there.
pub const ON_DELETE_ANNOTATION: &str = "quotient.dev/on-delete";

/// The value of [`ON_DELETE_ANNOTATION`] that has the quota deleted together with the Queue.
pub const ON_DELETE_REMOVE: &str = "Remove";

/// Annotation on an owner: when Quotient last told it that there is room again for pods that were refused.
///
/// To set it is the message: the owner's controller looks again at every change, and would otherwise wait for as
/// long as its backoff has grown, up to minutes.
pub const NUDGED_ANNOTATION: &str = "quotient.dev/nudged";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_annotation_is_in_our_group_and_none_is_another() {
        let names = [
            GENERATION_ANNOTATION,
            PREEMPTIBLE_ANNOTATION,
            QUEUE_ANNOTATION,
            GANG_ANNOTATION,
            GANG_MIN_AVAILABLE_ANNOTATION,
            ON_DELETE_ANNOTATION,
            NUDGED_ANNOTATION,
        ];
        let distinct: std::collections::BTreeSet<&str> = names.into();
        assert_eq!(distinct.len(), names.len());
        for name in names {
            let (group, own) = name.split_once('/').unwrap();
            assert_eq!(group, GROUP, "{name}");
            assert!(own.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{name}");
        }
    }
}
